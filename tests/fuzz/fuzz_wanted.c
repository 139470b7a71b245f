/* SPDX-License-Identifier: MIT */
/*
 * Any bytes: wanted problems that are written, read and written the same, or a
 * refusal with its place.
 */
#include "fuzz.h"

#include <string.h>

#include "record/wanted.h"

const char fuzz_name[] = "wanted";

static void check_wanted(struct shmt_wanted *wanted)
{
    struct shmt_wanted *back = NULL;
    struct shmt_text text = {0}, again = {0};
    struct shmt_error err = {0};

    shmt_wanted_format(wanted, &text);
    FUZZ_HOLDS(!text.failed);
    FUZZ_HOLDS(shmt_wanted_parse("back", text.data, text.length, &back,
                                 &err) == SHMTUNE_OK);
    FUZZ_HOLDS(back->count == wanted->count);
    shmt_wanted_format(back, &again);
    FUZZ_HOLDS(strcmp(text.data, again.data) == 0);
    shmt_wanted_free(back);
    shmt_text_free(&text);
    shmt_text_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_wanted *wanted = NULL;
    struct shmt_error err = {0};
    const enum shmtune_status status =
        shmt_wanted_parse("fuzz", (const char *)data, size, &wanted, &err);

    if (status == SHMTUNE_OK) {
        check_wanted(wanted);
    } else {
        FUZZ_HOLDS(status == SHMTUNE_INVALID_FILE);
        FUZZ_HOLDS(strncmp(err.text, "fuzz:", 5) == 0);
        FUZZ_HOLDS(wanted == NULL);
    }
    shmt_wanted_free(wanted);
    return 0;
}
