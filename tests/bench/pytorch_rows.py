#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pytorch_rows.py: PyTorch's softmax and row sums of float32, for the rows of
peers.cu that have no other library of that kind: medians of 30 samples by
events, the L2 cache read over with twice its size before each, as peers does.

Prints microseconds; without PyTorch or a GPU it says so and exits 0."""
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit(print("skipped: PyTorch is not installed"))

SHAPES = [(131072, 512), (16384, 4096), (2048, 32768),
          (4500, 1203), (2600, 17500), (3000, 15000), (300, 70001)]


def median_us(work, flush):
    samples = []
    for k in range(35):
        flush.sum()
        start = torch.cuda.Event(enable_timing=True)
        stop = torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        stop.record()
        stop.synchronize()
        if k >= 5:
            samples.append(1000 * start.elapsed_time(stop))
    return statistics.median(samples)


def main():
    if not torch.cuda.is_available():
        print("skipped: no CUDA device")
        return
    size = 2 * torch.cuda.get_device_properties(0).L2_cache_size
    flush = torch.rand(size // 4, device="cuda")
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name(0)}")
    for rows, cols in SHAPES:
        x = torch.rand(rows, cols, device="cuda") * 20 - 10
        softmax = median_us(lambda: torch.softmax(x, 1), flush)
        total = median_us(lambda: x.sum(1), flush)
        print(f"{rows} x {cols}: softmax {softmax:.1f} us, "
              f"row sums {total:.1f} us")


if __name__ == "__main__":
    main()
