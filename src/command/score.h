/* SPDX-License-Identifier: MIT */
/*
 * score: what score*.c share: recordings and strategies, and the score
 * of each strategy on each recording.
 */
#ifndef SHMT_COMMAND_SCORE_H
#define SHMT_COMMAND_SCORE_H

#include "kernel/kernel.h"
#include "score/score.h"

struct shmt_scoreboard_column {
    const char *path;
    const char *name;               /* "transpose rows=8192 cols=8192, ..." */
    struct shmt_kernel *kernel;
    struct shmt_score_recording *recording;
    struct shmt_score_scale *scale;
};

struct shmt_scoreboard {
    size_t column_count, row_count;
    struct shmt_scoreboard_column *columns; /* recordings */
    const char *const *rows;               /* strategies */
    struct shmt_score *scores;             /* [column][row] */
    size_t repeats;
    uint64_t seed;
};

const struct shmt_score *
shmt_scoreboard_score(const struct shmt_scoreboard *scoreboard,
                      size_t column, size_t row);
/* Mean over recordings. */
double shmt_scoreboard_mean(const struct shmt_scoreboard *scoreboard,
                            size_t row);

/* score_show.c */
enum shmtune_status
shmt_scoreboard_print(const struct shmt_scoreboard *scoreboard,
                      bool colour, struct shmt_error *err);
enum shmtune_status
shmt_scoreboard_print_json(const struct shmt_scoreboard *scoreboard,
                           struct shmt_error *err);

/* score_plot.c: convergence, one panel for all recordings and one for
 * each, as SVG. */
enum shmtune_status
shmt_scoreboard_plot(const struct shmt_scoreboard *scoreboard,
                     const char *path, struct shmt_error *err);

#endif
