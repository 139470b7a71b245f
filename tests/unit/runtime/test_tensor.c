/* SPDX-License-Identifier: MIT */
/*
 * test_tensor: tensor maps of pitched matrices are encoded by the bench and by
 * the library, on the fake driver; and what the driver would refuse is refused
 * with a reason.  Compiles with the real NVRTC.
 */
#include "shmtune.h"

#include <math.h>

#include "bench/bench.h"
#include "tests/support/bench_read.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

enum { ROWS = 37, COLS = 53, PITCH = 56, MAP = 2 };
static const char yaml[] = "kernels/fake_tensor.yaml";
static const int64_t problem[] = {ROWS, COLS};

static const struct shmt_driver *driver;
static const struct shmt_nvrtc *nvrtc;
static struct shmt_kernel *kernel;
static struct shmt_bench *bench;
static struct shmt_error err;

static void write_files(void)
{
    fixture_copy("fake_tensor.yaml");
    fixture_copy("fake_tensor.cu");
}

static enum shmt_verdict measure(shmt_config tile, shmt_config shift)
{
    const shmt_config choice[] = {tile, shift};
    const struct shmt_bench_request request = {
        .problem = problem, .config = choice, .samples = 3,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_bench_note note;
    struct shmt_result result;

    shmt_result_clear(&result);
    err.text[0] = '\0';
    CHECK_INT(shmt_bench_measure(bench, &request, &result, &note, &err),
              SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    return result.verdict;
}

static int count_wrong(const float *out, const float *x)
{
    int wrong = 0;

    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLS; k++)
            wrong += out[i * PITCH + k] != 2 * x[i * PITCH + k];
    return wrong;
}

static void candidates_get_them(void)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .seed = 11};
    float out[ROWS * PITCH], x[ROWS * PITCH];

    CHECK_INT(shmt_kernel_read(fixture_path(yaml), &kernel, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_bench_open(kernel, &options, &bench, &err), SHMTUNE_OK);
    for (shmt_config tile = 0; bench != NULL && tile < 3; tile++) {
        CHECK_INT(measure(tile, 0), SHMT_VERDICT_OK);
        CHECK_INT(fixture_read(bench, "out", false, ROWS * PITCH, out, &err),
                  SHMTUNE_OK);
        CHECK_INT(fixture_read(bench, "x", false, ROWS * PITCH, x, &err),
                  SHMTUNE_OK);
        CHECK_INT(count_wrong(out, x), 0);
        CHECK_INT(measure(tile, 1), SHMT_VERDICT_WRONG);
    }
    setenv("FAKE_CUDA_FAIL", "TensorMapEncodeTiled=1", 1);
    CHECK_INT(measure(0, 0), SHMT_VERDICT_LAUNCH_ERROR);
    unsetenv("FAKE_CUDA_FAIL");
    CHECK_INT(measure(0, 0), SHMT_VERDICT_OK);
    shmt_bench_close(bench);
    shmt_kernel_free(kernel);
}

static void other_maps_are_refused(void)
{
    static const struct {
        const char *from, *to, *message;
    } faults[] = {
        {"tensor_map: x", "tensor_map: rows",
         ":26:21: a pointer to rows, which is no buffer but a scalar"},
        {"tensor_map: x", "tensor_map: \"null\"", ":26:21: \"null\" is not"},
        {"extents: [cols, rows]", "extents: []", "extents has 0 numbers; 1 to "
         "5 are expected"},
        {"box: [TILE, TILE]", "box: [TILE]",
         "box has 1 numbers; 2 to 2 are expected"},
        {"strides: [pitch]", "strides: [pitch, 1]",
         "strides has 2 numbers; 1 to 1 are expected"},
        {"strides: [pitch]", "strides: [cols]",
         ":26:57: the tensor map map: a stride in bytes is 212; a multiple of "
         "16 is expected"},
        {"strides: [pitch], ", "", ":26:8: the tensor map map: a stride in "
         "bytes is 212"},
        {"box: [TILE, TILE]", "box: [TILE, 257]",
         "an extent of the box is 257"},
        {"box: [TILE, TILE]", "box: [TILE + 1, TILE]",
         "a row of the box in bytes is 68; a multiple of 16"},
        {"box: [TILE, TILE]", "box: [TILE, TILE], swizzle: 32",
         "a row of the box in bytes is 64; no more than the swizzle"},
        {"box: [TILE, TILE]", "box: [TILE, TILE], swizzle: 16",
         "the swizzle is 16; 0 for none"},
        {"box: [TILE, TILE]", "box: [TILE, TILE], interleave: 8",
         "the interleave is 8"},
        {"box: [TILE, TILE]", "box: [TILE, TILE], l2: 1",
         "the promotion to L2 is 1"},
        {"extents: [cols, rows]", "extents: [cols, rows + 1]",
         "the last element is 2124; less than the count"},
        {"extents: [cols, rows]", "extents: [0, rows]", "an extent is 0"},
        {"box: [TILE, TILE]", "box: [TILE, TILE], type: f32", "type"},
    };

    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        write_files();
        fixture_edit(yaml, faults[k].from, faults[k].to);
        kernel = NULL;
        CHECK_INT(shmt_kernel_read(fixture_path(yaml), &kernel, &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, faults[k].message);
        if (kernel != NULL)
            shmt_kernel_free(kernel);
    }
    write_files();
}

static void applications_leave_them_to_the_library(void)
{
    const struct shmtune_device device = fixture_device();
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_argument argument = SHMTUNE_ARGUMENT_INIT;
    struct shmtune_function *function = NULL;
    struct shmtune_message message;
    struct shmtune *library = NULL;
    const struct shmtune_kernel *found;
    CUdeviceptr out = 0, x = 0;
    void *arguments[] = {&out, &x, NULL, NULL, NULL, NULL, NULL};

    CHECK_INT(shmtune_open(fixture_path("."), &library, NULL), SHMTUNE_OK);
    found = shmtune_kernel_find(library, "fake_tensor");
    CHECK_INT(shmtune_select(found, &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(shmtune_prepare(&choice,
                              SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE,
                              &function, &message), SHMTUNE_OK);
    CHECK_INT(shmtune_argument_at(found, MAP, &argument), SHMTUNE_OK);
    CHECK_INT(argument.role, SHMTUNE_TENSOR_MAP);
    CHECK_INT(argument.element_bytes, 128);
    CHECK_INT(driver->MemAlloc(&out, ROWS * PITCH * sizeof(float)), 0);
    CHECK_INT(driver->MemAlloc(&x, ROWS * PITCH * sizeof(float)), 0);
    for (int i = 0; i < ROWS * PITCH; i++)
        ((float *)x)[i] = (float)(i % 1009);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    CHECK_INT(count_wrong((float *)out, (float *)x), 0);
    shmtune_release(function);
    shmtune_close(library);
    driver->MemFree(out);
    driver->MemFree(x);
}

int main(void)
{
    CUcontext context;

    fixture_driver(&driver, &nvrtc);
    fixture_begin();
    write_files();
    CHECK_RUN(candidates_get_them);
    CHECK_RUN(other_maps_are_refused);
    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
    CHECK_RUN(applications_leave_them_to_the_library);
    fixture_end();
    return CHECK_END();
}
