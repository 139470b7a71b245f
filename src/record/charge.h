/* SPDX-License-Identifier: MIT */
/*
 * charge: what compiling took, for every result of a journal.  Configurations
 * that differ in parameters of the launch share a binary, and the journal
 * says of all but one of them that compiling took no time.  Which one is an
 * accident of its run: here each is charged what the binary took.  For
 * score/load.c and the exporters.
 */
#ifndef SHMT_RECORD_CHARGE_H
#define SHMT_RECORD_CHARGE_H

#include "record/journal.h"

/* charge[k], milliseconds, for each record of the journal; < 0 where nothing
 * was compiled. */
enum shmtune_status shmt_charge(const struct shmt_kernel *kernel,
                                const struct shmt_journal *journal,
                                double *charge, struct shmt_error *err);

#endif
