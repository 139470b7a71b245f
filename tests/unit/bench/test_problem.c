/* SPDX-License-Identifier: MIT */
/*
 * test_problem: what a spec says of the buffers of a problem, on the fake
 * driver: specs of the tree, edited.  Compiling needs NVRTC: without one every
 * test is skipped.
 */
#include <math.h>

#include "bench/bench.h"
#include "data/data.h"
#include "gpu/driver.h"
#include "target/program.h"
#include "tests/support/bench_read.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"
#include "tests/support/gpu_fixture.h"

static const struct shmt_nvrtc *nvrtc;
static const struct shmt_driver *driver;
static const char *images;
static struct shmt_bench *bench;
static struct shmt_result result;
static struct shmt_bench_note note;
static struct shmt_error err;

/* -- inputs from files ----------------------------------------------------- */

struct edit {
    const char *from, *to;
};

/* A spec of the tree with texts in the place of others, in the test's folder,
 * beside what it names. */
static struct shmt_kernel *read_edited_by(const char *name,
                                          const struct edit *edits,
                                          size_t count)
{
    const char *source = getenv("SHMT_SRCDIR");
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_kernel *out = NULL;
    struct shmt_text text = {0};
    const char *data, *at;
    char path[1024];
    size_t size;

    if (source == NULL)
        source = ".";
    snprintf(path, sizeof path, "%s/tests/fake/%s.yaml", source, name);
    CHECK_INT(shmt_path_read(arena, path, 1 << 20, &data, &size, &err),
              SHMTUNE_OK);
    for (size_t k = 0; k < count; k++) {
        at = strstr(data, edits[k].from);
        CHECK(at != NULL);
        shmt_text_clear(&text);
        shmt_text_add_bytes(&text, data, (size_t)(at - data));
        shmt_text_add(&text, edits[k].to);
        shmt_text_add(&text, at + strlen(edits[k].from));
        data = shmt_arena_copy(arena, text.data, text.length);
    }
    snprintf(path, sizeof path, "%s/edited.yaml", images);
    CHECK_INT(shmt_path_write(path, data, strlen(data), &err), SHMTUNE_OK);
    CHECK_INT(shmt_kernel_read(path, &out, &err), SHMTUNE_OK);
    if (out == NULL)
        printf("# %s\n", err.text);
    shmt_text_free(&text);
    shmt_arena_free(arena);
    return out;
}

static struct shmt_kernel *read_edited(const char *name, const char *from,
                                       const char *to)
{
    return read_edited_by(name, &(struct edit){from, to}, 1);
}

static void write_beside(const char *name, const void *data, size_t size)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", images, name);
    CHECK_INT(shmt_path_write(path, data, size, &err), SHMTUNE_OK);
}

static void copy_beside(const char *name)
{
    const char *source = getenv("SHMT_SRCDIR");
    struct shmt_arena *arena = shmt_arena_new();
    const char *data;
    char path[1024];
    size_t size;

    snprintf(path, sizeof path, "%s/tests/fake/%s",
             source == NULL ? "." : source, name);
    CHECK_INT(shmt_path_read(arena, path, 1 << 20, &data, &size, &err),
              SHMTUNE_OK);
    write_beside(name, data, size);
    shmt_arena_free(arena);
}

/* The default configuration of `edited` at this problem. */
static enum shmtune_status measure_edited(const struct shmt_kernel *edited,
                                          const char *data_digest,
                                          const int64_t *problem)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .images = images,
        .data_digest = data_digest, .run = shmt_program_run_in};
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_bench_request request = {
        .problem = problem, .config = config, .samples = 1,
        .give_up_us = (double)INFINITY, .verify = true};
    enum shmtune_status status;

    shmt_bench_close(bench);
    bench = NULL;
    err.text[0] = '\0';
    shmt_kernel_default(edited, config);
    status = shmt_bench_open(edited, &options, &bench, &err);
    if (status == SHMTUNE_OK)
        status = shmt_bench_measure(bench, &request, &result, &note, &err);
    return status;
}

static void inputs_come_from_files(void)
{
    static const int64_t problem[] = {1000};
    static float numbers[1000], found[1000];
    static int32_t counts[1000];
    struct shmt_kernel *edited;
    char digest[SHMT_DIGEST_TEXT];
    uint64_t bytes;

    for (int k = 0; k < 1000; k++) {
        numbers[k] = 0.5f * (float)(k * k);
        counts[k] = 7 - k;
    }
    copy_beside("fake_kernel.cu");
    write_beside("x.f32", numbers, sizeof numbers);
    write_beside("acc.i32", counts, sizeof counts);
    edited = read_edited(
        "fake_kernel", "fill: uniform, range: [-1, 1]}\n"
        "  acc: {type: i32, role: inout, count: n, fill: ramp}",
        "fill: {file: x.f32}}\n"
        "  acc: {type: i32, role: inout, count: n, fill: {file: acc.i32}}");
    if (edited == NULL)
        return;
    CHECK_INT(shmt_data_digest(edited, digest, &bytes, &err), SHMTUNE_OK);
    CHECK_INT(bytes, 8000);
    CHECK_INT(measure_edited(edited, digest, problem), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(fixture_read(bench, "x", false, 1000, found, &err), SHMTUNE_OK);
    CHECK(memcmp(found, numbers, sizeof found) == 0);
    CHECK_INT(fixture_read(bench, "acc", true, 1000, found, &err),
              SHMTUNE_OK);
    for (int k = 0; k < 1000; k++)
        counts[k]++;
    CHECK(memcmp(found, counts, sizeof found) == 0);
    /* changed since the digest was made, and too long */
    write_beside("acc.i32", counts, sizeof counts);
    CHECK_INT(measure_edited(edited, digest, problem), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "was changed since this run began");
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_INT(measure_edited(edited, NULL, (int64_t[]){999}),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "edited.yaml:28:");
    CHECK_HAS(err.text, "x.f32 has more than 3996 bytes");
    shmt_bench_close(bench);
    bench = NULL;
    shmt_kernel_free(edited);
}

static void arrays_come_from_files(void)
{
    static const int64_t problem[] = {1000, 5};
    static const float weights[] = {1, 2, 3, 4, 5};
    static float found[1000];
    struct shmt_kernel *edited;

    copy_beside("fake_value.cu");
    write_beside("w.f32", weights, sizeof weights);
    edited = read_edited("fake_value", "fill: uniform, range: [1, 2]",
                         "fill: {file: w.f32}");
    if (edited == NULL)
        return;
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(fixture_read(bench, "out", false, 1000, found, &err),
              SHMTUNE_OK);
    CHECK(found[0] == 0 * 1 + 1 * 2 + 2 * 3 + 3 * 4 + 4 * 5);
    CHECK_INT(measure_edited(edited, NULL, (int64_t[]){1000, 6}),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "w.f32 has 20 bytes of elements, the argument has 24");
    shmt_bench_close(bench);
    bench = NULL;
    shmt_kernel_free(edited);
}

/* -- outputs from files ---------------------------------------------------- */

static const char reference_of_the_spec[] =
    "reference:\n- entry: scale_reference\n  grid: [1]\n  block: [1]\n"
    "  arguments: [out, x, acc, n]\n";

/* What is expected of the kernel, whose inputs are 0, 1, 2, ... */
static void write_expected(float last)
{
    static float numbers[1000], doubled[1000];
    static int32_t counts[1000];

    for (int k = 0; k < 1000; k++) {
        numbers[k] = (float)k;
        doubled[k] = 2 * numbers[k];
        counts[k] = k + 1;
    }
    doubled[999] += last;
    copy_beside("fake_kernel.cu");
    write_beside("x.f32", numbers, sizeof numbers);
    write_beside("out.f32", doubled, sizeof doubled);
    write_beside("acc.i32", counts, sizeof counts);
}

/* The kernel with files for its outputs, with or without its reference, and
 * without the file of acc. */
static struct shmt_kernel *read_expecting(bool reference, bool acc)
{
    const struct edit edits[] = {
        {reference_of_the_spec, reference ? reference_of_the_spec : ""},
        {"fill: uniform, range: [-1, 1]}", "fill: {file: x.f32}}"},
        {"tolerance: {", "expect: {file: out.f32}, tolerance: {"},
        {"fill: ramp}", acc ? "fill: ramp, expect: {file: acc.i32}}"
                            : "fill: ramp}"},
    };

    return read_edited_by("fake_kernel", edits,
                          sizeof edits / sizeof edits[0]);
}

static void outputs_are_compared_with_files(void)
{
    static const int64_t problem[] = {1000};
    struct shmt_kernel *edited;
    char digest[SHMT_DIGEST_TEXT];
    uint64_t bytes;

    write_expected(0);
    edited = read_expecting(false, true);
    if (edited == NULL)
        return;
    CHECK_INT(edited->reference_count, 0);
    CHECK_INT(shmt_data_digest(edited, digest, &bytes, &err), SHMTUNE_OK);
    CHECK_INT(bytes, 12000);
    CHECK_INT(measure_edited(edited, digest, problem), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    write_expected(1);
    CHECK_INT(measure_edited(edited, digest, problem), SHMTUNE_STORAGE);
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    CHECK_HAS(result.reason, "out[999] is 1998, expected 1999, off by 1");
    CHECK_INT(measure_edited(edited, NULL, (int64_t[]){999}),
              SHMTUNE_INVALID_FILE);
    shmt_kernel_free(edited);
    /* A reference has to agree with the files, and has the rest. */
    edited = read_expecting(true, false);
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_WRONG_RESULT);
    CHECK_HAS(err.text, "the reference failed: wrong: out[999] is 1998");
    write_expected(0);
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    shmt_kernel_free(edited);
    /* Without one the default has the rest. */
    edited = read_expecting(false, false);
    CHECK(edited->reference == edited->launches);
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    shmt_bench_close(bench);
    bench = NULL;
    shmt_kernel_free(edited);
}

/* -- regions --------------------------------------------------------------- */

/* The kernel and its reference write every element: those outside of a region
 * are as many as it leaves out.  Its in-out, too. */
static void what_lies_outside_must_not_change(void)
{
    static const int64_t problem[] = {1000};
    static const struct { const char *from, *to, *told; } cases[] = {
        {"tolerance: {", "region: {columns: n}, tolerance: {", ""},
        {"tolerance: {", "region: {columns: 7, rows: 100, pitch: 10}, "
         "tolerance: {", "wrote 300 elements of out outside its region, the "
         "first is 7"},
        {"tolerance: {", "region: {columns: n - 1}, zeroed: true, "
         "tolerance: {", "wrote 1 elements of out outside its region, the "
         "first is 999"},
        {"fill: ramp}", "fill: ramp, region: {columns: 5, rows: 3, planes: "
         "4, pitch: 10, plane_pitch: 100, offset: 2}}", "wrote 940 elements "
         "of acc outside its region, the first is 0"},
    };

    copy_beside("fake_kernel.cu");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shmt_kernel *edited =
            read_edited("fake_kernel", cases[k].from, cases[k].to);

        if (edited == NULL)
            return;
        CHECK_INT(measure_edited(edited, NULL, problem),
                  k == 0 ? SHMTUNE_OK : SHMTUNE_WRONG_RESULT);
        CHECK_HAS(err.text, cases[k].told);
        CHECK_HAS(err.text, k == 0 ? "" : "the reference failed: "
                  "out_of_bounds: ");
        shmt_bench_close(bench);
        bench = NULL;
        shmt_kernel_free(edited);
    }
}

/* With a reference that keeps to its region: the kernel of the fake driver
 * writes the last element where the fault is not that it leaves it. */
static void candidates_keep_to_the_region(void)
{
    static const int64_t problem[] = {1000};
    const struct edit edits[] = {
        {reference_of_the_spec, ""},
        {"default: 0, scope: launch}\n  COST", "default: 9, scope: launch}\n"
         "  COST"},
        {"tolerance: {", "region: {columns: n - 1}, tolerance: {"},
        {"fill: ramp}", "fill: ramp, region: {columns: n - 1}}"},
    };
    struct shmt_kernel *edited;
    shmt_config config[SHMT_SPACE_PARAMETERS];

    copy_beside("fake_kernel.cu");
    edited = read_edited_by("fake_kernel", edits,
                            sizeof edits / sizeof edits[0]);
    if (edited == NULL)
        return;
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    fixture_choice(edited, config, "FAULT", "0", NULL);
    CHECK_INT(shmt_bench_measure(
                  bench, &(struct shmt_bench_request){
                             .problem = problem, .config = config,
                             .samples = 1, .give_up_us = (double)INFINITY,
                             .verify = true}, &result, &note, &err),
              SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OUT_OF_BOUNDS);
    CHECK_HAS(result.reason, "wrote 1 elements of out outside its region, "
              "the first is 999");
    shmt_bench_close(bench);
    bench = NULL;
    shmt_kernel_free(edited);
}

/* -- a program that answers ------------------------------------------------ */

/* A .npy with the elements of a bare file. */
static void write_npy(const char *name, enum shmt_element element,
                      const void *data, size_t size)
{
    struct shmt_text text = {0};

    shmt_npy_write(element, size / shmt_element_bytes(element), &text);
    shmt_text_add_bytes(&text, data, size);
    write_beside(name, text.data, text.length);
    shmt_text_free(&text);
}

static void write_oracle(const char *lines)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "echo ran >>\"$(dirname \"$1\")/runs\"\n%s\n",
                   lines);
    write_beside("oracle.sh", text.data, text.length);
    shmt_text_free(&text);
}

static size_t count_runs(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *data;
    char path[1024];
    size_t size = 0;

    snprintf(path, sizeof path, "%s/runs", images);
    if (shmt_path_read(arena, path, 1 << 20, &data, &size, NULL) !=
        SHMTUNE_OK)
        size = 0;
    shmt_arena_free(arena);
    return size / strlen("ran\n");
}

/* The kernel without a reference, with a program that copies two files. */
static struct shmt_kernel *read_asking(const char *timeout)
{
    char answer[256];
    const struct edit edits[] = {
        {reference_of_the_spec, answer},
        {"fill: uniform, range: [-1, 1]}", "fill: {file: x.f32}}"},
    };

    snprintf(answer, sizeof answer, "answer:\n  command: [sh, oracle.sh, "
             "right_out.npy, right_acc.npy]\n  timeout_s: %s\n", timeout);
    return read_edited_by("fake_kernel", edits, 2);
}

static const char copies[] =
    "set -e\n"
    "test \"$(wc -c <x.npy)\" -eq 4128\n"
    "test \"$(wc -c <acc.npy)\" -eq 4128\n"
    "grep -q '\"size\": {\"n\": 1000}' problem.json\n"
    "grep -q '\"scalars\": {\"n\": 1000, ' problem.json\n"
    "grep -q '\"outputs\": {\"out\": {\"type\": \"f32\", ' problem.json\n"
    "cp \"$1\" out.answer.npy\n"
    "cp \"$2\" acc.answer.npy";

static void programs_say_what_is_right(void)
{
    static const int64_t problem[] = {1000};
    static float doubled[1000];
    static int32_t counts[1000];
    struct shmt_kernel *edited;

    write_expected(0);
    for (int k = 0; k < 1000; k++) {
        doubled[k] = 2 * (float)k;
        counts[k] = k + 1;
    }
    write_npy("right_out.npy", SHMT_ELEMENT_F32, doubled, sizeof doubled);
    write_npy("right_acc.npy", SHMT_ELEMENT_I32, counts, sizeof counts);
    write_oracle(copies);
    setenv("XDG_CACHE_HOME", images, 1);
    edited = read_asking("60");
    if (edited == NULL)
        return;
    CHECK_INT(edited->reference_count, 0);
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(count_runs(), 1);
    /* kept, until anything changes that the program is given */
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(count_runs(), 1);
    doubled[5] += 1;
    write_npy("right_out.npy", SHMT_ELEMENT_F32, doubled, sizeof doubled);
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    CHECK_HAS(result.reason, "out[5] is 10, expected 11");
    CHECK_INT(count_runs(), 2);
    shmt_bench_close(bench);
    bench = NULL;
    shmt_kernel_free(edited);
}

static void programs_that_fail(void)
{
    static const struct { const char *lines, *timeout, *message; } cases[] = {
        {"echo first\necho the last line >&2\nexit 3", "60",
         "sh ended with 3: first\nthe last line"},
        {"exec >/dev/null 2>&1\nsleep 20", "3",
         "sh did not end within 3 s"},
        {"kill -9 $$", "60", "sh ended with -1"},
        {":", "60", "out.answer.npy"},
        {"echo nonsense >out.answer.npy", "60",
         "does not begin as a .npy does"},
        {"cp \"$2\" out.answer.npy", "60", "has the dtype '<i4'"},
        {"head -c 4000 \"$1\" >out.answer.npy", "60",
         "has 3872 bytes of elements, the argument has 4000"},
    };
    static const int64_t problem[] = {1000};

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shmt_kernel *edited;

        write_oracle(cases[k].lines);
        edited = read_asking(cases[k].timeout);
        if (edited == NULL)
            return;
        /* A failure is not kept. */
        for (int again = 0; again < 2; again++) {
            const size_t before = count_runs();

            CHECK_INT(measure_edited(edited, NULL, problem),
                      SHMTUNE_WRONG_RESULT);
            CHECK_HAS(err.text, "edited.yaml: the answer failed: ");
            CHECK_HAS(err.text, cases[k].message);
            CHECK_INT(count_runs(), before + 1);
        }
        shmt_bench_close(bench);
        bench = NULL;
        shmt_kernel_free(edited);
    }
}

/* -- compared by the spec -------------------------------------------------- */

/* Faults of the fake kernel: a NaN in `out`, half a unit off in it, one number
 * off where `acc` is compared element by element. */
static void the_spec_may_compare(void)
{
    static const struct {
        const char *fault;
        enum shmt_verdict verdict;
        const char *reason;
    } cases[] = {
        {"0", SHMT_VERDICT_OK, ""},
        {"7", SHMT_VERDICT_WRONG, "comparison of the spec counts 1 mismatch"},
        {"8", SHMT_VERDICT_WRONG, "comparison of the spec counts 1 mismatch"},
        {"14", SHMT_VERDICT_WRONG, "acc[999] is 999, expected 1000"},
        {"4", SHMT_VERDICT_OUT_OF_BOUNDS, "outside out"},
        {"0", SHMT_VERDICT_OK, ""},
    };
    static const int64_t problem[] = {1000};
    const struct edit edits[] = {
        {", tolerance: {relative: 1.0e-6}", ""},
        {"reference:\n", "compare:\n- entry: scale_compare\n  grid: 1\n"
         "  block: 1\n  arguments: [mismatches, out, expected.out, n]\n"
         "reference:\n"},
    };
    struct shmt_kernel *edited;
    shmt_config config[SHMT_SPACE_PARAMETERS];

    copy_beside("fake_kernel.cu");
    edited = read_edited_by("fake_kernel", edits, 2);
    if (edited == NULL)
        return;
    CHECK(edited->arguments[0].compared && !edited->arguments[2].compared);
    CHECK_INT(edited->argument_count, 7);
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        fixture_choice(edited, config, "FAULT", cases[k].fault, NULL);
        CHECK_INT(shmt_bench_measure(
                      bench, &(struct shmt_bench_request){
                                 .problem = problem, .config = config,
                                 .samples = 1, .verify = true,
                                 .give_up_us = (double)INFINITY},
                      &result, &note, &err), SHMTUNE_OK);
        CHECK_INT(result.verdict, cases[k].verdict);
        CHECK_HAS(result.reason, cases[k].reason);
    }
    shmt_bench_close(bench);
    bench = NULL;
    shmt_kernel_free(edited);
}

/* What is not compiled is told as the comparison's. */
static void a_comparison_that_fails(void)
{
    static const int64_t problem[] = {1000};
    const struct edit edits[] = {
        {", tolerance: {relative: 1.0e-6}", ""},
        {"reference:\n", "compare:\n- entry: nobody\n  grid: 1\n"
         "  block: 1\n  arguments: [mismatches, out, expected.out, n]\n"
         "reference:\n"},
    };
    struct shmt_kernel *edited;

    copy_beside("fake_kernel.cu");
    edited = read_edited_by("fake_kernel", edits, 2);
    if (edited == NULL)
        return;
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_WRONG_RESULT);
    CHECK_HAS(err.text, "edited.yaml: the comparison failed: ");
    CHECK_HAS(err.text, "nobody");
    shmt_bench_close(bench);
    bench = NULL;
    shmt_kernel_free(edited);
}

/* -- inputs from the setup ------------------------------------------------ */

static void setups_fill_inputs(void)
{
    static const int64_t problem[] = {1000, 1};
    static float points[2000], split[2000], sums[1000];
    static const struct { int64_t fault; const char *message; } faults[] = {
        {2, "unwritten: it left elements of split unwritten, or is not "
         "deterministic"},
        {3, "out_of_bounds: it changed points, which has a fill of its own; "
         "give it \"fill: setup\""},
        {4, "out_of_bounds: it wrote 4 bytes outside split"},
        {5, "unwritten: it left elements of sums"},
    };
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_kernel *edited;

    copy_beside("fake_setup.cu");
    edited = read_edited("fake_setup", "name: fake", "name: fake");
    if (edited == NULL)
        return;
    CHECK_INT(measure_edited(edited, NULL, problem), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(fixture_read(bench, "points", false, 2000, points, &err),
              SHMTUNE_OK);
    CHECK_INT(fixture_read(bench, "split", false, 2000, split, &err),
              SHMTUNE_OK);
    CHECK_INT(fixture_read(bench, "sums", true, 1000, sums, &err),
              SHMTUNE_OK);
    for (int k = 0; k < 1000; k++)
        CHECK(split[k] == points[2 * k] &&
              split[1000 + k] == points[2 * k + 1] &&
              sums[k] == points[2 * k] + points[2 * k + 1]);
    /* the other layout, without another setup */
    fixture_choice(edited, config, "LAYOUT", "arrays", NULL);
    CHECK_INT(shmt_bench_measure(
                  bench, &(struct shmt_bench_request){
                             .problem = problem, .config = config,
                             .samples = 1, .give_up_us = (double)INFINITY,
                             .verify = true}, &result, &note, &err),
              SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        CHECK_INT(measure_edited(edited, NULL,
                                 (int64_t[]){1000, faults[k].fault}),
                  SHMTUNE_WRONG_RESULT);
        CHECK_HAS(err.text, "edited.yaml: the setup failed: ");
        CHECK_HAS(err.text, faults[k].message);
    }
    shmt_bench_close(bench);
    bench = NULL;
    shmt_kernel_free(edited);
}

/* -- warm samples ---------------------------------------------------------- */

/* How often the candidate that takes so long was launched. */
static int count_launches(const struct shmt_kernel *edited, int samples,
                          const char *cost_us)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .images = images, .warm = true};
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_bench_request request = {
        .problem = (int64_t[]){1000}, .config = config, .samples = samples,
        .give_up_us = (double)INFINITY, .verify = true};
    char path[512], line[256];
    int count = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/launches", images);
    write_beside("launches", "", 0);
    fixture_choice(edited, config, "COST", cost_us, NULL);
    CHECK_INT(shmt_bench_open(edited, &options, &bench, &err), SHMTUNE_OK);
    setenv("FAKE_CUDA_LAUNCHES", path, 1);
    CHECK_INT(shmt_bench_measure(bench, &request, &result, &note, &err),
              SHMTUNE_OK);
    unsetenv("FAKE_CUDA_LAUNCHES");
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.sample_count, samples);
    CHECK(fabs(result.time_us - strtod(cost_us, NULL)) < 0.01);
    shmt_bench_close(bench);
    bench = NULL;
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        count += strcmp(line, "scale\n") == 0;
    if (file != NULL)
        fclose(file);
    return count;
}

/* A sample lasts about 200 us, and has 100 runs at most; what changes its own
 * input runs once. */
static void warm_samples_repeat(void)
{
    static const struct {
        const char *role, *cost_us;
        int runs;
    } cases[] = {
        {"workspace", "1", 100}, {"workspace", "3", 66},
        {"workspace", "30", 6}, {"workspace", "90", 2},
        {"workspace", "150", 1}, {"workspace", "500", 1}, {"inout", "3", 1}};

    copy_beside("fake_kernel.cu");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct edit edits[] = {
            {"COST: {values: [5, 20, 100,", "COST: {values: [1, 3, 30, 90, "
             "150, 500, 100,"},
            {"role: inout, count: n, fill: ramp",
             strcmp(cases[k].role, "inout") == 0
                 ? "role: inout, count: n, fill: ramp"
                 : "role: workspace, count: n"}};
        struct shmt_kernel *edited = read_edited_by("fake_kernel", edits, 2);

        if (edited == NULL)
            return;
        CHECK_INT(count_launches(edited, 7, cases[k].cost_us) -
                      count_launches(edited, 2, cases[k].cost_us),
                  5 * cases[k].runs);
        shmt_kernel_free(edited);
    }
}

/* X(test) */
#define TEST_LIST(X)                                                         \
    X(inputs_come_from_files)                                                \
    X(arrays_come_from_files)                                                \
    X(outputs_are_compared_with_files)                                       \
    X(what_lies_outside_must_not_change)                                     \
    X(candidates_keep_to_the_region)                                         \
    X(programs_say_what_is_right)                                            \
    X(programs_that_fail)                                                    \
    X(the_spec_may_compare)                                                  \
    X(a_comparison_that_fails)                                               \
    X(setups_fill_inputs)                                                    \
    X(warm_samples_repeat)

int main(void)
{
    fixture_fake_driver();
    if (shmt_nvrtc_open(&nvrtc, &err) != SHMTUNE_OK) {
#define TEST_SKIP(test) CHECK_SKIP(test, "no NVRTC on this machine");
        TEST_LIST(TEST_SKIP)
        return CHECK_END();
    }
    if (shmt_driver_open(&driver, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        return EXIT_FAILURE;
    }
    images = fixture_folder();
#define TEST_RUN(test) CHECK_RUN(test);
    TEST_LIST(TEST_RUN)
    shmt_bench_close(bench);
    return CHECK_END();
}
