/* SPDX-License-Identifier: MIT */
/*
 * yaml_key: the keys that a mapping may have, and what was meant by another.
 */
#include "core/yaml.h"

#include <string.h>

/* Longer keys are not compared. */
enum { WORD = 64 };

/* Insertions, deletions and replacements from one word to the other. */
static size_t distance(const char *from, const char *to)
{
    size_t row[WORD + 1], from_length = strlen(from), to_length = strlen(to);

    if (from_length > WORD || to_length > WORD)
        return WORD;
    for (size_t k = 0; k <= to_length; k++)
        row[k] = k;
    for (size_t i = 1; i <= from_length; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t k = 1; k <= to_length; k++) {
            size_t best = diagonal + (from[i - 1] != to[k - 1]);

            diagonal = row[k];
            if (row[k] + 1 < best)
                best = row[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[to_length];
}

static enum shmtune_status refuse_key(const struct shmt_yaml *key,
                                      const char *const *allowed,
                                      struct shmt_error *err)
{
    const char *nearest = NULL;
    size_t least = strlen(key->text) / 2 + 1;
    char found[SHMT_YAML_QUOTED];
    struct shmt_text known = {0};

    for (size_t k = 0; allowed[k] != NULL; k++) {
        const size_t away = distance(key->text, allowed[k]);

        if (away < least) {
            least = away;
            nearest = allowed[k];
        }
    }
    shmt_yaml_quote(key->text, found);
    if (nearest != NULL)
        return shmt_yaml_refuse(key, err, "found the unknown key %s, did you "
                                "mean \"%s\"?", found, nearest);
    for (size_t k = 0; allowed[k] != NULL; k++)
        shmt_text_addf(&known, "%s%.64s", k == 0 ? "" : ", ", allowed[k]);
    if (known.length == 0)
        shmt_text_add(&known, "no key here");
    shmt_yaml_refuse(key, err, "found the unknown key %s, expected %s%.400s",
                     found,
                     allowed[0] == NULL || allowed[1] == NULL ? "" : "one of ",
                     shmt_text_string(&known));
    shmt_text_free(&known);
    return SHMTUNE_INVALID_FILE;
}

enum shmtune_status shmt_yaml_keys(const struct shmt_yaml *mapping,
                                   const char *const *allowed,
                                   struct shmt_error *err)
{
    size_t k = 0;    /* on from the last one: mostly in order */

    for (size_t i = 0; i < mapping->count; i++) {
        const char *key = mapping->keys[i]->text;
        const size_t first = k;

        while (allowed[k] != NULL && !shmt_text_same(key, allowed[k]))
            k++;
        if (allowed[k] != NULL)
            continue;
        for (k = 0; k < first && !shmt_text_same(key, allowed[k]);)
            k++;
        if (k == first)
            return refuse_key(mapping->keys[i], allowed, err);
    }
    return SHMTUNE_OK;
}
