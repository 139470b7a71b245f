#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""openmm_bench.py BUILD FOLDER --out OUT [--wheels DIR] [--pdbs DIR] ...: kernels of
OpenMM tuned inside of OpenMM.

Of each system of openmm_app.py: which kernels take its time, these captured,
made again, checked as they are, tuned for --budget each, and put back: --rounds
of OpenMM alone and with what was tuned, in turn.  A report is printed and kept
in OUT/report.json.

FOLDER keeps what is made once: site/ of the wheels (openmm, openmm-cuda-13,
numpy where it is not there) and systems/ of the PDB files (examples/benchmarks
of OpenMM's repository).  Nothing is fetched.  The CUDA libraries that OpenMM
links (cuFFT, NVRTC) must be where the loader finds them.
"""
import argparse
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(HERE, "openmm_app.py")
PROGRESS = time.monotonic()


def say(*words):
    print("[%5.1f s]" % (time.monotonic() - PROGRESS), *words, flush=True)


class Bench:
    def __init__(self, options):
        self.options = options
        self.shmtune = os.path.abspath(
            os.path.join(options.build, "shmtune"))
        self.site = os.path.join(options.folder, "site")
        self.env = dict(os.environ, PYTHONPATH=self.site)
        self.report = {}

    def application(self, system, seconds):
        return [sys.executable, RUN, "run", self.options.folder, system,
                str(seconds)]

    def call(self, words, limit=300):
        """(status, output, errors); in a folder of its own for OpenMM's own
        cache, so that every kernel is compiled and seen."""
        cache = os.path.join(self.options.out, "cache")
        shutil.rmtree(cache, ignore_errors=True)
        os.makedirs(cache)
        try:
            done = subprocess.run(words, env=dict(self.env, TMPDIR=cache),
                                  capture_output=True, text=True,
                                  timeout=limit)
        except subprocess.TimeoutExpired as late:
            return 124, str(late.stdout), "later than %d s" % limit
        return done.returncode, done.stdout, done.stderr

    def prepare(self):
        options = self.options
        if options.wheels and not os.path.isdir(self.site):
            subprocess.run(
                [sys.executable, "-m", "pip", "install", "-q", "--no-index",
                 "--no-deps", "--no-compile", "--target", self.site,
                 *glob.glob(os.path.join(options.wheels, "*.whl"))],
                check=True)
        if options.pdbs:
            subprocess.run([sys.executable, RUN, "prepare", options.folder,
                            options.pdbs], env=self.env, check=True)

    # -- one system after the other -------------------------------------------

    def list(self, system):
        """The kernels that take most of the time, most first."""
        status, out, err = self.call(
            [self.shmtune, "capture", "--wide", "--list", "--",
             *self.application(system, 0)])
        table = [line.split() for line in out.splitlines()
                 if re.match(r" *[0-9.]+ +% ", line)]
        say(system, "listed: status", status, len(table), "kernels")
        for line in out.splitlines()[:self.options.kernels + 2]:
            print("   ", line)
        if status or not table:
            print(err[-2000:])
        return [row[-1] for row in table][:self.options.kernels]

    def capture(self, system, kernels):
        folder = os.path.join(self.options.out, "taken", system)
        status, _, err = self.call(
            [self.shmtune, "capture", "--propose", "--skip", "4", "-o",
             folder, *[w for k in kernels for w in ("-k", k)], "--",
             *self.application(system, 0)])
        again = re.findall(r"(\S+): made again(.*)", err)
        same = [name for name, words in again if " it gives what" in words]
        say(system, "captured: status", status, len(again), "made again,",
            len(same), "bit for bit")
        print("   ", err[-6000:].replace("\n", "\n    "))
        self.report[system] = {
            "captured": len(glob.glob(os.path.join(folder, "*", ""))),
            "made_again": len(again), "bit_for_bit": len(same)}
        return folder

    def check(self, system, folder):
        good = []
        for each in sorted(glob.glob(os.path.join(folder, "*", ""))):
            status, out, err = self.call([self.shmtune, "check", each])
            name = os.path.basename(os.path.dirname(each))
            notes = (out + err).strip().splitlines()
            if status == 0:
                good.append(each)
            print("    check %s: %d %s" % (
                name, status, notes[-1] if notes else ""))
        self.report[system]["checked"] = len(good)
        return good

    def tune(self, system, drafts):
        gains = {}
        for draft in drafts:
            name = os.path.basename(os.path.dirname(draft))
            status, out, err = self.call(
                [self.shmtune, "tune", draft, "--device", self.options.device,
                 "--budget", self.options.budget, "--json", "-q", "-o",
                 os.path.join(self.options.out, "tunings", system)])
            try:
                answer = json.loads(out)
                for one in answer.get("results", []):
                    gains[name] = one["gain"]
                    print("    tune %s: %.2f us, %.3f of the default's, "
                          "%d tried, %s" % (
                              name, one["result"]["time_us"], one["gain"],
                              one["tried"], one["config"]))
                for one in answer.get("failures", []):
                    print("    tune %s: %s" % (name, one.get("error")))
            except ValueError:
                print("    tune %s: %d %s" % (name, status, err[-600:]))
        self.report[system]["gains"] = gains

    def rounds(self, system, folder):
        rows = {"alone": [], "tuned": []}
        tunings = os.path.join(self.options.out, "tunings", system)
        for number in range(self.options.rounds):
            for which in ("alone", "tuned"):
                before = [] if which == "alone" else [
                    self.shmtune, "run", "--captured", folder, "--tunings",
                    tunings, "--"]
                status, out, err = self.call(
                    before + self.application(system, self.options.seconds))
                try:
                    rows[which].append(json.loads(out.splitlines()[-1]))
                except (ValueError, IndexError):
                    print("    %s: %d %s" % (which, status, err[-600:]))
                if which == "tuned" and number == 0:
                    print("   ", err[-3000:].replace("\n", "\n    "))
        if not rows["alone"] or not rows["tuned"]:
            return
        ratios = [t["ns_per_day"] / a["ns_per_day"]
                  for a, t in zip(rows["alone"], rows["tuned"])]
        start = rows["alone"][0]["energy"]
        apart = max(abs(r["energy"] - start) / abs(start)
                    for r in rows["alone"] + rows["tuned"])
        self.report[system].update(
            alone=statistics.median(r["ns_per_day"] for r in rows["alone"]),
            tuned=statistics.median(r["ns_per_day"] for r in rows["tuned"]),
            ratios=ratios, ratio=statistics.median(ratios),
            energies_apart=apart)
        say(system, "ns/day %.1f alone, %.1f tuned, ratio %.4f, energies "
            "%.1e apart" % (self.report[system]["alone"],
                            self.report[system]["tuned"],
                            self.report[system]["ratio"], apart))

    def system(self, system):
        kernels = self.list(system)
        if not kernels:
            return
        folder = self.capture(system, kernels)
        self.tune(system, self.check(system, folder))
        self.rounds(system, folder)

    def keep(self):
        with open(os.path.join(self.options.out, "report.json"), "w",
                  encoding="utf-8") as file:
            json.dump(self.report, file, indent=2)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--out", required=True)
    parser.add_argument("--wheels", default="")
    parser.add_argument("--pdbs", default="")
    parser.add_argument("--systems", default="gbsa,rf,pme,large,amoebapme")
    parser.add_argument("--kernels", type=int, default=8)
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--device", default="0")
    bench = Bench(parser.parse_args())
    os.makedirs(bench.options.out, exist_ok=True)
    bench.prepare()
    for system in bench.options.systems.split(","):
        bench.system(system)
        bench.keep()
    ratios = [one["ratio"] for one in bench.report.values() if "ratio" in one]
    if ratios:
        say("geometric mean %.4f, least %.4f" % (
            statistics.geometric_mean(ratios), min(ratios)))


main()
