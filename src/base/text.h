/* SPDX-License-Identifier: MIT */
/*
 * text: a string that grows.  After a failed allocation `failed` is set and
 * every later addition does nothing, so a writer checks it once, at its end.
 */
#ifndef SHMT_BASE_TEXT_H
#define SHMT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct shmt_arena;

/* Starts as {0}.  data is NULL or ends in NUL; the owner frees with
 * shmt_text_free. */
struct shmt_text {
    char *data;
    size_t length;
    size_t room;
    bool failed;
};

void shmt_text_add(struct shmt_text *text, const char *string);
void shmt_text_add_bytes(struct shmt_text *text, const void *bytes,
                         size_t length);
void shmt_text_addf(struct shmt_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The string as it may be shown to people, on one line: UTF-8 as it is, and
 * what does not print, or is no UTF-8, as \n, \t or \x1b. */
void shmt_text_add_visible(struct shmt_text *text, const char *string);
/* The word as a shell takes it: in quotes where it needs them. */
void shmt_text_add_word(struct shmt_text *text, const char *word);
/* The path of a source as compilers take it: with "./" where it begins like an
 * option, and with '_' for quotes and control characters, which end a line, or
 * are put as they are between the quotes of PTX. */
void shmt_text_add_source_name(struct shmt_text *text, const char *path);
/* A line of C after which a compiler's messages name `path`, and count lines
 * from `line`: #line 1 "path". */
void shmt_text_add_line_mark(struct shmt_text *text, size_t line,
                             const char *path);

/* Microseconds, to four figures and never as a power of ten: "9.125 us",
 * "21468 us". */
void shmt_text_add_us(struct shmt_text *text, double us);

/* 12345678 as "12,345,678"; UINT64_MAX as "2^64 or more". */
void shmt_text_add_count(struct shmt_text *text, uint64_t count);
/* The nearest whole number, as a count; of one that is not and is below 10 two
 * figures: "0.18". */
void shmt_text_add_rounded(struct shmt_text *text, double number);

/* "" for one, "s" for any other number of them. */
static inline const char *shmt_text_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Sets the length to 0 and keeps the memory. */
void shmt_text_clear(struct shmt_text *text);
void shmt_text_free(struct shmt_text *text);

/* The text in the arena, in the place of its own memory, which is freed; NULL:
 * there was no memory, for its additions either, and the arena has failed. */
char *shmt_text_keep(struct shmt_text *text, struct shmt_arena *arena);

/* The text so far, "" when there is none. */
const char *shmt_text_string(const struct shmt_text *text);

/* Whether `text` ends in `end`, and is more than that. */
bool shmt_text_ends(const char *text, const char *end);

/* How many of the first characters could belong to a C identifier: letters,
 * digits and '_'. */
size_t shmt_text_name_length(const char *text);

/* How often the identifier `name` stands in `text`; counts to `most`. */
size_t shmt_text_mentions(const char *text, const char *name, size_t most);

/* The one of `names` (NULL-terminated) that the fewest changes of a letter make
 * of `word`; NULL when all of them take `limit` changes or more. */
const char *shmt_text_nearest(const char *word, const char *const *names,
                              size_t limit);

/* The value of `number`, a decimal number with a point, as strtod gives it in
 * the C locale.  (An application may have set a locale with another decimal
 * point.)  NAN when it has SHMT_TEXT_NUMBER bytes or more. */
enum { SHMT_TEXT_NUMBER = 512 };
double shmt_text_real(const char *number);

/* A finite number to so many figures, with a point whatever the locale has; to
 * 0 figures: in the fewest that are read back as the same, and a whole one
 * without an exponent below 1e16. */
enum { SHMT_TEXT_REAL = 40 };
void shmt_text_put_real(double value, int figures, char out[SHMT_TEXT_REAL]);

/* Equality of two strings.  It compares the first two characters before it
 * calls strcmp: most names differ there, and the calls took most of the time
 * of reading a tuning. */
static inline bool shmt_text_equal(const char *a, const char *b)
{
    return a[0] == b[0] &&
           (a[0] == '\0' || (a[1] == b[1] && strcmp(a, b) == 0));
}

#endif
