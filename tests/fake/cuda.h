/* SPDX-License-Identifier: MIT */
/*
 * cuda: a CUDA driver with no device, for tests: a shared object that
 * $SHMTUNE_LIBCUDA names.  Device memory is host memory, launches run at
 * once in C, time is what kernels say they cost.  Threads may call it as they
 * may call CUDA's; which kernels run at the same time is theirs.  It knows the kernels of
 * src/bench/source.c and those of tests/fake/fake_kernel.cu and fake_value.cu.
 *
 * Environment: FAKE_CUDA_MEMORY   bytes of device memory, default 1 GiB
 *              FAKE_CUDA_BASE     the address where memory begins
 *              FAKE_CUDA_VERSION  what cuDriverGetVersion says
 *              FAKE_CUDA_MISSING  a function that is not there
 *              FAKE_CUDA_DEVICES  how many devices
 *              FAKE_CUDA_MAJOR    of their compute capability, default 9
 *              FAKE_CUDA_FAIL     NAME=CODE[,N]: the N-th call of cuNAME
 *                                 (default: each) returns CODE
 *              FAKE_CUDA_LAUNCHES a file that gets the name of each kernel
 *                                 launched
 *              FAKE_CUDA_LOAD_MS  how long loading a module takes
 *              FAKE_CUDA_PTX      a cubin, which is what PTX is assembled to
 *              FAKE_CUDA_CARVEOUTS  a file that gets the carve-out of each
 *                                 launch, -1: the driver's own
 *              FAKE_CUDA_SHAPES   a file that gets the name, blocks and
 *                                 threads of each; those that go into a graph
 *                                 have "graph" behind them
 *              FAKE_CUDA_COST     NAME THREADS US[ PERCENT]: what a launch of
 *                                 the kernel with so many threads takes, and
 *                                 by how much it varies
 *              FAKE_CUDA_NEXT     NAME THREADS US[ LAST[ FROM]]: what comes
 *                                 behind such a launch takes so much longer;
 *                                 with LAST, behind each of the kernel, by the
 *                                 share of such ones in the last so many of it;
 *                                 with FROM, from so many launches of it on
 *              FAKE_CUDA_LAG      launches that are made before a launch is
 *                                 done
 *              FAKE_CUDA_LOADING  microseconds that the first launch of each
 *                                 function takes more
 *              FAKE_CUDA_ATTACHED  set: managed memory is the first stream's
 *              FAKE_CUDA_PAGEABLE  set: kernels reach what malloc gave
 *              FAKE_CUDA_RANGES   set: cuMemGetAddressRange knows managed
 *                                 memory and the host's, too
 *              FAKE_CUDA_GRAPHS   a file that gets how many graphs the program
 *                                 has left
 *              FAKE_CUDA_PROFILE  a file that gets the name of each kernel
 *                                 launched while a profiler would look
 */
#ifndef SHMT_TESTS_FAKE_CUDA_H
#define SHMT_TESTS_FAKE_CUDA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#include "gpu/driver.h"

/* Functions that shmtune itself has no need of; applications have. */
#define FAKE_CUDA_MORE_LIST(X)                                               \
    X(Array3DGetDescriptor)                                                  \
    X(DevicePrimaryCtxGetState)                                              \
    X(DevicePrimaryCtxReset)                                                 \
    X(EventQuery)                                                            \
    X(FuncGetModule)                                                         \
    X(FuncGetName)                                                           \
    X(FuncGetParamInfo)                                                      \
    X(GraphAddChildGraphNode)                                                \
    X(GraphAddHostNode)                                                      \
    X(GraphAddKernelNode)                                                    \
    X(GraphAddMemcpyNode)                                                    \
    X(GraphAddMemsetNode)                                                    \
    X(GraphAddNode)                                                          \
    X(GraphChildGraphNodeGetGraph)                                           \
    X(GraphClone)                                                            \
    X(GraphCreate)                                                           \
    X(GraphDestroy)                                                          \
    X(GraphDestroyNode)                                                      \
    X(GraphExecChildGraphNodeSetParams)                                      \
    X(GraphExecDestroy)                                                      \
    X(GraphExecGetFlags)                                                     \
    X(GraphExecHostNodeSetParams)                                            \
    X(GraphExecKernelNodeSetParams)                                          \
    X(GraphExecMemcpyNodeSetParams)                                          \
    X(GraphExecMemsetNodeSetParams)                                          \
    X(GraphExecNodeSetParams)                                                \
    X(GraphExecUpdate)                                                       \
    X(GraphGetNodes)                                                         \
    X(GraphHostNodeSetParams)                                                \
    X(GraphInstantiate)                                                      \
    X(GraphInstantiateWithParams)                                            \
    X(GraphKernelNodeGetAttribute)                                           \
    X(GraphKernelNodeGetParams)                                              \
    X(GraphKernelNodeSetAttribute)                                           \
    X(GraphKernelNodeSetParams)                                              \
    X(GraphLaunch)                                                           \
    X(GraphMemcpyNodeSetParams)                                              \
    X(GraphMemsetNodeSetParams)                                              \
    X(GraphNodeFindInClone)                                                  \
    X(GraphNodeGetType)                                                      \
    X(GraphNodeSetEnabled)                                                   \
    X(GraphNodeSetParams)                                                    \
    X(GraphUpload)                                                           \
    X(KernelGetFunction)                                                     \
    X(LibraryGetKernel)                                                      \
    X(LibraryGetModule)                                                      \
    X(LibraryLoadData)                                                       \
    X(LibraryUnload)                                                         \
    X(MemAllocManaged)                                                       \
    X(MemFreeHost)                                                           \
    X(MemGetAddressRange)                                                    \
    X(MemHostAlloc)                                                          \
    X(MemHostGetDevicePointer)                                               \
    X(MemHostRegister)                                                       \
    X(MemHostUnregister)                                                     \
    X(ModuleLoad)                                                            \
    X(PointerGetAttribute)                                                   \
    X(StreamBeginCapture)                                                    \
    X(StreamEndCapture)                                                      \
    X(StreamIsCapturing)                                                     \
    X(StreamQuery)                                                           \
    X(TexObjectGetResourceDesc)                                              \
    X(TexObjectGetResourceViewDesc)                                          \
    X(TexObjectGetTextureDesc)                                               \
    X(ThreadExchangeStreamCaptureMode)

/* The function cuMemAlloc is fake_MemAlloc. */
#define FAKE_CUDA_FUNCTION(name) extern __typeof__(cu##name) fake_##name;
SHMT_DRIVER_LIST(FAKE_CUDA_FUNCTION)
FAKE_CUDA_MORE_LIST(FAKE_CUDA_FUNCTION)
#undef FAKE_CUDA_FUNCTION

/* -- fake_cuda.c ---------------------------------------------------------- */

/* What more than one file knows of the device. */
struct fake_state {
    _Atomic int64_t ns;    /* its clock */
    _Atomic CUresult stuck; /* what broke the context, if anything */
    atomic_int contexts;   /* that there have been: what is of one goes with it */
    atomic_bool profiled;  /* between ProfilerStart and ProfilerStop */
    atomic_bool capturing; /* launches go into a graph */
    atomic_size_t launches; /* that were run */
};

extern struct fake_state fake;

/* Of an environment variable. */
size_t fake_number(const char *variable, size_t fallback);

/* What FAKE_CUDA_FAIL has cu`name` return this time. */
CUresult fake_planned(const char *name);

#define FAKE_ENTER_DEVICE(name)                                              \
    do {                                                                     \
        const CUresult planned_ = fake_planned(name);                        \
        if (planned_ != CUDA_SUCCESS)                                        \
            return planned_;                                                 \
    } while (0)

/* In a context, an error that broke it comes again and again. */
#define FAKE_ENTER(name)                                                     \
    do {                                                                     \
        FAKE_ENTER_DEVICE(name);                                             \
        if (fake.stuck != CUDA_SUCCESS)                                      \
            return fake.stuck;                                               \
    } while (0)

/* -- fake_stream.c -------------------------------------------------------- */

/* Lets its clock go on: for functions of the host, which find it by its name. */
__attribute__((visibility("default"))) void fake_spend(double us);

/* Whether it is the one that was made first, an application's own. */
bool fake_stream_is_first(CUstream stream);

/* A call that breaks a capture into a graph, unless the thread has said that
 * it does not. */
void fake_stream_disturb(void);

/* -- fake_memory.c -------------------------------------------------------- */

enum fake_kind { FAKE_DEVICE, FAKE_MANAGED, FAKE_HOST };
struct fake_range {
    CUdeviceptr base;      /* on the device */
    size_t size;
    enum fake_kind kind;
};

/* What an address of the device or of the host lies in; false: in nothing. */
bool fake_memory_find(CUdeviceptr address, struct fake_range *out);

/* Everything that is allocated goes. */
void fake_memory_forget(void);

/* The allocation that an address lies in; false: in none. */
bool fake_memory_range(CUdeviceptr address, CUdeviceptr *base, size_t *size);

/* Memory, without a call that FAKE_CUDA_FAIL would count. */
CUresult fake_memory_new(CUdeviceptr *out, size_t size);

/* -- fake_launch.c -------------------------------------------------------- */

/* Whether it is of a module that is loaded. */
struct fake_function;
bool fake_is_loaded(const struct fake_function *function);

/* What its module was loaded from. */
const void *fake_image(CUfunction function);

/* How many are loaded: for tests, which find it by its name. */
__attribute__((visibility("default"))) size_t fake_modules(void);

/* What a function of a module is, by its name. */
struct fake_module;
struct fake_function {
    struct fake_module *module;
    struct fake_function *plain;   /* of a kernel of a library; or NULL */
    const char *name;
    int registers;
    int shared_static;
    int carveout;          /* percent; -1: the driver's own */
    atomic_bool launched;
};

/* A launch that has been checked; `stuck` is an error that every later call
 * returns. */
struct fake_launch {
    const struct fake_function *function;
    unsigned grid, threads;
    int carveout;
    bool cooperative;      /* these of a launch with attributes */
    unsigned cluster[3], grids[3], block[3];
    void **arguments;
    double cost_us;        /* out */
    CUresult stuck;        /* out */
};

/* What this driver makes of a tensor map: the arguments of the call. */
struct fake_map {
    uint64_t address;
    uint64_t extents[5];
    uint64_t strides[4];   /* bytes, from the second extent on */
    uint32_t box[5], rank;
};

/* Place and size of a parameter; false: there are no more. */
bool fake_parameter(CUfunction handle, size_t k, size_t *offset, size_t *size);

/* Where the parameters of a launch are, in `out` if they come as one block. */
void **fake_unpack(CUfunction handle, void **arguments, void **extra,
                   void **out);
/* Runs a launch. */
CUresult fake_execute(struct fake_launch *launch);
/* A line of FAKE_CUDA_SHAPES. */
void fake_note_shape(const struct fake_launch *launch, const char *where);

/* A variable of the module that the launched function is of, if somebody has
 * asked the driver for it; else NULL. */
void *fake_variable(const struct fake_launch *launch, const char *name);

/* -- fake_kernels.c ------------------------------------------------------- */

/* False when it knows no kernel of that name. */
bool fake_kernel_run(struct fake_launch *launch);

/* -- fake_matrices.c ------------------------------------------------------ */

void fake_transpose(struct fake_launch *launch);
/* choices.c */
void fake_widen(struct fake_launch *launch);
void fake_shatter(struct fake_launch *launch);
void fake_quarter(struct fake_launch *launch);
void fake_paired(struct fake_launch *launch);
void fake_alone(struct fake_launch *launch);
void fake_rounded(struct fake_launch *launch);
void fake_alike(struct fake_launch *launch);
/* unsteady.c */
void fake_ticks(struct fake_launch *launch);
void fake_timed(struct fake_launch *launch);
void fake_wander(struct fake_launch *launch);
void fake_nothing(struct fake_launch *launch);
void fake_twice(struct fake_launch *launch);
void fake_strides(struct fake_launch *launch);
void fake_sixteen(struct fake_launch *launch);

/* -- graph.c -------------------------------------------------------------- */

/* Into the graph that the stream is captured into. */
void fake_graph_record(const struct fake_launch *launch);

/* The first versions of functions that the headers of CUDA 12 have others for.
 */
CUresult fake_GraphNodeGetDependencies_v1(CUgraphNode node, CUgraphNode *from,
                                          size_t *count);
CUresult fake_GraphInstantiate_v1(CUgraphExec *out, CUgraph graph,
                                  CUgraphNode *error, char *log, size_t size);
CUresult fake_GraphExecUpdate_v1(CUgraphExec exec, CUgraph from,
                                 CUgraphNode *error,
                                 CUgraphExecUpdateResult *why);
CUresult
fake_GraphExecKernelNodeSetParams_v1(CUgraphExec exec, CUgraphNode node,
                                     const CUDA_KERNEL_NODE_PARAMS_v1 *params);

/* -- texture.c ------------------------------------------------------------ */

/* How many arrays and texture objects there are: for tests, which find it by
 * its name. */
__attribute__((visibility("default"))) size_t fake_textures(void);
void fake_textures_forget(void);
/* A channel of a texel, or of those beside a place. */
float fake_texture_read(CUtexObject handle, const float place[3],
                        unsigned channel);
void fake_sample(struct fake_launch *launch);
void fake_sample_reference(struct fake_launch *launch);

/* -- fake_image.c --------------------------------------------------------- */

/* The cubin in what is loaded, a fatbin of nvcc's or a cubin itself. */
const void *fake_image_in(const void *data);
/* Registers and static shared memory of `name` in a cubin; false when it has
 * no such function. */
bool fake_image_find(const void *cubin, const char *name,
                     struct fake_function *out);
/* Bytes of a variable; 0 when it has no such variable. */
size_t fake_image_variable(const void *cubin, const char *name);

#endif
