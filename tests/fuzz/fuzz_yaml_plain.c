/* SPDX-License-Identifier: MIT */
/*
 * What is read as plain YAML is what libyaml reads: the same tree, places and
 * all.  Whole files of ours are plain; of others it only must not be wrong.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "yaml/plain.h"

const char fuzz_name[] = "yaml_plain";

/* In a comment at the end it leaves the tree alone, and is not plain. */
static const char not_plain[] = "\n# \xc3\xa9\n";

static bool same(const struct shmt_yaml *a, const struct shmt_yaml *b)
{
    if (a->kind != b->kind || a->place.line != b->place.line ||
        a->place.column != b->place.column || a->quoted != b->quoted ||
        a->count != b->count)
        return false;
    if (a->kind == SHMT_YAML_SCALAR)
        return strcmp(a->text, b->text) == 0;
    for (size_t k = 0; k < a->count; k++)
        if (!same(a->items[k], b->items[k]) ||
            (a->kind == SHMT_YAML_MAPPING && !same(a->keys[k], b->keys[k])))
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_yaml_source source = {.origin = {"fuzz", 7, 3},
                                      .data = (const char *)data,
                                      .size = size};
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *plain = NULL, *events = NULL;
    struct shmt_error err;
    char *text = malloc(size + sizeof not_plain);

    FUZZ_HOLDS(arena != NULL && text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    memcpy(text + size, not_plain, sizeof not_plain);
    if (shmt_yaml_plain_parse(arena, &source, &plain) == SHMTUNE_OK) {
        source.data = text;
        source.size = size + sizeof not_plain - 1;
        FUZZ_HOLDS(shmt_yaml_parse_from(arena, &source, &events, &err) ==
                   SHMTUNE_OK);
        FUZZ_HOLDS(same(plain, events));
    } else {
        FUZZ_HOLDS(plain == NULL);
    }
    free(text);
    shmt_arena_free(arena);
    return 0;
}
