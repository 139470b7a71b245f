/* SPDX-License-Identifier: MIT */
/*
 * claims: what tutorials on shared memory claim, and the spaces of our
 * kernels do not hold: each step of the reduction ladder, the naive forms,
 * single effects apart.
 *
 *   claims time          verify, then time: CSV
 *                        experiment,variant,x,quantity,value
 *   claims profile       run some of them once between the profiler's marks;
 *                        a line "experiment,variant,x,launches" each
 *   claims library ROOT  the same CSV of libshmtune: on two streams, and its
 *                        convolution beside loops on the host
 *
 * Every result is compared before anything is timed; what is wrong is said,
 * left out, and makes the exit status 1.  Times are medians of 21, the
 * variants of an experiment in turns, the L2 cache read full of other data
 * before each.  The experiments are in claims_*.cuh.
 */
#include <cstring>

#include "claims_access.cuh"
#include "claims_blocks.cuh"
#include "claims_library.cuh"
#include "claims_matmul.cuh"
#include "claims_running.cuh"
#include "claims_sums.cuh"
#include "claims_transpose.cuh"

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "";
    if (std::strcmp(mode, "library") == 0 && argc == 3) {
        const Flush flush;    /* brings the context that a launch needs */
        library(argv[2]);
        convolution(argv[2], flush);
        return 0;
    }
    if (argc != 2 || (std::strcmp(mode, "time") != 0 &&
                      std::strcmp(mode, "profile") != 0))
        die("usage: claims time | profile | library ROOT");

    const bool timed = std::strcmp(mode, "time") == 0;
    const Flush flush;

    ladder(flush);
    transposes(flush, 8192);
    products(flush, 1024);
    strides(flush);
    banks(flush);
    divergence(flush);
    block_sizes(flush);
    if (timed) {
        transposes(flush, 4096);
        transposes(flush, 16384);
        products(flush, 2048);
        products(flush, 4096);
        latency(flush);
        rounding();
        streams();
    }
    return wrong_count > 0;
}
