# SPDX-License-Identifier: MIT
"""What the page says: reductions, transposes, products, and the memory that
they use.  Every figure of ours comes from the data."""
import re

import claims_access
import claims_blocks
import claims_running
import claims_tables as t
import claims_why
from claims_page import READ, REQUESTS, SUMMARY, verdict
from page import count, percent, times, us


def write(page):
    intro(page)
    page.text.append(SUMMARY)
    page.say("""There is no figure to these, or the GPU has nothing to measure
        them on: %s.""" % "; ".join(not_measured(page)))
    for section in (reduction, rounding, transposing, multiplying, convolving,
                    memory_kinds, claims_access.coalescing,
                    claims_access.conflicts, claims_blocks.blocks,
                    claims_blocks.occupancy, claims_running.cap,
                    claims_running.diverging, claims_running.synchronising,
                    claims_running.streaming, claims_running.profiling,
                    claims_why.why):
        section(page)


def intro(page):
    page.text.append("# Claims about shared memory, and how to measure them"
                     "\n\n")
    page.say("""Tutorials on CUDA shared memory make claims with figures: what a
        tile, padding, a warp without barriers or a larger block gains. This
        page says how to measure each of them on a GPU of yours, and what an %s
        answers.""" % device(page))
    page.text.append("""\
- [Measure it](#measure-it)
- [The claims](#the-claims), with an answer to each, and behind each the table
  that it is from

## Measure it

```sh
sh tests/bench/claims.sh build out        # 95 seconds: times and counters, on GPU 0
python3 tests/bench/claims.py take out    # puts them into tests/bench/data
python3 tests/bench/claims.py             # this page and its plots, of the data
```

""")
    page.say("""It takes a [build](install.md), `nvcc`, Nsight Compute's `ncu`
        and the permission to [read
        counters](measuring.md#counters-why-one-is-faster). `LIMIT=300` gives it
        more time; what does not fit into the time is left out, and said. Every
        figure, and every "yes" and "no", is computed from the data.""",
             """One claim alone is measured by its kernel, which is built in
        ([the guide](../kernels/README.md) says how each is built):""")
    page.text.append("""\
```sh
shmtune explain bank_conflict --config STRIDE=1 --config STRIDE=32
shmtune explain coalescing --config ORDER=rows --config ORDER=columns
shmtune explain reduce --config WARP_UNROLL=0 --config WARP_UNROLL=1
shmtune explain transpose --size rows=8192,cols=8192    # the tuned beside the default
```

""")
    page.say("""How the figures are to be read: a result was verified before it
        was timed. Times are medians of 21 runs with a cold L2 cache unless a
        table says otherwise; counters are those of one launch. "Recorded" are
        exhaustive or sampled runs of the tuner on the same kind of GPU
        (`tunings/*/*.journal.gz`). The floor of a kernel that is bound by
        memory is its bytes over %.0f GB/s: that is what the fastest of %s
        recorded forms of a copy of 8192 x 8192 floats moves (%s).""" % (
            t.copy_rate(page), count(page.data.get(
                "recording coalescing 8192x8192", "all", 0, "timed")),
            us(t.best_copy(page))))
    page.text.append("## The claims\n\n")


def device(page):
    name, driver = page.data.device[0].split(", ")[:2]
    said = ["driver " + driver]
    for pattern, what in ((r"cuda_(\d+\.\d+)", "CUDA "),
                          (r"^Version (\S+)", "Nsight Compute ")):
        said += [what + m.group(1) for m in (
            re.search(pattern, line) for line in page.data.device) if m]
    return "%s (%s)" % (name, ", ".join(said))


def not_measured(page):
    points = ["""what goes wrong without a barrier, or with one in a divergent
        branch ([synchronising](#synchronising))""",
              "banks of 8 bytes, which this GPU does not have"]
    if not page.data.has("convolution"):
        points.append("""a convolution beside a scalar loop on the CPU
            ([convolution](#convolution))""")
    return points


# -- the ladder ---------------------------------------------------------------

def effect(gain):
    """What a factor of time means; 2 % is within what runs differ by."""
    return "pay" if gain >= 1.02 else "cost" if gain <= 0.98 else "nothing"


def steps(gain, names, wanted):
    some = ["`%s` (%s)" % (name, times(gain[name])) for name in names
            if effect(gain[name]) == wanted]
    return ", ".join(some) or "none"


def dram(page, name):
    return page.count("ladder", name, t.N, t.DRAM)


def reduction(page):
    page.head("Reduction, step by step")
    gain = t.gains(page)
    best = page.data.get(t.BEST_REDUCE, "all", 0, "best_us")
    floor = 4 * t.N / t.copy_rate(page) / 1e3
    first = page.time("ladder", "atomic", t.N)
    last = page.time("ladder", "vectors", t.N)
    page.claimed("""a sum climbs a ladder, and each rung is faster: `atomicAdd`
        by every thread; a thread for 1024 numbers; an array of the thread's
        own folded 512..1; an array of the block in shared memory with a
        barrier a step; the last warp without barriers; the last warp in one
        branch, which ends its divergence; static, then dynamic shared memory;
        and, beside it, halving in global memory, and partial sums finished on
        the host or by a second launch.""")
    page.measured("""of the texts' steps these pay, each against the one
        before it: %s. These cost time: %s. These make no difference (under
        2 %%): %s. Beyond the texts, each against its nearest step, pay: %s;
        cost: %s; make no difference: %s. From the first row of the table to the
        last it is %s to %s, a factor of %s; the best recorded configuration
        takes %s, %s of the floor's speed (%s to read the numbers once).""" % (
            *(steps(gain, names, wanted)
              for names in (t.TEXTS, [n for n in gain if n not in t.TEXTS])
              for wanted in ("pay", "cost", "nothing")),
            us(first), us(last), count(first / last), us(best),
            percent(floor / best), us(floor)))
    shares = {wanted: [name for name in t.TEXTS
                       if effect(gain[name]) == wanted]
              for wanted in ("pay", "cost", "nothing")}
    page.claim("each step of the reduction ladder is faster", "yes",
               "; ".join("%s: %s" % (title, ", ".join(
                   "`%s` %s" % (name, times(gain[name])) for name in some))
                   for title, some in (
                       ("pay", shares["pay"]), ("cost", shares["cost"]),
                       ("no difference", shares["nothing"])) if some),
               verdict(len(shares["pay"]) == len(t.TEXTS),
                       bool(shares["pay"])))
    page.claim("several numbers a thread (not in the texts)", "asked",
               "8 numbers a thread: %s" % times(gain["items 8 barriers"]),
               verdict(effect(gain["items 8 barriers"]) == "pay"))
    t.ladder(page)
    why_ladder(page, gain)
    warp_unroll(page, gain)
    host(page)


def why_ladder(page, gain):
    load = lambda name: page.count("ladder", name, t.N,
                                   t.INSTRUCTIONS % "ld")
    waves = lambda name: page.count("ladder", name, t.N, t.WAVES % "ld")
    page.say("""Why. `atomic` waits for one address. `local` is %s times as
        slow as adding in a register, for its array lies in local memory
        (%s sectors written to it). Until a thread adds several numbers no rung
        is bound by memory: DRAM is busy %.0f to %.0f %% of the time, a block
        of 1024 threads loads once, and then all of it waits at the barriers.
        That is also why divergence hardly shows: `scattered` takes %s times
        the steps in shared memory of `barriers`, and %s times its time.
        `merged` pays because 31 of the 32 warps leave early: the warps execute
        %s times fewer loads, where `branches` sends all of them through every
        step. Eight numbers a thread are worth more than all the rungs between
        `serial` and `shuffles` together (%s against %s): each thread has eight
        loads on their way, and the barriers are shared by eight times the
        numbers; DRAM is busy %.0f %%.""" % (
            times(1 / gain["local"]), count(page.count(
                "ladder", "local", t.N, t.LOCAL % "st")),
            min(dram(page, name) for name in ("scattered", "spread",
                                              "barriers", "merged")),
            max(dram(page, name) for name in ("scattered", "spread",
                                              "barriers", "shuffles")),
            times(waves("scattered") / waves("barriers")),
            times(page.time("ladder", "scattered", t.N) /
                  page.time("ladder", "barriers", t.N)),
            times(load("branches") / load("merged")),
            times(page.time("ladder", "shuffles", t.N) /
                  page.time("ladder", "items 8", t.N)),
            times(page.time("ladder", "serial", t.N) /
                  page.time("ladder", "shuffles", t.N)),
            dram(page, "items 8")))
    page.say("""A counter that does not help: threads active an instruction
        says 32 of 32 for all of these, `scattered` included, because the
        compiler makes its short branches predicates, and the counter counts
        threads that are predicated off.""")


def warp_unroll(page, gain):
    values = [page.data.get(t.BEST_REDUCE, "WARP_UNROLL %d against 0" %
                            max(k, 1), 0, "best_us %d" % k)
              for k in (0, 1, 2)]
    ratio = page.data.get(t.BEST_REDUCE, "WARP_UNROLL 2 against 0", 50,
                          "ratio")
    page.say("""Warp unrolling by its own effect: %s where a thread has one
        number (`merged` over `branches`), %s where it has eight (`items 8`
        over `items 8 barriers`), and over all pairs of recorded
        configurations of `reduce` that differ in nothing else a median of
        %.3f. The best of those with barriers to the end (`WARP_UNROLL` 0), with
        `__syncwarp` (1) and with shuffles (2) take %s, %s and %s. Once a thread
        adds enough numbers the end of the block is too short to matter. Ratios
        of times, below 1 is faster:""" % (
            times(gain["merged"]), times(gain["items 8"]), 1 / ratio,
            *map(us, values)))
    page.claim("unrolling the last warp pays", "yes",
               "%s at one number a thread, %s at eight, %s among the best of "
               "`reduce`" % (times(gain["merged"] * gain["branches"]),
                             times(gain["items 8"]),
                             times(values[0] / min(values[1:]))),
               verdict(effect(values[0] / min(values[1:])) == "pay",
                       effect(gain["merged"]) == "pay"))
    rows = []
    for variant in ("WARP_UNROLL 1 against 0", "WARP_UNROLL 2 against 0",
                    "EXCHANGE warps against tree", "VECTOR 4 against 1",
                    "UNROLL 8 against 1", "FINISH ticket against stages"):
        for row in t.pair_rows(page, variant):
            if row[0].startswith("reduce"):
                rows.append(["`%s`" % variant] + row[1:])
    page.table(["reduce 2^24"] + t.PAIR_TITLES[1:], rows)


def host(page):
    name = "finished on the host"
    if not page.data.has("ladder", name, t.N, "time_us"):
        return
    page.say("""Partial sums finished on the host: %s by the host's clock,
        copying included, where the same kernel with a second launch takes %s
        on the GPU. The clocks differ, so only the order of size counts: the
        second launch is cheaper than the way to the host. Recorded, one launch
        whose last block finishes (`ticket`) takes %s of the time of two.""" %
             (us(page.time("ladder", name, t.N)),
              us(page.time("ladder", "merged", t.N)),
              percent(page.data.get(t.BEST_REDUCE,
                                    "FINISH ticket against stages", 50,
                                    "ratio"))))


def rounding(page):
    page.head("Float32 rounding")
    total, adds, stall = t.rounding(page)
    exact = abs(stall / 2 ** 25 - 1) < 1e-5     # as digits were kept
    page.claimed("""a float32 that 1.23 is added to ten million times and more
        stops at 33554432, because the small number is swallowed.""")
    page.measured("""after ten million additions, one after the other, the sum
        is %s instead of 12,300,000 (%.1f %% off); added on, it stops at %s
        after %s additions. A sum in a tree, as every block of the ladder makes
        it, adds numbers of like size and does not stall.""" % (
            count(total), 100 * abs(total / 12.3e6 - 1),
            "2^25 = 33,554,432" if exact else count(stall), count(adds)))
    page.claim("1.23 added in float32 stalls", "at 33554432",
               "at %s after %s additions" % (
                   "33,554,432" if exact else count(stall), count(adds)),
               verdict(exact))


# -- transpose ----------------------------------------------------------------

def transposing(page):
    page.head("Transpose: naive, tile, padded tile")
    n = 8192
    time = lambda name: page.time("transpose", name, n)
    over = lambda slow, fast: times(time(slow) / time(fast))
    naive, other = "naive (writes strided)", "naive (reads strided)"
    ways = [page.ways("transpose", name, n, "ld")
            for name in ("tile 32x8", "tile 32x8 padded")]
    sectors = [page.per_request("transpose", name, n, "st")
               for name in (naive, "tile 32x8")]
    page.claimed("""the naive transpose has one side strided; a 32 x 32 tile
        in shared memory makes both sides consecutive, but its columns are a
        32-way bank conflict; one more column of padding ends that. It works
        for any type and any shape.""")
    page.measured("""at %d x %d the tile is %s times as fast as the naive form
        with strided writes, but %s times as fast as the one with strided reads;
        padding is worth %s (32 x 32 threads) and %s (32 x 8 threads), after
        which the tile is %s and %s times as fast as the naive forms. Sectors a
        store request fall from %.0f to %.0f, and the conflict of loads from
        %.0f ways to %.0f.""" % (
            n, n, over(naive, "tile 32x32"), over(other, "tile 32x32"),
            over("tile 32x32", "tile 32x32 padded"),
            over("tile 32x8", "tile 32x8 padded"),
            over(naive, "tile 32x8 padded"), over(other, "tile 32x8 padded"),
            *sectors, *ways))
    page.claim("a tile cures the strided side of a transpose", "faster",
               "%s with strided writes, %s with strided reads" % (
                   over(naive, "tile 32x32"), over(other, "tile 32x32")),
               verdict(min(time(naive), time(other)) > time("tile 32x32"),
                       max(time(naive), time(other)) > time("tile 32x32")))
    page.claim("the tile's columns conflict 32-way, padding cures it",
               "32 to 1", "%.1f to %.1f ways, time by %s and %s" % (
                   ways[0], ways[1], over("tile 32x32", "tile 32x32 padded"),
                   over("tile 32x8", "tile 32x8 padded")),
               verdict(abs(ways[0] / 32 - 1) < 0.05 and ways[1] < 1.05))
    t.transpose(page)
    shipped = page.data.get("tuned transpose", "4096x4096x4", 0, "time_us")
    reads = [page.count("transpose", name, n, READ)
             for name in t.forms(page)
             if page.data.has("transpose", name, n, READ)]
    page.say("""Why. All forms read the same bytes from DRAM, within %.0f %%:
        the L2 cache puts the sectors of the naive forms together again, so that
        their cost is requests, not bytes; reads fare better than writes, for
        the L1 cache keeps the sectors that the next rows need.%s Eight rows of
        threads a block instead of 32 are worth nearly as much as the padding
        (%s): each thread has four loads on their way, and smaller blocks wait
        less at the barrier. The padded 32 x 8 tile beats the plain copy above
        it, which moves one number a thread; against the best copy on record it
        stands at
        %s of its speed, and the best recorded transpose at %s. At 4096 x 4096
        the textbook's tile, which checks no bounds, takes %s; the shipped
        tuning of the general kernel, in another run, %s.""" % (
            100 * (max(reads) / min(reads) - 1),
            " Without padding the conflict costs more than strided reads did."
            if time("tile 32x32") > time(other) else "",
            over("tile 32x32 padded", "tile 32x8 padded"),
            percent(t.best_copy(page) / time("tile 32x8 padded")),
            percent(t.best_copy(page) / page.data.get(
                t.BEST_TRANSPOSE, "all", 0, "best_us")),
            us(page.time("transpose", "tile 32x8 padded", 4096)),
            us(shipped)))
    page.say("""Any type and shape: the textbook kernels here are for multiples
        of 32; `transpose` takes elements of 4 or 8 bytes and any rows x
        columns, and is tuned for %s (rows x columns x bytes) too.""" %
             ", ".join(v for v, _ in t.tuned(page)["transpose"]
                       if v.endswith("x8") or len(set(v.split("x")[:2])) > 1))
    page.table(["recorded, all else equal"] + t.PAIR_TITLES,
               [["`%s`" % variant] + row for variant in (
                   "PAD 0 against 1", "PAD 4 against 1",
                   "SWIZZLE 1 against 0", "VECTOR 4 against 1")
                for row in t.pair_rows(page, variant)
                if row[0].startswith("transpose")])


# -- matrix product -----------------------------------------------------------

def multiplying(page):
    page.head("Matrix product: global memory against shared tiles")
    n = 4096
    time = lambda name: page.time("matmul", name, n)
    gain = {b: time("global " + b) / time("shared " + b)
            for b in ("16x16", "32x32")}
    asked = lambda name, metric: page.count("matmul", name, 1024,
                                            metric % "ld")
    fewer = lambda metric, b: times(asked("global " + b, metric) /
                                    asked("shared " + b, metric))
    page.claimed("""a 16 x 16 tile in shared memory with two barriers takes 8.7
        ms where global memory alone takes 45.2 ms, 80.8 % less (a factor of
        5.2); elsewhere 3.2 ms against 8.7 ms (2.7), at 82 % of the bandwidth
        against 45 %.""")
    page.measured("""at %d the 16 x 16 tile takes %s where global memory alone
        takes %s, %s less, a factor of %s; with 32 x 32 it is %s.""" % (
            n, us(time("shared 16x16")), us(time("global 16x16")),
            percent(1 - 1 / gain["16x16"]), times(gain["16x16"]),
            times(gain["32x32"])))
    page.claim("a shared tile speeds up a matrix product",
               "5.2 (80.8 % less time); 2.7",
               "%s at 16 x 16, %s at 32 x 32" % (
                   times(gain["16x16"]), times(gain["32x32"])),
               verdict(gain["16x16"] >= 2.7, gain["16x16"] >= 1.02))
    t.matmul(page)
    share = lambda name: page.count("matmul", name, 1024, t.DRAM)
    page.claim("its bandwidth rises with the tile", "45 % to 82 %",
               "%.1f %% to %.1f %% of DRAM's: not what bounds it" % (
                   share("global 16x16"), share("shared 16x16")),
               verdict(share("shared 16x16") >= 45))
    fma = 1024 ** 3 / 32
    page.say("""Why. The tile cuts the requests to L1 by %s (16 x 16) and %s
        (32 x 32), as it should, but not the reads from DRAM (%.1f MB at 1024
        both ways, %.1f %% and %.1f %% of what DRAM can do): the caches of this
        GPU hold what the texts' GPUs read again, so there is less left to
        save, and a share of the bandwidth says nothing about either form. The
        tile is bound in its turn by shared memory: %.2f loads for each
        multiply-add of a warp. A tuned kernel keeps a patch of C in registers
        instead of one number.""" % (
            fewer(REQUESTS, "16x16"), fewer(REQUESTS, "32x32"),
            page.count("matmul", "shared 16x16", 1024, READ) / 1e6,
            share("global 16x16"), share("shared 16x16"),
            asked("shared 16x16", t.INSTRUCTIONS) / fma))
    if page.data.has("explain matmul", "tuned", 0, "shared_load_instructions"):
        tuned = page.data.get("explain matmul", "tuned", 0, "time_us")
        loads = page.data.get("explain matmul", "tuned", 0,
                              "shared_load_instructions")
        page.say("""At 4096 ours has %.3f loads a multiply-add and takes %s
            (%.1f TFLOP/s): %s times as fast as the 32 x 32 tile, %s times as
            fast as global memory alone. The step from shared memory to
            registers is the larger one.""" % (
                loads / (n ** 3 / 32), us(tuned), 2.0 * n ** 3 / tuned / 1e6,
                times(time("shared 32x32") / tuned),
                times(time("global 32x32") / tuned)))


def convolving(page):
    page.head("Convolution")
    page.claimed("""a 3 x 3 convolution on the GPU is 45 times as fast as a
        scalar loop on the CPU; the CPU's loop can be unrolled.""")
    gains = [page.data.get("tuned conv2d", v, 0, "default_us") /
             page.data.get("tuned conv2d", v, 0, "time_us")
             for v, _ in t.tuned(page)["conv2d"]]
    experiment, known = "recording conv2d 4096x4096x7", ""
    best = page.data.get(experiment, "all", 0, "best_us")
    floor = 8 * 4096 ** 2 / t.copy_rate(page) / 1e3
    if page.data.has("convolution"):
        scalar, unrolled, gpu = (page.time("convolution", name, 4096)
                                 for name in ("scalar loop", "unrolled loop",
                                              "tuned"))
        known = """a 3 x 3 filter over 4096 x 4096 takes a scalar loop on one
            core of the GPU's host %s, unrolled %s, and the tuned kernel %s:
            factors of %.0f and %.0f.""" % (
                us(scalar), us(unrolled), us(gpu), scalar / gpu,
                unrolled / gpu)
        page.claim("convolution on the GPU against a scalar loop", "45",
                   "%.0f; unrolled %.0f" % (scalar / gpu, unrolled / gpu),
                   verdict(scalar / gpu >= 45))
    else:
        known = """not against a CPU: no scalar loop was timed beside it, and
            the factor would say more about the loop than about the kernel."""
        page.claim("convolution on the GPU against a scalar loop", "45",
                   "no loop was timed", "not measured")
    page.measured(known + """ Against our own default configuration, a plain
        tile with its halo in shared memory, the tuned ones are %s to %s times
        as fast at %d sizes. Of 4096 x 4096 with a 7 x 7 filter the best of %s
        recorded configurations takes %s, %s of the speed of a copy.""" % (
            times(min(gains)), times(max(gains)), len(gains),
            count(page.data.get(experiment, "all", 0, "timed")), us(best),
            percent(floor / best)))


# -- static and dynamic -------------------------------------------------------

def memory_kinds(page):
    page.head("Static against dynamic shared memory")
    variant = "MEMORY dynamic against static"
    of = lambda q, quantity="ratio": [
        page.data.get(e, variant, q, quantity) for e in t.recordings(page)
        if page.data.has(e, variant, 50, "ratio")]
    page.claimed("""static shared memory is fixed when the kernel is compiled,
        dynamic is the launch's third argument; there is no difference in speed
        on any GPU.""")
    same = all(abs(m - 1) < 0.005 for m in of(50))
    page.measured("""on this GPU there is %s: over %s pairs of recorded
        configurations of %d kernels that differ in nothing else, the median of
        dynamic over static is %.3f to %.3f; nine pairs in ten lie between %.3f
        and %.3f, on both sides alike. Dynamic memory costs %s; other GPUs were
        not measured.""" % (
            "none" if same else "one", count(sum(of(0, "pairs"))),
            len(of(50)), min(of(50)), max(of(50)), min(of(5)), max(of(95)),
            "nothing" if same else "something"))
    page.claim("static and dynamic shared memory are equally fast",
               "no difference", "medians %.3f to %.3f over %s pairs" % (
                   min(of(50)), max(of(50)), count(sum(of(0, "pairs")))),
               verdict(same))
    t.static_dynamic(page)
    page.say("""What differs is the limit: static memory ends at 48 KiB, see
        [48 KiB against 227 KiB](#48-kib-against-227-kib).""")
