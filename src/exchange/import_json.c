/* SPDX-License-Identifier: MIT */
/*
 * import_json: what all importers need: places for messages, lists of values,
 * names, and one result of a run: its configuration, its samples, and what an
 * export of ours says in our own words.
 */
#include "exchange/import_json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "yaml/yaml.h"

enum { ORIGIN_BYTES = 56 << 10 };      /* within a journal's record */

struct shmt_import_place
shmt_import_member(const struct shmt_import_place *place, const char *key)
{
    return (struct shmt_import_place){.import = place->import,
                                      .err = place->err, .parent = place,
                                      .key = key};
}

struct shmt_import_place
shmt_import_item(const struct shmt_import_place *place, size_t item)
{
    return (struct shmt_import_place){.import = place->import,
                                      .err = place->err, .parent = place,
                                      .item = item};
}

static void put_steps(const struct shmt_import_place *place,
                      struct shmt_text *text)
{
    if (place->parent == NULL)
        return;
    put_steps(place->parent, text);
    if (place->key == NULL)
        shmt_text_addf(text, "[%zu]", place->item);
    else
        shmt_text_addf(text, "%s%.80s",
                       place->parent->parent == NULL ? "" : ".", place->key);
}

static void put_place(const struct shmt_import_place *place,
                      struct shmt_text *text)
{
    shmt_text_add(text, place->import->file);
    if (place->parent != NULL)
        shmt_text_add(text, ": ");
    put_steps(place, text);
}

const char *shmt_import_where(const struct shmt_import_place *place)
{
    struct shmt_text text = {0};
    const char *where;

    put_place(place, &text);
    where = shmt_arena_copy(place->import->arena, shmt_text_string(&text),
                            text.length);
    shmt_text_free(&text);
    return where;
}

enum shmtune_status shmt_import_refuse(const struct shmt_import_place *place,
                                       const char *format, ...)
{
    struct shmt_text text = {0};
    char message[512];
    va_list arguments;

    if (place->err == NULL)
        return SHMTUNE_INVALID_FILE;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    for (char *c = message; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' ';
    put_place(place, &text);
    shmt_error_set(place->err, SHMTUNE_INVALID_FILE, "%s: %s",
                   shmt_text_string(&text), message);
    shmt_text_free(&text);
    return SHMTUNE_INVALID_FILE;
}

static const char *type_text(json_type type)
{
    switch (type) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a number";
    case JSON_TRUE: case JSON_FALSE: return "true or false";
    default: return "null";
    }
}

enum shmtune_status shmt_import_need(const struct shmt_import_place *place,
                                     const json_t *object, const char *key,
                                     json_type type, const json_t **out)
{
    const json_t *const found = json_object_get(object, key);
    const struct shmt_import_place below = shmt_import_member(place, key);

    if (found == NULL)
        return shmt_import_refuse(place, "\"%s\" is missing", key);
    if (json_typeof(found) != type)
        return shmt_import_refuse(&below, "found %s, expected %s",
                                  type_text(json_typeof(found)),
                                  type_text(type));
    *out = found;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_import_copy(const struct shmt_import_place *place,
                                     const char *text, const char **out)
{
    *out = shmt_arena_copy(place->import->arena, text, strlen(text));
    return *out == NULL ? shmt_error_memory(place->err) : SHMTUNE_OK;
}

/* Checks that our specs can hold the text as a word. */
static enum shmtune_status check_word(const struct shmt_import_place *place,
                                      const char *word)
{
    const size_t size = strlen(word);
    bool fine = size > 0 && size <= 64;
    size_t length;
    uint32_t code;

    for (size_t k = 0; k < size && fine; k += length) {
        length = shmt_utf8_decode(word + k, size - k, &code);
        fine = length > 0 && code >= 0x20 && shmt_utf8_printable(code);
    }
    if (fine)
        return SHMTUNE_OK;
    return shmt_import_refuse(place,
                              "the word \"%.80s\" cannot be a value: expected "
                              "printable characters on one line, 1 to 64 "
                              "bytes", word);
}

enum shmtune_status shmt_import_value(const struct shmt_import_place *place,
                                      const json_t *json,
                                      struct shmt_value *out)
{
    enum shmtune_status status;
    const char *word;

    switch (json_typeof(json)) {
    case JSON_INTEGER:
        *out = (struct shmt_value){.type = SHMT_VALUE_INT,
                                   .i = json_integer_value(json)};
        return SHMTUNE_OK;
    case JSON_TRUE:
    case JSON_FALSE:
        *out = (struct shmt_value){.type = SHMT_VALUE_INT,
                                   .i = json_is_true(json)};
        return SHMTUNE_OK;
    case JSON_REAL:
        *out = (struct shmt_value){.type = SHMT_VALUE_REAL,
                                   .r = json_real_value(json)};
        return SHMTUNE_OK;
    case JSON_STRING:
        status = check_word(place, json_string_value(json));
        if (status == SHMTUNE_OK)
            status = shmt_import_copy(place, json_string_value(json), &word);
        if (status == SHMTUNE_OK)
            *out = (struct shmt_value){.type = SHMT_VALUE_WORD, .w = word};
        return status;
    default:
        return shmt_import_refuse(place,
                                  "found %s, expected a number or a word",
                                  type_text(json_typeof(json)));
    }
}

static int compare_values(const void *a, const void *b)
{
    const struct shmt_value *x = a, *y = b;

    if (x->type == SHMT_VALUE_WORD)
        return strcmp(x->w, y->w);
    if (x->type == SHMT_VALUE_REAL)
        return (x->r > y->r) - (x->r < y->r);
    return (x->i > y->i) - (x->i < y->i);
}

static enum shmtune_status
refuse_duplicates(const struct shmt_import_place *place,
                  const struct shmt_import_list *list)
{
    struct shmt_value *sorted = malloc((list->count + 1) * sizeof *sorted);
    enum shmtune_status status = SHMTUNE_OK;

    if (sorted == NULL)
        return shmt_error_memory(place->err);
    memcpy(sorted, list->values, list->count * sizeof *sorted);
    qsort(sorted, list->count, sizeof *sorted, compare_values);
    for (size_t k = 1; k < list->count && status == SHMTUNE_OK; k++) {
        if (compare_values(&sorted[k - 1], &sorted[k]) != 0)
            continue;
        if (list->type == SHMT_VALUE_WORD)
            status = shmt_import_refuse(place, "the value '%s' occurs twice",
                                        sorted[k].w);
        else if (list->type == SHMT_VALUE_REAL)
            status = shmt_import_refuse(place, "the value %g occurs twice",
                                        sorted[k].r);
        else
            status = shmt_import_refuse(place, "the value %lld occurs twice",
                                        (long long)sorted[k].i);
    }
    free(sorted);
    return status;
}

bool shmt_import_unify(struct shmt_value *values, size_t count,
                       enum shmt_value_type *type, bool *mixed)
{
    bool words = false, reals = false, ints = false;

    for (size_t k = 0; k < count; k++) {
        words |= values[k].type == SHMT_VALUE_WORD;
        reals |= values[k].type == SHMT_VALUE_REAL;
        ints |= values[k].type == SHMT_VALUE_INT;
    }
    for (size_t k = 0; reals && k < count; k++)
        if (values[k].type == SHMT_VALUE_INT)
            values[k] = (struct shmt_value){.type = SHMT_VALUE_REAL,
                                            .r = (double)values[k].i};
    *type = words ? SHMT_VALUE_WORD
                  : reals ? SHMT_VALUE_REAL : SHMT_VALUE_INT;
    *mixed = reals && ints;
    return !words || !(reals || ints);
}

/* An array of JSON, as a list; how it is written goes to `look`. */
static enum shmtune_status read_array(const struct shmt_import_place *place,
                                      const json_t *json,
                                      struct shmt_import_list *out,
                                      struct shmt_import_parameter *look)
{
    const size_t count = json_array_size(json);
    enum shmtune_status status = SHMTUNE_OK;

    if (count > SHMT_SPACE_VALUES)
        return shmt_import_refuse(place, "%zu values, at most %d are "
                                         "possible", count,
                                  SHMT_SPACE_VALUES);
    out->count = count;
    out->values = shmt_arena_alloc(place->import->arena, count,
                                   sizeof *out->values);
    if (out->values == NULL)
        return shmt_error_memory(place->err);
    for (size_t k = 0; k < count && status == SHMTUNE_OK; k++) {
        const struct shmt_import_place item = shmt_import_item(place, k);

        status = shmt_import_value(&item, json_array_get(json, k),
                                   &out->values[k]);
        look->truths |= json_is_boolean(json_array_get(json, k));
    }
    if (status == SHMTUNE_OK &&
        !shmt_import_unify(out->values, count, &out->type, &look->mixed))
        status = shmt_import_refuse(place, "words and numbers in one list");
    return status;
}

enum shmtune_status shmt_import_domain(const struct shmt_import_place *place,
                                       const json_t *json,
                                       struct shmt_import_parameter *out)
{
    struct shmt_import_parameter look = {.default_value = SIZE_MAX};
    struct shmt_import_list list = {0};
    enum shmtune_status status;
    const char *where;

    if (json_is_array(json)) {
        status = read_array(place, json, &list, &look);
    } else if (json_is_string(json)) {
        where = shmt_import_where(place);
        if (where == NULL)
            return shmt_error_memory(place->err);
        status = shmt_import_parse_list(place->import->arena, where,
                                        json_string_value(json), &list,
                                        place->err);
    } else {
        status = shmt_import_refuse(place, "found %s, expected a list of "
                                           "values",
                                    type_text(json_typeof(json)));
    }
    if (status == SHMTUNE_OK && list.count == 0)
        status = shmt_import_refuse(place, "the list of values is empty");
    for (size_t k = 0; k < list.count && status == SHMTUNE_OK; k++) {
        if (list.type == SHMT_VALUE_WORD)
            status = check_word(place, list.values[k].w);
        else if (list.type == SHMT_VALUE_REAL && !isfinite(list.values[k].r))
            status = shmt_import_refuse(place, "a value is not finite");
    }
    if (status == SHMTUNE_OK)
        status = refuse_duplicates(place, &list);
    if (status != SHMTUNE_OK)
        return status;
    look.name = out->name;
    look.type = list.type;
    look.count = list.count;
    look.values = list.values;
    *out = look;
    return SHMTUNE_OK;
}

size_t shmt_import_find(const struct shmt_import *import, const char *name)
{
    for (size_t p = 0; p < import->parameter_count; p++)
        if (strcmp(import->parameters[p].name, name) == 0)
            return p;
    return SIZE_MAX;
}

enum shmtune_status shmt_import_name(const struct shmt_import_place *place,
                                     const char *text, const char **out)
{
    const size_t length = strlen(text);
    bool fine = length > 0 && length <= 64 &&
                !isdigit((unsigned char)text[0]);

    for (size_t k = 0; k < length && fine; k++)
        fine = isalnum((unsigned char)text[k]) || text[k] == '_';
    if (!fine)
        return shmt_import_refuse(place,
                                  "the name \"%.80s\" cannot be a "
                                  "parameter's: expected letters, digits and "
                                  "'_', at most 64", text);
    if (shmt_import_find(place->import, text) != SIZE_MAX)
        return shmt_import_refuse(place, "the parameter %s is there twice",
                                  text);
    return shmt_import_copy(place, text, out);
}

enum shmtune_status
shmt_import_make_parameters(const struct shmt_import_place *place,
                            size_t count)
{
    struct shmt_import *const import = place->import;

    if (count == 0 || count > SHMT_SPACE_PARAMETERS)
        return shmt_import_refuse(place, "%zu parameters, 1 to %d are "
                                         "possible", count,
                                  SHMT_SPACE_PARAMETERS);
    import->parameters = shmt_arena_alloc(import->arena, count,
                                          sizeof *import->parameters);
    return import->parameters == NULL ? shmt_error_memory(place->err)
                                      : SHMTUNE_OK;
}

enum shmtune_status
shmt_import_compile(const struct shmt_import *import, struct shmt_arena *arena,
                    const struct shmt_import_constraint *constraint,
                    struct shmt_expr **out, struct shmt_error *err)
{
    struct shmt_expr_symbol symbols[SHMT_SPACE_PARAMETERS];
    const struct shmt_expr_scope scope = {.count = import->parameter_count,
                                          .symbols = symbols};
    const struct shmt_place place = {constraint->where, 0, 0};

    for (size_t p = 0; p < import->parameter_count; p++)
        symbols[p] = (struct shmt_expr_symbol){import->parameters[p].name,
                                               import->parameters[p].type};
    return shmt_expr_compile(arena, place, constraint->text, &scope, out, err);
}

enum shmtune_status shmt_import_identifier(const struct shmt_import_place *at,
                                           const char *text,
                                           const char **out)
{
    char name[65];
    size_t used = 0;

    for (; *text != '\0' && used < 60; text++) {
        if (isalnum((unsigned char)*text) || *text == '_')
            name[used++] = *text;
        else if (used > 0 && name[used - 1] != '_')
            name[used++] = '_';
    }
    while (used > 0 && name[used - 1] == '_')
        used--;
    name[used] = '\0';
    if (used == 0 || isdigit((unsigned char)name[0])) {
        memmove(name + 2, name, used + 1);
        memcpy(name, "k_", 2);
    }
    return shmt_import_copy(at, name, out);
}

enum shmtune_status
shmt_import_name_of_file(const struct shmt_import_place *place)
{
    const char *const slash = strrchr(place->import->file, '/');
    char stem[64];

    snprintf(stem, sizeof stem, "%s",
             slash == NULL ? place->import->file : slash + 1);
    stem[strcspn(stem, ".")] = '\0';
    return shmt_import_identifier(place, stem, &place->import->name);
}

enum shmtune_status shmt_import_rest(const struct shmt_import_place *place,
                                     const json_t *json,
                                     const char *const *drop,
                                     const char **out)
{
    json_t *rest = json_object();
    enum shmtune_status status = SHMTUNE_OK;
    const char *key;
    json_t *value;
    char *text;

    if (rest == NULL)
        return shmt_error_memory(place->err);
    json_object_foreach((json_t *)json, key, value) {
        bool left_out = place->parent != NULL &&
                        shmt_import_find(place->import, key) != SIZE_MAX;

        for (size_t k = 0; drop[k] != NULL && !left_out; k++)
            left_out = strcmp(drop[k], key) == 0;
        if (!left_out && json_object_set(rest, key, value) != 0)
            status = shmt_error_memory(place->err);
    }
    *out = NULL;
    text = json_object_size(rest) == 0
               ? NULL : json_dumps(rest, JSON_COMPACT);
    if (status == SHMTUNE_OK && text != NULL && strlen(text) > ORIGIN_BYTES)
        status = shmt_import_refuse(place, "%zu bytes beside the "
                                           "configuration, at most %d fit "
                                           "into a journal", strlen(text),
                                    ORIGIN_BYTES);
    if (status == SHMTUNE_OK && text != NULL)
        status = shmt_import_copy(place, text, out);
    free(text);
    json_decref(rest);
    return status;
}

/* -- results --------------------------------------------------------------- */

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

/* Ascending, each once. */
static size_t unite_numbers(struct shmt_value *values, size_t count)
{
    size_t kept = 0;

    qsort(values, count, sizeof *values, compare_values);
    for (size_t k = 0; k < count; k++)
        if (kept == 0 || compare_values(&values[kept - 1], &values[k]) != 0)
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
    size_t count = import->entry_count;
    bool words;

    for (size_t k = 0; k < count; k++)
        values[k] = import->entries[k].values[p];
    if (!shmt_import_unify(values, count, &parameter->type,
                           &parameter->mixed))
        return shmt_import_refuse(place, "the parameter %s has words and "
                                         "numbers", parameter->name);
    words = parameter->type == SHMT_VALUE_WORD;
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
    parameter->truths &= parameter->type == SHMT_VALUE_INT &&
                         values[0].i >= 0 && values[count - 1].i <= 1;
    parameter->values = kept;
    parameter->count = count;
    parameter->default_value = SIZE_MAX;
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
