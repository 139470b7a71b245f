/* SPDX-License-Identifier: MIT */
/*
 * driver: what applications ask of the driver and shmtune does not: libraries,
 * names and parameters of functions, what an address leads to, and whether a
 * stream is captured into a graph.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/cubin.h"
#include "tests/fake/cuda.h"

/* -- modules and libraries ------------------------------------------------ */

/* What is read stays, as what a program gives does here. */
CUresult fake_ModuleLoad(CUmodule *out, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&data, &size);
    int c;

    FAKE_ENTER("ModuleLoad");
    if (file == NULL || to == NULL)
        return CUDA_ERROR_FILE_NOT_FOUND;
    while ((c = getc(file)) != EOF)
        putc(c, to);
    fclose(file);
    fclose(to);
    return fake_ModuleLoadData(out, data);
}

/* A library is its module here, by another handle. */
static CUmodule module_of(CUlibrary library)
{
    return (CUmodule)(void *)((char *)(void *)library - 1);
}

CUresult fake_LibraryLoadData(CUlibrary *out, const void *code,
                              CUjit_option *options, void **values,
                              unsigned count, CUlibraryOption *more,
                              void **more_values, unsigned more_count)
{
    CUmodule module;
    CUresult result;

    (void)options;
    (void)values;
    (void)count;
    (void)more;
    (void)more_values;
    (void)more_count;
    FAKE_ENTER("LibraryLoadData");
    result = fake_ModuleLoadData(&module, code);
    if (result == CUDA_SUCCESS)
        *out = (CUlibrary)(void *)((char *)(void *)module + 1);
    return result;
}

CUresult fake_LibraryUnload(CUlibrary library)
{
    FAKE_ENTER("LibraryUnload");
    return fake_ModuleUnload(module_of(library));
}

CUresult fake_LibraryGetKernel(CUkernel *out, CUlibrary library,
                               const char *name)
{
    CUfunction kernel, function;
    CUresult result;

    FAKE_ENTER("LibraryGetKernel");
    result = fake_ModuleGetFunction(&kernel, module_of(library), name);
    if (result == CUDA_SUCCESS)
        result = fake_ModuleGetFunction(&function, module_of(library), name);
    if (result != CUDA_SUCCESS)
        return result;
    ((struct fake_function *)(void *)kernel)->plain = (void *)function;
    *out = (CUkernel)(void *)kernel;
    return CUDA_SUCCESS;
}

CUresult fake_LibraryGetModule(CUmodule *out, CUlibrary library)
{
    FAKE_ENTER("LibraryGetModule");
    *out = module_of(library);
    return CUDA_SUCCESS;
}

CUresult fake_KernelGetFunction(CUfunction *out, CUkernel kernel)
{
    const struct fake_function *const function = (const void *)kernel;

    FAKE_ENTER("KernelGetFunction");
    if (!fake_is_loaded(function)) {
        fprintf(stderr, "fake_cuda: a handle of what is unloaded\n");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *out = function->plain != NULL ? (CUfunction)(void *)function->plain
                                   : (CUfunction)(void *)kernel;
    return CUDA_SUCCESS;
}

CUresult fake_FuncGetName(const char **out, CUfunction handle)
{
    const struct fake_function *const function = (const void *)handle;

    FAKE_ENTER("FuncGetName");
    if (function->plain != NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    *out = function->name;
    return CUDA_SUCCESS;
}

CUresult fake_FuncGetModule(CUmodule *out, CUfunction handle)
{
    FAKE_ENTER("FuncGetModule");
    *out = (CUmodule)(void *)((const struct fake_function *)(
        const void *)handle)->module;
    return CUDA_SUCCESS;
}

/* The image is an ELF file of a megabyte at most. */
bool fake_parameter(CUfunction handle, size_t k, size_t *offset, size_t *size)
{
    const struct fake_function *function = (const void *)handle;
    struct shmt_cubin_params params;

    if (!shmt_cubin_read_params(fake_image(handle), 1 << 20, function->name,
                                &params) || k >= params.count)
        return false;
    *size = params.sizes[k];
    *offset = 0;
    for (size_t i = 0; i <= k; i++) {
        const size_t unit = params.sizes[i] % 8 == 0 ? 8 : 4;

        *offset = (*offset + unit - 1) / unit * unit +
                  (i < k ? params.sizes[i] : 0);
    }
    return true;
}

CUresult fake_FuncGetParamInfo(CUfunction handle, size_t k, size_t *offset,
                               size_t *size)
{
    FAKE_ENTER("FuncGetParamInfo");
    return fake_parameter(handle, k, offset, size) ? CUDA_SUCCESS
                                                   : CUDA_ERROR_INVALID_VALUE;
}

/* -- addresses ------------------------------------------------------------ */

/* Of memory that cuMemAlloc did not give, drivers may know nothing. */
CUresult fake_MemGetAddressRange(CUdeviceptr *base, size_t *size,
                                 CUdeviceptr address)
{
    struct fake_range range;

    FAKE_ENTER("MemGetAddressRange");
    return fake_memory_find(address, &range) &&
                   (range.kind == FAKE_DEVICE ||
                    getenv("FAKE_CUDA_RANGES") != NULL) &&
                   fake_memory_range(address, base, size)
               ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult fake_PointerGetAttribute(void *out, CUpointer_attribute which,
                                  CUdeviceptr address)
{
    struct fake_range range;

    FAKE_ENTER("PointerGetAttribute");
    if (!fake_memory_find(address, &range))
        return CUDA_ERROR_INVALID_VALUE;
    if (which == CU_POINTER_ATTRIBUTE_IS_MANAGED)
        *(unsigned *)out = range.kind == FAKE_MANAGED;
    else if (which == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        *(unsigned *)out = range.kind == FAKE_HOST ? CU_MEMORYTYPE_HOST
                                                   : CU_MEMORYTYPE_DEVICE;
    else if (which == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
        *(CUdeviceptr *)out = range.base;
    else if (which == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
        *(size_t *)out = range.size;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* -- streams -------------------------------------------------------------- */

CUresult fake_EventQuery(CUevent event)
{
    (void)event;
    FAKE_ENTER("EventQuery");
    return CUDA_SUCCESS;
}

CUresult fake_StreamQuery(CUstream stream)
{
    (void)stream;
    FAKE_ENTER("StreamQuery");
    return CUDA_SUCCESS;
}

CUresult fake_StreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out)
{
    (void)stream;
    FAKE_ENTER("StreamIsCapturing");
    *out = fake.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                          : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static _Thread_local CUstreamCaptureMode capture_mode;

CUresult fake_ThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    const CUstreamCaptureMode before = capture_mode;

    FAKE_ENTER("ThreadExchangeStreamCaptureMode");
    capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

void fake_stream_disturb(void)
{
    if (fake.capturing && capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        fprintf(stderr, "fake_cuda: the capture into a graph is disturbed\n");
}

/* -- what NVRTC asks ------------------------------------------------------ */

__attribute__((visibility("default"))) CUresult CUDAAPI
cuGetExportTable(const void **out, const CUuuid *id)
{
    (void)id;
    *out = NULL;
    return CUDA_ERROR_NOT_SUPPORTED;
}
