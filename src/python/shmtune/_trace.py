# SPDX-License-Identifier: MIT
"""Functions of a configuration, as Python programs have them, made into the
expressions of specs.

The function is called with values that write down what is done to them, once
for each way through its branches.  One that does what cannot be written down
is called for all values of the parameters that it looks at, and becomes a table
of them.
"""
import builtins
import inspect
import itertools
import math
import types

from ._library import Error

MOST_WAYS = 256         # through the branches of a function
MOST_CALLS = 100000     # for a table
MOST_TEXTS = 256        # that a function gives
LONGEST = 30000         # of an expression; a spec takes little more


class _Ask(BaseException):
    """Which way a branch goes, where none was told yet."""


class _Untold(Exception):
    """What no expression can say."""


class Traced:
    """A value as the expression that it is of."""
    __array_ufunc__ = None
    __hash__ = None

    def __init__(self, text, ways):
        self.text, self.ways = text, ways

    def __bool__(self):
        return self.ways.ask(self.text)

    def _one(self, form):
        return Traced(form % self.text, self.ways)

    def __neg__(self):
        return self._one("(-%s)")

    def __pos__(self):
        return self

    def __abs__(self):
        return self._one("abs(%s)")

    def __floor__(self):
        return self._one("int(%s // 1)")

    def __ceil__(self):
        return self._one("(-int((-%s) // 1))")

    def __trunc__(self):
        return self._one("int(%s)")


def _binary(form):
    def forward(self, other):
        return Traced(form % (self.text, _text(other)), self.ways)

    def backward(self, other):
        return Traced(form % (_text(other), self.text), self.ways)

    return forward, backward


for _name, _form in (("add", "(%s + %s)"), ("sub", "(%s - %s)"),
                     ("mul", "(%s * %s)"), ("truediv", "(%s / %s)"),
                     ("floordiv", "(%s // %s)"), ("mod", "(%s %% %s)"),
                     ("pow", "(%s ** %s)")):
    _forward, _backward = _binary(_form)
    setattr(Traced, "__%s__" % _name, _forward)
    setattr(Traced, "__r%s__" % _name, _backward)
for _name, _form in (("eq", "(%s == %s)"), ("ne", "(%s != %s)"),
                     ("lt", "(%s < %s)"), ("le", "(%s <= %s)"),
                     ("gt", "(%s > %s)"), ("ge", "(%s >= %s)")):
    setattr(Traced, "__%s__" % _name, _binary(_form)[0])


def _text(value):
    if isinstance(value, Traced):
        return value.text
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, (bool, int, str)) or (
            isinstance(value, float) and math.isfinite(value)):
        text = repr(value)
        return "(%s)" % text if text.startswith("-") else text
    raise _Untold("a %s" % type(value).__name__)


class _Ways:
    """The branches of one call, as far as they are told."""

    def __init__(self, told):
        self.told, self.at = told, 0

    def ask(self, text):
        if self.at == len(self.told):
            raise _Ask(text)
        self.at += 1
        return self.told[self.at - 1]


def _number(kind, form):
    def convert(*given):
        if len(given) == 1 and isinstance(given[0], Traced):
            return given[0]._one(form)
        return kind(*given)
    return convert


def _extreme(kind, name):
    def choose(*given, **more):
        if len(given) > 1 and not more and any(
                isinstance(x, Traced) for x in given):
            ways = [x.ways for x in given if isinstance(x, Traced)][0]
            return Traced("%s(%s)" % (name, ", ".join(map(_text, given))),
                          ways)
        return kind(*given, **more)
    return choose


_OWN = {"min": _extreme(min, "min"), "max": _extreme(max, "max"),
        "int": _number(int, "int(%s)"), "float": _number(float, "float(%s)"),
        "bool": _number(bool, "(%s != 0)")}


def _patched(function):
    """The function with the conversions that numbers alone can have."""
    if not isinstance(function, types.FunctionType):
        return function
    names = {**_OWN, **function.__globals__}
    names.setdefault("__builtins__", builtins)
    made = types.FunctionType(function.__code__, names, function.__name__,
                              function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _choice(condition, yes, no):
    if yes == no:
        return yes
    if (yes, no) == ("True", "False"):
        return condition
    if (yes, no) == ("False", "True"):
        return "(not %s)" % condition
    if yes == condition:
        return "(%s or %s)" % (condition, no)
    if no == condition:
        return "(%s and %s)" % (condition, yes)
    if no == "False":
        return "(%s and %s)" % (condition, yes)
    if yes == "True":
        return "(%s or %s)" % (condition, no)
    if yes == "False":
        return "(not %s and %s)" % (condition, no)
    return "(%s if %s else %s)" % (yes, condition, no)


def _traced(function, names):
    left = [MOST_WAYS]

    def follow(told):
        ways = _Ways(told)
        left[0] -= 1
        if left[0] < 0:
            raise _Untold("too many branches")
        try:
            return _text(function({n: Traced(n, ways) for n in names}))
        except _Ask as ask:
            condition = ask.args[0]
        return _choice(condition, follow(told + [True]),
                       follow(told + [False]))

    return follow([])


class _Watched(dict):
    """A configuration that tells which of its parameters are looked at."""

    def __init__(self, values, seen):
        super().__init__(values)
        self.seen = seen

    def __getitem__(self, name):
        self.seen.add(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        self.seen.add(name)
        return super().get(name, default)

    def _all(self):
        self.seen.update(dict.keys(self))

    def values(self):
        self._all()
        return super().values()

    def items(self):
        self._all()
        return super().items()

    def keys(self):
        self._all()     # what ** takes
        return super().keys()


def _looked_at(call, parameters):
    """The names that it looks at, until no more come."""
    seen, before = set(), None
    first = {n: v[0] for n, v in parameters.items()}
    while before != seen:
        before = set(seen)
        names = [n for n in parameters if n in before]
        if math.prod(len(parameters[n]) for n in names) > MOST_CALLS:
            raise _Untold("more than %d combinations of %s" % (
                MOST_CALLS, ", ".join(names)))
        for values in itertools.product(*(parameters[n] for n in names)):
            call(_Watched({**first, **dict(zip(names, values))}, seen))
    return [n for n in parameters if n in seen]


def _value(function, config):
    try:
        return _text(function(config))
    except ZeroDivisionError:
        return "False"


def _tabled(function, parameters):
    names = _looked_at(lambda config: _value(function, config), parameters)
    first = {n: v[0] for n, v in parameters.items()}

    def rows(k, config):
        if k == len(names):
            return _value(function, config)
        groups = {}
        for value in parameters[names[k]]:
            text = rows(k + 1, {**config, names[k]: value})
            groups.setdefault(text, []).append(value)
        # What most have stands last, without its values.
        *some, (out, _) = sorted(groups.items(), key=lambda g: len(g[1]))
        for text, values in some:
            out = _choice("(%s in [%s])" % (names[k], ", ".join(
                map(_text, values))), text, out)
        return out

    return rows(0, first)


def expression(function, parameters, what, pick=None, named=False):
    """The expression that a function computes of {name: values}; of what it
    gives back, what `pick` does.  One that is `named` may want the parameters
    by their names, as lambda block_size_x, tile: ..."""
    def called(function):
        function = _by_name(function, parameters) if named else function
        return function if pick is None else (
            lambda config: pick(function(config)))

    try:
        try:
            text = _traced(called(_patched(function)), parameters)
        except Exception:
            text = _tabled(called(function), parameters)
    except _Untold as error:
        raise Error("%s is a function that no expression of a spec can say: "
                    "%s; write it as a text" % (what, error)) from None
    if len(text) > LONGEST:
        raise Error("%s is a function whose expression has %d characters; "
                    "write it as a text, %d at most" % (what, len(text),
                                                        LONGEST))
    return text[1:-1] if _is_enclosed(text) else text


def variants(function, parameters, what):
    """[(condition of the preprocessor, what the function gives where that
    holds)]."""
    try:
        names = _looked_at(function, parameters)
    except _Untold as error:
        raise Error("%s is a function, of %s" % (what, error)) from None
    first = {n: v[0] for n, v in parameters.items()}
    groups = {}
    for values in itertools.product(*(parameters[n] for n in names)):
        config = {**first, **dict(zip(names, values))}
        groups.setdefault(function(config), []).append(" && ".join(
            "%s == %s" % (n, _as_macro(n, v, what))
            for n, v in zip(names, values)))
    if len(groups) > MOST_TEXTS:
        raise Error("%s is a function that gives %d texts, %d at most; let "
                    "the source look at the parameters, which are its macros"
                    % (what, len(groups), MOST_TEXTS))
    return [(" || ".join("(%s)" % c for c in conditions) if names else None,
             text) for text, conditions in groups.items()]


def _as_macro(name, value, what):
    if isinstance(value, float):
        raise Error("%s is a function of %s, which has the value %r: the "
                    "preprocessor compares whole numbers and words"
                    % (what, name, value))
    return "%s_%s" % (name, value) if isinstance(value, str) else value


def _is_enclosed(text):
    """Whether the first bracket is closed by the last."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return k > 0 and k == len(text) - 1
    return False


def _by_name(function, parameters):
    try:
        wanted = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function
    if any(p.kind == p.VAR_KEYWORD for p in wanted):
        return lambda config: function(**config)
    names = [p.name for p in wanted if p.name in parameters]
    if not names and len(wanted) == 1:
        return function     # of a configuration
    return lambda config: function(**{n: config[n] for n in names})
