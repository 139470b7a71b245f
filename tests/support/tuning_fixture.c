/* SPDX-License-Identifier: MIT */
/*
 * tuning_fixture: the valid tuning of the fuzz corpus, as it is or edited.
 */
#include "tests/support/tuning_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

const char *good;
size_t good_size;
struct shmt_error err;
static struct shmt_arena *arena;

void tuning_begin(void)
{
    const char *folder = getenv("SHMT_SRCDIR");
    struct shmt_text path = {0};

    arena = shmt_arena_new();
    shmt_text_addf(&path, "%s/tests/fuzz/corpus/tuning/good.yaml",
                   folder == NULL ? "." : folder);
    if (arena == NULL
        || shmt_path_read(arena, path.data, 1 << 20, &good, &good_size, &err)
               != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    shmt_text_free(&path);
}

void tuning_end(void)
{
    shmt_arena_free(arena);
}

struct shmt_tuning *parse(const char *text)
{
    struct shmt_tuning *tuning = NULL;

    err.text[0] = '\0';
    shmt_tuning_parse("t.yaml", text, strlen(text), &tuning, &err);
    return tuning;
}

const char *changed(const char *from, const char *to)
{
    const char *at = strstr(good, from);
    char *text = shmt_arena_alloc(arena, good_size + strlen(to) + 1, 1);

    if (at == NULL || text == NULL) {
        printf("# no \"%s\" in the good tuning\n", from);
        abort();
    }
    memcpy(text, good, (size_t)(at - good));
    strcat(text, to);
    strcat(text, at + strlen(from));
    return text;
}
