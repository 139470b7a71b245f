/* SPDX-License-Identifier: MIT */
/*
 * tune_work: see tune_work.h.  Called by command/tune.c.
 */
#include "config.h"

#include "command/tune_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/tune_from.h"
#include "command/tune_plan.h"
#include "record/record.h"
#include "target/target.h"

/* What is known of a kernel on the devices of a model. */
struct known {
    struct shmt_winners winners;   /* of its problems so far */
    struct shmt_winners also;      /* of --also */
    struct shmt_tune_prior *prior; /* or NULL; */
    char from[SHMT_JOURNAL_FROM], from_digest[SHMT_DIGEST_TEXT];
                                   /* what it is */
    struct shmt_figures *figures;  /* that are asked for, or NULL */
    bool is_begun;                 /* `also` has been read, */
    bool is_ready;                 /* and the prior */
};

size_t shmt_command_work_devices(const struct shmt_command_work *work)
{
    return work->device.replayed != NULL ? 1 : work->device.gpu_count;
}

size_t shmt_command_work_models(const struct shmt_command_work *work)
{
    size_t count = 1;

    for (size_t k = 0; k < work->device.gpu_count; k++)
        if (work->device.gpus[k].model >= count)
            count = work->device.gpus[k].model + 1;
    return count;
}

/* Devices of a model that are there. */
static size_t count_devices(const struct shmt_command_work *work, size_t model)
{
    size_t count = 0;

    for (size_t k = 0; k < work->device.gpu_count; k++)
        count += work->device.gpus[k].model == model &&
                 !work->device.gpus[k].lost;
    return count;
}

size_t shmt_command_work_most(const struct shmt_command_work *work)
{
    const size_t models = shmt_command_work_models(work);
    size_t most = 0;

    for (size_t model = 0; model < models; model++) {
        const size_t devices = work->device.replayed != NULL
                                   ? 1 : count_devices(work, model);
        size_t count = 0;

        for (size_t k = 0; k < work->kernel_count; k++)
            if (work->kernels[k].model == model)
                count += work->kernels[k].count;
        if (devices > 0 && (count + devices - 1) / devices > most)
            most = (count + devices - 1) / devices;
    }
    return most;
}

size_t shmt_command_work_together(const struct shmt_command_work *work)
{
    const size_t most = shmt_command_work_most(work);

    if (work->device.replayed != NULL || work->device.far.on != NULL)
        return 1;
    return most <= SHMT_CAMPAIGN_MOST ? most : SHMT_CAMPAIGN_TOGETHER;
}

/* -- which problems ------------------------------------------------------- */

static bool has_before(int64_t (*problems)[SHMT_KERNEL_DIMENSIONS],
                       size_t count, const int64_t *one, size_t dimensions)
{
    for (size_t k = 0; k < count; k++)
        if (memcmp(problems[k], one, dimensions * sizeof *one) == 0)
            return true;
    return false;
}

/* The k-th problem, which may be there twice. */
static enum shmtune_status choose_problem(const struct shmt_command_work *work,
                                          const struct shmt_kernel *kernel,
                                          const struct shmt_target *replay,
                                          size_t k, int64_t *problem,
                                          struct shmt_error *err)
{
    const int64_t *from;

    if (work->options.sizes.count > 0)
        return shmt_command_parse_problem(
            kernel, work->options.sizes.items[k], problem, err);
    from = replay != NULL ? shmt_replay_header(replay, k)->problem
                          : kernel->sizes[k];
    memcpy(problem, from, kernel->dimension_count * sizeof *problem);
    return SHMTUNE_OK;
}

/* `replay` is NULL for a GPU. */
static enum shmtune_status set_problems(struct shmt_command_work *work,
                                        struct shmt_campaign_kernel *kernel,
                                        const struct shmt_target *replay,
                                        struct shmt_error *err)
{
    const size_t most = work->options.sizes.count > 0
                            ? work->options.sizes.count
                        : replay != NULL ? shmt_replay_count(replay)
                                         : kernel->kernel->size_count;
    int64_t (*const problems)[SHMT_KERNEL_DIMENSIONS] =
        shmt_arena_alloc(work->arena, most + 1, sizeof *problems);
    struct shmt_command_wanted_problems wanted;
    enum shmtune_status status = SHMTUNE_OK;
    size_t count = 0;

    if (problems == NULL)
        return shmt_error_memory(err);
    if (work->wanted.file != NULL) {
        status = shmt_command_wanted_any(&work->wanted, kernel->kernel,
                                         &wanted, err);
        kernel->problems = wanted.list;
        kernel->count = wanted.count;
        return status;
    }
    for (size_t k = 0; status == SHMTUNE_OK && k < most; k++) {
        memset(problems[count], 0, sizeof problems[count]);
        status = choose_problem(work, kernel->kernel, replay, k,
                                problems[count], err);
        count += status == SHMTUNE_OK &&
                 !has_before(problems, count, problems[count],
                             kernel->kernel->dimension_count);
    }
    kernel->problems = problems;
    kernel->count = count;
    return status;
}

/* What a search takes grows with the parameters and their values: by the
 * logarithm of all combinations. */
static double weight_of(const struct shmt_kernel *kernel)
{
    double combinations = 1;

    for (size_t p = 0; p < kernel->parameter_count; p++)
        combinations += log2((double)kernel->parameters[p].count);
    return combinations;
}

enum shmtune_status shmt_command_work_add(struct shmt_command_work *work,
                                          const struct shmt_kernel *kernel,
                                          struct shmt_error *err)
{
    const size_t models = shmt_command_work_models(work);
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t model = 0; status == SHMTUNE_OK && model < models; model++) {
        struct known *const known =
            shmt_arena_alloc(work->arena, 1, sizeof *known);
        struct shmt_campaign_kernel *one;
        if (known == NULL ||
            !shmt_array_reserve(&work->kernels, &work->kernel_room,
                                work->kernel_count + 1,
                                sizeof *work->kernels))
            return shmt_error_memory(err);
        memset(known, 0, sizeof *known);
        one = &work->kernels[work->kernel_count++];
        *one = (struct shmt_campaign_kernel){
            .kernel = kernel, .model = model, .weight = weight_of(kernel),
            .more = known};
        status = shmt_command_figures_new(&work->options.figures, kernel,
                                          kernel->path, &known->figures, err);
        if (status == SHMTUNE_INVALID_ARGUMENT)
            shmt_error_prefix(err, "%s", kernel->name);
        if (status == SHMTUNE_OK && work->device.replayed == NULL)
            status = set_problems(work, one, NULL, err);
    }
    return status;
}

/* -- what becomes of them ------------------------------------------------- */

static enum shmtune_status write_recording(
    struct shmt_command_work *work, const struct shmt_target *target,
    const struct shmt_tune_outcome *outcome, struct shmt_error *err)
{
    struct shmt_output_paths place;
    struct shmt_text name = {0};
    enum shmtune_status status;

    if (work->options.record == NULL)
        return SHMTUNE_OK;
    status = shmt_output_paths_of(work->arena, target, work->options.record,
                                  outcome->header.problem, &place, err);
    if (status == SHMTUNE_OK)
        status = shmt_recording_write(place.recording, target->kernel,
                                      &outcome->header, outcome->ledger,
                                      outcome->space, err);
    if (status == SHMTUNE_OK)
        return SHMTUNE_OK;
    shmt_kernel_name_problem(target->kernel, outcome->header.problem, &name);
    shmt_error_prefix(err, "%s is tuned, but not recorded",
                      shmt_text_string(&name));
    shmt_text_free(&name);
    return status;
}

/* The tuning is written. */
static enum shmtune_status keep_results(
    struct shmt_command_work *work, const struct shmt_target *target,
    const struct shmt_tune_outcome *outcome,
    const struct shmt_output_paths *place, struct known *known,
    struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = shmt_output_write_tuning(
        target->kernel, outcome, place->tuning, &text, err);

    if (text.length > 0)
        shmt_display_notice(&work->display, shmt_text_string(&text));
    shmt_text_free(&text);
    if (status != SHMTUNE_OK)
        return status;
    shmt_display_result(&work->display, target, outcome, place);
    shmt_sheet_add(&work->sheet, target, outcome, place, known->figures);
    return shmt_winners_add(target->kernel, outcome, &known->winners, err);
}

/* Checks that the results can be written before anything is measured. */
static enum shmtune_status check_output(const struct shmt_command_work *work,
                                        const struct shmt_target *target,
                                        struct shmt_error *err)
{
    const struct shmt_command_tune_options *const o = &work->options;
    enum shmtune_status status =
        shmt_output_make_folder(target, o->output, "--output", err);

    if (status == SHMTUNE_OK)
        status = shmt_output_check_tuning(target, o->output, err);
    if (status == SHMTUNE_OK && o->record != NULL)
        status = shmt_output_make_folder(target, o->record, "--record", err);
    return status;
}

/* Whether the next problem would fail in the same way.  Running out of memory
 * does not count, because it may be device memory, and a smaller problem may
 * fit.  Neither does a problem that is not recorded, because another one may
 * be. */
static bool ends_run(const struct shmt_command_work *work,
                     enum shmtune_status status)
{
    return status == SHMTUNE_INTERRUPTED || status == SHMTUNE_STORAGE ||
           status == SHMTUNE_INVALID_ARGUMENT ||
           (status == SHMTUNE_NO_DEVICE && work->device.replayed == NULL);
}

/* Reports a failure at once, because the run goes on.  The failure that ends
 * the run decides the exit status, else the first one. */
static void tell_failure(struct shmt_command_work *work,
                         const struct shmt_error *why, bool ends)
{
    const struct shmt_error before = work->failure;
    const bool decides = before.status == SHMTUNE_OK || ends;

    if (decides)
        work->failure = *why;
    if (before.status != SHMTUNE_OK)
        shmt_display_failure(&work->display, decides ? &before : why);
}

static void note_failure(struct shmt_command_work *work,
                         const struct shmt_kernel *kernel,
                         const int64_t *problem, bool tuned,
                         const struct shmt_error *why)
{
    if (tuned)
        shmt_sheet_fail_recording(&work->sheet, kernel, problem, why);
    else
        shmt_sheet_fail(&work->sheet, kernel, problem, why);
    tell_failure(work, why, ends_run(work, why->status));
}

enum shmtune_status
shmt_command_work_check_plot(const struct shmt_command_work *work,
                             size_t problems, struct shmt_error *err)
{
    return work->options.plot == NULL || problems <= 1
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--plot draws one run, and there are %zu; "
                                "name one KERNEL and one --size, or give "
                                "--report FILE.html, which has them all",
                                problems);
}

/* -- what a campaign asks ------------------------------------------------- */

static enum shmtune_status
open_kernel(void *context, const struct shmt_campaign_kernel *kernel,
            size_t device, struct shmt_target **out, struct shmt_error *err)
{
    struct shmt_command_work *const work = context;
    const struct shmt_command_repeats *const also = &work->options.also;
    struct known *const known = kernel->more;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0;
         status == SHMTUNE_OK && !known->is_begun && k < also->count; k++)
        status = shmt_winners_read(kernel->kernel, also->items[k],
                                   &known->also, err);
    if (status != SHMTUNE_OK)
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    known->is_begun = true;
    shmt_command_pulse_work("opening the device for %s", kernel->kernel->name);
    return shmt_command_device_start(&work->device, kernel->kernel, device,
                                     out, err);
}

/* Of the problems of --wanted those that are to be tuned on this device, which
 * is known now. */
static enum shmtune_status keep_wanted(struct shmt_command_work *work,
                                       struct shmt_campaign_kernel *kernel,
                                       const struct shmt_target *target,
                                       struct shmt_error *err)
{
    const int64_t none[SHMT_KERNEL_DIMENSIONS] = {0};
    struct shmt_command_wanted_problems wanted;
    struct shmt_output_paths place;
    enum shmtune_status status = shmt_output_paths_of(
        work->arena, target, work->options.output, none, &place, err);

    if (status == SHMTUNE_OK)
        status = shmt_command_wanted_here(&work->wanted, target, place.tuning,
                                          &wanted, err);
    if (status != SHMTUNE_OK)
        return status;
    if (work->display.problems >= kernel->count)
        work->display.problems -= kernel->count - wanted.count;
    kernel->problems = wanted.list;
    kernel->count = wanted.count;
    return SHMTUNE_OK;
}

static enum shmtune_status opened_kernel(void *context,
                                         struct shmt_campaign_kernel *kernel,
                                         struct shmt_target *target,
                                         struct shmt_error *err)
{
    struct shmt_command_work *const work = context;
    struct known *const known = kernel->more;
    enum shmtune_status status = check_output(work, target, err);

    if (status == SHMTUNE_OK)
        shmt_command_plan_tell(work, target);
    if (status == SHMTUNE_OK && !known->is_ready)
        status = shmt_command_from_open(
            &(struct shmt_command_from){
                &work->options.from, work->kernel_count > 1,
                work->options.strategy,
                &work->device.places, work->arena, &work->display},
            target, &known->prior, err);
    if (status == SHMTUNE_OK && !known->is_ready && known->prior != NULL)
        status = shmt_tune_prior_describe(known->prior, known->from,
                                          known->from_digest, err);
    if (status == SHMTUNE_OK && !known->is_ready && work->wanted.file != NULL)
        status = keep_wanted(work, kernel, target, err);
    known->is_ready = status == SHMTUNE_OK;
    if (status == SHMTUNE_OK && kernel->problems == NULL)
        status = set_problems(work, kernel, target, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_work_check_plot(work, kernel->count, err);
    return status;
}

static void slot_progress(void *context, const struct shmt_tune_progress *now)
{
    const struct shmt_command_slot *const slot = context;

    struct shmt_error err;

    shmt_command_pulse_work("tuning %s %s", now->kernel, now->size);
    if (shmt_command_page_go_on(&slot->work->page, &err) != SHMTUNE_OK)
        shmt_display_notice(&slot->work->display, err.text);
    shmt_display_progress(&slot->work->display, slot->lane, slot->mark, now);
}

static void slot_notice(void *context, const char *text)
{
    const struct shmt_command_slot *const slot = context;
    struct shmt_text whole = {0};

    if (strncmp(text, slot->what, strlen(slot->what)) != 0)
        shmt_text_add(&whole, slot->what);
    shmt_text_add(&whole, text);
    shmt_display_notice(&slot->work->display, shmt_text_string(&whole));
    shmt_text_free(&whole);
}

/* Where there are several, a notice says whose it is, and a line of progress on
 * which device, or which of all problems. */
static void describe_slot(struct shmt_command_slot *slot,
                          const struct shmt_campaign_task *task)
{
    const struct shmt_kernel *const kernel = task->kernel->kernel;
    const struct shmt_display *const display = &slot->work->display;
    struct shmt_text text = {0};

    slot->what[0] = slot->mark[0] = '\0';
    if (shmt_command_work_devices(slot->work) > 1)
        snprintf(slot->mark, sizeof slot->mark, "[%zu] ", task->device);
    else if (display->problems > 1)
        snprintf(slot->mark, sizeof slot->mark, "%zu/%zu ", display->problem,
                 display->problems);
    if (slot->work->slot_count < 2)
        return;
    shmt_kernel_name_problem(kernel, task->kernel->problems[task->number],
                             &text);
    snprintf(slot->what, sizeof slot->what, "%.*s: ",
             (int)sizeof slot->what - (int)sizeof ": ",
             shmt_text_string(&text));
    shmt_text_free(&text);
}

static enum shmtune_status begin_problem(void *context,
                                         const struct shmt_campaign_task *task,
                                         struct shmt_tune_options *options,
                                         struct shmt_error *err)
{
    struct shmt_command_work *const work = context;
    struct shmt_command_slot *const slot = &work->slots[task->lane];
    struct shmt_command_limits *const limits = &work->options.limits;
    const struct known *const known = task->kernel->more;
    const int64_t *const problem = task->kernel->problems[task->number];
    const bool far = work->device.far.on != NULL;
    const struct shmt_command_share share = {
        task->left, task->devices, task->together, task->part, task->busy_s,
        task->full};
    double budget_s = INFINITY, most_s = INFINITY;
    enum shmtune_status status;

    if (far)
        shmt_command_budget_granted(&work->budget);
    status = shmt_command_budget_next(&work->budget, &share, &budget_s, &most_s,
                                      err);
    work->display.problem += !task->again;
    if (status == SHMTUNE_OK)
        status = shmt_output_paths_of(work->arena, task->target,
                                      work->options.output, problem,
                                      &slot->place, err);
    if (status != SHMTUNE_OK)
        return status;
    /* Opening the device is part of the time of the problem that needs it, but
     * waiting in a queue for one is not. */
    if (!task->target->recorded && !far) {
        const double opening_s = shmt_clock_s() - task->since_s;

        budget_s = fmax(budget_s - opening_s, 1e-3);
        if (isinf(work->budget.end_s))
            most_s = fmax(most_s - opening_s, 1e-3);
    }
    describe_slot(slot, task);
    status = shmt_command_page_add(&work->page, task->kernel->kernel,
                                   slot->place.journal, slot->place.tuning,
                                   err);
    if (status != SHMTUNE_OK)
        return status;
    slot->warm_start = known->winners;
    slot->observer = (struct shmt_tune_observer){
        slot, slot_progress, slot_notice, work->call->verbose};
    limits->line = &work->display.shown;
    *options = (struct shmt_tune_options){
        .strategy = work->options.strategy,
        .seed = (uint64_t)work->options.seed,
        .budget_s = budget_s,
        .most_s = most_s,
        .more_s = shmt_command_budget_more(&work->budget),
        .spare_s = fmax(work->budget.end_s - shmt_clock_s() - budget_s, 0),
        .budget_count = work->budget.count,
        .policy = {(int)work->options.max_spill,
                   (int)work->options.min_occupancy, known->figures},
        .warm_start = &slot->warm_start,
        .last = &known->also,
        .prior = known->prior != NULL
                     ? shmt_tune_prior_of(known->prior, problem) : NULL,
        .from = known->from,
        .from_digest = known->prior != NULL ? known->from_digest : NULL,
        .journal = slot->place.journal,
        .resume = work->options.resume || task->again,
        .together = task->together,
        .yields = shmt_command_budget_is_short(&work->budget, &share),
        .stop = &shmt_command_stopped,
        .observer = &slot->observer,
        .limits = shmt_command_limits_begin(limits, work->call),
    };
    return SHMTUNE_OK;
}

static bool end_problem(void *context, const struct shmt_campaign_task *task,
                        const struct shmt_tune_outcome *outcome,
                        const struct shmt_error *why)
{
    struct shmt_command_work *const work = context;
    const struct shmt_command_slot *const slot = &work->slots[task->lane];
    struct known *const known = task->kernel->more;
    struct shmt_error err = {0};
    enum shmtune_status status = SHMTUNE_OK;
    bool tuned;

    if (why != NULL) {
        err = *why;
        status = why->status;
    }
    if (status == SHMTUNE_OK)
        status = keep_results(work, task->target, outcome, &slot->place, known,
                              &err);
    else if (status == SHMTUNE_INTERRUPTED && outcome != NULL &&
             shmt_command_stopped != 0)
        status = shmt_display_interrupt(task->target, outcome, &slot->place,
                                        work->options.resume, &err);
    tuned = status == SHMTUNE_OK;
    if (tuned) {
        shmt_command_page_done(&work->page, slot->place.journal);
        status = write_recording(work, task->target, outcome, &err);
    }
    shmt_display_done(&work->display, task->lane);
    if (status != SHMTUNE_OK)
        note_failure(work, task->kernel->kernel,
                     task->kernel->problems[task->number], tuned, &err);
    return !ends_run(work, status);
}

static void fail_all(struct shmt_command_work *work,
                     const struct shmt_campaign_kernel *kernel,
                     const size_t *numbers, size_t count,
                     const struct shmt_error *why)
{
    for (size_t k = 0; k < count; k++)
        shmt_sheet_fail(&work->sheet, kernel->kernel,
                        kernel->problems[numbers[k]], why);
    if (count == 0)
        shmt_sheet_fail(&work->sheet, kernel->kernel, NULL, why);
}

/* Puts in front of a message whose it is, where the command has others. */
static void name_problems(const struct shmt_command_work *work,
                          const struct shmt_campaign_kernel *kernel,
                          const size_t *numbers, size_t count,
                          struct shmt_error *err)
{
    struct shmt_text name = {0};
    size_t all = 0;

    for (size_t k = 0; k < work->kernel_count; k++)
        all += work->kernels[k].count;
    if (count == 0 || count == all)
        return;
    shmt_kernel_name_problem(kernel->kernel, kernel->problems[numbers[0]],
                             &name);
    if (count == 1)
        shmt_error_prefix(err, "%s", shmt_text_string(&name));
    else
        shmt_error_prefix(err, "%s: %zu problems were not tuned",
                          kernel->kernel->name, count);
    shmt_text_free(&name);
}

static bool refuse_problems(void *context,
                            const struct shmt_campaign_kernel *kernel,
                            const size_t *numbers, size_t count,
                            const struct shmt_error *why)
{
    struct shmt_command_work *const work = context;
    const struct known *const known = kernel->more;
    const bool lost = why->status == SHMTUNE_NO_DEVICE &&
                      work->device.replayed == NULL;
    struct shmt_error err = *why;

    if (lost && known->is_ready)
        shmt_error_set(&err, err.status, "%.900s; what it measured is kept, "
                       "and the same command resumes", why->text);
    else if (lost)
        shmt_command_device_advise(&work->device, kernel->kernel, &err);
    fail_all(work, kernel, numbers, count, &err);
    name_problems(work, kernel, numbers, count, &err);
    tell_failure(work, &err, ends_run(work, err.status));
    return !ends_run(work, err.status);
}

/* One line for all that were left for the same reason. */
static void tell_left(struct shmt_command_work *work)
{
    struct shmt_error why = work->left_reason;

    if (work->left == 0)
        return;
    shmt_error_prefix(&why, "%zu problem%s not tuned", work->left,
                      work->left == 1 ? " was" : "s were");
    /* What ended the run has been told, and why, but for a --total. */
    tell_failure(work, &why, ends_run(work, why.status) &&
                                 why.status != work->failure.status);
    work->left = 0;
}

static void leave_problems(void *context,
                           const struct shmt_campaign_kernel *kernel,
                           const size_t *numbers, size_t count,
                           const struct shmt_error *why)
{
    struct shmt_command_work *const work = context;

    if (why == NULL)
        why = &work->failure;
    fail_all(work, kernel, numbers, count, why);
    if (strcmp(work->left_reason.text, why->text) != 0)
        tell_left(work);
    work->left_reason = *why;
    work->left += count;
}

static void lose_device(void *context, size_t device,
                        const struct shmt_error *why)
{
    struct shmt_command_work *const work = context;
    char text[SHMT_ERROR_BYTES];

    work->device.gpus[device].lost = true;
    shmt_command_budget_lost(&work->budget, shmt_command_work_most(work));
    snprintf(text, sizeof text, "%s is not used any more, what it had goes on "
             "elsewhere: %.800s", work->device.gpus[device].uuid, why->text);
    shmt_display_notice(&work->display, text);
}

/* A device that is there later would find no time for the problem. */
static bool is_late(void *context, const struct shmt_campaign_task *task,
                    struct shmt_error *why)
{
    const struct shmt_command_work *const work = context;
    const struct shmt_command_gpu *gpu;
    const double now_s = shmt_clock_s();

    if (work->device.replayed != NULL || now_s < work->budget.end_s ||
        (work->device.far.on != NULL && !work->budget.granted))
        return false;
    gpu = &work->device.gpus[task->device];
    shmt_error_set(why, SHMTUNE_INTERRUPTED,
                   "%s%.100s was not ready after %.3g s, and --total is "
                   "spent; the same command with more goes on",
                   gpu->uuid[0] == '\0' ? "GPU " : "",
                   gpu->uuid[0] == '\0' ? gpu->word : gpu->uuid,
                   now_s - task->since_s);
    return true;
}

static const struct shmt_campaign_calls calls = {
    open_kernel, opened_kernel, begin_problem, end_problem,
    refuse_problems, leave_problems, lose_device, is_late
};

static int by_weight(const void *a, const void *b)
{
    const struct shmt_campaign_kernel *const x = a, *const y = b;

    return x->weight != y->weight ? (x->weight > y->weight ? 1 : -1)
                                  : strcmp(x->kernel->name, y->kernel->name);
}

enum shmtune_status shmt_command_work_run(struct shmt_command_work *work,
                                          struct shmt_error *err)
{
    const size_t devices = shmt_command_work_devices(work);
    size_t *const models = shmt_arena_alloc(work->arena, devices,
                                            sizeof *models);
    const struct shmt_campaign campaign = {
        .calls = &calls, .context = work,
        .kernels = work->kernels, .kernel_count = work->kernel_count,
        .models = models, .device_count = devices,
        .together = shmt_command_work_together(work),
        .queued = work->device.far.on != NULL,
        .began_s = work->began_s, .stop = &shmt_command_stopped,
    };
    enum shmtune_status status;

    /* What the first leave is there for those that need most. */
    if (isfinite(work->budget.total_s) && work->wanted.file == NULL)
        qsort(work->kernels, work->kernel_count, sizeof *work->kernels,
              by_weight);
    work->slot_count = shmt_campaign_lanes(&campaign);
    work->slots = calloc(work->slot_count, sizeof *work->slots);
    if (models == NULL || work->slots == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < devices; k++)
        models[k] = work->device.replayed != NULL
                        ? 0 : work->device.gpus[k].model;
    for (size_t k = 0; k < work->slot_count; k++) {
        work->slots[k].work = work;
        work->slots[k].lane = k;
    }
    status = shmt_campaign_run(&campaign, err);
    tell_left(work);
    return status;
}

void shmt_command_work_end(struct shmt_command_work *work)
{
    shmt_live_pool_close(work->device.pool);
    for (size_t k = 0; k < work->kernel_count; k++) {
        const struct known *const known = work->kernels[k].more;
        shmt_tune_prior_free(known->prior);
        shmt_figures_free(known->figures);
    }
    shmt_command_page_free(&work->page);
    shmt_wanted_free(work->wanted.file);
    free(work->kernels);
    free(work->slots);
}
