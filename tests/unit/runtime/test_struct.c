/* SPDX-License-Identifier: MIT */
/*
 * test_struct: structs by value, pointers into buffers and null pointers reach
 * the kernel, from the bench and from the library, on the fake driver.
 * Compiles with the real NVRTC.
 */
#include "shmtune.h"

#include <math.h>

#include "bench/bench.h"
#include "tests/support/bench_read.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

enum { N = 1000, X = 0, OUT = 1, PARAMETERS = 2, BEHIND = 3, COUNT = 6 };
static const char yaml[] = "kernels/fake_struct.yaml";

/* What the kernel takes, as C lays it out. */
struct parameters {
    signed char sign;
    uint64_t out;
    short steps[3];
    double scale;
    int n;
    uint64_t none;
    bool last;
};

static const struct shmt_driver *driver;
static const struct shmt_nvrtc *nvrtc;
static struct shmt_kernel *kernel;
static struct shmt_bench *bench;
static struct shmt_error err;

static void write_files(void)
{
    fixture_copy("fake_struct.yaml");
    fixture_copy("fake_struct.cu");
}

static void open_kernel(void)
{
    if (shmt_kernel_read(fixture_path(yaml), &kernel, &err) == SHMTUNE_OK)
        return;
    printf("Bail out! %s\n", err.text);
    exit(EXIT_FAILURE);
}

static void they_are_laid_out_as_in_c(void)
{
    const int64_t problem[] = {N};
    const shmt_config config[] = {0, 1};
    struct shmt_kernel_evaluated evaluated;
    struct parameters packed;
    uint64_t addresses[COUNT] = {[X] = 5000, [OUT] = 7000}, behind;

    open_kernel();
    CHECK_INT(kernel->arguments[PARAMETERS].bytes, sizeof packed);
    CHECK_INT(kernel->arguments[PARAMETERS].alignment, 8);
    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    CHECK_INT(shmt_kernel_argument_pack(&evaluated, PARAMETERS, &packed,
                                        &err), SHMTUNE_OK);
    shmt_argument_link(&kernel->arguments[PARAMETERS], addresses, &packed);
    CHECK_INT(packed.sign, -1);
    CHECK_INT(packed.out, 7000);
    CHECK_INT(packed.steps[1], 1);
    CHECK_INT(packed.steps[2], N % 100);
    CHECK(packed.scale == 1.5);
    CHECK_INT(packed.n, N);
    CHECK_INT(packed.none, 0);
    CHECK_INT(packed.last, 1);
    CHECK_INT(shmt_kernel_argument_pack(&evaluated, BEHIND, &behind, &err),
              SHMTUNE_OK);
    shmt_argument_link(&kernel->arguments[BEHIND], addresses, &behind);
    CHECK_INT(behind, 5000 + 4 * (N + 1));
    shmt_kernel_free(kernel);
}

static enum shmtune_status measure(shmt_config shift,
                                   struct shmt_result *result)
{
    const int64_t problem[] = {N};
    const shmt_config choice[] = {1, shift};
    const struct shmt_bench_request request = {
        .problem = problem, .config = choice, .samples = 3,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_bench_note note;

    memset(result, 0, sizeof *result);
    err.text[0] = '\0';
    return shmt_bench_measure(bench, &request, result, &note, &err);
}

static double answer(int i, int shift)
{
    return -1.5 * (N + shift + i) + (i % 3 == 2 ? N % 100 : i % 3);
}

static void candidates_get_them(void)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .seed = 11};
    struct shmt_result result;
    float found[N];

    open_kernel();
    CHECK_INT(shmt_bench_open(kernel, &options, &bench, &err), SHMTUNE_OK);
    for (shmt_config shift = 0; bench != NULL && shift < 2; shift++) {
        int wrong = 0;

        CHECK_INT(measure(shift, &result), SHMTUNE_OK);
        CHECK_TEXT(err.text, "");
        CHECK_INT(result.verdict, shift == 0 ? SHMT_VERDICT_OK
                                             : SHMT_VERDICT_WRONG);
        CHECK_INT(fixture_read(bench, "out", false, N, found, &err),
                  SHMTUNE_OK);
        for (int i = 0; i < N; i++)
            wrong += (double)found[i] != answer(i, shift);
        CHECK_INT(wrong, 0);
    }
    shmt_bench_close(bench);
    shmt_kernel_free(kernel);
}

/* A struct of another size than the kernel's. */
static void other_structs_are_refused(void)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc};
    struct shmt_result result;

    fixture_edit(yaml, "{type: f64, value: 1.5}", "{type: f32, value: 1.5}");
    fixture_edit(yaml, "      last: {type: bool, value: 1}\n", "");
    open_kernel();
    CHECK_INT(shmt_bench_open(kernel, &options, &bench, &err), SHMTUNE_OK);
    CHECK_INT(measure(0, &result), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_SPEC_MISMATCH);
    CHECK_HAS(result.reason, "combine takes 56 bytes as parameter 1, the spec "
                             "passes parameters of 40");
    shmt_bench_close(bench);
    shmt_kernel_free(kernel);
    write_files();
}

/* -- the library ---------------------------------------------------------- */

static struct shmtune *library;
static struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
static struct shmtune_function *function;
static struct shmtune_message message;

static void the_library_describes_them(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {N};
    const struct shmtune_kernel *found =
        shmtune_kernel_find(library, "fake_struct");
    struct shmtune_argument argument = SHMTUNE_ARGUMENT_INIT;
    int64_t bytes = -1;

    CHECK_INT(shmtune_select(found, &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(shmtune_prepare(&choice,
                              SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE,
                              &function, &message), SHMTUNE_OK);
    CHECK_INT(shmtune_argument_at(found, PARAMETERS, &argument), SHMTUNE_OK);
    CHECK_INT(argument.role, SHMTUNE_STRUCT);
    CHECK_TEXT(argument.type, "struct");
    CHECK_INT(argument.element_bytes, sizeof(struct parameters));
    CHECK_INT(shmtune_argument_at(found, BEHIND, &argument), SHMTUNE_OK);
    CHECK_INT(argument.role, SHMTUNE_POINTER);
    CHECK_INT(argument.element_bytes, 8);
    CHECK_INT(shmtune_argument_bytes(&choice, PARAMETERS, &bytes),
              SHMTUNE_OK);
    CHECK_INT(bytes, 0);
    /* Only a pointer leads to it. */
    CHECK_INT(shmtune_argument_bytes(&choice, OUT, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 4 * N);
}

static void applications_pass_theirs_or_none(void)
{
    CUdeviceptr out = 0, x = 0;
    void *arguments[COUNT] = {&x, &out};
    struct parameters own = {.sign = 1, .steps = {7, 7, 7}, .scale = 2,
                             .n = N, .last = true};
    CUdeviceptr at;
    int wrong = 0;

    CHECK_INT(driver->MemAlloc(&out, N * sizeof(float)), 0);
    CHECK_INT(driver->MemAlloc(&x, (2 * N + 1) * sizeof(float)), 0);
    for (int i = 0; i < 2 * N + 1; i++)
        ((float *)x)[i] = (float)i;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    for (int i = 0; i < N; i++)
        wrong += (double)((float *)out)[i] != answer(i, 0);
    CHECK_INT(wrong, 0);
    own.out = out;
    at = x;
    arguments[PARAMETERS] = &own;
    arguments[BEHIND] = &at;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    for (int i = 0; i < N; i++)
        wrong += ((float *)out)[i] != (float)(2 * i + 7);
    CHECK_INT(wrong, 0);
    arguments[OUT] = NULL;
    ((float *)out)[0] = -1;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "the buffer out (argument 1) is null");
    CHECK(((float *)out)[0] == -1);
    shmtune_release(function);
    driver->MemFree(out);
    driver->MemFree(x);
}

int main(void)
{
    CUcontext context;

    fixture_driver(&driver, &nvrtc);
    fixture_begin();
    write_files();
    CHECK_RUN(they_are_laid_out_as_in_c);
    CHECK_RUN(candidates_get_them);
    CHECK_RUN(other_structs_are_refused);
    CHECK_INT(shmtune_open(fixture_path("."), &library, NULL), SHMTUNE_OK);
    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
    CHECK_RUN(the_library_describes_them);
    CHECK_RUN(applications_pass_theirs_or_none);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
