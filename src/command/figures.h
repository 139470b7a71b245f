/* SPDX-License-Identifier: MIT */
/*
 * figures: --metric, --require and --pareto of commands, and what they show as
 * tables and as JSON.  For the files of command/.
 */
#ifndef SHMT_COMMAND_FIGURES_H
#define SHMT_COMMAND_FIGURES_H

#include "command/command.h"
#include "figure/figure.h"

/* As on the command line; starts as {0}. */
struct shmt_command_figures {
    struct shmt_command_repeats metrics, requires;
    const char *pareto;
};
#define SHMT_COMMAND_FIGURES(figures)                                        \
    {"metric", 0, SHMT_OPTION_REPEATED, &(figures).metrics, 0, 0},           \
    {"pareto", 0, SHMT_OPTION_TEXT, &(figures).pareto, 0, 0}
#define SHMT_COMMAND_FIGURES_HELP                                            \
    "  --metric NAME, --metric 'NAME = EXPRESSION'\n"                        \
    "                    a number as a column, such as shared_bytes, or\n"   \
    "                    made of such (may be repeated)\n"                   \
    "  --pareto NAME,NAME,...\n"                                             \
    "                    the configurations that none beats on all of these\n"

/* The same for those who compile it. */
struct shmt_figure_ask
shmt_command_figures_ask(const struct shmt_command_figures *options);

/* *out is NULL where nothing is asked for, or the kernel is not known and
 * nothing needs it; `file` is what it would be known of. */
enum shmtune_status
shmt_command_figures_new(const struct shmt_command_figures *options,
                         const struct shmt_kernel *kernel, const char *file,
                         struct shmt_figures **out, struct shmt_error *err);

struct shmt_setting;
/* "BLOCK=128 PAD=0" */
void shmt_command_add_settings(const struct shmt_setting *settings,
                               size_t count, struct shmt_text *text);

/* A table of the set, with its heading; nothing where there is none. */
void shmt_command_add_front(const struct shmt_tuned_front *front,
                            size_t setting_count,
                            const struct shmt_command_call *call,
                            struct shmt_text *text);

struct json_t;
/* {"of": {"time_us": "min", ...}, "all": 7, "set": [...]}; NULL: none. */
struct json_t *shmt_json_front(const struct shmt_tuned_front *front,
                               size_t setting_count);
/* The metrics of a candidate by their names; NULL: none were asked for. */
struct json_t *
shmt_json_metrics(const struct shmt_figures *figures,
                  const struct shmt_figure_candidate *candidate);

#endif
