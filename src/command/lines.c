/* SPDX-License-Identifier: MIT */
/*
 * lines: what goes to people, in lines that fit the terminal: how wide that is
 * and a text is, where a long line is broken, colours, and what does not print
 * made visible.  Called by all commands, main.c and table.c.
 */
#include "config.h"

#include "command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base.h"

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 20 };

size_t shmt_command_terminal_width(int descriptor)
{
    const char *const columns = getenv("COLUMNS");
    struct winsize size;
    long width = 0;

    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width == 0 && columns != NULL)
        width = strtol(columns, NULL, 10);
    if (width <= 0)
        width = USUAL_WIDTH;
    return width < LEAST_WIDTH ? LEAST_WIDTH : (size_t)width;
}

static const char *const paints[] = {
    [SHMT_PAINT_NONE] = "", [SHMT_PAINT_GOOD] = "\033[32m",
    [SHMT_PAINT_BAD] = "\033[31m", [SHMT_PAINT_DIM] = "\033[2m",
    [SHMT_PAINT_BOLD] = "\033[1m"
};
static const char end_paint[] = "\033[0m";

const char *shmt_command_begin_paint(enum shmt_command_paint paint,
                                     bool colour)
{
    return colour ? paints[paint] : "";
}

const char *shmt_command_end_paint(enum shmt_command_paint paint, bool colour)
{
    return colour && paint != SHMT_PAINT_NONE ? end_paint : "";
}

/* How long the colour is that stands here; 0: none. */
static size_t paint_length(const char *at)
{
    if (*at != '\033')
        return 0;
    if (strncmp(at, end_paint, sizeof end_paint - 1) == 0)
        return sizeof end_paint - 1;
    for (size_t k = 1; k < sizeof paints / sizeof *paints; k++)
        if (strncmp(at, paints[k], strlen(paints[k])) == 0)
            return strlen(paints[k]);
    return 0;
}

/* The length of the character, or the colour, at `at`, and its columns. */
static size_t step(const char *at, size_t *columns)
{
    const size_t paint = paint_length(at);
    uint32_t code;
    size_t length;

    *columns = paint == 0;
    if (paint > 0)
        return paint;
    length = shmt_utf8_decode(at, strnlen(at, 4), &code);
    if (length == 0)
        return 1;
    *columns = (size_t)shmt_utf8_width(code);
    return length;
}

size_t shmt_command_text_width(const char *text)
{
    size_t count = 0, columns;

    for (; *text != '\0'; count += columns)
        text += step(text, &columns);
    return count;
}

size_t shmt_command_text_piece(const char *text, size_t columns)
{
    const size_t lead = strspn(text, " ");
    size_t used = 0, at = 0, blank = 0, mark = 0, wide;
    bool filled = false;           /* half of the line, before the blank */

    while (text[at] != '\0') {
        const size_t length = step(text + at, &wide);

        if (at > lead && text[at] == ' ' && text[at - 1] != ' ') {
            blank = at;
            filled = used >= columns / 2;
        }
        if (used + wide > columns && at > 0)
            break;
        used += wide;
        at += length;
        if (at > lead && (text[at - 1] == '/' || text[at - 1] == ','))
            mark = at;
    }
    if (text[at] == '\0')
        return at;
    if (blank > 0 && (filled || mark < blank))
        return blank;
    return mark > 0 ? mark : at;
}

/* One line without its end, broken where it is too wide. */
static void add_broken(char *line, size_t width, struct shmt_text *out)
{
    const size_t lead = strspn(line, " ") + 2;
    const size_t indent = lead > width / 2 ? 0 : lead;
    size_t room = width;

    while (shmt_command_text_width(line) > room) {
        const size_t length = shmt_command_text_piece(line, room);

        shmt_text_add_bytes(out, line, length);
        shmt_text_addf(out, "\n%*s", (int)indent, "");
        line += length;
        line += strspn(line, " ");
        room = width - indent;
    }
    shmt_text_add(out, line);
}

/* The text with what does not print made visible, and its lines broken. */
static void prepare(char *at, size_t width, struct shmt_text *out)
{
    struct shmt_text line = {0};

    while (*at != '\0' && !out->failed) {
        const size_t paint = paint_length(at);
        char *end = at + paint, kept;

        while (paint == 0 && *end != '\0' && *end != '\n' &&
               paint_length(end) == 0)
            end++;
        kept = *end;
        *end = '\0';
        if (paint > 0)
            shmt_text_add(&line, at);
        else
            shmt_text_add_visible(&line, at);
        *end = kept;
        at = end;
        if (*at != '\n' && *at != '\0')
            continue;
        shmt_text_add(&line, "");
        out->failed |= line.failed;
        if (!out->failed)
            add_broken(line.data, width, out);
        if (*at == '\n') {
            shmt_text_add(out, "\n");
            at++;
        }
        shmt_text_clear(&line);
    }
    shmt_text_free(&line);
}

static enum shmtune_status print(struct shmt_text *text, size_t width,
                                 struct shmt_error *err)
{
    struct shmt_text shown = {0};
    bool failed;

    if (!text->failed && text->data != NULL)
        prepare(text->data, width, &shown);
    failed = text->failed || shown.failed;
    if (!failed)
        fputs(shmt_text_string(&shown), stdout);
    shmt_command_pulse_said();
    shmt_text_free(&shown);
    shmt_text_free(text);
    return failed ? shmt_error_memory(err) : SHMTUNE_OK;
}

enum shmtune_status shmt_command_print(struct shmt_text *text,
                                       struct shmt_error *err)
{
    return print(text, SHMT_COMMAND_WIDE, err);
}

enum shmtune_status shmt_command_print_lines(struct shmt_text *text,
                                      const struct shmt_command_call *call,
                                      struct shmt_error *err)
{
    return print(text, call->width, err);
}

void shmt_command_tell(const char *head, const char *text)
{
    struct shmt_text line = {0}, shown = {0};

    shmt_text_addf(&line, "shmtune: %s", head);
    shmt_text_add_visible(&line, text);
    /* A file has each message on one line. */
    if (isatty(STDERR_FILENO) && !line.failed)
        add_broken(line.data, shmt_command_terminal_width(STDERR_FILENO),
                   &shown);
    fprintf(stderr, "%s\n",
            shmt_text_string(shown.length > 0 && !shown.failed ? &shown
                                                               : &line));
    shmt_command_pulse_said();
    shmt_text_free(&line);
    shmt_text_free(&shown);
}
