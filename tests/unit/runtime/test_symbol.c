/* SPDX-License-Identifier: MIT */
/*
 * test_symbol: variables of the source are filled, by the bench and by the
 * library, on the fake driver; and those that nobody fills are told by name.
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

enum { N = 1000, TAPS = 5, X = 1, WEIGHTS = 2, OFFSETS = 3 };
static const char yaml[] = "kernels/fake_symbol.yaml";

static const struct shmt_driver *driver;
static const struct shmt_nvrtc *nvrtc;
static struct shmt_kernel *kernel;
static struct shmt_bench *bench;
static struct shmt_error err;

static void write_files(void)
{
    fixture_copy("fake_symbol.yaml");
    fixture_copy("fake_symbol.cu");
}

static void open_bench(void)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .seed = 11};

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

static enum shmtune_status measure(shmt_config weights, shmt_config fault,
                                   struct shmt_result *result)
{
    const int64_t problem[] = {N, TAPS};
    const shmt_config choice[] = {1, weights, fault};
    const struct shmt_bench_request request = {
        .problem = problem, .config = choice, .samples = 3,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_bench_note note;

    memset(result, 0, sizeof *result);
    err.text[0] = '\0';
    return shmt_bench_measure(bench, &request, result, &note, &err);
}

/* What the kernel has to compute from the weights of the pattern; inputs count
 * up from 0, the setup's offsets are squares. */
static int right_elements(const float *out)
{
    const int64_t problem[] = {N, TAPS};
    struct shmt_kernel_evaluated evaluated;
    struct shmt_fill_values values;
    struct shmt_pattern pattern;
    int right = 0;

    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              problem, &evaluated);
    CHECK_INT(shmt_kernel_argument_fill(&evaluated, WEIGHTS, &values, &err),
              SHMTUNE_OK);
    pattern = shmt_pattern_of(&values, WEIGHTS, 11);
    for (int i = 0; i < N; i++) {
        float sum = 0;

        for (int t = 0; t < TAPS; t++)
            sum += shmt_pattern_value(&pattern, (uint64_t)t).as_f32 *
                   (float)((i + t * t) % N);
        right += sum == out[i];
    }
    return right;
}

static void candidates_and_reference_get_them(void)
{
    struct shmt_result result;
    float found[N];

    open_bench();
    for (int again = 0; again < 2; again++) {
        CHECK_INT(measure(0, 0, &result), SHMTUNE_OK);
        CHECK_TEXT(err.text, "");
        CHECK_TEXT(result.reason, "");
        CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        for (int expected = 0; expected < 2; expected++) {
            CHECK_INT(fixture_read(bench, "out", expected == 1, N, found,
                                   &err), SHMTUNE_OK);
            CHECK_INT(right_elements(found), N);
        }
        /* A binary without the variable is not given it. */
        CHECK_INT(measure(1, 0, &result), SHMTUNE_OK);
        CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
        /* One that changes its variable finds it changed: filled once. */
        CHECK_INT(measure(0, 1, &result), SHMTUNE_OK);
        CHECK_INT(result.verdict, SHMT_VERDICT_UNSTABLE);
    }
    close_bench();
}

/* The driver refuses to fill: the candidate's fault, as other refusals. */
static void a_refused_copy_is_a_verdict(void)
{
    struct shmt_result result;

    open_bench();
    CHECK_INT(measure(0, 0, &result), SHMTUNE_OK);
    setenv("FAKE_CUDA_FAIL", "MemcpyDtoDAsync=1", 1);
    CHECK_INT(measure(0, 0, &result), SHMTUNE_OK);
    unsetenv("FAKE_CUDA_FAIL");
    CHECK_INT(result.verdict, SHMT_VERDICT_LAUNCH_ERROR);
    CHECK_HAS(result.reason, "filling variables: CUDA_ERROR_INVALID_VALUE");
    setenv("FAKE_CUDA_FAIL", "ModuleGetGlobal=500", 1);
    CHECK_INT(measure(1, 0, &result), SHMTUNE_OK);
    unsetenv("FAKE_CUDA_FAIL");
    CHECK_INT(result.verdict, SHMT_VERDICT_LAUNCH_ERROR);
    CHECK_HAS(result.reason, "cuModuleGetGlobal of offsets: CUDA_ERROR_NOT");
    close_bench();
}

static void specs_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *from, *to;
        enum shmtune_status status;
        enum shmt_verdict verdict;
        const char *message;
    } faults[] = {
        {"symbol: \"filters::weights\", count: taps",
         "symbol: \"filters::weights\", count: taps + 1", SHMTUNE_WRONG_RESULT,
         SHMT_VERDICT_OK,
         "the variable filters::weights has 20 bytes, the argument weights "
         "6 elements of 4: see "},
        {"symbol: \"filters::weights\"", "symbol: \"weights\"",
         SHMTUNE_WRONG_RESULT, SHMT_VERDICT_OK,
         "the __constant__ variable filters::weights (20 bytes) has no "
         "initialiser and nobody fills it; add an argument {type: TYPE, role: "
         "symbol, count: COUNT} to the spec"},
        {"symbol: \"filters::weights\"", "symbol: \"_ZN7filters7weightsE\"",
         SHMTUNE_OK, SHMT_VERDICT_OK, ""},
    };
    struct shmt_result result;

    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        write_files();
        fixture_edit(yaml, faults[k].from, faults[k].to);
        open_bench();
        CHECK_INT(measure(0, 0, &result), faults[k].status);
        CHECK_INT(result.verdict, faults[k].verdict);
        CHECK_HAS(err.text[0] != '\0' ? err.text : result.reason,
                  faults[k].message);
        close_bench();
    }
    write_files();
}

/* -- the library ---------------------------------------------------------- */

static struct shmtune *library;
static const struct shmtune_kernel *found;
static struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
static struct shmtune_message message;

static struct shmtune_function *prepare(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {N, TAPS};
    struct shmtune_function *function = NULL;

    CHECK_INT(shmtune_select(found, &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(shmtune_prepare(&choice,
                              SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE,
                              &function, &message), SHMTUNE_OK);
    if (function == NULL) {
        printf("Bail out! %s\n", message.text);
        exit(EXIT_FAILURE);
    }
    return function;
}

static void the_library_describes_them(void)
{
    struct shmtune_argument argument = SHMTUNE_ARGUMENT_INIT;
    int64_t bytes = 0;

    shmtune_release(prepare());
    CHECK_INT(shmtune_argument_at(found, WEIGHTS, &argument), SHMTUNE_OK);
    CHECK_TEXT(argument.name, "weights");
    CHECK_INT(argument.role, SHMTUNE_SYMBOL);
    CHECK_INT(shmtune_argument_bytes(&choice, WEIGHTS, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 4 * TAPS);
}

static float *on_device(void)
{
    CUdeviceptr pointer = 0;

    CHECK_INT(driver->MemAlloc(&pointer, N * sizeof(float)), 0);
    return (float *)pointer;
}

static void what_is_not_filled_is_not_launched(void)
{
    const float weights[TAPS] = {1, 2, 3, 4, 5};
    const int offsets[TAPS] = {0, 1, 2, 3, 4};
    float *out = on_device(), *x = on_device();
    void *arguments[] = {&out, &x, NULL, NULL, NULL, NULL};
    struct shmtune_function *function = prepare(), *other = NULL;

    for (int i = 0; i < N; i++)
        x[i] = i == 500;
    out[500] = -1;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "was never filled; call shmtune_fill");
    CHECK_INT(shmtune_fill(function, WEIGHTS, weights, sizeof weights, NULL,
                           &message), SHMTUNE_OK);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "the variable offsets (argument 3)");
    CHECK(out[500] == -1);
    CHECK_INT(shmtune_fill(function, OFFSETS, offsets, sizeof offsets, NULL,
                           &message), SHMTUNE_OK);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    for (int t = 0; t < TAPS; t++)
        CHECK(out[500 - t] == weights[t]);
    /* Another function of the same binary has them already. */
    CHECK_INT(shmtune_resize(function, &choice, &other, &message),
              SHMTUNE_OK);
    out[500] = -1;
    CHECK_INT(shmtune_launch(other, arguments, NULL, &message), SHMTUNE_OK);
    CHECK(out[500] == weights[0]);
    shmtune_release(other);
    shmtune_release(function);
    driver->MemFree((CUdeviceptr)out);
    driver->MemFree((CUdeviceptr)x);
}

static void wrong_fills_are_refused(void)
{
    const float weights[TAPS] = {0};
    struct shmtune_function *function = prepare();

    CHECK_INT(shmtune_fill(NULL, WEIGHTS, weights, sizeof weights, NULL,
                           &message), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_fill(function, WEIGHTS, NULL, sizeof weights, NULL,
                           &message), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "data is NULL");
    CHECK_INT(shmtune_fill(function, 6, weights, sizeof weights, NULL,
                           &message), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "has 6 arguments, none is 6");
    CHECK_INT(shmtune_fill(function, X, weights, sizeof weights, NULL,
                           &message), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "x (argument 1) is no variable of the source");
    CHECK_INT(shmtune_fill(function, WEIGHTS, weights, 4, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "4 bytes for the variable weights (argument 2), "
                            "which has 20");
    setenv("FAKE_CUDA_FAIL", "MemcpyAsync=1", 1);
    CHECK_INT(shmtune_fill(function, WEIGHTS, weights, sizeof weights, NULL,
                           &message), SHMTUNE_CUDA);
    unsetenv("FAKE_CUDA_FAIL");
    CHECK_HAS(message.text, "cuMemcpyAsync: CUDA_ERROR_INVALID_VALUE");
    shmtune_release(function);
}

/* A configuration without the variable: nothing to fill. */
static void what_is_not_there_is_not_filled(void)
{
    const float weights[TAPS] = {2};
    const int offsets[TAPS] = {0};
    float *out = on_device(), *x = on_device();
    void *arguments[] = {&out, &x, NULL, NULL, NULL, NULL};
    struct shmtune_function *function;

    fixture_edit(yaml, "default: constant", "default: none");
    shmtune_close(library);
    CHECK_INT(shmtune_open(fixture_path("."), &library, NULL), SHMTUNE_OK);
    found = shmtune_kernel_find(library, "fake_symbol");
    function = prepare();
    x[0] = 1;
    CHECK_INT(shmtune_fill(function, WEIGHTS, weights, sizeof weights, NULL,
                           &message), SHMTUNE_OK);
    CHECK_INT(shmtune_fill(function, OFFSETS, offsets, sizeof offsets, NULL,
                           &message), SHMTUNE_OK);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    CHECK(out[0] == TAPS);
    shmtune_release(function);
    driver->MemFree((CUdeviceptr)out);
    driver->MemFree((CUdeviceptr)x);
}

int main(void)
{
    CUcontext context;

    fixture_driver(&driver, &nvrtc);
    fixture_begin();
    write_files();
    CHECK_RUN(candidates_and_reference_get_them);
    CHECK_RUN(a_refused_copy_is_a_verdict);
    CHECK_RUN(specs_that_do_not_fit_are_refused);
    CHECK_INT(shmtune_open(fixture_path("."), &library, NULL), SHMTUNE_OK);
    found = shmtune_kernel_find(library, "fake_symbol");
    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
    CHECK_RUN(the_library_describes_them);
    CHECK_RUN(what_is_not_filled_is_not_launched);
    CHECK_RUN(wrong_fills_are_refused);
    CHECK_RUN(what_is_not_there_is_not_filled);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
