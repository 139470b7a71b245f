/* SPDX-License-Identifier: MIT */
/*
 * recording: finds and writes recordings: compressed journals of whole runs,
 * on which the tuner can run without the device.
 *
 * Called by commands; target/replay.c is the target made of them.
 */
#ifndef SHMT_RECORD_RECORDING_H
#define SHMT_RECORD_RECORDING_H

#include "record/journal.h"
#include "record/ledger.h"

/* ROOT/tunings/KERNEL/ under each of these, in order. */
struct shmt_recording_places {
    const char *const *roots;
    size_t count;
};

/* `word` is a file (it has a '/' or ends in .journal or .gz), or a part of the
 * names of recordings ("h100"), whole words of it in upper or lower case.  Then
 * the result is every match in the first folder that has one, sorted.
 * SHMTUNE_NO_DEVICE when nothing matches; the message names the recordings
 * there are. */
enum shmtune_status
shmt_recording_find(struct shmt_arena *arena,
                    const struct shmt_recording_places *places,
                    const char *kernel, const char *word,
                    const char *const **paths, size_t *count,
                    struct shmt_error *err);
bool shmt_recording_is_file(const char *word);

/* "4096x1024": a problem within a file's name. */
void shmt_recording_problem_slug(const struct shmt_kernel *kernel,
                                 const int64_t *problem,
                                 struct shmt_text *text);

/* Writes all results as a compressed journal, in the order of the space, so
 * that the same results always give the same file. */
enum shmtune_status
shmt_recording_write(const char *path, const struct shmt_kernel *kernel,
                     const struct shmt_journal_header *header,
                     const struct shmt_ledger *ledger,
                     const struct shmt_space *space, struct shmt_error *err);

/* The text of a journal, compressed, to a file. */
enum shmtune_status shmt_recording_store(const char *path,
                                         const struct shmt_text *text,
                                         struct shmt_error *err);

#endif
