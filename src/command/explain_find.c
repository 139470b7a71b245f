/* SPDX-License-Identifier: MIT */
/*
 * explain_find: finds the tuning file and in it the entry that `shmtune
 * explain` compares with the default.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "command/explain.h"
#include "device/device.h"
#include "record/record.h"
#include "target/target.h"

/* ROOT/KERNEL/DEVICE.yaml, or NULL when it is not there. */
static const char *tuning_in(const struct shmt_explain_search *search,
                             const char *root)
{
    char name[512], slug[128];
    const char *path;

    shmt_device_slug(&search->target->device, slug);
    snprintf(name, sizeof name, "%s/%s.yaml", search->target->kernel->name,
             slug);
    path = shmt_path_join(search->arena, root, name);
    return path != NULL && shmt_path_exists(path) ? path : NULL;
}

static enum shmtune_status find_file(const struct shmt_explain_search *search,
                                     const char **out, struct shmt_error *err)
{
    const char *path = search->file;

    if (path == NULL)
        path = tuning_in(search, search->output != NULL ? search->output
                                                        : "./tunings");
    for (size_t k = 0; k < search->places->count && path == NULL &&
                       search->output == NULL; k++) {
        const char *const root = shmt_path_join(
            search->arena, search->places->roots[k], "tunings");

        path = root == NULL ? NULL : tuning_in(search, root);
    }
    if (path == NULL)
        return shmt_error_set(
            err, SHMTUNE_NOT_FOUND,
            "there is no tuning of %s for %s in %s: `shmtune tune` makes one, "
            "--tuning FILE names one, --config P=V,... names a configuration",
            search->target->kernel->name, search->target->device.name,
            search->output != NULL ? search->output
                                   : "./tunings or beside the kernels");
    *out = path;
    return SHMTUNE_OK;
}

static bool is_recorded(const struct shmt_target *target,
                        const int64_t *problem)
{
    const size_t bytes = target->kernel->dimension_count * sizeof *problem;

    if (!target->recorded)
        return true;
    for (size_t k = 0; k < shmt_replay_count(target); k++)
        if (memcmp(shmt_replay_header(target, k)->problem, problem, bytes) ==
            0)
            return true;
    return false;
}

/* The kernel's default problem if it is tuned, else the last one, which is the
 * largest. */
static bool prefers(const struct shmt_kernel *kernel, const int64_t *problem)
{
    for (size_t d = 0; d < kernel->dimension_count; d++)
        if (problem[d] != kernel->dimensions[d].default_size)
            return false;
    return true;
}

static enum shmtune_status no_entry(const struct shmt_tuning *tuning,
                                    const char *path,
                                    const struct shmt_explain_view *wanted,
                                    bool problem_given, struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_text_addf(&text, "%s has no entry for ", path);
    if (problem_given)
        shmt_kernel_describe_problem(wanted->kernel, wanted->problem, &text);
    else
        shmt_text_add(&text, "what is recorded");
    shmt_text_add(&text, "; it has");
    for (size_t k = 0; k < tuning->tuned_count && text.length < 600; k++) {
        shmt_text_add(&text, k == 0 ? " " : "; ");
        for (size_t d = 0; d < tuning->tuned[k]->size_count; d++)
            shmt_text_addf(&text, "%s%s=%lld", d == 0 ? "" : " ",
                           tuning->tuned[k]->size[d].name,
                           (long long)tuning->tuned[k]->size[d].value.i);
    }
    status = shmt_error_set(err, SHMTUNE_NOT_FOUND, "%s",
                            shmt_text_string(&text));
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status
choose_entry(const struct shmt_explain_search *search,
             const struct shmt_tuning *tuning, bool problem_given,
             struct shmt_explain_view *out, struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = out->kernel;
    const size_t bytes = kernel->dimension_count * sizeof *out->problem;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    const struct shmt_tuned *found = NULL;
    struct shmt_explain_column *const column = &out->columns[out->count];
    enum shmtune_status status = SHMTUNE_OK;
    bool settled = false;

    for (size_t k = 0; k < tuning->tuned_count && !settled; k++) {
        status = shmt_tuning_problem(kernel, tuning->tuned[k], problem, err);
        if (status != SHMTUNE_OK)
            return status;
        settled = problem_given ? memcmp(problem, out->problem, bytes) == 0
                                : prefers(kernel, problem) &&
                                      is_recorded(search->target, problem);
        if (!settled && (problem_given ||
                         !is_recorded(search->target, problem)))
            continue;
        found = tuning->tuned[k];
        if (!problem_given)
            memcpy(out->problem, problem, bytes);
    }
    if (found == NULL)
        return no_entry(tuning, out->tuning, out, problem_given, err);
    status = shmt_tuning_config(kernel, found->settings, found->setting_count,
                                column->config, err);
    if (status == SHMTUNE_OK) {
        snprintf(column->label, sizeof column->label, "tuned");
        out->count++;
    }
    return status;
}

enum shmtune_status
shmt_explain_find(const struct shmt_explain_search *search,
                  bool problem_given, struct shmt_explain_view *out,
                  struct shmt_error *err)
{
    struct shmt_tuning *tuning = NULL;
    enum shmtune_status status = find_file(search, &out->tuning, err);

    if (status == SHMTUNE_OK)
        status = shmt_tuning_read(out->tuning, &tuning, err);
    if (status != SHMTUNE_OK)
        return status;
    if (strcmp(tuning->kernel, out->kernel->name) != 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s is a tuning of %s, not of %s",
                                out->tuning, tuning->kernel,
                                out->kernel->name);
    if (status == SHMTUNE_OK &&
        strcmp(tuning->digest, out->kernel->digest) != 0)
        shmt_display_notice(search->display, "the sources have changed "
                            "since this kernel was tuned");
    if (status == SHMTUNE_OK)
        status = choose_entry(search, tuning, problem_given, out, err);
    shmt_tuning_free(tuning);
    return status;
}
