/* SPDX-License-Identifier: MIT */
/* diagnostic: the place of a compiler's error, and the word above its caret. */
#include "gpu/diagnostic.h"
#include "tests/support/check.h"

static char out[200];

static const char *text_of(const char *line)
{
    memset(out, 'x', sizeof out);
    shmt_diagnostic_text(line, out, sizeof out);
    return out;
}

static void places_are_written_as_all_are(void)
{
    CHECK_TEXT(text_of("a.cu(5): error: no m\n  \ty = m;\n  \t    ^\n\n"),
               "a.cu:5:6: error: no m");
    CHECK_TEXT(text_of("a(1).cu(12): error: f(3): no\n  y\n  ^\n"),
               "a(1).cu:12:1: error: f(3): no");
    CHECK_TEXT(text_of("/b/a.cu(7): error: no end of file\n\n"),
               "/b/a.cu:7: error: no end of file");
    CHECK_TEXT(text_of("a.cu(7): error: at the end"),
               "a.cu:7: error: at the end");
    CHECK_TEXT(text_of("ptxas fatal   : out of luck (3)\nmore"),
               "ptxas fatal   : out of luck (3)");
    CHECK_TEXT(text_of("a.cu(): error: x\n"), "a.cu(): error: x");
    CHECK_TEXT(text_of(""), "");
}

/* A caret beyond its line, or none below it, says nothing. */
static void carets_may_be_wrong(void)
{
    CHECK_TEXT(text_of("a.cu(5): error: x\n  y\n      ^\n"),
               "a.cu:5: error: x");
    CHECK_TEXT(text_of("a.cu(5): error: x\n  y\n  1\n"), "a.cu:5: error: x");
    CHECK_TEXT(text_of("a.cu(5): error: x\n y\n ^\n"), "a.cu:5: error: x");
}

static void room_is_kept(void)
{
    memset(out, 'x', sizeof out);
    shmt_diagnostic_text("a.cu(5): error: x\n", out, 8);
    CHECK_TEXT(out, "a.cu:5:");
    CHECK_INT(out[8], 'x');
}

static void words_stand_above_carets(void)
{
    static const char line[] = "a.cu(5): error: x\n  y = TILE + 1;\n      ^\n";
    const char *word = NULL;

    CHECK_INT(shmt_diagnostic_word(line, &word), 4);
    CHECK(word != NULL && strncmp(word, "TILE", 4) == 0);
    CHECK_INT(shmt_diagnostic_word("a.cu(5): error: x\n", &word), 0);
    CHECK_INT(shmt_diagnostic_word("a.cu(5): error: x\n  y\n", &word), 0);
}

int main(void)
{
    CHECK_RUN(places_are_written_as_all_are);
    CHECK_RUN(carets_may_be_wrong);
    CHECK_RUN(room_is_kept);
    CHECK_RUN(words_stand_above_carets);
    return CHECK_END();
}
