# SPDX-License-Identifier: MIT
"""The page: each claim of the tutorials, with what was measured.  Numbers
come from the data, sentences are ours."""
import difflib
import math
import os
import re
import sys
import textwrap

from claims_data import Data

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
KERNELS = os.path.join(ROOT, "kernels")

REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_%s.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum"
WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum"
INSTRUCTIONS = "smsp__inst_executed_op_shared_%s.sum"
LOCAL = "l1tex__t_sectors_pipe_lsu_mem_local_op_%s.sum"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
EFFICIENCY = "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"
READ, WRITE = "dram__bytes_read.sum", "dram__bytes_write.sum"


SUMMARY = "(the summary)"


class Page:
    def __init__(self, data):
        self.data = data
        self.text = []
        self.plots = {}
        self.anchor = ""
        self.summary = []

    def say(self, *paragraphs):
        for paragraph in paragraphs:
            self.text.append(textwrap.fill(
                " ".join(paragraph.split()), 80, break_long_words=False,
                break_on_hyphens=False) + "\n\n")

    def head(self, title):
        self.anchor = re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(
            " ", "-")
        self.text.append("## %s\n\n" % title)

    def items(self, texts):
        for text in texts:
            self.text.append(textwrap.fill(
                " ".join(text.split()), 80, initial_indent="- ",
                subsequent_indent="  ", break_long_words=False,
                break_on_hyphens=False) + "\n")
        self.text.append("\n")

    def claimed(self, text):
        self.say("**Claimed:** " + text)

    def measured(self, text):
        self.say("**Measured:** " + text)

    def claim(self, claim, claimed, measured, holds):
        """A row of the summary, linked to the section that is being said."""
        self.summary.append(["[%s](#%s)" % (claim, self.anchor), claimed,
                             measured, holds])

    def table(self, titles, rows):
        def line(cells):
            return "| " + " | ".join(str(cell) for cell in cells) + " |\n"
        self.text.append(line(titles) + "|" + "---|" * len(titles) + "\n" +
                         "".join(line(row) for row in rows) + "\n")

    def plot(self, name, alt, content):
        self.plots[name + ".svg"] = content
        self.text.append("![%s](plots/%s.svg)\n\n" % (alt, name))

    # -- numbers ------------------------------------------------------------

    def time(self, experiment, variant, x):
        return self.data.get(experiment, variant, x, "time_us")

    def count(self, experiment, variant, x, metric):
        return self.data.get(experiment, variant, x, metric)

    def per_request(self, experiment, variant, x, op):
        return (self.count(experiment, variant, x, SECTORS % op) /
                self.count(experiment, variant, x, REQUESTS % op))

    def ways(self, experiment, variant, x, op):
        """Steps taken over those needed."""
        waves = self.count(experiment, variant, x, WAVES % op)
        conflicts = self.count(experiment, variant, x, CONFLICTS % op)
        return waves / (waves - conflicts) if waves > conflicts else math.nan


def verdict(holds, partly=False):
    return "yes" if holds else "in part" if partly else "no"


def us(time):
    """A time for people."""
    if time >= 1e4:
        return "%.1f ms" % (time / 1e3)
    if time >= 1e3:
        return "%.2f ms" % (time / 1e3)
    return "%.1f us" % time


def times(ratio):
    return "%.2f" % ratio if ratio < 9.95 else "%.1f" % ratio


def percent(share):
    return "%.0f %%" % (100 * share)


def count(value):
    return "{:,.0f}".format(value)


# -- all of it ----------------------------------------------------------------

def build(data):
    from claims_text import write
    page = Page(data)
    write(page)
    at = page.text.index(SUMMARY)
    rows, page.text, rest = page.summary, page.text[:at], page.text[at + 1:]
    page.table(["claim", "claimed", "measured here", "holds?"], rows)
    page.text += rest
    files = {"README.md": "".join(page.text).rstrip() + "\n"}
    for name, content in page.plots.items():
        files["plots/" + name] = content
    return files


def current():
    files = {}
    for name in ["README.md"] + ["plots/" + name for name in (
            sorted(os.listdir(os.path.join(KERNELS, "plots")))
            if os.path.isdir(os.path.join(KERNELS, "plots")) else [])]:
        path = os.path.join(KERNELS, name)
        if os.path.exists(path):
            with open(path, newline="") as file:
                files[name] = file.read()
    return files


def check(made):
    there = current()
    wrong = 0
    for name in sorted(set(made) | set(there)):
        if made.get(name) == there.get(name):
            continue
        wrong = 1
        print("kernels/%s is not what the data make" % name)
        sys.stdout.writelines(list(difflib.unified_diff(
            there.get(name, "").splitlines(True),
            made.get(name, "").splitlines(True), "there", "made"))[:40])
    return wrong


def main(arguments):
    if arguments not in ([], ["--check"]):
        print("usage: claims.py [--check]", file=sys.stderr)
        return 2
    made = build(Data())
    if arguments:
        return check(made)
    os.makedirs(os.path.join(KERNELS, "plots"), exist_ok=True)
    for name, content in made.items():
        with open(os.path.join(KERNELS, name), "w", newline="") as file:
            file.write(content)
    for name in set(current()) - set(made):
        os.remove(os.path.join(KERNELS, name))
    return 0
