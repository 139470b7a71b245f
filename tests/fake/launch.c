/* SPDX-License-Identifier: MIT */
/* launch: modules, their functions, and launches of those. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fake/cuda.h"

enum { FUNCTIONS = 80, NAME = 256, VARIABLES = 8, MOST_ARGUMENTS = 64 };

/* A variable of a module: device memory of its own. */
struct fake_variable {
    char name[NAME];
    CUdeviceptr memory;
    size_t size;
};

struct fake_module {
    struct fake_module *next;
    const void *image;
    size_t count;
    struct fake_function functions[FUNCTIONS];
    char names[FUNCTIONS][NAME];
    size_t variable_count;
    struct fake_variable variables[VARIABLES];
};

/* All that are loaded; a broken context does not unload its own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_module *modules;
/* The one that was unloaded last: the next gets its handles. */
static struct fake_module *unloaded;

size_t fake_modules(void)
{
    size_t count = 0;

    pthread_mutex_lock(&lock);
    for (const struct fake_module *one = modules; one != NULL; one = one->next)
        count++;
    pthread_mutex_unlock(&lock);
    return count;
}

bool fake_is_loaded(const struct fake_function *function)
{
    const struct fake_module *one;

    pthread_mutex_lock(&lock);
    for (one = modules; one != NULL; one = one->next)
        if (function >= one->functions &&
            function < one->functions + one->count)
            break;
    pthread_mutex_unlock(&lock);
    return one != NULL;
}

/* A place for one, all zeros. */
static struct fake_module *take_place(void)
{
    struct fake_module *place;

    pthread_mutex_lock(&lock);
    place = unloaded;
    unloaded = NULL;
    pthread_mutex_unlock(&lock);
    if (place == NULL)
        return calloc(1, sizeof *place);
    memset(place, 0, sizeof *place);
    return place;
}

const void *fake_image(CUfunction function)
{
    return ((const struct fake_function *)(const void *)function)
        ->module->image;
}

CUresult fake_ModuleLoadData(CUmodule *out, const void *image)
{
    struct fake_module *module;

    FAKE_ENTER("ModuleLoadData");
    usleep((useconds_t)(1000 * fake_number("FAKE_CUDA_LOAD_MS", 0)));
    image = fake_image_in(image);
    if (memcmp(image, "\177ELF", 4) != 0 && getenv("FAKE_CUDA_PTX") != NULL)
        return fake_ModuleLoad(out, getenv("FAKE_CUDA_PTX"));
    if (memcmp(image, "\177ELF", 4) != 0)
        return CUDA_ERROR_INVALID_IMAGE;
    module = take_place();
    if (module == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    module->image = image;
    pthread_mutex_lock(&lock);
    module->next = modules;
    modules = module;
    pthread_mutex_unlock(&lock);
    *out = (CUmodule)(void *)module;
    return CUDA_SUCCESS;
}

CUresult fake_ModuleUnload(CUmodule handle)
{
    struct fake_module *const module = (void *)handle, **link = &modules;
    struct fake_module *before;

    FAKE_ENTER("ModuleUnload");
    pthread_mutex_lock(&lock);
    while (*link != module && *link != NULL)
        link = &(*link)->next;
    if (*link != NULL)
        *link = module->next;
    pthread_mutex_unlock(&lock);
    for (size_t k = 0; k < module->variable_count; k++)
        fake_MemFree(module->variables[k].memory);
    pthread_mutex_lock(&lock);
    before = unloaded;
    unloaded = module;
    pthread_mutex_unlock(&lock);
    free(before);
    return CUDA_SUCCESS;
}

/* What the image says of it, for as long as the module is loaded.  The image
 * is read now: our callers ask before they give it back. */
CUresult fake_ModuleGetFunction(CUfunction *out, CUmodule handle,
                                const char *name)
{
    struct fake_module *const module = (void *)handle;
    struct fake_function *const function = &module->functions[module->count];

    FAKE_ENTER("ModuleGetFunction");
    if (!fake_image_find(module->image, name, function))
        return CUDA_ERROR_NOT_FOUND;
    if (module->count + 1 == FUNCTIONS || strlen(name) >= NAME)
        return CUDA_ERROR_OUT_OF_MEMORY;
    function->module = module;
    function->carveout = -1;
    function->name = strcpy(module->names[module->count++], name);
    *out = (CUfunction)(void *)function;
    return CUDA_SUCCESS;
}

static struct fake_variable *find(struct fake_module *module,
                                  const char *name)
{
    for (size_t k = 0; k < module->variable_count; k++)
        if (strcmp(module->variables[k].name, name) == 0)
            return &module->variables[k];
    return NULL;
}

/* The image is read now, as above. */
CUresult fake_ModuleGetGlobal(CUdeviceptr *out, size_t *size, CUmodule handle,
                              const char *name)
{
    struct fake_module *const module = (void *)handle;
    struct fake_variable *variable = find(module, name);

    FAKE_ENTER("ModuleGetGlobal");
    if (variable == NULL) {
        const size_t found = fake_image_variable(module->image, name);

        if (found == 0 || strlen(name) >= NAME)
            return CUDA_ERROR_NOT_FOUND;
        variable = &module->variables[module->variable_count];
        if (module->variable_count == VARIABLES ||
            fake_MemAlloc(&variable->memory, found) != CUDA_SUCCESS)
            return CUDA_ERROR_OUT_OF_MEMORY;
        strcpy(variable->name, name);
        variable->size = found;
        module->variable_count++;
    }
    *out = variable->memory;
    *size = variable->size;
    return CUDA_SUCCESS;
}

void *fake_variable(const struct fake_launch *launch, const char *name)
{
    const struct fake_variable *variable = find(launch->function->module, name);

    return variable == NULL ? NULL : (void *)(uintptr_t)variable->memory;
}

/* Those of the binary, or of $FAKE_CUDA_REGISTERS. */
static int registers_of(const struct fake_function *function)
{
    return (int)fake_number("FAKE_CUDA_REGISTERS", function->registers);
}

CUresult fake_FuncGetAttribute(int *out, CUfunction_attribute which,
                               CUfunction handle)
{
    const struct fake_function *function = (const void *)handle;

    FAKE_ENTER("FuncGetAttribute");
    switch (which) {
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *out = registers_of(function); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *out = function->shared_static;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *out = 1024; break;
    default: *out = 0;
    }
    return CUDA_SUCCESS;
}

CUresult fake_FuncSetAttribute(CUfunction handle,
                               CUfunction_attribute which, int value)
{
    struct fake_function *function = (void *)handle;

    FAKE_ENTER("FuncSetAttribute");
    if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
        value > 232448 - function->shared_static)
        return CUDA_ERROR_INVALID_VALUE;
    if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        function->carveout = value;
    return CUDA_SUCCESS;
}

CUresult fake_OccupancyMaxActiveBlocksPerMultiprocessor(
    int *out, CUfunction handle, int threads, size_t dynamic)
{
    const struct fake_function *function = (const void *)handle;
    const int shared = 233472 / (1024 + function->shared_static +
                                 (int)dynamic);
    const int of_block = (threads + 31) / 32;
    const int warps = 64 / of_block;
    /* 16,384 registers in each of four parts, by 8 for each thread of a warp */
    const int registers =
        registers_of(function) < 1
            ? 32 : 4 * (64 / ((registers_of(function) + 7) / 8)) / of_block;

    FAKE_ENTER("OccupancyMaxActiveBlocksPerMultiprocessor");
    *out = warps < 32 ? warps : 32;
    *out = registers < *out ? registers : *out;
    *out = shared < *out ? shared : *out;
    return CUDA_SUCCESS;
}

/* A profiler sees what is launched between the two. */
CUresult fake_ProfilerStart(void)
{
    FAKE_ENTER("ProfilerStart");
    fake.profiled = true;
    return CUDA_SUCCESS;
}

CUresult fake_ProfilerStop(void)
{
    FAKE_ENTER("ProfilerStop");
    fake.profiled = false;
    return CUDA_SUCCESS;
}

static void note_launch(const struct fake_launch *launch, const char *variable)
{
    const char *path = getenv(variable);
    FILE *file = path != NULL ? fopen(path, "a") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "%s\n", launch->function->name);
    fclose(file);
}

/* CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, which the headers of
 * some toolkits do not have. */
enum { CARVEOUT = 14 };

static void note_carveout(const struct fake_launch *launch)
{
    const char *path = getenv("FAKE_CUDA_CARVEOUTS");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "%d\n", launch->carveout);
    fclose(file);
}

void fake_note_shape(const struct fake_launch *launch, const char *where)
{
    const char *path = getenv("FAKE_CUDA_SHAPES");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "%s %u %u%s\n", launch->function->name, launch->grid,
            launch->threads, where);
    fclose(file);
}

/* "NAME THREADS US [LAST [FROM]]": what comes behind such a launch takes so
 * much longer; with LAST, behind any of the kernel, by the share of such ones
 * in the last so many; with FROM, from so many launches of it on. */
static void change_next(struct fake_launch *launch)
{
    static pthread_mutex_t next = PTHREAD_MUTEX_INITIALIZER;
    static bool follows;
    static uint64_t such;      /* the last of the kernel, a bit each */
    static unsigned long made; /* of the kernel */
    const char *plan = getenv("FAKE_CUDA_NEXT");
    char name[64];
    unsigned threads, last = 1;
    unsigned long from = 0;
    double us;
    bool is_it;

    if (plan == NULL ||
        sscanf(plan, "%63s %u %lf %u %lu", name, &threads, &us, &last,
               &from) < 3)
        return;
    is_it = strcmp(name, launch->function->name) == 0;
    pthread_mutex_lock(&next);
    made += is_it;
    if (follows && made > from)
        launch->cost_us += us * __builtin_popcountll(such << (64 - last)) /
                           last;
    follows = is_it;
    if (is_it)
        such = such << 1 | (threads == launch->threads);
    pthread_mutex_unlock(&next);
}

/* Another time than the kernel has by itself: by a plan, and loading. */
static void change_cost(struct fake_launch *launch)
{
    struct fake_function *const function =
        (struct fake_function *)(uintptr_t)launch->function;
    const char *plan = getenv("FAKE_CUDA_COST");
    static _Atomic(uint32_t) random = 1;
    char name[64];
    unsigned threads, percent = 0;
    double us;

    if (plan != NULL &&
        sscanf(plan, "%63s %u %lf %u", name, &threads, &us, &percent) >= 3 &&
        strcmp(name, launch->function->name) == 0 &&
        threads == launch->threads) {
        random = random * 1664525 + 1013904223;
        launch->cost_us = us + us * percent / 100 *
                                   ((double)(random >> 16) / 32768 - 1);
    }
    change_next(launch);
    if (!atomic_exchange(&function->launched, true))
        launch->cost_us += (double)fake_number("FAKE_CUDA_LOADING", 0);
}

CUresult fake_execute(struct fake_launch *launch)
{
    note_launch(launch, "FAKE_CUDA_LAUNCHES");
    if (fake.profiled)
        note_launch(launch, "FAKE_CUDA_PROFILE");
    if (!fake_kernel_run(launch))
        return CUDA_ERROR_NOT_FOUND;
    change_cost(launch);
    fake.launches++;
    fake.ns += (int64_t)(1e3 * launch->cost_us);
    fake.stuck = launch->stuck;
    return CUDA_SUCCESS;
}

static CUresult run(struct fake_launch *launch)
{
    FAKE_ENTER("LaunchKernel");
    if (launch->threads == 0 || launch->threads > 1024 || launch->grid == 0)
        return CUDA_ERROR_INVALID_VALUE;
    fake_note_shape(launch, fake.capturing ? " graph" : "");
    note_carveout(launch);
    if (!fake.capturing)
        return fake_execute(launch);
    fake_graph_record(launch);
    return CUDA_SUCCESS;
}

void **fake_unpack(CUfunction handle, void **arguments, void **extra,
                   void **out)
{
    unsigned char *bytes = NULL;
    size_t offset, size;

    if (arguments != NULL || extra == NULL)
        return arguments;
    for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2)
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            bytes = extra[1];
    for (size_t k = 0; k < MOST_ARGUMENTS &&
                       fake_parameter(handle, k, &offset, &size); k++)
        out[k] = bytes + offset;
    return out;
}

CUresult fake_LaunchKernel(CUfunction handle, unsigned gx, unsigned gy,
                           unsigned gz, unsigned bx, unsigned by,
                           unsigned bz, unsigned shared, CUstream stream,
                           void **arguments, void **extra)
{
    void *given[MOST_ARGUMENTS];
    struct fake_launch launch = {
        .function = (const void *)handle, .grid = gx * gy * gz,
        .threads = bx * by * bz, .grids = {gx, gy, gz}, .block = {bx, by, bz},
        .carveout = ((const struct fake_function *)(void *)handle)->carveout,
        .arguments = fake_unpack(handle, arguments, extra, given)};

    (void)shared;
    (void)stream;
    return run(&launch);
}

CUresult fake_LaunchKernelEx(const CUlaunchConfig *config,
                             CUfunction handle, void **arguments,
                             void **extra)
{
    void *given[MOST_ARGUMENTS];
    struct fake_launch launch = {
        .function = (const void *)handle,
        .grid = config->gridDimX * config->gridDimY * config->gridDimZ,
        .threads = config->blockDimX * config->blockDimY * config->blockDimZ,
        .grids = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .carveout = ((const struct fake_function *)(void *)handle)->carveout,
        .arguments = fake_unpack(handle, arguments, extra, given)};

    for (unsigned k = 0; k < config->numAttrs; k++) {
        const CUlaunchAttribute *one = &config->attrs[k];

        if (one->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            launch.cooperative = one->value.cooperative != 0;
        if ((int)one->id == CARVEOUT)
            memcpy(&launch.carveout, &one->value, sizeof launch.carveout);
        if (one->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            launch.cluster[0] = one->value.clusterDim.x;
            launch.cluster[1] = one->value.clusterDim.y;
            launch.cluster[2] = one->value.clusterDim.z;
        }
    }
    return run(&launch);
}

_Static_assert(sizeof(struct fake_map) <= sizeof(CUtensorMap),
               "a map of this driver fits");

CUresult fake_TensorMapEncodeTiled(
    CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *extents, const cuuint64_t *strides,
    const cuuint32_t *box, const cuuint32_t *steps,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill)
{
    struct fake_map map = {.address = (uint64_t)(uintptr_t)address,
                           .rank = rank};

    (void)interleave;
    (void)swizzle;
    (void)l2;
    (void)fill;
    FAKE_ENTER("TensorMapEncodeTiled");
    if ((uintptr_t)out % 64 != 0 || (uintptr_t)address % 16 != 0 ||
        type != CU_TENSOR_MAP_DATA_TYPE_FLOAT32 || rank < 1 || rank > 5)
        return CUDA_ERROR_INVALID_VALUE;
    for (cuuint32_t k = 0; k < rank; k++) {
        map.extents[k] = extents[k];
        map.box[k] = box[k];
        if (k > 0)
            map.strides[k - 1] = strides[k - 1];
        if (steps[k] != 1)
            return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(out, &map, sizeof map);
    return CUDA_SUCCESS;
}
