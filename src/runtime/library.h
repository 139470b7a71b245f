/* SPDX-License-Identifier: MIT */
/*
 * library: what a handle holds: the kernels of its folders, each with the
 * tunings that fit it, made ready for selection.  Private to runtime.
 *
 * Filled by handle.c (kernels) and tunings.c (tunings) inside shmtune_open;
 * read-only from then on.
 */
#ifndef SHMT_RUNTIME_LIBRARY_H
#define SHMT_RUNTIME_LIBRARY_H

#include "kernel/kernel.h"
#include "record/record.h"

/* A problem for which a configuration was measured. */
struct shmt_runtime_entry {
    int64_t problem[SHMTUNE_DIMENSIONS];
    double log2[SHMTUNE_DIMENSIONS];   /* of the problem, for distances */
    double log2_waves;                 /* wave efficiency of its launch on
                                          the device on which it was measured */
    const shmt_config *values;         /* the winner's */
    size_t tie_count;                  /* its ties, */
    const shmt_config *ties;           /* [tie_count][parameter_count] */
    struct shmt_resources resources;   /* as the compiler reported them, */
    const struct shmt_resources_of_launches *launches; /* and of each launch */
    double time_us;
    double default_us;
};

/* A tuning file.  Every entry has been checked against the file's own device
 * at its own problem. */
struct shmt_runtime_tuning {
    const char *file;
    struct shmtune_device device;
    double log2_multiprocessors;       /* 0: not known */
    double log2_memory_rate;           /* 0: not known */
    size_t entry_count;
    struct shmt_runtime_entry *entries;
    struct shmt_map places;            /* hash of a problem -> entry */
};

struct shmtune_kernel {
    const struct shmtune *library;
    const struct shmt_kernel *spec;
    const char *binaries;              /* FOLDER/cubins; it need not exist */
    const shmt_config *default_config; /* the spec's default values */
    size_t tuning_count;
    struct shmt_runtime_tuning *tunings; /* in search order */
};

struct shmtune {
    struct shmt_arena *arena;          /* of kernels and tunings */
    struct shmt_arena *scratch;        /* of one file, while opening */
    size_t kernel_count;
    struct shmtune_kernel *kernels;    /* sorted by name */
    struct shmt_catalogue *catalogue;  /* specs, folders, notes */
};

/* Reads the tuning `file` for `kernel` and adds its valid entries.  Every
 * refused entry gives a note; the only failure is SHMTUNE_NO_MEMORY. */
enum shmtune_status shmt_runtime_tuning_add(struct shmtune *library,
                                            struct shmtune_kernel *kernel,
                                            const char *file);

/* The entry for exactly this problem, or NULL. */
const struct shmt_runtime_entry *
shmt_runtime_tuning_find(const struct shmt_runtime_tuning *tuning,
                         const int64_t *problem, size_t dimensions);

/* log2 of memory clock times bus width, to compare two devices by; 0: not
 * known. */
double shmt_runtime_log2_memory_rate(const struct shmtune_device *device);

#endif
