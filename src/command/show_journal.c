/* SPDX-License-Identifier: MIT */
/*
 * show_journal: prints a journal or recording: counts by verdict, the
 * distribution of times, the fastest configurations.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/json.h"
#include "command/show.h"
#include "device/device.h"
#include "record/record.h"

/* The results of a journal, fastest first. */
struct summary {
    const struct shmt_kernel *kernel;
    const struct shmt_journal *journal;
    const struct shmt_journal_record **results;
    bool *latest;              /* of all records: which stand there */
    size_t count, timed;
    size_t verdicts[SHMT_VERDICT_COUNT];
    const struct shmt_journal_record *usual;  /* the default, or NULL */
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

static void add_heading(const struct summary *summary, struct shmt_text *text)
{
    const struct shmt_journal_header *header = &summary->journal->header;

    shmt_text_addf(text, "%s%s", header->kernel,
                   summary->kernel->dimension_count > 0 ? " " : "");
    shmt_kernel_describe_problem(summary->kernel, header->problem, text);
    shmt_text_add(text, " on ");
    shmt_show_device(&header->device, text);
    if (header->nvrtc_version > 0)
        shmt_text_addf(text, ", NVRTC %d.%d", header->nvrtc_version / 1000,
                       header->nvrtc_version % 1000 / 10);
    shmt_text_addf(text, ", %s, seed %" PRIu64 ", data seed %" PRIu64 "\n",
                   header->protocol, header->seed, header->data_seed);
    shmt_command_add_count(text, summary->count);
    shmt_text_add(text, " candidates of ");
    shmt_command_add_count(text, header->space_count);
    if (summary->count > 0 && summary->count == header->space_count)
        shmt_text_add(text, ": complete");
    if (strcmp(header->digest, summary->kernel->digest) != 0)
        shmt_text_add(text, "; made for other sources than today's");
    if (summary->journal->cut)
        shmt_text_add(text, "; its last line is cut");
    shmt_text_add(text, "\n\n");
}

static void add_verdicts(const struct summary *summary, bool colour,
                         struct shmt_text *text)
{
    static const struct shmt_command_column columns[] = {
        {"verdict", false}, {"count", true}, {"", false}, {"meaning", false}
    };
    struct shmt_command_table table = {.columns = columns, .column_count = 4};

    for (size_t v = 0; v < SHMT_VERDICT_COUNT; v++) {
        struct shmt_text bar = {0};

        if (summary->verdicts[v] == 0)
            continue;
        shmt_command_add_bar(&bar, (double)summary->verdicts[v] /
                                       (double)summary->count, SHMT_SHOW_BAR);
        shmt_command_add_cell(&table,
                              v == SHMT_VERDICT_OK ? SHMT_PAINT_GOOD
                                               : SHMT_PAINT_NONE,
                              "%s", shmt_verdict_word((enum shmt_verdict)v));
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%zu",
                              summary->verdicts[v]);
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s",
                              shmt_text_string(&bar));
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s",
                              shmt_verdict_text((enum shmt_verdict)v));
        shmt_text_free(&bar);
    }
    shmt_command_table_add(&table, colour, text);
    shmt_command_table_free(&table);
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
        shmt_text_addf(text, ": %s\n", result->reason);
        before = "";
    }
}

/* Counts the configurations by their distance from the best. */
static void add_distribution(const struct summary *summary, bool colour,
                             struct shmt_text *text)
{
    static const struct shmt_command_column columns[] = {
        {"of the best", true}, {"count", true}, {"", false}
    };
    static const double edges[] = {1.01, 1.05, 1.1, 1.25, 1.5, 2, 4, 1e300};
    struct shmt_command_table table = {.columns = columns, .column_count = 3};
    const double best =
        summary->timed > 0 ? summary->results[0]->result->time_us : 0;
    size_t at = 0;

    for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++) {
        const size_t before = at;
        struct shmt_text bar = {0};

        while (at < summary->timed &&
               summary->results[at]->result->time_us <= best * edges[e])
            at++;
        shmt_command_add_bar(&bar, (double)(at - before) /
                                       (double)summary->timed, SHMT_SHOW_BAR);
        if (edges[e] < 1e9)
            shmt_command_add_cell(&table, SHMT_PAINT_NONE, "<= %.2fx",
                                  edges[e]);
        else
            shmt_command_add_cell(&table, SHMT_PAINT_NONE, "more");
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%zu", at - before);
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s",
                              shmt_text_string(&bar));
        shmt_text_free(&bar);
    }
    shmt_text_add(text, "\n");
    shmt_command_table_add(&table, colour, text);
    shmt_command_table_free(&table);
}

static void add_one(struct shmt_command_table *table,
                    const struct summary *summary,
                    const struct shmt_journal_record *record)
{
    const struct shmt_result *result = record->result;
    const double best = summary->results[0]->result->time_us;
    struct shmt_text bar = {0}, config = {0};

    shmt_command_add_bar(&bar, best / result->time_us, SHMT_SHOW_BAR);
    shmt_kernel_describe_config(summary->kernel, record->config, &config);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%.2f", result->time_us);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s", shmt_text_string(&bar));
    shmt_show_number(table, result->resources.registers);
    shmt_show_number(table, result->resources.spill_store_bytes);
    shmt_show_number(table, result->occupancy_percent);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s%s",
                          shmt_text_string(&config),
                          record == summary->usual ? "  (default)" : "");
    shmt_text_free(&bar);
    shmt_text_free(&config);
}

static void add_best(const struct summary *summary, int64_t top, bool colour,
                     struct shmt_text *text)
{
    static const struct shmt_command_column columns[] = {
        {"us", true}, {"", false}, {"regs", true}, {"spill", true},
        {"occ %", true}, {"configuration", false}
    };
    struct shmt_command_table table = {.columns = columns, .column_count = 6};
    bool usual_shown = summary->usual == NULL ||
                       !is_timed(summary->usual->result);

    for (size_t i = 0; i < summary->timed && (int64_t)i < top; i++) {
        add_one(&table, summary, summary->results[i]);
        usual_shown |= summary->results[i] == summary->usual;
    }
    if (!usual_shown && top > 0)
        add_one(&table, summary, summary->usual);
    if (table.cell_count > 0) {
        shmt_text_add(text, "\n");
        shmt_command_table_add(&table, colour, text);
    }
    shmt_command_table_free(&table);
}

static json_t *summary_json(const struct summary *summary)
{
    const struct shmt_journal_header *header = &summary->journal->header;
    json_t *root = json_object(), *verdicts = json_object();
    json_t *results = json_array();

    for (size_t v = 0; v < SHMT_VERDICT_COUNT; v++)
        if (summary->verdicts[v] > 0)
            json_object_set_new(verdicts,
                                shmt_verdict_word((enum shmt_verdict)v),
                                shmt_json_count(summary->verdicts[v]));
    for (size_t i = 0; i < summary->count; i++) {
        json_t *one = shmt_json_result(summary->results[i]->result);

        json_object_set_new(one, "config",
                            shmt_json_config(summary->kernel,
                                             summary->results[i]->config));
        json_object_set_new(one, "at_s",
                            shmt_json_real(summary->results[i]->at_s));
        json_array_append_new(results, one);
    }
    json_object_set_new(root, "kernel", shmt_json_text(header->kernel));
    json_object_set_new(root, "digest", shmt_json_text(header->digest));
    json_object_set_new(root, "device", shmt_json_device(&header->device));
    json_object_set_new(root, "size",
                        shmt_json_problem(summary->kernel, header->problem));
    json_object_set_new(root, "nvrtc_version",
                        json_integer(header->nvrtc_version));
    json_object_set_new(root, "protocol", shmt_json_text(header->protocol));
    json_object_set_new(root, "seed", shmt_json_count(header->seed));
    json_object_set_new(root, "data_seed",
                        shmt_json_count(header->data_seed));
    json_object_set_new(root, "space", shmt_json_count(header->space_count));
    json_object_set_new(root, "cut", json_boolean(summary->journal->cut));
    json_object_set_new(root, "verdicts", verdicts);
    json_object_set_new(root, "results", results);
    return root;
}

static enum shmtune_status print(const struct shmt_show *show,
                                 const struct summary *summary,
                                 struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (show->json)
        return shmt_json_print(summary_json(summary), err);
    add_heading(summary, &text);
    add_verdicts(summary, show->colour, &text);
    add_reasons(summary, &text);
    if (summary->timed > 0) {
        add_distribution(summary, show->colour, &text);
        add_best(summary, show->top, show->colour, &text);
    }
    if (text.failed)
        status = shmt_error_memory(err);
    else
        fputs(shmt_text_string(&text), stdout);
    shmt_text_free(&text);
    return status;
}

enum shmtune_status shmt_show_journal(const struct shmt_show *show,
                                      struct shmt_error *err)
{
    struct summary summary = {0};
    struct shmt_kernel *kernel = NULL;
    struct shmt_journal *journal = NULL;
    char name[80];
    enum shmtune_status status =
        shmt_journal_read_kernel_name(show->file, name, err);

    if (status == SHMTUNE_OK)
        status = shmt_command_kernel_of(show->file, name, show->spec, &kernel,
                                        err);
    if (status == SHMTUNE_OK)
        status = shmt_journal_read(show->file, kernel, &journal, err);
    summary.kernel = kernel;
    summary.journal = journal;
    if (status == SHMTUNE_OK)
        status = sum_up(&summary, err);
    if (status == SHMTUNE_OK)
        status = print(show, &summary, err);
    free(summary.results);
    free(summary.latest);
    shmt_journal_free(journal);
    shmt_kernel_free(kernel);
    return status == SHMTUNE_OK
               ? status
               : shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                            SHMTUNE_STORAGE);
}
