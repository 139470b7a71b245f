/* SPDX-License-Identifier: MIT */
/*
 * prior: reads the files of --from, each as one source of examples.  Called by
 * command/tune.c and command/score.c.
 */
#include "tune/prior.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/record.h"

/* A winner of a problem that is so far away, in doublings of a size, is
 * expected to be that much slower than the winner. */
static const double COST_OF_DOUBLING = 0.05;

struct entry {
    double ratio;            /* over the best of its problem, or what it took;
                                INFINITY: it failed */
    const int64_t *problem;  /* NULL: of a source of one problem, or of other
                                dimensions */
};

struct shmt_tune_prior {
    const struct shmt_kernel *kernel;
    struct shmt_arena *arena;
    size_t count, room, entry_room;
    struct shmt_search_example *examples;
    struct entry *entries;   /* [count] */
    struct shmt_tune_source sources[SHMT_SEARCH_SOURCES];
    struct shmt_search_prior view;
};

enum shmtune_status shmt_tune_prior_new(const struct shmt_kernel *kernel,
                                        struct shmt_tune_prior **out,
                                        struct shmt_error *err)
{
    struct shmt_tune_prior *const prior = calloc(1, sizeof *prior);

    if (prior == NULL)
        return shmt_error_memory(err);
    prior->kernel = kernel;
    prior->arena = shmt_arena_new();
    if (prior->arena == NULL) {
        free(prior);
        return shmt_error_memory(err);
    }
    *out = prior;
    return SHMTUNE_OK;
}

void shmt_tune_prior_free(struct shmt_tune_prior *prior)
{
    if (prior == NULL)
        return;
    shmt_arena_free(prior->arena);
    free(prior->examples);
    free(prior->entries);
    free(prior);
}

static struct shmt_tune_source *source_of(struct shmt_tune_prior *prior)
{
    return &prior->sources[prior->view.source_count];
}

/* `config` and `problem` must live as long as the prior. */
static bool put(struct shmt_tune_prior *prior, const shmt_config *config,
                double ratio, const int64_t *problem)
{
    const size_t k = prior->count;

    if (!shmt_array_reserve(&prior->examples, &prior->room, k + 1,
                            sizeof *prior->examples) ||
        !shmt_array_reserve(&prior->entries, &prior->entry_room, k + 1,
                            sizeof *prior->entries))
        return false;
    prior->examples[k] = (struct shmt_search_example){
        .source = prior->view.source_count, .cost = ratio, .config = config};
    prior->entries[k] = (struct entry){ratio, problem};
    prior->count++;
    source_of(prior)->count++;
    return true;
}

/* -- journals and recordings ---------------------------------------------- */

static enum shmtune_status take_records(struct shmt_tune_prior *prior,
                                        const struct shmt_journal *journal,
                                        struct shmt_error *err)
{
    bool *const latest = calloc(journal->count + 1, sizeof *latest);
    const size_t width = prior->kernel->parameter_count;
    enum shmtune_status status =
        latest == NULL ? shmt_error_memory(err)
                       : shmt_journal_latest(prior->kernel, journal, latest,
                                             err);

    for (size_t k = 0; status == SHMTUNE_OK && k < journal->count; k++) {
        const struct shmt_journal_record *const record = &journal->records[k];
        const shmt_config *config;

        if (!latest[k] ||
            record->result->verdict == SHMT_VERDICT_NOT_RECORDED)
            continue;
        config = shmt_arena_copy(prior->arena, record->config,
                                 width * sizeof *config);
        if (config == NULL ||
            !put(prior, config, shmt_ledger_cost(record->result), NULL))
            status = shmt_error_memory(err);
    }
    free(latest);
    return status;
}

static enum shmtune_status add_journal(struct shmt_tune_prior *prior,
                                       const char *path,
                                       struct shmt_error *err)
{
    struct shmt_tune_source *const source = source_of(prior);
    struct shmt_journal *journal = NULL;
    enum shmtune_status status = shmt_journal_read_some(
        path, prior->kernel, &source->left_out, &source->why, &journal, err);

    if (status != SHMTUNE_OK)
        return status;
    memcpy(source->device, journal->header.device.name,
           sizeof source->device);
    source->other_sources =
        strcmp(journal->header.digest, prior->kernel->digest) != 0;
    status = take_records(prior, journal, err);
    shmt_journal_free(journal);
    return status;
}

/* -- tunings -------------------------------------------------------------- */

static enum shmtune_status put_settings(struct shmt_tune_prior *prior,
                                        const struct shmt_tuned *tuned,
                                        const struct shmt_setting *settings,
                                        const int64_t *problem,
                                        struct shmt_error *err)
{
    struct shmt_tune_source *const source = source_of(prior);
    shmt_config *const config = shmt_arena_alloc(
        prior->arena, prior->kernel->parameter_count, sizeof *config);

    if (config == NULL)
        return shmt_error_memory(err);
    if (shmt_tuning_config(prior->kernel, settings, tuned->setting_count,
                           config, source->left_out == 0
                                       ? &source->why : NULL) != SHMTUNE_OK) {
        source->left_out++;
        return SHMTUNE_OK;
    }
    return put(prior, config, 1, problem) ? SHMTUNE_OK
                                          : shmt_error_memory(err);
}

/* Of other sources it is not known what their default was. */
static enum shmtune_status put_default(struct shmt_tune_prior *prior,
                                       const struct shmt_tuned *tuned,
                                       const int64_t *problem,
                                       struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = prior->kernel;
    shmt_config *const config = shmt_arena_alloc(
        prior->arena, kernel->parameter_count, sizeof *config);

    if (config == NULL)
        return shmt_error_memory(err);
    for (size_t p = 0; p < kernel->parameter_count; p++)
        config[p] = (shmt_config)kernel->parameters[p].default_value;
    if (source_of(prior)->other_sources ||
        !(tuned->default_us > tuned->result.time_us &&
          tuned->result.time_us > 0))
        return SHMTUNE_OK;
    return put(prior, config, tuned->default_us / tuned->result.time_us,
               problem)
               ? SHMTUNE_OK : shmt_error_memory(err);
}

/* The winner of a problem, those as good, and the default. */
static enum shmtune_status take_tuned(struct shmt_tune_prior *prior,
                                      const struct shmt_tuned *tuned,
                                      struct shmt_error *err)
{
    int64_t *problem = shmt_arena_alloc(
        prior->arena, SHMT_KERNEL_DIMENSIONS, sizeof *problem);
    enum shmtune_status status;

    if (problem == NULL)
        return shmt_error_memory(err);
    if (shmt_tuning_problem(prior->kernel, tuned, problem, NULL) !=
        SHMTUNE_OK)
        problem = NULL;
    status = put_settings(prior, tuned, tuned->settings, problem, err);
    for (size_t k = 1; status == SHMTUNE_OK && k < tuned->tie_count; k++)
        status = put_settings(prior, tuned, tuned->ties[k], problem, err);
    return status == SHMTUNE_OK ? put_default(prior, tuned, problem, err)
                                : status;
}

static enum shmtune_status add_tuning(struct shmt_tune_prior *prior,
                                      const char *path,
                                      struct shmt_error *err)
{
    struct shmt_tune_source *const source = source_of(prior);
    struct shmt_tuning *tuning = NULL;
    enum shmtune_status status = shmt_tuning_read(path, &tuning, err);

    if (status != SHMTUNE_OK)
        return status;
    if (strcmp(tuning->kernel, prior->kernel->name) != 0) {
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s: a tuning of %s, not of %s", path,
                                tuning->kernel, prior->kernel->name);
        shmt_tuning_free(tuning);
        return status;
    }
    source->winners = true;
    memcpy(source->device, tuning->device.name, sizeof source->device);
    source->other_sources =
        strcmp(tuning->digest, prior->kernel->digest) != 0;
    for (size_t k = 0; status == SHMTUNE_OK && k < tuning->tuned_count; k++)
        status = take_tuned(prior, tuning->tuned[k], err);
    shmt_tuning_free(tuning);
    return status;
}

/* -- files ---------------------------------------------------------------- */

static bool is_tuning(const char *path)
{
    return shmt_text_ends(path, ".yaml") || shmt_text_ends(path, ".yml");
}

static enum shmtune_status refuse_useless(const struct shmt_tune_prior *prior,
                                          const struct shmt_tune_source *source,
                                          struct shmt_error *err)
{
    if (source->left_out == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: nothing to learn from: found no result, "
                              "expected one or more; its run has to go on "
                              "first", source->path);
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s: nothing to learn from: %s has none of its %zu "
                          "configuration%s now, of the first: %s",
                          source->path, prior->kernel->name, source->left_out,
                          shmt_text_plural(source->left_out),
                          source->why.text);
}

/* With `may_be_idle` a file without any result adds nothing. */
static enum shmtune_status add_file(struct shmt_tune_prior *prior,
                                    const char *path, bool may_be_idle,
                                    struct shmt_error *err)
{
    const size_t before = prior->count;
    struct shmt_tune_source *const source = source_of(prior);
    enum shmtune_status status;

    if (prior->view.source_count == SHMT_SEARCH_SOURCES)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s: more than %d files to learn from: name "
                              "fewer; a tuning has the winners of all sizes",
                              path, SHMT_SEARCH_SOURCES);
    *source = (struct shmt_tune_source){
        .path = shmt_arena_copy(prior->arena, path, strlen(path))};
    if (source->path == NULL)
        return shmt_error_memory(err);
    status = is_tuning(path) ? add_tuning(prior, path, err)
                             : add_journal(prior, path, err);
    if (status == SHMTUNE_OK && source->count == 0) {
        if (may_be_idle && source->left_out == 0)
            return SHMTUNE_OK;
        status = refuse_useless(prior, source, err);
    }
    if (status == SHMTUNE_OK)
        prior->view.winners[prior->view.source_count++] = source->winners;
    else
        prior->count = before;
    return status;
}

/* The beginning of a file, as a text; false: it cannot be read. */
static bool read_head(const char *path, char *head, size_t room)
{
    size_t size;
    ssize_t got;
    int fd;

    if (shmt_path_open(path, &fd, &size, NULL) != SHMTUNE_OK)
        return false;
    got = shmt_path_read_part(fd, head, room - 1);
    close(fd);
    head[got > 0 ? got : 0] = '\0';
    return got >= 0;
}

/* Whether the file is a tuning; *own: of this kernel. */
static bool read_tuning(const struct shmt_tune_prior *prior, const char *path,
                        bool *own)
{
    struct shmt_tuning *tuning = NULL;

    if (shmt_tuning_read(path, &tuning, NULL) != SHMTUNE_OK)
        return false;
    *own = strcmp(tuning->kernel, prior->kernel->name) == 0;
    shmt_tuning_free(tuning);
    return true;
}

/* Whether a file of a folder is to be added: it is of this kernel, or cannot
 * be read, which adding it will tell.  A spec is left alone, and so is the
 * empty file of a run that has just begun. */
static bool is_wanted(const struct shmt_tune_prior *prior, const char *path)
{
    char name[80], head[4096];
    bool own;

    if (shmt_text_ends(path, ".journal") || shmt_text_ends(path, ".journal.gz"))
        return shmt_journal_read_kernel_name(path, name, NULL) == SHMTUNE_OK
                   ? strcmp(name, prior->kernel->name) == 0
                   : !read_head(path, head, sizeof head) || head[0] != '\0';
    if (!is_tuning(path))
        return false;
    if (read_tuning(prior, path, &own))
        return own;
    return !read_head(path, head, sizeof head) ||
           strstr(head, "format: tuning/") != NULL;
}

static bool is_of_another(const struct shmt_tune_prior *prior,
                          const char *path)
{
    char name[80];
    bool own;

    if (shmt_journal_read_kernel_name(path, name, NULL) == SHMTUNE_OK)
        return strcmp(name, prior->kernel->name) != 0;
    return read_tuning(prior, path, &own) && !own;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The files of one folder in the order of their names. */
static enum shmtune_status add_folder(struct shmt_tune_prior *prior,
                                      const char *folder,
                                      struct shmt_error *err)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, NULL, compare_names);
    enum shmtune_status status = SHMTUNE_OK;

    if (count < 0)
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s: cannot list: %s",
                              folder, strerror(errno));
    for (int k = 0; k < count; k++) {
        char path[4096];
        const int length = snprintf(path, sizeof path, "%s/%s", folder,
                                    names[k]->d_name);

        if (status == SHMTUNE_OK && length > 0 &&
            (size_t)length < sizeof path && !shmt_path_is_folder(path) &&
            is_wanted(prior, path))
            status = add_file(prior, path, true, err);
        free(names[k]);
    }
    free(names);
    return status;
}

enum shmtune_status shmt_tune_prior_add(struct shmt_tune_prior *prior,
                                        const char *path, bool several,
                                        struct shmt_error *err)
{
    static const char *const places[] = {"", "tunings/"};
    const size_t before = prior->view.source_count;
    enum shmtune_status status;

    if (!shmt_path_is_folder(path))
        return several && is_of_another(prior, path)
                   ? SHMTUNE_OK : add_file(prior, path, false, err);
    status = add_folder(prior, path, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < 2; k++) {
        char inner[4096];
        const int length = snprintf(inner, sizeof inner, "%s/%s%s", path,
                                    places[k], prior->kernel->name);

        if (length > 0 && (size_t)length < sizeof inner &&
            shmt_path_is_folder(inner))
            status = add_folder(prior, inner, err);
    }
    if (status == SHMTUNE_OK && prior->view.source_count == before && !several)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s: no tuning, journal or recording of %s "
                                "in this folder, nor in %s or tunings/%s of "
                                "it", path, prior->kernel->name,
                                prior->kernel->name, prior->kernel->name);
    return status;
}

size_t shmt_tune_prior_sources(const struct shmt_tune_prior *prior)
{
    return prior->view.source_count;
}

const struct shmt_tune_source *
shmt_tune_prior_source(const struct shmt_tune_prior *prior, size_t k)
{
    return &prior->sources[k];
}

static void digest_examples(const struct shmt_tune_prior *prior,
                            char digest[SHMT_DIGEST_TEXT])
{
    const struct shmt_kernel *const kernel = prior->kernel;
    struct shmt_digest sum;

    shmt_digest_begin(&sum);
    shmt_digest_add(&sum, prior->view.winners,
                    prior->view.source_count * sizeof *prior->view.winners);
    for (size_t k = 0; k < prior->count; k++) {
        const struct entry *const entry = &prior->entries[k];
        const struct shmt_search_example *const example = &prior->examples[k];

        shmt_digest_add(&sum, &example->source, sizeof example->source);
        shmt_digest_add(&sum, &entry->ratio, sizeof entry->ratio);
        if (entry->problem != NULL)
            shmt_digest_add(&sum, entry->problem, kernel->dimension_count *
                                                  sizeof *entry->problem);
        shmt_digest_add(&sum, example->config, kernel->parameter_count *
                                               sizeof *example->config);
    }
    shmt_digest_end(&sum, digest);
}

enum shmtune_status
shmt_tune_prior_describe(const struct shmt_tune_prior *prior,
                         char names[SHMT_JOURNAL_FROM],
                         char digest[SHMT_DIGEST_TEXT],
                         struct shmt_error *err)
{
    enum { MORE = 24 };
    const size_t count = prior->view.source_count;
    struct shmt_text all = {0}, one = {0};
    enum shmtune_status status;

    for (size_t k = 0; k < count; k++) {
        const struct shmt_tune_source *const source = &prior->sources[k];
        const char *const slash = strrchr(source->path, '/');

        shmt_text_clear(&one);
        shmt_text_add(&one, k == 0 ? "" : ", ");
        shmt_text_add_visible(&one, slash == NULL ? source->path : slash + 1);
        shmt_text_add(&one, " (");
        shmt_text_add_visible(&one, source->device);
        shmt_text_add(&one, ")");
        if (all.length + one.length + MORE > SHMT_JOURNAL_FROM) {
            shmt_text_addf(&all, "%s%zu more", k == 0 ? "" : " and ",
                           count - k);
            break;
        }
        shmt_text_add(&all, shmt_text_string(&one));
    }
    snprintf(names, SHMT_JOURNAL_FROM, "%s", shmt_text_string(&all));
    digest_examples(prior, digest);
    status = all.failed || one.failed ? shmt_error_memory(err) : SHMTUNE_OK;
    shmt_text_free(&one);
    shmt_text_free(&all);
    return status;
}

/* In doublings, over all dimensions. */
static double distance(const struct shmt_kernel *kernel, const int64_t *a,
                       const int64_t *b)
{
    double sum = 0;

    for (size_t d = 0; d < kernel->dimension_count; d++)
        sum += fabs(log2(fmax(1, (double)a[d])) - log2(fmax(1, (double)b[d])));
    return sum;
}

const struct shmt_search_prior *
shmt_tune_prior_of(struct shmt_tune_prior *prior, const int64_t *problem)
{
    for (size_t k = 0; k < prior->count; k++)
        prior->examples[k].cost =
            prior->entries[k].ratio *
            (prior->entries[k].problem == NULL
                 ? 1
                 : exp(COST_OF_DOUBLING * distance(prior->kernel, problem,
                                                   prior->entries[k].problem)));
    prior->view.count = prior->count;
    prior->view.examples = prior->examples;
    return prior->count > 0 ? &prior->view : NULL;
}
