/* SPDX-License-Identifier: MIT */
/*
 * dispatch: what the numbers of a dispatch are, how its tree is walked, and
 * how it is written: a line for each configuration, feature and node, so that
 * it can be read by eye.  Called by learn/, runtime/ and command/.
 */
#include "record/dispatch.h"

#include <inttypes.h>

#include "record/tuning_order.h"
#include "yaml/yaml.h"

static int64_t product_of(const int64_t *units, const int64_t *problem,
                          size_t dimensions)
{
    int64_t product = 1, count;

    for (size_t d = 0; d < dimensions; d++) {
        if (units[d] == 0)
            continue;
        count = problem[d];
        if (units[d] > 1)
            count = count / units[d] + (count % units[d] != 0);
        if (__builtin_mul_overflow(product, count, &product))
            return INT64_MAX;
    }
    return product;
}

int64_t shmt_dispatch_value(const struct shmt_dispatch_feature *feature,
                            const int64_t *problem, size_t dimensions)
{
    const int64_t value = product_of(feature->of, problem, dimensions);
    const int64_t per = product_of(feature->per, problem, dimensions);
    const int64_t share = per > 1 ? value / per : value;

    return feature->modulo > 0 ? share % feature->modulo : share;
}

int64_t shmt_dispatch_term_value(const struct shmt_dispatch_term *term,
                                 const int64_t *problem, size_t dimensions)
{
    int64_t value = product_of(term->of, problem, dimensions);

    if (term->rounds > 0)
        value = value / term->rounds + (value % term->rounds != 0);
    for (size_t d = 0; d < dimensions; d++)
        if (term->by[d])
            value = shmt_dispatch_add(0, value, problem[d]);
    return value;
}

const struct shmt_dispatch_node *
shmt_dispatch_walk(const struct shmt_dispatch *dispatch,
                   const int64_t *problem)
{
    const struct shmt_dispatch_node *node = dispatch->nodes;

    while (node->feature != SHMT_DISPATCH_LEAF)
        node = shmt_dispatch_value(&dispatch->features[node->feature],
                                   problem, dispatch->dimension_count) <
                       node->below
                   ? node + 1 : &dispatch->nodes[node->other];
    return node;
}

bool shmt_dispatch_covers(const struct shmt_dispatch *dispatch,
                          const int64_t *problem)
{
    for (size_t d = 0; d < dispatch->dimension_count; d++)
        if (problem[d] < dispatch->least[d] || problem[d] > dispatch->most[d])
            return false;
    return true;
}

static void describe_product(const struct shmt_dispatch *dispatch,
                             const int64_t *units, struct shmt_text *text)
{
    const char *before = "";

    for (size_t d = 0; d < dispatch->dimension_count; d++) {
        if (units[d] == 0)
            continue;
        if (units[d] > 1)
            shmt_text_addf(text, "%sceildiv(%s,%" PRId64 ")", before,
                           dispatch->names[d], units[d]);
        else
            shmt_text_addf(text, "%s%s", before, dispatch->names[d]);
        before = "*";
    }
}

static size_t factors_of(const struct shmt_dispatch *dispatch,
                         const int64_t *units)
{
    size_t count = 0;

    for (size_t d = 0; d < dispatch->dimension_count; d++)
        count += units[d] != 0;
    return count;
}

void shmt_dispatch_describe(const struct shmt_dispatch *dispatch, size_t k,
                            struct shmt_text *text)
{
    const struct shmt_dispatch_feature *const feature =
        &dispatch->features[k];
    const size_t below = factors_of(dispatch, feature->per);

    describe_product(dispatch, feature->of, text);
    if (below > 0) {
        shmt_text_add(text, below > 1 ? "/(" : "/");
        describe_product(dispatch, feature->per, text);
        shmt_text_add(text, below > 1 ? ")" : "");
    }
    if (feature->modulo > 0)
        shmt_text_addf(text, " mod %" PRId64, feature->modulo);
}

void shmt_dispatch_describe_term(const struct shmt_dispatch *dispatch,
                                 size_t k, struct shmt_text *text)
{
    const struct shmt_dispatch_term *const term = &dispatch->terms[k];
    const char *before = "";

    if (term->rounds > 0)
        shmt_text_add(text, "ceildiv(");
    describe_product(dispatch, term->of, text);
    if (term->rounds > 0)
        shmt_text_addf(text, ",%" PRId64 ")", term->rounds);
    before = term->rounds > 0 || factors_of(dispatch, term->of) > 0 ? "*" : "";
    for (size_t d = 0; d < dispatch->dimension_count; d++) {
        if (!term->by[d])
            continue;
        shmt_text_addf(text, "%s%s", before, dispatch->names[d]);
        before = "*";
    }
}

/* -- writing ------------------------------------------------------------- */

static void add_units(const struct shmt_dispatch *dispatch,
                      const int64_t *units, struct shmt_text *text)
{
    const char *before = "";

    shmt_text_add(text, "{");
    for (size_t d = 0; d < dispatch->dimension_count; d++) {
        if (units[d] == 0)
            continue;
        shmt_text_add(text, before);
        shmt_yaml_add_string(text, dispatch->names[d]);
        shmt_text_addf(text, ": %" PRId64, units[d]);
        before = ", ";
    }
    shmt_text_add(text, "}");
}

static void add_feature(const struct shmt_dispatch *dispatch, size_t k,
                        struct shmt_text *text)
{
    const struct shmt_dispatch_feature *const feature =
        &dispatch->features[k];

    shmt_text_add(text, "  - {of: ");
    add_units(dispatch, feature->of, text);
    if (factors_of(dispatch, feature->per) > 0) {
        shmt_text_add(text, ", per: ");
        add_units(dispatch, feature->per, text);
    }
    if (feature->modulo > 0)
        shmt_text_addf(text, ", modulo: %" PRId64, feature->modulo);
    shmt_text_addf(text, "}   # %zu: ", k);
    shmt_dispatch_describe(dispatch, k, text);
    shmt_text_add(text, "\n");
}

static void add_term(const struct shmt_dispatch *dispatch, size_t k,
                     struct shmt_text *text)
{
    const struct shmt_dispatch_term *const term = &dispatch->terms[k];
    const char *before = ", by: [";

    shmt_text_add(text, "  - {of: ");
    add_units(dispatch, term->of, text);
    if (term->rounds > 0)
        shmt_text_addf(text, ", rounds: %" PRId64, term->rounds);
    for (size_t d = 0; d < dispatch->dimension_count; d++) {
        if (!term->by[d])
            continue;
        shmt_text_add(text, before);
        shmt_yaml_add_string(text, dispatch->names[d]);
        before = ", ";
    }
    shmt_text_addf(text, "%s}   # %zu: ", before[2] == 'b' ? "" : "]", k);
    shmt_dispatch_describe_term(dispatch, k, text);
    shmt_text_add(text, "\n");
}

static void add_list(const uint16_t *list, size_t count,
                     struct shmt_text *text)
{
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(text, "%s%u", k > 0 ? ", " : "", list[k]);
}

static void add_estimate(const struct shmt_dispatch_estimate *estimate,
                         struct shmt_text *text)
{
    shmt_text_addf(text, "  - {start: %" PRId64 ", terms: [", estimate->start);
    add_list(estimate->terms, estimate->count, text);
    shmt_text_add(text, "], each: [");
    for (size_t k = 0; k < estimate->count; k++)
        shmt_text_addf(text, "%s%" PRId64, k > 0 ? ", " : "",
                       estimate->each[k]);
    shmt_text_add(text, "]}\n");
}

static void add_estimates(const struct shmt_dispatch *dispatch,
                          struct shmt_text *text)
{
    shmt_text_add(text, dispatch->term_count == 0 ? "  terms: []\n"
                                                  : "  terms:\n");
    for (size_t k = 0; k < dispatch->term_count; k++)
        add_term(dispatch, k, text);
    shmt_text_add(text, "  estimates:\n");
    for (size_t k = 0; k < dispatch->config_count; k++)
        add_estimate(&dispatch->estimates[k], text);
}

static void add_node(const struct shmt_dispatch *dispatch, size_t k,
                     struct shmt_text *text)
{
    const struct shmt_dispatch_node *const node = &dispatch->nodes[k];

    if (node->feature != SHMT_DISPATCH_LEAF) {
        shmt_text_addf(text, "  - {feature: %u, below: %" PRId64
                       ", else: %u}   # %zu: ", node->feature, node->below,
                       node->other, k);
        shmt_dispatch_describe(dispatch, node->feature, text);
        shmt_text_addf(text, " < %" PRId64 "\n", node->below);
        return;
    }
    shmt_text_add(text, "  - {take: [");
    add_list(dispatch->ranks + node->rank, node->other, text);
    if (dispatch->estimates != NULL) {
        shmt_text_add(text, "], factors: [");
        add_list(dispatch->factors + node->rank, node->other, text);
    }
    shmt_text_addf(text, "]}   # %zu\n", k);
}

static void add_figures(const char *key,
                        const struct shmt_dispatch_figures *figures,
                        struct shmt_text *text)
{
    shmt_text_addf(text, "  %s: [%" PRId64 ", %" PRId64 "]\n", key,
                   figures->mean, figures->low);
}

void shmt_dispatch_write(const struct shmt_dispatch *dispatch,
                         struct shmt_text *text)
{
    const char *before = "  range: {";

    shmt_text_addf(text, "  seed: %" PRIu64 "\n  sizes: %" PRIu64 "\n",
                   dispatch->seed, dispatch->sizes);
    add_figures("held_out", &dispatch->held_out, text);
    add_figures("nearest", &dispatch->nearest, text);
    for (size_t d = 0; d < dispatch->dimension_count; d++) {
        shmt_text_add(text, before);
        shmt_yaml_add_string(text, dispatch->names[d]);
        shmt_text_addf(text, ": [%" PRId64 ", %" PRId64 "]",
                       dispatch->least[d], dispatch->most[d]);
        before = ", ";
    }
    shmt_text_add(text, "}\n  configurations:\n");
    for (size_t k = 0; k < dispatch->config_count; k++) {
        shmt_text_add(text, "  - ");
        shmt_tuning_add_settings(text, dispatch->configs[k],
                                 dispatch->setting_count,
                                 k == 0 ? NULL : dispatch->configs[0]);
    }
    shmt_text_add(text, dispatch->feature_count == 0 ? "  features: []\n"
                                                     : "  features:\n");
    for (size_t k = 0; k < dispatch->feature_count; k++)
        add_feature(dispatch, k, text);
    if (dispatch->estimates != NULL)
        add_estimates(dispatch, text);
    shmt_text_add(text, "  tree:\n");
    for (size_t k = 0; k < dispatch->node_count; k++)
        add_node(dispatch, k, text);
}
