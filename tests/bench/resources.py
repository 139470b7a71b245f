#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the compiler's report is worth on recordings: ordering what waits for
the GPU by it, and refusing candidates by it.

Ordering: evaluations and time to within 5 % of the optimum when the strategy
picks among several compiled candidates, with the report and without
(model:resources=1 and 0), and the score.  Pruning: what --max-spill and
--min-occupancy would have refused, and how much slower the best of the rest
is than the best of all.

usage: resources.py SHMTUNE [--repeats N] [--ahead N] [--markdown]
                    RECORDING...
"""
import argparse
import json
import os
import subprocess

RULES = [
    ("--max-spill 0", lambda r: r["spill_store_bytes"] > 0),
    ("--min-occupancy 25", lambda r: r["occupancy_percent"] < 25),
    ("--min-occupancy 50", lambda r: r["occupancy_percent"] < 50),
    ("--min-occupancy 75", lambda r: r["occupancy_percent"] < 75),
]


def ask(*command):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(output.stdout)


def name_of(path):
    return os.path.basename(os.path.dirname(os.path.abspath(path)))


def row(cells, markdown):
    if markdown:
        print("| " + " | ".join(cells) + " |")
    else:
        print(("%-16s" + " %18s" * (len(cells) - 1)) % tuple(cells))


def heading(cells, markdown):
    row(cells, markdown)
    if markdown:
        print("|---" * len(cells) + "|")


def ordering(args):
    heading(["recording", "score without", "score with", "to 5 % without",
             "to 5 % with", "time"], args.markdown)
    for path in args.recordings:
        found = ask(args.shmtune, "score", "--json", "--recorded",
                    "--repeats", str(args.repeats),
                    "--ahead", str(args.ahead), "--strategies",
                    "model:resources=0,model:resources=1", path)
        pair = found["recordings"][0]["strategies"]
        ends = [s["within_5_percent"] for s in pair]
        cells = [name_of(path)]
        cells += ["%.3f +- %.3f" % (s["score"],
                                    s["spread"] / args.repeats ** 0.5)
                  for s in pair]
        cells += ["%.0f" % e["evaluations"] if e["repeats"] else "never"
                  for e in ends]
        cells.append("%.1f s, %.1f s" % tuple(e["seconds"] for e in ends)
                     if all(e["repeats"] for e in ends) else "-")
        row(cells, args.markdown)


def pruning(args):
    heading(["recording"] + [name for name, _ in RULES], args.markdown)
    for path in args.recordings:
        results = [r for r in ask(args.shmtune, "show", "--json",
                                  path)["results"] if "registers" in r]
        times = [r["time_us"] for r in results if "time_us" in r]
        cells = [name_of(path)]
        for _, refused in RULES:
            left = [r for r in results if not refused(r)]
            best = min((r["time_us"] for r in left if "time_us" in r),
                       default=None)
            share = 100 * (1 - len(left) / len(results))
            cells.append("%.0f %%: nothing left" % share if best is None else
                         "%.0f %%: %+.1f %%"
                         % (share, 100 * (best / min(times) - 1)))
        row(cells, args.markdown)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shmtune")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--ahead", type=int, default=16)
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    ordering(args)
    print()
    pruning(args)


if __name__ == "__main__":
    main()
