/* SPDX-License-Identifier: MIT */
#include "tune/filter.h"

#include <stdlib.h>

#include "device/device.h"

/* What no description of a device says, because it is the same on all. */
enum {
    BLOCK_XY = 1024, BLOCK_Z = 64, GRID_Z = 65535, CLUSTER = 16,
    CLUSTER_MAJOR = 9
};

static int64_t known(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

static int64_t threads_of(const struct shmt_geometry *g)
{
    return (int64_t)g->block[0] * g->block[1] * g->block[2];
}

/* A figure of the launch against a limit of the device. */
struct bound {
    const char *what;
    int64_t figure, limit;
    const char *unit;
};

void shmt_filter_geometry(const struct shmtune_device *device,
                          const struct shmt_geometry *g,
                          struct shmt_result *result)
{
    const int64_t shared_static = g->shared_static < 0 ? 0 : g->shared_static;
    const int64_t plain = known(device->shared_per_block, 49152);
    const struct bound bounds[] = {
        {"block has", threads_of(g),
         known(device->max_threads_per_block, 1024), "threads"},
        {"block is", g->block[0], BLOCK_XY, "threads wide"},
        {"block is", g->block[1], BLOCK_XY, "threads high"},
        {"block is", g->block[2], BLOCK_Z, "threads deep"},
        {"grid is", g->grid[0], INT32_MAX, "blocks wide"},
        {"grid is", g->grid[1], known(device->max_grid_y, 65535),
         "blocks high"},
        {"grid is", g->grid[2], GRID_Z, "blocks deep"},
        {"cluster has", g->cluster,
         device->compute_major >= CLUSTER_MAJOR ? CLUSTER : 1, "blocks"},
        {"static shared memory is", shared_static, plain,
         "bytes (more has to be dynamic)"},
        {"shared memory is", shared_static + g->shared_dynamic,
         known(device->shared_per_block_optin, plain), "bytes a block"},
    };

    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        const struct bound *const b = &bounds[k];
        if (b->figure > b->limit) {
            shmt_result_fail(result, SHMT_VERDICT_TOO_LARGE,
                             "%s %lld %s, the device allows %lld", b->what,
                             (long long)b->figure, b->unit,
                             (long long)b->limit);
            return;
        }
    }
}

static void keep_lowest(const struct shmt_occupancy *occupancy,
                        struct shmt_result *result)
{
    if (result->resident_blocks >= 0 &&
        result->occupancy_percent <= occupancy->percent &&
        occupancy->resident_blocks > 0)
        return;
    result->resident_blocks = occupancy->resident_blocks;
    result->occupancy_percent = occupancy->percent;
    result->limiter = occupancy->limiter;
}

enum shmtune_status
shmt_filter_resources(const struct shmtune_device *device,
                      const struct shmt_geometry *g,
                      struct shmt_result *result, struct shmt_error *err)
{
    const int64_t compiled = result->resources.shared_static_bytes;
    struct shmt_occupancy occupancy;
    enum shmtune_status status =
        shmt_occupancy_compute(device, &result->resources,
                               (int)threads_of(g), g->shared_dynamic,
                               g->carveout, &occupancy, err);

    if (status != SHMTUNE_OK)
        return status;
    keep_lowest(&occupancy, result);
    if (g->shared_dynamic > result->shared_dynamic_bytes)
        result->shared_dynamic_bytes = g->shared_dynamic;
    if (occupancy.resident_blocks == 0)
        shmt_result_fail(result, SHMT_VERDICT_NOT_RESIDENT,
                         "no block fits a multiprocessor: limited by %s "
                         "(%lld threads, %d registers each, %lld + %lld bytes "
                         "of static + dynamic shared memory)",
                         shmt_limiter_word(occupancy.limiter),
                         (long long)threads_of(g),
                         result->resources.registers,
                         (long long)(compiled < 0 ? 0 : compiled),
                         (long long)g->shared_dynamic);
    return SHMTUNE_OK;
}

void shmt_filter_policy(const struct shmt_policy *policy,
                        struct shmt_result *result)
{
    if (policy->max_spill_bytes >= 0 &&
        result->resources.spill_store_bytes > policy->max_spill_bytes)
        shmt_result_fail(result, SHMT_VERDICT_SPILLS,
                         "spills %d bytes a thread, --max-spill is %d",
                         result->resources.spill_store_bytes,
                         policy->max_spill_bytes);
    else if (result->resident_blocks >= 0 &&
             result->occupancy_percent < policy->min_occupancy_percent)
        shmt_result_fail(result, SHMT_VERDICT_LOW_OCCUPANCY,
                         "occupancy %d %% (limited by %s), --min-occupancy "
                         "is %d %%", result->occupancy_percent,
                         shmt_limiter_word(result->limiter),
                         policy->min_occupancy_percent);
}

/* -- all launches of a candidate ------------------------------------------ */

struct launches {
    struct shmt_geometry geometry[SHMT_KERNEL_LAUNCHES];
    size_t used;
};

/* `result` has the verdict when they cannot be computed. */
static enum shmtune_status evaluate(const struct shmt_filter *filter,
                                    const shmt_choice *choice,
                                    struct launches *out,
                                    struct shmt_result *result)
{
    const struct shmt_kernel *const kernel = filter->kernel;
    struct shmt_value values[SHMT_KERNEL_DIMENSIONS + SHMT_SPACE_PARAMETERS];
    struct shmt_error why;

    shmt_kernel_values(kernel, filter->problem, choice, values);
    out->used = 0;
    for (size_t k = 0; k < kernel->launch_count; k++) {
        struct shmt_geometry g;
        const enum shmtune_status status = shmt_kernel_geometry(
            kernel, &kernel->launches[k], values, &g, &why);
        if (status == SHMTUNE_NO_MEMORY)
            return status;
        if (status != SHMTUNE_OK) {
            shmt_result_fail(result, SHMT_VERDICT_TOO_LARGE, "%s", why.text);
            return SHMTUNE_OK;
        }
        if (g.used)
            out->geometry[out->used++] = g;
    }
    return SHMTUNE_OK;
}

/* A run that others recorded need not say what its device was like, nor what
 * the compiler reported: then nothing can be held against them. */
static bool is_described(const struct shmtune_device *device)
{
    return device->compute_major > 0;
}

static bool is_reported(const struct shmt_resources *resources)
{
    return resources->registers >= 0 && resources->shared_static_bytes >= 0;
}

enum shmtune_status shmt_filter_before(const struct shmt_filter *filter,
                                       const shmt_choice *choice,
                                       struct shmt_result *result,
                                       struct shmt_error *err)
{
    struct launches launches;

    if (evaluate(filter, choice, &launches, result) != SHMTUNE_OK)
        return shmt_error_memory(err);
    for (size_t k = 0; k < launches.used && is_described(filter->device) &&
                       result->verdict == SHMT_VERDICT_OK; k++)
        shmt_filter_geometry(filter->device, &launches.geometry[k], result);
    return SHMTUNE_OK;
}

_Static_assert((int)SHMT_RESULT_LAUNCHES >= (int)SHMT_KERNEL_LAUNCHES,
               "a result has room for every launch");

/* Each by what its own kernel takes. */
static enum shmtune_status filter_launches(const struct shmt_filter *filter,
                                           const struct launches *launches,
                                           struct shmt_result *result,
                                           struct shmt_error *err)
{
    const struct shmt_resources all = result->resources;
    enum shmtune_status status = SHMTUNE_OK;

    result->resident_blocks = -1;
    result->shared_dynamic_bytes = 0;
    for (size_t k = 0; k < launches->used && status == SHMTUNE_OK &&
                       result->verdict == SHMT_VERDICT_OK; k++) {
        if (launches->used > 1)
            result->resources = result->launches.of[k];
        status = shmt_filter_resources(filter->device, &launches->geometry[k],
                                       result, err);
        result->resources = all;
    }
    return status;
}

/* With one launch the report is that launch's; with several, the worker has
 * compared each entry with its own. */
static void compare_static(const struct launches *launches,
                           struct shmt_result *result)
{
    const int64_t stated = launches->geometry[0].shared_static;
    const int64_t found = result->resources.shared_static_bytes;

    if (launches->used == 1 && stated >= 0 && found >= 0 && stated != found)
        shmt_result_fail(result, SHMT_VERDICT_SPEC_MISMATCH,
                         "shared_static of the spec is %lld bytes, the "
                         "compiler reports %lld", (long long)stated,
                         (long long)found);
}

enum shmtune_status shmt_filter_after(const struct shmt_filter *filter,
                                      const shmt_choice *choice,
                                      struct shmt_result *result,
                                      struct shmt_error *err)
{
    struct launches launches;
    enum shmtune_status status = SHMTUNE_OK;

    if (evaluate(filter, choice, &launches, result) != SHMTUNE_OK)
        return shmt_error_memory(err);
    if (is_described(filter->device) && is_reported(&result->resources) &&
        (launches.used <= 1 ||
         launches.used == (size_t)result->launches.count))
        status = filter_launches(filter, &launches, result, err);
    if (status != SHMTUNE_OK)
        return status;
    if (result->verdict == SHMT_VERDICT_OK && launches.used > 0)
        compare_static(&launches, result);
    if (result->verdict == SHMT_VERDICT_OK)
        shmt_filter_policy(&filter->policy, result);
    return SHMTUNE_OK;
}
