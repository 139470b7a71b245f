/* SPDX-License-Identifier: MIT */
/*
 * key: checks the keys of a mapping against those that are allowed, and names
 * the nearest one for a misspelt key.
 */
#include "yaml/yaml.h"

#include <string.h>

static enum shmtune_status refuse_key(const struct shmt_yaml *key,
                                      const char *const *allowed,
                                      struct shmt_error *err)
{
    const char *const nearest = shmt_text_nearest(key->text, allowed,
                                                  strlen(key->text) / 2 + 1);
    char found[SHMT_YAML_QUOTED];
    struct shmt_text known = {0};

    shmt_yaml_quote(key->text, found);
    /* {to: min(n, 64)} has a key "64)". */
    if (!key->quoted && strpbrk(key->text, "()") != NULL)
        return shmt_yaml_refuse(key, err, "found the unknown key %s; within "
                                "{ } put an expression with a comma in quotes",
                                found);
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

/* The index of `key` in `allowed`, searched from index `from` on and then from
 * the start; the index of the NULL when it is not there. */
static size_t find(const char *const *allowed, const char *key, size_t from)
{
    size_t k = from;

    while (allowed[k] != NULL && !shmt_text_equal(key, allowed[k]))
        k++;
    if (allowed[k] != NULL)
        return k;
    for (size_t before = 0; before < from; before++)
        if (shmt_text_equal(key, allowed[before]))
            return before;
    return k;
}

/* Fills `values` unless it is NULL.  Returns the first key that is not
 * allowed, or NULL. */
static const struct shmt_yaml *match_keys(const struct shmt_yaml *mapping,
                                          const char *const *allowed,
                                          const struct shmt_yaml **values)
{
    const size_t count =
        mapping->kind == SHMT_YAML_MAPPING ? mapping->count : 0;
    const struct shmt_yaml *other = NULL;
    size_t next = 0;

    for (size_t k = 0; values != NULL && allowed[k] != NULL; k++)
        values[k] = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct shmt_yaml *key = mapping->keys[i];
        const size_t k = find(allowed, key->text, next);

        if (allowed[k] == NULL) {
            other = other == NULL ? key : other;
            continue;
        }
        if (values != NULL)
            values[k] = mapping->items[i];
        next = k + 1;
    }
    return other;
}

void shmt_yaml_get_known(const struct shmt_yaml *mapping,
                         const char *const *allowed,
                         const struct shmt_yaml **values)
{
    match_keys(mapping, allowed, values);
}

enum shmtune_status shmt_yaml_get_keys(const struct shmt_yaml *mapping,
                                       const char *const *allowed,
                                       const struct shmt_yaml **values,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *other = match_keys(mapping, allowed, values);

    return other == NULL ? SHMTUNE_OK : refuse_key(other, allowed, err);
}

enum shmtune_status shmt_yaml_check_keys(const struct shmt_yaml *mapping,
                                         const char *const *allowed,
                                         struct shmt_error *err)
{
    return shmt_yaml_get_keys(mapping, allowed, NULL, err);
}
