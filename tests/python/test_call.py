# SPDX-License-Identifier: MIT
"""Calls of kernels with arrays, on the fake driver."""
import array
import ctypes
import os
import threading

import shmtune
from device import (Case, Interface, Packed, driver, folder, texture_of)
from shmtune._driver import Memory

UNWRITTEN = 9    # of tests/fake/fake_kernel.h: the last element is left out


class Call(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = shmtune.open(folder("fake_kernel", "fake_value",
                                          "fake_symbol", "fake_texture"))
        cls.kernel = cls.library.kernel("fake_kernel")

    def arrays(self, n=1000, kind=Interface):
        return (kind("<f4", (n,)),
                kind("<f4", (n,), [i * 0.5 for i in range(n)]),
                kind("<i4", (n,), range(n)))

    def right(self, out, x, acc, times=1):
        self.assertEqual(out.read(), [2 * v for v in x.read()])
        self.assertEqual(acc.read(), [i + times for i in range(acc.count)])

    def test_interface(self):
        "arrays with __cuda_array_interface__, of several sizes"
        for n in (1000, 10, 777):
            out, x, acc = self.arrays(n)
            for _ in range(3):
                self.kernel(out, x, acc)
            self.right(out, x, acc, 3)

    def test_dlpack(self):
        "arrays with DLPack; the producer is told the stream"
        out, x, acc = self.arrays(kind=Packed)
        self.kernel(out, x, acc)
        self.right(out, x, acc)
        self.assertEqual(set(x.streams), {1})
        # A number of a stream that is no stream of the fake driver's is only
        # passed on here.
        self.kernel(out, x, acc, stream=0)
        self.right(out, x, acc, 2)

    def test_shape(self):
        "any shape with as many elements, by the name of the size"
        out, x, acc = (Interface("<f4", (20, 50)),
                       Interface("<f4", (20, 50), [1.0] * 1000),
                       Interface("<i4", (20, 50), range(1000)))
        self.kernel(out, x, acc)
        self.right(out, x, acc)

    def test_numbers(self):
        "numbers by position and by name; None is the spec's own"
        out, x, acc = self.arrays()
        self.kernel(out, x, acc, 1000)
        self.kernel(out, x, acc, None, 0, 20)
        self.kernel(out, x, acc, n=1000)
        self.kernel(out, x, acc, cost=50)
        self.right(out, x, acc, 4)
        # A fault of the kernel's that makes it leave out one element.
        self.kernel(out, x, acc, None, UNWRITTEN)
        self.assertNotEqual(acc.read()[-1], 1000 + 4)

    def test_whole(self):
        "a size is a whole number that fits, however it is given"
        class Number(ctypes.c_int32):
            """As NumPy's arrays without axes: in a buffer, and no key."""
            __hash__ = None

            def __index__(self):
                return self.value

        out, x, acc = self.arrays()
        self.kernel(out, x, acc, n=Number(1000))
        self.kernel(out, x, acc, Number(1000))
        self.right(out, x, acc, 2)
        for n in (2**64 + 1000, 1000.5, True, [1000]):
            self.refuses("the size n is ", self.kernel, out, x, acc, n=n)
        for stream in (2**64, -1, True, 7.5):
            self.refuses("stream is ", self.kernel, out, x, acc,
                         stream=stream)

    def test_workspace(self):
        "a workspace of one's own"
        out, x, acc = self.arrays()
        mine = Interface("<i4", (1,))
        self.kernel(out, x, acc, counter=mine)
        self.right(out, x, acc)
        self.assertEqual(mine.read(), [1])

    def test_value(self):
        "an array that is passed by value; its size is a dimension"
        kernel = self.library.kernel("fake_value")
        # The driver's kernel takes the weights up to a zero.
        for weights in ([1.0, 2.0, 1.0, 0.0], [0.5] * 7 + [0.0]):
            out = Interface("<f4", (100,))
            x = Interface("<f4", (100,), range(100))
            kernel(out, x, array.array("f", weights))
            self.assertEqual(out.read(), [
                sum(w * ((i + t) % 100) for t, w in enumerate(weights))
                for i in range(100)])

    def test_symbol(self):
        "a variable of the source is filled before the launch"
        kernel = self.library.kernel("fake_symbol")
        self.assertIn("weights", kernel.arguments)
        said = {a.name: a for a in kernel._arguments}
        n = kernel.dimensions["n"][0]
        out, x = Interface("<f4", (n,)), Interface("<f4", (n,), [1.0] * n)
        taps = said["weights"].count.value(
            {d: v[0] for d, v in kernel.dimensions.items()})
        given = {"out": out, "x": x,
                 "weights": array.array("f", [0.25] * taps)}
        more = [name for name in kernel.arguments if name not in given
                and said[name].role in (0, 1, 2, 5, 6)]
        for name in more:
            count = said[name].count.value(
                {d: v[0] for d, v in kernel.dimensions.items()})
            kind = "f" if said[name].type == "f32" else "i"
            given[name] = (array.array(kind, [0] * count)
                           if said[name].role == 6 else
                           Interface("<" + kind + "4", (count,),
                                     [0] * count))
        kernel(**given)
        first = out.read()
        given["weights"] = array.array("f", [0.5] * taps)
        kernel(**given)
        self.assertNotEqual(first, out.read())

    def test_texture(self):
        "a texture is a number, or an object of CuPy's kind; never left out"
        class Texture:
            def __init__(self, ptr):
                self.ptr = ptr

        kernel = self.library.kernel("fake_texture")
        zeros = Interface("<f4", (64,), [0.0] * 64)
        handle = texture_of(zeros)
        names = ("image", "clamped", "table", "volume")
        for given in (handle, Texture(handle)):
            out = Interface("<f4", (3, 53), [7.0] * 159)
            kernel(out, rows=3, cols=53, **{name: given for name in names})
            self.assertEqual(out.read(), [0.0] * 159)
        self.refuses("argument volume is missing; it takes: out", kernel, out,
                     rows=3, cols=53,
                     **{name: handle for name in names[:3]})
        self.refuses("fake_texture: argument image is 'x', which is no "
                     "texture; give the number of a cudaTextureObject_t",
                     kernel, out, image="x", rows=3, cols=53)

    def test_context(self):
        "a thread without a context has one for the call alone"
        out, x, acc = self.arrays()
        self.kernel(out, x, acc)
        seen = []

        def work():
            seen.append(driver().context())
            try:
                self.kernel(out, x, acc, n=1000)
                seen.append(driver().context())
            except shmtune.Error as error:
                seen.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(seen, [None, None])
        self.right(out, x, acc, 2)

    def test_threads(self):
        "threads call one kernel at the same time"
        mine = [self.arrays(n) for n in (100, 200, 300, 400)]

        def work(arrays):
            for _ in range(50):
                self.kernel(*arrays)

        threads = [threading.Thread(target=work, args=(a,)) for a in mine]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for arrays in mine:
            self.right(*arrays, times=50)

    def test_types(self):
        "elements of another type, or of none, are refused"
        out, x, acc = self.arrays()
        self.refuses("argument acc has elements of type f32, the kernel's "
                     "are i32", self.kernel, out, x, x)
        x.typestr = ">f4"
        self.refuses("argument x has elements of type that shmtune",
                     self.kernel, out, x, acc)

    def test_places(self):
        "what is not contiguous, not aligned, or not on a GPU is refused"
        out, x, acc = self.arrays()
        x.strides = (8,)
        self.refuses("x is not contiguous", self.kernel, out, x, acc)
        x.strides = (4,)
        self.kernel(out, x, acc)
        x.offset = 4
        self.refuses("x begins at an address", self.kernel, out, x, acc)
        self.refuses("x is", self.kernel, out,
                     array.array("f", [0] * 1000), acc)
        packed = Packed("<f4", (1000,))
        packed.kind = 1
        self.refuses("kernel: argument x is a device.Packed on no GPU of CUDA "
                     "(DLPack's device 1); give its copy", self.kernel, out,
                     packed, acc)
        self.refuses("kernel: argument x is a list, no array of a GPU",
                     self.kernel, out, [0.0] * 1000, acc)

        class Kept(Packed):
            def __dlpack__(self, stream=None):
                raise BufferError("needs its gradient")

        self.refuses("argument x is a test_call.", self.kernel, out,
                     Kept("<f4", (1000,)), acc)

    def test_number_of_elements(self):
        "a wrong number of elements says both, and the size"
        out, x, _ = self.arrays()
        self.refuses("acc has 999 elements (999), at n=1000 it has 1000",
                     self.kernel, out, x, Interface("<i4", (999,)))
        error = self.refuses("is right for 1 to 1000000", self.kernel, out, x,
                             Interface("<i4", (1000,)), n=2000000)
        self.assertEqual(str(error).count("fake_kernel,"), 1)
        self.assertNotIn("fake_kernel: fake_kernel", str(error))

    def test_arguments(self):
        "missing, too many, unknown and doubled arguments are refused"
        out, x, acc = self.arrays()
        self.refuses("argument acc is missing", self.kernel, out, x)
        self.refuses("takes 6 arguments, 7 are given", self.kernel, out, x,
                     acc, None, None, None, None)
        self.refuses("neither an argument nor a dimension m", self.kernel,
                     out, x, acc, m=4)
        self.refuses("x is given twice", self.kernel, out, x, acc, x=x)
        self.refuses("no number of type i32", self.kernel, out, x, acc, None,
                     1.5)
        for fault in (1.5, 2**40):      # of a plan that is there, too
            self.kernel(out, x, acc, None, 0)
            self.refuses("argument fault is %r, which is no" % fault,
                         self.kernel, out, x, acc, None, fault)
        self.refuses("expected a stream", self.kernel, out, x, acc,
                     stream="0")

    def test_failure(self):
        "a launch that fails raises, with the driver's name for it"
        out, x, acc = self.arrays()
        self.kernel(out, x, acc)
        os.environ["FAKE_CUDA_FAIL"] = "LaunchKernel=1"
        try:
            self.refuses("CUDA_ERROR_INVALID_VALUE", self.kernel, out, x,
                         acc, status=10)
        finally:
            del os.environ["FAKE_CUDA_FAIL"]
        self.kernel(out, x, acc)

    def test_no_driver_call(self):
        "a plan is made once for a kind of call"
        out, x, acc = self.arrays()
        self.kernel(out, x, acc)
        plans = len(self.kernel._plans)
        for _ in range(5):
            self.kernel(out, x, acc)
        self.kernel(*self.arrays())
        self.assertEqual(len(self.kernel._plans), plans)

    def test_close(self):
        "a library that is closed gives everything back, once"
        library = shmtune.open(folder("fake_kernel"))
        out, x, acc = self.arrays()
        with library:
            library.kernel("fake_kernel")(out, x, acc)
        library.close()
        self.right(out, x, acc)

    def test_closed(self):
        "what is closed is refused, not read"
        library = shmtune.open(folder("fake_kernel"))
        kernel = library.kernel("fake_kernel")
        arrays = self.arrays()
        kernel(*arrays)
        kernel(*arrays, n=1000)
        memory = [made for plan in kernel._plans.values()
                  for mine in plan.workspaces.values() for _, made in mine]
        self.assertGreater(min(made.pointer for made in memory), 0)
        library.close()
        self.assertEqual({made.pointer for made in memory}, {0})
        for call in (kernel, lambda *a: kernel(*a, n=1000),
                     lambda *a: kernel(*a, stream=0),
                     lambda *a: kernel.select(), lambda *a: kernel.explain(),
                     lambda *a: library.kernel("fake_kernel"),
                     lambda *a: library.kernels, lambda *a: library.notes):
            self.refuses("the library is closed", call, *arrays)
        self.right(*arrays, times=2)
        self.assertIn("fake_kernel(out, x, acc", repr(kernel))

    def test_close_after_a_fault(self):
        "closing gives everything back where the device has failed, and says so"
        library = shmtune.open(folder("fake_kernel"))
        kernel = library.kernel("fake_kernel")
        arrays = self.arrays()
        kernel(*arrays)
        memory = [made for plan in kernel._plans.values()
                  for mine in plan.workspaces.values() for _, made in mine]
        context = driver().context()
        driver().set_current(None)
        os.environ["FAKE_CUDA_FAIL"] = "CtxSynchronize=700"
        try:
            self.refuses("cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS",
                         library.close, status=10)
            self.assertIsNone(driver().context())
            self.assertEqual({made.pointer for made in memory}, {0})
            library.close()
        finally:
            del os.environ["FAKE_CUDA_FAIL"]
            driver().set_current(context)

    def test_interface_in_part(self):
        "an interface that lacks something is told by its name"
        class Part:
            def __init__(self, without):
                self.whole = Interface("<f4", (1000,))
                self.without = without

            @property
            def __cuda_array_interface__(self):
                said = dict(self.whole.__cuda_array_interface__)
                del said[self.without]
                return said

        _, x, acc = self.arrays()
        for name in ("typestr", "shape", "data"):
            self.refuses("Part, whose __cuda_array_interface__ has no '%s'"
                         % name, self.kernel, Part(name), x, acc)

    def test_streams(self):
        "streams of other libraries"
        from shmtune._array import handle_of

        class Torch:
            cuda_stream = 7

        class CuPy:
            ptr = 8

        class Standard:
            def __cuda_stream__(self):
                return 0, 9

        class Numba:
            class handle:
                value = 10

        self.assertEqual([handle_of(s()) for s in (Torch, CuPy, Standard,
                                                   Numba)], [7, 8, 9, 10])
        self.assertEqual(handle_of(5), 5)

    def test_memory(self):
        "memory of a device goes there and back"
        memory = Memory(driver(), 8)
        memory.write(memoryview(b"12345678"))
        out = bytearray(8)
        memory.read(memoryview(out))
        self.assertEqual(out, b"12345678")
        memory.close()
