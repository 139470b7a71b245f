/* SPDX-License-Identifier: MIT */
/*
 * export_tuned: the tunings of a kernel as a header, or in the form of a
 * template: the part of `shmtune export` that programs are compiled with.
 */
#ifndef SHMT_COMMAND_EXPORT_TUNED_H
#define SHMT_COMMAND_EXPORT_TUNED_H

#include "command/command.h"

struct shmt_command_export_tuned {
    const struct shmt_command_call *call;
    int count;                 /* of call->words: a kernel, or tunings */
    const char *spec;          /* or NULL */
    const char *form;          /* a template's path; NULL: a header */
    const char *output;        /* or NULL */
    bool json;
};
enum shmtune_status
shmt_command_export_tuned(const struct shmt_command_export_tuned *request,
                          struct shmt_error *err);

#endif
