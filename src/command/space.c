/* SPDX-License-Identifier: MIT */
/*
 * space: the command `shmtune space`: the number of configurations left after
 * each constraint, and what building the space took.
 */
#include "config.h"

#include <stdio.h>

#include "command/command.h"
#include "command/json.h"

static const char help[] =
    "usage: shmtune space KERNEL|SPEC.yaml [--size DIM=N,...] [--json]\n"
    "\n"
    "Prints the funnel of a kernel's search space: the cartesian product of\n"
    "the values, what is left after each constraint, and what enumerating it\n"
    "took. Needs no GPU.\n"
    "\n"
    "  --size DIM=N,...  the problem; dimensions left out have their default\n"
    "  --json            as JSON\n"
    "\n"
    "examples:\n"
    "  shmtune space transpose\n"
    "  shmtune space matmul --size m=1000,n=1000,k=4096\n"
    "  shmtune space ./my_kernel.yaml --json\n";

struct stage {
    uint64_t count;
    bool exact;
};

/* What the command found out. */
struct funnel {
    const struct shmt_kernel *kernel;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct stage *stages;      /* [constraint_count + 1] */
    uint64_t valid;
    size_t nodes, bytes;
    double build_ms;
};

static enum shmtune_status measure(struct funnel *funnel,
                                   struct shmt_error *err)
{
    const struct shmt_kernel *kernel = funnel->kernel;
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_space_definition definition = {
        kernel->parameter_count, kernel->parameters, kernel->constraint_count,
        kernel->constraints, kernel->dimension_count, evaluated.values
    };
    const double start = shmt_clock_s();
    struct shmt_space *space;
    enum shmtune_status status =
        shmt_kernel_space(kernel, funnel->problem, &space, err);

    if (status != SHMTUNE_OK)
        return status;
    funnel->build_ms = (shmt_clock_s() - start) * 1e3;
    funnel->valid = shmt_space_count(space);
    funnel->nodes = shmt_space_nodes(space);
    funnel->bytes = shmt_space_bytes(space);
    shmt_space_free(space);
    shmt_kernel_evaluate_reference(kernel, funnel->problem, &evaluated);
    funnel->stages = shmt_arena_alloc(
        kernel->arena, kernel->constraint_count + 1, sizeof *funnel->stages);
    if (funnel->stages == NULL)
        return shmt_error_memory(err);
    for (size_t i = 0; status == SHMTUNE_OK && i <= kernel->constraint_count;
         i++)
        status = shmt_space_funnel(&definition, i, &funnel->stages[i].count,
                                   &funnel->stages[i].exact, err);
    return status;
}

static json_t *funnel_json(const struct funnel *funnel)
{
    const struct shmt_kernel *kernel = funnel->kernel;
    json_t *const stages = json_array(), *const parameters = json_object();

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        json_t *values = json_array();

        for (size_t i = 0; i < kernel->parameters[p].count; i++)
            json_array_append_new(
                values, shmt_json_value(kernel->parameters[p].values[i]));
        json_object_set_new(parameters, kernel->parameters[p].name, values);
    }
    for (size_t i = 0; i < kernel->constraint_count; i++)
        json_array_append_new(stages, shmt_json_object(
            "constraint",
            shmt_json_text(shmt_expr_text(kernel->constraints[i])),
            "left", shmt_json_count(funnel->stages[i + 1].count),
            "exact", json_boolean(funnel->stages[i + 1].exact), NULL));
    return shmt_json_object(
        "kernel", shmt_json_text(kernel->name),
        "size", shmt_json_problem(kernel, funnel->problem),
        "parameters", parameters,
        "cartesian", shmt_json_count(funnel->stages[0].count),
        "constraints", stages,
        "valid", shmt_json_count(funnel->valid),
        "nodes", shmt_json_count(funnel->nodes),
        "bytes", shmt_json_count(funnel->bytes),
        "build_ms", shmt_json_real(funnel->build_ms), NULL);
}

static void add_stage(struct shmt_table *table, const char *what,
                      const struct stage *stage, const struct stage *before)
{
    struct shmt_text count = {0};

    shmt_text_add(&count, stage->exact ? "" : "~");
    shmt_command_add_count(&count, stage->count);
    shmt_table_add_text(table, &count);
    if (before == NULL || before->count == 0)
        shmt_table_add(table, "%s", "");
    else
        shmt_table_add(table, "%.1f %%",
                       100.0 * (double)stage->count / (double)before->count);
    shmt_table_add(table, "%s", what);
}

static enum shmtune_status print_table(const struct funnel *funnel,
                                       bool colour, struct shmt_error *err)
{
    const struct shmt_kernel *kernel = funnel->kernel;
    struct shmt_table table = {.titles = ">left|>kept|after"};
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s ", kernel->name);
    shmt_kernel_describe_problem(kernel, funnel->problem, &text);
    shmt_text_add(&text, "\n\n");
    add_stage(&table, "all combinations of the values", &funnel->stages[0],
              NULL);
    for (size_t i = 0; i < kernel->constraint_count; i++)
        add_stage(&table, shmt_expr_text(kernel->constraints[i]),
                  &funnel->stages[i + 1], &funnel->stages[i]);
    shmt_table_end(&table, colour, &text);
    shmt_text_add(&text, "\n");
    shmt_command_add_count(&text, funnel->valid);
    shmt_text_addf(&text, " valid configurations, enumerated in %.2f ms as ",
                   funnel->build_ms);
    shmt_command_add_count(&text, funnel->nodes);
    shmt_text_addf(&text, " nodes (%.1f KiB)\n",
                   (double)funnel->bytes / 1024);
    return shmt_command_print(&text, err);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    const char *size = NULL;
    bool json = false;
    const struct shmt_command_option options[] = {
        {"size", 0, SHMT_OPTION_TEXT, &size, 0, 0},
        {"json", 0, SHMT_OPTION_FLAG, &json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    struct funnel funnel = {0};
    struct shmt_kernel *kernel = NULL;
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%d kernels are given; one is expected", rest);
    status = shmt_command_kernel(call->words[0], &kernel, err);
    if (status != SHMTUNE_OK)
        return status;
    funnel.kernel = kernel;
    status = shmt_command_parse_problem(kernel, size, funnel.problem, err);
    if (status == SHMTUNE_OK)
        status = measure(&funnel, err);
    if (status == SHMTUNE_OK)
        status = json ? shmt_json_print(funnel_json(&funnel), err)
                      : print_table(&funnel, call->colour, err);
    shmt_kernel_free(kernel);
    return status;
}

const struct shmt_command shmt_command_space = {
    "space", "the configurations left after each constraint", help, run
};
