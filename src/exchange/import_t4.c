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

static double number(const struct shmt_import_node *object, const char *key)
{
    const double value = shmt_import_number(shmt_import_get(object, key));

    return value > 0.0 && value < 1e15 ? value : 0.0;
}

/* Milliseconds of a unit; the last four are KTT's. */
static const struct {
    const char *word;
    double ms;
} units[] = {
    {"milliseconds", 1}, {"miliseconds", 1}, {"ms", 1}, {"", 1},
    {"seconds", 1e3}, {"s", 1e3}, {"microseconds", 1e-3}, {"us", 1e-3},
    {"nanoseconds", 1e-6}, {"ns", 1e-6},
    {"Milliseconds", 1}, {"Seconds", 1e3}, {"Microseconds", 1e-3},
    {"Nanoseconds", 1e-6},
};

double shmt_import_unit_ms(const char *word)
{
    for (size_t k = 0; word != NULL && k < sizeof units / sizeof *units; k++)
        if (strcmp(units[k].word, word) == 0)
            return units[k].ms;
    return 0.0;
}

/* Without a unit, times have the one that the file says of all, else they are
 * milliseconds, as the tuners write them. */
static enum shmtune_status read_unit(const struct shmt_import_place *place,
                                     const struct shmt_import_node *json,
                                     double *ms)
{
    const char *const word = json == NULL ? "" : shmt_import_word(json);

    *ms = word != NULL && word[0] == '\0' && place->import->unit_ms > 0.0
              ? place->import->unit_ms : shmt_import_unit_ms(word);
    if (*ms > 0.0)
        return SHMTUNE_OK;
    return shmt_import_refuse(place, "found \"%.40s\", expected a unit of "
                                     "time: s, ms, us or ns",
                              word == NULL ? "no string" : word);
}

/* Whether a measurement is a time, by its name or by its unit. */
static bool is_time(const char *name, const struct shmt_import_node *unit)
{
    const char *const word = shmt_import_word(unit);

    return strncmp(name, "time", 4) == 0 ||
           (word != NULL && word[0] != '\0' && shmt_import_unit_ms(word) > 0.0);
}

/* The measurement that is the objective, or else the one named "time", and its
 * unit; -1 when there is none. */
static enum shmtune_status read_time(const struct shmt_import_place *place,
                                     const struct shmt_import_node *json,
                                     double *time_ms, double *unit_ms)
{
    const struct shmt_import_place all =
        shmt_import_member(place, "measurements");
    const struct shmt_import_node *const list =
        shmt_import_get(json, "measurements");
    const struct shmt_import_node *const objectives =
        shmt_import_get(json, "objectives");
    const char *const objective = shmt_import_word(
        objectives == NULL ? NULL : objectives->first);
    const char *const wanted = objective == NULL ? "time" : objective;
    const struct shmt_import_node *one = list == NULL ? NULL : list->first;

    for (size_t k = 0; one != NULL; k++, one = one->next) {
        const struct shmt_import_place item = shmt_import_item(&all, k);
        const struct shmt_import_place unit = shmt_import_member(&item,
                                                                 "unit");
        const char *const name =
            shmt_import_word(shmt_import_get(one, "name"));
        const struct shmt_import_node *const value =
            shmt_import_get(one, "value");
        enum shmtune_status status;

        if (name == NULL || !shmt_import_is_number(value) ||
            (strcmp(name, wanted) != 0 && strcmp(name, "time") != 0) ||
            !is_time(name, shmt_import_get(one, "unit")))
            continue;
        status = read_unit(&unit, shmt_import_get(one, "unit"), unit_ms);
        if (status == SHMTUNE_OK)
            *time_ms = shmt_import_number(value) * *unit_ms;
        return status;
    }
    *time_ms = -1;
    *unit_ms = 1;
    return SHMTUNE_OK;
}

static enum shmtune_status read_verdict(const struct shmt_import_place *place,
                                        const struct shmt_import_node *json,
                                        struct shmt_result *result)
{
    const struct shmt_import_place below =
        shmt_import_member(place, "invalidity");
    const struct shmt_import_node *invalidity;
    enum shmtune_status status = shmt_import_need(
        place, json, "invalidity", SHMT_IMPORT_STRING, &invalidity);
    const char *word;

    if (status != SHMTUNE_OK)
        return status;
    word = shmt_import_word(invalidity);
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
                                       const struct shmt_import_node *json,
                                       struct shmt_import_entry *entry)
{
    static const char *const drop[] = {"configuration", "shmtune", NULL};
    const struct shmt_import_place times_place =
        shmt_import_member(place, "times");
    const struct shmt_import_place runs_place =
        shmt_import_member(&times_place, "runtimes");
    struct shmt_result *const result = &entry->result;
    const struct shmt_import_node *times, *runs;
    double time = -1.0, unit = 1.0;
    enum shmtune_status status =
        shmt_import_need(place, json, "times", SHMT_IMPORT_OBJECT, &times);

    shmt_result_clear(result);
    if (status == SHMTUNE_OK)
        status = read_verdict(place, json, result);
    if (status != SHMTUNE_OK)
        return status;
    status = read_time(place, json, &time, &unit);
    if (place->import->unit_ms > 0.0)
        unit = place->import->unit_ms;
    runs = shmt_import_get(times, "runtimes");
    if (status == SHMTUNE_OK && shmt_import_is(runs, SHMT_IMPORT_ARRAY))
        status = shmt_import_samples(&runs_place, runs, unit, result);
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
    if (shmt_import_get(times, "benchmark") == NULL)
        for (int k = 0; k < result->sample_count; k++)
            result->measure_ms += (double)result->samples_us[k] / 1000.0;
    return shmt_import_rest(place, json, drop, NULL, &entry->origin);
}

static enum shmtune_status read_entry(const struct shmt_import_place *place,
                                      const struct shmt_import_node *json,
                                      struct shmt_import_entry *entry)
{
    const struct shmt_import_place below =
        shmt_import_member(place, "configuration");
    const struct shmt_import_place own_place =
        shmt_import_member(place, "shmtune");
    const struct shmt_import_node *const own = shmt_import_get(json, "shmtune");
    const struct shmt_import_node *configuration;
    enum shmtune_status status;

    if (!shmt_import_is(json, SHMT_IMPORT_OBJECT))
        return shmt_import_refuse(place, "expected an object");
    status = shmt_import_need(place, json, "configuration", SHMT_IMPORT_OBJECT,
                              &configuration);
    if (status == SHMTUNE_OK)
        status = shmt_import_first_entry(&below, configuration, NULL);
    if (status == SHMTUNE_OK)
        status = shmt_import_configuration(&below, configuration, false);
    if (status != SHMTUNE_OK)
        return status;
    return shmt_import_is(own, SHMT_IMPORT_STRING)
               ? shmt_import_read_export(&own_place, shmt_import_word(own),
                                         entry)
               : read_result(place, json, entry);
}

/* What is said once, and which parameters are written as true and false. */
static enum shmtune_status read_rest(const struct shmt_import_place *place,
                                     const struct shmt_import_node *json)
{
    static const char *const drop[] = {"results", "shmtune", "tune_params",
                                       NULL};
    const struct shmt_import *const import = place->import;
    struct shmt_text truths = {0};
    enum shmtune_status status;

    for (size_t p = 0; p < import->parameter_count; p++) {
        const struct shmt_import_parameter *const one =
            &import->parameters[p];

        if (!one->truths)
            continue;
        shmt_text_addf(&truths, "%s\"%s\":[",
                       truths.length == 0 ? "\"tune_params\":{" : ",",
                       one->name);
        for (size_t k = 0; k < one->count; k++)
            shmt_text_addf(&truths, "%s%s", k == 0 ? "" : ",",
                           one->values[k].i != 0 ? "true" : "false");
        shmt_text_add(&truths, "]");
    }
    if (truths.length > 0)
        shmt_text_add(&truths, "}");
    status = truths.failed ? shmt_error_memory(place->err)
                           : shmt_import_rest(place, json, drop, truths.data,
                                              &place->import->origin);
    shmt_text_free(&truths);
    return status;
}

enum shmtune_status shmt_import_t4(const struct shmt_import_place *place,
                                   const struct shmt_import_node *json)
{
    const struct shmt_import_place below =
        shmt_import_member(place, "results");
    const struct shmt_import_place own_place =
        shmt_import_member(place, "shmtune");
    const struct shmt_import_place metadata =
        shmt_import_member(place, "metadata");
    const struct shmt_import_place unit =
        shmt_import_member(&metadata, "timeunit");
    const struct shmt_import_node *const own = shmt_import_get(json, "shmtune");
    const struct shmt_import_node *const told =
        shmt_import_get(shmt_import_get(json, "metadata"), "timeunit");
    const struct shmt_import_node *results;
    enum shmtune_status status = SHMTUNE_OK;

    place->import->kind = SHMT_IMPORT_RESULTS;
    if (told != NULL)
        status = read_unit(&unit, told, &place->import->unit_ms);
    if (status == SHMTUNE_OK)
        status = shmt_import_need(place, json, "results", SHMT_IMPORT_ARRAY,
                                  &results);
    if (status == SHMTUNE_OK)
        status = shmt_import_name_of_file(place);
    if (status == SHMTUNE_OK)
        status = shmt_import_entries(&below, results, read_entry);
    if (status == SHMTUNE_OK)
        status = shmt_import_collect(&below);
    if (status == SHMTUNE_OK && shmt_import_is(own, SHMT_IMPORT_STRING))
        status =
            shmt_import_read_export_header(&own_place, shmt_import_word(own));
    if (status == SHMTUNE_OK)
        status = read_rest(place, json);
    return status;
}
