/* SPDX-License-Identifier: MIT */
/*
 * check: do specs, tunings, journals and recordings still fit each other,
 * the sources, the compiler and the devices they are for?  For continuous
 * integration: needs no GPU.  check_spec.c has what is about specs,
 * check_tuning.c what is about tunings, check_folder.c what is about folders
 * and packs.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "command/check.h"
#include "command/json.h"
#include "device/device.h"
#include "record/record.h"
#include "tune/tune.h"

/* Configurations of a spec that are compiled unless the user says how many. */
enum { SAMPLE = 16 };

static const char help[] =
    "usage: shmtune check [KERNEL|FILE|DIR|PACK]... [--no-compile]\n"
    "                     [OPTION]...\n"
    "\n"
    "Checks kernel specs, tunings, journals and recordings, and folders and\n"
    "packs that an application ships; with no word, all built-in kernels and\n"
    "what is shipped for them. Needs no GPU.\n"
    "  a spec     its format, its sizes and defaults; the default compiles,\n"
    "             uses the shared bytes it states, and is resident; so do\n"
    "             some configurations that have each word and the lowest and\n"
    "             highest number of each parameter; the reference compiles;\n"
    "             all take what they are passed, type by type; outputs can be\n"
    "             written; extern __shared__ has its bytes; a note of words\n"
    "             that no parameter has or that are compared with a number,\n"
    "             of parameters that change nothing or that the source\n"
    "             defines itself, of reals without a tolerance, and of data\n"
    "             files that cannot be read; one that can has to fit\n"
    "  a tuning   its format; made for today's sources; every configuration\n"
    "             in the space of its problem, launchable on its device,\n"
    "             compiling without new spills or other shared bytes\n"
    "  a journal  its format; made for today's sources; every record in the\n"
    "             space\n"
    "  a folder   its specs, tunings and journals; of cubins/ the form of its\n"
    "             list, manifest; that each binary of it is there and\n"
    "             whole; that for each architecture every winner has one; a\n"
    "             note of what else may be chosen and has none, of binaries\n"
    "             of other sources, and of files that nothing selects;\n"
    "             of one of captured launches, each of their specs\n"
    "  a pack     that each file has its digest; then as a folder\n"
    "What has to be compiled is left out, saying so, where there is no NVRTC.\n"
    "\n"
    "  --spec SPEC.yaml  the kernel of tunings and journals that is not built\n"
    "                    in\n"
    "  --arch sm_XX      for specs [sm_90]; tunings name their own\n"
    "  --no-compile      leave the compiler out\n"
    "  --sample N        compile at most so many configurations beside the\n"
    "                    default of a spec [16; 0 where no file is named]\n"
    "  --cubins DIR      put the binaries of winners and defaults of tunings\n"
    "                    there, for applications on machines without compiler\n"
    "  -j, --jobs N      compile workers [processors]\n"
    SHMT_COMPILER_DEADLINE_HELP
    SHMT_COMMAND_LIMITS_HELP
    "  --json            as JSON\n"
    "\n"
    "exit status: 0 all is well, 2 something is not\n"
    "\n"
    "examples:\n"
    "  shmtune check\n"
    "  shmtune check my_kernel.yaml\n"
    "  shmtune check tunings/*/*.yaml --no-compile\n"
    "  shmtune check share/myapp myapp.pack\n";

static const struct {
    const char *word;
    enum shmt_command_paint paint;
} outcomes[] = {
    [SHMT_CHECK_GOOD] = {"ok", SHMT_PAINT_GOOD},
    [SHMT_CHECK_BAD] = {"wrong", SHMT_PAINT_BAD},
    [SHMT_CHECK_NOTE] = {"note", SHMT_PAINT_NONE},
    [SHMT_CHECK_SKIPPED] = {"skipped", SHMT_PAINT_DIM},
};

/* Appends a text in which the files of a pack are called as in it, not as they
 * lie meanwhile. */
static void add_shown(const struct shmt_check *check, const char *text,
                      struct shmt_text *out)
{
    const size_t length = strlen(check->root);
    const char *at;

    while (length > 0 && (at = strstr(text, check->root)) != NULL) {
        shmt_text_add_bytes(out, text, (size_t)(at - text));
        shmt_text_add(out, check->pack);
        text = at + length;
    }
    shmt_text_add(out, text);
}

static void add_finding(struct shmt_check *check,
                        enum shmt_check_outcome outcome, const char *file,
                        const char *text)
{
    json_t *const finding = shmt_json_object(
        "file", shmt_json_text(file),
        "outcome", shmt_json_text(outcomes[outcome].word),
        "text", shmt_json_text(text), NULL);

    shmt_json_add_place(finding, text);
    json_array_append_new(check->json, finding);
}

static void print_finding(struct shmt_check *check,
                          enum shmt_check_outcome outcome, const char *file,
                          const char *text)
{
    const bool colour = check->call->colour;
    const size_t length = strlen(file);
    struct shmt_text line = {0};

    shmt_text_addf(&line, "%s%s%s%*s ",
                   shmt_command_begin_paint(outcomes[outcome].paint, colour),
                   outcomes[outcome].word,
                   shmt_command_end_paint(outcomes[outcome].paint, colour),
                   (int)(7 - strlen(outcomes[outcome].word)), "");
    /* Messages of the readers already begin with the name of the file. */
    if (strncmp(text, file, length) != 0 || text[length] != ':') {
        shmt_text_add_visible(&line, file);
        shmt_text_add(&line, ": ");
    }
    shmt_text_add_visible(&line, text);
    shmt_text_add(&line, "\n");
    check->failed |=
        shmt_command_print_lines(&line, check->call, NULL) != SHMTUNE_OK;
}

void shmt_check_report(struct shmt_check *check,
                       enum shmt_check_outcome outcome,
                       const char *format, ...)
{
    char text[SHMT_ERROR_BYTES];
    struct shmt_text shown = {0}, file = {0};
    va_list arguments;

    va_start(arguments, format);
    shmt_error_format(text, sizeof text, 0, format, arguments);
    va_end(arguments);
    check->good += outcome == SHMT_CHECK_GOOD;
    check->bad += outcome == SHMT_CHECK_BAD;
    check->skipped += outcome == SHMT_CHECK_SKIPPED;
    add_shown(check, text, &shown);
    add_shown(check, check->file, &file);
    check->failed |= shown.failed || file.failed;
    if (check->json != NULL)
        add_finding(check, outcome, shmt_text_string(&file),
                    shmt_text_string(&shown));
    else if (outcome != SHMT_CHECK_GOOD || !check->call->quiet)
        print_finding(check, outcome, shmt_text_string(&file),
                      shmt_text_string(&shown));
    if (check->json == NULL)
        shmt_command_print_excerpt(stdout, text);
    shmt_text_free(&shown);
    shmt_text_free(&file);
}

enum shmtune_status shmt_check_report_failure(struct shmt_check *check,
                                              enum shmtune_status status,
                                              const struct shmt_error *err)
{
    if (status == SHMTUNE_OK || status == SHMTUNE_NO_MEMORY ||
        status == SHMTUNE_INTERRUPTED || status == SHMTUNE_INTERNAL)
        return status;
    shmt_check_report(check, SHMT_CHECK_BAD, "%s", err->text);
    return SHMTUNE_OK;
}

enum shmtune_status shmt_check_compiler(struct shmt_check *check,
                                        const struct shmt_kernel *kernel,
                                        const char *arch,
                                        struct shmt_target **out,
                                        struct shmt_error *err)
{
    enum shmtune_status status;

    *out = NULL;
    if (!check->compile || kernel->source == NULL)
        return SHMTUNE_OK;
    if (kernel->nvcc || check->no_compiler[0] == '\0') {
        status = shmt_compiler_open(kernel, arch, &check->compiler, out, err);
        if (status != SHMTUNE_NO_DEVICE)
            return status;
        if (!kernel->nvcc)
            snprintf(check->no_compiler, sizeof check->no_compiler, "%s",
                     err->text);
        shmt_check_report(check, SHMT_CHECK_SKIPPED, "compiling: %s",
                          err->text);
        return SHMTUNE_OK;
    }
    shmt_check_report(check, SHMT_CHECK_SKIPPED, "compiling: no NVRTC");
    return SHMTUNE_OK;
}

/* -- a journal ------------------------------------------------------------ */

/* A run imported from another tuner has the values of the parameters and may
 * lack the constraints; then only the recorded configurations are known of its
 * space. */
static bool is_own_space(const struct shmt_kernel *kernel,
                         const struct shmt_journal *journal)
{
    return journal->header.origin != NULL && kernel->constraint_count == 0 &&
           journal->header.space_count <= journal->count;
}

/* Every record of a configuration that the space has today. */
static enum shmtune_status check_records(struct shmt_check *check,
                                         const struct shmt_kernel *kernel,
                                         const struct shmt_journal *journal,
                                         struct shmt_error *err)
{
    struct shmt_text config = {0};
    struct shmt_space *space;
    size_t outside = 0, first = 0;
    uint64_t index;
    bool other;
    const struct shmt_command_problem at = {kernel, journal->header.problem};
    enum shmtune_status status = shmt_command_build_space(
        &check->limits, check->call, &at, &space, err);

    if (status != SHMTUNE_OK)
        return status;
    if (shmt_space_is_drawn(space)) {
        shmt_check_report(check, SHMT_CHECK_NOTE, SHMT_SPACE_DRAWN
                          "; the records were not compared with it",
                          kernel->name,
                          (unsigned long long)shmt_space_count(space));
        shmt_space_free(space);
        return SHMTUNE_OK;
    }
    for (size_t i = 0; i < journal->count; i++)
        if (!shmt_space_index(space, journal->records[i].config, &index) &&
            outside++ == 0)
            first = i;
    other = shmt_space_count(space) != journal->header.space_count;
    if (other && is_own_space(kernel, journal))
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "imported without its constraints: "
                          "%" PRIu64 " of the "
                          "%" PRIu64 " configurations of the spec are in it",
                          journal->header.space_count, shmt_space_count(space));
    else if (other)
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "the space has %" PRIu64 " configurations, %" PRIu64
                          " when it was recorded", shmt_space_count(space),
                          journal->header.space_count);
    if (outside > 0) {
        shmt_kernel_describe_config(kernel, journal->records[first].config,
                                    &config);
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "%s:%d:1: %zu record%s of configurations that are "
                          "not in the space, the first of %s", check->file,
                          journal->records[first].line, outside,
                          outside == 1 ? " is" : "s are",
                          shmt_text_string(&config));
    }
    shmt_text_free(&config);
    shmt_space_free(space);
    return SHMTUNE_OK;
}

static enum shmtune_status check_content(struct shmt_check *check,
                                         const struct shmt_kernel *kernel,
                                         const struct shmt_journal *journal,
                                         struct shmt_error *err)
{
    const size_t bad = check->bad;
    size_t results = 0;
    bool *const latest = calloc(journal->count + 1, sizeof *latest);
    enum shmtune_status status =
        latest == NULL ? shmt_error_memory(err)
                       : shmt_journal_latest(kernel, journal, latest, err);

    if (strcmp(journal->header.digest, kernel->digest) != 0)
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "made for other sources of %s: digest %.12s..., "
                          "today's are %.12s...", kernel->name,
                          journal->header.digest, kernel->digest);
    if (journal->cut)
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "its last line is cut: the run was killed");
    if (status == SHMTUNE_OK)
        status = check_records(check, kernel, journal, err);
    for (size_t i = 0; status == SHMTUNE_OK && i < journal->count; i++)
        results += latest[i];
    if (status == SHMTUNE_OK && check->bad == bad)
        shmt_check_report(check, SHMT_CHECK_GOOD,
                          "journal of %s on %s: %zu results of %" PRIu64
                          " configurations", kernel->name,
                          journal->header.device.name, results,
                          journal->header.space_count);
    free(latest);
    return status;
}

static enum shmtune_status check_journal(struct shmt_check *check,
                                         struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_journal *journal = NULL;
    enum shmtune_status status = shmt_command_journal(
        check->file, check->spec, &kernel, &journal, err);

    if (status == SHMTUNE_OK)
        status = check_content(check, kernel, journal, err);
    shmt_journal_free(journal);
    shmt_kernel_free(kernel);
    return status;
}

/* -- a file --------------------------------------------------------------- */

enum shmtune_status shmt_check_file(struct shmt_check *check,
                                    const char *file, struct shmt_error *err)
{
    static enum shmtune_status (*const checks[])(struct shmt_check *,
                                                 struct shmt_error *) = {
        [SHMT_FORMAT_SPEC] = shmt_check_spec,
        [SHMT_FORMAT_TUNING] = shmt_check_tuning,
        [SHMT_FORMAT_JOURNAL] = check_journal,
    };
    enum shmt_command_format format;
    enum shmtune_status status;
    char path[4096];

    check->file = shmt_command_spec_of(file, path);
    status = shmt_command_format_of(check->file, &format, err);
    if (status == SHMTUNE_OK)
        status = checks[format](check, err);
    return shmt_check_report_failure(check, status, err);
}

/* Each launch in a folder of captured ones; `count` is how many. */
static enum shmtune_status check_launches(struct shmt_check *check,
                                          const char *folder, size_t *count,
                                          struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *const *launches;
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : shmt_command_list_launches(arena, folder, &launches,
                                                   count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < *count; k++)
        status = shmt_check_file(check, launches[k], err);
    shmt_arena_free(arena);
    return status;
}

/* The kernel that is built in, where the word names one; else NULL. */
static struct shmt_kernel *built_in(const char *word)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error unused;

    return shmt_command_is_path(word) || shmt_path_exists(word) ||
                   shmt_command_kernel(word, &kernel, &unused) != SHMTUNE_OK
               ? NULL : kernel;
}

/* What somebody names: a captured launch is a folder too. */
static enum shmtune_status check_word(struct shmt_check *check,
                                      const char *word,
                                      struct shmt_error *err)
{
    struct shmt_kernel *const kernel = built_in(word);
    enum shmtune_status status;
    size_t launches = 0;
    char path[4096];

    if (kernel != NULL) {
        status = shmt_check_kernel(check, kernel, err);
        shmt_kernel_free(kernel);
        return status;
    }
    if (shmt_path_is_folder(shmt_command_spec_of(word, path))) {
        status = check_launches(check, word, &launches, err);
        return status != SHMTUNE_OK || launches > 0
                   ? status : shmt_check_folder(check, word, err);
    }
    return shmt_check_is_pack(word) ? shmt_check_pack(check, word, err)
                                    : shmt_check_file(check, word, err);
}

/* -- the command ---------------------------------------------------------- */

static enum shmtune_status check_all(struct shmt_check *check, int count,
                                     struct shmt_error *err)
{
    enum shmtune_status status =
        count == 0 ? shmt_check_shipped(check, err) : SHMTUNE_OK;

    for (int i = 0; status == SHMTUNE_OK && i < count; i++)
        status = check_word(check, check->call->words[i], err);
    return status;
}

static enum shmtune_status sum_up(struct shmt_check *check,
                                  struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    if (check->failed)
        return shmt_error_memory(err);
    if (check->json != NULL)
        status = shmt_json_print("check",
            json_pack("{s:O, s:I, s:I, s:I}", "findings", check->json, "ok",
                      (json_int_t)check->good, "wrong",
                      (json_int_t)check->bad, "skipped",
                      (json_int_t)check->skipped), err);
    else if (!check->call->quiet)
        printf("%zu ok, %zu wrong, %zu skipped\n", check->good, check->bad,
               check->skipped);
    if (status == SHMTUNE_OK && check->bad > 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%zu check%s failed", check->bad,
                                shmt_text_plural(check->bad));
    return status;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct shmt_check check = {
        .call = call, .compiler = SHMT_COMPILER_USUAL,
        .compile = true, .sample = -1, .root = ""
    };
    bool json = false;
    struct shmtune_device device;
    const struct shmt_command_option options[] = {
        {"spec", 0, SHMT_OPTION_PATH, &check.spec, 0, 0},
        {"arch", 0, SHMT_OPTION_TEXT, &check.arch, 0, 0},
        {"compile", 0, SHMT_OPTION_FLAG, &check.compile, 0, 0},
        {"sample", 0, SHMT_OPTION_INT, &check.sample, 0, 4096},
        {"cubins", 0, SHMT_OPTION_PATH, &check.cubins, 0, 0},
        {"jobs", 'j', SHMT_OPTION_INT, &check.compiler.jobs, 1, 1024},
        SHMT_COMPILER_DEADLINE(check.compiler.deadline_s),
        SHMT_COMMAND_LIMITS(check.limits),
        {"json", 0, SHMT_OPTION_FLAG, &json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status == SHMTUNE_OK && !check.compile &&
        (check.arch != NULL || check.cubins != NULL))
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--%s is for the compiler, which --no-compile "
                                "leaves out; give one of them",
                                check.arch != NULL ? "arch" : "cubins");
    if (check.arch == NULL)
        check.arch = "sm_90";
    if (status == SHMTUNE_OK)
        status = shmt_compiler_arch(check.arch, &device, err);
    if (status != SHMTUNE_OK)
        return status;
    /* What is shipped has tunings, which are compiled. */
    if (check.sample < 0)
        check.sample = rest > 0 ? SAMPLE : 0;
    if (check.cubins != NULL &&
        (status = shmt_path_make_folder(check.cubins, 0755, err)) !=
            SHMTUNE_OK)
        return status;
    if (json && (check.json = json_array()) == NULL)
        return shmt_error_memory(err);
    status = check_all(&check, rest, err);
    /* Where something is wrong it may be a tuning, and that is told. */
    if (status == SHMTUNE_OK && check.cubins != NULL && check.tunings == 0 &&
        check.bad == 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "--cubins is for tunings, of which none is "
                                "among what is checked; name one");
    if (status == SHMTUNE_OK)
        status = sum_up(&check, err);
    json_decref(check.json);
    return status;
}

const struct shmt_command shmt_command_check = {
    "check", "specs, tunings, folders and packs against sources and compiler",
    help, run
};
