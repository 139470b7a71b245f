/* SPDX-License-Identifier: MIT */
/*
 * table: the states of a level.  For build.c alone.
 */
#ifndef SHMT_SPACE_STATES_H
#define SHMT_SPACE_STATES_H

#include "base/base.h"

struct shmt_states {
    size_t words;                 /* of a state */
    uint64_t *states;             /* [count * words] */
    uint32_t count;
    size_t room;
    uint32_t *buckets;            /* state + 1 */
    size_t bucket_count;
    bool direct;                  /* the bucket is the word itself */
};

/* `bits`: how many of the words' bits are used in all. */
bool shmt_states_open(struct shmt_states *table, size_t words, unsigned bits);
void shmt_states_close(struct shmt_states *table);

/* The state with these words, made when it is new; UINT32_MAX: no memory. */
uint32_t shmt_states_find(struct shmt_states *table, const uint64_t *key);
size_t shmt_states_bytes(const struct shmt_states *table);

#endif
