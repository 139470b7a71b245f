/* SPDX-License-Identifier: MIT */
/* memory: device memory, which is the host's, every use of it checked. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/cuda.h"

enum { ALLOCATIONS = 4096 };

struct allocation {
    char *memory;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation allocations[ALLOCATIONS];
static size_t used;        /* bytes */

void fake_memory_forget(void)
{
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < ALLOCATIONS; k++) {
        free(allocations[k].memory);
        allocations[k] = (struct allocation){0};
    }
    used = 0;
    pthread_mutex_unlock(&lock);
}

/* Memory that is really there: anything else is a defect of ours. */
static void *device(CUdeviceptr from, size_t size)
{
    char *at = (char *)(uintptr_t)from;
    bool found = false;

    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < ALLOCATIONS && !found; k++) {
        const struct allocation *one = &allocations[k];

        found = one->memory != NULL && at >= one->memory &&
                at + size <= one->memory + one->size;
    }
    pthread_mutex_unlock(&lock);
    if (found)
        return at;
    fprintf(stderr, "fake_cuda: %zu bytes at %p were never allocated\n", size,
            (void *)at);
    abort();
}

bool fake_memory_range(CUdeviceptr address, CUdeviceptr *base, size_t *size)
{
    const char *at = (const char *)(uintptr_t)address;
    bool found = false;

    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < ALLOCATIONS && !found; k++) {
        const struct allocation *one = &allocations[k];

        found = one->memory != NULL && at >= one->memory &&
                at < one->memory + one->size;
        if (found) {
            *base = (CUdeviceptr)(uintptr_t)one->memory;
            *size = one->size;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* The first that is of `memory`, NULL for a free one. */
static struct allocation *find(const void *memory)
{
    for (size_t k = 0; k < ALLOCATIONS; k++)
        if (allocations[k].memory == memory)
            return &allocations[k];
    return NULL;
}

static CUresult allocate(CUdeviceptr *out, size_t size)
{
    struct allocation *const one = find(NULL);

    if (one == NULL ||
        size > fake_number("FAKE_CUDA_MEMORY", (size_t)1 << 30) - used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    one->memory = aligned_alloc(256, (size + 255) / 256 * 256);
    if (one->memory == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(one->memory, 0xcd, size);
    one->size = size;
    used += size;
    *out = (CUdeviceptr)(uintptr_t)one->memory;
    return CUDA_SUCCESS;
}

CUresult fake_MemAlloc(CUdeviceptr *out, size_t size)
{
    CUresult result;

    FAKE_ENTER("MemAlloc");
    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    result = allocate(out, size);
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult fake_MemFree(CUdeviceptr address)
{
    struct allocation *one;

    FAKE_ENTER("MemFree");
    pthread_mutex_lock(&lock);
    one = address == 0 ? NULL : find((const void *)(uintptr_t)address);
    if (one != NULL) {
        used -= one->size;
        free(one->memory);
        *one = (struct allocation){0};
    }
    pthread_mutex_unlock(&lock);
    return one == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult fake_MemGetInfo(size_t *available, size_t *total)
{
    *total = fake_number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    pthread_mutex_lock(&lock);
    *available = *total - used;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

CUresult fake_MemcpyHtoD(CUdeviceptr to, const void *from, size_t size)
{
    FAKE_ENTER("MemcpyHtoD");
    memcpy(device(to, size), from, size);
    return CUDA_SUCCESS;
}

CUresult fake_MemcpyDtoH(void *to, CUdeviceptr from, size_t size)
{
    FAKE_ENTER("MemcpyDtoH");
    memcpy(to, device(from, size), size);
    return CUDA_SUCCESS;
}

CUresult fake_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size,
                              CUstream stream)
{
    (void)stream;
    return fake_MemcpyDtoH(to, from, size);
}

CUresult fake_MemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from,
                              size_t size, CUstream stream)
{
    (void)stream;
    FAKE_ENTER("MemcpyDtoDAsync");
    memcpy(device(to, size), device(from, size), size);
    return CUDA_SUCCESS;
}

/* From the device or the host: which of the two is not checked. */
CUresult fake_MemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size,
                          CUstream stream)
{
    (void)stream;
    FAKE_ENTER("MemcpyAsync");
    memcpy(device(to, size), (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}

CUresult fake_MemsetD8Async(CUdeviceptr to, unsigned char value,
                            size_t count, CUstream stream)
{
    (void)stream;
    FAKE_ENTER("MemsetD8Async");
    memset(device(to, count), value, count);
    return CUDA_SUCCESS;
}

CUresult fake_MemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                             CUstream stream)
{
    uint32_t *at = device(to, count * sizeof value);

    (void)stream;
    FAKE_ENTER("MemsetD32Async");
    if (to % 4 != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < count; k++)
        at[k] = value;
    return CUDA_SUCCESS;
}
