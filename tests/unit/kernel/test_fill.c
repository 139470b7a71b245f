/* SPDX-License-Identifier: MIT */
/* kernel: what arguments are filled with, at each size, and what is refused. */
#include "tests/support/check.h"

#include "tests/support/spec_fixture.h"

/* rows, cols, filter of the two sizes of the fixture */
static const int64_t large[] = {1024, 512, 3}, small[] = {33, 65, 5};

/* The spec with this argument in the place of x. */
static struct shmt_kernel *read_with(const char *argument,
                                     struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_text text = {0};

    spec_edit("{type: f32, role: input, count: rows * cols, "
              "range: [-2, 2]}", argument, &text);
    spec_write("spec.yaml", text.data, text.length);
    if (shmt_kernel_read(spec_path, &kernel, err) != SHMTUNE_OK)
        kernel = NULL;
    shmt_text_free(&text);
    return kernel;
}

static double real_of(struct shmt_value value)
{
    return value.type == SHMT_VALUE_REAL ? value.r : (double)value.i;
}

/* What it is filled with at the large and at the small size. */
static const struct {
    const char *argument;
    enum shmt_fill fill;
    double low[2], high[2], first[2], second[2];
} good[] = {
    {"{type: i32, role: input, count: rows, range: [0, cols]}",
     SHMT_FILL_UNIFORM, {0, 0}, {512, 65}, {0, 0}, {0, 0}},
    {"{type: f64, role: input, count: rows, fill: uniform, "
     "range: [-cols / 2, \"max(rows, cols) * 0.5\"]}",
     SHMT_FILL_UNIFORM, {-256, -32.5}, {512, 32.5}, {0, 0}, {0, 0}},
    /* one column alone, of which 0 is the only index */
    {"{type: i32, role: input, count: rows, range: [0, rows // 33 * 32 - 31]}",
     SHMT_FILL_UNIFORM, {0, 0}, {961, 1}, {0, 0}, {0, 0}},
    {"{type: f32, role: inout, count: rows, fill: {constant: cols}}",
     SHMT_FILL_CONSTANT, {-1, -1}, {1, 1}, {512, 65}, {0, 0}},
    {"{type: u8, role: input, count: rows, fill: {constant: 6 / 2}}",
     SHMT_FILL_CONSTANT, {0, 0}, {256, 256}, {3, 3}, {0, 0}},
    {"{type: i32, role: input, count: rows, fill: {ramp: {}}}",
     SHMT_FILL_STEPS, {0, 0}, {256, 256}, {0, 0}, {1, 1}},
    {"{type: i16, role: input, count: rows, "
     "fill: {ramp: {from: cols, step: -1}}}",
     SHMT_FILL_STEPS, {0, 0}, {256, 256}, {512, 65}, {-1, -1}},
    {"{type: f32, role: input, count: rows, fill: {ramp: {step: 1 / cols}}}",
     SHMT_FILL_STEPS, {-1, -1}, {1, 1}, {0, 0}, {1.0 / 512, 1.0 / 65}},
    {"{type: f32, role: input, count: rows, fill: normal}",
     SHMT_FILL_NORMAL, {-3.4028234663852886e+38, -3.4028234663852886e+38},
     {3.4028234663852886e+38, 3.4028234663852886e+38}, {0, 0}, {1, 1}},
    {"{type: u16, role: input, count: rows, range: [0, cols], "
     "fill: {normal: {mean: cols / 2, deviation: cols / 8}}}",
     SHMT_FILL_NORMAL, {0, 0}, {512, 65}, {256, 32.5}, {64, 8.125}},
    {"{type: i32, role: input, count: rows, fill: sorted, range: [0, cols]}",
     SHMT_FILL_SORTED, {0, 0}, {512, 65}, {0, 0}, {0, 0}},
    {"{type: f16, role: input, count: rows, fill: permutation}",
     SHMT_FILL_PERMUTATION, {-1, -1}, {1, 1}, {0, 0}, {0, 0}},
    {"{type: i32, role: input, count: rows + 1, "
     "fill: {row_pointers: {mean: cols / 4, spread: cols / 8}}}",
     SHMT_FILL_ROW_POINTERS, {0, 0}, {256, 256}, {128, 16.25}, {64, 8.125}},
    {"{type: i64, role: input, count: rows, fill: {row_pointers: {mean: 0.5}}}",
     SHMT_FILL_ROW_POINTERS, {0, 0}, {256, 256}, {0.5, 0.5}, {0, 0}},
};

static void fills_are_of_the_size(void)
{
    for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) {
        struct shmt_error err = {0};
        struct shmt_kernel *kernel = read_with(good[k].argument, &err);

        CHECK_TEXT(err.text, "");
        for (size_t s = 0; s < 2 && kernel != NULL; s++) {
            struct shmt_kernel_evaluated evaluated;
            struct shmt_fill_values values = {0};

            shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                                      s == 0 ? large : small,
                                           &evaluated);
            CHECK_INT(shmt_kernel_argument_fill(&evaluated, 0, &values, &err),
                      SHMTUNE_OK);
            CHECK_INT(values.fill, good[k].fill);
            CHECK(values.low == good[k].low[s]);
            CHECK(values.high == good[k].high[s]);
            CHECK(real_of(values.numbers[0]) == good[k].first[s]);
            CHECK(real_of(values.numbers[1]) == good[k].second[s]);
        }
        shmt_kernel_free(kernel);
    }
}

/* The arguments' line is 43, and what stands for x begins in column 6. */
static const struct {
    const char *argument, *place, *message;
} bad[] = {
    {"{type: i32, role: input, count: 9, range: [0, BLOCK]}", ":43:52:",
     "a bound of a range uses the parameter BLOCK"},
    {"{type: i32, role: input, count: 9, range: [0, \"'a'\"]}", ":43:52:",
     "a word"},
    {"{type: i32, role: input, count: 9, range: [0, cols - 32]}", ":43:48:",
     "the range [0, 0) is empty (with the default configuration at rows=64 "
     "cols=32 filter=3)"},
    {"{type: u8, role: input, count: 9, range: [0, cols]}", ":43:47:",
     "the range [0, 512) is outside of what u8 may have, [0, 256) (with"},
    {"{type: i32, role: input, count: 9, range: [0, 1]}", ":43:48:",
     "no number but 0"},
    {"{type: i32, role: input, count: 9, fill: sorted, range: [0, 1]}",
     ":43:62:", "no number but 0"},
    {"{type: i32, role: input, count: 9, fill: permutation, range: [0, 9]}",
     ":43:67:", "only uniform, normal and sorted have one"},
    {"{type: i32, role: input, count: 9, fill: constant}", ":43:47:",
     "write it as fill: {constant: 1}"},
    {"{type: i32, role: input, count: 9, fill: row_pointers}", ":43:47:",
     "{row_pointers: {mean: 8, spread: 4}}"},
    {"{type: i32, role: input, count: 9, fill: {sorted: 1}}", ":43:48:",
     "the fill \"sorted\" has no numbers; write fill: sorted"},
    {"{type: i32, role: input, count: 9, fill: {gauss: 1}}", ":43:48:",
     "one of uniform, zero, ramp, constant, normal, sorted, permutation, "
     "row_pointers, file, setup is expected"},
    {"{type: i32, role: input, count: 9, fill: {}}", ":43:47:",
     "a fill of 0 keys"},
    {"{type: i32, role: input, count: 9, fill: {constant: 1, ramp: 2}}",
     ":43:47:", "a fill of 2 keys"},
    {"{type: i32, role: input, count: 9, fill: {ramp: {start: 1}}}",
     ":43:55:", "start"},
    {"{type: i32, role: input, count: 9, fill: {ramp: 3}}", ":43:54:",
     "{ramp: {from: 0, step: 1}}"},
    {"{type: i32, role: input, count: 9, fill: {ramp: {step: TILE}}}",
     ":43:61:", "uses the parameter TILE"},
    {"{type: i32, role: input, count: 9, fill: {row_pointers: {}}}",
     ":43:62:", "mean"},
    {"{type: u8, role: input, count: 9, fill: {constant: 256}}", ":43:46:",
     "256 does not fit the type u8"},
    {"{type: i32, role: input, count: 9, fill: {constant: 0.5}}", ":43:47:",
     "0.5 is not a whole number"},
    {"{type: f16, role: input, count: 9, fill: {constant: \"'x'\"}}", ":43:58:",
     "a word where a number is needed"},
    {"{type: i8, role: input, count: 9, fill: {ramp: {step: 16}}}", ":43:46:",
     "a ramp from 0 by 16 has 128 as the last of 9 elements, outside of its "
     "type i8"},
    {"{type: u8, role: input, count: 9, fill: {ramp: {from: 7, step: -1}}}",
     ":43:46:", "has -1 as the last"},
    {"{type: i64, role: input, count: 9, "
     "fill: {ramp: {step: 4611686018427387904}}}", ":43:47:", "outside of"},
    {"{type: i32, role: input, count: 9, fill: {ramp: {step: 0.5}}}",
     ":43:47:", "whole numbers are expected"},
    {"{type: f16, role: input, count: 9, fill: {ramp: {step: 9000}}}",
     ":43:47:", "has 72000 as the last"},
    {"{type: f32, role: input, count: 9, fill: {normal: {deviation: -1}}}",
     ":43:47:", "a deviation of 0 or more"},
    {"{type: u8, role: input, count: 9, "
     "fill: {normal: {mean: 5, deviation: 1}}}", ":43:46:",
     "here from -1 to 11, outside of what u8 may have, [0, 256); give it a "
     "range"},
    {"{type: u8, role: input, count: 257, fill: permutation}", ":43:48:",
     "a permutation of 257 elements; u8 has whole numbers up to 255 only"},
    {"{type: f32, role: input, count: 9, fill: {row_pointers: {mean: 2}}}",
     ":43:47:", "row pointers of f32"},
    {"{type: i32, role: input, count: 9, "
     "fill: {row_pointers: {mean: 2, spread: 3}}}", ":43:47:",
     "0 <= spread <= mean"},
    {"{type: i16, role: input, count: 9, "
     "fill: {row_pointers: {mean: 4096}}}", ":43:47:",
     "the last of 9 row pointers with a mean of 4096 is 32768, outside of its "
     "type i16"},
};

static void other_fills_are_refused(void)
{
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        struct shmt_error err = {0};
        struct shmt_kernel *kernel = read_with(bad[k].argument, &err);

        if (kernel == NULL) {
            CHECK_INT(err.status, SHMTUNE_INVALID_FILE);
            CHECK_HAS(err.text, bad[k].place);
            CHECK_HAS(err.text, bad[k].message);
        }
        if (kernel != NULL) {
            printf("# %s\n", bad[k].argument);
            CHECK(!"refused");
        }
        shmt_kernel_free(kernel);
    }
}

/* The keys `setup` and `fill: setup`, each without the other, and setups that
 * are wrong. */
static void setups_are_checked(void)
{
    static const char entry[] =
        "setup:\n- entry: fill_x\n  grid: [1]\n  block: [1]\n"
        "  arguments: [x, cols]\narguments:\n";
    static const struct { const char *fill, *setup, *place, *message; } rows[] =
        {{"fill: setup", entry, "", ""},
         {"fill: setup", "arguments:\n", ":43:57:",
          "x is to be filled by the setup, but is an argument of none of the "
          "launches in \"setup\""},
         {"fill: zero", entry, ":43:1:",
          "no argument has \"fill: setup\""},
         {"fill: setup, range: [0, 1]", entry, "", "a range for fill"},
         {"fill: {setup: 1}", entry, "", "the fill \"setup\" has no numbers"},
         {"fill: setup", "setup:\n- entry: f\n  grid: [TILE]\n"
          "  block: [1]\n  arguments: [x]\narguments:\n", ":43:3:",
          "the setup uses a parameter in \"TILE\""},
         {"fill: setup", "setup:\n- entry: f\n  grid: [1]\n"
          "  block: [1]\n  arguments: [x, part]\narguments:\n", ":43:3:",
          "the setup takes part, which depends on a parameter"},
         {"fill: setup", "setup:\n- entry: f\n  grid: [1]\n"
          "  block: [1]\n  arguments: [x, y]\narguments:\n", ":43:1:",
          "the setup takes the output y"},
         {"fill: setup", "setup:\n- entry: f\n  grid: [1]\n"
          "  blok: [1]\n  arguments: [x]\narguments:\n", ":45:3:",
          "blok"},
         {"fill: setup", "setup: 7\narguments:\n", ":42:8:", "launches"}};

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        struct shmt_kernel *kernel = NULL;
        struct shmt_text text = {0}, whole = {0};
        struct shmt_error err = {0};
        const char *at;

        spec_edit("range: [-2, 2]", rows[k].fill, &text);
        at = strstr(shmt_text_string(&text), "\narguments:\n");
        CHECK(at != NULL);
        shmt_text_add_bytes(&whole, text.data, (size_t)(at + 1 - text.data));
        shmt_text_add(&whole, rows[k].setup);
        shmt_text_add(&whole, at + strlen("\narguments:\n"));
        spec_write("spec.yaml", whole.data, whole.length);
        if (shmt_kernel_read(spec_path, &kernel, &err) != SHMTUNE_OK) {
            CHECK_HAS(err.text, rows[k].message);
            CHECK_HAS(err.text, rows[k].place);
            CHECK(rows[k].message[0] != '\0');
        } else {
            CHECK_TEXT(rows[k].message, "");
            CHECK_INT(kernel->setup_count, 1);
        }
        shmt_kernel_free(kernel);
        shmt_text_free(&text);
        shmt_text_free(&whole);
    }
}

/* A size that is not listed is tried when it is asked for. */
static void other_sizes_are_refused_later(void)
{
    static const int64_t problem[] = {2, 1, 3};
    struct shmt_error err = {0};
    struct shmt_kernel *kernel =
        read_with("{type: i32, role: input, count: rows, "
                  "range: [1, cols]}", &err);
    struct shmt_kernel_evaluated evaluated;
    struct shmt_fill_values values;

    CHECK_TEXT(err.text, "");
    if (kernel == NULL)
        return;
    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              problem, &evaluated);
    CHECK_INT(shmt_kernel_argument_fill(&evaluated, 0, &values, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "spec.yaml:43:");
    CHECK_HAS(err.text, "the range [1, 1) is empty");
    shmt_kernel_free(kernel);
}

int main(void)
{
    spec_begin();
    CHECK_RUN(fills_are_of_the_size);
    CHECK_RUN(other_fills_are_refused);
    CHECK_RUN(setups_are_checked);
    CHECK_RUN(other_sizes_are_refused_later);
    spec_end();
    return CHECK_END();
}
