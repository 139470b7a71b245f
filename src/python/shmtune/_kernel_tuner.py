# SPDX-License-Identifier: MIT
"""tune_kernel(): what a user of Kernel Tuner calls, done by shmtune.

It takes the arguments that Kernel Tuner's examples vector_add, matmul,
convolution, reduction, pnpoly and stencil use, and refuses every other by its
name, with what to do instead.  What is different is in docs/python.md.
"""
import inspect
import os
import re
import time
import warnings

from . import _command
from ._array import number_of, view_of, whole
from ._library import Error, INVALID_ARGUMENT, STORAGE
from ._source import may_write, own_name, parameter_names, pointer_type
from ._spec import REAL, host_array, yaml_of, write_text
from ._tune import (InOut, In, Variable, _Writer, _in_order, _mapping, _run,
                    folder_of, is_array, like)
from ._verify import Verifier

BLOCK = ("block_size_x", "block_size_y", "block_size_z")
THREADS = (256, 1, 1)       # where no parameter says it
GRID = ("grid_size_x", "grid_size_y", "grid_size_z")
RELATIVE = 1e-5             # what numpy.allclose allows beside atol
ALL = 3000                  # configurations that are all measured
BUDGET = "60s"              # else

REFUSED = {
    "grid_div_z": "write the grid as grid=[x, y, z] of shmtune.tune",
    "platform": "shmtune is for CUDA",
    "smem_args": "write the bytes as shared= of shmtune.tune",
    "texmem_args": "these are texture references, which CUDA 12 has no more; "
                   "take a cudaTextureObject_t, and write {texture: ...} in "
                   "a spec",
    "compiler": "use compiler= of shmtune.tune",
    "defines": "every parameter is a macro; write others as "
               "compiler_options=[\"-DNAME=VALUE\"]",
    "cache": "a journal of every run is kept below folder=, and resume=True "
             "goes on with it",
    "simulation_mode": "give device=\"replay:FILE\", with the journal of a run",
    "observers": "shmtune reports times, registers, spills, shared bytes and "
                 "occupancy of every candidate by itself",
    "objective": "the time is what is minimised; sort the results by a metric",
    "objective_higher_is_better": "the time is what is minimised",
    "objectives": "the time is what is minimised; sort the results by a metric",
}
# What says no more than what shmtune does.
UNSET = {"platform": 0, "simulation_mode": False, "objective": "time",
         "objective_higher_is_better": False}
# Kernel Tuner's strategies, and those of the same kind here.
STRATEGIES = {
    "brute_force": "exhaustive", "random_sample": "random",
    "genetic_algorithm": "genetic", "pso": "swarm", "diff_evo": "evolution",
    "simulated_annealing": "annealing", "dual_annealing": "annealing",
    "mls": "hill", "greedy_mls": "hill", "ordered_greedy_mls": "hill",
    "greedy_ils": "hill", "bayes_opt": "model"}


def tune_kernel(kernel_name, kernel_source, problem_size, arguments,
                tune_params, grid_div_x=None, grid_div_y=None,
                grid_div_z=None, restrictions=None, answer=None, atol=1e-6,
                verify=None, verbose=False, lang=None, device=0, *,
                cmem_args=None, compiler_options=None, log=None, iterations=7,
                metrics=None, block_size_names=None, strategy=None,
                strategy_options=None, seed=None, quiet=None, parallel=None,
                folder="tuned", budget=None, default=None, resume=False,
                **others):
    """Tunes a kernel, and returns (results, env) as Kernel Tuner does.

    results     a dictionary for each configuration that ran and is right: the
                parameters, "time" and "times" in milliseconds, the metrics
    env         "best_config", "rejected" (those that are not in results, with
                the verdict and the reason), "spec", "tuning", "journal", ...;
                env.tuned is what shmtune.tune gives

    Beside what Kernel Tuner's examples give: device="replay:FILE", folder=,
    budget= and resume= (of shmtune.tune), default= (the configuration to begin
    with).  A strategy of Kernel Tuner's is that of its kind here, or one of
    `shmtune list strategies`; of its options max_fevals and time_limit are a
    budget.  Nothing is printed without verbose, and candidates are compiled in
    parallel, whatever quiet and parallel say.
    """
    others["grid_div_z"] = grid_div_z
    _refuse(others)
    _check_lang(lang)
    folder = folder_of(folder)
    began = time.perf_counter()
    atol = _atol(atol)
    metrics = _mapping(metrics, "metrics")
    if verify is not None and not callable(verify):
        raise Error("verify is a %s; expected a function"
                    % type(verify).__name__)
    if iterations != 7:
        warnings.warn("iterations: shmtune takes as many samples as tell "
                      "candidates apart", stacklevel=2)
    strategy, budget = _strategy(strategy, strategy_options, budget)
    spec = _Spec(kernel_name, kernel_source, tune_params, folder,
                 block_size_names)
    spec.problem(problem_size)
    spec.grid([grid_div_x, grid_div_y, None])
    spec.restrict(restrictions)
    spec.compile_with(compiler_options)
    # What a function verifies is left alone on the GPU.
    spec.take(arguments, cmem_args, None if verify else answer, atol)
    path = spec.write(default)
    if budget is None:
        count = _command.run(["space", path])["valid"]
        budget = "all" if strategy is None and count <= ALL else BUDGET
    if strategy is None and budget == "all":
        strategy = "exhaustive"
    tuned = _run(folder, path, device, budget, strategy,
                 1 if seed is None else whole(seed, "seed"), resume, verbose,
                 spec.name)
    results, rejected = _sorted_out(tuned, spec.parameters)
    if verify is not None:
        if answer is None:
            raise Error("verify needs the answer that it compares with")
        results, wrong = _verified(spec, tuned, results, answer, verify, atol)
        rejected += wrong
    for row in results:
        _add_metrics(row, metrics)
    env = _Env(device_name=tuned.device, rejected=rejected,
               checked=answer is not None and not (
                   verify is not None and tuned.found["recorded"]),
               spec=path, tuning=tuned.tuning,
               journal=tuned.journal,
               total_time=1000 * (time.perf_counter() - began))
    env.tuned = tuned
    if results:
        env["best_config"] = _best(results, tuned.best)
    return results, env


class _Env(dict):
    """What Kernel Tuner's env is: its users write it as JSON.  `tuned` is what
    shmtune.tune gives."""


def _refuse(others):
    for name, value in others.items():
        if name not in REFUSED:
            raise TypeError("tune_kernel() got an unexpected keyword argument "
                            "'%s'" % name)
        unset = (isinstance(value, (int, str)) and name in UNSET
                 and value == UNSET[name])
        if value is not None and not unset:
            raise Error("tune_kernel: shmtune does not take %s; %s" % (
                name, REFUSED[name]), INVALID_ARGUMENT)


def _strategy(name, options, budget):
    """(the strategy here or None, the budget)"""
    options = dict(_mapping(options, "strategy_options"))
    most, seconds = options.pop("max_fevals", None), options.pop("time_limit",
                                                                 None)
    if options:
        raise Error("tune_kernel: shmtune does not take strategy_options %s; "
                    "it takes max_fevals and time_limit, in s"
                    % ", ".join(sorted(map(str, options))), INVALID_ARGUMENT)
    if sum(x is not None for x in (budget, most, seconds)) > 1:
        raise Error("tune_kernel: budget, max_fevals and time_limit all say "
                    "how long to search; give one", INVALID_ARGUMENT)
    if most is not None:
        budget = whole(most, "max_fevals")
    if seconds is not None:
        budget = "%gs" % seconds
    if name is None:
        return None, budget
    known = _command.run(["list", "strategies"])["strategies"]
    known = [one["name"] for one in known]
    if name not in known and name not in STRATEGIES:
        raise Error("tune_kernel: shmtune does not take strategy=%r; it takes "
                    "%s, and of Kernel Tuner's %s" % (
                        name, ", ".join(known), ", ".join(STRATEGIES)),
                    INVALID_ARGUMENT)
    name = STRATEGIES.get(name, name)
    if name == "exhaustive" and budget is None:
        budget = "all"
    return name, budget


def _block_names(names):
    """Of x, y and z."""
    if names is None:
        return BLOCK
    names = _list_of(names, "block_size_names")
    if len(names) > 3 or not all(isinstance(n, str) for n in names):
        raise Error("block_size_names is %.80r; expected up to three texts"
                    % (names,))
    return tuple(names) + BLOCK[len(names):]


def _check_lang(lang):
    if lang is None or str(lang).upper() in ("CUDA", "CUPY", "NVCUDA"):
        return
    if str(lang).upper() == "C":
        raise Error("tune_kernel: shmtune does not take lang=\"C\"; give the "
                    "kernel that the function launches, and what it copies to "
                    "__constant__ memory as cmem_args")
    raise Error("tune_kernel: shmtune does not take lang=%r; it is for CUDA"
                % lang)


class _Spec:
    """The spec of a call, made piece by piece."""

    def __init__(self, name, source, parameters, folder, block=None):
        if not isinstance(name, str):
            raise Error("kernel_name is a %s; expected a text"
                        % type(name).__name__)
        self.name, self.folder = re.sub(r"\W+", "_", name).strip("_"), folder
        self.parameters = {
            n: [_value(v, n) for v in _values(values, n)]
            for n, values in _mapping(parameters, "tune_params").items()}
        self.function, self.entry = _entry_of(name, self.parameters)
        self.text, self.place = _source_of(source)
        self.sizes, self.keys, self.constraints = {}, {}, []
        self.block_names = _block_names(block)
        self.block = [n if n in self.parameters else threads
                      for n, threads in zip(self.block_names, THREADS)]
        self.macros = {"kernel_tuner": 1}
        self.macros.update((n, t) for n, t in zip(self.block_names, THREADS)
                           if n not in self.parameters)

    def problem(self, size):
        if callable(size):
            raise Error("problem_size is a function; write it as an "
                        "expression, \"num_blocks * 2\"")
        if not isinstance(size, (tuple, list)):
            size = (size,)
        self.extents = []
        for axis, extent in zip("xyz", size):
            if not isinstance(extent, str):
                name = "problem_" + axis
                self.sizes[name] = whole(extent, "problem_size")
                extent = name
            self.extents.append(extent)
        self.extents += ["1"] * (3 - len(self.extents))

    def grid(self, divisors):
        self.grids = []
        for k, (extent, by) in enumerate(zip(self.extents, divisors)):
            if by is None:
                own = self.block_names[k]
                by = [own] if own in self.parameters else []
            words = [_divisor(d) for d in _list_of(by, "grid_div_" + "xyz"[k])]
            product = " * ".join(words)
            self.grids.append("ceildiv(%s, %s)" % (extent, product)
                              if words else extent)
            number = _at_sizes(extent, self.sizes)
            self.macros[GRID[k]] = (
                "((%s + (%s) - 1) / (%s))" % (number, product, product)
                if words else "(%s)" % number)

    def restrict(self, restrictions):
        if callable(restrictions):
            raise Error("restrictions is a function; write it as texts, "
                        "[\"block_size_x * block_size_y <= 512\"]")
        for one in _list_of(restrictions or [], "restrictions"):
            if not isinstance(one, str):
                raise Error("a restriction is a %s; write it as a text, "
                            "\"block_size_x * block_size_y <= 512\""
                            % type(one).__name__)
            self.constraints.append(one)
        product = " * ".join(str(b) for b in self.block)
        self.constraints.append("%s <= 1024" % product)

    def compile_with(self, options):
        kept, includes = [], [self.place] if self.place else []
        for option in _list_of(options or [], "compiler_options"):
            if not isinstance(option, str):
                raise Error("compiler_options has %.80r; expected texts"
                            % (option,))
            if option.startswith(("-arch", "--gpu-architecture", "-gencode")):
                warnings.warn("compiler_options: %s is left out; what is "
                              "compiled is for the device" % option,
                              stacklevel=4)
            elif option.startswith(("-std=", "--std=")):
                self.keys["standard"] = option.partition("=")[2]
            elif option.startswith("-D") and len(option) > 2:
                name, _, value = option[2:].partition("=")
                self.macros[name] = value or "1"
            elif option.startswith("-I") and len(option) > 2:
                includes.append(os.path.abspath(option[2:]))
            elif option in ("--use_fast_math", "-use_fast_math"):
                self.keys["fast_math"] = True
            else:
                kept.append(option)
        if kept:
            self.keys["options"] = kept
        if includes:
            self.keys["includes"] = includes

    def take(self, arguments, constants, answer, atol):
        arguments = _listed(arguments, "arguments")
        answer = None if answer is None else _listed(answer, "answer")
        names = parameter_names(self.text, self.function, len(arguments))
        taken = set(self.parameters) | set(self.sizes)
        written = {n for n in names
                   if may_write(self.text, self.function, n)}
        self.names = [n + "_" if n in taken else n for n in names]
        if answer is not None and len(answer) != len(arguments):
            raise Error("answer has %d members, there are %d arguments" % (
                len(answer), len(arguments)))
        self.answers, self.given = {}, {}
        for k, (name, x) in enumerate(zip(self.names, arguments)):
            right = None if answer is None else answer[k]
            if not is_array(x):
                self.given[name] = _scalar(x, name)
                continue
            self.given[name] = (InOut(x) if right is not None
                                or names[k] in written else In(x))
            if right is not None:
                self.answers[name] = like(right, x, name)
        for name, x in _mapping(constants, "cmem_args").items():
            self.given[name] = Variable(x)
        self.unchecked = [n for n, a in self.given.items()
                          if isinstance(a, InOut) and n not in self.answers]
        self.atol = atol

    def write(self, default):
        writer = _Writer(self.name, self.folder)
        tolerance = {"absolute": self.atol, "relative": RELATIVE}
        source = self._source(writer)
        spec = writer.spec(
            source, self.entry, self.sizes, self.given, self.parameters,
            self.constraints, grid=self.grids,
            block=[str(b) for b in self.block], answer=self.answers or None,
            tolerance=tolerance, default=default, derived=None, shared=None)
        for name, a in spec["arguments"].items():
            if "tolerance" in a and (name in self.unchecked
                                     or a["type"] not in REAL):
                del a["tolerance"]
        if self.unchecked:
            spec["compare"] = [{
                "entry": "shmtune_unchecked_" + n, "grid": [1], "block": [1],
                "arguments": ["mismatches", n, "expected." + n]}
                for n in self.unchecked]
        spec.update(self.keys)
        self.path = os.path.join(writer.kernels, self.name + ".yaml")
        write_text(self.path, yaml_of(_in_order(spec)))
        return self.path

    def _source(self, writer):
        """What Kernel Tuner puts before a source, and the source."""
        words = set(re.findall(r"[A-Za-z_]\w*", self.text))
        lines = ["#define %s %s" % (n, v) for n, v in self.macros.items()
                 if n in words or n == "kernel_tuner"]
        for name, values in self.parameters.items():
            if isinstance(values[0], str):
                lines.append(_word_macro(name, values))
        text = self.text
        for name in self.parameters:
            if "loop_unroll_factor" in name:
                lines.append("#if %s > 0\nconstexpr int shmtune_%s = %s;\n"
                             "#endif" % (name, name, name))
                text = re.sub(r"(?m)^[ \t]*#[ \t]*pragma[ \t]+unroll[ \t]+\(?"
                              + name + r"\b\)?[ \t]*$",
                              "#if %s > 0\n#pragma unroll shmtune_%s\n#endif"
                              % (name, name), text)
        lines.append("#line 1")
        lines.append(text)
        for n in self.unchecked:
            kind = ("void" if self.function != self.entry else
                    pointer_type(self.text, self.function,
                                  list(self.given).index(n)))
            lines.append(
                "#ifdef SHMTUNE_COMPARE\n"
                "/* No answer was given: whatever is written is right. */\n"
                "extern \"C\" __global__ void shmtune_unchecked_%s(\n"
                "    unsigned long long *, const %s *, const %s *)\n{\n}\n"
                "#endif" % (n, kind, kind))
        return "\n".join(lines) + "\n"


# -- texts --------------------------------------------------------------------

def _source_of(source):
    """(text, folder of its headers)."""
    if callable(source):
        raise Error("kernel_source is a function; shmtune gives parameters to "
                    "the source as macros alone")
    if isinstance(source, (list, tuple)):
        if len(source) != 1:
            raise Error("kernel_source is a list of %d files; give the one "
                        "with the kernel, which includes the others"
                        % len(source))
        source = source[0]
    source = os.fspath(source) if hasattr(source, "__fspath__") else source
    if not isinstance(source, str):
        raise Error("kernel_source is a %s; expected a text, or a path"
                    % type(source).__name__)
    if "\n" in source or "(" in source:
        return source, None
    try:
        with open(source, encoding="utf-8") as file:
            return file.read(), os.path.dirname(os.path.abspath(source))
    except (OSError, ValueError) as error:
        raise Error("kernel_source: %s: %s" % (
            source, getattr(error, "strerror", None) or error),
            STORAGE) from None


def _entry_of(name, parameters):
    """(the function's own name, the spec's entry) of "ns::add<float, width>":
    what a template is given may name parameters."""
    function, bracket, given = name.partition("<")
    given = re.sub(r"[A-Za-z_]\w*", lambda m: "{%s}" % m.group()
                   if m.group() in parameters else m.group(), given)
    return own_name(function), function + bracket + given


def _word_macro(name, words):
    """A spec gives a word to the source as its place in the list, Kernel Tuner
    as it is."""
    return "".join("#%s %s == %s_%s\n#undef %s\n#define %s %s\n" % (
        "elif" if k else "if", name, name, word, name, name, word)
        for k, word in enumerate(words)) + "#endif"


# -- values -------------------------------------------------------------------

def _values(values, name):
    if isinstance(values, (str, bytes)):
        raise Error("tune_params: %s is the text %.80r; expected a list"
                    % (name, values))
    if isinstance(values, dict):
        raise Error("tune_params: %s is a dictionary; expected a list, as "
                    "list(range(32, 257, 32))" % name)
    values = _list_of(values, name)
    if not values:
        raise Error("tune_params: %s has no values" % name)
    return values


def _value(value, name):
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, str) and re.match(r"[A-Za-z_]\w*\Z", value):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Error("tune_params: %s has the value %r; shmtune gives numbers "
                    "and words to a source%s" % (
                        name, value, "; write 0 and 1"
                        if isinstance(value, bool) else
                        "; name it by one, as \"typedef unsigned int uint\""
                        if isinstance(value, str) else ""))
    return value


def _list_of(by, name):
    if callable(by):
        raise Error("%s is a function; write it as texts, "
                    "[\"block_size_x\", \"tile_size\"]" % name)
    return (list(by) if hasattr(by, "__iter__") and not isinstance(by, str)
            else [by])


def _listed(given, what):
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise Error("%s is a %s; expected a list beside the parameters of the "
                    "kernel" % (what, type(given).__name__))
    return list(given)


def _atol(given):
    try:
        return float(given)
    except (TypeError, ValueError):
        raise Error("atol is %.80r; expected a number" % (given,)) from None


def _divisor(word):
    if callable(word):
        raise Error("a divisor of the grid is a function; write it as a text")
    word = str(word)
    if re.match(r"\w+\Z", word):
        return word
    return "int(%s)" % word


def _at_sizes(extent, sizes):
    return re.sub(r"\bproblem_[xyz]\b", lambda m: str(sizes.get(
        m.group(), m.group())), str(extent))


def _scalar(x, name):
    """A number of the type that it has: Kernel Tuner's users give NumPy's."""
    if isinstance(x, (bool, int, float)):
        return x
    view = view_of(x)
    if view is None:
        raise Error("argument %s is a %s; expected an array or a number" % (
            name, type(x).__name__))
    word = host_array(x, name)[1]
    return {"type": word, "value": number_of(x, view)}


# -- results ------------------------------------------------------------------

def _sorted_out(tuned, parameters):
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
        results.append(out)
    return results, rejected


def _best(results, winner):
    """The winner of the finals; where it is not among the results, the
    fastest."""
    for row in results:
        if all(row[n] == v for n, v in winner.items()):
            return row
    return min(results, key=lambda row: row["time"])


def _verified(spec, tuned, results, answer, verify, atol):
    """(what the user's function takes, what it does not).  A winner that it
    does not take leaves no tuning."""
    takes_atol = "atol" in inspect.signature(verify).parameters
    good, wrong = [], []
    if tuned.found["recorded"]:
        return results, wrong       # there is nothing to run
    verifier = Verifier(spec, tuned, answer)
    configs = [{n: row[n] for n in spec.parameters} for row in results]
    try:
        verifier.prepare(configs)
        for row, config in zip(results, configs):
            outputs = verifier.run(config)
            if (verify(answer, outputs, atol=atol) if takes_atol
                    else verify(answer, outputs)):
                good.append(row)
                continue
            wrong.append({**{n: row[n] for n in spec.parameters},
                          "verdict": "wrong",
                          "reason": "the function verify does not take it"})
    finally:
        verifier.close()
    if any(all(row[n] == tuned.best[n] for n in spec.parameters)
           for row in wrong):
        os.unlink(tuned.tuning)
    return good, wrong


def _add_metrics(row, metrics):
    """In their order, as one may need another."""
    for name, metric in metrics.items():
        if callable(metric):
            row[name] = metric(row)
            continue
        # A text is the caller's own Python, as it is Kernel Tuner's.
        try:
            row[name] = eval(metric, dict(row))
        except Exception as error:
            raise Error("the metric %s, %.80r: %s" % (name, metric, error)
                        ) from None
