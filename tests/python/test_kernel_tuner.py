# SPDX-License-Identifier: MIT
"""tune_kernel() on the fake driver; and what it makes of Kernel Tuner's
examples, as far as that can be told without a GPU."""
import array
import ctypes
import importlib.util
import inspect
import json
import os
import subprocess
import unittest
import warnings

import shmtune
from device import Case, text_of
from shmtune import _command, _kernel_tuner as ported, _source

N = 1000
SOURCE = "#define TILE block_size_x\n" + text_of("fake_kernel.cu")
# The arguments of Kernel Tuner 1.5.0's tune_kernel, in their order.
SIGNATURE = """kernel_name kernel_source problem_size arguments tune_params
grid_div_x grid_div_y grid_div_z restrictions answer atol verify verbose lang
device platform smem_args cmem_args texmem_args compiler compiler_options
defines log iterations block_size_names quiet strategy strategy_options cache
metrics simulation_mode parallel observers objective objective_higher_is_better
objectives seed""".split()
PARAMETERS = {"block_size_x": [32, 64, 128], "spare": [0, 1]}


def arguments(fault=0):
    return [array.array("f", [0] * N),
            array.array("f", [i / 4 for i in range(N)]),
            array.array("i", range(N)), array.array("i", [0]),
            ctypes.c_int32(N), ctypes.c_int32(fault), ctypes.c_int32(7)]


def tune(folder, **more):
    given = {"kernel_name": "scale", "kernel_source": SOURCE,
             "problem_size": N, "arguments": arguments(),
             "tune_params": PARAMETERS, "folder": folder, **more}
    return shmtune.tune_kernel(**given)


class ListLike:
    """Compares element by element, as NumPy's arrays do."""
    def __ne__(self, other):
        raise ValueError("ambiguous")

    __eq__ = __ne__


def run(**more):
    given = {"kernel_name": "scale", "kernel_source": SOURCE,
             "problem_size": N, "arguments": arguments(),
             "params": {"block_size_x": 64, "spare": 1}, **more}
    return shmtune.run_kernel(**given)


def answer():
    out, x, acc, *rest = arguments()
    return [array.array("f", [2 * v for v in x]), None,
            array.array("i", [v + 1 for v in acc]), None, None, None, None]


class TuneKernel(Case):
    def test_results(self):
        "results and env as Kernel Tuner gives them"
        results, env = tune("kt_results", answer=answer(), metrics={
            "GB/s": lambda p: 8e-6 * N / p["time"],
            "more": "2 * spare + block_size_x"})
        self.assertEqual(len(results), 6)
        self.assertEqual({tuple(sorted(r)) for r in results}, {
            ("GB/s", "benchmark_time", "block_size_x", "compile_time",
             "framework_time", "more", "spare", "strategy_time", "time",
             "times", "verification_time")})
        first = min(results, key=lambda row: row["time"])
        self.assertEqual(first["time"], 0.007)
        self.assertEqual(first["more"],
                         2 * first["spare"] + first["block_size_x"])
        self.assertEqual(env["best_config"]["time"], first["time"])
        self.assertEqual(env["rejected"], [])
        self.assertTrue(env["checked"])
        self.assertTrue(os.path.exists(env["spec"]))
        self.assertTrue(os.path.exists(env["tuning"]))
        # Its examples end with this.
        self.assertEqual(json.loads(json.dumps((results, env)))[0], results)
        self.assertEqual(env.tuned.best["spare"], first["spare"])

    def test_resumed(self):
        "an interrupted call goes on"
        tune("kt_resumed", budget=2)
        _, env = tune("kt_resumed", resume=True)
        self.assertEqual(env.tuned.found["resumed"], 2)
        _, env = tune("kt_resumed")
        self.assertEqual(env.tuned.found["resumed"], 0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _, env = tune("kt_resumed", cache="mine.json")
        self.assertEqual(env.tuned.found["resumed"], 6)
        self.assertIn("mine.json is neither read nor written",
                      str(caught[0].message))

    def test_simulated(self):
        "a cache of Kernel Tuner's is replayed"
        cache = {"%d,%d" % (b, s): {
            "block_size_x": b, "spare": s, "times": [b / 32 + s] * 3,
            "time": b / 32 + s if b < 128 else "CompilationFailedConfig"}
            for b in (32, 64, 128) for s in (0, 1)}
        with open("kt_cache.json", "w", encoding="utf-8") as file:
            json.dump({"device_name": "A100", "kernel_name": "scale",
                       "tune_params_keys": ["block_size_x", "spare"],
                       "tune_params": PARAMETERS, "cache": cache}, file)
        results, env = tune("kt_simulated", cache="kt_cache",
                            simulation_mode=True)
        self.assertEqual(sorted(r["time"] for r in results), [1, 2, 2, 3])
        self.assertEqual((env["device_name"], env["best_config"]["time"]),
                         ("A100", 1))
        self.assertEqual(len(env["rejected"]), 2)
        self.refuses("simulation_mode needs cache=", tune, "kt_simulated",
                     simulation_mode=True)
        self.refuses("nowhere.json", tune, "kt_simulated", cache="nowhere",
                     simulation_mode=True, status=5)

    def test_metrics(self):
        "a text is Python with all that it has"
        results, _ = tune("kt_metrics", budget=1, metrics={
            "most": "max(t for t in times if t >= time)",
            "all": "round(len(times) * most, 3)"})
        self.assertEqual([r["most"] for r in results],
                         [r["time"] for r in results])

    def test_declared(self):
        "a declaration before the kernel says nothing of what it writes"
        declared = SOURCE.replace(
            "extern \"C\"", "extern \"C\" __global__ void scale("
            "float *, const float *, int *, int *, int, int, int);\n"
            "__device__ int none(int a) { return a; }\nextern \"C\"", 1)
        self.assertNotEqual(declared, SOURCE)
        results, _ = tune("kt_declared", kernel_source=declared, budget=1,
                          answer=answer())
        self.assertEqual(len(results), 1)

    def test_positions(self):
        "the arguments stand where Kernel Tuner has them"
        results, _ = shmtune.tune_kernel(
            "scale", SOURCE, (N,), arguments(), PARAMETERS, ["block_size_x"],
            None, None, ["spare == 1"], answer(), 1e-6, folder="kt_positions")
        self.assertEqual([r["spare"] for r in results], [1, 1, 1])

    def test_unchecked(self):
        "without an answer nothing is compared, as with Kernel Tuner"
        # One element is left unwritten.
        results, env = tune("kt_unchecked", arguments=arguments(9))
        self.assertEqual(len(results), 6)
        self.assertFalse(env["checked"])

    def test_wrong(self):
        "a wrong answer is an error"
        wrong = answer()
        wrong[0][17] = 1
        with self.assertRaises(shmtune.Error) as caught:
            tune("kt_wrong", answer=wrong)
        self.assertIn("out[17]", str(caught.exception))
        self.assertEqual(caught.exception.status, 4)
        tune("kt_atol", answer=wrong, atol=1e3)

    def test_verify(self):
        "a function verifies what each configuration wrote"
        seen = []

        def verify(expected, got, atol=None):
            seen.append(atol)
            self.assertIsNone(got[1])
            self.assertEqual(list(got[2]), list(expected[2]))
            return abs(sum(got[0]) - expected[0]) < 1

        right = answer()
        total = [sum(right[0])] + right[1:]
        results, env = tune("kt_verify", answer=total, verify=verify, atol=3)
        self.assertEqual((len(results), seen), (6, [3] * 6))
        self.assertTrue(env["checked"])
        # On a recorded device nothing is run that could be verified.
        _, replayed = tune("kt_replayed", answer=total, verify=verify,
                           device="replay:" + env["journal"])
        self.assertFalse(replayed["checked"])
        total[0] += 5
        results, env = tune("kt_unverified", answer=total, verify=verify)
        self.assertEqual((results, len(env["rejected"])), ([], 6))
        self.assertEqual(env["rejected"][0]["verdict"], "wrong")
        self.assertNotIn("best_config", env)
        self.assertFalse(os.path.exists(env["tuning"]))

    def test_verify_compiles_together(self):
        "what a function verifies is compiled before, by all processors"
        log = os.path.abspath("kt_verify.log")
        cache = os.environ["XDG_CACHE_HOME"]
        os.environ.update(SHMTUNE_LOG=log,
                          XDG_CACHE_HOME=os.path.abspath("kt_cache"))
        try:
            tune("kt_together", answer=answer(), verify=lambda a, b: True)
        finally:
            del os.environ["SHMTUNE_LOG"]
            os.environ["XDG_CACHE_HOME"] = cache
        with open(log) as file:
            lines = [l for l in file if "prepare scale" in l]
        self.assertEqual(len(lines), 6)
        if len(os.sched_getaffinity(0)) > 1:
            self.assertTrue(all("cached" in l for l in lines), lines)

    def test_verify_two(self):
        "a function of two arguments, that takes some"
        calls = []

        def verify(expected, got):
            calls.append(got)
            return len(calls) > 2

        results, env = tune("kt_some", answer=answer(), verify=verify)
        self.assertEqual((len(results), len(env["rejected"])), (4, 2))

    def test_options(self):
        "compiler_options: macros, standards, and what is for the device"
        source = SOURCE.replace("2 * tile", "TWICE * tile")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _, env = tune("kt_options", kernel_source=source, iterations=3,
                          answer=answer(), log=10, lang="cuda",
                          compiler_options=["-DTWICE=2", "-arch=sm_52",
                                            "-std=c++14", "--fmad=false"])
        said = " ".join(str(w.message) for w in caught)
        self.assertIn("-arch=sm_52 is left out", said)
        self.assertIn("iterations", said)
        spec = open(env["spec"], encoding="utf-8").read()
        for text in ("standard: \"c++14\"", "--fmad=false"):
            self.assertIn(text, spec)

    def test_file(self):
        "a source of a file, with a header beside it"
        os.makedirs("kt_source", exist_ok=True)
        with open("kt_source/scale.cu", "w", encoding="utf-8") as file:
            file.write("#include \"tile.h\"\n" + SOURCE.partition("\n")[2])
        with open("kt_source/tile.h", "w", encoding="utf-8") as file:
            file.write("#define TILE block_size_x\n")
        results, _ = tune("kt_file", kernel_source="kt_source/scale.cu",
                          answer=answer())
        self.assertEqual(len(results), 6)

    def test_signature(self):
        "each of Kernel Tuner's arguments is taken, or refused by its name"
        taken = list(inspect.signature(shmtune.tune_kernel).parameters)
        named = set(taken) | set(ported.REFUSED)
        self.assertEqual([n for n in SIGNATURE if n not in named], [])
        self.assertEqual(set(ported.REFUSED) - set(SIGNATURE), set())
        # Those of a position of its own stand where Kernel Tuner has them.
        first = taken[:taken.index("device") + 1]
        self.assertEqual(first, SIGNATURE[:len(first)])

    def test_refused(self):
        "every other argument is refused by its name"
        for name in ported.REFUSED:
            value = {"platform": 1}.get(name, ["x"])
            self.refuses("does not take %s; " % name, tune, "kt_refused",
                         **{name: value})
        # What is 0, false or empty is given as well.
        for value in ({}, ListLike()):
            self.refuses("does not take texmem_args; ", tune, "kt_refused",
                         texmem_args=value)
        self.refuses("does not take compiler='gcc'; it takes \"nvcc\"", tune,
                     "kt_refused", compiler="gcc")
        for name, value in ported.UNSET.items():
            tune("kt_unset", **{name: value})
        with self.assertRaises(TypeError):
            tune("kt_refused", surprise=1)

    def test_strategies(self):
        "a strategy is that of its kind here, and so is its budget"
        for name, options, most in (
                ("brute_force", None, 6), ("random_sample", {"max_fevals": 3},
                                           3),
                ("genetic_algorithm", {"max_fevals": 4}, 4),
                ("basinhopping", {"max_fevals": 2}, 2),
                ("annealing", {"time_limit": 0.5}, 6)):
            results, env = tune("kt_strategy_" + name, strategy=name,
                                strategy_options=options, seed=3, quiet=True,
                                parallel=True, answer=answer())
            self.assertEqual(env.tuned.found["strategy"],
                             ported.STRATEGIES.get(name, name))
            self.assertTrue(1 <= len(results) <= most, (name, len(results)))
        self.refuses("does not take strategy='best'; it takes model, ", tune,
                     "kt_refused", strategy="best")
        self.refuses("strategy_options popsize; it takes max_fevals", tune,
                     "kt_refused", strategy="pso",
                     strategy_options={"popsize": 4})
        self.refuses("all say how long to search; give one", tune,
                     "kt_refused", budget=3, strategy_options={"max_fevals": 3})

    def test_block_names(self):
        "the block's extents may have other names"
        source = SOURCE.replace("block_size_x", "threads")
        results, env = tune("kt_names", kernel_source=source, answer=answer(),
                            tune_params={"threads": [32, 64], "spare": [0, 1]},
                            block_size_names=["threads"])
        self.assertEqual(sorted({r["threads"] for r in results}), [32, 64])
        with open(env["spec"], encoding="utf-8") as file:
            text = file.read()
        self.assertIn("ceildiv(problem_x, threads)", text)
        self.refuses("block_size_names is ", tune, "kt_refused",
                     block_size_names=[1])

    def test_single(self):
        "one value or text stands where several may"
        results, _ = tune("kt_single", restrictions="spare == 1",
                          tune_params={"block_size_x": 64, "spare": (0, 1)},
                          compiler_options="-DSPARE=1", answer=answer())
        self.assertEqual([(r["block_size_x"], r["spare"]) for r in results],
                         [(64, 1)])
        with open("latin.cu", "wb") as file:
            file.write(b"// \xe4")
        self.refuses("kernel_source: latin.cu", tune, "kt_single", status=5,
                     kernel_source="latin.cu")
        self.refuses("kernel_source: nowhere.cu", tune, "kt_single", status=5,
                     kernel_source=["nowhere.cu", "b.cu"])
        with self.assertRaises(shmtune.Error) as caught:
            tune("kt_single", restrictions=["spare =="])
        self.assertIn("in `spare ==`", str(caught.exception))

    def test_words(self):
        "a word reaches the source as it stands"
        results, env = tune(
            "kt_words", answer=answer(), restrictions=["real_t != 'short'"],
            kernel_source="typedef real_t shown;\n"
                          "static_assert(sizeof(shown) > 2, \"\");\n" + SOURCE,
            tune_params={"block_size_x": [64],
                         "real_t": ["short", "float", "double"]})
        self.assertEqual((sorted(r["real_t"] for r in results),
                          env["rejected"]), (["double", "float"], []))

    def test_template(self):
        "an instance of a template, by numbers and by parameters"
        source = """namespace ns {
        template <class T, int width> __launch_bounds__(1024)
        __global__ void cover(T *out, const T *x, float a, int n)
        {
            int i = blockIdx.x * block_size_x + threadIdx.x;
            if (i < n)
                out[i] = a * x[i];
        }
        }"""
        given = dict(
            kernel_name="ns::cover<element, WIDTH>", kernel_source=source,
            arguments=[array.array("f", [0] * N), array.array("f", range(N)),
                       ctypes.c_float(3), ctypes.c_int32(N)],
            tune_params={"block_size_x": [32, 64], "WIDTH": [2],
                         "element": ["float"]})
        right = [array.array("f", [3 * v for v in range(N)]), None, None, None]
        results, _ = tune("kt_template", answer=right, **given)
        self.assertEqual(len(results), 2)
        results, _ = tune("kt_template", **given)
        self.assertEqual(len(results), 2)
        given["kernel_name"] = "ns::cover<element, WIDTH%s>" % (" + 0" * 30)
        results, env = tune("kt_template", answer=right, **given)
        self.assertEqual((len(results), len(env.tuned.name)), (2, 64))
        right[0][7] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.refuses("out[7]", tune, "kt_template", status=4,
                         answer=right, **given)

    def test_functions(self):
        "functions of a configuration become expressions of the spec"
        def spare(spare, **rest):
            return spare == 1 and rest["block_size_x"] < 128

        results, env = tune(
            "kt_functions", answer=answer(), tune_params={
                "block_size_x": [32, 64, 128], "spare": [0, 1, 2]},
            problem_size=lambda p: (N * p["spare"], 1),
            grid_div_x=lambda p: p["block_size_x"] * p["spare"],
            restrictions=[spare, lambda p: p["block_size_x"] & 32 == 0],
            smem_args={"size": lambda p: 4 * p["block_size_x"]})
        self.assertEqual([(r["block_size_x"], r["spare"]) for r in results],
                         [(64, 1)])
        with open(env["spec"], encoding="utf-8") as file:
            spec = file.read()
        for text in ("int(-((-(%d * spare) / ((block_size_x * spare))) // 1))"
                     % N, "(spare == 1) and (block_size_x < 128)",
                     "not (block_size_x in [32])",
                     "shared_dynamic: \"int(4 * block_size_x)\""):
            self.assertIn(text, spec)
        results, _ = tune("kt_functions", answer=answer(),
                          restrictions=lambda p: p["spare"] == 1)
        self.assertEqual(len(results), 3)
        with self.assertRaises(KeyError):
            tune("kt_functions", restrictions=lambda p: p["none"] == 1)

    def test_generated(self):
        "a source that a function makes of a configuration"
        results, env = tune(
            "kt_generated", answer=answer(),
            kernel_source=lambda p: "#define SPARE %d\n#if SPARE != spare\n"
            "#error another\n#endif\n%s" % (p["spare"], SOURCE))
        self.assertEqual((len(results), env["rejected"]), (6, []))
        with self.assertRaises(shmtune.Error) as caught:
            tune("kt_generated", kernel_source=lambda p: "%d\n" % p["n"],
                 tune_params={"block_size_x": [64], "n": list(range(500))})
        self.assertIn("gives 500 texts, 256 at most", str(caught.exception))

    def test_defines(self):
        "defines are the macros, and no parameter is one"
        source = SOURCE.replace("block_size_x", "TILE_OF") \
            .replace("2 * tile", "TWICE * tile")
        results, _ = tune(
            "kt_defines", answer=answer(),
            kernel_source="#ifdef spare\n#error spare\n#endif\n" + source,
            defines={"TILE_OF": lambda p: str(p["block_size_x"]),
                     "TWICE": 2})
        self.assertEqual(len(results), 6)

    def test_host_options(self):
        "options of nvcc's for the host are left out"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _, env = tune("kt_host", answer=answer(), compiler_options=[
                "-O3", "-Xcompiler", "-Wall", "-arch", "sm_52", "-D",
                "SPARE=1", "-I", "inc", "--std", "c++17"])
        said = " ".join(str(w.message) for w in caught)
        for text in ("-O3", "-Xcompiler=-Wall", "-arch=sm_52"):
            self.assertIn(text + " is left out", said)
        with open(env["spec"], encoding="utf-8") as file:
            spec = file.read()
        self.assertIn("c++17", spec)
        self.assertIn(os.path.abspath("inc"), spec)
        self.assertNotIn("options", spec)

    def test_header(self):
        "a source that only includes the kernel"
        os.makedirs("kt_header", exist_ok=True)
        with open("kt_header/scale.cuh", "w", encoding="utf-8") as file:
            file.write(SOURCE)
        results, _ = tune("kt_header", answer=answer(),
                          kernel_source="#include \"scale.cuh\"",
                          compiler_options=["-Ikt_header"])
        self.assertEqual(len(results), 6)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
    def test_layout(self):
        "an array of Fortran's order goes as it lies in memory, and back"
        import numpy
        x = numpy.asfortranarray(numpy.arange(
            N, dtype=numpy.float32).reshape(10, N // 10))
        given = arguments()
        given[0], given[1] = numpy.zeros_like(x), x
        out = run(arguments=given)
        self.assertTrue(out[0].flags.f_contiguous)
        self.assertTrue((out[0] == 2 * x).all())
        right = answer()
        right[0] = numpy.ascontiguousarray(2 * x)
        results, _ = tune("kt_layout", arguments=given, answer=right)
        self.assertEqual(len(results), 6)
        right[0][3, 7] = 0
        self.refuses("out[73]", tune, "kt_layout", arguments=given,
                     answer=right, status=4)
        from shmtune._kernel_spec import plain
        z = numpy.arange(6).reshape(2, 3) * (1 + 2j)
        self.assertEqual(plain(z).tolist(), [
            [0, 0, 1, 2, 2, 4], [3, 6, 4, 8, 5, 10]])
        self.assertEqual(plain(numpy.asfortranarray(z)).ravel().tolist(),
                         [0, 0, 3, 6, 1, 2, 4, 8, 2, 4, 5, 10])

    def test_begins_with_another(self):
        "where the plain configuration does not compile, another begins"
        low = "#if spare == 0\n#error low\n#endif\n" + SOURCE
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results, env = tune("kt_another", kernel_source=low,
                                answer=answer())
        self.assertEqual([r["spare"] for r in results], [1, 1, 1])
        self.assertEqual(len(env["rejected"]), 3)
        self.assertIn("tried again with block_size_x=", str(
            caught[0].message))
        self.assertEqual(caught[0].filename, __file__)
        self.refuses("has to be right", tune, "kt_another",
                     kernel_source=low, status=4,
                     default={"block_size_x": 64, "spare": 0})

    def test_kinds(self):
        "kinds of arguments that shmtune cannot take say what to write"
        for text, more in (
                ("problem_size is 1000.5", {"problem_size": 1000.5}),
                ("problem_size is None", {"problem_size": [None]}),
                ("restrictions is a function that no expression of a spec "
                 "can say: a list", {"restrictions": lambda p: []}),
                ("a restriction is a int", {"restrictions": [5]}),
                ("kernel_source gives a int", {"kernel_source": lambda p: 1}),
                ("kernel_source is an empty list", {"kernel_source": []}),
                ("smem_args has carveout",
                 {"smem_args": {"carveout": 1}}),
                ("smem_args is a int", {"smem_args": 5}),
                ("smem_args: size is 1.5", {"smem_args": {"size": 1.5}}),
                ("defines is a list", {"defines": ["A"]}),
                ("numbers and words to a source; name it by one",
                 {"tune_params": {"a": ["unsigned int"]}}),
                ("words to a source; write 0 and 1",
                 {"tune_params": {"a": [False, True]}}),
                ("tune_params is a list", {"tune_params": [64]}),
                ("tune_params: a has no values", {"tune_params": {"a": []}}),
                ("tune_params: a is a dictionary; expected a list",
                 {"tune_params": {"a": {"from": 1, "to": 2}}}),
                ("arguments is a int", {"arguments": 5}),
                ("answer is a int", {"answer": 5}),
                ("atol is 'x'", {"atol": "x"}),
                ("atol is None", {"atol": None}),
                ("metrics is a int", {"metrics": 5}),
                ("verify is a int", {"verify": 5}),
                ("cmem_args is a int", {"cmem_args": 5}),
                ("compiler_options has 5", {"compiler_options": [5]}),
                ("kernel_source is a NoneType", {"kernel_source": None}),
                ("kernel_source is a bytes", {"kernel_source": b"a("}),
                ("a is the text 'x'; expected a list",
                 {"tune_params": {"a": "x"}}),
                ("lang=\"C\"", {"lang": "C"}),
                ("lang='OpenCL'", {"lang": "OpenCL"}),
                ("has no __global__ function", {"kernel_name": "nothing"}),
                ("has 7 parameters, arguments has 6",
                 {"arguments": arguments()[:6]}),
                ("answer has 1 members", {"answer": [None]}),
                ("verify needs the answer",
                 {"verify": lambda a, b: True})):
            self.refuses(text, tune, "kt_kinds", **more)


class RunKernel(Case):
    def test_run(self):
        "the arguments as they are after one launch"
        given = arguments()
        out = run(arguments=given)
        right = answer()
        self.assertEqual(len(out), 7)
        self.assertEqual((out[0], out[2]), (right[0], right[2]))
        self.assertEqual(out[1], given[1])
        self.assertIs(out[4], given[4])
        # What was given stays as it was, and so does the folder.
        self.assertEqual(given[0], arguments()[0])
        self.assertFalse(os.path.exists("tuned"))
        out = shmtune.run_kernel("scale", SOURCE, (N,), given,
                                 {"block_size_x": 32}, ["block_size_x"],
                                 None, None, "cuda", 0, 0, quiet=True)
        self.assertEqual(out[0], right[0])

    def test_signature(self):
        "run_kernel's arguments are Kernel Tuner's, in their order"
        self.assertEqual(
            list(inspect.signature(shmtune.run_kernel).parameters),
            "kernel_name kernel_source problem_size arguments params "
            "grid_div_x grid_div_y grid_div_z lang device platform smem_args "
            "cmem_args texmem_args compiler compiler_options defines "
            "block_size_names quiet log".split())

    def test_refused(self):
        "what fails says why, and leaves nothing"
        before = sorted(os.listdir(os.environ["TMPDIR"]))
        self.refuses("error", run, status=9,
                     kernel_source=SOURCE + "\nnonsense\n")
        self.refuses("the block has 2048 threads, block_size_x * 1 * 1; 1024 "
                     "at most", run, params={"block_size_x": 2048})
        self.refuses("run_kernel: shmtune does not take texmem_args", run,
                     texmem_args={"t": 1})
        self.refuses("run_kernel: shmtune does not take lang=\"C\"", run,
                     lang="C")
        self.refuses("has 7 parameters, arguments has 6", run,
                     arguments=arguments()[:6])
        self.refuses("device is 'x'", run, device="x")
        self.refuses("params is a list", run, params=[64])
        self.assertEqual(sorted(os.listdir(os.environ["TMPDIR"])), before)


# What a kernel in C++ calls its variables.
WEIGHTS, OFFSETS = "_ZN7filters7weightsE", "offsets"


class Constants(Case):
    def given(self, **constants):
        return {"kernel_name": "convolve",
                "kernel_source": "#define BLOCK block_size_x\n#define taps 5\n"
                + text_of("fake_symbol.cu"),
                "arguments": [array.array("f", [0] * N),
                              array.array("f", range(N)),
                              ctypes.c_int32(N), ctypes.c_int32(0)],
                "cmem_args": {WEIGHTS: array.array("f", [0.5, 1, 2, 0, 1]),
                              OFFSETS: array.array("i", range(5)),
                              **constants}}

    def test_filled(self):
        "variables of the source are what cmem_args says"
        right = array.array("f", [
            0.5 * i + (i + 1) % N + 2 * ((i + 2) % N) + (i + 4) % N
            for i in range(N)])
        self.assertEqual(run(**self.given())[0], right)
        results, env = tune("kt_constants", answer=[right, None, None, None],
                            **self.given())
        self.assertEqual((len(results), env["rejected"]), (6, []))

    def test_size(self):
        "one of another size than its variable is refused with both"
        for count in (6, 4, 1):
            said = ("cmem_args: offsets has %d bytes, %d elements of 4, and "
                    "the variable of the source has 20; give as many"
                    % (4 * count, count))
            more = self.given(offsets=array.array("i", [0] * count))
            self.refuses(said, run, **more)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.refuses(said, tune, "kt_constants", **more)
        said = ("cmem_args: %s has 40 bytes, 5 elements of 8, and the variable "
                "of the source has 20" % WEIGHTS)
        more = self.given(**{WEIGHTS: array.array("d", range(5))})
        self.refuses(said, run, **more)
        self.refuses(said, tune, "kt_constants", **more)

    def test_depends(self):
        "where a parameter is in its size, it fits some configurations"
        more = self.given()
        more["kernel_source"] = more["kernel_source"].replace(
            "int offsets[taps]", "int offsets[5 + spare]")
        more["cmem_args"][OFFSETS] = array.array("i", range(6))
        results, env = tune("kt_depends", **more)
        self.assertEqual({r["spare"] for r in results}, {1})
        self.assertEqual({r["verdict"] for r in env["rejected"]},
                         {"spec_mismatch"})

    def test_kinds(self):
        "what fills nothing, and what nothing fills"
        for call, folder in ((run, ()), (tune, ("kt_constants",))):
            self.refuses("cmem_args: offsets is a float; expected an array",
                         call, *folder, **self.given(offsets=1.5))
            self.refuses("cmem_args: offsets has no elements", call, *folder,
                         **self.given(offsets=array.array("i")))
            more = self.given()
            more["cmem_args"]["wieghts"] = more["cmem_args"].pop(WEIGHTS)
            self.refuses("cmem_args: nothing fills the __constant__ variable "
                         "filters::weights (20 bytes)", call, *folder, **more)


def has_nvcc():
    return any(c["check"] == "nvcc" and c["state"] == "ok"
               for c in _command.run(["doctor"])["checks"])


@unittest.skipUnless(has_nvcc(), "no nvcc")
class Host(Case):
    source = "#include <vector>\n" + SOURCE

    def test_run(self):
        "a source with headers of the host runs, by nvcc"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            out = run(kernel_source=self.source)
        self.assertEqual(out[0], answer()[0])
        self.assertEqual(len(caught), 1)
        self.assertIn("\"vector\"; nvcc compiles it", str(caught[0].message))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            out = run(kernel_source=self.source, compiler="nvcc")
            self.refuses("the block has 2048 threads", run, compiler="nvcc",
                         params={"block_size_x": 2048})
        self.assertEqual(out[0], answer()[0])

    def test_tune(self):
        "and is tuned, and verified"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results, env = tune("kt_host_headers", answer=answer(),
                                kernel_source=self.source,
                                tune_params={"block_size_x": [64],
                                             "spare": [0, 1]},
                                verify=lambda a, b: a[0] == b[0])
        self.assertEqual((len(results), env["rejected"]), (2, []))
        self.assertEqual(len(caught), 1)
        with open(env["spec"], encoding="utf-8") as file:
            self.assertIn("compiler: nvcc", file.read())

    def test_wrong(self):
        "what nvcc does not compile either says why"
        source = "#include <vectors_of_nobody>\n" + SOURCE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.refuses("fatal error: vectors_of_nobody: No such file", run,
                         status=9, kernel_source=source)
            self.refuses("fatal error: vectors_of_nobody: No such file", tune,
                         "kt_wrong_header", status=4, kernel_source=source)


class Texts(unittest.TestCase):
    def test_written(self):
        "what a kernel may write is told from its text"
        source = """
        __device__ int f(float *p);
        __global__ void __launch_bounds__(256) k(float *a, float *b,
            const float *c, float2 *d, float *e, float *g, int *h, int n)
        {   // b[0] = 1 in a comment
            a[threadIdx.x] += b[threadIdx.x] + c[0] + __ldg(&b[n]);
            if (b[0] == d[n].x) atomicAdd(&h[0], 1);
            e[n][2] = d[1].y; f(g);
        }"""
        told = _source.parameters(source, "k", 8)
        self.assertEqual([one["name"] for one in told if
                          _source.is_written(one)], ["a", "e", "g", "h"])
        self.assertEqual(told[-1]["name"], "n")
        self.assertEqual([_source.points_to(told[k]) for k in (2, 3)],
                         ["float", "float2"])
        told = _source.parameters(
            "__global__ void k(view<float, 2> a, pair<int[2], f<1, 2>> b, "
            "int n = g(1, 2), float m[WIDTH]) {}", "k", 4)
        self.assertEqual([one["name"] for one in told], ["a", "b", "n", "m"])

    def test_default(self):
        "the default is a plain configuration that the constraints let pass"
        from shmtune._spec import choose_default
        self.assertEqual(
            choose_default({"x": [64, 16, 32], "y": [1, 8, 16], "t": [4, 1]},
                           ["x == y * t", "x * y <= 1024"], ["x", "y"], {}),
            {"x": 16, "y": 16, "t": 1})


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
class Examples(Case):
    def test_examples(self):
        "specs of Kernel Tuner's six examples compile"
        import ports
        made = {}

        class Stop(Exception):
            pass

        def stop(folder, path, *rest, **more):
            made[name] = path
            raise Stop

        run, ported._run = ported._run, stop
        try:
            for name, port in ports.PORTS.items():
                with self.assertRaises(Stop), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    port(shmtune.tune_kernel, "small", folder="ports")
        finally:
            ported._run = run
        for name, path in made.items():
            done = subprocess.run(
                [_command.program(), "check", path, "--arch", "sm_90"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env=_command.environment())
            self.assertEqual(done.returncode, 0, name + ": " + done.stdout)
            count = _command.run(["space", path])["valid"]
            self.assertEqual(count, {"vector_add": 15, "matmul": 40,
                                     "stencil": 31}.get(name, count))
