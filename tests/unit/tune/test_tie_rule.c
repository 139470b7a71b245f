/* SPDX-License-Identifier: MIT */
/* Who wins the finals, from figures alone. */
#include "tests/support/check.h"
#include "tune/tie_rule.h"

enum { PASSES = 7 };

/* `us` in each pass, with `noise` (relative) that differs by pass and not by
 * finalist when `common`. */
static struct shmt_tune_finalist finalist(uint64_t index, double us,
                                          double noise,
                                          bool common)
{
    struct shmt_tune_finalist one = {.index = index};
    for (int p = 0; p < PASSES; p++) {
        const int phase = common ? p : p + (int)index;
        one.pass_us[p] = us * (1 + noise * (phase % 3 - 1));
    }
    return one;
}

static void the_fastest_wins(void)
{
    struct shmt_tune_finalist f[] = {finalist(0, 12, 0, true),
                                     finalist(1, 10, 0, true),
                                     finalist(2, 11, 0, true)};
    CHECK_INT(shmt_tune_choose_winner(f, 3, PASSES), 1);
    CHECK(!f[0].tied && f[1].tied && !f[2].tied);
    CHECK(f[0].middle_us > 11.99 && f[0].middle_us < 12.01);
}

static void within_a_percent_is_a_tie(void)
{
    struct shmt_tune_finalist f[] = {finalist(7, 10.09, 0, true),
                                     finalist(9, 10.00, 0, true),
                                     finalist(8, 10.11, 0, true)};
    /* Equals: the lower index. */
    CHECK_INT(shmt_tune_choose_winner(f, 3, PASSES), 0);
    CHECK(f[0].tied && f[1].tied && !f[2].tied);
}

/* What is short is not timed to a percent. */
static void within_a_few_stamps_is_a_tie(void)
{
    struct shmt_tune_finalist f[] = {finalist(0, 5.092, 0, true),
                                     finalist(1, 5.0, 0, true),
                                     finalist(2, 5.108, 0, true)};
    CHECK_INT(shmt_tune_choose_winner(f, 3, PASSES), 0);
    CHECK(f[0].tied && f[1].tied && !f[2].tied);
}

/* 3 % apart, but the noise is as large and their order changes.  What seems
 * faster wins all the same; the default would. */
static void noise_is_a_tie(void)
{
    struct shmt_tune_finalist f[] = {finalist(0, 10.3, 0.04, false),
                                     finalist(1, 10.0, 0.04, false)};
    CHECK_INT(shmt_tune_choose_winner(f, 2, PASSES), 1);
    CHECK(f[0].tied && f[1].tied);
    f[0].is_default = true;
    CHECK_INT(shmt_tune_choose_winner(f, 2, PASSES), 0);
}

/* The same noise in both, pass by pass: clearly slower. */
static void common_noise_is_none(void)
{
    struct shmt_tune_finalist f[] = {finalist(0, 10.3, 0.04, true),
                                     finalist(1, 10.0, 0.04, true)};
    CHECK_INT(shmt_tune_choose_winner(f, 2, PASSES), 1);
    CHECK(!f[0].tied);
}

/* Of seven passes a slower one may win one, and no more. */
static void one_pass_of_seven_decides(void)
{
    static const double fast[] = {10.00, 10.01, 10.02, 10.03, 10.04, 10.05,
                                  10.06};

    for (int won = 0; won <= 3; won++) {
        struct shmt_tune_finalist f[] = {finalist(0, 10.3, 0, true),
                                         finalist(1, 10, 0, true)};

        for (int p = 0; p < PASSES; p++) {
            f[1].pass_us[p] = fast[p];
            f[0].pass_us[p] = p < won ? 9.9 : 10.45;
        }
        CHECK_INT(shmt_tune_choose_winner(f, 2, PASSES), 1);
        CHECK(f[0].tied == (won > 1) && f[1].tied);
    }
}

/* Noise never makes what is far slower equal. */
static void noise_has_a_limit(void)
{
    struct shmt_tune_finalist f[] = {finalist(0, 11, 0.2, false),
                                     finalist(1, 10, 0.2, false)};
    CHECK_INT(shmt_tune_choose_winner(f, 2, PASSES), 1);
}

static void the_default_does_no_harm(void)
{
    struct shmt_tune_finalist f[] = {finalist(0, 10.00, 0, true),
                                     finalist(5, 10.05, 0, true)};
    f[1].is_default = true;
    f[1].spill_bytes = 100;
    CHECK_INT(shmt_tune_choose_winner(f, 2, PASSES), 1);
    f[1] = finalist(5, 10.2, 0, true);
    f[1].is_default = true;
    CHECK_INT(shmt_tune_choose_winner(f, 2, PASSES), 0);
}

static void among_equals(void)
{
    struct shmt_tune_finalist f[] = {finalist(0, 10, 0, true),
                                     finalist(1, 10, 0, true),
                                     finalist(2, 10, 0, true)};
    f[0].spill_bytes = 8;
    f[1].shared_bytes = 4096;
    f[2].shared_bytes = 2048;
    CHECK_INT(shmt_tune_choose_winner(f, 3, PASSES), 2);
    f[1].shared_bytes = 2048;
    CHECK_INT(shmt_tune_choose_winner(f, 3, PASSES), 1);
}

static void the_order_does_not_matter(void)
{
    for (int first = 0; first < 3; first++) {
        struct shmt_tune_finalist f[3];
        size_t winner;
        for (int k = 0; k < 3; k++) {
            const int who = (k + first) % 3;
            f[k] = finalist((uint64_t)who, 10 + 0.04 * who, 0, true);
            f[k].shared_bytes = 100 - who;
        }
        winner = shmt_tune_choose_winner(f, 3, PASSES);
        CHECK_INT(f[winner].index, 2);
    }
}

static void one_is_enough(void)
{
    struct shmt_tune_finalist f[] = {finalist(3, 10, 0.1, true)};
    CHECK_INT(shmt_tune_choose_winner(f, 1, PASSES), 0);
    CHECK(f[0].tied);
    CHECK_INT(shmt_tune_choose_winner(f, 1, 1), 0);
}

/* As buffers in one place and another, pass by pass; by their medians the
 * first would be 4 % slower. */
static void passes_in_turns_are_between(void)
{
    struct shmt_tune_finalist f[] = {finalist(0, 10, 0, true),
                                     finalist(1, 10, 0, true)};

    for (int p = 0; p < PASSES; p++) {
        f[0].pass_us[p] = p % 2 == 0 ? 10.2 : 9.8;
        f[1].pass_us[p] = p % 2 == 0 ? 9.8 : 10.2;
    }
    CHECK_INT(shmt_tune_choose_winner(f, 2, PASSES), 0);
    CHECK(f[0].middle_us > 9.99 && f[0].middle_us < 10.01);
    CHECK(f[0].tied && f[1].tied);
}

int main(void)
{
    CHECK_RUN(the_fastest_wins);
    CHECK_RUN(within_a_percent_is_a_tie);
    CHECK_RUN(within_a_few_stamps_is_a_tie);
    CHECK_RUN(noise_is_a_tie);
    CHECK_RUN(common_noise_is_none);
    CHECK_RUN(one_pass_of_seven_decides);
    CHECK_RUN(noise_has_a_limit);
    CHECK_RUN(the_default_does_no_harm);
    CHECK_RUN(among_equals);
    CHECK_RUN(the_order_does_not_matter);
    CHECK_RUN(one_is_enough);
    CHECK_RUN(passes_in_turns_are_between);
    return CHECK_END();
}
