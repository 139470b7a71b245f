/* SPDX-License-Identifier: MIT */
/*
 * nvrtc_headers: replacements for headers of the C and C++ libraries that
 * NVRTC does not have, so that kernels written for nvcc compile.  They define
 * only what device code can use: types, limits, names in std.  Headers of
 * functions that NVRTC has built in (printf, assert, memcpy) are empty.
 * Called by nvrtc.c alone.
 */
#ifndef SHMT_GPU_NVRTC_HEADERS_H
#define SHMT_GPU_NVRTC_HEADERS_H

enum { SHMT_NVRTC_HEADERS = 21 };

/* [SHMT_NVRTC_HEADERS], as nvrtcCreateProgram takes them. */
extern const char *const shmt_nvrtc_header_names[];
extern const char *const shmt_nvrtc_header_texts[];

#endif
