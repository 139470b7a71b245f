/* SPDX-License-Identifier: MIT */
/*
 * tune_ends: what `shmtune tune` says of winners that are at an end of their
 * values.
 */
#ifndef SHMT_COMMAND_TUNE_ENDS_H
#define SHMT_COMMAND_TUNE_ENDS_H

#include "command/tune_show.h"

/* A notice for each parameter of a spec of which all winners are at the same
 * end: a kernel that is built in has the values that it has. */
void shmt_command_tell_ends(struct shmt_display *display,
                            const struct shmt_sheet *sheet);

#endif
