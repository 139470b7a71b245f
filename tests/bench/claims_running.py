# SPDX-License-Identifier: MIT
"""What the page says of shared memory's limit, divergence, barriers, streams
and the profiler."""
import claims_tables as t
from claims_page import SECTORS, THREADS, verdict
from page import times, us

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
    held = ""
    if page.data.has("explain matmul", "tuned", 0, "registers"):
        get = lambda key: page.data.get("explain matmul", "tuned", 0, key)
        held = """For the others a larger tile means fewer blocks on a
            multiprocessor; the tuned matrix product of 4096 is held at %.0f %%
            occupancy by its %.0f registers a thread, and its tiles fill %.0f
            KiB.""" % (get("occupancy_percent"), get("registers"),
                       (get("shared_static_bytes") +
                        get("shared_dynamic_bytes")) / 1024)
    page.say("""%sWhat the winner above 48 KiB gains over the best below was not
        recorded for those problems, only that it won. """ %
             uses_it(above) + held)


# What a kernel keeps there that is large.
LARGE = {
    "softmax": "a long row",
    "conv2d": "a filter's wide halo with many outputs a thread",
    "scan": "many numbers a block",
    "matmul": "several slices of both matrices on their way",
}


def uses_it(above):
    """Which kernels have a winner above 48 KiB, and for what."""
    kernels = sorted({kernel for kernel, _ in above})
    if not kernels:
        return ""
    return "Which kernels use it, and for what: %s. " % "; ".join(
        "`%s`, %s" % (kernel, LARGE.get(kernel, "not told here"))
        for kernel in kernels)


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
        times the time of `barriers`, and what `merged` gains (%s) is the work
        that 31 warps leave out.""" % (
            times(inner[2]), times(inner[32]), page.count(
                "divergence", "within warps", 32, THREADS), times(outer),
            times(scattered), times(t.gains(page)["merged"])))
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
                   "stride", "copy x 2", 1, SECTORS % "ld")))
