/* SPDX-License-Identifier: MIT */
/*
 * schema_fixture: JSON Schema (draft 2020-12), as far as a schema of ours goes.
 */
#include "tests/support/schema_fixture.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void bail(const char *what, const char *which)
{
    printf("Bail out! schema: %s: %s\n", what, which);
    exit(EXIT_FAILURE);
}

json_t *schema_open(const char *path)
{
    json_error_t error;
    json_t *schema = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (schema == NULL)
        bail(path, error.text);
    return schema;
}

static const json_t *follow(const json_t *schema, const json_t *at)
{
    const json_t *ref;

    while ((ref = json_object_get(at, "$ref")) != NULL) {
        const char *to = json_string_value(ref);

        if (strncmp(to, "#/", 2) != 0)
            bail("an unknown reference", to);
        at = schema_at(schema, to + 2);
        if (at == NULL)
            bail("a reference to nothing", to);
    }
    return at;
}

const json_t *schema_at(const json_t *schema, const char *path)
{
    const json_t *at = schema;

    while (*path != '\0' && at != NULL) {
        const size_t length = strcspn(path, "/");
        char key[64];

        snprintf(key, sizeof key, "%.*s", (int)length, path);
        at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10))
                               : json_object_get(at, key);
        at = follow(schema, at);
        path += length + (path[length] == '/');
    }
    return at;
}

/* -- documents ------------------------------------------------------------ */

static json_t *of_scalar(const struct shmt_yaml *node)
{
    const char *text = node->text;
    char *end;
    long long whole;
    double real;

    if (node->quoted || *text == '\0')
        return json_string(text);
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_boolean(*text == 't');
    errno = 0;
    whole = strtoll(text, &end, 0);
    if (*end == '\0' && errno == 0)
        return json_integer(whole);
    real = strtod(text, &end);
    return *end == '\0' && isfinite(real) ? json_real(real)
                                          : json_string(text);
}

json_t *schema_of_yaml(const struct shmt_yaml *node)
{
    json_t *out;

    if (node->kind == SHMT_YAML_SCALAR)
        return of_scalar(node);
    out = node->kind == SHMT_YAML_MAPPING ? json_object() : json_array();
    for (size_t k = 0; k < node->count; k++) {
        json_t *item = schema_of_yaml(node->items[k]);

        if (node->kind == SHMT_YAML_MAPPING)
            json_object_set_new(out, node->keys[k]->text, item);
        else
            json_array_append_new(out, item);
    }
    return out;
}

/* -- validating ----------------------------------------------------------- */

/* One keyword with its value, of the mapping `of`. */
struct rule {
    const json_t *schema, *of, *value;
    const char *keyword;
};

static bool is_type(const char *word, const json_t *document)
{
    return strcmp(word, "object") == 0    ? json_is_object(document)
           : strcmp(word, "array") == 0   ? json_is_array(document)
           : strcmp(word, "string") == 0  ? json_is_string(document)
           : strcmp(word, "boolean") == 0 ? json_is_boolean(document)
           : strcmp(word, "integer") == 0 ? json_is_integer(document)
           : strcmp(word, "number") == 0  ? json_is_number(document)
           : strcmp(word, "null") == 0    ? json_is_null(document)
                                          : (bail("type", word), false);
}

static bool type_holds(const json_t *types, const json_t *document)
{
    size_t k;
    json_t *word;

    if (json_is_string(types))
        return is_type(json_string_value(types), document);
    json_array_foreach(types, k, word)
        if (is_type(json_string_value(word), document))
            return true;
    return false;
}

static bool is_among(const json_t *values, const json_t *document)
{
    size_t k;
    json_t *value;

    json_array_foreach(values, k, value)
        if (json_equal(value, document))
            return true;
    return false;
}

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    bool match;

    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        bail("pattern", pattern);
    match = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return match;
}

static bool texts_hold(const struct rule *rule, const char *text)
{
    const double bound = json_number_value(rule->value);

    if (strcmp(rule->keyword, "pattern") == 0)
        return matches(json_string_value(rule->value), text);
    return strcmp(rule->keyword, "minLength") == 0
               ? (double)strlen(text) >= bound
               : (double)strlen(text) <= bound;
}

static bool number_holds(const struct rule *rule, double number)
{
    const double bound = json_number_value(rule->value);

    return strcmp(rule->keyword, "minimum") == 0   ? number >= bound
           : strcmp(rule->keyword, "maximum") == 0 ? number <= bound
           : strcmp(rule->keyword, "exclusiveMinimum") == 0
               ? number > bound : number < bound;
}

static bool holds(const json_t *schema, const json_t *at,
                  const json_t *document);

static bool array_holds(const struct rule *rule, const json_t *document)
{
    const double bound = json_number_value(rule->value);
    const double size = (double)json_array_size(document);
    size_t k;
    json_t *item;

    if (strcmp(rule->keyword, "minItems") == 0)
        return size >= bound;
    if (strcmp(rule->keyword, "maxItems") == 0)
        return size <= bound;
    json_array_foreach(document, k, item)
        if (!holds(rule->schema, rule->value, item))
            return false;
    return true;
}

/* additionalProperties and propertyNames. */
static bool members_hold(const struct rule *rule, const json_t *document)
{
    const bool names = strcmp(rule->keyword, "propertyNames") == 0;
    const json_t *known = json_object_get(rule->of, "properties");
    const char *key;
    json_t *item;

    json_object_foreach((json_t *)document, key, item) {
        json_t *const name = json_string(key);
        const bool passed = !names && json_object_get(known, key) != NULL;
        const bool fine =
            passed || (json_is_boolean(rule->value)
                           ? json_is_true(rule->value)
                           : holds(rule->schema, rule->value,
                                   names ? name : item));

        json_decref(name);
        if (!fine)
            return false;
    }
    return true;
}

static bool object_holds(const struct rule *rule, const json_t *document)
{
    size_t k;
    json_t *item;
    const char *key;

    if (strcmp(rule->keyword, "maxProperties") == 0)
        return (double)json_object_size(document) <=
               json_number_value(rule->value);
    if (strcmp(rule->keyword, "required") == 0) {
        json_array_foreach(rule->value, k, item)
            if (json_object_get(document, json_string_value(item)) == NULL)
                return false;
        return true;
    }
    if (strcmp(rule->keyword, "properties") != 0)
        return members_hold(rule, document);
    json_object_foreach((json_t *)rule->value, key, item) {
        const json_t *const member = json_object_get(document, key);

        if (member != NULL && !holds(rule->schema, item, member))
            return false;
    }
    return true;
}

static bool any_holds(const struct rule *rule, const json_t *document)
{
    size_t k;
    json_t *one;

    json_array_foreach(rule->value, k, one)
        if (holds(rule->schema, one, document))
            return true;
    return false;
}

static bool is_word(const char *keyword, const char *const *words)
{
    while (*words != NULL && strcmp(*words, keyword) != 0)
        words++;
    return *words != NULL;
}

static bool rule_holds(const struct rule *rule, const json_t *document)
{
    static const char *const told[] = {"$schema", "$defs", "title",
                                       "description", NULL};
    static const char *const texts[] = {"pattern", "minLength", "maxLength",
                                        NULL};
    static const char *const numbers[] = {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", NULL};
    static const char *const arrays[] = {"items", "minItems", "maxItems",
                                         NULL};
    static const char *const objects[] = {
        "properties", "required", "additionalProperties", "propertyNames",
        "maxProperties", NULL};
    const char *const keyword = rule->keyword;

    if (is_word(keyword, told))
        return true;
    if (strcmp(keyword, "type") == 0)
        return type_holds(rule->value, document);
    if (strcmp(keyword, "enum") == 0)
        return is_among(rule->value, document);
    if (strcmp(keyword, "const") == 0)
        return json_equal((json_t *)rule->value, (json_t *)document);
    if (strcmp(keyword, "anyOf") == 0)
        return any_holds(rule, document);
    if (is_word(keyword, texts))
        return !json_is_string(document) ||
               texts_hold(rule, json_string_value(document));
    if (is_word(keyword, numbers))
        return !json_is_number(document) ||
               number_holds(rule, json_number_value(document));
    if (is_word(keyword, arrays))
        return !json_is_array(document) || array_holds(rule, document);
    if (is_word(keyword, objects))
        return !json_is_object(document) || object_holds(rule, document);
    bail("an unknown keyword", keyword);
    return false;
}

static bool holds(const json_t *schema, const json_t *at,
                  const json_t *document)
{
    struct rule rule = {.schema = schema};
    json_t *value;

    rule.of = follow(schema, at);
    json_object_foreach((json_t *)rule.of, rule.keyword, value) {
        rule.value = value;
        if (!rule_holds(&rule, document))
            return false;
    }
    return true;
}

bool schema_holds(const json_t *schema, const json_t *document)
{
    return holds(schema, schema, document);
}
