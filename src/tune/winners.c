/* SPDX-License-Identifier: MIT */
#include "tune/winners.h"

#include <string.h>

#include "tune/tune.h"

enum { OF_A_RUN = 3 };

static void put(const struct shmt_kernel *kernel, const shmt_choice *choice,
                struct shmt_winners *winners)
{
    const size_t bytes = kernel->parameter_count * sizeof *choice;

    for (size_t k = 0; k < winners->count; k++)
        if (memcmp(winners->choices[k], choice, bytes) == 0)
            return;
    if (winners->count == SHMT_WINNERS_ROOM) {
        winners->count--;
        memmove(winners->choices, winners->choices + 1,
                winners->count * sizeof *winners->choices);
    }
    memcpy(winners->choices[winners->count++], choice, bytes);
}

void shmt_winners_add(const struct shmt_kernel *kernel,
                      const struct shmt_tune_outcome *outcome,
                      struct shmt_winners *winners)
{
    for (size_t k = 0; k < outcome->tie_count && k < OF_A_RUN; k++)
        put(kernel, outcome->finals[k].choice, winners);
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
    if (strcmp(tuning->kernel, kernel->name) != 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s: a tuning of %s, not of %s", path,
                                tuning->kernel, kernel->name);
    for (size_t k = 0; status == SHMTUNE_OK && k < tuning->tuned_count; k++) {
        const struct shmt_tuned *const one = tuning->tuned[k];
        shmt_choice choice[SHMT_SPACE_PARAMETERS] = {0};
        if (shmt_tuning_choice(kernel, one->settings, one->setting_count,
                               choice, NULL) == SHMTUNE_OK)
            put(kernel, choice, winners);
    }
    shmt_tuning_free(tuning);
    return status;
}
