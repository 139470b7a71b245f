/* SPDX-License-Identifier: MIT */
/*
 * init_guess: the block and the grid of a kernel that nobody launches, by how
 * it finds its elements: `blockIdx.x * BLOCK * ITEMS + threadIdx.x`.  Called by
 * init.c.
 */
#include "config.h"

#include <string.h>

#include "command/init.h"

enum { FACTORS = 4, LINE = 256 /* threads */ };

/* What a block's index along an axis is multiplied by. */
struct chain {
    size_t count;              /* 0: it is not, or by what is no name */
    const char *factors[FACTORS];
};

/* Behind the index: `* A * B`. */
static struct chain chain_at(const struct shmt_init_draft *draft,
                             const char *at)
{
    struct chain chain = {0};
    const char *word;
    size_t length;

    while ((word = shmt_init_factor(at, &length)) != NULL) {
        at = word + length;
        if (length == 0 || *at == '.' || chain.count == FACTORS)
            return (struct chain){0};
        chain.factors[chain.count++] =
            shmt_arena_copy(draft->arena, word, length);
    }
    return chain;
}

/* Before the index, at `at`: `BLOCK * `. */
static struct chain chain_before(const struct shmt_init_draft *draft,
                                 const char *at)
{
    struct chain chain = {0};
    size_t length = 0;
    const char *const word =
        shmt_init_factor_before(draft->parts, at, &length);

    if (length > 0 && (word == draft->parts || word[-1] != '.'))
        chain.factors[chain.count++] =
            shmt_arena_copy(draft->arena, word, length);
    return chain;
}

/* "blockIdx.x" */
static const char *index_of(const char *text, int axis)
{
    char index[] = "blockIdx.x";

    index[sizeof index - 2] = "xyz"[axis];
    return strstr(text, index);
}

static struct chain chain_of(const struct shmt_init_draft *draft, int axis)
{
    struct chain chain = {0};

    for (const char *at = index_of(draft->parts, axis);
         at != NULL && chain.count == 0;) {
        chain = chain_at(draft, at + strlen("blockIdx.x"));
        if (chain.count == 0)
            chain = chain_before(draft, at);
        at = index_of(at + strlen("blockIdx.x"), axis);
    }
    return chain;
}

/* "BLOCK", "block_size_x", "NUM_THREADS", "TPB". */
static bool is_of_threads(const char *name)
{
    static const char *const words[] = {"block", "thread", "tpb", "bdim",
                                        NULL};

    return shmt_init_has_word(name, words);
}

/* The factor that is the block's extent; NULL: none can be told. */
static const char *extent_of(const struct shmt_init_draft *draft,
                             const struct chain *chain)
{
    const char *found = NULL;

    for (size_t k = 0; k < chain->count; k++) {
        if (!shmt_init_is_macro(draft, chain->factors[k]))
            return NULL;
        if (found == NULL && is_of_threads(chain->factors[k]))
            found = chain->factors[k];
    }
    return chain->count == 1 ? chain->factors[0] : found;
}

/* Of a block that the kernel asks for: a parameter of the launch. */
static const char *asked_extent(struct shmt_init_draft *draft)
{
    static const char name[] = "BLOCK_X";

    if (draft->thread_count > 0 || !shmt_source_asks_block(draft->parts, 0) ||
        !shmt_source_counts_threads(draft->parts, 0) ||
        index_of(draft->parts, 1) != NULL ||
        strstr(draft->parts, "threadIdx.y") != NULL ||
        shmt_text_mentions(draft->text, name, 1) > 0)
        return NULL;
    draft->threads[draft->thread_count++] = (struct shmt_init_threads){
        .name = name, .value = LINE};
    return name;
}

/* For as many elements as there are, of one dimension. */
static const char *grid_of(const struct shmt_init_draft *draft,
                           const struct chain *chain)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "[\"ceildiv(%s, ", draft->dimensions[0].name);
    if (chain->count == 0)
        shmt_text_add(&text, draft->extents[0]);
    for (size_t k = 0; k < chain->count; k++)
        shmt_text_addf(&text, "%s%s", k == 0 ? "" : " * ", chain->factors[k]);
    shmt_text_add(&text, ")\"]");
    return shmt_text_keep(&text, draft->arena);
}

static const char *block_of(const struct shmt_init_draft *draft, size_t axes)
{
    struct shmt_text text = {0};

    for (size_t k = 0; k < axes; k++)
        shmt_text_addf(&text, "%s%s", k == 0 ? "[" : ", ", draft->extents[k]);
    shmt_text_add(&text, "]");
    return shmt_text_keep(&text, draft->arena);
}

static bool is_extent(const struct shmt_init_draft *draft, size_t axes,
                      const char *name)
{
    for (size_t axis = 0; axis < axes; axis++)
        if (strcmp(draft->extents[axis], name) == 0)
            return true;
    return false;
}

/* A number that nothing has said: large for threads, 16 for those of a square
 * and for tiles, and 1 for what a thread does more. */
static const char *usual(const struct shmt_init_draft *draft, size_t axes,
                         const struct shmt_init_macro *macro)
{
    if (is_extent(draft, axes, macro->name))
        return axes > 1 ? "16" : "256";
    if (macro->reach == SHMT_SOURCE_IN_BOUNDS)
        return "256";
    return macro->reach == SHMT_SOURCE_IN_SHARED ? "16" : "1";
}

enum shmtune_status shmt_init_guess_block(struct shmt_init_draft *draft,
                                          struct shmt_error *err)
{
    size_t axes = 0;

    if (draft->launch != NULL)
        return SHMTUNE_OK;
    for (; axes < 3; axes++) {
        const struct chain chain = chain_of(draft, (int)axes);

        draft->extents[axes] = extent_of(draft, &chain);
        if (draft->extents[axes] == NULL)
            break;
    }
    if (axes == 0 && (draft->extents[0] = asked_extent(draft)) != NULL)
        axes = 1;
    for (size_t k = 0; k < draft->macro_count; k++) {
        struct shmt_init_macro *const macro = &draft->macros[k];

        if (macro->undeclared)
            macro->value = usual(draft, axes, macro);
        if (is_extent(draft, axes, macro->name))
            macro->most = SHMT_INIT_BLOCK;
    }
    if (axes > 0)
        draft->block = block_of(draft, axes);
    return axes > 0 && draft->block == NULL ? shmt_error_memory(err)
                                            : SHMTUNE_OK;
}

enum shmtune_status shmt_init_guess_grid(struct shmt_init_draft *draft,
                                         struct shmt_error *err)
{
    struct chain chain;

    if (draft->launch != NULL || draft->block == NULL ||
        draft->extents[1] != NULL || draft->dimension_count != 1 ||
        index_of(draft->parts, 1) != NULL)
        return SHMTUNE_OK;
    chain = chain_of(draft, 0);
    draft->grid = grid_of(draft, &chain);
    return draft->grid == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

const char *shmt_init_guess_reference(const struct shmt_init_draft *draft)
{
    const char *const parts = shmt_source_slice(draft->arena, draft->text,
                                                draft->reference);
    const char *const index = parts == NULL ? NULL : index_of(parts, 0);
    const char *number;
    size_t length;

    if (index == NULL || index_of(parts, 1) != NULL)
        return NULL;
    number = shmt_init_factor(index + strlen("blockIdx.x"), &length);
    return number == NULL || length == 0 ||
                   strspn(number, "0123456789") != length
               ? NULL : shmt_arena_copy(draft->arena, number, length);
}
