# SPDX-License-Identifier: MIT
"""The command `shmtune` inside this package: as a script, and for tune."""
import json
import os
import subprocess
import sys
import threading

from . import _library as lib
from ._library import Error

PROGRAM = os.path.join(lib.FOLDER, "bin", "shmtune")


def environment():
    lib.find_compiler()
    return {**os.environ, "SHMTUNE_PATH": lib.search_path()}


def program():
    # Some tools unpack a wheel without the modes of its files.
    if not os.access(PROGRAM, os.X_OK):
        os.chmod(PROGRAM, 0o755)
    return PROGRAM


def main():
    """The script: the command in the place of this process."""
    os.execve(program(), ["shmtune"] + sys.argv[1:], environment())


def run(arguments, say=None):
    """What a verb prints with --json, as an object.  `say` gets the lines of
    its standard error as they come.  Raises Error when it fails, but for a
    document with results, which is returned."""
    process = subprocess.Popen(
        [program()] + list(arguments) + ["--json"], env=environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace")
    lines = []

    def listen():
        for line in process.stderr:
            lines.append(line.rstrip("\n"))
            if say is not None:
                say(lines[-1])

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        text = process.stdout.read()
    except BaseException:
        # An interrupt is the command's too: it ends by itself, and resumes.
        process.terminate()
        raise
    finally:
        listener.join()
        status = process.wait()
    try:
        document = json.loads(text)
    except ValueError:
        raise Error("\n".join(lines[-5:]) or "shmtune ended with %d" % status,
                    status or 70) from None
    if "error" in document:
        place = document.get("place") or {}
        raise Error(document["error"], document["status"],
                    (place.get("file"), place.get("line"),
                     place.get("column")) if place else None)
    return document
