/* SPDX-License-Identifier: MIT */
/*
 * init_limit: the constraints of a draft, where several parameters together
 * make a block, or arrays in shared memory, larger than there is.  Called by
 * init_shared.c and draft_shared.c.
 */
#include "config.h"

#include <string.h>

#include "command/init.h"

/* Threads of a warp. */
enum { WARP = 32 };

/* How often parameters stand in it, each so often at most. */
static size_t count_in(const struct shmt_init_limits *limits,
                       const char *said, size_t each)
{
    size_t count = 0;

    for (size_t k = 0; k < limits->count; k++)
        count += shmt_text_mentions(said, limits->names[k], each);
    return count;
}

/* No more threads than there may be, and whole warps, as they were. */
static void add_block(const struct shmt_init_limits *limits,
                      struct shmt_text *list)
{
    struct shmt_text threads = {0};
    const char *said;

    for (int axis = 0; axis < 3 && limits->extents[axis] != NULL; axis++) {
        const char *const extent = limits->extents[axis];
        const bool word = strchr(extent, ' ') == NULL;

        if (strcmp(extent, "1") != 0)
            shmt_text_addf(&threads, word ? "%s%s" : "%s(%s)",
                           threads.length == 0 ? "" : " * ", extent);
    }
    said = shmt_text_string(&threads);
    if (threads.length > 0 && count_in(limits, said, 2) > 1) {
        shmt_text_addf(list, "- \"%s <= %lld\"\n", said,
                       (long long)limits->most);
        if (limits->threads > 0 && limits->threads % WARP == 0)
            shmt_text_addf(list, "- \"%s %% 32 == 0\"\n", said);
    }
    list->failed |= threads.failed;
    shmt_text_free(&threads);
}

void shmt_init_add_limits(const struct shmt_init_limits *limits,
                          struct shmt_text *text)
{
    struct shmt_text list = {0};

    add_block(limits, &list);
    for (size_t k = 0; k < limits->array_count; k++)
        if (count_in(limits, limits->arrays[k], 1) > 1)
            shmt_text_addf(&list, "- \"%s <= %d\"\n", limits->arrays[k],
                           (int)SHMT_INIT_SHARED);
    if (list.length > 0)
        shmt_text_addf(text, "constraints:\n%s", shmt_text_string(&list));
    text->failed |= list.failed;
    shmt_text_free(&list);
}

int64_t shmt_init_most_threads(const char *parts)
{
    const int64_t bound = shmt_source_bound(parts);

    return bound > 0 && bound < SHMT_INIT_BLOCK ? bound : SHMT_INIT_BLOCK;
}

size_t shmt_init_least_bytes(const void *context, const char *type)
{
    (void)context;
    (void)type;
    return 1;
}
