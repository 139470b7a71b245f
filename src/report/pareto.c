/* SPDX-License-Identifier: MIT */
/*
 * pareto: metrics and the Pareto set of a run, as rows, a table and a chart of
 * the page.  The set is made of the journal where one was asked for; else it is
 * the tuning's.  Called by problem.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/plot.h"
#include "report/charts.h"
#include "report/page.h"

enum { WIDTH = 360, HEIGHT = 240, LEFT = 58, MOST_POINTS = 1500 };

/* -- metrics --------------------------------------------------------------- */

/* The problem of a run in the order of its kernel. */
static bool problem_of(const struct shmt_report_run *run, int64_t *problem)
{
    const size_t count = run->spec->dimension_count;

    if (run->tuned != NULL)
        return shmt_tuning_problem(run->spec, run->tuned, problem, NULL) ==
               SHMTUNE_OK;
    memcpy(problem, run->journal->header.problem, count * sizeof *problem);
    return true;
}

/* Of the default, which the journal has, or of the winner; NAN: not known. */
static double metric_of(const struct shmt_report_run *run, size_t k,
                        bool winner)
{
    const struct shmt_report_trail *const trail = run->trail;
    const struct shmt_journal_record *const record =
        trail == NULL ? NULL : winner ? trail->best : trail->usual;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_figure_candidate candidate = {problem, config, run->best};

    if (run->figures == NULL || !problem_of(run, problem))
        return (double)NAN;
    if (winner && run->tuned != NULL) {
        if (shmt_tuning_config(run->spec, run->tuned->settings,
                               run->tuned->setting_count, config, NULL) !=
            SHMTUNE_OK)
            return (double)NAN;
    } else if (record != NULL) {
        candidate.config = record->config;
        candidate.result = record->result;
    } else {
        return (double)NAN;
    }
    return shmt_figures_metric(run->figures, k, &candidate);
}

/* All runs of a page have the same metrics, where they have any. */
static size_t metrics_of(const struct shmt_report_run *runs, size_t count,
                         const char *const **names)
{
    for (size_t k = 0; k < count; k++) {
        const size_t found = shmt_figures_metrics(runs[k].figures, names);

        if (found > 0)
            return found;
    }
    return 0;
}

static void add_number(struct shmt_text *out, double number)
{
    struct shmt_text text = {0};

    shmt_figure_add(&text, number);
    out->failed |= text.failed;
    shmt_text_addf(out, "<td class=\"x\">%s</td>", shmt_text_string(&text));
    shmt_text_free(&text);
}

void shmt_report_add_metrics(const struct shmt_report_run *runs, size_t count,
                             struct shmt_text *out)
{
    const char *const *names;
    const size_t metrics = metrics_of(runs, count, &names);

    for (size_t m = 0; m < metrics; m++) {
        shmt_text_add(out, "<tr><th scope=\"row\">");
        shmt_plot_add_escaped(out, names[m]);
        shmt_text_add(out, "</th>");
        for (size_t k = 0; k < count; k++) {
            add_number(out, metric_of(&runs[k], m, false));
            add_number(out, metric_of(&runs[k], m, true));
        }
        shmt_text_add(out, "</tr>\n");
    }
}

/* -- the set --------------------------------------------------------------- */

/* Whether it is made of the journal. */
static bool is_made(const struct shmt_report_run *run)
{
    const struct shmt_tuned_axis *axes;

    return run->trail != NULL && shmt_figures_axes(run->figures, &axes) > 0;
}

static enum shmtune_status find_front(const struct shmt_report_run *run,
                                      struct shmt_arena *arena,
                                      struct shmt_tuned_front *out,
                                      struct shmt_error *err)
{
    const struct shmt_report_trail *const trail = run->trail;
    struct shmt_figure_candidate *candidates;

    *out = (struct shmt_tuned_front){0};
    if (!is_made(run)) {
        if (run->tuned != NULL)
            *out = run->tuned->pareto;
        return SHMTUNE_OK;
    }
    candidates = shmt_arena_alloc(arena, trail->timed_count,
                                  sizeof *candidates);
    if (candidates == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < trail->timed_count; k++)
        candidates[k] = (struct shmt_figure_candidate){
            run->journal->header.problem, trail->fastest[k]->config,
            trail->fastest[k]->result};
    return shmt_figures_front(run->figures, arena, candidates,
                              trail->timed_count, out, err);
}

static void add_config(const struct shmt_tuned_point *point, size_t count,
                       struct shmt_text *out)
{
    for (size_t k = 0; k < count; k++) {
        shmt_text_addf(out, "%s%s=", k == 0 ? "" : " ",
                       point->settings[k].name);
        shmt_kernel_value_add(out, point->settings[k].value);
    }
}

static void add_table(const struct shmt_tuned_front *front, size_t count,
                      struct shmt_text *out)
{
    shmt_text_add(out, "<div class=\"w\" tabindex=\"0\"><table><thead><tr>");
    for (size_t k = 0; k < front->axis_count; k++) {
        shmt_text_add(out, "<th class=\"x\" scope=\"col\">");
        shmt_plot_add_escaped(out, front->axes[k].name);
        shmt_text_add(out, "</th>");
    }
    shmt_text_add(out, "<th scope=\"col\">configuration</th></tr></thead>\n"
                       "<tbody>\n");
    for (size_t p = 0; p < front->count; p++) {
        struct shmt_text config = {0};

        shmt_text_add(out, "<tr>");
        for (size_t k = 0; k < front->axis_count; k++)
            add_number(out, front->points[p].at[k]);
        shmt_text_add(out, "<td class=\"o\">");
        add_config(&front->points[p], count, &config);
        shmt_plot_add_escaped(out, shmt_text_string(&config));
        out->failed |= config.failed;
        shmt_text_free(&config);
        shmt_text_add(out, "</td></tr>\n");
    }
    shmt_text_add(out, "</tbody></table></div>\n");
}

/* -- the chart ------------------------------------------------------------- */

/* The candidates of the journal by the first two axes, every so many of them;
 * how many. */
static size_t take_cloud(const struct shmt_report_run *run,
                         struct shmt_plot_point *points)
{
    const struct shmt_report_trail *const trail = run->trail;
    size_t count = 0, stride;

    if (!is_made(run))
        return 0;
    stride = trail->timed_count / MOST_POINTS + 1;
    for (size_t k = 0; k < trail->timed_count; k += stride) {
        const struct shmt_figure_candidate candidate = {
            run->journal->header.problem, trail->fastest[k]->config,
            trail->fastest[k]->result};

        points[count].y = shmt_figures_axis(run->figures, 0, &candidate);
        points[count].x = shmt_figures_axis(run->figures, 1, &candidate);
        count += isfinite(points[count].x) && isfinite(points[count].y);
    }
    return count;
}

static struct shmt_plot_scale scale_of(const struct shmt_plot_point *points,
                                       size_t count, bool across)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    struct shmt_plot_scale scale;
    bool whole = true;

    for (size_t k = 0; k < count; k++) {
        const double number = across ? points[k].x : points[k].y;

        low = fmin(low, number);
        high = fmax(high, number);
        whole = whole && number == floor(number);
    }
    scale = !across && low > 0
                ? shmt_plot_scale_of(low, high)
                : shmt_plot_scale_exact(low - 0.04 * (high - low) - 0.5,
                                        high + 0.04 * (high - low) + 0.5);
    scale.whole = whole;
    return scale;
}

static void draw(const struct shmt_report_run *run,
                 const struct shmt_tuned_front *front, size_t setting_count,
                 struct shmt_plot_point *points, struct shmt_text *out)
{
    const size_t cloud = take_cloud(run, points);
    const size_t count = cloud + front->count;
    struct shmt_plot_frame frame = {
        .title = "Pareto set", .description = "Each point is a candidate; a "
        "ring is one that no other beats on all of the numbers.",
        .x_label = front->axes[1].name, .y_label = front->axes[0].name,
        .width = WIDTH, .height = HEIGHT, .left = LEFT};
    struct shmt_text notes[SHMT_TUNED_FRONT] = {{0}};

    for (size_t p = 0; p < front->count; p++) {
        add_config(&front->points[p], setting_count, &notes[p]);
        out->failed |= notes[p].failed;
        points[cloud + p] = (struct shmt_plot_point){
            .y = front->points[p].at[0], .x = front->points[p].at[1],
            .note = shmt_text_string(&notes[p])};
    }
    frame.x = scale_of(points, count, true);
    frame.y = scale_of(points, count, false);
    shmt_text_add(out, "<figure><figcaption>");
    shmt_plot_add_escaped(out, front->axes[0].name);
    shmt_text_add(out, " against ");
    shmt_plot_add_escaped(out, front->axes[1].name);
    shmt_text_add(out, "</figcaption>\n");
    shmt_plot_begin(out, &frame);
    shmt_plot_add_axis_x(out, &frame);
    shmt_plot_add_axis_y(out, &frame);
    shmt_plot_add_points(out, &frame, points, count);
    shmt_plot_end(out, &frame);
    shmt_text_add(out, "</figure>\n");
    for (size_t p = 0; p < front->count; p++)
        shmt_text_free(&notes[p]);
}

static void add_heading(const struct shmt_tuned_front *front,
                        struct shmt_text *out)
{
    shmt_text_add(out, "<h5>Pareto set</h5>\n<p class=\"s\">");
    shmt_text_add_count(out, front->all);
    shmt_text_addf(out, " configuration%s that no other beats on all of",
                   shmt_text_plural((size_t)front->all));
    for (size_t k = 0; k < front->axis_count; k++) {
        shmt_text_add(out, k == 0 ? " " : ", ");
        shmt_plot_add_escaped(out, front->axes[k].name);
        shmt_text_add(out, front->axes[k].most ? " (more is better)" : "");
    }
    if (front->count < front->all)
        shmt_text_addf(out, "; %zu of them", front->count);
    shmt_text_add(out, ".</p>\n");
}

enum shmtune_status shmt_report_add_front(const struct shmt_report_run *run,
                                          struct shmt_text *out,
                                          struct shmt_error *err)
{
    const size_t timed = run->trail == NULL ? 0 : run->trail->timed_count;
    const size_t settings = is_made(run) || run->tuned == NULL
                                ? run->spec->parameter_count
                                : run->tuned->setting_count;
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_plot_point *const points = calloc(
        (timed < MOST_POINTS ? timed : MOST_POINTS) + SHMT_TUNED_FRONT + 1,
        sizeof *points);
    struct shmt_tuned_front front = {0};
    enum shmtune_status status =
        arena == NULL || points == NULL
            ? shmt_error_memory(err) : find_front(run, arena, &front, err);

    if (status == SHMTUNE_OK && front.count > 0) {
        add_heading(&front, out);
        shmt_text_add(out, "<div class=\"f\">\n");
        draw(run, &front, settings, points, out);
        add_table(&front, settings, out);
        shmt_text_add(out, "</div>\n");
    }
    free(points);
    shmt_arena_free(arena);
    return status;
}
