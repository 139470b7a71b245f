/* SPDX-License-Identifier: MIT */
/*
 * verify: compares what a run has written with the reference's results.
 *
 * Per argument one slot of findings for its live buffer (comparison, guards,
 * and of inputs the hash).  The verdict names the finding that explains most:
 * first writes outside of a buffer, then unwritten elements, then wrong ones.
 */
#include <stdio.h>

#include "bench/state.h"

static bool has_result(enum shmt_role role)
{
    return role == SHMT_ROLE_OUTPUT || role == SHMT_ROLE_INOUT;
}

static CUresult
read_findings(struct shmt_bench *bench, uint32_t poison,
              struct shmt_probe_finding findings[SHMT_PROBE_FINDINGS])
{
    const struct shmt_probe *probe = &bench->probe;
    CUresult result = shmt_probe_begin(probe);

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const struct shmt_argument *argument = &bench->kernel->arguments[k];
        const struct shmt_bench_slot *slot = &bench->slots[k];

        if (slot->actual.base == 0)
            continue;
        if (result == CUDA_SUCCESS)
            result = shmt_probe_guard(probe, &slot->actual, k);
        if (result == CUDA_SUCCESS && argument->role == SHMT_ROLE_INPUT)
            result = shmt_probe_hash(probe, &slot->actual, k);
        if (result == CUDA_SUCCESS && has_result(argument->role)) {
            const struct shmt_probe_comparison comparison = {
                .found = &slot->actual, .expected = &slot->expected,
                .absolute = argument->absolute,
                .relative = argument->relative, .poison = poison,
            };
            result = shmt_probe_compare(probe, &comparison, k);
        }
    }
    if (result == CUDA_SUCCESS)
        result = shmt_probe_end(probe, findings);
    return result;
}

/* Describes a byte offset in a guard as a place that people understand. */
static void check_guard(const struct shmt_argument *argument,
                        const struct shmt_bench_slot *slot,
                        const struct shmt_probe_finding *finding,
                        struct shmt_result *out)
{
    const int64_t size = (int64_t)shmt_element_bytes(argument->element);
    const int64_t at = finding->guard_first;

    if (at < 0)
        shmt_result_set_verdict(out, SHMT_VERDICT_OUT_OF_BOUNDS,
                                "wrote %llu bytes outside %s, the first %lld "
                                "bytes before its begin",
                                (unsigned long long)finding->guard_bytes,
                                argument->name, (long long)-at);
    else
        shmt_result_set_verdict(out, SHMT_VERDICT_OUT_OF_BOUNDS,
                                "wrote %llu bytes outside %s, the first at "
                                "element %lld of %llu",
                                (unsigned long long)finding->guard_bytes,
                                argument->name, (long long)(at / size),
                                (unsigned long long)slot->actual.count);
}

static CUresult read_element(struct shmt_bench *bench,
                             const struct shmt_buffer *buffer, uint64_t index,
                             double *out)
{
    const size_t size = shmt_element_bytes(buffer->element);
    union shmt_element_scalar scalar = {0};
    const CUresult result = bench->options.driver->MemcpyDtoH(
        &scalar, shmt_buffer_data(buffer) + index * size, size);

    if (result == CUDA_SUCCESS)
        *out = shmt_element_real(buffer->element, &scalar);
    return result;
}

static CUresult check_values(struct shmt_bench *bench, size_t k,
                             const struct shmt_probe_finding *finding,
                             struct shmt_result *out)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    const struct shmt_bench_slot *slot = &bench->slots[k];
    const int digits = shmt_element_type(argument->element)->digits;
    double found = 0, expected = 0;
    CUresult result;

    if (finding->unwritten == finding->mismatches) {
        shmt_result_set_verdict(out, SHMT_VERDICT_UNWRITTEN,
                                "left %llu of %llu elements of %s unwritten, "
                                "the first is %llu",
                                (unsigned long long)finding->unwritten,
                                (unsigned long long)slot->actual.count,
                                argument->name,
                                (unsigned long long)finding->first);
        return CUDA_SUCCESS;
    }
    result = read_element(bench, &slot->actual, finding->first, &found);
    if (result == CUDA_SUCCESS)
        result = read_element(bench, &slot->expected, finding->first,
                              &expected);
    if (result == CUDA_SUCCESS)
        shmt_result_set_verdict(out, SHMT_VERDICT_WRONG,
                                "%s[%llu] is %.*g, expected %.*g; %llu of %llu "
                                "elements differ, %llu of them unwritten "
                                "(tolerance: absolute %g, relative %g)",
                                argument->name,
                                (unsigned long long)finding->first,
                                digits, found, digits, expected,
                                (unsigned long long)finding->mismatches,
                                (unsigned long long)slot->actual.count,
                                (unsigned long long)finding->unwritten,
                                argument->absolute, argument->relative);
    return result;
}

CUresult shmt_bench_verify(struct shmt_bench *bench, uint32_t poison,
                           struct shmt_result *out)
{
    struct shmt_probe_finding findings[SHMT_PROBE_FINDINGS];
    const struct shmt_kernel *kernel = bench->kernel;
    CUresult result = read_findings(bench, poison, findings);

    if (result != CUDA_SUCCESS)
        return result;
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (findings[k].guard_bytes > 0) {
            check_guard(&kernel->arguments[k], &bench->slots[k], &findings[k],
                        out);
            return CUDA_SUCCESS;
        }
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (kernel->arguments[k].role == SHMT_ROLE_INPUT &&
            findings[k].hash != bench->slots[k].actual_hash) {
            shmt_result_set_verdict(out, SHMT_VERDICT_OUT_OF_BOUNDS,
                                    "changed its input %s",
                                    kernel->arguments[k].name);
            return CUDA_SUCCESS;
        }
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (findings[k].mismatches > 0)
            return check_values(bench, k, &findings[k], out);
    return CUDA_SUCCESS;
}
