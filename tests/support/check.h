/* SPDX-License-Identifier: MIT */
/*
 * check: what every C test is written with.  A test program has functions
 * `static void name(void)` run through CHECK_RUN in main; each CHECK that
 * does not hold prints its place and both sides and fails the function.  The
 * output is TAP, read by Automake's driver.
 */
#ifndef SHMT_TESTS_CHECK_H
#define SHMT_TESTS_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_tests, check_failures, check_failed;

static inline void check_fail(const char *file, int line, const char *what)
{
    printf("# %s:%d: %s\n", file, line, what);
    check_failed = 1;
}

#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition))                                                    \
            check_fail(__FILE__, __LINE__, #condition);                      \
    } while (0)

#define CHECK_INT(actual, expected)                                          \
    do {                                                                     \
        const long long a_ = (long long)(actual);                            \
        const long long e_ = (long long)(expected);                          \
        if (a_ != e_) {                                                      \
            check_fail(__FILE__, __LINE__, #actual " == " #expected);        \
            printf("#   got %lld, expected %lld\n", a_, e_);                 \
        }                                                                    \
    } while (0)

#define CHECK_TEXT(actual, expected)                                         \
    do {                                                                     \
        const char *const a_ = (actual);                                     \
        const char *const e_ = (expected);                                   \
        if (a_ == NULL || strcmp(a_, e_) != 0) {                             \
            check_fail(__FILE__, __LINE__, #actual " == " #expected);        \
            printf("#   got \"%s\", expected \"%s\"\n",                      \
                   a_ == NULL ? "(null)" : a_, e_);                          \
        }                                                                    \
    } while (0)

/* `part` occurs in `whole`. */
#define CHECK_HAS(whole, part)                                               \
    do {                                                                     \
        const char *const w_ = (whole);                                      \
        const char *const p_ = (part);                                       \
        if (w_ == NULL || strstr(w_, p_) == NULL) {                          \
            check_fail(__FILE__, __LINE__, #whole " has " #part);            \
            printf("#   got \"%s\", expected to find \"%s\"\n",              \
                   w_ == NULL ? "(null)" : w_, p_);                          \
        }                                                                    \
    } while (0)

#define CHECK_RUN(test)                                                      \
    do {                                                                     \
        check_failed = 0;                                                    \
        test();                                                              \
        check_tests++;                                                       \
        check_failures += check_failed;                                      \
        printf("%sok %d - %s\n", check_failed ? "not " : "", check_tests,    \
               #test);                                                       \
        fflush(stdout);                                                      \
    } while (0)

#define CHECK_SKIP(test, reason)                                             \
    do {                                                                     \
        check_tests++;                                                       \
        printf("ok %d - %s # SKIP %s\n", check_tests, #test, reason);        \
        fflush(stdout);                                                      \
    } while (0)

/* At the end of main. */
#define CHECK_END()                                                          \
    (printf("1..%d\n", check_tests),                                         \
     check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE)

#endif
