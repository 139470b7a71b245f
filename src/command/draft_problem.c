/* SPDX-License-Identifier: MIT */
/*
 * draft_problem: the sizes of a captured launch in its draft, and those of the
 * other launches of the kernel as a comment.  Called by draft_write.c.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command/draft.h"

/* Sizes that are listed at most. */
enum { LISTED = 32 };

/* "{n: 1000, m: 3}" */
static void add_size(const struct shmt_draft *draft,
                     const struct shmt_draft *launch, struct shmt_text *text)
{
    const char *before = "{";

    for (size_t k = 0; k < draft->dimension_count; k++) {
        const struct shmt_draft_dimension *one = &draft->dimensions[k];

        if (!one->used)
            continue;
        shmt_text_addf(text, "%s%s: %lld", before, one->name,
                       (long long)shmt_draft_size(draft, one, launch));
        before = ", ";
    }
    shmt_text_add(text, "}");
}

static bool is_size(const struct shmt_draft *draft,
                    const struct shmt_draft *one,
                    const struct shmt_draft *other)
{
    for (size_t k = 0; k < draft->dimension_count; k++)
        if (draft->dimensions[k].used &&
            shmt_draft_size(draft, &draft->dimensions[k], one) !=
                shmt_draft_size(draft, &draft->dimensions[k], other))
            return false;
    return true;
}

/* What is in a folder is the data of one size. */
static void add_sizes(const struct shmt_draft *draft, struct shmt_text *text)
{
    size_t listed = 0, others = 0;

    for (size_t j = 0; j < shmt_draft_launches(draft); j++)
        others += !is_size(draft, draft, shmt_draft_launch(draft, j));
    if (others == 0)
        return;
    shmt_text_add(text, "# The sizes that were captured. The files here are "
                  "the data of this launch's size\n# alone; the others' are "
                  "in their own folders.\n# sizes:\n");
    for (size_t j = 0; j < shmt_draft_launches(draft); j++) {
        const struct shmt_draft *launch = shmt_draft_launch(draft, j);
        size_t i = 0;

        while (!is_size(draft, shmt_draft_launch(draft, i), launch))
            i++;
        if (i < j)
            continue;
        if (listed++ == LISTED) {
            shmt_text_add(text, "# and more\n");
            return;
        }
        shmt_text_add(text, "# - ");
        add_size(draft, launch, text);
        shmt_text_addf(text, "    # %s\n",
                       is_size(draft, draft, launch) ? "this one"
                                                     : launch->folder);
    }
}

void shmt_draft_add_problem(const struct shmt_draft *draft,
                            struct shmt_text *text)
{
    bool first = true;

    for (size_t k = 0; k < draft->dimension_count; k++) {
        const struct shmt_draft_dimension *one = &draft->dimensions[k];

        if (!one->used)
            continue;
        if (one->elements) {
            shmt_text_addf(text, "%s  # Elements of %s", first ? "problem:\n"
                           : "", draft->arguments[one->argument].name);
            if (one->over >= 0)
                shmt_text_addf(text, ", by %s",
                               draft->arguments[one->over].name);
            shmt_text_add(text, ": the grid follows them.\n");
            first = false;
        }
        shmt_text_addf(text, "%s  %s: {default: %lld, max: %lld}\n",
                       first ? "problem:\n" : "", one->name,
                       (long long)one->value,
                       (long long)(one->value > INT32_MAX ? one->value
                                                          : INT32_MAX));
        first = false;
    }
    add_sizes(draft, text);
}
