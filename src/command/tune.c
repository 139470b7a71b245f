/* SPDX-License-Identifier: MIT */
/*
 * tune: the command `shmtune tune`, also the default one: tunes the problems of
 * kernels on GPUs or a recorded device (tune_work.c).  Every kernel and size of
 * the command line is checked before the first candidate runs, so that a wrong
 * name is reported at once and not after an hour.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/tune_ends.h"
#include "command/tune_from.h"
#include "command/tune_work.h"
#include "record/record.h"

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
    "  -d, --device WHAT  GPU number or UUID [0], several by commas, or all;\n"
    "                     replay:NAME or replay:FILE is a recorded run of one\n"
    "  --on COMMAND       the GPU is on another machine: COMMAND starts\n"
    "                     programs there, 'ssh host', 'srun -n1 -G1';\n"
    "                     compiled is here\n"
    "  --workers N        start COMMAND so often, use what is granted [1]\n"
    "  --far-program PATH\n"
    "                     shmtune there [shmtune]\n"
    "  --far-timeout N    give up a machine that is silent for N seconds [15]\n"
    "  --size DIM=N,...   a problem to tune for, may be repeated [those the\n"
    "                     spec lists, or that are recorded]\n"
    "  --wanted FILE      problems that applications had and nobody tuned\n"
    "                     ($SHMTUNE_WANTED), most wanted first\n"
    "  --strategy NAME[:OPTION=VALUE,...]\n"
    "                     see `shmtune list`\n"
    "  --budget 60s|500   time (s, m, h) for each problem, from its start to\n"
    "                     its tuning, or candidates, or all; those tuned\n"
    "                     together share theirs [15s, 45s more where few\n"
    "                     were tried; exhaustive: all]\n"
    "  --total 9m         time for the whole command on a GPU, shared among\n"
    "                     its problems [all built-in, no --budget: 9m]\n"
    "  --compile-timeout N\n"
    "                     give up what compiles for N seconds [30]\n"
    "  -j, --jobs N       compile workers [processors; recorded: 16;\n"
    "                     several GPUs: fewer]\n"
    "  --seed N           of the strategy [1]\n"
    "  --data-seed N      of the inputs [1; a recording has its own]\n"
    "  --warm             leave the L2 cache warm between samples [cold]\n"
    "  -o, --output DIR   where tunings and journals go [./tunings]\n"
    "  --also FILE        a tuning whose winners are tried too, and are in\n"
    "                     the finals of problems they won; may be repeated\n"
    "  --from FILE        begin with what another run found: a tuning, a\n"
    "                     journal, a recording, a folder of them; may be\n"
    "                     repeated; none: with nothing [on a GPU what is\n"
    "                     shipped for the nearest one]\n"
    "  --resume, --no-resume\n"
    "                     resume from a journal that is there [default], or\n"
    "                     start a new one; the old one is kept as .old\n"
    "  --max-spill BYTES  reject what spills more, in bytes a thread\n"
    "  --min-occupancy PCT\n"
    "                     reject what occupies less\n"
    "  --require EXPR     reject what does not meet it: 'registers <= 64',\n"
    "                     'time_us < 90 and excess < 0.5'; may be repeated\n"
    "  --metric NAME, --metric 'NAME = EXPR'\n"
    "                     a number of the winner as a column, shared_bytes or\n"
    "                     made of such; may be repeated\n"
    "  --pareto NAME,...  what no other beats on all of these\n"
    "  --record DIR       write DIR/KERNEL/DEVICE.SIZE.journal.gz, for\n"
    "                     replay:NAME\n"
    "  --report FILE      a page of HTML, rewritten every two seconds\n"
    "  --plot FILE.svg    draw the run of one problem\n"
    "  --space-seconds N, --space-memory MIB\n"
    "                     most that building the space may take [10 or so,\n"
    "                     512]; beyond it some are drawn and tuned among\n"
    "  -v                 report every rejected candidate, with the reason\n"
    "  --json             results as JSON\n"
    "  --progress         with --json: progress and notices as JSON too, an\n"
    "                     object a line on standard error\n"
    "\n"
    "examples:\n"
    "  shmtune --device 0\n"
    "  shmtune --device all --total 5m\n"
    "  shmtune transpose --size rows=8192,cols=8192 --budget 2m\n"
    "  shmtune tune ./my_kernel.yaml --strategy annealing --seed 7\n"
    "  shmtune --device replay:h100 --strategy exhaustive\n"
    "  shmtune reduce --require 'registers <= 40' --pareto time,shared_bytes\n";

struct plan {
    const char *const *words;      /* kernels and specs; none: all built-in */
    size_t count;
    const struct shmt_command_repeats *sizes;   /* none: the listed ones */
    const struct shmt_command_wanted *wanted;   /* then these in their place */
};

/* One use of the command, and the kernels that it has read. */
struct job {
    struct shmt_command_work work;
    struct plan plan;
    struct shmt_kernel **named;    /* by the words of the plan; NULL: a word
                                      that was there before */
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
    struct shmt_command_wanted_problems any = {NULL, 0};
    enum shmtune_status status = SHMTUNE_OK;

    if (plan->wanted->file != NULL) {
        status = shmt_command_wanted_any(plan->wanted, kernel, &any, err);
        *problems += any.count;
        return status;
    }
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

/* Of two specs with one name, the second that of the k-th word, either would
 * write into the files of the other; a spec that is named in two ways is left
 * out once. */
static enum shmtune_status check_name(struct job *job, size_t k,
                                      struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = job->named[k], *other = NULL;

    for (size_t i = 0; i < k && other == NULL; i++)
        if (job->named[i] != NULL &&
            strcmp(job->named[i]->name, kernel->name) == 0)
            other = job->named[i];
    if (other == NULL)
        return SHMTUNE_OK;
    if (!shmt_path_is_same(other->path, kernel->path))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s and %s are both specs of the kernel %s, and "
                              "their results have the same files; give one "
                              "another `name`, or tune them one after the "
                              "other, each with an --output of its own",
                              other->path, kernel->path, kernel->name);
    shmt_kernel_free(job->named[k]);
    job->named[k] = NULL;
    return SHMTUNE_OK;
}

/* Reads the kernels of the words, into `named`. */
static enum shmtune_status read_words(struct job *job, size_t *problems,
                                      struct shmt_error *err)
{
    const struct plan *const plan = &job->plan;
    enum shmtune_status status = SHMTUNE_OK;

    job->named = calloc(plan->count, sizeof(struct shmt_kernel *));
    if (job->named == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < plan->count; k++) {
        if (has_word(plan, k))
            continue;
        status = shmt_command_kernel(plan->words[k], &job->named[k], err);
        if (status == SHMTUNE_OK)
            status = check_name(job, k, err);
        if (status == SHMTUNE_OK && job->named[k] != NULL)
            status = check_sizes(plan, job->named[k], problems, err);
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
static enum shmtune_status check_plan(struct job *job, size_t *problems,
                                      struct shmt_error *err)
{
    size_t count = 0;
    const enum shmtune_status status =
        job->plan.count > 0
            ? read_words(job, &count, err)
            : check_all(&job->plan, job->work.device.catalogue, &count, err);

    if (status == SHMTUNE_OK)
        *problems = count;
    return status;
}

/* -- options -------------------------------------------------------------- */

static enum shmtune_status parse_options(struct shmt_command_work *work,
                                         int *rest, struct shmt_error *err)
{
    struct shmt_command_tune_options *const o = &work->options;
    const struct shmt_command_option table[] = {
        {"device", 'd', SHMT_OPTION_TEXT, &o->device, 0, 0},
        {"size", 0, SHMT_OPTION_REPEATED, &o->sizes, 0, 0},
        {"wanted", 0, SHMT_OPTION_PATH, &o->wanted, 0, 0},
        {"strategy", 0, SHMT_OPTION_TEXT, &o->strategy, 0, 0},
        {"budget", 0, SHMT_OPTION_TEXT, &o->budget, 0, 0},
        {"total", 0, SHMT_OPTION_TEXT, &o->total, 0, 0},
        {"compile-timeout", 0, SHMT_OPTION_INT, &o->compile_s, 1, 86400},
        {"jobs", 'j', SHMT_OPTION_INT, &o->jobs, 1, 1024},
        {"seed", 0, SHMT_OPTION_INT, &o->seed, 0, INT64_MAX},
        {"data-seed", 0, SHMT_OPTION_INT, &o->data_seed, 0, INT64_MAX},
        {"warm", 0, SHMT_OPTION_FLAG, &o->warm, 0, 0},
        {"output", 'o', SHMT_OPTION_PATH, &o->output, 0, 0},
        {"resume", 0, SHMT_OPTION_FLAG, &o->resume, 0, 0},
        {"max-spill", 0, SHMT_OPTION_INT, &o->max_spill, 0, INT32_MAX},
        {"min-occupancy", 0, SHMT_OPTION_INT, &o->min_occupancy, 0, 100},
        {"require", 0, SHMT_OPTION_REPEATED, &o->figures.requires, 0, 0},
        SHMT_COMMAND_FIGURES(o->figures),
        {"also", 0, SHMT_OPTION_PATHS, &o->also, 0, 0},
        {"from", 0, SHMT_OPTION_PATHS, &o->from, 0, 0},
        {"record", 0, SHMT_OPTION_PATH, &o->record, 0, 0},
        {"report", 0, SHMT_OPTION_PATH, &o->report, 0, 0},
        {"plot", 0, SHMT_OPTION_PATH, &o->plot, 0, 0},
        SHMT_COMMAND_FAR(o->far),
        {"workers", 0, SHMT_OPTION_INT, &o->far.workers, 1,
         SHMT_COMMAND_FAR_WORKERS},
        SHMT_COMMAND_LIMITS(o->limits),
        {"json", 0, SHMT_OPTION_FLAG, &o->json, 0, 0},
        {"progress", 0, SHMT_OPTION_FLAG, &o->progress, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    enum shmtune_status status;
    time_t date;

    *o = (struct shmt_command_tune_options){
        .device = "0", .seed = SHMT_COMMAND_SEED, .data_seed = -1,
        .max_spill = -1, .resume = true, .output = "./tunings",
        .compile_s = 30, .far = SHMT_COMMAND_FAR_USUAL
    };
    status = shmt_command_options(work->call, table, rest, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_far_check(&o->far, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_budget_parse(o->budget, o->total, o->strategy,
                                           &work->budget, err);
    if (status == SHMTUNE_OK && o->strategy != NULL)
        status = shmt_session_check(o->strategy, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_check_apart("report", o->report, o->plot, err);
    if (status == SHMTUNE_OK)
        status = shmt_clock_date(&date, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_from_check(&o->from, o->strategy, err);
    if (status == SHMTUNE_OK && o->wanted != NULL && o->sizes.count > 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--wanted has the sizes to tune for, and so "
                                "has --size; give one of them");
    if (status == SHMTUNE_OK && o->progress && !o->json)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--progress is for programs that read --json, "
                                "which is missing; for people progress is "
                                "shown unless -q is given");
    return status;
}

/* -- the command ---------------------------------------------------------- */

static enum shmtune_status add_kernel(struct job *job,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_error *err)
{
    if (kernel->launch_count == 0 && job->work.device.replayed == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s describes a space only, so there is nothing "
                              "to launch; use a recorded run of it: --device "
                              "replay:FILE", kernel->path);
    return shmt_command_work_add(&job->work, kernel, err);
}

/* Whether the kernel has a recording of that name.  Kernels without one are
 * skipped unless the user named them. */
static bool is_recorded(const struct shmt_command_device *device,
                        const char *kernel)
{
    const char *const *paths;
    size_t count;

    return device->replayed == NULL ||
           shmt_recording_find(device->arena, &device->places, kernel,
                               device->replayed, &paths, &count,
                               NULL) == SHMTUNE_OK;
}

/* The kernel of the file that --device names. */
static enum shmtune_status add_recorded(struct job *job,
                                        struct shmt_error *err)
{
    const char *const replayed = job->work.device.replayed;
    char name[80];
    enum shmtune_status status =
        shmt_journal_read_kernel_name(replayed, name, err);

    if (status == SHMTUNE_NOT_FOUND)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "%s: no such recording", replayed);
    job->named = calloc(1, sizeof(struct shmt_kernel *));
    if (status == SHMTUNE_OK && job->named == NULL)
        return shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = shmt_command_kernel(name, &job->named[0], err);
    return status == SHMTUNE_OK ? add_kernel(job, job->named[0], err) : status;
}

/* Adds the devices that a kernel is recorded on: their files up to the size. */
static void add_recorded_on(const struct shmt_command_device *device,
                            const char *kernel, struct shmt_text *names)
{
    const char *const *paths;
    size_t count = 0;

    if (shmt_recording_find(device->arena, &device->places, kernel, "",
                            &paths, &count, NULL) != SHMTUNE_OK)
        return;
    for (size_t k = 0; k < count; k++) {
        const char *const name = strrchr(paths[k], '/') + 1;
        const size_t length = strcspn(name, ".");
        char one[128];

        snprintf(one, sizeof one, "%.*s", (int)length, name);
        if (strstr(shmt_text_string(names), one) == NULL)
            shmt_text_addf(names, "%s%s", names->length > 0 ? ", " : "", one);
    }
}

static enum shmtune_status
refuse_recording(const struct shmt_command_device *device,
                 struct shmt_error *err)
{
    const struct shmt_catalogue *const all = device->catalogue;
    struct shmt_text names = {0};

    for (size_t k = 0; k < all->kernel_count; k++)
        add_recorded_on(device, all->kernels[k].kernel->name, &names);
    shmt_error_set(err, SHMTUNE_NO_DEVICE,
                   "no built-in kernel has a recording that matches \"%s\", "
                   "whole words of a name; %s%.512s; see `shmtune list`",
                   device->replayed,
                   names.length > 0 ? "there are those of " : "there is none",
                   shmt_text_string(&names));
    shmt_text_free(&names);
    return SHMTUNE_NO_DEVICE;
}

static enum shmtune_status add_all(struct job *job, struct shmt_error *err)
{
    const struct shmt_command_device *const device = &job->work.device;
    enum shmtune_status status = SHMTUNE_OK;

    if (device->replayed != NULL && shmt_recording_is_file(device->replayed))
        return add_recorded(job, err);
    for (size_t k = 0;
         status == SHMTUNE_OK && k < device->catalogue->kernel_count; k++) {
        const struct shmt_kernel *kernel = device->catalogue->kernels[k].kernel;

        if (is_recorded(device, kernel->name))
            status = add_kernel(job, kernel, err);
    }
    if (status != SHMTUNE_OK || job->work.kernel_count > 0)
        return status;
    if (device->replayed != NULL)
        return refuse_recording(device, err);
    return shmt_error_set(err, SHMTUNE_NOT_FOUND, "no built-in kernels are "
                          "found; see `shmtune doctor`");
}

/* Whether a kernel has a problem to tune; of one that --wanted does not have
 * it is said. */
static bool is_wanted(struct job *job, const struct shmt_kernel *kernel)
{
    struct shmt_command_wanted *const wanted = &job->work.wanted;
    char text[256];

    if (wanted->file == NULL)
        return true;
    for (size_t k = 0; k < wanted->file->count; k++)
        if (strcmp(wanted->file->problems[k].kernel, kernel->name) == 0)
            return true;
    snprintf(text, sizeof text, "%s: nothing of it is wanted", kernel->name);
    shmt_command_wanted_leave(wanted, 0, text);
    return false;
}

static enum shmtune_status add_words(struct job *job, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < job->plan.count; k++)
        if (job->named[k] != NULL && is_wanted(job, job->named[k]))
            status = add_kernel(job, job->named[k], err);
    if (status == SHMTUNE_OK && job->work.kernel_count == 0)
        status = shmt_error_set(err, SHMTUNE_NOT_FOUND, "%s: none of its "
                                "problems is one of these kernels",
                                job->work.wanted.path);
    return status;
}

/* The page and the drawing are written before anything is measured: not over
 * what was named to be read. */
static enum shmtune_status check_outputs(const struct job *job,
                                         struct shmt_error *err)
{
    const struct shmt_command_tune_options *const o = &job->work.options;
    const char *const outputs[] = {o->report, o->plot};
    const struct shmt_command_repeats *const inputs[] = {&o->from, &o->also};
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t w = 0; w < sizeof outputs / sizeof *outputs; w++) {
        for (size_t k = 0; status == SHMTUNE_OK && k < job->plan.count; k++)
            if (job->named[k] != NULL)
                status = shmt_command_check_output_of(outputs[w],
                                                      job->named[k], err);
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
            for (size_t k = 0; status == SHMTUNE_OK && k < inputs[i]->count;
                 k++)
                status = shmt_command_check_output(
                    outputs[w], inputs[i]->items[k], err);
    }
    return status;
}

/* With -v it is said what the page cost. */
static void end_page(struct shmt_command_work *work)
{
    const struct shmt_command_page *const page = &work->page;
    struct shmt_error why;
    char text[160];

    if (shmt_command_page_end(&work->page, &why) != SHMTUNE_OK)
        shmt_display_notice(&work->display, why.text);
    if (page->path == NULL || !work->call->verbose)
        return;
    snprintf(text, sizeof text, "the page was written %zu times, in %.3f s of "
             "%.1f s", page->written, page->spent_s,
             shmt_clock_s() - work->began_s);
    shmt_display_notice(&work->display, text);
}

static void tell_spent(struct shmt_command_work *work)
{
    const struct shmt_sheet *const sheet = &work->sheet;
    struct shmt_text text = {0};

    if (sheet->spent == 0)
        return;
    shmt_command_budget_tell_spent(&work->budget, sheet->spent,
                                   sheet->spent_known, &text);
    shmt_display_notice(&work->display, shmt_text_string(&text));
    shmt_text_free(&text);
}

/* The kernels of --wanted that are there, as words of the plan. */
static enum shmtune_status name_wanted(struct job *job,
                                       struct shmt_error *err)
{
    struct shmt_command_wanted *const wanted = &job->work.wanted;
    const char *const *names;
    const char **there;
    size_t count;
    char text[256];
    const enum shmtune_status status =
        shmt_command_wanted_kernels(wanted, &names, &count, err);

    if (status != SHMTUNE_OK)
        return status;
    there = shmt_arena_alloc(job->work.arena, count, sizeof *there);
    if (there == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < count; k++) {
        if (shmt_catalogue_find(job->work.device.catalogue, names[k]) !=
            NULL) {
            there[job->plan.count++] = names[k];
            continue;
        }
        snprintf(text, sizeof text, "%s: wanted, and no kernel here has this "
                 "name; name its spec, or its folder in SHMTUNE_PATH",
                 names[k]);
        shmt_command_wanted_leave(wanted, 0, text);
    }
    job->plan.words = there;
    return job->plan.count > 0
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_NOT_FOUND, "%s: none of its "
                                "kernels is here; name their specs, or their "
                                "folders in SHMTUNE_PATH", wanted->path);
}

static enum shmtune_status tune_words(struct job *job, int count,
                                      struct shmt_error *err)
{
    struct shmt_command_work *const work = &job->work;
    const bool live = work->device.replayed == NULL;
    size_t problems = 0;
    enum shmtune_status status = SHMTUNE_OK;

    job->plan = (struct plan){
        (const char *const *)work->call->words, (size_t)count,
        &work->options.sizes, &work->wanted
    };
    work->wanted.arena = work->arena;
    work->wanted.display = &work->display;
    status = shmt_command_wanted_open(&work->wanted, work->options.wanted,
                                      err);
    if (status == SHMTUNE_OK && work->wanted.file != NULL && count == 0)
        status = name_wanted(job, err);
    if (status == SHMTUNE_OK && (live || job->plan.count > 0))
        status = check_plan(job, &problems, err);
    if (status == SHMTUNE_OK)
        status = job->plan.count > 0 ? add_words(job, err)
                                     : add_all(job, err);
    if (status == SHMTUNE_OK)
        status = check_outputs(job, err);
    if (status != SHMTUNE_OK)
        return status;
    problems *= shmt_command_work_models(work);
    /* With a recorded device it is not known yet which of them it has. */
    work->display.problems = live ? problems : 0;
    work->display.names_devices = shmt_command_work_devices(work) > 1;
    work->sheet.names_models = shmt_command_work_models(work) > 1;
    work->display.lanes = work->display.names_devices ||
                                  shmt_command_work_together(work) > 1
                              ? SHMT_DISPLAY_LANES : 1;
    if (live)
        /* Of far workers one may be granted alone. */
        shmt_command_budget_begin(&work->budget, problems,
                                  work->device.far.on != NULL
                                      ? problems
                                      : shmt_command_work_most(work),
                                  job->plan.count == 0, work->began_s);
    work->page = (struct shmt_command_page){
        .path = work->options.report, .plot = work->options.plot,
        .ask = shmt_command_figures_ask(&work->options.figures)};
    status = shmt_command_work_check_plot(
        work, live && problems > work->kernel_count ? problems
                                                    : work->kernel_count, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_page_begin(&work->page, err);
    if (status != SHMTUNE_OK)
        return status;
    status = shmt_command_work_run(work, err);
    end_page(work);
    tell_spent(work);
    if (status == SHMTUNE_OK && work->wanted.left_out > 0 &&
        work->sheet.count + work->sheet.failed == 0)
        shmt_display_notice(&work->display, "nothing is left to tune");
    return status;
}

static enum shmtune_status choose_device(struct shmt_command_work *work,
                                         struct shmt_error *err)
{
    struct shmt_command_device *const device = &work->device;
    enum shmtune_status status;

    *device = (struct shmt_command_device){
        .data_seed = work->options.data_seed < 0
                         ? SHMT_COMMAND_SEED
                         : (uint64_t)work->options.data_seed,
        .arena = work->arena,
        .display = &work->display,
    };
    device->warm = work->options.warm;
    device->compile_s = (double)work->options.compile_s;
    device->far = work->options.far;
    status = shmt_command_device_choose(device, work->options.device, err);
    if (status == SHMTUNE_OK && device->replayed != NULL &&
        work->options.total != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--total is for a GPU; the seconds of %s are "
                              "recorded ones, give each problem a --budget",
                              work->options.device);
    if (status == SHMTUNE_OK && device->replayed != NULL &&
        work->options.data_seed >= 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--data-seed is for a GPU; %s has the inputs "
                                "that it was recorded with",
                                work->options.device);
    if (status == SHMTUNE_OK && device->warm &&
        (device->replayed != NULL || device->far.on != NULL))
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--warm is for a GPU of this machine; %s",
                                device->replayed != NULL
                                    ? "a recording has the times it has"
                                    : "with --on the cache is cold");
    if (status != SHMTUNE_OK)
        return status;
    /* A recorded run does not depend on the machine it is replayed on. */
    device->jobs = work->options.jobs > 0 ? (size_t)work->options.jobs
                   : device->replayed != NULL ? REPLAY_JOBS : 0;
    return SHMTUNE_OK;
}

static void end(struct job *job)
{
    shmt_command_work_end(&job->work);
    for (size_t k = 0; job->named != NULL &&
                       k < (job->plan.count > 0 ? job->plan.count : 1); k++)
        shmt_kernel_free(job->named[k]);
    free(job->named);
    shmt_catalogue_close(job->work.device.catalogue);
    shmt_arena_free(job->work.arena);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.work = {.call = call, .began_s = shmt_clock_s()}};
    struct shmt_command_work *const work = &job.work;
    struct shmt_error printed = {0};
    int rest;
    enum shmtune_status status = parse_options(work, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    work->arena = shmt_arena_new();
    if (work->arena == NULL)
        return shmt_error_memory(err);
    shmt_command_catch_signals();
    shmt_display_begin(&work->display, call);
    work->display.is_json = work->options.progress;
    if (work->options.progress)
        shmt_command_pulse_end();
    shmt_sheet_begin(&work->sheet, call, work->options.json);
    status = choose_device(work, err);
    if (status == SHMTUNE_OK)
        status = tune_words(&job, rest, err);
    if (status != SHMTUNE_OK)
        shmt_sheet_fail(&work->sheet, NULL, NULL, err);
    if (status == SHMTUNE_OK && work->failure.status != SHMTUNE_OK)
        status = shmt_error_set(err, work->failure.status, "%s",
                                work->failure.text);
    if (shmt_sheet_end(&work->sheet, &printed) !=
            SHMTUNE_OK && status == SHMTUNE_OK)
        status = shmt_error_set(err, printed.status, "%s", printed.text);
    shmt_command_tell_ends(&work->display, &work->sheet);
    shmt_display_summary(&work->display, &work->sheet, work->options.output);
    shmt_sheet_free(&work->sheet);
    end(&job);
    return status;
}

const struct shmt_command shmt_command_tune = {
    "tune", "find the fastest configuration of kernels on a device", help,
    run
};
