/* SPDX-License-Identifier: MIT */
/*
 * allocations: replaces malloc and its family by versions that count and can
 * fail at the k-th call.
 */
#include "tests/support/allocations.h"

#include <stdbool.h>
#include <stddef.h>

atomic_size_t allocations;
atomic_long allocations_failing;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *data, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *data, size_t size);

static bool count_one(void)
{
    allocations++;
    return allocations_failing == 0 || --allocations_failing > 0;
}

void *__wrap_malloc(size_t size)
{
    return count_one() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return count_one() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *data, size_t size)
{
    return count_one() ? __real_realloc(data, size) : NULL;
}
