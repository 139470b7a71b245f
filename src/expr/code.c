/* SPDX-License-Identifier: MIT */
/*
 * code: from tree to a program of three-address steps over registers,
 * constants and symbols.  Called by expr.c alone.
 */
#include <stdlib.h>
#include <string.h>

#include "expr/tree.h"

enum { NONE = UINT16_MAX };

struct emitter {
    struct shmt_expr *expr;
    struct shmt_error *err;
    struct shmt_expr_step *steps;
    size_t step_count, step_room;
    struct shmt_value *constants;
    size_t constant_count;
    uint16_t *constant_of;      /* node -> number in `constants` or NONE */
    uint16_t highest;           /* registers used */
    enum shmtune_status status;
};

/* Each emit_* function leaves the value in *out, an operand: register `reg`,
 * or a constant or symbol that needs no step.  Registers from `reg` on are
 * free. */
static bool emit(struct emitter *emitter, uint32_t node, uint16_t reg,
                 uint16_t *out);

static const struct shmt_expr_node *node_at(const struct emitter *emitter,
                                            uint32_t node)
{
    return &emitter->expr->nodes[node];
}

static uint32_t kid_of(const struct emitter *emitter,
                       const struct shmt_expr_node *node, size_t k)
{
    return emitter->expr->kids[node->first + k];
}

static bool no_memory(struct emitter *emitter)
{
    emitter->status = shmt_error_memory(emitter->err);
    return false;
}

/* `count` registers from `first` on. */
static bool reserve_registers(struct emitter *emitter, size_t first,
                              size_t count, size_t offset)
{
    if (first + count > SHMT_EXPR_REGISTERS) {
        emitter->status = shmt_expr_refuse(
            emitter->expr, offset, emitter->err,
            "more than %d intermediate values at a time",
            SHMT_EXPR_REGISTERS);
        return false;
    }
    if (first + count > emitter->highest)
        emitter->highest = (uint16_t)(first + count);
    return true;
}

static bool step(struct emitter *emitter, struct shmt_expr_step next)
{
    if (!reserve_registers(emitter, next.to, 1, next.offset))
        return false;
    if (!shmt_array_reserve(&emitter->steps, &emitter->step_room,
                            emitter->step_count + 1,
                            sizeof *emitter->steps))
        return no_memory(emitter);
    emitter->steps[emitter->step_count++] = next;
    return true;
}

static bool move(struct emitter *emitter, uint16_t to, uint16_t from)
{
    return to == from ||
           step(emitter, (struct shmt_expr_step){.op = SHMT_EXPR_STEP_MOVE,
                                                 .to = to, .a = from});
}

/* A jump whose target is set by land_jumps(). */
static bool jump(struct emitter *emitter, uint8_t op, uint16_t condition)
{
    return step(emitter, (struct shmt_expr_step){
        .op = op, .a = condition, .b = NONE});
}

/* Jumps of the steps [from, to) that have no target yet go to the next
 * step. */
static void land_jumps(struct emitter *emitter, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        if (emitter->steps[k].op >= SHMT_EXPR_STEP_JUMP &&
            emitter->steps[k].b == NONE)
            emitter->steps[k].b = (uint16_t)emitter->step_count;
}

/* The first register beyond `operand`, and not below `reg`. */
static uint16_t beyond(uint16_t operand, uint16_t reg)
{
    return operand <= SHMT_EXPR_INDEX && operand >= reg
               ? (uint16_t)(operand + 1) : reg;
}

static bool emit_leaf(struct emitter *emitter, uint32_t node, uint16_t *out)
{
    const struct shmt_expr_node *leaf = node_at(emitter, node);
    uint16_t *number = &emitter->constant_of[node];

    if (leaf->op == SHMT_OP_SYMBOL) {
        *out = (uint16_t)(SHMT_EXPR_SYMBOL | leaf->symbol);
        return true;
    }
    if (*number == NONE) {
        *number = (uint16_t)emitter->constant_count++;
        emitter->constants[*number] = leaf->constant;
    }
    *out = SHMT_EXPR_CONSTANT | *number;
    return true;
}

static bool emit_derived(struct emitter *emitter,
                         const struct shmt_expr_node *node, uint16_t reg,
                         uint16_t *out)
{
    const struct shmt_expr *derived =
        emitter->expr->derived[node->derived].expr;

    *out = (uint16_t)(SHMT_EXPR_DERIVED_VALUE | node->derived);
    return reserve_registers(emitter, reg, derived->register_count,
                             node->offset) &&
           step(emitter, (struct shmt_expr_step){
               .op = SHMT_EXPR_STEP_DERIVED, .to = reg,
               .b = (uint16_t)node->derived,
               .offset = (uint16_t)node->offset});
}

/* Two operands, or min and max of several, from left to right. */
static bool emit_operator(struct emitter *emitter,
                          const struct shmt_expr_node *node, uint16_t reg)
{
    uint16_t a, b = 0;

    if (!emit(emitter, kid_of(emitter, node, 0), reg, &a))
        return false;
    if (node->count == 1)
        return step(emitter, (struct shmt_expr_step){
            .op = node->op, .to = reg, .a = a,
            .offset = (uint16_t)node->offset});
    for (size_t k = 1; k < node->count; k++) {
        if (!emit(emitter, kid_of(emitter, node, k), beyond(a, reg), &b) ||
            !step(emitter, (struct shmt_expr_step){
                .op = node->op, .to = reg, .a = a, .b = b,
                .offset = (uint16_t)node->offset}))
            return false;
        a = reg;
    }
    return true;
}

static bool emit_logic(struct emitter *emitter,
                       const struct shmt_expr_node *node, uint16_t reg)
{
    const uint8_t op = node->op == SHMT_OP_AND ? SHMT_EXPR_STEP_JUMP_FALSE
                                               : SHMT_EXPR_STEP_JUMP_TRUE;
    const size_t first = emitter->step_count;
    uint16_t value;

    for (size_t k = 0; k < node->count; k++)
        if (!emit(emitter, kid_of(emitter, node, k), reg, &value) ||
            !move(emitter, reg, value) ||
            (k + 1 < node->count && !jump(emitter, op, reg)))
            return false;
    land_jumps(emitter, first, emitter->step_count);
    return true;
}

static bool emit_conditional(struct emitter *emitter,
                             const struct shmt_expr_node *node, uint16_t reg)
{
    const size_t first = emitter->step_count;
    uint16_t value;
    size_t end;

    if (!emit(emitter, kid_of(emitter, node, 0), reg, &value) ||
        !jump(emitter, SHMT_EXPR_STEP_JUMP_FALSE, value) ||
        !emit(emitter, kid_of(emitter, node, 1), reg, &value) ||
        !move(emitter, reg, value))
        return false;
    end = emitter->step_count;
    if (!jump(emitter, SHMT_EXPR_STEP_JUMP, 0))
        return false;
    land_jumps(emitter, first, end);
    if (!emit(emitter, kid_of(emitter, node, 2), reg, &value) ||
        !move(emitter, reg, value))
        return false;
    land_jumps(emitter, end, emitter->step_count);
    return true;
}

/* `in`: every element is computed before any is compared, as Python does.
 * `sought` is an operand below `reg` + 1. */
static bool emit_in(struct emitter *emitter,
                    const struct shmt_expr_node *node, uint16_t sought,
                    uint16_t reg)
{
    uint16_t *elements = malloc(node->count * sizeof *elements);
    uint16_t free_reg = beyond(sought, (uint16_t)(reg + 1));
    size_t tests;
    bool done = elements != NULL || no_memory(emitter);

    for (size_t k = 1; done && k < node->count; k++) {
        done = emit(emitter, kid_of(emitter, node, k), free_reg,
                    &elements[k]);
        if (done)
            free_reg = beyond(elements[k], free_reg);
    }
    tests = emitter->step_count;
    for (size_t k = 1; done && k < node->count; k++)
        done = step(emitter, (struct shmt_expr_step){
                   .op = SHMT_OP_EQ, .to = reg, .a = sought,
                   .b = elements[k], .offset = (uint16_t)node->offset}) &&
               (k + 1 == node->count ||
                jump(emitter, SHMT_EXPR_STEP_JUMP_TRUE, reg));
    land_jumps(emitter, tests, emitter->step_count);
    if (done && node->count == 1)
        done = step(emitter, (struct shmt_expr_step){
            .op = SHMT_EXPR_STEP_FALSE, .to = reg});
    if (done && node->op == SHMT_OP_NOT_IN)
        done = step(emitter, (struct shmt_expr_step){
            .op = SHMT_OP_NOT, .to = reg, .a = reg});
    free(elements);
    return done;
}

static bool emit_sought(struct emitter *emitter,
                        const struct shmt_expr_node *node, uint16_t reg)
{
    uint16_t sought;

    return emit(emitter, kid_of(emitter, node, 0), (uint16_t)(reg + 1),
                &sought) &&
           emit_in(emitter, node, sought, reg);
}

/* One link: the comparison's value in `reg`, its right side in *right. */
static bool emit_link(struct emitter *emitter,
                      const struct shmt_expr_node *link, uint16_t reg,
                      uint16_t *right)
{
    const uint16_t left = *right;

    if (link->op == SHMT_OP_IN || link->op == SHMT_OP_NOT_IN)
        return emit_in(emitter, link, left, reg);
    return emit(emitter, kid_of(emitter, link, 1),
                beyond(left, (uint16_t)(reg + 1)), right) &&
           step(emitter, (struct shmt_expr_step){
               .op = link->op, .to = reg, .a = left, .b = *right,
               .offset = (uint16_t)link->offset});
}

/* A link that was constant has no operands left to share. */
static bool emit_chain(struct emitter *emitter,
                       const struct shmt_expr_node *node, uint16_t reg)
{
    const size_t first = emitter->step_count;
    uint32_t shared = UINT32_MAX;
    uint16_t value = 0;

    for (size_t k = 0; k < node->count; k++) {
        const uint32_t kid = kid_of(emitter, node, k);
        const struct shmt_expr_node *link = node_at(emitter, kid);
        const bool constant = link->op == SHMT_OP_CONST;
        uint16_t truth;

        if (constant) {
            if (!emit_leaf(emitter, kid, &truth) ||
                !move(emitter, reg, truth))
                return false;
            shared = UINT32_MAX;
        } else {
            if (kid_of(emitter, link, 0) != shared &&
                !emit(emitter, kid_of(emitter, link, 0),
                      (uint16_t)(reg + 1), &value))
                return false;
            if (!emit_link(emitter, link, reg, &value))
                return false;
            if (link->count > 1)
                shared = kid_of(emitter, link, 1);
        }
        if (k + 1 < node->count &&
            !jump(emitter, SHMT_EXPR_STEP_JUMP_FALSE, reg))
            return false;
    }
    land_jumps(emitter, first, emitter->step_count);
    return true;
}

static bool emit(struct emitter *emitter, uint32_t number, uint16_t reg,
                 uint16_t *out)
{
    const struct shmt_expr_node *node = node_at(emitter, number);

    *out = reg;
    switch (node->op) {
    case SHMT_OP_CONST:
    case SHMT_OP_SYMBOL:
        return emit_leaf(emitter, number, out);
    case SHMT_EXPR_NODE_DERIVED:
        return emit_derived(emitter, node, reg, out);
    case SHMT_OP_AND:
    case SHMT_OP_OR:
        return emit_logic(emitter, node, reg);
    case SHMT_OP_CHAIN:
        return emit_chain(emitter, node, reg);
    case SHMT_OP_IF:
        return emit_conditional(emitter, node, reg);
    case SHMT_OP_IN:
    case SHMT_OP_NOT_IN:
        return emit_sought(emitter, node, reg);
    default:
        return emit_operator(emitter, node, reg);
    }
}

/* Divides an operand into its kind and its number. */
static uint8_t divide(uint16_t *operand)
{
    const uint8_t kind = (uint8_t)(*operand >> SHMT_EXPR_KIND_SHIFT);

    *operand &= SHMT_EXPR_INDEX;
    return kind;
}

static bool keep(struct emitter *emitter, struct shmt_arena *arena)
{
    struct shmt_expr *expr = emitter->expr;

    for (size_t k = 0; k < emitter->step_count; k++) {
        struct shmt_expr_step *step = &emitter->steps[k];

        step->a_kind = divide(&step->a);
        if (step->op < SHMT_OP_NEG)
            step->b_kind = divide(&step->b);
    }
    expr->steps = shmt_arena_copy(arena, emitter->steps,
                                  emitter->step_count * sizeof *expr->steps);
    expr->constants =
        shmt_arena_copy(arena, emitter->constants,
                        emitter->constant_count * sizeof *expr->constants);
    expr->register_count = emitter->highest;
    return (expr->steps != NULL && expr->constants != NULL) ||
           no_memory(emitter);
}

enum shmtune_status shmt_expr_compile_tree(struct shmt_arena *arena,
                                           struct shmt_expr *expr,
                                           struct shmt_error *err)
{
    struct emitter emitter = {.expr = expr, .err = err};
    uint16_t result;
    bool done;

    emitter.constants = malloc(expr->node_count * sizeof *emitter.constants);
    emitter.constant_of =
        malloc(expr->node_count * sizeof *emitter.constant_of);
    done = (emitter.constants != NULL && emitter.constant_of != NULL) ||
           no_memory(&emitter);
    if (done) {
        memset(emitter.constant_of, 0xff,
               expr->node_count * sizeof *emitter.constant_of);
        done = emit(&emitter, expr->root, 0, &result) &&
               step(&emitter, (struct shmt_expr_step){
                   .op = SHMT_EXPR_STEP_END, .a = result}) &&
               keep(&emitter, arena);
    }
    free(emitter.steps);
    free(emitter.constants);
    free(emitter.constant_of);
    return done ? SHMTUNE_OK : emitter.status;
}
