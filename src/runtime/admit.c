/* SPDX-License-Identifier: MIT */
/*
 * admit: the checks between a recorded configuration and a launch.
 */
#include "runtime/admit.h"

#include "device/device.h"

/* Constants of CUDA for every device so far. */
enum { MAX_CLUSTER = 16, FIRST_CLUSTER_MAJOR = 9 };
static const int64_t max_block[3] = {1024, 1024, 64};
static const int64_t max_grid_x = INT32_MAX;

/* What is checked, so that each check takes few parameters. */
struct question {
    const struct shmt_kernel *kernel;
    const struct shmtune_device *device;
    const struct shmt_candidate *candidate;
    const struct shmt_value *values;
    struct shmt_error *err;
};

enum shmtune_status shmt_admit_problem(const struct shmt_kernel *kernel,
                                       const int64_t *problem,
                                       struct shmt_error *err)
{
    for (size_t k = 0; k < kernel->dimension_count; k++) {
        const struct shmt_dimension *d = &kernel->dimensions[k];

        if (problem[k] < d->low || problem[k] > d->high)
            return shmt_error_set(
                err, SHMTUNE_INVALID_ARGUMENT,
                "%s = %lld, kernel %s is right for %lld to %lld", d->name,
                (long long)problem[k], kernel->name, (long long)d->low,
                (long long)d->high);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status check_constraints(const struct question *ask)
{
    bool admits;
    size_t failed;
    enum shmtune_status status = shmt_kernel_admits(
        ask->kernel, ask->values, &admits, &failed, ask->err);

    if (status != SHMTUNE_OK)
        return status == SHMTUNE_NO_MEMORY ? status
                                           : SHMTUNE_NO_CONFIGURATION;
    if (!admits)
        return shmt_error_set(
            ask->err, SHMTUNE_NO_CONFIGURATION,
            "the constraint \"%s\" does not hold",
            shmt_expr_text(ask->kernel->constraints[failed]));
    return SHMTUNE_OK;
}

static enum shmtune_status check_shape(const struct question *ask,
                                       const struct shmt_geometry *launch)
{
    const struct shmtune_device *device = ask->device;
    const int64_t max_grid_yz =
        device->max_grid_y > 0 ? device->max_grid_y : 65535;
    const int64_t max_threads = device->max_threads_per_block > 0
                                    ? device->max_threads_per_block
                                    : 1024;
    int64_t threads = 1;

    for (int k = 0; k < 3; k++) {
        const int64_t max_grid = k == 0 ? max_grid_x : max_grid_yz;

        if (launch->block[k] > max_block[k])
            return shmt_error_set(
                ask->err, SHMTUNE_NO_CONFIGURATION,
                "%u threads along %c, the limit is %lld", launch->block[k],
                "xyz"[k], (long long)max_block[k]);
        if (launch->grid[k] > max_grid)
            return shmt_error_set(
                ask->err, SHMTUNE_NO_CONFIGURATION,
                "%u blocks along %c, the limit is %lld", launch->grid[k],
                "xyz"[k], (long long)max_grid);
        if (launch->block[k] == 0 || launch->grid[k] == 0)
            return shmt_error_set(ask->err, SHMTUNE_NO_CONFIGURATION,
                                  "no %s along %c",
                                  launch->block[k] == 0 ? "threads"
                                                        : "blocks",
                                  "xyz"[k]);
        threads *= launch->block[k];
    }
    if (threads > max_threads)
        return shmt_error_set(ask->err, SHMTUNE_NO_CONFIGURATION,
                              "%lld threads a block, the limit is %lld",
                              (long long)threads, (long long)max_threads);
    if (launch->cluster > 1 &&
        (launch->cluster > MAX_CLUSTER ||
         (device->compute_major > 0 &&
          device->compute_major < FIRST_CLUSTER_MAJOR)))
        return shmt_error_set(
            ask->err, SHMTUNE_NO_CONFIGURATION,
            "a cluster of %d blocks, at most %d from compute capability %d.0 "
            "on; this device has %d.%d", launch->cluster, MAX_CLUSTER,
            FIRST_CLUSTER_MAJOR, device->compute_major,
            device->compute_minor);
    return SHMTUNE_OK;
}

struct shmt_resources
shmt_admit_resources(const struct shmt_candidate *candidate, size_t before)
{
    struct shmt_resources taken = {.registers = 1, .max_threads = -1};

    if (candidate->resources == NULL)
        return taken;
    if (before < (size_t)candidate->launches->count)
        taken = candidate->launches->of[before];
    else if (before == 0)
        taken = *candidate->resources;
    if (taken.registers < 0)
        taken.registers = 1;
    if (taken.shared_static_bytes < 0)
        taken.shared_static_bytes = 0;
    return taken;
}

static enum shmtune_status check_shared(const struct question *ask,
                                        const struct shmt_geometry *launch,
                                        const struct shmt_resources *taken)
{
    const int64_t fixed = taken->shared_static_bytes;
    const int64_t plain = ask->device->shared_per_block;
    const int64_t optin = ask->device->shared_per_block_optin > plain
                              ? ask->device->shared_per_block_optin
                              : plain;

    if (plain > 0 && fixed > plain)
        return shmt_error_set(ask->err, SHMTUNE_NO_CONFIGURATION,
                              "%lld bytes of static shared memory a block, "
                              "the limit is %lld", (long long)fixed,
                              (long long)plain);
    if (optin > 0 && launch->shared_dynamic > optin - fixed)
        return shmt_error_set(ask->err, SHMTUNE_NO_CONFIGURATION,
                              "%lld + %lld bytes of static + dynamic shared "
                              "memory a block, the limit with opt-in is %lld",
                              (long long)fixed,
                              (long long)launch->shared_dynamic,
                              (long long)optin);
    return SHMTUNE_OK;
}

/* Every figure that occupancy is computed from is known. */
static bool limits_known(const struct shmtune_device *device)
{
    return device->max_threads_per_block > 0 &&
           device->max_threads_per_multiprocessor > 0 &&
           device->max_blocks_per_multiprocessor > 0 &&
           device->registers_per_block > 0 &&
           device->registers_per_multiprocessor > 0 &&
           device->warp_size > 0 && device->shared_per_block > 0 &&
           device->shared_per_block_optin > 0 &&
           device->shared_per_multiprocessor > 0;
}

static enum shmtune_status check_resident(const struct question *ask,
                                          const struct shmt_geometry *launch,
                                          const struct shmt_resources *taken)
{
    struct shmt_occupancy occupancy;
    const enum shmtune_status status = shmt_occupancy_compute(
        ask->device, taken,
        (int)(launch->block[0] * launch->block[1] * launch->block[2]),
        launch->shared_dynamic, launch->carveout, &occupancy, ask->err);
    /* A device that is newer than our tables: the limits above were all that
     * can be checked here; the driver has the last word. */
    if (status != SHMTUNE_OK)
        return SHMTUNE_OK;
    if (occupancy.resident_blocks < 1)
        return shmt_error_set(
            ask->err, SHMTUNE_NO_CONFIGURATION,
            "no block fits a multiprocessor: limited by %s (%d registers a "
            "thread, %u threads, %lld bytes of shared memory a block)",
            shmt_limiter_word(occupancy.limiter), taken->registers,
            launch->block[0] * launch->block[1] * launch->block[2],
            (long long)(taken->shared_static_bytes +
                        launch->shared_dynamic));
    return SHMTUNE_OK;
}

/* Launch k; *made counts those that are made. */
static enum shmtune_status check_launch(const struct question *ask, size_t k,
                                        size_t *made)
{
    struct shmt_geometry launch;
    struct shmt_resources taken;
    enum shmtune_status status =
        shmt_kernel_geometry(ask->kernel, &ask->kernel->launches[k],
                             ask->values, &launch, ask->err);

    if (status != SHMTUNE_OK)
        return SHMTUNE_NO_CONFIGURATION;
    if (ask->candidate->geometry != NULL)
        ask->candidate->geometry[k] = launch;
    if (!launch.used)
        return SHMTUNE_OK;
    taken = shmt_admit_resources(ask->candidate, (*made)++);
    if (launch.shared_static >= 0)
        taken.shared_static_bytes = launch.shared_static;
    status = check_shape(ask, &launch);
    if (status == SHMTUNE_OK)
        status = check_shared(ask, &launch, &taken);
    if (status == SHMTUNE_OK && limits_known(ask->device))
        status = check_resident(ask, &launch, &taken);
    return status;
}

enum shmtune_status shmt_admit_check(const struct shmt_kernel *kernel,
                                     const struct shmtune_device *device,
                                     const struct shmt_candidate *candidate,
                                     struct shmt_error *err)
{
    struct shmt_value values[SHMT_KERNEL_DIMENSIONS + SHMT_SPACE_PARAMETERS];
    const struct question ask = {kernel, device, candidate, values, err};
    enum shmtune_status status;
    size_t made = 0;

    shmt_kernel_values(kernel, candidate->problem, candidate->values, values);
    status = check_constraints(&ask);
    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->launch_count; k++)
        status = check_launch(&ask, k, &made);
    return status;
}
