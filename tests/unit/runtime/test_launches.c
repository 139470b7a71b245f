/* SPDX-License-Identifier: MIT */
/*
 * test_launches: cooperative launches, clusters in three dimensions, and as
 * many launches as there may be, from the bench and from the library, on the
 * fake driver.  Compiles with the real NVRTC.
 */
#include "shmtune.h"

#include <math.h>

#include "bench/bench.h"
#include "gpu/gpu.h"
#include "tests/support/bench_read.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

enum { N = 1000, STEPS = 64, TOO_MANY = 2 };

static const struct shmt_driver *driver;
static const struct shmt_nvrtc *nvrtc;
static struct shmt_kernel *kernel;
static struct shmt_bench *bench;
static struct shmt_error err;

static void open_bench(const char *path)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc};

    bench = NULL;
    if (shmt_kernel_read(fixture_path(path), &kernel, &err) == SHMTUNE_OK &&
        shmt_bench_open(kernel, &options, &bench, &err) == SHMTUNE_OK)
        return;
    printf("Bail out! %s\n", err.text);
    exit(EXIT_FAILURE);
}

static void close_bench(void)
{
    shmt_bench_close(bench);
    shmt_kernel_free(kernel);
}

static enum shmt_verdict measure(const int64_t *problem,
                                 const shmt_config *config,
                                 struct shmt_result *result)
{
    const struct shmt_bench_request request = {
        .problem = problem, .config = config, .samples = 3,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_bench_note note;

    memset(result, 0, sizeof *result);
    err.text[0] = '\0';
    CHECK_INT(shmt_bench_measure(bench, &request, result, &note, &err),
              SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    return result->verdict;
}

static void grids_are_cooperative_and_clusters_boxes(void)
{
    static const int64_t problems[][2] = {{N, 2}, {N, 1}};
    struct shmt_result result;
    int found[N], wrong = 0;

    open_bench("kernels/fake_grid.yaml");
    for (shmt_config blocks = 0; blocks < TOO_MANY; blocks++)
        for (size_t p = 0; p < 2; p++)
            CHECK_INT(measure(problems[p], &blocks, &result),
                      SHMT_VERDICT_OK);
    CHECK_INT(fixture_read(bench, "out", false, N, found, &err), SHMTUNE_OK);
    for (int i = 0; i < N; i++)
        wrong += found[i] != 2 * (N - 1 - i);
    CHECK_INT(wrong, 0);
    CHECK_INT(measure(problems[0], &(shmt_config){TOO_MANY}, &result),
              SHMT_VERDICT_NOT_RESIDENT);
    CHECK_HAS(result.reason, "grid of a cooperative launch has 3000 blocks, "
                             "the device holds at once ");
    close_bench();
}

static void there_may_be_many_launches(void)
{
    static const int64_t problem[] = {N};
    const shmt_config whole[] = {1, 1}, short_of_one[] = {1, 0};
    struct shmt_result result;
    unsigned found[N], right = 0;

    open_bench("kernels/fake_steps.yaml");
    CHECK_INT(kernel->launch_count, STEPS);
    CHECK_INT(measure(problem, whole, &result), SHMT_VERDICT_OK);
    CHECK_INT(fixture_read(bench, "out", false, N, found, &err), SHMTUNE_OK);
    for (unsigned k = 0; k < STEPS; k++)
        right = 3 * right + k + 5;
    CHECK(found[5] == right);
    CHECK_INT(measure(problem, short_of_one, &result), SHMT_VERDICT_WRONG);
    close_bench();
}

/* Each of them is in the compiler's report of a candidate. */
static void each_launch_has_its_resources(void)
{
    static const int64_t problem[] = {N};
    const shmt_config config[] = {1, 1};
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_image_request request = {
        .evaluated = &evaluated, .arch = "sm_90",
        .nvrtc_version = nvrtc->version};
    struct shmt_text text = {0};
    struct shmt_result result;

    CHECK_INT(shmt_kernel_read(fixture_path("kernels/fake_steps.yaml"),
                               &kernel, &err), SHMTUNE_OK);
    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    CHECK_INT(shmt_inspect(&request, nvrtc, NULL, &result, &err),
              SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.launches.count, STEPS);
    CHECK_INT(result.launches.of[STEPS - 1].registers,
              result.resources.registers);
    shmt_result_write(&result, &text);
    CHECK_HAS(text.data, "launches: [[");
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

/* -- the library ---------------------------------------------------------- */

static struct shmtune *library;
static struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
static struct shmtune_message message;

static enum shmtune_status prepare(const char *name, const int64_t *problem,
                                   struct shmtune_function **function)
{
    const struct shmtune_device device = fixture_device();

    *function = NULL;
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, name), &device,
                             problem, &choice), SHMTUNE_OK);
    return shmtune_prepare(&choice, SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE,
                           function, &message);
}

static void applications_launch_them(void)
{
    const int64_t problem[] = {N, 2};
    struct shmtune_geometry geometry = SHMTUNE_GEOMETRY_INIT;
    struct shmtune_function *function;
    CUdeviceptr memory[4];
    void *arguments[] = {&memory[0], &memory[1], &memory[2], &memory[3],
                         NULL, NULL};
    int *out, *x;

    for (size_t k = 0; k < 4; k++)
        CHECK_INT(driver->MemAlloc(&memory[k], N * sizeof(int)), 0);
    CHECK_INT(prepare("fake_grid", problem, &function), SHMTUNE_OK);
    CHECK_INT(shmtune_choice_launch(&choice, 0, &geometry), SHMTUNE_OK);
    CHECK_INT(geometry.cooperative, 1);
    CHECK_INT(geometry.cluster[0], 0);
    CHECK_INT(shmtune_choice_launch(&choice, 1, &geometry), SHMTUNE_OK);
    CHECK_INT(geometry.cooperative, 0);
    CHECK_INT(geometry.cluster[2], 2);
    out = (int *)memory[0];
    x = (int *)memory[3];
    for (int i = 0; i < N; i++)
        x[i] = i * i;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    CHECK_INT(out[10], 2 * (N - 11) * (N - 11));
    CHECK_INT(((int *)memory[1])[0], 29);
    shmtune_release(function);
    for (size_t k = 0; k < 4; k++)
        driver->MemFree(memory[k]);
}

/* A grid that the driver's count of blocks does not hold. */
static void too_large_grids_are_refused(void)
{
    const int64_t problem[] = {N, 2};
    struct shmtune_function *function;

    fixture_edit("kernels/fake_grid.yaml", "default: 100, scope",
                 "default: 3000, scope");
    shmtune_close(library);
    CHECK_INT(shmtune_open(fixture_path("."), &library, NULL), SHMTUNE_OK);
    CHECK_INT(prepare("fake_grid", problem, &function),
              SHMTUNE_NO_CONFIGURATION);
    CHECK_HAS(message.text, "cooperative launch has 3000 blocks");
}

int main(void)
{
    static const char *const files[] = {"fake_grid.yaml", "fake_grid.cu",
                                        "fake_steps.yaml", "fake_steps.cu"};
    CUcontext context;

    fixture_driver(&driver, &nvrtc);
    fixture_begin();
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++)
        fixture_copy(files[k]);
    CHECK_RUN(grids_are_cooperative_and_clusters_boxes);
    CHECK_RUN(there_may_be_many_launches);
    CHECK_RUN(each_launch_has_its_resources);
    CHECK_INT(shmtune_open(fixture_path("."), &library, NULL), SHMTUNE_OK);
    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
    CHECK_RUN(applications_launch_them);
    CHECK_RUN(too_large_grids_are_refused);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
