/* SPDX-License-Identifier: MIT */
/*
 * check_values: does each value compile?  Beside the default a sample of
 * configurations is compiled that covers the lowest and the highest number and
 * every word of each parameter the binary depends on.  Called by check_spec.c.
 *
 * The sample is greedy: of the whole space of a size, or of many configurations
 * drawn from it, the one that covers most is taken until nothing is left; what
 * the first size does not allow the next ones may.  Where several values are in
 * no configuration that compiles, each is tried once more among values that
 * compile.  What took too long is noted: nobody knows whether it compiles.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "command/check.h"

enum { POOL = 4096 };

/* What a batch is compiled with. */
struct compiling {
    struct shmt_check *check;
    struct shmt_target *compiler;
    struct shmtune_device device;
    const int64_t *problem;
    size_t most;               /* configurations of the sample */
};

struct sample {
    const struct shmt_kernel *kernel;
    size_t *first;             /* of each parameter: its first value in these */
    bool *wanted, *compiled;   /* [values of all parameters] */
    size_t value_count;
    shmt_config *pool;         /* [pool_count][parameters] */
    size_t pool_count;
    shmt_config *taken;        /* [most][parameters] */
    struct shmt_result *results;
    size_t taken_count, compiled_count;
};

static const shmt_config *config_at(const struct sample *sample,
                                    const shmt_config *configs, size_t k)
{
    return configs + k * sample->kernel->parameter_count;
}

static bool is_less(const struct shmt_value *a, const struct shmt_value *b)
{
    return a->type == SHMT_VALUE_REAL ? a->r < b->r : a->i < b->i;
}

/* The words, or the lowest and the highest number, of what is compiled in. */
static void want_extremes(struct sample *sample)
{
    for (size_t p = 0; p < sample->kernel->parameter_count; p++) {
        const struct shmt_parameter *parameter =
            &sample->kernel->parameters[p];
        bool *const wanted = sample->wanted + sample->first[p];
        size_t low = 0, high = 0;

        if (parameter->launch_only)
            continue;
        for (size_t v = 0; v < parameter->count; v++) {
            wanted[v] = parameter->type == SHMT_VALUE_WORD;
            if (wanted[v])
                continue;
            if (is_less(&parameter->values[v], &parameter->values[low]))
                low = v;
            if (is_less(&parameter->values[high], &parameter->values[v]))
                high = v;
        }
        wanted[low] = wanted[high] = true;
    }
}

/* Marks the values of a configuration; returns how many were among these. */
static size_t mark(const struct sample *sample, const shmt_config *config,
                   bool *values, bool to)
{
    size_t count = 0;

    for (size_t p = 0; p < sample->kernel->parameter_count; p++) {
        bool *const value = &values[sample->first[p] + config[p]];

        count += *value != to;
        *value = to;
    }
    return count;
}

static size_t count_wanted(const struct sample *sample,
                           const shmt_config *config)
{
    size_t count = 0;

    for (size_t p = 0; p < sample->kernel->parameter_count; p++)
        count += sample->wanted[sample->first[p] + config[p]];
    return count;
}

/* All configurations of a small space, else as many drawn with a seed. */
static void fill_pool(struct sample *sample, const struct shmt_space *space)
{
    const uint64_t count = shmt_space_count(space);
    struct shmt_random random;

    shmt_random_seed(&random, 1);
    sample->pool_count = count < POOL ? (size_t)count : POOL;
    for (size_t k = 0; k < sample->pool_count; k++)
        shmt_space_configuration(
            space, count <= POOL ? k : shmt_random_below(&random, count),
            sample->pool + k * sample->kernel->parameter_count);
}

static void take(struct sample *sample, const shmt_config *config)
{
    const size_t width = sample->kernel->parameter_count;

    memcpy(sample->taken + sample->taken_count++ * width, config,
           width * sizeof *config);
}

static void take_most(struct sample *sample, size_t most)
{
    while (sample->taken_count < most) {
        size_t best = 0, best_count = 0;

        for (size_t k = 0; k < sample->pool_count; k++) {
            const size_t count =
                count_wanted(sample, config_at(sample, sample->pool, k));

            if (count > best_count) {
                best = k;
                best_count = count;
            }
        }
        if (best_count == 0)
            return;
        take(sample, config_at(sample, sample->pool, best));
        mark(sample, config_at(sample, sample->pool, best), sample->wanted,
             false);
    }
}

static enum shmtune_status begin(struct sample *sample,
                                 const struct shmt_kernel *kernel,
                                 size_t most, struct shmt_error *err)
{
    const size_t width = kernel->parameter_count;

    *sample = (struct sample){.kernel = kernel};
    sample->first = calloc(width + 1, sizeof *sample->first);
    for (size_t p = 0; sample->first != NULL && p < width; p++)
        sample->first[p + 1] =
            sample->first[p] + kernel->parameters[p].count;
    if (sample->first != NULL)
        sample->value_count = sample->first[width];
    sample->wanted = calloc(sample->value_count + 1, sizeof(bool));
    sample->compiled = calloc(sample->value_count + 1, sizeof(bool));
    sample->pool = calloc(POOL, (width + 1) * sizeof *sample->pool);
    /* Once more each, for those that do not compile. */
    sample->taken = calloc(2 * most, (width + 1) * sizeof *sample->taken);
    sample->results = calloc(2 * most, sizeof *sample->results);
    return sample->first == NULL || sample->wanted == NULL ||
                   sample->compiled == NULL || sample->pool == NULL ||
                   sample->taken == NULL || sample->results == NULL
               ? shmt_error_memory(err)
               : SHMTUNE_OK;
}

static void end(struct sample *sample)
{
    free(sample->first);
    free(sample->wanted);
    free(sample->compiled);
    free(sample->pool);
    free(sample->taken);
    free(sample->results);
}

/* Whether the compiler, and not the device or the filters, is against it. */
static bool is_refused(const struct shmt_result *result)
{
    return result->verdict == SHMT_VERDICT_COMPILE_ERROR ||
           result->verdict == SHMT_VERDICT_COMPILE_TIMEOUT ||
           result->verdict == SHMT_VERDICT_SPEC_MISMATCH ||
           result->verdict == SHMT_VERDICT_CRASH;
}

/* How many of its values are in no configuration that compiles. */
static size_t count_blamed(const struct sample *sample,
                           const shmt_config *config)
{
    size_t count = 0;

    for (size_t p = 0; p < sample->kernel->parameter_count; p++)
        count += !sample->kernel->parameters[p].launch_only &&
                 !sample->compiled[sample->first[p] + config[p]];
    return count;
}

/* "TILE=128": the values that are in no configuration that compiles. */
static void add_blamed(const struct sample *sample, const shmt_config *config,
                       struct shmt_text *text)
{
    for (size_t p = 0; p < sample->kernel->parameter_count; p++) {
        const struct shmt_parameter *parameter =
            &sample->kernel->parameters[p];

        if (parameter->launch_only ||
            sample->compiled[sample->first[p] + config[p]])
            continue;
        shmt_text_addf(text, "%s%s=", text->length > 0 ? " " : "",
                       parameter->name);
        shmt_kernel_value_add(text, parameter->values[config[p]]);
    }
}

/* Of "k.cu(3): #define TILE is in the way of the spec's 32; ..." what is the
 * same for each value; 0: it is about something else. */
static size_t definition_in(const char *reason)
{
    const char *found = strstr(reason, " is in the way of the spec's ");

    return found == NULL ? 0 : (size_t)(found - reason);
}

/* Whether an earlier one fails by the same values, or by the same words. */
static bool was_told(const struct sample *sample, size_t k)
{
    const shmt_config *config = config_at(sample, sample->taken, k);
    const char *reason = sample->results[k].reason;
    const size_t same = definition_in(reason);

    for (size_t before = 0; before < k; before++) {
        const shmt_config *other = config_at(sample, sample->taken, before);
        size_t p = 0;

        if (!is_refused(&sample->results[before]))
            continue;
        if (strcmp(sample->results[before].reason, reason) == 0 ||
            (same > 0 && strncmp(sample->results[before].reason, reason,
                                 same) == 0))
            return true;
        while (p < sample->kernel->parameter_count &&
               (sample->compiled[sample->first[p] + config[p]] ||
                config[p] == other[p]))
            p++;
        if (p == sample->kernel->parameter_count &&
            count_blamed(sample, config) > 0)
            return true;
    }
    return false;
}

/* A value that compiles nowhere is wrong, a combination may be meant. */
static void report(struct shmt_check *check, const struct sample *sample,
                   size_t k)
{
    const shmt_config *config = config_at(sample, sample->taken, k);
    const struct shmt_result *result = &sample->results[k];
    struct shmt_text whole = {0}, blamed = {0};

    shmt_kernel_describe_config(sample->kernel, config, &whole);
    add_blamed(sample, config, &blamed);
    if (definition_in(result->reason) > 0)
        shmt_check_report(check, SHMT_CHECK_BAD, "%s", result->reason);
    else if (blamed.length > 0 &&
             result->verdict != SHMT_VERDICT_COMPILE_TIMEOUT)
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "no configuration of the sample with %s compiles: "
                          "leave it out, or say in `constraints` where it is "
                          "good; %s is %s: %s", shmt_text_string(&blamed),
                          shmt_text_string(&whole),
                          shmt_verdict_word(result->verdict), result->reason);
    else
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "%s is %s: %s", shmt_text_string(&whole),
                          shmt_verdict_word(result->verdict), result->reason);
    check->failed |= whole.failed || blamed.failed;
    shmt_text_free(&whole);
    shmt_text_free(&blamed);
}

/* What was taken since the last call. */
static enum shmtune_status compile(struct sample *sample,
                                   const struct compiling *with,
                                   struct shmt_error *err)
{
    const size_t width = sample->kernel->parameter_count;
    const size_t done = sample->compiled_count;
    struct shmt_compiler_batch batch = {
        .device = &with->device, .problem = with->problem,
        .count = sample->taken_count - done,
        .configs = sample->taken + done * width,
        .results = sample->results + done
    };
    const enum shmtune_status status =
        batch.count == 0 ? SHMTUNE_OK
                         : shmt_compiler_run(with->compiler, &batch, err);

    if (status != SHMTUNE_OK)
        return status;
    sample->compiled_count = sample->taken_count;
    for (size_t k = done; k < sample->taken_count; k++)
        if (!is_refused(&sample->results[k]))
            mark(sample, config_at(sample, sample->taken, k),
                 sample->compiled, true);
    return SHMTUNE_OK;
}

/* The configuration of the pool with that value of p that has the fewest other
 * values to blame; NULL: none has fewer than `most`. */
static const shmt_config *find_milder(const struct sample *sample, size_t p,
                                      shmt_config value, size_t most)
{
    const shmt_config *found = NULL;

    for (size_t k = 0; k < sample->pool_count; k++) {
        const shmt_config *config = config_at(sample, sample->pool, k);
        const size_t count =
            config[p] == value ? count_blamed(sample, config) : most;

        if (count < most) {
            most = count;
            found = config;
        }
    }
    return found;
}

/* Each of several values that may be to blame, among values that are not. */
static enum shmtune_status try_again(struct sample *sample, size_t from,
                                     const struct compiling *with,
                                     struct shmt_error *err)
{
    const size_t end = sample->taken_count;

    for (size_t k = from; k < end; k++) {
        const shmt_config *config = config_at(sample, sample->taken, k);
        const size_t blamed = count_blamed(sample, config);

        if (!is_refused(&sample->results[k]) || blamed < 2)
            continue;
        for (size_t p = 0; p < sample->kernel->parameter_count; p++) {
            const shmt_config *milder =
                sample->compiled[sample->first[p] + config[p]]
                    ? NULL : find_milder(sample, p, config[p], blamed);

            if (milder != NULL && sample->taken_count < 2 * with->most)
                take(sample, milder);
        }
    }
    return compile(sample, with, err);
}

static enum shmtune_status compile_size(struct sample *sample,
                                        const struct compiling *with,
                                        struct shmt_error *err)
{
    const struct shmt_command_problem at = {sample->kernel, with->problem};
    const size_t from = sample->taken_count;
    struct shmt_space *space;
    enum shmtune_status status =
        shmt_command_build_space(&with->check->limits, with->check->call, &at,
                                 &space, err);

    if (status != SHMTUNE_OK)
        return status;
    fill_pool(sample, space);
    shmt_space_free(space);
    take_most(sample, with->most);
    status = compile(sample, with, err);
    return status == SHMTUNE_OK ? try_again(sample, from, with, err) : status;
}

static bool is_left(const struct sample *sample)
{
    return memchr(sample->wanted, true, sample->value_count) != NULL;
}

enum shmtune_status shmt_check_values(struct shmt_check *check,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_target *compiler,
                                      struct shmt_error *err)
{
    struct compiling with = {
        .check = check, .compiler = compiler, .most = (size_t)check->sample
    };
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct sample sample;
    enum shmtune_status status;

    if (check->sample == 0)
        return SHMTUNE_OK;
    status = begin(&sample, kernel, with.most, err);
    if (status == SHMTUNE_OK)
        status = shmt_device_for_arch(check->arch, &with.device, err);
    if (status == SHMTUNE_OK) {
        want_extremes(&sample);
        shmt_kernel_default(kernel, config);
        mark(&sample, config, sample.wanted, false);
        mark(&sample, config, sample.compiled, true);
    }
    for (size_t i = 0; status == SHMTUNE_OK && i < kernel->size_count &&
                       is_left(&sample); i++) {
        with.problem = kernel->sizes[i];
        status = compile_size(&sample, &with, err);
    }
    for (size_t k = 0; status == SHMTUNE_OK && k < sample.taken_count; k++)
        if (is_refused(&sample.results[k]) && !was_told(&sample, k))
            report(check, &sample, k);
    end(&sample);
    return status;
}
