# SPDX-License-Identifier: MIT
"""Makes the wheel `shmtune`: the package, the library, the command with what
it preloads into applications, and the kernels and tunings that come with them.
`make wheel` calls it.

    wheel.py --version 0.2.0 --library FILE --command FILE --capture FILE
             --source DIR OUT

Library and command are linked for it: libyaml, jansson and zlib are inside
them, or beside the library where there are no archives of them.  What is
preloaded takes the zlib of the application or of the system.  The tag of the
platform is the newest version of glibc that they ask for.
"""
import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# What every Linux with glibc has (PEP 600 names them).
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0",
          "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
PRELOADED = SYSTEM | {"libz.so.1"}
DATE = (1980, 1, 1, 0, 0, 0)    # the same wheel of the same files

METADATA = """Metadata-Version: 2.1
Name: shmtune
Version: {version}
Summary: auto-tuner for CUDA kernels, and the library that runs the tuned ones
License: MIT
Requires-Python: >=3.9
Description-Content-Type: text/markdown
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3

"""
WHEEL = """Wheel-Version: 1.0
Generator: shmtune {version}
Root-Is-Purelib: false
Tag: {tag}
"""
SCRIPTS = "[console_scripts]\nshmtune = shmtune._command:main\n"


def output(*command):
    return subprocess.run(command, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def needs(path):
    """(libraries, newest glibc) that a program asks for."""
    dynamic = output("readelf", "-d", path)
    libraries = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-V", path))
    return libraries, max([(int(a), int(b)) for a, b in versions] or [(2, 17)])


def beside(paths):
    """{name: path} of the libraries that neither a program nor the system has
    inside: they go into the wheel, where the programs look first."""
    found = {}
    for path in paths:
        for name in needs(path)[0] - SYSTEM:
            where = re.search(r"%s => (/\S+)" % re.escape(name),
                              output("ldd", path))
            if not where or name.startswith(("libasan", "libubsan",
                                             "libtsan")):
                sys.exit("wheel.py: %s needs %s, which cannot be put into a "
                         "wheel" % (path, name))
            found[name] = where.group(1)
    return found


def tag_of(paths):
    newest = max([(2, 17)] + [needs(path)[1] for path in paths])
    return "py3-none-manylinux_%d_%d_%s" % (newest + (platform.machine(),))


def stripped(path, folder):
    out = os.path.join(folder, os.path.basename(path))
    shutil.copyfile(path, out)
    try:
        subprocess.run(["strip", "--strip-unneeded", out], check=True)
    except (OSError, subprocess.CalledProcessError):
        pass
    return out


def files_of(source):
    """(name in the wheel, path) of all that is copied."""
    package = os.path.join(source, "src", "python", "shmtune")
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", ".typed")):
            yield "shmtune/" + name, os.path.join(package, name)
    kernels = os.path.join(source, "kernels")
    for name in sorted(os.listdir(kernels)):
        if name.endswith((".cu", ".cuh", ".yaml")):
            yield "shmtune/share/kernels/" + name, os.path.join(kernels, name)
    tunings = os.path.join(source, "tunings")
    for kernel in sorted(os.listdir(tunings)):
        folder = os.path.join(tunings, kernel)
        for name in sorted(os.listdir(folder) if os.path.isdir(folder)
                           else []):
            if name.endswith((".yaml", ".journal.gz")):
                yield ("shmtune/share/tunings/%s/%s" % (kernel, name),
                       os.path.join(folder, name))


class Wheel:
    def __init__(self, path, folder):
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._folder, self._record = folder, []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, DATE)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        self._record.append("%s,sha256=%s,%d" % (
            name, digest.decode().rstrip("="), len(data)))

    def add_file(self, name, path, mode=0o644):
        with open(path, "rb") as file:
            self.add(name, file.read(), mode)

    def close(self):
        name = self._folder + "/RECORD"
        record = "\n".join(self._record + [name + ",,", ""])
        entry = zipfile.ZipInfo(name, DATE)
        entry.external_attr = 0o100644 << 16
        self._zip.writestr(entry, record)
        self._zip.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("version", "library", "command", "capture", "source"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("out")
    options = parser.parse_args()
    programs = [options.library, options.command]
    others = beside(programs)
    tag = tag_of(programs + [options.capture] + list(others.values()))
    strange = needs(options.capture)[0] - PRELOADED
    if strange:
        sys.exit("wheel.py: %s needs %s, which an application may lack"
                 % (options.capture, ", ".join(sorted(strange))))
    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, "shmtune-%s-%s.whl" % (options.version,
                                                            tag))
    info = "shmtune-%s.dist-info" % options.version
    with open(os.path.join(options.source, "README.md"), "rb") as file:
        readme = file.read()
    with tempfile.TemporaryDirectory() as folder:
        wheel = Wheel(path + ".new", info)
        for name, file in files_of(options.source):
            wheel.add_file(name, file)
        wheel.add("shmtune/_version.py",
                  ("version = %r\n" % options.version).encode())
        wheel.add_file("shmtune/lib/libshmtune.so.1",
                       stripped(options.library, folder), 0o755)
        wheel.add_file("shmtune/bin/shmtune",
                       stripped(options.command, folder), 0o755)
        wheel.add_file("shmtune/lib/shmtune/libshmtune-capture.so",
                       stripped(options.capture, folder), 0o755)
        for name, file in sorted(others.items()):
            wheel.add_file("shmtune/lib/" + name, file, 0o755)
        wheel.add(info + "/METADATA",
                  METADATA.format(version=options.version).encode() + readme)
        wheel.add(info + "/WHEEL",
                  WHEEL.format(version=options.version, tag=tag).encode())
        wheel.add(info + "/entry_points.txt", SCRIPTS.encode())
        wheel.add_file(info + "/LICENSE",
                       os.path.join(options.source, "LICENSE"))
        wheel.close()
    os.replace(path + ".new", path)
    print(path)


if __name__ == "__main__":
    main()
