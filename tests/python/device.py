# SPDX-License-Identifier: MIT
"""Arrays in the memory of the fake driver, as libraries of GPU arrays show
theirs; no GPU, no NumPy."""
import array
import ctypes
import os
import shutil
import struct
import unittest

from shmtune import Error
from shmtune._driver import Memory, driver

SOURCE = os.environ["SHMT_SRCDIR"]
FAKE = os.path.join(SOURCE, "tests", "fake")
FORMATS = {"<f4": "f", "<i4": "i", "<f8": "d", "<f2": "H"}
CODES = {"<f4": (2, 32), "<i4": (0, 32), "<f8": (2, 64)}


def begin():
    """Makes the fake device's context current."""
    driver().set_current(driver().primary(0))


class Interface:
    """An array with __cuda_array_interface__."""

    def __init__(self, typestr, shape, values=None, strides=None, offset=0):
        self.typestr, self.shape, self.strides = typestr, shape, strides
        self.count = 1
        for extent in shape:
            self.count *= extent
        bytes_ = self.count * int(typestr[2:])
        self.memory = Memory(driver(), bytes_ + offset)
        self.offset = offset
        if values is not None:
            self.memory.write(memoryview(array.array(FORMATS[typestr],
                                                     values)))

    @property
    def __cuda_array_interface__(self):
        return {"typestr": self.typestr, "shape": self.shape, "version": 3,
                "data": (self.memory.pointer + self.offset, False),
                "strides": self.strides}

    def read(self):
        out = array.array(FORMATS[self.typestr], [0] * self.count)
        self.memory.read(memoryview(out))
        return list(out)


def texture_of(array_):
    """A texture object of the floats of an Interface."""
    class Resource(ctypes.Structure):
        _fields_ = [("kind", ctypes.c_int), ("pointer", ctypes.c_uint64),
                    ("format", ctypes.c_int), ("channels", ctypes.c_uint),
                    ("bytes", ctypes.c_size_t), ("rest", ctypes.c_char * 112)]

    class Sampling(ctypes.Structure):
        _fields_ = [("modes", ctypes.c_int * 4), ("flags", ctypes.c_uint),
                    ("rest", ctypes.c_char * 84)]

    linear, real = 2, 0x20
    create, said, out = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_uint64()
    find = ctypes.CDLL(os.environ["SHMTUNE_LIBCUDA"]).cuGetProcAddress_v2
    find(b"cuTexObjectCreate", ctypes.byref(create), 12000,
         ctypes.c_uint64(0), ctypes.byref(said))
    resource = Resource(linear, array_.memory.pointer, real, 1,
                        4 * array_.count)
    sampling = Sampling(flags=1)
    driver().check(
        ctypes.CFUNCTYPE(ctypes.c_int, *4 * [ctypes.c_void_p])(create.value)(
            ctypes.addressof(out), ctypes.addressof(resource),
            ctypes.addressof(sampling), None), "cuTexObjectCreate")
    return out.value


class _Managed(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int),
                ("device_id", ctypes.c_int), ("rank", ctypes.c_int),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Packed(Interface):
    """An array with DLPack alone."""
    __cuda_array_interface__ = property()   # hidden
    streams = None
    kind = 2

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, stream=None):
        self.streams = (self.streams or []) + [stream]
        code, bits = CODES[self.typestr]
        self._extents = (ctypes.c_int64 * len(self.shape))(*self.shape)
        self._managed = _Managed(
            self.memory.pointer, self.kind, 0, len(self.shape), code, bits, 1,
            ctypes.addressof(self._extents), None, self.offset)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return make(ctypes.addressof(self._managed), b"dltensor", None)


def hide():
    """hasattr() is to say no of the property that Packed hides."""
    class Hidden:
        def __get__(self, *_):
            raise AttributeError("__cuda_array_interface__")
    Packed.__cuda_array_interface__ = Hidden()


hide()


def folder(*kernels):
    """A folder with these kernels of tests/fake, below the current one."""
    where = os.path.abspath("library")
    os.makedirs(os.path.join(where, "kernels"), exist_ok=True)
    for name in kernels:
        for end in (".cu", ".yaml"):
            shutil.copyfile(os.path.join(FAKE, name + end),
                            os.path.join(where, "kernels", name + end))
    return where


def text_of(name):
    with open(os.path.join(FAKE, name), encoding="utf-8") as file:
        return file.read()


def single(value):
    """A number as it is in single precision."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Case(unittest.TestCase):
    """A test with the fake driver; skipped where there is no compiler."""

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(os.environ["SHMTUNE_LIBCUDA"]):
            raise unittest.SkipTest("the fake driver is not built")
        from shmtune import _command
        if "missing" in [c["state"] for c in _command.run(
                ["doctor"])["checks"] if c["check"] == "NVRTC"]:
            raise unittest.SkipTest("no NVRTC")
        begin()

    def refuses(self, text, call, *arguments, status=1, **named):
        with self.assertRaises(Error) as caught:
            call(*arguments, **named)
        self.assertIn(text, str(caught.exception))
        self.assertEqual(caught.exception.status, status)
        return caught.exception
