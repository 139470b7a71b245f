/* SPDX-License-Identifier: MIT */
/*
 * export_tuned: finds the tunings, those that are named or those of a kernel in
 * the folders of the search path, and has them written.  Called by export.c.
 */
#include "config.h"

#include "command/export_tuned.h"

#include <stdlib.h>
#include <string.h>

#include "command/json.h"
#include "exchange/exchange.h"

struct work {
    const struct shmt_command_export_tuned *request;
    struct shmt_arena *arena;
    struct shmt_kernel *kernel;
    struct shmt_export_rows *rows;
    struct shmt_text text;
    struct shmt_error *err;
};

static enum shmtune_status add_file(struct work *work, const char *path,
                                    struct shmt_error *err)
{
    const size_t before = shmt_export_rows_left_out(work->rows);
    struct shmt_tuning *tuning = NULL;
    enum shmtune_status status = shmt_tuning_read(path, &tuning, err);
    size_t left_out;
    struct shmt_text text = {0};

    if (status != SHMTUNE_OK)
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    status = shmt_export_rows_add(work->rows, tuning, path, err);
    shmt_tuning_free(tuning);
    left_out = shmt_export_rows_left_out(work->rows) - before;
    if (status != SHMTUNE_OK || left_out == 0 || work->request->call->quiet)
        return status;
    shmt_text_addf(&text, "%s: %zu size%s whose configuration the kernel has "
                   "not, or which does not run there; tune it again", path,
                   left_out, shmt_text_plural(left_out));
    shmt_command_tell("left out: ", shmt_text_string(&text));
    shmt_text_free(&text);
    return SHMTUNE_OK;
}

/* A file of the search path that does not serve is left out with a note. */
static enum shmtune_status add_found(struct work *work, const char *path)
{
    struct shmt_error why = {0};
    const enum shmtune_status status = add_file(work, path, &why);

    if (status == SHMTUNE_OK)
        return SHMTUNE_OK;
    if (status != SHMTUNE_INVALID_FILE && status != SHMTUNE_STORAGE)
        return shmt_error_set(work->err, status, "%s", why.text);
    if (!work->request->call->quiet)
        shmt_command_tell("left out: ", why.text);
    return SHMTUNE_OK;
}

static enum shmtune_status add_folder(struct work *work, const char *folder)
{
    const char *const tunings = shmt_path_join(work->arena, folder, "tunings");
    const char *const place =
        tunings == NULL ? NULL : shmt_path_join(work->arena, tunings,
                                                work->kernel->name);
    const char *const *names;
    enum shmtune_status status;
    size_t count;

    if (place == NULL)
        return shmt_error_memory(work->err);
    status = shmt_path_list(work->arena, place, ".yaml", &names, &count,
                            work->err);
    if (status == SHMTUNE_NOT_FOUND)
        return SHMTUNE_OK;
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *const path = shmt_path_join(work->arena, place, names[k]);

        status = path == NULL ? shmt_error_memory(work->err)
                              : add_found(work, path);
    }
    return status;
}

/* Those of the kernel in every folder of the search path. */
static enum shmtune_status add_shipped(struct work *work)
{
    struct shmt_catalogue *catalogue = NULL;
    enum shmtune_status status = shmt_command_catalogue(&catalogue, work->err);

    for (size_t k = 0;
         status == SHMTUNE_OK && k < catalogue->folder_count; k++)
        status = add_folder(work, catalogue->folders[k]);
    if (catalogue != NULL)
        shmt_catalogue_close(catalogue);
    return status;
}

/* The kernel that a tuning is about. */
static enum shmtune_status kernel_of_tuning(struct work *work,
                                            const char *path)
{
    struct shmt_tuning *tuning = NULL;
    enum shmtune_status status = shmt_tuning_read(path, &tuning, work->err);

    if (status != SHMTUNE_OK)
        return shmt_command_change_status(work->err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    status = shmt_command_kernel_of(path, tuning->kernel, tuning->digest,
                                    work->request->spec, &work->kernel,
                                    work->err);
    shmt_tuning_free(tuning);
    return status;
}

/* Whether it is a tuning; else it is taken for a kernel.  A file that cannot be
 * read is a failure, unless it may be a name or a folder. */
static enum shmtune_status look_at(const char *word, bool *tuning,
                                   struct shmt_error *err)
{
    const char *const dot = strrchr(word, '.');
    struct shmt_error why = {0};
    enum shmt_command_format format;
    const enum shmtune_status status =
        shmt_command_format_of(word, &format, &why);

    *tuning = status == SHMTUNE_OK && format == SHMT_FORMAT_TUNING;
    if (status == SHMTUNE_NO_MEMORY ||
        (status == SHMTUNE_STORAGE && dot != NULL &&
         (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)))
        return shmt_error_set(err, status, "%s", why.text);
    return SHMTUNE_OK;
}

/* One kernel, or tunings of one. */
static enum shmtune_status gather(struct work *work)
{
    const struct shmt_command_export_tuned *const request = work->request;
    char *const *const words = request->call->words;
    bool tunings;
    enum shmtune_status status = look_at(words[0], &tunings, work->err);

    if (status != SHMTUNE_OK)
        return status;
    if (!tunings && request->count > 1)
        return shmt_error_set(work->err, SHMTUNE_INVALID_ARGUMENT,
                              "%s is no tuning: a header or a template is of "
                              "one kernel, named alone, or of tunings of one",
                              words[0]);
    if (!tunings && request->spec != NULL)
        return shmt_error_set(work->err, SHMTUNE_INVALID_ARGUMENT,
                              "--spec is for tunings; %s is a kernel",
                              words[0]);
    status = tunings ? kernel_of_tuning(work, words[0])
                     : shmt_command_kernel(words[0], &work->kernel, work->err);
    if (status == SHMTUNE_OK)
        status = shmt_export_rows_new(work->kernel, &work->rows, work->err);
    if (status == SHMTUNE_OK && !tunings)
        return add_shipped(work);
    for (int k = 0; status == SHMTUNE_OK && k < request->count; k++)
        status = add_file(work, words[k], work->err);
    return status;
}

static enum shmtune_status check_output(const struct work *work)
{
    const struct shmt_command_export_tuned *const request = work->request;
    enum shmtune_status status = shmt_command_check_output_of(
        request->output, work->kernel, work->err);

    if (status == SHMTUNE_OK && request->form != NULL)
        status = shmt_command_check_output(request->output, request->form,
                                           work->err);
    for (int k = 0; status == SHMTUNE_OK && k < request->count; k++)
        status = shmt_command_check_output(request->output,
                                           request->call->words[k],
                                           work->err);
    return status;
}

static enum shmtune_status write_form(struct work *work)
{
    const struct shmt_command_export_tuned *const request = work->request;
    const char *form;
    size_t size;
    enum shmtune_status status;

    if (request->form == NULL)
        return shmt_export_header(work->rows, &work->text, work->err);
    status = shmt_path_read(work->arena, request->form, SHMT_EXPORT_BYTES,
                            &form, &size, work->err);
    if (status != SHMTUNE_OK)
        return shmt_command_change_status(work->err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    if (strlen(form) != size)
        return shmt_error_set(work->err, SHMTUNE_INVALID_FILE,
                              "%s: has a byte 0 at %zu: a template is a text",
                              request->form, strlen(form));
    return shmt_export_table(work->rows, request->form, form, &work->text,
                             work->err);
}

static enum shmtune_status report(const struct work *work)
{
    return shmt_json_print(
        "export",
        shmt_json_object(
            "kernel", shmt_json_text(work->kernel->name), "form",
            shmt_json_text(work->request->form == NULL ? "header"
                                                       : "template"),
            "file", shmt_json_text(work->request->output), "records",
            shmt_json_count(shmt_export_rows_count(work->rows)), NULL),
        work->err);
}

enum shmtune_status
shmt_command_export_tuned(const struct shmt_command_export_tuned *request,
                          struct shmt_error *err)
{
    struct work work = {.request = request, .arena = shmt_arena_new(),
                        .err = err};
    enum shmtune_status status =
        work.arena == NULL ? shmt_error_memory(err) : gather(&work);

    if (status == SHMTUNE_OK)
        status = check_output(&work);
    if (status == SHMTUNE_OK)
        status = write_form(&work);
    if (status == SHMTUNE_OK)
        status = shmt_command_put(request->output, &work.text, err);
    if (status == SHMTUNE_OK && request->json &&
        !shmt_command_is_standard(request->output))
        status = report(&work);
    shmt_text_free(&work.text);
    shmt_export_rows_free(work.rows);
    shmt_kernel_free(work.kernel);
    shmt_arena_free(work.arena);
    return status;
}
