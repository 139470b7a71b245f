/* SPDX-License-Identifier: MIT */
/*
 * capture_list: what `shmtune capture --list` shows.
 */
#ifndef SHMT_COMMAND_CAPTURE_LIST_H
#define SHMT_COMMAND_CAPTURE_LIST_H

#include "command/command.h"

struct shmt_command_captured {
    const struct shmt_command_call *call;
    struct shmt_arena *arena;
    const char *folder;            /* where the library has written */
    bool json;
};

/* The kernels whose times the library has written, those that take longest
 * first. */
enum shmtune_status
shmt_command_list_captured(const struct shmt_command_captured *captured,
                           struct shmt_error *err);

#endif
