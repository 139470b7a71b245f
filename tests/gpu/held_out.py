# SPDX-License-Identifier: MIT
"""held_out.py BUILD HELD: what does choosing by the nearest tuned size cost?

HELD has tunings and journals of sizes that the library's tunings (those of
SHMTUNE_PATH) do not have, made with --also and those tunings, so that what
the library chooses was measured beside what tuning that size itself finds.
One line a size, and for all the median and the worst; the exit status says
whether they are at most 5 and 15 percent."""
import glob
import os
import re
import statistics
import subprocess
import sys

import yaml


def chosen(build, kernel, size):
    """The library's choice for device 0: its match and its settings."""
    reply = subprocess.run(
        [os.path.join(build, "tests", "choose"), kernel] +
        [str(value) for value in size.values()],
        capture_output=True, text=True, check=True).stdout
    match = re.search(r"^match: (.*)$", reply, re.M).group(1)
    settings = re.search(r"^configuration: (.*)$", reply, re.M).group(1)
    return match, dict(part.split("=") for part in settings.split())


def times(path):
    """Of every candidate of a journal that was timed: settings to time.  One
    that was given up as too slow took this or more."""
    with open(path) as file:
        journal = yaml.safe_load(file)
    return {tuple(sorted((name, str(value))
                         for name, value in one["config"].items())):
            one["time_us"]
            for one in journal["records"]
            if one.get("verdict") in ("ok", "slow") and "time_us" in one}


def main():
    build, held = sys.argv[1:3]
    costs = []
    for path in sorted(glob.glob(os.path.join(held, "*", "*.yaml"))):
        with open(path) as file:
            tuning = yaml.safe_load(file)
        for one in tuning["tuned"]:
            size = "x".join(str(value) for value in one["size"].values())
            found = times(path[:-len("yaml")] + size + ".journal")
            match, settings = chosen(build, tuning["kernel"], one["size"])
            own = tuple(sorted((name, str(value)) for name, value
                               in one["configuration"].items()))
            key = tuple(sorted(settings.items()))
            if key not in found:
                print(f"{tuning['kernel']:11} {size:20} {match}: not "
                      f"measured: {settings}")
                costs.append(float("inf"))
                continue
            cost = max(0, found[key] / found[own] - 1)
            costs.append(cost)
            print(f"{tuning['kernel']:11} {size:20} {match:13} "
                  f"{found[key]:10.4g} us, tuned {found[own]:10.4g} us, "
                  f"{100 * cost:5.1f} %")
    print(f"{len(costs)} sizes: median {100 * statistics.median(costs):.1f} "
          f"%, worst {100 * max(costs):.1f} %")
    sys.exit(statistics.median(costs) > 0.05 or max(costs) > 0.15)


if __name__ == "__main__":
    main()
