/* SPDX-License-Identifier: MIT */
/*
 * answer: reads the program of a spec that computes what is right, in the place
 * of a reference.  Nothing of it is run here.
 */
#include "kernel/read.h"

#include <string.h>

enum { WORDS = 64, WORD = 4096, MOST_S = 86400 };
static const double DEFAULT_S = 60;

/* A word that names a file beside the spec is passed as its absolute path, as
 * the program runs in a folder of its own. */
static enum shmtune_status read_word(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *key,
                                     const struct shmt_yaml *node, void *item)
{
    struct shmt_arena *arena = reader->kernel->arena;
    const char *folder = shmt_path_folder(arena, reader->kernel->path);
    struct shmt_answer_word *out = item;
    const char *path;
    enum shmtune_status status =
        shmt_kernel_read_string(reader, node, WORD, &out->text);

    (void)key;
    if (status != SHMTUNE_OK)
        return status;
    if (out->text[0] == '\0')
        return shmt_yaml_refuse(node, reader->err, "an empty word");
    path = folder == NULL ? NULL : shmt_path_join(arena, folder, out->text);
    if (path != NULL)
        path = shmt_path_absolute(arena, path);
    if (path == NULL)
        return shmt_error_memory(reader->err);
    out->file = shmt_path_is_file(path);
    if (out->file)
        out->text = path;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_kernel_answer_read(struct shmt_kernel_reader *reader)
{
    static const char *const keys[] = {"command", "timeout_s", NULL};
    const struct shmt_yaml *node = shmt_yaml_get(reader->root, "answer");
    struct shmt_answer *answer = &reader->kernel->answer;
    struct shmt_kernel_list list = {
        .mapping = node, .key = "command", .needed = true,
        .kind = SHMT_YAML_SEQUENCE, .expected = "command, [PROGRAM, WORD]",
        .items_are = "words", .least = 1, .most = WORDS,
        .size = sizeof(struct shmt_answer_word), .read = read_word
    };
    const struct shmt_yaml *timeout;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    if (shmt_yaml_get(reader->root, "reference") != NULL)
        return shmt_yaml_refuse(node, reader->err,
                                "answer beside reference; one of the two says "
                                "what is right");
    status = shmt_yaml_expect(node, SHMT_YAML_MAPPING,
                              "answer, {command: [PROGRAM]}", reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, keys, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_read_list(reader, &list);
    if (status != SHMTUNE_OK)
        return status;
    timeout = shmt_yaml_get(node, "timeout_s");
    answer->timeout_s = DEFAULT_S;
    if (timeout != NULL)
        status = shmt_yaml_real(timeout, &answer->timeout_s, reader->err);
    if (status == SHMTUNE_OK &&
        !(answer->timeout_s > 0 && answer->timeout_s <= MOST_S))
        status = shmt_yaml_refuse(timeout, reader->err,
                                  "a timeout of %g s; more than 0, and %d at "
                                  "most, is expected", answer->timeout_s,
                                  MOST_S);
    answer->word_count = list.count;
    answer->words = list.items;
    answer->place = node->place;
    return status;
}
