/* SPDX-License-Identifier: MIT */
/*
 * ptx: what the compiler's intermediate text says of a kernel.  Needs no GPU.
 */
#ifndef SHMT_GPU_PTX_H
#define SHMT_GPU_PTX_H

#include <stdbool.h>
#include <stdint.h>

/* *least: how many bytes of dynamic shared memory (`extern __shared__`) the
 * kernel reaches for at places that are constant, 1 when it uses some at
 * places that are not, 0 when it uses none.  False when nothing is known: no
 * such kernel, or a function that is not inlined uses some. */
bool shmt_ptx_shared(const char *ptx, const char *symbol, int64_t *least);

/* As shmt_cubin_shared_bytes: bytes that arrays in shared memory take, in the
 * kernel of the text that has most; 0: none has one. */
int64_t shmt_ptx_shared_bytes(const char *ptx);

#endif
