/* SPDX-License-Identifier: MIT */
/*
 * text: a string that doubles its memory as it grows, and helpers for names
 * and numbers.
 */
#include "base/text.h"

#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *shmt_text_string(const struct shmt_text *text)
{
    return text->data == NULL ? "" : text->data;
}

size_t shmt_text_name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz"
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* strtod expects the decimal point of the locale, so the point is replaced by
 * that. */
double shmt_text_real(const char *number)
{
    const char *radix = nl_langinfo(RADIXCHAR);
    const char *point = strchr(number, '.');
    char copy[SHMT_TEXT_NUMBER + 8];

    if (point == NULL)
        return strtod(number, NULL);
    if (strlen(number) >= SHMT_TEXT_NUMBER || strlen(radix) > 8)
        return (double)NAN;
    snprintf(copy, sizeof copy, "%.*s%s%s", (int)(point - number), number,
             radix, point + 1);
    return strtod(copy, NULL);
}
