/* SPDX-License-Identifier: MIT */
/*
 * element: numbers as the device holds them.
 */
#ifndef SHMT_GPU_ELEMENT_H
#define SHMT_GPU_ELEMENT_H

#include "kernel/kernel.h"

/* Room for any element. */
union shmt_element_scalar {
    uint16_t h;
    float f;
    double d;
    uint8_t b;
    int32_t i;
    uint32_t u;
    int64_t l;
};

/* The value as an element.  SHMTUNE_INVALID_ARGUMENT when it does not fit an
 * integer type, is not whole there, or is a word. */
enum shmtune_status shmt_element_convert(enum shmt_element element,
                                         struct shmt_value value,
                                         union shmt_element_scalar *out,
                                         struct shmt_error *err);

/* One element in memory as a double (i64 rounds beyond 2^53). */
double shmt_element_real(enum shmt_element element, const void *data);

/* IEEE half precision, round to nearest even. */
uint16_t shmt_element_half(double value);
double shmt_element_from_half(uint16_t bits);

#endif
