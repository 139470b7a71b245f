# SPDX-License-Identifier: MIT
"""What the page says of the tuned configurations beside the default ones."""
import claims_tables as t
from claims_data import quantile
from claims_page import verdict
from page import count, percent, times, us


def why(page):
    page.head("Why the tuned configurations are faster")
    found = gains(page)
    every = [gain for some in found.values() for gain in some]
    faster = sum(gain > 1.02 for gain in every)
    page.claimed("""none by the texts; this is what the counters say of what the
        tuner found. The default is the plain form that the texts end with,
        static memory and 256 threads or so.""")
    page.measured("""over %d problems of %d kernels the tuned configuration is
        %s times as fast as the default in the median (half of them between %s
        and %s), and more than 2 %% faster in %d. One problem a kernel, by what
        the profiler counts:""" % (
            len(every), len(found), times(quantile(every, 0.5)),
            times(quantile(every, 0.25)), times(quantile(every, 0.75)),
            faster))
    page.claim("tuned configurations against default ones", "asked",
               "median %s over %d problems" % (
                   times(quantile(every, 0.5)), len(every)),
               verdict(faster > 0.9 * len(every), faster > 0))
    page.items(explanation(page, experiment)
               for experiment in t.explanations(page))
    left = ["`%s`" % kernel for kernel in found
            if not page.data.has("explain " + kernel)]
    if left:
        page.say("Not counted since their kernels or tunings changed: %s." %
                 ", ".join(left))
    table(page)
    page.table(["kernel", "tuned problems", "default / tuned: least", "median",
                "most"],
               [[kernel, len(some), times(min(some)),
                 times(quantile(some, 0.5)), times(max(some))]
                for kernel, some in found.items()])


def gains(page):
    """default / tuned of each problem, by kernel; not of demonstrations."""
    found = {}
    for kernel, problems in t.tuned(page).items():
        name = "tuned " + kernel
        if kernel not in ("bank_conflict", "coalescing"):
            found[kernel] = [page.data.get(name, v, 0, "default_us") /
                             page.data.get(name, v, 0, "time_us")
                             for v, _ in problems
                             if page.data.has(name, v, 0, "default_us")]
    return found


class Side:
    """The default or the tuned configuration of a kernel."""

    def __init__(self, page, experiment, label):
        self.get = lambda key: (
            page.data.get(experiment, label, 0, key)
            if page.data.has(experiment, label, 0, key) else None)
        self.set = dict(part.split("=") for part in page.data.text(
            experiment, label, 0, "configuration").split())

    def product(self, *names):
        value = 1
        for name in names:
            value *= int(self.set[name])
        return value


def explanation(page, experiment):
    kernel = experiment[len("explain "):]
    plain, tuned = (Side(page, experiment, label)
                    for label in ("default", "tuned"))
    cause = CAUSES[kernel](plain, tuned) if kernel in CAUSES else ""
    return "`%s` (%s), %s times as fast: %s%s." % (
        kernel, page.data.text(experiment, "all", 0, "size"),
        times(plain.get("time_us") / tuned.get("time_us")),
        cause + "; " if cause else "", ", ".join(changes(plain, tuned)))


def changes(plain, tuned):
    """What the counters say, where they differ by much."""
    def both(key):
        a, b = plain.get(key), tuned.get(key)
        return (a, b) if a is not None and b is not None else (0, 0)

    said = []
    a, b = both("dram_read_megabytes")
    if b < 0.9 * a:
        said.append("%.0f MB read from DRAM instead of %.0f" % (b, a))
    for key, what in (("dram_percent_of_peak", "DRAM busy"),
                      ("fma_percent_of_peak", "the FMA pipe busy")):
        a, b = both(key)
        if b > a + 3 and b > 20:
            said.append("%s %.0f %% of the time instead of %.0f %%" %
                        (what, b, a))
    a, b = both("issue_percent_of_peak")
    if abs(b - a) > 15:
        said.append("instructions issued in %.0f %% of the cycles instead of "
                    "%.0f %%" % (b, a))
    a, b = both("shared_load_instructions")
    if a > 1e5 and b == 0:
        said.append("no loads from shared memory instead of %s" % count(a))
    elif b and a > 1e5 and a > 1.5 * b:
        said.append("%s times fewer loads from shared memory" % times(a / b))
    for key, what in (("shared_load_ways", "loads"),
                      ("shared_store_ways", "stores")):
        a, b = both(key)
        if abs(b - a) > 0.3:
            said.append("%s of shared memory conflict %.2f-way instead of "
                        "%.2f-way" % ("although " + what if b > a else what,
                                      b, a))
    a, b = both("occupancy_percent")
    if b < 0.8 * a:
        said.append("at an occupancy of %.0f %% instead of %.0f %%, with %.0f "
                    "registers a thread instead of %.0f" %
                    ((b, a) + tuple(reversed(both("registers")))))
    return said or ["the counters hardly differ"]


def in_flight(plain, tuned):
    a, b = (side.product("VECTOR", "UNROLL") for side in (plain, tuned))
    return "a thread has %d numbers on their way at a time, not %d" % (
        b, a) if a != b else ""


def reduce_(plain, tuned):
    said = in_flight(plain, tuned)
    if plain.set["FINISH"] == "stages" != tuned.set["FINISH"]:
        said += ", and one launch finishes instead of two"
    return said


def transpose(plain, tuned):
    a, b = (side.product("VECTOR") for side in (plain, tuned))
    return "%d elements a thread and access instead of %d, so that fewer " \
        "instructions move the same bytes" % (b, a) if a != b else ""


def matmul(plain, tuned):
    a, b = (side.product("THREAD_M", "THREAD_N") for side in (plain, tuned))
    return "a thread keeps %d numbers of C in registers instead of %d, so " \
        "that each number loaded is used more often" % (b, a) if a != b else ""


def conv2d(plain, tuned):
    a, b = (side.product("OUT_X", "OUT_Y") for side in (plain, tuned))
    return "%d outputs a thread instead of %d (method `%s`), which share the " \
        "inputs that they load" % (b, a, tuned.set["METHOD"]) if a != b else ""


def histogram(plain, tuned):
    a, b = plain.set["COPIES"], tuned.set["COPIES"]
    return "%s copies of the bins a block instead of %s, so that threads " \
        "which count the same bin meet less often" % (b, a) if a != b else ""


def scan(plain, tuned):
    a, b = plain.set["METHOD"], tuned.set["METHOD"]
    return "a single pass (`%s`) instead of three (`%s`), so that the " \
        "numbers are read once" % (b, a) \
        if a == "phases" != b else ""


def softmax(plain, tuned):
    a, b = plain.set["HOLD"], tuned.set["HOLD"]
    return "a row is kept (`HOLD` %s) between its passes instead of read " \
        "again" % b if a == "again" != b else ""


def stencil2d(plain, tuned):
    a, b = plain.set, tuned.set
    said = "the default computes tiles for %s steps at once, of which one is " \
        "asked" % a["TIME"] if int(a["TIME"]) > int(b["TIME"]) else ""
    how = {"march": "marches down the columns with its rows in registers",
           "patch": "loads a patch a warp at once, shares its side columns "
                    "by shuffles, and ends"}.get(b["WALK"])
    if how and a["WALK"] != b["WALK"]:
        said += (", " if said else "") + "the tuned one " + how
    return said


def nbody(plain, tuned):
    said = []
    if plain.set.get("FORM") == "each" and tuned.set.get("FORM") == "pairs":
        said.append("each pair's distance is computed once, for both bodies")
    if tuned.product("SPLIT") > plain.product("SPLIT"):
        said.append("each body's sum is split over %s blocks, without which "
                    "the GPU is not filled" % tuned.set["SPLIT"])
    if tuned.product("BODIES") > plain.product("BODIES"):
        said.append("a load serves %s bodies" % tuned.set["BODIES"])
    if tuned.product("UNROLL") > plain.product("UNROLL"):
        said.append("the loop is unrolled %s times" % tuned.set["UNROLL"])
    return ", ".join(said)


CAUSES = {"reduce": reduce_, "row_reduce": in_flight, "transpose": transpose,
          "matmul": matmul, "conv2d": conv2d, "histogram": histogram,
          "scan": scan, "softmax": softmax, "stencil2d": stencil2d,
          "nbody": nbody}

EXPLAINED = [
    ("time_us", "time", us), ("registers", "registers", "%.0f"),
    ("occupancy_percent", "occupancy", "%.0f %%"),
    ("sectors_per_load_request", "sectors a load request", "%.1f"),
    ("load_bytes_used_percent", "bytes of them used", "%.0f %%"),
    ("dram_read_megabytes", "DRAM read, MB", "%.1f"),
    ("dram_percent_of_peak", "DRAM, of peak", "%.0f %%"),
    ("shared_load_ways", "conflict of loads", "%.2f"),
    ("shared_store_ways", "of stores", "%.2f"),
    ("shared_load_instructions", "shared loads, thousands",
     lambda value: count(value / 1e3)),
    ("warps_active_percent", "warps active", "%.0f %%"),
    ("issue_percent_of_peak", "issue", "%.0f %%"),
    ("fma_percent_of_peak", "FMA pipe", "%.0f %%"),
]


def table(page):
    rows = []
    for experiment in t.explanations(page):
        for label in ("default", "tuned"):
            cells = []
            for key, _, how in EXPLAINED:
                if not page.data.has(experiment, label, 0, key):
                    cells.append("-")
                    continue
                value = page.data.get(experiment, label, 0, key)
                cells.append(how(value) if callable(how) else how % value)
            name = "%s, %s" % (experiment[len("explain "):], page.data.text(
                experiment, "all", 0, "size"))
            rows.append([name if label == "default" else "",
                         label] + cells)
    page.table(["kernel", ""] + [title for _, title, _ in EXPLAINED], rows)
