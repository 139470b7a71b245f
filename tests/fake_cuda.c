/* SPDX-License-Identifier: MIT */
/*
 * fake_cuda: see fake_cuda.h.
 */
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/driver.h"

enum { MOST = 4096, NAME = 256 };

struct allocation {
    char *memory;
    size_t size;
};

/* Never freed: a broken context's are not given back. */
struct fake_event {
    bool used;
    double us;
};

static struct {
    struct allocation allocations[MOST];
    struct fake_function *functions[MOST];
    struct fake_event events[MOST];
    size_t function_count;
    size_t used;           /* bytes of device memory */
    double us;             /* the device's clock */
    CUresult stuck;
    bool profiled;         /* between ProfilerStart and ProfilerStop */
    CUcontext current;
} fake;

static size_t number(const char *variable, size_t fallback)
{
    const char *value = getenv(variable);

    return value != NULL ? strtoull(value, NULL, 0) : fallback;
}

/* FAKE_CUDA_FAIL. */
static CUresult planned(const char *name)
{
    static int calls;
    static char last[96];
    const char *fail = getenv("FAKE_CUDA_FAIL");
    const size_t length = strlen(name);
    char *end;
    long code, which;

    if (fail != NULL && strncmp(fail, name, length) == 0 &&
        fail[length] == '=') {
        if (strcmp(fail, last) != 0)
            calls = 0;
        snprintf(last, sizeof last, "%s", fail);
        code = strtol(fail + length + 1, &end, 10);
        which = *end == ',' ? strtol(end + 1, NULL, 10) : 0;
        calls++;
        if (which == 0 || which == calls)
            return (CUresult)code;
    }
    return CUDA_SUCCESS;
}

#define ENTER_DEVICE(name)                                                   \
    do {                                                                     \
        const CUresult planned_ = planned(name);                             \
        if (planned_ != CUDA_SUCCESS)                                        \
            return planned_;                                                 \
    } while (0)

/* In a context, an error that broke it comes again and again. */
#define ENTER(name)                                                          \
    do {                                                                     \
        ENTER_DEVICE(name);                                                  \
        if (fake.stuck != CUDA_SUCCESS)                                      \
            return fake.stuck;                                               \
    } while (0)

/* Memory that is really there: anything else is a defect of ours. */
static void *device(CUdeviceptr from, size_t size)
{
    char *at = (char *)(uintptr_t)from;

    for (size_t k = 0; k < MOST; k++) {
        const struct allocation *one = &fake.allocations[k];

        if (one->memory != NULL && at >= one->memory &&
            at + size <= one->memory + one->size)
            return at;
    }
    fprintf(stderr, "fake_cuda: %zu bytes at %p were never allocated\n", size,
            (void *)at);
    abort();
}

/* -- devices -------------------------------------------------------------- */

static CUresult do_Init(unsigned flags)
{
    (void)flags;
    ENTER_DEVICE("Init");
    return number("FAKE_CUDA_DEVICES", 1) == 0 ? CUDA_ERROR_NO_DEVICE
                                               : CUDA_SUCCESS;
}

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE",
     "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED",
     "unspecified launch failure"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
};

static CUresult do_GetErrorName(CUresult code, const char **out)
{
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++)
        if (errors[k].code == code) {
            *out = errors[k].name;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult do_GetErrorString(CUresult code, const char **out)
{
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++)
        if (errors[k].code == code) {
            *out = errors[k].text;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult do_DeviceGetCount(int *out)
{
    ENTER_DEVICE("DeviceGetCount");
    *out = (int)number("FAKE_CUDA_DEVICES", 1);
    return CUDA_SUCCESS;
}

static CUresult do_DeviceGet(CUdevice *out, int ordinal)
{
    ENTER_DEVICE("DeviceGet");
    *out = ordinal;
    return CUDA_SUCCESS;
}

static CUresult do_DeviceGetName(char *out, int size, CUdevice ordinal)
{
    snprintf(out, (size_t)size, "Fake device %d", ordinal);
    return CUDA_SUCCESS;
}

static CUresult do_DeviceGetUuid(CUuuid *out, CUdevice ordinal)
{
    memset(out->bytes, 0xab, sizeof out->bytes);
    out->bytes[15] = (char)ordinal;
    return CUDA_SUCCESS;
}

/* An H100's, with a small cache so that flushing it is quick. */
static CUresult do_DeviceGetAttribute(int *out, CUdevice_attribute which,
                                      CUdevice ordinal)
{
    static const struct {
        CUdevice_attribute which;
        int value;
    } table[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 4096},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
    };

    (void)ordinal;
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (table[k].which == which) {
            *out = table[k].value;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult do_DeviceTotalMem(size_t *out, CUdevice ordinal)
{
    (void)ordinal;
    *out = number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    return CUDA_SUCCESS;
}

/* A new context: what an earlier one suffered is forgotten, as if by a new
 * process. */
static CUresult do_DevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal)
{
    (void)ordinal;
    fake.stuck = CUDA_SUCCESS;
    ENTER_DEVICE("DevicePrimaryCtxRetain");
    for (size_t k = 0; k < MOST; k++) {
        free(fake.allocations[k].memory);
        fake.allocations[k] = (struct allocation){0};
    }
    fake.used = 0;
    *out = (CUcontext)(void *)&fake;
    return CUDA_SUCCESS;
}

static CUresult do_DevicePrimaryCtxRelease(CUdevice ordinal)
{
    (void)ordinal;
    return CUDA_SUCCESS;
}

static CUresult do_CtxSetCurrent(CUcontext context)
{
    ENTER("CtxSetCurrent");
    fake.current = context;
    return CUDA_SUCCESS;
}

static CUresult do_CtxGetCurrent(CUcontext *out)
{
    *out = fake.current;
    return CUDA_SUCCESS;
}

static CUresult do_CtxGetDevice(CUdevice *out)
{
    *out = 0;
    return fake.current != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult do_CtxSynchronize(void)
{
    ENTER("CtxSynchronize");
    return CUDA_SUCCESS;
}

/* -- streams and events --------------------------------------------------- */

static CUresult do_StreamCreate(CUstream *out, unsigned flags)
{
    (void)flags;
    ENTER("StreamCreate");
    *out = (CUstream)(void *)&fake;
    return CUDA_SUCCESS;
}

static CUresult do_StreamDestroy(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult do_StreamSynchronize(CUstream stream)
{
    (void)stream;
    ENTER("StreamSynchronize");
    return CUDA_SUCCESS;
}

static CUresult do_EventCreate(CUevent *out, unsigned flags)
{
    (void)flags;
    ENTER("EventCreate");
    for (size_t k = 0; k < MOST; k++)
        if (!fake.events[k].used) {
            fake.events[k].used = true;
            *out = (CUevent)(void *)&fake.events[k];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult do_EventDestroy(CUevent event)
{
    ((struct fake_event *)(void *)event)->used = false;
    return CUDA_SUCCESS;
}

static CUresult do_EventRecord(CUevent event, CUstream stream)
{
    (void)stream;
    ENTER("EventRecord");
    ((struct fake_event *)(void *)event)->us = fake.us;
    return CUDA_SUCCESS;
}

static CUresult do_EventSynchronize(CUevent event)
{
    (void)event;
    ENTER("EventSynchronize");
    return CUDA_SUCCESS;
}

static CUresult do_EventElapsedTime(float *ms, CUevent from, CUevent to)
{
    *ms = (float)((((struct fake_event *)(void *)to)->us -
                   ((struct fake_event *)(void *)from)->us) / 1e3);
    return CUDA_SUCCESS;
}

/* -- memory --------------------------------------------------------------- */

static CUresult do_MemAlloc(CUdeviceptr *out, size_t size)
{
    ENTER("MemAlloc");
    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (size > number("FAKE_CUDA_MEMORY", (size_t)1 << 30) - fake.used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t k = 0; k < MOST; k++) {
        struct allocation *one = &fake.allocations[k];

        if (one->memory != NULL)
            continue;
        one->memory = aligned_alloc(256, (size + 255) / 256 * 256);
        if (one->memory == NULL)
            break;
        memset(one->memory, 0xcd, size);
        one->size = size;
        fake.used += size;
        *out = (CUdeviceptr)(uintptr_t)one->memory;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult do_MemFree(CUdeviceptr address)
{
    ENTER("MemFree");
    for (size_t k = 0; k < MOST; k++) {
        struct allocation *one = &fake.allocations[k];

        if (one->memory == NULL ||
            (CUdeviceptr)(uintptr_t)one->memory != address)
            continue;
        fake.used -= one->size;
        free(one->memory);
        *one = (struct allocation){0};
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult do_MemGetInfo(size_t *available, size_t *total)
{
    *total = number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    *available = *total - fake.used;
    return CUDA_SUCCESS;
}

static CUresult do_MemcpyHtoD(CUdeviceptr to, const void *from, size_t size)
{
    ENTER("MemcpyHtoD");
    memcpy(device(to, size), from, size);
    return CUDA_SUCCESS;
}

static CUresult do_MemcpyDtoH(void *to, CUdeviceptr from, size_t size)
{
    ENTER("MemcpyDtoH");
    memcpy(to, device(from, size), size);
    return CUDA_SUCCESS;
}

static CUresult do_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size,
                                   CUstream stream)
{
    (void)stream;
    return do_MemcpyDtoH(to, from, size);
}

static CUresult do_MemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from,
                                   size_t size, CUstream stream)
{
    (void)stream;
    ENTER("MemcpyDtoDAsync");
    memcpy(device(to, size), device(from, size), size);
    return CUDA_SUCCESS;
}

static CUresult do_MemsetD8Async(CUdeviceptr to, unsigned char value,
                                 size_t count, CUstream stream)
{
    (void)stream;
    ENTER("MemsetD8Async");
    memset(device(to, count), value, count);
    return CUDA_SUCCESS;
}

static CUresult do_MemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                                  CUstream stream)
{
    uint32_t *at = device(to, count * sizeof value);

    (void)stream;
    ENTER("MemsetD32Async");
    if (to % 4 != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < count; k++)
        at[k] = value;
    return CUDA_SUCCESS;
}

/* -- modules and launches ------------------------------------------------- */

static CUresult do_ModuleLoadData(CUmodule *out, const void *image)
{
    ENTER("ModuleLoadData");
    if (memcmp(image, "\177ELF", 4) != 0)
        return CUDA_ERROR_INVALID_IMAGE;
    *out = (CUmodule)(uintptr_t)image;
    return CUDA_SUCCESS;
}

static CUresult do_ModuleUnload(CUmodule module)
{
    (void)module;
    ENTER("ModuleUnload");
    return CUDA_SUCCESS;
}

/* Functions are kept for ever, as their names are few: a name and what the
 * image says of it. */
static CUresult do_ModuleGetFunction(CUfunction *out, CUmodule module,
                                     const char *name)
{
    struct fake_function found = {0}, *kept;
    char *copy;

    ENTER("ModuleGetFunction");
    if (!fake_image_find((const void *)(uintptr_t)module, name, &found))
        return CUDA_ERROR_NOT_FOUND;
    if (fake.function_count == MOST)
        return CUDA_ERROR_OUT_OF_MEMORY;
    kept = malloc(sizeof *kept);
    copy = malloc(strlen(name) + 1);
    if (kept == NULL || copy == NULL) {
        free(kept);
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    strcpy(copy, name);
    *kept = found;
    kept->name = copy;
    fake.functions[fake.function_count++] = kept;
    *out = (CUfunction)(void *)kept;
    return CUDA_SUCCESS;
}

static CUresult do_FuncGetAttribute(int *out, CUfunction_attribute which,
                                    CUfunction handle)
{
    const struct fake_function *function = (const void *)handle;

    ENTER("FuncGetAttribute");
    switch (which) {
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *out = function->registers; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *out = function->shared_static;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *out = 1024; break;
    default: *out = 0;
    }
    return CUDA_SUCCESS;
}

static CUresult do_FuncSetAttribute(CUfunction handle,
                                    CUfunction_attribute which, int value)
{
    const struct fake_function *function = (const void *)handle;

    ENTER("FuncSetAttribute");
    if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
        value > 232448 - function->shared_static)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult do_OccupancyMaxActiveBlocksPerMultiprocessor(
    int *out, CUfunction handle, int threads, size_t dynamic)
{
    const struct fake_function *function = (const void *)handle;
    const int shared = 233472 / (1024 + function->shared_static +
                                 (int)dynamic);
    const int warps = 64 / ((threads + 31) / 32);

    ENTER("OccupancyMaxActiveBlocksPerMultiprocessor");
    *out = warps < 32 ? warps : 32;
    *out = shared < *out ? shared : *out;
    return CUDA_SUCCESS;
}

/* A profiler sees what is launched between the two. */
static CUresult do_ProfilerStart(void)
{
    ENTER("ProfilerStart");
    fake.profiled = true;
    return CUDA_SUCCESS;
}

static CUresult do_ProfilerStop(void)
{
    ENTER("ProfilerStop");
    fake.profiled = false;
    return CUDA_SUCCESS;
}

static void note_launch(const struct fake_launch *launch)
{
    const char *path = getenv("FAKE_CUDA_PROFILE");
    FILE *file = fake.profiled && path != NULL ? fopen(path, "a") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "%s\n", launch->function->name);
    fclose(file);
}

static CUresult run(struct fake_launch *launch)
{
    ENTER("LaunchKernel");
    if (launch->threads == 0 || launch->threads > 1024 || launch->grid == 0)
        return CUDA_ERROR_INVALID_VALUE;
    note_launch(launch);
    if (!fake_kernel_run(launch))
        return CUDA_ERROR_NOT_FOUND;
    fake.us += launch->cost_us;
    fake.stuck = launch->stuck;
    return CUDA_SUCCESS;
}

static CUresult do_LaunchKernel(CUfunction handle, unsigned gx, unsigned gy,
                                unsigned gz, unsigned bx, unsigned by,
                                unsigned bz, unsigned shared, CUstream stream,
                                void **arguments, void **extra)
{
    struct fake_launch launch = {
        .function = (const void *)handle, .grid = gx * gy * gz,
        .threads = bx * by * bz, .arguments = arguments};

    (void)shared;
    (void)stream;
    (void)extra;
    return run(&launch);
}

static CUresult do_LaunchKernelEx(const CUlaunchConfig *config,
                                  CUfunction handle, void **arguments,
                                  void **extra)
{
    struct fake_launch launch = {
        .function = (const void *)handle,
        .grid = config->gridDimX * config->gridDimY * config->gridDimZ,
        .threads = config->blockDimX * config->blockDimY * config->blockDimZ,
        .arguments = arguments};

    (void)extra;
    return run(&launch);
}

/* -- the way in ----------------------------------------------------------- */

static const struct {
    const char *name;
    void (*function)(void);
} table[] = {
#define ROW(name) {"cu" #name, (void (*)(void))do_##name},
    SHMT_DRIVER_LIST(ROW)
#undef ROW
};

CUresult CUDAAPI cuDriverGetVersion(int *out)
{
    *out = (int)number("FAKE_CUDA_VERSION", 13000);
    return CUDA_SUCCESS;
}

#undef cuGetProcAddress
CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **out, int version,
                                     cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *found)
{
    const char *missing = getenv("FAKE_CUDA_MISSING");

    (void)version;
    (void)flags;
    *found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (missing != NULL && strcmp(missing, name) == 0)
        return CUDA_ERROR_NOT_FOUND;
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (strcmp(table[k].name, name) == 0) {
            memcpy(out, &table[k].function, sizeof *out);
            *found = CU_GET_PROC_ADDRESS_SUCCESS;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}
