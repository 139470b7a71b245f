/* SPDX-License-Identifier: MIT */
/*
 * yaml: the strict reader of every format of ours, and what a writer needs.
 * The one user of libyaml.
 *
 * Accepted: one UTF-8 document of mappings, sequences and scalars.  Refused
 * with file:line:column: tags, aliases, anchors, directives, merge keys,
 * duplicate keys, a second document, and what passes the caps on file size,
 * depth, events and scalar length.
 */
#ifndef SHMT_YAML_H
#define SHMT_YAML_H

#include <stdint.h>

#include "base/base.h"
#include "expr/expr.h"

enum shmt_yaml_kind { SHMT_YAML_SCALAR, SHMT_YAML_SEQUENCE, SHMT_YAML_MAPPING };

/* Lives in the arena it was parsed into. */
struct shmt_yaml {
    enum shmt_yaml_kind kind;
    bool quoted;              /* scalar */
    struct shmt_place place;
    union {
        const char *text;     /* scalar: NUL-terminated, no NUL inside */
        /* sequence: items[0..count); mapping: keys[k] -> items[k] */
        const struct shmt_yaml *const *items;
    };
    size_t count;             /* scalar: 0 */
    const struct shmt_yaml *const *keys;   /* scalars */
};

/* `file` is for messages (copied).  An empty document is refused. */
enum shmtune_status shmt_yaml_parse(struct shmt_arena *arena,
                                    const char *file, const char *data,
                                    size_t size, const struct shmt_yaml **out,
                                    struct shmt_error *err);

/* A text, or a piece of one whose first byte stands at `origin` (from 1). */
struct shmt_yaml_source {
    struct shmt_place origin;
    const char *data;
    size_t size;
    /* Arena of the nodes when they need not live as long as the texts; NULL:
     * they go where the texts go. */
    struct shmt_arena *nodes;
    /* Refuse a document that begins with `---` and does not end with `...`:
     * a writer of ours begins so, and a file of it was cut then. */
    bool ends;
    /* NULL, or a key of the document.  The items of the sequence there go to
     * `take` one at a time, with what stands before the sequence, and are
     * forgotten with their texts, so that a long document does not need a
     * long tree.  The sequence keeps its count, and has no items.  What `take`
     * refuses is refused. */
    const char *stream;
    enum shmtune_status (*take)(void *context, const struct shmt_yaml *before,
                                const struct shmt_yaml *item,
                                struct shmt_error *err);
    void *context;
};

/* The file's name is not copied: it must live as long as the arena. */
enum shmtune_status shmt_yaml_parse_from(struct shmt_arena *arena,
                                         const struct shmt_yaml_source *source,
                                         const struct shmt_yaml **out,
                                         struct shmt_error *err);

/* "text", "sequence" or "mapping". */
const char *shmt_yaml_kind_text(enum shmt_yaml_kind kind);

/* The formats of ours, each with versions that are counted from 1. */
enum shmt_yaml_format {
    SHMT_YAML_KERNEL, SHMT_YAML_TUNING, SHMT_YAML_JOURNAL, SHMT_YAML_WANTED
};

/* SHMTUNE_INVALID_FILE unless `root` is a mapping whose first key names this
 * format in a version that this program reads; of a newer one the message says
 * so.  Ask this before any other key: the version says which there are. */
enum shmtune_status shmt_yaml_format(const struct shmt_yaml *root,
                                     enum shmt_yaml_format format,
                                     struct shmt_error *err);

/* NULL when the mapping has no such key (or is not a mapping). */
const struct shmt_yaml *shmt_yaml_get(const struct shmt_yaml *mapping,
                                      const char *key);

/* SHMTUNE_INVALID_FILE unless `node` is of `kind`; `what` names it. */
enum shmtune_status shmt_yaml_expect(const struct shmt_yaml *node,
                                     enum shmt_yaml_kind kind,
                                     const char *what,
                                     struct shmt_error *err);

/* Refuse a key not among `allowed` (NULL-terminated), naming the nearest
 * that is allowed. */
enum shmtune_status shmt_yaml_check_keys(const struct shmt_yaml *mapping,
                                         const char *const *allowed,
                                         struct shmt_error *err);

/* Looks up all `allowed` keys of a mapping at once: values[k] is the value of
 * allowed[k], or NULL.  shmt_yaml_get_keys refuses any other key,
 * shmt_yaml_get_known ignores it.  Fastest when the keys come in the order of
 * `allowed`. */
enum shmtune_status shmt_yaml_get_keys(const struct shmt_yaml *mapping,
                                       const char *const *allowed,
                                       const struct shmt_yaml **values,
                                       struct shmt_error *err);
void shmt_yaml_get_known(const struct shmt_yaml *mapping,
                         const char *const *allowed,
                         const struct shmt_yaml **values);

/* The value of `key`, which must be there. */
enum shmtune_status shmt_yaml_need(const struct shmt_yaml *mapping,
                                   const char *key,
                                   const struct shmt_yaml **out,
                                   struct shmt_error *err);

/* Plain integer (decimal without leading zeros, or 0x; `-` before it),
 * finite real (digits before and after a point, an exponent), true/false.
 * The process's locale does not matter. */
enum shmtune_status shmt_yaml_int(const struct shmt_yaml *node, int64_t low,
                                  int64_t high, int64_t *out,
                                  struct shmt_error *err);
/* 0 to 2^64 - 1. */
enum shmtune_status shmt_yaml_count(const struct shmt_yaml *node,
                                    uint64_t *out, struct shmt_error *err);
enum shmtune_status shmt_yaml_real(const struct shmt_yaml *node, double *out,
                                   struct shmt_error *err);
enum shmtune_status shmt_yaml_bool(const struct shmt_yaml *node, bool *out,
                                   struct shmt_error *err);
/* [A-Za-z_][A-Za-z0-9_.-]*, at most 64 characters. */
bool shmt_yaml_is_word(const char *text);
enum shmtune_status shmt_yaml_word(const struct shmt_yaml *node,
                                   const char **out, struct shmt_error *err);
/* One line of printable characters, 1 to `limit` bytes. */
enum shmtune_status shmt_yaml_text(const struct shmt_yaml *node, size_t limit,
                                   const char **out, struct shmt_error *err);
/* A plain integer, a plain real, a word, or what is in quotes: one line of
 * printable characters, 1 to 64 bytes. */
enum shmtune_status shmt_yaml_value(const struct shmt_yaml *node,
                                    struct shmt_value *out,
                                    struct shmt_error *err);

/* A text that begins with it stands where a person has to write something. */
#define SHMT_YAML_TODO "TODO:"
typedef void shmt_yaml_take_todo(void *context, struct shmt_place place,
                                 const char *what);
/* How many there are in the tree; each goes to `take`, if not NULL. */
size_t shmt_yaml_todo(const struct shmt_yaml *node, shmt_yaml_take_todo *take,
                      void *context);

/* "file:line:column: found NODE, expected ..." */
enum shmtune_status shmt_yaml_expected(const struct shmt_yaml *node,
                                       struct shmt_error *err,
                                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A message at the node's place: "file:line:column: ...". */
enum shmtune_status shmt_yaml_refuse(const struct shmt_yaml *node,
                                     struct shmt_error *err,
                                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum shmtune_status shmt_yaml_refuse_at(struct shmt_place place,
                                        struct shmt_error *err,
                                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What was found, for a message: in double quotes, cut to fit, without
 * control characters. */
#define SHMT_YAML_QUOTED 56
void shmt_yaml_quote(const char *text, char out[SHMT_YAML_QUOTED]);
/* The same of a node: "foo" in quotes, `nothing`, `a sequence`. */
void shmt_yaml_describe(const struct shmt_yaml *node,
                        char out[SHMT_YAML_QUOTED]);

/* Append a scalar so that it reads back as the same string, in block or flow
 * context: plain where that is safe, else double-quoted. */
void shmt_yaml_add_string(struct shmt_text *text, const char *string);
/* Append a number with `digits` significant digits, no trailing zeros. */
void shmt_yaml_add_real(struct shmt_text *text, double value, int digits);
void shmt_yaml_add_value(struct shmt_text *text, struct shmt_value value);

/* The version of libyaml that is running: "0.2.5". */
const char *shmt_yaml_version(void);

#endif
