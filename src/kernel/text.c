/* SPDX-License-Identifier: MIT */
/*
 * text: configurations and problems as text: definitions for the
 * compiler, names of functions, lines for people, YAML flow mappings and
 * back.
 */
#include "kernel/read.h"

#include <inttypes.h>
#include <string.h>

void shmt_kernel_value_add(struct shmt_text *text, struct shmt_value value)
{
    if (value.type == SHMT_VALUE_WORD)
        shmt_text_add(text, value.w);
    else
        shmt_yaml_add_value(text, value);
}

void shmt_kernel_macro_add(const struct shmt_parameter *parameter,
                           struct shmt_value value, struct shmt_text *text)
{
    shmt_config index = 0;

    if (parameter->type != SHMT_VALUE_WORD) {
        shmt_kernel_value_add(text, value);
        return;
    }
    shmt_kernel_find_value(parameter, value, &index);
    shmt_text_addf(text, "%u", index);
}

static void add_parameter_definitions(const struct shmt_parameter *parameter,
                                      struct shmt_value value, bool given,
                                      struct shmt_text *text)
{
    shmt_config index = 0;

    if (parameter->options != NULL) {
        shmt_kernel_find_value(parameter, value, &index);
        if (parameter->options[index][0] != '\0')
            shmt_text_addf(text, "%s\n", parameter->options[index]);
        return;
    }
    /* A header that comes before may have the name for its own. */
    if (!given || !parameter->overrides) {
        shmt_text_addf(text, "-D%s=", parameter->name);
        shmt_kernel_macro_add(parameter, value, text);
        shmt_text_add(text, "\n");
    }
    for (size_t i = 0;
         parameter->type == SHMT_VALUE_WORD && i < parameter->count; i++)
        shmt_text_addf(text, "-D%s_%s=%zu\n", parameter->name,
                       parameter->values[i].w, i);
}

void shmt_kernel_definitions(const struct shmt_kernel_evaluated *evaluated,
                             bool given, struct shmt_text *text)
{
    const struct shmt_kernel *kernel = evaluated->kernel;
    const struct shmt_value *values = evaluated->values;
    static const char *const macros[SHMT_KERNEL_PARTS] = {
        [SHMT_KERNEL_REFERENCE] = SHMT_KERNEL_REFERENCE_MACRO,
        [SHMT_KERNEL_SETUP] = SHMT_KERNEL_SETUP_MACRO,
        [SHMT_KERNEL_COMPARE] = SHMT_KERNEL_COMPARE_MACRO,
    };

    if (macros[evaluated->part] != NULL)
        shmt_text_addf(text, "-D%s=1\n", macros[evaluated->part]);
    for (size_t d = 0; d < kernel->dimension_count; d++)
        if (kernel->dimensions[d].defined)
            shmt_text_addf(text, "-D%s=%" PRId64 "\n",
                           kernel->dimensions[d].name, values[d].i);
    if (evaluated->part == SHMT_KERNEL_REFERENCE &&
        kernel->reference_macros != NULL) {
        shmt_text_add(text, kernel->reference_macros);
        return;
    }
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (!kernel->parameters[p].launch_only)
            add_parameter_definitions(&kernel->parameters[p],
                                      values[kernel->dimension_count + p],
                                      given, text);
}

enum shmtune_status
shmt_kernel_entry(const struct shmt_kernel_evaluated *evaluated, size_t k,
                  struct shmt_text *text, struct shmt_error *err)
{
    const struct shmt_kernel *kernel = evaluated->kernel;
    const char *const entry = evaluated->launches[k].entry, *rest = entry;

    for (;;) {
        const char *open = strchr(rest, '{');
        const char *close = open == NULL ? NULL : strchr(open, '}');
        size_t symbol;

        if (open == NULL)
            break;
        if (close == NULL ||
            !shmt_kernel_name_find(kernel, open + 1,
                                   (size_t)(close - open - 1), &symbol))
            return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                  "%s: the entry \"%s\" names no parameter "
                                  "at \"%s\"", kernel->path, entry, open);
        shmt_text_add_bytes(text, rest, (size_t)(open - rest));
        shmt_kernel_value_add(text, evaluated->values[symbol]);
        rest = close + 1;
    }
    shmt_text_add(text, rest);
    return text->failed ? shmt_error_memory(err) : SHMTUNE_OK;
}

void shmt_kernel_describe_config(const struct shmt_kernel *kernel,
                                 const shmt_config *config,
                                 struct shmt_text *text)
{
    for (size_t p = 0; p < kernel->parameter_count; p++) {
        shmt_text_addf(text, "%s%s=", p == 0 ? "" : " ",
                       kernel->parameters[p].name);
        shmt_kernel_value_add(text, kernel->parameters[p].values[config[p]]);
    }
}

void shmt_kernel_describe_values(const struct shmt_parameter *parameter,
                                 struct shmt_text *text)
{
    enum { MOST = 16, SHOWN = 12 };
    const size_t count = parameter->count;
    const size_t shown = count <= MOST ? count : SHOWN;

    for (size_t i = 0; i < shown; i++) {
        shmt_text_add(text, i == 0 ? "" : ", ");
        shmt_kernel_value_add(text, parameter->values[i]);
    }
    if (shown < count) {
        shmt_text_addf(text, ", ... (%zu values up to ", count);
        shmt_kernel_value_add(text, parameter->values[count - 1]);
        shmt_text_add(text, ")");
    }
}

void shmt_kernel_describe_problem(const struct shmt_kernel *kernel,
                                  const int64_t *problem,
                                  struct shmt_text *text)
{
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(text, "%s%s=%" PRId64, d == 0 ? "" : " ",
                       kernel->dimensions[d].name, problem[d]);
}

void shmt_kernel_describe_at(const struct shmt_kernel *kernel,
                             const int64_t *problem, struct shmt_text *text)
{
    shmt_text_add(text, kernel->dimension_count > 0 ? " at " : "");
    shmt_kernel_describe_problem(kernel, problem, text);
}

void shmt_kernel_name_problem(const struct shmt_kernel *kernel,
                              const int64_t *problem, struct shmt_text *text)
{
    shmt_text_addf(text, "%s%s", kernel->name,
                   kernel->dimension_count > 0 ? ", " : "");
    shmt_kernel_describe_problem(kernel, problem, text);
}

void shmt_kernel_config_write(const struct shmt_kernel *kernel,
                              const shmt_config *config,
                              struct shmt_text *text)
{
    for (size_t p = 0; p < kernel->parameter_count; p++) {
        shmt_text_addf(text, "%s%s: ", p == 0 ? "{" : ", ",
                       kernel->parameters[p].name);
        shmt_yaml_add_value(text, kernel->parameters[p].values[config[p]]);
    }
    shmt_text_add(text, "}");
}

void shmt_kernel_problem_write(const struct shmt_kernel *kernel,
                               const int64_t *problem, struct shmt_text *text)
{
    shmt_text_add(text, "{");
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(text, "%s%s: %" PRId64, d == 0 ? "" : ", ",
                       kernel->dimensions[d].name, problem[d]);
    shmt_text_add(text, "}");
}

static enum shmtune_status read_one(const struct shmt_parameter *parameter,
                                    const struct shmt_yaml *node,
                                    shmt_config *out, struct shmt_error *err)
{
    struct shmt_text values = {0};
    struct shmt_value value;
    enum shmtune_status status = shmt_yaml_value(node, &value, err);

    if (status != SHMTUNE_OK)
        return status;
    if (shmt_kernel_find_value(parameter, value, out))
        return SHMTUNE_OK;
    shmt_kernel_describe_values(parameter, &values);
    shmt_yaml_refuse(node, err, "%.64s is not a value of %s, which has %.400s",
                     node->text, parameter->name, shmt_text_string(&values));
    shmt_text_free(&values);
    return SHMTUNE_INVALID_FILE;
}

enum shmtune_status
shmt_kernel_config_read(const struct shmt_kernel *kernel,
                        const struct shmt_yaml *mapping, shmt_config *config,
                        struct shmt_error *err)
{
    shmt_config found[SHMT_SPACE_PARAMETERS];
    const char *names[SHMT_SPACE_PARAMETERS + 1] = {NULL};
    enum shmtune_status status = shmt_yaml_expect(
        mapping, SHMT_YAML_MAPPING, "a configuration", err);

    for (size_t p = 0; p < kernel->parameter_count; p++)
        names[p] = kernel->parameters[p].name;
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(mapping, names, err);
    for (size_t p = 0; status == SHMTUNE_OK && p < kernel->parameter_count;
         p++) {
        const struct shmt_yaml *node;

        status = shmt_yaml_need(mapping, names[p], &node, err);
        if (status == SHMTUNE_OK)
            status = read_one(&kernel->parameters[p], node, &found[p], err);
    }
    if (status == SHMTUNE_OK)
        memcpy(config, found, kernel->parameter_count * sizeof *config);
    return status;
}

enum shmtune_status
shmt_kernel_problem_read(const struct shmt_kernel *kernel,
                         const struct shmt_yaml *mapping, int64_t *problem,
                         struct shmt_error *err)
{
    int64_t found[SHMT_KERNEL_DIMENSIONS];
    const char *names[SHMT_KERNEL_DIMENSIONS + 1] = {NULL};
    enum shmtune_status status =
        shmt_yaml_expect(mapping, SHMT_YAML_MAPPING,
                         "a size, {DIMENSION: NUMBER}", err);

    for (size_t d = 0; d < kernel->dimension_count; d++)
        names[d] = kernel->dimensions[d].name;
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(mapping, names, err);
    for (size_t d = 0; status == SHMTUNE_OK && d < kernel->dimension_count;
         d++) {
        const struct shmt_dimension *dimension = &kernel->dimensions[d];
        const struct shmt_yaml *node = shmt_yaml_get(mapping, names[d]);

        found[d] = dimension->default_size;
        if (node != NULL)
            status = shmt_yaml_int(node, dimension->low, dimension->high,
                                   &found[d], err);
    }
    if (status == SHMTUNE_OK && kernel->dimension_count > 0)
        memcpy(problem, found, kernel->dimension_count * sizeof *problem);
    return status;
}
