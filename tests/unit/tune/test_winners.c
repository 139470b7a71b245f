/* SPDX-License-Identifier: MIT */
/* What did well elsewhere: tried when it should be, told to the strategy,
 * and read from tunings. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"
#include "tune/output.h"
#include "tune/winners.h"

static struct shmt_kernel *toy;
static struct shmt_winners winners;   /* of every candidate */
static struct shmt_winners none;
enum { TIED = 3 };                    /* in the tuning */
static shmt_config tied[TIED][SHMT_SPACE_PARAMETERS];

static struct shmt_tune_outcome *run(const struct shmt_tune_options *options)
{
    struct shmt_target *const target =
        fixture_replay(toy, fixture_recording(toy), 2);
    struct shmt_tune_outcome *const outcome =
        fixture_run(target, options, SHMTUNE_OK);

    target->operations->close(target);
    return outcome;
}

/* To the one problem of a tuning two more as good: the winner with blocks of
 * 32 and of 64. */
static void add_ties(const char *path, const shmt_config *winner)
{
    static const char more[] = "  ties:\n  - {}\n"
                               "  - {BLOCK_X: 32}\n  - {BLOCK_X: 64}\n...\n";
    size_t size;
    char *const text = fixture_read(path, &size);
    char *const changed = malloc(size + sizeof more);
    const char *const ties = strstr(text, "  ties:\n");
    const char *const end = strstr(text, "\n...\n");

    CHECK(changed != NULL && end != NULL && winner[0] > 1);
    if (changed != NULL && end != NULL) {
        size = (size_t)((ties == NULL ? end + 1 : ties) - text);
        memcpy(changed, text, size);
        memcpy(changed + size, more, sizeof more - 1);
        fixture_write(path, changed, size + sizeof more - 1);
    }
    for (size_t k = 0; k < TIED; k++) {
        memcpy(tied[k], winner, sizeof tied[k]);
        tied[k][0] = k == 0 ? winner[0] : (shmt_config)(k - 1);
    }
    free(text);
    free(changed);
}

/* Fills `winners`, writes a tuning, and says where. */
static const char *prepare(void)
{
    const char *const path = fixture_path("winners.yaml");
    const struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *const outcome = run(&options);
    struct shmt_text notice = {0};

    if (outcome == NULL)
        return path;
    CHECK_INT(shmt_winners_add(toy, outcome, &winners, NULL), SHMTUNE_OK);
    CHECK_INT(shmt_output_write_tuning(toy, outcome, path, &notice, NULL),
              SHMTUNE_OK);
    CHECK_TEXT(shmt_text_string(&notice), "");
    add_ties(path, outcome->finals[0].config);
    shmt_tune_free(outcome);
    return path;
}

static void the_winner_once(void)
{
    struct shmt_winners twice = winners;
    const struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *const outcome = run(&options);

    CHECK(outcome != NULL && outcome->tie_count >= 1);
    if (outcome == NULL)
        return;
    CHECK(winners.count >= outcome->tie_count && winners.count >= 2);
    CHECK_INT(winners.list[0].rank, 0);
    CHECK(memcmp(winners.list[0].config, outcome->finals[0].config,
                 toy->parameter_count * sizeof(shmt_config)) == 0);
    for (size_t k = 1; k < winners.count; k++)
        CHECK(winners.list[k].rank > winners.list[k - 1].rank);
    CHECK_INT(shmt_winners_add(toy, outcome, &twice, NULL), SHMTUNE_OK);
    CHECK_INT(twice.count, winners.count);
    CHECK(memcmp(&twice, &winners, sizeof twice) == 0);
    shmt_tune_free(outcome);
}

/* Two candidates, the default and a winner, are enough. */
static void first_and_last(void)
{
    struct shmt_winners one = winners;
    struct shmt_tune_options options;
    struct shmt_tune_outcome *outcome;

    one.count = 1;
    for (int last = 0; last < 2; last++) {
        options = fixture_options();
        options.strategy = "random";
        options.budget_count = last ? 1 : 2;
        options.warm_start = last ? NULL : &winners;
        options.last = last ? &one : NULL;
        outcome = run(&options);
        CHECK(outcome != NULL && outcome->tried == 2);
        CHECK(outcome != NULL &&
              memcmp(outcome->finals[0].config, winners.list[0].config,
                     toy->parameter_count * sizeof(shmt_config)) == 0);
        shmt_tune_free(outcome);
    }
}

static void the_budget_holds(void)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *outcome;

    options.budget_count = 2;
    options.warm_start = &winners;
    outcome = run(&options);
    CHECK(outcome != NULL && outcome->tried == 2);
    shmt_tune_free(outcome);
}

/* Whatever the strategy, none is tried a second time, and all are tried. */
static void strategies_know_them(void)
{
    const struct shmt_strategy *strategy;

    for (size_t k = 0; (strategy = shmt_strategy_at(k)) != NULL; k++) {
        struct shmt_tune_options options = fixture_options();
        struct shmt_tune_outcome *outcome;
        options.strategy = strategy->name;
        options.warm_start = &winners;
        outcome = run(&options);
        CHECK(outcome != NULL &&
              outcome->tried == shmt_space_count(outcome->space));
        shmt_tune_free(outcome);
    }
}

/* A candidate slower than the leader in three passes leaves the finals; the
 * default stays whatever it takes. */
static void the_slow_leave_the_finals(void)
{
    const struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *const outcome = run(&options);
    bool kept = false;

    CHECK(outcome != NULL && outcome->final_count >= 2);
    for (size_t k = 0; outcome != NULL && k < outcome->final_count; k++) {
        const struct shmt_tune_final *const one = &outcome->finals[k];
        kept = kept || one->figures.is_default;
        CHECK(one->figures.is_default ||
              one->result.time_us <=
                  1.1 * outcome->finals[0].result.time_us);
    }
    CHECK(kept);
    shmt_tune_free(outcome);
}

static const char *tuning;

static void a_tuning_names_its_winners(void)
{
    struct shmt_kernel *const other = fixture_kernel("faults");
    struct shmt_winners read = none;
    struct shmt_error err = {0};

    CHECK_INT(shmt_winners_read(toy, tuning, &read, &err), SHMTUNE_OK);
    CHECK_INT(read.count, TIED);
    for (size_t k = 0; k < read.count; k++) {
        CHECK_INT(read.list[k].rank, k);
        CHECK_INT(read.list[k].problem[0], 4096);
        CHECK(memcmp(read.list[k].config, tied[k],
                     toy->parameter_count * sizeof(shmt_config)) == 0);
    }
    CHECK_INT(shmt_winners_read(other, tuning, &read, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "a tuning of toy, not of faults");
    CHECK_INT(shmt_winners_read(toy, fixture_path("absent.yaml"), &read,
                                &err), SHMTUNE_NOT_FOUND);
    CHECK_INT(read.count, TIED);
    shmt_kernel_free(other);
}

/* Not in the space: PAD 1, dynamic, UNROLL 1. */
static const shmt_config ruled_out[] = {0, 0, 1, 1, 0};

/* How many of `read`, as of another problem, are tried when the search has no
 * more than the default?  Which of those that are tied, in `was_tried`. */
static size_t try_others(struct shmt_winners *read, bool *was_tried)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *outcome;
    size_t tried = 0;

    for (size_t k = 0; k < read->count; k++)
        read->list[k].problem[0] = 4097;
    options.strategy = "random";
    options.budget_count = 1;
    options.last = read;
    outcome = run(&options);
    if (outcome == NULL)
        return tried;
    for (size_t k = 0; k < TIED; k++) {
        uint64_t index;
        was_tried[k] = shmt_space_index(outcome->space, tied[k], &index) &&
                       shmt_ledger_find(outcome->ledger, index) != NULL;
    }
    tried = (size_t)outcome->tried - 1;
    shmt_tune_free(outcome);
    return tried;
}

/* Where a winner may not run, the library takes the first of those as good
 * as it that may: no other is tried, and none where the winner may run. */
static void what_could_be_chosen_is_tried(void)
{
    struct shmt_winners read = none;
    bool was_tried[TIED];

    CHECK_INT(shmt_winners_read(toy, tuning, &read, NULL), SHMTUNE_OK);
    CHECK_INT(try_others(&read, was_tried), 1);
    CHECK(was_tried[0] && !was_tried[1] && !was_tried[2]);
    memcpy(read.list[0].config, ruled_out, sizeof ruled_out);
    CHECK_INT(try_others(&read, was_tried), 1);
    CHECK(!was_tried[0] && was_tried[1] && !was_tried[2]);
    memcpy(read.list[1].config, ruled_out, sizeof ruled_out);
    CHECK_INT(try_others(&read, was_tried), 1);
    CHECK(!was_tried[0] && !was_tried[1] && was_tried[2]);
}

/* Of two tunings each has its own say. */
static void two_tunings_do_not_speak_for_each_other(void)
{
    struct shmt_winners read = none;
    bool was_tried[TIED];

    CHECK_INT(shmt_winners_read(toy, tuning, &read, NULL), SHMTUNE_OK);
    CHECK_INT(shmt_winners_read(toy, tuning, &read, NULL), SHMTUNE_OK);
    CHECK_INT(read.count, 2 * TIED);
    CHECK_INT(read.list[1].rank, 0);
    CHECK(read.list[0].tuning != read.list[1].tuning);
    CHECK_INT(try_others(&read, was_tried), 1);
    memcpy(read.list[0].config, ruled_out, sizeof ruled_out);
    CHECK_INT(try_others(&read, was_tried), 2);
    CHECK(was_tried[0] && was_tried[1] && !was_tried[2]);
}

/* Sets *context to how many passes the finals are to have. */
static void note_passes(void *context, const struct shmt_tune_progress *now)
{
    if (strcmp(now->phase, "finals") == 0)
        *(uint64_t *)context = now->total;
}

/* Finals with the slowest candidate of all as the winner of rows x cols: of
 * how many passes? */
static uint64_t finals_with(const struct shmt_winner *slowest, int64_t rows,
                            int64_t cols)
{
    struct shmt_winners last = {.count = 1, .list[0] = *slowest};
    struct shmt_tune_options options = fixture_options();
    uint64_t passes = 0;
    const struct shmt_tune_observer observer = {.context = &passes,
                                                .progress = note_passes};

    last.list[0].problem[0] = rows;
    last.list[0].problem[1] = cols;
    options.last = &last;
    options.observer = &observer;
    shmt_tune_free(run(&options));
    return passes;
}

/* Who won this problem elsewhere is in its finals, however slow it was. */
static void who_won_here_defends_it(void)
{
    const struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *const outcome = run(&options);
    struct shmt_ledger_entry *sorted[4096];
    struct shmt_winner slowest = {0};
    const int64_t *problem;
    struct shmt_winners read = none;
    uint64_t with, without;
    size_t count;

    CHECK(outcome != NULL &&
          shmt_ledger_count(outcome->ledger) < 4096);
    if (outcome == NULL)
        return;
    count = shmt_ledger_fastest(outcome->ledger, sorted);
    while (count > 0 && sorted[count - 1]->result.verdict != SHMT_VERDICT_OK)
        count--;
    CHECK(count > 0);
    shmt_space_configuration(outcome->space, sorted[count - 1]->index,
                             slowest.config);
    CHECK_INT(shmt_winners_read(toy, tuning, &read, NULL), SHMTUNE_OK);
    problem = read.list[0].problem;
    without = finals_with(&slowest, problem[0] + 1, problem[1]);
    with = finals_with(&slowest, problem[0], problem[1]);
    CHECK(without > 0);
    CHECK_INT(with, without + 7);
    shmt_tune_free(outcome);
}

/* One configuration that won two problems is tried once: a second try of it
 * while it is in the air would wait for itself. */
static void one_that_won_twice_is_tried_once(void)
{
    struct shmt_target *const target = fixture_live(toy, 2);
    struct shmt_winners twice = {.count = 2};
    struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *outcome;

    twice.list[0] = twice.list[1] = winners.list[0];
    twice.list[0].problem[0] = 1;
    options.strategy = "random";
    options.budget_count = 1;
    options.last = &twice;
    CHECK(target != NULL);
    if (target == NULL)
        return;
    alarm(120);
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    alarm(0);
    CHECK(outcome != NULL && outcome->tried == 2);
    for (size_t k = 0; outcome != NULL && k < outcome->final_count; k++)
        CHECK(outcome->finals[k].result.resources.registers > 0);
    shmt_tune_free(outcome);
    target->operations->close(target);
}

/* The last of the list make room, winners never for others. */
static void room_is_bounded(void)
{
    const struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *const outcome = run(&options);
    struct shmt_winners many = none;
    const size_t bytes = toy->parameter_count * sizeof(shmt_config);

    if (outcome == NULL)
        return;
    many.count = SHMT_WINNERS_ROOM;
    for (size_t k = 0; k < many.count; k++) {
        many.list[k].rank = k < 8 ? 0 : 1000 + k;
        memset(many.list[k].config, 0x40 + (int)k, sizeof(shmt_config[
                   SHMT_SPACE_PARAMETERS]));
    }
    CHECK_INT(shmt_winners_add(toy, outcome, &many, NULL), SHMTUNE_OK);
    CHECK_INT(many.count, SHMT_WINNERS_ROOM);
    CHECK(memcmp(many.list[0].config, winners.list[0].config, bytes) == 0);
    CHECK_INT(many.list[8].rank, 0);
    CHECK(memcmp(many.list[8 + winners.count - 1].config,
                 winners.list[winners.count - 1].config, bytes) == 0);
    CHECK_INT(many.list[8 + winners.count].rank, 1008);
    shmt_tune_free(outcome);
}

/* A strategy that ends at once does not keep them from being tried. */
static void all_of_them_are_tried(void)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *outcome;
    size_t found = 0;

    options.strategy = "random";
    options.budget_count = winners.count + 1;
    options.warm_start = &winners;
    outcome = run(&options);
    for (size_t k = 0; outcome != NULL && k < winners.count; k++) {
        uint64_t index;
        found += shmt_space_index(outcome->space, winners.list[k].config,
                                  &index) &&
                 shmt_ledger_find(outcome->ledger, index) != NULL;
    }
    CHECK(found >= winners.count / 2 && found >= 2);
    shmt_tune_free(outcome);
}

int main(void)
{
    toy = fixture_kernel("toy");
    if (toy == NULL)
        return 1;
    (void)fixture_recording(toy);
    tuning = prepare();
    CHECK_RUN(the_winner_once);
    CHECK_RUN(first_and_last);
    CHECK_RUN(the_budget_holds);
    CHECK_RUN(strategies_know_them);
    CHECK_RUN(the_slow_leave_the_finals);
    CHECK_RUN(a_tuning_names_its_winners);
    CHECK_RUN(what_could_be_chosen_is_tried);
    CHECK_RUN(two_tunings_do_not_speak_for_each_other);
    CHECK_RUN(who_won_here_defends_it);
    CHECK_RUN(one_that_won_twice_is_tried_once);
    CHECK_RUN(room_is_bounded);
    CHECK_RUN(all_of_them_are_tried);
    shmt_kernel_free(toy);
    return CHECK_END();
}
