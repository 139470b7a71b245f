/* SPDX-License-Identifier: MIT */
/*
 * compare: the launches of a spec that compare outputs: they are given what a
 * run has written and what is expected, and add to a counter what is wrong.
 * Called by problem.c, which makes them ready, and by verify.c.
 */
#include "bench/state.h"

enum shmtune_status shmt_bench_compare_open(struct shmt_bench *bench,
                                            const int64_t *problem,
                                            struct shmt_error *err)
{
    struct shmt_bench_run *run = &bench->comparison;
    enum shmtune_status status;
    CUresult result;

    if (bench->kernel->compare_count == 0)
        return SHMTUNE_OK;
    *run = (struct shmt_bench_run){.evaluated = &bench->comparing};
    shmt_kernel_evaluate_part(bench->kernel, SHMT_KERNEL_COMPARE,
                              problem, &bench->comparing);
    status = shmt_bench_problem_load(bench, run, err);
    if (status != SHMTUNE_OK)
        return shmt_bench_problem_refuse(bench->kernel, "comparison",
                                         status, err);
    run->loaded->pinned = true;
    result = shmt_buffer_new(&bench->probe, SHMT_ELEMENT_U64, 1,
                             &bench->counter);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_fill(bench, run);
    return shmt_driver_check(bench->options.driver, result, err,
                             "a counter for the comparison");
}

void shmt_bench_compare_close(struct shmt_bench *bench)
{
    if (bench->comparison.loaded != NULL)
        bench->comparison.loaded->pinned = false;
    bench->comparison = (struct shmt_bench_run){0};
    shmt_buffer_free(&bench->probe, &bench->counter);
}

CUresult shmt_bench_compare(struct shmt_bench *bench, struct shmt_result *out)
{
    const struct shmt_driver *driver = bench->options.driver;
    uint64_t count = 0;
    CUresult result;

    if (bench->kernel->compare_count == 0)
        return CUDA_SUCCESS;
    result = shmt_probe_zero(&bench->probe, &bench->counter);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_launch(bench, &bench->comparison);
    if (result == CUDA_SUCCESS)
        result = driver->MemcpyDtoHAsync(&count,
                                         shmt_buffer_data(&bench->counter),
                                         sizeof count, bench->stream);
    if (result == CUDA_SUCCESS)
        result = driver->StreamSynchronize(bench->stream);
    if (result == CUDA_SUCCESS && count > 0)
        shmt_result_set_verdict(out, SHMT_VERDICT_WRONG,
                                "the comparison of the spec counts %llu "
                                "mismatch%s", (unsigned long long)count,
                                count == 1 ? "" : "es");
    return result;
}
