/* SPDX-License-Identifier: MIT */
/* A run ends when its budget says, finals included. */
#include <math.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"

static struct shmt_kernel *toy;
static char notices[2048];

static void notice(void *context, const char *text)
{
    (void)context;
    snprintf(notices + strlen(notices), sizeof notices - strlen(notices),
             "%s\n", text);
}

static const struct shmt_tune_observer listener = {NULL, NULL, notice, false};

static struct shmt_tune_outcome *run_for(double budget_s, const char *journal)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *const target =
        fixture_replay(toy, fixture_recording(toy), 2);
    struct shmt_tune_outcome *outcome;

    notices[0] = '\0';
    options.observer = &listener;
    options.strategy = "random";
    options.budget_s = budget_s;
    options.journal = journal;
    options.resume = journal != NULL;
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    target->operations->close(target);
    CHECK(outcome != NULL);
    return outcome;
}

/* How many samples the passes of the finals gave the winner. */
static int passes_of(const struct shmt_tune_outcome *outcome)
{
    int passes = 0;

    while (passes < SHMT_TUNE_PASSES &&
           outcome->finals[0].figures.pass_us[passes] > 0)
        passes++;
    return passes;
}

/* On a recorded device seconds are exact. */
static void finals_are_inside(void)
{
    static const double budgets[] = {0.2, 0.3, 0.5, 1, 2};
    uint64_t tried = 1;

    for (size_t k = 0; k < sizeof budgets / sizeof *budgets; k++) {
        struct shmt_tune_outcome *const outcome = run_for(budgets[k], NULL);
        if (outcome == NULL)
            return;
        printf("# %g s: %llu tried, %zu finalists, %d passes, search %g s, "
               "all %g s\n", budgets[k], (unsigned long long)outcome->tried,
               outcome->final_count, passes_of(outcome), outcome->search_s,
               outcome->elapsed_s);
        CHECK(outcome->elapsed_s <= 1.05 * budgets[k]);
        CHECK(outcome->elapsed_s >= 0.6 * budgets[k] ||
              outcome->tried == outcome->header.space_count);
        CHECK(outcome->tried > tried ||
              outcome->tried == outcome->header.space_count);
        CHECK(outcome->final_count >= 2 && passes_of(outcome) >= 2);
        CHECK_TEXT(notices, "");
        tried = outcome->tried;
        shmt_tune_free(outcome);
    }
}

/* Every second candidate kills its worker, so that the others set the problem
 * up anew, which is most of what they take. */
static const char *failing_recording(void)
{
    const char *const path = fixture_path("failing.journal.gz");
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *const target =
        fixture_replay(toy, fixture_recording(toy), 2);
    struct shmt_tune_outcome *outcome;
    struct shmt_error err = {0};
    uint64_t start;

    options.strategy = "exhaustive";
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    target->operations->close(target);
    if (outcome == NULL)
        return NULL;
    start = shmt_kernel_default_index(toy, outcome->space);
    for (uint64_t k = 0; k < outcome->header.space_count; k++) {
        struct shmt_result *const result =
            &shmt_ledger_put(outcome->ledger, k)->result;

        /* Behind the default, which comes first, and where it would be. */
        result->measure_ms = k == 0 || k == start + 1 ? 30 : 300;
        if (k % 2 == 0 || k == start)
            continue;
        shmt_result_set_verdict(result, SHMT_VERDICT_CRASH, "it fails");
        result->measure_ms = 280;
        result->sample_count = 0;
        result->time_us = -1;
    }
    CHECK_INT(shmt_recording_write(path, toy, &outcome->header,
                                   outcome->ledger, outcome->space, &err),
              SHMTUNE_OK);
    shmt_tune_free(outcome);
    return path;
}

static struct shmt_tune_outcome *run_failing(const char *path,
                                             double budget_s)
{
    struct shmt_target *const target = fixture_replay(toy, path, 2);
    struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *outcome;

    notices[0] = '\0';
    options.observer = &listener;
    options.strategy = "exhaustive";
    options.budget_s = budget_s;
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    target->operations->close(target);
    CHECK(outcome != NULL);
    return outcome;
}

/* What setting the problem up took is not what a measurement of the finals
 * will take: the time goes to the search. */
static void failures_take_no_time_of_the_finals(void)
{
    const char *const path = failing_recording();
    struct shmt_tune_outcome *outcome =
        path == NULL ? NULL : run_failing(path, INFINITY);
    double all_s;

    if (outcome == NULL)
        return;
    all_s = outcome->search_s;
    shmt_tune_free(outcome);
    outcome = run_failing(path, all_s + 6);
    if (outcome == NULL)
        return;
    printf("# %llu tried, search %g s, all %g s\n",
           (unsigned long long)outcome->tried, outcome->search_s,
           outcome->elapsed_s);
    CHECK_INT(outcome->tried, outcome->header.space_count);
    CHECK_TEXT(notices, "");
    shmt_tune_free(outcome);
    outcome = run_failing(path, all_s / 2);
    CHECK_HAS(notices, "candidates were not tried: behind each of ");
    CHECK_HAS(notices, "a longer --budget tries them, and a constraint");
    if (outcome != NULL)
        shmt_tune_free(outcome);
}

/* There is always a winner, and a word about it. */
static void too_short_for_a_search(void)
{
    struct shmt_tune_outcome *const outcome = run_for(1e-4, NULL);

    if (outcome == NULL)
        return;
    CHECK_INT(outcome->tried, 1);
    CHECK_INT(outcome->final_count, 1);
    CHECK(outcome->finals[0].figures.is_default);
    CHECK_HAS(notices, "the budget is too short for more than the default");
    CHECK_HAS(notices, "a longer --budget searches");
    shmt_tune_free(outcome);
}

/* The default is compared with the winner, however short. */
static void default_is_in_the_finals(void)
{
    struct shmt_tune_outcome *const outcome = run_for(0.15, NULL);
    size_t defaults = 0;

    if (outcome == NULL)
        return;
    for (size_t k = 0; k < outcome->final_count; k++)
        defaults += outcome->finals[k].figures.is_default;
    CHECK_INT(defaults, 1);
    CHECK(outcome->tried >= 2);
    CHECK(outcome->finals[0].result.time_us <= outcome->default_us * 1.0001);
    shmt_tune_free(outcome);
}

/* What a candidate in flight would have been is not known: its verdict is not
 * written, and the next run tries it. */
static void cancelled_are_tried_later(void)
{
    const char *const path = fixture_path("cancelled.journal");
    struct shmt_tune_outcome *const first = run_for(0.2, path);
    struct shmt_tune_outcome *second;

    if (first == NULL)
        return;
    second = run_for(INFINITY, path);
    if (second != NULL) {
        CHECK_INT(second->tried, second->header.space_count);
        CHECK_INT(second->resumed, first->tried);
        CHECK_INT(second->verdicts[SHMT_VERDICT_CRASH], 0);
    }
    shmt_tune_free(first);
    shmt_tune_free(second);
}

/* A target forgets what it was asked for. */
static void cancelled_requests(struct shmt_target *target)
{
    const int64_t problem[SHMT_KERNEL_DIMENSIONS] = {4096, 1};
    shmt_config config[SHMT_SPACE_PARAMETERS] = {0};
    struct shmt_target_request request = {.verb = SHMT_TARGET_INSPECT,
                                          .config = config};
    struct shmt_target_reply reply;
    struct shmt_error err = {0};
    bool got = false;

    CHECK_INT(target->operations->begin(target, problem, &err), SHMTUNE_OK);
    for (request.tag = 1; request.tag <= 8; request.tag++)
        CHECK_INT(target->operations->submit(target, &request, &err),
                  SHMTUNE_OK);
    target->operations->cancel(target);
    CHECK_INT(target->operations->wait(target, 1, &got, &reply, &err),
              SHMTUNE_INTERNAL);
    request.tag = 77;
    CHECK_INT(target->operations->submit(target, &request, &err), SHMTUNE_OK);
    for (int k = 0; !got && k < 100; k++)
        CHECK_INT(target->operations->wait(target, 1, &got, &reply, &err),
                  SHMTUNE_OK);
    CHECK(got && reply.tag == 77);
    CHECK_INT(reply.result.verdict, SHMT_VERDICT_OK);
    target->operations->close(target);
}

static void cancelled_on_a_recorded_device(void)
{
    cancelled_requests(fixture_replay(toy, fixture_recording(toy), 2));
}

static void cancelled_on_a_live_device(void)
{
    cancelled_requests(fixture_live(toy, 2));
}

/* Time passes, and nothing comes. */
static void waiting_ends(void)
{
    struct shmt_target *const target =
        fixture_replay(toy, fixture_recording(toy), 1);
    const int64_t problem[SHMT_KERNEL_DIMENSIONS] = {4096, 1};
    shmt_config config[SHMT_SPACE_PARAMETERS] = {0};
    const struct shmt_target_request request = {.verb = SHMT_TARGET_INSPECT,
                                                .config = config};
    struct shmt_target_reply reply;
    struct shmt_error err = {0};
    bool got = true;

    CHECK_INT(target->operations->begin(target, problem, &err), SHMTUNE_OK);
    CHECK_INT(target->operations->submit(target, &request, &err), SHMTUNE_OK);
    CHECK_INT(target->operations->wait(target, 1e-6, &got, &reply, &err),
              SHMTUNE_OK);
    CHECK(!got);
    CHECK(fabs(target->operations->now(target) - 1e-6) < 1e-12);
    CHECK_INT(target->operations->wait(target, INFINITY, &got, &reply, &err),
              SHMTUNE_OK);
    CHECK(got && target->operations->now(target) > 1e-6);
    target->operations->close(target);
}

int main(void)
{
    toy = fixture_kernel("toy");
    CHECK_RUN(finals_are_inside);
    CHECK_RUN(failures_take_no_time_of_the_finals);
    CHECK_RUN(too_short_for_a_search);
    CHECK_RUN(default_is_in_the_finals);
    CHECK_RUN(cancelled_are_tried_later);
    CHECK_RUN(cancelled_on_a_recorded_device);
    CHECK_RUN(cancelled_on_a_live_device);
    CHECK_RUN(waiting_ends);
    shmt_kernel_free(toy);
    return CHECK_END();
}
