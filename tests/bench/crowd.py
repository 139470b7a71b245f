#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make a folder with many tunings, to measure what they cost the library.

    crowd.py FOLDER FILES SIZES [TREE]

FOLDER gets the kernel matmul of TREE (the current folder) and FILES tunings
of SIZES sizes each, all for one device; no size is there twice.  Afterwards:
tests/bench/select FOLDER.
"""
import pathlib
import shutil
import sys

FIRST, SIDE = 1024, 128


def main():
    folder = pathlib.Path(sys.argv[1])
    files, sizes = int(sys.argv[2]), int(sys.argv[3])
    tree = pathlib.Path(sys.argv[4] if len(sys.argv) > 4 else ".")
    tunings = folder / "tunings" / "matmul"
    tunings.mkdir(parents=True)
    (folder / "kernels").mkdir()
    for path in (tree / "kernels").glob("matmul*"):
        shutil.copy(path, folder / "kernels")
    model = sorted((tree / "tunings" / "matmul").glob("*.yaml"))[0]
    head, *entries = model.read_text().removesuffix("...\n").split("- size: ")
    entry = next(e for e in entries if f"m: {FIRST}, n: {FIRST}" in e)
    entry = entry.partition("\n")[2]
    for k in range(files):
        with open(tunings / f"{k:06}.yaml", "w") as out:
            out.write(head)
            for s in range(sizes):
                at = k * sizes + s
                m, n = (FIRST + 8 * (at // SIDE ** p % SIDE) for p in (0, 1))
                k_size = FIRST + 8 * (at // SIDE ** 2)
                out.write(f"- size: {{m: {m}, n: {n}, k: {k_size}}}\n{entry}")
            out.write("...\n")


if __name__ == "__main__":
    main()
