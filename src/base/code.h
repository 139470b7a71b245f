/* SPDX-License-Identifier: MIT */
/*
 * code: what a reader of C passes over: comments, quotations, lines that go on.
 */
#ifndef SHMT_BASE_CODE_H
#define SHMT_BASE_CODE_H

#include <stddef.h>

/* Bytes of the backslash at `at` and the end of line behind it, LF or CRLF,
 * which compilers take away, so that the line goes on; 0: it is none. */
size_t shmt_code_splice(const char *at);

/* Behind the comment that begins at `at`; `at`: none does.  The newline of one
 * that ends with its line is not behind it. */
const char *shmt_code_behind_comment(const char *at);

/* Behind the string or the character, a raw one too, whose quotation mark is at
 * `at` in the text that begins at `begin`.  It ends with its line if nowhere
 * else; a ' among digits is passed over alone. */
const char *shmt_code_behind_quotes(const char *begin, const char *at);

/* The end of the line of a directive, its newline or the end of the text. */
const char *shmt_code_end_of_line(const char *begin, const char *at);

#endif
