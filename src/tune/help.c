/* SPDX-License-Identifier: MIT */
/*
 * help: devices of a campaign that have no problem left, and measure for the
 * runs of others (lend.c).  Called by campaign.c.
 */
#include "tune/dealer.h"

/* All, or those on the device of a lane. */
static size_t count_helpers(const struct shmt_dealer *dealer,
                            const struct shmt_lane *helped,
                            const struct shmt_lane *beside)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->lane_count; k++)
        count += dealer->lanes[k].state == SHMT_LANE_HELPING &&
                 dealer->lanes[k].helped == helped &&
                 (beside == NULL ||
                  shmt_lane_is_beside(dealer, beside, &dealer->lanes[k]));
    return count;
}

/* The run with the fewest helpers that a device without a run could help, and
 * does not yet.  NULL: none. */
static struct shmt_lane *choose_helped(const struct shmt_dealer *dealer,
                                  const struct shmt_lane *lane)
{
    struct shmt_lane *best = NULL;

    if (shmt_lane_is_used(dealer, lane, true))
        return NULL;
    for (size_t k = 0; k < dealer->lane_count; k++) {
        struct shmt_lane *const other = &dealer->lanes[k];
        if (other->state == SHMT_LANE_RUNNING && other->run != lane->shunned &&
            shmt_lane_model(dealer, other) == shmt_lane_model(dealer, lane) &&
            shmt_tune_wants_help(other->run) &&
            count_helpers(dealer, other, lane) == 0 &&
            (best == NULL || count_helpers(dealer, other, NULL) <
                                 count_helpers(dealer, best, NULL)))
            best = other;
    }
    return best;
}

bool shmt_campaign_is_kept(const struct shmt_dealer *dealer,
                           const struct shmt_lane *lane)
{
    if (!dealer->all->queued || lane->task.target == NULL)
        return false;
    for (size_t k = 0; k < dealer->lane_count; k++) {
        const struct shmt_lane *const other = &dealer->lanes[k];

        if (lane->open == other->open &&
            (other->state == SHMT_LANE_OPENING ||
             (other->state == SHMT_LANE_RUNNING &&
              other->run != lane->shunned &&
              shmt_tune_may_want_help(other->run))))
            return true;
    }
    return shmt_lane_is_coming(lane);
}

static void stop_helping(struct shmt_lane *lane)
{
    if (lane->lent)
        shmt_tune_take_back(lane->helped->run, lane->task.target);
    lane->lent = false;
    lane->helped = NULL;
    lane->state = SHMT_LANE_FREE;
}

void shmt_campaign_release_helpers(const struct shmt_dealer *dealer,
                            const struct shmt_lane *helped)
{
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (dealer->lanes[k].state == SHMT_LANE_HELPING &&
            dealer->lanes[k].helped == helped)
            stop_helping(&dealer->lanes[k]);
}

/* A device has failed. */
static void stop_all_helping(const struct shmt_dealer *dealer,
                             const struct shmt_lane *lane)
{
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (dealer->lanes[k].state == SHMT_LANE_HELPING &&
            shmt_lane_is_beside(dealer, lane, &dealer->lanes[k]))
            stop_helping(&dealer->lanes[k]);
}

/* A helper has failed: it is of no more use to this run, and of none at all
 * when the device has failed. */
void shmt_campaign_fail_helping(struct shmt_dealer *dealer,
                                struct shmt_lane *lane,
                         const struct shmt_error *why)
{
    lane->shunned = lane->helped->run;
    stop_helping(lane);
    shmt_campaign_close_target(lane);
    if (why->status != SHMTUNE_NO_DEVICE && why->status != SHMTUNE_INTERNAL)
        return;
    stop_all_helping(dealer, lane);
    shmt_campaign_retire(dealer, lane);
    dealer->all->calls->lost(dealer->all->context,
                             shmt_lane_number(dealer, lane), why);
}

void shmt_campaign_help(struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    const struct shmt_campaign *const all = dealer->all;
    struct shmt_lane *const helped = choose_helped(dealer, lane);
    struct shmt_error err = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (helped == NULL)
        return;
    lane->state = SHMT_LANE_HELPING;
    lane->helped = helped;
    if (lane->open == helped->open && lane->task.target != NULL)
        return;
    shmt_campaign_close_target(lane);
    lane->open = helped->open;
    status = all->calls->open(all->context, lane->open,
                              shmt_lane_number(dealer, lane),
                              &lane->task.target, &err);
    if (status == SHMTUNE_OK)
        return;
    lane->task.target = NULL;
    shmt_campaign_fail_helping(dealer, lane, &err);
}

void shmt_campaign_go_on_helping(struct shmt_dealer *dealer,
                                 struct shmt_lane *lane)
{
    struct shmt_error err = {0};
    enum shmtune_status status = SHMTUNE_OK;

    /* A problem is worth more than help. */
    if (!shmt_tune_is_searching(lane->helped->run) ||
        shmt_dealer_find_late(dealer, lane) != NULL) {
        stop_helping(lane);
        return;
    }
    if (!lane->lent && shmt_lane_is_ready(lane->task.target)) {
        lane->lent = lane->was_ready = true;
        status = shmt_tune_lend(lane->helped->run, lane->task.target, &err);
    }
    if (status != SHMTUNE_OK) {
        shmt_campaign_fail_helping(dealer, lane, &err);
    } else if (lane->lent &&
               shmt_tune_is_useless(lane->helped->run, lane->task.target)) {
        lane->shunned = lane->helped->run;
        stop_helping(lane);
    }
}

