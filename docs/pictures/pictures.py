#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures of the terminal for the documents, made of what the command prints.

usage: pictures.py SHMTUNE            write the pictures beside this file
       pictures.py SHMTUNE --check    exit 1 when the command prints other words

SHMTUNE is the command as it was built.  It runs in a terminal of its own (a
pty) of 80 and of 120 columns, in an empty folder, on the recorded H100 that
ships with the kernels, so every machine gets the same pictures.  (Nearly:
another processor may round the search's arithmetic another way, so --check
leaves numbers out.)  Each is drawn for a dark page and for a light one; a
document takes one or the other by <picture>.  --check also says of a picture
that no document has, and of one that a document has and nobody draws.
"""
import fcntl
import os
import pathlib
import pty
import re
import struct
import sys
import tempfile
import termios
from xml.sax.saxutils import escape

# Name: commands that are typed one after the other in one folder.
PICTURES = {
    "tune": (
        "shmtune tune reduce scan transpose --device replay:h100 --budget 5s",
        "shmtune show --top 3 tunings/scan/*.journal",
    ),
    "pareto": (
        "shmtune tune reduce --device replay:h100 --budget 400 "
        "--require 'registers <= 40' --metric occupancy "
        "--pareto time_us,shared_bytes",
    ),
    "show": ("shmtune show {source}/tunings/scan/"
             "sm_90-nvidia-h100-80gb-hbm3.yaml",),
}
WIDTHS = (80, 120)
# Of one character, in the picture's units.
WIDTH, HEIGHT, ASCENT = 7.2, 17, 12.5
MARGIN, BAR = 20, 34
HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent

STYLE = """<style>
  text {{ font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas,
         "DejaVu Sans Mono", "Liberation Mono", monospace; fill: {text};
         white-space: pre; }}
  .window {{ fill: {window}; stroke: {edge}; }}
  .prompt {{ fill: {prompt}; font-weight: bold; }}
  .bold {{ fill: {bold}; font-weight: bold; }}
  .green {{ fill: {green}; }}
  .red {{ fill: {red}; }}
  .dim {{ fill: {dim}; }}
  .dot {{ fill: {dot}; }}
</style>"""
THEMES = {
    "dark": dict(text="#d6dde6", window="#11161d", edge="#30363d",
                 prompt="#79c0ff", bold="#ffffff", green="#56d364",
                 red="#ff7b72", dim="#8b949e", dot="#3d444d"),
    "light": dict(text="#24292f", window="#f8f9fb", edge="#d0d7de",
                  prompt="#0550ae", bold="#0a0c10", green="#1a7f37",
                  red="#cf222e", dim="#6e7781", dot="#d0d7de"),
}

# The colours that the command uses (src/*/table.c), by their numbers.
PAINTS = {"": "", "0": "", "1": "bold", "2": "dim", "31": "red", "32": "green"}


def output_of(command, program, folder, columns):
    """All that a command writes to a terminal of its own."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 40, columns, 0, 0))
        os.chdir(folder)
        environment = {
            "HOME": str(folder), "TMPDIR": str(folder), "PATH": os.defpath,
            "SHMTUNE_PATH": str(SOURCE), "TERM": "xterm", "LC_ALL": "C",
        }
        os.execve("/bin/sh", ["sh", "-c", command.replace(
            "shmtune", "exec '%s'" % program, 1).format(source=SOURCE)], environment)
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:     # so Linux says that the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(terminal)
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit("pictures.py: \"%s\" failed:\n%s" % (
            command, b"".join(pieces).decode(errors="replace")))
    return b"".join(pieces).decode()


def lines_of(output):
    """The lines that stay on the screen, each a list of (paint, character)."""
    lines, line, column, paint = [], [], 0, ""
    for escape_, number, letter, character in re.findall(
            r"(\x1b\[([0-9]*)([A-Za-z]))|([^\x1b])", output):
        if letter == "m":
            paint = PAINTS[number]
        elif letter == "K":
            del line[column:]
        elif escape_:
            sys.exit("pictures.py: unknown sequence %r" % escape_)
        elif character == "\r":
            column = 0
        elif character == "\n":
            lines.append(line)
            line, column = [], 0
        else:
            line[column:column + 1] = [(paint, character)]
            column += 1
    return lines + [line] if line else lines


def text_element(x, y, paint, text):
    """Its width is given, so that columns stand whatever the font is."""
    return '<text x="%.1f" y="%.1f"%s textLength="%.1f">%s</text>' % (
        x, y, ' class="%s"' % paint if paint else "", len(text) * WIDTH,
        escape(text))


def elements_of(line, y):
    """A line as text elements: one a word group of one paint."""
    start = 0
    for k in range(1, len(line) + 1):
        if k < len(line) and line[k][0] == line[start][0]:
            continue
        run = "".join(character for _, character in line[start:k])
        # Blanks in a row are for the eye alone: each group has its place.
        for group in re.finditer(r"\S+(?: \S+)*", run):
            yield text_element(MARGIN + (start + group.start()) * WIDTH, y,
                               line[start][0], group.group())
        start = k


def picture(name, lines, columns, theme):
    width = 2 * MARGIN + columns * WIDTH
    height = BAR + len(lines) * HEIGHT + MARGIN
    yield ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
           'width="%d" height="%d">' % (width, height, width, height))
    yield "<title>%s</title>" % escape(
        "; ".join(shown(command) for command in PICTURES[name]))
    yield STYLE.format(**THEMES[theme])
    yield ('<rect class="window" x="0.5" y="0.5" width="%d" height="%d" '
           'rx="9"/>' % (width - 1, height - 1))
    for k in range(3):
        yield '<circle class="dot" cx="%d" cy="18" r="5.5"/>' % (
            MARGIN + 6 + 18 * k)
    for row, line in enumerate(lines):
        if len(line) > columns:
            sys.exit("pictures.py: %s: a line of %d columns in a terminal of "
                     "%d" % (name, len(line), columns))
        yield from elements_of(line, BAR + row * HEIGHT + ASCENT)
    yield "</svg>"


def shown(command):
    return command.replace("{source}/", "")


def typed(command, columns):
    """The prompt and the command, broken as a shell's user would."""
    lines, rest = [], "shmtune" + shown(command)[len("shmtune"):]
    prompt = [("prompt", "$"), ("", " ")]
    while rest:
        room = columns - 2 - 2
        cut = len(rest) if len(rest) <= room + 2 else rest.rfind(" ", 0, room)
        while rest[:cut].count("'") % 2:    # not within a word
            cut = rest.rfind(" ", 0, cut)
        words = rest[:cut] + (" \\" if cut < len(rest) else "")
        lines.append(prompt + [("bold", character) for character in words])
        prompt = [("", " "), ("", " ")]
        rest = rest[cut:].lstrip()
    return lines


def draw(name, program, columns):
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for command in PICTURES[name]:
            lines += [[]] if lines else []
            lines += typed(command, columns)
            lines += lines_of(output_of(command, program, folder, columns))
    for theme in THEMES:
        yield ("%s-%d-%s.svg" % (name, columns, theme),
               "\n".join(picture(name, lines, columns, theme)) + "\n")


def words_of(text):
    """What stands in a picture, without its numbers, values and bars."""
    words = re.sub(r"<style>.*</style>|<[^>]*>", " ", text, flags=re.DOTALL)
    return re.sub(r"=\w+|[0-9][0-9.]*|#+", "", words).split()


def unused(names):
    """Pictures that are drawn and not shown, or shown and not drawn."""
    pages = [SOURCE / "README.md", *(SOURCE / "docs").glob("*.md")]
    shown_ones = set()
    for page in pages:
        shown_ones |= set(re.findall(r'(?:srcset|src)="[^"]*pictures/([^"]*)"',
                                     page.read_text()))
    return sorted(shown_ones ^ set(names))


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    texts = {}
    for name in PICTURES:
        for columns in WIDTHS:
            texts.update(draw(name, program, columns))
    for name, text in texts.items():
        if sys.argv[2:] != ["--check"]:
            (HERE / name).write_text(text)
        elif not (HERE / name).exists() or \
                words_of((HERE / name).read_text()) != words_of(text):
            sys.exit("pictures.py: %s: the command prints something else "
                     "today; python3 docs/pictures/pictures.py SHMTUNE draws "
                     "it anew" % name)
    if unused(texts):
        sys.exit("pictures.py: drawn and in no document, or in a document and "
                 "not drawn: " + ", ".join(unused(texts)))


if __name__ == "__main__":
    main()
