#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernel Tuner's strategies on recorded runs, scored as `shmtune score` does.

Every strategy runs in Kernel Tuner's own simulation mode with its own
defaults, on the space that the cache file holds.  Time is what the recording
says a configuration cost (compiling, verifying, measuring, framework); what
Kernel Tuner itself spends thinking is not counted, which favours it.  The
budget is the one of `shmtune score`, in seconds on that clock.

usage: strategies.py [--repeats N] [--strategies a,b] [--jobs N]
                     [--shmtune PROGRAM] [--ours a,b] [--runs FILE] CACHE...

CACHE is a Kernel Tuner cache file (.json or .json.gz).  With --shmtune, that
program scores the same files and both stand in one table.  --runs keeps every
run in a file, one line each, and takes from it those that are there already.
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
import subprocess
import sys
import time
import warnings

import numpy as np

POINTS = 1000
FAST = ["genetic_algorithm", "greedy_ils", "greedy_mls", "mls",
        "ordered_greedy_mls", "diff_evo", "pso", "simulated_annealing",
        "dual_annealing", "basinhopping", "firefly_algorithm", "hybrid_vndx",
        "adaptive_tabu_greywolf"]
SLOW = ["bayes_opt"]
PARTS = ("compile_time", "verification_time", "benchmark_time",
         "framework_time")
# An annealing schedule is scaled by the number of evaluations to come; it
# is told the expected one.  For the others the clock is the only limit.
SCALED = ("simulated_annealing",)


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
            value = entry["time"]
            self.cost[key] = (math.inf if isinstance(value, str)
                              else float(value))
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
        for within in (0.10, 0.05, 0.01):
            ends = [self.reached(keys, within) for keys in runs]
            hits = sum(e[2] for e in ends)
            result["evaluations_%d" % (within * 100)] = (
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


def run_one(recording, space, strategy, seed):
    from kernel_tuner import interface
    from kernel_tuner.runners.simulation import SimulationRunner

    random.seed(seed)
    np.random.seed(seed % 2**32)
    options = dict(max_fevals=(recording.fevals if strategy in SCALED
                               else space.size))
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
    for _ in range(1000):
        before = len(runner.visited_results)
        with contextlib.redirect_stdout(io.StringIO()):
            with contextlib.suppress(ZeroDivisionError, IndexError):
                module.tune(space, runner, tuning)
        if budget.is_done() or len(runner.visited_results) == before:
            break
    return list(runner.visited_results)


def work(job):
    path, strategy, seed = job
    warnings.simplefilter("ignore")
    recording, space = loaded(path)
    began = time.perf_counter()
    try:
        keys = run_one(recording, space, strategy, seed)
    except Exception as error:
        return path, strategy, seed, None, repr(error)
    return path, strategy, seed, keys, time.perf_counter() - began


LOADED = {}


def loaded(path):
    if path not in LOADED:
        from kernel_tuner.searchspace import Searchspace
        from kernel_tuner import util

        recording = Recording(path)
        errors = {"CompilationFailedConfig": util.CompilationFailedConfig(),
                  "RuntimeFailedConfig": util.RuntimeFailedConfig(),
                  "InvalidConfig": util.InvalidConfig()}
        for entry in recording.data["cache"].values():
            if isinstance(entry["time"], str):
                entry["__error__"] = errors[entry["time"]]
        recording.cache = recording.data["cache"]
        space = Searchspace(None, None, None, from_cache={
            "tune_params": recording.params, "cache": recording.cache})
        LOADED[path] = recording, space
    return LOADED[path]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("caches", nargs="+")
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--strategies", default=",".join(FAST))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shmtune")
    parser.add_argument("--ours", default="")
    parser.add_argument("--runs")
    return parser.parse_args()


def ours(args):
    command = [args.shmtune, "score", "--json", "--repeats",
               str(args.repeats)]
    if args.ours:
        command += ["--strategies", args.ours]
    output = subprocess.run(command + args.caches, check=True,
                            stdout=subprocess.PIPE).stdout
    table = {}
    for recording in json.loads(output)["recordings"]:
        name = os.path.basename(recording["recording"]).split(".")[0]
        for strategy in recording["strategies"]:
            table.setdefault("shmtune " + strategy["strategy"], {})[name] = {
                "score": strategy["score"], "spread": strategy["spread"]}
    return table


def main():
    args = parse()
    names = args.strategies.split(",") if args.strategies else []
    jobs = [(path, strategy, 1000 + repeat) for repeat in range(args.repeats)
            for strategy in names for path in args.caches]
    runs, clock, done = {}, {}, set()
    byname = {Recording(path).name: path for path in args.caches}
    if args.runs and os.path.exists(args.runs):
        with open(args.runs) as file:
            for line in file:
                name, strategy, seed, keys = json.loads(line)
                if (byname.get(name), strategy, seed) in jobs:
                    runs.setdefault((strategy, byname[name]), []).append(keys)
                    done.add((byname[name], strategy, seed))
    jobs = [job for job in jobs if job not in done]
    with multiprocessing.Pool(args.jobs) as pool:
        for path, strategy, seed, keys, seconds in pool.imap_unordered(
                work, jobs):
            if keys is None:
                print("# %s on %s: %s" % (strategy, path, seconds),
                      file=sys.stderr)
                continue
            runs.setdefault((strategy, path), []).append(keys)
            clock[strategy] = clock.get(strategy, 0) + seconds
            if args.runs:
                with open(args.runs, "a") as file:
                    print(json.dumps([loaded(path)[0].name, strategy, seed,
                                      keys]), file=file)
    table = ours(args) if args.shmtune else {}
    recordings = {path: Recording(path) for path in args.caches}
    for (strategy, path), keys in runs.items():
        table.setdefault("kernel_tuner " + strategy, {})[
            recordings[path].name] = recordings[path].score(keys)
    columns = [recordings[path].name for path in args.caches]
    print("%-44s %8s" % ("strategy", "all")
          + "".join(" %18s" % c[:18] for c in columns))
    whole = [(np.mean([t[c]["score"] for c in columns]), name, t)
             for name, t in table.items() if len(t) == len(columns)]
    for mean, name, t in sorted(whole, key=lambda row: -row[0]):
        print("%-44s %8.3f" % (name, mean) + "".join(
            " %10.3f +-%5.2f" % (t[c]["score"], t[c]["spread"])
            for c in columns))
    for strategy, seconds in sorted(clock.items()):
        print("# %s: %.1f s of thinking in all" % (strategy, seconds))


if __name__ == "__main__":
    main()
