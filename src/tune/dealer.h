/* SPDX-License-Identifier: MIT */
/*
 * dealer: the devices of a campaign and what they are doing, for campaign.c,
 * which deals problems to them, dealer.c, which looks at all of them, refuse.c,
 * which ends those that cannot begin, and help.c, where devices without one
 * measure for the runs of others.
 */
#ifndef SHMT_TUNE_DEALER_H
#define SHMT_TUNE_DEALER_H

#include "tune/campaign.h"
#include "tune/step.h"

enum shmt_lane_state {
    SHMT_LANE_FREE, SHMT_LANE_OPENING, SHMT_LANE_RUNNING, SHMT_LANE_HELPING,
    SHMT_LANE_GONE
};

/* A place for a run on a device, and what it is doing. */
struct shmt_lane {
    enum shmt_lane_state state;
    struct shmt_campaign_task task;
    struct shmt_campaign_kernel *open;   /* whose target it is; NULL: none */
    bool is_new;                         /* it has not been ready before */
    bool was_ready, was_late;            /* a target of its was once */
    struct shmt_lane *helped;                 /* whose run it measures for, */
    bool lent;                           /* and whether it does so already */
    const struct shmt_tune *shunned;     /* a run that it cannot help */
    struct shmt_tune *run;
    struct shmt_tune_options options;
    double bytes;                        /* of the device's memory; 0: not
                                            looked at yet */
    bool due;                            /* the run can go on; */
    double wait_s, since_s;              /* else it waits so long, from then
                                            on, on shmt_clock_s */
};

/* What is left of a kernel. */
struct shmt_dealer_rest {
    size_t next;               /* problem */
    struct shmt_sizes *sizes;  /* NULL: problems are tuned one at a time */
    bool refused;              /* none is to begin, */
    struct shmt_error why;     /* for this */
};

/* A problem that has to begin again. */
struct shmt_dealer_returned {
    struct shmt_campaign_kernel *kernel;
    size_t number;
};

struct shmt_dealer {
    const struct shmt_campaign *all;
    struct shmt_lane *lanes;        /* [lane_count], device by device */
    size_t lane_count, width;  /* `width` of each device */
    struct shmt_dealer_rest *rests;        /* [kernel_count] */
    struct shmt_dealer_returned *returned; /* [lane_count] */
    size_t returned_count;
    double longest_s;          /* that a lane waits for its target, when
                                  shmt_dealer_look saw them last */
    bool stopped;              /* no more is to begin, */
    struct shmt_error why;     /* for this; SHMTUNE_OK: not known here */
    size_t *numbers, number_room;    /* of problems that are told */
};

static inline struct shmt_dealer_rest *
shmt_dealer_rest_of(const struct shmt_dealer *dealer,
                    const struct shmt_campaign_kernel *kernel)
{
    return &dealer->rests[kernel - dealer->all->kernels];
}

/* Of its device. */
static inline size_t shmt_lane_number(const struct shmt_dealer *dealer,
                               const struct shmt_lane *lane)
{
    return (size_t)(lane - dealer->lanes) / dealer->width;
}

static inline bool shmt_lane_is_beside(const struct shmt_dealer *dealer,
                             const struct shmt_lane *lane,
                             const struct shmt_lane *other)
{
    return lane != other &&
           shmt_lane_number(dealer, lane) == shmt_lane_number(dealer, other);
}

/* The first lane of its device, and those beside it. */
static inline const struct shmt_lane *
shmt_lane_first(const struct shmt_dealer *dealer, const struct shmt_lane *lane)
{
    return &dealer->lanes[shmt_lane_number(dealer, lane) * dealer->width];
}

/* Whether a lane beside this one runs, or, if so early, opens its target. */
static inline bool shmt_lane_is_used(const struct shmt_dealer *dealer,
                                     const struct shmt_lane *lane, bool early)
{
    const struct shmt_lane *const lanes = shmt_lane_first(dealer, lane);

    for (size_t k = 0; k < dealer->width; k++)
        if (&lanes[k] != lane &&
            (lanes[k].state == SHMT_LANE_RUNNING ||
             (early && lanes[k].state == SHMT_LANE_OPENING)))
            return true;
    return false;
}

static inline size_t shmt_lane_model(const struct shmt_dealer *dealer,
                              const struct shmt_lane *lane)
{
    return dealer->all->models[shmt_lane_number(dealer, lane)];
}

static inline bool shmt_lane_is_ready(const struct shmt_target *target)
{
    return target->operations->is_ready == NULL ||
           target->operations->is_ready(target);
}

/* One that waits in a queue keeps its place there. */
static inline bool shmt_lane_is_coming(const struct shmt_lane *lane)
{
    return lane->task.target != NULL && !shmt_lane_is_ready(lane->task.target);
}

/* -- dealer.c ------------------------------------------------------------- */

/* Whether a device is in use, and, unless it is NULL, has the kernel. */
bool shmt_dealer_has_kernel(const struct shmt_dealer *dealer, size_t device,
                            const struct shmt_campaign_kernel *kernel);
/* The devices of a model that do. */
size_t shmt_dealer_count_devices(const struct shmt_dealer *dealer,
                                 size_t model,
                                 const struct shmt_campaign_kernel *kernel);
/* Problems of a kernel that have to begin.  Where they are not known before it
 * is open, one stands for all. */
size_t shmt_dealer_count_left(const struct shmt_dealer *dealer,
                              const struct shmt_campaign_kernel *kernel);
/* Those of all kernels on a model. */
size_t shmt_dealer_count_waiting(const struct shmt_dealer *dealer,
                                 size_t model);
/* Whether one of the model has still to begin, or begins. */
bool shmt_dealer_is_any_waiting(const struct shmt_dealer *dealer,
                                size_t model);
/* How many of those that wait and search may search on a device of the model
 * together, when each has as many. */
size_t shmt_dealer_count_together(const struct shmt_dealer *dealer,
                                  size_t model);
/* Whether a run begins or searches. */
bool shmt_dealer_is_searching(const struct shmt_lane *lane);
/* Runs that begin or search on devices of the model, */
size_t shmt_dealer_count_searching(const struct shmt_dealer *dealer,
                                   size_t model);
/* and on the device of a lane, beside it. */
size_t shmt_dealer_count_searching_beside(const struct shmt_dealer *dealer,
                                          const struct shmt_lane *lane);
/* Runs on the device of a lane that are in their finals, and searches there
 * that end with it or after it, with this one: those of its kernel, and of
 * heavier ones. */
size_t shmt_dealer_count_to_end(const struct shmt_dealer *dealer,
                                const struct shmt_lane *lane);
/* Whether so many search that one which has settled leaves its time to others;
 * those of its own kernel have settled with it. */
bool shmt_dealer_is_crowded(const struct shmt_dealer *dealer,
                            const struct shmt_lane *lane);
/* Whether the device's memory has room for the run of a lane beside those that
 * run there; alone it always has. */
bool shmt_dealer_has_room(const struct shmt_dealer *dealer,
                          struct shmt_lane *lane);
/* How many runs, with this one, have room on the device of a lane together, if
 * all others are as the mean of those that search there: 1 at least, SIZE_MAX
 * where there is room for all of them, or its memory is not known. */
size_t shmt_dealer_count_fitting(const struct shmt_dealer *dealer,
                                 struct shmt_lane *lane);
/* Whether the lane may open the kernel: for one that its device has, no measure
 * worker is started, or another lane waits for that already. */
bool shmt_dealer_may_start(const struct shmt_dealer *dealer,
                           const struct shmt_lane *lane,
                           const struct shmt_campaign_kernel *kernel);

/* Looks at all lanes before they go on, for find_late. */
void shmt_dealer_look(struct shmt_dealer *dealer);
/* A lane of another device of the model that has a problem and is long in
 * coming, where the device of this one is there and has time for it.  NULL:
 * none. */
struct shmt_lane *shmt_dealer_find_late(const struct shmt_dealer *dealer,
                                        const struct shmt_lane *lane);

/* -- campaign.c ----------------------------------------------------------- */

void shmt_campaign_close_target(struct shmt_lane *lane);
/* When nobody waits any more, nobody leaves time to others that they do not
 * need: each search goes on as long as there is time for the finals on its
 * device, the lightest ending first, so that the compilers are busy till the
 * end. */
void shmt_campaign_share_rest(struct shmt_dealer *dealer, size_t model);

/* -- refuse.c ------------------------------------------------------------- */

/* Neither the lane nor one of its device that has no run is used any more. */
void shmt_campaign_retire(struct shmt_dealer *dealer, struct shmt_lane *lane);
/* What a failure means for what has not begun: nothing more is to begin, or, if
 * the last device of a model has failed, nothing on that. */
void shmt_campaign_note_failure(struct shmt_dealer *dealer,
                                struct shmt_lane *lane,
                                const struct shmt_error *why, bool more);
/* Nothing more is to begin, */
void shmt_campaign_stop(struct shmt_dealer *dealer,
                        const struct shmt_error *why);
/* and the lane's problem, which was to, is left. */
void shmt_campaign_stop_before(struct shmt_dealer *dealer,
                               struct shmt_lane *lane,
                               const struct shmt_error *why);
/* None of its kernel's problems is to begin, */
void shmt_campaign_refuse(struct shmt_dealer *dealer, struct shmt_lane *lane,
                          const struct shmt_error *why);
/* or of those that wait for its device. */
void shmt_campaign_give_up(struct shmt_dealer *dealer, struct shmt_lane *lane,
                           const struct shmt_error *why);
/* Tells which problems have neither begun nor been told. */
void shmt_campaign_tell_left(struct shmt_dealer *dealer);
/* The device is used as far as its other lanes do.  False: the failure is that
 * of the problem, or nobody else can have it. */
bool shmt_campaign_drop_out(struct shmt_dealer *dealer, struct shmt_lane *lane,
                            const struct shmt_error *why);

/* -- help.c --------------------------------------------------------------- */

/* A device that has no problem left measures for the run of another, if one
 * wants it. */
void shmt_campaign_help(struct shmt_dealer *dealer, struct shmt_lane *lane);
void shmt_campaign_go_on_helping(struct shmt_dealer *dealer,
                                 struct shmt_lane *lane);
/* The run of this one has ended. */
void shmt_campaign_release_helpers(const struct shmt_dealer *dealer,
                                   const struct shmt_lane *helped);
void shmt_campaign_fail_helping(struct shmt_dealer *dealer,
                                struct shmt_lane *lane,
                                const struct shmt_error *why);
/* Whether a device without a problem that was waited for is kept, or is waited
 * for still: while it may help a run later. */
bool shmt_campaign_is_kept(const struct shmt_dealer *dealer,
                           const struct shmt_lane *lane);

#endif
