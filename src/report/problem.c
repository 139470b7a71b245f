/* SPDX-License-Identifier: MIT */
/*
 * problem: one problem on the page: the default against the winner on each
 * device, and of each device what was tried, the ties, and the charts of its
 * journal.  Called by page.c.
 */
#include <stdio.h>
#include <string.h>

#include "plot/plot.h"
#include "report/charts.h"
#include "report/page.h"

enum { TIES = 16 };                /* shown of a tie set */

/* -- the default against the winner ---------------------------------------- */

static const struct shmt_setting *find_setting(const struct shmt_setting *list,
                                               size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(list[k].name, name) == 0)
            return &list[k];
    return NULL;
}

/* The parameter in the spec, NULL where it has none of that name. */
static const struct shmt_parameter *
find_parameter(const struct shmt_kernel *spec, const char *name)
{
    for (size_t p = 0; spec != NULL && p < spec->parameter_count; p++)
        if (strcmp(spec->parameters[p].name, name) == 0)
            return &spec->parameters[p];
    return NULL;
}

/* Of the tuning where there is one, else of the journal. */
bool shmt_report_winner_value(const struct shmt_report_run *run,
                              const char *name, struct shmt_value *out)
{
    const struct shmt_setting *setting;

    if (run->tuned != NULL) {
        setting = find_setting(run->tuned->settings,
                               run->tuned->setting_count, name);
        if (setting != NULL)
            *out = setting->value;
        return setting != NULL;
    }
    if (run->trail == NULL || run->trail->best == NULL)
        return false;
    for (size_t p = 0; p < run->spec->parameter_count; p++)
        if (strcmp(run->spec->parameters[p].name, name) == 0) {
            *out = run->spec->parameters[p].values
                       [run->trail->best->config[p]];
            return true;
        }
    return false;
}

static void add_value(struct shmt_text *out, struct shmt_value value)
{
    struct shmt_text text = {0};

    shmt_kernel_value_add(&text, value);
    out->failed |= text.failed;
    shmt_plot_add_escaped(out, shmt_text_string(&text));
    shmt_text_free(&text);
}

/* The cells of one parameter: per device the default's value and the
 * winner's, which stands out where it is another. */
static void add_parameter(const struct shmt_report_run *runs, size_t count,
                          const char *name, struct shmt_text *out)
{
    shmt_text_add(out, "<tr><th scope=\"row\">");
    shmt_plot_add_escaped(out, name);
    shmt_text_add(out, "</th>");
    for (size_t k = 0; k < count; k++) {
        const struct shmt_parameter *const parameter =
            find_parameter(runs[k].spec, name);
        const struct shmt_value *const usual =
            parameter == NULL ? NULL
                              : &parameter->values[parameter->default_value];
        struct shmt_value value;
        const bool known = shmt_report_winner_value(&runs[k], name,
                                                    &value);

        shmt_text_add(out, "<td class=\"x\">");
        if (usual != NULL)
            add_value(out, *usual);
        else
            shmt_text_add(out, "-");
        shmt_text_addf(out, "</td><td class=\"x%s\">",
                       usual != NULL && known &&
                               !shmt_value_equal_any(usual, &value)
                           ? " v" : "");
        if (known)
            add_value(out, value);
        else
            shmt_text_add(out, "-");
        shmt_text_add(out, "</td>");
    }
    shmt_text_add(out, "</tr>\n");
}

/* The k-th parameter of a run; NULL: it has no more. */
static const char *name_at(const struct shmt_report_run *run, size_t k)
{
    if (run->tuned != NULL)
        return k < run->tuned->setting_count ? run->tuned->settings[k].name
                                             : NULL;
    return k < run->spec->parameter_count ? run->spec->parameters[k].name
                                          : NULL;
}

static bool has_name(const struct shmt_report_run *run, const char *name)
{
    const char *one;

    for (size_t k = 0; (one = name_at(run, k)) != NULL; k++)
        if (strcmp(one, name) == 0)
            return true;
    return false;
}

/* Those of each run: a tuning of other sources may have others. */
static void add_parameters(const struct shmt_report_run *runs, size_t count,
                           struct shmt_text *out)
{
    const char *name;

    for (size_t r = 0; r < count; r++)
        for (size_t k = 0; (name = name_at(&runs[r], k)) != NULL; k++) {
            bool shown = false;

            for (size_t before = 0; before < r && !shown; before++)
                shown = has_name(&runs[before], name);
            if (!shown)
                add_parameter(runs, count, name, out);
        }
}

/* What a table compares: numbers of the default and of the winner. */
enum fact {
    TIME, GAIN, SPREAD, BANDWIDTH, ARITHMETIC, FLOOR, REGISTERS, SPILL, STACK,
    STATIC, DYNAMIC, RESIDENT, OCCUPANCY, FACTS
};
static const struct {
    const char *title, *unit;
    int decimals;
} facts[FACTS] = {
    [TIME] = {"time", "\xc2\xb5s", 2},
    [GAIN] = {"times as fast as the default", "", 2},
    [SPREAD] = {"spread of the samples", "%", 1},
    [BANDWIDTH] = {"bandwidth", "GB/s", 0},
    [ARITHMETIC] = {"arithmetic", "GFLOP/s", 0},
    [FLOOR] = {"of the floor", "%", 0},
    [REGISTERS] = {"registers", "a thread", 0},
    [SPILL] = {"spilled", "B a thread", 0},
    [STACK] = {"stack", "B a thread", 0},
    [STATIC] = {"shared memory, static", "B a block", 0},
    [DYNAMIC] = {"shared memory, dynamic", "B a block", 0},
    [RESIDENT] = {"resident blocks", "", 0},
    [OCCUPANCY] = {"occupancy", "%", 0},
};

static double of_result(const struct shmt_result *result, enum fact fact)
{
    if (result == NULL)
        return -1;
    switch (fact) {
    case REGISTERS: return result->resources.registers;
    case SPILL: return result->resources.spill_store_bytes;
    case STACK: return result->resources.stack_bytes;
    case STATIC: return (double)result->resources.shared_static_bytes;
    case DYNAMIC: return (double)result->shared_dynamic_bytes;
    case RESIDENT: return result->resident_blocks;
    case OCCUPANCY: return result->occupancy_percent;
    default: return -1;
    }
}

static double percent(double share)
{
    return share < 0 ? -1 : 100 * share;
}

static double of_run(const struct shmt_report_run *run, enum fact fact,
                     bool usual)
{
    struct shmt_report_run at = *run;

    if (usual) {
        at.time_us = run->default_us;
        at.best = run->usual;
    }
    switch (fact) {
    case TIME: return at.time_us;
    case GAIN: return usual ? -1 : shmt_report_gain(run);
    case SPREAD: return usual || run->tuned == NULL
                            ? -1 : percent(run->tuned->spread);
    case BANDWIDTH: return shmt_report_bandwidth(&at);
    case ARITHMETIC: return shmt_report_arithmetic(&at);
    case FLOOR: return percent(shmt_report_floor_share(&at));
    default: return of_result(at.best, fact);
    }
}

static void add_facts(const struct shmt_report_run *runs, size_t count,
                      struct shmt_text *out)
{
    for (enum fact fact = TIME; fact < FACTS; fact++) {
        bool any = false;

        for (size_t k = 0; k < count; k++)
            any |= of_run(&runs[k], fact, false) >= 0;
        if (!any)
            continue;
        shmt_text_addf(out, "<tr><th scope=\"row\">%s%s%s</th>",
                       facts[fact].title,
                       facts[fact].unit[0] != '\0' ? ", " : "",
                       facts[fact].unit);
        for (size_t k = 0; k < count; k++)
            for (int winner = 0; winner < 2; winner++)
                shmt_report_add_cell(out, of_run(&runs[k], fact, !winner),
                                     facts[fact].decimals, NULL);
        shmt_text_add(out, "</tr>\n");
    }
    shmt_text_add(out, "<tr><th scope=\"row\">limited by</th>");
    for (size_t k = 0; k < count; k++)
        for (int winner = 0; winner < 2; winner++) {
            const struct shmt_result *const result =
                winner ? runs[k].best : runs[k].usual;

            shmt_text_addf(out, "<td class=\"x\">%s</td>",
                           result != NULL && result->resident_blocks >= 0
                               ? shmt_limiter_word(result->limiter) : "-");
        }
    shmt_text_add(out, "</tr>\n");
}

/* The head of a table with two columns a device. */
static void begin_table(const struct shmt_report_run *runs, size_t count,
                        struct shmt_text *out)
{
    shmt_text_add(out, "<div class=\"w\" tabindex=\"0\"><table><thead><tr>"
                       "<td></td>");
    for (size_t k = 0; k < count; k++) {
        shmt_text_add(out, "<th class=\"x\" scope=\"colgroup\" "
                           "colspan=\"2\">");
        shmt_plot_add_escaped(out, runs[k].device->name);
        shmt_text_add(out, "</th>");
    }
    shmt_text_add(out, "</tr>\n<tr><td></td>");
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(out, "<th class=\"x\" scope=\"col\">default</th>"
                            "<th class=\"x\" scope=\"col\">%s</th>",
                       runs[k].tuned != NULL ? "winner" : "fastest");
    shmt_text_add(out, "</tr></thead>\n<tbody>\n");
}

static void end_table(struct shmt_text *out)
{
    shmt_text_add(out, "</tbody></table></div>\n");
}

static void add_comparison(const struct shmt_report_run *runs, size_t count,
                           struct shmt_text *out)
{
    shmt_text_add(out, "<div class=\"f\">\n");
    begin_table(runs, count, out);
    add_facts(runs, count, out);
    shmt_report_add_metrics(runs, count, out);
    end_table(out);
    begin_table(runs, count, out);
    add_parameters(runs, count, out);
    end_table(out);
    shmt_text_add(out, "</div>\n");
}

/* -- what was tried -------------------------------------------------------- */

static uint64_t total(const struct shmt_report_run *run)
{
    uint64_t sum = 0;

    for (size_t v = 0; v < SHMT_VERDICT_COUNT; v++)
        sum += run->verdicts[v];
    return sum;
}

static void add_example(const struct shmt_report_run *run, size_t v,
                        struct shmt_text *out)
{
    const struct shmt_journal_record *const record =
        run->trail != NULL ? run->trail->examples[v] : NULL;
    struct shmt_text text = {0};

    shmt_text_add(out, "<td class=\"o\">");
    if (record != NULL && v != SHMT_VERDICT_OK) {
        shmt_kernel_describe_config(run->spec, record->config, &text);
        if (record->result->reason[0] != '\0')
            shmt_text_addf(&text, ": %s", record->result->reason);
        shmt_plot_add_escaped(out, shmt_text_string(&text));
        out->failed |= text.failed;
        shmt_text_free(&text);
    }
    shmt_text_add(out, "</td>");
}

static void add_verdicts(const struct shmt_report_run *run,
                         struct shmt_text *out)
{
    const uint64_t all = total(run);

    if (all == 0)
        return;
    shmt_text_addf(out, "<div class=\"w\" tabindex=\"0\"><table><thead><tr>"
                        "<th scope=\"col\">verdict</th><th class=\"x\" "
                        "scope=\"col\">candidates</th><th class=\"x\" "
                        "scope=\"col\">share</th><th scope=\"col\">meaning"
                        "</th>%s</tr></thead>\n<tbody>\n",
                   run->trail != NULL ? "<th scope=\"col\">for example</th>"
                                      : "");
    for (size_t v = 0; v < SHMT_VERDICT_COUNT; v++) {
        if (run->verdicts[v] == 0)
            continue;
        shmt_text_addf(out, "<tr><th scope=\"row\">%s</th><td class=\"x\">",
                       shmt_verdict_word((enum shmt_verdict)v));
        shmt_text_add_count(out, run->verdicts[v]);
        shmt_text_addf(out, "</td><td class=\"x\">%.1f %%</td>"
                            "<td class=\"o\">",
                       100 * (double)run->verdicts[v] / (double)all);
        shmt_plot_add_escaped(out, shmt_verdict_text((enum shmt_verdict)v));
        shmt_text_add(out, "</td>");
        if (run->trail != NULL)
            add_example(run, v, out);
        shmt_text_add(out, "</tr>\n");
    }
    shmt_text_add(out, "</tbody></table></div>\n");
}

static void add_file(struct shmt_text *out, const char *path)
{
    shmt_text_add(out, "From ");
    shmt_plot_add_escaped(out, path);
    shmt_text_add(out, ". ");
}

/* "281 of 10,388 configurations were tried in 2.1 s by the strategy model." */
static void add_tried(const struct shmt_report_run *run,
                      struct shmt_text *out)
{
    const struct shmt_tuned *const tuned = run->tuned;

    shmt_text_add(out, "<p class=\"s\">");
    if (tuned != NULL) {
        shmt_text_add_count(out, run->tried);
        shmt_text_add(out, " of ");
        shmt_text_add_count(out, run->space_count);
        shmt_text_add(out, " configurations were tried");
        if (run->not_recorded > 0) {
            shmt_text_add(out, ", ");
            shmt_text_add_count(out, run->not_recorded);
            shmt_text_add(out, " more were not recorded,");
        }
        if (tuned->elapsed_s >= 0)
            shmt_text_addf(out, " in %.1f s", tuned->elapsed_s);
        if (tuned->strategy != NULL && tuned->strategy[0] != '\0') {
            shmt_text_add(out, " by the strategy ");
            shmt_plot_add_escaped(out, tuned->strategy);
        }
        shmt_text_addf(out, ", seed %llu. ", (unsigned long long)tuned->seed);
    }
    if (run->tuned != NULL)
        add_file(out, run->tuning_path);
    if (run->spec != NULL && strcmp(run->spec->digest, run->digest) != 0)
        shmt_text_add(out, "It was made for other sources than today's. ");
    if (run->spec == NULL)
        shmt_text_add(out, "No spec of its sources is known, which rates need "
                      "(--spec). ");
    shmt_text_add(out, "</p>\n");
}

/* -- ties ------------------------------------------------------------------ */

static bool same_value(const struct shmt_setting *list, size_t count,
                       const struct shmt_setting *wanted)
{
    const struct shmt_setting *const one =
        find_setting(list, count, wanted->name);

    return one != NULL && shmt_value_equal_any(&one->value, &wanted->value);
}

/* What of a tie differs from the winner. */
static void add_tie(const struct shmt_tuned *tuned, size_t tie,
                    struct shmt_text *out)
{
    size_t said = 0;

    shmt_text_add(out, "<li>");
    for (size_t k = 0; k < tuned->setting_count; k++) {
        const struct shmt_setting *const one = &tuned->ties[tie][k];

        if (same_value(tuned->settings, tuned->setting_count, one))
            continue;
        shmt_text_add(out, said++ == 0 ? "" : " ");
        shmt_plot_add_escaped(out, one->name);
        shmt_text_add(out, "=");
        add_value(out, one->value);
    }
    shmt_text_add(out, said == 0 ? "the winner</li>\n" : "</li>\n");
}

static void add_ties(const struct shmt_tuned *tuned, struct shmt_text *out)
{
    const size_t shown = tuned->tie_count < TIES ? tuned->tie_count : TIES;

    if (tuned->tie_count < 2) {
        shmt_text_add(out, "<p class=\"s\">No other configuration is as "
                           "good.</p>\n");
        return;
    }
    shmt_text_addf(out, "<details class=\"u\"><summary>%zu configurations "
                        "that the finals cannot tell apart</summary>\n"
                        "<p class=\"s\">By what differs from the winner",
                   tuned->tie_count);
    if (shown < tuned->tie_count)
        shmt_text_addf(out, "; the first %zu of %zu", shown,
                       tuned->tie_count);
    shmt_text_add(out, ".</p>\n<ol>\n");
    for (size_t k = 0; k < shown; k++)
        add_tie(tuned, k, out);
    shmt_text_add(out, "</ol></details>\n");
}

/* -- a device -------------------------------------------------------------- */

static bool is_drawn(const struct shmt_report_run *run)
{
    return run->trail != NULL && run->trail->timed_count > 0;
}

/* "10,388 candidates of 10,388, all there are." */
static void add_journal_line(const struct shmt_report_run *run,
                             struct shmt_text *out)
{
    const struct shmt_journal_header *const header = &run->journal->header;

    shmt_text_add(out, "<p class=\"s\">The journal has ");
    shmt_text_add_count(out, run->trail->count);
    shmt_text_addf(out, " candidate%s of ",
                   shmt_text_plural(run->trail->count));
    shmt_text_add_count(out, header->space_count);
    shmt_text_add(out, run->trail->count == header->space_count
                           ? ", all there are. " : ". ");
    add_file(out, run->journal_path);
    if (header->require[0] != '\0') {
        shmt_text_add(out, "Required: ");
        shmt_plot_add_escaped(out, header->require);
        shmt_text_add(out, ". ");
    }
    if (run->journal->cut)
        shmt_text_add(out, "Its last line is cut. ");
    if (run->trail->timed_count == 0)
        shmt_text_add(out, "None was timed.");
    else
        shmt_report_add_thinned(run, out);
    shmt_text_add(out, "</p>\n");
}

static enum shmtune_status add_charts(const struct shmt_report_run *run,
                                      struct shmt_text *out,
                                      struct shmt_error *err)
{
    shmt_text_add(out, "<div class=\"f\">\n");
    shmt_report_add_resources(run, out);
    shmt_text_add(out, "</div>\n");
    shmt_report_add_spreads(run, out);
    return shmt_report_add_pairs(run, out, err);
}

static enum shmtune_status add_device(const struct shmt_report_run *run,
                                      struct shmt_text *out,
                                      struct shmt_error *err)
{
    const bool drawn = is_drawn(run);
    struct shmt_report_run counted = *run;
    enum shmtune_status status;

    shmt_text_add(out, "<h4>");
    shmt_plot_add_escaped(out, run->device->name);
    shmt_text_add(out, "</h4>\n");
    add_tried(run, out);
    if (run->journal != NULL)
        add_journal_line(run, out);
    /* The journal has the examples, and may have tried more. */
    if (run->trail != NULL && run->trail->count >= total(run))
        counted.verdicts = run->trail->verdicts;
    else
        counted.trail = NULL;
    if (drawn) {
        shmt_text_add(out, "<div class=\"f\">\n");
        shmt_report_add_search(run, out);
        shmt_text_add(out, "<div class=\"j\">\n");
    }
    add_verdicts(&counted, out);
    if (run->tuned != NULL)
        add_ties(run->tuned, out);
    if (drawn)
        shmt_text_add(out, "</div></div>\n");
    shmt_report_add_counted(run, out);
    status = shmt_report_add_front(run, out, err);
    return status == SHMTUNE_OK && drawn ? add_charts(run, out, err)
                                         : status;
}

static void add_summary(const struct shmt_report_run *runs, size_t count,
                        bool charts, struct shmt_text *out)
{
    shmt_text_add(out, "<summary><b>");
    shmt_plot_add_escaped(out, runs[0].problem[0] != '\0' ? runs[0].problem
                                                          : "one problem");
    shmt_text_add(out, "</b>");
    for (size_t k = 0; k < count; k++) {
        const double gain = shmt_report_gain(&runs[k]);

        if (runs[k].time_us < 0)
            continue;
        shmt_text_add(out, "<span class=\"s\">");
        shmt_report_add_number(out, runs[k].time_us, 2);
        shmt_text_add(out, " \xc2\xb5s");
        if (gain > 0)
            shmt_text_addf(out, ", %.2f\xc3\x97", gain);
        shmt_text_add(out, "</span>");
    }
    shmt_text_add(out, charts ? "<em>charts</em></summary>\n"
                              : "</summary>\n");
}

enum shmtune_status shmt_report_add_problem(const struct shmt_report_run *runs,
                                            size_t count, size_t number,
                                            struct shmt_text *out,
                                            struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    bool open = false, charts = false;

    for (size_t k = 0; k < count; k++) {
        open |= runs[k].trail != NULL;
        charts |= is_drawn(&runs[k]);
    }
    shmt_text_addf(out, "<details class=\"q\" id=\"p%zu\"%s>", number,
                   open ? " open" : "");
    add_summary(runs, count, charts, out);
    shmt_text_add(out, "<div>\n");
    add_comparison(runs, count, out);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = add_device(&runs[k], out, err);
    shmt_text_add(out, "</div></details>\n");
    return status;
}
