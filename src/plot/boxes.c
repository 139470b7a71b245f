/* SPDX-License-Identifier: MIT */
/*
 * boxes: rows that show how numbers are spread: as a box with whiskers, or a
 * dot for each.
 */
#include <math.h>

#include "plot/plot.h"

enum { ABOVE = 12, BELOW = 38, BARE = 24, LETTER = 7 };

int shmt_plot_boxes_height(size_t count, bool labelled)
{
    return ABOVE + (labelled ? BELOW : BARE) + SHMT_PLOT_ROW * (int)count;
}

/* What of a label fits, and the whole of it for who points there. */
static void add_label(struct shmt_text *out,
                      const struct shmt_plot_frame *frame, double y,
                      const char *label)
{
    shmt_text_addf(out, "<text class=\"n\" x=\"%d\" y=\"%.1f\" "
                        "text-anchor=\"end\"><title>", frame->left - 8,
                   y + 4);
    shmt_plot_add_escaped(out, label);
    shmt_text_add(out, "</title>");
    shmt_plot_add_cut(out, label, (size_t)(frame->left - 10) / LETTER);
    shmt_text_add(out, "</text>\n");
}

static void add_box(struct shmt_text *out,
                    const struct shmt_plot_frame *frame, double y,
                    const struct shmt_plot_box *box)
{
    const double low = shmt_plot_place(&frame->x, box->low);
    const double first = shmt_plot_place(&frame->x, box->first);
    const double third = shmt_plot_place(&frame->x, box->third);
    const double middle = shmt_plot_place(&frame->x, box->middle);

    shmt_text_add(out, "<g><title>");
    shmt_plot_add_escaped(out, box->label);
    shmt_text_add(out, ": best ");
    shmt_plot_add_number(out, box->low);
    shmt_text_add(out, ", median ");
    shmt_plot_add_number(out, box->middle);
    shmt_text_add(out, ", worst ");
    shmt_plot_add_number(out, box->high);
    shmt_text_add(out, ", of ");
    shmt_text_add_count(out, box->count);
    shmt_text_addf(out, "</title>"
                   "<path class=\"w\" d=\"M%.1f,%.1fH%.1f\"/>"
                   "<rect class=\"b\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                   "height=\"10\" rx=\"1\"/>"
                   "<path class=\"m\" d=\"M%.1f,%.1fv10\"/>"
                   "<circle class=\"a\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>"
                   "</g>\n",
                   low, y, shmt_plot_place(&frame->x, box->high), first,
                   y - 5, fmax(1, third - first), middle, y - 5, low, y,
                   box->marked ? "5" : "3.5");
}

void shmt_plot_add_boxes(struct shmt_text *out,
                         const struct shmt_plot_frame *frame,
                         const struct shmt_plot_box *boxes, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double y = frame->y.to + SHMT_PLOT_ROW * ((double)k + 0.5);

        add_label(out, frame, y, boxes[k].label);
        if (boxes[k].count > 0)
            add_box(out, frame, y, &boxes[k]);
        else
            shmt_text_addf(out, "<text class=\"t\" x=\"%.1f\" y=\"%.1f\">"
                                "none ran</text>\n", frame->x.from + 4,
                           y + 4);
    }
}

void shmt_plot_add_dots(struct shmt_text *out,
                        const struct shmt_plot_frame *frame,
                        const struct shmt_plot_dots *rows, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double y = frame->y.to + SHMT_PLOT_ROW * ((double)k + 0.5);

        add_label(out, frame, y, rows[k].label);
        shmt_text_add(out, "<path class=\"d\" d=\"");
        for (size_t i = 0; i < rows[k].count; i++)
            shmt_text_addf(out, "M%.1f,%.1fh0",
                           shmt_plot_place(&frame->x, rows[k].numbers[i]), y);
        shmt_text_addf(out, "\"/>\n<circle class=\"a\" cx=\"%.1f\" cy=\"%.1f\""
                            " r=\"5\"><title>",
                       shmt_plot_place(&frame->x, rows[k].mean), y);
        shmt_plot_add_escaped(out, rows[k].label);
        shmt_text_addf(out, ": %.2f in the mean of %zu</title></circle>\n",
                       rows[k].mean, rows[k].count);
    }
}
