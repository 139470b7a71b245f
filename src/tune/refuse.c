/* SPDX-License-Identifier: MIT */
/*
 * refuse: devices and kernels that fail, and what becomes of their problems.
 * Called by campaign.c and help.c.
 */
#include "tune/dealer.h"

#include <math.h>
#include <stdlib.h>

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

/* -- problems that do not begin ------------------------------------------- */

static void add_number(struct shmt_dealer *dealer, size_t *count,
                       size_t number)
{
    if (shmt_array_reserve(&dealer->numbers, &dealer->number_room, *count + 1,
                           sizeof *dealer->numbers))
        dealer->numbers[(*count)++] = number;
}

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Of those that wait for their device, on that of the lane; NULL: on any. */
static size_t take_opening(struct shmt_dealer *dealer,
                           const struct shmt_campaign_kernel *kernel,
                           const struct shmt_lane *lane)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->lane_count; k++) {
        struct shmt_lane *const other = &dealer->lanes[k];

        if (other->state != SHMT_LANE_OPENING ||
            other->task.kernel != kernel ||
            (lane != NULL && shmt_lane_number(dealer, other) !=
                                 shmt_lane_number(dealer, lane)))
            continue;
        if (kernel->problems != NULL && other->task.number < kernel->count)
            add_number(dealer, &count, other->task.number);
        shmt_campaign_close_target(other);
        other->state = SHMT_LANE_FREE;
    }
    return count;
}

/* The problems of a kernel that no run has: nobody will.  Into
 * dealer->numbers; how many. */
static size_t take_rest(struct shmt_dealer *dealer,
                        const struct shmt_campaign_kernel *kernel)
{
    struct shmt_dealer_rest *const rest = shmt_dealer_rest_of(dealer, kernel);
    size_t count = take_opening(dealer, kernel, NULL), kept = 0;

    for (size_t k = 0; k < dealer->returned_count; k++) {
        const struct shmt_dealer_returned one = dealer->returned[k];

        if (one.kernel != kernel)
            dealer->returned[kept++] = one;
        else if (one.number < kernel->count)
            add_number(dealer, &count, one.number);
    }
    dealer->returned_count = kept;
    if (kernel->problems == NULL)
        return 0;
    for (; rest->next < kernel->count; rest->next++)
        add_number(dealer, &count, rest->next);
    if (count > 1)
        qsort(dealer->numbers, count, sizeof *dealer->numbers, by_number);
    return count;
}

static bool refuse_rest(struct shmt_dealer *dealer,
                        const struct shmt_campaign_kernel *kernel,
                        const struct shmt_error *why)
{
    const struct shmt_campaign *const all = dealer->all;
    struct shmt_dealer_rest *const rest = shmt_dealer_rest_of(dealer, kernel);
    const size_t count = take_rest(dealer, kernel);

    rest->refused = true;
    rest->why = *why;
    return all->calls->refused(all->context, kernel, dealer->numbers, count,
                               why);
}

/* The last device of a model is lost: what is left of its problems is told at
 * the end. */
static void note_model(struct shmt_dealer *dealer, size_t model,
                       const struct shmt_error *why)
{
    for (size_t k = 0; k < dealer->all->kernel_count; k++) {
        const struct shmt_campaign_kernel *const kernel =
            &dealer->all->kernels[k];
        struct shmt_dealer_rest *const rest =
            shmt_dealer_rest_of(dealer, kernel);

        if (kernel->model == model && !rest->refused)
            rest->why = *why;
    }
}

void shmt_campaign_stop(struct shmt_dealer *dealer,
                        const struct shmt_error *why)
{
    if (!dealer->stopped)
        dealer->why = *why;
    dealer->stopped = true;
}

void shmt_campaign_note_failure(struct shmt_dealer *dealer,
                                struct shmt_lane *lane,
                                const struct shmt_error *why, bool more)
{
    const size_t model = shmt_lane_model(dealer, lane);
    bool others = false;

    for (size_t k = 0; k < dealer->all->device_count; k++)
        others = others || (shmt_dealer_has_kernel(dealer, k, NULL) &&
                            dealer->all->models[k] != model);
    if (!more && why->status == SHMTUNE_NO_DEVICE && others) {
        shmt_campaign_retire(dealer, lane);
        note_model(dealer, model, why);
    } else if (!more) {
        shmt_campaign_stop(dealer, why);
    }
}

void shmt_campaign_stop_before(struct shmt_dealer *dealer,
                               struct shmt_lane *lane,
                               const struct shmt_error *why)
{
    put_back(dealer, lane);
    shmt_campaign_close_target(lane);
    lane->state = SHMT_LANE_FREE;
    shmt_campaign_stop(dealer, why);
}

void shmt_campaign_refuse(struct shmt_dealer *dealer, struct shmt_lane *lane,
                          const struct shmt_error *why)
{
    shmt_campaign_note_failure(dealer, lane, why,
                               refuse_rest(dealer, lane->task.kernel, why));
    shmt_campaign_share_rest(dealer, shmt_lane_model(dealer, lane));
}

void shmt_campaign_give_up(struct shmt_dealer *dealer, struct shmt_lane *lane,
                           const struct shmt_error *why)
{
    const struct shmt_campaign *const all = dealer->all;
    const size_t count = take_opening(dealer, lane->task.kernel, lane);

    shmt_campaign_note_failure(
        dealer, lane, why,
        all->calls->refused(all->context, lane->task.kernel, dealer->numbers,
                            count, why));
}

void shmt_campaign_tell_left(struct shmt_dealer *dealer)
{
    const struct shmt_campaign *const all = dealer->all;

    for (size_t k = 0; k < all->kernel_count; k++) {
        const struct shmt_dealer_rest *const rest = &dealer->rests[k];
        const size_t count = take_rest(dealer, &all->kernels[k]);

        if (count > 0)
            all->calls->left(all->context, &all->kernels[k], dealer->numbers,
                             count,
                             rest->why.status != SHMTUNE_OK ? &rest->why
                             : dealer->why.status != SHMTUNE_OK
                                 ? &dealer->why : NULL);
    }
}

/* -- devices that fail ---------------------------------------------------- */

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
