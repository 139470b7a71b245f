/* SPDX-License-Identifier: MIT */
/*
 * dispatch: the command `shmtune dispatch`: measures the tuned configurations
 * of a kernel at sizes between the tuned ones, learns which does best where,
 * and adds that to the tuning (learn/).  With --trial it measures at other
 * sizes, and says how good what the library chooses there is.
 */
#include "config.h"

#include "command/dispatch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/json.h"
#include "command/tune_budget.h"
#include "command/tune_device.h"
#include "runtime/runtime.h"
#include "tune/tune.h"

static const char help[] =
    "usage: shmtune dispatch [KERNEL | SPEC.yaml]... [--device N] "
    "[OPTION]...\n"
    "\n"
    "Learns which of the tuned configurations of a kernel does best at which\n"
    "sizes: measures them at sizes drawn from the range of the tuned ones and\n"
    "around it, and adds a small tree of comparisons to the tuning that\n"
    "`shmtune tune` has written. The library asks it where it has no exact\n"
    "match. It is kept only where it does better, on sizes held out, than\n"
    "the configuration of the nearest size, or than what was learnt from more\n"
    "sizes before. With no kernel: all that have a tuning of this device\n"
    "there. Interrupted or killed, the same command resumes; a larger\n"
    "--budget adds to what was measured.\n"
    "\n"
    "  -d, --device N       GPU number or UUID [0]\n"
    "  -o, --output DIR     where tunings are; measurements go beside them,\n"
    "                       DIR/KERNEL/DEVICE.dispatch/ [./tunings]\n"
    "  --budget 90s|200     time of measuring for each kernel, over all runs,\n"
    "                       or sizes [90s]\n"
    "  --seed N             draws the sizes [1]\n"
    "  --data-seed N        of the inputs [1]\n"
    "  -j, --jobs N         compile workers [processors]\n"
    "  --trial N            writes no tuning: measures all configurations at\n"
    "                       N sizes drawn by --seed and shows how much of the\n"
    "                       best time what the library chooses reaches\n"
    "  --also FILE          with --trial: a tuning of some of its sizes, to\n"
    "                       compare with\n"
    "  --json               results as JSON\n"
    "\n"
    "examples:\n"
    "  shmtune dispatch transpose\n"
    "  shmtune dispatch --budget 90s --device 0 --output tunings\n"
    "  shmtune dispatch transpose --trial 200 --seed 7\n";

struct options {
    const char *device, *output, *budget, *also;
    int64_t seed, data_seed, jobs, trial;
    bool json;
};

struct job {
    const struct shmt_command_call *call;
    struct options options;
    struct shmt_command_budget budget;
    struct shmt_arena *arena;
    struct shmt_command_device device;
    struct shmt_display display;
    json_t *results, *failures;
    bool named;                     /* the kernels of the command line */
    enum shmtune_status worst;
};

/* A kernel at work. */
struct work {
    struct job *job;
    const struct shmt_kernel *kernel;
    struct shmt_target *target;
    struct shmt_output_paths paths;
    struct shmt_tuning *tuning;
    size_t tuned_count;
    struct shmt_learn_draw draw;
    int64_t (*tuned)[SHMT_KERNEL_DIMENSIONS];
    struct shmt_learn_table table;
    struct shmt_learn_run run;
    struct shmt_scratch scratch;
    struct shmtune *library;        /* with this tuning alone */
    const struct shmtune_kernel *chooser;
    double spent_s;
};

static enum shmtune_status parse_options(struct job *job, int *rest,
                                         struct shmt_error *err)
{
    struct options *const o = &job->options;
    const struct shmt_command_option table[] = {
        {"device", 'd', SHMT_OPTION_TEXT, &o->device, 0, 0},
        {"output", 'o', SHMT_OPTION_PATH, &o->output, 0, 0},
        {"budget", 0, SHMT_OPTION_TEXT, &o->budget, 0, 0},
        {"seed", 0, SHMT_OPTION_INT, &o->seed, 0, INT64_MAX},
        {"data-seed", 0, SHMT_OPTION_INT, &o->data_seed, 0, INT64_MAX},
        {"jobs", 'j', SHMT_OPTION_INT, &o->jobs, 1, 1024},
        {"trial", 0, SHMT_OPTION_INT, &o->trial, 1, 4096},
        {"also", 0, SHMT_OPTION_TEXT, &o->also, 0, 0},
        {"json", 0, SHMT_OPTION_FLAG, &o->json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    enum shmtune_status status;

    *o = (struct options){.device = "0", .output = "./tunings",
                          .budget = "90s", .seed = SHMT_COMMAND_SEED,
                          .data_seed = SHMT_COMMAND_SEED};
    status = shmt_command_options(job->call, table, rest, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_budget_parse(o->budget, NULL, NULL,
                                           &job->budget, err);
    if (status == SHMTUNE_OK && o->also != NULL && o->trial == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--also is for --trial N");
    return status;
}

/* -- what is there -------------------------------------------------------- */

static enum shmtune_status refuse_untuned(const struct work *work,
                                          struct shmt_error *err)
{
    struct shmt_text remedy = {0};

    shmt_text_add(&remedy, "`shmtune tune ");
    shmt_text_add_word(&remedy, shmt_command_kernel_word(work->job->call,
                                                         work->kernel));
    shmt_text_add(&remedy, " -o ");
    shmt_text_add_word(&remedy, work->job->options.output);
    shmt_error_set(err, SHMTUNE_NOT_FOUND, "%s: there is no such tuning; %s` "
                   "makes it", work->paths.tuning, shmt_text_string(&remedy));
    shmt_text_free(&remedy);
    return SHMTUNE_NOT_FOUND;
}

static enum shmtune_status read_tuning(struct work *work,
                                       struct shmt_error *err)
{
    const char *const path = work->paths.tuning;
    enum shmtune_status status = shmt_tuning_read(path, &work->tuning, err);

    if (status == SHMTUNE_NOT_FOUND)
        return refuse_untuned(work, err);
    if (status != SHMTUNE_OK)
        return status;
    if (strcmp(work->tuning->digest, work->kernel->digest) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s: is stale: made "
                              "for sources with the digest %.12s..., today's "
                              "are %.12s...; tune again", path,
                              work->tuning->digest, work->kernel->digest);
    if (!shmt_device_equal(&work->tuning->device, &work->target->device))
        return shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s: is of the "
                              "device \"%s\", this one is \"%s\"; tune on "
                              "this one", path, work->tuning->device.name,
                              work->target->device.name);
    if (strcmp(work->tuning->protocol, work->target->protocol) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s: was measured as "
                              "\"%s\", this device measures as \"%s\"", path,
                              work->tuning->protocol, work->target->protocol);
    return SHMTUNE_OK;
}

static enum shmtune_status add_config(struct work *work,
                                      const struct shmt_setting *settings,
                                      size_t count, struct shmt_error *err)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    size_t unused;
    const enum shmtune_status status = shmt_tuning_config(
        work->kernel, settings, count, config, err);

    if (status != SHMTUNE_OK)
        return status;
    return shmt_learn_table_config(&work->table, config, &unused)
               ? SHMTUNE_OK : shmt_error_memory(err);
}

/* The winners, then the ties: were there too many, the winners stay. */
static enum shmtune_status add_configs(struct work *work,
                                       const struct shmt_tuning *tuning,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < tuning->tuned_count; k++)
        status = add_config(work, tuning->tuned[k]->settings,
                            tuning->tuned[k]->setting_count, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < tuning->tuned_count; k++) {
        const struct shmt_tuned *const tuned = tuning->tuned[k];

        for (size_t t = 0; status == SHMTUNE_OK && t < tuned->tie_count; t++)
            status = add_config(work, tuned->ties[t], tuned->setting_count,
                                err);
    }
    return status;
}

/* A part of the device's memory: buffers are there more than once. */
static int64_t memory_for(const struct shmtune_device *device)
{
    return device->memory_bytes > 0 ? (int64_t)(device->memory_bytes / 5)
                                    : INT64_C(2) << 30;
}

static enum shmtune_status read_problems(struct work *work,
                                         struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    work->tuned_count = work->tuning->tuned_count;
    work->tuned = shmt_arena_alloc(work->tuning->arena, work->tuned_count + 1,
                                   sizeof *work->tuned);
    if (work->tuned == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < work->tuned_count; k++)
        status = shmt_tuning_problem(work->kernel, work->tuning->tuned[k],
                                     work->tuned[k], err);
    shmt_learn_draw_begin(&work->draw, work->kernel,
                          (const int64_t (*)[SHMT_KERNEL_DIMENSIONS])
                              work->tuned, work->tuned_count,
                          memory_for(&work->target->device),
                          (uint64_t)work->job->options.seed);
    shmt_learn_draw_range(&work->draw, work->table.least, work->table.most);
    return status;
}

/* -- what the library chooses --------------------------------------------- */

/* What the library notes of `file`, a copy of the tuning, without the place in
 * it; or of the spec. */
static const char *note_of(const struct shmtune *library, const char *file)
{
    for (size_t k = 0; k < shmtune_note_count(library); k++) {
        const char *const note = shmtune_note(library, k);
        const char *const text =
            strncmp(note, file, strlen(file)) == 0
                ? strstr(note + strlen(file), ": ") : NULL;

        if (text != NULL)
            return text + 2;
    }
    return shmtune_note_count(library) > 0 ? shmtune_note(library, 0)
                                           : "it has nothing for the kernel";
}

/* Opens the library on a folder whose one tuning is this one, for the spec;
 * with its dispatch, where that is on trial. */
static enum shmtune_status open_library(struct work *work, bool on_trial,
                                        struct shmt_error *err)
{
    struct shmt_tuning tuning = *work->tuning;
    struct shmt_arena *const arena = work->tuning->arena;
    struct shmtune_message message;
    const char *folder, *file;
    enum shmtune_status status =
        shmt_scratch_make("shmtune", &work->scratch, err);

    if (status != SHMTUNE_OK)
        return status;
    folder = shmt_path_join(arena, work->scratch.folder, "tunings");
    if (folder != NULL)
        folder = shmt_path_join(arena, folder, work->kernel->name);
    file = folder == NULL ? NULL : shmt_path_join(arena, folder, "t.yaml");
    if (file == NULL)
        return shmt_error_memory(err);
    if (!on_trial)
        tuning.dispatch = NULL;
    status = shmt_path_make_folder(folder, 0700, err);
    if (status == SHMTUNE_OK)
        status = shmt_tuning_write(&tuning, file, err);
    if (status != SHMTUNE_OK)
        return status;
    status = shmt_runtime_open_spec(work->kernel->path, work->scratch.folder,
                                    &work->library, &message);
    if (status != SHMTUNE_OK)
        return shmt_error_set(err, status, "%s", message.text);
    work->chooser = shmtune_kernel_find(work->library, work->kernel->name);
    return work->chooser != NULL &&
                   shmtune_tuned_device_count(work->chooser) == 1
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s: the library "
                                "cannot use it: %s", work->paths.tuning,
                                note_of(work->library, file));
}

static void close_library(struct work *work)
{
    shmtune_close(work->library);
    work->library = NULL;
    shmt_scratch_remove(&work->scratch);
}

/* The configuration that the library chooses; SHMT_LEARN_CONFIGS when it is
 * none of the table, which only the default can be. */
static size_t choose(struct work *work, const int64_t *problem,
                     const char **match)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    size_t config = SHMT_LEARN_CONFIGS;

    if (match != NULL)
        *match = "none";
    if (shmtune_select(work->chooser, &work->target->device, problem,
                       &choice) != SHMTUNE_OK)
        return config;
    if (match != NULL)
        *match = shmtune_match_text(choice.match);
    for (size_t k = 0; k < work->table.config_count; k++)
        if (memcmp(work->table.configs[k], choice.values,
                   work->kernel->parameter_count *
                       sizeof *choice.values) == 0)
            return k;
    return config;
}

/* -- measuring ------------------------------------------------------------ */

static void notice(void *context, const char *text)
{
    shmt_display_notice(context, text);
}

static enum shmtune_status measure_at(struct work *work,
                                      const int64_t *problem,
                                      struct shmt_error *err)
{
    const size_t first = choose(work, problem, NULL);
    double took_s;
    const enum shmtune_status status = shmt_learn_measure(
        &work->run, problem, first, &took_s, err);

    work->spent_s += took_s;
    return status;
}

static bool is_done(const struct work *work, const int64_t *problem)
{
    const size_t bytes = work->kernel->dimension_count * sizeof *problem;

    for (size_t k = 0; k < work->table.size_count; k++)
        if (work->table.sizes[k].done &&
            memcmp(work->table.sizes[k].problem, problem, bytes) == 0)
            return true;
    return false;
}

/* Draws and measures until `count` sizes are done, or the time is over; or
 * there are no more sizes to be found. */
enum { IDLE = 20000 };             /* draws without anything to measure */
static enum shmtune_status measure_sizes(struct work *work, uint64_t count,
                                         double budget_s,
                                         struct shmt_error *err)
{
    const double before_s = work->spent_s;
    struct shmt_learn_draw *const draw = &work->draw;
    int64_t problem[SHMT_KERNEL_DIMENSIONS] = {0};
    enum shmtune_status status = SHMTUNE_OK;
    uint64_t done = 0, made = 0;

    for (int idle = 0; status == SHMTUNE_OK && done < count && idle < IDLE;
         idle++) {
        const double each_s =
            made == 0 ? 0 : (work->spent_s - before_s) / (double)made;

        if (!shmt_learn_draw_next(draw, problem) ||
            work->spent_s + each_s > budget_s)
            break;
        if (is_done(work, problem)) {
            done++;
            continue;
        }
        if (isfinite(budget_s) && !shmt_learn_is_worth(&work->run, problem))
            continue;
        done++;
        made++;
        idle = 0;
        status = measure_at(work, problem, err);
    }
    return status;
}

/* -- trials --------------------------------------------------------------- */

/* What was tuned for this size itself; SHMT_LEARN_CONFIGS: nothing. */
static size_t own_of(const struct work *work, const struct shmt_tuning *also,
                     const int64_t *problem)
{
    for (size_t k = 0; also != NULL && k < also->tuned_count; k++) {
        const struct shmt_tuned *const tuned = also->tuned[k];
        int64_t other[SHMT_KERNEL_DIMENSIONS];
        shmt_config config[SHMT_SPACE_PARAMETERS];

        if (shmt_tuning_problem(work->kernel, tuned, other, NULL) !=
                SHMTUNE_OK ||
            memcmp(other, problem, work->kernel->dimension_count *
                                       sizeof *problem) != 0 ||
            shmt_tuning_config(work->kernel, tuned->settings,
                               tuned->setting_count, config, NULL) !=
                SHMTUNE_OK)
            continue;
        for (size_t c = 0; c < work->table.config_count; c++)
            if (memcmp(work->table.configs[c], config,
                       work->kernel->parameter_count *
                           sizeof *config) == 0)
                return c;
    }
    return SHMT_LEARN_CONFIGS;
}

/* Nanoseconds of a selection, over all sizes. */
static double time_selecting(const struct work *work)
{
    enum { ROUNDS = 200 };
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    const size_t count = work->table.size_count;
    double best_s = INFINITY;

    for (int round = 0; count > 0 && round < ROUNDS; round++) {
        const double since_s = shmt_clock_s();

        for (size_t k = 0; k < count; k++)
            shmtune_select(work->chooser, &work->target->device,
                           work->table.sizes[k].problem, &choice);
        best_s = fmin(best_s, shmt_clock_s() - since_s);
    }
    return 1e9 * best_s / (double)(count > 0 ? count : 1);
}

/* Only configurations of the tuning on trial count for the best. */
static void judge(struct work *work, const struct shmt_tuning *also,
                  size_t shipped, struct shmt_command_trials *out)
{
    for (size_t k = 0; k < work->table.size_count; k++) {
        const struct shmt_learn_size *const size = &work->table.sizes[k];
        struct shmt_command_trial one = {.size = size, .own_us = -1};
        struct shmt_learn_judged judged;
        const size_t own = own_of(work, also, size->problem);

        one.chosen = choose(work, size->problem, &one.match);
        if (one.chosen == SHMT_LEARN_CONFIGS)
            continue;
        judged = shmt_learn_judge(size, shipped, one.chosen);
        one.chosen_us = judged.chosen_us;
        one.best_us = judged.best_us;
        one.best = judged.best;
        if (own < SHMT_LEARN_CONFIGS &&
            isfinite(shmt_learn_time(&size->cells[own])))
            one.own_us = shmt_learn_time(&size->cells[own]);
        if (isfinite(one.chosen_us) && (also == NULL || one.own_us > 0))
            out->list[out->count++] = one;
    }
}

static enum shmtune_status show_trials(struct work *work,
                                       const struct shmt_tuning *also,
                                       size_t shipped, struct shmt_error *err)
{
    struct shmt_command_trials trials = {
        .list = calloc(work->table.size_count + 1, sizeof *trials.list)};
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (trials.list == NULL)
        return shmt_error_memory(err);
    judge(work, also, shipped, &trials);
    trials.ns = time_selecting(work);
    if (work->job->options.json) {
        json_array_append_new(work->job->results, shmt_command_trials_json(
            &work->table, &trials));
    } else {
        shmt_command_show_trials(&work->table, &trials, &text);
        status = shmt_command_print_lines(&text, work->job->call, err);
    }
    free(trials.list);
    return status;
}

/* -- learning ------------------------------------------------------------- */

/* What was learnt from more sizes stays where it does better at these, too. */
static enum shmtune_status judge_before(struct work *work,
                                        struct shmt_command_learnt *learnt,
                                        struct shmt_error *err)
{
    const struct shmt_learn_outcome *const outcome = &learnt->outcome;
    struct shmt_command_trials trials = {0};
    enum shmtune_status status;

    if (learnt->before == NULL ||
        learnt->before->sizes <= outcome->held_out.count)
        return SHMTUNE_OK;
    close_library(work);
    status = open_library(work, true, err);
    if (status != SHMTUNE_OK)
        return status;
    trials.list = calloc(work->table.size_count + 1, sizeof *trials.list);
    if (trials.list == NULL)
        return shmt_error_memory(err);
    judge(work, NULL, work->table.config_count, &trials);
    if (10 * trials.count >= 9 * outcome->held_out.count)
        learnt->kept = shmt_command_trial_figures(&trials);
    if (learnt->kept.mean <= outcome->nearest.mean ||
        learnt->kept.mean < outcome->held_out.mean)
        learnt->kept.count = 0;
    free(trials.list);
    return SHMTUNE_OK;
}

/* Those at which something ran. */
static size_t count_measured(const struct work *work)
{
    size_t count = 0;

    for (size_t k = 0; k < work->table.size_count; k++)
        count += isfinite(shmt_learn_best(&work->table,
                                          &work->table.sizes[k]));
    return count;
}

static enum shmtune_status refuse_few(const struct work *work,
                                      struct shmt_error *err)
{
    const size_t count = count_measured(work);
    const size_t others = work->table.size_count - count;

    shmt_error_set(err, SHMTUNE_NO_CONFIGURATION, "%s: %zu sizes are too few "
                   "to learn from, expected %d or more; give it a larger "
                   "--budget", work->kernel->name, count, SHMT_LEARN_LEAST);
    if (others > 0)
        shmt_error_append(err, " (at %zu more nothing ran)", others);
    return SHMTUNE_NO_CONFIGURATION;
}

static enum shmtune_status learn(struct work *work, struct shmt_error *err)
{
    struct shmt_command_learnt learnt = {.before = work->tuning->dispatch};
    struct shmt_dispatch *made;
    enum shmtune_status status;

    for (size_t k = 0; k < work->table.size_count; k++)
        work->table.sizes[k].nearest = (uint16_t)choose(
            work, work->table.sizes[k].problem, NULL);
    status = shmt_learn_dispatch(&work->run, work->tuning->arena, &made,
                                 &learnt.outcome, err);
    if (status == SHMTUNE_OK && made == NULL)
        return refuse_few(work, err);
    learnt.made = made;
    learnt.spent_s = work->spent_s;
    if (status == SHMTUNE_OK)
        status = judge_before(work, &learnt, err);
    if (status == SHMTUNE_OK && learnt.kept.count == 0)
        status = shmt_output_write_dispatch(
            work->paths.tuning, learnt.outcome.better ? made : NULL,
            work->tuning, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_tell_learnt(work->kernel, &learnt,
                                          work->job->results,
                                          work->job->call, err);
    return status;
}

/* -- a kernel ------------------------------------------------------------- */

/* DIR/KERNEL/DEVICE.dispatch, or .trial-SEED: the tuning's name without its
 * ending, and this one. */
static enum shmtune_status make_folder(struct work *work,
                                       struct shmt_error *err)
{
    const struct options *const o = &work->job->options;
    const int stem = (int)(strlen(work->paths.tuning) - strlen(".yaml"));
    struct shmt_text path = {0};
    enum shmtune_status status = SHMTUNE_OK;

    shmt_text_addf(&path, "%.*s.%s", stem, work->paths.tuning,
                   o->trial > 0 ? "trial" : "dispatch");
    if (o->trial > 0)
        shmt_text_addf(&path, "-%lld%s", (long long)o->seed,
                       o->also == NULL ? "" : "-also");
    work->run.folder = shmt_text_keep(&path, work->job->arena);
    if (work->run.folder == NULL)
        status = shmt_error_memory(err);
    return status == SHMTUNE_OK
               ? shmt_path_make_folder(work->run.folder, 0777, err) : status;
}

/* Measures and says; the tuning, the table and the library are ready. */
static enum shmtune_status go(struct work *work, struct shmt_error *err)
{
    const struct options *const o = &work->job->options;
    const struct shmt_command_budget *const budget = &work->job->budget;
    const size_t shipped = work->table.config_count;
    struct shmt_tuning *also = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    if (o->also != NULL)
        status = shmt_tuning_read(o->also, &also, err);
    if (status == SHMTUNE_OK && also != NULL)
        status = add_configs(work, also, err);
    if (status == SHMTUNE_OK)
        status = make_folder(work, err);
    if (status == SHMTUNE_OK)
        status = shmt_learn_read(&work->run, &work->spent_s, err);
    if (status == SHMTUNE_OK)
        status = o->trial > 0
                     ? measure_sizes(work, (uint64_t)o->trial, INFINITY, err)
                     : measure_sizes(work, budget->count, budget->seconds,
                                     err);
    /* What is learnt is what the journals say, now as in the next run. */
    shmt_learn_table_clear(&work->table);
    if (status == SHMTUNE_OK)
        status = shmt_learn_read(&work->run, &work->spent_s, err);
    if (status == SHMTUNE_OK)
        status = o->trial > 0 ? show_trials(work, also, shipped, err)
                              : learn(work, err);
    shmt_tuning_free(also);
    return status;
}

static enum shmtune_status work_on(struct job *job,
                                   const struct shmt_kernel *kernel,
                                   struct shmt_target *target,
                                   struct shmt_error *err)
{
    struct work work = {
        .job = job, .kernel = kernel, .target = target,
        .table = {.kernel = kernel,
                  .multiprocessors = target->device.multiprocessors}};
    enum shmtune_status status = shmt_output_paths_of(
        job->arena, target, job->options.output, kernel->sizes[0],
        &work.paths, err);

    work.run = (struct shmt_learn_run){
        .target = target, .table = &work.table,
        .seed = (uint64_t)job->options.seed,
        .thorough = job->options.trial > 0,
        .stop = &shmt_command_stopped, .notice = notice,
        .context = &job->display};
    if (status == SHMTUNE_OK)
        status = read_tuning(&work, err);
    if (status == SHMTUNE_OK)
        status = read_problems(&work, err);
    if (status == SHMTUNE_OK)
        status = add_configs(&work, work.tuning, err);
    if (status == SHMTUNE_OK)
        status = open_library(&work, job->options.trial > 0, err);
    if (status == SHMTUNE_OK)
        status = go(&work, err);
    close_library(&work);
    shmt_learn_run_end(&work.run);
    shmt_learn_table_free(&work.table);
    shmt_tuning_free(work.tuning);
    return status;
}

static enum shmtune_status do_kernel(struct job *job,
                                     const struct shmt_kernel *kernel,
                                     struct shmt_error *err)
{
    struct shmt_target *target = NULL;
    enum shmtune_status status;

    if (kernel->launch_count == 0 || kernel->size_count == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s describes a "
                              "space only, so there is nothing to launch",
                              kernel->path);
    status = shmt_command_device_open(&job->device, kernel, &target, err);
    if (status == SHMTUNE_OK)
        status = work_on(job, kernel, target, err);
    if (target != NULL)
        target->operations->close(target);
    return status;
}

static void note_failure(struct job *job, const struct shmt_kernel *kernel,
                         const struct shmt_error *why)
{
    if (job->options.json)
        json_array_append_new(job->failures,
                              shmt_json_failure(kernel, NULL, why));
}

/* One kernel's failure does not keep the others from their turn. */
static enum shmtune_status next_kernel(struct job *job,
                                       const struct shmt_kernel *kernel,
                                       struct shmt_error *err)
{
    struct shmt_error why;
    const enum shmtune_status status = do_kernel(job, kernel, &why);

    if (status == SHMTUNE_OK ||
        (status == SHMTUNE_NOT_FOUND && !job->named))
        return SHMTUNE_OK;
    note_failure(job, kernel, &why);
    if (status == SHMTUNE_INTERRUPTED || status == SHMTUNE_NO_DEVICE ||
        status == SHMTUNE_STORAGE)
        return shmt_error_set(err, status, "%s", why.text);
    if (job->worst == SHMTUNE_OK)
        *err = why;
    else
        shmt_display_failure(&job->display, &why);
    if (job->worst == SHMTUNE_OK)
        job->worst = status;
    return SHMTUNE_OK;
}

static enum shmtune_status do_all(struct job *job, int count,
                                  struct shmt_error *err)
{
    const struct shmt_catalogue *const catalogue = job->device.catalogue;
    enum shmtune_status status = SHMTUNE_OK;

    job->named = count > 0;
    for (int k = 0; status == SHMTUNE_OK && k < count; k++) {
        struct shmt_kernel *kernel = NULL;

        status = shmt_command_kernel(job->call->words[k], &kernel, err);
        if (status == SHMTUNE_OK)
            status = next_kernel(job, kernel, err);
        else
            note_failure(job, NULL, err);
        shmt_kernel_free(kernel);
    }
    for (size_t k = 0;
         status == SHMTUNE_OK && count == 0 && k < catalogue->kernel_count;
         k++)
        if (catalogue->kernels[k].kernel->launch_count > 0)
            status = next_kernel(job, catalogue->kernels[k].kernel, err);
    return status == SHMTUNE_OK ? job->worst : status;
}

static enum shmtune_status begin(struct job *job, struct shmt_error *err)
{
    job->device = (struct shmt_command_device){
        .data_seed = (uint64_t)job->options.data_seed, .arena = job->arena,
        .display = &job->display,
        .jobs = job->options.jobs > 0 ? (size_t)job->options.jobs
                                      : (size_t)shmt_command_cores()};
    if (strncmp(job->options.device, "replay:", 7) == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "--device is "
                              "\"%.64s\"; a recording holds one size, expected "
                              "a GPU", job->options.device);
    return shmt_command_device_choose(&job->device, job->options.device, err);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.call = call};
    struct shmt_error printed = {0};
    int rest;
    enum shmtune_status status = parse_options(&job, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    job.arena = shmt_arena_new();
    if (job.arena == NULL)
        return shmt_error_memory(err);
    if (job.options.json) {
        job.results = json_array();
        job.failures = json_array();
    }
    shmt_command_catch_signals();
    shmt_display_begin(&job.display, call);
    status = begin(&job, err);
    if (status == SHMTUNE_OK)
        status = do_all(&job, rest, err);
    else
        note_failure(&job, NULL, err);
    shmt_display_clear(&job.display);
    if (job.options.json && shmt_json_print(
            job.options.trial > 0 ? "trial" : "dispatch",
            shmt_json_object("results", job.results, "failures",
                             job.failures, NULL), &printed) !=
            SHMTUNE_OK && status == SHMTUNE_OK)
        status = shmt_error_set(err, printed.status, "%s", printed.text);
    shmt_live_pool_close(job.device.pool);
    shmt_catalogue_close(job.device.catalogue);
    shmt_arena_free(job.arena);
    return status;
}

const struct shmt_command shmt_command_dispatch = {
    "dispatch", "learn which tuned configuration does best at which sizes",
    help, run
};
