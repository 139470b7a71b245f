/* SPDX-License-Identifier: MIT */
/*
 * allocate: what host code makes room for in the memory of a device.
 */
#include "source/token.h"

/* Tokens of one call, at most. */
enum { MOST_CALL = 256 };

static bool is_allocation(const struct shmt_source_token *token)
{
    static const char *const names[] = {
        "cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "hipMalloc",
        "hipMallocManaged", "cuMemAlloc", "cuMemAllocManaged", NULL};

    return shmt_source_is_any(token, names);
}

/* `&NAME` at the end of [from, to), behind any casts, or NAME alone. */
static const char *read_name(const struct shmt_source_tokens *tokens,
                             size_t from, size_t to)
{
    size_t k = to;

    while (to > from && shmt_source_at_is(tokens, to - 1, ")"))
        to--;
    for (k = to; k > from && !shmt_source_at_is(tokens, k - 1, "&") &&
                 !shmt_source_at_is(tokens, k - 1, ")") &&
                 !shmt_source_at_is(tokens, k - 1, "(");)
        k--;
    return shmt_source_join(tokens, k, to);
}

/* `cudaMalloc(&NAME, BYTES)`, whose name is at k. */
static bool read_call(const struct shmt_source_tokens *tokens, size_t k,
                      struct shmt_source_allocation *out, bool *found)
{
    size_t close, comma, end;

    if (!is_allocation(shmt_source_at(tokens, k)) ||
        !shmt_source_at_is(tokens, k + 1, "("))
        return true;
    close = shmt_source_behind(tokens, k + 1, tokens->count) - 1;
    comma = shmt_source_end_of_item(tokens, k + 2, close);
    if (comma >= close || close - k > MOST_CALL)
        return true;
    end = shmt_source_end_of_item(tokens, comma + 1, close);
    *out = (struct shmt_source_allocation){
        .name = read_name(tokens, k + 2, comma),
        .bytes = shmt_source_join(tokens, comma + 1, end),
        .count = "", .type = "", .line = shmt_source_at(tokens, k)->line};
    *found = out->bytes != NULL && out->bytes[0] != '\0';
    return out->name != NULL && out->bytes != NULL;
}

/* `device_vector<TYPE> NAME(COUNT)`, whose first word is at k. */
static bool read_vector(const struct shmt_source_tokens *tokens, size_t k,
                        struct shmt_source_allocation *out, bool *found)
{
    size_t close, name, end;

    if (!shmt_source_at_is(tokens, k, "device_vector") ||
        !shmt_source_at_is(tokens, k + 1, "<"))
        return true;
    close = shmt_source_behind(tokens, k + 1, tokens->count) - 1;
    name = close + 1;
    if (close - k > MOST_CALL ||
        shmt_source_at(tokens, name)->word != SHMT_SOURCE_NAME ||
        !shmt_source_at_is(tokens, name + 1, "("))
        return true;
    end = shmt_source_behind(tokens, name + 1, tokens->count) - 1;
    *out = (struct shmt_source_allocation){
        .name = shmt_source_join(tokens, name, name + 1), .bytes = "",
        .count = shmt_source_join(
            tokens, name + 2, shmt_source_end_of_item(tokens, name + 2, end)),
        .type = shmt_source_join(tokens, k + 2, close),
        .line = shmt_source_at(tokens, k)->line};
    *found = out->count != NULL && out->count[0] != '\0';
    return out->name != NULL && out->count != NULL && out->type != NULL;
}

bool shmt_source_allocations(const struct shmt_source_tokens *tokens,
                             struct shmt_source *out)
{
    struct shmt_source_allocation *list;
    size_t most = 0;
    bool done = true;

    for (size_t k = 0; k < tokens->count; k++)
        most += is_allocation(shmt_source_at(tokens, k)) ||
                shmt_source_at_is(tokens, k, "device_vector");
    list = shmt_arena_alloc(tokens->arena, most + 1, sizeof *list);
    if (list == NULL)
        return false;
    for (size_t k = 0; done && k < tokens->count; k++) {
        bool found = false;

        done = read_call(tokens, k, &list[out->allocation_count], &found);
        if (done && !found)
            done = read_vector(tokens, k, &list[out->allocation_count],
                               &found);
        out->allocation_count += found;
    }
    out->allocations = list;
    return done;
}
