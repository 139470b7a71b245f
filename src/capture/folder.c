/* SPDX-License-Identifier: MIT */
/*
 * folder: what was seen of one launch, as files.  They are written into a
 * folder that ends in SHMT_CAPTURE_PART, which gets its name when all of them
 * are there.  Buffers are compressed, each content once: a second name of it is
 * a link.
 */
#define _GNU_SOURCE   /* nftw */
#include "capture/library.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What is going to be at `path`. */
struct folder {
    const struct shmt_capture_record *record;
    char part[800], whole[768];
    struct shmt_text text;     /* of SHMT_CAPTURE_LAUNCH */
};

/* Nothing is captured any more after a disk was full. */
static bool stopped;

/* -- texts ---------------------------------------------------------------- */

/* In quotes, as YAML and JSON have it. */
static void add_quoted(struct shmt_text *text, const char *string)
{
    shmt_text_add(text, "\"");
    for (; *string != '\0'; string++) {
        const unsigned char c = (unsigned char)*string;

        if (c == '"' || c == '\\')
            shmt_text_addf(text, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            shmt_text_addf(text, "\\x%02x", c);
        else
            shmt_text_add_bytes(text, string, 1);
    }
    shmt_text_add(text, "\"");
}

static void add_hex(struct shmt_text *text, const unsigned char *bytes,
                    size_t size)
{
    shmt_text_add(text, "\"");
    for (size_t k = 0; k < size; k++)
        shmt_text_addf(text, "%02x", bytes[k]);
    shmt_text_add(text, "\"");
}

/* -- files ---------------------------------------------------------------- */

/* The folder has no name yet, so the file may be half there meanwhile. */
static bool write_bytes(const struct folder *folder, const char *name,
                        const void *data, size_t size)
{
    char path[3072];
    bool whole;
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder->part, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    whole = fd >= 0 && shmt_path_put(fd, data, size);
    if (fd >= 0 && close(fd) != 0)
        whole = false;
    if (!whole)
        shmt_capture_note("%s: cannot be written: %s", path, strerror(errno));
    return whole;
}

/* What could not be written is not there: see errno. */
static bool write_compressed(const char *path, const unsigned char *data,
                             size_t size)
{
    char part[1024];
    bool whole;
    int fd, code;

    snprintf(part, sizeof part, "%s.%ld" SHMT_CAPTURE_PART, path,
             (long)getpid());
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    whole = shmt_capture_content_put(fd, data, size);
    code = errno;
    if (close(fd) != 0 && whole) {
        whole = false;
        code = errno;
    }
    if (whole && rename(part, path) == 0)
        return true;
    code = whole ? errno : code;
    unlink(part);
    errno = code;
    return false;
}

/* By its digest among those that are there already. */
static bool write_content(const struct folder *folder, const char *name,
                          const unsigned char *data, size_t size)
{
    const char *root = shmt_capture_setting()->folder;
    char digest[SHMT_DIGEST_TEXT], store[1024], path[1024];

    if (!shmt_capture_content_digest(data, size, digest)) {
        shmt_capture_note("%s: there is no memory", name);
        return false;
    }
    snprintf(store, sizeof store, "%s/store", root);
    mkdir(store, 0700);
    snprintf(store, sizeof store, "%s/store/%s", root, digest);
    snprintf(path, sizeof path, "%s/%s", folder->part, name);
    if (access(store, F_OK) != 0 && !write_compressed(store, data, size)) {
        shmt_capture_note("%s: %s", store, strerror(errno));
        return false;
    }
    /* A file system may have no links. */
    if (link(store, path) == 0 || write_compressed(path, data, size))
        return true;
    shmt_capture_note("%s: %s", path, strerror(errno));
    return false;
}

/* -- the parts of a launch ------------------------------------------------ */

static void add_numbers(struct shmt_text *text, const char *key,
                        const unsigned numbers[3])
{
    shmt_text_addf(text, "%s: [%u, %u, %u]\n", key, numbers[0], numbers[1],
                   numbers[2]);
}

static void add_launch(struct folder *folder)
{
    const struct shmt_capture_record *record = folder->record;
    const struct shmt_capture_launch *launch = folder->record->launch;
    struct shmt_text *text = &folder->text;

    shmt_text_add(text, "format: capture/1\nsymbol: ");
    add_quoted(text, folder->record->function.name);
    shmt_text_add(text, "\n");
    add_numbers(text, "grid", launch->grid);
    add_numbers(text, "block", launch->block);
    add_numbers(text, "cluster", launch->cluster);
    shmt_text_addf(text, "shared_dynamic: %u\ncooperative: %s\n",
                   launch->shared, launch->cooperative ? "true" : "false");
    if (record->registers > 0 && record->resident > 0)
        shmt_text_addf(text, "registers: %d\nresident_blocks: %d\n",
                       record->registers, record->resident);
}

static void add_parameters(struct folder *folder)
{
    const struct shmt_capture_record *record = folder->record;
    struct shmt_text *text = &folder->text;

    shmt_text_addf(text, "parameters:%s\n",
                   record->parameter_count == 0 ? " []" : "");
    for (size_t k = 0; k < record->parameter_count; k++) {
        const struct shmt_capture_parameter *one = &record->parameters[k];

        shmt_text_add(text, "- bytes: ");
        add_hex(text, one->bytes, one->size);
        shmt_text_add(text, "\n  pointers: [");
        for (size_t i = 0, n = 0; i < record->pointer_count; i++) {
            const struct shmt_capture_pointer *pointer = &record->pointers[i];

            if (pointer->parameter == k)
                shmt_text_addf(text, "%s{at: %zu, memory: %zu, offset: %llu}",
                               n++ == 0 ? "" : ", ", pointer->at,
                               pointer->memory,
                               (unsigned long long)pointer->offset);
        }
        shmt_text_add(text, "]\n");
        for (size_t i = 0; i < record->texture_count; i++)
            if (record->textures[i].parameter == k)
                shmt_capture_texture_add(&record->textures[i], text);
    }
}

/* Whether there is a NaN of the type, so many bits of which are its exponent
 * and its fraction, among the bytes.  The width is to be a constant where it is
 * called: gigabytes go through here. */
static inline bool has_nan(const unsigned char *bytes, size_t size,
                           size_t width, unsigned fraction)
{
    const uint64_t rest = UINT64_MAX >> (65 - 8 * width);
    const uint64_t infinity = rest >> fraction << fraction;

    for (size_t at = 0; at + width <= size; at += width) {
        uint64_t word = 0;

        memcpy(&word, bytes + at, width);
        if ((word & rest) > infinity)
            return true;
    }
    return false;
}

/* The types of reals of which there is one. */
static void add_nan(struct shmt_text *text, const unsigned char *bytes,
                    size_t size)
{
    const struct {
        const char *name;
        bool found;
    } types[] = {{"f16", has_nan(bytes, size, 2, 10)},
                 {"bf16", has_nan(bytes, size, 2, 7)},
                 {"f32", has_nan(bytes, size, 4, 23)},
                 {"f64", has_nan(bytes, size, 8, 52)}};
    size_t n = 0;

    shmt_text_add(text, "  nan: [");
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        if (types[k].found)
            shmt_text_addf(text, "%s%s", n++ == 0 ? "" : ", ", types[k].name);
    shmt_text_add(text, "]\n");
}

/* Which bytes are others than before, from the first to behind the last, on
 * multiples of eight, and of which types there is a NaN among them. */
static void add_change(struct shmt_text *text,
                       const struct shmt_capture_memory *one)
{
    size_t first = 0, end = one->size;

    while (first < end && one->before[first] == one->after[first])
        first++;
    while (end > first && one->before[end - 1] == one->after[end - 1])
        end--;
    first -= first % 8;
    end = one->size - end < 8 ? one->size : (end + 7) / 8 * 8;
    shmt_text_addf(text, "  changed: [%zu, %zu]\n", first, end);
    add_nan(text, one->after + first, end - first);
}

static bool add_memories(struct folder *folder)
{
    const struct shmt_capture_record *record = folder->record;
    struct shmt_text *text = &folder->text;
    char name[64];

    shmt_text_addf(text, "memories:%s\n",
                   record->memory_count == 0 ? " []" : "");
    for (size_t k = 0; k < record->memory_count; k++) {
        const struct shmt_capture_memory *one = &record->memories[k];

        snprintf(name, sizeof name, "memory-%zu.before.gz", k);
        if (!write_content(folder, name, one->before, one->size))
            return false;
        shmt_text_addf(text, "- bytes: %zu\n  before: %s\n", one->size, name);
        if (one->after != NULL) {
            snprintf(name, sizeof name, "memory-%zu.after.gz", k);
            if (!write_content(folder, name, one->after, one->size))
                return false;
            shmt_text_addf(text, "  after: %s\n", name);
            add_change(text, one);
        }
        if (one->hidden)
            shmt_text_addf(text, "  address: %llu\n",
                           (unsigned long long)one->base);
        if (one->kind != SHMT_CAPTURE_OF_DEVICE)
            shmt_text_addf(text, "  kind: %s\n",
                           one->kind == SHMT_CAPTURE_MANAGED
                               ? SHMT_CAPTURE_KIND_MANAGED
                               : SHMT_CAPTURE_KIND_HOST);
        if (one->symbol != NULL) {
            shmt_text_add(text, "  symbol: ");
            add_quoted(text, one->symbol);
            shmt_text_add(text, "\n");
        }
    }
    return true;
}

/* -- the source ----------------------------------------------------------- */

static void add_list(struct shmt_text *text, const char *key,
                     char *const *items, size_t count)
{
    shmt_text_addf(text, "%s: [", key);
    for (size_t k = 0; k < count; k++) {
        shmt_text_add(text, k == 0 ? "" : ", ");
        add_quoted(text, items[k]);
    }
    shmt_text_add(text, "]\n");
}

/* Whether no file below a folder is called so. */
static bool leads_out(const char *name)
{
    const char *at = name;

    if (name[0] == '\0' || name[0] == '/' || name[strlen(name) - 1] == '/')
        return true;
    for (; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

/* A header given as a text, as the file that its name says, below a folder of
 * their own.  One of which there can be none is left out: the launch is worth
 * more than its source. */
static bool write_header(const struct folder *folder, const char *name,
                         const char *data)
{
    char path[2048];
    struct shmt_error err;

    if (leads_out(name) || strlen(name) > 1000) {
        shmt_capture_note("the header \"%s\" of %s is left out: no file in a "
                          "folder is called so; its source lacks it",
                          name, folder->record->function.name);
        return true;
    }
    snprintf(path, sizeof path, "%s/" SHMT_CAPTURE_HEADERS "/%s",
             folder->part, name);
    *strrchr(path, '/') = '\0';
    if (shmt_path_make_folder(path, 0700, &err) != SHMTUNE_OK) {
        shmt_capture_note("%s", err.text);
        return false;
    }
    snprintf(path, sizeof path, SHMT_CAPTURE_HEADERS "/%s", name);
    return write_bytes(folder, path, data, strlen(data));
}

static bool add_program(struct folder *folder,
                        const struct shmt_capture_program *program)
{
    struct shmt_text *text = &folder->text;

    if (!write_bytes(folder, SHMT_CAPTURE_SOURCE, program->source,
                     strlen(program->source)))
        return false;
    shmt_text_add(text, "source: " SHMT_CAPTURE_SOURCE "\nprogram: ");
    add_quoted(text, program->name);
    if (program->folder != NULL) {
        shmt_text_add(text, "\nfolder: ");
        add_quoted(text, program->folder);
    }
    shmt_text_add(text, "\n");
    add_list(text, "options", program->options, program->option_count);
    for (size_t k = 0; k < program->header_count; k++)
        if (!write_header(folder, program->include_names[k],
                          program->headers[k]))
            return false;
    if (program->header_count > 0)
        shmt_text_add(text, "headers: " SHMT_CAPTURE_HEADERS "\n");
    for (size_t k = 0; k < program->lowered_count; k++)
        if (strcmp(program->lowered[k].name,
                   folder->record->function.name) == 0) {
            shmt_text_add(text, "expression: ");
            add_quoted(text, program->lowered[k].expression);
            shmt_text_add(text, "\n");
            break;
        }
    return true;
}

static bool add_image(struct folder *folder)
{
    static const char *const names[] = {
        [SHMT_CAPTURE_CUBIN] = "image.cubin", [SHMT_CAPTURE_PTX] = "image.ptx",
        [SHMT_CAPTURE_FATBIN] = "image.fatbin"};
    const struct shmt_capture_image *image = folder->record->function.image;
    const struct shmt_capture_program *program;

    if (image == NULL)
        return true;
    if (shmt_capture_identity(image)[0] != '\0')
        shmt_text_addf(&folder->text, "identity: \"%s\"\n",
                       shmt_capture_identity(image));
    program = image->digest[0] == '\0'
                  ? NULL : shmt_capture_program_of(image->digest);
    if (program != NULL && !add_program(folder, program))
        return false;
    if (image->data == NULL)
        return true;
    shmt_text_addf(&folder->text, "image: %s\n", names[image->form]);
    return write_bytes(folder, names[image->form], image->data, image->size);
}

/* -- the folder ----------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    remove(path);
    return 0;
}

static bool write_all(struct folder *folder)
{
    struct shmt_text *text = &folder->text;

    if (mkdir(folder->part, 0700) != 0) {
        shmt_capture_note("%s: %s", folder->part, strerror(errno));
        return false;
    }
    add_launch(folder);
    add_parameters(folder);
    return add_memories(folder) && add_image(folder) && !text->failed &&
           write_bytes(folder, SHMT_CAPTURE_LAUNCH, text->data,
                       text->length) &&
           rename(folder->part, folder->whole) == 0;
}

bool shmt_capture_folder_write(const struct shmt_capture_record *record)
{
    struct folder folder = {.record = record};
    struct timespec now;
    bool whole;

    if (stopped)
        return false;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(folder.whole, sizeof folder.whole, "%s/%012lld%09ld-%ld",
             shmt_capture_setting()->folder, (long long)now.tv_sec,
             now.tv_nsec, (long)getpid());
    snprintf(folder.part, sizeof folder.part, "%s" SHMT_CAPTURE_PART,
             folder.whole);
    whole = write_all(&folder);
    shmt_text_free(&folder.text);
    if (!whole) {
        nftw(folder.part, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        shmt_capture_note("%s is left out, and nothing is captured any more: "
                          "its folder could not be written",
                          record->function.name);
        stopped = true;
    }
    return whole;
}
