/* SPDX-License-Identifier: MIT */
/*
 * times: how long each kernel takes, for the list: an event before each launch
 * and one after it.  Pairs are read as they come to be done, and the last ones
 * before the driver goes or their context does.  The sums are written now and
 * then and at the end, so that a program that is killed has said most of it.
 *
 * The first launch of a function may load its code meanwhile, a thousand times
 * what it takes else: its sum is one of its own.
 */
#include "capture/library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAIRS = 1024, WANTED = 32 };

/* A launch whose time is not read yet. */
struct timed {
    struct shmt_capture_pair events;
    size_t kernel;
    bool first, running;
};

struct sum {
    uint64_t timed;
    double ms;
};

struct kernel {
    char *name;
    uint64_t launches, in_graphs;  /* in_graphs: these are not timed */
    unsigned wanted;               /* in graphs, to be timed */
    struct sum first, others;
    unsigned grid[3], block[3];
    bool has_source;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timed pairs[PAIRS];
static size_t next_pair;
static struct kernel *kernels;
static size_t kernel_count;
static struct shmt_map launched;       /* the functions that were */
static double next_write_s;    /* when the sums are written again */
static long long begun_us;     /* names the file: a process may exec another */
static pid_t process;          /* that made the launches */

/* -- the sums ------------------------------------------------------------- */

static bool write_times(bool last)
{
    const char *folder = shmt_capture_setting()->folder;
    struct shmt_text text = {0};
    char path[1024];
    bool written;

    for (size_t k = 0; k < kernel_count; k++) {
        const struct kernel *one = &kernels[k];

        shmt_text_addf(&text, "%llu %llu %llu %.6f %llu %.6f "
                       "%u %u %u %u %u %u %s\n",
                       (unsigned long long)one->launches,
                       (unsigned long long)one->in_graphs,
                       (unsigned long long)one->others.timed, one->others.ms,
                       (unsigned long long)one->first.timed, one->first.ms,
                       one->grid[0], one->grid[1], one->grid[2],
                       one->block[0], one->block[1], one->block[2],
                       one->name);
    }
    if (last)
        shmt_text_add(&text, SHMT_CAPTURE_TIMES_END "\n");
    snprintf(path, sizeof path, "%s/" SHMT_CAPTURE_TIMES "%ld-%lld", folder,
             (long)getpid(), begun_us);
    written = !text.failed && shmt_path_write(path, text.data, text.length,
                                              NULL) == SHMTUNE_OK;
    shmt_text_free(&text);
    return written;
}

/* false: it is not done yet. */
static bool read_pair(const struct shmt_capture_driver *driver,
                      struct timed *pair)
{
    struct kernel *kernel = &kernels[pair->kernel];
    struct sum *sum = pair->first ? &kernel->first : &kernel->others;
    double us;
    const CUresult result = shmt_capture_pair_read(driver, &pair->events, &us);

    if (result == CUDA_ERROR_NOT_READY)
        return false;
    pair->running = false;
    if (result == CUDA_SUCCESS) {
        sum->ms += us / 1e3;
        sum->timed++;
    }
    return true;
}

/* Those that are done, in the order of their launches. */
static void read_done(const struct shmt_capture_driver *driver)
{
    for (size_t k = 0; k < PAIRS; k++) {
        struct timed *pair = &pairs[(next_pair + k) % PAIRS];

        if (pair->running && !read_pair(driver, pair))
            break;
    }
}

/* For a fiftieth of the time at most, and every two seconds at least. */
static void write_now_and_then(const struct shmt_capture_driver *driver)
{
    const double now_s = shmt_clock_s();
    double pause_s;

    if (now_s < next_write_s)
        return;
    if (begun_us == 0)
        begun_us = (long long)(1e6 * now_s);
    read_done(driver);
    (void)write_times(false);  /* again soon */
    pause_s = 50 * (shmt_clock_s() - now_s);
    next_write_s = shmt_clock_s() + (pause_s < 2 ? pause_s : 2);
}

static size_t kernel_of(const char *name)
{
    struct kernel *made;

    for (size_t k = 0; k < kernel_count; k++)
        if (strcmp(kernels[k].name, name) == 0)
            return k;
    made = realloc(kernels, (kernel_count + 1) * sizeof *kernels);
    if (made != NULL) {
        kernels = made;
        made[kernel_count] = (struct kernel){.name = strdup(name)};
    }
    if (made == NULL || made[kernel_count].name == NULL) {
        shmt_capture_note("there is no memory: a launch of %s is not counted",
                          name);
        return SIZE_MAX;
    }
    return kernel_count++;
}

/* -- the last of them ----------------------------------------------------- */

/* A child that was forked has launched none of this. */
static bool has_launched(void)
{
    return kernel_count > 0 && process == getpid();
}

/* The driver is there no more when destructors are called. */
static void read_last(void)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();

    pthread_mutex_lock(&lock);
    if (driver != NULL && has_launched())
        read_done(driver);
    pthread_mutex_unlock(&lock);
}

/* Of the events of a context that goes. */
static void drop_pairs(void)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();

    if (driver == NULL || !has_launched())
        return;
    read_last();
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < PAIRS; k++) {
        if (pairs[k].events.context != NULL)
            shmt_capture_pair_free(driver, &pairs[k].events);
        pairs[k].running = false;
    }
    pthread_mutex_unlock(&lock);
}

#define CONTEXT_GOES(name, declared, given)                                  \
    SHMT_CAPTURE_HOOKED name declared                                        \
    {                                                                        \
        SHMT_CAPTURE_REAL(name);                                             \
        drop_pairs();                                                        \
        return real == NULL ? CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND      \
                            : real given;                                    \
    }

CONTEXT_GOES(cuCtxDestroy, (CUcontext context), (context))
CONTEXT_GOES(cuCtxDestroy_v2, (CUcontext context), (context))
CONTEXT_GOES(cuDevicePrimaryCtxRelease, (CUdevice device), (device))
CONTEXT_GOES(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
CONTEXT_GOES(cuDevicePrimaryCtxReset, (CUdevice device), (device))
CONTEXT_GOES(cuDevicePrimaryCtxReset_v2, (CUdevice device), (device))

/* Before the first launch is counted: the driver is there, and goes later. */
static void enter(void)
{
    if (process == 0)
        (void)atexit(read_last);    /* or else the last are not timed */
    process = getpid();
}

__attribute__((destructor)) static void write_last(void)
{
    if (has_launched() && !write_times(true))
        shmt_capture_note("the last times could not be written: those of "
                          "some launches are missing");
}

/* -- a launch ------------------------------------------------------------- */

/* Whether the function was not launched before. */
static bool is_first(CUfunction handle)
{
    const uint64_t key = (uint64_t)(uintptr_t)handle;

    if (shmt_map_find(&launched, key) != SHMT_MAP_NONE)
        return false;
    shmt_map_set(&launched, key, 0);
    return true;
}

static void count(size_t kernel, const unsigned grid[3],
                  const unsigned block[3])
{
    kernels[kernel].launches++;
    memcpy(kernels[kernel].grid, grid, sizeof kernels[kernel].grid);
    memcpy(kernels[kernel].block, block, sizeof kernels[kernel].block);
}

static int begin(const struct shmt_capture_driver *driver,
                 const struct shmt_capture_launch *launch, size_t kernel)
{
    struct timed *const pair = &pairs[next_pair];

    count(kernel, launch->grid, launch->block);
    if (kernels[kernel].launches % 64 == 1 || pair->running)
        read_done(driver);
    if (pair->running ||
        !shmt_capture_pair_begin(driver, &pair->events, launch->stream))
        return -1;
    next_pair = (next_pair + 1) % PAIRS;
    pair->kernel = kernel;
    pair->first = is_first(launch->handle);
    return (int)(pair - pairs);
}

int shmt_capture_times_begin(const struct shmt_capture_launch *launch)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    struct shmt_capture_function function;
    size_t kernel;
    int at = -1;

    if (driver == NULL ||
        !shmt_capture_function_of(launch->handle, &function) ||
        !shmt_capture_is_wanted(function.name))
        return -1;
    shmt_capture_function_seen(launch->handle);
    driver->ThreadExchangeStreamCaptureMode(&mode);
    pthread_mutex_lock(&lock);
    enter();
    kernel = kernel_of(function.name);
    if (kernel != SIZE_MAX)
        at = begin(driver, launch, kernel);
    write_now_and_then(driver);
    pthread_mutex_unlock(&lock);
    driver->ThreadExchangeStreamCaptureMode(&mode);
    return at;
}

void shmt_capture_times_end(int at, const struct shmt_capture_launch *launch)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();

    pthread_mutex_lock(&lock);
    pairs[at].running =
        shmt_capture_pair_end(driver, &pairs[at].events, launch->stream);
    pthread_mutex_unlock(&lock);
}

bool shmt_capture_times_wants(const struct shmt_capture_node *node)
{
    struct shmt_capture_function function;
    bool wants = false;
    size_t kernel;

    if (!shmt_capture_function_of(node->handle, &function))
        return false;
    pthread_mutex_lock(&lock);
    kernel = kernel_of(function.name);
    if (kernel != SIZE_MAX && kernels[kernel].wanted < WANTED) {
        kernels[kernel].wanted++;
        wants = true;
    }
    pthread_mutex_unlock(&lock);
    return wants;
}

void shmt_capture_times_count(const struct shmt_capture_node *node)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    struct shmt_capture_function function;
    size_t kernel;

    if (driver == NULL || !shmt_capture_function_of(node->handle, &function))
        return;
    shmt_capture_function_seen(node->handle);
    pthread_mutex_lock(&lock);
    enter();
    kernel = kernel_of(function.name);
    if (kernel != SIZE_MAX) {
        count(kernel, node->grid, node->block);
        kernels[kernel].in_graphs++;
    }
    write_now_and_then(driver);
    pthread_mutex_unlock(&lock);
}
