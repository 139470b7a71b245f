/* SPDX-License-Identifier: MIT */
#include "tune/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum shmtune_status shmt_scratch_make(const char *name, char *folder,
                                      size_t room, struct shmt_error *err)
{
    const char *const base = getenv("TMPDIR");
    enum shmtune_status status;

    if ((size_t)snprintf(folder, room, "%s/%s-XXXXXX",
                         base == NULL || base[0] == '\0' ? "/tmp" : base,
                         name) < room &&
        mkdtemp(folder) != NULL)
        return SHMTUNE_OK;
    status = shmt_error_set(err, SHMTUNE_STORAGE,
                            "cannot make a temporary folder %s: %s", folder,
                            strerror(errno));
    folder[0] = '\0';
    return status;
}

void shmt_scratch_remove(const char *folder)
{
    DIR *const dir = folder[0] == '\0' ? NULL : opendir(folder);
    const struct dirent *entry;

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(folder);
}
