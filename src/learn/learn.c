/* SPDX-License-Identifier: MIT */
/*
 * learn: from a table of times to a dispatch.  A forest for each configuration
 * says what it loses where nobody measured it: at some of the sizes, and at
 * many more between them.  One tree is grown on all of them: it comes near to
 * what the forests reach (born-again trees, after Breiman and Shang).  How far
 * it is grown is chosen by cross-validation: the sizes are dealt into parts,
 * and each part is judged by a tree of forests that know nothing of it.  The
 * same gives the figures that decide whether the tree beats the rule of the
 * nearest size, and whether estimates (estimate.h) are worth their time: then
 * forests and tree learn what those leave, as a model tree does (after
 * Quinlan), and a leaf chooses by both.  Called by command/.
 */
#include "learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/make.h"
#include "learn/portfolio.h"

enum {
    PARTS = 8,
    BETWEEN = 8000, JUDGING = 2000   /* so many of them while judging, which
                                       says a little less than is reached */
};
/* How far a tree is grown: what each comparison has to bring, over BETWEEN
 * sizes, of which the best is chosen; without estimates, and then with. */
static const double gains[] = {0.1, 0.5, 2, 8};
enum { GAINS = sizeof gains / sizeof gains[0], WAYS = 2 * GAINS };

_Static_assert((int)SHMT_LEARN_PORTFOLIO <= (int)SHMT_DISPATCH_CONFIGS,
               "a dispatch has room for all that are looked at");

/* At each size estimates have to lose so much less: without them a selection
 * is faster, and its data less. */
static const double worth_estimates = 5e-3;

/* How far behind the least comparisons tell configurations apart, where there
 * are no estimates: what is not chosen anyway is to decide none. */
static const double most_beside = 0.15;

enum {
    TREES = 60, TREES_JUDGING = 30,   /* of a forest, and while judging */
    MEASURED = 4                   /* sizes between, which forests smooth, for
                                      which a size counts that was measured */
};

/* Everything that is allocated while learning. */
struct learning {
    const struct shmt_learn_table *table;
    uint64_t seed;
    const volatile sig_atomic_t *stop;     /* as of a run */
    size_t count;                  /* sizes that are done */
    const struct shmt_learn_size **sizes;
    size_t configs;                /* that are looked at: those that the */
    size_t column[SHMT_LEARN_PORTFOLIO];   /* table has at these places */
    double *share;                 /* [count][configs]: best / time */
    double *fair;                  /* the same, for judging */
    /* Of the sizes, and of BETWEEN others. */
    double *loss;                  /* [][configs]; of the others as forests
                                      say */
    /* As in the field; what is not behind is not used. */
    double *rest, *behind;
    double *said;                  /* [][configs]: what forests say */
    bool *runs;                    /* [][configs]: may it run there? */
    bool *measured;                /* [][configs]: was it there, and ran? */
    int64_t (*problems)[SHMT_KERNEL_DIMENSIONS];
    struct shmt_learn_estimate *estimates;   /* [configs] */
    const struct shmt_learn_size **known;    /* what they are fitted to */
    int64_t *values;               /* [features, and own numbers][] */
    uint32_t *sorted;              /* [features][] */
    struct shmt_dispatch_feature *features;
    size_t *order, *part;          /* [count] */
    double *judged;                /* [count] */
    struct shmt_learn_tree *tree;
    size_t between;                /* of BETWEEN, trees are grown on these */
    struct shmt_learn_field field;
};

/* By the sizes, so that the order in which they were measured or read decides
 * nothing. */
static int compare_sizes(const void *a, const void *b)
{
    const struct shmt_learn_size *const x =
        *(const struct shmt_learn_size *const *)a;
    const struct shmt_learn_size *const y =
        *(const struct shmt_learn_size *const *)b;

    for (size_t d = 0; d < SHMT_KERNEL_DIMENSIONS; d++)
        if (x->problem[d] != y->problem[d])
            return x->problem[d] < y->problem[d] ? -1 : 1;
    return 0;
}

struct shmt_learn_figures shmt_learn_figures_of(double *shares, size_t count)
{
    struct shmt_learn_figures out = {.count = count};

    if (count == 0)
        return out;
    qsort(shares, count, sizeof *shares, shmt_array_compare_doubles);
    for (size_t k = 0; k < count; k++)
        out.mean += shares[k] / (double)count;
    out.low = shares[(count - 1) / 100];
    return out;
}

static bool allocate(struct learning *learning)
{
    const size_t count = learning->count + BETWEEN;
    const size_t cells = count * SHMT_LEARN_PORTFOLIO;

    learning->share = calloc(cells, sizeof *learning->share);
    learning->fair = calloc(cells, sizeof *learning->fair);
    learning->loss = calloc(cells, sizeof *learning->loss);
    learning->rest = calloc(cells, sizeof *learning->rest);
    learning->behind = calloc(cells, sizeof *learning->behind);
    learning->said = calloc(cells, sizeof *learning->said);
    learning->runs = calloc(cells, sizeof *learning->runs);
    learning->measured = calloc(cells, sizeof *learning->measured);
    learning->problems = calloc(count, sizeof *learning->problems);
    learning->estimates =
        calloc(SHMT_LEARN_PORTFOLIO, sizeof *learning->estimates);
    learning->known = calloc(count, sizeof *learning->known);
    learning->features =
        calloc(SHMT_LEARN_FEATURES, sizeof *learning->features);
    learning->values = calloc(
        (SHMT_LEARN_FEATURES + SHMT_LEARN_OWN * SHMT_LEARN_PORTFOLIO) * count,
        sizeof *learning->values);
    learning->sorted = calloc(SHMT_LEARN_FEATURES * count,
                              sizeof *learning->sorted);
    learning->order = calloc(MEASURED * count, sizeof *learning->order);
    learning->part = calloc(count, sizeof *learning->part);
    learning->judged = calloc(WAYS * count, sizeof *learning->judged);
    learning->tree = calloc(1, sizeof *learning->tree);
    return learning->share != NULL && learning->fair != NULL &&
           learning->loss != NULL && learning->rest != NULL &&
           learning->behind != NULL && learning->said != NULL &&
           learning->runs != NULL && learning->measured != NULL &&
           learning->problems != NULL && learning->estimates != NULL &&
           learning->known != NULL &&
           learning->features != NULL && learning->values != NULL &&
           learning->sorted != NULL &&
           learning->order != NULL && learning->part != NULL &&
           learning->judged != NULL && learning->tree != NULL;
}

static void free_all(struct learning *learning)
{
    free(learning->sizes);
    free(learning->share);
    free(learning->fair);
    free(learning->loss);
    free(learning->rest);
    free(learning->behind);
    free(learning->said);
    free(learning->runs);
    free(learning->measured);
    free(learning->problems);
    free(learning->estimates);
    free(learning->known);
    free(learning->features);
    free(learning->values);
    free(learning->sorted);
    free(learning->order);
    free(learning->part);
    free(learning->judged);
    free(learning->tree);
}

/* A size between two that were measured, by the logarithm; of a dimension that
 * is compiled in one of theirs, and some as multiples of powers of two. */
static void draw_between(const struct learning *learning,
                         struct shmt_random *random, int64_t *problem)
{
    const struct shmt_kernel *const kernel = learning->table->kernel;
    const int64_t *const a = learning->sizes[
        shmt_random_below(random, learning->count)]->problem;
    const int64_t *const b = learning->sizes[
        shmt_random_below(random, learning->count)]->problem;
    const bool rounded = shmt_random_below(random, 4) == 0;

    for (size_t d = 0; d < kernel->dimension_count; d++) {
        const double place = shmt_random_unit(random);
        const int bits = 1 + (int)shmt_random_below(random, 7);

        problem[d] = a[d];
        if (kernel->dimensions[d].defined || a[d] < 1 || b[d] < 1)
            continue;
        problem[d] = (int64_t)exp2(log2((double)a[d]) * place +
                                   log2((double)b[d]) * (1 - place));
        if (rounded && problem[d] >> bits > 0)
            problem[d] = problem[d] >> bits << bits;
    }
}

static void fill_values(struct learning *learning, size_t row,
                        const int64_t *problem)
{
    const struct shmt_learn_field *const field = &learning->field;
    int64_t *const values = learning->values + row;
    size_t f = 0;

    for (; f < field->feature_count; f++)
        values[f * field->count] = shmt_dispatch_value(
            &learning->features[f], problem,
            learning->table->kernel->dimension_count);
    for (size_t c = 0; c < learning->configs; c++) {
        int64_t own[SHMT_LEARN_OWN];

        shmt_learn_own(learning->table, problem, learning->column[c], own);
        for (size_t k = 0; k < SHMT_LEARN_OWN; k++)
            values[f++ * field->count] = own[k];
        learning->runs[row * learning->configs + c] = shmt_learn_may_run(
            learning->table, problem, learning->column[c]);
    }
}

/* What a configuration that may run at a size but was not measured there is
 * taken to reach: what it reaches at the others, the nearer the more. */
static double share_around(const struct learning *learning, size_t k,
                           size_t c)
{
    const struct shmt_learn_table *const table = learning->table;
    const struct shmt_learn_size *const size = learning->sizes[k];
    double sum = 0, weights = 0;

    for (size_t n = 0; n < learning->count; n++) {
        const size_t cell = n * learning->configs + c;
        const double weight = pow(
            0.25 + shmt_learn_distance(table->kernel,
                                       learning->sizes[n]->problem,
                                       size->problem), -4);

        if (!learning->measured[cell])
            continue;
        sum += weight * learning->share[cell];
        weights += weight;
    }
    return weights > 0 ? sum / weights
                       : shmt_learn_share(table, size, learning->column[c]);
}

/* The share that a configuration reaches, not biased by noise. */
static double fair_share(const struct shmt_learn_table *table,
                         const struct shmt_learn_size *size, size_t config)
{
    const struct shmt_learn_judged judged =
        shmt_learn_judge(size, table->config_count, config);

    if (!isfinite(judged.best_us) || isnan(judged.chosen_us))
        return shmt_learn_share(table, size, config);
    return isfinite(judged.chosen_us)
               ? fmin(1, judged.best_us / judged.chosen_us) : 0;
}

/* The shares that are measured, 0 where a configuration may not run; then
 * those of the others. */
static void fill_shares(struct learning *learning)
{
    const struct shmt_learn_table *const table = learning->table;
    const size_t cells = learning->count * learning->configs;

    for (size_t cell = 0; cell < cells; cell++) {
        const struct shmt_learn_size *const size =
            learning->sizes[cell / learning->configs];
        const size_t config = learning->column[cell % learning->configs];
        const double time = shmt_learn_time(&size->cells[config]);

        learning->measured[cell] = isfinite(time);
        if (isnan(time))
            continue;
        learning->share[cell] = shmt_learn_share(table, size, config);
        learning->fair[cell] = fair_share(table, size, config);
    }
    for (size_t cell = 0; cell < cells; cell++) {
        const size_t k = cell / learning->configs;
        const size_t c = cell % learning->configs;

        if (!learning->measured[cell] &&
            shmt_learn_may_run(table, learning->sizes[k]->problem,
                               learning->column[c]) &&
            !learning->sizes[k]->cells[learning->column[c]].failed)
            learning->share[cell] = learning->fair[cell] =
                share_around(learning, k, c);
    }
}

static bool prepare(struct learning *learning)
{
    const struct shmt_learn_table *const table = learning->table;
    struct shmt_learn_field *const field = &learning->field;
    struct shmt_random random;

    if (!shmt_learn_portfolio(table, learning->sizes, learning->count,
                              SHMT_LEARN_PORTFOLIO, learning->column,
                              &learning->configs))
        return false;
    fill_shares(learning);
    *field = (struct shmt_learn_field){
        .count = learning->count + BETWEEN, .configs = learning->configs,
        .loss = learning->loss, .measured = learning->measured,
        .rest = learning->rest, .features = learning->features,
        .values = learning->values, .sorted = learning->sorted};
    field->feature_count = shmt_learn_features(table, learning->features);
    shmt_random_seed(&random, learning->seed);
    for (size_t k = 0; k < field->count; k++) {
        int64_t *const problem = learning->problems[k];

        if (k >= learning->count)
            draw_between(learning, &random, problem);
        else
            memcpy(problem, learning->sizes[k]->problem,
                   sizeof *learning->problems);
        fill_values(learning, k, problem);
    }
    return shmt_learn_sort(field, learning->sorted);
}

/* -- estimates ------------------------------------------------------------ */

/* How far the estimates are behind the least at a size. */
static void put_behind(struct learning *learning, size_t row)
{
    struct shmt_learn_field *const field = &learning->field;
    const size_t dimensions = learning->table->kernel->dimension_count;
    const bool *const runs = learning->runs + row * field->configs;
    double *const behind = learning->behind + row * field->configs;
    double least = INFINITY;

    for (size_t c = 0; c < field->configs; c++) {
        behind[c] = shmt_learn_estimate_us(&learning->estimates[c],
                                           learning->problems[row],
                                           dimensions);
        least = runs[c] ? fmin(least, behind[c]) : least;
    }
    for (size_t c = 0; c < field->configs; c++) {
        behind[c] = isfinite(behind[c]) && least > 0 && isfinite(least)
                        ? fmax(0, log(behind[c] / least))
                        : 2 * SHMT_LEARN_FAR;
        if (!runs[c])
            behind[c] = SHMT_LEARN_NEVER;
    }
}

/* Fits all estimates to the first `n` sizes of the order. */
static bool fit_estimates(struct learning *learning, size_t n)
{
    for (size_t k = 0; k < n; k++)
        learning->known[k] = learning->sizes[learning->order[k]];
    if (!shmt_learn_estimates_fit(learning->table, learning->known, n,
                                  learning->column, learning->configs,
                                  learning->estimates))
        return false;
    for (size_t row = 0; row < learning->count + learning->between; row++)
        put_behind(learning, row);
    return true;
}

/* -- growing -------------------------------------------------------------- */

static double behind_of(const struct learning *learning, size_t cell)
{
    return learning->field.behind == NULL
               ? 0 : fmin(learning->behind[cell], SHMT_LEARN_FAR);
}

/* What is lost where it was measured, and what estimates leave of it. */
static void put_measured(struct learning *learning, size_t cell)
{
    const double share = learning->share[cell];

    learning->loss[cell] = shmt_learn_loss(share);
    learning->rest[cell] = fmin(SHMT_LEARN_FAR, -log(fmax(share, 1e-6))) -
                           behind_of(learning, cell);
}

/* The same where forests say it.  Without estimates, what comparisons are
 * to explain is beside the least. */
static void put_said(struct learning *learning, size_t row)
{
    const size_t first = row * learning->configs;
    const size_t end = first + learning->configs;
    double least = INFINITY;

    for (size_t cell = first; cell < end; cell++) {
        if (!learning->measured[cell])
            learning->rest[cell] = learning->said[cell];
        if (learning->runs[cell])
            least = fmin(least,
                         learning->rest[cell] + behind_of(learning, cell));
    }
    for (size_t cell = first; cell < end; cell++) {
        const double beside =
            learning->runs[cell]
                ? learning->rest[cell] + behind_of(learning, cell) - least
                : INFINITY;

        if (!learning->measured[cell])
            learning->loss[cell] = shmt_learn_loss(exp(-beside));
        if (learning->field.behind == NULL)
            learning->rest[cell] = fmin(beside, most_beside);
    }
}

static bool is_stopped(const struct learning *learning)
{
    return learning->stop != NULL && *learning->stop != 0;
}

/* What the forests of the first `n` sizes of the order say where nobody
 * measured, of them and of those between.  False, as of all that call it: there
 * is no memory, or it is to stop. */
static bool ask_forest(struct learning *learning, bool estimated, size_t n)
{
    struct shmt_learn_field *const field = &learning->field;
    const size_t rows = learning->count + learning->between;

    if (is_stopped(learning) || (estimated && !fit_estimates(learning, n)))
        return false;
    field->behind = estimated ? learning->behind : NULL;
    for (size_t cell = 0; cell < learning->count * learning->configs; cell++)
        if (learning->measured[cell])
            put_measured(learning, cell);
    if (!shmt_learn_forest(field, learning->order, n, rows,
                           learning->between == BETWEEN ? TREES
                                                        : TREES_JUDGING,
                           learning->seed, learning->said))
        return false;
    for (size_t row = 0; row < rows; row++)
        put_said(learning, row);
    return true;
}

/* Grows the tree on the first `n` sizes of the order, and those between. */
static bool grow_tree(struct learning *learning, size_t way, size_t n)
{
    const double share = (double)learning->between / BETWEEN;
    size_t count = n;

    for (size_t again = 1; again < MEASURED; again++)
        for (size_t k = 0; k < n; k++)
            learning->order[count++] = learning->order[k];
    for (size_t k = 0; k < learning->between; k++)
        learning->order[count++] = learning->count + k;
    return shmt_learn_grow(&learning->field, share * gains[way % GAINS],
                           learning->order, count, learning->tree);
}

/* -- judging -------------------------------------------------------------- */

/* The share that what is chosen at a leaf reaches, else the first that
 * runs. */
static double share_at(const struct learning *learning, size_t leaf, size_t k)
{
    const size_t configs = learning->field.configs;
    const uint16_t *const ranks = learning->tree->ranks[leaf];
    const size_t count = configs < SHMT_DISPATCH_RANKS ? configs
                                                       : SHMT_DISPATCH_RANKS;
    const size_t first = shmt_learn_choose(&learning->field, learning->tree,
                                           leaf, count, k);

    if (learning->share[k * configs + ranks[first]] > 0)
        return learning->fair[k * configs + ranks[first]];
    for (size_t r = 0; r < count; r++) {
        const double share = learning->share[k * configs + ranks[r]];

        if (share > 0)
            return learning->fair[k * configs + ranks[r]];
    }
    return 0;
}

/* Deals the sizes into parts. */
static void deal(struct learning *learning, uint64_t number)
{
    struct shmt_random random;

    shmt_random_seed(&random, learning->seed + number);
    for (size_t k = 0; k < learning->count; k++) {
        const size_t other = (size_t)shmt_random_below(&random, k + 1);

        learning->part[k] = learning->part[other];
        learning->part[other] = k % PARTS;
    }
}

/* Puts the sizes of all parts but one into the order; returns how many. */
static size_t leave_out(struct learning *learning, size_t part)
{
    size_t n = 0;

    for (size_t k = 0; k < learning->count; k++)
        if (learning->part[k] != part)
            learning->order[n++] = k;
    return n;
}

/* Judges the sizes of one part by trees that were grown without it: what they
 * lose, by how far the tree was grown, is added to `sums`; the shares
 * are in judged[]. */
static bool judge_part(struct learning *learning, size_t part, double *sums)
{
    for (size_t way = 0; way < WAYS; way++) {
        if (way % GAINS == 0 &&
            !ask_forest(learning, way > 0, leave_out(learning, part)))
            return false;
        if (!grow_tree(learning, way, leave_out(learning, part)))
            return false;
        for (size_t k = 0; k < learning->count; k++) {
            double share;

            if (learning->part[k] != part)
                continue;
            share = share_at(learning,
                             shmt_learn_leaf(&learning->field,
                                             learning->tree, k), k);
            learning->judged[way * learning->count + k] = share;
            sums[way] += shmt_learn_loss(share);
        }
    }
    return true;
}

/* *way: the best; judged[] begins with what it reaches. */
static bool choose_way(struct learning *learning, size_t *best)
{
    const double worth = worth_estimates * (double)learning->count;
    double sums[WAYS] = {0};

    learning->between = JUDGING;
    deal(learning, 0);
    for (size_t part = 0; part < PARTS; part++)
        if (!judge_part(learning, part, sums))
            return false;
    *best = 0;
    for (size_t way = 1; way < WAYS; way++)
        if (sums[way] + (way >= GAINS && *best < GAINS ? worth : 0) <
            sums[*best])
            *best = way;
    memmove(learning->judged, learning->judged + *best * learning->count,
            learning->count * sizeof *learning->judged);
    return true;
}

/* What is lost on the mean, the worst counted more. */
static double mean_loss(const double *shares, size_t count)
{
    double sum = 0;

    for (size_t k = 0; k < count; k++)
        sum += shmt_learn_loss(shares[k]);
    return count > 0 ? sum / (double)count : INFINITY;
}

/* What the rule of the nearest size reaches.  Where what it chooses was not
 * among what was measured, or may not run, nothing can be said. */
static struct shmt_learn_figures judge_nearest(struct learning *learning,
                                               double *shares, double *loss)
{
    size_t n = 0;

    for (size_t k = 0; k < learning->count; k++) {
        const size_t nearest = learning->sizes[k]->nearest;

        if (nearest < learning->table->config_count)
            shares[n++] = fair_share(learning->table, learning->sizes[k],
                                     nearest);
    }
    *loss = mean_loss(shares, n);
    return shmt_learn_figures_of(shares, n);
}

/* How many standard errors the tree is above the rule of the nearest size, over
 * the sizes where both are known; where nothing is known of the rule, it is not
 * in the way. */
static double lead_of(const struct learning *learning)
{
    double sum = 0, squares = 0;
    size_t n = 0;

    for (size_t k = 0; k < learning->count; k++) {
        const size_t nearest = learning->sizes[k]->nearest;
        double more;

        if (nearest >= learning->table->config_count)
            continue;
        more = learning->judged[k] -
               fair_share(learning->table, learning->sizes[k], nearest);
        sum += more;
        squares += more * more;
        n++;
    }
    if (n < 2)
        return (double)INFINITY;
    squares = fmax(squares - sum * sum / (double)n, 0) / (double)(n - 1);
    return squares > 0 ? sum / sqrt((double)n * squares)
                       : sum > 0 ? (double)INFINITY : 0;
}

/* -- the dispatch --------------------------------------------------------- */

static struct shmt_dispatch_figures
rounded(const struct shmt_learn_figures *figures)
{
    return (struct shmt_dispatch_figures){(int64_t)(1e4 * figures->mean),
                                          (int64_t)(1e4 * figures->low)};
}

static bool learn(struct learning *learning, struct shmt_arena *arena,
                  struct shmt_dispatch **out,
                  struct shmt_learn_outcome *outcome)
{
    const struct shmt_learn_grown grown = {
        learning->table, learning->seed, learning->count, learning->sizes,
        learning->share, &learning->field, learning->column,
        learning->estimates, learning->tree};
    double loss, nearest_loss;
    size_t way, end;

    if (!choose_way(learning, &way))
        return false;
    loss = mean_loss(learning->judged, learning->count);
    outcome->lead = lead_of(learning);
    outcome->held_out =
        shmt_learn_figures_of(learning->judged, learning->count);
    outcome->nearest =
        judge_nearest(learning, learning->judged, &nearest_loss);
    outcome->better = outcome->held_out.mean > outcome->nearest.mean &&
                      loss < nearest_loss &&
                      outcome->lead >= SHMT_LEARN_LEAD;
    for (size_t k = 0; k < learning->count; k++)
        learning->order[k] = k;
    learning->between = BETWEEN;
    if (!ask_forest(learning, way >= GAINS, learning->count))
        return false;
    /* What compares more than a dispatch holds is grown less far. */
    for (end = (way / GAINS + 1) * GAINS; way < end && *out == NULL; way++) {
        for (size_t k = 0; k < learning->count; k++)
            learning->order[k] = k;
        if (!grow_tree(learning, way, learning->count) ||
            !shmt_learn_make(&grown, arena, out))
            return false;
    }
    if (*out != NULL) {
        (*out)->held_out = rounded(&outcome->held_out);
        (*out)->nearest = rounded(&outcome->nearest);
    }
    return true;
}

enum shmtune_status shmt_learn_dispatch(const struct shmt_learn_run *run,
                                        struct shmt_arena *arena,
                                        struct shmt_dispatch **out,
                                        struct shmt_learn_outcome *outcome,
                                        struct shmt_error *err)
{
    const struct shmt_learn_table *const table = run->table;
    struct learning learning = {.table = table, .seed = run->seed,
                                .stop = run->stop};
    bool done;

    *out = NULL;
    *outcome = (struct shmt_learn_outcome){.better = false};
    learning.sizes = calloc(table->size_count + 1, sizeof *learning.sizes);
    if (learning.sizes == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < table->size_count; k++)
        if (table->sizes[k].done &&
            isfinite(shmt_learn_best(table, &table->sizes[k])))
            learning.sizes[learning.count++] = &table->sizes[k];
    qsort(learning.sizes, learning.count, sizeof *learning.sizes,
          compare_sizes);
    done = learning.count < SHMT_LEARN_LEAST ||
           (allocate(&learning) && prepare(&learning) &&
            learn(&learning, arena, out, outcome));
    free_all(&learning);
    return done ? SHMTUNE_OK
           : is_stopped(&learning)
               ? shmt_error_set(err, SHMTUNE_INTERRUPTED, "interrupted")
               : shmt_error_memory(err);
}
