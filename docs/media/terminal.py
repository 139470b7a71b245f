#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The picture of a run in the README, made from what the command prints.

usage: terminal.py SHMTUNE            write terminal.svg beside this file
       terminal.py SHMTUNE --check    exit 1 when the command prints other words

SHMTUNE is the command as it was built.  It runs in a terminal of its own (a
pty), in an empty folder, on the recorded H100 that ships with the kernels, so
every machine gets the same picture.  (Nearly: another processor may round the
search's arithmetic another way, so --check leaves numbers out.)
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

COMMANDS = (
    "shmtune tune reduce scan transpose --device replay:h100 --budget 5s",
    "shmtune show --top 3 tunings/scan/*.journal",
)
COLUMNS = 108
# Of one character, in the picture's units.
WIDTH, HEIGHT, ASCENT = 7.2, 17, 12.5
MARGIN, BAR = 20, 34
SVG = pathlib.Path(__file__).with_name("terminal.svg")
SOURCE = SVG.parent.parent.parent

STYLE = """<style>
  text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas,
         "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #d6dde6;
         white-space: pre; }
  .window { fill: #11161d; stroke: #30363d; }
  .prompt { fill: #79c0ff; font-weight: bold; }
  .bold { fill: #ffffff; font-weight: bold; }
  .green { fill: #56d364; }
  .red { fill: #ff7b72; }
  .dim { fill: #8b949e; }
  .fade { stop-color: #11161d; }
  .dot { fill: #3d444d; }
  @media (prefers-color-scheme: light) {
    text { fill: #24292f; }
    .window { fill: #f8f9fb; stroke: #d0d7de; }
    .prompt { fill: #0550ae; }
    .bold { fill: #0a0c10; }
    .green { fill: #1a7f37; }
    .red { fill: #cf222e; }
    .dim { fill: #6e7781; }
    .fade { stop-color: #f8f9fb; }
    .dot { fill: #d0d7de; }
  }
</style>"""

# The colours that the command uses (src/*/table.c), by their numbers.
PAINTS = {"": "", "0": "", "1": "bold", "2": "dim", "31": "red", "32": "green"}


def output_of(command, program, folder):
    """All that a command writes to a terminal of its own."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 40, COLUMNS, 0, 0))
        os.chdir(folder)
        environment = {
            "HOME": str(folder), "TMPDIR": str(folder), "PATH": os.defpath,
            "SHMTUNE_PATH": str(SOURCE), "TERM": "xterm", "LC_ALL": "C",
        }
        os.execve("/bin/sh", ["sh", "-c", command.replace(
            "shmtune", "exec '%s'" % program, 1)], environment)
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
        sys.exit("terminal.py: \"%s\" failed:\n%s" % (
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
            sys.exit("terminal.py: unknown sequence %r" % escape_)
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


def picture(lines):
    width = 2 * MARGIN + COLUMNS * WIDTH
    height = BAR + len(lines) * HEIGHT + MARGIN
    yield ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
           'width="%d" height="%d">' % (width, height, width, height))
    yield "<title>%s</title>" % escape("; ".join(COMMANDS))
    yield STYLE
    yield ('<defs><linearGradient id="fade"><stop class="fade" '
           'stop-opacity="0"/><stop class="fade" offset="1"/>'
           '</linearGradient></defs>')
    yield ('<rect class="window" x="0.5" y="0.5" width="%d" height="%d" '
           'rx="9"/>' % (width - 1, height - 1))
    for k in range(3):
        yield '<circle class="dot" cx="%d" cy="18" r="5.5"/>' % (
            MARGIN + 6 + 18 * k)
    for row, line in enumerate(lines):
        y = BAR + row * HEIGHT + ASCENT
        yield from elements_of(line[:COLUMNS], y)
        if len(line) > COLUMNS:
            yield ('<rect fill="url(#fade)" x="%.1f" y="%.1f" width="%.1f" '
                   'height="%d"/>' % (MARGIN + (COLUMNS - 7) * WIDTH + 1,
                                      y - ASCENT, 7 * WIDTH, HEIGHT))
    yield "</svg>"


def words_of(text):
    """What stands in a picture, without its numbers, values and bars."""
    words = re.sub(r"<style>.*</style>|<[^>]*>", " ", text, flags=re.DOTALL)
    return re.sub(r"=\w+|[0-9][0-9.]*|#+", "", words).split()


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            lines += [[]] if lines else []
            lines.append([("prompt", "$"), ("", " ")] +
                         [("bold", character) for character in command])
            lines += lines_of(output_of(command, program, folder))
    text = "\n".join(picture(lines)) + "\n"
    if sys.argv[2:] != ["--check"]:
        SVG.write_text(text)
    elif words_of(SVG.read_text()) != words_of(text):
        sys.exit("terminal.py: the command prints something else today; "
                 "python3 docs/media/terminal.py SHMTUNE draws it anew")


if __name__ == "__main__":
    main()
