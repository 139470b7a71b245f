/* SPDX-License-Identifier: MIT */
/*
 * draft_parameters: which numbers of a captured launch may be tuned: those that
 * reach its block, an array in shared memory, or the launch bounds.  Each is in
 * the draft with the value that it had; the values to try are a comment, unless
 * --propose has asked for them.  Called by capture.c.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command/draft.h"
#include "command/init.h"

static struct shmt_draft_number *find(struct shmt_draft *draft,
                                      const char *name, size_t length)
{
    for (size_t k = 0; k < draft->number_count; k++)
        if (strlen(draft->numbers[k].name) == length &&
            memcmp(draft->numbers[k].name, name, length) == 0)
            return &draft->numbers[k];
    return NULL;
}

static void add(struct shmt_draft *draft, const char *name, size_t length,
                int64_t value, enum shmt_draft_way way)
{
    struct shmt_draft_number *number = &draft->numbers[draft->number_count];

    if (draft->number_count == SHMT_DRAFT_NUMBERS ||
        find(draft, name, length) != NULL)
        return;
    *number = (struct shmt_draft_number){
        .name = shmt_arena_copy(draft->arena, name, length), .value = value,
        .way = way};
    draft->number_count += number->name != NULL;
}

/* -- where a number stands ------------------------------------------------ */

/* Whether the name stands between `mark` and the next `end` anywhere. */
static bool stands_behind(const char *code, const char *mark, char end,
                          const char *name)
{
    char part[512];

    while ((code = strstr(code, mark)) != NULL) {
        const char *close = strchr(code, end);

        if (close == NULL)
            return false;
        snprintf(part, sizeof part, "%.*s", (int)(close - code), code);
        if (shmt_text_mentions(part, name, 1) > 0)
            return true;
        code = close;
    }
    return false;
}

static bool is_extent(const struct shmt_draft *draft, int64_t value)
{
    for (size_t k = 0; k < 3; k++)
        if (value > 1 && draft->block[k] == value)
            return true;
    return false;
}

static const char *reached(const struct shmt_draft *draft,
                           const struct shmt_draft_number *number)
{
    if (is_extent(draft, number->value))
        return "it is an extent of the block";
    if (stands_behind(draft->code, "__launch_bounds__", ')', number->name))
        return "it stands in the launch bounds";
    if (stands_behind(draft->code, "__shared__", ';', number->name))
        return "it stands in an array in shared memory";
    return NULL;
}

/* -- what is defined ------------------------------------------------------ */

/* `#define NAME NUMBER` at the begin of a line; the name, and behind it. */
static const char *defined_at(const char *line, size_t *length)
{
    line += strspn(line, " \t");
    if (*line++ != '#')
        return NULL;
    line += strspn(line, " \t");
    if (strncmp(line, "define", 6) != 0)
        return NULL;
    line += 6;
    line += strspn(line, " \t");
    *length = shmt_text_name_length(line);
    return *length > 0 && isblank((unsigned char)line[*length]) ? line : NULL;
}

static void find_plain(struct shmt_draft *draft)
{
    const char *line = draft->code;

    while (line != NULL && *line != '\0') {
        size_t length;
        const char *name = defined_at(line, &length);
        char value[64];
        int64_t number;

        if (name != NULL) {
            const char *from = name + length;

            snprintf(value, sizeof value, "%.*s",
                     (int)strcspn(from, "\n\r/"), from);
            if (shmt_init_number(value, &number))
                add(draft, name, length, number, SHMT_DRAFT_PLAIN);
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
}

/* A parameter's name is none of the compiler's. */
static bool may_be_named(const char *name)
{
    return isalpha((unsigned char)name[0]) && strlen(name) <= 64 &&
           strncmp(name, "SHMTUNE_", 8) != 0;
}

/* What reaches nothing is a definition as any other. */
static void drop_others(struct shmt_draft *draft)
{
    size_t kept = 0;

    for (size_t k = 0; k < draft->number_count; k++) {
        struct shmt_draft_number *one = &draft->numbers[k];

        one->reaches = reached(draft, one);
        if (may_be_named(one->name) &&
            (one->reaches != NULL || one->way == SHMT_DRAFT_GUARDED)) {
            draft->numbers[kept++] = *one;
            continue;
        }
        if (one->way == SHMT_DRAFT_OPTION)
            shmt_text_addf(&draft->definitions, "#define %s %lld\n",
                           one->name, (long long)one->value);
    }
    draft->number_count = kept;
}

const char *shmt_draft_block(const struct shmt_draft *draft, int axis)
{
    for (size_t k = 0; k < draft->number_count; k++) {
        const struct shmt_draft_number *one = &draft->numbers[k];

        if (one->way == SHMT_DRAFT_BLOCK
                ? one->axis == axis
                : draft->block[axis] > 1 && one->value == draft->block[axis])
            return one->name;
    }
    return NULL;
}

/* An extent that is no macro is a number of the launch alone. */
static void add_blocks(struct shmt_draft *draft)
{
    static const char *const names[] = {"BLOCK_X", "BLOCK_Y", "BLOCK_Z"};

    for (int axis = 0; axis < 3; axis++) {
        const size_t before = draft->number_count;

        if ((axis > 0 && draft->block[axis] == 1) ||
            shmt_draft_block(draft, axis) != NULL)
            continue;
        add(draft, names[axis], strlen(names[axis]), draft->block[axis],
            SHMT_DRAFT_BLOCK);
        if (draft->number_count > before)
            draft->numbers[before].axis = axis;
    }
}

void shmt_draft_find_numbers(struct shmt_draft *draft)
{
    if (draft->code != NULL) {
        for (size_t k = 0; k < draft->text.macro_count; k++) {
            const struct shmt_source_macro *macro = &draft->text.macros[k];
            int64_t value;

            if (shmt_init_number(macro->value, &value))
                add(draft, macro->name, strlen(macro->name), value,
                    SHMT_DRAFT_GUARDED);
        }
        find_plain(draft);
        drop_others(draft);
    }
    add_blocks(draft);
}

/* -- the text ------------------------------------------------------------- */

static void add_reason(const struct shmt_draft_number *one,
                       struct shmt_text *text)
{
    static const char *const ways[] = {
        [SHMT_DRAFT_OPTION] = "an option -D of the application",
        [SHMT_DRAFT_GUARDED] = "a macro behind #ifndef",
        [SHMT_DRAFT_PLAIN] = "a #define of the source",
        [SHMT_DRAFT_BLOCK] = "the launch's block"};

    shmt_text_addf(text, "  # %s is %s%s%s.\n", one->name, ways[one->way],
                   one->reaches == NULL ? "" : "; ",
                   one->reaches == NULL ? "" : one->reaches);
    if (one->way == SHMT_DRAFT_BLOCK)
        shmt_text_add(text, "  # Only a kernel that asks blockDim takes "
                      "another.\n");
}

static const char *suffix_of(const struct shmt_draft_number *one)
{
    return one->way == SHMT_DRAFT_BLOCK   ? ", scope: launch}\n"
           : one->way == SHMT_DRAFT_PLAIN ? ", override: true}\n"
                                          : "}\n";
}

/* A number of the block alone is tuned by who knows the kernel. */
void shmt_draft_parameters(const struct shmt_draft *draft,
                           struct shmt_text *text)
{
    shmt_text_add(text, "parameters:\n");
    for (size_t k = 0; k < draft->number_count; k++) {
        const struct shmt_draft_number *one = &draft->numbers[k];
        const bool proposed = draft->propose && one->reaches != NULL;

        add_reason(one, text);
        if (!proposed)
            shmt_text_add(text, "  # To tune it, write this instead:\n  # ");
        shmt_text_addf(text, "%s%s: {values: ", proposed ? "  " : "",
                       one->name);
        shmt_init_values(one->value, text);
        shmt_text_add(text, suffix_of(one));
        if (!proposed)
            shmt_text_addf(text, "  %s: {values: [%lld], default: %lld%s",
                           one->name, (long long)one->value,
                           (long long)one->value, suffix_of(one));
    }
}
