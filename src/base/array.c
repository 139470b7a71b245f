/* SPDX-License-Identifier: MIT */
/*
 * array: see array.h.  The room doubles, so that adding one item after
 * another takes linear time.  It does not depend on the size of an item:
 * arrays that grow together may share it.
 */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 64 };

bool shmt_array_grow(void *items, size_t *room, size_t count, size_t size)
{
    size_t more = *room < LEAST ? (size_t)LEAST : 2 * *room, bytes;
    void *data;

    if (more < count)
        more = count;
    if (__builtin_mul_overflow(more, size, &bytes))
        return false;
    /* Pointers of all types look alike, but are not of one type. */
    memcpy(&data, items, sizeof data);
    data = realloc(data, bytes);
    if (data == NULL)
        return false;
    memcpy(items, &data, sizeof data);
    *room = more;
    return true;
}

int shmt_array_compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int shmt_array_compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}
