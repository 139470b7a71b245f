/* SPDX-License-Identifier: MIT */
/*
 * pack: what pack.c, pack_compile.c, pack_choices.c and check_binaries.c share:
 * the binaries of what is tuned.
 */
#ifndef SHMT_COMMAND_PACK_H
#define SHMT_COMMAND_PACK_H

#include "command/command.h"
#include "command/compile.h"
#include "record/record.h"

/* A tuning of the folder, which fits its kernel. */
struct shmt_command_tuned_kernel {
    const struct shmt_kernel *kernel;
    struct shmt_tuning *tuning;
};

/* What a list of binaries, cubins/manifest, begins with; then its version. */
#define SHMT_COMMAND_MANIFEST "shmtune cubins/"
#define SHMT_COMMAND_MANIFEST_NAME "manifest"

/* -- pack_choices.c ------------------------------------------------------- */

/* What the library may choose at one problem of a kernel. */
struct shmt_command_choices {
    const struct shmt_kernel *kernel;
    char target[16];                     /* of the compiler: "sm_90a" */
    const struct shmtune_device *device; /* whose limits */
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_config *configs;                /* [count][parameter_count] */
    const char **keys;                   /* [count], of their binaries, each
                                            once */
    size_t count, room;
    bool winner;                         /* the first is one */
};

struct shmt_command_choosing {
    const struct shmt_command_tuned_kernel *tunings;
    size_t tuning_count;
    struct shmt_arena *arena;
    /* May change what it is given. */
    enum shmtune_status (*visit)(void *context,
                                 struct shmt_command_choices *choices,
                                 struct shmt_error *err);
    void *context;
};

/* The default problem, and each tuned one: of a device of the architecture
 * ("sm_90") the winner, those as good that the library falls back to, and the
 * configurations of a dispatch; in any case the default. */
enum shmtune_status
shmt_command_visit_choices(const struct shmt_command_choosing *choosing,
                           const struct shmt_kernel *kernel, const char *arch,
                           struct shmt_error *err);

/* A kernel that has binaries: none of functions of the host. */
bool shmt_command_has_binaries(const struct shmt_kernel *kernel);

/* Appends "sm_90 scale: BLOCK=64 at n=1000". */
void shmt_command_describe_choice(const struct shmt_command_choices *choices,
                                  size_t k, struct shmt_text *text);

/* -- pack_compile.c ------------------------------------------------------- */

struct shmt_command_binaries {
    const struct shmt_command_call *call;
    const char *archs;                   /* "sm_80,sm_90" */
    struct shmt_compiler_options compiler;   /* without a folder */
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
