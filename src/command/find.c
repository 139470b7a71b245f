/* SPDX-License-Identifier: MIT */
/*
 * find: which kernel or which kind of file a word on the command line means.
 * Which kernels there are is kernel/catalogue.h's answer.
 */
#include "config.h"

#include "command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "record/record.h"
#include "yaml/yaml.h"

enum { LARGEST = 64 << 20 };

/* A program that has not been installed uses the tree it was built from; NULL:
 * it has been. */
static char *source_tree(void)
{
    char self[4096], *build = realpath(SHMT_BUILD_FOLDER, NULL);
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    const size_t prefix = build == NULL ? 0 : strlen(build);
    const bool inside = prefix > 0 && length > (ssize_t)prefix &&
                        memcmp(self, build, prefix) == 0 &&
                        self[prefix] == '/';

    free(build);
    return inside ? realpath(SHMT_SOURCE_FOLDER, NULL) : NULL;
}

enum shmtune_status shmt_command_catalogue(struct shmt_catalogue **out,
                                           struct shmt_error *err)
{
    char *tree = source_tree();
    const enum shmtune_status status =
        shmt_catalogue_open(NULL, tree, out, err);

    free(tree);
    return status;
}

enum shmtune_status
shmt_command_check_catalogue(const struct shmt_catalogue *catalogue,
                             struct shmt_error *err)
{
    return catalogue->unread == NULL
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_STORAGE, "%s; which kernels "
                                "there are is not known without it: mend it, "
                                "or leave it out of SHMTUNE_PATH",
                                catalogue->unread);
}

bool shmt_command_is_path(const char *word)
{
    return strchr(word, '/') != NULL || shmt_text_ends(word, ".yaml") ||
           shmt_text_ends(word, ".yml");
}

const char *shmt_command_spec_of(const char *word, char path[4096])
{
    const int length = snprintf(path, 4096, "%s/kernel.yaml", word);

    return length < 4096 && shmt_path_is_folder(word) &&
                   shmt_path_is_file(path)
               ? path : word;
}

enum shmtune_status
shmt_command_list_launches(struct shmt_arena *arena, const char *folder,
                           const char *const **out, size_t *count,
                           struct shmt_error *err)
{
    const char *const *names, **paths;
    size_t found = 0, all;
    char spec[4096];

    *count = 0;
    if (shmt_path_list(arena, folder, "", &names, &all, NULL) != SHMTUNE_OK)
        return SHMTUNE_OK;
    paths = shmt_arena_alloc(arena, all + 1, sizeof *paths);
    if (paths == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < all; k++) {
        const char *const path = shmt_path_join(arena, folder, names[k]);

        if (path == NULL)
            return shmt_error_memory(err);
        if (shmt_command_spec_of(path, spec) != path)
            paths[found++] = path;
    }
    *out = paths;
    *count = found;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_command_refuse_launches(const char *word,
                                                 struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *const *launches;
    size_t count = 0;
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : shmt_command_list_launches(arena, word, &launches,
                                                   &count, err);

    if (count > 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s: is a folder of %zu captured launch%s; "
                                "name one, as %s", word, count,
                                count == 1 ? "" : "es", launches[0]);
    shmt_arena_free(arena);
    return status;
}

/* How to name what `word`, no kernel's name, seems to mean: a source, or a
 * spec in the current folder.  "; ..." in `out`, "" when it means nothing. */
static void hint_at(const char *word, char out[256])
{
    char path[128];

    out[0] = '\0';
    snprintf(path, sizeof path, "%.100s.yaml", word);
    if (shmt_text_ends(word, ".cu"))
        snprintf(out, 256, "; a source is tuned by its spec, a YAML file "
                 "beside it: name that");
    else if (shmt_path_exists(path))
        snprintf(out, 256, "; a spec of your own is given by its path: "
                 "%s", path);
}

/* A file of the search path that is called like it: what it holds, or why it
 * cannot be read.  SHMTUNE_OK: there is none. */
static enum shmtune_status refuse_file(const struct shmt_catalogue *catalogue,
                                       const char *word,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_text path = {0};

    for (size_t i = 0; status == SHMTUNE_OK && i < catalogue->folder_count;
         i++) {
        struct shmt_kernel *kernel = NULL;

        shmt_text_clear(&path);
        shmt_text_addf(&path, "%s/kernels/%s.yaml", catalogue->folders[i],
                       word);
        if (path.failed)
            status = shmt_error_memory(err);
        else if (shmt_path_exists(path.data))
            status = shmt_kernel_read(path.data, &kernel, err);
        /* The catalogue could not read it a moment ago. */
        if (kernel != NULL && strcmp(kernel->name, word) == 0)
            status = catalogue->unread != NULL
                         ? shmt_command_check_catalogue(catalogue, err)
                         : shmt_error_set(err, SHMTUNE_STORAGE, "%s could "
                                          "not be read at first, and can be "
                                          "now: try again", path.data);
        else if (kernel != NULL)
            status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                    "no kernel \"%.64s\"; %s holds the "
                                    "kernel \"%s\"", word, path.data,
                                    kernel->name);
        shmt_kernel_free(kernel);
    }
    shmt_text_free(&path);
    return status;
}

/* `commands` may have been meant too; NULL: none. */
static enum shmtune_status refuse_word(const struct shmt_catalogue *catalogue,
                                       const char *word,
                                       const char *const *commands,
                                       struct shmt_error *err)
{
    const size_t count = catalogue->kernel_count;
    const char *nearest, **names;
    size_t used = 0;
    char hint[256];
    enum shmtune_status status;

    status = shmt_command_refuse_launches(word, err);
    if (status != SHMTUNE_OK)
        return status;
    hint_at(word, hint);
    if (hint[0] != '\0')
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "no kernel \"%.64s\"%s", word, hint);
    status = refuse_file(catalogue, word, err);
    if (status == SHMTUNE_OK &&
        shmt_command_check_catalogue(catalogue, err) != SHMTUNE_OK)
        status = shmt_error_prefix(err, "\"%.64s\" is not known", word);
    if (status != SHMTUNE_OK)
        return status;
    while (commands != NULL && commands[used] != NULL)
        used++;
    names = shmt_arena_alloc(catalogue->arena, used + count + 1,
                             sizeof *names);
    if (names == NULL)
        return shmt_error_memory(err);
    for (size_t i = 0; i < used; i++)
        names[i] = commands[i];
    for (size_t i = 0; i < count; i++)
        names[used + i] = catalogue->kernels[i].kernel->name;
    nearest = shmt_text_nearest(word, names, strlen(word) / 3 + 2);
    if (commands != NULL)
        return shmt_error_set(
            err, SHMTUNE_INVALID_ARGUMENT,
            "\"%.64s\" is neither a command nor a kernel%s%s%s", word,
            nearest == NULL ? "" : "; did you mean \"",
            nearest == NULL ? "" : nearest, nearest == NULL ? "" : "\"?");
    if (nearest != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "no kernel \"%.64s\"; did you mean \"%s\"?",
                              word, nearest);
    return shmt_error_set(
        err, SHMTUNE_INVALID_ARGUMENT,
        "no kernel \"%.64s\" among %zu; \"shmtune list\" shows them, and a "
        "spec of your own is given by its path, as \"%.64s.yaml\"",
        word, count, word);
}

/* Why no spec is in the file: where it is a result of a run, of which kernel.
 * `err` has what its reader said. */
static enum shmtune_status refuse_spec(const char *path,
                                       struct shmt_error *err)
{
    const enum shmtune_status status = err->status;
    struct shmt_tuning *tuning = NULL;
    enum shmt_command_format format;
    struct shmt_error unused;
    char name[80];

    if (status != SHMTUNE_INVALID_FILE ||
        shmt_command_format_of(path, &format, &unused) != SHMTUNE_OK)
        return status;
    if (format == SHMT_FORMAT_TUNING &&
        shmt_tuning_read(path, &tuning, &unused) == SHMTUNE_OK)
        snprintf(name, sizeof name, "%s", tuning->kernel);
    else if (format != SHMT_FORMAT_JOURNAL ||
             shmt_journal_read_kernel_name(path, name, &unused) != SHMTUNE_OK)
        return status;
    shmt_error_set(err, status, "%s: is a %s of %s, expected that name or a "
                   "spec; `shmtune show %s` shows it", path,
                   tuning != NULL ? "tuning" : "journal", name, path);
    shmt_tuning_free(tuning);
    return status;
}

enum shmtune_status shmt_command_word(const char *word,
                                      const char *const *commands,
                                      struct shmt_kernel **out,
                                      struct shmt_error *err)
{
    struct shmt_catalogue *catalogue = NULL;
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status = SHMTUNE_OK;
    char path[4096];
    const char *const spec = shmt_command_spec_of(word, path);
    bool read = shmt_command_is_path(word);

    if (read) {
        status = shmt_command_refuse_launches(word, err);
    } else {
        status = shmt_command_catalogue(&catalogue, err);
        if (status == SHMTUNE_OK)
            kernel = shmt_catalogue_take(catalogue, word);
        /* The folder of a captured launch. */
        read = status == SHMTUNE_OK && kernel == NULL && spec != word;
        if (status == SHMTUNE_OK && kernel == NULL && !read)
            status = refuse_word(catalogue, word, commands, err);
        shmt_catalogue_close(catalogue);
    }
    if (read && status == SHMTUNE_OK &&
        shmt_kernel_read(spec, &kernel, err) != SHMTUNE_OK)
        status = refuse_spec(spec, err);
    if (status != SHMTUNE_OK)
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    *out = kernel;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_command_kernel(const char *word,
                                        struct shmt_kernel **out,
                                        struct shmt_error *err)
{
    return shmt_command_word(word, NULL, out, err);
}

/* The first bytes of a file, as a string. */
static enum shmtune_status read_head(const char *path, char *out, size_t room,
                                     struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *data;
    size_t size;
    enum shmtune_status status;

    if (arena == NULL)
        return shmt_error_memory(err);
    status = shmt_path_read(arena, path, LARGEST, &data, &size, err);
    if (status == SHMTUNE_OK)
        snprintf(out, room, "%s", data);
    else
        status =
            shmt_command_change_status(err, SHMTUNE_NOT_FOUND, SHMTUNE_STORAGE);
    shmt_arena_free(arena);
    return status;
}

/* Of a text that begins with a byte order mark, of UTF-16 for one, the reader
 * says what to do. */
static enum shmtune_status check_mark(const char *path, const char *head,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *root;
    struct shmt_arena *arena;
    enum shmtune_status status;

    if (strchr("\xff\xfe\xef", head[0]) == NULL)
        return SHMTUNE_OK;
    arena = shmt_arena_new();
    status = arena == NULL ? shmt_error_memory(err)
                           : shmt_yaml_parse(arena, path, head, strlen(head),
                                             &root, err);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_command_format_of(const char *path,
                                           enum shmt_command_format *out,
                                           struct shmt_error *err)
{
    static const struct {
        const char *word;
        enum shmt_command_format format;
    } formats[] = {
        {"kernel/", SHMT_FORMAT_SPEC}, {"tuning/", SHMT_FORMAT_TUNING},
        {"journal/", SHMT_FORMAT_JOURNAL}
    };
    char head[4096];
    const char *key;
    enum shmtune_status status;

    if (shmt_text_ends(path, ".journal") || shmt_text_ends(path, ".gz")) {
        *out = SHMT_FORMAT_JOURNAL;
        return SHMTUNE_OK;
    }
    status = read_head(path, head, sizeof head, err);
    if (status != SHMTUNE_OK)
        return shmt_command_is_path(path) || shmt_path_exists(path)
                   ? status
                   : shmt_error_set(err, status, "%s: there is no such file; "
                                    "`shmtune list tunings recordings` names "
                                    "those that are here", path);
    if (head[0] == '\0')
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s:1:1: found nothing, expected a spec, a "
                              "tuning or a journal", path);
    status = check_mark(path, head, err);
    if (status != SHMTUNE_OK)
        return status;
    key = strstr(head, "format:");
    for (size_t i = 0; key != NULL && i < sizeof formats / sizeof *formats;
         i++) {
        const char *value = key + strlen("format:");

        value += strspn(value, " \"'");
        if (strncmp(value, formats[i].word, strlen(formats[i].word)) == 0) {
            *out = formats[i].format;
            return SHMTUNE_OK;
        }
    }
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s:1:1: found no \"format: kernel/N\", \"tuning/N\" "
                          "or \"journal/N\" at its beginning", path);
}

/* Of the catalogue of `list`, NULL: that of this program.  *out stays where
 * there is none of that name; a file that is called like it is a failure. */
static enum shmtune_status take_kernel(const char *list, const char *name,
                                       struct shmt_kernel **out,
                                       struct shmt_error *err)
{
    struct shmt_catalogue *catalogue;
    struct shmt_kernel *kernel;
    enum shmtune_status status =
        list == NULL ? shmt_command_catalogue(&catalogue, err)
                     : shmt_catalogue_open(list, NULL, &catalogue, err);

    if (status != SHMTUNE_OK)
        return status;
    kernel = shmt_catalogue_take(catalogue, name);
    if (kernel != NULL)
        *out = kernel;
    else
        status = refuse_file(catalogue, name, err);
    if (status == SHMTUNE_OK && kernel == NULL && list == NULL)
        status = shmt_command_check_catalogue(catalogue, err);
    shmt_catalogue_close(catalogue);
    return status;
}

/* ROOT/tunings/NAME/FILE lies beside ROOT/kernels.  A root with a ':' cannot be
 * in a search path. */
static enum shmtune_status take_beside(const char *file, const char *name,
                                       struct shmt_kernel **out,
                                       struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *folder = arena == NULL ? NULL : shmt_path_folder(arena, file);
    const char *root =
        folder == NULL ? NULL : shmt_path_join(arena, folder, "../..");
    enum shmtune_status status = SHMTUNE_OK;

    if (root == NULL)
        status = shmt_error_memory(err);
    else if (strchr(root, ':') == NULL)
        status = take_kernel(root, name, out, err);
    shmt_arena_free(arena);
    return status;
}

/* Among the built-in ones, else beside the file; the one of the file's digest
 * where both have the name. */
static enum shmtune_status take_named(const char *file, const char *name,
                                      const char *digest,
                                      struct shmt_kernel **out,
                                      struct shmt_error *err)
{
    struct shmt_kernel *own = NULL;
    struct shmt_error why;
    enum shmtune_status beside,
        status = take_kernel(NULL, name, out, err);

    if (status == SHMTUNE_NO_MEMORY ||
        (*out != NULL && strcmp((*out)->digest, digest) == 0))
        return status;
    beside = take_beside(file, name, &own, &why);
    if (own != NULL && (*out == NULL || strcmp(own->digest, digest) == 0)) {
        shmt_kernel_free(*out);
        *out = own;
    } else {
        shmt_kernel_free(own);
    }
    if (*out != NULL)
        status = SHMTUNE_OK;
    else if (status == SHMTUNE_OK && beside != SHMTUNE_OK)
        status = shmt_error_set(err, beside, "%s", why.text);
    else if (status == SHMTUNE_OK)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s: the kernel %.64s is not among the "
                                "built-in ones; name its spec with --spec",
                                file, name);
    return status;
}

enum shmtune_status shmt_command_kernel_of(const char *file,
                                           const char *name,
                                           const char *digest,
                                           const char *spec,
                                           struct shmt_kernel **out,
                                           struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status =
        spec == NULL ? take_named(file, name, digest, &kernel, err)
                     : shmt_command_kernel(spec, &kernel, err);

    if (status == SHMTUNE_OK && strcmp(kernel->name, name) != 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s: is about the kernel %.64s, and %s has "
                                "%s", file, name, kernel->path,
                                kernel->name);
    if (status == SHMTUNE_OK)
        *out = kernel;
    else
        shmt_kernel_free(kernel);
    return status;
}

const char *shmt_command_kernel_word(const struct shmt_command_call *call,
                                     const struct shmt_kernel *kernel)
{
    char path[4096];

    for (int k = 0; k < call->count; k++)
        if (strcmp(shmt_command_spec_of(call->words[k], path),
                   kernel->path) == 0)
            return kernel->path;
    return kernel->name;
}

enum shmtune_status shmt_command_other_kernel(const char *path,
                                              const struct shmt_kernel *kernel,
                                              const char *digest,
                                              struct shmt_error *err)
{
    if (strcmp(kernel->digest, digest) == 0)
        return err->status;
    return shmt_error_prefix(
        err, "%s was made for other sources, digest %.12s..., than those of "
        "%s, %.12s...; of another kernel of that name --spec names the spec",
        path, digest, kernel->path, kernel->digest);
}

static enum shmtune_status find_of_journal(const char *path, const char *spec,
                                           struct shmt_journal_header *header,
                                           struct shmt_kernel **out,
                                           struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_journal_read_header(path, NULL, header, err);

    if (status == SHMTUNE_OK)
        status = shmt_command_kernel_of(path, header->kernel, header->digest,
                                        spec, out, err);
    return status == SHMTUNE_OK
               ? status
               : shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                            SHMTUNE_STORAGE);
}

enum shmtune_status shmt_command_kernel_of_journal(const char *path,
                                                   const char *spec,
                                                   struct shmt_kernel **out,
                                                   struct shmt_error *err)
{
    struct shmt_journal_header header;

    return find_of_journal(path, spec, &header, out, err);
}

enum shmtune_status shmt_command_journal(const char *path, const char *spec,
                                         struct shmt_kernel **kernel,
                                         struct shmt_journal **out,
                                         struct shmt_error *err)
{
    struct shmt_journal_header header;
    enum shmtune_status status =
        find_of_journal(path, spec, &header, kernel, err);

    if (status != SHMTUNE_OK)
        return status;
    status = shmt_journal_read(path, *kernel, out, err);
    if (status != SHMTUNE_OK && spec == NULL)
        status = shmt_command_other_kernel(path, *kernel, header.digest, err);
    return status;
}
