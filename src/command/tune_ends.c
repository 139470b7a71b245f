/* SPDX-License-Identifier: MIT */
/*
 * tune_ends: see tune_ends.h.  Called by tune.c.
 */
#include "config.h"

#include "command/tune_ends.h"

#include <string.h>

static void tell_end(struct shmt_display *display,
                     const struct shmt_kernel *kernel, size_t p, bool largest)
{
    const struct shmt_parameter *const parameter = &kernel->parameters[p];
    const size_t at = largest ? parameter->count - 1 : 0;
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s: %s=%lld is the %s of its values, and %lld may "
                   "be faster still: add it to the spec, and run this again",
                   kernel->name, parameter->name,
                   (long long)parameter->values[at].i,
                   largest ? "largest" : "least",
                   (long long)shmt_tune_ends_next(parameter, largest));
    shmt_display_notice(display, shmt_text_string(&text));
    shmt_text_free(&text);
}

/* Of all results of the k-th one's kernel. */
static struct shmt_tune_ends common_ends(const struct shmt_sheet *sheet,
                                         size_t k)
{
    struct shmt_tune_ends ends = sheet->ends[k];

    for (size_t i = 0; i < sheet->count; i++) {
        if (strcmp(sheet->kernels[i]->name, sheet->kernels[k]->name) != 0)
            continue;
        ends.least &= sheet->ends[i].least;
        ends.largest &= sheet->ends[i].largest;
    }
    return ends;
}

void shmt_command_tell_ends(struct shmt_display *display,
                            const struct shmt_sheet *sheet)
{
    for (size_t k = 0; k < sheet->count; k++) {
        const struct shmt_kernel *const kernel = sheet->kernels[k];
        struct shmt_tune_ends ends;

        if (!shmt_sheet_is_first(sheet, k) ||
            strcmp(shmt_command_kernel_word(sheet->call, kernel),
                   kernel->name) == 0)
            continue;
        ends = common_ends(sheet, k);
        for (size_t p = 0; p < kernel->parameter_count; p++) {
            if ((ends.least >> p & 1) != 0)
                tell_end(display, kernel, p, false);
            if ((ends.largest >> p & 1) != 0)
                tell_end(display, kernel, p, true);
        }
    }
}
