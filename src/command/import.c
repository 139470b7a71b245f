/* SPDX-License-Identifier: MIT */
/*
 * import: search spaces and recorded runs of other tuners become specs
 * and recordings of ours.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "command/command.h"
#include "command/json.h"
#include "device/device.h"
#include "exchange/exchange.h"
#include "record/record.h"

static const char help[] =
    "usage: shmtune import FILE... [-o DIR] [--name NAME] [--spec SPEC.yaml]\n"
    "                      [--device NAME] [--force] [--json]\n"
    "\n"
    "Reads search spaces and recorded runs of other tuners, plain or gzipped:\n"
    "T1 search spaces (JSON), Kernel Tuner cache files, T4 results, results\n"
    "of KTT and of CLBlast's tuners (JSON). Writes DIR/kernels/NAME.yaml, a\n"
    "spec of the space, and of a run the recording\n"
    "DIR/tunings/NAME/DEVICE.journal.gz, which `shmtune tune --device` and\n"
    "`shmtune score` take.\n"
    "\n"
    "Conditions are Python expressions: comparisons, also chained, and, or,\n"
    "not, in [..], + - * / // % **, min, max, abs; values are lists, ranges\n"
    "and comprehensions with one for and one if. Anything else is refused\n"
    "with its place. A run without a space has all its values and no\n"
    "constraints; name the spec of its space with --spec to have them.\n"
    "\n"
    "  -o, --output DIR   where to (default: the current folder)\n"
    "  --name NAME        of the kernel, when the file's own does not suit\n"
    "  --spec SPEC.yaml   the space of a run is this one: writes no spec\n"
    "  --device NAME      of a run, when the file does not say\n"
    "  --force            replace files that are there\n"
    SHMT_COMMAND_LIMITS_HELP
    "  --json             what was written, as JSON\n"
    "\n"
    "examples:\n"
    "  shmtune import hotspot.json\n"
    "  shmtune import convolution-A100.json.gz -o recordings\n"
    "  shmtune import run.t4.json --spec kernels/conv.yaml --device 'A100'\n";

struct job {
    const struct shmt_command_call *call;
    const char *output, *name, *spec, *device;
    bool force;
    struct shmt_command_limits limits;
    struct shmt_arena *arena;
    json_t *json;              /* an array, or NULL */
};

/* Of one file: what was read and what was written. */
struct done {
    const struct shmt_import *import;
    const char *spec;
    const char *journal;       /* NULL: none */
    bool written;              /* the spec is new, or replaces this: */
    const char *replaced;      /* NULL: there was none */
    size_t replaced_size;
    uint64_t configurations;
    bool drawn;                /* they are some of more */
};

static enum shmtune_status refuse_existing(const struct job *job,
                                           const char *path,
                                           struct shmt_error *err)
{
    const enum shmt_path_kind kind =
        job->force ? SHMT_PATH_ABSENT : shmt_path_kind(path);

    if (kind == SHMT_PATH_ABSENT)
        return SHMTUNE_OK;
    if (kind == SHMT_PATH_UNKNOWN)
        return shmt_error_system(err, path, "cannot be examined");
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "%s already exists; --force replaces it, --name or "
                          "--output choose another place", path);
}

static void tell(const struct shmt_import *import, const char *what)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s: %s", import->file, what);
    shmt_command_tell("", shmt_text_string(&text));
    shmt_text_free(&text);
}

/* The spec of the import's space, unless the same is there already. */
static enum shmtune_status write_spec(const struct job *job,
                                      struct done *done,
                                      struct shmt_error *err)
{
    const char *const folder =
        shmt_path_join(job->arena, job->output, "kernels");
    struct shmt_text text = {0}, name = {0};
    enum shmtune_status status;
    const char *data = NULL;
    bool defaults = true;
    size_t size = 0;

    shmt_text_addf(&name, "%s.yaml", done->import->name);
    done->spec = folder == NULL || name.failed
                     ? NULL : shmt_path_join(job->arena, folder, name.data);
    shmt_text_free(&name);
    if (done->spec == NULL)
        return shmt_error_memory(err);
    status = shmt_import_spec(done->import, &text, &defaults, err);
    if (status == SHMTUNE_OK && !defaults && !job->call->quiet)
        tell(done->import, "its default configuration violates its own "
                           "conditions and is left out");
    if (status == SHMTUNE_OK && !shmt_path_is_absent(done->spec))
        status = shmt_path_read(job->arena, done->spec, 1 << 20, &data, &size,
                                err);
    if (status == SHMTUNE_NOT_FOUND)
        status = SHMTUNE_OK;
    if (status == SHMTUNE_OK && data != NULL && size == text.length &&
        memcmp(data, text.data, size) == 0)
        goto out;
    if (status == SHMTUNE_OK)
        status = refuse_existing(job, done->spec, err);
    if (status == SHMTUNE_OK)
        status = shmt_path_make_folder(folder, 0777, err);
    if (status == SHMTUNE_OK)
        status = shmt_path_write(done->spec, text.data, text.length, err);
    done->written = status == SHMTUNE_OK;
    done->replaced = data;
    done->replaced_size = size;
out:
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status count_configurations(
    const struct shmt_kernel *kernel, struct done *done,
    struct shmt_error *err)
{
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_space *space;
    enum shmtune_status status;

    shmt_kernel_default_problem(kernel, problem);
    status = shmt_kernel_space(kernel, problem, done->import->limits, &space,
                               err);
    if (status != SHMTUNE_OK)
        return status;
    done->configurations = shmt_space_count(space);
    done->drawn = shmt_space_is_drawn(space);
    shmt_space_free(space);
    return SHMTUNE_OK;
}

static enum shmtune_status store_journal(const struct done *done,
                                         const struct shmt_kernel *kernel,
                                         const char *folder,
                                         struct shmt_error *err)
{
    struct shmt_gzip_writer *const writer = shmt_gzip_new();
    struct shmt_import_cursor cursor = {0};
    struct shmt_text text = {0};
    enum shmtune_status status =
        writer == NULL ? shmt_error_memory(err) : SHMTUNE_OK;

    while (status == SHMTUNE_OK && !cursor.ended) {
        status = shmt_import_journal(done->import, kernel, &cursor, &text,
                                     err);
        if (status == SHMTUNE_OK)
            shmt_gzip_add(writer, &text);
        shmt_text_clear(&text);
    }
    if (status == SHMTUNE_OK)
        status = shmt_path_make_folder(folder, 0777, err);
    if (status == SHMTUNE_OK)
        status = shmt_gzip_store(writer, done->journal, err);
    shmt_gzip_free(writer);
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status write_journal(const struct job *job,
                                         const struct shmt_kernel *kernel,
                                         struct done *done,
                                         struct shmt_error *err)
{
    struct shmt_text name = {0};
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    enum shmtune_status status = SHMTUNE_OK;
    const char *folder;
    char slug[128];

    snprintf(device.name, sizeof device.name, "%.200s",
             done->import->device[0] == '\0' ? "unknown"
                                             : done->import->device);
    shmt_device_slug(&device, slug);
    /* The slug begins with the architecture, which an import does not know. */
    shmt_text_addf(&name, "tunings/%s", kernel->name);
    folder = name.failed
                 ? NULL : shmt_path_join(job->arena, job->output, name.data);
    shmt_text_clear(&name);
    shmt_text_addf(&name, "%s.journal.gz",
                   strncmp(slug, "sm_00-", 6) == 0 ? slug + 6 : slug);
    done->journal = folder == NULL || name.failed
                        ? NULL
                        : shmt_path_join(job->arena, folder, name.data);
    shmt_text_free(&name);
    if (status == SHMTUNE_OK && done->journal == NULL)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = refuse_existing(job, done->journal, err);
    if (status == SHMTUNE_OK)
        status = store_journal(done, kernel, folder, err);
    return status;
}

static enum shmtune_status report(const struct job *job,
                                  const struct done *done,
                                  struct shmt_error *err)
{
    const struct shmt_import *const import = done->import;
    struct shmt_text text = {0};

    if (job->json != NULL) {
        json_t *one = json_pack(
            "{s:o, s:s, s:s, s:o, s:I, s:I, s:I}", "file",
            shmt_json_text(import->file), "kind",
            shmt_import_kind_text(import->kind), "kernel", import->name,
            "spec", shmt_json_text(done->spec), "parameters",
            (json_int_t)import->parameter_count, "configurations",
            (json_int_t)done->configurations, "results",
            (json_int_t)import->entry_count);

        if (done->drawn)
            json_object_set_new(one, "drawn", json_true());
        json_object_set_new(one, "recording",
                            done->journal == NULL
                                ? json_null() : shmt_json_text(done->journal));
        json_array_append_new(job->json, one);
        return SHMTUNE_OK;
    }
    shmt_text_add_visible(&text, import->file);
    shmt_text_addf(&text, ": %s, %zu parameter%s, %zu condition%s",
                   shmt_import_kind_text(import->kind),
                   import->parameter_count,
                   shmt_text_plural(import->parameter_count),
                   import->constraint_count,
                   shmt_text_plural(import->constraint_count));
    if (import->kind != SHMT_IMPORT_SPACE)
        shmt_text_addf(&text, ", %zu result%s", import->entry_count,
                       shmt_text_plural(import->entry_count));
    shmt_text_add(&text, "\n  ");
    shmt_text_add_visible(&text, done->spec);
    shmt_text_addf(&text, "%s: %llu configuration%s%s\n",
                   done->written ? "" : " (as it was)",
                   (unsigned long long)done->configurations,
                   done->configurations == 1 ? "" : "s",
                   done->drawn ? ", some of more, drawn (--space-seconds and "
                                 "--space-memory allow more)" : "");
    if (done->journal != NULL) {
        shmt_text_add(&text, "  ");
        shmt_text_add_visible(&text, done->journal);
        shmt_text_add(&text, import->device[0] == '\0'
                                 ? " (the file names no GPU: --device NAME "
                                   "does)\n" : "\n");
    }
    return shmt_command_print_lines(&text, job->call, err);
}

/* Puts the spec that was there back, or none. */
static void undo_spec(const struct done *done)
{
    if (done->replaced == NULL)
        remove(done->spec);
    else
        (void)shmt_path_write(done->spec, done->replaced, done->replaced_size,
                              NULL);
}

/* Spec and recording are both written or neither is; and no spec that our own
 * reader refuses. */
static enum shmtune_status import_one(const struct job *job,
                                      struct shmt_import *import,
                                      struct done *done,
                                      struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    if (job->name != NULL)
        import->name = job->name;
    if (job->device != NULL)
        import->device = job->device;
    if (job->spec == NULL)
        status = shmt_import_count(import, &done->configurations, &done->drawn,
                                   err);
    if (status == SHMTUNE_OK && job->spec == NULL)
        status = write_spec(job, done, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_read(done->spec, &kernel, err);
    if (status == SHMTUNE_OK && job->spec != NULL)
        status = count_configurations(kernel, done, err);
    if (status == SHMTUNE_OK && import->kind != SHMT_IMPORT_SPACE)
        status = write_journal(job, kernel, done, err);
    if (status != SHMTUNE_OK && done->written)
        undo_spec(done);
    shmt_kernel_free(kernel);
    return status;
}

static enum shmtune_status check_name(const struct job *job, int files,
                                      struct shmt_error *err)
{
    if (job->name == NULL)
        return SHMTUNE_OK;
    if (files > 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--name is for one file at a time, %d are "
                              "given", files);
    if (shmt_text_name_length(job->name) != strlen(job->name) ||
        strlen(job->name) > 64 || job->name[0] == '\0' ||
        (job->name[0] >= '0' && job->name[0] <= '9'))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--name \"%.80s\": expected letters, digits "
                              "and '_', at most 64", job->name);
    return SHMTUNE_OK;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.call = call, .output = "."};
    bool json = false;
    const struct shmt_command_option options[] = {
        {"output", 'o', SHMT_OPTION_PATH, &job.output, 0, 0},
        {"name", 0, SHMT_OPTION_TEXT, &job.name, 0, 0},
        {"spec", 0, SHMT_OPTION_PATH, &job.spec, 0, 0},
        {"device", 0, SHMT_OPTION_TEXT, &job.device, 0, 0},
        {"force", 0, SHMT_OPTION_FLAG, &job.force, 0, 0},
        {"json", 0, SHMT_OPTION_FLAG, &json, 0, 0},
        SHMT_COMMAND_LIMITS(job.limits),
        {0}
    };
    int count;
    enum shmtune_status status =
        shmt_command_options(call, options, &count, err);

    if (status == SHMTUNE_OK && count == 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "expected a file to import; see shmtune "
                                "import --help");
    if (status == SHMTUNE_OK)
        status = check_name(&job, count, err);
    if (status != SHMTUNE_OK)
        return status;
    job.arena = shmt_arena_new();
    job.json = json ? json_array() : NULL;
    if (job.arena == NULL || (json && job.json == NULL))
        status = shmt_error_memory(err);
    for (int k = 0; k < count && status == SHMTUNE_OK; k++) {
        struct shmt_import *import;
        struct done done;

        status = shmt_import_read(call->words[k], &import, err);
        if (status == SHMTUNE_NOT_FOUND)
            status = shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                                SHMTUNE_STORAGE);
        if (status != SHMTUNE_OK)
            break;
        import->limits = shmt_command_limits_begin(&job.limits, call);
        done = (struct done){.import = import, .spec = job.spec};
        status = import_one(&job, import, &done, err);
        shmt_command_limits_end(&job.limits);
        if (status == SHMTUNE_OK)
            status = report(&job, &done, err);
        shmt_import_free(import);
    }
    if (status == SHMTUNE_OK && json)
        status = shmt_json_print(
            "import", shmt_json_object("imports", job.json, NULL), err);
    else
        json_decref(job.json);
    shmt_arena_free(job.arena);
    return status;
}

const struct shmt_command shmt_command_import = {
    "import", "read spaces and recorded runs of other tuners", help, run
};
