/* SPDX-License-Identifier: MIT */
/*
 * dispatch_read: reads the dispatch of a tuning.  The file is not trusted: a
 * dispatch that is read has a tree that ends at leaves, in every walk and
 * after SHMT_DISPATCH_DEPTH comparisons at most, and numbers that name what is
 * there.  Called by tuning_read.c alone.
 */
#include <string.h>

#include "record/dispatch.h"
#include "record/tuning_order.h"
#include "yaml/yaml.h"

enum {
    SEED, SIZES, HELD_OUT, NEAREST, TERMS, ESTIMATES, RANGE, CONFIGURATIONS,
    FEATURES, TREE, KEYS
};
static const char *const keys[KEYS + 1] = {
    "seed", "sizes", "held_out", "nearest", "terms", "estimates", "range",
    "configurations", "features", "tree", NULL
};

enum { OF, PER, MODULO, FEATURE_KEYS };
static const char *const feature_keys[FEATURE_KEYS + 1] = {
    "of", "per", "modulo", NULL
};

enum { TERM_OF, ROUNDS, BY, TERM_KEYS };
static const char *const term_keys[TERM_KEYS + 1] = {
    "of", "rounds", "by", NULL
};

enum { START, OF_TERMS, EACH, ESTIMATE_KEYS };
static const char *const estimate_keys[ESTIMATE_KEYS + 1] = {
    "start", "terms", "each", NULL
};

enum { FEATURE, BELOW, ELSE, TAKE, FACTORS, NODE_KEYS };
static const char *const node_keys[NODE_KEYS + 1] = {
    "feature", "below", "else", "take", "factors", NULL
};

enum { HUNDREDTHS = 10000 };     /* of a percent: all */

/* What is read, before it cannot be changed any more. */
struct reading {
    struct shmt_arena *arena;
    const struct shmt_tuned *like;      /* the tuning's first entry */
    struct shmt_dispatch *dispatch;
    struct shmt_dispatch_node *nodes;
    const struct shmt_yaml *tree;
    uint16_t *ranks, *factors;
};

static enum shmtune_status read_list(const struct shmt_yaml *node,
                                     const char *what, size_t least,
                                     size_t most, struct shmt_error *err)
{
    const enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, what, err);

    if (status == SHMTUNE_OK && (node->count < least || node->count > most))
        return shmt_yaml_refuse(node, err, "found %zu %s, expected %zu to "
                                "%zu", node->count, what, least, most);
    return status;
}

/* Two integers, the second not below the first. */
static enum shmtune_status read_pair(const struct shmt_yaml *node,
                                     int64_t low, int64_t high, int64_t *first,
                                     int64_t *second, struct shmt_error *err)
{
    enum shmtune_status status = read_list(node, "numbers", 2, 2, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(node->items[0], low, high, first, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(node->items[1], low, high, second, err);
    return status;
}

static enum shmtune_status read_figures(const struct shmt_yaml *node,
                                        struct shmt_dispatch_figures *out,
                                        struct shmt_error *err)
{
    return node == NULL ? SHMTUNE_OK
                        : read_pair(node, 0, HUNDREDTHS, &out->mean,
                                    &out->low, err);
}

static enum shmtune_status read_range(const struct reading *reading,
                                      const struct shmt_yaml *node,
                                      struct shmt_error *err)
{
    const struct shmt_tuned *const like = reading->like;
    struct shmt_dispatch *const out = reading->dispatch;
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "range", err);

    if (status == SHMTUNE_OK && node->count != like->size_count)
        return shmt_yaml_refuse(node, err, "found %zu dimensions, expected "
                                "the %zu of the sizes", node->count,
                                like->size_count);
    out->dimension_count = like->size_count;
    for (size_t d = 0; status == SHMTUNE_OK && d < node->count; d++) {
        out->names[d] = like->size[d].name;
        if (!shmt_text_equal(node->keys[d]->text, out->names[d]))
            return shmt_yaml_refuse(node->keys[d], err, "found another "
                                    "dimension, expected %.64s, as in the "
                                    "sizes", out->names[d]);
        status = read_pair(node->items[d], 0, INT64_MAX, &out->least[d],
                           &out->most[d], err);
        if (status == SHMTUNE_OK && out->least[d] > out->most[d])
            return shmt_yaml_refuse(node->items[d], err, "found %lld to "
                                    "%lld, expected the least first",
                                    (long long)out->least[d],
                                    (long long)out->most[d]);
    }
    return status;
}

static enum shmtune_status read_configs(const struct reading *reading,
                                        const struct shmt_yaml *node,
                                        struct shmt_error *err)
{
    struct shmt_dispatch *const out = reading->dispatch;
    const struct shmt_tuned *const like = reading->like;
    const struct shmt_setting **configs;
    enum shmtune_status status = read_list(node, "configurations", 1,
                                           SHMT_DISPATCH_CONFIGS, err);

    if (status != SHMTUNE_OK)
        return status;
    configs = shmt_arena_alloc(reading->arena, node->count, sizeof *configs);
    if (configs == NULL)
        return shmt_error_memory(err);
    out->setting_count = like->setting_count;
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++) {
        status = shmt_tuning_read_like(
            reading->arena, node->items[k], k == 0 ? like->settings
                                                   : configs[0],
            like->setting_count, &configs[k], err);
        if (status == SHMTUNE_OK && k == 0 &&
            node->items[0]->count != like->setting_count)
            return shmt_yaml_refuse(node->items[0], err, "found %zu "
                                    "parameters, expected all %zu of the "
                                    "first", node->items[0]->count,
                                    like->setting_count);
    }
    out->configs = configs;
    out->config_count = node->count;
    return status;
}

static enum shmtune_status read_dimension(const struct shmt_dispatch *dispatch,
                                          const struct shmt_yaml *node,
                                          size_t *d, struct shmt_error *err)
{
    for (*d = 0; *d < dispatch->dimension_count; ++*d)
        if (shmt_text_equal(dispatch->names[*d], node->text))
            return SHMTUNE_OK;
    return shmt_yaml_expected(node, err, "a dimension of the sizes");
}

/* The units of a product, each of a dimension. */
static enum shmtune_status read_units(const struct shmt_dispatch *dispatch,
                                      const struct shmt_yaml *node,
                                      int64_t *units, struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "dimensions", err);

    if (status == SHMTUNE_OK && node->count == 0)
        return shmt_yaml_refuse(node, err, "found no dimension, expected one "
                                "or more");
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++) {
        size_t d = 0;

        status = read_dimension(dispatch, node->keys[k], &d, err);
        if (status == SHMTUNE_OK)
            status = shmt_yaml_int(node->items[k], 1, INT32_MAX, &units[d],
                                   err);
    }
    return status;
}

static enum shmtune_status read_feature(const struct shmt_dispatch *dispatch,
                                        const struct shmt_yaml *node,
                                        struct shmt_dispatch_feature *out,
                                        struct shmt_error *err)
{
    const struct shmt_yaml *values[FEATURE_KEYS], *of;
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "a feature", err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(node, feature_keys, values, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "of", &of, err);
    if (status == SHMTUNE_OK)
        status = read_units(dispatch, of, out->of, err);
    if (status == SHMTUNE_OK && values[PER] != NULL)
        status = read_units(dispatch, values[PER], out->per, err);
    if (status == SHMTUNE_OK && values[MODULO] != NULL)
        status = shmt_yaml_int(values[MODULO], 2, INT32_MAX, &out->modulo,
                               err);
    return status;
}

static enum shmtune_status read_features(const struct reading *reading,
                                         const struct shmt_yaml *node,
                                         struct shmt_error *err)
{
    struct shmt_dispatch *const out = reading->dispatch;
    struct shmt_dispatch_feature *features;
    enum shmtune_status status =
        read_list(node, "features", 0, SHMT_DISPATCH_FEATURES, err);

    if (status != SHMTUNE_OK)
        return status;
    features = shmt_arena_alloc(reading->arena, node->count + 1,
                                sizeof *features);
    if (features == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++)
        status = read_feature(out, node->items[k], &features[k], err);
    out->features = features;
    out->feature_count = node->count;
    return status;
}

/* The dimensions by which a term is multiplied. */
static enum shmtune_status read_by(const struct shmt_dispatch *dispatch,
                                   const struct shmt_yaml *node, bool *by,
                                   struct shmt_error *err)
{
    enum shmtune_status status =
        read_list(node, "dimensions", 1, dispatch->dimension_count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++) {
        size_t d = 0;

        status = shmt_yaml_expect(node->items[k], SHMT_YAML_SCALAR,
                                  "a dimension", err);
        if (status == SHMTUNE_OK)
            status = read_dimension(dispatch, node->items[k], &d, err);
        if (status == SHMTUNE_OK && by[d])
            return shmt_yaml_refuse(node->items[k], err, "found %.64s twice",
                                    dispatch->names[d]);
        if (status == SHMTUNE_OK)
            by[d] = true;
    }
    return status;
}

static enum shmtune_status read_term(const struct shmt_dispatch *dispatch,
                                     const struct shmt_yaml *node,
                                     struct shmt_dispatch_term *out,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *values[TERM_KEYS], *of;
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "a term", err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(node, term_keys, values, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "of", &of, err);
    if (status == SHMTUNE_OK)
        status = read_units(dispatch, of, out->of, err);
    if (status == SHMTUNE_OK && values[ROUNDS] != NULL)
        status = shmt_yaml_int(values[ROUNDS], 2, INT32_MAX, &out->rounds,
                               err);
    if (status == SHMTUNE_OK && values[BY] != NULL)
        status = read_by(dispatch, values[BY], out->by, err);
    return status;
}

static enum shmtune_status read_terms(const struct reading *reading,
                                      const struct shmt_yaml *node,
                                      struct shmt_error *err)
{
    struct shmt_dispatch *const out = reading->dispatch;
    struct shmt_dispatch_term *terms;
    enum shmtune_status status =
        read_list(node, "terms", 0, SHMT_DISPATCH_TERMS, err);

    if (status != SHMTUNE_OK)
        return status;
    terms = shmt_arena_alloc(reading->arena, node->count + 1, sizeof *terms);
    if (terms == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++)
        status = read_term(out, node->items[k], &terms[k], err);
    out->terms = terms;
    out->term_count = node->count;
    return status;
}

static enum shmtune_status read_estimate(const struct shmt_dispatch *dispatch,
                                         const struct shmt_yaml *node,
                                         struct shmt_dispatch_estimate *out,
                                         struct shmt_error *err)
{
    const struct shmt_yaml *values[ESTIMATE_KEYS];
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "an estimate", err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(node, estimate_keys, values, err);
    for (int k = 0; status == SHMTUNE_OK && k < ESTIMATE_KEYS; k++)
        status = shmt_yaml_need(node, estimate_keys[k], &values[k], err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(values[START], 0, INT64_MAX, &out->start, err);
    if (status == SHMTUNE_OK)
        status = read_list(values[OF_TERMS], "terms", 0,
                           SHMT_DISPATCH_TERMS_OF_ONE, err);
    if (status == SHMTUNE_OK)
        status = read_list(values[EACH], "numbers", values[OF_TERMS]->count,
                           values[OF_TERMS]->count, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < values[EACH]->count; k++) {
        int64_t term = 0;

        status = shmt_yaml_int(values[OF_TERMS]->items[k], 0,
                               (int64_t)dispatch->term_count - 1, &term, err);
        if (status == SHMTUNE_OK)
            status = shmt_yaml_int(values[EACH]->items[k], 0, INT64_MAX,
                                   &out->each[k], err);
        out->terms[k] = (uint16_t)term;
    }
    if (status == SHMTUNE_OK)
        out->count = values[EACH]->count;
    return status;
}

static enum shmtune_status read_estimates(const struct reading *reading,
                                          const struct shmt_yaml *node,
                                          struct shmt_error *err)
{
    struct shmt_dispatch *const out = reading->dispatch;
    const size_t count = out->config_count;
    struct shmt_dispatch_estimate *const estimates =
        shmt_arena_alloc(reading->arena, count, sizeof *estimates);
    enum shmtune_status status =
        read_list(node, "estimates", count, count, err);

    if (estimates == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = read_estimate(out, node->items[k], &estimates[k], err);
    out->estimates = estimates;
    return status;
}

/* Terms are for estimates, and those need them. */
static enum shmtune_status read_all_estimates(const struct reading *reading,
                                              const struct shmt_yaml **values,
                                              struct shmt_error *err)
{
    enum shmtune_status status;

    if (values[TERMS] == NULL && values[ESTIMATES] == NULL)
        return SHMTUNE_OK;
    if (values[TERMS] == NULL || values[ESTIMATES] == NULL)
        return shmt_yaml_refuse(
            values[TERMS] == NULL ? values[ESTIMATES] : values[TERMS], err,
            "found %s, expected %s beside it",
            keys[values[TERMS] == NULL ? ESTIMATES : TERMS],
            keys[values[TERMS] == NULL ? TERMS : ESTIMATES]);
    status = read_terms(reading, values[TERMS], err);
    return status == SHMTUNE_OK
               ? read_estimates(reading, values[ESTIMATES], err) : status;
}

/* One for each rank of a leaf. */
static enum shmtune_status read_factors(struct reading *reading,
                                        const struct shmt_yaml *node,
                                        size_t count, struct shmt_error *err)
{
    const size_t first = reading->dispatch->rank_count - count;
    enum shmtune_status status =
        read_list(node, "factors", count, count, err);

    for (size_t r = 0; status == SHMTUNE_OK && r < count; r++) {
        int64_t factor = 0;

        status = shmt_yaml_int(node->items[r], 1, SHMT_DISPATCH_MOST_FACTOR,
                               &factor, err);
        reading->factors[first + r] = (uint16_t)factor;
    }
    return status;
}

static enum shmtune_status read_leaf(struct reading *reading, size_t k,
                                     const struct shmt_yaml *take,
                                     struct shmt_error *err)
{
    struct shmt_dispatch *const out = reading->dispatch;
    struct shmt_dispatch_node *const node = &reading->nodes[k];
    enum shmtune_status status =
        read_list(take, "ranks", 1, SHMT_DISPATCH_RANKS, err);

    if (status != SHMTUNE_OK)
        return status;
    *node = (struct shmt_dispatch_node){
        .feature = SHMT_DISPATCH_LEAF, .other = (uint16_t)take->count,
        .rank = (uint16_t)out->rank_count};
    for (size_t r = 0; status == SHMTUNE_OK && r < take->count; r++) {
        int64_t config = 0;

        status = shmt_yaml_int(take->items[r], 0,
                               (int64_t)out->config_count - 1, &config, err);
        reading->ranks[out->rank_count++] = (uint16_t)config;
    }
    return status;
}

/* Reads the subtree that begins at node *next, and counts on. */
static enum shmtune_status read_node(struct reading *reading, size_t *next,
                                     size_t depth, struct shmt_error *err)
{
    const struct shmt_dispatch *const out = reading->dispatch;
    const bool estimated = out->estimates != NULL;
    const size_t k = (*next)++;
    const struct shmt_yaml *item, *values[NODE_KEYS];
    int64_t feature = 0, other = 0;
    enum shmtune_status status;

    if (k >= reading->tree->count)
        return shmt_yaml_refuse(reading->tree, err, "found %zu nodes, "
                                "expected more: the tree does not end",
                                reading->tree->count);
    item = reading->tree->items[k];
    status = shmt_yaml_expect(item, SHMT_YAML_MAPPING, "a node", err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(item, node_keys, values, err);
    if (status != SHMTUNE_OK)
        return status;
    if (values[TAKE] != NULL && (values[FACTORS] != NULL) == estimated &&
        item->count == (estimated ? 2 : 1)) {
        status = read_leaf(reading, k, values[TAKE], err);
        return status == SHMTUNE_OK && estimated
                   ? read_factors(reading, values[FACTORS],
                                  values[TAKE]->count, err) : status;
    }
    if (values[FEATURE] == NULL || values[BELOW] == NULL ||
        values[ELSE] == NULL || item->count != 3)
        return shmt_yaml_expected(
            item, err, estimated
                ? "{feature: K, below: N, else: NODE} or {take: [K, ...], "
                  "factors: [N, ...]}, as there are estimates"
                : "{feature: K, below: N, else: NODE} or {take: [K, ...]}");
    if (depth == SHMT_DISPATCH_DEPTH)
        return shmt_yaml_refuse(item, err, "found a tree that is deeper than "
                                "%d comparisons", SHMT_DISPATCH_DEPTH);
    status = shmt_yaml_int(values[FEATURE], 0,
                           (int64_t)out->feature_count - 1, &feature, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(values[BELOW], 0, INT64_MAX,
                               &reading->nodes[k].below, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(values[ELSE], 0, SHMT_DISPATCH_NODES, &other,
                               err);
    if (status == SHMTUNE_OK)
        status = read_node(reading, next, depth + 1, err);
    if (status != SHMTUNE_OK)
        return status;
    if ((size_t)other != *next)
        return shmt_yaml_refuse(values[ELSE], err, "found node %lld, expected "
                                "%zu, which stands behind what is below",
                                (long long)other, *next);
    reading->nodes[k].feature = (uint16_t)feature;
    reading->nodes[k].other = (uint16_t)other;
    return read_node(reading, next, depth + 1, err);
}

static enum shmtune_status read_tree(struct reading *reading,
                                     struct shmt_error *err)
{
    struct shmt_dispatch *const out = reading->dispatch;
    const struct shmt_yaml *const tree = reading->tree;
    size_t next = 0;
    enum shmtune_status status =
        read_list(tree, "nodes", 1, SHMT_DISPATCH_NODES, err);

    if (status != SHMTUNE_OK)
        return status;
    reading->nodes = shmt_arena_alloc(reading->arena, tree->count,
                                      sizeof *reading->nodes);
    reading->ranks = shmt_arena_alloc(
        reading->arena, tree->count * SHMT_DISPATCH_RANKS,
        sizeof *reading->ranks);
    reading->factors = shmt_arena_alloc(
        reading->arena, tree->count * SHMT_DISPATCH_RANKS,
        sizeof *reading->factors);
    if (reading->nodes == NULL || reading->ranks == NULL ||
        reading->factors == NULL)
        return shmt_error_memory(err);
    status = read_node(reading, &next, 0, err);
    if (status == SHMTUNE_OK && next < tree->count)
        return shmt_yaml_refuse(tree->items[next], err, "found a node that "
                                "no comparison leads to");
    out->nodes = reading->nodes;
    out->node_count = tree->count;
    out->ranks = reading->ranks;
    out->factors = out->estimates == NULL ? NULL : reading->factors;
    return status;
}

enum shmtune_status shmt_dispatch_read(const struct shmt_tuning *tuning,
                                       const struct shmt_yaml *node,
                                       const struct shmt_dispatch **out,
                                       struct shmt_error *err)
{
    struct reading reading = {.arena = tuning->arena};
    const struct shmt_yaml *values[KEYS];
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "a dispatch", err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(node, keys, values, err);
    if (status == SHMTUNE_OK && tuning->tuned_count == 0)
        return shmt_yaml_refuse(node, err, "found a dispatch, expected tuned "
                                "sizes beside it");
    for (int k = RANGE; status == SHMTUNE_OK && k < KEYS; k++)
        status = shmt_yaml_need(node, keys[k], &values[k], err);
    if (status != SHMTUNE_OK)
        return status;
    reading.like = tuning->tuned[0];
    reading.tree = values[TREE];
    reading.dispatch =
        shmt_arena_alloc(reading.arena, 1, sizeof *reading.dispatch);
    if (reading.dispatch == NULL)
        return shmt_error_memory(err);
    if (values[SEED] != NULL)
        status = shmt_yaml_count(values[SEED], &reading.dispatch->seed, err);
    if (status == SHMTUNE_OK && values[SIZES] != NULL)
        status = shmt_yaml_count(values[SIZES], &reading.dispatch->sizes,
                                 err);
    if (status == SHMTUNE_OK)
        status = read_figures(values[HELD_OUT], &reading.dispatch->held_out,
                              err);
    if (status == SHMTUNE_OK)
        status = read_figures(values[NEAREST], &reading.dispatch->nearest,
                              err);
    if (status == SHMTUNE_OK)
        status = read_range(&reading, values[RANGE], err);
    if (status == SHMTUNE_OK)
        status = read_configs(&reading, values[CONFIGURATIONS], err);
    if (status == SHMTUNE_OK)
        status = read_features(&reading, values[FEATURES], err);
    if (status == SHMTUNE_OK)
        status = read_all_estimates(&reading, values, err);
    if (status == SHMTUNE_OK)
        status = read_tree(&reading, err);
    *out = reading.dispatch;
    return status;
}
