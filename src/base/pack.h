/* SPDX-License-Identifier: MIT */
/*
 * pack: a folder in one piece of memory, pack/1 (docs/formats.md): a line with
 * four numbers and the table's digest, the table, one line a file with digest,
 * offset, size and name, and the files' bytes in the same order.
 *
 * An open pack has a root, "memory:3"; what is below it is a path that path.h
 * reads, lists and examines as any other.  The bytes are not trusted: nothing
 * in them leads out of the pack, and a file whose bytes are not those of its
 * digest cannot be read.  Time and memory are bounded by the size.
 */
#ifndef SHMT_BASE_PACK_H
#define SHMT_BASE_PACK_H

#include "base/arena.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/text.h"

enum {
    SHMT_PACK_NAME = 1024,    /* bytes of a file's name in a pack */
    SHMT_PACK_OPEN = 1024,    /* packs that may be open at a time */
    SHMT_PACK_ROOT = 24       /* "memory:1023" */
};

/* Checks the table.  The bytes stay the caller's: they have to be there until
 * the pack is closed.  SHMTUNE_INVALID_FILE: no pack, cut, damaged, or of a
 * newer version; SHMTUNE_INVALID_ARGUMENT: too many are open.  Any thread. */
struct shmt_pack;
enum shmtune_status shmt_pack_open(const void *bytes, size_t size,
                                   struct shmt_pack **out,
                                   struct shmt_error *err);
/* NULL is allowed. */
void shmt_pack_close(struct shmt_pack *pack);
const char *shmt_pack_root(const struct shmt_pack *pack);

/* A file of it, for who examines a whole pack. */
struct shmt_pack_entry {
    char name[SHMT_PACK_NAME + 1];
    size_t length;                    /* of the name */
    const char *data;
    size_t offset, size;              /* bytes; from the pack's first one */
    char expected[SHMT_DIGEST_TEXT];  /* by the table */
    char found[SHMT_DIGEST_TEXT];     /* of its bytes */
};
size_t shmt_pack_count(const struct shmt_pack *pack);
/* The k-th by name. */
void shmt_pack_examine(const struct shmt_pack *pack, size_t k,
                       struct shmt_pack_entry *out);

/* -- for path.c ----------------------------------------------------------- */

/* A path in an open pack. */
struct shmt_pack_place {
    const struct shmt_pack *pack;
    bool inside;                   /* false: it leads out of the pack, or is
                                      too long for any name in it */
    size_t length;
    char name[SHMT_PACK_NAME + 2]; /* without ".", ".." and "//"; "": the
                                      root */
};
/* False: the path begins with the root of no open pack. */
bool shmt_pack_find(const char *path, struct shmt_pack_place *place);
bool shmt_pack_has_file(const struct shmt_pack_place *place);
bool shmt_pack_has_folder(const struct shmt_pack_place *place);

/* The file at `path`, as shmt_path_read; SHMTUNE_STORAGE: too large, or not
 * the bytes of its digest. */
enum shmtune_status shmt_pack_read(struct shmt_arena *arena,
                                   const struct shmt_pack_place *place,
                                   const char *path, size_t limit,
                                   const char **data, size_t *size,
                                   struct shmt_error *err);

/* Calls back with each name in the folder, once; false from it ends that,
 * and is returned. */
bool shmt_pack_list(const struct shmt_pack_place *place,
                    bool (*name)(void *context, const char *text,
                                 size_t length),
                    void *context);

/* -- writing -------------------------------------------------------------- */

struct shmt_pack_file {
    const char *name, *data;
    size_t size;
};

/* Whether a file may be called so: relative, no empty, "." or ".." component,
 * no control character, SHMT_PACK_NAME bytes at most. */
bool shmt_pack_is_name(const char *name, size_t length);

/* Appends the pack; the files are sorted by name.  Of two with one name, or of
 * a name that is none, SHMTUNE_INVALID_ARGUMENT. */
enum shmtune_status shmt_pack_write(struct shmt_pack_file *files, size_t count,
                                    struct shmt_text *text,
                                    struct shmt_error *err);

#endif
