/* SPDX-License-Identifier: MIT */
/*
 * device: descriptions of devices (struct shmtune_device): a table of what
 * each architecture has, so that everything but a launch works without a
 * GPU, and their YAML form inside tunings and journals.
 */
#ifndef SHMT_DEVICE_H
#define SHMT_DEVICE_H

#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "device/fit.h"
#include "device/resources.h"
#include "kernel/kernel.h"

struct shmt_yaml;

/* `arch` is "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100",
 * "sm_103", "sm_110", "sm_120", "sm_121", with a suffix that is a target of the
 * compiler ("sm_90a", "sm_100f") or without.  The
 * name is "generic sm_90"; multiprocessors and clocks are those of the
 * largest common part of that architecture. */
enum shmtune_status shmt_device_for_arch(const char *arch,
                                         struct shmtune_device *out,
                                         struct shmt_error *err);
/* k-th arch of that table, NULL after the last. */
const char *shmt_device_arch(size_t k);

/* "sm_90"; "sm_90-nvidia-h100-80gb-hbm3" for file names. */
void shmt_device_arch_text(const struct shmtune_device *device, char out[16]);
void shmt_device_slug(const struct shmtune_device *device, char out[128]);

/* What a kernel of these features is compiled for: "sm_90a"; "sm_80" where the
 * device has no features of its own.  The second is for an architecture that
 * somebody named, whose suffix counts: "sm_90a" is compiled as that, whatever
 * the kernel asks for. */
void shmt_device_target(const struct shmtune_device *device,
                        enum shmt_features features, char out[16]);
void shmt_device_arch_target(const char *arch, enum shmt_features features,
                             char out[16]);

/* A block mapping under "device:", indented by two; one flow mapping
 * "{name: ..., ...}"; and back from either.  What is unknown (0, "") is left
 * out; name, compute_major and compute_minor must be there.  Reading is
 * strict: a name without control characters, integers within sane bounds,
 * no other keys. */
void shmt_device_write(const struct shmtune_device *device,
                       struct shmt_text *text);
void shmt_device_write_flow(const struct shmtune_device *device,
                            struct shmt_text *text);
enum shmtune_status shmt_device_read(const struct shmt_yaml *mapping,
                                     struct shmtune_device *out,
                                     struct shmt_error *err);

/* What decides whether and how well a configuration runs.  Sorted so that the
 * limits in which devices differ most often come first. */
#define SHMT_DEVICE_LIMIT_LIST(X)                                            \
    X(multiprocessors) X(shared_per_block_optin)                             \
    X(shared_per_multiprocessor) X(shared_per_block)                         \
    X(shared_reserved_per_block) X(registers_per_multiprocessor)             \
    X(registers_per_block) X(max_threads_per_multiprocessor)                 \
    X(max_blocks_per_multiprocessor) X(max_threads_per_block) X(warp_size)   \
    X(max_grid_y)

static inline bool shmt_device_same_capability(const struct shmtune_device *a,
                                               const struct shmtune_device *b)
{
    return a->compute_major == b->compute_major &&
           a->compute_minor == b->compute_minor;
}

/* "The same device" has one rule: the same compute capability, the same
 * limits, the same name.  A limit that `asked` does not know (0) is no
 * difference: an application may describe its device in part and still wants
 * what was measured on it.  Inline, because an exact match has to be fast. */
static inline bool shmt_device_matches(const struct shmtune_device *known,
                                       const struct shmtune_device *asked)
{
#define SHMT_DEVICE_LIMIT_AGREES(limit)                                      \
    && (known->limit == asked->limit || asked->limit == 0)
    return shmt_device_same_capability(known, asked)
               SHMT_DEVICE_LIMIT_LIST(SHMT_DEVICE_LIMIT_AGREES) &&
           strcmp(known->name, asked->name) == 0;
#undef SHMT_DEVICE_LIMIT_AGREES
}

/* The same both ways, so that neither knows more.  Results are kept together
 * by it: what was filtered under a limit is not mixed with what was not. */
static inline bool shmt_device_equal(const struct shmtune_device *a,
                                     const struct shmtune_device *b)
{
    return shmt_device_matches(a, b) && shmt_device_matches(b, a);
}

#endif
