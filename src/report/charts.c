/* SPDX-License-Identifier: MIT */
/*
 * charts: what a run's results look like.  Called by problem.c, page.c and
 * report.c.
 *
 * A cloud has so many points at most that its page stays small: of more, those
 * that were the best so far, the fastest, and one in so many in the order they
 * were made are drawn, and the page says so.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plot/plot.h"
#include "report/charts.h"

enum { WIDTH = 360, HEIGHT = 240, LEFT = 52, WORDS = 84 };
enum { MOST = 1500 };

static const char time_label[] = "time (\xc2\xb5s)";

/* -- which points ---------------------------------------------------------- */

static size_t stride_of(const struct shmt_report_trail *trail)
{
    return trail->try_count <= MOST
               ? 1 : (trail->try_count + MOST - 1) / MOST;
}

/* The tries to draw, and which of them were the best so far. */
struct cloud {
    const struct shmt_journal_record **records;
    bool *best;
    size_t count;
};

static bool choose_points(const struct shmt_report_trail *trail,
                          struct cloud *cloud)
{
    const size_t stride = stride_of(trail);
    double best = (double)INFINITY;

    cloud->records = calloc(trail->try_count + 1, sizeof *cloud->records);
    cloud->best = calloc(trail->try_count + 1, sizeof *cloud->best);
    cloud->count = 0;
    if (cloud->records == NULL || cloud->best == NULL)
        return false;
    for (size_t k = 0; k < trail->try_count; k++) {
        const double time = trail->tries[k]->result->time_us;

        if (k % stride != 0 && time >= best && time > trail->fast_us)
            continue;
        cloud->best[cloud->count] = time < best;
        cloud->records[cloud->count++] = trail->tries[k];
        best = fmin(best, time);
    }
    return true;
}

static void free_cloud(struct cloud *cloud)
{
    free(cloud->records);
    free(cloud->best);
}

void shmt_report_add_thinned(const struct shmt_report_run *run,
                             struct shmt_text *out)
{
    const size_t stride = stride_of(run->trail);
    struct cloud cloud = {0};

    if (stride == 1)
        return;
    if (!choose_points(run->trail, &cloud))
        out->failed = true;
    shmt_text_add_count(out, cloud.count);
    shmt_text_add(out, " of ");
    shmt_text_add_count(out, run->trail->try_count);
    shmt_text_addf(out, " timed candidates are drawn as points: each that was "
                        "the best so far, the %d fastest, and one in %zu in "
                        "the order of time. ", SHMT_REPORT_FASTEST, stride);
    free_cloud(&cloud);
}

/* -- figures --------------------------------------------------------------- */

static void begin_figure(const struct shmt_plot_frame *frame,
                         struct shmt_text *out)
{
    if (frame->alone)
        return;
    shmt_text_add(out, "<figure><figcaption>");
    shmt_plot_add_escaped(out, frame->title);
    shmt_text_add(out, "</figcaption>\n");
}

static void end_figure(const struct shmt_plot_frame *frame,
                       struct shmt_text *out)
{
    shmt_plot_end(out, frame);
    if (!frame->alone)
        shmt_text_add(out, "</figure>\n");
}

/* From the fastest to the slowest. */
static struct shmt_plot_scale time_scale(const struct shmt_report_trail *trail)
{
    double high = trail->fastest[trail->timed_count - 1]->result->time_us;

    for (size_t k = 0; k < trail->try_count; k++)
        high = fmax(high, trail->tries[k]->result->time_us);
    return shmt_plot_scale_of(trail->best->result->time_us, high);
}

static void describe(const struct shmt_report_run *run,
                     const struct shmt_journal_record *record,
                     struct shmt_text *note)
{
    shmt_text_add_us(note, record->result->time_us);
    shmt_text_add(note, ": ");
    shmt_kernel_describe_config(run->spec, record->config, note);
}

/* -- the search over time -------------------------------------------------- */

/* Long runs are shown in minutes or hours. */
static const struct unit {
    const char *label;
    double seconds, from;
} units[] = {
    {"after (s)", 1, 0}, {"after (min)", 60, 600}, {"after (h)", 3600, 14400}
};

static const struct unit *unit_of(double seconds)
{
    const struct unit *unit = &units[0];

    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (seconds >= units[k].from)
            unit = &units[k];
    return unit;
}

static void draw_search(const struct shmt_report_run *run,
                        const struct cloud *cloud,
                        struct shmt_plot_frame *frame,
                        const struct unit *unit, struct shmt_text *out)
{
    struct shmt_plot_point *const points =
        calloc(2 * cloud->count + 1, sizeof *points);
    struct shmt_plot_point *const steps = points + cloud->count;
    size_t count = 0;

    out->failed |= points == NULL;
    for (size_t k = 0; points != NULL && k < cloud->count; k++) {
        points[k].x = cloud->records[k]->at_s / unit->seconds;
        points[k].y = cloud->records[k]->result->time_us;
        if (cloud->best[k])
            steps[count++] = points[k];
    }
    begin_figure(frame, out);
    shmt_plot_begin(out, frame);
    shmt_plot_add_axis_x(out, frame);
    shmt_plot_add_axis_y(out, frame);
    if (points != NULL) {
        shmt_plot_add_points(out, frame, points, cloud->count);
        shmt_plot_add_steps(out, frame, steps, count);
    }
    if (run->usual != NULL)
        shmt_plot_add_level(out, frame, run->usual->time_us, "default");
    end_figure(frame, out);
    free(points);
}

static void add_search(const struct shmt_report_run *run, bool alone,
                       struct shmt_text *out)
{
    const struct shmt_report_trail *const trail = run->trail;
    const double last = trail->tries[trail->try_count - 1]->at_s;
    const struct unit *const unit = unit_of(last);
    struct shmt_plot_frame frame = {
        .title = "The search over time",
        .description = "Each point is a timed candidate; the line is the best "
                       "so far.",
        .x_label = unit->label, .y_label = time_label, .width = WIDTH,
        .height = HEIGHT, .left = LEFT, .alone = alone,
        .x = shmt_plot_scale_exact(0, 1.02 * last / unit->seconds),
        .y = time_scale(trail)
    };
    struct cloud cloud = {0};

    if (choose_points(trail, &cloud))
        draw_search(run, &cloud, &frame, unit, out);
    else
        out->failed = true;
    free_cloud(&cloud);
}

void shmt_report_add_search(const struct shmt_report_run *run,
                            struct shmt_text *out)
{
    add_search(run, false, out);
}

/* -- resources against time ------------------------------------------------ */

static double occupancy(const struct shmt_result *result)
{
    return result->occupancy_percent;
}

static double registers(const struct shmt_result *result)
{
    return result->resources.registers;
}

static double shared_kib(const struct shmt_result *result)
{
    const int64_t fixed = result->resources.shared_static_bytes;
    const int64_t dynamic = result->shared_dynamic_bytes;

    if (fixed < 0 && dynamic < 0)
        return -1;
    return (double)((fixed > 0 ? fixed : 0) + (dynamic > 0 ? dynamic : 0)) /
           1024;
}

static const struct resource {
    const char *title, *label, *description;
    double (*number)(const struct shmt_result *result);
} resources[] = {
    {"Occupancy against time", "occupancy (%)",
     "Each point is a candidate; the ring is the winner.", occupancy},
    {"Registers against time", "registers a thread",
     "Each point is a candidate; the ring is the winner.", registers},
    {"Shared memory against time", "shared memory a block (KiB)",
     "Each point is a candidate; the ring is the winner.", shared_kib}
};

/* Returns how many candidates have such a number. */
static size_t take_points(const struct cloud *cloud,
                          const struct resource *resource,
                          struct shmt_plot_point *points)
{
    size_t count = 0;

    for (size_t k = 0; k < cloud->count; k++) {
        const double number = resource->number(cloud->records[k]->result);

        if (number < 0)
            continue;
        points[count].x = number;
        points[count++].y = cloud->records[k]->result->time_us;
    }
    return count;
}

/* The one that the tuning names, else the fastest. */
static const struct shmt_journal_record *
find_winner(const struct shmt_report_run *run)
{
    const struct shmt_report_trail *const trail = run->trail;
    shmt_config config[SHMT_SPACE_PARAMETERS];

    if (run->tuned == NULL ||
        shmt_tuning_config(run->spec, run->tuned->settings,
                           run->tuned->setting_count, config, NULL) !=
            SHMTUNE_OK)
        return trail->best;
    for (size_t k = 0; k < trail->timed_count; k++)
        if (memcmp(trail->fastest[k]->config, config,
                   run->spec->parameter_count * sizeof *config) == 0)
            return trail->fastest[k];
    return trail->best;
}

static void draw_resource(const struct shmt_report_run *run,
                          const struct resource *resource,
                          struct shmt_plot_point *points, size_t count,
                          struct shmt_text *out)
{
    const struct shmt_journal_record *const winner = find_winner(run);
    struct shmt_plot_frame frame = {
        .title = resource->title, .description = resource->description,
        .x_label = resource->label, .y_label = time_label, .width = WIDTH,
        .height = HEIGHT, .left = LEFT, .y = time_scale(run->trail)
    };
    struct shmt_text note = {0};
    double low = (double)INFINITY, high = 0;
    bool whole = true;

    for (size_t k = 0; k < count; k++) {
        low = fmin(low, points[k].x);
        high = fmax(high, points[k].x);
        whole = whole && points[k].x == floor(points[k].x);
    }
    frame.x = shmt_plot_scale_exact(low - 0.04 * (high - low) - 0.5,
                                    high + 0.04 * (high - low) + 0.5);
    frame.x.whole = whole;
    describe(run, winner, &note);
    points[count] = (struct shmt_plot_point){
        .x = resource->number(winner->result),
        .y = winner->result->time_us, .note = shmt_text_string(&note)
    };
    begin_figure(&frame, out);
    shmt_plot_begin(out, &frame);
    shmt_plot_add_axis_x(out, &frame);
    shmt_plot_add_axis_y(out, &frame);
    shmt_plot_add_points(out, &frame, points,
                         count + (points[count].x >= 0 ? 1 : 0));
    end_figure(&frame, out);
    out->failed |= note.failed;
    shmt_text_free(&note);
}

void shmt_report_add_resources(const struct shmt_report_run *run,
                               struct shmt_text *out)
{
    struct cloud cloud = {0};
    struct shmt_plot_point *points = NULL;

    if (choose_points(run->trail, &cloud))
        points = calloc(cloud.count + 2, sizeof *points);
    out->failed |= points == NULL;
    for (size_t k = 0;
         points != NULL && k < sizeof resources / sizeof *resources; k++) {
        const size_t count = take_points(&cloud, &resources[k], points);

        if (count > 0)
            draw_resource(run, &resources[k], points, count, out);
        for (size_t i = 0; i <= count; i++)
            points[i].note = NULL;
    }
    free(points);
    free_cloud(&cloud);
}

/* -- time against each parameter ------------------------------------------- */

struct labels {
    struct shmt_text texts[SHMT_REPORT_VALUES];
};

static const char *label(struct labels *labels, size_t k,
                         const struct shmt_parameter *parameter, size_t value)
{
    shmt_text_clear(&labels->texts[k]);
    shmt_kernel_value_add(&labels->texts[k], parameter->values[value]);
    return shmt_text_string(&labels->texts[k]);
}

static void free_labels(struct labels *labels, struct shmt_text *out)
{
    for (size_t k = 0; k < SHMT_REPORT_VALUES; k++) {
        out->failed |= labels->texts[k].failed;
        shmt_text_free(&labels->texts[k]);
    }
}

/* How many characters the longest value has; the room for labels. */
static int label_room(const struct shmt_plot_box *boxes, size_t count)
{
    size_t longest = 0;

    for (size_t k = 0; k < count; k++)
        if (strlen(boxes[k].label) > longest)
            longest = strlen(boxes[k].label);
    return longest < 4 ? 40 : longest > 12 ? WORDS + 12
                                           : 16 + 7 * (int)longest;
}

static void title_of(const struct shmt_parameter *parameter, size_t shown,
                     size_t all, struct shmt_text *title)
{
    shmt_text_add(title, parameter->name);
    if (shown < all)
        shmt_text_addf(title, ": the best %zu of %zu values", shown, all);
}

/* Draws parameter p, if candidates have several values of it; its height. */
static int add_spread(const struct shmt_report_run *run, size_t p, int y,
                      bool alone, struct shmt_text *out)
{
    const struct shmt_report_trail *const trail = run->trail;
    const struct shmt_parameter *const parameter = &run->spec->parameters[p];
    const size_t winner = find_winner(run)->config[p];
    struct shmt_report_spread spreads[SHMT_REPORT_VALUES];
    struct shmt_plot_box boxes[SHMT_REPORT_VALUES];
    struct labels labels = {0};
    struct shmt_text title = {0};
    struct shmt_plot_frame frame;
    size_t count, all;

    if (!shmt_report_trail_spread(trail, p, spreads, &count, &all)) {
        out->failed = true;
        return 0;
    }
    if (count < 2)
        return 0;
    for (size_t k = 0; k < count; k++)
        boxes[k] = (struct shmt_plot_box){
            label(&labels, k, parameter, spreads[k].value),
            spreads[k].count, spreads[k].low, spreads[k].first,
            spreads[k].middle, spreads[k].third, spreads[k].high,
            spreads[k].value == winner
        };
    title_of(parameter, count, all, &title);
    frame = (struct shmt_plot_frame){
        .title = shmt_text_string(&title),
        .description = "A row a value: the dot is its best time, the box the "
                       "middle half, the stroke the median.",
        .x_label = alone ? time_label : NULL, .width = WIDTH,
        .height = shmt_plot_boxes_height(count, alone) + (alone ? 24 : 0),
        .left = label_room(boxes, count), .x = time_scale(trail),
        .y = shmt_plot_scale_exact(0, 1), .alone = alone
    };
    if (alone)
        shmt_plot_begin_part(out, 0, y);
    begin_figure(&frame, out);
    shmt_plot_begin(out, &frame);
    shmt_plot_add_axis_x(out, &frame);
    shmt_plot_add_boxes(out, &frame, boxes, count);
    end_figure(&frame, out);
    if (alone)
        shmt_plot_end_part(out);
    out->failed |= title.failed;
    shmt_text_free(&title);
    free_labels(&labels, out);
    return frame.height;
}

void shmt_report_add_spreads(const struct shmt_report_run *run,
                             struct shmt_text *out)
{
    struct shmt_text body = {0};

    for (size_t p = 0; p < run->spec->parameter_count; p++)
        add_spread(run, p, 0, false, &body);
    if (body.length > 0)
        shmt_text_addf(out, "<h5>Time (\xc2\xb5s) by the value of each "
                            "parameter</h5>\n"
                            "<p class=\"s\">The dot is the best time with a "
                            "value, the large one that of the winner; the box "
                            "is the middle half of all candidates, the stroke "
                            "their median, the line goes to the slowest.</p>\n"
                            "<div class=\"f\">\n%s</div>\n",
                       shmt_text_string(&body));
    out->failed |= body.failed;
    shmt_text_free(&body);
}

/* -- pairs ----------------------------------------------------------------- */

static void add_pair(const struct shmt_report_run *run,
                     const struct shmt_report_pair *pair,
                     struct shmt_text *out)
{
    const struct shmt_parameter *const row =
        &run->spec->parameters[pair->row];
    const struct shmt_parameter *const column =
        &run->spec->parameters[pair->column];
    const char *rows[SHMT_REPORT_VALUES], *columns[SHMT_REPORT_VALUES];
    const struct shmt_plot_heat heat = {
        pair->row_count, pair->column_count, rows, columns, row->name,
        column->name, pair->cells
    };
    struct labels row_labels = {0}, column_labels = {0};
    struct shmt_text title = {0};
    struct shmt_plot_frame frame;

    for (size_t k = 0; k < pair->row_count; k++)
        rows[k] = label(&row_labels, k, row, pair->row_values[k]);
    for (size_t k = 0; k < pair->column_count; k++)
        columns[k] = label(&column_labels, k, column, pair->column_values[k]);
    shmt_text_addf(&title, "%s and %s", row->name, column->name);
    frame = (struct shmt_plot_frame){
        .title = shmt_text_string(&title),
        .description = "The best time with each two values, as multiples of "
                       "the best of all.",
        .width = WIDTH, .height = shmt_plot_heat_height(pair->row_count),
        .left = WORDS, .x = shmt_plot_scale_exact(0, 1),
        .y = shmt_plot_scale_exact(0, 1)
    };
    begin_figure(&frame, out);
    shmt_plot_begin(out, &frame);
    shmt_plot_add_heat(out, &frame, &heat);
    end_figure(&frame, out);
    out->failed |= title.failed;
    shmt_text_free(&title);
    free_labels(&row_labels, out);
    free_labels(&column_labels, out);
}

enum shmtune_status shmt_report_add_pairs(const struct shmt_report_run *run,
                                          struct shmt_text *out,
                                          struct shmt_error *err)
{
    struct shmt_report_pair pairs[SHMT_REPORT_PAIRS];
    size_t count, all;
    const enum shmtune_status status =
        shmt_report_trail_pairs(run->trail, pairs, &count, &all, err);

    if (status != SHMTUNE_OK || count == 0)
        return status;
    shmt_text_add(out, "<h5>Pairs of parameters</h5>\n<p class=\"s\">The best "
                       "time with each two values, as a multiple of the best "
                       "of all. ");
    if (count < all)
        shmt_text_addf(out, "Shown are %zu of %zu pairs: those whose "
                            "parameters can least be chosen one by one. ",
                       count, all);
    shmt_text_add(out, "An empty cell: no such candidate ran.</p>\n"
                       "<div class=\"f\">\n");
    for (size_t k = 0; k < count; k++)
        add_pair(run, &pairs[k], out);
    shmt_text_add(out, "</div>\n");
    return SHMTUNE_OK;
}

/* -- all kernels ----------------------------------------------------------- */

static double floor_percent(const struct shmt_report_run *run)
{
    const double share = shmt_report_floor_share(run);

    return share < 0 ? -1 : 100 * share;
}

static const struct overview {
    const char *title, *label, *description;
    double (*number)(const struct shmt_report_run *run);
} overviews[] = {
    {"How much faster than the default", "times as fast",
     "A row a kernel: a dot a problem and device, the large one their "
     "geometric mean.", shmt_report_gain},
    {"How near to the floor of memory", "of the floor (%)",
     "A row a kernel: a dot a problem and device, the large one their "
     "geometric mean.", floor_percent}
};

static void take_numbers(const struct overview *overview,
                         const struct shmt_report_run *runs, size_t count,
                         double *numbers, struct shmt_plot_dots *row)
{
    double sum = 0;

    row->label = runs[0].kernel;
    row->numbers = numbers;
    row->count = 0;
    for (size_t k = 0; k < count; k++) {
        const double number = overview->number(&runs[k]);

        if (number > 0) {
            numbers[row->count++] = number;
            sum += log(number);
        }
    }
    row->mean = row->count > 0 ? exp(sum / (double)row->count) : 1;
}

static void draw_overview(const struct overview *overview,
                          const struct shmt_plot_dots *rows, size_t count,
                          struct shmt_text *out)
{
    struct shmt_plot_frame frame = {
        .title = overview->title, .description = overview->description,
        .x_label = overview->label, .width = WIDTH,
        .height = shmt_plot_boxes_height(count, true), .left = 112,
        .y = shmt_plot_scale_exact(0, 1)
    };
    double low = (double)INFINITY, high = 0;

    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < rows[k].count; i++) {
            low = fmin(low, rows[k].numbers[i]);
            high = fmax(high, rows[k].numbers[i]);
        }
    frame.x = shmt_plot_scale_of(low, high);
    begin_figure(&frame, out);
    shmt_plot_begin(out, &frame);
    shmt_plot_add_axis_x(out, &frame);
    shmt_plot_add_dots(out, &frame, rows, count);
    end_figure(&frame, out);
}

static void add_overview(const struct shmt_report *report,
                         const struct overview *overview, double *numbers,
                         struct shmt_plot_dots *rows, struct shmt_text *out)
{
    size_t row = 0;

    for (size_t k = 0, next; k < report->count; k += next) {
        next = shmt_report_kernel_runs(&report->runs[k], report->count - k);
        take_numbers(overview, &report->runs[k], next, numbers, &rows[row]);
        numbers += rows[row].count;
        row += rows[row].count > 0;
    }
    if (row > 0)
        draw_overview(overview, rows, row, out);
}

void shmt_report_add_overviews(const struct shmt_report *report,
                               struct shmt_text *out)
{
    double *const numbers = calloc(report->count + 1, sizeof *numbers);
    struct shmt_plot_dots *const rows =
        calloc(report->counts.kernels + 1, sizeof *rows);

    if (numbers == NULL || rows == NULL)
        out->failed = true;
    for (size_t k = 0;
         !out->failed && k < sizeof overviews / sizeof *overviews; k++)
        add_overview(report, &overviews[k], numbers, rows, out);
    free(numbers);
    free(rows);
}

/* -- a file ---------------------------------------------------------------- */

enum shmtune_status shmt_report_add_plot(const struct shmt_report_run *run,
                                         struct shmt_text *out,
                                         struct shmt_error *err)
{
    struct shmt_text body = {0};
    int y = HEIGHT + 16;

    if (run->trail->timed_count == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s has no timed candidate: there is nothing to "
                              "plot", run->journal_path);
    shmt_plot_begin_part(&body, 0, 0);
    add_search(run, true, &body);
    shmt_plot_end_part(&body);
    for (size_t p = 0; p < run->spec->parameter_count; p++) {
        const int height = add_spread(run, p, y, true, &body);

        y += height > 0 ? height + 16 : 0;
    }
    shmt_plot_begin_file(out, WIDTH, y);
    shmt_text_add(out, shmt_text_string(&body));
    shmt_plot_end_file(out);
    out->failed |= body.failed;
    shmt_text_free(&body);
    return out->failed ? shmt_error_memory(err) : SHMTUNE_OK;
}
