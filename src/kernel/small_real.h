/* SPDX-License-Identifier: MIT */
/*
 * small_real: reals of 16 and 8 bits, which C has no types for, and their
 * conversions: by the rules of the hardware's cvt.rn (PTX ISA 9.7.9).  The
 * same text is compiled here (element.c) and, as a string, for the device
 * (bench/source.c), so that both agree bit for bit.  It is C and CUDA C++,
 * and uses no name of a header.
 */
#ifndef SHMT_KERNEL_SMALL_REAL_H
#define SHMT_KERNEL_SMALL_REAL_H

/* X(word, unsigned type that holds it, bits of the exponent, bits of the
 *   fraction, the largest number, what is larger, NaN)
 *
 * Larger numbers become infinity, or, as 8 bits are converted with .satfinite,
 * the largest.  f8e4m3 has no infinity: its exponent of ones has numbers. */
#define SHMT_ELEMENT_SMALL_LIST(X)                                           \
    X(f16, unsigned short, 5, 10, 0x7bff, 0x7c00, 0x7fff)                    \
    X(bf16, unsigned short, 8, 7, 0x7f7f, 0x7f80, 0x7fff)                    \
    X(f8e4m3, unsigned char, 4, 3, 0x7e, 0x7e, 0x7f)                         \
    X(f8e5m2, unsigned char, 5, 2, 0x7b, 0x7b, 0x7f)

/* FUNCTION: what stands in front of a function.
 *
 * A double is read as bits.  Its fraction is cut behind the last bit that the
 * small type has at this exponent, and rounded to the nearest, in the middle
 * to even; a carry goes into the exponent by itself.  Below the least exponent
 * the small type has multiples of one number. */
#define SHMT_ELEMENT_SMALL_CODE(FUNCTION)                                    \
    struct small_real {                                                      \
        int exponent;                                                        \
        int fraction;                                                        \
        unsigned most;                                                       \
        unsigned more;                                                       \
        unsigned nan;                                                        \
    };                                                                       \
    union small_bits {                                                       \
        double real;                                                         \
        unsigned long long bits;                                             \
    };                                                                       \
                                                                             \
    FUNCTION unsigned small_from(double number, struct small_real type)      \
    {                                                                        \
        const int least = 2 - (1 << (type.exponent - 1));                    \
        union small_bits from;                                               \
        unsigned long long fraction;                                         \
        unsigned long long rest;                                             \
        unsigned sign;                                                       \
        unsigned size;                                                       \
        int exponent;                                                        \
        int cut;                                                             \
                                                                             \
        from.real = number;                                                  \
        sign = (unsigned)(from.bits >> 63)                                   \
               << (type.exponent + type.fraction);                           \
        exponent = (int)(from.bits >> 52 & 0x7ff) - 1023;                    \
        fraction = from.bits & 0xfffffffffffffull;                           \
        if (exponent == 1024)                                                \
            return fraction != 0 ? type.nan : sign | type.more;              \
        fraction |= 1ull << 52;                                              \
        cut = 52 - type.fraction;                                            \
        if (exponent < least)                                                \
            cut += least - exponent;                                         \
        if (cut > 54)                                                        \
            return sign;                                                     \
        size = (unsigned)(fraction >> cut);                                  \
        rest = fraction << (64 - cut);                                       \
        if (rest > 1ull << 63 || (rest == 1ull << 63 && (size & 1) != 0))    \
            size++;                                                          \
        if (exponent > least) {                                              \
            if (exponent - least >= 1 << type.exponent)                      \
                return sign | type.more;                                     \
            size += (unsigned)(exponent - least) << type.fraction;           \
        }                                                                    \
        return sign | (size > type.most ? type.more : size);                 \
    }                                                                        \
                                                                             \
    FUNCTION double small_to(unsigned number, struct small_real type)        \
    {                                                                        \
        const unsigned half = 1u << (type.exponent + type.fraction);         \
        const unsigned one = 1u << type.fraction;                            \
        const unsigned size = number & (half - 1);                           \
        const int least = 2 - (1 << (type.exponent - 1));                    \
        unsigned exponent = size >> type.fraction;                           \
        unsigned fraction = size & (one - 1);                                \
        union small_bits to;                                                 \
        union small_bits unit;                                               \
                                                                             \
        if (size > type.most) {                                              \
            to.bits = 0x7ffull << 52;                                        \
            if (fraction != 0)                                               \
                to.bits |= 1ull << 51;                                       \
        } else {                                                             \
            if (exponent > 0) {                                              \
                fraction += one;                                             \
                exponent--;                                                  \
            }                                                                \
            unit.bits = (unsigned long long)(1023 + least - type.fraction +  \
                                             (int)exponent) << 52;           \
            to.real = (double)fraction * unit.real;                          \
        }                                                                    \
        if ((number & half) != 0)                                            \
            to.bits |= 1ull << 63;                                           \
        return to.real;                                                      \
    }

#endif
