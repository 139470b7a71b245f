# SPDX-License-Identifier: MIT
"""tune_kernel() and run_kernel(): what a user of Kernel Tuner calls, done by
shmtune.

They take the arguments that scripts of Kernel Tuner's users have, and refuse
every other by its name, with what to do instead.  What is different is in
docs/python.md.
"""
import inspect
import math
import os
import random
import tempfile
import time
import warnings

from . import _command
from ._array import whole
from ._kernel_spec import Spec
from ._library import Error, INVALID_ARGUMENT, NOT_FOUND
from ._open import open as open_folder
from ._results import Metrics, Objective, TIMES, observed_by, sorted_out
from ._tune import _mapping, _run, folder_of
from ._verify import Verifier

ALL = 3000                  # configurations that are all measured
BUDGET = "60s"              # else
OTHERS = 4                  # configurations to begin with, beside the plain one

REFUSED = {
    "platform": "shmtune is for CUDA",
    "texmem_args": "these are texture references, which CUDA 12 has no more; "
                   "take a cudaTextureObject_t, and write {texture: ...} in "
                   "a spec",
}
# What says no more than what shmtune does.
UNSET = {"platform": 0}
# What the compiler's message says of a source that is for nvcc.
FOR_NVCC = "write `compiler: nvcc`"
# Kernel Tuner's strategies, and those of the same kind here.
STRATEGIES = {
    "brute_force": "exhaustive", "random_sample": "random",
    "genetic_algorithm": "genetic", "pso": "swarm", "diff_evo": "evolution",
    "simulated_annealing": "annealing", "dual_annealing": "annealing",
    "mls": "hill", "greedy_mls": "hill", "ordered_greedy_mls": "hill",
    "greedy_ils": "hill", "minimize": "hill", "bayes_opt": "model",
    "basinhopping": "annealing", "firefly_algorithm": "swarm"}


def tune_kernel(kernel_name, kernel_source, problem_size, arguments,
                tune_params, grid_div_x=None, grid_div_y=None,
                grid_div_z=None, restrictions=None, answer=None, atol=1e-6,
                verify=None, verbose=False, lang=None, device=0, *,
                smem_args=None, cmem_args=None, compiler_options=None,
                defines=None, log=None, iterations=7, metrics=None,
                block_size_names=None, strategy=None,
                strategy_options=None, seed=None, quiet=None, parallel=None,
                cache=None, simulation_mode=False, observers=None,
                objective=None, objective_higher_is_better=None,
                objectives=None, compiler=None, folder="tuned", budget=None,
                default=None, resume=False, on=None, workers=None,
                far_program=None, **others):
    """Tunes a kernel, and returns (results, env) as Kernel Tuner does.

    results     a dictionary for each configuration that ran and is right: the
                parameters, "time" and "times" in milliseconds, the metrics
    env         "best_config", "rejected" (those that are not in results, with
                the verdict and the reason), "spec", "tuning", "journal", ...;
                env.tuned is what shmtune.tune gives

    Beside what Kernel Tuner's users give: device="replay:FILE", folder=,
    budget=, resume= and on= (of shmtune.tune), default= (the configuration to
    begin with).  With cache a call goes on from the journal in folder; with
    simulation_mode it is the file of Kernel Tuner's that is replayed.  A
    strategy of Kernel Tuner's is that of its kind here, or one of `shmtune list
    strategies`; of its options max_fevals and time_limit are a budget.
    Nothing is printed without verbose, and candidates are compiled in
    parallel, whatever quiet and parallel say.
    """
    _refuse("tune_kernel", others)
    _check_lang("tune_kernel", lang)
    _check_compiler("tune_kernel", compiler)
    folder = folder_of(folder)
    began = time.perf_counter()
    atol = _atol(atol)
    metrics = Metrics(metrics)
    observed = observed_by(observers)
    if verify is not None and not callable(verify):
        raise Error("verify is a %s; expected a function"
                    % type(verify).__name__)
    if iterations != 7:
        warnings.warn("iterations: shmtune takes as many samples as tell "
                      "candidates apart", stacklevel=2)
    if cache is not None and not simulation_mode:
        warnings.warn("cache: a call goes on from the journal in %s; %s is "
                      "neither read nor written" % (
                          os.path.join(folder, "tunings"), cache),
                      stacklevel=2)
        resume = True
    if on is not None and verify is not None:
        raise Error("tune_kernel: verify runs on a GPU of this machine, and "
                    "on= is another; give answer and atol alone",
                    INVALID_ARGUMENT)
    strategy, budget = _strategy(strategy, strategy_options, budget)
    spec = Spec(kernel_name, kernel_source, tune_params, folder,
                block_size_names, defines)
    objective = Objective(objective, objective_higher_is_better, objectives,
                          [*TIMES, *observed, *metrics.of, *spec.parameters])
    spec.problem(problem_size)
    spec.grid([grid_div_x, grid_div_y, grid_div_z])
    spec.restrict(restrictions)
    spec.share(smem_args)
    spec.compile_with(compiler_options, compiler)
    # What a function verifies is left alone on the GPU.
    spec.take(arguments, cmem_args, None if verify else answer, atol)
    if simulation_mode:
        device, default = _recorded(spec, cache, default)
    path = spec.write(default)
    if budget is None:
        count = _command.run(["space", path])["valid"]
        budget = "all" if strategy is None and count <= ALL else BUDGET
    if strategy is None and budget == "all":
        strategy = "exhaustive"
    if not objective.is_time() and budget != "all":
        warnings.warn("objective: the search looks for the least time; "
                      "best_config is the best of what it measured; "
                      "budget=\"all\" measures all", stacklevel=2)
    seed = 1 if seed is None else whole(seed, "seed")
    tuned = _from_any(spec, default, lambda: _run(
        folder, path, device, budget, strategy, seed, resume, verbose,
        spec.name, far=(on, workers, far_program)))
    results, rejected = sorted_out(tuned, spec.parameters, observed)
    if verify is not None:
        if answer is None:
            raise Error("verify needs the answer that it compares with")
        results, wrong = _verified(spec, tuned, results, answer, verify, atol)
        rejected += wrong
    results, failed = metrics.add(results)
    rejected += failed
    env = _Env(device_name=tuned.device, rejected=rejected,
               checked=answer is not None and not (
                   verify is not None and tuned.found["recorded"]),
               spec=path, tuning=tuned.tuning,
               journal=tuned.journal,
               total_time=1000 * (time.perf_counter() - began))
    env.tuned = tuned
    if results:
        env["best_config"] = objective.best(results, tuned.best)
    return results, env


def run_kernel(kernel_name, kernel_source, problem_size, arguments, params,
               grid_div_x=None, grid_div_y=None, grid_div_z=None, lang=None,
               device=0, platform=0, smem_args=None, cmem_args=None,
               texmem_args=None, compiler=None, compiler_options=None,
               defines=None, block_size_names=None, quiet=False, log=None):
    """Compiles a kernel, launches it once, and returns a list beside the
    arguments: of an array what it holds then, of a number that.

    params is one configuration, {"block_size_x": 128}.  A kernel that fails
    raises Error.  Nothing is printed, and nothing stays on the disk but the
    binary, in the library's cache.
    """
    _refuse("run_kernel", {"platform": platform, "texmem_args": texmem_args})
    _check_lang("run_kernel", lang)
    _check_compiler("run_kernel", compiler)
    config = _mapping(params or None, "params")
    with tempfile.TemporaryDirectory(prefix="shmtune-run.") as folder:
        spec = Spec(kernel_name, kernel_source,
                    {n: [v] for n, v in config.items()}, folder,
                    block_size_names, defines, stored=False)
        spec.problem(problem_size)
        spec.grid([grid_div_x, grid_div_y, grid_div_z])
        threads = math.prod(b if isinstance(b, int) else
                            spec.parameters[b][0] for b in spec.block)
        if threads > 1024:
            raise Error("run_kernel: the block has %d threads, %s; 1024 at "
                        "most" % (threads, " * ".join(map(str, spec.block))),
                        INVALID_ARGUMENT)
        spec.share(smem_args)
        spec.compile_with(compiler_options, compiler)
        spec.take(arguments, cmem_args, None, 0)
        out = _launched(spec, whole(device, "device"))
    return [x if is_array else given for x, is_array, given in zip(
        out, spec.is_array, arguments)]


def _launched(spec, device):
    """What the arguments are after a launch of the only configuration."""
    config = {n: v[0] for n, v in spec.parameters.items()}
    spec.write(None)
    library = open_folder(spec.folder)
    runner = None
    try:
        runner = Verifier(spec, library.kernel(spec.name), device,
                          spec.is_array)
        if spec.by_nvcc():
            runner.prepare([config])
        return runner.run(config)
    except Error as error:
        if not _takes_nvcc(spec, error):
            if spec.by_nvcc() and error.status == NOT_FOUND:
                error = runner.why() or error
            raise (spec.about_constants(error) or error) from None
    finally:
        if runner is not None:
            runner.close()
        library.close()
    return _launched(spec, device)


class _Env(dict):
    """What Kernel Tuner's env is: its users write it as JSON.  `tuned` is what
    shmtune.tune gives."""


def _refuse(function, others):
    for name, value in others.items():
        if name not in REFUSED:
            raise TypeError("%s() got an unexpected keyword argument '%s'"
                            % (function, name))
        unset = (isinstance(value, (int, str)) and name in UNSET
                 and value == UNSET[name])
        if value is not None and not unset:
            raise Error("%s: shmtune does not take %s; %s" % (
                function, name, REFUSED[name]), INVALID_ARGUMENT)


def _from_any(spec, default, run):
    """What run() gives.  Kernel Tuner has no configuration that has to run:
    where the plain one does not, and nobody named one, others begin.  One that
    is wrong says that the answer may be."""
    chance, first, tried = random.Random(1), None, []
    while True:
        try:
            return run()
        except Error as error:
            if _takes_nvcc(spec, error):
                spec.write(default)
                continue
            said, about = str(error), spec.about_constants(error)
            error = about or error
            if (default is not None
                    or "the default configuration (" not in said
                    or "differs from the reference" in said):
                raise error from None
            first = first or error
        other = spec.another(chance, tried) if len(tried) < OTHERS else None
        if other is None:
            raise first
        tried.append(other)
        if about is None:
            warnings.warn("%s; tried again with %s" % (first, " ".join(
                "%s=%s" % pair for pair in other.items())), stacklevel=3)
        spec.write(other)


def _takes_nvcc(spec, error):
    """Whether the source is for nvcc, as most of Kernel Tuner's back ends
    compile it, and was not yet compiled by it; from now on it is."""
    if FOR_NVCC not in str(error) or spec.by_nvcc():
        return False
    spec.compile_by("nvcc")
    warnings.warn("%s; nvcc compiles it, which takes a second or more for "
                  "each configuration" % str(error).partition("; ")[0],
                  stacklevel=4)
    return True


def _recorded(spec, cache, default):
    """(a cache of Kernel Tuner's as a recorded device, the configuration to
    begin with, one that ran)."""
    if cache is None:
        raise Error("tune_kernel: simulation_mode needs cache=, a file that "
                    "Kernel Tuner has written; a journal of a run is "
                    "device=\"replay:FILE\"", INVALID_ARGUMENT)
    file = os.fspath(cache)
    file = file if os.path.isfile(file) else file + ".json"
    path = spec.write(default)
    words = ["import", file, "--spec", path, "--force", "--output",
             os.path.join(spec.folder, "recorded")]
    recording = _command.run(words)["imports"][0]["recording"]
    if default is None:
        ran = [row["config"] for row in _command.run(
            ["show", recording, "--spec", path])["results"]
            if row["verdict"] in ("ok", "slow")]
        if ran:
            default = ran[len(ran) // 2]
            spec.write(default)
            _command.run(words)
    return "replay:" + recording, default


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


def _check_lang(function, lang):
    if lang is None or str(lang).upper() in ("CUDA", "CUPY", "NVCUDA"):
        return
    if str(lang).upper() == "C":
        raise Error("%s: shmtune does not take lang=\"C\"; give the kernel "
                    "that the function launches, and what it copies to "
                    "__constant__ memory as cmem_args" % function)
    raise Error("%s: shmtune does not take lang=%r; it is for CUDA"
                % (function, lang))


def _check_compiler(function, compiler):
    if compiler not in (None, "nvrtc", "nvcc"):
        raise Error("%s: shmtune does not take compiler=%.80r; it takes "
                    "\"nvcc\", and the variable SHMTUNE_NVCC says which"
                    % (function, compiler), INVALID_ARGUMENT)


def _atol(given):
    try:
        return float(given)
    except (TypeError, ValueError):
        raise Error("atol is %.80r; expected a number" % (given,)) from None


# -- results ------------------------------------------------------------------

def _verified(spec, tuned, results, answer, verify, atol):
    """(what the user's function takes, what it does not).  A winner that it
    does not take leaves no tuning."""
    takes_atol = "atol" in inspect.signature(verify).parameters
    good, wrong = [], []
    if tuned.found["recorded"]:
        return results, wrong       # there is nothing to run
    kernel = tuned.kernel()
    configs = [{n: row[n] for n in spec.parameters} for row in results]
    verifier = Verifier(spec, kernel,
                        tuned.found["device"].get("ordinal", 0),
                        [a is not None for a in answer])
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
        kernel._library.close()
    if any(all(row[n] == tuned.best[n] for n in spec.parameters)
           for row in wrong):
        os.unlink(tuned.tuning)
    return good, wrong
