# SPDX-License-Identifier: MIT
"""Tune one of our kernels exhaustively with Kernel Tuner, on the same GPU.

    kernel_tuner_rate.py SPEC.yaml [--size rows=8192,cols=8192] [--seconds 60]
                         [--gpus 4]

Reads the spec (PyYAML), gives Kernel Tuner the same parameters, constraints,
source, problem and oracle, and prints the candidates per second that it
compiled, verified and timed, failures included.  The search stops after
--seconds, so that the rate is that of a steady run; the space is walked in
random order, as ours is.  With --gpus it is Kernel Tuner's way of using several
GPUs, Ray (which has to be installed), also for one.
"""
import argparse
import ast
import math
import os
import time

os.environ["CUPY_CACHE_IN_MEMORY"] = "1"     # compile every candidate
import numpy as np                           # noqa: E402
import yaml                                  # noqa: E402

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64,
         "u8": np.uint8, "i32": np.int32, "u32": np.uint32, "i64": np.int64}
HELPERS = {
    "ceildiv": lambda a, b: -(-a // b),
    "roundup": lambda a, b: -(-a // b) * b,
    "min": min, "max": max, "abs": abs, "int": int, "float": float,
}


def evaluate(text, values):
    if isinstance(text, (int, float)):
        return text
    return eval(text, {"__builtins__": {}}, {**HELPERS, **values})


def words_of(spec):
    """Parameters of words, as the lists their indices stand for."""
    return {name: p["values"] for name, p in spec["parameters"].items()
            if isinstance(p["default"], str)}


def defines(spec, size):
    lines = [f"-D{name}={size[name]}" for name, d in spec["problem"].items()
             if d.get("define")]
    for name, words in words_of(spec).items():
        lines += [f"-D{name}_{word}={k}" for k, word in enumerate(words)]
    return lines


def arguments(spec, size):
    random = np.random.default_rng(1)
    out = {}
    for name, a in spec["arguments"].items():
        if "value" in a:
            out[name] = TYPES[a["type"]](evaluate(a["value"], size))
            continue
        count = evaluate(a["count"], size)
        low, high = a.get("range", [-1, 1])
        out[name] = random.uniform(low, high, count).astype(TYPES[a["type"]])
        if a["role"] == "output":
            out[name][:] = 0
    return out


def cupy_that_fits():
    """CuPy 14 gives 17 bytes of UUID; Kernel Tuner 1.5 wants 16."""
    import cupy
    plain = cupy.cuda.runtime.getDeviceProperties

    def cut(device):
        properties = plain(device)
        properties["uuid"] = properties["uuid"][:16]
        return properties

    cupy.cuda.runtime.getDeviceProperties = cut
    return cupy


class Objective(list):
    """Kernel Tuner 1.5.0 looks its list of objectives up in a dict where it
    runs in parallel."""

    def __hash__(self):
        return hash(tuple(self))


def start_ray(gpus):
    """Before Kernel Tuner would: its processes are to have the same CuPy."""
    import ray
    ray.init(num_gpus=gpus, include_dashboard=False, log_to_driver=False,
             runtime_env={"worker_process_setup_hook": cupy_that_fits,
                          "env_vars": {"CUPY_CACHE_IN_MEMORY": "1"}})


def main():
    import kernel_tuner
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec")
    parser.add_argument("--size", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--gpus", type=int, default=0, help="through Ray")
    options = parser.parse_args()
    with open(options.spec) as file:
        spec = yaml.safe_load(file)
    if len(spec["launches"]) != 1:
        raise SystemExit("only kernels of one launch")
    size = {name: d["default"] for name, d in spec["problem"].items()}
    for item in filter(None, options.size.split(",")):
        name, value = item.split("=")
        size[name] = int(value)
    words = words_of(spec)
    parameters = {
        name: list(range(len(words[name]))) if name in words else p["values"]
        for name, p in spec["parameters"].items()
    }

    tunable = list(parameters)

    def values_of(configuration):
        values = {**size, **{k: configuration[k] for k in tunable}}
        for name, list_ in words.items():
            values[name] = list_[values[name]]
        return values

    launch, oracle = spec["launches"][0], spec["reference"][0]
    folder = os.path.dirname(os.path.abspath(options.spec))
    with open(os.path.join(folder, spec["source"])) as file:
        source = file.read()
    flags = ["--std=c++17", "-default-device", f"-I{folder}"]
    flags += defines(spec, size)
    data = arguments(spec, size)
    defaults = {n: (words[n].index(p["default"]) if n in words
                    else p["default"])
                for n, p in spec["parameters"].items()}

    def geometry(launch, what, configuration):
        values = values_of(configuration)
        return [int(evaluate(e, values)) for e in launch.get(what, [1])]

    # The oracle, run by itself with the default's definitions.
    cupy = cupy_that_fits()
    module = cupy.RawModule(code=source, options=tuple(
        flags + ["-DSHMTUNE_REFERENCE=1"] +
        [f"-D{k}={v}" for k, v in defaults.items()]))
    held = {k: cupy.asarray(v) if isinstance(v, np.ndarray) else v
            for k, v in data.items()}
    module.get_function(oracle["entry"])(
        tuple(geometry(oracle, "grid", defaults)),
        tuple(geometry(oracle, "block", defaults)),
        tuple(held[name] for name in oracle["arguments"]))
    answer = [cupy.asnumpy(held[name])
              if spec["arguments"][name].get("role") == "output" else None
              for name in launch["arguments"]]

    # Kernel Tuner takes the block's shape from parameters.
    block = [str(e) for e in launch["block"]]
    if not all(name in parameters for name in block):
        raise SystemExit("the block's shape must be parameters' names")
    block += [name for name in ("one_y", "one_z")][len(block) - 1:]
    parameters.update({name: [1] for name in block if name not in parameters})

    if options.gpus:
        start_ray(options.gpus)
    started = time.perf_counter()
    results, environment = kernel_tuner.tune_kernel(
        launch["entry"], source,
        lambda c: tuple((geometry(launch, "grid", c) + [1, 1])[:3]),
        [data[name] for name in launch["arguments"]], parameters,
        grid_div_x=[], grid_div_y=[], grid_div_z=[],
        restrictions=list(plain_constraints(spec, words, size)),
        answer=answer, atol=1e-6, lang="cupy",
        compiler_options=flags, block_size_names=block,
        smem_args={"size": lambda c: int(evaluate(
            launch.get("shared_dynamic", 0), values_of(c)))},
        iterations=7, quiet=True, verbose=False,
        **({"parallel": options.gpus, "objective": Objective(["time"]),
            "objective_higher_is_better": [False]} if options.gpus else {}),
        strategy="random_sample",
        strategy_options={"fraction": 1.0, "time_limit": options.seconds})
    elapsed = time.perf_counter() - started
    good = [r for r in results if isinstance(r["time"], (int, float))]
    best = min((r["time"] for r in good), default=math.nan)
    print(f"kernel_tuner {kernel_tuner.__version__ if hasattr(kernel_tuner, '__version__') else ''}"
          f" {spec['name']} {size}"
          f"{f', {options.gpus} GPUs' if options.gpus else ''}: {len(results)} candidates in "
          f"{elapsed:.1f} s, {len(results) / elapsed:.2f} candidates/s, "
          f"{len(good)} verified, best {best * 1000:.2f} us")


class Plain(ast.NodeTransformer):
    """What Kernel Tuner's constraints do not know: 'word' becomes its index,
    which is what the parameter is here; a dimension becomes its size (a
    parameter would be a macro in the source), a derived name what it means,
    and a helper the arithmetic that it stands for."""

    def __init__(self, words, size, derived):
        self.size, self.derived, self.index = size, derived, {}
        for values in words.values():
            for k, word in enumerate(values):
                if self.index.setdefault(word, k) != k:
                    raise SystemExit(f"the word {word} has two meanings")

    def visit_Constant(self, node):
        return ast.Constant(self.index[node.value]
                            if isinstance(node.value, str) else node.value)

    def visit_Name(self, node):
        if node.id in self.size:
            return ast.Constant(self.size[node.id])
        if node.id in self.derived:
            return self.visit(expression_of(self.derived[node.id]))
        return node

    def visit_Call(self, node):
        arguments = [self.visit(one) for one in node.args]
        if node.func.id not in ("ceildiv", "roundup"):
            return ast.Call(node.func, arguments, [])
        up = ast.UnaryOp(ast.USub(), ast.BinOp(
            ast.UnaryOp(ast.USub(), arguments[0]), ast.FloorDiv(),
            arguments[1]))
        return up if node.func.id == "ceildiv" else \
            ast.BinOp(up, ast.Mult(), arguments[1])


def expression_of(text):
    return ast.parse(" ".join(str(text).split()), mode="eval").body


def plain_constraints(spec, words, size):
    """As text, which is Kernel Tuner's fast way; not those of numbers
    alone."""
    plain = Plain(words, size, spec.get("derived", {}))
    for one in spec.get("constraints", []):
        meant = plain.visit(expression_of(one))
        if any(isinstance(node, ast.Name) and node.id in spec["parameters"]
               for node in ast.walk(meant)):
            yield ast.unparse(ast.fix_missing_locations(meant))


if __name__ == "__main__":
    main()
