/* SPDX-License-Identifier: MIT */
/*
 * import_write: what becomes of an import: the number of its configurations, a
 * spec (kernel/1) of its space, and a journal of a kernel, which is matched by
 * the names of the parameters and by equal values.
 */
#include "exchange/import_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yaml/yaml.h"

/* -- the space ------------------------------------------------------------- */

struct reading {
    struct shmt_arena *arena;
    struct shmt_parameter parameters[SHMT_SPACE_PARAMETERS];
    struct shmt_space_definition definition;
};

static enum shmtune_status define(const struct shmt_import *import,
                                  struct reading *reading,
                                  struct shmt_error *err)
{
    struct shmt_expr **const constraints = shmt_arena_alloc(
        reading->arena, import->constraint_count + 1, sizeof *constraints);
    enum shmtune_status status = SHMTUNE_OK;

    if (constraints == NULL)
        return shmt_error_memory(err);
    for (size_t p = 0; p < import->parameter_count; p++) {
        const struct shmt_import_parameter *const one =
            &import->parameters[p];

        reading->parameters[p] = (struct shmt_parameter){
            .name = one->name, .type = one->type, .count = one->count,
            .values = one->values};
    }
    for (size_t c = 0; c < import->constraint_count && status == SHMTUNE_OK;
         c++)
        status = shmt_import_compile(import, reading->arena,
                                     &import->constraints[c], &constraints[c],
                                     err);
    reading->definition = (struct shmt_space_definition){
        .parameter_count = import->parameter_count,
        .parameters = reading->parameters,
        .constraint_count = import->constraint_count,
        .constraints = constraints,
        .limits = import->limits,
    };
    return status;
}

/* Names the first condition after which no configuration is left. */
static enum shmtune_status refuse_empty(const struct shmt_import *import,
                                        const struct reading *reading,
                                        struct shmt_error *err)
{
    size_t last = import->constraint_count;
    struct shmt_space_stage *stages =
        shmt_arena_alloc(reading->arena, last + 1, sizeof *stages);

    if (stages != NULL &&
        shmt_space_funnel(&reading->definition, stages, NULL) == SHMTUNE_OK)
        for (size_t c = last; c-- > 1;)
            if (stages[c].exact && stages[c].count == 0)
                last = c;
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s: with it no configuration is left; in `%.200s`",
                          import->constraints[last - 1].where,
                          import->constraints[last - 1].text);
}

enum shmtune_status shmt_import_count(const struct shmt_import *import,
                                      uint64_t *count, bool *drawn,
                                      struct shmt_error *err)
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
    if (status == SHMTUNE_OK && drawn != NULL)
        *drawn = shmt_space_is_drawn(space);
    shmt_space_free(space);
    shmt_arena_free(reading.arena);
    return status;
}

/* -- the spec -------------------------------------------------------------- */

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
    struct shmt_value values[SHMT_SPACE_PARAMETERS];
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_arena *arena;
    struct shmt_expr *expr;

    *given = *hold = import->parameter_count > 0;
    for (size_t p = 0; p < import->parameter_count; p++) {
        const struct shmt_import_parameter *one = &import->parameters[p];

        *given &= one->default_value != SIZE_MAX;
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
        status = shmt_import_compile(import, arena, &import->constraints[c],
                                     &expr, err);
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
    text->failed |= summary.failed;
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

/* -- the journal ----------------------------------------------------------- */

struct matching {
    const struct shmt_import *import;
    const struct shmt_kernel *kernel;
    size_t column[SHMT_SPACE_PARAMETERS];   /* of the kernel's parameters in
                                               the import's values */
    struct shmt_error *err;
};

static enum shmtune_status match_names(struct matching *matching)
{
    const struct shmt_import *const import = matching->import;
    const struct shmt_kernel *const kernel = matching->kernel;

    if (import->parameter_count != kernel->parameter_count)
        return shmt_error_set(matching->err, SHMTUNE_INVALID_FILE,
                              "%s has %zu parameters, %s has %zu",
                              import->file, import->parameter_count,
                              kernel->path, kernel->parameter_count);
    for (size_t k = 0; k < kernel->parameter_count; k++) {
        const char *const name = kernel->parameters[k].name;
        const size_t p = shmt_import_find(import, name);

        if (p == SIZE_MAX)
            return shmt_error_set(matching->err, SHMTUNE_INVALID_FILE,
                                  "%s has no parameter %s, which %s has",
                                  import->file, name, kernel->path);
        matching->column[k] = p;
    }
    return SHMTUNE_OK;
}

static enum shmtune_status choose(const struct matching *matching, size_t k,
                                  shmt_config *config)
{
    const struct shmt_kernel *const kernel = matching->kernel;
    const struct shmt_import *const import = matching->import;
    const uint32_t *const values =
        import->values + k * import->parameter_count;

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        struct shmt_value value =
            import->distinct[values[matching->column[p]]];
        char shown[80];

        /* A number among words. */
        if (kernel->parameters[p].type == SHMT_VALUE_WORD &&
            !shmt_import_as_word(import->scratch, &value))
            return shmt_error_memory(matching->err);
        if (shmt_kernel_find_value(&kernel->parameters[p], value, &config[p]))
            continue;
        if (value.type == SHMT_VALUE_WORD)
            snprintf(shown, sizeof shown, "%s", value.w);
        else if (value.type == SHMT_VALUE_REAL)
            shmt_text_put_real(value.r, 0, shown);
        else
            snprintf(shown, sizeof shown, "%lld", (long long)value.i);
        return shmt_error_set(matching->err, SHMTUNE_INVALID_FILE,
                              "%s: entry %zu: %s is %s, which is none of its "
                              "values in %s", import->file, k,
                              kernel->parameters[p].name, shown,
                              kernel->path);
    }
    return SHMTUNE_OK;
}

/* The number of configurations of the space.  Without constraints the space is
 * not known, and the number of recorded ones is used; so it is where only some
 * of its configurations could be drawn, unless those are more. */
static enum shmtune_status count_space(const struct matching *matching,
                                       const int64_t *problem,
                                       uint64_t *count)
{
    const struct shmt_kernel *const kernel = matching->kernel;
    struct shmt_space *space;
    enum shmtune_status status;

    *count = matching->import->entry_count;
    if (kernel->constraint_count == 0)
        return SHMTUNE_OK;
    status = shmt_kernel_space(kernel, problem, matching->import->limits,
                               &space, matching->err);
    if (status != SHMTUNE_OK)
        return status;
    if (!shmt_space_is_drawn(space) || *count < shmt_space_count(space))
        *count = shmt_space_count(space);
    shmt_space_free(space);
    return SHMTUNE_OK;
}

static enum shmtune_status write_header(const struct matching *matching,
                                        struct shmt_text *text)
{
    const struct shmt_import *const import = matching->import;
    const struct shmt_kernel *const kernel = matching->kernel;
    static const char *const protocols[] = {
        [SHMT_IMPORT_CACHE] = "kernel-tuner", [SHMT_IMPORT_RESULTS] = "t4",
        [SHMT_IMPORT_KTT] = "ktt", [SHMT_IMPORT_CLBLAST] = "clblast"};
    struct shmt_journal_header header = {.origin = import->origin};
    struct shmt_text name = {0};
    enum shmtune_status status;

    if (import->header != NULL) {
        shmt_text_add(text, import->header);
        return SHMTUNE_OK;
    }
    shmt_kernel_default_problem(kernel, header.problem);
    for (size_t d = 0; d < kernel->dimension_count &&
                       import->dimension_count == kernel->dimension_count; d++)
        header.problem[d] = import->dimensions[d];
    snprintf(header.kernel, sizeof header.kernel, "%s", kernel->name);
    memcpy(header.digest, kernel->digest, sizeof header.digest);
    /* Readers of journals refuse what does not print. */
    shmt_text_add_visible(&name, import->device[0] == '\0' ? "unknown"
                                                           : import->device);
    snprintf(header.device.name, sizeof header.device.name, "%.200s",
             shmt_text_string(&name));
    text->failed |= name.failed;
    shmt_text_free(&name);
    snprintf(header.protocol, sizeof header.protocol, "%s",
             protocols[import->kind]);
    status = count_space(matching, header.problem, &header.space_count);
    if (status == SHMTUNE_OK)
        shmt_journal_header_write(kernel, &header, text);
    return status;
}

enum { PART = 1 << 20 };

enum shmtune_status shmt_import_journal(const struct shmt_import *import,
                                        const struct shmt_kernel *kernel,
                                        struct shmt_import_cursor *cursor,
                                        struct shmt_text *text,
                                        struct shmt_error *err)
{
    struct matching matching = {.import = import, .kernel = kernel,
                                .err = err};
    shmt_config config[SHMT_SPACE_PARAMETERS];
    enum shmtune_status status = match_names(&matching);

    if (status == SHMTUNE_OK && cursor->entry == 0)
        status = write_header(&matching, text);
    for (const size_t begin = text->length;
         status == SHMTUNE_OK && cursor->entry < import->entry_count &&
         text->length - begin < PART;) {
        const char *const line = import->results.data + cursor->offset;

        status = choose(&matching, cursor->entry, config);
        if (status != SHMTUNE_OK)
            break;
        shmt_arena_clear(import->scratch);
        shmt_text_add(text, "- {config: ");
        shmt_kernel_config_write(kernel, config, text);
        shmt_text_add(text, line);
        cursor->offset += strlen(line) + 1;
        cursor->entry++;
    }
    cursor->ended = cursor->entry == import->entry_count;
    if (status == SHMTUNE_OK && text->failed)
        status = shmt_error_memory(err);
    return status;
}
