/* SPDX-License-Identifier: MIT */
/* tuning_fixture: a good tuning, of tests/fuzz/corpus, as it is or changed. */
#ifndef SHMT_TESTS_TUNING_FIXTURE_H
#define SHMT_TESTS_TUNING_FIXTURE_H

#include "record/tuning.h"

extern const char *good;
extern size_t good_size;

/* Of the last text. */
extern struct shmt_error err;

/* Reads the good tuning, or ends the program. */
void tuning_begin(void);
void tuning_end(void);

/* NULL when it is refused. */
struct shmt_tuning *parse(const char *text);

/* `good` with the first `from` in it replaced; good until tuning_end. */
const char *changed(const char *from, const char *to);

#endif
