/* SPDX-License-Identifier: MIT */
/*
 * pareto: the candidates of a run that no other dominates, by the numbers that
 * the user chose.  One that was in the finals counts with its time there.
 * Called by run.c when those are over.
 */
#include <stdlib.h>
#include <string.h>

#include "tune/state.h"

static const struct shmt_result *
result_of(const struct shmt_tune_outcome *outcome,
          const struct shmt_ledger_entry *entry)
{
    for (size_t k = 0; k < outcome->final_count; k++)
        if (outcome->finals[k].figures.index == entry->index)
            return &outcome->finals[k].result;
    return &entry->result;
}

enum shmtune_status shmt_tune_find_front(struct shmt_tune *tune,
                                         struct shmt_error *err)
{
    struct shmt_tune_outcome *const outcome = tune->outcome;
    const struct shmt_figures *const figures = tune->options->policy.figures;
    const size_t most = shmt_ledger_count(outcome->ledger) + 1;
    const size_t width = tune->target->kernel->parameter_count;
    const struct shmt_tuned_axis *axes;
    struct shmt_ledger_entry **entries;
    struct shmt_figure_candidate *candidates;
    shmt_config *configs;
    size_t count;
    enum shmtune_status status;

    if (shmt_figures_axes(figures, &axes) == 0)
        return SHMTUNE_OK;
    entries = malloc(most * sizeof(struct shmt_ledger_entry *));
    candidates = calloc(most, sizeof *candidates);
    configs = calloc(most * width + SHMT_SPACE_PARAMETERS, sizeof *configs);
    outcome->arena = shmt_arena_new();
    if (entries == NULL || candidates == NULL || configs == NULL ||
        outcome->arena == NULL) {
        status = shmt_error_memory(err);
        goto end;
    }
    count = shmt_ledger_fastest(outcome->ledger, entries);
    for (size_t k = 0; k < count; k++) {
        candidates[k] = (struct shmt_figure_candidate){
            tune->problem, configs + k * width,
            result_of(outcome, entries[k])};
        shmt_space_configuration(outcome->space, entries[k]->index,
                                 configs + k * width);
    }
    status = shmt_figures_front(figures, outcome->arena, candidates, count,
                                &outcome->pareto, err);
end:
    free(entries);
    free(candidates);
    free(configs);
    return status;
}
