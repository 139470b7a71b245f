/* SPDX-License-Identifier: MIT */
/*
 * score: the command `shmtune score`: runs strategies on recordings and
 * collects the scores in a table of strategies by recordings.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/score.h"

static const char help[] =
    "usage: shmtune score RECORDING... [OPTION]...\n"
    "\n"
    "Runs search strategies on complete recordings, where every cost is\n"
    "known, and says how they fare. The budget is the time in which random\n"
    "search is expected to close 95 % of the way from the median to the\n"
    "optimum; the score is the improvement over random search, averaged over\n"
    "that time: 1 is the optimum at once, 0 is no better than random. Trying\n"
    "a configuration costs what the recording says, failures included, one\n"
    "after the other.\n"
    "\n"
    "  --spec SPEC.yaml      the kernel of the recordings, when it is not\n"
    "                        built in\n"
    "  --recorded            take the recorded configurations as the space,\n"
    "                        even if they are only a sample of it\n"
    "  --strategies A,B      as for --strategy of tune, \"A:OPTION=VALUE,B\"\n"
    "                        [all but exhaustive]\n"
    "  --repeats N           runs of each strategy, by seed [100]\n"
    "  --seed N              of the first run [1]\n"
    "  --ahead N             candidates compiled, and waiting, at a time; the\n"
    "                        strategy picks among them, knowing what the\n"
    "                        compiler reported [1]\n"
    "  --start               begin with the default configuration, as tune\n"
    "                        does\n"
    "  -j, --jobs N          runs at a time [processors]\n"
    "  --json                everything, as JSON\n"
    "  --plot FILE.svg       draw how they converge\n"
    "\n"
    "examples:\n"
    "  shmtune score tunings/transpose/*.journal.gz\n"
    "  shmtune score run.journal.gz --strategies model,hill:leap=2,random\n";

enum { STRATEGIES = 64 };

struct options {
    const char *spec, *strategies, *plot;
    int64_t repeats, seed, ahead, jobs;
    bool start, json, recorded;
};

const struct shmt_score *
shmt_scoreboard_score(const struct shmt_scoreboard *scoreboard,
                 size_t column, size_t row)
{
    return &scoreboard->scores[column * scoreboard->row_count + row];
}

double shmt_scoreboard_mean(const struct shmt_scoreboard *scoreboard,
                            size_t row)
{
    double sum = 0;

    for (size_t c = 0; c < scoreboard->column_count; c++)
        sum += shmt_scoreboard_score(scoreboard, c, row)->score;
    return sum / (double)scoreboard->column_count;
}

/* -- strategies ---------------------------------------------------------- */

/* "a,b:x=1,y=2,c" at its commas, but for those between options: where the
 * next word has '=' before any ':'. */
static char *next_strategy(char **rest)
{
    char *const text = *rest;
    char *comma = strchr(text, ',');

    while (comma != NULL
           && comma[1 + strcspn(comma + 1, ",:=")] == '=')
        comma = strchr(comma + 1, ',');
    if (comma == NULL) {
        *rest = NULL;
    } else {
        *comma = '\0';
        *rest = comma + 1;
    }
    return text;
}

static enum shmtune_status find_strategies(struct shmt_arena *arena,
                                           const char *text,
                                           struct shmt_scoreboard *scoreboard,
                                           struct shmt_error *err)
{
    const char **rows = shmt_arena_alloc(arena, STRATEGIES, sizeof *rows);
    char *rest;

    if (rows == NULL)
        return shmt_error_memory(err);
    scoreboard->rows = rows;
    for (size_t k = 0; text == NULL && shmt_strategy_at(k) != NULL; k++)
        if (strcmp(shmt_strategy_at(k)->name, "exhaustive") != 0)
            rows[scoreboard->row_count++] = shmt_strategy_at(k)->name;
    if (text == NULL)
        return SHMTUNE_OK;
    rest = shmt_arena_copy(arena, text, strlen(text));
    if (rest == NULL)
        return shmt_error_memory(err);
    while (rest != NULL) {
        if (scoreboard->row_count == STRATEGIES)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "more than %d strategies", STRATEGIES);
        rows[scoreboard->row_count++] = next_strategy(&rest);
    }
    return SHMTUNE_OK;
}

/* -- recordings ---------------------------------------------------------- */

static enum shmtune_status name_column(struct shmt_arena *arena,
                                       struct shmt_scoreboard_column *column,
                                       struct shmt_error *err)
{
    const struct shmt_journal_header *const header =
        shmt_score_recording_header(column->recording);
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s ", header->kernel);
    shmt_kernel_describe_problem(column->kernel, header->problem, &text);
    shmt_text_addf(&text, "%s%s", column->kernel->dimension_count > 0
                                      ? ", " : "on ", header->device.name);
    if (!text.failed)
        column->name = shmt_arena_copy(arena, shmt_text_string(&text),
                                       text.length);
    shmt_text_free(&text);
    return column->name == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

static enum shmtune_status load_column(struct shmt_arena *arena,
                                       const struct options *options,
                                       struct shmt_scoreboard_column *column,
                                       struct shmt_error *err)
{
    char name[80];
    enum shmtune_status status =
        shmt_journal_read_kernel_name(column->path, name, err);

    if (status == SHMTUNE_OK)
        status = shmt_command_kernel_of(column->path, name, options->spec,
                                        &column->kernel, err);
    if (status == SHMTUNE_OK)
        status = shmt_score_load(column->path, column->kernel,
                                 options->recorded, &column->recording, err);
    if (status == SHMTUNE_OK)
        status = name_column(arena, column, err);
    if (status == SHMTUNE_OK) {
        status = shmt_score_scale_new(
            shmt_score_recording_table(column->recording), &column->scale,
            err);
        if (status != SHMTUNE_OK)
            status = shmt_error_prefix(err, "%s", column->path);
    }
    return status == SHMTUNE_OK
               ? status
               : shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                            SHMTUNE_STORAGE);
}

static void free_columns(struct shmt_scoreboard *scoreboard)
{
    for (size_t c = 0; c < scoreboard->column_count; c++) {
        shmt_score_scale_free(scoreboard->columns[c].scale);
        shmt_score_unload(scoreboard->columns[c].recording);
        shmt_kernel_free(scoreboard->columns[c].kernel);
    }
}

/* -- the command --------------------------------------------------------- */

static enum shmtune_status score_all(const struct shmt_command_call *call,
                                     const struct options *options,
                                     struct shmt_scoreboard *scoreboard,
                                     struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t c = 0; c < scoreboard->column_count; c++)
        for (size_t r = 0; r < scoreboard->row_count && status == SHMTUNE_OK;
             r++) {
            const struct shmt_score_plan plan = {
                .strategy = scoreboard->rows[r],
                .repeats = (size_t)options->repeats,
                .seed = (uint64_t)options->seed,
                .start = options->start,
                .ahead = (size_t)options->ahead,
                .jobs = (size_t)options->jobs,
            };

            if (call->verbose)
                fprintf(stderr, "shmtune: %s on %s\n", scoreboard->rows[r],
                        scoreboard->columns[c].name);
            status = shmt_score_run(
                scoreboard->columns[c].scale, &plan,
                &scoreboard->scores[c * scoreboard->row_count + r], err);
        }
    return status;
}

static enum shmtune_status make_board(struct shmt_arena *arena,
                                      const struct shmt_command_call *call,
                                      const struct options *options,
                                      struct shmt_scoreboard *scoreboard,
                                      struct shmt_error *err)
{
    const size_t files = scoreboard->column_count;
    enum shmtune_status status =
        find_strategies(arena, options->strategies, scoreboard, err);

    scoreboard->column_count = 0;
    if (status != SHMTUNE_OK)
        return status;
    scoreboard->columns =
        shmt_arena_alloc(arena, files, sizeof *scoreboard->columns);
    scoreboard->scores = shmt_arena_alloc(arena, files * scoreboard->row_count,
                                          sizeof *scoreboard->scores);
    if (scoreboard->columns == NULL || scoreboard->scores == NULL)
        return shmt_error_memory(err);
    for (size_t c = 0; c < files && status == SHMTUNE_OK; c++) {
        scoreboard->columns[c].path = call->words[c];
        scoreboard->column_count++;
        status = load_column(arena, options, &scoreboard->columns[c], err);
    }
    return status == SHMTUNE_OK ? score_all(call, options, scoreboard, err)
                                : status;
}

static enum shmtune_status parse(const struct shmt_command_call *call,
                                 struct options *o, int *rest,
                                 struct shmt_error *err)
{
    const struct shmt_command_option table[] = {
        {"spec", 0, SHMT_OPTION_TEXT, &o->spec, 0, 0},
        {"strategies", 0, SHMT_OPTION_TEXT, &o->strategies, 0, 0},
        {"repeats", 0, SHMT_OPTION_INT, &o->repeats, 1, 100000},
        {"seed", 0, SHMT_OPTION_INT, &o->seed, 0, INT64_MAX},
        {"ahead", 0, SHMT_OPTION_INT, &o->ahead, 1, 1024},
        {"recorded", 0, SHMT_OPTION_FLAG, &o->recorded, 0, 0},
        {"start", 0, SHMT_OPTION_FLAG, &o->start, 0, 0},
        {"jobs", 'j', SHMT_OPTION_INT, &o->jobs, 1, 256},
        {"json", 0, SHMT_OPTION_FLAG, &o->json, 0, 0},
        {"plot", 0, SHMT_OPTION_TEXT, &o->plot, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    enum shmtune_status status;

    *o = (struct options){.repeats = 100, .seed = SHMT_COMMAND_SEED,
                          .ahead = 1, .jobs = shmt_command_cores()};
    if (o->jobs > 256)
        o->jobs = 256;
    status = shmt_command_options(call, table, rest, err);
    if (status == SHMTUNE_OK && *rest < 1)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "no recording is given; \"shmtune list\" has "
                                "those that are shipped");
    return status;
}

static enum shmtune_status plot(const struct shmt_scoreboard *scoreboard,
                                const char *path, struct shmt_error *err)
{
    return shmt_scoreboard_plot(scoreboard, path, err) == SHMTUNE_OK
               ? SHMTUNE_OK
               : shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                            SHMTUNE_STORAGE);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct options options;
    struct shmt_scoreboard scoreboard = {0};
    struct shmt_arena *arena = NULL;
    int rest;
    enum shmtune_status status = parse(call, &options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    arena = shmt_arena_new();
    if (arena == NULL)
        return shmt_error_memory(err);
    scoreboard.column_count = (size_t)rest;
    scoreboard.repeats = (size_t)options.repeats;
    scoreboard.seed = (uint64_t)options.seed;
    status = make_board(arena, call, &options, &scoreboard, err);
    if (status == SHMTUNE_OK && options.plot != NULL)
        status = plot(&scoreboard, options.plot, err);
    if (status == SHMTUNE_OK)
        status = options.json
                     ? shmt_scoreboard_print_json(&scoreboard, err)
                     : shmt_scoreboard_print(&scoreboard, call->colour, err);
    free_columns(&scoreboard);
    shmt_arena_free(arena);
    return status;
}

const struct shmt_command shmt_command_score = {
    "score", "compare search strategies on recorded runs", help, run
};
