/* SPDX-License-Identifier: MIT */
/*
 * export_json: builds the JSON values that both exporters need from the
 * records of a journal.
 */
#include "exchange/export_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "yaml/yaml.h"

static json_t *object_of(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);

    if (json != NULL && !json_is_object(json)) {
        json_decref(json);
        json = NULL;
    }
    return json;
}

enum shmtune_status shmt_export_open(struct shmt_export *export)
{
    const char *const origin = export->journal->header.origin;
    const size_t count = export->journal->count;
    enum shmtune_status status;

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
                                       export->compile_ms,
                                            export->err);
    if (status != SHMTUNE_OK || export->own)
        return status;
    export->origin = object_of(origin);
    if (export->origin == NULL)
        return shmt_error_set(export->err, SHMTUNE_INVALID_FILE,
                              "the journal's header: origin is no JSON "
                              "object");
    return SHMTUNE_OK;
}

void shmt_export_close(struct shmt_export *export)
{
    json_decref(export->origin);
    export->origin = NULL;
    free(export->compile_ms);
    free(export->latest);
    export->compile_ms = NULL;
    export->latest = NULL;
}

json_t *shmt_export_compile_ms(const struct shmt_export *export,
                               size_t record)
{
    return shmt_export_ms(
        1000.0 * (export->own
                      ? export->compile_ms[record]
                      : export->journal->records[record].result->compile_ms));
}

json_t *shmt_export_value(const struct shmt_export *export, size_t parameter,
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
    if (mine.type == SHMT_VALUE_INT)
        return json_integer(mine.i);
    return mine.type == SHMT_VALUE_REAL ? json_real(mine.r) :
        json_string(mine.w);
}

void shmt_export_configuration(const struct shmt_export *export,
                               const shmt_config *config, json_t *object)
{
    for (size_t p = 0; p < export->kernel->parameter_count; p++)
        json_object_set_new(object, export->kernel->parameters[p].name,
                            shmt_export_value(export, p, config[p]));
}

enum shmtune_status shmt_export_origin(const struct shmt_export *export,
                                       size_t record, json_t **out)
{
    const char *const origin = export->journal->records[record].origin;

    *out = NULL;
    if (origin == NULL)
        return SHMTUNE_OK;
    *out = object_of(origin);
    if (*out == NULL)
        return shmt_error_set(export->err, SHMTUNE_INVALID_FILE,
                              "record %zu of the journal: origin is no JSON "
                              "object", record + 1);
    return SHMTUNE_OK;
}

bool shmt_export_includes(const struct shmt_export *export, size_t record)
{
    return export->latest[record] &&
           export->journal->records[record].result->verdict !=
               SHMT_VERDICT_NOT_RECORDED;
}

enum shmtune_status shmt_export_count(const struct shmt_kernel *kernel,
                                      const struct shmt_journal *journal,
                                      size_t *out, struct shmt_error *err)
{
    struct shmt_export export = {.kernel = kernel, .journal = journal,
                                 .err = err};
    const enum shmtune_status status = shmt_export_open(&export);
    size_t count = 0;

    for (size_t k = 0; k < journal->count && status == SHMTUNE_OK; k++)
        count += shmt_export_includes(&export, k);
    shmt_export_close(&export);
    if (status == SHMTUNE_OK)
        *out = count;
    return status;
}

static json_t *text_json(struct shmt_text *text)
{
    json_t *json = text->failed ? NULL : json_string(shmt_text_string(text));

    shmt_text_free(text);
    return json;
}

json_t *shmt_export_write_result(const struct shmt_journal_record *record)
{
    struct shmt_result result = *record->result;
    struct shmt_text text = {0};

    result.image[0] = '\0';
    shmt_text_add(&text, "at: ");
    shmt_yaml_add_real(&text, record->at_s, 9);
    shmt_text_add(&text, ", ");
    shmt_result_write(&result, &text);
    return text_json(&text);
}

json_t *shmt_export_write_header(const struct shmt_export *export)
{
    struct shmt_text text = {0};

    shmt_journal_header_write(export->kernel, &export->journal->header,
                              &text);
    return text_json(&text);
}

json_t *shmt_export_ms(double us)
{
    char digits[40];

    if (!(us >= 0.0))
        return json_real(0.0);
    snprintf(digits, sizeof digits, "%.9g", us / 1000.0);
    return json_real(strtod(digits, NULL));
}

json_t *shmt_export_samples(const struct shmt_result *result)
{
    json_t *list = json_array();

    for (int k = 0; k < result->sample_count; k++)
        json_array_append_new(list,
                              shmt_export_ms((double)result->samples_us[k]));
    return list;
}

enum shmtune_status shmt_export_dump(const struct shmt_export *export,
                                     const json_t *json,
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
