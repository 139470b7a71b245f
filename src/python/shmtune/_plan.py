# SPDX-License-Identifier: MIT
"""A plan: a function of the library with all that does not change from call to
call of one kind.  Launching fills in addresses and numbers."""
import ctypes
from ctypes import byref, c_int64, c_uint64, c_void_p

from . import _library as lib
from ._array import (describe, is_gpu_array, module_of, pack, pack_texture,
                     stream_of, view_of)
from ._driver import Current, Memory, driver
from ._library import Error
from ._looks import STREAMS

ALIGNMENT = 16


def bytes_of(choice, k):
    out = c_int64()
    if lib.library().argument_bytes(byref(choice), k, byref(out)):
        raise Error("the spec gives no size for argument %d here" % k)
    return out.value


class Frame:
    """What shmtune_launch is given: pointers to values."""

    def __init__(self, plan):
        count = plan.count
        self.values = (c_uint64 * max(count, 1))()
        self.pointers = (c_void_p * max(count, 1))()
        base = ctypes.addressof(self.values)
        for k in plan.slots:
            self.pointers[k] = base + 8 * k
        self.address = ctypes.addressof(self.pointers)
        self.message = lib.Message()
        self.message_at = byref(self.message)


class Plan:
    """A function with all that does not change from call to call."""

    def __init__(self, kernel, function, context, choice, arrays, anywhere,
                 arguments):
        self.anywhere = anywhere    # no array says on which device it is
        self.kernel, self.function, self.context = kernel, function, context
        self.count = len(kernel._arguments)
        self.choice = choice
        self.positions, self.slots, self.odd = [], [], []
        self.workspaces, self.held = {}, {}
        for p, (argument, x) in enumerate(zip(kernel._positions, arguments)):
            if x is None:
                continue
            if argument.role in lib.BUFFERS:
                self.positions.append((p, argument.index))
                self.slots.append(argument.index)
            else:
                self.odd.append((p, argument))
        self.needed = []
        for argument in kernel._arguments:
            if argument.role != lib.WORKSPACE:
                continue
            bytes_ = bytes_of(choice, argument.index)
            if bytes_ > 0:
                self.needed.append((argument, bytes_))
                self.slots.append(argument.index)
        self._frames = []
        self._launch = lib.library().launch

    def launch(self, arguments, pointers, stream, context, given=None):
        if stream is None:
            stream = _current_stream(arguments, pointers, self.positions)
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = Frame(self)
        values, bits = frame.values, 0
        for p, index in self.positions:
            pointer = pointers[p]
            if pointer is None:
                pointer = self._pointer(arguments[p], stream)
            bits |= pointer
            values[index] = pointer
        if bits & ALIGNMENT - 1:
            self._refuse_place(values)
        if context == self.context:
            status = self._go(frame, arguments, stream, given)
        else:
            with Current(self.context):
                status = self._go(frame, arguments, stream, given)
        if status:
            lib.check(status, frame.message)
        self._frames.append(frame)

    def _go(self, frame, arguments, stream, given):
        keep = None
        if self.needed:
            self._put_workspaces(frame, stream, arguments, given or {})
        if self.odd:
            keep = self._put_odd(frame, arguments, stream)
        status = self._launch(self.function, frame.address, stream,
                              frame.message_at)
        del keep
        return status

    def _pointer(self, x, stream):
        """Of an array that is asked anew at each call.  One that DLPack lends
        is held until the next call, when its work is before that on the
        stream."""
        found = describe(x, stream)
        if found.hold is not None:
            self.held.setdefault(stream, []).append(found.hold)
            del self.held[stream][:-16]
        # 1 is the legacy default stream, as 0 is.
        if found.stream is not None and (
                found.stream != (stream or 1)):
            driver().synchronize(found.stream)
        return found.pointer

    def _refuse_place(self, values):
        name = [self.kernel._arguments[index].name
                for _, index in self.positions if values[index] % ALIGNMENT]
        raise Error("%s: argument %s begins at an address that is no multiple "
                    "of %d bytes; give its copy" % (self.kernel.name, name[0],
                                                    ALIGNMENT))

    def _put_workspaces(self, frame, stream, arguments, given):
        mine = None
        for k, (argument, bytes_) in enumerate(self.needed):
            if argument.name in given:
                frame.values[argument.index] = describe(
                    given[argument.name], stream).pointer
                continue
            if mine is None:
                mine = self.workspaces.get(stream)
                if mine is None:
                    mine = [_allocate(arguments, b, stream)
                            for _, b in self.needed]
                    self.workspaces[stream] = mine
                    self.kernel._library._held.extend(
                        (self.context, made.close) for _, made in mine
                        if isinstance(made, Memory))
            frame.values[argument.index] = mine[k][0]

    def _put_odd(self, frame, arguments, stream):
        """Numbers, textures, arrays by value, variables of the source."""
        keep = []
        for p, argument in self.odd:
            x, index = arguments[p], argument.index
            if argument.role == lib.SCALAR:
                bytes_ = pack(argument.type, x, self.kernel.name,
                              argument.name)
                self._put_number(frame, index, bytes_)
                continue
            if argument.role == lib.TEXTURE:
                self._put_number(frame, index, pack_texture(
                    x, self.kernel.name, argument.name))
                continue
            if argument.role == lib.SYMBOL:
                self._fill(argument, x, stream, keep)
                continue
            view = view_of(x)
            buffer = (ctypes.c_char * view.nbytes).from_buffer_copy(
                view.cast("B") if view.ndim else view)
            keep.append(buffer)
            frame.pointers[index] = ctypes.addressof(buffer)
        return keep

    @staticmethod
    def _put_number(frame, index, bytes_):
        frame.values[index] = int.from_bytes(bytes_, "little")
        frame.pointers[index] = ctypes.addressof(frame.values) + 8 * index

    def _fill(self, argument, x, stream, keep):
        if is_gpu_array(x):
            found = describe(x, stream)
            address, bytes_ = found.pointer, (found.count
                                              * argument.element_bytes)
            keep.append(found)
        else:
            view = view_of(x)
            bytes_ = view.nbytes
            buffer = (ctypes.c_char * bytes_).from_buffer_copy(
                view.cast("B") if view.ndim else view)
            keep.append(buffer)
            address = ctypes.addressof(buffer)
        message = lib.Message()
        lib.check(lib.library().fill(self.function, argument.index, address,
                                     bytes_, stream, byref(message)), message)


def _allocate(arguments, bytes_, stream):
    """(address, what keeps it): by the library of the arguments, which is told
    the stream, else by the driver."""
    for x in arguments:
        if module_of(x) == "torch" and x.is_cuda:
            import torch
            # The number 0 would be a new stream.
            theirs = (torch.cuda.ExternalStream(stream, x.device) if stream
                      else torch.cuda.default_stream(x.device))
            with torch.cuda.stream(theirs):
                made = torch.empty(bytes_, dtype=torch.uint8, device=x.device)
            return made.data_ptr(), made
        if module_of(x) == "cupy" and hasattr(x, "device"):
            import cupy
            with x.device, (cupy.cuda.ExternalStream(stream) if stream
                            else cupy.cuda.Stream.null):
                made = cupy.empty(bytes_, cupy.uint8)
            return made.data.ptr, made
    made = Memory(driver(), bytes_)
    return made.pointer, made


def _current_stream(arguments, pointers, positions):
    """Of the library of the first array."""
    for p, _ in positions:
        x = arguments[p]
        kind = STREAMS.get(type(x))
        if kind is not None:
            return kind(x)
        # An array that has named no stream is on the legacy default one.
        return 0 if pointers[p] is not None else stream_of(x, describe(x))
    return 0
