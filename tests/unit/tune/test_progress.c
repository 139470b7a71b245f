/* SPDX-License-Identifier: MIT */
/* The line that says how far a run is. */
#include <math.h>

#include "tests/support/check.h"
#include "tune/progress.h"

static uint64_t verdicts[SHMT_VERDICT_COUNT];

static struct shmt_tune_progress halfway(void)
{
    memset(verdicts, 0, sizeof verdicts);
    verdicts[SHMT_VERDICT_OK] = 290;
    verdicts[SHMT_VERDICT_WRONG] = 4;
    verdicts[SHMT_VERDICT_TOO_LARGE] = 18;
    return (struct shmt_tune_progress){
        .kernel = "transpose", .size = "rows=1024 cols=1024",
        .phase = "search", .done = 312, .total = 624, .elapsed_s = 30,
        .budget_s = INFINITY, .best_us = 52.125, .default_us = 68.2,
        .verdicts = verdicts,
    };
}

static const char *line_of(const struct shmt_tune_progress *now, size_t width)
{
    static struct shmt_text text;
    shmt_text_clear(&text);
    shmt_progress_line(now, width, &text);
    return shmt_text_string(&text);
}

static void says_it_all(void)
{
    struct shmt_tune_progress now = halfway();
    CHECK_TEXT(line_of(&now, 0),
               "transpose rows=1024 cols=1024  312/624  best 52.12 us (1.31x "
               "default)  18 too_large, 4 wrong  0:30 left");
    now.phase = "finals";
    CHECK_HAS(line_of(&now, 0), "cols=1024  finals  312/624");
}

static void what_is_not_known(void)
{
    struct shmt_tune_progress now = halfway();
    now.total = UINT64_MAX;
    now.best_us = now.default_us = -1;
    memset(verdicts, 0, sizeof verdicts);
    CHECK_TEXT(line_of(&now, 0), "transpose rows=1024 cols=1024  312");
}

static void the_end(void)
{
    struct shmt_tune_progress now = halfway();
    CHECK(fabs(shmt_progress_left(&now) - 30) < 1e-9);
    now.budget_s = 40;
    CHECK(fabs(shmt_progress_left(&now) - 10) < 1e-9);
    now.elapsed_s = 50;
    CHECK(fabs(shmt_progress_left(&now)) < 1e-9);
    now.budget_s = INFINITY;
    now.done = 0;
    CHECK(shmt_progress_left(&now) < 0);
    /* What elapsed is not of the finals alone. */
    now = halfway();
    now.phase = "finals";
    CHECK(shmt_progress_left(&now) < 0);
    now.budget_s = 40;
    CHECK(fabs(shmt_progress_left(&now) - 10) < 1e-9);
    now = halfway();
    now.elapsed_s = 7322;
    CHECK_HAS(line_of(&now, 0), "2:02:02 left");
    /* Seconds of a recording are nobody's to wait for. */
    now.recorded = true;
    CHECK(strstr(line_of(&now, 0), "left") == NULL);
    CHECK(shmt_progress_left(&now) < 0);
}

static void fits_any_width(void)
{
    const struct shmt_tune_progress now = halfway();
    for (size_t width = 1; width < 130; width++)
        CHECK(strlen(line_of(&now, width)) <= width);
    CHECK_TEXT(line_of(&now, 90),
               "transpose  312/624  best 52.12 us (1.31x default)  "
               "18 too_large, 4 wrong  0:30 left");
    CHECK_TEXT(line_of(&now, 79),
               "transpose  312/624  best 52.12 us (1.31x default)  0:30 left");
    CHECK_TEXT(line_of(&now, 55),
               "transpose  312/624  best 52.12 us (1.31x default)");
    CHECK_TEXT(line_of(&now, 40), "transpose  312/624  best 52.12 us");
    CHECK_TEXT(line_of(&now, 32), "transpose  312/624");
}

/* Its size tells a line from those beside it. */
static void one_of_several_keeps_its_size(void)
{
    struct shmt_tune_progress now = halfway();

    now.several = true;
    for (size_t width = 1; width < 130; width++)
        CHECK(strlen(line_of(&now, width)) <= width);
    CHECK_TEXT(line_of(&now, 84),
               "transpose rows=1024 cols=1024  312/624  best 52.12 us (1.31x "
               "default)  0:30 left");
    CHECK_TEXT(line_of(&now, 79),
               "transpose rows=1024 cols=1024  312/624  best 52.12 us  "
               "0:30 left");
    CHECK_TEXT(line_of(&now, 60),
               "transpose rows=1024 cols=1024  312/624  best 52.12 us");
    CHECK_TEXT(line_of(&now, 40), "transpose  312/624  best 52.12 us");
}

int main(void)
{
    CHECK_RUN(says_it_all);
    CHECK_RUN(what_is_not_known);
    CHECK_RUN(the_end);
    CHECK_RUN(fits_any_width);
    CHECK_RUN(one_of_several_keeps_its_size);
    return CHECK_END();
}
