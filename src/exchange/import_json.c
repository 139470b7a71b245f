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
                                      .reader = place->reader,
                                      .err = place->err, .parent = place,
                                      .key = key};
}

struct shmt_import_place
shmt_import_item(const struct shmt_import_place *place, size_t item)
{
    return (struct shmt_import_place){.import = place->import,
                                      .reader = place->reader,
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

    put_place(place, &text);
    return shmt_text_keep(&text, place->import->arena);
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
    put_place(place, &text);
    shmt_error_set(place->err, SHMTUNE_INVALID_FILE, "%s: %s",
                   shmt_text_string(&text), message);
    shmt_text_free(&text);
    return SHMTUNE_INVALID_FILE;
}

static const char *type_text(enum shmt_import_type type)
{
    switch (type) {
    case SHMT_IMPORT_OBJECT: return "an object";
    case SHMT_IMPORT_ARRAY: return "an array";
    case SHMT_IMPORT_STRING: return "a string";
    case SHMT_IMPORT_INTEGER: return "an integer";
    case SHMT_IMPORT_REAL: return "a number";
    case SHMT_IMPORT_TRUE: case SHMT_IMPORT_FALSE: return "true or false";
    default: return "null";
    }
}

enum shmtune_status shmt_import_need(const struct shmt_import_place *place,
                                     const struct shmt_import_node *object,
                                     const char *key,
                                     enum shmt_import_type type,
                                     const struct shmt_import_node **out)
{
    const struct shmt_import_node *const found = shmt_import_get(object, key);
    const struct shmt_import_place below = shmt_import_member(place, key);

    if (found == NULL)
        return shmt_import_refuse(place, "\"%s\" is missing", key);
    if (found->type != type)
        return shmt_import_refuse(&below, "found %s, expected %s",
                                  type_text(found->type),
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
                                      const struct shmt_import_node *json,
                                      struct shmt_value *out)
{
    enum shmtune_status status;

    switch (json->type) {
    case SHMT_IMPORT_INTEGER:
        *out = (struct shmt_value){.type = SHMT_VALUE_INT,
                                   .i = json->number};
        return SHMTUNE_OK;
    case SHMT_IMPORT_TRUE:
    case SHMT_IMPORT_FALSE:
        *out = (struct shmt_value){.type = SHMT_VALUE_INT,
                                   .i = json->type == SHMT_IMPORT_TRUE};
        return SHMTUNE_OK;
    case SHMT_IMPORT_REAL:
        *out = (struct shmt_value){.type = SHMT_VALUE_REAL,
                                   .r = shmt_import_number(json)};
        return SHMTUNE_OK;
    case SHMT_IMPORT_STRING:
        status = check_word(place, shmt_import_word(json));
        *out = (struct shmt_value){.type = SHMT_VALUE_WORD,
                                   .w = shmt_import_word(json)};
        return status;
    default:
        return shmt_import_refuse(place,
                                  "found %s, expected a number or a word",
                                  type_text(json->type));
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

bool shmt_import_as_word(struct shmt_arena *arena, struct shmt_value *value)
{
    struct shmt_text text = {0};

    if (value->type == SHMT_VALUE_WORD)
        return true;
    shmt_yaml_add_value(&text, *value);
    *value = (struct shmt_value){
        .type = SHMT_VALUE_WORD,
        .w = shmt_text_keep(&text, arena)};
    return value->w != NULL;
}

bool shmt_import_unify(struct shmt_arena *arena, struct shmt_import_list *list,
                       bool *mixed)
{
    bool words = false, reals = false, ints = false, fine = true;

    for (size_t k = 0; k < list->count; k++) {
        words |= list->values[k].type == SHMT_VALUE_WORD;
        reals |= list->values[k].type == SHMT_VALUE_REAL;
        ints |= list->values[k].type == SHMT_VALUE_INT;
    }
    for (size_t k = 0; k < list->count && fine; k++) {
        struct shmt_value *const value = &list->values[k];

        if (words)
            fine = shmt_import_as_word(arena, value);
        else if (reals && value->type == SHMT_VALUE_INT)
            *value = (struct shmt_value){.type = SHMT_VALUE_REAL,
                                         .r = (double)value->i};
    }
    list->type = words ? SHMT_VALUE_WORD
                       : reals ? SHMT_VALUE_REAL : SHMT_VALUE_INT;
    *mixed = words + reals + ints > 1;
    return fine;
}

/* An array of JSON, as a list; how it is written goes to `look`. */
static enum shmtune_status read_array(const struct shmt_import_place *place,
                                      const struct shmt_import_node *json,
                                      struct shmt_import_list *out,
                                      struct shmt_import_parameter *look)
{
    const struct shmt_import_node *one = json->first;
    const size_t count = json->count;
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
    for (size_t k = 0; k < count && status == SHMTUNE_OK;
         k++, one = one->next) {
        const struct shmt_import_place item = shmt_import_item(place, k);

        status = shmt_import_value(&item, one, &out->values[k]);
        if (status == SHMTUNE_OK && one->type == SHMT_IMPORT_STRING)
            status = shmt_import_copy(&item, out->values[k].w,
                                      &out->values[k].w);
        look->truths |= shmt_import_is_truth(one);
    }
    if (status == SHMTUNE_OK &&
        !shmt_import_unify(place->import->arena, out, &look->mixed))
        status = shmt_error_memory(place->err);
    return status;
}

enum shmtune_status shmt_import_domain(const struct shmt_import_place *place,
                                       const struct shmt_import_node *json,
                                       struct shmt_import_parameter *out)
{
    struct shmt_import_parameter look = {.default_value = SIZE_MAX};
    struct shmt_import_list list = {0};
    enum shmtune_status status;
    const char *where;

    if (shmt_import_is(json, SHMT_IMPORT_ARRAY)) {
        status = read_array(place, json, &list, &look);
    } else if (shmt_import_is(json, SHMT_IMPORT_STRING)) {
        where = shmt_import_where(place);
        if (where == NULL)
            return shmt_error_memory(place->err);
        status = shmt_import_parse_list(place->import->arena, where,
                                        shmt_import_word(json), &list,
                                        place->err);
    } else {
        status = shmt_import_refuse(place, "found %s, expected a list of "
                                           "values",
                                    type_text(json->type));
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
shmt_import_first_entry(const struct shmt_import_place *place,
                        const struct shmt_import_node *object,
                        const char *kernel)
{
    struct shmt_import *const import = place->import;
    enum shmtune_status status;

    if (import->parameter_count > 0)
        return SHMTUNE_OK;
    status = shmt_import_make_parameters(place, object->count);
    for (const struct shmt_import_node *one = object->first;
         one != NULL && status == SHMTUNE_OK; one = one->next) {
        struct shmt_import_parameter *const p =
            &import->parameters[import->parameter_count];

        status = shmt_import_name(place, one->key, &p->name);
        p->truths = shmt_import_is_truth(one);
        import->parameter_count += status == SHMTUNE_OK;
    }
    if (status == SHMTUNE_OK && kernel != NULL)
        status = shmt_import_identifier(place, kernel, &import->name);
    return status;
}

enum shmtune_status
shmt_import_compile(const struct shmt_import *import, struct shmt_arena *arena,
                    const struct shmt_import_constraint *constraint,
                    struct shmt_expr **out, struct shmt_error *err)
{
    struct shmt_expr_symbol symbols[SHMT_SPACE_PARAMETERS];
    const struct shmt_expr_scope scope = {.count = import->parameter_count,
                                          .symbols = symbols};
    const struct shmt_place place = {.file = constraint->where};

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

/* Whether `name` is one of a NULL-terminated list. */
static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list != NULL; list++)
        if (shmt_text_equal(*list, name))
            return true;
    return false;
}

/* A text of an entry lasts as long as the entry, one of the file as long as
 * the import. */
static enum shmtune_status keep_text(const struct shmt_import_place *place,
                                     const struct shmt_text *text,
                                     const char **out)
{
    *out = shmt_arena_copy(place->parent == NULL ? place->import->arena
                                                 : place->import->scratch,
                           text->data, text->length);
    return *out == NULL ? shmt_error_memory(place->err) : SHMTUNE_OK;
}

enum shmtune_status shmt_import_rest(const struct shmt_import_place *place,
                                     const struct shmt_import_node *json,
                                     const char *const *drop, const char *more,
                                     const char **out)
{
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    *out = NULL;
    for (const struct shmt_import_node *one = json->first; one != NULL;
         one = one->next) {
        if (is_one_of(one->key, drop) ||
            (place->parent != NULL &&
             shmt_import_find(place->import, one->key) != SIZE_MAX))
            continue;
        shmt_text_add(&text, text.length == 0 ? "{" : ",");
        shmt_import_write_member(one, &text);
    }
    if (more != NULL) {
        shmt_text_add(&text, text.length == 0 ? "{" : ",");
        shmt_text_add(&text, more);
    }
    if (text.length > 0)
        shmt_text_add(&text, "}");
    if (text.failed)
        status = shmt_error_memory(place->err);
    else if (text.length > ORIGIN_BYTES)
        status = shmt_import_refuse(place, "%zu bytes beside the "
                                           "configuration, at most %d fit "
                                           "into a journal", text.length,
                                    ORIGIN_BYTES);
    else if (text.length > 0)
        status = keep_text(place, &text, out);
    shmt_text_free(&text);
    return status;
}

enum { WORDS = 1024 };      /* different ones of a parameter without a list */

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

/* `values` and `seen` have room for all distinct values of the import.  Words
 * stay in the order of their appearance. */
static enum shmtune_status collect_one(const struct shmt_import_place *place,
                                       size_t p, struct shmt_value *values,
                                       bool *seen)
{
    struct shmt_import *const import = place->import;
    struct shmt_import_parameter *const parameter = &import->parameters[p];
    struct shmt_import_list list = {.values = values};
    struct shmt_value *kept;
    size_t count = 0;
    bool words;

    memset(seen, 0, import->distinct_count * sizeof *seen);
    for (size_t k = 0; k < import->entry_count; k++) {
        const uint32_t one = import->values[k * import->parameter_count + p];

        if (!seen[one])
            values[count++] = import->distinct[one];
        seen[one] = true;
    }
    list.count = count;
    if (!shmt_import_unify(import->arena, &list, &parameter->mixed))
        return shmt_error_memory(place->err);
    parameter->type = list.type;
    words = parameter->type == SHMT_VALUE_WORD;
    if (!words)
        count = unite_numbers(values, count);
    if (count > (words ? (size_t)WORDS : SHMT_SPACE_VALUES))
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
    const size_t room = import->distinct_count + 1;
    struct shmt_value *const values = malloc(room * sizeof *values);
    bool *const seen = malloc(room * sizeof *seen);
    enum shmtune_status status = SHMTUNE_OK;

    if (values == NULL || seen == NULL)
        status = shmt_error_memory(place->err);
    else if (import->entry_count == 0)
        status = shmt_import_refuse(place, "no results, and no list of "
                                           "values either");
    for (size_t p = 0; p < import->parameter_count && status == SHMTUNE_OK;
         p++)
        status = collect_one(place, p, values, seen);
    free(seen);
    free(values);
    return status;
}
