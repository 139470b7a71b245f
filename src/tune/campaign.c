/* SPDX-License-Identifier: MIT */
/*
 * campaign: see campaign.h.  With alone.c this is the only place of the tuner
 * that waits: it lets the runs go on, waits for their targets, and gives each
 * its replies.
 */
#include "tune/campaign.h"

#include <math.h>
#include <stdlib.h>

#include "tune/dealer.h"
#include "tune/sizes.h"

size_t shmt_campaign_lanes(const struct shmt_campaign *campaign)
{
    return campaign->device_count *
           (campaign->together > 1 ? 2 * campaign->together : 1);
}

/* The k-th lane: the first of each device, then the second of each. */
static struct shmt_lane *lane_at(const struct shmt_dealer *dealer, size_t k)
{
    const size_t devices = dealer->all->device_count;

    return &dealer->lanes[k % devices * dealer->width + k / devices];
}

static bool is_stopped(const struct shmt_dealer *dealer)
{
    return dealer->all->stop != NULL && *dealer->all->stop != 0;
}

void shmt_campaign_close_target(struct shmt_lane *lane)
{
    if (lane->task.target != NULL)
        lane->task.target->operations->close(lane->task.target);
    lane->task.target = NULL;
    lane->open = NULL;
}

/* -- dealing -------------------------------------------------------------- */

/* The kernel of the next problem: the one the lane has, else one that its
 * device has, else one that no other has, else the first with a problem left.
 * NULL: nothing is left. */
static struct shmt_campaign_kernel *
choose_kernel(const struct shmt_dealer *dealer, const struct shmt_lane *lane)
{
    const size_t model = shmt_lane_model(dealer, lane);
    struct shmt_campaign_kernel *first = NULL, *untouched = NULL, *own = NULL;

    for (size_t k = 0; k < dealer->all->kernel_count; k++) {
        struct shmt_campaign_kernel *const kernel = &dealer->all->kernels[k];
        if (kernel->model != model ||
            shmt_dealer_count_left(dealer, kernel) == 0)
            continue;
        if (lane->open == kernel)
            return kernel;
        if (first == NULL)
            first = kernel;
        if (own == NULL &&
            shmt_dealer_has_kernel(dealer, shmt_lane_number(dealer, lane),
                                   kernel))
            own = kernel;
        if (untouched == NULL &&
            shmt_dealer_count_devices(dealer, model, kernel) == 0)
            untouched = kernel;
    }
    return own != NULL ? own : untouched != NULL ? untouched : first;
}

/* Whether a problem is left that the lane could have.  Asked for every lane
 * whenever something happens. */
static bool has_problem(const struct shmt_dealer *dealer,
                        const struct shmt_lane *lane)
{
    const size_t model = shmt_lane_model(dealer, lane);

    for (size_t k = 0; k < dealer->all->kernel_count; k++)
        if (dealer->all->kernels[k].model == model &&
            shmt_dealer_count_left(dealer, &dealer->all->kernels[k]) > 0)
            return true;
    return false;
}

/* Whether the lane is the one of its device that takes the next problem. */
static bool may_take(const struct shmt_dealer *dealer,
                     const struct shmt_lane *lane)
{
    const struct shmt_campaign_kernel *kernel;

    if (lane->state != SHMT_LANE_FREE || dealer->stopped ||
        !has_problem(dealer, lane))
        return false;
    if (dealer->width == 1)
        return true;
    if (shmt_dealer_count_searching_beside(dealer, lane) >=
        shmt_dealer_count_together(dealer, shmt_lane_model(dealer, lane)))
        return false;
    kernel = choose_kernel(dealer, lane);
    if (lane->open != kernel && !shmt_dealer_may_start(dealer, lane, kernel))
        return false;
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (dealer->lanes[k].state == SHMT_LANE_FREE && lane->open != kernel &&
            dealer->lanes[k].open == kernel &&
            shmt_lane_is_beside(dealer, lane, &dealer->lanes[k]))
            return false;
    return true;
}

static void take_problem(struct shmt_dealer *dealer, struct shmt_lane *lane,
                         struct shmt_campaign_kernel *kernel)
{
    const size_t model = shmt_lane_model(dealer, lane);
    struct shmt_campaign_task *const task = &lane->task;
    double weights = 0;

    task->left = 0;
    for (size_t k = 0; k < dealer->all->kernel_count; k++) {
        const struct shmt_campaign_kernel *const one =
            &dealer->all->kernels[k];
        const size_t left =
            one->model == model ? shmt_dealer_count_left(dealer, one) : 0;

        task->left += left;
        weights += (double)left * one->weight;
    }
    task->part = weights > 0
                     ? kernel->weight * (double)task->left / weights : 1;
    task->devices = shmt_dealer_count_devices(dealer, model, NULL);
    task->together = shmt_dealer_count_together(dealer, model);
    task->kernel = kernel;
    task->device = shmt_lane_number(dealer, lane);
    task->lane = (size_t)(lane - dealer->lanes);
    for (size_t k = 0; k < dealer->returned_count; k++)
        if (dealer->returned[k].kernel == kernel) {
            task->again = true;
            task->number = dealer->returned[k].number;
            dealer->returned[k] = dealer->returned[--dealer->returned_count];
            return;
        }
    task->again = false;
    task->number = shmt_dealer_rest_of(dealer, kernel)->next++;
}

/* What a run counts on where devices may never come: those that are there, for
 * what none of them has. */
static void count_present(const struct shmt_dealer *dealer,
                          struct shmt_lane *lane)
{
    const size_t model = shmt_lane_model(dealer, lane);
    struct shmt_campaign_task *const task = &lane->task;

    task->left = 1 + shmt_dealer_count_waiting(dealer, model);
    task->devices = 1;
    for (size_t k = 0; k < dealer->lane_count; k++) {
        const struct shmt_lane *const other = &dealer->lanes[k];

        if (other == lane || shmt_lane_model(dealer, other) != model)
            continue;
        task->left += other->state == SHMT_LANE_OPENING &&
                      shmt_lane_is_coming(other);
        task->devices += other->task.target != NULL &&
                         !shmt_lane_is_coming(other);
    }
}

/* What a run counts on where others share its device, as many as have room.
 * Those of its kernel end with it. */
static void count_beside(const struct shmt_dealer *dealer,
                         struct shmt_lane *lane)
{
    const size_t model = shmt_lane_model(dealer, lane);
    struct shmt_campaign_task *const task = &lane->task;
    const size_t waiting = shmt_dealer_count_waiting(dealer, model);
    size_t begun = 1, fitting;   /* this one */

    task->busy_s = 0;
    task->left = waiting + 1;
    for (size_t k = 0; k < dealer->lane_count; k++) {
        struct shmt_lane *const other = &dealer->lanes[k];
        const bool searches = other->state == SHMT_LANE_RUNNING &&
                              !shmt_tune_is_in_finals(other->run);

        if (other == lane || shmt_lane_model(dealer, other) != model ||
            (!searches && other->state != SHMT_LANE_OPENING))
            continue;
        begun++;
        if (!searches || other->task.kernel == task->kernel)
            task->left++;
        else
            task->busy_s += fmax(shmt_tune_left_s(other->run), 0);
    }
    fitting = shmt_dealer_count_fitting(dealer, lane);
    if (task->together > fitting)
        task->together = fitting;
    if (fitting > SHMT_CAMPAIGN_TOGETHER)
        fitting = SHMT_CAMPAIGN_TOGETHER;
    task->full = waiting + begun > task->devices * fitting;
}

/* The budget of a search that goes on grows, up to all that there is, of which
 * a program that said what is right may have had some. */
static void prolong(struct shmt_lane *lane, double seconds)
{
    struct shmt_tune_options *const options = &lane->options;
    const double spare_s =
        options->spare_s - shmt_tune_left_out_s(lane->run);
    const double more_s = fmax(fmin(seconds, spare_s), 0);

    options->budget_s += more_s;
    options->spare_s -= more_s;
}

void shmt_campaign_share_rest(struct shmt_dealer *dealer, size_t model)
{
    if (dealer->width == 1 || shmt_dealer_is_any_waiting(dealer, model))
        return;
    for (size_t k = 0; k < dealer->lane_count; k++) {
        struct shmt_lane *const lane = &dealer->lanes[k];

        if (shmt_lane_model(dealer, lane) != model ||
            lane->state != SHMT_LANE_RUNNING ||
            shmt_tune_is_in_finals(lane->run))
            continue;
        lane->options.together = shmt_dealer_count_to_end(dealer, lane);
        lane->options.yields =
            lane->options.yields && shmt_dealer_is_crowded(dealer, lane);
        if (isfinite(lane->options.most_s))
            prolong(lane, lane->options.most_s - lane->options.budget_s);
    }
}

/* Opens the kernel of the problem that the device has. */
static void open_kernel(struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    const struct shmt_campaign *const all = dealer->all;
    struct shmt_campaign_kernel *const kernel = lane->task.kernel;
    struct shmt_error err = {0};
    enum shmtune_status status;

    lane->state = SHMT_LANE_OPENING;
    lane->bytes = 0;
    if (dealer->width > 1)
        lane->task.since_s = shmt_clock_s();
    if (lane->open == kernel)
        return;
    shmt_campaign_close_target(lane);
    lane->open = kernel;
    lane->is_new = true;
    status = all->calls->open(all->context, kernel,
                              shmt_lane_number(dealer, lane),
                              &lane->task.target, &err);
    if (status == SHMTUNE_OK)
        return;
    lane->task.target = NULL;
    if (!shmt_campaign_drop_out(dealer, lane, &err))
        shmt_campaign_refuse(dealer, lane, &err);
}

/* Gives a free device its next problem. */
static void deal(struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    struct shmt_campaign_kernel *const kernel = choose_kernel(dealer, lane);

    if (kernel == NULL)
        return;
    take_problem(dealer, lane, kernel);
    open_kernel(dealer, lane);
}

/* Where none is left, it takes that of a device that waits in a queue or is
 * long in starting; that one can help when it comes. */
static void take_over(struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    struct shmt_lane *const other = shmt_dealer_find_late(dealer, lane);
    struct shmt_target *const target = lane->task.target;

    if (other == NULL)
        return;
    other->state = SHMT_LANE_FREE;
    other->was_late = true;
    lane->task = other->task;
    lane->task.since_s = shmt_clock_s();
    lane->task.target = target;
    lane->task.device = shmt_lane_number(dealer, lane);
    lane->task.lane = (size_t)(lane - dealer->lanes);
    open_kernel(dealer, lane);
}

/* -- from the beginning of a run to its end ------------------------------- */

static void end(struct shmt_dealer *dealer, struct shmt_lane *lane,
                struct shmt_tune_outcome *outcome,
                const struct shmt_error *why)
{
    const struct shmt_campaign *const all = dealer->all;
    const bool more =
        all->calls->end(all->context, &lane->task, outcome, why);

    shmt_tune_free(outcome);
    /* Requests of a run that failed may still be outstanding. */
    if (why != NULL)
        shmt_campaign_close_target(lane);
    lane->state = SHMT_LANE_FREE;
    if (why != NULL)
        shmt_campaign_note_failure(dealer, lane, why, more);
    else if (!more)
        dealer->stopped = true;
    lane->task.since_s = shmt_clock_s();
    shmt_campaign_share_rest(dealer, shmt_lane_model(dealer, lane));
}

static void close_run(struct shmt_dealer *dealer, struct shmt_lane *lane,
                      enum shmtune_status status, struct shmt_error *err)
{
    struct shmt_tune_outcome *outcome = NULL;
    struct shmt_tune *const run = lane->run;

    shmt_campaign_release_helpers(dealer, lane);
    lane->run = NULL;
    if (run != NULL)
        status = shmt_tune_close(run, status, &outcome, err);
    if (status != SHMTUNE_OK && shmt_campaign_drop_out(dealer, lane, err)) {
        shmt_tune_free(outcome);
        return;
    }
    end(dealer, lane, outcome, status == SHMTUNE_OK ? NULL : err);
}

/* What the runs of a kernel find is told to those of its other sizes.  One of
 * a single size is measured by what its candidates are worth, too: beside runs
 * that are, it would wait for good. */
static enum shmtune_status share_findings(struct shmt_dealer *dealer,
                                          struct shmt_lane *lane,
                                          struct shmt_error *err)
{
    const struct shmt_campaign_kernel *const kernel = lane->task.kernel;
    struct shmt_dealer_rest *const rest = shmt_dealer_rest_of(dealer, kernel);
    enum shmtune_status status = SHMTUNE_OK;

    if (rest->sizes == NULL)
        status = shmt_sizes_new(kernel->kernel, kernel->problems,
                                kernel->count, &rest->sizes, err);
    lane->options.sizes = rest->sizes;
    lane->options.size = lane->task.number;
    return status;
}

/* The searches of a kernel's other sizes go on as long as this one may: what
 * each finds is tried by all. */
static void end_together(const struct shmt_dealer *dealer,
                         const struct shmt_lane *lane)
{
    const double left_s = shmt_tune_left_s(lane->run);

    for (size_t k = 0; k < dealer->lane_count; k++) {
        struct shmt_lane *const other = &dealer->lanes[k];
        if (other->state == SHMT_LANE_RUNNING && other != lane &&
            other->task.kernel == lane->task.kernel &&
            !shmt_tune_is_in_finals(other->run))
            prolong(other, left_s - shmt_tune_left_s(other->run));
    }
}

/* The target is ready: the run begins. */
static void begin(struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    const struct shmt_campaign *const all = dealer->all;
    struct shmt_campaign_task *const task = &lane->task;
    struct shmt_error err = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (lane->is_new)
        status = all->calls->opened(all->context, task->kernel, task->target,
                                    &err);
    lane->is_new = false;
    lane->was_ready = true;
    if (status != SHMTUNE_OK) {
        shmt_campaign_refuse(dealer, lane, &err);
        return;
    }
    if (task->number >= task->kernel->count) {
        lane->state = SHMT_LANE_FREE;
        return;
    }
    if (all->queued)
        count_present(dealer, lane);
    if (dealer->width > 1)
        count_beside(dealer, lane);
    status = all->calls->begin(all->context, task, &lane->options, &err);
    if (status == SHMTUNE_INTERRUPTED) {
        shmt_campaign_stop_before(dealer, lane, &err);
        return;
    }
    if (status == SHMTUNE_OK && dealer->width > 1)
        status = share_findings(dealer, lane, &err);
    if (status == SHMTUNE_OK)
        status = shmt_tune_open(task->target,
                                task->kernel->problems[task->number],
                                &lane->options, &lane->run, &err);
    lane->state = SHMT_LANE_RUNNING;
    lane->due = true;
    if (status != SHMTUNE_OK)
        close_run(dealer, lane, status, &err);
    else if (lane->options.sizes != NULL && isfinite(lane->options.budget_s))
        end_together(dealer, lane);
    shmt_campaign_share_rest(dealer, shmt_lane_model(dealer, lane));
}

/* One for which there is no room waits for the end of others, which is no part
 * of its time. */
static bool has_room(const struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    if (shmt_dealer_has_room(dealer, lane))
        return true;
    lane->task.since_s = shmt_clock_s();
    return false;
}

static bool can_begin(const struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    return lane->state == SHMT_LANE_OPENING &&
           shmt_lane_is_ready(lane->task.target) && has_room(dealer, lane);
}

/* Lets a run go on. */
static void advance(struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    struct shmt_error err = {0};
    enum shmtune_status status;
    const bool searched = !shmt_tune_is_in_finals(lane->run);
    bool done = false;

    status = shmt_tune_advance(lane->run, &done, &lane->wait_s, &err);
    if (searched && shmt_tune_is_in_finals(lane->run))
        shmt_campaign_share_rest(dealer, shmt_lane_model(dealer, lane));
    lane->wait_s = shmt_tune_wait_of(lane->task.target, lane->wait_s);
    lane->since_s = shmt_clock_s();
    lane->due = false;
    if (status != SHMTUNE_OK || done)
        close_run(dealer, lane, status, &err);
}

/* How long the run can wait still. */
static double wait_left(const struct shmt_lane *lane)
{
    if (lane->state != SHMT_LANE_RUNNING)
        return SHMT_TUNE_TICK_S;
    if (lane->task.target->recorded)
        return lane->wait_s;
    return fmax(lane->wait_s - (shmt_clock_s() - lane->since_s), 0);
}

static void fail(struct shmt_dealer *dealer, struct shmt_lane *lane,
                 struct shmt_error *err)
{
    if (lane->state == SHMT_LANE_RUNNING)
        close_run(dealer, lane, err->status, err);
    else if (lane->state == SHMT_LANE_HELPING)
        shmt_campaign_fail_helping(dealer, lane, err);
    else if (lane->state != SHMT_LANE_OPENING)
        shmt_campaign_close_target(lane);
    else if (!shmt_campaign_drop_out(dealer, lane, err))
        shmt_campaign_refuse(dealer, lane, err);
}

static struct shmt_lane *lane_of(const struct shmt_dealer *dealer,
                            const struct shmt_target *target)
{
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (dealer->lanes[k].task.target == target)
            return &dealer->lanes[k];
    return NULL;
}

/* While a program says what is right for one of the runs of a device, the
 * others wait. */
static void leave_out(const struct shmt_dealer *dealer,
                      const struct shmt_lane *lane, double seconds)
{
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (shmt_lane_is_beside(dealer, lane, &dealer->lanes[k]) &&
            dealer->lanes[k].state == SHMT_LANE_RUNNING)
            shmt_tune_leave_out(dealer->lanes[k].run, seconds);
}

/* Waits for what comes next to any of the runs. */
static enum shmtune_status wait_for_all(struct shmt_dealer *dealer,
                                        struct shmt_lane *any, double wait_s,
                                        struct shmt_error *err)
{
    struct shmt_target *const target = any->task.target;
    struct shmt_target_reply reply = {.target = target};
    bool got = false;
    enum shmtune_status status = target->operations->wait(
        target, wait_s, &got, &reply, err);
    struct shmt_lane *lane;

    if (status == SHMTUNE_OK && !got) {
        for (size_t k = 0; k < dealer->lane_count; k++)
            dealer->lanes[k].due = true;
        return SHMTUNE_OK;
    }
    lane = lane_of(dealer, reply.target);
    if (lane == NULL)
        return status;
    if (status == SHMTUNE_OK && reply.result.answer_ms > 0)
        leave_out(dealer, lane, reply.result.answer_ms / 1e3);
    if (status == SHMTUNE_OK && lane->state == SHMT_LANE_HELPING)
        lane = lane->helped;
    if (status == SHMTUNE_OK && lane->state == SHMT_LANE_RUNNING) {
        lane->due = true;
        status = shmt_tune_reply(lane->run, &reply, err);
    }
    if (status != SHMTUNE_OK)
        fail(dealer, lane, err);
    return SHMTUNE_OK;
}

/* A worker may start for minutes, or never say hello. */
static bool is_too_late(const struct shmt_dealer *dealer,
                        const struct shmt_lane *lane, struct shmt_error *why)
{
    const struct shmt_campaign *const all = dealer->all;

    return lane->state == SHMT_LANE_OPENING && shmt_lane_is_coming(lane) &&
           all->calls->is_late != NULL &&
           all->calls->is_late(all->context, &lane->task, why);
}

/* Gives the device a problem, begins its run, or lets it go on. */
static void go_on(struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    struct shmt_error why = {0};

    if (is_stopped(dealer)) {
        shmt_error_set(&why, SHMTUNE_INTERRUPTED, "interrupted");
        shmt_campaign_stop(dealer, &why);
    }
    while (may_take(dealer, lane))
        deal(dealer, lane);
    if (lane->state == SHMT_LANE_OPENING && is_stopped(dealer)) {
        shmt_error_set(&why, SHMTUNE_INTERRUPTED,
                       "interrupted while the worker started");
        shmt_campaign_refuse(dealer, lane, &why);
    }
    if (is_too_late(dealer, lane, &why))
        shmt_campaign_give_up(dealer, lane, &why);
    if (can_begin(dealer, lane))
        begin(dealer, lane);
    if (lane->state == SHMT_LANE_RUNNING &&
        (lane->due || wait_left(lane) <= 0 || shmt_tune_has_news(lane->run)))
        advance(dealer, lane);
    if (lane->state == SHMT_LANE_FREE && !dealer->stopped &&
        !has_problem(dealer, lane))
        take_over(dealer, lane);
    if (can_begin(dealer, lane))
        begin(dealer, lane);
    if (lane->state == SHMT_LANE_FREE && !dealer->stopped &&
        !has_problem(dealer, lane))
        shmt_campaign_help(dealer, lane);
    if (lane->state == SHMT_LANE_HELPING)
        shmt_campaign_go_on_helping(dealer, lane);
    if (lane->state == SHMT_LANE_FREE &&
        (dealer->stopped ||
         (!has_problem(dealer, lane) &&
          !shmt_campaign_is_kept(dealer, lane)) ||
         (dealer->width > 1 && lane->open != NULL &&
          shmt_dealer_count_left(dealer, lane->open) == 0)))
        shmt_campaign_close_target(lane);
}

static enum shmtune_status go_through(struct shmt_dealer *dealer,
                                      struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    while (status == SHMTUNE_OK) {
        struct shmt_lane *any = NULL;
        double wait_s = INFINITY;
        bool more = false;

        shmt_dealer_look(dealer);
        for (size_t k = 0; k < dealer->lane_count; k++)
            go_on(dealer, lane_at(dealer, k));
        for (size_t k = 0; k < dealer->lane_count; k++) {
            struct shmt_lane *const lane = &dealer->lanes[k];
            /* One that ended a moment ago may have made room. */
            more = more || may_take(dealer, lane) || can_begin(dealer, lane);
            if (lane->state == SHMT_LANE_FREE || lane->state == SHMT_LANE_GONE)
                continue;
            any = lane;
            wait_s = fmin(wait_s, wait_left(lane));
        }
        if (more)
            continue;
        if (any == NULL)
            break;
        status = wait_for_all(dealer, any, wait_s, err);
    }
    return status;
}

enum shmtune_status shmt_campaign_run(const struct shmt_campaign *campaign,
                                      struct shmt_error *err)
{
    const size_t count = shmt_campaign_lanes(campaign);
    struct shmt_dealer dealer = {
        .all = campaign,
        .lanes = calloc(count + 1, sizeof(struct shmt_lane)),
        .lane_count = count,
        .width = count / campaign->device_count,
        .rests = calloc(campaign->kernel_count + 1,
                        sizeof(struct shmt_dealer_rest)),
        .returned = calloc(count + 1, sizeof(struct shmt_dealer_returned)),
    };
    enum shmtune_status status = SHMTUNE_OK;

    if (dealer.lanes == NULL || dealer.rests == NULL ||
        dealer.returned == NULL)
        status = shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        dealer.lanes[k].task.since_s = campaign->began_s;
    if (status == SHMTUNE_OK)
        status = go_through(&dealer, err);
    if (status == SHMTUNE_OK)
        shmt_campaign_tell_left(&dealer);
    for (size_t k = 0; dealer.lanes != NULL && k < count; k++) {
        struct shmt_tune_outcome *outcome = NULL;
        if (dealer.lanes[k].run != NULL)
            (void)shmt_tune_close(dealer.lanes[k].run, status, &outcome, NULL);
        shmt_tune_free(outcome);
        shmt_campaign_close_target(&dealer.lanes[k]);
    }
    free(dealer.lanes);
    for (size_t k = 0; dealer.rests != NULL && k < campaign->kernel_count;
         k++)
        shmt_sizes_free(dealer.rests[k].sizes);
    free(dealer.rests);
    free(dealer.returned);
    free(dealer.numbers);
    return status;
}
