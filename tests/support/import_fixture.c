/* SPDX-License-Identifier: MIT */
/*
 * import_fixture: imports a text, writes the spec and the journal of the
 * import, and reads both back.
 */
#include "tests/support/import_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "tests/support/folder.h"

struct shmt_error err;
static char folder[FOLDER_ROOM];

void import_begin(void)
{
    folder_make(folder);
}

void import_end(void)
{
    folder_remove(folder);
}

struct shmt_import *parse(const char *text)
{
    struct shmt_import *import = NULL;

    err.text[0] = '\0';
    shmt_import_parse("f.json", text, strlen(text), &import, &err);
    return import;
}

struct shmt_kernel *kernel_of(const struct shmt_import *import)
{
    struct shmt_text text = {0}, path = {0};
    struct shmt_kernel *kernel = NULL;
    bool defaults;

    shmt_text_addf(&path, "%s/%s.yaml", folder, import->name);
    if (shmt_import_spec(import, &text, &defaults, &err) == SHMTUNE_OK &&
        shmt_path_write(path.data, text.data, text.length, &err) ==
            SHMTUNE_OK)
        shmt_kernel_read(path.data, &kernel, &err);
    shmt_text_free(&text);
    shmt_text_free(&path);
    return kernel;
}

struct shmt_journal *journal_of(const struct shmt_import *import,
                                const struct shmt_kernel *kernel)
{
    struct shmt_journal *journal = NULL;
    struct shmt_text text = {0}, path = {0};
    struct shmt_import_cursor cursor = {0};

    shmt_text_addf(&path, "%s/run.journal", folder);
    if (shmt_import_journal(import, kernel, &cursor, &text, &err) ==
            SHMTUNE_OK &&
        shmt_path_write(path.data, text.data, text.length, &err) ==
            SHMTUNE_OK)
        shmt_journal_read(path.data, kernel, &journal, &err);
    shmt_text_free(&text);
    shmt_text_free(&path);
    return journal;
}

char *repeated(const char *head, const char *piece, size_t count)
{
    const size_t length = strlen(piece), start = strlen(head);
    char *text = malloc(start + count * length + 1);

    memcpy(text, head, start);
    for (size_t k = 0; k < count; k++)
        memcpy(text + start + k * length, piece, length);
    text[start + count * length] = '\0';
    return text;
}
