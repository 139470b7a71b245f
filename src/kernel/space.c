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
               const struct shmt_yaml *node, struct shmt_dimension *out)
{
    static const char *const keys[] = {"default", "min", "max", "define",
                                       NULL};
    const struct shmt_yaml *low, *high, *fallback, *define;
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
        status = shmt_yaml_keys(node, keys, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "default", &fallback, reader->err);
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
        status = shmt_yaml_int(fallback, dimension.low, dimension.high,
                               &dimension.fallback, reader->err);
    if (status == SHMTUNE_OK && define != NULL)
        status = shmt_yaml_bool(define, &dimension.defined, reader->err);
    if (status == SHMTUNE_OK)
        *out = dimension;
    return status;
}

static enum shmtune_status read_problem(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *node = shmt_yaml_get(reader->root, "problem");
    struct shmt_dimension *dimensions;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_expect(node, SHMT_YAML_MAPPING, "the problem",
                              reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_read_cap(reader, node, "dimensions",
                                      SHMT_KERNEL_DIMENSIONS);
    if (status != SHMTUNE_OK)
        return status;
    dimensions = shmt_arena_alloc(kernel->arena, node->count + 1,
                                  sizeof *dimensions);
    if (dimensions == NULL)
        return shmt_error_memory(reader->err);
    for (size_t i = 0; i < node->count; i++) {
        status = read_dimension(reader, node->keys[i], node->items[i],
                                &dimensions[i]);
        if (status != SHMTUNE_OK)
            return status;
    }
    kernel->dimensions = dimensions;
    kernel->dimension_count = node->count;
    return SHMTUNE_OK;
}

/* The symbols of every expression: dimensions, then parameters. */
static enum shmtune_status make_scope(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const size_t count = kernel->dimension_count + kernel->parameter_count;
    struct shmt_symbol *symbols =
        shmt_arena_alloc(kernel->arena, count, sizeof *symbols);

    if (symbols == NULL)
        return shmt_error_memory(reader->err);
    for (size_t d = 0; d < kernel->dimension_count; d++)
        symbols[d] = (struct shmt_symbol){kernel->dimensions[d].name,
                                          SHMT_INT};
    for (size_t p = 0; p < kernel->parameter_count; p++)
        symbols[kernel->dimension_count + p] = (struct shmt_symbol){
            kernel->parameters[p].name, kernel->parameters[p].type
        };
    kernel->scope = (struct shmt_scope){.count = count, .symbols = symbols};
    return SHMTUNE_OK;
}

static enum shmtune_status read_one_derived(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *key,
                                            const struct shmt_yaml *node,
                                            struct shmt_derived *out)
{
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
    status = shmt_kernel_read_expr(reader, node, &expr);
    if (status == SHMTUNE_OK)
        *out = (struct shmt_derived){key->text, expr};
    return status;
}

/* Each may use those before it. */
static enum shmtune_status read_derived(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *node = shmt_yaml_get(reader->root, "derived");
    struct shmt_derived *derived;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_expect(node, SHMT_YAML_MAPPING, "names and expressions",
                              reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_read_cap(reader, node, "derived names",
                                      SHMT_KERNEL_DERIVED);
    if (status != SHMTUNE_OK)
        return status;
    derived = shmt_arena_alloc(kernel->arena, node->count + 1,
                               sizeof *derived);
    if (derived == NULL)
        return shmt_error_memory(reader->err);
    kernel->scope.derived = derived;
    for (size_t k = 0; k < node->count; k++) {
        status = read_one_derived(reader, node->keys[k], node->items[k],
                                  &derived[k]);
        if (status != SHMTUNE_OK)
            return status;
        kernel->scope.derived_count = k + 1;
    }
    return SHMTUNE_OK;
}

static enum shmtune_status read_constraints(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *node = shmt_yaml_get(reader->root, "constraints");
    struct shmt_expr **constraints;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_expect(node, SHMT_YAML_SEQUENCE,
                              "constraints, lines of \"- EXPRESSION\"",
                              reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_read_cap(reader, node, "constraints",
                                      SHMT_KERNEL_CONSTRAINTS);
    if (status != SHMTUNE_OK)
        return status;
    constraints = shmt_arena_alloc(kernel->arena, node->count + 1,
                                   sizeof *constraints);
    if (constraints == NULL)
        return shmt_error_memory(reader->err);
    for (size_t i = 0; i < node->count; i++) {
        status = shmt_kernel_read_expr(reader, node->items[i],
                                       &constraints[i]);
        if (status != SHMTUNE_OK)
            return status;
    }
    kernel->constraints = constraints;
    kernel->constraint_count = node->count;
    return SHMTUNE_OK;
}

static bool same_size(const struct shmt_kernel *kernel, const int64_t *a,
                      const int64_t *b)
{
    return kernel->dimension_count == 0 ||
           memcmp(a, b, kernel->dimension_count * sizeof *a) == 0;
}

static enum shmtune_status read_listed_sizes(struct shmt_kernel_reader *reader,
                                             const struct shmt_yaml *node,
                                             int64_t **sizes)
{
    const struct shmt_kernel *kernel = reader->kernel;

    for (size_t i = 0; i < node->count; i++) {
        const enum shmtune_status status = shmt_kernel_size_read(
            kernel, node->items[i], sizes[i], reader->err);

        if (status != SHMTUNE_OK)
            return status;
        for (size_t k = 0; k < i; k++)
            if (same_size(kernel, sizes[i], sizes[k]))
                return shmt_yaml_refuse(node->items[i], reader->err,
                                        "this size is listed already");
    }
    return SHMTUNE_OK;
}

/* There is always one: the dimensions' defaults when none are listed. */
static enum shmtune_status read_sizes(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *node = shmt_yaml_get(reader->root, "sizes");
    const size_t listed = node == NULL ? 0 : node->count;
    const size_t count = listed == 0 ? 1 : listed;
    int64_t **sizes;
    enum shmtune_status status = SHMTUNE_OK;

    if (node != NULL)
        status = shmt_yaml_expect(node, SHMT_YAML_SEQUENCE,
                                  "sizes, [{DIMENSION: NUMBER}]",
                                  reader->err);
    if (status == SHMTUNE_OK && node != NULL)
        status =
            shmt_kernel_read_cap(reader, node, "sizes", SHMT_KERNEL_SIZES);
    if (status != SHMTUNE_OK)
        return status;
    sizes = shmt_arena_alloc(kernel->arena, count, sizeof *sizes);
    if (sizes == NULL)
        return shmt_error_memory(reader->err);
    for (size_t i = 0; i < count; i++) {
        sizes[i] = shmt_arena_alloc(kernel->arena, SHMT_KERNEL_DIMENSIONS,
                                    sizeof *sizes[i]);
        if (sizes[i] == NULL)
            return shmt_error_memory(reader->err);
        shmt_kernel_default_problem(kernel, sizes[i]);
    }
    if (listed > 0)
        status = read_listed_sizes(reader, node, sizes);
    kernel->sizes = (const int64_t *const *)sizes;
    kernel->size_count = count;
    return status;
}

enum shmtune_status shmt_kernel_space_read(struct shmt_kernel_reader *reader)
{
    enum shmtune_status status = read_problem(reader);

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
