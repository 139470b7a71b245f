/* SPDX-License-Identifier: MIT */
/*
 * table: formats tables, numbers with separators, bars and colours for people.
 * Called by all commands.
 */
#define _GNU_SOURCE   /* vasprintf */
#include "config.h"

#include "command/command.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shmt_table_cell {
    char *text;
    enum shmt_command_paint paint;
};

static void add(struct shmt_table *table, enum shmt_command_paint paint,
                const char *format, va_list arguments)
{
    struct shmt_table_cell cell = {.paint = paint};
    struct shmt_text shown = {0};
    char *text;

    table->failed |= !shmt_array_reserve(&table->cells, &table->room,
                                         table->cell_count + 1,
                                         sizeof *table->cells);
    if (table->failed)
        return;
    table->failed = vasprintf(&text, format, arguments) < 0;
    if (table->failed)
        return;
    shmt_text_add_visible(&shown, text);
    shmt_text_add(&shown, "");
    free(text);
    table->failed = shown.failed;
    cell.text = shown.data;
    if (!table->failed)
        table->cells[table->cell_count++] = cell;
    else
        shmt_text_free(&shown);
}

void shmt_table_add(struct shmt_table *table, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(table, SHMT_PAINT_NONE, format, arguments);
    va_end(arguments);
}

void shmt_table_paint(struct shmt_table *table, enum shmt_command_paint paint,
                      const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(table, paint, format, arguments);
    va_end(arguments);
}

void shmt_table_add_known(struct shmt_table *table, int64_t number)
{
    if (number < 0)
        shmt_table_paint(table, SHMT_PAINT_DIM, "-");
    else
        shmt_table_add(table, "%" PRId64, number);
}

void shmt_table_add_text(struct shmt_table *table, struct shmt_text *text)
{
    table->failed |= text->failed;
    shmt_table_add(table, "%s", shmt_text_string(text));
    shmt_text_free(text);
}

void shmt_table_add_bar(struct shmt_table *table, double share, int cells)
{
    static const char bar[] = "########################################";
    const int filled = share <= 0 ? 0
                       : share >= 1 ? cells : (int)(share * cells + 0.5);

    shmt_table_add(table, "%.*s", filled, bar);
}

/* Characters, not bytes: continuation bytes of UTF-8 take no room. */
static size_t width(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static void add_spaces(struct shmt_text *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        shmt_text_add(text, " ");
}

struct column {
    char *title;
    size_t room;
    bool right, last;
};

/* Cuts `titles` into columns, and returns how many they are. */
static size_t cut_titles(char *titles, struct column *columns)
{
    size_t count = 0;

    for (char *end; titles != NULL; titles = end) {
        struct column *const column = &columns[count++];

        end = strchr(titles, '|');
        column->last = end == NULL;
        if (end != NULL)
            *end++ = '\0';
        column->right = *titles == '>';
        column->title = titles + column->right;
        column->room = width(column->title);
    }
    return count;
}

static void add_cell(const struct column *column,
                     const struct shmt_table_cell *cell, bool colour,
                     struct shmt_text *text)
{
    const size_t used = width(cell->text);
    const size_t fill = column->room > used ? column->room - used : 0;

    if (column->right)
        add_spaces(text, fill);
    shmt_text_add(text, shmt_command_begin_paint(cell->paint, colour));
    shmt_text_add(text, cell->text);
    shmt_text_add(text, shmt_command_end_paint(cell->paint, colour));
    if (!column->last) {
        add_spaces(text, column->right ? 2 : fill + 2);
        return;
    }
    /* Drop the blanks that an empty last cell leaves behind. */
    while (text->length > 0 && text->data[text->length - 1] == ' ')
        text->data[--text->length] = '\0';
    shmt_text_add(text, "\n");
}

void shmt_table_end(struct shmt_table *table, bool colour,
                    struct shmt_text *text)
{
    char *const titles = strdup(table->titles);
    struct column *const columns =
        calloc(strlen(table->titles) + 1, sizeof *columns);
    const bool failed = table->failed || titles == NULL || columns == NULL;
    const size_t count = failed ? 0 : cut_titles(titles, columns);

    text->failed |= failed;
    for (size_t i = 0; !failed && i < table->cell_count; i++)
        if (width(table->cells[i].text) > columns[i % count].room)
            columns[i % count].room = width(table->cells[i].text);
    for (size_t c = 0; c < count; c++)
        add_cell(&columns[c], &(struct shmt_table_cell){columns[c].title,
                                                        SHMT_PAINT_BOLD},
                 colour, text);
    for (size_t i = 0; i < table->cell_count; i++) {
        if (!failed)
            add_cell(&columns[i % count], &table->cells[i], colour, text);
        free(table->cells[i].text);
    }
    free(columns);
    free(titles);
    free(table->cells);
    table->cells = NULL;
    table->cell_count = table->room = 0;
}

static const char *const paints[] = {
    [SHMT_PAINT_NONE] = "", [SHMT_PAINT_GOOD] = "\033[32m",
    [SHMT_PAINT_BAD] = "\033[31m", [SHMT_PAINT_DIM] = "\033[2m",
    [SHMT_PAINT_BOLD] = "\033[1m"
};
static const char end_paint[] = "\033[0m";

/* How long what stands here and is our own is: a line's end, a colour's. */
static size_t own_length(const char *at)
{
    if (*at == '\n')
        return 1;
    if (*at != '\033')
        return 0;
    if (strncmp(at, end_paint, sizeof end_paint - 1) == 0)
        return sizeof end_paint - 1;
    for (size_t k = 1; k < sizeof paints / sizeof *paints; k++)
        if (strncmp(at, paints[k], strlen(paints[k])) == 0)
            return strlen(paints[k]);
    return 0;
}

enum shmtune_status shmt_command_print(struct shmt_text *text,
                                       struct shmt_error *err)
{
    struct shmt_text shown = {0};
    char *const whole = text->data;
    bool failed;

    for (char *at = whole, *end; !text->failed && at != NULL && *at != '\0';
         at = end) {
        const size_t own = own_length(at);
        char kept;

        for (end = at + own; own == 0 && *end != '\0' && own_length(end) == 0;)
            end++;
        kept = *end;
        *end = '\0';
        if (own > 0)
            shmt_text_add(&shown, at);
        else
            shmt_text_add_visible(&shown, at);
        *end = kept;
    }
    failed = text->failed || shown.failed;
    if (!failed)
        fputs(shmt_text_string(&shown), stdout);
    shmt_text_free(&shown);
    shmt_text_free(text);
    return failed ? shmt_error_memory(err) : SHMTUNE_OK;
}

void shmt_command_tell(const char *head, const char *text)
{
    struct shmt_text shown = {0};

    shmt_text_add_visible(&shown, text);
    fprintf(stderr, "shmtune: %s%s\n", head, shmt_text_string(&shown));
    shmt_text_free(&shown);
}

const char *shmt_command_begin_paint(enum shmt_command_paint paint,
                                     bool colour)
{
    return colour ? paints[paint] : "";
}

const char *shmt_command_end_paint(enum shmt_command_paint paint, bool colour)
{
    return colour && paint != SHMT_PAINT_NONE ? end_paint : "";
}

void shmt_command_add_count(struct shmt_text *text, uint64_t count)
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
