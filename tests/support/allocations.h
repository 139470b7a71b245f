/* SPDX-License-Identifier: MIT */
/*
 * allocations: counted, and made to fail.  A program that is linked with
 * $(WRAP_ALLOCATIONS) makes its own calls of malloc, calloc and realloc, and
 * those of static libraries, through allocations.c.
 */
#ifndef SHMT_TESTS_ALLOCATIONS_H
#define SHMT_TESTS_ALLOCATIONS_H

#include <stdatomic.h>

/* Since the program began. */
extern atomic_size_t allocations;
/* The k-th from now on fails, and this is 0 again; 0: none does. */
extern atomic_long allocations_failing;

#endif
