# SPDX-License-Identifier: MIT
"""What the page says of accesses: global memory's sectors and shared memory's
banks."""
import claims_tables as t
from claims_page import READ, REQUESTS, SECTORS, verdict
from page import count, times, us


def coalescing(page):
    page.head("Coalescing")
    stride_claims(page)
    t.stride_plot(page)
    why_reads(page)
    order_claims(page)
    t.orders(page)


def sectors(page, x):
    return page.per_request("stride", "copy x 2", x, "ld")


def reads(page, x):
    """DRAM bytes read over those of consecutive access."""
    return (page.count("stride", "copy x 2", x, READ) /
            page.count("stride", "copy x 2", 1, READ))


def stride_claims(page):
    rate = lambda x: page.data.get("stride", "copy x 2", x, "gb_per_s")
    page.claimed("""a kernel that doubles numbers asks for 4 sectors a request
        where the threads of a warp read neighbours, for 32 where they read
        every 32nd number, and then reads 8 times as much from DRAM; the
        bandwidth falls as the stride goes from 1 to 32.""")
    page.measured("""%.2f and %.2f sectors a request, but DRAM reads %.1f times
        as many bytes. Useful bandwidth falls from %.0f GB/s at stride 1 to
        %.0f at 8 and %.0f at 32, by factors of %s and %s: most of it is lost by
        stride 8, from which each thread has a sector to itself.""" % (
            sectors(page, 1), sectors(page, 32), reads(page, 32), rate(1),
            rate(8), rate(32), times(rate(1) / rate(8)),
            times(rate(1) / rate(32))))
    page.claim("sectors a request, consecutive and stride 32", "4 and 32",
               "%.2f and %.2f" % (sectors(page, 1), sectors(page, 32)),
               verdict(abs(sectors(page, 1) - 4) < 0.05 and
                       abs(sectors(page, 32) - 32) < 0.05))
    page.claim("DRAM reads at stride 32 over consecutive", "8",
               "%.1f" % reads(page, 32),
               verdict(abs(reads(page, 32) / 8 - 1) < 0.1))
    page.claim("bandwidth falls from stride 1 to 32", "falls",
               "%.0f to %.0f GB/s, by %s" % (rate(1), rate(32),
                                             times(rate(1) / rate(32))),
               verdict(rate(32) < rate(16) < rate(8) < rate(1)))


def why_reads(page):
    once = 4 * 2.0 ** 22
    read = lambda x: page.count("stride", "copy x 2", x, READ) / once
    page.say("""Why %.0f and not 8. Eight times is what the sectors of the
        loads make, and at stride 8 DRAM reads %.1f times the useful bytes: as
        much again for the stores, whose sectors are written in part only and
        have to be read before they can be completed. From stride 16 on the
        reads are %.1f: the counts fit DRAM that fetches 64 bytes at a time, so
        that every second sector of a load goes unused (16), and the stores' 8.
        Where the passes of a stride cover all elements in turn, the same
        happens to every pass (the dashed line): between two passes the cache
        has forgotten the sector.""" % (read(32), read(8), read(16)))


def order_claims(page):
    get = lambda order, metric: page.count("coalescing", order + " 16384", 1,
                                           metric % "ld")
    time = lambda order: page.count("coalescing", order + " 16384", 1,
                                    "gpu__time_duration.sum")
    ours = [get("rows", SECTORS), get("columns", SECTORS),
            get("rows", REQUESTS)]
    theirs = [33554432, 268435456, 8388608]
    same = ours == theirs
    both = [page.count("coalescing", o + " 16384", 1, READ)
            for o in ("rows", "columns")]
    page.claimed("""x 2 + 1 over a matrix in blocks of 32 x 32 takes 33,554,432
        sectors for 8,388,608 requests along the rows, 268,435,456 down the
        columns.""")
    page.measured("""%s and %s sectors for %s requests, %s. Down the columns it
        takes %s times as long, although DRAM reads only %.1f %% more: each
        block uses its sectors up while the L1 cache still holds them, and what
        is paid for is the requests.""" % (
            count(ours[0]), count(ours[1]), count(ours[2]),
            "to the sector" if same else "other numbers than claimed",
            times(time("columns") / time("rows")),
            100 * (both[1] / both[0] - 1)))
    page.claim("sectors of a matrix by rows and by columns",
               "33,554,432 and 268,435,456 for 8,388,608 requests",
               "%s and %s for %s" % tuple(map(count, ours)), verdict(same))


# -- banks --------------------------------------------------------------------

RECORDED = "recording bank_conflict 1081344x1024"


def recorded(page):
    """(predicted n, time) of every recorded stride, word and padding."""
    return [(t.predicted(int(x), word, pad), time)
            for word in (4, 8, 16) for pad in range(5)
            for x, time in page.data.series(
                RECORDED, "word %d pad %d" % (word, pad), "time_us")]


def fit(points):
    """time = base + slope n, and the most that one is off."""
    count_ = len(points)
    mean_x = sum(x for x, _ in points) / count_
    mean_y = sum(y for _, y in points) / count_
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in points) /
             sum((x - mean_x) ** 2 for x, _ in points))
    base = mean_y - slope * mean_x
    return base, slope, max(abs(y / (base + slope * x) - 1)
                            for x, y in points)


def counted(page):
    """(predicted n, measured n) where the profiler counted."""
    found = []
    for word, pad in ((4, 0), (4, 1), (8, 0), (16, 0)):
        name = "word %d pad %d" % (word, pad)
        for x in page.data.xs("bank_conflict", name, t.WAVES % "ld"):
            found.append((t.predicted(int(x), word, pad),
                          t.measured_ways(page, word, pad, x)))
    return found


def conflicts(page):
    page.head("Bank conflicts")
    page.claimed("""shared memory has 32 banks of 4 bytes (of 8 bytes in a mode
        of old GPUs); n different words of one bank take n transactions, the
        same word is a broadcast and none, stride 32 is the worst case and an
        array `[32][33]` cures it; doubles are two words. A profiler shows an
        efficiency of 100 % for a kernel without conflicts and 25 % for one
        with 4-way conflicts, although their times hardly differ.""")
    pairs = counted(page)
    off = max(abs(got / want - 1) for want, got in pairs)
    points = recorded(page)
    base, slope, wide = fit(points)
    page.measured("""in %d counted combinations of stride, word and padding the
        steps of a load %s, and the times of all %d recorded ones follow %.1f
        us + n x %.1f us within
        %.1f %%: an n-way conflict takes n steps, and where a kernel does
        nothing else, n times as long.""" % (
            len(pairs), "are the predicted ones" if off < 0.0005 else
            "differ from the prediction by %.1f %% at most" % (100 * off),
            len(points), base, slope, 100 * wide))
    page.claim("an n-way bank conflict takes n transactions",
               "n, 32 at worst", "%s for %d strides, words and paddings" % (
                   "exactly" if off < 0.0005 else "within %.1f %% of it" % (
                       100 * off), len(pairs)), verdict(off < 0.02))
    cures(page)
    kinds(page)
    efficiency(page)
    t.banks(page)
    page.say("""The same conflict once between a load and a store of global
        memory, 2^26 numbers:""")
    t.bank_once(page)


def cures(page):
    time = lambda pad, x: page.data.get(RECORDED, "word 4 pad %d" % pad, x,
                                        "time_us")
    gain = {int(x): time(0, x) / time(1, x) for x in page.data.xs(
        RECORDED, "word 4 pad 1", "time_us")}
    better = [x for x in gain if gain[x] > 1.02]
    worse = [x for x in gain if gain[x] < 0.98]
    least = min(gain, key=gain.get)
    page.say("""Padding: one word more after every 32 takes stride 32 from %s
        to %s (%s ways to %.2f). It is no cure for every stride: of strides 2
        to 32 it helps %d and costs %d, for odd strides had no conflict and
        with it two words of a warp meet; at stride %d it brings back %.0f
        ways.""" % (us(time(0, 32)), us(time(1, 32)),
                    "%.0f" % t.measured_ways(page, 4, 0, 32),
                    t.measured_ways(page, 4, 1, 32), len(better), len(worse),
                    least, t.predicted(least, 4, 1)))
    page.claim("an array `[32][33]` cures stride 32", "no conflict",
               "%.2f ways, %s instead of %s" % (
                   t.measured_ways(page, 4, 1, 32), us(time(1, 32)),
                   us(time(0, 32))),
               verdict(t.measured_ways(page, 4, 1, 32) < 1.02))


def kinds(page):
    ways = {word: [t.measured_ways(page, word, 0, x) for x in (2, 32)]
            for word in (4, 8, 16)}
    same = page.ways("matmul", "shared 32x32", 1024, "ld")
    page.say("""Wide words: 8 bytes are served for 16 threads at a time and 16
        bytes for 8, so that the worst case is %.0f and %.0f ways instead of
        %.0f; stride 2 makes %.0f, %.0f and %.0f. Doubles without a stride have
        no conflict: the same bytes take %s as 4-byte words and %s as 8-byte
        words.""" % (ways[8][1], ways[16][1], ways[4][1],
                     *(ways[w][0] for w in (4, 8, 16)),
                     us(page.data.get(RECORDED, "word 4 pad 0", 1,
                                      "time_us")),
                     us(page.data.get(RECORDED, "word 8 pad 0", 1,
                                      "time_us"))))
    page.say("""Broadcast: in the 32 x 32 matrix product all threads of a warp
        read the same word of A's tile; its loads take %.3f times the steps that
        they need. The mode of 8-byte banks was not measured: this GPU has none.
        """ % same)
    page.claim("the same word read by all threads is a broadcast",
               "no conflict", "%.3f steps where 1 is needed" % same,
               verdict(same < 1.02))


def efficiency(page):
    shown = [page.count("bank_conflict", "word 4 pad 0", x, t.EFFICIENCY)
             for x in (1, 4)]
    pure = (page.data.get(RECORDED, "word 4 pad 0", 4, "time_us") /
            page.data.get(RECORDED, "word 4 pad 0", 1, "time_us"))
    mixed = {x: page.time("bank_once", "one access", x) /
             page.time("bank_once", "one access", 1) for x in (4, 32)}
    page.say("""Efficiency: %.0f %% without conflicts and %.0f %% with 4-way
        conflicts. Whether the time differs hangs on what else the kernel does:
        by a factor of %s where it only reads shared memory, by %s where one
        such access stands between a load and a store of global memory (%s at 32
        ways).""" % (*shown, times(pure), times(mixed[4]), times(mixed[32])))
    page.claim("a 4-way conflict: efficiency 25 %, hardly any time",
               "100 % to 25 %, same time",
               "%.0f %% to %.0f %%; time x %s in a memory-bound kernel, x %s "
               "in a loop of loads" % (*shown, times(mixed[4]), times(pure)),
               verdict(pure < 1.1 and mixed[4] < 1.1, mixed[4] < 1.1))
