/* SPDX-License-Identifier: MIT */
/*
 * driver: the CUDA driver, opened at run time, as a table of functions.  A
 * name is added to the list below and nowhere else.  The one user of dlopen
 * beside nvrtc.c.
 *
 * cuda.h turns many names into macros of a versioned symbol: that symbol is
 * what is looked up, so that function and declaration agree.  Only functions
 * whose arguments are the same in CUDA 12 and 13 stand in the list, so that
 * what is built with one runs on the driver of the other.
 */
#ifndef SHMT_GPU_DRIVER_H
#define SHMT_GPU_DRIVER_H

#include <stdbool.h>

#include <cuda.h>

#include "base/base.h"

#define SHMT_DRIVER_LIST(X)                                                  \
    X(Init)                                                                  \
    X(GetErrorName)                                                          \
    X(GetErrorString)                                                        \
    X(DeviceGetCount)                                                        \
    X(DeviceGet)                                                             \
    X(DeviceGetName)                                                         \
    X(DeviceGetUuid)                                                         \
    X(DeviceGetAttribute)                                                    \
    X(DeviceTotalMem)                                                        \
    X(DevicePrimaryCtxRetain)                                                \
    X(DevicePrimaryCtxRelease)                                               \
    X(CtxSetCurrent)                                                         \
    X(CtxGetCurrent)                                                         \
    X(CtxGetDevice)                                                          \
    X(CtxSynchronize)                                                        \
    X(StreamCreate)                                                          \
    X(StreamDestroy)                                                         \
    X(StreamSynchronize)                                                     \
    X(EventCreate)                                                           \
    X(EventDestroy)                                                          \
    X(EventRecord)                                                           \
    X(EventSynchronize)                                                      \
    X(EventElapsedTime)                                                      \
    X(MemAlloc)                                                              \
    X(MemFree)                                                               \
    X(MemGetInfo)                                                            \
    X(MemcpyAsync)                                                           \
    X(MemcpyHtoD)                                                            \
    X(MemcpyDtoH)                                                            \
    X(MemcpyDtoHAsync)                                                       \
    X(MemcpyDtoDAsync)                                                       \
    X(MemsetD8Async)                                                         \
    X(MemsetD32Async)                                                        \
    X(ModuleLoadData)                                                        \
    X(ModuleUnload)                                                          \
    X(ModuleGetFunction)                                                     \
    X(ModuleGetGlobal)                                                       \
    X(FuncGetAttribute)                                                      \
    X(FuncSetAttribute)                                                      \
    X(LaunchKernel)                                                          \
    X(LaunchKernelEx)                                                        \
    X(TensorMapEncodeTiled)                                                  \
    X(Array3DCreate)                                                         \
    X(ArrayDestroy)                                                          \
    X(Memcpy3DAsync)                                                         \
    X(TexObjectCreate)                                                       \
    X(TexObjectDestroy)                                                      \
    X(OccupancyMaxActiveBlocksPerMultiprocessor)                             \
    X(ProfilerStart)                                                         \
    X(ProfilerStop)

/* Of cudaProfiler.h, which not every package of headers has. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

/* The function cuMemAlloc is driver->MemAlloc. */
struct shmt_driver {
#define SHMT_DRIVER_MEMBER(name) __typeof__(cu##name) *name;
    SHMT_DRIVER_LIST(SHMT_DRIVER_MEMBER)
#undef SHMT_DRIVER_MEMBER
    int version;               /* 13000: what the driver supports */
};

/* The driver of this process, opened and initialised by the first call;
 * later calls give the same answer.  Any number of threads.
 * SHMTUNE_NO_DEVICE with the remedy when there is none.  $SHMTUNE_LIBCUDA
 * names another library than libcuda.so.1. */
enum shmtune_status shmt_driver_open(const struct shmt_driver **out,
                                     struct shmt_error *err);

/* "CUDA_ERROR_ILLEGAL_ADDRESS"; constant, never NULL. */
const char *shmt_driver_error_name(const struct shmt_driver *driver,
                                   CUresult result);

/* SHMTUNE_OK for CUDA_SUCCESS; else SHMTUNE_CUDA (SHMTUNE_NO_MEMORY when the
 * device has none left) and "`what`: NAME (its text)". */
enum shmtune_status shmt_driver_check(const struct shmt_driver *driver,
                                      CUresult result, struct shmt_error *err,
                                      const char *what, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether the error makes the context unusable; only a new process can use the
 * device then. */
bool shmt_driver_is_sticky(CUresult result);

/* The value of an environment variable that names a library or a folder of
 * one; NULL when it is empty, and in a program that runs with more rights
 * than its user has. */
const char *shmt_driver_setting(const char *variable);

/* -- devices -------------------------------------------------------------- */

/* 0 devices is SHMTUNE_NO_DEVICE. */
enum shmtune_status shmt_driver_device_count(const struct shmt_driver *driver,
                                             int *count,
                                             struct shmt_error *err);

/* "0", "1", ... or a UUID, "GPU-..." (a beginning that fits one is enough).
 * SHMTUNE_NO_DEVICE names the devices that are there. */
enum shmtune_status shmt_driver_find_device(const struct shmt_driver *driver,
                                            const char *text, int *ordinal,
                                            struct shmt_error *err);

/* Every field. */
enum shmtune_status
shmt_driver_describe_device(const struct shmt_driver *driver,
                            int ordinal, struct shmtune_device *out,
                            struct shmt_error *err);

#endif
