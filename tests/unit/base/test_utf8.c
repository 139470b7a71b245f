/* SPDX-License-Identifier: MIT */
/* utf8: how wide a character is on a terminal. */
#include "base/utf8.h"
#include "tests/support/check.h"

static void widths(void)
{
    static const struct {
        uint32_t code;
        int width;
    } known[] = {
        {'a', 1}, {0xe9, 1}, {0xb5, 1}, {0x2026, 1}, {0x3b1, 1},
        {0x301, 0}, {0x200b, 0}, {0xfe0f, 0},
        {0x1100, 2}, {0x65e5, 2}, {0xac00, 2}, {0xd7a3, 2}, {0xd7a4, 1},
        {0xff01, 2}, {0xff61, 1}, {0x1f600, 2}, {0x20000, 2},
    };

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        CHECK_INT(shmt_utf8_width(known[k].code), known[k].width);
}

int main(void)
{
    CHECK_RUN(widths);
    return CHECK_END();
}
