/* SPDX-License-Identifier: MIT */
/*
 * check: what check.c shares with its parts: every finding is printed as
 * one line, and no wrong file ends the run.
 */
#ifndef SHMT_COMMAND_CHECK_H
#define SHMT_COMMAND_CHECK_H

#include <jansson.h>

#include "command/command.h"
#include "command/compile.h"

enum shmt_check_outcome {
    SHMT_CHECK_GOOD, SHMT_CHECK_BAD, SHMT_CHECK_NOTE, SHMT_CHECK_SKIPPED
};

struct shmt_check {
    const struct shmt_command_call *call;
    const char *spec;        /* --spec, or NULL */
    const char *arch;        /* of specs */
    struct shmt_compiler_options compiler;
    struct shmt_command_limits limits;
    bool compile;            /* false: --no-compile */
    int64_t sample;          /* configurations of a spec that are compiled
                                beside its default, at most */
    const char *cubins;      /* folder for binaries to ship, or NULL */
    json_t *json;            /* an array, or NULL: for people */
    const char *file;        /* that is being checked */
    const char *root, *pack; /* where the files of a pack lie meanwhile, and
                                what to call that; root "": of none */
    size_t good, bad, skipped;
    size_t tunings;          /* that were looked at */
    bool failed;             /* no memory: a finding was cut */
    char told[SHMT_ERROR_BYTES];  /* what the compiler said of the spec's
                                     default; "": nothing */
    char no_compiler[SHMT_ERROR_BYTES];   /* "" until one is missed */
};

/* One finding about check->file.  BAD makes the whole check fail. */
void shmt_check_report(struct shmt_check *check,
                       enum shmt_check_outcome outcome,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* BAD with the message; statuses that end the run (no memory, interrupted, a
 * defect) are returned, all others swallowed. */
enum shmtune_status shmt_check_report_failure(struct shmt_check *check,
                                              enum shmtune_status status,
                                              const struct shmt_error *err);

/* *out is NULL when compiling is switched off, or when there is no compiler,
 * which is reported once. */
enum shmtune_status shmt_check_compiler(struct shmt_check *check,
                                        const struct shmt_kernel *kernel,
                                        const char *arch,
                                        struct shmt_target **out,
                                        struct shmt_error *err);

enum shmtune_status shmt_check_spec(struct shmt_check *check,
                                    struct shmt_error *err);
enum shmtune_status shmt_check_tuning(struct shmt_check *check,
                                      struct shmt_error *err);

/* One file, by its format. */
enum shmtune_status shmt_check_file(struct shmt_check *check,
                                    const char *file, struct shmt_error *err);
/* A spec that has been read. */
enum shmtune_status shmt_check_kernel(struct shmt_check *check,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_error *err);

/* check_folder.c: all built-in kernels and what is shipped for them; a folder
 * that an application ships; the same in one file, which is read whole. */
enum shmtune_status shmt_check_shipped(struct shmt_check *check,
                                       struct shmt_error *err);
enum shmtune_status shmt_check_folder(struct shmt_check *check,
                                      const char *folder,
                                      struct shmt_error *err);
bool shmt_check_is_pack(const char *path);
enum shmtune_status shmt_check_pack(struct shmt_check *check,
                                    const char *path, struct shmt_error *err);

/* check_binaries.c: cubins/ of a folder. */
struct shmt_catalogue;
enum shmtune_status
shmt_check_binaries(struct shmt_check *check,
                    const struct shmt_catalogue *catalogue,
                    struct shmt_error *err);

/* check_values.c: compiles a sample that covers the values.  The default has
 * compiled. */
struct shmt_target;
enum shmtune_status shmt_check_values(struct shmt_check *check,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_target *compiler,
                                      struct shmt_error *err);

/* check_note.c: what is odd in a spec and may be meant. */
void shmt_check_notes(struct shmt_check *check,
                      const struct shmt_kernel *kernel);
/* Macros of the source's own; those that a compiler tells are left to it. */
void shmt_check_macros(struct shmt_check *check,
                       const struct shmt_kernel *kernel, bool compiled);

/* check_grid.c: grids that leave out the rest of a size. */
void shmt_check_grids(struct shmt_check *check,
                      const struct shmt_kernel *kernel);

/* check_launch.c */

/* Entries that no source has are reported; missing[part]: it has one. */
enum shmtune_status shmt_check_entries(struct shmt_check *check,
                                       const struct shmt_kernel *kernel,
                                       bool missing[SHMT_KERNEL_PARTS],
                                       struct shmt_error *err);
/* What the launches pass against what their kernels take: types, outputs that
 * cannot be written, dynamic shared memory.  By the compiler; `here` NULL: by
 * the text of the source, as far as that goes.  A source that does not compile
 * is SHMTUNE_COMPILE. */
struct shmt_compiler_here;
enum shmtune_status
shmt_check_launches(struct shmt_check *check,
                    const struct shmt_kernel *kernel,
                    enum shmt_kernel_part part,
                    struct shmt_compiler_here *here, struct shmt_error *err);

#endif
