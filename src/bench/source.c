/* SPDX-License-Identifier: MIT */
/*
 * source: kernels that fill, poison, compare and check buffers, and
 * read the L2 cache full.  They fit every device NVRTC knows.
 *
 * Fill must agree with data/pattern.c bit for bit: the products are rounded
 * before they are added (__dmul_rn, __dadd_rn), which no option can fuse.
 */
#include "bench/source.h"

#include <stddef.h>

#include "data/data.h"
#include "kernel/kernel.h"

/* A part may not pass 4095 characters.  The table of element types
 * gives the enum and the cases of each. */
#define TEXT(...) #__VA_ARGS__ "\n"
#define TEXT_OF(...) TEXT(__VA_ARGS__)

static const char types[] =
"enum element {"
#define ELEMENT(name, ...) #name ","
SHMT_ELEMENT_LIST(ELEMENT)
#undef ELEMENT
"};\n"
TEXT(
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef long long i64;

struct finding {
    u64 mismatches;
    u64 first;
    u64 unwritten;
    u64 guard_bytes;
    i64 guard_first;
    u64 hash;
};

__device__ u64 mix(u64 x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

__device__ u64 here()
{
    return blockIdx.x * (u64)blockDim.x + threadIdx.x;
}

__device__ u64 stride()
{
    return gridDim.x * (u64)blockDim.x;
}

template <typename T> __device__ double to_real(T x)
{
    return (double)x;
}

template <typename T> __device__ void put_real(double r, T *x)
{
    *x = (T)r;
}

template <typename T> __device__ void put_whole(i64 n, T *x)
{
    *x = (T)n;
}

);

/* A class for each real of few bits, with what the templates above do for C's
 * own types. */
static const char small_reals[] =
TEXT_OF(SHMT_ELEMENT_SMALL_CODE(__device__))
#define SMALL(word, type, ...)                                               \
    TEXT(                                                                    \
        struct word##_bits { type bits; };                                   \
        __device__ double to_real(word##_bits x)                             \
        {                                                                    \
            const small_real type_of = {__VA_ARGS__};                        \
            return small_to(x.bits, type_of);                                \
        }                                                                    \
        __device__ void put_real(double r, word##_bits *x)                   \
        {                                                                    \
            const small_real type_of = {__VA_ARGS__};                        \
            x->bits = (type)small_from(r, type_of);                          \
        }                                                                    \
        __device__ void put_whole(i64 n, word##_bits *x)                     \
        {                                                                    \
            put_real((double)n, x);                                          \
        }                                                                    \
        __device__ bool equal(word##_bits a, word##_bits b)                  \
        {                                                                    \
            return to_real(a) == to_real(b);                                 \
        }                                                                    \
    )
SHMT_ELEMENT_SMALL_LIST(SMALL)
#undef SMALL
"";

/* The text of data/pattern_code.h, with the device's arithmetic.  Its parts are
 * cut here, as each has to be short. */
static const char pattern_types[] =
"enum shmt_fill {"
#define FILL(name) "SHMT_FILL_" #name ","
SHMT_FILL_LIST(FILL)
#undef FILL
"};\n"
TEXT_OF(SHMT_PATTERN_STRUCT)
TEXT(
__device__ u64 pattern_draw(u64 seed, u64 index)
{
    return mix(seed + (index + 1) * 0x9e3779b97f4a7c15ull);
}

__device__ double pattern_mul(double a, double b)
{
    return __dmul_rn(a, b);
}

__device__ double pattern_add(double a, double b)
{
    return __dadd_rn(a, b);
}

__device__ double pattern_div(double a, double b)
{
    return __ddiv_rn(a, b);
}
);

static const char patterns[] =
TEXT_OF(SHMT_PATTERN_CODE(__device__ __noinline__));
static const char whole_patterns[] =
TEXT_OF(SHMT_PATTERN_CODE_WHOLE(__device__ __noinline__));

static const char fills[] = TEXT(
template <typename T>
__device__ void fill_all(T *data, u64 count, const shmt_pattern &p)
{
    for (u64 i = here(); i < count; i += stride()) {
        T value;

        if (p.real)
            put_real(pattern_real(&p, i), &value);
        else
            put_whole(pattern_whole(&p, i), &value);
        data[i] = value;
    }
}

extern "C" __global__ void shmt_fill(void *data, u64 count, shmt_pattern p)
{
    switch (p.element) {
)
#define FILL(name, word, type, device, ...)                                  \
    "case " #name ": fill_all((" #device " *)data, count, p); break;\n"
SHMT_ELEMENT_LIST(FILL)
#undef FILL
"}\n}\n";

/* A pair is right when it is equal or within the tolerance; a NaN is neither.
 * The poison repeats every two bytes. */
static const char comparison[] = TEXT(
template <typename T> __device__ bool equal(T a, T b)
{
    return a == b;
}

__device__ bool near(i64 a, i64 b, double absolute, double relative)
{
    const u64 apart = a > b ? (u64)a - (u64)b : (u64)b - (u64)a;

    return (double)apart <= absolute + relative * fabs((double)b);
}

__device__ bool near(u64 a, u64 b, double absolute, double relative)
{
    return (double)(a > b ? a - b : b - a) <= absolute + relative * (double)b;
}

template <typename T>
__device__ bool near(T a, T b, double absolute, double relative)
{
    const double x = to_real(a);
    const double y = to_real(b);

    return fabs(x - y) <= absolute + relative * fabs(y) &&
           fabs(y) <= 1.7976931348623157e308;
}

template <typename T>
__device__ bool poisoned(const T *at, u64 index, u32 poison)
{
    const u8 *bytes = (const u8 *)at;
    bool all = true;

    for (u32 k = 0; k < sizeof(T); k++) {
        const u32 shift = 8 * ((u32)(index * sizeof(T) + k) & 1);
        all = all && bytes[k] == (u8)(poison >> shift);
    }
    return all;
}

template <typename T>
__device__ void compare_all(const T *a, const T *b, u64 count,
                            double absolute, double relative, u32 poison,
                            finding *out)
{
    u64 wrong = 0;
    u64 unwritten = 0;
    u64 first = ~0ull;

    for (u64 i = here(); i < count; i += stride()) {
        const T x = a[i];
        const T y = b[i];

        if (equal(x, y) || near(x, y, absolute, relative))
            continue;
        first = wrong == 0 ? i : first;
        wrong++;
        unwritten += poisoned(a + i, i, poison);
    }
    if (wrong > 0) {
        atomicAdd(&out->mismatches, wrong);
        atomicAdd(&out->unwritten, unwritten);
        atomicMin(&out->first, first);
    }
}

extern "C" __global__ void shmt_compare(const void *a, const void *b,
                                        u64 count, int element,
                                        double absolute, double relative,
                                        u32 poison, finding *out)
{
    switch (element) {
)
#define COMPARE(name, word, type, device, ...)                               \
    "case " #name ": compare_all((const " #device " *)a, "                   \
    "(const " #device " *)b, count, absolute, relative, poison, out); "      \
    "break;\n"
SHMT_ELEMENT_LIST(COMPARE)
#undef COMPARE
"}\n}\n";

/* The guards are bytes [0, front) and [front + inside, whole).  The hash is a
 * sum of products with odd numbers: no change of one word leaves it.  The
 * flush only reads, so it leaves no dirty lines.  It stores its sum only for
 * an impossible value, which keeps the compiler from removing the reads. */
static const char checks[] = TEXT(
extern "C" __global__ void shmt_guard(const u8 *base, u64 front, u64 inside,
                                      u64 whole, u32 poison, finding *out)
{
    const u64 outside = whole - inside;
    u64 changed = 0;
    i64 first = 0x7fffffffffffffffll;

    for (u64 k = here(); k < outside; k += stride()) {
        const u64 at = k < front ? k : k + inside;

        if (base[at] == (u8)(poison >> 8 * (at & 1)))
            continue;
        changed++;
        first = min(first, (i64)(at - front));
    }
    if (changed > 0) {
        atomicAdd(&out->guard_bytes, changed);
        atomicMin(&out->guard_first, first);
    }
}

extern "C" __global__ void shmt_hash(const uint4 *data, u64 bytes,
                                     finding *out)
{
    const u64 whole = bytes / 16;
    u64 sum = 0;

    for (u64 i = here(); i < whole; i += stride()) {
        const uint4 v = data[i];
        const u64 low = (u64)v.x << 32 | v.y;
        const u64 high = (u64)v.z << 32 | v.w;
        const u64 odd = 2 * i + 1;

        sum += low * (odd * 0x9e3779b97f4a7c15ull);
        sum += high * (odd * 0xd1b54a32d192ed03ull);
    }
    if (here() < bytes % 16)
        sum += mix(((const u8 *)data)[16 * whole + here()] + 256 * here());
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, lane);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&out->hash, sum);
}

extern "C" __global__ void shmt_flush(const uint4 *data, u64 count, u32 *sink)
{
    u32 sum = 0;

    for (u64 i = here(); i < count; i += stride()) {
        const uint4 v = data[i];
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x9d2c5681u && data[here() % count].x == sum)
        *sink = sum;
}
);

const char *const shmt_bench_source[] = {
    types, small_reals, pattern_types, patterns, whole_patterns, fills,
    comparison, checks, NULL};
