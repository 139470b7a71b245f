/* SPDX-License-Identifier: MIT */
/*
 * compile_refused: the values of a spec's parameters that its source does not
 * compile with, each tried by itself beside the defaults of the others.  Called
 * by draft_compile.c.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/compile.h"
#include "target/target.h"

/* Configurations that are compiled at most, the default among them. */
enum { MOST = 64 };

struct trial {
    const struct shmt_kernel *kernel;
    const int64_t *problem;
    size_t count;
    shmt_config *configs;              /* [MOST][parameter_count] */
    struct {
        size_t parameter, value;
    } tried[MOST];                     /* of each but the first */
    struct shmt_result results[MOST];
};

static bool is_allowed(const struct trial *trial, const shmt_config *config)
{
    struct shmt_kernel_evaluated evaluated;

    shmt_kernel_evaluate(trial->kernel, trial->problem, config, &evaluated);
    return shmt_kernel_allows(&evaluated);
}

static void add(struct trial *trial, size_t parameter, size_t value)
{
    const size_t width = trial->kernel->parameter_count;
    shmt_config *const config = trial->configs + trial->count * width;

    memcpy(config, trial->configs, width * sizeof *config);
    config[parameter] = (shmt_config)value;
    if (config[parameter] == trial->configs[parameter] ||
        !is_allowed(trial, config))
        return;
    trial->tried[trial->count].parameter = parameter;
    trial->tried[trial->count].value = value;
    trial->count++;
}

/* The last and the first value of each parameter, then those further in: where
 * there are too many, or the time is over, the middle is what is left. */
static void choose(struct trial *trial)
{
    const struct shmt_kernel *const kernel = trial->kernel;
    bool more = true;

    shmt_kernel_default(kernel, trial->configs);
    trial->count = 1;
    for (size_t rank = 0; more; rank++) {
        more = false;
        for (size_t p = 0; p < kernel->parameter_count; p++) {
            const struct shmt_parameter *const one = &kernel->parameters[p];

            if (one->launch_only || rank >= one->count)
                continue;
            if (trial->count == MOST)
                return;
            more = true;
            add(trial, p, rank % 2 == 0 ? one->count - 1 - rank / 2
                                        : rank / 2);
        }
    }
}

/* Whether the compiler is against it; one that takes too long may compile. */
static bool is_refused(const struct shmt_result *result)
{
    return result->verdict == SHMT_VERDICT_COMPILE_ERROR ||
           result->verdict == SHMT_VERDICT_CRASH;
}

static bool compiled(const struct shmt_result *result)
{
    return result->resources.registers >= 0 && !is_refused(result);
}

/* Of a source that does not compile as it is nothing is to blame. */
static enum shmtune_status keep(const struct trial *trial,
                                struct shmt_arena *arena,
                                struct shmt_compiler_refused *out,
                                struct shmt_error *err)
{
    struct shmt_compiler_refusal *const refusals =
        shmt_arena_alloc(arena, trial->count, sizeof *refusals);

    if (refusals == NULL)
        return shmt_error_memory(err);
    out->refusals = refusals;
    for (size_t k = 1; compiled(&trial->results[0]) && k < trial->count; k++) {
        const char *const why = trial->results[k].reason;

        if (!is_refused(&trial->results[k]))
            continue;
        refusals[out->count] = (struct shmt_compiler_refusal){
            trial->tried[k].parameter, trial->tried[k].value,
            shmt_arena_copy(arena, why, strlen(why))};
        if (refusals[out->count++].why == NULL)
            return shmt_error_memory(err);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status compile(struct trial *trial, const char *arch,
                                   const struct shmt_compiler_options *options,
                                   double most_s, struct shmt_error *err)
{
    struct shmtune_device device;
    struct shmt_compiler_batch batch = {
        .device = &device, .problem = trial->problem, .count = trial->count,
        .configs = trial->configs, .results = trial->results,
        .most_s = most_s};
    struct shmt_target *compiler;
    enum shmtune_status status = shmt_compiler_arch(arch, &device, err);

    if (status == SHMTUNE_OK)
        status = shmt_compiler_open(trial->kernel, arch, options, &compiler,
                                    err);
    if (status != SHMTUNE_OK)
        return status;
    status = shmt_compiler_run(compiler, &batch, err);
    shmt_compiler_close(compiler);
    return status;
}

enum shmtune_status
shmt_compiler_refused(const struct shmt_kernel *kernel, const char *arch,
                      const struct shmt_compiler_options *options,
                      double most_s, struct shmt_arena *arena,
                      struct shmt_compiler_refused *out,
                      struct shmt_error *err)
{
    struct trial *const trial = calloc(1, sizeof *trial);
    enum shmtune_status status = SHMTUNE_OK;

    *out = (struct shmt_compiler_refused){0};
    if (trial != NULL)
        trial->configs = calloc(MOST, (kernel->parameter_count + 1) *
                                          sizeof *trial->configs);
    if (trial == NULL || trial->configs == NULL) {
        free(trial);
        return shmt_error_memory(err);
    }
    trial->kernel = kernel;
    trial->problem = kernel->sizes[0];
    choose(trial);
    for (size_t k = 0; k < trial->count; k++)
        shmt_result_clear(&trial->results[k]);
    if (trial->count > 1)
        status = compile(trial, arch, options, most_s, err);
    if (status == SHMTUNE_OK)
        status = keep(trial, arena, out, err);
    free(trial->configs);
    free(trial);
    return status;
}
