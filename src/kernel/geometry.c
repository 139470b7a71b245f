/* SPDX-License-Identifier: MIT */
/*
 * geometry: works a launch out for one configuration: grid, block,
 * shared bytes, carve-out, cluster, and what its arguments take.  Limits here
 * are those of the types and of every device; one device's limits are the
 * filter's business.
 */
#include "kernel/kernel.h"

#include <string.h>

/* An expression in [low, high]; `fallback` when there is none. */
struct bounded {
    const char *what;
    const struct shmt_expr *expr;
    int64_t low, high, fallback;
};

static enum shmtune_status eval_bounded(const struct bounded *bounded,
                                        struct shmt_evaluation *evaluation,
                                        int64_t *out, struct shmt_error *err)
{
    struct shmt_place place;
    int64_t number;
    enum shmtune_status status;

    if (bounded->expr == NULL) {
        *out = bounded->fallback;
        return SHMTUNE_OK;
    }
    status = shmt_expr_next_int(bounded->expr, evaluation, &number, err);
    if (status != SHMTUNE_OK)
        return status;
    if (number < bounded->low || number > bounded->high) {
        place = shmt_expr_place(bounded->expr);
        return shmt_error_set(
            err, SHMTUNE_INVALID_FILE,
            "%s:%d:%d: %s \"%s\" is %lld; %lld to %lld is expected",
            place.file, place.line, place.column, bounded->what,
            shmt_expr_text(bounded->expr), (long long)number,
            (long long)bounded->low, (long long)bounded->high);
    }
    *out = number;
    return SHMTUNE_OK;
}

/* An address's or an element's bytes. */
static int64_t unit_of(const struct shmt_argument *argument)
{
    return argument->role == SHMT_ROLE_SCALAR ||
                   argument->role == SHMT_ROLE_VALUE
               ? (int64_t)shmt_element_bytes(argument->element) : 8;
}

static enum shmtune_status argument_bytes(const struct shmt_argument *argument,
                                          struct shmt_evaluation *evaluation,
                                          int64_t *out,
                                          struct shmt_error *err)
{
    const struct bounded bounded = {"the count", argument->count, 1,
                                    INT32_MAX, 0};
    int64_t count = 1;
    enum shmtune_status status = SHMTUNE_OK;

    if (argument->role == SHMT_ROLE_VALUE)
        status = eval_bounded(&bounded, evaluation, &count, err);
    if (status == SHMTUNE_OK)
        *out = count * unit_of(argument);
    return status;
}

enum shmtune_status
shmt_kernel_argument_bytes(const struct shmt_argument *argument,
                           const struct shmt_value *values, int64_t *out,
                           struct shmt_error *err)
{
    struct shmt_evaluation evaluation;

    shmt_expr_begin(&evaluation, values);
    return argument_bytes(argument, &evaluation, out, err);
}

static enum shmtune_status refuse_arguments(const struct shmt_launch *launch,
                                            const struct shmt_argument *array,
                                            int64_t array_bytes, int64_t bytes,
                                            struct shmt_error *err)
{
    const struct shmt_place place = shmt_expr_place(array->count);

    return shmt_error_set(
        err, SHMTUNE_INVALID_FILE,
        "%s:%d:%d: the arguments of %s take %lld bytes, %lld of them %s, "
        "passed by value; a launch takes %d bytes at most: make %s an input",
        place.file, place.line, place.column, launch->entry,
        (long long)bytes, (long long)array_bytes, array->name,
        SHMT_KERNEL_ARGUMENT_BYTES, array->name);
}

/* Each argument begins at a multiple of its elements' size, as the compiler
 * lays a struct out.  Without an array there is always room. */
static enum shmtune_status
check_arguments(const struct shmt_kernel *kernel,
                const struct shmt_launch *launch,
                struct shmt_evaluation *evaluation, struct shmt_error *err)
{
    const struct shmt_argument *largest = NULL;
    int64_t bytes = 0, most = 0;

    for (size_t k = 0; k < launch->argument_count; k++) {
        const struct shmt_argument *argument =
            &kernel->arguments[launch->arguments[k]];
        const int64_t unit = unit_of(argument);
        int64_t size;
        const enum shmtune_status status =
            argument_bytes(argument, evaluation, &size, err);

        if (status != SHMTUNE_OK)
            return status;
        if (argument->role == SHMT_ROLE_VALUE && size > most) {
            most = size;
            largest = argument;
        }
        bytes = (bytes + unit - 1) / unit * unit + size;
    }
    if (largest != NULL && bytes > SHMT_KERNEL_ARGUMENT_BYTES)
        return refuse_arguments(launch, largest, most, bytes, err);
    return SHMTUNE_OK;
}

/* The driver refuses a grid that ends within a cluster. */
static enum shmtune_status check_cluster(const struct shmt_launch *launch,
                                         int64_t grid, int64_t cluster,
                                         struct shmt_error *err)
{
    struct shmt_place place;

    if (cluster < 2 || grid % cluster == 0)
        return SHMTUNE_OK;
    place = shmt_expr_place(launch->cluster);
    return shmt_error_set(
        err, SHMTUNE_INVALID_FILE,
        "%s:%d:%d: cluster \"%s\" is %lld, the grid's x is %lld, which is no "
        "multiple of it; round the grid up: roundup(..., %s)",
        place.file, place.line, place.column,
        shmt_expr_text(launch->cluster), (long long)cluster, (long long)grid,
        shmt_expr_text(launch->cluster));
}

enum shmtune_status shmt_kernel_geometry(const struct shmt_kernel *kernel,
                                         const struct shmt_launch *launch,
                                         const struct shmt_value *values,
                                         struct shmt_geometry *out,
                                         struct shmt_error *err)
{
    enum { EXTENTS = 6, NUMBERS = 10 };
    const struct bounded numbers[NUMBERS] = {
        {"the grid's x", launch->grid[0], 1, INT32_MAX, 1},
        {"the grid's y", launch->grid[1], 1, INT32_MAX, 1},
        {"the grid's z", launch->grid[2], 1, INT32_MAX, 1},
        {"the block's x", launch->block[0], 1, INT32_MAX, 1},
        {"the block's y", launch->block[1], 1, INT32_MAX, 1},
        {"the block's z", launch->block[2], 1, INT32_MAX, 1},
        {"shared_static", launch->shared_static, 0, INT32_MAX, -1},
        {"shared_dynamic", launch->shared_dynamic, 0, INT32_MAX, 0},
        {"carveout", launch->carveout, -1, 100, -1},
        {"cluster", launch->cluster, 0, 1024, 0},
    };
    struct shmt_evaluation evaluation;
    int64_t found[NUMBERS];
    bool used = true;
    enum shmtune_status status = SHMTUNE_OK;

    shmt_expr_begin(&evaluation, values);
    if (launch->when != NULL)
        status = shmt_expr_next_bool(launch->when, &evaluation, &used, err);
    if (status != SHMTUNE_OK)
        return status;
    if (!used) {
        *out = (struct shmt_geometry){.shared_static = -1, .carveout = -1};
        return SHMTUNE_OK;
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        status = eval_bounded(&numbers[i], &evaluation, &found[i], err);
        if (status != SHMTUNE_OK)
            return status;
    }
    status = check_arguments(kernel, launch, &evaluation, err);
    if (status != SHMTUNE_OK)
        return status;
    status = check_cluster(launch, found[0], found[NUMBERS - 1], err);
    if (status != SHMTUNE_OK)
        return status;
    *out = (struct shmt_geometry){
        .used = true,
        .shared_static = found[EXTENTS],
        .shared_dynamic = found[EXTENTS + 1],
        .carveout = (int)found[EXTENTS + 2],
        .cluster = (int)found[EXTENTS + 3],
    };
    for (size_t i = 0; i < 3; i++) {
        out->grid[i] = (uint32_t)found[i];
        out->block[i] = (uint32_t)found[3 + i];
    }
    return SHMTUNE_OK;
}
