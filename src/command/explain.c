/* SPDX-License-Identifier: MIT */
/*
 * explain: why the winner is faster: configurations of one kernel side by
 * side, with what the compiler reported, what the clock said and what the
 * hardware counted.  It finds the tuning and in it the entry that is set
 * against the default; explain_show.c prints the comparison.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "command/explain.h"
#include "command/far.h"
#include "device/device.h"
#include "record/record.h"
#include "target/target.h"
#include "tune/tune.h"

enum { SAMPLES = 21 };

static const char help[] =
    "usage: shmtune explain KERNEL|SPEC.yaml [--device N|UUID|replay:NAME]\n"
    "                       [--size DIM=N,...] [OPTION]...\n"
    "\n"
    "Sets the tuned configuration against the default: time, registers,\n"
    "spills, shared memory, occupancy, and what the hardware counted (through\n"
    "Nsight Compute's ncu): sectors a request, DRAM traffic, bank conflicts,\n"
    "local memory, active warps and threads, how busy the pipes were; and\n"
    "says what the counts mean. They are those of one launch on a cold L2.\n"
    "\n"
    "  -d, --device N|UUID\n"
    "                      the GPU [0]\n"
    "  --device replay:X   a recorded one: all but the counters\n"
    "  --on COMMAND        the GPU is where COMMAND leads, as in `tune`: all\n"
    "                      but the counters\n"
    "  --far-program PATH  shmtune there [shmtune]\n"
    "  --far-timeout N     give up a machine silent for N seconds [15]\n"
    "  --size DIM=N,...    the problem [the default one where it is tuned,\n"
    "                      else the largest that is]\n"
    "  --tuning FILE       the tuning\n"
    "  -o, --output DIR    or where `shmtune tune` put it [./tunings, then\n"
    "                      beside the kernels]\n"
    "  --config P=V,...    set this against the default, not the tuned one;\n"
    "                      parameters left out have their default (may be\n"
    "                      repeated)\n"
    "  --no-counters       without ncu\n"
    "  --data-seed N       of the inputs [1]\n"
    "  --json              everything, with every counter by its name\n"
    "\n"
    "Without counters the rest is still printed; then the exit status is 8\n"
    "when there is no ncu, 10 when the driver does not let this user read\n"
    "counters, and standard error has the remedy. $SHMTUNE_NCU names an ncu.\n"
    "\n"
    "examples:\n"
    "  shmtune explain transpose --device 0 --size rows=8192,cols=8192\n"
    "  shmtune explain bank_conflict --config STRIDE=1 --config STRIDE=32\n"
    "  shmtune explain reduce --device replay:h100\n";

struct options {
    const char *device, *size, *tuning, *output;
    struct shmt_command_repeats configs;
    struct shmt_command_far far;
    int64_t data_seed;
    bool counters, json;
};

/* One use of the command. */
struct job {
    const struct shmt_command_call *call;
    struct options options;
    struct shmt_arena *arena;
    struct shmt_kernel *kernel;
    struct shmt_target *target;
    struct shmt_command_device device;
    struct shmt_display display;
    struct shmt_explain_view all;
    struct shmt_error missing;     /* why there are no counters */
};

/* -- options -------------------------------------------------------------- */

static enum shmtune_status parse_options(struct job *job,
                                         struct shmt_error *err)
{
    struct options *const o = &job->options;
    const struct shmt_command_option table[] = {
        {"device", 'd', SHMT_OPTION_TEXT, &o->device, 0, 0},
        SHMT_COMMAND_FAR(o->far),
        {"size", 0, SHMT_OPTION_TEXT, &o->size, 0, 0},
        {"tuning", 0, SHMT_OPTION_PATH, &o->tuning, 0, 0},
        {"output", 'o', SHMT_OPTION_PATH, &o->output, 0, 0},
        {"config", 0, SHMT_OPTION_REPEATED, &o->configs, 0, 0},
        {"counters", 0, SHMT_OPTION_FLAG, &o->counters, 0, 0},
        {"data-seed", 0, SHMT_OPTION_INT, &o->data_seed, 0, INT64_MAX},
        {"json", 0, SHMT_OPTION_FLAG, &o->json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    int rest;
    enum shmtune_status status;

    *o = (struct options){.device = "0", .data_seed = SHMT_COMMAND_SEED,
                          .counters = true, .far = SHMT_COMMAND_FAR_USUAL};
    status = shmt_command_options(job->call, table, &rest, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_far_check(&o->far, err);
    if (status == SHMTUNE_OK && rest != 1)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%d kernels are given; one is expected", rest);
    if (status == SHMTUNE_OK && o->configs.count > 0 &&
        (o->tuning != NULL || o->output != NULL))
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--config is given, so no tuning is read: "
                                "leave --tuning and --output out");
    return status;
}

static enum shmtune_status open_device(struct job *job,
                                       struct shmt_error *err)
{
    struct shmt_command_device *const device = &job->device;
    enum shmtune_status status;

    *device = (struct shmt_command_device){
        .jobs = 1,
        .far = job->options.far,
        .data_seed = (uint64_t)job->options.data_seed,
        .arena = job->arena,
        .display = &job->display,
    };
    status = shmt_command_device_choose(device, job->options.device, err);
    return status == SHMTUNE_OK
               ? shmt_command_device_open(device, job->kernel, &job->target,
                                          err)
               : status;
}

/* -- where the tuned configuration is ------------------------------------- */

/* Where the tuned configuration is looked for: `file`, else OUTPUT, else
 * ./tunings, then the folders of the kernels. */
struct search {
    struct shmt_arena *arena;
    const struct shmt_target *target;
    const struct shmt_recording_places *places;
    const struct shmt_catalogue *catalogue;
    struct shmt_display *display;
    const char *file, *output;
};

/* ROOT/KERNEL/DEVICE.yaml; *out is NULL when it is not there. */
static enum shmtune_status tuning_in(const struct search *search,
                                     const char *root, const char **out,
                                     struct shmt_error *err)
{
    char name[512], slug[128];
    enum shmt_path_kind kind;
    const char *path;

    shmt_device_slug(&search->target->device, slug);
    snprintf(name, sizeof name, "%s/%s.yaml", search->target->kernel->name,
             slug);
    path = shmt_path_join(search->arena, root, name);
    if (path == NULL)
        return shmt_error_memory(err);
    kind = shmt_path_kind(path);
    if (kind == SHMT_PATH_UNKNOWN)
        return shmt_error_system(err, path, "cannot be examined");
    if (kind != SHMT_PATH_ABSENT)
        *out = path;
    return SHMTUNE_OK;
}

static enum shmtune_status find_file(const struct search *search,
                                     const char **out, struct shmt_error *err)
{
    const char *path = search->file;
    enum shmtune_status status = SHMTUNE_OK;

    if (path == NULL)
        status = tuning_in(search, search->output != NULL ? search->output
                                                          : "./tunings",
                           &path, err);
    for (size_t k = 0; status == SHMTUNE_OK && path == NULL &&
                       k < search->places->count && search->output == NULL;
         k++) {
        const char *const root = shmt_path_join(
            search->arena, search->places->roots[k], "tunings");

        status = root == NULL ? shmt_error_memory(err)
                              : tuning_in(search, root, &path, err);
    }
    if (status == SHMTUNE_OK && path == NULL && search->output == NULL)
        status = shmt_command_check_catalogue(search->catalogue, err);
    if (status == SHMTUNE_OK && path == NULL)
        return shmt_error_set(
            err, SHMTUNE_NOT_FOUND,
            "there is no tuning of %s for %s in %s: `shmtune tune` makes one, "
            "--tuning FILE names one, --config P=V,... names a configuration",
            search->target->kernel->name, search->target->device.name,
            search->output != NULL ? search->output
                                   : "./tunings or beside the kernels");
    *out = path;
    return status;
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
choose_entry(const struct search *search, const struct shmt_tuning *tuning,
             bool problem_given, struct shmt_explain_view *out,
             struct shmt_error *err)
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
        if (!settled && (problem_given || !is_recorded(search->target,
                                                       problem)))
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

/* The tuned column.  `problem_given` false: the problem is chosen too, the
 * kernel's usual one when it is tuned, else the largest.  SHMTUNE_NOT_FOUND
 * with what there is. */
static enum shmtune_status find_tuned(const struct search *search,
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

/* -- which configurations ------------------------------------------------- */

static enum shmtune_status take_configs(struct job *job,
                                        struct shmt_error *err)
{
    struct shmt_explain_view *const all = &job->all;

    for (size_t k = 0; k < job->options.configs.count; k++) {
        struct shmt_explain_column *const column = &all->columns[all->count];
        enum shmtune_status status = shmt_command_parse_config(
            job->kernel, job->options.configs.items[k], column->config, err);

        if (status != SHMTUNE_OK)
            return status;
        snprintf(column->label, sizeof column->label, "config %zu", k + 1);
        all->count++;
    }
    if (job->options.size == NULL && job->target->recorded)
        memcpy(all->problem, shmt_replay_header(job->target, 0)->problem,
               job->kernel->dimension_count * sizeof *all->problem);
    return SHMTUNE_OK;
}

static enum shmtune_status choose_columns(struct job *job,
                                          struct shmt_error *err)
{
    struct shmt_explain_view *const all = &job->all;
    const struct search search = {
        .arena = job->arena, .target = job->target,
        .places = &job->device.places, .display = &job->display,
        .catalogue = job->device.catalogue,
        .file = job->options.tuning, .output = job->options.output,
    };
    enum shmtune_status status;

    all->kernel = job->kernel;
    all->target = job->target;
    all->columns = shmt_arena_alloc(job->arena, SHMT_EXPLAIN_COLUMNS,
                                    sizeof *all->columns);
    if (all->columns == NULL)
        return shmt_error_memory(err);
    status =
        shmt_command_parse_problem(job->kernel, job->options.size, all->problem,
                                        err);
    if (status != SHMTUNE_OK)
        return status;
    shmt_kernel_default(job->kernel, all->columns[0].config);
    snprintf(all->columns[0].label, sizeof all->columns[0].label, "default");
    all->count = 1;
    return job->options.configs.count > 0
               ? take_configs(job, err)
               : find_tuned(&search, job->options.size != NULL, all, err);
}

/* -- measuring ------------------------------------------------------------ */

static enum shmtune_status ask(struct job *job,
                               const struct shmt_target_request *request,
                               struct shmt_result *out,
                               struct shmt_error *err)
{
    const struct shmt_target_operations *const operations =
        job->target->operations;
    struct shmt_target_reply reply;
    bool got = false;
    enum shmtune_status status =
        operations->submit(job->target, request, err);

    while (status == SHMTUNE_OK && !got) {
        if (shmt_command_stopped)
            return shmt_error_set(err, SHMTUNE_INTERRUPTED, "interrupted");
        status = operations->wait(job->target, 0.25, &got, &reply, err);
    }
    if (status == SHMTUNE_OK)
        *out = reply.result;
    return status;
}

static enum shmtune_status measure(struct job *job,
                                   struct shmt_explain_column *column,
                                   struct shmt_error *err)
{
    const struct shmt_filter filter = {
        .kernel = job->kernel, .device = &job->target->device,
        .problem = job->all.problem,
        .policy = {.max_spill_bytes = -1, .min_occupancy_percent = 0}
    };
    struct shmt_result *const result = &column->result;
    struct shmt_result compiled;
    struct shmt_target_request request = {
        .verb = SHMT_TARGET_INSPECT, .config = column->config,
        .samples = SAMPLES,
        .give_up_us = (double)INFINITY, .verify = true, .compiled = &compiled
    };
    enum shmtune_status status;

    if (!shmt_filter_before_compile(&filter, column->config, result))
        return SHMTUNE_OK;
    status = ask(job, &request, result, err);
    if (status != SHMTUNE_OK || result->verdict != SHMT_VERDICT_OK ||
        !shmt_filter_after_compile(&filter, column->config, result))
        return status;
    compiled = *result;
    request.verb = SHMT_TARGET_MEASURE;
    return ask(job, &request, result, err);
}

static enum shmtune_status measure_all(struct job *job,
                                       struct shmt_error *err)
{
    enum shmtune_status status = job->target->operations->begin(
        job->target, job->all.problem, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < job->all.count; k++)
        status = measure(job, &job->all.columns[k], err);
    return status;
}

/* -- counting ------------------------------------------------------------- */

static bool all_ran(const struct shmt_explain_view *all)
{
    for (size_t k = 0; k < all->count; k++)
        if (all->columns[k].result.verdict != SHMT_VERDICT_OK)
            return false;
    return true;
}

/* If counters cannot be read, the reason is kept and reported after the
 * rest. */
static void count(struct job *job)
{
    struct shmt_explain_view *const all = &job->all;
    const size_t parameters = job->kernel->parameter_count;
    shmt_config *const configs = shmt_arena_alloc(
        job->arena, all->count * parameters + 1, sizeof *configs);
    struct shmt_counters *const counters =
        shmt_arena_alloc(job->arena, all->count, sizeof *counters);
    const struct shmt_counters_request request = {
        .kernel = job->kernel, .problem = all->problem, .count = all->count,
        .configs = configs, .worker = getenv("SHMTUNE_WORKER"),
        .device = job->options.device, .uuid = job->target->device.uuid,
        .data_seed = (uint64_t)job->options.data_seed,
        .stop = &shmt_command_stopped,
    };

    if (configs == NULL || counters == NULL) {
        shmt_error_memory(&job->missing);
        return;
    }
    for (size_t k = 0; k < all->count; k++)
        memcpy(configs + k * parameters, all->columns[k].config,
               parameters * sizeof *configs);
    all->counted = shmt_counters_collect(&request, counters, &job->missing) ==
                   SHMTUNE_OK;
    if (all->counted)      /* clear an error that an earlier attempt left */
        job->missing.status = SHMTUNE_OK;
    for (size_t k = 0; k < all->count; k++)
        all->columns[k].counters = counters[k];
}

static void count_if_possible(struct job *job)
{
    struct shmt_explain_view *const all = &job->all;

    if (job->target->recorded) {
        all->missing = "a recording holds no counters";
        if (job->options.counters)
            shmt_display_notice(&job->display, all->missing);
    } else if (!job->options.counters) {
        all->missing = "--no-counters";
    } else if (job->options.far.on != NULL) {
        shmt_error_set(&job->missing, SHMTUNE_NOT_FOUND,
                       "ncu counts on the machine that it runs on, and --on "
                       "starts none there: run `shmtune explain` there, or "
                       "leave them out by --no-counters");
    } else if (!all_ran(all)) {
        shmt_error_set(&job->missing, SHMTUNE_WRONG_RESULT,
                       "a configuration did not run: no counters were read");
    } else {
        count(job);
    }
    if (job->missing.status != SHMTUNE_OK)
        all->missing = job->missing.text;
}

/* -- the command ---------------------------------------------------------- */

static enum shmtune_status work(struct job *job, struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_command_kernel(job->call->words[0], &job->kernel, err);

    if (status == SHMTUNE_OK && job->kernel->launch_count == 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s describes a space only, so there is "
                                "nothing to launch", job->kernel->path);
    if (status == SHMTUNE_OK)
        status = open_device(job, err);
    if (status == SHMTUNE_OK)
        status = choose_columns(job, err);
    if (status == SHMTUNE_OK)
        status = measure_all(job, err);
    if (status != SHMTUNE_OK)
        return status;
    count_if_possible(job);
    if (job->missing.status == SHMTUNE_INTERRUPTED)
        return shmt_error_set(err, SHMTUNE_INTERRUPTED, "%s",
                              job->missing.text);
    status = job->options.json
                 ? shmt_explain_json(&job->all, err)
                 : shmt_explain_show(&job->all, job->call, err);
    if (status == SHMTUNE_OK && job->missing.status != SHMTUNE_OK)
        status = shmt_error_set(err, job->missing.status, "no counters: %s",
                                job->missing.text);
    return status;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.call = call};
    enum shmtune_status status = parse_options(&job, err);

    if (status != SHMTUNE_OK)
        return status;
    job.arena = shmt_arena_new();
    if (job.arena == NULL)
        return shmt_error_memory(err);
    shmt_command_catch_signals();
    shmt_display_begin(&job.display, call);
    status = work(&job, err);
    if (job.target != NULL)
        job.target->operations->close(job.target);
    shmt_live_pool_close(job.device.pool);
    shmt_kernel_free(job.kernel);
    shmt_catalogue_close(job.device.catalogue);
    shmt_arena_free(job.arena);
    return status;
}

const struct shmt_command shmt_command_explain = {
    "explain", "what the hardware counted: the tuned beside the default",
    help, run
};
