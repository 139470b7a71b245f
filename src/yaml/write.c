/* SPDX-License-Identifier: MIT */
/*
 * write: scalars that read back as what they were, here and with the
 * YAML readers of other languages.
 */
#include "yaml/yaml.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

enum { PLAIN = 200 };

/* Words that some reader takes for a truth value or for nothing. */
static bool has_meaning(const char *string)
{
    static const char *const words[] = {"true", "false", "yes", "no",
                                        "on",   "off",   "null"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(string, words[i]) == 0)
            return true;
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Far inside of what YAML allows as a plain scalar in any context. */
static bool is_plain(const char *string)
{
    const size_t length = strlen(string);

    if (length == 0 || length > PLAIN || !is_letter(string[0])
        || string[length - 1] == ' ')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_letter(string[i]) && strchr("0123456789._-+/() ", string[i])
                                         == NULL)
            return false;
    return !has_meaning(string);
}

/* Of ASCII, and the same within quotes. */
static bool is_own(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

static void add_quoted(struct shmt_text *text, const char *string)
{
    const size_t size = strlen(string);
    size_t length;
    uint32_t code;

    shmt_text_add(text, "\"");
    for (size_t i = 0; i < size; i += length) {
        for (length = 0; is_own(string[i + length]);)
            length++;
        if (length > 0) {
            shmt_text_add_bytes(text, string + i, length);
            continue;
        }
        length = shmt_utf8_decode(string + i, size - i, &code);
        if (length == 0) {
            length = 1;
            shmt_text_add(text, "\\uFFFD");
        } else if (code == '"' || code == '\\') {
            shmt_text_addf(text, "\\%c", (int)code);
        } else if (code == '\n') {
            shmt_text_add(text, "\\n");
        } else if (code < 0x20 || !shmt_utf8_printable(code)) {
            shmt_text_addf(text, code > 0xffff ? "\\U%08" PRIX32
                                               : "\\u%04" PRIX32, code);
        } else {
            shmt_text_add_bytes(text, string + i, length);
        }
    }
    shmt_text_add(text, "\"");
}

void shmt_yaml_add_string(struct shmt_text *text, const char *string)
{
    if (is_plain(string))
        shmt_text_add(text, string);
    else
        add_quoted(text, string);
}

/* A number that is not finite is written as a form that our readers refuse, so
 * that a defect is not taken for a value. */
static void add_not_finite(struct shmt_text *text, double value)
{
    if (isnan(value))
        shmt_text_add(text, ".nan");
    else
        shmt_text_add(text, value > 0 ? ".inf" : "-.inf");
}

void shmt_yaml_add_real(struct shmt_text *text, double value, int digits)
{
    char number[SHMT_TEXT_REAL];

    if (!isfinite(value)) {
        add_not_finite(text, value);
        return;
    }
    shmt_text_put_real(value == 0 ? 0.0 : value, digits > 17 ? 17 : digits,
                       number);
    shmt_text_add(text, number);
}

/* The shortest that is exact, and never mistaken for an integer. */
static void add_exact(struct shmt_text *text, double value)
{
    char number[SHMT_TEXT_REAL];

    if (!isfinite(value)) {
        add_not_finite(text, value);
        return;
    }
    shmt_text_put_real(value, 0, number);
    shmt_text_add(text, number);
    if (number[strspn(number, "-0123456789")] == '\0')
        shmt_text_add(text, ".0");
}

void shmt_yaml_add_value(struct shmt_text *text, struct shmt_value value)
{
    switch (value.type) {
    case SHMT_VALUE_INT:
        shmt_text_addf(text, "%" PRId64, value.i);
        break;
    case SHMT_VALUE_REAL:
        add_exact(text, value.r);
        break;
    case SHMT_VALUE_WORD:
        if (strpbrk(value.w, "+/() ") == NULL)
            shmt_yaml_add_string(text, value.w);
        else
            add_quoted(text, value.w);
        break;
    }
}
