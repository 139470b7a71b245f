/* SPDX-License-Identifier: MIT */
/*
 * nvrtc_headers: the texts of the headers that NVRTC lacks (see
 * nvrtc_headers.h), one macro each.
 */
#include "gpu/nvrtc_headers.h"

#include <stdio.h>

#include "base/base.h"

/* C++ allows a typedef to be repeated if it is the same.  These are the same
 * as in CUDA's own headers under NVRTC. */
#define STDINT                                                               \
    "#pragma once\n"                                                         \
    "typedef signed char int8_t;\n"                                          \
    "typedef unsigned char uint8_t;\n"                                       \
    "typedef short int16_t;\n"                                               \
    "typedef unsigned short uint16_t;\n"                                     \
    "typedef int int32_t;\n"                                                 \
    "typedef unsigned int uint32_t;\n"                                       \
    "typedef long long int64_t;\n"                                           \
    "typedef unsigned long long uint64_t;\n"                                 \
    "typedef int64_t intptr_t;\n"                                            \
    "typedef uint64_t uintptr_t;\n"                                          \
    "typedef int64_t intmax_t;\n"                                            \
    "typedef uint64_t uintmax_t;\n"                                          \
    "#define INT8_MIN (-128)\n"                                              \
    "#define INT8_MAX 127\n"                                                 \
    "#define UINT8_MAX 255\n"                                                \
    "#define INT16_MIN (-32768)\n"                                           \
    "#define INT16_MAX 32767\n"                                              \
    "#define UINT16_MAX 65535\n"                                             \
    "#define INT32_MIN (-2147483647 - 1)\n"                                  \
    "#define INT32_MAX 2147483647\n"                                         \
    "#define UINT32_MAX 4294967295u\n"                                       \
    "#define INT64_MIN (-9223372036854775807ll - 1)\n"                       \
    "#define INT64_MAX 9223372036854775807ll\n"                              \
    "#define UINT64_MAX 18446744073709551615ull\n"

#define STDDEF                                                               \
    "#pragma once\n"                                                         \
    "typedef decltype(sizeof 0) size_t;\n"                                   \
    "typedef decltype((char *)0 - (char *)0) ptrdiff_t;\n"                   \
    "#ifndef NULL\n"                                                         \
    "#define NULL 0\n"                                                       \
    "#endif\n"                                                               \
    "#ifndef offsetof\n"                                                     \
    "#define offsetof(type, member) ((size_t)&((type *)0)->member)\n"        \
    "#endif\n"

#define LIMITS                                                               \
    "#pragma once\n"                                                         \
    "#define CHAR_BIT 8\n"                                                   \
    "#define SCHAR_MIN (-128)\n"                                             \
    "#define SCHAR_MAX 127\n"                                                \
    "#define UCHAR_MAX 255\n"                                                \
    "#define SHRT_MIN (-32768)\n"                                            \
    "#define SHRT_MAX 32767\n"                                               \
    "#define USHRT_MAX 65535\n"                                              \
    "#define INT_MIN (-2147483647 - 1)\n"                                    \
    "#define INT_MAX 2147483647\n"                                           \
    "#define UINT_MAX 4294967295u\n"                                         \
    "#define LONG_MIN (-9223372036854775807l - 1)\n"                         \
    "#define LONG_MAX 9223372036854775807l\n"                                \
    "#define ULONG_MAX 18446744073709551615ul\n"                             \
    "#define LLONG_MIN (-9223372036854775807ll - 1)\n"                       \
    "#define LLONG_MAX 9223372036854775807ll\n"                              \
    "#define ULLONG_MAX 18446744073709551615ull\n"

#define FLOAT                                                                \
    "#pragma once\n"                                                         \
    "#define FLT_MAX 3.40282346638528859812e+38f\n"                          \
    "#define FLT_MIN 1.17549435082228750797e-38f\n"                          \
    "#define FLT_EPSILON 1.1920928955078125e-07f\n"                          \
    "#define FLT_DIG 6\n"                                                    \
    "#define FLT_MANT_DIG 24\n"                                              \
    "#define DBL_MAX 1.79769313486231570815e+308\n"                          \
    "#define DBL_MIN 2.22507385850720138309e-308\n"                          \
    "#define DBL_EPSILON 2.22044604925031308085e-16\n"                       \
    "#define DBL_DIG 15\n"                                                   \
    "#define DBL_MANT_DIG 53\n"

#define MATH                                                                 \
    "#pragma once\n"                                                         \
    "#ifndef INFINITY\n"                                                     \
    "#define INFINITY __int_as_float(0x7f800000)\n"                          \
    "#endif\n"                                                               \
    "#ifndef NAN\n"                                                          \
    "#define NAN __int_as_float(0x7fffffff)\n"                               \
    "#endif\n"                                                               \
    "#define M_E 2.7182818284590452354\n"                                    \
    "#define M_PI 3.14159265358979323846\n"                                  \
    "#define M_PI_2 1.57079632679489661923\n"                                \
    "#define M_SQRT2 1.41421356237309504880\n"

/* The functions are built in, in the global namespace. */
#define STD_MATH                                                             \
    "namespace std {\n"                                                      \
    "using ::abs; using ::acos; using ::asin; using ::atan; using ::atan2;\n"\
    "using ::ceil; using ::cos; using ::cosh; using ::erf; using ::exp;\n"   \
    "using ::fabs; using ::floor; using ::fma; using ::fmax; using ::fmin;\n"\
    "using ::fmod; using ::isinf; using ::isnan; using ::log; using ::log2;\n"\
    "using ::log10; using ::pow; using ::round; using ::sin; using ::sinh;\n"\
    "using ::sqrt; using ::tan; using ::tanh; using ::trunc;\n"              \
    "}\n"

#define ALGORITHM                                                            \
    "#pragma once\n"                                                         \
    "namespace std {\n"                                                      \
    "template <class T>\n"                                                   \
    "constexpr const T &min(const T &a, const T &b)\n"                       \
    "{ return b < a ? b : a; }\n"                                            \
    "template <class T>\n"                                                   \
    "constexpr const T &max(const T &a, const T &b)\n"                       \
    "{ return a < b ? b : a; }\n"                                            \
    "template <class T>\n"                                                   \
    "constexpr void swap(T &a, T &b)\n"                                      \
    "{ T c = a; a = b; b = c; }\n"                                           \
    "}\n"

#define NOTHING "#pragma once\n"

/* X(name, text): the C name and the C++ one. */
#define HEADERS(X)                                                           \
    X("stdint.h", STDINT)                                                    \
    X("cstdint", STDINT "namespace std { using ::int8_t; using ::uint8_t; "  \
                        "using ::int16_t; using ::uint16_t; "                \
                        "using ::int32_t; using ::uint32_t; "                \
                        "using ::int64_t; using ::uint64_t; "                \
                        "using ::intptr_t; using ::uintptr_t; }\n")          \
    X("stddef.h", STDDEF)                                                    \
    X("cstddef", STDDEF "namespace std { using ::size_t; "                   \
                        "using ::ptrdiff_t; }\n")                            \
    X("limits.h", LIMITS)                                                    \
    X("climits", LIMITS)                                                     \
    X("float.h", FLOAT)                                                      \
    X("cfloat", FLOAT)                                                       \
    X("math.h", MATH)                                                        \
    X("cmath", MATH STD_MATH)                                                \
    X("algorithm", ALGORITHM)                                                \
    X("stdio.h", NOTHING)                                                    \
    X("cstdio", NOTHING)                                                     \
    X("stdlib.h", NOTHING)                                                   \
    X("cstdlib", NOTHING)                                                    \
    X("string.h", NOTHING)                                                   \
    X("cstring", NOTHING)                                                    \
    X("assert.h", NOTHING)                                                   \
    X("cassert", NOTHING)                                                    \
    X("stdbool.h", NOTHING)                                                  \
    X("iostream", NOTHING)

/* X(name): of the C++ library, which libcu++ has as <cuda/std/name>. */
#define DEVICE_HEADERS(X)                                                    \
    X(array) X(atomic) X(bit) X(bitset) X(chrono) X(complex) X(concepts)     \
    X(expected) X(functional) X(initializer_list) X(iterator) X(limits)      \
    X(mdspan) X(memory) X(numbers) X(numeric) X(optional) X(ratio)           \
    X(source_location) X(span) X(tuple) X(type_traits) X(utility) X(variant)

/* What std has already, of NVRTC or of the headers above, hides what libcu++
 * has of the same name. */
#define FROM_LIBCUXX(name)                                                   \
    "#pragma once\n"                                                         \
    "#include <cuda/std/" #name ">\n"                                        \
    "namespace std { using namespace cuda::std; }\n"

/* One line for each, as not every version of CUB has every one. */
#define IF_THERE(name)                                                       \
    "#if __has_include(<cub/" name ".cuh>)\n"                                \
    "#include <cub/" name ".cuh>\n"                                          \
    "#endif\n"

#define CUB                                                                  \
    "#pragma once\n"                                                         \
    IF_THERE("version")                                                      \
    IF_THERE("block/block_adjacent_difference")                              \
    IF_THERE("block/block_discontinuity")                                    \
    IF_THERE("block/block_exchange")                                         \
    IF_THERE("block/block_histogram")                                        \
    IF_THERE("block/block_load")                                             \
    IF_THERE("block/block_merge_sort")                                       \
    IF_THERE("block/block_radix_rank")                                       \
    IF_THERE("block/block_radix_sort")                                       \
    IF_THERE("block/block_reduce")                                           \
    IF_THERE("block/block_run_length_decode")                                \
    IF_THERE("block/block_scan")                                             \
    IF_THERE("block/block_shuffle")                                          \
    IF_THERE("block/block_store")                                            \
    IF_THERE("iterator/cache_modified_input_iterator")                       \
    IF_THERE("iterator/cache_modified_output_iterator")                      \
    IF_THERE("thread/thread_load")                                           \
    IF_THERE("thread/thread_operators")                                      \
    IF_THERE("thread/thread_reduce")                                         \
    IF_THERE("thread/thread_scan")                                           \
    IF_THERE("thread/thread_search")                                         \
    IF_THERE("thread/thread_sort")                                           \
    IF_THERE("thread/thread_store")                                          \
    IF_THERE("warp/warp_exchange")                                           \
    IF_THERE("warp/warp_load")                                               \
    IF_THERE("warp/warp_merge_sort")                                         \
    IF_THERE("warp/warp_reduce")                                             \
    IF_THERE("warp/warp_scan")                                               \
    IF_THERE("warp/warp_store")

struct header {
    const char *name, *text;
    const char *needs;     /* a file of the libraries; NULL: none */
};

static const struct header headers[] = {
#define HEADER(name, text) {name, text, NULL},
    HEADERS(HEADER)
#undef HEADER
#define HEADER(name) {#name, FROM_LIBCUXX(name), "cuda/std/" #name},
    DEVICE_HEADERS(HEADER)
#undef HEADER
    {"cub/cub.cuh", CUB, "cub/cub.cuh"},
};

_Static_assert(sizeof headers / sizeof headers[0] <= SHMT_NVRTC_HEADERS,
               "there is room for all");

static bool is_there(const char *libraries, const char *file)
{
    char path[1200];

    if (libraries == NULL)
        return false;
    snprintf(path, sizeof path, "%s/%s", libraries, file);
    return shmt_path_exists(path);
}

void shmt_nvrtc_headers_list(const char *libraries,
                             struct shmt_nvrtc_headers *out)
{
    out->count = 0;
    for (size_t k = 0; k < sizeof headers / sizeof headers[0]; k++) {
        if (headers[k].needs != NULL && !is_there(libraries, headers[k].needs))
            continue;
        out->names[out->count] = headers[k].name;
        out->texts[out->count++] = headers[k].text;
    }
}

bool shmt_nvrtc_has_header(const char *name)
{
    for (size_t k = 0; k < sizeof headers / sizeof headers[0]; k++)
        if (strcmp(headers[k].name, name) == 0)
            return true;
    return false;
}
