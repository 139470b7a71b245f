/* SPDX-License-Identifier: MIT */
/*
 * tensor: tensor maps, by which kernels copy boxes of a buffer between the
 * memory of the device and shared memory (TMA): reads them for argument.c, and
 * evaluates them for bench/ and runtime/, which have the driver encode them.
 *
 * The limits are those of cuTensorMapEncodeTiled: what it refuses would be an
 * error without a reason.
 */
#include "kernel/read.h"

#include <string.h>

enum {
    EXTENTS = 0,
    STRIDES = EXTENTS + SHMT_ARGUMENT_RANK,
    BOX = STRIDES + SHMT_ARGUMENT_RANK,
    SWIZZLE = BOX + SHMT_ARGUMENT_RANK,
    INTERLEAVE, L2,
    BOX_MOST = 256, UNIT_BYTES = 16
};

static const char *const keys[] = {"tensor_map", "extents", "strides", "box",
                                   "swizzle", "interleave", "l2", NULL};

/* A list of expressions, `least` to `most` of them. */
static enum shmtune_status read_numbers(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *mapping,
                                        const char *key, size_t least,
                                        size_t most, struct shmt_expr **out,
                                        size_t *count)
{
    const struct shmt_yaml *node;
    enum shmtune_status status =
        shmt_yaml_need(mapping, key, &node, reader->err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, key, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    if (node->count < least || node->count > most)
        return shmt_yaml_refuse(node, reader->err,
                                "%s has %zu numbers; %zu to %zu are expected",
                                key, node->count, least, most);
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++)
        status = shmt_kernel_read_expr(reader, node->items[k], &out[k]);
    *count = node->count;
    return status;
}

enum shmtune_status shmt_kernel_tensor_read(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *mapping,
                                            struct shmt_argument *argument)
{
    struct shmt_expr **numbers = shmt_arena_alloc(
        reader->kernel->arena, SHMT_ARGUMENT_NUMBERS, sizeof *numbers);
    const struct shmt_yaml *to = shmt_yaml_get(mapping, keys[0]);
    enum shmtune_status status =
        shmt_yaml_check_keys(mapping, keys, reader->err);
    size_t count;

    if (numbers == NULL)
        return shmt_error_memory(reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_base_read(reader, to, argument);
    if (status == SHMTUNE_OK)
        status = read_numbers(reader, mapping, "extents", 1,
                              SHMT_ARGUMENT_RANK, numbers + EXTENTS,
                              &argument->rank);
    if (status == SHMTUNE_OK)
        status = read_numbers(reader, mapping, "box", argument->rank,
                              argument->rank, numbers + BOX, &count);
    if (status == SHMTUNE_OK && shmt_yaml_get(mapping, "strides") != NULL)
        status = read_numbers(reader, mapping, "strides", argument->rank - 1,
                              argument->rank - 1, numbers + STRIDES, &count);
    for (size_t k = SWIZZLE; status == SHMTUNE_OK && k <= L2; k++) {
        const struct shmt_yaml *node =
            shmt_yaml_get(mapping, keys[4 + k - SWIZZLE]);

        if (node != NULL)
            status = shmt_kernel_read_expr(reader, node, &numbers[k]);
    }
    argument->role = SHMT_ROLE_TENSOR_MAP;
    argument->fill_place = mapping->place;
    argument->numbers_of_map = numbers;
    argument->bytes = SHMT_ARGUMENT_MAP_BYTES;
    argument->alignment = SHMT_ARGUMENT_MAP_ALIGNMENT;
    return status;
}

/* -- evaluating ----------------------------------------------------------- */

/* What one map is evaluated with. */
struct evaluating {
    struct shmt_kernel_evaluated *evaluated;
    const struct shmt_argument *argument;
    struct shmt_error *err;
};

static enum shmtune_status refuse(const struct evaluating *with, size_t number,
                                  const char *what, int64_t found,
                                  const char *expected)
{
    const struct shmt_expr *expr = with->argument->numbers_of_map[number];

    return shmt_yaml_refuse_at(expr != NULL ? shmt_expr_place(expr)
                                            : with->argument->fill_place,
                               with->err, "the tensor map %s: %s is %lld; %s",
                               with->argument->name, what, (long long)found,
                               expected);
}

/* A number of the map in [least, most]; `usual` where it is not stated. */
static enum shmtune_status number_of(const struct evaluating *with, size_t k,
                                     const char *what, int64_t most,
                                     int64_t usual, int64_t *out)
{
    const struct shmt_expr *expr = with->argument->numbers_of_map[k];
    enum shmtune_status status = SHMTUNE_OK;

    *out = usual;
    if (expr != NULL)
        status = shmt_expr_next_int(expr, &with->evaluated->evaluation, out,
                                    with->err);
    if (status == SHMTUNE_OK && (*out < 1 || *out > most))
        return refuse(with, k, what, *out, "a number from 1 is expected, "
                      "2^32 at most for extents, 256 for a box");
    return status;
}

static enum shmtune_status word_of(const struct evaluating *with, size_t k,
                                   const char *what, const int *allowed,
                                   int *out)
{
    const struct shmt_expr *expr = with->argument->numbers_of_map[k];
    int64_t number = 0;
    enum shmtune_status status = SHMTUNE_OK;

    if (expr != NULL)
        status = shmt_expr_next_int(expr, &with->evaluated->evaluation,
                                    &number, with->err);
    for (; status == SHMTUNE_OK && *allowed >= 0; allowed++)
        if (number == *allowed) {
            *out = (int)number;
            return SHMTUNE_OK;
        }
    return status == SHMTUNE_OK
               ? refuse(with, k, what, number, "0 for none, or a number of "
                        "bytes that the hardware knows, is expected")
               : status;
}

/* Extents, strides and box; *end is the last element, from 0. */
static enum shmtune_status box_of(const struct evaluating *with,
                                  struct shmt_argument_map *map,
                                  uint64_t *end)
{
    const int64_t unit = (int64_t)shmt_element_bytes(map->element);
    int64_t stride = 1;
    enum shmtune_status status = SHMTUNE_OK;

    *end = 0;
    for (size_t k = 0; k < map->rank; k++) {
        int64_t extent = 0, box = 0;

        status = number_of(with, EXTENTS + k, "an extent", INT64_C(1) << 32,
                           0, &extent);
        if (status == SHMTUNE_OK)
            status = number_of(with, BOX + k, "an extent of the box",
                               BOX_MOST, 0, &box);
        if (status == SHMTUNE_OK && k > 0)
            status = number_of(with, STRIDES + k - 1, "a stride",
                               (INT64_C(1) << 40) - 1, stride, &stride);
        if (status != SHMTUNE_OK)
            return status;
        if (k > 0 && stride * unit % UNIT_BYTES != 0)
            return refuse(with, STRIDES + k - 1, "a stride in bytes",
                          stride * unit, "a multiple of 16 is expected: give "
                          "rows a pitch, roundup(..., 16 / bytes)");
        map->extents[k] = (uint64_t)extent;
        map->box[k] = (uint32_t)box;
        if (k > 0)
            map->strides[k - 1] = (uint64_t)(stride * unit);
        *end += (uint64_t)(extent - 1) * (uint64_t)stride;
        stride = extent > INT64_MAX / stride ? INT64_MAX : stride * extent;
    }
    return SHMTUNE_OK;
}

static enum shmtune_status check(const struct evaluating *with,
                                 const struct shmt_argument_map *map,
                                 uint64_t end)
{
    const size_t target = with->argument->members[0].target;
    const int64_t row =
        (int64_t)(map->box[0] * shmt_element_bytes(map->element));
    uint64_t count;
    const enum shmtune_status status = shmt_kernel_argument_count(
        with->evaluated, target, &count, with->err);

    if (status != SHMTUNE_OK)
        return status;
    if (map->interleave == 0 && row % UNIT_BYTES != 0)
        return refuse(with, BOX, "a row of the box in bytes", row,
                      "a multiple of 16 is expected");
    if (map->interleave == 0 && map->swizzle > 0 && row > map->swizzle)
        return refuse(with, BOX, "a row of the box in bytes", row,
                      "no more than the swizzle has is expected");
    if (end >= count)
        return refuse(with, EXTENTS, "the last element", (int64_t)end,
                      "less than the count of its buffer is expected");
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_argument_map(struct shmt_kernel_evaluated *evaluated, size_t k,
                         struct shmt_argument_map *out, struct shmt_error *err)
{
    static const int swizzles[] = {0, 32, 64, 128, -1};
    static const int interleaves[] = {0, 16, 32, -1};
    static const int l2[] = {0, 64, 128, 256, -1};
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    const struct evaluating with = {evaluated, argument, err};
    struct shmt_argument_map map = {
        .element =
            evaluated->kernel->arguments[argument->members[0].target].element,
        .rank = argument->rank};
    uint64_t end;
    enum shmtune_status status = box_of(&with, &map, &end);

    if (status == SHMTUNE_OK)
        status = word_of(&with, SWIZZLE, "the swizzle", swizzles,
                         &map.swizzle);
    if (status == SHMTUNE_OK)
        status = word_of(&with, INTERLEAVE, "the interleave", interleaves,
                         &map.interleave);
    if (status == SHMTUNE_OK)
        status = word_of(&with, L2, "the promotion to L2", l2, &map.l2);
    if (status == SHMTUNE_OK)
        status = check(&with, &map, end);
    if (status == SHMTUNE_OK)
        *out = map;
    return status;
}
