/* SPDX-License-Identifier: MIT */
/*
 * import_fixture: a text taken for a file of another tuner, and what is made
 * of it in a folder of our own.
 */
#ifndef SHMT_TESTS_IMPORT_FIXTURE_H
#define SHMT_TESTS_IMPORT_FIXTURE_H

#include "exchange/exchange.h"

/* Of the last text. */
extern struct shmt_error err;

/* Makes the folder, or ends the program. */
void import_begin(void);
void import_end(void);

/* Of a file called f.json; NULL when it is refused. */
struct shmt_import *parse(const char *text);

/* The spec of an import, and its journal, written and read back; NULL when
 * that is refused. */
struct shmt_kernel *kernel_of(const struct shmt_import *import);
struct shmt_journal *journal_of(const struct shmt_import *import,
                                const struct shmt_kernel *kernel);

/* `head`, then `piece` so many times; to be freed. */
char *repeated(const char *head, const char *piece, size_t count);

#endif
