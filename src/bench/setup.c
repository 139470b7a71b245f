/* SPDX-License-Identifier: MIT */
/*
 * setup: the launches that fill inputs and in-outs from other arguments, once a
 * problem and untimed.  Called by problem.c, before the reference runs.
 *
 * The setup runs twice, on buffers with two poisons.  If the two results
 * differ, it left elements unwritten or is not deterministic, and another
 * worker would measure with other data.
 */
#include "bench/state.h"

static bool is_input(const struct shmt_argument *argument)
{
    return shmt_role_is_read(argument->role) ||
           argument->role == SHMT_ROLE_INOUT;
}

/* What the setup is given for argument k. */
static const struct shmt_buffer *buffer_of(const struct shmt_bench *bench,
                                           size_t k)
{
    const struct shmt_bench_slot *slot = &bench->slots[k];

    return slot->initial.base != 0 ? &slot->initial : &slot->actual;
}

/* Guards of all that the setup may write, and hashes of inputs. */
static CUresult look(struct shmt_bench *bench,
                     struct shmt_probe_finding out[SHMT_PROBE_FINDINGS])
{
    CUresult result = shmt_probe_begin(&bench->probe);

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const struct shmt_argument *argument = &bench->kernel->arguments[k];

        if (!is_input(argument) && argument->role != SHMT_ROLE_WORKSPACE)
            continue;
        if (result == CUDA_SUCCESS)
            result = shmt_probe_guard(&bench->probe, buffer_of(bench, k), k);
        if (result == CUDA_SUCCESS && is_input(argument))
            result = shmt_probe_hash(&bench->probe, buffer_of(bench, k), k);
    }
    return result == CUDA_SUCCESS ? shmt_probe_end(&bench->probe, out)
                                  : result;
}

static CUresult run_once(struct shmt_bench *bench,
                         const struct shmt_bench_run *run, uint32_t poison,
                         struct shmt_probe_finding out[SHMT_PROBE_FINDINGS])
{
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const struct shmt_argument *argument = &bench->kernel->arguments[k];

        if (result == CUDA_SUCCESS &&
            (argument->role == SHMT_ROLE_WORKSPACE ||
             (is_input(argument) && argument->fill == SHMT_FILL_SETUP)))
            result = shmt_probe_poison(&bench->probe, buffer_of(bench, k),
                                       poison);
    }
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_zero(bench, run);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_launch(bench, run);
    return result == CUDA_SUCCESS ? look(bench, out) : result;
}

/* What the setup did to argument k that it may not. */
static void check(const struct shmt_argument *argument,
                  const struct shmt_probe_finding *before,
                  const struct shmt_probe_finding *first,
                  const struct shmt_probe_finding *second,
                  struct shmt_result *out)
{
    const bool filled = argument->fill == SHMT_FILL_SETUP;

    if (first->guard_bytes > 0)
        shmt_result_set_verdict(out, SHMT_VERDICT_OUT_OF_BOUNDS,
                                "it wrote %llu bytes outside %s",
                                (unsigned long long)first->guard_bytes,
                                argument->name);
    else if (is_input(argument) && !filled && first->hash != before->hash)
        shmt_result_set_verdict(out, SHMT_VERDICT_OUT_OF_BOUNDS,
                                "it changed %s, which has a fill of its own; "
                                "give it \"fill: setup\"", argument->name);
    else if (is_input(argument) && filled && first->hash != second->hash)
        shmt_result_set_verdict(out, SHMT_VERDICT_UNWRITTEN,
                                "it left elements of %s unwritten, or is not "
                                "deterministic: two runs of it differ",
                                argument->name);
}

enum shmtune_status shmt_bench_setup(struct shmt_bench *bench,
                                     const int64_t *problem,
                                     struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    struct shmt_bench_run run = {.evaluated = &evaluated, .setup = true};
    struct shmt_result verdict;
    struct shmt_probe_finding before[SHMT_PROBE_FINDINGS];
    struct shmt_probe_finding first[SHMT_PROBE_FINDINGS];
    struct shmt_probe_finding second[SHMT_PROBE_FINDINGS];
    enum shmtune_status status;
    CUresult result;

    if (bench->kernel->setup_count == 0)
        return SHMTUNE_OK;
    shmt_kernel_evaluate_part(bench->kernel, SHMT_KERNEL_SETUP,
                              problem, &evaluated);
    status = shmt_bench_problem_load(bench, &run, err);
    if (status != SHMTUNE_OK)
        return shmt_bench_problem_refuse(bench->kernel, "setup", status, err);
    shmt_result_clear(&verdict);
    result = shmt_bench_run_fill(bench, &run);
    if (result == CUDA_SUCCESS)
        result = look(bench, before);
    if (result == CUDA_SUCCESS)
        result = run_once(bench, &run, SHMT_PATTERN_POISON_A, first);
    if (result == CUDA_SUCCESS)
        result = run_once(bench, &run, SHMT_PATTERN_POISON_B, second);
    if (result != CUDA_SUCCESS)
        shmt_bench_set_verdict(bench, result, "running", &verdict);
    for (size_t k = 0; k < bench->kernel->argument_count &&
                       verdict.verdict == SHMT_VERDICT_OK; k++)
        check(&bench->kernel->arguments[k], &before[k], &first[k], &second[k],
              &verdict);
    if (verdict.verdict == SHMT_VERDICT_OK)
        return SHMTUNE_OK;
    status = shmt_error_set(err, SHMTUNE_WRONG_RESULT, "%s: %s",
                            shmt_verdict_word(verdict.verdict),
                            verdict.reason);
    return shmt_bench_problem_refuse(bench->kernel, "setup", status, err);
}
