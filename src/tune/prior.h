/* SPDX-License-Identifier: MIT */
/*
 * prior: what other runs of a kernel found, for a search that begins with it
 * (search/search.h): tunings, journals and recordings, of other devices, other
 * problems, other tuners.
 *
 * Called by commands, which pass it to a run or to a score.
 */
#ifndef SHMT_TUNE_PRIOR_H
#define SHMT_TUNE_PRIOR_H

#include "kernel/kernel.h"
#include "record/record.h"
#include "search/search.h"

/* One file. */
struct shmt_tune_source {
    const char *path;
    char device[256];
    bool winners;            /* a tuning: it says what was best, and little of
                                the rest */
    bool other_sources;      /* the kernel's sources were others */
    size_t count;            /* configurations that are taken */
    size_t left_out;         /* that the kernel does not have now, */
    struct shmt_error why;   /* and what the first of them has */
};

struct shmt_tune_prior;

enum shmtune_status shmt_tune_prior_new(const struct shmt_kernel *kernel,
                                        struct shmt_tune_prior **out,
                                        struct shmt_error *err);
void shmt_tune_prior_free(struct shmt_tune_prior *prior);

/* Adds a tuning, a journal or a recording; of a folder, each that is one of
 * this kernel and has a result, there, or in a folder called like it there or
 * in its folder tunings.
 * SHMTUNE_INVALID_FILE for a file of another kernel, for one of which no
 * configuration is left, and for a folder without any.  What cannot be read is
 * a failure in a folder too.  Where it is given for `several` kernels, it may
 * be another's: then nothing is added. */
enum shmtune_status shmt_tune_prior_add(struct shmt_tune_prior *prior,
                                        const char *path, bool several,
                                        struct shmt_error *err);

size_t shmt_tune_prior_sources(const struct shmt_tune_prior *prior);
const struct shmt_tune_source *
shmt_tune_prior_source(const struct shmt_tune_prior *prior, size_t k);

/* "NAME (DEVICE), ..." of the sources, "and K more" where there is no room, and
 * the SHA-256 of all that they say. */
enum shmtune_status
shmt_tune_prior_describe(const struct shmt_tune_prior *prior,
                         char names[SHMT_JOURNAL_FROM],
                         char digest[SHMT_DIGEST_TEXT],
                         struct shmt_error *err);

/* For a search of this problem: of a tuning, what won nearer problems comes
 * first.  Valid until the next call; NULL when there is no source. */
const struct shmt_search_prior *
shmt_tune_prior_of(struct shmt_tune_prior *prior, const int64_t *problem);

#endif
