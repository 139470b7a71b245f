/* SPDX-License-Identifier: MIT */
/*
 * cuda: see fake_cuda.h; how a program gets at the functions, and which
 * of them are to fail.
 */
#include "tests/fake/cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct fake_state fake;

size_t fake_number(const char *variable, size_t fallback)
{
    const char *value = getenv(variable);

    return value != NULL ? strtoull(value, NULL, 0) : fallback;
}

CUresult fake_planned(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int calls;
    static char last[96];
    const char *fail = getenv("FAKE_CUDA_FAIL");
    bool planned;
    const size_t length = strlen(name);
    char *end;
    long code, which;

    if (fail != NULL && strncmp(fail, name, length) == 0 &&
        fail[length] == '=') {
        code = strtol(fail + length + 1, &end, 10);
        which = *end == ',' ? strtol(end + 1, NULL, 10) : 0;
        pthread_mutex_lock(&lock);
        if (strcmp(fail, last) != 0)
            calls = 0;
        snprintf(last, sizeof last, "%s", fail);
        calls++;
        planned = which == 0 || which == calls;
        pthread_mutex_unlock(&lock);
        if (planned)
            return (CUresult)code;
    }
    return CUDA_SUCCESS;
}

/* The driver is there no more when destructors are called. */
static void leave(void)
{
    fake.stuck = CUDA_ERROR_DEINITIALIZED;
}

CUresult fake_Init(unsigned flags)
{
    static atomic_bool entered;

    (void)flags;
    FAKE_ENTER_DEVICE("Init");
    if (!atomic_exchange(&entered, true))
        (void)atexit(leave);
    return fake_number("FAKE_CUDA_DEVICES", 1) == 0 ? CUDA_ERROR_NO_DEVICE
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

CUresult fake_GetErrorName(CUresult code, const char **out)
{
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++)
        if (errors[k].code == code) {
            *out = errors[k].name;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_GetErrorString(CUresult code, const char **out)
{
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++)
        if (errors[k].code == code) {
            *out = errors[k].text;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

/* -- the way in ----------------------------------------------------------- */

static const struct {
    const char *name;
    void (*function)(void);
} table[] = {
#define ROW(name) {"cu" #name, (void (*)(void))fake_##name},
    SHMT_DRIVER_LIST(ROW)
    FAKE_CUDA_MORE_LIST(ROW)
#undef ROW
};

/* Nobody calls it. */
static CUresult too_old(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* What programs get that ask for an older version than this. */
static const struct {
    const char *name;
    int below;
    void (*function)(void);
} older[] = {
    {"cuGraphInstantiate", 11000, (void (*)(void))too_old},
    /* The newer one is no other version of it, but has a name of its own. */
    {"cuGraphInstantiate", INT_MAX, (void (*)(void))fake_GraphInstantiate_v1},
    {"cuGraphInstantiateWithFlags", INT_MAX,
     (void (*)(void))fake_GraphInstantiate},
#define ROW(name) {"cu" #name, 12000, (void (*)(void))fake_##name##_v1},
    ROW(GraphNodeGetDependencies) ROW(GraphExecUpdate)
    ROW(GraphExecKernelNodeSetParams)
#undef ROW
};

CUresult CUDAAPI cuDriverGetVersion(int *out)
{
    *out = (int)fake_number("FAKE_CUDA_VERSION", 13000);
    return CUDA_SUCCESS;
}

#undef cuGetProcAddress
CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **out, int version,
                                     cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *found)
{
    const char *missing = getenv("FAKE_CUDA_MISSING");

    (void)flags;
    *found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (missing != NULL && strcmp(missing, name) == 0)
        return CUDA_ERROR_NOT_FOUND;
    for (size_t k = 0; k < sizeof older / sizeof older[0]; k++)
        if (version < older[k].below && strcmp(older[k].name, name) == 0) {
            memcpy(out, &older[k].function, sizeof *out);
            *found = CU_GET_PROC_ADDRESS_SUCCESS;
            return CUDA_SUCCESS;
        }
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (strcmp(table[k].name, name) == 0) {
            memcpy(out, &table[k].function, sizeof *out);
            *found = CU_GET_PROC_ADDRESS_SUCCESS;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}
