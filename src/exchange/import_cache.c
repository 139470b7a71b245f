/* SPDX-License-Identifier: MIT */
/*
 * import_cache: Kernel Tuner's cache of a run: one entry a configuration,
 * times in milliseconds, a failure by the name of its class.
 */
#include <string.h>

#include "exchange/import_json.h"

static const struct {
    const char *word;
    enum shmt_verdict verdict;
} failures[] = {
    {"CompilationFailedConfig", SHMT_VERDICT_COMPILE_ERROR},
    {"RuntimeFailedConfig", SHMT_VERDICT_LAUNCH_ERROR},
    {"InvalidConfig", SHMT_VERDICT_TOO_LARGE},
    {"ErrorConfig", SHMT_VERDICT_CRASH},
};

/* The parameters, in the order of the keys. */
static enum shmtune_status
read_parameters(const struct shmt_import_place *place, const json_t *json)
{
    struct shmt_import *const import = place->import;
    const struct shmt_import_place keys_place =
        shmt_import_member(place, "tune_params_keys");
    const struct shmt_import_place all =
        shmt_import_member(place, "tune_params");
    const json_t *const domains = json_object_get(json, "tune_params");
    const json_t *keys;
    enum shmtune_status status =
        shmt_import_need(place, json, "tune_params_keys", JSON_ARRAY, &keys);
    size_t count;

    if (status != SHMTUNE_OK)
        return status;
    count = json_array_size(keys);
    status = shmt_import_make_parameters(&keys_place, count);
    for (size_t k = 0; k < count && status == SHMTUNE_OK; k++) {
        const struct shmt_import_place item =
            shmt_import_item(&keys_place, k);
        const json_t *const key = json_array_get(keys, k);
        struct shmt_import_parameter *const p = &import->parameters[k];
        const json_t *domain;

        if (!json_is_string(key))
            return shmt_import_refuse(&item, "expected a name");
        status = shmt_import_name(&item, json_string_value(key), &p->name);
        if (status == SHMTUNE_OK && json_is_object(domains)) {
            const struct shmt_import_place below =
                shmt_import_member(&all, p->name);

            domain = json_object_get(domains, p->name);
            status = domain == NULL
                         ? shmt_import_refuse(&all, "\"%s\" is missing",
                                              p->name)
                         : shmt_import_domain(&below, domain, p);
        }
        import->parameter_count += status == SHMTUNE_OK;
    }
    return status;
}

/* A number or a list of numbers: our problem's dimensions. */
static void read_problem(struct shmt_import *import, const json_t *json)
{
    const size_t count = json_is_array(json) ? json_array_size(json) : 1;

    if (count > 3)
        return;
    for (size_t k = 0; k < count; k++) {
        const json_t *const one =
            json_is_array(json) ? json_array_get(json, k) : json;

        if (!json_is_integer(one) || json_integer_value(one) < 1) {
            import->dimension_count = 0;
            return;
        }
        import->dimensions[import->dimension_count++] =
            json_integer_value(one);
    }
}

/* Milliseconds of a part of the work; 0 where it is not there. */
static double part(const json_t *entry, const char *key)
{
    const json_t *const json = json_object_get(entry, key);
    const double value = json_number_value(json);

    return value > 0.0 && value < 1e15 ? value : 0.0;
}

/* The verdict of a failure by its name; SHMT_VERDICT_OK: it is no such name. */
static enum shmt_verdict failure_of(const json_t *json)
{
    const char *const word = json_string_value(json);

    for (size_t k = 0; word != NULL && k < sizeof failures / sizeof *failures;
         k++)
        if (strcmp(failures[k].word, word) == 0)
            return failures[k].verdict;
    return SHMT_VERDICT_OK;
}

/* The name of the failure of an entry, or NULL.  Kernel Tuner wrote it in place
 * of the time, then in place of the objective, and now writes "__error__"; it
 * reads all of them, and so do we. */
static const json_t *find_failure(const struct shmt_import *import,
                                  const json_t *entry)
{
    const json_t *const error = json_object_get(entry, "__error__");
    const char *key;
    json_t *value;

    if (json_is_string(error))
        return error;
    json_object_foreach((json_t *)entry, key, value)
        if (failure_of(value) != SHMT_VERDICT_OK &&
            shmt_import_find(import, key) == SIZE_MAX)
            return value;
    return NULL;
}

/* An entry with neither time nor failure: it failed, unless another objective
 * was measured, which is refused. */
static enum shmtune_status
read_no_time(const struct shmt_import_place *place, const json_t *json,
             struct shmt_result *result)
{
    const char *const objective = place->import->objective;
    const json_t *const value = json_object_get(json, objective);

    if (json_is_number(value))
        return shmt_import_refuse(place, "\"time\" is missing, and the "
                                         "objective \"%.40s\" is %g; expected "
                                         "milliseconds in \"time\"",
                                  objective, json_number_value(value));
    shmt_result_set_verdict(result, SHMT_VERDICT_CRASH,
                            "the cache has no time for it");
    return SHMTUNE_OK;
}

static enum shmtune_status read_time(const struct shmt_import_place *place,
                                     const json_t *json,
                                     struct shmt_result *result)
{
    const struct shmt_import_place below = shmt_import_member(place, "time");
    const json_t *const failure = find_failure(place->import, json);
    const json_t *const time = json_object_get(json, "time");

    if (failure != NULL) {
        const enum shmt_verdict verdict = failure_of(failure);

        shmt_result_set_verdict(result, verdict == SHMT_VERDICT_OK
                                            ? SHMT_VERDICT_CRASH : verdict,
                                "%s", json_string_value(failure));
        return SHMTUNE_OK;
    }
    if (time == NULL || json_is_null(time))
        return read_no_time(place, json, result);
    if (!json_is_number(time))
        return shmt_import_refuse(&below, "found %s%.60s, expected "
                                          "milliseconds or the name of a "
                                          "failure",
                                  json_is_string(time)
                                      ? "" : "neither number nor word",
                                  json_is_string(time)
                                      ? json_string_value(time) : "");
    if (!(json_number_value(time) > 0.0))
        return shmt_import_refuse(&below, "found %g ms, expected more than 0",
                                  json_number_value(time));
    /* Older caches mark a failure by a huge number. */
    if (json_number_value(time) >= 1e15)
        shmt_result_set_verdict(result, SHMT_VERDICT_CRASH, "time %g",
                                json_number_value(time));
    else
        result->time_us = json_number_value(time) * 1000.0;
    return SHMTUNE_OK;
}

static enum shmtune_status read_entry(const struct shmt_import_place *place,
                                      const json_t *json,
                                      struct shmt_import_entry *entry)
{
    static const char *const nothing[] = {"shmtune", NULL};
    const json_t *const times = json_object_get(json, "times");
    const json_t *const own = json_object_get(json, "shmtune");
    const struct shmt_import_place below = shmt_import_member(place, "times");
    const struct shmt_import_place own_place =
        shmt_import_member(place, "shmtune");
    struct shmt_result *const result = &entry->result;
    enum shmtune_status status;

    if (!json_is_object(json))
        return shmt_import_refuse(place, "expected an object");
    status = shmt_import_configuration(place, json, true, entry);
    if (status != SHMTUNE_OK)
        return status;
    if (json_is_string(own))
        return shmt_import_read_export(&own_place, json_string_value(own),
                                       entry);
    shmt_result_clear(result);
    status = read_time(place, json, result);
    if (status == SHMTUNE_OK && json_is_array(times))
        status = shmt_import_samples(&below, times, 1, result);
    if (status != SHMTUNE_OK)
        return status;
    result->compile_ms = part(json, "compile_time");
    result->measure_ms = part(json, "verification_time") +
                         part(json, "benchmark_time") +
                         part(json, "framework_time");
    return shmt_import_rest(place, json, nothing, &entry->origin);
}

static enum shmtune_status read_entries(const struct shmt_import_place *place,
                                        const json_t *json)
{
    struct shmt_import *const import = place->import;
    enum shmtune_status status = SHMTUNE_OK;
    const char *key;
    json_t *value;

    import->entries = shmt_arena_alloc(import->arena, json_object_size(json),
                                       sizeof *import->entries);
    if (import->entries == NULL)
        return shmt_error_memory(place->err);
    json_object_foreach((json_t *)json, key, value) {
        const struct shmt_import_place below = shmt_import_member(place, key);

        status = read_entry(&below, value,
                            &import->entries[import->entry_count]);
        if (status != SHMTUNE_OK)
            break;
        import->entry_count++;
    }
    return status;
}

/* Keeps the file's other top-level members as `origin`: all but the entries
 * and what the spec holds. */
static enum shmtune_status read_rest(const struct shmt_import_place *place,
                                     const json_t *json)
{
    static const char *const all[] = {"cache", "tune_params",
                                      "tune_params_keys", "shmtune", NULL};
    static const char *const some[] = {"cache", "tune_params_keys",
                                       "shmtune", NULL};
    const struct shmt_import *const import = place->import;
    bool special = !json_is_object(json_object_get(json, "tune_params"));

    for (size_t p = 0; p < import->parameter_count; p++)
        special |= import->parameters[p].truths || import->parameters[p].mixed;
    return shmt_import_rest(place, json, special ? some : all,
                            &place->import->origin);
}

enum shmtune_status shmt_import_cache(const struct shmt_import_place *place,
                                      const json_t *json)
{
    struct shmt_import *const import = place->import;
    const struct shmt_import_place below = shmt_import_member(place, "cache");
    const struct shmt_import_place own_place =
        shmt_import_member(place, "shmtune");
    const json_t *const name = json_object_get(json, "kernel_name");
    const json_t *const device = json_object_get(json, "device_name");
    const json_t *const objective = json_object_get(json, "objective");
    const json_t *const own = json_object_get(json, "shmtune");
    const json_t *cache;
    enum shmtune_status status;

    import->kind = SHMT_IMPORT_CACHE;
    status = shmt_import_identifier(place, json_is_string(name)
                                               ? json_string_value(name)
                                               : "kernel", &import->name);
    if (status == SHMTUNE_OK && json_is_string(device))
        status = shmt_import_copy(place, json_string_value(device),
                                  &import->device);
    if (status == SHMTUNE_OK)
        status = shmt_import_copy(place, json_is_string(objective)
                                             ? json_string_value(objective)
                                             : "time", &import->objective);
    if (status == SHMTUNE_OK)
        status = shmt_import_need(place, json, "cache", JSON_OBJECT, &cache);
    if (status == SHMTUNE_OK)
        status = read_parameters(place, json);
    if (status != SHMTUNE_OK)
        return status;
    read_problem(import, json_object_get(json, "problem_size"));
    if (json_is_string(own))
        status =
            shmt_import_read_export_header(&own_place, json_string_value(own));
    if (status != SHMTUNE_OK)
        return status;
    status = read_entries(&below, cache);
    if (status == SHMTUNE_OK &&
        !json_is_object(json_object_get(json, "tune_params")))
        status = shmt_import_collect(place);
    if (status == SHMTUNE_OK)
        status = read_rest(place, json);
    return status;
}
