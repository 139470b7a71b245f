# SPDX-License-Identifier: MIT
"""Random expressions, evaluated by Python and by us: expr_python.py PROGRAM
[COUNT [SEED]].  Prints what differs; exit status 1 when anything does."""
import math
import random
import subprocess
import sys

NAMES = {"a": 0, "b": 1, "c": 2, "d": 3, "x": 4, "y": 5, "s": 6, "t": 7}
INTS = [0, 1, 2, 3, -1, -2, -7, 5, 8, 16, 31, 32, 64, 100, 1024, 4096, 65535,
        2**31 - 1, 2**31, -(2**31), 2**53, 2**53 + 1, 2**62, 2**63 - 1,
        -(2**63) + 1, 10**15 + 7, -(10**17) - 3]
REALS = [0.0, 0.5, 1.0, 1.5, -2.5, 3.0, 1e-3, 1e10, 2.0**53, 2.0**63, -0.75,
         1e300]
WORDS = ["", "static", "dynamic", "a", "Z"]


class Refused(Exception):
    pass


def plus_zero(value):
    return value + 0.0 if isinstance(value, float) else value


def ceildiv(a, b):
    return plus_zero(-(-a // b))


def roundup(a, b):
    return plus_zero(-(-a // b) * b)


def check_int(value):
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise OverflowError
    return value


class Generator:
    def __init__(self, rng):
        self.rng = rng

    def number(self, depth):
        r = self.rng
        kind = r.random()
        if depth <= 0 or kind < 0.18:
            return r.choice([
                lambda: r.choice("abcdxy"), lambda: r.choice("abcd"),
                lambda: str(r.randrange(0, 12)),
                lambda: str(abs(r.choice(INTS))) if r.random() < 0.3
                else str(r.choice([2, 3, 4, 16])),
                lambda: repr(abs(r.choice(REALS))) if r.random() < 0.4
                else r.choice("abcd"),
                lambda: r.choice(["True", "False", "0x1F", "1_000", "0b11"]),
            ])()
        if kind < 0.6:
            op = r.choice(["+", "-", "*", "/", "//", "%", "+", "-", "*"])
            return "%s %s %s" % (self.wrap(depth - 1), op,
                                 self.wrap(depth - 1))
        if kind < 0.66:
            return "%s ** %s" % (self.wrap(depth - 1), r.choice(
                ["2", "3", "0", "-1", "a", "(b % 5)", "0.5", "-2"]))
        if kind < 0.74:
            return r.choice(["-", "+"]) + self.wrap(depth - 1)
        if kind < 0.86:
            f = r.choice(["min", "max", "abs", "ceildiv", "roundup", "int",
                          "float"])
            n = {"abs": 1, "int": 1, "float": 1, "ceildiv": 2,
                 "roundup": 2}.get(f, r.randrange(2, 4))
            return "%s(%s)" % (f, ", ".join(self.any(depth - 1)
                                            for _ in range(n)))
        return "(%s)" % self.any(depth - 1)

    def wrap(self, depth):
        text = self.number(depth)
        return text if self.rng.random() < 0.5 else "(%s)" % text

    def word(self):
        r = self.rng
        return r.choice([r.choice("st"), repr(r.choice(WORDS)),
                         '"%s"' % r.choice(WORDS)])

    def compare(self, depth):
        r = self.rng
        if r.random() < 0.15:
            return "%s %s %s" % (self.word(), r.choice(
                ["==", "!=", "<", "<=", ">", ">="]), self.word())
        if r.random() < 0.2:
            items = [self.number(depth - 1) if r.random() < 0.9
                     else self.word() for _ in range(r.randrange(0, 4))]
            many = ("[%s]" if r.random() < 0.5 or len(items) < 2
                    else "(%s)") % ", ".join(items)
            left = self.number(depth - 1)
            if r.random() < 0.2:
                left = "%s < %s" % (self.number(depth - 1), left)
            return "%s %s %s" % (left, r.choice(["in", "not in"]), many)
        text = self.number(depth - 1)
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            text += " %s %s" % (r.choice(["==", "!=", "<", "<=", ">", ">="]),
                                self.number(depth - 1))
        return text

    def any(self, depth):
        r = self.rng
        kind = r.random()
        if depth <= 0 or kind < 0.4:
            return self.number(depth)
        if kind < 0.65:
            return self.compare(depth)
        if kind < 0.8:
            return "%s %s %s" % (self.any(depth - 1), r.choice(["and", "or"]),
                                 self.any(depth - 1))
        if kind < 0.88:
            return "not %s" % self.compare(depth - 1)
        if kind < 0.97:
            return "(%s if %s else %s)" % (
                self.any(depth - 1), self.any(depth - 1), self.any(depth - 1))
        return self.word()


def checked(tree_text, env):
    """Evaluate by walking Python's own syntax tree, so that every
    intermediate result can be held to 64 bits; operators are Python's."""
    import ast
    import operator
    binary = {ast.Add: operator.add, ast.Sub: operator.sub,
              ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
              ast.Pow: operator.pow}
    order = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
             ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
    calls = {"min": min, "max": max, "abs": abs, "int": int, "float": float,
             "ceildiv": ceildiv, "roundup": roundup}

    def walk(node):
        value = step(node)
        if isinstance(value, complex):
            raise ValueError("complex")
        return check_int(value)

    def number(value):
        if isinstance(value, str):
            raise TypeError
        return value

    def step(node):
        if isinstance(node, ast.Expression):
            return walk(node.body)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return env[node.id]
        if isinstance(node, ast.BinOp):
            a, b = number(walk(node.left)), number(walk(node.right))
            if isinstance(node.op, ast.Pow) and isinstance(a, int) and \
                    isinstance(b, int) and b > 64 and abs(a) > 1:
                raise OverflowError
            return binary[type(node.op)](a, b)
        if isinstance(node, ast.UnaryOp):
            if isinstance(node.op, ast.USub) and isinstance(
                    node.operand, ast.Constant) and \
                    isinstance(node.operand.value, int) and \
                    node.operand.value == 2**63:
                return -(2**63)
            a = walk(node.operand)
            if isinstance(node.op, ast.Not):
                return not a
            return -number(a) if isinstance(node.op, ast.USub) else +number(a)
        if isinstance(node, ast.BoolOp):
            for item in node.values:
                value = walk(item)
                if bool(value) != isinstance(node.op, ast.And):
                    return value
            return value
        if isinstance(node, ast.IfExp):
            return walk(node.body if walk(node.test) else node.orelse)
        if isinstance(node, ast.Compare):
            left = walk(node.left)
            for op, right in zip(node.ops, node.comparators):
                if isinstance(op, (ast.In, ast.NotIn)):
                    items = [walk(item) for item in right.elts]
                    value = (left in items) == isinstance(op, ast.In)
                else:
                    right = walk(right)
                    value = order[type(op)](left, right)
                if not value:
                    return value
                left = right
            return value
        if isinstance(node, ast.Call):
            items = [walk(item) for item in node.args]
            if node.func.id not in ("min", "max"):
                items = [number(item) for item in items]
            return calls[node.func.id](*items)
        raise Refused(ast.dump(node))

    return walk(ast.parse(tree_text, mode="eval"))


def show(value):
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, int):
        return "i:%d" % value
    if isinstance(value, float):
        return "r:" + value.hex()
    return "w:" + value


def same(ours, value):
    if isinstance(value, float) and ours.startswith("r:"):
        if ours[2:].lstrip("-") in ("nan",):
            return math.isnan(value)
        mine = float.fromhex(ours[2:])
        return mine == value and \
            math.copysign(1, mine) == math.copysign(1, value)
    return ours == show(value)


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    generator = Generator(rng)
    cases, lines = [], []
    for _ in range(count):
        env = {n: rng.choice(INTS) if rng.random() < 0.3
               else rng.randrange(-6, 20) for n in "abcd"}
        env.update({n: rng.choice(REALS) for n in "xy"})
        env.update({n: rng.choice(WORDS) for n in "st"})
        text = generator.any(rng.randrange(1, 6))
        cases.append((text, env))
        lines.append("%s\t%s" % (text, " ".join(
            "%s=%s" % (n, show(v)) for n, v in env.items())))
    got = subprocess.run([program], input="\n".join(lines) + "\n", text=True,
                         capture_output=True, check=True).stdout.splitlines()
    assert len(got) == count, (len(got), count)
    bad = values = faults = refused = 0
    for (text, env), ours in zip(cases, got):
        try:
            value = checked(text, env)
            fine = same(ours, value)
            # What can only be an error, we refuse when compiling.
            values += 1
            theirs = show(value)
            if ours.startswith("refused"):
                refused += 1
                fine = "word" in ours or "beyond 64 bits" in ours
        except (ZeroDivisionError, OverflowError, ValueError,
                TypeError) as problem:
            faults += 1
            theirs = type(problem).__name__
            fine = ours.startswith(("fault", "refused"))
        except SyntaxError:
            theirs, fine = "SyntaxError", ours.startswith("refused")
        if not fine:
            bad += 1
            if bad <= 20:
                print("# %s\n#   with %s\n#   Python %s, ours %s" % (
                    text, env, theirs, ours))
    print("# %d expressions: %d values (%d refused before), %d faults, "
          "%d differ" % (count, values, refused, faults, bad))
    return bad != 0


sys.exit(main())
