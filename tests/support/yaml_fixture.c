/* SPDX-License-Identifier: MIT */
/*
 * yaml_fixture: parses a text and keeps the message when it is refused.
 */
#include "tests/support/yaml_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shmt_error err;

const struct shmt_yaml *parse(struct shmt_arena *arena, const char *text)
{
    const struct shmt_yaml *root = NULL;

    err.text[0] = '\0';
    if (shmt_yaml_parse(arena, "f.yaml", text, strlen(text), &root, &err)
        != SHMTUNE_OK)
        return NULL;
    return root;
}

const char *refusal(const char *data, size_t size)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *root = NULL;
    enum shmtune_status status;

    err.text[0] = '\0';
    status = shmt_yaml_parse(arena, "f", data, size, &root, &err);
    if ((status != SHMTUNE_OK && status != SHMTUNE_INVALID_FILE) ||
        (root != NULL) != (status == SHMTUNE_OK)) {
        printf("Bail out! status %d, %s\n", (int)status, err.text);
        exit(EXIT_FAILURE);
    }
    shmt_arena_free(arena);
    return err.text;
}
