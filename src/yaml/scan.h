/* SPDX-License-Identifier: MIT */
/*
 * scan: how long what stands in a text of plain YAML is, and whether a
 * text is a word.  For plain.c, which goes from one piece to the next,
 * and value.c.
 *
 * Texts end in a NUL.  A length of 0: it is none, or not for sure.
 */
#ifndef SHMT_YAML_SCAN_H
#define SHMT_YAML_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* What may follow a key's ':': a space, or the end of a line or of the text. */
static inline bool shmt_yaml_scan_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\0';
}

/* Printable ASCII and newlines alone. */
bool shmt_yaml_scan_ascii(const char *data, size_t size);

/* [A-Za-z_][A-Za-z0-9_.-]* and nothing else, at most `most` characters. */
bool shmt_yaml_scan_is_word(const char *text, size_t most);

/* A key that has its ':' and a blank behind it, which do not count. */
size_t shmt_yaml_scan_key(const char *text);

/* A scalar without quotes, without the spaces behind it. */
size_t shmt_yaml_scan_plain(const char *text, bool flow);

/* Decimal digits. */
size_t shmt_yaml_scan_digits(const char *text);

/* A list on one line of numbers from 0 on that every reader of numbers takes:
 * "[0.5, 12]".  An empty one is none. */
size_t shmt_yaml_scan_numbers(const char *text, size_t *count);

#endif
