/* SPDX-License-Identifier: MIT */
/*
 * gzip: calls inflate itself. gzread would take a file that was cut at the end
 * of one of its buffers for a complete one.
 */
#include "record/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"

enum { PART = 1 << 13, GZIP = 16, MAGIC = 2 };

/* What says whether a file is compressed. */
enum how { BY_CONTENT, PLAIN, COMPRESSED };

struct shmt_gzip_reader {
    const char *path;
    size_t limit;              /* more text is not wanted */
    int fd;
    enum how how;
    bool begun;                /* a part was read: */
    bool compressed, ended;    /* gzipped; and a member's end was met */
    bool padded;               /* zeros were met behind the last member */
    z_stream z;
    unsigned char in[PART], out[8 * PART];
};

/* Bytes of the file into `in`, behind `left` that are there; 0 at its end.
 * There is enough for is_magic unless the file ends. */
static enum shmtune_status fill(struct shmt_gzip_reader *source, size_t left,
                                size_t *got, struct shmt_error *err)
{
    size_t used = left;
    ssize_t n;

    do {
        n = read(source->fd, source->in + used, sizeof source->in - used);
        used += n > 0 ? (size_t)n : 0;
    } while ((n < 0 && errno == EINTR) || (n > 0 && used < MAGIC));
    if (n < 0)
        return shmt_error_system(err, source->path, "cannot be read");
    *got = used - left;
    return SHMTUNE_OK;
}

static bool is_magic(const unsigned char *bytes, size_t count)
{
    return count >= MAGIC && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static enum shmtune_status damaged(const struct shmt_gzip_reader *source,
                                   const char *how, struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s: damaged or cut compressed file: %s",
                          source->path, how);
}

/* What stands behind a member, as far as it was read: another member, as in a
 * file that `cat a.gz b.gz` makes, or zeros up to the end, as a tape has.
 * Anything else is refused: it may be text that the reader would miss. */
static enum shmtune_status skip_padding(struct shmt_gzip_reader *source,
                                        struct shmt_error *err)
{
    z_stream *const z = &source->z;

    if (!source->padded && is_magic(z->next_in, z->avail_in)) {
        if (inflateReset(z) != Z_OK)
            return damaged(source, "no member follows", err);
        source->ended = false;
        return SHMTUNE_OK;
    }
    for (; z->avail_in > 0 && *z->next_in == 0; z->avail_in--, z->next_in++)
        source->padded = true;
    if (z->avail_in == 0 || (z->avail_in == 1 && !source->padded &&
                             *z->next_in == 0x1f))
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s: bytes behind the end of the compressed text "
                          "that are neither gzip's nor padding (the first is "
                          "0x%02x); cut them off, or compress the file again",
                          source->path, *z->next_in);
}

/* Inflates the bytes in `in`. */
static enum shmtune_status inflate_some(struct shmt_gzip_reader *source,
                                        struct shmt_text *text,
                                        struct shmt_error *err)
{
    z_stream *const z = &source->z;

    do {
        int code;

        if (source->ended) {
            const enum shmtune_status status = skip_padding(source, err);

            if (status != SHMTUNE_OK || source->ended)
                return status;
        }
        z->next_out = source->out;
        z->avail_out = sizeof source->out;
        code = inflate(z, Z_NO_FLUSH);
        shmt_text_add_bytes(text, (const char *)source->out,
                            sizeof source->out - z->avail_out);
        source->ended = code == Z_STREAM_END;
        if (code == Z_MEM_ERROR)
            return shmt_error_memory(err);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return damaged(source, z->msg != NULL ? z->msg : "no data", err);
    } while (text->length <= source->limit && !text->failed &&
             (source->ended || z->avail_in > 0 || z->avail_out == 0));
    return SHMTUNE_OK;
}

/* One part of the file into `text`; *more is false at its end. */
static enum shmtune_status read_part(struct shmt_gzip_reader *source,
                                     struct shmt_text *text, bool *more,
                                     struct shmt_error *err)
{
    const size_t left = source->z.avail_in;   /* of another one's begin */
    size_t got = 0;
    enum shmtune_status status;

    memmove(source->in, source->z.next_in, left);
    status = fill(source, left, &got, err);
    *more = got > 0;
    if (status != SHMTUNE_OK)
        return status;
    if (!source->begun && source->how == COMPRESSED &&
        !is_magic(source->in, got))
        return damaged(source, "it does not begin as one", err);
    if (!source->begun)
        source->compressed =
            source->how != PLAIN && is_magic(source->in, got);
    source->begun = true;
    if (!source->compressed) {
        shmt_text_add_bytes(text, (const char *)source->in, got);
        return SHMTUNE_OK;
    }
    if (got == 0)
        return source->ended && left == 0
                   ? SHMTUNE_OK
                   : damaged(source, "its end is missing", err);
    source->z.next_in = source->in;
    source->z.avail_in = (uInt)(left + got);
    return inflate_some(source, text, err);
}

static enum shmtune_status open_source(const char *path, enum how how,
                                       struct shmt_gzip_reader **out,
                                       struct shmt_error *err)
{
    struct shmt_gzip_reader *source = calloc(1, sizeof *source);
    enum shmtune_status status;
    size_t size;

    if (source == NULL)
        return shmt_error_memory(err);
    if (inflateInit2(&source->z, MAX_WBITS + GZIP) != Z_OK) {
        free(source);
        return shmt_error_memory(err);
    }
    source->path = path;
    source->how = how;
    source->limit = SIZE_MAX;
    source->z.next_in = source->in;
    status = shmt_path_open(path, &source->fd, &size, err);
    if (status == SHMTUNE_OK) {
        *out = source;
        return SHMTUNE_OK;
    }
    inflateEnd(&source->z);
    free(source);
    return status;
}

enum shmtune_status shmt_gzip_open(const char *path, bool compressed,
                                   struct shmt_gzip_reader **out,
                                   struct shmt_error *err)
{
    return open_source(path, compressed ? COMPRESSED : PLAIN, out, err);
}

enum shmtune_status shmt_gzip_next(struct shmt_gzip_reader *reader,
                                   struct shmt_text *text, bool *more,
                                   struct shmt_error *err)
{
    return read_part(reader, text, more, err);
}

void shmt_gzip_close(struct shmt_gzip_reader *reader)
{
    if (reader == NULL)
        return;
    close(reader->fd);
    inflateEnd(&reader->z);
    free(reader);
}

enum shmtune_status shmt_gzip_read(const char *path, const char *enough,
                                   size_t limit, struct shmt_text *text,
                                   struct shmt_error *err)
{
    struct shmt_gzip_reader *source = NULL;
    enum shmtune_status status = open_source(path, BY_CONTENT, &source, err);
    bool more = true;

    if (status != SHMTUNE_OK)
        return status;
    source->limit = limit;
    while (status == SHMTUNE_OK && more && text->length <= limit &&
           !text->failed &&
           (!source->begun || enough == NULL ||
            strstr(shmt_text_string(text), enough) == NULL))
        status = read_part(source, text, &more, err);
    shmt_gzip_close(source);
    if (status == SHMTUNE_OK && text->failed)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK && text->length > limit && enough == NULL)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s: more than %zu MiB of text", path,
                                limit >> 20);
    return status;
}

/* -- writing --------------------------------------------------------------- */

/* zlib's sixth level, its default, takes more than twice the time for a file
 * that is a tenth smaller. */
enum { LEVEL = 3, MEMORY = 9 };

struct shmt_gzip_writer {
    z_stream z;
    struct shmt_text data;
    unsigned char out[8 * PART];
};

struct shmt_gzip_writer *shmt_gzip_new(void)
{
    struct shmt_gzip_writer *const writer = calloc(1, sizeof *writer);

    /* The header has neither a time nor a name. */
    if (writer != NULL &&
        deflateInit2(&writer->z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(writer);
        return NULL;
    }
    return writer;
}

static void deflate_some(struct shmt_gzip_writer *writer, int flush)
{
    z_stream *const z = &writer->z;

    do {
        z->next_out = writer->out;
        z->avail_out = sizeof writer->out;
        deflate(z, flush);
        shmt_text_add_bytes(&writer->data, writer->out,
                            sizeof writer->out - z->avail_out);
    } while (z->avail_out == 0 && !writer->data.failed);
}

void shmt_gzip_add(struct shmt_gzip_writer *writer,
                   const struct shmt_text *text)
{
    writer->data.failed |= text->failed;
    for (size_t at = 0, part; at < text->length; at += part) {
        part = text->length - at < UINT_MAX ? text->length - at : UINT_MAX;
        writer->z.next_in = (unsigned char *)text->data + at;
        writer->z.avail_in = (uInt)part;
        deflate_some(writer, Z_NO_FLUSH);
    }
}

enum shmtune_status shmt_gzip_store(struct shmt_gzip_writer *writer,
                                    const char *path, struct shmt_error *err)
{
    deflate_some(writer, Z_FINISH);
    return writer->data.failed
               ? shmt_error_memory(err)
               : shmt_path_write(path, writer->data.data, writer->data.length,
                                 err);
}

void shmt_gzip_free(struct shmt_gzip_writer *writer)
{
    if (writer == NULL)
        return;
    deflateEnd(&writer->z);
    shmt_text_free(&writer->data);
    free(writer);
}
