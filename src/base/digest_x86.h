/* SPDX-License-Identifier: MIT */
/*
 * digest_x86: SHA-256's inner loop by the processor's own instructions, for
 * digest.c alone.  A library that is opened digests all its sources, which
 * took a fifth of the time.
 */
#ifndef SHMT_BASE_DIGEST_X86_H
#define SHMT_BASE_DIGEST_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the rounds add; in digest.c. */
extern const uint32_t shmt_digest_constants[64];

/* SHMT_DIGEST_PLAIN leaves it out, for tests of the other way. */
#if defined __x86_64__ && !defined SHMT_DIGEST_PLAIN
#define SHMT_DIGEST_X86 1

/* The processor has them. */
bool shmt_digest_x86_usable(void);

/* `count` blocks of 64 bytes. */
void shmt_digest_x86_compress(uint32_t state[8], const unsigned char *blocks,
                              size_t count);
#endif

#endif
