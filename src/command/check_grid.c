/* SPDX-License-Identifier: MIT */
/*
 * check_grid: finds grids that are rounded down, so that at one of the sizes a
 * rest of a dimension has no block.  Called by check_spec.c.
 *
 * Along one dimension an extent of a grid goes in steps.  Rounded up, step g
 * ends at g times its length: ceildiv(n, 128) is 8 from 897 to 1024.  Rounded
 * down it begins there: n // 128 is 8 from 1024 to 1151.  What a kernel does
 * with the rest nobody knows, so this is a note.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "command/check.h"

/* An extent that has not changed so far behind the size does not depend on
 * it: blocks that go on until all is done. */
enum { FAR = 1 << 20 };

struct extent {
    const struct shmt_kernel *kernel;
    const struct shmt_expr *expr;
    struct shmt_value values[SHMT_KERNEL_SYMBOLS];
    size_t dimension;
};

/* -1: it has none. */
static int64_t extent_at(struct extent *extent, int64_t size)
{
    struct shmt_expr_evaluation evaluation;
    struct shmt_error ignored;
    int64_t out;

    extent->values[extent->dimension].i = size;
    shmt_expr_begin(&evaluation, extent->values);
    return shmt_expr_next_int(extent->expr, &evaluation, &out, &ignored) ==
                   SHMTUNE_OK
               ? out : -1;
}

/* The last size from `size` on with the same extent; 0: it is too far. */
static int64_t end_of_step(struct extent *extent, int64_t size)
{
    const int64_t same = extent_at(extent, size);
    int64_t good = 0, bad = 1;

    while (bad <= FAR && extent_at(extent, size + bad) == same) {
        good = bad;
        bad *= 2;
    }
    if (bad > FAR)
        return 0;
    while (bad - good > 1) {
        const int64_t middle = good + (bad - good) / 2;

        if (extent_at(extent, size + middle) == same)
            good = middle;
        else
            bad = middle;
    }
    return size + good;
}

/* Whether step `blocks` begins at `blocks` times the length. */
static bool begins_there(struct extent *extent, int64_t blocks, int64_t length)
{
    int64_t start;

    return !__builtin_mul_overflow(blocks, length, &start) &&
           extent_at(extent, start) == blocks &&
           extent_at(extent, start - 1) == blocks - 1;
}

/* Whether it was told that something is left out.  The step behind that of the
 * size is looked at: the first may be longer, by max(1, n // 128).  So is one
 * twice as far: steps of 2 and now and then of 3 elements, as ceildiv(127 * n,
 * 256) has them, pass where those of 2 would begin. */
static bool check_extent(struct shmt_check *check, struct extent *extent,
                         char axis)
{
    const char *name = extent->kernel->dimensions[extent->dimension].name;
    const int64_t size = extent->values[extent->dimension].i;
    const int64_t blocks = extent_at(extent, size);
    const int64_t last = blocks < 1 ? 0 : end_of_step(extent, size);
    const int64_t length =
        last == 0 ? 0 : end_of_step(extent, last + 1) - last;
    const struct shmt_place place = shmt_expr_place(extent->expr);
    const bool found = length > 1 && last + 1 == (blocks + 1) * length &&
                       begins_there(extent, blocks + 1, length) &&
                       begins_there(extent, 2 * (blocks + 1), length);

    extent->values[extent->dimension].i = size;
    if (!found || blocks >= size || blocks * length >= size)
        return false;
    shmt_check_report(check, SHMT_CHECK_NOTE,
                      "%s:%d:%d: the grid's %c, \"%s\", is %" PRId64 " where "
                      "%s is %" PRId64 ", for %" PRId64 " each: the last %"
                      PRId64 " have no block; round up, with ceildiv, unless "
                      "the kernel sees to them", place.file, place.line,
                      place.column, axis, shmt_expr_text(extent->expr),
                      blocks, name, size, length, size - blocks * length);
    return true;
}

static bool is_made(const struct shmt_launch *launch,
                    struct shmt_kernel_evaluated *evaluated)
{
    struct shmt_error ignored;
    bool made = true;

    return launch->when == NULL ||
           (shmt_expr_next_bool(launch->when, &evaluated->evaluation, &made,
                                &ignored) == SHMTUNE_OK && made);
}

/* At the first of the sizes at which it is so. */
static void check_axis(struct shmt_check *check,
                       const struct shmt_kernel *kernel,
                       const struct shmt_launch *launch, size_t axis)
{
    struct extent extent = {.kernel = kernel, .expr = launch->grid[axis]};
    struct shmt_kernel_evaluated evaluated;

    for (size_t i = 0; i < kernel->size_count; i++) {
        shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                                  kernel->sizes[i], &evaluated);
        if (!is_made(launch, &evaluated))
            continue;
        memcpy(extent.values, evaluated.values, sizeof extent.values);
        for (size_t d = 0; d < kernel->dimension_count; d++) {
            extent.dimension = d;
            if (check_extent(check, &extent, "xyz"[axis]))
                return;
        }
    }
}

static void check_launches(struct shmt_check *check,
                           const struct shmt_kernel *kernel,
                           const struct shmt_launch *launches, size_t count)
{
    for (size_t k = 0; k < count; k++)
        for (size_t axis = 0; !launches[k].alike && axis < 3; axis++)
            if (launches[k].grid[axis] != NULL)
                check_axis(check, kernel, &launches[k], axis);
}

void shmt_check_grids(struct shmt_check *check,
                      const struct shmt_kernel *kernel)
{
    check_launches(check, kernel, kernel->launches, kernel->launch_count);
    if (kernel->reference != kernel->launches)
        check_launches(check, kernel, kernel->reference,
                       kernel->reference_count);
    check_launches(check, kernel, kernel->setup, kernel->setup_count);
}
