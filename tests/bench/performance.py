#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page docs/performance.md with its plots, made from measured data.

    performance.py             write docs/performance.md and
                               docs/plots/performance/*.svg
    performance.py --check     exit 1 unless they are what the data make
    performance.py take FILE   what `peers --json` printed, as
                               tests/bench/data/performance/libraries.csv
    performance.py league DIR DEVICE DATE
                               what league.py left in DIR, as
                               tests/bench/data/performance/league.csv, its
                               line in sources.csv, and the raw runs

The page is made of tests/bench/data alone: tables are files there, single
figures are rows of figures.csv, and sources.csv has the command, the device
and the date of each.  Python's standard library only."""
import csv
import glob
import gzip
import json
import os
import shutil
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


def source_of_the_league(device, date):
    """The line of sources.csv, in the place of an older one."""
    path = os.path.join(FOLDER, "sources.csv")
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] != "league"]
    rows.append({"name": "league", "what": "the live league",
                 "device": device, "date": date,
                 "command": "make bench-tuners"})
    with open(path, "w", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def pack(path, into):
    """Without a name and a time, so that the same is the same again."""
    with open(path, "rb") as file, open(into, "wb") as packed, \
            gzip.GzipFile("", "wb", 9, packed, 0) as out:
        shutil.copyfileobj(file, out)


def take_league(folder, device, date):
    shutil.copyfile(os.path.join(folder, "league.csv"),
                    os.path.join(FOLDER, "league.csv"))
    raw = os.path.join(os.path.dirname(FOLDER), "league")
    for path in glob.glob(os.path.join(raw, "*.gz")):
        os.remove(path)
    for kind, before in (("runs", ""), ("judged", "judged-")):
        for path in sorted(glob.glob(os.path.join(folder, kind, "*"))):
            pack(path, os.path.join(raw, before + os.path.basename(path) +
                                    ".gz"))
    source_of_the_league(device, date)


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "take":
        take(arguments[1])
        return 0
    if len(arguments) == 4 and arguments[0] == "league":
        take_league(*arguments[1:])
        return 0
    import page
    import performance_text
    return page.run(performance_text.build(FOLDER), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
