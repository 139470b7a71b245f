/* SPDX-License-Identifier: MIT */
/*
 * heat: a table of numbers as shades, with the numbers in it where they fit.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot/plot.h"

enum { CELL = 22, ABOVE = 34, BELOW = 10, LETTER = 6, NAMED = 8 };

int shmt_plot_heat_height(size_t rows)
{
    return ABOVE + BELOW + CELL * (int)rows;
}

/* The best is as dark as text on it can be read by day and by night; what is
 * so many times slower is pale.  The root keeps those near the best apart. */
static double shade_of(double number)
{
    static const double darkest = .55, palest = .04, slowest = 4;
    const double part = log(fmax(1, number)) / log(slowest);

    return fmax(palest, darkest * (1 - sqrt(part)));
}

/* The names of both parameters, that of the rows above them where it has room
 * there: what it needs more, that of the columns stands further to the right.
 * Each may take half, and is cut behind that. */
static void add_names(struct shmt_text *out,
                      const struct shmt_plot_frame *frame,
                      const struct shmt_plot_heat *heat)
{
    const size_t most = (size_t)frame->width / 2 / NAMED - 2;
    const size_t length = strlen(heat->row_name);
    const int room = NAMED * ((int)(length < most ? length : most) + 2);
    const int end = room > frame->left - 8 ? room : frame->left - 8;

    shmt_text_addf(out, "<text class=\"t\" x=\"%d\" y=\"12\" "
                        "text-anchor=\"end\">", end);
    shmt_plot_add_cut(out, heat->row_name, most);
    shmt_text_addf(out, " \xe2\x86\x93</text>\n<text class=\"t\" x=\"%d\" "
                        "y=\"12\">", end + 8);
    shmt_plot_add_cut(out, heat->column_name, most);
    shmt_text_add(out, " \xe2\x86\x92</text>\n");
}

/* 1: each column has room for its label; 2: every second one is named. */
static size_t stride_of(const struct shmt_plot_heat *heat, double width)
{
    for (size_t k = 0; k < heat->columns; k++)
        if ((double)strlen(heat->column_labels[k]) * LETTER > width)
            return 2;
    return 1;
}

static void add_labels(struct shmt_text *out,
                       const struct shmt_plot_frame *frame,
                       const struct shmt_plot_heat *heat, double width)
{
    const size_t stride = stride_of(heat, width);
    const double room = width * (double)stride;

    for (size_t k = 0; k < heat->columns; k += stride) {
        shmt_text_addf(out, "<text class=\"n q\" x=\"%.1f\" y=\"%d\" "
                            "text-anchor=\"middle\">",
                       frame->left + width * ((double)k + .5), ABOVE - 6);
        shmt_plot_add_cut(out, heat->column_labels[k],
                          room < LETTER ? 1 : (size_t)(room / LETTER));
        shmt_text_add(out, "</text>\n");
    }
    for (size_t k = 0; k < heat->rows; k++) {
        shmt_text_addf(out, "<text class=\"n q\" x=\"%d\" y=\"%d\" "
                            "text-anchor=\"end\">", frame->left - 8,
                       ABOVE + CELL * (int)k + CELL / 2 + 4);
        shmt_plot_add_cut(out, heat->row_labels[k],
                          (size_t)(frame->left - 10) / LETTER);
        shmt_text_add(out, "</text>\n");
    }
}

static void add_pair(struct shmt_text *out, const char *name,
                     const char *value)
{
    shmt_plot_add_escaped(out, name);
    shmt_text_add(out, "=");
    shmt_plot_add_escaped(out, value);
}

static void add_cell(struct shmt_text *out,
                     const struct shmt_plot_heat *heat, size_t row,
                     size_t column, double x, double width)
{
    const double number = heat->cells[row * heat->columns + column];
    const int y = ABOVE + CELL * (int)row;
    char shown[16];

    if (!isfinite(number)) {
        shmt_text_addf(out, "<rect class=\"e\" x=\"%.1f\" y=\"%d\" "
                            "width=\"%.1f\" height=\"%d\"/>\n", x + .5, y,
                       width - 1, CELL - 1);
        return;
    }
    snprintf(shown, sizeof shown, number < 9.995 ? "%.2f" : "%.0f", number);
    shmt_text_add(out, "<g><title>");
    add_pair(out, heat->row_name, heat->row_labels[row]);
    shmt_text_add(out, ", ");
    add_pair(out, heat->column_name, heat->column_labels[column]);
    shmt_text_addf(out, ": %s times the best</title>"
                        "<rect class=\"h\" x=\"%.1f\" y=\"%d\" "
                        "width=\"%.1f\" height=\"%d\" "
                        "fill-opacity=\"%.2f\"/>",
                   shown, x + .5, y, width - 1, CELL - 1, shade_of(number));
    if (width >= 26)
        shmt_text_addf(out, "<text class=\"n q%s\" x=\"%.1f\" y=\"%d\" "
                            "text-anchor=\"middle\">%s</text>",
                       number < 1.005 ? " y" : "", x + width / 2,
                       y + CELL / 2 + 3, shown);
    shmt_text_add(out, "</g>\n");
}

void shmt_plot_add_heat(struct shmt_text *out,
                        const struct shmt_plot_frame *frame,
                        const struct shmt_plot_heat *heat)
{
    const double width =
        (frame->x.to - frame->x.from) / (double)heat->columns;

    add_names(out, frame, heat);
    add_labels(out, frame, heat, width);
    for (size_t r = 0; r < heat->rows; r++)
        for (size_t c = 0; c < heat->columns; c++)
            add_cell(out, heat, r, c, frame->left + width * (double)c, width);
}
