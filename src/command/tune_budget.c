/* SPDX-License-Identifier: MIT */
/*
 * tune_budget: parses --budget and splits the time of a run of all built-in
 * kernels among their problems.  Called by command/tune.c.
 */
#include "config.h"

#include "command/tune_budget.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For all problems of all kernels, and the least for one. */
static const double together_s = 480, least_s = 3;

static enum shmtune_status refuse(const char *text, struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "--budget \"%.40s\": expected seconds like 60s, 2m "
                          "or 1h, candidates like 500, or all", text);
}

enum shmtune_status shmt_budget_parse(const char *text,
                                      const char *strategy,
                                      struct shmt_budget *out,
                                      struct shmt_error *err)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}};
    struct shmt_budget budget = {INFINITY, UINT64_MAX, text == NULL};
    char *end;
    double number;

    if (text == NULL)
        text = strategy != NULL && strncmp(strategy, "exhaustive", 10) == 0
                   ? "all"
                   : "15s";
    errno = 0;
    number = strtod(text, &end);
    if (strcmp(text, "all") == 0) {
        budget.usual = false;
        *out = budget;
        return SHMTUNE_OK;
    }
    if (end == text || errno != 0 || !(number > 0) || !isfinite(number))
        return refuse(text, err);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strcmp(end, units[k].unit) == 0)
            budget.seconds = number * units[k].seconds;
    if (!isfinite(budget.seconds)) {
        if (*end != '\0' || number > 1e15 || floor(number) < number)
            return refuse(text, err);
        budget.count = (uint64_t)number;
    }
    *out = budget;
    return SHMTUNE_OK;
}

void shmt_budget_share(struct shmt_budget *budget, size_t problems)
{
    if (budget->usual && problems > 0)
        budget->seconds = fmin(budget->seconds,
                               fmax(together_s / (double)problems, least_s));
}
