/* SPDX-License-Identifier: MIT */
/*
 * replace: puts tuned kernels in the place of an application's own.  The plan
 * says which launches, to the byte of their scalars, and what is launched
 * instead: a binary, a function and a geometry.  Each is checked again on the
 * device that is there, and trial.c tries whether it is the faster one.  In any
 * doubt the launch is made as it was, and a note says why, once.
 */
#include "capture/plan.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cubin.h"
#include "gpu/variable_name.h"

enum { VARIABLES = 64 };

/* A variable of the source, in the application's module and in ours. */
struct variable {
    const char *name;          /* in the plan's binary */
    CUdeviceptr theirs, ours;
    size_t size;
    bool constant;
};

/* A function of a binary in one context, for one module of the application's:
 * each has variables of its own. */
struct shmt_capture_loaded {
    struct shmt_capture_loaded *next;
    const struct shmt_capture_plan *plan;
    CUcontext context;
    const struct shmt_capture_image *image;    /* NULL: it is unloaded */
    CUmodule module;           /* ours; NULL: none */
    _Atomic(CUfunction) function;      /* NULL: it cannot be used there */
    bool elsewhere;            /* since the plan is for another device */
    size_t variable_count;
    struct variable variables[VARIABLES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* -- whether a launch is the one ------------------------------------------ */

static bool has_same_parameter(const struct shmt_capture_given *one,
                               const unsigned char *now)
{
    size_t at = 0;

    for (size_t k = 0; k < one->pointer_count; k++) {
        uint64_t address;

        if (memcmp(one->bytes + at, now + at, one->pointers[k] - at) != 0)
            return false;
        memcpy(&address, now + one->pointers[k], sizeof address);
        if (address == 0)
            return false;
        at = one->pointers[k] + 8;
    }
    return memcmp(one->bytes + at, now + at, one->size - at) == 0;
}

/* Where the parameters are that the launch gives as one block of bytes.  NULL,
 * or why they are not known. */
static const char *unpack(struct shmt_capture_plan *plan,
                          const struct shmt_capture_function *function,
                          const struct shmt_capture_launch *launch,
                          void **out)
{
    const char *why = NULL;

    if (plan->layout == NULL) {
        plan->layout = malloc(sizeof *plan->layout);
        why = plan->layout == NULL
                  ? "there is no memory"
                  : shmt_capture_layout_of(function, launch->handle,
                                           plan->layout);
    }
    if (why == NULL && plan->layout->count != plan->parameter_count)
        why = "its parameters are not those that were recorded";
    for (size_t k = 0; k < plan->parameter_count && why == NULL; k++)
        if (plan->layout->sizes[k] != plan->parameters[k].size)
            why = "its parameters are not those that were recorded";
    return why != NULL ? why
                       : shmt_capture_arguments(launch, plan->layout, out);
}

/* What is said of a number that is another one; of many launches once. */
static const char *another_number(struct shmt_capture_plan *plan,
                                  const char *name)
{
    if (plan->another_of != name)
        snprintf(plan->another, sizeof plan->another,
                 "a launch of it has another number for %.64s than was tuned; "
                 "--any %.64s takes any", name, name);
    plan->another_of = name;
    return plan->another;
}

/* NULL: it is the launch that was tuned. */
static const char *difference(struct shmt_capture_plan *plan,
                              const struct shmt_capture_launch *launch)
{
    static const char sizes[] =
        "a launch of it has other sizes than were tuned";
    const char *number = NULL;

    if (launch->cooperative || launch->cluster[0] > 0 || launch->other != NULL)
        return "a launch of it is cooperative, of clusters, or programmatic";
    if (memcmp(plan->grid, launch->grid, sizeof plan->grid) != 0 ||
        memcmp(plan->block, launch->block, sizeof plan->block) != 0 ||
        plan->shared != launch->shared)
        return sizes;
    for (size_t k = 0; k < plan->parameter_count; k++) {
        const struct shmt_capture_given *const one = &plan->parameters[k];

        if (one->any || has_same_parameter(one, launch->arguments[k]))
            continue;
        if (one->number == NULL)
            return sizes;
        number = one->number;
    }
    return number == NULL ? NULL : another_number(plan, number);
}

/* -- what is launched instead --------------------------------------------- */

static bool refuse(const struct shmt_capture_plan *plan, const char *why)
{
    shmt_capture_note("%s stays as it is: %s", plan->symbol, why);
    return false;
}

static bool is_the_device(const struct shmt_capture_driver *driver,
                          const struct shmt_capture_plan *plan)
{
    char name[256] = "";
    int major = 0, minor = 0;
    CUdevice device;

    return driver->CtxGetDevice(&device) == CUDA_SUCCESS &&
           driver->DeviceGetName(name, sizeof name, device) == CUDA_SUCCESS &&
           driver->DeviceGetAttribute(
               &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
               device) == CUDA_SUCCESS &&
           driver->DeviceGetAttribute(
               &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
               device) == CUDA_SUCCESS &&
           major == plan->major && minor == plan->minor &&
           strcmp(name, plan->device) == 0;
}

/* As libshmtune prepares a function: shared memory beyond what is given without
 * asking, the carve-out, and that a block of it can be resident. */
static bool prepare(const struct shmt_capture_driver *driver,
                    const struct shmt_capture_plan *plan, CUfunction function)
{
    const unsigned *block = plan->new_block;
    const int threads = (int)(block[0] * block[1] * block[2]);
    int blocks = 0;

    if (plan->new_shared > 0 &&
        driver->FuncSetAttribute(
            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            (int)plan->new_shared) != CUDA_SUCCESS)
        return refuse(plan, "the device does not give it so much shared "
                      "memory");
    if (plan->carveout >= 0)
        driver->FuncSetAttribute(
            function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
            plan->carveout);
    if (driver->OccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, function, threads, plan->new_shared) != CUDA_SUCCESS ||
        blocks < 1)
        return refuse(plan, "no block of the tuned one fits a multiprocessor");
    return true;
}

/* The application's own of a variable of the tuned binary. */
struct counterpart {
    const struct shmt_capture_driver *driver;
    CUmodule module;
    const char *name;
    struct variable *out;
    bool found;
};

/* The compiler has called it otherwise there. */
static bool take_counterpart(void *context, const char *name)
{
    struct counterpart *const one = context;

    one->found = shmt_variable_is_same(name, one->name) &&
                 one->driver->ModuleGetGlobal(&one->out->theirs,
                                              &one->out->size, one->module,
                                              name) == CUDA_SUCCESS;
    return !one->found;
}

static bool find_theirs(struct counterpart *one,
                        const struct shmt_capture_image *image)
{
    bool hidden;

    if (take_counterpart(one, one->name) && image != NULL &&
        image->data != NULL && shmt_variable_is_of_file(one->name))
        shmt_capture_variables(image, take_counterpart, one, &hidden);
    return one->found;
}

/* What the application has put into variables of its module is put into ours
 * before each launch, on its stream; the toolkit's have their values. */
static bool find_variables(const struct shmt_capture_driver *driver,
                           const struct shmt_capture_plan *plan,
                           const struct shmt_capture_function *function,
                           CUmodule ours, struct shmt_capture_loaded *out)
{
    const CUmodule theirs = shmt_capture_module_of(driver, function);
    struct shmt_cubin_variable variable;
    size_t at = 0, size;

    if (theirs == NULL)
        return refuse(plan, "the driver has no module of its library");
    while (shmt_cubin_next_variable(plan->binary, plan->binary_size, &at,
                                    &variable)) {
        struct variable *one = &out->variables[out->variable_count];
        struct counterpart counterpart = {driver, theirs, variable.name, one,
                                          false};

        if (shmt_variable_is_of_toolkit(variable.name))
            continue;
        if (out->variable_count == VARIABLES ||
            !find_theirs(&counterpart, function->image) ||
            driver->ModuleGetGlobal(&one->ours, &size, ours,
                                    variable.name) != CUDA_SUCCESS ||
            size != one->size)
            return refuse(plan, "its variables are not those of the "
                          "application's module");
        one->name = variable.name;
        one->constant = variable.constant;
        out->variable_count++;
    }
    return true;
}

static CUfunction load(const struct shmt_capture_driver *driver,
                       const struct shmt_capture_plan *plan,
                       const struct shmt_capture_function *own,
                       struct shmt_capture_loaded *out)
{
    __typeof__(cuModuleLoadData) *load_data;
    __typeof__(cuModuleGetFunction) *get_function;
    CUfunction function = NULL;

    shmt_capture_real(SHMT_CAPTURE_cuModuleLoadData, &load_data);
    shmt_capture_real(SHMT_CAPTURE_cuModuleGetFunction, &get_function);
    out->elsewhere = !is_the_device(driver, plan);
    if (out->elsewhere)
        return NULL;
    if (load_data == NULL || get_function == NULL ||
        load_data(&out->module, plan->binary) != CUDA_SUCCESS ||
        get_function(&function, out->module, plan->entry) != CUDA_SUCCESS)
        refuse(plan, "the driver does not load the tuned binary");
    else if (find_variables(driver, plan, own, out->module, out) &&
             prepare(driver, plan, function))
        return function;
    return NULL;
}

/* One that is nobody's, in the list of the plan; NULL: no memory. */
static struct shmt_capture_loaded *take_loaded(struct shmt_capture_plan *plan)
{
    struct shmt_capture_loaded *one = plan->loaded;

    while (one != NULL && one->image != NULL)
        one = one->next;
    if (one == NULL) {
        one = calloc(1, sizeof *one);
        if (one == NULL)
            return NULL;
        one->next = plan->loaded;
        plan->loaded = one;
    }
    one->plan = plan;
    one->module = NULL;
    one->variable_count = 0;
    return one;
}

/* Under the lock; NULL: the launch stays, and so it does where there is no
 * function. */
static struct shmt_capture_loaded *loaded_of(struct shmt_capture_plan *plan,
                                const struct shmt_capture_function *function,
                                const struct shmt_capture_launch *launch)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    struct shmt_capture_loaded *made;
    CUcontext context;

    if (driver == NULL || driver->CtxGetCurrent(&context) != CUDA_SUCCESS)
        return NULL;
    for (made = plan->loaded; made != NULL; made = made->next)
        if (made->context == context && made->image == function->image)
            return made;
    /* Nothing is loaded while something is captured into a graph. */
    if (shmt_capture_in_graph(driver, launch->stream))
        return NULL;
    made = take_loaded(plan);
    if (made == NULL)
        return NULL;
    made->context = context;
    made->image = function->image;
    /* Another thread may have begun a capture into a graph. */
    driver->ThreadExchangeStreamCaptureMode(&mode);
    made->function = load(driver, plan, function, made);
    driver->ThreadExchangeStreamCaptureMode(&mode);
    return made;
}

void shmt_capture_replace_forget(const struct shmt_capture_image *image)
{
    size_t count;
    struct shmt_capture_plan *const plans = shmt_capture_plans(&count);
    __typeof__(cuModuleUnload) *unload;

    shmt_capture_real(SHMT_CAPTURE_cuModuleUnload, &unload);
    pthread_mutex_lock(&lock);
    for (size_t k = 0; image != NULL && k < count; k++)
        for (struct shmt_capture_loaded *one = plans[k].loaded; one != NULL;
             one = one->next) {
            if (one->image != image)
                continue;
            if (one->module != NULL && unload != NULL)
                unload(one->module);
            one->image = NULL;
            one->function = NULL;
        }
    pthread_mutex_unlock(&lock);
}

/* false: the launch stays. */
static bool copy_variables(const struct shmt_capture_loaded *loaded, bool back,
                           CUstream stream)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();

    for (size_t k = 0; k < loaded->variable_count; k++) {
        const struct variable *one = &loaded->variables[k];

        if (back && one->constant)
            continue;
        if (driver->MemcpyDtoDAsync(back ? one->theirs : one->ours,
                                    back ? one->ours : one->theirs, one->size,
                                    stream) != CUDA_SUCCESS)
            return false;
    }
    return true;
}

/* A variable that can be written, in the application's module, of which the
 * eight bytes are an address; NULL: none. */
static const struct variable *
variable_at(const struct shmt_capture_loaded *loaded,
            const unsigned char *bytes)
{
    uint64_t address;

    memcpy(&address, bytes, sizeof address);
    for (size_t k = 0; k < loaded->variable_count; k++) {
        const struct variable *one = &loaded->variables[k];

        if (!one->constant && address >= one->theirs &&
            address - one->theirs < one->size)
            return one;
    }
    return NULL;
}

/* What a kernel wrote into a variable by its address would be lost when the
 * copy of it that it may also have written is put there. */
static bool gets_no_variable(const struct shmt_capture_loaded *loaded,
                             const struct shmt_capture_launch *launch)
{
    const struct shmt_capture_plan *plan = loaded->plan;
    const struct variable *one = NULL;

    for (size_t k = 0; k < plan->parameter_count; k++)
        for (size_t at = 0; at + 8 <= plan->parameters[k].size && one == NULL;
             at += 8)
            one = variable_at(loaded,
                              (unsigned char *)launch->arguments[k] + at);
    if (one == NULL)
        return true;
    shmt_capture_note("%s stays as it is: a launch of it is given the address "
                      "of %s, a variable of its module", plan->symbol,
                      one->name);
    return false;
}

static const char not_launched[] = "the driver does not launch the tuned one";

static void take_back(struct shmt_capture_loaded *loaded, CUfunction function)
{
    pthread_mutex_lock(&lock);
    if (loaded->function == function) {
        loaded->function = NULL;
        refuse(loaded->plan, not_launched);
    }
    pthread_mutex_unlock(&lock);
}

bool shmt_capture_replace_end(const struct shmt_capture_launch *launch,
                              const struct shmt_capture_replacement *by,
                              CUresult result)
{
    const bool tuned = by->after != NULL, launched = result == CUDA_SUCCESS;

    if (tuned && launched)
        copy_variables(by->after, true, launch->stream);
    else if (tuned)
        take_back(by->after, by->function);
    shmt_capture_trial_end(by->trial, by->turn, launch->stream,
                           launched ? NULL
                           : tuned  ? not_launched : "a launch of it failed");
    return launched || !tuned;
}

static void put_in_place(const struct shmt_capture_plan *plan,
                         const struct shmt_capture_launch *launch,
                         struct shmt_capture_replacement *out)
{
    memcpy(out->grid, plan->new_grid, sizeof out->grid);
    memcpy(out->block, plan->new_block, sizeof out->block);
    out->shared = plan->new_shared;
    for (size_t k = 0; k < plan->parameter_count; k++)
        out->arguments[k] = plan->parameters[k].given != NULL
                                ? plan->parameters[k].given
                                : launch->arguments[k];
}

/* The launch itself, between the events of its trial. */
static void leave_in_place(const struct shmt_capture_plan *plan,
                           const struct shmt_capture_launch *launch,
                           struct shmt_capture_replacement *out)
{
    out->function = launch->handle;
    memcpy(out->grid, launch->grid, sizeof out->grid);
    memcpy(out->block, launch->block, sizeof out->block);
    out->shared = launch->shared;
    for (size_t k = 0; k < plan->parameter_count; k++)
        out->arguments[k] = launch->arguments[k];
}

static bool use(struct shmt_capture_plan *plan,
                struct shmt_capture_loaded *loaded,
                const struct shmt_capture_launch *launch,
                struct shmt_capture_replacement *out)
{
    CUfunction function = NULL;
    struct shmt_capture_turn turn;

    if (loaded != NULL)
        function = atomic_load(&loaded->function);
    if (function == NULL || !gets_no_variable(loaded, launch))
        return false;
    turn = shmt_capture_trial_begin(&plan->trial, plan->symbol,
                                    launch->stream);
    if (!turn.tuned && turn.launch < 0)
        return false;
    out->trial = &plan->trial;
    out->turn = turn.launch;
    out->after = NULL;
    if (!turn.tuned) {
        leave_in_place(plan, launch, out);
        return true;
    }
    if (!copy_variables(loaded, false, launch->stream)) {
        static const char not_copied[] = "its variables cannot be copied";

        if (out->turn < 0)
            refuse(plan, not_copied);
        shmt_capture_trial_end(out->trial, out->turn, launch->stream,
                               not_copied);
        return false;
    }
    out->function = function;
    out->after = loaded;
    put_in_place(plan, launch, out);
    return true;
}

/* Why launches stay of which there are plans; said again where it changes. */
static void tell_other(struct shmt_capture_plan *plan, const char *why)
{
    if (plan == NULL || plan->told == why)
        return;
    plan->told = why;
    refuse(plan, why);
}

/* Under the lock.  Names and images live as long as the process, so what was
 * seen once is not compared again. */
static bool is_of(struct shmt_capture_plan *plan,
                  const struct shmt_capture_function *function)
{
    if (plan->name == function->name && plan->image == function->image)
        return true;
    if (strcmp(plan->symbol, function->name) != 0 ||
        strcmp(plan->identity, shmt_capture_identity(function->image)) != 0)
        return false;
    plan->name = function->name;
    plan->image = function->image;
    return true;
}

/* Under the lock.  Whether no launch of the function will be another one. */
static bool is_over(const struct shmt_capture_function *function)
{
    size_t count;
    struct shmt_capture_plan *const plans = shmt_capture_plans(&count);

    for (size_t k = 0; k < count; k++)
        if (is_of(&plans[k], function) &&
            !shmt_capture_trial_is_lost(&plans[k].trial))
            return false;
    return true;
}

/* Under the lock.  One launch may be tuned for several devices, and a kernel
 * for several launches.  NULL: it stays; else *loaded is what is put in its
 * place, if anything is. */
static struct shmt_capture_plan *
find(const struct shmt_capture_function *function,
     struct shmt_capture_launch *launch, void **arguments,
     struct shmt_capture_loaded **loaded)
{
    static const char elsewhere[] = "it was tuned for another device";
    const bool packed = launch->arguments == NULL;
    struct shmt_capture_plan *other = NULL;
    const char *why = NULL;
    size_t count;
    struct shmt_capture_plan *const plans = shmt_capture_plans(&count);

    for (size_t k = 0; k < count; k++) {
        struct shmt_capture_plan *plan = &plans[k];
        const char *now = NULL;

        if (!is_of(plan, function))
            continue;
        if (packed) {
            launch->arguments = NULL;
            now = unpack(plan, function, launch, arguments);
            launch->arguments = arguments;
        }
        if (now == NULL)
            now = difference(plan, launch);
        if (now == NULL) {
            *loaded = loaded_of(plan, function, launch);
            if (*loaded == NULL || !(*loaded)->elsewhere)
                return plan;
            now = elsewhere;
        }
        if (why != elsewhere) {
            other = plan;
            why = now;
        }
    }
    tell_other(other, why);
    return NULL;
}

bool shmt_capture_replace_knows(const struct shmt_capture_function *function)
{
    bool knows;

    pthread_mutex_lock(&lock);
    knows = !is_over(function);
    pthread_mutex_unlock(&lock);
    return knows;
}

/* Nothing is copied in a graph. */
static bool has_no_variable(const struct shmt_capture_loaded *loaded)
{
    return loaded->variable_count == 0 ||
           refuse(loaded->plan, "it is in a graph, where variables of its "
                  "module cannot be copied");
}

bool shmt_capture_replace_node(const struct shmt_capture_function *function,
                               const struct shmt_capture_launch *launch,
                               struct shmt_capture_replacement *out,
                               struct shmt_capture_own *own)
{
    struct shmt_capture_launch given = *launch;
    struct shmt_capture_loaded *loaded = NULL;
    struct shmt_capture_plan *plan;
    CUfunction tuned = NULL;

    pthread_mutex_lock(&lock);
    plan = find(function, &given, own->arguments, &loaded);
    pthread_mutex_unlock(&lock);
    if (plan != NULL && loaded != NULL)
        tuned = atomic_load(&loaded->function);
    if (tuned == NULL || shmt_capture_trial_is_lost(&plan->trial) ||
        !has_no_variable(loaded))
        return false;
    *out = (struct shmt_capture_replacement){
        .function = tuned, .trial = &plan->trial, .turn = -1};
    put_in_place(plan, &given, out);
    own->count = plan->parameter_count;
    for (size_t k = 0; k < own->count; k++) {
        own->arguments[k] = given.arguments[k];
        own->sizes[k] = plan->parameters[k].size;
    }
    return true;
}

bool shmt_capture_replace(const struct shmt_capture_launch *launch,
                          bool *never, struct shmt_capture_replacement *out)
{
    struct shmt_capture_launch given = *launch;
    struct shmt_capture_function function;
    void *arguments[SHMT_CAPTURE_PARAMETERS];
    struct shmt_capture_loaded *loaded = NULL;
    struct shmt_capture_plan *plan;

    *never = true;
    if (!shmt_capture_function_of(launch->handle, &function))
        return false;
    pthread_mutex_lock(&lock);
    plan = find(&function, &given, arguments, &loaded);
    *never = (plan == NULL || shmt_capture_trial_is_lost(&plan->trial)) &&
             is_over(&function);
    pthread_mutex_unlock(&lock);
    return plan != NULL && use(plan, loaded, &given, out);
}
