/* SPDX-License-Identifier: MIT */
/*
 * utf8: characters in bytes, for the YAML reader and writer.
 */
#ifndef SHMT_BASE_UTF8_H
#define SHMT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the character at `text` (1 to 4) and its code point; 0 when
 * they are not UTF-8: cut short, overlong, a surrogate, above U+10FFFF. */
size_t shmt_utf8_decode(const char *text, size_t size, uint32_t *code);

/* A character that text may contain as it is: no control character, no line
 * break other than LF (CR is not one), no byte order mark, no
 * noncharacter.  Tab and LF are. */
bool shmt_utf8_printable(uint32_t code);

/* The columns that a printable character takes on a terminal: 0 for a mark
 * that stands on the one before, 2 for what East Asian scripts and emoji are
 * wide by, else 1. */
int shmt_utf8_width(uint32_t code);

#endif
