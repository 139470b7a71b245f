/* SPDX-License-Identifier: MIT */
/*
 * device: descriptions of devices (struct shmtune_device): a table of what
 * each architecture has, so that everything but a launch works without a
 * GPU, and their YAML form inside tunings and journals.
 */
#ifndef SHMT_DEVICE_H
#define SHMT_DEVICE_H

#include <stdbool.h>

#include "base/base.h"
#include "device/fit.h"
#include "device/resources.h"

struct shmt_yaml;

/* `arch` is "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100",
 * "sm_103", "sm_110", "sm_120", "sm_121" (a suffix a or f is accepted).  The
 * name is "generic sm_90"; multiprocessors and clocks are those of the
 * largest common part of that architecture. */
enum shmtune_status shmt_device_for_arch(const char *arch,
                                         struct shmtune_device *out,
                                         struct shmt_error *err);
/* k-th arch of that table, NULL after the last. */
const char *shmt_device_arch(size_t k);

/* "sm_90" for NVRTC; "sm_90-nvidia-h100-80gb-hbm3" for file names. */
void shmt_device_arch_text(const struct shmtune_device *device, char out[16]);
void shmt_device_slug(const struct shmtune_device *device, char out[128]);

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

/* Whether all limits that decide what can run are equal. */
bool shmt_device_equal_limits(const struct shmtune_device *a,
                              const struct shmtune_device *b);
/* Same capability, limits, multiprocessors and name. */
bool shmt_device_equal(const struct shmtune_device *a,
                       const struct shmtune_device *b);

#endif
