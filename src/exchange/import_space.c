/* SPDX-License-Identifier: MIT */
/*
 * import_space: builds the space of an import to count its configurations.  An
 * error in a condition is reported at its place in the imported file.
 */
#include "exchange/import.h"

struct reading {
    struct shmt_arena *arena;
    struct shmt_parameter parameters[SHMT_SPACE_PARAMETERS];
    struct shmt_space_definition definition;
};

static enum shmtune_status define(const struct shmt_import *import,
                                  struct reading *reading,
                                  struct shmt_error *err)
{
    struct shmt_expr_symbol symbols[SHMT_SPACE_PARAMETERS];
    const struct shmt_expr_scope scope = {.count = import->parameter_count,
                                          .symbols = symbols};
    struct shmt_expr **const constraints = shmt_arena_alloc(
        reading->arena, import->constraint_count + 1, sizeof *constraints);
    enum shmtune_status status = SHMTUNE_OK;

    if (constraints == NULL)
        return shmt_error_memory(err);
    for (size_t p = 0; p < import->parameter_count; p++) {
        const struct shmt_import_parameter *const one =
            &import->parameters[p];

        symbols[p] = (struct shmt_expr_symbol){one->name, one->type};
        reading->parameters[p] = (struct shmt_parameter){
            .name = one->name, .type = one->type, .count = one->count,
            .values = one->values};
    }
    for (size_t c = 0; c < import->constraint_count && status == SHMTUNE_OK;
         c++)
        status = shmt_expr_compile(
            reading->arena,
            (struct shmt_place){import->constraints[c].where, 0, 0},
            import->constraints[c].text, &scope, &constraints[c], err);
    reading->definition = (struct shmt_space_definition){
        .parameter_count = import->parameter_count,
        .parameters = reading->parameters,
        .constraint_count = import->constraint_count,
        .constraints = constraints,
    };
    return status;
}

/* Names the first condition after which no configuration is left. */
static enum shmtune_status refuse_empty(const struct shmt_import *import,
                                        const struct reading *reading,
                                        struct shmt_error *err)
{
    size_t last = import->constraint_count;

    for (size_t c = 1; c < last; c++) {
        uint64_t left;
        bool exact;

        if (shmt_space_funnel(&reading->definition, c, &left, &exact, NULL)
                == SHMTUNE_OK
            && exact && left == 0)
            last = c;
    }
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s: with it no configuration is left; in `%.200s`",
                          import->constraints[last - 1].where,
                          import->constraints[last - 1].text);
}

enum shmtune_status shmt_import_count(const struct shmt_import *import,
                                      uint64_t *count, struct shmt_error *err)
{
    struct reading reading = {.arena = shmt_arena_new()};
    struct shmt_space *space = NULL;
    enum shmtune_status status;

    if (reading.arena == NULL)
        return shmt_error_memory(err);
    status = define(import, &reading, err);
    if (status == SHMTUNE_OK)
        status = shmt_space_build(&reading.definition, &space, err);
    if (status == SHMTUNE_OK && shmt_space_count(space) == 0)
        status = refuse_empty(import, &reading, err);
    if (status == SHMTUNE_OK)
        *count = shmt_space_count(space);
    shmt_space_free(space);
    shmt_arena_free(reading.arena);
    return status;
}
