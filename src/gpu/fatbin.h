/* SPDX-License-Identifier: MIT */
/*
 * fatbin: the cubins and PTX that nvcc has put into one binary.  Needs no GPU
 * and trusts no byte.
 *
 * A header of 16 bytes (magic, u16 version, u16 its bytes, u64 the bytes behind
 * it), and entries: u16 kind (1 PTX, 2 a cubin), u16 version, u32 bytes of this
 * header, u64 bytes behind it; from byte 32 on u32 where in the header a name
 * stands, u32 how long it is, u64 flags (0x2000 and 0x8000: compressed).
 * NVIDIA does not document it; this is what CUDA 12 and 13 write.
 */
#ifndef SHMT_GPU_FATBIN_H
#define SHMT_GPU_FATBIN_H

#include "gpu/bytes.h"

enum { SHMT_FATBIN_PTX = 1, SHMT_FATBIN_CUBIN = 2 };

struct shmt_fatbin_entry {
    uint64_t kind;
    bool compressed;
    struct shmt_bytes name;        /* of its source, "x.cu"; may be empty */
    struct shmt_bytes image;
};

bool shmt_fatbin_is(struct shmt_bytes binary);

/* The entries in turn: *at is 0 at first.  False past the last, and where the
 * rest cannot be read. */
bool shmt_fatbin_next(struct shmt_bytes fatbin, size_t *at,
                      struct shmt_fatbin_entry *out);

#endif
