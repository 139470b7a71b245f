/* SPDX-License-Identifier: MIT */
/*
 * tuning_front: the Pareto set of a tuned problem, written, copied and read.
 * Nothing in it decides what a library chooses.  Called by tuning.c and
 * tuning_read.c.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "record/tuning_order.h"
#include "yaml/yaml.h"

/* Of whole numbers all that a double has. */
enum { DIGITS = 6, WHOLE_DIGITS = 15 };
static const double most_number = 1e300;

enum { OF, ALL, SET, FRONT_KEYS };
static const char *const front_keys[FRONT_KEYS + 1] = {
    "of", "all", "set", NULL
};
enum { AT, CONFIGURATION, POINT_KEYS };
static const char *const point_keys[POINT_KEYS + 1] = {
    "at", "configuration", NULL
};

/* -- writing --------------------------------------------------------------- */

static void add_point(struct shmt_text *text, const struct shmt_tuned *tuned,
                      const struct shmt_tuned_point *point)
{
    shmt_text_add(text, "    - at: [");
    for (size_t k = 0; k < tuned->pareto.axis_count; k++) {
        shmt_text_add(text, k == 0 ? "" : ", ");
        shmt_yaml_add_real(text, point->at[k],
                           point->at[k] == floor(point->at[k]) ? WHOLE_DIGITS
                                                               : DIGITS);
    }
    shmt_text_add(text, "]\n      configuration: ");
    shmt_tuning_add_settings(text, point->settings, tuned->setting_count,
                             tuned->settings);
}

void shmt_tuning_add_front(struct shmt_text *text,
                           const struct shmt_tuned *tuned)
{
    const struct shmt_tuned_front *const front = &tuned->pareto;

    if (front->axis_count == 0)
        return;
    shmt_text_add(text, "  pareto:\n    of: {");
    for (size_t k = 0; k < front->axis_count; k++) {
        shmt_text_add(text, k == 0 ? "" : ", ");
        shmt_yaml_add_string(text, front->axes[k].name);
        shmt_text_add(text, front->axes[k].most ? ": max" : ": min");
    }
    shmt_text_addf(text, "}\n    all: %" PRIu64 "\n", front->all);
    shmt_text_add(text, front->count == 0 ? "    set: []\n" : "    set:\n");
    for (size_t k = 0; k < front->count; k++)
        add_point(text, tuned, &front->points[k]);
}

bool shmt_tuning_copy_front(struct shmt_arena *arena, size_t setting_count,
                            struct shmt_tuned_front *front)
{
    struct shmt_tuned_point *const points = shmt_arena_copy(
        arena, front->points, front->count * sizeof *front->points);

    if (points == NULL)
        return false;
    for (size_t k = 0; k < front->axis_count; k++) {
        const char *const name = front->axes[k].name;

        front->axes[k].name = shmt_arena_copy(arena, name, strlen(name));
        if (front->axes[k].name == NULL)
            return false;
    }
    for (size_t k = 0; k < front->count; k++) {
        points[k].settings = shmt_tuning_copy_settings(
            arena, points[k].settings, setting_count);
        if (points[k].settings == NULL)
            return false;
    }
    front->points = points;
    return true;
}

/* -- reading --------------------------------------------------------------- */

static enum shmtune_status read_axes(struct shmt_arena *arena,
                                     const struct shmt_yaml *node,
                                     struct shmt_tuned_front *front,
                                     struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "of", err);

    if (status == SHMTUNE_OK &&
        (node->count < 2 || node->count > SHMT_TUNED_AXES))
        return shmt_yaml_refuse(node, err, "found %zu numbers, expected 2 to "
                                "%d", node->count, SHMT_TUNED_AXES);
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++) {
        const char *name = NULL, *way = NULL;

        status = shmt_yaml_word(node->keys[k], &name, err);
        if (status == SHMTUNE_OK)
            status = shmt_yaml_word(node->items[k], &way, err);
        if (status == SHMTUNE_OK && strcmp(way, "min") != 0 &&
            strcmp(way, "max") != 0)
            status = shmt_yaml_expected(node->items[k], err, "min or max");
        if (status != SHMTUNE_OK)
            return status;
        front->axes[k].most = way[1] == 'a';
        front->axes[k].name = shmt_arena_copy(arena, name, strlen(name));
        if (front->axes[k].name == NULL)
            return shmt_error_memory(err);
    }
    front->axis_count = node->count;
    return status;
}

static enum shmtune_status read_numbers(const struct shmt_yaml *node,
                                        size_t count,
                                        double out[SHMT_TUNED_AXES],
                                        struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "at", err);

    if (status == SHMTUNE_OK && node->count != count)
        return shmt_yaml_refuse(node, err, "found %zu numbers, expected %zu, "
                                "one for each of `of`", node->count, count);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        status = shmt_yaml_real(node->items[k], &out[k], err);
        if (status == SHMTUNE_OK && fabs(out[k]) > most_number)
            status = shmt_yaml_expected(node->items[k], err,
                                        "a number up to %g", most_number);
    }
    return status;
}

static enum shmtune_status read_point(struct shmt_arena *arena,
                                      const struct shmt_yaml *node,
                                      const struct shmt_tuned *tuned,
                                      struct shmt_tuned_point *out,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *values[POINT_KEYS];
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "a point", err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(node, point_keys, values, err);
    for (int k = 0; status == SHMTUNE_OK && k < POINT_KEYS; k++)
        status = shmt_yaml_need(node, point_keys[k], &values[k], err);
    if (status == SHMTUNE_OK)
        status = read_numbers(values[AT], tuned->pareto.axis_count, out->at,
                              err);
    return status != SHMTUNE_OK
               ? status
               : shmt_tuning_read_like(arena, values[CONFIGURATION],
                                       tuned->settings, tuned->setting_count,
                                       &out->settings, err);
}

enum shmtune_status shmt_tuning_read_front(struct shmt_arena *arena,
                                           const struct shmt_yaml *node,
                                           struct shmt_tuned *tuned,
                                           struct shmt_error *err)
{
    struct shmt_tuned_front *const front = &tuned->pareto;
    struct shmt_tuned_point *points;
    const struct shmt_yaml *values[FRONT_KEYS];
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "pareto", err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(node, front_keys, values, err);
    for (int k = 0; status == SHMTUNE_OK && k < FRONT_KEYS; k++)
        status = shmt_yaml_need(node, front_keys[k], &values[k], err);
    if (status == SHMTUNE_OK)
        status = read_axes(arena, values[OF], front, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_count(values[ALL], &front->all, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(values[SET], SHMT_YAML_SEQUENCE, "set", err);
    if (status != SHMTUNE_OK)
        return status;
    if (values[SET]->count > SHMT_TUNED_FRONT ||
        values[SET]->count > front->all)
        return shmt_yaml_refuse(values[SET], err, "found %zu configurations, "
                                "expected at most %d, and `all`",
                                values[SET]->count, SHMT_TUNED_FRONT);
    points = shmt_arena_alloc(arena, values[SET]->count, sizeof *points);
    if (points == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < values[SET]->count; k++)
        status = read_point(arena, values[SET]->items[k], tuned, &points[k],
                            err);
    front->points = points;
    front->count = values[SET]->count;
    return status;
}
