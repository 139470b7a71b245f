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

/* Bytes of arrays; threads of a block and of a warp. */
enum { SHARED_BYTES = 48 * 1024, THREADS = 1024, WARP = 32 };

/* -- expressions in parameters --------------------------------------------- */

static const char *find_name(const void *context, const char *name)
{
    const struct shmt_init_draft *const draft = context;

    for (size_t k = 0; k < draft->macro_count; k++)
        if (strcmp(draft->macros[k].name, name) == 0)
            return draft->macros[k].name;
    return NULL;
}

/* Of a type that is not known: no less. */
static size_t least_bytes(const void *context, const char *type)
{
    (void)context;
    (void)type;
    return 1;
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
                                            least_bytes};
    struct shmt_text text = {0};
    int64_t now;
    const bool is =
        shmt_source_extent(&draft->source, arrays->bytes, arrays->line, 0,
                           &known, &text) &&
        !text.failed && count_parameters(draft, shmt_text_string(&text)) > 0 &&
        evaluate(draft, shmt_text_string(&text), SIZE_MAX, 0, &now) &&
        now <= SHARED_BYTES;

    for (size_t k = 0; is && k < draft->array_count; k++)
        if (strcmp(draft->arrays[k], shmt_text_string(&text)) == 0) {
            shmt_text_free(&text);
            return;
        }
    if (is)
        draft->arrays[draft->array_count++] =
            shmt_text_keep(&text, draft->arena);
    else
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
                bytes > SHARED_BYTES)
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

/* The threads of a block whose extents are said by several parameters: no more
 * than there may be, and whole warps, as they were. */
static void add_block(const struct shmt_init_draft *draft,
                      struct shmt_text *list)
{
    const int64_t bound = shmt_source_bound(draft->parts);
    struct shmt_text threads = {0};
    int64_t now;

    for (int axis = 0; axis < 3 && draft->extents[axis] != NULL; axis++) {
        const char *const said = draft->extents[axis];
        const bool word = strchr(said, ' ') == NULL;

        if (strcmp(said, "1") != 0)
            shmt_text_addf(&threads, word ? "%s%s" : "%s(%s)",
                           threads.length == 0 ? "" : " * ", said);
    }
    if (threads.length > 0 &&
        count_parameters(draft, shmt_text_string(&threads)) > 1) {
        const char *const said = shmt_text_string(&threads);

        shmt_text_addf(list, "- %s <= %lld\n", said,
                       (long long)(bound > 0 && bound < THREADS ? bound
                                                                : THREADS));
        if (evaluate(draft, said, SIZE_MAX, 0, &now) && now % WARP == 0)
            shmt_text_addf(list, "- %s %% 32 == 0\n", said);
    }
    list->failed |= threads.failed;
    shmt_text_free(&threads);
}

void shmt_init_add_constraints(const struct shmt_init_draft *draft,
                               struct shmt_text *text)
{
    struct shmt_text list = {0};

    add_block(draft, &list);
    for (size_t k = 0; k < draft->array_count; k++)
        if (count_parameters(draft, draft->arrays[k]) > 1)
            shmt_text_addf(&list, "- %s <= %d\n", draft->arrays[k],
                           (int)SHARED_BYTES);
    if (list.length > 0)
        shmt_text_addf(text, "constraints:\n%s", shmt_text_string(&list));
    text->failed |= list.failed;
    shmt_text_free(&list);
}
