/* SPDX-License-Identifier: MIT */
/*
 * tune_show: prints what `shmtune tune` reports: progress and notices on
 * standard error, results as a table or JSON on standard output.  Called by
 * command/tune.c and, for notices, command/explain.c.
 */
#include "config.h"

#include "command/tune_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base.h"
#include "command/figures.h"
#include "command/json.h"
#include "command/sheet.h"
#include "tune/tune.h"

/* Seconds between two progress lines when piped, between two updates on a
 * terminal, and between two lines for programs. */
static const double piped_s = 4, terminal_s = 0.1, json_s = 1;

/* -- standard error ------------------------------------------------------ */

void shmt_display_begin(struct shmt_display *display,
                        const struct shmt_command_call *call)
{
    const char *const term = getenv("TERM");

    *display = (struct shmt_display){
        .call = call,
        .terminal = isatty(STDERR_FILENO) && term != NULL &&
                    strcmp(term, "dumb") != 0,
        .last_s = shmt_clock_s(),
    };
}

void shmt_display_clear(struct shmt_display *display)
{
    if (display->shown && display->rows > 1)
        fprintf(stderr, "\033[%zuA", display->rows - 1);
    if (display->shown)
        fputs(display->rows > 1 ? "\r\033[J" : "\r\033[K", stderr);
    display->shown = false;
    display->rows = 0;
}

/* Rows for lines of progress; one stays free. */
static size_t terminal_rows(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 3)
        return 1;
    return (size_t)size.ws_row - 1;
}

static void show_lines(struct shmt_display *display)
{
    const size_t most = terminal_rows();

    shmt_display_clear(display);
    for (size_t k = 0; k < display->lanes && display->rows < most; k++)
        if (display->lines[k] != NULL)
            fprintf(stderr, "%s%s", display->rows++ > 0 ? "\n" : "",
                    display->lines[k]);
}

static void write_line(json_t *object)
{
    shmt_json_line(object);
    shmt_command_pulse_said();
}

static void write_progress(const struct shmt_tune_progress *now)
{
    write_line(shmt_json_object(
        "format", json_string("progress.json/1"),
        "kernel", shmt_json_text(now->kernel),
        "device", shmt_json_device(now->device),
        "size", shmt_json_text(now->size),
        "phase", shmt_json_text(now->phase),
        "done", shmt_json_count(now->done),
        "total", now->total == UINT64_MAX ? json_null()
                                          : shmt_json_count(now->total),
        "elapsed_s", shmt_json_real(now->elapsed_s),
        "left_s", shmt_json_known(shmt_progress_left(now)),
        "best_us", shmt_json_known(now->best_us),
        "default_us", shmt_json_known(now->default_us),
        "verdicts", shmt_json_verdicts(now->verdicts), NULL));
}

void shmt_display_progress(struct shmt_display *display, size_t lane,
                           const char *mark,
                           const struct shmt_tune_progress *now)
{
    const bool several =
        display->lanes > 1 && lane < SHMT_DISPLAY_LANES &&
        (!display->terminal || terminal_rows() > 1);
    const double time = shmt_clock_s();
    struct shmt_tune_progress shown = *now;
    struct shmt_text line = {0};
    size_t room = display->terminal
                      ? shmt_command_terminal_width(STDERR_FILENO) - 1 : 0;
    double *last_s;

    if (display->call->quiet)
        return;
    last_s = several && (display->terminal || display->is_json)
                 ? &display->lane_s[lane] : &display->last_s;
    if (time - *last_s < (display->is_json    ? json_s
                          : display->terminal ? terminal_s : piped_s))
        return;
    *last_s = time;
    if (display->is_json) {
        write_progress(now);
        return;
    }
    if (room == 0 || room > 40)
        shmt_text_add(&line, mark);
    room -= room > line.length ? line.length : 0;
    shown.several = several && display->terminal;
    shmt_progress_line(&shown, room, &line);
    if (several && display->terminal && !line.failed) {
        free(display->lines[lane]);
        display->lines[lane] = line.data;
        show_lines(display);
        line = (struct shmt_text){0};
    } else if (display->terminal) {
        fprintf(stderr, "\r%s\033[K", shmt_text_string(&line));
    } else {
        fprintf(stderr, "%s\n", shmt_text_string(&line));
    }
    fflush(stderr);
    shmt_command_pulse_said();
    display->shown = display->terminal;
    shmt_text_free(&line);
}

void shmt_display_done(struct shmt_display *display, size_t lane)
{
    shmt_display_clear(display);
    if (lane >= SHMT_DISPLAY_LANES)
        return;
    free(display->lines[lane]);
    display->lines[lane] = NULL;
}

void shmt_display_notice(void *context, const char *text)
{
    struct shmt_display *const display = context;

    if (display->call->quiet)
        return;
    shmt_display_clear(display);
    if (display->is_json)
        write_line(shmt_json_object("format", json_string("notice.json/1"),
                                    "text", shmt_json_text(text), NULL));
    else
        shmt_command_tell("", text);
}

void shmt_display_failure(struct shmt_display *display,
                          const struct shmt_error *why)
{
    shmt_display_clear(display);
    if (display->is_json)
        shmt_command_json_error_line(why);
    else
        shmt_command_tell("error: ", why->text);
}

/* Candidates per second of this run, without those known from the journal; <
 * 0: the time was too short. */
static double rate_of(const struct shmt_tune_outcome *outcome)
{
    return outcome->taken > 0 && outcome->search_s > 0
               ? (double)outcome->taken / outcome->search_s
               : -1;
}

static double busy_of(const struct shmt_tune_outcome *outcome)
{
    return rate_of(outcome) < 0 ? -1 : outcome->busy_s / outcome->search_s;
}

/* "40 of 252 candidates in 2.0 s (20.0/s, GPU busy 61 %)"; of a run that
 * resumed "40 of 252 candidates, 30 of them known before, 10 tried in ...".  A
 * recorded device is asked for the known ones too: "...; replayed 40, known or
 * not, in ...". */
static void add_effort(const struct shmt_target *target,
                       const struct shmt_tune_outcome *outcome,
                       struct shmt_text *text)
{
    shmt_text_addf(text, "%llu of %llu candidates",
                   (unsigned long long)outcome->tried,
                   (unsigned long long)outcome->header.space_count);
    if (outcome->resumed > 0)
        shmt_text_addf(text, ", %llu of them known before",
                       (unsigned long long)outcome->resumed);
    if (outcome->verdicts[SHMT_VERDICT_NOT_RECORDED] > 0)
        shmt_text_addf(text, ", %llu of them not recorded",
                       (unsigned long long)
                           outcome->verdicts[SHMT_VERDICT_NOT_RECORDED]);
    if (rate_of(outcome) < 0)
        return;
    if (outcome->resumed > 0 && target->recorded)
        shmt_text_addf(text, "; replayed %llu, known or not,",
                       (unsigned long long)outcome->taken);
    else if (outcome->resumed > 0 ||
             outcome->verdicts[SHMT_VERDICT_NOT_RECORDED] > 0)
        shmt_text_addf(text, ", %llu %s",
                       (unsigned long long)outcome->taken,
                       target->recorded ? "replayed" : "tried");
    shmt_text_addf(text, " in %.1f s%s (%.1f/s, GPU busy %.0f %%)",
                   outcome->search_s,
                   target->recorded ? " of the recorded device's" : "",
                   rate_of(outcome), 100 * busy_of(outcome));
}

/* "25.76 us (default 58.94 us; 25.57 us was the best of the search; 20 are
 * equally fast: the tie rule chose this one)"; "..., which the finals timed
 * again)". */
static void add_winner(const struct shmt_tune_outcome *outcome,
                       struct shmt_text *text)
{
    const double time_us = outcome->finals[0].result.time_us;
    struct shmt_text best = {0}, mine = {0};
    const char *before = " (";

    shmt_text_add_us(&mine, time_us);
    shmt_text_add_us(&best, outcome->best_us);
    text->failed |= mine.failed || best.failed;
    shmt_text_add(text, shmt_text_string(&mine));
    if (outcome->default_us > 0) {
        shmt_text_add(text, " (default ");
        shmt_text_add_us(text, outcome->default_us);
        before = "; ";
    }
    if (outcome->best_us > 0 &&
        strcmp(shmt_text_string(&mine), shmt_text_string(&best)) != 0) {
        shmt_text_addf(text, "%s%s was the best of the search", before,
                       shmt_text_string(&best));
        before = ", ";
    }
    if (outcome->tie_count > 1) {
        shmt_text_addf(text, "%s%zu are equally fast: the tie rule chose this "
                       "one", before[0] == ',' ? "; " : before,
                       outcome->tie_count);
        before = ", ";
    } else if (before[0] == ',') {
        shmt_text_add(text, ", which the finals timed again");
    }
    shmt_text_add(text, before[0] == ' ' ? "" : ")");
    shmt_text_free(&mine);
    shmt_text_free(&best);
}

/* Each line of what is said of a problem; several at a time have their names
 * before it. */
static void display_lines(struct shmt_display *display, const char *problem,
                          char *text)
{
    struct shmt_text whole = {0};
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        shmt_text_clear(&whole);
        shmt_text_addf(&whole, "%s%s", display->lanes > 1 ? problem : "",
                       line);
        shmt_display_notice(display, shmt_text_string(&whole));
    }
    shmt_text_free(&whole);
}

void shmt_display_result(struct shmt_display *display,
                         const struct shmt_target *target,
                         const struct shmt_tune_outcome *outcome,
                         const struct shmt_output_paths *place)
{
    struct shmt_text text = {0}, problem = {0}, failures = {0};
    const bool most =
        shmt_tune_failures(target->kernel, outcome, &failures);

    shmt_text_addf(&problem, "%s%s", target->kernel->name,
                   target->kernel->dimension_count > 0 ? " " : "");
    shmt_kernel_describe_problem(target->kernel, outcome->header.problem,
                                 &problem);
    shmt_text_add(&problem, ": ");
    if (most && !failures.failed)
        display_lines(display, shmt_text_string(&problem), failures.data);
    shmt_text_add(&text, shmt_text_string(&problem));
    add_winner(outcome, &text);
    shmt_text_add(&text, "; ");
    add_effort(target, outcome, &text);
    shmt_progress_failures(outcome->verdicts, ", ", &text);
    shmt_text_addf(&text, "; %s", place->tuning);
    if (display->names_devices)
        shmt_text_addf(&text, ", on %s", target->device.uuid);
    shmt_display_notice(display, shmt_text_string(&text));
    if (!most && failures.length > 0 && !failures.failed)
        display_lines(display, shmt_text_string(&problem), failures.data);
    shmt_text_free(&text);
    shmt_text_free(&problem);
    shmt_text_free(&failures);
}

enum shmtune_status
shmt_display_interrupt(const struct shmt_target *target,
                       const struct shmt_tune_outcome *outcome,
                       const struct shmt_output_paths *place,
                       bool resume, struct shmt_error *err)
{
    struct shmt_text best = {0}, tuning = {0};

    if (outcome->best_us > 0) {
        shmt_text_add(&best, ", the best so far took ");
        shmt_text_add_us(&best, outcome->best_us);
    }
    if (shmt_path_exists(place->tuning))
        shmt_text_addf(&tuning, "the tuning %s is as it was for this problem",
                       place->tuning);
    else
        shmt_text_add(&tuning, "no tuning was written");
    shmt_error_set(err, SHMTUNE_INTERRUPTED,
                   "interrupted: %llu candidate%s of %s %s kept in %s%s; %s; "
                   "%s", (unsigned long long)outcome->tried,
                   shmt_text_plural(outcome->tried), target->kernel->name,
                   outcome->tried == 1 ? "is" : "are", place->journal,
                   shmt_text_string(&best), shmt_text_string(&tuning),
                   resume ? "the same command resumes"
                          : "without --no-resume the same command resumes");
    shmt_text_free(&best);
    shmt_text_free(&tuning);
    return SHMTUNE_INTERRUPTED;
}

bool shmt_sheet_is_first(const struct shmt_sheet *sheet, size_t k)
{
    size_t first = 0;

    while (strcmp(sheet->kernels[first]->name, sheet->kernels[k]->name) != 0)
        first++;
    return first == k;
}

static size_t count_kernels(const struct shmt_sheet *sheet)
{
    size_t count = 0;

    for (size_t k = 0; k < sheet->count; k++)
        count += shmt_sheet_is_first(sheet, k);
    return count;
}

/* What a command needs beside the name of a kernel that is not built in. */
static void add_spec(const struct shmt_sheet *sheet, size_t k,
                     struct shmt_text *text)
{
    const char *const spec =
        shmt_command_kernel_word(sheet->call, sheet->kernels[k]);

    if (strcmp(spec, sheet->kernels[k]->name) == 0)
        return;
    shmt_text_add(text, " --spec ");
    shmt_text_add_word(text, spec);
}

/* "1.15 to 2.31 times as fast as the default, 1.20 in the median"; "1.15 times
 * as fast as the default" where no digit tells them apart. */
static void add_gains(const struct shmt_sheet *sheet, struct shmt_text *text)
{
    const size_t n = sheet->gain_count;
    double *const gains = sheet->gains;
    char least[32], most[32];

    if (n == 0)
        return;
    qsort(gains, n, sizeof *gains, shmt_array_compare_doubles);
    snprintf(least, sizeof least, "%.2f", gains[0]);
    snprintf(most, sizeof most, "%.2f", gains[n - 1]);
    if (strcmp(least, most) == 0)
        shmt_text_addf(text, ": %s times as fast as the default", least);
    else
        shmt_text_addf(text, ": %s to %s times as fast as the default, "
                       "%.2f in the median", least, most,
                       (gains[(n - 1) / 2] + gains[n / 2]) / 2);
}

void shmt_display_summary(struct shmt_display *display,
                          const struct shmt_sheet *sheet, const char *output)
{
    struct shmt_text text = {0};

    if (sheet->count == 0)
        return;
    fflush(stdout);
    shmt_text_addf(&text, "tuned %zu problem%s of %zu kernel%s", sheet->count,
                   shmt_text_plural(sheet->count), count_kernels(sheet),
                   shmt_text_plural(count_kernels(sheet)));
    if (sheet->failed > 0)
        shmt_text_addf(&text, ", %zu failed", sheet->failed);
    if (sheet->unrecorded > 0)
        shmt_text_addf(&text, ", %zu recording%s not written",
                       sheet->unrecorded, shmt_text_plural(sheet->unrecorded));
    add_gains(sheet, &text);
    shmt_text_addf(&text, "; all files are in %s; next: `shmtune show ",
                   output);
    shmt_text_add_word(&text, sheet->last);
    add_spec(sheet, sheet->count - 1, &text);
    shmt_text_add(&text, "`, `shmtune report ");
    shmt_text_add_word(&text, output);
    for (size_t k = 0; k < sheet->count; k++)
        if (shmt_sheet_is_first(sheet, k))
            add_spec(sheet, k, &text);
    shmt_text_add(&text, " -o report.html`");
    shmt_display_notice(display, shmt_text_string(&text));
    shmt_text_free(&text);
}

/* -- standard output ----------------------------------------------------- */

void shmt_sheet_begin(struct shmt_sheet *sheet,
                      const struct shmt_command_call *call, bool json)
{
    *sheet = (struct shmt_sheet){
        .call = call,
        .json = json,
    };
    if (json) {
        sheet->results = json_array();
        sheet->failures = json_array();
    }
}

static uint64_t measured_of(const struct shmt_tune_outcome *outcome)
{
    return outcome->verdicts[SHMT_VERDICT_OK] +
           outcome->verdicts[SHMT_VERDICT_SLOW];
}

static struct shmt_figure_candidate
winner_of(const struct shmt_tune_outcome *outcome)
{
    return (struct shmt_figure_candidate){outcome->header.problem,
                                          outcome->finals[0].config,
                                          &outcome->finals[0].result};
}

/* Below the table, under the problem's name. */
static void add_front(struct shmt_sheet *sheet,
                      const struct shmt_kernel *kernel,
                      const struct shmt_tune_outcome *outcome,
                      const char *device)
{
    struct shmt_text *const text = &sheet->fronts;

    if (outcome->pareto.axis_count == 0)
        return;
    shmt_text_addf(text, "\n%s%s", kernel->name,
                   kernel->dimension_count > 0 ? " " : "");
    shmt_kernel_describe_problem(kernel, outcome->header.problem, text);
    shmt_text_addf(text, "%s%s: ", device[0] == '\0' ? "" : ", on ", device);
    shmt_command_add_front(&outcome->pareto, kernel->parameter_count,
                           sheet->call, text);
}

static void add_row(struct shmt_sheet *sheet, const struct shmt_kernel *kernel,
                    const struct shmt_tune_outcome *outcome,
                    const struct shmt_figures *figures)
{
    const struct shmt_tune_final *const winner = &outcome->finals[0];
    const uint64_t measured = measured_of(outcome);
    const char *const device =
        sheet->names_models ? outcome->header.device.name : "";
    struct shmt_text problem = {0}, config = {0};

    if (sheet->titles.length == 0)
        sheet->table =
            shmt_sheet_table(sheet->call->wide, figures, &sheet->titles);
    shmt_kernel_describe_problem(kernel, outcome->header.problem, &problem);
    shmt_kernel_describe_config(kernel, winner->config, &config);
    sheet->table.failed |= problem.failed || config.failed;
    shmt_sheet_add_row(&sheet->table, sheet->call->wide,
                       &(struct shmt_sheet_row){
        .kernel = kernel->name,
        .problem = shmt_text_string(&problem),
        .config = shmt_text_string(&config),
        .device = device,
        .default_us = outcome->default_us,
        .floor_us = outcome->floor_us,
        .work = shmt_kernel_work_of(kernel, outcome->header.problem),
        .ties = outcome->tie_count,
        .result = &winner->result,
        .measured = (double)measured,
        .rejected = (double)(outcome->tried - measured -
                             outcome->verdicts[SHMT_VERDICT_NOT_RECORDED]),
        .space = (double)outcome->header.space_count,
        .rate = rate_of(outcome),
        .busy = busy_of(outcome),
        .figures = figures,
        .candidate = winner_of(outcome)});
    add_front(sheet, kernel, outcome, device);
    shmt_text_free(&problem);
    shmt_text_free(&config);
}

/* -- JSON ---------------------------------------------------------------- */

static json_t *outcome_json(const struct shmt_target *target,
                            const struct shmt_tune_outcome *outcome,
                            const struct shmt_output_paths *place,
                            const struct shmt_figures *figures)
{
    const struct shmt_kernel *const kernel = target->kernel;
    const struct shmt_journal_header *const header = &outcome->header;
    const struct shmt_tune_final *const winner = &outcome->finals[0];
    const struct shmt_kernel_work work =
        shmt_kernel_work_of(kernel, header->problem);
    const double time_us = winner->result.time_us;
    const struct shmt_figure_candidate first = winner_of(outcome);
    json_t *const ties = json_array();

    for (size_t k = 0; k < outcome->tie_count; k++)
        json_array_append_new(
            ties, shmt_json_config(kernel, outcome->finals[k].config));
    return shmt_json_object(
        "kernel", shmt_json_text(kernel->name),
        "device", shmt_json_device(&target->device),
        "recorded", json_boolean(target->recorded),
        "size", shmt_json_problem(kernel, header->problem),
        "config", shmt_json_config(kernel, winner->config),
        "result", shmt_json_result(&winner->result),
        "spread", shmt_json_real(outcome->spread),
        "default_us", shmt_json_known(outcome->default_us),
        "gain", shmt_json_known(shmt_sheet_gain(time_us,
                                                   outcome->default_us)),
        "gb_per_s", shmt_json_known(shmt_kernel_work_rate(work.bytes,
                                                          time_us)),
        "gflop_per_s", shmt_json_known(shmt_kernel_work_rate(work.flops,
                                                             time_us)),
        "floor_us", shmt_json_known(outcome->floor_us),
        "metrics", shmt_json_metrics(figures, &first),
        "pareto", shmt_json_front(&outcome->pareto, kernel->parameter_count),
        "ties", ties,
        "strategy", shmt_json_text(outcome->strategy),
        "seed", shmt_json_count(header->seed),
        "data_seed", shmt_json_count(header->data_seed),
        "data_digest", shmt_json_given(header->data_digest),
        "from", shmt_json_given(header->from),
        "from_digest", shmt_json_given(header->from_digest),
        "require", shmt_json_given(header->require),
        "space", shmt_json_count(header->space_count),
        "tried", shmt_json_count(outcome->tried),
        "resumed", shmt_json_count(outcome->resumed),
        "verdicts", shmt_json_verdicts(outcome->verdicts),
        "elapsed_s", shmt_json_real(outcome->elapsed_s),
        "search_s", shmt_json_real(outcome->search_s),
        "candidates_per_s", shmt_json_known(rate_of(outcome)),
        "gpu_busy", shmt_json_known(busy_of(outcome)),
        "tuning", shmt_json_text(place->tuning),
        "journal", shmt_json_text(place->journal), NULL);
}

static void add_place(struct shmt_sheet *sheet,
                      const struct shmt_kernel *kernel,
                      const int64_t *problem, const char *tuning)
{
    struct shmt_sheet_place *place;

    if (!shmt_array_reserve(&sheet->places, &sheet->place_room,
                            sheet->place_count + 1, sizeof *sheet->places)) {
        sheet->table.failed = true;
        return;
    }
    place = &sheet->places[sheet->place_count];
    *place = (struct shmt_sheet_place){
        .kernel = kernel->name, .tuning = tuning,
        .dimensions = kernel->dimension_count,
        .row = sheet->place_count++};
    memcpy(place->problem, problem,
           kernel->dimension_count * sizeof *problem);
}

static int compare_places(const void *a, const void *b)
{
    const struct shmt_sheet_place *const left = a, *const right = b;
    const int names = strcmp(left->kernel, right->kernel);

    if (names != 0)
        return names;
    for (size_t d = 0; d < left->dimensions && d < right->dimensions; d++)
        if (left->problem[d] != right->problem[d])
            return left->problem[d] < right->problem[d] ? -1 : 1;
    return strcmp(left->tuning, right->tuning);
}

static void order_rows(struct shmt_sheet *sheet)
{
    const size_t count = sheet->place_count;
    size_t *const order = calloc(count + 1, sizeof *order);

    sheet->table.failed |= order == NULL;
    for (size_t k = 0; order != NULL && k < count; k++)
        order[k] = sheet->places[k].row;
    if (order != NULL)
        shmt_table_order(&sheet->table, order, count);
    free(order);
}

/* Problems that are tuned together end in any order. */
static void order_results(struct shmt_sheet *sheet)
{
    const size_t count = sheet->place_count;
    struct shmt_sheet_place *const places = sheet->places;
    json_t *results;

    if (count > 0)
        qsort(places, count, sizeof *places, compare_places);
    if (!sheet->json) {
        order_rows(sheet);
        return;
    }
    /* There may have been no memory for a place. */
    if (count != json_array_size(sheet->results))
        return;
    results = json_array();
    for (size_t k = 0; k < count; k++)
        json_array_append(results,
                          json_array_get(sheet->results, places[k].row));
    json_decref(sheet->results);
    sheet->results = results;
}

/* For the summary, which is short of what there is no memory for. */
static void count_result(struct shmt_sheet *sheet,
                         const struct shmt_target *target,
                         const struct shmt_tune_outcome *outcome,
                         const struct shmt_output_paths *place)
{
    const double gain = shmt_sheet_gain(outcome->finals[0].result.time_us,
                                        outcome->default_us);

    if (!shmt_array_reserve(&sheet->gains, &sheet->room,
                            sheet->gain_count + 1, sizeof *sheet->gains) ||
        !shmt_array_reserve(&sheet->kernels, &sheet->kernel_room,
                            sheet->count + 1, sizeof *sheet->kernels) ||
        !shmt_array_reserve(&sheet->ends, &sheet->end_room, sheet->count + 1,
                            sizeof *sheet->ends))
        return;
    if (gain > 0)
        sheet->gains[sheet->gain_count++] = gain;
    sheet->ends[sheet->count] =
        target->recorded ? (struct shmt_tune_ends){0, 0}
                         : shmt_tune_ends_of(target->kernel, &target->device,
                                             outcome);
    sheet->kernels[sheet->count++] = target->kernel;
    sheet->last = place->tuning;
}

void shmt_sheet_add(struct shmt_sheet *sheet,
                    const struct shmt_target *target,
                    const struct shmt_tune_outcome *outcome,
                    const struct shmt_output_paths *place,
                    const struct shmt_figures *figures)
{
    add_place(sheet, target->kernel, outcome->header.problem, place->tuning);
    count_result(sheet, target, outcome, place);
    sheet->spent += outcome->spent;
    sheet->spent_known += outcome->spent ? outcome->tried : 0;
    if (!sheet->json) {
        add_row(sheet, target->kernel, outcome, figures);
        return;
    }
    json_array_append_new(sheet->results,
                          outcome_json(target, outcome, place, figures));
}

static void add_failure(struct shmt_sheet *sheet,
                        const struct shmt_kernel *kernel,
                        const int64_t *problem, const struct shmt_error *why)
{
    if (sheet->json)
        json_array_append_new(sheet->failures,
                              shmt_json_failure(kernel, problem, why));
}

void shmt_sheet_fail(struct shmt_sheet *sheet,
                     const struct shmt_kernel *kernel,
                     const int64_t *problem,
                     const struct shmt_error *why)
{
    sheet->failed++;
    add_failure(sheet, kernel, problem, why);
}

void shmt_sheet_fail_recording(struct shmt_sheet *sheet,
                               const struct shmt_kernel *kernel,
                               const int64_t *problem,
                               const struct shmt_error *why)
{
    sheet->unrecorded++;
    add_failure(sheet, kernel, problem, why);
}

enum shmtune_status shmt_sheet_end(struct shmt_sheet *sheet,
                                   struct shmt_error *err)
{
    struct shmt_text text = {0};

    order_results(sheet);
    if (sheet->json)
        return shmt_json_print("tune",
                               shmt_json_object("results", sheet->results,
                                                "failures", sheet->failures,
                                                NULL), err);
    if (sheet->table.cell_count > 0 || sheet->table.failed)
        shmt_table_end(&sheet->table, sheet->call, &text);
    shmt_text_add(&text, shmt_text_string(&sheet->fronts));
    text.failed |= sheet->fronts.failed;
    return shmt_command_print_lines(&text, sheet->call, err);
}

void shmt_sheet_free(struct shmt_sheet *sheet)
{
    shmt_text_free(&sheet->titles);
    shmt_text_free(&sheet->fronts);
    free(sheet->gains);
    free(sheet->kernels);
    free(sheet->ends);
    free(sheet->places);
}
