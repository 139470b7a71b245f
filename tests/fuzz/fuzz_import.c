/* SPDX-License-Identifier: MIT */
/*
 * Any bytes (T1, Kernel Tuner's caches, T4): a space or a run whose spec our
 * own reader would take in, or a refusal that names the file; how many
 * configurations it has; and any text as a Python list.
 */
#include "fuzz.h"

#include <string.h>

#include "exchange/exchange.h"
#include "yaml/yaml.h"

const char fuzz_name[] = "import";

/* Small ones only: how long a large space takes is no matter of bytes. */
static void check_count(const struct shmt_import *import)
{
    struct shmt_error err = {0};
    uint64_t count = 0, most = 1;

    for (size_t p = 0; p < import->parameter_count; p++) {
        if (import->parameters[p].count > 1000)
            return;
        most *= import->parameters[p].count;
        if (most > 100000)
            return;
    }
    if (shmt_import_count(import, &count, NULL, &err) == SHMTUNE_OK)
        FUZZ_HOLDS(count > 0 && count <= most);
    else
        FUZZ_HOLDS(strncmp(err.text, "fuzz:", 5) == 0);
}

static void check_import(const struct shmt_import *import)
{
    const struct shmt_yaml *top;
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_text text = {0};
    struct shmt_error err = {0};
    const char *line = import->results.data;
    bool defaults;

    FUZZ_HOLDS(arena != NULL);
    FUZZ_HOLDS(import->parameter_count > 0);
    FUZZ_HOLDS(shmt_import_spec(import, &text, &defaults, &err) ==
               SHMTUNE_OK);
    if (text.length < 60000) {
        FUZZ_HOLDS(shmt_yaml_parse(arena, "spec", text.data, text.length,
                                   &top, &err) == SHMTUNE_OK);
        FUZZ_HOLDS(shmt_yaml_get(shmt_yaml_get(top, "parameters"),
                                 import->parameters[0].name) != NULL);
    }
    for (size_t k = 0; k < import->entry_count; k++) {
        FUZZ_HOLDS(line < import->results.data + import->results.length);
        FUZZ_HOLDS(*line == ',');
        line += strlen(line) + 1;
    }
    check_count(import);
    shmt_text_free(&text);
    shmt_arena_free(arena);
}

/* In memory of its own size, so that a sanitizer sees a read past its end. */
static void check_list(const uint8_t *data, size_t size)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_import_list list;
    struct shmt_error err = {0};
    char *text;

    FUZZ_HOLDS(arena != NULL);
    text = malloc(size + 1);
    FUZZ_HOLDS(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (shmt_import_parse_list(arena, "fuzz", text, &list, &err) == SHMTUNE_OK)
        FUZZ_HOLDS(list.count <= SHMT_SPACE_VALUES);
    else
        FUZZ_HOLDS(strncmp(err.text, "fuzz", 4) == 0);
    shmt_arena_free(arena);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_import *import = NULL;
    struct shmt_error err = {0};
    const enum shmtune_status status = shmt_import_parse(
        "fuzz", (const char *)data, size, &import, &err);

    if (status == SHMTUNE_OK) {
        check_import(import);
    } else {
        FUZZ_HOLDS(status == SHMTUNE_INVALID_FILE);
        FUZZ_HOLDS(strncmp(err.text, "fuzz:", 5) == 0);
        FUZZ_HOLDS(import == NULL);
    }
    shmt_import_free(import);
    check_list(data, size);
    return 0;
}
