/* SPDX-License-Identifier: MIT */
/*
 * score: the command `shmtune score`: runs strategies on recordings, collects
 * the scores in a table of strategies by recordings, and shows it as tables, as
 * JSON and as a plot of the convergence.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "command/command.h"
#include "command/score_within.h"
#include "command/json.h"
#include "plot/plot.h"
#include "score/score.h"

static const char help[] =
    "usage: shmtune score RECORDING... [OPTION]...\n"
    "\n"
    "Runs search strategies on complete recordings, where every cost is\n"
    "known, and says how they fare. The budget is the time in which random\n"
    "search is expected to close 95 % of the way from the median to the\n"
    "optimum; the score is the improvement over random search, averaged over\n"
    "that time: 1 is the optimum at once, 0 is no better than random. Trying\n"
    "a configuration costs what the recording says, failures included, one\n"
    "after the other. To 10 % are the evaluations until within 10 % of the\n"
    "optimum, of all repeats, over those that get there.\n"
    "\n"
    "  --spec SPEC.yaml      the kernel of the recordings, when it is not\n"
    "                        built in\n"
    "  --recorded            take the recorded configurations as the space,\n"
    "                        even if they are only a sample of it\n"
    "  --strategies A,B      as for --strategy of tune, \"A:OPTION=VALUE,B\"\n"
    "                        [all but exhaustive; with --from model]\n"
    "  --repeats N           runs of each strategy, by seed [100]\n"
    "  --seed N              of the first run [1]\n"
    "  --ahead N             candidates compiled, and waiting, at a time; the\n"
    "                        strategy picks among them [1]\n"
    "  --start               begin with the default configuration, as tune\n"
    "                        does\n"
    "  --within PCT          instead: evaluations until a run is within so\n"
    "                        many percent of the optimum [5 with --from]\n"
    "  --from FILE           the same with what another run found: a tuning,\n"
    "                        a journal, a recording, a folder of them; may be\n"
    "                        repeated\n"
    "  -j, --jobs N          runs at a time [processors]\n"
    "  --json                everything, as JSON\n"
    "  --plot FILE.svg       draw how they converge\n"
    "\n"
    "examples:\n"
    "  shmtune score tunings/transpose/*.journal.gz\n"
    "  shmtune score run.journal.gz --strategies model,hill:leap=2,random\n"
    "  shmtune score h200.journal.gz --from h100.journal.gz --repeats 200\n";

enum { STRATEGIES = 64 };

struct options {
    const char *spec, *strategies, *plot;
    struct shmt_command_repeats from;
    int64_t repeats, seed, ahead, jobs;
    int64_t within;                 /* percent; 0: scores are asked for */
    bool start, json, recorded;
};

struct column {
    const char *path;
    const char *name;               /* "transpose rows=8192 cols=8192, ..." */
    struct shmt_kernel *kernel;
    struct shmt_score_recording *recording;
    struct shmt_score_scale *scale;
};

struct scoreboard {
    size_t column_count, row_count;
    struct column *columns;          /* recordings */
    const char *const *rows;         /* strategies */
    struct shmt_score *scores;       /* [column][row] */
    size_t repeats;
    uint64_t seed;
};

static const struct shmt_score *score_at(const struct scoreboard *scoreboard,
                                         size_t column, size_t row)
{
    return &scoreboard->scores[column * scoreboard->row_count + row];
}

/* Mean over recordings. */
static double mean_of(const struct scoreboard *scoreboard, size_t row)
{
    double sum = 0;

    for (size_t c = 0; c < scoreboard->column_count; c++)
        sum += score_at(scoreboard, c, row)->score;
    return sum / (double)scoreboard->column_count;
}

/* -- the plot ------------------------------------------------------------- */

enum {
    WIDTH = 640, HEIGHT = 260, LEFT = 56, RIGHT = 190, TOP = 34, BOTTOM = 40,
    LETTER = 7,          /* how wide one is, about */
    STRIDE = 5           /* of the curve's points */
};

static const double LOWEST = -0.5;

/* Told apart by eyes of all kinds (Okabe and Ito). */
static const char *const colours[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
    "#000000", "#b8a800"
};
enum { COLOURS = sizeof colours / sizeof *colours };

static double x_of(double part)
{
    return LEFT + part * (WIDTH - LEFT);
}

static double y_of(double gain)
{
    const double shown = fmin(1, fmax(LOWEST, gain));

    return TOP + (1 - shown) / (1 - LOWEST) * (HEIGHT - TOP - BOTTOM);
}

static void add_axes(struct shmt_text *svg, const char *title)
{
    shmt_text_addf(svg, "<text x=\"%d\" y=\"20\" font-weight=\"bold\">", LEFT);
    shmt_plot_add_escaped(svg, title);
    shmt_text_add(svg, "</text>\n");
    for (int k = -1; k <= 2; k++) {
        const double gain = k / 2.0;

        shmt_text_addf(svg, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                            "y2=\"%.1f\" stroke=\"%s\"/>\n"
                            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">"
                            "%g</text>\n",
                       LEFT, WIDTH, y_of(gain), y_of(gain),
                       k == 0 ? "#666" : "#ddd", LEFT - 6, y_of(gain) + 4,
                       gain);
    }
    for (int k = 0; k <= 4; k++)
        shmt_text_addf(svg, "<text x=\"%.1f\" y=\"%d\" "
                            "text-anchor=\"middle\">%d %%</text>\n",
                       x_of(k / 4.0), HEIGHT - BOTTOM + 18, 25 * k);
}

static double gain_at(const struct scoreboard *scoreboard, size_t column,
                      size_t row, size_t point)
{
    double sum = 0;

    if (column < scoreboard->column_count)
        return score_at(scoreboard, column, row)->curve[point];
    for (size_t c = 0; c < scoreboard->column_count; c++)
        sum += score_at(scoreboard, c, row)->curve[point];
    return sum / (double)scoreboard->column_count;
}

static void add_curve(const struct scoreboard *scoreboard, size_t column,
                      size_t row, struct shmt_text *svg)
{
    struct shmt_plot_point places[SHMT_SCORE_POINTS / STRIDE + 1];
    size_t count = 0;

    for (size_t k = 0; k < SHMT_SCORE_POINTS; k += STRIDE)
        places[count++] = (struct shmt_plot_point){
            .x = x_of((double)k / (SHMT_SCORE_POINTS - 1)),
            .y = y_of(gain_at(scoreboard, column, row, k))
        };
    shmt_plot_add_line(svg, colours[row % COLOURS], row >= COLOURS, places,
                       count);
}

/* `column` of column_count: all of them. */
static void add_panel(const struct scoreboard *scoreboard, size_t column,
                      struct shmt_text *svg)
{
    const bool all = column == scoreboard->column_count;

    add_axes(svg, all ? "mean of all recordings"
                      : scoreboard->columns[column].name);
    for (size_t r = 0; r < scoreboard->row_count; r++) {
        const double score = all ? mean_of(scoreboard, r)
                : score_at(scoreboard, column, r)->score;

        add_curve(scoreboard, column, r, svg);
        shmt_text_addf(svg, "<text x=\"%d\" y=\"%zu\" fill=\"%s\">%.3f ",
                       WIDTH + 10, TOP + 12 + 15 * r, colours[r % COLOURS],
                       score);
        shmt_plot_add_escaped(svg, scoreboard->rows[r]);
        shmt_text_add(svg, "</text>\n");
    }
}

/* Room on the right for the longest name behind its score. */
static size_t room_of(const struct scoreboard *scoreboard)
{
    size_t room = RIGHT;

    for (size_t r = 0; r < scoreboard->row_count; r++) {
        const size_t length = strlen("-0.000 ") + strlen(scoreboard->rows[r]);

        if (10 + LETTER * length > room)
            room = 10 + LETTER * length;
    }
    return room;
}

static enum shmtune_status write_plot(const struct scoreboard *scoreboard,
                                      const char *path, struct shmt_error *err)
{
    const size_t first = scoreboard->column_count == 1 ? 0 :
        scoreboard->column_count;
    const size_t panels =
        scoreboard->column_count == 1 ? 1 : scoreboard->column_count + 1;
    const size_t least = TOP + 15 * scoreboard->row_count + 20;
    const size_t pitch = least > HEIGHT ? least : HEIGHT;
    struct shmt_text svg = {0};
    enum shmtune_status status;

    shmt_text_addf(&svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                         "width=\"%zu\" height=\"%zu\" font-family=\""
                         "sans-serif\" font-size=\"11\">\n"
                         "<rect width=\"100%%\" height=\"100%%\" "
                         "fill=\"white\"/>\n",
                   WIDTH + room_of(scoreboard), panels * pitch + 20);
    for (size_t k = 0; k < panels; k++) {
        shmt_text_addf(&svg, "<g transform=\"translate(0 %zu)\">\n",
                       k * pitch);
        add_panel(scoreboard, k == 0 ? first : k - 1, &svg);
        shmt_text_add(&svg, "</g>\n");
    }
    shmt_text_addf(&svg, "<text x=\"%d\" y=\"%zu\">improvement over random "
                         "search (1: the optimum) against the budget spent"
                         "</text>\n</svg>\n", LEFT, panels * pitch + 8);
    status = svg.failed ? shmt_error_memory(err)
                        : shmt_path_write(path, svg.data, svg.length, err);
    shmt_text_free(&svg);
    return status;
}

/* -- results as tables ---------------------------------------------------- */

static void add_number(struct shmt_table *table, const char *format,
                       double number)
{
    char text[32];

    snprintf(text, sizeof text, format, number);
    shmt_table_add(table, "%s", isfinite(number) ? text : "-");
}

static void add_row(const struct scoreboard *scoreboard, size_t column,
                    size_t row, struct shmt_table *table)
{
    const struct shmt_score *const score = score_at(scoreboard, column, row);

    shmt_table_add(table, "%s", scoreboard->rows[row]);
    add_number(table, "%.3f", score->score);
    add_number(table, "%.3f", score->spread);
    for (size_t k = 0; k < SHMT_SCORE_TARGETS; k++) {
        add_number(table, "%.0f", score->efforts[k].evaluations);
        add_number(table, "%.1f", score->efforts[k].seconds);
    }
    add_number(table, "%.0f", score->evaluations);
    add_number(table, "%.0f", score->thinking_s * 1e6);
}

static void add_recording(const struct scoreboard *scoreboard, size_t column,
                          const struct shmt_command_call *call,
                          struct shmt_text *text)
{
    struct shmt_table table = {
        .titles = "strategy|>score|>spread|>to 10 %|>s|>to 5 %|>s|"
                  ">to 1 %|>s|#>tried|#>us/ask"
    };
    const struct shmt_score_scale *const scale =
        scoreboard->columns[column].scale;

    shmt_text_add_visible(text, scoreboard->columns[column].name);
    shmt_text_add(text, "\n");
    shmt_text_add_count(text, shmt_space_count(scale->table->space));
    shmt_text_add(text, " configurations, ");
    shmt_text_add_count(text, scale->valid);
    shmt_text_addf(text, " valid; optimum %.2f us, median %.2f us; budget "
                         "%.1f s, about %llu evaluations\n\n",
                   scale->optimum, scale->median, scale->budget_s,
                   (unsigned long long)scale->budget_evaluations);
    for (size_t r = 0; r < scoreboard->row_count; r++)
        add_row(scoreboard, column, r, &table);
    shmt_table_end(&table, call, text);
    shmt_text_add(text, "\n");
}

static void add_means(const struct scoreboard *scoreboard,
                      const struct shmt_command_call *call,
                      struct shmt_text *text)
{
    struct shmt_table table = {.titles = "strategy|>score|#"};

    shmt_text_addf(text, "mean of %zu recordings, %zu repeats\n\n",
                   scoreboard->column_count, scoreboard->repeats);
    for (size_t r = 0; r < scoreboard->row_count; r++) {

        shmt_table_add(&table, "%s", scoreboard->rows[r]);
        add_number(&table, "%.3f", mean_of(scoreboard, r));
        shmt_table_add_bar(&table, fmax(0, mean_of(scoreboard, r)), 40);
    }
    shmt_table_end(&table, call, text);
}

static enum shmtune_status print_tables(const struct scoreboard *scoreboard,
                                        const struct shmt_command_call *call,
                                        struct shmt_error *err)
{
    struct shmt_text text = {0};

    for (size_t c = 0; c < scoreboard->column_count; c++)
        add_recording(scoreboard, c, call, &text);
    if (scoreboard->column_count > 1)
        add_means(scoreboard, call, &text);
    return shmt_command_print_lines(&text, call, err);
}

/* -- results as JSON ------------------------------------------------------ */

static json_t *score_json(const struct scoreboard *scoreboard, size_t column,
                          size_t row)
{
    static const char *const keys[SHMT_SCORE_TARGETS] = {
        "within_10_percent", "within_5_percent", "within_1_percent"
    };
    const struct shmt_score *const score = score_at(scoreboard, column, row);
    json_t *const curve = json_array();
    json_t *const root = shmt_json_object(
        "strategy", shmt_json_text(scoreboard->rows[row]),
        "score", shmt_json_real(score->score),
        "spread", shmt_json_real(score->spread),
        "evaluations", shmt_json_real(score->evaluations), NULL);

    for (size_t k = 0; k < SHMT_SCORE_TARGETS; k++) {
        const struct shmt_score_effort *const effort = &score->efforts[k];

        json_object_set_new(root, keys[k], shmt_json_object(
            "evaluations", shmt_json_real(effort->evaluations),
            "seconds", shmt_json_real(effort->seconds),
            "repeats", shmt_json_count(effort->reached), NULL));
    }
    /* One point in ten is plenty. */
    for (size_t k = 0; k < SHMT_SCORE_POINTS; k += 10)
        json_array_append_new(curve, shmt_json_real(score->curve[k]));
    json_object_set_new(root, "curve", curve);
    return root;
}

static json_t *recording_json(const struct scoreboard *scoreboard,
                              size_t column)
{
    const struct column *const c = &scoreboard->columns[column];
    const struct shmt_score_scale *const scale = c->scale;
    json_t *const strategies = json_array();

    for (size_t r = 0; r < scoreboard->row_count; r++)
        json_array_append_new(strategies, score_json(scoreboard, column, r));
    return shmt_json_object(
        "recording", shmt_json_text(c->path),
        "name", shmt_json_text(c->name),
        "configurations",
        shmt_json_count(shmt_space_count(scale->table->space)),
        "valid", shmt_json_count(scale->valid),
        "optimum_us", shmt_json_real(scale->optimum),
        "median_us", shmt_json_real(scale->median),
        "budget_s", shmt_json_real(scale->budget_s),
        "budget_evaluations", shmt_json_count(scale->budget_evaluations),
        "strategies", strategies, NULL);
}

static enum shmtune_status print_json(const struct scoreboard *scoreboard,
                                      struct shmt_error *err)
{
    json_t *const recordings = json_array(), *const means = json_object();

    for (size_t c = 0; c < scoreboard->column_count; c++)
        json_array_append_new(recordings, recording_json(scoreboard, c));
    for (size_t r = 0; r < scoreboard->row_count; r++)
        json_object_set_new(means, scoreboard->rows[r],
                            shmt_json_real(mean_of(scoreboard, r)));
    return shmt_json_print("score", shmt_json_object(
        "repeats", shmt_json_count(scoreboard->repeats),
        "seed", shmt_json_count(scoreboard->seed),
        "mean", means,
        "recordings", recordings, NULL), err);
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
                                           struct scoreboard *scoreboard,
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

static void tell_progress(const char *strategy, const char *column)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s on %s", strategy, column);
    shmt_command_tell("", shmt_text_string(&text));
    shmt_text_free(&text);
}

static enum shmtune_status name_column(struct shmt_arena *arena,
                                       struct column *column,
                                       struct shmt_error *err)
{
    const struct shmt_journal_header *const header =
        &column->recording->journal->header;
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s ", header->kernel);
    shmt_kernel_describe_problem(column->kernel, header->problem, &text);
    shmt_text_addf(&text, "%s%s", column->kernel->dimension_count > 0
                                      ? ", " : "on ", header->device.name);
    column->name = shmt_text_keep(&text, arena);
    return column->name == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

static enum shmtune_status load_column(struct shmt_arena *arena,
                                       const struct options *options,
                                       struct column *column,
                                       struct shmt_error *err)
{
    enum shmtune_status status = shmt_command_kernel_of_journal(
        column->path, options->spec, &column->kernel, err);

    if (status == SHMTUNE_OK)
        status = shmt_score_load(column->path, column->kernel,
                                 options->recorded, &column->recording, err);
    if (status == SHMTUNE_OK)
        status = name_column(arena, column, err);
    if (status == SHMTUNE_OK && options->within == 0) {
        status = shmt_score_scale_new(&column->recording->table,
                                      &column->scale, err);
        if (status != SHMTUNE_OK)
            status = shmt_error_prefix(err, "%s", column->path);
    }
    return status;
}

static void free_columns(struct scoreboard *scoreboard)
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
                                     struct scoreboard *scoreboard,
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
                tell_progress(scoreboard->rows[r],
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
                                      struct scoreboard *scoreboard,
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
    return status == SHMTUNE_OK && options->within == 0
               ? score_all(call, options, scoreboard, err) : status;
}

/* Evaluations to within some percent, in the place of scores. */
static enum shmtune_status print_within(const struct shmt_command_call *call,
                                        const struct options *options,
                                        const struct scoreboard *scoreboard,
                                        struct shmt_error *err)
{
    struct shmt_text text = {0};
    json_t *const array = options->json ? json_array() : NULL;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t c = 0; c < scoreboard->column_count && status == SHMTUNE_OK;
         c++) {
        const struct column *const column = &scoreboard->columns[c];
        const struct shmt_command_within within = {
            .path = column->path,
            .name = column->name,
            .recording = column->recording,
            .rows = scoreboard->rows,
            .row_count = scoreboard->row_count,
            .from = &options->from,
            .percent = (double)options->within,
            .repeats = (size_t)options->repeats,
            .jobs = (size_t)options->jobs,
            .seed = (uint64_t)options->seed,
            .start = options->start,
            .call = call,
        };

        status = shmt_command_within(&within, array == NULL ? &text : NULL,
                                     array, err);
    }
    if (status == SHMTUNE_OK && array == NULL)
        return shmt_command_print_lines(&text, call, err);
    shmt_text_free(&text);
    if (status != SHMTUNE_OK) {
        json_decref(array);
        return status;
    }
    return shmt_json_print("within", shmt_json_object(
        "repeats", shmt_json_count(scoreboard->repeats),
        "seed", shmt_json_count(scoreboard->seed),
        "percent", shmt_json_count((uint64_t)options->within),
        "recordings", array, NULL), err);
}

/* What says nothing about evaluations until a good one. */
static enum shmtune_status check_within(const struct options *o,
                                        struct shmt_error *err)
{
    if (o->plot == NULL && o->ahead == 1)
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "--within and --from count evaluations, one after "
                          "the other: leave out %s",
                          o->plot != NULL ? "--plot" : "--ahead");
}

static enum shmtune_status parse(const struct shmt_command_call *call,
                                 struct options *o, int *rest,
                                 struct shmt_error *err)
{
    const struct shmt_command_option table[] = {
        {"spec", 0, SHMT_OPTION_PATH, &o->spec, 0, 0},
        {"strategies", 0, SHMT_OPTION_TEXT, &o->strategies, 0, 0},
        {"repeats", 0, SHMT_OPTION_INT, &o->repeats, 1, 100000},
        {"seed", 0, SHMT_OPTION_INT, &o->seed, 0, INT64_MAX},
        {"ahead", 0, SHMT_OPTION_INT, &o->ahead, 1, 1024},
        {"recorded", 0, SHMT_OPTION_FLAG, &o->recorded, 0, 0},
        {"start", 0, SHMT_OPTION_FLAG, &o->start, 0, 0},
        {"within", 0, SHMT_OPTION_INT, &o->within, 1, 1000},
        {"from", 0, SHMT_OPTION_PATHS, &o->from, 0, 0},
        {"jobs", 'j', SHMT_OPTION_INT, &o->jobs, 1, 256},
        {"json", 0, SHMT_OPTION_FLAG, &o->json, 0, 0},
        {"plot", 0, SHMT_OPTION_PATH, &o->plot, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    enum shmtune_status status;

    *o = (struct options){.repeats = 100, .seed = SHMT_COMMAND_SEED,
                          .ahead = 1, .jobs = shmt_command_cores()};
    if (o->jobs > 256)
        o->jobs = 256;
    status = shmt_command_options(call, table, rest, err);
    if (o->from.count > 0 && o->within == 0)
        o->within = 5;
    if (o->from.count > 0 && o->strategies == NULL)
        o->strategies = "model";
    if (status == SHMTUNE_OK && o->within > 0)
        status = check_within(o, err);
    if (status == SHMTUNE_OK && *rest < 1)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "no recording is given; \"shmtune list\" has "
                                "those that are shipped");
    return status;
}

static enum shmtune_status plot(const struct scoreboard *scoreboard,
                                const char *path, struct shmt_error *err)
{
    return write_plot(scoreboard, path, err) == SHMTUNE_OK
               ? SHMTUNE_OK
               : shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                            SHMTUNE_STORAGE);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct options options;
    struct scoreboard scoreboard = {0};
    struct shmt_arena *arena = NULL;
    int rest;
    enum shmtune_status status = parse(call, &options, &rest, err);

    for (int k = 0; status == SHMTUNE_OK && k < rest; k++)
        status = shmt_command_check_output(options.plot, call->words[k], err);
    if (status != SHMTUNE_OK)
        return status;
    arena = shmt_arena_new();
    if (arena == NULL)
        return shmt_error_memory(err);
    scoreboard.column_count = (size_t)rest;
    scoreboard.repeats = (size_t)options.repeats;
    scoreboard.seed = (uint64_t)options.seed;
    status = make_board(arena, call, &options, &scoreboard, err);
    if (status == SHMTUNE_OK && options.within > 0) {
        status = print_within(call, &options, &scoreboard, err);
        goto end;
    }
    if (status == SHMTUNE_OK && options.plot != NULL)
        status = plot(&scoreboard, options.plot, err);
    if (status == SHMTUNE_OK)
        status = options.json
                     ? print_json(&scoreboard, err)
                     : print_tables(&scoreboard, call, err);
end:
    free_columns(&scoreboard);
    shmt_arena_free(arena);
    return status;
}

const struct shmt_command shmt_command_score = {
    "score", "compare search strategies on recorded runs", help, run
};
