/* SPDX-License-Identifier: MIT */
/*
 * digest: the content key of a kernel: its spec, its source, and
 * every file that these include and that lies where the compiler looks for
 * it: in the folder of the including file, of the source, or of the spec's
 * `includes`.  Headers from elsewhere (the toolkit's) are not the kernel's
 * own, and neither are those of a toolkit's folder that `includes` names: they
 * change with the version of the toolkit, which is kept beside the digest, so
 * that another version makes no tuning stale.
 *
 * The digest covers what the spec says, not its layout, and neither its
 * summary nor its list of sizes: another size or a comment makes no tuning
 * stale.
 *
 * Directives are searched for as text, without a preprocessor.  An #include
 * inside a comment or a false #if therefore counts too, and so does every
 * macro that could be the name in one.  The digest may cover too many files;
 * it covers too few only where a macro puts a file name together from parts.
 */
#include "kernel/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Room for any library of headers that lies beside a kernel: CCCL has 1,700
 * files and 17 MB. */
enum {
    FILES = 16384,
    FILE_BYTES = 4 << 20,
    TOTAL_BYTES = 256 << 20
};

struct files {
    struct shmt_kernel_reader *reader;
    struct shmt_digest digest;
    int toolkits[SHMT_KERNEL_INCLUDES];   /* by include: the version of CUDA;
                                             0: no folder of a toolkit */
    size_t sources;                       /* the first of those found */
    size_t count, room;
    size_t bytes;
    struct shmt_kernel_header *found;     /* each once, in the order they are
                                             met */
    struct shmt_map numbers;              /* in `found`, by hash of the path, */
    struct shmt_map places;               /* and by its place, since one has
                                             many paths, "a/../a/x.h" */
};

/* Lengths go in too, so that text cannot move from one file to the next. */
static void add_file(struct files *files, const char *name, const char *data,
                     size_t size)
{
    const uint64_t length = size;
    unsigned char bytes[8];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(length >> (8 * i));
    shmt_digest_add(&files->digest, name, strlen(name) + 1);
    shmt_digest_add(&files->digest, bytes, sizeof bytes);
    shmt_digest_add(&files->digest, data, size);
}

static void add_text(struct files *files, char kind, const char *text)
{
    shmt_digest_add(&files->digest, &kind, 1);
    shmt_digest_add(&files->digest, text, strlen(text) + 1);
}

/* The YAML reader limits the depth.  Every mapping and sequence ends in a
 * mark, so that two different trees never give the same bytes. */
static void add_node(struct files *files, const struct shmt_yaml *node)
{
    if (node->kind == SHMT_YAML_SCALAR) {
        add_text(files, 's', node->text);
        return;
    }
    add_text(files, node->kind == SHMT_YAML_MAPPING ? 'm' : 'l', "");
    for (size_t i = 0; i < node->count; i++) {
        if (node->kind == SHMT_YAML_MAPPING)
            add_text(files, 'k', node->keys[i]->text);
        add_node(files, node->items[i]);
    }
    add_text(files, 'e', "");
}

static void add_spec(struct files *files, const struct shmt_yaml *root)
{
    for (size_t i = 0; i < root->count; i++) {
        const char *key = root->keys[i]->text;

        if (strcmp(key, "sizes") == 0 || strcmp(key, "summary") == 0)
            continue;
        add_text(files, 'k', key);
        add_node(files, root->items[i]);
    }
}

/* Blanks, comments that end on the same line, and where the line goes on. */
static const char *skip_blanks(const char *text)
{
    for (;;) {
        const char *at = text + strspn(text, " \t");
        const char *end = at + shmt_code_splice(at);

        if (end == at && at[0] == '/' && at[1] == '*') {
            end = shmt_code_behind_comment(at);
            if (memchr(at, '\n', (size_t)(end - at)) != NULL)
                return at;
        }
        if (end == at)
            return at;
        text = end;
    }
}

/* Behind `include`, or behind a `define` and the name of a macro, which an
 * include may name; NULL when it is neither. */
static const char *behind_directive(const char *at)
{
    if (strncmp(at, "include", 7) == 0)
        return skip_blanks(at + 7);
    if (strncmp(at, "define", 6) != 0)
        return NULL;
    at = skip_blanks(at + 6);
    return skip_blanks(at + shmt_text_name_length(at));
}

/* The name in `#include "name"`, `#include <name>` or `#define MACRO "name"`,
 * of which `sign` is the first character. */
static bool parse_include(const char *sign, const char **name, size_t *length,
                          bool *quoted)
{
    const char *at = behind_directive(skip_blanks(sign + 1));
    size_t found;

    if (at == NULL || (*at != '"' && *at != '<'))
        return false;
    found = strcspn(at + 1, *at == '"' ? "\"\n" : ">\n");
    if (at[1 + found] != (*at == '"' ? '"' : '>') || found == 0 ||
        found > 1024)
        return false;
    *name = at + 1;
    *length = found;
    *quoted = *at == '"';
    return true;
}

static bool is_known(const struct files *files, const char *path,
                     uint64_t hash)
{
    uint32_t at;

    for (size_t probe = 0; (at = shmt_map_next(&files->numbers, hash, &probe))
                           != SHMT_MAP_NONE;)
        if (strcmp(files->found[at].path, path) == 0)
            return true;
    return false;
}

/* Headers that include each other by "../x.h" have no end of paths. */
static bool is_there(const struct files *files, const char *path)
{
    const uint64_t place = shmt_path_place(path);
    uint32_t at;

    for (size_t probe = 0;
         place != 0 && (at = shmt_map_next(&files->places, place, &probe)) !=
                           SHMT_MAP_NONE;)
        if (shmt_path_is_same_place(files->found[at].path, path))
            return true;
    return false;
}

static enum shmtune_status keep(struct files *files,
                                const struct shmt_kernel_header *file,
                                uint64_t hash)
{
    const uint64_t place = shmt_path_place(file->path);

    if (!shmt_array_reserve(&files->found, &files->room, files->count + 1,
                            sizeof *files->found) ||
        !shmt_map_add(&files->numbers, hash, (uint32_t)files->count) ||
        (place != 0 &&
         !shmt_map_add(&files->places, place, (uint32_t)files->count)))
        return shmt_error_memory(files->reader->err);
    files->found[files->count++] = *file;
    return SHMTUNE_OK;
}

static enum shmtune_status add_header(struct files *files, const char *name,
                                      const char *path, uint64_t hash)
{
    struct shmt_arena *arena = files->reader->kernel->arena;
    struct shmt_kernel_header file = {
        .path = shmt_arena_copy(arena, path, strlen(path))
    };
    enum shmtune_status status;

    if (file.path == NULL)
        return shmt_error_memory(files->reader->err);
    if (files->count == FILES)
        return shmt_error_set(files->reader->err, SHMTUNE_INVALID_FILE,
                              "%s: includes more than %d files",
                              files->found[0].path, FILES);
    status = shmt_path_read(arena, path, FILE_BYTES, &file.text, &file.size,
                            files->reader->err);
    if (status != SHMTUNE_OK)
        return status;
    files->bytes += file.size;
    if (files->bytes > TOTAL_BYTES)
        return shmt_error_set(files->reader->err, SHMTUNE_INVALID_FILE,
                              "%s: includes more than %d MiB",
                              files->found[0].path, TOTAL_BYTES >> 20);
    add_file(files, name, file.text, file.size);
    return keep(files, &file, hash);
}

/* Whether folder/name exists; it is then in the list of files. */
static enum shmtune_status add_include(struct files *files, const char *folder,
                                       const char *name, bool *found)
{
    const char *path = shmt_path_join(files->reader->tree, folder, name);
    enum shmt_path_kind kind;
    uint64_t hash;

    if (path == NULL)
        return shmt_error_memory(files->reader->err);
    hash = shmt_map_hash_bytes(path, strlen(path));
    *found = true;
    if (is_known(files, path, hash))
        return SHMTUNE_OK;
    /* The text of a macro need not be a file name: if there is no such file,
     * that is no error. */
    kind = shmt_path_kind(path);
    if (kind == SHMT_PATH_UNKNOWN && errno != ENAMETOOLONG)
        return shmt_error_system(files->reader->err, path,
                                 "cannot be examined");
    *found = kind == SHMT_PATH_FILE;
    if (!*found || is_there(files, path))
        return SHMTUNE_OK;
    return add_header(files, name, path, hash);
}

/* The same in folder k of `includes`. */
static enum shmtune_status look_in_include(struct files *files, size_t k,
                                           const char *name, bool *found)
{
    struct shmt_kernel *kernel = files->reader->kernel;
    const char *path;

    if (files->toolkits[k] == 0)
        return add_include(files, kernel->includes[k], name, found);
    path = shmt_path_join(files->reader->tree, kernel->includes[k], name);
    if (path == NULL)
        return shmt_error_memory(files->reader->err);
    *found = shmt_path_is_file(path);
    if (*found)
        kernel->toolkit_version = files->toolkits[k];
    return SHMTUNE_OK;
}

/* The same in the folder of source k. */
static enum shmtune_status look_beside_source(struct files *files, size_t k,
                                              const char *name, bool *found)
{
    const char *folder =
        shmt_path_folder(files->reader->tree, files->found[k].path);

    return folder == NULL ? shmt_error_memory(files->reader->err)
                          : add_include(files, folder, name, found);
}

static enum shmtune_status look_up(struct files *files, const char *from,
                                   const char *name, bool quoted)
{
    const struct shmt_kernel *kernel = files->reader->kernel;
    const char *beside = shmt_path_folder(files->reader->tree, from);
    bool found = false;
    enum shmtune_status status = SHMTUNE_OK;

    if (beside == NULL)
        return shmt_error_memory(files->reader->err);
    if (name[0] == '/')     /* in a pack, one of its own */
        return add_include(files, beside, name, &found);
    if (quoted)
        status = add_include(files, beside, name, &found);
    for (size_t i = 0; status == SHMTUNE_OK && !found && i < files->sources;
         i++)
        status = look_beside_source(files, i, name, &found);
    for (size_t i = 0;
         status == SHMTUNE_OK && !found && i < kernel->include_count; i++)
        status = look_in_include(files, i, name, &found);
    return status;
}

/* Whether only blanks or the end of a comment stand before it in its line. */
static bool begins_line(const char *text, const char *at)
{
    while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return at == text || at[-1] == '\n' ||
           (at - text >= 2 && memcmp(at - 2, "*/", 2) == 0);
}

bool shmt_kernel_next_include(const char *text, const char **at,
                              const char **name, size_t *length, bool *quoted)
{
    while ((*at = strchr(*at, '#')) != NULL) {
        const char *const sign = (*at)++;

        if (begins_line(text, sign) &&
            parse_include(sign, name, length, quoted))
            return true;
    }
    return false;
}

static enum shmtune_status scan(struct files *files, size_t index)
{
    const char *const text = files->found[index].text;
    const char *at = text, *name;
    size_t length;
    bool quoted;

    while (shmt_kernel_next_include(text, &at, &name, &length, &quoted)) {
        const char *copy = shmt_arena_copy(files->reader->tree, name, length);
        enum shmtune_status status;

        if (copy == NULL)
            return shmt_error_memory(files->reader->err);
        status = look_up(files, files->found[index].path, copy, quoted);
        if (status != SHMTUNE_OK)
            return status;
    }
    return SHMTUNE_OK;
}

/* Keeps the headers that were found, in the kernel's arena. */
static enum shmtune_status store_headers(const struct files *files)
{
    struct shmt_kernel *kernel = files->reader->kernel;
    struct shmt_kernel_header *headers =
        shmt_arena_alloc(kernel->arena, files->count, sizeof *headers);

    if (headers == NULL)
        return shmt_error_memory(files->reader->err);
    for (size_t i = 1; i < files->count; i++)
        headers[kernel->header_count++] = files->found[i];
    kernel->headers = headers;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_check_headers(const struct shmt_kernel *kernel,
                          struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err) : SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->header_count;
         k++) {
        const struct shmt_kernel_header *header = &kernel->headers[k];
        const char *text;
        size_t size;

        status = shmt_path_read(arena, header->path, FILE_BYTES, &text, &size,
                                NULL);
        if (status == SHMTUNE_NO_MEMORY)
            status = shmt_error_memory(err);
        else if (status != SHMTUNE_OK || size != header->size ||
                 memcmp(text, header->text, size) != 0)
            status = shmt_error_set(err, SHMTUNE_STORAGE,
                                    "%s: it was changed since its spec %s was "
                                    "read; start again",
                                    header->path, kernel->path);
    }
    shmt_arena_free(arena);
    return status;
}

/* -- folders of a toolkit ------------------------------------------------- */

/* The number of `#define CUDA_VERSION 13000` in a text. */
static int cuda_version_in(const char *text)
{
    static const char mark[] = "#define CUDA_VERSION ";
    const char *at = strstr(text, mark);
    const long found = at == NULL ? 0 : strtol(at + strlen(mark), NULL, 10);

    return found > 0 && found < 1000000 ? (int)found : 0;
}

/* The version of CUDA whose headers a folder has: it is the toolkit's, or the
 * one of CUB and libcu++ in it. */
static enum shmtune_status toolkit_in(struct files *files, const char *folder,
                                      int *version)
{
    static const char *const places[] = {".", ".."};
    struct shmt_arena *tree = files->reader->tree;
    enum shmtune_status status = SHMTUNE_OK;

    *version = 0;
    for (size_t k = 0; status == SHMTUNE_OK && *version == 0 && k < 2; k++) {
        const char *place = shmt_path_join(tree, folder, places[k]);
        const char *runtime = place == NULL ? NULL : shmt_path_join(
            tree, place, "cuda_runtime_api.h");
        const char *driver = place == NULL ? NULL
                                           : shmt_path_join(tree, place,
                                                            "cuda.h");
        const char *text;
        size_t size;

        if (runtime == NULL || driver == NULL)
            return shmt_error_memory(files->reader->err);
        if (!shmt_path_is_file(runtime) || !shmt_path_is_file(driver))
            continue;
        status = shmt_path_read(tree, driver, FILE_BYTES, &text, &size,
                                files->reader->err);
        if (status == SHMTUNE_OK)
            *version = cuda_version_in(text);
    }
    return status;
}

static enum shmtune_status find_toolkits(struct files *files)
{
    const struct shmt_kernel *kernel = files->reader->kernel;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->include_count; k++)
        status = toolkit_in(files, kernel->includes[k], &files->toolkits[k]);
    return status;
}

/* -- the digest ----------------------------------------------------------- */

/* A file that is a source of both counts as each. */
static enum shmtune_status add_sources(struct files *files, const char *name,
                                       const struct shmt_kernel_code *code)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < code->file_count; k++) {
        const struct shmt_kernel_header *file = &code->files[k];
        const uint64_t hash =
            shmt_map_hash_bytes(file->path, strlen(file->path));

        add_file(files, name, file->text, file->size);
        if (!is_known(files, file->path, hash))
            status = keep(files, file, hash);
    }
    files->sources = files->count;
    return status;
}

enum shmtune_status
shmt_kernel_digest_compute(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    struct files room = {.reader = reader}, *const files = &room;
    enum shmtune_status status = SHMTUNE_OK;

    shmt_digest_begin(&files->digest);
    add_spec(files, reader->root);
    if (kernel->source != NULL)
        status = find_toolkits(files);
    if (status == SHMTUNE_OK)
        status = add_sources(files, "source", &kernel->code);
    if (status == SHMTUNE_OK)
        status = add_sources(files, "reference", &kernel->reference_code);
    for (size_t i = 0; status == SHMTUNE_OK && i < files->count; i++)
        status = scan(files, i);
    if (status == SHMTUNE_OK && files->count > 1)
        status = store_headers(files);
    if (status == SHMTUNE_OK)
        shmt_digest_end(&files->digest, kernel->digest);
    free(files->found);
    shmt_map_free(&files->numbers);
    shmt_map_free(&files->places);
    return status;
}
