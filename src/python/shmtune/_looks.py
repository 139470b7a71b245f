# SPDX-License-Identifier: MIT
"""What every call asks of its arguments: for each type a function that gives
(key, address), made when the type is first seen.

A key says what a plan depends on: type, shape, order, device.  It is NUMBER for
a number.  An address is None where it has to be asked for in another way at
each call.
"""
from ._array import describe, is_gpu_array, view_of

NUMBER = object()


def look_at(x):
    return (LOOKS.get(type(x)) or look_for(type(x)))(x)


def _look_nothing(x):
    return None, None


def _look_number(x):
    return NUMBER, None


def _look_interface(x):
    said = x.__cuda_array_interface__
    strides = said.get("strides")
    stream = said.get("stream")
    try:
        return ((said["typestr"], said["shape"],
                 None if strides is None else tuple(strides)),
                said["data"][0] if stream is None else None)
    except KeyError:
        describe(x)     # says what is missing
        raise


def _look_dlpack(x):
    # Its device, type and shape by names that arrays have; all is checked.
    kind, device = x.__dlpack_device__()
    return ((device, kind, str(getattr(x, "dtype", id(x))),
             tuple(getattr(x, "shape", (id(x),)))), None)


def _look_host(x):
    view = view_of(x)
    if view is None:
        return type(x), None    # whose plan is refused, with the argument
    if view.ndim == 0:
        return NUMBER, None
    return (view.format, view.shape, view.c_contiguous), None


def look_for(kind):
    """The look for a type, which is remembered."""
    look = None
    if kind.__module__.partition(".")[0] == "torch":
        import torch
        if issubclass(kind, torch.Tensor):
            look, STREAMS[kind] = _torch_looks(torch)
    elif kind.__module__.partition(".")[0] == "cupy":
        import cupy
        if issubclass(kind, cupy.ndarray):
            look, STREAMS[kind] = _cupy_looks(cupy)
    if look is None:
        look = (_look_interface if hasattr(kind, "__cuda_array_interface__")
                else _look_any)
    LOOKS[kind] = look
    return look


def _look_any(x):
    if hasattr(x, "__cuda_array_interface__"):
        return _look_interface(x)
    if is_gpu_array(x):
        return _look_dlpack(x)
    return _look_host(x)


def _torch_looks(torch):
    def look(x):
        if x.is_cuda:
            return ((x.get_device(), x.dtype, x.shape, x.is_contiguous()),
                    x.data_ptr())
        return (-1, x.dtype, x.shape, x.is_contiguous()), None

    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def stream(x):
        if raw is not None:
            return raw(x.get_device())
        return torch.cuda.current_stream(x.device).cuda_stream

    return look, stream


def _cupy_looks(cupy):
    current = cupy.cuda.get_current_stream

    def look(x):
        data = x.data
        return ((data.device_id, x.dtype, x.shape, x.flags.c_contiguous),
                data.ptr)

    return look, lambda x: current().ptr


LOOKS = {int: _look_number, float: _look_number, bool: _look_number,
          type(None): _look_nothing}
STREAMS = {}
