/* SPDX-License-Identifier: MIT */
/*
 * parameter: reads the parameters of a spec: their values, given as a
 * list or a range, their defaults, and whether their names can live
 * together.
 */
#include "kernel/read.h"

#include <string.h>
#include <strings.h>

/* If a list has a real, its integers become reals, as in Python 1 == 1.0. */
static enum shmtune_status unify_type(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *node,
                                      struct shmt_value *values,
                                      enum shmt_value_type *type)
{
    enum shmt_value_type found = values[0].type;

    for (size_t i = 1; i < node->count; i++) {
        if ((values[i].type == SHMT_VALUE_WORD) != (found == SHMT_VALUE_WORD))
            return shmt_yaml_refuse(
                node->items[i], reader->err,
                "a word and a number in one list of values; write all as "
                "numbers or all as words");
        if (values[i].type == SHMT_VALUE_REAL)
            found = SHMT_VALUE_REAL;
    }
    for (size_t i = 0; i < node->count; i++)
        if (found == SHMT_VALUE_REAL && values[i].type == SHMT_VALUE_INT)
            values[i] = (struct shmt_value){.type = SHMT_VALUE_REAL,
                                            .r = (double)values[i].i};
    *type = found;
    return SHMTUNE_OK;
}

static int compare_values(struct shmt_value a, struct shmt_value b)
{
    if (a.type == SHMT_VALUE_WORD)
        return strcmp(a.w, b.w);
    if (a.type == SHMT_VALUE_REAL)
        return (a.r > b.r) - (a.r < b.r);
    return (a.i > b.i) - (a.i < b.i);
}

static bool ascending(const struct shmt_value *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_values(values[i - 1], values[i]) >= 0)
            return false;
    return true;
}

static enum shmtune_status refuse_duplicates(struct shmt_kernel_reader *reader,
                                             const struct shmt_yaml *node,
                                             const struct shmt_value *values)
{
    /* Comparing all pairs is fine for short lists; long lists must be in
     * ascending order, as ranges are. */
    if (ascending(values, node->count))
        return SHMTUNE_OK;
    if (node->count > 4096)
        return shmt_yaml_refuse(node, reader->err,
                                "more than 4096 values out of order; list "
                                "them in ascending order");
    for (size_t i = 1; i < node->count; i++)
        for (size_t k = 0; k < i; k++)
            if (compare_values(values[i], values[k]) == 0)
                return shmt_yaml_refuse(
                    node->items[i], reader->err,
                    "the value %s is in the list already",
                    node->items[i]->text);
    return SHMTUNE_OK;
}

static enum shmtune_status read_list(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *node,
                                     struct shmt_parameter *parameter)
{
    struct shmt_value *values;
    enum shmtune_status status;

    if (node->count == 0 || node->count > SHMT_SPACE_VALUES)
        return shmt_yaml_refuse(node, reader->err,
                                "%zu values; 1 to %d are expected",
                                node->count, SHMT_SPACE_VALUES);
    values = shmt_arena_alloc(reader->kernel->arena, node->count,
                              sizeof *values);
    if (values == NULL)
        return shmt_error_memory(reader->err);
    for (size_t i = 0; i < node->count; i++) {
        status = shmt_yaml_value(node->items[i], &values[i], reader->err);
        if (status != SHMTUNE_OK)
            return status;
    }
    status = unify_type(reader, node, values, &parameter->type);
    if (status == SHMTUNE_OK)
        status = refuse_duplicates(reader, node, values);
    if (status != SHMTUNE_OK)
        return status;
    parameter->values = values;
    parameter->count = node->count;
    return SHMTUNE_OK;
}

static enum shmtune_status read_default(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *mapping,
                                        struct shmt_parameter *parameter)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "default");
    char found[SHMT_YAML_QUOTED];
    struct shmt_text values = {0};
    struct shmt_value value;
    shmt_config index;
    enum shmtune_status status;

    if (node == NULL && shmt_yaml_get(reader->root, "source") == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_need(mapping, "default", &node, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_value(node, &value, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    reader->defaults_given = true;
    if (shmt_kernel_find_value(parameter, value, &index)) {
        parameter->default_value = index;
        return SHMTUNE_OK;
    }
    shmt_yaml_quote(node->text, found);
    shmt_kernel_describe_values(parameter, &values);
    shmt_yaml_refuse(node, reader->err, "the default of %s, the %s %s, is not "
                     "among its values, the %ss %.400s", parameter->name,
                     value.type == SHMT_VALUE_WORD ? "word" : "number",
                     value.type == SHMT_VALUE_WORD ? found : node->text,
                     parameter->type == SHMT_VALUE_WORD ? "word" : "number",
                     shmt_text_string(&values));
    shmt_text_free(&values);
    return SHMTUNE_INVALID_FILE;
}

/* Whether its words are macros. */
static bool has_macros(const struct shmt_parameter *parameter)
{
    return parameter->type == SHMT_VALUE_WORD && !parameter->launch_only &&
           parameter->options == NULL;
}

/* A word becomes part of a macro's name. */
static enum shmtune_status check_words(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *node,
                                       const struct shmt_parameter *parameter)
{
    if (!has_macros(parameter) ||
        shmt_yaml_get(reader->root, "source") == NULL)
        return SHMTUNE_OK;
    for (size_t i = 0; i < parameter->count; i++)
        if (shmt_text_name_length(parameter->values[i].w)
            != strlen(parameter->values[i].w))
            return shmt_yaml_refuse(
                node->items[i], reader->err,
                "the word %s cannot end the name of a macro (%s_%s); use "
                "letters, digits and _", parameter->values[i].w,
                parameter->name, parameter->values[i].w);
    return SHMTUNE_OK;
}

/* 1 for true, 0 for false, -1 for another word. */
static int truth_of(const char *word)
{
    static const char *const truths[][2] = {
        {"false", "true"}, {"no", "yes"}, {"off", "on"}};

    for (size_t k = 0; k < sizeof truths / sizeof *truths; k++)
        for (int truth = 0; truth < 2; truth++)
            if (strcasecmp(word, truths[k][truth]) == 0)
                return truth;
    return -1;
}

/* A word reaches the source as its index in the list: with [true, false], `#if
 * FAST` would mean the opposite. */
static enum shmtune_status check_truths(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *node,
                                        const struct shmt_parameter *parameter)
{
    if (!has_macros(parameter) ||
        shmt_yaml_get(reader->root, "source") == NULL)
        return SHMTUNE_OK;
    for (size_t i = 0; i < parameter->count; i++)
        if (truth_of(parameter->values[i].w) != (i == 0))
            return SHMTUNE_OK;
    return shmt_yaml_refuse(
        node, reader->err,
        "a word reaches the source as its place in the list, so that %s=%s "
        "would be 0 there; %s", parameter->name, parameter->values[0].w,
        parameter->count == 1 ? "write 1" : "list it last, or write 0 and 1");
}

static enum shmtune_status read_scope(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *mapping,
                                      struct shmt_parameter *parameter)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "scope");
    const char *word;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_word(node, &word, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    parameter->launch_only = strcmp(word, "launch") == 0;
    if (!parameter->launch_only && strcmp(word, "compile") != 0)
        return shmt_yaml_refuse(
            node, reader->err,
            "scope \"%s\"; \"compile\" (a macro, the usual) or \"launch\" "
            "(not a macro) is expected", word);
    return SHMTUNE_OK;
}

static enum shmtune_status
read_parameter(struct shmt_kernel_reader *reader, const struct shmt_yaml *key,
               const struct shmt_yaml *node, void *item)
{
    static const char *const keys[] = {"values", "default", "scope", "option",
                                       "override", NULL};
    struct shmt_parameter parameter = {.name = key->text};
    const struct shmt_yaml *values;
    enum shmtune_status status =
        shmt_kernel_name_check(reader, key, "the parameter");

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(node, SHMT_YAML_MAPPING,
                                  "a parameter, {values: [1, 2], default: 1}",
                                  reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, keys, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "values", &values, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    if (values->kind == SHMT_YAML_MAPPING)
        status = shmt_kernel_range_read(reader, values, &parameter);
    else if ((status = shmt_yaml_expect(
                  values, SHMT_YAML_SEQUENCE,
                  "values, [1, 2, 4] or {from: 1, to: 8}",
                  reader->err)) == SHMTUNE_OK)
        status = read_list(reader, values, &parameter);
    if (status == SHMTUNE_OK)
        status = read_scope(reader, node, &parameter);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_option_read_values(reader, node, &parameter);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_override_read(reader, node, &parameter);
    if (status == SHMTUNE_OK)
        status = check_words(reader, values, &parameter);
    if (status == SHMTUNE_OK)
        status = read_default(reader, node, &parameter);
    if (status == SHMTUNE_OK)
        status = check_truths(reader, values, &parameter);
    if (status != SHMTUNE_OK)
        return status;
    parameter.ordered = parameter.type != SHMT_VALUE_WORD &&
                        ascending(parameter.values, parameter.count);
    *(struct shmt_parameter *)item = parameter;
    return SHMTUNE_OK;
}

/* Dimensions, parameters and the macros of words (MEMORY_static) share one
 * set of names. */
static enum shmtune_status refuse_clash(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *key,
                                        const struct shmt_parameter *words)
{
    const size_t length = strlen(words->name);

    if (words->type == SHMT_VALUE_WORD &&
        strncmp(key->text, words->name, length) == 0 &&
        key->text[length] == '_')
        for (size_t i = 0; i < words->count; i++)
            if (strcmp(key->text + length + 1, words->values[i].w) == 0)
                return shmt_yaml_refuse(
                    key, reader->err,
                    "the name %s is also the macro of the word %s of %s",
                    key->text, words->values[i].w, words->name);
    return SHMTUNE_OK;
}

/* Whether a word of `a` and a word of `b`, which has the longer name, make one
 * macro: b_c of A, c of A_b. */
static bool find_same_macro(const struct shmt_parameter *a,
                            const struct shmt_parameter *b, size_t *word_a,
                            size_t *word_b)
{
    const size_t length = strlen(a->name);
    const char *const rest = b->name + length + 1;
    size_t more;

    if (strncmp(b->name, a->name, length) != 0 || b->name[length] != '_')
        return false;
    more = strlen(rest);
    for (*word_a = 0; *word_a < a->count; ++*word_a) {
        const char *const word = a->values[*word_a].w;

        if (strncmp(word, rest, more) != 0 || word[more] != '_')
            continue;
        for (*word_b = 0; *word_b < b->count; ++*word_b)
            if (strcmp(word + more + 1, b->values[*word_b].w) == 0)
                return true;
    }
    return false;
}

/* The macros of the words of parameter p against those of the parameters before
 * it, and against the one that is ours. */
static enum shmtune_status refuse_macros(struct shmt_kernel_reader *reader,
                                         const struct shmt_yaml *parameters,
                                         size_t p)
{
    const struct shmt_parameter *const all = reader->kernel->parameters;
    const struct shmt_yaml *const values =
        shmt_yaml_get(parameters->items[p], "values");
    size_t one, other;

    if (!has_macros(&all[p]))
        return SHMTUNE_OK;
    if (strcmp(all[p].name, SHMT_KERNEL_OUR_NAME) == 0)
        return shmt_yaml_refuse(values->items[0], reader->err,
                                "the word %s of %s makes the macro %s_%s; "
                                "names that begin with " SHMT_KERNEL_OUR_NAME
                                "_ are shmtune's own: choose another name "
                                "for the parameter", all[p].values[0].w,
                                all[p].name, all[p].name, all[p].values[0].w);
    for (size_t q = 0; q < p; q++) {
        const struct shmt_yaml *const before =
            shmt_yaml_get(parameters->items[q], "values");

        if (!has_macros(&all[q]) ||
            (!find_same_macro(&all[p], &all[q], &one, &other) &&
             !find_same_macro(&all[q], &all[p], &other, &one)))
            continue;
        return shmt_yaml_refuse(
            values->items[one], reader->err,
            "the word %s of %s and the word %s of %s (line %d, column %d) "
            "both define the macro %s_%s; choose another name for one of "
            "them", all[p].values[one].w, all[p].name,
            all[q].values[other].w, all[q].name,
            before->items[other]->place.line,
            before->items[other]->place.column, all[p].name,
            all[p].values[one].w);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status refuse_clashes(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *parameters)
{
    const struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *problem = shmt_yaml_get(reader->root, "problem");
    const bool compiled = shmt_yaml_get(reader->root, "source") != NULL;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t p = 0; p < parameters->count; p++) {
        if (compiled)
            status = refuse_macros(reader, parameters, p);
        if (status != SHMTUNE_OK)
            return status;
        if (problem != NULL &&
            shmt_yaml_get(problem, parameters->keys[p]->text) != NULL)
            return shmt_yaml_refuse(
                parameters->keys[p], reader->err,
                "the name %s is a dimension and a parameter",
                parameters->keys[p]->text);
        for (size_t w = 0; w < kernel->parameter_count; w++) {
            status = refuse_clash(reader, parameters->keys[p],
                                  &kernel->parameters[w]);
            if (status != SHMTUNE_OK)
                return status;
        }
    }
    for (size_t d = 0; d < kernel->dimension_count; d++)
        for (size_t w = 0; w < kernel->parameter_count; w++) {
            status = refuse_clash(reader, problem->keys[d],
                                  &kernel->parameters[w]);
            if (status != SHMTUNE_OK)
                return status;
        }
    return status;
}

enum shmtune_status
shmt_kernel_parameter_read(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel_list list = {
        .mapping = reader->root, .key = "parameters", .needed = true,
        .kind = SHMT_YAML_MAPPING, .expected = "parameters",
        .items_are = "parameters", .least = 1, .most = SHMT_SPACE_PARAMETERS,
        .size = sizeof(struct shmt_parameter), .read = read_parameter
    };
    const enum shmtune_status status = shmt_kernel_read_list(reader, &list);

    if (status != SHMTUNE_OK)
        return status;
    reader->kernel->parameters = list.items;
    reader->kernel->parameter_count = list.count;
    return refuse_clashes(reader, list.node);
}
