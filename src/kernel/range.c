/* SPDX-License-Identifier: MIT */
/*
 * range: reads values that are given as a range, whose bounds may name
 * dimensions.  A configuration is an index into one list for all problems, so
 * the list has the values of every problem, and constraints leave a problem its
 * own.  Called by parameter.c and space.c.
 */
#include <string.h>

#include "kernel/read.h"

static const int64_t BOUND = INT64_C(1) << 40;

struct range {
    const char *name;            /* of the parameter */
    int64_t from, to, step, times;
    bool named;                  /* a bound names dimensions */
};

/* A bound that depends on the problem. */
static bool is_expression(const struct shmt_yaml *node)
{
    const char *const text = node->text;

    if (node->kind != SHMT_YAML_SCALAR || text[0] == '\0')
        return false;
    return strchr("+-.0123456789", text[0]) == NULL ||
           strpbrk(text + 1, " *+/%(-") != NULL ||
           (strchr("+-", text[0]) != NULL &&
            strchr(".0123456789", text[1]) == NULL);
}

/* Whether the text has one of the names under `key`. */
static bool mentions(const struct shmt_kernel_reader *reader, const char *key,
                     const char *text)
{
    const struct shmt_yaml *const names = shmt_yaml_get(reader->root, key);

    for (size_t k = 0; names != NULL && names->kind == SHMT_YAML_MAPPING &&
                       k < names->count; k++)
        if (shmt_text_mentions(text, names->keys[k]->text, 1) > 0)
            return true;
    return false;
}

/* A bound that cannot be read: a name in it may be of another kind. */
static enum shmtune_status refuse_bound(struct shmt_kernel_reader *reader,
                                        const struct range *range,
                                        const struct shmt_yaml *node,
                                        bool greatest)
{
    if (mentions(reader, "parameters", node->text) ||
        mentions(reader, "derived", node->text))
        shmt_error_append(reader->err, "; a bound of values may name "
                          "dimensions alone: write a number, and the "
                          "constraint %s %s (%.200s)", range->name,
                          greatest ? "<=" : ">=", node->text);
    return SHMTUNE_INVALID_FILE;
}

/* The value where dimension d is greatest if bit d is set, else least. */
static enum shmtune_status value_at(const struct shmt_kernel *kernel,
                                    const struct shmt_expr *expr,
                                    unsigned corner, int64_t *out,
                                    struct shmt_error *err)
{
    struct shmt_value values[SHMT_KERNEL_DIMENSIONS];

    for (size_t d = 0; d < kernel->dimension_count; d++)
        values[d] = (struct shmt_value){
            .type = SHMT_VALUE_INT,
            .i = corner >> d & 1 ? kernel->dimensions[d].high
                                 : kernel->dimensions[d].low};
    return shmt_expr_eval_int(expr, values, out, err);
}

/* What arithmetic allows between the ends of the dimensions, as 31 of n % 32,
 * where it makes no list too long: constraints leave what there is. */
static int64_t most_between(const struct shmt_kernel *kernel,
                            const struct shmt_expr *expr,
                            const struct range *range, int64_t at_ends)
{
    struct shmt_expr_bound symbols[SHMT_KERNEL_DIMENSIONS], bound;
    struct shmt_expr_bounding state;

    for (size_t d = 0; d < kernel->dimension_count; d++)
        symbols[d] = shmt_expr_bound_range(kernel->dimensions[d].low,
                                           kernel->dimensions[d].high);
    shmt_expr_bounding_begin(&state, symbols);
    bound = shmt_expr_bounds(expr, &state);
    if (bound.kind != SHMT_EXPR_RANGE || bound.high <= at_ends ||
        bound.high > BOUND || bound.high < range->from ||
        (range->times == 1 &&
         (bound.high - range->from) / range->step >= SHMT_SPACE_VALUES))
        return at_ends;
    return bound.high;
}

/* "PARAMETER <= (TEXT)" for the constraints, which are read later. */
static enum shmtune_status imply(struct shmt_kernel_reader *reader,
                                 const struct range *range,
                                 const struct shmt_yaml *node,
                                 const char *relation)
{
    struct shmt_kernel_implied *const implied =
        &reader->implied[reader->implied_count];
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s %s (%s)", range->name, relation, node->text);
    implied->place = node->place;
    implied->text = shmt_text_keep(&text, reader->kernel->arena);
    if (implied->text == NULL)
        return shmt_error_memory(reader->err);
    reader->implied_count++;
    return SHMTUNE_OK;
}

/* A bound: a number, or the least (greatest: the greatest) of an expression at
 * the ends of the dimensions. */
static enum shmtune_status read_bound(struct shmt_kernel_reader *reader,
                                      struct range *range,
                                      const struct shmt_yaml *node,
                                      bool greatest, int64_t low, int64_t *out)
{
    const struct shmt_kernel *kernel = reader->kernel;
    struct shmt_expr *expr;
    enum shmtune_status status;

    if (!is_expression(node))
        return shmt_yaml_int(node, low, BOUND, out, reader->err);
    range->named = true;
    status = shmt_kernel_read_expr(reader, node, &expr);
    if (status == SHMTUNE_INVALID_FILE)
        return refuse_bound(reader, range, node, greatest);
    for (unsigned corner = 0;
         status == SHMTUNE_OK && corner >> kernel->dimension_count == 0;
         corner++) {
        int64_t value = 0;

        status = value_at(kernel, expr, corner, &value, reader->err);
        if (corner == 0 || (greatest ? value > *out : value < *out))
            *out = value;
    }
    if (status == SHMTUNE_OK && greatest)
        *out = most_between(kernel, expr, range, *out);
    if (status == SHMTUNE_OK && (*out < low || *out > BOUND))
        return shmt_yaml_refuse(node, reader->err,
                                "\"%s\" is %lld at %s; %lld to %lld is "
                                "expected: give its dimensions a %s",
                                node->text, (long long)*out,
                                greatest ? "most" : "least", (long long)low,
                                (long long)BOUND, greatest ? "max" : "min");
    return status == SHMTUNE_OK
               ? imply(reader, range, node, greatest ? "<=" : ">=") : status;
}

static enum shmtune_status list_values(struct shmt_kernel_reader *reader,
                                       const struct range *range,
                                       const struct shmt_yaml *node,
                                       struct shmt_parameter *parameter)
{
    const bool times = range->times > 1;
    struct shmt_value *values;
    int64_t value = range->from;
    size_t count = 0;

    for (int64_t v = range->from;
         v <= range->to && count <= SHMT_SPACE_VALUES; count++)
        v = times ? v * range->times : v + range->step;
    if (count > SHMT_SPACE_VALUES)
        return shmt_yaml_refuse(node, reader->err,
                                "a range of more than %d values, %lld to "
                                "%lld%s", SHMT_SPACE_VALUES,
                                (long long)range->from, (long long)range->to,
                                range->named ? "; give the dimensions that "
                                               "its bounds name a max, or "
                                               "the range a step" : "");
    values = shmt_arena_alloc(reader->kernel->arena, count, sizeof *values);
    if (values == NULL)
        return shmt_error_memory(reader->err);
    for (size_t i = 0; i < count; i++) {
        values[i] = (struct shmt_value){.type = SHMT_VALUE_INT, .i = value};
        value = times ? value * range->times : value + range->step;
    }
    parameter->type = SHMT_VALUE_INT;
    parameter->values = values;
    parameter->count = count;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_kernel_range_read(struct shmt_kernel_reader *reader,
                                           const struct shmt_yaml *node,
                                           struct shmt_parameter *parameter)
{
    static const char *const keys[] = {"from", "to", "step", "times", NULL};
    struct range range = {
        .name = parameter->name, .step = 1, .times = 1};
    const struct shmt_yaml *step = shmt_yaml_get(node, "step");
    const struct shmt_yaml *times = shmt_yaml_get(node, "times");
    const struct shmt_yaml *from, *to;
    enum shmtune_status status = shmt_yaml_check_keys(node, keys, reader->err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "from", &from, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "to", &to, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    if (step != NULL && times != NULL)
        return shmt_yaml_refuse(times, reader->err,
                                "both \"step\" and \"times\" in one range");
    if (step != NULL)
        status = shmt_yaml_int(step, 1, BOUND, &range.step, reader->err);
    if (status == SHMTUNE_OK && times != NULL)
        status = shmt_yaml_int(times, 2, 1024, &range.times, reader->err);
    if (status == SHMTUNE_OK)
        status = read_bound(reader, &range, from, false,
                            times != NULL ? 1 : -BOUND, &range.from);
    if (status == SHMTUNE_OK)
        status = read_bound(reader, &range, to, true, range.from, &range.to);
    return status == SHMTUNE_OK ? list_values(reader, &range, node, parameter)
                                : status;
}

enum shmtune_status
shmt_kernel_range_constrain(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const size_t count = kernel->constraint_count + reader->implied_count;
    struct shmt_expr **all;
    enum shmtune_status status = SHMTUNE_OK;

    if (reader->implied_count == 0)
        return SHMTUNE_OK;
    all = shmt_arena_alloc(kernel->arena, count, sizeof *all);
    if (all == NULL)
        return shmt_error_memory(reader->err);
    for (size_t k = 0; k < kernel->constraint_count; k++)
        all[k] = kernel->constraints[k];
    for (size_t k = 0; status == SHMTUNE_OK && k < reader->implied_count; k++)
        status = shmt_expr_compile(
            kernel->arena, reader->implied[k].place, reader->implied[k].text,
            &kernel->scope, &all[kernel->constraint_count + k], reader->err);
    kernel->constraints = all;
    kernel->constraint_count = count;
    return status;
}
