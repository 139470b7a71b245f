/* SPDX-License-Identifier: MIT */
/*
 * frame: what charts have in common: the image with its title, axes, clouds of
 * points, lines.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/plot.h"

enum {
    TOP = 12, RIGHT = 14, BOTTOM = 38, BARE = 24,
    HEAD = 24,                 /* more above, where the title is shown */
    APART = 5,                 /* numbers on the axis, at least */
    TICK = 6,                  /* a number from the axis on its right */
    TITLE = 10                 /* how wide a letter of a title is */
};

/* How wide a digit of 11 px is, at most. */
static const double digit = 6.4;

static void add_text(struct shmt_text *out, const char *class, double x,
                     double y, const char *anchor, const char *string)
{
    shmt_text_addf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" "
                        "text-anchor=\"%s\">", class, x, y, anchor);
    shmt_plot_add_escaped(out, string);
    shmt_text_add(out, "</text>\n");
}

static void add_tick(struct shmt_text *out, double x, double y,
                     const char *anchor, double number)
{
    shmt_text_addf(out, "<text class=\"t\" x=\"%.1f\" y=\"%.1f\" "
                        "text-anchor=\"%s\">", x, y, anchor);
    shmt_plot_add_number(out, number);
    shmt_text_add(out, "</text>\n");
}

/* What a number takes at most, of digits of this size. */
static double width_of(double number)
{
    struct shmt_text text = {0};
    double width;

    shmt_plot_add_number(&text, number);
    width = digit * (double)text.length;
    shmt_text_free(&text);
    return width;
}

/* Room on the left for the numbers of an axis that has a name. */
static int room_of(const struct shmt_plot_frame *frame)
{
    double ticks[SHMT_PLOT_TICKS], room = frame->left;
    const size_t count =
        frame->y_label != NULL ? shmt_plot_ticks(&frame->y, ticks) : 0;

    for (size_t k = 0; k < count; k++)
        room = fmax(room, width_of(ticks[k]) + TICK);
    return (int)ceil(room);
}

void shmt_plot_begin(struct shmt_text *out, struct shmt_plot_frame *frame)
{
    const int top = TOP + (frame->alone ? HEAD : 0) +
                    (frame->y_label != NULL ? 14 : 0);

    frame->left = room_of(frame);
    frame->x.from = frame->left;
    frame->x.to = frame->width - RIGHT;
    frame->y.from =
        frame->height - (frame->x_label != NULL ? BOTTOM : BARE);
    frame->y.to = top;
    if (frame->alone) {
        shmt_text_add(out, "<g>\n");
        shmt_text_add(out, "<text class=\"n k\" x=\"14\" y=\"24\">");
        shmt_plot_add_cut(out, frame->title,
                          (size_t)(frame->width - 14) / TITLE);
        shmt_text_add(out, "</text>\n");
    } else {
        shmt_text_addf(out, "<svg class=\"c\" role=\"img\" viewBox=\"0 0 %d "
                            "%d\" width=\"%d\" height=\"%d\">\n<title>",
                       frame->width, frame->height, frame->width,
                       frame->height);
        shmt_plot_add_escaped(out, frame->title);
        shmt_text_add(out, "</title>\n<desc>");
        shmt_plot_add_escaped(out, frame->description);
        shmt_text_add(out, "</desc>\n<g>\n");
    }
    if (frame->y_label != NULL)
        add_text(out, "t", frame->alone ? 14 : 2, top - 14, "start",
                 frame->y_label);
    if (frame->x_label != NULL)
        add_text(out, "t", frame->x.to, frame->height - 6, "end",
                 frame->x_label);
}

void shmt_plot_end(struct shmt_text *out, const struct shmt_plot_frame *frame)
{
    shmt_text_add(out, frame->alone ? "</g>\n" : "</g>\n</svg>\n");
}

static bool stand_apart(const struct shmt_plot_frame *frame, double left,
                        double right)
{
    return shmt_plot_place(&frame->x, right) -
               shmt_plot_place(&frame->x, left) >=
           (width_of(left) + width_of(right)) / 2 + APART;
}

/* Each how many ticks have a number, so that all stand apart. */
static size_t stride_of(const struct shmt_plot_frame *frame,
                        const double *ticks, size_t count)
{
    size_t stride = 1;

    for (size_t k = 0; !frame->x.logarithmic && k + stride < count;)
        if (stand_apart(frame, ticks[k], ticks[k + stride])) {
            k += stride;
        } else {
            stride++;
            k = 0;
        }
    return stride;
}

/* The first tick that has a number: a multiple of what the numbers differ
 * by, as round as they can be. */
static size_t first_of(const double *ticks, size_t count, size_t stride)
{
    const double step = count > 1 ? ticks[1] - ticks[0] : 0;

    for (size_t k = 0; stride > 1 && k < stride && k < count; k++)
        if (fabs(remainder(ticks[k], step * (double)stride)) < step / 2)
            return k;
    return 0;
}

/* Logarithmic ticks are not at equal distances: each shows what has room
 * behind the one before. */
static void add_numbers(struct shmt_text *out,
                        const struct shmt_plot_frame *frame,
                        const double *ticks, size_t count)
{
    const size_t stride = stride_of(frame, ticks, count);
    const size_t first = first_of(ticks, count, stride);
    size_t last = first;

    for (size_t k = first; k < count; k += stride) {
        const double place = shmt_plot_place(&frame->x, ticks[k]);
        const double half = width_of(ticks[k]) / 2;

        if ((k > first && !stand_apart(frame, ticks[last], ticks[k])) ||
            place + half > frame->width)
            continue;
        add_tick(out, place, frame->y.from + 15, "middle", ticks[k]);
        last = k;
    }
}

void shmt_plot_add_axis_x(struct shmt_text *out,
                          const struct shmt_plot_frame *frame)
{
    double ticks[SHMT_PLOT_TICKS];
    const size_t count = shmt_plot_ticks(&frame->x, ticks);

    shmt_text_addf(out, "<path class=\"g\" d=\"");
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(out, "M%.1f,%.1fV%.1f",
                       shmt_plot_place(&frame->x, ticks[k]), frame->y.to,
                       frame->y.from);
    shmt_text_add(out, "\"/>\n");
    add_numbers(out, frame, ticks, count);
}

void shmt_plot_add_axis_y(struct shmt_text *out,
                          const struct shmt_plot_frame *frame)
{
    double ticks[SHMT_PLOT_TICKS];
    const size_t count = shmt_plot_ticks(&frame->y, ticks);

    shmt_text_addf(out, "<path class=\"g\" d=\"");
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(out, "M%.1f,%.1fH%.1f", frame->x.from,
                       shmt_plot_place(&frame->y, ticks[k]), frame->x.to);
    shmt_text_add(out, "\"/>\n");
    for (size_t k = 0; k < count; k++)
        add_tick(out, frame->x.from - TICK,
                 shmt_plot_place(&frame->y, ticks[k]) + 4, "end", ticks[k]);
}

/* -- points and lines ------------------------------------------------------ */

static int compare_places(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* The half points of both, in one number. */
static uint32_t place_of(const struct shmt_plot_frame *frame,
                         const struct shmt_plot_point *point)
{
    const uint32_t x =
        (uint32_t)(2 * shmt_plot_place(&frame->x, point->x) + 0.5);
    const uint32_t y =
        (uint32_t)(2 * shmt_plot_place(&frame->y, point->y) + 0.5);

    return x << 16 | (y & 0xffff);
}

static void add_cloud(struct shmt_text *out,
                      const struct shmt_plot_frame *frame,
                      const struct shmt_plot_point *points, size_t count)
{
    uint32_t *const places = calloc(count + 1, sizeof *places);
    size_t used = 0;

    if (places == NULL) {
        out->failed = true;
        return;
    }
    for (size_t k = 0; k < count; k++)
        if (points[k].note == NULL)
            places[used++] = place_of(frame, &points[k]);
    qsort(places, used, sizeof *places, compare_places);
    shmt_text_add(out, "<path class=\"p\" d=\"");
    for (size_t k = 0; k < used; k++)
        if (k == 0 || places[k] != places[k - 1])
            shmt_text_addf(out, "M%g,%gh0", (places[k] >> 16) / 2.0,
                           (places[k] & 0xffff) / 2.0);
    shmt_text_add(out, "\"/>\n");
    free(places);
}

void shmt_plot_add_points(struct shmt_text *out,
                          const struct shmt_plot_frame *frame,
                          const struct shmt_plot_point *points, size_t count)
{
    add_cloud(out, frame, points, count);
    for (size_t k = 0; k < count; k++) {
        if (points[k].note == NULL)
            continue;
        shmt_text_addf(out, "<circle class=\"r\" cx=\"%.1f\" cy=\"%.1f\" "
                            "r=\"4\"><title>",
                       shmt_plot_place(&frame->x, points[k].x),
                       shmt_plot_place(&frame->y, points[k].y));
        shmt_plot_add_escaped(out, points[k].note);
        shmt_text_add(out, "</title></circle>\n");
    }
}

void shmt_plot_add_steps(struct shmt_text *out,
                         const struct shmt_plot_frame *frame,
                         const struct shmt_plot_point *points, size_t count)
{
    if (count == 0)
        return;
    shmt_text_add(out, "<path class=\"s\" d=\"");
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(out, k == 0 ? "M%.1f,%.1f" : "H%.1fV%.1f",
                       shmt_plot_place(&frame->x, points[k].x),
                       shmt_plot_place(&frame->y, points[k].y));
    shmt_text_addf(out, "H%.1f\"/>\n", frame->x.to);
}

void shmt_plot_add_level(struct shmt_text *out,
                         const struct shmt_plot_frame *frame, double y,
                         const char *word)
{
    const double at = shmt_plot_place(&frame->y, y);

    shmt_text_addf(out, "<path class=\"l\" d=\"M%.1f,%.1fH%.1f\"/>\n",
                   frame->x.from, at, frame->x.to);
    add_text(out, "n q o", frame->x.to, at - 4, "end", word);
}

void shmt_plot_add_line(struct shmt_text *out, const char *colour,
                        bool dashed, const struct shmt_plot_point *places,
                        size_t count)
{
    shmt_text_addf(out, "<polyline fill=\"none\" stroke-width=\"1.6\" "
                        "stroke=\"%s\"%s points=\"", colour,
                   dashed ? " stroke-dasharray=\"4 2\"" : "");
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(out, "%.1f,%.1f ", places[k].x, places[k].y);
    shmt_text_add(out, "\"/>\n");
}

/* -- a file of several ----------------------------------------------------- */

void shmt_plot_begin_file(struct shmt_text *out, int width, int height)
{
    shmt_text_addf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"c\""
                        " width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
                        "<style>\n", width, height, width, height);
    shmt_plot_add_style(out);
    shmt_text_add(out, "</style>\n<rect class=\"z\" width=\"100%\" "
                       "height=\"100%\"/>\n");
}

void shmt_plot_end_file(struct shmt_text *out)
{
    shmt_text_add(out, "</svg>\n");
}

void shmt_plot_begin_part(struct shmt_text *out, int x, int y)
{
    shmt_text_addf(out, "<g transform=\"translate(%d %d)\">\n", x, y);
}

void shmt_plot_end_part(struct shmt_text *out)
{
    shmt_text_add(out, "</g>\n");
}
