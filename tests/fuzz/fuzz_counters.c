/* SPDX-License-Identifier: MIT */
/*
 * Any bytes: the counters that ncu wrote, each a number or unknown, or a
 * refusal with its line; and what the launches make of a configuration.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "profile/profile.h"

const char fuzz_name[] = "counters";

enum { ROOM = 8 };

static void check_counters(const struct shmt_counters *counters)
{
    for (int m = 0; m < SHMT_METRIC_COUNT; m++)
        FUZZ_HOLDS(isnan(counters->value[m]) ||
                   (isfinite(counters->value[m]) && counters->value[m] >= 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_counters rows[ROOM], all;
    struct shmt_error err = {0};
    size_t count = ROOM + 1;
    const enum shmtune_status status = shmt_counters_parse(
        "fuzz", (const char *)data, size, rows, ROOM, &count, &err);

    if (status == SHMTUNE_OK) {
        FUZZ_HOLDS(count <= ROOM);
        for (size_t k = 0; k < count; k++)
            check_counters(&rows[k]);
        shmt_counters_join(rows, count, &all);
        for (int m = 0; m < SHMT_METRIC_COUNT; m++)
            FUZZ_HOLDS(isnan(all.value[m]) || all.value[m] >= 0);
    } else {
        FUZZ_HOLDS(status == SHMTUNE_INVALID_FILE);
        FUZZ_HOLDS(strncmp(err.text, "fuzz:", 5) == 0);
    }
    return 0;
}
