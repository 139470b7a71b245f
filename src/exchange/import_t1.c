/* SPDX-License-Identifier: MIT */
/*
 * import_t1: the community's description of a tuning problem: of it we take
 * the name, the parameters and the conditions.
 */
#include <string.h>

#include "exchange/import_json.h"

static enum shmtune_status read_name(const struct shmt_import_place *place,
                                     const struct shmt_import_node *json)
{
    static const struct {
        const char *section, *key;
    } names[] = {
        {"General", "BenchmarkName"},
        {"KernelSpecification", "BenchmarkName"},
        {"KernelSpecification", "KernelName"},
    };

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const struct shmt_import_node *const name = shmt_import_get(
            shmt_import_get(json, names[k].section), names[k].key);

        if (shmt_import_is(name, SHMT_IMPORT_STRING) &&
            shmt_import_word(name)[0] != '\0')
            return shmt_import_identifier(place, shmt_import_word(name),
                                          &place->import->name);
    }
    return shmt_import_name_of_file(place);
}

/* A default that is none of the values is left out.  The benchmark hub writes
 * some in a list of one. */
static enum shmtune_status read_default(const struct shmt_import_place *place,
                                        const struct shmt_import_node *json,
                                        struct shmt_import_parameter *out)
{
    const struct shmt_import_node *default_value =
        shmt_import_get(json, "Default");
    const struct shmt_import_place below =
        shmt_import_member(place, "Default");
    struct shmt_value value;
    enum shmtune_status status;

    if (shmt_import_is(default_value, SHMT_IMPORT_ARRAY)) {
        if (default_value->count != 1)
            return shmt_import_refuse(&below, "found a list of %zu values, "
                                              "expected one value",
                                      default_value->count);
        default_value = default_value->first;
    }
    if (default_value == NULL ||
        shmt_import_is(default_value, SHMT_IMPORT_NULL))
        return SHMTUNE_OK;
    status = shmt_import_value(&below, default_value, &value);
    if (status == SHMTUNE_OK && out->type == SHMT_VALUE_WORD &&
        !shmt_import_as_word(place->import->arena, &value))
        status = shmt_error_memory(place->err);
    for (size_t k = 0; k < out->count && status == SHMTUNE_OK; k++)
        if (shmt_value_equal(out->values[k], value))
            out->default_value = k;
    return status;
}

static enum shmtune_status
read_parameter(const struct shmt_import_place *place,
               const struct shmt_import_node *json,
               struct shmt_import_parameter *out)
{
    const struct shmt_import_node *name, *values;
    struct shmt_import_place below = shmt_import_member(place, "Name");
    enum shmtune_status status;

    if (!shmt_import_is(json, SHMT_IMPORT_OBJECT))
        return shmt_import_refuse(place, "expected an object with \"Name\" "
                                         "and \"Values\"");
    status = shmt_import_need(place, json, "Name", SHMT_IMPORT_STRING, &name);
    if (status == SHMTUNE_OK)
        status = shmt_import_name(&below, shmt_import_word(name),
                                  &out->name);
    if (status != SHMTUNE_OK)
        return status;
    values = shmt_import_get(json, "Values");
    if (values == NULL)
        return shmt_import_refuse(place, "\"Values\" is missing");
    below = shmt_import_member(place, "Values");
    status = shmt_import_domain(&below, values, out);
    if (status == SHMTUNE_OK)
        status = read_default(place, json, out);
    return status;
}

static enum shmtune_status
read_parameters(const struct shmt_import_place *place,
                const struct shmt_import_node *json)
{
    struct shmt_import *const import = place->import;
    const struct shmt_import_node *one = json->first;
    enum shmtune_status status =
        shmt_import_make_parameters(place, json->count);

    for (size_t k = 0; k < json->count && status == SHMTUNE_OK;
         k++, one = one->next) {
        const struct shmt_import_place item = shmt_import_item(place, k);

        status = read_parameter(&item, one, &import->parameters[k]);
        import->parameter_count += status == SHMTUNE_OK;
    }
    return status;
}

/* The condition is compiled here too, so that an error names its place in this
 * file. */
static enum shmtune_status
try_condition(const struct shmt_import_place *place,
              const struct shmt_import_constraint *constraint)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_expr *expr;
    enum shmtune_status status;

    if (arena == NULL)
        return shmt_error_memory(place->err);
    status = shmt_import_compile(place->import, arena, constraint, &expr,
                                 place->err);
    shmt_arena_free(arena);
    return status;
}

static enum shmtune_status
read_condition(const struct shmt_import_place *place,
               const struct shmt_import_node *json,
               struct shmt_import_constraint *out)
{
    const struct shmt_import_node *expression = json;
    const struct shmt_import_place below =
        shmt_import_member(place, "Expression");
    enum shmtune_status status = SHMTUNE_OK;

    if (!shmt_import_is(json, SHMT_IMPORT_STRING))
        status = shmt_import_is(json, SHMT_IMPORT_OBJECT)
                     ? shmt_import_need(place, json, "Expression",
                                        SHMT_IMPORT_STRING, &expression)
                     : shmt_import_refuse(place, "expected an object with "
                                                 "\"Expression\"");
    if (status != SHMTUNE_OK)
        return status;
    out->where = shmt_import_where(
        shmt_import_is(json, SHMT_IMPORT_STRING) ? place : &below);
    if (out->where == NULL)
        return shmt_error_memory(place->err);
    status = shmt_import_copy(place, shmt_import_word(expression),
                              &out->text);
    if (status == SHMTUNE_OK)
        status = try_condition(place, out);
    return status;
}

static enum shmtune_status
read_conditions(const struct shmt_import_place *place,
                const struct shmt_import_node *json)
{
    struct shmt_import *const import = place->import;
    const struct shmt_import_node *one = json == NULL ? NULL : json->first;
    const size_t count = json == NULL ? 0 : json->count;
    enum shmtune_status status = SHMTUNE_OK;

    if (json != NULL && !shmt_import_is(json, SHMT_IMPORT_ARRAY) &&
        !shmt_import_is(json, SHMT_IMPORT_NULL))
        return shmt_import_refuse(place, "expected an array");
    if (count > 4096)
        return shmt_import_refuse(place, "%zu conditions, at most 4096 are "
                                         "possible", count);
    import->constraints = shmt_arena_alloc(import->arena, count,
                                           sizeof *import->constraints);
    if (import->constraints == NULL)
        return shmt_error_memory(place->err);
    for (size_t k = 0; k < count && status == SHMTUNE_OK;
         k++, one = one->next) {
        const struct shmt_import_place item = shmt_import_item(place, k);

        status = read_condition(&item, one, &import->constraints[k]);
        import->constraint_count += status == SHMTUNE_OK;
    }
    return status;
}

enum shmtune_status shmt_import_t1(const struct shmt_import_place *place,
                                   const struct shmt_import_node *json)
{
    const struct shmt_import_place space =
        shmt_import_member(place, "ConfigurationSpace");
    struct shmt_import_place below =
        shmt_import_member(&space, "TuningParameters");
    const struct shmt_import_node *configuration, *parameters;
    enum shmtune_status status;

    place->import->kind = SHMT_IMPORT_SPACE;
    status = shmt_import_need(place, json, "ConfigurationSpace",
                              SHMT_IMPORT_OBJECT, &configuration);
    if (status == SHMTUNE_OK)
        status = shmt_import_need(&space, configuration, "TuningParameters",
                                  SHMT_IMPORT_ARRAY, &parameters);
    if (status == SHMTUNE_OK)
        status = read_name(place, json);
    if (status == SHMTUNE_OK)
        status = read_parameters(&below, parameters);
    below = shmt_import_member(&space, "Conditions");
    if (status == SHMTUNE_OK)
        status = read_conditions(&below, shmt_import_get(configuration,
                                                         "Conditions"));
    return status;
}
