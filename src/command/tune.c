/* SPDX-License-Identifier: MIT */
/*
 * tune: the command `shmtune tune`, also the default one: tunes kernels,
 * problem by problem, on a GPU or a recorded device.  Every kernel and size of
 * the command line is checked before the first candidate runs, so that a wrong
 * name is reported at once and not after an hour.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/tune_budget.h"
#include "command/tune_device.h"
#include "command/tune_from.h"
#include "command/tune_show.h"
#include "record/record.h"
#include "target/target.h"
#include "tune/tune.h"

enum { REPLAY_JOBS = 16 };

static const char help[] =
    "usage: shmtune [tune] [KERNEL | SPEC.yaml]... --device WHAT "
    "[OPTION]...\n"
    "\n"
    "Tries configurations of a kernel on a device: compiles them in\n"
    "parallel, rejects what cannot run there, verifies and times the rest,\n"
    "and writes the fastest to OUTPUT/KERNEL/DEVICE.yaml. With no kernel: all\n"
    "built-in ones. Whatever a candidate does, its verdict is on record and\n"
    "the next one follows. Interrupted or killed, the same command resumes.\n"
    "\n"
    "  -d, --device WHAT    GPU number or UUID [0]; replay:NAME or\n"
    "                       replay:FILE is a recorded run of a real one\n"
    "  --on COMMAND         the GPU is on another machine: COMMAND starts\n"
    "                       programs there, 'ssh host', 'srun -n1 -G1';\n"
    "                       compiled is here\n"
    "  --far-program PATH   shmtune there [shmtune]\n"
    "  --far-timeout N      give up a machine that says nothing for so many\n"
    "                       seconds [15]\n"
    "  --size DIM=N,...     a problem to tune for, may be repeated [those the\n"
    "                       spec lists, or that are recorded]\n"
    "  --strategy NAME[:OPTION=VALUE,...]\n"
    "                       see `shmtune list`\n"
    "  --budget 60s|500     time (s, m, h) for each problem, from its start\n"
    "                       to its tuning, or candidates, or all [15s; all\n"
    "                       with --strategy exhaustive]\n"
    "  --total 9m           time for the whole command on a GPU, shared among\n"
    "                       its problems [9m for all built-in kernels without\n"
    "                       --budget]\n"
    "  --compile-timeout N  give up a candidate that compiles for longer, in\n"
    "                       seconds [30]\n"
    "  -j, --jobs N         compile workers [processors; recorded: 16]\n"
    "  --seed N             of the strategy [1]\n"
    "  --data-seed N        of the inputs [1; a recording has its own]\n"
    "  -o, --output DIR     where tunings and journals go [./tunings]\n"
    "  --also FILE          a tuning of another run: its winners are tried\n"
    "                       too, and take part in the finals where they won\n"
    "                       the same problem; may be repeated\n"
    "  --from FILE          begin with what another run found: a tuning, a\n"
    "                       journal, a recording, a folder of them; may be\n"
    "                       repeated; none: begin with nothing [on a GPU what\n"
    "                       is shipped for the nearest one]\n"
    "  --resume, --no-resume\n"
    "                       resume from an existing journal [default], or\n"
    "                       start a new one; the old one is kept as .old\n"
    "  --max-spill BYTES    reject what spills more, in bytes a thread\n"
    "  --min-occupancy PCT  reject what occupies less\n"
    "  --record DIR         write DIR/KERNEL/DEVICE.SIZE.journal.gz, for\n"
    "                       replay:NAME\n"
    "  --space-seconds N, --space-memory MIB\n"
    "                       most that building the space may take [10 or so,\n"
    "                       512]; beyond it some valid configurations are\n"
    "                       drawn and tuned among\n"
    "  -v                   report every rejected candidate, with the reason\n"
    "  --json               results as JSON\n"
    "\n"
    "examples:\n"
    "  shmtune --device 0\n"
    "  shmtune transpose --size rows=8192,cols=8192 --budget 2m\n"
    "  shmtune tune ./my_kernel.yaml --strategy annealing --seed 7\n"
    "  shmtune --device replay:h100 --strategy exhaustive\n";

struct plan {
    const char *const *words;      /* kernels and specs; none: all built-in */
    size_t count;
    const struct shmt_command_repeats *sizes;   /* none: the listed ones */
};

struct options {
    const char *device, *strategy, *budget, *total, *output, *record;
    struct shmt_command_repeats sizes, also, from;
    int64_t jobs, seed, data_seed, max_spill, min_occupancy, compile_s;
    bool resume, json;
    struct shmt_command_far far;
    struct shmt_command_limits limits;
};

/* One use of the command. */
struct job {
    const struct shmt_command_call *call;
    struct options options;
    struct shmt_command_budget budget;
    double began_s, since_s;       /* the command, and the problem at hand; on
                                      shmt_clock_s */
    struct plan plan;
    struct shmt_arena *arena;
    struct shmt_command_device device;
    struct shmt_display display;
    struct shmt_sheet sheet;
    struct shmt_winners winners;   /* of this kernel's problems so far */
    struct shmt_winners also;      /* of --also */
    struct shmt_tune_prior *prior; /* of this kernel, or NULL */
    struct shmt_error warm_start;  /* the failure that decides the exit
                                      status: the one that ended the run,
                                      else the first */
};

/* -- which kernels and sizes ---------------------------------------------- */

/* The k-th word was there before. */
static bool has_word(const struct plan *plan, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (strcmp(plan->words[i], plan->words[k]) == 0)
            return true;
    return false;
}

/* The k-th size was there before. */
static bool has_problem(const struct plan *plan,
                        const struct shmt_kernel *kernel, size_t k)
{
    const size_t bytes = kernel->dimension_count * sizeof(int64_t);
    int64_t one[SHMT_KERNEL_DIMENSIONS], other[SHMT_KERNEL_DIMENSIONS];
    struct shmt_error err;

    if (k >= plan->sizes->count ||
        shmt_command_parse_problem(kernel, plan->sizes->items[k], one, &err) !=
            SHMTUNE_OK)
        return false;
    for (size_t i = 0; i < k; i++)
        if (shmt_command_parse_problem(kernel, plan->sizes->items[i], other,
                                       &err) ==
                SHMTUNE_OK &&
            memcmp(one, other, bytes) == 0)
            return true;
    return false;
}

static enum shmtune_status check_sizes(const struct plan *plan,
                                       const struct shmt_kernel *kernel,
                                       size_t *problems, struct shmt_error *err)
{
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    enum shmtune_status status = SHMTUNE_OK;

    if (plan->sizes->count == 0)
        *problems += kernel->size_count;
    for (size_t k = 0; status == SHMTUNE_OK && k < plan->sizes->count; k++) {
        status =
            shmt_command_parse_problem(kernel, plan->sizes->items[k], problem,
                                       err);
        *problems += !has_problem(plan, kernel, k);
    }
    return status;
}

static enum shmtune_status check_words(const struct plan *plan,
                                       size_t *problems, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < plan->count; k++) {
        struct shmt_kernel *kernel = NULL;

        if (has_word(plan, k))
            continue;
        status = shmt_command_kernel(plan->words[k], &kernel, err);
        if (status == SHMTUNE_OK)
            status = check_sizes(plan, kernel, problems, err);
        shmt_kernel_free(kernel);
    }
    return status;
}

static enum shmtune_status check_all(const struct plan *plan,
                                     const struct shmt_catalogue *catalogue,
                                     size_t *problems, struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status = shmt_command_check_catalogue(catalogue, err);

    if (status == SHMTUNE_OK && catalogue->refused_count > 0)
        status = shmt_kernel_read(catalogue->refused[0], &kernel, err);
    shmt_kernel_free(kernel);
    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->kernel_count;
         k++)
        status = check_sizes(plan, catalogue->kernels[k].kernel, problems, err);
    return status;
}

/* Every kernel is there, can be read, and has every size.  *problems: how many
 * they are together on a device that can run any. */
static enum shmtune_status check_plan(const struct plan *plan,
                                      const struct shmt_catalogue *catalogue,
                                      size_t *problems, struct shmt_error *err)
{
    size_t count = 0;
    const enum shmtune_status status =
        plan->count > 0 ? check_words(plan, &count, err)
                        : check_all(plan, catalogue, &count, err);

    if (status == SHMTUNE_OK)
        *problems = count;
    return status;
}

/* -- options -------------------------------------------------------------- */

static enum shmtune_status parse_options(struct job *job, int *rest,
                                         struct shmt_error *err)
{
    struct options *const o = &job->options;
    const struct shmt_command_option table[] = {
        {"device", 'd', SHMT_OPTION_TEXT, &o->device, 0, 0},
        {"size", 0, SHMT_OPTION_REPEATED, &o->sizes, 0, 0},
        {"strategy", 0, SHMT_OPTION_TEXT, &o->strategy, 0, 0},
        {"budget", 0, SHMT_OPTION_TEXT, &o->budget, 0, 0},
        {"total", 0, SHMT_OPTION_TEXT, &o->total, 0, 0},
        {"compile-timeout", 0, SHMT_OPTION_INT, &o->compile_s, 1, 86400},
        {"jobs", 'j', SHMT_OPTION_INT, &o->jobs, 1, 1024},
        {"seed", 0, SHMT_OPTION_INT, &o->seed, 0, INT64_MAX},
        {"data-seed", 0, SHMT_OPTION_INT, &o->data_seed, 0, INT64_MAX},
        {"output", 'o', SHMT_OPTION_TEXT, &o->output, 0, 0},
        {"resume", 0, SHMT_OPTION_FLAG, &o->resume, 0, 0},
        {"max-spill", 0, SHMT_OPTION_INT, &o->max_spill, 0, INT32_MAX},
        {"min-occupancy", 0, SHMT_OPTION_INT, &o->min_occupancy, 0, 100},
        {"also", 0, SHMT_OPTION_REPEATED, &o->also, 0, 0},
        {"from", 0, SHMT_OPTION_REPEATED, &o->from, 0, 0},
        {"record", 0, SHMT_OPTION_TEXT, &o->record, 0, 0},
        SHMT_COMMAND_FAR(o->far),
        SHMT_COMMAND_LIMITS(o->limits),
        {"json", 0, SHMT_OPTION_FLAG, &o->json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    enum shmtune_status status;

    *o = (struct options){.device = "0", .seed = SHMT_COMMAND_SEED,
                          .data_seed = -1, .max_spill = -1, .resume = true,
                          .output = "./tunings", .compile_s = 30,
                          .far = SHMT_COMMAND_FAR_USUAL};
    status = shmt_command_options(job->call, table, rest, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_far_check(&o->far, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_budget_parse(o->budget, o->total, o->strategy,
                                           &job->budget, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_from_check(&o->from, o->strategy, err);
    return status;
}

/* -- one problem ---------------------------------------------------------- */

static enum shmtune_status write_recording(
    struct job *job, const struct shmt_target *target,
    const struct shmt_tune_outcome *outcome, struct shmt_error *err)
{
    struct shmt_output_paths place;
    enum shmtune_status status;

    if (job->options.record == NULL)
        return SHMTUNE_OK;
    status = shmt_output_paths_of(job->arena, target, job->options.record,
                                  outcome->header.problem, &place, err);
    if (status == SHMTUNE_OK)
        status = shmt_recording_write(place.recording, target->kernel,
                                      &outcome->header, outcome->ledger,
                                      outcome->space, err);
    return status;
}

static enum shmtune_status keep_results(
    struct job *job, const struct shmt_target *target,
    const struct shmt_tune_outcome *outcome,
    const struct shmt_output_paths *place, struct shmt_error *err)
{
    size_t left_out;
    char text[256];
    enum shmtune_status status = shmt_output_write_tuning(
        target->kernel, outcome, place->tuning, &left_out, err);

    if (status == SHMTUNE_OK)
        status = write_recording(job, target, outcome, err);
    if (status != SHMTUNE_OK)
        return status;
    if (left_out > 0) {
        snprintf(text, sizeof text, "%zu problem%s of other sources, another "
                 "device or another protocol removed from the tuning",
                 left_out, shmt_text_plural(left_out));
        shmt_display_notice(&job->display, text);
    }
    shmt_display_result(&job->display, target, outcome, place);
    shmt_sheet_add(&job->sheet, target, outcome, place);
    return shmt_winners_add(target->kernel, outcome, &job->winners, err);
}

static enum shmtune_status tune_problem(struct job *job,
                                        struct shmt_target *target,
                                        const int64_t *problem,
                                        double budget_s,
                                        struct shmt_error *err)
{
    const struct shmt_tune_observer observer = {
        &job->display, shmt_display_progress, shmt_display_notice,
        job->call->verbose
    };
    struct shmt_output_paths place;
    struct shmt_command_limits *const limits = &job->options.limits;
    struct shmt_tune_options options = {
        .strategy = job->options.strategy,
        .seed = (uint64_t)job->options.seed,
        .budget_s = budget_s,
        .budget_count = job->budget.count,
        .policy = {(int)job->options.max_spill,
                   (int)job->options.min_occupancy},
        .warm_start = &job->winners,
        .last = &job->also,
        .prior = job->prior != NULL ? shmt_tune_prior_of(job->prior, problem)
                                    : NULL,
        .resume = job->options.resume,
        .stop = &shmt_command_stopped,
        .observer = &observer,
    };
    struct shmt_tune_outcome *outcome = NULL;
    enum shmtune_status status = shmt_output_paths_of(
        job->arena, target, job->options.output, problem, &place, err);

    if (status != SHMTUNE_OK)
        return status;
    options.journal = place.journal;
    limits->line = &job->display.shown;
    options.limits = shmt_command_limits_begin(limits, job->call);
    status = shmt_tune_run(target, problem, &options, &outcome, err);
    if (status == SHMTUNE_OK)
        status = keep_results(job, target, outcome, &place, err);
    else if (status == SHMTUNE_INTERRUPTED && outcome != NULL)
        status = shmt_display_interrupt(target, outcome, &place,
                                        options.resume, err);
    shmt_tune_free(outcome);
    shmt_display_clear(&job->display);
    return status;
}

/* -- one kernel ----------------------------------------------------------- */

/* Checks that the results can be written before anything is measured. */
static enum shmtune_status check_output(const struct job *job,
                                        const struct shmt_target *target,
                                        struct shmt_error *err)
{
    const struct options *const o = &job->options;
    enum shmtune_status status =
        shmt_output_make_folder(target, o->output, "--output", err);

    if (status == SHMTUNE_OK)
        status = shmt_output_check_tuning(target, o->output, err);
    if (status == SHMTUNE_OK && o->record != NULL)
        status = shmt_output_make_folder(target, o->record, "--record", err);
    return status;
}

static enum shmtune_status begin_kernel(struct job *job,
                                        const struct shmt_kernel *kernel,
                                        struct shmt_target **target,
                                        struct shmt_error *err)
{
    const struct shmt_command_repeats *const also = &job->options.also;
    enum shmtune_status status = SHMTUNE_OK;

    job->winners.count = job->also.count = 0;
    for (size_t k = 0; status == SHMTUNE_OK && k < also->count; k++)
        status = shmt_winners_read(kernel, also->items[k], &job->also, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_device_open(&job->device, kernel, target, err);
    if (status != SHMTUNE_OK)
        return status;
    status = check_output(job, *target, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_from_open(
            &(struct shmt_command_from){
                &job->options.from, job->options.strategy,
                &job->device.places, job->arena, &job->display},
            *target, &job->prior, err);
    if (status != SHMTUNE_OK)
        (*target)->operations->close(*target);
    return status;
}

/* The k-th problem to tune. */
static enum shmtune_status choose_problem(const struct job *job,
                                          const struct shmt_target *target,
                                          size_t k, int64_t *problem,
                                          struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = target->kernel;
    const int64_t *from;

    if (job->options.sizes.count > 0)
        return shmt_command_parse_problem(kernel, job->options.sizes.items[k],
                                          problem, err);
    from = target->recorded ? shmt_replay_header(target, k)->problem
                            : kernel->sizes[k];
    memcpy(problem, from, kernel->dimension_count * sizeof *problem);
    return SHMTUNE_OK;
}

static size_t count_problems(const struct job *job,
                             const struct shmt_target *target)
{
    if (job->options.sizes.count > 0)
        return job->options.sizes.count;
    return target->recorded ? shmt_replay_count(target)
                            : target->kernel->size_count;
}

/* Whether the next problem would fail in the same way.  Running out of memory
 * does not count, because it may be device memory, and a smaller problem may
 * fit.  Neither does a problem that is not recorded, because another one may
 * be. */
static bool ends_run(const struct job *job, enum shmtune_status status)
{
    return status == SHMTUNE_INTERRUPTED || status == SHMTUNE_STORAGE ||
           status == SHMTUNE_INVALID_ARGUMENT ||
           (status == SHMTUNE_NO_DEVICE && job->device.replayed == NULL);
}

/* Reports a failure at once, because the run goes on.  The failure that ends
 * the run decides the exit status, else the first one. */
static void note_failure(struct job *job, const struct shmt_kernel *kernel,
                         const int64_t *problem, const struct shmt_error *why)
{
    const struct shmt_error before = job->warm_start;
    const bool decides =
        before.status == SHMTUNE_OK || ends_run(job, why->status);

    shmt_sheet_fail(&job->sheet, kernel, problem, why);
    if (decides)
        job->warm_start = *why;
    if (before.status != SHMTUNE_OK)
        shmt_display_failure(&job->display,
                             decides ? before.text : why->text);
}

/* Opening the device is part of the time of the problem that needs it. */
static enum shmtune_status tune_next(struct job *job,
                                     const struct shmt_kernel *kernel,
                                     struct shmt_target **target, size_t k,
                                     int64_t *problem, struct shmt_error *err)
{
    const double since_s = job->since_s;
    double budget_s;
    enum shmtune_status status =
        shmt_command_budget_next(&job->budget, &budget_s, err);

    if (status == SHMTUNE_OK && *target == NULL)
        status = shmt_command_device_open(&job->device, kernel, target, err);
    if (status == SHMTUNE_OK)
        status = choose_problem(job, *target, k, problem, err);
    if (status == SHMTUNE_OK && !(*target)->recorded)
        budget_s = fmax(budget_s - (shmt_clock_s() - since_s), 1e-3);
    if (status == SHMTUNE_OK)
        status = tune_problem(job, *target, problem, budget_s, err);
    job->since_s = shmt_clock_s();
    return status;
}

/* Tunes its problems; false when nothing more is to be done. */
static bool tune_problems(struct job *job, const struct shmt_kernel *kernel)
{
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_target *target;
    struct shmt_error err = {0};
    enum shmtune_status status = begin_kernel(job, kernel, &target, &err);
    size_t count;

    if (status != SHMTUNE_OK) {
        note_failure(job, kernel, NULL, &err);
        return !ends_run(job, status);
    }
    count = count_problems(job, target);
    for (size_t k = 0; k < count && !ends_run(job, status); k++) {
        if (has_problem(&job->plan, kernel, k))
            continue;
        status = SHMTUNE_OK;
        job->display.problem++;
        status = tune_next(job, kernel, &target, k, problem, &err);
        if (status == SHMTUNE_OK)
            continue;
        note_failure(job, kernel, problem, &err);
        /* The target is closed, because requests of this problem may still be
         * outstanding in it. */
        if (target != NULL)
            target->operations->close(target);
        target = NULL;
    }
    if (target != NULL)
        target->operations->close(target);
    return !ends_run(job, status);
}

/* -- the command ---------------------------------------------------------- */

/* False when nothing more is to be done. */
static bool tune_kernel(struct job *job, const struct shmt_kernel *kernel)
{
    const bool more = tune_problems(job, kernel);

    shmt_tune_prior_free(job->prior);
    job->prior = NULL;
    return more;
}

static enum shmtune_status tune_spec(struct job *job,
                                     const struct shmt_kernel *kernel,
                                     bool *more, struct shmt_error *err)
{
    if (kernel->launch_count == 0 && job->device.replayed == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s describes a space only, so there is nothing "
                              "to launch; use a recorded run of it: --device "
                              "replay:FILE", kernel->path);
    *more = tune_kernel(job, kernel);
    return SHMTUNE_OK;
}

static enum shmtune_status tune_named(struct job *job, const char *word,
                                      bool *more, struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status = shmt_command_kernel(word, &kernel, err);

    if (status == SHMTUNE_OK)
        status = tune_spec(job, kernel, more, err);
    shmt_kernel_free(kernel);
    return status;
}

/* Whether the kernel has a recording of that name.  Kernels without one are
 * skipped unless the user named them. */
static bool is_recorded(struct job *job, const char *kernel)
{
    const char *const *paths;
    size_t count;

    return job->device.replayed == NULL ||
           shmt_recording_find(job->arena, &job->device.places, kernel,
                               job->device.replayed, &paths, &count,
                               NULL) == SHMTUNE_OK;
}

static enum shmtune_status no_recording(const struct job *job,
                                        struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                          "no built-in kernel has a recording that matches "
                          "\"%s\"; `shmtune list` shows those there are",
                          job->device.replayed);
}

static enum shmtune_status tune_all(struct job *job, struct shmt_error *err)
{
    const char *const replayed = job->device.replayed;
    const struct shmt_catalogue *const catalogue = job->device.catalogue;
    char name[80];
    size_t tuned = 0;
    bool more = true;
    enum shmtune_status status = SHMTUNE_OK;

    if (replayed != NULL && shmt_recording_is_file(replayed)) {
        status = shmt_journal_read_kernel_name(replayed, name, err);
        if (status == SHMTUNE_NOT_FOUND)
            status = shmt_error_set(err, SHMTUNE_NO_DEVICE,
                                    "%s: no such recording", replayed);
        return status == SHMTUNE_OK ? tune_named(job, name, &more, err)
                                    : status;
    }
    for (size_t k = 0; status == SHMTUNE_OK && more &&
                       k < catalogue->kernel_count; k++) {
        const struct shmt_kernel *kernel = catalogue->kernels[k].kernel;

        if (!is_recorded(job, kernel->name))
            continue;
        tuned++;
        status = tune_spec(job, kernel, &more, err);
    }
    if (status == SHMTUNE_OK && tuned == 0 && replayed != NULL)
        return no_recording(job, err);
    if (status == SHMTUNE_OK && tuned == 0)
        return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                              "no built-in kernels are found; see `shmtune "
                              "doctor`");
    return status;
}

/* Says how long it will take. */
static void begin_budget(struct job *job, size_t problems, bool all)
{
    struct shmt_text text = {0};

    shmt_command_budget_begin(&job->budget, problems, all, job->began_s);
    shmt_command_budget_tell(&job->budget, &text);
    if (text.length > 0)
        shmt_display_notice(&job->display, shmt_text_string(&text));
    shmt_text_free(&text);
}

static enum shmtune_status tune_words(struct job *job, int count,
                                      struct shmt_error *err)
{
    const bool live = job->device.replayed == NULL;
    size_t problems = 0;
    bool more = true;
    enum shmtune_status status = SHMTUNE_OK;

    job->plan = (struct plan){
        (const char *const *)job->call->words, (size_t)count,
        &job->options.sizes
    };
    if (live || count > 0)
        status = check_plan(&job->plan, job->device.catalogue, &problems, err);
    if (status != SHMTUNE_OK)
        return status;
    /* With a recorded device it is not known yet which of them it has. */
    job->display.problems = live ? problems : 0;
    if (live)
        begin_budget(job, problems, count == 0);
    if (count == 0)
        return tune_all(job, err);
    for (size_t k = 0; status == SHMTUNE_OK && more && k < job->plan.count; k++)
        if (!has_word(&job->plan, k))
            status = tune_named(job, job->plan.words[k], &more, err);
    return status;
}

static enum shmtune_status choose_device(struct job *job,
                                         struct shmt_error *err)
{
    struct shmt_command_device *const device = &job->device;
    enum shmtune_status status;

    *device = (struct shmt_command_device){
        .data_seed = job->options.data_seed < 0
                         ? SHMT_COMMAND_SEED
                         : (uint64_t)job->options.data_seed,
        .arena = job->arena,
        .display = &job->display,
    };
    device->compile_s = (double)job->options.compile_s;
    device->far = job->options.far;
    status = shmt_command_device_choose(device, job->options.device, err);
    if (status == SHMTUNE_OK && device->replayed != NULL &&
        job->options.total != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--total is for a GPU; the seconds of %s are "
                              "recorded ones, give each problem a --budget",
                              job->options.device);
    if (status == SHMTUNE_OK && device->replayed != NULL &&
        job->options.data_seed >= 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--data-seed is for a GPU; %s has the inputs "
                                "that it was recorded with",
                                job->options.device);
    if (status != SHMTUNE_OK)
        return status;
    /* A recorded run does not depend on the machine it is replayed on. */
    device->jobs = job->options.jobs > 0 ? (size_t)job->options.jobs
                   : device->replayed != NULL ? REPLAY_JOBS
                                              : (size_t)shmt_command_cores();
    return SHMTUNE_OK;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.call = call, .began_s = shmt_clock_s(),
                      .since_s = shmt_clock_s()};
    struct shmt_error printed = {0};
    int rest;
    enum shmtune_status status = parse_options(&job, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    job.arena = shmt_arena_new();
    if (job.arena == NULL)
        return shmt_error_memory(err);
    shmt_command_catch_signals();
    shmt_display_begin(&job.display, call);
    shmt_sheet_begin(&job.sheet, job.options.json);
    status = choose_device(&job, err);
    if (status == SHMTUNE_OK)
        status = tune_words(&job, rest, err);
    if (status != SHMTUNE_OK)
        shmt_sheet_fail(&job.sheet, NULL, NULL, err);
    if (status == SHMTUNE_OK && job.warm_start.status != SHMTUNE_OK)
        status =
            shmt_error_set(err, job.warm_start.status, "%s",
                           job.warm_start.text);
    if (shmt_sheet_end(&job.sheet, call->colour, &printed) !=
            SHMTUNE_OK && status == SHMTUNE_OK)
        status = shmt_error_set(err, printed.status, "%s", printed.text);
    shmt_catalogue_close(job.device.catalogue);
    shmt_arena_free(job.arena);
    return status;
}

const struct shmt_command shmt_command_tune = {
    "tune", "find the fastest configuration of kernels on a device", help,
    run
};
