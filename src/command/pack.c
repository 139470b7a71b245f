/* SPDX-License-Identifier: MIT */
/*
 * pack: the command `shmtune pack`: a folder of kernels, tunings and binaries
 * as one file, which libshmtune opens from memory.  What is packed is what the
 * library reads, and the list of the binaries, for `shmtune check`.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "command/command.h"
#include "command/json.h"
#include "command/pack.h"

static const char help[] =
    "usage: shmtune pack DIR [--arch sm_XX,...] [-j N] [-o FILE] [--json]\n"
    "\n"
    "Packs a folder that an application ships into one file, which it links\n"
    "in or reads, and opens with shmtune_open_memory: specs, the sources and\n"
    "headers that they name, tunings, and the binaries in cubins/. The same\n"
    "files make the same bytes. A tuning that was made for other sources is\n"
    "left out, saying so.\n"
    "\n"
    "With --arch, what is tuned is compiled first, without a GPU, into\n"
    "DIR/cubins, so that no machine of a user needs a compiler: winners and\n"
    "those as good, dispatches, and defaults; and these binaries alone are\n"
    "packed. What is there already is not compiled again.\n"
    "\n"
    "  --arch sm_XX,...   compile for these architectures\n"
    "  -j, --jobs N       compile workers [processors]\n"
    "  --compile-timeout N\n"
    "                     give up what compiles for N seconds [30]\n"
    "  -o, --output FILE  the pack; - is standard output; with --arch it may\n"
    "                     be left out\n"
    "  --json             what was written to FILE, as JSON\n"
    "\n"
    "exit status: 0 packed, 2 a file of the folder is wrong, 9 a winner does\n"
    "not compile\n"
    "\n"
    "examples:\n"
    "  shmtune pack share/myapp -o myapp.pack\n"
    "  shmtune pack share/myapp --arch sm_80,sm_90 -o myapp.pack\n";

/* As much as the library reads of a binary, and of a spec. */
enum { BINARY_BYTES = 256 << 20, SPEC_BYTES = 1 << 20 };

struct job {
    const struct shmt_command_call *call;
    const char *output;
    bool json;
    struct shmt_arena *arena;           /* names, and what is read */
    struct shmt_catalogue *catalogue;   /* of the one folder */
    const char *folder;                 /* absolute */
    struct shmt_pack_file *files;
    size_t file_count, file_room;
    struct shmt_command_tuned_kernel *tunings;
    size_t tunings_count, tunings_room, binaries;
    struct shmt_command_binaries made;  /* with --arch */
};

static void tell(const struct job *job, const char *text)
{
    if (!job->call->quiet)
        shmt_command_tell("note: ", text);
}

/* -- names ---------------------------------------------------------------- */

/* Appends the components of a path; false where it leads out. */
static bool add_components(const char *path, struct shmt_text *out)
{
    while (*path != '\0') {
        const size_t length = strcspn(path, "/");

        if (length == 2 && memcmp(path, "..", 2) == 0) {
            if (out->length == 0)
                return false;
            while (out->length > 0 && out->data[--out->length] != '/')
                ;
        } else if (length > 0 && !(length == 1 && path[0] == '.')) {
            if (out->length > 0)
                shmt_text_add(out, "/");
            shmt_text_add_bytes(out, path, length);
        }
        path += length + (path[length] == '/');
    }
    return true;
}

/* What a file is called in the pack: its path from the folder. */
static enum shmtune_status name_of(const struct job *job, const char *path,
                                   const char **out, struct shmt_error *err)
{
    const size_t length = strlen(job->folder);
    struct shmt_text name = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (strncmp(path, job->folder, length) != 0 ||
        (path[length] != '/' && job->folder[length - 1] != '/') ||
        !add_components(path + length, &name))
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s: lies outside of %s, which is packed; put "
                                "it into that folder", path, job->folder);
    else if ((*out = shmt_text_keep(&name, job->arena)) == NULL)
        status = shmt_error_memory(err);
    shmt_text_free(&name);
    return status;
}

/* A name that is there already is not added again. */
static enum shmtune_status add(struct job *job, const char *path,
                               const char *data, size_t size,
                               struct shmt_error *err)
{
    const char *name = NULL;
    enum shmtune_status status = name_of(job, path, &name, err);

    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < job->file_count; k++)
        if (strcmp(job->files[k].name, name) == 0)
            return SHMTUNE_OK;
    if (!shmt_array_reserve(&job->files, &job->file_room,
                            job->file_count + 1, sizeof *job->files))
        return shmt_error_memory(err);
    job->files[job->file_count++] =
        (struct shmt_pack_file){name, data, size};
    return SHMTUNE_OK;
}

static enum shmtune_status add_from_disk(struct job *job, const char *path,
                                         size_t limit, struct shmt_error *err)
{
    const char *data;
    size_t size;
    enum shmtune_status status =
        shmt_path_read(job->arena, path, limit, &data, &size, err);

    if (status == SHMTUNE_NOT_FOUND)
        return shmt_error_set_status(err, SHMTUNE_STORAGE);
    return status == SHMTUNE_OK ? add(job, path, data, size, err) : status;
}

/* -- what is packed ------------------------------------------------------- */

static enum shmtune_status add_texts(struct job *job,
                                     const struct shmt_kernel_header *files,
                                     size_t count, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = add(job, files[k].path, files[k].text, files[k].size, err);
    return status;
}

/* The spec and what it is made of, as it was read for its digest. */
static enum shmtune_status add_kernel(struct job *job,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_error *err)
{
    const struct shmt_kernel_code *const codes[] = {&kernel->code,
                                                    &kernel->reference_code};
    enum shmtune_status status =
        add_from_disk(job, kernel->path, SPEC_BYTES, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < 2; k++)
        status = add_texts(job, codes[k]->files, codes[k]->file_count, err);
    if (status == SHMTUNE_OK)
        status = add_texts(job, kernel->headers, kernel->header_count, err);
    if (status != SHMTUNE_OK)
        shmt_error_prefix(err, "kernel %s", kernel->name);
    return status;
}

/* Names in a folder of the folder; none where it is absent. */
static enum shmtune_status list(const struct job *job, const char *folder,
                                const char *suffix, const char *const **names,
                                size_t *count, struct shmt_error *err)
{
    const enum shmtune_status status =
        shmt_path_list(job->arena, folder, suffix, names, count, err);

    if (status == SHMTUNE_NOT_FOUND)
        *count = 0;
    return status == SHMTUNE_NOT_FOUND ? SHMTUNE_OK : status;
}

static enum shmtune_status add_tuning(struct job *job, const char *path,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_error *err)
{
    char text[SHMT_ERROR_BYTES];
    struct shmt_tuning *tuning;
    enum shmtune_status status = shmt_tuning_read(path, &tuning, err);

    if (status != SHMTUNE_OK)
        return status;
    if (strcmp(tuning->kernel, kernel->name) != 0 ||
        strcmp(tuning->digest, kernel->digest) != 0) {
        shmt_tuning_free(tuning);
        snprintf(text, sizeof text, "%s: left out: it was made for other "
                 "sources of %s; tune again", path, kernel->name);
        tell(job, text);
        return SHMTUNE_OK;
    }
    if (!shmt_array_reserve(&job->tunings, &job->tunings_room,
                            job->tunings_count + 1, sizeof *job->tunings)) {
        shmt_tuning_free(tuning);
        return shmt_error_memory(err);
    }
    job->tunings[job->tunings_count++] =
        (struct shmt_command_tuned_kernel){kernel, tuning};
    return add_from_disk(job, path, SHMT_TUNING_BYTES, err);
}

static enum shmtune_status add_tunings(struct job *job,
                                       const struct shmt_kernel *kernel,
                                       struct shmt_error *err)
{
    const char *const tunings =
        shmt_path_join(job->arena, job->folder, "tunings");
    const char *const folder =
        tunings == NULL ? NULL
                        : shmt_path_join(job->arena, tunings, kernel->name);
    const char *const *names;
    size_t count = 0;
    enum shmtune_status status =
        folder == NULL ? shmt_error_memory(err)
                       : list(job, folder, ".yaml", &names, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *path = shmt_path_join(job->arena, folder, names[k]);

        status = path == NULL ? shmt_error_memory(err)
                              : add_tuning(job, path, kernel, err);
    }
    return status;
}

/* With --arch only what was made for it. */
static bool is_wanted(const struct job *job, const char *key)
{
    bool wanted = job->made.archs == NULL;

    for (size_t k = 0; !wanted && k < job->made.key_count; k++)
        wanted = strcmp(job->made.keys[k], key) == 0;
    return wanted;
}

/* KEY.cubin with its KEY.res; another file there is nobody's. */
static enum shmtune_status add_binary(struct job *job, const char *folder,
                                      const char *name,
                                      struct shmt_error *err)
{
    const char *const key = shmt_path_stem(job->arena, name, ".cubin");
    const char *const binary = shmt_path_join(job->arena, folder, name);
    const char *path;
    struct shmt_text report = {0};
    enum shmtune_status status;

    if (key == NULL || binary == NULL)
        return shmt_error_memory(err);
    if (!shmt_digest_valid(key) || !is_wanted(job, key))
        return SHMTUNE_OK;
    shmt_text_addf(&report, "%s/%s.res", folder, key);
    path = shmt_text_keep(&report, job->arena);
    if (path == NULL)
        return shmt_error_memory(err);
    status = add_from_disk(job, binary, BINARY_BYTES, err);
    if (status == SHMTUNE_OK)
        status = add_from_disk(job, path, BINARY_BYTES, err);
    job->binaries += status == SHMTUNE_OK;
    return status;
}

/* What the binaries are for: `check` reads it. */
static enum shmtune_status add_manifest(struct job *job, const char *folder,
                                        struct shmt_error *err)
{
    const char *const path =
        shmt_path_join(job->arena, folder, SHMT_COMMAND_MANIFEST_NAME);

    if (path == NULL)
        return shmt_error_memory(err);
    return shmt_path_is_absent(path)
               ? SHMTUNE_OK : add_from_disk(job, path, BINARY_BYTES, err);
}

static enum shmtune_status add_binaries(struct job *job,
                                        struct shmt_error *err)
{
    const char *const folder =
        shmt_path_join(job->arena, job->folder, "cubins");
    const char *const *names;
    size_t count = 0;
    enum shmtune_status status =
        folder == NULL ? shmt_error_memory(err)
                       : list(job, folder, ".cubin", &names, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = add_binary(job, folder, names[k], err);
    return status == SHMTUNE_OK && job->binaries > 0
               ? add_manifest(job, folder, err) : status;
}

/* -- the folder ----------------------------------------------------------- */

/* What cannot be read would be missing where it is shipped. */
static enum shmtune_status open_folder(struct job *job, const char *path,
                                       struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_catalogue_open_folder(path, &job->catalogue, err);
    const struct shmt_catalogue *const catalogue = job->catalogue;

    if (status != SHMTUNE_OK)
        return status;
    if (catalogue->unread != NULL)
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s", catalogue->unread);
    if (catalogue->folder_count == 0)
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s; a spec and its source "
                              "go into kernels/, what `shmtune tune -o` wrote "
                              "into tunings/", catalogue->notes[0]);
    if (catalogue->refused_count > 0)
        return shmt_error_set(err, catalogue->refusal, "%s",
                              catalogue->refusal_note);
    job->folder = catalogue->folders[0];
    if (catalogue->kernel_count == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: has no kernel; put its spec and source "
                              "into %s/kernels", job->folder, job->folder);
    for (size_t k = 0; k < catalogue->note_count; k++)
        tell(job, catalogue->notes[k]);
    return SHMTUNE_OK;
}

static enum shmtune_status make_binaries(struct job *job,
                                         struct shmt_error *err)
{
    struct shmt_command_binaries *const made = &job->made;

    made->call = job->call;
    made->catalogue = job->catalogue;
    made->tunings = job->tunings;
    made->tuning_count = job->tunings_count;
    made->arena = job->arena;
    made->folder = shmt_path_join(job->arena, job->folder, "cubins");
    return made->folder == NULL ? shmt_error_memory(err)
                                : shmt_command_make_binaries(made, err);
}

static enum shmtune_status gather(struct job *job, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0;
         status == SHMTUNE_OK && k < job->catalogue->kernel_count; k++) {
        const struct shmt_kernel *kernel = job->catalogue->kernels[k].kernel;

        status = add_kernel(job, kernel, err);
        if (status == SHMTUNE_OK)
            status = add_tunings(job, kernel, err);
    }
    if (status == SHMTUNE_OK && job->made.archs != NULL)
        status = make_binaries(job, err);
    return status == SHMTUNE_OK ? add_binaries(job, err) : status;
}

/* The pack has the kernels of the folder: none was changed meanwhile, and no
 * file is missing. */
static enum shmtune_status compare(const struct job *job,
                                   const struct shmt_catalogue *packed,
                                   struct shmt_error *err)
{
    for (size_t k = 0; k < job->catalogue->kernel_count; k++) {
        const struct shmt_kernel *kernel = job->catalogue->kernels[k].kernel;
        const struct shmt_catalogue_kernel *other =
            shmt_catalogue_find(packed, kernel->name);

        if (other == NULL ||
            strcmp(other->kernel->digest, kernel->digest) != 0)
            return shmt_error_set(
                err, SHMTUNE_STORAGE, "%s: it, or a file that it includes, was "
                "changed while it was packed, or is reached by a link out of "
                "its folder: %s; pack again", kernel->path,
                packed->note_count > 0 ? packed->notes[0]
                                       : "its digest is another");
    }
    return SHMTUNE_OK;
}

static enum shmtune_status try_pack(const struct job *job,
                                    const struct shmt_text *text,
                                    struct shmt_error *err)
{
    struct shmt_catalogue *packed = NULL;
    struct shmt_pack *pack = NULL;
    enum shmtune_status status =
        shmt_pack_open(text->data, text->length, &pack, err);

    if (status == SHMTUNE_OK)
        status = shmt_catalogue_open_folder(shmt_pack_root(pack), &packed,
                                            err);
    if (status == SHMTUNE_OK)
        status = compare(job, packed, err);
    shmt_catalogue_close(packed);
    shmt_pack_close(pack);
    return status;
}

/* What was written; of standard output nothing is said. */
static enum shmtune_status report(const struct job *job, size_t bytes,
                                  struct shmt_error *err)
{
    const size_t kernels = job->catalogue->kernel_count;

    if (job->output != NULL && shmt_command_is_standard(job->output))
        return SHMTUNE_OK;
    if (job->json)
        return shmt_json_print(
            "pack",
            json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "file",
                      job->output == NULL ? json_null()
                                          : shmt_json_text(job->output),
                      "bytes",
                      (json_int_t)bytes, "files",
                      (json_int_t)job->file_count, "kernels",
                      (json_int_t)kernels, "tunings",
                      (json_int_t)job->tunings_count, "binaries",
                      (json_int_t)job->binaries), err);
    if (!job->call->quiet)
        printf("%s: %zu bytes, %zu kernel%s, %zu tuning%s, %zu binar%s\n",
               job->output, bytes, kernels, shmt_text_plural(kernels),
               job->tunings_count, shmt_text_plural(job->tunings_count),
               job->binaries,
               job->binaries == 1 ? "y" : "ies");
    return SHMTUNE_OK;
}

/* Whether the pack would take the place of a file in it. */
static enum shmtune_status check_output(const struct job *job,
                                        struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < job->file_count; k++) {
        const char *const path =
            shmt_path_join(job->arena, job->folder, job->files[k].name);

        status = path == NULL
                     ? shmt_error_memory(err)
                     : shmt_command_check_output(job->output, path, err);
    }
    return status;
}

static enum shmtune_status write_pack(struct job *job, struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = check_output(job, err);

    if (status == SHMTUNE_OK)
        status = shmt_pack_write(job->files, job->file_count, &text, err);
    if (status == SHMTUNE_OK)
        status = try_pack(job, &text, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_put(job->output, &text, err);
    if (status == SHMTUNE_OK)
        status = report(job, text.length, err);
    shmt_text_free(&text);
    return status;
}

/* Whether the pack can be written at all, before hours are compiled. */
static enum shmtune_status try_output(const struct job *job,
                                      struct shmt_error *err)
{
    const char *folder;

    if (shmt_command_is_standard(job->output))
        return SHMTUNE_OK;
    if (shmt_path_kind(job->output) == SHMT_PATH_FOLDER)
        return shmt_error_set(err, SHMTUNE_STORAGE,
                              "%s: is a folder; give the name of a file in it",
                              job->output);
    folder = shmt_path_folder(job->arena, job->output);
    if (folder == NULL)
        return shmt_error_memory(err);
    return access(folder, W_OK | X_OK) == 0
               ? SHMTUNE_OK
               : shmt_error_system(err, folder, "cannot be written");
}

static void tell_made(const struct job *job)
{
    char text[4096];

    snprintf(text, sizeof text, "%s: %zu binar%s, %zu of them compiled now",
             job->made.folder, job->made.key_count,
             job->made.key_count == 1 ? "y" : "ies", job->made.compiled);
    if (!job->call->quiet)
        shmt_command_tell("", text);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.call = call, .made.compiler = SHMT_COMPILER_USUAL};
    const struct shmt_command_option options[] = {
        {"output", 'o', SHMT_OPTION_PATH, &job.output, 0, 0},
        {"arch", 0, SHMT_OPTION_TEXT, &job.made.archs, 0, 0},
        {"jobs", 'j', SHMT_OPTION_INT, &job.made.compiler.jobs, 1, 1024},
        SHMT_COMPILER_DEADLINE(job.made.compiler.deadline_s),
        {"json", 0, SHMT_OPTION_FLAG, &job.json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "expected one folder, found %d; see "
                              "\"shmtune pack --help\"", rest);
    if (job.output == NULL && job.made.archs == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "where to is missing: -o FILE, -o - for "
                              "standard output, or --arch to compile alone");
    job.arena = shmt_arena_new();
    status = job.arena == NULL ? shmt_error_memory(err)
                               : try_output(&job, err);
    if (status == SHMTUNE_OK)
        status = open_folder(&job, call->words[0], err);
    if (status == SHMTUNE_OK)
        status = gather(&job, err);
    if (status == SHMTUNE_OK && job.made.archs != NULL)
        tell_made(&job);
    if (status == SHMTUNE_OK)
        status = job.output != NULL ? write_pack(&job, err)
                 : job.json         ? report(&job, 0, err)
                                    : SHMTUNE_OK;
    for (size_t k = 0; k < job.tunings_count; k++)
        shmt_tuning_free(job.tunings[k].tuning);
    free(job.tunings);
    free(job.made.keys);
    free(job.files);
    shmt_catalogue_close(job.catalogue);
    shmt_arena_free(job.arena);
    return status;
}

const struct shmt_command shmt_command_pack = {
    "pack", "one file of kernels, tunings and binaries, for an application",
    help, run
};
