/* SPDX-License-Identifier: MIT */
/*
 * table: lays out tables that fit the terminal, and numbers with separators
 * and bars in them.  Called by all commands.
 */
#define _GNU_SOURCE   /* vasprintf */
#include "config.h"

#include "command/command.h"

#include <inttypes.h>
#include <math.h>
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

void shmt_table_add_real(struct shmt_table *table,
                         enum shmt_command_paint paint, const char *format,
                         double number)
{
    char text[32];

    if (!(number >= 0) || isinf(number)) {
        shmt_table_paint(table, SHMT_PAINT_DIM, "-");
        return;
    }
    snprintf(text, sizeof text, number >= 1000 ? "%.0f" : format, number);
    shmt_table_paint(table, paint, "%s", text);
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

void shmt_table_order(struct shmt_table *table, const size_t *order,
                      size_t rows)
{
    struct shmt_table_cell *cells;
    size_t columns;

    if (table->failed || rows == 0)
        return;
    cells = calloc(table->cell_count + 1, sizeof *cells);
    table->failed = cells == NULL;
    columns = table->cell_count / rows;
    for (size_t r = 0; cells != NULL && r < rows; r++)
        memcpy(&cells[r * columns], &table->cells[order[r] * columns],
               columns * sizeof *cells);
    if (cells == NULL)
        return;
    free(table->cells);
    table->cells = cells;
    table->room = table->cell_count;
}

static void add_spaces(struct shmt_text *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        shmt_text_add(text, " ");
}

/* -- the columns ---------------------------------------------------------- */

enum { GAP = 2, BELOW = 4, LEAST_WORD = 8, MOST_WORD = 20 };

struct column {
    char *title;
    size_t room;               /* of the widest cell; as it is laid out */
    size_t least;              /* of the widest word */
    bool right, optional, spare, below;
    bool known;                /* some row has something to say */
    bool hidden;               /* left out, or below the row */
};

struct layout {
    const struct shmt_command_call *call;
    struct column *columns;
    size_t count;
    const struct shmt_table_cell *cells;
    size_t rows;
    bool is_list;              /* each cell on a line of its own */
};

/* Cuts `titles` into columns, and returns how many they are. */
static size_t cut_titles(char *titles, struct column *columns)
{
    size_t count = 0;

    for (char *end; titles != NULL; titles = end) {
        struct column *const column = &columns[count++];

        end = strchr(titles, '|');
        if (end != NULL)
            *end++ = '\0';
        for (; *titles != '\0' && strchr(">?#_", *titles) != NULL; titles++) {
            column->right |= *titles == '>';
            column->optional |= *titles == '?';
            column->spare |= *titles == '#';
            column->below |= *titles == '_';
        }
        column->title = titles + (*titles == '=');
    }
    return count;
}

static size_t longest_word(const char *text)
{
    size_t most = 0;

    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        const size_t length = strcspn(text, " ");

        most = length > most ? length : most;
        text += length;
    }
    return most;
}

static void measure_text(struct column *column, const char *text)
{
    const size_t width = shmt_command_text_width(text);
    const size_t word = longest_word(text);

    if (width > column->room)
        column->room = width;
    if (word > column->least)
        column->least = word;
}

static void measure_columns(struct layout *layout)
{
    for (size_t c = 0; c < layout->count; c++) {
        struct column *const column = &layout->columns[c];

        column->known = !column->optional;
        measure_text(column, column->title);
        for (size_t r = 0; r < layout->rows; r++) {
            const char *const text = layout->cells[r * layout->count + c].text;

            measure_text(column, text);
            column->known |= text[0] != '\0' && strcmp(text, "-") != 0;
        }
        if (column->least > MOST_WORD)
            column->least = MOST_WORD;
        if (column->least < LEAST_WORD)
            column->least = LEAST_WORD;
        if (column->right || column->least > column->room)
            column->least = column->room;
    }
}

static size_t width_of(const struct layout *layout)
{
    size_t width = 0;

    for (size_t c = 0; c < layout->count; c++)
        if (!layout->columns[c].hidden)
            width += layout->columns[c].room + (width > 0 ? GAP : 0);
    return width;
}

/* The widest column that can be narrower; NULL: there is none. */
static struct column *widest(const struct layout *layout)
{
    struct column *most = NULL;

    for (size_t c = 0; c < layout->count; c++) {
        struct column *const column = &layout->columns[c];

        if (!column->hidden && column->room > column->least &&
            (most == NULL || column->room > most->room))
            most = column;
    }
    return most;
}

/* Lays out with or without the columns that may go; whether they then fit. */
static bool try_columns(struct layout *layout, bool spare, bool below)
{
    for (size_t c = 0; c < layout->count; c++) {
        struct column *const column = &layout->columns[c];

        column->hidden = !column->known || (!spare && column->spare) ||
                         (!below && column->below);
    }
    return width_of(layout) <= layout->call->width;
}

/* Makes the columns fit the line, by what costs the reader least. */
static void fit_columns(struct layout *layout)
{
    const size_t width = layout->call->width;
    struct column *column;

    if (try_columns(layout, true, true) || try_columns(layout, false, true) ||
        try_columns(layout, true, false) || try_columns(layout, false, false))
        return;
    while (width_of(layout) > width && (column = widest(layout)) != NULL)
        column->room--;
    layout->is_list = width_of(layout) > width;
}

/* -- the rows ------------------------------------------------------------- */

static void add_painted(struct shmt_text *text, const char *at, size_t length,
                        enum shmt_command_paint paint, bool colour)
{
    shmt_text_add(text, shmt_command_begin_paint(paint, colour));
    shmt_text_add_bytes(text, at, length);
    shmt_text_add(text, shmt_command_end_paint(paint, colour));
}

/* The next line of a cell: `at` goes on behind it.  Returns its length, and
 * its columns in *used. */
static size_t next_piece(const char **at, size_t room, size_t *used,
                         struct shmt_text *copy)
{
    const size_t length = shmt_command_text_piece(*at, room);

    shmt_text_clear(copy);
    shmt_text_add_bytes(copy, *at, length);
    *used = shmt_command_text_width(shmt_text_string(copy));
    *at += length;
    *at += strspn(*at, " ");
    return length;
}

/* The cells of one row, side by side, in as many lines as they need. */
static void add_row(const struct layout *layout,
                    const struct shmt_table_cell *cells, const char **rest,
                    struct shmt_text *text)
{
    struct shmt_text copy = {0};
    bool more = true;

    for (size_t c = 0; c < layout->count; c++)
        rest[c] = cells[c].text;
    while (more && !text->failed) {
        size_t blanks = 0;

        more = false;
        for (size_t c = 0; c < layout->count; c++) {
            const struct column *const column = &layout->columns[c];
            const char *const at = rest[c];
            size_t used, length, left;

            if (column->hidden)
                continue;
            length = next_piece(&rest[c], column->room, &used, &copy);
            left = used < column->room ? column->room - used : 0;
            more |= *rest[c] != '\0';
            if (length == 0) {
                blanks += column->room + GAP;
                continue;
            }
            add_spaces(text, blanks + (column->right ? left : 0));
            add_painted(text, at, length, cells[c].paint,
                        layout->call->colour);
            blanks = GAP + (column->right ? 0 : left);
        }
        shmt_text_add(text, "\n");
        text->failed |= copy.failed;
    }
    shmt_text_free(&copy);
}

/* A text in lines of its own, further to the right by `indent`; the first
 * begins behind what is there. */
static void add_lines(const struct layout *layout,
                      const struct shmt_table_cell *cell, size_t indent,
                      struct shmt_text *text)
{
    const char *at = cell->text;
    struct shmt_text copy = {0};
    size_t used;

    while (*at != '\0' && !text->failed) {
        const char *const begin = at;
        const size_t length =
            next_piece(&at, layout->call->width - indent, &used, &copy);

        if (begin != cell->text)
            add_spaces(text, indent);
        add_painted(text, begin, length, cell->paint, layout->call->colour);
        shmt_text_add(text, "\n");
        text->failed |= copy.failed;
    }
    shmt_text_free(&copy);
}

static void add_below(const struct layout *layout,
                      const struct shmt_table_cell *cells,
                      struct shmt_text *text)
{
    for (size_t c = 0; c < layout->count; c++)
        if (layout->columns[c].below && layout->columns[c].hidden &&
            cells[c].text[0] != '\0') {
            add_spaces(text, BELOW);
            add_lines(layout, &cells[c], BELOW, text);
        }
}

/* The cells without a title, in one line: what the row is about. */
static void add_subject(const struct layout *layout,
                        const struct shmt_table_cell *cells,
                        struct shmt_text *text)
{
    struct shmt_text subject = {0};
    struct shmt_table_cell cell = {.paint = SHMT_PAINT_NONE};

    for (size_t c = 0; c < layout->count; c++) {
        const struct column *const column = &layout->columns[c];

        if (column->title[0] != '\0' || column->spare || !column->known ||
            cells[c].text[0] == '\0')
            continue;
        shmt_text_addf(&subject, "%s%s", subject.length > 0 ? ", " : "",
                       cells[c].text);
    }
    cell.text = subject.data;
    if (subject.length > 0 && !subject.failed)
        add_lines(layout, &cell, 0, text);
    text->failed |= subject.failed;
    shmt_text_free(&subject);
}

/* One row as a list: what has no title, then titles and cells. */
static void add_list(const struct layout *layout,
                     const struct shmt_table_cell *cells,
                     struct shmt_text *text)
{
    size_t indent = 0;

    for (size_t c = 0; c < layout->count; c++) {
        const struct column *const column = &layout->columns[c];
        const size_t width = shmt_command_text_width(column->title);

        indent = width > indent ? width : indent;
    }
    indent += 2 * GAP;
    if (indent > layout->call->width / 2)
        indent = layout->call->width / 2;
    add_subject(layout, cells, text);
    for (size_t c = 0; c < layout->count; c++) {
        const struct column *const column = &layout->columns[c];
        const size_t width =
            shmt_command_text_width(column->title) + GAP;

        if (column->title[0] == '\0' || cells[c].text[0] == '\0' ||
            column->spare || !column->known)
            continue;
        add_spaces(text, GAP);
        shmt_text_add(text, column->title);
        if (width + GAP > indent)
            shmt_text_add(text, "\n");
        add_spaces(text, width + GAP > indent ? indent : indent - width);
        add_lines(layout, &cells[c], indent, text);
    }
}

static void add_table(const struct layout *layout, struct shmt_text *text)
{
    struct shmt_table_cell *const titles =
        calloc(layout->count, sizeof *titles);
    const char **const rest = calloc(layout->count, sizeof *rest);

    text->failed |= titles == NULL || rest == NULL;
    for (size_t c = 0; !text->failed && c < layout->count; c++)
        titles[c] = (struct shmt_table_cell){layout->columns[c].title,
                                             SHMT_PAINT_BOLD};
    if (!text->failed && !layout->is_list)
        add_row(layout, titles, rest, text);
    for (size_t r = 0; !text->failed && r < layout->rows; r++) {
        const struct shmt_table_cell *const cells =
            &layout->cells[r * layout->count];

        if (layout->is_list) {
            shmt_text_add(text, r > 0 ? "\n" : "");
            add_list(layout, cells, text);
        } else {
            add_row(layout, cells, rest, text);
            add_below(layout, cells, text);
        }
    }
    free(titles);
    free(rest);
}

void shmt_table_end(struct shmt_table *table,
                    const struct shmt_command_call *call,
                    struct shmt_text *text)
{
    char *const titles = strdup(table->titles);
    struct column *const columns =
        calloc(strlen(table->titles) + 1, sizeof *columns);
    struct layout layout = {.call = call, .columns = columns,
                            .cells = table->cells};

    text->failed |= table->failed || titles == NULL || columns == NULL;
    if (!text->failed) {
        layout.count = cut_titles(titles, columns);
        layout.rows = table->cell_count / layout.count;
        measure_columns(&layout);
        fit_columns(&layout);
        add_table(&layout, text);
    }
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i].text);
    free(columns);
    free(titles);
    free(table->cells);
    table->cells = NULL;
    table->cell_count = table->room = 0;
}

void shmt_command_add_compiler(struct shmt_text *text, const char *before,
                               const struct shmt_kernel *kernel, int version)
{
    if (version <= 0)
        return;
    shmt_text_addf(text, "%s%s %d.%d", before,
                   kernel == NULL ? "compiler"
                   : kernel->nvcc ? "nvcc" : "NVRTC",
                   version / 1000, version % 1000 / 10);
}
