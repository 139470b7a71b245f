/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a binary: the parameters of the kernel `k` in it, which add up,
 * or nothing; and its variables, each with a name that ends.
 */
#include "fuzz.h"

#include <string.h>

#include "gpu/cubin.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_cubin_params params, again;

    read_variables(data, size);
    if (!shmt_cubin_read_params(data, size, "k", &params))
        return 0;
    FUZZ_HOLDS(params.count >= 1 && params.count <= SHMT_CUBIN_PARAMS);
    for (size_t k = 0; k < params.count; k++)
        FUZZ_HOLDS(params.sizes[k] >= 1 && params.sizes[k] <= UINT16_MAX);
    FUZZ_HOLDS(shmt_cubin_read_params(data, size, "k", &again));
    FUZZ_HOLDS(memcmp(&params, &again, sizeof params) == 0);
    return 0;
}
