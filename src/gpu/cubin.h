/* SPDX-License-Identifier: MIT */
/*
 * params: the parameters of a kernel as its binary describes them.  Needs no
 * GPU and trusts no byte: a binary may have come from anywhere.
 *
 * A cubin is an ELF file; its section .nv.info.SYMBOL is a list of
 * attributes, each of a u8 form, a u8 attribute and a u16, which is a value or
 * the size of what follows.  NVIDIA does not document them; these are what
 * CUDA 13.0 writes for sm_75 to sm_120, and cuobjdump -elf names:
 *
 *   KPARAM_INFO     0x17  12 bytes: u32 index, u16 ordinal, u16 offset, u32
 *                         with the size in its upper 14 bits
 *   KPARAM_INFO_V2  0x45  12 bytes: u32 index, u16 ordinal, u16 offset, u16
 *                         size, u16 flags; in a kernel whose parameters take
 *                         more than 4 KiB
 *   CBANK_PARAM_SIZE 0x19 the bytes of all parameters
 *
 * Variables are objects of its table of symbols: those of __constant__ lie in
 * the section .nv.constant3, whose bytes are zeros where there is no
 * initialiser; those of __device__ in .nv.global, which has no bytes, or in
 * .nv.global.init.  Arrays in shared memory are the section .nv.shared.SYMBOL,
 * which has no bytes; where .nv.shared.reserved.0 is there, 1 KiB of it is the
 * system's.
 */
#ifndef SHMT_GPU_CUBIN_H
#define SHMT_GPU_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The magic number of a fatbin, which has cubins in it. */
#define SHMT_CUBIN_FATBIN UINT32_C(0xba55ed50)

enum { SHMT_CUBIN_PARAMS = 256 };

struct shmt_cubin_params {
    size_t count;
    uint32_t sizes[SHMT_CUBIN_PARAMS]; /* bytes, in the order of the source */
};

/* False when nothing is known: no such kernel, a form that is not the above,
 * parameters that do not add up to their sum, more than SHMT_CUBIN_PARAMS of
 * them; or no parameters at all, which cannot be distinguished from a future
 * format. */
bool shmt_cubin_read_params(const void *cubin, size_t size, const char *symbol,
                            struct shmt_cubin_params *out);

/* The bytes of a section; false: there is none, or none in the file. */
bool shmt_cubin_section(const void *cubin, size_t size, const char *name,
                        const void **out, size_t *out_size);

/* Bytes that arrays in shared memory take, those of `extern` not, in the kernel
 * of the binary that has most; 0: none has one, or it cannot be read. */
uint64_t shmt_cubin_shared_bytes(const void *cubin, size_t size);

/* A variable of the source, __constant__ or __device__. */
struct shmt_cubin_variable {
    const char *name;          /* in the cubin */
    uint64_t bytes;
    bool constant;
    bool initialised;          /* with something else than zeros */
};

/* The variables in turn: *at is 0 at first.  False past the last, and where
 * the rest cannot be read. */
bool shmt_cubin_next_variable(const void *cubin, size_t size, size_t *at,
                              struct shmt_cubin_variable *out);

/* The names of its kernels, in the same way; NULL past the last. */
const char *shmt_cubin_next_kernel(const void *cubin, size_t size, size_t *at);

#endif
