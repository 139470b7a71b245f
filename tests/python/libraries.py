# SPDX-License-Identifier: MIT
"""What the package uses of PyTorch and of CuPy, over the fake driver: modules
of their names, for tests where there is no GPU."""
import sys
import types

from device import Interface


class _Dtype:
    def __init__(self, name, typestr):
        self.name, self.str = name, typestr

    def __repr__(self):
        return "torch." + self.name


class _Device:
    type = "cuda"

    def __init__(self, index):
        self.index = self.id = index

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class _Stream:
    """Of torch.cuda.stream and of cupy's; the innermost is the current one."""
    current = [0]

    def __init__(self, number, device=None):
        self.cuda_stream = self.ptr = number

    def __enter__(self):
        self.current.append(self.cuda_stream)
        return self

    def __exit__(self, *_):
        self.current.pop()


def _external(number, device=None):
    """PyTorch makes a stream of its own of the number 0."""
    return _Stream(number or 77)


class _Array(Interface):
    __cuda_array_interface__ = None     # the attributes are used, or it fails

    def __init_subclass__(cls):
        cls.dtypes = {t: _Dtype(n, t) for n, t in (
            ("float32", "<f4"), ("int32", "<i4"), ("float64", "<f8"),
            ("uint8", "|u1"))}

    def __init__(self, typestr, shape, values=None, device=0, dense=True):
        super().__init__(typestr, shape, values)
        self.dtype, self.dense = self.dtypes[typestr], dense
        self.device = _Device(device)


class Tensor(_Array):
    is_cuda = True

    def get_device(self):
        return self.device.index

    def is_contiguous(self):
        return self.dense

    def data_ptr(self):
        return self.memory.pointer


Tensor.__module__ = "torch"


class ndarray(_Array):
    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.memory.pointer,
                                     device_id=self.device.id)

    @property
    def flags(self):
        return types.SimpleNamespace(c_contiguous=self.dense)


ndarray.__module__ = "cupy"


def torch_module(made):
    torch = types.ModuleType("torch")
    torch.Tensor = Tensor
    torch.uint8 = Tensor.dtypes["|u1"]

    def empty(bytes_, dtype, device):
        made.append(_Stream.current[-1])
        return Tensor("<i4", (-(-bytes_ // 4),))

    torch.empty = empty
    torch._C = types.SimpleNamespace(
        _cuda_getCurrentRawStream=lambda device: _Stream.current[-1])
    torch.cuda = types.SimpleNamespace(
        ExternalStream=_external, stream=lambda stream: stream,
        default_stream=lambda device: _Stream(0),
        current_stream=lambda device: _Stream(_Stream.current[-1]))
    return torch


def cupy_module(made):
    cupy = types.ModuleType("cupy")
    cupy.ndarray = ndarray
    cupy.uint8 = None

    def empty(bytes_, dtype):
        made.append(_Stream.current[-1])
        return ndarray("<i4", (-(-bytes_ // 4),))

    cupy.empty = empty
    cupy.cuda = types.SimpleNamespace(
        ExternalStream=_external,
        Stream=types.SimpleNamespace(null=_Stream(0)),
        get_current_stream=lambda: _Stream(_Stream.current[-1]))
    return cupy


class Instead:
    """The modules stand in the place of what is installed; `made` has the
    stream of each allocation."""

    def __enter__(self):
        self.made = []
        self._kept = {n: sys.modules.get(n) for n in ("torch", "cupy")}
        sys.modules["torch"] = torch_module(self.made)
        sys.modules["cupy"] = cupy_module(self.made)
        return self

    def __exit__(self, *_):
        from shmtune import _looks
        for name, module in self._kept.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
        for kind in (Tensor, ndarray):
            _looks.LOOKS.pop(kind, None)
            _looks.STREAMS.pop(kind, None)


stream = _Stream
