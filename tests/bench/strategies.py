#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernel Tuner's strategies on recorded runs, scored as `shmtune score` does.

Every strategy runs in Kernel Tuner's own simulation mode, with its own
defaults and ("@tuned") with the hyperparameters that its authors published as
tuned, on the space that the cache file holds.  Time is what the recording
says a configuration cost (compiling, verifying, measuring, framework); what a
strategy itself spends thinking is not counted, on either side.  The budget is
the one of `shmtune score`, in seconds on that clock.

Not here: skopt (over two minutes of thinking a run), pyatf_strategies (wants
the constraints, which cache files do not hold), nsga2 and nsga3 (for several
objectives at once).

usage: strategies.py [--repeats N] [--strategies a,b] [--jobs N]
                     [--shmtune PROGRAM] [--ours a,b] [--our-repeats N]
                     [--runs FILE] [--kept] [--markdown] CACHE...

CACHE is a Kernel Tuner cache file (.json or .json.gz); `shmtune export --to
kernel-tuner` makes one of a recording of ours, which may be named behind it
(CACHE=RECORDING).  With --shmtune, that program scores the same files, as it
imports them or as they were before the export, and both stand in one table.
--runs keeps every run in a file, one line each, and takes from it those that
are there already; with --kept it takes all of them and runs no more.
strategies.sh makes the virtual environment that this needs.
"""
import argparse
import contextlib
import gzip
import io
import json
import math
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from scipy.stats.qmc import LatinHypercube

POINTS = 1000
WITHIN = (10, 5, 1)      # percent of the optimum
PLAIN = ["genetic_algorithm", "greedy_ils", "greedy_mls", "mls",
         "ordered_greedy_mls", "diff_evo", "pso", "simulated_annealing",
         "dual_annealing", "basinhopping", "minimize", "firefly_algorithm",
         "hybrid_vndx", "adaptive_tabu_greywolf", "bayes_opt",
         "random_sample"]
# From the experiment files of "Tuning the Tuner: Introducing Hyperparameter
# Optimization for Auto-Tuning" (autotuning_methodology,
# experiment_files/compare_hypertuners_paper.json).  Its dual_annealing is
# what the defaults are by now.
TUNED = {
    "genetic_algorithm@tuned": dict(popsize=30, maxiter=50,
                                    method="single_point",
                                    mutation_chance=20),
    "pso@tuned": dict(popsize=30, maxiter=100, c1=3.0, c2=0.5),
    "diff_evo@tuned": dict(popsize=20, maxiter=100, method="best1bin"),
}
# Of processor time that one run may think: some never end where neighbours
# are few.  What it had tried by then is scored.
MOST_SECONDS = 300
ERRORS = ("ErrorConfig", "InvalidConfig", "CompilationFailedConfig",
          "RuntimeFailedConfig")
PARTS = ("compile_time", "verification_time", "benchmark_time",
         "framework_time")
# An annealing schedule is scaled by the number of evaluations to come; it
# is told the expected one.  For the others the clock is the only limit.
SCALED = ("simulated_annealing",)


def error_of(entry):
    """The failure of a cache's entry, or None.  It is the value of any key;
    in newer caches that of "__error__", and there is no time."""
    return next((value for value in entry.values()
                 if isinstance(value, str) and value in ERRORS), None)


class Recording:
    """What `shmtune score` knows of a cache file: the same figures."""

    def __init__(self, path):
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt") as file:
            self.data = json.loads(file.read())
        params = self.data["tune_params"]
        if isinstance(params, str):
            params = eval(params, {"__builtins__": {}})
        self.params = params
        self.name = os.path.basename(path).split(".")[0]
        self.path = path
        self.cost, self.seconds = {}, {}
        for key, entry in self.data["cache"].items():
            self.cost[key] = (math.inf if error_of(entry)
                              else float(entry["time"]))
            self.seconds[key] = sum(entry.get(part) or 0
                                    for part in PARTS) / 1000
        cost = np.array(list(self.cost.values()))
        seconds = np.array(list(self.seconds.values()))
        valid = np.isfinite(cost)
        self.sorted = np.sort(cost[valid])
        self.optimum = self.sorted[0]
        self.median = np.median(self.sorted)
        self.start_fevals = max(self.cutoff(0.01), 1)
        self.fevals = max(self.cutoff(0.95), self.start_fevals + 2)
        self.start = self.start_fevals * np.median(seconds)
        self.budget = self.fevals * np.median(seconds)
        self.mean = seconds[valid].mean()
        if not valid.all():
            self.mean += (~valid).mean() * seconds[~valid].mean()
        self.grid = np.linspace(self.start, self.budget, POINTS)
        count = np.maximum(self.grid / self.mean, 1)
        low = np.floor(count).astype(int)
        draw = self.expected(low)
        self.baseline = draw + (count - low) * (self.expected(low + 1) - draw)

    def cutoff(self, part):
        """Evaluations random search is expected to need to close `part` of
        the way from the median to the optimum."""
        worst_first = self.sorted[::-1]
        target = self.optimum + (self.median - self.optimum) * (1 - part)
        i = int(np.argmax(worst_first <= target))
        if worst_first[i] == self.optimum and i > 0:
            i -= 1
        return math.ceil(i / (len(worst_first) + 1 - i))

    def expected(self, draws):
        """The value random search is expected to hold after `draws`."""
        n = len(self.sorted)
        rank = np.floor(draws * (n + 1) / (draws + 1) + 0.5).astype(int)
        return self.sorted[::-1][np.minimum(n - 1, rank)]

    def curve(self, keys):
        """Rank of the value held at each point of the grid by one run."""
        held = np.full(POINTS, (len(self.sorted) - 1) / 2)
        now, best = 0.0, math.inf
        for key in keys:
            now += self.seconds[key]
            if now > self.budget:
                break
            if self.cost[key] < best:
                best = self.cost[key]
                held[np.searchsorted(self.grid, now):] = np.searchsorted(
                    self.sorted, best)
        return held

    def gain(self, rank):
        held = self.sorted[np.floor(rank + 0.5).astype(int)]
        return np.mean((self.baseline - held)
                       / (self.baseline - self.optimum))

    def reached(self, keys, within):
        """Evaluations and seconds of one run, and whether it came there."""
        now = 0.0
        for count, key in enumerate(keys, 1):
            if now + self.seconds[key] > self.budget:
                return count - 1, now, False
            now += self.seconds[key]
            if self.cost[key] <= self.optimum * (1 + within):
                return count, now, True
        return len(keys), now, False

    def score(self, runs):
        curves = np.array([self.curve(keys) for keys in runs])
        total, n = curves.sum(axis=0), len(runs)
        result = {"score": self.gain(total / n), "spread": 0.0}
        if n > 1:
            without = [self.gain((total - c) / (n - 1)) for c in curves]
            result["spread"] = (n - 1) * np.std(without, ddof=1)
        for percent in WITHIN:
            ends = [self.reached(keys, percent / 100) for keys in runs]
            hits = sum(e[2] for e in ends)
            result["evaluations_%d" % percent] = (
                sum(e[0] for e in ends) / hits if hits else math.inf)
        return result


class Budget:
    """Kernel Tuner's budget, on the recording's clock."""

    def __init__(self, recording, limit):
        self.recording, self.limit = recording, limit
        self.spent, self.count = 0.0, 0
        self.time_limit = None
        self.max_fevals = limit
        self.num_fevals = 0

    def add_evaluations(self, n=1):
        self.count += n

    def add_time(self, seconds=0, milliseconds=0):
        pass

    def get_evaluations_spent(self):
        return self.count

    def get_evaluations_remaining(self):
        return max(self.limit - self.count, 0)

    def is_done(self):
        return self.spent > self.recording.budget

    def raise_exception_if_done(self):
        from kernel_tuner.util import StopCriterionReached
        if self.is_done():
            raise StopCriterionReached("time limit exceeded")

    def get_fraction_consumed(self):
        return min(1.0, self.spent / self.recording.budget)


class Visited(dict):
    """Stands in for the runner's set of visited configurations: keeps their
    order and charges the clock."""

    def __init__(self, budget):
        super().__init__()
        self.budget = budget

    def add(self, key):
        self[key] = None
        self.budget.spent += self.budget.recording.seconds[key]


def fresh_space(recording):
    """Kernel Tuner's space with its caches empty, for one run: it keeps the
    neighbours that a run drew, and another would go on with them."""
    from kernel_tuner.searchspace import Searchspace

    return Searchspace(None, None, None, from_cache={
        "tune_params": recording.params, "cache": recording.cache})


def seed_everything(seed):
    """Kernel Tuner draws from `random`, numpy, and Latin hypercubes with a
    generator of their own, which has no seed unless it is given one."""
    from kernel_tuner.strategies import bayes_opt
    from scipy.stats import qmc

    class Seeded(LatinHypercube):
        def __init__(self, d, **more):
            super().__init__(d, seed=np.random.randint(2**31), **more)

    random.seed(seed)
    np.random.seed(seed % 2**32)
    qmc.LatinHypercube = bayes_opt.LatinHypercube = Seeded


def run_one(recording, strategy, seed):
    """The configurations of one run in order, and what cut it, if anything
    did: it is scored as it stands."""
    from kernel_tuner import interface
    from kernel_tuner.runners.simulation import SimulationRunner
    from kernel_tuner.util import StopCriterionReached

    seed_everything(seed)
    space = fresh_space(recording)
    options = dict(TUNED.get(strategy, {}))
    strategy = strategy.split("@")[0]
    options["max_fevals"] = (recording.fevals if strategy in SCALED
                             else space.size)
    kernel = interface.Options(kernel_name=recording.name)
    device = interface.Options(quiet=True)
    runner = SimulationRunner(None, kernel, device, 7, None)
    budget = Budget(recording, options["max_fevals"])
    runner.visited_results = Visited(budget)
    tuning = interface.Options(
        tune_params=recording.params, restrictions=None, objective=["time"],
        objective_higher_is_better=[False], metrics=None, verbose=False,
        quiet=True, strategy_options=interface.Options(options),
        cache=recording.cache, cachefile=None, snap=True, budget=budget,
        simulated_time=0, max_fevals=options["max_fevals"], seed=seed)
    module = interface.strategy_map[strategy]
    # Some end early (an iteration limit, a converged population): the run
    # goes on from a new start, as a user with time left would do.
    cut = None
    signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        for _ in range(1000):
            before = len(runner.visited_results)
            with contextlib.redirect_stdout(io.StringIO()):
                with contextlib.suppress(ZeroDivisionError, IndexError,
                                         StopCriterionReached):
                    module.tune(space, runner, tuning)
            if budget.is_done() or len(runner.visited_results) == before:
                break
    except GaveUp:
        cut = "after %d s of thinking" % MOST_SECONDS
    except Exception as error:     # a defect of the strategy's
        cut = "by " + repr(error)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return list(runner.visited_results), cut


class GaveUp(BaseException):
    """Thinking took too long.  No strategy catches it by accident."""


def give_up(signum, frame):
    raise GaveUp()


def work(job):
    path, strategy, seed = job
    warnings.simplefilter("ignore")
    recording = loaded(path)
    began = time.process_time()
    keys, cut = run_one(recording, strategy, seed)
    return path, strategy, seed, keys, time.process_time() - began, cut


LOADED = {}


def loaded(path):
    if path not in LOADED:
        from kernel_tuner import util

        recording = Recording(path)
        recording.cache = recording.data["cache"]
        for entry in recording.cache.values():
            if error_of(entry):
                entry["__error__"] = getattr(util, error_of(entry))()
        LOADED[path] = recording
    return LOADED[path]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("caches", nargs="+")
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--strategies", default=",".join(PLAIN + list(TUNED)))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shmtune")
    parser.add_argument("--ours", default="")
    parser.add_argument("--our-repeats", type=int, default=100)
    parser.add_argument("--runs")
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    pairs = [word.partition("=") for word in args.caches]
    args.caches = [cache for cache, _, _ in pairs]
    args.recordings = {cache: recording for cache, _, recording in pairs}
    return args


def ours(args, folder):
    """Our strategies on what we import of the same files."""
    table = {}
    for k, path in enumerate(args.caches):
        where = os.path.join(folder, str(k))
        journals = [args.recordings[path]] if args.recordings[path] else []
        if not journals:
            subprocess.run([args.shmtune, "import", path, "-o", where],
                           check=True, stdout=subprocess.DEVNULL)
            journals = [os.path.join(at, file)
                        for at, _, files in os.walk(where) for file in files
                        if file.endswith(".journal.gz")]
        command = [args.shmtune, "score", "--json", "--recorded", "--repeats",
                   str(args.our_repeats), "--jobs", str(args.jobs)]
        if args.ours:
            command += ["--strategies", args.ours]
        output = subprocess.run(command + journals, check=True,
                                stdout=subprocess.PIPE).stdout
        for strategy in json.loads(output)["recordings"][0]["strategies"]:
            row = dict(strategy, runs=args.our_repeats)
            for percent in WITHIN:
                end = strategy["within_%d_percent" % percent]
                row["evaluations_%d" % percent] = (
                    end["evaluations"] if end["repeats"] else math.inf)
            table.setdefault("shmtune " + strategy["strategy"], {})[
                Recording(path).name] = row
    return table


def efforts(t, columns):
    """Evaluations to within 10, 5 and 1 % of the optimum, the geometric mean
    over recordings; "never" where no run came there on one of them."""
    texts = []
    for percent in WITHIN:
        counts = [t[c]["evaluations_%d" % percent] for c in columns]
        texts.append("never" if math.inf in counts else
                     "%.0f" % np.exp(np.mean(np.log(counts))))
    return " / ".join(texts)


def show(table, columns, markdown):
    """Best first; the spread is that of one run.  In brackets the deviation
    of the mean over recordings that comes of so few runs."""
    rows = []
    for name, t in table.items():
        if len(t) == len(columns):
            error = math.sqrt(sum(t[c]["spread"] ** 2 / t[c]["runs"]
                                  for c in columns)) / len(columns)
            rows.append((np.mean([t[c]["score"] for c in columns]), error,
                         name, t))
    line = "%-36s %15s %18s" + " %16s" * len(columns)
    if markdown:
        line = "|".join([""] + ["%s"] * (len(columns) + 3) + [""])
    print(line % ("strategy", "all", "to 10 / 5 / 1 %",
                  *(c[:16] for c in columns)))
    if markdown:
        print("|---" * (len(columns) + 3) + "|")
    for mean, error, name, t in sorted(rows, key=lambda row: -row[0]):
        print(line % (name, "%.3f (%.3f)" % (mean, error),
                      efforts(t, columns), *(
            "%.3f +- %.2f" % (t[c]["score"], t[c]["spread"])
            for c in columns)))


def main():
    args = parse()
    names = args.strategies.split(",") if args.strategies else []
    jobs = [(path, strategy, 1000 + repeat) for repeat in range(args.repeats)
            for strategy in names for path in args.caches]
    runs, clock, done = {}, {}, set()
    byname = {Recording(path).name: path for path in args.caches}
    name_of = {path: name for name, path in byname.items()}
    if args.runs and os.path.exists(args.runs):
        with open(args.runs) as file:
            for line in file:
                name, strategy, seed, keys = json.loads(line)
                if name in byname and strategy in names and (
                        args.kept or (byname[name], strategy, seed) in jobs):
                    runs.setdefault((strategy, byname[name]), []).append(keys)
                    done.add((byname[name], strategy, seed))
    jobs = [] if args.kept else [job for job in jobs if job not in done]
    with multiprocessing.Pool(args.jobs) as pool:
        for path, strategy, seed, keys, seconds, cut in pool.imap_unordered(
                work, jobs):
            if cut:
                print("# %s on %s, seed %d: %d configurations, cut %s" % (
                    strategy, name_of[path], seed, len(keys), cut),
                      file=sys.stderr)
            runs.setdefault((strategy, path), []).append(keys)
            clock[strategy] = clock.get(strategy, 0) + seconds
            if args.runs:
                with open(args.runs, "a") as file:
                    print(json.dumps([name_of[path], strategy, seed, keys]),
                          file=file)
    with tempfile.TemporaryDirectory() as folder:
        table = ours(args, folder) if args.shmtune else {}
    recordings = {path: Recording(path) for path in args.caches}
    for (strategy, path), keys in runs.items():
        table.setdefault("kernel_tuner " + strategy, {})[
            recordings[path].name] = dict(recordings[path].score(keys),
                                          runs=len(keys))
    show(table, [recordings[path].name for path in args.caches],
         args.markdown)
    for strategy, seconds in sorted(clock.items()):
        print("# %s: %.1f s of thinking in all" % (strategy, seconds))


if __name__ == "__main__":
    # Sets of strings have an order of their own in every process: with this
    # one a seed gives the same run again.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable] + sys.argv,
                  dict(os.environ, PYTHONHASHSEED="0"))
    main()
