/* SPDX-License-Identifier: MIT */
#include "tune/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "core/path.h"

enum { PART = 1 << 16 };

static enum shmtune_status open_file(const char *path, gzFile *out,
                                     struct shmt_error *err)
{
    size_t size;
    int fd;
    const enum shmtune_status status = shmt_path_open(path, &fd, &size, err);

    if (status != SHMTUNE_OK)
        return status;
    *out = gzdopen(fd, "rb");
    if (*out != NULL)
        return SHMTUNE_OK;
    close(fd);
    return shmt_error_memory(err);
}

static enum shmtune_status unreadable(const char *path, gzFile file,
                                      struct shmt_error *err)
{
    int code;
    const char *const text = gzerror(file, &code);

    if (code == Z_ERRNO)
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s: cannot be read: %s",
                              path, strerror(errno));
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s: damaged or cut compressed file: %s", path,
                          code == Z_BUF_ERROR ? "it ends early" : text);
}

enum shmtune_status shmt_packed_read(const char *path, const char *enough,
                                     size_t limit, struct shmt_text *text,
                                     struct shmt_error *err)
{
    char *const part = malloc(PART);
    gzFile file = NULL;
    int n = 0;
    enum shmtune_status status = part == NULL ? shmt_error_memory(err)
                                              : open_file(path, &file, err);

    if (status != SHMTUNE_OK)
        goto done;
    while (text->length <= limit && !text->failed &&
           (n = gzread(file, part, PART)) > 0) {
        shmt_text_add_bytes(text, part, (size_t)n);
        if (enough != NULL && strstr(shmt_text_string(text), enough) != NULL)
            break;
    }
    if (n < 0)
        status = unreadable(path, file, err);
    if (gzclose_r(file) == Z_BUF_ERROR && n == 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s: damaged or cut compressed file: it ends "
                                "early", path);
    if (status == SHMTUNE_OK && text->failed)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK && text->length > limit && enough == NULL)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s: more than %zu MiB of text", path,
                                limit >> 20);
done:
    free(part);
    return status;
}
