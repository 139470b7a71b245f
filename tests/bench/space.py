#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Construction of search spaces, ours beside Kernel Tuner's, on one core.

usage: space.py PROGRAM FILE...

PROGRAM is tests/bench/space_time.  FILE is a T1 search space.  Both sides read
the file, understand its conditions, and end with every valid configuration
listed and found by its values.  Kernel Tuner runs once warm (a small space
first) and then its best of three; it is given no limit of threads, so that it
counts what the conditions say.  Run it through space.sh, which makes the
virtual environment.
"""
import contextlib
import io
import json
import os
import subprocess
import sys
import time


def peer(path):
    """Milliseconds of processor time, and configurations, of Kernel Tuner's Searchspace."""
    from kernel_tuner.searchspace import Searchspace
    start = time.process_time()
    with open(path) as file:
        space = json.load(file)["ConfigurationSpace"]
    params = {}
    for parameter in space["TuningParameters"]:
        values = parameter["Values"]
        params[parameter["Name"]] = (eval(values) if isinstance(values, str)
                                     else values)
    conditions = [c["Expression"] for c in space.get("Conditions") or []]
    built = Searchspace(params, conditions, max_threads=2**62)
    return (time.process_time() - start) * 1000, built.size


def main():
    program, files = sys.argv[1], sys.argv[2:]
    ours = {}
    for line in subprocess.run([program, *files], check=True, text=True,
                               capture_output=True).stdout.splitlines():
        name, *rest = line.split()
        ours[name] = [float(x) for x in rest]
    from importlib.metadata import version
    with contextlib.redirect_stdout(io.StringIO()):
        peer(files[0])
    print("one core; ours %s, Kernel Tuner %s (Python %s)" % (
        os.path.basename(program), version("kernel_tuner"),
        sys.version.split()[0]))
    print("%-26s %10s %8s %8s %8s %9s %12s %7s %9s" % (
        "space", "valid", "read", "build", "list", "ours ms", "peer ms",
        "ratio", "bytes"))
    total = [0.0, 0.0]
    wrong = 0
    for path in files:
        name = os.path.basename(path)
        valid, read, build, listing, size = ours[name][:5]
        mine = read + build + listing
        best = None
        for _ in range(3):
            with contextlib.redirect_stdout(io.StringIO()):
                spent, count = peer(path)
            best = spent if best is None else min(best, spent)
            if spent > 20000:
                break
        wrong += count != valid
        total[0] += mine
        total[1] += best
        print("%-26s %10d %8.3f %8.3f %8.3f %9.3f %12.1f %6.0fx %9d%s" % (
            name.replace(".json", ""), valid, read, build, listing, mine,
            best, best / mine, size,
            "" if count == valid else "  PEER COUNTS %d" % count))
    print("%-26s %10s %8s %8s %8s %9.3f %12.1f %6.0fx" % (
        "together", "", "", "", "", *total, total[1] / total[0]))
    print("\nnanoseconds              index->configuration  back  neighbours "
          "(how many)  random draw")
    for path in files:
        figures = ours[os.path.basename(path)][5:]
        print("%-26s %18.0f %5.0f %11.0f %11.1f %12.0f" % (
            os.path.basename(path).replace(".json", ""), *figures))
    return wrong != 0


sys.exit(main())
