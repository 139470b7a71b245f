# SPDX-License-Identifier: MIT
"""Pages that are made from measured data: text in Markdown with its plots, and
whether what lies in the repository is what the data make."""
import difflib
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


class Page:
    """Text and plots, piece by piece.  `name` is that of the file, without
    its ending; plots lie in a folder of the same name."""

    def __init__(self, name):
        self.name = name
        self.text = []
        self.plots = {}
        self.anchor = ""

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

    def table(self, titles, rows):
        def line(cells):
            return "| " + " | ".join(str(cell) for cell in cells) + " |\n"
        self.text.append(line(titles) + "|" + "---|" * len(titles) + "\n" +
                         "".join(line(row) for row in rows) + "\n")

    def plot(self, name, alt, content):
        path = "plots/%s/%s.svg" % (self.name, name)
        self.plots[path] = content
        self.text.append("![%s](%s)\n\n" % (alt, path))

    def files(self):
        """What there is to be in docs/, by name."""
        made = {self.name + ".md": "".join(self.text).rstrip() + "\n"}
        made.update(self.plots)
        return made


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


# -- files --------------------------------------------------------------------

def current(page, folder):
    plots = os.path.join(folder, "plots", page.name)
    names = [page.name + ".md"] + [
        "plots/%s/%s" % (page.name, name)
        for name in (sorted(os.listdir(plots)) if os.path.isdir(plots)
                     else [])]
    files = {}
    for name in names:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, newline="") as file:
                files[name] = file.read()
    return files


def check(page, folder):
    made, there = page.files(), current(page, folder)
    wrong = 0
    for name in sorted(set(made) | set(there)):
        if made.get(name) == there.get(name):
            continue
        wrong = 1
        print("docs/%s is not what the data make" % name)
        sys.stdout.writelines(list(difflib.unified_diff(
            there.get(name, "").splitlines(True),
            made.get(name, "").splitlines(True), "there", "made"))[:40])
    return wrong


def write(page, folder):
    made = page.files()
    os.makedirs(os.path.join(folder, "plots", page.name), exist_ok=True)
    for name, content in made.items():
        with open(os.path.join(folder, name), "w", newline="") as file:
            file.write(content)
    for name in set(current(page, folder)) - set(made):
        os.remove(os.path.join(folder, name))
    return 0


def run(page, arguments, folder=os.path.join(ROOT, "docs")):
    """The command line that both pages have."""
    if arguments not in ([], ["--check"]):
        print("usage: %s [--check]" % sys.argv[0], file=sys.stderr)
        return 2
    return check(page, folder) if arguments else write(page, folder)
