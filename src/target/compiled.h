/* SPDX-License-Identifier: MIT */
/*
 * compiled: what the targets of a pool have compiled by one command.  A binary
 * is compiled once for all of them: who asks for one that another target has
 * asked for waits for that.
 *
 * Called by target/live.c and target/shared.c alone.
 */
#ifndef SHMT_TARGET_COMPILED_H
#define SHMT_TARGET_COMPILED_H

#include "target/binaries.h"
#include "target/pool.h"

/* The result of compiling a binary, and the requests that wait for it. */
struct shmt_target_compiled_one {
    bool known, outstanding;
    struct shmt_result result;
    struct shmt_target_queue waiting;
};

struct shmt_target_compiled {
    struct shmt_target_compiled *next;
    char command[SHMT_DIGEST_TEXT];   /* that it is compiled by */
    struct shmt_pool_command workers;  /* which run it */
    struct shmt_target_binaries binaries;
    struct shmt_target_compiled_one *list;   /* by number of the binary */
    size_t count, room;
};

void shmt_target_compiled_free(struct shmt_target_compiled *compiled);

/* The number of the binary of a configuration; SIZE_MAX when there is no
 * memory. */
size_t shmt_target_compiled_number(struct shmt_target_compiled *compiled,
                                   const struct shmt_kernel *kernel,
                                   const int64_t *problem,
                                   const shmt_config *config);
/* Whether a configuration was compiled, and without a failure. */
bool shmt_target_compiled_has(struct shmt_target_compiled *compiled,
                              const struct shmt_kernel *kernel,
                              const int64_t *problem,
                              const shmt_config *config);
/* Its binary will not come of that job: nor do others of the same owner wait
 * for it.  Returns one of another owner that does, and has to be queued in its
 * place; NULL: there is none. */
struct shmt_target_job *
shmt_target_compiled_forget(struct shmt_target_compiled *compiled,
                            const struct shmt_target_job *job);
/* Frees the requests of one owner that wait. */
void shmt_target_compiled_withdraw(struct shmt_target_compiled *compiled,
                                   const void *owner);

#endif
