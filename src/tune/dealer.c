/* SPDX-License-Identifier: MIT */
/*
 * dealer: what the devices of a campaign are doing; see dealer.h.
 */
#include "tune/dealer.h"

#include <math.h>

#include "tune/sizes.h"

/* Of the memory of a device that the runs on it may need. */
static const double memory_share = 0.8;

/* Measure workers that start at a time.  The driver sets one up after the
 * other, on whichever device: of twenty at once none is ready before all of
 * them are, and until then nothing is compiled. */
enum { STARTING = 2 };

bool shmt_dealer_has_kernel(const struct shmt_dealer *dealer, size_t device,
                            const struct shmt_campaign_kernel *kernel)
{
    const struct shmt_lane *const lanes =
        &dealer->lanes[device * dealer->width];

    for (size_t k = 0; k < dealer->width; k++)
        if (lanes[k].state != SHMT_LANE_GONE &&
            (kernel == NULL || lanes[k].open == kernel))
            return true;
    return false;
}

size_t shmt_dealer_count_devices(const struct shmt_dealer *dealer,
                                 size_t model,
                                 const struct shmt_campaign_kernel *kernel)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->all->device_count; k++)
        count += dealer->all->models[k] == model &&
                 shmt_dealer_has_kernel(dealer, k, kernel);
    return count;
}

size_t shmt_dealer_count_left(const struct shmt_dealer *dealer,
                              const struct shmt_campaign_kernel *kernel)
{
    const struct shmt_dealer_rest *const rest =
        shmt_dealer_rest_of(dealer, kernel);
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

size_t shmt_dealer_count_waiting(const struct shmt_dealer *dealer,
                                 size_t model)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->all->kernel_count; k++)
        if (dealer->all->kernels[k].model == model)
            count += shmt_dealer_count_left(dealer, &dealer->all->kernels[k]);
    return count;
}

bool shmt_dealer_is_any_waiting(const struct shmt_dealer *dealer, size_t model)
{
    if (shmt_dealer_count_waiting(dealer, model) > 0)
        return true;
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (dealer->lanes[k].state == SHMT_LANE_OPENING &&
            shmt_lane_model(dealer, &dealer->lanes[k]) == model)
            return true;
    return false;
}

bool shmt_dealer_is_searching(const struct shmt_lane *lane)
{
    return lane->state == SHMT_LANE_OPENING ||
           (lane->state == SHMT_LANE_RUNNING &&
            !shmt_tune_is_in_finals(lane->run));
}

size_t shmt_dealer_count_searching(const struct shmt_dealer *dealer,
                                   size_t model)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->lane_count; k++)
        count += shmt_lane_model(dealer, &dealer->lanes[k]) == model &&
                 shmt_dealer_is_searching(&dealer->lanes[k]);
    return count;
}

size_t shmt_dealer_count_searching_beside(const struct shmt_dealer *dealer,
                                          const struct shmt_lane *lane)
{
    const struct shmt_lane *const lanes = shmt_lane_first(dealer, lane);
    size_t count = 0;

    for (size_t k = 0; k < dealer->width; k++)
        count += &lanes[k] != lane && shmt_dealer_is_searching(&lanes[k]);
    return count;
}

size_t shmt_dealer_count_to_end(const struct shmt_dealer *dealer,
                                const struct shmt_lane *lane)
{
    size_t count = 1;

    for (size_t k = 0; k < dealer->lane_count; k++) {
        const struct shmt_lane *const other = &dealer->lanes[k];

        if (!shmt_lane_is_beside(dealer, lane, other))
            continue;
        count += shmt_dealer_is_searching(other)
                     ? other->task.kernel->weight >= lane->task.kernel->weight
                     : other->state == SHMT_LANE_RUNNING;
    }
    return count;
}

/* Whether a device of the model is not used any more. */
static bool has_lost(const struct shmt_dealer *dealer, size_t model)
{
    size_t count = 0;

    for (size_t k = 0; k < dealer->all->device_count; k++)
        count += dealer->all->models[k] == model;
    return shmt_dealer_count_devices(dealer, model, NULL) < count;
}

size_t shmt_dealer_count_together(const struct shmt_dealer *dealer,
                                  size_t model)
{
    const size_t devices = shmt_dealer_count_devices(dealer, model, NULL);
    const size_t count = shmt_dealer_count_waiting(dealer, model) +
                         shmt_dealer_count_searching(dealer, model);
    size_t most = dealer->all->together, each = count;

    if (dealer->width == 1)
        return 1;
    /* The others have more each. */
    if (has_lost(dealer, model))
        most = dealer->width < SHMT_CAMPAIGN_TOGETHER ? dealer->width
                                                      : SHMT_CAMPAIGN_TOGETHER;
    if (devices > 0)
        each = (count + devices - 1) / devices;
    return each < most ? each : most;
}

bool shmt_dealer_is_crowded(const struct shmt_dealer *dealer,
                            const struct shmt_lane *lane)
{
    const size_t model = shmt_lane_model(dealer, lane);
    bool others = false;

    for (size_t k = 0; k < dealer->lane_count; k++)
        others = others || (shmt_lane_model(dealer, &dealer->lanes[k]) ==
                                model &&
                            shmt_dealer_is_searching(&dealer->lanes[k]) &&
                            dealer->lanes[k].task.kernel != lane->task.kernel);
    return others && shmt_dealer_count_searching(dealer, model) >
                         shmt_dealer_count_devices(dealer, model, NULL) *
                             SHMT_CAMPAIGN_TOGETHER;
}

/* Of the device's memory, what CUDA itself takes for a run among it. */
static double bytes_of(struct shmt_lane *lane)
{
    const struct shmt_campaign_kernel *const kernel = lane->task.kernel;

    if (lane->bytes == 0 && lane->task.number < kernel->count)
        lane->bytes = shmt_sizes_bytes(kernel->kernel,
                                       kernel->problems[lane->task.number]);
    return lane->bytes;
}

static double memory_of(const struct shmt_lane *lane)
{
    return memory_share * (double)lane->task.target->device.memory_bytes;
}

bool shmt_dealer_has_room(const struct shmt_dealer *dealer,
                          struct shmt_lane *lane)
{
    const double most = memory_of(lane);
    double sum = bytes_of(lane);

    if (dealer->width == 1 || !(most > 0) || sum == 0 ||
        !shmt_lane_is_used(dealer, lane, false))
        return true;
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (shmt_lane_is_beside(dealer, lane, &dealer->lanes[k]) &&
            dealer->lanes[k].state == SHMT_LANE_RUNNING)
            sum += bytes_of(&dealer->lanes[k]);
    return sum <= most;
}

size_t shmt_dealer_count_fitting(const struct shmt_dealer *dealer,
                                 struct shmt_lane *lane)
{
    const double most = memory_of(lane), left = most - bytes_of(lane);
    double sum = 0;
    size_t count = 0;

    for (size_t k = 0; k < dealer->lane_count; k++)
        if (shmt_lane_is_beside(dealer, lane, &dealer->lanes[k]) &&
            shmt_dealer_is_searching(&dealer->lanes[k])) {
            sum += bytes_of(&dealer->lanes[k]);
            count++;
        }
    if (!(most > 0) || sum <= left)
        return SIZE_MAX;
    return left > 0 ? 1 + (size_t)(left * (double)count / sum) : 1;
}

static bool is_coming(const struct shmt_lane *lane)
{
    return lane->state == SHMT_LANE_OPENING && shmt_lane_is_coming(lane);
}

/* A driver makes the first context of a GPU in a second, or in a few where a
 * machine has many.  What takes longer may never come.  A GPU that may be as
 * slow is no help so soon. */
static const double start_s = 3, slow_start_s = 10;

static bool is_late(const struct shmt_lane *lane, double seconds)
{
    return is_coming(lane) && shmt_clock_s() - lane->task.since_s > seconds;
}

/* How long the device of the lane leaves a problem to one that starts. */
static double patience_of(const struct shmt_dealer *dealer,
                          const struct shmt_lane *lane)
{
    const struct shmt_lane *const lanes = shmt_lane_first(dealer, lane);
    bool was_ready = false, was_late = false;

    /* One that waits in a queue is late from the first, and one that has left
     * it has to wait anew. */
    if (dealer->all->queued)
        return lane->task.target == NULL || shmt_lane_is_coming(lane)
                   ? (double)INFINITY : 0;
    for (size_t k = 0; k < dealer->width; k++) {
        was_ready = was_ready || lanes[k].was_ready;
        was_late = was_late || lanes[k].was_late ||
                   is_late(&lanes[k], start_s);
    }
    if (dealer->width > 1 &&
        shmt_dealer_count_searching_beside(dealer, lane) >=
            dealer->all->together)
        return INFINITY;
    return was_ready ? start_s : was_late ? (double)INFINITY : slow_start_s;
}

void shmt_dealer_look(struct shmt_dealer *dealer)
{
    const double now_s = shmt_clock_s();

    dealer->longest_s = 0;
    for (size_t k = 0; k < dealer->lane_count; k++)
        if (is_coming(&dealer->lanes[k]))
            dealer->longest_s = fmax(dealer->longest_s,
                                     now_s - dealer->lanes[k].task.since_s);
}

/* Every free lane asks, whenever something happens. */
struct shmt_lane *shmt_dealer_find_late(const struct shmt_dealer *dealer,
                                        const struct shmt_lane *lane)
{
    const size_t model = shmt_lane_model(dealer, lane);
    double seconds;

    if (dealer->longest_s <= (dealer->all->queued ? 0 : start_s))
        return NULL;
    seconds = patience_of(dealer, lane);
    for (size_t k = 0; isfinite(seconds) && k < dealer->lane_count; k++) {
        struct shmt_lane *const other = &dealer->lanes[k];

        if (shmt_lane_number(dealer, other) != shmt_lane_number(dealer, lane) &&
            shmt_lane_model(dealer, other) == model &&
            is_late(other, seconds))
            return other;
    }
    return NULL;
}

/* Kernels whose measure workers start on the device of the lanes.  Those that
 * are late keep no other waiting. */
static size_t count_starting(const struct shmt_lane *lanes, size_t width)
{
    size_t count = 0;

    for (size_t k = 0; k < width; k++) {
        size_t first = 0;

        if (!is_coming(&lanes[k]) || is_late(&lanes[k], start_s))
            continue;
        while (lanes[first].open != lanes[k].open ||
               !is_coming(&lanes[first]) ||
               is_late(&lanes[first], start_s))
            first++;
        count += first == k;
    }
    return count;
}

bool shmt_dealer_may_start(const struct shmt_dealer *dealer,
                           const struct shmt_lane *lane,
                           const struct shmt_campaign_kernel *kernel)
{
    const struct shmt_lane *const lanes = shmt_lane_first(dealer, lane);
    size_t starting = 0;

    for (size_t k = 0; k < dealer->width; k++)
        if (lanes[k].open == kernel && lanes[k].task.target != NULL)
            return true;
    for (size_t k = 0; k < dealer->lane_count; k += dealer->width)
        starting += count_starting(&dealer->lanes[k], dealer->width);
    return starting < STARTING;
}
