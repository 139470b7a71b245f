/* SPDX-License-Identifier: MIT */
/*
 * draw: see draw.h.  The same kernel, tuned problems and seed give the same
 * problems, on every machine.  Called by measure.c and command/.
 */
#include "learn/draw.h"

#include <math.h>
#include <string.h>

enum { TRIES = 2000, SMALLER = 4, LARGER = 1 };   /* in doublings */

static double log2_of(int64_t size)
{
    return log2(size > 1 ? (double)size : 1);
}

void shmt_learn_draw_begin(struct shmt_learn_draw *draw,
                           const struct shmt_kernel *kernel,
                           const int64_t (*tuned)[SHMT_KERNEL_DIMENSIONS],
                           size_t count, int64_t memory_bytes, uint64_t seed)
{
    *draw = (struct shmt_learn_draw){.kernel = kernel, .count = count,
                                     .tuned = tuned,
                                     .memory_bytes = memory_bytes};
    shmt_random_seed(&draw->random, seed ^ UINT64_C(0x6469737061746368));
    for (size_t d = 0; d < kernel->dimension_count; d++) {
        const struct shmt_dimension *const dimension =
            &kernel->dimensions[d];
        double low = INFINITY, high = 0;

        for (size_t k = 0; k < count; k++) {
            low = fmin(low, log2_of(tuned[k][d]));
            high = fmax(high, log2_of(tuned[k][d]));
        }
        draw->low[d] = fmax(low - SMALLER, log2_of(dimension->low));
        draw->high[d] = fmin(high + LARGER, log2_of(dimension->high));
    }
    for (size_t k = 0; k < count; k++) {
        double volume = 0;

        for (size_t d = 0; d < kernel->dimension_count; d++)
            volume += log2_of(tuned[k][d]);
        draw->volume = fmax(draw->volume, volume);
    }
}

void shmt_learn_draw_range(const struct shmt_learn_draw *draw, int64_t *least,
                           int64_t *most)
{
    for (size_t d = 0; d < draw->kernel->dimension_count; d++) {
        const bool drawn = !draw->kernel->dimensions[d].defined;

        least[d] = drawn ? (int64_t)exp2(draw->low[d]) : 0;
        most[d] = drawn ? (int64_t)ceil(exp2(draw->high[d])) : 0;
    }
}

static void draw_sizes(struct shmt_learn_draw *draw, int64_t *problem)
{
    const struct shmt_kernel *const kernel = draw->kernel;
    const uint64_t kind = shmt_random_below(&draw->random, 4);
    const size_t near = (size_t)shmt_random_below(&draw->random, draw->count);

    for (size_t d = 0; d < kernel->dimension_count; d++) {
        const struct shmt_dimension *const dimension =
            &kernel->dimensions[d];
        const double place = shmt_random_unit(&draw->random);
        const uint64_t other = shmt_random_below(&draw->random, draw->count);
        const int bits = 1 + (int)shmt_random_below(&draw->random, 8);
        double size = draw->low[d] + place * (draw->high[d] - draw->low[d]);

        if (kind == 3)
            size = log2_of(draw->tuned[near][d]) + 2 * place - 1;
        problem[d] = (int64_t)exp2(size);
        if (kind == 2 && problem[d] >> bits > 0)
            problem[d] = problem[d] >> bits << bits;
        if (dimension->defined)
            problem[d] = draw->tuned[kind == 3 ? near : other][d];
        if (problem[d] < dimension->low)
            problem[d] = dimension->low;
        if (problem[d] > dimension->high)
            problem[d] = dimension->high;
    }
}

/* Whether the arguments of the default take no more than there may be. */
static bool is_small(const struct shmt_learn_draw *draw,
                     struct shmt_kernel_evaluated *evaluated)
{
    int64_t sum = 0;

    for (size_t k = 0; k < draw->kernel->argument_count; k++) {
        uint64_t count = 0;
        int64_t bytes;

        if (draw->kernel->arguments[k].count == NULL)
            continue;
        if (shmt_kernel_argument_count(evaluated, k, &count, NULL) !=
            SHMTUNE_OK)
            return false;
        bytes = (int64_t)(count * shmt_element_bytes(
            draw->kernel->arguments[k].element));
        if (__builtin_add_overflow(sum, bytes, &sum))
            return false;
    }
    return sum <= draw->memory_bytes;
}

static bool is_good(const struct shmt_learn_draw *draw, const int64_t *problem)
{
    const struct shmt_kernel *const kernel = draw->kernel;
    const size_t bytes = kernel->dimension_count * sizeof *problem;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_kernel_evaluated evaluated;
    double volume = 0;

    for (size_t k = 0; k < draw->count; k++)
        if (memcmp(draw->tuned[k], problem, bytes) == 0)
            return false;
    for (size_t d = 0; d < kernel->dimension_count; d++)
        volume += log2_of(problem[d]);
    if (volume > draw->volume + LARGER)
        return false;
    shmt_kernel_default(kernel, config);
    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    return shmt_kernel_allows(&evaluated) &&
           shmt_kernel_evaluate_launches(&evaluated, NULL) == SHMTUNE_OK &&
           is_small(draw, &evaluated);
}

bool shmt_learn_draw_next(struct shmt_learn_draw *draw, int64_t *problem)
{
    for (int k = 0; draw->count > 0 && k < TRIES; k++) {
        draw_sizes(draw, problem);
        if (is_good(draw, problem))
            return true;
    }
    return false;
}
