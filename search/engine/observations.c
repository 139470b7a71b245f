/* SPDX-License-Identifier: MIT */
/*
 * observations: see observations.h.
 * It is not known which property of a parameter's numbers matters: their rank,
 * their size, or how often 2 divides them (96 and 160 threads are whole warps,
 * 64 and 128 are powers of two).  So a feature has all three.
 */
#include "search/engine/observations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = SHMT_SURROGATE_LEVELS };

static double number_of(const struct shmt_value *value)
{
    return value->type == SHMT_VALUE_INT ? (double)value->i : value->r;
}

/* How often 2 divides a whole number; 0 for others. */
static double twos_of(double number)
{
    double twos = 0;

    if (!(number >= 1) || number > 1e15 || number != floor(number))
        return 0;
    for (; fmod(number, 2) == 0; number /= 2)
        twos++;
    return twos;
}

/* Values of a parameter at the levels of its feature. */
struct numbers {
    size_t count;
    double at[MOST_LEVELS];
    double least, most;
};

/* The mean of a value's rank and its size, both from 0 to 1; the size by its
 * logarithm if no value is negative. */
static float place_of(const struct numbers *numbers, size_t level)
{
    const double value = numbers->at[level];
    const double shift = numbers->least > 0 ? 0 : 1;
    double below = 0, size;

    for (size_t k = 0; k < numbers->count; k++)
        below += numbers->at[k] < value;
    if (numbers->least >= 0)
        size = log((value + shift) / (numbers->least + shift))
               / log((numbers->most + shift) / (numbers->least + shift));
    else
        size = (value - numbers->least) / (numbers->most - numbers->least);
    below /= (double)(numbers->count - 1);
    return (float)(isfinite(size) ? (below + size) / 2 : below);
}

/* No divisibility is set if it is the same for all values, or says no more
 * than their order. */
static void set_divisibility(const struct numbers *numbers,
                             struct shmt_surrogate_feature *feature)
{
    double least = INFINITY, most = 0;
    bool rising = true;

    for (size_t k = 0; k < numbers->count; k++) {
        const double twos = twos_of(numbers->at[k]);

        rising = rising && (k == 0 || twos > feature->divisibility[k - 1]);
        feature->divisibility[k] = (float)twos;
        least = fmin(least, twos);
        most = fmax(most, twos);
    }
    feature->divisible = numbers->least > 0 && most > least && !rising;
    for (size_t k = 0; feature->divisible && k < numbers->count; k++)
        feature->divisibility[k] =
            (float)((feature->divisibility[k] - least) / (most - least));
}

static void make_feature(const struct shmt_parameter *parameter,
                         struct shmt_surrogate_feature *feature)
{
    const size_t count =
        parameter->count < MOST_LEVELS ? parameter->count : MOST_LEVELS;
    struct numbers numbers = {
        .count = count, .least = INFINITY, .most = -INFINITY};

    *feature = (struct shmt_surrogate_feature){
        .levels = (uint16_t)count,
        .ordered = parameter->type != SHMT_VALUE_WORD};
    if (!feature->ordered)
        return;
    for (size_t k = 0; k < count; k++) {
        numbers.at[k] = number_of(
            &parameter->values[k * parameter->count / count]);
        numbers.least = fmin(numbers.least, numbers.at[k]);
        numbers.most = fmax(numbers.most, numbers.at[k]);
    }
    feature->ordered = numbers.most > numbers.least;
    if (!feature->ordered)
        return;
    for (size_t k = 0; k < count; k++)
        feature->along[k] = place_of(&numbers, k);
    set_divisibility(&numbers, feature);
}

void shmt_observations_begin(struct shmt_observations *o,
                             const struct shmt_space *space)
{
    *o = (struct shmt_observations){.space = space};
    for (size_t p = 0; p < shmt_space_parameters(space); p++) {
        const struct shmt_parameter *const parameter =
            shmt_space_parameter(space, p);

        if (parameter->count < 2)
            continue;
        make_feature(parameter, &o->features[o->parameters]);
        o->parameter[o->parameters++] = p;
    }
}

void shmt_observations_end(struct shmt_observations *o)
{
    free(o->list);
    free(o->rows);
    free(o->sorted);
}

void shmt_observations_row_of(const struct shmt_observations *o,
                              const shmt_config *config, uint8_t *row)
{
    for (size_t k = 0; k < o->parameters; k++) {
        const size_t p = o->parameter[k];
        const size_t count = shmt_space_parameter(o->space, p)->count;

        row[k] = (uint8_t)(count <= MOST_LEVELS
                               ? config[p] : config[p] * MOST_LEVELS / count);
    }
}

void shmt_observations_row(const struct shmt_observations *o, uint64_t index,
                           uint8_t *row)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_space_configuration(o->space, index, config);
    shmt_observations_row_of(o, config, row);
}

static bool make_room(struct shmt_observations *o)
{
    size_t list = o->room, rows = o->room, sorted = o->room;

    if (!shmt_array_reserve(&o->list, &list, o->count + 1, sizeof *o->list) ||
        !shmt_array_reserve(&o->rows, &rows, o->count + 1, o->parameters) ||
        !shmt_array_reserve(&o->sorted, &sorted, o->count + 1,
                            sizeof *o->sorted))
        return false;
    o->room = list;
    return true;
}

static void sort_in(struct shmt_observations *o, double cost)
{
    size_t low = 0, high = o->valid;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (o->sorted[middle] <= cost)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(o->sorted + low + 1, o->sorted + low,
            (o->valid - low) * sizeof *o->sorted);
    o->sorted[low] = cost;
    o->valid++;
}

bool shmt_observations_tell(struct shmt_observations *o, uint64_t index,
                            double cost)
{
    const bool valid = isfinite(cost) && cost > 0;

    if (!make_room(o))
        return false;
    o->list[o->count] = (struct shmt_observation){
        index, valid ? log(cost) : INFINITY};
    shmt_observations_row(o, index, o->rows + o->count * o->parameters);
    if (valid && (o->valid == 0
                  || o->list[o->count].cost < o->list[o->best].cost))
        o->best = o->count;
    if (valid)
        sort_in(o, o->list[o->count].cost);
    o->count++;
    return true;
}

double shmt_observations_quantile(const struct shmt_observations *o,
                                  double part)
{
    return o->valid == 0
               ? 0 : o->sorted[(size_t)((double)(o->valid - 1) * part)];
}
