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
#include "capture/graph.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PAIRS = 1024,
    CHOSEN = 32,   /* launches of a kernel in graphs: they tell enough */
    SOON = 2,      /* of each before more of another: the first loads code */
    AT_ONCE = 16   /* of one launch of a graph: each is a copy of it */
};

/* A launch whose time is not read yet. */
struct timed {
    struct shmt_capture_pair events;
    CUdevice device;
    struct shmt_capture_listed *kernel;
    bool first, begun, running;    /* begun: it has yet to end */
};

struct sum {
    uint64_t timed;
    double ms;
};

struct shmt_capture_listed {
    const char *name;              /* of module.c */
    uint64_t launches, in_graphs, untimed;     /* untimed: left so, in graphs */
    unsigned chosen;               /* in graphs, to be timed */
    struct sum first, others;
    unsigned grid[3], block[3];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timed pairs[PAIRS];
static size_t next_pair;
static struct shmt_capture_listed **kernels;
static size_t kernel_count;
static struct shmt_map by_name;        /* by where the name is, which stays */
static struct shmt_map launched;       /* the functions that were */
static double next_write_s;    /* when the sums are written again */
static long long begun_us;     /* names the file: a process may exec another */
static _Atomic(pid_t) process; /* that made the launches; 0: there are none */

/* Whatever asks the driver does it between these: a capture into a graph that
 * another thread has begun would else be broken. */
static CUstreamCaptureMode enter(const struct shmt_capture_driver *driver)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    driver->ThreadExchangeStreamCaptureMode(&mode);
    pthread_mutex_lock(&lock);
    return mode;
}

static void leave(const struct shmt_capture_driver *driver,
                  CUstreamCaptureMode mode)
{
    pthread_mutex_unlock(&lock);
    driver->ThreadExchangeStreamCaptureMode(&mode);
}

/* -- the sums ------------------------------------------------------------- */

static bool write_times(bool last)
{
    const char *folder = shmt_capture_setting()->folder;
    struct shmt_text text = {0};
    char path[1024];
    bool written;

    for (size_t k = 0; k < kernel_count; k++) {
        const struct shmt_capture_listed *one = kernels[k];

        shmt_text_addf(&text, "%llu %llu %llu %llu %.6f %llu %.6f "
                       "%u %u %u %u %u %u %s\n",
                       (unsigned long long)one->launches,
                       (unsigned long long)one->in_graphs,
                       (unsigned long long)one->untimed,
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
    struct sum *sum = pair->first ? &pair->kernel->first
                                  : &pair->kernel->others;
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

/* -- the last of them ----------------------------------------------------- */

/* A child that was forked has launched none of this. */
static bool has_launched(void)
{
    return atomic_load(&process) == getpid();
}

/* The driver is there no more when destructors are called. */
static void read_last(void)
{
    const struct shmt_capture_driver *driver;
    CUstreamCaptureMode mode;

    if (!has_launched())
        return;
    driver = shmt_capture_driver();
    mode = enter(driver);
    read_done(driver);
    leave(driver, mode);
}

/* The events of a context, or, NULL, of all of a device, are gone with it.  Of
 * a launch that has yet to end, too: see shmt_capture_times_end. */
static void forget(CUcontext context, CUdevice device)
{
    if (!has_launched())
        return;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < PAIRS; k++) {
        struct timed *pair = &pairs[k];

        if (context != NULL ? pair->events.context != context
                            : pair->device != device)
            continue;
        pair->events.context = NULL;
        pair->running = false;
    }
    pthread_mutex_unlock(&lock);
}

static void end_context(CUcontext context)
{
    if (context != NULL)
        forget(context, 0);
}

/* Nobody says which context is the primary one of a device: events of others
 * are made anew. */
static void end_device(CUdevice device)
{
    forget(NULL, device);
}

/* Others may have retained it, as the CUDA runtime does. */
static void end_released(CUdevice device)
{
    unsigned flags;
    int active = 0;

    if (has_launched())
        (void)shmt_capture_driver()->DevicePrimaryCtxGetState(device, &flags,
                                                              &active);
    if (!active)
        end_device(device);
}

#define CONTEXT_GOES(name, type, end)                                        \
    SHMT_CAPTURE_HOOKED name(type going)                                     \
    {                                                                        \
        CUresult result;                                                     \
                                                                             \
        SHMT_CAPTURE_REAL(name);                                             \
        if (real == NULL)                                                    \
            return SHMT_CAPTURE_MISSING;                                     \
        read_last();                                                         \
        result = real(going);                                                \
        end(going);                                                          \
        return result;                                                       \
    }

CONTEXT_GOES(cuCtxDestroy, CUcontext, end_context)
CONTEXT_GOES(cuCtxDestroy_v2, CUcontext, end_context)
CONTEXT_GOES(cuDevicePrimaryCtxRelease, CUdevice, end_released)
CONTEXT_GOES(cuDevicePrimaryCtxRelease_v2, CUdevice, end_released)
CONTEXT_GOES(cuDevicePrimaryCtxReset, CUdevice, end_device)
CONTEXT_GOES(cuDevicePrimaryCtxReset_v2, CUdevice, end_device)

__attribute__((destructor)) static void write_last(void)
{
    bool written;

    if (!has_launched())
        return;
    pthread_mutex_lock(&lock);
    written = write_times(true);
    pthread_mutex_unlock(&lock);
    if (!written)
        shmt_capture_note("the last times could not be written: those of "
                          "some launches are missing");
}

/* -- the kernels ---------------------------------------------------------- */

/* Before the first launch is counted: the driver is there, and goes later. */
static void begin_process(void)
{
    (void)atexit(read_last);    /* or else the last are not timed */
    atomic_store(&process, getpid());
}

/* Kernels of one name are one; SIZE_MAX: there is no memory. */
static size_t find_or_add(const char *name)
{
    struct shmt_capture_listed **made, *one;

    for (size_t k = 0; k < kernel_count; k++)
        if (strcmp(kernels[k]->name, name) == 0)
            return k;
    made = realloc(kernels, (kernel_count + 1) * sizeof(*kernels));
    if (made != NULL)
        kernels = made;
    one = calloc(1, sizeof *one);
    if (made == NULL || one == NULL) {
        free(one);
        return SIZE_MAX;
    }
    one->name = name;
    kernels[kernel_count] = one;
    if (kernel_count == 0)
        begin_process();
    return kernel_count++;
}

/* NULL: a launch of the function is not counted. */
static struct shmt_capture_listed *kernel_of(CUfunction handle)
{
    struct shmt_capture_function function;
    uint64_t key;
    size_t at;

    if (!shmt_capture_function_of(handle, &function))
        return NULL;
    key = (uint64_t)(uintptr_t)function.name;
    at = shmt_map_find(&by_name, key);
    if (at != SHMT_MAP_NONE)
        return kernels[at];
    at = find_or_add(function.name);
    if (at == SIZE_MAX || !shmt_map_set(&by_name, key, (uint32_t)at)) {
        shmt_capture_note("there is no memory: a launch of %s is not counted",
                          function.name);
        return NULL;
    }
    return kernels[at];
}

static void count(struct shmt_capture_listed *kernel, CUfunction handle,
                  const unsigned grid[3], const unsigned block[3])
{
    if (kernel->launches++ == 0)
        shmt_capture_function_seen(handle);
    memcpy(kernel->grid, grid, sizeof kernel->grid);
    memcpy(kernel->block, block, sizeof kernel->block);
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

static int begin(const struct shmt_capture_driver *driver,
                 const struct shmt_capture_launch *launch,
                 struct shmt_capture_listed *kernel)
{
    struct timed *const pair = &pairs[next_pair];

    if (kernel->launches % 64 == 1 || pair->running)
        read_done(driver);
    if (pair->begun || pair->running ||
        driver->CtxGetDevice(&pair->device) != CUDA_SUCCESS ||
        !shmt_capture_pair_begin(driver, &pair->events, launch->stream))
        return -1;
    next_pair = (next_pair + 1) % PAIRS;
    pair->kernel = kernel;
    pair->first = is_first(launch->handle);
    pair->begun = true;
    return (int)(pair - pairs);
}

int shmt_capture_times_begin(const struct shmt_capture_launch *launch)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    const CUstreamCaptureMode mode = enter(driver);
    struct shmt_capture_listed *kernel;
    int at = -1;

    kernel = kernel_of(launch->handle);
    if (kernel != NULL) {
        count(kernel, launch->handle, launch->grid, launch->block);
        at = begin(driver, launch, kernel);
        write_now_and_then(driver);
    }
    leave(driver, mode);
    return at;
}

void shmt_capture_times_end(int at, const struct shmt_capture_launch *launch)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    struct timed *const pair = &pairs[at];
    const CUstreamCaptureMode mode = enter(driver);

    pair->begun = false;
    pair->running =
        pair->events.context != NULL &&
        shmt_capture_pair_end(driver, &pair->events, launch->stream);
    leave(driver, mode);
}

/* -- a launch of a graph -------------------------------------------------- */

/* More of them, of kernels that were chosen fewer times than `most`; as many as
 * there is room for, which is what is left of it then. */
static size_t choose(struct shmt_capture_node *nodes, size_t node_count,
                     unsigned most, size_t room)
{
    for (size_t k = 0; k < node_count && room > 0; k++) {
        struct shmt_capture_node *one = &nodes[k];

        if (one->due || one->left || one->node == NULL ||
            one->listed == NULL || one->listed->chosen >= most)
            continue;
        one->due = true;
        one->listed->chosen++;
        room--;
    }
    return room;
}

static void count_untimed(const struct shmt_capture_node *node)
{
    count(node->listed, node->handle, node->grid, node->block);
    node->listed->untimed++;
}

bool shmt_capture_times_choose(struct shmt_capture_node *nodes,
                               size_t node_count, bool in_parts)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    const size_t most = in_parts ? AT_ONCE : 0;
    const CUstreamCaptureMode mode = enter(driver);
    size_t left;

    for (size_t k = 0; k < node_count; k++) {
        nodes[k].due = false;
        if (nodes[k].listed == NULL)
            nodes[k].listed = kernel_of(nodes[k].handle);
    }
    left = choose(nodes, node_count, SOON, most);
    left = choose(nodes, node_count, CHOSEN, left);
    for (size_t k = 0; k < node_count; k++) {
        if (nodes[k].listed == NULL)
            continue;
        nodes[k].listed->in_graphs++;
        if (!nodes[k].due)
            count_untimed(&nodes[k]);
    }
    write_now_and_then(driver);
    leave(driver, mode);
    return left < most;
}

void shmt_capture_times_count(const struct shmt_capture_node *node)
{
    pthread_mutex_lock(&lock);
    count_untimed(node);
    pthread_mutex_unlock(&lock);
}
