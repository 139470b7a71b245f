/* SPDX-License-Identifier: MIT */
/*
 * show: the command `shmtune show`: prints a tuning (what was won at each
 * problem, with what) or a journal (counts by verdict, the distribution of
 * times, the fastest configurations).
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "command/command.h"
#include "command/dispatch.h"
#include "command/figures.h"
#include "command/json.h"
#include "command/sheet.h"
#include "device/device.h"
#include "record/record.h"
#include "yaml/yaml.h"

static const char help[] =
    "usage: shmtune show FILE [--spec SPEC.yaml] [--top N] [--json]\n"
    "\n"
    "Shows a tuning (what was found: a row a problem) or a journal or\n"
    "recording (what was tried: verdicts, the distribution of times, the\n"
    "best).\n"
    "\n"
    "  --spec SPEC.yaml  the kernel of a journal, when it is not built in\n"
    "  --top N           how many of a journal's configurations [10]\n"
    SHMT_COMMAND_FIGURES_HELP
    "                    (of a journal; a tuning shows the one it has)\n"
    "  --json            everything, as JSON\n"
    "\n"
    "examples:\n"
    "  shmtune show tunings/transpose/sm_90-nvidia-h100-80gb-hbm3.yaml\n"
    "  shmtune show run.journal --spec my_kernel.yaml --top 20\n"
    "  shmtune show run.journal --pareto time_us,shared_bytes\n";

struct show {
    const char *file;
    const char *spec;       /* NULL: found by the kernel's name */
    int64_t top;
    bool json;
    struct shmt_command_figures asked;
    const struct shmt_command_call *call;
};

enum { BAR = 24 };

/* NAME (sm_90); the name alone of a device of another tuner's run. */
static void add_device(const struct shmtune_device *device,
                       struct shmt_text *text)
{
    char arch[16];

    shmt_device_arch_text(device, arch);
    shmt_text_add_visible(text, device->name);
    if (device->compute_major > 0)
        shmt_text_addf(text, " (%s)", arch);
}

/* -- a tuning ------------------------------------------------------------- */

static const char other_sources[] = "; made for other sources than today's";

static void add_tuning_heading(const struct shmt_tuning *tuning,
                               const struct shmt_kernel *kernel,
                               struct shmt_text *text)
{
    shmt_text_addf(text, "%s on ", tuning->kernel);
    add_device(&tuning->device, text);
    if (tuning->device.driver_version > 0)
        shmt_text_addf(text, ", driver for CUDA %d.%d",
                       tuning->device.driver_version / 1000,
                       tuning->device.driver_version % 1000 / 10);
    shmt_command_add_compiler(text, ", ", kernel, tuning->nvrtc_version);
    shmt_text_add(text, tuning->protocol[0] != '\0' ? ", " : "");
    shmt_text_add_visible(text, tuning->protocol);
    shmt_text_add(text, tuning->created[0] != '\0' ? ", " : "");
    shmt_text_add_visible(text, tuning->created);
    if (kernel == NULL)
        shmt_text_add(text, "; rates need the spec of its sources (--spec)");
    else if (strcmp(kernel->digest, tuning->digest) != 0)
        shmt_text_add(text, other_sources);
    shmt_text_add(text, "\n\n");
}

/* What a problem has to move and to compute, where the kernel is known. */
static struct shmt_kernel_work work_of(const struct shmt_kernel *kernel,
                                       const struct shmt_tuned *tuned)
{
    int64_t problem[SHMT_KERNEL_DIMENSIONS];

    /* A tuning of other sources may have other dimensions. */
    if (kernel == NULL || shmt_tuning_problem(kernel, tuned, problem, NULL) !=
                              SHMTUNE_OK)
        return (struct shmt_kernel_work){-1, -1};
    return shmt_kernel_work_of(kernel, problem);
}

/* The winner, where it is a configuration of the kernel of today. */
static bool winner_of(const struct shmt_kernel *kernel,
                      const struct shmt_tuned *tuned, int64_t *problem,
                      shmt_config *config)
{
    return kernel != NULL &&
           shmt_tuning_problem(kernel, tuned, problem, NULL) == SHMTUNE_OK &&
           shmt_tuning_config(kernel, tuned->settings, tuned->setting_count,
                              config, NULL) == SHMTUNE_OK;
}

static void add_tuned(struct shmt_table *table, bool wide,
                      const struct shmt_kernel *kernel,
                      const struct shmt_figures *figures,
                      const struct shmt_tuned *tuned)
{
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    bool known;
    const uint64_t measured = tuned->verdicts[SHMT_VERDICT_OK] +
                              tuned->verdicts[SHMT_VERDICT_SLOW];
    struct shmt_text size = {0}, settings = {0};

    shmt_command_add_settings(tuned->size, tuned->size_count, &size);
    shmt_command_add_settings(tuned->settings, tuned->setting_count,
                              &settings);
    known = winner_of(kernel, tuned, problem, config);
    table->failed |= size.failed || settings.failed;
    shmt_sheet_add_row(table, wide, &(struct shmt_sheet_row){
        .kernel = "",
        .device = "",
        .problem = shmt_text_string(&size),
        .config = shmt_text_string(&settings),
        .default_us = tuned->default_us,
        .floor_us = tuned->floor_us,
        .work = work_of(kernel, tuned),
        .ties = tuned->tie_count,
        .result = &tuned->result,
        .measured = measured > 0 ? (double)measured : -1,
        .rejected = measured > 0 ? (double)(tuned->tried - measured) : -1,
        .space = (double)tuned->space_count,
        .rate = -1,
        .busy = -1,
        .figures = figures,
        .candidate = {problem, known ? config : NULL, &tuned->result}});
    shmt_text_free(&size);
    shmt_text_free(&settings);
}

static void add_table(const struct show *show,
                      const struct shmt_tuning *tuning,
                      const struct shmt_kernel *kernel,
                      const struct shmt_figures *figures,
                      struct shmt_text *text)
{
    struct shmt_text titles = {0};
    struct shmt_table table =
        shmt_sheet_table(show->call->wide, figures, &titles);

    for (size_t i = 0; i < tuning->tuned_count; i++)
        add_tuned(&table, show->call->wide, kernel, figures,
                  tuning->tuned[i]);
    shmt_table_end(&table, show->call, text);
    shmt_text_free(&titles);
    for (size_t i = 0; i < tuning->tuned_count; i++) {
        const struct shmt_tuned *const tuned = tuning->tuned[i];

        if (tuned->pareto.axis_count == 0)
            continue;
        shmt_text_add(text, "\n");
        shmt_command_add_settings(tuned->size, tuned->size_count, text);
        shmt_text_add(text, tuned->size_count > 0 ? ": " : "");
        shmt_command_add_front(&tuned->pareto, tuned->setting_count,
                               show->call, text);
    }
}

static json_t *dispatch_json(const struct shmt_dispatch *dispatch)
{
    return dispatch == NULL ? NULL : shmt_json_object(
        "sizes", shmt_json_count(dispatch->sizes),
        "nodes", shmt_json_count(dispatch->node_count),
        "configurations", shmt_json_count(dispatch->config_count),
        "mean", shmt_json_real((double)dispatch->held_out.mean / 1e4),
        "first_percentile",
        shmt_json_real((double)dispatch->held_out.low / 1e4),
        "nearest_mean", shmt_json_real((double)dispatch->nearest.mean / 1e4),
        "nearest_first_percentile",
        shmt_json_real((double)dispatch->nearest.low / 1e4), NULL);
}

static json_t *settings_json(const struct shmt_setting *settings,
                             size_t count)
{
    json_t *object = json_object();

    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, settings[i].name,
                            shmt_json_value(settings[i].value));
    return object;
}

static json_t *metrics_json(const struct shmt_kernel *kernel,
                            const struct shmt_figures *figures,
                            const struct shmt_tuned *tuned)
{
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_figure_candidate candidate = {problem, config,
                                                    &tuned->result};

    return winner_of(kernel, tuned, problem, config)
               ? shmt_json_metrics(figures, &candidate) : NULL;
}

static json_t *tuned_json(const struct shmt_kernel *kernel,
                          const struct shmt_figures *figures,
                          const struct shmt_tuned *tuned)
{
    const struct shmt_kernel_work work = work_of(kernel, tuned);
    const double time_us = tuned->result.time_us;
    json_t *const ties = json_array();

    for (size_t i = 0; i < tuned->tie_count; i++)
        json_array_append_new(ties, settings_json(tuned->ties[i],
                                                  tuned->setting_count));
    return shmt_json_object(
        "size", settings_json(tuned->size, tuned->size_count),
        "config", settings_json(tuned->settings, tuned->setting_count),
        "result", shmt_json_result(&tuned->result),
        "default_us", shmt_json_known(tuned->default_us),
        "gain", shmt_json_known(shmt_sheet_gain(time_us,
                                                   tuned->default_us)),
        "gb_per_s", shmt_json_known(shmt_kernel_work_rate(work.bytes,
                                                             time_us)),
        "gflop_per_s", shmt_json_known(shmt_kernel_work_rate(work.flops,
                                                                time_us)),
        "floor_us", shmt_json_known(tuned->floor_us),
        "metrics", metrics_json(kernel, figures, tuned),
        "pareto", shmt_json_front(&tuned->pareto, tuned->setting_count),
        "spread", shmt_json_known(tuned->spread),
        "elapsed_s", shmt_json_known(tuned->elapsed_s),
        "strategy", shmt_json_text(tuned->strategy),
        "seed", shmt_json_count(tuned->seed),
        "data_seed", shmt_json_count(tuned->data_seed),
        "data_digest", shmt_json_given(tuned->data_digest),
        "space", shmt_json_count(tuned->space_count),
        "tried", shmt_json_count(tuned->tried),
        "verdicts", shmt_json_verdicts(tuned->verdicts),
        "ties", ties, NULL);
}

static json_t *tuning_json(const struct shmt_tuning *tuning,
                           const struct shmt_kernel *kernel,
                           const struct shmt_figures *figures)
{
    json_t *const tuned = json_array();

    for (size_t i = 0; i < tuning->tuned_count; i++)
        json_array_append_new(tuned, tuned_json(kernel, figures,
                                                tuning->tuned[i]));
    return shmt_json_object(
        "kernel", shmt_json_text(tuning->kernel),
        "digest", shmt_json_text(tuning->digest),
        "device", shmt_json_device(&tuning->device),
        "created", shmt_json_text(tuning->created),
        "nvrtc_version", json_integer(tuning->nvrtc_version),
        "protocol", shmt_json_text(tuning->protocol),
        "tuned", tuned, "dispatch", dispatch_json(tuning->dispatch), NULL);
}

/* The kernel that the rates need; NULL: it is not known, or another has its
 * name, which costs only those, unless its spec was named. */
static enum shmtune_status find_kernel(const struct show *show,
                                       const struct shmt_tuning *tuning,
                                       struct shmt_kernel **out,
                                       struct shmt_error *err)
{
    struct shmt_error why = {0};
    const enum shmtune_status status =
        shmt_command_kernel_of(show->file, tuning->kernel, tuning->digest,
                               show->spec, out, &why);

    if (status == SHMTUNE_OK && show->spec == NULL &&
        strcmp((*out)->digest, tuning->digest) != 0) {
        shmt_kernel_free(*out);
        *out = NULL;
    }
    if (status == SHMTUNE_OK)
        return SHMTUNE_OK;
    *out = NULL;
    if (show->spec == NULL && status != SHMTUNE_NO_MEMORY)
        return SHMTUNE_OK;
    return shmt_error_set(err, why.status, "%s", why.text);
}

static enum shmtune_status show_tuning(const struct show *show,
                                       struct shmt_error *err)
{
    struct shmt_tuning *tuning;
    struct shmt_kernel *kernel = NULL;
    struct shmt_figures *figures = NULL;
    struct shmt_text text = {0};
    enum shmtune_status status =
        show->asked.pareto != NULL
            ? shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                             "%s: --pareto is for journals, which have every "
                             "candidate; a tuning shows the set that `tune "
                             "--pareto` gave it", show->file)
            : shmt_tuning_read(show->file, &tuning, err);

    if (status != SHMTUNE_OK)
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    status = find_kernel(show, tuning, &kernel, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_figures_new(&show->asked, kernel, show->file,
                                          &figures, err);
    if (status == SHMTUNE_OK && show->json) {
        status = shmt_json_print("tuning",
                                 tuning_json(tuning, kernel, figures), err);
    } else if (status == SHMTUNE_OK) {
        add_tuning_heading(tuning, kernel, &text);
        add_table(show, tuning, kernel, figures, &text);
        if (tuning->dispatch != NULL)
            shmt_command_show_dispatch(tuning->dispatch, &text);
        status = shmt_command_print_lines(&text, show->call, err);
    }
    shmt_figures_free(figures);
    shmt_kernel_free(kernel);
    shmt_tuning_free(tuning);
    return status;
}

/* -- a journal ------------------------------------------------------------ */

/* The results of a journal, fastest first. */
struct summary {
    const struct shmt_kernel *kernel;
    const struct shmt_journal *journal;
    const struct shmt_journal_record **results;
    bool *latest;              /* of all records: which stand there */
    size_t count, timed;
    uint64_t verdicts[SHMT_VERDICT_COUNT];
    const struct shmt_journal_record *usual;  /* the default, or NULL */
    struct shmt_figures *figures;             /* that are asked for, or NULL */
    struct shmt_arena *arena;                 /* of the Pareto set */
    struct shmt_tuned_front pareto;
};

/* Only results that are OK: an `unstable` one has a time too. */
static bool is_timed(const struct shmt_result *result)
{
    return shmt_verdict_stage(result->verdict) == SHMT_STAGE_TIME &&
           result->time_us >= 0;
}

static int compare_times(const void *a, const void *b)
{
    const struct shmt_journal_record *left =
        *(const struct shmt_journal_record *const *)a;
    const struct shmt_journal_record *right =
        *(const struct shmt_journal_record *const *)b;
    const bool timed = is_timed(left->result);
    const double x = left->result->time_us, y = right->result->time_us;

    /* Results without a time come last. */
    if (timed != is_timed(right->result))
        return timed ? -1 : 1;
    return timed ? (x > y) - (x < y) : (left > right) - (left < right);
}

static enum shmtune_status sum_up(struct summary *summary,
                                  struct shmt_error *err)
{
    const struct shmt_journal *journal = summary->journal;
    shmt_config usual[SHMT_SPACE_PARAMETERS];
    enum shmtune_status status;

    shmt_kernel_default(summary->kernel, usual);
    summary->results = calloc(journal->count + 1, sizeof *summary->results);
    summary->latest = calloc(journal->count + 1, sizeof *summary->latest);
    if (summary->results == NULL || summary->latest == NULL)
        return shmt_error_memory(err);
    status = shmt_journal_latest(summary->kernel, journal, summary->latest,
                                 err);
    for (size_t i = 0; status == SHMTUNE_OK && i < journal->count; i++) {
        const struct shmt_journal_record *record = &journal->records[i];

        if (!summary->latest[i])
            continue;
        summary->results[summary->count++] = record;
        summary->verdicts[record->result->verdict]++;
        summary->timed += is_timed(record->result);
        if (memcmp(record->config, usual, summary->kernel->parameter_count *
                                              sizeof *usual) == 0)
            summary->usual = record;
    }
    qsort(summary->results, summary->count, sizeof *summary->results,
          compare_times);
    return status;
}

static struct shmt_figure_candidate
candidate_of(const struct summary *summary,
             const struct shmt_journal_record *record)
{
    return (struct shmt_figure_candidate){summary->journal->header.problem,
                                          record->config, record->result};
}

/* Of the candidates that have a time, which come first. */
static enum shmtune_status find_front(struct summary *summary,
                                      struct shmt_error *err)
{
    struct shmt_figure_candidate *const candidates =
        calloc(summary->timed + 1, sizeof *candidates);
    enum shmtune_status status = SHMTUNE_NO_MEMORY;

    summary->arena = shmt_arena_new();
    for (size_t i = 0; candidates != NULL && i < summary->timed; i++)
        candidates[i] = candidate_of(summary, summary->results[i]);
    if (candidates == NULL || summary->arena == NULL)
        (void)shmt_error_memory(err);
    else
        status = shmt_figures_front(summary->figures, summary->arena,
                                    candidates, summary->timed,
                                    &summary->pareto, err);
    free(candidates);
    return status;
}

static void add_journal_heading(const struct summary *summary,
                                struct shmt_text *text)
{
    const struct shmt_journal_header *header = &summary->journal->header;

    shmt_text_addf(text, "%s%s", header->kernel,
                   summary->kernel->dimension_count > 0 ? " " : "");
    shmt_kernel_describe_problem(summary->kernel, header->problem, text);
    shmt_text_add(text, " on ");
    add_device(&header->device, text);
    shmt_command_add_compiler(text, ", ", summary->kernel,
                              header->nvrtc_version);
    shmt_text_add(text, ", ");
    shmt_text_add_visible(text, header->protocol);
    shmt_text_addf(text, ", seed %" PRIu64 ", data seed %" PRIu64,
                   header->seed, header->data_seed);
    if (header->data_digest[0] != '\0')
        shmt_text_addf(text, ", data files %.12s", header->data_digest);
    if (header->from[0] != '\0') {
        shmt_text_add(text, ", learned from ");
        shmt_text_add_visible(text, header->from);
    }
    if (header->require[0] != '\0') {
        shmt_text_add(text, ", required: ");
        shmt_text_add_visible(text, header->require);
    }
    shmt_text_add(text, "\n");
    shmt_text_add_count(text, summary->count);
    shmt_text_addf(text, " candidate%s of ", shmt_text_plural(summary->count));
    shmt_text_add_count(text, header->space_count);
    if (summary->count > 0 && summary->count == header->space_count)
        shmt_text_add(text, ": complete");
    if (strcmp(header->digest, summary->kernel->digest) != 0)
        shmt_text_add(text, other_sources);
    if (summary->journal->cut)
        shmt_text_add(text, "; its last line is cut");
    shmt_text_add(text, "\n\n");
}

static void add_verdicts(const struct summary *summary,
                         const struct shmt_command_call *call,
                         struct shmt_text *text)
{
    struct shmt_table table = {.titles = "verdict|>count|#|meaning"};

    for (size_t v = 0; v < SHMT_VERDICT_COUNT; v++) {

        if (summary->verdicts[v] == 0)
            continue;
        shmt_table_paint(&table, v == SHMT_VERDICT_OK ? SHMT_PAINT_GOOD
                                               : SHMT_PAINT_NONE,
                              "%s", shmt_verdict_word((enum shmt_verdict)v));
        shmt_table_add(&table, "%" PRIu64, summary->verdicts[v]);
        shmt_table_add_bar(&table, (double)summary->verdicts[v] /
                                       (double)summary->count, BAR);
        shmt_table_add(&table, "%s", shmt_verdict_text((enum shmt_verdict)v));
    }
    shmt_table_end(&table, call, text);
}

/* Why, by the first candidate of each verdict. */
static void add_reasons(const struct summary *summary, struct shmt_text *text)
{
    const struct shmt_journal *const journal = summary->journal;
    bool said[SHMT_VERDICT_COUNT] = {[SHMT_VERDICT_OK] = true,
                                     [SHMT_VERDICT_SLOW] = true};
    const char *before = "\n";

    for (size_t i = 0; i < journal->count; i++) {
        const struct shmt_result *const result = journal->records[i].result;

        if (!summary->latest[i] || said[result->verdict] ||
            result->reason[0] == '\0')
            continue;
        said[result->verdict] = true;
        shmt_text_addf(text, "%s%s, for example: ", before,
                       shmt_verdict_word(result->verdict));
        shmt_kernel_describe_config(summary->kernel, journal->records[i].config,
                                    text);
        shmt_text_add(text, ": ");
        shmt_text_add_visible(text, result->reason);
        shmt_text_add(text, "\n");
        before = "";
    }
}

/* Counts the configurations by their distance from the best. */
static void add_distribution(const struct summary *summary,
                             const struct shmt_command_call *call,
                             struct shmt_text *text)
{
    static const double edges[] = {1.01, 1.05, 1.1, 1.25, 1.5, 2, 4, 1e300};
    struct shmt_table table = {.titles = ">of the best|>count|#"};
    const double best =
        summary->timed > 0 ? summary->results[0]->result->time_us : 0;
    size_t at = 0;

    for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++) {
        const size_t before = at;

        while (at < summary->timed &&
               summary->results[at]->result->time_us <= best * edges[e])
            at++;
        if (edges[e] < 1e9)
            shmt_table_add(&table, "<= %.2fx", edges[e]);
        else
            shmt_table_add(&table, "more");
        shmt_table_add(&table, "%zu", at - before);
        shmt_table_add_bar(&table,
                           (double)(at - before) / (double)summary->timed, BAR);
    }
    shmt_text_add(text, "\n");
    shmt_table_end(&table, call, text);
}

static void add_metrics(struct shmt_table *table,
                        const struct summary *summary,
                        const struct shmt_journal_record *record)
{
    const struct shmt_figure_candidate candidate =
        candidate_of(summary, record);
    const char *const *names;
    const size_t count = shmt_figures_metrics(summary->figures, &names);

    for (size_t k = 0; k < count; k++) {
        struct shmt_text number = {0};

        shmt_figure_add(&number, shmt_figures_metric(summary->figures, k,
                                                     &candidate));
        shmt_table_add_text(table, &number);
    }
}

static void add_one(struct shmt_table *table,
                    const struct summary *summary,
                    const struct shmt_journal_record *record)
{
    const struct shmt_result *result = record->result;
    const double best = summary->results[0]->result->time_us;
    struct shmt_text config = {0};

    shmt_kernel_describe_config(summary->kernel, record->config, &config);
    shmt_table_add(table, "%.2f", result->time_us);
    shmt_table_add_bar(table, best / result->time_us, BAR);
    shmt_table_add_known(table, result->resources.registers);
    shmt_table_add_known(table, result->resources.spill_store_bytes);
    shmt_table_add_known(table, result->occupancy_percent);
    table->failed |= config.failed;
    add_metrics(table, summary, record);
    shmt_table_add(table, "%s%s", shmt_text_string(&config),
                   record == summary->usual ? "  (default)" : "");
    shmt_text_free(&config);
}

static void add_best(const struct summary *summary, int64_t top,
                     const struct shmt_command_call *call,
                     struct shmt_text *text)
{
    struct shmt_text titles = {0};
    const char *const *names;
    const size_t count = shmt_figures_metrics(summary->figures, &names);
    struct shmt_table table = {0};
    bool usual_shown = summary->usual == NULL ||
                       !is_timed(summary->usual->result);

    shmt_text_add(&titles, ">us|#|>regs|>spill|>occ %|");
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(&titles, ">=%s|", names[k]);
    shmt_text_add(&titles, "_configuration");
    table.titles = shmt_text_string(&titles);
    table.failed = titles.failed;
    for (size_t i = 0; i < summary->timed && (int64_t)i < top; i++) {
        add_one(&table, summary, summary->results[i]);
        usual_shown |= summary->results[i] == summary->usual;
    }
    if (!usual_shown && top > 0)
        add_one(&table, summary, summary->usual);
    if (table.cell_count > 0 || table.failed) {
        shmt_text_add(text, "\n");
        shmt_table_end(&table, call, text);
    }
    shmt_text_free(&titles);
}

static json_t *summary_json(const struct summary *summary)
{
    const struct shmt_kernel *const kernel = summary->kernel;
    const struct shmt_journal_header *const header = &summary->journal->header;
    json_t *const results = json_array();
    const char *const *names;

    for (size_t i = 0; i < summary->count; i++) {
        const struct shmt_journal_record *const record = summary->results[i];
        const struct shmt_figure_candidate candidate =
            candidate_of(summary, record);
        json_t *const one = shmt_json_result(record->result);

        json_object_set_new(one, "config",
                            shmt_json_config(kernel, record->config));
        json_object_set_new(one, "at_s", shmt_json_real(record->at_s));
        if (shmt_figures_metrics(summary->figures, &names) > 0)
            json_object_set_new(one, "metrics",
                                shmt_json_metrics(summary->figures,
                                                  &candidate));
        json_array_append_new(results, one);
    }
    return shmt_json_object(
        "kernel", shmt_json_text(header->kernel),
        "digest", shmt_json_text(header->digest),
        "device", shmt_json_device(&header->device),
        "size", shmt_json_problem(kernel, header->problem),
        "nvrtc_version", json_integer(header->nvrtc_version),
        "protocol", shmt_json_text(header->protocol),
        "seed", shmt_json_count(header->seed),
        "data_seed", shmt_json_count(header->data_seed),
        "data_digest", shmt_json_given(header->data_digest),
        "space", shmt_json_count(header->space_count),
        "from", shmt_json_given(header->from),
        "from_digest", shmt_json_given(header->from_digest),
        "require", shmt_json_given(header->require),
        "pareto", shmt_json_front(&summary->pareto, kernel->parameter_count),
        "cut", json_boolean(summary->journal->cut),
        "verdicts", shmt_json_verdicts(summary->verdicts),
        "results", results, NULL);
}

static enum shmtune_status print_journal(const struct show *show,
                                         const struct summary *summary,
                                         struct shmt_error *err)
{
    struct shmt_text text = {0};

    if (show->json)
        return shmt_json_print("journal", summary_json(summary), err);
    add_journal_heading(summary, &text);
    add_verdicts(summary, show->call, &text);
    add_reasons(summary, &text);
    if (summary->timed > 0) {
        add_distribution(summary, show->call, &text);
        add_best(summary, show->top, show->call, &text);
    }
    if (summary->pareto.axis_count > 0)
        shmt_text_add(&text, "\n");
    shmt_command_add_front(&summary->pareto, summary->kernel->parameter_count,
                           show->call, &text);
    return shmt_command_print_lines(&text, show->call, err);
}

static enum shmtune_status show_journal(const struct show *show,
                                        struct shmt_error *err)
{
    struct summary summary = {0};
    struct shmt_kernel *kernel = NULL;
    struct shmt_journal *journal = NULL;
    enum shmtune_status status = shmt_command_journal(
        show->file, show->spec, &kernel, &journal, err);

    summary.kernel = kernel;
    summary.journal = journal;
    if (status == SHMTUNE_OK)
        status = shmt_command_figures_new(&show->asked, kernel, show->file,
                                          &summary.figures, err);
    if (status == SHMTUNE_OK)
        status = sum_up(&summary, err);
    if (status == SHMTUNE_OK)
        status = find_front(&summary, err);
    if (status == SHMTUNE_OK)
        status = print_journal(show, &summary, err);
    shmt_figures_free(summary.figures);
    shmt_arena_free(summary.arena);
    free(summary.results);
    free(summary.latest);
    shmt_journal_free(journal);
    shmt_kernel_free(kernel);
    return status;
}

/* -- the command ---------------------------------------------------------- */

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct show show = {.top = 10, .call = call};
    const struct shmt_command_option options[] = {
        {"spec", 0, SHMT_OPTION_PATH, &show.spec, 0, 0},
        {"top", 0, SHMT_OPTION_INT, &show.top, 0, INT32_MAX},
        SHMT_COMMAND_FIGURES(show.asked),
        {"json", 0, SHMT_OPTION_FLAG, &show.json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    enum shmt_command_format format;
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%d files are given; one is expected", rest);
    show.file = call->words[0];
    if (shmt_path_is_folder(show.file))
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s: found a folder, "
                              "expected a tuning or a journal; `shmtune "
                              "report %s` makes a page of all that it has",
                              show.file, show.file);
    status = shmt_command_format_of(show.file, &format, err);
    if (status != SHMTUNE_OK)
        return status;
    if (format == SHMT_FORMAT_SPEC)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s is a kernel spec: \"shmtune space\", "
                              "\"inspect\" and \"check\" are about those",
                              show.file);
    return format == SHMT_FORMAT_TUNING ? show_tuning(&show, err)
                                        : show_journal(&show, err);
}

const struct shmt_command shmt_command_show = {
    "show", "a tuning or a journal as a table", help, run
};
