/* SPDX-License-Identifier: MIT */
/*
 * init_shared: what the parameters of a draft may not come to together: arrays
 * in shared memory that are larger than there is, of any kernel of the source,
 * since all of it is compiled, and blocks of more threads than there are.
 * Called by init.c and init_write.c.
 */
#include "config.h"

#include <string.h>

#include "command/init.h"
#include "expr/expr.h"

/* -- expressions in parameters --------------------------------------------- */

static const char *find_name(const void *context, const char *name)
{
    const struct shmt_init_draft *const draft = context;

    for (size_t k = 0; k < draft->macro_count; k++)
        if (strcmp(draft->macros[k].name, name) == 0)
            return draft->macros[k].name;
    return NULL;
}

/* What it comes to by default, but for macro `changed`, which is `to`. */
static bool evaluate(const struct shmt_init_draft *draft, const char *said,
                     size_t changed, int64_t to, int64_t *out)
{
    const size_t room = draft->macro_count + draft->thread_count + 1;
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_expr_symbol *const symbols =
        arena == NULL ? NULL : shmt_arena_alloc(arena, room, sizeof *symbols);
    struct shmt_value *const values =
        symbols == NULL ? NULL
                        : shmt_arena_alloc(arena, room, sizeof *values);
    struct shmt_expr_scope scope = {.symbols = symbols};
    struct shmt_expr *expr;
    bool is = values != NULL;

    for (size_t k = 0; is && k < draft->macro_count; k++) {
        symbols[k] = (struct shmt_expr_symbol){draft->macros[k].name,
                                               SHMT_VALUE_INT};
        values[k].type = SHMT_VALUE_INT;
        if (!shmt_init_number(draft->macros[k].value, &values[k].i) ||
            k == changed)
            values[k].i = to;
    }
    for (size_t k = 0; is && k < draft->thread_count; k++) {
        symbols[draft->macro_count + k] = (struct shmt_expr_symbol){
            draft->threads[k].name, SHMT_VALUE_INT};
        values[draft->macro_count + k] = (struct shmt_value){
            .type = SHMT_VALUE_INT, .i = draft->threads[k].value};
    }
    scope.count = room - 1;
    is = is && shmt_expr_compile(arena, (struct shmt_place){.file = ""}, said,
                                 &scope, &expr, NULL) == SHMTUNE_OK &&
         shmt_expr_eval_int(expr, values, out, NULL) == SHMTUNE_OK;
    shmt_arena_free(arena);
    return is;
}

static bool names(const char *said, const char *name)
{
    return shmt_text_mentions(said, name, 1) > 0;
}

/* How many of the parameters stand in it. */
static size_t count_parameters(const struct shmt_init_draft *draft,
                               const char *said)
{
    size_t count = 0;

    for (size_t k = 0; k < draft->macro_count; k++)
        count += names(said, draft->macros[k].name);
    for (size_t k = 0; k < draft->thread_count; k++)
        count += names(said, draft->threads[k].name);
    return count;
}

/* -- arrays ---------------------------------------------------------------- */

/* Keeps what the arrays take, unless that is no question of a parameter. */
static void keep(struct shmt_init_draft *draft,
                 const struct shmt_source_shared *arrays)
{
    const struct shmt_source_names known = {find_name, draft, NULL,
                                            shmt_init_least_bytes};
    struct shmt_text text = {0};
    int64_t now;
    const char *kept = NULL;
    bool is =
        shmt_source_extent(&draft->source, arrays->bytes, arrays->line, 0,
                           &known, &text) &&
        !text.failed && count_parameters(draft, shmt_text_string(&text)) > 0 &&
        evaluate(draft, shmt_text_string(&text), SIZE_MAX, 0, &now) &&
        now <= SHMT_INIT_SHARED;

    for (size_t k = 0; is && k < draft->array_count; k++)
        is = strcmp(draft->arrays[k], shmt_text_string(&text)) != 0;
    if (is)
        kept = shmt_text_keep(&text, draft->arena);
    if (kept != NULL)
        draft->arrays[draft->array_count++] = kept;
    shmt_text_free(&text);
}

/* The largest value, at most, with which all arrays are there. */
static int64_t most_of(const struct shmt_init_draft *draft, size_t macro,
                       int64_t value)
{
    for (int64_t power = 1; power <= 4 * value; power *= 2)
        for (size_t k = 0; power > value && k < draft->array_count; k++) {
            int64_t bytes;

            if (names(draft->arrays[k], draft->macros[macro].name) &&
                evaluate(draft, draft->arrays[k], macro, power, &bytes) &&
                bytes > SHMT_INIT_SHARED)
                return power - 1;
        }
    return INT64_MAX;
}

enum shmtune_status shmt_init_find_arrays(struct shmt_init_draft *draft,
                                          struct shmt_error *err)
{
    const struct shmt_source_shared *arrays;
    size_t count;
    const enum shmtune_status status = shmt_source_shared_arrays(
        draft->arena, draft->text, &arrays, &count, err);

    if (status != SHMTUNE_OK)
        return status;
    draft->arrays = shmt_arena_alloc(draft->arena, count + 1,
                                     sizeof *draft->arrays);
    if (draft->arrays == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < count; k++)
        keep(draft, &arrays[k]);
    if (shmt_arena_failed(draft->arena))
        return shmt_error_memory(err);
    for (size_t k = 0; k < draft->macro_count; k++) {
        int64_t value, most;

        if (!shmt_init_number(draft->macros[k].value, &value) || value <= 0 ||
            value > INT32_MAX)
            continue;
        most = most_of(draft, k, value);
        if (most < draft->macros[k].most)
            draft->macros[k].most = most;
    }
    return SHMTUNE_OK;
}

/* -- constraints ----------------------------------------------------------- */

/* The threads of the block by default; 0: not known. */
static int64_t threads_of(const struct shmt_init_draft *draft)
{
    int64_t threads = 1, extent;

    for (int axis = 0; axis < 3 && draft->extents[axis] != NULL; axis++)
        threads = evaluate(draft, draft->extents[axis], SIZE_MAX, 0, &extent)
                      ? threads * extent : 0;
    return threads;
}

void shmt_init_add_constraints(const struct shmt_init_draft *draft,
                               struct shmt_text *text)
{
    const char **const names = shmt_arena_alloc(
        draft->arena, draft->macro_count + draft->thread_count + 1,
        sizeof *names);
    struct shmt_init_limits limits = {
        .names = names, .threads = threads_of(draft),
        .most = shmt_init_most_threads(draft->parts),
        .array_count = draft->array_count, .arrays = draft->arrays};

    if (names == NULL) {
        text->failed = true;
        return;
    }
    for (size_t k = 0; k < draft->macro_count; k++)
        names[limits.count++] = draft->macros[k].name;
    for (size_t k = 0; k < draft->thread_count; k++)
        names[limits.count++] = draft->threads[k].name;
    memcpy(limits.extents, draft->extents, sizeof limits.extents);
    shmt_init_add_limits(&limits, text);
}
