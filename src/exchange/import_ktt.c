/* SPDX-License-Identifier: MIT */
/*
 * import_ktt: what KTT writes as JSON: one entry a run, all times in the unit
 * that the metadata name, a status.  Hardware counters are left out.  A
 * configuration may be there several times: the last one holds.
 */
#include <math.h>
#include <string.h>

#include "exchange/import_json.h"

static const struct {
    const char *word;
    enum shmt_verdict verdict;
} statuses[] = {
    {"Ok", SHMT_VERDICT_OK},
    {"ComputationFailed", SHMT_VERDICT_LAUNCH_ERROR},
    {"ValidationFailed", SHMT_VERDICT_WRONG},
    {"CompilationFailed", SHMT_VERDICT_COMPILE_ERROR},
    {"DeviceLimitsExceeded", SHMT_VERDICT_TOO_LARGE},
};

/* Milliseconds of a unit. */
static const struct {
    const char *word;
    double ms;
} units[] = {
    {"Nanoseconds", 1e-6}, {"Microseconds", 1e-3}, {"Milliseconds", 1},
    {"Seconds", 1e3},
};

static enum shmtune_status read_unit(const struct shmt_import_place *place,
                                     const struct shmt_import_node *metadata,
                                     double *ms)
{
    const struct shmt_import_place below =
        shmt_import_member(place, "TimeUnit");
    const struct shmt_import_node *unit;
    const enum shmtune_status status = shmt_import_need(
        place, metadata, "TimeUnit", SHMT_IMPORT_STRING, &unit);

    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strcmp(units[k].word, unit->word) == 0) {
            *ms = units[k].ms;
            return SHMTUNE_OK;
        }
    return shmt_import_refuse(&below, "found \"%.40s\", expected Nanoseconds, "
                                      "Microseconds, Milliseconds or Seconds",
                              unit->word);
}

/* [{"Name": "a", "Value": 1}] as {"a": 1}, which the other tuners write. */
static enum shmtune_status read_pairs(const struct shmt_import_place *place,
                                      const struct shmt_import_node *list,
                                      struct shmt_import_node *object)
{
    const struct shmt_import_node **last = &object->first;
    const struct shmt_import_node *one = list->first;

    object->type = SHMT_IMPORT_OBJECT;
    for (size_t k = 0; one != NULL; k++, one = one->next) {
        const struct shmt_import_place item = shmt_import_item(place, k);
        const struct shmt_import_node *name, *value;
        struct shmt_import_node *pair;
        enum shmtune_status status = shmt_import_need(
            &item, one, "Name", SHMT_IMPORT_STRING, &name);

        if (status != SHMTUNE_OK)
            return status;
        value = shmt_import_get(one, "Value");
        if (value == NULL)
            return shmt_import_refuse(&item, "\"Value\" is missing");
        if (shmt_import_get(object, name->word) != NULL)
            return shmt_import_refuse(&item, "the parameter %.80s is there "
                                             "twice", name->word);
        pair = shmt_arena_alloc(place->import->scratch, 1, sizeof *pair);
        if (pair == NULL)
            return shmt_error_memory(place->err);
        *pair = *value;
        pair->key = name->word;
        pair->next = NULL;
        *last = pair;
        last = &pair->next;
        object->count++;
    }
    return SHMTUNE_OK;
}

static double time_ms(const struct shmt_import_place *place,
                      const struct shmt_import_node *object, const char *key)
{
    const double value = shmt_import_number(shmt_import_get(object, key)) *
                         place->import->unit_ms;

    return value > 0.0 && value < 1e12 ? value : 0.0;
}

/* Before KTT 2.2 the time of compiling was the overhead of the functions, which
 * may have it by its name, too.  < 0: nothing says what it was. */
static double compile_ms(const struct shmt_import_place *place,
                         const struct shmt_import_node *json)
{
    const struct shmt_import_node *const parts =
        shmt_import_get(json, "ComputationResults");
    double sum = -1.0;

    if (shmt_import_get(json, "CompilationOverhead") != NULL)
        return time_ms(place, json, "CompilationOverhead");
    for (const struct shmt_import_node *one =
             parts == NULL ? NULL : parts->first;
         one != NULL; one = one->next) {
        const char *const key =
            shmt_import_get(one, "CompilationOverhead") != NULL
                ? "CompilationOverhead" : "Overhead";

        if (shmt_import_get(one, key) != NULL)
            sum = fmax(sum, 0.0) + time_ms(place, one, key);
    }
    return sum;
}

static enum shmtune_status read_result(const struct shmt_import_place *place,
                                       const struct shmt_import_node *json,
                                       struct shmt_result *result)
{
    const struct shmt_import_place below = shmt_import_member(place, "Status");
    const struct shmt_import_node *word;
    const double time = time_ms(place, json, "TotalDuration");
    size_t k = 0;
    const enum shmtune_status status = shmt_import_need(
        place, json, "Status", SHMT_IMPORT_STRING, &word);

    shmt_result_clear(result);
    if (status != SHMTUNE_OK)
        return status;
    while (k < sizeof statuses / sizeof *statuses &&
           strcmp(statuses[k].word, word->word) != 0)
        k++;
    if (k == sizeof statuses / sizeof *statuses)
        return shmt_import_refuse(&below, "found \"%.60s\", expected Ok, "
                                          "ComputationFailed, "
                                          "ValidationFailed, "
                                          "CompilationFailed or "
                                          "DeviceLimitsExceeded", word->word);
    if (statuses[k].verdict != SHMT_VERDICT_OK)
        shmt_result_set_verdict(result, statuses[k].verdict, "Status: %s",
                                word->word);
    else if (time > 0.0)
        result->time_us = time * 1000.0;
    else
        return shmt_import_refuse(place, "Ok, but without a \"TotalDuration\" "
                                         "above 0");
    result->compile_ms = compile_ms(place, json);
    result->measure_ms = time + time_ms(place, json, "DataMovementOverhead") +
                         time_ms(place, json, "ValidationOverhead") +
                         time_ms(place, json, "ProfilingOverhead");
    return SHMTUNE_OK;
}

static enum shmtune_status read_entry(const struct shmt_import_place *place,
                                      const struct shmt_import_node *json,
                                      struct shmt_import_entry *entry)
{
    const struct shmt_import_place below =
        shmt_import_member(place, "Configuration");
    struct shmt_import_node object = {0};
    const struct shmt_import_node *pairs;
    enum shmtune_status status;

    if (!shmt_import_is(json, SHMT_IMPORT_OBJECT))
        return shmt_import_refuse(place, "expected an object");
    status = shmt_import_need(place, json, "Configuration", SHMT_IMPORT_ARRAY,
                              &pairs);
    if (status == SHMTUNE_OK)
        status = read_pairs(&below, pairs, &object);
    if (status == SHMTUNE_OK)
        status = shmt_import_first_entry(
            &below, &object,
            shmt_import_word(shmt_import_get(json, "KernelName")));
    if (status == SHMTUNE_OK)
        status = shmt_import_configuration(&below, &object, false);
    if (status == SHMTUNE_OK)
        status = read_result(place, json, &entry->result);
    return status;
}

enum shmtune_status shmt_import_ktt(const struct shmt_import_place *place,
                                    const struct shmt_import_node *json)
{
    struct shmt_import *const import = place->import;
    const struct shmt_import_place metadata_place =
        shmt_import_member(place, "Metadata");
    const struct shmt_import_node *metadata;
    const char *device;
    enum shmtune_status status = shmt_import_need(
        place, json, "Metadata", SHMT_IMPORT_OBJECT, &metadata);

    import->kind = SHMT_IMPORT_KTT;
    if (status == SHMTUNE_OK)
        status = read_unit(&metadata_place, metadata, &import->unit_ms);
    if (status == SHMTUNE_OK)
        status = shmt_import_name_of_file(place);
    if (status != SHMTUNE_OK)
        return status;
    device = shmt_import_word(shmt_import_get(metadata, "Device"));
    if (device != NULL)
        status = shmt_import_copy(place, device, &import->device);
    return status == SHMTUNE_OK
               ? shmt_import_results(place, json, "Results", read_entry)
               : status;
}
