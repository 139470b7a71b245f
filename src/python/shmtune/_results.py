# SPDX-License-Identifier: MIT
"""The results of tune_kernel(): rows as Kernel Tuner has them, what observers
and metrics add to them, and which of them is best."""
import math
import warnings

from ._library import Error, INVALID_ARGUMENT
from ._tune import _mapping

# Of what Kernel Tuner knows of whether more is better.
HIGHER = {"time": False, "energy": False, "fitness": True, "cost": False,
          "loss": False, "GFLOP/s": True, "TFLOP/s": True, "GB/s": True,
          "TB/s": True, "GFLOPS/W": True, "TFLOPS/W": True, "GFLOP/J": True,
          "TFLOP/J": True}
TIMES = ("time", "compile_time", "benchmark_time")
REGISTERS = "num_regs"      # what Kernel Tuner's RegisterObserver adds


def sorted_out(tuned, parameters, observed):
    """(what ran and is right, what is not)"""
    results, rejected = [], []
    for row in tuned.results:
        out = {n: row[n] for n in parameters}
        if row.get("time_us") is None or row["verdict"] not in ("ok", "slow"):
            out.update(verdict=row["verdict"], reason=row.get("reason"))
            rejected.append(out)
            continue
        out["time"] = row["time_us"] / 1000
        out["times"] = [t / 1000 for t in row.get("samples_us", [])]
        # Kernel Tuner's functions that write results want all five.
        out.update(compile_time=row.get("compile_ms", 0.0),
                   benchmark_time=row.get("measure_ms", 0.0),
                   verification_time=0.0, strategy_time=0.0,
                   framework_time=0.0)
        for name in observed:
            out[name] = row.get("registers")
        results.append(out)
    return results, rejected


def observed_by(observers):
    """The names of what they add to a row.  Their methods are of Kernel
    Tuner's process, and kernels run in others here."""
    names = [type(one).__name__ for one in observers or ()]
    others = [n for n in names if n != "RegisterObserver"]
    if others:
        raise Error(
            "tune_kernel: shmtune does not take observers %s: kernels run in "
            "processes that call none.  env.tuned.results has registers, "
            "spills, shared bytes and occupancy of every candidate, `shmtune "
            "explain` has the hardware counters; measure power around calls "
            "of env.tuned.kernel()"
            % ", ".join(others), INVALID_ARGUMENT)
    return [REGISTERS] if names else []


# -- metrics ------------------------------------------------------------------

class Metrics:
    """Of a call: functions of a row, or texts, which are the caller's own
    Python, as they are Kernel Tuner's."""

    def __init__(self, given):
        self.of = _mapping(given, "metrics")
        for name, metric in self.of.items():
            if callable(metric):
                continue
            if not isinstance(metric, str):
                raise Error("the metric %s is a %s; expected a function or a "
                            "text" % (name, type(metric).__name__))
            try:
                compile(metric.strip(), "<metric>", "eval")
            except SyntaxError as error:
                raise _failed(name, metric, error) from None

    def add(self, results):
        """(the rows with their metrics, those of which one fails).  What fails
        for every row is wrong itself, and raised."""
        good, bad, first = [], [], None
        for row in results:
            try:
                good.append(self._added(dict(row)))
            except Exception as error:
                first = first or error
                bad.append({**row, "verdict": "metric", "reason": str(
                    error if isinstance(error, Error) else "a metric: %s: %s"
                    % (type(error).__name__, error))})
        if bad and not good:
            raise first
        if bad:
            warnings.warn("metrics: %d of %d configurations are left out of "
                          "the results; of the first %s" % (
                              len(bad), len(results), bad[0]["reason"]),
                          stacklevel=3)
        return good, bad

    def _added(self, row):
        """In their order, as one may need another."""
        for name, metric in self.of.items():
            if callable(metric):
                row[name] = metric(row)
                continue
            try:
                row[name] = eval(metric.strip(), dict(row))
            except Exception as error:
                raise _failed(name, metric, error) from None
        return row


def _failed(name, metric, error):
    return Error("the metric %s, %.80r: %s" % (name, metric, error))


# -- the best -----------------------------------------------------------------

class Objective:
    """What best_config is the best by: `of` has names of what rows have, and
    whether more is better."""

    def __init__(self, objective, higher, objectives, known):
        self.of = (_mapping(objectives, "objectives") or dict(zip(
            _listed(objective or "time"), _listed(higher))))
        for name, more in self.of.items():
            if name not in known:
                raise Error("tune_kernel: the objective %s is in no result; "
                            "write metrics={%r: ...}, or take one of %s"
                            % (name, name, ", ".join(known)),
                            INVALID_ARGUMENT)
            if more is None and name not in HIGHER:
                raise Error("tune_kernel: the objective %s needs "
                            "objective_higher_is_better=" % name,
                            INVALID_ARGUMENT)
            self.of[name] = HIGHER[name] if more is None else bool(more)

    def is_time(self):
        return self.of == {"time": False}

    def best(self, results, winner):
        """Of the time the winner of the finals; where that is not among the
        results, and of anything else, the best of the results; of several
        objectives a list of those that none surpasses."""
        if self.is_time():
            for row in results:
                if all(row[n] == v for n, v in winner.items()):
                    return row
        costs = [(self._costs(row), row) for row in results]
        costs = [(cost, row) for cost, row in costs if cost is not None]
        if not costs:
            raise Error("tune_kernel: no result has a number as its %s"
                        % ", ".join(self.of), INVALID_ARGUMENT)
        if len(self.of) == 1:
            return min(costs, key=lambda one: one[0])[1]
        return [row for cost, row in costs if not any(
            other != cost and all(a <= b for a, b in zip(other, cost))
            for other, _ in costs)]

    def _costs(self, row):
        """The less, the better; None: one of them is no number."""
        try:
            costs = [-float(row[n]) if more else float(row[n])
                     for n, more in self.of.items()]
        except (TypeError, ValueError):
            return None
        return None if any(map(math.isnan, costs)) else costs


def _listed(given):
    return list(given) if isinstance(given, (list, tuple)) else [given]
