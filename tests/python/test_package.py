# SPDX-License-Identifier: MIT
"""What is in the wheel, and what works without a GPU."""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import unittest
from unittest import mock

import shmtune
from shmtune import _command


def script(*arguments, **more):
    return subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "shmtune"), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


class Package(unittest.TestCase):
    def test_place(self):
        "what is tested is the package that was installed"
        self.assertTrue(os.path.realpath(shmtune.__file__).startswith(
            os.path.realpath(sys.prefix)))

    def test_version(self):
        "the version is that of the library and of the command"
        from shmtune._library import library
        self.assertEqual(shmtune.__version__, library().version().decode())
        self.assertIn(shmtune.__version__, script("--version").stdout)

    def test_script(self):
        "the command finds the kernels of the package, its status is its own"
        done = script("list", "kernels")
        self.assertEqual(done.returncode, 0)
        self.assertIn("transpose", done.stdout)
        self.assertEqual(script("inspect", "nothing").returncode, 1)

    def test_capture(self):
        "the command finds what it preloads into applications"
        done = script("capture", "--list", "--", "/bin/true")
        self.assertIn("launched no kernel", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_structs(self):
        "structs are as long as the library's"
        from shmtune import _library as lib
        handle = shmtune.open()
        kernel = handle.kernel("transpose")
        said = lib.sized(lib.Argument)
        said.size += 8          # beyond it: written as 0, not refused
        wide = (lib.Argument * 2)()
        wide[0].size = said.size
        wide[1].size = 77
        self.assertEqual(lib.library().argument_at(
            kernel._handle, 0, lib.byref(wide[0])), 0)
        self.assertEqual(wide[1].size, 0)
        self.assertEqual(wide[0].count, b"rows * cols * element // 4")
        # One that is too long would have the canary's place unwritten.
        struct = lib.device("sm_90")
        self.assertEqual(struct.compute_major, 9)
        self.assertEqual(struct.max_grid_y, 65535)
        handle.close()

    def test_select(self):
        "a configuration for a device that is not there"
        kernel = shmtune.open().kernel("transpose")
        self.assertEqual(kernel.arguments, ["out", "in", "rows", "cols"])
        found = kernel.select("sm_90", rows=3000, cols=7000)
        self.assertEqual(set(found["config"]), set(kernel.parameters))
        self.assertNotEqual(found["match"], "default")
        self.assertGreater(found["launches"][0]["block"][0], 0)
        self.assertIn("rows=3000", kernel.explain("sm_90", rows=3000))

    def test_refusals(self):
        "errors have a status, and name what there is"
        with self.assertRaises(shmtune.Error) as caught:
            shmtune.open().kernel("transposed")
        self.assertEqual(caught.exception.status, 8)
        self.assertEqual(caught.exception.name, "NOT_FOUND")
        self.assertIn("transpose", str(caught.exception))
        kernel = shmtune.open().kernel("transpose")
        with self.assertRaises(shmtune.Error) as caught:
            kernel.select("sm_90", depth=3)
        self.assertIn("depth", str(caught.exception))
        with self.assertRaises(shmtune.Error) as caught:
            kernel.select("sm_1")
        self.assertEqual(caught.exception.status, 8)

    def test_whole(self):
        "sizes and devices are whole numbers that fit, or refused by name"
        kernel = shmtune.open().kernel("transpose")
        right = kernel.select("sm_90", rows=3000, cols=7000)
        for rows in (3000.0, type("Index", (), {
                "__index__": lambda self: 3000})()):
            self.assertEqual(kernel.select("sm_90", rows=rows, cols=7000),
                             right)
        for rows, said in ((2**64 + 3000, "18446744073709554616"),
                           (2**70, str(2**70)), (-2**63 - 1, "-92233720"),
                           (3000.5, "3000.5"), (True, "True"),
                           ("3000", "'3000'"), (None, "None"),
                           (float("inf"), "inf")):
            for call in (kernel.select, kernel.explain):
                with self.assertRaises(shmtune.Error) as caught:
                    call("sm_90", rows=rows, cols=7000)
                self.assertIn("the size rows is " + said,
                              str(caught.exception))
                self.assertEqual(caught.exception.status, 1)
        for device in (2**32, 0.5, False, b"sm_90"):
            with self.assertRaises(shmtune.Error) as caught:
                kernel.select(device)
            self.assertIn("device is ", str(caught.exception))

    def test_texts(self):
        "a path is any that the system has; what C would cut is refused"
        where = os.path.join(os.fsencode(os.getcwd()), b"l\xe4rm")
        os.makedirs(os.path.join(where, b"tunings"), exist_ok=True)
        share = os.fsencode(shmtune.open().kernel("transpose").select(
            "sm_90")["file"]).partition(b"/tunings/")[0]
        for path in (where + b":" + share, os.fsdecode(where + b":" + share),
                     pathlib.Path(os.fsdecode(share)), share):
            with shmtune.open(path) as library:
                self.assertIn("transpose", library.kernels)
                self.assertEqual(library.notes, [])
        os.environ["SHMTUNE_PATH"] = os.fsdecode(where)
        try:
            self.assertIn("transpose", shmtune.open().kernels)
        finally:
            del os.environ["SHMTUNE_PATH"]
        library = shmtune.open()
        kernel = library.kernel("transpose")
        for what, call in (("path", shmtune.open),
                           ("the name of a kernel", library.kernel),
                           ("device", kernel.select)):
            for x in ("transpose\0", ["transpose"]):
                with self.assertRaises(shmtune.Error) as caught:
                    call(x)
                self.assertIn("%s is %r; expected" % (what, x),
                              str(caught.exception))

    def test_names(self):
        "what a traceback calls it is what can be caught"
        for name in shmtune.__all__:
            self.assertEqual(getattr(shmtune, name).__module__, "shmtune")

    def test_recorded(self):
        "a kernel that comes with it is tuned on a recorded device"
        tuned = shmtune.tune("transpose", device="replay:h100", budget=60,
                             folder="recorded")
        self.assertIn("H100", tuned.device)
        self.assertGreater(tuned.default_us, 0)
        self.assertEqual(tuned.results[0]["verdict"], "ok")
        self.assertTrue(os.path.exists(tuned.tuning))
        self.assertIn("time_us", str(tuned))
        self.assertIn("<td>", tuned._repr_html_())
        self.assertTrue(tuned.spec.endswith("kernels/transpose.yaml"))
        found = tuned.kernel().select("sm_90", rows=8192, cols=8192)
        self.assertEqual(found["config"], tuned.best)
        self.assertEqual(found["file"], os.path.abspath(tuned.tuning))

    def test_namesake(self):
        "a kernel of one's own with its name is not taken for it"
        os.makedirs("namesake/kernels", exist_ok=True)
        with open("namesake/kernels/transpose.yaml", "w",
                  encoding="utf-8") as file:
            file.write("format: kernel/2\nname: transpose\nsource: t.cu\n"
                       "parameters: {A: {values: [1], default: 1}}\n"
                       "launches: [{entry: t, grid: [1], block: [1], "
                       "arguments: [y]}]\n"
                       "arguments: {y: {type: f32, role: output, count: 1}}\n")
        with open("namesake/kernels/t.cu", "w", encoding="utf-8") as file:
            file.write("extern \"C\" __global__ void t(float *y) {}\n")
        self.assertEqual(shmtune.open("namesake").kernel(
            "transpose").parameters, ["A"])
        tuned = shmtune.tune("transpose", device="replay:h100", budget=1,
                             folder="namesake")
        self.assertIn("TILE_X", tuned.kernel().parameters)

    def stand_in(self, text):
        """A script in the place of the command."""
        path = os.path.abspath("stand-in")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o700)
        return mock.patch.object(_command, "PROGRAM", path)

    def test_interrupt(self):
        "an interrupt ends the command, however much it prints then"
        main = threading.main_thread().ident

        def say(line):
            signal.pthread_kill(main, signal.SIGINT)

        # In the background of a shell it is ignored.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(
            signal.SIGINT, signal.default_int_handler))
        with self.stand_in("trap 'exec 2>&-; head -c 1000000 /dev/zero; "
                           ">ended; kill $!; exit 130' TERM\n"
                           "sleep 100 2>&- >&- & echo begun >&2; wait\n"), \
                self.assertRaises(KeyboardInterrupt):
            _command.run(["tune"], say)
        self.assertTrue(os.path.exists("ended"))

    def test_terminal(self):
        "a terminal that takes no more lines does not hold up the command"
        def say(line):
            raise BrokenPipeError("gone")

        lines = "i=0; while [ $i -lt 3000 ]; do echo %s >&2; i=$((i + 1)); done"
        with self.stand_in(lines % ("x" * 60) + "\necho '{}'\n"):
            self.assertEqual(_command.run(["tune"], say), {})

    def test_locale(self):
        "what the command says is UTF-8 in any locale"
        code = ("from shmtune import _command\n"
                "_command.PROGRAM = '%s'\n"
                "print(ascii(_command.run(['list'])['n']))\n")
        with self.stand_in("echo '{\"n\": \"\u00e4\"}'\n"):
            done = subprocess.run(
                [sys.executable, "-c", code % _command.PROGRAM], text=True,
                stdout=subprocess.PIPE, env={
                    **os.environ, "LC_ALL": "C", "PYTHONUTF8": "0",
                    "PYTHONCOERCECLOCALE": "0"})
        self.assertEqual(done.stdout, "'\\xe4'\n")

    def test_no_driver(self):
        "without a driver a call says so"
        code = ("import shmtune\n"
                "try: shmtune.open().kernel('transpose').select(rows=8)\n"
                "except shmtune.Error as e: print(e.name, e)\n")
        done = subprocess.run(
            [sys.executable, "-c", code], text=True, stdout=subprocess.PIPE,
            env={**os.environ, "SHMTUNE_LIBCUDA": "/nowhere.so"})
        self.assertIn("NO_DEVICE no CUDA driver", done.stdout)
