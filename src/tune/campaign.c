/* SPDX-License-Identifier: MIT */
/*
 * campaign: see campaign.h.  This is the only place of the tuner that waits: it
 * lets the runs go on, waits for their targets, and gives each its replies.
 */
#include "tune/campaign.h"

#include <math.h>
#include <stdlib.h>

#include "tune/step.h"

/* The longest time of one wait, hence the delay of the reaction to an
 * interrupt. */
static const double tick_s = 0.2;

/* -- one run -------------------------------------------------------------- */

/* Nothing on a recorded device takes real time. */
static double wait_of(const struct shmt_target *target, double wait_s)
{
    return target->recorded ? wait_s : fmin(wait_s, tick_s);
}

enum shmtune_status shmt_tune_run(struct shmt_target *target,
                                  const int64_t *problem,
                                  const struct shmt_tune_options *options,
                                  struct shmt_tune_outcome **out,
                                  struct shmt_error *err)
{
    struct shmt_tune *tune;
    struct shmt_target_reply reply;
    enum shmtune_status status =
        shmt_tune_open(target, problem, options, &tune, err);
    bool done = false, got;
    double wait_s;

    if (tune == NULL)
        return status;
    while (status == SHMTUNE_OK && !done) {
        status = shmt_tune_advance(tune, &done, &wait_s, err);
        if (status != SHMTUNE_OK || done)
            break;
        status = target->operations->wait(target, wait_of(target, wait_s),
                                          &got, &reply, err);
        if (status == SHMTUNE_OK && got)
            status = shmt_tune_reply(tune, &reply, err);
    }
    return shmt_tune_close(tune, status, out, err);
}

/* -- many ----------------------------------------------------------------- */

enum state { FREE, OPENING, RUNNING, HELPING, GONE };

/* A device, and what it is doing. */
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
    double wait_s, since_s;              /* else it waits so long, from then
                                            on, on shmt_clock_s */
};

/* What is left of a kernel. */
struct rest {
    size_t next;               /* problem */
    bool refused;              /* none is to begin */
};

/* A problem that has to begin again. */
struct returned {
    struct shmt_campaign_kernel *kernel;
    size_t number;
};

struct dealer {
    const struct shmt_campaign *all;
    struct lane *lanes;        /* [device_count] */
    struct rest *rests;        /* [kernel_count] */
    struct returned *returned; /* [device_count] */
    size_t returned_count;
    bool stopped;              /* no more is to begin */
};

static size_t number_of(const struct dealer *dealer, const struct lane *lane)
{
    return (size_t)(lane - dealer->lanes);
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

static size_t count_lanes(const struct dealer *dealer, size_t model,
                          const struct shmt_campaign_kernel *kernel)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->all->device_count; k++)
        count += dealer->lanes[k].state != GONE &&
                 dealer->all->models[k] == model &&
                 (kernel == NULL || dealer->lanes[k].open == kernel);
    return count;
}

/* The kernel of the next problem: the one the device has, else one that no
 * other has, else the first with a problem left.  NULL: nothing is left. */
static struct shmt_campaign_kernel *choose_kernel(const struct dealer *dealer,
                                                  const struct lane *lane)
{
    const size_t model = model_of(dealer, lane);
    struct shmt_campaign_kernel *first = NULL, *untouched = NULL;

    for (size_t k = 0; k < dealer->all->kernel_count; k++) {
        struct shmt_campaign_kernel *const kernel = &dealer->all->kernels[k];
        if (kernel->model != model || count_left(dealer, kernel) == 0)
            continue;
        if (lane->open == kernel)
            return kernel;
        if (first == NULL)
            first = kernel;
        if (untouched == NULL && count_lanes(dealer, model, kernel) == 0)
            untouched = kernel;
    }
    return untouched != NULL ? untouched : first;
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
    task->devices = count_lanes(dealer, model, NULL);
    task->kernel = kernel;
    task->device = number_of(dealer, lane);
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

/* What a failure means for what has not begun: nothing more is to begin, or, if
 * the last device of a model has failed, nothing on that. */
static void note_failure(struct dealer *dealer, struct lane *lane,
                         const struct shmt_error *why, bool more)
{
    bool others = false;

    for (size_t k = 0; k < dealer->all->device_count; k++)
        others = others || (dealer->lanes[k].state != GONE &&
                            dealer->all->models[k] != model_of(dealer, lane));
    if (!more && why->status == SHMTUNE_NO_DEVICE && others)
        lane->state = GONE;
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

/* Whether the device has failed, and not the problem, and another can have
 * its problem. */
static bool can_drop_out(const struct dealer *dealer, const struct lane *lane,
                         const struct shmt_error *why)
{
    return (why->status == SHMTUNE_NO_DEVICE ||
            why->status == SHMTUNE_INTERNAL) &&
           count_lanes(dealer, model_of(dealer, lane), NULL) > 1;
}

static void drop_out(struct dealer *dealer, struct lane *lane,
                     const struct shmt_error *why)
{
    dealer->returned[dealer->returned_count++] =
        (struct returned){lane->task.kernel, lane->task.number};
    close_target(lane);
    lane->state = GONE;
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

static size_t count_helpers(const struct dealer *dealer,
                            const struct lane *helped)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->all->device_count; k++)
        count += dealer->lanes[k].state == HELPING &&
                 dealer->lanes[k].helped == helped;
    return count;
}

/* The run with the fewest helpers that a device without a problem could help.
 * NULL: none. */
static struct lane *choose_helped(const struct dealer *dealer,
                                  const struct lane *lane)
{
    struct lane *best = NULL;

    for (size_t k = 0; k < dealer->all->device_count; k++) {
        struct lane *const other = &dealer->lanes[k];
        if (other->state == RUNNING && other->run != lane->shunned &&
            model_of(dealer, other) == model_of(dealer, lane) &&
            shmt_tune_wants_help(other->run) &&
            (best == NULL ||
             count_helpers(dealer, other) < count_helpers(dealer, best)))
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
    for (size_t k = 0; k < dealer->all->device_count; k++)
        if (dealer->lanes[k].state == HELPING &&
            dealer->lanes[k].helped == helped)
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
    lane->state = GONE;
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

/* The target is ready: the run begins. */
static void begin(struct dealer *dealer, struct lane *lane)
{
    const struct shmt_campaign *const all = dealer->all;
    struct shmt_campaign_task *const task = &lane->task;
    struct shmt_error err = {0};
    enum shmtune_status status = SHMTUNE_OK;

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
    if (status == SHMTUNE_OK)
        status = shmt_tune_open(task->target,
                                task->kernel->problems[task->number],
                                &lane->options, &lane->run, &err);
    lane->state = RUNNING;
    lane->due = true;
    if (status != SHMTUNE_OK)
        close_run(dealer, lane, status, &err);
}

/* Lets a run go on. */
static void advance(struct dealer *dealer, struct lane *lane)
{
    struct shmt_error err = {0};
    enum shmtune_status status;
    bool done = false;

    status = shmt_tune_advance(lane->run, &done, &lane->wait_s, &err);
    lane->wait_s = wait_of(lane->task.target, lane->wait_s);
    lane->since_s = shmt_clock_s();
    lane->due = false;
    if (status != SHMTUNE_OK || done)
        close_run(dealer, lane, status, &err);
}

/* How long the run can wait still. */
static double wait_left(const struct lane *lane)
{
    if (lane->state != RUNNING)
        return tick_s;
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
    for (size_t k = 0; k < dealer->all->device_count; k++)
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
        for (size_t k = 0; k < dealer->all->device_count; k++)
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
    while (lane->state == FREE && !dealer->stopped &&
           choose_kernel(dealer, lane) != NULL)
        deal(dealer, lane);
    if (lane->state == OPENING && is_stopped(dealer)) {
        shmt_error_set(&why, SHMTUNE_INTERRUPTED,
                       "interrupted while the worker started");
        refuse_kernel(dealer, lane, &why);
    }
    if (lane->state == OPENING && is_ready(lane->task.target))
        begin(dealer, lane);
    if (lane->state == RUNNING && (lane->due || wait_left(lane) <= 0))
        advance(dealer, lane);
    if (lane->state == FREE && !dealer->stopped &&
        choose_kernel(dealer, lane) == NULL)
        help(dealer, lane);
    if (lane->state == HELPING)
        go_on_helping(dealer, lane);
    if (lane->state == FREE && (dealer->stopped ||
                                choose_kernel(dealer, lane) == NULL))
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

        for (size_t k = 0; k < dealer->all->device_count; k++)
            go_on(dealer, &dealer->lanes[k]);
        for (size_t k = 0; k < dealer->all->device_count; k++) {
            struct lane *const lane = &dealer->lanes[k];
            more = more || (lane->state == FREE && !dealer->stopped &&
                            choose_kernel(dealer, lane) != NULL);
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
    const size_t devices = campaign->device_count;
    struct dealer dealer = {
        .all = campaign,
        .lanes = calloc(devices + 1, sizeof(struct lane)),
        .rests = calloc(campaign->kernel_count + 1, sizeof(struct rest)),
        .returned = calloc(devices + 1, sizeof(struct returned)),
    };
    enum shmtune_status status = SHMTUNE_OK;

    if (dealer.lanes == NULL || dealer.rests == NULL ||
        dealer.returned == NULL)
        status = shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < devices; k++)
        dealer.lanes[k].task.since_s = campaign->began_s;
    if (status == SHMTUNE_OK)
        status = go_through(&dealer, err);
    for (size_t k = 0; dealer.lanes != NULL && k < devices; k++) {
        struct shmt_tune_outcome *outcome = NULL;
        if (dealer.lanes[k].run != NULL)
            (void)shmt_tune_close(dealer.lanes[k].run, status, &outcome, NULL);
        shmt_tune_free(outcome);
        close_target(&dealer.lanes[k]);
    }
    free(dealer.lanes);
    free(dealer.rests);
    free(dealer.returned);
    return status;
}
