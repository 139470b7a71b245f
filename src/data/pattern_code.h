/* SPDX-License-Identifier: MIT */
/*
 * pattern_code: what an element of a fill is, as one text that is compiled here
 * (pattern.c) and, as a string, for the device (bench/source.c), so that both
 * agree bit for bit.  It is C and CUDA C++ and uses no name of a header.
 *
 * Around it both sides define what must not be fused or reordered:
 *
 *   pattern_draw(seed, index)        64 random bits, shmt_random_at
 *   pattern_mul, pattern_add, pattern_div   of doubles, each rounded
 *
 * Permutations are Feistel networks of six rounds over the least even number
 * of bits that has `count` numbers; a number that is too large goes through
 * it again (cycle walking; Black and Rogaway, CT-RSA 2002).
 */
#ifndef SHMT_DATA_PATTERN_CODE_H
#define SHMT_DATA_PATTERN_CODE_H

/* A fill for one problem; `mask` and `real` follow from the element's type. */
#define SHMT_PATTERN_STRUCT                                                  \
    struct shmt_pattern {                                                    \
        double low;                                                          \
        double high;                                                         \
        double first;                                                        \
        double second;                                                       \
        long long from;                                                      \
        long long step;                                                      \
        unsigned long long seed;                                             \
        unsigned long long count;                                            \
        unsigned long long mask;                                             \
        int element;                                                         \
        int fill;                                                            \
        int real;                                                            \
    };

/* FUNCTION: what stands in front of a function. */
#define SHMT_PATTERN_CODE(FUNCTION)                                          \
    FUNCTION double pattern_unit(unsigned long long draw)                    \
    {                                                                        \
        return (double)(draw >> 11) * 0x1p-53;                               \
    }                                                                        \
                                                                             \
    FUNCTION double pattern_place(const struct shmt_pattern *p,              \
                                  unsigned long long index)                  \
    {                                                                        \
        const double unit = pattern_unit(pattern_draw(p->seed, index));      \
                                                                             \
        return p->fill == SHMT_FILL_SORTED                                   \
                   ? pattern_div(pattern_add((double)index, unit),           \
                                 (double)p->count)                           \
                   : unit;                                                   \
    }                                                                        \
                                                                             \
    FUNCTION double pattern_normal(const struct shmt_pattern *p,             \
                                   unsigned long long index)                 \
    {                                                                        \
        double sum = -6;                                                     \
        int k;                                                               \
                                                                             \
        for (k = 0; k < 12; k++)                                             \
            sum = pattern_add(sum, pattern_unit(pattern_draw(                \
                p->seed, 12 * index + (unsigned)k)));                        \
        sum = pattern_add(p->first, pattern_mul(p->second, sum));            \
        return sum < p->low ? p->low : sum > p->high ? p->high : sum;        \
    }                                                                        \
                                                                             \
    FUNCTION unsigned long long                                              \
    pattern_permuted(const struct shmt_pattern *p, unsigned long long index) \
    {                                                                        \
        unsigned long long mask;                                             \
        unsigned long long left;                                             \
        unsigned long long right;                                            \
        unsigned long long next;                                             \
        int half = 1;                                                        \
        int k;                                                               \
                                                                             \
        while (half < 31 && 1ull << 2 * half < p->count)                     \
            half++;                                                          \
        mask = (1ull << half) - 1;                                           \
        do {                                                                 \
            left = index >> half;                                            \
            right = index & mask;                                            \
            for (k = 0; k < 6; k++) {                                        \
                next = pattern_draw(p->seed + (unsigned)k, right);           \
                next = (left ^ next) & mask;                                 \
                left = right;                                                \
                right = next;                                                \
            }                                                                \
            index = left << half | right;                                    \
        } while (index >= p->count);                                         \
        return index;                                                        \
    }                                                                        \
                                                                             \
    FUNCTION long long pattern_row(const struct shmt_pattern *p,             \
                                   unsigned long long index)                 \
    {                                                                        \
        const double at = (double)index;                                     \
        const double unit = pattern_unit(pattern_draw(p->seed, index));      \
        const double low = pattern_mul(at - 0.5, p->first);                  \
        const double high = pattern_mul(at + 0.5, p->first);                 \
        double row = pattern_mul(at, p->first);                              \
                                                                             \
        if (index == 0 || index + 1 >= p->count)                             \
            return (long long)row;                                           \
        row = pattern_add(row, pattern_mul(p->second, unit - 0.5));          \
        return (long long)(row < low ? low : row > high ? high : row);       \
    }                                                                        \
                                                                             \
    FUNCTION double pattern_real(const struct shmt_pattern *p,               \
                                 unsigned long long index)                   \
    {                                                                        \
        switch (p->fill) {                                                   \
        case SHMT_FILL_ZERO: return 0;                                       \
        case SHMT_FILL_RAMP: return (double)(index & p->mask);               \
        case SHMT_FILL_CONSTANT: return p->first;                            \
        case SHMT_FILL_STEPS:                                                \
            return pattern_add(p->first,                                     \
                               pattern_mul((double)index, p->second));       \
        case SHMT_FILL_NORMAL: return pattern_normal(p, index);              \
        case SHMT_FILL_PERMUTATION:                                          \
            return (double)pattern_permuted(p, index);                       \
        default:                                                             \
            return pattern_add(p->low, pattern_mul(                          \
                p->high - p->low, pattern_place(p, index)));                 \
        }                                                                    \
    }

#define SHMT_PATTERN_CODE_WHOLE(FUNCTION)                                    \
    FUNCTION long long pattern_whole(const struct shmt_pattern *p,           \
                                     unsigned long long index)               \
    {                                                                        \
        const long long low = (long long)p->low;                             \
        const long long high = (long long)p->high;                           \
        const unsigned long long span = (unsigned long long)(high - low);    \
        unsigned long long at;                                               \
        double real;                                                         \
                                                                             \
        switch (p->fill) {                                                   \
        case SHMT_FILL_ZERO: return 0;                                       \
        case SHMT_FILL_RAMP: return (long long)(index & p->mask);            \
        case SHMT_FILL_CONSTANT: return p->from;                             \
        case SHMT_FILL_STEPS: return p->from + (long long)index * p->step;   \
        case SHMT_FILL_NORMAL:                                               \
            real = pattern_add(pattern_normal(p, index), 0.5);               \
            at = (unsigned long long)(long long)floor(real);                 \
            return (long long)at < high ? (long long)at : high - 1;          \
        case SHMT_FILL_SORTED:                                               \
            real = pattern_mul((double)span, pattern_place(p, index));       \
            at = (unsigned long long)real;                                   \
            return low + (long long)(at < span ? at : span - 1);             \
        case SHMT_FILL_PERMUTATION:                                          \
            return (long long)pattern_permuted(p, index);                    \
        case SHMT_FILL_ROW_POINTERS: return pattern_row(p, index);           \
        default:                                                             \
            at = span > 0 ? pattern_draw(p->seed, index) % span : 0;         \
            return low + (long long)at;                                      \
        }                                                                    \
    }

#endif
