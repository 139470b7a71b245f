/* SPDX-License-Identifier: MIT */
/*
 * refuse: devices and kernels that fail, and what becomes of their problems.
 * Called by campaign.c and help.c.
 */
#include "tune/dealer.h"

#include <math.h>

/* Another is to have the problem. */
static void put_back(struct shmt_dealer *dealer, const struct shmt_lane *lane)
{
    dealer->returned[dealer->returned_count++] =
        (struct shmt_dealer_returned){lane->task.kernel, lane->task.number};
}

void shmt_campaign_retire(struct shmt_dealer *dealer, struct shmt_lane *lane)
{
    for (size_t k = 0; k < dealer->lane_count; k++) {
        struct shmt_lane *const other = &dealer->lanes[k];
        if (other == lane || !shmt_lane_is_beside(dealer, lane, other) ||
            (other->state != SHMT_LANE_FREE &&
             other->state != SHMT_LANE_OPENING))
            continue;
        if (other->state == SHMT_LANE_OPENING)
            put_back(dealer, other);
        shmt_campaign_close_target(other);
        other->state = SHMT_LANE_GONE;
    }
    lane->state = SHMT_LANE_GONE;
}

void shmt_campaign_note_failure(struct shmt_dealer *dealer,
                                struct shmt_lane *lane,
                                const struct shmt_error *why, bool more)
{
    bool others = false;

    for (size_t k = 0; k < dealer->all->device_count; k++)
        others = others ||
                 (shmt_dealer_has_kernel(dealer, k, NULL) &&
                  dealer->all->models[k] != shmt_lane_model(dealer, lane));
    if (!more && why->status == SHMTUNE_NO_DEVICE && others)
        shmt_campaign_retire(dealer, lane);
    else if (!more)
        dealer->stopped = true;
}

void shmt_campaign_refuse(struct shmt_dealer *dealer, struct shmt_lane *lane,
                          const struct shmt_error *why)
{
    const struct shmt_campaign *const all = dealer->all;
    struct shmt_campaign_kernel *const kernel = lane->task.kernel;
    struct shmt_dealer_rest *const rest = shmt_dealer_rest_of(dealer, kernel);

    shmt_campaign_close_target(lane);
    lane->state = SHMT_LANE_FREE;
    if (!rest->refused)
        shmt_campaign_note_failure(
            dealer, lane, why,
            all->calls->refused(all->context, kernel, why));
    rest->refused = true;
    shmt_campaign_share_rest(dealer, shmt_lane_model(dealer, lane));
}

/* Whether the device has failed, and not the problem, and another can have
 * its problem, or another lane of the device. */
static bool can_drop_out(const struct shmt_dealer *dealer,
                         const struct shmt_lane *lane,
                         const struct shmt_error *why)
{
    return (why->status == SHMTUNE_NO_DEVICE ||
            why->status == SHMTUNE_INTERNAL) &&
           (shmt_lane_is_used(dealer, lane, true) ||
            shmt_dealer_count_devices(dealer, shmt_lane_model(dealer, lane),
                                      NULL) > 1);
}

/* Of a total, what the problems of a device that is lost need is taken from the
 * searches on the others, of each as much as if they had begun without it. */
static void make_time(const struct shmt_dealer *dealer, size_t model)
{
    const size_t devices = shmt_dealer_count_devices(dealer, model, NULL);

    if (dealer->all->queued || !shmt_dealer_is_any_waiting(dealer, model))
        return;
    for (size_t k = 0; k < dealer->lane_count; k++) {
        struct shmt_lane *const lane = &dealer->lanes[k];
        double less_s;

        if (shmt_lane_model(dealer, lane) != model ||
            lane->state != SHMT_LANE_RUNNING ||
            shmt_tune_is_in_finals(lane->run) ||
            isinf(lane->options.spare_s))
            continue;
        less_s = fmax(shmt_tune_left_s(lane->run), 0) / ((double)devices + 1);
        lane->options.budget_s -= less_s;
        lane->options.spare_s += less_s;
    }
}

bool shmt_campaign_drop_out(struct shmt_dealer *dealer, struct shmt_lane *lane,
                            const struct shmt_error *why)
{
    if (!can_drop_out(dealer, lane, why))
        return false;
    put_back(dealer, lane);
    shmt_campaign_close_target(lane);
    if (shmt_lane_is_used(dealer, lane, true)) {
        lane->state = SHMT_LANE_GONE;
        return true;
    }
    shmt_campaign_retire(dealer, lane);
    make_time(dealer, shmt_lane_model(dealer, lane));
    dealer->all->calls->lost(dealer->all->context,
                             shmt_lane_number(dealer, lane), why);
    return true;
}
