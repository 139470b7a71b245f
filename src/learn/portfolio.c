/* SPDX-License-Identifier: MIT */
/*
 * portfolio: the few configurations with which the best of them loses least
 * over all sizes, chosen greedily: what is worth to be measured, and what a
 * tree may choose from.  Called by measure.c and learn.c.
 */
#include "learn/portfolio.h"

#include <math.h>
#include <stdlib.h>

/* A configuration is one of them where all sizes together lose so much less
 * with it, for each size. */
static const double worth = 2e-4;

/* A loss beyond this much counts as often again: the worst sizes matter. */
static const double bad = 0.05, bad_weight = 2;
static const double invalid = 1;          /* what may not run loses */
static const double unmeasured = 1.6;     /* times the best: given up */
static const size_t doubt = 4;

double shmt_learn_loss(double share)
{
    const double loss = share <= 0 ? invalid : 1 - share;

    return loss + bad_weight * fmax(0, loss - bad);
}

double shmt_learn_share(const struct shmt_learn_table *table,
                        const struct shmt_learn_size *size, size_t config)
{
    const double time = shmt_learn_time(&size->cells[config]);

    if (isnan(time))
        return 1 / unmeasured;
    return isfinite(time) ? shmt_learn_best(table, size) / time : 0;
}

struct choosing {
    size_t count, configs;
    double *loss;          /* [count][configs]; NAN: nobody measured */
    double *least;         /* [count], of those chosen */
};

/* How much less the sizes lose with `config`, in the mean: by those where it
 * was measured, and a few more at which it would bring nothing. */
static double gain_of(const struct choosing *choosing, size_t config)
{
    double sum = 0;
    size_t known = 0;

    for (size_t k = 0; k < choosing->count; k++) {
        const double loss = choosing->loss[k * choosing->configs + config];

        if (isnan(loss))
            continue;
        sum += fmax(0, choosing->least[k] - loss);
        known++;
    }
    return sum / (double)(known + doubt);
}

static void fill(const struct shmt_learn_table *table,
                 const struct shmt_learn_size *const *sizes,
                 struct choosing *choosing)
{
    for (size_t k = 0; k < choosing->count; k++) {
        const double best = shmt_learn_best(table, sizes[k]);

        choosing->least[k] = shmt_learn_loss(0);
        for (size_t c = 0; c < choosing->configs; c++) {
            const double time = shmt_learn_time(&sizes[k]->cells[c]);

            choosing->loss[k * choosing->configs + c] =
                isnan(time) ? NAN
                            : shmt_learn_loss(isfinite(time) ? best / time
                                                             : 0);
        }
    }
}

bool shmt_learn_portfolio(const struct shmt_learn_table *table,
                          const struct shmt_learn_size *const *sizes,
                          size_t count, size_t most, size_t *out,
                          size_t *out_count)
{
    struct choosing choosing = {.count = count,
                                .configs = table->config_count};

    choosing.loss = calloc(count * (choosing.configs + 1) + 1,
                           sizeof *choosing.loss);
    if (choosing.loss == NULL)
        return false;
    choosing.least = choosing.loss + count * choosing.configs;
    fill(table, sizes, &choosing);
    *out_count = 0;
    while (*out_count < most) {
        double best = *out_count == 0 ? 0 : worth;
        size_t chosen = SHMT_LEARN_CONFIGS;

        for (size_t c = 0; c < choosing.configs; c++) {
            const double gain = gain_of(&choosing, c);

            if (gain > best) {
                best = gain;
                chosen = c;
            }
        }
        if (chosen == SHMT_LEARN_CONFIGS)
            break;
        out[(*out_count)++] = chosen;
        for (size_t k = 0; k < count; k++)
            choosing.least[k] = fmin(
                choosing.least[k],
                choosing.loss[k * choosing.configs + chosen]);
    }
    free(choosing.loss);
    return true;
}
