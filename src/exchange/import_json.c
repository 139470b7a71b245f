/* SPDX-License-Identifier: MIT */
/*
 * import_json: loads JSON and has what all importers need: places for
 * messages, lists of values, names.
 */
#include "base/base.h"
#include "exchange/import_json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* An array of JSON, as a list; how it is written goes to `look`. */
static enum shmtune_status read_array(const struct shmt_import_place *place,
                                      const json_t *json,
                                      struct shmt_import_list *out,
                                      struct shmt_import_parameter *look)
{
    const size_t count = json_array_size(json);
    enum shmtune_status status = SHMTUNE_OK;
    bool words = false, reals = false, ints = false;

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
        words |= out->values[k].type == SHMT_VALUE_WORD;
        reals |= out->values[k].type == SHMT_VALUE_REAL;
        ints |= out->values[k].type == SHMT_VALUE_INT;
        look->truths |= json_is_boolean(json_array_get(json, k));
    }
    look->mixed = reals && ints;
    if (status == SHMTUNE_OK && words && (reals || ints))
        status = shmt_import_refuse(place, "words and numbers in one list");
    out->type = words ? SHMT_VALUE_WORD : reals ? SHMT_VALUE_REAL :
        SHMT_VALUE_INT;
    for (size_t k = 0; k < count && status == SHMTUNE_OK && reals; k++)
        if (out->values[k].type == SHMT_VALUE_INT)
            out->values[k] = (struct shmt_value){
                .type = SHMT_VALUE_REAL, .r = (double)out->values[k].i};
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
