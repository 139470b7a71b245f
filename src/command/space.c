/* SPDX-License-Identifier: MIT */
/*
 * space: the command `shmtune space`: the number of configurations left after
 * each constraint, and what building the space took; or that number alone, or
 * all configurations, one a line.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/json.h"
#include "yaml/yaml.h"

static const char help[] =
    "usage: shmtune space KERNEL|SPEC.yaml [--size DIM=N,...]\n"
    "                     [--count|--list] [OPTION]...\n"
    "\n"
    "Prints the funnel of a kernel's search space: the cartesian product of\n"
    "the values, what is left after each constraint, and what enumerating it\n"
    "took. Needs no GPU.\n"
    "\n"
    "  --size DIM=N,...  the problem; dimensions left out have their default\n"
    "  --count           only the number of valid configurations\n"
    "  --list            all valid configurations, one a line, P=V,P=V,... as\n"
    "                    `inspect --config` takes it; with --json a\n"
    "                    document a line\n"
    SHMT_COMMAND_LIMITS_HELP
    "  --json            as JSON\n"
    "\n"
    "examples:\n"
    "  shmtune space transpose\n"
    "  shmtune space matmul --size m=1000,n=1000,k=4096\n"
    "  shmtune space matmul --list | shuf -n 3\n"
    "  shmtune space ./my_kernel.yaml --json\n";

struct options {
    const char *size;
    bool json, list, count;
    struct shmt_command_limits limits;
};


/* What the command found out. */
struct funnel {
    const struct shmt_command_call *call;
    struct options options;
    const struct shmt_kernel *kernel;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_space_stage *stages;      /* [constraint_count + 1] */
    uint64_t valid;
    bool drawn;
    size_t nodes, bytes;
    double build_ms;
};

static enum shmtune_status build(struct funnel *funnel,
                                 struct shmt_space **out,
                                 struct shmt_error *err)
{
    const struct shmt_command_problem at = {funnel->kernel, funnel->problem};
    const double start = shmt_clock_s();
    const enum shmtune_status status = shmt_command_build_space(
        &funnel->options.limits, funnel->call, &at, out, err);

    funnel->build_ms = (shmt_clock_s() - start) * 1e3;
    if (status == SHMTUNE_OK)
        shmt_command_tell_drawn(funnel->call, funnel->kernel, *out);
    return status;
}

/* What is left at the end is known, and no constraint leaves fewer than those
 * behind it. */
static void correct_estimates(struct funnel *funnel)
{
    size_t k = funnel->kernel->constraint_count;
    uint64_t least = funnel->valid;

    if (!funnel->drawn)
        funnel->stages[k] = (struct shmt_space_stage){least, true};
    for (;; k--) {
        struct shmt_space_stage *const stage = &funnel->stages[k];

        if (stage->count < least)
            stage->count = least;
        least = stage->count;
        if (k == 0)
            return;
    }
}

static enum shmtune_status measure(struct funnel *funnel,
                                   struct shmt_error *err)
{
    const struct shmt_kernel *kernel = funnel->kernel;
    struct shmt_command_limits *const limits = &funnel->options.limits;
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_space_definition definition = {
        kernel->parameter_count, kernel->parameters, kernel->constraint_count,
        kernel->constraints, kernel->dimension_count, evaluated.values,
        shmt_command_limits_begin(limits, funnel->call)
    };
    struct shmt_space *space;
    enum shmtune_status status = build(funnel, &space, err);

    if (status != SHMTUNE_OK)
        return status;
    funnel->valid = shmt_space_count(space);
    funnel->drawn = shmt_space_is_drawn(space);
    funnel->nodes = shmt_space_nodes(space);
    funnel->bytes = shmt_space_bytes(space);
    shmt_space_free(space);
    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              funnel->problem, &evaluated);
    funnel->stages = shmt_arena_alloc(
        kernel->arena, kernel->constraint_count + 1, sizeof *funnel->stages);
    if (funnel->stages == NULL)
        return shmt_error_memory(err);
    status = shmt_space_funnel(&definition, funnel->stages, err);
    shmt_command_limits_end(limits);
    if (status == SHMTUNE_OK)
        correct_estimates(funnel);
    return status;
}

/* -- --count and --list --------------------------------------------------- */

static enum shmtune_status print_count(struct funnel *funnel,
                                       struct shmt_error *err)
{
    struct shmt_space *space;
    enum shmtune_status status;

    funnel->options.limits.exact = true;
    status = build(funnel, &space, err);
    if (status != SHMTUNE_OK)
        return status;
    if (funnel->options.json)
        status = shmt_json_print("count", shmt_json_object(
            "kernel", shmt_json_text(funnel->kernel->name),
            "size", shmt_json_problem(funnel->kernel, funnel->problem),
            "valid", shmt_json_count(shmt_space_count(space)), NULL), err);
    else
        printf("%" PRIu64 "\n", shmt_space_count(space));
    shmt_space_free(space);
    return status;
}

/* "TILE=32", or "\"TILE\": 32", for each value of each parameter. */
struct pieces {
    const char **of[SHMT_SPACE_PARAMETERS];
};

static const char *make_piece(const struct shmt_kernel *kernel,
                              const struct shmt_parameter *p, size_t value,
                              bool json)
{
    struct shmt_text text = {0};
    char *shown;

    if (json) {
        json_t *const object = shmt_json_object(
            p->name, shmt_json_value(p->values[value]), NULL);

        shown = shmt_json_incomplete()
                    ? NULL : json_dumps(object, JSON_ENCODE_ANY |
                                                    JSON_REAL_PRECISION(17));
        json_decref(object);
        /* Without its braces. */
        if (shown != NULL && !shmt_json_incomplete())
            shmt_text_addf(&text, "%.*s", (int)strlen(shown) - 2, shown + 1);
        free(shown);
        text.failed |= text.length == 0;
    } else {
        shmt_text_addf(&text, "%s=", p->name);
        if (p->type == SHMT_VALUE_WORD)
            shmt_text_add(&text, p->values[value].w);
        else
            shmt_yaml_add_value(&text, p->values[value]);
    }
    return shmt_text_keep(&text, kernel->arena);
}

static bool make_pieces(const struct shmt_kernel *kernel, bool json,
                        struct pieces *pieces)
{
    bool fine = true;

    for (size_t p = 0; p < kernel->parameter_count && fine; p++) {
        const struct shmt_parameter *parameter = &kernel->parameters[p];

        pieces->of[p] = shmt_arena_alloc(kernel->arena, parameter->count,
                                         sizeof *pieces->of[p]);
        fine = pieces->of[p] != NULL;
        for (size_t v = 0; v < parameter->count && fine; v++) {
            pieces->of[p][v] = make_piece(kernel, parameter, v, json);
            fine = pieces->of[p][v] != NULL;
        }
    }
    return fine;
}

static enum shmtune_status print_all(const struct shmt_kernel *kernel,
                                     const struct shmt_space *space,
                                     bool json, struct shmt_error *err)
{
    enum { BLOCK = 1024 };
    const size_t width = kernel->parameter_count;
    const uint64_t count = shmt_space_count(space);
    shmt_config *configs = malloc(BLOCK * width * sizeof *configs);
    struct pieces pieces;

    if (configs == NULL || !make_pieces(kernel, json, &pieces)) {
        free(configs);
        return shmt_error_memory(err);
    }
    for (uint64_t at = 0; at < count && !ferror(stdout); at += BLOCK) {
        const size_t block = count - at < BLOCK ? (size_t)(count - at) : BLOCK;

        shmt_space_list(space, at, block, configs);
        for (size_t k = 0; k < block; k++) {
            if (json)
                fputs("{\"format\": \"configuration.json/1\", \"config\": {",
                      stdout);
            for (size_t p = 0; p < width; p++) {
                if (p > 0)
                    fputs(json ? ", " : ",", stdout);
                fputs(pieces.of[p][configs[k * width + p]], stdout);
            }
            fputs(json ? "}}\n" : "\n", stdout);
        }
    }
    free(configs);
    return SHMTUNE_OK;
}

static enum shmtune_status print_list(struct funnel *funnel,
                                      struct shmt_error *err)
{
    struct shmt_space *space;
    enum shmtune_status status = build(funnel, &space, err);

    if (status != SHMTUNE_OK)
        return status;
    status = print_all(funnel->kernel, space, funnel->options.json, err);
    shmt_space_free(space);
    return status;
}

/* -- the funnel ----------------------------------------------------------- */

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
        "drawn", funnel->drawn ? json_true() : NULL,
        "nodes", shmt_json_count(funnel->nodes),
        "bytes", shmt_json_count(funnel->bytes),
        "build_ms", shmt_json_real(funnel->build_ms), NULL);
}

static void add_stage(struct shmt_table *table, const char *what,
                      const struct shmt_space_stage *stage,
                      const struct shmt_space_stage *before)
{
    struct shmt_text count = {0};

    shmt_text_add(&count, stage->exact ? "" : "~");
    shmt_text_add_count(&count, stage->count);
    shmt_table_add_text(table, &count);
    if (before == NULL || before->count == 0)
        shmt_table_add(table, "%s", "");
    else
        shmt_table_add(table, "%.1f %%",
                       100.0 * (double)stage->count / (double)before->count);
    shmt_table_add(table, "%s", what);
}

static enum shmtune_status print_table(const struct funnel *funnel,
                                       struct shmt_error *err)
{
    const struct shmt_kernel *kernel = funnel->kernel;
    struct shmt_table table = {.titles = ">left|>kept|after"};
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s%s", kernel->name,
                   kernel->dimension_count > 0 ? " " : "");
    shmt_kernel_describe_problem(kernel, funnel->problem, &text);
    shmt_text_add(&text, "\n\n");
    add_stage(&table, "all combinations of the values", &funnel->stages[0],
              NULL);
    for (size_t i = 0; i < kernel->constraint_count; i++)
        add_stage(&table, shmt_expr_text(kernel->constraints[i]),
                  &funnel->stages[i + 1], &funnel->stages[i]);
    shmt_table_end(&table, funnel->call, &text);
    shmt_text_add(&text, "\n");
    shmt_text_add_count(&text, funnel->valid);
    shmt_text_addf(&text, " valid configuration%s, %s in %.2f ms as ",
                   shmt_text_plural(funnel->valid),
                   funnel->drawn ? "some of more, drawn" : "enumerated",
                   funnel->build_ms);
    shmt_text_add_count(&text, funnel->nodes);
    shmt_text_addf(&text, " node%s (%.1f KiB)\n",
                   shmt_text_plural(funnel->nodes),
                   (double)funnel->bytes / 1024);
    return shmt_command_print_lines(&text, funnel->call, err);
}

static enum shmtune_status print(struct funnel *funnel,
                                 struct shmt_error *err)
{
    enum shmtune_status status;

    if (funnel->options.count)
        return print_count(funnel, err);
    if (funnel->options.list)
        return print_list(funnel, err);
    status = measure(funnel, err);
    if (status != SHMTUNE_OK)
        return status;
    return funnel->options.json
               ? shmt_json_print("space", funnel_json(funnel), err)
               : print_table(funnel, err);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct funnel funnel = {.call = call};
    struct options *const given = &funnel.options;
    const struct shmt_command_option options[] = {
        {"size", 0, SHMT_OPTION_TEXT, &given->size, 0, 0},
        {"count", 0, SHMT_OPTION_FLAG, &given->count, 0, 0},
        {"list", 0, SHMT_OPTION_FLAG, &given->list, 0, 0},
        SHMT_COMMAND_LIMITS(given->limits),
        {"json", 0, SHMT_OPTION_FLAG, &given->json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    struct shmt_kernel *kernel = NULL;
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%d kernels are given; one is expected", rest);
    if (given->count && given->list)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "one of --count and --list is expected, not "
                              "both");
    status = shmt_command_kernel(call->words[0], &kernel, err);
    if (status != SHMTUNE_OK)
        return status;
    funnel.kernel = kernel;
    status = shmt_command_parse_problem(kernel, given->size, funnel.problem,
                                        err);
    if (status == SHMTUNE_OK)
        status = print(&funnel, err);
    shmt_kernel_free(kernel);
    return status;
}

const struct shmt_command shmt_command_space = {
    "space", "the configurations left after each constraint, or all", help, run
};
