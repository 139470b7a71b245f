# SPDX-License-Identifier: MIT
"""The wheel on a real GPU; python.sh calls it.  TAP, and a table of ports."""
import importlib.util
import os
import sys
import time
import traceback
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))

import shmtune      # noqa: E402

count = 0


def has(module):
    return importlib.util.find_spec(module) is not None


def test(name, function, *needed):
    global count
    count += 1
    missing = [m for m in needed if not has(m)]
    if missing:
        print("ok %d - %s # SKIP no %s" % (count, name, ", ".join(missing)))
        return
    try:
        function()
        print("ok %d - %s" % (count, name))
    except Exception:
        for line in traceback.format_exc().splitlines():
            print("# " + line)
        print("not ok %d - %s" % (count, name))


def refused(text, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except shmtune.Error as error:
        assert text in str(error), str(error)
        return
    raise AssertionError("not refused: " + text)


# -- PyTorch ------------------------------------------------------------------

def torch_calls():
    import torch
    library = shmtune.open()
    transpose = library.kernel("transpose")
    for rows, cols in ((4096, 4096), (1000, 3000), (17, 5)):
        x = torch.randn(rows, cols, device="cuda")
        out = torch.empty(cols, rows, device="cuda")
        transpose(out, x)
        assert torch.equal(out, x.t()), (rows, cols)
    wide = torch.randn(512, 256, device="cuda", dtype=torch.float64)
    out = torch.empty(256, 512, device="cuda", dtype=torch.float64)
    transpose(out.view(torch.float32), wide.view(torch.float32), rows=512,
              cols=256, element=8)
    assert torch.equal(out, wide.t())
    matmul = library.kernel("matmul")
    a, b = (torch.rand(1024, 512, device="cuda"),
            torch.rand(512, 2048, device="cuda"))
    c = torch.zeros(1024, 2048, device="cuda")
    matmul(c, a, b, alpha=1.0, beta=0.0)
    right = a.double() @ b.double()
    assert torch.allclose(c.double(), right, atol=2e-3), "matmul"
    softmax = library.kernel("softmax")
    x = torch.randn(300, 5000, device="cuda")
    out = torch.empty_like(x)
    softmax(out, x)
    assert torch.allclose(out, torch.softmax(x, 1), atol=1e-6), "softmax"
    image, weights = (torch.rand(500, 700, device="cuda"),
                      torch.rand(5, 5))
    out = torch.empty_like(image)
    library.kernel("conv2d")(out, image, weights)
    right = torch.nn.functional.conv2d(
        image[None, None].double(), weights.cuda()[None, None].double(),
        padding=2)[0, 0]
    assert torch.allclose(out[2:-2, 2:-2].double(), right[2:-2, 2:-2],
                          atol=1e-3), "conv2d"
    refused("not on a GPU", transpose, out, torch.rand(500, 700))
    refused("f64, the kernel's", transpose, out, image.double())
    refused("not contiguous", transpose, out, image.t())
    refused("elements", transpose, out[1:].clone(), image)
    library.close()


def torch_streams():
    import torch
    transpose = shmtune.open().kernel("transpose")
    x = torch.zeros(2048, 2048, device="cuda")
    out = torch.empty_like(x)
    transpose(out, x)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    for given in (None, stream):
        x.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(100000000)
            x.fill_(3)
            if given is None:
                transpose(out, x)
        if given is not None:
            transpose(out, x, stream=given)
        stream.synchronize()
        assert bool((out == 3).all()), "not on the stream %s" % given
    import threading
    errors = []

    def work():
        try:
            transpose(out, x)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not errors, errors
    torch.cuda.synchronize()


def torch_overhead():
    import torch
    transpose = shmtune.open().kernel("transpose")
    x = torch.randn(32, 32, device="cuda")
    out = torch.empty_like(x)

    def rate(call, number=20000):
        call()
        torch.cuda.synchronize()
        best = None
        for _ in range(5):
            begun = time.perf_counter()
            for _ in range(number // 20):
                call()
            taken = (time.perf_counter() - begun) / (number // 20) * 1e6
            torch.cuda.synchronize()
            best = taken if best is None else min(best, taken)
        return best

    print("# a call: %.2f us; torch.neg(x, out=out): %.2f us; "
          "torch.transpose and copy_: %.2f us" % (
              rate(lambda: transpose(out, x)),
              rate(lambda: torch.neg(x, out=out)),
              rate(lambda: out.copy_(x.t()))))


# -- CuPy, Numba, JAX ---------------------------------------------------------

def cupy_calls():
    import cupy
    library = shmtune.open()
    transpose = library.kernel("transpose")
    x = cupy.random.rand(1500, 700, dtype=cupy.float32)
    out = cupy.empty((700, 1500), cupy.float32)
    transpose(out, x)
    assert bool((out == x.T).all())
    with cupy.cuda.Stream(non_blocking=True) as stream:
        out.fill(0)
        transpose(out, x)
        stream.synchronize()
        assert bool((out == x.T).all())
    total = cupy.zeros(1, cupy.float32)
    library.kernel("reduce")(
        total, x.reshape(-1), ticket=cupy.zeros(1, cupy.uint32),
        mail=cupy.zeros(4096, cupy.int64))
    assert abs(float(total[0]) - float(x.sum(dtype=cupy.float64))) < 1
    refused("not contiguous", transpose, out, x.T)


def mixed_calls():
    import cupy
    import torch
    transpose = shmtune.open().kernel("transpose")
    x = torch.randn(64, 96, device="cuda")
    out = cupy.empty((96, 64), cupy.float32)
    torch.cuda.synchronize()
    transpose(out, x)
    assert torch.equal(torch.from_dlpack(out), x.t())

    class Lent:
        """DLPack alone."""
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

        def __dlpack__(self, stream=None):
            return self.tensor.__dlpack__(stream=stream)

    again = torch.empty(96, 64, device="cuda")
    transpose(Lent(again), Lent(x))
    torch.cuda.synchronize()
    assert torch.equal(again, x.t())


def jax_calls():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy
    transpose = shmtune.open().kernel("transpose")
    x = jax.numpy.arange(64 * 96, dtype="float32").reshape(64, 96)
    out = jax.numpy.zeros((96, 64), "float32")
    jax.block_until_ready((x, out))
    transpose(out, x)
    import torch
    torch.cuda.synchronize()
    assert bool((out == x.T).all())


# -- tuning -------------------------------------------------------------------

def tuning():
    import numpy
    import torch
    n = 1 << 20
    x = numpy.random.default_rng(1).random(n, dtype=numpy.float32)
    tuned = shmtune.tune(
        """extern "C" __global__ void scale(float *y, const float *x, float a,
                                           int n)
{
    int i = blockIdx.x * BLOCK * ITEMS + threadIdx.x;

    for (int k = 0; k < ITEMS; k++, i += BLOCK)
        if (i < n)
            y[i] = a * x[i];
}
""", "scale", {"n": n},
        {"y": shmtune.Out(numpy.empty_like(x), count="n"),
         "x": shmtune.In(torch.from_numpy(x).cuda(), count="n"),
         "a": numpy.float32(3), "n": numpy.int32(n)},
        {"BLOCK": [64, 128, 256, 512], "ITEMS": [1, 2, 4]},
        ["BLOCK * ITEMS <= 1024"], grid=["ceildiv(n, BLOCK * ITEMS)"],
        block=["BLOCK"], answer=lambda y, x, a, n: 3 * x.cpu().numpy(),
        budget="all")
    for line in str(tuned).splitlines():
        print("# " + line)
    for size in (n, 1000):
        given = torch.rand(size, device="cuda")
        out = torch.empty_like(given)
        tuned.kernel()(out, given, 2.0)
        assert torch.allclose(out, 2 * given)
    assert len(tuned.results) == 12 - 1


def running():
    import numpy
    import ports
    random = numpy.random.default_rng(2)
    n = numpy.int32(100000)
    a, b = (random.random(n, dtype=numpy.float32) for _ in range(2))
    c = numpy.zeros_like(a)
    out = shmtune.run_kernel("vector_add", ports.VECTOR_ADD, n, [c, a, b, n],
                             {"block_size_x": 128})
    assert (out[0] == a + b).all() and (out[1] == a).all() and out[3] == n
    assert not c.any()


# -- ports of Kernel Tuner's examples -----------------------------------------

ROWS = []


def quietly(function, *arguments, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.perf_counter()
        results, env = function(*arguments, **more)
        return results, env, time.perf_counter() - begun


def cupy_that_fits():
    """CuPy 14 gives 17 bytes of UUID; Kernel Tuner 1.5 wants 16."""
    import cupy
    plain = cupy.cuda.runtime.getDeviceProperties

    def cut(device):
        properties = plain(device)
        properties["uuid"] = properties["uuid"][:16]
        return properties

    cupy.cuda.runtime.getDeviceProperties = cut


def theirs(port, scale):
    """(best configuration, how many, seconds) of Kernel Tuner's run; None for
    the first: none came to a time."""
    os.environ["CUPY_CACHE_IN_MEMORY"] = "1"     # compile every candidate
    cupy_that_fits()
    import kernel_tuner
    seconds = float(os.environ.get("KT_SECONDS", "60"))

    def tune_kernel(*arguments, **named):
        # In random order, as a space may be too large for a whole walk.
        return kernel_tuner.tune_kernel(
            *arguments, **{**named, "lang": "CuPy", "quiet": True,
                           "strategy": "random_sample",
                           "strategy_options": {
                               "time_limit": seconds, "max_fevals": 1000000,
                               "fraction": 1}})

    out = os.dup(1)
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    try:
        results, env, taken = quietly(port, tune_kernel, scale)
    finally:
        sys.stdout.flush()
        os.dup2(out, 1)
    good = [r for r in results if isinstance(r.get("time"), float)]
    return (min(good, key=lambda r: r["time"], default=None), len(results),
            taken)


def side_by_side(port, scale, mine, other, names):
    """Times of two configurations, measured in turns by shmtune: (its own,
    the other)."""
    both = [{n: c[n] for n in names} for c in (mine, other)]
    either = " or ".join("(%s)" % " and ".join(
        "%s == %r" % pair for pair in c.items()) for c in both)

    def tune_kernel(*arguments, **named):
        few = {n: sorted({c[n] for c in both}) for n in names}
        arguments = arguments[:4] + (few,) + arguments[5:]
        more = list(named.pop("restrictions", [])) + [either]
        for name in ("verify", "metrics"):
            named.pop(name, None)
        if port.__name__ == "reduction":
            named.pop("answer")
        return shmtune.tune_kernel(
            *arguments, **{**named, "restrictions": more, "default": both[1],
                           "folder": "both", "budget": "all"})

    _, env, _ = quietly(port, tune_kernel, scale)
    tuned = env.tuned
    if all(tuned.best[n] == both[0][n] for n in names):
        return tuned.time_us, tuned.default_us
    own = [r["time_us"] for r in tuned.results
           if all(r[n] == both[0][n] for n in names)]
    return own[0], tuned.default_us


def port_of(name, scale):
    import ports
    port = ports.PORTS[name]

    def run():
        results, env, seconds = quietly(port, shmtune.tune_kernel, scale,
                                        folder="ports")
        assert results, env["rejected"][:3]
        best = env["best_config"]
        tuned = env.tuned
        names = [n for n in best if n in tuned.best]
        row = [name, "%d" % tuned.found["space"], "%d" % tuned.found["tried"],
               "%.1f" % seconds, "%.2f" % (best["time"] * 1000)]
        if has("kernel_tuner") and has("cupy"):
            found, number, taken = theirs(port, scale)
            row += ["%d" % number, "%.1f" % taken, "%.2f" % (taken / seconds)]
            if found is None:
                row += ["none"]
            elif all(found[n] == tuned.best[n] for n in names):
                row += ["1.000"]
            else:
                own, other = side_by_side(port, scale, tuned.best, found,
                                          names)
                row += ["%.3f" % (other / own)]
        ROWS.append(row)
        print("# " + "  ".join(row))

    return run


def report():
    head = ["example", "space", "tried", "s", "best us", "KT tried", "KT s",
            "wall-clock", "result"]
    lines = [head] + [r + [""] * (len(head) - len(r)) for r in ROWS]
    width = [max(map(len, column)) for column in zip(*lines)]
    text = "".join("# %s\n" % "  ".join(c.rjust(w) for c, w in
                                        zip(line, width)) for line in lines)
    print(text, end="")
    print("# wall-clock: Kernel Tuner's over shmtune's; result: the time of "
          "Kernel Tuner's best over")
    print("# that of shmtune's, both measured in turns by shmtune")
    if os.environ.get("PORT_REPORT"):
        with open(os.environ["PORT_REPORT"], "w", encoding="utf-8") as file:
            file.write(text)


def main():
    test("kernels on tensors of PyTorch", torch_calls, "torch")
    test("streams and threads of PyTorch", torch_streams, "torch")
    test("what a call costs", torch_overhead, "torch")
    test("kernels on arrays of CuPy", cupy_calls, "cupy")
    test("arrays of both, and of DLPack alone", mixed_calls, "torch", "cupy")
    test("kernels on arrays of JAX", jax_calls, "jax", "torch")
    test("tune takes arrays, and a function as the answer", tuning, "numpy",
         "torch")
    test("run_kernel returns what was written", running, "numpy")
    scale = os.environ.get("PORT_SCALE", "full")
    for name in os.environ.get(
            "PORTS", "vector_add matmul convolution reduction pnpoly "
            "stencil").split():
        test("Kernel Tuner's example %s" % name, port_of(name, scale), "numpy")
    if ROWS:
        report()
    print("1..%d" % count)


main()
