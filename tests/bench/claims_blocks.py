# SPDX-License-Identifier: MIT
"""What the page says of block sizes, registers, spills and occupancy."""
import page_svg as svg
import claims_tables as t
from claims_page import LOCAL, verdict
from page import count, percent, times, us

HEAVY, COPY = "160 live values", "copy"


# -- spills and block size ----------------------------------------------------

def blocks(page):
    page.head("Block size, registers, spills")
    heavy = {int(x): y for x, y in page.data.series("block_size", HEAVY,
                                                    "time_us")}
    copy = {int(x): y for x, y in page.data.series("block_size", COPY,
                                                   "time_us")}
    of = lambda x, quantity: page.data.get("block_size", HEAVY, x, quantity)
    best, light = min(heavy, key=heavy.get), min(copy, key=copy.get)
    spills = [x for x in heavy if of(x, "local_bytes") > 0]
    page.claimed("""too many threads a block leave too few registers to each;
        what does not fit is spilled to local memory, which is slow, and so is
        an array that is indexed at run time. Kernels with few registers that
        are bound by memory want big blocks, others small ones; the block should
        be a multiple of 32.""")
    page.measured("""a kernel that keeps 160 values alive has %.0f registers a
        thread up to 128 threads a block. Blocks of %s leave it %s; it spills
        %s bytes a thread and takes %s times as long as at %d threads, although
        occupancy rises from %.1f %% to %s. A copy of 2^26 numbers is fastest at
        %d threads a block, %s times as fast as at 32 and %s times as fast as at
        1024.""" % (
            of(128, "registers"), " and ".join(map(str, spills)),
            " and ".join("%.0f" % of(x, "registers") for x in spills),
            " and ".join("%.0f" % of(x, "local_bytes") for x in spills),
            " and ".join(times(heavy[x] / heavy[best]) for x in spills), best,
            of(best, "occupancy_percent"), " and ".join(
                "%.0f %%" % of(x, "occupancy_percent") for x in spills),
            light, times(copy[32] / copy[light]),
            times(copy[1024] / copy[light])))
    page.claim("big blocks make a register-heavy kernel spill, and slow",
               "slower", ", ".join("%s at %d threads" % (
                   times(heavy[x] / heavy[best]), x) for x in spills),
               verdict(all(heavy[x] > 1.1 * heavy[best] for x in spills)))
    local = page.time("ladder", "local", t.N) / page.time("ladder", "serial",
                                                          t.N)
    page.claim("an array indexed at run time lies in local memory, slow",
               "slow", "%s times as slow as a register ([ladder]"
               "(#reduction-step-by-step))" % times(local),
               verdict(local > 1.1))
    page.claim("light memory-bound kernels want big blocks, others small",
               "big; small", "copy best at %d (1024: %s times the time), 160 "
               "values best at %d" % (light, times(copy[1024] / copy[light]),
                                      best),
               verdict(light >= 512 and best <= 256, light > best))
    size_table(page)
    moved = [(x, 32 * sum(page.count("block_size", HEAVY, x, LOCAL % op)
                          for op in ("ld", "st")) / 1e9)
             for x in spills
             if page.data.has("block_size", HEAVY, x, LOCAL % "ld")]
    if moved:
        page.say("""Why. The spilled values move %s through the L1 cache; the
            kernel itself reads and writes a few megabytes.""" % " and ".join(
                "%.0f GB (%d threads)" % (gb, x) for x, gb in moved))
    multiples(page, copy)
    spills = [page.data.get(e, "spill", 1, "best_us") /
              page.data.get(e, "spill", 0, "best_us")
              for e in t.recordings(page)
              if page.data.has(e, "spill", 1, "best_us")]
    page.say("""The recorded kernels. The best time at each block size over the
        best of all shows how little the block size says by itself once the rest
        is chosen for it. Of these kernels %d have configurations that spill;
        the best of those takes %.3f to %.3f times the time of the best that
        does not:""" % (len(spills), min(spills), max(spills)))
    recorded_blocks(page)


def multiples(page, copy):
    rate = lambda x: 2.0 ** 26 / x / copy[x]
    page.say("""Multiples of 32: in the copy, blocks of 100 threads take %s
        times the time of 128, which are as many warps, and %s times that of
        96, which are one warp fewer; 48 threads take %s times the time of 64.
        Up to 128 threads the GPU starts %.0f to %.0f blocks a microsecond
        whatever their size, and that rate is what bounds the small blocks:
        threads that a block lacks to the next multiple of 32 are lost, but it
        is the number of blocks that is paid for.""" % (
            times(copy[100] / copy[128]), times(copy[100] / copy[96]),
            times(copy[48] / copy[64]),
            min(map(rate, (32, 48, 64, 96, 100, 128))),
            max(map(rate, (32, 48, 64, 96, 100, 128)))))
    page.claim("a block should be a multiple of 32 threads", "yes",
               "100 threads take %s times the time of 128, %s of 96" % (
                   times(copy[100] / copy[128]), times(copy[100] / copy[96])),
               verdict(copy[100] > copy[128] and copy[100] > copy[96],
                       copy[100] > copy[128]))


def occupancy(page):
    page.head("Occupancy and bandwidth")
    rate = {int(x): y for x, y in page.data.series("latency", "copy",
                                                   "gb_per_s")}
    most = max(rate)
    multiprocessors = page.data.get("device", "all", 0, "multiprocessors")
    rounds = 2.0 ** 24 / (32 * multiprocessors)
    page.claimed("few threads cannot hide the latency of memory.")
    page.measured("""with one load in flight a thread, 32 threads on each of
        the %d multiprocessors move %.0f GB/s, %d move %.0f, and all %d move
        %.0f: bandwidth grows with the threads almost to the end, and half of
        them reach %s of it. One round of a lone warp, a load and the store
        that waits for it, takes %.0f ns: that is what has to be hidden.""" % (
            multiprocessors, rate[32], 512, rate[512], most, rate[most],
            percent(rate[most // 2] / rate[most]),
            1e3 * page.time("latency", "copy", 32) / rounds))
    page.claim("few threads cannot hide latency", "slow",
               "%.0f GB/s at 32 threads a multiprocessor, %.0f at %d" % (
                   rate[32], rate[most], most),
               verdict(rate[32] < 0.5 * rate[most]))
    latency_table(page)
    recorded_occupancy(page)
    few = [(page.data.get(e, "tuned", 0, "occupancy_percent"),
            page.data.get(e, "tuned", 0, "dram_percent_of_peak"),
            e[len("explain "):]) for e in t.explanations(page)]
    few = [(a, b, name) for a, b, name in few if b >= 80 and a <= 60]
    if few:
        page.say("""Occupancy is one way to have loads in flight, several loads
            a thread the other: %s. See the [last
            section](#why-the-tuned-configurations-are-faster).""" % "; ".join(
                "the tuned `%s` keeps DRAM busy %.0f %% of the time at an "
                "occupancy of %.0f %%" % (name, b, a)
                for a, b, name in sorted(few)))


def size_table(page):
    rows = []
    for x in page.data.xs("block_size", HEAVY, "time_us"):
        get = lambda quantity: page.data.get("block_size", HEAVY, x, quantity)
        local = "-"
        if page.data.has("block_size", HEAVY, x, LOCAL % "ld"):
            local = count(page.count("block_size", HEAVY, x, LOCAL % "ld") +
                          page.count("block_size", HEAVY, x, LOCAL % "st"))
        rows.append(["%g" % x, "%g" % get("registers"),
                     "%g" % get("local_bytes"),
                     "%.1f %%" % get("occupancy_percent"), local,
                     us(get("time_us")), "%.1f" % get("tflops")])
    page.table(["threads a block", "registers a thread",
                "local memory, bytes a thread", "occupancy",
                "local-memory sectors", "time", "TFLOP/s"], rows)
    page.plot("block_size", "block size against speed",
              svg.lines("Block size: 160 live values a thread, and a copy",
                        "threads a block (logarithmic)",
                        "share of the fastest, %",
                        [(name, relative(page.data.series(
                            "block_size", variant, "time_us")), False)
                         for name, variant in (("160 live values", HEAVY),
                                               ("copy", COPY))], True))
    page.table(["threads a block, copy of 2^26 floats", "time", "GB/s"],
               [["%g" % x, us(page.time("block_size", COPY, x)),
                 "%.0f" % page.data.get("block_size", COPY, x, "gb_per_s")]
                for x in page.data.xs("block_size", COPY, "time_us")])


def latency_table(page):
    page.table(["threads on each multiprocessor, one load each in flight",
                "time", "GB/s"],
               [["%g" % x, us(page.time("latency", "copy", x)),
                 "%.0f" % page.data.get("latency", "copy", x, "gb_per_s")]
                for x in page.data.xs("latency", "copy", "time_us")])


def relative(series):
    best = min(time for _, time in series)
    return [(x, 100 * best / time) for x, time in series]


def recorded_blocks(page):
    rows = []
    for experiment in t.recordings(page):
        series = page.data.series(experiment, "threads", "best_us")
        if len(series) < 3:
            continue
        best = min(time for _, time in series)
        spilling = clean = "-"
        if page.data.has(experiment, "spill", 1, "best_us"):
            spilling = "%s (%s)" % (
                us(page.data.get(experiment, "spill", 1, "best_us")),
                count(page.data.get(experiment, "spill", 1, "timed")))
        if page.data.has(experiment, "spill", 0, "best_us"):
            clean = "%s (%s)" % (
                us(page.data.get(experiment, "spill", 0, "best_us")),
                count(page.data.get(experiment, "spill", 0, "timed")))
        rows.append([experiment[len("recording "):], ", ".join(
            "%g: %.2f" % (x, time / best) for x, time in series), clean,
            spilling])
    page.table(["kernel, problem", "best time at threads a block, over the "
                "best of all", "best without spills (how many)",
                "best with spills (how many)"], rows)


def recorded_occupancy(page):
    """The best of each step of occupancy, over the best of all."""
    rows, best_at, half = [], [], []
    for experiment in t.recordings(page):
        series = page.data.series(experiment, "occupancy", "best_us")
        if len(series) < 2:
            continue
        best = min(time for _, time in series)
        best_at += [(x, experiment.split()[1]) for x, time in series
                    if time == best]
        rows.append([experiment[len("recording "):], ", ".join(
            "%.0f: %.2f" % (x, time / best) for x, time in series)])
        half += [time / best for x, time in series if x == 50]
    page.say("""The recorded kernels: the best configuration of all has an
        occupancy of %s, and the best of those at 50 to 59 %% takes %.2f to %.2f
        times its time:""" % (", ".join("%.0f %% or more (`%s`)" % pair
                                        for pair in sorted(best_at)),
                              min(half), max(half)))
    page.table(["kernel, problem", "best time at an occupancy of so many % and "
                "up to 10 more, over the best of all"], rows)
