# SPDX-License-Identifier: MIT
"""What the page says of how kernels run: blocks, registers, occupancy,
shared memory's limit, divergence, streams."""
import claims_tables as t
from claims_page import LOCAL, THREADS, count, percent, times, us, verdict

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
    t.block_size(page)
    multiples(page, copy)
    page.say("""The recorded kernels. The best time at each block size over the
        best of all shows how little the block size says by itself once the rest
        is chosen for it; and where some configurations spill, none of those is
        the best:""")
    t.recorded_blocks(page)


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
        them reach %s of it. A load and its store take %.0f ns of a lone warp's
        time; that is what has to be hidden.""" % (
            multiprocessors, rate[32], 512, rate[512], most, rate[most],
            percent(rate[most // 2] / rate[most]),
            1e3 * page.time("latency", "copy", 32) / rounds))
    page.claim("few threads cannot hide latency", "slow",
               "%.0f GB/s at 32 threads a multiprocessor, %.0f at %d" % (
                   rate[32], rate[most], most),
               verdict(rate[32] < 0.5 * rate[most]))
    t.latency(page)
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


# -- the limit of shared memory -----------------------------------------------

def cap(page):
    page.head("48 KiB against 227 KiB")
    gains, tries = [], {30: [], 100: [], 300: []}
    for e in t.recordings(page):
        if not page.data.has(e, "above 48 KiB", 0, "best_us"):
            continue
        gains.append((page.data.get(e, "48 KiB", 0, "best_us") /
                      page.data.get(e, "all", 0, "best_us"),
                      e.split()[1]))
        for draws, some in tries.items():
            if page.data.has(e, "all", draws, "expected_best_us"):
                some.append(page.data.get(e, "48 KiB", draws,
                                          "expected_best_us") /
                            page.data.get(e, "all", draws,
                                          "expected_best_us"))
    winners = t.tuned(page)
    above = [(kernel, v) for kernel, some in winners.items()
             for v, shared in some if shared > 49152]
    problems = sum(map(len, winners.values()))
    helped = [name for gain, name in gains if gain >= 1.005]
    page.claimed("""a block may use 48 KiB of shared memory as static or plain
        dynamic memory, and 227 KiB of this GPU's when asked for; whether a
        tuner that may go above 48 KiB finds faster kernels with the same
        number of tries is the question.""")
    page.measured("""on the recorded problems it %s. The best configuration of
        all is %s; the mean best of 30, 100 and 300 random tries changes by
        factors of %.3f to %.3f, %.3f to %.3f and %.3f to %.3f when the limit is
        lifted. The larger space does not help there, and does not hurt. Of %d
        problems whose tunings ship, %d have a winner above 48 KiB: %s.""" % (
            "does not" if not helped else "does for " + ", ".join(helped),
            "one within 48 KiB for each of %d kernels" % len(gains)
            if not helped else "above 48 KiB for " + ", ".join(helped),
            *(f(tries[d]) for d in (30, 100, 300) for f in (min, max)),
            problems, len(above), ", ".join(
                "`%s` %s" % pair for pair in above) or "none"))
    page.claim("more than 48 KiB of shared memory helps", "asked",
               "best of all over best within 48 KiB: %s for %d recorded "
               "kernels; %d of %d winners use it" % (
                   " to ".join(sorted({"%.3f" % gain for gain, _ in gains})),
                   len(gains), len(above), problems),
               verdict(len(helped) == len(gains), bool(helped or above)))
    t.cap(page)
    page.say("""Which kernels use it: those that keep something in shared memory
        that is large by itself, a long row (`softmax`), a filter's wide halo
        with many outputs a thread (`conv2d`, 15 x 15), or many numbers a block
        (`scan`). What the winner above 48 KiB gains over the best below was not
        recorded for those problems, only that it won. For the others a larger
        tile means fewer blocks on a multiprocessor, and registers or loads in
        flight run out first.""")


# -- divergence, barriers, streams --------------------------------------------

def diverging(page):
    page.head("Warp divergence")
    time = lambda name, x: page.time("divergence", name, x)
    inner = {x: time("within warps", x) / time("within warps", 1)
             for x in (2, 32)}
    outer = time("between warps", 32) / time("between warps", 1)
    scattered = (page.time("ladder", "scattered", t.N) /
                 page.time("ladder", "barriers", t.N))
    page.claimed("""branches that threads of one warp take differently run one
        after the other; the ladder's timings show it.""")
    page.measured("""a branch of 2 ways within warps takes %s times as long, of
        32 ways %s times, with %.1f of 32 threads active an instruction; the
        same ways between whole warps %s times. In the ladder it hardly shows:
        `scattered`, which thins the active threads out in every warp, takes %s
        times the time of `barriers`.""" % (
            times(inner[2]), times(inner[32]), page.count(
                "divergence", "within warps", 32, THREADS), times(outer),
            times(scattered)))
    page.claim("ways of a branch within a warp run one after the other",
               "n times", "2 ways %s, 32 ways %s; between warps %s" % (
                   times(inner[2]), times(inner[32]), times(outer)),
               verdict(inner[32] > 25 and outer < 1.1))
    page.claim("divergence is visible in the ladder", "yes",
               "`scattered` takes %s times the time of `barriers`" %
               times(scattered), verdict(scattered >= 1.1, scattered >= 1.02))
    t.divergence(page)


def synchronising(page):
    page.head("Synchronising")
    gain = t.gains(page)
    page.claimed("""`__syncthreads` waits for the block and `__syncwarp` for the
        warp; a missing barrier is a race, a barrier in a branch that not all
        threads take hangs, and the last warp needs `__syncwarp` since
        Volta.""")
    page.measured("""not as figures: a race or a hang has none. Every kernel
        here has its barriers where all threads pass, bounds guard accesses and
        never barriers, and `tests/gpu/sanitize.sh` runs winners and random
        configurations under `racecheck` and `memcheck`. What a barrier costs
        the ladder shows: `__syncwarp` in the last warp instead of
        `__syncthreads` is worth %s (`branches` over `barriers`), not waiting at
        all %s (`merged` over `branches`).""" % (times(gain["branches"]),
                                                times(gain["merged"])))
    page.claim("a missing barrier races, one in a divergent branch hangs",
               "yes", "no figure to it", "not measured")


def streaming(page):
    page.head("Streams and events")
    one, two, event = (page.time("streams", name, 2) for name in
                       ("one stream", "two streams",
                        "two streams with an event"))
    page.claimed("""kernels on two streams run at the same time; an event
        recorded on one and awaited by the other puts them in order (recorded
        after the work that it is to follow).""")
    page.measured("""two kernels of half the GPU each take %s on one stream and
        %s on two, %s times as fast; with an event between them %s, as on one
        stream, and the second finds what the first made.""" % (
            us(one), us(two), times(one / two), us(event)))
    page.claim("two streams overlap, an event orders them", "yes",
               "%s times as fast; with the event %s of one stream's time" % (
                   times(one / two), times(event / one)),
               verdict(one / two > 1.5 and abs(event / one - 1) < 0.1))
    t.streams(page)
    name = "shmtune_launch returns after"
    if page.data.has("library", name, 8192, "time_us"):
        page.say("""libshmtune launches on the caller's stream and never
            synchronises: `shmtune_launch` of a transpose of 8192 x 8192 returns
            after %s, and two of them on two streams with an event between take
            %s to the end and give back the matrix.""" % (
                us(page.time("library", name, 8192)),
                us(page.time("library", "two transposes with an event between",
                             8192))))


def profiling(page):
    page.head("Profiling")
    page.claimed("""Nsight Compute counts sectors and requests of global loads
        (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum` and `..requests..`),
        bytes and sectors of DRAM (`dram__bytes_read.sum`, `dram__sectors_*`)
        and the efficiency of shared memory.""")
    page.measured("""those are the counters of this page, on a GPU of compute
        capability 9.0 with the same names; efficiency is
        `smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct`. `shmtune
        explain KERNEL` prints them for the tuned configuration beside the
        default one, with what they mean; the next section is made of it.""")
    page.claim("Nsight Compute's counters show all this", "yes",
               "the same names still count", verdict(page.data.has(
                   "stride", "copy x 2", 1, t.SECTORS % "ld")))
