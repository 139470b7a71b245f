/* SPDX-License-Identifier: MIT */
/*
 * fit: whether a launch may run on a device: its shape, its shared memory, and
 * with the compiler's report its registers and its resident blocks.  Only this
 * module knows the limits.  The tuner's filter turns its answers into
 * verdicts, the library into statuses.  Pure functions.
 *
 * What is not known is not checked: a limit of the device that is 0, a number
 * of the compiler that is -1, a device without a compute capability.  Limits
 * that all CUDA devices share are checked for every device with a compute
 * capability.
 */
#ifndef SHMT_DEVICE_FIT_H
#define SHMT_DEVICE_FIT_H

#include "device/resources.h"
#include "kernel/kernel.h"

/* Bytes of shared memory that a block has without opt-in, on every device, and
 * the most static shared memory. */
enum { SHMT_FIT_STATIC_BYTES = 49152, SHMT_FIT_TEXT = 200 };

/* What a launch can exceed, in the order of the checks.
 * X(name, limiter, what is compared, its unit, whose limit it is) */
#define SHMT_FIT_LIST(X)                                                     \
    X(NOTHING, NONE, "", "", "")                                             \
    X(BLOCK_X, THREADS, "block is", "threads wide", "the device allows")     \
    X(BLOCK_Y, THREADS, "block is", "threads high", "the device allows")     \
    X(BLOCK_Z, THREADS, "block is", "threads deep", "the device allows")     \
    X(THREADS, THREADS, "block has", "threads", "the device allows")         \
    X(GRID_X, BLOCKS, "grid is", "blocks wide", "the device allows")         \
    X(GRID_Y, BLOCKS, "grid is", "blocks high", "the device allows")         \
    X(GRID_Z, BLOCKS, "grid is", "blocks deep", "the device allows")         \
    X(CLUSTER, BLOCKS, "cluster has", "blocks", "the device allows")         \
    X(STATIC, SHARED, "static shared memory is",                             \
      "bytes a block (more has to be dynamic)", "the device allows")         \
    X(SHARED, SHARED, "shared memory is", "bytes a block",                   \
      "the device allows")                                                   \
    X(BOUND, THREADS, "block has", "threads", "the binary allows")           \
    X(REGISTERS, REGISTERS, "kernel takes", "registers a thread",            \
      "the device allows")                                                   \
    X(RESIDENT_WARPS, WARPS, "no block fits a multiprocessor: one takes",    \
      "threads", "there are")                                                \
    X(RESIDENT_REGISTERS, REGISTERS,                                         \
      "no block fits a multiprocessor: one takes", "registers", "there are") \
    X(RESIDENT_SHARED, SHARED, "no block fits a multiprocessor: one takes",  \
      "bytes of shared memory", "there are")                                 \
    X(COOPERATIVE, BLOCKS, "grid of a cooperative launch has", "blocks",     \
      "the device holds at once")                                            \
    X(STATED, NONE, "shared_static of the spec is", "bytes",                 \
      "the compiler reports")
enum shmt_fit_limit {
#define SHMT_FIT_ENUM(name, limiter, what, unit, whose) SHMT_FIT_##name,
    SHMT_FIT_LIST(SHMT_FIT_ENUM)
#undef SHMT_FIT_ENUM
    SHMT_FIT_COUNT
};

struct shmt_occupancy {
    int resident_blocks;      /* per multiprocessor; 0: cannot run; -1: not
                                 known */
    int percent;              /* of the multiprocessor's threads, rounded */
    enum shmt_limiter limiter;
};

struct shmt_fit {
    enum shmt_fit_limit limit;    /* NOTHING: it fits; else `wanted` is
                                     greater */
    int64_t wanted, bound;        /* than `bound` */
    const char *unit;
    int launch;                   /* of several the number, from 1; else 0 */
    struct shmt_occupancy occupancy;  /* of several the lowest */
};

/* Whether one launch fits.  `resources` is the compiler's report, or NULL
 * before compiling; without it the occupancy is not known. */
bool shmt_fit_launch(const struct shmtune_device *device,
                     const struct shmt_geometry *launch,
                     const struct shmt_resources *resources,
                     struct shmt_fit *out);

/* The launches of a configuration on a device. */
struct shmt_fit_launches {
    const struct shmtune_device *device;
    struct shmt_kernel_evaluated *evaluated; /* with the geometry of its
                                               launches; those not used do not
                                               count */
    const struct shmt_resources *resources; /* NULL: not yet compiled */
    const struct shmt_resources_of_launches *each; /* with resources */
};

/* Whether each launch fits with its own resources.  If several are used and
 * `each` has another number of entries, these are not known. */
bool shmt_fit_launches(const struct shmt_fit_launches *ask,
                       struct shmt_fit *out);

/* Blocks of the launch that counts, the first that is used and reads an input,
 * else the first that is used; and how many are resident on a multiprocessor,
 * by its own resources where they are known.  False: neither is known. */
struct shmt_fit_waves {
    double blocks;
    int resident;
};
bool shmt_fit_waves(const struct shmt_fit_launches *ask,
                    struct shmt_fit_waves *out);

/* Whether the static shared memory that the spec states, if it does, is what
 * the compiler found (-1: not known): a part of shmt_fit_launch that needs no
 * device. */
bool shmt_fit_stated(const struct shmt_geometry *launch, int64_t compiled,
                     struct shmt_fit *out);

/* Formats what does not fit, both sides with their unit: "block has 2048
 * threads, the device allows 1024". */
void shmt_fit_text(const struct shmt_fit *fit, char text[SHMT_FIT_TEXT]);

#endif
