/* SPDX-License-Identifier: MIT */
/*
 * draft_expression: what an expression of a draft comes to for the launches
 * that were captured.  Called by draft_host.c, draft_fit.c and draft_decide.c.
 */
#include "config.h"

#include <string.h>

#include "command/draft.h"
#include "expr/expr.h"

/* An expression with the names that a draft has: sizes, then numbers. */
struct reading {
    const struct shmt_draft *draft;
    struct shmt_arena *arena;
    struct shmt_expr *expr;
};

static bool open_reading(struct reading *reading,
                         const struct shmt_draft *draft, const char *text)
{
    struct shmt_expr_symbol symbols[SHMT_DRAFT_DIMENSIONS +
                                    SHMT_DRAFT_NUMBERS];
    struct shmt_expr_scope scope = {.symbols = symbols};

    *reading = (struct reading){draft, shmt_arena_new(), NULL};
    for (size_t k = 0; k < draft->dimension_count; k++)
        symbols[scope.count++] = (struct shmt_expr_symbol){
            draft->dimensions[k].name, SHMT_VALUE_INT};
    for (size_t k = 0; k < draft->number_count; k++)
        symbols[scope.count++] = (struct shmt_expr_symbol){
            draft->numbers[k].name, SHMT_VALUE_INT};
    return reading->arena != NULL &&
           shmt_expr_compile(reading->arena, (struct shmt_place){.file = ""},
                             text, &scope, &reading->expr, NULL) ==
               SHMTUNE_OK;
}

static bool evaluate(const struct reading *reading,
                     const struct shmt_draft *launch,
                     const struct shmt_draft_number *changed, int64_t to,
                     int64_t *out)
{
    const struct shmt_draft *const draft = reading->draft;
    struct shmt_value values[SHMT_DRAFT_DIMENSIONS + SHMT_DRAFT_NUMBERS];
    size_t count = 0;

    for (size_t k = 0; k < draft->dimension_count; k++)
        values[count++] = (struct shmt_value){
            .type = SHMT_VALUE_INT,
            .i = shmt_draft_size(draft, &draft->dimensions[k], launch)};
    for (size_t k = 0; k < draft->number_count; k++)
        values[count++] = (struct shmt_value){
            .type = SHMT_VALUE_INT,
            .i = &draft->numbers[k] == changed
                     ? to : shmt_draft_value(&draft->numbers[k], launch)};
    return shmt_expr_eval_int(reading->expr, values, out, NULL) == SHMTUNE_OK;
}

bool shmt_draft_evaluate(const struct shmt_draft *draft, const char *text,
                         const struct shmt_draft_number *changed, int64_t to,
                         int64_t *out)
{
    struct reading reading;
    const bool is = open_reading(&reading, draft, text) &&
                    evaluate(&reading, draft, changed, to, out);

    shmt_arena_free(reading.arena);
    return is;
}

size_t shmt_draft_fits(const struct shmt_draft *draft, const char *text,
                       int axis)
{
    const size_t all = shmt_draft_launches(draft);
    struct reading reading;
    size_t count = 0;

    if (open_reading(&reading, draft, text))
        for (size_t j = 0; j < all; j++) {
            const struct shmt_draft *const launch = shmt_draft_launch(draft, j);
            int64_t value;

            count += evaluate(&reading, launch, NULL, 0, &value) &&
                     value == launch->grid[axis];
        }
    shmt_arena_free(reading.arena);
    return count;
}

bool shmt_draft_is_constant(const struct shmt_draft *draft, const char *text)
{
    struct reading reading;
    bool constant = true;

    if (open_reading(&reading, draft, text))
        for (size_t k = 0;
             k < draft->dimension_count + draft->number_count; k++)
            constant = constant && !shmt_expr_uses(reading.expr, k);
    shmt_arena_free(reading.arena);
    return constant;
}

void shmt_draft_add_expression(const char *expression, struct shmt_text *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ "
        "()*/+";
    const bool quoted = expression[strspn(expression, plain)] != '\0';

    shmt_text_add(text, quoted ? "\"" : "");
    shmt_text_add(text, expression);
    shmt_text_add(text, quoted ? "\"" : "");
}
