/* SPDX-License-Identifier: MIT */
/*
 * draft_shared: which numbers of a captured launch make arrays in shared memory
 * larger than there is: those of any kernel of the source, since all of it is
 * compiled.  And the constraints of a draft, where several numbers together
 * do, or make a block.  Called by draft_parameters.c.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command/draft.h"
#include "command/init.h"

static const char *find_name(const void *context, const char *name)
{
    const struct shmt_draft *const draft = context;

    for (size_t k = 0; k < draft->number_count; k++)
        if (draft->numbers[k].way != SHMT_DRAFT_BLOCK &&
            draft->numbers[k].way != SHMT_DRAFT_GRID &&
            strcmp(draft->numbers[k].name, name) == 0)
            return draft->numbers[k].name;
    return NULL;
}

/* Keeps what the arrays take, unless that is no question of a number. */
static void keep(struct shmt_draft *draft,
                 const struct shmt_source_shared *arrays)
{
    const struct shmt_source_names names = {find_name, draft, NULL,
                                            shmt_init_least_bytes};
    struct shmt_text text = {0};
    const char *kept = NULL;
    int64_t now;
    bool is = shmt_source_extent(&draft->text, arrays->bytes, arrays->line, 0,
                                 &names, &text) &&
              !text.failed &&
              shmt_draft_evaluate(draft, shmt_text_string(&text), NULL, 0,
                                  &now) &&
              now <= SHMT_INIT_SHARED &&
              !shmt_draft_is_constant(draft, shmt_text_string(&text));

    for (size_t k = 0; is && k < draft->arrays_count; k++)
        is = strcmp(draft->arrays[k], shmt_text_string(&text)) != 0;
    if (is && draft->arrays_count < SHMT_DRAFT_ARRAYS)
        kept = shmt_text_keep(&text, draft->arena);
    if (kept != NULL)
        draft->arrays[draft->arrays_count++] = kept;
    shmt_text_free(&text);
}

enum shmtune_status shmt_draft_find_arrays(struct shmt_draft *draft,
                                           struct shmt_error *err)
{
    const struct shmt_source_shared *arrays;
    size_t count;
    const enum shmtune_status status = shmt_source_shared_arrays(
        draft->arena, draft->code, &arrays, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        keep(draft, &arrays[k]);
    return status == SHMTUNE_OK && shmt_arena_failed(draft->arena)
               ? shmt_error_memory(err) : status;
}

static bool is_too_large(const struct shmt_draft *draft,
                         const struct shmt_draft_number *one, int64_t to)
{
    for (size_t k = 0; k < draft->arrays_count; k++) {
        int64_t bytes;

        if (shmt_text_mentions(draft->arrays[k], one->name, 1) > 0 &&
            shmt_draft_evaluate(draft, draft->arrays[k], one, to, &bytes) &&
            bytes > SHMT_INIT_SHARED)
            return true;
    }
    return false;
}

int64_t shmt_draft_most_of_arrays(const struct shmt_draft *draft,
                                  const struct shmt_draft_number *one)
{
    for (int64_t power = 1; one->value > 0 && one->value <= INT32_MAX &&
                            power <= 4 * one->value; power *= 2)
        if (power > one->value && is_too_large(draft, one, power))
            return power - 1;
    return INT64_MAX;
}

/* -- constraints ---------------------------------------------------------- */

void shmt_draft_constraints(const struct shmt_draft *draft,
                            struct shmt_text *text)
{
    const char *names[SHMT_DRAFT_NUMBERS];
    char numbers[3][24];
    struct shmt_init_limits limits = {
        .names = names, .threads = 1, .most = SHMT_INIT_BLOCK,
        .array_count = draft->arrays_count, .arrays = draft->arrays};

    for (size_t k = 0; k < draft->number_count; k++)
        if (shmt_draft_is_proposed(draft, &draft->numbers[k]))
            names[limits.count++] = draft->numbers[k].name;
    for (int axis = 0; axis < shmt_draft_axes(draft->block); axis++) {
        const char *const extent = shmt_draft_block(draft, axis);

        limits.threads *= draft->block[axis];
        snprintf(numbers[axis], sizeof numbers[axis], "%lld",
                 (long long)draft->block[axis]);
        limits.extents[axis] = extent != NULL ? extent : numbers[axis];
    }
    shmt_init_add_limits(&limits, text);
}
