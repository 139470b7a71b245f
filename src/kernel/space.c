/* SPDX-License-Identifier: MIT */
/*
 * space: reads the part of a spec that makes its search space: the
 * problem's dimensions, the derived names, the constraints and the sizes to
 * tune; the parameters are read by parameter.c.
 */
#include "kernel/read.h"

#include <string.h>

static const int64_t largest_size = INT64_C(1) << 40;

static enum shmtune_status
read_dimension(struct shmt_kernel_reader *reader, const struct shmt_yaml *key,
               const struct shmt_yaml *node, void *item)
{
    static const char *const keys[] = {"default", "min", "max", "define",
                                       NULL};
    const struct shmt_yaml *low, *high, *default_size, *define;
    struct shmt_dimension dimension = {
        .name = key->text, .low = 1, .high = INT32_MAX
    };
    enum shmtune_status status =
        shmt_kernel_name_check(reader, key, "the dimension");

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(node, SHMT_YAML_MAPPING,
                                  "a dimension, {default: 1024}",
                                  reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, keys, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "default", &default_size, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    low = shmt_yaml_get(node, "min");
    high = shmt_yaml_get(node, "max");
    define = shmt_yaml_get(node, "define");
    if (low != NULL)
        status = shmt_yaml_int(low, 1, largest_size, &dimension.low,
                               reader->err);
    if (status == SHMTUNE_OK && high != NULL)
        status = shmt_yaml_int(high, dimension.low, largest_size,
                               &dimension.high, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(default_size, dimension.low, dimension.high,
                               &dimension.default_size, reader->err);
    if (status == SHMTUNE_OK && define != NULL)
        status = shmt_yaml_bool(define, &dimension.defined, reader->err);
    *(struct shmt_dimension *)item = dimension;
    return status;
}

static enum shmtune_status read_problem(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel_list list = {
        .mapping = reader->root, .key = "problem", .kind = SHMT_YAML_MAPPING,
        .expected = "the problem", .items_are = "dimensions",
        .most = SHMT_KERNEL_DIMENSIONS, .size = sizeof(struct shmt_dimension),
        .read = read_dimension
    };
    const enum shmtune_status status = shmt_kernel_read_list(reader, &list);

    reader->kernel->dimensions = list.items;
    reader->kernel->dimension_count = list.count;
    return status;
}

/* The symbols of every expression: dimensions, then parameters. */
static enum shmtune_status make_scope(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const size_t count = kernel->dimension_count + kernel->parameter_count;
    struct shmt_expr_symbol *symbols =
        shmt_arena_alloc(kernel->arena, count, sizeof *symbols);

    if (symbols == NULL)
        return shmt_error_memory(reader->err);
    for (size_t d = 0; d < kernel->dimension_count; d++)
        symbols[d] = (struct shmt_expr_symbol){kernel->dimensions[d].name,
                                               SHMT_VALUE_INT};
    for (size_t p = 0; p < kernel->parameter_count; p++)
        symbols[kernel->dimension_count + p] = (struct shmt_expr_symbol){
            kernel->parameters[p].name, kernel->parameters[p].type
        };
    kernel->scope =
        (struct shmt_expr_scope){.count = count, .symbols = symbols};
    return SHMTUNE_OK;
}

/* Each may use those before it. */
static enum shmtune_status read_one_derived(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *key,
                                            const struct shmt_yaml *node,
                                            void *item)
{
    struct shmt_expr_scope *scope = &reader->kernel->scope;
    struct shmt_expr_derived *derived = item;
    struct shmt_expr *expr = NULL;
    size_t symbol;
    enum shmtune_status status =
        shmt_kernel_name_check(reader, key, "the derived name");

    if (status != SHMTUNE_OK)
        return status;
    if (shmt_kernel_name_find(reader->kernel, key->text, strlen(key->text),
                              &symbol))
        return shmt_yaml_refuse(key, reader->err, "\"%s\" is a dimension or "
                                "a parameter already", key->text);
    if (scope->derived_count == 0)
        scope->derived = derived;
    status = shmt_kernel_read_expr(reader, node, &expr);
    *derived = (struct shmt_expr_derived){key->text, expr};
    scope->derived_count++;
    return status;
}

static enum shmtune_status read_derived(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel_list list = {
        .mapping = reader->root, .key = "derived", .kind = SHMT_YAML_MAPPING,
        .expected = "names and expressions", .items_are = "derived names",
        .most = SHMT_KERNEL_DERIVED, .size = sizeof(struct shmt_expr_derived),
        .read = read_one_derived
    };

    return shmt_kernel_read_list(reader, &list);
}

static enum shmtune_status read_constraint(struct shmt_kernel_reader *reader,
                                           const struct shmt_yaml *key,
                                           const struct shmt_yaml *node,
                                           void *item)
{
    (void)key;
    return shmt_kernel_read_expr(reader, node, item);
}

/* Whether the value depends on the problem. */
static bool uses_dimension(const struct shmt_kernel *kernel,
                           const struct shmt_expr *expr)
{
    bool uses = false;

    for (size_t d = 0; d < kernel->dimension_count; d++)
        uses |= shmt_expr_uses(expr, d);
    return uses;
}

/* Lists the parameters that a sized constraint uses. */
static enum shmtune_status list_parameters(struct shmt_kernel_reader *reader,
                                           struct shmt_kernel_sized *sized)
{
    const struct shmt_kernel *kernel = reader->kernel;

    sized->parameters = shmt_arena_alloc(
        kernel->arena, kernel->parameter_count, sizeof *sized->parameters);
    if (sized->parameters == NULL)
        return shmt_error_memory(reader->err);
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (shmt_expr_uses(sized->constraint, kernel->dimension_count + p))
            sized->parameters[sized->parameter_count++] = (uint16_t)p;
    return SHMTUNE_OK;
}

static enum shmtune_status list_sized(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    enum shmtune_status status = SHMTUNE_OK;

    kernel->sized = shmt_arena_alloc(kernel->arena, kernel->constraint_count,
                                     sizeof *kernel->sized);
    if (kernel->sized == NULL)
        return shmt_error_memory(reader->err);
    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->constraint_count;
         k++)
        if (uses_dimension(kernel, kernel->constraints[k])) {
            struct shmt_kernel_sized *sized =
                &kernel->sized[kernel->sized_count++];

            sized->constraint = kernel->constraints[k];
            status = list_parameters(reader, sized);
        }
    return status;
}

static enum shmtune_status read_constraints(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel_list list = {
        .mapping = reader->root, .key = "constraints",
        .kind = SHMT_YAML_SEQUENCE,
        .expected = "constraints, lines of \"- EXPRESSION\"",
        .items_are = "constraints", .most = SHMT_KERNEL_CONSTRAINTS,
        .size = sizeof(struct shmt_expr *), .read = read_constraint
    };
    enum shmtune_status status = shmt_kernel_read_list(reader, &list);

    reader->kernel->constraints = list.items;
    reader->kernel->constraint_count = list.count;
    if (status == SHMTUNE_OK)
        status = shmt_kernel_range_constrain(reader);
    return status == SHMTUNE_OK ? list_sized(reader) : status;
}

static bool same_size(const struct shmt_kernel *kernel, const int64_t *a,
                      const int64_t *b)
{
    return kernel->dimension_count == 0 ||
           memcmp(a, b, kernel->dimension_count * sizeof *a) == 0;
}

/* Without a node the dimensions' defaults. */
static enum shmtune_status read_size(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *key,
                                     const struct shmt_yaml *node, void *item)
{
    const struct shmt_kernel *kernel = reader->kernel;
    int64_t *size = shmt_arena_alloc(kernel->arena, SHMT_KERNEL_DIMENSIONS,
                                     sizeof *size);

    (void)key;
    if (size == NULL)
        return shmt_error_memory(reader->err);
    *(const int64_t **)item = size;
    shmt_kernel_default_problem(kernel, size);
    return node == NULL ? SHMTUNE_OK
                        : shmt_kernel_problem_read(kernel, node, size,
                                                   reader->err);
}

/* There is always one: the dimensions' defaults when none are listed. */
static enum shmtune_status read_sizes(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    struct shmt_kernel_list list = {
        .mapping = reader->root, .key = "sizes", .kind = SHMT_YAML_SEQUENCE,
        .expected = "sizes, [{DIMENSION: NUMBER}]", .items_are = "sizes",
        .most = SHMT_KERNEL_SIZES, .size = sizeof(const int64_t *),
        .read = read_size
    };
    enum shmtune_status status = shmt_kernel_read_list(reader, &list);

    if (status != SHMTUNE_OK)
        return status;
    kernel->sizes = list.items;
    kernel->size_count = list.count;
    for (size_t i = 0; i < list.count; i++)
        for (size_t k = 0; k < i; k++)
            if (same_size(kernel, kernel->sizes[i], kernel->sizes[k]))
                return shmt_yaml_refuse(list.node->items[i], reader->err,
                                        "this size is listed already");
    if (list.count > 0)
        return SHMTUNE_OK;
    list.items = shmt_arena_alloc(kernel->arena, 1, list.size);
    if (list.items == NULL)
        return shmt_error_memory(reader->err);
    kernel->sizes = list.items;
    kernel->size_count = 1;
    return read_size(reader, NULL, NULL, list.items);
}

enum shmtune_status shmt_kernel_space_read(struct shmt_kernel_reader *reader)
{
    enum shmtune_status status = read_problem(reader);

    /* Bounds of values name dimensions. */
    if (status == SHMTUNE_OK)
        status = make_scope(reader);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_parameter_read(reader);
    if (status == SHMTUNE_OK)
        status = make_scope(reader);
    if (status == SHMTUNE_OK)
        status = read_derived(reader);
    if (status == SHMTUNE_OK)
        status = read_constraints(reader);
    if (status == SHMTUNE_OK)
        status = read_sizes(reader);
    return status;
}
