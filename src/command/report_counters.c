/* SPDX-License-Identifier: MIT */
/*
 * report_counters: reads what `shmtune explain --json` printed, for a report.
 * The file may be anybody's: types, numbers and lengths are checked, what is
 * not known in it is passed over, and its texts are for people alone.  Called
 * by report_files.c.
 */
#include "config.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "command/explain.h"
#include "command/json.h"
#include "command/report.h"

enum {
    BYTES_MOST = 4 << 20, NAME_MOST = 255, REMARK_MOST = 1000,
    REMARKS_MOST = 64, ROWS_MOST = 256
};

struct reader {
    struct shmt_arena *arena;
    const char *path;
    struct shmt_report_counters *out;
    struct shmt_report_counter *rows;
    const char **keys;             /* of the rows */
    struct shmt_error *err;
};

/* -- one value ------------------------------------------------------------- */

/* "FILE: configurations[1].label: a real, expected ..." */
static enum shmtune_status refuse(const struct reader *reader,
                                  const char *place, const json_t *found,
                                  const char *expected)
{
    static const char *const types[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
        [JSON_STRING] = "a string", [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a real", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false", [JSON_NULL] = "null",
    };

    return shmt_error_set(reader->err, SHMTUNE_INVALID_FILE,
                          "%s: %s: %s, expected %s", reader->path, place,
                          found == NULL ? "it is not there"
                                        : types[json_typeof(found)],
                          expected);
}

static enum shmtune_status copy(const struct reader *reader, const char *text,
                                const char **out)
{
    *out = shmt_arena_copy(reader->arena, text, strlen(text));
    return *out == NULL ? shmt_error_memory(reader->err) : SHMTUNE_OK;
}

static enum shmtune_status read_text(const struct reader *reader,
                                     const char *place, const json_t *json,
                                     size_t most, const char **out)
{
    char expected[48];

    if (!json_is_string(json))
        return refuse(reader, place, json, "a string");
    snprintf(expected, sizeof expected, "one of at most %zu bytes", most);
    return json_string_length(json) > most
               ? refuse(reader, place, json, expected)
               : copy(reader, json_string_value(json), out);
}

/* An integer of 0 to `most`; one that is not there is 0. */
static enum shmtune_status read_limit(const struct reader *reader,
                                      const json_t *device, const char *key,
                                      int64_t most, int64_t *out)
{
    const json_t *const json = json_object_get(device, key);
    char place[96];

    *out = json_integer_value(json);
    if (json == NULL || (json_is_integer(json) && *out >= 0 && *out <= most))
        return SHMTUNE_OK;
    snprintf(place, sizeof place, "device.%s", key);
    return refuse(reader, place, json, "an integer from 0");
}

/* -- what was counted on which device -------------------------------------- */

static enum shmtune_status read_device(const struct reader *reader,
                                       const json_t *json)
{
    struct shmtune_device device = {.size = sizeof device};
    const char *name;
    enum shmtune_status status;
    int64_t number;

    if (!json_is_object(json))
        return refuse(reader, "device", json, "an object");
    status = read_text(reader, "device.name", json_object_get(json, "name"),
                       sizeof device.name - 1, &name);
    if (status == SHMTUNE_OK)
        snprintf(device.name, sizeof device.name, "%s", name);
#define LIMIT(type, field, most)                                             \
    if (status == SHMTUNE_OK) {                                              \
        status = read_limit(reader, json, #field, most, &number);            \
        device.field = (type)number;                                         \
    }
    LIMIT(int, compute_major, INT_MAX)
    LIMIT(int, compute_minor, INT_MAX)
    LIMIT(int, multiprocessors, INT_MAX)
    LIMIT(int, registers_per_multiprocessor, INT_MAX)
    LIMIT(int, max_threads_per_multiprocessor, INT_MAX)
    LIMIT(int64_t, shared_per_block, INT64_MAX)
    LIMIT(int64_t, shared_per_block_optin, INT64_MAX)
    LIMIT(int64_t, shared_per_multiprocessor, INT64_MAX)
#undef LIMIT
    if (status == SHMTUNE_OK)
        reader->out->device = device;
    return status;
}

/* -- settings: of a size, of a configuration ------------------------------- */

static enum shmtune_status read_value(const struct reader *reader,
                                      const char *place, const json_t *json,
                                      struct shmt_value *out)
{
    if (json_is_integer(json)) {
        *out = (struct shmt_value){.type = SHMT_VALUE_INT,
                                   .i = json_integer_value(json)};
        return SHMTUNE_OK;
    }
    if (json_is_real(json)) {
        *out = (struct shmt_value){.type = SHMT_VALUE_REAL,
                                   .r = json_real_value(json)};
        return SHMTUNE_OK;
    }
    if (!json_is_string(json))
        return refuse(reader, place, json, "a number or a word");
    out->type = SHMT_VALUE_WORD;
    return read_text(reader, place, json, NAME_MOST, &out->w);
}

static enum shmtune_status read_settings(const struct reader *reader,
                                         const char *place, json_t *json,
                                         size_t *count,
                                         const struct shmt_setting **out)
{
    const size_t size = json_object_size(json);
    struct shmt_setting *const settings =
        shmt_arena_alloc(reader->arena, size + 1, sizeof *settings);
    enum shmtune_status status = SHMTUNE_OK;
    const char *key;
    json_t *value;
    size_t used = 0;

    if (settings == NULL)
        return shmt_error_memory(reader->err);
    if (!json_is_object(json) || size > SHMT_SPACE_PARAMETERS)
        return refuse(reader, place, json, "an object of settings");
    json_object_foreach(json, key, value) {
        if (strlen(key) > NAME_MOST)
            return refuse(reader, place, json, "names of 255 bytes at most");
        status = copy(reader, key, &settings[used].name);
        if (status == SHMTUNE_OK)
            status = read_value(reader, place, value,
                                &settings[used++].value);
        if (status != SHMTUNE_OK)
            return status;
    }
    *count = used;
    *out = settings;
    return SHMTUNE_OK;
}

/* -- rows ------------------------------------------------------------------ */

/* Of a counter, by its name in ncu. */
static const char *unit_of(const char *name)
{
    if (shmt_text_ends(name, ".pct") || strstr(name, ".pct_of_") != NULL)
        return "%";
    if (strstr(name, "time_duration") != NULL)
        return "ns";
    return strstr(name, "__bytes_") != NULL && shmt_text_ends(name, ".sum")
               ? "B" : "";
}

/* Under the titles of `explain`; a number that this version does not know has
 * its key for one. */
static struct shmt_report_counter row_of(const char *key, bool raw)
{
    size_t count;
    const struct shmt_explain_reading *const known =
        shmt_explain_readings(&count);

    for (size_t k = 0; !raw && k < count; k++)
        if (strcmp(known[k].key, key) == 0)
            return (struct shmt_report_counter){
                known[k].title, known[k].unit, known[k].decimals, false};
    return (struct shmt_report_counter){key, raw ? unit_of(key) : "", 2, raw};
}

static enum shmtune_status add_rows(struct reader *reader, const char *place,
                                    json_t *json, bool raw)
{
    size_t *const count = &reader->out->row_count;
    const char *key;
    json_t *value;

    if (json != NULL && !json_is_object(json))
        return refuse(reader, place, json, "an object of numbers");
    json_object_foreach(json, key, value) {
        enum shmtune_status status;

        if (*count == ROWS_MOST || strlen(key) > NAME_MOST)
            return refuse(reader, place, json,
                          "at most 256 numbers, with names of 255 bytes");
        status = copy(reader, key, &reader->keys[*count]);
        if (status != SHMTUNE_OK)
            return status;
        reader->rows[*count] = row_of(reader->keys[*count], raw);
        ++*count;
    }
    return SHMTUNE_OK;
}

/* Those of the default: all configurations have the same. */
static enum shmtune_status read_rows(struct reader *reader,
                                     const json_t *usual)
{
    enum shmtune_status status;

    reader->rows = shmt_arena_alloc(reader->arena, ROWS_MOST,
                                    sizeof *reader->rows);
    reader->keys = shmt_arena_alloc(reader->arena, ROWS_MOST,
                                    sizeof *reader->keys);
    if (reader->rows == NULL || reader->keys == NULL)
        return shmt_error_memory(reader->err);
    status = add_rows(reader, "configurations[0].derived",
                      json_object_get(usual, "derived"), false);
    if (status == SHMTUNE_OK)
        status = add_rows(reader, "configurations[0].counters",
                          json_object_get(usual, "counters"), true);
    reader->out->rows = reader->rows;
    if (reader->out->row_count == 0 && reader->out->missing == NULL)
        reader->out->missing = "the file has no numbers";
    return status;
}

/* -- configurations -------------------------------------------------------- */

static enum shmtune_status read_values(const struct reader *reader,
                                       const char *place, const json_t *json,
                                       struct shmt_report_counted *out)
{
    double *const values = shmt_arena_alloc(
        reader->arena, reader->out->row_count + 1, sizeof *values);

    if (values == NULL)
        return shmt_error_memory(reader->err);
    for (size_t k = 0; k < reader->out->row_count; k++) {
        const char *const group = reader->rows[k].raw ? "counters"
                                                      : "derived";
        const json_t *const value = json_object_get(
            json_object_get(json, group), reader->keys[k]);
        char where[512];

        values[k] = (double)NAN;
        if (json_is_number(value)) {
            values[k] = json_number_value(value);
        } else if (value != NULL && !json_is_null(value)) {
            snprintf(where, sizeof where, "%s.%s.%s", place, group,
                     reader->keys[k]);
            return refuse(reader, where, value, "a number or null");
        }
    }
    out->values = values;
    return SHMTUNE_OK;
}

/* Those of an older version are not there. */
static enum shmtune_status read_remarks(const struct reader *reader,
                                        const char *place, const json_t *json,
                                        struct shmt_report_counted *out)
{
    const json_t *const list = json_object_get(json, "remarks");
    const size_t count = json_array_size(list);
    const char **const remarks =
        shmt_arena_alloc(reader->arena, count + 1, sizeof *remarks);
    enum shmtune_status status = SHMTUNE_OK;
    char where[64];

    if (remarks == NULL)
        return shmt_error_memory(reader->err);
    snprintf(where, sizeof where, "%s.remarks", place);
    if (list != NULL && (!json_is_array(list) || count > REMARKS_MOST))
        return refuse(reader, where, list, "an array of at most 64 strings");
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = read_text(reader, where, json_array_get(list, k),
                           REMARK_MOST, &remarks[k]);
    out->remark_count = count;
    out->remarks = remarks;
    return status;
}

static enum shmtune_status read_configuration(const struct reader *reader,
                                              const json_t *json, size_t k,
                                              struct shmt_report_counted *out)
{
    const json_t *const label = json_object_get(json, "label");
    char place[48], where[64];
    enum shmtune_status status;

    snprintf(place, sizeof place, "configurations[%zu]", k);
    if (!json_is_object(json))
        return refuse(reader, place, json, "an object");
    snprintf(where, sizeof where, "%s.label", place);
    if (!json_is_string(label) ||
        (k == 0 && strcmp(json_string_value(label), "default") != 0))
        return refuse(reader, where, label,
                      k == 0 ? "\"default\"" : "a string");
    snprintf(where, sizeof where, "%s.config", place);
    status = read_settings(reader, where, json_object_get(json, "config"),
                           &out->setting_count, &out->settings);
    if (status == SHMTUNE_OK)
        status = read_values(reader, place, json, out);
    if (status == SHMTUNE_OK)
        status = read_remarks(reader, place, json, out);
    return status;
}

static enum shmtune_status read_configurations(struct reader *reader,
                                               const json_t *list)
{
    const size_t count = json_array_size(list);
    struct shmt_report_counted *const all =
        shmt_arena_alloc(reader->arena, count + 1, sizeof *all);
    enum shmtune_status status;

    if (all == NULL)
        return shmt_error_memory(reader->err);
    if (count == 0 || count > SHMT_EXPLAIN_COLUMNS)
        return refuse(reader, "configurations", list,
                      "an array of 1 to 65 configurations");
    status = read_rows(reader, json_array_get(list, 0));
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = read_configuration(reader, json_array_get(list, k), k,
                                    &all[k]);
    reader->out->count = count;
    reader->out->configurations = all;
    return status;
}

/* -- the document ---------------------------------------------------------- */

static enum shmtune_status check_format(const struct reader *reader,
                                        const json_t *json)
{
    const char *const format =
        json_string_value(json_object_get(json, "format"));

    if (format != NULL && strcmp(format, "explain.json/1") == 0)
        return SHMTUNE_OK;
    return shmt_error_set(reader->err, SHMTUNE_INVALID_FILE,
                          "%s: format: \"%.40s\", expected "
                          "\"explain.json/1\", which `shmtune explain KERNEL "
                          "--json` of this version prints", reader->path,
                          format != NULL ? format : "");
}

static enum shmtune_status read_optional(const struct reader *reader,
                                         const json_t *json, const char *key,
                                         const char **out)
{
    const json_t *const text = json_object_get(json, key);

    return text == NULL ? SHMTUNE_OK
                        : read_text(reader, key, text, REMARK_MOST, out);
}

/* It is broken into lines for a terminal. */
static enum shmtune_status take_legend(const struct reader *reader)
{
    const size_t length = strlen(shmt_explain_legend);
    char *const text =
        shmt_arena_copy(reader->arena, shmt_explain_legend, length);

    if (text == NULL)
        return shmt_error_memory(reader->err);
    for (size_t k = 0; k < length; k++)
        if (text[k] == '\n')
            text[k] = k + 1 < length ? ' ' : '\0';
    reader->out->legend = text;
    return SHMTUNE_OK;
}

static enum shmtune_status read_document(struct reader *reader, json_t *json)
{
    struct shmt_report_counters *const out = reader->out;
    enum shmtune_status status = check_format(reader, json);

    if (status == SHMTUNE_OK)
        status = read_text(reader, "kernel", json_object_get(json, "kernel"),
                           NAME_MOST, &out->kernel);
    if (status == SHMTUNE_OK)
        status = read_optional(reader, json, "digest", &out->digest);
    if (status == SHMTUNE_OK)
        status = read_optional(reader, json, "no_counters", &out->missing);
    if (status == SHMTUNE_OK)
        status = read_device(reader, json_object_get(json, "device"));
    if (status == SHMTUNE_OK)
        status = read_settings(reader, "size", json_object_get(json, "size"),
                               &out->size_count, &out->size);
    if (status == SHMTUNE_OK)
        status = read_configurations(reader, json_object_get(
                                                 json, "configurations"));
    return status == SHMTUNE_OK ? take_legend(reader) : status;
}

static enum shmtune_status parse(const char *path, const char *data,
                                 size_t size, json_t **out,
                                 struct shmt_error *err)
{
    json_error_t error;

    *out = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
    if (*out != NULL)
        return SHMTUNE_OK;
    return json_error_code(&error) == json_error_out_of_memory
               ? shmt_error_memory(err)
               : shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s:%d:%d: %s",
                                path, error.line < 1 ? 1 : error.line,
                                error.column < 1 ? 1 : error.column,
                                error.text);
}

enum shmtune_status
shmt_command_counters_read(struct shmt_arena *arena, const char *path,
                           const struct shmt_report_counters **out,
                           struct shmt_error *err)
{
    struct reader reader = {.arena = arena, .path = path, .err = err};
    const char *data;
    json_t *json = NULL;
    size_t size;
    enum shmtune_status status =
        shmt_path_read(arena, path, BYTES_MOST, &data, &size, err);

    if (status != SHMTUNE_OK)
        return status;
    reader.out = shmt_arena_alloc(arena, 1, sizeof *reader.out);
    if (reader.out == NULL)
        return shmt_error_memory(err);
    reader.out->path = path;
    status = parse(path, data, size, &json, err);
    if (status == SHMTUNE_OK)
        status = read_document(&reader, json);
    if (status == SHMTUNE_OK)
        *out = reader.out;
    json_decref(json);
    return status;
}

/* Behind white space, or NULL where another text stands. */
static const char *skip(const char *at, const char *text)
{
    while (at != NULL && isspace((unsigned char)*at))
        at++;
    return at != NULL && strncmp(at, text, strlen(text)) == 0
               ? at + strlen(text) : NULL;
}

bool shmt_command_is_counters(const char *path)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_error unread;
    const char *data = "";
    size_t size;
    bool is;

    if (shmt_text_ends(path, ".json") || arena == NULL) {
        shmt_arena_free(arena);
        return arena != NULL;
    }
    if (shmt_path_read(arena, path, BYTES_MOST, &data, &size, &unread) !=
        SHMTUNE_OK)
        data = "";
    data = skip(skip(skip(skip(data, "{"), "\"format\""), ":"),
                "\"explain.json/");
    is = data != NULL;
    shmt_arena_free(arena);
    return is;
}
