/* SPDX-License-Identifier: MIT */
/*
 * The library on a GPU: the shipped kernels, chosen by the shipped tunings
 * and by default, at sizes that fit no tile, against float64 on the CPU; then
 * streams, events, threads and shared memory by opt-in.  Part of the GPU
 * lane.
 */
#include "launch_kernels.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

enum { THREADS = 4, ROUNDS = 50 };

static const struct shmt_driver *driver;
static CUcontext context;
static CUstream stream;
static struct shmtune_device device = SHMTUNE_DEVICE_INIT;
static struct shmtune_message message;
static CUresult (*stream_wait)(CUstream, CUevent, unsigned);

static void fill(void *data, int64_t bytes, const char *type)
{
    static uint32_t state = 1;

    memset(data, 0, (size_t)bytes);
    if (strcmp(type, "f32") != 0)
        return;
    for (int64_t i = 0; i < bytes / 4; i++) {
        state = state * 1664525 + 1013904223;
        ((float *)data)[i] = (float)(state >> 8) / (1 << 23) - 1;
    }
}

static void allocate(const struct shmtune_choice *choice,
                     struct buffers *buffers)
{
    *buffers = (struct buffers){
        .count = shmtune_argument_count(choice->kernel)};
    CHECK(buffers->count <= LAUNCH_ARGUMENTS);
    for (size_t k = 0; k < buffers->count; k++) {
        struct shmtune_argument *argument = &buffers->arguments[k];

        argument->size = sizeof *argument;
        CHECK_INT(shmtune_argument_at(choice->kernel, k, argument),
                  SHMTUNE_OK);
        CHECK_INT(shmtune_argument_bytes(choice, k, &buffers->bytes[k]),
                  SHMTUNE_OK);
        if (buffers->bytes[k] == 0)
            continue;
        buffers->here[k] = malloc((size_t)buffers->bytes[k]);
        CHECK(buffers->here[k] != NULL);
        fill(buffers->here[k], buffers->bytes[k], argument->type);
        CHECK_INT(driver->MemAlloc(&buffers->there[k],
                                   (size_t)buffers->bytes[k]), 0);
        CHECK_INT(driver->MemcpyHtoD(buffers->there[k], buffers->here[k],
                                     (size_t)buffers->bytes[k]), 0);
        buffers->pointers[k] = argument->role == SHMTUNE_VALUE
                                   ? buffers->here[k]
                                   : (void *)&buffers->there[k];
    }
    /* A copy may still be on its way, and our streams wait for no other. */
    CHECK_INT(driver->CtxSynchronize(), 0);
}

/* Small whole numbers in the toy's input, here and there. */
static void number_input(struct buffers *buffers)
{
    float *from = named(buffers, "from");

    for (int64_t i = 0; i < buffers->bytes[1] / 4; i++)
        from[i] = (float)(i % 1000);
    CHECK_INT(driver->MemcpyHtoD(buffers->there[1], from,
                                 (size_t)buffers->bytes[1]), 0);
    CHECK_INT(driver->CtxSynchronize(), 0);
}

static void release(struct buffers *buffers)
{
    for (size_t k = 0; k < buffers->count; k++) {
        if (buffers->there[k] != 0)
            CHECK_INT(driver->MemFree(buffers->there[k]), 0);
        free(buffers->here[k]);
    }
}

/* What the device has of the argument, in new memory. */
static void *fetch(const struct buffers *buffers, const char *name)
{
    for (size_t k = 0; k < buffers->count; k++)
        if (strcmp(buffers->arguments[k].name, name) == 0) {
            void *data = malloc((size_t)buffers->bytes[k]);

            CHECK(data != NULL);
            CHECK_INT(driver->MemcpyDtoH(data, buffers->there[k],
                                         (size_t)buffers->bytes[k]), 0);
            return data;
        }
    CHECK(!"no such argument");
    return calloc(1, 1);
}

/* -- the shipped kernels --------------------------------------------------- */

static void run_one(const struct shmtune_kernel *kernel,
                    const struct reference *reference, const int64_t *size)
{
    struct shmtune_function *function = NULL;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct buffers buffers;
    char text[512];
    void *result;

    CHECK_INT(shmtune_select(kernel, &device, size, &choice), SHMTUNE_OK);
    shmtune_choice_text(&choice, text, sizeof text);
    printf("# %s: %s: %s\n", reference->kernel,
           shmtune_match_text(choice.match), text);
    if (shmtune_prepare(&choice, SHMTUNE_ALLOW_COMPILE, &function,
                        &message) != SHMTUNE_OK) {
        printf("# %s\n", message.text);
        CHECK(!"prepared");
        return;
    }
    allocate(&choice, &buffers);
    if (shmtune_launch(function, buffers.pointers, stream, &message) !=
        SHMTUNE_OK) {
        printf("# %s\n", message.text);
        CHECK(!"launched");
    }
    CHECK_INT(driver->StreamSynchronize(stream), 0);
    result = fetch(&buffers, reference->result);
    CHECK_INT(reference->wrong(&buffers, result, size), 0);
    free(result);
    release(&buffers);
    shmtune_release(function);
}

/* Every kernel of the table at every size, tuned or not. */
static void run_table(const char *path)
{
    struct shmtune *library;

    CHECK_INT(shmtune_open(path, &library, NULL), SHMTUNE_OK);
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        printf("# %s\n", shmtune_note(library, k));
    for (size_t row = 0; row < reference_count; row++) {
        const struct reference *reference = &references[row];
        const struct shmtune_kernel *kernel =
            shmtune_kernel_find(library, reference->kernel);

        CHECK(kernel != NULL);
        for (size_t k = 0;
             kernel != NULL && k < LAUNCH_SIZES && reference->sizes[k][0] > 0;
             k++)
            run_one(kernel, reference, reference->sizes[k]);
    }
    shmtune_close(library);
}

static const char *source_folder(void)
{
    const char *folder = getenv("SHMT_SRCDIR");

    return folder != NULL ? folder : ".";
}

static void shipped_tunings(void)
{
    run_table(source_folder());
}

static void defaults_without_a_tuning(void)
{
    char kernels[1024], *whole;

    snprintf(kernels, sizeof kernels, "%s/kernels", source_folder());
    whole = realpath(kernels, NULL);
    CHECK(whole != NULL);
    fixture_put_text("bare/x", "");
    CHECK_INT(symlink(whole, fixture_path("bare/kernels")), 0);
    free(whole);
    run_table(fixture_path("bare"));
}

/* -- the small kernel of the fixture: out = from + 1 ---------------------- */

static struct shmtune *library;
static struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
static struct shmtune_function *function;
static const int64_t rows = 1000, cols = 1024;

static void prepare_toy(void)
{
    const struct fixture_tuned tuned[] = {{rows, cols, 256, 200, 0, 1}};
    const int64_t problem[] = {rows, cols};
    struct shmtune_geometry launch = SHMTUNE_GEOMETRY_INIT;

    fixture_tune("here.yaml", &device, tuned, 1);
    CHECK_INT(shmtune_open(fixture_path(""), &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, "toy"), &device,
                             problem, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    CHECK_INT(shmtune_choice_launch(&choice, 0, &launch), SHMTUNE_OK);
    CHECK_INT(launch.shared_dynamic, 200 * 1024);
    CHECK_INT(shmtune_prepare(&choice, 0, &function, &message),
              SHMTUNE_NOT_FOUND);
    CHECK_INT(shmtune_prepare(&choice, SHMTUNE_ALLOW_COMPILE, &function,
                              &message), SHMTUNE_OK);
    shmtune_release(function);
    function = NULL;
    CHECK_INT(shmtune_prepare(&choice, 0, &function, &message), SHMTUNE_OK);
}

/* Elements of the device's `out` that are `added` more than `from`. */
static int64_t right_elements(const float *from, CUdeviceptr out, float added)
{
    const int64_t count = rows * cols;
    float *data = malloc((size_t)count * sizeof *data);
    int64_t right = 0;

    CHECK(data != NULL);
    CHECK_INT(driver->MemcpyDtoH(data, out, (size_t)count * sizeof *data), 0);
    for (int64_t i = 0; i < count; i++)
        right += data[i] == from[i] + added;
    free(data);
    return right;
}

static void shared_memory_by_opt_in(void)
{
    struct buffers buffers;

    if (function == NULL)
        prepare_toy();
    allocate(&choice, &buffers);
    number_input(&buffers);
    CHECK_INT(shmtune_launch(function, buffers.pointers, stream, &message),
              SHMTUNE_OK);
    CHECK_INT(driver->StreamSynchronize(stream), 0);
    CHECK_INT(right_elements(named(&buffers, "from"), buffers.there[0], 1),
              rows * cols);
    release(&buffers);
}

/* What one stream wrote is the input of the other, which waits for it. */
static void two_streams_and_an_event(void)
{
    struct buffers buffers;
    CUdeviceptr last = 0;
    CUstream other;
    CUevent event;
    int64_t right = 0;

    allocate(&choice, &buffers);
    number_input(&buffers);
    CHECK_INT(driver->MemAlloc(&last, (size_t)buffers.bytes[0]), 0);
    CHECK_INT(driver->StreamCreate(&other, CU_STREAM_NON_BLOCKING), 0);
    CHECK_INT(driver->EventCreate(&event, CU_EVENT_DISABLE_TIMING), 0);
    for (int k = 0; k < ROUNDS; k++) {
        CUdeviceptr middle = buffers.there[0];
        void *second[LAUNCH_ARGUMENTS];

        memcpy(second, buffers.pointers, sizeof second);
        second[0] = &last;
        second[1] = &middle;
        CHECK_INT(shmtune_launch(function, buffers.pointers, stream,
                                 &message), SHMTUNE_OK);
        CHECK_INT(driver->EventRecord(event, stream), 0);
        CHECK_INT(stream_wait(other, event, 0), 0);
        CHECK_INT(shmtune_launch(function, second, other, &message),
                  SHMTUNE_OK);
        CHECK_INT(driver->StreamSynchronize(other), 0);
        right += right_elements(named(&buffers, "from"), last, 2);
        CHECK_INT(driver->MemsetD8Async(middle, 0xff,
                                        (size_t)buffers.bytes[0], stream), 0);
        CHECK_INT(driver->StreamSynchronize(stream), 0);
    }
    CHECK_INT(right, ROUNDS * rows * cols);
    driver->EventDestroy(event);
    driver->StreamDestroy(other);
    driver->MemFree(last);
    release(&buffers);
}

static void *run_thread(void *result)
{
    struct buffers buffers;
    CUstream mine = NULL;

    if (driver->CtxSetCurrent(context) != CUDA_SUCCESS ||
        driver->StreamCreate(&mine, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        return NULL;
    allocate(&choice, &buffers);
    number_input(&buffers);
    for (int k = 0; k < ROUNDS; k++)
        if (shmtune_launch(function, buffers.pointers, mine, NULL) !=
            SHMTUNE_OK)
            return NULL;
    if (driver->StreamSynchronize(mine) != CUDA_SUCCESS)
        return NULL;
    *(int64_t *)result =
        right_elements(named(&buffers, "from"), buffers.there[0], 1);
    release(&buffers);
    driver->StreamDestroy(mine);
    return NULL;
}

static void many_threads_launch(void)
{
    pthread_t threads[THREADS];
    int64_t right[THREADS] = {0};

    for (int k = 0; k < THREADS; k++)
        CHECK_INT(pthread_create(&threads[k], NULL, run_thread, &right[k]),
                  0);
    for (int k = 0; k < THREADS; k++) {
        CHECK_INT(pthread_join(threads[k], NULL), 0);
        CHECK_INT(right[k], rows * cols);
    }
}

static double now_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Not a judgement, a figure: what a call costs the host. */
static void cost_of_a_launch(void)
{
    struct buffers buffers;
    double select_us, launch_us;
    struct shmtune_choice again = SHMTUNE_CHOICE_INIT;

    allocate(&choice, &buffers);
    select_us = now_us();
    for (int k = 0; k < 100000; k++)
        shmtune_select(choice.kernel, &device, choice.problem, &again);
    select_us = (now_us() - select_us) / 100000;
    CHECK_INT(driver->StreamSynchronize(stream), 0);
    launch_us = now_us();
    for (int k = 0; k < 200; k++)
        shmtune_launch(function, buffers.pointers, stream, NULL);
    launch_us = (now_us() - launch_us) / 200;
    CHECK_INT(driver->StreamSynchronize(stream), 0);
    printf("# select %.3f us, launch (one clearing, one kernel) %.2f us\n",
           select_us, launch_us);
    CHECK_INT(again.match, SHMTUNE_EXACT);
    release(&buffers);
}

static bool begin(void)
{
    void *library_of_cuda = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = NULL;
    struct shmt_error err;

    if (library_of_cuda != NULL)
        symbol = dlsym(library_of_cuda, "cuStreamWaitEvent");
    memcpy(&stream_wait, &symbol, sizeof symbol);
    if (symbol == NULL || shmt_driver_open(&driver, &err) != SHMTUNE_OK) {
        printf("1..0 # SKIP no CUDA driver\n");
        return false;
    }
    if (driver->DevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
        driver->CtxSetCurrent(context) != CUDA_SUCCESS ||
        driver->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) !=
            CUDA_SUCCESS ||
        shmtune_device_query(SHMTUNE_CURRENT_DEVICE, &device, &message) !=
            SHMTUNE_OK) {
        printf("1..0 # SKIP no GPU\n");
        return false;
    }
    return true;
}

int main(void)
{
    if (!begin())
        return EXIT_SUCCESS;
    fixture_begin();
    setenv("XDG_CACHE_HOME", fixture_path("cache"), 1);
    CHECK_RUN(shipped_tunings);
    CHECK_RUN(defaults_without_a_tuning);
    CHECK_RUN(shared_memory_by_opt_in);
    CHECK_RUN(two_streams_and_an_event);
    CHECK_RUN(many_threads_launch);
    CHECK_RUN(cost_of_a_launch);
    shmtune_release(function);
    shmtune_close(library);
    driver->StreamDestroy(stream);
    driver->DevicePrimaryCtxRelease(0);
    fixture_end();
    return CHECK_END();
}
