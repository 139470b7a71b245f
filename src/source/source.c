/* SPDX-License-Identifier: MIT */
/*
 * source: reads the text of a CUDA source: splits it, and hands it to those
 * who look for kernels, macros and launches.  Called by command/ for `init`
 * and `check`.
 */
#include "source/token.h"

#include <stdlib.h>

enum shmtune_status shmt_source_read(struct shmt_arena *arena,
                                     const char *text,
                                     struct shmt_source *out,
                                     struct shmt_error *err)
{
    struct shmt_source_tokens tokens = {.arena = arena};
    struct shmt_source source = {0};
    const bool done = shmt_source_split(&tokens, text) &&
                      shmt_source_kernels(&tokens, &source) &&
                      shmt_source_macros(&tokens, &source) &&
                      shmt_source_defines(&tokens, &source) &&
                      shmt_source_host(&tokens, &source) &&
                      shmt_source_callers(&tokens, &source) &&
                      shmt_source_allocations(&tokens, &source);

    for (size_t k = 0; done && k + 1 < tokens.count; k++)
        source.shared_dynamic |=
            shmt_source_is(&tokens.items[k], "extern") &&
            shmt_source_is(&tokens.items[k + 1], "__shared__");
    free(tokens.items);
    if (!done)
        return shmt_error_memory(err);
    *out = source;
    return SHMTUNE_OK;
}

static bool ends_with(const char *text, const char *name, size_t length)
{
    const size_t all = strlen(text);

    return all >= length && memcmp(text + all - length, name, length) == 0 &&
           (all == length || text[all - length - 1] == ':');
}

enum shmt_source_match
shmt_source_match(const struct shmt_source_kernel *kernel, const char *name,
                  size_t length)
{
    size_t last = length;

    while (last > 0 && name[last - 1] != ':')
        last--;
    if (ends_with(kernel->qualified, name, length))
        return strlen(kernel->qualified) == length ? SHMT_SOURCE_EXACT
                                                   : SHMT_SOURCE_SHORT;
    return strlen(kernel->name) == length - last &&
                   memcmp(kernel->name, name + last, length - last) == 0
               ? SHMT_SOURCE_ELSEWHERE : SHMT_SOURCE_OTHER;
}

const struct shmt_source_kernel *
shmt_source_kernel_with(const struct shmt_source *source, const char *name,
                        size_t count)
{
    const struct shmt_source_kernel *found = NULL;

    for (size_t k = 0; k < source->kernel_count; k++)
        if (strcmp(source->kernels[k].name, name) == 0 &&
            source->kernels[k].signature.count == count)
            found = &source->kernels[k];
    return found;
}

const struct shmt_source_kernel *
shmt_source_find(const struct shmt_source *source, const char *name,
                 size_t length)
{
    const struct shmt_source_kernel *found = NULL;
    enum shmt_source_match best = SHMT_SOURCE_OTHER;

    for (size_t k = 0; k < source->kernel_count; k++) {
        const enum shmt_source_match match =
            shmt_source_match(&source->kernels[k], name, length);

        if (match > best) {
            best = match;
            found = &source->kernels[k];
        }
    }
    return found;
}
