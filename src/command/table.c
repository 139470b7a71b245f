/* SPDX-License-Identifier: MIT */
/*
 * table: formats tables, numbers with separators, bars and colours for people.
 * Called by all commands.
 */
#include "config.h"

#include "command/command.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shmt_command_cell {
    char *text;
    enum shmt_command_paint paint;
};

void shmt_command_add_cell(struct shmt_command_table *table,
                           enum shmt_command_paint paint, const char *format,
                           ...)
{
    va_list arguments;
    char *text;
    int length;

    if (table->failed)
        return;
    table->failed = !shmt_array_reserve(&table->cells, &table->room,
                                        table->cell_count + 1,
                                        sizeof *table->cells);
    if (table->failed)
        return;
    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text = length < 0 ? NULL : malloc((size_t)length + 1);
    table->failed = text == NULL;
    if (table->failed)
        return;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    table->cells[table->cell_count++] =
        (struct shmt_command_cell){text, paint};
}

void shmt_command_table_free(struct shmt_command_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i].text);
    free(table->cells);
    table->cells = NULL;
    table->cell_count = table->room = 0;
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

struct place {
    size_t column, room;
    bool right, last, colour;
};

static void add_cell(const struct place *place, const char *content,
                     enum shmt_command_paint paint, struct shmt_text *text)
{
    const size_t used = width(content);
    const size_t fill = place->room > used ? place->room - used : 0;

    if (place->column > 0)
        shmt_text_add(text, "  ");
    if (place->right)
        add_spaces(text, fill);
    shmt_text_add(text, shmt_command_begin_paint(paint, place->colour));
    shmt_text_add(text, content);
    shmt_text_add(text, shmt_command_end_paint(paint, place->colour));
    if (!place->right && !place->last)
        add_spaces(text, fill);
    if (place->last) {
        /* Drop the blanks that an empty last cell leaves behind. */
        while (text->length > 0 && text->data[text->length - 1] == ' ')
            text->data[--text->length] = '\0';
        shmt_text_add(text, "\n");
    }
}

void shmt_command_table_add(const struct shmt_command_table *table,
                            bool colour, struct shmt_text *text)
{
    const size_t columns = table->column_count;
    size_t *rooms = calloc(columns, sizeof *rooms);

    if (rooms == NULL || table->failed) {
        text->failed = true;
        free(rooms);
        return;
    }
    for (size_t c = 0; c < columns; c++)
        rooms[c] = width(table->columns[c].title);
    for (size_t i = 0; i < table->cell_count; i++)
        if (width(table->cells[i].text) > rooms[i % columns])
            rooms[i % columns] = width(table->cells[i].text);
    for (size_t i = 0; i < columns + table->cell_count; i++) {
        const size_t c = i % columns;
        const struct place place = {
            .column = c, .room = rooms[c], .right = table->columns[c].right,
            .last = c + 1 == columns, .colour = colour
        };

        if (i < columns)
            add_cell(&place, table->columns[c].title, SHMT_PAINT_BOLD, text);
        else
            add_cell(&place, table->cells[i - columns].text,
                     table->cells[i - columns].paint, text);
    }
    free(rooms);
}

const char *shmt_command_begin_paint(enum shmt_command_paint paint,
                                     bool colour)
{
    static const char *const codes[] = {
        [SHMT_PAINT_NONE] = "", [SHMT_PAINT_GOOD] = "\033[32m",
        [SHMT_PAINT_BAD] = "\033[31m", [SHMT_PAINT_DIM] = "\033[2m",
        [SHMT_PAINT_BOLD] = "\033[1m"
    };

    return colour ? codes[paint] : "";
}

const char *shmt_command_end_paint(enum shmt_command_paint paint, bool colour)
{
    return colour && paint != SHMT_PAINT_NONE ? "\033[0m" : "";
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

void shmt_command_add_bar(struct shmt_text *text, double share, int cells)
{
    const int filled = share <= 0 ? 0
                       : share >= 1 ? cells : (int)(share * cells + 0.5);

    for (int i = 0; i < filled; i++)
        shmt_text_add(text, "#");
}
