/* SPDX-License-Identifier: MIT */
/*
 * report: the command `shmtune report`: writes what tunings and journals say as
 * one page of HTML, or one run as a drawing.  report_files.c finds and reads
 * the files.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "command/figures.h"
#include "command/json.h"
#include "command/report.h"
#include "report/report.h"

static const char help[] =
    "usage: shmtune report [FILE|FOLDER]... [OPTION]...\n"
    "\n"
    "Writes one page of HTML about tunings, journals and recordings: what was\n"
    "won on which device, and of each run that has a journal the search over\n"
    "time, time by the values of parameters and of pairs of them, resources\n"
    "against time, and why candidates failed. What `shmtune explain KERNEL\n"
    "--json` printed may be among the files (in folders: *.explain.json): of\n"
    "its problem the page then has what the hardware counted, of the default\n"
    "and of the winner, and what that means. The page needs no network and\n"
    "nothing beside it, and can be read with scripts off and on a phone.\n"
    "Without files: all in ./tunings or, where there is none, what is\n"
    "shipped. In a folder, what cannot be read is left out, and said; what\n"
    "`shmtune dispatch` measured at other sizes is no run.\n"
    "\n"
    "  -o, --output FILE     the page [report.html]; - prints it\n"
    "  --plot FILE.svg       draw the run of one journal, its convergence and\n"
    "                        time against each parameter; without -o no page\n"
    "                        is written\n"
    "  --spec SPEC.yaml      the kernel of a journal, when it is not built in\n"
    "                        (may be repeated)\n"
    "  --metric NAME, --metric 'NAME = EXPRESSION'\n"
    "                        a number of the default and the winner, such as\n"
    "                        shared_bytes, or made of such (may be repeated)\n"
    "  --pareto NAME,NAME,...\n"
    "                        of each run with a journal, the configurations\n"
    "                        that none beats on all of these\n"
    "  -j, --jobs N          files read at a time [processors]\n"
    "  --json                what was written, as JSON\n"
    "\n"
    "The same files make the same page where $SOURCE_DATE_EPOCH says when it\n"
    "is made.\n"
    "\n"
    "examples:\n"
    "  shmtune report -o report.html\n"
    "  shmtune report tunings/transpose run.journal\n"
    "  shmtune report run.journal --spec my_kernel.yaml --plot run.svg\n"
    "  shmtune report tunings/transpose transpose.explain.json\n";

struct options {
    const char *output, *plot;
    struct shmt_command_repeats specs;
    struct shmt_command_figures figures;
    int64_t jobs;
    bool json;
};

static enum shmtune_status parse(const struct shmt_command_call *call,
                                 struct options *o, int *rest,
                                 struct shmt_error *err)
{
    const struct shmt_command_option table[] = {
        {"output", 'o', SHMT_OPTION_PATH, &o->output, 0, 0},
        {"plot", 0, SHMT_OPTION_PATH, &o->plot, 0, 0},
        {"spec", 0, SHMT_OPTION_PATHS, &o->specs, 0, 0},
        SHMT_COMMAND_FIGURES(o->figures),
        {"jobs", 'j', SHMT_OPTION_INT, &o->jobs, 1, 256},
        {"json", 0, SHMT_OPTION_FLAG, &o->json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };

    time_t date;
    int standard;
    enum shmtune_status status;

    *o = (struct options){.jobs = shmt_command_cores()};
    status = shmt_command_options(call, table, rest, err);
    if (status == SHMTUNE_OK)
        status = shmt_clock_date(&date, err);
    standard = (o->output != NULL && shmt_command_is_standard(o->output)) +
               (o->plot != NULL && shmt_command_is_standard(o->plot)) +
               o->json;
    if (status == SHMTUNE_OK && standard > 1)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--output -, --plot - and --json each want "
                                "standard output; one can have it");
    if (status == SHMTUNE_OK)
        status = shmt_command_check_apart("output", o->output, o->plot, err);
    return status;
}

void shmt_command_report_time(char out[32])
{
    time_t now;
    struct tm utc;

    (void)shmt_clock_date(&now, NULL);
    if (gmtime_r(&now, &utc) == NULL ||
        strftime(out, 32, "%Y-%m-%d %H:%M UTC", &utc) == 0)
        out[0] = '\0';
}

static enum shmtune_status add_file(struct shmt_report *report,
                                    const struct shmt_command_file *file,
                                    struct shmt_error *err)
{
    if (file->why.status != SHMTUNE_OK)
        return shmt_report_leave_out(report, file->path, file->why.text, err);
    switch (file->kind) {
    case SHMT_COMMAND_JOURNAL:
        return shmt_report_add_journal(report, file->path, file->journal,
                                       file->kernel, err);
    case SHMT_COMMAND_COUNTERS:
        return shmt_report_add_counters(report, file->counters, err);
    default:
        return shmt_report_add_tuning(report, file->path, file->tuning,
                                      file->kernel, err);
    }
}

static void tell_left_out(const struct shmt_report *report)
{
    const struct shmt_report_left_out *list;
    const size_t count = shmt_report_list_left_out(report, &list);

    for (size_t k = 0; k < count; k++)
        shmt_command_tell("left out: ", list[k].why);
}

static enum shmtune_status check_left(const struct shmt_report *report,
                                      const struct shmt_report_counts *counts,
                                      struct shmt_error *err)
{
    const struct shmt_report_left_out *list;
    const size_t count = shmt_report_list_left_out(report, &list);

    if (counts->files > 0 || count == 0)
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INVALID_FILE, "there is nothing to "
                          "show: %s%s", list[0].why,
                          count > 1 ? "; the other files are left out, too"
                                    : "");
}

static enum shmtune_status write_plot(const struct shmt_report *report,
                                      const char *path, size_t journals,
                                      struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (journals > 1)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%zu journals are given; --plot draws the run "
                                "of one", journals);
    if (status == SHMTUNE_OK)
        status = shmt_report_write_plot(report, &text, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_put(path, &text, err);
    shmt_text_free(&text);
    return status;
}

static void tell(const struct shmt_report_counts *counts, const char *path,
                 size_t bytes)
{
    struct shmt_text text = {0};

    shmt_text_add_visible(&text, path);
    shmt_text_addf(&text, ": %zu kernel%s, %zu problem%s, %zu device%s, from "
                          "%zu file%s; %.1f KB", counts->kernels,
                   shmt_text_plural(counts->kernels), counts->problems,
                   shmt_text_plural(counts->problems), counts->devices,
                   shmt_text_plural(counts->devices), counts->files,
                   shmt_text_plural(counts->files), (double)bytes / 1e3);
    shmt_command_tell("", shmt_text_string(&text));
    shmt_text_free(&text);
}

static enum shmtune_status print_json(const struct shmt_report *report,
                                      const struct shmt_report_counts *counts,
                                      const struct options *options,
                                      struct shmt_error *err)
{
    json_t *const left_out = json_array();
    const struct shmt_report_left_out *list;
    const size_t count = shmt_report_list_left_out(report, &list);

    for (size_t k = 0; k < count; k++)
        json_array_append_new(left_out, shmt_json_object(
            "file", shmt_json_text(list[k].path),
            "why", shmt_json_text(list[k].why), NULL));
    return shmt_json_print("report", shmt_json_object(
        "page", shmt_json_text(options->output),
        "plot", shmt_json_text(options->plot),
        "kernels", shmt_json_count(counts->kernels),
        "problems", shmt_json_count(counts->problems),
        "devices", shmt_json_count(counts->devices),
        "runs", shmt_json_count(counts->runs),
        "journals", shmt_json_count(counts->journals),
        "counted", shmt_json_count(counts->counted),
        "files", shmt_json_count(counts->files),
        "left_out", left_out, NULL), err);
}

static enum shmtune_status write_page(const struct shmt_command_call *call,
                                      const struct options *options,
                                      const struct shmt_report *report,
                                      const struct shmt_report_counts *counts,
                                      struct shmt_error *err)
{
    struct shmt_text text = {0};
    char made[32];
    enum shmtune_status status;

    shmt_command_report_time(made);
    status = shmt_report_write_page(report, made, &text, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_put(options->output, &text, err);
    if (status == SHMTUNE_OK && !call->quiet && !options->json)
        tell(counts, options->output, text.length);
    shmt_text_free(&text);
    return status;
}

/* Neither the page nor the drawing takes the place of what is read. */
static enum shmtune_status check_outputs(const struct options *options,
                                         const struct shmt_command_files *files,
                                         struct shmt_error *err)
{
    const char *const outputs[] = {options->output, options->plot};
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++)
        for (size_t k = 0; status == SHMTUNE_OK && k < files->count; k++) {
            const struct shmt_command_file *const file = &files->items[k];

            status = shmt_command_check_output(outputs[o], file->path, err);
            if (status == SHMTUNE_OK && file->kernel != NULL)
                status = shmt_command_check_output_of(outputs[o],
                                                      file->kernel, err);
        }
    return status;
}

static enum shmtune_status make(const struct shmt_command_call *call,
                                const struct options *options,
                                const struct shmt_command_files *files,
                                struct shmt_error *err)
{
    const struct shmt_figure_ask ask =
        shmt_command_figures_ask(&options->figures);
    struct shmt_report *const report = shmt_report_new();
    struct shmt_report_counts counts;
    enum shmtune_status status =
        report == NULL ? shmt_error_memory(err) : SHMTUNE_OK;

    if (status == SHMTUNE_OK)
        shmt_report_ask(report, &ask);
    for (size_t k = 0; status == SHMTUNE_OK && k < files->count; k++)
        status = add_file(report, &files->items[k], err);
    if (status == SHMTUNE_OK)
        status = shmt_report_end(report, &counts, err);
    if (status == SHMTUNE_OK && !call->quiet)
        tell_left_out(report);
    if (status == SHMTUNE_OK)
        status = check_left(report, &counts, err);
    if (status == SHMTUNE_OK && options->plot != NULL)
        status = write_plot(report, options->plot, counts.journals, err);
    if (status == SHMTUNE_OK && options->output != NULL)
        status = write_page(call, options, report, &counts, err);
    if (status == SHMTUNE_OK && options->json)
        status = print_json(report, &counts, options, err);
    shmt_report_free(report);
    return status;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct options options;
    struct shmt_command_files files;
    int rest;
    enum shmtune_status status = parse(call, &options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (options.output == NULL && options.plot == NULL)
        options.output = "report.html";
    files = (struct shmt_command_files){.specs = &options.specs,
                                        .jobs = options.jobs};
    status = shmt_command_files_read(&files, call->words, (size_t)rest, err);
    if (status == SHMTUNE_OK)
        status = check_outputs(&options, &files, err);
    if (status == SHMTUNE_OK)
        status = make(call, &options, &files, err);
    shmt_command_files_free(&files);
    return status;
}

const struct shmt_command shmt_command_report = {
    "report", "tunings and journals as a page", help, run
};
