/* SPDX-License-Identifier: MIT */
/*
 * element: converts values of a spec to the representation on the device and
 * back, among them IEEE half precision.
 */
#include "gpu/element.h"

#include <math.h>
#include <string.h>

/* Half has 10 bits of fraction and exponents from -14 to 15; below that
 * multiples of 2^-24. */
uint16_t shmt_element_half(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000u : 0u;
    double size = fabs(value), units;
    int exponent;

    if (isnan(value))
        return (uint16_t)(sign | 0x7e00u);
    if (size >= 65520.0)
        return (uint16_t)(sign | 0x7c00u);
    if (size < ldexp(1.0, -14))
        return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(size, 24)));
    frexp(size, &exponent);
    exponent--;
    /* 1024..2048; 2048 carries into the exponent by itself */
    units = nearbyint(ldexp(size, 10 - exponent));
    return (uint16_t)(sign |
                      (uint16_t)(((exponent + 15) << 10) + (int)units - 1024));
}

double shmt_element_from_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    double size;

    if (exponent == 31)
        size = fraction == 0 ? (double)INFINITY : (double)NAN;
    else if (exponent == 0)
        size = ldexp(fraction, -24);
    else
        size = ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -size : size;
}

static enum shmtune_status whole(enum shmt_element element,
                                 struct shmt_value value, int64_t *out,
                                 struct shmt_error *err)
{
    int64_t number;

    if (value.type == SHMT_VALUE_REAL) {
        if (!(value.r > -9.2e18 && value.r < 9.2e18) ||
            value.r != floor(value.r))
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "%.17g is not a whole number, the type is "
                                  "%s", value.r, shmt_element_word(element));
        number = (int64_t)value.r;
    } else {
        number = value.i;
    }
    if (!shmt_element_holds(element, number))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%lld does not fit the type %s",
                              (long long)number, shmt_element_word(element));
    *out = number;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_element_convert(enum shmt_element element,
                                         struct shmt_value value,
                                         union shmt_element_scalar *out,
                                         struct shmt_error *err)
{
    union shmt_element_scalar scalar = {0};
    enum shmtune_status status = SHMTUNE_OK;
    int64_t number = 0;
    double real;

    if (value.type == SHMT_VALUE_WORD)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "\"%s\" is a word, the type is %s", value.w,
                              shmt_element_word(element));
    real = value.type == SHMT_VALUE_REAL ? value.r : (double)value.i;
    if (shmt_element_is_real(element) &&
        !shmt_element_holds_real(element, real))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%.9g does not fit the type %s", real,
                              shmt_element_word(element));
    switch (element) {
    case SHMT_ELEMENT_F16: scalar.h = shmt_element_half(real); break;
    case SHMT_ELEMENT_F32: scalar.f = (float)real; break;
    case SHMT_ELEMENT_F64: scalar.d = real; break;
    default:
        status = whole(element, value, &number, err);
        if (element == SHMT_ELEMENT_U8)
            scalar.b = (uint8_t)number;
        else if (element == SHMT_ELEMENT_I32)
            scalar.i = (int32_t)number;
        else if (element == SHMT_ELEMENT_U32)
            scalar.u = (uint32_t)number;
        else
            scalar.l = number;
    }
    if (status == SHMTUNE_OK)
        *out = scalar;
    return status;
}

double shmt_element_real(enum shmt_element element, const void *data)
{
    union shmt_element_scalar scalar = {0};

    memcpy(&scalar, data, shmt_element_bytes(element));
    switch (element) {
    case SHMT_ELEMENT_F16: return shmt_element_from_half(scalar.h);
    case SHMT_ELEMENT_F32: return (double)scalar.f;
    case SHMT_ELEMENT_F64: return scalar.d;
    case SHMT_ELEMENT_U8: return scalar.b;
    case SHMT_ELEMENT_I32: return scalar.i;
    case SHMT_ELEMENT_U32: return scalar.u;
    default: return (double)scalar.l;
    }
}
