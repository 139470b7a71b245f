/* SPDX-License-Identifier: MIT */
/*
 * dispatch: chooses by the tree that a tuning has learnt, as tree.c and
 * prove.c have made it ready.  A selection is a few comparisons of integers,
 * and of what may be wrong with the configuration here what could not be
 * decided before.
 *
 * Called by select.c.  Allocates nothing but the trace.
 */
#include "runtime/check.h"
#include "runtime/proven.h"

/* A problem, and the numbers that have been made of it. */
struct asked {
    const struct shmt_runtime_dispatch *dispatch;
    const int64_t *problem;
    uint64_t numbers[SHMT_RUNTIME_NUMBERS];
};

static inline void make_step(struct asked *asked, size_t number)
{
    const struct shmt_runtime_step *const step =
        &asked->dispatch->tree.steps[number];

    asked->numbers[number] = 1 + shmt_runtime_divide(
        asked->numbers[step->a] * asked->numbers[step->b], step->inverse);
}

static inline void begin_asking(struct asked *asked,
                                const struct shmt_runtime_dispatch *dispatch,
                                const int64_t *problem)
{
    asked->dispatch = dispatch;
    asked->problem = problem;
    asked->numbers[0] = 1;
    for (size_t d = 0; d < dispatch->dimensions; d++)
        asked->numbers[1 + d] = (uint64_t)problem[d];
    for (size_t k = SHMT_RUNTIME_FIRST; k < dispatch->tree.shared; k++)
        make_step(asked, k);
}

/* Whether the problem is below the number of a node. */
static inline bool is_below(const struct asked *asked,
                            const struct shmt_runtime_node *node)
{
    const struct shmt_runtime_feature *feature;
    uint64_t of = asked->numbers[node->of[0]];

    for (size_t k = 1; k < SHMT_RUNTIME_FACTORS; k++)
        of *= asked->numbers[node->of[k]];
    if (node->feature != SHMT_RUNTIME_PRODUCT) {
        feature = &asked->dispatch->tree.features[node->feature];
        if (feature->plain != NULL)
            return shmt_dispatch_value(feature->plain, asked->problem,
                                       asked->dispatch->dimensions) <
                   node->below;
        of -= feature->modulo * shmt_runtime_divide(of + 1, feature->inverse);
    }
    return of < (uint64_t)node->below * asked->numbers[node->per];
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

/* The ranks of a leaf that have not been refused, a bit for each, and about how
 * long they take, where that is estimated. */
struct ranking {
    const struct shmt_runtime_tree *tree;
    const struct shmt_runtime_leaf *leaf;
    unsigned left;
    int64_t estimates[SHMT_DISPATCH_RANKS];
};

/* Makes the numbers that a leaf uses, and the estimates of them. */
static void estimate(struct ranking *ranking, struct asked *asked)
{
    const struct shmt_runtime_tree *const tree = ranking->tree;
    const struct shmt_runtime_leaf *const leaf = ranking->leaf;
    const uint8_t *const used = leaf->used + leaf->plain_count;

    for (size_t k = 0; k < leaf->plain_count; k++)
        asked->numbers[leaf->used[k]] = (uint64_t)shmt_dispatch_term_value(
            tree->steps[leaf->used[k]].plain, asked->problem,
            asked->dispatch->dimensions);
    for (size_t k = 0; k < leaf->step_count; k++)
        make_step(asked, used[k]);
    for (size_t r = 0; r < leaf->rank_count; r++) {
        const struct shmt_dispatch_estimate *const one =
            &tree->estimates[tree->ranks[leaf->rank + r]];
        int64_t sum = one->start;

        for (size_t k = 0; k < one->count; k++)
            sum = shmt_dispatch_add(sum, one->each[k],
                                    (int64_t)asked->numbers[one->terms[k]]);
        ranking->estimates[r] = sum;
    }
}

/* The best of those left: the first, or by the estimates. */
static size_t next_rank(const struct ranking *ranking)
{
    const struct shmt_runtime_tree *const tree = ranking->tree;
    size_t best = (size_t)__builtin_ctz(ranking->left);
    int64_t least = INT64_MAX, least_score = INT64_MAX;

    if (tree->estimates == NULL ||
        (ranking->left & (ranking->left - 1)) == 0)
        return best;
    for (unsigned left = ranking->left; left != 0; left &= left - 1) {
        const size_t r = (size_t)__builtin_ctz(left);

        least = ranking->estimates[r] < least ? ranking->estimates[r] : least;
    }
    for (unsigned left = ranking->left; left != 0; left &= left - 1) {
        const size_t r = (size_t)__builtin_ctz(left);
        const int64_t score = shmt_dispatch_score(
            ranking->estimates[r], least,
            tree->factors[ranking->leaf->rank + r]);

        best = score < least_score ? r : best;
        least_score = score < least_score ? score : least_score;
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
    const struct shmt_runtime_tree *const tree = &dispatch->tree;
    const struct shmt_runtime_node *node = tree->nodes;
    const size_t number_of_case = case_of(dispatch, request->problem);
    struct asked asked;
    struct ranking ranking;

    begin_asking(&asked, dispatch, request->problem);
    while (node->feature != SHMT_DISPATCH_LEAF)
        node = is_below(&asked, node) ? node + 1 : tree->nodes + node->other;
    ranking.tree = tree;
    ranking.leaf = &tree->leaves[node->other];
    ranking.left = (1U << ranking.leaf->rank_count) - 1;
    if (tree->estimates != NULL && ranking.leaf->rank_count > 1)
        estimate(&ranking, &asked);
    while (ranking.left != 0) {
        const size_t r = next_rank(&ranking);
        const size_t number = tree->ranks[ranking.leaf->rank + r];
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
