/* SPDX-License-Identifier: MIT */
/*
 * import_entry: one result of an imported run: its configuration, its
 * samples, and what an export of ours says in our own words.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/import_json.h"
#include "yaml/yaml.h"

enum { WORDS = 1024 };      /* different ones of a parameter without a list */

enum shmtune_status
shmt_import_configuration(const struct shmt_import_place *place,
                          const json_t *object, bool others,
                          struct shmt_import_entry *entry)
{
    struct shmt_import *const import = place->import;
    struct shmt_value *values = shmt_arena_alloc(
        import->arena, import->parameter_count, sizeof *values);
    enum shmtune_status status = SHMTUNE_OK;

    if (values == NULL)
        return shmt_error_memory(place->err);
    for (size_t p = 0; p < import->parameter_count; p++) {
        const char *const name = import->parameters[p].name;
        const json_t *const json = json_object_get(object, name);
        const struct shmt_import_place below =
            shmt_import_member(place, name);

        if (json == NULL)
            return shmt_import_refuse(place, "the parameter %s is missing",
                                      name);
        status = shmt_import_value(&below, json, &values[p]);
        if (status != SHMTUNE_OK)
            return status;
        if (values[p].type == SHMT_VALUE_REAL && !isfinite(values[p].r))
            return shmt_import_refuse(&below, "found a number that is not "
                                              "finite");
    }
    if (!others && json_object_size(object) != import->parameter_count)
        return shmt_import_refuse(place, "%zu names, expected the %zu "
                                         "parameters of the first entry",
                                  json_object_size(object),
                                  import->parameter_count);
    entry->values = values;
    return SHMTUNE_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct shmt_value *x = a, *y = b;

    if (x->type == SHMT_VALUE_REAL)
        return (x->r > y->r) - (x->r < y->r);
    return (x->i > y->i) - (x->i < y->i);
}

/* Ascending, each once. */
static size_t unite_numbers(struct shmt_value *values, size_t count)
{
    size_t kept = 0;

    qsort(values, count, sizeof *values, compare_numbers);
    for (size_t k = 0; k < count; k++)
        if (kept == 0 || compare_numbers(&values[kept - 1], &values[k]) != 0)
            values[kept++] = values[k];
    return kept;
}

/* In order of appearance, each once; SIZE_MAX: too many. */
static size_t unite_words(struct shmt_value *values, size_t count)
{
    size_t kept = 0, j;

    for (size_t k = 0; k < count; k++) {
        for (j = 0; j < kept && strcmp(values[j].w, values[k].w) != 0; j++)
            ;
        if (j < kept)
            continue;
        if (kept == WORDS)
            return SIZE_MAX;
        values[kept++] = values[k];
    }
    return kept;
}

static enum shmtune_status collect_one(const struct shmt_import_place *place,
                                       size_t p, struct shmt_value *values)
{
    struct shmt_import *const import = place->import;
    struct shmt_import_parameter *const parameter = &import->parameters[p];
    struct shmt_value *kept;
    bool words = false, reals = false, ints = false;
    size_t count = import->entry_count;

    for (size_t k = 0; k < count; k++) {
        values[k] = import->entries[k].values[p];
        words |= values[k].type == SHMT_VALUE_WORD;
        reals |= values[k].type == SHMT_VALUE_REAL;
        ints |= values[k].type == SHMT_VALUE_INT;
    }
    if (words && (reals || ints))
        return shmt_import_refuse(place, "the parameter %s has words and "
                                         "numbers", parameter->name);
    for (size_t k = 0; reals && k < count; k++)
        if (values[k].type == SHMT_VALUE_INT)
            values[k] = (struct shmt_value){.type = SHMT_VALUE_REAL,
                                            .r = (double)values[k].i};
    count = words ? unite_words(values, count)
                  : unite_numbers(values, count);
    if (count > SHMT_SPACE_VALUES)
        return shmt_import_refuse(place, "the parameter %s has more than %d "
                                         "different values", parameter->name,
                                  words ? WORDS : SHMT_SPACE_VALUES);
    kept = shmt_arena_alloc(import->arena, count, sizeof *kept);
    if (kept == NULL)
        return shmt_error_memory(place->err);
    memcpy(kept, values, count * sizeof *kept);
    parameter->truths &= !words && !reals && values[0].i >= 0 &&
                         values[count - 1].i <= 1;
    parameter->type = words ? SHMT_VALUE_WORD : reals ? SHMT_VALUE_REAL :
        SHMT_VALUE_INT;
    parameter->values = kept;
    parameter->count = count;
    parameter->default_value = SIZE_MAX;
    parameter->mixed = reals && ints;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_import_collect(const struct shmt_import_place *place)
{
    struct shmt_import *const import = place->import;
    struct shmt_value *values =
        malloc((import->entry_count + 1) * sizeof *values);
    enum shmtune_status status = SHMTUNE_OK;

    if (values == NULL)
        return shmt_error_memory(place->err);
    if (import->entry_count == 0)
        status = shmt_import_refuse(place, "no results, and no list of "
                                           "values either");
    for (size_t p = 0; p < import->parameter_count && status == SHMTUNE_OK;
         p++)
        status = collect_one(place, p, values);
    free(values);
    return status;
}

enum shmtune_status shmt_import_samples(const struct shmt_import_place *place,
                                        const json_t *list, double ms,
                                        struct shmt_result *result)
{
    const size_t count = json_array_size(list);

    for (size_t k = 0; k < count; k++) {
        const json_t *const sample = json_array_get(list, k);
        const struct shmt_import_place item = shmt_import_item(place, k);

        if (!json_is_number(sample) || !(json_number_value(sample) >= 0.0) ||
            json_number_value(sample) > 1e12)
            return shmt_import_refuse(&item, "expected a time, 0 or more");
        if (k < SHMT_RESULT_SAMPLES)
            result->samples_us[k] =
                (float)(json_number_value(sample) * ms * 1000.0);
    }
    result->sample_count =
        count < SHMT_RESULT_SAMPLES ? (int)count : SHMT_RESULT_SAMPLES;
    return SHMTUNE_OK;
}

/* {rows: 1024, cols: 1024} */
static enum shmtune_status read_size(const struct shmt_import_place *place,
                                     const struct shmt_yaml *size)
{
    struct shmt_import *const import = place->import;
    enum shmtune_status status =
        shmt_yaml_expect(size, SHMT_YAML_MAPPING, "size", place->err);

    if (status != SHMTUNE_OK)
        return status;
    if (size->count > SHMT_KERNEL_DIMENSIONS)
        return shmt_import_refuse(place, "size has %zu dimensions, at most "
                                         "%d are possible", size->count,
                                  SHMT_KERNEL_DIMENSIONS);
    for (size_t d = 0; d < size->count && status == SHMTUNE_OK; d++) {
        status = shmt_import_name(place, size->keys[d]->text,
                                  &import->dimension_names[d]);
        if (status == SHMTUNE_OK)
            status = shmt_yaml_int(size->items[d], 1, INT64_MAX,
                                   &import->dimensions[d], place->err);
    }
    import->dimension_count = size->count;
    return status;
}

enum shmtune_status
shmt_import_read_export_header(const struct shmt_import_place *place,
                               const char *text)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *const where = shmt_import_where(place);
    const struct shmt_yaml *node, *size, *kernel, *device;
    const char *word;
    enum shmtune_status status;

    if (arena == NULL || where == NULL) {
        shmt_arena_free(arena);
        return shmt_error_memory(place->err);
    }
    status = shmt_yaml_parse(arena, where, text, strlen(text), &node,
                             place->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "kernel", &kernel, place->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_word(kernel, &word, place->err);
    if (status == SHMTUNE_OK)
        status = shmt_import_identifier(place, word, &place->import->name);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "size", &size, place->err);
    device = status == SHMTUNE_OK ? shmt_yaml_get(node, "device") : NULL;
    if (device != NULL)
        device = shmt_yaml_get(device, "name");
    if (device != NULL)
        status = shmt_yaml_text(device, 200, &word, place->err);
    if (device != NULL && status == SHMTUNE_OK)
        status = shmt_import_copy(place, word, &place->import->device);
    if (status == SHMTUNE_OK)
        status = read_size(place, size);
    if (status == SHMTUNE_OK)
        status = shmt_import_copy(place, text, &place->import->header);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status
shmt_import_read_export(const struct shmt_import_place *place,
                        const char *text,
                        struct shmt_import_entry *entry)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *const where = shmt_import_where(place);
    const struct shmt_yaml *node, *at;
    struct shmt_text flow = {0};
    enum shmtune_status status;

    if (arena == NULL || where == NULL) {
        shmt_arena_free(arena);
        return shmt_error_memory(place->err);
    }
    shmt_text_addf(&flow, "{%s}", text);
    status = shmt_yaml_parse(arena, where, shmt_text_string(&flow),
                             flow.length, &node, place->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "at", &at, place->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_real(at, &entry->at_s, place->err);
    if (status == SHMTUNE_OK && entry->at_s < 0)
        status = shmt_import_refuse(place, "at is below 0");
    if (status == SHMTUNE_OK)
        status = shmt_result_read(node, &entry->result, place->err);
    shmt_text_free(&flow);
    shmt_arena_free(arena);
    return status;
}
