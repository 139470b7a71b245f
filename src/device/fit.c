/* SPDX-License-Identifier: MIT */
/*
 * fit: see fit.h.  The limits are those of the table of technical
 * specifications per compute capability in the CUDA programming guide; the
 * resident blocks are occupancy.c's.
 */
#include "device/fit.h"

#include <stdio.h>
#include <string.h>

#include "device/occupancy.h"

/* Limits that are the same on all devices, and likely values for limits that a
 * description lacks. */
enum {
    BLOCK_XY = 1024, BLOCK_Z = 64, GRID_X = INT32_MAX, GRID_Y = 65535,
    GRID_Z = 65535, THREADS = 1024, REGISTERS = 255, CLUSTER = 16,
    CLUSTER_MAJOR = 9
};

static const struct {
    enum shmt_limiter limiter;
    const char *what, *unit, *whose;
} limits[SHMT_FIT_COUNT] = {
#define LIMIT_ROW(name, limiter, what, unit, whose)                          \
    {SHMT_LIMITER_##limiter, what, unit, whose},
    SHMT_FIT_LIST(LIMIT_ROW)
#undef LIMIT_ROW
};

static int64_t known(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

/* The opt-in is never less than what there is without; INT64_MAX when neither
 * is known. */
static int64_t most_shared(const struct shmtune_device *device)
{
    const int64_t plain = device->shared_per_block;
    const int64_t optin = device->shared_per_block_optin;

    return known(optin > plain ? optin : plain, INT64_MAX);
}

static int64_t sum_of(int64_t one, int64_t other)
{
    return one > INT64_MAX - other ? INT64_MAX : one + other;
}

/* The answer "fits, occupancy not known". */
static const struct shmt_fit fitting = {.occupancy = {.resident_blocks = -1}};
static const struct shmt_resources unknown = {
    .registers = -1, .shared_static_bytes = -1, .max_threads = -1
};

/* -1 for what is larger than any device has. */
static int16_t narrow(int number)
{
    return number > INT16_MAX ? -1 : (int16_t)number;
}

struct shmt_resources_of_launch
shmt_resources_keep(const struct shmt_resources *resources)
{
    return (struct shmt_resources_of_launch){
        .shared_static_bytes =
            resources->shared_static_bytes > INT32_MAX
                ? -1 : (int32_t)resources->shared_static_bytes,
        .registers = narrow(resources->registers),
        .max_threads = narrow(resources->max_threads)};
}

struct shmt_resources
shmt_resources_kept(const struct shmt_resources_of_launch *kept)
{
    return (struct shmt_resources){
        .registers = kept->registers, .spill_store_bytes = -1,
        .spill_load_bytes = -1, .stack_bytes = -1,
        .shared_static_bytes = kept->shared_static_bytes,
        .constant_bytes = -1, .max_threads = kept->max_threads};
}

bool shmt_fit_stated(const struct shmt_geometry *launch, int64_t compiled,
                     struct shmt_fit *out)
{
    *out = fitting;
    if (launch->shared_static < 0 || compiled < 0 ||
        launch->shared_static == compiled)
        return true;
    out->limit = SHMT_FIT_STATED;
    out->wanted = launch->shared_static;
    out->bound = compiled;
    out->unit = limits[SHMT_FIT_STATED].unit;
    return false;
}

static bool exceeds(enum shmt_fit_limit limit, int64_t wanted, int64_t bound,
                    struct shmt_fit *out)
{
    if (wanted <= bound)
        return false;
    out->limit = limit;
    out->wanted = wanted;
    out->bound = bound;
    return true;
}

/* Checks all limits but the resident blocks. */
static bool exceeds_limits(const struct shmtune_device *device,
                           const struct shmt_geometry *launch,
                           const struct shmt_resources *taken,
                           struct shmt_fit *out)
{
    const uint32_t *const block = launch->block, *const grid = launch->grid;
    const int64_t threads = shmt_geometry_threads(launch);
    const int64_t fixed = known(taken->shared_static_bytes, 0);

    return exceeds(SHMT_FIT_BLOCK_X, block[0], BLOCK_XY, out) ||
           exceeds(SHMT_FIT_BLOCK_Y, block[1], BLOCK_XY, out) ||
           exceeds(SHMT_FIT_BLOCK_Z, block[2], BLOCK_Z, out) ||
           exceeds(SHMT_FIT_THREADS, threads,
                   known(device->max_threads_per_block, THREADS), out) ||
           exceeds(SHMT_FIT_GRID_X, grid[0], GRID_X, out) ||
           exceeds(SHMT_FIT_GRID_Y, grid[1],
                   known(device->max_grid_y, GRID_Y), out) ||
           exceeds(SHMT_FIT_GRID_Z, grid[2], GRID_Z, out) ||
           exceeds(SHMT_FIT_CLUSTER, shmt_geometry_cluster(launch),
                   device->compute_major < CLUSTER_MAJOR ? 1 : CLUSTER,
                   out) ||
           exceeds(SHMT_FIT_STATIC, fixed,
                   known(device->shared_per_block, SHMT_FIT_STATIC_BYTES),
                   out) ||
           exceeds(SHMT_FIT_SHARED, sum_of(fixed, launch->shared_dynamic),
                   most_shared(device), out) ||
           exceeds(SHMT_FIT_BOUND, threads,
                   known(taken->max_threads, INT64_MAX), out) ||
           exceeds(SHMT_FIT_REGISTERS, taken->registers, REGISTERS, out);
}

/* All blocks of a cooperative launch are resident at once. */
static void check_cooperative(const struct shmtune_device *device,
                              const struct shmt_geometry *launch,
                              struct shmt_fit *out)
{
    const int blocks = out->occupancy.resident_blocks;

    if (launch->cooperative && out->limit == SHMT_FIT_NOTHING && blocks >= 0 &&
        device->multiprocessors > 0)
        exceeds(SHMT_FIT_COOPERATIVE, shmt_geometry_blocks(launch),
                (int64_t)blocks * device->multiprocessors, out);
}

bool shmt_fit_launch(const struct shmtune_device *device,
                     const struct shmt_geometry *launch,
                     const struct shmt_resources *resources,
                     struct shmt_fit *out)
{
    struct shmt_resources taken = resources == NULL ? unknown : *resources;
    const int64_t compiled = taken.shared_static_bytes;
    const bool described = device->compute_major > 0;

    if (launch->shared_static >= 0)
        taken.shared_static_bytes = launch->shared_static;
    *out = fitting;
    if (launch->host)
        return true;
    if (!(described && exceeds_limits(device, launch, &taken, out)) &&
        shmt_fit_stated(launch, compiled, out) && described &&
        taken.registers >= 0 && taken.shared_static_bytes >= 0)
        shmt_occupancy_compute(device, launch, &taken, out);
    check_cooperative(device, launch, out);
    if (out->limit == SHMT_FIT_NOTHING)
        return true;
    out->unit = limits[out->limit].unit;
    if (resources != NULL)
        out->occupancy =
            (struct shmt_occupancy){0, 0, limits[out->limit].limiter};
    return false;
}

/* The resources of launch number `made` of the `used` ones, as far as known. */
static struct shmt_resources taken_by(const struct shmt_fit_launches *ask,
                                      size_t made, size_t used)
{
    if (used == 1)
        return *ask->resources;
    if (used == (size_t)ask->each->count)
        return shmt_resources_kept(&ask->each->of[made]);
    return unknown;
}

/* Whether what fits one launch fits the other. */
static bool takes_the_same(const struct shmt_geometry *one,
                           const struct shmt_geometry *other,
                           const struct shmt_resources *taken,
                           const struct shmt_resources *before)
{
    return memcmp(one->grid, other->grid, sizeof one->grid) == 0 &&
           memcmp(one->block, other->block, sizeof one->block) == 0 &&
           one->shared_static == other->shared_static &&
           one->shared_dynamic == other->shared_dynamic &&
           one->carveout == other->carveout &&
           memcmp(one->cluster, other->cluster, sizeof one->cluster) == 0 &&
           one->cooperative == other->cooperative &&
           taken->registers == before->registers &&
           taken->shared_static_bytes == before->shared_static_bytes &&
           taken->max_threads == before->max_threads;
}

static bool is_lower(const struct shmt_occupancy *one,
                     const struct shmt_occupancy *than)
{
    return one->resident_blocks >= 0 &&
           (than->resident_blocks < 0 || one->resident_blocks == 0 ||
            one->percent < than->percent);
}

static bool check_all(const struct shmt_fit_launches *ask, bool compiled,
                      size_t used, struct shmt_fit *out)
{
    struct shmt_resources taken = unknown, before = unknown;
    bool fits = true;
    size_t made = 0;

    *out = fitting;
    for (size_t k = 0; k < ask->evaluated->launch_count && fits; k++) {
        const struct shmt_geometry *launch = &ask->evaluated->geometry[k];
        struct shmt_fit one;

        if (!launch->used)
            continue;
        before = taken;
        if (compiled)
            taken = taken_by(ask, made, used);
        if (made++ > 0 && launch[-1].used &&
            takes_the_same(launch, launch - 1, &taken, &before))
            continue;
        fits = shmt_fit_launch(ask->device, launch, compiled ? &taken : NULL,
                               &one);
        if (!is_lower(&one.occupancy, &out->occupancy))
            one.occupancy = out->occupancy;
        one.launch = fits || used == 1 ? 0 : (int)k + 1;
        *out = one;
    }
    return fits;
}

bool shmt_fit_launches(const struct shmt_fit_launches *ask,
                       struct shmt_fit *out)
{
    const bool compiled = ask->resources != NULL;
    struct shmt_fit shape;
    size_t used = 0;
    bool fits;

    for (size_t k = 0; k < ask->evaluated->launch_count; k++)
        used += ask->evaluated->geometry[k].used;
    fits = check_all(ask, compiled, used, out);
    /* The shape of all of several is told before what was reported of any. */
    if (!fits && compiled && used > 1 && !check_all(ask, false, used, &shape))
        *out = shape;
    return fits;
}

void shmt_fit_text(const struct shmt_fit *fit, char text[SHMT_FIT_TEXT])
{
    char number[24] = "";

    if (fit->launch > 0)
        snprintf(number, sizeof number, "launch %d: ", fit->launch);
    snprintf(text, SHMT_FIT_TEXT, "%s%s %lld %s, %s %lld", number,
             limits[fit->limit].what, (long long)fit->wanted, fit->unit,
             limits[fit->limit].whose, (long long)fit->bound);
}
