/* SPDX-License-Identifier: MIT */
/*
 * convert: all 2^32 floats and some doubles to each small type, by the
 * hardware where it has the conversion, and by the text that the measuring
 * kernels have (HOW).  Each output is a sum over 4096 inputs, or one input's
 * bits back as f32, so that an element that differs is told.
 */
#include "kernel/small_real.h"

SHMT_ELEMENT_SMALL_CODE(__device__)

#define TYPE(word, type, ...)                                                 \
    __device__ small_real word##_type()                                       \
    {                                                                         \
        const small_real type_of = {__VA_ARGS__};                             \
        return type_of;                                                       \
    }
SHMT_ELEMENT_SMALL_LIST(TYPE)

/* NaN has one pattern here, whatever its sign and payload were. */
__device__ unsigned hard(float x, int to)
{
    unsigned short bits = 0;

    switch (to) {
    case 0: asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); break;
    case 1: asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x)); break;
    case 2:
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
            : "=h"(bits) : "f"(0.0f), "f"(x));
        break;
    default:
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;"
            : "=h"(bits) : "f"(0.0f), "f"(x));
    }
    return to == 0 && (bits & 0x7fff) > 0x7c00 ? 0x7fff : bits;
}

__device__ unsigned soft(float x, int to)
{
    switch (to) {
    case 0: return small_from(x, f16_type());
    case 1: return small_from(x, bf16_type());
    case 2: return small_from(x, f8e4m3_type());
    default: return small_from(x, f8e5m2_type());
    }
}

__device__ void sum(unsigned *out, int to)
{
    const unsigned first = 4096u * (blockIdx.x * 256u + threadIdx.x);
    unsigned all = 0;

    for (unsigned k = 0; k < 4096; k++) {
        const float x = __uint_as_float(first + k);
#if HOW == HOW_hard
        all = all * 31 + hard(x, to);
#else
        all = all * 31 + soft(x, to);
#endif
    }
    out[first / 4096] = all;
}

extern "C" __global__ void convert(unsigned *f16, unsigned *bf16,
                                   unsigned *f8e4m3, unsigned *f8e5m2)
{
    sum(f16, 0);
    sum(bf16, 1);
    sum(f8e4m3, 2);
    sum(f8e5m2, 3);
}

/* And back: every pattern of 16 bits. */
extern "C" __global__ void back(float *f16, float *bf16)
{
    const unsigned bits = blockIdx.x * 256 + threadIdx.x;
    float half, brain;

#if HOW == HOW_hard
    const unsigned short word = (unsigned short)bits;

    asm("cvt.f32.f16 %0, %1;" : "=f"(half) : "h"(word));
    brain = __uint_as_float(bits << 16);
#else
    half = (float)small_to(bits, f16_type());
    brain = (float)small_to(bits, bf16_type());
#endif
    /* A NaN is equal to nothing: any is told as one number. */
    f16[bits] = half == half ? half : 123456.0f;
    bf16[bits] = brain == brain ? brain : 123456.0f;
}
