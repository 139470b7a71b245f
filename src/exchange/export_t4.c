/* SPDX-License-Identifier: MIT */
/*
 * export_t4: writes a journal as a T4 file, the common result format of
 * auto-tuners.  Called by command/export.c.
 */
#include <string.h>

#include "exchange/export_json.h"

static const char *invalidity_of(const struct shmt_result *result)
{
    switch (result->verdict) {
    case SHMT_VERDICT_COMPILE_ERROR:
        return "compile";
    case SHMT_VERDICT_COMPILE_TIMEOUT:
    case SHMT_VERDICT_TIMEOUT:
        return "timeout";
    default:
        break;
    }
    switch (shmt_verdict_stage(result->verdict)) {
    case SHMT_STAGE_FILTER:
    case SHMT_STAGE_RESOURCES:
        return "constraints";
    case SHMT_STAGE_COMPILE:
        return "compile";
    case SHMT_STAGE_VERIFY:
        return "correctness";
    case SHMT_STAGE_TIME:
        return "correct";
    default:
        return "runtime";
    }
}

static bool is_time(const char *name)
{
    return strncmp(name, "time", 4) == 0;
}

static void add_measurement(json_t *list, const char *name, json_t *value)
{
    json_t *const item = json_object();

    json_object_set_new(item, "name", json_string(name));
    json_object_set_new(item, "value", value);
    json_object_set_new(item, "unit", json_string(is_time(name) ? "ms" : ""));
    json_array_append_new(list, item);
}

/* Names of the same time in the cache and in T4. */
static const struct {
    const char *cache, *t4;
} times[] = {
    {"compile_time", "compilation"}, {"benchmark_time", "benchmark"},
    {"framework_time", "framework"}, {"strategy_time", "search_algorithm"},
    {"verification_time", "validation"}, {"times", "runtimes"},
};

static const char *t4_name(const char *cache)
{
    for (size_t k = 0; k < sizeof times / sizeof *times; k++)
        if (strcmp(times[k].cache, cache) == 0)
            return times[k].t4;
    return NULL;
}

/* Of a result that came from a cache: times, and what else was measured. */
static void split_cache(const json_t *origin, json_t *spent,
                        json_t *measurements)
{
    const char *key;
    json_t *value;

    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        json_t *const one = json_object_get(origin, times[k].cache);

        if (one != NULL)
            json_object_set(spent, times[k].t4, one);
    }
    json_object_foreach((json_t *)origin, key, value)
        if (t4_name(key) == NULL && strcmp(key, "timestamp") != 0)
            add_measurement(measurements, key, json_incref(value));
}

static void split_own(const struct shmt_export *export, size_t k,
                      json_t *spent, json_t *measurements)
{
    const struct shmt_result *const result =
        export->journal->records[k].result;

    json_object_set_new(spent, "compilation",
                        shmt_export_compile_ms(export, k));
    json_object_set_new(spent, "benchmark",
                        shmt_export_ms(result->measure_ms * 1000.0));
    json_object_set_new(spent, "framework", json_integer(0));
    json_object_set_new(spent, "search_algorithm", json_integer(0));
    json_object_set_new(spent, "validation", json_integer(0));
    json_object_set_new(spent, "runtimes", shmt_export_samples(result));
    if (result->time_us >= 0.0)
        add_measurement(measurements, "time",
                        shmt_export_ms(result->time_us));
}

static json_t *make_result(const struct shmt_export *export, size_t k,
                           const json_t *origin)
{
    const struct shmt_journal_record *const record =
        &export->journal->records[k];
    const bool correct =
        shmt_verdict_stage(record->result->verdict) == SHMT_STAGE_TIME;
    json_t *const result = json_object(), *const config = json_object();
    json_t *const spent = json_object(), *const measurements = json_array();

    if (json_object_get(origin, "timestamp") != NULL)
        json_object_set(result, "timestamp",
                        json_object_get(origin, "timestamp"));
    shmt_export_configuration(export, record->config, config);
    json_object_set_new(result, "configuration", config);
    if (json_is_object(json_object_get(origin, "times"))) {
        json_object_update(result, (json_t *)origin);
        json_decref(spent);
        json_decref(measurements);
        return result;
    }
    if (origin == NULL)
        split_own(export, k, spent, measurements);
    else
        split_cache(origin, spent, measurements);
    json_object_set_new(result, "times", spent);
    json_object_set_new(result, "invalidity",
                        json_string(invalidity_of(record->result)));
    json_object_set_new(result, "correctness", json_integer(correct));
    json_object_set_new(result, "measurements", measurements);
    json_object_set_new(result, "objectives", json_pack("[s]", "time"));
    if (origin == NULL)
        json_object_set_new(result, "shmtune",
                            shmt_export_write_result(record));
    return result;
}

static enum shmtune_status write_result(const struct shmt_export *export,
                                        size_t k, bool first,
                                        struct shmt_text *text)
{
    json_t *origin, *result;
    enum shmtune_status status = shmt_export_origin(export, k, &origin);

    if (status != SHMTUNE_OK)
        return status;
    result = make_result(export, k, origin);
    shmt_text_add(text, first ? "\n" : ",\n");
    status = shmt_export_dump(export, result, text);
    json_decref(result);
    json_decref(origin);
    return status;
}

/* The members beside the results. */
static json_t *heading(const struct shmt_export *export)
{
    json_t *const top = json_object();
    json_t *const metadata = json_object_get(export->origin, "metadata");
    json_t *const version = json_object_get(export->origin,
                                            "schema_version");

    if (metadata != NULL ||
        strcmp(export->journal->header.protocol, "t4") == 0) {
        const char *key;
        json_t *value;

        json_object_foreach(export->origin, key, value)
            if (strcmp(key, "tune_params") != 0)
                json_object_set(top, key, value);
        return top;
    }
    json_object_set_new(top, "metadata",
                        json_pack("{s:s}", "timeunit", "milliseconds"));
    if (version != NULL)
        json_object_set(top, "schema_version", version);
    else
        json_object_set_new(top, "schema_version", json_string("1.0.0"));
    if (export->own)
        json_object_set_new(top, "shmtune", shmt_export_write_header(export));
    return top;
}

enum shmtune_status shmt_export_t4(const struct shmt_kernel *kernel,
                                   const struct shmt_journal *journal,
                                   struct shmt_text *text,
                                   struct shmt_error *err)
{
    struct shmt_export export = {.kernel = kernel, .journal = journal,
                                 .err = err};
    enum shmtune_status status = shmt_export_open(&export);
    bool first = true;
    json_t *top;

    if (status != SHMTUNE_OK)
        goto out;
    top = heading(&export);
    status = shmt_export_dump(&export, top, text);
    json_decref(top);
    if (status == SHMTUNE_OK) {
        /* The results are one more member. */
        text->data[--text->length] = '\0';
        shmt_text_add(text, ", \"results\": [");
    }
    for (size_t k = 0; k < journal->count && status == SHMTUNE_OK; k++)
        if (shmt_export_includes(&export, k)) {
            status = write_result(&export, k, first, text);
            first = false;
        }
    shmt_text_add(text, "\n]}\n");
out:
    shmt_export_close(&export);
    return status;
}
