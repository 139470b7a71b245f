/* SPDX-License-Identifier: MIT */
/*
 * figures: see figures.h.  Called by tune, show and report.
 */
#include "config.h"

#include "command/figures.h"

#include <math.h>

#include "command/json.h"
#include "yaml/yaml.h"

struct shmt_figure_ask
shmt_command_figures_ask(const struct shmt_command_figures *options)
{
    return (struct shmt_figure_ask){
        .metric_count = options->metrics.count,
        .metrics = options->metrics.items,
        .require_count = options->requires.count,
        .requires = options->requires.items,
        .pareto = options->pareto,
    };
}

enum shmtune_status
shmt_command_figures_new(const struct shmt_command_figures *options,
                         const struct shmt_kernel *kernel, const char *file,
                         struct shmt_figures **out, struct shmt_error *err)
{
    const struct shmt_figure_ask ask = shmt_command_figures_ask(options);

    *out = NULL;
    if (ask.metric_count == 0 && ask.require_count == 0 && ask.pareto == NULL)
        return SHMTUNE_OK;
    if (kernel == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s: --metric and --pareto need its kernel, "
                              "which is not built in; --spec SPEC.yaml names "
                              "it", file);
    return shmt_figures_new(kernel, &ask, out, err);
}

/* -- a table --------------------------------------------------------------- */

enum { MOST_ROWS = 20 };

void shmt_command_add_settings(const struct shmt_setting *settings,
                               size_t count, struct shmt_text *text)
{
    for (size_t k = 0; k < count; k++) {
        shmt_text_addf(text, "%s%s=", k == 0 ? "" : " ", settings[k].name);
        shmt_yaml_add_value(text, settings[k].value);
    }
}

static void add_point(struct shmt_table *table,
                      const struct shmt_tuned_front *front,
                      const struct shmt_tuned_point *point,
                      size_t setting_count)
{
    struct shmt_text config = {0};

    for (size_t k = 0; k < front->axis_count; k++) {
        struct shmt_text number = {0};

        shmt_figure_add(&number, point->at[k]);
        shmt_table_add_text(table, &number);
    }
    shmt_command_add_settings(point->settings, setting_count, &config);
    shmt_table_add_text(table, &config);
}

void shmt_command_add_front(const struct shmt_tuned_front *front,
                            size_t setting_count,
                            const struct shmt_command_call *call,
                            struct shmt_text *text)
{
    const size_t rows = call->wide || front->count <= MOST_ROWS ? front->count
                                                               : MOST_ROWS;
    struct shmt_text titles = {0};
    struct shmt_table table = {0};

    if (front->axis_count == 0)
        return;
    shmt_text_add(text, "Pareto set of ");
    for (size_t k = 0; k < front->axis_count; k++) {
        shmt_text_addf(text, "%s%s%s", k == 0 ? "" : ", ", front->axes[k].name,
                       front->axes[k].most ? " (more is better)" : "");
        shmt_text_addf(&titles, ">=%s|", front->axes[k].name);
    }
    shmt_text_addf(text, ": %llu configuration%s\n",
                   (unsigned long long)front->all,
                   shmt_text_plural((size_t)front->all));
    shmt_text_add(&titles, "_configuration");
    table.titles = shmt_text_string(&titles);
    table.failed = titles.failed;
    for (size_t k = 0; k < rows; k++)
        add_point(&table, front, &front->points[k], setting_count);
    if (table.cell_count > 0 || table.failed)
        shmt_table_end(&table, call, text);
    if (rows < front->all)
        shmt_text_addf(text, "(%llu more%s)\n",
                       (unsigned long long)(front->all - rows),
                       rows < front->count ? "; --wide shows them" : "");
    shmt_text_free(&titles);
}

/* -- JSON ------------------------------------------------------------------ */

/* null for what is not known. */
static json_t *number_json(double number)
{
    return fabs(number) < 1e15 && number == floor(number)
               ? json_integer((json_int_t)number) : shmt_json_real(number);
}

static json_t *point_json(const struct shmt_tuned_front *front,
                          const struct shmt_tuned_point *point,
                          size_t setting_count)
{
    json_t *const at = json_object(), *const config = json_object();

    for (size_t k = 0; k < front->axis_count; k++)
        json_object_set_new(at, front->axes[k].name,
                            number_json(point->at[k]));
    for (size_t k = 0; k < setting_count; k++)
        json_object_set_new(config, point->settings[k].name,
                            shmt_json_value(point->settings[k].value));
    return shmt_json_object("at", at, "config", config, NULL);
}

json_t *shmt_json_front(const struct shmt_tuned_front *front,
                        size_t setting_count)
{
    json_t *of, *set;

    if (front->axis_count == 0)
        return NULL;
    of = json_object();
    set = json_array();
    for (size_t k = 0; k < front->axis_count; k++)
        json_object_set_new(of, front->axes[k].name,
                            shmt_json_text(front->axes[k].most ? "max"
                                                               : "min"));
    for (size_t k = 0; k < front->count; k++)
        json_array_append_new(set, point_json(front, &front->points[k],
                                              setting_count));
    return shmt_json_object("of", of, "all", shmt_json_count(front->all),
                            "set", set, NULL);
}

json_t *shmt_json_metrics(const struct shmt_figures *figures,
                          const struct shmt_figure_candidate *candidate)
{
    const char *const *names;
    const size_t count = shmt_figures_metrics(figures, &names);
    json_t *metrics;

    if (count == 0)
        return NULL;
    metrics = json_object();
    for (size_t k = 0; k < count; k++)
        json_object_set_new(
            metrics, names[k],
            number_json(shmt_figures_metric(figures, k, candidate)));
    return metrics;
}
