/* SPDX-License-Identifier: MIT */
/*
 * path: what in $SHMTUNE_PATH cannot be what was meant.  The same is
 * noted by the library's catalogue (runtime/catalogue.c).
 */
#include "config.h"

#include "command/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { ROOM = 4096, SHOWN = 256 };

static bool is_folder(const char *folder, size_t length, const char *part)
{
    char path[ROOM];
    const int used = snprintf(path, sizeof path, "%.*s/%s", (int)length,
                              folder, part);

    return used > 0 && used < ROOM && shmt_path_is_folder(path);
}

/* With errno where it is not. */
static bool may_enter(const char *folder, size_t length)
{
    char path[ROOM + 2];

    errno = ENOENT;
    return length < ROOM &&
           snprintf(path, sizeof path, "%.*s/.", (int)length, folder) > 0 &&
           shmt_path_exists(path);
}

/* NULL: nothing. */
static const char *blame(const char *folder, size_t length)
{
    if (folder[0] != '/')
        return "is ignored: not an absolute path";
    if (!may_enter(folder, length))
        return errno == ENOENT || errno == ENOTDIR
                   ? "there is no such folder"
                   : "the folder cannot be entered";
    if (!is_folder(folder, length, "kernels") &&
        !is_folder(folder, length, "tunings"))
        return "has neither a folder kernels nor a folder tunings";
    return NULL;
}

void shmt_command_path_notes(void (*say)(void *context, const char *note),
                             void *context)
{
    const char *list = getenv("SHMTUNE_PATH");

    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ":");
        const char *what = length == 0 ? NULL : blame(list, length);
        char note[SHOWN + 80];

        if (what != NULL) {
            snprintf(note, sizeof note, "$SHMTUNE_PATH: %.*s%s %s",
                     (int)(length < SHOWN ? length : SHOWN), list,
                     list[0] == '/' ? ":" : "", what);
            say(context, note);
        }
        list += length;
        list += *list == ':';
    }
}
