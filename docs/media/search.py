#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plot in the README, made from recordings and from searches on them.

usage: search.py SHMTUNE            write search.svg beside this file

Left: every configuration of three kernels on an H100, as recorded under
tunings/, fastest first, and where the default stands among them.  Right: the
best that a search has found after so many candidates, the geometric mean over
these kernels and 20 seeds.  SHMTUNE is the command as it was built; half a
minute.
"""
import gzip
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SVG = pathlib.Path(__file__).with_name("search.svg")
SOURCE = SVG.parent.parent.parent

KERNELS = ("reduce", "scan", "transpose")
STRATEGIES = (("random", "random search"), ("genetic", "genetic"),
              ("model", "model (default)"))
CANDIDATES, SEEDS = 100, 20

WIDTH, HEIGHT = 900, 366
TOP, BOTTOM = 76, 318
LEFT, RIGHT = (64, 416), (500, 748)


class Axis:
    """Upwards by logarithms, from `ticks[0]` to `ticks[-1]`."""

    def __init__(self, ticks, form):
        self.ticks = [(self.place(tick, ticks), form % tick)
                      for tick in ticks]
        self.ends = ticks[0], ticks[-1]

    def place(self, value, ends=None):
        low, high = (ends or self.ends)[0], (ends or self.ends)[-1]
        share = math.log(max(value, low) / low) / math.log(high / low)
        return BOTTOM - min(share, 1.02) * (BOTTOM - TOP)


# Multiples of the fastest; how many percent slower than it.
TIMES = Axis((1, 1.25, 1.5, 2, 3, 4), "%gx")
EXCESS = Axis((0.1, 0.3, 1, 3, 10, 30, 100), "%g %%")

STYLE = """<style>
  text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, "DejaVu Sans",
         sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .note { fill: #59636e; }
  .card { fill: #ffffff; stroke: #d0d7de; }
  .grid { stroke: #d8dee4; }
  .axis { stroke: #8c959f; }
  .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
  .spot { stroke: #ffffff; stroke-width: 1.5; }
  .blue { stroke: #0a6bc2; } .blue-text { fill: #0a6bc2; }
  .orange { stroke: #c4500a; } .orange-text { fill: #c4500a; }
  .green { stroke: #0b7f5c; } .green-text { fill: #0b7f5c; }
  .grey { stroke: #8c959f; } .grey-text { fill: #6e7781; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    .card { fill: #11161d; stroke: #30363d; }
    .grid { stroke: #262c36; }
    .axis { stroke: #6e7681; }
    .spot { stroke: #11161d; }
    .blue { stroke: #58a6ff; } .blue-text { fill: #58a6ff; }
    .orange { stroke: #f0883e; } .orange-text { fill: #f0883e; }
    .green { stroke: #3fb98f; } .green-text { fill: #3fb98f; }
    .grey { stroke: #768390; } .grey-text { fill: #9198a1; }
  }
</style>"""
KERNEL_COLOURS = dict(zip(KERNELS, ("blue", "orange", "green")))
STRATEGY_COLOURS = {"random": "grey", "genetic": "orange", "model": "blue"}


def recorded(kernel):
    """The times in us of a kernel's recording, by configuration."""
    path, = SOURCE.glob("tunings/%s/*.journal.gz" % kernel)
    return times_of(gzip.open(path, "rt"))


def times_of(lines):
    """Configurations and their times, in the order of a journal."""
    times = {}
    for line in lines:
        found = re.match(r"- \{config: (\{[^}]*\})", line)
        if found:
            time = re.search(r" time_us: ([0-9.e+-]+)", line)
            times.setdefault(found.group(1),
                             float(time.group(1)) if time else math.inf)
    return times


def search(program, kernel, strategy, seed):
    """The journal of one run: which configurations came one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [program, "tune", kernel, "--device", "replay:h100", "--strategy",
             strategy, "--seed", str(seed), "--budget", str(CANDIDATES),
             "--jobs", "1", "--output", folder, "-q"],
            check=True, stdout=subprocess.DEVNULL, env=dict(
                os.environ, SHMTUNE_PATH=str(SOURCE)))
        journal, = pathlib.Path(folder).glob("*/*.journal")
        return list(times_of(journal.open()))


def convergence(program, strategy, times):
    """Means of log(best so far / best of all), by candidates."""
    runs = [(kernel, seed) for kernel in KERNELS
            for seed in range(1, SEEDS + 1)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        orders = list(pool.map(
            lambda run: search(program, run[0], strategy, run[1]), runs))
    sums = [0] * CANDIDATES
    for (kernel, _), order in zip(runs, orders):
        best, lowest = math.inf, min(times[kernel].values())
        for k in range(CANDIDATES):
            if k < len(order):
                best = min(best, times[kernel][order[k]])
            sums[k] += math.log(best / lowest)
    return [math.exp(total / len(runs)) for total in sums]


def path(points, colour):
    return '<polyline class="line %s" points="%s"/>' % (
        colour, " ".join("%.1f,%.1f" % point for point in points))


def label(x, y, text, colour="", anchor="start"):
    return '<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>' % (
        x, y, colour, anchor, text)


def frame(panel, axis, title, note, ticks):
    """A panel without its curves; ticks are (x, text)."""
    yield label(panel[0] - 40, 34, title, "title")
    yield label(panel[0] - 40, 54, note, "note")
    for y, text in axis.ticks:
        yield '<line class="%s" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>' % (
            "axis" if y == BOTTOM else "grid", panel[0], panel[1], y, y)
        yield label(panel[0] - 8, y + 4.5, text, "note", "end")
    for x, text in ticks:
        yield label(x, BOTTOM + 20, text, "note", "middle")


def landscape(times):
    panel = LEFT

    def place(share):
        return panel[0] + share * (panel[1] - panel[0])

    yield from frame(
        panel, TIMES, "All configurations of three kernels, fastest first",
        "time, in multiples of the fastest; the dots are the defaults",
        [(place(k / 4), "%d %%" % (25 * k)) for k in range(5)])
    spots = []
    for kernel in KERNELS:
        colour = KERNEL_COLOURS[kernel]
        order = sorted(times[kernel].values())
        steps = 240
        points = [(k / steps, order[round(k / steps * (len(order) - 1))] /
                   order[0]) for k in range(steps + 1)]
        inside = [point for point in points if point[1] <= TIMES.ends[1]]
        yield path([(place(x), TIMES.place(y)) for x, y in inside], colour)
        default = times[kernel][next(iter(journal_default(kernel)))]
        share = sum(time < default for time in order) / len(order)
        spots.append((kernel, len(order), share, default / order[0]))
    for kernel, count, share, ratio in spots:
        colour = KERNEL_COLOURS[kernel]
        x, y = place(share), TIMES.place(ratio)
        yield ('<circle class="spot %s-text" cx="%.1f" cy="%.1f" r="5.5"/>' %
               (colour, x, y))
    for k, (kernel, count, _, _) in enumerate(spots):
        yield label(panel[0] + (8, 112, 192)[k], TOP + 20, "%s %s" % (
            kernel, "{:,}".format(count)), KERNEL_COLOURS[kernel] + "-text")


def journal_default(kernel):
    """The default configuration, as the recording writes it."""
    spec = (SOURCE / "kernels" / (kernel + ".yaml")).read_text()
    wanted = dict(re.findall(r"^  ([A-Z_]+):.*?default: (\w+)", spec,
                             re.MULTILINE | re.DOTALL))
    for config in recorded(kernel):
        if dict(re.findall(r"(\w+): (\w+)", config)) == wanted:
            yield config


def searches(program, times):
    panel = RIGHT

    def place(count):
        return panel[0] + (math.log(count) / math.log(CANDIDATES) *
                           (panel[1] - panel[0]))

    yield from frame(panel, EXCESS, "The best after so many candidates",
                     "how much slower than the fastest; mean of %d runs" % (
                         SEEDS * len(KERNELS)),
                     [(place(n), str(n)) for n in (1, 2, 5, 10, 20, 50, 100)])
    for strategy, text in STRATEGIES:
        means = convergence(program, strategy, times)
        colour = STRATEGY_COLOURS[strategy]
        excess = [100 * (mean - 1) for mean in means]
        yield path([(place(k + 1), EXCESS.place(percent))
                    for k, percent in enumerate(excess)], colour)
        yield label(panel[1] + 8, EXCESS.place(excess[-1]) + 4.5, text,
                    colour + "-text")
        print("%-9s" % strategy, " ".join(
            "%d: %.3f" % (n, means[n - 1]) for n in (1, 5, 10, 20, 50, 100)))


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    times = {kernel: recorded(kernel) for kernel in KERNELS}
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
             'width="%d" height="%d">' % (WIDTH, HEIGHT, WIDTH, HEIGHT),
             "<title>Times of all configurations, and how searches converge"
             "</title>", STYLE,
             '<rect class="card" x="0.5" y="0.5" width="%d" height="%d" '
             'rx="9"/>' % (WIDTH - 1, HEIGHT - 1)]
    lines += landscape(times)
    lines += searches(program, times)
    lines.append("</svg>")
    SVG.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
