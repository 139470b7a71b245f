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
second.  Each search tells what it had (search_of): when, how many candidates
and seconds of the compilers and of the GPU, how much it was behind its own
best after a quarter, a half and three quarters of its time, and whether it
tried what ships.  The two stages can be two commands; the second takes the
winners from DIR/TOTAL."""
import argparse
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def tune(options, out, *words, device=None, under=()):
    """The JSON of one command, behind `under`, and how long it took."""
    begun = time.monotonic()
    reply = subprocess.run(
        [*under, os.path.join(options.build, "shmtune"), "tune", *words,
         "--device", device or options.device, "--no-resume", "--from",
         "none", "--json", "-q", "--output", out], capture_output=True,
        text=True)
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


def results_of(path):
    """What a journal has of each candidate; no YAML, which takes minutes."""
    found = []
    with open(path) as file:
        lines = file.read().splitlines()
    size = next(line for line in lines if line.startswith("size: {"))
    for line in lines:
        one = re.match(r"- \{config: \{(.*?)\}, at: ([^,]+),.*? verdict: (\w+)",
                       line)
        if not one:
            continue
        figures = dict(re.findall(r"(\w+_ms|time_us): ([-+.e\d]+)", line))
        timed = one[3] in ("ok", "slow") and "time_us" in figures
        found.append({
            "config": settings(dict(pair.split(": ")
                                    for pair in one[1].split(", "))),
            "at": float(one[2]),
            "compile_s": max(float(figures.get("compile_ms", 0)), 0) / 1e3,
            "measure_s": max(float(figures.get("measure_ms", 0)), 0) / 1e3,
            "us": float(figures["time_us"]) if timed else math.inf})
    pairs = re.findall(r"(\w+): (-?\d+)", size.partition(" ")[2])
    return size_of(dict(pairs)), found


def search_of(size, results, began, others, shipped):
    """What became of one search.  `others`: the journals of the kernel's other
    sizes, as (when that began, results)."""
    end = results[-1]["at"]
    best = min(results, key=lambda one: one["us"])
    heard = {}   # when another size had it first
    for since, their in others:
        for one in their:
            at = since + one["at"]
            heard[one["config"]] = min(heard.get(one["config"], at), at)
    after = [one for one in results
             if heard.get(one["config"], math.inf) < began + one["at"]]
    behind = [min([one["us"] for one in results if one["at"] <= end * k / 4],
                  default=math.inf) / best["us"] - 1 for k in (1, 2, 3)]
    known = [one for one in results if one["config"] == shipped]
    return {"size": dict(size), "began_s": began, "ended_s": began + end,
            "tried": len(results), "heard": len(after),
            "compiled": sum(one["compile_s"] > 0 for one in results),
            "compile_s": sum(one["compile_s"] for one in results),
            "measure_s": sum(one["measure_s"] for one in results),
            "best_us": best["us"], "best_at_s": began + best["at"],
            "best_heard": best in after,
            "behind": [one if math.isfinite(one) else None for one in behind],
            "shipped_at_s": began + known[0]["at"] if known else None,
            "shipped_behind": known[0]["us"] / best["us"] - 1
            if known and known[0]["us"] < math.inf else None}


def percent(share):
    return "   -  " if share is None else f"{100 * share:6.2f}"


def searches_of(total, kernel, folder, begun, log):
    """Prints and keeps what the searches of a kernel had.  A journal is written
    last when the last candidate of its search came back."""
    paths = sorted(glob.glob(os.path.join(folder, kernel, "*.journal")))
    tuning = glob.glob(os.path.join(folder, kernel, "*.yaml"))
    shipped = os.path.join(ROOT, "tunings", kernel,
                           os.path.basename(tuning[0])) if tuning else ""
    ships = winners_of(shipped) if os.path.exists(shipped) else {}
    journals = []
    for path in paths:
        size, results = results_of(path)
        if results:
            began = os.stat(path).st_mtime - results[-1]["at"] - begun
            journals.append((size, results, began))
    rows = [search_of(size, results, began,
                      [(since, their) for other, their, since in journals
                       if other != size], ships.get(size))
            for size, results, began in journals]
    for row in rows:
        text = " ".join(f"{name}={value}" for name, value in
                        sorted(row["size"].items()))
        print(f"{total} {kernel:11} {text:36} {row['began_s']:5.1f} to "
              f"{row['ended_s']:5.1f} s: {row['tried']:4} tried, "
              f"{row['heard']:4} heard before, compilers "
              f"{row['compile_s']:6.1f} s, GPU {row['measure_s']:5.2f} s; "
              f"behind {' '.join(map(percent, row['behind']))} %, best at "
              f"{row['best_at_s']:5.1f} s{' heard' * row['best_heard']}"
              f"{', had what ships' if row['shipped_at_s'] else ''}",
              flush=True)
        keep(log, {"total": total, "kernel": kernel, "search": row})
    if rows:
        print(f"{total} {kernel:11} "
              f"{min(row['began_s'] for row in rows):5.1f} to "
              f"{max(row['ended_s'] for row in rows):5.1f} s: "
              f"{sum(row['tried'] for row in rows)} tried at {len(rows)} "
              f"sizes, compilers {sum(row['compile_s'] for row in rows):.1f} "
              f"s, GPU {sum(row['measure_s'] for row in rows):.1f} s",
              flush=True)


def tune_all(options, total, folder, log):
    words = options.kernels.split(",") if options.kernels else []
    begun = time.time()
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
    for kernel in sorted(os.listdir(folder)):
        searches_of(total, kernel, folder, begun, log)


def compare_all(options, total, folder, log):
    wanted = (options.kernels.split(",") if options.kernels
              else sorted(os.listdir(folder)))
    all_losses = []
    with tempfile.TemporaryDirectory() as scratch:
        for kernel in wanted:
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
