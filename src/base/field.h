/* SPDX-License-Identifier: MIT */
/*
 * field: a member that is an int or an int64_t, by its address and its size,
 * for tables of the members of a struct.
 */
#ifndef SHMT_BASE_FIELD_H
#define SHMT_BASE_FIELD_H

#include <stdint.h>
#include <string.h>

static inline int64_t shmt_field_get(const void *field, size_t size)
{
    int64_t wide;
    int narrow;

    if (size == sizeof wide) {
        memcpy(&wide, field, sizeof wide);
        return wide;
    }
    memcpy(&narrow, field, sizeof narrow);
    return narrow;
}

static inline void shmt_field_set(void *field, size_t size, int64_t value)
{
    const int narrow = (int)value;

    if (size == sizeof value)
        memcpy(field, &value, sizeof value);
    else
        memcpy(field, &narrow, sizeof narrow);
}

#endif
