/* SPDX-License-Identifier: MIT */
/*
 * fuzz: what a fuzz target is.  A target is one file fuzz_<name>.c that
 * defines both of these and calls FUZZ_HOLDS for what must hold of every
 * input.  It is built twice:
 *
 *   make check         with replay.c: the files in corpus/<name>/, each of
 *                      them also cut, flipped and spliced, the same on every
 *                      run; FUZZ_ROUNDS=n in the environment for longer
 *   tests/fuzz/run.sh  with clang's libFuzzer, for as long as you like
 *
 * An input that once failed becomes a file in the corpus.
 */
#ifndef SHMT_TESTS_FUZZ_H
#define SHMT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The folder below tests/fuzz/corpus. */
extern const char fuzz_name[];

/* That of tests/fake/data/toy.yaml, read once; for targets that need one. */
struct shmt_kernel *fuzz_kernel(void);

/* A folder that is removed at exit, and a file, at a path below it. */
const char *fuzz_folder(void);
void fuzz_write(const char *path, const void *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_HOLDS(condition)                                                \
    do {                                                                     \
        if (!(condition)) {                                                  \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);         \
            fflush(stdout);                                                  \
            abort();                                                         \
        }                                                                    \
    } while (0)

#endif
