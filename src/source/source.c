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
                      shmt_source_host(&tokens, &source);

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

const struct shmt_source_kernel *
shmt_source_find(const struct shmt_source *source, const char *name,
                 size_t length)
{
    for (size_t k = 0; k < source->kernel_count; k++)
        if (strlen(source->kernels[k].name) == length &&
            memcmp(source->kernels[k].name, name, length) == 0)
            return &source->kernels[k];
    return NULL;
}
