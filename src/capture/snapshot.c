/* SPDX-License-Identifier: MIT */
/*
 * snapshot: what one launch is given and what it makes of it.  Everything that
 * its parameters lead to is copied before it and after it, whole allocations,
 * on a stream of our own, when the launch's stream has come so far.
 *
 * Nothing of it may be seen by the application: a stream that is captured into
 * a graph is left alone, the mode in which other threads capture is kept, and
 * one that waits for the host is waited for ten seconds and no longer.
 */
#include "capture/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/variable_name.h"

struct shmt_capture_snapshot {
    struct shmt_capture_record record;
    struct shmt_capture_launch launch;
    const struct shmt_capture_driver *driver;
    CUstreamCaptureMode mode;
    CUstream stream;           /* of our own */
    CUmodule module;           /* the function's, with its variables */
    uint64_t bytes;
    unsigned char *values;     /* of all parameters, one after the other */
    struct shmt_capture_search search;
    bool misplaced;            /* it led to what has no `at` in a spec */
};

/* Of all launches so far; launch.c lets one at a time in here. */
static uint64_t taken_bytes;

static bool leave_out(const struct shmt_capture_snapshot *snapshot,
                      const char *why)
{
    const unsigned *grid = snapshot->launch.grid;

    shmt_capture_note("%s (grid %u x %u x %u) is left out: %s",
                      snapshot->record.function.name, grid[0], grid[1],
                      grid[2], why);
    return false;
}

static bool leave_out_by(const struct shmt_capture_snapshot *snapshot,
                         const char *why, CUresult code)
{
    char room[32], text[160];

    snprintf(text, sizeof text, "%s: %s", why,
             shmt_capture_error(snapshot->driver, code, room));
    return leave_out(snapshot, text);
}

/* What is in the stream is waited for; false: it was left out, as `what` did
 * not come to its end. */
static bool await(const struct shmt_capture_snapshot *snapshot,
                  CUstream stream, const char *what)
{
    const CUresult result = shmt_capture_await(snapshot->driver, stream);
    char text[64];

    if (result == CUDA_SUCCESS)
        return true;
    snprintf(text, sizeof text, "%s %s", what,
             result == CUDA_ERROR_NOT_READY ? "was not done in ten seconds"
                                            : "failed");
    return result == CUDA_ERROR_NOT_READY
               ? leave_out(snapshot, text)
               : leave_out_by(snapshot, text, result);
}

/* -- parameters ----------------------------------------------------------- */

static bool copy_parameters(struct shmt_capture_snapshot *snapshot)
{
    struct shmt_capture_record *record = &snapshot->record;
    struct shmt_capture_layout layout;
    const char *why = shmt_capture_layout_of(&record->function,
                                             snapshot->launch.handle, &layout);
    void *given[SHMT_CAPTURE_PARAMETERS];
    size_t sum = 0;

    if (why == NULL)
        why = shmt_capture_arguments(&snapshot->launch, &layout, given);
    if (why != NULL)
        return leave_out(snapshot, why);
    for (size_t k = 0; k < layout.count; k++)
        sum += layout.sizes[k];
    snapshot->values = malloc(sum + 1);
    if (snapshot->values == NULL)
        return leave_out(snapshot, "there is no memory");
    sum = 0;
    for (size_t k = 0; k < layout.count; k++) {
        struct shmt_capture_parameter *one = &record->parameters[k];

        one->offset = layout.offsets[k];
        one->size = layout.sizes[k];
        one->bytes = memcpy(snapshot->values + sum, given[k], one->size);
        sum += one->size;
    }
    record->parameter_count = layout.count;
    return true;
}

/* How many blocks there may be at a time, and by which registers. */
static void ask_resources(struct shmt_capture_snapshot *snapshot)
{
    const struct shmt_capture_driver *driver = snapshot->driver;
    const unsigned *block = snapshot->launch.block;
    struct shmt_capture_record *record = &snapshot->record;
    CUfunction function = shmt_capture_plain_function(
        &record->function, snapshot->launch.handle);

    if (function == NULL ||
        driver->FuncGetAttribute(&record->registers, CU_FUNC_ATTRIBUTE_NUM_REGS,
                                 function) != CUDA_SUCCESS)
        record->registers = 0;
    if (function == NULL ||
        driver->OccupancyMaxActiveBlocksPerMultiprocessor(
            &record->resident, function, (int)(block[0] * block[1] * block[2]),
            snapshot->launch.shared) != CUDA_SUCCESS)
        record->resident = 0;
}

/* -- what they lead to ---------------------------------------------------- */

/* The allocation, or what of it is a texture's; its place among the memories in
 * *at. */
static bool add_memory(struct shmt_capture_snapshot *snapshot,
                       const struct shmt_capture_range *range, size_t *at)
{
    struct shmt_capture_record *record = &snapshot->record;
    const uint64_t limit = shmt_capture_setting()->bytes;

    for (size_t k = 0; k < record->memory_count; k++)
        if (record->memories[k].base == range->base &&
            record->memories[k].size >= range->size) {
            *at = k;
            return true;
        }
    if (record->memory_count == SHMT_CAPTURE_MEMORIES)
        return leave_out(snapshot, "it reaches more than 256 allocations");
    snapshot->bytes += range->size;
    if (snapshot->bytes > limit - taken_bytes)
        return leave_out(snapshot, "its buffers have more bytes than are "
                         "left of --max-bytes");
    *at = record->memory_count++;
    record->memories[*at] = (struct shmt_capture_memory){
        .base = range->base, .size = range->size, .kind = range->kind};
    return true;
}

/* So many bytes at an address, of the kind that the driver says. */
static struct shmt_capture_range
part_at(const struct shmt_capture_snapshot *snapshot, CUdeviceptr base,
        size_t size)
{
    struct shmt_capture_range range;

    shmt_capture_range_of(snapshot->driver, base, &range);
    range.base = base;
    range.size = size;
    return range;
}

/* Whether eight bytes are an address of the device, and of what.  false: of
 * memory that cannot be copied.  A host's pointer in a struct may be nothing to
 * the kernel; one that is passed by itself is meant. */
static bool look_at_word(struct shmt_capture_snapshot *snapshot,
                         size_t parameter, size_t at)
{
    struct shmt_capture_record *record = &snapshot->record;
    struct shmt_capture_pointer *pointer =
        &record->pointers[record->pointer_count];
    struct shmt_capture_range range;
    CUdeviceptr address;

    memcpy(&address, record->parameters[parameter].bytes + at,
           sizeof address);
    if (!shmt_capture_range_of(snapshot->driver, address, &range))
        return record->parameters[parameter].size > sizeof address ||
               !shmt_capture_is_pageable(snapshot->driver, address) ||
               leave_out(snapshot, "a parameter leads to memory of the host "
                         "that is not pinned; let the program get it by "
                         "cudaMallocManaged or cudaMallocHost");
    if (range.size == 0)
        return leave_out(snapshot, "the driver does not say how large the "
                         "memory is that a parameter leads to");
    if (record->pointer_count == SHMT_CAPTURE_MEMORIES)
        return leave_out(snapshot, "it has more than 256 pointers");
    *pointer = (struct shmt_capture_pointer){
        .parameter = parameter, .at = at, .offset = address - range.base};
    record->pointer_count++;
    return add_memory(snapshot, &range, &pointer->memory);
}

/* Members of a struct lie on multiples of eight bytes of it, where they are
 * pointers. */
static bool find_memories(struct shmt_capture_snapshot *snapshot)
{
    const struct shmt_capture_record *record = &snapshot->record;

    for (size_t k = 0; k < record->parameter_count; k++)
        for (size_t at = 0; at + 8 <= record->parameters[k].size; at += 8)
            if (!look_at_word(snapshot, k, at))
                return false;
    return true;
}

/* What the textures among the parameters are of.  Of an allocation only that is
 * copied, if no pointer leads to its begin, and it is not looked at again: a
 * launch does not change what it reads through one. */
static bool find_textures(struct shmt_capture_snapshot *snapshot)
{
    struct shmt_capture_record *record = &snapshot->record;

    for (size_t k = 0; k < record->parameter_count; k++) {
        const size_t before = record->memory_count;
        struct shmt_capture_texture *one =
            &record->textures[record->texture_count];
        struct shmt_capture_range range;
        uint64_t handle;

        if (record->parameters[k].size != sizeof handle)
            continue;
        memcpy(&handle, record->parameters[k].bytes, sizeof handle);
        if (!shmt_capture_texture_of(handle, one))
            continue;
        one->parameter = k;
        record->texture_count++;
        if (one->other != NULL)
            continue;
        range = one->array == NULL
                    ? part_at(snapshot, one->base,
                              shmt_capture_texture_bytes(one))
                    : (struct shmt_capture_range){
                          .base = one->base,
                          .size = shmt_capture_texture_bytes(one)};
        if (!add_memory(snapshot, &range, &one->memory))
            return false;
        if (record->memory_count > before)
            record->memories[one->memory].texture = one;
    }
    return true;
}

/* A static variable of a function has the name of its file in its own, so that
 * no other compile has it; that gives it its value again. */
static bool is_of_function(const char *name)
{
    return strncmp(name, "_ZZN", 4) == 0 && strstr(name, "_INTERNAL_") != NULL;
}

/* A variable that the module does not have is another image's; one of the
 * toolkit's has its value from each compile. */
static bool add_variable(void *context, const char *name)
{
    struct shmt_capture_snapshot *const snapshot = context;
    struct shmt_capture_record *record = &snapshot->record;
    struct shmt_capture_range range;
    CUdeviceptr base;
    size_t size, place;

    if (is_of_function(name) || shmt_variable_is_of_toolkit(name) ||
        snapshot->driver->ModuleGetGlobal(&base, &size, snapshot->module,
                                          name) != CUDA_SUCCESS)
        return true;
    range = part_at(snapshot, base, size);
    if (!add_memory(snapshot, &range, &place))
        return false;
    free(record->memories[place].symbol);
    record->memories[place].symbol = strdup(name);
    return record->memories[place].symbol != NULL ||
           leave_out(snapshot, "there is no memory");
}

/* __constant__ and __device__ variables of its module, which the binary
 * lists. */
static bool find_variables(struct shmt_capture_snapshot *snapshot)
{
    const struct shmt_capture_function *function = &snapshot->record.function;
    bool hidden;

    if (function->image == NULL || function->image->data == NULL)
        return true;
    snapshot->module = shmt_capture_module_of(snapshot->driver, function);
    if (snapshot->module == NULL)
        return leave_out(snapshot, "the driver has no module of its library");
    if (!shmt_capture_variables(function->image, add_variable, snapshot,
                                &hidden))
        return false;
    if (hidden)
        shmt_capture_note("%s: its binary is compressed: variables that it "
                          "may have, __constant__ or __device__, are not "
                          "captured; nvcc --no-compress keeps them in "
                          "sight", function->name);
    return true;
}

/* -- copies --------------------------------------------------------------- */

/* Where a device has no managed memory while another processor uses it, it may
 * belong to the stream of the launch alone. */
static CUstream stream_for(const struct shmt_capture_snapshot *snapshot,
                           const struct shmt_capture_memory *memory)
{
    return memory->kind != SHMT_CAPTURE_MANAGED ||
                   shmt_capture_device_has(
                       snapshot->driver,
                       CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
               ? snapshot->stream : snapshot->launch.stream;
}

/* Always by the driver: the host's own access to managed memory would be a
 * fault where the device is at work. */
static CUresult begin_copy(const struct shmt_capture_driver *driver,
                           const struct shmt_capture_memory *memory, void *out,
                           CUstream stream)
{
    return memory->kind == SHMT_CAPTURE_OF_HOST
               ? driver->MemcpyAsync((CUdeviceptr)(uintptr_t)out, memory->base,
                                     memory->size, stream)
               : driver->MemcpyDtoHAsync(out, memory->base, memory->size,
                                         stream);
}

static bool copy_memory(struct shmt_capture_snapshot *snapshot,
                        const struct shmt_capture_memory *memory,
                        unsigned char **out)
{
    const struct shmt_capture_driver *driver = snapshot->driver;
    const bool array =
        memory->texture != NULL && memory->texture->array != NULL;
    const CUstream stream = stream_for(snapshot, memory);
    bool begun;

    *out = malloc(memory->size + 1);
    if (*out == NULL)
        return leave_out(snapshot, "there is no memory for its buffers");
    begun = array ? shmt_capture_texture_copy(driver, memory->texture, *out,
                                              stream)
                  : begin_copy(driver, memory, *out, stream) == CUDA_SUCCESS;
    if (!begun || shmt_capture_await(driver, stream) != CUDA_SUCCESS)
        return leave_out(snapshot, array ? "an array of it could not be copied"
                                         : "a buffer of it could not be "
                                           "copied");
    return true;
}

/* What the memory has addresses of is copied, too. */
static bool follow(struct shmt_capture_snapshot *snapshot, size_t k)
{
    struct shmt_capture_record *record = &snapshot->record;
    struct shmt_capture_search *search = &snapshot->search;
    size_t at = 0, found;

    while (record->memories[k].texture == NULL &&
           shmt_capture_search_next(search, record->memories[k].before,
                                    record->memories[k].size, &at)) {
        if (search->found.base % SHMT_CAPTURE_ALIGNMENT != 0) {
            snapshot->misplaced = true;
            continue;
        }
        if (!add_memory(snapshot, &search->found, &found))
            return false;
        record->memories[found].hidden =
            record->memories[found].symbol == NULL;
    }
    return true;
}

/* What is not looked at is missing, which shows when the launch is made
 * again. */
static void tell_missing(const struct shmt_capture_snapshot *snapshot,
                         const char *why)
{
    const unsigned *grid = snapshot->launch.grid;

    shmt_capture_note("%s (grid %u x %u x %u): %s",
                      snapshot->record.function.name, grid[0], grid[1],
                      grid[2], why);
}

/* The list grows while it is gone through. */
static bool copy_before(struct shmt_capture_snapshot *snapshot)
{
    struct shmt_capture_record *record = &snapshot->record;

    snapshot->search.driver = snapshot->driver;
    for (size_t k = 0; k < record->memory_count; k++)
        if (!copy_memory(snapshot, &record->memories[k],
                         &record->memories[k].before) ||
            !follow(snapshot, k))
            return false;
    if (snapshot->search.over)
        tell_missing(snapshot, "more words of its buffers look like addresses "
                     "than are looked at: what only the others lead to is not "
                     "captured");
    if (snapshot->misplaced)
        tell_missing(snapshot, "memory of the host that begins at no multiple "
                     "of 16 has no address in a spec: what addresses of it "
                     "in buffers lead to is not captured");
    return true;
}

static bool copy_after(struct shmt_capture_snapshot *snapshot)
{
    struct shmt_capture_record *record = &snapshot->record;

    for (size_t k = 0; k < record->memory_count; k++) {
        struct shmt_capture_memory *one = &record->memories[k];

        if (one->texture != NULL)
            continue;
        if (!copy_memory(snapshot, one, &one->after))
            return false;
        if (memcmp(one->before, one->after, one->size) == 0) {
            free(one->after);
            one->after = NULL;
        }
    }
    return true;
}

/* -- from before to after ------------------------------------------------- */

static void free_snapshot(struct shmt_capture_snapshot *snapshot)
{
    for (size_t k = 0; k < snapshot->record.memory_count; k++) {
        free(snapshot->record.memories[k].symbol);
        free(snapshot->record.memories[k].before);
        free(snapshot->record.memories[k].after);
    }
    free(snapshot->values);
    free(snapshot);
}

/* Calls of ours, such as an event's, would break a capture into a graph that
 * another thread has begun. */
static void enter(struct shmt_capture_snapshot *snapshot)
{
    snapshot->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    snapshot->driver->ThreadExchangeStreamCaptureMode(&snapshot->mode);
}

static void leave(struct shmt_capture_snapshot *snapshot)
{
    snapshot->driver->ThreadExchangeStreamCaptureMode(&snapshot->mode);
}

/* Where the driver does not say it, something before the launch has failed,
 * which is nothing about a graph: but for the stream 0, while another stream is
 * captured. */
static bool is_free(struct shmt_capture_snapshot *snapshot)
{
    bool recorded;
    const CUresult result = shmt_capture_recording(
        snapshot->driver, snapshot->launch.stream, &recorded);

    if (result != CUDA_SUCCESS && result != CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        return leave_out_by(snapshot, "something failed before it", result);
    return (result == CUDA_SUCCESS && !recorded) ||
           leave_out(snapshot, "it is captured into a graph");
}

/* What costs the program no wait is asked first: launches that are left out
 * may be many. */
static bool prepare(struct shmt_capture_snapshot *snapshot)
{
    const struct shmt_capture_driver *driver = snapshot->driver;

    if (!is_free(snapshot))
        return false;
    if (snapshot->launch.other != NULL)
        return leave_out(snapshot, snapshot->launch.other);
    if (!copy_parameters(snapshot) ||
        !find_memories(snapshot) || !find_variables(snapshot) ||
        !find_textures(snapshot))
        return false;
    ask_resources(snapshot);
    if (driver->StreamCreate(&snapshot->stream, CU_STREAM_NON_BLOCKING) !=
        CUDA_SUCCESS)
        return leave_out(snapshot, "the driver makes no stream for copies");
    if (await(snapshot, snapshot->launch.stream, "its stream") &&
        copy_before(snapshot))
        return true;
    driver->StreamDestroy(snapshot->stream);
    return false;
}

struct shmt_capture_snapshot *
shmt_capture_snapshot_begin(const struct shmt_capture_launch *launch)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    struct shmt_capture_snapshot *snapshot =
        driver == NULL ? NULL : calloc(1, sizeof *snapshot);
    bool ready;

    if (snapshot == NULL)
        return NULL;
    snapshot->driver = driver;
    snapshot->launch = *launch;
    snapshot->record.launch = &snapshot->launch;
    enter(snapshot);
    ready = shmt_capture_function_of(launch->handle,
                                     &snapshot->record.function) &&
            prepare(snapshot);
    leave(snapshot);
    if (!ready) {
        free_snapshot(snapshot);
        return NULL;
    }
    return snapshot;
}

bool shmt_capture_snapshot_end(struct shmt_capture_snapshot *snapshot,
                               CUresult result)
{
    const struct shmt_capture_driver *driver = snapshot->driver;
    bool whole = false;

    enter(snapshot);
    if (result != CUDA_SUCCESS)
        leave_out_by(snapshot, "the launch failed", result);
    else if (await(snapshot, snapshot->launch.stream, "the kernel"))
        whole = copy_after(snapshot);
    driver->StreamDestroy(snapshot->stream);
    leave(snapshot);
    whole = whole && shmt_capture_folder_write(&snapshot->record);
    if (whole)
        taken_bytes += snapshot->bytes;
    free_snapshot(snapshot);
    return whole;
}
