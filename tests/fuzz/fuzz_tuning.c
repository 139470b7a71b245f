/* SPDX-License-Identifier: MIT */
/*
 * Any bytes: a tuning that is written, read and written the same, or a
 * refusal with its place.
 */
#include "fuzz.h"

#include <string.h>

#include "record/tuning.h"

const char fuzz_name[] = "tuning";

static void check_tuning(const struct shmt_tuning *tuning)
{
    struct shmt_tuning *back = NULL;
    struct shmt_text text = {0}, again = {0};
    struct shmt_error err = {0};

    shmt_tuning_format(tuning, &text);
    FUZZ_HOLDS(!text.failed);
    if (text.length <= SHMT_TUNING_BYTES) {
        FUZZ_HOLDS(shmt_tuning_parse("back", text.data, text.length, &back,
                                     &err) == SHMTUNE_OK);
        shmt_tuning_format(back, &again);
        FUZZ_HOLDS(strcmp(text.data, again.data) == 0);
    }
    shmt_tuning_free(back);
    shmt_text_free(&text);
    shmt_text_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_tuning *tuning = NULL;
    struct shmt_error err = {0};
    const enum shmtune_status status =
        shmt_tuning_parse("fuzz", (const char *)data, size, &tuning, &err);

    if (status == SHMTUNE_OK) {
        check_tuning(tuning);
    } else {
        FUZZ_HOLDS(status == SHMTUNE_INVALID_FILE);
        FUZZ_HOLDS(strncmp(err.text, "fuzz:", 5) == 0);
        FUZZ_HOLDS(tuning == NULL);
    }
    shmt_tuning_free(tuning);
    return 0;
}
