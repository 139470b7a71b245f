/* SPDX-License-Identifier: MIT */
/*
 * progress: formats the progress line (progress.h) and estimates the time left
 * from the rate so far.  Pure.  Called by command/tune_show.c and tests.
 */
#include "tune/progress.h"

#include <math.h>
#include <string.h>

double shmt_progress_left(const struct shmt_tune_progress *now)
{
    double left = -1;

    if (now->recorded)
        return left;
    /* What elapsed is of the whole run. */
    if (strcmp(now->phase, "search") == 0 && now->total != UINT64_MAX &&
        now->done > 0 && now->elapsed_s > 0 && now->done <= now->total)
        left = now->elapsed_s * (double)(now->total - now->done) /
               (double)now->done;
    if (isfinite(now->budget_s)) {
        const double budget = fmax(now->budget_s - now->elapsed_s, 0);
        left = left < 0 ? budget : fmin(left, budget);
    }
    return left;
}

static void add_kernel(const struct shmt_tune_progress *now,
                       struct shmt_text *text)
{
    shmt_text_add(text, now->kernel);
}

static void add_size(const struct shmt_tune_progress *now,
                     struct shmt_text *text)
{
    shmt_text_addf(text, " %s", now->size);
}

static void add_done(const struct shmt_tune_progress *now,
                     struct shmt_text *text)
{
    if (strcmp(now->phase, "search") != 0)
        shmt_text_addf(text, "  %s", now->phase);
    shmt_text_addf(text, "  %llu", (unsigned long long)now->done);
    if (now->total != UINT64_MAX)
        shmt_text_addf(text, "/%llu", (unsigned long long)now->total);
}

static void add_best(const struct shmt_tune_progress *now,
                     struct shmt_text *text)
{
    if (now->best_us < 0)
        return;
    shmt_text_add(text, "  best ");
    shmt_text_add_us(text, now->best_us);
}

static void add_gain(const struct shmt_tune_progress *now,
                     struct shmt_text *text)
{
    if (now->default_us > 0 && now->best_us > 0)
        shmt_text_addf(text, " (%.2fx default)",
                       now->default_us / now->best_us);
}

void shmt_progress_failures(const uint64_t *verdicts, const char *before,
                            struct shmt_text *text)
{
    for (int v = 0; v < SHMT_VERDICT_COUNT; v++) {
        if (verdicts[v] == 0 || v == SHMT_VERDICT_OK ||
            v == SHMT_VERDICT_SLOW || v == SHMT_VERDICT_NOT_RECORDED)
            continue;
        shmt_text_addf(text, "%s%llu %s", before,
                       (unsigned long long)verdicts[v],
                       shmt_verdict_word((enum shmt_verdict)v));
        before = ", ";
    }
}

static void add_failures(const struct shmt_tune_progress *now,
                         struct shmt_text *text)
{
    shmt_progress_failures(now->verdicts, "  ", text);
}

static void add_left(const struct shmt_tune_progress *now,
                     struct shmt_text *text)
{
    const double left = shmt_progress_left(now);
    long seconds;

    if (left < 0 || left > 1e7 ||
        strcmp(now->phase, "search") != 0)
        return;
    seconds = lround(left);
    if (seconds >= 3600)
        shmt_text_addf(text, "  %ld:%02ld:%02ld left", seconds / 3600,
                       seconds / 60 % 60, seconds % 60);
    else
        shmt_text_addf(text, "  %ld:%02ld left", seconds / 60, seconds % 60);
}

void shmt_progress_line(const struct shmt_tune_progress *now, size_t width,
                        struct shmt_text *text)
{
    /* The parts in the order in which they are shown, and the order in which
     * they are dropped when the line is too long: of one of several lines the
     * size is what tells it from the others. */
    static void (*const parts[])(const struct shmt_tune_progress *,
                                 struct shmt_text *) = {
        add_kernel, add_size, add_done, add_best, add_gain, add_failures,
        add_left
    };
    static const size_t orders[2][5] = {{1, 5, 6, 4, 3}, {5, 4, 6, 1, 3}};
    const size_t *const expendable = orders[now->several];
    bool shown[] = {true, true, true, true, true, true, true};
    struct shmt_text line = {0};

    for (size_t gone = 0;; gone++) {
        shmt_text_clear(&line);
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            if (shown[k])
                parts[k](now, &line);
        if (width == 0 || line.length <= width ||
            gone == sizeof orders[0] / sizeof *orders[0])
            break;
        shown[expendable[gone]] = false;
    }
    if (width != 0 && line.length > width)
        shmt_text_add_bytes(text, line.data, width);
    else
        shmt_text_add(text, shmt_text_string(&line));
    shmt_text_free(&line);
}
