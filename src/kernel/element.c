/* SPDX-License-Identifier: MIT */
/*
 * element: what follows from the table of element types in element.h, which
 * the reader of specs, the benches and the library ask.
 */
#include "kernel/element.h"

#include <math.h>
#include <string.h>

enum { IS_whole, IS_real };

static const struct shmt_element_type types[SHMT_ELEMENT_COUNT] = {
#define ROW(name, word, type, device, kind, low, high, ramp, digits, ...)    \
    {#word, sizeof(type), IS_##kind, {.kind = low}, {.kind = high}, ramp,    \
     digits},
    SHMT_ELEMENT_LIST(ROW)
#undef ROW
};

const struct shmt_element_type *shmt_element_type(enum shmt_element element)
{
    return &types[element];
}

size_t shmt_element_bytes(enum shmt_element element)
{
    return types[element].bytes;
}

const char *shmt_element_word(enum shmt_element element)
{
    return types[element].word;
}

bool shmt_element_is_real(enum shmt_element element)
{
    return types[element].is_real;
}

const char *shmt_element_tolerance(enum shmt_element element)
{
    switch (element) {
    case SHMT_ELEMENT_F16: return "1.0e-3";
    case SHMT_ELEMENT_BF16: return "1.6e-2";
    case SHMT_ELEMENT_F8E4M3: return "0.125";
    case SHMT_ELEMENT_F8E5M2: return "0.25";
    case SHMT_ELEMENT_F64: return "1.0e-13";
    default: return "1.0e-6";
    }
}

bool shmt_element_holds(enum shmt_element element, int64_t number)
{
    return number >= types[element].low.whole &&
           number <= types[element].high.whole;
}

static double stored(enum shmt_element element, double number)
{
    const union shmt_element_scalar scalar = shmt_element_store(
        element, (union shmt_element_number){.real = number});

    return shmt_element_real(element, &scalar);
}

/* A type without infinity stores its largest number for it. */
bool shmt_element_holds_real(enum shmt_element element, double number)
{
    return isnan(number) ||
           (isinf(stored(element, (double)INFINITY))
                ? isinf(number) || isfinite(stored(element, number))
                : fabs(number) <= types[element].high.real);
}

/* -- conversions ---------------------------------------------------------- */

SHMT_ELEMENT_SMALL_CODE(static)

#define CONVERT(word, type, ...)                                             \
    static type word##_from(double number)                                   \
    {                                                                        \
        return (type)small_from(number, (struct small_real){__VA_ARGS__});   \
    }                                                                        \
                                                                             \
    static double word##_to(type number)                                     \
    {                                                                        \
        return small_to(number, (struct small_real){__VA_ARGS__});           \
    }
SHMT_ELEMENT_SMALL_LIST(CONVERT)
#undef CONVERT

union shmt_element_scalar
shmt_element_store(enum shmt_element element, union shmt_element_number number)
{
    union shmt_element_scalar out = {0};

    switch (element) {
#define STORE(name, word, type, device, kind, low, high, ramp, digits, from, \
              to)                                                            \
    case SHMT_ELEMENT_##name: out.as_##word = from(number.kind); break;
    SHMT_ELEMENT_LIST(STORE)
#undef STORE
    default: break;
    }
    return out;
}

double shmt_element_real(enum shmt_element element, const void *data)
{
    union shmt_element_scalar scalar = {0};

    memcpy(&scalar, data, shmt_element_bytes(element));
    switch (element) {
#define LOAD(name, word, type, device, kind, low, high, ramp, digits, from,  \
             to)                                                             \
    case SHMT_ELEMENT_##name: return to(scalar.as_##word);
    SHMT_ELEMENT_LIST(LOAD)
#undef LOAD
    default: return 0;
    }
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
    union shmt_element_number number = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (value.type == SHMT_VALUE_WORD)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "\"%s\" is a word, the type is %s", value.w,
                              shmt_element_word(element));
    if (shmt_element_is_real(element)) {
        number.real = value.type == SHMT_VALUE_REAL ? value.r
                                                    : (double)value.i;
        if (!shmt_element_holds_real(element, number.real))
            status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                    "%.9g does not fit the type %s",
                                    number.real, shmt_element_word(element));
    } else {
        status = whole(element, value, &number.whole, err);
    }
    if (status == SHMTUNE_OK)
        *out = shmt_element_store(element, number);
    return status;
}
