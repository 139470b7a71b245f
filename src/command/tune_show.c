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
#include "command/json.h"
#include "tune/tune.h"

/* Seconds between two progress lines when piped, and between two updates on a
 * terminal. */
static const double piped_s = 10, terminal_s = 0.1;

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

static size_t terminal_width(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
        return 79;
    return (size_t)size.ws_col - 1;
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

void shmt_display_progress(struct shmt_display *display, size_t lane,
                           const char *mark,
                           const struct shmt_tune_progress *now)
{
    const bool several =
        display->lanes > 1 && lane < SHMT_DISPLAY_LANES &&
        (!display->terminal || terminal_rows() > 1);
    const double time = shmt_clock_s();
    struct shmt_text line = {0};
    size_t room = display->terminal ? terminal_width() : 0;
    double *last_s;

    if (display->call->quiet)
        return;
    last_s = several && display->terminal ? &display->lane_s[lane]
                                          : &display->last_s;
    if (time - *last_s < (display->terminal ? terminal_s : piped_s))
        return;
    *last_s = time;
    if (room == 0 || room > 40)
        shmt_text_add(&line, mark);
    room -= room > line.length ? line.length : 0;
    shmt_progress_line(now, room, &line);
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
    shmt_command_tell("", text);
}

void shmt_display_failure(struct shmt_display *display,
                          const char *text)
{
    shmt_display_clear(display);
    shmt_command_tell("error: ", text);
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
 * resumed "40 of 252 candidates, 30 of them known before, 10 tried in ...". */
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
    if (rate_of(outcome) < 0)
        return;
    if (outcome->resumed > 0)
        shmt_text_addf(text, ", %llu %s",
                       (unsigned long long)outcome->taken,
                       target->recorded ? "replayed" : "tried");
    shmt_text_addf(text, " in %.1f s%s (%.1f/s, GPU busy %.0f %%)",
                   outcome->search_s,
                   target->recorded ? " of the recorded device's" : "",
                   rate_of(outcome), 100 * busy_of(outcome));
}

/* Each line of a text. */
static void display_lines(struct shmt_display *display, char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        shmt_display_notice(display, line);
}

void shmt_display_result(struct shmt_display *display,
                         const struct shmt_target *target,
                         const struct shmt_tune_outcome *outcome,
                         const struct shmt_output_paths *place)
{
    struct shmt_text text = {0}, failures = {0};
    const bool most =
        shmt_tune_failures(target->kernel, outcome, &failures);

    if (most && !failures.failed)
        display_lines(display, failures.data);
    shmt_text_addf(&text, "%s%s", target->kernel->name,
                   target->kernel->dimension_count > 0 ? " " : "");
    shmt_kernel_describe_problem(target->kernel, outcome->header.problem,
                                 &text);
    shmt_text_add(&text, ": ");
    shmt_text_add_us(&text, outcome->finals[0].result.time_us);
    if (outcome->default_us > 0) {
        shmt_text_add(&text, " (default ");
        shmt_text_add_us(&text, outcome->default_us);
        shmt_text_add(&text, ")");
    }
    shmt_text_add(&text, "; ");
    add_effort(target, outcome, &text);
    shmt_progress_failures(outcome->verdicts, ", ", &text);
    shmt_text_addf(&text, "; %s", place->tuning);
    if (display->names_devices)
        shmt_text_addf(&text, ", on %s", target->device.uuid);
    shmt_display_notice(display, shmt_text_string(&text));
    if (!most && failures.length > 0 && !failures.failed)
        display_lines(display, failures.data);
    shmt_text_free(&text);
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
                   "interrupted: %llu candidates of %s are kept in %s%s; %s; "
                   "%s", (unsigned long long)outcome->tried,
                   target->kernel->name, place->journal,
                   shmt_text_string(&best), shmt_text_string(&tuning),
                   resume ? "the same command resumes"
                          : "without --no-resume the same command resumes");
    shmt_text_free(&best);
    shmt_text_free(&tuning);
    return SHMTUNE_INTERRUPTED;
}

/* -- standard output ----------------------------------------------------- */

void shmt_sheet_begin(struct shmt_sheet *sheet, bool json)
{
    *sheet = (struct shmt_sheet){
        .json = json,
        .table = {.titles = "kernel|problem|>time us|>x default|>regs|>spills|"
                            ">occupancy|>measured|>rejected|>cand/s|>GPU busy|"
                            "configuration"},
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

static double speedup_of(const struct shmt_tune_outcome *outcome)
{
    const double time = outcome->finals[0].result.time_us;
    return outcome->default_us > 0 && time > 0 ? outcome->default_us / time
                                               : -1;
}

/* What an imported run does not say is below 0. */
static void add_real(struct shmt_table *table,
                     enum shmt_command_paint paint, const char *format,
                     double value)
{
    char text[32];

    if (value < 0) {
        shmt_table_paint(table, SHMT_PAINT_DIM, "%s", "-");
        return;
    }
    if (value >= 1000)
        format = "%.0f";
    snprintf(text, sizeof text, format, value);
    shmt_table_paint(table, paint, "%s", text);
}

static void add_row(struct shmt_table *table,
                    const struct shmt_kernel *kernel,
                    const struct shmt_tune_outcome *outcome)
{
    const struct shmt_tune_final *const winner = &outcome->finals[0];
    const struct shmt_result *const result = &winner->result;
    const double speedup = speedup_of(outcome);
    const uint64_t measured = measured_of(outcome);
    struct shmt_text text = {0};

    shmt_kernel_describe_problem(kernel, outcome->header.problem, &text);
    shmt_table_add(table, "%s", kernel->name);
    shmt_table_add_text(table, &text);
    add_real(table, SHMT_PAINT_BOLD, "%.4g", result->time_us);
    add_real(table, speedup > 1.01 ? SHMT_PAINT_GOOD : SHMT_PAINT_NONE,
             "%.2f", speedup);
    shmt_table_add_known(table, result->resources.registers);
    add_real(table, result->resources.spill_store_bytes > 0 ? SHMT_PAINT_BAD
                                                            : SHMT_PAINT_NONE,
             "%.0f", result->resources.spill_store_bytes);
    add_real(table, SHMT_PAINT_NONE, "%.0f %%", result->occupancy_percent);
    shmt_table_add(table, "%llu", (unsigned long long)measured);
    shmt_table_add(table, "%llu",
                   (unsigned long long)(outcome->tried - measured));
    add_real(table, SHMT_PAINT_NONE, "%.1f", rate_of(outcome));
    add_real(table, SHMT_PAINT_NONE, "%.0f %%", 100 * busy_of(outcome));
    shmt_kernel_describe_config(kernel, winner->config, &text);
    shmt_table_add_text(table, &text);
}

/* -- JSON ---------------------------------------------------------------- */

static json_t *outcome_json(const struct shmt_target *target,
                            const struct shmt_tune_outcome *outcome,
                            const struct shmt_output_paths *place)
{
    const struct shmt_kernel *const kernel = target->kernel;
    const struct shmt_journal_header *const header = &outcome->header;
    const struct shmt_tune_final *const winner = &outcome->finals[0];
    json_t *const ties = json_array();

    for (size_t k = 0; k < outcome->tie_count; k++)
        json_array_append_new(
            ties, shmt_json_config(kernel, outcome->finals[k].config));
    return shmt_json_object(
        "kernel", shmt_json_text(kernel->name),
        "device", shmt_json_text(target->name),
        "recorded", json_boolean(target->recorded),
        "size", shmt_json_problem(kernel, header->problem),
        "config", shmt_json_config(kernel, winner->config),
        "result", shmt_json_result(&winner->result),
        "spread", shmt_json_real(outcome->spread),
        "default_us", shmt_json_known(outcome->default_us),
        "speedup", shmt_json_known(speedup_of(outcome)),
        "floor_us", shmt_json_known(outcome->floor_us),
        "ties", ties,
        "strategy", shmt_json_text(outcome->strategy),
        "seed", shmt_json_count(header->seed),
        "data_seed", shmt_json_count(header->data_seed),
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

void shmt_sheet_add(struct shmt_sheet *sheet,
                    const struct shmt_target *target,
                    const struct shmt_tune_outcome *outcome,
                    const struct shmt_output_paths *place)
{
    json_t *one;

    sheet->count++;
    if (!sheet->json) {
        add_row(&sheet->table, target->kernel, outcome);
        return;
    }
    one = outcome_json(target, outcome, place);
    if (sheet->names_devices)
        json_object_set_new(one, "uuid", shmt_json_text(target->device.uuid));
    json_array_append_new(sheet->results, one);
}

void shmt_sheet_fail(struct shmt_sheet *sheet,
                     const struct shmt_kernel *kernel,
                     const int64_t *problem,
                     const struct shmt_error *why)
{
    if (sheet->json)
        json_array_append_new(
            sheet->failures,
            json_pack("{s:s?, s:o, s:i, s:o}", "kernel",
                      kernel == NULL ? NULL : kernel->name, "size",
                      problem == NULL ? json_null()
                                      : shmt_json_problem(kernel, problem),
                      "status", (int)why->status, "error",
                      shmt_json_text(why->text)));
}

enum shmtune_status shmt_sheet_end(struct shmt_sheet *sheet,
                                   bool colour, struct shmt_error *err)
{
    struct shmt_text text = {0};

    if (sheet->json)
        return shmt_json_print(shmt_json_object("results", sheet->results,
                                                "failures", sheet->failures,
                                                NULL), err);
    if (sheet->count > 0)
        shmt_table_end(&sheet->table, colour, &text);
    return shmt_command_print(&text, err);
}
