# SPDX-License-Identifier: MIT
"""budgets.py BUILD [--device N] [--budgets 1s,5s,30s] [--out DIR] KERNEL...:
what a budget buys, and whether it is kept.

Each kernel's first size is tuned afresh with each budget, from nothing that is
known; the clock on the wall is that of the whole command.  Then all winners, and those of the tunings that
ship, are measured in one process (--also): the loss of a budget is the time of
its winner over the fastest of them.  The exit status says whether every command
ended within 5 % or 1 s of its budget, and no winner was slower than the
default."""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import yaml


def seconds_of(budget):
    return float(budget[:-1]) * {"s": 1, "m": 60, "h": 3600}[budget[-1]]


def tune(options, kernel, size, out, *more):
    """The JSON of one run, and how long the command took."""
    begun = time.monotonic()
    reply = subprocess.run(
        [os.path.join(options.build, "shmtune"), "tune", kernel, "--device",
         options.device, "--size", size, "--no-resume", "--from", "none",
         "--json", "-q",
         "--output", out, *more], capture_output=True, text=True)
    took = time.monotonic() - begun
    if reply.returncode != 0:
        sys.exit(f"{kernel} {size} {more}: {reply.stderr}")
    return json.loads(reply.stdout)["results"][0], took


def first_size(options, kernel):
    root = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    with open(os.path.join(root, "kernels", kernel + ".yaml")) as file:
        spec = yaml.safe_load(file)
    size = {name: one["default"] for name, one in spec["problem"].items()}
    size.update(spec.get("sizes", [{}])[0])
    shipped = glob.glob(os.path.join(root, "tunings", kernel, "*.yaml"))
    return ",".join(f"{k}={v}" for k, v in size.items()), sorted(shipped)


def settings(config):
    return tuple(sorted((name, str(value)) for name, value in config.items()))


def measured(folder):
    """Of every candidate of the one journal in the folder: settings to time."""
    path = glob.glob(os.path.join(folder, "*", "*.journal"))[0]
    with open(path) as file:
        records = yaml.safe_load(file)["records"]
    return {settings(one["config"]): one["time_us"] for one in records
            if one.get("verdict") in ("ok", "slow") and "time_us" in one}


def one_kernel(options, kernel, folder):
    """For each budget: seconds taken, candidates tried, winner over default,
    loss."""
    size, shipped = first_size(options, kernel)
    rows, winners, also = {}, {}, []
    for budget in options.budgets:
        out = os.path.join(folder, kernel, budget)
        run, took = tune(options, kernel, size, out, "--budget", budget)
        rows[budget] = {"took_s": took, "tried": run["tried"],
                        "speedup": run["gain"]}
        winners[budget] = settings(run["config"])
        also += ["--also", glob.glob(os.path.join(out, "*", "*.yaml"))[0]]
    for path in shipped:
        also += ["--also", path]
    out = os.path.join(folder, kernel, "together")
    tune(options, kernel, size, out, "--budget", "1", *also)
    found = measured(out)
    best = min(found.values())
    for budget in options.budgets:
        rows[budget]["loss"] = found[winners[budget]] / best - 1
    return size, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("kernels", nargs="+")
    parser.add_argument("--device", default="0")
    parser.add_argument("--budgets", default="1s,5s,30s")
    parser.add_argument("--out", help="keeps tunings and journals")
    options = parser.parse_args()
    options.budgets = options.budgets.split(",")
    kept, rows_of = True, {budget: [] for budget in options.budgets}
    with tempfile.TemporaryDirectory() as scratch:
        for kernel in options.kernels:
            size, rows = one_kernel(options, kernel, options.out or scratch)
            for budget, row in rows.items():
                limit = max(1, 0.05 * seconds_of(budget))
                late = row["took_s"] - seconds_of(budget) > limit
                slower = row["speedup"] < 0.9999
                kept = kept and not late and not slower
                rows_of[budget].append(row)
                print(f"{kernel:11} {size:32} {budget:>4}: "
                      f"{row['took_s']:6.2f} s, {row['tried']:5} tried, "
                      f"{row['speedup']:5.2f}x default, "
                      f"loss {100 * row['loss']:5.1f} %"
                      f"{'  LATE' if late else ''}"
                      f"{'  SLOWER' if slower else ''}", flush=True)
    for budget, rows in rows_of.items():
        losses = [100 * row["loss"] for row in rows]
        print(f"{budget:>4}: median loss {statistics.median(losses):.1f} %, "
              f"worst {max(losses):.1f} %, longest "
              f"{max(row['took_s'] for row in rows):.2f} s")
    sys.exit(not kept)


if __name__ == "__main__":
    main()
