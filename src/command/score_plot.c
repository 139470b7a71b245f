/* SPDX-License-Identifier: MIT */
/*
 * score_plot: convergence as SVG: improvement over random search against
 * the part of the budget that is spent.
 */
#include "config.h"

#include <math.h>

#include "base/base.h"
#include "command/score.h"

enum {
    WIDTH = 640, HEIGHT = 260, LEFT = 56, RIGHT = 190, TOP = 34, BOTTOM = 40,
    STRIDE = 5           /* of the curve's points */
};

static const double LOWEST = -0.5;

/* Told apart by eyes of all kinds (Okabe and Ito). */
static const char *const colours[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
    "#000000", "#b8a800"
};
enum { COLOURS = sizeof colours / sizeof *colours };

static void add_escaped(struct shmt_text *svg, const char *string)
{
    for (; *string != '\0'; string++) {
        switch (*string) {
        case '&': shmt_text_add(svg, "&amp;"); break;
        case '<': shmt_text_add(svg, "&lt;"); break;
        case '>': shmt_text_add(svg, "&gt;"); break;
        default: shmt_text_add_bytes(svg, string, 1);
        }
    }
}

static double x_of(double part)
{
    return LEFT + part * (WIDTH - LEFT);
}

static double y_of(double gain)
{
    const double shown = fmin(1, fmax(LOWEST, gain));

    return TOP + (1 - shown) / (1 - LOWEST) * (HEIGHT - TOP - BOTTOM);
}

static void add_axes(struct shmt_text *svg, const char *title)
{
    shmt_text_addf(svg, "<text x=\"%d\" y=\"20\" font-weight=\"bold\">", LEFT);
    add_escaped(svg, title);
    shmt_text_add(svg, "</text>\n");
    for (int k = -1; k <= 2; k++) {
        const double gain = k / 2.0;

        shmt_text_addf(svg, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                            "y2=\"%.1f\" stroke=\"%s\"/>\n"
                            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">"
                            "%g</text>\n",
                       LEFT, WIDTH, y_of(gain), y_of(gain),
                       k == 0 ? "#666" : "#ddd", LEFT - 6, y_of(gain) + 4,
                       gain);
    }
    for (int k = 0; k <= 4; k++)
        shmt_text_addf(svg, "<text x=\"%.1f\" y=\"%d\" "
                            "text-anchor=\"middle\">%d %%</text>\n",
                       x_of(k / 4.0), HEIGHT - BOTTOM + 18, 25 * k);
}

static double gain_at(const struct shmt_scoreboard *scoreboard, size_t column,
                      size_t row, size_t point)
{
    double sum = 0;

    if (column < scoreboard->column_count)
        return shmt_scoreboard_score(scoreboard, column, row)->curve[point];
    for (size_t c = 0; c < scoreboard->column_count; c++)
        sum += shmt_scoreboard_score(scoreboard, c, row)->curve[point];
    return sum / (double)scoreboard->column_count;
}

/* `column` of column_count: all of them. */
static void add_panel(const struct shmt_scoreboard *scoreboard, size_t column,
                      struct shmt_text *svg)
{
    const bool all = column == scoreboard->column_count;

    add_axes(svg, all ? "mean of all recordings"
                      : scoreboard->columns[column].name);
    for (size_t r = 0; r < scoreboard->row_count; r++) {
        const double score =
            all ? shmt_scoreboard_mean(scoreboard, r)
                : shmt_scoreboard_score(scoreboard, column, r)->score;

        shmt_text_addf(svg, "<polyline fill=\"none\" stroke-width=\"1.6\" "
                            "stroke=\"%s\"%s points=\"", colours[r % COLOURS],
                       r >= COLOURS ? " stroke-dasharray=\"4 2\"" : "");
        for (size_t k = 0; k < SHMT_SCORE_POINTS; k += STRIDE)
            shmt_text_addf(svg, "%.1f,%.1f ",
                           x_of((double)k / (SHMT_SCORE_POINTS - 1)),
                           y_of(gain_at(scoreboard, column, r, k)));
        shmt_text_addf(svg, "\"/>\n<text x=\"%d\" y=\"%zu\" fill=\"%s\">"
                            "%.3f ", WIDTH + 10, TOP + 12 + 15 * r,
                       colours[r % COLOURS], score);
        add_escaped(svg, scoreboard->rows[r]);
        shmt_text_add(svg, "</text>\n");
    }
}

enum shmtune_status
shmt_scoreboard_plot(const struct shmt_scoreboard *scoreboard,
                     const char *path, struct shmt_error *err)
{
    const size_t first = scoreboard->column_count == 1 ? 0 :
        scoreboard->column_count;
    const size_t panels =
        scoreboard->column_count == 1 ? 1 : scoreboard->column_count + 1;
    const size_t least = TOP + 15 * scoreboard->row_count + 20;
    const size_t pitch = least > HEIGHT ? least : HEIGHT;
    struct shmt_text svg = {0};
    enum shmtune_status status;

    shmt_text_addf(&svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                         "width=\"%d\" height=\"%zu\" font-family=\""
                         "sans-serif\" font-size=\"11\">\n"
                         "<rect width=\"100%%\" height=\"100%%\" "
                         "fill=\"white\"/>\n",
                   WIDTH + RIGHT, panels * pitch + 20);
    for (size_t k = 0; k < panels; k++) {
        shmt_text_addf(&svg, "<g transform=\"translate(0 %zu)\">\n",
                       k * pitch);
        add_panel(scoreboard, k == 0 ? first : k - 1, &svg);
        shmt_text_add(&svg, "</g>\n");
    }
    shmt_text_addf(&svg, "<text x=\"%d\" y=\"%zu\">improvement over random "
                         "search (1: the optimum) against the budget spent"
                         "</text>\n</svg>\n", LEFT, panels * pitch + 8);
    status = svg.failed ? shmt_error_memory(err)
                        : shmt_path_write(path, svg.data, svg.length, err);
    shmt_text_free(&svg);
    return status;
}
