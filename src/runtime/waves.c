/* SPDX-License-Identifier: MIT */
/*
 * waves: computes the wave efficiency of a launch from its resident blocks and
 * its grid.  Called by nearest.c when it compares problems and by tunings.c
 * when a tuning is opened.  Allocates nothing.
 */
#include "runtime/waves.h"

#include <math.h>

#include "device/device.h"

static double share(double blocks, double places)
{
    const double rounds = blocks / places;

    return rounds < 1 ? rounds : rounds / ceil(rounds);
}

/* What the launch takes that is made after `before` others: its own share
 * where it is known, of the first one else what the candidate takes; where
 * nothing is known as little as there can be. */
static struct shmt_resources
taken_by(const struct shmt_runtime_candidate *candidate,
         size_t before)
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

static double filling_of(const struct shmtune_device *device,
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

static bool reads_input(const struct shmt_kernel *kernel,
                        const struct shmt_launch *launch)
{
    for (size_t k = 0; k < launch->argument_count; k++) {
        const enum shmt_role role =
            kernel->arguments[launch->arguments[k]].role;

        if (role == SHMT_ROLE_INPUT || role == SHMT_ROLE_INOUT)
            return true;
    }
    return false;
}

double
shmt_runtime_wave_efficiency(const struct shmtune_device *device,
                             const struct shmt_runtime_candidate *candidate)
{
    struct shmt_kernel_evaluated *evaluated = candidate->evaluated;
    const struct shmt_geometry *weighed = NULL;
    size_t made = 0, before = 0;     /* the launch that counts */

    if (device->multiprocessors < 1 ||
        shmt_kernel_evaluate_launches(evaluated, NULL) != SHMTUNE_OK)
        return 1;
    for (size_t k = 0; k < evaluated->launch_count; k++) {
        const bool reads =
            reads_input(evaluated->kernel, &evaluated->launches[k]);

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
               ? filling_of(device, taken_by(candidate, before), weighed)
               : 1;
}
