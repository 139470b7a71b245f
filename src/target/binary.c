/* SPDX-License-Identifier: MIT */
#include "target/binary.h"

#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    size_t number;
    char key[SHMT_DIGEST_TEXT];
};

enum { BUCKETS = 8192 };

struct shmt_binaries {
    size_t count;
    struct node *buckets[BUCKETS];
};

struct shmt_binaries *shmt_binaries_new(void)
{
    return calloc(1, sizeof(struct shmt_binaries));
}

void shmt_binaries_free(struct shmt_binaries *binaries)
{
    if (binaries == NULL)
        return;
    for (size_t k = 0; k < BUCKETS; k++) {
        struct node *node = binaries->buckets[k];
        while (node != NULL) {
            struct node *const next = node->next;
            free(node);
            node = next;
        }
    }
    free(binaries);
}

static size_t bucket_of(const char *key)
{
    size_t h = 5381;
    while (*key != '\0')
        h = h * 33 + (unsigned char)*key++;
    return h % BUCKETS;
}

size_t shmt_binaries_number(struct shmt_binaries *binaries,
                            const char key[SHMT_DIGEST_TEXT])
{
    struct node **const bucket = &binaries->buckets[bucket_of(key)];
    struct node *node = *bucket;

    while (node != NULL && strcmp(node->key, key) != 0)
        node = node->next;
    if (node != NULL)
        return node->number;
    node = calloc(1, sizeof *node);
    if (node == NULL)
        return SIZE_MAX;
    memcpy(node->key, key, SHMT_DIGEST_TEXT);
    node->number = binaries->count++;
    node->next = *bucket;
    *bucket = node;
    return node->number;
}
