/* SPDX-License-Identifier: MIT */
/*
 * space: builds a space: one diagram for each component of connected
 * parameters (order.c), joined into one (reduce.c).  Also counts the space,
 * and estimates the counts after each constraint.
 */
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "space/build.h"

/* Prefixes of one component, for one stage of the funnel. */
static const uint64_t funnel_limit = UINT64_C(1) << 21;

struct effort {
    uint64_t limit;      /* prefixes of one component */
    struct shmt_budget budget;
    bool fault_is_false; /* a constraint without a value does not hold */
    uint64_t reached;    /* the component that outgrew the limits; 0: none */
};

/* The cartesian size; UINT64_MAX for that or more. */
static uint64_t cartesian(const struct shmt_space_definition *definition)
{
    uint64_t size = 1;
    bool over = false;

    for (size_t p = 0; p < definition->parameter_count; p++) {
        if (definition->parameters[p].count == 0)
            return 0;
        over |= __builtin_mul_overflow(
            size, (uint64_t)definition->parameters[p].count, &size);
    }
    return over ? UINT64_MAX : size;
}

static enum shmtune_status
check_definition(const struct shmt_space_definition *definition,
                 struct shmt_error *err)
{
    if (definition->parameter_count > SHMT_SPACE_PARAMETERS)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%zu parameters, at most %d are possible",
                              definition->parameter_count,
                              SHMT_SPACE_PARAMETERS);
    for (size_t p = 0; p < definition->parameter_count; p++)
        if (definition->parameters[p].count > SHMT_SPACE_VALUES)
            return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                  "parameter '%s' has %zu values, at most "
                                  "%d are possible",
                                  definition->parameters[p].name,
                                  definition->parameters[p].count,
                                  SHMT_SPACE_VALUES);
    return SHMTUNE_OK;
}

/* A parameter that no constraint reads. */
static bool free_parameter(const struct shmt_space_definition *definition,
                           uint8_t parameter, struct shmt_diagram *out)
{
    const size_t count = definition->parameters[parameter].count;
    struct shmt_diagram_layer *layer = calloc(1, sizeof *layer);

    *out = (struct shmt_diagram){.layer_count = 1, .layers = layer,
                                 .count = count};
    if (layer == NULL)
        return false;
    layer->parameter = parameter;
    layer->node_count = 1;
    layer->first = calloc(2, sizeof *layer->first);
    layer->edges = calloc(count, sizeof *layer->edges);
    layer->total = calloc(1, sizeof *layer->total);
    if (layer->first == NULL || layer->edges == NULL || layer->total == NULL)
        return false;
    for (size_t k = 0; k < count; k++)
        layer->edges[k] =
            (struct shmt_diagram_edge){.before = k, .value = (shmt_config)k};
    layer->first[1] = (uint32_t)count;
    layer->total[0] = count;
    return true;
}

/* The parameters that constraints connect to `parameter`, directly or through
 * others, as bits; 0 when no constraint reads it. */
static uint64_t component_of(const struct shmt_graph *graph, size_t parameter)
{
    uint64_t component = UINT64_C(1) << parameter, before;
    bool bound = false;

    do {
        before = component;
        for (size_t c = 0; c < graph->conjunct_count; c++) {
            const uint64_t support =
                graph->nodes[graph->conjuncts[c]].support;

            if ((support & component) == 0)
                continue;
            component |= support;
            bound = true;
        }
    } while (component != before);
    return bound ? component : 0;
}

static size_t diagram_bytes(const struct shmt_diagram *diagram)
{
    size_t sum = 0;

    for (size_t k = 0; k < diagram->layer_count; k++) {
        const struct shmt_diagram_layer *layer = &diagram->layers[k];

        sum += sizeof *layer;
        if (layer->node_count > 0)
            sum += layer->node_count *
                       (sizeof *layer->first + sizeof *layer->total) +
                   layer->first[layer->node_count] * sizeof *layer->edges;
    }
    return sum;
}

/* Components and free parameters, each a diagram. */
static enum shmt_build_outcome build_parts(struct shmt_graph *graph,
                                           struct effort *effort,
                                           struct shmt_diagram *parts,
                                           size_t *count)
{
    const struct shmt_space_definition *const d = graph->definition;
    enum shmt_build_outcome built = SHMT_BUILD_DONE;
    uint64_t done = 0;

    for (size_t p = 0; p < d->parameter_count && built == SHMT_BUILD_DONE;
         p++) {
        uint64_t component;

        if (d->parameters[p].count < 2 || (done >> p & 1) != 0)
            continue;
        component = component_of(graph, p);
        if (component != 0)
            built = shmt_build_component(graph, component, effort->limit,
                                         &effort->budget, &parts[*count]);
        else if (!free_parameter(d, (uint8_t)p, &parts[*count]))
            built = SHMT_BUILD_MEMORY;
        if (built == SHMT_BUILD_LIMIT)
            effort->reached = component;
        /* What could not be finished has no size, but is to be freed. */
        if (built == SHMT_BUILD_DONE)
            effort->budget.held += diagram_bytes(&parts[*count]);
        done |= component;
        ++*count;
    }
    return built;
}

/* A configuration on which a constraint has no value, and what it says. */
static enum shmtune_status
explain(const struct shmt_space_definition *definition,
        const struct shmt_diagram *parts, size_t count,
        struct shmt_error *err)
{
    struct shmt_value *all = shmt_graph_first_values(definition), *values, out;
    enum shmtune_status status = SHMTUNE_OK;
    bool shown = false;

    if (all == NULL)
        return shmt_error_memory(err);
    values = all + definition->fixed_count;
    for (size_t k = 0; k < count; k++) {
        const bool wanted = parts[k].fault && (!shown || parts[k].count == 0);
        uint32_t node = 0;

        shown |= wanted;
        for (size_t l = 0; l < parts[k].layer_count; l++) {
            const struct shmt_diagram_layer *layer = &parts[k].layers[l];
            const struct shmt_diagram_edge *edge = NULL;

            if (!wanted)
                edge = layer->edges + layer->first[node];
            values[layer->parameter] =
                definition->parameters[layer->parameter]
                    .values[wanted ? parts[k].fault_path[l] : edge->value];
            node = wanted ? 0 : edge->child;
        }
    }
    for (size_t c = 0; c < definition->constraint_count &&
                       status == SHMTUNE_OK; c++)
        status = shmt_expr_eval(definition->constraints[c], all, &out, err);
    free(all);
    if (status == SHMTUNE_OK)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "a constraint leaves 64-bit integers");
    return status;
}

/* Joins the diagrams of the components.  A constraint that has no value is an
 * error if no other constraint is false; with `fault_is_false` it counts as
 * false. */
static enum shmtune_status
join_parts(const struct shmt_graph *graph, struct shmt_diagram *parts,
           size_t count, const struct effort *effort,
           struct shmt_diagram *out, struct shmt_error *err)
{
    bool fault = false, empty = false;

    for (size_t c = 0; c < graph->conjunct_count; c++)
        fault |= graph->nodes[graph->conjuncts[c]].support == 0;
    empty = fault && effort->fault_is_false;
    for (size_t k = 0; k < count; k++) {
        fault |= parts[k].fault;
        empty |= parts[k].count == 0 &&
                 (effort->fault_is_false || !parts[k].fault);
    }
    if (empty)
        return SHMTUNE_OK;
    if (fault && !effort->fault_is_false)
        return explain(graph->definition, parts, count, err);
    return shmt_diagram_join(parts, count, out) ? SHMTUNE_OK
                                                : shmt_error_memory(err);
}

/* How many parameters with a choice the constraint reads of a component. */
static size_t reads(const struct shmt_space_definition *definition, size_t c,
                    uint64_t component)
{
    size_t count = 0;

    for (size_t p = 0; p < definition->parameter_count; p++)
        count += (component >> p & 1) != 0 &&
                 shmt_expr_uses(definition->constraints[c],
                                definition->fixed_count + p);
    return count;
}

/* Appends the constraints that bind most parameters of the component. */
static void add_culprits(const struct shmt_space_definition *definition,
                         uint64_t component, struct shmt_text *text)
{
    enum { NAMED = 3, SHOWN = 72 };
    const size_t parameters = (size_t)__builtin_popcountll(component);
    size_t named = 0, binding = 0;

    for (size_t n = parameters; n > 1; n--)
        for (size_t c = 0; c < definition->constraint_count; c++) {
            const struct shmt_expr *expr = definition->constraints[c];
            const struct shmt_place place = shmt_expr_place(expr);

            if (reads(definition, c, component) != n)
                continue;
            binding++;
            if (named == NAMED)
                continue;
            shmt_text_addf(text, "%s%s:%d:%d: %.*s%s",
                           named++ == 0 ? "" : "; ",
                           place.file == NULL ? "?" : place.file, place.line,
                           place.column, SHOWN, shmt_expr_text(expr),
                           strlen(shmt_expr_text(expr)) > SHOWN ? "..." : "");
        }
    if (binding > named)
        shmt_text_addf(text, "; and %zu more", binding - named);
}

static enum shmtune_status
refuse_irregular(const struct shmt_space_definition *definition,
                 const struct effort *effort, struct shmt_error *err)
{
    const struct shmt_budget *const budget = &effort->budget;
    const struct shmt_space_limits *const limits = &budget->limits;
    struct shmt_text culprits = {0};

    add_culprits(definition, effort->reached, &culprits);
    shmt_error_set(
        err, SHMTUNE_NO_MEMORY,
        "the space is too irregular to be built: after %.1f of at most %.0f s "
        "(%.2g of %.2g steps) %zu of at most %zu MiB are full%s; these "
        "constraints bind %d parameters to one another: %s; give these "
        "parameters fewer values, make the constraints read fewer of them, or "
        "raise --space-seconds or --space-memory",
        shmt_clock_s() - budget->start, limits->seconds,
        (double)budget->steps,
        limits->steps == UINT64_MAX ? INFINITY : (double)limits->steps,
        budget->progress.bytes >> 20, limits->bytes >> 20,
        limits->exact ? "" : ", and no valid configuration was found",
        __builtin_popcountll(effort->reached), shmt_text_string(&culprits));
    shmt_text_free(&culprits);
    return SHMTUNE_NO_MEMORY;
}

/* The diagram of the graph's constraints; no layers when there is no
 * configuration.  SHMTUNE_NO_MEMORY with effort->reached: the limits were. */
static enum shmtune_status
make_diagram(struct shmt_graph *graph, struct effort *effort,
             struct shmt_diagram *out, struct shmt_error *err)
{
    struct shmt_diagram parts[SHMT_SPACE_PARAMETERS] = {0};
    enum shmtune_status status = SHMTUNE_OK;
    enum shmt_build_outcome built = SHMT_BUILD_DONE;
    size_t count = 0;

    *out = (struct shmt_diagram){0};
    effort->reached = 0;
    effort->budget.held = 0;
    if (graph->never)
        return SHMTUNE_OK;
    built = build_parts(graph, effort, parts, &count);
    if (built == SHMT_BUILD_DONE)
        status = join_parts(graph, parts, count, effort, out, err);
    else if (built == SHMT_BUILD_MEMORY)
        status = shmt_error_memory(err);
    else
        status = refuse_irregular(graph->definition, effort, err);
    for (size_t k = 0; k < count; k++)
        shmt_diagram_free(&parts[k]);
    return status;
}

/* A space beyond the limits: single configurations of it. */
static enum shmtune_status
draw(struct shmt_graph *graph, struct effort *effort,
     struct shmt_space **out, struct shmt_error *err)
{
    struct shmt_space_limits limits = effort->budget.limits;
    struct shmt_budget budget;
    enum shmt_build_outcome drawn;

    limits.seconds /= 2.0;
    if (limits.steps != UINT64_MAX)
        limits.steps -= limits.steps / 2;
    shmt_budget_begin(&budget, &limits);
    drawn = shmt_space_draw(graph, &budget, out);
    if (drawn == SHMT_BUILD_MEMORY)
        return shmt_error_memory(err);
    if (drawn == SHMT_BUILD_DONE && limits.exact && (*out)->drawn) {
        shmt_space_free(*out);
        *out = NULL;
        drawn = SHMT_BUILD_LIMIT;
    }
    return drawn == SHMT_BUILD_DONE
               ? SHMTUNE_OK
               : refuse_irregular(graph->definition, effort, err);
}

static enum shmtune_status
build(struct shmt_graph *graph, struct effort *effort,
      struct shmt_space **out, struct shmt_error *err)
{
    struct shmt_space *space = calloc(1, sizeof *space);
    enum shmtune_status status;

    if (space == NULL)
        return shmt_error_memory(err);
    status = make_diagram(graph, effort, &space->diagram, err);
    if (status == SHMTUNE_OK && space->diagram.saturated)
        status = shmt_error_set(
            err, SHMTUNE_INVALID_FILE,
            "the space has 2^64 - 1 configurations or more, too many for "
            "indices; fewer values, or more constraints, are needed");
    if (status == SHMTUNE_OK) {
        space->definition = *graph->definition;
        space->definition.limits = NULL;
        *out = space;
        return SHMTUNE_OK;
    }
    shmt_space_free(space);
    if (effort->reached != 0)
        status = draw(graph, effort, out, err);
    return status;
}

enum shmtune_status
shmt_space_build(const struct shmt_space_definition *definition,
                 struct shmt_space **out, struct shmt_error *err)
{
    struct effort effort = {.limit = UINT64_MAX};
    struct shmt_graph graph = {0};
    enum shmtune_status status = check_definition(definition, err);

    if (status != SHMTUNE_OK)
        return status;
    if (cartesian(definition) == 0)
        return shmt_space_from_list(definition, NULL, 0, out, err);
    status = shmt_graph_build(&graph, definition,
                              definition->constraint_count, err);
    if (status != SHMTUNE_OK)
        return status;
    shmt_budget_begin(&effort.budget, definition->limits);
    status = build(&graph, &effort, out, err);
    shmt_graph_free(&graph);
    return status;
}

bool shmt_space_is_drawn(const struct shmt_space *space)
{
    return space->drawn;
}

void shmt_space_free(struct shmt_space *space)
{
    if (space == NULL)
        return;
    shmt_diagram_free(&space->diagram);
    free(space);
}

uint64_t shmt_space_count(const struct shmt_space *space)
{
    return space->diagram.count;
}

size_t shmt_space_parameters(const struct shmt_space *space)
{
    return space->definition.parameter_count;
}

const struct shmt_parameter *
shmt_space_parameter(const struct shmt_space *space, size_t parameter)
{
    return &space->definition.parameters[parameter];
}

size_t shmt_space_nodes(const struct shmt_space *space)
{
    size_t sum = 0;

    for (size_t k = 0; k < space->diagram.layer_count; k++)
        sum += space->diagram.layers[k].node_count;
    return sum;
}

size_t shmt_space_bytes(const struct shmt_space *space)
{
    return sizeof *space + diagram_bytes(&space->diagram);
}

/* Points drawn at random: on how many the first k constraints hold. */
enum { POINTS = 20000 };
struct points {
    uint64_t *held;                 /* [constraint_count + 1]; NULL: not yet */
};

static enum shmtune_status draw_points(
    const struct shmt_space_definition *definition, struct points *points,
    struct shmt_error *err)
{
    const size_t fixed = definition->fixed_count;
    struct shmt_value *values = shmt_graph_first_values(definition);
    uint64_t draws = 0;

    points->held = calloc(definition->constraint_count + 1,
                          sizeof *points->held);
    if (values == NULL || points->held == NULL) {
        free(values);
        return shmt_error_memory(err);
    }
    for (int n = 0; n < POINTS; n++) {
        bool truth = true;

        for (size_t p = 0; p < definition->parameter_count; p++) {
            const struct shmt_parameter *parameter =
                &definition->parameters[p];

            values[fixed + p] = parameter->values[
                shmt_random_at(1, draws++) % parameter->count];
        }
        for (size_t c = 0; c < definition->constraint_count && truth; c++) {
            truth = shmt_expr_eval_bool(definition->constraints[c], values,
                                        &truth, NULL) == SHMTUNE_OK && truth;
            points->held[c + 1] += truth;
        }
    }
    free(values);
    return SHMTUNE_OK;
}

/* The share of the points on which the constraints hold, times the cartesian
 * size. */
static enum shmtune_status
estimate(const struct shmt_space_definition *definition, size_t constraints,
         struct points *points, uint64_t *count, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    double size = 1.0;

    if (points->held == NULL)
        status = draw_points(definition, points, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t p = 0; p < definition->parameter_count; p++)
        size *= (double)definition->parameters[p].count;
    size *= (double)points->held[constraints] / POINTS;
    *count = size < 0x1p64 ? (uint64_t)size : UINT64_MAX;
    return SHMTUNE_OK;
}

static enum shmtune_status
count_stage(const struct shmt_space_definition *definition, size_t constraints,
            struct effort *effort, struct points *points,
            struct shmt_space_stage *stage, struct shmt_error *err)
{
    struct shmt_graph graph = {0};
    struct shmt_diagram diagram;
    enum shmtune_status status = SHMTUNE_OK;

    stage->exact = !effort->budget.spent;
    if (!stage->exact)
        return estimate(definition, constraints, points, &stage->count, err);
    status = shmt_graph_build(&graph, definition, constraints, err);
    if (status != SHMTUNE_OK)
        return status;
    status = make_diagram(&graph, effort, &diagram, err);
    shmt_graph_free(&graph);
    if (status == SHMTUNE_OK) {
        stage->count = diagram.saturated ? UINT64_MAX : diagram.count;
        shmt_diagram_free(&diagram);
    } else if (effort->reached != 0) {
        stage->exact = false;
        status = estimate(definition, constraints, points, &stage->count,
                          err);
    }
    return status;
}

enum shmtune_status
shmt_space_funnel(const struct shmt_space_definition *definition,
                  struct shmt_space_stage *stages, struct shmt_error *err)
{
    struct effort effort = {.limit = funnel_limit, .fault_is_false = true};
    struct points points = {0};
    enum shmtune_status status = check_definition(definition, err);

    shmt_budget_begin(&effort.budget, definition->limits);
    for (size_t k = 0; k <= definition->constraint_count &&
                       status == SHMTUNE_OK; k++) {
        stages[k] = (struct shmt_space_stage){cartesian(definition), true};
        if (k > 0 && stages[k].count > 0)
            status = count_stage(definition, k, &effort, &points, &stages[k],
                                 err);
    }
    free(points.held);
    return status;
}
