/* SPDX-License-Identifier: MIT */
/*
 * nvrtc_headers: replacements for headers of the C and C++ libraries that
 * NVRTC does not have, so that kernels written for nvcc compile.  They define
 * only what device code can use: types, limits, names in std.  Headers of
 * functions that NVRTC has built in (printf, assert, memcpy) are empty.
 * Where libcu++ is installed, those of the C++ library that it has for device
 * code are taken from it: std::optional is cuda::std::optional.  And
 * <cub/cub.cuh> is what of CUB runs within a kernel; the whole of it launches
 * kernels, which NVRTC cannot compile.
 * Called by nvrtc.c; command/ asks what there is.
 */
#ifndef SHMT_GPU_NVRTC_HEADERS_H
#define SHMT_GPU_NVRTC_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

enum { SHMT_NVRTC_HEADERS = 64 };    /* room for all */

/* Headers as nvrtcCreateProgram takes them. */
struct shmt_nvrtc_headers {
    size_t count;
    const char *names[SHMT_NVRTC_HEADERS];
    const char *texts[SHMT_NVRTC_HEADERS];
};

/* `libraries`: the folder that has cuda/std and cub; NULL: there is none. */
void shmt_nvrtc_headers_list(const char *libraries,
                             struct shmt_nvrtc_headers *out);
/* Whether NVRTC can be given a header of this name, "stdint.h". */
bool shmt_nvrtc_has_header(const char *name);

#endif
