/* SPDX-License-Identifier: MIT */
/*
 * measure: a first pass over the configurations that may run at a size, what
 * is expected to be the fastest first, and without those that were far behind
 * at the sizes around it or that the best of a few others do without; and
 * further passes, interleaved and each in another order, over those that are
 * near the fastest.  Called by command/.
 */
#include "learn/measure.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn/portfolio.h"
#include "tune/tune.h"

enum {
    FIRST_SAMPLES = 3, MORE_SAMPLES = 5,   /* at most, of a pass */
    PASSES = 2, PASSES_THOROUGH = 5,   /* of those that are near the fastest, */
    NEAR = 8,                   /* at most so many of them */
    AROUND = 5, LEAST_AROUND = 3,
    ALL_FIRST = 12, ALL_EACH = 24,   /* at so many sizes at the beginning, and
                                   at one of so many, nothing is left out */
    OTHERS = 16,                /* beside the portfolio, one of so many */
    LEAST_KNOWN = 10            /* sizes that tell how long others take */
};
static const double pass_us = 4000;   /* what samples of a pass may take */
static const double near_factor = 1.06;
static const double behind_factor = 1.35;
static const double give_up_factor = 1.6;

/* What a compile worker made. */
struct shmt_learn_binary {
    char key[SHMT_DIGEST_TEXT];
    struct shmt_result result;
};

/* A size that is being measured. */
struct visit {
    struct shmt_learn_run *run;
    struct shmt_learn_size *size;
    struct shmt_journal_writer *journal;
    double since_s, before_s;   /* the clock, and what earlier runs took */
    bool wanted[SHMT_LEARN_CONFIGS];
    const struct shmt_result *compiled[SHMT_LEARN_CONFIGS];
    struct shmt_result own[SHMT_LEARN_CONFIGS];
};

static double now_of(const struct visit *visit)
{
    struct shmt_target *const target = visit->run->target;

    return visit->before_s + target->operations->now(target) -
           visit->since_s;
}

static void tell(const struct shmt_learn_run *run, const char *text)
{
    if (run->notice != NULL)
        run->notice(run->context, text);
}

static bool is_stopped(const struct shmt_learn_run *run)
{
    return run->stop != NULL && *run->stop != 0;
}

/* -- journals ------------------------------------------------------------- */

static void keep_result(struct shmt_learn_cell *cell,
                        const struct shmt_result *result)
{
    if (result->verdict != SHMT_VERDICT_OK &&
        result->verdict != SHMT_VERDICT_SLOW) {
        cell->failed = true;
        return;
    }
    shmt_learn_keep(cell, result->samples_us, (size_t)result->sample_count);
}

/* The samples of a journal, and the time that it took. */
static enum shmtune_status take_journal(struct shmt_learn_run *run,
                                        const struct shmt_journal *journal,
                                        double *took_s,
                                        struct shmt_error *err)
{
    struct shmt_learn_size *const size =
        shmt_learn_table_size(run->table, journal->header.problem);

    *took_s = 0;
    if (size == NULL)
        return shmt_error_memory(err);
    shmt_learn_table_forget(run->table, size);
    for (size_t k = 0; k < journal->count; k++) {
        const struct shmt_journal_record *const record = &journal->records[k];
        size_t config;

        if (record->kind != SHMT_JOURNAL_RESULT)
            continue;
        *took_s = fmax(*took_s, record->at_s);
        if (!shmt_learn_table_config(run->table, record->config, &config))
            return shmt_error_memory(err);
        if (config < run->table->config_count)
            keep_result(&size->cells[config], record->result);
    }
    return SHMTUNE_OK;
}

/* A journal is called .part until its size is done. */
static bool journal_path(const struct shmt_learn_run *run,
                         const int64_t *problem, bool done,
                         struct shmt_text *path)
{
    shmt_text_addf(path, "%s/", run->folder);
    shmt_recording_problem_slug(run->table->kernel, problem, path);
    shmt_text_add(path, ".journal");
    if (!done)
        shmt_text_add(path, ".part");
    return !path->failed;
}

static void fill_header(const struct shmt_learn_run *run,
                        const int64_t *problem,
                        struct shmt_journal_header *out)
{
    const struct shmt_target *const target = run->target;
    const struct shmt_kernel *const kernel = run->table->kernel;

    *out = (struct shmt_journal_header){
        .device = target->device, .nvrtc_version = target->nvrtc_version,
        .seed = run->seed, .data_seed = target->data_seed,
        .space_count = run->table->config_count};
    snprintf(out->kernel, sizeof out->kernel, "%s", kernel->name);
    memcpy(out->digest, kernel->digest, sizeof out->digest);
    snprintf(out->protocol, sizeof out->protocol, "%s", target->protocol);
    if (target->data_digest != NULL)
        snprintf(out->data_digest, sizeof out->data_digest, "%s",
                 target->data_digest);
    memcpy(out->problem, problem,
           kernel->dimension_count * sizeof *problem);
}

/* NULL: what a journal holds counts in this run. */
static const char *difference(const struct shmt_learn_run *run,
                              const struct shmt_journal_header *old)
{
    struct shmt_journal_header now;

    fill_header(run, old->problem, &now);
    return shmt_journal_difference(old, &now);
}

/* A journal of another run's kind, where there is one. */
static enum shmtune_status keep_as_old(const char *path,
                                       struct shmt_error *err)
{
    struct shmt_text old = {0};
    const enum shmtune_status status = shmt_path_put_away(path, &old, err);

    shmt_text_free(&old);
    return status == SHMTUNE_NOT_FOUND ? SHMTUNE_OK : status;
}

/* Continues the journal of the size where it is of this run's kind; another
 * one is kept as .old. */
static enum shmtune_status open_at(struct visit *visit, const char *path,
                                   struct shmt_error *err)
{
    struct shmt_learn_run *const run = visit->run;
    struct shmt_journal_header header;
    struct shmt_journal *journal = NULL;
    enum shmtune_status status =
        shmt_journal_read(path, run->table->kernel, &journal, err);
    const bool goes_on =
        status == SHMTUNE_OK && difference(run, &journal->header) == NULL;

    if (status == SHMTUNE_NO_MEMORY || status == SHMTUNE_STORAGE)
        return status;
    if (goes_on)
        status = take_journal(run, journal, &visit->before_s, err);
    else
        status = keep_as_old(path, err);
    if (status == SHMTUNE_OK)
        status = shmt_journal_open(path, run->table->kernel, &visit->journal,
                                   err);
    fill_header(run, visit->size->problem, &header);
    if (status == SHMTUNE_OK)
        status = goes_on ? shmt_journal_continue(visit->journal,
                                                 journal->whole_bytes, err)
                         : shmt_journal_begin(visit->journal, &header, err);
    shmt_journal_free(journal);
    return status;
}

static enum shmtune_status open_journal(struct visit *visit,
                                        struct shmt_error *err)
{
    struct shmt_text path = {0};
    enum shmtune_status status =
        journal_path(visit->run, visit->size->problem, false, &path)
            ? open_at(visit, shmt_text_string(&path), err)
            : shmt_error_memory(err);

    shmt_text_free(&path);
    return status;
}

/* What has its name is none of this run, else its size would not have been
 * measured. */
static enum shmtune_status finish_journal(const struct visit *visit,
                                          struct shmt_error *err)
{
    struct shmt_text from = {0}, to = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (!journal_path(visit->run, visit->size->problem, false, &from) ||
        !journal_path(visit->run, visit->size->problem, true, &to))
        status = shmt_error_memory(err);
    else
        status = keep_as_old(shmt_text_string(&to), err);
    if (status == SHMTUNE_OK &&
        rename(shmt_text_string(&from), shmt_text_string(&to)) != 0)
        status = shmt_error_system(err, shmt_text_string(&to),
                                   "cannot rename the journal");
    shmt_text_free(&from);
    shmt_text_free(&to);
    return status;
}

static int is_journal(const struct dirent *entry)
{
    return shmt_text_ends(entry->d_name, ".journal");
}

/* Those that were read and do not count here. */
struct others {
    size_t count;
    const char *why;            /* of the last */
};

static void tell_others(const struct shmt_learn_run *run,
                        const struct others *others)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s: %zu journal%s left out: %s; a size that is "
                   "measured again keeps its old one as .old", run->folder,
                   others->count, others->count == 1 ? " is" : "s are",
                   others->why);
    tell(run, shmt_text_string(&text));
    shmt_text_free(&text);
}

static enum shmtune_status read_one(struct shmt_learn_run *run,
                                    const char *path, struct others *others,
                                    double *spent_s, struct shmt_error *err)
{
    struct shmt_journal *journal = NULL;
    struct shmt_error why;
    struct shmt_learn_size *size;
    const char *differs;
    double took_s = 0;
    enum shmtune_status status =
        shmt_journal_read(path, run->table->kernel, &journal, &why);

    if (status == SHMTUNE_NO_MEMORY)
        return shmt_error_memory(err);
    if (status != SHMTUNE_OK) {
        if (!run->has_read)
            tell(run, why.text);
        return SHMTUNE_OK;
    }
    differs = difference(run, &journal->header);
    if (differs != NULL) {
        *others = (struct others){others->count + 1, differs};
    } else {
        status = take_journal(run, journal, &took_s, err);
        *spent_s += took_s;
    }
    if (status == SHMTUNE_OK && differs == NULL) {
        size = shmt_learn_table_size(run->table, journal->header.problem);
        size->done = true;
        size->took_s = took_s;
    }
    shmt_journal_free(journal);
    return status;
}

enum shmtune_status shmt_learn_read(struct shmt_learn_run *run,
                                    double *spent_s, struct shmt_error *err)
{
    struct dirent **entries = NULL;
    const int count = scandir(run->folder, &entries, is_journal, alphasort);
    struct others others = {0};
    enum shmtune_status status = SHMTUNE_OK;

    *spent_s = 0;
    if (count < 0)
        return errno == ENOMEM ? shmt_error_memory(err) : SHMTUNE_OK;
    for (int k = 0; k < count; k++) {
        struct shmt_text path = {0};

        shmt_text_addf(&path, "%s/%s", run->folder, entries[k]->d_name);
        free(entries[k]);
        if (status == SHMTUNE_OK)
            status = path.failed ? shmt_error_memory(err)
                                 : read_one(run, shmt_text_string(&path),
                                            &others, spent_s, err);
        shmt_text_free(&path);
    }
    free(entries);
    if (others.count > 0 && !run->has_read)
        tell_others(run, &others);
    run->has_read = true;
    return status;
}

/* -- what to measure ------------------------------------------------------ */

/* How many times the best time it takes, by the sizes around: the least there;
 * 0 where too few say anything. */
static double expected(const struct visit *visit, size_t config,
                       const struct shmt_learn_size *const *around,
                       size_t count)
{
    double least = INFINITY;
    size_t known = 0;

    for (size_t k = 0; k < count; k++) {
        const double time = shmt_learn_time(&around[k]->cells[config]);

        if (!isfinite(time))
            continue;
        known++;
        least = fmin(least,
                     time / shmt_learn_best(visit->run->table, around[k]));
    }
    return known < LEAST_AROUND ? 0 : least;
}

/* Whether it may run here; says in `own` what is known before compiling. */
static bool may_run(struct visit *visit, size_t k)
{
    const struct shmt_learn_table *const table = visit->run->table;
    const struct shmt_filter filter = {
        .kernel = table->kernel, .device = &visit->run->target->device,
        .problem = visit->size->problem, .policy = {-1, -1, NULL}};

    return shmt_learn_may_run(table, visit->size->problem, k) &&
           shmt_filter_before_compile(&filter, table->configs[k],
                                      &visit->own[k]);
}

/* The portfolio by all sizes that are done; false: there is no memory. */
static bool mark_portfolio(const struct visit *visit, bool *chosen)
{
    const struct shmt_learn_table *const table = visit->run->table;
    const struct shmt_learn_size **const sizes =
        calloc(table->size_count + 1, sizeof *sizes);
    size_t list[SHMT_LEARN_PORTFOLIO], count = 0, n = 0;
    bool done;

    for (size_t k = 0; sizes != NULL && k < table->size_count; k++)
        if (table->sizes[k].done &&
            isfinite(shmt_learn_best(table, &table->sizes[k])))
            sizes[n++] = &table->sizes[k];
    done = sizes != NULL &&
           shmt_learn_portfolio(table, sizes, n, SHMT_LEARN_PORTFOLIO, list,
                                &count);
    for (size_t k = 0; k < count; k++)
        chosen[list[k]] = true;
    free(sizes);
    return done;
}

/* Everything at the first sizes, and at some later ones; else the portfolio
 * and a few others, without what is far behind around. */
static enum shmtune_status choose_wanted(struct visit *visit, size_t first,
                                         struct shmt_error *err)
{
    const struct shmt_learn_size *around[AROUND];
    const size_t count = shmt_learn_around(
        visit->run->table, visit->size->problem, AROUND, around);
    struct shmt_learn_run *const run = visit->run;
    const bool all = run->thorough || count < AROUND ||
                     run->table->size_count <= ALL_FIRST ||
                     run->begun % ALL_EACH == ALL_EACH - 1;
    bool chosen[SHMT_LEARN_CONFIGS] = {false};

    if (!all && !mark_portfolio(visit, chosen))
        return shmt_error_memory(err);
    for (size_t k = 0; k < run->table->config_count; k++) {
        struct shmt_learn_cell *const cell = &visit->size->cells[k];
        const bool tried =
            chosen[k] || shmt_random_below(&run->random, OTHERS) == 0;

        if (!may_run(visit, k))
            cell->failed = true;
        visit->wanted[k] =
            !cell->failed &&
            (all || k == first || cell->count > 0 ||
             (tried && expected(visit, k, around, count) < behind_factor));
    }
    return SHMTUNE_OK;
}

/* -- binaries ------------------------------------------------------------- */

static enum shmtune_status key_of(const struct visit *visit, size_t k,
                                  char key[SHMT_DIGEST_TEXT],
                                  struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;

    shmt_kernel_evaluate(visit->run->table->kernel, visit->size->problem,
                         visit->run->table->configs[k], &evaluated);
    return shmt_kernel_binary_key(&evaluated, key) == SHMTUNE_OK
               ? SHMTUNE_OK : shmt_error_memory(err);
}

static const struct shmt_result *find_binary(const struct shmt_learn_run *run,
                                             const char *key)
{
    for (size_t k = 0; k < run->binary_count; k++)
        if (strcmp(run->binaries[k].key, key) == 0)
            return &run->binaries[k].result;
    return NULL;
}

static enum shmtune_status await(struct visit *visit,
                                 struct shmt_target_reply *reply,
                                 struct shmt_error *err)
{
    struct shmt_target *const target = visit->run->target;
    enum shmtune_status status = SHMTUNE_OK;
    bool got = false;

    while (status == SHMTUNE_OK && !got) {
        if (is_stopped(visit->run))
            return shmt_error_set(err, SHMTUNE_INTERRUPTED, "interrupted");
        status = target->operations->wait(target, 0.2, &got, reply, err);
    }
    return status;
}

/* Takes the reply to a compile: its key is that of the tag's. */
static enum shmtune_status take_binary(struct visit *visit,
                                       struct shmt_error *err)
{
    struct shmt_learn_run *const run = visit->run;
    struct shmt_target_reply reply;
    enum shmtune_status status = await(visit, &reply, err);
    struct shmt_learn_binary *made;

    if (status != SHMTUNE_OK)
        return status;
    if (!shmt_array_reserve(&run->binaries, &run->binary_room,
                            run->binary_count + 1, sizeof *run->binaries))
        return shmt_error_memory(err);
    made = &run->binaries[run->binary_count];
    status = key_of(visit, (size_t)reply.tag, made->key, err);
    if (status == SHMTUNE_OK) {
        made->result = reply.result;
        run->binary_count++;
    }
    return status;
}

/* Compiles what is wanted and has no binary yet, each binary once. */
static enum shmtune_status compile(struct visit *visit, struct shmt_error *err)
{
    struct shmt_target *const target = visit->run->target;
    const struct shmt_learn_table *const table = visit->run->table;
    char (*const asked)[SHMT_DIGEST_TEXT] =
        calloc(table->config_count + 1, sizeof *asked);
    size_t count = 0, taken = 0;
    enum shmtune_status status =
        asked == NULL ? shmt_error_memory(err) : SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < table->config_count; k++) {
        const struct shmt_target_request one = {
            .verb = SHMT_TARGET_INSPECT, .tag = k,
            .config = table->configs[k]};
        size_t same = 0;

        if (!visit->wanted[k])
            continue;
        status = key_of(visit, k, asked[count], err);
        while (same < count && strcmp(asked[same], asked[count]) != 0)
            same++;
        if (status != SHMTUNE_OK || same < count ||
            find_binary(visit->run, asked[count]) != NULL)
            continue;
        status = target->operations->submit(target, &one, err);
        count++;
        if (count - taken == SHMT_TARGET_REQUESTS / 2 &&
            status == SHMTUNE_OK) {
            status = take_binary(visit, err);
            taken++;
        }
    }
    for (; status == SHMTUNE_OK && taken < count; taken++)
        status = take_binary(visit, err);
    free(asked);
    return status;
}

/* Finds the binary of every wanted configuration; those that do not compile,
 * or do not fit, fail. */
static enum shmtune_status find_binaries(struct visit *visit,
                                         struct shmt_error *err)
{
    const struct shmt_learn_table *const table = visit->run->table;
    const struct shmt_filter filter = {
        .kernel = table->kernel, .device = &visit->run->target->device,
        .problem = visit->size->problem, .policy = {-1, -1, NULL}};
    enum shmtune_status status = compile(visit, err);
    char key[SHMT_DIGEST_TEXT];

    for (size_t k = 0; status == SHMTUNE_OK && k < table->config_count; k++) {
        const struct shmt_result *found;

        if (!visit->wanted[k])
            continue;
        status = key_of(visit, k, key, err);
        found = find_binary(visit->run, key);
        if (status != SHMTUNE_OK || found == NULL)
            continue;
        visit->own[k] = *found;
        if (visit->own[k].verdict == SHMT_VERDICT_OK)
            shmt_filter_after_compile(&filter, table->configs[k],
                                      &visit->own[k]);
        if (visit->own[k].verdict != SHMT_VERDICT_OK) {
            visit->size->cells[k].failed = true;
            visit->wanted[k] = false;
        }
    }
    return status;
}

/* -- measuring ------------------------------------------------------------ */

static enum shmtune_status measure(struct visit *visit, size_t k, int samples,
                                   double best_us, struct shmt_error *err)
{
    struct shmt_target *const target = visit->run->target;
    struct shmt_learn_cell *const cell = &visit->size->cells[k];
    const struct shmt_target_request one = {
        .verb = SHMT_TARGET_MEASURE, .tag = k,
        .config = visit->run->table->configs[k], .compiled = &visit->own[k],
        .samples = samples, .give_up_us = give_up_factor * best_us,
        .verify = cell->count == 0};
    struct shmt_target_reply reply;
    struct shmt_journal_record record = {
        .kind = SHMT_JOURNAL_RESULT, .config = one.config};
    enum shmtune_status status =
        target->operations->submit(target, &one, err);

    if (status == SHMTUNE_OK)
        status = await(visit, &reply, err);
    if (status != SHMTUNE_OK)
        return status;
    keep_result(cell, &reply.result);
    record.at_s = now_of(visit);
    record.result = &reply.result;
    return shmt_journal_add(visit->journal, &record, err);
}

/* Long launches need few samples. */
static int samples_of(const struct visit *visit, int most)
{
    const double best = shmt_learn_best(visit->run->table, visit->size);

    return !isfinite(best) || pass_us >= most * best ? most
           : pass_us > best ? (int)(pass_us / best) : 1;
}

/* In the order in which they are expected to be the fastest; at random where
 * nothing is known. */
static size_t order_of(struct visit *visit, size_t first, size_t *order)
{
    const struct shmt_learn_size *around[AROUND];
    const size_t around_count = shmt_learn_around(
        visit->run->table, visit->size->problem, AROUND, around);
    double rank[SHMT_LEARN_CONFIGS];
    size_t count = 0;

    for (size_t k = 0; k < visit->run->table->config_count; k++) {
        double own = expected(visit, k, around, around_count);
        size_t at = count;

        if (!visit->wanted[k])
            continue;
        own = k == first ? 0
              : own > 0 ? own : 9 + shmt_random_unit(&visit->run->random);
        for (; at > 0 && rank[at - 1] > own; at--) {
            rank[at] = rank[at - 1];
            order[at] = order[at - 1];
        }
        rank[at] = own;
        order[at] = k;
        count++;
    }
    return count;
}

static enum shmtune_status first_pass(struct visit *visit, size_t first,
                                      struct shmt_error *err)
{
    size_t order[SHMT_LEARN_CONFIGS];
    const size_t count = order_of(visit, first, order);
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t n = 0; status == SHMTUNE_OK && n < count; n++) {
        const struct shmt_learn_cell *const cell =
            &visit->size->cells[order[n]];

        if (cell->count == 0 && !cell->failed)
            status = measure(visit, order[n],
                             samples_of(visit, FIRST_SAMPLES),
                             shmt_learn_best(visit->run->table, visit->size),
                             err);
    }
    return status;
}

/* Those near the fastest, and `first`; fastest first, at most NEAR. */
static size_t near_ones(const struct visit *visit, size_t first, size_t *out)
{
    const struct shmt_learn_table *const table = visit->run->table;
    const double best = shmt_learn_best(table, visit->size);
    size_t count = 0;

    for (size_t k = 0; k < table->config_count; k++) {
        const double time = shmt_learn_time(&visit->size->cells[k]);
        size_t at = count;

        if (!visit->wanted[k] ||
            !(time <= near_factor * best || (k == first && isfinite(time))))
            continue;
        while (at > 0 && k != first &&
               shmt_learn_time(&visit->size->cells[out[at - 1]]) > time &&
               out[at - 1] != first)
            at--;
        if (k == first)
            at = 0;
        if (at == NEAR)
            continue;
        count += count < NEAR;
        memmove(out + at + 1, out + at, (count - at - 1) * sizeof *out);
        out[at] = k;
    }
    return count;
}

static enum shmtune_status more_passes(struct visit *visit, size_t first,
                                       struct shmt_error *err)
{
    size_t chosen[NEAR + 1];
    const size_t count = near_ones(visit, first, chosen);
    const size_t passes = visit->run->thorough ? PASSES_THOROUGH : PASSES;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t pass = 1; count > 1 && pass < passes; pass++) {
        for (size_t k = count - 1; k > 0; k--) {
            const size_t other =
                (size_t)shmt_random_below(&visit->run->random, k + 1);
            const size_t one = chosen[k];

            chosen[k] = chosen[other];
            chosen[other] = one;
        }
        for (size_t n = 0; status == SHMTUNE_OK && n < count; n++) {
            const struct shmt_learn_cell *const cell =
                &visit->size->cells[chosen[n]];

            if (cell->passes <= pass && !cell->failed)
                status = measure(visit, chosen[n],
                                 samples_of(visit, MORE_SAMPLES), INFINITY,
                                 err);
        }
    }
    return status;
}

/* A size may be too large, or its reference may not run: then nothing is
 * learnt from it. */
static bool is_only_here(enum shmtune_status status)
{
    return status == SHMTUNE_WRONG_RESULT || status == SHMTUNE_CUDA ||
           status == SHMTUNE_NO_MEMORY;
}

static enum shmtune_status visit_size(struct visit *visit, size_t first,
                                      struct shmt_error *err)
{
    struct shmt_target *const target = visit->run->target;
    enum shmtune_status status =
        target->operations->begin(target, visit->size->problem, err);

    if (status == SHMTUNE_OK)
        status = choose_wanted(visit, first, err);
    if (status == SHMTUNE_OK)
        status = find_binaries(visit, err);
    if (status == SHMTUNE_OK)
        status = first_pass(visit, first, err);
    if (status == SHMTUNE_OK)
        status = more_passes(visit, first, err);
    return status;
}

static void begin_random(struct shmt_learn_run *run)
{
    if (!run->drawing)
        shmt_random_seed(&run->random, run->seed);
    run->drawing = true;
}

bool shmt_learn_is_worth(struct shmt_learn_run *run, const int64_t *problem)
{
    const struct shmt_learn_size *around[AROUND];
    const size_t count =
        shmt_learn_around(run->table, problem, AROUND, around);
    double near_s = 0, unit;

    for (size_t k = 0; k < count; k++)
        near_s += around[k]->took_s / (double)count;
    begin_random(run);
    unit = shmt_random_unit(&run->random);
    return unit * unit * near_s <=
           shmt_learn_typical_s(run->table, LEAST_KNOWN);
}

enum shmtune_status shmt_learn_measure(struct shmt_learn_run *run,
                                       const int64_t *problem, size_t first,
                                       double *took_s, struct shmt_error *err)
{
    struct visit *const visit = calloc(1, sizeof *visit);
    struct shmt_error why;
    enum shmtune_status status, closed;
    bool later = false;         /* the next run may have the memory */

    *took_s = 0;
    if (visit == NULL)
        return shmt_error_memory(err);
    begin_random(run);
    visit->run = run;
    visit->since_s = run->target->operations->now(run->target);
    visit->size = shmt_learn_table_size(run->table, problem);
    status = visit->size == NULL ? shmt_error_memory(err)
                                 : open_journal(visit, err);
    if (status == SHMTUNE_OK) {
        status = visit_size(visit, first, &why);
        if (is_only_here(status)) {
            later = status != SHMTUNE_WRONG_RESULT;
            tell(run, why.text);
            run->target->operations->cancel(run->target);
            status = SHMTUNE_OK;
        } else if (status != SHMTUNE_OK) {
            shmt_error_set(err, status, "%s", why.text);
        }
        visit->size->done = status == SHMTUNE_OK;
        visit->size->took_s = now_of(visit);
        run->begun++;
        *took_s = now_of(visit) - visit->before_s;
    }
    closed = shmt_journal_close(visit->journal,
                                status == SHMTUNE_OK ? err : NULL);
    if (status == SHMTUNE_OK)
        status = closed;
    if (status == SHMTUNE_OK && !later)
        status = finish_journal(visit, err);
    free(visit);
    return status;
}

void shmt_learn_run_end(struct shmt_learn_run *run)
{
    free(run->binaries);
    run->binaries = NULL;
    run->binary_count = run->binary_room = 0;
}
