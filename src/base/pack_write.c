/* SPDX-License-Identifier: MIT */
/*
 * pack_write: writes files as pack/1.  The same files make the same bytes:
 * they are sorted, and there is no clock, owner or mode in them.
 */
#include "base/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

static int by_name(const void *a, const void *b)
{
    const struct shmt_pack_file *left = a, *right = b;

    return strcmp(left->name, right->name);
}

static void digest_of(const void *data, size_t size,
                      char text[SHMT_DIGEST_TEXT])
{
    struct shmt_digest digest;

    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, data, size);
    shmt_digest_end(&digest, text);
}

static enum shmtune_status check_names(const struct shmt_pack_file *files,
                                       size_t count, struct shmt_error *err)
{
    for (size_t k = 0; k < count; k++) {
        if (!shmt_pack_is_name(files[k].name, strlen(files[k].name)))
            return shmt_error_set(
                err, SHMTUNE_INVALID_ARGUMENT, "%s: this name cannot stand in "
                "a pack: relative, without empty parts, \"..\" and control "
                "characters, and %d bytes at most; rename the file",
                files[k].name, SHMT_PACK_NAME);
        if (k > 0 && strcmp(files[k - 1].name, files[k].name) == 0)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "%s: would be in the pack twice",
                                  files[k].name);
    }
    return SHMTUNE_OK;
}

enum shmtune_status shmt_pack_write(struct shmt_pack_file *files, size_t count,
                                    struct shmt_text *text,
                                    struct shmt_error *err)
{
    char digest[SHMT_DIGEST_TEXT];
    struct shmt_text table = {0};
    size_t bytes = 0;
    enum shmtune_status status;

    if (count > 0)
        qsort(files, count, sizeof *files, by_name);
    status = check_names(files, count, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < count; k++) {
        digest_of(files[k].data, files[k].size, digest);
        shmt_text_addf(&table, "%s %zu %zu %s\n", digest, bytes,
                       files[k].size, files[k].name);
        bytes += files[k].size;
    }
    digest_of(table.data, table.length, digest);
    shmt_text_addf(text, "shmtune pack/1 %zu %zu %zu %s\n", count,
                   table.length, bytes, digest);
    shmt_text_add_bytes(text, table.data, table.length);
    for (size_t k = 0; k < count; k++)
        shmt_text_add_bytes(text, files[k].data, files[k].size);
    if (table.failed || text->failed)
        status = shmt_error_memory(err);
    shmt_text_free(&table);
    return status;
}
