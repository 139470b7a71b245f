/* SPDX-License-Identifier: MIT */
/*
 * utf8: decodes UTF-8 (RFC 3629), one character at a time.
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
