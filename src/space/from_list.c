/* SPDX-License-Identifier: MIT */
/*
 * from_list: a space that is given by its configurations, one by one: a tree
 * of prefixes, reduced like any other diagram.  Called for recordings, and by
 * draw.c.
 */
#include <stdlib.h>

#include "space/build.h"

/* One configuration; POSIX's qsort has no place for the number of
 * parameters. */
struct row {
    const shmt_config *config;
    size_t parameters;
};

struct list {
    const struct shmt_space_definition *definition;
    size_t count;
    struct row *rows;                /* each once, ascending */
    struct shmt_plan plan;           /* only what shmt_build_reduce reads */
    struct shmt_build_layers raw;
};

static int compare(const void *x, const void *y)
{
    const struct row *const a = x, *const b = y;

    for (size_t p = 0; p < a->parameters; p++)
        if (a->config[p] != b->config[p])
            return a->config[p] < b->config[p] ? -1 : 1;
    return 0;
}

static void sort(struct list *list)
{
    struct row *const rows = list->rows;
    size_t kept = 0;

    qsort(rows, list->count, sizeof *rows, compare);
    for (size_t k = 0; k < list->count; k++)
        if (kept == 0 || compare(&rows[kept - 1], &rows[k]) != 0)
            rows[kept++] = rows[k];
    list->count = kept;
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
        const shmt_config value = list->rows[k].config[p];

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
    bool fine;

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
    list.rows = malloc((count + 1) * sizeof *list.rows);
    fine = space != NULL && list.rows != NULL;
    if (fine && count > 0) {
        for (size_t k = 0; k < count; k++)
            list.rows[k] =
                (struct row){configs[k], definition->parameter_count};
        sort(&list);
        fine = list.count < UINT32_MAX && make_layers(&list) &&
               shmt_build_reduce(&list.plan, &list.raw, NULL,
                                 &space->diagram) == SHMT_BUILD_DONE;
    }
    shmt_build_free_layers(&list.raw, list.plan.level_count);
    free(list.plan.levels);
    free(list.rows);
    if (!fine) {
        shmt_space_free(space);
        return shmt_error_memory(err);
    }
    space->definition = *definition;
    space->definition.limits = NULL;
    *out = space;
    return SHMTUNE_OK;
}
