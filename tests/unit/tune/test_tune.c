/* SPDX-License-Identifier: MIT */
/* Whole runs on a recorded device: what they find, and what they keep. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"
#include "tune/output.h"

static struct shmt_kernel *toy;

static void check_same(char *text, const char *expected)
{
    CHECK_TEXT(text, expected);
    free(text);
}

/* -- what is found -------------------------------------------------------- */

/* The best of the recording, by looking at it. */
static double best_recorded(void)
{
    struct shmt_journal *journal;
    double best = INFINITY;

    CHECK_INT(shmt_journal_read(fixture_recording(toy), toy, &journal, NULL),
              SHMTUNE_OK);
    for (size_t k = 0; k < journal->count; k++)
        if (journal->records[k].result->verdict == SHMT_VERDICT_OK)
            best = fmin(best, journal->records[k].result->time_us);
    shmt_journal_free(journal);
    return best;
}

/* The sample that so many others are less than; of equals any. */
static double sample_at(const struct shmt_result *result, int place)
{
    for (int k = 0; k < result->sample_count; k++) {
        int less = 0, equal = 0;

        for (int j = 0; j < result->sample_count; j++) {
            less += result->samples_us[j] < result->samples_us[k];
            equal += j != k && !(result->samples_us[j] <
                                 result->samples_us[k]) &&
                     !(result->samples_us[j] > result->samples_us[k]);
        }
        if (less <= place && place <= less + equal)
            return (double)result->samples_us[k];
    }
    return NAN;
}

static void exhaustive_finds_the_best(void)
{
    const double best = best_recorded();
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *const target =
        fixture_replay(toy, fixture_recording(toy), 4);
    struct shmt_tune_outcome *const outcome =
        fixture_run(target, &options, SHMTUNE_OK);

    CHECK(outcome != NULL);
    if (outcome == NULL)
        return;
    CHECK_INT(outcome->tried, shmt_space_count(outcome->space));
    CHECK(fabs(outcome->best_us - best) < 1e-9);
    CHECK(outcome->finals[0].result.time_us <= 1.011 * best);
    CHECK(outcome->final_count >= 2);
    CHECK(outcome->tie_count >= 1);
    CHECK_INT(outcome->taken, outcome->tried);
    for (size_t k = 0; k < outcome->final_count; k++)
        for (size_t j = 0; j < k; j++)
            CHECK(outcome->finals[k].figures.index !=
                  outcome->finals[j].figures.index);
    CHECK(outcome->default_us > outcome->best_us);
    CHECK(outcome->busy_s > 0);
    CHECK(outcome->busy_s <= outcome->search_s + 1e-9);
    CHECK(outcome->elapsed_s >= outcome->search_s);
    CHECK_INT(outcome->finals[0].result.sample_count, 7);   /* as recorded */
    CHECK(fabs(outcome->spread - (sample_at(&outcome->finals[0].result, 5) -
                                  sample_at(&outcome->finals[0].result, 1)) /
                                     sample_at(&outcome->finals[0].result, 3)) <
          1e-9);
    CHECK(outcome->spread > 0);
    shmt_tune_free(outcome);
    target->operations->close(target);
}

/* With every strategy there is: a seed repeats a run to the byte. */
static void a_seed_repeats_a_run(void)
{
    const struct shmt_strategy *strategy;

    for (size_t k = 0; (strategy = shmt_strategy_at(k)) != NULL; k++) {
        struct shmt_tune_options options = fixture_options();
        char *first, *journals[2];
        size_t sizes[2];
        options.strategy = strategy->name;
        options.budget_count = 60;
        options.resume = false;
        options.journal = fixture_path("seed.journal");
        first = fixture_replayed(toy, &options, 3);
        journals[0] = fixture_read(options.journal, &sizes[0]);
        check_same(fixture_replayed(toy, &options, 3), first);
        journals[1] = fixture_read(options.journal, &sizes[1]);
        CHECK_INT(sizes[0], sizes[1]);
        CHECK_TEXT(journals[1], journals[0]);
        CHECK_HAS(first, "tried 60 ");
        free(first);
        free(journals[0]);
        free(journals[1]);
    }
}

static void budgets(void)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *const target =
        fixture_replay(toy, fixture_recording(toy), 2);
    struct shmt_tune_outcome *outcome;

    options.strategy = "random";
    options.budget_count = 1;
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    CHECK(outcome != NULL && outcome->tried == 1);
    CHECK(outcome != NULL && outcome->finals[0].figures.is_default);
    shmt_tune_free(outcome);

    options.budget_count = UINT64_MAX;
    options.budget_s = 0.5;
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    CHECK(outcome != NULL && outcome->tried > 10 && outcome->tried < 150);
    CHECK(outcome != NULL && outcome->search_s >= 0.3);
    CHECK(outcome != NULL && outcome->elapsed_s <= 0.5);
    shmt_tune_free(outcome);
    target->operations->close(target);
}

/* -- the default ---------------------------------------------------------- */

/* faults.yaml with another default. */
static enum shmtune_status run_default(const char *word,
                                       struct shmt_error *err)
{
    struct shmt_tune_options options = fixture_options();
    char source[1024], *text, *at, *edited;
    struct shmt_kernel *kernel = NULL;
    struct shmt_target *target;
    struct shmt_tune_outcome *outcome = NULL;
    size_t size;
    enum shmtune_status status;

    snprintf(source, sizeof source, "%s/tests/fake/data/",
             getenv("SHMT_SRCDIR") == NULL ? "." : getenv("SHMT_SRCDIR"));
    snprintf(source + strlen(source), 64, "toy.cu");
    text = fixture_read(source, &size);
    fixture_write(fixture_path("toy.cu"), text, size);
    free(text);
    memcpy(source + strlen(source) - 6, "faults.yaml", 12);
    text = fixture_read(source, &size);
    at = strstr(text, "default: good");
    edited = malloc(size + 64);
    snprintf(edited, size + 64, "%.*sdefault: %s%s", (int)(at - text), text,
             word, at + strlen("default: good"));
    fixture_write(fixture_path("edited.yaml"), edited, strlen(edited));
    free(text);
    free(edited);
    status = shmt_kernel_read(fixture_path("edited.yaml"), &kernel, err);
    if (status != SHMTUNE_OK)
        return status;
    target = fixture_live(kernel, 1);
    options.budget_count = 3;
    status = shmt_tune_run(target, kernel->sizes[0], &options, &outcome, err);
    shmt_tune_free(outcome);
    target->operations->close(target);
    shmt_kernel_free(kernel);
    return status;
}

static void a_default_that_fails(void)
{
    struct shmt_error err = {0};

    CHECK_INT(run_default("wrong", &err), SHMTUNE_WRONG_RESULT);
    CHECK_HAS(err.text, "BEHAVE=wrong");
    CHECK_HAS(err.text, "planted");
    CHECK_INT(run_default("die", &err), SHMTUNE_WRONG_RESULT);
    CHECK_INT(run_default("compile_error", &err), SHMTUNE_WRONG_RESULT);
    CHECK_HAS(err.text, "toy.cu(3)");
    CHECK_INT(run_default("static_lie", &err), SHMTUNE_INVALID_FILE);
    /* A limit of the device is no mistake of the spec. */
    CHECK_INT(run_default("too_large", &err), SHMTUNE_OK);
    CHECK_INT(run_default("not_resident", &err), SHMTUNE_OK);
    CHECK_INT(run_default("out_of_memory", &err), SHMTUNE_OK);
}

static void nothing_works(void)
{
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *const target =
        fixture_replay(toy, fixture_recording(toy), 1);
    struct shmt_tune_outcome *outcome = NULL;
    struct shmt_error err = {0};

    options.policy.min_occupancy_percent = 100;
    options.policy.max_spill_bytes = 0;
    options.budget_count = 1;
    CHECK_INT(shmt_tune_run(target, toy->sizes[0], &options, &outcome, &err),
              SHMTUNE_NO_CONFIGURATION);
    CHECK_HAS(err.text, "low_occupancy");
    CHECK(outcome == NULL);
    target->operations->close(target);
}

/* -- the tuning ----------------------------------------------------------- */

static struct shmt_tuned *entry_of(const struct shmt_tuning *tuning,
                                   int64_t n)
{
    for (size_t k = 0; k < tuning->tuned_count; k++)
        if (tuning->tuned[k]->size[0].value.i == n)
            return tuning->tuned[k];
    return NULL;
}

static void deliver(const char *path, size_t size, const char *digest,
                    const char *expected_notice)
{
    struct shmt_target *const target = fixture_live(toy, 2);
    struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *outcome = NULL;
    struct shmt_error err = {0};
    struct shmt_text notice = {0};

    options.budget_count = 20;
    CHECK_INT(shmt_tune_run(target, toy->sizes[size], &options, &outcome,
                            &err), SHMTUNE_OK);
    if (outcome != NULL) {
        if (digest != NULL)
            snprintf(outcome->header.digest, SHMT_DIGEST_TEXT, "%s", digest);
        CHECK_INT(shmt_output_write_tuning(toy, outcome, path, &notice, &err),
                  SHMTUNE_OK);
        CHECK_TEXT(err.text, "");
        CHECK_HAS(shmt_text_string(&notice), expected_notice);
        CHECK_INT(notice.length > 0, expected_notice[0] != '\0');
    }
    shmt_text_free(&notice);
    shmt_tune_free(outcome);
    target->operations->close(target);
}

/* A tuning of so many sizes. */
static void check_sizes(const char *name, const char *digest, size_t count)
{
    struct shmt_tuning *tuning = NULL;
    struct shmt_error err = {0};

    CHECK_INT(shmt_tuning_read(fixture_path(name), &tuning, &err),
              SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    if (tuning == NULL)
        return;
    CHECK_TEXT(tuning->digest, digest);
    CHECK_INT(tuning->tuned_count, count);
    shmt_tuning_free(tuning);
}

static void other_sizes_stay(void)
{
    static const char other[] =
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const char *const path = fixture_path("toy-tuning.yaml");
    struct shmt_tuning *tuning = NULL;
    struct shmt_tuned *one;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_error err = {0};

    deliver(path, 0, NULL, "");
    deliver(path, 1, NULL, "");
    deliver(path, 0, NULL, "");
    CHECK_INT(shmt_tuning_read(path, &tuning, &err), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    if (tuning == NULL)
        return;
    CHECK_INT(tuning->tuned_count, 2);
    CHECK_TEXT(tuning->kernel, "toy");
    CHECK_TEXT(tuning->digest, toy->digest);
    one = entry_of(tuning, 4096);
    CHECK(one != NULL && entry_of(tuning, 65536) != NULL);
    CHECK_INT(shmt_tuning_config(toy, one->settings, one->setting_count,
                                 config, &err), SHMTUNE_OK);
    CHECK_INT(one->tried, 20);
    CHECK(one->default_us >= one->result.time_us);
    /* Bytes over the bandwidth: two transfers a clock. */
    CHECK(fabs(one->floor_us / (2 * 4 * 4096 * 8e3 /
                                (2.0 * tuning->device.memory_clock_khz *
                                 tuning->device.memory_bus_bits)) - 1) <
          1e-3);
    CHECK_TEXT(one->strategy, "exhaustive");
    shmt_tuning_free(tuning);
    /* Of other sources: they do not mix, and none is lost. */
    deliver(path, 0, other, "it is of other sources of the kernel; the old "
            "one is now ");
    deliver(path, 0, NULL, "toy-tuning.yaml.old.2");
    check_sizes("toy-tuning.yaml", toy->digest, 1);
    check_sizes("toy-tuning.yaml.old", toy->digest, 2);
    check_sizes("toy-tuning.yaml.old.2", other, 1);
}

static void a_stranger_is_not_overwritten(void)
{
    const char *const path = fixture_path("stranger.yaml");
    struct shmt_target *const target =
        fixture_replay(toy, fixture_recording(toy), 1);
    struct shmt_tune_options options = fixture_options();
    struct shmt_tune_outcome *outcome;
    struct shmt_error err = {0};
    struct shmt_text notice = {0};

    options.budget_count = 3;
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    fixture_write(path, "shopping: [milk]\n", 17);
    CHECK_INT(shmt_output_write_tuning(toy, outcome, path, &notice, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_TEXT(shmt_text_string(&notice), "");
    CHECK_HAS(err.text, "stranger.yaml");
    shmt_tune_free(outcome);
    target->operations->close(target);
}

int main(void)
{
    toy = fixture_kernel("toy");
    if (toy == NULL)
        return 1;
    (void)fixture_recording(toy);
    CHECK_RUN(exhaustive_finds_the_best);
    CHECK_RUN(a_seed_repeats_a_run);
    CHECK_RUN(budgets);
    CHECK_RUN(a_default_that_fails);
    CHECK_RUN(nothing_works);
    CHECK_RUN(other_sizes_stay);
    CHECK_RUN(a_stranger_is_not_overwritten);
    shmt_kernel_free(toy);
    return CHECK_END();
}
