#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers_table.py FILE [--held-out]: what `peers --json` printed, as a table in
Markdown: of the sizes that are tuned, or of those that are not.

A ratio above 1 means that the tuned kernel is the faster one; the floor is the
larger of bytes over a copy's bandwidth and flops over the FMA rate, both
measured in the same run."""
import json
import sys

POWERS = {1 << k: f"2^{k}" for k in (20, 22, 24, 26, 28)}
# What the numbers behind a kernel's name mean.
SHAPES = {
    "reduce": "{0} floats",
    "scan": "{0} floats, {1:form}",
    "histogram": "{0} items, {1} bins",
    "transpose": "{0} x {1}, {2} bytes",
    "matmul": "{0} x {1} x {2}",
    "conv2d": "{0} x {1}, {2} x {2} filter",
    "softmax": "{0} x {1}",
    "row_reduce": "{0} x {1}",
    "stencil2d": "{0} x {1}, {2} steps",
    "nbody": "{0} bodies",
}


class Number(int):
    def __format__(self, spec):
        if spec == "form":
            return "exclusive" if self == 2 else "inclusive"
        return POWERS.get(int(self), str(int(self)))


def duration(us):
    if us >= 1000:
        return f"{us / 1000:.3g} ms"
    return f"{us:.3g} us"


def shape_of(kernel, size):
    numbers = [Number(part) for part in size.split("x")]
    shape = SHAPES.get(kernel, "{0}").format(*numbers)
    return shape.replace(", 1 steps", ", 1 step")


def row(one, with_default):
    cells = [one["kernel"], shape_of(one["kernel"], one["size"])]
    if with_default:
        default = one["default_us"]
        cells.append(duration(default) if default > 0 else "")
    cells.append(duration(one["tuned_us"]))
    if with_default:
        cells.append(f"{default / one['tuned_us']:.2f}" if default > 0 else "")
    if one["peer_us"] > 0:
        cells += [f"{one['peer']} {duration(one['peer_us'])}",
                  f"{one['peer_us'] / one['tuned_us']:.2f}",
                  f"{one['warm_peer_us'] / one['warm_tuned_us']:.2f}"]
    else:
        cells += ["", "", ""]
    cells.append(f"{100 * one['floor_us'] / one['tuned_us']:.0f} %")
    return "| " + " | ".join(cells) + " |"


def main():
    held_out = "--held-out" in sys.argv
    path = [word for word in sys.argv[1:] if word != "--held-out"][0]
    with open(path) as file:
        rows = [json.loads(line) for line in file if line.startswith("{")]
    head = ["kernel", "problem", "default", "tuned", "x default", "library",
            "x library", "warm", "floor"]
    if held_out:
        head = [word for word in head if "default" not in word]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for one in rows:
        if (one["match"] != "exact") == held_out:
            print(row(one, not held_out))


if __name__ == "__main__":
    main()
