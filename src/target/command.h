/* SPDX-License-Identifier: MIT */
/*
 * command: the command line of a worker, and the line that stands for it.
 * Called by target/live.c alone.
 */
#ifndef SHMT_TARGET_COMMAND_H
#define SHMT_TARGET_COMMAND_H

#include "target/live.h"

/* What it names beside the options of the target. */
struct shmt_target_words {
    const char *spec, *images;
    const char *own_path;   /* of this program, for one on another machine */
    const char *arch;       /* it compiles for that; NULL: it measures */
};

/* In the arena, with NULL behind the last; NULL: no memory. */
const char *const *
shmt_target_command(struct shmt_arena *arena,
                    const struct shmt_live_options *options,
                    const struct shmt_target_words *words);

/* In the arena, the line by which a worker that compiles for another spec
 * becomes one of this; NULL: no memory. */
const char *shmt_target_serve(struct shmt_arena *arena,
                              const struct shmt_target_words *words);

#endif
