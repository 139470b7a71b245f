/* SPDX-License-Identifier: MIT */
/*
 * files: a folder for the targets whose readers open their input by name,
 * fuzz_kernel and fuzz_image.  In memory where the system has such a place:
 * rewriting a file on a disk takes longer than reading it.
 */
#define _GNU_SOURCE   /* nftw */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int remove_one(const char *path, const struct stat *about, int kind,
                      struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    static const char memory[] = "/dev/shm";

    if (folder[0] != '\0')
        return folder;
    snprintf(folder, sizeof folder, "%s/shmtune-fuzz.XXXXXX",
             access(memory, W_OK) == 0 ? memory : "/tmp");
    FUZZ_HOLDS(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    return folder;
}

void fuzz_write(const char *path, const void *data, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    FUZZ_HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    FUZZ_HOLDS(close(fd) == 0);
}
