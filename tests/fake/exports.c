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

#define EXPORT_AS(symbol, name)                                              \
    __asm__(".text\n.globl " symbol "\n.type " symbol ", %function\n" symbol \
            ":\n    " JUMP name BEHIND);
#define EXPORT(name) EXPORT_AS(TEXT(cu##name), #name)
SHMT_DRIVER_LIST(EXPORT)
FAKE_CUDA_MORE_LIST(EXPORT)
/* What has several versions has this name in every toolkit. */
EXPORT_AS("cuGraphNodeGetDependencies", "GraphNodeGetDependencies_v1")
