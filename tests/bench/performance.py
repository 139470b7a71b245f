#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page docs/performance.md with its plots, made from measured data.

    performance.py             write docs/performance.md and
                               docs/plots/performance/*.svg
    performance.py --check     exit 1 unless they are what the data make
    performance.py take FILE   what `peers --json` printed, as
                               tests/bench/data/performance/libraries.csv

The page is made of tests/bench/data alone: tables are files there, single
figures are rows of figures.csv, and sources.csv has the command, the device
and the date of each.  Python's standard library only."""
import csv
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data",
                      "performance")
LIBRARIES = ["kernel", "size", "default_us", "tuned_us", "over_default",
             "library", "library_us", "over_library", "over_library_warm",
             "floor_percent"]


def row_of(one):
    """A row of the table from what one problem came to."""
    row = dict.fromkeys(LIBRARIES, "")
    row.update(kernel=one["kernel"], size=one["size"],
               tuned_us="%.6g" % one["tuned_us"],
               floor_percent="%.0f" % (100 * one["floor_us"] /
                                       one["tuned_us"]))
    if one["default_us"] > 0:
        row.update(default_us="%.6g" % one["default_us"],
                   over_default="%.2f" % (one["default_us"] /
                                          one["tuned_us"]))
    if one["peer_us"] > 0:
        row.update(library=one["peer"], library_us="%.6g" % one["peer_us"],
                   over_library="%.2f" % (one["peer_us"] / one["tuned_us"]),
                   over_library_warm="%.2f" % (one["warm_peer_us"] /
                                               one["warm_tuned_us"]))
    return row


def take(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file if line.startswith("{")]
    with open(os.path.join(FOLDER, "libraries.csv"), "w", newline="") as file:
        out = csv.DictWriter(file, LIBRARIES, lineterminator="\n")
        out.writeheader()
        for one in rows:
            if one["match"] == "exact":
                out.writerow(row_of(one))


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "take":
        take(arguments[1])
        return 0
    import page
    import performance_text
    return page.run(performance_text.build(FOLDER), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
