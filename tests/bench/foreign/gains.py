#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gains.py BUILD FOLDER [--budget 15s] [--floors FILE] [--sums FILE] ...:
what tuning is worth for kernels that somebody else wrote.

Tunes every spec of a folder, FOLDER/*.yaml, with a budget for each size, and
prints a table: default, best, gain, whether the budget was kept, what the
candidates were verified against, lines of YAML.  It knows no kernel: specs and
sources are given, and nothing is fetched.

--floors names a file with a line `KERNEL GAIN` for each gain that must be
reached, --sums one of sha256sum for the sources that must be unedited.  A
missing or edited source is named.  The exit status says whether there was none,
and all kernels were tuned, each in at most 40 lines, within 5 % or 1 s of its
budget, and to its floor.
"""
import argparse
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import yaml

MOST_LINES = 40
COLUMNS = ("kernel", "size", "default us", "best us", "gain", "floor", "took s",
           "tried", "rejected", "verified by", "lines", "notes")


def seconds_of(budget):
    return float(budget[:-1]) * {"s": 1, "m": 60, "h": 3600}[budget[-1]]


def sources_of(spec):
    """The files that are compiled, the reference's too."""
    texts = [spec.get("source", [])]
    if isinstance(spec.get("reference"), dict):
        texts.append(spec["reference"].get("source", []))
    return [one for text in texts
            for one in ([text] if isinstance(text, str) else text)]


def verified_by(spec):
    if "answer" in spec:
        return " ".join(spec["answer"]["command"])
    if "reference" in spec:
        return ("reference of another source" if "source" in spec["reference"]
                else "reference of the source")
    if any("expect" in one for one in spec["arguments"].values()):
        return "files"
    return "its default"


def sums_of(path):
    """Of each file, by its real path: what sha256sum must give."""
    sums, folder = {}, os.path.dirname(path)
    if path:
        with open(path) as file:
            for line in file:
                digest, name = line.split(None, 1)
                name = os.path.join(folder, name.strip().lstrip("*"))
                sums[os.path.realpath(name)] = digest
    return sums


def edited(sums):
    """The files that are missing, or are not what was summed."""
    for name, digest in sums.items():
        if not os.path.isfile(name):
            yield name + ": missing"
            continue
        with open(name, "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != digest:
                yield name + ": edited"


def floors_of(path):
    if not path:
        return {}
    with open(path) as file:
        return {name: float(gain) for name, gain in map(str.split, file)}


def rows_of(options, path, out):
    """A row for each size; one that has notes alone where there is none."""
    with open(path) as file:
        text = file.read()
    spec, folder = yaml.safe_load(text), os.path.dirname(path)
    own = {"kernel": spec["name"], "verified by": verified_by(spec),
           "lines": text.count("\n"), "notes": []}
    missing = [one for one in sources_of(spec)
               if not os.path.isfile(os.path.join(folder, one))]
    if missing:
        return [dict(own, notes=[one + ": missing" for one in missing])]
    reply = subprocess.run(
        [os.path.join(options.build, "shmtune"), "tune", path, "--device",
         options.device, "--budget", options.budget, "--no-resume", "--json",
         "-q", "--output", out], capture_output=True, text=True)
    try:
        answer = json.loads(reply.stdout)
    except ValueError:
        return [dict(own, notes=[reply.stderr.strip()])]
    rows = [dict(own, notes=[], **{
        "size": " ".join(f"{k}={v}" for k, v in one["size"].items()),
        "default us": one["default_us"], "best us": one["result"]["time_us"],
        "gain": one["gain"], "took s": one["elapsed_s"],
        "tried": one["tried"], "config": one["config"],
        "rejected": {word: count for word, count in one["verdicts"].items()
                     if word not in ("ok", "slow")}})
        for one in answer.get("results", [])]
    for one in answer.get("failures", []) or ([] if rows else [answer]):
        rows.append(dict(own, notes=[str(one.get("error", one))]))
    return rows


def judge(options, row, floors):
    """Adds to the row's notes what was not kept."""
    if row["lines"] > MOST_LINES:
        row["notes"].append(f"more than {MOST_LINES} lines")
    if row["kernel"] in floors:
        row["floor"] = floors[row["kernel"]]
    if "gain" not in row:
        return
    budget = seconds_of(options.budget)
    if row["took s"] - budget > max(1, 0.05 * budget):
        row["notes"].append("over its budget")
    if row["gain"] < row.get("floor", 0):
        row["notes"].append("below its floor")


def cell(value):
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, dict):
        return ", ".join(f"{count} {word}" for word, count in value.items())
    if isinstance(value, list):
        return "; ".join(value)
    return str(value)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--device", default="0")
    parser.add_argument("--budget", default="15s")
    parser.add_argument("--kernels", default="", help="names, by comma")
    parser.add_argument("--floors", default="")
    parser.add_argument("--sums", default="")
    parser.add_argument("--out", help="keeps tunings and journals")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    floors, kernels = floors_of(options.floors), options.kernels.split(",")
    bad = list(edited(sums_of(options.sums)))
    for line in bad:
        print("gains.py: " + line, file=sys.stderr)
    rows = []
    if not options.json:
        print("| " + " | ".join(COLUMNS) + " |")
        print("|---" * len(COLUMNS) + "|", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(glob.glob(os.path.join(options.folder, "*.yaml"))):
            name = os.path.splitext(os.path.basename(path))[0]
            if options.kernels and name not in kernels:
                continue
            for row in rows_of(options, path, options.out or scratch):
                judge(options, row, floors)
                rows.append(row)
                if not options.json:
                    print("| " + " | ".join(cell(row.get(name, ""))
                                            for name in COLUMNS) + " |",
                          flush=True)
    if options.json:
        print(json.dumps({"edited": bad, "rows": rows}, indent=1))
    sys.exit(bool(bad) or not rows or any(row["notes"] for row in rows))


if __name__ == "__main__":
    main()
