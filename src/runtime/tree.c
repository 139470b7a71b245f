/* SPDX-License-Identifier: MIT */
/*
 * tree: makes the tree of a dispatch ready when its tuning is opened.  Numbers
 * that several features or terms have in common are made once; of each it is
 * known how great it becomes within the range, so that no step is made that
 * could overflow, or divide what is too great to be divided exactly.
 *
 * Called by prove.c.
 */
#include "runtime/tree.h"

#include <string.h>

/* So many numbers leave a place for each term, whatever it is. */
enum { INNER = SHMT_RUNTIME_NUMBERS - SHMT_DISPATCH_TERMS };

/* What is being made. */
struct growing {
    struct shmt_arena *arena;
    const struct shmt_dispatch *from;
    const size_t *place;
    size_t *room;
    struct shmt_runtime_tree *out;
    size_t count;                 /* of numbers */
    struct shmt_runtime_step steps[SHMT_RUNTIME_NUMBERS];  /* of each number */
    int64_t most[SHMT_RUNTIME_NUMBERS];    /* what each is at most */
};

void *shmt_runtime_take(struct shmt_arena *arena, size_t *room, size_t count,
                        size_t size)
{
    const size_t bytes = (count + 1) * size;

    if (bytes > *room) {
        *room = 0;
        return NULL;
    }
    *room -= bytes;
    return shmt_arena_alloc(arena, count + 1, size);
}

static void *take(struct growing *growing, size_t count, size_t size)
{
    return shmt_runtime_take(growing->arena, growing->room, count, size);
}

static void *copy(struct growing *growing, const void *from, size_t count,
                  size_t size)
{
    void *const out = take(growing, count, size);

    if (out != NULL && count > 0)
        memcpy(out, from, count * size);
    return out;
}

/* Makes ceildiv(a * b, by) of two numbers, or finds it; false: that cannot be
 * done. */
static bool make_step(struct growing *growing, size_t a, size_t b, int64_t by,
                      size_t *out)
{
    const struct shmt_runtime_step step = {
        .inverse = shmt_runtime_inverse(by), .a = (uint8_t)a,
        .b = (uint8_t)b};
    int64_t most, product;
    size_t k = SHMT_RUNTIME_FIRST;

    if (__builtin_mul_overflow(growing->most[a], growing->most[b], &most) ||
        __builtin_mul_overflow(most, by, &product))
        return false;
    *out = a == 0 ? b : a;
    if (by == 1 && (a == 0 || b == 0))
        return true;
    while (k < growing->count && (growing->steps[k].inverse != step.inverse ||
                                  growing->steps[k].a != step.a ||
                                  growing->steps[k].b != step.b))
        k++;
    if (k == growing->count && k >= INNER)
        return false;
    *out = k;
    growing->steps[k] = step;
    growing->most[k] = (most - 1) / by + 1;
    growing->count += k == growing->count;
    return true;
}

/* Makes ceildiv(size, unit) of each dimension whose unit is not 0: `room`
 * factors, with those beyond in the first.  False: that cannot be done. */
static bool make_factors(struct growing *growing, const int64_t *units,
                         size_t room, uint8_t *out)
{
    size_t count = 0, number;

    for (size_t d = 0; d < growing->from->dimension_count; d++) {
        if (units[d] == 0)
            continue;
        if (!make_step(growing, 1 + growing->place[d], 0, units[d], &number))
            return false;
        if (count < room) {
            out[count++] = (uint8_t)number;
            continue;
        }
        if (!make_step(growing, out[0], number, 1, &number))
            return false;
        out[0] = (uint8_t)number;
    }
    return true;
}

/* In the order of the kernel. */
static void place_units(const struct growing *growing, const int64_t *from,
                        int64_t *out)
{
    for (size_t d = 0; d < growing->from->dimension_count; d++)
        out[growing->place[d]] = from[d];
}

/* -- the tree ------------------------------------------------------------ */

/* The greatest number that a product becomes, and 1; 0: it may be too large. */
static int64_t end_of(const struct growing *growing, const uint8_t *of,
                      size_t count)
{
    int64_t out = 1;

    for (size_t k = 0; k < count; k++)
        if (__builtin_mul_overflow(out, growing->most[of[k]], &out))
            return 0;
    return out < INT64_MAX ? out + 1 : 0;
}

/* Makes what a node compares; false: it is left as it is. */
static bool make_product(struct growing *growing,
                         const struct shmt_dispatch_feature *from,
                         struct shmt_runtime_node *node)
{
    const int64_t by = from->modulo > 0 ? from->modulo : 1;
    int64_t end, product;

    if (!make_factors(growing, from->of, SHMT_RUNTIME_FACTORS, node->of) ||
        !make_factors(growing, from->per, 1, &node->per))
        return false;
    end = end_of(growing, node->of, SHMT_RUNTIME_FACTORS);
    if (end == 0 || (from->modulo > 0 && node->per != 0) ||
        __builtin_mul_overflow(end, growing->most[node->per], &product) ||
        __builtin_mul_overflow(end, by, &product))
        return false;
    /* Nothing is as great as that. */
    node->below = node->below < end ? node->below : end;
    return true;
}

static bool make_node(struct growing *growing,
                      const struct shmt_dispatch_node *from,
                      struct shmt_runtime_node *node,
                      struct shmt_runtime_feature *features)
{
    const struct shmt_dispatch_feature *const feature =
        &growing->from->features[from->feature];
    struct shmt_runtime_feature *const out = &features[from->feature];

    *node = (struct shmt_runtime_node){
        .below = from->below, .feature = from->feature, .other = from->other};
    if (out->plain == NULL && make_product(growing, feature, node)) {
        if (feature->modulo == 0)
            node->feature = SHMT_RUNTIME_PRODUCT;
        else
            *out = (struct shmt_runtime_feature){
                .inverse = shmt_runtime_inverse(feature->modulo),
                .modulo = (uint32_t)feature->modulo};
        return true;
    }
    if (out->plain == NULL) {
        struct shmt_dispatch_feature plain = {.modulo = feature->modulo};

        place_units(growing, feature->of, plain.of);
        place_units(growing, feature->per, plain.per);
        out->plain = copy(growing, &plain, 1, sizeof plain);
    }
    return out->plain != NULL;
}

static bool make_nodes(struct growing *growing,
                       struct shmt_runtime_leaf *leaves, size_t *leaf_count)
{
    const struct shmt_dispatch *const from = growing->from;
    struct shmt_runtime_node *const nodes =
        take(growing, from->node_count, sizeof *nodes);
    struct shmt_runtime_feature *const features =
        take(growing, from->feature_count, sizeof *features);

    growing->out->nodes = nodes;
    growing->out->features = features;
    if (nodes == NULL || features == NULL)
        return false;
    for (size_t k = 0; k < from->node_count; k++) {
        const struct shmt_dispatch_node *const one = &from->nodes[k];

        if (one->feature != SHMT_DISPATCH_LEAF) {
            if (!make_node(growing, one, &nodes[k], features))
                return false;
            continue;
        }
        nodes[k].feature = SHMT_DISPATCH_LEAF;
        nodes[k].other = (uint16_t)*leaf_count;
        leaves[(*leaf_count)++] = (struct shmt_runtime_leaf){
            .rank = one->rank, .rank_count = one->other};
    }
    return true;
}

/* -- estimates ----------------------------------------------------------- */

static bool make_product_of_term(struct growing *growing,
                                 const struct shmt_dispatch_term *term,
                                 size_t *out)
{
    int64_t by[SHMT_KERNEL_DIMENSIONS];
    uint8_t of[2] = {0, 0}, times = 0;

    for (size_t d = 0; d < growing->from->dimension_count; d++)
        by[d] = term->by[d];
    return make_factors(growing, term->of, 2, of) &&
           make_factors(growing, by, 1, &times) &&
           make_step(growing, of[0], of[1],
                     term->rounds > 0 ? term->rounds : 1, out) &&
           make_step(growing, *out, times, 1, out);
}

/* The number of a term. */
static bool make_term(struct growing *growing,
                      const struct shmt_dispatch_term *term, size_t *out)
{
    struct shmt_dispatch_term plain = {.rounds = term->rounds};

    if (make_product_of_term(growing, term, out))
        return true;
    place_units(growing, term->of, plain.of);
    for (size_t d = 0; d < growing->from->dimension_count; d++)
        plain.by[growing->place[d]] = term->by[d];
    *out = growing->count++;
    growing->steps[*out].plain = copy(growing, &plain, 1, sizeof plain);
    return growing->steps[*out].plain != NULL;
}

/* Lists the steps that a leaf needs, but for those that are shared. */
static bool use_steps(struct growing *growing, struct shmt_runtime_leaf *leaf)
{
    const struct shmt_runtime_tree *const out = growing->out;
    const struct shmt_runtime_step *const steps = growing->steps;
    bool needed[SHMT_RUNTIME_NUMBERS] = {false};
    uint8_t used[SHMT_RUNTIME_NUMBERS];

    for (size_t r = 0; r < leaf->rank_count && leaf->rank_count > 1; r++) {
        const struct shmt_dispatch_estimate *const one =
            &out->estimates[out->ranks[leaf->rank + r]];

        for (size_t k = 0; k < one->count; k++)
            needed[one->terms[k]] = true;
    }
    for (size_t k = growing->count; k-- > 0;)
        if (needed[k])
            needed[steps[k].a] = needed[steps[k].b] = true;
    for (size_t k = SHMT_RUNTIME_FIRST; k < growing->count; k++)
        if (needed[k] && steps[k].plain != NULL)
            used[leaf->plain_count++] = (uint8_t)k;
    for (size_t k = out->shared; k < growing->count; k++)
        if (needed[k] && steps[k].plain == NULL)
            used[leaf->plain_count + leaf->step_count++] = (uint8_t)k;
    leaf->used = copy(growing, used, leaf->plain_count + leaf->step_count,
                      sizeof *used);
    return leaf->used != NULL;
}

static bool make_estimates(struct growing *growing,
                           struct shmt_runtime_leaf *leaves, size_t leaf_count)
{
    const struct shmt_dispatch *const from = growing->from;
    struct shmt_runtime_tree *const out = growing->out;
    struct shmt_dispatch_estimate *const estimates =
        copy(growing, from->estimates, from->config_count, sizeof *estimates);
    size_t numbers[SHMT_DISPATCH_TERMS];

    out->estimates = estimates;
    out->factors = copy(growing, from->factors, from->rank_count,
                        sizeof *from->factors);
    if (estimates == NULL || out->factors == NULL)
        return false;
    for (size_t k = 0; k < from->term_count; k++)
        if (!make_term(growing, &from->terms[k], &numbers[k]))
            return false;
    for (size_t k = 0; k < from->config_count; k++)
        for (size_t t = 0; t < estimates[k].count; t++)
            estimates[k].terms[t] = (uint16_t)numbers[estimates[k].terms[t]];
    for (size_t k = 0; k < leaf_count; k++)
        if (!use_steps(growing, &leaves[k]))
            return false;
    return true;
}

static bool make_all(struct growing *growing)
{
    const struct shmt_dispatch *const from = growing->from;
    struct shmt_runtime_tree *const out = growing->out;
    struct shmt_runtime_leaf leaves[SHMT_DISPATCH_NODES / 2 + 1];
    size_t leaf_count = 0;

    out->ranks = copy(growing, from->ranks, from->rank_count,
                      sizeof *from->ranks);
    if (out->ranks == NULL || !make_nodes(growing, leaves, &leaf_count))
        return false;
    out->shared = growing->count;
    if (from->estimates != NULL && !make_estimates(growing, leaves, leaf_count))
        return false;
    out->leaves = copy(growing, leaves, leaf_count, sizeof *leaves);
    out->steps = copy(growing, growing->steps, growing->count,
                      sizeof *growing->steps);
    return out->leaves != NULL && out->steps != NULL;
}

bool shmt_runtime_tree_make(struct shmt_arena *arena,
                            const struct shmt_dispatch *from,
                            const size_t *place, const int64_t *most,
                            size_t *room,
                            struct shmt_runtime_tree *out)
{
    struct growing growing = {.arena = arena, .from = from, .place = place,
                              .room = room, .out = out,
                              .count = SHMT_RUNTIME_FIRST, .most = {1}};

    for (size_t d = 0; d < from->dimension_count; d++)
        growing.most[1 + d] = most[d];
    return make_all(&growing);
}
