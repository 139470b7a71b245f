/* SPDX-License-Identifier: MIT */
/* Which device gets which problem, and what becomes of all. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"
#include "tune/dealer.h"
#include "tune/state.h"

enum { DEVICES = 3, PROBLEMS = 4 };

/* What the calls were told. */
struct told {
    struct shmt_live_pool *pool;
    size_t begun, ended, refused, left_over, lost;
    size_t open, most_open, together;    /* runs at a time */
    size_t device[16], problem[16];      /* in the order of their beginning */
    size_t left[16], devices[16];        /* that it was to count on */
    const struct shmt_tune_options *options[16];   /* by kernel and problem, */
    double budget_s[16];                 /* and what they were at its end */
    size_t last[16];
    bool queued;
    const struct shmt_kernel *kernel[16];
    uint64_t winner[16];                 /* by kernel and problem */
    double winner_us[16];
    enum shmtune_status status;          /* the last failure */
    bool resume;
    char journal[16][64];
};

static struct shmt_kernel *kernels[2];
static int64_t problems[PROBLEMS][SHMT_KERNEL_DIMENSIONS];
static struct shmt_error err;

static enum shmtune_status open_target(void *context,
                                       const struct shmt_campaign_kernel *of,
                                       size_t device, struct shmt_target **out,
                                       struct shmt_error *why)
{
    const struct told *const told = context;
    static char worker[1024];
    const char *const words[DEVICES] = {"0", "1", "2"};
    const struct shmt_live_options options = {
        .pool = told->pool, .worker = worker, .device = words[device],
        .data_seed = 1, .start_s = 30};

    snprintf(worker, sizeof worker, "%s/tests/fake/worker",
             getenv("SHMT_BUILDDIR") == NULL ? "."
                                             : getenv("SHMT_BUILDDIR"));
    return shmt_live_start(of->kernel, &options, out, why);
}

static enum shmtune_status opened(void *context,
                                  struct shmt_campaign_kernel *kernel,
                                  struct shmt_target *target,
                                  struct shmt_error *why)
{
    (void)context;
    (void)kernel;
    (void)why;
    CHECK(target->operations->is_ready(target));
    return SHMTUNE_OK;
}

static size_t slot_of(const struct shmt_campaign_task *task)
{
    return (task->kernel->kernel == kernels[1]) * PROBLEMS + task->number;
}

static enum shmtune_status begin(void *context,
                                 const struct shmt_campaign_task *task,
                                 struct shmt_tune_options *options,
                                 struct shmt_error *why)
{
    struct told *const told = context;
    char *const journal = told->journal[slot_of(task)];

    (void)why;
    told->device[told->begun] = task->device;
    told->problem[told->begun] = task->number;
    CHECK(task->left >= 1 && task->devices >= 1);
    CHECK(task->together >= 1 && task->together <= SHMT_CAMPAIGN_MOST);
    told->together = task->together;
    told->open++;
    told->most_open = told->open > told->most_open ? told->open
                                                   : told->most_open;
    told->left[told->begun] = task->left;
    told->devices[told->begun] = task->devices;
    told->kernel[told->begun++] = task->kernel->kernel;
    *options = fixture_options();
    options->budget_count = 20;
    options->budget_s = 1000;
    options->most_s = 2000;
    options->spare_s = 1000;
    told->options[slot_of(task)] = options;
    if (told->resume) {
        snprintf(journal, sizeof told->journal[0], "%zu.journal",
                 slot_of(task));
        options->journal = fixture_path(journal);
    }
    return SHMTUNE_OK;
}

static bool end(void *context, const struct shmt_campaign_task *task,
                const struct shmt_tune_outcome *outcome,
                const struct shmt_error *why)
{
    struct told *const told = context;

    told->ended++;
    told->open--;
    told->budget_s[slot_of(task)] = told->options[slot_of(task)]->budget_s;
    told->last[slot_of(task)] = told->options[slot_of(task)]->together;
    if (why != NULL)
        told->status = why->status;
    else {
        told->winner[slot_of(task)] = outcome->finals[0].figures.index;
        told->winner_us[slot_of(task)] = outcome->finals[0].result.time_us;
    }
    return true;
}

/* Which of those that cannot be told apart are in the finals depends on which
 * was compiled first. */
static void check_winners(const struct told *one, const struct told *other,
                          size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double us = one->winner_us[k];

        CHECK(one->winner[k] == other->winner[k] ||
              (us > 0 && fabs(other->winner_us[k] - us) < 0.01 * us));
    }
}

static bool refused(void *context, const struct shmt_campaign_kernel *kernel,
                    const size_t *numbers, size_t count,
                    const struct shmt_error *why)
{
    struct told *const told = context;

    for (size_t k = 0; k < count; k++)
        CHECK(numbers[k] < kernel->count &&
              (k == 0 || numbers[k] > numbers[k - 1]));
    told->refused += count;
    told->status = why->status;
    return true;
}

static void left(void *context, const struct shmt_campaign_kernel *kernel,
                 const size_t *numbers, size_t count,
                 const struct shmt_error *why)
{
    struct told *const told = context;

    (void)kernel;
    (void)numbers;
    CHECK(why != NULL);
    told->left_over += count;
}

static void lost(void *context, size_t device, const struct shmt_error *why)
{
    struct told *const told = context;

    (void)device;
    CHECK_INT(why->status, SHMTUNE_NO_DEVICE);
    told->lost++;
}

static const struct shmt_campaign_calls calls = {
    open_target, opened, begin, end, refused, left, lost, NULL
};

/* Two kernels, so many problems of each, on so many devices, and so many at a
 * time on each. */
static void run_together(struct told *told, size_t count, size_t devices,
                         size_t together, const volatile sig_atomic_t *stop)
{
    static const size_t models[DEVICES] = {0};
    struct shmt_campaign_kernel list[2] = {
        {.kernel = kernels[0], .count = count, .problems = problems,
         .weight = 1},
        {.kernel = kernels[1], .count = count, .problems = problems,
         .weight = 2}};
    const struct shmt_campaign campaign = {
        .calls = &calls, .context = told, .kernels = list, .kernel_count = 2,
        .models = models, .device_count = devices, .together = together,
        .queued = told->queued,
        .began_s = shmt_clock_s(), .stop = stop};

    CHECK_INT(shmt_live_pool_open(2, NULL, &told->pool, &err), SHMTUNE_OK);
    CHECK_INT(shmt_campaign_run(&campaign, &err), SHMTUNE_OK);
    shmt_live_pool_close(told->pool);
}

static void run(struct told *told, size_t count, size_t devices,
                const volatile sig_atomic_t *stop)
{
    run_together(told, count, devices, 1, stop);
}

/* One device takes all in their order; two have a kernel each; and the winners
 * are the same. */
static void dealt_in_order(void)
{
    struct told one = {0}, two = {0}, three = {0};

    run(&one, 3, 1, NULL);
    CHECK_INT(one.ended, 6);
    for (size_t k = 0; k < one.begun; k++) {
        CHECK(one.kernel[k] == kernels[k / 3]);
        CHECK_INT(one.problem[k], k % 3);
    }
    run(&two, 3, 2, NULL);
    CHECK_INT(two.ended, 6);
    CHECK(two.kernel[0] != two.kernel[1]);
    check_winners(&one, &two, 16);
    run(&three, 3, 3, NULL);
    CHECK_INT(three.ended, 6);
    check_winners(&one, &three, 16);
}

/* The problem of a device that fails is begun again on another, and goes on
 * from its journal. */
static void a_device_drops_out(void)
{
    struct told one = {0}, told = {.resume = true};

    run(&one, 2, 1, NULL);
    setenv("FAKE_WORKER_BROKEN", "1", 1);
    run(&told, 2, 2, NULL);
    unsetenv("FAKE_WORKER_BROKEN");
    CHECK_INT(told.lost, 1);
    CHECK_INT(told.begun, 5);
    CHECK_INT(told.ended, 4);
    CHECK_INT(told.refused, 0);
    check_winners(&one, &told, 16);
}

/* Several of a kernel at a time on a device, with the same winners: each is
 * begun and ended once. */
static void several_together(void)
{
    struct told one = {0}, two = {0}, many = {0};

    run(&one, 3, 1, NULL);
    CHECK_INT(one.most_open, 1);
    CHECK_INT(one.together, 1);
    run_together(&two, 3, 1, 2, NULL);
    CHECK_INT(two.begun, 6);
    CHECK_INT(two.ended, 6);
    CHECK(two.most_open >= 2 && two.most_open <= 4);
    check_winners(&one, &two, 16);
    run_together(&many, 4, 3, 8, NULL);
    CHECK_INT(many.ended, 8);
    CHECK_INT(many.refused + many.lost, 0);
    check_winners(&one, &many, 3);
}

/* While others wait, a run has its share; when nobody does, all there is, and
 * counts on the finals of those that end with it or later, of its kernel and of
 * heavier ones, and on those that are held now. */
static void the_last_have_the_rest(void)
{
    struct told few = {0}, all = {0};
    size_t shares = 0, least = 16, most = 0;

    run_together(&few, 3, 1, 2, NULL);
    for (size_t k = 0; k < 16; k++)
        shares += few.budget_s[k] > 999 && few.budget_s[k] < 1001;
    CHECK(shares >= 1 && shares < few.ended);
    run_together(&all, 3, 1, 6, NULL);
    CHECK_INT(all.ended, 6);
    for (size_t k = 0; k < 3; k++) {
        const size_t heavy = PROBLEMS + k;

        CHECK(all.budget_s[k] > 1999 && all.budget_s[k] < 2001);
        CHECK(all.budget_s[heavy] > 1999 && all.budget_s[heavy] < 2001);
        CHECK(all.last[heavy] >= 1 && all.last[heavy] <= 6);
        least = all.last[k] < least ? all.last[k] : least;
        most = all.last[k] > most ? all.last[k] : most;
    }
    CHECK(least >= 1 && most > 3);
}

/* Of a heavy search the light ones end before it; their finals do not. */
static void finals_are_counted_on(void)
{
    static const size_t models[] = {0};
    struct shmt_tune searches = {.phase = SHMT_TUNE_SEARCH};
    struct shmt_tune ends = {.phase = SHMT_TUNE_FINALS};
    struct shmt_campaign_kernel light = {.weight = 1}, heavy = {.weight = 2};
    struct shmt_lane lanes[] = {
        {.state = SHMT_LANE_RUNNING, .run = &searches, .task.kernel = &heavy},
        {.state = SHMT_LANE_RUNNING, .run = &searches, .task.kernel = &light},
        {.state = SHMT_LANE_RUNNING, .run = &ends, .task.kernel = &light},
        {.state = SHMT_LANE_FREE, .task.kernel = &light}};
    const struct shmt_campaign all = {.models = models, .device_count = 1};
    const struct shmt_dealer dealer = {
        .all = &all, .lanes = lanes, .lane_count = 4, .width = 4};

    CHECK_INT(shmt_dealer_count_to_end(&dealer, &lanes[0]), 2);
    CHECK_INT(shmt_dealer_count_to_end(&dealer, &lanes[1]), 3);
}

/* A device that fails is left by all of its runs; they go on from their
 * journals. */
static void a_device_drops_out_with_several(void)
{
    struct told one = {0}, told = {.resume = true};

    run(&one, 3, 1, NULL);
    setenv("FAKE_WORKER_BROKEN", "1", 1);
    run_together(&told, 3, 2, 3, NULL);
    unsetenv("FAKE_WORKER_BROKEN");
    CHECK_INT(told.lost, 1);
    CHECK(told.begun > 6);
    CHECK_INT(told.ended, 6);
    CHECK_INT(told.refused, 0);
    check_winners(&one, &told, 16);
}

/* The only one does not: its problems end with its failure. */
static void the_last_stays(void)
{
    struct told told = {0};

    setenv("FAKE_WORKER_BROKEN", "0", 1);
    run(&told, 2, 1, NULL);
    unsetenv("FAKE_WORKER_BROKEN");
    CHECK_INT(told.lost, 0);
    CHECK_INT(told.status, SHMTUNE_NO_DEVICE);
    CHECK(told.ended + told.refused >= 2);
    CHECK_INT(told.ended + told.refused + told.left_over, 4);
}

/* One that waits in a queue, and is never there, is neither waited for nor
 * counted on: the other takes its problem over too. */
static void one_never_comes(void)
{
    struct told told = {.queued = true};
    const double begin_s = shmt_clock_s();

    setenv("FAKE_WORKER_MUTE", "1", 1);
    run(&told, 2, 2, NULL);
    unsetenv("FAKE_WORKER_MUTE");
    CHECK(shmt_clock_s() - begin_s < 25);
    CHECK_INT(told.ended, 4);
    CHECK_INT(told.lost, 0);
    for (size_t k = 0; k < told.begun; k++) {
        CHECK_INT(told.device[k], 0);
        CHECK_INT(told.left[k], 4 - k);
        CHECK_INT(told.devices[k], 1);
    }
    CHECK_INT(told.begun, 4);
}

/* So many problems of each kernel, of which the last device has all. */
static void expect_all_on_last(size_t count, size_t devices, size_t together)
{
    struct told told = {.queued = false};
    const double begin_s = shmt_clock_s();

    run_together(&told, count, devices, together, NULL);
    CHECK(shmt_clock_s() - begin_s < 25);
    CHECK_INT(told.begun, 2 * count);
    CHECK_INT(told.ended, 2 * count);
    CHECK_INT(told.lost + told.refused, 0);
    for (size_t k = 0; k < told.begun; k++)
        CHECK_INT(told.device[k], devices - 1);
}

/* What a device holds that does not start another takes over; and two such ones
 * do not keep it from starting. */
static void some_never_start(void)
{
    setenv("FAKE_WORKER_MUTE", "0", 1);
    expect_all_on_last(2, 2, 1);
    setenv("FAKE_WORKER_MUTE", "0,1", 1);
    expect_all_on_last(4, 3, 2);
    unsetenv("FAKE_WORKER_MUTE");
}

static bool is_never_ready(const struct shmt_target *target)
{
    (void)target;
    return false;
}

/* One that has begun nothing may be as slow: it takes over later, and never
 * what it was too slow for itself. */
static void who_takes_over(void)
{
    static const size_t models[] = {0, 0, 1};
    static const struct shmt_target_operations operations = {
        .is_ready = is_never_ready};
    struct shmt_target target = {.operations = &operations};
    struct shmt_campaign_kernel kernel = {.weight = 1};
    struct shmt_lane lanes[] = {
        {.state = SHMT_LANE_FREE},
        {.state = SHMT_LANE_OPENING, .open = &kernel,
         .task = {.kernel = &kernel, .target = &target}},
        {.state = SHMT_LANE_FREE, .was_ready = true}};
    const struct shmt_campaign all = {.models = models, .device_count = 3};
    struct shmt_dealer dealer = {
        .all = &all, .lanes = lanes, .lane_count = 3, .width = 1};

    lanes[1].task.since_s = shmt_clock_s() - 1000;
    shmt_dealer_look(&dealer);
    CHECK(shmt_dealer_find_late(&dealer, &lanes[0]) == &lanes[1]);
    CHECK(shmt_dealer_find_late(&dealer, &lanes[1]) == NULL);
    CHECK(shmt_dealer_find_late(&dealer, &lanes[2]) == NULL);
    lanes[0].was_late = true;
    CHECK(shmt_dealer_find_late(&dealer, &lanes[0]) == NULL);
    lanes[0].was_ready = true;
    CHECK(shmt_dealer_find_late(&dealer, &lanes[0]) == &lanes[1]);
    /* It has only just begun to start. */
    lanes[1].task.since_s = shmt_clock_s() + 1000;
    CHECK(shmt_dealer_find_late(&dealer, &lanes[0]) == NULL);
    shmt_dealer_look(&dealer);
    CHECK(shmt_dealer_find_late(&dealer, &lanes[0]) == NULL);
}

static void stopped_before_it_begins(void)
{
    const volatile sig_atomic_t stop = 1;
    struct told told = {0};

    run(&told, 2, 2, &stop);
    CHECK_INT(told.begun, 0);
    CHECK_INT(told.ended, 0);
    CHECK_INT(told.left_over, 4);
}

int main(void)
{
    kernels[0] = fixture_kernel("toy");
    kernels[1] = fixture_kernel("toy");
    for (size_t k = 0; k < PROBLEMS; k++) {
        memcpy(problems[k], kernels[0]->sizes[0], sizeof problems[k]);
        problems[k][0] = 4096 * (int64_t)(k + 1);
    }
    setenv("FAKE_WORKER_DEVICES", "H100,H100,H100", 1);
    setenv("SHMTUNE_LOCKS", fixture_path("locks"), 1);
    CHECK_RUN(dealt_in_order);
    CHECK_RUN(a_device_drops_out);
    CHECK_RUN(several_together);
    CHECK_RUN(the_last_have_the_rest);
    CHECK_RUN(finals_are_counted_on);
    CHECK_RUN(a_device_drops_out_with_several);
    CHECK_RUN(the_last_stays);
    CHECK_RUN(one_never_comes);
    CHECK_RUN(some_never_start);
    CHECK_RUN(who_takes_over);
    CHECK_RUN(stopped_before_it_begins);
    shmt_kernel_free(kernels[0]);
    shmt_kernel_free(kernels[1]);
    return CHECK_END();
}
