/* SPDX-License-Identifier: MIT */
/*
 * score: computes the score of score.h.  As in the methodology, the mean over
 * repeats is taken of the rank of their best configuration, not of its time;
 * the time is then looked up in the recording's distribution.  Random search
 * therefore scores 0, however skewed the distribution is.  Until its first
 * valid result a run counts as having the median.
 */
#include "score/score.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const double shmt_score_targets[SHMT_SCORE_TARGETS] = {0.10, 0.05, 0.01};

/* The budget ends where random search is expected to have closed 95 % of the
 * gap; the curve begins at 1 %. */
static const double BUDGET_PART = 0.95, START_PART = 0.01;

enum { AHEAD_MOST = 1024, JOBS_MOST = 256 };

static double median_of(const double *sorted, uint64_t count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Evaluations that random search is expected to need to close `part` of the
 * way from the median to the optimum. */
static uint64_t cutoff(const struct shmt_score_scale *scale, double part)
{
    const double target =
        scale->optimum + (scale->median - scale->optimum) * (1 - part);
    const uint64_t n = scale->valid;
    uint64_t i = 0;

    /* i counts from the worst. */
    while (scale->costs[n - 1 - i] > target)
        i++;
    if (scale->costs[n - 1 - i] == scale->optimum && i > 0)
        i--;
    return (i + n - i) / (n + 1 - i);
}

/* The expected best time of random search after `draws` evaluations. */
static double expected(const struct shmt_score_scale *scale, double draws)
{
    const double n = (double)scale->valid;
    const double rank = floor(draws * (n + 1) / (draws + 1) + 0.5);

    return scale->costs[scale->valid - 1
                        - (uint64_t)fmin(n - 1, rank)];
}

static double time_at(const struct shmt_score_scale *scale, size_t point)
{
    return scale->start_s + (scale->budget_s - scale->start_s)
                                * (double)point / (SHMT_SCORE_POINTS - 1);
}

static enum shmtune_status measure_times(struct shmt_score_scale *scale,
                                         struct shmt_error *err)
{
    const struct shmt_score_table *const table = scale->table;
    const uint64_t count = shmt_space_count(table->space);
    double *const seconds = malloc(count * sizeof *seconds);
    double good = 0, bad = 0;
    uint64_t start;

    if (seconds == NULL)
        return shmt_error_memory(err);
    memcpy(seconds, table->seconds, count * sizeof *seconds);
    qsort(seconds, count, sizeof *seconds, shmt_array_compare_doubles);
    for (uint64_t k = 0; k < count; k++)
        *(isfinite(table->cost[k]) ? &good : &bad) += table->seconds[k];
    scale->mean_s = good / (double)scale->valid + bad / (double)count;
    start = cutoff(scale, START_PART);
    scale->budget_evaluations = cutoff(scale, BUDGET_PART);
    if (start == 0)
        start = 1;
    if (scale->budget_evaluations < start + 2)
        scale->budget_evaluations = start + 2;
    scale->start_s = (double)start * median_of(seconds, count);
    scale->budget_s = (double)scale->budget_evaluations
                      * median_of(seconds, count);
    free(seconds);
    if (!(scale->budget_s > scale->start_s))
        return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                              "the recording says that trying a configuration"
                              " takes no time: there is no budget");
    return SHMTUNE_OK;
}

enum shmtune_status shmt_score_scale_new(const struct shmt_score_table *table,
                                         struct shmt_score_scale **out,
                                         struct shmt_error *err)
{
    const uint64_t count = shmt_space_count(table->space);
    struct shmt_score_scale *scale = calloc(1, sizeof *scale);
    enum shmtune_status status;

    if (scale == NULL)
        return shmt_error_memory(err);
    scale->table = table;
    scale->costs = malloc((count + 1) * sizeof *scale->costs);
    if (scale->costs == NULL) {
        status = shmt_error_memory(err);
        goto fail;
    }
    for (uint64_t k = 0; k < count; k++)
        if (isfinite(table->cost[k]))
            scale->costs[scale->valid++] = table->cost[k];
    qsort(scale->costs, scale->valid, sizeof *scale->costs,
          shmt_array_compare_doubles);
    if (scale->valid < 2
        || !(scale->costs[0] < median_of(scale->costs, scale->valid))) {
        status = shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                                "%llu of %llu recorded configurations have a "
                                "time and the optimum is no faster than the "
                                "median: strategies cannot be told apart",
                                (unsigned long long)scale->valid,
                                (unsigned long long)count);
        goto fail;
    }
    scale->optimum = scale->costs[0];
    scale->median = median_of(scale->costs, scale->valid);
    status = measure_times(scale, err);
    if (status != SHMTUNE_OK)
        goto fail;
    for (size_t k = 0; k < SHMT_SCORE_POINTS; k++) {
        const double draws = fmax(time_at(scale, k) / scale->mean_s, 1);
        const double low = expected(scale, floor(draws));

        scale->random[k] = low + (draws - floor(draws))
                                     * (expected(scale, floor(draws) + 1)
                                        - low);
        /* The score divides by the remaining gap, which must not be 0. */
        if (scale->random[k] <= scale->optimum)
            scale->random[k] = k > 0 ? scale->random[k - 1] : scale->median;
    }
    *out = scale;
    return SHMTUNE_OK;
fail:
    shmt_score_scale_free(scale);
    return status;
}

void shmt_score_scale_free(struct shmt_score_scale *scale)
{
    if (scale == NULL)
        return;
    free(scale->costs);
    free(scale);
}

/* One repeat. */
struct run {
    const struct shmt_score_scale *scale;
    struct shmt_session *session;
    uint64_t *waiting;       /* compiled, not measured */
    size_t waiting_count;
    double now_s, best;
    uint64_t evaluations;
    size_t point;            /* first of the curve that is not yet filled */
    double rank[SHMT_SCORE_POINTS];   /* rank of its best so far; 0: the
                                         optimum */
    bool reached[SHMT_SCORE_TARGETS];
    struct shmt_score_effort efforts[SHMT_SCORE_TARGETS];
};

/* Keep `ahead` candidates compiled.  False when nothing is left to try. */
static bool fill(struct run *run, size_t ahead)
{
    while (run->waiting_count < ahead) {
        uint64_t index;

        if (shmt_session_ask(run->session, &index) != SHMT_SEARCH_CANDIDATE)
            break;
        run->waiting[run->waiting_count++] = index;
    }
    return run->waiting_count > 0;
}

/* How many recorded costs are below `cost`. */
static uint64_t rank_of(const struct shmt_score_scale *scale, double cost)
{
    uint64_t low = 0, high = scale->valid;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (scale->costs[middle] < cost)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void fill_curve_until(struct run *run, double until_s)
{
    const double rank = isfinite(run->best)
                            ? (double)rank_of(run->scale, run->best)
                            : (double)(run->scale->valid - 1) / 2;

    while (run->point < SHMT_SCORE_POINTS
           && time_at(run->scale, run->point) < until_s)
        run->rank[run->point++] = rank;
}

/* Measures one candidate.  False when it would end after the budget. */
static bool step(struct run *run)
{
    const struct shmt_score_table *const table = run->scale->table;
    const size_t picked = shmt_session_pick(run->session, run->waiting,
                                            run->waiting_count);
    const uint64_t index = run->waiting[picked];

    /* Kept in order of arrival: for a strategy that does not pick, the first
     * one is measured first. */
    memmove(run->waiting + picked, run->waiting + picked + 1,
            (--run->waiting_count - picked) * sizeof *run->waiting);
    if (run->now_s + table->seconds[index] > run->scale->budget_s)
        return false;
    run->now_s += table->seconds[index];
    run->evaluations++;
    fill_curve_until(run, run->now_s);
    run->best = fmin(run->best, table->cost[index]);
    for (size_t k = 0; k < SHMT_SCORE_TARGETS; k++) {
        if (run->reached[k])
            continue;
        run->efforts[k].evaluations = (double)run->evaluations;
        run->efforts[k].seconds = run->now_s;
        run->reached[k] = run->best <= run->scale->optimum
                                           * (1 + shmt_score_targets[k]);
    }
    shmt_session_took(run->session, index, table->seconds[index]);
    shmt_session_tell(run->session, index, table->cost[index]);
    return true;
}

struct pool {
    const struct shmt_score_scale *scale;
    const struct shmt_score_plan *plan;
    struct shmt_score_part *parts;    /* one a repeat */
    pthread_mutex_t lock;
    size_t next;
    enum shmtune_status status;
    struct shmt_error err;
};

struct shmt_score_part {
    struct run run;
    double thinking_s;
};

static enum shmtune_status repeat(const struct pool *pool, size_t number,
                                  struct shmt_error *err)
{
    struct run *const run = &pool->parts[number].run;
    const double began = shmt_clock_thread_s();
    enum shmtune_status status;

    run->scale = pool->scale;
    run->best = INFINITY;
    run->waiting = calloc(pool->plan->ahead, sizeof *run->waiting);
    if (run->waiting == NULL)
        return shmt_error_memory(err);
    status = shmt_session_open(
        &(struct shmt_session_options){
            .strategy = pool->plan->strategy,
            .start = pool->plan->start ? pool->scale->table->start
                                       : UINT64_MAX,
            .budget = pool->scale->budget_evaluations,
            .seed = pool->plan->seed + number,
            .launches = pool->scale->table->launches},
        pool->scale->table->space, &run->session, err);
    if (status == SHMTUNE_OK) {
        while (fill(run, pool->plan->ahead) && step(run))
            ;
        fill_curve_until(run, INFINITY);
        if (shmt_session_failed(run->session))
            status = shmt_error_memory(err);
        shmt_session_close(run->session);
    }
    free(run->waiting);
    pool->parts[number].thinking_s = shmt_clock_thread_s() - began;
    return status;
}

static void *run_repeats(void *opaque)
{
    struct pool *const pool = opaque;

    pthread_mutex_lock(&pool->lock);
    while (pool->status == SHMTUNE_OK && pool->next < pool->plan->repeats) {
        const size_t number = pool->next++;
        struct shmt_error err;
        enum shmtune_status status;

        pthread_mutex_unlock(&pool->lock);
        status = repeat(pool, number, &err);
        pthread_mutex_lock(&pool->lock);
        if (status != SHMTUNE_OK) {
            pool->status = status;
            pool->err = err;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Improvement at a point of the curve, of runs with this mean rank. */
static double gain_at(const struct shmt_score_scale *scale, size_t point,
                      double rank)
{
    const double held = scale->costs[(uint64_t)floor(rank + 0.5)];

    return (scale->random[point] - held)
           / (scale->random[point] - scale->optimum);
}

/* The score is computed from all repeats together, so its spread is estimated
 * by leaving out one repeat at a time (jackknife pseudo-values). */
static double spread_of(const struct pool *pool, const double *ranks)
{
    const double n = (double)pool->plan->repeats;
    double sum = 0, squares = 0;

    if (pool->plan->repeats < 2)
        return 0;
    for (size_t r = 0; r < pool->plan->repeats; r++) {
        double without = 0;

        for (size_t k = 0; k < SHMT_SCORE_POINTS; k++)
            without += gain_at(pool->scale, k,
                               (ranks[k] - pool->parts[r].run.rank[k])
                                   / (n - 1)) / SHMT_SCORE_POINTS;
        without *= n - 1;
        sum += without;
        squares += without * without;
    }
    return sqrt(fmax(0, squares - sum * sum / n) / (n - 1));
}

static void add_efforts(const struct run *run, struct shmt_score *out)
{
    for (size_t k = 0; k < SHMT_SCORE_TARGETS; k++) {
        out->efforts[k].evaluations += run->efforts[k].evaluations;
        out->efforts[k].seconds += run->efforts[k].seconds;
        out->efforts[k].reached += run->reached[k];
    }
}

static void sum_up(const struct pool *pool, struct shmt_score *out)
{
    const double repeats = (double)pool->plan->repeats;
    double ranks[SHMT_SCORE_POINTS] = {0}, measured = 0;

    *out = (struct shmt_score){0};
    for (size_t r = 0; r < pool->plan->repeats; r++) {
        const struct run *const run = &pool->parts[r].run;

        for (size_t k = 0; k < SHMT_SCORE_POINTS; k++)
            ranks[k] += run->rank[k];
        measured += (double)run->evaluations;
        out->thinking_s += pool->parts[r].thinking_s;
        add_efforts(run, out);
    }
    for (size_t k = 0; k < SHMT_SCORE_POINTS; k++) {
        out->curve[k] = gain_at(pool->scale, k, ranks[k] / repeats);
        out->held[k] =
            pool->scale->costs[(uint64_t)floor(ranks[k] / repeats + 0.5)];
        out->score += out->curve[k] / SHMT_SCORE_POINTS;
    }
    out->spread = spread_of(pool, ranks);
    for (size_t k = 0; k < SHMT_SCORE_TARGETS; k++) {
        struct shmt_score_effort *const effort = &out->efforts[k];

        effort->evaluations /= (double)effort->reached;
        effort->seconds /= (double)effort->reached;
        if (effort->reached == 0)
            effort->evaluations = effort->seconds = INFINITY;
    }
    out->evaluations = measured / repeats;
    out->thinking_s /= fmax(1, measured);
}

static enum shmtune_status check_plan(const struct shmt_score_plan *plan,
                                      struct shmt_error *err)
{
    if (plan->repeats < 1 || plan->repeats > 100000)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%zu repeats, expected 1 to 100000",
                              plan->repeats);
    if (plan->ahead < 1 || plan->ahead > AHEAD_MOST)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%zu candidates compiled ahead, expected 1 to "
                              "%d", plan->ahead, AHEAD_MOST);
    if (plan->jobs < 1 || plan->jobs > JOBS_MOST)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%zu jobs, expected 1 to %d", plan->jobs,
                              JOBS_MOST);
    return SHMTUNE_OK;
}

enum shmtune_status shmt_score_run(const struct shmt_score_scale *scale,
                                   const struct shmt_score_plan *plan,
                                   struct shmt_score *out,
                                   struct shmt_error *err)
{
    struct pool pool = {.scale = scale, .plan = plan};
    pthread_t threads[JOBS_MOST];
    size_t hired = 0;
    enum shmtune_status status = check_plan(plan, err);

    if (status != SHMTUNE_OK)
        return status;
    pool.parts = calloc(plan->repeats, sizeof *pool.parts);
    if (pool.parts == NULL)
        return shmt_error_memory(err);
    pthread_mutex_init(&pool.lock, NULL);
    while (hired + 1 < plan->jobs && hired + 1 < plan->repeats
           && pthread_create(&threads[hired], NULL, run_repeats, &pool) == 0)
        hired++;
    run_repeats(&pool);
    while (hired > 0)
        pthread_join(threads[--hired], NULL);
    pthread_mutex_destroy(&pool.lock);
    if (pool.status == SHMTUNE_OK)
        sum_up(&pool, out);
    else if (err != NULL)
        *err = pool.err;
    free(pool.parts);
    return pool.status;
}
