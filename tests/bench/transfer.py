#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Evaluations to within 5 %, from every recording of a kernel to every other.

    transfer.py --shmtune BUILD/shmtune [--repeats 200] [-o FILE] \\
        KERNEL=NAME:RECORDING[:SPEC],NAME:RECORDING[:SPEC],... ...

Writes a table for docs/searching.md: the median of a search that begins with
nothing, of one that begins with the source, each with the deviation of the
median, and how many configurations of the source have to be copied.  A target
is searched with its own SPEC.
"""
import argparse
import json
import subprocess


def score(options, name, target, source):
    command = [options.shmtune, "score", target[0], "--json",
               "--recorded", "--within", "5", "--strategies", "model",
               "--repeats", str(options.repeats),
               "--jobs", str(options.jobs)]
    if target[1]:
        command += ["--spec", target[1]]
    if source:
        command += ["--from", source[0]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stderr}")
    return json.loads(done.stdout)["recordings"][0]["strategies"]


def figure(row):
    return f'{row["median"]:.3g} ± {row["error"]:.2g}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shmtune", required=True)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output")
    parser.add_argument("kernels", nargs="+")
    options = parser.parse_args()
    lines = ["| kernel | from | to | cold | `--from` | copied | "
             "best of 20 copied |", "|---|---|---|---|---|---|---|"]

    def tell(line):
        lines.append(line)
        print(line, flush=True)

    for word in options.kernels:
        kernel, rest = word.split("=", 1)
        places = {}
        for part in rest.split(","):
            name, recording, spec = (part.split(":") + [None])[:3]
            places[name] = (recording, spec)
        for there, target in places.items():
            if target[0].endswith(".yaml"):
                continue
            cold = score(options, kernel, target, None)[0]
            for name, source in places.items():
                if name == there:
                    continue
                rows = score(options, kernel, target, source)
                warm = [r for r in rows if r["from"] and
                        r["strategy"] == "model"][0]
                copied = [r for r in rows if r["strategy"] == "copied"][0]
                count = copied["median"]
                best = (copied["best_of_20"] or float("inf")) - 1
                tell(f"| {kernel} | {name} | {there} | {figure(cold)} "
                     f"| {figure(warm)} "
                     f"| {'-' if count is None else f'{count:.0f}'} "
                     f"| {100 * best:.1f} % |")
    if options.output:
        with open(options.output, "w") as out:
            out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
