/* SPDX-License-Identifier: MIT */
/* A recorded device: its answers, its clock, and what it does not have. */
#include <math.h>
#include <stdlib.h>

#include "record/recording.h"
#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"

static struct shmt_kernel *toy;

/* The default of toy, with one value changed. */
static void choose(shmt_config *config, size_t parameter, size_t value)
{
    shmt_kernel_default(toy, config);
    config[parameter] = (shmt_config)value;
}

static struct shmt_target_reply ask(struct shmt_target *target,
                                    enum shmt_target_verb verb,
                                    const shmt_config *config)
{
    const struct shmt_target_request request = {
        .verb = verb, .tag = 77, .config = config, .samples = 7,
        .give_up_us = INFINITY, .verify = true,
    };
    struct shmt_target_reply reply = {0};
    bool got = false;

    CHECK_INT(target->operations->submit(target, &request, NULL),
              SHMTUNE_OK);
    CHECK_INT(target->operations->wait(target, 1, &got, &reply, NULL),
              SHMTUNE_OK);
    CHECK(got);
    CHECK_INT(reply.tag, 77);
    CHECK_INT(reply.verb, verb);
    return reply;
}

static struct shmt_target *open_toy(size_t jobs)
{
    struct shmt_target *const target =
        fixture_replay(toy, fixture_recording(toy), jobs);
    CHECK_INT(target->operations->begin(target, toy->sizes[0], NULL),
              SHMTUNE_OK);
    return target;
}

static void answers_as_it_was(void)
{
    struct shmt_target *const target = open_toy(1);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_target_reply inspected, measured;
    double before;

    CHECK(target->recorded);
    CHECK_HAS(target->name, "Pretended H100");
    CHECK_TEXT(target->protocol, "cold-l2");
    CHECK_INT(target->nvrtc_version, 13000);
    CHECK_INT(target->device.multiprocessors, 132);
    choose(config, 0, 3);
    inspected = ask(target, SHMT_TARGET_INSPECT, config);
    CHECK_INT(inspected.result.verdict, SHMT_VERDICT_OK);
    CHECK(inspected.result.resources.registers > 0);
    CHECK(inspected.result.time_us < 0);
    CHECK_INT(inspected.result.sample_count, 0);
    CHECK(fabs(target->operations->now(target) -
               inspected.result.compile_ms / 1000) < 1e-9);
    before = target->operations->now(target);
    measured = ask(target, SHMT_TARGET_MEASURE, config);
    CHECK_INT(measured.result.verdict, SHMT_VERDICT_OK);
    CHECK(measured.result.time_us > 0);
    CHECK_INT(measured.result.sample_count, 7);
    CHECK(fabs(target->operations->now(target) - before -
               measured.result.measure_ms / 1000) < 1e-9);
    target->operations->close(target);
}

/* A configuration may be in a journal twice: it passed in the search and was
 * timed again in the finals.  The last of the file is the one that counts. */
static void the_last_record_counts(void)
{
    const char *const path = fixture_path("twice.journal");
    struct shmt_journal *journal = NULL;
    struct shmt_journal_writer *writer = NULL;
    struct shmt_journal_record last;
    struct shmt_result result;
    struct shmt_target *target;
    struct shmt_error err = {0};

    CHECK_INT(shmt_journal_read(fixture_recording(toy), toy, &journal, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_journal_open(path, toy, &writer, &err), SHMTUNE_OK);
    CHECK_INT(shmt_journal_begin(writer, &journal->header, &err), SHMTUNE_OK);
    for (size_t k = 0; k < journal->count; k++) {
        last = journal->records[k];
        CHECK_INT(shmt_journal_add(writer, &last, &err), SHMTUNE_OK);
        if (last.kind == SHMT_JOURNAL_RESULT &&
            last.result->verdict == SHMT_VERDICT_OK)
            break;
    }
    result = *last.result;
    result.sample_count = 1;
    result.samples_us[0] = 777;
    result.time_us = 777;
    last.result = &result;
    CHECK_INT(shmt_journal_add(writer, &last, &err), SHMTUNE_OK);
    CHECK_INT(shmt_journal_close(writer, &err), SHMTUNE_OK);
    target = fixture_replay(toy, path, 1);
    CHECK_INT(target->operations->begin(target, toy->sizes[0], NULL),
              SHMTUNE_OK);
    CHECK(fabs(ask(target, SHMT_TARGET_MEASURE, last.config).result.time_us -
               777) < 1e-9);
    target->operations->close(target);
    shmt_journal_free(journal);
}

/* Two compilers work side by side, so the clock moves by the longer. */
static void side_by_side(void)
{
    struct shmt_target *const target = open_toy(2);
    struct shmt_target_reply replies[2];
    double longest = 0;

    CHECK_INT(target->operations->capacity(target, SHMT_TARGET_INSPECT), 2);
    CHECK_INT(target->operations->capacity(target, SHMT_TARGET_MEASURE), 1);
    for (size_t k = 0; k < 2; k++) {
        shmt_config config[SHMT_SPACE_PARAMETERS];
        const struct shmt_target_request request = {
            .verb = SHMT_TARGET_INSPECT, .tag = k, .config = config
        };
        choose(config, 0, k + 1);
        CHECK_INT(target->operations->submit(target, &request, NULL),
                  SHMTUNE_OK);
    }
    for (size_t k = 0; k < 2; k++) {
        bool got;
        CHECK_INT(target->operations->wait(target, 1, &got, &replies[k],
                                           NULL), SHMTUNE_OK);
        longest = fmax(longest, replies[k].result.compile_ms / 1000);
    }
    CHECK(replies[0].result.compile_ms <= replies[1].result.compile_ms);
    CHECK(fabs(target->operations->now(target) - longest) < 1e-9);
    target->operations->close(target);
}

/* Who comes first pays for the binary, whoever it was when recorded. */
static void shares_binaries(void)
{
    struct shmt_target *const target = open_toy(1);
    shmt_config config[SHMT_SPACE_PARAMETERS];

    choose(config, 4, 1);
    CHECK(ask(target, SHMT_TARGET_INSPECT, config).result.compile_ms > 1);
    choose(config, 4, 0);
    CHECK(ask(target, SHMT_TARGET_INSPECT, config).result.compile_ms < 0.001);
    target->operations->close(target);
}

static void what_is_not_there(void)
{
    struct shmt_target *const target = open_toy(1);
    const int64_t other[] = {4097, 1};
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_target_reply reply;
    struct shmt_error err = {0};

    /* PAD with dynamic memory and no unrolling: against a constraint. */
    choose(config, 2, 1);
    config[3] = 1;
    reply = ask(target, SHMT_TARGET_INSPECT, config);
    CHECK_INT(reply.result.verdict, SHMT_VERDICT_NOT_RECORDED);
    CHECK_INT(target->operations->begin(target, other, &err),
              SHMTUNE_NO_DEVICE);
    CHECK_HAS(err.text, "n=4097");
    CHECK_HAS(err.text, "n=4096");
    target->operations->close(target);
}

static void hopeless_is_slow(void)
{
    struct shmt_target *const target = open_toy(1);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_target_request request = {
        .verb = SHMT_TARGET_MEASURE, .config = config, .samples = 7,
        .give_up_us = 1,
    };
    struct shmt_target_reply reply;
    bool got;

    choose(config, 0, 0);
    CHECK_INT(target->operations->submit(target, &request, NULL),
              SHMTUNE_OK);
    CHECK_INT(target->operations->wait(target, 1, &got, &reply, NULL),
              SHMTUNE_OK);
    CHECK_INT(reply.result.verdict, SHMT_VERDICT_SLOW);
    CHECK_INT(target->operations->wait(target, 1, &got, &reply, NULL),
              SHMTUNE_INTERNAL);
    CHECK(!got);
    target->operations->close(target);
}

/* The answer from a journal, in the time it took. */
static void known_answers(void)
{
    struct shmt_target *const target = open_toy(1);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_result known;
    const struct shmt_target_request request = {
        .verb = SHMT_TARGET_MEASURE, .config = config, .samples = 7,
        .give_up_us = INFINITY, .known = &known,
    };
    struct shmt_target_reply reply;
    bool got;

    shmt_result_clear(&known);
    shmt_result_set_verdict(&known, SHMT_VERDICT_WRONG, "then");
    known.measure_ms = 2500;
    choose(config, 0, 0);
    CHECK_INT(target->operations->submit(target, &request, NULL),
              SHMTUNE_OK);
    CHECK_INT(target->operations->wait(target, 3, &got, &reply, NULL),
              SHMTUNE_OK);
    CHECK_INT(reply.result.verdict, SHMT_VERDICT_WRONG);
    CHECK_TEXT(reply.result.reason, "then");
    CHECK(fabs(target->operations->now(target) - 2.5) < 1e-9);
    target->operations->close(target);
}

/* What comes of a recording of `size` bytes at `data`. */
static enum shmtune_status opened(const char *data, size_t size,
                                  struct shmt_error *err)
{
    const char *const bad = fixture_path("bad.journal.gz");
    const struct shmt_replay_options options = {&bad, 1, 1};
    struct shmt_target *target = NULL;
    enum shmtune_status status;

    fixture_write(bad, data, size);
    status = shmt_replay_open(toy, &options, &target, err);
    if (status == SHMTUNE_OK)
        status = target->operations->begin(target, toy->sizes[0], err);
    if (target != NULL)
        target->operations->close(target);
    return status;
}

/* A recording cut is refused. */
static void cut(void)
{
    struct shmt_random random;
    size_t size;
    char *const data = fixture_read(fixture_recording(toy), &size);

    shmt_random_seed(&random, 3);
    CHECK(size > 1000);
    for (int k = 0; k < 30; k++) {
        struct shmt_error err = {0};
        CHECK_INT(opened(data, shmt_random_below(&random, size - 1), &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, "bad.journal.gz");
    }
    free(data);
}

/* Whichever byte of its first is another, so that the header may say another
 * problem, and of those behind, it is refused with its name.  (Some of gzip's
 * own header mean nothing.) */
static void damaged(void)
{
    size_t size, refused = 0, tried = 0;
    char *const data = fixture_read(fixture_recording(toy), &size);

    for (size_t at = 0; at < size; at += at < 600 ? 1 : 97)
        for (int bit = 0; bit < 8; bit += at < 600 ? 1 : 4, tried++) {
            struct shmt_error err = {0};
            enum shmtune_status status;
            data[at] ^= (char)(1 << bit);
            status = opened(data, size, &err);
            data[at] ^= (char)(1 << bit);
            if (status == SHMTUNE_OK)
                continue;
            refused++;
            if (status != SHMTUNE_INVALID_FILE)
                printf("# bit %d at %zu of %zu: %s\n", bit, at, size,
                       err.text);
            CHECK_INT(status, SHMTUNE_INVALID_FILE);
            CHECK_HAS(err.text, "bad.journal.gz");
        }
    CHECK(refused >= tried - 80);
    free(data);
}

static void finds_recordings(void)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *const root = fixture_folder();
    const char *const roots[] = {"/nonexistent", root};
    const struct shmt_recording_places places = {roots, 2};
    const char *const *paths;
    struct shmt_error err = {0};
    char command[1024];
    size_t count;

    snprintf(command, sizeof command,
             "cd '%s' && mkdir -p tunings/toy && cp recorded.journal.gz "
             "tunings/toy/sm_90-h100.64.journal.gz && cp recorded.journal.gz "
             "tunings/toy/sm_90-h100.128.journal.gz && cp "
             "recorded.journal.gz tunings/toy/sm_80-a100.64.journal.gz",
             root);
    CHECK_INT(system(command), 0);
    CHECK_INT(shmt_recording_find(arena, &places, "toy", "H100", &paths,
                                  &count, &err), SHMTUNE_OK);
    CHECK_INT(count, 2);
    CHECK_HAS(paths[0], "sm_90-h100.128.journal.gz");
    CHECK_INT(shmt_recording_find(arena, &places, "toy", "v100", &paths,
                                  &count, &err), SHMTUNE_NO_DEVICE);
    CHECK_HAS(err.text, "sm_80-a100.64.journal.gz");
    CHECK_HAS(err.text, "v100");
    CHECK_INT(shmt_recording_find(arena, &places, "toy", "h10", &paths,
                                  &count, &err), SHMTUNE_NO_DEVICE);
    CHECK_HAS(err.text, "sm_90-h100.64.journal.gz");
    CHECK_INT(shmt_recording_find(arena, &places, "toy", "90-h100.64", &paths,
                                  &count, &err), SHMTUNE_OK);
    CHECK_INT(count, 1);
    CHECK_INT(shmt_recording_find(arena, &places, "toy", "", &paths,
                                  &count, &err), SHMTUNE_OK);
    CHECK_INT(count, 3);
    CHECK_INT(shmt_recording_find(arena, &places, "other", "h100", &paths,
                                  &count, &err), SHMTUNE_NO_DEVICE);
    CHECK_INT(shmt_recording_find(arena, &places, "toy", "./x.journal",
                                  &paths, &count, &err), SHMTUNE_OK);
    CHECK_INT(count, 1);
    CHECK_TEXT(paths[0], "./x.journal");
    shmt_arena_free(arena);
}

static void same_bytes_for_the_same_results(void)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *const target = open_toy(2);
    struct shmt_tune_outcome *const outcome =
        fixture_run(target, &options, SHMTUNE_OK);
    const char *const again = fixture_path("again.journal.gz");
    size_t size;
    char *text;

    CHECK(outcome != NULL);
    if (outcome == NULL)
        return;
    for (int k = 0; k < 2; k++)
        CHECK_INT(shmt_recording_write(
                      k == 0 ? again : fixture_path("more.journal.gz"), toy,
                      &outcome->header, outcome->ledger, outcome->space,
                      NULL), SHMTUNE_OK);
    text = fixture_read(again, &size);
    {
        size_t size2;
        char *const text2 =
            fixture_read(fixture_path("more.journal.gz"), &size2);
        CHECK_INT(size, size2);
        CHECK(memcmp(text, text2, size) == 0);
        free(text2);
    }
    free(text);
    shmt_tune_free(outcome);
    target->operations->close(target);
}

int main(void)
{
    toy = fixture_kernel("toy");
    if (toy == NULL)
        return 1;
    CHECK_RUN(answers_as_it_was);
    CHECK_RUN(the_last_record_counts);
    CHECK_RUN(side_by_side);
    CHECK_RUN(shares_binaries);
    CHECK_RUN(what_is_not_there);
    CHECK_RUN(hopeless_is_slow);
    CHECK_RUN(known_answers);
    CHECK_RUN(cut);
    CHECK_RUN(damaged);
    CHECK_RUN(finds_recordings);
    CHECK_RUN(same_bytes_for_the_same_results);
    shmt_kernel_free(toy);
    return CHECK_END();
}
