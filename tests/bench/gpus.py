#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpus.py BUILD --out DIR NAME=DEVICES/CORES/TIME[/JOBS]...
[--problem 'KERNEL SIZE'] [--compare A,B] [--rank A,B,...] [--device N]
[--repeats N]: how much faster several GPUs tune than one.

Each NAME is a run of `shmtune tune` over all kernels, or over one problem, from
nothing that is known, on DEVICES (0 or 0,1,2,3), with CORES of the processors
(16, or 16-31 for those) and for TIME (60s), the total of all problems, or the
budget of the one, with JOBS compile workers (else as many as the command has):

    gpus.py BUILD --out DIR four=0,1,2,3/64/60s one=0/16/216s --compare one,four

A run that is in DIR is not run again.  --compare measures the winners of both
anew, side by side, on one GPU (--device): the quality of B is the geometric
mean of the times of its winners over those of A's, of each the median over the
repeats: a single disturbed measurement was fifteen times too long.  Then, by
what the searches themselves measured, when each of both had the quality that
the other ended with: what A took for what B has at its end, over the time that
B took, is how many times B is as fast.  That of a run at a time is the
geometric mean, over the problems, of the best that was found until then over
the best of both.  --rank says of each run how far the bests of its searches are
behind the least of all of them, in the geometric mean and at worst."""
import argparse
import glob
import json
import math
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sizes import measured, results_of, tune, winners_of      # noqa: E402


class Run:
    """One of the runs, and the folder of its tunings and journals."""

    def __init__(self, options, name, text=None):
        self.name = name
        self.folder = os.path.join(options.out, name)
        self.path = os.path.join(options.out, name + ".json")
        if os.path.exists(self.path):
            with open(self.path) as file:
                self.facts = json.load(file)
        elif text:
            self.run(options, text)
        else:
            sys.exit(f"{name} was not run")

    def run(self, options, text):
        devices, cores, total, *jobs = text.split("/")
        cores = cores if "-" in cores else f"0-{int(cores) - 1}"
        words = ["--total", total]
        if options.problem:
            kernel, _, size = options.problem.partition(" ")
            words = [kernel, "--size", size, "--budget", total]
        for one in jobs:
            words += ["-j", one]
        begun = time.time()
        results, took = tune(options, self.folder, *words, device=devices,
                             under=("taskset", "-c", cores))
        if not results:
            sys.exit(f"{self.name}: nothing was tuned")
        count = len(devices.split(","))
        self.facts = {
            "run": text, "begun": begun, "took_s": took,
            "problems": len(results),
            "tried": sum(one["tried"] for one in results),
            "busy": sum((one["gpu_busy"] or 0) * one["search_s"]
                        for one in results) / took / count}
        with open(self.path, "w") as file:
            json.dump(self.facts, file, indent=1)

    def tell(self):
        facts = self.facts
        print(f"{self.name} ({facts['run']}): {facts['problems']} problems in "
              f"{facts['took_s']:.1f} s, {facts['tried']} candidates, "
              f"{facts['tried'] / facts['took_s']:.1f} a second, each GPU "
              f"measured in {100 * facts['busy']:.1f} % of it", flush=True)

    def bests(self):
        """By problem: (seconds of this run, best until then), in order."""
        found = {}
        for path in glob.glob(os.path.join(self.folder, "*", "*.journal")):
            size, results = results_of(path)
            if not results:
                continue
            # A journal is written last when its last candidate came back.
            began = (os.stat(path).st_mtime - results[-1]["at"] -
                     self.facts["begun"])
            best, steps = math.inf, []
            for one in sorted(results, key=lambda one: one["at"]):
                if one["us"] < best:
                    best = one["us"]
                    steps.append((began + one["at"], best))
            kernel = os.path.basename(os.path.dirname(path))
            found[kernel, size] = steps
        return found


def compare_kernel(options, kernel, runs, scratch):
    """The times of B's winners over those of A's, by size."""
    paths = [glob.glob(os.path.join(run.folder, kernel, "*.yaml"))
             for run in runs]
    if not all(paths):
        return {}
    paths = [path[0] for path in paths]
    first, second = map(winners_of, paths)
    out = os.path.join(scratch, kernel)
    words = [word for size in first if size in second for word in (
        "--size", ",".join(f"{name}={value}" for name, value in size))]
    tune(options, out, kernel, *words, "--budget", "1", "--also", paths[0],
         "--also", paths[1])
    return {size: times[second[size]] / times[first[size]]
            for size, times in measured(out).items()
            if first.get(size) in times and second.get(size) in times}


def quality(bests, known, at):
    """The mean of the logarithms: 0 is the best of all everywhere.  A problem
    that has nothing yet counts with what it had first."""
    return statistics.fmean(math.log(
        next((best for when, best in reversed(steps) if when <= at),
             steps[0][1]) / known[problem])
        for problem, steps in bests.items() if problem in known)


def reached(bests, known, aim):
    """When a run first had such a quality; None: never."""
    times = sorted({when for steps in bests.values() for when, _ in steps})
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        if quality(bests, known, times[middle]) <= aim:
            high = middle
        else:
            low = middle + 1
    return times[low] if low < len(times) else None


def compare(options, runs):
    found = {}
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as scratch:
            for kernel in sorted(os.listdir(runs[0].folder)):
                for size, ratio in compare_kernel(options, kernel, runs,
                                                  scratch).items():
                    found.setdefault((kernel, size), []).append(ratio)
    ratios = {one: statistics.median(many) for one, many in found.items()}
    names = [run.name for run in runs]
    worst = sorted(ratios.items(), key=lambda one: -one[1])[:5]
    for (kernel, size), ratio in worst:
        print(f"{kernel} {' '.join(f'{k}={v}' for k, v in size)}: {names[1]} "
              f"takes {ratio:.3f} of {names[0]}")
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
        print(f"side by side, {len(ratios)} problems: the winners of "
              f"{names[1]} take {mean:.4f} of those of {names[0]}",
              flush=True)
    bests = [run.bests() for run in runs]
    known = {problem: min(one[problem][-1][1] for one in bests)
             for problem in bests[0] if problem in bests[1] and
             bests[0][problem] and bests[1][problem]}
    for k, (run, other) in enumerate([runs, runs[::-1]]):
        aim = quality(bests[1 - k], known, math.inf)
        at = reached(bests[k], known, aim)
        print(f"{run.name} has the quality that {other.name} has at its end, "
              f"{100 * (math.exp(aim) - 1):.2f} % behind the best of both, "
              + (f"after {at:.1f} of {run.facts['took_s']:.1f} s; "
                 f"{other.name} took {other.facts['took_s']:.1f} s" if at else
                 f"not within its {run.facts['took_s']:.1f} s"), flush=True)


def rank(runs):
    bests = [{problem: steps[-1][1] for problem, steps in run.bests().items()
              if steps} for run in runs]
    problems = set.intersection(*map(set, bests))
    for run, own in zip(runs, bests):
        losses = [math.log(own[one] / min(best[one] for best in bests))
                  for one in problems]
        print(f"{run.name} ends {100 * math.expm1(statistics.fmean(losses)):.2f}"
              f" % behind the best of all runs, at worst "
              f"{100 * math.expm1(max(losses)):.1f} %, {len(problems)} problems")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--out", required=True)
    parser.add_argument("--problem")
    parser.add_argument("--compare", default="")
    parser.add_argument("--rank", default="")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--device", default="0")
    options = parser.parse_intermixed_args()
    os.makedirs(options.out, exist_ok=True)
    for text in options.runs:
        name, _, what = text.partition("=")
        Run(options, name, what).tell()
    for names, act in ((options.compare, lambda runs: compare(options, runs)),
                       (options.rank, rank)):
        if names:
            act([Run(options, name) for name in names.split(",")])


main()
