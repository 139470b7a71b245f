/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a binary: the parameters of the kernel `k` in it, which add up,
 * or nothing.
 */
#include "fuzz.h"

#include <string.h>

#include "gpu/cubin.h"

const char fuzz_name[] = "cubin";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_cubin_params params, again;

    if (!shmt_cubin_read_params(data, size, "k", &params))
        return 0;
    FUZZ_HOLDS(params.count >= 1 && params.count <= SHMT_CUBIN_PARAMS);
    for (size_t k = 0; k < params.count; k++)
        FUZZ_HOLDS(params.sizes[k] >= 1 && params.sizes[k] <= UINT16_MAX);
    FUZZ_HOLDS(shmt_cubin_read_params(data, size, "k", &again));
    FUZZ_HOLDS(memcmp(&params, &again, sizeof params) == 0);
    return 0;
}
