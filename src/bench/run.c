/* SPDX-License-Identifier: MIT */
/*
 * run: launches with their arguments, the state before them, and samples by
 * device events.
 *
 * Cold: in-outs restored, L2 read full, then event, launches, event.  The host
 * puts all of it on the stream while the flush still runs, so the time between
 * the events is the device's own.  For a short run the resolution of the clock
 * and the cost of the launch matter more: each of its samples is the median of
 * three.
 *
 * A function of the host is called between the events as a launch is made: what
 * the device waits for it is in the time, its own work only as far as that.
 *
 * Warm: enough runs between the events to make the clock's resolution
 * irrelevant; only one if a run changes its own input.
 */
#include <string.h>

#include "bench/state.h"

static const struct shmt_buffer *target(const struct shmt_bench *bench,
                                        const struct shmt_bench_run *run,
                                        size_t k)
{
    const struct shmt_bench_slot *slot = &bench->slots[k];

    if (run->setup && slot->initial.base != 0)
        return &slot->initial;
    return run->expected && slot->expected.base != 0 && !slot->given
               ? &slot->expected : &slot->actual;
}

/* -- variables of the source ---------------------------------------------- */

/* Copies the buffers of some arguments to the run's variables, or back. */
static CUresult copy_variables(struct shmt_bench *bench,
                               const struct shmt_bench_run *run, bool back,
                               bool (*wanted)(const struct shmt_argument *))
{
    const struct shmt_module *module = &run->loaded->module;
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < module->variable_count; k++) {
        const struct shmt_module_variable *variable = &module->variables[k];
        const struct shmt_argument *argument =
            &bench->kernel->arguments[variable->argument];
        const CUdeviceptr buffer =
            shmt_buffer_data(target(bench, run, variable->argument));

        if (!wanted(argument) ||
            (run->setup && argument->fill == SHMT_FILL_SETUP))
            continue;
        if (result == CUDA_SUCCESS)
            result = bench->options.driver->MemcpyDtoDAsync(
                back ? buffer : variable->address,
                back ? variable->address : buffer, variable->bytes,
                bench->stream);
    }
    return result;
}

static bool is_read(const struct shmt_argument *argument)
{
    return shmt_role_is_read(argument->role);
}

static bool is_written(const struct shmt_argument *argument)
{
    return !shmt_role_is_read(argument->role);
}

CUresult shmt_bench_run_fill(struct shmt_bench *bench,
                             const struct shmt_bench_run *run)
{
    const CUresult result = shmt_bench_texture_fill(bench);

    return result == CUDA_SUCCESS ? copy_variables(bench, run, false, is_read)
                                  : result;
}

CUresult shmt_bench_run_put(struct shmt_bench *bench,
                            const struct shmt_bench_run *run)
{
    return copy_variables(bench, run, false, is_written);
}

CUresult shmt_bench_run_take(struct shmt_bench *bench,
                             const struct shmt_bench_run *run)
{
    return copy_variables(bench, run, true, shmt_bench_has_result);
}

static CUresult zero_variables(struct shmt_bench *bench,
                               const struct shmt_bench_run *run)
{
    const struct shmt_module *module = &run->loaded->module;
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < module->variable_count; k++)
        if (result == CUDA_SUCCESS &&
            bench->kernel->arguments[module->variables[k].argument].zeroed)
            result = bench->options.driver->MemsetD8Async(
                module->variables[k].address, 0, module->variables[k].bytes,
                bench->stream);
    return result;
}

/* -- state ---------------------------------------------------------------- */

static CUresult restore_inouts(struct shmt_bench *bench,
                               const struct shmt_bench_run *run)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        if (result == CUDA_SUCCESS && bench->slots[k].initial.base != 0)
            result = shmt_probe_copy(&bench->probe,
                                      &bench->slots[k].initial,
                                      target(bench, run, k));
    return result;
}

CUresult shmt_bench_run_restore(struct shmt_bench *bench,
                                const struct shmt_bench_run *run,
                                uint32_t poison)
{
    CUresult result = restore_inouts(bench, run);

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const enum shmt_role role = bench->kernel->arguments[k].role;

        if (result == CUDA_SUCCESS &&
            (role == SHMT_ROLE_OUTPUT || role == SHMT_ROLE_WORKSPACE))
            result = shmt_probe_poison(&bench->probe, target(bench, run, k),
                                        poison);
    }
    return result == CUDA_SUCCESS ? shmt_bench_run_put(bench, run) : result;
}

/* Marks each argument that a launch of this run takes. */
static void mark_passed(const struct shmt_bench_run *run,
                        bool passed[SHMT_KERNEL_ARGUMENTS])
{
    for (size_t k = 0; k < run->evaluated->launch_count; k++) {
        const struct shmt_launch *launch = &run->evaluated->launches[k];

        for (size_t a = 0; run->evaluated->geometry[k].used &&
                           a < launch->reach_count; a++)
            passed[launch->arguments[a]] = true;
    }
}

/* Zeroes, as libshmtune does, only the buffers that the used launches take: a
 * candidate must not pay for the buffers of others. */
CUresult shmt_bench_run_zero(struct shmt_bench *bench,
                             const struct shmt_bench_run *run)
{
    bool passed[SHMT_KERNEL_ARGUMENTS] = {false};
    CUresult result = CUDA_SUCCESS;

    mark_passed(run, passed);
    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        if (result == CUDA_SUCCESS && passed[k] &&
            bench->kernel->arguments[k].zeroed)
            result = shmt_probe_zero(&bench->probe, target(bench, run, k));
    return result == CUDA_SUCCESS ? zero_variables(bench, run) : result;
}

/* Where the driver reads argument k. */
static void *source_of(struct shmt_bench *bench, size_t k,
                       CUdeviceptr *pointer)
{
    switch (bench->kernel->arguments[k].role) {
    case SHMT_ROLE_SCALAR: return &bench->slots[k].scalar;
    case SHMT_ROLE_POINTER:
    case SHMT_ROLE_STRUCT:
    case SHMT_ROLE_TENSOR_MAP:
    case SHMT_ROLE_VALUE: return bench->slots[k].array;
    case SHMT_ROLE_TEXTURE: return &bench->slots[k].texture.object;
    default: return pointer;
    }
}

/* Makes the textures; each has its handle in the place of an address. */
static CUresult link_textures(struct shmt_bench *bench, uint64_t *addresses)
{
    const struct shmt_kernel *kernel = bench->kernel;
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; result == CUDA_SUCCESS && k < kernel->argument_count;
         k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];

        if (argument->texture == NULL)
            continue;
        result = shmt_bench_texture_link(
            bench, k, addresses[argument->members[0].target]);
        addresses[k] = bench->slots[k].texture.object;
    }
    return result;
}

/* Makes the pointers of argument k, if it has some, or its map. */
static CUresult link_packed(struct shmt_bench *bench, size_t k,
                            const uint64_t *addresses)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    struct shmt_bench_slot *slot = &bench->slots[k];
    CUresult result;

    if (slot->packed == NULL || argument->texture != NULL)
        return CUDA_SUCCESS;
    if (argument->role == SHMT_ROLE_TENSOR_MAP) {
        const uint64_t address = addresses[argument->members[0].target];

        if (address == slot->encoded)
            return CUDA_SUCCESS;
        result = shmt_function_encode_map(bench->options.driver, slot->packed,
                                          address, slot->array);
        slot->encoded = result == CUDA_SUCCESS ? address : 0;
        return result;
    }
    memcpy(slot->array, slot->packed, argument->bytes);
    shmt_argument_link(argument, addresses, slot->array);
    return CUDA_SUCCESS;
}

/* An argument behind the last: what is expected of one, or the counter. */
static CUdeviceptr hidden_at(const struct shmt_bench *bench, size_t which)
{
    const struct shmt_kernel *kernel = bench->kernel;
    const size_t k = which - kernel->argument_count;

    return shmt_buffer_data(
        k < kernel->compared_count
            ? &bench->slots[kernel->compared[k]].expected : &bench->counter);
}

/* What the function returns says nothing of what still runs, and an error of
 * the device says more than what the function makes of it. */
static CUresult call_host(struct shmt_bench *bench,
                          const struct shmt_bench_run *run, size_t k,
                          void **arguments)
{
    const int code = shmt_module_host(&run->loaded->module, k)(
        bench->stream, arguments);
    CUresult result;

    if (code == 0)
        return CUDA_SUCCESS;
    result = bench->options.driver->StreamSynchronize(bench->stream);
    if (result != CUDA_SUCCESS)
        return result;
    bench->refused = &run->evaluated->launches[k];
    bench->refusal = code;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult shmt_bench_run_launch(struct shmt_bench *bench,
                               const struct shmt_bench_run *run)
{
    const struct shmt_kernel_evaluated *evaluated = run->evaluated;
    uint64_t addresses[SHMT_KERNEL_ARGUMENTS];
    CUdeviceptr pointers[SHMT_KERNEL_ARGUMENTS];
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        addresses[k] = pointers[k] = shmt_buffer_data(target(bench, run, k));
    result = link_textures(bench, addresses);
    for (size_t k = 0;
         result == CUDA_SUCCESS && k < bench->kernel->argument_count; k++)
        result = link_packed(bench, k, addresses);
    for (size_t k = 0; k < evaluated->launch_count && result == CUDA_SUCCESS;
         k++) {
        const struct shmt_launch *launch = &evaluated->launches[k];
        void *arguments[SHMT_KERNEL_ARGUMENTS];
        CUdeviceptr hidden[SHMT_KERNEL_ARGUMENTS];

        if (!evaluated->geometry[k].used)
            continue;
        for (size_t a = 0; a < launch->argument_count; a++) {
            const size_t which = launch->arguments[a];

            if (which < bench->kernel->argument_count) {
                arguments[a] = source_of(bench, which, &pointers[which]);
                continue;
            }
            hidden[a] = hidden_at(bench, which);
            arguments[a] = &hidden[a];
        }
        result = launch->host
                     ? call_host(bench, run, k, arguments)
                     : shmt_function_launch(
                           bench->options.driver,
                           shmt_module_function(&run->loaded->module, k),
                           &evaluated->geometry[k], arguments, bench->stream);
    }
    run->loaded->warm = true;
    return result;
}

static CUresult zero_and_launch(struct shmt_bench *bench,
                                const struct shmt_bench_run *run)
{
    const CUresult result = shmt_bench_run_zero(bench, run);

    return result == CUDA_SUCCESS ? shmt_bench_run_launch(bench, run) : result;
}

CUresult shmt_bench_run_fresh(struct shmt_bench *bench,
                              const struct shmt_bench_run *run,
                              uint32_t poison)
{
    CUresult result = shmt_bench_run_restore(bench, run, poison);

    if (result == CUDA_SUCCESS)
        result = zero_and_launch(bench, run);
    return result == CUDA_SUCCESS ? shmt_bench_run_take(bench, run) : result;
}

/* -- timing --------------------------------------------------------------- */

/* Below SHORT_US a sample is the median of three; a warm sample lasts about
 * WARM_US; sampling ends when it has taken LIMIT_US. */
static const double SHORT_US = 15, WARM_US = 200, LIMIT_US = 1e6;
enum { WARM_MOST = 100, GIVE_UP_SAMPLES = 2 };
/* A candidate is given up after one sample if it is above the threshold by
 * this factor. */
static const double FAR_ABOVE = 2;

static CUresult run_once(struct shmt_bench *bench,
                         const struct shmt_bench_run *run,
                         int repeats, double *us)
{
    const struct shmt_driver *driver = bench->options.driver;
    CUresult result = restore_inouts(bench, run);
    float ms = 0;

    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_put(bench, run);
    if (result == CUDA_SUCCESS && !bench->options.warm)
        result = shmt_probe_flush(&bench->probe);
    if (result == CUDA_SUCCESS)
        result = driver->EventRecord(bench->begin, bench->stream);
    for (int k = 0; k < repeats && result == CUDA_SUCCESS; k++)
        result = zero_and_launch(bench, run);
    if (result == CUDA_SUCCESS)
        result = driver->EventRecord(bench->end, bench->stream);
    if (result == CUDA_SUCCESS)
        result = driver->EventSynchronize(bench->end);
    if (result == CUDA_SUCCESS)
        result = driver->EventElapsedTime(&ms, bench->begin, bench->end);
    if (result == CUDA_SUCCESS)
        *us = (double)ms * 1e3 / repeats;
    return result;
}

static double middle(double a, double b, double c)
{
    const double low = a < b ? a : b, high = a < b ? b : a;

    return c < low ? low : c > high ? high : c;
}

static CUresult sample(struct shmt_bench *bench,
                       const struct shmt_bench_run *run,
                       int repeats, double *us)
{
    double first = 0, second = 0, third = 0;
    CUresult result = run_once(bench, run, repeats, &first);

    *us = first;
    if (result != CUDA_SUCCESS || bench->options.warm || first >= SHORT_US)
        return result;
    result = run_once(bench, run, repeats, &second);
    if (result == CUDA_SUCCESS)
        result = run_once(bench, run, repeats, &third);
    *us = middle(first, second, third);
    return result;
}

static bool changes_its_input(const struct shmt_bench *bench)
{
    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        if (bench->kernel->arguments[k].role == SHMT_ROLE_INOUT)
            return true;
    return false;
}

/* The first run of a binary loads its code; warm samples need a length. */
static CUresult warm_up(struct shmt_bench *bench,
                        const struct shmt_bench_run *run,
                        int *repeats)
{
    CUresult result = CUDA_SUCCESS;
    double us = 0;

    *repeats = 1;
    if (!run->loaded->warm || bench->options.warm)
        result = run_once(bench, run, 1, &us);
    if (result != CUDA_SUCCESS || !bench->options.warm ||
        changes_its_input(bench))
        return result;
    result = run_once(bench, run, 1, &us);
    if (us < WARM_US)
        *repeats = us > WARM_US / WARM_MOST ? (int)(WARM_US / us) : WARM_MOST;
    return result;
}

static bool is_too_slow(const struct shmt_result *out, double give_up_us)
{
    float least = out->samples_us[0];

    for (int k = 1; k < out->sample_count; k++)
        if (out->samples_us[k] < least)
            least = out->samples_us[k];
    return (double)least > (out->sample_count < GIVE_UP_SAMPLES
                                ? FAR_ABOVE * give_up_us : give_up_us);
}

CUresult shmt_bench_time(struct shmt_bench *bench,
                         const struct shmt_bench_run *run,
                         const struct shmt_bench_request *request,
                         struct shmt_result *out)
{
    int repeats = 1;
    double spent = 0;
    CUresult result = warm_up(bench, run, &repeats);

    out->sample_count = 0;
    for (int k = 0; k < request->samples && result == CUDA_SUCCESS; k++) {
        double us = 0;

        result = sample(bench, run, repeats, &us);
        if (result != CUDA_SUCCESS)
            break;
        out->samples_us[out->sample_count++] = (float)us;
        spent += us * repeats;
        if (out->sample_count <= GIVE_UP_SAMPLES &&
            is_too_slow(out, request->give_up_us)) {
            out->verdict = SHMT_VERDICT_SLOW;
            break;
        }
        if (spent > LIMIT_US)
            break;
    }
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_take(bench, run);
    if (result == CUDA_SUCCESS)
        shmt_result_summarise(out);
    return result;
}
