# SPDX-License-Identifier: MIT
"""Which problem a call is for: from the shapes of its arrays and the spec's
counts.

A count is an expression over dimensions, "rows * cols".  Where an array has as
many axes as the count names dimensions, they are those, in this order; where
one is not known it follows from the number of elements.  What no array tells
has the spec's default.  The library then says how many bytes each array has to
have at that problem, so a guess that is wrong is refused, never launched.
"""
from ._expr import Unknown, names_of, parse, value_of


class Count:
    """An expression of the spec, of dimensions alone; `names` in the order in
    which they stand.  `usable` is false where it has other names."""

    def __init__(self, text, dimensions):
        self._tree = parse(text)
        names = [] if self._tree is None else names_of(self._tree)
        self.usable = self._tree is not None and set(names) <= set(dimensions)
        self.names = list(dict.fromkeys(names))
        self.factors = names    # with repetitions: filter * filter

    def value(self, sizes):
        """At these sizes; raises Unknown, or what arithmetic raises."""
        return value_of(self._tree, sizes)


def _solve(count, name, wanted, sizes, low, high):
    """The value of one dimension at which the count is `wanted`; None: there
    is none, or the count does not grow with it."""
    def at(value):
        try:
            return count.value({**sizes, name: value})
        except (Unknown, ArithmeticError, KeyError, TypeError):
            return None

    while low < high:
        middle = (low + high) // 2
        found = at(middle)
        if found is None:
            return None
        if found < wanted:
            low = middle + 1
        else:
            high = middle
    return low if at(low) == wanted else None


def infer(dimensions, known, arrays):
    """Sizes of all dimensions.

    dimensions  {name: (default, low, high)}, in the spec's order
    known       {name: size} that were given
    arrays      [(Count, shape)], the most telling first
    """
    sizes = dict(known)
    arrays = [(count, shape) for count, shape in arrays if count.usable]
    for exact in (True, False):
        for count, shape in arrays:
            _by_axes(count, shape, sizes, exact)
            _by_number(arrays, sizes, dimensions)
    for name, (default, _, _) in dimensions.items():
        sizes.setdefault(name, default)
    return sizes


def _by_axes(count, shape, sizes, exact):
    """A known size does not stand in the way; it is checked later."""
    names = count.factors if len(count.factors) == len(shape) else count.names
    if (len(shape) != len(names) if exact
            else not 1 < len(shape) < len(names)):
        return
    if not exact and all(name in sizes for name in names[:len(shape)]):
        return
    if len(names) == 1 and not _is_plain(count, names[0], shape[0]):
        return
    for name, extent in zip(names, shape):
        sizes.setdefault(name, extent)


def _is_plain(count, name, extent):
    try:
        return count.value({name: extent}) == extent
    except (Unknown, ArithmeticError, KeyError, TypeError):
        return False


def _by_number(arrays, sizes, dimensions):
    for count, shape in arrays:
        missing = [n for n in count.names if n not in sizes]
        if len(missing) != 1:
            continue
        wanted = 1
        for extent in shape:
            wanted *= extent
        _, low, high = dimensions[missing[0]]
        found = _solve(count, missing[0], wanted, sizes, low, high)
        if found is not None:
            sizes[missing[0]] = found
