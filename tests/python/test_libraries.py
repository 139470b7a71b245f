# SPDX-License-Identifier: MIT
"""Calls with what looks like tensors of PyTorch and arrays of CuPy."""
import shmtune
from device import Case, folder
from libraries import Instead, Tensor, ndarray, stream
from shmtune import _plan
from shmtune._looks import LOOKS, STREAMS


class Libraries(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kernel = shmtune.open(folder("fake_kernel")).kernel("fake_kernel")

    def arrays(self, kind, n=100, **more):
        return (kind("<f4", (n,), **more),
                kind("<f4", (n,), range(n), **more),
                kind("<i4", (n,), range(n), **more))

    def test_calls(self):
        "their own attributes are what is asked"
        for kind in (Tensor, ndarray):
            with Instead() as modules:
                out, x, acc = self.arrays(kind)
                for _ in range(2):
                    self.kernel(out, x, acc)
                self.assertEqual(out.read(), [2.0 * i for i in range(100)])
                self.assertEqual(acc.read()[0], 2)
                # One workspace for both calls, on their stream.
                self.assertEqual(modules.made, [0])

    def test_streams(self):
        "the current stream of the library, or the one that is given"
        for kind in (Tensor, ndarray):
            with Instead() as modules:
                seen, launch = [], _plan.Plan._go

                def spy(self, frame, arguments, stream, given):
                    seen.append(stream)
                    return launch(self, frame, arguments, 0 if stream == 5
                                  else stream, given)

                _plan.Plan._go = spy
                try:
                    arrays = self.arrays(kind, 50)
                    self.kernel(*arrays)
                    with stream(5):
                        self.kernel(*arrays)
                    self.kernel(*arrays, stream=stream(5))
                finally:
                    _plan.Plan._go = launch
                self.assertEqual(seen, [0, 5, 5])
                self.assertEqual(modules.made, [0])

    def test_workspaces(self):
        "a workspace is allocated on the stream of the launch"
        for kind in (Tensor, ndarray):
            with Instead() as modules:
                made = _plan._allocate(self.arrays(kind), 400, 9)
                self.assertGreater(made[0], 0)
                self.assertEqual(modules.made, [9])

    def test_kinds(self):
        "another type, order or device is another kind of call, and is refused"
        for kind in (Tensor, ndarray):
            with Instead():
                out, x, acc = self.arrays(kind, 40)
                self.kernel(out, x, acc)
                self.refuses("x has elements of type f64", self.kernel, out,
                             kind("<f8", (40,)), acc)
                self.refuses("x is not contiguous", self.kernel, out,
                             kind("<f4", (40,), dense=False), acc)
                self.refuses("out is on device 0, x on device 1",
                             self.kernel, out, kind("<f4", (40,), device=1),
                             acc)

    def test_size(self):
        "a tensor without axes that is a size is looked at in every call"
        class Number(Tensor):
            is_cuda = False

            def __init__(self, number):
                super().__init__("<i4", ())
                self.number = number

            def __index__(self):
                return self.number

        Number.__module__ = "torch"
        with Instead():
            out, x, acc = self.arrays(Tensor, 60)
            self.kernel(out, x, acc, Number(60))
            self.kernel(out, x, acc, n=Number(60))
            self.assertEqual(acc.read()[0], 2)
            for n in (30, 61):
                said = "out has 60 elements (60), at n=%d" % n
                self.refuses(said, self.kernel, out, x, acc, Number(n))
                self.refuses(said, self.kernel, out, x, acc, n=Number(n))
            LOOKS.pop(Number), STREAMS.pop(Number)

    def test_host(self):
        "a tensor of the CPU is refused"
        with Instead():
            out, x, acc = self.arrays(Tensor, 30)
            self.kernel(out, x, acc)
            x.is_cuda = False
            self.refuses("not on a GPU", self.kernel, out, x, acc)
