/* SPDX-License-Identifier: MIT */
/*
 * tolerance: reads the tolerance of an output, and says what follows from it:
 * how many elements may be wrong, how it is written, and which one would take
 * more.  Called by argument.c, by bench/, which compares, and by tune/, which
 * advises.
 */
#include "kernel/read.h"

#include <math.h>
#include <string.h>

/* The keys that are numbers from 0. */
static const struct key {
    const char *word;
    size_t offset;
} keys[] = {
    {"absolute", offsetof(struct shmt_tolerance, absolute)},
    {"relative", offsetof(struct shmt_tolerance, relative)},
    {"maximum", offsetof(struct shmt_tolerance, maximum)},
    {"norm", offsetof(struct shmt_tolerance, norm)},
    {"mismatch_share", offsetof(struct shmt_tolerance, mismatch_share)},
};
enum { KEYS = sizeof keys / sizeof keys[0], BOUNDS = KEYS - 1 };

/* A tolerance of more is not one. */
static const int64_t most_ulps = INT64_C(1) << 62;

static double *number_of(struct shmt_tolerance *tolerance,
                         const struct key *key)
{
    return (double *)(void *)((char *)tolerance + key->offset);
}

/* -- reading -------------------------------------------------------------- */

static enum shmtune_status read_number(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *node,
                                       double *out)
{
    const enum shmtune_status status =
        shmt_yaml_real(node, out, reader->err);

    if (status == SHMTUNE_OK && *out < 0)
        return shmt_yaml_refuse(node, reader->err,
                                "a tolerance of %g; 0 or more is expected",
                                *out);
    return status;
}

static enum shmtune_status read_count(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *node,
                                      uint64_t *out)
{
    int64_t count = 0;
    const enum shmtune_status status =
        shmt_yaml_int(node, 0, most_ulps, &count, reader->err);

    *out = (uint64_t)count;
    return status;
}

static enum shmtune_status check(struct shmt_kernel_reader *reader,
                                 const struct shmt_yaml *node,
                                 const struct shmt_argument *argument)
{
    const struct shmt_yaml *ulp = shmt_yaml_get(node, "ulp");
    const struct shmt_yaml *share = shmt_yaml_get(node, "mismatch_share");

    if (ulp != NULL && !shmt_element_is_real(argument->element))
        return shmt_yaml_refuse(ulp, reader->err,
                                "ulp of %s, which is no real type; write "
                                "absolute",
                                shmt_element_word(argument->element));
    if (argument->tolerance.mismatch_share >= 1)
        return shmt_yaml_refuse(share, reader->err,
                                "a mismatch_share of %g; less than 1 is "
                                "expected, as in 1.0e-6",
                                argument->tolerance.mismatch_share);
    if (share != NULL && shmt_yaml_get(node, "mismatches") != NULL)
        return shmt_yaml_refuse(share, reader->err,
                                "mismatch_share beside mismatches; one of "
                                "the two is expected");
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_tolerance_read(struct shmt_kernel_reader *reader,
                           const struct shmt_yaml *mapping,
                           struct shmt_argument *argument)
{
    static const char *const words[] = {
        "absolute", "relative", "maximum", "norm", "ulp", "mismatches",
        "mismatch_share", NULL};
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "tolerance");
    struct shmt_tolerance *tolerance = &argument->tolerance;
    const struct shmt_yaml *number;
    enum shmtune_status status;

    tolerance->place = (node != NULL ? node : mapping)->place;
    tolerance->stated = node != NULL;
    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_expect(node, SHMT_YAML_MAPPING,
                              "tolerance, {absolute: 0, relative: 1.0e-6}",
                              reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, words, reader->err);
    for (size_t k = 0; status == SHMTUNE_OK && k < KEYS; k++) {
        number = shmt_yaml_get(node, keys[k].word);
        if (number != NULL)
            status = read_number(reader, number,
                                 number_of(tolerance, &keys[k]));
    }
    number = status == SHMTUNE_OK ? shmt_yaml_get(node, "ulp") : NULL;
    if (number != NULL)
        status = read_count(reader, number, &tolerance->ulp);
    number = status == SHMTUNE_OK ? shmt_yaml_get(node, "mismatches") : NULL;
    if (number != NULL)
        status = read_count(reader, number, &tolerance->mismatches);
    return status == SHMTUNE_OK ? check(reader, node, argument) : status;
}

/* -- what follows --------------------------------------------------------- */

bool shmt_tolerance_is_exact(const struct shmt_tolerance *tolerance)
{
    struct shmt_tolerance copy = *tolerance;
    bool exact = copy.ulp == 0;

    for (size_t k = 0; k < BOUNDS; k++)
        exact = exact && !(*number_of(&copy, &keys[k]) > 0);
    return exact;
}

uint64_t shmt_tolerance_allowed(const struct shmt_tolerance *tolerance,
                                uint64_t count)
{
    return tolerance->mismatch_share > 0
               ? (uint64_t)(tolerance->mismatch_share * (double)count)
               : tolerance->mismatches;
}

void shmt_tolerance_add(const struct shmt_tolerance *tolerance,
                        struct shmt_text *text)
{
    enum { DIGITS = 6 };
    struct shmt_tolerance copy = *tolerance;
    const char *between = "";

    shmt_text_add(text, "{");
    for (size_t k = 0; k < KEYS; k++) {
        const double number = *number_of(&copy, &keys[k]);

        if (!(number > 0))
            continue;
        shmt_text_addf(text, "%s%s: ", between, keys[k].word);
        shmt_yaml_add_real(text, number, DIGITS);
        between = ", ";
    }
    if (copy.ulp > 0) {
        shmt_text_addf(text, "%sulp: %llu", between,
                       (unsigned long long)copy.ulp);
        between = ", ";
    }
    if (copy.mismatches > 0)
        shmt_text_addf(text, "%smismatches: %llu", between,
                       (unsigned long long)copy.mismatches);
    shmt_text_add(text, "}");
}

/* The next number of two digits, as nobody writes more. */
static double round_up(double number)
{
    const double unit = pow(10, floor(log10(number)) - 1);

    return ceil(number / unit) * unit;
}

struct shmt_tolerance
shmt_tolerance_raise(const struct shmt_tolerance *tolerance,
                     enum shmt_element element, double factor)
{
    /* A factor has been rounded to six digits. */
    const double more = factor * (1 + 1e-5);
    struct shmt_tolerance out = *tolerance;

    if (!shmt_tolerance_is_exact(tolerance)) {
        for (size_t k = 0; k < BOUNDS; k++) {
            double *const number = number_of(&out, &keys[k]);

            if (*number > 0)
                *number = round_up(*number * more);
        }
        if (out.ulp > 0)
            out.ulp = (uint64_t)fmin(ceil((double)out.ulp * factor),
                                     (double)most_ulps);
    } else if (shmt_element_is_real(element)) {
        out.relative = round_up(more);
    } else {
        out.absolute = ceil(factor);
    }
    return out;
}
