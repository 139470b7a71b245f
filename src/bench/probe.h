/* SPDX-License-Identifier: MIT */
/*
 * probe: buffers with guard bands, and the kernels that fill, check and
 * compare them.  For bench*.c alone.  All work is put on one stream.
 * Functions return the driver's own result, because an error after a candidate
 * has run may be the candidate's fault.
 */
#ifndef SHMT_BENCH_PROBE_H
#define SHMT_BENCH_PROBE_H

#include "bench/source.h"
#include "data/data.h"
#include "gpu/gpu.h"

/* On each side of a buffer.  Also its alignment. */
enum { SHMT_PROBE_GUARD_BYTES = 64 << 10 };

struct shmt_buffer {
    CUdeviceptr base;      /* of the first guard; 0: there is no buffer */
    uint64_t whole;        /* bytes with both guards */
    uint64_t count;        /* elements */
    uint64_t bytes;
    enum shmt_element element;
};

enum { SHMT_PROBE_FINDINGS = 3 * SHMT_KERNEL_ARGUMENTS };

struct shmt_probe {
    const struct shmt_driver *driver;
    CUstream stream;
    struct shmt_module module;
    unsigned elements;         /* as below */
    unsigned blocks;           /* fill the device */
    CUdeviceptr findings;      /* [SHMT_PROBE_FINDINGS] */
    CUdeviceptr blank;         /* the same, as they begin */
    CUdeviceptr flush;
    uint64_t flush_bytes;
    CUdeviceptr sink;
};

struct shmt_probe_options {
    const struct shmt_driver *driver;
    const struct shmt_nvrtc *nvrtc;   /* NULL: the binary lies in `folder`, */
    int nvrtc_version;         /* made by an NVRTC of this version */
    const struct shmtune_device *device;
    unsigned elements;         /* types that buffers have, a bit for each */
    const char *folder;        /* of binaries, or NULL */
    const char *cache;         /* the user's, or NULL */
};
/* Those of the arrays of a kernel. */
unsigned shmt_probe_elements(const struct shmt_kernel *kernel);
/* The text of the kernels, which the caller frees; NULL: there is no memory. */
char *shmt_probe_source(unsigned elements);
/* The binary of the kernels, for `device`; no driver is needed. */
enum shmtune_status
shmt_probe_image(const struct shmt_probe_options *options,
                 struct shmt_image **out, struct shmt_error *err);
enum shmtune_status
shmt_probe_open(const struct shmt_probe_options *options, CUstream stream,
                 struct shmt_probe *out, struct shmt_error *err);
void shmt_probe_close(struct shmt_probe *probe);

/* Allocated, poisoned with A throughout.  Nothing to free on failure. */
CUresult shmt_buffer_new(const struct shmt_probe *probe,
                         enum shmt_element element, uint64_t count,
                         struct shmt_buffer *out);
void shmt_buffer_free(const struct shmt_probe *probe,
                      struct shmt_buffer *buffer);
/* Of element 0. */
CUdeviceptr shmt_buffer_data(const struct shmt_buffer *buffer);

/* CUDA_ERROR_INVALID_VALUE for a type that the probe was not opened for; so are
 * the comparisons below. */
CUresult shmt_probe_fill(const struct shmt_probe *probe,
                          const struct shmt_buffer *buffer,
                          const struct shmt_pattern *pattern);
/* The data, not the guards. */
CUresult shmt_probe_poison(const struct shmt_probe *probe,
                            const struct shmt_buffer *buffer, uint32_t word);
/* Fills the guards, not the data, always with poison A. */
CUresult shmt_probe_repair_guards(const struct shmt_probe *probe,
                          const struct shmt_buffer *buffer);
CUresult shmt_probe_zero(const struct shmt_probe *probe,
                          const struct shmt_buffer *buffer);
/* Data of one buffer to another of the same count. */
CUresult shmt_probe_copy(const struct shmt_probe *probe,
                          const struct shmt_buffer *from,
                          const struct shmt_buffer *to);
/* Fills the L2 cache with other data by reading. */
CUresult shmt_probe_flush(const struct shmt_probe *probe);

/* Between shmt_probe_begin and shmt_probe_end checks are queued; each writes
 * to its own slot of findings. */
CUresult shmt_probe_begin(const struct shmt_probe *probe);
struct shmt_probe_comparison {
    const struct shmt_buffer *found, *expected;
    const struct shmt_buffer *kept;   /* as `found` was before; NULL: poisoned
                                         or zeroed */
    struct shmt_probe_rule rule;
};
CUresult shmt_probe_compare(const struct shmt_probe *probe,
                             const struct shmt_probe_comparison *comparison,
                             size_t slot);
/* Behind the end of such a comparison with a mismatch: where the worst is.
 * Waits for the stream. */
CUresult shmt_probe_worst(const struct shmt_probe *probe,
                           const struct shmt_probe_comparison *comparison,
                           size_t slot, struct shmt_probe_finding *out);
CUresult shmt_probe_guard(const struct shmt_probe *probe,
                           const struct shmt_buffer *buffer, size_t slot);
CUresult shmt_probe_hash(const struct shmt_probe *probe,
                          const struct shmt_buffer *buffer, size_t slot);
/* Waits for the stream. */
CUresult
shmt_probe_end(const struct shmt_probe *probe,
               struct shmt_probe_finding findings[SHMT_PROBE_FINDINGS]);

#endif
