/* SPDX-License-Identifier: MIT */
/*
 * test_tolerance: tolerances, as they are read from a spec and as they are
 * written for people; test_source and test_bench hold what they let pass.
 */
#include "kernel/kernel.h"
#include "tests/support/check.h"
#include "tests/support/spec_fixture.h"

static struct shmt_tolerance read_tolerance(const char *written)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_tolerance out = {0};
    struct shmt_error err = {0};
    struct shmt_text text = {0};

    spec_edit("tolerance: {absolute: 0.5, relative: 1.0e-3}", written, &text);
    spec_write("spec.yaml", text.data, text.length);
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    if (kernel != NULL)
        out = kernel->arguments[1].tolerance;
    shmt_kernel_free(kernel);
    shmt_text_free(&text);
    return out;
}

static void check_written(const struct shmt_tolerance *tolerance,
                          const char *expected)
{
    struct shmt_text text = {0};

    shmt_tolerance_add(tolerance, &text);
    CHECK_TEXT(shmt_text_string(&text), expected);
    shmt_text_free(&text);
}

static void every_key_is_read(void)
{
    struct shmt_tolerance all = read_tolerance(
        "tolerance: {absolute: 1, relative: 1.0e-2, maximum: 1.0e-3, "
        "norm: 1.0e-4, ulp: 5, mismatches: 6}");

    CHECK(all.absolute == 1 && all.relative == 1e-2 && all.maximum == 1e-3 &&
          all.norm == 1e-4 && all.ulp == 5 && all.mismatches == 6);
    CHECK_INT(all.place.line, 45);
    CHECK_INT(all.place.column, 18);
    check_written(&all, "{absolute: 1, relative: 0.01, maximum: 0.001, "
                  "norm: 0.0001, ulp: 5, mismatches: 6}");
    all = read_tolerance("tolerance: {mismatch_share: 1.0e-6}");
    check_written(&all, "{mismatch_share: 1e-06}");
    CHECK(shmt_tolerance_is_exact(&all));
    all = read_tolerance("tolerance: {}");
    check_written(&all, "{}");
    CHECK(shmt_tolerance_is_exact(&all));
    all = read_tolerance("tolerance: {ulp: 1}");
    CHECK(!shmt_tolerance_is_exact(&all));
    all = read_tolerance("tolerance: {norm: 1.0e-9}");
    CHECK(!shmt_tolerance_is_exact(&all));
}

static void mismatches_are_counted(void)
{
    const struct shmt_tolerance none = {.absolute = 1};
    const struct shmt_tolerance some = {.mismatches = 3};
    const struct shmt_tolerance share = {.mismatch_share = 1e-6};

    CHECK(shmt_tolerance_allowed(&none, 1000) == 0);
    CHECK(shmt_tolerance_allowed(&some, 1) == 3);
    CHECK(shmt_tolerance_allowed(&share, 999999) == 0);
    CHECK(shmt_tolerance_allowed(&share, 67108864) == 67);
}

static void check_raised(struct shmt_tolerance tolerance,
                         enum shmt_element element, double factor,
                         const char *expected)
{
    const struct shmt_tolerance raised =
        shmt_tolerance_raise(&tolerance, element, factor);

    check_written(&raised, expected);
}

/* Enough, in as few digits as people write. */
static void what_would_pass_is_raised(void)
{
    const enum shmt_element real = SHMT_ELEMENT_F32;

    check_raised((struct shmt_tolerance){.relative = 1e-6}, real, 1.31,
                 "{relative: 1.4e-06}");
    check_raised((struct shmt_tolerance){.absolute = 0.5, .norm = 1e-3}, real,
                 10, "{absolute: 5.1, norm: 0.011}");
    check_raised((struct shmt_tolerance){.ulp = 4, .mismatches = 2}, real,
                 1.75, "{ulp: 7, mismatches: 2}");
    check_raised((struct shmt_tolerance){0}, real, 2.29e-7,
                 "{relative: 2.3e-07}");
    check_raised((struct shmt_tolerance){0}, SHMT_ELEMENT_I32, 3,
                 "{absolute: 3}");
}

int main(void)
{
    spec_begin();
    CHECK_RUN(every_key_is_read);
    CHECK_RUN(mismatches_are_counted);
    CHECK_RUN(what_would_pass_is_raised);
    spec_end();
    return CHECK_END();
}
