/* SPDX-License-Identifier: MIT */
/*
 * exports: libcuda.so.1 for programs that link the driver or open it by its
 * name: each of its functions goes on to that of the fake driver.
 */
#include "tests/fake/cuda.h"

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

#ifdef __x86_64__
#define JUMP "jmp fake_"
#define BEHIND "@PLT\n"
#else
#define JUMP "b fake_"
#define BEHIND "\n"
#endif

#define EXPORT(name)                                                         \
    __asm__(".text\n.globl " TEXT(cu##name) "\n.type " TEXT(cu##name)        \
            ", %function\n" TEXT(cu##name) ":\n    " JUMP #name BEHIND);
SHMT_DRIVER_LIST(EXPORT)
FAKE_CUDA_MORE_LIST(EXPORT)
