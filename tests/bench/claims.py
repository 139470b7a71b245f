#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page docs/claims.md with its plots, made from measured data.

    claims.py                  write docs/claims.md and docs/plots/claims/*.svg
    claims.py --check          exit 1 unless they are what the data make
    claims.py collect LOG LABELS
                               CSV of what ncu counted, for claims.sh
    claims.py take FOLDER      what claims.sh measured, and what the recordings
                               in tunings/ say, as tests/bench/data
    claims.py recordings       only what the recordings and tunings say

The page is made of tests/bench/data alone, so that the same data make the
same page.  Python's standard library only.
"""
import csv
import glob
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def number(text):
    """A cell of ncu's CSV; None where it is not known."""
    text = text.replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None


def read_ncu(path):
    """Rows as dictionaries, one a launch."""
    with open(path, newline="") as file:
        lines = [line for line in file if line.startswith('"')]
    rows = list(csv.reader(lines))
    if len(rows) < 2 or rows[0][0] != "ID":
        raise SystemExit("%s: no counters" % path)
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def join(rows, metric):
    """One number from the launches of a configuration."""
    values = [number(row[metric]) for row in rows]
    if any(value is None for value in values):
        return None
    if metric.endswith(".sum"):
        return sum(values)
    weights = [number(row.get("gpu__time_duration.sum", "")) or 1
               for row in rows]
    return (sum(v * w for v, w in zip(values, weights)) / sum(weights))


def collect(log, labels):
    rows = read_ncu(log)
    with open(labels) as file:
        parts = [line.rstrip("\n").split(",") for line in file]
    parts = [part for part in parts if len(part) == 4 and part[3].isdigit()]
    wanted = sum(int(part[3]) for part in parts)
    if wanted != len(rows):
        raise SystemExit("%s: %d launches, %s has %d" %
                         (log, len(rows), labels, wanted))
    metrics = [name for name in rows[0] if "__" in name and
               name.split("__")[0] in ("gpu", "l1tex", "lts", "dram", "sm",
                                       "smsp") and
               name.split(".", 1)[-1] in (
                   "sum", "ratio", "pct",
                   "avg.pct_of_peak_sustained_elapsed",
                   "avg.pct_of_peak_sustained_active")]
    out = csv.writer(sys.stdout, lineterminator="\n")
    at = 0
    for experiment, variant, x, launches in parts:
        some = rows[at:at + int(launches)]
        at += int(launches)
        for metric in metrics:
            value = join(some, metric)
            if value is not None:
                out.writerow([experiment, variant, x, metric, "%.9g" % value])


def recordings():
    import claims_data as data
    root = os.path.join(data.FOLDER, "..", "..", "..")
    with open(os.path.join(data.FOLDER, "recordings.csv"), "w") as file:
        data.extract(file, root)


def take(folder):
    import claims_data as data
    os.makedirs(data.FOLDER, exist_ok=True)
    for name in ("times.csv", "counters.csv", "device.txt"):
        shutil.copyfile(os.path.join(folder, name),
                        os.path.join(data.FOLDER, name))
    with open(os.path.join(data.FOLDER, "explain.csv"), "w") as file:
        data.explained(file, glob.glob(os.path.join(folder,
                                                    "explain-*.json")))
    recordings()


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "take":
        take(arguments[1])
        return 0
    if arguments == ["recordings"]:
        recordings()
        return 0
    if len(arguments) == 3 and arguments[0] == "collect":
        collect(arguments[1], arguments[2])
        return 0
    import claims_page
    return claims_page.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
