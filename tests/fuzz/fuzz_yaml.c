/* SPDX-License-Identifier: MIT */
/*
 * Any bytes: a tree whose every node keeps to what yaml/yaml.h says, or a
 * refusal with its place.
 */
#include "fuzz.h"

#include <string.h>

#include "yaml/yaml.h"

const char fuzz_name[] = "yaml";

static void check_readers(const struct shmt_yaml *node)
{
    struct shmt_error err;
    struct shmt_value value;
    struct shmt_text text = {0};
    char found[SHMT_YAML_QUOTED];
    const char *word;
    int64_t number;
    double real;

    shmt_yaml_describe(node, found);
    FUZZ_HOLDS(strlen(found) < sizeof found);
    if (shmt_yaml_int(node, -5, 5, &number, &err) == SHMTUNE_OK)
        FUZZ_HOLDS(number >= -5 && number <= 5);
    if (shmt_yaml_real(node, &real, &err) == SHMTUNE_OK)
        FUZZ_HOLDS(real - real == 0);
    if (shmt_yaml_word(node, &word, &err) == SHMTUNE_OK)
        FUZZ_HOLDS(strlen(word) <= 64);
    if (shmt_yaml_value(node, &value, &err) == SHMTUNE_OK)
        shmt_yaml_add_value(&text, value);
    shmt_text_free(&text);
}

static void check_node(const struct shmt_yaml *node, int depth)
{
    static const char *const allowed[] = {"format", "kernel", NULL};
    struct shmt_error err;

    FUZZ_HOLDS(depth <= 32 || node->kind == SHMT_YAML_SCALAR);
    FUZZ_HOLDS(node->place.line >= 1 && node->place.column >= 1);
    check_readers(node);
    if (node->kind == SHMT_YAML_SCALAR) {
        FUZZ_HOLDS(strlen(node->text) <= 65536);
        return;
    }
    if (node->kind == SHMT_YAML_MAPPING)
        shmt_yaml_check_keys(node, allowed, &err);
    for (size_t k = 0; k < node->count; k++) {
        if (node->kind == SHMT_YAML_MAPPING) {
            FUZZ_HOLDS(node->keys[k]->kind == SHMT_YAML_SCALAR);
            if (k < 50)
                FUZZ_HOLDS(shmt_yaml_get(node, node->keys[k]->text)
                           == node->items[k]);
        }
        check_node(node->items[k], depth + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *root = NULL;
    struct shmt_error err = {0};
    enum shmtune_status status;

    FUZZ_HOLDS(arena != NULL);
    status = shmt_yaml_parse(arena, "fuzz", (const char *)data, size, &root,
                             &err);
    if (status == SHMTUNE_OK) {
        check_node(root, 1);
    } else {
        FUZZ_HOLDS(status == SHMTUNE_INVALID_FILE);
        FUZZ_HOLDS(strncmp(err.text, "fuzz:", 5) == 0);
        FUZZ_HOLDS(root == NULL);
    }
    shmt_arena_free(arena);
    return 0;
}
