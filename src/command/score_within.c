/* SPDX-License-Identifier: MIT */
/*
 * score_within: see score_within.h.
 */
#include "config.h"

#include "command/score_within.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/json.h"
#include "command/tune_from.h"
#include "tune/tune.h"

struct board {
    const struct shmt_command_within *within;
    struct shmt_tune_prior *prior;           /* NULL: nothing is learned */
    const struct shmt_search_prior *view;
    struct shmt_table *table;                /* or */
    json_t *json;
};

static void add_real(struct shmt_table *table, const char *format,
                     double number)
{
    char text[32];

    snprintf(text, sizeof text, format, number);
    shmt_table_add(table, "%s", isfinite(number) ? text : "-");
}

static enum shmtune_status add_row(const struct board *board, size_t row,
                                   const struct shmt_search_prior *prior,
                                   struct shmt_error *err)
{
    const struct shmt_command_within *const within = board->within;
    const struct shmt_score_within_plan plan = {
        .strategy = within->rows[row],
        .repeats = within->repeats,
        .jobs = within->jobs,
        .seed = within->seed,
        .start = within->start,
        .part = within->percent / 100,
        .prior = prior,
    };
    struct shmt_score_within got;
    const enum shmtune_status status = shmt_score_within(
        &within->recording->table, &plan, &got, err);

    if (status != SHMTUNE_OK)
        return status == SHMTUNE_NO_CONFIGURATION
                   ? shmt_error_prefix(err, "%s", within->path) : status;
    if (board->table == NULL) {
        json_array_append_new(board->json, shmt_json_object(
            "strategy", shmt_json_text(within->rows[row]),
            "from", prior != NULL ? json_true() : json_false(),
            "median", shmt_json_real(got.median),
            "error", shmt_json_real(got.error),
            "low", shmt_json_real(got.low),
            "high", shmt_json_real(got.high),
            "worst", shmt_json_real(got.worst), NULL));
        return SHMTUNE_OK;
    }
    shmt_table_add(board->table, "%s%s", within->rows[row],
                   prior != NULL ? " --from" : "");
    add_real(board->table, "%.1f", got.median);
    add_real(board->table, "%.1f", got.error);
    add_real(board->table, "%.1f", got.low);
    add_real(board->table, "%.1f", got.high);
    add_real(board->table, "%.0f", got.worst);
    return SHMTUNE_OK;
}

static enum shmtune_status add_copied(const struct board *board,
                                      struct shmt_error *err)
{
    double evaluations, best;
    const enum shmtune_status status = shmt_score_copy(
        &board->within->recording->table, board->view,
        board->within->percent / 100, &evaluations, &best, err);

    if (status != SHMTUNE_OK)
        return status;
    if (board->table == NULL) {
        json_array_append_new(board->json, shmt_json_object(
            "strategy", shmt_json_text("copied"),
            "from", json_true(),
            "median", shmt_json_real(evaluations),
            "best_of_20", shmt_json_real(best), NULL));
        return SHMTUNE_OK;
    }
    shmt_table_add(board->table, "copied in order");
    add_real(board->table, "%.0f", evaluations);
    for (int k = 0; k < 4; k++)
        shmt_table_add(board->table, "%s", "");
    return SHMTUNE_OK;
}

static enum shmtune_status add_rows(const struct board *board,
                                    struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t r = 0; r < board->within->row_count && status == SHMTUNE_OK;
         r++) {
        status = add_row(board, r, NULL, err);
        if (status == SHMTUNE_OK && board->view != NULL &&
            shmt_command_from_learns(board->within->rows[r]))
            status = add_row(board, r, board->view, err);
    }
    if (status == SHMTUNE_OK && board->view != NULL)
        status = add_copied(board, err);
    return status;
}

static enum shmtune_status read_prior(struct board *board,
                                      struct shmt_error *err)
{
    const struct shmt_command_within *const within = board->within;
    enum shmtune_status status = SHMTUNE_OK;

    if (within->from->count == 0)
        return SHMTUNE_OK;
    status = shmt_tune_prior_new(within->recording->kernel, &board->prior,
                                 err);
    for (size_t k = 0; status == SHMTUNE_OK && k < within->from->count; k++)
        status = shmt_tune_prior_add(board->prior, within->from->items[k],
                                     false, err);
    if (status != SHMTUNE_OK)
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    board->view = shmt_tune_prior_of(
        board->prior, within->recording->journal->header.problem);
    return SHMTUNE_OK;
}

static void add_sources(const struct board *board, struct shmt_text *text)
{
    for (size_t k = 0; board->view != NULL &&
                       k < shmt_tune_prior_sources(board->prior); k++) {
        const struct shmt_tune_source *const source =
            shmt_tune_prior_source(board->prior, k);

        shmt_text_add(text, "from ");
        shmt_text_add_visible(text, source->path);
        shmt_text_add(text, ": ");
        shmt_text_add_count(text, source->count);
        shmt_text_addf(text, " configuration%s",
                       shmt_text_plural(source->count));
        if (source->left_out > 0)
            shmt_text_addf(text, ", %zu left out that the kernel does not "
                           "have", source->left_out);
        if (shmt_path_is_same(source->path, board->within->path))
            shmt_text_add(text, "; it is the recording itself, which knows "
                                "the optimum");
        shmt_text_add(text, "\n");
    }
}

static json_t *sources_json(const struct board *board)
{
    json_t *const array = json_array();

    for (size_t k = 0; board->view != NULL &&
                       k < shmt_tune_prior_sources(board->prior); k++) {
        const struct shmt_tune_source *const source =
            shmt_tune_prior_source(board->prior, k);

        json_array_append_new(array, shmt_json_object(
            "file", shmt_json_text(source->path),
            "device", shmt_json_text(source->device),
            "other_sources", json_boolean(source->other_sources),
            "configurations", shmt_json_count(source->count),
            "left_out", shmt_json_count(source->left_out), NULL));
    }
    return array;
}

enum shmtune_status
shmt_command_within(const struct shmt_command_within *within,
                    struct shmt_text *text, json_t *array,
                    struct shmt_error *err)
{
    struct shmt_table table = {
        .titles = "strategy|>median|>+-|>quarter|>three quarters|>worst"};
    struct board board = {.within = within,
                          .table = text != NULL ? &table : NULL,
                          .json = array != NULL ? json_array() : NULL};
    enum shmtune_status status = read_prior(&board, err);

    if (status == SHMTUNE_OK && text != NULL) {
        shmt_text_add_visible(text, within->name);
        shmt_text_add(text, "\n");
        add_sources(&board, text);
        shmt_text_addf(text, "evaluations to within %g %%, of %zu repeats\n\n",
                       within->percent, within->repeats);
    }
    if (status == SHMTUNE_OK)
        status = add_rows(&board, err);
    if (text != NULL) {
        shmt_table_end(&table, within->call, text);
        shmt_text_add(text, "\n");
    } else {
        json_array_append_new(array, shmt_json_object(
            "recording", shmt_json_text(within->path),
            "name", shmt_json_text(within->name),
            "from", sources_json(&board),
            "strategies", board.json, NULL));
    }
    shmt_tune_prior_free(board.prior);
    return status;
}
