/* SPDX-License-Identifier: MIT */
/*
 * prove: makes the dispatch of a tuning ready when that is opened.  Everything
 * that does not depend on the problem is computed: which constraints hold, and
 * that the launches fit the tuning's device, wherever in the range of the
 * dispatch the problem is (expr/bounds.c).  What is left of a constraint is an
 * expression of the sizes alone (expr/fold.c).  Of dimensions that have few
 * values (bytes of an element, steps) all are tried, and what depends on them
 * alone becomes one bit for each.  A constraint that depends on one other
 * dimension mostly holds between two sizes, which are looked for by halving.
 *
 * Called by tunings.c.
 */
#include <string.h>

#include "device/device.h"
#include "runtime/proven.h"

/* Bounds that are asked for to find sizes, and results that are kept. */
enum { MOST_TRIES = 4000, MOST_FOUND = 64 };

/* Where a condition of one dimension holds: from `low` to `high`, and nowhere
 * where these are not in order. */
struct between {
    const struct shmt_expr *condition;      /* as it is left */
    bool known;                             /* it is so */
    size_t dimension;
    int64_t low, high;
};

/* What is being made. */
struct making {
    struct shmt_arena *arena;
    const struct shmt_kernel *spec;
    const struct shmtune_device *device;
    const struct shmt_dispatch *from;
    size_t place[SHMT_KERNEL_DIMENSIONS];   /* of its dimensions among the
                                               kernel's */
    size_t room;                            /* bytes left; 0: not enough */
    struct shmt_runtime_dispatch *out;
    struct shmt_runtime_option *options;
    /* Of all options, so that what folding takes is left over. */
    shmt_config *values;
    const struct shmt_expr **conditions;
    size_t tries;                           /* bounds left to ask for */
    struct between found[MOST_FOUND];
    size_t found_count;
};

static void *take(struct making *making, size_t count, size_t size)
{
    return shmt_runtime_take(making->arena, &making->room, count, size);
}

/* What failed: with room left it is the memory. */
static enum shmtune_status refuse(const struct making *making,
                                  struct shmt_error *err)
{
    return making->room > 0
               ? shmt_error_memory(err)
               : shmt_error_set(err, SHMTUNE_INVALID_FILE, "with %zu "
                                "configurations and the %zu constraints of "
                                "%.64s that depend on sizes it takes more "
                                "than %d KiB", making->from->config_count,
                                making->spec->sized_count,
                                making->spec->name,
                                SHMT_RUNTIME_DISPATCH_BYTES >> 10);
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The range is as much of the dispatch's as the kernel is right for. */
static enum shmtune_status match_dimensions(struct making *making,
                                            struct shmt_error *err)
{
    const struct shmt_kernel *const spec = making->spec;
    const struct shmt_dispatch *const from = making->from;

    for (size_t d = 0; d < from->dimension_count; d++) {
        size_t k = 0;

        while (k < spec->dimension_count &&
               strcmp(spec->dimensions[k].name, from->names[d]) != 0)
            k++;
        if (k == spec->dimension_count)
            return shmt_error_set(err, SHMTUNE_INVALID_FILE, "found the "
                                  "dimension %.64s, which %.64s has not",
                                  from->names[d], spec->name);
        making->place[d] = k;
        making->out->least[k] =
            most_of(from->least[d], spec->dimensions[k].low);
        making->out->most[k] =
            least_of(from->most[d], spec->dimensions[k].high);
    }
    if (from->dimension_count != spec->dimension_count)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE, "found %zu "
                              "dimensions, expected the %zu of %.64s",
                              from->dimension_count, spec->dimension_count,
                              spec->name);
    making->out->dimensions = from->dimension_count;
    return SHMTUNE_OK;
}

/* The bounds of an extent of a launch, which is `fallback` where there is no
 * expression; false where it may fail or lie outside of [low, high]. */
static bool bounds_of(const struct shmt_expr *expr, int64_t fallback,
                      int64_t low, int64_t high,
                      struct shmt_expr_bounding *state, int64_t *most)
{
    const struct shmt_expr_bound bound =
        expr == NULL ? shmt_expr_bound_range(fallback, fallback)
                     : shmt_expr_bounds(expr, state);

    *most = high;
    if (bound.kind == SHMT_EXPR_ANY ||
        (bound.kind == SHMT_EXPR_EXACT &&
         bound.value.type != SHMT_VALUE_INT) ||
        bound.low < low || bound.high > high)
        return false;
    *most = bound.high;
    return true;
}

/* What is left of an expression; all of it where that would be long.  False:
 * there is no memory. */
static bool left_of(struct making *making, struct shmt_runtime_option *option,
                    const struct shmt_expr *expr,
                    struct shmt_expr_bounding *state,
                    const struct shmt_expr **out)
{
    if (!shmt_expr_fold(making->arena, expr, state, &making->room, out))
        return false;
    if (*out == NULL) {
        *out = expr;
        option->full = true;
    }
    return true;
}

/* Has a number of a launch checked at each selection. */
static bool add_extent(struct making *making,
                       struct shmt_runtime_option *option,
                       const struct shmt_launch *launch,
                       const struct shmt_expr *expr,
                       struct shmt_runtime_extent one,
                       struct shmt_expr_bounding *state)
{
    struct shmt_expr_bound when;

    if (option->extent_count == SHMT_RUNTIME_EXTENTS || expr == NULL ||
        !left_of(making, option, expr, state, &one.value))
        return false;
    if (launch->when != NULL) {
        when = shmt_expr_bounds(launch->when, state);
        if (shmt_expr_bound_truth(&when) != 1 &&
            !left_of(making, option, launch->when, state, &one.when))
            return false;
    }
    option->extents[option->extent_count++] = one;
    return true;
}

/* The bytes of the arguments of a launch, at most; INT64_MAX: not known. */
static int64_t argument_bytes(const struct making *making,
                              const struct shmt_launch *launch,
                              struct shmt_expr_bounding *state)
{
    enum { WORD = 8, COUNT = 1 << 20 };
    int64_t bytes = 0, count;

    for (size_t k = 0; k < launch->argument_count; k++) {
        const struct shmt_argument *const argument =
            &making->spec->arguments[launch->arguments[k]];
        const int64_t unit = argument->alignment > WORD
                                 ? (int64_t)argument->alignment : WORD;

        count = 1;
        if (argument->role == SHMT_ROLE_VALUE &&
            !bounds_of(argument->count, 1, 1, COUNT, state, &count))
            return INT64_MAX;
        bytes += unit - 1 +
                 (argument->bytes > 0 ? (int64_t)argument->bytes
                  : argument->role == SHMT_ROLE_VALUE
                      ? count * (int64_t)shmt_element_bytes(argument->element)
                      : unit);
    }
    return bytes;
}

/* The blocks of a cluster along an axis; 0: not the same everywhere. */
static int64_t cluster_of(const struct shmt_launch *launch, size_t k,
                          struct shmt_expr_bounding *state)
{
    const struct shmt_expr_bound bound =
        launch->cluster[k] == NULL ? shmt_expr_bound_range(1, 1)
                                   : shmt_expr_bounds(launch->cluster[k],
                                                      state);

    return bound.kind == SHMT_EXPR_EXACT &&
                   bound.value.type == SHMT_VALUE_INT && bound.low >= 0 &&
                   bound.low <= 1024
               ? bound.low + (bound.low == 0) : 0;
}

/* The shared memory of a launch, as large as it may be. */
static bool shares(struct making *making, struct shmt_runtime_option *option,
                   const struct shmt_launch *launch,
                   struct shmt_expr_bounding *state,
                   struct shmt_expr_bounding *base, struct shmt_geometry *most)
{
    const struct shmtune_device *const device = making->device;
    const int64_t plain = device->shared_per_block > 0
                              ? device->shared_per_block
                              : SHMT_FIT_STATIC_BYTES;
    const int64_t optin = device->shared_per_block_optin > plain
                              ? device->shared_per_block_optin : plain;
    struct shmt_runtime_extent one = {.low = 0, .high = plain, .multiple = 1};

    if (launch->shared_static != NULL &&
        !bounds_of(launch->shared_static, 0, 0, plain, state,
                   &most->shared_static) &&
        !add_extent(making, option, launch, launch->shared_static, one, base))
        return false;
    one.high = optin - (most->shared_static > 0 ? most->shared_static : 0);
    return bounds_of(launch->shared_dynamic, 0, 0, one.high, state,
                     &most->shared_dynamic) ||
           add_extent(making, option, launch, launch->shared_dynamic, one,
                      base);
}

/* Whether a launch fits the device wherever it is used, but for numbers of its
 * grid and shared memory, which are then checked at each selection.  Each limit
 * is on a number that does not get smaller.  `base` is `state` without what is
 * assumed: a check holds under all alternatives. */
static bool fits(struct making *making, struct shmt_runtime_option *option,
                 const struct shmt_launch *launch,
                 struct shmt_expr_bounding *state,
                 struct shmt_expr_bounding *base)
{
    const int64_t height = making->device->max_grid_y > 0
                               ? making->device->max_grid_y : UINT16_MAX;
    const int64_t highs[3] = {
        INT32_MAX, height < UINT16_MAX ? height : UINT16_MAX, UINT16_MAX};
    struct shmt_geometry most = {.used = true, .shared_static = -1,
                                 .carveout = -1};
    struct shmt_fit fit;
    int64_t number = 0;

    if (launch->host)
        return true;
    if (launch->cooperative ||
        (launch->by_value && argument_bytes(making, launch, state) >
                                 SHMT_KERNEL_ARGUMENT_BYTES))
        return false;
    for (size_t k = 0; k < 3; k++) {
        const int64_t cluster = cluster_of(launch, k, state);

        if (cluster == 0 || (k > 0 && cluster > 1) ||
            !bounds_of(launch->block[k], 1, 1, INT32_MAX, state, &number))
            return false;
        most.block[k] = (uint32_t)number;
        most.cluster[k] = launch->cluster[0] == NULL ? 0 : (uint32_t)cluster;
        if ((!bounds_of(launch->grid[k], 1, 1, highs[k], state, &number) ||
             cluster > 1) &&
            !add_extent(making, option, launch, launch->grid[k],
                        (struct shmt_runtime_extent){.low = 1, .high = highs[k],
                                        .multiple = cluster}, base))
            return false;
        most.grid[k] = (uint32_t)number;
    }
    return shares(making, option, launch, state, base, &most) &&
           bounds_of(launch->carveout, -1, -1, 100, state, &number) &&
           shmt_fit_launch(making->device, &most, NULL, &fit);
}

/* A launch with a condition fits where it does under each alternative of
 * that. */
static bool fits_when(struct making *making, struct shmt_runtime_option *option,
                      const struct shmt_launch *launch,
                      struct shmt_expr_bounding *state)
{
    struct shmt_expr_bounding assumed;
    const struct shmt_expr_bound when =
        shmt_expr_bounds(launch->when, state);
    int is;

    if (when.kind == SHMT_EXPR_ANY)
        return false;
    if (shmt_expr_bound_truth(&when) >= 0)
        return shmt_expr_bound_truth(&when) == 0 ||
               fits(making, option, launch, state, state);
    for (size_t k = 0; assumed = *state,
                       (is = shmt_expr_assume(launch->when, k, &assumed)) >=
                           0; k++)
        if (is > 0 && !fits(making, option, launch, &assumed, state))
            return false;
    return true;
}

static bool launches_fit(struct making *making,
                         struct shmt_runtime_option *option,
                         struct shmt_expr_bounding *state)
{
    const struct shmt_kernel *const spec = making->spec;

    for (size_t k = 0; k < spec->launch_count; k++) {
        const struct shmt_launch *const launch = &spec->launches[k];

        if (launch->when == NULL ? !fits(making, option, launch, state, state)
                                 : !fits_when(making, option, launch, state))
            return false;
    }
    return true;
}

/* What is left of a constraint that an earlier configuration, which agrees
 * in its parameters, has been asked for; NULL: none has. */
static const struct shmt_expr *left_before(const struct making *making,
                                           size_t option, size_t sized,
                                           const shmt_config *values)
{
    const struct shmt_kernel_sized *const one = &making->spec->sized[sized];

    for (size_t k = 0; k < option; k++) {
        const struct shmt_runtime_option *const before = &making->options[k];
        size_t p = 0;

        while (p < one->parameter_count &&
               before->values[one->parameters[p]] ==
                   values[one->parameters[p]])
            p++;
        if (p == one->parameter_count && before->conditions != NULL)
            return before->conditions[sized];
    }
    return NULL;
}

/* While options are made, a condition stands at the place of its constraint,
 * and NULL where it always holds. */
static bool make_conditions(struct making *making, size_t k,
                            struct shmt_expr_bounding *state)
{
    const struct shmt_kernel *const spec = making->spec;
    struct shmt_runtime_option *const out = &making->options[k];
    const struct shmt_expr **const conditions =
        &making->conditions[k * spec->sized_count];

    for (size_t c = 0; c < spec->sized_count; c++) {
        const struct shmt_expr *const constraint = spec->sized[c].constraint;
        const struct shmt_expr_bound bound =
            shmt_expr_bounds(constraint, state);
        const int truth = shmt_expr_bound_truth(&bound);

        if (truth == 0)
            out->never = true;
        if (truth >= 0)
            continue;
        conditions[c] = left_before(making, k, c, out->values);
        if (conditions[c] == NULL &&
            !left_of(making, out, constraint, state, &conditions[c]))
            return false;
        if (conditions[c] == constraint)
            out->full = true;
    }
    out->conditions = conditions;
    out->count = spec->sized_count;
    return true;
}

/* The constraints that use no size, at any problem. */
static bool satisfies(const struct making *making,
                      struct shmt_expr_bounding *state)
{
    const struct shmt_kernel *const spec = making->spec;

    for (size_t k = 0, sized = 0; k < spec->constraint_count; k++) {
        struct shmt_expr_bound bound;

        if (sized < spec->sized_count &&
            spec->constraints[k] == spec->sized[sized].constraint) {
            sized++;
            continue;
        }
        bound = shmt_expr_bounds(spec->constraints[k], state);
        if (shmt_expr_bound_truth(&bound) != 1)
            return false;
    }
    return true;
}

/* The bounds of all symbols, wherever the problem is. */
static void put_bounds(const struct making *making, const shmt_config *values,
                       struct shmt_expr_bound *bounds)
{
    const struct shmt_kernel *const spec = making->spec;

    for (size_t d = 0; d < spec->dimension_count; d++)
        bounds[d] = shmt_expr_bound_range(making->out->least[d],
                                          making->out->most[d]);
    for (size_t p = 0; p < spec->parameter_count; p++)
        bounds[spec->dimension_count + p] = shmt_expr_bound_value(
            spec->parameters[p].values[values[p]]);
}

static enum shmtune_status make_option(struct making *making, size_t k,
                                       struct shmt_error *err)
{
    const struct shmt_kernel *const spec = making->spec;
    struct shmt_runtime_option *const out = &making->options[k];
    struct shmt_expr_bound bounds[SHMT_KERNEL_SYMBOLS];
    struct shmt_expr_bounding state;
    shmt_config *const values = &making->values[k * spec->parameter_count];
    const enum shmtune_status status =
        shmt_tuning_config(spec, making->from->configs[k],
                           making->from->setting_count, values, err);

    if (status != SHMTUNE_OK)
        return status;
    out->values = values;
    put_bounds(making, values, bounds);
    shmt_expr_bounding_begin(&state, bounds);
    out->never = !satisfies(making, &state);
    out->whole = !launches_fit(making, out, &state);
    return make_conditions(making, k, &state) ? SHMTUNE_OK
                                              : shmt_error_memory(err);
}

static void find_few(struct shmt_runtime_dispatch *out)
{
    struct shmt_runtime_few *const few = &out->few;

    few->cases = 1;
    for (size_t d = 0; d < out->dimensions; d++) {
        const uint64_t more =
            (uint64_t)out->most[d] - (uint64_t)out->least[d];

        if (more >= SHMT_RUNTIME_CASES ||
            (more + 1) * few->cases > SHMT_RUNTIME_CASES)
            continue;
        few->cases *= (size_t)more + 1;
        few->dimensions[few->count++] = d;
    }
}

/* The sizes of a case; of other dimensions the least. */
static void put_case(const struct shmt_runtime_dispatch *dispatch,
                     size_t number, struct shmt_value *sizes)
{
    shmt_runtime_put_sizes(dispatch->least, dispatch->dimensions, sizes);
    for (size_t k = dispatch->few.count; k-- > 0;) {
        const size_t d = dispatch->few.dimensions[k];
        const size_t width =
            (size_t)(dispatch->most[d] - dispatch->least[d]) + 1;

        sizes[d].i += (int64_t)(number % width);
        number /= width;
    }
}

/* Whether an expression uses no symbol but the dimensions of few values. */
static bool has_few(const struct making *making, const struct shmt_expr *expr)
{
    const struct shmt_runtime_few *const few = &making->out->few;
    const size_t symbols =
        making->spec->dimension_count + making->spec->parameter_count;

    for (size_t symbol = 0, k = 0; symbol < symbols; symbol++) {
        if (k < few->count && few->dimensions[k] == symbol)
            k++;
        else if (shmt_expr_uses(expr, symbol))
            return false;
    }
    return true;
}

/* The cases in which a condition is true, or else an extent is inside. */
static uint64_t cases_of(const struct making *making,
                         const struct shmt_expr *condition,
                         const struct shmt_runtime_extent *extent)
{
    struct shmt_value sizes[SHMT_KERNEL_DIMENSIONS];
    struct shmt_expr_evaluation evaluation;
    uint64_t out = 0;

    for (size_t k = 0; k < making->out->few.cases; k++) {
        put_case(making->out, k, sizes);
        shmt_expr_begin(&evaluation, sizes);
        if (condition != NULL ? shmt_runtime_is_true(condition, &evaluation)
                              : shmt_runtime_is_inside(extent, &evaluation))
            out |= UINT64_C(1) << k;
    }
    return out;
}

/* Halves until it is known of every size whether the constraint holds there.
 * False: it takes too long, or it holds in several places. */
static bool look(struct making *making, const struct shmt_expr *constraint,
                 struct shmt_expr_bound *bounds, struct between *out,
                 int64_t low, int64_t high)
{
    const int64_t middle = low + (high - low) / 2;
    struct shmt_expr_bounding state;
    struct shmt_expr_bound bound;
    int truth;

    if (making->tries == 0)
        return false;
    making->tries--;
    bounds[out->dimension] = shmt_expr_bound_range(low, high);
    shmt_expr_bounding_begin(&state, bounds);
    bound = shmt_expr_bounds(constraint, &state);
    truth = shmt_expr_bound_truth(&bound);
    if (truth < 0)
        return low < high &&
               look(making, constraint, bounds, out, low, middle) &&
               look(making, constraint, bounds, out, middle + 1, high);
    if (truth == 0)
        return true;
    if (out->low > out->high)
        out->low = low;
    else if (out->high + 1 != low)
        return false;
    out->high = high;
    return true;
}

/* The only dimension that a condition uses; false: there are several. */
static bool find_dimension(const struct making *making,
                           const struct shmt_expr *condition, size_t *out)
{
    size_t count = 0;

    for (size_t d = 0; d < making->spec->dimension_count; d++)
        if (shmt_expr_uses(condition, d)) {
            *out = d;
            count++;
        }
    return count == 1;
}

/* Where constraint `c` holds, of which `condition` is left; options that agree
 * in its parameters have the same left. */
static struct between find_between(struct making *making,
                                   const struct shmt_runtime_option *option,
                                   size_t c, const struct shmt_expr *condition)
{
    struct shmt_expr_bound bounds[SHMT_KERNEL_SYMBOLS];
    const struct shmt_runtime_dispatch *const range = making->out;
    struct between out = {.condition = condition, .low = 1, .high = 0};

    for (size_t k = 0; k < making->found_count && !option->full; k++)
        if (making->found[k].condition == condition)
            return making->found[k];
    if (!find_dimension(making, condition, &out.dimension))
        return out;
    put_bounds(making, option->values, bounds);
    out.known = look(making, making->spec->sized[c].constraint, bounds, &out,
                     range->least[out.dimension], range->most[out.dimension]);
    if (making->found_count < MOST_FOUND && !option->full)
        making->found[making->found_count++] = out;
    return out;
}

/* Whether a condition holds exactly between two sizes, to which the option is
 * narrowed. */
static bool narrows(struct making *making, struct shmt_runtime_option *option,
                    size_t c, const struct shmt_expr *condition)
{
    const struct between found = find_between(making, option, c, condition);
    const size_t d = found.dimension;

    if (!found.known)
        return false;
    option->narrowed = true;
    if (found.low > option->least[d])
        option->least[d] = found.low;
    if (found.high < option->most[d])
        option->most[d] = found.high;
    return true;
}

/* Moves what is left of the constraints together, and of the extents; what few
 * values decide goes into the cases. */
static void close_up(struct making *making,
                     struct shmt_runtime_option *option)
{
    const struct shmt_expr **const list =
        (const struct shmt_expr **)(uintptr_t)option->conditions;
    const size_t extents = option->extent_count;
    size_t count = 0;

    option->cases = option->never ? 0 : UINT64_MAX;
    memcpy(option->least, making->out->least, sizeof option->least);
    memcpy(option->most, making->out->most, sizeof option->most);
    for (size_t c = 0; c < option->count; c++)
        if (list[c] != NULL && has_few(making, list[c]))
            option->cases &= cases_of(making, list[c], NULL);
        else if (list[c] != NULL && !narrows(making, option, c, list[c]))
            list[count++] = list[c];
    option->count = count;
    option->extent_count = 0;
    for (size_t k = 0; k < extents; k++) {
        const struct shmt_runtime_extent *const one = &option->extents[k];

        if (has_few(making, one->value) &&
            (one->when == NULL || has_few(making, one->when)))
            option->cases &= cases_of(making, NULL, one);
        else
            option->extents[option->extent_count++] = *one;
    }
}

/* Whether a selection may ask for a problem in the range. */
static bool is_asked(const struct making *making)
{
    const struct shmt_runtime_dispatch *const out = making->out;

    for (size_t d = 0; d < out->dimensions; d++)
        if (out->least[d] > out->most[d])
            return false;
    return making->device->compute_major > 0;
}

static bool take_options(struct making *making)
{
    const struct shmt_kernel *const spec = making->spec;
    const size_t count = making->from->config_count;

    making->out = take(making, 1, sizeof *making->out);
    making->options = take(making, count, sizeof *making->options);
    making->values =
        take(making, count * spec->parameter_count, sizeof *making->values);
    making->conditions =
        take(making, count * spec->sized_count, sizeof *making->conditions);
    if (making->out == NULL || making->options == NULL ||
        making->values == NULL || making->conditions == NULL)
        return false;
    making->out->options = making->options;
    return true;
}

enum shmtune_status
shmt_runtime_dispatch_make(struct shmt_arena *arena,
                           const struct shmt_kernel *spec,
                           const struct shmt_tuning *parsed,
                           const struct shmt_runtime_dispatch **out,
                           struct shmt_error *err)
{
    struct making making = {
        .arena = arena, .spec = spec, .device = &parsed->device,
        .from = parsed->dispatch, .room = SHMT_RUNTIME_DISPATCH_BYTES,
        .tries = MOST_TRIES};
    const size_t count = parsed->dispatch->config_count;
    enum shmtune_status status;

    *out = NULL;
    if (!take_options(&making))
        return refuse(&making, err);
    status = match_dimensions(&making, err);
    if (status == SHMTUNE_OK && !is_asked(&making))
        return SHMTUNE_OK;
    find_few(making.out);
    if (status == SHMTUNE_OK &&
        !shmt_runtime_tree_make(arena, making.from, making.place,
                                making.out->most, &making.room,
                                &making.out->tree))
        status = refuse(&making, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = make_option(&making, k, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < count; k++)
        close_up(&making, &making.options[k]);
    *out = making.out;
    return SHMTUNE_OK;
}
