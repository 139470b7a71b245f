/* SPDX-License-Identifier: MIT */
/*
 * digest: SHA-256 (FIPS 180-4), for the content keys of sources and
 * binaries.
 */
#ifndef SHMT_BASE_DIGEST_H
#define SHMT_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHMT_DIGEST_TEXT 65   /* 64 hexadecimal digits and NUL */

struct shmt_digest {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void shmt_digest_begin(struct shmt_digest *digest);
/* `data` may be NULL when `size` is 0. */
void shmt_digest_add(struct shmt_digest *digest, const void *data,
                     size_t size);
void shmt_digest_end(struct shmt_digest *digest, char text[SHMT_DIGEST_TEXT]);

/* 64 lower-case hexadecimal digits and nothing else. */
bool shmt_digest_valid(const char *text);

#endif
