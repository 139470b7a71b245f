/* SPDX-License-Identifier: MIT */
/*
 * npy: the header of a .npy, the format in which NumPy stores one array: what
 * it says is read and held against what a spec says, and written.
 */
#ifndef SHMT_DATA_NPY_H
#define SHMT_DATA_NPY_H

#include "kernel/kernel.h"

enum {
    SHMT_NPY_START = 12,        /* bytes that say how long the header is */
    SHMT_NPY_HEADER = 4096,     /* the longest that is read */
    SHMT_NPY_EXTENTS = 32,
    SHMT_NPY_TYPE = 32
};

struct shmt_npy {
    size_t bytes;               /* of the header; the elements follow */
    char type[SHMT_NPY_TYPE];   /* as "<f4" */
    bool column_major;          /* "Fortran order" */
    size_t extent_count;
    uint64_t extents[SHMT_NPY_EXTENTS];
};

/* Whether it begins as a .npy does; `size` bytes of SHMT_NPY_START are
 * enough. */
bool shmt_npy_begins(const void *data, size_t size);

/* How many bytes the header has, of the first SHMT_NPY_START of the file.
 * SHMTUNE_INVALID_FILE, with what is wrong: no .npy, a version that is not
 * known, a header that is too long. */
enum shmtune_status shmt_npy_size(const void *data, size_t size, size_t *out,
                                  struct shmt_error *err);

/* Reads a header of so many bytes.  SHMTUNE_INVALID_FILE says what was found
 * and where in it. */
enum shmtune_status shmt_npy_read(const void *data, size_t size,
                                  struct shmt_npy *out,
                                  struct shmt_error *err);

/* Whether the array has the type and the shape of the fill, in the order of C.
 * SHMTUNE_INVALID_FILE with both sides and the remedy. */
enum shmtune_status shmt_npy_check(const struct shmt_npy *npy,
                                   const struct shmt_fill_values *values,
                                   struct shmt_error *err);

/* Appends the header of an array of `count` elements. */
void shmt_npy_write(enum shmt_element element, uint64_t count,
                    struct shmt_text *text);

#endif
