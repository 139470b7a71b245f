# SPDX-License-Identifier: MIT
"""tune(): a kernel, its arrays and what may be tuned, as Python has them.  It
writes a spec, runs the command, and gives back a table."""
import collections.abc
import os
import re
import shutil
import sys
import tempfile
import textwrap
import warnings
import weakref

from . import _command
from . import _library as lib
from ._array import is_gpu_array, number_of, view_of, whole
from ._expr import parse, value_of
from ._library import Error, STORAGE, WRONG_RESULT
from ._open import open as open_folder
from ._source import number_types, own_name
from ._spec import (REAL, choose_default, host_array, make_folder, range_of,
                    write_npy, write_text, yaml_of)

TOLERANCE = {"absolute": 1e-6, "relative": 1e-5}
# Of types whose neighbours are further apart; kernel/element.c has them too.
COARSE = {"f16": 1e-3, "bf16": 1.6e-2, "f8e4m3": 0.125, "f8e5m2": 0.25}


class _Given:
    """An array with its role.  `count` is the spec's expression for how many
    elements it has, "rows * cols"; without one it is their number."""
    role = None

    def __init__(self, array, count=None, tolerance=None):
        self.array, self.count, self.tolerance = array, count, tolerance


class In(_Given):
    """Read by the kernel."""
    role = "input"


class Out(_Given):
    """Written by the kernel, every element of it."""
    role = "output"


class InOut(_Given):
    """Read and written; it begins as the array is for every call."""
    role = "inout"


class ByValue(_Given):
    """An array that is passed by value, as a struct."""
    role = "value"


class Variable(_Given):
    """A __constant__ or __device__ variable of the source, by its name."""
    role = "symbol"


class Tuned:
    """What tune() gives back.

    size        the problem, {"rows": 4096, "cols": 4096}
    best        the winner of the finals, a dictionary
    time_us, default_us    its time and that of the default, there
    ties        the configurations that are as fast, with the winner
    results     a dictionary for every candidate, the fastest first: the
                parameters, verdict, reason, registers, ..., and time_us, as
                the search measured it
    spec, tuning, journal  the files
    others      a Tuned of each other problem, or device, of the same call
    failed      a list of (size, Error): the problems of the call that could
                not be tuned
    """

    def __init__(self, folder, name, spec, found, journal):
        self.folder, self.name, self.spec = folder, name, spec
        # Of this moment: a program may go to another folder.
        self._places = os.path.abspath(folder), os.path.abspath(spec)
        self.tuning, self.journal = found["tuning"], found["journal"]
        self.size, self.best = found["size"], found["config"]
        self.time_us = found["result"].get("time_us")
        self.default_us = found["default_us"]
        self.device = found["device"]["name"]
        self.ties = found["ties"]
        self.found = found
        self.results = [_row(entry) for entry in journal["results"]]
        self.verdicts = found["verdicts"]
        self.others, self.failed = [], []

    def kernel(self):
        """The kernel, to be called with arrays, as it was tuned."""
        folder, spec = self._places
        if not _is_plain(folder, spec):
            return _open_linked(folder, spec, self.name)
        return open_folder(folder).kernel(self.name)

    def table(self, rows=10, width=None):
        """The first candidates as lines of text, not longer than `width`: what
        is too long for a line has the configuration below each row."""
        names = list(self.best) + ["time_us", "verdict"]
        text = _columns(names, self.results[:rows])
        if width is None or max(map(len, text)) <= width:
            return "\n".join(text)
        text = _columns(["time_us", "verdict"], self.results[:rows])
        for k in range(len(text) - 1, 0, -1):
            text[k + 1:k + 1] = _wrapped(_pairs(self.results[k - 1], self.best),
                                         width, "    ")
        return "\n".join(text)

    def _text(self, width):
        gain = ("" if not self.default_us or not self.time_us else
                ", the default %.2f us" % self.default_us)
        if len(self.ties) > 1:
            gain += ("; %d are equally fast: the tie rule chose this one"
                     % len(self.ties))
        head = "%s on %s: %s" % (
            " ".join([self.name] + ["%s=%d" % pair
                                    for pair in self.size.items()]),
            self.device, _pairs(self.best, self.best)
            + (": %.2f us" % self.time_us if self.time_us else "") + gain)
        if width is not None:
            head = "\n  ".join(_wrapped(head, width - 2, ""))
        more = ("\nand %d more, in others" % len(self.others)
                if self.others else "")
        more += ("\nand %d that failed, in failed" % len(self.failed)
                 if self.failed else "")
        return head + "\n" + self.table(width=width) + more

    def __str__(self):
        return self._text(shutil.get_terminal_size().columns
                          if sys.stdout is not None and sys.stdout.isatty()
                          else None)

    __repr__ = __str__

    def _repr_html_(self):
        names = list(self.best) + ["time_us", "verdict"]
        rows = ["".join("<td>%s</td>" % _cell(row.get(n)) for n in names)
                for row in self.results[:20]]
        return "<table><tr>%s</tr>%s</table>" % (
            "".join("<th>%s</th>" % n for n in names),
            "".join("<tr>%s</tr>" % row for row in rows))


def _is_plain(folder, spec):
    """Whether the library finds spec and tunings in the folder: a ':' would
    stand between two."""
    return ":" not in folder and os.path.realpath(
        os.path.dirname(spec)) == os.path.realpath(
            os.path.join(folder, "kernels"))


def _open_linked(folder, spec, name):
    """The kernel of a spec that lies anywhere, with the tunings in `folder`:
    the library is given a folder with links, which are gone with it.  What
    else `folder` has stands behind: no kernel of that name is in the way."""
    links = tempfile.mkdtemp(prefix="shmtune-open.")
    try:
        kernels = os.path.dirname(spec)
        os.symlink(kernels, os.path.join(links, "kernels"))
        binaries = os.path.join(os.path.dirname(kernels), "cubins")
        if os.path.basename(kernels) == "kernels" and os.path.isdir(binaries):
            os.symlink(binaries, os.path.join(links, "cubins"))
        path = [links]
        if ":" in folder:
            os.symlink(os.path.join(folder, "tunings"),
                       os.path.join(links, "tunings"))
        else:
            path.append(folder)
        library = open_folder(":".join(path + [lib.search_path()]))
    except BaseException:
        shutil.rmtree(links, ignore_errors=True)
        raise
    weakref.finalize(library, shutil.rmtree, links, ignore_errors=True)
    linked = os.path.join(links, "kernels", "")
    mine = linked + os.path.basename(spec) + ": left out: "
    for note in library.notes:
        if note.startswith(mine):
            raise Error("%s: %s; have one of them in a folder" % (
                spec, note[len(mine):].replace(linked, kernels + os.sep)))
    return library.kernel(name)


def _columns(names, rows):
    lines = [names] + [[_cell(row.get(n)) for n in names] for row in rows]
    width = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join(c.rjust(w) for c, w in zip(line, width))
            for line in lines]


def _pairs(row, names):
    return " ".join("%s=%s" % (name, row.get(name, "")) for name in names)


def _wrapped(text, width, indent):
    """Lines broken at blanks; a word that is longer than one stays whole."""
    return textwrap.wrap(text, max(width, 20), initial_indent=indent,
                         subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def _cell(value):
    if value is None:
        return ""
    return "%.2f" % value if isinstance(value, float) else str(value)


def _row(entry):
    row = dict(entry["config"])
    row.update((k, v) for k, v in entry.items() if k != "config")
    return row


def tune(source, entry=None, problem=None, arguments=None, parameters=None,
         constraints=(), *, grid=None, block=None, answer=None,
         tolerance=None, default=None, derived=None, shared=None, name=None,
         folder="tuned", device=0, budget=None, strategy=None, seed=1,
         options=(), includes=(), standard=None, fast_math=False,
         compiler=None, work=None, keys=None, resume=False, verbose=False,
         on=None, workers=None, far_program=None):
    """Tunes a kernel, and returns what was found as a Tuned.

    source      the text of a CUDA source, or its path; without `entry` the
                path of a spec, or the name of a kernel that shmtune has: of
                what describes a kernel only `problem` may then be given, the
                size; without it all that the spec lists are tuned
    entry       the kernel's name
    problem     {"n": 1000000}: the sizes that expressions may name
    arguments   the kernel's, in its order, {name: what}: an array is read;
                Out(array) and InOut(array) are written; a number is passed;
                a text is an expression, "n"; a dictionary is the spec's own
    parameters  {"BLOCK": [64, 128, 256]}: macros of the source
    constraints expressions that hold for every configuration
    grid, block expressions, along x, y, z: ["ceildiv(n, BLOCK)"], ["BLOCK"]
    answer      what is right: {name: array}, a list beside the arguments, or a
                function that is given the arguments and returns it.  Without:
                what the default configuration computes
    tolerance   how far an element may be off: a number, or the spec's mapping
    default     the configuration that others are compared with
    shared      bytes of dynamic shared memory, an expression
    keys        more keys of the spec
    device      a GPU's number, or "replay:NAME", "replay:FILE"
    budget      "60s", or a number of candidates, or "all"
    on          what starts programs on the machine with the GPU, "ssh host";
                workers, far_program: as the command's

    The spec, its source and its data stay in folder/kernels, what is found in
    folder/tunings: shmtune.open(folder).kernel(name) launches it.
    """
    folder = folder_of(folder)
    if entry is None:
        _refuse_beside_spec(
            arguments=arguments, parameters=parameters,
            constraints=constraints, grid=grid, block=block, answer=answer,
            tolerance=tolerance, default=default, derived=derived,
            shared=shared, name=name, options=options, includes=includes,
            standard=standard, fast_math=fast_math, compiler=compiler,
            work=work, keys=keys)
        return _run(folder, _spec_or_name(source), device, budget, strategy,
                    seed, resume, verbose, sizes=_mapping(problem, "problem"),
                    far=(on, workers, far_program))
    if not isinstance(entry, str):
        raise Error("entry is a %s; expected the name of a kernel"
                    % type(entry).__name__)
    name = name or re.sub(r"\W", "_", entry)
    path = os.path.join(folder, "kernels", name + ".yaml")
    spec = _Writer(name, folder).spec(
        source, entry, problem, arguments or {}, parameters,
        _list_of(constraints), grid=grid, block=block, answer=answer,
        tolerance=tolerance, default=default, derived=derived, shared=shared)
    spec.update({k: v for k, v in (
        ("includes", [os.path.abspath(i) for i in _list_of(includes)]),
        ("options", _list_of(options)), ("standard", standard),
        ("fast_math", fast_math), ("compiler", compiler),
        ("work", work)) if v})
    spec.update(_mapping(keys, "keys"))
    _check_written(spec.get("arguments"))
    write_text(path, yaml_of(_in_order(spec)))
    return _run(folder, path, device, budget, strategy, seed, resume, verbose,
                name, far=(on, workers, far_program))


def _refuse_beside_spec(**given):
    for name, value in given.items():
        if value is None or value is False or (
                isinstance(value, (tuple, list, dict)) and not value):
            continue
        raise Error("%s is given, and no entry: then source is a spec, which "
                    "has its own; name the kernel of a CUDA source as entry, "
                    "or write it into the spec" % name)


def _check_written(arguments):
    """What is not understood here the command says."""
    if isinstance(arguments, dict) and arguments and not any(
            not isinstance(a, dict) or a.get("role") in ("output", "inout")
            for a in arguments.values()):
        raise Error("no argument is one that the kernel writes; give those as "
                    "Out(array), or InOut(array)")


# The order in which a spec is read by people.
_ORDER = ("format", "name", "summary", "source", "compiler", "includes",
          "standard", "fast_math", "options", "problem", "sizes",
          "parameters", "derived", "constraints", "launches", "reference",
          "answer", "setup", "compare", "arguments", "work")


def _in_order(spec):
    known = {k: spec[k] for k in _ORDER if k in spec}
    return {**known, **spec}


def folder_of(folder):
    try:
        return os.fsdecode(folder)
    except TypeError:
        raise Error("folder is a %s; expected a path"
                    % type(folder).__name__) from None


def _spec_or_name(source):
    """What the command is given: a path is one for it too."""
    if isinstance(source, str):
        return source
    try:
        return os.path.join(os.curdir, os.fsdecode(source))
    except TypeError:
        raise Error("source is a %s; expected the path of a spec, or the name "
                    "of a kernel" % type(source).__name__) from None


def _spec_of(what):
    """The spec that the command takes for a path or a name."""
    if os.sep not in what and not what.endswith((".yaml", ".yml")):
        for kernel in _command.run(["list", "kernels"])["kernels"]:
            if kernel["name"] == what:
                return kernel["spec"]
        return what     # the command says that there is none
    inside = os.path.join(what, "kernel.yaml")      # of a captured launch
    return inside if os.path.isfile(inside) else what


def _run(folder, what, device, budget, strategy, seed, resume, verbose,
         name=None, sizes=None, far=(None, None, None)):
    words = ["tune", what, "--device", str(device), "--output",
             os.path.join(folder, "tunings"), "--seed", str(seed),
             "--resume" if resume else "--no-resume"]
    if budget is not None:
        words += ["--budget", str(budget)]
    if strategy is not None:
        words += ["--strategy", strategy]
    for option, value in zip(("--on", "--workers", "--far-program"), far):
        if value is not None:
            words += [option, os.fsdecode(value) if hasattr(
                value, "__fspath__") else str(value)]
    if verbose:
        words.append("-v")
    if sizes:
        words += ["--size", ",".join("%s=%d" % (
            n, whole(x, "problem: the size %s" % n))
            for n, x in sizes.items())]
    spec = _spec_of(what)
    document = _command.run(words, print if verbose else None)
    failed = [(f.get("size"), _failure(f)) for f in document["failures"]]
    if failed and not document["results"]:
        raise failed[0][1]
    if not document["results"]:
        raise Error("nothing was tuned", WRONG_RESULT)
    tuned = [Tuned(folder, name or found["kernel"], spec, found, _command.run(
        ["show", found["journal"], "--spec", spec]))
        for found in document["results"]]
    tuned[0].others, tuned[0].failed = tuned[1:], failed
    for size, error in failed:
        warnings.warn("%s is not tuned: %s" % (" ".join(
            "%s=%s" % pair for pair in (size or {}).items()) or what, error),
            stacklevel=3)
    return tuned[0]


def _failure(told):
    place = told.get("place")
    return Error(told["error"], told["status"], place and (
        place.get("file"), place.get("line"), place.get("column")))


class _Writer:
    """Makes the spec, and writes the files that it names."""

    def __init__(self, name, folder, stored=True):
        self.name, self.stored = name, stored
        self.kernels = os.path.join(folder, "kernels")
        self.data = name + ".data"

    def spec(self, source, entry, problem, arguments, parameters, constraints,
             *, grid, block, answer, tolerance, default, derived, shared):
        if grid is None or block is None:
            raise Error("grid and block are missing, as "
                        "grid=[\"ceildiv(n, BLOCK)\"], block=[\"BLOCK\"]")
        grid, block = _list_of(grid), _list_of(block)
        problem = {n: dict(v) if isinstance(v, dict) else {"default": v}
                   for n, v in _mapping(problem, "problem").items()}
        derived = _mapping(derived, "derived")
        for n, v in problem.items():
            if "default" in v:
                v["default"] = whole(v["default"], "problem: the size %s" % n)
        self.sizes = {n: v["default"] for n, v in problem.items()
                      if "default" in v}
        parameters = {n: _parameter(n, p) for n, p in
                      _mapping(parameters, "parameters").items()}
        if default is None:
            missing = [n for n, p in parameters.items() if "default" not in p]
            default = {} if not missing else choose_default(
                {n: [p["default"]] if "default" in p else
                 range_of(p["values"], self.sizes, n)
                 if isinstance(p["values"], dict) else p["values"]
                 for n, p in parameters.items()}, constraints, block,
                self._with_derived(derived))
        default = _mapping(default, "default")
        for n, p in parameters.items():
            if n in default:
                p["default"] = _number(default[n], n)
        launch = {"entry": entry, "grid": grid, "block": block}
        if shared is not None:
            launch["shared_dynamic"] = shared
        given = self._named(arguments, source)
        launch["arguments"] = [n for n, a in given.items()
                               if not isinstance(a, Variable)]
        source = self._source(source)
        self.types = dict(zip(launch["arguments"], number_types(
            self._text(source), own_name(entry), len(launch["arguments"]))))
        spec = {"format": "kernel/2", "name": self.name, "source": source,
                "problem": problem,
                "parameters": parameters, "derived": derived,
                "constraints": constraints, "launches": [launch],
                "arguments": self._arguments(given, answer, tolerance)}
        return {k: v for k, v in spec.items() if v or k == "parameters"}

    def _with_derived(self, derived):
        values = dict(self.sizes)
        for n, text in derived.items():
            try:
                values[n] = value_of(parse(text), values)
            except Exception:
                pass    # one that depends on parameters: not for the default
        return values

    def _source(self, source):
        """Its name in the spec: a path as it is, a text in a file beside."""
        source = os.fspath(source) if hasattr(source, "__fspath__") else source
        if not isinstance(source, str):
            raise Error("source is a %s; expected a text, or a path"
                        % type(source).__name__)
        if "\n" not in source and ("(" not in source or source.endswith(
                (".cu", ".cuh", ".cc", ".cpp"))):
            if not os.path.exists(source):
                raise Error("there is no source %s" % source, STORAGE)
            return os.path.abspath(source)
        write_text(os.path.join(self.kernels, self.name + ".cu"), source)
        return self.name + ".cu"

    def _text(self, source):
        try:
            with open(os.path.join(self.kernels, source), encoding="utf-8",
                      errors="replace") as file:
                return file.read()
        except OSError:
            return ""       # the command says what is wrong with it

    @staticmethod
    def _named(arguments, source):
        if isinstance(arguments, dict):
            return dict(arguments)
        if not isinstance(arguments, (list, tuple)):
            raise Error("arguments is a %s; expected {name: array or number}"
                        % type(arguments).__name__)
        return {"a%d" % k: a for k, a in enumerate(arguments)}

    def _arguments(self, given, answer, tolerance):
        answers = _answers(given, answer)
        out = {}
        for name, a in given.items():
            if not isinstance(a, _Given) and not isinstance(a, (str, dict)):
                a = self._plain(name, a, name in answers)
            if isinstance(a, _Given):
                right = (answers.pop(name, None)
                         if a.role in ("output", "inout") else None)
                a = self._array(name, a, right, tolerance)
            elif isinstance(a, str):
                a = {"type": self.types.get(name) or "i32", "value": a}
            out[name] = a
        if answers:
            raise Error("an answer for %s, which is no argument that is "
                        "written; there are: %s" % (
                            ", ".join(answers), ", ".join(out)))
        return out

    def _plain(self, name, x, has_answer):
        """A number, or an array whose role follows from the answer.  A number
        of Python's own is of the parameter's type."""
        view = view_of(x)
        if view is not None and view.ndim == 0:
            word = host_array(x, name)[1]
            return self._scalar(name, word, number_of(x, view))
        word = self.types.get(name)
        if isinstance(x, bool):
            return self._scalar(name, word or "bool", int(x))
        if isinstance(x, int):
            return self._scalar(name, word or (
                "i32" if -2**31 <= x < 2**31 else "i64"), x)
        if isinstance(x, float):
            if word not in (None, *REAL):
                x = whole(x, "argument %s" % name)
            return self._scalar(name, word or "f32", x)
        return (Out if has_answer else In)(x)

    def _scalar(self, name, word, number):
        if self.sizes.get(name) == number:
            return {"type": word, "value": name}
        return {"type": word, "value": number}

    def _array(self, name, a, answer, tolerance):
        view, word = host_array(a.array, "argument " + name)
        told = {"type": word, "role": a.role,
                "count": _count(name, a.count, view, self.sizes)}
        if a.role != "output":
            told["fill"] = {"file": self._file(name, view, word)}
        if a.role in ("output", "inout"):
            allowed = a.tolerance if a.tolerance is not None else tolerance
            if allowed is None:
                allowed = ({**TOLERANCE, "relative": COARSE.get(
                    word, TOLERANCE["relative"])} if word in REAL else {})
            told["tolerance"] = _tolerance(name, allowed)
        if answer is not None:
            right, kind = host_array(like(answer, a.array, name),
                                     "the answer for " + name)
            if kind != word or right.nbytes != view.nbytes:
                raise Error(
                    "the answer for %s has %d elements of type %s, the "
                    "argument %d of type %s; give it as that" % (
                        name, right.nbytes // right.itemsize, kind,
                        view.nbytes // view.itemsize, word))
            told["expect"] = {"file": self._file(name + ".answer", right,
                                                 kind)}
        return told

    def _file(self, name, view, word):
        folder = os.path.join(self.kernels, self.data)
        if not self.stored:
            return "none.npy"       # nothing is filled
        make_folder(folder)
        write_npy(os.path.join(folder, name + ".npy"), view, word)
        return "%s/%s.npy" % (self.data, name)


def _tolerance(name, allowed):
    if isinstance(allowed, dict):
        return allowed
    try:
        return {"absolute": float(allowed)}
    except (TypeError, ValueError):
        raise Error("argument %s has the tolerance %.80r; expected a number, "
                    "or {\"relative\": 1e-5}" % (name, allowed)) from None


def _count(name, count, view, sizes):
    have = view.nbytes // view.itemsize
    if count is None:
        return have
    try:
        wanted = value_of(parse(count), sizes)
    except Exception:
        raise Error("argument %s has the count \"%s\"; expected an expression "
                    "over %s" % (name, count, ", ".join(sizes) or "numbers")
                    ) from None
    if wanted != have:
        raise Error("argument %s has %d elements, its count %s is %s" % (
            name, have, count, wanted))
    return count


def _answers(given, answer):
    """{name: array}."""
    if answer is None:
        return {}
    names = list(given)
    if callable(answer):
        answer = answer(*[a.array if isinstance(a, _Given) else a
                          for a in given.values()])
        if not isinstance(answer, (dict, list, tuple)):
            written = [n for n, a in given.items()
                       if isinstance(a, (Out, InOut))]
            if len(written) != 1:
                raise Error("the answer is one array, and %d arguments are "
                            "written: %s; say which are, by Out(array), and "
                            "return {name: array}" % (len(written),
                                                      ", ".join(written)))
            return {written[0]: answer}
    if isinstance(answer, dict):
        return dict(answer)
    if not isinstance(answer, (list, tuple)):
        raise Error("answer is a %s; expected {name: array}, a list beside the "
                    "arguments, or a function" % type(answer).__name__)
    if len(answer) != len(names):
        raise Error("answer has %d members, there are %d arguments" % (
            len(answer), len(names)))
    return {n: a for n, a in zip(names, answer) if a is not None}


def _list_of(value):
    """Of one, or of what has several; a text is one."""
    return (list(value) if hasattr(value, "__iter__")
            and not isinstance(value, (str, bytes)) else [value])


def _mapping(value, what):
    if value is None:
        return {}
    if not isinstance(value, collections.abc.Mapping):
        raise Error("%s is a %s; expected {name: ...}"
                    % (what, type(value).__name__))
    return dict(value)


_RANGE = ("from", "to", "step", "times")


def _parameter(name, given):
    """A parameter as the spec has it; a list, or a range, is its values."""
    if isinstance(given, dict):
        told = {k: v for k, v in given.items() if k not in _RANGE}
        range_ = {k: v for k, v in given.items() if k in _RANGE}
        if range_:
            told.setdefault("values", range_)
    else:
        told = {"values": given}
    values = told.get("values")
    if not isinstance(values, dict):
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise Error("parameter %s has the values %.80r; expected a list, "
                        "or a range, {\"from\": 64, \"to\": 256, \"times\": 2}"
                        % (name, values))
        told["values"] = [_number(v, name) for v in values]
        if not told["values"]:
            raise Error("parameter %s has no values" % name)
    return told


def _number(value, name):
    """A parameter's value as the spec has it."""
    if isinstance(value, bool):
        raise Error("parameter %s has the value %s; write 0 and 1" % (name,
                                                                    value))
    if isinstance(value, (int, float, str)):
        return value
    if hasattr(value, "item"):
        return _number(value.item(), name)
    raise Error("parameter %s has the value %r; expected a number or a word"
                % (name, value))


def like(right, x, name):
    """An answer with the type of its argument: what was computed in a wider
    one, as an oracle is, is rounded.  Where NumPy cannot, it stays as it is,
    and is refused with both types."""
    word = host_array(right, "the answer for " + name)[1]
    wanted = host_array(x, "argument " + name)[1]
    if word == wanted or {word, wanted} & {"bf16", "f8e4m3", "f8e5m2"}:
        return right
    try:
        import numpy
    except ImportError:
        return right
    right, own = numpy.asarray(right), numpy.asarray(x).dtype
    return right.astype(own) if numpy.can_cast(own, right.dtype) else right


def is_array(x):
    view = None if is_gpu_array(x) else view_of(x)
    return is_gpu_array(x) or (view is not None and view.ndim > 0)
