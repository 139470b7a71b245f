/* SPDX-License-Identifier: MIT */
/*
 * tune_from: see tune_from.h.  Called by command/tune.c and score_within.c.
 */
#include "config.h"

#include "command/tune_from.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char tuning_suffix[] = ".yaml";
static const char recording_suffix[] = ".journal.gz";

bool shmt_command_from_learns(const char *strategy)
{
    const char *const name =
        strategy != NULL ? strategy : shmt_strategy_default;
    const struct shmt_strategy *const found =
        shmt_strategy_find(name, strcspn(name, ":"));

    return found == NULL || found->learns;
}

static bool is_none(const struct shmt_command_repeats *from)
{
    return from->count == 1 && strcmp(from->items[0], "none") == 0;
}

enum shmtune_status
shmt_command_from_check(const struct shmt_command_repeats *from,
                        const char *strategy, struct shmt_error *err)
{
    if (from->count == 0 || is_none(from))
        return SHMTUNE_OK;
    for (size_t k = 0; k < from->count; k++)
        if (strcmp(from->items[k], "none") == 0)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--from none stands alone: it means that "
                                  "nothing is learned from; a file of that "
                                  "name is ./none");
    if (!shmt_command_from_learns(strategy))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--from is for the strategy model; %.64s does "
                              "not learn from other runs", strategy);
    return SHMTUNE_OK;
}

/* How far another device is: first by its capability, then by its name, then
 * by its multiprocessors. */
static double distance(const struct shmtune_device *a,
                       const struct shmtune_device *b)
{
    const double sum =
        fabs(log2(fmax(1, a->multiprocessors)) -
             log2(fmax(1, b->multiprocessors)));

    return 1000 * (abs(10 * (a->compute_major - b->compute_major) +
                       a->compute_minor - b->compute_minor)) +
           100 * (strcmp(a->name, b->name) != 0) + fmin(sum, 50);
}

/* The tuning of the nearest device in one folder; NULL: there is none. */
static const char *nearest_in(struct shmt_arena *arena, const char *folder,
                              const struct shmt_target *target)
{
    const char *const *names, *nearest = NULL;
    double least = INFINITY;
    size_t count;

    if (shmt_path_list(arena, folder, tuning_suffix, &names, &count, NULL) !=
        SHMTUNE_OK)
        return NULL;
    for (size_t k = 0; k < count; k++) {
        const char *const path = shmt_path_join(arena, folder, names[k]);
        struct shmt_tuning *tuning = NULL;
        double away;

        if (path == NULL ||
            shmt_tuning_read(path, &tuning, NULL) != SHMTUNE_OK)
            continue;
        away = distance(&tuning->device, &target->device);
        if (away < least &&
            strcmp(tuning->kernel, target->kernel->name) == 0) {
            least = away;
            nearest = path;
        }
        shmt_tuning_free(tuning);
    }
    return nearest;
}

/* The recordings beside a tuning: DEVICE.SIZE.journal.gz of DEVICE.yaml.  What
 * cannot be read is left out. */
static void add_recordings(struct shmt_arena *arena, const char *folder,
                           const char *tuning, struct shmt_tune_prior *prior)
{
    const char *const name = strrchr(tuning, '/') + 1;
    const size_t length = strlen(name) - (sizeof tuning_suffix - 1);
    const char *const *names;
    size_t count;

    if (shmt_path_list(arena, folder, recording_suffix, &names, &count,
                       NULL) != SHMTUNE_OK)
        return;
    for (size_t k = 0; k < count; k++) {
        const char *const path = shmt_path_join(arena, folder, names[k]);

        if (path != NULL && strncmp(names[k], name, length) == 0 &&
            names[k][length] == '.')
            (void)shmt_tune_prior_add(prior, path, false, NULL);
    }
}

static void add_shipped(const struct shmt_command_from *from,
                        const struct shmt_target *target,
                        struct shmt_tune_prior *prior)
{
    for (size_t k = 0; k < from->places->count &&
                       shmt_tune_prior_sources(prior) == 0; k++) {
        const char *const tunings = shmt_path_join(
            from->arena, from->places->roots[k], "tunings");
        const char *const folder =
            tunings == NULL ? NULL
                            : shmt_path_join(from->arena, tunings,
                                             target->kernel->name);
        const char *const tuning =
            folder == NULL ? NULL
                           : nearest_in(from->arena, folder, target);

        if (tuning == NULL ||
            shmt_tune_prior_add(prior, tuning, false, NULL) != SHMTUNE_OK)
            continue;
        add_recordings(from->arena, folder, tuning, prior);
    }
}

/* "matmul: learning from sm_90-nvidia-h200.yaml (NVIDIA H200)". */
static void tell(const struct shmt_command_from *from,
                 const struct shmt_target *target,
                 const struct shmt_tune_prior *prior)
{
    const size_t count = shmt_tune_prior_sources(prior);
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s: learning from %s", target->kernel->name,
                   count == 0 ? "nothing: --from has none of its files" : "");
    for (size_t k = 0; k < count; k++) {
        const struct shmt_tune_source *const source =
            shmt_tune_prior_source(prior, k);
        const char *const slash = strrchr(source->path, '/');

        shmt_text_add(&text, k == 0 ? "" : ", ");
        shmt_text_add_visible(&text,
                              slash == NULL ? source->path : slash + 1);
        shmt_text_add(&text, " (");
        shmt_text_add_visible(&text, source->device);
        if (source->other_sources)
            shmt_text_add(&text, ", other sources");
        if (source->left_out > 0)
            shmt_text_addf(&text, ", %zu configuration%s left out that the "
                           "kernel does not have", source->left_out,
                           shmt_text_plural(source->left_out));
        shmt_text_add(&text, ")");
    }
    shmt_display_notice(from->display, shmt_text_string(&text));
    shmt_text_free(&text);
}

enum shmtune_status
shmt_command_from_open(const struct shmt_command_from *from,
                       const struct shmt_target *target,
                       struct shmt_tune_prior **out, struct shmt_error *err)
{
    const bool given = from->from->count > 0;
    struct shmt_tune_prior *prior = NULL;
    enum shmtune_status status;

    *out = NULL;
    if (given ? is_none(from->from)
              : target->recorded ||
                    !shmt_command_from_learns(from->strategy))
        return SHMTUNE_OK;
    status = shmt_tune_prior_new(target->kernel, &prior, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < from->from->count; k++)
        status = shmt_tune_prior_add(prior, from->from->items[k],
                                     from->several, err);
    if (status != SHMTUNE_OK)
        status = shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                            SHMTUNE_STORAGE);
    if (status == SHMTUNE_OK && !given)
        add_shipped(from, target, prior);
    if (status == SHMTUNE_OK &&
        (given || shmt_tune_prior_sources(prior) > 0))
        tell(from, target, prior);
    if (status == SHMTUNE_OK && shmt_tune_prior_sources(prior) > 0) {
        *out = prior;
        return SHMTUNE_OK;
    }
    shmt_tune_prior_free(prior);
    return status;
}
