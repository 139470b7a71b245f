# SPDX-License-Identifier: MIT
"""tune() on the fake driver."""
import array
import gc
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import warnings
from unittest import mock

import shmtune
from shmtune import _command
from device import Case, Interface, text_of

N = 1000
PARAMETERS = {"TILE": [32, 64, 128],
              "COST": {"values": [5, 20, 100], "default": 100,
                       "scope": "launch"}}
GRID = {"grid": ["ceildiv(n, TILE)"], "block": ["TILE"]}


def arguments(counted=True):
    count = {"count": "n"} if counted else {}
    return {"out": shmtune.Out(array.array("f", [0] * N), **count),
            "x": shmtune.In(array.array("f", [i / 4 for i in range(N)]),
                            **count),
            "acc": shmtune.InOut(array.array("i", range(N)), **count),
            "counter": {"type": "i32", "role": "workspace", "count": 1,
                        "zeroed": True},
            "n": N, "fault": 0, "cost": "COST"}


def right(out, x, acc, *rest):
    return {"out": array.array("f", [2 * v for v in x]),
            "acc": array.array("i", [v + 1 for v in acc])}


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Tune(Case):
    def tune(self, name, **more):
        given = {"parameters": PARAMETERS, "constraints": ["TILE <= 128"],
                 "arguments": arguments(), "folder": name, "budget": "all",
                 **GRID, **more}
        return shmtune.tune(text_of("fake_kernel.cu"), "scale", {"n": N},
                            **given)

    def test_table(self):
        "the fastest is found, and the results are a table"
        tuned = self.tune("table", answer=right)
        self.assertEqual(tuned.best["COST"], 5)
        self.assertEqual((tuned.time_us, tuned.default_us), (5, 100))
        self.assertEqual(len(tuned.results), 9)
        self.assertEqual(tuned.verdicts.get("ok", 0)
                         + tuned.verdicts.get("slow", 0), 9)
        self.assertEqual(tuned.results[0]["COST"], 5)
        self.assertGreater(tuned.results[0]["registers"], 0)
        lines = tuned.table().splitlines()
        self.assertEqual(lines[0].split(), ["TILE", "COST", "time_us",
                                            "verdict"])
        self.assertIn("Fake device", str(tuned))
        self.assertIn("5.00 us, the default 100.00 us; 3 are equally fast: "
                      "the tie rule chose this one\n", str(tuned))

    def test_width(self):
        "what is printed is as wide as the terminal, and whole in a file"
        tuned = self.tune("width", answer=right)
        whole = str(tuned)
        self.assertEqual(len(whole.splitlines()), 11)
        for columns in (24, 40, 200):
            with mock.patch.dict(os.environ, COLUMNS=str(columns)), \
                    mock.patch("sys.stdout", Terminal()):
                shown = str(tuned)
            self.assertLessEqual(max(map(len, shown.splitlines())), columns)
            self.assertEqual(shown == whole, columns == 200)
            self.assertIn(shown.split()[:2], [whole.split()[:2]])
            # Of a table that does not fit, each row has its configuration.
            self.assertEqual(shown.count("TILE="), 10 if columns == 24 else 1)

    def test_kept(self):
        "the spec, the source and the data stay, and can be tuned again"
        tuned = self.tune("kept", answer=right)
        self.assertEqual(tuned.spec, os.path.join("kept", "kernels",
                                                  "scale.yaml"))
        again = shmtune.tune(tuned.spec, folder="kept", budget="all")
        self.assertEqual(again.name, "scale")
        self.assertEqual(again.best["COST"], 5)

    def call(self, kernel):
        out, x, acc = (Interface("<f4", (N,)), Interface("<f4", (N,), range(N)),
                       Interface("<i4", (N,), range(N)))
        kernel(out, x, acc)
        self.assertEqual(out.read(), [2.0 * i for i in range(N)])

    def own(self, *parts):
        """A folder with the fake kernel, beside nothing of ours."""
        where = os.path.join(*parts)
        os.makedirs(where, exist_ok=True)
        for end in (".cu", ".yaml"):
            with open(os.path.join(where, "mine" + end), "w",
                      encoding="utf-8") as file:
                file.write(text_of("fake_kernel" + end).replace(
                    "source: fake_kernel.cu", "source: mine.cu"))
        return os.path.join(where, "mine.yaml")

    def test_spec(self):
        "a spec that lies anywhere is tuned and called, from anywhere"
        for parts, folder in ((("own",), "own_tuned"),
                              (("own: ü",), "out: ü"),
                              (("app", "kernels"), "app_tuned"),
                              (("both", "kernels"), "both"),
                              (("b:h", "kernels"), "b:h")):
            spec = self.own(*parts)
            before = sorted(os.listdir(os.path.dirname(spec)))
            tuned = shmtune.tune(pathlib.Path(spec), budget=3, folder=folder)
            self.assertTrue(os.path.samefile(tuned.spec, spec))
            here = os.getcwd()
            os.chdir("/")
            try:
                kernel = tuned.kernel()
            finally:
                os.chdir(here)
            self.call(kernel)
            found = kernel.select(n=N)
            self.assertEqual((found["match"], found["config"]),
                             ("exact", tuned.best))
            self.assertEqual(kernel._library.notes, [
                n for n in kernel._library.notes if "known by that" in n])
            # Nothing was put beside it.
            self.assertEqual(sorted(os.listdir(os.path.dirname(spec))),
                             before)

    def test_sizes(self):
        "a spec is tuned for the size that is given, or for all that it lists"
        spec = self.own("sized")
        tuned = shmtune.tune(spec, problem={"n": 64}, budget=1, folder="sized")
        self.assertEqual((tuned.size, tuned.others), ({"n": 64}, []))
        self.assertIn(" n=64 on Fake device", str(tuned))
        with open(spec, "a", encoding="utf-8") as file:
            file.write("sizes: [{n: 32}, {n: 96}]\n")
        tuned = shmtune.tune(spec, budget=1, folder="sized")
        self.assertEqual(sorted(t.size["n"] for t in [tuned] + tuned.others),
                         [32, 96])
        self.assertIn("and 1 more, in others", str(tuned))
        self.refuses("problem: the size n is 1.5", shmtune.tune, spec,
                     problem={"n": 1.5}, folder="sized")
        for more in ({"parameters": PARAMETERS}, {"block": 64},
                     {"answer": array.array("f", [0])}):
            self.refuses("%s is given, and no entry" % list(more)[0],
                         shmtune.tune, spec, folder="sized", **more)

    def test_failed(self):
        "a size that cannot be tuned takes nothing from the others"
        spec = self.own("failed")
        with open(spec, "a", encoding="utf-8") as file:
            file.write("sizes: [{n: 1000000}, {n: 32}, {n: 96}]\n")
        with warnings.catch_warnings(record=True) as caught, \
                mock.patch.dict(os.environ, FAKE_CUDA_MEMORY="20000000"):
            warnings.simplefilter("always")
            tuned = shmtune.tune(spec, budget=1, folder="failed")
            error = self.refuses(
                "memory", shmtune.tune, spec, budget=1, folder="failed",
                problem={"n": 1000000}, status=tuned.failed[0][1].status)
        self.assertEqual(sorted(t.size["n"] for t in [tuned] + tuned.others),
                         [32, 96])
        (size, failed), = tuned.failed
        self.assertEqual(size, {"n": 1000000})
        # Where none could be tuned, that is the error.
        self.assertEqual(str(failed), str(error))
        self.assertEqual(str(caught[0].message),
                         "n=1000000 is not tuned: %s" % error)
        self.assertEqual(caught[0].filename, __file__)
        self.assertIn("and 1 that failed, in failed", str(tuned))

    def test_elsewhere(self):
        "the GPU of another machine"
        with open("launcher", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho use >>uses\nexec \"$@\"\n")
        os.chmod("launcher", 0o755)
        tuned = self.tune("elsewhere", answer=right, on="./launcher",
                          far_program=pathlib.Path(_command.program()),
                          workers=1)
        self.assertEqual(tuned.best["COST"], 5)
        with open("uses", encoding="utf-8") as file:
            self.assertEqual(file.read(), "use\n")
        self.refuses("--on", self.tune, "elsewhere", workers=2)

    def test_numbers(self):
        "a number of Python's has the type of the kernel's parameter"
        source = """
        __global__ void cover(float *, const float *, int, int);
        extern "C" __global__ void cover(float *out, const float *x,
            const float a, long n, size_t s, unsigned char c, double d)
        {
            int i = blockIdx.x * TILE + threadIdx.x;
            if (i < n)
                out[i] = a * x[i];
        }"""
        given = {"out": shmtune.Out(array.array("f", [0] * N)),
                 "x": array.array("f", range(N)), "a": 3, "n": "n", "s": N,
                 "c": 200.0, "d": 5}
        shmtune.tune(source, "cover", {"n": N}, given, {"TILE": [64]},
                     folder="numbers", grid=["ceildiv(n, TILE)"],
                     block=["TILE"],
                     answer=lambda out, x, a, *rest: array.array(
                         "f", [a * v for v in x]))
        with open("numbers/kernels/cover.yaml", encoding="utf-8") as file:
            spec = file.read()
        for text in ("a: {type: f32, value: 3}", "n\": {type: i64, value: ",
                     "s: {type: u64, value: 1000}",
                     "c: {type: u8, value: 200}", "d: {type: f64, value: 5}"):
            self.assertIn(text, spec)
        given["s"] = 1.5
        self.refuses("argument s is 1.5; expected a whole", shmtune.tune,
                     source, "cover", {"n": N}, given, {"TILE": [64]},
                     folder="numbers", grid=[1], block=[64])

    def test_links(self):
        "what is opened for a spec that lies anywhere is gone with it"
        def links():
            return [n for n in os.listdir(tempfile.gettempdir())
                    if n.startswith("shmtune-open.")]

        tuned = shmtune.tune(self.own("gone"), budget=1, folder="gone_tuned")
        kernel = tuned.kernel()
        self.assertEqual(len(links()), 1)
        self.call(kernel)
        del kernel
        gc.collect()
        self.assertEqual(links(), [])
        # Two specs of one name: the library takes the first.
        with open("gone/a.yaml", "w", encoding="utf-8") as file:
            file.write(text_of("fake_kernel.yaml").replace("fake_kernel.cu",
                                                           "mine.cu"))
        error = self.refuses("is the one of", tuned.kernel)
        self.assertIn(os.path.abspath("gone/mine.yaml"), str(error))
        self.assertIn(os.path.abspath("gone/a.yaml"), str(error))
        gc.collect()
        self.assertEqual(links(), [])

    def test_called(self):
        "what was tuned is called with arrays, at other sizes too"
        kernel = self.tune("called", answer=right).kernel()
        for n in (N, 64):
            out = Interface("<f4", (n,))
            x = Interface("<f4", (n,), range(n))
            acc = Interface("<i4", (n,), range(n))
            kernel(out, x, acc)
            self.assertEqual(out.read(), [2.0 * i for i in range(n)])
        self.assertEqual(kernel.select(n=N)["match"], "exact")

    def test_counts(self):
        "an array without a count has its own, and no other"
        kernel = self.tune("counts", answer=right,
                           arguments=arguments(False), budget=1).kernel()
        out, x, acc = (Interface("<f4", (64,)), Interface("<f4", (64,)),
                       Interface("<i4", (64,)))
        self.refuses("64 elements", kernel, out, x, acc)

    def test_answers(self):
        "answers as a list, and as what the default computes"
        given = arguments()
        listed = right(*[a.array if hasattr(a, "array") else a
                         for a in given.values()])
        self.tune("listed", budget=1, answer=[
            listed.get(name) for name in given])
        self.tune("computed", budget=1)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
    def test_oracles(self):
        "an answer that was computed in a wider type is rounded"
        import numpy

        def wide(out, x, acc, *rest):
            return {"out": 2 * numpy.asarray(x, numpy.float64),
                    "acc": numpy.asarray(acc, numpy.int64) + 1}
        self.tune("wide", budget=1, answer=wide)
        written = "wide/kernels/scale.data/out.answer.npy"
        self.assertEqual(numpy.load(written).dtype, numpy.float32)
        self.refuses("elements of type f16, the argument 1000 of type f32; "
                     "give it as that", self.tune, "narrow", budget=1,
                     answer=lambda out, x, *rest: {
                         "out": numpy.asarray(x, numpy.float16)})

    def test_wrong(self):
        "a wrong answer is an error, with the element"
        def wrong(out, x, acc, *rest):
            return {"out": x, "acc": right(out, x, acc)["acc"]}
        error = self.refuses("out[999] is 499.5, expected 249.75", self.tune,
                             "wrong", answer=wrong, status=4)
        self.assertEqual(error.name, "WRONG_RESULT")
        self.tune("close", answer=wrong, tolerance=1000.0, budget=1)

    def test_default(self):
        "the default that is given is what others are compared with"
        tuned = self.tune("default", answer=right,
                          default={"TILE": 32, "COST": 20})
        self.assertEqual(tuned.default_us, 20)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
    def test_halves(self):
        "half precision is compared as exactly as it is"
        import numpy
        written = arguments()
        written["half"] = shmtune.Out(numpy.zeros(N, numpy.float16))
        with self.assertRaises(shmtune.Error):      # the kernel has no such
            self.tune("halves", budget=1, arguments=written)
        with open("halves/kernels/scale.yaml", encoding="utf-8") as file:
            spec = file.read()
        self.assertIn("half: {type: f16, role: output, count: 1000, "
                      "tolerance: {absolute: 1.0e-06, relative: 0.001}}", spec)

    def test_coarse(self):
        "the tolerance of a type is the one that the command proposes"
        from shmtune._spec import REAL
        from shmtune._tune import COARSE
        os.makedirs("coarse", exist_ok=True)
        with open("coarse/all.cu", "w", encoding="utf-8") as file:
            file.write("extern \"C\" __global__ void all(%s) {}\n" % ", ".join(
                "void *" for _ in REAL))
        with open("coarse/all.yaml", "w", encoding="utf-8") as file:
            file.write("format: kernel/2\nname: all\nsource: all.cu\n"
                       "parameters: {A: {values: [1], default: 1}}\nlaunches:\n"
                       "- {entry: all, grid: [1], block: [1], "
                       "arguments: [%s]}\narguments:\n" % ", ".join(
                           "y_" + word for word in REAL))
            file.writelines("  y_%s: {type: %s, role: output, count: 1}\n"
                            % (word, word) for word in REAL)
        said = subprocess.run(
            [_command.program(), "check", "coarse/all.yaml", "--arch",
             "sm_90"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env=_command.environment()).stdout
        said = dict(re.findall(r"y_(\w+) is \w+ without a tolerance:[^{]*"
                               r"\{relative: ([^}]*)\}", " ".join(
                                   said.split())))
        self.assertEqual(sorted(said), sorted(REAL))
        self.assertEqual(COARSE, {w: float(said[w]) for w in COARSE})

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
    def test_strided(self):
        "arrays with gaps are taken without them, of each type"
        import numpy
        from shmtune._spec import host_array
        for kind in "efd?bBhHiIqQ":
            array_ = numpy.arange(8).astype(kind)
            view, word = host_array(array_[::2], "x")
            self.assertEqual(view.tobytes(), array_[::2].tobytes())
            self.assertEqual(word, host_array(array_, "x")[1])
        for kind, real in (("F", "float32"), ("D", "float64")):
            self.refuses("x.view(numpy.%s)" % real, host_array,
                         numpy.zeros(4, kind), "x")

    def test_nothing_written(self):
        "arrays without a role are read, and one has to be written"
        given = {n: a.array if hasattr(a, "array") else a
                 for n, a in arguments().items()}
        self.refuses("no argument is one that the kernel writes; give those "
                     "as Out(array)", self.tune, "unwritten", arguments=given)

    def test_no_source(self):
        "a source without a line's end and a bracket is a path"
        self.refuses("there is no source scale.cuda", shmtune.tune,
                     "scale.cuda", "scale", {"n": N}, arguments(), PARAMETERS,
                     status=5, **GRID)

    def test_place(self):
        "an error in what was given has its place in the spec"
        error = self.refuses("TILE <=", self.tune, "place",
                             constraints=["TILE <="], status=2,
                             default={"TILE": 32, "COST": 5})
        self.assertTrue(error.file.endswith("scale.yaml"))
        self.assertGreater(error.line, 1)
        self.assertGreater(error.column, 1)

    def test_unread(self):
        "an expression that cannot be read has its place without a default, too"
        for more in ({"constraints": ["TILE <="]}, {"constraints": "TILE <="},
                     {"block": ["TILE <="]}, {"derived": {"twice": "TILE <="}},
                     {"constraints": ["TILE <=" + "(" * 1000]}):
            error = self.refuses("; in `", self.tune, "unread",
                                 status=2, **more)
            self.assertTrue(error.file.endswith("scale.yaml"))
            self.assertGreater(error.column, 1)

    def test_word(self):
        "a word where a number is needed is an error in the spec"
        for name in ("grid", "block"):
            error = self.refuses("a word", self.tune, "word", status=2,
                                 constraints=(), parameters={
                                     "TILE": ["wide", "narrow"],
                                     "COST": {"values": [5], "default": 5,
                                              "scope": "launch"}},
                                 **{name: ["TILE * 2"]})
            self.assertTrue(error.file.endswith("scale.yaml"))

    def test_ranges(self):
        "parameters as the spec has them, ranges too, without a default"
        cost = {"values": [5], "default": 5, "scope": "launch"}
        for tile, number in (
                ({"from": 32, "to": 128, "times": 2}, 3),
                ({"values": {"from": 32, "to": 128, "times": 2}}, 3),
                ({"from": 64, "to": 128, "step": 64}, 2),
                ({"from": 128, "to": "n - 870", "times": 2}, 1),
                ({"from": 32, "to": 64, "times": 2, "default": 32}, 2),
                (range(32, 65, 32), 2), ((32, 64), 2)):
            tuned = self.tune("ranges", answer=right,
                              parameters={"TILE": tile, "COST": cost},
                              constraints="TILE <= 128")
            self.assertEqual(len(tuned.results), number, tile)
            self.assertIn(tuned.best["TILE"], (32, 64, 128))
        for tile, said in (
                ({"from": 32}, "expected the key \"to\""),
                ({"from": 32, "to": 64, "times": 1}, "to 1024"),
                ({"from": 32, "to": 64, "step": 0}, "expected an integer"),
                ({"from": 32, "to": 16}, "expected an integer"),
                ({"from": 32, "to": 64, "by": 2}, "by")):
            self.refuses(said, self.tune, "ranges", status=2,
                         parameters={"TILE": tile, "COST": cost})
        for tile, said in (
                ({"from": "n", "to": 64}, "give its \"default\""),
                (64, "parameter TILE has the values 64"),
                ("64", "parameter TILE has the values '64'"),
                ({"value": [64]}, "parameter TILE has the values None"),
                ([], "parameter TILE has no values"),
                ([None], "expected a number or a word")):
            self.refuses(said, self.tune, "ranges",
                         parameters={"TILE": tile, "COST": cost})

    def test_numbers(self):
        "numbers of NumPy's kind are written as numbers"
        class Real(float):
            def __repr__(self):
                return "np.float64(%s)" % float.__repr__(self)

        class Whole:
            def __init__(self, value):
                self.value = value

            def tolist(self):
                return self.value

            __index__ = item = tolist

        tuned = shmtune.tune(
            text_of("fake_kernel.cu"), "scale",
            {"n": {"default": Whole(N), "max": Whole(N)}},
            arguments(), {"TILE": [Whole(32), Whole(64)],
                          "COST": {"values": [Real(5.0), Real(20.0)],
                                   "scope": "launch"}},
            folder="numbers", answer=right, tolerance=Real(1e-6),
            budget="all", keys={"work": {"flops": Whole(N)}}, **GRID)
        self.assertEqual(len(tuned.results), 4)
        with open(tuned.spec, encoding="utf-8") as file:
            spec = file.read()
        for text in ("{default: 1000, max: 1000}", "values: [32, 64]",
                     "values: [5.0, 20.0]", "absolute: 1.0e-06",
                     "flops: 1000"):
            self.assertIn(text, spec)
        self.refuses("write 0 and 1", self.tune, "numbers",
                     parameters={"TILE": [Whole(True)]})

    def test_unwritten(self):
        "what cannot be written or started says which file"
        for name in ("/dev/null/here", "r\0here"):
            self.refuses("here", self.tune, name, status=5)
        os.makedirs("taken/kernels/scale.yaml", exist_ok=True)
        self.refuses("taken/kernels/scale.yaml: cannot be written: Is a",
                     self.tune, "taken", status=5)
        os.makedirs("kept.npy/kernels/scale.data/x.npy", exist_ok=True)
        self.refuses("x.npy: cannot be written", self.tune, "kept.npy",
                     status=5)
        self.refuses("cannot be started", self.tune, "r", budget="\0",
                     status=5)
        self.refuses("scale.cu: cannot be written: 'utf-8' codec",
                     shmtune.tune, "\ud800\n", "scale", folder="r", status=5,
                     **GRID)

    def test_bytes(self):
        "a source in a folder of a name that is no UTF-8"
        where = os.fsdecode(b"l\xe4rm")
        os.makedirs(where, exist_ok=True)
        source = os.path.join(where, "s.cu")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text_of("fake_kernel.cu"))
        self.refuses("UTF-8", shmtune.tune, source, "scale", {"n": N},
                     arguments(), PARAMETERS, folder="bytes", budget=1,
                     status=2, **GRID)

    def test_compiler(self):
        "a source that does not compile says the compiler's words"
        with self.assertRaises(shmtune.Error) as caught:
            shmtune.tune("__global__ void f(float *y) { y[0] = z; }\n", "f",
                         {}, {"y": shmtune.Out(array.array("f", [0]))},
                         {"TILE": [1]}, grid=[1], block=[1],
                         folder="compiler")
        self.assertIn("\"z\" is undefined", str(caught.exception))

    def test_refusals(self):
        "what cannot be is refused before anything runs"
        self.refuses("grid and block are missing", self.tune, "r", grid=None)
        self.refuses("of 3 that were tried; there are no others: drop or "
                     "loosen one of `TILE > 128`", self.tune, "r",
                     constraints=["TILE > 128"], status=3)
        self.refuses("an answer for x", self.tune, "r",
                     answer={"x": array.array("f", [0] * N)})
        self.refuses("answer has 1 members", self.tune, "r", answer=[None])
        self.refuses("of type i32, the argument 1000 of type f32", self.tune,
                     "r", answer={"out": array.array("i", [0] * N)})
        self.refuses("its count 2 * n is 2000", self.tune, "r", arguments={
            "out": shmtune.Out(array.array("f", [0] * N), count="2 * n")})
        self.refuses("is a str; expected an array", self.tune, "r",
                     arguments={"out": shmtune.Out("text")})
        self.refuses("write 0 and 1", self.tune, "r",
                     parameters={"TILE": [True]})
        self.refuses("no source nowhere.cu", shmtune.tune, "nowhere.cu", "f",
                     {}, {}, {"TILE": [1]}, status=5, folder="r", grid=[1],
                     block=[1])
        self.refuses("no kernel", shmtune.tune, "nothing", folder="r")
        for name, said in (("parameters", "parameters is a list"),
                           ("derived", "derived is a list"),
                           ("default", "default is a list"),
                           ("keys", "keys is a list"),
                           ("tolerance", "argument out has the tolerance ["),
                           ("answer", "answer has 1 members")):
            self.refuses(said, self.tune, "r", **{name: [5]})
        self.refuses("folder is a list", self.tune, ["r"])
        self.refuses("problem is a int", shmtune.tune, "a\n", "f", 1000,
                     grid=1, block=1, folder="r")
        self.refuses("arguments is a int", shmtune.tune, "a\n", "f", {}, 5,
                     grid=1, block=1, folder="r")
        for source in (None, b"a.cu"):
            self.refuses("source is a ", shmtune.tune, source, "f", {}, {},
                         grid=1, block=1, folder="r")
        self.refuses("entry is a int", shmtune.tune, "a\n", 5, folder="r")
        self.refuses("argument out has the count \"n +\"", self.tune, "r",
                     arguments={"out": shmtune.Out(array.array("f", [0]),
                                                   count="n +")})
        for n in (N + 0.5, 2**64 + N, True, "many", None):
            for size in (n, {"default": n}):
                self.refuses("problem: the size n is ", shmtune.tune,
                             text_of("fake_kernel.cu"), "scale", {"n": size},
                             arguments(), PARAMETERS, folder="r", **GRID)
        self.refuses("expected the key \"default\"", shmtune.tune,
                     text_of("fake_kernel.cu"), "scale", {"n": {"min": 1}},
                     arguments(False), {"TILE": [64]}, grid=[1], block=[64],
                     folder="r", status=2)

    def test_replayed(self):
        "what was recorded is tuned without a GPU"
        tuned = self.tune("recorded", answer=right)
        again = self.tune("recorded", answer=right,
                          device="replay:" + tuned.journal)
        self.assertTrue(again.found["recorded"])
        self.assertEqual(again.best["COST"], 5)
