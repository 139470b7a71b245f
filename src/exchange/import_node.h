/* SPDX-License-Identifier: MIT */
/*
 * import_node: JSON as the importers read it: nodes that know where their text
 * stands in the file.  For the files import_*.c alone.
 */
#ifndef SHMT_EXCHANGE_IMPORT_NODE_H
#define SHMT_EXCHANGE_IMPORT_NODE_H

#include "base/base.h"

enum shmt_import_type {
    SHMT_IMPORT_OBJECT, SHMT_IMPORT_ARRAY, SHMT_IMPORT_STRING,
    SHMT_IMPORT_INTEGER, SHMT_IMPORT_REAL, SHMT_IMPORT_TRUE,
    SHMT_IMPORT_FALSE, SHMT_IMPORT_NULL
};

struct shmt_import_node {
    enum shmt_import_type type;
    size_t count;               /* members, items */
    const char *from, *to;      /* the text of the value */
    const char *key_from;       /* of a member: its text begins here */
    const char *key;            /* of a member, else NULL */
    const char *word;           /* of a string */
    int64_t number;             /* of an integer */
    const struct shmt_import_node *first, *next;
};

/* Reads nodes from a text, which need not end in NUL and must outlive them. */
struct shmt_import_reader {
    const char *file;           /* for messages */
    const char *text, *at, *end;
    struct shmt_error *err;
    bool cut;                   /* the text ends within the list */
    /* Of the list that is read one by one; its keys, to see one twice. */
    bool keys;
    size_t taken;
    struct shmt_map seen;
};

/* The whole text, which is an object.  The members of it that are called as one
 * of `lists` (NULL-terminated) are not read into nodes but found only: their
 * items are to be read by shmt_import_node_next.
 * SHMTUNE_INVALID_FILE: file:line:column and what is wrong. */
enum shmtune_status
shmt_import_node_read(struct shmt_import_reader *reader,
                      struct shmt_arena *arena, const char *const *lists,
                      const struct shmt_import_node **out);

/* Goes to the first item of such a list; then each call of `next` reads one;
 * *out is NULL behind the last, also where the text ends between two members
 * of an object. */
void shmt_import_node_enter(struct shmt_import_reader *reader,
                            const struct shmt_import_node *list);
enum shmtune_status
shmt_import_node_next(struct shmt_import_reader *reader,
                      struct shmt_arena *arena,
                      const struct shmt_import_node **out);

void shmt_import_node_leave(struct shmt_import_reader *reader);

/* All of these accept NULL, which has no type and nothing in it. */
const struct shmt_import_node *
shmt_import_get(const struct shmt_import_node *object, const char *key);
bool shmt_import_is(const struct shmt_import_node *node,
                         enum shmt_import_type type);
bool shmt_import_is_number(const struct shmt_import_node *node);
bool shmt_import_is_truth(const struct shmt_import_node *node);
/* 0 for what is no number. */
double shmt_import_number(const struct shmt_import_node *node);
/* NULL for what is no string. */
const char *shmt_import_word(const struct shmt_import_node *node);

/* The member as it stands in the file, without white space, and with null in
 * the place of NaN and Infinity. */
void shmt_import_write_member(const struct shmt_import_node *node,
                                   struct shmt_text *text);

/* Milliseconds of a unit as T4 has it, "us", "": 1; 0: it is none of time. */
double shmt_import_unit_ms(const char *word);

#endif
