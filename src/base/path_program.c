/* SPDX-License-Identifier: MIT */
/*
 * path_program: where a program is, in a list of folders like $PATH.  Called
 * by whoever starts one that is not ours, or tells that it is not there.
 */
#include "base/path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool shmt_path_is_program(const char *path)
{
    return shmt_path_is_file(path) && access(path, X_OK) == 0;
}

bool shmt_path_find_program(const char *folders, const char *name, char *out,
                            size_t room)
{
    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");

        if (length > 0 && folders[0] == '/' &&
            (size_t)snprintf(out, room, "%.*s/%s", (int)length, folders,
                             name) < room &&
            shmt_path_is_program(out))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}
