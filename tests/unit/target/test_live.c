/* SPDX-License-Identifier: MIT */
/* Workers that do everything they should not, and the verdicts. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "target/wire.h"
#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"

static struct shmt_kernel *faults;

/* The result of the candidate that behaves like `word`, by name. */
static const struct shmt_result *
result_of(const struct shmt_tune_outcome *outcome, const char *word)
{
    for (size_t k = 0; k < shmt_ledger_count(outcome->ledger); k++) {
        const struct shmt_ledger_entry *const entry =
            shmt_ledger_at(outcome->ledger, k);
        shmt_config config[SHMT_SPACE_PARAMETERS];
        shmt_space_configuration(outcome->space, entry->index, config);
        if (strcmp(faults->parameters[0].values[config[0]].w, word) == 0)
            return &entry->result;
    }
    return NULL;
}

static const struct {
    const char *word;
    enum shmt_verdict verdict;
    const char *reason;
} expected[] = {
    {"good", SHMT_VERDICT_OK, ""},
    {"fine", SHMT_VERDICT_OK, ""},
    {"chatty", SHMT_VERDICT_OK, ""},
    {"die_once", SHMT_VERDICT_OK, ""},
    {"spills", SHMT_VERDICT_OK, ""},
    {"slow", SHMT_VERDICT_SLOW, ""},
    {"too_large", SHMT_VERDICT_TOO_LARGE, "1049600"},
    {"compile_error", SHMT_VERDICT_COMPILE_ERROR, "toy.cu(3)"},
    {"compile_hang", SHMT_VERDICT_COMPILE_TIMEOUT, "killed after 2 s"},
    {"compile_die", SHMT_VERDICT_CRASH,
     "while it compiled, in 2 tries: the worker was killed by signal 6 "
     "(Aborted): the compiler's own trouble"},
    {"compile_die_once", SHMT_VERDICT_OK, ""},
    {"compile_half", SHMT_VERDICT_COMPILE_TIMEOUT, "killed after 2 s"},
    {"compile_wrong_tag", SHMT_VERDICT_CRASH, "was not made"},
    {"half", SHMT_VERDICT_TIMEOUT, "killed after"},
    {"again", SHMT_VERDICT_OK, ""},
    {"not_resident", SHMT_VERDICT_NOT_RESIDENT, "registers"},
    {"static_lie", SHMT_VERDICT_SPEC_MISMATCH, "1152"},
    {"crash", SHMT_VERDICT_CRASH, "planted"},
    {"die", SHMT_VERDICT_CRASH, "signal 11"},
    {"hang", SHMT_VERDICT_TIMEOUT, "killed after"},
    {"partial", SHMT_VERDICT_CRASH, "exited with status 0"},
    {"endless", SHMT_VERDICT_CRASH, "too long"},
    {"fades", SHMT_VERDICT_UNSTABLE, "in the finals: planted"},
    {"garbage", SHMT_VERDICT_CRASH, "is no message"},
    {"wrong_tag", SHMT_VERDICT_CRASH, "was not made"},
    {"zero_byte", SHMT_VERDICT_CRASH, "zero byte"},
    {"wrong", SHMT_VERDICT_WRONG, "planted"},
    {"unwritten", SHMT_VERDICT_UNWRITTEN, "planted"},
    {"out_of_bounds", SHMT_VERDICT_OUT_OF_BOUNDS, "planted"},
    {"unstable", SHMT_VERDICT_UNSTABLE, "planted"},
    {"out_of_memory", SHMT_VERDICT_OUT_OF_MEMORY, "planted"},
};

static void check_all(const struct shmt_tune_outcome *outcome)
{
    CHECK_INT(outcome->tried, outcome->header.space_count);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        const struct shmt_result *const result =
            result_of(outcome, expected[k].word);
        CHECK(result != NULL);
        if (result == NULL)
            continue;
        if (result->verdict != expected[k].verdict)
            printf("# %s: %s: %s\n", expected[k].word,
                   shmt_verdict_word(result->verdict), result->reason);
        CHECK_INT(result->verdict, expected[k].verdict);
        CHECK_HAS(result->reason, expected[k].reason);
    }
    CHECK(outcome->verdicts[SHMT_VERDICT_OK] >= 5);
    CHECK(outcome->final_count >= 1);
    CHECK(outcome->default_us > 0);
}

/* Each fault is a verdict of its candidate; everybody else is tuned. */
static void every_fault_is_a_verdict(void)
{
    struct shmt_target *const target = fixture_live(faults, 2);
    struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *outcome;

    CHECK(target != NULL);
    if (target == NULL)
        return;
    options.journal = fixture_path("faults.journal");
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    CHECK(outcome != NULL);
    if (outcome != NULL)
        check_all(outcome);
    shmt_tune_free(outcome);
    target->operations->close(target);
}

/* Nobody waits for ever for what was not asked for. */
static void waiting_for_nothing_is_an_error(void)
{
    struct shmt_target *const target = fixture_live(faults, 1);
    const int64_t problem[SHMT_KERNEL_DIMENSIONS] = {4096, 1};
    struct shmt_target_reply reply;
    struct shmt_error error;
    bool got = true;

    CHECK(target != NULL);
    if (target == NULL)
        return;
    CHECK_INT(target->operations->begin(target, problem, &error),
              SHMTUNE_OK);
    CHECK_INT(target->operations->wait(target, 60, &got, &reply, &error),
              SHMTUNE_INTERNAL);
    CHECK_HAS(error.text, "no request is outstanding");
    target->operations->close(target);
}

/* The journal of that run knows it all; nothing is asked again. */
static void faults_are_not_tried_again(void)
{
    const char *const log = fixture_path("again.log");
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *target;
    struct shmt_tune_outcome *outcome;
    size_t size;
    char *text;

    setenv("FAKE_WORKER_LOG", log, 1);
    target = fixture_live(faults, 2);
    options.journal = fixture_path("faults.journal");
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    unsetenv("FAKE_WORKER_LOG");
    CHECK(outcome != NULL);
    if (outcome != NULL) {
        check_all(outcome);
        CHECK_INT(outcome->resumed, outcome->tried);
    }
    /* Only the finals: of good ones. */
    text = fixture_read(log, &size);
    CHECK(size > 0);
    CHECK(strstr(text, "hang") == NULL);
    CHECK(strstr(text, "die,") == NULL);
    free(text);
    shmt_tune_free(outcome);
    target->operations->close(target);
}

/* The first that hangs after a resume is not given the minute of a worker of
 * which nothing is known. */
static void hanging_first_after_a_resume(void)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *const target = fixture_patient(faults, 2);
    struct shmt_tune_outcome *outcome;
    const struct shmt_result *result;
    size_t size;
    char *text = fixture_read(fixture_path("faults.journal"), &size);
    char *const from = strstr(text, "- {config: {BEHAVE: hang,");
    char *const to = from == NULL ? NULL : strchr(from, '\n');

    CHECK(target != NULL && to != NULL);
    if (to != NULL) {
        memmove(from, to + 1, strlen(to));
        fixture_write(fixture_path("hang.journal"), text, strlen(text));
        options.journal = fixture_path("hang.journal");
        outcome = fixture_run(target, &options, SHMTUNE_OK);
        CHECK(outcome != NULL);
        result = outcome == NULL ? NULL : result_of(outcome, "hang");
        CHECK(result != NULL && result->verdict == SHMT_VERDICT_TIMEOUT);
        if (result != NULL) {
            printf("# %s\n", result->reason);
            CHECK(result->measure_ms > 1600 && result->measure_ms < 50000);
        }
        shmt_tune_free(outcome);
    }
    free(text);
    target->operations->close(target);
}

/* Binaries go where they are asked for, and elsewhere when nobody asks. */
static void binaries_have_a_folder(void)
{
    struct shmt_live_options options = {.device = "0", .jobs = 1,
                                        .start_s = 60};
    struct shmt_target *target = NULL;
    struct shmt_error err = {0};
    char worker[1024];
    const char *const images = fixture_path("images");

    snprintf(worker, sizeof worker, "%s/tests/fake/worker",
             getenv("SHMT_BUILDDIR") == NULL ? "."
                                             : getenv("SHMT_BUILDDIR"));
    options.worker = worker;
    CHECK_INT(shmt_live_open(faults, &options, &target, &err), SHMTUNE_OK);
    CHECK(access(images, F_OK) != 0);
    target->operations->close(target);
    options.images = images;
    CHECK_INT(shmt_live_open(faults, &options, &target, &err), SHMTUNE_OK);
    CHECK_INT(access(images, F_OK), 0);
    target->operations->close(target);
    CHECK_INT(access(images, F_OK), 0);
}

/* Those alone that never say hello come to a deadline. */
static enum shmtune_status open_with(const char *how, struct shmt_error *err)
{
    const bool never = strcmp(how, "mute") == 0 || strcmp(how, "half") == 0;
    const struct shmt_live_options options = {
        .worker = NULL, .device = "0", .jobs = 1,
        .start_s = never ? 0.4 : 60
    };
    struct shmt_live_options with = options;
    struct shmt_target *target = NULL;
    char worker[1024];
    enum shmtune_status status;

    snprintf(worker, sizeof worker, "%s/tests/fake/worker",
             getenv("SHMT_BUILDDIR") == NULL ? "."
                                             : getenv("SHMT_BUILDDIR"));
    with.worker = strcmp(how, "absent") == 0 ? "/nonexistent" : worker;
    setenv("FAKE_WORKER_START", how, 1);
    if (strcmp(how, "absent") == 0)
        unsetenv("FAKE_WORKER_START");
    status = shmt_live_open(faults, &with, &target, err);
    unsetenv("FAKE_WORKER_START");
    if (target != NULL)
        target->operations->close(target);
    return status;
}

static void workers_that_never_start(void)
{
    struct shmt_error err = {0};

    CHECK_INT(open_with("refuse", &err), SHMTUNE_NO_DEVICE);
    CHECK_HAS(err.text, "no driver answers (planted)");
    CHECK_INT(open_with("die", &err), SHMTUNE_INTERNAL);
    CHECK_HAS(err.text, "killed by signal 9");
    CHECK_INT(open_with("mute", &err), SHMTUNE_INTERNAL);
    CHECK_HAS(err.text, "cannot be started");
    CHECK_INT(open_with("half", &err), SHMTUNE_INTERNAL);
    CHECK_HAS(err.text, "cannot be started");
    CHECK_INT(open_with("answer", &err), SHMTUNE_INTERNAL);
    CHECK_HAS(err.text, "answered a request that was not made");
    CHECK_INT(open_with("endless", &err), SHMTUNE_INTERNAL);
    CHECK_HAS(err.text, "too long");
    CHECK_INT(open_with("bare", &err), SHMTUNE_INTERNAL);
    CHECK_HAS(err.text, "device");
    CHECK_INT(open_with("late", &err), SHMTUNE_OK);
    CHECK_INT(open_with("absent", &err), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "/nonexistent");
}

/* Workers all of which answer what was not asked: the run ends, and says
 * why. */
static void workers_that_answer_wrongly(void)
{
    static const char *const ways[] = {"twice", "ids"};

    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        struct shmt_tune_options options = fixture_options();
        struct shmt_tune_outcome *outcome = NULL;
        struct shmt_error err = {0};
        struct shmt_target *target;
        enum shmtune_status status;

        setenv("FAKE_WORKER_START", ways[k], 1);
        target = fixture_live(faults, 1);
        alarm(300);   /* a run that hangs dies here */
        if (target != NULL) {
            status = shmt_tune_run(target, faults->sizes[0], &options,
                                   &outcome, &err);
            printf("# %s: %s\n", ways[k], err.text);
            CHECK(status != SHMTUNE_OK);
            CHECK_HAS(err.text, "answered a request that was not made");
            target->operations->close(target);
        }
        alarm(0);
        CHECK(outcome == NULL);
        unsetenv("FAKE_WORKER_START");
    }
}

static void no_reference(void)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *outcome = NULL;
    struct shmt_error err = {0};
    struct shmt_target *target;

    setenv("FAKE_WORKER_REFERENCE", "bad", 1);
    target = fixture_live(faults, 1);
    CHECK_INT(shmt_tune_run(target, faults->sizes[0], &options, &outcome,
                            &err), SHMTUNE_WRONG_RESULT);
    CHECK_HAS(err.text, "the reference does not run");
    CHECK(outcome == NULL);
    unsetenv("FAKE_WORKER_REFERENCE");
    target->operations->close(target);
}

/* Somebody kills workers all the time: the result is the same.  Twenty requests
 * apart: no candidate is killed twice, whose doing it would be. */
static void killed_by_others(void)
{
    const char *const log = fixture_path("killed.log");
    struct shmt_kernel *const toy = fixture_kernel("toy");
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *target = fixture_live(toy, 2);
    struct shmt_tune_outcome *calm, *wild;
    const char *expected_text;
    int times = 0;
    size_t size;
    char *text;

    calm = fixture_run(target, &options, SHMTUNE_OK);
    target->operations->close(target);
    setenv("FAKE_WORKER_LOG", log, 1);
    setenv("FAKE_WORKER_KILLED", "20", 1);
    target = fixture_live(toy, 2);
    wild = fixture_run(target, &options, SHMTUNE_OK);
    unsetenv("FAKE_WORKER_KILLED");
    unsetenv("FAKE_WORKER_LOG");
    text = fixture_read(log, &size);
    for (const char *at = text; (at = strstr(at, "killed\n")) != NULL; at++)
        times++;
    CHECK(times >= 20);
    CHECK(calm != NULL && wild != NULL);
    if (calm != NULL && wild != NULL) {
        expected_text = fixture_describe(toy, calm);
        CHECK_TEXT(fixture_describe(toy, wild), expected_text);
    }
    free(text);
    shmt_tune_free(calm);
    shmt_tune_free(wild);
    target->operations->close(target);
    shmt_kernel_free(toy);
}

/* Candidates that differ at the launch alone are compiled once. */
static void one_binary_for_many(void)
{
    const char *const log = fixture_path("share.log");
    struct shmt_kernel *const toy = fixture_kernel("toy");
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *target;
    struct shmt_tune_outcome *outcome;
    size_t size, inspected = 0;
    char *text;

    setenv("FAKE_WORKER_LOG", log, 1);
    target = fixture_live(toy, 2);
    unsetenv("FAKE_WORKER_LOG");
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    CHECK(outcome != NULL);
    text = fixture_read(log, &size);
    for (const char *at = text; (at = strstr(at, "inspect")) != NULL; at++)
        inspected++;
    if (outcome != NULL)
        CHECK_INT(2 * inspected,
                  outcome->tried -
                      outcome->verdicts[SHMT_VERDICT_TOO_LARGE]);
    free(text);
    shmt_tune_free(outcome);
    target->operations->close(target);
    shmt_kernel_free(toy);
}

/* As all times of a result: none is less than nothing. */
static void what_was_compiled_took_some_time(void)
{
    static const char *const wrong[] = {"-1", "-1e300", ".nan", ".inf", "1e999",
                                        "word"};
    struct shmt_wire_reply reply;
    struct shmt_text text = {0};
    struct shmt_error err = {0};
    char line[80];

    CHECK_INT(shmt_wire_read_reply("{tag: 3, verdict: ok, once_ms: 412.5}",
                                   &reply, &err), SHMTUNE_OK);
    CHECK(fabs(reply.result.once_ms - 412.5) < 1e-9);
    shmt_wire_write_reply(&reply, &text);
    CHECK_HAS(shmt_text_string(&text), "once_ms: 412.5");
    shmt_text_free(&text);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        snprintf(line, sizeof line, "{tag: 3, verdict: ok, once_ms: %s}",
                 wrong[k]);
        CHECK_INT(shmt_wire_read_reply(line, &reply, &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, "number");
    }
}

int main(void)
{
    faults = fixture_kernel("faults");
    if (faults == NULL)
        return 1;
    CHECK_RUN(every_fault_is_a_verdict);
    CHECK_RUN(waiting_for_nothing_is_an_error);
    CHECK_RUN(faults_are_not_tried_again);
    CHECK_RUN(hanging_first_after_a_resume);
    CHECK_RUN(workers_that_never_start);
    CHECK_RUN(workers_that_answer_wrongly);
    CHECK_RUN(what_was_compiled_took_some_time);
    CHECK_RUN(no_reference);
    CHECK_RUN(killed_by_others);
    CHECK_RUN(one_binary_for_many);
    CHECK_RUN(binaries_have_a_folder);
    shmt_kernel_free(faults);
    return CHECK_END();
}
