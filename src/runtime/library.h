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

/* Tunings are not trusted, so what they may cost is bounded.  A folder with
 * more is opened all the same; what exceeds a bound is left out with a note. */
enum {
    /* Tunings of one kernel: a bit each in shmt_runtime_devices. */
    SHMT_RUNTIME_TUNINGS = 64,
    /* Sizes of one kernel and compute capability, among which the nearest is
     * looked for; not fewer than tunings.  Exact matches have no such bound. */
    SHMT_RUNTIME_NEAREST = 192,
    /* Distances that are computed side by side. */
    SHMT_RUNTIME_BLOCK = 4,
    /* Bytes that the entries of a tuning may take, for each of its file. */
    SHMT_RUNTIME_GROWTH = 3,
    /* Notes about the configurations of one tuning. */
    SHMT_RUNTIME_NOTES = 8
};

/* A problem for which a configuration was measured. */
struct shmt_runtime_entry {
    const int64_t *problem;            /* [dimension_count] */
    const shmt_config *values;         /* the winner's */
    const shmt_config *ties;           /* [tie_count][parameter_count] */
    const struct shmt_resources_of_launches *launches; /* of each launch */
    struct shmt_resources resources;   /* as the compiler reported them */
    double log2_waves;                 /* wave efficiency of its launch on
                                          the device on which it was measured */
    double time_us;
    double default_us;
    uint32_t tie_count;
};

/* An entry among which the nearest is looked for. */
struct shmt_runtime_near {
    uint32_t tuning, entry;
};

struct shmt_runtime_dispatch;
struct shmt_runtime_watch;

/* A tuning file.  Every entry has been checked against the file's own device
 * at its own problem. */
struct shmt_runtime_tuning {
    const char *file;
    struct shmtune_device device;
    const struct shmt_runtime_dispatch *dispatch;  /* NULL: none */
    double log2_multiprocessors;       /* 0: not known */
    double log2_memory_rate;           /* 0: not known */
    size_t entry_count;
    struct shmt_runtime_entry *entries;
    size_t twin;                       /* the first tuning of this device */
    size_t stride;                     /* the nearest is looked for in each
                                          stride-th entry, which are */
    size_t near_count;                 /* so many, the first of the kernel's */
    size_t near_first;                 /* `near` is this, and they stand at */
    const float *places;               /* [2 * dimensions][near_room] */
    size_t near_room;                  /* near_count, rounded up to BLOCK */
};

struct shmtune_kernel {
    const struct shmtune *library;
    const struct shmt_kernel *spec;
    struct shmt_runtime_watch *watch;  /* NULL: nobody asked for it */
    const char *binaries;              /* FOLDER/cubins; it need not exist */
    const shmt_config *default_config; /* the spec's default values */
    size_t tuning_count, tuning_room;
    struct shmt_runtime_tuning *tunings; /* in search order */
    struct shmt_map exact;             /* hash of a problem -> entries of all
                                          tunings that have it */
    const struct shmt_runtime_near *near; /* by tuning, then by entry */
};

/* The tunings of a kernel by the device of a request: a bit each. */
struct shmt_runtime_devices {
    uint64_t same;                     /* that device */
    uint64_t others;                   /* others of its compute capability */
};

struct shmtune {
    struct shmt_arena *arena;          /* of kernels and tunings */
    struct shmt_arena *scratch;        /* of one file, while opening */
    size_t kernel_count;
    struct shmtune_kernel *kernels;    /* sorted by name */
    struct shmt_catalogue *catalogue;  /* specs, folders, notes */
    struct shmt_pack *pack;            /* NULL: opened from folders */
    struct shmt_runtime_watch *watch;  /* NULL: nobody asked for it */
};

/* Reads the tuning FOLDER/NAME for `kernel` and adds its valid entries.  What
 * is refused gives a note, also a file for which there is no memory; the only
 * failure is SHMTUNE_NO_MEMORY. */
enum shmtune_status shmt_runtime_tuning_add(struct shmtune *library,
                                            struct shmtune_kernel *kernel,
                                            const char *folder,
                                            const char *name);

/* Sets the strides, and what counts with them, when all tunings have been
 * added. */
enum shmtune_status shmt_runtime_tunings_thin(struct shmtune *library,
                                              struct shmtune_kernel *kernel);

/* The entry for exactly this problem and device in the first tuning that has
 * it, or NULL. */
const struct shmt_runtime_entry *
shmt_runtime_tunings_find(const struct shmtune_kernel *kernel,
                          const struct shmtune_device *device,
                          const int64_t *problem,
                          const struct shmt_runtime_tuning **tuning);

/* Which tunings are for this device, and which for others like it. */
struct shmt_runtime_devices
shmt_runtime_tunings_of(const struct shmtune_kernel *kernel,
                        const struct shmtune_device *device);

/* log2 of memory clock times bus width, to compare two devices by; 0: not
 * known. */
double shmt_runtime_log2_memory_rate(const struct shmtune_device *device);

#endif
