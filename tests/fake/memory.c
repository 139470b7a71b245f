/* SPDX-License-Identifier: MIT */
/* memory: device memory, which is the host's, every use of it checked. */
#define _GNU_SOURCE   /* MAP_FIXED_NOREPLACE, memfd_create */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fake/cuda.h"

enum { ALLOCATIONS = 4096 };

struct allocation {
    char *memory;
    size_t size;
    bool mapped;           /* by mmap, and not by malloc */
    enum fake_kind kind;
    char *host;            /* the same memory at the host's address of it */
    bool registered;       /* it is the program's */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation allocations[ALLOCATIONS];
static size_t used;        /* bytes */

/* Its place is free then. */
static void drop(struct allocation *one)
{
    if (one->host != NULL && one->host != one->memory)
        munmap(one->host, one->size);
    if (one->mapped)
        munmap(one->memory, one->size);
    else if (!one->registered)
        free(one->memory);
    *one = (struct allocation){0};
}

void fake_memory_forget(void)
{
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < ALLOCATIONS; k++)
        drop(&allocations[k]);
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

bool fake_memory_find(CUdeviceptr address, struct fake_range *out)
{
    const char *at = (const char *)(uintptr_t)address;
    bool found = false;

    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < ALLOCATIONS && !found; k++) {
        const struct allocation *one = &allocations[k];

        found = one->memory != NULL &&
                ((at >= one->memory && at < one->memory + one->size) ||
                 (one->host != NULL && at >= one->host &&
                  at < one->host + one->size));
        if (found)
            *out = (struct fake_range){(CUdeviceptr)(uintptr_t)one->memory,
                                       one->size, one->kind};
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool fake_memory_range(CUdeviceptr address, CUdeviceptr *base, size_t *size)
{
    struct fake_range range;

    if (!fake_memory_find(address, &range) ||
        address - range.base >= range.size)
        return false;
    *base = range.base;
    *size = range.size;
    return true;
}

/* The first that is of `memory`, NULL for a free one. */
static struct allocation *find(const void *memory)
{
    for (size_t k = 0; k < ALLOCATIONS; k++)
        if (allocations[k].memory == memory)
            return &allocations[k];
    return NULL;
}

enum { PAGE = 4096 };

/* At the first place from `base` on where nothing is; of a file, or -1. */
static char *map_from(size_t base, size_t size, int file)
{
    const int way = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;

    for (;; base += PAGE) {
        char *const at = mmap((void *)(uintptr_t)base, size,
                              PROT_READ | PROT_WRITE,
                              way | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file,
                              0);

        if (at != MAP_FAILED)
            return at;
    }
}

static CUresult allocate(CUdeviceptr *out, size_t size, enum fake_kind kind)
{
    const size_t base = fake_number("FAKE_CUDA_BASE", 0);
    struct allocation *const one = find(NULL);

    if (one == NULL ||
        size > fake_number("FAKE_CUDA_MEMORY", (size_t)1 << 30) - used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    one->mapped = base != 0;
    one->memory = base != 0 ? map_from(base, size, -1)
                            : aligned_alloc(256, (size + 255) / 256 * 256);
    if (one->memory == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(one->memory, 0xcd, size);
    one->size = size;
    one->kind = kind;
    if (kind != FAKE_DEVICE)
        one->host = one->memory;
    used += size;
    *out = (CUdeviceptr)(uintptr_t)one->memory;
    return CUDA_SUCCESS;
}

static CUresult new_memory(CUdeviceptr *out, size_t size, enum fake_kind kind)
{
    CUresult result;

    pthread_mutex_lock(&lock);
    result = allocate(out, size, kind);
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult fake_memory_new(CUdeviceptr *out, size_t size)
{
    return new_memory(out, size, FAKE_DEVICE);
}

CUresult fake_MemAlloc(CUdeviceptr *out, size_t size)
{
    FAKE_ENTER("MemAlloc");
    return size == 0 ? CUDA_ERROR_INVALID_VALUE : fake_memory_new(out, size);
}

CUresult fake_MemFree(CUdeviceptr address)
{
    struct allocation *one;

    FAKE_ENTER("MemFree");
    pthread_mutex_lock(&lock);
    one = address == 0 ? NULL : find((const void *)(uintptr_t)address);
    if (one != NULL && one->kind == FAKE_HOST)
        one = NULL;
    if (one != NULL) {
        used -= one->size;
        drop(one);
    }
    pthread_mutex_unlock(&lock);
    return one == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* -- memory that the host reaches, too ------------------------------------ */

CUresult fake_MemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags)
{
    FAKE_ENTER("MemAllocManaged");
    return size == 0 || flags != CU_MEM_ATTACH_GLOBAL
               ? CUDA_ERROR_INVALID_VALUE
               : new_memory(out, size, FAKE_MANAGED);
}

/* Of memory that combines writes the host and the device have addresses of
 * their own. */
static CUresult new_combined(void **out, size_t size)
{
    const int file = memfd_create("fake_cuda", MFD_CLOEXEC);
    const size_t base = fake_number("FAKE_CUDA_BASE", (size_t)3 << 44);
    struct allocation *one;

    if (file < 0 || ftruncate(file, (off_t)size) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    one = find(NULL);
    if (one != NULL) {
        *one = (struct allocation){
            .memory = map_from(base, size, file), .size = size,
            .mapped = true, .kind = FAKE_HOST,
            .host = map_from(base + ((size_t)1 << 40), size, file)};
        *out = one->host;
        used += size;
    }
    pthread_mutex_unlock(&lock);
    close(file);
    return one == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult fake_MemHostAlloc(void **out, size_t size, unsigned flags)
{
    CUdeviceptr address = 0;
    CUresult result;

    FAKE_ENTER("MemHostAlloc");
    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_MEMHOSTALLOC_WRITECOMBINED) != 0)
        return new_combined(out, size);
    result = new_memory(&address, size, FAKE_HOST);
    *out = (void *)(uintptr_t)address;
    return result;
}

CUresult fake_MemHostRegister(void *memory, size_t size, unsigned flags)
{
    struct allocation *one;

    (void)flags;
    FAKE_ENTER("MemHostRegister");
    pthread_mutex_lock(&lock);
    one = find(NULL);
    if (one != NULL)
        *one = (struct allocation){.memory = memory, .size = size,
                                   .kind = FAKE_HOST, .host = memory,
                                   .registered = true};
    pthread_mutex_unlock(&lock);
    return one == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static struct allocation *find_host(const void *host, bool registered)
{
    for (size_t k = 0; host != NULL && k < ALLOCATIONS; k++)
        if (allocations[k].kind == FAKE_HOST && allocations[k].host == host &&
            allocations[k].registered == registered)
            return &allocations[k];
    return NULL;
}

static CUresult drop_host(const void *host, bool registered)
{
    struct allocation *one;

    pthread_mutex_lock(&lock);
    one = find_host(host, registered);
    if (one != NULL) {
        used -= registered ? 0 : one->size;
        drop(one);
    }
    pthread_mutex_unlock(&lock);
    return one == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult fake_MemHostUnregister(void *host)
{
    FAKE_ENTER("MemHostUnregister");
    return drop_host(host, true);
}

CUresult fake_MemFreeHost(void *host)
{
    FAKE_ENTER("MemFreeHost");
    return drop_host(host, false);
}

CUresult fake_MemHostGetDevicePointer(CUdeviceptr *out, void *host,
                                      unsigned flags)
{
    struct fake_range range;

    FAKE_ENTER("MemHostGetDevicePointer");
    if (flags != 0 ||
        !fake_memory_find((CUdeviceptr)(uintptr_t)host, &range) ||
        range.kind != FAKE_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    *out = range.base;
    return CUDA_SUCCESS;
}

/* -- copies --------------------------------------------------------------- */

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

/* Not of the host's own; and not of managed memory of another stream, where a
 * device has it for one alone. */
CUresult fake_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size,
                              CUstream stream)
{
    struct fake_range range;

    if (fake_memory_find(from, &range) &&
        (range.kind == FAKE_HOST ||
         (range.kind == FAKE_MANAGED && getenv("FAKE_CUDA_ATTACHED") != NULL &&
          !fake_stream_is_first(stream))))
        return CUDA_ERROR_INVALID_VALUE;
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

/* Between the device and the host, or on the device: one of the two is the
 * device's. */
CUresult fake_MemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size,
                          CUstream stream)
{
    CUdeviceptr base;
    size_t whole;
    const bool there = fake_memory_range(from, &base, &whole);

    (void)stream;
    FAKE_ENTER("MemcpyAsync");
    memcpy(there && !fake_memory_range(to, &base, &whole)
               ? (void *)(uintptr_t)to : device(to, size),
           there ? device(from, size) : (const void *)(uintptr_t)from, size);
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
