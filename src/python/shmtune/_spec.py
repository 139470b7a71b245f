# SPDX-License-Identifier: MIT
"""Specs and the files that they name, written for what a Python program has."""
import contextlib
import itertools
import json
import math
import os
import re
import struct

from ._array import element, view_of
from ._expr import Unknown, parse, value_of
from ._library import Error, STORAGE

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
# What NumPy has not is written as its bits.
_NPY = {"f16": "<f2", "bf16": "<u2", "f8e4m3": "|u1", "f8e5m2": "|u1",
        "f32": "<f4", "f64": "<f8", "i8": "|i1", "u8": "|u1", "i16": "<i2",
        "u16": "<u2", "i32": "<i4", "u32": "<u4", "i64": "<i8", "u64": "<u8",
        "bool": "|b1"}
COMPLEX = {k: "; give its view of real numbers, two for each of it: "
              "x.view(numpy.%s)" % real
           for k, real in (("Zf", "float32"), ("Zd", "float64"))}
REAL = ("f16", "bf16", "f8e4m3", "f8e5m2", "f32", "f64")
MOST_TRIED = 200000
MOST_VALUES = 65536     # of a range; the command takes no more


# -- YAML ---------------------------------------------------------------------

def _flow(value):
    if hasattr(value, "tolist"):
        value = value.tolist()      # of NumPy's types
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (_flow(k), _flow(v))
                                  for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(map(_flow, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "%d" % value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Error("%r cannot stand in a spec" % value)
        text = repr(float(value))
        return text if "." in text else text.replace("e", ".0e")
    text = str(value)
    if PLAIN.match(text) and text.lower() not in NOT_TEXT:
        return text
    return json.dumps(text, ensure_ascii=False)


def yaml_of(spec):
    """A spec as text: a line for each key, and for each member of what has
    several."""
    lines = []
    for key, value in spec.items():
        if isinstance(value, dict) and value:
            lines.append(key + ":")
            lines += ["  %s: %s" % (_flow(k), _flow(v))
                      for k, v in value.items()]
        elif isinstance(value, list) and value and key in (
                "sizes", "constraints", "launches", "reference", "compare"):
            lines.append(key + ":")
            lines += ["- " + _flow(v) for v in value]
        else:
            lines.append("%s: %s" % (key, _flow(value)))
    return "\n".join(lines) + "\n"


# -- .npy ---------------------------------------------------------------------

def write_npy(path, view, word):
    header = "{'descr': %r, 'fortran_order': False, 'shape': (%s), }" % (
        _NPY[word], "".join("%d, " % extent for extent in view.shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with stored(path), open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode("latin-1"))
        file.write(view.cast("B") if view.nbytes and view.ndim else
                   view.tobytes())


def host_array(x, what):
    """(memoryview, word) of an array, in the order of C."""
    view = view_of(x)
    if view is None:
        raise Error("%s is a %s; expected an array" % (what,
                                                       type(x).__name__))
    word = element(x, view)
    if word is None:
        raise Error("%s has elements of the type %r, which shmtune does not "
                    "have%s" % (what, view.format, COMPLEX.get(view.format,
                                                               "")))
    if not view.c_contiguous:
        kind = view.format.lstrip("<=@")
        # Of "e" memoryview makes none before Python 3.12.
        view = memoryview(view.tobytes()).cast("B").cast(
            "H" if kind == "e" else kind, view.shape)
    return view, word


# -- the default configuration ------------------------------------------------

def holds(trees, values):
    for tree in trees:
        try:
            if not value_of(tree, values):
                return False
        except ArithmeticError:
            return False
        except (Unknown, KeyError, TypeError, ValueError):
            pass            # the command says what is wrong with it
    return True


def choose_default(parameters, constraints, block, sizes):
    """Plain, safe values: about 256 threads a block, and the lowest of
    everything else, as far as the constraints let."""
    trees = [parse(c) for c in constraints]
    blocks = [parse(b) for b in block]
    shape = [n for n in parameters if any(n in _words(b) for b in block)]
    others = [n for n in parameters if n not in shape]
    best = None

    def order(name):
        values = parameters[name]
        return sorted(values) if all(isinstance(v, (int, float))
                                     for v in values) else list(values)

    tried = 0
    for low in itertools.product(*map(order, others)):
        for own in itertools.product(*map(order, shape)):
            values = {**sizes, **dict(zip(others, low)),
                      **dict(zip(shape, own))}
            tried += 1
            if not holds(trees, values):
                continue
            far = _distance(blocks, values, own)
            if best is None or far < best[0]:
                best = far, {n: values[n] for n in parameters}
        if best is not None and (best[0][0] <= 1 or tried > MOST_TRIED):
            break
        if tried > 20 * MOST_TRIED:
            break
    if best is None:
        every = tried == math.prod(map(len, parameters.values()))
        raise Error("no configuration satisfies the constraints, of %d that "
                    "were tried; %s" % (
                        tried, "there are no others: drop or loosen one of "
                        "%s, or give more values" % ", ".join("`%s`" % c
                                                  for c in constraints)
                        if every else "give one as default="), 3)
    return best[1]


def _distance(blocks, values, own):
    """Of a block from what is plain; one that is longer along x reads memory in
    longer rows."""
    along = own[0] if own and isinstance(own[0], (int, float)) else 0
    try:
        threads = math.prod(value_of(b, values) for b in blocks)
        return abs(math.log2(max(threads, 1) / 256)), -along
    except (Unknown, ArithmeticError, KeyError, TypeError, ValueError):
        return 0, -along    # the command says what is wrong with it


def range_of(given, sizes, name):
    """The values of a range of the spec at these sizes.  What is wrong with one
    the command says."""
    try:
        low, high = (value_of(parse(given[k]), sizes) for k in ("from", "to"))
        step, times = int(given.get("step", 1)), int(given.get("times", 1))
    except (Unknown, ArithmeticError, KeyError, TypeError, ValueError):
        return [0]
    if _words(given["from"]):
        raise Error("parameter %s: where its range begins depends on the "
                    "problem; give its \"default\"" % name)
    if not isinstance(high, (int, float)) or step < 1 or times < 1 or (
            times > 1 and low < 1):
        return [0]
    values = []
    while low <= high and len(values) < MOST_VALUES:
        values.append(low)
        low = low * times if times > 1 else low + step
    return values or [low]


def _words(text):
    return re.findall(r"[A-Za-z_]\w*", str(text))


# -- files --------------------------------------------------------------------

@contextlib.contextmanager
def stored(path):
    """What is done to a path, or an Error that names it."""
    try:
        yield
    except (OSError, ValueError) as error:  # a text that is no Unicode, a NUL
        raise Error("%s: cannot be written: %s" % (
            path, getattr(error, "strerror", None) or error), STORAGE) from None


def make_folder(path):
    with stored(path):
        os.makedirs(path, exist_ok=True)


def write_text(path, text):
    make_folder(os.path.dirname(path))
    with stored(path), open(path, "w", encoding="utf-8",
                            errors="surrogateescape") as file:
        file.write(text)
