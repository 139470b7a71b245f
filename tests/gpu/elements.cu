/* SPDX-License-Identifier: MIT */
/*
 * elements: copies one array of every element type, and spoils one element
 * of the array BREAK by its lowest bit, or leaves it unwritten.
 */
typedef unsigned short half_bits;
typedef long long i64;

template <typename T, typename B>
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
elements(half_bits *out_f16, float *out_f32, double *out_f64,
         unsigned char *out_u8, int *out_i32, unsigned *out_u32, i64 *out_i64,
         const half_bits *in_f16, const float *in_f32, const double *in_f64,
         const unsigned char *in_u8, const int *in_i32,
         const unsigned *in_u32, const i64 *in_i64, int n)
{
    copy<half_bits, half_bits>(out_f16, in_f16, n, BREAK == BREAK_f16);
    copy<float, unsigned>(out_f32, in_f32, n, BREAK == BREAK_f32);
    copy<double, i64>(out_f64, in_f64, n, BREAK == BREAK_f64);
    copy<unsigned char, unsigned char>(out_u8, in_u8, n, BREAK == BREAK_u8);
    copy<int, unsigned>(out_i32, in_i32, n, BREAK == BREAK_i32);
    copy<unsigned, unsigned>(out_u32, in_u32, n, BREAK == BREAK_u32);
    copy<i64, i64>(out_i64, in_i64, n, BREAK == BREAK_i64);
}
