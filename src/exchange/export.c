/* SPDX-License-Identifier: MIT */
/*
 * export: writes a journal as a cache file of Kernel Tuner, which its
 * simulation mode replays, and as a T4 file, the common result format of
 * auto-tuners.  Called by command/export.c.
 *
 * Allocation failures are not checked while JSON is built, because jansson
 * accepts NULL for any value; finish() refuses what may lack members.
 */
#include "exchange/exchange.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/import_node.h"
#include "yaml/yaml.h"

struct export {
    const struct shmt_kernel *kernel;
    const struct shmt_journal *journal;
    json_t *origin;        /* of the imported file, or NULL */
    bool own;              /* a run of ours */
    double *compile_ms;    /* of its records; own */
    bool *latest;          /* the records that hold */
    bool cut;              /* a text of ours lacks its end */
    struct shmt_error *err;
};

/* The object that `text` is; SHMTUNE_INVALID_FILE, without a message, when it
 * is none.  jansson does not say whether it was the text that failed or an
 * allocation, so our own reader decides. */
static enum shmtune_status object_of(const char *text, json_t **out,
                                     struct shmt_error *err)
{
    struct shmt_import_reader reader = {.file = "", .text = text,
                                        .end = text + strlen(text)};
    struct shmt_arena *const arena = shmt_arena_new();
    const struct shmt_import_node *node;
    enum shmtune_status status =
        arena == NULL ? SHMTUNE_NO_MEMORY
                      : shmt_import_node_read(&reader, arena, NULL, &node);

    *out = status == SHMTUNE_OK ? json_loads(text, 0, NULL) : NULL;
    shmt_arena_free(arena);
    if (status == SHMTUNE_NO_MEMORY || (status == SHMTUNE_OK && *out == NULL))
        return shmt_error_memory(err);
    return status;
}

/* Refuses an `origin` of the journal's header that is no JSON object. */
static enum shmtune_status open_export(struct export *export)
{
    const char *const origin = export->journal->header.origin;
    const size_t count = export->journal->count;
    enum shmtune_status status;

    shmt_export_memory_watch();
    export->own = origin == NULL;
    export->latest = calloc(count + 1, sizeof *export->latest);
    export->compile_ms = calloc(count + 1, sizeof *export->compile_ms);
    if (export->latest == NULL || export->compile_ms == NULL)
        return shmt_error_memory(export->err);
    status = shmt_journal_latest(export->kernel, export->journal,
                                 export->latest, export->err);
    if (status == SHMTUNE_OK && export->own)
        status =
            shmt_journal_compile_times(export->kernel, export->journal,
                                       export->compile_ms, export->err);
    if (status != SHMTUNE_OK || export->own)
        return status;
    status = object_of(origin, &export->origin, export->err);
    if (status == SHMTUNE_INVALID_FILE)
        shmt_error_set(export->err, status, "the journal's header: origin is "
                                            "no JSON object");
    return status;
}

static void close_export(struct export *export)
{
    json_decref(export->origin);
    export->origin = NULL;
    free(export->compile_ms);
    free(export->latest);
    export->compile_ms = NULL;
    export->latest = NULL;
}

/* Milliseconds with as many digits as the journal has. */
static json_t *ms_json(double us)
{
    char digits[40];

    if (!(us >= 0.0))
        return json_real(0.0);
    snprintf(digits, sizeof digits, "%.9g", us / 1000.0);
    return json_real(strtod(digits, NULL));
}

/* The compile time of the record's binary, even if it was shared: other tuners
 * do not share binaries and simulate each configuration on its own. */
static json_t *compile_ms_json(const struct export *export, size_t record)
{
    return ms_json(
        1000.0 * (export->own
                      ? export->compile_ms[record]
                      : export->journal->records[record].result->compile_ms));
}

/* A number, or true or false, which is a word of a list with other words. */
static bool is_number(const json_t *written, const char *word)
{
    if (json_is_boolean(written))
        return strcmp(word, json_is_true(written) ? "1" : "0") == 0;
    return json_is_number(written) &&
           json_number_value(written) == shmt_text_real(word) &&
           word[strspn(word, "-+.0123456789e")] == '\0';
}

/* The value of a parameter as the imported file wrote it. */
static json_t *value_json(const struct export *export, size_t parameter,
                          shmt_config value)
{
    const struct shmt_parameter *const p =
        &export->kernel->parameters[parameter];
    json_t *const written = json_array_get(
        json_object_get(json_object_get(export->origin, "tune_params"),
                        p->name), value);
    const struct shmt_value mine = p->values[value];

    /* Only if it equals this value, because the spec's list may differ from
     * the imported one. */
    if (mine.type == SHMT_VALUE_INT &&
        (json_is_boolean(written) || json_is_integer(written)) &&
        (json_is_boolean(written) ? json_is_true(written) == (mine.i != 0)
                                  : json_integer_value(written) == mine.i))
        return json_incref(written);
    if (mine.type == SHMT_VALUE_REAL && json_is_number(written) &&
        json_number_value(written) == mine.r)
        return json_incref(written);
    if (mine.type == SHMT_VALUE_WORD && is_number(written, mine.w))
        return json_incref(written);
    if (mine.type == SHMT_VALUE_INT)
        return json_integer(mine.i);
    return mine.type == SHMT_VALUE_REAL ? json_real(mine.r) :
        json_string(mine.w);
}

/* The members of a configuration, put into `object`. */
static void add_configuration(const struct export *export,
                              const shmt_config *config, json_t *object)
{
    for (size_t p = 0; p < export->kernel->parameter_count; p++)
        json_object_set_new(object, export->kernel->parameters[p].name,
                            value_json(export, p, config[p]));
}

/* A record's origin, or NULL when it has none (own).  One that is no JSON
 * object is refused with the number of its record. */
static enum shmtune_status read_origin(const struct export *export,
                                       size_t record, json_t **out)
{
    const char *const origin = export->journal->records[record].origin;

    enum shmtune_status status;

    *out = NULL;
    if (origin == NULL)
        return SHMTUNE_OK;
    status = object_of(origin, out, export->err);
    if (status == SHMTUNE_INVALID_FILE)
        shmt_error_set(export->err, status,
                       "record %zu of the journal: origin is no JSON object",
                       record + 1);
    return status;
}

/* Whether a record is exported: only the last result of each configuration
 * is. */
static bool includes(const struct export *export, size_t record)
{
    return export->latest[record] &&
           export->journal->records[record].result->verdict !=
               SHMT_VERDICT_NOT_RECORDED;
}

enum shmtune_status shmt_export_count(const struct shmt_kernel *kernel,
                                      const struct shmt_journal *journal,
                                      size_t *out, struct shmt_error *err)
{
    struct export export = {.kernel = kernel, .journal = journal,
                                 .err = err};
    const enum shmtune_status status = open_export(&export);
    size_t count = 0;

    for (size_t k = 0; k < journal->count && status == SHMTUNE_OK; k++)
        count += includes(&export, k);
    close_export(&export);
    if (status == SHMTUNE_OK)
        *out = count;
    return status;
}

static json_t *text_json(struct export *export, struct shmt_text *text)
{
    json_t *json = json_string(shmt_text_string(text));

    export->cut |= text->failed;
    shmt_text_free(text);
    return json;
}

/* "at: 1.5, verdict: ok, ...". */
static json_t *own_result(struct export *export,
                          const struct shmt_journal_record *record)
{
    struct shmt_result result = *record->result;
    struct shmt_text text = {0};

    result.image[0] = '\0';
    shmt_text_add(&text, "at: ");
    shmt_yaml_add_real(&text, record->at_s, 9);
    shmt_text_add(&text, ", ");
    shmt_result_write(&result, &text);
    return text_json(export, &text);
}

static json_t *own_header(struct export *export)
{
    struct shmt_text text = {0};

    shmt_journal_header_write(export->kernel, &export->journal->header, &text);
    return text_json(export, &text);
}

static json_t *samples_json(const struct shmt_result *result)
{
    json_t *list = json_array();

    for (int k = 0; k < result->sample_count; k++)
        json_array_append_new(list, ms_json((double)result->samples_us[k]));
    return list;
}

/* Text of `json`, of ours with 15 digits, else with 17. */
static enum shmtune_status dump(const struct export *export, const json_t *json,
                                struct shmt_text *text)
{
    const size_t digits =
        export->own ? JSON_REAL_PRECISION(15) : JSON_REAL_PRECISION(17);
    char *dumped = json == NULL ? NULL
                                : json_dumps(json, JSON_ENCODE_ANY | digits);

    if (dumped == NULL)
        return shmt_error_memory(export->err);
    shmt_text_add(text, dumped);
    free(dumped);
    return text->failed ? shmt_error_memory(export->err) : SHMTUNE_OK;
}

/* The text, or none and no memory where a part of it is missing. */
static enum shmtune_status finish(struct export *export, struct shmt_text *text,
                                  enum shmtune_status status)
{
    if (status == SHMTUNE_OK &&
        (export->cut || text->failed || shmt_export_memory_failed()))
        status = shmt_error_memory(export->err);
    if (status != SHMTUNE_OK)
        shmt_text_clear(text);
    close_export(export);
    return status;
}

/* -- Kernel Tuner's cache -------------------------------------------------- */

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
    char digits[SHMT_TEXT_REAL];

    if (json_is_boolean(value)) {
        shmt_text_add(text, json_is_true(value) ? "True" : "False");
    } else if (json_is_integer(value)) {
        shmt_text_addf(text, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        shmt_text_put_real(json_real_value(value), 0, digits);
        shmt_text_add(text, digits);
        shmt_text_add(text, strpbrk(digits, ".en") == NULL ? ".0" : "");
    } else {
        shmt_text_add(text, json_string_value(value));
    }
}

static char *key_of(const struct export *export, const shmt_config *config)
{
    struct shmt_text text = {0};

    for (size_t p = 0; p < export->kernel->parameter_count; p++) {
        json_t *const value = value_json(export, p, config[p]);

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
        json_object_set_new(entry, "time", ms_json(result->time_us));
}

/* A result of ours. */
static void add_own(struct export *export, size_t k, json_t *entry)
{
    const struct shmt_journal_record *const record =
        &export->journal->records[k];
    const struct shmt_result *const result = record->result;

    add_time(result, entry);
    if (result->sample_count > 0)
        json_object_set_new(entry, "times", samples_json(result));
    json_object_set_new(entry, "compile_time", compile_ms_json(export, k));
    json_object_set_new(entry, "verification_time", json_integer(0));
    json_object_set_new(entry, "benchmark_time",
                        ms_json(result->measure_ms * 1000.0));
    json_object_set_new(entry, "strategy_time", json_integer(0));
    json_object_set_new(entry, "framework_time", json_integer(0));
    json_object_set_new(entry, "shmtune", own_result(export, record));
}

/* Names of the same time in T4 and in the cache. */
static const struct {
    const char *t4, *cache;
} cache_times[] = {
    {"runtimes", "times"}, {"compilation", "compile_time"},
    {"compilation_time", "compile_time"}, {"validation", "verification_time"},
    {"benchmark", "benchmark_time"}, {"search_algorithm", "strategy_time"},
    {"framework", "framework_time"},
};

/* Milliseconds of the unit of an entry's times, as the importer takes it: what
 * the file says, or else the unit of the measured time. */
static double t4_unit(const struct export *export, const json_t *measurements)
{
    const char *word = json_string_value(
        json_object_get(json_object_get(export->origin, "metadata"),
                        "timeunit"));
    double ms = shmt_import_unit_ms(word);

    for (size_t k = 0; word == NULL && k < json_array_size(measurements); k++) {
        word = json_string_value(json_object_get(
            json_array_get(measurements, k), "unit"));
        ms = word == NULL || word[0] == '\0' ? 0.0 : shmt_import_unit_ms(word);
        if (ms == 0.0)
            word = NULL;
    }
    return ms > 0.0 ? ms : 1.0;
}

/* A time, or a list of times, in milliseconds. */
static json_t *in_ms(json_t *time, double ms)
{
    json_t *out;

    if (ms == 1.0)
        return json_incref(time);
    if (!json_is_array(time))
        return json_real(json_number_value(time) * ms);
    out = json_array();
    for (size_t k = 0; k < json_array_size(time); k++)
        json_array_append_new(out, in_ms(json_array_get(time, k), ms));
    return out;
}

/* A result that came as T4. */
static void add_t4(const struct export *export,
                   const struct shmt_result *result, const json_t *origin,
                   json_t *entry)
{
    const json_t *const list = json_object_get(origin, "measurements");
    const json_t *const t4 = json_object_get(origin, "times");
    const double ms = t4_unit(export, list);

    add_time(result, entry);
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *const item = json_array_get(list, k);
        const json_t *const name = json_object_get(item, "name");

        if (json_is_string(name))
            json_object_set(entry, json_string_value(name),
                            json_object_get(item, "value"));
    }
    for (size_t k = 0; k < sizeof cache_times / sizeof *cache_times; k++) {
        json_t *const value = json_object_get(t4, cache_times[k].t4);

        if (value != NULL)
            json_object_set_new(entry, cache_times[k].cache,
                                in_ms(value, ms));
    }
    if (json_object_get(entry, "benchmark_time") == NULL) {
        double sum = 0.0;

        for (size_t k = 0; k < json_array_size(json_object_get(entry,
                                                               "times")); k++)
            sum += json_number_value(
                json_array_get(json_object_get(entry, "times"), k));
        json_object_set_new(entry, "benchmark_time", json_real(sum));
    }
    for (size_t k = 1; k < sizeof cache_times / sizeof *cache_times; k++)
        if (json_object_get(entry, cache_times[k].cache) == NULL)
            json_object_set_new(entry, cache_times[k].cache, json_integer(0));
    if (json_object_get(origin, "timestamp") != NULL)
        json_object_set(entry, "timestamp",
                        json_object_get(origin, "timestamp"));
}

static enum shmtune_status add_entry(struct export *export, size_t k,
                                     json_t *cache)
{
    const struct shmt_journal_record *const record =
        &export->journal->records[k];
    json_t *const entry = json_object();
    json_t *origin = NULL;
    char *key = key_of(export, record->config);
    enum shmtune_status status = read_origin(export, k, &origin);

    add_configuration(export, record->config, entry);
    if (origin == NULL)
        add_own(export, k, entry);
    else if (json_is_object(json_object_get(origin, "times")))
        add_t4(export, record->result, origin, entry);
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

static json_t *domains(const struct export *export)
{
    json_t *const all = json_object();

    for (size_t p = 0; p < export->kernel->parameter_count; p++) {
        const struct shmt_parameter *const parameter =
            &export->kernel->parameters[p];
        json_t *const list = json_array();

        for (size_t k = 0; k < parameter->count; k++)
            json_array_append_new(list, value_json(export, p, (shmt_config)k));
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
static json_t *cache_heading(struct export *export)
{
    const struct shmt_kernel *const kernel = export->kernel;
    const struct shmt_journal_header *const header = &export->journal->header;
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
        json_object_set_new(top, "shmtune", own_header(export));
    return top;
}

/* One member a line, as Kernel Tuner has it; it looks for the last two
 * brackets on lines of their own. */
static enum shmtune_status write_members(const struct export *export,
                                         json_t *object, struct shmt_text *text)
{
    enum shmtune_status status = SHMTUNE_OK;
    const char *key, *comma = "";
    json_t *value;

    json_object_foreach(object, key, value) {
        json_t *const name = json_string(key);

        shmt_text_add(text, comma);
        comma = ",\n";
        status = dump(export, name, text);
        json_decref(name);
        shmt_text_add(text, ": ");
        if (status == SHMTUNE_OK)
            status = dump(export, value, text);
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
    struct export export = {.kernel = kernel, .journal = journal,
                                 .err = err};
    json_t *cache = json_object(), *top = NULL;
    enum shmtune_status status = open_export(&export);

    for (size_t k = 0; k < journal->count && status == SHMTUNE_OK; k++)
        if (includes(&export, k))
            status = add_entry(&export, k, cache);
    if (status == SHMTUNE_OK) {
        top = cache_heading(&export);
        shmt_text_add(text, "{\n");
        status = write_members(&export, top, text);
        shmt_text_add(text, ",\n\"cache\": {\n");
    }
    if (status == SHMTUNE_OK)
        status = write_members(&export, cache, text);
    shmt_text_add(text, "}\n}");
    json_decref(cache);
    json_decref(top);
    return finish(&export, text, status);
}

/* -- T4 -------------------------------------------------------------------- */

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
} t4_times[] = {
    {"compile_time", "compilation"}, {"benchmark_time", "benchmark"},
    {"framework_time", "framework"}, {"strategy_time", "search_algorithm"},
    {"verification_time", "validation"}, {"times", "runtimes"},
};

static const char *t4_name(const char *cache)
{
    for (size_t k = 0; k < sizeof t4_times / sizeof *t4_times; k++)
        if (strcmp(t4_times[k].cache, cache) == 0)
            return t4_times[k].t4;
    return NULL;
}

/* Of a result that came from a cache: times, and what else was measured. */
static void split_cache(const json_t *origin, json_t *spent,
                        json_t *measurements)
{
    const char *key;
    json_t *value;

    for (size_t k = 0; k < sizeof t4_times / sizeof *t4_times; k++) {
        json_t *const one = json_object_get(origin, t4_times[k].cache);

        if (one != NULL)
            json_object_set(spent, t4_times[k].t4, one);
    }
    json_object_foreach((json_t *)origin, key, value)
        if (t4_name(key) == NULL && strcmp(key, "timestamp") != 0)
            add_measurement(measurements, key, json_incref(value));
}

static void split_own(const struct export *export, size_t k, json_t *spent,
                      json_t *measurements)
{
    const struct shmt_result *const result = export->journal->records[k].result;

    json_object_set_new(spent, "compilation", compile_ms_json(export, k));
    json_object_set_new(spent, "benchmark",
                        ms_json(result->measure_ms * 1000.0));
    json_object_set_new(spent, "framework", json_integer(0));
    json_object_set_new(spent, "search_algorithm", json_integer(0));
    json_object_set_new(spent, "validation", json_integer(0));
    json_object_set_new(spent, "runtimes", samples_json(result));
    if (result->time_us >= 0.0)
        add_measurement(measurements, "time", ms_json(result->time_us));
}

static json_t *make_result(struct export *export, size_t k,
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
    add_configuration(export, record->config, config);
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
        json_object_set_new(result, "shmtune", own_result(export, record));
    return result;
}

static enum shmtune_status write_result(struct export *export, size_t k,
                                        bool first, struct shmt_text *text)
{
    json_t *origin, *result;
    enum shmtune_status status = read_origin(export, k, &origin);

    if (status != SHMTUNE_OK)
        return status;
    result = make_result(export, k, origin);
    shmt_text_add(text, first ? "\n" : ",\n");
    status = dump(export, result, text);
    json_decref(result);
    json_decref(origin);
    return status;
}

/* The members beside the results. */
static json_t *t4_heading(struct export *export)
{
    json_t *const top = json_object();
    json_t *const metadata = json_object_get(export->origin, "metadata");
    json_t *const version = json_object_get(export->origin, "schema_version");

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
        json_object_set_new(top, "shmtune", own_header(export));
    return top;
}

enum shmtune_status shmt_export_t4(const struct shmt_kernel *kernel,
                                   const struct shmt_journal *journal,
                                   struct shmt_text *text,
                                   struct shmt_error *err)
{
    struct export export = {.kernel = kernel, .journal = journal,
                                 .err = err};
    enum shmtune_status status = open_export(&export);
    bool first = true;
    json_t *top;

    if (status == SHMTUNE_OK) {
        top = t4_heading(&export);
        status = dump(&export, top, text);
        json_decref(top);
    }
    if (status == SHMTUNE_OK) {
        /* The results are one more member. */
        text->data[--text->length] = '\0';
        shmt_text_add(text, ", \"results\": [");
    }
    for (size_t k = 0; k < journal->count && status == SHMTUNE_OK; k++)
        if (includes(&export, k)) {
            status = write_result(&export, k, first, text);
            first = false;
        }
    shmt_text_add(text, "\n]}\n");
    return finish(&export, text, status);
}
