/* SPDX-License-Identifier: MIT */
/*
 * driver: the functions of the driver that the library calls itself, found in
 * the driver that the application has loaded.
 */
#include "capture/library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct shmt_capture_driver driver;
static const char *missing;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static void find_all(void)
{
/* The name that the header's macros make of it; an older driver may have the
 * plain one alone. */
#define FIND(name)                                                           \
    shmt_capture_symbol(TEXT(cu##name), &driver.name);                       \
    if (driver.name == NULL)                                                 \
        shmt_capture_symbol("cu" #name, &driver.name);                       \
    if (driver.name == NULL)                                                 \
        missing = "cu" #name;
    SHMT_CAPTURE_DRIVER_LIST(FIND)
#undef FIND
    shmt_capture_symbol("cuGraphNodeGetDependencies",
                        &driver.GraphNodeGetDependencies);
    driver.graphs = driver.GraphNodeGetDependencies != NULL;
#define FIND(name)                                                           \
    shmt_capture_symbol(TEXT(cu##name), &driver.name);                       \
    driver.graphs = driver.graphs && driver.name != NULL;
    SHMT_CAPTURE_GRAPH_LIST(FIND)
#undef FIND
    shmt_capture_symbol("cuKernelGetFunction", &driver.KernelGetFunction);
    shmt_capture_symbol("cuLibraryGetModule", &driver.LibraryGetModule);
    shmt_capture_symbol("cuFuncGetName", &driver.FuncGetName);
    shmt_capture_symbol("cuKernelGetName", &driver.KernelGetName);
    shmt_capture_symbol("cuKernelGetLibrary", &driver.KernelGetLibrary);
    shmt_capture_symbol("cuFuncGetModule", &driver.FuncGetModule);
    shmt_capture_symbol("cuFuncGetParamInfo", &driver.FuncGetParamInfo);
    if (missing != NULL)
        shmt_capture_note("the driver has no %s: nothing is captured; update "
                          "the driver", missing);
}

const struct shmt_capture_driver *shmt_capture_driver(void)
{
    pthread_once(&once, find_all);
    return missing == NULL ? &driver : NULL;
}

const char *shmt_capture_error(const struct shmt_capture_driver *table,
                               CUresult code, char room[32])
{
    const char *name = NULL;

    if (table->GetErrorName(code, &name) == CUDA_SUCCESS && name != NULL)
        return name;
    snprintf(room, 32, "error %d of CUDA", (int)code);
    return room;
}

CUresult shmt_capture_recording(const struct shmt_capture_driver *table,
                                CUstream stream, bool *recorded)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = table->StreamIsCapturing(stream, &status);

    *recorded = result == CUDA_SUCCESS &&
                status != CU_STREAM_CAPTURE_STATUS_NONE;
    return result;
}

bool shmt_capture_in_graph(const struct shmt_capture_driver *table,
                           CUstream stream)
{
    bool recorded;

    return shmt_capture_recording(table, stream, &recorded) != CUDA_SUCCESS ||
           recorded;
}

/* The stream that was waited for in vain last, if there is one: it may stay so
 * for as long as many launches go into it. */
static _Atomic(CUstream) stuck;
static atomic_bool is_stuck;

static double patience_s(CUstream stream)
{
    return atomic_load(&is_stuck) && atomic_load(&stuck) == stream ? 0.01 : 10;
}

/* By an event, since the stream may itself wait for others. */
CUresult shmt_capture_await(const struct shmt_capture_driver *table,
                            CUstream stream)
{
    const struct timespec pause = {0, 50000};
    const double until = shmt_clock_s() + patience_s(stream);
    CUevent event;
    CUresult result = table->EventCreate(&event, CU_EVENT_DISABLE_TIMING);

    if (result != CUDA_SUCCESS)
        return result;
    result = table->EventRecord(event, stream);
    if (result == CUDA_SUCCESS)
        while ((result = table->EventQuery(event)) == CUDA_ERROR_NOT_READY &&
               shmt_clock_s() < until)
            nanosleep(&pause, NULL);
    table->EventDestroy(event);
    if (result == CUDA_ERROR_NOT_READY)
        atomic_store(&stuck, stream);
    if (result == CUDA_ERROR_NOT_READY || atomic_load(&stuck) == stream)
        atomic_store(&is_stuck, result == CUDA_ERROR_NOT_READY);
    return result;
}
