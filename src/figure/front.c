/* SPDX-License-Identifier: MIT */
/*
 * front: the Pareto set of candidates.  They are sorted by their first axis,
 * then by the others, so that only one before another can dominate it: each is
 * compared with those that have stayed.  Called by tune/, report/ and commands.
 */
#include "figure/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A candidate by its position; `at` is turned so that less is better. */
struct point {
    size_t of;
    double at[SHMT_FIGURE_AXES];
};

static int compare(const void *left, const void *right)
{
    const struct point *const a = left, *const b = right;

    for (size_t k = 0; k < SHMT_FIGURE_AXES; k++)
        if (a->at[k] < b->at[k] || a->at[k] > b->at[k])
            return a->at[k] < b->at[k] ? -1 : 1;
    return (a->of > b->of) - (a->of < b->of);
}

/* At least as good on each axis. */
static bool covers(const struct point *a, const struct point *b)
{
    for (size_t k = 0; k < SHMT_FIGURE_AXES; k++)
        if (a->at[k] > b->at[k])
            return false;
    return true;
}

/* False: a number of it is not known. */
static bool place(const struct shmt_figures *figures, size_t of,
                  const struct shmt_figure_candidate *candidate,
                  struct point *out)
{
    const struct shmt_tuned_axis *axes;
    const size_t count = shmt_figures_axes(figures, &axes);

    *out = (struct point){.of = of};
    for (size_t k = 0; k < count; k++) {
        const double number = shmt_figures_axis(figures, k, candidate);

        if (isnan(number))
            return false;
        out->at[k] = axes[k].most ? -number : number;
    }
    return true;
}

/* Moves those that no other one dominates to the front; how many. */
static size_t sort_out(struct point *points, size_t count)
{
    size_t front = 0;

    qsort(points, count, sizeof *points, compare);
    for (size_t k = 0; k < count; k++) {
        size_t other = 0;

        while (other < front && !covers(&points[other], &points[k]))
            other++;
        if (other == front)
            points[front++] = points[k];
    }
    return front;
}

static struct shmt_setting *
settings_of(struct shmt_arena *arena, const struct shmt_kernel *kernel,
            const shmt_config *config)
{
    struct shmt_setting *const settings =
        shmt_arena_alloc(arena, kernel->parameter_count, sizeof *settings);

    for (size_t p = 0; settings != NULL && p < kernel->parameter_count; p++)
        settings[p] = (struct shmt_setting){
            kernel->parameters[p].name,
            kernel->parameters[p].values[config[p]]};
    return settings;
}

static bool describe(const struct shmt_figures *figures,
                     struct shmt_arena *arena, const struct point *points,
                     const struct shmt_figure_candidate *candidates,
                     struct shmt_tuned_front *out)
{
    const size_t all = (size_t)out->all;
    const size_t count = all < SHMT_TUNED_FRONT ? all : SHMT_TUNED_FRONT;
    struct shmt_tuned_point *const described =
        shmt_arena_alloc(arena, count, sizeof *described);

    if (described == NULL)
        return false;
    for (size_t k = 0; k < count; k++) {
        const struct point *const one =
            &points[count < 2 ? 0 : k * (all - 1) / (count - 1)];

        for (size_t a = 0; a < out->axis_count; a++)
            described[k].at[a] = out->axes[a].most ? -one->at[a] : one->at[a];
        described[k].settings =
            settings_of(arena, shmt_figures_kernel(figures),
                        candidates[one->of].config);
        if (described[k].settings == NULL)
            return false;
    }
    out->points = described;
    out->count = count;
    return true;
}

enum shmtune_status
shmt_figures_front(const struct shmt_figures *figures,
                   struct shmt_arena *arena,
                   const struct shmt_figure_candidate *candidates,
                   size_t count, struct shmt_tuned_front *out,
                   struct shmt_error *err)
{
    const struct shmt_tuned_axis *axes;
    struct shmt_tuned_front front = {
        .axis_count = shmt_figures_axes(figures, &axes)};
    struct point *points;
    size_t known = 0;
    bool done;

    *out = front;
    if (front.axis_count == 0)
        return SHMTUNE_OK;
    memcpy(front.axes, axes, front.axis_count * sizeof *axes);
    points = calloc(count + 1, sizeof *points);
    if (points == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < count; k++)
        known += place(figures, k, &candidates[k], &points[known]);
    front.all = sort_out(points, known);
    done = describe(figures, arena, points, candidates, &front);
    free(points);
    if (!done)
        return shmt_error_memory(err);
    *out = front;
    return SHMTUNE_OK;
}
