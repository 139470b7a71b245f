# SPDX-License-Identifier: MIT
"""The few calls of the CUDA driver that Python itself makes: contexts, order
among streams, and memory for what tune_kernel verifies."""
import ctypes
import os
import threading
from ctypes import (CDLL, CFUNCTYPE, POINTER, PYFUNCTYPE, byref, c_char_p,
                    c_int, c_size_t, c_uint, c_uint64, c_void_p)

from ._library import CUDA, Error

_P = c_void_p
_SIGNATURES = {
    "cuInit": (c_uint,),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDevicePrimaryCtxRetain": (POINTER(_P), c_int),
    "cuCtxGetCurrent": (POINTER(_P),),
    "cuCtxGetDevice": (POINTER(c_int),),
    "cuCtxSetCurrent": (_P,),
    "cuMemAlloc": (POINTER(c_uint64), c_size_t),
    "cuMemFree": (c_uint64,),
    "cuMemcpyHtoD": (c_uint64, _P, c_size_t),
    "cuMemcpyDtoH": (_P, c_uint64, c_size_t),
    "cuCtxSynchronize": (),
    "cuStreamSynchronize": (_P,),
}


class Driver:
    def __init__(self):
        given = os.environ.get("SHMTUNE_LIBCUDA")
        try:
            library = CDLL(given or "libcuda.so.1")
        except OSError as error:
            raise Error("no CUDA driver: %s; install the NVIDIA driver (in a "
                        "container: start it with the GPU)%s" %
                        (error, ", or unset $SHMTUNE_LIBCUDA" if given
                         else ""), 6)
        get = library.cuGetProcAddress_v2
        get.argtypes = (c_char_p, POINTER(_P), c_int, c_uint64, POINTER(c_int))
        for function, arguments in _SIGNATURES.items():
            address, found = _P(), c_int()
            if get(function.encode(), byref(address), 12000, 0, byref(found)):
                raise Error("the NVIDIA driver has no function %s; update it"
                            % function, 6)
            # That one is on the way of every launch: the interpreter is kept.
            kind = (PYFUNCTYPE if function == "cuCtxGetCurrent"
                    else CFUNCTYPE)(c_int, *arguments)
            setattr(self, function, kind(address.value))
        self._contexts = {}
        self._local = threading.local()
        self.check(self.cuInit(0), "cuInit")

    def check(self, result, what):
        if result:
            name = c_char_p()
            self.cuGetErrorName(result, byref(name))
            raise Error("%s: %s" % (what, (name.value or b"").decode()), CUDA)

    def context(self):
        """The current one; None: there is none."""
        local = self._local
        try:
            out, at = local.out, local.at
        except AttributeError:
            out = local.out = _P()
            at = local.at = byref(out)
        self.cuCtxGetCurrent(at)
        return out.value

    def ordinal(self):
        """The device of the current context."""
        out = c_int()
        self.check(self.cuCtxGetDevice(byref(out)), "cuCtxGetDevice")
        return out.value

    def primary(self, ordinal):
        """The context that CUDA's runtime uses on a device."""
        if ordinal not in self._contexts:
            device, out = c_int(), _P()
            self.check(self.cuDeviceGet(byref(device), ordinal),
                       "cuDeviceGet")
            self.check(self.cuDevicePrimaryCtxRetain(byref(out), device),
                       "cuDevicePrimaryCtxRetain")
            self._contexts[ordinal] = out.value
        return self._contexts[ordinal]

    def set_current(self, context):
        self.check(self.cuCtxSetCurrent(context), "cuCtxSetCurrent")

    def synchronize_context(self):
        self.check(self.cuCtxSynchronize(), "cuCtxSynchronize")

    def synchronize(self, stream):
        self.check(self.cuStreamSynchronize(stream), "cuStreamSynchronize")


class Current:
    """A context that is current while it is needed."""

    def __init__(self, context):
        self._context = context

    def __enter__(self):
        self._before = driver().context()
        if self._before != self._context:
            driver().set_current(self._context)

    def __exit__(self, *_):
        if self._before != self._context:
            driver().set_current(self._before)


class Memory:
    """Memory of the device, for arrays of the host, and back."""

    def __init__(self, driver, bytes_):
        self._driver, self.bytes, out = driver, bytes_, c_uint64()
        driver.check(driver.cuMemAlloc(byref(out), max(bytes_, 1)),
                     "cuMemAlloc")
        self.pointer = out.value

    def write(self, view):
        """From a memoryview, contiguous."""
        kind = ctypes.c_char * view.nbytes
        data = (kind.from_buffer_copy(view) if view.readonly else
                kind.from_buffer(view))
        self._driver.check(self._driver.cuMemcpyHtoD(
            self.pointer, ctypes.addressof(data), view.nbytes),
            "cuMemcpyHtoD")

    def read(self, view):
        data = (ctypes.c_char * view.nbytes).from_buffer(view)
        self._driver.check(self._driver.cuMemcpyDtoH(
            ctypes.addressof(data), self.pointer, view.nbytes),
            "cuMemcpyDtoH")

    def close(self):
        if self.pointer:
            self._driver.cuMemFree(self.pointer)
            self.pointer = 0


_driver = None


def driver():
    """Opened when it is first needed."""
    global _driver
    if _driver is None:
        _driver = Driver()
    return _driver
