/* SPDX-License-Identifier: MIT */
/*
 * kernel: the kernel whose journals and messages are read, for fuzz_journal
 * and fuzz_protocol.
 */
#include "fuzz.h"

#include "kernel/kernel.h"

struct shmt_kernel *fuzz_kernel(void)
{
    static struct shmt_kernel *kernel;
    const char *const source = getenv("SHMT_SRCDIR");
    struct shmt_error err = {0};
    char path[4096];

    if (kernel != NULL)
        return kernel;
    snprintf(path, sizeof path, "%s/tests/fake/data/toy.yaml",
             source == NULL ? "." : source);
    FUZZ_HOLDS(shmt_kernel_read(path, &kernel, &err) == SHMTUNE_OK);
    return kernel;
}
