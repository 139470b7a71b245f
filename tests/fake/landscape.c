/* SPDX-License-Identifier: MIT */
/*
 * landscape: see landscape.h.
 */
#include "landscape.h"

#include <math.h>
#include <string.h>

uint64_t landscape_mix(uint64_t h)
{
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    return h;
}

uint64_t landscape_hash(const struct shmt_kernel *kernel,
                        const struct shmt_wire_request *said, bool binary)
{
    uint64_t h = 7;

    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (!binary || !kernel->parameters[p].launch_only)
            h = landscape_mix(h * 31 + said->config[p]);
    return h;
}

/* A valley. */
static double valley_us(const struct shmt_kernel *kernel,
                        const struct shmt_wire_request *said)
{
    double us = 40 + 0.001 * (double)said->problem[0];

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        const double count = (double)kernel->parameters[p].count;
        const double off = (double)said->config[p] - floor(0.6 * count);

        us *= 1 + 0.2 * fabs(off) / count;
    }
    return us * (1 + 0.02 * (double)(landscape_hash(kernel, said, false) % 97) /
                         97);
}

/* Words start and go on at their own rates, and tiles are paid for whole, the
 * larger the cheaper. */
static double crossing_us(const struct shmt_kernel *kernel,
                          const struct shmt_wire_request *said)
{
    static const double starts[] = {3, 8, 5}, rates[] = {1.6, 1, 0.9};
    static const double tiles[] = {1.35, 1.15, 1};
    const shmt_config *const config = said->config;
    const int64_t tile = kernel->parameters[1].values[config[1]].i;
    const double rows = (double)((said->problem[0] + tile - 1) / tile * tile);
    const double cols = (double)((said->problem[1] + tile - 1) / tile * tile);

    return starts[config[0]] +
           1e-5 * rates[config[0]] * tiles[config[1]] * rows * cols;
}

double landscape_us(const struct shmt_kernel *kernel,
                    const struct shmt_wire_request *said)
{
    return strcmp(kernel->name, "cross") == 0 ? crossing_us(kernel, said)
                                              : valley_us(kernel, said);
}
