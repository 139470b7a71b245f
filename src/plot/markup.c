/* SPDX-License-Identifier: MIT */
/*
 * markup: text and numbers as HTML and SVG have them, and the one place that
 * escapes.  Called by whoever writes markup.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "plot/plot.h"

/* Characters that print nothing and change how their neighbours look: marks
 * and overrides of direction, blanks without width, tags. */
static bool is_hidden(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0x00ad, 0x00ad}, {0x034f, 0x034f}, {0x061c, 0x061c},
        {0x115f, 0x1160}, {0x180b, 0x180f}, {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
        {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb},
        {0xe0000, 0xe0fff}
    };

    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (code >= ranges[k][0] && code <= ranges[k][1])
            return true;
    return false;
}

static void add_character(struct shmt_text *out, const char *at,
                          size_t length, uint32_t code)
{
    if (is_hidden(code)) {
        shmt_text_addf(out, "\\u{%" PRIx32 "}", code);
        return;
    }
    switch (code) {
    case '&': shmt_text_add(out, "&amp;"); break;
    case '<': shmt_text_add(out, "&lt;"); break;
    case '>': shmt_text_add(out, "&gt;"); break;
    case '"': shmt_text_add(out, "&quot;"); break;
    case '\'': shmt_text_add(out, "&#39;"); break;
    default: shmt_text_add_bytes(out, at, length);
    }
}

void shmt_plot_add_escaped(struct shmt_text *out, const char *string)
{
    struct shmt_text shown = {0};
    const char *at;

    shmt_text_add_visible(&shown, string);
    out->failed |= shown.failed;
    at = shmt_text_string(&shown);
    for (size_t k = 0, length; k < shown.length; k += length) {
        uint32_t code = 0;

        length = shmt_utf8_decode(at + k, shown.length - k, &code);
        if (length == 0)
            break;
        add_character(out, at + k, length, code);
    }
    shmt_text_free(&shown);
}

void shmt_plot_add_cut(struct shmt_text *out, const char *string,
                       size_t letters)
{
    const size_t length = strlen(string);
    struct shmt_text cut = {0};
    size_t at = 0, before = 0, count = 0;

    while (at < length && count < letters) {
        uint32_t code;
        const size_t bytes = shmt_utf8_decode(string + at, length - at, &code);

        before = at;
        at += bytes > 0 ? bytes : 1;
        count++;
    }
    shmt_text_add_bytes(&cut, string, at < length ? before : at);
    if (at < length)
        shmt_text_add(&cut, "\xe2\x80\xa6");
    out->failed |= cut.failed;
    shmt_plot_add_escaped(out, shmt_text_string(&cut));
    shmt_text_free(&cut);
}

static void add_whole(struct shmt_text *out, double number)
{
    if (number < 0)
        shmt_text_add(out, "-");
    shmt_text_add_count(out, (uint64_t)(fabs(number) + 0.5));
}

void shmt_plot_add_number(struct shmt_text *out, double number)
{
    if (!isfinite(number))
        shmt_text_add(out, "-");
    else if (fabs(number) >= 999.95 && fabs(number) < 1e15)
        add_whole(out, number);
    else
        shmt_text_addf(out, "%.4g", number);
}

/* X(class, what is set, by day, by night): the palette of every chart. */
#define STYLE_LIST(X)                                                        \
    X("t", "fill", "#57606a", "#a6aeb8")                                     \
    X("n", "fill", "#1b1f24", "#e6e9ed")                                     \
    X("d", "stroke", "#7d8590", "#8f99a5")                                   \
    X("g", "stroke", "#e4e7eb", "#2b3138")                                   \
    X("o", "stroke", "#ffffff", "#14171b")                                   \
    X("l", "stroke", "#57606a", "#a6aeb8")                                   \
    X("p", "stroke", "#7d8590", "#8f99a5")                                   \
    X("r", "stroke", "#0b62c1", "#62adff")                                   \
    X("s", "stroke", "#0b62c1", "#62adff")                                   \
    X("b", "fill", "#c9d0d8", "#3c444e")                                     \
    X("w", "stroke", "#8c949e", "#6f7883")                                   \
    X("m", "stroke", "#1b1f24", "#e6e9ed")                                   \
    X("a", "fill", "#0b62c1", "#62adff")                                     \
    X("h", "fill", "#0b62c1", "#62adff")                                     \
    X("e", "fill", "#f1f3f5", "#1d2228")                                     \
    X("z", "fill", "#ffffff", "#14171b")

void shmt_plot_add_style(struct shmt_text *out)
{
    static const struct {
        const char *name, *what, *day, *night;
    } rules[] = {
#define RULE(name, what, day, night) {name, what, day, night},
        STYLE_LIST(RULE)
#undef RULE
    };
    const size_t count = sizeof rules / sizeof *rules;

    shmt_text_add(out,
                  ".c text{font-family:system-ui,-apple-system,\"Segoe UI\","
                  "Roboto,sans-serif;font-size:11px;"
                  "font-variant-numeric:tabular-nums}\n"
                  ".c .p,.c .r,.c .s,.c .w,.c .m{fill:none}\n"
                  ".c .p{stroke-width:3;stroke-linecap:round;"
                  "stroke-opacity:.5}\n"
                  ".c .r{stroke-width:1.5}\n"
                  ".c .s{stroke-width:2;stroke-linejoin:round}\n"
                  ".c .l{stroke-dasharray:3 3}\n"
                  ".c .m{stroke-width:2}\n"
                  ".c text.q{font-size:10px}\n"
                  ".c .o{stroke-width:3px;paint-order:stroke}\n"
                  ".c text.y{font-weight:700}\n"
                  ".c .d{fill:none;stroke-width:7;stroke-linecap:round;"
                  "stroke-opacity:.4}\n"
                  ".c text.k{font-size:13px;font-weight:600}\n");
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(out, ".c .%s{%s:%s}\n", rules[k].name, rules[k].what,
                       rules[k].day);
    shmt_text_add(out, "@media(prefers-color-scheme:dark){\n");
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(out, ".c .%s{%s:%s}\n", rules[k].name, rules[k].what,
                       rules[k].night);
    shmt_text_add(out, "}\n");
}
