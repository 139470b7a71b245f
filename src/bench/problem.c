/* SPDX-License-Identifier: MIT */
/*
 * problem: the buffers of one problem, and the reference's results, with which
 * verify.c compares.
 *
 * The reference runs twice, into two sets of buffers with two poisons; if the
 * two results differ, the reference left elements unwritten or is not
 * deterministic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/state.h"

bool shmt_bench_has_result(const struct shmt_argument *argument)
{
    return argument->role == SHMT_ROLE_OUTPUT ||
           argument->role == SHMT_ROLE_INOUT;
}

void shmt_bench_problem_free(struct shmt_bench *bench)
{
    for (size_t k = 0; k < SHMT_KERNEL_ARGUMENTS; k++) {
        struct shmt_bench_slot *slot = &bench->slots[k];

        shmt_buffer_free(&bench->probe, &slot->actual);
        shmt_buffer_free(&bench->probe, &slot->expected);
        shmt_buffer_free(&bench->probe, &slot->initial);
        shmt_texture_free(bench->options.driver, &slot->texture);
        free(slot->array);
        free(slot->packed);
        *slot = (struct shmt_bench_slot){0};
    }
    shmt_bench_compare_close(bench);
    bench->prepared = false;
}

/* -- preparing ------------------------------------------------------------ */

static CUresult make_slot(struct shmt_bench *bench, size_t k,
                          const struct shmt_fill_values *values)
{
    const struct shmt_probe *probe = &bench->probe;
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    const struct shmt_pattern pattern =
        shmt_pattern_of(values, k, bench->options.seed);
    const uint64_t count = values->count;
    struct shmt_bench_slot *slot = &bench->slots[k];
    CUresult result =
        shmt_buffer_new(probe, argument->element, count, &slot->actual);

    if (result == CUDA_SUCCESS && shmt_bench_has_result(argument))
        result = shmt_buffer_new(probe, argument->element, count,
                                 &slot->expected);
    if (result == CUDA_SUCCESS && argument->role == SHMT_ROLE_INOUT)
        result = shmt_buffer_new(probe, argument->element, count,
                                 &slot->initial);
    if (values->file != NULL || values->fill == SHMT_FILL_SETUP)
        return result;
    if (result == CUDA_SUCCESS && argument->role == SHMT_ROLE_INOUT)
        result = shmt_probe_fill(probe, &slot->initial, &pattern);
    if (result == CUDA_SUCCESS && shmt_role_is_read(argument->role))
        result = shmt_probe_fill(probe, &slot->actual, &pattern);
    return result;
}

/* What argument k is filled from, and then what it is compared with. */
static enum shmtune_status load_files(struct shmt_bench *bench, size_t k,
                                      struct shmt_kernel_evaluated *evaluated,
                                      struct shmt_digest *digest,
                                      struct shmt_error *err)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    struct shmt_bench_slot *slot = &bench->slots[k];
    struct shmt_fill_values values;
    enum shmtune_status status = SHMTUNE_OK;

    if (argument->file.path != NULL) {
        status = shmt_kernel_argument_fill(evaluated, k, &values, err);
        if (status == SHMTUNE_OK)
            status = shmt_bench_input_load(
                bench, slot->initial.base != 0 ? &slot->initial
                                               : &slot->actual,
                &values, digest, err);
    }
    if (status != SHMTUNE_OK || argument->expect.path == NULL)
        return status;
    slot->given = true;
    status = shmt_kernel_argument_expect(evaluated, k, &values, err);
    return status == SHMTUNE_OK
               ? shmt_bench_input_load(bench, &slot->expected, &values,
                                       digest, err) : status;
}

static enum shmtune_status make_buffer(struct shmt_bench *bench, size_t k,
                                       struct shmt_kernel_evaluated *evaluated,
                                       struct shmt_error *err)
{
    const struct shmt_driver *driver = bench->options.driver;
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    size_t free_bytes = 0, all_bytes = 0;
    struct shmt_fill_values values;
    enum shmtune_status status =
        shmt_kernel_argument_fill(evaluated, k, &values, err);
    CUresult result;

    if (status == SHMTUNE_OK)
        status = shmt_kernel_argument_region(evaluated, k,
                                             &bench->slots[k].region, err);
    if (status != SHMTUNE_OK)
        return status;
    result = make_slot(bench, k, &values);
    if (result == CUDA_SUCCESS)
        return SHMTUNE_OK;
    driver->MemGetInfo(&free_bytes, &all_bytes);
    return shmt_driver_check(
        driver, result, err,
        "device memory for %s, %llu elements of %s (%zu of %zu MiB are "
        "free); choose a smaller size", argument->name,
        (unsigned long long)values.count, shmt_element_word(argument->element),
        free_bytes >> 20, all_bytes >> 20);
}

/* What an argument holds that is passed by value, or what is read from files
 * for it. */
static enum shmtune_status load(struct shmt_bench *bench, size_t k,
                                struct shmt_kernel_evaluated *evaluated,
                                struct shmt_digest *digest,
                                struct shmt_error *err)
{
    struct shmt_fill_values values;
    enum shmtune_status status;

    if (bench->kernel->arguments[k].role != SHMT_ROLE_VALUE)
        return load_files(bench, k, evaluated, digest, err);
    status = shmt_kernel_argument_fill(evaluated, k, &values, err);
    return status == SHMTUNE_OK
               ? shmt_bench_input_array(bench, k, &values, digest, err)
               : status;
}

/* All buffers are made before a file is read, in which there may be addresses
 * of them. */
static enum shmtune_status make_slots(struct shmt_bench *bench,
                                      struct shmt_kernel_evaluated *evaluated,
                                      struct shmt_error *err)
{
    const struct shmt_argument *arguments = bench->kernel->arguments;
    const size_t count = bench->kernel->argument_count;
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_digest digest;

    for (size_t k = 0; k < count && status == SHMTUNE_OK; k++)
        if (arguments[k].count != NULL && arguments[k].role != SHMT_ROLE_VALUE)
            status = make_buffer(bench, k, evaluated, err);
    shmt_bench_relocate_open(bench);
    shmt_digest_begin(&digest);
    for (size_t k = 0; k < count && status == SHMTUNE_OK; k++)
        if (arguments[k].count != NULL)
            status = load(bench, k, evaluated, &digest, err);
    return status == SHMTUNE_OK ? shmt_bench_input_check(bench, &digest, err)
                                : status;
}

static enum shmtune_status set_scalar(struct shmt_bench *bench, size_t k,
                                      struct shmt_kernel_evaluated *evaluated,
                                      struct shmt_error *err)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    struct shmt_value value;
    enum shmtune_status status =
        shmt_kernel_argument_value(evaluated, k, &value, err);

    if (status == SHMTUNE_OK) {
        status = shmt_element_convert(argument->element, value,
                                      &bench->slots[k].scalar, err);
        if (status != SHMTUNE_OK) {
            shmt_error_prefix(err, "%s: argument %s", bench->kernel->path,
                              argument->name);
            return SHMTUNE_INVALID_FILE;
        }
    }
    return status;
}

/* As many bytes as a launch takes at most, rounded up as alignment wants. */
enum { ARRAY_BYTES = 32768 };
_Static_assert((int)ARRAY_BYTES >= (int)SHMT_KERNEL_ARGUMENT_BYTES,
               "room for all arguments of a launch");

static enum shmtune_status set_packed(struct shmt_bench *bench, size_t k,
                                      struct shmt_kernel_evaluated *evaluated,
                                      struct shmt_error *err)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    const bool map = argument->role == SHMT_ROLE_TENSOR_MAP;
    struct shmt_bench_slot *slot = &bench->slots[k];

    if (slot->array == NULL) {
        slot->array =
            aligned_alloc(SHMT_ARGUMENT_MAP_ALIGNMENT, ARRAY_BYTES);
        if (slot->array != NULL)
            memset(slot->array, 0, ARRAY_BYTES);
    }
    if (slot->packed == NULL)
        slot->packed = malloc(map ? sizeof(struct shmt_argument_map)
                                  : argument->bytes);
    if (slot->array == NULL || slot->packed == NULL)
        return shmt_error_memory(err);
    slot->encoded = 0;
    return map ? shmt_kernel_argument_map(evaluated, k, slot->packed, err)
               : shmt_kernel_argument_pack(evaluated, k, slot->packed, err);
}

static enum shmtune_status set_scalars(struct shmt_bench *bench,
                                       struct shmt_kernel_evaluated *evaluated,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0;
         status == SHMTUNE_OK && k < bench->kernel->argument_count; k++) {
        const struct shmt_argument *argument = &bench->kernel->arguments[k];

        if (argument->role == SHMT_ROLE_SCALAR)
            status = set_scalar(bench, k, evaluated, err);
        else if (argument->bytes > 0 && argument->texture == NULL)
            status = set_packed(bench, k, evaluated, err);
    }
    return status;
}

/* -- the reference -------------------------------------------------------- */

enum shmtune_status shmt_bench_problem_load(struct shmt_bench *bench,
                                            struct shmt_bench_run *run,
                                            struct shmt_error *err)
{
    struct shmt_kernel_evaluated *evaluated = run->evaluated;
    enum shmtune_status status = shmt_kernel_evaluate_launches(evaluated, err);

    if (status == SHMTUNE_OK)
        status = shmt_bench_load(bench, evaluated, &run->loaded, NULL, err);
    for (size_t k = 0; k < evaluated->launch_count && status == SHMTUNE_OK;
         k++)
        if (evaluated->geometry[k].used && !evaluated->geometry[k].host)
            status = shmt_function_prepare(
                bench->options.driver,
                shmt_module_function(&run->loaded->module, k),
                &evaluated->geometry[k], err);
    return status;
}

/* Guards of the buffers that only the reference writes. */
static CUresult check_expected(struct shmt_bench *bench,
                               struct shmt_result *out)
{
    struct shmt_probe_finding findings[SHMT_PROBE_FINDINGS];
    CUresult result = shmt_probe_begin(&bench->probe);

    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        if (result == CUDA_SUCCESS && bench->slots[k].expected.base != 0)
            result = shmt_probe_guard(&bench->probe,
                                       &bench->slots[k].expected, k);
    if (result == CUDA_SUCCESS)
        result = shmt_probe_end(&bench->probe, findings);
    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        if (result == CUDA_SUCCESS && findings[k].guard_bytes > 0)
            shmt_result_set_verdict(out, SHMT_VERDICT_OUT_OF_BOUNDS,
                                    "wrote %llu bytes outside %s",
                                    (unsigned long long)findings[k].guard_bytes,
                                    bench->kernel->arguments[k].name);
    return result;
}

/* The verdict on the reference is in *out. */
static CUresult run_reference(struct shmt_bench *bench,
                              struct shmt_bench_run *run,
                              struct shmt_result *out)
{
    CUresult result = shmt_bench_run_fill(bench, run);

    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_fresh(bench, run, SHMT_PATTERN_POISON_A);
    if (result == CUDA_SUCCESS)
        result = check_expected(bench, out);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_verify_scale(bench);
    if (result != CUDA_SUCCESS || out->verdict != SHMT_VERDICT_OK)
        return result;
    run->expected = false;
    result = shmt_bench_run_fresh(bench, run, SHMT_PATTERN_POISON_B);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_verify(bench, SHMT_PATTERN_POISON_B, out);
    return result;
}

/* hashes[k] is that of argument k's actual buffer when it is an input, the ones
 * behind it are those of the expected and then of the initial buffers. */
static CUresult read_hashes(struct shmt_bench *bench,
                            uint64_t hashes[SHMT_PROBE_FINDINGS])
{
    struct shmt_probe_finding findings[SHMT_PROBE_FINDINGS];
    CUresult result = shmt_probe_begin(&bench->probe);

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const struct shmt_bench_slot *slot = &bench->slots[k];
        const bool input =
            shmt_role_is_read(bench->kernel->arguments[k].role);
        const struct shmt_buffer *const all[] = {
            input ? &slot->actual : NULL, &slot->expected, &slot->initial};

        for (size_t b = 0; b < sizeof all / sizeof all[0]; b++)
            if (result == CUDA_SUCCESS && all[b] != NULL && all[b]->base != 0)
                result = shmt_probe_hash(&bench->probe, all[b],
                                         b * SHMT_KERNEL_ARGUMENTS + k);
    }
    if (result == CUDA_SUCCESS)
        result = shmt_probe_end(&bench->probe, findings);
    for (size_t k = 0; result == CUDA_SUCCESS && k < SHMT_PROBE_FINDINGS; k++)
        hashes[k] = findings[k].hash;
    return result;
}

enum shmtune_status shmt_bench_problem_refuse(const struct shmt_kernel *kernel,
                                              const char *what,
                                              enum shmtune_status status,
                                              struct shmt_error *err)
{
    if (status == SHMTUNE_NO_MEMORY)
        return status;
    shmt_error_prefix(err, "%s: the %s failed", kernel->path, what);
    return status == SHMTUNE_STORAGE
               ? status
               : shmt_error_set_status(err, SHMTUNE_WRONG_RESULT);
}

/* All results are there already. */
static enum shmtune_status keep_results(struct shmt_bench *bench,
                                        struct shmt_error *err)
{
    CUresult result = shmt_bench_verify_scale(bench);

    if (result == CUDA_SUCCESS)
        result = read_hashes(bench, bench->hashes);
    return shmt_driver_check(bench->options.driver, result, err,
                             "reading what is expected");
}

static enum shmtune_status make_results(struct shmt_bench *bench,
                                        struct shmt_kernel_evaluated *evaluated,
                                        struct shmt_error *err)
{
    struct shmt_bench_run run = {.evaluated = evaluated, .expected = true};
    struct shmt_result verdict;
    enum shmtune_status status;
    CUresult result;

    if (bench->kernel->reference_count == 0)
        return keep_results(bench, err);
    status = shmt_bench_problem_load(bench, &run, err);
    if (status == SHMTUNE_OK) {
        shmt_result_clear(&verdict);
        /* In-outs that the reference does not write are compared with their
         * initial content. */
        result = read_hashes(bench, bench->hashes);
        if (result == CUDA_SUCCESS)
            result = run_reference(bench, &run, &verdict);
        if (result == CUDA_SUCCESS && verdict.verdict == SHMT_VERDICT_OK)
            result = read_hashes(bench, bench->hashes);
        if (result != CUDA_SUCCESS)
            shmt_bench_set_verdict(bench, result, "running", &verdict);
        if (verdict.verdict != SHMT_VERDICT_OK)
            status = shmt_error_set(err, SHMTUNE_WRONG_RESULT, "%s: %s",
                                    shmt_verdict_word(verdict.verdict),
                                    verdict.reason);
    }
    return status == SHMTUNE_OK
               ? status
               : shmt_bench_problem_refuse(bench->kernel, "reference",
                                           status, err);
}

enum shmtune_status shmt_bench_problem_prepare(struct shmt_bench *bench,
                                               const int64_t *problem,
                                               struct shmt_error *err)
{
    const size_t size = bench->kernel->dimension_count * sizeof *problem;
    struct shmt_kernel_evaluated evaluated;
    enum shmtune_status status;

    if (bench->prepared && memcmp(bench->problem, problem, size) == 0)
        return SHMTUNE_OK;
    shmt_bench_problem_free(bench);
    shmt_kernel_evaluate_part(bench->kernel, SHMT_KERNEL_REFERENCE,
                              problem, &evaluated);
    status = make_slots(bench, &evaluated, err);
    if (status == SHMTUNE_OK)
        status = set_scalars(bench, &evaluated, err);
    if (status == SHMTUNE_OK)
        status = shmt_bench_texture_make(bench, &evaluated, err);
    if (status == SHMTUNE_OK)
        status = shmt_bench_setup(bench, problem, err);
    if (status == SHMTUNE_OK)
        status = shmt_bench_compare_open(bench, problem, err);
    if (status == SHMTUNE_OK)
        status = shmt_bench_answer(bench, &evaluated, err);
    if (status == SHMTUNE_OK)
        status = make_results(bench, &evaluated, err);
    if (status != SHMTUNE_OK) {
        if (!bench->lost)
            shmt_bench_problem_free(bench);
        return status;
    }
    memcpy(bench->problem, problem, size);
    bench->prepared = true;
    return SHMTUNE_OK;
}

/* -- a candidate ---------------------------------------------------------- */

/* Replaces a buffer by a larger one.  If both do not fit, the old one is freed
 * first, and allocated again if the new one does not fit either. */
static CUresult replace(struct shmt_bench *bench, struct shmt_buffer *buffer,
                        uint64_t count)
{
    const struct shmt_buffer before = *buffer;
    CUresult result;

    shmt_buffer_free(&bench->probe, buffer);
    result = shmt_buffer_new(&bench->probe, before.element, count, buffer);
    if (result != CUDA_SUCCESS &&
        shmt_buffer_new(&bench->probe, before.element, before.count,
                        buffer) != CUDA_SUCCESS)
        bench->prepared = false;   /* all are made anew for the next one */
    return result;
}

/* A workspace buffer only grows.  If it is larger than needed, the guard
 * begins at the needed size. */
static CUresult resize(struct shmt_bench *bench, struct shmt_buffer *buffer,
                       uint64_t count)
{
    const uint64_t size = shmt_element_bytes(buffer->element);
    struct shmt_buffer fresh = {0};
    CUresult result;

    if (count == buffer->count)
        return CUDA_SUCCESS;
    if (count <= (buffer->whole - 2 * SHMT_PROBE_GUARD_BYTES) / size) {
        buffer->count = count;
        buffer->bytes = count * size;
        return shmt_probe_repair_guards(&bench->probe, buffer);
    }
    result = shmt_buffer_new(&bench->probe, buffer->element, count, &fresh);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return replace(bench, buffer, count);
    if (result == CUDA_SUCCESS) {
        shmt_buffer_free(&bench->probe, buffer);
        *buffer = fresh;
    }
    return result;
}

enum shmtune_status
shmt_bench_problem_configure(struct shmt_bench *bench,
                             struct shmt_kernel_evaluated *evaluated,
                             struct shmt_result *out, struct shmt_error *err)
{
    enum shmtune_status status = set_scalars(bench, evaluated, err);

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const struct shmt_argument *argument = &bench->kernel->arguments[k];
        char when[96 + SHMT_RESULT_REASON / 2];
        uint64_t count = 0;
        CUresult result;

        if (status != SHMTUNE_OK || out->verdict != SHMT_VERDICT_OK)
            break;
        if (argument->role != SHMT_ROLE_WORKSPACE)
            continue;
        status = shmt_kernel_argument_count(evaluated, k, &count, err);
        if (status != SHMTUNE_OK)
            break;
        result = resize(bench, &bench->slots[k].actual, count);
        snprintf(when, sizeof when, "workspace %.64s of %llu bytes",
                 argument->name, (unsigned long long)count *
                 shmt_element_bytes(argument->element));
        if (result != CUDA_SUCCESS)
            shmt_bench_set_verdict(bench, result, when, out);
    }
    return status;
}

static CUresult repair_guards(struct shmt_bench *bench)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const struct shmt_bench_slot *slot = &bench->slots[k];
        const struct shmt_buffer *const all[] = {&slot->actual, &slot->expected,
                                                 &slot->initial};

        for (size_t b = 0; b < 3; b++)
            if (result == CUDA_SUCCESS && all[b]->base != 0)
                result = shmt_probe_repair_guards(&bench->probe, all[b]);
    }
    return result;
}

CUresult shmt_bench_problem_repair(struct shmt_bench *bench)
{
    uint64_t hashes[SHMT_PROBE_FINDINGS];
    CUresult result = repair_guards(bench);

    if (result == CUDA_SUCCESS)
        result = read_hashes(bench, hashes);
    if (result == CUDA_SUCCESS &&
        memcmp(hashes, bench->hashes, sizeof hashes) != 0)
        bench->prepared = false;
    return result;
}
