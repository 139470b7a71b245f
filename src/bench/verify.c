/* SPDX-License-Identifier: MIT */
/*
 * verify: holds what a run has written against what is expected.  Called by
 * bench.c for candidates, and by problem.c for the reference.
 *
 * To verify a run takes a slot of findings for each argument's actual buffer:
 * comparison, guards, and of inputs the hash.  The verdict names the finding
 * that explains most: first writes outside of a buffer, then unwritten
 * elements, then wrong ones, of which it names the worst.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/state.h"

/* -- the rule ------------------------------------------------------------- */

/* Bytes of expected results that are read at a time. */
enum { PART = 1 << 20 };

/* What is expected of one argument, added up in its order. */
struct size {
    double most, squares;
    uint64_t count;
};

/* The part begins with element `first`. */
static void add_sizes(const struct shmt_bench_slot *slot, const char *part,
                      size_t bytes, uint64_t first, struct size *size)
{
    const enum shmt_element element = slot->expected.element;
    const size_t step = shmt_element_bytes(element);

    for (size_t at = 0; at < bytes; at += step) {
        const double number = fabs(shmt_element_real(element, part + at));

        if (!(number <= DBL_MAX) ||
            !shmt_region_has(&slot->region, first + at / step))
            continue;
        size->most = fmax(size->most, number);
        size->squares += number * number;
        size->count++;
    }
}

static CUresult read_size(struct shmt_bench *bench,
                          const struct shmt_bench_slot *slot, char *part,
                          struct size *size)
{
    const struct shmt_buffer *buffer = &slot->expected;
    const size_t step = shmt_element_bytes(buffer->element);
    CUresult result = CUDA_SUCCESS;

    for (uint64_t at = 0; at < buffer->bytes && result == CUDA_SUCCESS;
         at += PART) {
        const size_t bytes = buffer->bytes - at < PART
                                 ? (size_t)(buffer->bytes - at) : PART;

        result = bench->options.driver->MemcpyDtoH(
            part, shmt_buffer_data(buffer) + at, bytes);
        if (result == CUDA_SUCCESS)
            add_sizes(slot, part, bytes, at / step, size);
    }
    return result;
}

CUresult shmt_bench_verify_scale(struct shmt_bench *bench)
{
    char *part = NULL;
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const struct shmt_tolerance *tolerance =
            &bench->kernel->arguments[k].tolerance;
        struct shmt_bench_slot *slot = &bench->slots[k];
        struct size size = {0};

        slot->scale = 0;
        if (!(tolerance->maximum > 0) && !(tolerance->norm > 0))
            continue;
        if (part == NULL)
            part = malloc(PART);
        if (part == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        result = read_size(bench, slot, part, &size);
        if (result != CUDA_SUCCESS)
            break;
        slot->scale = tolerance->maximum * size.most;
        if (size.count > 0)
            slot->scale += tolerance->norm *
                           sqrt(size.squares / (double)size.count);
    }
    free(part);
    return result;
}

static struct shmt_probe_comparison comparison_of(
    const struct shmt_bench *bench, size_t k, uint32_t poison)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    const struct shmt_tolerance *tolerance = &argument->tolerance;
    const struct shmt_bench_slot *slot = &bench->slots[k];

    return (struct shmt_probe_comparison){
        .found = &slot->actual, .expected = &slot->expected,
        .kept = slot->initial.base != 0 ? &slot->initial : NULL,
        .rule = {
            .absolute = tolerance->absolute,
            .relative = tolerance->relative,
            .scale = slot->scale, .ulp = tolerance->ulp, .poison = poison,
            .outside = argument->zeroed ? 0 : poison,
            .columns = slot->region.columns, .rows = slot->region.rows,
            .planes = slot->region.planes, .pitch = slot->region.pitch,
            .plane_pitch = slot->region.plane_pitch,
            .offset = slot->region.offset,
        },
    };
}

/* -- findings ------------------------------------------------------------- */

/* The elements of argument k that are looked at. */
static uint64_t count_of(const struct shmt_bench *bench, size_t k)
{
    return shmt_region_count(&bench->slots[k].region,
                             bench->slots[k].actual.count);
}

/* Element by element. */
static bool is_compared(const struct shmt_bench *bench, size_t k)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];

    return bench->slots[k].actual.base != 0 &&
           shmt_bench_has_result(argument) && !argument->compared;
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
        if (result == CUDA_SUCCESS && shmt_role_is_read(argument->role))
            result = shmt_probe_hash(probe, &slot->actual, k);
        if (result == CUDA_SUCCESS && is_compared(bench, k)) {
            const struct shmt_probe_comparison comparison =
                comparison_of(bench, k, poison);

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

/* What is more cannot be a matter of the tolerance. */
static const double MOST_EXCESS = 1e15;

/* -- wrong elements ------------------------------------------------------- */

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

/* "off by 0.5, 3 times the tolerance": of the worst element, whose excess it
 * is. */
static void add_distance(const struct shmt_argument *argument, double found,
                         double expected, double excess,
                         struct shmt_text *text)
{
    if (!isfinite(found) || !isfinite(expected))
        return;
    shmt_text_addf(text, ", off by %.3g", fabs(found - expected));
    if (!isfinite(excess))
        return;
    if (!shmt_tolerance_is_exact(&argument->tolerance))
        shmt_text_addf(text, ", %.3g times the tolerance", excess);
    else if (shmt_element_is_real(argument->element))
        shmt_text_addf(text, ", %.3g of it", excess);
}

static void set_wrong(const struct shmt_bench *bench, size_t k,
                      const struct shmt_probe_finding *finding,
                      const double values[2], struct shmt_result *out)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    const int digits = shmt_element_type(argument->element)->digits;
    struct shmt_text far = {0}, tolerance = {0};
    double excess;

    memcpy(&excess, &finding->worst, sizeof excess);
    add_distance(argument, values[0], values[1], excess, &far);
    shmt_tolerance_add(&argument->tolerance, &tolerance);
    shmt_result_set_verdict(
        out, SHMT_VERDICT_WRONG,
        "%s[%llu] is %.*g, expected %.*g%s; it is the worst of %llu of %llu "
        "elements that differ, %llu of them unwritten (tolerance: %s)",
        argument->name, (unsigned long long)finding->worst_at, digits,
        values[0], digits, values[1], shmt_text_string(&far),
        (unsigned long long)finding->mismatches,
        (unsigned long long)count_of(bench, k),
        (unsigned long long)finding->unwritten,
        shmt_text_string(&tolerance));
    out->argument = (int)k;
    out->mismatches = (int64_t)finding->mismatches;
    if (excess < MOST_EXCESS)
        out->excess = excess;
    shmt_text_free(&far);
    shmt_text_free(&tolerance);
}

static CUresult check_values(struct shmt_bench *bench, size_t k,
                             const struct shmt_probe_comparison *comparison,
                             const struct shmt_probe_finding *finding,
                             struct shmt_result *out)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    const struct shmt_bench_slot *slot = &bench->slots[k];
    struct shmt_probe_finding worst = *finding;
    double values[2] = {0, 0};
    CUresult result;

    if (finding->unwritten == finding->mismatches) {
        shmt_result_set_verdict(out, SHMT_VERDICT_UNWRITTEN,
                                "left %llu of %llu elements of %s unwritten, "
                                "the first is %llu",
                                (unsigned long long)finding->unwritten,
                                (unsigned long long)count_of(bench, k),
                                argument->name,
                                (unsigned long long)finding->first);
        return CUDA_SUCCESS;
    }
    result = shmt_probe_worst(&bench->probe, comparison, k, &worst);
    if (result == CUDA_SUCCESS)
        result = read_element(bench, &slot->actual, worst.worst_at,
                              &values[0]);
    if (result == CUDA_SUCCESS)
        result = read_element(bench, &slot->expected, worst.worst_at,
                              &values[1]);
    if (result == CUDA_SUCCESS)
        set_wrong(bench, k, &worst, values, out);
    return result;
}

/* How much of its tolerance the worst element takes, of all outputs. */
static void note_excess(const struct shmt_bench *bench,
                        const struct shmt_probe_finding *findings,
                        struct shmt_result *out)
{
    double most = -1;

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        double excess;

        if (!is_compared(bench, k))
            continue;
        memcpy(&excess, &findings[k].worst, sizeof excess);
        most = fmax(most, excess);
    }
    if (most < MOST_EXCESS)
        out->excess = most;
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
        if (findings[k].outside > 0) {
            shmt_result_set_verdict(
                out, SHMT_VERDICT_OUT_OF_BOUNDS,
                "wrote %llu elements of %s outside its region, the first is "
                "%llu", (unsigned long long)findings[k].outside,
                kernel->arguments[k].name,
                (unsigned long long)findings[k].outside_first);
            return CUDA_SUCCESS;
        }
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (shmt_role_is_read(kernel->arguments[k].role) &&
            findings[k].hash != bench->hashes[k]) {
            shmt_result_set_verdict(out, SHMT_VERDICT_OUT_OF_BOUNDS,
                                    "changed its input %s",
                                    kernel->arguments[k].name);
            return CUDA_SUCCESS;
        }
    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_probe_comparison comparison =
            comparison_of(bench, k, poison);
        const uint64_t allowed = shmt_tolerance_allowed(
            &kernel->arguments[k].tolerance, count_of(bench, k));

        if (findings[k].mismatches > allowed || findings[k].unwritten > 0)
            return check_values(bench, k, &comparison, &findings[k], out);
    }
    note_excess(bench, findings, out);
    return shmt_bench_compare(bench, out);
}
