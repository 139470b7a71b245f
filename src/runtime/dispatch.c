/* SPDX-License-Identifier: MIT */
/*
 * dispatch: chooses by the tree that a tuning has learnt.  When a tuning is
 * opened, everything that does not depend on the problem is computed: which
 * constraints hold, and that the launches fit the tuning's device, wherever in
 * the range of the dispatch the problem is (expr/bounds.c).  What is left of a
 * constraint is an expression of the sizes alone.  So a selection is a few
 * comparisons of integers and the steps of what is left.
 *
 * Called by tunings.c and select.c.  Finding allocates nothing.
 */
#include "runtime/dispatch.h"

#include <string.h>

#include "runtime/check.h"

/* ceildiv(size, unit); of a power of two its logarithm, else -1. */
struct term {
    uint32_t unit;
    int16_t shift;
    uint16_t dimension;
};

struct feature {
    uint16_t first, of, per;      /* terms: `of` of them, then `per` */
    uint32_t modulo;              /* 0: none */
};

/* A number of a launch: of its grid, a multiple of the cluster, or of its
 * shared memory. */
struct extent {
    const struct shmt_expr *value, *when;  /* NULL: always */
    int64_t low, high, multiple;
};
enum { MOST_EXTENTS = 4 };

struct option {
    const shmt_config *values;
    /* What is to be checked of it: what is left of its constraints, or
     * everything. */
    bool whole;
    bool full;                    /* some of that uses its parameters */
    bool never;                   /* it runs nowhere in the range */
    size_t count;
    const struct shmt_expr *const *conditions;
    size_t extent_count;
    struct extent extents[MOST_EXTENTS];
};

struct shmt_runtime_dispatch {
    size_t dimensions;
    int64_t least[SHMT_KERNEL_DIMENSIONS], most[SHMT_KERNEL_DIMENSIONS];
    const struct shmt_dispatch_node *nodes;
    const uint16_t *ranks;
    const struct feature *features;
    const struct term *terms;
    const struct option *options;
};

/* -- opening -------------------------------------------------------------- */

/* What is being made. */
struct making {
    struct shmt_arena *arena;
    const struct shmt_kernel *spec;
    const struct shmtune_device *device;
    const struct shmt_dispatch *from;
    size_t place[SHMT_KERNEL_DIMENSIONS];   /* of its dimensions among the
                                               kernel's */
    size_t room;                            /* bytes left */
    struct shmt_runtime_dispatch *out;
    struct option *options;
};

static void *take(struct making *making, size_t count, size_t size)
{
    making->room -= count * size < making->room ? count * size : making->room;
    return shmt_arena_alloc(making->arena, count + 1, size);
}

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
        making->out->least[k] = from->least[d];
        making->out->most[k] = from->most[d];
    }
    if (from->dimension_count != spec->dimension_count)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE, "found %zu "
                              "dimensions, expected the %zu of %.64s",
                              from->dimension_count, spec->dimension_count,
                              spec->name);
    making->out->dimensions = from->dimension_count;
    return SHMTUNE_OK;
}

static size_t add_terms(const struct making *making, const int64_t *units,
                        struct term *terms)
{
    size_t count = 0;

    for (size_t d = 0; d < making->from->dimension_count; d++)
        if (units[d] > 0)
            terms[count++] = (struct term){
                .unit = (uint32_t)units[d],
                .shift = (int16_t)((units[d] & (units[d] - 1)) == 0
                                       ? __builtin_ctzll(
                                             (unsigned long long)units[d])
                                       : -1),
                .dimension = (uint16_t)making->place[d]};
    return count;
}

static bool make_tree(struct making *making)
{
    const struct shmt_dispatch *const from = making->from;
    struct shmt_runtime_dispatch *const out = making->out;
    struct feature *const features =
        take(making, from->feature_count, sizeof *features);
    struct term terms[2 * SHMT_KERNEL_DIMENSIONS * SHMT_DISPATCH_FEATURES];
    size_t count = 0;

    for (size_t k = 0; features != NULL && k < from->feature_count; k++) {
        const struct shmt_dispatch_feature *const one = &from->features[k];

        features[k].first = (uint16_t)count;
        features[k].modulo = (uint32_t)one->modulo;
        features[k].of =
            (uint16_t)add_terms(making, one->of, terms + count);
        count += features[k].of;
        features[k].per =
            (uint16_t)add_terms(making, one->per, terms + count);
        count += features[k].per;
    }
    making->room -= count * sizeof *terms +
                    from->node_count * sizeof *from->nodes +
                    from->rank_count * sizeof *from->ranks;
    out->features = features;
    out->terms =
        shmt_arena_copy(making->arena, terms, count * sizeof *terms);
    out->nodes = shmt_arena_copy(making->arena, from->nodes,
                                 from->node_count * sizeof *from->nodes);
    out->ranks = shmt_arena_copy(making->arena, from->ranks,
                                 from->rank_count * sizeof *from->ranks);
    return features != NULL && out->terms != NULL && out->nodes != NULL &&
           out->ranks != NULL;
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
static bool left_of(struct making *making, struct option *option,
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
static bool add_extent(struct making *making, struct option *option,
                       const struct shmt_launch *launch,
                       const struct shmt_expr *expr, struct extent one,
                       struct shmt_expr_bounding *state)
{
    struct shmt_expr_bound when;

    if (option->extent_count == MOST_EXTENTS || expr == NULL ||
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
static bool shares(struct making *making, struct option *option,
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
    struct extent one = {.low = 0, .high = plain, .multiple = 1};

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
static bool fits(struct making *making, struct option *option,
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
                        (struct extent){.low = 1, .high = highs[k],
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
static bool fits_when(struct making *making, struct option *option,
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

static bool launches_fit(struct making *making, struct option *option,
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
        const struct option *const before = &making->options[k];
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
    struct option *const out = &making->options[k];
    const struct shmt_expr **const conditions =
        take(making, spec->sized_count, sizeof *conditions);

    if (conditions == NULL)
        return false;
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

static enum shmtune_status make_option(struct making *making, size_t k,
                                       struct shmt_error *err)
{
    const struct shmt_kernel *const spec = making->spec;
    struct option *const out = &making->options[k];
    struct shmt_expr_bound bounds[SHMT_KERNEL_SYMBOLS];
    struct shmt_expr_bounding state;
    shmt_config *const values =
        take(making, spec->parameter_count, sizeof *values);
    enum shmtune_status status;

    if (values == NULL)
        return shmt_error_memory(err);
    status = shmt_tuning_config(spec, making->from->configs[k],
                                making->from->setting_count, values, err);
    if (status != SHMTUNE_OK)
        return status;
    out->values = values;
    for (size_t d = 0; d < spec->dimension_count; d++)
        bounds[d] = shmt_expr_bound_range(making->out->least[d],
                                          making->out->most[d]);
    for (size_t p = 0; p < spec->parameter_count; p++)
        bounds[spec->dimension_count + p] = shmt_expr_bound_value(
            spec->parameters[p].values[values[p]]);
    shmt_expr_bounding_begin(&state, bounds);
    out->never = !satisfies(making, &state);
    out->whole = !launches_fit(making, out, &state);
    return make_conditions(making, k, &state) ? SHMTUNE_OK
                                              : shmt_error_memory(err);
}

/* Moves what is left of the constraints together. */
static void close_up(struct option *option)
{
    const struct shmt_expr **const list =
        (const struct shmt_expr **)(uintptr_t)option->conditions;
    size_t count = 0;

    for (size_t c = 0; c < option->count; c++)
        if (list[c] != NULL)
            list[count++] = list[c];
    option->count = count;
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
        .from = parsed->dispatch, .room = SHMT_RUNTIME_DISPATCH_BYTES};
    const size_t count = parsed->dispatch->config_count;
    enum shmtune_status status;

    *out = NULL;
    making.out = take(&making, 1, sizeof *making.out);
    making.options = take(&making, count, sizeof *making.options);
    if (making.out == NULL || making.options == NULL)
        return shmt_error_memory(err);
    making.out->options = making.options;
    status = match_dimensions(&making, err);
    if (status == SHMTUNE_OK && !make_tree(&making))
        status = shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = make_option(&making, k, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < count; k++)
        close_up(&making.options[k]);
    *out = making.out;
    return SHMTUNE_OK;
}

/* -- selecting ------------------------------------------------------------ */

static inline int64_t product_of(const struct term *terms, size_t count,
                                 const int64_t *problem)
{
    int64_t product = 1;

    for (size_t k = 0; k < count; k++) {
        const int64_t size = problem[terms[k].dimension];
        const int64_t shift = terms[k].shift, unit = terms[k].unit;
        int64_t blocks = size;

        if (shift < 0)
            blocks = size / unit + (size % unit != 0);
        else if (shift > 0)
            blocks = (size >> shift) + ((size & (unit - 1)) != 0);
        if (__builtin_mul_overflow(product, blocks, &product))
            return INT64_MAX;
    }
    return product;
}

/* The same as shmt_dispatch_value. */
static inline int64_t value_of(const struct shmt_runtime_dispatch *dispatch,
                               size_t number, const int64_t *problem)
{
    const struct feature *const feature = &dispatch->features[number];
    const struct term *const terms = dispatch->terms + feature->first;
    int64_t value = product_of(terms, feature->of, problem);

    if (feature->per > 0) {
        const int64_t per =
            product_of(terms + feature->of, feature->per, problem);

        value = per > 1 ? value / per : value;
    }
    return feature->modulo > 0 ? value % feature->modulo : value;
}

static bool covers(const struct shmt_runtime_dispatch *dispatch,
                   const int64_t *problem)
{
    for (size_t d = 0; d < dispatch->dimensions; d++)
        if (problem[d] < dispatch->least[d] ||
            problem[d] > dispatch->most[d])
            return false;
    return true;
}

/* All that may be wrong with it; `err` may be NULL. */
static bool check_whole(const struct shmt_runtime_request *request,
                        const struct shmt_runtime_tuning *tuning,
                        const shmt_config *values, struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches candidate = {
        .device = &tuning->device, .evaluated = &evaluated};

    shmt_kernel_evaluate(request->kernel->spec, request->problem, values,
                         &evaluated);
    return shmt_runtime_check(&candidate, err) == SHMTUNE_OK;
}

static bool is_inside(const struct extent *extent,
                      struct shmt_expr_evaluation *evaluation)
{
    bool used = true;
    int64_t value;

    if (extent->when != NULL &&
        shmt_expr_next_bool(extent->when, evaluation, &used, NULL) !=
            SHMTUNE_OK)
        return false;
    return !used ||
           (shmt_expr_next_int(extent->value, evaluation, &value, NULL) ==
                SHMTUNE_OK &&
            value >= extent->low &&
            value <= extent->high &&
            value % extent->multiple == 0);
}

static bool holds_here(const struct option *option,
                       struct shmt_expr_evaluation *evaluation)
{
    bool holds = !option->never;

    for (size_t k = 0; holds && k < option->count; k++)
        if (shmt_expr_next_bool(option->conditions[k], evaluation, &holds,
                                NULL) != SHMTUNE_OK)
            holds = false;
    for (size_t k = 0; holds && k < option->extent_count; k++)
        holds = is_inside(&option->extents[k], evaluation);
    return holds;
}

/* `sizes` has the values of the problem alone. */
static bool may_run(const struct shmt_runtime_request *request,
                    const struct shmt_runtime_tuning *tuning,
                    const struct option *option,
                    struct shmt_expr_evaluation *sizes)
{
    struct shmt_kernel_evaluated evaluated;
    bool holds;

    if (option->full) {
        shmt_kernel_evaluate(request->kernel->spec, request->problem,
                             option->values, &evaluated);
        holds = holds_here(option, &evaluated.evaluation);
    } else {
        holds = holds_here(option, sizes);
    }
    return holds && (!option->whole ||
                     check_whole(request, tuning, option->values, NULL));
}

static void trace(const struct shmt_runtime_request *request,
                  const struct shmt_runtime_tuning *tuning, size_t number,
                  const struct option *option, bool taken)
{
    struct shmt_error err = {.text = "it does not run here"};

    shmt_text_addf(request->trace, "%s: learnt for such problems, "
                   "configuration %zu of the dispatch: ", tuning->file,
                   number);
    if (!taken)
        check_whole(request, tuning, option->values, &err);
    shmt_text_addf(request->trace, "%s\n", taken ? "taken" : err.text);
}

static const shmt_config *choose(const struct shmt_runtime_request *request,
                                 const struct shmt_runtime_tuning *tuning)
{
    const struct shmt_runtime_dispatch *const dispatch = tuning->dispatch;
    const size_t dimensions = dispatch->dimensions;
    const struct shmt_dispatch_node *node = dispatch->nodes;
    struct shmt_value sizes[SHMT_KERNEL_DIMENSIONS];
    struct shmt_expr_evaluation evaluation;

    while (node->feature != SHMT_DISPATCH_LEAF)
        node = value_of(dispatch, node->feature, request->problem) <
                       node->below
                   ? node + 1 : dispatch->nodes + node->other;
    for (size_t d = 0; d < dimensions; d++)
        sizes[d] = (struct shmt_value){.type = SHMT_VALUE_INT,
                                       .i = request->problem[d]};
    shmt_expr_begin(&evaluation, sizes);
    for (size_t r = 0; r < node->other; r++) {
        const size_t number = dispatch->ranks[node->rank + r];
        const struct option *const option = &dispatch->options[number];
        const bool taken = may_run(request, tuning, option, &evaluation);

        if (request->trace != NULL)
            trace(request, tuning, number, option, taken);
        if (taken)
            return option->values;
    }
    return NULL;
}

const shmt_config *
shmt_runtime_dispatch_find(const struct shmt_runtime_request *request,
                           const struct shmt_runtime_tuning **tuning)
{
    const struct shmtune_kernel *const kernel = request->kernel;

    for (size_t k = 0; k < kernel->tuning_count; k++) {
        const struct shmt_runtime_tuning *const one = &kernel->tunings[k];

        if (one->dispatch == NULL ||
            !covers(one->dispatch, request->problem) ||
            !shmt_device_matches(&one->device, request->device))
            continue;
        *tuning = one;
        return choose(request, one);
    }
    return NULL;
}
