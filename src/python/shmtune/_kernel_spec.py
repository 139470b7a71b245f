# SPDX-License-Identifier: MIT
"""The spec of a call as Kernel Tuner has them: its arguments, one after the
other, become keys of a spec, and what it puts before a source is put there."""
import os
import re
import warnings
import zlib

from . import _command
from ._array import is_gpu_array, number_of, view_of, whole
from ._expr import parse
from ._library import Error, INVALID_FILE, STORAGE
from ._source import is_written, own_name, parameters, points_to
from ._spec import REAL, holds, host_array, yaml_of, write_text
from ._trace import expression, variants
from ._tune import (InOut, In, Variable, _Writer, _in_order, _mapping,
                    is_array, like)

BLOCK = ("block_size_x", "block_size_y", "block_size_z")
THREADS = (256, 1, 1)       # where no parameter says it
GRID = ("grid_size_x", "grid_size_y", "grid_size_z")
RELATIVE = 1e-5             # what numpy.allclose allows beside atol
MOST_DRAWN = 10000          # configurations, to find one that is valid
LONGEST_NAME = 64           # of a kernel, in a spec
# Options of nvcc for the host's compiler, and those of them with a value that
# may stand apart.
HOST = re.compile(r"-O\d?\Z|--?(x|gpu-code|optimize|ccbin|compiler-bindir)"
                  r"|-Xcompiler|--compiler-options|-m64\Z|-c\Z|-shared\Z")
APART = ("-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir",
         "-x", "-arch", "--gpu-architecture", "-gencode", "-code",
         "--generate-code")


class Spec:
    """The spec of a call, made piece by piece."""

    def __init__(self, name, source, parameters, folder, block=None,
                 defines=None, stored=True):
        if not isinstance(name, str):
            raise Error("kernel_name is a %s; expected a text"
                        % type(name).__name__)
        self.name = _short(re.sub(r"\W+", "_", name).strip("_"))
        self.folder = folder
        self.stored = stored        # the arrays' data, in files
        self.parameters = {
            n: [_value(v, n) for v in _values(values, n)]
            for n, values in _mapping(parameters, "tune_params").items()}
        self.function, self.entry = _entry_of(name, self.parameters)
        self.texts, self.place = _sources_of(source, self.parameters)
        self.sizes, self.keys, self.constraints = {}, {}, []
        self.block_names = _block_names(block)
        self.block = [n if n in self.parameters else threads
                      for n, threads in zip(self.block_names, THREADS)]
        self.shared, self.defines = None, defines
        self.macros = {"kernel_tuner": 1}
        if defines is None:
            self.macros.update(
                (n, t) for n, t in zip(self.block_names, THREADS)
                if n not in self.parameters)
        else:
            self.defines = _mapping(defines, "defines")

    def _says(self, function, what, pick=None, named=False):
        return expression(function, self.parameters, what, pick, named)

    def problem(self, size):
        if callable(size):
            size = [self._says(size, "problem_size",
                               lambda given, k=k: _extent(given, k))
                    for k in range(3)]
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
            what = "grid_div_" + "xyz"[k]
            if by is None:
                own = self.block_names[k]
                by = [own] if own in self.parameters else []
            exact = True
            words = []
            for d in _list_of(by):
                if callable(d):
                    words.append("(%s)" % self._says(d, what))
                    exact = False
                else:
                    words.append(_divisor(d))
            product = " * ".join(words)
            # A function may give a part of one, as KT's float division.
            self.grids.append(
                extent if not words else
                "ceildiv(%s, %s)" % (extent, product) if exact else
                "int(-((-(%s) / (%s)) // 1))" % (extent, product))
            number = _at_sizes(extent, self.sizes)
            if self.defines is None:
                self.macros[GRID[k]] = (
                    "((%s + (%s) - 1) / (%s))" % (number, product, product)
                    if words else "(%s)" % number)

    def restrict(self, restrictions):
        whole_ = callable(restrictions)
        for one in _list_of([] if restrictions is None else restrictions):
            if isinstance(one, tuple) and len(one) > 1 and callable(one[0]):
                one = one[0]        # beside it the names that it wants
            if callable(one):
                one = self._says(one, "restrictions" if whole_ else
                                 "a restriction", named=not whole_)
            if not isinstance(one, str):
                raise Error("a restriction is a %s; write it as a text, "
                            "\"block_size_x * block_size_y <= 512\""
                            % type(one).__name__)
            self.constraints.append(one)
        product = " * ".join(str(b) for b in self.block)
        self.constraints.append("%s <= 1024" % product)

    def share(self, given):
        """The bytes of dynamic shared memory: smem_args."""
        given = _mapping(given, "smem_args")
        if set(given) - {"size"}:
            raise Error("smem_args has %s; expected {\"size\": bytes}"
                        % ", ".join(sorted(set(map(str, given)) - {"size"})))
        size = given.get("size")
        if size is None:
            return
        if callable(size):
            self.shared = "int(%s)" % self._says(size, "smem_args")
        elif isinstance(size, str):
            self.shared = "int(%s)" % size
        else:
            self.shared = str(whole(size, "smem_args: size"))

    def by_nvcc(self):
        return self.keys.get("compiler") == "nvcc"

    def compile_by(self, compiler):
        self.keys["compiler"] = compiler

    def compile_with(self, options, compiler):
        if compiler is not None:
            self.compile_by(compiler)
        kept, includes = [], [self.place] if self.place else []
        options = _list_of([] if options is None else options)
        for option in options:
            if not isinstance(option, str):
                raise Error("compiler_options has %.80r; expected texts"
                            % (option,))
        options = iter(options)
        for option in options:
            if option in ("-I", "-D", "--include-path", "--define-macro",
                          "-std", "--std") + APART:
                value = next(options, "")
                option = (option + "=" + value if option.startswith("--")
                          or option in ("-std",) + APART
                          else option + value)
            option = re.sub(r"--include-path=", "-I", option)
            option = re.sub(r"--define-macro=", "-D", option)
            if option.startswith(("-arch", "--gpu-architecture", "-gencode",
                                  "--generate-code", "-code")):
                warnings.warn("compiler_options: %s is left out; what is "
                              "compiled is for the device" % option,
                              stacklevel=3)
            elif HOST.match(option):
                warnings.warn("compiler_options: %s is left out; it is for "
                              "nvcc and the host's compiler" % option,
                              stacklevel=3)
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
        self.declared = parameters(self.texts[0][1], self.function,
                                   len(arguments),
                                   self.keys.get("includes", []))
        names = [one["name"] for one in self.declared]
        taken = set(self.parameters) | set(self.sizes)
        self.names = [n + "_" if n in taken else n for n in names]
        if answer is not None and len(answer) != len(arguments):
            raise Error("answer has %d members, there are %d arguments" % (
                len(answer), len(arguments)))
        self.answers, self.given = {}, {}
        self.originals = dict(zip(self.names, arguments))
        self.is_array = [is_array(x) for x in arguments]
        for k, (name, x) in enumerate(zip(self.names, arguments)):
            right = None if answer is None else answer[k]
            if not self.is_array[k]:
                self.given[name] = _scalar(x, name)
                continue
            right, x = plain(right, x), plain(x)
            self.given[name] = (InOut(x) if right is not None
                                or is_written(self.declared[k]) else In(x))
            if right is not None:
                self.answers[name] = like(right, x, name)
        for name, x in _mapping(constants, "cmem_args").items():
            if view_of(x) is None and not is_gpu_array(x):
                raise Error("cmem_args: %s is a %s; expected an array, or a "
                            "number of NumPy's" % (name, type(x).__name__))
            if not getattr(view_of(x), "nbytes", 1):
                raise Error("cmem_args: %s has no elements" % name)
            self.given[name] = Variable(plain(x))
        self.unchecked = [n for n, a in self.given.items()
                          if isinstance(a, InOut) and n not in self.answers]
        self.atol = atol

    def write(self, default):
        writer = _Writer(self.name, self.folder, self.stored)
        tolerance = {"absolute": self.atol, "relative": RELATIVE}
        source = self._source(writer)
        spec = writer.spec(
            source, self.entry, self.sizes, self.given, self.parameters,
            self.constraints, grid=self.grids,
            block=[str(b) for b in self.block], answer=self.answers or None,
            tolerance=tolerance, default=default, derived=None,
            shared=self.shared)
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
        self.default = {n: p["default"] for n, p in spec["parameters"].items()}
        self.path = os.path.join(writer.kernels, self.name + ".yaml")
        write_text(self.path, yaml_of(_in_order(spec)))
        return self.path

    def inspected(self, *options):
        """What the compiler makes of the default configuration."""
        words = ["inspect", self.path, *options]
        if self.default:
            words += ["--config", ",".join(
                "%s=%s" % pair for pair in self.default.items())]
        return _command.run(words)["candidates"][0]

    def about_constants(self, error):
        """An error of the spec, as one about cmem_args; None: it is about
        something else."""
        if error.status != INVALID_FILE:
            return None
        try:
            variable = self.inspected().get("variable")
        except Error:
            return None
        if variable is None:
            return None
        name, bytes_ = variable["name"], variable["bytes"]
        given = self.given.get(name)
        if not isinstance(given, Variable):
            return Error("cmem_args: nothing fills the __constant__ variable "
                         "%s (%d byte%s), which has no initialiser"
                         % (name, bytes_, "s" if bytes_ != 1 else ""))
        view = host_array(given.array, name)[0]
        return Error("cmem_args: %s has %d bytes, %d elements of %d, and the "
                     "variable of the source has %d; give as many"
                     % (name, view.nbytes, view.nbytes // view.itemsize,
                        view.itemsize, bytes_))

    def another(self, chance, tried):
        """A configuration that satisfies the constraints, and was not tried;
        None: there are so few that none was met."""
        trees = [parse(c) for c in self.constraints]
        for _ in range(MOST_DRAWN):
            config = {n: chance.choice(v) for n, v in self.parameters.items()}
            if config not in tried and holds(trees, {**self.sizes,
                                                     **config}):
                return config
        return None

    def _source(self, writer):
        """What Kernel Tuner puts before a source, and the source."""
        texts = [text for _, text in self.texts]
        words = set(re.findall(r"[A-Za-z_]\w*", " ".join(texts)))
        lines = []
        if len(texts) > 1:
            lines += _selected("SHMTUNE_SOURCE", [
                (condition, k) for k, (condition, _) in enumerate(self.texts)])
        lines += self._defined(words)
        for k, text in enumerate(texts):
            if len(texts) > 1:
                lines.append("#%s SHMTUNE_SOURCE == %d"
                             % ("elif" if k else "if", k))
            for name in self.parameters:
                if "loop_unroll_factor" in name:
                    text = re.sub(
                        r"(?m)^[ \t]*#[ \t]*pragma[ \t]+unroll[ \t]+\(?"
                        + name + r"\b\)?[ \t]*$",
                        "#if %s > 0\n#pragma unroll shmtune_%s\n#endif"
                        % (name, name), text)
            lines += ["#line 1", text]
        if len(texts) > 1:
            lines.append("#endif")
        for n in self.unchecked:
            kind = ("void" if self.function != self.entry else
                    points_to(self.declared[list(self.given).index(n)]))
            lines.append(
                "#ifdef SHMTUNE_COMPARE\n"
                "/* No answer was given: whatever is written is right. */\n"
                "extern \"C\" __global__ void shmtune_unchecked_%s(\n"
                "    unsigned long long *, const %s *, const %s *)\n{\n}\n"
                "#endif" % (n, kind, kind))
        return "\n".join(lines) + "\n"

    def _defined(self, words):
        """The macros; of `defines` these alone, without the parameters."""
        lines = []
        for name, value in (self.defines or {}).items():
            if callable(value):
                lines += _selected(name, variants(value, self.parameters,
                                                  "defines"))
        for name, value in self.macros.items():
            if name not in words and name != "kernel_tuner":
                continue
            if name in GRID and re.search(
                    r"\b(if|and|or|not|in)\b|//|\*\*", str(value)):
                raise Error("the source uses %s, and what says it is a "
                            "function with branches; write problem_size and "
                            "grid_div_%s as texts" % (name, name[-1]))
            lines.append("#define %s %s" % (name, value))
        for name, values in self.parameters.items():
            if self.defines is not None:
                if name not in self.defines:
                    lines.append("#undef " + name)
            elif isinstance(values[0], str):
                lines.append(_word_macro(name, values))
            if "loop_unroll_factor" in name:
                lines.append("#if %s > 0\nconstexpr int shmtune_%s = %s;\n"
                             "#endif" % (name, name, name))
        for name, value in (self.defines or {}).items():
            if not callable(value):
                lines.append("#undef %s\n#define %s %s" % (name, name, value))
        return lines


def _short(name):
    """As long as the name of a kernel may be."""
    if len(name) <= LONGEST_NAME:
        return name
    return "%s_%08x" % (name[:LONGEST_NAME - 9], zlib.crc32(name.encode()))


def _block_names(names):
    """Of x, y and z."""
    if names is None:
        return BLOCK
    names = _list_of(names)
    if len(names) > 3 or not all(isinstance(n, str) for n in names):
        raise Error("block_size_names is %.80r; expected up to three texts"
                    % (names,))
    return tuple(names) + BLOCK[len(names):]


# -- texts --------------------------------------------------------------------

def _sources_of(source, parameters):
    """([(condition of the preprocessor, text)], folder of its headers)."""
    if callable(source):
        texts = variants(source, parameters, "kernel_source")
        for _, text in texts:
            if not isinstance(text, str):
                raise Error("kernel_source gives a %s; expected a text"
                            % type(text).__name__)
        return texts, None
    if isinstance(source, (list, tuple)):
        if not source:
            raise Error("kernel_source is an empty list")
        source = source[0]      # it includes the others, from its folder
    source = os.fspath(source) if hasattr(source, "__fspath__") else source
    if not isinstance(source, str):
        raise Error("kernel_source is a %s; expected a text, or a path"
                    % type(source).__name__)
    if re.search(r"[\n(]|#include", source):
        return [(None, source)], None
    try:
        with open(source, encoding="utf-8") as file:
            return [(None, file.read())], os.path.dirname(
                os.path.abspath(source))
    except (OSError, ValueError) as error:
        raise Error("kernel_source: %s: %s" % (
            source, getattr(error, "strerror", None) or error),
            STORAGE) from None


def _selected(name, told):
    """A macro by what the parameters are."""
    if len(told) == 1:
        return ["#undef %s\n#define %s %s" % (name, name, told[0][1])]
    lines = ["#undef " + name]
    for k, (condition, value) in enumerate(told):
        lines.append("#%s %s\n#define %s %s" % ("elif" if k else "if",
                                               condition, name, value))
    return lines + ["#endif"]


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
    values = _list_of(values)
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


def _list_of(by):
    return (list(by) if hasattr(by, "__iter__")
            and not isinstance(by, str) else [by])


def _extent(given, k):
    """Of what a function gives as the problem's size, along the axis k."""
    if not isinstance(given, (tuple, list)):
        given = (given,)
    return given[k] if k < len(given) else 1


def plain(x, like_=None):
    """An array as it lies in memory, as Kernel Tuner copies it: of Fortran's
    order with its axes the other way, of complex numbers as what they consist
    of.  An answer is put in the order of what it is `like_`."""
    if not hasattr(x, "flags") or not hasattr(x, "dtype") or (
            is_gpu_array(x)):
        return x
    if like_ is None:
        like_ = x
    flags = getattr(like_, "flags", None)
    if (getattr(flags, "f_contiguous", False)
            and not getattr(flags, "c_contiguous", True)
            and getattr(x, "shape", None) == like_.shape):
        x = x.T
    if getattr(x.dtype, "kind", None) == "c" and x.ndim:
        import numpy
        x = numpy.ascontiguousarray(x).view(x.real.dtype)
    return x


def _listed(given, what):
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise Error("%s is a %s; expected a list beside the parameters of the "
                    "kernel" % (what, type(given).__name__))
    return list(given)


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
