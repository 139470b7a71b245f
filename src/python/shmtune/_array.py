# SPDX-License-Identifier: MIT
"""What an argument of a call is: where it lies, what its elements are, and on
which stream its library works.

    describe(x)     of a GPU's array: an Array
    element(x)      of an array or a number of the host: "f32"
    stream_of(x)    the current stream of the array's library

PyTorch and CuPy are asked by their own attributes, which is what makes a call
cheap; anything else by __cuda_array_interface__ or by DLPack.
"""
import ctypes
import struct
import sys

from ._library import Error

# The letters of a typestr, of DLPack and of the module struct.
_WORDS = {"f2": "f16", "f4": "f32", "f8": "f64", "i1": "i8", "u1": "u8",
          "i2": "i16", "u2": "u16", "i4": "i32", "u4": "u32", "i8": "i64",
          "u8": "u64", "b1": "bool"}
_LETTERS = {"b": "i", "h": "i", "i": "i", "l": "i", "q": "i", "n": "i",
            "B": "u", "H": "u", "I": "u", "L": "u", "Q": "u", "N": "u",
            "e": "f", "f": "f", "d": "f", "?": "b"}
_TORCH = {"float16": "f16", "bfloat16": "bf16", "float32": "f32",
          "float64": "f64", "float8_e4m3fn": "f8e4m3",
          "float8_e5m2": "f8e5m2", "int8": "i8", "uint8": "u8",
          "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32",
          "int64": "i64", "uint64": "u64", "bool": "bool"}
_DLPACK = {0: "i", 1: "u", 2: "f", 6: "b"}
_CUDA, _CUDA_MANAGED = 2, 13


class Array:
    """A GPU's array.  `device` is CUDA's number, None where the array does not
    say it; `hold` is what keeps the memory."""
    __slots__ = ("pointer", "word", "shape", "contiguous", "device", "stream",
                 "hold")

    def __init__(self, pointer, word, shape, contiguous, device, stream,
                 hold=None):
        self.pointer, self.word, self.shape = pointer, word, shape
        self.contiguous, self.device = contiguous, device
        self.stream, self.hold = stream, hold

    @property
    def count(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count


def module_of(x):
    return type(x).__module__.partition(".")[0]


def word_of(typestr):
    """"f32" of "<f4"; None: no type of ours."""
    if typestr[:1] == ">" and sys.byteorder == "little":
        return None
    return _WORDS.get(typestr.lstrip("<>|="))


def torch_word(dtype):
    return _TORCH.get(str(dtype).partition(".")[2])


def is_gpu_array(x):
    if module_of(x) == "torch":
        return hasattr(x, "is_cuda") and x.is_cuda
    return hasattr(x, "__cuda_array_interface__") or (
        hasattr(x, "__dlpack_device__")
        and x.__dlpack_device__()[0] in (_CUDA, _CUDA_MANAGED))


def describe(x, stream=None):
    """An Array of a GPU's array, or raises Error saying what x is."""
    module = module_of(x)
    if module == "torch" and hasattr(x, "is_cuda"):
        if not x.is_cuda:
            raise Error("a tensor on %s, not on a GPU; give x.cuda()"
                        % x.device)
        return Array(x.data_ptr(), torch_word(x.dtype), tuple(x.shape),
                     x.is_contiguous(), x.device.index, None)
    if module == "cupy" and hasattr(x, "flags"):
        return Array(x.data.ptr, word_of(x.dtype.str), x.shape,
                     x.flags.c_contiguous, x.device.id, None)
    if hasattr(x, "__cuda_array_interface__"):
        return _by_interface(x)
    if hasattr(x, "__dlpack__"):
        return _by_dlpack(x, stream)
    raise Error("%s, no array of a GPU: it has neither "
                "__cuda_array_interface__ nor __dlpack__" % _name(x))


def _name(x):
    kind = type(x)
    return ("a %s" % kind.__name__ if kind.__module__ == "builtins" else
            "a %s.%s" % (kind.__module__, kind.__qualname__))


def _by_interface(x):
    said = x.__cuda_array_interface__
    try:
        kind, shape, data = said["typestr"], said["shape"], said["data"]
    except KeyError as missing:
        raise Error("%s, whose __cuda_array_interface__ has no %s"
                    % (_name(x), missing)) from None
    strides = said.get("strides")
    if said.get("mask") is not None:
        raise Error("a masked array; the kernel sees its data alone")
    return Array(data[0] or 0, word_of(kind), tuple(shape),
                 strides is None or _is_dense(shape, strides, int(kind[2:])),
                 None, said.get("stream"))


def _is_dense(shape, strides, step):
    """By strides in the unit of `step`: the order of C, without gaps."""
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != step:
            return 0 in shape
        step *= extent
    return True


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int),
                ("device_id", ctypes.c_int), ("rank", ctypes.c_int),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)


def _by_dlpack(x, stream):
    """The capsule is held while it is read; it is not consumed, and frees what
    it has by itself."""
    kind, device = x.__dlpack_device__()
    if kind not in (_CUDA, _CUDA_MANAGED):
        raise Error("%s on no GPU of CUDA (DLPack's device %d); give its copy "
                    "on the GPU" % (_name(x), kind))
    # 1: the legacy default stream; the producer puts its work before ours.
    try:
        capsule = x.__dlpack__(stream=stream or 1)
    except (BufferError, RuntimeError, ValueError) as error:
        raise Error("%s, which is not lent by DLPack: %s"
                    % (_name(x), error)) from None
    tensor = _Tensor.from_address(_pointer_of(capsule, b"dltensor"))
    shape = tuple(tensor.shape[k] for k in range(tensor.rank))
    dense = not tensor.strides or _is_dense(
        shape, [tensor.strides[k] for k in range(tensor.rank)], 1)
    letter = _DLPACK.get(tensor.code, "?")
    word = ("bf16" if (tensor.code, tensor.bits) == (4, 16) else
            _WORDS.get(letter + str(max(tensor.bits // 8, 1))))
    if tensor.lanes != 1:
        word = None
    return Array((tensor.data or 0) + tensor.byte_offset, word, shape, dense,
                 device, None, capsule)


# -- the host's ---------------------------------------------------------------

def view_of(x):
    """A memoryview of an array or a number of the host; None: it is none.  A
    GPU's array, or a tensor, is copied to the host first."""
    if module_of(x) == "torch":
        x = x.detach().cpu()
        if torch_word(x.dtype) in ("bf16", "f8e4m3", "f8e5m2"):
            import torch
            x = x.view(torch.int16 if x.element_size() == 2 else torch.int8)
        x = x.numpy()
    elif module_of(x) == "cupy" and hasattr(x, "get"):
        x = x.get()
    elif hasattr(x, "copy_to_host"):
        x = x.copy_to_host()
    elif module_of(x) in ("jax", "jaxlib"):
        import numpy
        x = numpy.asarray(x)
    try:
        return memoryview(x)
    except TypeError:
        return None
    except ValueError as error:     # NumPy's dates, ml_dtypes
        raise Error("%s has elements that shmtune does not have: %s"
                    % (_name(x), error)) from None


def element(x, view):
    """"f32"; None: no type of ours."""
    if module_of(x) == "torch" and hasattr(x, "dtype"):
        return torch_word(x.dtype)
    letter = _LETTERS.get(view.format.lstrip("<=@|"))
    if letter is None or view.format[:1] in (">", "!"):
        return None
    return _WORDS.get("%s%d" % (letter, view.itemsize))


def number_of(x, view):
    """The Python number of what has no axes."""
    if hasattr(x, "item"):
        return x.item()
    return struct.unpack(view.format, view.tobytes())[0]


# -- streams ------------------------------------------------------------------

def handle_of(stream):
    """The number of a stream: of PyTorch, CuPy, Numba, cuda-python, an int."""
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        said = stream.__cuda_stream__
        return int((said() if callable(said) else said)[1])
    if hasattr(stream, "__index__"):
        return whole(stream, "stream", 0, 2**64 - 1)
    value = getattr(getattr(stream, "handle", None), "value", None)
    if hasattr(stream, "handle") and (value is None or isinstance(value, int)):
        return value or 0
    raise Error("stream is %s; expected a stream, or its number"
                % _name(stream))


def stream_of(x, array):
    """The stream on which the library of x works now."""
    module = module_of(x)
    if module == "torch":
        import torch
        return torch.cuda.current_stream(array.device).cuda_stream
    if module == "cupy":
        import cupy
        return cupy.cuda.get_current_stream().ptr
    return array.stream or 0


# -- numbers ------------------------------------------------------------------

_FORMATS = {"f16": "e", "f32": "f", "f64": "d", "i8": "b", "u8": "B",
            "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q",
            "u64": "Q", "bool": "?"}


def whole(x, what, low=-2**63, high=2**63 - 1):
    """The int that a number is, of Python or of NumPy: ctypes would pass the
    lowest bits of one that is too large."""
    number = None
    if not isinstance(x, bool):
        try:
            number = x.__index__()
        except (AttributeError, TypeError, ValueError):
            if hasattr(x, "is_integer") and x.is_integer():
                number = int(x)
    if number is None:
        raise Error("%s is %.80r; expected a whole number" % (what, x))
    if not low <= number <= high:
        raise Error("%s is %d; expected %d to %d" % (what, number, low, high))
    return number


def pack_texture(x, kernel, name):
    """The bytes of a handle: a number, or of an object that has one as CuPy's
    TextureObject has."""
    handle = getattr(x, "ptr", x)
    try:
        return struct.pack("<Q", handle.__index__())
    except (struct.error, AttributeError, TypeError):
        raise Error("%s: argument %s is %.80r, which is no texture; give the "
                    "number of a cudaTextureObject_t, or cupy.cuda.texture."
                    "TextureObject" % (kernel, name, x)) from None


def pack(word, number, kernel, name):
    """The bytes of a number of the spec's type, for an argument of a kernel."""
    if word not in _FORMATS:
        raise Error("%s: argument %s is a number of type %s, which cannot be "
                    "given from Python; leave it out, and it is the spec's"
                    % (kernel, name, word))
    try:
        if _FORMATS[word] not in "efd":
            number = number.__index__()
        return struct.pack("<" + _FORMATS[word], number)
    except (struct.error, AttributeError, TypeError, OverflowError):
        raise Error("%s: argument %s is %.80r, which is no number of type %s"
                    % (kernel, name, number, word)) from None
