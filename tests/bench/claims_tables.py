# SPDX-License-Identifier: MIT
"""The page's tables and plots, section by section."""
import page_svg as svg
from claims_page import (
    CONFLICTS, EFFICIENCY, INSTRUCTIONS, LOCAL, READ, REQUESTS, SECTORS,
    THREADS, WAVES, WRITE)
from page import count, times, us

DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
ACTIVE = "sm__warps_active.avg.pct_of_peak_sustained_active"

N = 1 << 24
BEST_REDUCE = "recording reduce 16777216"

# Name, what it is, kind, what it is compared with.
LADDER = [
    ("atomic", "every thread: `atomicAdd` to one number", "global", None),
    ("serial", "a thread adds 1024 numbers in a row", "global", "atomic"),
    ("local", "the same, folded 512..1 in a thread's own array", "global",
     "serial"),
    ("barriers", "a block's shared array, folded 512..1, a barrier each",
     "shared", "local"),
    ("branches", "last warp without barriers, a branch a step", "shared",
     "barriers"),
    ("merged", "last warp in one branch", "shared", "branches"),
    ("dynamic", "as `merged`, dynamic shared memory", "shared", "merged"),
    ("halving", "halving in global memory, 24 launches", "global", "merged"),
    ("scattered", "as `barriers`, but `if (j % (2 * s) == 0)`", "shared",
     "barriers"),
    ("spread", "the same, active threads close up, strided accesses",
     "shared", "barriers"),
    ("shuffles", "last warp by shuffles", "shared", "merged"),
    ("items 8 barriers", "8 numbers a thread, then barriers", "more",
     "barriers"),
    ("items 8", "8 numbers a thread, then shuffles", "more",
     "items 8 barriers"),
    ("vectors", "16 numbers a thread as 4 vectors of 4", "more", "items 8"),
]
# Those that the texts have.
TEXTS = ("serial", "local", "barriers", "branches", "merged", "dynamic",
         "halving")


def gains(page):
    """Of each step, the time of what it is compared with over its own."""
    return {name: page.time("ladder", against, N) /
            page.time("ladder", name, N)
            for name, _, _, against in LADDER if against}


def ladder(page):
    best = page.data.get(BEST_REDUCE, "all", 0, "best_us")
    gain = gains(page)
    rows, drawn = [], []
    for name, what, kind, against in LADDER:
        time = page.time("ladder", name, N)
        row = ["`%s`: %s" % (name, what), us(time),
               "%s over `%s`" % (times(gain[name]), against) if against
               else "-", "%.0f" % (4 * N / time / 1e3)]
        if page.data.has("ladder", name, N, WAVES % "ld"):
            row.append("%.0f %%" % page.count("ladder", name, N, DRAM))
            row += [count(page.count("ladder", name, N, metric % "ld"))
                    for metric in (INSTRUCTIONS, WAVES)]
            row.append("%.0f %%" % page.count("ladder", name, N, ACTIVE))
        else:
            row += ["-"] * 4
        rows.append(row)
        drawn.append((name, time, us(time), kind))
    rows.append(["**the best of all %s recorded configurations of `reduce`**" %
                 count(page.data.get(BEST_REDUCE, "all", 0, "timed")),
                 us(best), "%s over `vectors`" % times(
                     page.time("ladder", "vectors", N) / best),
                 "%.0f" % (4 * N / best / 1e3)] + ["-"] * 4)
    drawn.append(("tuned reduce", best, us(best), "tuned"))
    page.table(["step", "time", "factor", "GB/s", "DRAM, of peak",
                "warps' loads from shared memory", "steps they took",
                "warps active"], rows)
    page.plot("ladder", "the reduction ladder, time of each step",
              svg.bars("Sum of 2^24 floats, step by step",
                       "time, us (logarithmic)", drawn, True))


def rounding(page):
    (_, total), = page.data.series("rounding", "float", "sum")
    (adds, stall), = page.data.series("rounding", "float", "stalls_at")
    return total, adds, stall


PAIR_TITLES = ["kernel, problem", "pairs", "5 %", "25 %", "median", "75 %",
               "95 %"]


def pair_rows(page, variant):
    rows = []
    for experiment in sorted({key[0] for key in page.data.values
                              if key[0].startswith("recording ")}):
        if not page.data.has(experiment, variant, 50, "ratio"):
            continue
        rows.append([experiment[len("recording "):],
                     count(page.data.get(experiment, variant, 0, "pairs"))] +
                    ["%.3f" % page.data.get(experiment, variant, q, "ratio")
                     for q in (5, 25, 50, 75, 95)])
    return rows


BEST_TRANSPOSE = "recording transpose 8192x8192x4"


def best_copy(page):
    """Time of the fastest x 2 + 1 of 8192 x 8192 floats on record."""
    return page.data.get("recording coalescing 8192x8192", "all", 0,
                         "best_us")


def copy_rate(page):
    """Its bytes read and written a second, in GB: what floors are made of."""
    return 8 * 8192 ** 2 / best_copy(page) / 1e3


def forms(page):
    """Of the transpose, and copies; the driver's where it was measured."""
    return [name for name in (
        "copy", "cudaMemcpyAsync", "naive (writes strided)",
        "naive (reads strided)", "tile 32x32", "tile 32x32 padded",
        "tile 32x8", "tile 32x8 padded", "tile 32x8 padded dynamic")
        if page.data.has("transpose", name, 8192, "time_us")]


def transpose(page):
    rows = []
    for name in forms(page):
        row = [name]
        for n in (4096, 8192, 16384):
            time = page.time("transpose", name, n)
            row.append("%s, %.0f" % (us(time), 8.0 * n * n / time / 1e3))
        if page.data.has("transpose", name, 8192, SECTORS % "ld"):
            row.append("%.1f / %.1f" % (
                page.per_request("transpose", name, 8192, "ld"),
                page.per_request("transpose", name, 8192, "st")))
            shared = page.count("transpose", name, 8192, WAVES % "ld")
            row.append("%.1f" % page.ways("transpose", name, 8192, "ld")
                       if shared > 0 else "-")
            row.append("%.0f / %.0f MB" % (
                page.count("transpose", name, 8192, READ) / 1e6,
                page.count("transpose", name, 8192, WRITE) / 1e6))
        else:
            row += ["-"] * 3
        rows.append(row)
    page.table(["kernel", "4096: time, GB/s", "8192", "16384",
                "sectors a load / store request", "n-way conflict of loads",
                "DRAM read / written, 8192"], rows)
    page.plot("transpose", "transpose, bandwidth of each form",
              svg.bars("Transpose of 8192 x 8192 floats",
                       "read + written, GB/s",
                       [(name, 8 * 8192 ** 2 / time / 1e3,
                         "%.0f" % (8 * 8192 ** 2 / time / 1e3),
                         name.split()[0]) for name, time in
                        [(name, page.time("transpose", name, 8192))
                         for name in forms(page)] +
                        [("best recorded copy", best_copy(page)),
                         ("best recorded transpose", page.data.get(
                             BEST_TRANSPOSE, "all", 0, "best_us"))]]))


MATMULS = ["global 16x16", "global 32x32", "shared 16x16", "shared 32x32",
           "shared 16x16 dynamic", "shared 32x32 dynamic"]


def matmul(page):
    rows = []
    for name in MATMULS:
        row = [name]
        for n in (1024, 2048, 4096):
            time = page.time("matmul", name, n)
            row.append("%s, %.2f" % (us(time), 2.0 * n ** 3 / time / 1e6))
        if page.data.has("matmul", name, 1024, SECTORS % "ld"):
            row.append(count(page.count("matmul", name, 1024,
                                        REQUESTS % "ld")))
            row.append("%.2f" % page.per_request("matmul", name, 1024, "ld"))
            row.append("%.0f MB" % (32 * page.count(
                "matmul", name, 1024, SECTORS % "ld") / 1e6))
            row.append("%.1f MB" % (page.count("matmul", name, 1024, READ) /
                                    1e6))
        rows.append(row)
    page.table(["kernel", "1024: time, TFLOP/s", "2048", "4096",
                "load requests, 1024", "sectors each", "asked of L1",
                "DRAM read"], rows)


def static_dynamic(page):
    page.table(PAIR_TITLES, pair_rows(page, "MEMORY dynamic against static"))
    rows = []
    for experiment, fixed, flexible, x in (
            ("ladder", "merged", "dynamic", 1 << 24),
            ("transpose", "tile 32x8 padded", "tile 32x8 padded dynamic",
             4096),
            ("transpose", "tile 32x8 padded", "tile 32x8 padded dynamic",
             8192),
            ("transpose", "tile 32x8 padded", "tile 32x8 padded dynamic",
             16384),
            ("matmul", "shared 16x16", "shared 16x16 dynamic", 2048),
            ("matmul", "shared 32x32", "shared 32x32 dynamic", 2048),
            ("matmul", "shared 16x16", "shared 16x16 dynamic", 4096),
            ("matmul", "shared 32x32", "shared 32x32 dynamic", 4096)):
        a, b = (page.time(experiment, name, x) for name in (fixed, flexible))
        rows.append(["%s, %s, %s" % (experiment, fixed, "2^24" if
                                     x == 1 << 24 else x), us(a),
                     us(b), "%.3f" % (b / a)])
    page.table(["textbook kernel", "static", "dynamic", "dynamic / static"],
               rows)


def stride_plot(page):
    copy = page.data.series("stride", "copy x 2", "gb_per_s")
    series = [("only every s-th element", copy, False)]
    recorded = page.data.series("recording coalescing 8192x8192", "stride",
                                "time_us")
    if recorded:
        series.append(("all elements in s passes",
                       [(x, 8 * 8192 ** 2 / t / 1e3) for x, t in recorded],
                       True))
    page.plot("stride", "useful bandwidth against stride",
              svg.lines("Useful bandwidth against stride",
                        "stride s, elements of 4 bytes",
                        "useful bytes read + written, GB/s", series,
                        x_ticks=[1, 4, 8, 12, 16, 20, 24, 28, 32]))
    counted = [x for x in page.data.xs("stride", "copy x 2", SECTORS % "ld")]
    page.table(["stride", "time", "useful GB/s", "sectors a load request",
                "predicted: min(4 s, 32)", "DRAM read",
                "DRAM read / useful"],
               [["%g" % x, us(page.time("stride", "copy x 2", x)),
                 "%.0f" % page.data.get("stride", "copy x 2", x, "gb_per_s"),
                 "%.2f" % page.per_request("stride", "copy x 2", x, "ld"),
                 "%g" % min(4 * x, 32),
                 "%.1f MB" % (page.count("stride", "copy x 2", x, READ) /
                              1e6),
                 "%.2f" % (page.count("stride", "copy x 2", x, READ) /
                           (4 * 2 ** 22))] for x in counted])


def orders(page):
    rows = []
    for order, what in (("rows 16384", "along rows"),
                        ("columns 16384", "down columns")):
        get = lambda metric: page.count("coalescing", order, 1, metric)
        rows.append([what, count(get(REQUESTS % "ld")),
                     count(get(SECTORS % "ld")),
                     "%.2f" % page.per_request("coalescing", order, 1, "ld"),
                     count(get(SECTORS % "st")),
                     "%.0f / %.0f MB" % (get(READ) / 1e6, get(WRITE) / 1e6),
                     us(get("gpu__time_duration.sum") / 1e3)])
    page.table(["16384 x 16384, 32 x 32 blocks", "load requests",
                "load sectors", "sectors a request", "store sectors",
                "DRAM read / written", "time under ncu"], rows)


def predicted(stride, word, pad):
    """Steps of a warp's load over those without conflict, by the model."""
    at_once = 128 // word
    steps = 0
    for first in range(0, 32, at_once):
        banks = {}
        for thread in range(first, first + at_once):
            k = thread * stride
            slot = k + k // 32 * pad
            for part in range(word // 4):
                address = slot * word // 4 + part
                banks.setdefault(address % 32, set()).add(address)
        steps += max(len(some) for some in banks.values())
    return steps / (32 // at_once)


def measured_ways(page, word, pad, stride):
    name = "word %d pad %d" % (word, pad)
    waves = page.count("bank_conflict", name, stride, WAVES % "ld")
    loads = page.count("bank_conflict", name, stride, INSTRUCTIONS % "ld")
    return waves / loads / (word // 4)


def banks(page):
    strides = page.data.xs("bank_conflict", "word 4 pad 0", WAVES % "ld")
    measured = [(x, measured_ways(page, 4, 0, x)) for x in strides]
    page.plot("banks", "bank conflicts, predicted and measured",
              svg.lines("Steps of a warp's shared-memory load, 4-byte words",
                        "stride, words", "steps (n of an n-way conflict)",
                        [("measured wavefronts a load", measured, False),
                         ("predicted: gcd(stride, 32)",
                          [(x, predicted(int(x), 4, 0)) for x in strides],
                          True)],
                        x_ticks=[1, 4, 8, 12, 16, 20, 24, 28, 32]))
    experiment = "recording bank_conflict 1081344x1024"
    if page.data.has(experiment):
        page.plot("banks_time", "time against stride",
                  svg.lines("Time of 1024 loads a thread against stride",
                            "stride, words", "time, us (logarithmic)",
                            [("%d-byte words" % word, page.data.series(
                                experiment, "word %d pad 0" % word,
                                "time_us"), False) for word in (4, 8, 16)] +
                            [("4-byte words, padded", page.data.series(
                                experiment, "word 4 pad 1", "time_us"),
                              True)],
                            y_log=True, nested=True,
                            x_ticks=[1, 4, 8, 12, 16, 20, 24, 28, 32]))
    rows = []
    for word, pad in ((4, 0), (4, 1), (8, 0), (16, 0)):
        for stride in (1, 2, 4, 8, 16, 32):
            name = "word %d pad %d" % (word, pad)
            if not page.data.has("bank_conflict", name, stride,
                                 WAVES % "ld"):
                continue
            time = first = None
            if page.data.has(experiment, name, stride, "time_us"):
                time = page.data.get(experiment, name, stride, "time_us")
                first = page.data.get(experiment, "word %d pad 0" % word, 1,
                                      "time_us")
            rows.append([word, stride, pad,
                         "%g" % predicted(stride, word, pad),
                         "%.2f" % measured_ways(page, word, pad, stride),
                         "%.1f %%" % page.count("bank_conflict", name, stride,
                                                EFFICIENCY)
                         if page.data.has("bank_conflict", name, stride,
                                          EFFICIENCY) else "-",
                         us(time) if time else "-",
                         times(time / first) if time else "-"])
    page.table(["word, bytes", "stride", "padding", "predicted n",
                "measured n", "efficiency by the profiler", "time",
                "time over stride 1"], rows)


def bank_once(page):
    first = page.time("bank_once", "one access", 1)
    page.table(["stride", "n-way conflict measured", "time",
                "time over stride 1"],
               [["%g" % x,
                 "%.2f" % page.ways("bank_once", "one access", x, "ld")
                 if page.data.has("bank_once", "one access", x,
                                  WAVES % "ld") else "-",
                 us(page.time("bank_once", "one access", x)),
                 times(page.time("bank_once", "one access", x) / first)]
                for x in page.data.xs("bank_once", "one access", "time_us")])


def recordings(page):
    return sorted({key[0] for key in page.data.values
                   if key[0].startswith("recording ")})


def cap(page):
    rows = []
    for experiment in recordings(page):
        if not page.data.has(experiment, "above 48 KiB", 0, "best_us"):
            continue
        get = lambda variant, x, quantity: page.data.get(
            experiment, variant, x, quantity)
        below = get("48 KiB", 0, "best_us")
        above = get("above 48 KiB", 0, "best_us")
        row = [experiment[len("recording "):],
               "%s (%s)" % (us(below), count(get("48 KiB", 0, "timed"))),
               "%s (%s)" % (us(above), count(get("all", 0, "timed") -
                                             get("48 KiB", 0, "timed"))),
               "%.3f" % (below / min(below, above))]
        for draws in (30, 100, 300):
            row.append("%.3f" % (get("48 KiB", draws, "expected_best_us") /
                                 get("all", draws, "expected_best_us"))
                       if page.data.has(experiment, "all", draws,
                                        "expected_best_us") and
                       page.data.has(experiment, "48 KiB", draws,
                                     "expected_best_us") else "-")
        rows.append(row)
    page.table(["kernel, problem", "best up to 48 KiB (how many timed)",
                "best above (how many)", "gain at the best",
                "gain at 30 random tries", "at 100", "at 300"], rows)
    rows = []
    for kernel, problems in tuned(page).items():
        above = [variant for variant, shared in problems if shared > 49152]
        rows.append([kernel, len(problems), len(above),
                     ", ".join(above) or "-", "%.3g" % (
                         max(shared for _, shared in problems) / 1024)])
    page.table(["kernel", "tuned problems", "winners above 48 KiB",
                "problems of these", "most shared memory of a winner, KiB"],
               rows)


def tuned(page):
    """(problem, bytes of shared memory of its winner) by kernel."""
    found = {}
    for key, value in page.data.values.items():
        if key[0].startswith("tuned ") and key[3] == "shared_bytes":
            found.setdefault(key[0][len("tuned "):], []).append(
                (key[1], value))
    return found


def divergence(page):
    page.plot("divergence", "divergence within and between warps",
              svg.lines("A branch of n ways, the same work a thread",
                        "ways (logarithmic)", "time, us (logarithmic)",
                        [(name, page.data.series("divergence", name,
                                                 "time_us"), False)
                         for name in ("within warps", "between warps")],
                        True, True))
    first = page.time("divergence", "within warps", 1)
    page.table(["ways", "within warps", "over one way",
                "threads active of 32", "between warps", "over one way"],
               [["%g" % x, us(page.time("divergence", "within warps", x)),
                 times(page.time("divergence", "within warps", x) / first),
                 "%.1f" % page.count("divergence", "within warps", x, THREADS)
                 if page.data.has("divergence", "within warps", x, THREADS)
                 else "-",
                 us(page.time("divergence", "between warps", x)),
                 times(page.time("divergence", "between warps", x) / first)]
                for x in page.data.xs("divergence", "within warps",
                                      "time_us")])


def streams(page):
    page.table(["two kernels of half the GPU each", "time"],
               [[name, us(page.time("streams", name, 2))] for name in
                ("one stream", "two streams", "two streams with an event")])


def explanations(page):
    return sorted({key[0] for key in page.data.values
                   if key[0].startswith("explain ")})
