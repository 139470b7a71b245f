/* SPDX-License-Identifier: MIT */
/*
 * export: writes a journal in the file formats of other tuners.  A run that
 * was imported is exported unchanged.  What the other format cannot hold of
 * our own runs is put into members named "shmtune", which import reads back.
 * For command/export.c and tests.
 */
#ifndef SHMT_EXCHANGE_EXPORT_H
#define SHMT_EXCHANGE_EXPORT_H

#include "record/record.h"

/* A Kernel Tuner cache file; T4 results. */
enum shmtune_status shmt_export_cache(const struct shmt_kernel *kernel,
                                      const struct shmt_journal *journal,
                                      struct shmt_text *text,
                                      struct shmt_error *err);
enum shmtune_status shmt_export_t4(const struct shmt_kernel *kernel,
                                   const struct shmt_journal *journal,
                                   struct shmt_text *text,
                                   struct shmt_error *err);
/* How many results stand in either of them. */
enum shmtune_status shmt_export_count(const struct shmt_kernel *kernel,
                                      const struct shmt_journal *journal,
                                      size_t *out, struct shmt_error *err);

#endif
