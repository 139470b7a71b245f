/* SPDX-License-Identifier: MIT */
/*
 * function: shmtune_prepare and shmtune_resize make a function from a choice,
 * which never changes from then on.  They load the binary, set the shared
 * memory of each launch, let the driver check it, and compute what every launch
 * needs.  shmtune_launch, the hot path, neither allocates nor waits: everything
 * that does not depend on the call is in the function.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/check.h"
#include "runtime/choice.h"
#include "runtime/context.h"
#include "runtime/interface.h"
#include "runtime/library.h"
#include "runtime/module.h"
#include "runtime/watch.h"

struct step {
    const struct shmt_function *function;   /* in the module */
    struct shmt_geometry geometry;
    const struct shmt_launch *launch;
};

struct slot {
    bool scalar;
    bool array;                  /* passed by value */
    bool texture;                /* the application's own */
    bool needed;                 /* a step uses it */
    int64_t bytes;               /* of a variable of the source */
    unsigned char *packed;       /* a pointer or a struct, to be linked; a
                                    struct shmt_argument_map */
    int64_t cleared;             /* bytes to set to 0 first */
    union shmt_element_scalar value; /* of a scalar: the spec's */
};

struct shmtune_function {
    struct shmt_runtime_module *binary; /* one of its users */
    const struct shmtune_kernel *kernel;
    size_t step_count;
    struct step steps[SHMT_KERNEL_LAUNCHES];
    size_t slot_count;
    struct slot slots[];
};

/* What one call works on. */
struct loading {
    const struct shmtune_choice *choice;
    struct shmt_kernel_evaluated evaluated;
    struct shmtune_function *function;
    struct shmt_error *err;
};

static enum shmtune_status check_fit(struct loading *loading)
{
    const struct shmtune_choice *choice = loading->choice;
    const struct shmtune_device *device = &loading->function->binary->device;
    const struct shmt_fit_launches ask = {.device = device,
                                          .evaluated = &loading->evaluated};
    enum shmtune_status status = shmt_runtime_check(&ask, loading->err);

    if (status == SHMTUNE_NO_CONFIGURATION)
        return shmt_error_prefix(loading->err, "kernel %s cannot run on "
                                 "\"%s\"", choice->kernel->spec->name,
                                 device->name);
    return status;
}

static enum shmtune_status refuse_blocks(const struct loading *loading,
                                         const struct shmt_function *loaded,
                                         const struct shmt_geometry *geometry)
{
    return shmt_error_set(
        loading->err, SHMTUNE_NO_CONFIGURATION,
        "kernel %s: no block of %u x %u x %u threads with %d registers each "
        "and %lld bytes of shared memory fits a multiprocessor of \"%s\"",
        loading->choice->kernel->spec->name, geometry->block[0],
        geometry->block[1], geometry->block[2], loaded->registers,
        (long long)(loaded->shared_static_bytes + geometry->shared_dynamic),
        loading->function->binary->device.name);
}

/* `blocks` fit a multiprocessor, by the driver. */
static enum shmtune_status
check_cooperative(const struct loading *loading,
                  const struct shmt_geometry *geometry, int blocks)
{
    const struct shmtune_device *device = &loading->function->binary->device;
    const int64_t most = (int64_t)blocks * device->multiprocessors;

    if (shmt_geometry_blocks(geometry) <= most)
        return SHMTUNE_OK;
    return shmt_error_set(
        loading->err, SHMTUNE_NO_CONFIGURATION,
        "kernel %s: the grid of a cooperative launch has %lld blocks, \"%s\" "
        "holds at once %lld", loading->choice->kernel->spec->name,
        (long long)shmt_geometry_blocks(geometry), device->name,
        (long long)most);
}

/* One launch that is made: its function, allowed what it needs. */
static enum shmtune_status prepare_step(struct loading *loading, size_t launch)
{
    struct shmtune_function *function = loading->function;
    const struct shmt_driver *driver = function->binary->driver;
    struct step *step = &function->steps[function->step_count];
    struct shmt_function *loaded =
        shmt_module_function(&function->binary->module, launch);
    int blocks = 0;
    enum shmtune_status status;

    step->geometry = loading->evaluated.geometry[launch];
    if (!step->geometry.used || loaded == NULL)
        return SHMTUNE_OK;
    status = shmt_function_prepare(driver, loaded, &step->geometry,
                                   loading->err);
    if (status == SHMTUNE_OK)
        status = shmt_function_occupancy(driver, loaded, &step->geometry,
                                         &blocks, loading->err);
    if (status == SHMTUNE_OK && blocks < 1)
        status = refuse_blocks(loading, loaded, &step->geometry);
    if (status == SHMTUNE_OK && step->geometry.cooperative)
        status = check_cooperative(loading, &step->geometry, blocks);
    if (status != SHMTUNE_OK)
        return status;
    step->function = loaded;
    step->launch = &loading->evaluated.launches[launch];
    function->step_count++;
    for (size_t k = 0; k < step->launch->reach_count; k++)
        function->slots[step->launch->arguments[k]].needed = true;
    return SHMTUNE_OK;
}

/* Adds to the message which scalar it is about. */
static enum shmtune_status refuse_number(const struct loading *loading,
                                         size_t k)
{
    const struct shmt_kernel *spec = loading->choice->kernel->spec;
    struct shmt_text size = {0};

    shmt_kernel_describe_problem(spec, loading->choice->problem, &size);
    shmt_error_prefix(loading->err, "kernel %s: the number %s (argument %zu) "
                      "at %s", spec->name, spec->arguments[k].name, k,
                      shmt_text_string(&size));
    shmt_text_free(&size);
    return SHMTUNE_INVALID_ARGUMENT;
}

static enum shmtune_status prepare_argument(struct loading *loading, size_t k)
{
    struct shmtune_function *function = loading->function;
    const struct shmt_kernel *spec = function->kernel->spec;
    const struct shmt_argument *argument = &spec->arguments[k];
    struct slot *slot = &function->slots[k];
    struct shmt_value value;
    int64_t bytes = 0;
    enum shmtune_status status;

    slot->scalar = argument->role == SHMT_ROLE_SCALAR;
    slot->array = argument->role == SHMT_ROLE_VALUE;
    slot->texture = argument->role == SHMT_ROLE_TEXTURE;
    if (slot->texture)
        return SHMTUNE_OK;
    if (slot->packed != NULL && slot->needed) {
        status = argument->role == SHMT_ROLE_TENSOR_MAP
                     ? shmt_kernel_argument_map(&loading->evaluated, k,
                                                (void *)slot->packed,
                                                loading->err)
                     : shmt_kernel_argument_pack(&loading->evaluated, k,
                                                 slot->packed, loading->err);
        return status == SHMTUNE_OK ? status : refuse_number(loading, k);
    }
    if (argument->symbol != NULL) {
        status = shmt_choice_bytes(&loading->evaluated, k, &slot->bytes,
                                   loading->err);
        slot->cleared = argument->zeroed ? slot->bytes : 0;
        return status;
    }
    if (!slot->needed)
        return SHMTUNE_OK;
    if (slot->scalar) {
        status = shmt_kernel_argument_value(&loading->evaluated, k, &value,
                                            loading->err);
        if (status == SHMTUNE_OK)
            status = shmt_element_convert(argument->element, value,
                                          &slot->value, loading->err);
        return status == SHMTUNE_OK ? status : refuse_number(loading, k);
    }
    status = shmt_choice_bytes(&loading->evaluated, k, &bytes, loading->err);
    if (status != SHMTUNE_OK)
        return status;
    slot->needed = bytes > 0;
    slot->cleared = argument->zeroed ? bytes : 0;
    return SHMTUNE_OK;
}

/* Completes a function whose binary is loaded. */
static enum shmtune_status make_ready(struct loading *loading)
{
    struct shmtune_function *function = loading->function;
    const struct shmt_kernel *spec = function->kernel->spec;
    enum shmtune_status status = check_fit(loading);

    pthread_mutex_lock(&function->binary->lock);
    for (size_t k = 0; status == SHMTUNE_OK && k < spec->launch_count; k++)
        status = prepare_step(loading, k);
    pthread_mutex_unlock(&function->binary->lock);
    for (size_t k = 0; status == SHMTUNE_OK && k < spec->argument_count; k++)
        status = prepare_argument(loading, k);
    return status;
}

/* What a function keeps of a pointer, a struct or a tensor map. */
static size_t packed_bytes(const struct shmt_argument *argument)
{
    const size_t bytes = argument->role == SHMT_ROLE_TENSOR_MAP
                             ? sizeof(struct shmt_argument_map)
                         : argument->role == SHMT_ROLE_TEXTURE
                             ? 0 : argument->bytes;

    return (bytes + 7) / 8 * 8;
}

/* An empty function for the choice. */
static enum shmtune_status begin(struct loading *loading)
{
    const struct shmtune_kernel *kernel = loading->choice->kernel;
    const struct shmt_argument *arguments = kernel->spec->arguments;
    const size_t slots = kernel->spec->argument_count;
    unsigned char *packed;
    size_t bytes = 0;

    for (size_t k = 0; k < slots; k++)
        bytes += packed_bytes(&arguments[k]);
    loading->function = calloc(1, sizeof *loading->function +
                                      slots * sizeof(struct slot) + bytes);
    if (loading->function == NULL)
        return shmt_error_memory(loading->err);
    packed = (unsigned char *)&loading->function->slots[slots];
    for (size_t k = 0; k < slots; packed += packed_bytes(&arguments[k++]))
        if (packed_bytes(&arguments[k]) > 0)
            loading->function->slots[k].packed = packed;
    loading->function->kernel = kernel;
    loading->function->slot_count = slots;
    shmt_choice_evaluate(loading->choice, &loading->evaluated);
    return SHMTUNE_OK;
}

/* Hands the function out, or undoes what there is of it. */
static enum shmtune_status end(struct loading *loading, const char *what,
                               enum shmtune_status status,
                               struct shmtune_function **out,
                               struct shmtune_message *message)
{
    const struct shmtune_kernel *const kernel = loading->choice->kernel;

    if (kernel->watch != NULL)
        shmt_runtime_watch_say(kernel, loading->choice, what,
                               status == SHMTUNE_OK
                                   ? loading->function->binary->origin
                                   : loading->err->text);
    if (status == SHMTUNE_OK) {
        *out = loading->function;
        return SHMTUNE_OK;
    }
    shmtune_release(loading->function);
    return shmt_runtime_message_copy(message, status, loading->err);
}

enum shmtune_status shmtune_prepare(const struct shmtune_choice *choice,
                                    unsigned flags,
                                    struct shmtune_function **out,
                                    struct shmtune_message *message)
{
    struct shmt_error err = {.status = SHMTUNE_OK};
    struct loading loading = {.choice = choice, .err = &err};
    const struct shmt_runtime_module_request request =
        {choice, &loading.evaluated,
                                                        flags};
    enum shmtune_status status =
        shmt_choice_check(choice, "shmtune_prepare: choice", &err);

    if (status != SHMTUNE_OK)
        return shmt_runtime_message_copy(message, status, &err);
    if (out == NULL)
        return shmt_runtime_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                        "shmtune_prepare: out is NULL");
    if ((flags & ~(unsigned)(SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE)) != 0)
        return shmt_runtime_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                        "shmtune_prepare: the flags are 0x%x, "
                                        "known are SHMTUNE_ALLOW_COMPILE, 0x%x,"
                                        " and SHMTUNE_NO_CACHE, 0x%x", flags,
                                        SHMTUNE_ALLOW_COMPILE,
                                        SHMTUNE_NO_CACHE);
    status = begin(&loading);
    if (status == SHMTUNE_OK)
        status =
            shmt_runtime_module_load(&request, &loading.function->binary, &err);
    if (status == SHMTUNE_OK)
        status = make_ready(&loading);
    return end(&loading, "prepare", status, out, message);
}

/* Checks that the choice needs the same binary, with the same attributes, as
 * the loaded one. */
static enum shmtune_status check_share(struct loading *loading,
                                       struct shmt_runtime_module *binary)
{
    struct shmt_kernel_evaluated *evaluated = &loading->evaluated;
    bool same;
    enum shmtune_status status =
        shmt_runtime_module_matches(binary, evaluated, &same, loading->err);

    if (status != SHMTUNE_OK)
        return status;
    if (shmt_kernel_evaluate_launches(evaluated, loading->err) != SHMTUNE_OK)
        return SHMTUNE_NO_CONFIGURATION;
    for (size_t k = 0; k < evaluated->launch_count; k++) {
        const struct shmt_function *loaded =
            shmt_module_function(&binary->module, k);

        if (evaluated->geometry[k].used)
            same = same && loaded != NULL &&
                   (shmt_function_has_own_carveout(binary->driver) ||
                    loaded->carveout == evaluated->geometry[k].carveout);
    }
    if (same)
        return SHMTUNE_OK;
    return shmt_error_set(loading->err, SHMTUNE_NOT_FOUND,
                          "kernel %s: the choice needs another binary or "
                          "carve-out; prepare it", evaluated->kernel->name);
}

static enum shmtune_status
check_context(const struct shmt_runtime_module *binary,
              struct shmt_error *err)
{
    CUcontext context;
    enum shmtune_status status =
        shmt_runtime_current_context(binary->driver, &context, err);

    if (status == SHMTUNE_OK && context != binary->context)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "the current context is not the one the "
                              "function was prepared in");
    return status;
}

enum shmtune_status shmtune_resize(const struct shmtune_function *function,
                                   const struct shmtune_choice *choice,
                                   struct shmtune_function **out,
                                   struct shmtune_message *message)
{
    struct shmt_error err = {.status = SHMTUNE_OK};
    struct loading loading = {.choice = choice, .err = &err};
    enum shmtune_status status =
        shmt_choice_check(choice, "shmtune_resize: choice", &err);

    if (status != SHMTUNE_OK)
        return shmt_runtime_message_copy(message, status, &err);
    if (function == NULL || out == NULL)
        return shmt_runtime_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                        "shmtune_resize: %s is NULL",
                                        out == NULL ? "out" : "function");
    if (choice->kernel != function->kernel)
        return shmt_runtime_message_set(message, SHMTUNE_NOT_FOUND,
                                        "a function of kernel %s has no "
                                        "binary of %s%s; prepare it",
                                        function->kernel->spec->name,
                                        choice->kernel->spec->name,
                                        choice->kernel->library ==
                                        function->kernel->library
                                            ? "" : " of another handle");
    status = begin(&loading);
    if (status == SHMTUNE_OK)
        status = check_context(function->binary, &err);
    if (status == SHMTUNE_OK)
        status = check_share(&loading, function->binary);
    if (status == SHMTUNE_OK) {
        loading.function->binary = function->binary;
        atomic_fetch_add(&function->binary->users, 1);
        status = make_ready(&loading);
    }
    return end(&loading, "resize", status, out, message);
}

void shmtune_release(struct shmtune_function *function)
{
    if (function == NULL)
        return;
    if (function->binary != NULL)
        shmt_runtime_module_release(function->binary);
    free(function);
}

/* A message with the driver's error and its likely cause. */
static enum shmtune_status refuse(const struct shmtune_function *function,
                                  CUresult result, const char *what,
                                  struct shmtune_message *message)
{
    const struct shmt_driver *driver = function->binary->driver;
    CUcontext current = NULL;
    const bool elsewhere =
        driver->CtxGetCurrent(&current) == CUDA_SUCCESS &&
        current != function->binary->context;

    return shmt_runtime_message_set(
        message, SHMTUNE_CUDA, "kernel %s: %s: %s (%d)%s",
        function->kernel->spec->name, what,
        shmt_driver_error_name(driver, result), (int)result,
        elsewhere ? "; the current context is not the one it was prepared in"
        : shmt_driver_is_sticky(result)
            ? "; this or earlier work on the device failed, and the context "
              "is lost"
            : "");
}

/* A pointer may be declared as a CUdeviceptr or as any device pointer. */
static bool is_null(const void *argument)
{
    CUdeviceptr pointer;

    memcpy(&pointer, argument, sizeof pointer);
    return pointer == 0;
}

/* Whether a variable holds something before a launch that it is to hold. */
static bool is_given(const struct shmt_argument *argument)
{
    return argument->role == SHMT_ROLE_SYMBOL ||
           argument->role == SHMT_ROLE_INOUT;
}

/* Whether every variable of the binary that is to be filled has been. */
static enum shmtune_status
check_filled(const struct shmtune_function *function,
             struct shmtune_message *message)
{
    const struct shmt_runtime_module *binary = function->binary;
    const struct shmt_kernel *spec = function->kernel->spec;
    const size_t count = binary->module.variable_count;
    uint64_t missing = count == 0 ? 0
                                  : (UINT64_MAX >> (64 - count)) &
                                        ~atomic_load(&binary->filled);

    for (size_t k = 0; missing != 0; k++, missing >>= 1) {
        const size_t which = binary->module.variables[k].argument;

        if ((missing & 1) != 0 && is_given(&spec->arguments[which]))
            return shmt_runtime_message_set(
                message, SHMTUNE_INVALID_ARGUMENT,
                "kernel %s: the variable %s (argument %zu) was never filled; "
                "call shmtune_fill", spec->name, spec->arguments[which].name,
                which);
    }
    return SHMTUNE_OK;
}

/* One pointer for each argument, the spec's value where none is given. */
static enum shmtune_status collect(const struct shmtune_function *function,
                                   void *const *arguments, void **out,
                                   struct shmtune_message *message)
{
    static const CUdeviceptr no_buffer;
    const struct shmt_kernel *spec = function->kernel->spec;

    for (size_t k = 0; k < function->slot_count; k++) {
        const struct slot *slot = &function->slots[k];

        if (arguments[k] != NULL)
            out[k] = arguments[k];
        else if (slot->scalar)
            out[k] = (void *)&slot->value;
        else if (slot->packed != NULL)
            out[k] = NULL;         /* made for each launch */
        else
            out[k] = (void *)&no_buffer;
        if (slot->needed && !slot->scalar && slot->packed == NULL &&
            (slot->array ? arguments[k] == NULL : is_null(out[k])))
            return shmt_runtime_message_set(
                message, SHMTUNE_INVALID_ARGUMENT,
                "kernel %s: the %s %s (argument %zu) is null", spec->name,
                slot->array ? "array" : slot->texture ? "texture" : "buffer",
                spec->arguments[k].name,
                k);
    }
    return SHMTUNE_OK;
}

/* The variable of the binary that argument k is, or variable_count. */
static size_t variable_of(const struct shmtune_function *function, size_t k)
{
    const struct shmt_module *module = &function->binary->module;
    size_t v = 0;

    while (v < module->variable_count && module->variables[v].argument != k)
        v++;
    return v;
}

/* What is cleared before the launches as argument k; 0: a variable that the
 * binary has not. */
static CUdeviceptr cleared_at(const struct shmtune_function *function,
                              size_t k, const void *pointer)
{
    const struct shmt_module *module = &function->binary->module;
    const size_t v = variable_of(function, k);
    CUdeviceptr buffer = 0;

    if (v < module->variable_count)
        return module->variables[v].address;
    if (function->kernel->spec->arguments[k].symbol == NULL)
        memcpy(&buffer, pointer, sizeof buffer);
    return buffer;
}

static enum shmtune_status clear(const struct shmtune_function *function,
                                 void *const *pointers, CUstream stream,
                                 struct shmtune_message *message)
{
    for (size_t k = 0; k < function->slot_count; k++) {
        const struct slot *slot = &function->slots[k];
        CUdeviceptr buffer;
        CUresult result;

        if (slot->cleared == 0)
            continue;
        buffer = cleared_at(function, k, pointers[k]);
        if (buffer == 0)
            continue;
        result = function->binary->driver->MemsetD8Async(
            buffer, 0, (size_t)slot->cleared, stream);
        if (result != CUDA_SUCCESS)
            return refuse(function, result, "cuMemsetD8Async", message);
    }
    return SHMTUNE_OK;
}

/* Makes argument k at `at`: its numbers, and the addresses of the buffers. */
static CUresult link_packed(const struct shmtune_function *function, size_t k,
                            void *const *pointers, unsigned char *at)
{
    const struct shmt_argument *argument =
        &function->kernel->spec->arguments[k];
    uint64_t addresses[SHMT_KERNEL_ARGUMENTS];

    for (size_t m = 0; m < argument->member_count; m++) {
        const size_t target = argument->members[m].target;

        if (target != SHMT_ARGUMENT_NONE)
            memcpy(&addresses[target], pointers[target], sizeof *addresses);
    }
    if (argument->role == SHMT_ROLE_TENSOR_MAP)
        return shmt_function_encode_map(
            function->binary->driver,
            (const void *)function->slots[k].packed,
            addresses[argument->members[0].target], at);
    memcpy(at, function->slots[k].packed, argument->bytes);
    shmt_argument_link(argument, addresses, at);
    return CUDA_SUCCESS;
}

/* One launch; the driver has read the arguments when it returns. */
static CUresult launch(const struct shmtune_function *function,
                       const struct step *step, void *const *pointers,
                       CUstream stream)
{
    enum { ALIGNMENT = SHMT_ARGUMENT_MAP_ALIGNMENT };
    _Alignas(ALIGNMENT) unsigned char room[SHMT_KERNEL_ARGUMENT_BYTES +
                                           ALIGNMENT * SHMT_KERNEL_ARGUMENTS];
    void *given[SHMT_KERNEL_ARGUMENTS];
    CUresult result = CUDA_SUCCESS;
    size_t used = 0;

    for (size_t k = 0;
         result == CUDA_SUCCESS && k < step->launch->argument_count; k++) {
        const size_t which = step->launch->arguments[k];

        given[k] = pointers[which];
        if (given[k] != NULL)
            continue;
        given[k] = room + used;
        result = link_packed(function, which, pointers, room + used);
        used += (function->kernel->spec->arguments[which].bytes + ALIGNMENT -
                 1) / ALIGNMENT * ALIGNMENT;
    }
    return result != CUDA_SUCCESS
               ? result
               : shmt_function_launch(function->binary->driver,
                                      step->function, &step->geometry, given,
                                      stream);
}

static enum shmtune_status launch_all(const struct shmtune_function *function,
                                      void *const *arguments, void *stream,
                                      struct shmtune_message *message)
{
    void *pointers[SHMT_KERNEL_ARGUMENTS];
    enum shmtune_status status;

    if (function == NULL || (arguments == NULL && function->slot_count > 0))
        return shmt_runtime_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                        "shmtune_launch: %s is NULL",
                                        function == NULL ? "function"
                                                         : "arguments");
    status = check_filled(function, message);
    if (status == SHMTUNE_OK)
        status = collect(function, arguments, pointers, message);
    if (status == SHMTUNE_OK)
        status = clear(function, pointers, stream, message);
    for (size_t s = 0; status == SHMTUNE_OK && s < function->step_count;
         s++) {
        const struct step *step = &function->steps[s];
        CUresult result;

        result = launch(function, step, pointers, stream);
        if (result != CUDA_SUCCESS)
            status = refuse(function, result, step->launch->entry, message);
    }
    return status;
}

enum shmtune_status shmtune_launch(const struct shmtune_function *function,
                                   void *const *arguments, void *stream,
                                   struct shmtune_message *message)
{
    struct shmtune_message own;
    enum shmtune_status status;

    if (function == NULL || function->kernel->watch == NULL)
        return launch_all(function, arguments, stream, message);
    if (message == NULL)
        message = &own;
    status = launch_all(function, arguments, stream, message);
    if (status != SHMTUNE_OK)
        shmt_runtime_watch_say(function->kernel, NULL, "launch",
                               message->text);
    return status;
}

/* Copies `bytes` to argument k, a variable, or from it, and sets *there to
 * whether the binary has it.  `call` is the function of the interface. */
static enum shmtune_status
copy_variable(const struct shmtune_function *function, const char *call,
              size_t k, const void *from, void *to, size_t bytes,
              CUstream stream, bool *there, struct shmtune_message *message)
{
    const struct shmt_argument *argument;
    struct shmt_runtime_module *binary;
    CUdeviceptr address;
    CUresult result;
    size_t v;

    if (function == NULL || (from == NULL && to == NULL))
        return shmt_runtime_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                        "%s: %s is NULL", call,
                                        function == NULL ? "function"
                                                         : "data");
    if (k >= function->slot_count)
        return shmt_runtime_message_set(message, SHMTUNE_NOT_FOUND,
                                        "%s: kernel %s has %zu "
                                        "arguments, none is %zu", call,
                                        function->kernel->spec->name,
                                        function->slot_count, k);
    argument = &function->kernel->spec->arguments[k];
    if (argument->symbol == NULL)
        return shmt_runtime_message_set(
            message, SHMTUNE_INVALID_ARGUMENT, "kernel %s: %s (argument %zu) "
            "is no variable of the source; give it to shmtune_launch",
            function->kernel->spec->name, argument->name, k);
    if ((int64_t)bytes != function->slots[k].bytes)
        return shmt_runtime_message_set(
            message, SHMTUNE_INVALID_ARGUMENT, "kernel %s: %zu bytes for the "
            "variable %s (argument %zu), which has %lld",
            function->kernel->spec->name, bytes, argument->name, k,
            (long long)function->slots[k].bytes);
    binary = function->binary;
    v = variable_of(function, k);
    *there = v < binary->module.variable_count;
    if (!*there)
        return SHMTUNE_OK;
    address = binary->module.variables[v].address;
    result = binary->driver->MemcpyAsync(
        to == NULL ? address : (CUdeviceptr)(uintptr_t)to,
        to == NULL ? (CUdeviceptr)(uintptr_t)from : address, bytes, stream);
    if (result != CUDA_SUCCESS)
        return refuse(function, result, "cuMemcpyAsync", message);
    if (to == NULL)
        atomic_fetch_or(&binary->filled, UINT64_C(1) << v);
    return SHMTUNE_OK;
}

enum shmtune_status shmtune_fill(const struct shmtune_function *function,
                                 size_t k, const void *data, size_t bytes,
                                 void *stream, struct shmtune_message *message)
{
    bool there;

    return copy_variable(function, "shmtune_fill", k, data, NULL, bytes,
                         stream, &there, message);
}

enum shmtune_status shmtune_read(const struct shmtune_function *function,
                                 size_t k, void *data, size_t bytes,
                                 void *stream, struct shmtune_message *message)
{
    bool there = true;
    const enum shmtune_status status = copy_variable(
        function, "shmtune_read", k, NULL, data, bytes, stream, &there,
        message);

    if (status != SHMTUNE_OK || there)
        return status;
    return shmt_runtime_message_set(
        message, SHMTUNE_NOT_FOUND, "kernel %s: the binary of this "
        "configuration has no variable %s (argument %zu)",
        function->kernel->spec->name,
        function->kernel->spec->arguments[k].symbol, k);
}
