# SPDX-License-Identifier: MIT
"""The command `shmtune` inside this package: as a script, and for tune."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
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
    try:
        process = subprocess.Popen(
            [program(), arguments[0], "--json", *arguments[1:]],
            env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:
        raise Error("the command cannot be started: %s" % error,
                    lib.STORAGE) from None
    lines, texts = [], []

    def collect():
        texts.append(process.stdout.read())

    def listen():
        for line in process.stderr:
            lines.append(line.rstrip("\n"))
            # A terminal that is gone, or that has not the letters of a name:
            # the command has to be read all the same.
            with contextlib.suppress(OSError, ValueError):
                if say is not None:
                    say(lines[-1])

    readers = [threading.Thread(target=collect),
               threading.Thread(target=listen)]
    with process:
        try:
            for reader in readers:
                reader.start()
            # A signal that comes just before a read begins does not end it.
            while any(reader.is_alive() for reader in readers):
                readers[0].join(0.1)
                readers[1].join(0.1)
        except BaseException:
            # An interrupt is the command's too: it ends by itself, and resumes.
            # What it prints may be more than fits a pipe.
            process.terminate()
            if readers[0].ident is None:
                readers[0].start()
            raise
        finally:
            for reader in readers:
                if reader.ident is not None:
                    reader.join()
            status = process.wait()
    text = "".join(texts)
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


def _cache():
    """The library's folder of binaries; None where it has none."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(root):
        root = os.path.join(os.environ.get("HOME", ""), ".cache")
    if os.environ.get("SHMTUNE_NO_CACHE") or not os.path.isabs(root):
        return None
    return os.path.join(root, "shmtune", "cubin")


def compile_all(spec, arch, configs, fewest=2):
    """Puts the binaries of the configurations, if there are so many, into the
    library's cache, by a worker for each processor.  What fails is compiled,
    and told, by who needs it."""
    folder = _cache()
    count = min(len(os.sched_getaffinity(0)), len(configs))
    if folder is None or count < fewest:
        return
    with tempfile.TemporaryDirectory() as requests, \
            contextlib.ExitStack() as workers:
        for k in range(count):
            path = os.path.join(requests, str(k))
            with open(path, "w", encoding="utf-8") as file:
                for tag, config in enumerate(configs[k::count], 1):
                    file.write(json.dumps({"verb": "inspect", "tag": tag,
                                           "config": config}) + "\n")
            workers.enter_context(subprocess.Popen(
                [program(), "worker", "--spec", spec, "--arch", arch,
                 "--images", folder, "--requests", path, "--for-library"],
                env=environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
