/* SPDX-License-Identifier: MIT */
/* catalogue: a folder that the disk does not give is no empty folder. */
#include "tests/support/check.h"
#include "tests/support/folder.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/kernel.h"

static char root[FOLDER_ROOM];
static struct shmt_error err;
static int open_error, read_error;   /* 0: as it is */

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
struct dirent *__real_readdir(DIR *stream);
struct dirent *__wrap_readdir(DIR *stream);

DIR *__wrap_opendir(const char *path)
{
    errno = open_error;
    return open_error != 0 ? NULL : __real_opendir(path);
}

struct dirent *__wrap_readdir(DIR *stream)
{
    if (read_error == 0)
        return __real_readdir(stream);
    errno = read_error;
    return NULL;
}

static void check_unread(const char *text)
{
    struct shmt_catalogue *catalogue = NULL;

    CHECK_INT(shmt_catalogue_open(root, NULL, &catalogue, &err), SHMTUNE_OK);
    if (catalogue == NULL)
        return;
    CHECK_INT(catalogue->kernel_count, 0);
    CHECK((catalogue->unread != NULL) == (text != NULL));
    CHECK_INT(catalogue->note_count, text != NULL);
    if (catalogue->unread != NULL && text != NULL) {
        CHECK_HAS(catalogue->unread, root);
        CHECK_HAS(catalogue->unread, text);
        CHECK_TEXT(catalogue->notes[0], catalogue->unread);
    }
    shmt_catalogue_close(catalogue);
}

static void empty_folders_are_read(void)
{
    check_unread(NULL);
}

static void folders_that_cannot_be_opened(void)
{
    open_error = EIO;
    check_unread("/kernels: folder cannot be opened: Input/output error");
    open_error = EACCES;
    check_unread("/kernels: folder cannot be opened: Permission denied");
    open_error = 0;
}

static void folders_that_cannot_be_read(void)
{
    read_error = EIO;
    check_unread("/kernels: folder cannot be read: Input/output error");
    read_error = 0;
}

/* Of any number, the last one counts those that are not kept. */
static void notes_have_an_end(void)
{
    struct shmt_catalogue *catalogue = NULL;

    CHECK_INT(shmt_catalogue_open(root, NULL, &catalogue, &err), SHMTUNE_OK);
    for (int k = 0; k < 3 * SHMT_CATALOGUE_NOTES; k++) {
        CHECK_INT(shmt_catalogue_note(catalogue, "note %d", k), SHMTUNE_OK);
        CHECK_INT(catalogue->note_count, k < SHMT_CATALOGUE_NOTES
                                             ? k + 1 : SHMT_CATALOGUE_NOTES);
    }
    CHECK_TEXT(catalogue->notes[0], "note 0");
    CHECK_TEXT(catalogue->notes[SHMT_CATALOGUE_NOTES - 2], "note 254");
    CHECK_HAS(catalogue->notes[SHMT_CATALOGUE_NOTES - 1],
              "513 more notes are not kept, 256 is the most");
    shmt_catalogue_close(catalogue);
}

int main(void)
{
    char kernels[FOLDER_ROOM];

    folder_make(root);
    folder_path(kernels, root, "kernels");
    if (mkdir(kernels, 0700) != 0)
        return EXIT_FAILURE;
    CHECK_RUN(empty_folders_are_read);
    CHECK_RUN(folders_that_cannot_be_opened);
    CHECK_RUN(folders_that_cannot_be_read);
    CHECK_RUN(notes_have_an_end);
    folder_remove(root);
    return CHECK_END();
}
