/* SPDX-License-Identifier: MIT */
/*
 * bytes: parts of a binary that is not trusted, and numbers in it, which begin
 * with the lowest byte.  Called by cubin.c, fatbin.c and
 * lines.c.
 */
#ifndef SHMT_GPU_BYTES_H
#define SHMT_GPU_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shmt_bytes {
    const unsigned char *at;
    size_t size;
};

/* false: the whole does not have so many there. */
static inline bool shmt_bytes_slice(struct shmt_bytes whole, uint64_t offset,
                                    uint64_t size, struct shmt_bytes *out)
{
    if (offset > whole.size || size > whole.size - offset)
        return false;
    *out = (struct shmt_bytes){whole.at + offset, (size_t)size};
    return true;
}

/* Of up to 8 bytes, which are there. */
static inline uint64_t shmt_bytes_number(const unsigned char *at, size_t size)
{
    uint64_t number = 0;

    for (size_t k = size; k-- > 0;)
        number = number << 8 | at[k];
    return number;
}

#endif
