/* SPDX-License-Identifier: MIT */
/*
 * inspect: what the compiler says of one candidate.  Needs no GPU.
 */
#ifndef SHMT_BENCH_INSPECT_H
#define SHMT_BENCH_INSPECT_H

#include "gpu/gpu.h"

/* OK with resources, time and the image's key; COMPILE_ERROR; SPEC_MISMATCH
 * where the static shared bytes of the spec and of the compiler differ, or
 * where an image is refused for its spec (gpu/image.h).  For a binary that was
 * stored already, the compile time is 0 ms. */
enum shmtune_status shmt_inspect(const struct shmt_image_request *request,
                                 const struct shmt_nvrtc *nvrtc,
                                 const char *folder,
                                 struct shmt_result *result,
                                 struct shmt_error *err);

#endif
