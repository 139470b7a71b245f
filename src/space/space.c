/* SPDX-License-Identifier: MIT */
/*
 * space: builds a space: one diagram for each component of connected
 * parameters (order.c), joined into one (reduce.c).  Also counts the space,
 * and estimates the counts after each constraint.
 */
#include "space/space.h"

#include <stdlib.h>

#include "space/build.h"

/* Limits of a build; a space that needs more is refused as too irregular. */
static const uint64_t build_limit = UINT64_C(1) << 28;
static const size_t build_bytes = (size_t)1 << 29;
static const uint64_t funnel_limit = UINT64_C(1) << 21;

struct effort {
    uint64_t limit;
    bool fault_is_false; /* a constraint without a value does not hold */
    bool reached;      /* set when the limit was */
};

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

/* Components and free parameters, each a diagram. */
static enum shmt_build_outcome build_parts(struct shmt_graph *graph,
                                           const struct shmt_build_effort *most,
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
            built = shmt_build_component(graph, component, most,
                                         &parts[*count]);
        else if (!free_parameter(d, (uint8_t)p, &parts[*count]))
            built = SHMT_BUILD_MEMORY;
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

/* The diagram of the first `constraints` constraints; no layers when there
 * is no configuration. */
static enum shmtune_status
make_diagram(const struct shmt_space_definition *definition,
             size_t constraints, struct effort *effort,
             struct shmt_diagram *out, struct shmt_error *err)
{
    struct shmt_diagram parts[SHMT_SPACE_PARAMETERS] = {0};
    struct shmt_graph graph = {0};
    enum shmtune_status status;
    enum shmt_build_outcome built = SHMT_BUILD_DONE;
    size_t count = 0;

    *out = (struct shmt_diagram){0};
    status = check_definition(definition, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t p = 0; p < definition->parameter_count; p++)
        if (definition->parameters[p].count == 0)
            return SHMTUNE_OK;
    status = shmt_graph_build(&graph, definition, constraints, err);
    if (status != SHMTUNE_OK)
        return status;
    if (!graph.never) {
        const struct shmt_build_effort most = {.limit = effort->limit,
                                               .bytes = build_bytes};

        built = build_parts(&graph, &most, parts, &count);
        if (built == SHMT_BUILD_DONE)
            status = join_parts(&graph, parts, count, effort, out, err);
    }
    effort->reached = built == SHMT_BUILD_LIMIT;
    if (built == SHMT_BUILD_LIMIT)
        status = shmt_error_set(
            err, SHMTUNE_NO_MEMORY,
            "the space is too irregular: building it takes more than %zu MiB "
            "or %llu steps", build_bytes >> 20,
            (unsigned long long)effort->limit);
    else if (built == SHMT_BUILD_MEMORY)
        status = shmt_error_memory(err);
    for (size_t k = 0; k < count; k++)
        shmt_diagram_free(&parts[k]);
    shmt_graph_free(&graph);
    return status;
}

enum shmtune_status
shmt_space_build(const struct shmt_space_definition *definition,
                 struct shmt_space **out, struct shmt_error *err)
{
    struct effort effort = {.limit = build_limit};
    struct shmt_space *space = calloc(1, sizeof *space);
    enum shmtune_status status;

    if (space == NULL)
        return shmt_error_memory(err);
    space->definition = *definition;
    status = make_diagram(definition, definition->constraint_count, &effort,
                          &space->diagram, err);
    if (status == SHMTUNE_OK && space->diagram.saturated)
        status = shmt_error_set(
            err, SHMTUNE_INVALID_FILE,
            "the space has 2^64 - 1 configurations or more, too many for "
            "indices; fewer values, or more constraints, are needed");
    if (status != SHMTUNE_OK) {
        shmt_space_free(space);
        return status;
    }
    *out = space;
    return SHMTUNE_OK;
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
    size_t sum = sizeof *space;

    for (size_t k = 0; k < space->diagram.layer_count; k++) {
        const struct shmt_diagram_layer *layer = &space->diagram.layers[k];

        sum += sizeof *layer;
        if (layer->node_count > 0)
            sum += layer->node_count *
                       (sizeof *layer->first + sizeof *layer->total) +
                   layer->first[layer->node_count] * sizeof *layer->edges;
    }
    return sum;
}

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

/* The share of points drawn at random on which the constraints hold, times
 * the cartesian size. */
static enum shmtune_status
estimate(const struct shmt_space_definition *definition, size_t constraints,
         uint64_t *count, struct shmt_error *err)
{
    enum { POINTS = 20000 };
    const size_t fixed = definition->fixed_count;
    struct shmt_value *values = shmt_graph_first_values(definition);
    uint64_t draws = 0, held = 0;
    double size = 1.0;

    if (values == NULL)
        return shmt_error_memory(err);
    for (int n = 0; n < POINTS; n++) {
        bool truth = true;

        for (size_t p = 0; p < definition->parameter_count; p++) {
            const struct shmt_parameter *parameter =
                &definition->parameters[p];

            values[fixed + p] = parameter->values[
                shmt_random_at(1, draws++) % parameter->count];
        }
        for (size_t c = 0; c < constraints && truth; c++)
            truth = shmt_expr_eval_bool(definition->constraints[c], values,
                                        &truth, NULL) == SHMTUNE_OK && truth;
        held += truth;
    }
    free(values);
    for (size_t p = 0; p < definition->parameter_count; p++)
        size *= (double)definition->parameters[p].count;
    size *= (double)held / POINTS;
    *count = size < 0x1p64 ? (uint64_t)size : UINT64_MAX;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_space_funnel(const struct shmt_space_definition *definition,
                  size_t constraints, uint64_t *count, bool *exact,
                  struct shmt_error *err)
{
    struct effort effort = {.limit = funnel_limit, .fault_is_false = true};
    struct shmt_diagram diagram;
    enum shmtune_status status;

    if (constraints > definition->constraint_count)
        constraints = definition->constraint_count;
    *exact = true;
    *count = cartesian(definition);
    if (constraints == 0 || *count == 0)
        return SHMTUNE_OK;
    status = make_diagram(definition, constraints, &effort, &diagram, err);
    if (status == SHMTUNE_OK) {
        *count = diagram.saturated ? UINT64_MAX : diagram.count;
        shmt_diagram_free(&diagram);
    } else if (effort.reached) {
        *exact = false;
        status = estimate(definition, constraints, count, err);
    }
    return status;
}
