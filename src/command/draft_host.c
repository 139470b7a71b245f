/* SPDX-License-Identifier: MIT */
/*
 * draft_host: what the host code of a captured launch says of its block and its
 * grid, `k<<<dim3(n / TILE, m), dim3(TILE, ROWS)>>>(a, n)`, with the names that
 * the draft has: the numbers that may be tuned, and the arguments that are
 * sizes.  It is taken where it gives the numbers of all captured launches of
 * the kernel.  Called by draft_parameters.c and draft_fit.c.
 *
 * A launch counts that has the kernel's name; where none has, as through a
 * pointer to it, one of what is no kernel, with as many arguments.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command/draft.h"

/* Launches in the text that are looked at. */
enum { SITES = 64 };

struct site {
    const struct shmt_draft *draft;
    const struct shmt_source *source;
    const struct shmt_source_launch *launch;
};

/* -- names ---------------------------------------------------------------- */

/* "threads", or "threads.y", where that is the block and its extent is a number
 * of the launch alone. */
static const char *own_extent(const struct site *site, const char *name)
{
    static const char *const members[] = {".x", ".y", ".z"};
    const char *const block = site->launch->block;
    const size_t length = strlen(block);

    for (size_t k = 0; k < site->draft->number_count; k++) {
        const struct shmt_draft_number *one = &site->draft->numbers[k];

        if (one->way == SHMT_DRAFT_BLOCK && length > 0 &&
            strncmp(name, block, length) == 0 &&
            (strcmp(name + length, members[one->axis]) == 0 ||
             (name[length] == '\0' && one->axis == 0)))
            return one->name;
    }
    return NULL;
}

static const char *dimension(const struct shmt_draft *draft, const char *name)
{
    for (size_t k = 0; k < draft->dimension_count; k++)
        if (!draft->dimensions[k].elements &&
            strcmp(draft->dimensions[k].name, name) == 0)
            return draft->dimensions[k].name;
    return NULL;
}

static const char *find_name(const void *context, const char *name)
{
    const struct site *const site = context;
    const struct shmt_draft *const draft = site->draft;
    const bool given = site->launch->argument_count == draft->argument_count;

    for (size_t k = 0; k < draft->number_count; k++)
        if (draft->numbers[k].way != SHMT_DRAFT_BLOCK &&
            draft->numbers[k].way != SHMT_DRAFT_GRID &&
            strcmp(draft->numbers[k].name, name) == 0)
            return draft->numbers[k].name;
    for (size_t k = 0; given && k < draft->argument_count; k++)
        if (strcmp(site->launch->arguments[k], name) == 0 &&
            dimension(draft, draft->arguments[k].name) != NULL)
            return draft->arguments[k].name;
    if (own_extent(site, name) != NULL)
        return own_extent(site, name);
    return given ? NULL : dimension(draft, name);
}

static bool mentions_number(const struct shmt_draft *draft, const char *text)
{
    for (size_t k = 0; k < draft->number_count; k++)
        if (shmt_text_mentions(text, draft->numbers[k].name, 1) > 0)
            return true;
    return false;
}

/* Whether a number stands in it that an extent of the block is too, or the one
 * before that: it may be meant for it, and have to change with it. */
static bool has_extent(const struct shmt_draft *draft, const char *text)
{
    while (*text != '\0') {
        long long number;
        int length = 0;

        if (!isdigit((unsigned char)*text)) {
            const size_t name = shmt_text_name_length(text);

            text += name > 0 ? name : 1;
            continue;
        }
        if (sscanf(text, "%18lld%n", &number, &length) != 1 || length == 0)
            return true;
        for (size_t k = 0; k < 3; k++)
            if (draft->block[k] > 1 && (number == draft->block[k] ||
                                        number == draft->block[k] - 1))
                return true;
        text += length;
    }
    return false;
}

/* -- sites ---------------------------------------------------------------- */

static const struct shmt_source *source_at(const struct shmt_draft *draft,
                                           size_t k)
{
    return k == 0 ? &draft->text : draft->hosts[k - 1];
}

static bool is_kernel(const struct shmt_draft *draft, const char *name)
{
    for (size_t k = 0; k <= draft->host_count; k++)
        if (shmt_source_find(source_at(draft, k), name, strlen(name)) != NULL)
            return true;
    return false;
}

static size_t find_sites(const struct shmt_draft *draft, bool by_name,
                         struct site sites[SITES])
{
    size_t count = 0;

    for (size_t k = 0; draft->code != NULL && k <= draft->host_count; k++) {
        const struct shmt_source *const source = source_at(draft, k);

        for (size_t i = 0; i < source->launch_count && count < SITES; i++) {
            const struct shmt_source_launch *const one =
                &source->launches[i];

            if (by_name ? strcmp(one->name, draft->name) == 0
                        : one->argument_count == draft->argument_count &&
                              !is_kernel(draft, one->name))
                sites[count++] = (struct site){draft, source, one};
        }
    }
    return count;
}

static size_t all_sites(const struct shmt_draft *draft,
                        struct site sites[SITES])
{
    const size_t count = find_sites(draft, true, sites);

    return count > 0 ? count : find_sites(draft, false, sites);
}

/* An extent as the site says it; NULL: it does not. */
static const char *say(const struct site *site, const char *code, int axis)
{
    const struct shmt_source_names names = {.find = find_name,
                                            .context = site};
    struct shmt_text text = {0};
    const char *said = NULL;

    if (shmt_source_extent(site->source, code, site->launch->line, axis,
                           &names, &text))
        said = shmt_text_keep(&text, site->draft->arena);
    shmt_text_free(&text);
    return said;
}

/* -- the block ------------------------------------------------------------ */

/* Whether the site may be that of this launch: it says no other block. */
static bool may_be(const struct site *site, const char *said[3])
{
    bool known = false;

    for (int axis = 0; axis < 3; axis++) {
        int64_t value;

        said[axis] = say(site, site->launch->block, axis);
        if (said[axis] == NULL)
            continue;
        if (!shmt_draft_evaluate(site->draft, said[axis], NULL, 0, &value) ||
            value != site->draft->block[axis])
            return false;
        known = known || axis == 0 || value > 1;
    }
    return known;
}

void shmt_draft_find_block(struct shmt_draft *draft)
{
    struct site sites[SITES];
    const size_t count = all_sites(draft, sites);

    for (size_t k = 0; k < count; k++) {
        const char *said[3];

        if (!may_be(&sites[k], said))
            continue;
        for (size_t axis = 0; axis < 3; axis++)
            if (draft->said_block[axis] == NULL && draft->block[axis] > 1 &&
                said[axis] != NULL && mentions_number(draft, said[axis]) &&
                !has_extent(draft, said[axis]))
                draft->said_block[axis] = said[axis];
    }
}

/* Bytes that are a number alone may be meant for the block as it was. */
void shmt_draft_find_shared(struct shmt_draft *draft)
{
    struct site sites[SITES];
    const size_t count = draft->shared > 0 ? all_sites(draft, sites) : 0;

    for (size_t k = 0; draft->said_shared == NULL && k < count; k++) {
        const char *block[3], *said;
        int64_t bytes;

        if (!may_be(&sites[k], block))
            continue;
        said = say(&sites[k], sites[k].launch->shared, 0);
        if (said != NULL && mentions_number(draft, said) &&
            !has_extent(draft, said) &&
            shmt_draft_evaluate(draft, said, NULL, 0, &bytes) &&
            bytes == draft->shared)
            draft->said_shared = said;
    }
}

/* -- the grid ------------------------------------------------------------- */

static bool is_among(const struct shmt_draft_said *out, const char *text)
{
    for (size_t k = 0; k < out->count; k++)
        if (strcmp(out->texts[k], text) == 0)
            return true;
    return false;
}

/* A line of the draft's text. */
static void locate(const struct shmt_draft *draft, int *line,
                   const char **file)
{
    *file = draft->source;
    if (draft->whole != NULL)
        *line = shmt_source_splice_line(draft->whole, *line, file);
}

void shmt_draft_said_grid(const struct shmt_draft *draft, int axis,
                          struct shmt_draft_said *out)
{
    struct site sites[SITES];
    const size_t count = all_sites(draft, sites);

    out->count = 0;
    for (size_t k = 0; k < count && out->count < SHMT_DRAFT_OPTIONS; k++) {
        const char *block[3], *said;

        if (!may_be(&sites[k], block))
            continue;
        said = say(&sites[k], sites[k].launch->grid, axis);
        if (said == NULL || has_extent(draft, said) || is_among(out, said) ||
            shmt_draft_fits(draft, said, axis) <
                (draft->launch_count > 0 ? draft->launch_count : 1))
            continue;
        out->lines[out->count] = sites[k].launch->line;
        out->files[out->count] = NULL;
        if (sites[k].source == &draft->text)
            locate(draft, &out->lines[out->count], &out->files[out->count]);
        out->texts[out->count++] = said;
    }
}

void shmt_draft_tell_site(const struct shmt_draft *draft,
                          const struct shmt_draft_said *said,
                          struct shmt_text *text)
{
    const char *const file = said->files[0];

    shmt_text_addf(text, "as line %d of ", said->lines[0]);
    if (file == NULL)
        shmt_text_add(text, "another source that was named");
    else if (strcmp(file, draft->source) == 0)
        shmt_text_add(text, "the source");
    else
        shmt_text_add_visible(text, strrchr(file, '/') == NULL
                                        ? file : strrchr(file, '/') + 1);
    shmt_text_add(text, " launches it");
}
