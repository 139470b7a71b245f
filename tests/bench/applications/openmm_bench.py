#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""openmm_bench.py BUILD FOLDER --out OUT [--wheels DIR] [--pdbs DIR] ...: kernels of
OpenMM tuned inside of OpenMM.

Phases, all of them or those of --phases, in this order:
  list     which kernels take the time of each system of openmm_app.py
  replay   these captured with whole numbers for charges, and made again: how
           many give what OpenMM got, bit for bit
  capture  these captured as OpenMM's benchmark runs them
  check    their drafts checked as they are
  tune     tuned for --budget each, what takes most time first; with a warm L2
           cache, as OpenMM's kernels follow each other on data that fit it
  explain  the counters of the kernel that takes most of the time, of OpenMM's
           own configuration and of the tuned one
  rounds   --rounds of OpenMM alone and with what was tuned, in turn
With --for SECONDS, what has not been begun by then is left out.  A summary is
printed last and kept in OUT/report.json, and OUT/state has all that `rounds` of
another call needs (--out STATE --phases rounds).

FOLDER keeps what is made once: site/ of the wheels (openmm, openmm-cuda-13,
numpy where it is not there) and systems/ of the PDB files (examples/benchmarks
of OpenMM's repository).  Nothing is fetched.  The CUDA libraries that OpenMM
links (cuFFT, NVRTC) must be where the loader finds them.
"""
import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(HERE, "openmm_app.py")
BEGUN = time.monotonic()
PHASES = ("list", "replay", "capture", "check", "tune", "explain", "rounds")
# Most launches of these do nothing, as the list of neighbours is seldom made
# anew, or leave sums whose number is another kernel's: one launch does not show
# that a configuration is right; those of cuFFT have no source.
NOT_TUNED = ("find*", "sort*", "computeSortKeys", "*Bucket*", "computeRange",
             "clear*", "generateRandomNumbers", "*CenterOfMass*",
             "reduceEnergy", "computePerDof", "copyFloatBuffer", "*fft*",
             "*FFT*")


def say(*words):
    print("[%5.1f s]" % (time.monotonic() - BEGUN), *words, flush=True)


def median(values):
    return statistics.median(values) if values else None


def quartiles(values):
    if len(values) < 2:
        return [values[0], values[0]] if values else []
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return [low, high]


class Bench:
    def __init__(self, options):
        self.options = options
        self.shmtune = os.path.abspath(
            os.path.join(options.build, "shmtune"))
        self.site = os.path.join(options.folder, "site")
        self.env = dict(os.environ, PYTHONPATH=self.site)
        self.path = os.path.join(options.out, "report.json")
        self.report = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.report = json.load(file)
        self.systems = options.systems.split(",")
        for system in self.systems:
            self.report.setdefault(system, {"kernels": []})

    def late(self):
        return (self.options.until and
                time.monotonic() - BEGUN > self.options.until)

    def application(self, system, seconds):
        return [sys.executable, RUN, "run", self.options.folder, system,
                str(seconds)]

    def call(self, words, limit=300, **more):
        """(status, output, errors); in a folder of its own for OpenMM's own
        cache, so that every kernel is compiled and seen."""
        with tempfile.TemporaryDirectory() as cache:
            try:
                done = subprocess.run(
                    words, env=dict(self.env, TMPDIR=cache, **more),
                    capture_output=True, text=True, timeout=limit)
            except subprocess.TimeoutExpired as late:
                return 124, str(late.stdout), "later than %d s" % limit
        return done.returncode, done.stdout, done.stderr

    def all(self, function, items):
        """Beside each other: nothing is timed."""
        with concurrent.futures.ThreadPoolExecutor(
                self.options.jobs) as pool:
            list(pool.map(function, items))

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

    # -- which kernels --------------------------------------------------------

    def list_one(self, system):
        status, out, err = self.call(
            [self.shmtune, "capture", "--wide", "--list", "--",
             *self.application(system, 0)])
        table = [line.split() for line in out.splitlines()
                 if re.match(r" *[0-9.]+ +% ", line)]
        names = []
        for row in table:
            if row[-1].isidentifier() and row[-1] not in names and not any(
                    fnmatch.fnmatchcase(row[-1], glob_) for glob_ in NOT_TUNED):
                names.append(row[-1])
        self.report[system]["kernels"] = names[:self.options.kernels]
        say(system, "listed: status", status, len(table), "kernels")
        for line in out.splitlines()[:self.options.kernels + 8]:
            print("   ", line)
        if status or not table:
            print(err[-2000:])

    def list(self):
        for system in self.systems:
            if not self.late():
                self.list_one(system)

    # -- captured, and made again ---------------------------------------------

    def take(self, system, where, **more):
        """What was captured, and of those made again what was said."""
        folder = os.path.join(self.options.out, where, system)
        kernels = self.report[system]["kernels"]
        if not kernels:
            return {}
        shutil.rmtree(folder, ignore_errors=True)
        status, _, err = self.call(
            [self.shmtune, "capture", "--propose", "--skip", "12", "-o",
             folder, *[w for k in kernels for w in ("-k", k)], "--",
             *self.application(system, 0)], **more)
        again = dict(re.findall(r"(\S+): made again(.*)", err))
        same = [k for k, words in again.items() if " it gives what" in words]
        found = {"captured": len(glob.glob(os.path.join(folder, "*", ""))),
                 "made_again": len(again), "bit_for_bit": len(same)}
        say(system, where, "status", status, found)
        for line in err.splitlines():
            if "it gives what" not in line and "its buffers" not in line:
                print("   ", line[:300])
        return found

    def replay(self):
        def one(system):
            self.report[system]["replay"] = self.take(
                system, "replayed", OPENMM_DETERMINISTIC="true")
        self.all(one, self.systems)

    def capture(self):
        def one(system):
            self.report[system]["capture"] = self.take(system, "taken")
        self.all(one, self.systems)

    # -- checked, and tuned ---------------------------------------------------

    def drafts(self, system):
        return sorted(glob.glob(os.path.join(
            self.options.out, "taken", system, "*", "")))

    def check(self):
        right = {system: [] for system in self.systems}

        def one(item):
            system, draft = item
            name = os.path.basename(os.path.dirname(draft))
            status, out, err = self.call([self.shmtune, "check", draft])
            if status == 0:
                right[system].append(name)
            else:
                print("    check %s %s: %d %s" % (system, name, status,
                                                  (out + err)[-600:]))
        self.all(one, [(system, draft) for system in self.systems
                       for draft in self.drafts(system)])
        for system in self.systems:
            self.report[system]["checked"] = sorted(right[system])
            say(system, "checked:", len(right[system]), "of",
                len(self.drafts(system)), "unedited")

    def tune_one(self, system, name):
        draft = os.path.join(self.options.out, "taken", system, name)
        status, out, err = self.call(
            [self.shmtune, "tune", draft, "--device", self.options.device,
             "--warm", "--budget", self.options.budget, "--json", "-q", "-o",
             os.path.join(self.options.out, "tunings", system)])
        try:
            answer = json.loads(out)
        except ValueError:
            say(system, name, "tune:", status, err[-600:])
            return
        for one in answer.get("results", []):
            self.report[system].setdefault("gains", {})[name] = one["gain"]
            say(system, name, "%.2f us, gain %.3f, %d tried, %s" % (
                one["result"]["time_us"], one["gain"], one["tried"],
                one["config"]))
        for one in answer.get("failures", []):
            say(system, name, "tune:", str(one.get("error"))[:400])

    def tune(self):
        """The first kernel of each system, then the second of each."""
        for rank in range(self.options.kernels):
            for system in self.systems:
                kernels = self.report[system]["kernels"]
                if rank >= len(kernels):
                    continue
                for name in self.report[system].get("checked", []):
                    if name.rsplit("-", 1)[0] == kernels[rank] and \
                            not self.late():
                        self.tune_one(system, name)
        self.keep_state()

    def keep_state(self):
        """What `run` needs: no data, and no binaries."""
        state = os.path.join(self.options.out, "state")
        shutil.rmtree(state, ignore_errors=True)
        for part in ("taken", "tunings"):
            at = os.path.join(self.options.out, part)
            if os.path.isdir(at):
                shutil.copytree(
                    at, os.path.join(state, part),
                    ignore=shutil.ignore_patterns(
                        "memory-*", "image.*", "*.journal", "binaries"))
        self.keep()
        shutil.copy(self.path, state)

    # -- why ------------------------------------------------------------------

    def explain(self):
        """The counters of the kernel that takes most of the time."""
        for system in self.systems:
            gains = self.report[system].get("gains", {})
            if not gains or self.late():
                continue
            name = min(gains, key=lambda one: self.report[system][
                "kernels"].index(one.rsplit("-", 1)[0]))
            status, out, err = self.call(
                [self.shmtune, "explain", os.path.join(
                    self.options.out, "taken", system, name), "--device",
                 self.options.device, "-o",
                 os.path.join(self.options.out, "tunings", system)])
            say(system, name, "explained: status", status)
            for line in out.splitlines() + err.splitlines():
                print("   ", line[:160])

    # -- put back -------------------------------------------------------------

    def count_back(self, err):
        """How many are tuned in the end: by their own trials or by the program's
        time, less those that this has sent back; how many these are; and what
        was said of them."""
        tuned = set(re.findall(r"shmtune: (\S+) is launched as tuned", err))
        tuned |= set(re.findall(r"shmtune: (\S+) stays as tuned", err))
        gone = set(re.findall(r"shmtune: (\S+) goes back to as it was", err))
        more = sum(map(int, re.findall(r"the (\d+) kernels go back", err)))
        return (len(tuned - gone) - more, len(gone) + more,
                re.findall(r"shmtune: (.* stretches.*)", err))

    def round(self, system, which, rows):
        before = [] if which == "alone" else [
            self.shmtune, "run", "--captured",
            os.path.join(self.options.out, "taken", system), "--tunings",
            os.path.join(self.options.out, "tunings", system), "--"]
        status, out, err = self.call(
            before + self.application(system, self.options.seconds))
        try:
            rows[which].append(json.loads(out.splitlines()[-1]))
        except (ValueError, IndexError):
            say(system, which, "status", status, err[-600:])
        if which == "tuned" and len(rows[which]) == 1:
            say(system, "put back:")
            for line in err.splitlines():
                print("   ", line[:240])
            back, gone, said = self.count_back(err)
            self.report[system].update(
                put_back=back, joint=said, taken_back=gone + len(
                    re.findall("stays as it is: tuned it takes", err)))

    def rounds(self):
        rows = {system: {"alone": [], "tuned": []} for system in self.systems}
        for number in range(self.options.rounds):
            for system in self.systems:
                if self.late() or not self.report[system].get("gains"):
                    continue
                order = ("alone", "tuned")
                for which in order if number % 2 == 0 else order[::-1]:
                    self.round(system, which, rows[system])
        for system in self.systems:
            self.compare(system, **rows[system])

    def compare(self, system, alone, tuned):
        if not alone or not tuned:
            return
        ratios = [t["ns_per_day"] / a["ns_per_day"]
                  for a, t in zip(alone, tuned)]

        def apart(key):
            first = alone[0][key]
            return max(abs(r[key] - first) / (abs(first) or 1)
                       for r in alone + tuned)
        self.report[system].update(
            rounds=len(ratios), ratio=median(ratios),
            quartiles=quartiles(ratios),
            alone=median([r["ns_per_day"] for r in alone]),
            tuned=median([r["ns_per_day"] for r in tuned]),
            energies_apart=apart("energy"), later_apart=apart("later"))

    # -- the end --------------------------------------------------------------

    def keep(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.report, file, indent=1)

    def summary(self):
        of_all = {"captured": 0, "made_again": 0, "bit_for_bit": 0}
        print("\nsystem     captured source bits   checked  tuned back  "
              "alone    tuned    ratio [quartiles]        energies")
        for system in self.systems:
            one = self.report[system]
            found = one.get("replay") or one.get("capture") or {}
            for key in of_all:
                of_all[key] += found.get(key, 0)
            low, high = one.get("quartiles") or (0, 0)
            print("%-10s %8d %6d %4d %5d/%-3d %5d %5s %9.1f %8.1f  %.4f "
                  "[%.4f, %.4f] %9.1e" % (
                      system, found.get("captured", 0),
                      found.get("made_again", 0), found.get("bit_for_bit", 0),
                      len(one.get("checked", [])),
                      (one.get("capture") or {}).get("captured", 0),
                      len(one.get("gains", {})), one.get("put_back", "-"),
                      one.get("alone", 0), one.get("tuned", 0),
                      one.get("ratio", 0), low, high,
                      one.get("energies_apart", 0)))
        for system in self.systems:
            print("gains %s:" % system, ", ".join(
                "%s %.3f" % item
                for item in self.report[system].get("gains", {}).items()))
        if of_all["made_again"]:
            print("bit for bit: %d of %d with a source, %.1f %%; %d captured" %
                  (of_all["bit_for_bit"], of_all["made_again"],
                   100 * of_all["bit_for_bit"] / of_all["made_again"],
                   of_all["captured"]))
        ratios = [one["ratio"] for one in self.report.values()
                  if one.get("ratio")]
        if ratios:
            print("ns/day: geometric mean %.4f, least %.4f" % (
                statistics.geometric_mean(ratios), min(ratios)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--out", required=True)
    parser.add_argument("--wheels", default="")
    parser.add_argument("--pdbs", default="")
    parser.add_argument("--systems", default="gbsa,rf,pme,large,amoebapme")
    parser.add_argument("--phases", default=",".join(PHASES))
    parser.add_argument("--for", dest="until", type=float, default=0)
    parser.add_argument("--jobs", type=int, default=5)
    parser.add_argument("--kernels", type=int, default=8)
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--device", default="0")
    bench = Bench(parser.parse_args())
    os.makedirs(bench.options.out, exist_ok=True)
    bench.prepare()
    for phase in PHASES:
        if phase in bench.options.phases.split(","):
            say(phase)
            getattr(bench, phase)()
            bench.keep()
    bench.summary()


main()
