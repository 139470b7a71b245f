/* SPDX-License-Identifier: MIT */
/*
 * format: which versions of which formats this program reads; for the readers
 * of specs, tunings and journals, before they look at any other key.
 *
 * A new key, or a new meaning of an old one, makes a new version: the one who
 * adds it raises the number in the table, and goes on reading the versions
 * before.
 */
#include "yaml/yaml.h"

#include <string.h>

static const struct {
    const char *word;
    const char *what;
    int newest;
} formats[] = {
    [SHMT_YAML_KERNEL] = {"kernel", "a kernel spec", 2},
    [SHMT_YAML_TUNING] = {"tuning", "a tuning", 3},
    [SHMT_YAML_JOURNAL] = {"journal", "a journal", 5},
    [SHMT_YAML_WANTED] = {"wanted", "a file of wanted problems", 1},
};

/* The N of "word/N", from 1; 0 when the text is something else. */
static int version_of(const char *text, const char *word)
{
    const size_t length = strlen(word);
    int version = 0;

    if (strncmp(text, word, length) != 0 || text[length] != '/')
        return 0;
    for (text += length + 1; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || version > 99999 ||
            (version == 0 && *text == '0'))
            return 0;
        version = 10 * version + (*text - '0');
    }
    return version;
}

enum shmtune_status shmt_yaml_format(const struct shmt_yaml *root,
                                     enum shmt_yaml_format format,
                                     struct shmt_error *err)
{
    const char *const word = formats[format].word;
    const int newest = formats[format].newest;
    const struct shmt_yaml *node;
    char found[SHMT_YAML_QUOTED];
    int version = 0;
    enum shmtune_status status = shmt_yaml_expect(
        root, SHMT_YAML_MAPPING, formats[format].what, err);

    if (status != SHMTUNE_OK)
        return status;
    if (root->count == 0 || strcmp(root->keys[0]->text, "format") != 0)
        return shmt_yaml_refuse(root, err, "expected \"format: %s/%d\" as the "
                                "first key", word, newest);
    node = root->items[0];
    if (node->kind == SHMT_YAML_SCALAR)
        version = version_of(node->text, word);
    if (version > newest)
        return shmt_yaml_refuse(node, err, "found the format %s/%d, newer than "
                                "%s/%d, the newest that shmtune %s reads: "
                                "update shmtune", word, version, word, newest,
                                SHMTUNE_VERSION);
    if (version > 0)
        return SHMTUNE_OK;
    shmt_yaml_describe(node, found);
    return shmt_yaml_refuse(node, err, "found the format %s, expected %s/%d",
                            found, word, newest);
}
