/* SPDX-License-Identifier: MIT */
/*
 * check_spec: a kernel spec: its spaces, and its default and its
 * reference through the compiler.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/check.h"
#include "data/data.h"
#include "device/device.h"
#include "yaml/yaml.h"

/* Which constraint leaves none of what those before it leave. */
static enum shmtune_status report_empty(struct shmt_check *check,
                                        const struct shmt_kernel *kernel,
                                        const int64_t *problem,
                                        const char *size,
                                        struct shmt_error *err)
{
    struct shmt_space_stage *const stages =
        calloc(kernel->constraint_count + 1, sizeof *stages);
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_space_definition definition = {
        kernel->parameter_count, kernel->parameters, kernel->constraint_count,
        kernel->constraints, kernel->dimension_count, evaluated.values,
        shmt_command_limits_begin(&check->limits, check->call)
    };
    struct shmt_place place = {.line = 0};
    enum shmtune_status status = SHMTUNE_OK;
    size_t k = 0;

    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE, problem,
                              &evaluated);
    if (stages == NULL)
        status = shmt_error_memory(err);
    else
        status = shmt_space_funnel(&definition, stages, err);
    shmt_command_limits_end(&check->limits);
    /* An estimate of none may be of few. */
    while (status == SHMTUNE_OK && k < kernel->constraint_count &&
           (stages[k + 1].count > 0 || !stages[k + 1].exact))
        k++;
    if (status == SHMTUNE_OK && k < kernel->constraint_count) {
        char before[32] = "those";

        if (stages[k].exact)
            snprintf(before, sizeof before, "%" PRIu64, stages[k].count);
        place = shmt_expr_place(kernel->constraints[k]);
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "%s:%d:%d: no configuration satisfies the "
                          "constraints%s: of %s that are left before it, "
                          "\"%s\" leaves none; change it, the values of the "
                          "parameters or the size", check->file, place.line,
                          place.column, size, before,
                          shmt_expr_text(kernel->constraints[k]));
    } else if (status == SHMTUNE_OK) {
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "no configuration satisfies the constraints%s",
                          size);
    }
    free(stages);
    return status;
}

/* Counts the valid configurations at each size and keeps the smallest count. */
static enum shmtune_status check_space(struct shmt_check *check,
                                       const struct shmt_kernel *kernel,
                                       const int64_t *problem,
                                       uint64_t *least,
                                       struct shmt_error *err)
{
    struct shmt_text size = {0};
    struct shmt_space *space;
    const struct shmt_command_problem at = {kernel, problem};
    enum shmtune_status status = shmt_command_build_space(
        &check->limits, check->call, &at, &space, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_kernel_describe_at(kernel, problem, &size);
    if (shmt_space_is_drawn(space))
        shmt_check_report(check, SHMT_CHECK_NOTE, "%s" SHMT_SPACE_DRAWN,
                          kernel->name, shmt_text_string(&size),
                          (unsigned long long)shmt_space_count(space));
    if (shmt_space_count(space) == 0)
        status = report_empty(check, kernel, problem, shmt_text_string(&size),
                              err);
    if (shmt_space_count(space) < *least)
        *least = shmt_space_count(space);
    shmt_text_free(&size);
    shmt_space_free(space);
    return status;
}

/* -- files ---------------------------------------------------------------- */

static enum shmtune_status pass_over(void *context, void *bytes,
                                     uint64_t offset, size_t size,
                                     struct shmt_error *err)
{
    (void)context;
    (void)bytes;
    (void)offset;
    (void)size;
    (void)err;
    return shmt_command_stopped == 0 ? SHMTUNE_OK : SHMTUNE_INTERRUPTED;
}

/* Data need not lie where sources are checked, so a file that cannot be read is
 * a note; one that is read has to fit. */
static enum shmtune_status
report_file(struct shmt_check *check, enum shmtune_status status,
            const struct shmt_fill_values *values, struct shmt_error *err)
{
    const struct shmt_data_sink sink = {pass_over, NULL};

    if (status == SHMTUNE_OK)
        status = shmt_data_read(values, NULL, &sink, err);
    if (status != SHMTUNE_STORAGE)
        return shmt_check_report_failure(check, status, err);
    shmt_check_report(check, SHMT_CHECK_NOTE, "%s", err->text);
    return SHMTUNE_OK;
}

/* What arguments are filled from and compared with, at one size. */
static enum shmtune_status check_files(struct shmt_check *check,
                                       const struct shmt_kernel *kernel,
                                       const int64_t *problem,
                                       struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    struct shmt_fill_values values;
    enum shmtune_status status = SHMTUNE_OK;

    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              problem, &evaluated);
    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->argument_count;
         k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];

        if (argument->file.path != NULL)
            status = report_file(
                check,
                shmt_kernel_argument_fill(&evaluated, k, &values, err),
                &values, err);
        if (status == SHMTUNE_OK && argument->expect.path != NULL)
            status = report_file(
                check,
                shmt_kernel_argument_expect(&evaluated, k, &values, err),
                &values, err);
    }
    return status;
}

/* -- by the compiler ------------------------------------------------------ */

/* Whether the spec has a reference of its own.  If not, the default
 * configuration is the oracle. */
static bool has_reference(const struct shmt_kernel *kernel)
{
    return kernel->reference_count > 0 &&
           kernel->reference != kernel->launches;
}

static void report_default(struct shmt_check *check,
                           const struct shmt_kernel *kernel,
                           const int64_t *problem,
                           const struct shmt_result *result)
{
    struct shmt_text size = {0}, place = {0};

    shmt_kernel_describe_at(kernel, problem, &size);
    /* Of several launches it is not known which. */
    if (result->verdict == SHMT_VERDICT_TOO_LARGE && kernel->launch_count == 1)
        shmt_text_addf(&place, "%s:%d:%d: ", check->file,
                       kernel->launches[0].entry_place.line,
                       kernel->launches[0].entry_place.column);
    if (result->verdict == SHMT_VERDICT_COMPILE_ERROR)
        snprintf(check->told, sizeof check->told, "%s", result->reason);
    if (result->verdict != SHMT_VERDICT_OK)
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "%sthe default configuration%s: %s: %s",
                          shmt_text_string(&place), shmt_text_string(&size),
                          shmt_verdict_word(result->verdict), result->reason);
    else if (result->resources.spill_store_bytes > 0)
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "the default configuration%s spills %d bytes a "
                          "thread", shmt_text_string(&size),
                          result->resources.spill_store_bytes);
    shmt_text_free(&place);
    shmt_text_free(&size);
}

/* Launches of a part that are compiled in this process: the default once it is
 * known to compile, and simple code; the workers compile candidates. */
static enum shmtune_status check_part(struct shmt_check *check,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_compiler_here *here,
                                      enum shmt_kernel_part part,
                                      struct shmt_error *err)
{
    static const char *const names[] = {
        [SHMT_KERNEL_CANDIDATE] = "the default configuration",
        [SHMT_KERNEL_REFERENCE] = "the reference",
        [SHMT_KERNEL_SETUP] = "the setup",
        [SHMT_KERNEL_COMPARE] = "the comparison"
    };
    const enum shmtune_status status =
        shmt_check_launches(check, kernel, part, here, err);

    /* Of the default the workers' verdict says so. */
    if (status == SHMTUNE_OK ||
        (part == SHMT_KERNEL_CANDIDATE && status == SHMTUNE_INVALID_FILE))
        return SHMTUNE_OK;
    if (check->told[0] != '\0' && strstr(err->text, check->told) != NULL)
        return SHMTUNE_OK;
    shmt_error_prefix(err, "%s",
                      part == SHMT_KERNEL_REFERENCE && !has_reference(kernel)
                          ? "the default, as the reference" : names[part]);
    return shmt_check_report_failure(check, status, err);
}

/* A verdict that follows from what check_part has reported in more detail. */
static bool is_consequence(const struct shmt_result *result)
{
    return result->verdict == SHMT_VERDICT_SPEC_MISMATCH &&
           strstr(result->reason, "'arguments' of launch") != NULL;
}

/* The default at each size, by the workers, which may die of it.  What is the
 * same at several sizes is said once. */
static enum shmtune_status compile_default(struct shmt_check *check,
                                           const struct shmt_kernel *kernel,
                                           struct shmt_target *compiler,
                                           struct shmt_compiler_here *here,
                                           struct shmt_error *err)
{
    const size_t bad = check->bad;
    struct shmtune_device device;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_result result, before = {0};
    struct shmt_compiler_batch batch = {
        .device = &device, .count = 1, .configs = config, .results = &result
    };
    enum shmtune_status status =
        shmt_device_for_arch(check->arch, &device, err);

    shmt_kernel_default(kernel, config);
    for (size_t i = 0; status == SHMTUNE_OK && i < kernel->size_count; i++) {
        batch.problem = kernel->sizes[i];
        status = shmt_compiler_run(compiler, &batch, err);
        if (status == SHMTUNE_OK && i == 0 &&
            (result.verdict == SHMT_VERDICT_OK ||
             result.verdict == SHMT_VERDICT_SPEC_MISMATCH ||
             result.resources.registers >= 0))
            status = check_part(check, kernel, here, SHMT_KERNEL_CANDIDATE,
                                err);
        if (status == SHMTUNE_OK &&
            (i == 0 || strcmp(before.reason, result.reason) != 0) &&
            !(check->bad > bad && is_consequence(&result)))
            report_default(check, kernel, kernel->sizes[i], &result);
        before = result;
    }
    return status;
}

/* By the compiler: the default, the reference, which is the default compiled
 * for it if there is no other, and the setup.  It would only say again which
 * entries are missing. */
static enum shmtune_status
compile_parts(struct shmt_check *check, const struct shmt_kernel *kernel,
              struct shmt_target *compiler,
              const bool missing[SHMT_KERNEL_PARTS], struct shmt_error *err)
{
    const size_t bad = check->bad;
    struct shmt_compiler_here *here = NULL;
    enum shmtune_status status = shmt_compiler_here_open(kernel, &here, err);

    if (status != SHMTUNE_OK)
        return shmt_check_report_failure(check, status, err);
    check->told[0] = '\0';
    if (!missing[SHMT_KERNEL_CANDIDATE])
        status = compile_default(check, kernel, compiler, here, err);
    if (status == SHMTUNE_OK && !missing[SHMT_KERNEL_REFERENCE] &&
        (has_reference(kernel) || check->bad == bad))
        status = check_part(check, kernel, here, SHMT_KERNEL_REFERENCE, err);
    if (status == SHMTUNE_OK && !missing[SHMT_KERNEL_SETUP])
        status = check_part(check, kernel, here, SHMT_KERNEL_SETUP, err);
    if (status == SHMTUNE_OK && !missing[SHMT_KERNEL_COMPARE])
        status = check_part(check, kernel, here, SHMT_KERNEL_COMPARE, err);
    if (status == SHMTUNE_OK && check->bad == bad &&
        !missing[SHMT_KERNEL_CANDIDATE])
        status = shmt_check_values(check, kernel, compiler, err);
    shmt_compiler_here_close(here);
    return status;
}

/* By the text of the source. */
static enum shmtune_status read_parts(struct shmt_check *check,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (int part = 0; status == SHMTUNE_OK && part < SHMT_KERNEL_PARTS;
         part++)
        status = check_part(check, kernel, NULL, (enum shmt_kernel_part)part,
                            err);
    return status;
}

static enum shmtune_status check_kernel(struct shmt_check *check,
                                        const struct shmt_kernel *kernel,
                                        struct shmt_error *err)
{
    const size_t bad = check->bad;
    struct shmt_target *compiler = NULL;
    const bool several = kernel->size_count > 1;
    uint64_t least = UINT64_MAX;
    bool missing[SHMT_KERNEL_PARTS];
    enum shmtune_status status =
        shmt_check_entries(check, kernel, missing, err);

    shmt_check_notes(check, kernel);
    shmt_check_grids(check, kernel);
    for (size_t i = 0; status == SHMTUNE_OK && i < kernel->size_count; i++)
        status = check_space(check, kernel, kernel->sizes[i], &least, err);
    for (size_t i = 0; status == SHMTUNE_OK && i < kernel->size_count; i++)
        status = check_files(check, kernel, kernel->sizes[i], err);
    if (status == SHMTUNE_OK)
        status = shmt_check_compiler(check, kernel, check->arch, &compiler,
                                     err);
    shmt_check_macros(check, kernel,
                      compiler != NULL && check->sample > 1);
    if (status == SHMTUNE_OK && compiler != NULL)
        status = compile_parts(check, kernel, compiler, missing, err);
    else if (status == SHMTUNE_OK)
        status = read_parts(check, kernel, err);
    if (status == SHMTUNE_OK && check->bad == bad)
        shmt_check_report(check, SHMT_CHECK_GOOD,
                          "spec of %s: %zu parameter%s, %zu size%s, %" PRIu64
                          "%s configuration%s%s%s", kernel->name,
                          kernel->parameter_count,
                          shmt_text_plural(kernel->parameter_count),
                          kernel->size_count,
                          shmt_text_plural(kernel->size_count), least,
                          several ? " or more" : "",
                          several ? "s" : shmt_text_plural(least),
                          several ? " at each" : "",
                          compiler == NULL ? "; nothing of it was compiled"
                          : has_reference(kernel)
                           ? "; the default and the reference compile"
                           : "; the default compiles");
    shmt_compiler_close(compiler);
    return status;
}

static void report_mark(void *context, struct shmt_place place,
                        const char *what)
{
    shmt_check_report(context, SHMT_CHECK_BAD, "%s:%d:%d: to be written: %s",
                      place.file, place.line, place.column, what);
}

/* All that a draft leaves to be written; *marks: there is something. */
static enum shmtune_status report_marks(struct shmt_check *check, bool *marks,
                                        struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *root;
    const char *data;
    size_t size;
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : shmt_path_read(arena, check->file, 1 << 20, &data,
                                       &size, err);

    *marks = false;
    if (status == SHMTUNE_OK)
        status = shmt_yaml_parse(arena, check->file, data, size, &root, err);
    if (status == SHMTUNE_OK)
        *marks = shmt_yaml_todo(root, report_mark, check) > 0;
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_check_spec(struct shmt_check *check,
                                    struct shmt_error *err)
{
    struct shmt_kernel *kernel;
    enum shmtune_status marked,
        status = shmt_kernel_read(check->file, &kernel, err);
    bool marks;

    if (status == SHMTUNE_INVALID_FILE) {
        /* Of a draft the reader tells the first mark alone. */
        marked = report_marks(check, &marks, err);
        return marked == SHMTUNE_OK && !marks ? status : marked;
    }
    if (status != SHMTUNE_OK)
        return status;
    status = check_kernel(check, kernel, err);
    shmt_kernel_free(kernel);
    return status;
}

enum shmtune_status shmt_check_kernel(struct shmt_check *check,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_error *err)
{
    check->file = kernel->path;
    return shmt_check_report_failure(check, check_kernel(check, kernel, err),
                                     err);
}
