/* SPDX-License-Identifier: MIT */
/*
 * library: what a handle holds: the kernels of its folders, each with the
 * tunings that fit it, made ready for selection.  Private to runtime.
 *
 * Filled by open.c (kernels) and shelf.c (tunings) inside shmtune_open;
 * read-only from then on.
 */
#ifndef SHMT_RUNTIME_LIBRARY_H
#define SHMT_RUNTIME_LIBRARY_H

#include "kernel/kernel.h"
#include "record/record.h"

/* A problem for which a configuration was measured. */
struct shmt_shelf_entry {
    int64_t problem[SHMTUNE_DIMENSIONS];
    double log2[SHMTUNE_DIMENSIONS];   /* of the problem, for distances */
    double log2_filling;               /* of its own device, there */
    const shmt_choice *values;         /* the winner's */
    size_t tie_count;                  /* the others as good as it there, */
    const shmt_choice *ties;           /* [tie_count][parameter_count] */
    struct shmt_resources resources;   /* as the compiler reported them, */
    const struct shmt_launch_resources *launches;   /* and of each launch */
    double time_us;
    double default_us;
};

/* A tuning file.  Every entry has been checked against the file's own device
 * at its own problem. */
struct shmt_shelf {
    const char *file;
    struct shmtune_device device;
    double log2_multiprocessors;       /* 0: not known */
    double log2_memory_rate;           /* 0: not known */
    size_t entry_count;
    struct shmt_shelf_entry *entries;
    /* Open addressing by shmt_shelf_hash: 0 is empty, else entry + 1. */
    uint32_t *slots;
    size_t mask;
};

struct shmtune_kernel {
    const struct shmtune *library;
    const struct shmt_kernel *spec;
    const char *binaries;              /* FOLDER/cubins, there or not */
    const shmt_choice *fallback;       /* the spec's default values */
    size_t shelf_count;
    struct shmt_shelf *shelves;        /* in search order */
};

struct shmtune {
    struct shmt_arena *arena;          /* of kernels and tunings */
    struct shmt_arena *scratch;        /* of one file, while opening */
    size_t kernel_count;
    struct shmtune_kernel *kernels;    /* sorted by name */
    struct shmt_catalogue *catalogue;  /* specs, folders, notes */
};

/* Read the tuning `file` for `kernel` and add what is good in it to its
 * shelves.  What is not good gives a note; SHMTUNE_NO_MEMORY is the only
 * failure. */
enum shmtune_status shmt_shelf_add(struct shmtune *library,
                                   struct shmtune_kernel *kernel,
                                   const char *file);

/* Depends on the first `dimensions` sizes. */
static inline uint64_t shmt_shelf_hash(const int64_t *problem,
                                       size_t dimensions)
{
    uint64_t hash = dimensions;

    for (size_t k = 0; k < dimensions; k++) {
        hash = (hash ^ (uint64_t)problem[k]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* The entry for exactly this problem, or NULL. */
const struct shmt_shelf_entry *shmt_shelf_find(const struct shmt_shelf *shelf,
                                         const int64_t *problem,
                                         size_t dimensions);

#endif
