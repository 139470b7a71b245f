/* SPDX-License-Identifier: MIT */
/*
 * graphed_driver: how graphed.c comes to the driver, in one of the ways that
 * programs have, and what it gives to it.
 */
#ifndef SHMT_FAKE_GRAPHED_DRIVER_H
#define SHMT_FAKE_GRAPHED_DRIVER_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "compiled.h"

#define FUNCTIONS(X)                                                         \
    X(cuInit)                                                                \
    X(cuDevicePrimaryCtxRelease)                                             \
    X(cuDevicePrimaryCtxReset)                                               \
    X(cuDevicePrimaryCtxRetain)                                              \
    X(cuCtxSetCurrent)                                                       \
    X(cuModuleLoadData)                                                      \
    X(cuModuleGetFunction)                                                   \
    X(cuLibraryLoadData)                                                     \
    X(cuLibraryUnload)                                                       \
    X(cuLibraryGetKernel)                                                    \
    X(cuMemAlloc)                                                            \
    X(cuMemcpyHtoD)                                                          \
    X(cuMemcpyDtoH)                                                          \
    X(cuStreamCreate)                                                        \
    X(cuStreamSynchronize)                                                   \
    X(cuStreamBeginCapture)                                                  \
    X(cuStreamEndCapture)                                                    \
    X(cuLaunchKernel)                                                        \
    X(cuGraphCreate)                                                         \
    X(cuGraphDestroy)                                                        \
    X(cuGraphAddKernelNode)                                                  \
    X(cuGraphAddMemsetNode)                                                  \
    X(cuGraphAddMemcpyNode)                                                  \
    X(cuGraphAddHostNode)                                                    \
    X(cuEventCreate)                                                         \
    X(cuGraphAddChildGraphNode)                                              \
    X(cuGraphAddNode)                                                        \
    X(cuGraphKernelNodeSetAttribute)                                         \
    X(cuGraphInstantiateWithFlags)                                           \
    X(cuGraphInstantiateWithParams)                                          \
    X(cuGraphExecKernelNodeSetParams)                                        \
    X(cuGraphExecMemsetNodeSetParams)                                        \
    X(cuGraphExecMemcpyNodeSetParams)                                        \
    X(cuGraphExecHostNodeSetParams)                                          \
    X(cuGraphExecChildGraphNodeSetParams)                                    \
    X(cuGraphExecNodeSetParams)                                              \
    X(cuGraphExecUpdate)                                                     \
    X(cuGraphNodeSetEnabled)                                                 \
    X(cuGraphLaunch)                                                         \
    X(cuGraphExecDestroy)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
} api;

static int is_old;

/* By this name the driver has no other one in any version. */
typedef CUresult instantiate_with_log(CUgraphExec *, CUgraph, CUgraphNode *,
                                      char *, size_t);
static instantiate_with_log *with_log;     /* NULL: it was not asked for */

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static void open_driver(const char *way, CUcontext *context)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CUresult (*get)(const char *, void **, int, cuuint64_t,
                    CUdriverProcAddressQueryResult *);
    CUdriverProcAddressQueryResult status;
    /* As the runtime, which asks for older functions first. */
    static const int versions[] = {10000, 11080, 13000};
    const cuuint64_t flags =
        strcmp(way, "own") == 0
            ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;

    if (driver == NULL)
        exit(9);
    is_old = strcmp(way, "old") == 0;
    store(&get, dlsym(driver, "cuGetProcAddress_v2"), "driver");
#define FIND(name)                                                           \
    {                                                                        \
        void *found = NULL;                                                  \
        if (strcmp(way, "opened") == 0)                                      \
            found = dlsym(driver, TEXT(name));                               \
        for (size_t k = 0; k < sizeof versions / sizeof versions[0]; k++)    \
            if (strcmp(way, "opened") != 0 && (!is_old || found == NULL ||   \
                                               versions[k] < 12000))         \
                (void)get(#name, &found, versions[k], flags, &status);       \
        store(&api.name, found, #name);                                      \
    }
    FUNCTIONS(FIND)
    if (strcmp(way, "opened") != 0) {
        void *found = NULL;

        (void)get("cuGraphInstantiate", &found, is_old ? 11080 : 13000, flags,
                  &status);
        store(&with_log, found, "cuGraphInstantiate");
    }
    must((int)api.cuInit(0), "cuInit");
    must((int)api.cuDevicePrimaryCtxRetain(context, 0), "context");
}

/* What a node is given is the caller's, and goes with the call. */
struct passing {
    CUDA_KERNEL_NODE_PARAMS params;
    CUdeviceptr into, from;
    float factor;
    int n;
    void *arguments[4];
};

static void pass(const CUDA_KERNEL_NODE_PARAMS *params, struct passing *out)
{
    memcpy(&out->into, params->kernelParams[0], sizeof out->into);
    memcpy(&out->from, params->kernelParams[1], sizeof out->from);
    memcpy(&out->factor, params->kernelParams[2], sizeof out->factor);
    memcpy(&out->n, params->kernelParams[3], sizeof out->n);
    out->arguments[0] = &out->into;
    out->arguments[1] = &out->from;
    out->arguments[2] = &out->factor;
    out->arguments[3] = &out->n;
    out->params = *params;
    out->params.kernelParams = out->arguments;
}

#endif
