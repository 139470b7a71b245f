/* SPDX-License-Identifier: MIT */
/*
 * reach: where a number of a source stands that makes it one to tune.
 */
#include "source/source.h"

#include <stdio.h>
#include <string.h>

/* Whether the name stands between `mark` and the next `end` anywhere. */
static bool stands_behind(const char *code, const char *mark, char end,
                          const char *name)
{
    char part[512];

    while ((code = strstr(code, mark)) != NULL) {
        const char *close = strchr(code, end);

        if (close == NULL)
            return false;
        snprintf(part, sizeof part, "%.*s", (int)(close - code), code);
        if (shmt_text_mentions(part, name, 1) > 0)
            return true;
        code = close;
    }
    return false;
}

const char *shmt_source_reaches(const char *text, const char *name)
{
    if (stands_behind(text, "__launch_bounds__", ')', name))
        return "it stands in the launch bounds";
    if (stands_behind(text, "__shared__", ';', name))
        return "it stands in an array in shared memory";
    return NULL;
}
