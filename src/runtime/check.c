/* SPDX-License-Identifier: MIT */
/*
 * check: checks a configuration for a problem and a device: the constraints,
 * the geometry, and by device/fit the launches.  Also computes the wave
 * efficiency of a launch.  Called by
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

double shmt_runtime_wave_efficiency(const struct shmt_fit_launches *ask)
{
    struct shmt_fit_waves waves;

    if (ask->device->multiprocessors < 1 || !shmt_fit_waves(ask, &waves))
        return 1;
    return share(waves.blocks,
                 (double)waves.resident * ask->device->multiprocessors);
}
