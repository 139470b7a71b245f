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
read_parameters(const struct shmt_import_place *place,
                const struct shmt_import_node *json)
{
    struct shmt_import *const import = place->import;
    const struct shmt_import_place keys_place =
        shmt_import_member(place, "tune_params_keys");
    const struct shmt_import_place all =
        shmt_import_member(place, "tune_params");
    const struct shmt_import_node *const domains =
        shmt_import_get(json, "tune_params");
    const struct shmt_import_node *keys, *key;
    enum shmtune_status status = shmt_import_need(
        place, json, "tune_params_keys", SHMT_IMPORT_ARRAY, &keys);
    size_t count;

    if (status != SHMTUNE_OK)
        return status;
    count = keys->count;
    key = keys->first;
    status = shmt_import_make_parameters(&keys_place, count);
    for (size_t k = 0; k < count && status == SHMTUNE_OK;
         k++, key = key->next) {
        const struct shmt_import_place item =
            shmt_import_item(&keys_place, k);
        struct shmt_import_parameter *const p = &import->parameters[k];
        const struct shmt_import_node *domain;

        if (!shmt_import_is(key, SHMT_IMPORT_STRING))
            return shmt_import_refuse(&item, "expected a name");
        status = shmt_import_name(&item, shmt_import_word(key), &p->name);
        if (status == SHMTUNE_OK &&
            shmt_import_is(domains, SHMT_IMPORT_OBJECT)) {
            const struct shmt_import_place below =
                shmt_import_member(&all, p->name);

            domain = shmt_import_get(domains, p->name);
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
static void
read_problem(struct shmt_import *import, const struct shmt_import_node *json)
{
    const bool list = shmt_import_is(json, SHMT_IMPORT_ARRAY);
    const struct shmt_import_node *one = list ? json->first : json;

    if (list && json->count > 3)
        return;
    for (; one != NULL; one = list ? one->next : NULL) {
        if (one->type != SHMT_IMPORT_INTEGER || one->number < 1) {
            import->dimension_count = 0;
            return;
        }
        import->dimensions[import->dimension_count++] = one->number;
    }
}

/* Milliseconds of a part of the work; 0 where it is not there. */
static double part(const struct shmt_import_node *entry, const char *key)
{
    const struct shmt_import_node *const json = shmt_import_get(entry, key);
    const double value = shmt_import_number(json);

    return value > 0.0 && value < 1e15 ? value : 0.0;
}

/* The verdict of a failure by its name; SHMT_VERDICT_OK: it is no such name. */
static enum shmt_verdict failure_of(const struct shmt_import_node *json)
{
    const char *const word = shmt_import_word(json);

    for (size_t k = 0; word != NULL && k < sizeof failures / sizeof *failures;
         k++)
        if (strcmp(failures[k].word, word) == 0)
            return failures[k].verdict;
    return SHMT_VERDICT_OK;
}

/* The name of the failure of an entry, or NULL.  Kernel Tuner wrote it in place
 * of the time, then in place of the objective, and now writes "__error__"; it
 * reads all of them, and so do we. */
static const struct shmt_import_node *
find_failure(const struct shmt_import *import,
             const struct shmt_import_node *entry)
{
    const struct shmt_import_node *const error =
        shmt_import_get(entry, "__error__");

    if (shmt_import_is(error, SHMT_IMPORT_STRING))
        return error;
    for (const struct shmt_import_node *one = entry->first; one != NULL;
         one = one->next)
        if (failure_of(one) != SHMT_VERDICT_OK &&
            shmt_import_find(import, one->key) == SIZE_MAX)
            return one;
    return NULL;
}

/* An entry with neither time nor failure: it failed, unless another objective
 * was measured, which is refused. */
static enum shmtune_status read_no_time(const struct shmt_import_place *place,
                                        const struct shmt_import_node *json,
                                        struct shmt_result *result)
{
    const char *const objective = place->import->objective;
    const struct shmt_import_node *const value =
        shmt_import_get(json, objective);

    if (shmt_import_is_number(value))
        return shmt_import_refuse(place, "\"time\" is missing, and the "
                                         "objective \"%.40s\" is %g; expected "
                                         "milliseconds in \"time\"",
                                  objective, shmt_import_number(value));
    shmt_result_set_verdict(result, SHMT_VERDICT_CRASH,
                            "the cache has no time for it");
    return SHMTUNE_OK;
}

static enum shmtune_status read_time(const struct shmt_import_place *place,
                                     const struct shmt_import_node *json,
                                     struct shmt_result *result)
{
    const struct shmt_import_place below = shmt_import_member(place, "time");
    const struct shmt_import_node *const failure =
        find_failure(place->import, json);
    const struct shmt_import_node *const time = shmt_import_get(json, "time");

    if (failure != NULL) {
        const enum shmt_verdict verdict = failure_of(failure);

        shmt_result_set_verdict(result, verdict == SHMT_VERDICT_OK
                                            ? SHMT_VERDICT_CRASH : verdict,
                                "%s", shmt_import_word(failure));
        return SHMTUNE_OK;
    }
    if (time == NULL || shmt_import_is(time, SHMT_IMPORT_NULL))
        return read_no_time(place, json, result);
    if (!shmt_import_is_number(time))
        return shmt_import_refuse(&below, "found %s%.60s, expected "
                                          "milliseconds or the name of a "
                                          "failure",
                                  shmt_import_is(time, SHMT_IMPORT_STRING)
                                      ? "" : "neither number nor word",
                                  shmt_import_is(time, SHMT_IMPORT_STRING)
                                      ? shmt_import_word(time) : "");
    if (!(shmt_import_number(time) > 0.0))
        return shmt_import_refuse(&below, "found %g ms, expected more than 0",
                                  shmt_import_number(time));
    /* Older caches mark a failure by a huge number. */
    if (shmt_import_number(time) >= 1e15)
        shmt_result_set_verdict(result, SHMT_VERDICT_CRASH, "time %g",
                                shmt_import_number(time));
    else
        result->time_us = shmt_import_number(time) * 1000.0;
    return SHMTUNE_OK;
}

static enum shmtune_status read_entry(const struct shmt_import_place *place,
                                      const struct shmt_import_node *json,
                                      struct shmt_import_entry *entry)
{
    static const char *const nothing[] = {"shmtune", NULL};
    const struct shmt_import_node *const times = shmt_import_get(json, "times");
    const struct shmt_import_node *const own = shmt_import_get(json, "shmtune");
    const struct shmt_import_place below = shmt_import_member(place, "times");
    const struct shmt_import_place own_place =
        shmt_import_member(place, "shmtune");
    struct shmt_result *const result = &entry->result;
    enum shmtune_status status;

    if (!shmt_import_is(json, SHMT_IMPORT_OBJECT))
        return shmt_import_refuse(place, "expected an object");
    status = shmt_import_configuration(place, json, true);
    if (status != SHMTUNE_OK)
        return status;
    if (shmt_import_is(own, SHMT_IMPORT_STRING))
        return shmt_import_read_export(&own_place, shmt_import_word(own),
                                       entry);
    shmt_result_clear(result);
    status = read_time(place, json, result);
    if (status == SHMTUNE_OK && shmt_import_is(times, SHMT_IMPORT_ARRAY))
        status = shmt_import_samples(&below, times, 1, result);
    if (status != SHMTUNE_OK)
        return status;
    result->compile_ms = part(json, "compile_time");
    result->measure_ms = part(json, "verification_time") +
                         part(json, "benchmark_time") +
                         part(json, "framework_time");
    return shmt_import_rest(place, json, nothing, NULL, &entry->origin);
}

/* Keeps the file's other top-level members as `origin`: all but the entries
 * and what the spec holds. */
static enum shmtune_status read_rest(const struct shmt_import_place *place,
                                     const struct shmt_import_node *json)
{
    static const char *const all[] = {"cache", "tune_params",
                                      "tune_params_keys", "shmtune", NULL};
    static const char *const some[] = {"cache", "tune_params_keys",
                                       "shmtune", NULL};
    const struct shmt_import *const import = place->import;
    bool special = !shmt_import_is(shmt_import_get(json, "tune_params"),
                                   SHMT_IMPORT_OBJECT);

    for (size_t p = 0; p < import->parameter_count; p++)
        special |= import->parameters[p].truths || import->parameters[p].mixed;
    return shmt_import_rest(place, json, special ? some : all, NULL,
                            &place->import->origin);
}

enum shmtune_status shmt_import_cache(const struct shmt_import_place *place,
                                      const struct shmt_import_node *json)
{
    struct shmt_import *const import = place->import;
    const struct shmt_import_place below = shmt_import_member(place, "cache");
    const struct shmt_import_place own_place =
        shmt_import_member(place, "shmtune");
    const struct shmt_import_node *const name =
        shmt_import_get(json, "kernel_name");
    const struct shmt_import_node *const device =
        shmt_import_get(json, "device_name");
    const struct shmt_import_node *const objective =
        shmt_import_get(json, "objective");
    const struct shmt_import_node *const own = shmt_import_get(json, "shmtune");
    const struct shmt_import_node *cache;
    enum shmtune_status status;

    import->kind = SHMT_IMPORT_CACHE;
    status = shmt_import_identifier(place,
                                    shmt_import_is(name, SHMT_IMPORT_STRING)
                                        ? shmt_import_word(name)
                                        : "kernel",
                                    &import->name);
    if (status == SHMTUNE_OK && shmt_import_is(device, SHMT_IMPORT_STRING))
        status = shmt_import_copy(place, shmt_import_word(device),
                                  &import->device);
    if (status == SHMTUNE_OK)
        status = shmt_import_copy(place,
                                  shmt_import_is(objective, SHMT_IMPORT_STRING)
                                      ? shmt_import_word(objective)
                                      : "time",
                                  &import->objective);
    if (status == SHMTUNE_OK)
        status =
            shmt_import_need(place, json, "cache", SHMT_IMPORT_OBJECT, &cache);
    if (status == SHMTUNE_OK)
        status = read_parameters(place, json);
    if (status != SHMTUNE_OK)
        return status;
    read_problem(import, shmt_import_get(json, "problem_size"));
    if (shmt_import_is(own, SHMT_IMPORT_STRING))
        status =
            shmt_import_read_export_header(&own_place, shmt_import_word(own));
    if (status != SHMTUNE_OK)
        return status;
    status = shmt_import_entries(&below, cache, read_entry);
    if (status == SHMTUNE_OK &&
        !shmt_import_is(shmt_import_get(json, "tune_params"),
                        SHMT_IMPORT_OBJECT))
        status = shmt_import_collect(place);
    if (status == SHMTUNE_OK)
        status = read_rest(place, json);
    return status;
}
