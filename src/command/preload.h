/* SPDX-License-Identifier: MIT */
/*
 * preload: what capture.c and run.c share: the library that goes into a
 * program, its settings, what it has noted, and the program's exit status.
 */
#ifndef SHMT_COMMAND_PRELOAD_H
#define SHMT_COMMAND_PRELOAD_H

#include "command/command.h"

/* "LD_PRELOAD=..." with the library in front of what is there already.
 * SHMTUNE_STORAGE: it is neither beside this program nor installed. */
enum shmtune_status shmt_preload_library(struct shmt_arena *arena,
                                         const char **out,
                                         struct shmt_error *err);
/* "NAME=VALUE"; NULL: no memory. */
const char *shmt_preload_setting(struct shmt_arena *arena, const char *name,
                                 const char *value);

/* A line about something that was left out: to the file that $SHMTUNE_LOG
 * names, else to standard error, unless that is to be quiet. */
void shmt_preload_note(const struct shmt_command_call *call,
                       const char *line);

/* Says what the library has noted in the folder; all lines of it are in `*out`,
 * "" of none, in the arena. */
enum shmtune_status shmt_preload_tell_notes(
    const struct shmt_command_call *call, struct shmt_arena *arena,
    const char *folder, const char **out, struct shmt_error *err);

/* Whether no process has loaded the library, which is said then.  false: one
 * has, or that cannot be told. */
bool shmt_preload_tell_unloaded(const struct shmt_command_call *call,
                                struct shmt_arena *arena, const char *folder);

/* What waitpid said, as the exit status of the command. */
enum shmtune_status shmt_preload_status(int ended, struct shmt_error *err);

#endif
