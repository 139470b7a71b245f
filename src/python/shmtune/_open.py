# SPDX-License-Identifier: MIT
"""open(path).kernel("transpose")(out, x): kernels, launched as they were tuned.

A call is looked up by the types and shapes of its arguments.  The first of a
kind is checked in full, its configuration chosen and its binary loaded; what
comes out is a plan, and every later call of that kind only fills in addresses
and launches.
"""
import ctypes
import functools
import weakref
from ctypes import byref, c_int64, c_void_p

from . import _library as lib
from ._array import (Array, describe, element, handle_of, is_gpu_array, pack,
                     pack_texture, view_of, whole)
from ._driver import Current, driver
from ._library import Error
from ._looks import LOOKS, look_at, look_for
from ._plan import Plan, bytes_of
from ._sizes import Count, infer


def open(path=None):
    """Reads the kernels and tunings of a folder, or of several with ':'
    between them; None: of the usual ones, and those of this package.  What
    was left out, and why, is in `notes`."""
    return Library(path)


class Library:
    """What shmtune.open returns."""

    def __init__(self, path=None):
        functions = lib.library()
        handle, message = c_void_p(), lib.Message()
        path = lib.encoded(lib.search_path() if path is None else path,
                           "path")
        lib.check(functions.open(path, byref(handle), byref(message)), message)
        self._opened = handle
        self._kernels = {}
        self._held = []     # (context, what gives something of it back)
        self._close = weakref.finalize(self, _close, handle, self._held)
        self._close.atexit = False

    @property
    def _handle(self):
        if not self._close.alive:
            raise Error("the library is closed; open it again")
        return self._opened

    @property
    def notes(self):
        """What was left out when it was opened, a sentence each."""
        count = lib.library().note_count(self._handle)
        return [lib.text(lib.library().note(self._handle, k))
                for k in range(count)]

    @property
    def kernels(self):
        """The names of all kernels."""
        functions = lib.library()
        return [lib.text(functions.kernel_name(
                    functions.kernel_at(self._handle, k)))
                for k in range(functions.kernel_count(self._handle))]

    def kernel(self, name):
        """A kernel by the name in its spec, to be called."""
        word = lib.encoded(name, "the name of a kernel")
        if word not in self._kernels:
            found = lib.library().kernel_find(self._handle, word)
            if not found:
                why = [n for n in self.notes if str(name) in n]
                raise Error("no kernel \"%s\"; there are: %s%s" % (
                    name, ", ".join(self.kernels) or "none",
                    "".join("; " + n for n in why)), lib.NOT_FOUND)
            # Another thread's, where it was first.
            return self._kernels.setdefault(word, Kernel(self, found))
        return self._kernels[word]

    def close(self):
        """Waits for the device, then gives everything back, also where that
        fails, which raises Error.  No kernel of it can be called any more."""
        for kernel in self._kernels.values():
            kernel._plans.clear()
        self._kernels.clear()
        self._close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _close(handle, held):
    """All of it, whatever the driver says of a part: raised at the end."""
    errors = []

    def attempt(call, *arguments):
        try:
            call(*arguments)
        except Error as error:
            errors.append(error)

    for context in {c for c, _ in held}:
        before = driver().context()
        attempt(driver().set_current, context)
        attempt(driver().synchronize_context)
        for mine, give_back in held:
            if mine == context:
                attempt(give_back)
        attempt(driver().set_current, before)
    held.clear()
    lib.library().close(handle)
    if errors:
        raise errors[0]


class _Argument:
    """One of the spec, as the library tells it."""

    def __init__(self, kernel, k, dimensions):
        said = lib.sized(lib.Argument)
        lib.library().argument_at(kernel, k, byref(said))
        self.index, self.name = k, lib.text(said.name)
        self.type, self.role = lib.text(said.type), said.role
        self.element_bytes = said.element_bytes
        self.value = lib.text(said.value)
        count = lib.text(said.count)
        self.count = None if count is None else Count(count, dimensions)
        # A number that is a dimension's size.
        self.sizing = self.value if self.value in dimensions else None


class Kernel:
    """A kernel of a library.  Calling it launches it:

        kernel(out, x)                      on the current stream
        kernel(out, x, stream=stream)       on that one
        kernel(out, x, rows=64, cols=32)    with sizes that the shapes do not
                                            tell

    Arguments stand in the order of the spec's `arguments`, without workspaces,
    which are allocated where none is given by its name.  What is left out, or
    None, is the spec's own where it is a number, a pointer or a struct.
    """

    def __init__(self, library, handle):
        functions = lib.library()
        self._library, self._found = library, handle
        self.name = lib.text(functions.kernel_name(handle))
        self.summary = lib.text(functions.kernel_summary(handle))
        self.dimensions = {}
        for k in range(functions.dimension_count(handle)):
            said = lib.sized(lib.Dimension)
            functions.dimension_at(handle, k, byref(said))
            self.dimensions[lib.text(said.name)] = (said.fallback, said.low,
                                                    said.high)
        self.parameters = [
            lib.text(functions.parameter_name(handle, k))
            for k in range(functions.parameter_count(handle))]
        self._arguments = [_Argument(handle, k, self.dimensions)
                           for k in range(functions.argument_count(handle))]
        self._positions = [a for a in self._arguments
                           if a.role != lib.WORKSPACE]
        self._sizings = {k for k, a in enumerate(self._positions) if a.sizing}
        self._named = {a.name: a for a in self._arguments}
        self._loaded = []       # (context, function)
        self._plans = {}

    @property
    def _handle(self):
        """Of the library, which has to be open."""
        return self._found if self._library._handle else None

    @property
    def arguments(self):
        """The names of what a call takes, in its order."""
        return [a.name for a in self._positions]

    def __repr__(self):
        return "<shmtune kernel %s(%s)>" % (self.name,
                                            ", ".join(self.arguments))

    # -- without a GPU, too ---------------------------------------------------

    def select(self, device=None, **sizes):
        """What would be launched at these sizes: a dictionary with `config`,
        `match`, `reason`, `time_us`, `default_us`, `launches`.  A device is
        one of the driver's numbers, or "sm_90"; None: the current one."""
        choice = self._choose(_device(device), self._problem(sizes))
        return _told(self, choice)

    def explain(self, device=None, **sizes):
        """The tunings that are considered, best first, as text."""
        struct = _device(device)
        problem = self._problem(sizes)
        room = lib.library().explain(self._handle, byref(struct), problem,
                                     None, 0) + 1
        text = ctypes.create_string_buffer(room)
        lib.library().explain(self._handle, byref(struct), problem, text, room)
        return text.value.decode("utf-8", "replace")

    def _problem(self, sizes):
        for name in sizes:
            if name not in self.dimensions:
                raise Error("%s has no dimension %s; it has: %s" % (
                    self.name, name, ", ".join(self.dimensions) or "none"))
        return (c_int64 * lib.DIMENSIONS)(*[
            self._size(n, sizes[n]) if n in sizes else d[0]
            for n, d in self.dimensions.items()])

    def _size(self, name, x):
        return whole(x, "%s: the size %s" % (self.name, name))

    def _choose(self, device, problem):
        choice = lib.sized(lib.Choice)
        status = lib.library().select(self._handle, byref(device), problem,
                                      byref(choice))
        if status:
            raise Error(self._why(device, problem) or "%s: %s" % (
                self.name, lib.STATUSES.get(status)), status)
        return choice

    def _why(self, device, problem):
        text = ctypes.create_string_buffer(2048)
        lib.library().explain(self._handle, byref(device), problem, text, 2048)
        return text.value.decode("utf-8", "replace").strip()

    # -- the hot path ---------------------------------------------------------

    def __call__(self, *arguments, stream=None, **named):
        if stream is not None and (type(stream) is not int
                                   or not 0 <= stream < 2**64):
            stream = handle_of(stream)
        if named:
            return self._call_named(arguments, named, stream)
        key, pointers = [], []
        for x in arguments:
            try:
                part, pointer = LOOKS[type(x)](x)
            except KeyError:
                part, pointer = look_for(type(x))(x)
            if len(key) in self._sizings:
                part = self._sizing(len(key), x)
            key.append(part)
            pointers.append(pointer)
        key = tuple(key)
        context = _context()
        plan = self._plans.get(key)
        if plan is None or (plan.context != context and plan.anywhere):
            plan = self._planned(key, context, arguments, {}, {}, stream)
        plan.launch(arguments, pointers, stream, context)

    def _sizing(self, k, x):
        """What a plan depends on of a number that is a dimension's size: the
        number, whatever holds it."""
        if x is None or type(x) is int:
            return x
        return self._size(self._positions[k].sizing, x)

    def _planned(self, key, context, arguments, given, sizes, stream):
        """The plan for a call that was not seen, or not in this context: where
        no array says its device, the current context does."""
        plan = self._plans.get((key, context))
        if plan is None:
            plan = self._plan(arguments, given, sizes, stream)
            self._plans[key] = self._plans[key, plan.context] = plan
        return plan

    def _call_named(self, arguments, named, stream):
        given, sizes = {}, {}
        for name, x in named.items():
            if name in self._named:
                argument = self._named[name]
                if argument in self._positions[:len(arguments)]:
                    raise Error("%s: %s is given twice" % (self.name, name))
                given[name] = x
            elif name in self.dimensions:
                sizes[name] = self._size(name, x)
            else:
                raise Error("%s has neither an argument nor a dimension %s; "
                            "it has %s, and %s" % (
                                self.name, name, ", ".join(self._named),
                                ", ".join(self.dimensions) or "no dimension"))
        every = list(arguments)
        for argument in self._positions[len(arguments):]:
            x = given.pop(argument.name, None)
            # A scalar may have the name of its dimension.
            if x is not None and argument.sizing == argument.name:
                sizes[argument.name] = self._size(argument.name, x)
            every.append(x)
        looks = [look_at(x) for x in every]
        key = (tuple(self._sizing(k, x) if k in self._sizings else part
                     for k, ((part, _), x) in enumerate(zip(looks, every))),
               tuple((n, look_at(x)[0]) for n, x in given.items()),
               tuple(sizes.items()))
        context = _context()
        plan = self._plans.get(key)
        if plan is None or (plan.context != context and plan.anywhere):
            plan = self._planned(key, context, every, given, sizes, stream)
        plan.launch(every, [pointer for _, pointer in looks], stream, context,
                    given)

    # -- a plan ---------------------------------------------------------------

    def _plan(self, arguments, given, sizes, stream):
        if len(arguments) > len(self._positions):
            raise Error("%s takes %d arguments, %d are given: %s" % (
                self.name, len(self._positions), len(arguments),
                ", ".join(self.arguments)))
        arrays = {}
        for argument, x in list(zip(self._positions, arguments)) + [
                (self._named[n], x) for n, x in given.items()]:
            if x is not None:
                arrays[argument] = self._look(argument, x, stream)
        sizes = self._sizes(arguments, arrays, sizes)
        device = self._device(arrays)
        context = driver().context()
        if context is None or device not in (None, driver().ordinal()):
            context = driver().primary(device or 0)
        with Current(context):
            struct = lib.device()
            problem = self._problem(sizes)
            choice = self._choose(struct, problem)
            self._check_sizes(choice, arrays, sizes)
            function = self._prepare(choice, context)
        return Plan(self, function, context, choice, arrays, device is None,
                     arguments)

    def _look(self, argument, x, stream):
        """An Array of a buffer; of a value or a symbol a memoryview, or an
        Array."""
        where = "%s: argument %s" % (self.name, argument.name)
        if argument.role in lib.BUFFERS or (argument.role == lib.SYMBOL
                                            and is_gpu_array(x)):
            try:
                found = describe(x, stream)
            except Error as error:
                raise Error("%s is %s" % (where, error)) from None
            self._check_type(argument, found.word)
            if not found.contiguous:
                raise Error("%s is not contiguous; give its copy in the order "
                            "of C" % where)
            return found
        if argument.role in (lib.VALUE, lib.SYMBOL):
            view = view_of(x)
            if view is None:
                raise Error("%s is a %s; expected an array of the host" % (
                    where, type(x).__name__))
            self._check_type(argument, element(x, view))
            if not view.c_contiguous:
                raise Error("%s is not contiguous" % where)
            return view
        if argument.role == lib.SCALAR:
            pack(argument.type, x, self.name, argument.name)
            return None
        if argument.role == lib.TEXTURE:
            pack_texture(x, self.name, argument.name)
            return None
        raise Error("%s is a %s, which the library makes of the spec; leave it "
                    "out" % (where, argument.type))

    def _check_type(self, argument, word):
        if argument.role == lib.WORKSPACE or argument.type in (word, "bytes"):
            return
        raise Error("%s: argument %s has elements of type %s, the kernel's are "
                    "%s" % (self.name, argument.name,
                            word or "that shmtune does not have",
                            argument.type))

    def _sizes(self, arguments, arrays, sizes):
        known = dict(sizes)
        for argument, x in zip(self._positions, arguments):
            if argument.sizing and x is not None:
                known.setdefault(argument.sizing,
                                 self._size(argument.sizing, x))
        order = (lib.INPUT, lib.VALUE, lib.SYMBOL, lib.INOUT, lib.OUTPUT)
        told = sorted(((a, x) for a, x in arrays.items()
                       if a.role in order and a.count is not None),
                      key=lambda pair: order.index(pair[0].role))
        return infer(self.dimensions, known,
                     [(a.count, x.shape) for a, x in told])

    def _device(self, arrays):
        first = None
        for argument, x in arrays.items():
            if not isinstance(x, Array) or x.device is None:
                continue
            if first is None:
                first = argument, x.device
            elif x.device != first[1]:
                raise Error("%s: argument %s is on device %d, %s on device %d"
                            % (self.name, first[0].name, first[1],
                               argument.name, x.device))
        return None if first is None else first[1]

    def _check_sizes(self, choice, arrays, sizes):
        at = " ".join("%s=%d" % pair for pair in sizes.items())
        for argument, x in arrays.items():
            if x is None:
                continue
            wanted = bytes_of(choice, argument.index)
            have = (x.count * argument.element_bytes
                    if isinstance(x, Array) else x.nbytes)
            if have == wanted or wanted == 0 or (
                    argument.role == lib.WORKSPACE and have > wanted):
                continue
            raise Error(
                "%s: argument %s has %d elements (%s), at %s it has %d; what "
                "the shapes do not tell is given by name: %s" % (
                    self.name, argument.name, have // argument.element_bytes,
                    " x ".join(map(str, x.shape)) or "1", at or "any size",
                    wanted // argument.element_bytes,
                    ", ".join(n + "=..." for n in self.dimensions)))
        for argument in self._positions:
            if (argument not in arrays and argument.role in lib.BUFFERS
                    + (lib.VALUE, lib.TEXTURE) and bytes_of(choice, argument.index)):
                raise Error("%s: argument %s is missing; it takes: %s" % (
                    self.name, argument.name, ", ".join(self.arguments)))

    def _prepare(self, choice, context):
        """A function: of a binary that is loaded, where one serves."""
        functions, out, message = lib.library(), c_void_p(), lib.Message()
        mine = [f for c, f in self._loaded if c == context]
        for function in mine[:-9:-1]:
            if functions.resize(function, byref(choice), byref(out),
                                byref(message)) == 0:
                break
        else:
            lib.check(functions.prepare(byref(choice), lib.ALLOW_COMPILE,
                                        byref(out), byref(message)), message)
        self._loaded.append((context, out))
        self._library._held.append(
            (context, functools.partial(functions.release, out)))
        return out


def _told(kernel, choice):
    config, launches = {}, []
    for name in kernel.parameters:
        value = lib.sized(lib.Value)
        lib.library().choice_value(byref(choice), name.encode(), byref(value))
        number = value.number
        config[name] = (lib.text(value.word) if value.word is not None else
                        int(number) if number == int(number) else number)
    while True:
        said = lib.sized(lib.Geometry)
        if lib.library().choice_launch(byref(choice), len(launches),
                                       byref(said)):
            break
        launches.append({"entry": lib.text(said.entry),
                         "grid": tuple(said.grid), "block": tuple(said.block),
                         "shared_dynamic": said.shared_dynamic})
    return {
        "config": config, "match": lib.MATCHES[choice.match],
        "reason": lib.text(choice.reason), "file": lib.text(choice.file),
        "time_us": choice.time_us if choice.time_us >= 0 else None,
        "default_us": choice.default_us if choice.default_us >= 0 else None,
        "launches": launches,
    }


def _device(which):
    if which is None:
        which = lib.CURRENT_DEVICE
    return lib.device(which if isinstance(which, str) else
                      whole(which, "device", lib.CURRENT_DEVICE, 2**31 - 1))


def _context():
    return driver().context()
