/* SPDX-License-Identifier: MIT */
/*
 * textured: the user's program whose kernel reads textures: `sample` of
 * fake_texture.cu, or of another source that has it.
 *
 *     textured FILE ROWS COLS [again] [gone] [steep] [SYMBOL]
 *     textured FILE.cu FILE.cubin
 *
 * It compiles FILE.cu by the NVRTC of $FAKE_NVRTC_REAL, or loads a binary, makes
 * two arrays and four texture objects, launches, and prints a sum.  With `again`
 * it makes all of them, and frees them, once before: handles are used again.
 * With `gone` the table is no texture any more when the kernel is launched, with
 * `steep` the image has an anisotropic filter.  The driver is that of
 * libcuda.so.1, by cuGetProcAddress alone, as the CUDA runtime does.  The second
 * way writes the binary.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "compiled.h"

static const char option[] = "-DBLOCK=64";

enum { NX = 8, NY = 4, NZ = 2 };

/* -- the driver ----------------------------------------------------------- */

#define FUNCTIONS(X)                                                         \
    X(Init)                                                                  \
    X(DevicePrimaryCtxRetain)                                                \
    X(CtxSetCurrent)                                                         \
    X(ModuleLoadData)                                                        \
    X(ModuleGetFunction)                                                     \
    X(MemAlloc)                                                              \
    X(MemFree)                                                               \
    X(MemcpyHtoD)                                                            \
    X(MemcpyDtoH)                                                            \
    X(Array3DCreate)                                                         \
    X(ArrayDestroy)                                                          \
    X(Memcpy3DAsync)                                                         \
    X(TexObjectCreate)                                                       \
    X(TexObjectDestroy)                                                      \
    X(LaunchKernel)

static struct {
#define MEMBER(name) __typeof__(cu##name) *name;
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
        (void)get("cu" #name, &found, 13000, 0, &status);                    \
        store(&api.name, found, #name);                                      \
    }
    FUNCTIONS(FIND)
    must((int)api.Init(0), "cuInit");
    must((int)api.DevicePrimaryCtxRetain(&context, 0), "context");
    must((int)api.CtxSetCurrent(context), "context");
}

/* -- textures ------------------------------------------------------------- */

static int rows, cols, pitch, entries;
static unsigned anisotropy;

struct made {
    CUdeviceptr pixels, numbers;
    CUarray flat, deep;
    CUtexObject image, clamped, table, volume;
};

static CUarray array_of(const void *host, size_t from_pitch,
                        const CUDA_ARRAY3D_DESCRIPTOR *as, size_t texel)
{
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host,
                          .srcPitch = from_pitch, .srcHeight = as->Height,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = as->Width * texel,
                          .Height = as->Height,
                          .Depth = as->Depth == 0 ? 1 : as->Depth};
    CUarray array;

    must((int)api.Array3DCreate(&array, as), "array");
    copy.dstArray = array;
    must((int)api.Memcpy3DAsync(&copy, NULL), "copy to an array");
    return array;
}

static CUdeviceptr memory_of(const void *host, size_t bytes)
{
    CUdeviceptr there;

    must((int)api.MemAlloc(&there, bytes), "memory");
    must((int)api.MemcpyHtoD(there, host, bytes), "copy");
    return there;
}

/* The numbers lie in the middle of an allocation, where a texture may begin. */
enum { BEFORE = 128 };

static void make_memory(struct made *made)
{
    float *pixels = calloc((size_t)(rows * pitch), sizeof *pixels);
    int *numbers = calloc((size_t)(BEFORE + entries), sizeof *numbers);
    unsigned char voxels[NX * NY * NZ * 4];

    for (int i = 0; i < rows * pitch; i++)
        pixels[i] = (float)(i % 13) / 4;
    for (int i = 0; i < entries; i++)
        numbers[BEFORE + i] = i * i % 101;
    for (int i = 0; i < NX * NY * NZ * 4; i++)
        voxels[i] = (unsigned char)(i * 7);
    made->pixels = memory_of(pixels, (size_t)(rows * pitch) * sizeof *pixels);
    made->numbers = memory_of(numbers, (size_t)(BEFORE + entries) *
                                           sizeof *numbers);
    made->flat = array_of(pixels, (size_t)pitch * sizeof *pixels,
                          &(const CUDA_ARRAY3D_DESCRIPTOR){
                              .Width = (size_t)cols, .Height = (size_t)rows,
                              .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1},
                          sizeof *pixels);
    made->deep = array_of(voxels, NX * 4,
                          &(const CUDA_ARRAY3D_DESCRIPTOR){
                              .Width = NX, .Height = NY, .Depth = NZ,
                              .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                              .NumChannels = 4}, 4);
    free(pixels);
    free(numbers);
}

static void make(struct made *made)
{
    CUDA_RESOURCE_DESC of = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC as = {.filterMode = CU_TR_FILTER_MODE_LINEAR};

    make_memory(made);
    of.res.array.hArray = made->flat;
    for (int k = 0; k < 3; k++)
        as.addressMode[k] = CU_TR_ADDRESS_MODE_BORDER;
    as.borderColor[0] = 0.5f;
    as.maxAnisotropy = anisotropy;
    must((int)api.TexObjectCreate(&made->image, &of, &as, NULL), "image");
    of.res.array.hArray = made->deep;
    as = (CUDA_TEXTURE_DESC){.flags = CU_TRSF_NORMALIZED_COORDINATES};
    must((int)api.TexObjectCreate(&made->volume, &of, &as, NULL), "volume");
    /* As the runtime has it who says nothing: to be wrapped, which is only said
     * of coordinates from 0 to 1. */
    as = (CUDA_TEXTURE_DESC){.flags = CU_TRSF_READ_AS_INTEGER};
    of = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D};
    of.res.pitch2D.devPtr = made->pixels;
    of.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    of.res.pitch2D.numChannels = 1;
    of.res.pitch2D.width = (size_t)cols;
    of.res.pitch2D.height = (size_t)rows;
    of.res.pitch2D.pitchInBytes = (size_t)pitch * sizeof(float);
    must((int)api.TexObjectCreate(&made->clamped, &of, &as, NULL), "clamped");
    of = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR};
    of.res.linear.devPtr = made->numbers + BEFORE * sizeof(int);
    of.res.linear.format = CU_AD_FORMAT_SIGNED_INT32;
    of.res.linear.numChannels = 1;
    of.res.linear.sizeInBytes = (size_t)entries * sizeof(int);
    must((int)api.TexObjectCreate(&made->table, &of, &as, NULL), "table");
}

static void unmake(struct made *made)
{
    api.TexObjectDestroy(made->image);
    api.TexObjectDestroy(made->clamped);
    api.TexObjectDestroy(made->table);
    api.TexObjectDestroy(made->volume);
    api.ArrayDestroy(made->flat);
    api.ArrayDestroy(made->deep);
    api.MemFree(made->pixels);
    api.MemFree(made->numbers);
}

/* -- the launch ----------------------------------------------------------- */

static void launch(CUfunction function, struct made *made)
{
    const size_t count = (size_t)(rows * cols);
    float *values = calloc(count, sizeof *values);
    CUdeviceptr out = memory_of(values, count * sizeof *values);
    int shift = 0;
    void *arguments[] = {&out, &made->image, &made->clamped, &made->table,
                         &made->volume, &rows, &cols, &entries, &shift};
    double sum = 0;

    must((int)api.LaunchKernel(function, (unsigned)(rows * cols + 63) / 64, 1,
                               1, 64, 1, 1, 0, NULL, arguments, NULL),
         "launch");
    must((int)api.MemcpyDtoH(values, out, count * sizeof *values), "copy");
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * (double)(i % 17);
    printf("sum %.3f\n", sum);
    free(values);
}

int main(int argc, char **argv)
{
    static char *binary;       /* as long as it is loaded */
    const char *symbol = "sample";
    struct made made;
    CUmodule module;
    CUfunction function;
    size_t size;

    if (argc == 3) {
        write_binary(argv[1], option, argv[2]);
        return 0;
    }
    if (argc < 4)
        return 2;
    rows = atoi(argv[2]);
    cols = atoi(argv[3]);
    pitch = (cols + 7) / 8 * 8;
    entries = cols + 3;
    open_driver();
    for (int k = 4; k < argc; k++)
        if (strncmp(argv[k], "_Z", 2) == 0)
            symbol = argv[k];
        else if (strcmp(argv[k], "steep") == 0)
            anisotropy = 16;
    binary = strstr(argv[1], ".cubin") != NULL ? read_all(argv[1], &size)
                                               : compile(argv[1], option, &size);
    must((int)api.ModuleLoadData(&module, binary), "load");
    must((int)api.ModuleGetFunction(&function, module, symbol), "kernel");
    make(&made);
    for (int k = 4; k < argc; k++) {
        if (strcmp(argv[k], "again") == 0) {
            unmake(&made);
            make(&made);
        }
        if (strcmp(argv[k], "gone") == 0)
            api.TexObjectDestroy(made.table);
    }
    launch(function, &made);
    return 0;
}
