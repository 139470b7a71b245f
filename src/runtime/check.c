/* SPDX-License-Identifier: MIT */
/*
 * check: checks a configuration for a problem and a device: the problem's
 * bounds, the constraints, the geometry, and by device/fit the launches.
 * Called by tunings.c, nearest.c, select.c and prepare.c.  Allocates nothing
 * but for a message.
 */
#include "runtime/check.h"

#include "device/device.h"

enum shmtune_status shmt_runtime_check_problem(const struct shmt_kernel *kernel,
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

static enum shmtune_status
check_constraints(struct shmt_kernel_evaluated *evaluated,
                  struct shmt_error *err)
{
    const struct shmt_expr *failed;

    if (shmt_kernel_satisfies(evaluated, &failed, err) != SHMTUNE_OK)
        return SHMTUNE_NO_CONFIGURATION;
    if (failed != NULL)
        return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                              "the constraint \"%s\" does not hold",
                              shmt_expr_text(failed));
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_runtime_check(const struct shmtune_device *device,
                   const struct shmt_runtime_candidate *candidate,
                   struct shmt_error *err)
{
    struct shmt_kernel_evaluated *evaluated = candidate->evaluated;
    const struct shmt_fit_launches launches = {
        device, evaluated->launch_count, evaluated->geometry,
        candidate->resources, candidate->launches};
    const enum shmtune_status status = check_constraints(evaluated, err);
    char text[SHMT_FIT_TEXT];
    struct shmt_fit fit;

    if (status != SHMTUNE_OK)
        return status;
    if (shmt_kernel_evaluate_launches(evaluated, err) != SHMTUNE_OK)
        return SHMTUNE_NO_CONFIGURATION;
    if (shmt_fit_launches(&launches, &fit))
        return SHMTUNE_OK;
    shmt_fit_text(&fit, text);
    return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION, "%s", text);
}
