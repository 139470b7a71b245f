/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the begin of a .npy: a type, an order and extents, or a message
 * of one line.  What is right for an argument is what is written for one.
 */
#include "fuzz.h"

#include <string.h>

#include "data/data.h"

const char fuzz_name[] = "npy";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_error err = {0};
    struct shmt_npy npy, again;
    size_t bytes;

    if (shmt_npy_size(data, size, &bytes, &err) == SHMTUNE_OK)
        FUZZ_HOLDS(bytes <= SHMT_NPY_HEADER);
    if (shmt_npy_read(data, size, &npy, &err) != SHMTUNE_OK) {
        FUZZ_HOLDS(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
        return 0;
    }
    FUZZ_HOLDS(npy.bytes == bytes && bytes <= size);
    FUZZ_HOLDS(npy.extent_count <= SHMT_NPY_EXTENTS);
    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const struct shmt_fill_values values = {
            .element = e, .count = npy.extent_count == 1 ? npy.extents[0] : 1};
        struct shmt_text text = {0};

        if (shmt_npy_check(&npy, &values, &err) != SHMTUNE_OK)
            continue;
        FUZZ_HOLDS(!npy.column_major);
        shmt_npy_write(e, values.count, &text);
        FUZZ_HOLDS(shmt_npy_read(text.data, text.length, &again, &err) ==
                   SHMTUNE_OK);
        FUZZ_HOLDS(shmt_npy_check(&again, &values, &err) == SHMTUNE_OK);
        shmt_text_free(&text);
    }
    return 0;
}
