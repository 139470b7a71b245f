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
                            sizeof *emitter->steps)) {
        emitter->status = shmt_error_memory(emitter->err);
        return false;
    }
    emitter->steps[emitter->step_count++] = next;
    return true;
}

static bool move(struct emitter *emitter, uint16_t to, uint16_t from)
{
    return to == from ||
           step(emitter, (struct shmt_expr_step){.op = SHMT_EXPR_STEP_MOVE,
                                                 .to = to, .a = from});
}

/* A jump whose target is filled in by land(). */
static bool jump(struct emitter *emitter, uint8_t op, uint16_t condition,
                 size_t *where)
{
    *where = emitter->step_count;
    return step(emitter, (struct shmt_expr_step){.op = op, .a = condition});
}

static void set_jump_target(struct emitter *emitter, size_t where)
{
    emitter->steps[where].b = (uint16_t)emitter->step_count;
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
    size_t where;

    for (size_t k = 0; k < node->count; k++) {
        if (!emit(emitter, kid_of(emitter, node, k), reg, &value) ||
            !move(emitter, reg, value))
            return false;
        if (k + 1 < node->count && !jump(emitter, op, reg, &where))
            return false;
        if (k + 1 < node->count)
            emitter->steps[where].b = NONE;
    }
    for (where = first; where < emitter->step_count; where++)
        if (emitter->steps[where].op >= SHMT_EXPR_STEP_JUMP &&
            emitter->steps[where].b == NONE)
            set_jump_target(emitter, where);
    return true;
}

static bool emit_conditional(struct emitter *emitter,
                             const struct shmt_expr_node *node, uint16_t reg)
{
    size_t otherwise, end;
    uint16_t value;

    if (!emit(emitter, kid_of(emitter, node, 0), reg, &value) ||
        !jump(emitter, SHMT_EXPR_STEP_JUMP_FALSE, value, &otherwise) ||
        !emit(emitter, kid_of(emitter, node, 1), reg, &value) ||
        !move(emitter, reg, value) ||
        !jump(emitter, SHMT_EXPR_STEP_JUMP, 0, &end))
        return false;
    set_jump_target(emitter, otherwise);
    if (!emit(emitter, kid_of(emitter, node, 2), reg, &value) ||
        !move(emitter, reg, value))
        return false;
    set_jump_target(emitter, end);
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
    size_t tests, where;
    bool done = elements != NULL;

    if (!done)
        emitter->status = shmt_error_memory(emitter->err);
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
                jump(emitter, SHMT_EXPR_STEP_JUMP_TRUE, reg, &where));
    for (where = tests; done && where < emitter->step_count; where++)
        if (emitter->steps[where].op == SHMT_EXPR_STEP_JUMP_TRUE)
            set_jump_target(emitter, where);
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
    size_t where;

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
        if (k + 1 == node->count)
            break;
        if (!jump(emitter, SHMT_EXPR_STEP_JUMP_FALSE, reg, &where))
            return false;
        emitter->steps[where].b = NONE;
    }
    for (where = first; where < emitter->step_count; where++)
        if (emitter->steps[where].op >= SHMT_EXPR_STEP_JUMP &&
            emitter->steps[where].b == NONE)
            set_jump_target(emitter, where);
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

static bool keep(struct emitter *emitter, struct shmt_arena *arena)
{
    struct shmt_expr *expr = emitter->expr;
    struct shmt_expr_step *steps =
        shmt_arena_alloc_raw(arena, emitter->step_count * sizeof *steps);
    struct shmt_value *constants =
        shmt_arena_alloc_raw(arena,
                             emitter->constant_count * sizeof *constants);

    if (steps == NULL || constants == NULL) {
        emitter->status = shmt_error_memory(emitter->err);
        return false;
    }
    if (emitter->step_count > 0)
        memcpy(steps, emitter->steps, emitter->step_count * sizeof *steps);
    if (emitter->constant_count > 0)
        memcpy(constants, emitter->constants,
               emitter->constant_count * sizeof *constants);
    expr->steps = steps;
    expr->step_count = emitter->step_count;
    expr->constants = constants;
    expr->register_count = emitter->highest;
    return true;
}

enum shmtune_status shmt_expr_compile_tree(struct shmt_arena *arena,
                                           struct shmt_expr *expr,
                                           struct shmt_error *err)
{
    struct emitter emitter = {.expr = expr, .err = err};
    bool done;

    emitter.constants = malloc(expr->node_count * sizeof *emitter.constants);
    emitter.constant_of =
        malloc(expr->node_count * sizeof *emitter.constant_of);
    done = emitter.constants != NULL && emitter.constant_of != NULL;
    if (!done) {
        emitter.status = shmt_error_memory(err);
    } else {
        memset(emitter.constant_of, 0xff,
               expr->node_count * sizeof *emitter.constant_of);
        done = emit(&emitter, expr->root, 0, &expr->result) &&
               keep(&emitter, arena);
    }
    free(emitter.steps);
    free(emitter.constants);
    free(emitter.constant_of);
    return done ? SHMTUNE_OK : emitter.status;
}
