/* SPDX-License-Identifier: MIT */
/*
 * report_files: finds the tunings, journals and counters of a report, and their
 * kernels, and reads them, several at a time.  Called by report.c.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "command/report.h"

enum { DEPTH = 8, JOBS_MOST = 64 };

/* -- which files ----------------------------------------------------------- */

/* Adds it, unless it is there. */
static enum shmtune_status add_file(struct shmt_command_files *files,
                                    const char *path, bool found,
                                    enum shmt_command_file_kind kind,
                                    struct shmt_error *err)
{
    struct shmt_command_file one = {.path = path, .found = found,
                                    .kind = kind};
    struct stat status;

    if (stat(path, &status) != 0)
        return shmt_error_system(err, path, "cannot be examined");
    one.device = status.st_dev;
    one.inode = status.st_ino;
    one.bytes = status.st_size;
    for (size_t k = 0; k < files->count; k++)
        if (files->items[k].inode == one.inode &&
            files->items[k].device == one.device)
            return SHMTUNE_OK;
    if (!shmt_array_reserve(&files->items, &files->room, files->count + 1,
                            sizeof *files->items))
        return shmt_error_memory(err);
    files->items[files->count++] = one;
    return SHMTUNE_OK;
}

static enum shmt_command_file_kind kind_of(enum shmt_command_format format)
{
    return format == SHMT_FORMAT_JOURNAL ? SHMT_COMMAND_JOURNAL
                                         : SHMT_COMMAND_TUNING;
}

/* A file in a folder, if it is one for a report. */
static enum shmtune_status consider(struct shmt_command_files *files,
                                    const char *path, struct shmt_error *err)
{
    enum shmt_command_format format;
    struct shmt_error why = {0};
    const size_t count = files->count;
    enum shmtune_status status;

    if (shmt_text_ends(path, ".journal") || shmt_text_ends(path, ".journal.gz"))
        return add_file(files, path, true, SHMT_COMMAND_JOURNAL, err);
    if (shmt_text_ends(path, ".explain.json"))
        return add_file(files, path, true, SHMT_COMMAND_COUNTERS, err);
    if (!shmt_text_ends(path, ".yaml"))
        return SHMTUNE_OK;
    status = shmt_command_format_of(path, &format, &why);
    if (status == SHMTUNE_NO_MEMORY)
        return shmt_error_memory(err);
    /* Somebody else's, or a spec. */
    if (status == SHMTUNE_INVALID_FILE ||
        (status == SHMTUNE_OK && format == SHMT_FORMAT_SPEC))
        return SHMTUNE_OK;
    if (status == SHMTUNE_OK)
        return add_file(files, path, true, kind_of(format), err);
    status = add_file(files, path, true, SHMT_COMMAND_TUNING, err);
    if (status == SHMTUNE_OK && files->count > count)
        files->items[count].why = why;
    return status;
}

static enum shmtune_status look_into(struct shmt_command_files *files,
                                     const char *folder, int depth,
                                     struct shmt_error *err);

/* What `shmtune dispatch` measured, at hundreds of sizes, is no run: it is read
 * where it is named. */
static bool is_of_dispatch(const char *folder)
{
    return shmt_text_ends(folder, ".dispatch") ||
           strstr(strrchr(folder, '/'), ".trial-") != NULL;
}

/* At a file of a folder, or a folder in it. */
static enum shmtune_status look_at(struct shmt_command_files *files,
                                   const char *path, int depth,
                                   struct shmt_error *err)
{
    switch (shmt_path_kind(path)) {
    case SHMT_PATH_FILE:
        return consider(files, path, err);
    case SHMT_PATH_FOLDER:
        return depth > 0 && !is_of_dispatch(path)
                   ? look_into(files, path, depth - 1, err) : SHMTUNE_OK;
    case SHMT_PATH_UNKNOWN:
        return shmt_error_system(err, path, "cannot be examined");
    default:
        return SHMTUNE_OK;
    }
}

static enum shmtune_status look_into(struct shmt_command_files *files,
                                     const char *folder, int depth,
                                     struct shmt_error *err)
{
    const char *const *names;
    size_t count;
    enum shmtune_status status =
        shmt_path_list(files->arena, folder, "", &names, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *const path =
            shmt_path_join(files->arena, folder, names[k]);

        if (path == NULL)
            status = shmt_error_memory(err);
        else
            status = look_at(files, path, depth, err);
    }
    return status;
}

/* What is shipped, and the user's own. */
static enum shmtune_status look_into_all(struct shmt_command_files *files,
                                         struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0;
         status == SHMTUNE_OK && k < files->catalogue->folder_count; k++) {
        const char *const path = shmt_path_join(
            files->arena, files->catalogue->folders[k], "tunings");

        if (path == NULL)
            status = shmt_error_memory(err);
        else if (shmt_path_is_folder(path))
            status = look_into(files, path, DEPTH, err);
    }
    return status;
}

static enum shmtune_status take_word(struct shmt_command_files *files,
                                     const char *word, struct shmt_error *err)
{
    enum shmt_command_format format;
    enum shmtune_status status;

    switch (shmt_path_kind(word)) {
    case SHMT_PATH_FOLDER:
        return look_into(files, word, DEPTH, err);
    case SHMT_PATH_UNKNOWN:
        return shmt_error_system(err, word, "cannot be examined");
    default:
        break;
    }
    if (shmt_command_is_counters(word))
        return add_file(files, word, false, SHMT_COMMAND_COUNTERS, err);
    status = shmt_command_format_of(word, &format, err);
    if (status != SHMTUNE_OK)
        return status;
    if (format == SHMT_FORMAT_SPEC)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s is a kernel spec: a report is made of "
                              "tunings and journals; --spec names the spec of "
                              "a journal", word);
    return add_file(files, word, false, kind_of(format), err);
}

/* Counters alone are no problem of a report. */
static bool has_runs(const struct shmt_command_files *files)
{
    for (size_t k = 0; k < files->count; k++)
        if (files->items[k].kind != SHMT_COMMAND_COUNTERS)
            return true;
    return false;
}

static enum shmtune_status list_files(struct shmt_command_files *files,
                                      char *const *words, size_t count,
                                      struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = take_word(files, words[k], err);
    if (count == 0)
        status = shmt_path_is_folder("tunings")
                     ? look_into(files, "tunings", DEPTH, err)
                     : look_into_all(files, err);
    if (status != SHMTUNE_OK)
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    if (!has_runs(files))
        return shmt_error_set(err, SHMTUNE_STORAGE,
                              "%s: no tuning and no journal is there; "
                              "\"shmtune tune\" makes them",
                              count > 0 ? words[0] : "./tunings and the "
                                                     "search path");
    return SHMTUNE_OK;
}

/* -- their kernels --------------------------------------------------------- */

static bool is_of(const struct shmt_kernel *kernel, const char *name,
                  const char *digest)
{
    return strcmp(kernel->name, name) == 0 &&
           (digest == NULL || strcmp(kernel->digest, digest) == 0);
}

/* digest: NULL, or it has to have that. */
static const struct shmt_kernel *find_known(
    const struct shmt_command_files *files, const char *name,
    const char *digest)
{
    const struct shmt_catalogue_kernel *const known =
        shmt_catalogue_find(files->catalogue, name);

    for (size_t k = 0; k < files->kernel_count; k++)
        if (is_of(files->kernels[k], name, digest))
            return files->kernels[k];
    return known != NULL && is_of(known->kernel, name, digest) ? known->kernel
                                                               : NULL;
}

/* Whether its spec was named. */
static bool is_named(const struct shmt_command_files *files,
                     const struct shmt_kernel *kernel)
{
    for (size_t k = 0; k < files->specs->count && k < files->kernel_count; k++)
        if (files->kernels[k] == kernel)
            return true;
    return false;
}

static enum shmtune_status keep_kernel(struct shmt_command_files *files,
                                       struct shmt_kernel *kernel,
                                       struct shmt_error *err)
{
    if (!shmt_array_reserve(&files->kernels, &files->kernel_room,
                            files->kernel_count + 1,
                            sizeof *files->kernels)) {
        shmt_kernel_free(kernel);
        return shmt_error_memory(err);
    }
    files->kernels[files->kernel_count++] = kernel;
    return SHMTUNE_OK;
}

static enum shmtune_status read_specs(struct shmt_command_files *files,
                                      struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < files->specs->count; k++) {
        struct shmt_kernel *kernel = NULL;

        status = shmt_command_kernel(files->specs->items[k], &kernel, err);
        if (status == SHMTUNE_OK)
            status = keep_kernel(files, kernel, err);
    }
    return status;
}

/* Among those that are known and beside the file, of the digest if one is, else
 * of the name. */
static enum shmtune_status find_kernel(struct shmt_command_files *files,
                                       struct shmt_command_file *file,
                                       const char *name, const char *digest,
                                       struct shmt_error *err)
{
    const struct shmt_kernel *const known = find_known(files, name, NULL);
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status;

    file->kernel = find_known(files, name, digest);
    if (file->kernel != NULL)
        return SHMTUNE_OK;
    status = shmt_command_kernel_of(file->path, name, digest, NULL, &kernel,
                                    err);
    if (known != NULL && status != SHMTUNE_NO_MEMORY &&
        (status != SHMTUNE_OK || !is_of(kernel, name, digest))) {
        shmt_kernel_free(kernel);
        file->kernel = known;
        return SHMTUNE_OK;
    }
    if (status == SHMTUNE_OK)
        status = keep_kernel(files, kernel, err);
    if (status == SHMTUNE_OK)
        file->kernel = kernel;
    return status;
}

/* A journal cannot be read without its kernel; counters are few, and read at
 * once. */
static enum shmtune_status prepare(struct shmt_command_files *files,
                                   struct shmt_command_file *file)
{
    struct shmt_journal_header header;
    enum shmtune_status status = SHMTUNE_OK;

    if (file->kind == SHMT_COMMAND_COUNTERS)
        return shmt_command_counters_read(files->arena, file->path,
                                          &file->counters, &file->why);
    if (file->kind != SHMT_COMMAND_JOURNAL)
        return SHMTUNE_OK;
    status = shmt_journal_read_header(file->path, NULL, &header, &file->why);
    if (status != SHMTUNE_OK)
        return status;
    memcpy(file->digest, header.digest, sizeof header.digest);
    return find_kernel(files, file, header.kernel, header.digest, &file->why);
}

/* A tuning of a kernel that is not known, or of whose name another is, is shown
 * without what follows from its spec. */
static enum shmtune_status complete(struct shmt_command_files *files,
                                    struct shmt_command_file *file,
                                    struct shmt_error *err)
{
    const struct shmt_tuning *const tuning = file->tuning;
    struct shmt_error why = {0};

    if (tuning == NULL)
        return SHMTUNE_OK;
    if (find_kernel(files, file, tuning->kernel, tuning->digest, &why) ==
        SHMTUNE_NO_MEMORY)
        return shmt_error_memory(err);
    if (file->kernel != NULL && !is_named(files, file->kernel) &&
        !is_of(file->kernel, tuning->kernel, tuning->digest))
        file->kernel = NULL;
    return SHMTUNE_OK;
}

/* -- reading --------------------------------------------------------------- */

struct pool {
    pthread_mutex_t lock;
    struct shmt_command_file **order;      /* the largest first */
    size_t count, next;
};

static void read_file(struct shmt_command_file *file)
{
    enum shmtune_status status;

    if (file->why.status != SHMTUNE_OK || file->kind == SHMT_COMMAND_COUNTERS)
        return;
    status = file->kind == SHMT_COMMAND_JOURNAL
                 ? shmt_journal_read(file->path, file->kernel, &file->journal,
                                     &file->why)
                 : shmt_tuning_read(file->path, &file->tuning, &file->why);
    if (status == SHMTUNE_OK)
        file->why.status = SHMTUNE_OK;
    else if (file->kind == SHMT_COMMAND_JOURNAL)
        (void)shmt_command_other_kernel(file->path, file->kernel, file->digest,
                                        &file->why);
}

static void *read_files(void *opaque)
{
    struct pool *const pool = opaque;

    pthread_mutex_lock(&pool->lock);
    while (pool->next < pool->count) {
        struct shmt_command_file *const file = pool->order[pool->next++];

        pthread_mutex_unlock(&pool->lock);
        read_file(file);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int compare_bytes(const void *a, const void *b)
{
    const struct shmt_command_file *const left =
        *(struct shmt_command_file *const *)a;
    const struct shmt_command_file *const right =
        *(struct shmt_command_file *const *)b;

    return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

static void read_all(struct pool *pool, size_t jobs)
{
    pthread_t threads[JOBS_MOST];
    size_t hired = 0;

    pthread_mutex_init(&pool->lock, NULL);
    while (hired + 1 < jobs && hired < JOBS_MOST && hired < pool->count &&
           pthread_create(&threads[hired], NULL, read_files, pool) == 0)
        hired++;
    read_files(pool);
    while (hired > 0)
        pthread_join(threads[--hired], NULL);
    pthread_mutex_destroy(&pool->lock);
}

/* A failure that ends the command: of memory, or of a file that was named. */
static enum shmtune_status check(const struct shmt_command_files *files,
                                 struct shmt_error *err)
{
    for (size_t k = 0; k < files->count; k++) {
        const struct shmt_error *const why = &files->items[k].why;

        if (why->status == SHMTUNE_OK ||
            (files->items[k].found && why->status != SHMTUNE_NO_MEMORY))
            continue;
        *err = *why;
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    }
    return SHMTUNE_OK;
}

enum shmtune_status shmt_command_files_read(struct shmt_command_files *files,
                                            char *const *words, size_t count,
                                            struct shmt_error *err)
{
    struct pool pool = {0};
    enum shmtune_status status;

    files->arena = shmt_arena_new();
    if (files->arena == NULL)
        return shmt_error_memory(err);
    status = shmt_command_catalogue(&files->catalogue, err);
    if (status == SHMTUNE_OK)
        status = read_specs(files, err);
    if (status == SHMTUNE_OK)
        status = list_files(files, words, count, err);
    if (status != SHMTUNE_OK)
        return status;
    pool.order =
        shmt_arena_alloc(files->arena, files->count, sizeof *pool.order);
    if (pool.order == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < files->count; k++) {
        prepare(files, &files->items[k]);
        pool.order[pool.count++] = &files->items[k];
    }
    qsort(pool.order, pool.count, sizeof *pool.order, compare_bytes);
    read_all(&pool, (size_t)files->jobs);
    for (size_t k = 0; status == SHMTUNE_OK && k < files->count; k++)
        status = complete(files, &files->items[k], err);
    return status == SHMTUNE_OK ? check(files, err) : status;
}

void shmt_command_files_free(struct shmt_command_files *files)
{
    for (size_t k = 0; k < files->count; k++) {
        shmt_tuning_free(files->items[k].tuning);
        shmt_journal_free(files->items[k].journal);
    }
    for (size_t k = 0; k < files->kernel_count; k++)
        shmt_kernel_free(files->kernels[k]);
    free(files->items);
    free(files->kernels);
    shmt_catalogue_close(files->catalogue);
    shmt_arena_free(files->arena);
}
