/* SPDX-License-Identifier: MIT */
/*
 * filter: see filter.h.
 */
#include "tune/filter.h"

#include "device/device.h"

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

/* `result` has the verdict when the launches cannot be computed. */
static enum shmtune_status
evaluate(const struct shmt_filter *filter, const shmt_choice *choice,
         struct shmt_kernel_evaluated *out, struct shmt_result *result)
{
    struct shmt_error why;
    enum shmtune_status status;

    shmt_kernel_evaluate(filter->kernel, filter->problem, choice, out);
    status = shmt_kernel_evaluate_launches(out, &why);
    if (status == SHMTUNE_OK || status == SHMTUNE_NO_MEMORY)
        return status;
    shmt_result_fail(result, SHMT_VERDICT_TOO_LARGE, "%s", why.text);
    return SHMTUNE_OK;
}

/* `resources` with those of each launch, or NULL before they are known. */
static void check_fit(const struct shmt_filter *filter,
                      const struct shmt_kernel_evaluated *evaluated,
                      const struct shmt_resources *resources,
                      struct shmt_result *result)
{
    const struct shmt_fit_launches ask = {
        filter->device, evaluated->launch_count, evaluated->geometry,
        resources, &result->launches
    };
    struct shmt_fit fit;
    char text[SHMT_FIT_TEXT];

    if (!shmt_fit_launches(&ask, &fit)) {
        shmt_fit_text(&fit, text);
        shmt_result_fail(result,
                         resources == NULL ? SHMT_VERDICT_TOO_LARGE
                         : fit.limit == SHMT_FIT_STATED
                             ? SHMT_VERDICT_SPEC_MISMATCH
                             : SHMT_VERDICT_NOT_RESIDENT, "%s", text);
    }
    if (fit.occupancy.resident_blocks < 0)
        return;
    result->resident_blocks = fit.occupancy.resident_blocks;
    result->occupancy_percent = fit.occupancy.percent;
    result->limiter = fit.occupancy.limiter;
    result->shared_dynamic_bytes = 0;
    for (size_t k = 0; k < ask.count; k++)
        if (ask.launches[k].shared_dynamic > result->shared_dynamic_bytes)
            result->shared_dynamic_bytes = ask.launches[k].shared_dynamic;
}

enum shmtune_status shmt_filter_before(const struct shmt_filter *filter,
                                       const shmt_choice *choice,
                                       struct shmt_result *result,
                                       struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;

    if (evaluate(filter, choice, &evaluated, result) != SHMTUNE_OK)
        return shmt_error_memory(err);
    if (result->verdict == SHMT_VERDICT_OK)
        check_fit(filter, &evaluated, NULL, result);
    return SHMTUNE_OK;
}

_Static_assert((int)SHMT_RESULT_LAUNCHES >= (int)SHMT_KERNEL_LAUNCHES,
               "a result has room for every launch");

enum shmtune_status shmt_filter_after(const struct shmt_filter *filter,
                                      const shmt_choice *choice,
                                      struct shmt_result *result,
                                      struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;

    if (evaluate(filter, choice, &evaluated, result) != SHMTUNE_OK)
        return shmt_error_memory(err);
    if (result->verdict == SHMT_VERDICT_OK)
        check_fit(filter, &evaluated, &result->resources, result);
    if (result->verdict == SHMT_VERDICT_OK)
        shmt_filter_policy(&filter->policy, result);
    return SHMTUNE_OK;
}
