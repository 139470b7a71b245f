/* SPDX-License-Identifier: MIT */
/*
 * sizes: what the runs of a kernel that are open together tell each other: each
 * configuration that was compiled, with its time at a size over that of the
 * default there, or that it fails at any size.
 *
 * Called by campaign.c, which has one for each kernel, and by runs.
 */
#ifndef SHMT_TUNE_SIZES_H
#define SHMT_TUNE_SIZES_H

#include "kernel/kernel.h"
#include "search/search.h"

struct shmt_sizes;

/* What became of a configuration at one of the sizes. */
struct shmt_sizes_finding {
    size_t size;                 /* position among the problems */
    double cost;                 /* over that of the default there; INFINITY:
                                    it fails at any size */
    bool leads;                  /* nothing was faster there before */
    shmt_config config[SHMT_SPACE_PARAMETERS];
};

/* `problems` must outlive it. */
enum shmtune_status
shmt_sizes_new(const struct shmt_kernel *kernel,
               int64_t (*problems)[SHMT_KERNEL_DIMENSIONS], size_t count,
               struct shmt_sizes **out, struct shmt_error *err);
void shmt_sizes_free(struct shmt_sizes *sizes);

/* Those of the kernel, for a search of one of them; count 0 where they are too
 * many. */
struct shmt_search_sizes shmt_sizes_of_search(const struct shmt_sizes *sizes,
                                              size_t own);

/* The finding is left out when there is no memory. */
void shmt_sizes_tell(struct shmt_sizes *sizes, size_t size, double cost,
                     const shmt_config *config);
/* The next finding of another size than `own` after the first *read; NULL:
 * there is none. */
const struct shmt_sizes_finding *
shmt_sizes_next(const struct shmt_sizes *sizes, size_t own, size_t *read);
size_t shmt_sizes_count(const struct shmt_sizes *sizes);

/* Whether the search at a size still finds faster ones, and whether that at any
 * size does. */
void shmt_sizes_set_busy(struct shmt_sizes *sizes, size_t size, bool busy);
bool shmt_sizes_are_busy(const struct shmt_sizes *sizes);

/* Bytes of device memory that a run of this problem may need. */
double shmt_sizes_bytes(const struct shmt_kernel *kernel,
                        const int64_t *problem);

#endif
