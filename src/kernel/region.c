/* SPDX-License-Identifier: MIT */
/*
 * region: reads which elements of an output are looked at, where its rows are
 * pitched or padded, and evaluates it for a problem.  Called by argument.c, and
 * by bench/, which compares.
 */
#include "kernel/read.h"

#include <string.h>

/* In the order of shmt_argument.region. */
enum { COLUMNS, ROWS, PLANES, PITCH, PLANE_PITCH, OFFSET };
static const char *const keys[] = {
    "columns", "rows", "planes", "pitch", "plane_pitch", "offset", NULL};

enum shmtune_status shmt_kernel_region_read(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *mapping,
                                            struct shmt_argument *argument)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "region"), *number;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    argument->region_place = node->place;
    status = shmt_yaml_expect(node, SHMT_YAML_MAPPING,
                              "region, {columns: COLS, rows: ROWS, pitch: "
                              "PITCH}", reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, keys, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, keys[COLUMNS], &number, reader->err);
    for (size_t k = 0; status == SHMTUNE_OK && keys[k] != NULL; k++) {
        number = shmt_yaml_get(node, keys[k]);
        if (number != NULL)
            status = shmt_kernel_read_problem_expr(
                reader, number, "a number of a region", &argument->region[k]);
    }
    return status;
}

/* -- evaluating ----------------------------------------------------------- */

static enum shmtune_status evaluate(const struct shmt_expr *expr,
                                    struct shmt_expr_evaluation *evaluation,
                                    int64_t least, int64_t most,
                                    uint64_t *out, struct shmt_error *err)
{
    int64_t number;
    enum shmtune_status status;

    if (expr == NULL)
        return SHMTUNE_OK;
    status = shmt_expr_next_int(expr, evaluation, &number, err);
    if (status != SHMTUNE_OK)
        return status;
    if (number < least || number > most)
        return shmt_yaml_refuse_at(
            shmt_expr_place(expr), err,
            "a region with the number %lld; %lld to the count, %lld, is "
            "expected", (long long)number, (long long)least, (long long)most);
    *out = (uint64_t)number;
    return SHMTUNE_OK;
}

/* Rows do not overlap, planes neither, and the last element is one of the
 * buffer's.  Each number is at most the count, and no product is computed that
 * could be far above it. */
static enum shmtune_status check(const struct shmt_argument *argument,
                                 const struct shmt_region *region,
                                 uint64_t count, struct shmt_error *err)
{
    const bool too_many_rows = region->rows - 1 > count / region->pitch;
    const bool too_many_planes =
        region->planes - 1 > count / region->plane_pitch;
    const uint64_t last_plane =
        too_many_rows ? count : (region->rows - 1) * region->pitch +
                                    region->columns - 1;
    const uint64_t last =
        too_many_planes ? count : (region->planes - 1) * region->plane_pitch +
                                      last_plane + region->offset;

    if (region->pitch < region->columns)
        return shmt_yaml_refuse_at(argument->region_place, err,
                                   "rows of %llu columns with a pitch of %llu; "
                                   "rows would overlap",
                                   (unsigned long long)region->columns,
                                   (unsigned long long)region->pitch);
    if (last >= count)
        return shmt_yaml_refuse_at(argument->region_place, err,
                                   "the region goes on behind the %llu "
                                   "elements of %s",
                                   (unsigned long long)count, argument->name);
    if (region->plane_pitch <= last_plane)
        return shmt_yaml_refuse_at(argument->region_place, err,
                                   "planes of %llu elements with a plane_pitch "
                                   "of %llu; planes would overlap",
                                   (unsigned long long)last_plane + 1,
                                   (unsigned long long)region->plane_pitch);
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_argument_region(struct shmt_kernel_evaluated *evaluated, size_t k,
                            struct shmt_region *out, struct shmt_error *err)
{
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    struct shmt_region region = {.rows = 1, .planes = 1};
    uint64_t *const numbers[] = {&region.columns, &region.rows,
                                 &region.planes, &region.pitch,
                                 &region.plane_pitch, &region.offset};
    uint64_t count;
    enum shmtune_status status =
        shmt_kernel_argument_count(evaluated, k, &count, err);

    for (size_t n = 0; argument->region[COLUMNS] != NULL &&
                       status == SHMTUNE_OK && keys[n] != NULL; n++) {
        if (n == PITCH)
            region.pitch = region.columns;
        if (n == PLANE_PITCH)
            region.plane_pitch = region.rows > count / region.pitch
                                     ? count : region.rows * region.pitch;
        status = evaluate(argument->region[n], &evaluated->evaluation,
                          n == OFFSET ? 0 : 1, (int64_t)count, numbers[n],
                          err);
    }
    if (status == SHMTUNE_OK && argument->region[COLUMNS] != NULL)
        status = check(argument, &region, count, err);
    if (status == SHMTUNE_OK)
        *out = region;
    return status;
}

uint64_t shmt_region_count(const struct shmt_region *region, uint64_t count)
{
    return region->columns == 0
               ? count : region->planes * region->rows * region->columns;
}

bool shmt_region_has(const struct shmt_region *region, uint64_t index)
{
    uint64_t in_plane;

    if (region->columns == 0)
        return true;
    if (index < region->offset)
        return false;
    index -= region->offset;
    in_plane = index % region->plane_pitch;
    return index / region->plane_pitch < region->planes &&
           in_plane / region->pitch < region->rows &&
           in_plane % region->pitch < region->columns;
}
