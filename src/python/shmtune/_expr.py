# SPDX-License-Identifier: MIT
"""Expressions of specs, which are Python's: read and computed, never `eval`."""
import ast
import operator

def _power(a, b):
    # Beyond 64 bits is an error in a spec; here it might take for ever.
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and b > 64:
        raise OverflowError("%d ** %d" % (a, b))
    return a ** b


_UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg,
          ast.Not: operator.not_}
_BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: _power,
}
_COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}
_FUNCTIONS = {
    "min": min, "max": max, "abs": abs, "int": int, "float": float,
    "ceildiv": lambda a, b: -(-a // b),
    "roundup": lambda a, b: -(-a // b) * b,
}


class Unknown(Exception):
    """A name that has no value."""


def names_of(tree):
    """Of variables, as they stand; those of a condition last."""
    if isinstance(tree, ast.Name):
        return [tree.id]
    if isinstance(tree, ast.IfExp):
        return names_of(tree.body) + names_of(tree.orelse) + names_of(tree.test)
    if isinstance(tree, ast.Call):
        return [n for a in tree.args for n in names_of(a)]
    return [n for c in ast.iter_child_nodes(tree) for n in names_of(c)]


def value_of(tree, sizes):
    """Of what parse has made; raises Unknown, or what arithmetic raises."""
    if tree is None:
        raise Unknown("what cannot be read")
    if isinstance(tree, ast.Constant):
        return tree.value
    if isinstance(tree, ast.Name):
        if tree.id not in sizes:
            raise Unknown(tree.id)
        return sizes[tree.id]
    if isinstance(tree, ast.BinOp):
        return _BINARY[type(tree.op)](value_of(tree.left, sizes),
                                      value_of(tree.right, sizes))
    if isinstance(tree, ast.UnaryOp):
        return _UNARY[type(tree.op)](value_of(tree.operand, sizes))
    if isinstance(tree, ast.BoolOp):
        stop = isinstance(tree.op, ast.Or)
        for part in tree.values:
            value = value_of(part, sizes)
            if bool(value) == stop:
                break
        return value
    if isinstance(tree, (ast.List, ast.Tuple)):
        return [value_of(part, sizes) for part in tree.elts]
    if isinstance(tree, ast.IfExp):
        side = tree.body if value_of(tree.test, sizes) else tree.orelse
        return value_of(side, sizes)
    if isinstance(tree, ast.Compare):
        left = value_of(tree.left, sizes)
        for kind, right in zip(tree.ops, tree.comparators):
            right = value_of(right, sizes)
            if not _COMPARE[type(kind)](left, right):
                return False
            left = right
        return True
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        return _FUNCTIONS[tree.func.id](*[value_of(a, sizes)
                                          for a in tree.args])
    raise Unknown(ast.dump(tree))


def parse(text):
    """The tree of an expression; None: it cannot be read, and the command says
    why, with the place in the spec."""
    try:
        return ast.parse(str(text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
