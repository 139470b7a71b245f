/* SPDX-License-Identifier: MIT */
/*
 * said: values of host code as texts of expressions, and what they are put
 * together to.  For extent.c alone.
 */
#ifndef SHMT_SOURCE_SAID_H
#define SHMT_SOURCE_SAID_H

#include "source/token.h"

/* A text is no longer. */
enum { SHMT_SOURCE_SAID = 400 };

/* How tightly a text binds. */
enum shmt_source_level {
    SHMT_SOURCE_CHOICE, SHMT_SOURCE_OR, SHMT_SOURCE_AND, SHMT_SOURCE_NOT,
    SHMT_SOURCE_COMPARE, SHMT_SOURCE_SUM, SHMT_SOURCE_PRODUCT,
    SHMT_SOURCE_SIGNED, SHMT_SOURCE_ATOM
};

enum shmt_source_kind {
    SHMT_SOURCE_NONE,          /* it cannot be said, or there is no memory */
    SHMT_SOURCE_WHOLE,
    SHMT_SOURCE_REAL,          /* of type real, and a whole number */
    SHMT_SOURCE_QUOTIENT       /* of reals: text / by */
};

struct shmt_source_said {
    enum shmt_source_kind kind;
    enum shmt_source_level level;      /* of `text` */
    const char *text, *by;
};

extern const struct shmt_source_said shmt_source_unsaid;

/* The texts behind each other. */
struct shmt_source_said
shmt_source_say(struct shmt_arena *arena, enum shmt_source_kind kind,
                enum shmt_source_level level, const char *const texts[]);
struct shmt_source_said shmt_source_say_number(struct shmt_arena *arena,
                                               enum shmt_source_kind kind,
                                               int64_t value);
/* -x, not x */
struct shmt_source_said
shmt_source_say_sign(struct shmt_arena *arena, const char *sign,
                     const struct shmt_source_said *one);
/* a if c else b */
struct shmt_source_said
shmt_source_say_choice(struct shmt_arena *arena,
                       const struct shmt_source_said *condition,
                       const struct shmt_source_said *a,
                       const struct shmt_source_said *b);
/* ceildiv(a, b) */
struct shmt_source_said
shmt_source_say_ceiling(struct shmt_arena *arena, const char *a,
                        const char *b);
/* How many elements bytes are: without a division where that can be. */
struct shmt_source_said
shmt_source_say_elements(struct shmt_arena *arena,
                         const struct shmt_source_said *bytes,
                         const struct shmt_source_said *one);
/* Cut to a whole number. */
struct shmt_source_said shmt_source_say_cut(struct shmt_arena *arena,
                                            struct shmt_source_said one);
bool shmt_source_is_said(const struct shmt_source_said *one);

/* An operator of C between two values: its signs, and how tightly it binds
 * there. */
struct shmt_source_operator {
    const char *signs;
    enum shmt_source_level level;
    int tightness;
    const char *said;
};
/* NULL: there is no such one.  Those of more signs come first. */
const struct shmt_source_operator *shmt_source_operator(size_t k);
struct shmt_source_said
shmt_source_operate(struct shmt_arena *arena,
                    const struct shmt_source_operator *operator,
                    const struct shmt_source_said *a,
                    const struct shmt_source_said *b);

#endif
