/* SPDX-License-Identifier: MIT */
/*
 * export: the command `shmtune export`: writes a journal or recording, or the
 * space of a kernel, in a format of other tuners (exchange/), and the tunings
 * of a kernel as a header (export_tuned.c).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "command/command.h"
#include "command/export_tuned.h"
#include "command/json.h"
#include "exchange/exchange.h"
#include "record/record.h"

static const char help[] =
    "usage: shmtune export JOURNAL --to t4|kernel-tuner|t1 [-o FILE]\n"
    "                      [--spec SPEC.yaml] [--json]\n"
    "       shmtune export KERNEL|SPEC.yaml --to t1 [--size DIM=N,...]\n"
    "                      [-o FILE] [--json]\n"
    "       shmtune export KERNEL|TUNING... --to header [--spec SPEC.yaml]\n"
    "                      [-o FILE] [--json]\n"
    "       shmtune export KERNEL|TUNING... --template FILE\n"
    "                      [--spec SPEC.yaml] [-o FILE] [--json]\n"
    "\n"
    "Writes a journal or recording of a run as T4 results, or as a cache file\n"
    "that Kernel Tuner replays in its simulation mode. A run that was\n"
    "imported is exported unchanged. What the other format cannot hold\n"
    "(verdicts, registers, spills) is put into members named \"shmtune\",\n"
    "which `shmtune import` reads back.\n"
    "\n"
    "T1 is the search space alone, of a kernel or of a journal's kernel, for\n"
    "one problem: sizes stand in its conditions as numbers, derived names as\n"
    "what they stand for.\n"
    "\n"
    "A header is for programs that their own compiler builds: one file of\n"
    "C99 and C++ with the tuned configurations, by architecture, device and\n"
    "size, and the default for the rest, of a kernel's tunings or of those\n"
    "that are named. A template gives the same rows a form of your own: its\n"
    "lines between {begin} and {end} stand once for each tuned size, with\n"
    "{PARAMETER}, {DIMENSION}, {DERIVED NAME}, {kernel}, {device}, {arch},\n"
    "{time_us} and {number} replaced.\n"
    "\n"
    "  --to FORM          t4, kernel-tuner, t1 or header\n"
    "  --template FILE    the form of the rows, instead of --to\n"
    "  -o, --output FILE  where to (default: standard output); .gz compresses\n"
    "                     t4, kernel-tuner and t1\n"
    "  --spec SPEC.yaml   of the kernel, when it is not found by its name\n"
    "  --size DIM=N,...   of a kernel, the problem (default: the usual one)\n"
    "  --json             what was written to FILE, as JSON (t4, kernel-tuner\n"
    "                     and t1 are JSON already)\n"
    "\n"
    "examples:\n"
    "  shmtune export tunings/conv/a100.journal.gz --to t4 -o run.json\n"
    "  shmtune export tunings/scan/h100.journal --to kernel-tuner\n"
    "  shmtune export matmul --to t1 --size m=1000,n=1000,k=4096\n"
    "  shmtune export matmul --to header -o matmul_tuned.h\n"
    "  shmtune export transpose --template rows.in -o rows.cuh\n";

static const struct {
    const char *word;
    enum shmtune_status (*write)(const struct shmt_kernel *kernel,
                                 const struct shmt_journal *journal,
                                 struct shmt_text *text,
                                 struct shmt_error *err);
} forms[] = {
    {"t4", shmt_export_t4},
    {"kernel-tuner", shmt_export_cache},
    {"t1", NULL},               /* a space: shmt_export_t1 */
};

static enum shmtune_status put(const char *output,
                               const struct shmt_text *text,
                               struct shmt_error *err)
{
    if (output != NULL && shmt_text_ends(output, ".gz"))
        return shmt_recording_store(output, text, err);
    return shmt_command_put(output, text, err);
}

struct request {
    const char *spec, *output, *size;   /* or NULL */
    size_t form;
    bool json;
};

/* `journal` is NULL for a space, which has no records. */
static enum shmtune_status report(const struct request *request,
                                  const struct shmt_kernel *kernel,
                                  const struct shmt_journal *journal,
                                  struct shmt_error *err)
{
    size_t count = 0;
    enum shmtune_status status =
        journal == NULL ? SHMTUNE_OK
                        : shmt_export_count(kernel, journal, &count, err);

    if (status != SHMTUNE_OK)
        return status;
    return shmt_json_print(
        "export",
        json_pack("{s:s, s:s, s:o, s:I}", "kernel", kernel->name, "form",
                  forms[request->form].word, "file",
                  shmt_json_text(request->output), "records",
                  (json_int_t)count),
        err);
}

static enum shmtune_status export_journal(const char *path,
                                          const struct request *request,
                                          struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_journal *journal = NULL;
    struct shmt_text text = {0};
    const bool space = forms[request->form].write == NULL;
    enum shmtune_status status =
        request->size == NULL
            ? shmt_command_journal(path, request->spec, &kernel, &journal, err)
            : shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                             "--size is for a kernel; the journal %s has its "
                             "own size; leave --size out", path);

    if (status == SHMTUNE_OK)
        status = shmt_command_check_output(request->output, path, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_check_output_of(request->output, kernel, err);
    if (status == SHMTUNE_OK)
        status = space ? shmt_export_t1(kernel, journal->header.problem, &text,
                                        err)
                       : forms[request->form].write(kernel, journal, &text,
                                                    err);
    if (status == SHMTUNE_OK)
        status = put(request->output, &text, err);
    if (status == SHMTUNE_OK && request->json &&
        !shmt_command_is_standard(request->output))
        status = report(request, kernel, space ? NULL : journal, err);
    shmt_text_free(&text);
    shmt_journal_free(journal);
    shmt_kernel_free(kernel);
    return status;
}

/* The space of a kernel: of T1 alone, a journal has results. */
static enum shmtune_status export_kernel(const char *word,
                                         const struct request *request,
                                         struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_text text = {0};
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    enum shmtune_status status =
        forms[request->form].write == NULL
            ? shmt_command_kernel(word, &kernel, err)
            : shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                             "%s is a kernel, which has no results to write "
                             "as %s; name a journal, or use --to t1", word,
                             forms[request->form].word);

    if (status == SHMTUNE_OK)
        status = shmt_command_check_output_of(request->output, kernel, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_parse_problem(kernel, request->size, problem,
                                            err);
    if (status == SHMTUNE_OK)
        status = shmt_export_t1(kernel, problem, &text, err);
    if (status == SHMTUNE_OK)
        status = put(request->output, &text, err);
    if (status == SHMTUNE_OK && request->json &&
        !shmt_command_is_standard(request->output))
        status = report(request, kernel, NULL, err);
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
    return status;
}

/* A path of a spec, or a word that is no path and no file, is a kernel. */
static bool is_kernel(const char *word)
{
    enum shmt_command_format format;
    struct shmt_error why;

    if (!shmt_command_is_path(word))
        return !shmt_path_exists(word) && !shmt_recording_is_file(word);
    return shmt_command_format_of(word, &format, &why) == SHMTUNE_OK &&
           format == SHMT_FORMAT_SPEC;
}

/* A header, or a template. */
static enum shmtune_status export_tuned(const struct shmt_command_call *call,
                                        int count,
                                        const struct request *request,
                                        const char *form,
                                        struct shmt_error *err)
{
    const struct shmt_command_export_tuned tuned = {
        call, count, request->spec, form, request->output, request->json};

    if (count < 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "expected a kernel or tunings, none is given; "
                              "see shmtune export --help");
    if (request->size != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--size is for --to t1; a %s has every tuned "
                              "size; leave --size out",
                              form == NULL ? "header" : "template");
    return shmt_command_export_tuned(&tuned, err);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    const char *to = NULL, *form = NULL;
    struct request request = {0};
    const struct shmt_command_option options[] = {
        {"to", 0, SHMT_OPTION_TEXT, &to, 0, 0},
        {"template", 0, SHMT_OPTION_PATH, &form, 0, 0},
        {"output", 'o', SHMT_OPTION_PATH, &request.output, 0, 0},
        {"spec", 0, SHMT_OPTION_PATH, &request.spec, 0, 0},
        {"size", 0, SHMT_OPTION_TEXT, &request.size, 0, 0},
        {"json", 0, SHMT_OPTION_FLAG, &request.json, 0, 0},
        {0}
    };
    int count;
    enum shmtune_status status =
        shmt_command_options(call, options, &count, err);

    if (status != SHMTUNE_OK)
        return status;
    if (form != NULL && to != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--to %s and --template are two forms; give one "
                              "of them", to);
    if (form != NULL || (to != NULL && strcmp(to, "header") == 0))
        return export_tuned(call, count, &request, form, err);
    if (count != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "expected one journal or kernel, %d are given; "
                              "see shmtune export --help", count);
    for (size_t k = 0; to != NULL && k < sizeof forms / sizeof *forms; k++)
        if (strcmp(forms[k].word, to) == 0) {
            request.form = k;
            return is_kernel(call->words[0])
                       ? export_kernel(call->words[0], &request, err)
                       : export_journal(call->words[0], &request, err);
        }
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "%s%s: expected --to t4, --to kernel-tuner, --to "
                          "t1, --to header or --template",
                          to == NULL ? "" : "--to ",
                          to == NULL ? "no form is given" : to);
}

const struct shmt_command shmt_command_export = {
    "export", "write runs and spaces for other tuners, tunings as a header",
    help, run
};
