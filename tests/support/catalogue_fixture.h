/* SPDX-License-Identifier: MIT */
/*
 * catalogue_fixture: a folder of a small kernel and of tunings written for
 * it, for tests of the library.
 */
#ifndef SHMT_TESTS_CATALOGUE_FIXTURE_H
#define SHMT_TESTS_CATALOGUE_FIXTURE_H

#include "record/tuning.h"

/* One tuned problem of the kernel "toy". */
struct fixture_tuned {
    int64_t rows, cols;
    int64_t block;         /* BLOCK: 32 64 128 256 1024; at most cols */
    int64_t shared_kib;    /* SHARED_KIB, dynamic: 0 32 100 200 */
    int registers;         /* as the compiler "reported"; 0: 32 */
    double time_us;
};

/* A new folder with kernels/toy.yaml and toy.cu; ends the test program when
 * that is not possible.  The name stays good until fixture_end. */
const char *fixture_begin(void);
void fixture_end(void);   /* removes it */

/* ROOT/`name`, in memory that the next but seven calls reuse. */
const char *fixture_path(const char *name);

/* Write ROOT/`name`, folders included. */
void fixture_put(const char *name, const void *data, size_t size);
void fixture_put_text(const char *name, const char *text);
/* tests/`name`, into kernels/; ends the test program when it cannot be read. */
void fixture_copy(const char *name);
/* The first `from` in ROOT/`name` becomes `to`. */
void fixture_edit(const char *name, const char *from, const char *to);
void fixture_remove(const char *name);
/* Has the kernel begin with a launch of one block, which is given its output
 * alone, or no longer: the digest is another one then. */
void fixture_clear_first(bool clear);

/* An H100 with its limits. */
struct shmtune_device fixture_device(void);

/* The text of a tuning of toy, with the digest of the sources as they are. */
char *fixture_tuning(const struct shmtune_device *device,
                     const struct fixture_tuned *tuned, size_t count);
/* The same, written to ROOT/tunings/toy/`name`. */
void fixture_tune(const char *name, const struct shmtune_device *device,
                  const struct fixture_tuned *tuned, size_t count);

#endif
