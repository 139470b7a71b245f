# SPDX-License-Identifier: MIT
"""dispatch: how good the library's choice is at sizes that nobody tuned.

    python3 dispatch.py BUILD OUT [--seed 7] [--count 200] [--budget 90s]
                        [--own 8] [--own-budget 15s] [--tunings DIR]
                        [--device 0] [KERNEL...]

Copies the tunings (DIR, else those of the source tree) to OUT/tunings, learns
a dispatch of every kernel there, within the budget, and then measures all
configurations of its tuning at COUNT other sizes, drawn by the seed: how much
of the best time what the library chooses reaches, its distribution, and the
worst ten.  OWN of these sizes are tuned, too, and compared with that.  Once
more with the same OUT it resumes; another seed draws other sizes.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("out")
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--seed", default="7")
    parser.add_argument("--count", default="200")
    parser.add_argument("--budget", default="90s")
    parser.add_argument("--own", type=int, default=8)
    parser.add_argument("--own-budget", default="15s")
    parser.add_argument("--tunings")
    parser.add_argument("--device", default="0")
    parser.add_argument("--no-learn", action="store_true")
    return parser.parse_intermixed_args()


class Bench:
    def __init__(self, args):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                              "..", "..")
        self.args = args
        self.shmtune = os.path.join(args.build, "shmtune")
        self.tunings = os.path.join(args.out, "tunings")
        self.own = os.path.join(args.out, "own")
        if not os.path.isdir(self.tunings):
            shutil.copytree(args.tunings or os.path.join(source, "tunings"),
                            self.tunings,
                            ignore=shutil.ignore_patterns(
                                "*.gz", "*.journal", "*.dispatch",
                                "*.trial-*"))

    def run(self, *words, capture=False):
        command = [self.shmtune, *words, "--device", self.args.device]
        if not capture:
            print("$ " + " ".join(command[1:]), flush=True)
        done = subprocess.run(command, check=False, text=True,
                              stdout=subprocess.PIPE if capture else None)
        sys.stdout.flush()
        return done.stdout if done.returncode == 0 else None

    def dispatch(self, kernel, *words, capture=False):
        return self.run("dispatch", kernel, "-o", self.tunings, *words,
                        capture=capture)

    def tune_some(self, kernel):
        """Tunes the first few sizes of the trial, and compares."""
        trial = ["--trial", str(self.args.own), "--seed", self.args.seed]
        shown = self.dispatch(kernel, *trial, "--json", capture=True)
        if shown is None:
            return
        for one in json.loads(shown)["results"][0]["sizes"]:
            size = ",".join(f"{name}={value}"
                            for name, value in one["size"].items())
            self.run("tune", kernel, "--size", size, "-o", self.own, "-q",
                     "--budget", self.args.own_budget, "--json",
                     capture=True)
        folder = os.path.join(self.own, kernel)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith(".yaml"):
                self.dispatch(kernel, *trial, "--also",
                              os.path.join(folder, name))

    def kernel(self, kernel):
        if not self.args.no_learn:
            self.dispatch(kernel, "--budget", self.args.budget)
        self.dispatch(kernel, "--trial", self.args.count, "--seed",
                      self.args.seed)
        if self.args.own > 0:
            self.tune_some(kernel)


def main():
    args = arguments()
    os.makedirs(args.out, exist_ok=True)
    bench = Bench(args)
    for kernel in args.kernels or sorted(os.listdir(bench.tunings)):
        bench.kernel(kernel)


main()
