/* SPDX-License-Identifier: MIT */
/*
 * expr: the language of specs: constraints, launch geometry, byte counts.
 *
 * It means what Python means by the same characters, on 64-bit integers
 * (overflow is an error, never a wrap), doubles and words:
 *
 *   1 0x20 2.5 'word' "word" NAME True False ( )
 *   + - * / // % **      `/` is real division, `//` and `%` floor
 *   == != < <= > >=      chained: 32 <= a*b <= 1024
 *   and or not           short-circuit; give an operand, as in Python
 *   in [a, b] not in (a, b)
 *   x if c else y
 *   min(..) max(..) abs(x) ceildiv(a, b) roundup(a, multiple) int(x) float(x)
 *
 * Anything else is refused with its column.  Depth, length and the number of
 * nodes are capped.  Programs are immutable and may be shared by threads.
 */
#ifndef SHMT_EXPR_H
#define SHMT_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* What a parameter, a problem dimension or an expression can be. */
enum shmt_value_type { SHMT_VALUE_INT, SHMT_VALUE_REAL, SHMT_VALUE_WORD };

/* A word is owned by whoever made the value (a kernel's arena) and compared
 * by its characters. */
struct shmt_value {
    enum shmt_value_type type;
    union {
        int64_t i;
        double r;
        const char *w;
    };
};

/* 1 == 1.0 as in Python; a word equals only the same word. */
bool shmt_value_equal_any(const struct shmt_value *a,
                          const struct shmt_value *b);
/* The same, at once for integers, which most are. */
static inline bool shmt_value_equal(struct shmt_value a, struct shmt_value b)
{
    return a.type == SHMT_VALUE_INT && b.type == SHMT_VALUE_INT
               ? a.i == b.i : shmt_value_equal_any(&a, &b);
}

/* Names an expression may use: symbol k has the value values[k] when it is
 * evaluated.  Types are fixed when it is compiled. */
struct shmt_expr_symbol {
    const char *name;
    enum shmt_value_type type;
};

struct shmt_expr;

/* A derived name stands for an expression over the same symbols and over the
 * derived names before it.  Its program runs when its value is first needed.
 * The array must outlive what is compiled with it. */
struct shmt_expr_derived {
    const char *name;
    const struct shmt_expr *expr;
};

struct shmt_expr_scope {
    size_t count;
    const struct shmt_expr_symbol *symbols;
    size_t derived_count;
    const struct shmt_expr_derived *derived;
};

/* Where an expression stands in its file, for messages.  line 0: unknown. */
struct shmt_place {
    const char *file;
    int line;
    int column;
    int inside;     /* characters from there to the text: 1 where it is in
                       quotes; -1: it goes over several lines */
};

/* SHMTUNE_INVALID_FILE with file:line:column, what was found and what was
 * expected.  The program lives in `arena`; `text` need not outlive the call
 * (a copy is kept, see shmt_expr_text). */
enum shmtune_status shmt_expr_compile(struct shmt_arena *arena,
                                      struct shmt_place place,
                                      const char *text,
                                      const struct shmt_expr_scope *scope,
                                      struct shmt_expr **out,
                                      struct shmt_error *err);

/* Division by zero, overflow, a word where a number is needed:
 * SHMTUNE_INVALID_FILE with the expression's place and the values. */
enum shmtune_status shmt_expr_eval(const struct shmt_expr *expr,
                                   const struct shmt_value *values,
                                   struct shmt_value *out,
                                   struct shmt_error *err);

/* As above; the result must be an integer (a real that is whole passes). */
enum shmtune_status shmt_expr_eval_int(const struct shmt_expr *expr,
                                       const struct shmt_value *values,
                                       int64_t *out, struct shmt_error *err);

/* As above; Python's truth of the result. */
enum shmtune_status shmt_expr_eval_bool(const struct shmt_expr *expr,
                                        const struct shmt_value *values,
                                        bool *out, struct shmt_error *err);

/* Evaluates several expressions of one scope with the same values: a derived
 * name is computed once for all of them.  `values` is not copied.  Nothing
 * needs to be freed. */
enum { SHMT_EXPR_DERIVED = 64 };    /* derived names of a scope */
struct shmt_expr_evaluation {
    const struct shmt_value *values;
    size_t offset;                  /* in the text, of a fault */
    size_t steps;                   /* that were made: what it cost */
    uint64_t known;                 /* one bit a derived name */
    struct shmt_value derived[SHMT_EXPR_DERIVED];
};
void shmt_expr_begin(struct shmt_expr_evaluation *evaluation,
                     const struct shmt_value *values);
enum shmtune_status shmt_expr_next(const struct shmt_expr *expr,
                                   struct shmt_expr_evaluation *evaluation,
                                   struct shmt_value *out,
                                   struct shmt_error *err);
enum shmtune_status shmt_expr_next_int(const struct shmt_expr *expr,
                                       struct shmt_expr_evaluation *evaluation,
                                       int64_t *out, struct shmt_error *err);
enum shmtune_status shmt_expr_next_bool(const struct shmt_expr *expr,
                                        struct shmt_expr_evaluation *evaluation,
                                        bool *out, struct shmt_error *err);

/* What an expression can be while its symbols stay within bounds. */
enum shmt_expr_bound_kind {
    SHMT_EXPR_ANY,              /* anything: it may also fail */
    SHMT_EXPR_RANGE,            /* integers, low to high; it does not fail */
    SHMT_EXPR_EXACT             /* `value`; low and high too, of an integer */
};
struct shmt_expr_bound {
    enum shmt_expr_bound_kind kind;
    struct shmt_value value;
    int64_t low, high;
};
struct shmt_expr_bound shmt_expr_bound_value(struct shmt_value value);
struct shmt_expr_bound shmt_expr_bound_range(int64_t low, int64_t high);
/* 1: true, 0: false, -1: it depends, or may fail. */
int shmt_expr_bound_truth(const struct shmt_expr_bound *bound);

/* Bounds of several expressions of one scope: a derived name is bounded once
 * for all of them.  `symbols` is not copied.  Nothing needs to be freed. */
struct shmt_expr_bounding {
    const struct shmt_expr_bound *symbols;
    size_t visits;
    uint64_t known;                 /* one bit a derived name */
    struct shmt_expr_bound derived[SHMT_EXPR_DERIVED];
};
void shmt_expr_bounding_begin(struct shmt_expr_bounding *state,
                              const struct shmt_expr_bound *symbols);
struct shmt_expr_bound shmt_expr_bounds(const struct shmt_expr *expr,
                                        struct shmt_expr_bounding *state);

/* Narrows the bounds of a derived name by a comparison with a number, in what
 * begins with alternative `k` of an `or` (of any other expression with
 * alternative 0, itself): what is asked next holds where that alternative does.
 * -1: there is no such alternative; 0: it never holds; 1: done, as far as
 * can be. */
int shmt_expr_assume(const struct shmt_expr *expr, size_t k,
                     struct shmt_expr_bounding *state);

/* The expression with all put in that the bounds decide: it gives the same
 * value wherever they hold, and uses only symbols that they leave open.  For
 * evaluating alone, as long as `arena` and `expr` live; *out is NULL when it
 * would become too long, or take more than *room bytes, of which what it takes
 * is subtracted.  False: there is no memory. */
bool shmt_expr_fold(struct shmt_arena *arena, const struct shmt_expr *expr,
                    struct shmt_expr_bounding *state, size_t *room,
                    const struct shmt_expr **out);

/* The source text, and whether symbol k occurs in it. */
const char *shmt_expr_text(const struct shmt_expr *expr);
struct shmt_place shmt_expr_place(const struct shmt_expr *expr);
bool shmt_expr_uses(const struct shmt_expr *expr, size_t symbol);

/* Says why an expression is false: appends "66048 <= 49152 is false where TILE
 * = 128, PAD = 1". */
void shmt_expr_explain(const struct shmt_expr *expr,
                       const struct shmt_value *values,
                       struct shmt_text *out);

/* A symbol where a word is compared by ==, != or in, or decides. */
struct shmt_expr_word {
    enum {
        SHMT_EXPR_WITH_WORD,   /* it is compared with a word */
        SHMT_EXPR_WITH_NUMBER, /* it is a word, and compared with a number */
        SHMT_EXPR_AS_TRUTH     /* a word, true as all are, stands for true or
                                  false; the symbol, or else the constant */
    } use;
    size_t symbol;
    const char *word;          /* NULL: none is stated */
};

/* Calls `take` for every such place; `condition`: the whole is one, too.  It
 * does not look into derived names. */
void shmt_expr_words(const struct shmt_expr *expr, bool condition,
                     void (*take)(void *context,
                                  const struct shmt_expr_word *word),
                     void *context);

/* Where the names of an expression stand in a program of C. */
struct shmt_expr_c {
    const char *const *symbols;     /* what each is there: "c->p_TILE"; a word
                                       is its number in a list */
    const char *calls;              /* a derived name is a function, this and
                                       its number, */
    const char *arguments;          /* with these arguments: "(c, bad)" */
    const bool *derived;            /* which of them have been written */
    /* The number of a word of a symbol; -1: it has no such word. */
    long (*number)(void *context, size_t symbol, const char *word);
    void *context;
};
/* Appends the expression as one of C, of type long long or, with *real,
 * double; `truth`: as an int, 0 or 1.  Integers go through functions that set
 * *bad where the expression would fail: shmtuned_add and others, which the
 * program has to have.  False where C has no such expression here: words that
 * are no comparison with a constant, reals with // % or **, an expression
 * too long.  Then something is appended all the same. */
bool shmt_expr_write_c(const struct shmt_expr *expr,
                       const struct shmt_expr_c *form, bool truth, bool *real,
                       struct shmt_text *text);

#endif
