/* SPDX-License-Identifier: MIT */
/*
 * launching: what host code names where it launches a kernel.
 */
#include "source/source.h"

#include <stdio.h>
#include <string.h>

static void add_word(struct shmt_text *text, const char *word)
{
    shmt_text_add(text, word);
    shmt_text_add(text, " ; ");
}

/* The values of variables and functions that the text names and has not; false:
 * none. */
static bool add_values(const struct shmt_source *source, bool *taken,
                       struct shmt_text *text)
{
    bool more = false;

    for (size_t k = 0; k < source->variable_count + source->define_count;
         k++) {
        const bool variable = k < source->variable_count;
        const size_t d = k - source->variable_count;
        const char *const name = variable ? source->variables[k].name
                                          : source->defines[d].name;
        char own[128];

        /* grid.y is of grid. */
        snprintf(own, sizeof own, "%.*s", (int)strcspn(name, "."), name);
        if (taken[k] || text->failed ||
            shmt_text_mentions(shmt_text_string(text), own, 1) == 0)
            continue;
        taken[k] = more = true;
        add_word(text, variable ? source->variables[k].value
                                : source->defines[d].value);
    }
    return more;
}

const char *shmt_source_launching(struct shmt_arena *arena,
                                  const struct shmt_source *source,
                                  const char *name)
{
    bool *const taken = shmt_arena_alloc(
        arena, source->variable_count + source->define_count + 1,
        sizeof *taken);
    struct shmt_text text = {0};
    const char *out = NULL;

    for (size_t k = 0; taken != NULL && k < source->launch_count; k++) {
        const struct shmt_source_launch *const one = &source->launches[k];

        if (strcmp(one->name, name) != 0)
            continue;
        add_word(&text, one->grid);
        add_word(&text, one->block);
        add_word(&text, one->shared);
        for (size_t i = 0; i < one->instance_count; i++)
            add_word(&text, one->instance[i]);
    }
    while (taken != NULL && add_values(source, taken, &text))
        ;
    if (taken != NULL)
        out = shmt_text_keep(&text, arena);
    shmt_text_free(&text);
    if (out == NULL)
        shmt_arena_fail(arena);
    return out;
}
