/* SPDX-License-Identifier: MIT */
/*
 * campaign: see campaign.h.  With alone.c this is the only place of the tuner
 * that waits: it lets the runs go on, waits for their targets, and gives each
 * its replies.
 */
#include "tune/campaign.h"

#include <math.h>
#include <stdlib.h>

#include "tune/sizes.h"
#include "tune/step.h"

/* Of the memory of a device that the runs on it may need. */
static const double memory_share = 0.8;

enum state { FREE, OPENING, RUNNING, HELPING, GONE };

/* A place for a run on a device, and what it is doing. */
struct lane {
    enum state state;
    struct shmt_campaign_task task;
    struct shmt_campaign_kernel *open;   /* whose target it is; NULL: none */
    bool is_new;                         /* it has not been ready before */
    struct lane *helped;                 /* whose run it measures for, */
    bool lent;                           /* and whether it does so already */
    const struct shmt_tune *shunned;     /* a run that it cannot help */
    struct shmt_tune *run;
    struct shmt_tune_options options;
    bool due;                            /* the run can go on; */
    double bytes;                        /* of the device's memory */
    double wait_s, since_s;              /* else it waits so long, from then
                                            on, on shmt_clock_s */
};

/* What is left of a kernel. */
struct rest {
    size_t next;               /* problem */
    struct shmt_sizes *sizes;  /* NULL: problems are tuned one at a time */
    bool refused;              /* none is to begin */
};

/* A problem that has to begin again. */
struct returned {
    struct shmt_campaign_kernel *kernel;
    size_t number;
};

struct dealer {
    const struct shmt_campaign *all;
    struct lane *lanes;        /* [lane_count], device by device */
    size_t lane_count, width;  /* `width` of each device */
    struct rest *rests;        /* [kernel_count] */
    struct returned *returned; /* [lane_count] */
    size_t returned_count;
    bool stopped;              /* no more is to begin */
};

size_t shmt_campaign_lanes(const struct shmt_campaign *campaign)
{
    return campaign->device_count *
           (campaign->together > 1 ? 2 * campaign->together : 1);
}

/* Of its device. */
static size_t number_of(const struct dealer *dealer, const struct lane *lane)
{
    return (size_t)(lane - dealer->lanes) / dealer->width;
}

/* The k-th lane: the first of each device, then the second of each. */
static struct lane *lane_at(const struct dealer *dealer, size_t k)
{
    const size_t devices = dealer->all->device_count;

    return &dealer->lanes[k % devices * dealer->width + k / devices];
}

static bool is_beside(const struct dealer *dealer, const struct lane *lane,
                      const struct lane *other)
{
    return lane != other &&
           number_of(dealer, lane) == number_of(dealer, other);
}

static size_t model_of(const struct dealer *dealer, const struct lane *lane)
{
    return dealer->all->models[number_of(dealer, lane)];
}

static bool is_stopped(const struct dealer *dealer)
{
    return dealer->all->stop != NULL && *dealer->all->stop != 0;
}

static bool is_ready(const struct shmt_target *target)
{
    return target->operations->is_ready == NULL ||
           target->operations->is_ready(target);
}

static void close_target(struct lane *lane)
{
    if (lane->task.target != NULL)
        lane->task.target->operations->close(lane->task.target);
    lane->task.target = NULL;
    lane->open = NULL;
}

/* -- dealing -------------------------------------------------------------- */

static struct rest *rest_of(const struct dealer *dealer,
                            const struct shmt_campaign_kernel *kernel)
{
    return &dealer->rests[kernel - dealer->all->kernels];
}

/* Problems of a kernel that have to begin.  Where they are not known before it
 * is open, one stands for all. */
static size_t count_left(const struct dealer *dealer,
                         const struct shmt_campaign_kernel *kernel)
{
    const struct rest *const rest = rest_of(dealer, kernel);
    size_t count;

    if (rest->refused)
        return 0;
    if (kernel->problems == NULL)
        return rest->next == 0;
    count = kernel->count > rest->next ? kernel->count - rest->next : 0;
    for (size_t k = 0; k < dealer->returned_count; k++)
        count += dealer->returned[k].kernel == kernel;
    return count;
}

/* Whether a device is in use, and, unless it is NULL, has the kernel. */
static bool has_kernel(const struct dealer *dealer, size_t device,
                       const struct shmt_campaign_kernel *kernel)
{
    const struct lane *const lanes = &dealer->lanes[device * dealer->width];

    for (size_t k = 0; k < dealer->width; k++)
        if (lanes[k].state != GONE &&
            (kernel == NULL || lanes[k].open == kernel))
            return true;
    return false;
}

static size_t count_devices(const struct dealer *dealer, size_t model,
                            const struct shmt_campaign_kernel *kernel)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->all->device_count; k++)
        count += dealer->all->models[k] == model &&
                 has_kernel(dealer, k, kernel);
    return count;
}

/* Runs that begin or search on devices of the model, or on that of a lane. */
static size_t count_searching(const struct dealer *dealer, size_t model,
                              const struct lane *beside)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->lane_count; k++) {
        const struct lane *const lane = &dealer->lanes[k];
        count += model_of(dealer, lane) == model && lane != beside &&
                 (beside == NULL || is_beside(dealer, beside, lane)) &&
                 (lane->state == OPENING ||
                  (lane->state == RUNNING &&
                   !shmt_tune_is_in_finals(lane->run)));
    }
    return count;
}

/* The kernel of the next problem: the one the lane has, else one that its
 * device has, else one that no other has, else the first with a problem left.
 * NULL: nothing is left. */
static struct shmt_campaign_kernel *choose_kernel(const struct dealer *dealer,
                                                  const struct lane *lane)
{
    const size_t model = model_of(dealer, lane);
    struct shmt_campaign_kernel *first = NULL, *untouched = NULL, *own = NULL;

    for (size_t k = 0; k < dealer->all->kernel_count; k++) {
        struct shmt_campaign_kernel *const kernel = &dealer->all->kernels[k];
        if (kernel->model != model || count_left(dealer, kernel) == 0)
            continue;
        if (lane->open == kernel)
            return kernel;
        if (first == NULL)
            first = kernel;
        if (own == NULL && has_kernel(dealer, number_of(dealer, lane), kernel))
            own = kernel;
        if (untouched == NULL && count_devices(dealer, model, kernel) == 0)
            untouched = kernel;
    }
    return own != NULL ? own : untouched != NULL ? untouched : first;
}

/* Whether the lane is the one of its device that takes the next problem. */
static bool may_take(const struct dealer *dealer, const struct lane *lane)
{
    const struct shmt_campaign_kernel *const kernel =
        choose_kernel(dealer, lane);

    if (lane->state != FREE || dealer->stopped || kernel == NULL)
        return false;
    if (dealer->width == 1)
        return true;
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (dealer->lanes[k].state == FREE && lane->open != kernel &&
            dealer->lanes[k].open == kernel &&
            is_beside(dealer, lane, &dealer->lanes[k]))
            return false;
    return count_searching(dealer, model_of(dealer, lane), lane) <
           dealer->all->together;
}

/* Another is to have the problem. */
static void put_back(struct dealer *dealer, const struct lane *lane)
{
    dealer->returned[dealer->returned_count++] =
        (struct returned){lane->task.kernel, lane->task.number};
}

static void take_problem(struct dealer *dealer, struct lane *lane,
                         struct shmt_campaign_kernel *kernel)
{
    const size_t model = model_of(dealer, lane);
    struct shmt_campaign_task *const task = &lane->task;

    task->left = 0;
    for (size_t k = 0; k < dealer->all->kernel_count; k++)
        if (dealer->all->kernels[k].model == model)
            task->left += count_left(dealer, &dealer->all->kernels[k]);
    task->devices = count_devices(dealer, model, NULL);
    task->together = (task->left + count_searching(dealer, model, NULL) +
                      task->devices - 1) / task->devices;
    if (task->together > dealer->all->together)
        task->together = dealer->all->together;
    if (task->together == 0)
        task->together = 1;
    task->kernel = kernel;
    task->device = number_of(dealer, lane);
    task->lane = (size_t)(lane - dealer->lanes);
    for (size_t k = 0; k < dealer->returned_count; k++)
        if (dealer->returned[k].kernel == kernel) {
            task->again = true;
            task->number = dealer->returned[k].number;
            dealer->returned[k] = dealer->returned[--dealer->returned_count];
            return;
        }
    task->again = false;
    task->number = rest_of(dealer, kernel)->next++;
}

/* Neither the lane nor one of its device that has no run is used any more. */
static void retire(struct dealer *dealer, struct lane *lane)
{
    for (size_t k = 0; k < dealer->lane_count; k++) {
        struct lane *const other = &dealer->lanes[k];
        if (other == lane || !is_beside(dealer, lane, other) ||
            (other->state != FREE && other->state != OPENING))
            continue;
        if (other->state == OPENING)
            put_back(dealer, other);
        close_target(other);
        other->state = GONE;
    }
    lane->state = GONE;
}

/* What a failure means for what has not begun: nothing more is to begin, or, if
 * the last device of a model has failed, nothing on that. */
static void note_failure(struct dealer *dealer, struct lane *lane,
                         const struct shmt_error *why, bool more)
{
    bool others = false;

    for (size_t k = 0; k < dealer->all->device_count; k++)
        others = others || (has_kernel(dealer, k, NULL) &&
                            dealer->all->models[k] != model_of(dealer, lane));
    if (!more && why->status == SHMTUNE_NO_DEVICE && others)
        retire(dealer, lane);
    else if (!more)
        dealer->stopped = true;
}

static void refuse_kernel(struct dealer *dealer, struct lane *lane,
                          const struct shmt_error *why)
{
    const struct shmt_campaign *const all = dealer->all;
    struct shmt_campaign_kernel *const kernel = lane->task.kernel;
    struct rest *const rest = rest_of(dealer, kernel);

    close_target(lane);
    lane->state = FREE;
    if (!rest->refused)
        note_failure(dealer, lane, why,
                     all->calls->refused(all->context, kernel, why));
    rest->refused = true;
}

static size_t count_runs(const struct dealer *dealer, const struct lane *lane)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->lane_count; k++)
        count += dealer->lanes[k].state == RUNNING &&
                 is_beside(dealer, lane, &dealer->lanes[k]);
    return count;
}

/* Whether the device has failed, and not the problem, and another can have
 * its problem, or the device itself, on which others run still. */
static bool can_drop_out(const struct dealer *dealer, const struct lane *lane,
                         const struct shmt_error *why)
{
    return (why->status == SHMTUNE_NO_DEVICE ||
            why->status == SHMTUNE_INTERNAL) &&
           (count_runs(dealer, lane) > 0 ||
            count_devices(dealer, model_of(dealer, lane), NULL) > 1);
}

/* While others run on the device, it is used as far as they do. */
static void drop_out(struct dealer *dealer, struct lane *lane,
                     const struct shmt_error *why)
{
    put_back(dealer, lane);
    close_target(lane);
    if (count_runs(dealer, lane) > 0) {
        lane->state = GONE;
        return;
    }
    retire(dealer, lane);
    dealer->all->calls->lost(dealer->all->context, number_of(dealer, lane),
                             why);
}

/* Gives a free device its next problem. */
static void deal(struct dealer *dealer, struct lane *lane)
{
    const struct shmt_campaign *const all = dealer->all;
    struct shmt_campaign_kernel *const kernel = choose_kernel(dealer, lane);
    struct shmt_error err = {0};
    enum shmtune_status status;

    if (kernel == NULL)
        return;
    take_problem(dealer, lane, kernel);
    lane->state = OPENING;
    if (dealer->width > 1)
        lane->task.since_s = shmt_clock_s();
    if (lane->open == kernel)
        return;
    close_target(lane);
    lane->open = kernel;
    lane->is_new = true;
    status = all->calls->open(all->context, kernel, number_of(dealer, lane),
                              &lane->task.target, &err);
    if (status == SHMTUNE_OK)
        return;
    lane->task.target = NULL;
    if (can_drop_out(dealer, lane, &err))
        drop_out(dealer, lane, &err);
    else
        refuse_kernel(dealer, lane, &err);
}

/* -- helping -------------------------------------------------------------- */

/* All, or those on the device of a lane. */
static size_t count_helpers(const struct dealer *dealer,
                            const struct lane *helped,
                            const struct lane *beside)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->lane_count; k++)
        count += dealer->lanes[k].state == HELPING &&
                 dealer->lanes[k].helped == helped &&
                 (beside == NULL ||
                  is_beside(dealer, beside, &dealer->lanes[k]));
    return count;
}

/* The run with the fewest helpers that a device without a run could help, and
 * does not yet.  NULL: none. */
static struct lane *choose_helped(const struct dealer *dealer,
                                  const struct lane *lane)
{
    struct lane *best = NULL;

    for (size_t k = 0; k < dealer->lane_count; k++) {
        struct lane *const other = &dealer->lanes[k];
        if ((other->state == RUNNING || other->state == OPENING) &&
            is_beside(dealer, lane, other))
            return NULL;
        if (other->state == RUNNING && other->run != lane->shunned &&
            model_of(dealer, other) == model_of(dealer, lane) &&
            shmt_tune_wants_help(other->run) &&
            count_helpers(dealer, other, lane) == 0 &&
            (best == NULL || count_helpers(dealer, other, NULL) <
                                 count_helpers(dealer, best, NULL)))
            best = other;
    }
    return best;
}

static void stop_helping(struct lane *lane)
{
    if (lane->lent)
        shmt_tune_take_back(lane->helped->run, lane->task.target);
    lane->lent = false;
    lane->helped = NULL;
    lane->state = FREE;
}

static void release_helpers(const struct dealer *dealer,
                            const struct lane *helped)
{
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (dealer->lanes[k].state == HELPING &&
            dealer->lanes[k].helped == helped)
            stop_helping(&dealer->lanes[k]);
}

/* A device has failed. */
static void stop_all_helping(const struct dealer *dealer,
                             const struct lane *lane)
{
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (dealer->lanes[k].state == HELPING &&
            is_beside(dealer, lane, &dealer->lanes[k]))
            stop_helping(&dealer->lanes[k]);
}

/* A helper has failed: it is of no more use to this run, and of none at all
 * when the device has failed. */
static void fail_helping(struct dealer *dealer, struct lane *lane,
                         const struct shmt_error *why)
{
    lane->shunned = lane->helped->run;
    stop_helping(lane);
    close_target(lane);
    if (why->status != SHMTUNE_NO_DEVICE && why->status != SHMTUNE_INTERNAL)
        return;
    stop_all_helping(dealer, lane);
    retire(dealer, lane);
    dealer->all->calls->lost(dealer->all->context, number_of(dealer, lane),
                             why);
}

/* A device that has no problem left measures for the run of another. */
static void help(struct dealer *dealer, struct lane *lane)
{
    const struct shmt_campaign *const all = dealer->all;
    struct lane *const helped = choose_helped(dealer, lane);
    struct shmt_error err = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (helped == NULL)
        return;
    lane->state = HELPING;
    lane->helped = helped;
    if (lane->open == helped->open && lane->task.target != NULL)
        return;
    close_target(lane);
    lane->open = helped->open;
    status = all->calls->open(all->context, lane->open,
                              number_of(dealer, lane), &lane->task.target,
                              &err);
    if (status == SHMTUNE_OK)
        return;
    lane->task.target = NULL;
    fail_helping(dealer, lane, &err);
}

static void go_on_helping(struct dealer *dealer, struct lane *lane)
{
    struct shmt_error err = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (!shmt_tune_is_searching(lane->helped->run)) {
        stop_helping(lane);
        return;
    }
    if (!lane->lent && is_ready(lane->task.target)) {
        lane->lent = true;
        status = shmt_tune_lend(lane->helped->run, lane->task.target, &err);
    }
    if (status != SHMTUNE_OK) {
        fail_helping(dealer, lane, &err);
    } else if (lane->lent &&
               shmt_tune_is_useless(lane->helped->run, lane->task.target)) {
        lane->shunned = lane->helped->run;
        stop_helping(lane);
    }
}

/* -- from the beginning of a run to its end ------------------------------- */

static void end(struct dealer *dealer, struct lane *lane,
                struct shmt_tune_outcome *outcome,
                const struct shmt_error *why)
{
    const struct shmt_campaign *const all = dealer->all;
    const bool more =
        all->calls->end(all->context, &lane->task, outcome, why);

    shmt_tune_free(outcome);
    /* Requests of a run that failed may still be outstanding. */
    if (why != NULL)
        close_target(lane);
    lane->state = FREE;
    if (why != NULL)
        note_failure(dealer, lane, why, more);
    else if (!more)
        dealer->stopped = true;
    lane->task.since_s = shmt_clock_s();
}

static void close_run(struct dealer *dealer, struct lane *lane,
                      enum shmtune_status status, struct shmt_error *err)
{
    struct shmt_tune_outcome *outcome = NULL;
    struct shmt_tune *const run = lane->run;

    release_helpers(dealer, lane);
    lane->run = NULL;
    if (run != NULL)
        status = shmt_tune_close(run, status, &outcome, err);
    if (status != SHMTUNE_OK && can_drop_out(dealer, lane, err)) {
        shmt_tune_free(outcome);
        drop_out(dealer, lane, err);
        return;
    }
    end(dealer, lane, outcome, status == SHMTUNE_OK ? NULL : err);
}

/* What the runs of a kernel find is told to those of its other sizes. */
static enum shmtune_status share_findings(struct dealer *dealer,
                                          struct lane *lane,
                                          struct shmt_error *err)
{
    const struct shmt_campaign_kernel *const kernel = lane->task.kernel;
    struct rest *const rest = rest_of(dealer, kernel);
    enum shmtune_status status = SHMTUNE_OK;

    if (kernel->count < 2)
        return status;
    if (rest->sizes == NULL)
        status = shmt_sizes_new(kernel->kernel, kernel->problems,
                                kernel->count, &rest->sizes, err);
    lane->options.sizes = rest->sizes;
    lane->options.size = lane->task.number;
    return status;
}

/* The target is ready: the run begins. */
static void begin(struct dealer *dealer, struct lane *lane)
{
    const struct shmt_campaign *const all = dealer->all;
    struct shmt_campaign_task *const task = &lane->task;
    struct shmt_error err = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (rest_of(dealer, task->kernel)->refused) {
        close_target(lane);
        lane->state = FREE;
        return;
    }
    if (lane->is_new)
        status = all->calls->opened(all->context, task->kernel, task->target,
                                    &err);
    lane->is_new = false;
    if (status != SHMTUNE_OK) {
        refuse_kernel(dealer, lane, &err);
        return;
    }
    if (task->number >= task->kernel->count) {
        lane->state = FREE;
        return;
    }
    status = all->calls->begin(all->context, task, &lane->options, &err);
    if (status == SHMTUNE_OK && dealer->width > 1)
        status = share_findings(dealer, lane, &err);
    if (status == SHMTUNE_OK)
        status = shmt_tune_open(task->target,
                                task->kernel->problems[task->number],
                                &lane->options, &lane->run, &err);
    lane->state = RUNNING;
    lane->due = true;
    if (status != SHMTUNE_OK)
        close_run(dealer, lane, status, &err);
}

/* Where several runs have buffers on a device, all of them have to fit it, with
 * what CUDA itself takes for each; who does not waits for the end of others. */
static bool has_room(const struct dealer *dealer, struct lane *lane)
{
    const struct shmt_target *const target = lane->task.target;
    const double most = memory_share * (double)target->device.memory_bytes;
    double sum;

    if (dealer->width == 1 || lane->task.number >= lane->task.kernel->count)
        return true;
    sum = lane->bytes = shmt_sizes_bytes(
        target->kernel, lane->task.kernel->problems[lane->task.number]);
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (is_beside(dealer, lane, &dealer->lanes[k]) &&
            dealer->lanes[k].state == RUNNING)
            sum += dealer->lanes[k].bytes;
    if (!(most > 0) || sum <= most || count_runs(dealer, lane) == 0)
        return true;
    lane->task.since_s = shmt_clock_s();
    return false;
}

/* Lets a run go on. */
static void advance(struct dealer *dealer, struct lane *lane)
{
    struct shmt_error err = {0};
    enum shmtune_status status;
    bool done = false;

    status = shmt_tune_advance(lane->run, &done, &lane->wait_s, &err);
    lane->wait_s = shmt_tune_wait_of(lane->task.target, lane->wait_s);
    lane->since_s = shmt_clock_s();
    lane->due = false;
    if (status != SHMTUNE_OK || done)
        close_run(dealer, lane, status, &err);
}

/* How long the run can wait still. */
static double wait_left(const struct lane *lane)
{
    if (lane->state != RUNNING)
        return SHMT_TUNE_TICK_S;
    if (lane->task.target->recorded)
        return lane->wait_s;
    return fmax(lane->wait_s - (shmt_clock_s() - lane->since_s), 0);
}

static void fail(struct dealer *dealer, struct lane *lane,
                 struct shmt_error *err)
{
    if (lane->state == RUNNING)
        close_run(dealer, lane, err->status, err);
    else if (lane->state == HELPING)
        fail_helping(dealer, lane, err);
    else if (lane->state == OPENING && can_drop_out(dealer, lane, err))
        drop_out(dealer, lane, err);
    else if (lane->state == OPENING)
        refuse_kernel(dealer, lane, err);
    else
        close_target(lane);
}

static struct lane *lane_of(const struct dealer *dealer,
                            const struct shmt_target *target)
{
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (dealer->lanes[k].task.target == target)
            return &dealer->lanes[k];
    return NULL;
}

/* Waits for what comes next to any of the runs. */
static enum shmtune_status wait_for_all(struct dealer *dealer,
                                        struct lane *any, double wait_s,
                                        struct shmt_error *err)
{
    struct shmt_target *const target = any->task.target;
    struct shmt_target_reply reply = {.target = target};
    bool got = false;
    enum shmtune_status status = target->operations->wait(
        target, wait_s, &got, &reply, err);
    struct lane *lane;

    if (status == SHMTUNE_OK && !got) {
        for (size_t k = 0; k < dealer->lane_count; k++)
            dealer->lanes[k].due = true;
        return SHMTUNE_OK;
    }
    lane = lane_of(dealer, reply.target);
    if (lane == NULL)
        return status;
    if (status == SHMTUNE_OK && lane->state == HELPING)
        lane = lane->helped;
    if (status == SHMTUNE_OK && lane->state == RUNNING) {
        lane->due = true;
        status = shmt_tune_reply(lane->run, &reply, err);
    }
    if (status != SHMTUNE_OK)
        fail(dealer, lane, err);
    return SHMTUNE_OK;
}

/* Gives the device a problem, begins its run, or lets it go on. */
static void go_on(struct dealer *dealer, struct lane *lane)
{
    struct shmt_error why = {0};

    if (is_stopped(dealer))
        dealer->stopped = true;
    while (may_take(dealer, lane))
        deal(dealer, lane);
    if (lane->state == OPENING && is_stopped(dealer)) {
        shmt_error_set(&why, SHMTUNE_INTERRUPTED,
                       "interrupted while the worker started");
        refuse_kernel(dealer, lane, &why);
    }
    if (lane->state == OPENING && is_ready(lane->task.target) &&
        has_room(dealer, lane))
        begin(dealer, lane);
    if (lane->state == RUNNING && (lane->due || wait_left(lane) <= 0 ||
                                   shmt_tune_has_news(lane->run)))
        advance(dealer, lane);
    if (lane->state == FREE && !dealer->stopped &&
        choose_kernel(dealer, lane) == NULL)
        help(dealer, lane);
    if (lane->state == HELPING)
        go_on_helping(dealer, lane);
    if (lane->state == FREE &&
        (dealer->stopped || choose_kernel(dealer, lane) == NULL ||
         (dealer->width > 1 && lane->open != NULL &&
          count_left(dealer, lane->open) == 0)))
        close_target(lane);
}

static enum shmtune_status go_through(struct dealer *dealer,
                                      struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    while (status == SHMTUNE_OK) {
        struct lane *any = NULL;
        double wait_s = INFINITY;
        bool more = false;

        for (size_t k = 0; k < dealer->lane_count; k++)
            go_on(dealer, lane_at(dealer, k));
        for (size_t k = 0; k < dealer->lane_count; k++) {
            struct lane *const lane = &dealer->lanes[k];
            more = more || may_take(dealer, lane);
            if (lane->state == FREE || lane->state == GONE)
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
    struct dealer dealer = {
        .all = campaign,
        .lanes = calloc(count + 1, sizeof(struct lane)),
        .lane_count = count,
        .width = count / campaign->device_count,
        .rests = calloc(campaign->kernel_count + 1, sizeof(struct rest)),
        .returned = calloc(count + 1, sizeof(struct returned)),
    };
    enum shmtune_status status = SHMTUNE_OK;

    if (dealer.lanes == NULL || dealer.rests == NULL ||
        dealer.returned == NULL)
        status = shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        dealer.lanes[k].task.since_s = campaign->began_s;
    if (status == SHMTUNE_OK)
        status = go_through(&dealer, err);
    for (size_t k = 0; dealer.lanes != NULL && k < count; k++) {
        struct shmt_tune_outcome *outcome = NULL;
        if (dealer.lanes[k].run != NULL)
            (void)shmt_tune_close(dealer.lanes[k].run, status, &outcome, NULL);
        shmt_tune_free(outcome);
        close_target(&dealer.lanes[k]);
    }
    free(dealer.lanes);
    for (size_t k = 0; dealer.rests != NULL && k < campaign->kernel_count;
         k++)
        shmt_sizes_free(dealer.rests[k].sizes);
    free(dealer.rests);
    free(dealer.returned);
    return status;
}
