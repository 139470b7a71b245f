/* SPDX-License-Identifier: MIT */
/*
 * tune_budget: reads --budget and --total, and deals the time to problems.
 * What a problem leaves unused is shared by those after it.  Called by
 * command/tune.c.
 */
#include "config.h"

#include "command/tune_budget.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For a problem, and for all problems of all built-in kernels. */
static const char usual_budget[] = "15s";
static const double usual_total_s = 540;

/* Of the usual budget, as much again for what compiles or runs slowly. */
static const double more_share = 3;

/* Less than this is no time for a problem. */
static const double least_s = 0.1;

/* Where there are so many, others find the rest. */
static const double most_of_left = 2.0 / 3;

/* "60s", "2m" or "1h"; false: it is no time.  *end is behind the number. */
static bool parse_time(const char *text, double *number, char **end,
                       double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}};

    errno = 0;
    *number = strtod(text, end);
    if (*end == text || errno != 0 || !(*number > 0) || !isfinite(*number)) {
        *end = NULL;
        return false;
    }
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        *seconds = *number * units[k].seconds;
        if (strcmp(*end, units[k].unit) == 0 && isfinite(*seconds))
            return true;
    }
    return false;
}

static enum shmtune_status parse_budget(const char *text,
                                        struct shmt_command_budget *out,
                                        struct shmt_error *err)
{
    double number, seconds;
    char *end;

    if (strcmp(text, "all") == 0)
        return SHMTUNE_OK;
    if (parse_time(text, &number, &end, &seconds)) {
        out->seconds = seconds;
        return SHMTUNE_OK;
    }
    if (end == NULL || *end != '\0' || number > 1e15 ||
        floor(number) < number)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--budget \"%.40s\": expected seconds like 60s, "
                              "2m or 1h, candidates like 500, or all", text);
    out->count = (uint64_t)number;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_command_budget_parse(const char *budget, const char *total,
                          const char *strategy,
                          struct shmt_command_budget *out,
                          struct shmt_error *err)
{
    const bool exhaustive =
        strategy != NULL && strncmp(strategy, "exhaustive", 10) == 0;
    enum shmtune_status status;
    double number;
    char *end;

    *out = (struct shmt_command_budget){
        .seconds = INFINITY, .count = UINT64_MAX, .total_s = INFINITY,
        .end_s = INFINITY, .usual = budget == NULL && !exhaustive};
    status = parse_budget(budget != NULL ? budget
                          : exhaustive ? "all" : usual_budget, out, err);
    if (status == SHMTUNE_OK && total != NULL &&
        !parse_time(total, &number, &end, &out->total_s))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--total \"%.40s\": expected seconds like 60s, "
                              "2m or 1h", total);
    return status;
}

/* Behind the last problem workers are ended and what was compiled is removed,
 * thousands of files: 3 s after nine minutes. */
static const double removing_share = 0.01;

static double end_of(const struct shmt_command_budget *budget, double began_s)
{
    return began_s + (1 - removing_share) * budget->total_s;
}

void shmt_command_budget_begin(struct shmt_command_budget *budget,
                               size_t problems, size_t most, bool all,
                               double began_s)
{
    if (all && budget->usual && isinf(budget->total_s))
        budget->total_s = usual_total_s;
    budget->end_s = end_of(budget, began_s);
    budget->problems = problems;
    budget->began_s = began_s;
    budget->dealt_s = budget->seconds * (double)most;
}

void shmt_command_budget_lost(struct shmt_command_budget *budget, size_t most)
{
    budget->dealt_s = fmax(budget->dealt_s, budget->seconds * (double)most);
}

void shmt_command_budget_granted(struct shmt_command_budget *budget)
{
    if (!budget->granted)
        budget->end_s = end_of(budget, shmt_clock_s());
    budget->granted = true;
}

/* Of the time that is left to all, in so many places, less what others have. */
static double share_of(const struct shmt_command_share *share, double left_s)
{
    const double places = (double)share->devices * (double)share->together;
    const double left = (double)share->left;

    if (share->together < 2)
        return left_s / fmax(ceil(left / places), 1);
    return fmin(share->part * (places * left_s - share->busy_s) / left,
                share->full ? most_of_left * left_s : left_s);
}

enum shmtune_status
shmt_command_budget_next(struct shmt_command_budget *budget,
                         const struct shmt_command_share *share,
                         double *seconds, double *most_s,
                         struct shmt_error *err)
{
    const double now_s = shmt_clock_s();
    const double left_s = budget->end_s - now_s;

    if (left_s < least_s)
        return shmt_error_set(err, SHMTUNE_INTERRUPTED,
                              "the %.4g s of --total are spent; the same "
                              "command with more goes on", budget->total_s);
    budget->problems -= budget->problems > 0;
    *most_s = fmin(budget->seconds * (double)share->together, left_s);
    if (share->together > 1)
        *most_s = fmin(*most_s,
                       fmax(budget->began_s + budget->dealt_s +
                                shmt_command_budget_more(budget) - now_s,
                            budget->seconds));
    *seconds = *most_s;
    if (isfinite(left_s))
        *seconds = fmin(*seconds, fmax(share_of(share, left_s), least_s));
    return SHMTUNE_OK;
}

double shmt_command_budget_more(const struct shmt_command_budget *budget)
{
    return budget->usual && isinf(budget->total_s)
               ? more_share * budget->seconds : 0;
}

bool shmt_command_budget_is_short(const struct shmt_command_budget *budget,
                                  const struct shmt_command_share *share)
{
    return isfinite(budget->total_s) && share->full;
}

static void add_time(struct shmt_text *text, double seconds)
{
    if (seconds >= 120)
        shmt_text_addf(text, "%.3g min", seconds / 60);
    else
        shmt_text_addf(text, "%.3g s", seconds);
}

void shmt_command_budget_tell(const struct shmt_command_budget *budget,
                              struct shmt_text *text)
{
    const double more_s = shmt_command_budget_more(budget);
    const double all_s = budget->problems == 0 || more_s > 0
                             ? INFINITY
                             : fmin(budget->total_s, budget->dealt_s);

    if (isfinite(all_s)) {
        shmt_text_add(text, "at most ");
        add_time(text, all_s);
        shmt_text_add(text, budget->problems > 1 ? " in all (--total)"
                            : all_s < budget->dealt_s ? " (--total)"
                                                      : " (--budget)");
    }
    if (isfinite(budget->seconds) &&
        (budget->problems > 1 || isinf(all_s))) {
        shmt_text_add(text, isfinite(all_s) ? " and " : "");
        add_time(text, budget->seconds);
        shmt_text_add(text, " each (--budget)");
    }
    if (more_s > 0) {
        shmt_text_add(text, ", and up to ");
        add_time(text, more_s);
        shmt_text_add(text, " more where few candidates were tried by then");
    }
    if (budget->count != UINT64_MAX)
        shmt_text_addf(text, "%s%llu candidate%s each (--budget)",
                       isfinite(all_s) ? " and " : "",
                       (unsigned long long)budget->count,
                       shmt_text_plural(budget->count));
    else if (isinf(all_s) && isinf(budget->seconds))
        shmt_text_add(text, "as long as all candidates of each take "
                            "(--budget)");
}

void shmt_command_budget_tell_spent(const struct shmt_command_budget *budget,
                                    size_t problems, uint64_t known,
                                    struct shmt_text *text)
{
    const bool of_total = budget->total_s < budget->dealt_s;

    shmt_text_addf(text, "nothing new was tried for %zu problem%s, of which "
                   "%llu candidate%s known: earlier runs have spent the ",
                   problems, shmt_text_plural(problems),
                   (unsigned long long)known, known == 1 ? " is" : "s are");
    add_time(text, of_total ? budget->total_s : budget->seconds);
    shmt_text_addf(text, " of %s; the same command with more goes on",
                   of_total ? "--total" : "--budget");
}
