# SPDX-License-Identifier: MIT
"""Sizes that follow from shapes, for the counts that shipped specs have."""
import unittest

from shmtune._expr import Unknown, parse, value_of
from shmtune._sizes import Count, infer


def sizes(dimensions, arrays, **known):
    """Of (count, shape) pairs; a dimension is its default, or a tuple."""
    whole = {n: d if isinstance(d, tuple) else (d, 1, 2**31 - 1)
             for n, d in dimensions.items()}
    return infer(whole, known, [(Count(c, whole), s) for c, s in arrays])


class Sizes(unittest.TestCase):
    def test_axes(self):
        "axes are dimensions in the order in which a count names them"
        self.assertEqual(
            sizes({"rows": 1, "cols": 1}, [("rows * cols", (30, 7))]),
            {"rows": 30, "cols": 7})
        self.assertEqual(
            sizes({"m": 1, "n": 1, "k": 1},
                  [("m * k", (3, 5)), ("k * n", (5, 4)), ("m * n", (3, 4))]),
            {"m": 3, "k": 5, "n": 4})

    def test_number(self):
        "one that is not known follows from the number of elements"
        self.assertEqual(sizes({"n": 1}, [("4 * n", (100, 4))]), {"n": 100})
        self.assertEqual(sizes({"n": 1}, [("(n + 2) ** 3", (12, 12, 12))]),
                         {"n": 10})
        self.assertEqual(
            sizes({"rows": 1, "cols": 1},
                  [("rows * cols", (600,)), ("rows", (20,))]),
            {"rows": 20, "cols": 30})

    def test_repeated(self):
        "a square names its side twice, or is flat"
        for shape in ((7, 7), (49,)):
            self.assertEqual(
                sizes({"height": 1, "width": 1, "filter": (3, 1, 31)},
                      [("height * width", (20, 30)),
                       ("filter * filter", shape)]),
                {"height": 20, "width": 30, "filter": 7})

    def test_further(self):
        "what has fewer axes than a count has names begins with the first"
        self.assertEqual(
            sizes({"rows": 1, "cols": 1, "element": (4, 4, 8)},
                  [("rows * cols * element // 4", (64, 32)),
                   ("rows * cols * element // 4", (32, 64))]),
            {"rows": 64, "cols": 32, "element": 4})

    def test_condition(self):
        "a condition stands behind what it chooses from"
        self.assertEqual(
            sizes({"n": 1, "bins": (256, 256, 1024)},
                  [("n * (1 if bins == 256 else 4)", (4000,)),
                   ("bins", (1024,))]),
            {"bins": 1024, "n": 1000})

    def test_default(self):
        "what no array tells has the default, and what is given stays"
        self.assertEqual(sizes({"n": 5, "rounds": 9}, [("n", (8,))]),
                         {"n": 8, "rounds": 9})
        self.assertEqual(
            sizes({"rows": 5, "cols": 9}, [("rows * cols", (8, 4))], cols=3),
            {"cols": 3, "rows": 8})

    def test_unusable(self):
        "a count with other names, or none that can be read, tells nothing"
        for count in ("tiles + 1", "n +", "f(n)", "n.x"):
            self.assertEqual(sizes({"n": 5}, [(count, (8,))]), {"n": 5})

    def test_values(self):
        "expressions are computed as the spec has them, or not at all"
        def at(text):
            return value_of(parse(text), {"n": 3})
        self.assertEqual([at(t) for t in ("+n", "-n", "not n", "2 ** n")],
                         [3, -3, False, 8])
        for text, kind in (("9 ** 9 ** 9", OverflowError), ("~n", KeyError),
                           ("n +", Unknown), ("\0", Unknown),
                           ("(" * 10000, Unknown)):
            self.assertRaises(kind, at, text)

    def test_no_solution(self):
        "where no size fits, nothing is made up"
        self.assertEqual(sizes({"n": 5}, [("3 * n", (100,))]), {"n": 5})
