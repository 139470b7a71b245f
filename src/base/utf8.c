/* SPDX-License-Identifier: MIT */
/*
 * utf8: decodes UTF-8 (RFC 3629), one character at a time, and says how wide
 * one is (after Unicode's East_Asian_Width and its combining marks).
 */
#include "base/utf8.h"

size_t shmt_utf8_decode(const char *text, size_t size, uint32_t *code)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0},
                 {0xe0, 0xc0, 0x80},
                 {0xf0, 0xe0, 0x800},
                 {0xf8, 0xf0, 0x10000}};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = 0;
    uint32_t value;

    if (size == 0)
        return 0;
    while (length < 4 && (bytes[0] & forms[length].mask)
                             != forms[length].lead)
        length++;
    if (length == 4 || size < length + 1)
        return 0;
    value = bytes[0] & (unsigned char)~forms[length].mask;
    for (size_t i = 1; i <= length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3fu);
    }
    if (value < forms[length].least || value > 0x10ffff
        || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *code = value;
    return length + 1;
}

bool shmt_utf8_printable(uint32_t code)
{
    if (code < 0x20)
        return code == '\t' || code == '\n';
    if (code >= 0x7f && code <= 0x9f)
        return false;
    if (code == 0x2028 || code == 0x2029 || code == 0xfeff)
        return false;
    return (code & 0xfffe) != 0xfffe;
}

struct range {
    uint32_t first, last;
};

static bool is_among(const struct range *ranges, size_t count, uint32_t code)
{
    for (size_t k = 0; k < count; k++)
        if (code >= ranges[k].first && code <= ranges[k].last)
            return true;
    return false;
}

int shmt_utf8_width(uint32_t code)
{
    static const struct range marks[] = {
        {0x300, 0x36f}, {0x483, 0x489}, {0x591, 0x5bd}, {0x610, 0x61a},
        {0x64b, 0x65f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
        {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
        {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
    };
    static const struct range wide[] = {
        {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf},
        {0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
        {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6},
        {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff},
        {0x20000, 0x3fffd},
    };

    if (is_among(marks, sizeof marks / sizeof *marks, code))
        return 0;
    return is_among(wide, sizeof wide / sizeof *wide, code) ? 2 : 1;
}
