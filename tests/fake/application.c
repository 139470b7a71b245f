/* SPDX-License-Identifier: MIT */
/*
 * application: the user's program that `shmtune capture` is tried on.  It
 * compiles a kernel of its own by NVRTC, or loads it from a file, launches it,
 * and prints what it computed.  Built twice: with the driver and NVRTC linked
 * (APPLICATION_LINKED), and with both opened at run time.
 *
 *     application WAY WHAT...
 *
 * WAY: linked; opened (dlsym for each function); runtime (dlsym for
 * cuGetProcAddress alone, as the CUDA runtime does); own (the same, where the
 * stream 0 is the thread's own).  WHAT are the words of
 * `steps` below, in turn, or times=N, which launches blend so often, mixed=N,
 * which has cover behind each of these, or cover=N, total=N, stray=N, follow=N,
 * stride=N, uneven=N, loose=N, plenty=N, many=N and plain=N, which launch these
 * kernels.  $FAKE_NVRTC_REAL is NVRTC, unless $APPLICATION_NVRTC is; with
 * $APPLICATION_OTHER one option more is given to it, with $APPLICATION_OPTIONS
 * those of "-DA;-DB", with $APPLICATION_LINES it writes down the lines of the
 * source, with $APPLICATION_HEADER it is given a header of that name, which is
 * empty, and with $APPLICATION_KEPT nothing is compiled, so that load_file
 * finds what another run has left. $APPLICATION_SOURCE is a file to be
 * compiled, without headers as texts, in the place of application_source.h.
 * With $APPLICATION_POOL=N the kernels of =N have both buffers in one
 * allocation, the second N bytes behind the first; with $APPLICATION_SYMBOL
 * that is what the kernel of =N is called, with $APPLICATION_FACTOR what it
 * multiplies by, with $APPLICATION_SHARED the bytes of shared memory that it is
 * given, and with $APPLICATION_NOISE its input is of numbers that are all
 * different.  application_memory.h says where buffers are, and with
 * $APPLICATION_BASE the fake driver's begin there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>
#include <nvrtc.h>

#include "application_source.h"

enum { N = 1000 };

struct bounds {
    CUdeviceptr low;
    int first, last;
};

/* -- the ways to the driver ----------------------------------------------- */

#define FUNCTIONS(X)                                                         \
    X(cuInit)                                                                \
    X(cuDevicePrimaryCtxRetain)                                              \
    X(cuCtxSetCurrent)                                                       \
    X(cuModuleLoad)                                                          \
    X(cuModuleLoadData)                                                      \
    X(cuModuleGetFunction)                                                   \
    X(cuModuleGetGlobal)                                                     \
    X(cuModuleUnload)                                                        \
    X(cuLibraryLoadData)                                                     \
    X(cuLibraryGetKernel)                                                    \
    X(cuLibraryGetModule)                                                    \
    X(cuKernelGetFunction)                                                   \
    X(cuMemAlloc)                                                            \
    X(cuMemAllocManaged)                                                     \
    X(cuMemFree)                                                             \
    X(cuMemFreeHost)                                                         \
    X(cuMemHostAlloc)                                                        \
    X(cuMemHostGetDevicePointer)                                             \
    X(cuMemHostRegister)                                                     \
    X(cuMemHostUnregister)                                                   \
    X(cuMemcpyHtoD)                                                          \
    X(cuMemcpyDtoH)                                                          \
    X(cuStreamCreate)                                                        \
    X(cuStreamSynchronize)                                                   \
    X(cuStreamBeginCapture)                                                  \
    X(cuLaunchKernel)                                                        \
    X(cuLaunchKernelEx)

#define COMPILER(X)                                                          \
    X(nvrtcCreateProgram)                                                    \
    X(nvrtcCompileProgram)                                                   \
    X(nvrtcGetCUBINSize)                                                     \
    X(nvrtcGetCUBIN)                                                         \
    X(nvrtcGetPTXSize)                                                       \
    X(nvrtcGetPTX)                                                           \
    X(nvrtcDestroyProgram)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
    COMPILER(MEMBER)
} api;

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

#ifdef APPLICATION_LINKED
static void open_all(const char *way)
{
    (void)way;
#define TAKE(name) api.name = name;
    FUNCTIONS(TAKE)
    COMPILER(TAKE)
}
#else
static void store(void *function, void *found, const char *name)
{
    if (found == NULL) {
        fprintf(stderr, "application: no %s\n", name);
        exit(9);
    }
    memcpy(function, &found, sizeof found);
}

static void open_all(const char *way)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *kept = getenv("APPLICATION_NVRTC");
    void *compiler = dlopen(kept != NULL ? kept : getenv("FAKE_NVRTC_REAL"),
                            RTLD_NOW | RTLD_LOCAL);
    CUresult (*get)(const char *, void **, int, cuuint64_t,
                    CUdriverProcAddressQueryResult *);
    CUdriverProcAddressQueryResult status;
    const cuuint64_t flags =
        strcmp(way, "own") == 0
            ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;

    if (driver == NULL || compiler == NULL) {
        fprintf(stderr, "application: %s\n", dlerror());
        exit(9);
    }
    store(&get, dlsym(driver, "cuGetProcAddress_v2"), "cuGetProcAddress_v2");
#define FIND(name)                                                           \
    {                                                                        \
        void *found = NULL;                                                  \
        if (strcmp(way, "opened") == 0)                                      \
            found = dlsym(driver, TEXT(name));                               \
        else if (get(#name, &found, 13000, flags, &status) != CUDA_SUCCESS)      \
            found = NULL;                                                    \
        store(&api.name, found, #name);                                      \
    }
    FUNCTIONS(FIND)
#define FIND_COMPILER(name)                                                  \
    store(&api.name, dlsym(compiler, #name), #name);
    COMPILER(FIND_COMPILER)
}
#endif

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "application: %s: %d\n", what, result);
    exit(8);
}

#include "application_memory.h"

/* -- what it does --------------------------------------------------------- */

static struct {
    char *cubin, *ptx;
    size_t size;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUdeviceptr y, x, low;
} state;

/* A text of the file. */
static char *text_of(const char *path)
{
    enum { MOST = 1 << 16 };
    char *const text = calloc(1, MOST);
    FILE *const file = fopen(path, "r");

    must(file == NULL || fread(text, 1, MOST - 1, file) == 0, path);
    fclose(file);
    return text;
}

static void compile_as(int other)
{
    const char *options[16] = {"--gpu-architecture=sm_90", "-DBLOCK=256",
                               "--define-macro=SCALAR=float",
                               "-default-device"};
    const char *headers[] = {header, ""};
    const char *names[] = {"scale_by.h", getenv("APPLICATION_HEADER")};
    const char *path = getenv("APPLICATION_SOURCE");
    char *more = getenv("APPLICATION_OPTIONS");
    nvrtcProgram program;
    size_t ptx_size;
    int count = 4;

    must((int)api.nvrtcCreateProgram(
             &program, path != NULL ? text_of(path) : source,
             path != NULL ? path : "blend.cu",
             path != NULL ? 0 : names[1] != NULL ? 2 : 1, headers, names),
         "nvrtcCreateProgram");
    if (getenv("APPLICATION_LINES") != NULL)
        options[count++] = "-lineinfo";
    else if (other)
        options[count++] = "-DOTHER=1";
    for (more = more == NULL ? NULL : strtok(strdup(more), ";"); more != NULL;
         more = strtok(NULL, ";"))
        options[count++] = more;
    must((int)api.nvrtcCompileProgram(program, count, options),
         "nvrtcCompileProgram");
    must((int)api.nvrtcGetCUBINSize(program, &state.size), "size");
    state.cubin = malloc(state.size);
    must((int)api.nvrtcGetCUBIN(program, state.cubin), "nvrtcGetCUBIN");
    must((int)api.nvrtcGetPTXSize(program, &ptx_size), "size");
    state.ptx = malloc(ptx_size);
    must((int)api.nvrtcGetPTX(program, state.ptx), "nvrtcGetPTX");
    must((int)api.nvrtcDestroyProgram(&program), "nvrtcDestroyProgram");
}

static void compile(void)
{
    compile_as(getenv("APPLICATION_OTHER") != NULL);
}

static void set_offsets_to(float first)
{
    const float offsets[] = {first, 0};
    CUdeviceptr address;
    size_t size;

    must((int)api.cuModuleGetGlobal(&address, &size, state.module, "offsets"),
         "cuModuleGetGlobal");
    must((int)api.cuMemcpyHtoD(address, offsets, sizeof offsets), "copy");
}

static void set_offsets(void)
{
    set_offsets_to(0.5f);
}

static void load_image(const char *image)
{
    must((int)api.cuModuleLoadData(&state.module, image), "load");
    must((int)api.cuModuleGetFunction(&state.function, state.module, "blend"),
         "cuModuleGetFunction");
    set_offsets();
}

static void load(void)
{
    load_image(state.cubin);
}

/* Once more: a module of its own, whose variables hold something else. */
static void load_second(void)
{
    load();
    set_offsets_to(1.5f);
}

static void reload(void)
{
    must((int)api.cuModuleUnload(state.module), "cuModuleUnload");
    load_second();
}

/* In the place of the module one that was compiled otherwise. */
static void load_other(void)
{
    must((int)api.cuModuleUnload(state.module), "cuModuleUnload");
    free(state.cubin);
    free(state.ptx);
    compile_as(1);
    load();
}

static void load_ptx(void)
{
    load_image(state.ptx);
}

/* Through a file, as a program that keeps what it has compiled. */
static void load_file(void)
{
    FILE *file = state.cubin == NULL ? NULL : fopen("kept.cubin", "wb");

    if (state.cubin != NULL &&
        (file == NULL || fwrite(state.cubin, 1, state.size, file) !=
                             state.size || fclose(file) != 0))
        exit(7);
    must((int)api.cuModuleLoad(&state.module, "kept.cubin"), "cuModuleLoad");
    must((int)api.cuModuleGetFunction(&state.function, state.module, "blend"),
         "cuModuleGetFunction");
    set_offsets();
}

/* As the code of nvcc's programs is registered: a pointer to a fatbin, in which
 * there is PTX that is compressed, and the cubin. */
static void load_fatbin(void)
{
    enum { HEADER = 16, ENTRY = 64, PACKED = 8 };
    static struct { uint32_t magic, version; const char *data; void *more; }
        wrapper = {.magic = 0x466243b1, .version = 1};
    const uint64_t bytes = 2 * ENTRY + PACKED + state.size, packed = PACKED,
                   flags[] = {0x8011, getenv("APPLICATION_PACKED") == NULL
                                          ? 0x11 : 0x8011};
    const uint32_t magic = 0xba55ed50, entry = ENTRY;
    char *const fatbin = calloc(1, HEADER + bytes), *at = fatbin;

    if (fatbin == NULL)
        exit(7);
    memcpy(at, &magic, sizeof magic);
    memcpy(at + 4, (const uint16_t[]){1, HEADER}, 4);
    memcpy(at + 8, &bytes, sizeof bytes);
    for (uint16_t kind = 1; kind <= 2; kind++) {
        at += kind == 1 ? HEADER : ENTRY + PACKED;
        memcpy(at, &kind, sizeof kind);
        memcpy(at + 4, &entry, sizeof entry);
        memcpy(at + 8, kind == 1 ? &packed : &(uint64_t){state.size}, 8);
        memcpy(at + 40, &flags[kind - 1], sizeof flags[0]);
    }
    memcpy(at + ENTRY, state.cubin, state.size);
    wrapper.data = fatbin;
    load_image((const char *)&wrapper);
}

static void load_library_as(int function)
{
    CUlibrary library;
    CUkernel kernel;

    must((int)api.cuLibraryLoadData(&library, state.cubin, NULL, NULL, 0, NULL,
                                    NULL, 0), "cuLibraryLoadData");
    must((int)api.cuLibraryGetKernel(&kernel, library, "blend"), "kernel");
    must((int)api.cuLibraryGetModule(&state.module, library), "module");
    set_offsets();
    state.function = (CUfunction)kernel;
    if (function)
        must((int)api.cuKernelGetFunction(&state.function, kernel),
             "cuKernelGetFunction");
}

static void load_library(void)
{
    load_library_as(0);
}

static void load_kernel(void)
{
    load_library_as(1);
}

enum way_of_launch { PLAIN, EX, COOPERATIVE, CLUSTER, PROGRAMMATIC, SERIAL };

static void launch_ex_as(enum way_of_launch way, void **arguments)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                   .value.cooperative = 1};
    CUlaunchConfig config = {.gridDimX = 4, .gridDimY = 1, .gridDimZ = 1,
                             .blockDimX = 256, .blockDimY = 1, .blockDimZ = 1,
                             .hStream = state.stream, .attrs = &attribute,
                             .numAttrs = way != EX};

    if (way == CLUSTER) {
        attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute.value.clusterDim.x = 2;
        attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    } else if (way == PROGRAMMATIC || way == SERIAL) {
        attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute.value.programmaticStreamSerializationAllowed =
            way == PROGRAMMATIC;
    }
    must((int)api.cuLaunchKernelEx(&config, state.function, arguments, NULL),
         "launch");
}

static void launch_as(enum way_of_launch way, int n)
{
    float a = 2.5f;
    struct bounds bounds = {state.low, 8, N - 8};
    void *arguments[] = {&state.y, &state.x, &a, &n, &bounds};

    if (way != PLAIN)
        launch_ex_as(way, arguments);
    else
        must((int)api.cuLaunchKernel(state.function, 4, 1, 1, 256, 1, 1, 0,
                                     state.stream, arguments, NULL), "launch");
}

static void launch(void)
{
    launch_as(PLAIN, N);
}

static void launch_ex(void)
{
    launch_as(EX, N);
}

static void launch_cooperative(void)
{
    launch_as(COOPERATIVE, N);
}

static void launch_cluster(void)
{
    launch_as(CLUSTER, N);
}

static void launch_programmatic(void)
{
    launch_as(PROGRAMMATIC, N);
}

/* It could be, and is not. */
static void launch_serial(void)
{
    launch_as(SERIAL, N);
}

/* Fewer elements, as many blocks. */
static void launch_short(void)
{
    launch_as(PLAIN, N - 1);
}

/* From here on the output is a variable of the module. */
static void keep(void)
{
    size_t size;

    must((int)api.cuModuleGetGlobal(&state.y, &size, state.module, "kept"),
         "cuModuleGetGlobal");
}

/* Its parameters as one block of bytes. */
static void launch_packed(void)
{
    struct {
        CUdeviceptr y, x;
        float a;
        int n;
        struct bounds bounds;
    } bytes = {state.y, state.x, 2.5f, N, {state.low, 8, N - 8}};
    size_t size = sizeof bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &bytes,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};

    must((int)api.cuLaunchKernel(state.function, 4, 1, 1, 256, 1, 1, 0,
                                 state.stream, NULL, extra), "launch");
}

/* What no capture may disturb. */
static void begin_graph(void)
{
    must((int)api.cuStreamBeginCapture(state.stream,
                                       CU_STREAM_CAPTURE_MODE_GLOBAL),
         "cuStreamBeginCapture");
}

static void print_sum(void)
{
    float y[N];
    double sum = 0;

    get(y, state.y, sizeof y, state.stream);
    for (int i = 0; i < N; i++)
        sum += (double)y[i];
    printf("sum %.3f\n", sum);
    fflush(stdout);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
}

/* A child that ends as a process does, and did nothing. */
static void fork_once(void)
{
    const pid_t child = fork();

    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
}

static void exit_three(void)
{
    exit(3);
}

static void quit(void)
{
    _exit(3);
}

static void wait_second(void)
{
    sleep(1);
}

static char **words;           /* of the command line */

/* The same program once more in this process, with its first two steps. */
static void exec_again(void)
{
    char *again[] = {words[0], words[1], words[2], words[3], NULL};

    execv("/proc/self/exe", again);
    exit(6);
}

/* What is none of the library's has to come as it would without it. */
static void look_up(void)
{
    void *const next = dlsym(RTLD_NEXT, "strlen");
    void *const none = dlsym(RTLD_DEFAULT, "no_such_function");
    const char *why = dlerror();

    printf("looked up: %d %d %s\n", next != NULL, none == NULL,
           why == NULL ? "no reason" : strrchr(why, ' ') + 1);
}

static unsigned threads_of(const char *name)
{
    return strcmp(name, "loose") == 0 ? 64 : 256;
}

/* Of some kernels other numbers than cover n elements. */
static unsigned blocks_of(const char *name, int n)
{
    return strcmp(name, "stride") == 0   ? 2
           : strcmp(name, "loose") == 0  ? 6
           : strcmp(name, "uneven") == 0 ? (unsigned)(n % 7) + 1
                                         : (unsigned)(n + 255) / 256;
}

/* New buffers for n elements: an output of all, of which some hold already what
 * they will, or sums of them all by atomics. */
static void launch_other(const char *name, int n)
{
    const size_t bytes = (size_t)n * sizeof(float);
    const int outputs = strcmp(name, "total") == 0 ? 4 : n;
    const char *pool = getenv("APPLICATION_POOL");
    const char *symbol = getenv("APPLICATION_SYMBOL");
    const char *factor = getenv("APPLICATION_FACTOR");
    const char *shared = getenv("APPLICATION_SHARED");
    float a = factor == NULL ? 2.5f : strtof(factor, NULL);
    float *values = malloc(bytes);
    CUdeviceptr x, z;
    CUfunction function;
    void *cover[] = {&z, &x, &a, &n}, *total[] = {&z, &x, &n};

    for (int i = 0; i < n; i++)
        values[i] = getenv("APPLICATION_NOISE") == NULL
                        ? (float)(i % 7)
                        : (float)((unsigned)i * 2654435761u % 16777213);
    must((int)api.cuModuleGetFunction(&function, state.module,
                                      symbol != NULL ? symbol : name),
         "cuModuleGetFunction");
    x = allocate(bytes + (pool == NULL ? 0 : (size_t)1 << 16));
    if (pool == NULL)
        z = allocate((size_t)outputs * sizeof(float));
    else
        z = x + strtoull(pool, NULL, 10);
    put(x, values, bytes);
    memset(values, 0, bytes);
    put(z, values, (size_t)outputs * sizeof(float));
    must((int)api.cuLaunchKernel(function, blocks_of(name, n), 1, 1,
                                 threads_of(name), 1, 1,
                                 shared == NULL
                                     ? 0 : (unsigned)strtoul(shared, NULL, 10),
                                 state.stream,
                                 outputs == n ? cover : total, NULL),
         "launch");
    free(values);
}

enum { ROWS = 3, NODES = 4 };

static CUdeviceptr new_memory(const void *data, size_t size)
{
    const CUdeviceptr memory = allocate(size);

    put(memory, data, size);
    return memory;
}

/* An address behind what blend reads of `low`: of memory that is there, and of
 * some that is gone. */
static void keep_address(void)
{
    const float value = 1;
    const CUdeviceptr address = new_memory(&value, sizeof value);

    put(state.low + 8, &address, sizeof address);
}

static void keep_stale(void)
{
    const float value = 1;
    const CUdeviceptr address = new_memory(&value, sizeof value);

    give_back(address);
    put(state.low + 8, &address, sizeof address);
}

static void launch_rows(const char *name, unsigned x, unsigned y, void **with)
{
    CUfunction function;

    must((int)api.cuModuleGetFunction(&function, state.module, name),
         "cuModuleGetFunction");
    must((int)api.cuLaunchKernel(function, x, y, 1, 256, 1, 1, 0,
                                 state.stream, with, NULL), "launch");
}

/* Tables of rows, each an allocation of its own. */
static void gather(void)
{
    CUdeviceptr rows[ROWS], outs[ROWS], out, in;
    float values[N];
    int n = N;
    void *arguments[] = {&out, &in, &n};

    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < N; i++)
            values[i] = (float)(i % 7 + r);
        rows[r] = new_memory(values, sizeof values);
        memset(values, 0, sizeof values);
        outs[r] = new_memory(values, sizeof values);
    }
    out = new_memory(outs, sizeof outs);
    in = new_memory(rows, sizeof rows);
    launch_rows("gather", 4, ROWS, arguments);
}

/* A list, whose nodes are found one from the other. */
static void walk(void)
{
    /* No padding, which might hold what looks like an address. */
    struct { float value; unsigned rest; CUdeviceptr next; } node = {1, 0, 0};
    float zero = 0;
    CUdeviceptr first = 0, sum = new_memory(&zero, sizeof zero);
    void *arguments[] = {&sum, &first};

    for (int k = 0; k < NODES; k++) {
        node.next = first;
        node.value = (float)k;
        first = new_memory(&node, sizeof node);
    }
    launch_rows("walk", 1, 1, arguments);
}

/* Ranges, whose ends are those of their memory, and whose middles are written
 * down. */
static void span(void)
{
    CUdeviceptr spans[ROWS][2], middles[ROWS] = {0}, in, out;
    float values[N];
    int n = ROWS;
    void *arguments[] = {&out, &in, &n};

    for (int i = 0; i < N; i++)
        values[i] = (float)(i % 7);
    for (int r = 0; r < ROWS; r++) {
        spans[r][0] = new_memory(values, sizeof values);
        spans[r][1] = spans[r][0] + sizeof values;
    }
    in = new_memory(spans, sizeof spans);
    out = new_memory(middles, sizeof middles);
    launch_rows("span", 1, 1, arguments);
}

static void launch_times(int n)
{
    for (int k = 0; k < n; k++)
        launch_as(PLAIN, N);
}

/* With a launch of another kernel behind each. */
static void launch_mixed(int n)
{
    float a = 2.5f;
    int count = N;
    void *arguments[] = {&state.y, &state.x, &a, &count};
    CUfunction cover;

    must((int)api.cuModuleGetFunction(&cover, state.module, "cover"),
         "cuModuleGetFunction");
    for (int k = 0; k < n; k++) {
        launch_as(PLAIN, N);
        must((int)api.cuLaunchKernel(cover, 4, 1, 1, 256, 1, 1, 0, state.stream,
                                     arguments, NULL), "launch");
    }
}

/* What follows goes into another stream. */
static void move_on(void)
{
    must((int)api.cuStreamCreate(&state.stream, CU_STREAM_DEFAULT), "stream");
}

/* Many launches, for what one that nobody captures costs. */
static void launch_many(void)
{
    launch_times(20000);
}

static CUcontext context;

static void *launch_beside(void *nothing)
{
    must((int)api.cuCtxSetCurrent(context), "context");
    launch_times(200);
    return nothing;
}

/* From several threads at a time. */
static void launch_threads(void)
{
    pthread_t threads[3];

    for (int k = 0; k < 3; k++)
        must(pthread_create(&threads[k], NULL, launch_beside, NULL), "thread");
    for (int k = 0; k < 3; k++)
        must(pthread_join(threads[k], NULL), "thread");
}

static const struct {
    const char *word;
    void (*run)(void);
} steps[] = {
    {"load", load}, {"load_ptx", load_ptx}, {"load_file", load_file},
    {"load_fatbin", load_fatbin},
    {"load_library", load_library}, {"load_second", load_second},
    {"reload", reload}, {"load_other", load_other}, {"fork", fork_once},
    {"launch", launch}, {"launch_ex", launch_ex},
    {"launch_cooperative", launch_cooperative},
    {"launch_cluster", launch_cluster},
    {"launch_programmatic", launch_programmatic}, {"load_kernel", load_kernel},
    {"launch_serial", launch_serial}, {"launch_short", launch_short},
    {"graph", begin_graph},
    {"sum", print_sum}, {"die", die}, {"exit_three", exit_three},
    {"keep", keep}, {"launch_packed", launch_packed},
    {"gather", gather}, {"walk", walk}, {"span", span}, {"launch_many", launch_many},
    {"look_up", look_up}, {"threads", launch_threads}, {"quit", quit},
    {"second", wait_second}, {"exec", exec_again}, {"move", move_on},
    {"keep_address", keep_address}, {"keep_stale", keep_stale},
};

static void begin(void)
{
    float values[N];

    must((int)api.cuInit(0), "cuInit");
    must((int)api.cuDevicePrimaryCtxRetain(&context, 0), "context");
    must((int)api.cuCtxSetCurrent(context), "context");
    must((int)api.cuStreamCreate(&state.stream, CU_STREAM_DEFAULT),
         "stream");
    for (int i = 0; i < N; i++)
        values[i] = (float)(i % 7);
    state.y = new_memory(values, sizeof values);
    state.x = new_memory(values, sizeof values);
    state.low = new_memory(values + 1, 64);
    if (getenv("APPLICATION_KEPT") == NULL)
        compile();
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    words = argv;
    if (getenv("APPLICATION_BASE") != NULL)
        setenv("FAKE_CUDA_BASE", getenv("APPLICATION_BASE"), 1);
    open_all(argv[1]);
    begin();
    for (int k = 2; k < argc; k++) {
        char name[8] = "";
        int n = 0;

        if (sscanf(argv[k], "times=%d", &n) == 1)
            launch_times(n);
        else if (sscanf(argv[k], "mixed=%d", &n) == 1)
            launch_mixed(n);
        else if (sscanf(argv[k], "%7[a-z]=%d", name, &n) == 2)
            launch_other(name, n);
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
            if (strcmp(steps[i].word, argv[k]) == 0)
                steps[i].run();
    }
    return 0;
}
