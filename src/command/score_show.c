/* SPDX-License-Identifier: MIT */
/*
 * score_show: prints a scoreboard as tables and as JSON.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "command/command.h"
#include "command/json.h"
#include "command/score.h"

static void add_number(struct shmt_command_table *table, const char *format,
                       double number)
{
    char text[32];

    snprintf(text, sizeof text, format, number);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s",
                          isfinite(number) ? text : "-");
}

static void add_row(const struct shmt_scoreboard *scoreboard, size_t column,
                    size_t row,
                    struct shmt_command_table *table)
{
    const struct shmt_score *const score =
        shmt_scoreboard_score(scoreboard, column, row);

    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s", scoreboard->rows[row]);
    add_number(table, "%.3f", score->score);
    add_number(table, "%.3f", score->spread);
    for (size_t k = 0; k < SHMT_SCORE_TARGETS; k++) {
        add_number(table, "%.0f", score->efforts[k].evaluations);
        add_number(table, "%.1f", score->efforts[k].seconds);
    }
    add_number(table, "%.0f", score->evaluations);
    add_number(table, "%.0f", score->thinking_s * 1e6);
}

static void add_recording(const struct shmt_scoreboard *scoreboard,
                          size_t column,
                          bool colour, struct shmt_text *text)
{
    static const struct shmt_command_column columns[] = {
        {"strategy", false}, {"score", true}, {"spread", true},
        {"to 10 %", true}, {"s", true}, {"to 5 %", true}, {"s", true},
        {"to 1 %", true}, {"s", true}, {"tried", true}, {"us/ask", true}
    };
    struct shmt_command_table table = {.columns = columns,
                                       .column_count = 11};
    const struct shmt_score_scale *const scale =
        scoreboard->columns[column].scale;

    shmt_text_addf(text, "%s\n", scoreboard->columns[column].name);
    shmt_command_add_count(text, shmt_space_count(scale->table->space));
    shmt_text_add(text, " configurations, ");
    shmt_command_add_count(text, scale->valid);
    shmt_text_addf(text, " valid; optimum %.2f us, median %.2f us; budget "
                         "%.1f s, about %llu evaluations\n\n",
                   scale->optimum, scale->median, scale->budget_s,
                   (unsigned long long)scale->budget_evaluations);
    for (size_t r = 0; r < scoreboard->row_count; r++)
        add_row(scoreboard, column, r, &table);
    shmt_command_table_add(&table, colour, text);
    shmt_command_table_free(&table);
    shmt_text_add(text, "\n");
}

static void add_means(const struct shmt_scoreboard *scoreboard, bool colour,
                      struct shmt_text *text)
{
    static const struct shmt_command_column columns[] = {
        {"strategy", false}, {"score", true}, {"", false}
    };
    struct shmt_command_table table = {.columns = columns,
                                       .column_count = 3};

    shmt_text_addf(text, "mean of %zu recordings, %zu repeats\n\n",
                   scoreboard->column_count, scoreboard->repeats);
    for (size_t r = 0; r < scoreboard->row_count; r++) {
        struct shmt_text bar = {0};

        shmt_command_add_bar(&bar, fmax(0, shmt_scoreboard_mean(scoreboard, r)),
                             40);
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s",
                              scoreboard->rows[r]);
        add_number(&table, "%.3f", shmt_scoreboard_mean(scoreboard, r));
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s",
                              shmt_text_string(&bar));
        shmt_text_free(&bar);
    }
    shmt_command_table_add(&table, colour, text);
    shmt_command_table_free(&table);
}

enum shmtune_status
shmt_scoreboard_print(const struct shmt_scoreboard *scoreboard,
                      bool colour, struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t c = 0; c < scoreboard->column_count; c++)
        add_recording(scoreboard, c, colour, &text);
    if (scoreboard->column_count > 1)
        add_means(scoreboard, colour, &text);
    if (text.failed)
        status = shmt_error_memory(err);
    else
        fputs(shmt_text_string(&text), stdout);
    shmt_text_free(&text);
    return status;
}

/* -- JSON ---------------------------------------------------------------- */

static json_t *score_json(const struct shmt_scoreboard *scoreboard,
                          size_t column,
                          size_t row)
{
    static const char *const keys[SHMT_SCORE_TARGETS] = {
        "within_10_percent", "within_5_percent", "within_1_percent"
    };
    const struct shmt_score *const score =
        shmt_scoreboard_score(scoreboard, column, row);
    json_t *const root = json_object(), *const curve = json_array();

    json_object_set_new(root, "strategy",
                        shmt_json_text(scoreboard->rows[row]));
    json_object_set_new(root, "score", shmt_json_real(score->score));
    json_object_set_new(root, "spread", shmt_json_real(score->spread));
    json_object_set_new(root, "evaluations",
                        shmt_json_real(score->evaluations));
    for (size_t k = 0; k < SHMT_SCORE_TARGETS; k++) {
        const struct shmt_score_effort *const e = &score->efforts[k];
        json_t *const effort = json_object();

        json_object_set_new(effort, "evaluations",
                            shmt_json_real(e->evaluations));
        json_object_set_new(effort, "seconds", shmt_json_real(e->seconds));
        json_object_set_new(effort, "repeats", shmt_json_count(e->reached));
        json_object_set_new(root, keys[k], effort);
    }
    /* One point in ten is plenty. */
    for (size_t k = 0; k < SHMT_SCORE_POINTS; k += 10)
        json_array_append_new(curve, shmt_json_real(score->curve[k]));
    json_object_set_new(root, "curve", curve);
    return root;
}

static json_t *recording_json(const struct shmt_scoreboard *scoreboard,
                              size_t column)
{
    const struct shmt_scoreboard_column *const c = &scoreboard->columns[column];
    json_t *const root = json_object(), *const strategies = json_array();

    json_object_set_new(root, "recording", shmt_json_text(c->path));
    json_object_set_new(root, "name", shmt_json_text(c->name));
    json_object_set_new(
        root, "configurations",
        shmt_json_count(shmt_space_count(c->scale->table->space)));
    json_object_set_new(root, "valid", shmt_json_count(c->scale->valid));
    json_object_set_new(root, "optimum_us",
                        shmt_json_real(c->scale->optimum));
    json_object_set_new(root, "median_us", shmt_json_real(c->scale->median));
    json_object_set_new(root, "budget_s", shmt_json_real(c->scale->budget_s));
    json_object_set_new(root, "budget_evaluations",
                        shmt_json_count(c->scale->budget_evaluations));
    for (size_t r = 0; r < scoreboard->row_count; r++)
        json_array_append_new(strategies, score_json(scoreboard, column, r));
    json_object_set_new(root, "strategies", strategies);
    return root;
}

enum shmtune_status
shmt_scoreboard_print_json(const struct shmt_scoreboard *scoreboard,
                           struct shmt_error *err)
{
    json_t *const root = json_object(), *const recordings = json_array();
    json_t *const means = json_object();

    for (size_t c = 0; c < scoreboard->column_count; c++)
        json_array_append_new(recordings, recording_json(scoreboard, c));
    for (size_t r = 0; r < scoreboard->row_count; r++)
        json_object_set_new(means, scoreboard->rows[r],
                            shmt_json_real(shmt_scoreboard_mean(scoreboard,
                                                                r)));
    json_object_set_new(root, "repeats", shmt_json_count(scoreboard->repeats));
    json_object_set_new(root, "seed", shmt_json_count(scoreboard->seed));
    json_object_set_new(root, "mean", means);
    json_object_set_new(root, "recordings", recordings);
    return shmt_json_print(root, err);
}
