/* SPDX-License-Identifier: MIT */
/*
 * array: memory for items whose number is not known before.  The owner keeps
 * a pointer, a count and the room, all 0 at first, and frees the pointer.
 * And the order of numbers.
 */
#ifndef SHMT_BASE_ARRAY_H
#define SHMT_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* See shmt_array_reserve. */
bool shmt_array_grow(void *items, size_t *room, size_t count, size_t size);

/* Makes room for `count` items of `size` bytes.  `items` is the address of
 * the pointer to them, *room how many fit.  false: there is no memory, and
 * nothing has changed. */
static inline bool shmt_array_reserve(void *items, size_t *room, size_t count,
                                      size_t size)
{
    return count <= *room || shmt_array_grow(items, room, count, size);
}

/* For qsort: numbers, ascending; none of them is NAN. */
int shmt_array_compare_doubles(const void *a, const void *b);
int shmt_array_compare_floats(const void *a, const void *b);

#endif
