/* SPDX-License-Identifier: MIT */
/*
 * dispatch: chooses by the tree that a tuning has learnt, as prove.c has made
 * it ready.  A selection is a few comparisons of integers, and of what may be
 * wrong with the configuration here what could not be decided before.
 *
 * Called by select.c.  Allocates nothing but the trace.
 */
#include <string.h>

#include "runtime/check.h"
#include "runtime/proven.h"

static inline int64_t product_of(const struct shmt_runtime_term *terms,
                                 size_t count, const int64_t *problem)
{
    int64_t product = 1;

    for (size_t k = 0; k < count; k++) {
        const int64_t blocks = shmt_runtime_divide(
            problem[terms[k].dimension], terms[k].unit);

        if (__builtin_mul_overflow(product, blocks, &product))
            return INT64_MAX;
    }
    return product;
}

/* The same as shmt_dispatch_value. */
static inline int64_t value_of(const struct shmt_runtime_dispatch *dispatch,
                               size_t number, const int64_t *problem)
{
    const struct shmt_runtime_feature *const feature =
        &dispatch->features[number];
    const struct shmt_runtime_term *const terms =
        dispatch->terms + feature->first;
    int64_t value = product_of(terms, feature->of, problem);

    if (feature->per > 0) {
        const int64_t per =
            product_of(terms + feature->of, feature->per, problem);

        value = per > 1 ? value / per : value;
    }
    return feature->modulo > 0 ? value % feature->modulo : value;
}

/* The number of the case that a problem in the range is. */
static inline size_t case_of(const struct shmt_runtime_dispatch *dispatch,
                             const int64_t *problem)
{
    size_t number = 0;

    for (size_t k = 0; k < dispatch->few.count; k++) {
        const size_t d = dispatch->few.dimensions[k];

        number = number * (size_t)(dispatch->most[d] - dispatch->least[d] + 1) +
                 (size_t)(problem[d] - dispatch->least[d]);
    }
    return number;
}

static bool covers(const struct shmt_runtime_dispatch *dispatch,
                   const int64_t *problem)
{
    for (size_t d = 0; d < dispatch->dimensions; d++)
        if (problem[d] < dispatch->least[d] ||
            problem[d] > dispatch->most[d])
            return false;
    return true;
}

/* All that may be wrong with it; `err` may be NULL. */
static bool check_whole(const struct shmt_runtime_request *request,
                        const struct shmt_runtime_tuning *tuning,
                        const shmt_config *values, struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches candidate = {
        .device = &tuning->device, .evaluated = &evaluated};

    shmt_kernel_evaluate(request->kernel->spec, request->problem, values,
                         &evaluated);
    return shmt_runtime_check(&candidate, err) == SHMTUNE_OK;
}

/* What is left of its constraints, and its extents. */
static bool holds_here(const struct shmt_runtime_request *request,
                       const struct shmt_runtime_option *option)
{
    struct shmt_value sizes[SHMT_KERNEL_DIMENSIONS];
    struct shmt_kernel_evaluated evaluated;
    struct shmt_expr_evaluation *const evaluation = &evaluated.evaluation;
    bool holds = true;

    if (option->full) {
        shmt_kernel_evaluate(request->kernel->spec, request->problem,
                             option->values, &evaluated);
    } else {
        shmt_runtime_put_sizes(request->problem,
                               request->kernel->spec->dimension_count, sizes);
        shmt_expr_begin(evaluation, sizes);
    }
    for (size_t k = 0; holds && k < option->count; k++)
        holds = shmt_runtime_is_true(option->conditions[k], evaluation);
    for (size_t k = 0; holds && k < option->extent_count; k++)
        holds = shmt_runtime_is_inside(&option->extents[k], evaluation);
    return holds;
}

static bool is_between(const struct shmt_runtime_option *option,
                       const int64_t *problem, size_t dimensions)
{
    for (size_t d = 0; d < dimensions; d++)
        if (problem[d] < option->least[d] || problem[d] > option->most[d])
            return false;
    return true;
}

/* `number` is that of the case. */
static bool may_run(const struct shmt_runtime_request *request,
                    const struct shmt_runtime_tuning *tuning,
                    const struct shmt_runtime_option *option, size_t number)
{
    return (option->cases >> number & 1) != 0 &&
           (!option->narrowed ||
            is_between(option, request->problem,
                       request->kernel->spec->dimension_count)) &&
           (option->count + option->extent_count == 0 ||
            holds_here(request, option)) &&
           (!option->whole ||
            check_whole(request, tuning, option->values, NULL));
}

/* What has been computed for a problem: terms that several use. */
struct known {
    uint64_t set[(SHMT_DISPATCH_TERMS + 63) / 64];
    int64_t values[SHMT_DISPATCH_TERMS];
};

/* The same as shmt_dispatch_term_value. */
static inline int64_t part_of(const struct shmt_runtime_dispatch *dispatch,
                              size_t number, const int64_t *problem)
{
    const struct shmt_runtime_part *const part = &dispatch->parts[number];
    int64_t value = shmt_runtime_divide(
        product_of(dispatch->terms + part->first, part->of, problem),
        part->rounds);

    for (size_t k = 0; k < part->by_count; k++)
        value = shmt_dispatch_add(0, value, problem[part->by[k]]);
    return value;
}

static inline int64_t estimate_of(const struct shmt_runtime_dispatch *dispatch,
                                  size_t config, const int64_t *problem,
                                  struct known *known)
{
    const struct shmt_dispatch_estimate *const one =
        &dispatch->estimates[config];
    int64_t sum = one->start;

    for (size_t k = 0; k < one->count; k++) {
        const size_t term = one->terms[k];
        const uint64_t bit = UINT64_C(1) << term % 64;

        if ((known->set[term / 64] & bit) == 0) {
            known->set[term / 64] |= bit;
            known->values[term] = part_of(dispatch, term, problem);
        }
        sum = shmt_dispatch_add(sum, one->each[k], known->values[term]);
    }
    return sum;
}

/* The ranks of a leaf that have not been refused, a bit for each, and about how
 * long they take, where that is estimated. */
struct ranking {
    const struct shmt_runtime_dispatch *dispatch;
    const struct shmt_dispatch_node *leaf;
    unsigned left;
    int64_t estimates[SHMT_DISPATCH_RANKS];
};

static void begin_ranking(struct ranking *ranking, const int64_t *problem)
{
    const struct shmt_runtime_dispatch *const dispatch = ranking->dispatch;
    const uint16_t *const ranks = dispatch->ranks + ranking->leaf->rank;
    struct known known;

    ranking->left = (1U << ranking->leaf->other) - 1;
    if (dispatch->estimates == NULL || ranking->leaf->other == 1)
        return;
    memset(known.set, 0, sizeof known.set);
    for (size_t r = 0; r < ranking->leaf->other; r++)
        ranking->estimates[r] =
            estimate_of(dispatch, ranks[r], problem, &known);
}

/* The best of those left: the first, or by the estimates. */
static size_t next_rank(const struct ranking *ranking)
{
    const struct shmt_runtime_dispatch *const dispatch = ranking->dispatch;
    size_t best = (size_t)__builtin_ctz(ranking->left);
    int64_t least = INT64_MAX, least_score = INT64_MAX;

    if (dispatch->estimates == NULL ||
        (ranking->left & (ranking->left - 1)) == 0)
        return best;
    for (size_t r = best; r < ranking->leaf->other; r++)
        if ((ranking->left >> r & 1) != 0 && ranking->estimates[r] < least)
            least = ranking->estimates[r];
    for (size_t r = best; r < ranking->leaf->other; r++) {
        const int64_t score = shmt_dispatch_score(
            ranking->estimates[r], least,
            dispatch->factors[ranking->leaf->rank + r]);

        if ((ranking->left >> r & 1) != 0 && score < least_score) {
            least_score = score;
            best = r;
        }
    }
    return best;
}

static void trace(const struct shmt_runtime_request *request,
                  const struct shmt_runtime_tuning *tuning, size_t number,
                  const struct shmt_runtime_option *option, bool taken)
{
    struct shmt_error err = {.text = "it does not run here"};

    shmt_text_addf(request->trace, "%s: learnt for such problems, "
                   "configuration %zu of the dispatch: ", tuning->file,
                   number);
    if (!taken)
        check_whole(request, tuning, option->values, &err);
    shmt_text_addf(request->trace, "%s\n", taken ? "taken" : err.text);
}

static const shmt_config *choose(const struct shmt_runtime_request *request,
                                 const struct shmt_runtime_tuning *tuning)
{
    const struct shmt_runtime_dispatch *const dispatch = tuning->dispatch;
    const struct shmt_dispatch_node *node = dispatch->nodes;
    const size_t number_of_case = case_of(dispatch, request->problem);
    struct ranking ranking;

    while (node->feature != SHMT_DISPATCH_LEAF)
        node = value_of(dispatch, node->feature, request->problem) <
                       node->below
                   ? node + 1 : dispatch->nodes + node->other;
    ranking.dispatch = dispatch;
    ranking.leaf = node;
    begin_ranking(&ranking, request->problem);
    while (ranking.left != 0) {
        const size_t r = next_rank(&ranking);
        const size_t number = dispatch->ranks[node->rank + r];
        const struct shmt_runtime_option *const option =
            &dispatch->options[number];
        const bool taken =
            may_run(request, tuning, option, number_of_case);

        if (request->trace != NULL)
            trace(request, tuning, number, option, taken);
        if (taken)
            return option->values;
        ranking.left &= ~(1U << r);
    }
    return NULL;
}

const shmt_config *
shmt_runtime_dispatch_find(const struct shmt_runtime_request *request,
                           const struct shmt_runtime_tuning **tuning)
{
    const struct shmtune_kernel *const kernel = request->kernel;

    for (size_t k = 0; k < kernel->tuning_count; k++) {
        const struct shmt_runtime_tuning *const one = &kernel->tunings[k];

        if (one->dispatch == NULL ||
            !covers(one->dispatch, request->problem) ||
            !shmt_device_matches(&one->device, request->device))
            continue;
        *tuning = one;
        return choose(request, one);
    }
    return NULL;
}
