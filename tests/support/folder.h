/* SPDX-License-Identifier: MIT */
/*
 * folder: a temporary folder of a test, in $TMPDIR.  `make check` gives all
 * tests one of its own and removes what killed ones left there before it runs
 * again.
 */
#ifndef SHMT_TESTS_FOLDER_H
#define SHMT_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FOLDER_ROOM = 256 };

/* A file's path in `base`, which is NULL: $TMPDIR. */
static inline void folder_path(char path[FOLDER_ROOM], const char *base,
                               const char *name)
{
    const char *const temporary = getenv("TMPDIR");
    const int length = snprintf(path, FOLDER_ROOM, "%s/%s",
                                base != NULL ? base
                                : temporary != NULL ? temporary : "/tmp",
                                name);

    if (length >= FOLDER_ROOM) {
        printf("Bail out! $TMPDIR is too long: %d bytes\n", length);
        exit(EXIT_FAILURE);
    }
}

/* Makes the folder, or ends the program. */
static inline void folder_make(char folder[FOLDER_ROOM])
{
    folder_path(folder, NULL, "shmtune-test.XXXXXX");
    if (mkdtemp(folder) == NULL) {
        printf("Bail out! %s cannot be made\n", folder);
        exit(EXIT_FAILURE);
    }
}

static inline void folder_remove(const char *folder)
{
    char command[FOLDER_ROOM + 16];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        perror(command);
}

#endif
