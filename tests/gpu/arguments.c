/* SPDX-License-Identifier: MIT */
/*
 * arguments: what kernels are given beside buffers and numbers arrives on a
 * GPU, from the bench and from the library: every answer is computed here, on
 * the host.  Needs a GPU and NVRTC.
 */
#include <math.h>

#include "bench/bench.h"
#include "data/data.h"
#include "gpu/driver.h"
#include "gpu/texture.h"
#include "shmtune.h"
#include "tests/support/bench_read.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/gpu_fixture.h"

enum { SEED = 7, MOST = 1 << 16 };

static const struct shmt_nvrtc *nvrtc;
static const struct shmt_driver *driver;
static const char *images;
static struct shmt_error err;
static struct shmt_kernel *kernel;
static struct shmt_bench *bench;
static shmt_config config[SHMT_SPACE_PARAMETERS];
static struct shmt_result result;

/* -- the bench ------------------------------------------------------------ */

static bool open_bench(const char *folder, const char *name)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .images = images, .seed = SEED};
    char path[1024];

    snprintf(path, sizeof path, "%s/%s/%s.yaml", getenv("SHMT_SRCDIR"),
             folder, name);
    bench = NULL;
    if (shmt_kernel_read(path, &kernel, &err) == SHMTUNE_OK &&
        shmt_bench_open(kernel, &options, &bench, &err) == SHMTUNE_OK) {
        shmt_kernel_default(kernel, config);
        return true;
    }
    printf("# %s\n", err.text);
    shmt_kernel_free(kernel);
    CHECK(false);
    return false;
}

static void close_bench(void)
{
    CHECK(!shmt_bench_context_lost(bench));
    shmt_bench_close(bench);
    shmt_kernel_free(kernel);
}

/* The configuration at hand has this verdict. */
static void measure(const int64_t *problem, enum shmt_verdict verdict)
{
    const struct shmt_bench_request request = {
        .problem = problem, .config = config, .samples = 3,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_bench_note note;

    shmt_result_clear(&result);
    err.text[0] = '\0';
    CHECK_INT(shmt_bench_measure(bench, &request, &result, &note, &err),
              SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    CHECK_INT(result.verdict, verdict);
    if (result.verdict != verdict)
        printf("# %s\n", result.reason);
}

static size_t argument_of(const char *name)
{
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (strcmp(kernel->arguments[k].name, name) == 0)
            return k;
    printf("Bail out! no argument %s\n", name);
    exit(EXIT_FAILURE);
}

/* Element i as it was filled. */
static double filled(const int64_t *problem, const char *name, uint64_t i)
{
    const size_t k = argument_of(name);
    struct shmt_kernel_evaluated evaluated;
    struct shmt_fill_values values = {0};
    struct shmt_pattern pattern;
    union shmt_element_scalar scalar;

    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              problem, &evaluated);
    CHECK_INT(shmt_kernel_argument_fill(&evaluated, k, &values, &err),
              SHMTUNE_OK);
    pattern = shmt_pattern_of(&values, k, SEED);
    scalar = shmt_pattern_value(&pattern, i);
    return shmt_element_real(kernel->arguments[k].element, &scalar);
}

/* What the candidate has written, and what the reference has. */
static float found[MOST], expected[MOST];

static void read_results(const char *name, size_t count)
{
    CHECK(count <= MOST);
    CHECK_INT(fixture_read(bench, name, false, count, found, &err),
              SHMTUNE_OK);
    CHECK_INT(fixture_read(bench, name, true, count, expected, &err),
              SHMTUNE_OK);
}

static bool near(float one, double other)
{
    return fabs((double)one - other) <= 1e-5 * fmax(1, fabs(other));
}

/* -- the library ---------------------------------------------------------- */

static struct shmtune *library;
static struct shmtune_message message;

static struct shmtune_function *prepare(const char *name,
                                        const int64_t *problem)
{
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_function *function = NULL;

    CHECK_INT(shmtune_device_query(SHMTUNE_CURRENT_DEVICE, &device, &message),
              SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, name), &device,
                             problem, &choice), SHMTUNE_OK);
    if (shmtune_prepare(&choice, SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE,
                        &function, &message) != SHMTUNE_OK) {
        printf("Bail out! %s\n", message.text);
        exit(EXIT_FAILURE);
    }
    return function;
}

static CUdeviceptr on_device(const void *data, size_t bytes)
{
    CUdeviceptr there = 0;

    CHECK_INT(driver->MemAlloc(&there, bytes), 0);
    if (data != NULL)
        CHECK_INT(driver->MemcpyHtoD(there, data, bytes), 0);
    CHECK_INT(driver->CtxSynchronize(), 0);
    return there;
}

static void take_back(void *data, CUdeviceptr there, size_t bytes)
{
    CHECK_INT(driver->CtxSynchronize(), 0);
    CHECK_INT(driver->MemcpyDtoH(data, there, bytes), 0);
    driver->MemFree(there);
}

/* -- variables of the source ---------------------------------------------- */

enum { TAPS = 5, BINS = 7, N = 1003 };

static void variables_are_filled(void)
{
    static const int64_t problem[] = {N, TAPS};
    int wrong = 0;

    if (!open_bench("tests/fake", "fake_symbol"))
        return;
    for (int again = 0; again < 2; again++) {
        measure(problem, SHMT_VERDICT_OK);
        read_results("out", N);
        for (int i = 0; i < N; i++) {
            double sum = 0;

            for (int t = 0; t < TAPS; t++)
                sum += filled(problem, "weights", (uint64_t)t) *
                       ((i + t * t) % N);
            wrong += !near(found[i], sum) + !near(expected[i], sum);
        }
        CHECK_INT(wrong, 0);
        fixture_choice(kernel, config, "FAULT", "1", NULL);
        measure(problem, SHMT_VERDICT_UNSTABLE);
        fixture_choice(kernel, config, "WEIGHTS", "none", NULL);
        measure(problem, SHMT_VERDICT_WRONG);
        fixture_choice(kernel, config, NULL);
    }
    close_bench();
}

static void applications_fill_variables(void)
{
    static const int64_t problem[] = {N, TAPS};
    static const float weights[TAPS] = {3, -1, 4, 1, -5};
    static const int offsets[TAPS] = {0, 9, 2, 6, 5};
    struct shmtune_function *function = prepare("fake_symbol", problem);
    CUdeviceptr x, out, there = on_device(weights, sizeof weights);
    void *arguments[] = {&out, &x, NULL, NULL, NULL, NULL};
    int wrong = 0;

    for (int i = 0; i < N; i++)
        expected[i] = (float)(i % 17);
    x = on_device(expected, sizeof(float) * N);
    out = on_device(NULL, sizeof(float) * N);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    /* One from the device's memory, one from the host's. */
    CHECK_INT(shmtune_fill(function, 2, (void *)(uintptr_t)there,
                           sizeof weights, NULL, &message), SHMTUNE_OK);
    CHECK_INT(shmtune_fill(function, 3, offsets, sizeof offsets, NULL,
                           &message), SHMTUNE_OK);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    take_back(found, out, sizeof(float) * N);
    for (int i = 0; i < N; i++) {
        double sum = 0;

        for (int t = 0; t < TAPS; t++)
            sum += (double)weights[t] * ((i + offsets[t]) % N % 17);
        wrong += !near(found[i], sum);
    }
    CHECK_INT(wrong, 0);
    shmtune_release(function);
    driver->MemFree(x);
    driver->MemFree(there);
}

/* The same in every run, and wrong in each way in which it can be. */
static void variables_are_written(void)
{
    static const int64_t problem[] = {N, BINS};
    static const enum shmt_verdict faults[] = {
        SHMT_VERDICT_OK, SHMT_VERDICT_WRONG, SHMT_VERDICT_UNWRITTEN,
        SHMT_VERDICT_WRONG, SHMT_VERDICT_WRONG};
    static const char *const texts[] = {"0", "1", "2", "3", "4"};
    unsigned histogram[BINS], sum = 0;

    if (!open_bench("tests/fake", "fake_variable"))
        return;
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        fixture_choice(kernel, config, "FAULT", texts[k], NULL);
        measure(problem, faults[k]);
    }
    fixture_choice(kernel, config, NULL);
    measure(problem, SHMT_VERDICT_OK);
    read_results("sums", BINS);
    CHECK_INT(fixture_read(bench, "histogram", false, BINS, histogram, &err),
              SHMTUNE_OK);
    for (int k = 0; k < BINS; k++) {
        sum += histogram[k];
        CHECK(near(found[k], 8 * k + (double)histogram[k]));
    }
    CHECK_INT(sum, N);
    close_bench();
}

static void applications_read_variables(void)
{
    static const int64_t problem[] = {N, BINS};
    struct shmtune_function *function = prepare("fake_variable", problem);
    float sums[BINS] = {1, 2, 3, 4, 5, 6, 7};
    unsigned histogram[BINS];
    static int values[N];
    CUdeviceptr x, there = on_device(NULL, sizeof histogram);
    void *arguments[] = {&x, NULL, NULL, NULL, NULL, NULL, NULL};

    for (int i = 0; i < N; i++)
        values[i] = i % 2;
    x = on_device(values, sizeof values);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_fill(function, 2, sums, sizeof sums, NULL, &message),
              SHMTUNE_OK);
    for (int times = 1; times <= 2; times++) {
        CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
                  SHMTUNE_OK);
        CHECK_INT(shmtune_read(function, 2, sums, sizeof sums, NULL,
                               &message), SHMTUNE_OK);
        CHECK(near(sums[0], 1 + times * (N + 1) / 2));
        CHECK(near(sums[1], 2 + times * (N / 2)));
    }
    /* To the device's memory. */
    CHECK_INT(shmtune_read(function, 1, (void *)(uintptr_t)there,
                           sizeof histogram, NULL, &message), SHMTUNE_OK);
    take_back(histogram, there, sizeof histogram);
    CHECK_INT(histogram[0], (N + 1) / 2);
    CHECK_INT(histogram[1], N / 2);
    CHECK_INT(histogram[2], 0);
    shmtune_release(function);
    driver->MemFree(x);
}

/* -- structs and pointers ------------------------------------------------- */

static double combined(int i)
{
    return -1.5 * (N + i) + (i % 3 == 2 ? N % 100 : i % 3);
}

static void structs_and_pointers_arrive(void)
{
    static const int64_t problem[] = {N};
    int wrong = 0;

    if (!open_bench("tests/fake", "fake_struct"))
        return;
    measure(problem, SHMT_VERDICT_OK);
    read_results("out", N);
    for (int i = 0; i < N; i++)
        wrong += !near(found[i], combined(i)) +
                 !near(expected[i], combined(i));
    CHECK_INT(wrong, 0);
    fixture_choice(kernel, config, "SHIFT", "1", NULL);
    measure(problem, SHMT_VERDICT_WRONG);
    close_bench();
}

static void applications_leave_structs_to_the_library(void)
{
    static const int64_t problem[] = {N};
    struct shmtune_function *function = prepare("fake_struct", problem);
    CUdeviceptr out, x;
    void *arguments[] = {&x, &out, NULL, NULL, NULL, NULL};
    int wrong = 0;

    for (int i = 0; i < 2 * N + 1; i++)
        expected[i] = (float)i;
    x = on_device(expected, sizeof(float) * (2 * N + 1));
    out = on_device(NULL, sizeof(float) * N);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    take_back(found, out, sizeof(float) * N);
    for (int i = 0; i < N; i++)
        wrong += !near(found[i], combined(i));
    CHECK_INT(wrong, 0);
    shmtune_release(function);
    driver->MemFree(x);
}

/* -- launches ------------------------------------------------------------- */

static bool has_clusters(void)
{
    return shmt_bench_device(bench)->compute_major >= 9;
}

static void grids_are_cooperative_and_clusters_boxes(void)
{
    static const int64_t problems[][2] = {{N, 1}, {30011, 2}};
    static int out[MOST];
    int wrong = 0;

    if (!open_bench("tests/fake", "fake_grid"))
        return;
    for (size_t p = 0; has_clusters() && p < 2; p++) {
        const int n = (int)problems[p][0], edge = (int)problems[p][1];

        measure(problems[p], SHMT_VERDICT_OK);
        CHECK_INT(fixture_read(bench, "out", false, (size_t)n, out, &err),
                  SHMTUNE_OK);
        for (int i = 0; i < n; i++)
            wrong += out[i] != 2 * (n - 1 - i);
        CHECK_INT(fixture_read(bench, "across", false, 48, out, &err),
                  SHMTUNE_OK);
        for (int k = 0; k < 6 * edge * edge * edge; k++) {
            const int at[] = {k % (2 * edge), k / (2 * edge) % (3 * edge),
                              k / (6 * edge * edge)};
            int to[3];

            for (size_t i = 0; i < 3; i++)
                to[i] = at[i] / edge * edge + edge - 1 - at[i] % edge;
            wrong += out[k] != (to[2] * 3 * edge + to[1]) * 2 * edge + to[0];
        }
        CHECK_INT(wrong, 0);
    }
    fixture_choice(kernel, config, "BLOCKS", "3000", NULL);
    if (has_clusters())
        measure(problems[0], SHMT_VERDICT_NOT_RESIDENT);
    close_bench();
}

static void there_may_be_many_launches(void)
{
    static const int64_t problem[] = {N};
    static unsigned out[N];
    int wrong = 0;

    if (!open_bench("tests/fake", "fake_steps"))
        return;
    measure(problem, SHMT_VERDICT_OK);
    CHECK_INT(fixture_read(bench, "out", false, N, out, &err), SHMTUNE_OK);
    for (unsigned i = 0; i < N; i++) {
        unsigned right = 0;

        for (unsigned k = 0; k < 64; k++)
            right = 3 * right + k + i;
        wrong += out[i] != right;
    }
    CHECK_INT(wrong, 0);
    fixture_choice(kernel, config, "LAST", "0", NULL);
    measure(problem, SHMT_VERDICT_WRONG);
    close_bench();
}

/* -- tensor maps of pitched matrices -------------------------------------- */

enum { ROWS = 37, COLS = 53, PITCH = 56 };

static int wrong_tiles(const int64_t *problem)
{
    int wrong = 0;

    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLS; k++)
            wrong += (double)found[i * PITCH + k] !=
                     2 * (problem != NULL
                              ? filled(problem, "x",
                                       (uint64_t)(i * PITCH + k))
                              : (double)expected[i * PITCH + k]);
    return wrong;
}

static void tensor_maps_arrive(void)
{
    static const char *const sides[] = {"8", "16", "32"};
    static const int64_t problem[] = {ROWS, COLS};

    if (!open_bench("tests/fake", "fake_tensor"))
        return;
    for (size_t s = 0; has_clusters() && s < 3; s++) {
        fixture_choice(kernel, config, "TILE", sides[s], NULL);
        measure(problem, SHMT_VERDICT_OK);
        read_results("out", ROWS * PITCH);
        CHECK_INT(wrong_tiles(problem), 0);
        fixture_choice(kernel, config, "TILE", sides[s], "SHIFT", "1", NULL);
        measure(problem, SHMT_VERDICT_WRONG);
    }
    close_bench();
}

static void applications_leave_maps_to_the_library(void)
{
    static const int64_t problem[] = {ROWS, COLS};
    const size_t bytes = ROWS * PITCH * sizeof(float);
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune_function *function;
    CUdeviceptr out, x;
    void *arguments[] = {&out, &x, NULL, NULL, NULL, NULL, NULL};

    CHECK_INT(shmtune_device_query(SHMTUNE_CURRENT_DEVICE, &device, &message),
              SHMTUNE_OK);
    if (device.compute_major < 9)
        return;
    function = prepare("fake_tensor", problem);
    for (int i = 0; i < ROWS * PITCH; i++)
        expected[i] = (float)(i % 1009);
    x = on_device(expected, bytes);
    out = on_device(NULL, bytes);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    take_back(found, out, bytes);
    CHECK_INT(wrong_tiles(NULL), 0);
    shmtune_release(function);
    driver->MemFree(x);
}

/* -- textures -------------------------------------------------------------- */

/* Every element is compared with the reference, which reads the buffers: a
 * filter and a border, pitched and linear memory, and a volume that repeats. */
static void textures_arrive(void)
{
    static const char *const blocks[] = {"32", "64", "128"};
    static const int64_t problems[][2] = {{ROWS, COLS}, {2, 1}, {300, 201}};

    if (!open_bench("tests/fake", "fake_texture"))
        return;
    for (size_t k = 0; k < 3; k++) {
        fixture_choice(kernel, config, "BLOCK", blocks[k], NULL);
        measure(problems[k], SHMT_VERDICT_OK);
        fixture_choice(kernel, config, "BLOCK", blocks[k], "SHIFT", "1", NULL);
        measure(problems[k], SHMT_VERDICT_WRONG);
    }
    close_bench();
}

/* Copies of the bench's inputs, of which an application makes its textures, and
 * what the reference computes of them. */
static void applications_give_their_textures(void)
{
    enum { OUT, PIXELS, NUMBERS, VOXELS, FIRST, LAST = 7, ARGUMENTS = 13 };
    static const char *const names[] = {"out", "pixels", "numbers", "voxels"};
    static const size_t counts[] = {ROWS * COLS, ROWS * PITCH, COLS + 3, 256};
    static const int64_t problem[] = {ROWS, COLS};
    struct shmtune_function *function = prepare("fake_texture", problem);
    struct shmt_texture textures[LAST + 1] = {{0}};
    struct shmt_kernel_evaluated evaluated;
    struct shmt_argument_texture as;
    CUdeviceptr buffers[FIRST] = {0};
    void *arguments[ARGUMENTS] = {&buffers[OUT]};
    const char *what;
    int wrong = 0;

    if (!open_bench("tests/fake", "fake_texture"))
        return;
    measure(problem, SHMT_VERDICT_OK);
    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    for (size_t k = 0; k < FIRST; k++) {
        CHECK_INT(fixture_read(bench, names[k], k == OUT, counts[k], expected,
                               &err), SHMTUNE_OK);
        buffers[k] = on_device(expected, counts[k] * sizeof(float));
    }
    for (size_t k = FIRST; k <= LAST; k++) {
        const size_t of = kernel->arguments[k].members[0].target;

        CHECK_INT(shmt_kernel_argument_texture(&evaluated, k, &as, &err),
                  SHMTUNE_OK);
        CHECK_INT(shmt_texture_make(driver, &as, buffers[of], &textures[k],
                                    &what), CUDA_SUCCESS);
        CHECK_INT(shmt_texture_copy(driver, &as, &textures[k], NULL),
                  CUDA_SUCCESS);
        arguments[k] = &textures[k].object;
    }
    CHECK_INT(fixture_read(bench, "out", true, counts[OUT], expected, &err),
              SHMTUNE_OK);
    close_bench();
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message), SHMTUNE_OK);
    take_back(found, buffers[OUT], counts[OUT] * sizeof(float));
    for (size_t i = 0; i < counts[OUT]; i++)
        wrong += !near(found[i], (double)expected[i]);
    CHECK_INT(wrong, 0);
    for (size_t k = FIRST; k <= LAST; k++)
        shmt_texture_free(driver, &textures[k]);
    for (size_t k = PIXELS; k < FIRST; k++)
        driver->MemFree(buffers[k]);
    shmtune_release(function);
}

static void open_library(void)
{
    static const char *const files[] = {
        "fake_struct.yaml", "fake_struct.cu", "fake_symbol.yaml",
        "fake_symbol.cu", "fake_tensor.yaml", "fake_tensor.cu",
        "fake_texture.yaml", "fake_texture.cu",
        "fake_variable.yaml", "fake_variable.cu"};
    CUcontext context;

    fixture_begin();
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++)
        fixture_copy(files[k]);
    CHECK_INT(shmtune_open(fixture_path("."), &library, &message),
              SHMTUNE_OK);
    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
}

int main(void)
{
    if (shmt_nvrtc_open(&nvrtc, &err) != SHMTUNE_OK ||
        shmt_driver_open(&driver, &err) != SHMTUNE_OK) {
        printf("1..0 # SKIP %s\n", err.text);
        return EXIT_SUCCESS;
    }
    if (getenv("SHMT_SRCDIR") == NULL)
        setenv("SHMT_SRCDIR", ".", 1);
    images = fixture_folder();
    CHECK_RUN(variables_are_filled);
    CHECK_RUN(variables_are_written);
    CHECK_RUN(structs_and_pointers_arrive);
    CHECK_RUN(grids_are_cooperative_and_clusters_boxes);
    CHECK_RUN(there_may_be_many_launches);
    CHECK_RUN(tensor_maps_arrive);
    CHECK_RUN(textures_arrive);
    open_library();
    CHECK_RUN(applications_fill_variables);
    CHECK_RUN(applications_read_variables);
    CHECK_RUN(applications_leave_structs_to_the_library);
    CHECK_RUN(applications_leave_maps_to_the_library);
    CHECK_RUN(applications_give_their_textures);
    shmtune_close(library);
    driver->DevicePrimaryCtxRelease(0);
    fixture_end();
    return CHECK_END();
}
