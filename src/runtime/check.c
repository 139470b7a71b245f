/* SPDX-License-Identifier: MIT */
/*
 * check: checks a configuration for a problem and a device: the constraints,
 * the geometry, and by device/fit the launches.  Also computes the wave
 * efficiency of a launch from its resident blocks and its grid.  Called by
 * tunings.c, select.c and function.c.  Allocates nothing but for a message.
 */
#include "runtime/check.h"

#include <math.h>

enum shmtune_status
shmt_runtime_check_launches(const struct shmt_fit_launches *ask,
                            struct shmt_error *err)
{
    char text[SHMT_FIT_TEXT];
    struct shmt_fit fit;

    if (shmt_kernel_evaluate_launches(ask->evaluated, err) != SHMTUNE_OK)
        return SHMTUNE_NO_CONFIGURATION;
    if (shmt_fit_launches(ask, &fit))
        return SHMTUNE_OK;
    if (err == NULL)
        return SHMTUNE_NO_CONFIGURATION;
    shmt_fit_text(&fit, text);
    return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION, "%s", text);
}

enum shmtune_status shmt_runtime_check(const struct shmt_fit_launches *ask,
                                       struct shmt_error *err)
{
    const struct shmt_expr *failed = NULL;

    if (shmt_kernel_satisfies(ask->evaluated, &failed, err) != SHMTUNE_OK)
        return SHMTUNE_NO_CONFIGURATION;
    return failed == NULL
               ? shmt_runtime_check_launches(ask, err)
               : shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                                "the constraint \"%s\" does not hold",
                                shmt_expr_text(failed));
}

static double share(double blocks, double places)
{
    const double rounds = blocks / places;

    return rounds < 1 ? rounds : rounds / ceil(rounds);
}

/* What the launch takes that is made after `before` others: its own share
 * where it is known, of the first one else what all take; where nothing is
 * known as little as there can be. */
static struct shmt_resources taken_by(const struct shmt_fit_launches *ask,
                                      size_t before)
{
    struct shmt_resources taken = {.registers = 1, .max_threads = -1};

    if (before < (size_t)ask->each->count)
        taken = shmt_resources_kept(&ask->each->of[before]);
    else if (before == 0)
        taken = *ask->resources;
    if (taken.registers < 0)
        taken.registers = 1;
    if (taken.shared_static_bytes < 0)
        taken.shared_static_bytes = 0;
    return taken;
}

static double efficiency_of(const struct shmtune_device *device,
                            struct shmt_resources resources,
                            const struct shmt_geometry *launch)
{
    struct shmt_fit fit;

    if (launch->shared_static >= 0)
        resources.shared_static_bytes = launch->shared_static;
    if (!shmt_fit_launch(device, launch, &resources, &fit) ||
        fit.occupancy.resident_blocks < 1)
        return 1;
    return share((double)launch->grid[0] * launch->grid[1] * launch->grid[2],
                 (double)fit.occupancy.resident_blocks *
                     device->multiprocessors);
}

double shmt_runtime_wave_efficiency(const struct shmt_fit_launches *ask)
{
    struct shmt_kernel_evaluated *evaluated = ask->evaluated;
    const struct shmt_geometry *weighed = NULL;
    size_t made = 0, before = 0;     /* the launch that counts */

    if (ask->device->multiprocessors < 1)
        return 1;
    for (size_t k = 0; k < evaluated->launch_count; k++) {
        const bool reads = evaluated->launches[k].reads;

        if (shmt_kernel_evaluate_launch(evaluated, k, NULL) != SHMTUNE_OK)
            return 1;
        if (!evaluated->geometry[k].used)
            continue;
        made++;
        if (weighed != NULL && !reads)
            continue;
        weighed = &evaluated->geometry[k];
        before = made - 1;
        if (reads)
            break;
    }
    return weighed != NULL
               ? efficiency_of(ask->device, taken_by(ask, before), weighed)
               : 1;
}
