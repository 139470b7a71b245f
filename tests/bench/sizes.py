# SPDX-License-Identifier: MIT
"""sizes.py BUILD [--device N] [--totals 180s,...] [--kernels K,...]
[--repeats N] [--out DIR] [--stage both|tune|compare]: what the sizes of all
kernels are tuned to together.

For each total time one command tunes every problem of the kernels, from
nothing that is known.  Then its winners and those of the tunings that ship for
this GPU are measured anew, side by side, in processes of both (--also): the
loss at a size is the time of the winner over that of the shipped one, less
one, and the median over the repeats.  Printed as it goes, and kept in
DIR/sizes.jsonl: each size; then geometric mean and worst of the losses, the
share of the time in which the GPU measured for the search, and candidates a
second.  The two stages can be two commands; the second takes the winners from
DIR/TOTAL."""
import argparse
import glob
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def tune(options, out, *words):
    """The JSON of one command, and how long it took."""
    begun = time.monotonic()
    reply = subprocess.run(
        [os.path.join(options.build, "shmtune"), "tune", *words, "--device",
         options.device, "--no-resume", "--from", "none", "--json", "-q",
         "--output", out], capture_output=True, text=True)
    took = time.monotonic() - begun
    try:
        sheet = json.loads(reply.stdout)
    except ValueError:
        sys.exit(f"{' '.join(words)}: exit {reply.returncode}: "
                 f"{reply.stderr}")
    for failure in sheet["failures"]:
        print(f"{failure['kernel']} {failure['size']}: {failure['error']}",
              flush=True)
    return sheet["results"], took


def settings(config):
    return tuple(sorted((name, str(value)) for name, value in config.items()))


def size_of(size):
    return tuple(sorted((name, int(value)) for name, value in size.items()))


def winners_of(path):
    with open(path) as file:
        tuning = yaml.safe_load(file)
    return {size_of(one["size"]): settings(one["configuration"])
            for one in tuning["tuned"]}


def measured(out):
    """By size: seconds of each candidate in the journals of a folder."""
    found = {}
    for path in glob.glob(os.path.join(out, "*", "*.journal")):
        with open(path) as file:
            journal = yaml.safe_load(file)
        found[size_of(journal["size"])] = {
            settings(one["config"]): one["time_us"]
            for one in journal["records"]
            if one.get("verdict") in ("ok", "slow") and "time_us" in one}
    return found


def losses_of(options, kernel, folder, scratch):
    """By size: the losses, one a repeat."""
    own = glob.glob(os.path.join(folder, kernel, "*.yaml"))
    shipped = os.path.join(ROOT, "tunings", kernel,
                           os.path.basename(own[0])) if own else ""
    if not os.path.exists(shipped):
        print(f"{kernel}: no tuning of its own, or none is shipped for this "
              f"GPU", flush=True)
        return {}
    ours, theirs = winners_of(own[0]), winners_of(shipped)
    found = {size: [] for size in ours if size in theirs}
    for repeat in range(options.repeats):
        out = os.path.join(scratch, f"{kernel}-{repeat}")
        words = [word for size in found for word in (
            "--size", ",".join(f"{name}={value}" for name, value in size))]
        tune(options, out, kernel, *words, "--budget", "1", "--also", own[0],
             "--also", shipped)
        for size, times in measured(out).items():
            if ours[size] in times and theirs[size] in times:
                found[size].append(times[ours[size]] / times[theirs[size]] - 1)
    return {size: losses for size, losses in found.items() if losses}


def keep(log, row):
    json.dump(row, log)
    log.write("\n")
    log.flush()


def tune_all(options, total, folder, log):
    words = options.kernels.split(",") if options.kernels else []
    results, took = tune(options, folder, *words, "--total", total)
    if not results:
        sys.exit(f"{total}: nothing was tuned")
    busy_s = sum(one["gpu_busy"] * one["search_s"] for one in results
                 if one["gpu_busy"] is not None)
    tried = sum(one["tried"] for one in results)
    slower = sum(one["gain"] is not None and one["gain"] < 0.9999
                 for one in results)
    print(f"{total}: {len(results)} problems in {took:.1f} s, {tried} tried, "
          f"{tried / took:.1f} a second, GPU busy "
          f"{100 * busy_s / took:.1f} %, {slower} slower than the default",
          flush=True)
    keep(log, {"total": total, "took_s": took, "problems": len(results),
               "tried": tried, "per_s": tried / took, "busy": busy_s / took,
               "slower": slower})


def compare_all(options, total, folder, log):
    all_losses = []
    with tempfile.TemporaryDirectory() as scratch:
        for kernel in sorted(os.listdir(folder)):
            for size, losses in losses_of(options, kernel, folder,
                                          scratch).items():
                loss = statistics.median(losses)
                all_losses.append(loss)
                text = " ".join(f"{name}={value}" for name, value in size)
                print(f"{total} {kernel:11} {text:36} {100 * loss:6.2f} %",
                      flush=True)
                keep(log, {"total": total, "kernel": kernel,
                           "size": dict(size), "losses": losses})
    if not all_losses:
        return
    mean = math.exp(statistics.fmean(
        math.log1p(loss) for loss in all_losses)) - 1
    print(f"{total}: geometric mean {100 * mean:.2f} %, worst "
          f"{100 * max(all_losses):.2f} % behind the shipped, "
          f"{len(all_losses)} problems", flush=True)
    keep(log, {"total": total, "mean": mean, "worst": max(all_losses),
               "compared": len(all_losses)})


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--device", default="0")
    parser.add_argument("--totals", "--total", default="180s")
    parser.add_argument("--kernels", help="with commas; all if not given")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--stage", default="both",
                        choices=("both", "tune", "compare"))
    parser.add_argument("--out", default="sizes-out")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "sizes.jsonl"), "a") as log:
        for total in options.totals.split(","):
            folder = os.path.join(options.out, total)
            if options.stage != "compare":
                tune_all(options, total, folder, log)
            if options.stage != "tune":
                compare_all(options, total, folder, log)


if __name__ == "__main__":
    main()
