/* SPDX-License-Identifier: MIT */
/*
 * landscape: how fast the configurations are that the fake worker measures.
 */
#ifndef FAKE_LANDSCAPE_H
#define FAKE_LANDSCAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"
#include "target/target.h"

/* Another number, far from that of its neighbours. */
uint64_t landscape_mix(uint64_t h);

/* A number of the configuration; of its binary, which knows nothing of the
 * launch's parameters. */
uint64_t landscape_hash(const struct shmt_kernel *kernel,
                        const struct shmt_wire_request *said, bool binary);

/* Of the kernel `cross`, which is the best changes with the size, with its
 * divisibility, and among small sizes.  Of others each parameter has a best
 * value, and there is a little roughness. */
double landscape_us(const struct shmt_kernel *kernel,
                    const struct shmt_wire_request *said);

#endif
