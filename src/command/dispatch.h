/* SPDX-License-Identifier: MIT */
/*
 * dispatch: what dispatch.c, dispatch_show.c and show.c of command/ share.
 */
#ifndef SHMT_COMMAND_DISPATCH_H
#define SHMT_COMMAND_DISPATCH_H

#include "command/command.h"
#include "learn/learn.h"

struct json_t;

/* How one size of a trial came out. */
struct shmt_command_trial {
    const struct shmt_learn_size *size;
    size_t chosen, best;          /* of the table's configurations */
    double chosen_us, best_us, own_us;   /* own: of what was tuned for this
                                     size; < 0: nothing */
    const char *match;            /* how it was chosen */
};

struct shmt_command_trials {
    struct shmt_command_trial *list;
    size_t count;
    double ns;                    /* of a selection */
};

/* What came of learning. */
struct shmt_command_learnt {
    const struct shmt_dispatch *made;
    struct shmt_learn_outcome outcome;
    const struct shmt_dispatch *before;   /* the tuning's; NULL: it has none */
    struct shmt_learn_figures kept;       /* what that reaches at these sizes;
                                     count 0: it is not kept */
    double spent_s;
};

/* Prints the figures and what is in the tuning now; adds them to `results`
 * instead, unless that is NULL. */
enum shmtune_status
shmt_command_tell_learnt(const struct shmt_kernel *kernel,
                         const struct shmt_command_learnt *learnt,
                         struct json_t *results,
                         const struct shmt_command_call *call,
                         struct shmt_error *err);

/* Adds what was learnt: its figures, the tree, and the configurations. */
void shmt_command_show_dispatch(const struct shmt_dispatch *dispatch,
                                struct shmt_text *text);

/* What the choices reach of the best time; sorts the list. */
struct shmt_learn_figures
shmt_command_trial_figures(struct shmt_command_trials *trials);
/* Adds the distribution and the worst ten to the text; sorts the list. */
void shmt_command_show_trials(const struct shmt_learn_table *table,
                              struct shmt_command_trials *trials,
                              struct shmt_text *text);
/* The same for programs: every size. */
struct json_t *
shmt_command_trials_json(const struct shmt_learn_table *table,
                         const struct shmt_command_trials *trials);

#endif
