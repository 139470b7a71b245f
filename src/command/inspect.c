/* SPDX-License-Identifier: MIT */
/*
 * inspect: what the compiler and the occupancy calculator say of the
 * candidates of a kernel, for any architecture, with no GPU.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/compile.h"
#include "command/json.h"
#include "device/device.h"
#include "search/search.h"
#include "target/target.h"

enum { USUAL = 32 };

static const char help[] =
    "usage: shmtune inspect KERNEL|SPEC.yaml [--arch sm_90] [OPTION]...\n"
    "\n"
    "Compiles candidates in parallel and prints registers, spills, stack,\n"
    "shared bytes, resident blocks, occupancy and what limits it. Needs NVRTC\n"
    "and no GPU. Where none of them compiles the exit status is 9.\n"
    "\n"
    "  --arch sm_XX      architecture [sm_90]; sm_90a and sm_100f too: by\n"
    "                    itself the spec's `features` decides\n"
    "  --size DIM=N,...  the problem; dimensions left out have their default\n"
    "  --limit N         the first N valid configurations\n"
    "  --sample N        N at random [the default and 31 at random]\n"
    "  --all             every valid configuration\n"
    "  --config P=V,...  this one; parameters left out have their default\n"
    "                    (may be repeated)\n"
    "  --seed N          of --sample [1]\n"
    "  -j, --jobs N      compile workers [processors]\n"
    SHMT_COMPILER_DEADLINE_HELP
    SHMT_COMMAND_LIMITS_HELP
    "  --json            as JSON\n"
    "\n"
    "examples:\n"
    "  shmtune inspect transpose --arch sm_90\n"
    "  shmtune inspect matmul --arch sm_80 --sample 100 -j 8\n"
    "  shmtune inspect ./my_kernel.yaml --config TILE=32,PAD=0 "
    "--config TILE=32\n";

struct options {
    const char *arch, *size;
    int64_t limit, sample, seed;
    struct shmt_compiler_options compiler;
    bool all, json;
    struct shmt_command_repeats configs;
    struct shmt_command_limits limits;
};

/* One use of the command. */
struct inspection {
    const struct shmt_command_call *call;
    struct options *options;
    struct shmt_kernel *kernel;
    struct shmt_space *space;
    struct shmtune_device device;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_compiler_batch batch;
    shmt_config *configs;
    char arch[16];             /* that it is compiled for */
    int nvrtc_version;
};

/* -- which candidates ----------------------------------------------------- */

static enum shmtune_status make_room(struct inspection *inspection,
                                     uint64_t count, struct shmt_error *err)
{
    const size_t parameters = inspection->kernel->parameter_count;

    if (count > SIZE_MAX / sizeof(struct shmt_result) / 2)
        return shmt_error_memory(err);
    inspection->configs = calloc((size_t)count * parameters,
                                 sizeof *inspection->configs);
    inspection->batch.results = calloc((size_t)count,
                                       sizeof *inspection->batch.results);
    if (inspection->configs == NULL || inspection->batch.results == NULL)
        return shmt_error_memory(err);
    inspection->batch.count = (size_t)count;
    inspection->batch.configs = inspection->configs;
    return SHMTUNE_OK;
}

static shmt_config *room_at(struct inspection *inspection, size_t k)
{
    return inspection->configs + k * inspection->kernel->parameter_count;
}

static int compare_indices(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* `count` different indices, ascending; by Floyd's method, with a search
 * among those there are: samples are small. */
static void draw(struct inspection *inspection, uint64_t *indices,
                 size_t count)
{
    const uint64_t total = shmt_space_count(inspection->space);
    struct shmt_random random;

    shmt_random_seed(&random, (uint64_t)inspection->options->seed);
    for (size_t k = 0; k < count; k++) {
        const uint64_t last = total - count + k;
        uint64_t pick = shmt_random_below(&random, last + 1);

        for (size_t i = 0; i < k; i++)
            if (indices[i] == pick) {
                pick = last;
                break;
            }
        indices[k] = pick;
    }
    qsort(indices, count, sizeof *indices, compare_indices);
}

static enum shmtune_status choose_sample(struct inspection *inspection,
                                         uint64_t count, bool with_default,
                                         struct shmt_error *err)
{
    const uint64_t total = shmt_space_count(inspection->space);
    const struct shmt_kernel *kernel = inspection->kernel;
    shmt_config usual[SHMT_SPACE_PARAMETERS];
    uint64_t *indices, unused;
    enum shmtune_status status;

    shmt_kernel_default(kernel, usual);
    with_default = with_default && count < total &&
                   shmt_space_index(inspection->space, usual, &unused);
    count = count > total ? total : count;
    status = make_room(inspection, count, err);
    indices = calloc((size_t)count, sizeof *indices);
    if (status != SHMTUNE_OK || indices == NULL) {
        free(indices);
        return shmt_error_memory(err);
    }
    if (count == total)
        for (size_t k = 0; k < count; k++)
            indices[k] = k;
    else
        draw(inspection, indices, (size_t)count);
    for (size_t k = 0; k < count; k++)
        shmt_space_configuration(inspection->space, indices[k],
                                 room_at(inspection, k));
    free(indices);
    if (with_default && count > 0)
        memcpy(room_at(inspection, 0), usual,
               kernel->parameter_count * sizeof *usual);
    return SHMTUNE_OK;
}

static enum shmtune_status choose_first(struct inspection *inspection,
                                        uint64_t count,
                                        struct shmt_error *err)
{
    const uint64_t total = shmt_space_count(inspection->space);
    const enum shmtune_status status =
        make_room(inspection, count > total ? total : count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < inspection->batch.count;
         k++)
        shmt_space_configuration(inspection->space, k,
                                 room_at(inspection, k));
    return status;
}

/* A configuration given by --config has to be in the space: the message names
 * the constraint that it violates. */
static enum shmtune_status check_named(const struct inspection *inspection,
                                       const char *text,
                                       const shmt_config *config,
                                       struct shmt_error *err)
{
    const struct shmt_kernel *kernel = inspection->kernel;
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_expr *failed = NULL;
    struct shmt_text why = {0};
    enum shmtune_status status;

    shmt_kernel_evaluate(kernel, inspection->problem, config, &evaluated);
    status = shmt_kernel_satisfies(&evaluated, &failed, err);
    if (status != SHMTUNE_OK || failed == NULL)
        return status;
    shmt_expr_explain(failed, evaluated.values, &why);
    shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                   "--config %.200s: not in the space of %s: \"%.300s\" does "
                   "not hold: %s", text, kernel->name,
                   shmt_expr_text(failed),
                   shmt_text_string(&why));
    shmt_text_free(&why);
    return SHMTUNE_NO_CONFIGURATION;
}

static enum shmtune_status choose_named(struct inspection *inspection,
                                        struct shmt_error *err)
{
    const struct shmt_command_repeats *configs =
        &inspection->options->configs;
    enum shmtune_status status = make_room(inspection, configs->count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < configs->count; k++) {
        status =
            shmt_command_parse_config(inspection->kernel, configs->items[k],
                                           room_at(inspection, k), err);
        if (status == SHMTUNE_OK)
            status = check_named(inspection, configs->items[k],
                                 room_at(inspection, k), err);
    }
    return status;
}

static enum shmtune_status choose(struct inspection *inspection,
                                  struct shmt_error *err)
{
    const struct options *options = inspection->options;

    if (options->configs.count > 0)
        return choose_named(inspection, err);
    if (shmt_space_count(inspection->space) == 0)
        return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                              "%s: no configuration satisfies the "
                              "constraints at this size; \"shmtune space\" "
                              "shows which one empties it",
                              inspection->kernel->path);
    if (options->all)
        return choose_first(inspection, UINT64_MAX, err);
    if (options->limit > 0)
        return choose_first(inspection, (uint64_t)options->limit, err);
    return choose_sample(inspection,
                         options->sample > 0 ? (uint64_t)options->sample
                                             : USUAL,
                         options->sample == 0, err);
}

/* -- what is printed ------------------------------------------------------ */

static void add_row(struct shmt_table *table,
                    const struct shmt_kernel *kernel,
                    const struct shmt_result *result,
                    const shmt_config *config)
{
    const struct shmt_resources *resources = &result->resources;
    const bool spills = resources->spill_store_bytes > 0;
    struct shmt_text text = {0};

    shmt_kernel_describe_config(kernel, config, &text);
    shmt_table_add_known(table, resources->registers);
    if (spills)
        shmt_table_paint(table, SHMT_PAINT_BAD, "%d/%d",
                         resources->spill_store_bytes,
                         resources->spill_load_bytes);
    else
        shmt_table_add_known(table, resources->spill_store_bytes);
    shmt_table_add_known(table, resources->stack_bytes);
    shmt_table_add_known(table, resources->shared_static_bytes);
    shmt_table_add_known(table, result->shared_dynamic_bytes);
    shmt_table_add_known(table, result->resident_blocks);
    if (result->resident_blocks >= 0)
        shmt_table_add(table, "%d %%", result->occupancy_percent);
    else
        shmt_table_paint(table, SHMT_PAINT_DIM, "-");
    shmt_table_add(table, "%s",
                          result->resident_blocks >= 0
                          ? shmt_limiter_word(result->limiter) : "-");
    shmt_table_paint(table, result->verdict == SHMT_VERDICT_OK ? SHMT_PAINT_NONE
                                                         : SHMT_PAINT_BAD,
                          "%s", result->verdict == SHMT_VERDICT_OK
                                ? "" : shmt_verdict_word(result->verdict));
    shmt_table_add_text(table, &text);
}

static void add_summary(const struct inspection *inspection,
                        struct shmt_text *text)
{
    const struct shmt_compiler_batch *batch = &inspection->batch;
    size_t counts[SHMT_VERDICT_COUNT] = {0}, spilling = 0;

    for (size_t k = 0; k < batch->count; k++) {
        counts[batch->results[k].verdict]++;
        spilling += batch->results[k].resources.spill_store_bytes > 0;
    }
    shmt_text_add(text, "\n");
    shmt_text_add_count(text, batch->count);
    shmt_text_add(text, " of ");
    shmt_text_add_count(text, shmt_space_count(inspection->space));
    shmt_text_addf(text, " configurations in %.1f s with %" PRId64 " workers",
                   batch->elapsed_s, inspection->options->compiler.jobs);
    shmt_command_add_compiler(text, " (", inspection->kernel,
                              inspection->nvrtc_version);
    shmt_text_addf(text, "): %zu spill", spilling);
    for (size_t v = 0; v < SHMT_VERDICT_COUNT; v++)
        if (v != SHMT_VERDICT_OK && counts[v] > 0)
            shmt_text_addf(text, ", %zu %s", counts[v],
                           shmt_verdict_word((enum shmt_verdict)v));
    shmt_text_add(text, "\n");
}

/* Prints one example with its reason for each verdict. */
static void add_reasons(const struct inspection *inspection,
                        struct shmt_text *text)
{
    const struct shmt_compiler_batch *batch = &inspection->batch;
    bool said[SHMT_VERDICT_COUNT] = {false};

    for (size_t k = 0; k < batch->count; k++) {
        const struct shmt_result *result = &batch->results[k];

        if (said[result->verdict] || result->reason[0] == '\0')
            continue;
        said[result->verdict] = true;
        shmt_text_addf(text, "%s, for example: ",
                       shmt_verdict_word(result->verdict));
        shmt_kernel_describe_config(inspection->kernel,
                                    batch->configs +
                                 k * inspection->kernel->parameter_count,
                                    text);
        shmt_text_add(text, ": ");
        shmt_text_add_visible(text, result->reason);
        shmt_text_add(text, "\n");
    }
}

static enum shmtune_status print_table(const struct inspection *inspection,
                                       struct shmt_error *err)
{
    struct shmt_table table = {
        .titles = ">regs|>spill|>stack|>static|>dynamic|>blocks|>occ|"
                  "limiter|?|_configuration"
    };
    const struct shmt_compiler_batch *batch = &inspection->batch;
    struct shmt_text text = {0};
    char arch[16];

    shmt_text_addf(&text, "%s ", inspection->kernel->name);
    shmt_kernel_describe_problem(inspection->kernel, inspection->problem,
                                 &text);
    shmt_text_add(&text, " on ");
    shmt_text_add_visible(&text, inspection->device.name);
    shmt_device_arch_text(&inspection->device, arch);
    if (strcmp(inspection->arch, arch) != 0)
        shmt_text_addf(&text, ", compiled for %s", inspection->arch);
    shmt_text_add(&text, "\n\n");
    for (size_t k = 0; k < batch->count; k++)
        add_row(&table, inspection->kernel, &batch->results[k],
                batch->configs + k * inspection->kernel->parameter_count);
    shmt_table_end(&table, inspection->call, &text);
    add_summary(inspection, &text);
    add_reasons(inspection, &text);
    return shmt_command_print_lines(&text, inspection->call, err);
}

static enum shmtune_status print_json(const struct inspection *inspection,
                                      struct shmt_error *err)
{
    const struct shmt_compiler_batch *batch = &inspection->batch;
    const struct shmt_kernel *kernel = inspection->kernel;
    json_t *const candidates = json_array();

    for (size_t k = 0; k < batch->count; k++) {
        json_t *one = shmt_json_result(&batch->results[k]);

        json_object_set_new(
            one, "config",
            shmt_json_config(kernel, batch->configs +
                                         k * kernel->parameter_count));
        json_array_append_new(candidates, one);
    }
    return shmt_json_print("inspect", shmt_json_object(
        "kernel", shmt_json_text(kernel->name),
        "size", shmt_json_problem(kernel, inspection->problem),
        "arch", shmt_json_text(inspection->arch),
        "device", shmt_json_device(&inspection->device),
        "nvrtc_version", json_integer(inspection->nvrtc_version),
        "space", shmt_json_count(shmt_space_count(inspection->space)),
        "elapsed_s", shmt_json_real(batch->elapsed_s),
        "candidates", candidates, NULL), err);
}

/* -- the command ---------------------------------------------------------- */

static enum shmtune_status compile(struct inspection *inspection,
                                   struct shmt_error *err)
{
    const struct options *options = inspection->options;
    struct shmt_target *compiler;
    enum shmtune_status status =
        shmt_compiler_open(inspection->kernel, options->arch,
                           &options->compiler, &compiler, err);

    if (status != SHMTUNE_OK)
        return status;
    inspection->batch.device = &inspection->device;
    inspection->batch.problem = inspection->problem;
    inspection->batch.progress =
        !inspection->call->quiet && isatty(STDERR_FILENO);
    inspection->nvrtc_version = compiler->nvrtc_version;
    status = shmt_compiler_run(compiler, &inspection->batch, err);
    shmt_compiler_close(compiler);
    return status;
}

static enum shmtune_status inspect(struct inspection *inspection,
                                   struct shmt_error *err)
{
    struct options *options = inspection->options;
    const struct shmt_kernel *kernel = inspection->kernel;
    const struct shmt_command_problem at = {kernel, inspection->problem};
    enum shmtune_status status =
        shmt_compiler_arch(options->arch, &inspection->device, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_device_arch_target(options->arch, kernel->features, inspection->arch);
    status =
        shmt_command_parse_problem(kernel, options->size, inspection->problem,
                                        err);
    if (status == SHMTUNE_OK)
        status = shmt_command_build_space(&options->limits,
                                          inspection->call, &at,
                                          &inspection->space, err);
    if (status != SHMTUNE_OK)
        return status;
    shmt_command_tell_drawn(inspection->call, kernel, inspection->space);
    status = choose(inspection, err);
    if (status != SHMTUNE_OK)
        return status;
    status = compile(inspection, err);
    if (status != SHMTUNE_OK)
        return status;
    status = options->json ? print_json(inspection, err)
                           : print_table(inspection, err);
    return status == SHMTUNE_OK
               ? shmt_compiler_check_batch(kernel, &inspection->batch, err)
               : status;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct options given = {.arch = "sm_90", .seed = SHMT_COMMAND_SEED,
                            .compiler = SHMT_COMPILER_USUAL};
    const struct shmt_command_option options[] = {
        {"arch", 0, SHMT_OPTION_TEXT, &given.arch, 0, 0},
        {"size", 0, SHMT_OPTION_TEXT, &given.size, 0, 0},
        {"limit", 0, SHMT_OPTION_INT, &given.limit, 1, INT32_MAX},
        {"sample", 0, SHMT_OPTION_INT, &given.sample, 1, 65536},
        {"all", 0, SHMT_OPTION_FLAG, &given.all, 0, 0},
        {"config", 0, SHMT_OPTION_REPEATED, &given.configs, 0, 0},
        {"seed", 0, SHMT_OPTION_INT, &given.seed, 0, INT64_MAX},
        {"jobs", 'j', SHMT_OPTION_INT, &given.compiler.jobs, 1, 1024},
        SHMT_COMPILER_DEADLINE(given.compiler.deadline_s),
        SHMT_COMMAND_LIMITS(given.limits),
        {"json", 0, SHMT_OPTION_FLAG, &given.json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    struct inspection inspection = {.call = call, .options = &given};
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%d kernels are given; one is expected", rest);
    if ((given.limit > 0) + (given.sample > 0) + given.all +
            (given.configs.count > 0) > 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "one of --limit, --sample, --all and --config "
                              "is expected, not several");
    status = shmt_command_kernel(call->words[0], &inspection.kernel, err);
    if (status == SHMTUNE_OK)
        status = inspect(&inspection, err);
    free(inspection.configs);
    free(inspection.batch.results);
    shmt_space_free(inspection.space);
    shmt_kernel_free(inspection.kernel);
    return status;
}

const struct shmt_command shmt_command_inspect = {
    "inspect", "registers, spills and occupancy of candidates, with no GPU",
    help, run
};
