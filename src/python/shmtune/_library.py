# SPDX-License-Identifier: MIT
"""libshmtune by ctypes: its structs and functions, as shmtune.h has them.

What fails raises Error, with the library's own sentence.
"""
import ctypes
import os
import re
import sys
from ctypes import (CDLL, POINTER, Structure, byref, c_char, c_char_p,
                    c_double, c_int, c_int64, c_size_t, c_uint, c_uint16,
                    c_uint32, c_void_p)

FOLDER = os.path.dirname(os.path.abspath(__file__))
DIMENSIONS = 8

STATUSES = {
    1: "INVALID_ARGUMENT", 2: "INVALID_FILE", 3: "NO_CONFIGURATION",
    4: "WRONG_RESULT", 5: "STORAGE", 6: "NO_DEVICE", 7: "NO_MEMORY",
    8: "NOT_FOUND", 9: "COMPILE", 10: "CUDA", 70: "INTERNAL",
    130: "INTERRUPTED",
}
INVALID_ARGUMENT, INVALID_FILE, NO_CONFIGURATION = 1, 2, 3
WRONG_RESULT, STORAGE, NOT_FOUND, COMPILE, CUDA = 4, 5, 8, 9, 10
MATCHES = ("exact", "nearest size", "same capability", "default", "learnt")
(INPUT, OUTPUT, INOUT, WORKSPACE, SCALAR, VALUE, SYMBOL, POINTER_TO, STRUCT,
 TENSOR_MAP, TEXTURE) = range(11)
BUFFERS = (INPUT, OUTPUT, INOUT, WORKSPACE)
CURRENT_DEVICE = -1
ALLOW_COMPILE = 1


class Error(Exception):
    """What failed: str() is the sentence of the library or the command.

    status  its number, as of shmtune.h and of the command's exit
    name    its name, "COMPILE"
    file, line, column   where, if the sentence begins with a place
    """

    def __init__(self, message, status=INVALID_ARGUMENT, place=None):
        super().__init__(message)
        self.status = status
        self.name = STATUSES.get(status, str(status))
        self.file, self.line, self.column = place or _place_of(message)


def _place_of(message):
    found = re.match(r"(/?[^\s:]+):(\d+):(?:(\d+):)? ", message)
    if not found:
        return None, None, None
    file, line, column = found.groups()
    return file, int(line), int(column) if column else None


class Device(Structure):
    _fields_ = [
        ("size", c_size_t), ("name", c_char * 256), ("uuid", c_char * 64),
        ("compute_major", c_int), ("compute_minor", c_int),
        ("multiprocessors", c_int), ("max_threads_per_block", c_int),
        ("max_threads_per_multiprocessor", c_int),
        ("max_blocks_per_multiprocessor", c_int),
        ("registers_per_block", c_int), ("registers_per_multiprocessor", c_int),
        ("warp_size", c_int), ("shared_per_block", c_int64),
        ("shared_per_block_optin", c_int64),
        ("shared_per_multiprocessor", c_int64),
        ("shared_reserved_per_block", c_int64), ("l2_bytes", c_int64),
        ("memory_bytes", c_int64), ("max_grid_y", c_int64),
        ("clock_khz", c_int), ("memory_clock_khz", c_int),
        ("memory_bus_bits", c_int), ("driver_version", c_int),
    ]


class Dimension(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("fallback", c_int64),
                ("low", c_int64), ("high", c_int64)]


class Argument(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", c_char_p),
                ("element_bytes", c_size_t), ("role", c_int),
                ("zeroed", c_int), ("count", c_char_p), ("value", c_char_p)]


class Choice(Structure):
    _fields_ = [
        ("size", c_size_t), ("kernel", c_void_p), ("match", c_int),
        ("compute_major", c_int), ("compute_minor", c_int),
        ("problem", c_int64 * DIMENSIONS), ("tuned_problem", c_void_p),
        ("values", POINTER(c_uint16)), ("file", c_char_p),
        ("reason", c_char_p), ("time_us", c_double), ("default_us", c_double),
    ]


class Value(Structure):
    _fields_ = [("size", c_size_t), ("number", c_double), ("word", c_char_p)]


class Geometry(Structure):
    _fields_ = [
        ("size", c_size_t), ("entry", c_char_p), ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3), ("cluster", c_uint32 * 3),
        ("carveout", c_int), ("shared_dynamic", c_int64),
        ("cooperative", c_int),
    ]


class Message(Structure):
    _fields_ = [("text", c_char * 1024)]


def sized(kind):
    """A struct that says its size, as the macros of shmtune.h make it."""
    made = kind()
    made.size = ctypes.sizeof(kind)
    return made


_P = c_void_p
_SIGNATURES = {
    "version": (c_char_p,),
    "device_query": (c_int, c_int, POINTER(Device), POINTER(Message)),
    "device_for_arch": (c_int, c_char_p, POINTER(Device), POINTER(Message)),
    "open": (c_int, c_char_p, POINTER(_P), POINTER(Message)),
    "close": (None, _P),
    "note_count": (c_size_t, _P),
    "note": (c_char_p, _P, c_size_t),
    "kernel_count": (c_size_t, _P),
    "kernel_at": (_P, _P, c_size_t),
    "kernel_find": (_P, _P, c_char_p),
    "kernel_name": (c_char_p, _P),
    "kernel_summary": (c_char_p, _P),
    "dimension_count": (c_size_t, _P),
    "dimension_at": (c_int, _P, c_size_t, POINTER(Dimension)),
    "argument_count": (c_size_t, _P),
    "argument_at": (c_int, _P, c_size_t, POINTER(Argument)),
    "parameter_count": (c_size_t, _P),
    "parameter_name": (c_char_p, _P, c_size_t),
    "select": (c_int, _P, POINTER(Device), POINTER(c_int64), POINTER(Choice)),
    "explain": (c_size_t, _P, POINTER(Device), POINTER(c_int64), c_char_p,
                c_size_t),
    "choice_value": (c_int, POINTER(Choice), c_char_p, POINTER(Value)),
    "choice_launch": (c_int, POINTER(Choice), c_size_t, POINTER(Geometry)),
    "argument_bytes": (c_int, POINTER(Choice), c_size_t, POINTER(c_int64)),
    "prepare": (c_int, POINTER(Choice), c_uint, POINTER(_P),
                POINTER(Message)),
    "resize": (c_int, _P, POINTER(Choice), POINTER(_P), POINTER(Message)),
    "release": (None, _P),
    "fill": (c_int, _P, c_size_t, _P, c_size_t, _P, POINTER(Message)),
    "launch": (c_int, _P, _P, _P, POINTER(Message)),
}


class _Functions:
    """shmtune_NAME as the attribute NAME."""

    def __init__(self, path):
        self.path = path
        library = CDLL(path)
        for name, (result, *arguments) in _SIGNATURES.items():
            function = getattr(library, "shmtune_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)


_functions = None


def library():
    """libshmtune, opened when it is first needed."""
    global _functions
    if _functions is None:
        find_compiler()
        _functions = _Functions(os.path.join(FOLDER, "lib",
                                             "libshmtune.so.1"))
    return _functions


def check(status, message):
    """Raises what a function of the library has answered, unless it is 0."""
    if status:
        text = message.text.decode("utf-8", "replace")
        raise Error(text or STATUSES.get(status, "failed"), status)


def encoded(text_, what):
    """For a function of C, which reads no further than a NUL byte."""
    try:
        bytes_ = os.fsencode(text_)
    except (TypeError, UnicodeError):
        bytes_ = None
    if bytes_ is None or b"\0" in bytes_:
        raise Error("%s is %.80r; expected a text without NUL bytes"
                    % (what, text_))
    return bytes_


def text(bytes_):
    return None if bytes_ is None else bytes_.decode("utf-8", "replace")


def search_path():
    """Where kernels and tunings are: as of the library, and those inside this
    package where it has the installed ones."""
    folders = [f for f in os.environ.get("SHMTUNE_PATH", "").split(":")
               if os.path.isabs(f)]
    home = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".local", "share")
    own = os.path.join(home, "shmtune")
    if os.path.isdir(own):
        folders.append(own)
    return ":".join(folders + [os.path.join(FOLDER, "share")])


def find_compiler():
    """Names the folder of the wheels of CUDA, of which PyTorch brings some,
    where nobody has named a toolkit and none is in its usual place."""
    named = ("SHMTUNE_NVRTC", "SHMTUNE_CUDA", "CUDA_HOME", "CUDA_PATH")
    if any(os.environ.get(name) for name in named):
        return
    if os.path.isdir("/usr/local/cuda"):
        return
    for folder in [os.path.dirname(FOLDER)] + sys.path:
        for library_ in ("cu13", "cuda_nvrtc"):
            wheel = os.path.join(folder or ".", "nvidia", library_, "lib")
            if os.path.isdir(wheel):
                os.environ["SHMTUNE_CUDA"] = os.path.abspath(folder or ".")
                return


def device(which=CURRENT_DEVICE):
    """A struct for a number of the driver's, or for "sm_90"."""
    out, message = sized(Device), Message()
    if isinstance(which, str):
        status = library().device_for_arch(encoded(which, "device"),
                                           byref(out), byref(message))
    else:
        status = library().device_query(which, byref(out), byref(message))
    check(status, message)
    return out
