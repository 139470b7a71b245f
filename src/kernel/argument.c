/* SPDX-License-Identifier: MIT */
/*
 * argument: reads what a kernel is called with: buffers and arrays
 * passed by value (role, type, count; fill.c reads their fills, tolerance.c
 * their tolerances), scalars (type, value).  Pointers and structs are
 * packed.c's.
 */
#include "kernel/read.h"

#include <stdio.h>
#include <string.h>

/* The most elements of one buffer. */
static const int64_t largest_count = INT64_C(1) << 40;

static const char *const role_words[] = {
    "input", "output", "inout", "workspace", "value", "symbol", NULL
};

/* The keys that an argument may have: of any role (any other key is misspelt),
 * of a scalar, which has no role, and of each role. */
static const char *const argument_keys[] = {
    "type", "value", "role", "count", "fill", "range", "expect", "tolerance",
    "region", "zeroed", "symbol", "pointer", "offset", "struct", "tensor_map",
    "extents", "strides", "box", "swizzle", "interleave", "l2", "at",
    "texture", "memory", "pitch", "layered", "channels", "address", "border",
    "filter", "read", "normalized", "srgb", NULL};
static const char *const scalar_keys[] = {"type", "value", NULL};
static const char *const role_keys[][11] = {
    [SHMT_ROLE_INPUT] = {"type", "role", "count", "fill", "range", "at",
                         NULL},
    [SHMT_ROLE_OUTPUT] = {"type", "role", "count", "expect", "tolerance",
                          "region", "zeroed", "at", "symbol", NULL},
    [SHMT_ROLE_INOUT] = {"type", "role", "count", "fill", "range", "expect",
                         "tolerance", "region", "at", "symbol", NULL},
    [SHMT_ROLE_WORKSPACE] = {"type", "role", "count", "zeroed", "symbol",
                             NULL},
    [SHMT_ROLE_VALUE] = {"type", "role", "count", "fill", "range", NULL},
    [SHMT_ROLE_SYMBOL] = {"type", "role", "count", "fill", "range", "symbol",
                          NULL},
};

const char *shmt_role_word(enum shmt_role role)
{
    return role == SHMT_ROLE_SCALAR    ? "scalar"
           : role == SHMT_ROLE_POINTER ? "pointer"
           : role == SHMT_ROLE_STRUCT  ? "struct"
           : role == SHMT_ROLE_TENSOR_MAP ? "tensor_map"
           : role == SHMT_ROLE_TEXTURE ? "texture" : role_words[role];
}

bool shmt_role_is_buffer(enum shmt_role role)
{
    return role == SHMT_ROLE_INPUT || role == SHMT_ROLE_OUTPUT ||
           role == SHMT_ROLE_INOUT || role == SHMT_ROLE_WORKSPACE;
}

bool shmt_role_is_read(enum shmt_role role)
{
    return role == SHMT_ROLE_INPUT || role == SHMT_ROLE_SYMBOL;
}

/* Roles and types that CUDA has and a spec has not. */
static const struct {
    const char *word, *what, *remedy;
} unsupported[] = {
    {"texture", "textures as a role",
     "add an argument beside the input, {texture: NAME, extents: [...]}"},
    {"surface", "surfaces", "write the array as an output"},
    {"c64", "complex numbers", "declare twice as many f32"},
    {"complex64", "complex numbers", "declare twice as many f32"},
    {"c128", "complex numbers", "declare twice as many f64"},
    {"complex128", "complex numbers", "declare twice as many f64"},
};

enum shmtune_status shmt_kernel_word_read(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *node,
                                          const char *const *words,
                                          size_t *out)
{
    struct shmt_text list = {0};
    const char *word;
    enum shmtune_status status = shmt_yaml_word(node, &word, reader->err);

    if (status != SHMTUNE_OK)
        return status;
    for (size_t i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0) {
            *out = i;
            return SHMTUNE_OK;
        }
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++)
        if (strcmp(unsupported[i].word, word) == 0)
            return shmt_yaml_refuse(node, reader->err,
                                    "%s are not supported; %s",
                                    unsupported[i].what,
                                    unsupported[i].remedy);
    for (size_t i = 0; words[i] != NULL; i++)
        shmt_text_addf(&list, "%s%s", i == 0 ? "" : ", ", words[i]);
    status = shmt_yaml_refuse(node, reader->err,
                              "\"%s\"; one of %s is expected", word,
                              shmt_text_string(&list));
    shmt_text_free(&list);
    return status;
}

enum shmtune_status shmt_kernel_type_read(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *mapping,
                                          enum shmt_element *out)
{
    const char *words[SHMT_ELEMENT_COUNT + 1] = {NULL};
    const struct shmt_yaml *node;
    size_t index;
    enum shmtune_status status =
        shmt_yaml_need(mapping, "type", &node, reader->err);

    for (size_t i = 0; i < SHMT_ELEMENT_COUNT; i++)
        words[i] = shmt_element_word((enum shmt_element)i);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_word_read(reader, node, words, &index);
    if (status == SHMTUNE_OK)
        *out = (enum shmt_element)index;
    return status;
}

static enum shmtune_status read_scalar(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *mapping,
                                       struct shmt_argument *argument)
{
    const struct shmt_yaml *value;
    enum shmtune_status status =
        shmt_yaml_check_keys(mapping, scalar_keys, reader->err);

    argument->role = SHMT_ROLE_SCALAR;
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(mapping, "value", &value, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_read_expr(reader, value, &argument->value);
    return status;
}

/* The kernel's parameter, or the source's variable, is an array of exactly
 * `count` elements, so the source must know every dimension in it. */
static enum shmtune_status check_defined(struct shmt_kernel_reader *reader,
                                         const struct shmt_yaml *node,
                                         const struct shmt_argument *argument)
{
    const char *what = argument->symbol != NULL
                           ? "a variable of the source"
                           : "an array passed by value";
    const struct shmt_kernel *kernel = reader->kernel;

    for (size_t d = 0; d < kernel->dimension_count; d++)
        if (!kernel->dimensions[d].defined &&
            shmt_expr_uses(argument->count, d))
            return shmt_yaml_refuse(
                node, reader->err,
                "the count of %s uses the dimension %s, which the source does "
                "not know; give it \"define: true\"", what,
                kernel->dimensions[d].name);
    return SHMTUNE_OK;
}

static enum shmtune_status read_count(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *node,
                                      struct shmt_argument *argument)
{
    enum shmtune_status status;

    if (argument->role == SHMT_ROLE_WORKSPACE && argument->symbol == NULL)
        return shmt_kernel_read_expr(reader, node, &argument->count);
    status = shmt_kernel_read_problem_expr(
        reader, node,
        argument->role == SHMT_ROLE_VALUE
            ? "the count of an array passed by value"
        : argument->symbol != NULL
            ? "the count of a variable of the source"
            : "the count of an input or output", &argument->count);
    if (status == SHMTUNE_OK &&
        (argument->role == SHMT_ROLE_VALUE || argument->symbol != NULL))
        status = check_defined(reader, node, argument);
    return status;
}

/* The name of the variable; without one it is that of the argument with the
 * role symbol, and any other is none. */
static enum shmtune_status read_symbol(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *mapping,
                                       struct shmt_argument *argument)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "symbol");
    enum shmtune_status status = SHMTUNE_OK;

    if (argument->role == SHMT_ROLE_SYMBOL)
        argument->symbol = argument->name;
    if (node != NULL)
        status = shmt_yaml_text(node, SHMT_KERNEL_ENTRY, &argument->symbol,
                                reader->err);
    if (status == SHMTUNE_OK && node != NULL &&
        shmt_yaml_get(mapping, "at") != NULL)
        return shmt_yaml_refuse(node, reader->err,
                                "%s is a variable of the source, which lies "
                                "where the driver loads it; leave \"at\" out",
                                argument->name);
    return status;
}

static enum shmtune_status read_buffer(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *mapping,
                                       struct shmt_argument *argument)
{
    const struct shmt_yaml *node;
    size_t role = 0;
    enum shmtune_status status =
        shmt_yaml_need(mapping, "role", &node, reader->err);

    if (status == SHMTUNE_OK)
        status = shmt_kernel_word_read(reader, node, role_words, &role);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(mapping, role_keys[role], reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(mapping, "count", &node, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    argument->role = (enum shmt_role)role;
    status = read_symbol(reader, mapping, argument);
    if (status == SHMTUNE_OK)
        status = read_count(reader, node, argument);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_fill_read(reader, mapping, argument);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_expect_read(reader, mapping, argument);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_tolerance_read(reader, mapping, argument);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_region_read(reader, mapping, argument);
    node = shmt_yaml_get(mapping, "zeroed");
    if (status == SHMTUNE_OK && node != NULL)
        status = shmt_yaml_bool(node, &argument->zeroed, reader->err);
    if (status == SHMTUNE_OK && shmt_yaml_get(mapping, "at") != NULL)
        status = shmt_kernel_place_read(reader, mapping, argument);
    return status;
}

/* What stands in the mapping of an argument. */
static enum shmtune_status read_kind(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *node,
                                     struct shmt_argument *argument)
{
    enum shmtune_status status;

    if (shmt_yaml_get(node, "pointer") != NULL ||
        shmt_yaml_get(node, "struct") != NULL)
        return shmt_kernel_packed_read(reader, node, argument);
    if (shmt_yaml_get(node, "tensor_map") != NULL)
        return shmt_kernel_tensor_read(reader, node, argument);
    if (shmt_yaml_get(node, "texture") != NULL)
        return shmt_kernel_texture_read(reader, node, argument);
    status = shmt_kernel_type_read(reader, node, &argument->element);
    if (status != SHMTUNE_OK)
        return status;
    return shmt_yaml_get(node, "value") != NULL
               ? read_scalar(reader, node, argument)
               : read_buffer(reader, node, argument);
}

static enum shmtune_status
read_argument(struct shmt_kernel_reader *reader, const struct shmt_yaml *key,
              const struct shmt_yaml *node, void *item)
{
    struct shmt_argument argument = {.name = key->text};
    size_t symbol;
    enum shmtune_status status =
        shmt_kernel_name_check_form(reader, key, "the argument");

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(node, SHMT_YAML_MAPPING,
                                  "an argument, {type: f32, role: input, "
                                  "count: n}", reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, argument_keys, reader->err);
    if (status == SHMTUNE_OK)
        status = read_kind(reader, node, &argument);
    if (status != SHMTUNE_OK)
        return status;
    if (shmt_kernel_name_find(reader->kernel, key->text, strlen(key->text),
                              &symbol) &&
        (symbol >= reader->kernel->dimension_count ||
         argument.role != SHMT_ROLE_SCALAR))
        return shmt_yaml_refuse(
            key, reader->err, "the name %s is an argument and a %s",
            key->text, symbol < reader->kernel->dimension_count
                           ? "dimension; only a scalar may share it"
                           : "parameter; call the argument otherwise, its "
                             "name need not be the kernel's");
    *(struct shmt_argument *)item = argument;
    return SHMTUNE_OK;
}

/* No two arguments are one variable of the source, and there are not too
 * many. */
static enum shmtune_status
check_symbols(struct shmt_kernel_reader *reader,
              const struct shmt_kernel_list *list)
{
    const struct shmt_argument *arguments = reader->kernel->arguments;
    size_t count = 0;

    for (size_t k = 0; k < list->count; k++) {
        if (arguments[k].symbol == NULL)
            continue;
        for (size_t i = 0; i < k; i++)
            if (arguments[i].symbol != NULL &&
                strcmp(arguments[i].symbol, arguments[k].symbol) == 0)
                return shmt_yaml_refuse(
                    list->node->keys[k], reader->err,
                    "%s and %s are both the variable %s of the source",
                    arguments[i].name, arguments[k].name,
                    arguments[k].symbol);
        if (++count > SHMT_KERNEL_VARIABLES)
            return shmt_yaml_refuse(
                list->node->keys[k], reader->err,
                "more than %d arguments that are variables of the source",
                SHMT_KERNEL_VARIABLES);
    }
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_argument_read(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    struct shmt_kernel_list list = {
        .mapping = reader->root, .key = "arguments", .needed = true,
        .kind = SHMT_YAML_MAPPING, .expected = "arguments",
        .items_are = "arguments", .least = 1, .most = SHMT_KERNEL_ARGUMENTS,
        .size = sizeof(struct shmt_argument), .read = read_argument
    };
    enum shmtune_status status = shmt_kernel_read_list(reader, &list);

    if (status != SHMTUNE_OK)
        return status;
    kernel->arguments = list.items;
    kernel->argument_count = list.count;
    status = check_symbols(reader, &list);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_place_check(reader, list.node);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_packed_resolve(reader);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t i = 0; i < list.count; i++)
        if (kernel->arguments[i].role == SHMT_ROLE_OUTPUT ||
            kernel->arguments[i].role == SHMT_ROLE_INOUT)
            return SHMTUNE_OK;
    return shmt_yaml_refuse(list.node, reader->err,
                            "no argument has the role output or inout, so "
                            "that no candidate can be verified");
}

static enum shmtune_status refuse_number(struct shmt_kernel_reader *reader,
                                         const struct shmt_expr *expr,
                                         const char *what)
{
    const struct shmt_place place = shmt_expr_place(expr);

    return shmt_error_set(reader->err, SHMTUNE_INVALID_FILE, "%s:%d:%d: %s",
                          place.file, place.line, place.column, what);
}

static enum shmtune_status try_count(struct shmt_kernel_reader *reader,
                                     const struct shmt_argument *argument,
                                     struct shmt_kernel_evaluated *evaluated)
{
    const bool filled = argument->role != SHMT_ROLE_OUTPUT &&
                        argument->role != SHMT_ROLE_WORKSPACE;
    const size_t k = (size_t)(argument - reader->kernel->arguments);
    struct shmt_fill_values values;
    struct shmt_region region;
    char what[160];
    int64_t count;
    enum shmtune_status status = shmt_expr_next_int(
        argument->count, &evaluated->evaluation, &count, reader->err);

    if (status != SHMTUNE_OK)
        return status;
    if (count >= 1 && count <= largest_count) {
        if (filled)
            status = shmt_kernel_argument_fill(evaluated, k, &values,
                                               reader->err);
        if (status == SHMTUNE_OK && argument->expect.path != NULL)
            status = shmt_kernel_argument_expect(evaluated, k, &values,
                                                 reader->err);
        if (status == SHMTUNE_OK)
            status = shmt_kernel_argument_region(evaluated, k, &region,
                                                 reader->err);
        return status;
    }
    snprintf(what, sizeof what,
             "the count of %s is %lld; 1 to %lld elements are expected",
             argument->name, (long long)count, (long long)largest_count);
    return refuse_number(reader, argument->count, what);
}

static enum shmtune_status try_real(struct shmt_kernel_reader *reader,
                                    const struct shmt_argument *argument,
                                    struct shmt_kernel_evaluated *evaluated)
{
    struct shmt_value value;
    char what[160];
    double number;
    const enum shmtune_status status = shmt_expr_next(
        argument->value, &evaluated->evaluation, &value, reader->err);

    if (status != SHMTUNE_OK)
        return status;
    if (value.type == SHMT_VALUE_WORD)
        return refuse_number(reader, argument->value,
                             "a word where a number is needed");
    number = value.type == SHMT_VALUE_REAL ? value.r : (double)value.i;
    if (shmt_element_holds_real(argument->element, number))
        return SHMTUNE_OK;
    snprintf(what, sizeof what, "the value of %s is %.9g, outside its type %s",
             argument->name, number, shmt_element_word(argument->element));
    return refuse_number(reader, argument->value, what);
}

static enum shmtune_status try_whole(struct shmt_kernel_reader *reader,
                                     const struct shmt_argument *argument,
                                     struct shmt_kernel_evaluated *evaluated)
{
    const enum shmt_element element = argument->element;
    char what[160];
    int64_t number;
    const enum shmtune_status status = shmt_expr_next_int(
        argument->value, &evaluated->evaluation, &number, reader->err);

    if (status != SHMTUNE_OK || shmt_element_holds(element, number))
        return status;
    snprintf(what, sizeof what, "the value of %s is %lld, outside its type %s",
             argument->name, (long long)number, shmt_element_word(element));
    return refuse_number(reader, argument->value, what);
}

static enum shmtune_status try_scalar(struct shmt_kernel_reader *reader,
                                      const struct shmt_argument *argument,
                                      struct shmt_kernel_evaluated *evaluated)
{
    return shmt_element_is_real(argument->element)
               ? try_real(reader, argument, evaluated)
               : try_whole(reader, argument, evaluated);
}

/* Members that are numbers are tried as scalars; then all is laid out, which
 * tries the offsets. */
static enum shmtune_status try_packed(struct shmt_kernel_reader *reader,
                                      const struct shmt_argument *argument,
                                      struct shmt_kernel_evaluated *evaluated)
{
    const size_t which = (size_t)(argument - reader->kernel->arguments);
    unsigned char packed[SHMT_KERNEL_ARGUMENT_BYTES];
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t m = 0; m < argument->member_count; m++) {
        const struct shmt_argument_member *member = &argument->members[m];

        for (size_t v = 0; status == SHMTUNE_OK && v < member->count; v++) {
            const struct shmt_argument scalar = {
                .name = member->name, .element = member->element,
                .value = member->values[v]};

            status = try_scalar(reader, &scalar, evaluated);
        }
    }
    if (status == SHMTUNE_OK)
        status = shmt_kernel_argument_pack(evaluated, which, packed,
                                           reader->err);
    return status;
}

enum shmtune_status
shmt_kernel_argument_try(struct shmt_kernel_reader *reader,
                         struct shmt_kernel_evaluated *evaluated)
{
    const struct shmt_kernel *kernel = reader->kernel;
    struct shmt_argument_map map;
    struct shmt_argument_texture texture;

    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct shmt_argument *argument = &kernel->arguments[i];
        const enum shmtune_status status =
            argument->role == SHMT_ROLE_SCALAR
                ? try_scalar(reader, argument, evaluated)
            : shmt_argument_is_packed(argument)
                ? try_packed(reader, argument, evaluated)
            : argument->role == SHMT_ROLE_TENSOR_MAP
                ? shmt_kernel_argument_map(evaluated, i, &map, reader->err)
            : argument->role == SHMT_ROLE_TEXTURE
                ? shmt_kernel_argument_texture(evaluated, i, &texture,
                                               reader->err)
                : try_count(reader, argument, evaluated);

        if (status != SHMTUNE_OK)
            return status;
    }
    return SHMTUNE_OK;
}
