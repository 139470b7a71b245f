#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two versions of shmtune side by side, so that a change that should cost
nothing is seen to cost nothing.

  python3 tests/bench/compare.py BEFORE AFTER [--rounds N] [SPACE.json...]

BEFORE and AFTER are build folders of two checkouts.  Each figure is taken from
both in turn (before, after, before, ...), N times, 5 unless told otherwise,
on one core; the table has both medians and the median of the ratios.  The
figures are the construction of each SPACE (a T1 file), what `select` takes for
an exact match and for the nearest problem, the processor time of replaying
every recording, the time of opening every shipped tuning, and the size of the
stripped library.  The exit status is 1 when a ratio is above 1.05; the opening
has a bound of its own, 25 ms.
"""
import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

MOST = 1.05
OPEN_MS = 25


def run(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, **more).stdout


def source_of(build):
    for line in open(os.path.join(build, "Makefile"), encoding="utf-8"):
        if line.startswith("abs_top_srcdir = "):
            return line.split(" = ")[1].strip()
    sys.exit(build + " has no Makefile of ours")


def spaces(build, files):
    out = run([build + "/tests/bench/space_time", "--runs", "20", *files])
    for line in out.splitlines():
        words = line.split()
        yield "space " + words[0].replace(".json", ""), float(words[3]), "ms"


def library(build):
    levels = {"exact": [], "nearest size": []}
    for line in run([build + "/tests/bench/select",
                     source_of(build)]).splitlines():
        opened = re.search(r"([0-9.]+) ms$", line)
        if opened:
            yield "open what is shipped", float(opened[1]), "ms"
        for level, times in levels.items():
            found = re.search(level + r" +([0-9.]+) ns$", line)
            if found:
                times.append(float(found[1]))
    for level, times in levels.items():
        yield "select, " + level, statistics.mean(times), "ns"


def replays(build):
    root = source_of(build)
    environment = dict(os.environ, SHMTUNE_PATH=root)
    for kernel in sorted(os.listdir(root + "/tunings")):
        folder = os.path.join(root, "tunings", kernel)
        if not os.path.isdir(folder) or not any(
                name.endswith(".journal.gz") for name in os.listdir(folder)):
            continue
        with tempfile.TemporaryDirectory() as out:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            run([build + "/shmtune", "tune", kernel, "--device", "replay:h100",
                 "--output", out], env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        yield "replay " + kernel, (after - before) * 1e3, "ms"


def size(build):
    with tempfile.TemporaryDirectory() as out:
        run(["strip", "-o", out + "/library", build + "/.libs/libshmtune.so"])
        yield "library", os.path.getsize(out + "/library") / 1024, "KiB"


def figures(build, files):
    if files:
        yield from spaces(build, files)
    yield from library(build)
    yield from replays(build)
    yield from size(build)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("before", type=os.path.abspath)
    parser.add_argument("after", type=os.path.abspath)
    parser.add_argument("space", nargs="*")
    options = parser.parse_intermixed_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for build in (options.before, options.after):
        run(["make", "-s", "-C", build, "tests/bench/select",
             "tests/bench/space_time"])
    seen = {}
    for _ in range(options.rounds):
        for side, build in enumerate((options.before, options.after)):
            for name, value, unit in figures(build, options.space):
                seen.setdefault((name, unit), ([], []))[side].append(value)
    worse = []
    print(f"{'figure':40} {'before':>10} {'after':>10}      ratio")
    for (name, unit), (before, after) in seen.items():
        ratio = statistics.median(b / a for a, b in zip(before, after))
        if name == "open what is shipped":
            bad = statistics.median(after) > OPEN_MS
        else:
            bad = ratio > MOST
        if bad:
            worse.append(name)
        print(f"{name:40} {statistics.median(before):10.2f} "
              f"{statistics.median(after):10.2f} {unit:4} {ratio:5.2f}"
              f"{'  <- worse' if bad else ''}")
    if worse:
        sys.exit("slower or larger: " + ", ".join(worse))


if __name__ == "__main__":
    main()
