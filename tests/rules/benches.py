#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which members of what `shmtune --json` prints a program in Python reads.

usage: benches.py SCHEMA FILE...

Writes "FILE:LINE: ..." for each member that no document of the schema has at
that place, and how many reads of members it has seen.  What a variable holds is
followed from json.loads(...) through assignments, loops, tuples, functions of
the file and their results, as places of the schema.  The documents are those of
the verbs that the file names as a word of its own ("tune").  A value that
cannot be followed is not looked at.
"""
import ast
import json
import sys

DOCUMENTS = {"dispatch": ("dispatch", "trial"), "score": ("score", "within"),
             "show": ("tuning", "journal")}


# Text that a bench reads from a file is not what the command prints.
OF_A_FILE = "file"


class Places:
    """Parts of the schema that a value may be; None: not JSON of ours."""

    def __init__(self, schema, parts):
        self.schema, self.parts = schema, []
        for part in parts:
            self.add(part)

    def add(self, part):
        if "$ref" in part:
            part = self.schema["$defs"][part["$ref"].split("/")[-1]]
        if "anyOf" in part:
            for one in part["anyOf"]:
                self.add(one)
        elif part not in self.parts:
            self.parts.append(part)

    def member(self, name):
        """None: no part has it."""
        found = []
        for part in self.parts:
            if name in part.get("properties", {}):
                found.append(part["properties"][name])
            elif isinstance(part.get("additionalProperties"), dict):
                found.append(part["additionalProperties"])
        return Places(self.schema, found) if found else None

    def values(self):
        found = []
        for part in self.parts:
            found += list(part.get("properties", {}).values())
            if isinstance(part.get("additionalProperties"), dict):
                found.append(part["additionalProperties"])
        return Places(self.schema, found)

    def items(self):
        return Places(self.schema, [part["items"] for part in self.parts
                                    if "items" in part])

    def is_object(self):
        return any(part.get("type") == "object" for part in self.parts)

    def join(self, other):
        if not isinstance(other, Places):
            return self
        return Places(self.schema, self.parts + other.parts)


class Reader(ast.NodeVisitor):
    def __init__(self, path, schema):
        self.path = path
        with open(path) as file:
            self.tree = ast.parse(file.read())
        words = {node.value for node in ast.walk(self.tree)
                 if isinstance(node, ast.Constant) and
                 isinstance(node.value, str)}
        names = [name for word in sorted(words & set(VERBS))
                 for name in DOCUMENTS.get(word, (word,))]
        self.root = Places(schema, [schema["$defs"][name] for name in
                                    [*names, "error"] if name in
                                    schema["$defs"]])
        self.functions = {node.name: node for node in ast.walk(self.tree)
                          if isinstance(node, ast.FunctionDef)}
        self.given = {name: {} for name in self.functions}
        self.results = {}
        self.scopes, self.wrong, self.seen = [{}], set(), set()

    # What an expression holds: Places, a tuple of such, or None.
    def value(self, node):
        method = getattr(self, "of_" + type(node).__name__, None)
        return method(node) if method else None

    def of_Name(self, node):
        return self.scopes[-1].get(node.id)

    def of_Tuple(self, node):
        return tuple(self.value(one) for one in node.elts)

    def of_BoolOp(self, node):
        found = None
        for one in map(self.value, node.values):
            if isinstance(one, Places):
                found = one.join(found)
        return found

    def of_List(self, node):
        return None

    def of_Subscript(self, node):
        held = self.value(node.value)
        key = node.slice
        if isinstance(held, tuple):
            if isinstance(key, ast.Constant) and isinstance(key.value, int) \
                    and key.value < len(held):
                return held[key.value]
            return None
        if not isinstance(held, Places):
            return None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return self.read(held, key.value, node)
        if held.is_object():
            return held.values()
        return held if isinstance(key, ast.Slice) else held.items()

    def read(self, held, name, node):
        place = "%s:%d" % (self.path, node.lineno)
        self.seen.add((place, node.col_offset, name))
        found = held.member(name)
        if found is None and held.parts:
            self.wrong.add("%s: \"%s\" is no member of it" % (place, name))
        return found

    def of_Call(self, node):
        function = node.func
        if isinstance(function, ast.Attribute):
            if function.attr == "read":
                return OF_A_FILE
            if function.attr == "loads" and \
                    getattr(function.value, "id", "") == "json":
                names = [self.value(one) for part in node.args
                         for one in ast.walk(part) if isinstance(one, ast.Name)]
                return None if OF_A_FILE in names else self.root
            held = self.value(function.value)
            if isinstance(held, Places):
                if function.attr == "get" and node.args and \
                        isinstance(node.args[0], ast.Constant):
                    return self.read(held, node.args[0].value, node)
                if function.attr == "items":
                    return Pairs(held.values())
                if function.attr == "values":
                    return Each(held.values())
                return None
            name = function.attr
        else:
            name = getattr(function, "id", "")
        arguments = [self.value(one) for one in node.args]
        if name in ("sorted", "list", "reversed", "tuple"):
            return arguments[0] if arguments else None
        if name in self.functions:
            names = [one.arg for one in self.functions[name].args.args]
            if names[:1] == ["self"]:
                names = names[1:]
            for parameter, held in zip(names, arguments):
                self.give(name, parameter, held)
            for keyword in node.keywords:
                self.give(name, keyword.arg, self.value(keyword.value))
            return self.results.get(name)
        return None

    def give(self, function, parameter, held):
        if isinstance(held, Places):
            before = self.given[function].get(parameter)
            self.given[function][parameter] = held.join(before)

    def bind(self, target, held):
        if isinstance(target, ast.Name):
            self.scopes[-1][target.id] = held
        elif isinstance(target, (ast.Tuple, ast.List)):
            for k, one in enumerate(target.elts):
                self.bind(one, held[k] if isinstance(held, tuple) and
                          k < len(held) else None)

    def each(self, held):
        if isinstance(held, Pairs):
            return (None, held.value)
        if isinstance(held, Each):
            return held.value
        return held.items() if isinstance(held, Places) else None

    def visit_Assign(self, node):
        self.visit(node.value)
        held = self.value(node.value)
        for target in node.targets:
            self.visit(target)
            self.bind(target, held)

    def visit_For(self, node):
        self.visit(node.iter)
        self.bind(node.target, self.each(self.value(node.iter)))
        for one in node.body + node.orelse:
            self.visit(one)

    def comprehension(self, node):
        self.scopes.append(dict(self.scopes[-1]))
        for one in node.generators:
            self.visit(one.iter)
            self.bind(one.target, self.each(self.value(one.iter)))
            for test in one.ifs:
                self.visit(test)
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                self.visit(getattr(node, part))
        self.scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = comprehension
    visit_GeneratorExp = comprehension

    def visit_Subscript(self, node):
        self.value(node)
        self.generic_visit(node)

    def visit_Call(self, node):
        self.value(node)
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        self.scopes.append(dict(self.given[node.name]))
        for one in node.body:
            self.visit(one)
            for inner in ast.walk(one):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    held = self.value(inner.value)
                    if isinstance(held, (Places, tuple)):
                        self.results[node.name] = held
        self.scopes.pop()

    def check(self):
        # As often as a result may go from function to function.
        for _ in range(4):
            self.wrong, self.seen = set(), set()
            self.scopes = [{}]
            self.visit(self.tree)
        return sorted(self.wrong), len(self.seen)


class Pairs:
    def __init__(self, value):
        self.value = value


class Each(Pairs):
    pass


VERBS = ("tune", "dispatch", "list", "space", "inspect", "show", "explain",
         "report", "check", "doctor", "score", "import", "export", "data")


def main():
    with open(sys.argv[1]) as file:
        schema = json.load(file)
    bad = False
    for path in sys.argv[2:]:
        wrong, seen = Reader(path, schema).check()
        for line in wrong:
            print(line)
        print("%s: %d members are read" % (path, seen))
        bad |= bool(wrong)
    sys.exit(bad)


if __name__ == "__main__":
    main()
