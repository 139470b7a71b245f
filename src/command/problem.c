/* SPDX-License-Identifier: MIT */
/*
 * problem: sizes and configurations as they are written on a command
 * line: "rows=1024,cols=512", "TILE=32,MEMORY=static"; or as tables show them,
 * with blanks between: "rows=1024 cols=512".
 */
#include "config.h"

#include "command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No size, and no index of a value. */
static const int64_t unset = INT64_MIN;
static const shmt_config unchosen = UINT16_MAX;

/* One NAME=VALUE of a list. */
struct item {
    const char *text;        /* for messages: the whole of it */
    int length;
    size_t name_length;
    char value[80];
};

/* As far as a comma, or a blank behind which another NAME= stands. */
static size_t length_of_item(const char *text)
{
    size_t length = strcspn(text, ", ");

    while (text[length] == ' ') {
        const size_t next = length + strspn(text + length, " ");
        const size_t name = shmt_text_name_length(text + next);

        if (name > 0 && text[next + name] == '=')
            return length;
        length = next + strcspn(text + next, ", ");
    }
    return length;
}

/* The item at *list, which moves on to the next, or to NULL. */
static bool next_item(const char **list, struct item *out)
{
    const char *text = *list + strspn(*list, " ");
    const size_t length = length_of_item(text);
    const size_t name = strcspn(text, "=,");
    size_t value;

    *list = text[length] == '\0' ? NULL : text + length + 1;
    *out = (struct item){.text = text, .length = (int)length,
                         .name_length = name};
    if (name >= length || text[name] != '=')
        return false;
    value = length - name - 1;
    if (value == 0 || value >= sizeof out->value)
        return false;
    memcpy(out->value, text + name + 1, value);
    return true;
}

static bool is_named(const struct item *item, const char *name)
{
    return strlen(name) == item->name_length &&
           memcmp(item->text, name, item->name_length) == 0;
}

static bool parse_int(const char *text, int64_t *out)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0)
        return false;
    *out = number;
    return true;
}

static enum shmtune_status refuse_dimension(const struct shmt_kernel *kernel,
                                            const struct item *item,
                                            struct shmt_error *err)
{
    struct shmt_text names = {0};

    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(&names, "%s%s=N", d == 0 ? "" : ",",
                       kernel->dimensions[d].name);
    shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                   "--size: \"%.*s\" is not DIMENSION=NUMBER with a "
                   "dimension of %s; \"%s\" is expected", item->length,
                   item->text, kernel->name, shmt_text_string(&names));
    shmt_text_free(&names);
    return SHMTUNE_INVALID_ARGUMENT;
}

static enum shmtune_status set_dimension(const struct shmt_kernel *kernel,
                                         const struct item *item,
                                         int64_t *problem,
                                         struct shmt_error *err)
{
    for (size_t d = 0; d < kernel->dimension_count; d++) {
        const struct shmt_dimension *dimension = &kernel->dimensions[d];
        int64_t size;

        if (!is_named(item, dimension->name))
            continue;
        if (problem[d] != unset)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--size: \"%.*s\": %s is given twice",
                                  item->length, item->text,
                                  dimension->name);
        if (!parse_int(item->value, &size) || size < dimension->low ||
            size > dimension->high)
            return shmt_error_set(
                err, SHMTUNE_INVALID_ARGUMENT,
                "--size: \"%.*s\"; %s of %s is a whole number from %lld to "
                "%lld", item->length, item->text, dimension->name,
                kernel->name, (long long)dimension->low,
                (long long)dimension->high);
        problem[d] = size;
        return SHMTUNE_OK;
    }
    return refuse_dimension(kernel, item, err);
}

enum shmtune_status shmt_command_parse_problem(const struct shmt_kernel *kernel,
                                               const char *text,
                                               int64_t *problem,
                                               struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t d = 0; d < kernel->dimension_count; d++)
        problem[d] = unset;
    while (status == SHMTUNE_OK && text != NULL) {
        struct item item;

        status = next_item(&text, &item)
                     ? set_dimension(kernel, &item, problem, err)
                     : refuse_dimension(kernel, &item, err);
    }
    for (size_t d = 0; d < kernel->dimension_count; d++)
        if (problem[d] == unset)
            problem[d] = kernel->dimensions[d].default_size;
    return status;
}

static bool value_is(struct shmt_value value, const char *text)
{
    int64_t number;
    char *end;

    if (value.type == SHMT_VALUE_WORD)
        return strcmp(value.w, text) == 0;
    if (value.type == SHMT_VALUE_INT)
        return parse_int(text, &number) && number == value.i;
    return strtod(text, &end) == value.r && *end == '\0';
}

static enum shmtune_status
refuse_setting(const struct shmt_parameter *parameter,
               const struct item *item, struct shmt_error *err)
{
    struct shmt_text values = {0};

    shmt_kernel_describe_values(parameter, &values);
    shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                   "--config: \"%.*s\": %s is not a value of %s, which has "
                   "%s", item->length, item->text,
                   item->value[0] == '\0' ? "nothing" : item->value,
                   parameter->name, shmt_text_string(&values));
    shmt_text_free(&values);
    return SHMTUNE_INVALID_ARGUMENT;
}

static enum shmtune_status
refuse_parameter(const struct shmt_kernel *kernel, const struct item *item,
                 struct shmt_error *err)
{
    struct shmt_text names = {0};

    for (size_t p = 0; p < kernel->parameter_count; p++)
        shmt_text_addf(&names, "%s%s", p == 0 ? "" : ", ",
                       kernel->parameters[p].name);
    shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                   "--config: \"%.*s\" is not PARAMETER=VALUE with a "
                   "parameter of %s, which has %s", item->length, item->text,
                   kernel->name, shmt_text_string(&names));
    shmt_text_free(&names);
    return SHMTUNE_INVALID_ARGUMENT;
}

static enum shmtune_status set_parameter(const struct shmt_kernel *kernel,
                                         const struct item *item,
                                         shmt_config *config,
                                         struct shmt_error *err)
{
    for (size_t p = 0; p < kernel->parameter_count; p++) {
        const struct shmt_parameter *parameter = &kernel->parameters[p];

        if (!is_named(item, parameter->name))
            continue;
        if (config[p] != unchosen)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--config: \"%.*s\": %s is given twice",
                                  item->length, item->text, parameter->name);
        for (size_t i = 0; i < parameter->count; i++)
            if (value_is(parameter->values[i], item->value)) {
                config[p] = (shmt_config)i;
                return SHMTUNE_OK;
            }
        return refuse_setting(parameter, item, err);
    }
    return refuse_parameter(kernel, item, err);
}

enum shmtune_status shmt_command_parse_config(const struct shmt_kernel *kernel,
                                              const char *text,
                                              shmt_config *config,
                                              struct shmt_error *err)
{
    shmt_config usual[SHMT_SPACE_PARAMETERS];
    enum shmtune_status status = SHMTUNE_OK;

    shmt_kernel_default(kernel, usual);
    for (size_t p = 0; p < kernel->parameter_count; p++)
        config[p] = unchosen;
    while (status == SHMTUNE_OK && text != NULL) {
        struct item item;

        item.value[0] = '\0';
        next_item(&text, &item);
        status = set_parameter(kernel, &item, config, err);
    }
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (config[p] == unchosen)
            config[p] = usual[p];
    return status;
}
