/* SPDX-License-Identifier: MIT */
/*
 * excerpt: the line of a source that a message speaks of, with a caret below
 * it.  Called by check.c.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

/* "FILE:LINE:COLUMN: error" in a message. */
struct spot {
    const char *file;
    size_t length;           /* of the file's name */
    unsigned long line, column;
};

/* A number that ends before *at, and the colon before it; moves *at there. */
static bool number_before(const char *text, const char **at,
                          unsigned long *out)
{
    const char *begin = *at;

    while (begin > text && begin[-1] >= '0' && begin[-1] <= '9')
        begin--;
    if (begin == *at || begin == text || begin[-1] != ':')
        return false;
    *out = strtoul(begin, NULL, 10);
    *at = begin - 1;
    return *out > 0;
}

static bool find_spot(const char *text, struct spot *spot)
{
    static const char *const marks[] = {": error", ": catastrophic error",
                                        ": fatal error"};
    const char *end = NULL, *begin;

    for (size_t k = 0; end == NULL && k < sizeof marks / sizeof *marks; k++)
        end = strstr(text, marks[k]);
    if (end == NULL || !number_before(text, &end, &spot->column) ||
        !number_before(text, &end, &spot->line))
        return false;
    /* What stands before the name ends with a colon and a blank. */
    for (begin = end; begin > text; begin--)
        if (begin[-1] == ' ' && begin - 1 > text && begin[-2] == ':')
            break;
    spot->file = begin;
    spot->length = (size_t)(end - begin);
    return spot->length > 0;
}

/* The line of the file, which is the caller's to free; NULL: no such line. */
static char *read_line(const struct spot *spot)
{
    char *path = strndup(spot->file, spot->length), *line = NULL;
    FILE *file = path == NULL ? NULL : fopen(path, "r");
    size_t room = 0;
    unsigned long left = spot->line;

    free(path);
    while (file != NULL && left > 0 && getline(&line, &room, file) >= 0)
        left--;
    if (file != NULL)
        fclose(file);
    if (left == 0)
        return line;
    free(line);
    return NULL;
}

void shmt_command_print_excerpt(FILE *out, const char *message)
{
    enum { WIDTH = 200 };
    struct spot spot;
    struct shmt_text shown = {0};
    char *line;

    if (!find_spot(message, &spot) || spot.column > WIDTH)
        return;
    line = read_line(&spot);
    if (line == NULL)
        return;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *c = line; *c != '\0'; c++)
        if (*c == '\t')
            *c = ' ';
    if (strlen(line) > WIDTH)
        line[WIDTH] = '\0';
    shmt_text_add_visible(&shown, line);
    if (spot.column <= strlen(line) + 1)
        fprintf(out, "%8lu | %s\n         | %*s^\n", spot.line,
                shmt_text_string(&shown), (int)spot.column - 1, "");
    shmt_text_free(&shown);
    free(line);
}
