/* SPDX-License-Identifier: MIT */
/* test_code: what a reader of C passes over ends where a compiler says. */
#include "base/code.h"
#include "tests/support/check.h"

/* "|" stands where the comment, the quotation or the line ends. */
static size_t cut(const char *marked, char *text)
{
    const size_t at = strcspn(marked, "|");

    sprintf(text, "%.*s%s", (int)at, marked, marked + at + 1);
    return at;
}

static void lines_go_on_behind_a_backslash(void)
{
    CHECK_INT(shmt_code_splice("\\\nx"), 2);
    CHECK_INT(shmt_code_splice("\\\r\nx"), 3);
    CHECK_INT(shmt_code_splice("\\\r\r\nx"), 4);
    CHECK_INT(shmt_code_splice("\\\rx"), 0);
    CHECK_INT(shmt_code_splice("\\ \nx"), 0);
    CHECK_INT(shmt_code_splice("\\"), 0);
    CHECK_INT(shmt_code_splice("\nx"), 0);
}

static void comments_end(void)
{
    static const char *const marked[] = {
        "|/ 2", "|x // no", "// one|\ntwo", "/* one\n*/|two", "/* no end\n|",
        "// one \\\ntwo|\nthree", "// one \\\r\ntwo\r|\nthree",
        "// c:\\\\\ntwo|\nthree", "// blank \\ |\ntwo", "// no end|"
    };
    char text[64];

    for (size_t k = 0; k < sizeof marked / sizeof *marked; k++) {
        const size_t end = cut(marked[k], text);

        CHECK_INT(shmt_code_behind_comment(text) - text, end);
    }
}

/* The first quotation mark is where it begins. */
static void quotations_end(void)
{
    static const char *const marked[] = {
        "\"one\"|two", "'a'|b", "\"a\\\"b\"|c", "\"no end|\n\"",
        "\"one\\\ntwo\"|", "\"one\\\r\ntwo\"|", "\"one\\|", "1'|000 '",
        "0x1f'|ff '", "L'0'|", "x1'0'|", "R\"(a\"\n)\"|b",
        "u8R\"-(a)\"\n)-\"|b", "R\"no(\n|", "\"R\"|", "TOR\"(\"|)"
    };
    char text[64];

    for (size_t k = 0; k < sizeof marked / sizeof *marked; k++) {
        const size_t end = cut(marked[k], text);
        const char *const begin = text + strcspn(text, "\"'");

        CHECK_INT(shmt_code_behind_quotes(text, begin) - text, end);
    }
}

static void directives_end(void)
{
    static const char *const marked[] = {
        "#define A 1|\nB", "#define A \\\r\n 1\r|\nB", "#define A \\\n 1|",
        "#define A \"/*\"|\n*/", "#define A /* one\n */ 1|\nB",
        "#define A 1'000 // it's|\nB"
    };
    char text[64];

    for (size_t k = 0; k < sizeof marked / sizeof *marked; k++) {
        const size_t end = cut(marked[k], text);

        CHECK_INT(shmt_code_end_of_line(text, text) - text, end);
    }
}

int main(void)
{
    CHECK_RUN(lines_go_on_behind_a_backslash);
    CHECK_RUN(comments_end);
    CHECK_RUN(quotations_end);
    CHECK_RUN(directives_end);
    return CHECK_END();
}
