/* SPDX-License-Identifier: MIT */
/*
 * test_value: an array passed by value reaches the kernel, from the bench and
 * from the library, on the fake driver.  Compiles with the real NVRTC.
 */
#include "data/data.h"
#include "shmtune.h"

#include <math.h>

#include "bench/bench.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/bench_read.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

/* FITS: weights of 32740 bytes beside 24 of other arguments. */
enum { N = 1000, TAPS = 5, FITS = 8185, WEIGHTS = 2 };

static const struct shmt_driver *driver;
static const struct shmt_nvrtc *nvrtc;
static struct shmt_kernel *kernel;
static struct shmt_bench *bench;
static struct shmt_error err;

static enum shmtune_status measure(int64_t taps, shmt_config shift,
                                   struct shmt_result *result)
{
    const int64_t problem[] = {N, taps};
    const shmt_config choice[] = {1, shift};
    const struct shmt_bench_request request = {
        .problem = problem, .config = choice, .samples = 3,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_bench_note note;

    memset(result, 0, sizeof *result);
    err.text[0] = '\0';
    return shmt_bench_measure(bench, &request, result, &note, &err);
}

/* What a kernel must have computed from the array that the pattern gives;
 * inputs count up from 0. */
static int right_elements(const float *out, int taps, uint64_t seed)
{
    const int64_t problem[] = {N, taps};
    struct shmt_kernel_evaluated evaluated;
    struct shmt_fill_values values;
    struct shmt_pattern pattern;
    int right = 0;

    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              problem, &evaluated);
    CHECK_INT(shmt_kernel_argument_fill(&evaluated, WEIGHTS, &values, &err),
              SHMTUNE_OK);
    pattern = shmt_pattern_of(&values, WEIGHTS, seed);

    for (int i = 0; i < N; i++) {
        float sum = 0;

        for (int t = 0; t < taps; t++)
            sum += shmt_pattern_value(&pattern, (uint64_t)t).as_f32 *
                   (float)((i + t) % N);
        right += sum == out[i];
    }
    return right;
}

static void candidates_and_reference_get_it(void)
{
    static const int taps[] = {TAPS, 1, FITS, TAPS};
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .seed = 11};
    struct shmt_result result;
    float found[N];

    CHECK_INT(shmt_bench_open(kernel, &options, &bench, &err), SHMTUNE_OK);
    if (bench == NULL)
        return;
    for (size_t k = 0; k < sizeof taps / sizeof taps[0]; k++) {
        CHECK_INT(measure(taps[k], 0, &result), SHMTUNE_OK);
        CHECK_TEXT(err.text, "");
        CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        for (int expected = 0; expected < 2; expected++) {
            CHECK_INT(fixture_read(bench, "out", expected == 1, N, found,
                                      &err), SHMTUNE_OK);
            CHECK_INT(right_elements(found, taps[k], 11), N);
            CHECK(right_elements(found, taps[k], 12) < N / 10);
        }
        /* Each element at its place. */
        CHECK_INT(measure(taps[k], 1, &result), SHMTUNE_OK);
        CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    }
    CHECK_INT(fixture_read(bench, "weights", false, N, found, &err),
              SHMTUNE_NOT_FOUND);
}

static void too_many_are_refused(void)
{
    struct shmt_result result;

    /* The reference still fits, but is compiled together with smooth. */
    CHECK_INT(measure(FITS + 1, 0, &result), SHMTUNE_WRONG_RESULT);
    CHECK_HAS(err.text, "32768 bytes required, max 32764 bytes allowed");
    CHECK_INT(measure(FITS + 2, 0, &result), SHMTUNE_WRONG_RESULT);
    CHECK_HAS(err.text, "fake_value.yaml:24:44: ");
    CHECK_HAS(err.text, "the arguments of smooth_reference take 32768 bytes, "
                        "32748 of them weights");
    CHECK_HAS(err.text, "32764 bytes at most: make weights an input");
    CHECK_INT(measure(9000, 0, &result), SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "weights has 9000 elements of 4 bytes");
    /* The bench is none the worse for it. */
    CHECK_INT(measure(TAPS, 0, &result), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
}

/* -- the library ---------------------------------------------------------- */

static struct shmtune *library;
static const struct shmtune_kernel *smooth;
static struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
static struct shmtune_message message;

static enum shmtune_status select_taps(int64_t taps)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {N, taps};

    return shmtune_select(smooth, &device, problem, &choice);
}

static void the_library_describes_it(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {N, FITS + 1};
    struct shmtune_argument argument = {.size = sizeof argument,
                                        .role = SHMTUNE_INPUT};
    char text[2048];
    int64_t bytes = 0;

    CHECK_INT(shmtune_argument_at(smooth, WEIGHTS, &argument), SHMTUNE_OK);
    CHECK_TEXT(argument.name, "weights");
    CHECK_TEXT(argument.type, "f32");
    CHECK_INT(argument.role, SHMTUNE_VALUE);
    CHECK_INT(argument.element_bytes, 4);
    CHECK_INT(argument.zeroed, 0);
    CHECK_INT(shmtune_argument_at(smooth, WEIGHTS + 1, &argument),
              SHMTUNE_OK);
    CHECK_INT(argument.role, SHMTUNE_SCALAR);
    CHECK_INT(select_taps(FITS), SHMTUNE_OK);
    CHECK_INT(shmtune_argument_bytes(&choice, WEIGHTS, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 4 * FITS);
    CHECK_INT(select_taps(FITS + 1), SHMTUNE_NO_CONFIGURATION);
    shmtune_explain(smooth, &device, problem, text, sizeof text);
    CHECK_HAS(text, "32768 bytes");
}

static CUdeviceptr on_device(size_t bytes)
{
    CUdeviceptr pointer = 0;

    CHECK_INT(driver->MemAlloc(&pointer, bytes), 0);
    return pointer;
}

/* Two launches of one function with two filters. */
static void launches_have_their_own(void)
{
    float *out = (float *)on_device(N * sizeof *out);
    float *x = (float *)on_device(N * sizeof *x);
    float filters[2][TAPS + 1] = {{1, 2, 3, 4, 5}, {5, 1, 1, 1, 7}};
    void *arguments[] = {&out, &x, NULL, NULL, NULL};
    struct shmtune_function *function = NULL;

    CHECK_INT(select_taps(TAPS), SHMTUNE_OK);
    CHECK_INT(shmtune_prepare(&choice,
                              SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE,
                              &function, &message), SHMTUNE_OK);
    if (function == NULL)
        return;
    for (int i = 0; i < N; i++)
        x[i] = i == 500 ? 1 : 0;
    for (int f = 0; f < 2; f++) {
        arguments[WEIGHTS] = filters[f];
        CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
                  SHMTUNE_OK);
        for (int t = 0; t < TAPS; t++)
            CHECK(out[500 - t] == filters[f][t]);
    }
    out[0] = -1;
    arguments[WEIGHTS] = NULL;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "the array weights (argument 2) is null");
    CHECK(out[0] == -1);
    shmtune_release(function);
    driver->MemFree((CUdeviceptr)out);
    driver->MemFree((CUdeviceptr)x);
}

static void open_kernel(void)
{
    const char *path;

    fixture_copy("fake_value.yaml");
    fixture_copy("fake_value.cu");
    path = fixture_path("kernels/fake_value.yaml");
    if (shmt_kernel_read(path, &kernel, &err) == SHMTUNE_OK &&
        shmtune_open(fixture_path("."), &library, NULL) == SHMTUNE_OK)
        smooth = shmtune_kernel_find(library, "fake_value");
    if (smooth == NULL) {
        printf("Bail out! no kernel: %s\n", err.text);
        exit(EXIT_FAILURE);
    }
}

int main(void)
{
    CUcontext context;

    fixture_driver(&driver, &nvrtc);
    fixture_begin();
    open_kernel();
    CHECK_RUN(candidates_and_reference_get_it);
    CHECK_RUN(too_many_are_refused);
    shmt_bench_close(bench);
    CHECK_RUN(the_library_describes_it);
    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
    CHECK_RUN(launches_have_their_own);
    shmtune_close(library);
    shmt_kernel_free(kernel);
    fixture_end();
    return CHECK_END();
}
