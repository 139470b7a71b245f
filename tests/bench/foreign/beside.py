#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""beside.py BUILD SPEC[:SIZE]... [--budget 60] [--strategy NAME] [--device N]:
Kernel Tuner beside shmtune, on a kernel that somebody else wrote.

Both get the same source, parameters, constraints, inputs, verification and
seconds.  Then both winners, and the default, are timed in the same way: as a
space of these three, tuned by `shmtune --strategy exhaustive`.  What a spec
has and Kernel Tuner has not is refused: several launches, functions of the
host, structs, setup.  A word is its place in the list.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numpy as np                                                # noqa: E402
import yaml                                                       # noqa: E402
from kernel_tuner_rate import (TYPES, cupy_that_fits, defines, evaluate,
                               plain_constraints, words_of)       # noqa: E402


SOME = 24       # configurations that one expression names: it has a limit


class Kernel:
    """One spec, at its first size or that of SPEC:rows=8192,cols=8192, as
    Kernel Tuner takes it."""

    def __init__(self, words):
        path, size = re.fullmatch(r"(.*?)(?::(\w+=\d+(?:,\w+=\d+)*))?",
                                  words).groups()
        with open(path) as file:
            self.spec = yaml.safe_load(file)
        self.path, self.folder = path, os.path.dirname(os.path.abspath(path))
        self.name = self.spec["name"]
        dimensions = self.spec.get("problem", {})
        self.size = {k: d["default"] for k, d in dimensions.items()}
        self.size.update(self.spec.get("sizes", [{}])[0])
        self.size.update((k, int(v)) for k, v in
                         (one.split("=") for one in (size or "").split(",")
                          if one))
        self.words = words_of(self.spec)
        self.parameters = {
            k: list(range(len(p["values"]))) if k in self.words
            else values_of(p["values"])
            for k, p in self.spec["parameters"].items()}
        self.default = {
            k: self.words[k].index(p["default"]) if k in self.words
            else p["default"] for k, p in self.spec["parameters"].items()}
        self.flags = ["--std=c++17", "-default-device",
                      f"-I{self.folder}"] + defines(
            {"problem": {}, **self.spec}, self.size)
        if self.spec.get("fast_math"):
            self.flags.append("--use_fast_math")
        self.launch = self.spec["launches"][0]
        if len(self.spec["launches"]) > 1 or "host" in self.launch or \
                "setup" in self.spec or any(
                "scope" in p or "option" in p
                for p in self.spec["parameters"].values()):
            sys.exit(path + ": more than Kernel Tuner takes")
        names = self.spec["source"]
        self.source = ""
        for name in [names] if isinstance(names, str) else names:
            with open(os.path.join(self.folder, name)) as file:
                self.source += file.read()
        if 'extern "C"' not in self.source:      # entries by their own names
            self.source = f'extern "C" {{\n{self.source}\n}}\n'

    def spoken(self, configuration):
        """With words in the place of their numbers."""
        return {k: self.words[k][configuration[k]] if k in self.words
                else configuration[k] for k in self.default}

    def values(self, configuration):
        values = {**self.size, **self.spoken(configuration)}
        for name, text in self.spec.get("derived", {}).items():
            values[name] = evaluate(text, values)
        return values

    def geometry(self, launch, what, configuration):
        extents = launch.get(what, [1])
        extents = extents if isinstance(extents, list) else [extents]
        values = self.values(configuration)
        return tuple(int(evaluate(e, values)) for e in extents + [1, 1])[:3]

    def size_option(self):
        return ",".join(f"{k}={v}" for k, v in self.size.items())


def values_of(values):
    if isinstance(values, list):
        return values
    if "times" in values:
        out = [values["from"]]
        while out[-1] * values["times"] <= values["to"]:
            out.append(out[-1] * values["times"])
        return out
    return list(range(values["from"], values["to"] + 1, values.get("step", 1)))


def shmtune(options, *words):
    reply = subprocess.run([os.path.join(options.build, "shmtune"), *words],
                           capture_output=True, text=True)
    if reply.returncode != 0:
        sys.exit(f"shmtune {' '.join(words)}: {reply.stderr}")
    return reply.stdout


def tune(options, path, size, out, *words):
    text = shmtune(options, "tune", path, "--device", options.device, "--size",
                   size, "--no-resume", "--json", "-q", "-o", out, *words)
    return json.loads(text)["results"][0]


def arguments_of(kernel, folder):
    """Of each argument its numbers, the very ones of shmtune."""
    held, scalars = {}, {}
    for name, one in kernel.spec["arguments"].items():
        if "value" in one:
            held[name] = TYPES[one["type"]](
                evaluate(one["value"], kernel.values(kernel.default)))
            scalars[name] = held[name].item()
        elif one.get("role") == "output":
            count = int(evaluate(one["count"], kernel.values(kernel.default)))
            held[name] = np.zeros(count, TYPES[one["type"]])
        elif "role" in one:
            held[name] = np.load(os.path.join(folder, name + ".npy"))
        else:
            sys.exit(f"{kernel.path}: {name}: Kernel Tuner has no structs")
    with open(os.path.join(folder, "problem.json"), "w") as file:
        json.dump({"size": kernel.size, "scalars": scalars}, file)
    return held


def results_of(kernel):
    """The arguments that a candidate has to have right."""
    return [name for name, one in kernel.spec["arguments"].items()
            if one.get("role") in ("output", "inout")]


def by_program(kernel, folder, held):
    words = [os.path.join(kernel.folder, word)
             if os.path.isfile(os.path.join(kernel.folder, word)) else word
             for word in kernel.spec["answer"]["command"]]
    subprocess.run(words, cwd=folder, check=True)
    return {name: np.load(os.path.join(folder, name + ".answer.npy"))
            for name in results_of(kernel)}


def symbols_of(kernel, held):
    """What the variables of the source hold, by their own names."""
    return {one.get("symbol", name): held[name]
            for name, one in kernel.spec["arguments"].items()
            if one.get("role") == "symbol"}


def by_reference(kernel, cupy, held):
    """The first launch of the reference, with the default's macros."""
    launch = kernel.spec["reference"][0]
    module = cupy.RawModule(code=kernel.source, options=tuple(
        kernel.flags + ["-DSHMTUNE_REFERENCE=1"] +
        [f"-D{k}={v}" for k, v in kernel.default.items()]))
    given = {k: cupy.asarray(v) if isinstance(v, np.ndarray) else v
             for k, v in held.items()}
    for symbol, values in symbols_of(kernel, held).items():
        cupy.ndarray(values.shape, values.dtype,
                     module.get_global(symbol))[:] = cupy.asarray(values)
    module.get_function(launch["entry"])(
        kernel.geometry(launch, "grid", kernel.default),
        kernel.geometry(launch, "block", kernel.default),
        tuple(given[name] for name in launch["arguments"]))
    return {name: cupy.asnumpy(given[name]) for name in results_of(kernel)}


def tolerance_of(kernel, right):
    """The widest that the spec allows, as one absolute number."""
    most = 1e-30
    for name, values in right.items():
        allowed = kernel.spec["arguments"][name].get("tolerance", {})
        mean = float(np.sqrt(np.square(values, dtype="f8").mean()))
        most = max(most, allowed.get("absolute", 0) +
                   allowed.get("norm", 0) * mean +
                   allowed.get("relative", 0) * mean)
    return most


def for_kernel_tuner(kernel, folder):
    """Inputs, and what is expected."""
    cupy = cupy_that_fits()
    held = arguments_of(kernel, folder)
    return held, (by_program(kernel, folder, held)
                  if "answer" in kernel.spec
                  else by_reference(kernel, cupy, held))


def tune_with_kernel_tuner(kernel, held, right, **settings):
    """What kernel_tuner.tune_kernel returns."""
    import kernel_tuner
    block = [str(name) for name in kernel.launch["block"]]
    parameters = dict(kernel.parameters)
    if all(name in parameters for name in block):
        block += ["one_y", "one_z"][len(block) - 1:]
        parameters.update((k, [1]) for k in block if k not in parameters)
    else:               # Kernel Tuner's blocks are parameters: these are not
        block = None
    kernel_tuner.util.get_thread_block_dimensions = \
        lambda c, names=None: kernel.geometry(kernel.launch, "block", c)
    symbols = symbols_of(kernel, held)
    shared = {}
    if "shared_dynamic" in kernel.launch:
        shared["smem_args"] = {"size": lambda c: int(evaluate(
            kernel.launch["shared_dynamic"], kernel.values(c)))}
    return kernel_tuner.tune_kernel(
        kernel.launch["entry"], kernel.source,
        lambda c: kernel.geometry(kernel.launch, "grid", c),
        [held[name] for name in kernel.launch["arguments"]], parameters,
        grid_div_x=[], grid_div_y=[], grid_div_z=[],
        restrictions=list(plain_constraints(kernel.spec, kernel.words,
                                            kernel.size)),
        block_size_names=block,
        answer=[right.get(name) for name in kernel.launch["arguments"]],
        atol=tolerance_of(kernel, right), cmem_args=symbols or None,
        compiler_options=kernel.flags, iterations=7, quiet=True,
        verbose=False, **shared, **settings)


def by_kernel_tuner(options, kernel, folder):
    """The fastest configuration that it found, and how many it tried."""
    held, right = for_kernel_tuner(kernel, folder)
    results, _ = tune_with_kernel_tuner(
        kernel, held, right, lang="cupy", strategy=options.strategy,
        strategy_options={"time_limit": options.budget})
    good = [r for r in results if isinstance(r.get("time"), (int, float))]
    if not good:
        sys.exit(f"{kernel.path}: Kernel Tuner found none: {results[:1]}")
    best = min(good, key=lambda r: r["time"])
    return kernel.spoken(best), len(results), len(good)


def exactly(configuration):
    return "(" + " and ".join(f"{k} == {v!r}"
                              for k, v in configuration.items()) + ")"


def measure_together(options, kernel, configurations, out):
    """The result of each, all measured by one run."""
    spec = dict(kernel.spec)
    texts = [exactly(c) for c in configurations]
    some = {f"beside_{k}": " or ".join(texts[k:k + SOME])
            for k in range(0, len(texts), SOME)}
    spec["derived"] = {**spec.get("derived", {}), **some}
    spec["constraints"] = list(spec.get("constraints", [])) + [
        " or ".join(some)]
    spec.pop("sizes", None)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", dir=kernel.folder,
                                     prefix=".beside-") as file:
        yaml.safe_dump(spec, file, sort_keys=False, width=1 << 20)
        file.flush()
        tune(options, file.name, kernel.size_option(), out, "--strategy",
             "exhaustive", "--compile-timeout", "120")
    with open(glob.glob(os.path.join(out, "*", "*.journal"))[0]) as file:
        records = yaml.safe_load(file)["records"]
    found = {exactly({k: one["config"][k] for k in kernel.default}): one
             for one in records if "config" in one}
    return [found.get(exactly(c), {}) for c in configurations]


def time_together(options, kernel, configurations, out):
    """Microseconds of each."""
    return [one.get("time_us", float("nan")) for one in
            measure_together(options, kernel, configurations, out)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("specs", nargs="+")
    parser.add_argument("--device", default="0")
    parser.add_argument("--budget", type=int, default=60, help="seconds")
    parser.add_argument("--strategy", default="random_sample")
    options = parser.parse_args()
    print("| kernel | budget s | tried | Kernel Tuner tried, right "
          "| default us | best us | Kernel Tuner's best us | ratio |")
    print("|---" * 8 + "|", flush=True)
    for path in options.specs:
        kernel = Kernel(path)
        with tempfile.TemporaryDirectory() as folder:
            data, size = os.path.join(folder, "data"), kernel.size_option()
            ours = tune(options, kernel.path, size, os.path.join(folder, "ours"),
                        "--budget", f"{options.budget}s")
            shmtune(options, "data", kernel.path, "-o", data, "--size", size)
            theirs, tried, right = by_kernel_tuner(options, kernel, data)
            default, best, other = time_together(
                options, kernel,
                [kernel.spoken(kernel.default), ours["config"], theirs],
                os.path.join(folder, "together"))
        print(f"| {kernel.name} | {options.budget} | {ours['tried']} | "
              f"{tried}, {right} | {default:.2f} | {best:.2f} | {other:.2f} | "
              f"{other / best:.2f} |", flush=True)


if __name__ == "__main__":
    main()
