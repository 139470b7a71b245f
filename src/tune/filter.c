/* SPDX-License-Identifier: MIT */
/*
 * filter: policy and verdicts of the stages before a candidate runs.  The
 * limits themselves are checked by device/fit.  Pure functions.  Called by
 * run.c, pipeline.c, and the commands inspect, check and explain.
 */
#include "tune/filter.h"

#include "device/device.h"

void shmt_filter_apply_policy(const struct shmt_filter_policy *policy,
                              struct shmt_result *result)
{
    if (policy->max_spill_bytes >= 0 &&
        result->resources.spill_store_bytes > policy->max_spill_bytes)
        shmt_result_set_verdict(result, SHMT_VERDICT_SPILLS,
                                "spills %d bytes a thread, --max-spill is %d",
                                result->resources.spill_store_bytes,
                                policy->max_spill_bytes);
    else if (result->resident_blocks >= 0 &&
             result->occupancy_percent < policy->min_occupancy_percent)
        shmt_result_set_verdict(result, SHMT_VERDICT_LOW_OCCUPANCY,
                                "occupancy %d %% (limited by %s), "
                                "--min-occupancy is %d %%",
                                result->occupancy_percent,
                                shmt_limiter_word(result->limiter),
                                policy->min_occupancy_percent);
}

/* `resources` with those of each launch, or NULL before they are known.  The
 * verdict is in `result` when a launch cannot be computed, or does not fit. */
static void judge(const struct shmt_filter *filter, const shmt_config *config,
                  const struct shmt_resources *resources,
                  struct shmt_result *result)
{
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches ask = {
        filter->device, &evaluated, resources, &result->launches
    };
    struct shmt_error why;
    struct shmt_fit fit;
    char text[SHMT_FIT_TEXT];

    shmt_kernel_evaluate(filter->kernel, filter->problem, config, &evaluated);
    if (shmt_kernel_evaluate_launches(&evaluated, &why) != SHMTUNE_OK) {
        shmt_result_set_verdict(result, SHMT_VERDICT_TOO_LARGE, "%s", why.text);
        return;
    }
    if (!shmt_fit_launches(&ask, &fit)) {
        shmt_fit_text(&fit, text);
        shmt_result_set_verdict(result,
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
    for (size_t k = 0; k < evaluated.launch_count; k++)
        if (evaluated.geometry[k].shared_dynamic >
            result->shared_dynamic_bytes)
            result->shared_dynamic_bytes =
                evaluated.geometry[k].shared_dynamic;
}

static bool meets(const struct shmt_filter *filter,
                  enum shmt_figure_stage stage, const shmt_config *config,
                  struct shmt_result *result)
{
    const struct shmt_figure_candidate candidate = {filter->problem, config,
                                                    result};

    return shmt_figures_judge(filter->policy.figures, stage, &candidate,
                              result);
}

bool shmt_filter_before_compile(const struct shmt_filter *filter,
                                const shmt_config *config,
                                struct shmt_result *result)
{
    shmt_result_clear(result);
    judge(filter, config, NULL, result);
    return result->verdict == SHMT_VERDICT_OK &&
           meets(filter, SHMT_FIGURE_CHOSEN, config, result);
}

_Static_assert((int)SHMT_RESOURCES_LAUNCHES >= (int)SHMT_KERNEL_LAUNCHES,
               "a result has room for every launch");

bool shmt_filter_after_compile(const struct shmt_filter *filter,
                               const shmt_config *config,
                               struct shmt_result *result)
{
    judge(filter, config, &result->resources, result);
    if (result->verdict == SHMT_VERDICT_OK)
        shmt_filter_apply_policy(&filter->policy, result);
    return result->verdict == SHMT_VERDICT_OK &&
           meets(filter, SHMT_FIGURE_COMPILED, config, result);
}

bool shmt_filter_after_measure(const struct shmt_filter *filter,
                               const shmt_config *config,
                               struct shmt_result *result)
{
    return shmt_verdict_stage(result->verdict) != SHMT_STAGE_TIME ||
           meets(filter, SHMT_FIGURE_MEASURED, config, result);
}
