/* SPDX-License-Identifier: MIT */
/*
 * test_variable: variables of the source that kernels write are set before each
 * run and compared, by the bench, and read by the library, on the fake driver.
 * Compiles with the real NVRTC.
 */
#include "data/data.h"
#include "shmtune.h"

#include <math.h>

#include "bench/bench.h"
#include "tests/support/bench_read.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

enum { N = 1000, BINS = 7, X = 0, HISTOGRAM = 1, SUMS = 2, LIMITS = 3,
       HEAD = 4 };
static const char yaml[] = "kernels/fake_variable.yaml";

static const struct shmt_driver *driver;
static const struct shmt_nvrtc *nvrtc;
static struct shmt_kernel *kernel;
static struct shmt_bench *bench;
static struct shmt_error err;

static void write_files(void)
{
    fixture_copy("fake_variable.yaml");
    fixture_copy("fake_variable.cu");
}

static void open_bench(bool warm)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .seed = 11, .warm = warm};

    CHECK_INT(shmt_kernel_read(fixture_path(yaml), &kernel, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_bench_open(kernel, &options, &bench, &err), SHMTUNE_OK);
    if (bench == NULL) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
}

static void close_bench(void)
{
    shmt_bench_close(bench);
    shmt_kernel_free(kernel);
    bench = NULL;
    kernel = NULL;
}

static enum shmtune_status measure(shmt_config fault,
                                   struct shmt_result *result)
{
    const int64_t problem[] = {N, BINS};
    const shmt_config choice[] = {0, fault};
    const struct shmt_bench_request request = {
        .problem = problem, .config = choice, .samples = 3,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_bench_note note;

    memset(result, 0, sizeof *result);
    err.text[0] = '\0';
    return shmt_bench_measure(bench, &request, result, &note, &err);
}

/* In each run the same, whatever the ones before have left. */
static void they_are_set_and_compared(void)
{
    struct shmt_result result;
    unsigned histogram[BINS], sum = 0;
    float sums[BINS];
    int limits[2];

    for (int warm = 0; warm < 2; warm++) {
        open_bench(warm == 1);
        for (int again = 0; again < 2; again++) {
            CHECK_INT(measure(0, &result), SHMTUNE_OK);
            CHECK_TEXT(err.text, "");
            CHECK_TEXT(result.reason, "");
            CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        }
        for (int expected = 0; expected < 2; expected++) {
            CHECK_INT(fixture_read(bench, "histogram", expected == 1, BINS,
                                   histogram, &err), SHMTUNE_OK);
            CHECK_INT(fixture_read(bench, "sums", expected == 1, BINS, sums,
                                   &err), SHMTUNE_OK);
            CHECK_INT(fixture_read(bench, "limits", expected == 1, 2, limits,
                                   &err), SHMTUNE_OK);
            sum = 0;
            for (int k = 0; k < BINS; k++) {
                sum += histogram[k];
                CHECK(sums[k] == (float)(8 * k) + (float)histogram[k]);
            }
            CHECK_INT(sum, N);
            CHECK_INT(limits[0], N);
            CHECK_INT(limits[1], BINS);
        }
        close_bench();
    }
}

static void wrong_ones_are_found(void)
{
    static const struct {
        shmt_config fault;
        enum shmt_verdict verdict;
        const char *reason;
    } faults[] = {
        {1, SHMT_VERDICT_WRONG, "limits[0] is 999, expected 1000, off by 1"},
        {2, SHMT_VERDICT_UNWRITTEN,
         "left 1 of 2 elements of limits unwritten, the first is 1"},
        {3, SHMT_VERDICT_WRONG, "histogram["},
        {4, SHMT_VERDICT_WRONG, "sums["},
    };
    struct shmt_result result;

    open_bench(false);
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        CHECK_INT(measure(faults[k].fault, &result), SHMTUNE_OK);
        CHECK_INT(result.verdict, faults[k].verdict);
        CHECK_HAS(result.reason, faults[k].reason);
        CHECK_INT(measure(0, &result), SHMTUNE_OK);
        CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    }
    close_bench();
}

static void a_comparison_is_passed_them(void)
{
    struct shmt_result result;

    fixture_edit(yaml, "arguments:\n  x:",
                 "compare:\n- entry: compare_limits\n  grid: 1\n  block: 1\n"
                 "  arguments: [mismatches, limits, expected.limits]\n"
                 "arguments:\n  x:");
    open_bench(false);
    CHECK_INT(measure(0, &result), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    CHECK_TEXT(result.reason, "");
    CHECK_INT(measure(1, &result), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    CHECK_HAS(result.reason, "the comparison of the spec counts 1 mismatch");
    close_bench();
    write_files();
}

static void specs_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *file, *from, *to, *message;
    } faults[] = {
        {yaml, "symbol: limits, count: 2", "symbol: limits, count: 3",
         "the variable limits has 8 bytes, the argument limits 3 elements of "
         "4: see "},
        {yaml, "symbol: limits, count", "symbol: limit, count",
         "the binary has no variable limit, which the output limits is, see "},
        {yaml, "symbol: head, count: 1, zeroed: true",
         "symbol: head, count: 1", ""},     /* its poison is no begin */
        {"kernels/fake_variable.cu", "__device__ int limits[2];",
         "__constant__ int limits[2]; static __device__ int written[2];\n"
         "#define limits written",
         "the variable limits is __constant__, which no kernel writes, and "
         "limits has the role output; give it \"role: symbol\": see "},
    };
    struct shmt_result result;

    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        write_files();
        fixture_edit(faults[k].file, faults[k].from, faults[k].to);
        open_bench(false);
        if (measure(0, &result) == SHMTUNE_OK)
            CHECK(result.verdict != SHMT_VERDICT_OK);
        CHECK_HAS(err.text, faults[k].message);
        close_bench();
    }
    write_files();
}

/* -- the library ---------------------------------------------------------- */

static void applications_read_them(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {N, BINS};
    struct shmtune_argument argument = SHMTUNE_ARGUMENT_INIT;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_message message;
    struct shmtune_function *function = NULL;
    struct shmtune *library;
    const struct shmtune_kernel *found;
    float sums[BINS] = {1, 2, 3, 4, 5, 6, 7};
    unsigned histogram[BINS];
    int64_t bytes = 0;
    int *x, limits[2];
    void *arguments[] = {&x, NULL, NULL, NULL, NULL, NULL, NULL};

    CHECK_INT(driver->MemAlloc((CUdeviceptr *)&x, N * sizeof *x), 0);
    for (int i = 0; i < N; i++)
        x[i] = i % 2;
    CHECK_INT(shmtune_open(fixture_path("."), &library, NULL), SHMTUNE_OK);
    found = shmtune_kernel_find(library, "fake_variable");
    CHECK_INT(shmtune_argument_at(found, HISTOGRAM, &argument), SHMTUNE_OK);
    CHECK_INT(argument.role, SHMTUNE_SYMBOL);
    CHECK_INT(argument.zeroed, 1);
    CHECK_INT(shmtune_select(found, &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(shmtune_argument_bytes(&choice, LIMITS, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 8);
    CHECK_INT(shmtune_prepare(&choice,
                              SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE,
                              &function, &message), SHMTUNE_OK);
    /* What goes on from its contents has to have some, and nothing else. */
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "the variable sums (argument 2) was never filled");
    CHECK_INT(shmtune_fill(function, SUMS, sums, sizeof sums, NULL, &message),
              SHMTUNE_OK);
    for (int times = 1; times <= 2; times++) {
        CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
                  SHMTUNE_OK);
        CHECK_INT(shmtune_read(function, HISTOGRAM, histogram,
                               sizeof histogram, NULL, &message), SHMTUNE_OK);
        CHECK_INT(histogram[0], N / 2);
        CHECK_INT(histogram[1], N / 2);
        CHECK_INT(histogram[2], 0);
        CHECK_INT(shmtune_read(function, SUMS, sums, sizeof sums, NULL,
                               &message), SHMTUNE_OK);
        CHECK(sums[0] == (float)(1 + times * N / 2));
        CHECK(sums[2] == 3);
    }
    CHECK_INT(shmtune_read(function, LIMITS, limits, sizeof limits, NULL,
                           &message), SHMTUNE_OK);
    CHECK_INT(limits[1], BINS);
    CHECK_INT(shmtune_read(function, LIMITS, NULL, sizeof limits, NULL,
                           &message), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "shmtune_read: data is NULL");
    CHECK_INT(shmtune_read(function, LIMITS, limits, 4, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_read(function, X, limits, 4, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    shmtune_release(function);
    shmtune_close(library);
    driver->MemFree((CUdeviceptr)x);
}

int main(void)
{
    CUcontext context;

    fixture_driver(&driver, &nvrtc);
    fixture_begin();
    write_files();
    CHECK_RUN(they_are_set_and_compared);
    CHECK_RUN(wrong_ones_are_found);
    CHECK_RUN(a_comparison_is_passed_them);
    CHECK_RUN(specs_that_do_not_fit_are_refused);
    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
    CHECK_RUN(applications_read_them);
    fixture_end();
    return CHECK_END();
}
