/* SPDX-License-Identifier: MIT */
/*
 * counters_find: finds the program ncu.  Called by counters.c and
 * command/doctor.c.
 */
#define _GNU_SOURCE   /* secure_getenv */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "profile/profile.h"

static bool is_program(const char *path)
{
    return shmt_path_is_file(path) && access(path, X_OK) == 0;
}

static bool try_in(const char *folder, size_t length, char *out, size_t room)
{
    return length > 0 && folder[0] == '/' &&
           (size_t)snprintf(out, room, "%.*s/ncu", (int)length, folder) <
               room &&
           is_program(out);
}

/* Only absolute folders of $PATH are searched, so that a program in the
 * current folder is never run by accident. */
static bool try_path(char *out, size_t room)
{
    const char *at = getenv("PATH");

    while (at != NULL && *at != '\0') {
        const size_t length = strcspn(at, ":");

        if (try_in(at, length, out, room))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* Of several versions the last one by name. */
static bool try_pattern(const char *pattern, char *out, size_t room)
{
    glob_t found = {0};
    bool any = false;

    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t k = found.gl_pathc; k > 0 && !any; k--)
            any = (size_t)snprintf(out, room, "%s", found.gl_pathv[k - 1]) <
                      room &&
                  is_program(out);
    globfree(&found);
    return any;
}

enum shmtune_status shmt_counters_program(char *out, size_t room,
                                          struct shmt_error *err)
{
    static const char *const patterns[] = {
        "/usr/local/cuda/bin/ncu", "/usr/local/cuda*/bin/ncu",
        "/opt/nvidia/nsight-compute/*/ncu",
    };
    const char *const named = secure_getenv("SHMTUNE_NCU");
    const char *const cuda = secure_getenv("CUDA_HOME");
    char folder[4096];

    if (named != NULL && named[0] != '\0') {
        if ((size_t)snprintf(out, room, "%s", named) < room &&
            named[0] == '/' && is_program(out))
            return SHMTUNE_OK;
        return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                              "$SHMTUNE_NCU is \"%s\", which is not the "
                              "absolute path of a program", named);
    }
    if (try_path(out, room))
        return SHMTUNE_OK;
    if (cuda != NULL &&
        (size_t)snprintf(folder, sizeof folder, "%s/bin", cuda) <
            sizeof folder &&
        try_in(folder, strlen(folder), out, room))
        return SHMTUNE_OK;
    for (size_t k = 0; k < sizeof patterns / sizeof patterns[0]; k++)
        if (try_pattern(patterns[k], out, room))
            return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                          "counters are read by Nsight Compute's ncu, which "
                          "is neither in $PATH nor in $CUDA_HOME/bin, "
                          "/usr/local/cuda*/bin or /opt/nvidia/"
                          "nsight-compute/*: install it (it comes with the "
                          "CUDA toolkit; on its own as nsight-compute), or "
                          "name it in $SHMTUNE_NCU");
}
