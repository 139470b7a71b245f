/* SPDX-License-Identifier: MIT */
/*
 * Prints what the header of the built-in transpose chooses for a device and a
 * size: the tuned configurations without the library.  As C, C++ or CUDA:
 *
 *     shmtune export transpose --to header -o transpose_tuned.h
 *     cc choose.c -o choose
 *     ./choose 90 "NVIDIA H200" 4096 4096
 */
#include <stdio.h>
#include <stdlib.h>

#include "transpose_tuned.h"

int main(int argc, char **argv)
{
    static const char *const matches[] = {"nothing runs", "default",
                                          "same capability", "nearest size",
                                          "learnt", "exact"};
    const int arch = argc > 1 ? atoi(argv[1]) : 90;
    const int device =
        shmtuned_device_transpose(arch, argc > 2 ? argv[2] : "", 0);
    const long long rows = argc > 3 ? atoll(argv[3]) : 4096;
    const long long cols = argc > 4 ? atoll(argv[4]) : 4096;
    const struct shmtuned_choice choice =
        shmtuned_select_transpose(arch, device, rows, cols, 4);
    const struct shmtuned_geometry launch =
        shmtuned_launch_transpose(choice.config, 0, rows, cols, 4);

    printf("%s: configuration %d, grid %lld x %lld, block %lld x %lld, "
           "%lld bytes of dynamic shared memory\n", matches[choice.match],
           choice.config, launch.grid[0], launch.grid[1], launch.block[0],
           launch.block[1], launch.shared_dynamic);
    return choice.match == SHMTUNED_NONE;
}
