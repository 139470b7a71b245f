/* SPDX-License-Identifier: MIT */
/*
 * starve: runs work with each of its allocations failing in turn, which is to
 * be told as no memory and as nothing else.
 */
#ifndef SHMT_TESTS_STARVE_H
#define SHMT_TESTS_STARVE_H

#include "base/status.h"
#include "tests/support/allocations.h"
#include "tests/support/check.h"

/* `err` is where the work tells.  It may find another way: then it succeeds,
 * and rightly. */
static inline void starve(enum shmtune_status (*work)(void),
                          struct shmt_error *err)
{
    enum shmtune_status status;
    long n = 0;

    for (;; n++) {
        *err = (struct shmt_error){0};
        allocations_failing = n + 1;
        status = work();
        if (allocations_failing != 0)
            break;          /* it did not come to that */
        CHECK(status == SHMTUNE_NO_MEMORY || status == SHMTUNE_OK);
        if (status == SHMTUNE_NO_MEMORY && err->text[0] != '\0')
            CHECK_HAS(err->text, "memory");
        if (check_failed) {
            printf("# allocation %ld: %s\n", n, err->text);
            break;
        }
    }
    allocations_failing = 0;
    printf("# %ld allocations\n", n);
    CHECK(n > 0);
    CHECK_INT(work(), SHMTUNE_OK);
}

#endif
