/* SPDX-License-Identifier: MIT */
/*
 * far_store: the files that a relay was sent, by digest, and the folder in
 * which they go by the names that the spec has for them.  For relay.c alone.
 *
 * The folder is a scratch folder of this relay.  Files of some size stay
 * behind in the user's cache, if there is one, up to a limit, so that the next
 * relay on this machine is not sent them again.
 */
#ifndef SHMT_TARGET_FAR_STORE_H
#define SHMT_TARGET_FAR_STORE_H

#include "base/base.h"
#include "target/scratch.h"

struct shmt_far_store {
    struct shmt_arena *arena;
    struct shmt_scratch scratch;
    const char *root;            /* its path, absolute */
    const char *files;           /* folder of small ones, in scratch */
    const char *cache;           /* of the others; NULL: there is none */
    const char *tree, *images;   /* folders that names begin with */
    /* The file that is coming in. */
    int file;                    /* -1: none */
    const char *path;            /* of it so far */
    bool cached;
    char wanted[SHMT_DIGEST_TEXT];
    uint64_t left;
    struct shmt_digest digest;
};

enum shmtune_status shmt_far_store_open(struct shmt_far_store *store,
                                        struct shmt_error *err);
void shmt_far_store_close(struct shmt_far_store *store);

/* Whether a file is there, whole. */
bool shmt_far_store_has(struct shmt_far_store *store, const char *digest);

/* A file of `bytes` comes in: begin, then parts until nothing is left.
 * SHMTUNE_INVALID_FILE when the content is not the digest's. */
enum shmtune_status shmt_far_store_begin(struct shmt_far_store *store,
                                         const char *digest, uint64_t bytes,
                                         struct shmt_error *err);
enum shmtune_status shmt_far_store_add(struct shmt_far_store *store,
                                       const void *data, size_t size,
                                       struct shmt_error *err);

/* Gives a file a name, which shmt_far_name_valid accepts. */
enum shmtune_status shmt_far_store_lay(struct shmt_far_store *store,
                                       const char *digest, const char *name,
                                       struct shmt_error *err);

#endif
