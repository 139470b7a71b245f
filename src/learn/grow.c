/* SPDX-License-Identifier: MIT */
/*
 * grow: grows a tree of comparisons on sizes, greedily, from the top: each
 * comparison is the one after which what the configurations lose varies least
 * on either side, and stays only where the best of each side then lose enough
 * less (CART, after Breiman, Friedman, Olshen and Stone).  Sizes are sorted by
 * each value once, and keep that order from node to node (SLIQ, after Mehta,
 * Agrawal and Rissanen).  A leaf ranks configurations by what they lose there.
 * Called by learn.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/forest.h"

struct growing {
    const struct shmt_learn_field *field;
    double gain;                 /* that a comparison has to bring */
    struct shmt_learn_tree *tree;
    size_t *chosen;              /* [count]: the sizes that it is grown on, one
                                    several times, too; those of a node stand
                                    together, */
    size_t count;
    uint32_t *orders;            /* and here at the same places, sorted by each
                                    value: [features][count] */
    uint32_t *moved;             /* [count] */
    uint8_t *times;              /* [sizes]: how often it is grown on */
    bool *is_below;              /* [sizes], of the last comparison */
    double *left, *total;        /* [configs] */
    double *beside;              /* [configs], of a leaf */
    size_t put;                  /* leaves, with those that raise has taken
                                    out: they were tried */
};

struct split {
    double spread;
    size_t feature;
    int64_t below;
};

static const double *rests(const struct growing *growing, size_t size)
{
    return growing->field->rest + size * growing->field->configs;
}

enum { LEAST = 4 };              /* sizes of a leaf */

/* The squares around the mean are the less, the more this is; without what is
 * in `minus`. */
static double squares(const double *sums, const double *minus, size_t count,
                      size_t configs)
{
    double out = 0;

    for (size_t k = 0; k < configs; k++) {
        const double sum = sums[k] - (minus == NULL ? 0 : minus[k]);

        out += sum * sum;
    }
    return out / (double)count;
}

/* A number above `low`, and not above `high`, that is read easily: a power of
 * two, else the middle by the logarithm. */
static int64_t between(int64_t low, int64_t high)
{
    for (int bit = 62; bit >= 0; bit--)
        if (INT64_C(1) << bit <= high)
            if (INT64_C(1) << bit > low)
                return INT64_C(1) << bit;
    low = (int64_t)ceil(sqrt((double)low * (double)high));
    return low < high ? low + 1 : high;
}

/* Merges sorted runs of `run` sizes, two at a time. */
static void merge(const int64_t *values, const uint32_t *from, uint32_t *to,
                  size_t count, size_t run)
{
    for (size_t start = 0; start < count; start += 2 * run) {
        const size_t middle = start + run < count ? start + run : count;
        const size_t end = middle + run < count ? middle + run : count;
        size_t a = start, b = middle;

        for (size_t k = start; k < end; k++)
            to[k] = b == end ||
                    (a < middle && values[from[a]] <= values[from[b]])
                        ? from[a++] : from[b++];
    }
}

bool shmt_learn_sort(const struct shmt_learn_field *field, uint32_t *out)
{
    const size_t count = field->count;
    uint32_t *const room = calloc(2 * count + 1, sizeof *room);

    for (size_t f = 0; room != NULL && f < field->feature_count; f++) {
        uint32_t *from = room, *to = room + count;

        for (size_t k = 0; k < count; k++)
            from[k] = (uint32_t)k;
        for (size_t run = 1; run < count; run *= 2) {
            uint32_t *const last = from;

            merge(field->values + f * count, from, to, count, run);
            from = to;
            to = last;
        }
        memcpy(out + f * count, from, count * sizeof *out);
    }
    free(room);
    return room != NULL;
}

/* The sizes of a node in the order of a value. */
static uint32_t *order_of(const struct growing *growing, size_t feature,
                          const size_t *chosen)
{
    return growing->orders + feature * growing->count +
           (chosen - growing->chosen);
}

/* Of all sizes in the order of each value, those that it is grown on. */
static void fill_orders(struct growing *growing)
{
    const struct shmt_learn_field *const field = growing->field;
    uint32_t *to = growing->orders;

    for (size_t k = 0; k < growing->count; k++)
        growing->times[growing->chosen[k]]++;
    for (size_t k = 0; k < field->feature_count * field->count; k++)
        for (int n = growing->times[field->sorted[k]]; n > 0; n--)
            *to++ = field->sorted[k];
}

/* How much would vary on both sides, for every place between two values. */
static void try_feature(struct growing *growing, size_t feature,
                        const size_t *chosen, size_t count,
                        struct split *best)
{
    const struct shmt_learn_field *const field = growing->field;
    const int64_t *const values = field->values + feature * field->count;
    const uint32_t *const order = order_of(growing, feature, chosen);

    memset(growing->left, 0, field->configs * sizeof *growing->left);
    for (size_t k = 0; k + 1 < count; k++) {
        const double *const rest = rests(growing, order[k]);
        const int64_t low = values[order[k]];
        const int64_t high = values[order[k + 1]];
        double sum;

        for (size_t c = 0; c < field->configs; c++)
            growing->left[c] += rest[c];
        if (low == high || k + 1 < LEAST || count - k - 1 < LEAST)
            continue;
        sum = -squares(growing->left, NULL, k + 1, field->configs) -
              squares(growing->total, growing->left, count - k - 1,
                      field->configs);
        if (sum < best->spread - 1e-9)
            *best = (struct split){sum, feature, between(low, high)};
    }
}

/* As shmt_dispatch_score does: beside the least of the leaf, but for those that
 * may not run, which the library finds out last. */
size_t shmt_learn_choose(const struct shmt_learn_field *field,
                         const struct shmt_learn_tree *tree, size_t leaf,
                         size_t count, size_t k)
{
    const uint16_t *const ranks = tree->ranks[leaf];
    const double *const rests = tree->rests[leaf];
    double least = INFINITY, least_loss = INFINITY;
    size_t best = 0;

    if (field->behind == NULL)
        return 0;
    for (size_t r = 0; r < count; r++)
        least = fmin(least, field->behind[k * field->configs + ranks[r]]);
    for (size_t r = 0; r < count; r++) {
        const double behind = field->behind[k * field->configs + ranks[r]];
        const double loss =
            rests[r] + (behind >= SHMT_LEARN_NEVER
                            ? behind : fmin(behind, least + SHMT_LEARN_FAR));

        if (loss < least_loss) {
            least_loss = loss;
            best = r;
        }
    }
    return best;
}

/* What a leaf ranks each configuration by beside its rest, in sum: what is
 * behind, or without estimates how much more is lost, so that those after the
 * first are told apart, too. */
static void sum_beside(struct growing *growing, const size_t *chosen,
                       size_t count)
{
    const struct shmt_learn_field *const field = growing->field;
    const size_t configs = field->configs;

    memset(growing->beside, 0, configs * sizeof *growing->beside);
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < configs; c++) {
            const size_t cell = chosen[k] * configs + c;

            growing->beside[c] +=
                field->behind == NULL
                    ? field->loss[cell] - field->rest[cell]
                    : fmin(field->behind[cell], SHMT_LEARN_FAR);
        }
}

/* The ranks of the next leaf; returns how many. */
static size_t rank(struct growing *growing, const double *sums,
                   const size_t *chosen, size_t size_count)
{
    struct shmt_learn_tree *const tree = growing->tree;
    const double *const beside = growing->beside;
    bool taken[SHMT_LEARN_CONFIGS] = {false};
    size_t count = 0;

    sum_beside(growing, chosen, size_count);
    while (count < SHMT_DISPATCH_RANKS && count < growing->field->configs) {
        size_t best = SHMT_LEARN_CONFIGS;

        for (size_t c = 0; c < growing->field->configs; c++)
            if (!taken[c] &&
                (best == SHMT_LEARN_CONFIGS ||
                 sums[c] + beside[c] < sums[best] + beside[best]))
                best = c;
        taken[best] = true;
        tree->ranks[tree->leaf_count][count] = (uint16_t)best;
        tree->rests[tree->leaf_count][count++] =
            sums[best] / (double)size_count;
    }
    return count;
}

/* What sizes lose by a leaf that is, or would be, the next. */
static double loss_at(const struct growing *growing, size_t leaf, size_t ranks,
                      const size_t *chosen, size_t count)
{
    const struct shmt_learn_field *const field = growing->field;
    double sum = 0;

    for (size_t k = 0; k < count; k++) {
        const size_t r = shmt_learn_choose(field, growing->tree, leaf, ranks,
                                           chosen[k]);

        sum += field->loss[chosen[k] * field->configs +
                           growing->tree->ranks[leaf][r]];
    }
    return sum;
}

static void put_leaf(struct growing *growing, size_t ranks)
{
    struct shmt_learn_tree *const tree = growing->tree;

    tree->nodes[tree->count++] = (struct shmt_dispatch_node){
        .feature = SHMT_DISPATCH_LEAF, .other = (uint16_t)ranks,
        .rank = (uint16_t)tree->leaf_count};
    tree->leaf_count++;
    growing->put++;
}

/* Moves the sizes of a node that are below to the front, in the order of each
 * value. */
static void part_orders(struct growing *growing, const size_t *chosen,
                        size_t count)
{
    for (size_t f = 0; f < growing->field->feature_count; f++) {
        uint32_t *const order = order_of(growing, f, chosen);
        size_t front = 0, moved = 0;

        for (size_t k = 0; k < count; k++)
            if (growing->is_below[order[k]])
                order[front++] = order[k];
            else
                growing->moved[moved++] = order[k];
        memcpy(order + front, growing->moved, moved * sizeof *order);
    }
}

/* Moves the sizes that are below to the front; returns how many they are. */
static size_t part(struct growing *growing, const struct split *split,
                   size_t *chosen, size_t count)
{
    const int64_t *const values =
        growing->field->values + split->feature * growing->field->count;
    size_t front = 0;

    for (size_t k = 0; k < count; k++) {
        const size_t one = chosen[k];

        growing->is_below[one] = values[one] < split->below;
        if (!growing->is_below[one])
            continue;
        chosen[k] = chosen[front];
        chosen[front++] = one;
    }
    part_orders(growing, chosen, count);
    return front;
}

/* The best comparison of a node; its spread is INFINITY where there is
 * none. */
static struct split find_split(struct growing *growing, const size_t *chosen,
                               size_t count, size_t depth)
{
    const struct shmt_learn_field *const field = growing->field;
    struct split best = {.spread = INFINITY};

    /* Every node above still needs a node on its other side. */
    if (depth == SHMT_DISPATCH_DEPTH || count < 2 * LEAST ||
        growing->tree->count + depth + 3 > SHMT_DISPATCH_NODES)
        return best;
    for (size_t f = 0; f < field->feature_count; f++)
        try_feature(growing, f, chosen, count, &best);
    return best;
}

/* What a subtree loses of some sizes. */
static double loss_under(const struct growing *growing, size_t node,
                         const size_t *chosen, size_t count)
{
    const struct shmt_learn_field *const field = growing->field;
    const struct shmt_learn_tree *const tree = growing->tree;
    double sum = 0;

    for (size_t k = 0; k < count; k++) {
        size_t at = node;

        while (tree->nodes[at].feature != SHMT_DISPATCH_LEAF)
            at = field->values[tree->nodes[at].feature * field->count +
                               chosen[k]] < tree->nodes[at].below
                     ? at + 1 : tree->nodes[at].other;
        sum += loss_at(growing, tree->nodes[at].rank, tree->nodes[at].other,
                       &chosen[k], 1);
    }
    return sum;
}

/* Numbers the leaves from `node` on anew, from `leaf` on, in their order. */
static void close_ranks(struct shmt_learn_tree *tree, size_t node, size_t leaf)
{
    for (size_t k = node; k < tree->count; k++) {
        const size_t old = tree->nodes[k].rank;

        if (tree->nodes[k].feature != SHMT_DISPATCH_LEAF)
            continue;
        memmove(tree->ranks[leaf], tree->ranks[old], sizeof *tree->ranks);
        memmove(tree->rests[leaf], tree->rests[old], sizeof *tree->rests);
        tree->nodes[k].rank = (uint16_t)leaf++;
    }
    tree->leaf_count = leaf;
}

/* Where one side of a comparison does as well for the other, that side takes
 * the place of both (as C4.5 does, by Quinlan). */
static void raise(struct growing *growing, size_t node, size_t leaf,
                  const size_t *chosen, size_t count, double *loss)
{
    struct shmt_learn_tree *const tree = growing->tree;
    const size_t second = tree->nodes[node].other;
    const double least = *loss + growing->gain;
    const double by_first = loss_under(growing, node + 1, chosen, count);
    const double by_second = loss_under(growing, second, chosen, count);
    const bool first = by_first <= by_second;
    const size_t from = first ? node + 1 : second;
    const size_t end = first ? second : tree->count;

    if ((first ? by_first : by_second) > least)
        return;
    *loss = first ? by_first : by_second;
    for (size_t k = from; k < end; k++) {
        tree->nodes[node + k - from] = tree->nodes[k];
        if (tree->nodes[k].feature != SHMT_DISPATCH_LEAF)
            tree->nodes[node + k - from].other =
                (uint16_t)(tree->nodes[k].other - (from - node));
    }
    tree->count = node + end - from;
    close_ranks(tree, node, leaf);
}

static bool grow(struct growing *growing, size_t *chosen, size_t count,
                 size_t depth, double *loss);

/* Both sides of a comparison. */
static bool grow_sides(struct growing *growing, const struct split *split,
                       size_t *chosen, size_t count, size_t depth,
                       double *loss)
{
    struct shmt_learn_tree *const tree = growing->tree;
    const size_t node = tree->count++, leaf = tree->leaf_count;
    const size_t front = part(growing, split, chosen, count);
    double first, second;

    tree->nodes[node] = (struct shmt_dispatch_node){
        .feature = (uint16_t)split->feature, .below = split->below};
    if (!grow(growing, chosen, front, depth + 1, &first))
        return false;
    tree->nodes[node].other = (uint16_t)tree->count;
    if (!grow(growing, chosen + front, count - front, depth + 1, &second))
        return false;
    *loss = first + second;
    raise(growing, node, leaf, chosen, count, loss);
    return true;
}

/* *loss is what the subtree loses.  A subtree that does not bring `gain` for
 * each of its comparisons becomes a leaf. */
static bool grow(struct growing *growing, size_t *chosen, size_t count,
                 size_t depth, double *loss)
{
    const size_t configs = growing->field->configs;
    struct shmt_learn_tree *const tree = growing->tree;
    const size_t node = tree->count, leaf = tree->leaf_count;
    const size_t before = growing->put;
    double *const sums = calloc(configs + 1, sizeof *sums);
    struct split split;
    double alone;
    size_t ranks;
    bool done = true;

    if (sums == NULL)
        return false;
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < configs; c++)
            sums[c] += rests(growing, chosen[k])[c];
    ranks = rank(growing, sums, chosen, count);
    alone = *loss = loss_at(growing, leaf, ranks, chosen, count);
    growing->total = sums;
    split = find_split(growing, chosen, count, depth);
    if (split.spread < INFINITY)
        done = grow_sides(growing, &split, chosen, count, depth, loss);
    if (done && (split.spread == INFINITY ||
                 alone - *loss < growing->gain *
                                     (double)(growing->put - before - 1))) {
        tree->count = node;
        tree->leaf_count = leaf;
        growing->put = before;
        *loss = alone;
        /* What was below has written over them. */
        if (split.spread < INFINITY)
            rank(growing, sums, chosen, count);
        put_leaf(growing, ranks);
    }
    free(sums);
    return done;
}

bool shmt_learn_grow(const struct shmt_learn_field *field, double gain,
                     size_t *chosen, size_t count,
                     struct shmt_learn_tree *out)
{
    struct growing growing = {.field = field, .gain = gain, .tree = out,
                              .chosen = chosen, .count = count};
    double loss;
    bool done;

    out->count = out->leaf_count = 0;
    growing.orders = calloc(field->feature_count * count + 1,
                            sizeof *growing.orders);
    growing.moved = calloc(count + 1, sizeof *growing.moved);
    growing.times = calloc(field->count + 1, sizeof *growing.times);
    growing.is_below = calloc(field->count + 1, sizeof *growing.is_below);
    growing.left = calloc(field->configs + 1, sizeof *growing.left);
    growing.beside = calloc(field->configs + 1, sizeof *growing.beside);
    done = growing.orders != NULL && growing.moved != NULL &&
           growing.times != NULL && growing.is_below != NULL &&
           growing.left != NULL && growing.beside != NULL;
    if (done) {
        fill_orders(&growing);
        done = grow(&growing, chosen, count, 0, &loss);
    }
    free(growing.orders);
    free(growing.moved);
    free(growing.times);
    free(growing.is_below);
    free(growing.left);
    free(growing.beside);
    return done;
}

size_t shmt_learn_leaf(const struct shmt_learn_field *field,
                       const struct shmt_learn_tree *tree, size_t k)
{
    size_t node = 0;

    while (tree->nodes[node].feature != SHMT_DISPATCH_LEAF)
        node = field->values[tree->nodes[node].feature * field->count + k] <
                       tree->nodes[node].below
                   ? node + 1 : tree->nodes[node].other;
    return tree->nodes[node].rank;
}
