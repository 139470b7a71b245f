/* SPDX-License-Identifier: MIT */
/*
 * scale: from numbers to places on a chart, and the round numbers that an axis
 * shows.
 */
#include <float.h>
#include <math.h>

#include "plot/plot.h"

/* Numbers that spread by more have a logarithmic axis. */
static const double wide = 8;

struct shmt_plot_scale shmt_plot_scale_exact(double low, double high)
{
    return (struct shmt_plot_scale){
        .low = low, .high = high > low ? fmin(DBL_MAX, high) : low + 1
    };
}

struct shmt_plot_scale shmt_plot_scale_of(double low, double high)
{
    struct shmt_plot_scale scale = {.low = low, .high = high};

    if (low > 0 && high / low > wide) {
        const double margin = exp(0.04 * (log(high) - log(low)));

        scale.logarithmic = true;
        scale.low = fmax(DBL_MIN, low / margin);
        scale.high = fmin(DBL_MAX, high * margin);
    } else {
        /* Ticks of four figures have to differ. */
        double margin =
            high > low ? fmax(0.05 * (high - low),
                              0.005 * fmax(fabs(low), fabs(high))) : 0;

        if (!(margin > 0))
            margin = high != 0 ? 0.05 * fabs(high) : 1;
        scale.low = low > 0 && low < margin ? 0 : low - margin;
        scale.high = fmin(DBL_MAX, high + margin);
    }
    return scale;
}

double shmt_plot_place(const struct shmt_plot_scale *scale, double number)
{
    const double kept = fmin(scale->high, fmax(scale->low, number));
    const double part =
        scale->logarithmic
            ? (log(kept) - log(scale->low)) /
                  (log(scale->high) - log(scale->low))
            : (kept - scale->low) / (scale->high - scale->low);

    return scale->from + part * (scale->to - scale->from);
}

/* 1, 2 and 5 times the powers of ten; the powers alone where those are too
 * many. */
static size_t log_ticks(const struct shmt_plot_scale *scale, double *ticks)
{
    static const double steps[] = {1, 2, 5};
    const double decades = log10(scale->high) - log10(scale->low);
    const int every = decades > 8 ? (int)ceil(decades / 6) : 1;
    size_t count = 0;

    for (int power = (int)floor(log10(scale->low));
         power <= (int)ceil(log10(scale->high)); power++)
        for (int k = 0; k < (decades > 2.6 ? 1 : 3); k++) {
            const double number = steps[k] * pow(10, power);

            if (number >= scale->low && number <= scale->high &&
                power % every == 0 && count < SHMT_PLOT_TICKS)
                ticks[count++] = number;
        }
    return count;
}

static size_t linear_ticks(const struct shmt_plot_scale *scale, double *ticks)
{
    const double rough = (scale->high - scale->low) / 5;
    const double power = pow(10, floor(log10(rough)));
    const double parts = rough / power;
    const double fine =
        power * (parts < 1.5 ? 1 : parts < 3.5 ? 2 : parts < 7.5 ? 5 : 10);
    const double step = scale->whole ? fmax(1, fine) : fine;
    size_t count = 0;

    for (double k = ceil(scale->low / step - 1e-9);
         k * step <= scale->high + step * 1e-9 && count < SHMT_PLOT_TICKS; k++)
        ticks[count++] = k * step + 0.0;    /* and never -0 */
    return count;
}

size_t shmt_plot_ticks(const struct shmt_plot_scale *scale,
                       double ticks[SHMT_PLOT_TICKS])
{
    return scale->logarithmic ? log_ticks(scale, ticks)
                              : linear_ticks(scale, ticks);
}
