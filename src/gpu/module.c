/* SPDX-License-Identifier: MIT */
/*
 * module: loads images into a CUDA context, sets function attributes, asks for
 * occupancy, and launches.  Called by bench/ and runtime/.
 */
#include "gpu/module.h"

#include <string.h>

#include "device/device.h"

enum {
    PORTABLE_CLUSTER = 8,      /* blocks that every device with clusters runs */
    /* CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, which the headers
     * of older toolkits do not have; its value is an int. */
    LAUNCH_CARVEOUT = 14,
    CARVEOUT_VERSION = 12080   /* a driver that knows it */
};

bool shmt_function_has_own_carveout(const struct shmt_driver *driver)
{
    return driver->version >= CARVEOUT_VERSION;
}

static enum shmtune_status read_function(const struct shmt_driver *driver,
                                         const struct shmt_image_entry *entry,
                                         CUmodule module,
                                         struct shmt_function *out,
                                         struct shmt_error *err)
{
    struct shmt_function function = {.carveout = -1};
    const struct {
        CUfunction_attribute attribute;
        int *field;
    } attributes[] = {
        {CU_FUNC_ATTRIBUTE_NUM_REGS, &function.registers},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &function.local_bytes},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &function.shared_static_bytes},
        {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &function.constant_bytes},
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &function.max_threads},
    };
    CUresult result = driver->ModuleGetFunction(&function.handle, module,
                                                entry->lowered);

    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err,
                                 "cuModuleGetFunction of \"%s\" (%s)",
                                 entry->name, entry->lowered);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        result = driver->FuncGetAttribute(attributes[i].field,
                                          attributes[i].attribute,
                                          function.handle);
        if (result != CUDA_SUCCESS)
            return shmt_driver_check(driver, result, err,
                                     "cuFuncGetAttribute of \"%s\"",
                                     entry->name);
    }
    function.dynamic_limit =
        SHMT_FIT_STATIC_BYTES - function.shared_static_bytes;
    *out = function;
    return SHMTUNE_OK;
}

static enum shmtune_status
find_variables(const struct shmt_driver *driver,
               const struct shmt_image *image, struct shmt_module *module,
               struct shmt_error *err)
{
    for (size_t k = 0; k < image->variable_count; k++) {
        const struct shmt_image_variable *variable = &image->variables[k];
        struct shmt_module_variable *found = &module->variables[k];
        const CUresult result =
            driver->ModuleGetGlobal(&found->address, &found->bytes,
                                    module->handle, variable->name);

        if (result != CUDA_SUCCESS)
            return shmt_driver_check(driver, result, err,
                                     "cuModuleGetGlobal of %s",
                                     variable->name);
        found->argument = variable->argument;
    }
    module->variable_count = image->variable_count;
    return SHMTUNE_OK;
}

/* Whether the error means that the driver cannot run this kind of binary.  (A
 * damaged file was refused earlier.) */
static bool is_foreign(CUresult result)
{
    return result == CUDA_ERROR_INVALID_IMAGE ||
           result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
           result == CUDA_ERROR_INVALID_PTX ||
           result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
           result == CUDA_ERROR_INVALID_SOURCE;
}

static enum shmtune_status load_object(const struct shmt_image *image,
                                       struct shmt_module *out,
                                       struct shmt_error *err)
{
    struct shmt_module module = {.function_count = 0};
    const enum shmtune_status status =
        shmt_object_open(image, &module.object, err);

    if (status != SHMTUNE_OK)
        return status;
    memcpy(module.launch_function, image->launch_entry,
           sizeof module.launch_function);
    *out = module;
    return SHMTUNE_OK;
}

static enum shmtune_status load_module(const struct shmt_driver *driver,
                                       const struct shmt_image *image,
                                       struct shmt_module *out,
                                       struct shmt_error *err)
{
    struct shmt_module module = {.function_count = image->entry_count};
    const CUresult result =
        driver->ModuleLoadData(&module.handle, image->cubin);
    enum shmtune_status status = shmt_driver_check(
        driver, result, err,
        "cuModuleLoadData of %zu bytes (driver: CUDA %d.%d)",
        image->cubin_size, driver->version / 1000,
        driver->version % 1000 / 10);

    if (status != SHMTUNE_OK && is_foreign(result)) {
        status = SHMTUNE_NO_CONFIGURATION;
        if (err != NULL)
            err->status = status;
    }
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; status == SHMTUNE_OK && k < image->entry_count; k++)
        status = read_function(driver, &image->entries[k], module.handle,
                               &module.functions[k], err);
    if (status == SHMTUNE_OK)
        status = find_variables(driver, image, &module, err);
    if (status != SHMTUNE_OK) {
        driver->ModuleUnload(module.handle);
        return status;
    }
    memcpy(module.launch_function, image->launch_entry,
           sizeof module.launch_function);
    *out = module;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_module_load(const struct shmt_driver *driver,
                                     const struct shmt_image *image,
                                     struct shmt_module *out,
                                     struct shmt_error *err)
{
    return image->host ? load_object(image, out, err)
                       : load_module(driver, image, out, err);
}

void shmt_module_unload(const struct shmt_driver *driver,
                        struct shmt_module *module)
{
    shmt_object_close(&module->object);
    if (module->handle != NULL)
        driver->ModuleUnload(module->handle);
    *module = (struct shmt_module){0};
}

struct shmt_function *shmt_module_function(struct shmt_module *module,
                                           size_t launch)
{
    const int k = module->launch_function[launch];

    return module->handle == NULL || k < 0 ? NULL : &module->functions[k];
}

shmt_object_function *shmt_module_host(const struct shmt_module *module,
                                       size_t launch)
{
    const int k = module->launch_function[launch];

    return k < 0 ? NULL : module->object.functions[k];
}

enum shmtune_status shmt_function_prepare(const struct shmt_driver *driver,
                                          struct shmt_function *function,
                                          const struct shmt_geometry *geometry,
                                          struct shmt_error *err)
{
    CUresult result = CUDA_SUCCESS;

    if (geometry->shared_dynamic > function->dynamic_limit) {
        if (geometry->shared_dynamic <= INT32_MAX)
            result = driver->FuncSetAttribute(
                function->handle,
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                (int)geometry->shared_dynamic);
        else
            result = CUDA_ERROR_INVALID_VALUE;
        if (result != CUDA_SUCCESS)
            return shmt_driver_check(driver, result, err,
                                     "asking for %lld bytes of dynamic beside "
                                     "%d of static shared memory",
                                     (long long)geometry->shared_dynamic,
                                     function->shared_static_bytes);
        function->dynamic_limit = geometry->shared_dynamic;
    }
    if (!shmt_function_has_own_carveout(driver) &&
        geometry->carveout != function->carveout) {
        result = driver->FuncSetAttribute(
            function->handle,
            CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
            geometry->carveout);
        if (result != CUDA_SUCCESS)
            return shmt_driver_check(driver, result, err,
                                     "asking for a carve-out of %d percent",
                                     geometry->carveout);
        function->carveout = geometry->carveout;
    }
    if (shmt_geometry_cluster(geometry) > PORTABLE_CLUSTER &&
        !function->large_cluster) {
        result = driver->FuncSetAttribute(
            function->handle,
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
        if (result != CUDA_SUCCESS)
            return shmt_driver_check(driver, result, err,
                                     "asking for a cluster of %lld blocks",
                                     (long long)shmt_geometry_cluster(
                                         geometry));
        function->large_cluster = true;
    }
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_function_occupancy(const struct shmt_driver *driver,
                        const struct shmt_function *function,
                        const struct shmt_geometry *geometry, int *blocks,
                        struct shmt_error *err)
{
    const int64_t all = shmt_geometry_threads(geometry);
    const int threads = all < INT32_MAX ? (int)all : INT32_MAX;
    int found = 0;
    const CUresult result = driver->OccupancyMaxActiveBlocksPerMultiprocessor(
        &found, function->handle, threads, (size_t)geometry->shared_dynamic);

    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err,
                                 "resident blocks of %d threads and %lld "
                                 "bytes of dynamic shared memory",
                                 threads, (long long)geometry->shared_dynamic);
    *blocks = found;
    return SHMTUNE_OK;
}

CUresult shmt_function_launch(const struct shmt_driver *driver,
                              const struct shmt_function *function,
                              const struct shmt_geometry *geometry,
                              void **arguments, CUstream stream)
{
    CUlaunchAttribute attributes[3];
    CUlaunchConfig config = {0};

    memset(attributes, 0, sizeof attributes);
    if (geometry->cluster[0] > 0) {
        CUlaunchAttribute *one = &attributes[config.numAttrs++];

        one->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        one->value.clusterDim.x = geometry->cluster[0];
        one->value.clusterDim.y = geometry->cluster[1];
        one->value.clusterDim.z = geometry->cluster[2];
    }
    if (geometry->cooperative) {
        CUlaunchAttribute *one = &attributes[config.numAttrs++];

        one->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        one->value.cooperative = 1;
    }
    if (geometry->carveout >= 0 && shmt_function_has_own_carveout(driver)) {
        CUlaunchAttribute *one = &attributes[config.numAttrs++];

        one->id = (CUlaunchAttributeID)LAUNCH_CARVEOUT;
        memcpy(&one->value, &geometry->carveout, sizeof geometry->carveout);
    }
    if (config.numAttrs == 0)
        return driver->LaunchKernel(
            function->handle, geometry->grid[0], geometry->grid[1],
            geometry->grid[2], geometry->block[0], geometry->block[1],
            geometry->block[2], (unsigned)geometry->shared_dynamic, stream,
            arguments, NULL);
    config.gridDimX = geometry->grid[0];
    config.gridDimY = geometry->grid[1];
    config.gridDimZ = geometry->grid[2];
    config.blockDimX = geometry->block[0];
    config.blockDimY = geometry->block[1];
    config.blockDimZ = geometry->block[2];
    config.sharedMemBytes = (unsigned)geometry->shared_dynamic;
    config.hStream = stream;
    config.attrs = attributes;
    return driver->LaunchKernelEx(&config, function->handle, arguments, NULL);
}

/* The types of a tensor map have no signs but for 32 and 64 bits, which matter
 * to reductions alone. */
static CUtensorMapDataType type_of(enum shmt_element element)
{
    switch (element) {
    case SHMT_ELEMENT_F16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case SHMT_ELEMENT_BF16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case SHMT_ELEMENT_F32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case SHMT_ELEMENT_F64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case SHMT_ELEMENT_I32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case SHMT_ELEMENT_U32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case SHMT_ELEMENT_I64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case SHMT_ELEMENT_U64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case SHMT_ELEMENT_I16:
    case SHMT_ELEMENT_U16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    }
}

CUresult shmt_function_encode_map(const struct shmt_driver *driver,
                                  const struct shmt_argument_map *map,
                                  uint64_t address, void *out)
{
    const cuuint32_t steps[SHMT_ARGUMENT_RANK] = {1, 1, 1, 1, 1};
    cuuint64_t extents[SHMT_ARGUMENT_RANK], strides[SHMT_ARGUMENT_RANK];

    for (size_t k = 0; k < map->rank; k++) {
        extents[k] = map->extents[k];
        strides[k] = k + 1 < map->rank ? map->strides[k] : 0;
    }
    return driver->TensorMapEncodeTiled(
        out, type_of(map->element), (cuuint32_t)map->rank,
        (void *)(uintptr_t)address, extents, strides, map->box, steps,
        map->interleave == 32   ? CU_TENSOR_MAP_INTERLEAVE_32B
        : map->interleave == 16 ? CU_TENSOR_MAP_INTERLEAVE_16B
                                : CU_TENSOR_MAP_INTERLEAVE_NONE,
        map->swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
        : map->swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
        : map->swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                             : CU_TENSOR_MAP_SWIZZLE_NONE,
        map->l2 == 256   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
        : map->l2 == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
        : map->l2 == 64  ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
                         : CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
