/* SPDX-License-Identifier: MIT */
/*
 * draft_template: whether the template of a captured kernel is given an extent
 * of its block, `sum<256><<<n, 256>>>`: then both have to change together.
 * And which of several kernels of its name it is.  Called by draft_parameters.c
 * and draft_write.c.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command/draft.h"

/* Where the argument begins behind `from`, of "name<a, b<c>, 256>", and how
 * long it is; NULL: there is no more. */
static const char *next_argument(const char *from, size_t *length)
{
    size_t depth = 0;

    from += strspn(from, ", ");
    *length = 0;
    while (from[*length] != '\0' &&
           (depth > 0 || strchr(",>", from[*length]) == NULL)) {
        depth += strchr("<(", from[*length]) != NULL;
        depth -= depth > 0 && strchr(">)", from[*length]) != NULL;
        (*length)++;
    }
    return *length > 0 && from[*length] != '\0' ? from : NULL;
}

/* The only argument that is the number; NULL: none, or several are. */
static const char *find_argument(const char *entry, int64_t value,
                                 size_t *length)
{
    const char *at = strchr(entry, '<');
    const char *found = NULL;
    char number[32];
    size_t own;

    snprintf(number, sizeof number, "%lld", (long long)value);
    *length = strlen(number);
    for (at = at == NULL ? NULL : next_argument(at + 1, &own); at != NULL;
         at = next_argument(at + own, &own)) {
        if (own != *length || memcmp(at, number, own) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = at;
    }
    return found;
}

/* A number that is no power of two follows another one, which would have to
 * change with it. */
bool shmt_draft_is_given(const struct shmt_draft *draft, const char *name,
                         int64_t value)
{
    const char *const entry =
        draft->expression != NULL
            ? draft->expression : shmt_signature_expression(draft->arena,
                                                            draft->symbol);
    size_t length, axes = 0;

    for (size_t k = 0; k < 3; k++)
        axes += draft->block[k] == value;
    return entry != NULL && draft->code != NULL && axes == 1 && value >= 8 &&
           (value & (value - 1)) == 0 &&
           find_argument(entry, value, &length) != NULL &&
           shmt_text_mentions(draft->own, name, 1) == 0;
}

/* What the application's own compiler was asked for is clear as it is. */
static const char *add_types(const struct shmt_draft *draft, const char *entry)
{
    const char *const cast =
        draft->overloaded && draft->expression == NULL
            ? shmt_signature_cast(draft->arena, draft->symbol) : NULL;
    struct shmt_text text = {0};

    if (cast == NULL || strlen(cast) + strlen(entry) > SHMT_KERNEL_ENTRY)
        return entry;
    shmt_text_addf(&text, "%s%s", cast, entry);
    return shmt_text_keep(&text, draft->arena);
}

const char *shmt_draft_give(const struct shmt_draft *draft, const char *entry)
{
    for (size_t k = 0; entry != NULL && k < draft->number_count; k++) {
        const struct shmt_draft_number *const one = &draft->numbers[k];
        struct shmt_text text = {0};
        const char *found = NULL;
        size_t length;

        if (one->given)
            found = find_argument(entry, one->value, &length);
        if (found == NULL)
            continue;
        shmt_text_addf(&text, "%.*s{%s}%s", (int)(found - entry), entry,
                       one->name, found + length);
        entry = shmt_text_keep(&text, draft->arena);
    }
    return entry == NULL ? NULL : add_types(draft, entry);
}

/* -- what its symbol does not say ----------------------------------------- */

/* "loose<float, two>" of a launch of it in the text; NULL: it says none. */
static const struct shmt_source_launch *
find_launch(const struct shmt_draft *draft)
{
    for (size_t k = 0; k < draft->text.launch_count; k++)
        if (draft->text.launches[k].instance_count > 0 &&
            strcmp(draft->text.launches[k].name, draft->name) == 0)
            return &draft->text.launches[k];
    return NULL;
}

const char *shmt_draft_ask_entry(const struct shmt_draft *draft)
{
    static const char asked[] =
        "what the kernel is called, with the arguments of its template, as "
        "NAME<float, 4>";
    const struct shmt_source_launch *const one = find_launch(draft);
    struct shmt_text text = {0};
    const char *out;

    if (one == NULL)
        return asked;
    shmt_text_addf(&text, "%s; host code launches %.100s<", asked, one->name);
    for (size_t k = 0; k < one->instance_count; k++)
        shmt_text_addf(&text, "%s%.60s", k == 0 ? "" : ", ",
                       one->instance[k]);
    shmt_text_add(&text, ">");
    out = shmt_text_keep(&text, draft->arena);
    return out == NULL ? asked : out;
}
