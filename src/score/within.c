/* SPDX-License-Identifier: MIT */
/*
 * score_within: how many evaluations a strategy needs until it has one within
 * some percent of the optimum, by itself or with what other runs found.
 * Called by command/score.c.
 */
#include "score/score.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MOST = 256, COPIED = 20 };

/* Of the costs of a prior, between repeats: times that are measured again are
 * not the same. */
static const double DEVIATION = 0.01;

struct crew {
    const struct shmt_score_table *table;
    const struct shmt_score_within_plan *plan;
    double goal;             /* microseconds */
    double *evaluations;     /* [repeats] */
    pthread_mutex_t lock;
    size_t next;
    enum shmtune_status status;
    struct shmt_error err;
};

static double optimum_of(const struct shmt_score_table *table)
{
    const uint64_t count = shmt_space_count(table->space);
    double least = INFINITY;

    for (uint64_t k = 0; k < count; k++)
        least = fmin(least, table->cost[k]);
    return least;
}

/* A copy of the examples with other costs; NULL when there is no memory. */
static struct shmt_search_example *
measured_again(const struct shmt_search_prior *prior, uint64_t seed)
{
    struct shmt_search_example *const examples =
        malloc((prior->count + 1) * sizeof *examples);
    struct shmt_random random;

    if (examples == NULL)
        return NULL;
    shmt_random_seed(&random, seed);
    for (size_t k = 0; k < prior->count; k++) {
        examples[k] = prior->examples[k];
        examples[k].cost *= exp(DEVIATION * shmt_random_normal(&random));
    }
    return examples;
}

/* Evaluations until the goal is reached; all of them where it is not. */
static double evaluate(const struct crew *crew, struct shmt_session *session)
{
    uint64_t index;
    double count = 0;

    while (shmt_session_ask(session, &index) == SHMT_SEARCH_CANDIDATE) {
        count++;
        if (crew->table->cost[index] <= crew->goal)
            break;
        shmt_session_took(session, index, crew->table->seconds[index]);
        shmt_session_tell(session, index, crew->table->cost[index]);
    }
    return count;
}

static enum shmtune_status repeat(const struct crew *crew, size_t number,
                                  struct shmt_error *err)
{
    const struct shmt_score_within_plan *const plan = crew->plan;
    struct shmt_search_example *examples = NULL;
    struct shmt_search_prior prior;
    struct shmt_session *session = NULL;
    struct shmt_session_options options = {
        .strategy = plan->strategy,
        .start = plan->start ? crew->table->start : UINT64_MAX,
        .budget = UINT64_MAX,
        .seed = plan->seed + number,
        .launches = crew->table->launches,
    };
    enum shmtune_status status = SHMTUNE_OK;

    if (plan->prior != NULL) {
        examples = measured_again(plan->prior, options.seed);
        if (examples == NULL)
            return shmt_error_memory(err);
        prior = *plan->prior;
        prior.examples = examples;
        options.prior = &prior;
    }
    status = shmt_session_open(&options, crew->table->space, &session, err);
    if (status == SHMTUNE_OK) {
        crew->evaluations[number] = evaluate(crew, session);
        if (shmt_session_failed(session))
            status = shmt_error_memory(err);
        shmt_session_close(session);
    }
    free(examples);
    return status;
}

static void *work(void *opaque)
{
    struct crew *const crew = opaque;

    pthread_mutex_lock(&crew->lock);
    while (crew->status == SHMTUNE_OK && crew->next < crew->plan->repeats) {
        const size_t number = crew->next++;
        struct shmt_error err;
        enum shmtune_status status;

        pthread_mutex_unlock(&crew->lock);
        status = repeat(crew, number, &err);
        pthread_mutex_lock(&crew->lock);
        if (status != SHMTUNE_OK) {
            crew->status = status;
            crew->err = err;
        }
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* At quantile `part`, between order statistics. */
static double quantile(const double *sorted, size_t count, double part)
{
    const double at = fmin(fmax(part, 0), 1) * (double)(count - 1);
    const size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;

    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

static void sum_up(double *evaluations, size_t count,
                   struct shmt_score_within *out)
{
    /* The rank of the median deviates by sqrt(n) / 2. */
    const double deviation = 0.5 / sqrt((double)count);

    qsort(evaluations, count, sizeof *evaluations, shmt_array_compare_doubles);
    *out = (struct shmt_score_within){
        .median = quantile(evaluations, count, 0.5),
        .low = quantile(evaluations, count, 0.25),
        .high = quantile(evaluations, count, 0.75),
        .error = (quantile(evaluations, count, 0.5 + deviation) -
                  quantile(evaluations, count, 0.5 - deviation)) / 2,
        .worst = evaluations[count - 1],
    };
}

enum shmtune_status
shmt_score_within(const struct shmt_score_table *table,
                  const struct shmt_score_within_plan *plan,
                  struct shmt_score_within *out, struct shmt_error *err)
{
    struct crew crew = {.table = table, .plan = plan};
    pthread_t threads[JOBS_MOST];
    size_t hired = 0;

    crew.goal = optimum_of(table) * (1 + plan->part);
    if (!isfinite(crew.goal))
        return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                              "no recorded configuration has a time");
    crew.evaluations = calloc(plan->repeats, sizeof *crew.evaluations);
    if (crew.evaluations == NULL)
        return shmt_error_memory(err);
    pthread_mutex_init(&crew.lock, NULL);
    while (hired + 1 < plan->jobs && hired + 1 < plan->repeats &&
           hired < JOBS_MOST &&
           pthread_create(&threads[hired], NULL, work, &crew) == 0)
        hired++;
    work(&crew);
    while (hired > 0)
        pthread_join(threads[--hired], NULL);
    pthread_mutex_destroy(&crew.lock);
    if (crew.status == SHMTUNE_OK)
        sum_up(crew.evaluations, plan->repeats, out);
    else if (err != NULL)
        *err = crew.err;
    free(crew.evaluations);
    return crew.status;
}

/* -- copying -------------------------------------------------------------- */

static int compare_examples(const void *a, const void *b)
{
    const struct shmt_search_example *const x = a, *const y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

enum shmtune_status shmt_score_copy(const struct shmt_score_table *table,
                                    const struct shmt_search_prior *prior,
                                    double part, double *evaluations,
                                    double *best_of_20,
                                    struct shmt_error *err)
{
    struct shmt_search_example *const sorted =
        malloc((prior->count + 1) * sizeof *sorted);
    const double optimum = optimum_of(table);
    double best = INFINITY;
    size_t tried = 0;

    if (sorted == NULL)
        return shmt_error_memory(err);
    memcpy(sorted, prior->examples, prior->count * sizeof *sorted);
    qsort(sorted, prior->count, sizeof *sorted, compare_examples);
    *evaluations = *best_of_20 = INFINITY;
    for (size_t k = 0; k < prior->count; k++) {
        uint64_t index;

        if (!shmt_space_index(table->space, sorted[k].config, &index))
            continue;
        tried++;
        best = fmin(best, table->cost[index]);
        if (tried <= COPIED)
            *best_of_20 = best / optimum;
        if (best <= optimum * (1 + part) && !isfinite(*evaluations))
            *evaluations = (double)tried;
    }
    free(sorted);
    return SHMTUNE_OK;
}
