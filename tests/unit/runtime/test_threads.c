/* SPDX-License-Identifier: MIT */
/*
 * Many threads at once, on the fake driver: they open, select, prepare, resize,
 * launch, release and close, on handles and functions of their own and on
 * shared ones.  tests/sanitizers.sh runs it under ThreadSanitizer, to which a
 * lock that is missing is a failure.  The binary is compiled once with the real
 * NVRTC.
 */
#include "shmtune.h"

#include <pthread.h>
#include <unistd.h>

#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

enum { THREADS = 8, ROUNDS = 20, N = 500, PARAMETERS = 6, DYNAMIC = 5 };

static const char *root;
static struct shmtune *library;
static struct shmtune_device device;
static const struct shmt_driver *driver;
static CUcontext context;
static pthread_barrier_t start;
static struct shmtune_function *shared;

/* One thread. */
struct lane {
    pthread_t thread;
    int number;
    int right;                     /* rounds in which all was as expected */
};

/* Runs `work` in all threads, beginning at the same time. */
static void run(void *(*work)(void *lane))
{
    struct lane lanes[THREADS] = {0};

    CHECK_INT(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int k = 0; k < THREADS; k++) {
        lanes[k].number = k;
        CHECK_INT(pthread_create(&lanes[k].thread, NULL, work, &lanes[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        CHECK_INT(pthread_join(lanes[k].thread, NULL), 0);
        CHECK_INT(lanes[k].right, ROUNDS);
    }
    pthread_barrier_destroy(&start);
}

/* -- the first calls of the process --------------------------------------- */

static void *query(void *argument)
{
    struct lane *const lane = argument;

    pthread_barrier_wait(&start);
    for (int k = 0; k < ROUNDS; k++) {
        struct shmtune_device found = {.size = sizeof found};

        lane->right += shmtune_device_query(0, &found, NULL) == SHMTUNE_OK &&
                       found.compute_major == 9;
    }
    return NULL;
}

static void the_driver_is_opened_once(void)
{
    run(query);
}

/* -- selecting, preparing, launching -------------------------------------- */

/* For n = N - number, with a binary that is there. */
static bool choose(const struct shmtune *from, int number,
                   struct shmtune_choice *out)
{
    const int64_t problem[] = {N - number};

    *out = (struct shmtune_choice)SHMTUNE_CHOICE_INIT;
    return shmtune_select(shmtune_kernel_find(from, "fake_kernel"), &device,
                          problem, out) == SHMTUNE_OK;
}

/* out = 2 x on memory of the thread's own. */
static bool launch(const struct shmtune_function *function, int n)
{
    enum { OUT, X, ACC, COUNTER, BUFFERS };
    CUdeviceptr buffers[BUFFERS] = {0};
    void *const arguments[] = {&buffers[OUT], &buffers[X], &buffers[ACC],
                               &buffers[COUNTER], NULL, NULL, NULL};
    float out[N], x[N];
    bool right = true;

    for (int i = 0; i < n; i++)
        x[i] = (float)i;
    for (int k = 0; k < BUFFERS; k++)
        right = right && driver->MemAlloc(&buffers[k], sizeof x) == 0;
    right = right && driver->MemcpyHtoD(buffers[X], x, sizeof x) == 0 &&
            shmtune_launch(function, arguments, NULL, NULL) == SHMTUNE_OK &&
            driver->MemcpyDtoH(out, buffers[OUT], sizeof out) == 0;
    for (int i = 0; right && i < n; i++)
        right = out[i] == 2 * x[i];
    for (int k = 0; k < BUFFERS; k++)
        driver->MemFree(buffers[k]);
    return right;
}

static void *own_handle(void *argument)
{
    struct lane *const lane = argument;

    driver->CtxSetCurrent(context);
    pthread_barrier_wait(&start);
    for (int k = 0; k < ROUNDS; k++) {
        struct shmtune *own = NULL;
        struct shmtune_function *function = NULL;
        struct shmtune_choice choice;

        lane->right += shmtune_open(root, &own, NULL) == SHMTUNE_OK &&
                       choose(own, lane->number, &choice) &&
                       shmtune_prepare(&choice, 0, &function, NULL) ==
                           SHMTUNE_OK &&
                       launch(function, N - lane->number);
        shmtune_release(function);
        shmtune_close(own);
    }
    return NULL;
}

static void each_with_a_handle_of_its_own(void)
{
    run(own_handle);
}

/* With dynamic shared memory that has to be asked for: what is set on the
 * binary is shared.  All resize between the same two barriers, and nothing
 * else there orders one thread behind another. */
static void *shared_function(void *argument)
{
    struct lane *const lane = argument;
    struct shmtune_choice choice;
    uint16_t values[PARAMETERS];
    bool right = choose(library, lane->number, &choice);

    driver->CtxSetCurrent(context);
    memcpy(values, choice.values, sizeof values);
    values[DYNAMIC] = 1;
    for (int k = 0; k < ROUNDS; k++) {
        struct shmtune_function *function = NULL;

        if (lane->number == 0)
            right = shmtune_prepare(&choice, 0, &shared, NULL) == SHMTUNE_OK;
        choice.values = values;
        pthread_barrier_wait(&start);
        right = right && shmtune_resize(shared, &choice, &function, NULL) ==
                             SHMTUNE_OK;
        pthread_barrier_wait(&start);
        if (lane->number == 0)
            shmtune_release(shared);   /* the others keep the binary */
        lane->right += right && launch(function, N - lane->number);
        shmtune_release(function);
        choose(library, lane->number, &choice);
    }
    return NULL;
}

static void one_function_for_all(void)
{
    run(shared_function);
}

/* The cache is empty: each makes the binary, and one of them stores it. */
static void *compile_all(void *argument)
{
    struct lane *const lane = argument;

    driver->CtxSetCurrent(context);
    pthread_barrier_wait(&start);
    for (int k = 0; k < ROUNDS; k++) {
        struct shmtune_function *function = NULL;
        struct shmtune_choice choice;

        lane->right += choose(library, lane->number, &choice) &&
                       shmtune_prepare(&choice, SHMTUNE_ALLOW_COMPILE,
                                       &function, NULL) == SHMTUNE_OK;
        shmtune_release(function);
    }
    return NULL;
}

static void the_binary_is_made_by_any(void)
{
    fixture_remove("cache");
    run(compile_all);
}

int main(void)
{
    const struct shmt_nvrtc *nvrtc;

    fixture_fake_driver();
    if (access(getenv("SHMTUNE_LIBCUDA"), R_OK) == 0)
        CHECK_RUN(the_driver_is_opened_once);
    fixture_driver(&driver, &nvrtc);
    root = fixture_begin();
    setenv("XDG_CACHE_HOME", fixture_path("cache"), 1);
    fixture_copy("fake_kernel.yaml");
    fixture_copy("fake_kernel.cu");
    device = fixture_device();
    if (shmtune_open(root, &library, NULL) != SHMTUNE_OK ||
        driver->DevicePrimaryCtxRetain(&context, 0) != 0 ||
        driver->CtxSetCurrent(context) != 0) {
        printf("Bail out! no kernel\n");
        return EXIT_FAILURE;
    }
    CHECK_RUN(the_binary_is_made_by_any);
    CHECK_RUN(each_with_a_handle_of_its_own);
    CHECK_RUN(one_function_for_all);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
