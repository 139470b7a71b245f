/* SPDX-License-Identifier: MIT */
/*
 * host_headers: what NVRTC lacks of the C library's headers, so that kernels
 * written for nvcc compile.  Only what device code can use: widths, limits,
 * names in std, and nothing at all for what NVRTC has built in (printf,
 * assert, memcpy).  Called by nvrtc.c alone.
 */
#ifndef SHMT_GPU_HOST_HEADERS_H
#define SHMT_GPU_HOST_HEADERS_H

enum { SHMT_HOST_HEADERS = 21 };

/* [SHMT_HOST_HEADERS], as nvrtcCreateProgram takes them. */
extern const char *const shmt_host_header_names[];
extern const char *const shmt_host_header_texts[];

#endif
