/* SPDX-License-Identifier: MIT */
/*
 * admit: the checks between a recorded configuration and a launch.  What a
 * device allows is device/fit.h's answer.
 */
#include "runtime/admit.h"

#include "device/device.h"

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

static enum shmtune_status check_launches(const struct question *ask,
                                          struct shmt_geometry *launches)
{
    const struct shmt_kernel *kernel = ask->kernel;
    char text[SHMT_FIT_TEXT];
    struct shmt_fit fit;

    for (size_t k = 0; k < kernel->launch_count; k++)
        if (shmt_kernel_geometry(kernel, &kernel->launches[k], ask->values,
                                 &launches[k], ask->err) != SHMTUNE_OK)
            return SHMTUNE_NO_CONFIGURATION;
    if (shmt_fit_launches(&(struct shmt_fit_launches){
                              ask->device, kernel->launch_count, launches,
                              ask->candidate->resources,
                              ask->candidate->launches}, &fit))
        return SHMTUNE_OK;
    shmt_fit_text(&fit, text);
    return shmt_error_set(ask->err, SHMTUNE_NO_CONFIGURATION, "%s", text);
}

enum shmtune_status shmt_admit_check(const struct shmt_kernel *kernel,
                                     const struct shmtune_device *device,
                                     const struct shmt_candidate *candidate,
                                     struct shmt_error *err)
{
    struct shmt_value values[SHMT_KERNEL_DIMENSIONS + SHMT_SPACE_PARAMETERS];
    struct shmt_geometry own[SHMT_KERNEL_LAUNCHES];
    const struct question ask = {kernel, device, candidate, values, err};
    enum shmtune_status status;

    shmt_kernel_values(kernel, candidate->problem, candidate->values, values);
    status = check_constraints(&ask);
    return status != SHMTUNE_OK
               ? status
               : check_launches(&ask, candidate->geometry != NULL
                                          ? candidate->geometry
                                          : own);
}
