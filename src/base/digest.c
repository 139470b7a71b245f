/* SPDX-License-Identifier: MIT */
/*
 * digest: SHA-256 by FIPS 180-4, section 6.2, in portable C; of what comes in
 * large pieces, as the buffers of an application that each measure worker reads
 * again, by the processor's own instructions where it has them.
 */
#include "base/digest.h"

#include <string.h>

#if defined __x86_64__ && defined __GNUC__
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

enum { BLOCK = 64 };

/* Section 4.2.2: of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, int by)
{
    return word >> by | word << (32 - by);
}

static void schedule(const unsigned char *block, uint32_t word[64])
{
    for (int t = 0; t < 16; t++)
        word[t] = (uint32_t)block[4 * t] << 24
                  | (uint32_t)block[4 * t + 1] << 16
                  | (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        const uint32_t x = word[t - 2], y = word[t - 15];

        word[t] = (rotate(x, 17) ^ rotate(x, 19) ^ x >> 10) + word[t - 7]
                  + (rotate(y, 7) ^ rotate(y, 18) ^ y >> 3) + word[t - 16];
    }
}

/* Round `r` of eight.  The a..h of the standard move one place up each round;
 * here they stay, and a is s[0], s[7], s[6] and so on: with `r` a constant the
 * compiler keeps them in registers. */
static inline void turn(uint32_t s[8], int r, uint32_t added)
{
    const uint32_t a = s[-r & 7], b = s[(1 - r) & 7], c = s[(2 - r) & 7];
    const uint32_t e = s[(4 - r) & 7], f = s[(5 - r) & 7];
    const uint32_t g = s[(6 - r) & 7];
    const uint32_t first = s[(7 - r) & 7]
                           + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25))
                           + ((e & f) ^ (~e & g)) + added;

    s[(3 - r) & 7] += first;
    s[(7 - r) & 7] = first
                     + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22))
                     + ((a & b) ^ (a & c) ^ (b & c));
}

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t word[64], s[8];

    schedule(block, word);
    memcpy(s, state, sizeof s);
    for (int t = 0; t < 64; t += 8) {
        turn(s, 0, constants[t] + word[t]);
        turn(s, 1, constants[t + 1] + word[t + 1]);
        turn(s, 2, constants[t + 2] + word[t + 2]);
        turn(s, 3, constants[t + 3] + word[t + 3]);
        turn(s, 4, constants[t + 4] + word[t + 4]);
        turn(s, 5, constants[t + 5] + word[t + 5]);
        turn(s, 6, constants[t + 6] + word[t + 6]);
        turn(s, 7, constants[t + 7] + word[t + 7]);
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

/* -- by the processor ----------------------------------------------------- */

/* Fewer blocks at a time are not worth to put the state in order for. */
enum { SEVERAL = 4 };

#if defined __x86_64__ && defined __GNUC__
static bool find_instructions(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0 &&
           (c & bit_SSSE3) != 0 &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           (b & 1u << 29) != 0;
}

/* Asked once: a virtual machine takes its time to answer. */
static bool has_instructions(void)
{
    static atomic_int known;       /* 1: it has not, 2: it has */

    if (known == 0)
        known = find_instructions() ? 2 : 1;
    return known == 2;
}

/* Four rounds at a time, the state as ABEF and CDGH (Intel, "New instructions
 * supporting the secure hash algorithm"). */
__attribute__((target("sha,sse4.1"))) static void
compress_several(uint32_t state[8], const unsigned char *bytes, size_t count)
{
    const __m128i order =
        _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_loadu_si128((const void *)state);
    __m128i high = _mm_loadu_si128((const void *)(state + 4));
    __m128i abef, cdgh;

    low = _mm_shuffle_epi32(low, 0xb1);
    high = _mm_shuffle_epi32(high, 0x1b);
    abef = _mm_alignr_epi8(low, high, 8);
    cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; count > 0; count--, bytes += BLOCK) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i word[16];

        for (int t = 0; t < 16; t++) {
            __m128i added;

            if (t < 4)
                word[t] = _mm_shuffle_epi8(
                    _mm_loadu_si128((const void *)(bytes + 16 * t)), order);
            else
                word[t] = _mm_sha256msg2_epu32(
                    _mm_add_epi32(
                        _mm_sha256msg1_epu32(word[t - 4], word[t - 3]),
                        _mm_alignr_epi8(word[t - 1], word[t - 2], 4)),
                    word[t - 1]);
            added = _mm_add_epi32(
                word[t], _mm_loadu_si128((const void *)(constants + 4 * t)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
            abef = _mm_sha256rnds2_epu32(abef, cdgh,
                                         _mm_shuffle_epi32(added, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((void *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((void *)(state + 4), _mm_alignr_epi8(high, low, 8));
}
#else
static bool has_instructions(void)
{
    return false;
}

static void compress_several(uint32_t state[8], const unsigned char *bytes,
                             size_t count)
{
    for (; count > 0; count--, bytes += BLOCK)
        compress(state, bytes);
}
#endif

/* -- a digest ------------------------------------------------------------- */

void shmt_digest_begin(struct shmt_digest *digest)
{
    /* Section 5.3.3: of the square roots of the first 8 primes. */
    static const uint32_t initial[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };

    memset(digest, 0, sizeof *digest);
    memcpy(digest->state, initial, sizeof initial);
}

void shmt_digest_add(struct shmt_digest *digest, const void *data,
                     size_t size)
{
    const unsigned char *bytes = data;
    size_t held = digest->bytes % BLOCK;

    if (size == 0)
        return;             /* `data` may be NULL then */
    digest->bytes += size;
    if (held > 0) {
        const size_t part = size < BLOCK - held ? size : BLOCK - held;

        memcpy(digest->block + held, bytes, part);
        bytes += part;
        size -= part;
        if (held + part < BLOCK)
            return;
        compress(digest->state, digest->block);
    }
    if (size >= SEVERAL * BLOCK && has_instructions()) {
        compress_several(digest->state, bytes, size / BLOCK);
        bytes += size / BLOCK * BLOCK;
        size %= BLOCK;
    }
    for (; size >= BLOCK; size -= BLOCK, bytes += BLOCK)
        compress(digest->state, bytes);
    memcpy(digest->block, bytes, size);
}

void shmt_digest_end(struct shmt_digest *digest, char text[SHMT_DIGEST_TEXT])
{
    static const char hexadecimal[] = "0123456789abcdef";
    static const unsigned char padding[BLOCK] = {0x80};
    const uint64_t bits = digest->bytes * 8;
    const size_t held = digest->bytes % BLOCK;
    unsigned char length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    shmt_digest_add(digest, padding,
                    held < 56 ? 56 - held : BLOCK + 56 - held);
    shmt_digest_add(digest, length, sizeof length);
    for (int i = 0; i < 64; i++)
        text[i] = hexadecimal[digest->state[i / 8] >> (28 - 4 * (i % 8))
                              & 0xf];
    text[64] = '\0';
}

bool shmt_digest_valid(const char *text)
{
    return strspn(text, "0123456789abcdef") == SHMT_DIGEST_TEXT - 1
           && text[SHMT_DIGEST_TEXT - 1] == '\0';
}
