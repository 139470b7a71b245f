/* SPDX-License-Identifier: MIT */
/*
 * import_t4: the community's list of results: one entry a configuration,
 * with what it took, its samples, and why it was not valid.
 */
#include <string.h>

#include "exchange/import_json.h"

static const struct {
    const char *word;
    enum shmt_verdict verdict;
} validities[] = {
    {"correct", SHMT_VERDICT_OK},
    {"compile", SHMT_VERDICT_COMPILE_ERROR},
    {"runtime", SHMT_VERDICT_LAUNCH_ERROR},
    {"timeout", SHMT_VERDICT_TIMEOUT},
    {"constraints", SHMT_VERDICT_TOO_LARGE},
    {"correctness", SHMT_VERDICT_WRONG},
};

/* The names of the first entry's configuration. */
static enum shmtune_status
read_parameters(const struct shmt_import_place *place, const json_t *json)
{
    struct shmt_import *const import = place->import;
    const size_t count = json_object_size(json);
    enum shmtune_status status = shmt_import_make_parameters(place, count);
    const char *key;
    json_t *value;

    if (status != SHMTUNE_OK)
        return status;
    json_object_foreach((json_t *)json, key, value) {
        struct shmt_import_parameter *const p =
            &import->parameters[import->parameter_count];

        status = shmt_import_name(place, key, &p->name);
        p->truths = json_is_boolean(value);
        if (status != SHMTUNE_OK)
            break;
        import->parameter_count++;
    }
    return status;
}

static double number(const json_t *object, const char *key)
{
    const double value = json_number_value(json_object_get(object, key));

    return value > 0.0 && value < 1e15 ? value : 0.0;
}

/* Milliseconds of a unit. */
static const struct {
    const char *word;
    double ms;
} units[] = {
    {"milliseconds", 1}, {"miliseconds", 1}, {"ms", 1}, {"", 1},
    {"seconds", 1e3}, {"s", 1e3}, {"microseconds", 1e-3}, {"us", 1e-3},
    {"nanoseconds", 1e-6}, {"ns", 1e-6},
};

/* Without a unit, times are milliseconds, as the tuners write them. */
static enum shmtune_status read_unit(const struct shmt_import_place *place,
                                     const json_t *json, double *ms)
{
    const char *const word = json == NULL ? "" : json_string_value(json);

    for (size_t k = 0; word != NULL && k < sizeof units / sizeof *units; k++)
        if (strcmp(units[k].word, word) == 0) {
            *ms = units[k].ms;
            return SHMTUNE_OK;
        }
    return shmt_import_refuse(place, "found \"%.40s\", expected a unit of "
                                     "time: s, ms, us or ns",
                              word == NULL ? "no string" : word);
}

/* The measurement that is the objective, or else the one named "time"; -1
 * when there is none. */
static enum shmtune_status read_time(const struct shmt_import_place *place,
                                     const json_t *json, double *time_ms)
{
    const struct shmt_import_place all =
        shmt_import_member(place, "measurements");
    const json_t *const list = json_object_get(json, "measurements");
    const json_t *const objective =
        json_array_get(json_object_get(json, "objectives"), 0);
    const char *const wanted = json_is_string(objective)
                                   ? json_string_value(objective) : "time";

    for (size_t k = 0; k < json_array_size(list); k++) {
        const struct shmt_import_place item = shmt_import_item(&all, k);
        const struct shmt_import_place unit = shmt_import_member(&item,
                                                                 "unit");
        const json_t *const one = json_array_get(list, k);
        const json_t *const name = json_object_get(one, "name");
        const json_t *const value = json_object_get(one, "value");
        enum shmtune_status status;
        double ms;

        if (!json_is_string(name) || !json_is_number(value) ||
            (strcmp(json_string_value(name), wanted) != 0 &&
             strcmp(json_string_value(name), "time") != 0) ||
            strncmp(json_string_value(name), "time", 4) != 0)
            continue;
        status = read_unit(&unit, json_object_get(one, "unit"), &ms);
        if (status == SHMTUNE_OK)
            *time_ms = json_number_value(value) * ms;
        return status;
    }
    *time_ms = -1;
    return SHMTUNE_OK;
}

static enum shmtune_status read_verdict(const struct shmt_import_place *place,
                                        const json_t *json,
                                        struct shmt_result *result)
{
    const struct shmt_import_place below =
        shmt_import_member(place, "invalidity");
    const json_t *invalidity;
    enum shmtune_status status = shmt_import_need(
        place, json, "invalidity", JSON_STRING, &invalidity);
    const char *word;

    if (status != SHMTUNE_OK)
        return status;
    word = json_string_value(invalidity);
    for (size_t k = 0; k < sizeof validities / sizeof *validities; k++) {
        if (strcmp(validities[k].word, word) != 0)
            continue;
        if (validities[k].verdict != SHMT_VERDICT_OK)
            shmt_result_set_verdict(result, validities[k].verdict,
                                    "invalidity: %s", word);
        return SHMTUNE_OK;
    }
    return shmt_import_refuse(&below, "found \"%.60s\", expected correct, "
                                      "compile, runtime, timeout, "
                                      "constraints or correctness", word);
}

static enum shmtune_status read_result(const struct shmt_import_place *place,
                                       const json_t *json,
                                       struct shmt_import_entry *entry)
{
    static const char *const drop[] = {"configuration", "shmtune", NULL};
    const struct shmt_import_place times_place =
        shmt_import_member(place, "times");
    const struct shmt_import_place runs_place =
        shmt_import_member(&times_place, "runtimes");
    struct shmt_result *const result = &entry->result;
    const double unit = place->import->unit_ms;
    const json_t *times, *runs;
    double time;
    enum shmtune_status status =
        shmt_import_need(place, json, "times", JSON_OBJECT, &times);

    shmt_result_clear(result);
    if (status == SHMTUNE_OK)
        status = read_verdict(place, json, result);
    if (status != SHMTUNE_OK)
        return status;
    runs = json_object_get(times, "runtimes");
    if (json_is_array(runs))
        status = shmt_import_samples(&runs_place, runs, unit, result);
    if (status == SHMTUNE_OK)
        status = read_time(place, json, &time);
    if (status != SHMTUNE_OK)
        return status;
    if (result->verdict == SHMT_VERDICT_OK) {
        if (time > 0.0)
            result->time_us = time * 1000.0;
        else if (result->sample_count > 0)
            shmt_result_summarise(result);
        else
            return shmt_import_refuse(place, "correct, but without a "
                                             "measurement \"time\" above 0 "
                                             "and without runtimes");
    }
    result->compile_ms = unit * (number(times, "compilation") +
                                 number(times, "compilation_time"));
    result->measure_ms = unit * (number(times, "validation") +
                                 number(times, "framework") +
                                 number(times, "benchmark"));
    if (json_object_get(times, "benchmark") == NULL)
        for (int k = 0; k < result->sample_count; k++)
            result->measure_ms += (double)result->samples_us[k] / 1000.0;
    return shmt_import_rest(place, json, drop, &entry->origin);
}

static enum shmtune_status read_entry(const struct shmt_import_place *place,
                                      const json_t *json,
                                      struct shmt_import_entry *entry)
{
    const struct shmt_import_place below =
        shmt_import_member(place, "configuration");
    const struct shmt_import_place own_place =
        shmt_import_member(place, "shmtune");
    const json_t *const own = json_object_get(json, "shmtune");
    const json_t *configuration;
    enum shmtune_status status;

    if (!json_is_object(json))
        return shmt_import_refuse(place, "expected an object");
    status = shmt_import_need(place, json, "configuration", JSON_OBJECT,
                              &configuration);
    if (status == SHMTUNE_OK && place->import->parameter_count == 0)
        status = read_parameters(&below, configuration);
    if (status == SHMTUNE_OK)
        status = shmt_import_configuration(&below, configuration, false,
                                           entry);
    if (status != SHMTUNE_OK)
        return status;
    return json_is_string(own)
               ? shmt_import_read_export(&own_place, json_string_value(own),
                                         entry)
               : read_result(place, json, entry);
}

static enum shmtune_status read_entries(const struct shmt_import_place *place,
                                        const json_t *json)
{
    struct shmt_import *const import = place->import;
    const size_t count = json_array_size(json);
    enum shmtune_status status = SHMTUNE_OK;

    import->entries = shmt_arena_alloc(import->arena, count,
                                       sizeof *import->entries);
    if (import->entries == NULL)
        return shmt_error_memory(place->err);
    for (size_t k = 0; k < count && status == SHMTUNE_OK; k++) {
        const struct shmt_import_place item = shmt_import_item(place, k);

        status = read_entry(&item, json_array_get(json, k),
                            &import->entries[k]);
        import->entry_count += status == SHMTUNE_OK;
    }
    return status;
}

/* What is said once, and which parameters are written as true and false. */
static enum shmtune_status read_rest(const struct shmt_import_place *place,
                                     const json_t *json)
{
    static const char *const drop[] = {"results", "shmtune", NULL};
    const struct shmt_import *const import = place->import;
    json_t *const all = json_copy((json_t *)json);
    json_t *const domains = json_object();
    enum shmtune_status status = SHMTUNE_OK;
    bool special = false, fine = all != NULL && domains != NULL;

    for (size_t p = 0; p < import->parameter_count && fine; p++) {
        const struct shmt_import_parameter *const one =
            &import->parameters[p];
        json_t *const list = one->truths ? json_array() : NULL;

        for (size_t k = 0; k < one->count && list != NULL; k++)
            json_array_append_new(list, json_boolean(one->values[k].i != 0));
        if (list != NULL)
            fine = json_object_set_new(domains, one->name, list) == 0;
        special |= list != NULL;
    }
    if (fine && special)
        fine = json_object_set(all, "tune_params", domains) == 0;
    status = fine ? shmt_import_rest(place, all, drop,
                                     &place->import->origin)
                  : shmt_error_memory(place->err);
    json_decref(all);
    json_decref(domains);
    return status;
}

enum shmtune_status shmt_import_t4(const struct shmt_import_place *place,
                                   const json_t *json)
{
    const struct shmt_import_place below =
        shmt_import_member(place, "results");
    const struct shmt_import_place own_place =
        shmt_import_member(place, "shmtune");
    const struct shmt_import_place metadata =
        shmt_import_member(place, "metadata");
    const struct shmt_import_place unit =
        shmt_import_member(&metadata, "timeunit");
    const json_t *const own = json_object_get(json, "shmtune");
    const json_t *results;
    enum shmtune_status status;

    place->import->kind = SHMT_IMPORT_RESULTS;
    status = read_unit(&unit, json_object_get(
                                  json_object_get(json, "metadata"),
                                  "timeunit"), &place->import->unit_ms);
    if (status == SHMTUNE_OK)
        status = shmt_import_need(place, json, "results", JSON_ARRAY,
                                  &results);
    if (status == SHMTUNE_OK)
        status = shmt_import_name_of_file(place);
    if (status == SHMTUNE_OK)
        status = read_entries(&below, results);
    if (status == SHMTUNE_OK)
        status = shmt_import_collect(&below);
    if (status == SHMTUNE_OK && json_is_string(own))
        status =
            shmt_import_read_export_header(&own_place, json_string_value(own));
    if (status == SHMTUNE_OK)
        status = read_rest(place, json);
    return status;
}
