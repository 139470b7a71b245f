/* SPDX-License-Identifier: MIT */
/*
 * text: a string that doubles its memory as it grows, and helpers for names
 * and numbers.
 */
#include "base/text.h"

#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

/* Room for `more` bytes and a NUL. */
static bool reserve(struct shmt_text *text, size_t more)
{
    size_t room = text->room == 0 ? 64 : text->room;
    char *data;

    if (text->failed)
        return false;
    if (more >= SIZE_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    while (room < text->length + more + 1)
        room *= 2;
    if (room == text->room)
        return true;
    data = realloc(text->data, room);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void shmt_text_add_bytes(struct shmt_text *text, const void *bytes,
                         size_t length)
{
    if (!reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void shmt_text_add(struct shmt_text *text, const char *string)
{
    shmt_text_add_bytes(text, string, strlen(string));
}

/* Mostly there is room, and one pass is enough. */
void shmt_text_addf(struct shmt_text *text, const char *format, ...)
{
    va_list arguments, again;
    size_t room;
    int length;

    if (!reserve(text, 0))
        return;
    room = text->room - text->length;
    va_start(arguments, format);
    va_copy(again, arguments);
    length = vsnprintf(text->data + text->length, room, format, arguments);
    text->failed = length < 0;
    if (length >= 0 && (size_t)length >= room && reserve(text, (size_t)length))
        vsnprintf(text->data + text->length, (size_t)length + 1, format,
                  again);
    if (text->failed)
        text->data[text->length] = '\0';
    else
        text->length += (size_t)length;
    va_end(again);
    va_end(arguments);
}

void shmt_text_add_source_name(struct shmt_text *text, const char *path)
{
    if (path[0] == '-')
        shmt_text_add(text, "./");
    for (; *path != '\0'; path++)
        shmt_text_add_bytes(
            text, *path == '"' || (unsigned char)*path < ' ' ? "_" : path, 1);
}

void shmt_text_add_line_mark(struct shmt_text *text, size_t line,
                             const char *path)
{
    struct shmt_text name = {0};

    shmt_text_add_source_name(&name, path);
    shmt_text_addf(text, "#line %zu \"", line);
    for (const char *at = shmt_text_string(&name); *at != '\0'; at++) {
        if (*at == '\\')
            shmt_text_add(text, "\\");
        shmt_text_add_bytes(text, at, 1);
    }
    shmt_text_add(text, "\"\n");
    text->failed = text->failed || name.failed;
    shmt_text_free(&name);
}

void shmt_text_add_visible(struct shmt_text *text, const char *string)
{
    const size_t size = strlen(string);
    uint32_t code;

    for (size_t k = 0, length; k < size; k += length) {
        length = shmt_utf8_decode(string + k, size - k, &code);
        if (length > 0 && code >= 0x20 && shmt_utf8_printable(code)) {
            shmt_text_add_bytes(text, string + k, length);
        } else if (string[k] == '\n' || string[k] == '\t') {
            shmt_text_add(text, string[k] == '\n' ? "\\n" : "\\t");
        } else {
            shmt_text_addf(text, "\\x%02x", (unsigned char)string[k]);
            length = 1;
        }
    }
}

void shmt_text_add_word(struct shmt_text *text, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "%+,-./:=@_";

    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        shmt_text_add(text, word);
        return;
    }
    shmt_text_add(text, "'");
    for (; *word != '\0'; word++)
        if (*word == '\'')
            shmt_text_add(text, "'\\''");
        else
            shmt_text_add_bytes(text, word, 1);
    shmt_text_add(text, "'");
}

void shmt_text_add_count(struct shmt_text *text, uint64_t count)
{
    char digits[24];
    size_t length;

    if (count == UINT64_MAX) {
        shmt_text_add(text, "2^64 or more");
        return;
    }
    snprintf(digits, sizeof digits, "%" PRIu64, count);
    length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            shmt_text_add(text, ",");
        shmt_text_add_bytes(text, &digits[i], 1);
    }
}

void shmt_text_add_rounded(struct shmt_text *text, double number)
{
    if (number < 10 && number != floor(number))
        shmt_text_addf(text, "%.2g", number);
    else if (number < 1e15)
        shmt_text_add_count(text, (uint64_t)(number + 0.5));
    else
        shmt_text_addf(text, "%.0e", number);
}

void shmt_text_add_us(struct shmt_text *text, double us)
{
    shmt_text_addf(text, us < 9999.5 ? "%.4g us" : "%.0f us", us);
}

void shmt_text_clear(struct shmt_text *text)
{
    text->length = 0;
    if (text->data != NULL)
        text->data[0] = '\0';
}

void shmt_text_free(struct shmt_text *text)
{
    free(text->data);
    *text = (struct shmt_text){0};
}

bool shmt_text_ends(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);

    return length > tail && memcmp(text + length - tail, end, tail) == 0;
}

char *shmt_text_keep(struct shmt_text *text, struct shmt_arena *arena)
{
    char *const kept =
        text->failed ? NULL
                     : shmt_arena_copy(arena, shmt_text_string(text),
                                       text->length);

    if (kept == NULL)
        shmt_arena_fail(arena);
    shmt_text_free(text);
    return kept;
}

const char *shmt_text_string(const struct shmt_text *text)
{
    return text->data == NULL ? "" : text->data;
}

size_t shmt_text_name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz"
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

size_t shmt_text_mentions(const char *text, const char *name, size_t most)
{
    const size_t length = strlen(name);
    size_t count = 0;

    for (const char *at = strstr(text, name); at != NULL && count < most;
         at = strstr(at + 1, name))
        count += shmt_text_name_length(at) == length &&
                 (at == text || shmt_text_name_length(at - 1) == 0);
    return count;
}

/* strtod expects the decimal point of the locale, so the point is replaced by
 * that. */
double shmt_text_real(const char *number)
{
    const char *radix = nl_langinfo(RADIXCHAR);
    const char *point = strchr(number, '.');
    char copy[SHMT_TEXT_NUMBER + 8];
    size_t whole, length;

    if (point == NULL)
        return strtod(number, NULL);
    whole = (size_t)(point - number);
    length = strlen(radix);
    if (strlen(number) >= SHMT_TEXT_NUMBER || length > 8)
        return (double)NAN;
    memcpy(copy, number, whole);
    memcpy(copy + whole, radix, length);
    memcpy(copy + whole + length, point + 1, strlen(point));
    return strtod(copy, NULL);
}

/* As printf writes it, with the point of the locale. */
static void put_local(double value, int figures, char out[SHMT_TEXT_REAL])
{
    if (figures == 0 && fabs(value) < 1e16 && trunc(value) == value) {
        snprintf(out, SHMT_TEXT_REAL, "%.0f", value);
        return;
    }
    for (int n = figures > 0 ? figures : 1; n <= 17; n++) {
        snprintf(out, SHMT_TEXT_REAL, "%.*g", n, value);
        if (figures > 0 || strtod(out, NULL) == value)
            return;
    }
}

void shmt_text_put_real(double value, int figures, char out[SHMT_TEXT_REAL])
{
    const char *const radix = nl_langinfo(RADIXCHAR);
    char *point;

    put_local(value, figures, out);
    point = *radix == '\0' ? NULL : strstr(out, radix);
    if (point == NULL)
        return;
    memmove(point + 1, point + strlen(radix),
            strlen(point + strlen(radix)) + 1);
    *point = '.';
}

enum { NEAREST = 64 };     /* longer words are not compared */

/* Levenshtein distance, with two neighbours changing places counted as one
 * change. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NEAREST + 1];
    const size_t a_length = strlen(a), b_length = strlen(b);

    if (a_length > NEAREST || b_length > NEAREST)
        return SIZE_MAX;
    for (size_t k = 0; k <= b_length; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i - 1) % 3];

        now[0] = i;
        for (size_t k = 1; k <= b_length; k++) {
            size_t best = before[k - 1] + (a[i - 1] != b[k - 1]);

            if (before[k] + 1 < best)
                best = before[k] + 1;
            if (now[k - 1] + 1 < best)
                best = now[k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
                a[i - 2] == b[k - 1] && rows[(i - 2) % 3][k - 2] + 1 < best)
                best = rows[(i - 2) % 3][k - 2] + 1;
            now[k] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *shmt_text_nearest(const char *word, const char *const *names,
                              size_t limit)
{
    const char *nearest = NULL;

    for (size_t i = 0; names[i] != NULL; i++) {
        const size_t away = distance(word, names[i]);

        if (away < limit) {
            limit = away;
            nearest = names[i];
        }
    }
    return nearest;
}
