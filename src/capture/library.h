/* SPDX-License-Identifier: MIT */
/*
 * library: what the files of the preloaded library share.  They run inside an
 * application, on any thread of it: nothing here prints, exits, or changes what
 * the application is answered; what cannot be done is left out with a note.
 */
#ifndef SHMT_CAPTURE_LIBRARY_H
#define SHMT_CAPTURE_LIBRARY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>
#include <nvrtc.h>

#include "base/base.h"
#include "capture/capture.h"

/* -- interpose.c ---------------------------------------------------------- */

/* The functions that pass through here, by the names that linkers see. */
#define SHMT_CAPTURE_HOOKS(X)                                                \
    X(cuGetProcAddress)                                                      \
    X(cuGetProcAddress_v2)                                                   \
    X(cuModuleLoad)                                                          \
    X(cuModuleLoadData)                                                      \
    X(cuModuleLoadDataEx)                                                    \
    X(cuModuleLoadFatBinary)                                                 \
    X(cuModuleUnload)                                                        \
    X(cuModuleGetFunction)                                                   \
    X(cuLibraryLoadData)                                                     \
    X(cuLibraryLoadFromFile)                                                 \
    X(cuLibraryUnload)                                                       \
    X(cuLibraryGetKernel)                                                    \
    X(cuLibraryGetModule)                                                    \
    X(cuKernelGetFunction)                                                   \
    X(cuLaunchKernel)                                                        \
    X(cuLaunchKernel_ptsz)                                                   \
    X(cuLaunchKernelEx)                                                      \
    X(cuLaunchKernelEx_ptsz)                                                 \
    X(cuLaunchCooperativeKernel)                                             \
    X(cuLaunchCooperativeKernel_ptsz)                                        \
    X(cuCtxDestroy)                                                          \
    X(cuCtxDestroy_v2)                                                       \
    X(cuDevicePrimaryCtxRelease)                                             \
    X(cuDevicePrimaryCtxRelease_v2)                                          \
    X(cuDevicePrimaryCtxReset)                                               \
    X(cuDevicePrimaryCtxReset_v2)                                            \
    X(cuTexObjectCreate)                                                     \
    X(cuTexObjectDestroy)                                                    \
    X(cuGraphDestroy)                                                        \
    X(cuGraphInstantiate)                                                    \
    X(cuGraphInstantiate_v2)                                                 \
    X(cuGraphInstantiateWithFlags)                                           \
    X(cuGraphInstantiateWithParams)                                          \
    X(cuGraphInstantiateWithParams_ptsz)                                     \
    X(cuGraphExecDestroy)                                                    \
    X(cuGraphExecUpdate)                                                     \
    X(cuGraphExecUpdate_v2)                                                  \
    X(cuGraphExecKernelNodeSetParams)                                        \
    X(cuGraphExecKernelNodeSetParams_v2)                                     \
    X(cuGraphExecMemcpyNodeSetParams)                                        \
    X(cuGraphExecMemsetNodeSetParams)                                        \
    X(cuGraphExecHostNodeSetParams)                                          \
    X(cuGraphExecChildGraphNodeSetParams)                                    \
    X(cuGraphExecNodeSetParams)                                              \
    X(cuGraphNodeSetEnabled)                                                 \
    X(cuGraphLaunch)                                                         \
    X(cuGraphLaunch_ptsz)                                                    \
    X(nvrtcCreateProgram)                                                    \
    X(nvrtcDestroyProgram)                                                   \
    X(nvrtcAddNameExpression)                                                \
    X(nvrtcCompileProgram)                                                   \
    X(nvrtcGetLoweredName)                                                   \
    X(nvrtcGetCUBIN)                                                         \
    X(nvrtcGetPTX)

#undef cuGetProcAddress
CUresult CUDAAPI cuGetProcAddress(const char *name, void **out, int version,
                                  cuuint64_t flags);
CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **out, int version,
                                     cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *found);
__typeof__(cuLaunchKernel) cuLaunchKernel_ptsz;
__typeof__(cuLaunchKernelEx) cuLaunchKernelEx_ptsz;
__typeof__(cuLaunchCooperativeKernel) cuLaunchCooperativeKernel_ptsz;

/* Those of a context are the same in all versions. */
#undef cuCtxDestroy
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
__typeof__(cuCtxDestroy_v2) cuCtxDestroy;
__typeof__(cuDevicePrimaryCtxRelease_v2) cuDevicePrimaryCtxRelease;
__typeof__(cuDevicePrimaryCtxReset_v2) cuDevicePrimaryCtxReset;

/* The first versions, which programs of CUDA 11 ask for; the header's names
 * are those of the newest. */
#undef cuGraphInstantiate
#undef cuGraphExecUpdate
#undef cuGraphExecKernelNodeSetParams
CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *exec, CUgraph graph,
                                    CUgraphNode *error, char *log,
                                    size_t size);
CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph,
                                       CUgraphNode *error, char *log,
                                       size_t size);
CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph graph,
                                   CUgraphNode *error,
                                   CUgraphExecUpdateResult *why);
CUresult CUDAAPI
cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                               const CUDA_KERNEL_NODE_PARAMS_v1 *params);
__typeof__(cuGraphInstantiateWithParams) cuGraphInstantiateWithParams_ptsz;
__typeof__(cuGraphLaunch) cuGraphLaunch_ptsz;

enum shmt_capture_hook {
#define SHMT_CAPTURE_HOOK(name) SHMT_CAPTURE_##name,
    SHMT_CAPTURE_HOOKS(SHMT_CAPTURE_HOOK)
#undef SHMT_CAPTURE_HOOK
    SHMT_CAPTURE_HOOK_COUNT
};

/* Ours is found by the application, and answers so if there is no other. */
#define SHMT_CAPTURE_PUBLIC __attribute__((visibility("default")))
#define SHMT_CAPTURE_HOOKED SHMT_CAPTURE_PUBLIC CUresult CUDAAPI
#define SHMT_CAPTURE_MISSING CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND

/* The function itself, which ours stands before; into a pointer to it.  NULL:
 * the process has none. */
void shmt_capture_real(enum shmt_capture_hook hook, void *function);
#define SHMT_CAPTURE_REAL(name)                                              \
    __typeof__(name) *real;                                                  \
    shmt_capture_real(SHMT_CAPTURE_##name, &real)

/* Another function of the driver that the process has loaded. */
void shmt_capture_symbol(const char *name, void *function);
/* Another function of the library that has the real one of a hook: NVRTC may
 * have any file name, and there may be two. */
void shmt_capture_sibling(enum shmt_capture_hook hook, const char *name,
                          void *function);

/* -- setting.c ------------------------------------------------------------ */

struct shmt_capture_setting {
    const char *folder;        /* NULL: there is nothing to do */
    const char *patterns;
    const char *plan;          /* NULL: nothing is replaced */
    bool list;
    bool trial;                /* what is replaced is tried first */
    uint64_t skip, count, bytes, questions;
};

/* What the environment says, read once. */
const struct shmt_capture_setting *shmt_capture_setting(void);
/* Whether one of the patterns has the symbol, or its name in the source. */
bool shmt_capture_is_wanted(const char *symbol);
/* Appends a line to the notes, if it is not there yet. */
void shmt_capture_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* -- driver.c ------------------------------------------------------------- */

/* What the library itself asks the driver; those of OPTIONAL may be missing.
 */
#define SHMT_CAPTURE_DRIVER_LIST(X)                                          \
    X(Array3DGetDescriptor)                                                  \
    X(CtxGetCurrent)                                                         \
    X(CtxGetDevice)                                                          \
    X(DeviceGetAttribute)                                                    \
    X(DeviceGetName)                                                         \
    X(DevicePrimaryCtxGetState)                                              \
    X(EventCreate)                                                           \
    X(EventDestroy)                                                          \
    X(EventRecord)                                                           \
    X(EventQuery)                                                            \
    X(EventElapsedTime)                                                      \
    X(FuncGetAttribute)                                                      \
    X(FuncSetAttribute)                                                      \
    X(GetErrorName)                                                          \
    X(MemGetAddressRange)                                                    \
    X(Memcpy3DAsync)                                                         \
    X(MemcpyAsync)                                                           \
    X(MemcpyDtoDAsync)                                                       \
    X(MemcpyDtoHAsync)                                                       \
    X(ModuleGetGlobal)                                                       \
    X(OccupancyMaxActiveBlocksPerMultiprocessor)                             \
    X(PointerGetAttribute)                                                   \
    X(StreamCreate)                                                          \
    X(StreamDestroy)                                                         \
    X(StreamIsCapturing)                                                     \
    X(StreamQuery)                                                           \
    X(ThreadExchangeStreamCaptureMode)

/* What it asks of graphs. */
#define SHMT_CAPTURE_GRAPH_LIST(X)                                           \
    X(GraphChildGraphNodeGetGraph)                                           \
    X(GraphClone)                                                            \
    X(GraphDestroy)                                                          \
    X(GraphDestroyNode)                                                      \
    X(GraphExecDestroy)                                                      \
    X(GraphExecGetFlags)                                                     \
    X(GraphGetNodes)                                                         \
    X(GraphHostNodeSetParams)                                                \
    X(GraphInstantiateWithFlags)                                             \
    X(GraphKernelNodeGetAttribute)                                           \
    X(GraphKernelNodeGetParams)                                              \
    X(GraphKernelNodeSetParams)                                              \
    X(GraphLaunch)                                                           \
    X(GraphMemcpyNodeSetParams)                                              \
    X(GraphMemsetNodeSetParams)                                              \
    X(GraphNodeFindInClone)                                                  \
    X(GraphNodeGetType)                                                      \
    X(GraphNodeSetParams)                                                    \
    X(GraphUpload)

struct shmt_capture_driver {
#define SHMT_CAPTURE_MEMBER(name) __typeof__(cu##name) *name;
    SHMT_CAPTURE_DRIVER_LIST(SHMT_CAPTURE_MEMBER)
    bool graphs;               /* it has all of these: */
    SHMT_CAPTURE_GRAPH_LIST(SHMT_CAPTURE_MEMBER)
#undef SHMT_CAPTURE_MEMBER
    /* The one without data of edges, which fails where some have data. */
    CUresult (*GraphNodeGetDependencies)(CUgraphNode, CUgraphNode *, size_t *);
    /* Drivers before 12.4 have not all of these. */
    CUresult (*KernelGetFunction)(CUfunction *, CUkernel);
    CUresult (*LibraryGetModule)(CUmodule *, CUlibrary);
    CUresult (*FuncGetName)(const char **, CUfunction);
    CUresult (*KernelGetName)(const char **, CUkernel);
    CUresult (*KernelGetLibrary)(CUlibrary *, CUkernel);
    CUresult (*FuncGetModule)(CUmodule *, CUfunction);
    CUresult (*FuncGetParamInfo)(CUfunction, size_t, size_t *, size_t *);
};

/* NULL: the driver lacks something that is needed, which a note says. */
const struct shmt_capture_driver *shmt_capture_driver(void);
/* Whether what is launched on the stream goes into a graph; an error: that
 * cannot be told. */
CUresult shmt_capture_recording(const struct shmt_capture_driver *driver,
                                CUstream stream, bool *recorded);
/* Whether it does, or that cannot be told. */
bool shmt_capture_in_graph(const struct shmt_capture_driver *driver,
                           CUstream stream);

/* Waits until what is in the stream by now is done.  CUDA_ERROR_NOT_READY: it
 * is not after ten seconds, as where the host has to do something first; the
 * next time it is not waited for so long.  Any other: it failed. */
CUresult shmt_capture_await(const struct shmt_capture_driver *driver,
                            CUstream stream);
/* "CUDA_ERROR_ILLEGAL_ADDRESS"; in `room` where the driver has no name for it.
 */
const char *shmt_capture_error(const struct shmt_capture_driver *driver,
                               CUresult code, char room[32]);

/* -- address.c ------------------------------------------------------------ */

enum shmt_capture_kind {
    SHMT_CAPTURE_OF_DEVICE, SHMT_CAPTURE_MANAGED, SHMT_CAPTURE_OF_HOST
};

/* What has an address in a spec begins at a multiple of this. */
enum { SHMT_CAPTURE_ALIGNMENT = 16 };

/* An allocation, by its address on the device. */
struct shmt_capture_range {
    CUdeviceptr base;
    size_t size;               /* 0: the driver does not say */
    enum shmt_capture_kind kind;
};

/* What the address lies in; false: in nothing that the driver knows. */
bool shmt_capture_range_of(const struct shmt_capture_driver *driver,
                           CUdeviceptr address,
                           struct shmt_capture_range *out);
/* Whether one that the driver does not know is of memory of the host that
 * kernels reach by the host's own page tables, or as if they did. */
bool shmt_capture_is_pageable(const struct shmt_capture_driver *driver,
                              CUdeviceptr address);
/* Whether the attribute of the current device is there, and not 0. */
bool shmt_capture_device_has(const struct shmt_capture_driver *driver,
                             CUdevice_attribute attribute);

/* -- program.c ------------------------------------------------------------ */

/* A name expression and what the compiler made of it. */
struct shmt_capture_lowered {
    char *expression, *name;
};

/* What NVRTC was given. */
struct shmt_capture_program {
    nvrtcProgram handle;       /* NULL: destroyed */
    bool kept;                 /* somebody has its binary */
    char *source, *name;
    char *folder;              /* where relative paths begin; NULL: nowhere */
    size_t header_count, option_count, lowered_count;
    char **headers, **include_names, **options;
    struct shmt_capture_lowered *lowered;
};

/* The program that a binary of this digest is of; NULL: none of this process.
 * Programs that are `kept` stay as long as the process. */
const struct shmt_capture_program *
shmt_capture_program_of(const char digest[SHMT_DIGEST_TEXT]);
/* Of a cubin, or of PTX without the zeros at its end. */
void shmt_capture_digest(const void *image, size_t size,
                         char digest[SHMT_DIGEST_TEXT]);

/* Of its source, its headers and its options. */
void shmt_capture_program_digest(const struct shmt_capture_program *program,
                                 char digest[SHMT_DIGEST_TEXT]);

/* -- module.c ------------------------------------------------------------- */

enum shmt_capture_form {
    SHMT_CAPTURE_CUBIN, SHMT_CAPTURE_PTX, SHMT_CAPTURE_FATBIN
};

/* What a module or a library was loaded from. */
struct shmt_capture_image {
    enum shmt_capture_form form;
    char digest[SHMT_DIGEST_TEXT];     /* "": not computed */
    char identity[SHMT_DIGEST_TEXT];   /* see shmt_capture_identity */
    const void *data;                  /* NULL: too large, or not read */
    size_t size;
};

/* A function as the application knows it. */
struct shmt_capture_function {
    const void *handle;                /* NULL: its module is unloaded */
    char *name;                        /* its symbol */
    bool is_kernel;                    /* the handle is a CUkernel */
    void *owner;                       /* CUmodule, or CUlibrary */
    bool of_library;
    const struct shmt_capture_image *image;    /* NULL: not seen */
    uint64_t seen, taken, claimed;     /* claimed: being captured */
    bool recorded;                     /* a launch of it went into a graph */
};

/* By what an image is known again, in another process too: the digest of its
 * source and options, where these are known, else its own; "": by nothing. */
const char *shmt_capture_identity(const struct shmt_capture_image *image);

/* What launch.c asks under the lock of module.c: a copy, whose name and image
 * live as long as the process. */
bool shmt_capture_function_of(CUfunction handle,
                              struct shmt_capture_function *out);
/* Whether this launch of the function is one to capture; counts it, and
 * shmt_capture_function_done has to follow.  *over: none will be any more. */
bool shmt_capture_function_due(CUfunction handle, bool *over);
/* It was captured, or left out.  true: none will be captured any more. */
bool shmt_capture_function_done(CUfunction handle, bool taken);
/* A launch of it went into a graph; unless one of the graph is seen, or of the
 * function, a note says so at the end of the program. */
void shmt_capture_function_recorded(CUfunction handle);
/* A launch of it that nobody asks to be captured. */
void shmt_capture_function_seen(CUfunction handle);

/* -- variable.c ----------------------------------------------------------- */

/* Gives `take` each name of a variable that the image, of which the data are
 * kept, may have, until it returns false, which then is what this does.
 * *hidden: they cannot be seen. */
bool shmt_capture_variables(const struct shmt_capture_image *image,
                            bool (*take)(void *context, const char *name),
                            void *context, bool *hidden);
/* Where they are; NULL: the driver has no module of its library. */
CUmodule shmt_capture_module_of(const struct shmt_capture_driver *driver,
                                const struct shmt_capture_function *function);

/* -- launch.c ------------------------------------------------------------- */

/* A launch as one of the functions for it was given. */
struct shmt_capture_launch {
    CUfunction handle;
    unsigned grid[3], block[3], shared, cluster[3];
    bool cooperative;
    CUstream stream;
    void **arguments, **extra;
    const char *other;         /* an attribute that cannot be said; or NULL */
};

/* A handle that may be of something new: it is looked at again. */
void shmt_capture_launch_forget(const void *handle);
/* What an attribute says of a launch. */
void shmt_capture_launch_attribute(struct shmt_capture_launch *launch,
                                   CUlaunchAttributeID id,
                                   const CUlaunchAttributeValue *value);
/* Whether somebody asked for the function, and not all that was asked for is
 * captured. */
bool shmt_capture_launch_is_open(CUfunction handle);
/* Whether this launch of it is one to capture; counts it, and one of the next
 * two has to follow. */
bool shmt_capture_launch_is_due(CUfunction handle);
/* It is left out for this reason. */
void shmt_capture_launch_leave_out(CUfunction handle, const unsigned grid[3],
                                   const char *why);
/* Before it; NULL: it is not captured, and a note says why.  With a snapshot
 * shmt_capture_launch_end has to follow on the same thread. */
struct shmt_capture_snapshot *
shmt_capture_launch_begin(const struct shmt_capture_launch *launch);
void shmt_capture_launch_end(CUfunction handle,
                             struct shmt_capture_snapshot *snapshot,
                             CUresult result);

/* -- parameters.c --------------------------------------------------------- */

enum { SHMT_CAPTURE_PARAMETERS = 256 };

struct shmt_capture_layout {
    size_t count, offsets[SHMT_CAPTURE_PARAMETERS],
        sizes[SHMT_CAPTURE_PARAMETERS];
};

/* The function itself, where the handle may be a CUkernel; NULL: the driver
 * has none. */
CUfunction
shmt_capture_plain_function(const struct shmt_capture_function *function,
                            CUfunction handle);
/* The parameters of a function, by the driver, else by its binary.  NULL, or
 * why they are not known. */
const char *
shmt_capture_layout_of(const struct shmt_capture_function *function,
                       CUfunction handle, struct shmt_capture_layout *out);
/* Where those of a launch are: as many as the layout has.  NULL, or why they
 * are not known. */
const char *shmt_capture_arguments(const struct shmt_capture_launch *launch,
                                   const struct shmt_capture_layout *layout,
                                   void **out);

/* -- texture.c ------------------------------------------------------------ */

/* A texture object of the application. */
struct shmt_capture_texture {
    size_t parameter, memory;  /* as of a pointer */
    const char *other;         /* what of it a spec has not; or NULL: */
    CUresourcetype kind;
    CUarray array;             /* NULL: none */
    CUdeviceptr base;          /* of its memory; the handle of an array */
    const char *type;          /* "f32", */
    size_t unit;               /* of so many bytes */
    unsigned channels;
    size_t extents[3];         /* texels, as CUDA_ARRAY3D_DESCRIPTOR has them */
    size_t row, pitch;         /* bytes of a row, and from one to the next */
    bool layered, linear, fraction, normalized, srgb;
    CUaddress_mode address[3];
    float border[4];
};

/* Whether the application has a texture object of this handle, in the current
 * context. */
bool shmt_capture_texture_of(uint64_t handle,
                             struct shmt_capture_texture *out);
/* Of its texels. */
size_t shmt_capture_texture_bytes(const struct shmt_capture_texture *one);
/* Begins to copy an array to the host, without padding. */
bool shmt_capture_texture_copy(const struct shmt_capture_driver *driver,
                               const struct shmt_capture_texture *one,
                               void *out, CUstream stream);
/* "  texture: {...}" of SHMT_CAPTURE_LAUNCH. */
void shmt_capture_texture_add(const struct shmt_capture_texture *one,
                              struct shmt_text *text);

/* -- snapshot.c ----------------------------------------------------------- */

struct shmt_capture_snapshot;

/* Copies what the launch can reach, before it; NULL: it is not captured, and a
 * note says why. */
struct shmt_capture_snapshot *
shmt_capture_snapshot_begin(const struct shmt_capture_launch *launch);
/* Copies what it has changed, and writes the folder; frees the snapshot.
 * false: it was left out, and a note says why. */
bool shmt_capture_snapshot_end(struct shmt_capture_snapshot *snapshot,
                               CUresult result);

/* -- hidden.c ------------------------------------------------------------- */

/* Addresses among what was copied; all zeros but for the driver at first. */
struct shmt_capture_search {
    const struct shmt_capture_driver *driver;
    struct shmt_capture_range found;   /* last */
    uint64_t asked;
    bool over;                 /* not all was asked that might be one */
    uint64_t none[1 << 12];
};

/* From byte *at on, a multiple of eight, the next eight that are an address of
 * the device; *at is then behind them, and the allocation is in `found`. */
bool shmt_capture_search_next(struct shmt_capture_search *search,
                              const unsigned char *bytes, size_t size,
                              size_t *at);

/* -- content.c ------------------------------------------------------------ */

/* By what the same bytes are known again; false: there is no memory. */
bool shmt_capture_content_digest(const unsigned char *data, size_t size,
                                 char digest[SHMT_DIGEST_TEXT]);
/* Into a file, gzipped; false: see errno. */
bool shmt_capture_content_put(int fd, const unsigned char *data, size_t size);

/* -- folder.c ------------------------------------------------------------- */

/* What is at one address: an allocation, or a variable of the module. */
struct shmt_capture_memory {
    CUdeviceptr base;
    size_t size;
    enum shmt_capture_kind kind;
    bool hidden;               /* its address stands in another one */
    const struct shmt_capture_texture *texture;    /* of one alone; or NULL */
    char *symbol;              /* of a variable; else NULL */
    unsigned char *before, *after;     /* after is NULL when it is the same */
};

/* 8 bytes of a parameter that are an address. */
struct shmt_capture_pointer {
    size_t parameter, at;      /* byte */
    size_t memory;
    uint64_t offset;           /* from the begin of the memory */
};

struct shmt_capture_parameter {
    size_t offset, size;
    const unsigned char *bytes;
};

enum { SHMT_CAPTURE_MEMORIES = 256 };

struct shmt_capture_record {
    const struct shmt_capture_launch *launch;
    struct shmt_capture_function function;
    int registers, resident;   /* of a thread; blocks on a multiprocessor; 0:
                                  not known */
    size_t parameter_count, pointer_count, memory_count, texture_count;
    struct shmt_capture_parameter parameters[SHMT_CAPTURE_PARAMETERS];
    struct shmt_capture_pointer pointers[SHMT_CAPTURE_MEMORIES];
    struct shmt_capture_memory memories[SHMT_CAPTURE_MEMORIES];
    struct shmt_capture_texture textures[SHMT_CAPTURE_PARAMETERS];
};

/* Writes the folder of a launch; false: it could not be written whole, nothing
 * of it is left, and a note says why. */
bool shmt_capture_folder_write(const struct shmt_capture_record *record);

/* -- pair.c --------------------------------------------------------------- */

/* Two events; all zeros at first. */
struct shmt_capture_pair {
    CUcontext context;         /* that the events are of; NULL: none are made */
    CUevent before, after;
};

/* Before a launch; false: it cannot be timed. */
bool shmt_capture_pair_begin(const struct shmt_capture_driver *driver,
                             struct shmt_capture_pair *pair, CUstream stream);
/* Behind it, the same. */
bool shmt_capture_pair_end(const struct shmt_capture_driver *driver,
                           const struct shmt_capture_pair *pair,
                           CUstream stream);
/* How long it took; CUDA_ERROR_NOT_READY: it is not done yet. */
CUresult shmt_capture_pair_read(const struct shmt_capture_driver *driver,
                                const struct shmt_capture_pair *pair,
                                double *us);
/* From before the one to before the next. */
CUresult
shmt_capture_pair_between(const struct shmt_capture_driver *driver,
                          const struct shmt_capture_pair *pair,
                          const struct shmt_capture_pair *next, double *us);
void shmt_capture_pair_free(const struct shmt_capture_driver *driver,
                            struct shmt_capture_pair *pair);

/* -- turns.c -------------------------------------------------------------- */

enum {
    SHMT_CAPTURE_TURNS = 192,  /* most that are compared */
    SHMT_CAPTURE_APART = 14    /* most that can be told apart */
};

/* Of the trial of this number among those at the same time; beyond the most
 * that can be told apart, that of another. */
unsigned shmt_capture_turns_of(size_t number);
/* Whether the thing of this number is as tuned. */
bool shmt_capture_turn_is_tuned(unsigned turns, size_t number);
/* Of one or more; sorts them. */
double shmt_capture_median(double *values, size_t count);
/* The median of those from `first` on that are as tuned, or of the others. */
double shmt_capture_turns_median(unsigned turns, const double *us,
                                 size_t first, size_t count, bool tuned);
/* By how much those that are as tuned took longer, in sum. */
double shmt_capture_turns_lost(unsigned turns, const double *us, size_t first,
                               size_t count);
/* The share of the ranks, by their amount, of what is above 0; sorts them. */
double shmt_capture_turns_losses(double *lost, size_t count);

/* -- trial.c -------------------------------------------------------------- */

enum { SHMT_CAPTURE_TRIAL_LAUNCHES = 104 };
/* NEAR: as it was until the joint trial, which is to tell. */
enum {
    SHMT_CAPTURE_OPEN, SHMT_CAPTURE_AS_IT_WAS, SHMT_CAPTURE_NEAR,
    SHMT_CAPTURE_AS_TUNED
};

/* Of one replacement, in every context; all zeros at first, and never freed. */
struct shmt_capture_trial {
    struct shmt_capture_trial *next;
    const char *name;          /* NULL: it has not begun */
    atomic_int verdict;
    atomic_bool in_graph;      /* a launch went into one before the verdict */
    /* That of graphs it was seen in; NULL: it was seen in none. */
    _Atomic(struct shmt_capture_trial *) of_graph;
    bool settled;              /* the joint trial has tried it */
    size_t launched, read;
    bool running[SHMT_CAPTURE_TRIAL_LAUNCHES];     /* not read, if launched */
    struct shmt_capture_pair pairs[SHMT_CAPTURE_TRIAL_LAUNCHES];
    unsigned turns;            /* which launches are as tuned: see turns.c */
    atomic_uint together;      /* which stretches of the joint one; 0: none */
    double us[SHMT_CAPTURE_TRIAL_LAUNCHES];
    double period_us[SHMT_CAPTURE_TRIAL_LAUNCHES]; /* to the next; < 0: not
                                                      known; not of the last */
};

/* How a launch is made: `launch` is its number in the trial, for
 * shmt_capture_trial_end; -1: it is not timed. */
struct shmt_capture_turn {
    bool tuned;
    int launch;
};

struct shmt_capture_turn
shmt_capture_trial_begin(struct shmt_capture_trial *trial, const char *name,
                         CUstream stream);
/* Behind the launch and all of it; NULL, or why it was not made. */
void shmt_capture_trial_end(struct shmt_capture_trial *trial, int launch,
                            CUstream stream, const char *failed);
/* Whether every further launch is made as it was. */
bool shmt_capture_trial_is_lost(const struct shmt_capture_trial *trial);

/* -- joint.c -------------------------------------------------------------- */

/* One more has its verdict, and is to be tried with the others. */
void shmt_capture_joint_add(void);
bool shmt_capture_joint_waits(void);
/* Of all trials, as of now, those that it has to tell of are tried. */
void shmt_capture_joint_begin(struct shmt_capture_trial *trials);
/* Before a launch that is none of its own: whether it is under way. */
bool shmt_capture_joint_runs(void);
/* Whether this launch, of one that has its verdict, is made as tuned. */
bool shmt_capture_joint_turn(struct shmt_capture_trial *trial,
                             CUstream stream);
/* One that has its verdict cannot be launched as tuned. */
void shmt_capture_joint_fail(const struct shmt_capture_trial *trial);
/* At the end of the program: whether it has ended before. */
void shmt_capture_joint_tell(struct shmt_capture_trial *trials);

/* -- replace.c ------------------------------------------------------------ */

/* What is launched in the place of a launch; while it is tried, itself too. */
struct shmt_capture_replacement {
    CUfunction function;
    unsigned grid[3], block[3], shared;
    void *arguments[SHMT_CAPTURE_PARAMETERS];
    void *after;               /* for shmt_capture_replace_end; or NULL */
    struct shmt_capture_trial *trial;
    int turn;
};

/* false: the launch is made as it is; *never: and so is every other one of this
 * function. */
bool shmt_capture_replace(const struct shmt_capture_launch *launch,
                          bool *never, struct shmt_capture_replacement *out);
/* Behind the launch, with what the driver said of it.  false: it was refused,
 * and the application's own is to be launched. */
bool shmt_capture_replace_end(const struct shmt_capture_launch *launch,
                              const struct shmt_capture_replacement *by,
                              CUresult result);

/* Whether there is something in the place of some launch of the function. */
bool shmt_capture_replace_knows(const struct shmt_capture_function *function);
/* The arguments of a launch, as it was. */
struct shmt_capture_own {
    size_t count, sizes[SHMT_CAPTURE_PARAMETERS];
    void *arguments[SHMT_CAPTURE_PARAMETERS];
};

/* What is in the place of a launch that a node of a graph makes, and which
 * nobody tries by itself; its arguments are its own but for those that follow
 * from the configuration.  false: nothing. */
bool shmt_capture_replace_node(const struct shmt_capture_function *function,
                               const struct shmt_capture_launch *launch,
                               struct shmt_capture_replacement *out,
                               struct shmt_capture_own *own);

/* What was loaded from the image is about to be unloaded; NULL: nothing. */
void shmt_capture_replace_forget(const struct shmt_capture_image *image);

/* -- times.c -------------------------------------------------------------- */

/* Events before and after a launch, for the list; -1: it is not timed. */
int shmt_capture_times_begin(const struct shmt_capture_launch *launch);
void shmt_capture_times_end(int at, const struct shmt_capture_launch *launch);

#endif
