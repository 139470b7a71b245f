/* SPDX-License-Identifier: MIT */
/*
 * dispatch_show: the output of `shmtune dispatch --trial`: how much of the best
 * time what the library chooses reaches, over many sizes; and what was learnt,
 * for `shmtune show`.
 */
#include "config.h"

#include "command/dispatch.h"

#include <math.h>
#include <stdlib.h>

#include "command/figures.h"
#include "command/json.h"

enum { WORST = 10 };

static bool is_written(const struct shmt_command_learnt *learnt)
{
    return learnt->outcome.better && learnt->kept.count == 0;
}

static void show_unwritten(const struct shmt_command_learnt *learnt,
                           struct shmt_text *text)
{
    const char *const gone =
        learnt->before == NULL ? "" : ", and what was learnt before is removed";

    if (learnt->outcome.held_out.mean > learnt->outcome.nearest.mean &&
        learnt->outcome.lead < SHMT_LEARN_LEAD)
        shmt_text_addf(text, "too few sizes to tell (%.1f standard errors, "
                       "expected %d), so not written%s; a larger --budget "
                       "tells\n", learnt->outcome.lead, SHMT_LEARN_LEAD, gone);
    else
        shmt_text_addf(text, "not better, so not written%s\n", gone);
}

static void show_learnt(const struct shmt_kernel *kernel,
                        const struct shmt_command_learnt *learnt,
                        struct shmt_text *text)
{
    const struct shmt_learn_figures *const held = &learnt->outcome.held_out;
    const struct shmt_learn_figures *const nearest = &learnt->outcome.nearest;
    const struct shmt_learn_figures *const kept = &learnt->kept;

    shmt_text_addf(text, "%s: %zu sizes in %.1f s; held out, the tree of %zu "
                   "nodes and %zu configurations reaches %.2f %% of the best "
                   "time in the mean and %.2f %% at the first percentile, the "
                   "nearest size %.2f %% and %.2f %%: ", kernel->name,
                   held->count, learnt->spent_s, learnt->made->node_count,
                   learnt->made->config_count, 100 * held->mean,
                   100 * held->low, 100 * nearest->mean, 100 * nearest->low);
    if (kept->count > 0)
        shmt_text_addf(text, "not written, since what was learnt before, from "
                       "%zu sizes, reaches %.2f %% and %.2f %% and stays\n",
                       learnt->before->sizes, 100 * kept->mean,
                       100 * kept->low);
    else if (is_written(learnt))
        shmt_text_add(text, "written\n");
    else
        show_unwritten(learnt, text);
}

static json_t *learnt_json(const struct shmt_kernel *kernel,
                           const struct shmt_command_learnt *learnt)
{
    const struct shmt_learn_figures *const held = &learnt->outcome.held_out;
    const struct shmt_learn_figures *const nearest = &learnt->outcome.nearest;

    return shmt_json_object(
        "kernel", shmt_json_text(kernel->name),
        "sizes", shmt_json_count(held->count),
        "seconds", shmt_json_real(learnt->spent_s),
        "mean", shmt_json_real(held->mean),
        "first_percentile", shmt_json_real(held->low),
        "nearest_mean", shmt_json_real(nearest->mean),
        "nearest_first_percentile", shmt_json_real(nearest->low),
        "nodes", shmt_json_count(learnt->made->node_count),
        "configurations", shmt_json_count(learnt->made->config_count),
        "written", json_boolean(is_written(learnt)),
        "kept", json_boolean(learnt->kept.count > 0), NULL);
}

enum shmtune_status
shmt_command_tell_learnt(const struct shmt_kernel *kernel,
                         const struct shmt_command_learnt *learnt,
                         json_t *results,
                         const struct shmt_command_call *call,
                         struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status;

    if (results != NULL) {
        json_array_append_new(results, learnt_json(kernel, learnt));
        return SHMTUNE_OK;
    }
    show_learnt(kernel, learnt, &text);
    status = shmt_command_print_lines(&text, call, err);
    fflush(stdout);
    return status;
}

static double share_of(const struct shmt_command_trial *trial)
{
    return fmin(1, trial->best_us / trial->chosen_us);
}

static int compare(const void *a, const void *b)
{
    const double x = share_of(a), y = share_of(b);

    return (x > y) - (x < y);
}

static void add_distribution(const struct shmt_command_trials *trials,
                             struct shmt_text *text)
{
    static const double edges[] = {0.995, 0.99, 0.98, 0.95, 0.92, 0.9, 0.8};
    enum { EDGES = sizeof edges / sizeof edges[0] };
    const char *before = "  of the best time: ";

    for (size_t e = 0; e <= (size_t)EDGES; e++) {
        const double low = e < EDGES ? edges[e] : -1;
        const double high = e > 0 ? edges[e - 1] : 2;
        size_t count = 0;

        for (size_t k = 0; k < trials->count; k++)
            count += share_of(&trials->list[k]) >= low &&
                     share_of(&trials->list[k]) < high;
        shmt_text_addf(text, "%s%s%g %% %zu", before,
                       e < EDGES ? "from " : "below ",
                       100 * edges[e < EDGES ? e : EDGES - 1], count);
        before = ", ";
    }
    shmt_text_add(text, "\n");
}

static void add_own(const struct shmt_command_trials *trials,
                    struct shmt_text *text)
{
    double sum = 0;
    size_t count = 0;

    for (size_t k = 0; k < trials->count; k++) {
        const struct shmt_command_trial *const one = &trials->list[k];

        if (!(one->own_us > 0))
            continue;
        count++;
        sum += fmin(1, one->own_us / one->chosen_us);
    }
    if (count > 0)
        shmt_text_addf(text, "  of what was tuned for the size itself, at "
                       "%zu: %.2f %% in the mean\n", count,
                       100 * sum / (double)count);
}

static void add_worst(const struct shmt_learn_table *table,
                      const struct shmt_command_trial *one,
                      struct shmt_text *text)
{
    shmt_text_addf(text, "  %6.2f %%  ", 100 * share_of(one));
    shmt_kernel_describe_problem(table->kernel, one->size->problem, text);
    shmt_text_addf(text, "  %s %.4g us, best %.4g us\n            chosen ",
                   one->match, one->chosen_us, one->best_us);
    shmt_kernel_describe_config(table->kernel, table->configs[one->chosen],
                                text);
    shmt_text_add(text, "\n            best   ");
    shmt_kernel_describe_config(table->kernel, table->configs[one->best],
                                text);
    shmt_text_add(text, "\n");
}

struct shmt_learn_figures
shmt_command_trial_figures(struct shmt_command_trials *trials)
{
    struct shmt_learn_figures out = {.count = trials->count};

    qsort(trials->list, trials->count, sizeof *trials->list, compare);
    for (size_t k = 0; k < trials->count; k++)
        out.mean += share_of(&trials->list[k]) / (double)trials->count;
    if (trials->count > 0)
        out.low = share_of(&trials->list[(trials->count - 1) / 100]);
    return out;
}

void shmt_command_show_trials(const struct shmt_learn_table *table,
                              struct shmt_command_trials *trials,
                              struct shmt_text *text)
{
    const struct shmt_learn_figures figures =
        shmt_command_trial_figures(trials);

    if (trials->count == 0) {
        shmt_text_addf(text, "%s: no size was measured\n",
                       table->kernel->name);
        return;
    }
    shmt_text_addf(text, "%s: %zu sizes, %zu configurations: mean %.2f %%, "
                   "first percentile %.2f %%; a selection takes %.0f ns\n",
                   table->kernel->name, trials->count, table->config_count,
                   100 * figures.mean, 100 * figures.low, trials->ns);
    add_distribution(trials, text);
    add_own(trials, text);
    for (size_t k = 0; k < trials->count && k < WORST; k++)
        add_worst(table, &trials->list[k], text);
}

json_t *shmt_command_trials_json(const struct shmt_learn_table *table,
                                 const struct shmt_command_trials *trials)
{
    json_t *const sizes = json_array();

    for (size_t k = 0; k < trials->count; k++) {
        const struct shmt_command_trial *const one = &trials->list[k];

        json_array_append_new(sizes, shmt_json_object(
            "size", shmt_json_problem(table->kernel, one->size->problem),
            "match", shmt_json_text(one->match),
            "chosen_us", shmt_json_real(one->chosen_us),
            "best_us", shmt_json_real(one->best_us),
            "own_us", shmt_json_measured(one->own_us),
            "chosen", shmt_json_config(table->kernel,
                                       table->configs[one->chosen]),
            "best", shmt_json_config(table->kernel,
                                     table->configs[one->best]), NULL));
    }
    return shmt_json_object("kernel", shmt_json_text(table->kernel->name),
                            "select_ns", shmt_json_real(trials->ns),
                            "configurations",
                            shmt_json_count(table->config_count), "sizes",
                            sizes, NULL);
}

/* -- what was learnt ------------------------------------------------------ */

/* The ranks of a leaf: in their order, or with their factors. */
static void add_ranks(const struct shmt_dispatch *dispatch,
                      const struct shmt_dispatch_node *leaf,
                      struct shmt_text *text)
{
    const bool estimated = dispatch->estimates != NULL;

    for (size_t r = 0; r < leaf->other; r++) {
        if (r > 0)
            shmt_text_add(text, estimated ? ", or " : ", else ");
        shmt_text_addf(text, "%u", dispatch->ranks[leaf->rank + r]);
        if (estimated && leaf->other > 1)
            shmt_text_addf(text, " * %.3f",
                           dispatch->factors[leaf->rank + r] / 1e3);
    }
}

/* About how long a configuration takes: "1.5 us + 0.2 ns * rows*cols". */
static void add_estimate(const struct shmt_dispatch *dispatch, size_t config,
                         struct shmt_text *text)
{
    const struct shmt_dispatch_estimate *const one =
        &dispatch->estimates[config];

    if (one->start == INT64_MAX) {
        shmt_text_add(text, "   estimated: not known\n");
        return;
    }
    shmt_text_addf(text, "   estimated: %.4g us", (double)one->start / 1e12);
    for (size_t k = 0; k < one->count; k++) {
        shmt_text_addf(text, " + %.4g ns * ", (double)one->each[k] / 1e9);
        shmt_dispatch_describe_term(dispatch, one->terms[k], text);
    }
    shmt_text_add(text, "\n");
}

/* What was learnt: its figures, and the tree, a step further to the right for
 * each comparison above. */
void shmt_command_show_dispatch(const struct shmt_dispatch *dispatch,
                                struct shmt_text *text)
{
    size_t ends[SHMT_DISPATCH_DEPTH + 1], depth = 0;

    shmt_text_addf(text, "\nlearnt from %llu sizes: held out, %.2f %% of the "
                   "best time in the mean and %.2f %% at the first "
                   "percentile; the nearest size %.2f %% and %.2f %%\n",
                   (unsigned long long)dispatch->sizes,
                   (double)dispatch->held_out.mean / 100,
                   (double)dispatch->held_out.low / 100,
                   (double)dispatch->nearest.mean / 100,
                   (double)dispatch->nearest.low / 100);
    for (size_t k = 0; k < dispatch->node_count; k++) {
        const struct shmt_dispatch_node *const node = &dispatch->nodes[k];

        while (depth > 0 && ends[depth - 1] == k)
            depth--;
        shmt_text_addf(text, "%*s", (int)(2 * depth), "");
        if (node->feature == SHMT_DISPATCH_LEAF) {
            add_ranks(dispatch, node, text);
        } else {
            shmt_dispatch_describe(dispatch, node->feature, text);
            shmt_text_addf(text, " < %lld", (long long)node->below);
            ends[depth++] = node->other;
        }
        shmt_text_add(text, "\n");
    }
    for (size_t k = 0; k < dispatch->config_count; k++) {
        shmt_text_addf(text, "%zu  ", k);
        shmt_command_add_settings(dispatch->configs[k],
                                  dispatch->setting_count, text);
        shmt_text_add(text, "\n");
        if (dispatch->estimates != NULL)
            add_estimate(dispatch, k, text);
    }
}
