/* SPDX-License-Identifier: MIT */
/*
 * tuning_order: an empty tuning, how its entries compare, and how settings are
 * read and written: what tuning.c, tuning_read.c, tuning_front.c and those of
 * dispatch share.
 */
#ifndef SHMT_RECORD_TUNING_ORDER_H
#define SHMT_RECORD_TUNING_ORDER_H

#include "record/tuning.h"

/* An empty tuning in the caller's arena; NULL when there is no memory. */
struct shmt_tuning *shmt_tuning_new_in(struct shmt_arena *arena);

/* Below 0, 0, above 0 as with strcmp; sizes of the same names. */
int shmt_tuning_compare(const struct shmt_tuned *a, const struct shmt_tuned *b);

/* The same names in the same order. */
bool shmt_tuning_same_names(const struct shmt_setting *a, size_t a_count,
                            const struct shmt_setting *b, size_t b_count);

struct shmt_yaml;

/* The settings `like` with those of `mapping` in place of its own; a name that
 * is not among them is refused. */
enum shmtune_status shmt_tuning_read_like(struct shmt_arena *arena,
                                          const struct shmt_yaml *mapping,
                                          const struct shmt_setting *like,
                                          size_t count,
                                          const struct shmt_setting **out,
                                          struct shmt_error *err);

/* A line with those that are not as in `than`, which may be NULL. */
void shmt_tuning_add_settings(struct shmt_text *text,
                              const struct shmt_setting *settings,
                              size_t count, const struct shmt_setting *than);

/* A deep copy; NULL when there is no memory. */
struct shmt_setting *
shmt_tuning_copy_settings(struct shmt_arena *arena,
                          const struct shmt_setting *settings, size_t count);

/* -- tuning_front.c -------------------------------------------------------- */

/* The key `pareto` of an entry; nothing where there is no such set. */
void shmt_tuning_add_front(struct shmt_text *text,
                           const struct shmt_tuned *tuned);
/* What it points to becomes its own, in `arena`; false: no memory. */
bool shmt_tuning_copy_front(struct shmt_arena *arena, size_t setting_count,
                            struct shmt_tuned_front *front);
/* Into tuned->pareto; the configuration of the entry has been read. */
enum shmtune_status shmt_tuning_read_front(struct shmt_arena *arena,
                                           const struct shmt_yaml *node,
                                           struct shmt_tuned *tuned,
                                           struct shmt_error *err);

#endif
