# SPDX-License-Identifier: MIT
"""Runs single configurations of a kernel and fetches what they write: for
functions of the user's that say whether it is right."""
import ctypes
from ctypes import addressof, byref, c_char, c_int64, c_uint16, c_void_p

from . import _command
from . import _library as lib
from ._array import is_gpu_array, module_of, view_of
from ._driver import Current, Memory, driver
from ._kernel_spec import plain
from ._spec import host_array
from ._tune import InOut, Variable, _Given


class Verifier:
    """The arrays of a call of tune_kernel, or run_kernel, in the memory of the
    device."""

    def __init__(self, spec, kernel, ordinal, wanted):
        self.spec, self._kernel = spec, kernel
        self._context = driver().primary(ordinal)
        self._wanted = wanted       # of the arguments
        self._memory = {}
        with Current(self._context):
            self._device = lib.device()
            for argument in self._kernel._arguments:
                given = spec.given[argument.name]
                if isinstance(given, _Given) and not isinstance(given,
                                                                Variable):
                    view = host_array(given.array, argument.name)[0]
                    memory = Memory(driver(), view.nbytes)
                    memory.write(view)
                    self._memory[argument.name] = memory

    def prepare(self, configs):
        """Compiles them, which run() would do one after the other, and what
        nvcc compiles not at all."""
        _command.compile_all(self.spec.path, self._arch(), configs,
                             1 if self.spec.by_nvcc() else 2)

    def why(self):
        """Why the only configuration was not compiled; None: it is not the
        compiler that says no."""
        told = self.spec.inspected("--arch", self._arch())
        return (lib.Error(told["reason"], lib.COMPILE)
                if told["verdict"] == "compile_error" else None)

    def _arch(self):
        return "sm_%d%d" % (self._device.compute_major,
                            self._device.compute_minor)

    def run(self, config):
        """A list beside the arguments: what is in those that the answer has,
        None for the others."""
        functions, message = lib.library(), lib.Message()
        with Current(self._context):
            choice = self._choice(config)
            function = c_void_p()
            lib.check(functions.prepare(byref(choice), lib.ALLOW_COMPILE,
                                        byref(function), byref(message)),
                      message)
            try:
                self._launch(function)
            finally:
                driver().synchronize_context()
                functions.release(function)
            return self._fetch()

    def _choice(self, config):
        """Of this configuration, whatever is best: the values are indices in
        the lists of the spec."""
        kernel = self._kernel
        choice = kernel._choose(self._device, kernel._problem({}))
        values = [self.spec.parameters[n].index(config[n])
                  for n in kernel.parameters]
        self._values = (c_uint16 * max(len(values), 1))(*values)
        choice.values = ctypes.cast(self._values,
                                    ctypes.POINTER(c_uint16))
        return choice

    def _launch(self, function):
        count = len(self._kernel._arguments)
        slots = (c_int64 * count)()
        pointers = (c_void_p * count)()
        message = lib.Message()
        for argument in self._kernel._arguments:
            k, given = argument.index, self.spec.given[argument.name]
            if argument.name in self._memory:
                memory = self._memory[argument.name]
                if isinstance(given, InOut):
                    memory.write(host_array(given.array, argument.name)[0])
                slots[k] = memory.pointer
                pointers[k] = addressof(slots) + 8 * k
            elif isinstance(given, Variable):
                view = host_array(given.array, argument.name)[0]
                data = (c_char * view.nbytes).from_buffer_copy(view)
                lib.check(lib.library().fill(
                    function, k, data, view.nbytes, None, byref(message)),
                    message)
        lib.check(lib.library().launch(function, pointers, None,
                                       byref(message)), message)

    def _fetch(self):
        out = []
        for name, wanted in zip(self.spec.names, self._wanted):
            out.append(None)
            if wanted:
                out[-1] = copy_of(self.spec.originals[name])
                self._memory[name].read(view_of(plain(out[-1])))
        return out

    def close(self):
        with Current(self._context):
            for memory in self._memory.values():
                memory.close()


def copy_of(x):
    """An array of the host as x is, in its order."""
    if module_of(x) == "torch":
        return x.detach().cpu().clone()
    if is_gpu_array(x):
        return x.get() if hasattr(x, "get") else x.copy_to_host()
    if hasattr(x, "flags"):
        return x.copy("F" if x.flags.f_contiguous
                      and not x.flags.c_contiguous else "C")
    return x.copy() if hasattr(x, "copy") else type(x)(x.typecode, x)
