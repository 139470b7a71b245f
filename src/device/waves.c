/* SPDX-License-Identifier: MIT */
/*
 * waves: the blocks of a configuration that run at a time on a multiprocessor,
 * and how many there are.  Called by runtime/ and exchange/.
 */
#include "device/fit.h"

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

static bool fill(const struct shmt_fit_launches *ask,
                 struct shmt_resources resources,
                 const struct shmt_geometry *launch,
                 struct shmt_fit_waves *out)
{
    struct shmt_fit fit;

    if (launch->shared_static >= 0)
        resources.shared_static_bytes = launch->shared_static;
    if (!shmt_fit_launch(ask->device, launch, &resources, &fit) ||
        fit.occupancy.resident_blocks < 1)
        return false;
    *out = (struct shmt_fit_waves){
        (double)launch->grid[0] * launch->grid[1] * launch->grid[2],
        fit.occupancy.resident_blocks};
    return true;
}

bool shmt_fit_waves(const struct shmt_fit_launches *ask,
                    struct shmt_fit_waves *out)
{
    struct shmt_kernel_evaluated *evaluated = ask->evaluated;
    const struct shmt_geometry *weighed = NULL;
    size_t made = 0, before = 0;     /* the launch that counts */

    for (size_t k = 0; k < evaluated->launch_count; k++) {
        const bool reads = evaluated->launches[k].reads;

        if (shmt_kernel_evaluate_launch(evaluated, k, NULL) != SHMTUNE_OK)
            return false;
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
    return weighed != NULL &&
           fill(ask, taken_by(ask, before), weighed, out);
}
