/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a binary: the parameters of the kernel `k` in it, which add up,
 * or nothing; its variables, each with a name that ends; and its sources, each
 * once.
 */
#include "fuzz.h"

#include <string.h>

#include "gpu/cubin.h"
#include "gpu/lines.h"

const char fuzz_name[] = "cubin";

static void read_variables(const uint8_t *data, size_t size)
{
    struct shmt_cubin_variable variable;
    size_t at = 0, before = 0;

    while (shmt_cubin_next_variable(data, size, &at, &variable)) {
        const uint8_t *name = (const uint8_t *)variable.name;

        FUZZ_HOLDS(at > before);
        FUZZ_HOLDS(name >= data && name + strlen(variable.name) < data + size);
        FUZZ_HOLDS(!variable.initialised || variable.bytes <= size);
        before = at;
    }
    before = at = 0;
    for (const char *name;
         (name = shmt_cubin_next_kernel(data, size, &at)) != NULL;
         before = at) {
        FUZZ_HOLDS(at > before);
        FUZZ_HOLDS((const uint8_t *)name + strlen(name) < data + size);
    }
}

static void read_lines(const uint8_t *data, size_t size)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_lines lines;

    shmt_lines_read(arena, data, size, &lines);
    FUZZ_HOLDS(lines.count <= SHMT_LINES_FILES);
    for (size_t k = 0; k < lines.count; k++)
        for (size_t i = 0; i < k; i++)
            FUZZ_HOLDS(strcmp(lines.files[k], lines.files[i]) != 0);
    shmt_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_cubin_params params, again;

    read_variables(data, size);
    read_lines(data, size);
    if (!shmt_cubin_read_params(data, size, "k", &params))
        return 0;
    FUZZ_HOLDS(params.count >= 1 && params.count <= SHMT_CUBIN_PARAMS);
    for (size_t k = 0; k < params.count; k++)
        FUZZ_HOLDS(params.sizes[k] >= 1 && params.sizes[k] <= UINT16_MAX);
    FUZZ_HOLDS(shmt_cubin_read_params(data, size, "k", &again));
    FUZZ_HOLDS(memcmp(&params, &again, sizeof params) == 0);
    return 0;
}
