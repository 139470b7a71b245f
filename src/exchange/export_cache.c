/* SPDX-License-Identifier: MIT */
/*
 * export_cache: writes a journal as a cache file of Kernel Tuner, which its
 * simulation mode replays.  Called by command/export.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/export_json.h"

static const char *failure_of(const struct shmt_result *result)
{
    switch (shmt_verdict_stage(result->verdict)) {
    case SHMT_STAGE_FILTER:
    case SHMT_STAGE_RESOURCES:
        return "InvalidConfig";
    case SHMT_STAGE_COMPILE:
        return "CompilationFailedConfig";
    case SHMT_STAGE_TIME:
        return NULL;
    default:
        return "RuntimeFailedConfig";
    }
}

/* What Python's str() makes of a value. */
static void add_key(struct shmt_text *text, const json_t *value)
{
    char digits[40];

    if (json_is_boolean(value)) {
        shmt_text_add(text, json_is_true(value) ? "True" : "False");
    } else if (json_is_integer(value)) {
        shmt_text_addf(text, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        for (int n = 1; n <= 17; n++) {
            snprintf(digits, sizeof digits, "%.*g", n,
                     json_real_value(value));
            if (strtod(digits, NULL) == json_real_value(value))
                break;
        }
        shmt_text_add(text, digits);
        shmt_text_add(text, strpbrk(digits, ".en") == NULL ? ".0" : "");
    } else {
        shmt_text_add(text, json_string_value(value));
    }
}

static char *key_of(const struct shmt_export *export,
                    const shmt_config *config)
{
    struct shmt_text text = {0};

    for (size_t p = 0; p < export->kernel->parameter_count; p++) {
        json_t *const value = shmt_export_value(export, p, config[p]);

        if (p > 0)
            shmt_text_add(&text, ",");
        if (value != NULL)
            add_key(&text, value);
        json_decref(value);
    }
    if (text.failed) {
        shmt_text_free(&text);
        return NULL;
    }
    return text.data;
}

static void add_time(const struct shmt_result *result, json_t *entry)
{
    const char *const failure = failure_of(result);

    if (failure != NULL)
        json_object_set_new(entry, "time", json_string(failure));
    else
        json_object_set_new(entry, "time", shmt_export_ms(result->time_us));
}

/* A result of ours. */
static void add_own(const struct shmt_export *export, size_t k,
                    json_t *entry)
{
    const struct shmt_journal_record *const record =
        &export->journal->records[k];
    const struct shmt_result *const result = record->result;

    add_time(result, entry);
    if (result->sample_count > 0)
        json_object_set_new(entry, "times", shmt_export_samples(result));
    json_object_set_new(entry, "compile_time",
                        shmt_export_compile_ms(export, k));
    json_object_set_new(entry, "verification_time", json_integer(0));
    json_object_set_new(entry, "benchmark_time",
                        shmt_export_ms(result->measure_ms * 1000.0));
    json_object_set_new(entry, "strategy_time", json_integer(0));
    json_object_set_new(entry, "framework_time", json_integer(0));
    json_object_set_new(entry, "shmtune", shmt_export_write_result(record));
}

/* Names of the same time in T4 and in the cache. */
static const struct {
    const char *t4, *cache;
} times[] = {
    {"runtimes", "times"}, {"compilation", "compile_time"},
    {"compilation_time", "compile_time"}, {"validation", "verification_time"},
    {"benchmark", "benchmark_time"}, {"search_algorithm", "strategy_time"},
    {"framework", "framework_time"},
};

/* A result that came as T4. */
static void add_t4(const struct shmt_result *result, const json_t *origin,
                   json_t *entry)
{
    const json_t *const list = json_object_get(origin, "measurements");
    const json_t *const t4 = json_object_get(origin, "times");

    add_time(result, entry);
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *const item = json_array_get(list, k);
        const json_t *const name = json_object_get(item, "name");

        if (json_is_string(name))
            json_object_set(entry, json_string_value(name),
                            json_object_get(item, "value"));
    }
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        json_t *const value = json_object_get(t4, times[k].t4);

        if (value != NULL)
            json_object_set(entry, times[k].cache, value);
    }
    if (json_object_get(entry, "benchmark_time") == NULL) {
        double sum = 0.0;

        for (size_t k = 0; k < json_array_size(json_object_get(entry,
                                                               "times")); k++)
            sum += json_number_value(
                json_array_get(json_object_get(entry, "times"), k));
        json_object_set_new(entry, "benchmark_time", json_real(sum));
    }
    for (size_t k = 1; k < sizeof times / sizeof *times; k++)
        if (json_object_get(entry, times[k].cache) == NULL)
            json_object_set_new(entry, times[k].cache, json_integer(0));
    if (json_object_get(origin, "timestamp") != NULL)
        json_object_set(entry, "timestamp",
                        json_object_get(origin, "timestamp"));
}

static enum shmtune_status add_entry(const struct shmt_export *export,
                                     size_t k, json_t *cache)
{
    const struct shmt_journal_record *const record =
        &export->journal->records[k];
    json_t *const entry = json_object();
    json_t *origin = NULL;
    char *key = key_of(export, record->config);
    enum shmtune_status status = shmt_export_origin(export, k, &origin);

    shmt_export_configuration(export, record->config, entry);
    if (origin == NULL)
        add_own(export, k, entry);
    else if (json_is_object(json_object_get(origin, "times")))
        add_t4(record->result, origin, entry);
    else
        json_object_update(entry, origin);
    json_decref(origin);
    if (status == SHMTUNE_OK &&
        (key == NULL || json_object_set(cache, key, entry) != 0))
        status = shmt_error_memory(export->err);
    json_decref(entry);
    free(key);
    return status;
}

static json_t *domains(const struct shmt_export *export)
{
    json_t *const all = json_object();

    for (size_t p = 0; p < export->kernel->parameter_count; p++) {
        const struct shmt_parameter *const parameter =
            &export->kernel->parameters[p];
        json_t *const list = json_array();

        for (size_t k = 0; k < parameter->count; k++)
            json_array_append_new(
                list, shmt_export_value(export, p, (shmt_config)k));
        json_object_set_new(all, parameter->name, list);
    }
    return all;
}

static void set_missing(json_t *object, const char *key, json_t *value)
{
    if (json_object_get(object, key) == NULL)
        json_object_set_new(object, key, value);
    else
        json_decref(value);
}

/* The members before the entries. */
static json_t *heading(const struct shmt_export *export)
{
    const struct shmt_kernel *const kernel = export->kernel;
    const struct shmt_journal_header *const header =
        &export->journal->header;
    json_t *const top = export->origin == NULL
                            ? json_object() : json_copy(export->origin);
    json_t *const problem = json_array(), *const keys = json_array();

    for (size_t d = 0; d < kernel->dimension_count; d++)
        json_array_append_new(problem, json_integer(header->problem[d]));
    for (size_t p = 0; p < kernel->parameter_count; p++)
        json_array_append_new(keys,
                              json_string(kernel->parameters[p].name));
    json_object_del(top, "metadata");
    json_object_del(top, "tune_params");
    set_missing(top, "device_name", json_string(header->device.name));
    set_missing(top, "kernel_name", json_string(kernel->name));
    set_missing(top, "problem_size", problem);
    json_object_set_new(top, "tune_params_keys", keys);
    json_object_set_new(top, "tune_params", domains(export));
    set_missing(top, "objective", json_string("time"));
    if (export->own)
        json_object_set_new(top, "shmtune", shmt_export_write_header(export));
    return top;
}

/* One member a line, as Kernel Tuner has it; it looks for the last two
 * brackets on lines of their own. */
static enum shmtune_status write_members(const struct shmt_export *export,
                                         json_t *object,
                                         struct shmt_text *text)
{
    enum shmtune_status status = SHMTUNE_OK;
    const char *key, *comma = "";
    json_t *value;

    json_object_foreach(object, key, value) {
        json_t *const name = json_string(key);

        shmt_text_add(text, comma);
        comma = ",\n";
        status = shmt_export_dump(export, name, text);
        json_decref(name);
        shmt_text_add(text, ": ");
        if (status == SHMTUNE_OK)
            status = shmt_export_dump(export, value, text);
        if (status != SHMTUNE_OK)
            return status;
    }
    return status;
}

enum shmtune_status shmt_export_cache(const struct shmt_kernel *kernel,
                                      const struct shmt_journal *journal,
                                      struct shmt_text *text,
                                      struct shmt_error *err)
{
    struct shmt_export export = {.kernel = kernel, .journal = journal,
                                 .err = err};
    json_t *cache = json_object(), *top = NULL;
    enum shmtune_status status = shmt_export_open(&export);

    for (size_t k = 0; k < journal->count && status == SHMTUNE_OK; k++)
        if (shmt_export_includes(&export, k))
            status = add_entry(&export, k, cache);
    if (status == SHMTUNE_OK) {
        top = heading(&export);
        shmt_text_add(text, "{\n");
        status = write_members(&export, top, text);
        shmt_text_add(text, ",\n\"cache\": {\n");
    }
    if (status == SHMTUNE_OK)
        status = write_members(&export, cache, text);
    shmt_text_add(text, "}\n}");
    json_decref(cache);
    json_decref(top);
    shmt_export_close(&export);
    return status;
}
