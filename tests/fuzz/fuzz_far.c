/* SPDX-License-Identifier: MIT */
/*
 * Any line: an order to a relay or a note from one, or a refusal that says why.
 * What is accepted is written out, read again and written once more: both texts
 * must be the same.  No name leads out of the folders there are.
 */
#include "fuzz.h"

#include <string.h>

#include "target/target.h"

const char fuzz_name[] = "far";

static const char version[] = "0.1.0";

static void check_name(const char *name)
{
    const char *const up = strstr(name, "..");

    FUZZ_HOLDS(strlen(name) < SHMT_FAR_NAME && name[0] != '/');
    FUZZ_HOLDS(strncmp(name, SHMT_FAR_TREE, strlen(SHMT_FAR_TREE)) == 0 ||
               strncmp(name, SHMT_FAR_IMAGES, strlen(SHMT_FAR_IMAGES)) == 0);
    FUZZ_HOLDS(up == NULL || (up[-1] != '/' && strstr(name, "/.") == NULL));
}

static void check_order(const char *line, size_t size)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_far_order order, again;
    struct shmt_text first = {0}, second = {0};
    struct shmt_error err = {0};

    FUZZ_HOLDS(arena != NULL);
    if (shmt_far_read_order(arena, line, size, &order, &err) != SHMTUNE_OK) {
        FUZZ_HOLDS(err.text[0] != '\0');
        shmt_arena_free(arena);
        return;
    }
    if (order.name != NULL)
        check_name(order.name);
    FUZZ_HOLDS(order.digest == NULL || shmt_digest_valid(order.digest));
    FUZZ_HOLDS(order.count <= SHMT_FAR_FILES &&
               order.bytes <= SHMT_FAR_FILE_BYTES);
    for (size_t k = 0; k < order.count; k++)
        FUZZ_HOLDS(shmt_digest_valid(order.digests[k]));
    shmt_far_write_order(&order, &first);
    FUZZ_HOLDS(shmt_far_read_order(arena, first.data, first.length, &again,
                                   &err) == SHMTUNE_OK);
    FUZZ_HOLDS(again.kind == order.kind);
    shmt_far_write_order(&again, &second);
    FUZZ_HOLDS(strcmp(shmt_text_string(&first),
                      shmt_text_string(&second)) == 0);
    shmt_text_free(&first);
    shmt_text_free(&second);
    shmt_arena_free(arena);
}

static void check_note(const char *line)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_far_note note, again;
    struct shmt_text first = {0}, second = {0};
    struct shmt_error err = {0};

    FUZZ_HOLDS(arena != NULL);
    if (shmt_far_read_note(arena, line, version, &note, &err) !=
        SHMTUNE_OK) {
        FUZZ_HOLDS(err.text[0] != '\0');
        shmt_arena_free(arena);
        return;
    }
    /* The device of another version is not read. */
    if (note.kind != SHMT_FAR_NOTE_GREETING ||
        (note.protocol == SHMT_FAR_PROTOCOL &&
         strcmp(note.version, version) == 0)) {
        shmt_far_write_note(&note, &first);
        FUZZ_HOLDS(shmt_far_read_note(arena, shmt_text_string(&first), version,
                                      &again, &err) == SHMTUNE_OK);
        FUZZ_HOLDS(again.kind == note.kind);
        shmt_far_write_note(&again, &second);
        FUZZ_HOLDS(strcmp(shmt_text_string(&first),
                          shmt_text_string(&second)) == 0);
    }
    shmt_text_free(&first);
    shmt_text_free(&second);
    shmt_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const line = malloc(size + 1);

    FUZZ_HOLDS(line != NULL);
    memcpy(line, data, size);
    line[size] = '\0';
    check_order(line, size);
    check_note(line);
    free(line);
    return 0;
}
