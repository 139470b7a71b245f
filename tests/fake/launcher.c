/* SPDX-License-Identifier: MIT */
/*
 * launcher: a program as nvcc builds it, whose kernel's source nobody sees at
 * run time: a matrix goes through a kernel of a binary that is there already.
 *
 *     launcher compile FILE.cu FILE.cubin
 *     launcher FILE KERNEL PART_X PART_Y BLOCK_X BLOCK_Y [WIDTH HEIGHT]...
 *
 * The first makes the binary, by the NVRTC of $FAKE_NVRTC_REAL.  The second
 * launches KERNEL(out, in, width, height) for each size, with a block for each
 * PART_X by PART_Y elements, and prints a sum.  FILE is such a binary; or a
 * source, FILE.cu, which it then compiles itself.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "compiled.h"

static const char option[] = "-default-device";

static char *binary_of(const char *path)
{
    const char *end = strrchr(path, '.');
    size_t size;

    return end != NULL && strcmp(end, ".cu") == 0
               ? compile(path, option, &size) : read_all(path, &size);
}

/* -- the launches --------------------------------------------------------- */

#define FUNCTIONS(X)                                                         \
    X(cuInit)                                                                \
    X(cuDevicePrimaryCtxRetain)                                              \
    X(cuCtxSetCurrent)                                                       \
    X(cuModuleLoadData)                                                      \
    X(cuModuleGetFunction)                                                   \
    X(cuMemAlloc)                                                            \
    X(cuMemcpyHtoD)                                                          \
    X(cuMemcpyDtoH)                                                          \
    X(cuLaunchKernel)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
} api;

static void open_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CUresult (*get)(const char *, void **, int, cuuint64_t,
                    CUdriverProcAddressQueryResult *);
    CUdriverProcAddressQueryResult status;
    CUcontext context;

    if (driver == NULL)
        exit(9);
    store(&get, dlsym(driver, "cuGetProcAddress_v2"), "driver");
#define FIND(name)                                                           \
    {                                                                        \
        void *found = NULL;                                                  \
        (void)get(#name, &found, 13000, 0, &status);                         \
        store(&api.name, found, #name);                                      \
    }
    FUNCTIONS(FIND)
    must((int)api.cuInit(0), "cuInit");
    must((int)api.cuDevicePrimaryCtxRetain(&context, 0), "context");
    must((int)api.cuCtxSetCurrent(context), "context");
}

/* Extents of a part that a block has, and of the block. */
struct way {
    unsigned part[2], block[2];
};

static double launch(CUfunction function, const struct way *way, int width,
                     int height)
{
    const size_t count = (size_t)width * (size_t)height;
    float *values = malloc(count * sizeof *values);
    CUdeviceptr in, out;
    void *arguments[] = {&out, &in, &width, &height};
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        values[i] = (float)(i % 1009);
    must((int)api.cuMemAlloc(&in, count * sizeof *values), "memory");
    must((int)api.cuMemAlloc(&out, count * sizeof *values), "memory");
    must((int)api.cuMemcpyHtoD(in, values, count * sizeof *values), "copy");
    memset(values, 0, count * sizeof *values);
    must((int)api.cuMemcpyHtoD(out, values, count * sizeof *values), "copy");
    must((int)api.cuLaunchKernel(
             function, ((unsigned)width + way->part[0] - 1) / way->part[0],
             ((unsigned)height + way->part[1] - 1) / way->part[1], 1,
             way->block[0], way->block[1], 1, 0, NULL, arguments, NULL),
         "launch");
    must((int)api.cuMemcpyDtoH(values, out, count * sizeof *values), "copy");
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * (double)(i % 17);
    free(values);
    return sum;
}

int main(int argc, char **argv)
{
    static char *binary;       /* as long as it is loaded */
    struct way way;
    CUmodule module;
    CUfunction function;

    if (argc == 4 && strcmp(argv[1], "compile") == 0) {
        write_binary(argv[2], option, argv[3]);
        return 0;
    }
    if (argc < 7)
        return 2;
    open_driver();
    binary = binary_of(argv[1]);
    must((int)api.cuModuleLoadData(&module, binary), "load");
    must((int)api.cuModuleGetFunction(&function, module, argv[2]), "kernel");
    for (int k = 0; k < 2; k++) {
        way.part[k] = (unsigned)atoi(argv[3 + k]);
        way.block[k] = (unsigned)atoi(argv[5 + k]);
    }
    for (int k = 7; k + 1 < argc; k += 2)
        printf("sum %.1f\n", launch(function, &way, atoi(argv[k]),
                                    atoi(argv[k + 1])));
    return 0;
}
