/* SPDX-License-Identifier: MIT */
/* space_brute: every configuration of a small space, tried. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/space_fixture.h"

struct brute {
    uint64_t count;
    bool fault;            /* a constraint without a value, none false */
    shmt_config *valid;    /* [count * parameters] */
    size_t room;
};

static bool advance(const struct made *made, shmt_config *config)
{
    for (size_t p = made->definition.parameter_count; p-- > 0;) {
        if (++config[p] < made->definition.parameters[p].count)
            return true;
        config[p] = 0;
    }
    return false;
}

static void try_all(const struct made *made, struct brute *brute)
{
    const size_t width = made->definition.parameter_count;
    shmt_config config[SHMT_SPACE_PARAMETERS] = {0};

    do {
        const int verdict = judge(made, config);

        brute->fault |= verdict < 0;
        if (verdict <= 0)
            continue;
        if (brute->count == brute->room) {
            brute->room = 2 * brute->room + 64;
            brute->valid = realloc(brute->valid, brute->room * width *
                                                     sizeof *brute->valid);
        }
        memcpy(brute->valid + brute->count++ * width, config,
               width * sizeof *config);
    } while (advance(made, config));
}

static bool is_neighbour(const struct made *made, const shmt_config *a,
                         const shmt_config *b)
{
    size_t different = 0;

    for (size_t p = 0; p < made->definition.parameter_count; p++)
        different += a[p] != b[p];
    return different == 1;
}

/* The one parameter that differs is unordered, or no valid value of it lies
 * between. */
static bool is_step(const struct made *made, const struct shmt_space *space,
                    const shmt_config *a, const shmt_config *b)
{
    shmt_config between[SHMT_SPACE_PARAMETERS];
    size_t p = 0;
    uint64_t index;

    while (a[p] == b[p])
        p++;
    if (!made->definition.parameters[p].ordered)
        return true;
    memcpy(between, a, sizeof between);
    for (shmt_config v = (a[p] < b[p] ? a[p] : b[p]) + 1;
         v < (a[p] < b[p] ? b[p] : a[p]); v++) {
        between[p] = v;
        if (shmt_space_index(space, between, &index))
            return false;
    }
    return true;
}

static bool check_neighbours(const struct made *made,
                             const struct shmt_space *space,
                             const struct brute *brute, size_t at)
{
    const size_t width = made->definition.parameter_count;
    shmt_config config[SHMT_SPACE_PARAMETERS], other[SHMT_SPACE_PARAMETERS];
    uint64_t index, out[4096];
    size_t any = 0, steps = 0, count;

    memcpy(config, brute->valid + at * width, width * sizeof *config);
    for (size_t k = 0; k < brute->count; k++)
        if (is_neighbour(made, config, brute->valid + k * width)) {
            memcpy(other, brute->valid + k * width, width * sizeof *other);
            any++;
            steps += is_step(made, space, config, other);
        }
    shmt_space_index(space, config, &index);
    count = shmt_space_neighbours(space, index, SHMT_SPACE_HAMMING, out,
                                  4096);
    if (count != any)
        return false;
    for (size_t k = 0; k < count; k++) {
        shmt_space_configuration(space, out[k], other);
        if (!is_neighbour(made, config, other))
            return false;
        for (size_t j = 0; j < k; j++)
            if (out[j] == out[k])
                return false;
    }
    count = shmt_space_neighbours(space, index, SHMT_SPACE_ADJACENT, out,
                                  4096);
    for (size_t k = 0; k < count; k++) {
        shmt_space_configuration(space, out[k], other);
        if (!is_neighbour(made, config, other) ||
            !is_step(made, space, config, other))
            return false;
    }
    return count == steps;
}

/* A space made of the list of its configurations is the same set. */
static bool check_list(const struct made *made, const struct brute *brute)
{
    const size_t width = made->definition.parameter_count;
    const shmt_config **list =
        malloc((2 * (size_t)brute->count + 1) * sizeof *list);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_space *space;
    uint64_t index;
    bool same;

    for (size_t k = 0; k < brute->count; k++) {
        const size_t other = below(k + 1);

        list[k] = list[other];
        list[other] = brute->valid + k * width;
        list[(size_t)brute->count + k] = brute->valid + below(k + 1) * width;
    }
    same =
        shmt_space_from_list(&made->definition, list, 2 * (size_t)brute->count,
                                &space, &err) == SHMTUNE_OK &&
           shmt_space_count(space) == brute->count;
    for (size_t k = 0; same && k < brute->count; k++) {
        /* In declared order of parameters, hence in that of trying. */
        shmt_space_configuration(space, k, config);
        same = memcmp(config, brute->valid + k * width,
                      width * sizeof *config) == 0 &&
               shmt_space_index(space, config, &index) && index == k;
    }
    shmt_space_free(space);
    free(list);
    return same;
}

/* Any stretch of the enumeration is what the indices say. */
static bool check_stretch(const struct made *made,
                          const struct shmt_space *space)
{
    const size_t width = made->definition.parameter_count;
    const size_t count = (size_t)shmt_space_count(space);
    const size_t first = below(count), length = 1 + below(count - first);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    shmt_config *list = malloc(length * width * sizeof *list);
    bool same = true;

    shmt_space_list(space, first, length, list);
    for (size_t k = 0; k < length && same; k++) {
        shmt_space_configuration(space, first + k, config);
        same = memcmp(config, list + k * width, width * sizeof *config) == 0;
    }
    free(list);
    return same;
}

bool agrees(const struct made *made)
{
    const size_t width = made->definition.parameter_count;
    struct brute brute = {0};
    struct shmt_space *space = NULL;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    uint64_t index, *seen = NULL;
    enum shmtune_status status;
    bool same;

    try_all(made, &brute);
    err.text[0] = '\0';
    status = shmt_space_build(&made->definition, &space, &err);
    same = brute.fault ? status == SHMTUNE_INVALID_FILE
                       : status == SHMTUNE_OK &&
                             shmt_space_count(space) == brute.count;
    if (!same)
        printf("# status %d count %llu; expected %s %llu: %s\n", status,
               space == NULL ? 0ull
                             : (unsigned long long)shmt_space_count(space),
               brute.fault ? "fault" : "count",
               (unsigned long long)brute.count, err.text);
    if (same && !brute.fault) {
        seen = calloc((size_t)brute.count + 1, sizeof *seen);
        for (size_t k = 0; k < brute.count && same; k++) {
            same = shmt_space_index(space, brute.valid + k * width,
                                    &index) &&
                   index < brute.count && seen[index]++ == 0;
            if (!same)
                break;
            shmt_space_configuration(space, index, config);
            same = memcmp(config, brute.valid + k * width,
                          width * sizeof *config) == 0 &&
                   shmt_space_nearest(space, config) == index;
        }
        for (int k = 0; k < 20 && same; k++) {
            for (size_t p = 0; p < width; p++)
                config[p] =
                    (shmt_config)below(made->definition.parameters[p].count);
            same = shmt_space_index(space, config, &index) ==
                   (judge(made, config) == 1);
            if (same && brute.count > 0)
                same = shmt_space_nearest(space, config) < brute.count;
        }
        same = same && check_list(made, &brute) &&
               (brute.count == 0 || check_stretch(made, space));
        for (int k = 0; k < 3 && same && brute.count > 0; k++)
            same = check_neighbours(made, space, &brute,
                                    below((size_t)brute.count));
    }
    free(seen);
    free(brute.valid);
    shmt_space_free(space);
    return same;
}
