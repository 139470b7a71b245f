#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tune convolution.cu with Kernel Tuner, as a script of its users would.

usage: convolution.py            tune, on GPU 0
       convolution.py --count    how many configurations there are; no GPU
"""
import sys

problem_size = (4096, 4096)
filter_size = 7

tune_params = {
    "block_size_x": [16, 32, 48, 64, 96, 128],
    "block_size_y": [1, 2, 4, 8, 16, 32],
    "tile_size_x": [1, 2, 4, 8],
    "tile_size_y": [1, 2, 4, 8],
    "use_padding": [0, 1],
}

restrictions = [
    "64 <= block_size_x * block_size_y <= 1024",
    "tile_size_x * tile_size_y <= 16",
    # A warp that stays within one row needs no padding.
    "use_padding == 0 or block_size_x % 32 != 0",
    # The tile has to fit into 48 KiB.
    f"4 * (block_size_x * tile_size_x + {filter_size - 1} + use_padding)"
    f" * (block_size_y * tile_size_y + {filter_size - 1}) <= 49152",
]


def count():
    """The number of valid configurations, as Kernel Tuner counts them."""
    from kernel_tuner.searchspace import Searchspace

    return Searchspace(tune_params, restrictions, max_threads=1024).size


def tune():
    """Verify and time every configuration that the budget allows."""
    import numpy as np
    from kernel_tuner import run_kernel, tune_kernel

    width, height = problem_size
    random = np.random.default_rng(1)
    output = np.zeros(width * height, dtype=np.float32)
    image = random.uniform(-1, 1, width * height).astype(np.float32)
    weights = random.uniform(-1, 1, filter_size**2).astype(np.float32)
    args = [output, image, weights, np.int32(width), np.int32(height)]
    options = [f"-Dfilter_size={filter_size}"]

    expected = run_kernel(
        "convolution_naive", "convolution.cu", problem_size, args,
        {"block_size_x": 16, "block_size_y": 16, "tile_size_x": 1,
         "tile_size_y": 1, "use_padding": 0},
        grid_div_x=["block_size_x"], grid_div_y=["block_size_y"],
        compiler_options=options)

    operations = 2 * width * height * filter_size**2
    return tune_kernel(
        "convolution", "convolution.cu", problem_size, args, tune_params,
        grid_div_x=["block_size_x", "tile_size_x"],
        grid_div_y=["block_size_y", "tile_size_y"],
        restrictions=restrictions, compiler_options=options,
        answer=[expected[0], None, None, None, None], atol=1e-4,
        metrics={"GFLOP/s": lambda p: operations / 1e6 / p["time"]},
        strategy="genetic_algorithm", strategy_options={"time_limit": 60},
        cache="convolution_cache.json")


if __name__ == "__main__":
    if sys.argv[1:] == ["--count"]:
        print(count())
    else:
        tune()
