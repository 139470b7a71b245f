/* SPDX-License-Identifier: MIT */
/*
 * Numbers of candidates by name, requirements on them, and Pareto sets, which
 * are compared with those that trying every pair gives.
 */
#include <math.h>

#include "figure/figure.h"
#include "tests/support/check.h"
#include "tests/support/spec_fixture.h"

static struct shmt_kernel *kernel;
static struct shmt_error err;
static const int64_t problem[SHMT_KERNEL_DIMENSIONS] = {64, 32, 3};
static shmt_config config[SHMT_SPACE_PARAMETERS];

enum { MOST = 8 };

/* Up to MOST texts, NULL behind the last. */
static struct shmt_figures *make(const char *const *metrics,
                                 const char *const *required,
                                 const char *pareto)
{
    struct shmt_figure_ask ask = {.metrics = metrics, .requires = required,
                                  .pareto = pareto};
    struct shmt_figures *out = NULL;

    while (metrics[ask.metric_count] != NULL)
        ask.metric_count++;
    while (required[ask.require_count] != NULL)
        ask.require_count++;
    err.text[0] = '\0';
    if (shmt_figures_new(kernel, &ask, &out, &err) != SHMTUNE_OK) {
        CHECK_INT(err.status, SHMTUNE_INVALID_ARGUMENT);
        CHECK(out == NULL);
    }
    return out;
}

#define LIST(...) ((const char *const[MOST]){__VA_ARGS__})
#define NONE LIST(NULL)

static struct shmt_result measured(void)
{
    struct shmt_result result;

    shmt_result_clear(&result);
    result.resources.registers = 40;
    result.resources.spill_store_bytes = 16;
    result.resources.shared_static_bytes = 1024;
    result.shared_dynamic_bytes = 512;
    result.occupancy_percent = 75;
    result.resident_blocks = 6;
    result.time_us = 12.5;
    result.excess = 0.25;
    return result;
}

static double value_of(const char *metric, const struct shmt_result *result)
{
    const struct shmt_figure_candidate candidate = {problem, config, result};
    struct shmt_figures *const figures = make(LIST(metric), NONE, NULL);
    double value = -1;

    if (figures == NULL)
        return -1;
    value = shmt_figures_metric(figures, 0, &candidate);
    shmt_figures_free(figures);
    return value;
}

static void numbers_by_name(void)
{
    static const struct {
        const char *metric;
        double value;
    } cases[] = {
        {"time_us", 12.5}, {"time", 12.5}, {" registers ", 40},
        {"spills", 16}, {"shared_bytes", 1536},
        {"shared_dynamic_bytes", 512}, {"occupancy", 75},
        {"worst_error", 0.25}, {"gb_per_s", 6 * 64 * 32 / 12.5 / 1e3},
        {"each = shared_bytes / (BLOCK * 2)", 12}, {"r=registers//3", 13},
        {"both = rows + max(TILE, resident_blocks)", 72},
        {"gain = 25 / time", 2},
    };
    const struct shmt_result result = measured();

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const double value = value_of(cases[k].metric, &result);

        if (!(fabs(value - cases[k].value) < 1e-9)) {
            check_fail(cases[k].metric, (int)k, err.text);
            printf("#   got %g\n", value);
        }
    }
}

static void what_is_not_known_is_nan(void)
{
    struct shmt_result result;

    shmt_result_clear(&result);
    CHECK(isnan(value_of("registers", &result)));
    CHECK(isnan(value_of("gb_per_s", &result)));
    CHECK(isnan(value_of("gflop_per_s", &result)));
    CHECK(isnan(value_of("shared_bytes", &result)));
    CHECK(isnan(value_of("a = 1 if registers > 3 else 2", &result)));
    CHECK(isnan(value_of("a = 1 / (rows - 64)", &result)));
    CHECK(isnan(value_of("a = MEMORY", &result)));
    CHECK(fabs(value_of("a = rows / 2", &result) - 32) < 1e-9);
    result.shared_dynamic_bytes = 7;
    CHECK(fabs(value_of("shared_bytes", &result) - 7) < 1e-9);
}

static void refused(const char *metric, const char *required,
                    const char *pareto, const char *message)
{
    struct shmt_figures *const figures =
        make(LIST(metric), LIST(required), pareto);

    CHECK(figures == NULL);
    CHECK_HAS(err.text, message);
    shmt_figures_free(figures);
}

static void refusals(void)
{
    refused("speed", NULL, NULL, "--metric: \"speed\" is no number of a "
            "candidate; they are time_us, gb_per_s");
    refused("registers * 2", NULL, NULL, "an expression needs a name");
    refused("registers == 2", NULL, NULL, "an expression needs a name");
    refused("registers = 2", NULL, NULL, "registers is a name already");
    refused("TILE = 2", NULL, NULL, "TILE is a name already");
    refused("2a = 2", NULL, NULL, "expected NAME = EXPRESSION");
    refused("a = b + 1", NULL, NULL, "--metric: character");
    refused("a23456789012345678901234567890123456789012345678901234567890"
            "12345 = 1", NULL, NULL, "at most 64 characters");
    refused(NULL, "registers", "time_us", "expected two numbers or more");
    refused(NULL, "registers = 3", NULL, "expected a comparison");
    refused(NULL, "registers <", NULL, "--require: character");
    refused(NULL, "speed > 3", NULL, "unknown name 'speed'");
    refused(NULL, "gflop_per_s > 3", NULL, "does not say how many flops");
    refused(NULL, NULL, "time_us", "expected two numbers or more");
    refused(NULL, NULL, "time_us,", "\"\" is no number");
    refused(NULL, NULL, "time_us,time", "found time_us twice");
    refused(NULL, NULL, "time_us,TILE", "\"TILE\" is no number");
    refused(NULL, NULL, "time_us:most,registers", "expected min or max");
    refused(NULL, NULL, "time_us,registers,spills,occupancy,excess",
            "there are more than 4 numbers");
}

static enum shmt_verdict judged(const char *required,
                                enum shmt_figure_stage stage,
                                struct shmt_result *result)
{
    const struct shmt_figure_candidate candidate = {problem, config, result};
    struct shmt_figures *const figures =
        make(NONE, LIST("rows > 1", required), NULL);
    const bool good =
        figures != NULL &&
        shmt_figures_judge(figures, stage, &candidate, result);

    CHECK(figures != NULL);
    CHECK_INT(good, result->verdict == SHMT_VERDICT_OK);
    shmt_figures_free(figures);
    return result->verdict;
}

static void requirements_are_judged_in_time(void)
{
    struct shmt_result result = measured();

    CHECK_INT(judged("registers <= 40", SHMT_FIGURE_MEASURED, &result),
              SHMT_VERDICT_OK);
    CHECK_INT(judged("registers < 40", SHMT_FIGURE_CHOSEN, &result),
              SHMT_VERDICT_OK);
    CHECK_INT(judged("registers < 40", SHMT_FIGURE_COMPILED, &result),
              SHMT_VERDICT_UNMET);
    CHECK_TEXT(result.reason, "--require: 40 < 40 is false where registers "
               "= 40");
    result = measured();
    CHECK_INT(judged("registers < 40 and time < 99", SHMT_FIGURE_COMPILED,
                     &result), SHMT_VERDICT_OK);
    CHECK_INT(judged("registers < 40 and time < 99", SHMT_FIGURE_MEASURED,
                     &result), SHMT_VERDICT_UNMET);
    CHECK(result.time_us > 12);
    result = measured();
    CHECK_INT(judged("BLOCK > 64", SHMT_FIGURE_CHOSEN, &result),
              SHMT_VERDICT_UNMET);
    result = measured();
    result.resources.registers = -1;
    CHECK_INT(judged("registers < 4 or TILE > 0", SHMT_FIGURE_COMPILED,
                     &result), SHMT_VERDICT_UNMET);
    CHECK_HAS(result.reason, "registers is not known of it");
    result = measured();
    CHECK_INT(judged("1 / (registers - 40) > 0", SHMT_FIGURE_COMPILED,
                     &result), SHMT_VERDICT_UNMET);
    CHECK_HAS(result.reason, "--require: character");
}

static void requirements_are_one_text(void)
{
    struct shmt_figures *const figures =
        make(NONE, LIST("rows > 1", "registers <= 64"), NULL);

    CHECK_TEXT(shmt_figures_required(figures), "rows > 1; registers <= 64");
    CHECK_TEXT(shmt_figures_required(NULL), "");
    shmt_figures_free(figures);
}

/* -- Pareto sets ----------------------------------------------------------- */

enum { CANDIDATES = 300 };
static struct shmt_result results[CANDIDATES];
static struct shmt_figure_candidate candidates[CANDIDATES];

/* Registers are not known of one in 16, and few values make many equal. */
static void draw(uint64_t seed)
{
    struct shmt_random random;

    shmt_random_seed(&random, seed);
    for (size_t k = 0; k < CANDIDATES; k++) {
        shmt_result_clear(&results[k]);
        results[k].time_us = 1 + (double)shmt_random_below(&random, 40);
        results[k].resources.registers =
            shmt_random_below(&random, 16) == 0
                ? -1 : (int)shmt_random_below(&random, 40);
        results[k].occupancy_percent =
            (int)shmt_random_below(&random, 5) * 25;
        candidates[k] = (struct shmt_figure_candidate){problem, config,
                                                       &results[k]};
    }
}

/* By each axis: time, registers, less of occupancy. */
static int worse(const struct shmt_result *a, const struct shmt_result *b)
{
    if (b->resources.registers < 0)
        return 0;
    if (a->time_us < b->time_us || a->resources.registers <
        b->resources.registers || a->occupancy_percent > b->occupancy_percent)
        return 0;
    return a->time_us > b->time_us ||
           a->resources.registers > b->resources.registers ||
           a->occupancy_percent < b->occupancy_percent || a > b;
}

static void sets_are_those_of_all_pairs(void)
{
    struct shmt_figures *const figures =
        make(NONE, NONE, "time_us,registers,occupancy_percent");
    struct shmt_arena *const arena = shmt_arena_new();

    for (uint64_t seed = 0; seed < 40; seed++) {
        struct shmt_tuned_front front;
        size_t all = 0, found = 0;

        draw(seed);
        CHECK_INT(shmt_figures_front(figures, arena, candidates, CANDIDATES,
                                     &front, &err), SHMTUNE_OK);
        CHECK_INT(front.axis_count, 3);
        CHECK(!front.axes[0].most && front.axes[2].most);
        for (size_t k = 0; k < CANDIDATES; k++) {
            bool beaten = results[k].resources.registers < 0;

            for (size_t n = 0; n < CANDIDATES; n++)
                beaten = beaten || worse(&results[k], &results[n]);
            all += !beaten;
            for (size_t p = 0; !beaten && p < front.count; p++)
                found += !(front.points[p].at[0] < results[k].time_us) &&
                         !(front.points[p].at[0] > results[k].time_us) &&
                         (int)front.points[p].at[1] ==
                             results[k].resources.registers &&
                         (int)front.points[p].at[2] ==
                             results[k].occupancy_percent;
        }
        CHECK_INT(front.all, all);
        CHECK_INT(found, all);
        for (size_t p = 1; p < front.count; p++)
            CHECK(front.points[p - 1].at[0] <= front.points[p].at[0]);
    }
    shmt_arena_free(arena);
    shmt_figures_free(figures);
}

/* Of a long one the ends and what is between, with their configurations. */
static void long_sets_are_thinned(void)
{
    struct shmt_figures *const figures =
        make(LIST("mine = 1000 - time_us"), NONE, "time_us,mine:min");
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_tuned_front front;

    draw(1);
    for (size_t k = 0; k < CANDIDATES; k++)
        results[k].time_us = (double)(CANDIDATES - k);
    CHECK_INT(shmt_figures_front(figures, arena, candidates, CANDIDATES,
                                 &front, &err), SHMTUNE_OK);
    CHECK_INT(front.all, CANDIDATES);
    CHECK_INT(front.count, SHMT_TUNED_FRONT);
    CHECK_INT((int)front.points[0].at[0], 1);
    CHECK_INT((int)front.points[front.count - 1].at[0], CANDIDATES);
    CHECK_TEXT(front.points[0].settings[0].name, "BLOCK");
    CHECK_INT(front.points[0].settings[0].value.i, 64);
    CHECK_INT(shmt_figures_front(figures, arena, candidates, 0, &front, &err),
              SHMTUNE_OK);
    CHECK_INT(front.all, 0);
    CHECK_INT(shmt_figures_front(NULL, arena, candidates, 9, &front, &err),
              SHMTUNE_OK);
    CHECK_INT(front.axis_count, 0);
    shmt_arena_free(arena);
    shmt_figures_free(figures);
}

static void numbers_as_people_read_them(void)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {{3, "3"}, {-1.25, "-1.25"}, {12.3456, "12.35"},
                 {123456.7, "123456.7"}, {65536, "65536"}, {0, "0"}};

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shmt_text text = {0};

        shmt_figure_add(&text, cases[k].number);
        CHECK_TEXT(shmt_text_string(&text), cases[k].text);
        shmt_text_free(&text);
    }
}

int main(void)
{
    spec_begin();
    kernel = spec_read_good();
    shmt_kernel_default(kernel, config);
    CHECK_RUN(numbers_by_name);
    CHECK_RUN(what_is_not_known_is_nan);
    CHECK_RUN(refusals);
    CHECK_RUN(requirements_are_judged_in_time);
    CHECK_RUN(requirements_are_one_text);
    CHECK_RUN(sets_are_those_of_all_pairs);
    CHECK_RUN(long_sets_are_thinned);
    CHECK_RUN(numbers_as_people_read_them);
    shmt_kernel_free(kernel);
    spec_end();
    return CHECK_END();
}
