/* SPDX-License-Identifier: MIT */
/*
 * plan: for one order of the parameters, decides at which level each node is
 * computed, which values a state must keep for later levels, and in which bits
 * of the state.
 */
#include "space/plan.h"

#include <stdlib.h>
#include <string.h>

/* With fewer "must differ" conjuncts, looking for symmetry does not pay. */
enum { LEAST_DIFFERENT = 3 };

/* The level at which the last of these parameters is decided. */
static uint8_t level_of(const struct shmt_plan *plan, uint64_t support)
{
    uint8_t level = 0;

    for (; support != 0; support &= support - 1) {
        const uint8_t one = plan->level_of[__builtin_ctzll(support)];

        level = one > level ? one : level;
    }
    return level;
}

/* Sums, products and others of many operands become operators of two, in the
 * order in which the plan decides the operands. */
struct grouping {
    struct shmt_plan *plan;
    uint32_t *forms;             /* of the graph's first nodes */
    size_t count;
};

static int rank_of(const struct grouping *grouping, uint32_t id)
{
    const uint64_t support = grouping->plan->graph->nodes[id].support;

    /* Constants last. */
    return support == 0 ? 256 : level_of(grouping->plan, support);
}

static uint32_t group(struct grouping *grouping, uint32_t id);

/* Sorts operands by level, constants last.  So the operands that are decided
 * early become one value early, and expressions that differ by a constant
 * share it. */
static void sort_operands(const struct grouping *grouping, uint32_t *kids,
                          size_t count)
{
    for (size_t k = 1; k < count; k++) {
        const uint32_t kid = kids[k];
        const int rank = rank_of(grouping, kid);
        size_t at = k;

        for (; at > 0; at--) {
            const int before = rank_of(grouping, kids[at - 1]);

            if (before < rank || (before == rank && kids[at - 1] < kid))
                break;
            kids[at] = kids[at - 1];
        }
        kids[at] = kid;
    }
}

/* acc + kid; what is multiplied by -1 is subtracted. */
static uint32_t add_term(struct grouping *grouping, uint32_t sum,
                         uint32_t kid)
{
    struct shmt_graph *const graph = grouping->plan->graph;
    const struct shmt_graph_node *node = &graph->nodes[kid];
    uint32_t both[2] = {sum, kid};

    if (node->op == SHMT_OP_MUL && node->count == 2)
        for (size_t k = 0; k < 2; k++) {
            const struct shmt_graph_node *factor =
                &graph->nodes[graph->kids[node->first + k]];

            if (factor->op == SHMT_OP_CONST && factor->low == -1) {
                both[1] = graph->kids[node->first + 1 - k];
                return shmt_graph_add_node(graph, SHMT_OP_SUB, SHMT_VALUE_INT,
                                           both, 2);
            }
        }
    return shmt_graph_add_node(graph, SHMT_OP_ADD, SHMT_VALUE_INT, both, 2);
}

static uint32_t group_many(struct grouping *grouping, uint32_t id,
                           uint32_t *kids, size_t count)
{
    struct shmt_graph *const graph = grouping->plan->graph;
    const struct shmt_graph_node node = graph->nodes[id];
    const bool ordered = (node.op == SHMT_OP_AND || node.op == SHMT_OP_OR)
                             ? node.fails : false;
    uint32_t all;

    if (!ordered)
        sort_operands(grouping, kids, count);
    all = kids[0];
    for (size_t k = 1; k < count && !graph->failed; k++) {
        const uint32_t both[2] = {all, kids[k]};

        all = node.op == SHMT_OP_ADD
                  ? add_term(grouping, all, kids[k])
                  : shmt_graph_add_node(graph, node.op, node.type, both, 2);
    }
    return all;
}

/* Rewrites (a + b) % m as ((a % m) + b) % m, and the same for *: the value
 * that a state keeps from level to level stays below m. */
static uint32_t group_remainder(struct grouping *grouping,
                                uint32_t id,
                                uint32_t *kids, size_t count)
{
    struct shmt_graph *const graph = grouping->plan->graph;
    const uint8_t op = graph->nodes[id].op;
    const uint32_t divisor = kids[count];
    uint32_t all, both[2];

    sort_operands(grouping, kids, count);
    all = kids[0];
    for (size_t k = 1; k <= count && !graph->failed; k++) {
        if (k == count ||
            rank_of(grouping, kids[k]) != rank_of(grouping, kids[k - 1])) {
            both[0] = all;
            both[1] = divisor;
            all =
                shmt_graph_add_node(graph, SHMT_OP_MOD, SHMT_VALUE_INT, both,
                                    2);
        }
        if (k == count || graph->failed)
            break;
        both[0] = all;
        both[1] = kids[k];
        all = op == SHMT_OP_ADD
                  ? add_term(grouping, all, kids[k])
                  : shmt_graph_add_node(graph, SHMT_OP_MUL, SHMT_VALUE_INT,
                                        both, 2);
    }
    return all;
}

/* Whether the node is a remainder by a constant, of a sum or product that can
 * be much larger than the constant and cannot overflow. */
static bool is_remainder(const struct shmt_graph *graph, uint32_t id)
{
    const struct shmt_graph_node *node = &graph->nodes[id];
    const struct shmt_graph_node *sum, *divisor;

    if (node->op != SHMT_OP_MOD || node->type != SHMT_VALUE_INT)
        return false;
    sum = &graph->nodes[graph->kids[node->first]];
    divisor = &graph->nodes[graph->kids[node->first + 1]];
    return (sum->op == SHMT_OP_ADD || sum->op == SHMT_OP_MUL) &&
           !sum->overflows && divisor->op == SHMT_OP_CONST &&
           divisor->low > 0 &&
           (uint64_t)sum->high - (uint64_t)sum->low >
               2 * (uint64_t)divisor->low;
}

static bool has_many(const struct shmt_graph_node *node)
{
    return node->type != SHMT_VALUE_REAL &&
           (node->op == SHMT_OP_ADD || node->op == SHMT_OP_MUL ||
            node->op == SHMT_OP_MIN || node->op == SHMT_OP_MAX ||
            node->op == SHMT_OP_AND || node->op == SHMT_OP_OR);
}

static uint32_t group_new(struct grouping *grouping, uint32_t id)
{
    struct shmt_graph *const graph = grouping->plan->graph;
    const struct shmt_graph_node node = graph->nodes[id];
    const bool remainder = is_remainder(graph, id);
    const uint32_t many = remainder ? graph->kids[node.first] : id;
    const size_t count = graph->nodes[many].count;
    uint32_t *kids;
    uint32_t made = id;

    if (node.count == 0 || node.op == SHMT_GRAPH_OPAQUE)
        return id;
    kids = malloc((count + 1) * sizeof *kids);
    if (kids == NULL) {
        graph->failed = true;
        return id;
    }
    memcpy(kids, graph->kids + graph->nodes[many].first,
           count * sizeof *kids);
    for (size_t k = 0; k < count; k++)
        kids[k] = group(grouping, kids[k]);
    if (remainder)
        kids[count] = graph->kids[node.first + 1];
    if (!graph->failed)
        made = remainder ? group_remainder(grouping, many, kids, count)
               : has_many(&node)
                   ? group_many(grouping, id, kids, node.count)
                   : shmt_graph_add_node(graph, node.op, node.type, kids,
                                         node.count);
    free(kids);
    return made;
}

static uint32_t group(struct grouping *grouping, uint32_t id)
{
    if (id >= grouping->count || grouping->plan->graph->failed)
        return id;
    if (grouping->forms[id] == SHMT_GRAPH_NONE)
        grouping->forms[id] = group_new(grouping, id);
    return grouping->forms[id];
}

static bool open_grouping(struct grouping *grouping,
                             struct shmt_plan *plan)
{
    const size_t count = plan->graph->node_count;

    *grouping = (struct grouping){.plan = plan, .count = count};
    grouping->forms = malloc((count + 1) * sizeof *grouping->forms);
    if (grouping->forms == NULL)
        return false;
    memset(grouping->forms, 0xff, (count + 1) * sizeof *grouping->forms);
    return true;
}

struct mark {
    uint64_t bits;              /* early conjuncts above the node */
    uint64_t readers;           /* those that read it later than the level */
    bool pinned;                /* some other conjunct is above it */
    bool pinned_here;           /* and reads it behind the level */
    bool reached;
    bool slot;                  /* it is read behind the level */
};

struct planner {
    struct shmt_plan *plan;
    struct shmt_graph *graph;
    struct mark *marks;         /* of the graph's nodes */
    size_t differences;         /* conjuncts for symmetry.c */
    /* The nodes of the plan, operands first, and those that the level at hand
     * computes, bounds and leaves behind. */
    uint32_t *order, *exact, *mixed, *slots;
    size_t count, exact_count, mixed_count, slot_count;
};

/* The conjuncts of the component, their operands grouped. */
static bool take_conjuncts(struct planner *planner, uint64_t component)
{
    struct shmt_plan *const plan = planner->plan;
    struct shmt_graph *const graph = planner->graph;
    struct grouping grouping;

    plan->conjuncts = shmt_arena_alloc(plan->arena, graph->conjunct_count,
                                       sizeof *plan->conjuncts);
    if (plan->conjuncts == NULL || !open_grouping(&grouping, plan))
        return false;
    for (size_t c = 0; c < graph->conjunct_count; c++) {
        struct shmt_plan_conjunct *conjunct =
            &plan->conjuncts[plan->conjunct_count];
        uint32_t id = graph->conjuncts[c];

        if ((graph->nodes[id].support & component) == 0)
            continue;
        id = group(&grouping, id);
        if (graph->failed)
            break;
        if (graph->nodes[id].op == SHMT_OP_CONST) {
            plan->never |= graph->nodes[id].low == 0;
            continue;
        }
        conjunct->node = id;
        conjunct->bit = -1;
        conjunct->level = level_of(plan, graph->nodes[id].support);
        planner->differences += shmt_plan_is_difference(graph, id);
        plan->may_fault |= graph->nodes[id].fails;
        plan->conjunct_count++;
    }
    free(grouping.forms);
    return !graph->failed;
}

static void reach(struct planner *planner, uint32_t id, int bit)
{
    struct shmt_graph_node *node = &planner->graph->nodes[id];
    struct mark *mark = &planner->marks[id];
    const uint64_t mask = bit < 0 ? 0 : UINT64_C(1) << bit;

    if (mark->reached && (bit < 0 ? mark->pinned : (mark->bits & mask) != 0))
        return;
    mark->reached = true;
    mark->bits |= mask;
    mark->pinned |= bit < 0;
    node->level = level_of(planner->plan, node->support);
    for (size_t k = 0; k < node->count; k++)
        reach(planner, planner->graph->kids[node->first + k], bit);
}

/* Whether bounds may decide the conjunct before its level.  It has to span
 * several levels and to have a value always, or to be an `or` that may not
 * need all operands.  "Two parameters differ" is excluded: bounds hardly ever
 * decide it early. */
static bool is_early(const struct planner *planner,
                     const struct shmt_plan_conjunct *conjunct)
{
    const struct shmt_graph_node *node =
        &planner->graph->nodes[conjunct->node];
    const bool logic = node->op == SHMT_OP_OR || node->op == SHMT_OP_AND ||
                       node->op == SHMT_OP_IF;

    return (node->support & (node->support - 1)) != 0 &&
           node->op != SHMT_GRAPH_OPAQUE && (!node->fails || logic) &&
           !shmt_plan_is_difference(planner->graph, conjunct->node);
}

static bool open_lists(struct planner *planner)
{
    const size_t total = planner->graph->node_count + 1;

    planner->marks = calloc(total, sizeof *planner->marks);
    planner->order = malloc(4 * total * sizeof *planner->order);
    if (planner->marks == NULL || planner->order == NULL)
        return false;
    planner->exact = planner->order + total;
    planner->mixed = planner->exact + total;
    planner->slots = planner->mixed + total;
    return true;
}

static uint8_t bits_for(const struct shmt_graph_node *node)
{
    uint64_t span;

    if (node->type == SHMT_VALUE_REAL)
        return 64;
    span = (uint64_t)node->high - (uint64_t)node->low;
    if (span == UINT64_MAX)
        return 64;
    span += node->fails;
    if (span == 0)
        return 0;
    return (uint8_t)(64 - __builtin_clzll(span));
}

/* A field of `bits` bits in the words of the state. */
static void place(struct shmt_plan_level *level, unsigned *used, unsigned bits,
                  uint16_t *word, uint8_t *shift)
{
    if (bits == 0)
        return;
    if (*used + bits > 64 || level->words == 0) {
        level->words++;
        *used = 0;
    }
    *word = (uint16_t)(level->words - 1);
    *shift = (uint8_t)*used;
    *used += bits;
}

/* Operands stand before their nodes only within one pass of making; a node
 * made while grouping may be older than its operand's new form.  Ids of
 * grouped nodes are sorted by a walk from the conjuncts instead. */
static void sort_nodes(struct planner *planner, uint32_t id)
{
    const struct shmt_graph_node *node = &planner->graph->nodes[id];

    if (!planner->marks[id].reached)
        return;
    planner->marks[id].reached = false;
    for (size_t k = 0; k < node->count; k++)
        sort_nodes(planner, planner->graph->kids[node->first + k]);
    planner->order[planner->count++] = id;
}

/* Whether a node belongs to a conjunct that level `at` may decide early, and
 * depends on a parameter that is decided. */
static bool is_mixed(const struct planner *planner,
                     const struct shmt_graph_node *node, uint32_t id,
                     uint8_t at)
{
    const struct shmt_plan *const plan = planner->plan;
    const struct shmt_plan_level *level = &plan->levels[at];
    uint64_t known = 0, bounded = 0;

    for (size_t l = 1; l <= at; l++)
        known |= UINT64_C(1) << plan->levels[l].parameter;
    for (size_t k = 0; k < level->bounded_count; k++)
        bounded |= UINT64_C(1) << plan->conjuncts[level->bounded[k]].bit;
    return (node->support & known) != 0 &&
           (planner->marks[id].bits & bounded) != 0;
}

/* What level `at` computes, bounds and leaves behind. */
static void scan_level(struct planner *planner, uint8_t at)
{
    const struct shmt_graph *const graph = planner->graph;

    planner->exact_count = planner->mixed_count = planner->slot_count = 0;
    for (size_t n = 0; n < planner->count; n++) {
        struct mark *mark = &planner->marks[planner->order[n]];

        mark->slot = mark->pinned_here = false;
        mark->readers = 0;
    }
    for (size_t n = 0; n < planner->count; n++) {
        const uint32_t id = planner->order[n];
        const struct shmt_graph_node *node = &graph->nodes[id];

        if (node->level == at)
            planner->exact[planner->exact_count++] = id;
        if (node->level <= at)
            continue;
        if (is_mixed(planner, node, id, at))
            planner->mixed[planner->mixed_count++] = id;
        for (size_t k = 0; k < node->count; k++) {
            const uint32_t kid = graph->kids[node->first + k];
            struct mark *mark = &planner->marks[kid];

            if (graph->nodes[kid].level == 0 || graph->nodes[kid].level > at)
                continue;
            if (!mark->slot)
                planner->slots[planner->slot_count++] = kid;
            mark->slot = true;
            mark->readers |= planner->marks[id].bits;
            mark->pinned_here |= planner->marks[id].pinned;
        }
    }
}

static uint32_t *keep(struct shmt_plan *plan, const uint32_t *items,
                      size_t count)
{
    return shmt_arena_copy(plan->arena, items, count * sizeof *items);
}

static bool keep_slots(struct planner *planner, struct shmt_plan_level *level)
{
    unsigned used = 0;

    level->slots = shmt_arena_alloc(planner->plan->arena, planner->slot_count,
                                    sizeof *level->slots);
    if (level->slots == NULL)
        return false;
    level->slot_count = planner->slot_count;
    for (size_t s = 0; s < planner->slot_count; s++) {
        const uint32_t id = planner->slots[s];
        struct shmt_plan_slot *slot = &level->slots[s];

        slot->node = id;
        slot->bits = bits_for(&planner->graph->nodes[id]);
        slot->readers = planner->marks[id].readers;
        slot->pinned = planner->marks[id].pinned_here;
        place(level, &used, slot->bits, &slot->word, &slot->shift);
    }
    if (level->open != 0)
        place(level, &used, (unsigned)__builtin_popcountll(level->open),
              &level->mask_word, &level->mask_shift);
    if (planner->plan->may_fault)
        place(level, &used, 1, &level->fault_word, &level->fault_shift);
    return true;
}

/* Conjuncts that end at `at`, and those still open that it may decide. */
static bool keep_conjuncts(struct planner *planner,
                           struct shmt_plan_level *level, uint8_t at)
{
    struct shmt_plan *const plan = planner->plan;
    const uint64_t here = UINT64_C(1) << level->parameter;
    uint32_t *numbers =
        malloc((plan->conjunct_count + 1) * sizeof *numbers);
    size_t count = 0;

    if (numbers == NULL)
        return false;
    for (size_t c = 0; c < plan->conjunct_count; c++)
        if (plan->conjuncts[c].level == at)
            numbers[count++] = (uint32_t)c;
    level->decided_count = count;
    level->decided = keep(plan, numbers, count);
    count = 0;
    for (size_t c = 0; c < plan->conjunct_count; c++) {
        const struct shmt_plan_conjunct *conjunct = &plan->conjuncts[c];
        const uint64_t support =
            planner->graph->nodes[conjunct->node].support;

        if (conjunct->level <= at || conjunct->bit < 0)
            continue;
        for (size_t l = 1; l <= at; l++)
            if ((support >> plan->levels[l].parameter & 1) != 0)
                level->open |= UINT64_C(1) << conjunct->bit;
        if ((support & here) != 0)
            numbers[count++] = (uint32_t)c;
    }
    level->bounded_count = count;
    level->bounded = keep(plan, numbers, count);
    free(numbers);
    return level->decided != NULL && level->bounded != NULL;
}

static bool make_level(struct planner *planner, uint8_t at)
{
    struct shmt_plan *const plan = planner->plan;
    struct shmt_plan_level *level = &plan->levels[at];

    if (!keep_conjuncts(planner, level, at))
        return false;
    scan_level(planner, at);
    level->exact_count = planner->exact_count;
    level->exact = keep(plan, planner->exact, planner->exact_count);
    level->mixed_count = planner->mixed_count;
    level->mixed = keep(plan, planner->mixed, planner->mixed_count);
    return level->exact != NULL && level->mixed != NULL &&
           keep_slots(planner, level) &&
           (planner->differences < LEAST_DIFFERENT ||
            shmt_plan_find_symmetry(plan, at));
}

static bool plan_levels(struct planner *planner)
{
    struct shmt_plan *const plan = planner->plan;
    int bits = 0;
    bool fine;

    if (!open_lists(planner))
        return false;
    for (size_t c = 0; c < plan->conjunct_count; c++) {
        struct shmt_plan_conjunct *conjunct = &plan->conjuncts[c];

        if (bits < 64 && is_early(planner, conjunct))
            conjunct->bit = (int8_t)bits++;
        reach(planner, conjunct->node, conjunct->bit);
    }
    for (size_t c = 0; c < plan->conjunct_count; c++)
        sort_nodes(planner, plan->conjuncts[c].node);
    for (size_t n = 0; n < planner->count; n++)
        planner->graph->nodes[planner->order[n]].column = (uint32_t)n;
    plan->column_count = planner->count;
    plan->columns = keep(plan, planner->order, planner->count);
    fine = plan->columns != NULL;
    for (uint8_t at = 1; fine && at <= plan->level_count; at++)
        fine = make_level(planner, at);
    return fine;
}

bool shmt_plan_make(struct shmt_graph *graph, const uint8_t *order,
                    size_t count, struct shmt_plan *plan)
{
    struct planner planner = {.plan = plan, .graph = graph};
    uint64_t component = 0;
    bool fine;

    *plan = (struct shmt_plan){.graph = graph, .level_count = count,
                               .arena = shmt_arena_new()};
    if (plan->arena == NULL)
        return false;
    plan->levels = shmt_arena_alloc(plan->arena, count + 1,
                                    sizeof *plan->levels);
    fine = plan->levels != NULL;
    for (size_t k = 0; fine && k < count; k++) {
        plan->levels[k + 1].parameter = order[k];
        plan->level_of[order[k]] = (uint8_t)(k + 1);
        component |= UINT64_C(1) << order[k];
    }
    fine = fine && take_conjuncts(&planner, component) &&
           plan_levels(&planner);
    free(planner.marks);
    free(planner.order);
    if (!fine)
        shmt_plan_free(plan);
    return fine;
}

void shmt_plan_free(struct shmt_plan *plan)
{
    shmt_arena_free(plan->arena);
    *plan = (struct shmt_plan){0};
}
