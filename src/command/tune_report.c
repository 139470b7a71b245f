/* SPDX-License-Identifier: MIT */
/*
 * tune_report: see tune_report.h.  It reads what the runs have written, so that
 * a page that is made while they go on is that which `shmtune report` would
 * make.  Called by tune.c and tune_work.c, between one reply and the next.
 */
#include "config.h"

#include "command/tune_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/report.h"
#include "report/report.h"

enum { BEFORE_MOST = 64 << 20 };

/* Seconds between two pages, and at least so many times what one takes. */
static const double every_s = 2, patience = 100;

struct shmt_command_page_run {
    const struct shmt_kernel *kernel;
    const char *journal, *tuning;      /* paths */
    bool done;
    struct shmt_journal *read;         /* of one that is done, when it was
                                          read */
};

/* What one page is made of. */
struct sheet {
    struct shmt_report *report;
    struct shmt_journal **journals;    /* to be freed; NULL: kept */
    struct shmt_tuning **tunings;
};

static bool is_first_of_tuning(const struct shmt_command_page *page, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (page->runs[i].done &&
            strcmp(page->runs[i].tuning, page->runs[k].tuning) == 0)
            return false;
    return page->runs[k].done;
}

/* A journal that is not there yet, or of which only the header is, is passed
 * over. */
static enum shmtune_status add_journal(struct shmt_command_page *page,
                                       size_t k, struct sheet *sheet,
                                       struct shmt_error *err)
{
    struct shmt_command_page_run *const run = &page->runs[k];
    struct shmt_journal *journal = run->read;

    if (journal == NULL &&
        shmt_journal_read(run->journal, run->kernel, &journal, NULL) !=
            SHMTUNE_OK)
        return SHMTUNE_OK;
    if (run->done)
        run->read = journal;
    else
        sheet->journals[k] = journal;
    return shmt_report_add_journal(sheet->report, run->journal, journal,
                                   run->kernel, err);
}

static enum shmtune_status add_tuning(struct shmt_command_page *page, size_t k,
                                      struct sheet *sheet,
                                      struct shmt_error *err)
{
    const struct shmt_command_page_run *const run = &page->runs[k];

    if (!is_first_of_tuning(page, k) ||
        shmt_tuning_read(run->tuning, &sheet->tunings[k], NULL) != SHMTUNE_OK)
        return SHMTUNE_OK;
    return shmt_report_add_tuning(sheet->report, run->tuning,
                                  sheet->tunings[k], run->kernel, err);
}

static enum shmtune_status fill(struct shmt_command_page *page,
                                struct sheet *sheet, bool with_tunings,
                                struct shmt_report_counts *counts,
                                struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    sheet->report = shmt_report_new();
    sheet->journals = calloc(page->count + 1, sizeof *sheet->journals);
    sheet->tunings = calloc(page->count + 1, sizeof *sheet->tunings);
    if (sheet->report == NULL || sheet->journals == NULL ||
        sheet->tunings == NULL)
        return shmt_error_memory(err);
    shmt_report_ask(sheet->report, &page->ask);
    for (size_t k = 0; status == SHMTUNE_OK && k < page->count; k++) {
        if (with_tunings)
            status = add_tuning(page, k, sheet, err);
        if (status == SHMTUNE_OK)
            status = add_journal(page, k, sheet, err);
    }
    return status == SHMTUNE_OK ? shmt_report_end(sheet->report, counts, err)
                                : status;
}

static void free_sheet(const struct shmt_command_page *page,
                       struct sheet *sheet)
{
    shmt_report_free(sheet->report);
    for (size_t k = 0; sheet->journals != NULL && k < page->count; k++)
        shmt_journal_free(sheet->journals[k]);
    for (size_t k = 0; sheet->tunings != NULL && k < page->count; k++)
        shmt_tuning_free(sheet->tunings[k]);
    free(sheet->journals);
    free(sheet->tunings);
}

/* A device, or what is larger than a page is, is not kept. */
static void keep(const char *path, struct shmt_command_page_before *before)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *data;
    size_t size;

    before->absent = shmt_path_is_absent(path);
    if (arena != NULL && shmt_path_is_file(path) &&
        shmt_path_read(arena, path, BEFORE_MOST, &data, &size, NULL) ==
            SHMTUNE_OK) {
        shmt_text_add_bytes(&before->data, data, size);
        before->known = !before->data.failed;
    }
    shmt_arena_free(arena);
}

static enum shmtune_status
put_back(const char *path, const struct shmt_command_page_before *before,
         struct shmt_error *err)
{
    if (before->absent && unlink(path) != 0 && errno != ENOENT)
        return shmt_error_system(err, path, "cannot be removed");
    return before->known ? shmt_command_put(path, &before->data, err)
                         : SHMTUNE_OK;
}

/* With `again` the page says that it will be another soon. */
static enum shmtune_status write_page(struct shmt_command_page *page,
                                      bool again, struct shmt_error *err)
{
    const double begun_s = shmt_clock_s();
    struct sheet sheet = {0};
    struct shmt_report_counts counts;
    struct shmt_text text = {0};
    char made[32];
    enum shmtune_status status = fill(page, &sheet, true, &counts, err);

    shmt_command_report_time(made);
    if (status == SHMTUNE_OK && again)
        shmt_report_refresh(sheet.report, (int)every_s);
    if (status == SHMTUNE_OK)
        status = shmt_report_write_page(sheet.report, made, &text, err);
    if (status == SHMTUNE_OK && !again && counts.runs == 0)
        status = put_back(page->path, &page->page_before, err);
    else if (status == SHMTUNE_OK)
        status = shmt_command_put(page->path, &text, err);
    shmt_text_free(&text);
    free_sheet(page, &sheet);
    page->spent_s += shmt_clock_s() - begun_s;
    page->written++;
    page->due_s = shmt_clock_s() +
                  every_s + patience * (shmt_clock_s() - begun_s);
    return status;
}

/* Of the only run. */
static enum shmtune_status write_plot(struct shmt_command_page *page,
                                      struct shmt_error *err)
{
    struct sheet sheet = {0};
    struct shmt_report_counts counts;
    struct shmt_text text = {0};
    enum shmtune_status status = fill(page, &sheet, false, &counts, err);

    if (status == SHMTUNE_OK && counts.runs > 0)
        status = shmt_report_write_plot(sheet.report, &text, err);
    if (status == SHMTUNE_OK && counts.runs > 0)
        status = shmt_command_put(page->plot, &text, err);
    else
        put_back(page->plot, &page->plot_before, NULL);
    shmt_text_free(&text);
    free_sheet(page, &sheet);
    return status;
}

enum shmtune_status shmt_command_page_begin(struct shmt_command_page *page,
                                            struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    if ((page->path != NULL && shmt_command_is_standard(page->path)) ||
        (page->plot != NULL && shmt_command_is_standard(page->plot)))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "what is drawn of a run is drawn anew as it "
                              "goes, which standard output (\"-\") cannot be; "
                              "name a file");
    if (page->path != NULL) {
        keep(page->path, &page->page_before);
        status = write_page(page, true, err);
    }
    if (status != SHMTUNE_OK || page->plot == NULL)
        return status;
    keep(page->plot, &page->plot_before);
    return shmt_command_put(page->plot, &page->plot_before.data, err);
}

enum shmtune_status shmt_command_page_add(struct shmt_command_page *page,
                                          const struct shmt_kernel *kernel,
                                          const char *journal,
                                          const char *tuning,
                                          struct shmt_error *err)
{
    if (page->path == NULL && page->plot == NULL)
        return SHMTUNE_OK;
    /* One that another GPU goes on with is there. */
    for (size_t k = 0; k < page->count; k++)
        if (strcmp(page->runs[k].journal, journal) == 0)
            return SHMTUNE_OK;
    if (!shmt_array_reserve(&page->runs, &page->room, page->count + 1,
                            sizeof *page->runs))
        return shmt_error_memory(err);
    page->runs[page->count++] = (struct shmt_command_page_run){
        .kernel = kernel, .journal = journal, .tuning = tuning};
    return SHMTUNE_OK;
}

void shmt_command_page_done(struct shmt_command_page *page,
                            const char *journal)
{
    for (size_t k = 0; k < page->count; k++)
        if (strcmp(page->runs[k].journal, journal) == 0)
            page->runs[k].done = true;
}

enum shmtune_status shmt_command_page_go_on(struct shmt_command_page *page,
                                            struct shmt_error *err)
{
    enum shmtune_status status;

    if (page->path == NULL || page->failed || shmt_clock_s() < page->due_s)
        return SHMTUNE_OK;
    status = write_page(page, true, err);
    page->failed = status != SHMTUNE_OK;
    return status;
}

enum shmtune_status shmt_command_page_end(struct shmt_command_page *page,
                                          struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    if (page->path != NULL)
        status = write_page(page, false, err);
    if (status == SHMTUNE_OK && page->plot != NULL)
        status = write_plot(page, err);
    return status;
}

void shmt_command_page_free(struct shmt_command_page *page)
{
    for (size_t k = 0; k < page->count; k++)
        shmt_journal_free(page->runs[k].read);
    shmt_text_free(&page->page_before.data);
    shmt_text_free(&page->plot_before.data);
    free(page->runs);
}
