#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shell commands of the documents, one a line: PLACE<TAB>COMMAND.

usage: commands.py ROOT SHMTUNE

Those of fenced sh blocks of the pages, of indented blocks that look like some,
of the examples of the manual page, and of `--help` of every verb.  Lines that go
on are one command, and so is a loop; comments are left out.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])


def joined(lines):
    """Commands of a block: what goes on, and what is quoted or a loop."""
    command = ""
    for line in lines:
        command = command + "\n" + line if command else line
        text = re.sub(r"(^|\s)#.*", "", command, flags=re.MULTILINE)
        if command.endswith(("\\", "|")) or text.count("'") % 2 or \
                len(re.findall(r"^\s*(?:for|while|if)\b", text, re.M)) > \
                len(re.findall(r"\b(?:done|fi)\b", text)):
            continue
        text = re.sub(r"\\\n\s*", "", text).strip()
        if text:
            yield " ".join(text.split()) if "'" not in text else text
        command = ""
    if command.strip():
        yield command.strip()


# How a line of an indented block begins that is a command, and not a format.
TYPED = re.compile(r"(\./|~/|[A-Z_]+=\S* |(autoreconf|bash|cc|cd|cmake|git|make|"
                   r"meson|nvcc|pip|python3?|sh|sudo|tests/\S+) |"
                   r"shmtune (?!(pack|cubins)/\d))")


def of_indented(path):
    """A block of four blanks behind an empty line, outside of fences."""
    fenced, block, before = False, [], ""
    for line in path.read_text().split("\n"):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and line.startswith("    ") and (block or not before):
            block.append(line.strip())
        else:
            if block and TYPED.match(block[0]):
                yield from joined(block)
            block = []
        before = line.strip()


def of_page(path):
    yield from of_indented(path)
    inside, block, console = False, [], False
    for line in path.read_text().split("\n"):
        if not inside and re.fullmatch(r"\s*```(sh|console)", line):
            inside, block, console = True, [], "console" in line
        elif inside and line.strip() == "```":
            inside = False
            # tests/cli/documents.sh types a console and compares the answers.
            if not console:
                yield from joined(block)
        elif inside:
            block.append(line.rstrip())


def of_manual(path):
    text = path.read_text()
    part = re.search(r"^\.Sh EXAMPLES\n(.*?)^\.Sh ", text, re.S | re.M)
    for line in part.group(1).split("\n") if part else []:
        if line.startswith(".Dl "):
            yield line[4:].replace("\\&", "").replace("\\-", "-")


def help_of(*words):
    return subprocess.run([sys.argv[2], *words, "--help"], check=True,
                          capture_output=True, text=True).stdout


def verbs():
    listed = help_of().split("\ncommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.split("\n")] + ["worker"]


def of_help(verb):
    text = help_of(verb)
    if "\nexamples:\n" in text:
        lines = text.split("\nexamples:\n")[1].split("\n\n")[0].split("\n")
        yield from joined([line.strip() for line in lines])


def main():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md",
             *sorted((ROOT / "docs").glob("*.md")),
             *sorted((ROOT / "examples").rglob("*.md")),
             ROOT / "kernels/README.md"]
    for page in pages:
        for command in of_page(page):
            print("%s\t%s" % (page.relative_to(ROOT),
                              command.replace("\n", "\\n")))
    for command in of_manual(ROOT / "src/shmtune.1"):
        print("shmtune.1\t" + command)
    for verb in verbs():
        for command in of_help(verb):
            print("%s --help\t%s" % (verb, command.replace("\n", "\\n")))


if __name__ == "__main__":
    main()
