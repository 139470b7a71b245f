/* SPDX-License-Identifier: MIT */
/* Whole runs that are killed, interrupted or cut off, and what the next run
 * makes of their journals. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"

static struct shmt_kernel *toy;

static void check_same(char *text, const char *expected)
{
    CHECK_TEXT(text, expected);
    free(text);
}

/* -- killed --------------------------------------------------------------- */

struct killer {
    int left;
};

static void count_down(void *context, const struct shmt_tune_progress *now)
{
    struct killer *const killer = context;
    (void)now;
    if (killer->left-- == 0)
        raise(SIGKILL);
}

/* A child that is killed at the `at`th report; false when it came to its end
 * before that. */
static bool killed_at(const struct shmt_tune_options *options, int at)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        struct killer killer = {at};
        const struct shmt_tune_observer observer = {
            &killer, count_down, NULL, false
        };
        struct shmt_tune_options deadly = *options;
        deadly.observer = &observer;
        free(fixture_replayed(toy, &deadly, 3));
        _exit(0);
    }
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status);
}

/* Every result once: what was finished is not tried again. */
static size_t check_once(const char *path)
{
    struct shmt_journal *journal = NULL;
    size_t twice = 0, count;

    CHECK_INT(shmt_journal_read(path, toy, &journal, NULL), SHMTUNE_OK);
    for (size_t a = 0; a < journal->count; a++)
        for (size_t b = 0; b < a; b++)
            twice += memcmp(journal->records[a].config,
                            journal->records[b].config,
                            toy->parameter_count * sizeof(shmt_config)) == 0;
    CHECK_INT(twice, 0);
    count = journal->count;
    shmt_journal_free(journal);
    return count;
}

/* Killed at many points, then again at others, then left alone. */
static void killed_and_resumed(void)
{
    const struct shmt_strategy *strategy;
    size_t killed = 0;

    for (size_t s = 0; (strategy = shmt_strategy_at(s)) != NULL; s++) {
        struct shmt_tune_options options = fixture_options();
        char *expected;
        options.strategy = strategy->name;
        options.budget_count = 70;
        expected = fixture_replayed(toy, &options, 3);
        options.journal = fixture_path("killed.journal");
        for (int at = 0; at < 200; at += 23) {
            unlink(options.journal);
            killed += killed_at(&options, at);
            killed += killed_at(&options, at / 2 + 20);
            check_same(fixture_replayed(toy, &options, 3), expected);
            CHECK_INT(check_once(options.journal), 70);
        }
        free(expected);
    }
    CHECK(killed > 8);
}

/* Cut at any byte, as when the machine goes down. */
static void cut_and_resumed(void)
{
    struct shmt_tune_options options = fixture_options();
    const char *const whole = fixture_path("cut-whole.journal");
    struct shmt_random random;
    size_t size;
    char *expected, *text, *start;

    options.strategy = "random";
    options.budget_count = 40;
    options.journal = whole;
    expected = fixture_replayed(toy, &options, 2);
    text = fixture_read(whole, &size);
    start = strstr(text, "records:\n") + 9;
    options.journal = fixture_path("cut.journal");
    shmt_random_seed(&random, 11);
    for (int k = 0; k < 40; k++) {
        const size_t header = (size_t)(start - text);
        const size_t cut =
            header + (size_t)shmt_random_below(&random, size - header);
        fixture_write(options.journal, text, cut);
        check_same(fixture_replayed(toy, &options, 2), expected);
        CHECK_INT(check_once(options.journal), 40);
    }
    free(text);
    free(expected);
}

/* -- interrupted ---------------------------------------------------------- */

static volatile sig_atomic_t stop;

static void stop_later(void *context, const struct shmt_tune_progress *now)
{
    struct killer *const killer = context;
    (void)now;
    if (killer->left-- == 0)
        stop = 1;
}

static void interrupted_and_resumed(void)
{
    struct killer killer = {40};
    const struct shmt_tune_observer observer =
        {&killer, stop_later, NULL, false};
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *target;
    struct shmt_tune_outcome *outcome;
    char *expected;

    options.budget_count = 90;
    expected = fixture_replayed(toy, &options, 2);
    target = fixture_replay(toy, fixture_recording(toy), 2);
    options.journal = fixture_path("stopped.journal");
    options.observer = &observer;
    options.stop = &stop;
    stop = 0;
    outcome = fixture_run(target, &options, SHMTUNE_INTERRUPTED);
    CHECK(outcome != NULL && outcome->tried > 5 && outcome->tried < 90);
    CHECK(outcome != NULL && outcome->final_count == 0);
    if (outcome != NULL)
        CHECK_INT(check_once(options.journal), outcome->tried);
    shmt_tune_free(outcome);
    target->operations->close(target);
    stop = 0;
    options.observer = NULL;
    check_same(fixture_replayed(toy, &options, 2), expected);
    free(expected);
}

/* On a live device: what was running when the interrupt came is nobody's
 * fault, however often that happens. */
static void interrupts_blame_nobody(void)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_journal *journal = NULL;
    size_t drops = 0;

    options.journal = fixture_path("blame.journal");
    options.stop = &stop;
    setenv("FAKE_WORKER_BUSY_MS", "5", 1);
    for (int k = 0; k < 4; k++) {
        struct killer killer = {9};
        const struct shmt_tune_observer observer = {&killer, stop_later,
                                                    NULL, false};
        struct shmt_target *const target = fixture_live(toy, 2);
        struct shmt_tune_outcome *outcome;
        options.observer = &observer;
        stop = 0;
        outcome = fixture_run(target, &options, SHMTUNE_INTERRUPTED);
        CHECK(outcome != NULL);
        CHECK(outcome != NULL &&
              outcome->verdicts[SHMT_VERDICT_CRASH] == 0);
        shmt_tune_free(outcome);
        target->operations->close(target);
    }
    unsetenv("FAKE_WORKER_BUSY_MS");
    CHECK_INT(shmt_journal_read(options.journal, toy, &journal, NULL),
              SHMTUNE_OK);
    for (size_t k = 0; k < journal->count; k++)
        drops += journal->records[k].kind == SHMT_JOURNAL_DROP;
    CHECK(drops >= 1);
    shmt_journal_free(journal);
}

/* -- journals ------------------------------------------------------------- */

/* Begun twice, and twice the tuner was gone: a crash, not a third time. */
static void a_candidate_that_takes_the_tuner_along(void)
{
    struct shmt_tune_options options = fixture_options();
    const char *const path = fixture_path("twice.journal");
    struct shmt_target *target;
    struct shmt_tune_outcome *outcome;
    size_t size;
    char *text, *begin, *end, *more;

    options.journal = path;
    options.budget_count = 12;
    target = fixture_live(toy, 1);
    shmt_tune_free(fixture_run(target, &options, SHMTUNE_OK));
    target->operations->close(target);
    /* The last try stays, its result goes; once more the same try. */
    text = fixture_read(path, &size);
    begin = text;
    while ((end = strstr(begin + 1, "- {try: ")) != NULL)
        begin = end;
    end = strchr(begin, '\n') + 1;
    more = malloc(size + 4096);
    snprintf(more, size + 4096, "%.*s%.*s", (int)(end - text), text,
             (int)(end - begin), begin);
    fixture_write(path, more, strlen(more));
    target = fixture_live(toy, 1);
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    CHECK(outcome != NULL && outcome->verdicts[SHMT_VERDICT_CRASH] == 1);
    CHECK_INT(outcome == NULL ? 0 : outcome->tried, 12);
    shmt_tune_free(outcome);
    target->operations->close(target);
    free(text);
    free(more);
}

/* Twice killed while the default was on the device; then a journal that says
 * the machine had a bad day. */
static void a_default_that_failed_is_tried_again(void)
{
    static const char *const endings[] = {
        "- {try: {BLOCK_X: 128, UNROLL: 1, PAD: 0, MEMORY: static, "
        "CARVEOUT: -1}}\n- {try: {BLOCK_X: 128, UNROLL: 1, PAD: 0, MEMORY: "
        "static, CARVEOUT: -1}}\n",
        "- {config: {BLOCK_X: 128, UNROLL: 1, PAD: 0, MEMORY: static, "
        "CARVEOUT: -1}, at: 9, verdict: timeout, reason: killed}\n"};
    const char *const path = fixture_path("default.journal");
    struct shmt_tune_options options = fixture_options();

    options.journal = path;
    options.budget_count = 5;
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        struct shmt_target *const target = fixture_live(toy, 1);
        struct shmt_tune_outcome *outcome;
        char *text, *all;
        size_t size;

        options.resume = k > 0;
        shmt_tune_free(fixture_run(target, &options, SHMTUNE_OK));
        text = fixture_read(path, &size);
        strstr(text, "records:\n")[strlen("records:\n")] = '\0';
        all = malloc(size + 4096);
        snprintf(all, size + 4096, "%s%s", text, endings[k]);
        fixture_write(path, all, strlen(all));
        options.resume = true;
        outcome = fixture_run(target, &options, SHMTUNE_OK);
        CHECK(outcome != NULL && outcome->verdicts[SHMT_VERDICT_OK] == 5);
        CHECK(outcome != NULL && outcome->default_us > 0);
        shmt_tune_free(outcome);
        target->operations->close(target);
        free(text);
        free(all);
    }
}

struct notices {
    char text[1024];
};

static void keep_notice(void *context, const char *text)
{
    struct notices *const notices = context;
    const size_t length = strlen(notices->text);
    snprintf(notices->text + length, sizeof notices->text - length, "%s\n",
             text);
}

/* The journal of three candidates, all of which came at that time. */
static void make_journal_of(const char *path, const char *seconds)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *const target = fixture_live(toy, 1);
    struct shmt_text other = {0};
    size_t size;
    char *text, *at, *from;

    options.journal = path;
    options.resume = false;
    options.budget_count = 3;
    shmt_tune_free(fixture_run(target, &options, SHMTUNE_OK));
    target->operations->close(target);
    from = text = fixture_read(path, &size);
    while ((at = strstr(from, ", at: ")) != NULL) {
        shmt_text_addf(&other, "%.*s, %s", (int)(at - from), from, seconds);
        from = strchr(at + 1, ',');
    }
    shmt_text_add(&other, from);
    fixture_write(path, shmt_text_string(&other),
                  strlen(shmt_text_string(&other)));
    shmt_text_free(&other);
    free(text);
}

/* Up to twelve candidates, with the notices. */
static struct shmt_tune_outcome *go_on(const char *path, size_t together,
                                       double budget_s,
                                       struct notices *notices)
{
    struct shmt_tune_options options = fixture_options();
    const struct shmt_tune_observer observer =
        {notices, NULL, keep_notice, false};
    struct shmt_target *const target = fixture_live(toy, 1);
    struct shmt_tune_outcome *outcome;

    notices->text[0] = '\0';
    options.observer = &observer;
    options.journal = path;
    options.together = together;
    options.budget_s = budget_s;
    options.budget_count = 12;
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    target->operations->close(target);
    CHECK(outcome != NULL);
    return outcome;
}

/* Of a second that four have together, each has a quarter. */
static void what_others_had_is_not_spent(void)
{
    static const struct {
        const char *seconds;
        size_t together;
        double budget_s;
        uint64_t tried;
    } cases[] = {
        {"at: 100, others: 75", 1, 90, 12},
        {"at: 100, others: 75", 1, 20, 3},
        {"at: 100", 1, 90, 3},
        {"at: 100", 1, 900, 12},
        {"at: 100, others: 75", 4, 90, 3},
        {"at: 100, others: 75", 4, 900, 12},
        {"at: 100", 4, 300, 3},
    };
    const char *const path = fixture_path("shared.journal");

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmt_tune_outcome *outcome;
        struct notices notices;

        make_journal_of(path, cases[k].seconds);
        outcome = go_on(path, cases[k].together, cases[k].budget_s, &notices);
        if (outcome == NULL)
            return;
        CHECK_INT(outcome->tried, cases[k].tried);
        CHECK_INT(outcome->spent, cases[k].tried == 3);
        CHECK(strstr(notices.text, "too short") == NULL);
        CHECK(outcome->elapsed_s >= 100);
        shmt_tune_free(outcome);
    }
}

/* What was spent is on record, whoever goes on. */
static void what_others_have_is_written(void)
{
    const char *const path = fixture_path("others.journal");
    struct shmt_journal *journal = NULL;
    struct notices notices;

    make_journal_of(path, "at: 100, others: 75");
    shmt_tune_free(go_on(path, 2, INFINITY, &notices));
    CHECK_INT(shmt_journal_read(path, toy, &journal, NULL), SHMTUNE_OK);
    for (size_t k = 0; journal != NULL && k < journal->count; k++) {
        const struct shmt_journal_record *const one = &journal->records[k];

        if (one->kind == SHMT_JOURNAL_RESULT && one->at_s > 100)
            CHECK(fabs(one->others_s - 75 - (one->at_s - 100) / 2) < 1e-5);
    }
    CHECK(journal != NULL && journal->count > 12 &&
          journal->records[journal->count - 1].at_s > 100);
    shmt_journal_free(journal);
}

/* The default alone was not all that there is. */
static void too_short_for_more_than_is_known(void)
{
    const char *const path = fixture_path("short.journal");
    struct notices notices;
    struct shmt_tune_outcome *outcome;

    make_journal_of(path, "at: 0");
    outcome = go_on(path, 1, 1e-9, &notices);
    CHECK(outcome != NULL && outcome->tried == 3 && !outcome->spent);
    CHECK_HAS(notices.text, "the budget is too short for more than the 3 "
                            "candidates that are known");
    shmt_tune_free(outcome);
}

static void other_sources_start_afresh(void)
{
    struct shmt_tune_options options = fixture_options();
    struct notices notices = {""};
    const struct shmt_tune_observer observer =
        {&notices, NULL, keep_notice, false};
    char *expected, *text, *digest;
    size_t size, old;

    options.journal = fixture_path("fresh.journal");
    options.budget_count = 30;
    expected = fixture_replayed(toy, &options, 2);
    text = fixture_read(options.journal, &size);
    digest = strstr(text, "digest: ") + 9;
    digest[3] = digest[3] == '0' ? '1' : '0';
    fixture_write(options.journal, text, size);
    free(text);
    options.observer = &observer;
    check_same(fixture_replayed(toy, &options, 2), expected);
    CHECK_HAS(notices.text, "sources have changed");
    CHECK_HAS(notices.text, "fresh.journal.old");
    free(fixture_read(fixture_path("fresh.journal.old"), &old));
    CHECK_INT(old, size);
    /* And when the user says so. */
    notices.text[0] = '\0';
    options.resume = false;
    check_same(fixture_replayed(toy, &options, 2), expected);
    CHECK_HAS(notices.text, "--no-resume");
    free(expected);
}

/* Another compiler makes other binaries: what they took says nothing. */
static void another_compiler_starts_afresh(void)
{
    struct shmt_tune_options options = fixture_options();
    struct notices notices = {""};
    const struct shmt_tune_observer observer =
        {&notices, NULL, keep_notice, false};
    char *expected, *text;
    size_t size, old;

    options.journal = fixture_path("compiler.journal");
    options.budget_count = 30;
    expected = fixture_replayed(toy, &options, 2);
    text = fixture_read(options.journal, &size);
    memcpy(strstr(text, "nvrtc: 13000"), "nvrtc: 12090", 12);
    fixture_write(options.journal, text, size);
    free(text);
    options.observer = &observer;
    check_same(fixture_replayed(toy, &options, 2), expected);
    CHECK_HAS(notices.text, "its compiler version is another one");
    CHECK_HAS(notices.text, "compiler.journal.old");
    free(fixture_read(fixture_path("compiler.journal.old"), &old));
    CHECK_INT(old, size);
    free(expected);
}

static void a_damaged_journal_is_refused(void)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *target;
    struct shmt_tune_outcome *outcome = NULL;
    struct shmt_error err = {0};
    size_t size;
    char *text;

    options.journal = fixture_path("refused.journal");
    options.budget_count = 10;
    free(fixture_replayed(toy, &options, 1));
    text = fixture_read(options.journal, &size);
    memcpy(strstr(text, "verdict: ok"), "verdict: eh", 11);
    fixture_write(options.journal, text, size);
    target = fixture_replay(toy, fixture_recording(toy), 1);
    CHECK_INT(shmt_tune_run(target, toy->sizes[0], &options, &outcome, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "--no-resume");
    CHECK_HAS(err.text, "refused.journal:");
    target->operations->close(target);
    free(text);
}

/* What the user asks for may change from run to run. */
static void policies_are_judged_again(void)
{
    struct shmt_tune_options options = fixture_options();
    char *loose, *strict;

    loose = fixture_replayed(toy, &options, 2);
    options.policy.max_spill_bytes = 0;
    strict = fixture_replayed(toy, &options, 2);
    CHECK_HAS(strict, "spills ");
    CHECK(strstr(loose, "spills ") == NULL);
    options.journal = fixture_path("policy.journal");
    check_same(fixture_replayed(toy, &options, 2), strict);
    options.policy.max_spill_bytes = -1;
    check_same(fixture_replayed(toy, &options, 2), loose);
    options.policy.max_spill_bytes = 0;
    check_same(fixture_replayed(toy, &options, 2), strict);
    free(loose);
    free(strict);
}

int main(void)
{
    toy = fixture_kernel("toy");
    if (toy == NULL)
        return 1;
    (void)fixture_recording(toy);
    CHECK_RUN(killed_and_resumed);
    CHECK_RUN(cut_and_resumed);
    CHECK_RUN(interrupted_and_resumed);
    CHECK_RUN(interrupts_blame_nobody);
    CHECK_RUN(a_candidate_that_takes_the_tuner_along);
    CHECK_RUN(a_default_that_failed_is_tried_again);
    CHECK_RUN(what_others_had_is_not_spent);
    CHECK_RUN(what_others_have_is_written);
    CHECK_RUN(too_short_for_more_than_is_known);
    CHECK_RUN(other_sources_start_afresh);
    CHECK_RUN(another_compiler_starts_afresh);
    CHECK_RUN(a_damaged_journal_is_refused);
    CHECK_RUN(policies_are_judged_again);
    shmt_kernel_free(toy);
    return CHECK_END();
}
