/* SPDX-License-Identifier: MIT */
/*
 * digest_x86: see Intel's "SHA Extensions" (2013) for what the instructions
 * do: sha256rnds2 does two rounds, sha256msg1 and sha256msg2 the two halves
 * of four words of the schedule.
 */
#include "base/digest_x86.h"

#ifdef SHMT_DIGEST_X86

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

enum { UNKNOWN, YES, NO };

/* Asking the processor may take longer than a digest. */
bool shmt_digest_x86_usable(void)
{
    static atomic_int known = UNKNOWN;
    int state = atomic_load_explicit(&known, memory_order_relaxed);
    unsigned a, b, c, d;

    if (state == UNKNOWN) {
        const bool words = __get_cpuid(1, &a, &b, &c, &d) &&
                           (c & bit_SSSE3) != 0 && (c & bit_SSE4_1) != 0;
        const bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
                         (b & 1u << 29) != 0;

        state = words && sha ? YES : NO;
        atomic_store_explicit(&known, state, memory_order_relaxed);
    }
    return state == YES;
}

/* The eight words of the state stand as a b e f and c d g h. */
#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

/* Four words of the schedule from the sixteen before. */
WITH_SHA static inline __m128i extend(__m128i w0, __m128i w1, __m128i w2,
                                      __m128i w3)
{
    const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1),
                                      _mm_alignr_epi8(w3, w2, 4));

    return _mm_sha256msg2_epu32(sum, w3);
}

WITH_SHA static inline void four_rounds(__m128i *abef, __m128i *cdgh,
                                        __m128i word, int round)
{
    const __m128i *const constants =
        (const __m128i *)(const void *)(shmt_digest_constants + round);
    const __m128i added = _mm_add_epi32(word, _mm_loadu_si128(constants));

    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, added);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh,
                                  _mm_shuffle_epi32(added, 0x0e));
}

WITH_SHA void shmt_digest_x86_compress(uint32_t state[8],
                                       const unsigned char *blocks,
                                       size_t count)
{
    const __m128i big_endian =
        _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i *const low = (__m128i *)(void *)state;
    __m128i *const high = (__m128i *)(void *)(state + 4);
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(low), 0xb1);
    const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(high), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
    __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
    __m128i w[4];

    for (; count > 0; count--, blocks += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;

        for (int k = 0; k < 4; k++) {
            w[k] = _mm_shuffle_epi8(
                _mm_loadu_si128((const __m128i *)(const void *)blocks + k),
                big_endian);
            four_rounds(&abef, &cdgh, w[k], 4 * k);
        }
        for (int round = 16; round < 64; round += 16)
            for (int k = 0; k < 4; k++) {
                w[k] = extend(w[k], w[(k + 1) % 4], w[(k + 2) % 4],
                              w[(k + 3) % 4]);
                four_rounds(&abef, &cdgh, w[k], round + 4 * k);
            }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);

    _mm_storeu_si128(low, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(high, _mm_alignr_epi8(dchg, feba, 8));
}

#endif
