/* SPDX-License-Identifier: MIT */
/*
 * make: see make.h.  Features, configurations and terms are numbered in the
 * order in which the tree uses them; what it does not use is left out.  Called
 * by learn.c.
 */
#include "learn/make.h"

#include <math.h>
#include <string.h>

#include "learn/portfolio.h"

enum { SELDOM = 200 };           /* chosen once in so many times */

static const struct shmt_setting *
settings_of(struct shmt_arena *arena, const struct shmt_kernel *kernel,
            const shmt_config *config)
{
    struct shmt_setting *const settings = shmt_arena_alloc(
        arena, kernel->parameter_count + 1, sizeof *settings);

    for (size_t p = 0; settings != NULL && p < kernel->parameter_count; p++)
        settings[p] = (struct shmt_setting){
            kernel->parameters[p].name,
            kernel->parameters[p].values[config[p]]};
    return settings;
}

/* Numbers what is used, in the order in which it is. */
struct numbering {
    size_t count, most;
    size_t old[SHMT_DISPATCH_FEATURES > SHMT_DISPATCH_CONFIGS
                   ? SHMT_DISPATCH_FEATURES : SHMT_DISPATCH_CONFIGS];
};

/* SHMT_DISPATCH_LEAF where there are too many. */
static uint16_t renumber(struct numbering *numbering, size_t old)
{
    for (size_t k = 0; k < numbering->count; k++)
        if (numbering->old[k] == old)
            return (uint16_t)k;
    if (numbering->count == numbering->most)
        return SHMT_DISPATCH_LEAF;
    numbering->old[numbering->count] = old;
    return (uint16_t)numbering->count++;
}

/* Whether some size of the range leaves the ranks before it unusable. */
static size_t useful_ranks(const struct shmt_learn_grown *grown,
                           const uint16_t *ranks, size_t count)
{
    const size_t configs = grown->field->configs;

    for (size_t r = 0; r < count; r++) {
        bool always = true;

        for (size_t k = 0; k < grown->count; k++)
            always = always &&
                     grown->share[k * configs + ranks[r]] > 0;
        if (always)
            return r + 1;
    }
    return count;
}

/* How often each rank of each leaf is chosen, by estimates. */
static void count_times(const struct shmt_learn_grown *grown)
{
    const struct shmt_learn_field *const field = grown->field;
    struct shmt_learn_tree *const tree = grown->tree;
    const size_t ranks = field->configs < SHMT_DISPATCH_RANKS
                             ? field->configs : SHMT_DISPATCH_RANKS;

    memset(tree->times, 0, sizeof tree->times);
    for (size_t k = 0; k < field->count; k++) {
        const size_t leaf = shmt_learn_leaf(field, tree, k);

        tree->times[leaf][shmt_learn_choose(field, tree, leaf, ranks, k)]++;
    }
}

/* Which ranks of a leaf a dispatch has: those that are chosen more than now and
 * then, and one that runs everywhere; without estimates, all up to that. */
static void keep_ranks(const struct shmt_learn_grown *grown, size_t leaf,
                       size_t count, bool *kept)
{
    const struct shmt_learn_tree *const tree = grown->tree;
    const size_t useful = useful_ranks(grown, tree->ranks[leaf], count);
    uint32_t all = 0;

    for (size_t r = 0; r < count; r++)
        all += tree->times[leaf][r];
    for (size_t r = 0; r < count; r++)
        kept[r] = grown->field->behind == NULL
                      ? r < useful
                      : r + 1 == useful || tree->times[leaf][r] > all / SELDOM;
}

/* The factor of a rank, beside the one that loses least but for its
 * estimate. */
static uint16_t factor_of(const struct shmt_learn_grown *grown, size_t leaf,
                          size_t rank, size_t count)
{
    const double *const rests = grown->tree->rests[leaf];
    double least = INFINITY;

    for (size_t r = 0; r < count; r++)
        least = fmin(least, rests[r]);
    return (uint16_t)fmin(SHMT_DISPATCH_MOST_FACTOR,
                          round(SHMT_DISPATCH_FACTOR *
                                exp(rests[rank] - least)));
}

/* The parts of a dispatch that are still made. */
struct making {
    const struct shmt_learn_grown *grown;
    struct shmt_dispatch *out;
    struct shmt_dispatch_node *nodes;
    uint16_t *ranks, *factors;
    struct numbering configs, features;
};

static bool put_leaf(struct making *making,
                     const struct shmt_dispatch_node *from,
                     struct shmt_dispatch_node *node)
{
    const struct shmt_learn_tree *const tree = making->grown->tree;
    struct shmt_dispatch *const out = making->out;
    bool kept[SHMT_DISPATCH_RANKS];
    size_t count = 0;

    keep_ranks(making->grown, from->rank, from->other, kept);
    node->rank = (uint16_t)out->rank_count;
    for (size_t r = 0; r < from->other; r++) {
        const uint16_t config =
            kept[r] ? renumber(&making->configs, tree->ranks[from->rank][r])
                    : SHMT_DISPATCH_LEAF;

        if (config == SHMT_DISPATCH_LEAF)
            continue;
        making->factors[out->rank_count + count] =
            factor_of(making->grown, from->rank, r, from->other);
        making->ranks[out->rank_count + count++] = config;
    }
    node->other = (uint16_t)count;
    out->rank_count += count;
    return count > 0;
}

static bool put_nodes(struct making *making)
{
    const struct shmt_learn_tree *const tree = making->grown->tree;
    struct shmt_dispatch_node *const nodes = making->nodes;

    for (size_t k = 0; k < tree->count; k++) {
        const struct shmt_dispatch_node *const from = &tree->nodes[k];

        nodes[k] = *from;
        if (from->feature != SHMT_DISPATCH_LEAF) {
            nodes[k].feature = renumber(&making->features, from->feature);
            if (nodes[k].feature == SHMT_DISPATCH_LEAF)
                return false;
            continue;
        }
        if (!put_leaf(making, from, &nodes[k]))
            return false;
    }
    return true;
}

_Static_assert((int)SHMT_LEARN_PORTFOLIO * (int)SHMT_LEARN_TERMS <=
                   (int)SHMT_DISPATCH_TERMS,
               "there is room for the terms of all");

/* The number of a term, which is added where it is new. */
static size_t number_of(struct shmt_dispatch_term *terms, size_t *count,
                        const struct shmt_dispatch_term *term)
{
    for (size_t k = 0; k < *count; k++)
        if (memcmp(terms[k].of, term->of, sizeof term->of) == 0 &&
            memcmp(terms[k].by, term->by, sizeof term->by) == 0 &&
            terms[k].rounds == term->rounds)
            return k;
    terms[*count] = *term;
    return (*count)++;
}

static int64_t attoseconds(double us)
{
    return us < 9e6 ? (int64_t)(us * 1e12) : INT64_MAX;
}

/* Of a configuration whose time nobody can estimate: the longest. */
static void put_estimate(struct shmt_dispatch *out,
                         struct shmt_dispatch_term *terms,
                         const struct shmt_learn_estimate *from,
                         struct shmt_dispatch_estimate *to)
{
    to->start = from->count == 0 ? INT64_MAX : attoseconds(from->start_us);
    for (size_t k = 0; k < from->count; k++) {
        const int64_t each = attoseconds(from->each_us[k]);

        if (each == 0)
            continue;
        to->terms[to->count] =
            (uint16_t)number_of(terms, &out->term_count, &from->terms[k]);
        to->each[to->count++] = each;
    }
}

/* False: there is no memory. */
static bool put_estimates(const struct making *making,
                          struct shmt_arena *arena)
{
    const struct shmt_learn_grown *const grown = making->grown;
    struct shmt_dispatch_term *const terms =
        shmt_arena_alloc(arena, SHMT_DISPATCH_TERMS, sizeof *terms);
    struct shmt_dispatch_estimate *const estimates =
        shmt_arena_alloc(arena, SHMT_DISPATCH_CONFIGS, sizeof *estimates);

    if (grown->field->behind == NULL)
        return true;
    if (terms == NULL || estimates == NULL)
        return false;
    for (size_t k = 0; k < making->configs.count; k++)
        put_estimate(making->out, terms,
                     &grown->estimates[making->configs.old[k]],
                     &estimates[k]);
    making->out->terms = terms;
    making->out->estimates = estimates;
    making->out->factors = making->factors;
    return true;
}

static void put_range(const struct shmt_learn_grown *grown,
                      struct shmt_dispatch *out)
{
    const struct shmt_kernel *const kernel = grown->table->kernel;

    out->dimension_count = kernel->dimension_count;
    for (size_t d = 0; d < kernel->dimension_count; d++) {
        out->names[d] = kernel->dimensions[d].name;
        out->least[d] = INT64_MAX;
        for (size_t k = 0; k < grown->count; k++) {
            const int64_t size = grown->sizes[k]->problem[d];

            out->least[d] = size < out->least[d] ? size : out->least[d];
            out->most[d] = size > out->most[d] ? size : out->most[d];
        }
        if (grown->table->most[d] == 0)
            continue;
        if (grown->table->least[d] < out->least[d])
            out->least[d] = grown->table->least[d];
        if (grown->table->most[d] > out->most[d])
            out->most[d] = grown->table->most[d];
    }
}

bool shmt_learn_make(const struct shmt_learn_grown *grown,
                     struct shmt_arena *arena, struct shmt_dispatch **out)
{
    const struct shmt_learn_table *const table = grown->table;
    const struct shmt_learn_tree *const tree = grown->tree;
    struct making making = {
        .grown = grown,
        .out = shmt_arena_alloc(arena, 1, sizeof *making.out),
        .nodes = shmt_arena_alloc(arena, tree->count, sizeof *making.nodes),
        .ranks = shmt_arena_alloc(arena, tree->count * SHMT_DISPATCH_RANKS,
                                  sizeof *making.ranks),
        .factors = shmt_arena_alloc(arena, tree->count * SHMT_DISPATCH_RANKS,
                                    sizeof *making.factors),
        .configs = {.most = SHMT_DISPATCH_CONFIGS},
        .features = {.most = SHMT_DISPATCH_FEATURES}};
    struct shmt_dispatch *const made = making.out;
    const struct shmt_setting **const settings =
        shmt_arena_alloc(arena, SHMT_DISPATCH_CONFIGS, sizeof *settings);
    struct shmt_dispatch_feature *const used =
        shmt_arena_alloc(arena, SHMT_DISPATCH_FEATURES, sizeof *used);

    if (made == NULL || making.nodes == NULL || making.ranks == NULL ||
        making.factors == NULL || settings == NULL || used == NULL)
        return false;
    put_range(grown, made);
    count_times(grown);
    if (!put_nodes(&making))
        return true;
    for (size_t k = 0; k < making.configs.count; k++) {
        settings[k] = settings_of(arena, table->kernel,
                                  table->configs[grown->column[
                                      making.configs.old[k]]]);
        if (settings[k] == NULL)
            return false;
    }
    for (size_t k = 0; k < making.features.count; k++)
        used[k] = grown->field->features[making.features.old[k]];
    made->seed = grown->seed;
    made->sizes = grown->count;
    made->config_count = making.configs.count;
    made->setting_count = table->kernel->parameter_count;
    made->configs = settings;
    made->feature_count = making.features.count;
    made->features = used;
    made->node_count = tree->count;
    made->nodes = making.nodes;
    made->ranks = making.ranks;
    if (!put_estimates(&making, arena))
        return false;
    *out = made;
    return true;
}
