/* SPDX-License-Identifier: MIT */
/*
 * import_spec: writes an imported space as a spec (kernel/1).
 */
#include <inttypes.h>
#include <string.h>

#include "exchange/import.h"
#include "yaml/yaml.h"

/* Lists as long as this are written as a range where they are one. */
enum { LONG_LIST = 24 };

static bool is_range(const struct shmt_import_parameter *p, int64_t *step)
{
    if (p->type != SHMT_VALUE_INT || p->count < LONG_LIST)
        return false;
    *step = p->values[1].i - p->values[0].i;
    for (size_t k = 1; k < p->count; k++)
        if (p->values[k].i - p->values[k - 1].i != *step)
            return false;
    return *step > 0 && p->values[0].i >= -(INT64_C(1) << 40) &&
           p->values[p->count - 1].i <= INT64_C(1) << 40;
}

static void write_values(const struct shmt_import_parameter *p,
                         struct shmt_text *text)
{
    int64_t step;

    if (is_range(p, &step)) {
        shmt_text_addf(text, "{from: %" PRId64 ", to: %" PRId64,
                       p->values[0].i, p->values[p->count - 1].i);
        if (step > 1)
            shmt_text_addf(text, ", step: %" PRId64, step);
        shmt_text_add(text, "}");
        return;
    }
    shmt_text_add(text, "[");
    for (size_t k = 0; k < p->count; k++) {
        shmt_text_add(text, k == 0 ? "" : ", ");
        shmt_yaml_add_value(text, p->values[k]);
    }
    shmt_text_add(text, "]");
}

/* Whether all parameters have defaults, and the conditions let them pass. */
static enum shmtune_status try_defaults(const struct shmt_import *import,
                                        bool *given, bool *hold,
                                        struct shmt_error *err)
{
    struct shmt_expr_symbol symbols[SHMT_SPACE_PARAMETERS];
    struct shmt_value values[SHMT_SPACE_PARAMETERS];
    const struct shmt_expr_scope scope = {.count = import->parameter_count,
                                          .symbols = symbols};
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_arena *arena;
    struct shmt_expr *expr;

    *given = *hold = import->parameter_count > 0;
    for (size_t p = 0; p < import->parameter_count; p++) {
        const struct shmt_import_parameter *one = &import->parameters[p];

        *given &= one->default_value != SIZE_MAX;
        symbols[p] = (struct shmt_expr_symbol){one->name, one->type};
        values[p] = one->values[one->default_value == SIZE_MAX ? 0
                                                          : one->default_value];
    }
    if (!*given)
        return SHMTUNE_OK;
    arena = shmt_arena_new();
    if (arena == NULL)
        return shmt_error_memory(err);
    for (size_t c = 0; c < import->constraint_count && status == SHMTUNE_OK &&
                       *hold; c++) {
        const struct shmt_place place = {import->constraints[c].where, 0, 0};

        status = shmt_expr_compile(arena, place, import->constraints[c].text,
                                   &scope, &expr, err);
        if (status == SHMTUNE_OK &&
            shmt_expr_eval_bool(expr, values, hold, NULL) != SHMTUNE_OK)
            *hold = false;
    }
    shmt_arena_free(arena);
    return status;
}

static void write_parameters(const struct shmt_import *import, bool defaults,
                             struct shmt_text *text)
{
    shmt_text_add(text, "parameters:\n");
    for (size_t k = 0; k < import->parameter_count; k++) {
        const struct shmt_import_parameter *p = &import->parameters[k];

        shmt_text_add(text, "  ");
        shmt_yaml_add_string(text, p->name);
        shmt_text_add(text, ": {values: ");
        write_values(p, text);
        if (defaults) {
            shmt_text_add(text, ", default: ");
            shmt_yaml_add_value(text, p->values[p->default_value]);
        }
        shmt_text_add(text, "}\n");
    }
}

enum shmtune_status shmt_import_spec(const struct shmt_import *import,
                                     struct shmt_text *text, bool *defaults,
                                     struct shmt_error *err)
{
    static const char *const names[] = {"problem_x", "problem_y",
                                        "problem_z"};
    const char *file = strrchr(import->file, '/');
    struct shmt_text summary = {0};
    bool given, hold;
    enum shmtune_status status = try_defaults(import, &given, &hold, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_text_addf(&summary, "%s, imported from %s",
                   shmt_import_kind_text(import->kind),
                   file == NULL ? import->file : file + 1);
    shmt_text_addf(text, "format: kernel/1\nname: %s\nsummary: ",
                   import->name);
    shmt_yaml_add_string(text, shmt_text_string(&summary));
    shmt_text_add(text, "\n");
    shmt_text_free(&summary);
    if (import->dimension_count > 0)
        shmt_text_add(text, "problem:\n");
    for (size_t d = 0; d < import->dimension_count; d++)
        shmt_text_addf(text, "  %s: {default: %" PRId64 "%s}\n",
                       import->dimension_names[d] != NULL
                           ? import->dimension_names[d] : names[d],
                       import->dimensions[d],
                       import->dimensions[d] > INT32_MAX
                           ? ", max: 1099511627776" : "");
    write_parameters(import, given && hold, text);
    if (import->constraint_count > 0)
        shmt_text_add(text, "constraints:\n");
    for (size_t c = 0; c < import->constraint_count; c++) {
        shmt_text_add(text, "- ");
        shmt_yaml_add_string(text, import->constraints[c].text);
        shmt_text_add(text, "\n");
    }
    *defaults = !given || hold;
    return text->failed ? shmt_error_memory(err) : SHMTUNE_OK;
}
