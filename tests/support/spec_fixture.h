/* SPDX-License-Identifier: MIT */
/*
 * spec_fixture: a good spec of every key there is, in a folder of its own with
 * its source and a folder `extra` that it includes.
 */
#ifndef SHMT_TESTS_SPEC_FIXTURE_H
#define SHMT_TESTS_SPEC_FIXTURE_H

#include "kernel/kernel.h"
#include "tests/support/folder.h"

extern const char spec_good[];
extern char spec_path[FOLDER_ROOM];     /* spec.yaml in that folder */

/* Makes the folder, or ends the program. */
void spec_begin(void);
void spec_end(void);

/* A file of the folder. */
void spec_write(const char *name, const char *data, size_t size);
void spec_write_text(const char *name, const char *text);

/* Writes the good spec and reads it, or ends the program. */
struct shmt_kernel *spec_read_good(void);

/* The good spec with its first `from` as `to`. */
void spec_edit(const char *from, const char *to, struct shmt_text *out);

#endif
