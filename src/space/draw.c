/* SPDX-License-Identifier: MIT */
/*
 * draw: valid configurations of a space whose diagram is too large, one by
 * one: backtracking over the parameters, in the order of fewest values left,
 * with values in random order.  After each choice the bounds of the
 * sub-expressions that it touches are computed anew; a constraint with one
 * parameter left takes away the values that break it (forward checking), and a
 * parameter with one value left is decided.  Searches that fail too often begin
 * again, and parameters of constraints that failed come first then (weighted
 * degrees, Boussemart, Hemery, Lecoutre and Sais 2004).
 *
 * First the search looks for all configurations: if there are few, the space
 * is whole.  If not, each further search begins at the top and keeps what it
 * finds first.  All valid configurations can be drawn, but they are not
 * equally probable, and nothing is known of how far from it.
 *
 * What the bounds cannot tell (reals, divisions by zero) the expressions
 * themselves decide, and they are asked about every configuration that is
 * kept.  Called by space.c.
 */
#include <stdlib.h>
#include <string.h>

#include "space/build.h"

/* Failures after which a search for all configurations, and one for a single
 * one at first, is cut. */
enum { PATIENCE_ALL = 20000, PATIENCE_ONE = 200 };

/* A list of numbers: nodes, conjuncts or constraints. */
struct numbers {
    uint32_t *items;
    size_t count, room;
};

enum answer { NOTHING, ENOUGH, CUT, NO_MEMORY };

/* What undo brings back: the bounds of a node, or a value of a parameter. */
struct change {
    uint32_t node;               /* UINT32_MAX: a value */
    uint8_t parameter;
    shmt_config value;
    int64_t bounds[2];
};

struct drawing {
    const struct shmt_graph *graph;
    const struct shmt_space_definition *definition;
    struct shmt_budget *budget;
    struct shmt_random random;
    int64_t (*bounds)[2];        /* of each node, as far as is decided */
    uint32_t *stamps;            /* of nodes that were computed for a trial */
    int64_t (*trial)[2];
    uint32_t stamp;
    struct numbers touched[SHMT_SPACE_PARAMETERS];  /* nodes, operands
                                                       first */
    struct numbers conjuncts[SHMT_SPACE_PARAMETERS];  /* their numbers */
    struct numbers opaque[SHMT_SPACE_PARAMETERS];     /* constraints */
    uint64_t *reads;             /* of each constraint: its parameters */
    uint64_t with_choice, decided;
    bool *left[SHMT_SPACE_PARAMETERS];   /* values */
    size_t left_count[SHMT_SPACE_PARAMETERS];
    double weight[SHMT_SPACE_PARAMETERS];
    struct shmt_value *values;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct change *changes;
    size_t change_count, change_room;
    uint64_t failures, patience;
    bool failed;                 /* no memory */
    bool fault;                  /* some expression had no value */
    /* Found. */
    shmt_config *found;          /* [found_count * parameters] */
    size_t found_count, found_room, wanted;
    struct shmt_map places;
};

static bool add_number(struct numbers *list, uint32_t number)
{
    if (!shmt_array_reserve(&list->items, &list->room, list->count + 1,
                            sizeof *list->items))
        return false;
    list->items[list->count++] = number;
    return true;
}

/* A parameter's value as an integer of the graph; words are ranks. */
static int64_t number_of(const struct drawing *drawing, size_t p,
                         shmt_config value)
{
    const struct shmt_value *v = &drawing->definition->parameters[p]
                                      .values[value];

    return v->type == SHMT_VALUE_WORD
               ? (int64_t)shmt_graph_rank(drawing->graph, v->w) : v->i;
}

static bool note_change(struct drawing *drawing, struct change change)
{
    if (!shmt_array_reserve(&drawing->changes, &drawing->change_room,
                            drawing->change_count + 1,
                            sizeof *drawing->changes)) {
        drawing->failed = true;
        return false;
    }
    drawing->changes[drawing->change_count++] = change;
    return true;
}

static void undo(struct drawing *drawing, size_t count, uint64_t decided)
{
    while (drawing->change_count > count) {
        const struct change *c = &drawing->changes[--drawing->change_count];

        if (c->node != UINT32_MAX) {
            drawing->bounds[c->node][0] = c->bounds[0];
            drawing->bounds[c->node][1] = c->bounds[1];
        } else {
            drawing->left[c->parameter][c->value] = true;
            drawing->left_count[c->parameter]++;
        }
    }
    drawing->decided = decided;
}

static bool take_away(struct drawing *drawing, size_t p, shmt_config value)
{
    drawing->left[p][value] = false;
    drawing->left_count[p]--;
    return note_change(drawing,
                       (struct change){UINT32_MAX, (uint8_t)p, value, {0}});
}

static void blame(struct drawing *drawing, uint64_t parameters)
{
    for (; parameters != 0; parameters &= parameters - 1)
        drawing->weight[__builtin_ctzll(parameters)] += 1.0;
}

static bool set_bounds(struct drawing *drawing, uint32_t node,
                       const int64_t bounds[2])
{
    int64_t *const own = drawing->bounds[node];
    struct change change = {.node = node, .bounds = {own[0], own[1]}};

    if (own[0] == bounds[0] && own[1] == bounds[1])
        return true;
    own[0] = bounds[0];
    own[1] = bounds[1];
    return note_change(drawing, change);
}

/* The bounds of a node if parameter p had one value; drawing->trial has those
 * of the parameter's own node. */
static const int64_t *try_node(struct drawing *drawing, uint32_t id, size_t p)
{
    const struct shmt_graph *const graph = drawing->graph;
    const struct shmt_graph_node *const node = &graph->nodes[id];

    if (drawing->stamps[id] == drawing->stamp)
        return drawing->trial[id];
    drawing->stamps[id] = drawing->stamp;
    drawing->trial[id][0] = drawing->bounds[id][0];
    drawing->trial[id][1] = drawing->bounds[id][1];
    if ((node->support >> p & 1) == 0 || node->count == 0)
        return drawing->trial[id];
    for (size_t k = 0; k < node->count; k++)
        try_node(drawing, graph->kids[node->first + k], p);
    drawing->budget->steps += node->count;
    shmt_graph_get_bounds(graph, id,
                          (const int64_t (*)[2])drawing->trial,
                          drawing->trial[id]);
    return drawing->trial[id];
}

static bool holds(struct drawing *drawing, size_t constraint)
{
    bool truth = false;

    drawing->budget->steps += 32;
    if (shmt_expr_eval_bool(drawing->definition->constraints[constraint],
                            drawing->values, &truth, NULL) == SHMTUNE_OK)
        return truth;
    drawing->fault = true;
    return false;
}

static void set_value(struct drawing *drawing, size_t p, shmt_config value)
{
    const struct shmt_space_definition *const d = drawing->definition;

    drawing->config[p] = value;
    drawing->values[d->fixed_count + p] = d->parameters[p].values[value];
}

/* Takes the values of p away that break a conjunct, or, with `constraint`, a
 * constraint.  p is all that is not decided there. */
static bool check_forward(struct drawing *drawing, size_t p, uint32_t which,
                          bool constraint)
{
    const struct shmt_graph *const graph = drawing->graph;
    const size_t count = drawing->definition->parameters[p].count;

    for (size_t v = 0; v < count && !drawing->failed; v++) {
        bool fine = true;

        if (!drawing->left[p][v])
            continue;
        if (constraint) {
            set_value(drawing, p, (shmt_config)v);
            fine = holds(drawing, which);
        } else {
            const uint32_t symbol = drawing->touched[p].items[0];

            drawing->stamp++;
            drawing->stamps[symbol] = drawing->stamp;
            drawing->trial[symbol][0] = drawing->trial[symbol][1] =
                number_of(drawing, p, (shmt_config)v);
            fine = try_node(drawing, graph->conjuncts[which], p)[1] != 0;
        }
        if (!fine)
            take_away(drawing, p, (shmt_config)v);
    }
    return drawing->left_count[p] > 0;
}

/* What a decision of p means for one condition on the parameters `reads`.  With
 * all of them decided, `which` must hold; with one left, it loses values. */
static bool check(struct drawing *drawing, uint64_t reads, uint32_t which,
                  bool constraint)
{
    const uint64_t open = reads & ~drawing->decided;
    bool fine = true;

    if (open != 0 && (open & (open - 1)) == 0)
        fine = check_forward(drawing, (size_t)__builtin_ctzll(open), which,
                             constraint);
    else if (constraint && open == 0)
        fine = holds(drawing, which);
    if (!fine)
        blame(drawing, reads);
    return fine;
}

/* Decides p.  False: some constraint cannot hold any more. */
static bool decide(struct drawing *drawing, size_t p, shmt_config value)
{
    const struct shmt_graph *const graph = drawing->graph;
    const struct numbers *const touched = &drawing->touched[p];
    int64_t bounds[2];
    bool fine = true;

    set_value(drawing, p, value);
    drawing->decided |= UINT64_C(1) << p;
    drawing->budget->steps += 8 + touched->count;
    for (size_t k = 0; k < touched->count && !drawing->failed; k++) {
        if (k == 0)
            bounds[0] = bounds[1] = number_of(drawing, p, value);
        else
            shmt_graph_get_bounds(graph, touched->items[k],
                                  (const int64_t (*)[2])drawing->bounds,
                                  bounds);
        set_bounds(drawing, touched->items[k], bounds);
    }
    for (size_t k = 0; k < drawing->conjuncts[p].count && fine; k++) {
        const uint32_t c = drawing->conjuncts[p].items[k];
        const uint32_t node = graph->conjuncts[c];

        fine = drawing->bounds[node][1] != 0;
        if (!fine)
            blame(drawing, graph->nodes[node].support);
        else if (drawing->bounds[node][0] == 0)
            fine = check(drawing, graph->nodes[node].support, c, false);
    }
    for (size_t k = 0; k < drawing->opaque[p].count && fine; k++) {
        const uint32_t c = drawing->opaque[p].items[k];

        fine = check(drawing, drawing->reads[c], c, true);
    }
    return fine && !drawing->failed;
}

/* The n-th value that is left. */
static shmt_config nth_left(const struct drawing *drawing, size_t p, uint64_t n)
{
    size_t v = 0;

    while (!drawing->left[p][v] || n-- > 0)
        v++;
    return (shmt_config)v;
}

/* The parameter to decide next: few values left, many failures so far; any of
 * those that are equal.  SHMT_SPACE_PARAMETERS: all are decided. */
static size_t next_parameter(struct drawing *drawing)
{
    size_t best = SHMT_SPACE_PARAMETERS;
    double least = 0.0;
    uint64_t equal = 0;

    for (uint64_t open = drawing->with_choice & ~drawing->decided; open != 0;
         open &= open - 1) {
        const size_t p = (size_t)__builtin_ctzll(open);
        const double rank =
            (double)drawing->left_count[p] / (1.0 + drawing->weight[p]);

        if (best == SHMT_SPACE_PARAMETERS || rank < least) {
            least = rank;
            best = p;
            equal = 1;
        } else if (!(rank > least) &&
                   shmt_random_below(&drawing->random, ++equal) == 0) {
            best = p;
        }
    }
    return best;
}

/* Decides p, then whatever has but one value left. */
static bool propagate(struct drawing *drawing, size_t p, shmt_config value)
{
    while (decide(drawing, p, value)) {
        uint64_t open = drawing->with_choice & ~drawing->decided;

        while (open != 0 &&
               drawing->left_count[__builtin_ctzll(open)] > 1)
            open &= open - 1;
        if (open == 0)
            return true;
        p = (size_t)__builtin_ctzll(open);
        value = nth_left(drawing, p, 0);
    }
    return false;
}

/* Keeps drawing->config if it is valid and new. */
static enum answer keep(struct drawing *drawing)
{
    const size_t width = drawing->definition->parameter_count;
    const size_t bytes = width * sizeof *drawing->config;
    const uint64_t hash = shmt_map_hash_bytes(drawing->config, bytes);
    uint32_t other;

    for (size_t c = 0; c < drawing->definition->constraint_count; c++)
        if (!holds(drawing, c))
            return NOTHING;
    for (size_t probe = 0;
         (other = shmt_map_next(&drawing->places, hash, &probe)) !=
         SHMT_MAP_NONE;)
        if (memcmp(drawing->found + other * width, drawing->config, bytes) ==
            0)
            return NOTHING;
    if (!shmt_array_reserve(&drawing->found, &drawing->found_room,
                            drawing->found_count + 1, bytes) ||
        !shmt_map_add(&drawing->places, hash, (uint32_t)drawing->found_count)) {
        drawing->failed = true;
        return NO_MEMORY;
    }
    memcpy(drawing->found + drawing->found_count++ * width, drawing->config,
           bytes);
    drawing->budget->progress.drawn = drawing->found_count;
    return drawing->found_count >= drawing->wanted ? ENOUGH : NOTHING;
}

/* All ways to decide what is left; at most SHMT_SPACE_PARAMETERS deep. */
static enum answer search(struct drawing *drawing)
{
    const size_t p = next_parameter(drawing), before = drawing->change_count;
    const uint64_t decided = drawing->decided;
    enum answer answer = NOTHING;

    if (p == SHMT_SPACE_PARAMETERS)
        return keep(drawing);
    while (answer == NOTHING && drawing->left_count[p] > 0) {
        const size_t mark = drawing->change_count;
        const shmt_config value = nth_left(
            drawing, p, shmt_random_below(&drawing->random,
                                          drawing->left_count[p]));

        if (propagate(drawing, p, value))
            answer = search(drawing);
        else if (drawing->failed)
            answer = NO_MEMORY;
        else if (++drawing->failures > drawing->patience ||
                 !shmt_budget_spend(drawing->budget, 1))
            answer = CUT;
        undo(drawing, mark, decided);
        if (!take_away(drawing, p, value))
            answer = NO_MEMORY;
    }
    undo(drawing, before, decided);
    return answer;
}

/* The default configuration, so that a run has where to begin. */
static void keep_default(struct drawing *drawing)
{
    for (size_t p = 0; p < drawing->definition->parameter_count; p++)
        set_value(drawing, p,
                  (shmt_config)drawing->definition->parameters[p]
                      .default_value);
    keep(drawing);
}

/* True: what was found is all there is. */
static bool find(struct drawing *drawing)
{
    const size_t draws = drawing->budget->limits.draws;
    size_t repeats = 0;
    enum answer answer;

    drawing->patience = PATIENCE_ALL;
    drawing->wanted = draws + 1;
    answer = search(drawing);
    if (answer == NOTHING && !drawing->fault)
        return true;
    drawing->found_count = 0;
    shmt_map_clear(&drawing->places);
    memset(drawing->weight, 0, sizeof drawing->weight);
    keep_default(drawing);
    drawing->patience = PATIENCE_ONE;
    while (drawing->found_count < draws && repeats < 1000 + draws &&
           !drawing->failed && shmt_budget_spend(drawing->budget, 1)) {
        const size_t before = drawing->found_count;

        drawing->wanted = before + 1;
        drawing->failures = 0;
        answer = search(drawing);
        if (answer == NOTHING && !drawing->fault)
            return true;
        repeats += drawing->found_count == before;
        if (answer == CUT)
            drawing->patience += drawing->patience / 2;
        else if (drawing->found_count > before)
            drawing->patience = PATIENCE_ONE;
    }
    return false;
}

/* By node: whether bounds tell all about it. */
static bool *find_plain(const struct shmt_graph *graph)
{
    bool *plain = malloc((graph->node_count + 1) * sizeof *plain);

    for (size_t n = 0; plain != NULL && n < graph->node_count; n++) {
        const struct shmt_graph_node *const node = &graph->nodes[n];

        plain[n] = !node->fails && node->type != SHMT_VALUE_REAL &&
                   node->op != SHMT_GRAPH_OPAQUE;
        for (size_t k = 0; k < node->count; k++)
            plain[n] &= plain[graph->kids[node->first + k]];
    }
    return plain;
}

/* Which nodes, conjuncts and constraints each parameter touches. */
static bool link_parameters(struct drawing *drawing)
{
    const struct shmt_graph *const graph = drawing->graph;
    const struct shmt_space_definition *const d = drawing->definition;
    bool *const plain = find_plain(graph);
    bool fine = plain != NULL;

    for (size_t n = 0; n < graph->node_count; n++) {
        const struct shmt_graph_node *const node = &graph->nodes[n];

        drawing->bounds[n][0] = node->low;
        drawing->bounds[n][1] = node->high;
        for (uint64_t s = node->support; s != 0 && fine; s &= s - 1)
            fine = node->type == SHMT_VALUE_REAL && node->count > 0
                       ? true
                       : add_number(&drawing->touched[__builtin_ctzll(s)],
                                    (uint32_t)n);
    }
    for (size_t c = 0; c < d->constraint_count; c++)
        for (size_t p = 0; p < d->parameter_count; p++)
            if ((drawing->with_choice >> p & 1) != 0 &&
                shmt_expr_uses(d->constraints[c], d->fixed_count + p))
                drawing->reads[c] |= UINT64_C(1) << p;
    for (size_t c = 0; c < graph->conjunct_count && fine; c++) {
        const bool all = plain[graph->conjuncts[c]];
        const uint32_t source = graph->sources[c];

        for (uint64_t s = graph->nodes[graph->conjuncts[c]].support;
             s != 0 && fine; s &= s - 1)
            fine = add_number(&drawing->conjuncts[__builtin_ctzll(s)],
                              (uint32_t)c);
        for (uint64_t s = all ? 0 : drawing->reads[source]; s != 0 && fine;
             s &= s - 1)
            fine = add_number(&drawing->opaque[__builtin_ctzll(s)], source);
    }
    free(plain);
    return fine;
}

static bool open_drawing(struct drawing *drawing)
{
    const struct shmt_graph *const graph = drawing->graph;
    const struct shmt_space_definition *const d = drawing->definition;
    const size_t nodes = graph->node_count + 1;
    bool fine;

    drawing->bounds = malloc(nodes * sizeof *drawing->bounds);
    drawing->trial = malloc(nodes * sizeof *drawing->trial);
    drawing->stamps = calloc(nodes, sizeof *drawing->stamps);
    drawing->reads = calloc(d->constraint_count + 1, sizeof *drawing->reads);
    drawing->values = shmt_graph_first_values(d);
    fine = drawing->bounds != NULL && drawing->trial != NULL &&
           drawing->stamps != NULL && drawing->reads != NULL &&
           drawing->values != NULL;
    for (size_t p = 0; p < d->parameter_count && fine; p++) {
        const size_t count = d->parameters[p].count;

        drawing->left[p] = malloc(count * sizeof *drawing->left[p]);
        fine = drawing->left[p] != NULL;
        if (fine)
            memset(drawing->left[p], true, count);
        drawing->left_count[p] = count;
        drawing->with_choice |= (uint64_t)(count > 1) << p;
    }
    return fine && link_parameters(drawing);
}

static void close_drawing(struct drawing *drawing)
{
    for (size_t p = 0; p < SHMT_SPACE_PARAMETERS; p++) {
        free(drawing->touched[p].items);
        free(drawing->conjuncts[p].items);
        free(drawing->opaque[p].items);
        free(drawing->left[p]);
    }
    free(drawing->bounds);
    free(drawing->trial);
    free(drawing->stamps);
    free(drawing->reads);
    free(drawing->values);
    free(drawing->changes);
    free(drawing->found);
    shmt_map_free(&drawing->places);
    free(drawing);
}

static enum shmtune_status list_found(const struct drawing *drawing,
                                      struct shmt_space **out)
{
    const size_t width = drawing->definition->parameter_count;
    const shmt_config **list =
        malloc((drawing->found_count + 1) * sizeof *list);
    enum shmtune_status status = SHMTUNE_NO_MEMORY;

    for (size_t k = 0; list != NULL && k < drawing->found_count; k++)
        list[k] = drawing->found + k * width;
    if (list != NULL)
        status = shmt_space_from_list(drawing->definition, list,
                                      drawing->found_count, out, NULL);
    free(list);
    return status;
}

enum shmt_build_outcome shmt_space_draw(const struct shmt_graph *graph,
                                        struct shmt_budget *budget,
                                        struct shmt_space **out)
{
    struct drawing *drawing = calloc(1, sizeof *drawing);
    enum shmt_build_outcome outcome = SHMT_BUILD_MEMORY;
    bool whole;

    if (drawing == NULL)
        return SHMT_BUILD_MEMORY;
    drawing->graph = graph;
    drawing->definition = graph->definition;
    drawing->budget = budget;
    shmt_random_seed(&drawing->random, budget->limits.seed);
    if (open_drawing(drawing)) {
        whole = find(drawing);
        if (!drawing->failed && !whole && drawing->found_count == 0)
            outcome = SHMT_BUILD_LIMIT;
        else if (!drawing->failed && list_found(drawing, out) == SHMTUNE_OK) {
            outcome = SHMT_BUILD_DONE;
            (*out)->drawn = !whole;
        }
    }
    close_drawing(drawing);
    return outcome;
}
