# SPDX-License-Identifier: MIT
"""What tune_kernel() makes of a run: metrics, observers, objectives."""
import os
import warnings

import shmtune
from device import Case
from test_kernel_tuner import N, PARAMETERS, answer, tune


class RegisterObserver:
    """As Kernel Tuner's is called."""


class NVMLObserver:
    """The same."""


def caught_of(call, *given, **more):
    """(what it returns, what it warns of)"""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = call(*given, **more)
    return out, [str(w.message) for w in caught]


class Metrics(Case):
    def test_one_fails(self):
        "a metric that raises leaves out that configuration alone"
        for name, metric in (
                ("function", lambda p: 1 / (p["block_size_x"] - 64)),
                ("text", "1 / (block_size_x - 64)")):
            (results, env), said = caught_of(
                tune, "re_" + name, answer=answer(),
                metrics={"odd": metric, "twice": "2 * odd"})
            self.assertEqual(sorted(r["block_size_x"] for r in results),
                             [32, 32, 128, 128])
            self.assertEqual({r["twice"] for r in results}, {-1 / 16, 1 / 32})
            self.assertEqual(
                [(r["block_size_x"], r["verdict"]) for r in env["rejected"]],
                [(64, "metric")] * 2)
            self.assertIn("division by zero", env["rejected"][0]["reason"])
            self.assertGreater(env["rejected"][0]["time"], 0)
            self.assertNotIn("odd", env["rejected"][0])
            self.assertEqual(len(said), 1)
            self.assertIn("metrics: 2 of 6 configurations are left out", said[0])
            self.assertIn("division by zero", said[0])
            self.assertNotEqual(env["best_config"]["block_size_x"], 64)

    def test_all_fail(self):
        "one that raises for each is wrong itself"
        with self.assertRaises(KeyError):
            tune("re_all", metrics={"none": lambda p: p["none"]})
        self.refuses("the metric half, 'tame': name 'tame'", tune, "re_all",
                     metrics={"half": "tame"})

    def test_before(self):
        "what is no expression is refused before anything runs"
        for text, metric in (("the metric half, 'time /'", "time /"),
                             ("the metric half is a int", 5)):
            self.refuses(text, tune, "re_before", metrics={"half": metric})
        self.assertFalse(os.path.exists("re_before"))


class Observers(Case):
    def test_registers(self):
        "the registers are observed, as Kernel Tuner calls them"
        results, env = tune("re_registers", observers=[RegisterObserver()],
                            metrics={"all": "num_regs * block_size_x"})
        for row in results:
            self.assertEqual(row["all"], row["num_regs"] * row["block_size_x"])
        self.assertGreater(env["best_config"]["num_regs"], 0)
        results, _ = tune("re_registers", observers=[], resume=True)
        self.assertNotIn("num_regs", results[0])

    def test_others(self):
        "any other is refused, with what to do instead"
        self.refuses("does not take observers NVMLObserver: ", tune,
                     "re_refused",
                     observers=[RegisterObserver(), NVMLObserver()])
        self.assertFalse(os.path.exists("re_refused"))


class Objectives(Case):
    def best(self, folder, **more):
        (results, env), said = caught_of(
            tune, folder, answer=answer(), resume=True, metrics={
                "work": "block_size_x * (spare + 1)",
                "GB/s": lambda p: 8e-6 * N / p["time"],
                "none": lambda p: None if p["spare"] else p["block_size_x"]},
            **more)
        self.assertEqual(len(results), 6)
        return env["best_config"], said, env

    def test_one(self):
        "best_config is the best by any metric, and the tuning's by the time"
        fastest = self.best("re_objective")[0]
        for objective, higher in (("time", None), (None, False),
                                  ("GB/s", None), ("GB/s", True)):
            best, said, _ = self.best("re_objective", objective=objective,
                                      objective_higher_is_better=higher)
            self.assertEqual((best["time"], said), (fastest["time"], []))
        for name, higher, config in (
                ("work", True, (128, 1)), ("work", False, (32, 0)),
                ("none", True, (128, 0))):
            best, said, env = self.best("re_objective", objective=name,
                                        objective_higher_is_better=higher)
            self.assertEqual((best["block_size_x"], best["spare"]), config)
            self.assertEqual(said, [])
            self.assertEqual(env.tuned.best["spare"], fastest["spare"])

    def test_several(self):
        "of several objectives those that none surpasses"
        front, _, env = self.best("re_several", objectives={
            "block_size_x": True, "spare": False})
        self.assertEqual([(r["block_size_x"], r["spare"]) for r in front],
                         [(128, 0)])
        front = self.best("re_several", objective=["work", "block_size_x"],
                          objective_higher_is_better=[False, True])[0]
        self.assertEqual(
            sorted((r["block_size_x"], r["spare"]) for r in front),
            [(32, 0), (64, 0), (128, 0)])
        one = self.best("re_several", objectives={"work": True})[0]
        self.assertEqual(one["work"], 256)

    def test_part(self):
        "where not all is measured, that is said"
        _, said = caught_of(
            tune, "re_part", budget=2, metrics={"work": "block_size_x"},
            objective="work", objective_higher_is_better=True)
        self.assertEqual(len(said), 1)
        self.assertIn("the search looks for the least time", said[0])

    def test_refused(self):
        "what is in no result is no objective"
        for text, more in (
                ("the objective energy is in no result; ",
                 {"objective": "energy"}),
                ("the objective work needs objective_higher_is_better=",
                 {"objective": "work"}),
                ("objectives is a list", {"objectives": ["time"]})):
            self.refuses(text, tune, "re_none", metrics={"work": "spare"},
                         **more)
        self.assertFalse(os.path.exists("re_none"))
        self.refuses("no result has a number as its word", tune, "re_word",
                     metrics={"word": "'a'"}, objective="word",
                     objective_higher_is_better=True)
