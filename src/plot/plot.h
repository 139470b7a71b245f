/* SPDX-License-Identifier: MIT */
/*
 * plot: charts as SVG, for pages and files, and text escaped for markup.  It
 * knows numbers and labels, and no word of the domain.
 *
 * A chart is made of groups of a class each; shmt_plot_add_style writes what
 * the classes look like, by day and by night.  Every text that a caller hands
 * in is escaped here.
 */
#ifndef SHMT_PLOT_H
#define SHMT_PLOT_H

#include "base/base.h"

/* -- markup.c ------------------------------------------------------------- */

/* The string as text, or as an attribute between quotes, of HTML or SVG.  What
 * does not print is shown as shmt_text_add_visible does, and what would change
 * the order or the look of its neighbours, as \u{202e}. */
void shmt_plot_add_escaped(struct shmt_text *out, const char *string);

/* The same of its first `letters` characters, with "..." as one character in
 * the place of the last one where it has more. */
void shmt_plot_add_cut(struct shmt_text *out, const char *string,
                       size_t letters);

/* To four figures, thousands parted: "1,234", "12.35"; "0.0001234". */
void shmt_plot_add_number(struct shmt_text *out, double number);

/* The rules of style of every class that charts use. */
void shmt_plot_add_style(struct shmt_text *out);

/* -- scale.c --------------------------------------------------------------- */

/* From numbers to places. */
struct shmt_plot_scale {
    double low, high;          /* numbers, low < high */
    bool logarithmic;
    bool whole;                /* no tick between whole numbers */
    double from, to;           /* their places */
};

enum { SHMT_PLOT_TICKS = 12 };

/* A scale for numbers from `low` to `high`, with a margin: logarithmic when
 * both are above 0 and they spread by more than 8 times. */
struct shmt_plot_scale shmt_plot_scale_of(double low, double high);
/* A scale from exactly one number to another. */
struct shmt_plot_scale shmt_plot_scale_exact(double low, double high);
double shmt_plot_place(const struct shmt_plot_scale *scale, double number);
/* Round numbers on the scale; returns how many. */
size_t shmt_plot_ticks(const struct shmt_plot_scale *scale,
                       double ticks[SHMT_PLOT_TICKS]);

/* -- frame.c --------------------------------------------------------------- */

/* What stands round a chart.  Texts may be NULL but for the first two. */
struct shmt_plot_frame {
    const char *title;         /* read aloud, and shown where it is alone */
    const char *description;   /* read aloud */
    const char *x_label, *y_label;
    int width, height, left;   /* left: room for what stands there; more
                                  where the numbers of an axis need it */
    struct shmt_plot_scale x, y;
    bool alone;                /* a file of its own, not a part of a page */
};

/* Begins the chart and sets the places of both scales. */
void shmt_plot_begin(struct shmt_text *out, struct shmt_plot_frame *frame);
void shmt_plot_end(struct shmt_text *out, const struct shmt_plot_frame *frame);

/* The lines of a grid with their numbers; those across, as many numbers as
 * stand apart. */
void shmt_plot_add_axis_x(struct shmt_text *out,
                          const struct shmt_plot_frame *frame);
void shmt_plot_add_axis_y(struct shmt_text *out,
                          const struct shmt_plot_frame *frame);

struct shmt_plot_point {
    double x, y;
    const char *note;          /* shown when it is pointed at; NULL: none */
};

/* A cloud; points that fall on the same place are drawn once.  Those with a
 * note are drawn as rings. */
void shmt_plot_add_points(struct shmt_text *out,
                          const struct shmt_plot_frame *frame,
                          const struct shmt_plot_point *points, size_t count);
/* A line that keeps its height up to the next point. */
void shmt_plot_add_steps(struct shmt_text *out,
                         const struct shmt_plot_frame *frame,
                         const struct shmt_plot_point *points, size_t count);
/* A line across at a height, with a word. */
void shmt_plot_add_level(struct shmt_text *out,
                         const struct shmt_plot_frame *frame, double y,
                         const char *word);
/* A straight line from point to point, in a colour of its own. */
void shmt_plot_add_line(struct shmt_text *out, const char *colour,
                        bool dashed, const struct shmt_plot_point *places,
                        size_t count);

/* Several charts in one file, one below the other: the file's beginning, its
 * end, and what each chart stands between. */
void shmt_plot_begin_file(struct shmt_text *out, int width, int height);
void shmt_plot_end_file(struct shmt_text *out);
void shmt_plot_begin_part(struct shmt_text *out, int x, int y);
void shmt_plot_end_part(struct shmt_text *out);

/* -- boxes.c --------------------------------------------------------------- */

/* How numbers are spread in one row: the box is the middle half. */
struct shmt_plot_box {
    const char *label;         /* what the row is about */
    size_t count;              /* 0: an empty row */
    double low, first, middle, third, high;
    bool marked;
};

enum { SHMT_PLOT_ROW = 22 };   /* the height of a row */
/* The height of a chart of so many rows, with a label of its numbers or
 * without. */
int shmt_plot_boxes_height(size_t count, bool labelled);
void shmt_plot_add_boxes(struct shmt_text *out,
                         const struct shmt_plot_frame *frame,
                         const struct shmt_plot_box *boxes, size_t count);

/* Rows of dots: one for each number, the mean of each row marked. */
struct shmt_plot_dots {
    const char *label;
    size_t count;
    const double *numbers;
    double mean;
};
void shmt_plot_add_dots(struct shmt_text *out,
                        const struct shmt_plot_frame *frame,
                        const struct shmt_plot_dots *rows, size_t count);

/* -- heat.c ---------------------------------------------------------------- */

/* A table of numbers from 1 up, 1 being the best; a cell that is not finite is
 * empty. */
struct shmt_plot_heat {
    size_t rows, columns;
    const char *const *row_labels, *const *column_labels;
    const char *row_name, *column_name;
    const double *cells;       /* [row][column] */
};
int shmt_plot_heat_height(size_t rows);
void shmt_plot_add_heat(struct shmt_text *out,
                        const struct shmt_plot_frame *frame,
                        const struct shmt_plot_heat *heat);

#endif
