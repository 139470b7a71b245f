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
 * gives the enum and the cases of each, of which all but a few take the
 * compiler most of its time for nothing. */
#define TEXT(...) #__VA_ARGS__ "\n"
#define TEXT_OF(...) TEXT(__VA_ARGS__)
#define IF_WANTED(word, text) "\n#ifdef SHMT_HAS_" word "\n" text "\n#endif\n"

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
    u64 worst;
    u64 worst_at;
    u64 outside;
    u64 outside_first;
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
TEXT_OF(SHMT_ELEMENT_SMALL_CODE(__device__ __noinline__))
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

__device__ __noinline__ double pattern_div(double a, double b)
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
    IF_WANTED(#word,                                                         \
              "case " #name ": fill_all((" #device " *)data, count, p); "    \
              "break;")
SHMT_ELEMENT_LIST(FILL)
#undef FILL
"}\n}\n";

/* What source.h says of right and wrong.  Each sum and product is rounded, so
 * that it is the same wherever it is computed. */
static const char rules[] =
TEXT_OF(SHMT_PROBE_RULE_STRUCT)
TEXT(
template <typename T> __device__ bool equal(T a, T b)
{
    return a == b;
}

__device__ double apart(i64 a, i64 b)
{
    return (double)(a > b ? (u64)a - (u64)b : (u64)b - (u64)a);
}

__device__ double apart(u64 a, u64 b)
{
    return (double)(a > b ? a - b : b - a);
}

template <typename T> __device__ double apart(T a, T b)
{
    return fabs(to_real(a) - to_real(b));
}

template <typename T> __device__ double size_of(T x)
{
    return fabs(to_real(x));
}

template <typename T> __device__ bool finite_pair(T a, T b)
{
    return size_of(a) <= 1.7976931348623157e308 &&
           size_of(b) <= 1.7976931348623157e308;
}

/* The place of a real among those of its type, 0 for 0. */
template <typename T> __device__ i64 place_of(T x)
{
    const u8 *bytes = (const u8 *)&x;
    const u64 sign = 1ull << (8 * sizeof(T) - 1);
    u64 bits = 0;

    for (u32 k = 0; k < sizeof(T); k++)
        bits |= (u64)bytes[k] << 8 * k;
    return bits & sign ? -(i64)(bits ^ sign) : (i64)bits;
}

template <typename T> __device__ __noinline__ u64 ulps(T a, T b)
{
    const i64 x = place_of(a);
    const i64 y = place_of(b);

    return x > y ? (u64)x - (u64)y : (u64)y - (u64)x;
}

template <typename T>
__device__ double allowance(T b, const shmt_probe_rule &rule)
{
    const double some = pattern_mul(rule.relative, size_of(b));

    return pattern_add(pattern_add(rule.absolute, some), rule.scale);
}

template <typename T>
__device__ __noinline__ bool right(T a, T b, const shmt_probe_rule &rule)
{
    return equal(a, b) ||
           (finite_pair(a, b) &&
            (apart(a, b) <= allowance(b, rule) ||
             (rule.ulp > 0 && ulps(a, b) <= rule.ulp)));
}
);

static const char comparison[] = TEXT(
template <typename T>
__device__ __noinline__ double excess(T a, T b, const shmt_probe_rule &rule)
{
    const bool bounded =
        rule.absolute > 0 || rule.relative > 0 || rule.scale > 0;
    double out = pattern_div(1, 0);

    if (!finite_pair(a, b))
        return out;
    if (bounded && allowance(b, rule) > 0)
        out = pattern_div(apart(a, b), allowance(b, rule));
    if (rule.ulp > 0)
        out = fmin(out, pattern_div((double)ulps(a, b), (double)rule.ulp));
    if (!bounded && rule.ulp == 0)
        out = rule.real ? pattern_div(apart(a, b), size_of(b)) : apart(a, b);
    return out;
}

__device__ u64 bits_of(double number)
{
    small_bits out;

    out.real = number;
    return out.bits;
}

/* The poison repeats every two bytes. */
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

__device__ __noinline__ bool looked_at(u64 i, const shmt_probe_rule &rule)
{
    const u64 j = i - rule.offset;

    if (rule.columns == 0)
        return true;
    return i >= rule.offset && j / rule.plane_pitch < rule.planes &&
           j % rule.plane_pitch / rule.pitch < rule.rows &&
           j % rule.plane_pitch % rule.pitch < rule.columns;
}

template <typename T> __device__ bool same_bytes(const T *a, const T *b)
{
    bool same = true;

    for (u32 k = 0; k < sizeof(T); k++)
        same = same && ((const u8 *)a)[k] == ((const u8 *)b)[k];
    return same;
}

template <typename T>
__device__ __noinline__ void check_outside(const T *a, const T *kept, u64 i,
                              const shmt_probe_rule &rule, finding *out)
{
    if (kept != 0 ? same_bytes(a + i, kept + i)
                  : poisoned(a + i, i, rule.outside))
        return;
    atomicAdd(&out->outside, 1ull);
    atomicMin(&out->outside_first, i);
}

template <typename T>
__device__ void compare_all(const T *a, const T *b, const T *kept, u64 count,
                            const shmt_probe_rule &rule, finding *out)
{
    u64 wrong = 0;
    u64 unwritten = 0;
    u64 first = ~0ull;
    u64 worst = 0;

    for (u64 i = here(); i < count; i += stride()) {
        const T x = a[i];
        const T y = b[i];

        if (!looked_at(i, rule)) {
            check_outside(a, kept, i, rule, out);
            continue;
        }
        if (equal(x, y))
            continue;
        worst = max(worst, bits_of(excess(x, y, rule)));
        if (right(x, y, rule))
            continue;
        first = wrong == 0 ? i : first;
        wrong++;
        unwritten += poisoned(a + i, i, rule.poison);
    }
    if (worst > 0)
        atomicMax(&out->worst, worst);
    if (wrong > 0) {
        atomicAdd(&out->mismatches, wrong);
        atomicAdd(&out->unwritten, unwritten);
        atomicMin(&out->first, first);
    }
}

template <typename T>
__device__ void find_worst(const T *a, const T *b, u64 count,
                           const shmt_probe_rule &rule, finding *out)
{
    const u64 worst = out->worst;

    for (u64 i = here(); i < count; i += stride())
        if (looked_at(i, rule) && !right(a[i], b[i], rule) &&
            bits_of(excess(a[i], b[i], rule)) == worst) {
            atomicMin(&out->worst_at, i);
            break;
        }
}
);

/* The worst is looked for where there is one: few candidates are wrong. */
static const char comparisons[] = TEXT(
extern "C" __global__ void shmt_compare(const void *a, const void *b,
                                        const void *kept, u64 count,
                                        shmt_probe_rule rule, finding *out)
{
    switch (rule.element) {
)
#define COMPARE(name, word, type, device, ...)                               \
    IF_WANTED(#word,                                                         \
              "case " #name ": compare_all((const " #device " *)a, "         \
              "(const " #device " *)b, (const " #device " *)kept, count, "   \
              "rule, out); break;")
SHMT_ELEMENT_LIST(COMPARE)
#undef COMPARE
"default: atomicAdd(&out->mismatches, 1ull);\n"
"}\n}\n";

static const char worsts[] = TEXT(
extern "C" __global__ void shmt_worst(const void *a, const void *b,
                                      const void *, u64 count,
                                      shmt_probe_rule rule, finding *out)
{
    switch (rule.element) {
)
#define WORST(name, word, type, device, ...)                                 \
    IF_WANTED(#word,                                                         \
              "case " #name ": find_worst((const " #device " *)a, "          \
              "(const " #device " *)b, count, rule, out); break;")
SHMT_ELEMENT_LIST(WORST)
#undef WORST
"}\n}\n";

/* The guards are bytes [0, front) and [front + inside, whole).  The hash is a
 * sum of products with odd numbers: no change of one word leaves it.  The
 * flush only reads noise, so it leaves no dirty lines.  It stores its sum only
 * for an impossible value, which keeps the compiler from removing the reads.
 */
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

extern "C" __global__ void shmt_noise(u64 *data, u64 count)
{
    for (u64 i = here(); i < count; i += stride())
        data[i] = mix(i + 1);
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
    rules, comparison, comparisons, worsts, checks, NULL};
