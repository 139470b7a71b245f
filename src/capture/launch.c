/* SPDX-License-Identifier: MIT */
/*
 * launch: the functions that launch a kernel.  Nearly every launch is of a
 * function that nobody wants: those are known by one look into a table.
 */
#include "capture/library.h"

#include <pthread.h>
#include <string.h>

/* Handles that are let pass, each in one of the places of its hash: of two that
 * had the same one, each launch would be looked at. */
enum { PLACES = 4096, WAYS = 4 };
static _Atomic(uintptr_t) passed[PLACES];

static _Atomic(uintptr_t) *places_of(const void *handle)
{
    const uint64_t hash =
        (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);

    return &passed[(hash >> 52) & (PLACES - WAYS)];
}

void shmt_capture_launch_forget(const void *handle)
{
    _Atomic(uintptr_t) *const places = places_of(handle);

    for (size_t k = 0; k < WAYS; k++) {
        uintptr_t known = (uintptr_t)handle;

        atomic_compare_exchange_strong(&places[k], &known, 0);
    }
}

static bool is_passed(CUfunction handle)
{
    _Atomic(uintptr_t) *const places = places_of(handle);
    bool found = false;

    for (size_t k = 0; k < WAYS && !found; k++)
        found = atomic_load_explicit(&places[k], memory_order_relaxed) ==
                (uintptr_t)handle;
    return found;
}

/* The last place is for all that find none. */
static void let_pass(CUfunction handle)
{
    _Atomic(uintptr_t) *const places = places_of(handle);
    uintptr_t none = 0;
    size_t k = 0;

    while (k + 1 < WAYS && !atomic_compare_exchange_strong(
                               &places[k], &none, (uintptr_t)handle)) {
        none = 0;
        k++;
    }
    if (k + 1 == WAYS)
        atomic_store(&places[k], (uintptr_t)handle);
}

/* -- what becomes of a launch --------------------------------------------- */

/* Of the launches that are captured only one at a time; others wait for none of
 * them. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* What a launch has taken up between its begin and its end. */
struct passage {
    struct shmt_capture_snapshot *snapshot;
    int times;
};

static bool is_wanted(CUfunction handle)
{
    struct shmt_capture_function function;
    const bool wanted = shmt_capture_function_of(handle, &function) &&
                        shmt_capture_is_wanted(function.name);

    if (!wanted)
        let_pass(handle);
    return wanted;
}

bool shmt_capture_launch_is_open(CUfunction handle)
{
    return !is_passed(handle) && is_wanted(handle);
}

static bool is_due(CUfunction handle)
{
    bool over;
    const bool due = shmt_capture_function_due(handle, &over);

    if (over)
        let_pass(handle);
    return due;
}

bool shmt_capture_launch_is_due(CUfunction handle)
{
    return shmt_capture_launch_is_open(handle) && is_due(handle);
}

void shmt_capture_launch_leave_out(CUfunction handle, const unsigned grid[3],
                                   const char *why)
{
    struct shmt_capture_function function;

    if (shmt_capture_function_of(handle, &function))
        shmt_capture_note("%s (grid %u x %u x %u) is left out: %s",
                          function.name, grid[0], grid[1], grid[2], why);
    shmt_capture_function_done(handle, false);
}

struct shmt_capture_snapshot *
shmt_capture_launch_begin(const struct shmt_capture_launch *launch)
{
    struct shmt_capture_snapshot *snapshot;

    pthread_mutex_lock(&turn);
    snapshot = shmt_capture_snapshot_begin(launch);
    if (snapshot == NULL) {
        pthread_mutex_unlock(&turn);
        shmt_capture_function_done(launch->handle, false);
    }
    return snapshot;
}

void shmt_capture_launch_end(CUfunction handle,
                             struct shmt_capture_snapshot *snapshot,
                             CUresult result)
{
    const bool taken = shmt_capture_snapshot_end(snapshot, result);

    pthread_mutex_unlock(&turn);
    if (shmt_capture_function_done(handle, taken))
        let_pass(handle);
}

static bool find_replacement(const struct shmt_capture_launch *launch,
                             struct shmt_capture_replacement *by)
{
    bool never;

    if (shmt_capture_setting()->plan == NULL)
        return false;
    if (shmt_capture_replace(launch, &never, by))
        return true;
    if (never)
        let_pass(launch->handle);
    return false;
}

static struct passage begin(const struct shmt_capture_launch *launch)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    struct passage passage = {NULL, -1};
    bool recorded, known;

    if (shmt_capture_setting()->plan != NULL || driver == NULL ||
        !is_wanted(launch->handle))
        return passage;
    known = shmt_capture_recording(driver, launch->stream, &recorded) ==
            CUDA_SUCCESS;
    if (recorded)
        shmt_capture_function_recorded(launch->handle);
    else if (shmt_capture_setting()->list && known)
        passage.times = shmt_capture_times_begin(launch);
    else if (!shmt_capture_setting()->list && is_due(launch->handle))
        passage.snapshot = shmt_capture_launch_begin(launch);
    return passage;
}

static void end(const struct shmt_capture_launch *launch,
                struct passage passage, CUresult result)
{
    if (passage.times >= 0)
        shmt_capture_times_end(passage.times, launch);
    if (passage.snapshot != NULL)
        shmt_capture_launch_end(launch->handle, passage.snapshot, result);
}

static bool passes(CUfunction handle)
{
    return is_passed(handle) || shmt_capture_setting()->folder == NULL;
}

/* -- the functions of the driver ------------------------------------------ */

/* The stream 0 of functions whose streams are the thread's own. */
static CUstream own_stream(CUstream stream)
{
    return stream == NULL ? CU_STREAM_PER_THREAD : stream;
}

struct shape {
    unsigned grid[3], block[3], shared;
};

static CUresult launch_plain(__typeof__(cuLaunchKernel) *real,
                             CUfunction handle, const struct shape *shape,
                             CUstream stream, CUstream seen_as,
                             void **arguments, void **extra)
{
    struct shmt_capture_launch launch = {
        .handle = handle, .shared = shape->shared, .stream = seen_as,
        .arguments = arguments, .extra = extra};
    struct shmt_capture_replacement by;
    struct passage passage;
    CUresult result;

    memcpy(launch.grid, shape->grid, sizeof launch.grid);
    memcpy(launch.block, shape->block, sizeof launch.block);
    if (find_replacement(&launch, &by)) {
        result = real(by.function, by.grid[0], by.grid[1], by.grid[2],
                      by.block[0], by.block[1], by.block[2], by.shared,
                      stream, by.arguments, NULL);
        if (shmt_capture_replace_end(&launch, &by, result))
            return result;
    }
    passage = begin(&launch);
    result = real(handle, shape->grid[0], shape->grid[1], shape->grid[2],
                  shape->block[0], shape->block[1], shape->block[2],
                  shape->shared, stream, arguments, extra);
    end(&launch, passage, result);
    return result;
}

#define LAUNCH_KERNEL(name, seen_as)                                         \
    SHMT_CAPTURE_HOOKED name(                                                \
        CUfunction handle, unsigned gx, unsigned gy, unsigned gz,            \
        unsigned bx, unsigned by, unsigned bz, unsigned shared,              \
        CUstream stream, void **arguments, void **extra)                     \
    {                                                                        \
        const struct shape shape = {{gx, gy, gz}, {bx, by, bz}, shared};     \
                                                                             \
        SHMT_CAPTURE_REAL(name);                                             \
        if (real == NULL)                                                    \
            return SHMT_CAPTURE_MISSING;                                     \
        if (passes(handle))                                                  \
            return real(handle, gx, gy, gz, bx, by, bz, shared, stream,      \
                        arguments, extra);                                   \
        return launch_plain(real, handle, &shape, stream, seen_as,           \
                            arguments, extra);                               \
    }

LAUNCH_KERNEL(cuLaunchKernel, stream)
LAUNCH_KERNEL(cuLaunchKernel_ptsz, own_stream(stream))

static CUresult launch_cooperative(__typeof__(cuLaunchCooperativeKernel) *real,
                                   CUfunction handle,
                                   const struct shape *shape, CUstream stream,
                                   CUstream seen_as, void **arguments)
{
    struct shmt_capture_launch launch = {
        .handle = handle, .shared = shape->shared, .stream = seen_as,
        .arguments = arguments, .cooperative = true};
    struct passage passage;
    CUresult result;

    memcpy(launch.grid, shape->grid, sizeof launch.grid);
    memcpy(launch.block, shape->block, sizeof launch.block);
    passage = begin(&launch);
    result = real(handle, shape->grid[0], shape->grid[1], shape->grid[2],
                  shape->block[0], shape->block[1], shape->block[2],
                  shape->shared, stream, arguments);
    end(&launch, passage, result);
    return result;
}

#define LAUNCH_COOPERATIVE(name, seen_as)                                    \
    SHMT_CAPTURE_HOOKED name(                                                \
        CUfunction handle, unsigned gx, unsigned gy, unsigned gz,            \
        unsigned bx, unsigned by, unsigned bz, unsigned shared,              \
        CUstream stream, void **arguments)                                   \
    {                                                                        \
        const struct shape shape = {{gx, gy, gz}, {bx, by, bz}, shared};     \
                                                                             \
        SHMT_CAPTURE_REAL(name);                                             \
        if (real == NULL)                                                    \
            return SHMT_CAPTURE_MISSING;                                     \
        if (passes(handle))                                                  \
            return real(handle, gx, gy, gz, bx, by, bz, shared, stream,      \
                        arguments);                                          \
        return launch_cooperative(real, handle, &shape, stream, seen_as,     \
                                  arguments);                                \
    }

LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, stream)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, own_stream(stream))

void shmt_capture_launch_attribute(struct shmt_capture_launch *launch,
                                   CUlaunchAttributeID id,
                                   const CUlaunchAttributeValue *value)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        launch->cooperative = value->cooperative != 0;
        break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        launch->cluster[0] = value->clusterDim.x;
        launch->cluster[1] = value->clusterDim.y;
        launch->cluster[2] = value->clusterDim.z;
        break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        if (value->programmaticStreamSerializationAllowed != 0)
            launch->other = "a programmatic launch";
        break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        launch->other = "a programmatic launch";
        break;
    default:
        break;
    }
}

static CUresult launch_ex(__typeof__(cuLaunchKernelEx) *real,
                          const CUlaunchConfig *config, CUstream seen_as,
                          CUfunction handle, void **arguments, void **extra)
{
    struct shmt_capture_launch launch = {
        .handle = handle, .stream = seen_as, .arguments = arguments,
        .extra = extra, .shared = config->sharedMemBytes,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ}};
    struct shmt_capture_replacement by;
    struct passage passage;
    CUresult result;

    for (unsigned k = 0; k < config->numAttrs; k++)
        shmt_capture_launch_attribute(&launch, config->attrs[k].id,
                                      &config->attrs[k].value);
    if (find_replacement(&launch, &by)) {
        CUlaunchConfig other = *config;

        other.gridDimX = by.grid[0];
        other.gridDimY = by.grid[1];
        other.gridDimZ = by.grid[2];
        other.blockDimX = by.block[0];
        other.blockDimY = by.block[1];
        other.blockDimZ = by.block[2];
        other.sharedMemBytes = by.shared;
        result = real(&other, by.function, by.arguments, NULL);
        if (shmt_capture_replace_end(&launch, &by, result))
            return result;
    }
    passage = begin(&launch);
    result = real(config, handle, arguments, extra);
    end(&launch, passage, result);
    return result;
}

#define LAUNCH_EX(name, seen_as)                                             \
    SHMT_CAPTURE_HOOKED name(const CUlaunchConfig *config,                   \
                             CUfunction handle, void **arguments,            \
                             void **extra)                                   \
    {                                                                        \
        SHMT_CAPTURE_REAL(name);                                             \
        if (real == NULL)                                                    \
            return SHMT_CAPTURE_MISSING;                                     \
        if (config == NULL || passes(handle))                                \
            return real(config, handle, arguments, extra);                   \
        return launch_ex(real, config, seen_as, handle, arguments, extra);   \
    }

LAUNCH_EX(cuLaunchKernelEx, config->hStream)
LAUNCH_EX(cuLaunchKernelEx_ptsz, own_stream(config->hStream))
