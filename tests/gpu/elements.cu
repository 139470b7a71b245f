/* SPDX-License-Identifier: MIT */
/*
 * elements: copies one array of every element type, and spoils one element
 * of the array BREAK by its lowest bit, or leaves it unwritten.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef long long i64;
typedef unsigned long long u64;

template <typename B, typename T>
__device__ void copy(T *out, const T *in, int n, bool spoil)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    union { T value; B bits; } one;

    if (i >= n)
        return;
    one.value = in[i];
    if (spoil && i == n - 1) {
#if HOW == HOW_unwritten
        return;
#else
        one.bits ^= 1;
#endif
    }
    out[i] = one.value;
}

extern "C" __global__ void
elements(
    u16 *out_f16,
    u16 *out_bf16,
    u8 *out_f8e4m3,
    u8 *out_f8e5m2,
    float *out_f32,
    double *out_f64,
    signed char *out_i8,
    u8 *out_u8,
    short *out_i16,
    u16 *out_u16,
    int *out_i32,
    unsigned *out_u32,
    i64 *out_i64,
    u64 *out_u64,
    bool *out_bool,
    u8 *out_bytes,
    const u16 *in_f16,
    const u16 *in_bf16,
    const u8 *in_f8e4m3,
    const u8 *in_f8e5m2,
    const float *in_f32,
    const double *in_f64,
    const signed char *in_i8,
    const u8 *in_u8,
    const short *in_i16,
    const u16 *in_u16,
    const int *in_i32,
    const unsigned *in_u32,
    const i64 *in_i64,
    const u64 *in_u64,
    const bool *in_bool,
    const u8 *in_bytes,
    int n)
{
    copy<u16>(out_f16, in_f16, n, BREAK == BREAK_f16);
    copy<u16>(out_bf16, in_bf16, n, BREAK == BREAK_bf16);
    copy<u8>(out_f8e4m3, in_f8e4m3, n, BREAK == BREAK_f8e4m3);
    copy<u8>(out_f8e5m2, in_f8e5m2, n, BREAK == BREAK_f8e5m2);
    copy<unsigned>(out_f32, in_f32, n, BREAK == BREAK_f32);
    copy<u64>(out_f64, in_f64, n, BREAK == BREAK_f64);
    copy<u8>(out_i8, in_i8, n, BREAK == BREAK_i8);
    copy<u8>(out_u8, in_u8, n, BREAK == BREAK_u8);
    copy<u16>(out_i16, in_i16, n, BREAK == BREAK_i16);
    copy<u16>(out_u16, in_u16, n, BREAK == BREAK_u16);
    copy<unsigned>(out_i32, in_i32, n, BREAK == BREAK_i32);
    copy<unsigned>(out_u32, in_u32, n, BREAK == BREAK_u32);
    copy<u64>(out_i64, in_i64, n, BREAK == BREAK_i64);
    copy<u64>(out_u64, in_u64, n, BREAK == BREAK_u64);
    copy<u8>(out_bool, in_bool, n, BREAK == BREAK_bool);
    copy<u8>(out_bytes, in_bytes, n, BREAK == BREAK_bytes);
}
