/* SPDX-License-Identifier: MIT */
/*
 * pack: what pack.c and pack_compile.c share: the binaries of what is tuned.
 */
#ifndef SHMT_COMMAND_PACK_H
#define SHMT_COMMAND_PACK_H

#include "command/command.h"
#include "record/record.h"

/* A tuning of the folder, which fits its kernel. */
struct shmt_command_tuned_kernel {
    const struct shmt_kernel *kernel;
    struct shmt_tuning *tuning;
};

struct shmt_command_binaries {
    const struct shmt_command_call *call;
    const char *archs;                   /* "sm_80,sm_90" */
    int64_t jobs;
    const char *folder;                  /* cubins, made when absent */
    const struct shmt_catalogue *catalogue;
    const struct shmt_command_tuned_kernel *tunings;
    size_t tuning_count;
    struct shmt_arena *arena;            /* the caller's */
    /* Filled; free the list of keys. */
    const char **keys;                   /* of the binaries, each once */
    size_t key_count, key_room;
    size_t compiled;                     /* that were not there before */
};

/* Puts into the folder, for each kernel and architecture, the binaries that
 * the library may ask for at the tuned sizes: of winners, of those as good
 * that it falls back to, of a dispatch, and of the default; and a manifest of
 * them.  SHMTUNE_COMPILE: a winner does not compile.  SHMTUNE_NO_DEVICE: the
 * compiler is not here. */
enum shmtune_status
shmt_command_make_binaries(struct shmt_command_binaries *binaries,
                           struct shmt_error *err);

#endif
