/* SPDX-License-Identifier: MIT */
/*
 * winners: collects the configurations of a warm start from runs and tunings,
 * each once, by rank.  Called by command/tune.c.
 */
#include "tune/winners.h"

#include <stdlib.h>
#include <string.h>

#include "tune/run.h"

enum { OF_A_RUN = 24 };

static void remove_at(struct shmt_winners *winners, size_t k)
{
    winners->count--;
    memmove(winners->list + k, winners->list + k + 1,
            (winners->count - k) * sizeof *winners->list);
}

static void put(const struct shmt_kernel *kernel,
                const struct shmt_winner *winner,
                struct shmt_winners *winners)
{
    const size_t bytes = kernel->parameter_count * sizeof *winner->config;
    struct shmt_winner one = *winner;
    size_t at = 0;

    for (size_t k = 0; k < winners->count; k++) {
        if (memcmp(winners->list[k].config, one.config, bytes) != 0 ||
            memcmp(winners->list[k].problem, one.problem,
                   sizeof one.problem) != 0 ||
            winners->list[k].tuning != one.tuning)
            continue;
        if (winners->list[k].rank < one.rank)
            one.rank = winners->list[k].rank;
        remove_at(winners, k);
        break;
    }
    while (at < winners->count && winners->list[at].rank < one.rank)
        at++;
    if (at == SHMT_WINNERS_ROOM)
        return;
    if (winners->count == SHMT_WINNERS_ROOM)
        winners->count--;
    memmove(winners->list + at + 1, winners->list + at,
            (winners->count - at) * sizeof *winners->list);
    winners->list[at] = one;
    winners->count++;
}

enum shmtune_status shmt_winners_add(const struct shmt_kernel *kernel,
                                     const struct shmt_tune_outcome *outcome,
                                     struct shmt_winners *winners,
                                     struct shmt_error *err)
{
    const size_t count = shmt_ledger_count(outcome->ledger);
    struct shmt_ledger_entry **const best =
        malloc((count + 1) * sizeof(struct shmt_ledger_entry *));
    struct shmt_winner one = {0};
    size_t n;

    if (best == NULL)
        return shmt_error_memory(err);
    n = shmt_ledger_fastest(outcome->ledger, best);
    for (size_t k = n < OF_A_RUN ? n : OF_A_RUN; k-- > 0;) {
        one.rank = outcome->tie_count + k;
        shmt_space_configuration(outcome->space, best[k]->index, one.config);
        put(kernel, &one, winners);
    }
    for (size_t k = outcome->tie_count; k-- > 0;) {
        one.rank = k;
        memcpy(one.config, outcome->finals[k].config, sizeof one.config);
        put(kernel, &one, winners);
    }
    free(best);
    return SHMTUNE_OK;
}

/* Its winner is the first of those as good, or the only one.  False with the
 * reason: the kernel has none of them. */
static bool put_tuned(const struct shmt_kernel *kernel,
                      const struct shmt_tuned *tuned,
                      struct shmt_winners *winners, struct shmt_error *why)
{
    struct shmt_winner one = {.tuning = winners->tunings};
    bool found = false;

    if (shmt_tuning_problem(kernel, tuned, one.problem, why) != SHMTUNE_OK)
        return false;
    do {
        const struct shmt_setting *const settings =
            one.rank == 0 ? tuned->settings : tuned->ties[one.rank];
        if (shmt_tuning_config(kernel, settings, tuned->setting_count,
                               one.config, why) != SHMTUNE_OK)
            continue;
        put(kernel, &one, winners);
        found = true;
    } while (++one.rank < tuned->tie_count);
    return found;
}

static enum shmtune_status put_tuning(const struct shmt_kernel *kernel,
                                      const char *path,
                                      const struct shmt_tuning *tuning,
                                      struct shmt_winners *winners,
                                      struct shmt_error *err)
{
    struct shmt_error why = {0};
    size_t found = 0;

    if (strcmp(tuning->kernel, kernel->name) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: a tuning of %s, not of %s", path,
                              tuning->kernel, kernel->name);
    winners->tunings++;
    for (size_t k = 0; k < tuning->tuned_count; k++)
        found += put_tuned(kernel, tuning->tuned[k], winners, &why);
    return found > 0 || tuning->tuned_count == 0
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s: %s has none of its winners now, of the "
                                "last: %s", path, kernel->name, why.text);
}

enum shmtune_status shmt_winners_read(const struct shmt_kernel *kernel,
                                      const char *path,
                                      struct shmt_winners *winners,
                                      struct shmt_error *err)
{
    struct shmt_tuning *tuning = NULL;
    enum shmtune_status status = shmt_tuning_read(path, &tuning, err);

    if (status != SHMTUNE_OK)
        return status;
    status = put_tuning(kernel, path, tuning, winners, err);
    shmt_tuning_free(tuning);
    return status;
}
