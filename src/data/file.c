/* SPDX-License-Identifier: MIT */
/*
 * file: reads the files that arguments are filled from, part by part, since
 * they can be larger than memory.  The name says what a file is, because bare
 * elements can begin as anything does.  Called by bench/, in the measure
 * worker, and by the commands that tune, for the digest.
 */
#include "data/file.h"

#include <string.h>

#include "data/npy.h"
#include "record/record.h"

/* A sink is given parts of about this many bytes, and a multiple of these. */
enum { PART = 1 << 20, WHOLE = 16 };

struct reading {
    const struct shmt_fill_values *values;
    const struct shmt_data_sink *sink;
    struct shmt_text text;     /* read, and not handed out yet */
    bool npy;                  /* its header is still to come */
    uint64_t given, wanted;    /* bytes of elements */
    struct shmt_error *err;
};

static bool is_compressed(const char *path)
{
    return shmt_text_ends(path, ".gz");
}

static bool is_npy(const char *path)
{
    return shmt_text_ends(path, ".npy") || shmt_text_ends(path, ".npy.gz");
}

/* A file that a spec names and that is not there. */
static enum shmtune_status storage_of(enum shmtune_status status)
{
    return status == SHMTUNE_NOT_FOUND ? SHMTUNE_STORAGE : status;
}

/* Every byte of a file, as it is before it was compressed. */
static enum shmtune_status
read_parts(const char *path, struct shmt_text *text,
           struct shmt_digest *digest,
           enum shmtune_status (*use)(void *context, bool last),
           void *context, struct shmt_error *err)
{
    struct shmt_gzip_reader *reader = NULL;
    unsigned char length[8];
    uint64_t bytes = 0;
    bool more = true;
    enum shmtune_status status =
        shmt_gzip_open(path, is_compressed(path), &reader, err);

    while (status == SHMTUNE_OK && more) {
        const size_t before = text->length;

        status = shmt_gzip_next(reader, text, &more, err);
        if (status == SHMTUNE_OK && text->failed)
            status = shmt_error_memory(err);
        if (status == SHMTUNE_OK && digest != NULL && text->length > before)
            shmt_digest_add(digest, text->data + before,
                            text->length - before);
        bytes += text->length - before;
        if (status == SHMTUNE_OK)
            status = use(context, !more);
    }
    shmt_gzip_close(reader);
    /* So that no byte can move from one file to the next. */
    for (size_t k = 0; k < sizeof length; k++)
        length[k] = (unsigned char)(bytes >> 8 * k);
    if (digest != NULL)
        shmt_digest_add(digest, length, sizeof length);
    return status;
}

/* -- for an argument ------------------------------------------------------ */

/* Drops the first bytes of what was read. */
static void drop(struct shmt_text *text, size_t bytes)
{
    text->length -= bytes;
    memmove(text->data, text->data + bytes, text->length + 1);
}

/* The header of a .npy, once all of it is there. */
static enum shmtune_status take_header(struct reading *reading, bool last)
{
    const struct shmt_text *text = &reading->text;
    struct shmt_npy npy;
    size_t bytes = SHMT_NPY_START;
    enum shmtune_status status = SHMTUNE_OK;

    if (!last && text->length < bytes)
        return SHMTUNE_OK;
    status = shmt_npy_size(shmt_text_string(text), text->length, &bytes,
                           reading->err);
    if (status != SHMTUNE_OK || (!last && text->length < bytes))
        return status;
    status = shmt_npy_read(text->data, text->length, &npy, reading->err);
    if (status == SHMTUNE_OK)
        status = shmt_npy_check(&npy, reading->values, reading->err);
    if (status != SHMTUNE_OK)
        return status;
    drop(&reading->text, bytes);
    reading->npy = false;
    return SHMTUNE_OK;
}

static enum shmtune_status refuse_size(const struct reading *reading,
                                       bool more)
{
    const struct shmt_fill_values *values = reading->values;

    return shmt_error_set(reading->err, SHMTUNE_INVALID_FILE,
                          "has %s%llu bytes of elements, the argument has "
                          "%llu: %llu of %zu bytes (%s)%s",
                          more ? "more than " : "",
                          (unsigned long long)(more ? reading->wanted
                                                    : reading->given),
                          (unsigned long long)reading->wanted,
                          (unsigned long long)values->count,
                          shmt_element_bytes(values->element),
                          shmt_element_word(values->element),
                          more || is_npy(values->file)
                              ? "" : "; a file with a header is read by its "
                                     "name, *.npy");
}

/* Hands out what was read, if it is a part; what is behind a part waits for the
 * next one. */
static enum shmtune_status use_part(void *context, bool last)
{
    struct reading *reading = context;
    struct shmt_text *text = &reading->text;
    enum shmtune_status status = SHMTUNE_OK;
    size_t size;

    if (reading->npy)
        status = take_header(reading, last);
    if (status != SHMTUNE_OK || reading->npy ||
        (!last && text->length < PART))
        return status;
    if (reading->given == 0 && !is_npy(reading->values->file) &&
        text->length > 0 && shmt_npy_begins(text->data, text->length))
        return shmt_error_set(reading->err, SHMTUNE_INVALID_FILE,
                              "begins as a .npy does, and would be read as "
                              "bare elements; give it a name that ends in "
                              ".npy or .npy.gz");
    if (text->length > reading->wanted - reading->given)
        return refuse_size(reading, true);
    size = last ? text->length : text->length / WHOLE * WHOLE;
    if (size > 0) {
        status = reading->sink->take(reading->sink->context, text->data,
                                     reading->given, size, reading->err);
        drop(text, size);
    }
    reading->given += size;
    if (status == SHMTUNE_OK && last && reading->given < reading->wanted)
        status = refuse_size(reading, false);
    return status;
}

enum shmtune_status shmt_data_read(const struct shmt_fill_values *values,
                                   struct shmt_digest *digest,
                                   const struct shmt_data_sink *sink,
                                   struct shmt_error *err)
{
    struct shmt_error why = {0};
    struct reading reading = {
        .values = values, .sink = sink, .npy = is_npy(values->file),
        .wanted = values->count * shmt_element_bytes(values->element),
        .err = &why,
    };
    const enum shmtune_status status = read_parts(
        values->file, &reading.text, digest, use_part, &reading, &why);
    const struct shmt_place place = values->place;

    shmt_text_free(&reading.text);
    if (status == SHMTUNE_OK)
        return SHMTUNE_OK;
    /* What reads files begins with the name of the file. */
    return shmt_error_set(
        err, storage_of(status), "%s:%d:%d: %s%s%s", place.file, place.line,
        place.column,
        strncmp(why.text, values->file, strlen(values->file)) == 0
            ? "" : values->file,
        strncmp(why.text, values->file, strlen(values->file)) == 0 ? "" : " ",
        why.text);
}

/* -- the digest ----------------------------------------------------------- */

/* What was read is in the digest: only its length is kept. */
static enum shmtune_status count_bytes(void *context, bool last)
{
    struct shmt_text *const text = ((void **)context)[0];
    uint64_t *const bytes = ((void **)context)[1];

    (void)last;
    *bytes += text->length;
    shmt_text_clear(text);
    return SHMTUNE_OK;
}

/* Adds one file, if there is one. */
static enum shmtune_status add_file(const struct shmt_argument_file *file,
                                    struct shmt_digest *all, uint64_t *bytes,
                                    bool *any, struct shmt_error *err)
{
    struct shmt_text text = {0};
    void *context[] = {&text, bytes};
    enum shmtune_status status;

    if (file->path == NULL)
        return SHMTUNE_OK;
    *any = true;
    status = read_parts(file->path, &text, all, count_bytes, context, err);
    shmt_text_free(&text);
    if (status == SHMTUNE_OK)
        return SHMTUNE_OK;
    shmt_error_prefix(err, "%s:%d:%d", file->place.file, file->place.line,
                      file->place.column);
    return shmt_error_set_status(err, storage_of(status));
}

enum shmtune_status shmt_data_digest(const struct shmt_kernel *kernel,
                                     char digest[SHMT_DIGEST_TEXT],
                                     uint64_t *bytes, struct shmt_error *err)
{
    struct shmt_digest all;
    enum shmtune_status status = SHMTUNE_OK;
    bool any = false;

    shmt_digest_begin(&all);
    *bytes = 0;
    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->argument_count;
         k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];

        status = add_file(&argument->file, &all, bytes, &any, err);
        if (status == SHMTUNE_OK)
            status = add_file(&argument->expect, &all, bytes, &any, err);
    }
    digest[0] = '\0';
    if (status == SHMTUNE_OK && any)
        shmt_digest_end(&all, digest);
    return status;
}
