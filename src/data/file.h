/* SPDX-License-Identifier: MIT */
/*
 * file: the elements of an argument that is filled from a file: a .npy, or the
 * bare elements in little-endian order, each compressed by gzip where its name
 * ends in ".gz".
 */
#ifndef SHMT_DATA_FILE_H
#define SHMT_DATA_FILE_H

#include "kernel/kernel.h"

/* Who takes the elements, in parts, and may change what it is given: the `size`
 * bytes from `offset`, a multiple of 16 of them in all parts but the last. */
struct shmt_data_sink {
    enum shmtune_status (*take)(void *context, void *bytes,
                                uint64_t offset, size_t size,
                                struct shmt_error *err);
    void *context;
};

/* Hands out the elements of the file; `digest`, if it is not NULL, covers it as
 * shmt_data_digest does.  SHMTUNE_INVALID_FILE, with the place in the spec,
 * when the file is not of the fill's type and shape, too short or too long;
 * SHMTUNE_STORAGE when it cannot be read. */
enum shmtune_status shmt_data_read(const struct shmt_fill_values *values,
                                   struct shmt_digest *digest,
                                   const struct shmt_data_sink *sink,
                                   struct shmt_error *err);

/* The digest of all files of a kernel's arguments, in their order, what it is
 * filled from before what it is compared with, and what is compressed as it was
 * before; "" when it has none.  *bytes: of all of them. */
enum shmtune_status shmt_data_digest(const struct shmt_kernel *kernel,
                                     char digest[SHMT_DIGEST_TEXT],
                                     uint64_t *bytes, struct shmt_error *err);

#endif
