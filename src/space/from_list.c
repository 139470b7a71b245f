/* SPDX-License-Identifier: MIT */
/*
 * list: a space that is given by its configurations, one by one: a
 * tree of prefixes, reduced like any other diagram.
 */
#include <stdlib.h>
#include <string.h>

#include "space/build.h"

struct list {
    const struct shmt_space_definition *definition;
    size_t count;
    const shmt_config **items;       /* each once, ascending */
    struct shmt_plan plan;           /* only what shmt_build_reduce reads */
    struct shmt_build_layers raw;
};

static int compare(const struct list *list, const shmt_config *a,
                   const shmt_config *b)
{
    for (size_t p = 0; p < list->definition->parameter_count; p++)
        if (a[p] != b[p])
            return a[p] < b[p] ? -1 : 1;
    return 0;
}

/* Merges [from, from + half) and [from + half, to) of one array into the
 * other. */
static void merge(const struct list *list, const shmt_config **from,
                  const shmt_config **to, size_t bounds[3])
{
    size_t a = bounds[0], b = bounds[1], at = bounds[0];

    while (a < bounds[1] || b < bounds[2]) {
        if (b == bounds[2] ||
            (a < bounds[1] && compare(list, from[a], from[b]) <= 0))
            to[at++] = from[a++];
        else
            to[at++] = from[b++];
    }
}

/* POSIX's qsort has no place for the number of parameters. */
static bool sort(struct list *list)
{
    const shmt_config **other = malloc((list->count + 1) * sizeof *other);
    const shmt_config **from = list->items, **to = other;
    size_t kept = 0;

    if (other == NULL)
        return false;
    for (size_t run = 1; run < list->count; run *= 2) {
        const shmt_config **swap = from;

        for (size_t at = 0; at < list->count; at += 2 * run) {
            size_t bounds[3] = {at, at + run, at + 2 * run};

            for (size_t k = 1; k < 3; k++)
                if (bounds[k] > list->count)
                    bounds[k] = list->count;
            merge(list, from, to, bounds);
        }
        from = to;
        to = swap;
    }
    for (size_t k = 0; k < list->count; k++)
        if (kept == 0 || compare(list, from[kept - 1], from[k]) != 0)
            from[kept++] = from[k];
    list->count = kept;
    list->items = from;
    free(to);
    return true;
}

/* The edges of level `at`, one a prefix that is longer by its parameter;
 * `state` is the number of the prefix that each configuration has. */
static bool make_layer(struct list *list, size_t at, uint32_t *state)
{
    struct shmt_build_layer *raw = &list->raw.layers[at];
    const uint8_t p = list->plan.levels[at + 1].parameter;
    const bool last = at + 1 == list->plan.level_count;
    uint32_t above = 0, below = 0;

    raw->state_count = state[list->count - 1] + 1;
    raw->first = calloc((size_t)raw->state_count + 1, sizeof *raw->first);
    raw->child = malloc(list->count * sizeof *raw->child);
    raw->value = malloc(list->count * sizeof *raw->value);
    if (raw->first == NULL || raw->child == NULL || raw->value == NULL)
        return false;
    for (size_t k = 0; k < list->count; k++) {
        const shmt_config value = list->items[k][p];

        if (k == 0 || state[k] != above ||
            value != raw->value[raw->edge_count - 1]) {
            above = state[k];
            raw->value[raw->edge_count] = value;
            raw->child[raw->edge_count] =
                last ? 0 : (uint32_t)raw->edge_count;
            below = (uint32_t)raw->edge_count++;
            raw->first[above + 1] = (uint32_t)raw->edge_count;
        }
        state[k] = below;
    }
    return true;
}

static bool make_layers(struct list *list)
{
    const struct shmt_space_definition *const d = list->definition;
    uint32_t *state = calloc(list->count + 1, sizeof *state);
    bool fine;

    list->plan.levels =
        calloc(d->parameter_count + 1, sizeof *list->plan.levels);
    list->raw.layers =
        calloc(d->parameter_count + 1, sizeof *list->raw.layers);
    list->raw.end_count = 1;
    list->raw.end_fault = UINT32_MAX;
    fine = state != NULL && list->plan.levels != NULL &&
           list->raw.layers != NULL;
    for (size_t p = 0; fine && p < d->parameter_count; p++)
        if (d->parameters[p].count > 1)
            list->plan.levels[++list->plan.level_count].parameter =
                (uint8_t)p;
    for (size_t at = 0; fine && at < list->plan.level_count; at++)
        fine = make_layer(list, at, state);
    free(state);
    return fine;
}

static void drop(struct list *list)
{
    for (size_t k = 0; list->raw.layers != NULL &&
                       k < list->plan.level_count; k++) {
        free(list->raw.layers[k].first);
        free(list->raw.layers[k].child);
        free(list->raw.layers[k].value);
    }
    free(list->raw.layers);
    free(list->plan.levels);
    free(list->items);
}

/* Whether every entry is the index of a value of its parameter. */
static bool is_sound(const struct shmt_space_definition *definition,
                     const shmt_config *config)
{
    for (size_t p = 0; p < definition->parameter_count; p++)
        if (config[p] >= definition->parameters[p].count)
            return false;
    return true;
}

enum shmtune_status
shmt_space_from_list(const struct shmt_space_definition *definition,
                     const shmt_config *const *configs, size_t count,
                     struct shmt_space **out, struct shmt_error *err)
{
    struct list list = {.definition = definition, .count = count};
    struct shmt_space *space;
    bool fine = true;

    if (definition->parameter_count > SHMT_SPACE_PARAMETERS)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%zu parameters, at most %d are possible",
                              definition->parameter_count,
                              SHMT_SPACE_PARAMETERS);
    for (size_t k = 0; k < count; k++)
        if (!is_sound(definition, configs[k]))
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "configuration %zu has no such values", k);
    space = calloc(1, sizeof *space);
    list.items = malloc((count + 1) * sizeof *list.items);
    fine = space != NULL && list.items != NULL;
    if (fine && count > 0) {
        memcpy(list.items, configs, count * sizeof *configs);
        fine = sort(&list) && list.count < UINT32_MAX && make_layers(&list) &&
               shmt_build_reduce(&list.plan, &list.raw, &space->diagram);
    }
    drop(&list);
    if (!fine) {
        shmt_space_free(space);
        return shmt_error_memory(err);
    }
    space->definition = *definition;
    *out = space;
    return SHMTUNE_OK;
}
