/* SPDX-License-Identifier: MIT */
/*
 * run: launches with their arguments, and the state before them.
 */
#include "bench/state.h"

static const struct shmt_buffer *target(const struct shmt_bench *bench,
                                        const struct shmt_bench_run *run,
                                        size_t k)
{
    const struct shmt_bench_slot *slot = &bench->slots[k];

    return run->expected && slot->expected.base != 0 ? &slot->expected
                                                      : &slot->actual;
}

CUresult shmt_bench_run_restore_inouts(struct shmt_bench *bench,
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
    CUresult result = shmt_bench_run_restore_inouts(bench, run);

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const enum shmt_role role = bench->kernel->arguments[k].role;

        if (result == CUDA_SUCCESS &&
            (role == SHMT_ROLE_OUTPUT || role == SHMT_ROLE_WORKSPACE))
            result = shmt_probe_poison(&bench->probe, target(bench, run, k),
                                        poison);
    }
    return result;
}

/* One bit for each argument that a launch of this run takes. */
static uint32_t passed(const struct shmt_bench_run *run)
{
    uint32_t all = 0;

    for (size_t k = 0; k < run->evaluated->launch_count; k++) {
        const struct shmt_launch *launch = &run->evaluated->launches[k];

        for (size_t a = 0; run->evaluated->geometry[k].used &&
                           a < launch->argument_count; a++)
            all |= UINT32_C(1) << launch->arguments[a];
    }
    return all;
}
_Static_assert(SHMT_KERNEL_ARGUMENTS <= 32, "a bit for each argument");

/* Zeroes, as libshmtune does, only the buffers that the used launches take: a
 * candidate must not pay for the buffers of others. */
CUresult shmt_bench_run_zero(struct shmt_bench *bench,
                             const struct shmt_bench_run *run)
{
    const uint32_t wanted = passed(run);
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        if (result == CUDA_SUCCESS && (wanted >> k & 1) != 0 &&
            bench->kernel->arguments[k].zeroed)
            result = shmt_probe_zero(&bench->probe, target(bench, run, k));
    return result;
}

/* Where the driver reads argument k. */
static void *source_of(struct shmt_bench *bench, size_t k,
                       CUdeviceptr *pointer)
{
    switch (bench->kernel->arguments[k].role) {
    case SHMT_ROLE_SCALAR: return &bench->slots[k].scalar;
    case SHMT_ROLE_VALUE: return bench->slots[k].array;
    default: return pointer;
    }
}

CUresult shmt_bench_run_launch(struct shmt_bench *bench,
                               const struct shmt_bench_run *run)
{
    const struct shmt_kernel_evaluated *evaluated = run->evaluated;
    CUdeviceptr pointers[SHMT_KERNEL_ARGUMENTS];
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        pointers[k] = shmt_buffer_data(target(bench, run, k));
    for (size_t k = 0; k < evaluated->launch_count && result == CUDA_SUCCESS;
         k++) {
        const struct shmt_launch *launch = &evaluated->launches[k];
        void *arguments[SHMT_KERNEL_ARGUMENTS];

        if (!evaluated->geometry[k].used)
            continue;
        for (size_t a = 0; a < launch->argument_count; a++) {
            const size_t which = launch->arguments[a];

            arguments[a] = source_of(bench, which, &pointers[which]);
        }
        result = shmt_function_launch(
            bench->options.driver,
            shmt_module_function(&run->loaded->module, k),
            &evaluated->geometry[k], arguments, bench->stream);
    }
    run->loaded->warm = true;
    return result;
}

CUresult shmt_bench_run_zero_and_launch(struct shmt_bench *bench,
                                        const struct shmt_bench_run *run)
{
    const CUresult result = shmt_bench_run_zero(bench, run);

    return result == CUDA_SUCCESS ? shmt_bench_run_launch(bench, run) : result;
}
