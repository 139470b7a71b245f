# SPDX-License-Identifier: MIT
"""The data of the page: rows of (experiment, variant, x, quantity, value),
measured by claims.sh, counted by ncu, or drawn from recordings."""
import csv
import glob
import gzip
import json
import math
import os
import re

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
FILES = ("times.csv", "counters.csv", "recordings.csv", "explain.csv")
HEAD = ["experiment", "variant", "x", "quantity", "value"]


class Data:
    """Values by experiment, variant, x and quantity; what is not there is a
    LookupError that says what is missing."""

    def __init__(self, folder=FOLDER):
        self.values = {}
        self.texts = {}
        for name in FILES:
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                continue
            with open(path, newline="") as file:
                rows = csv.reader(file)
                if next(rows) != HEAD:
                    raise ValueError("%s: not our columns" % path)
                for experiment, variant, x, quantity, value in rows:
                    key = (experiment, variant, float(x), quantity)
                    try:
                        self.values[key] = float(value)
                    except ValueError:
                        self.texts[key] = value
        with open(os.path.join(folder, "device.txt")) as file:
            self.device = [line.strip() for line in file if line.strip()]

    def get(self, experiment, variant, x, quantity):
        key = (experiment, variant, float(x), quantity)
        if key not in self.values:
            raise LookupError("no %s of %s, %s, %g in the data" %
                              (quantity, experiment, variant, x))
        return self.values[key]

    def text(self, experiment, variant, x, quantity):
        return self.texts[(experiment, variant, float(x), quantity)]

    def has(self, experiment, variant=None, x=None, quantity=None):
        return any(key[0] == experiment and
                   (variant is None or key[1] == variant) and
                   (x is None or key[2] == x) and
                   (quantity is None or key[3] == quantity)
                   for keys in (self.values, self.texts) for key in keys)

    def xs(self, experiment, variant, quantity):
        return sorted(key[2] for key in self.values if key[0] == experiment
                      and key[1] == variant and key[3] == quantity)

    def series(self, experiment, variant, quantity):
        return [(x, self.get(experiment, variant, x, quantity))
                for x in self.xs(experiment, variant, quantity)]

    def variants(self, experiment):
        seen = []
        for keys in (self.values, self.texts):
            for key in keys:
                if key[0] == experiment and key[1] not in seen:
                    seen.append(key[1])
        return seen


# -- recordings ---------------------------------------------------------------

FIELD = re.compile(r"(\w+): (\[[^]]*\]|\"(?:[^\"\\]|\\.)*\"|[^,{}]+)")


class Recording:
    """The timed configurations of one kernel at one problem."""

    def __init__(self, path):
        with gzip.open(path, "rt") as file:
            head, _, body = file.read().partition("records:\n")
        self.kernel = re.search(r"^kernel: (\S+)", head, re.M).group(1)
        self.device = {k: v for k, v in re.findall(
            r"^  (\w+): (.*)$", head, re.M)}
        self.size = {k: int(v) for k, v in FIELD.findall(
            re.search(r"^size: (\{.*\})", head, re.M).group(1))}
        self.space = int(re.search(r"^space: (\d+)", head, re.M).group(1))
        self.rows = []
        self.reported = []      # (fields, time or None) of all compiled
        self.tried = 0
        for line in body.splitlines():
            if not line.startswith("- {config: {"):
                continue
            config, _, rest = line[len("- {config: {"):].partition("}")
            row = {k: v.strip('"') for k, v in FIELD.findall(config)}
            fields = dict(FIELD.findall(rest))
            self.tried += 1
            if "registers" in fields:
                self.reported.append((fields, float(fields["time_us"]) if
                                      "time_us" in fields else None))
            if fields.get("verdict") not in ("ok", "slow") or \
                    "time_us" not in fields:
                continue
            self.rows.append((row, fields, float(fields["time_us"])))

    def name(self):
        return "%s %s" % (self.kernel, "x".join(
            str(v) for v in self.size.values()))

    @staticmethod
    def shared(fields):
        return int(fields["shared_static_bytes"]) + \
            int(fields["shared_dynamic_bytes"])

    def threads(self, row):
        product = {
            "conv2d": ("THREADS_X", "THREADS_Y"),
            "stencil2d": ("THREADS_X", "THREADS_Y"),
        }
        if self.kernel == "matmul":
            return 32 * int(row["WARPS_M"]) * int(row["WARPS_N"])
        names = product.get(self.kernel, ("THREADS",))
        if not all(name in row for name in names):
            return None
        return math.prod(int(row[name]) for name in names)


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def expected_best(times, draws):
    """Of the fastest among `draws` different ones at random."""
    times = sorted(times)
    n = len(times)
    if draws >= n:
        return times[0]
    left, total = 1.0, 0.0      # the chance that no better one was drawn
    for k, time in enumerate(times):
        remaining = n - k
        if remaining <= draws:
            return total + left * time
        chance = draws / remaining
        total += left * chance * time
        left *= 1 - chance
    return total


def pairs(recording, parameter, one, other):
    """(time of one, time of other) of those that differ in nothing else."""
    found = {}
    for row, _, time in recording.rows:
        if row.get(parameter) in (one, other):
            rest = tuple(v for k, v in row.items() if k != parameter)
            found.setdefault(rest, {})[row[parameter]] = time
    return [(pair[one], pair[other]) for pair in found.values()
            if len(pair) == 2]


PAIRS = {
    "reduce": [("MEMORY", "dynamic", "static"), ("WARP_UNROLL", "1", "0"),
               ("WARP_UNROLL", "2", "0"), ("WARP_UNROLL", "2", "1"),
               ("EXCHANGE", "warps", "tree"), ("FINISH", "ticket", "stages"),
               ("VECTOR", "2", "1"), ("VECTOR", "4", "1"),
               ("UNROLL", "2", "1"), ("UNROLL", "4", "1"),
               ("UNROLL", "8", "1"), ("CACHE", "stream", "keep")],
    "transpose": [("MEMORY", "dynamic", "static"), ("PAD", "0", "1"),
                  ("PAD", "4", "1"), ("SWIZZLE", "1", "0"),
                  ("LOAD", "async", "plain"), ("VECTOR", "2", "1"),
                  ("VECTOR", "4", "1"), ("STREAM", "1", "0")],
    "conv2d": [("MEMORY", "dynamic", "static"), ("PAD", "0", "1"),
               ("PAD", "1", "0"), ("LOAD", "async", "plain"),
               ("WEIGHTS", "shared", "constant")],
    "matmul": [("MEMORY", "dynamic", "static"), ("PAD", "4", "0"),
               ("LOAD", "async", "plain")],
    "stencil2d": [("MEMORY", "dynamic", "static"), ("PAD", "1", "0")],
    "bank_conflict": [("MEMORY", "dynamic", "static")],
    "histogram": [("MEMORY", "dynamic", "static")],
    "scan": [("MEMORY", "dynamic", "static")],
    "softmax": [("MEMORY", "dynamic", "static")],
    "row_reduce": [("MEMORY", "dynamic", "static")],
    "nbody": [("MEMORY", "dynamic", "static")],
}


def extract(out, root):
    """Rows of what the recordings under `root` say."""
    write = csv.writer(out, lineterminator="\n")
    write.writerow(HEAD)
    paths = sorted(glob.glob(os.path.join(root, "tunings", "*",
                                          "sm_90-*.journal.gz")))
    for number, path in enumerate(paths):
        recording = Recording(path)
        if number == 0:
            extract_device(write, recording)
        if not recording.rows:
            continue
        name = recording.name()

        def put(variant, x, quantity, value):
            write.writerow(["recording " + name, variant, "%g" % x, quantity,
                            "%.6g" % value])

        times = [time for _, _, time in recording.rows]
        put("all", 0, "space", recording.space)
        put("all", 0, "timed", len(times))
        put("all", 0, "best_us", min(times))
        put("all", 0, "median_us", quantile(times, 0.5))
        for parameter, one, other in PAIRS.get(recording.kernel, ()):
            both = pairs(recording, parameter, one, other)
            if len(both) < 5:
                continue
            ratios = [a / b for a, b in both]
            variant = "%s %s against %s" % (parameter, one, other)
            put(variant, 0, "pairs", len(ratios))
            for q in (5, 25, 50, 75, 95):
                put(variant, q, "ratio", quantile(ratios, q / 100))
            for k, value in enumerate((one, other)):
                put(variant, 0, "best_us " + value,
                    min(pair[k] for pair in both))
        extract_resources(recording, put)
        extract_refusals(recording, put)
        if recording.kernel in ("bank_conflict", "coalescing"):
            extract_demonstration(recording, put)
    extract_tunings(write, root)


TUNED = re.compile(r"^- size: \{([^}]*)\}$(.*?)(?=^- size: |\Z)", re.M | re.S)


def extract_tunings(write, root):
    """Of the winners that ship: times, and how much shared memory each uses."""
    for folder in sorted(glob.glob(os.path.join(root, "tunings", "*"))):
        name = "tuned " + os.path.basename(folder)
        for path in sorted(glob.glob(os.path.join(
                folder, "sm_90-nvidia-h100*.yaml"))):
            with open(path) as file:
                found = TUNED.findall(file.read())
            for size, body in found:
                variant = "x".join(v for _, v in FIELD.findall(size))
                shared = re.findall(r"^    shared_\w+_bytes: (\d+)$", body,
                                    re.M)
                write.writerow([name, variant, 0, "shared_bytes",
                                sum(int(v) for v in shared)])
                for quantity in ("time_us", "default_us"):
                    value = re.search(r"^ +%s: (\S+)$" % quantity, body, re.M)
                    if value:
                        write.writerow([name, variant, 0, quantity,
                                        value.group(1)])


def extract_device(write, recording):
    for quantity in ("multiprocessors", "clock_khz", "memory_clock_khz",
                     "memory_bus_bits"):
        write.writerow(["device", "all", 0, quantity,
                        recording.device[quantity]])


def extract_resources(recording, put):
    rows = recording.rows
    times = [time for _, _, time in rows]
    small = [time for _, fields, time in rows
             if recording.shared(fields) <= 49152]
    put("48 KiB", 0, "timed", len(small))
    if small:
        put("48 KiB", 0, "best_us", min(small))
    if small and len(small) < len(times):
        put("above 48 KiB", 0, "best_us",
            min(time for _, fields, time in rows
                if recording.shared(fields) > 49152))
        for draws in (30, 100, 300, 1000):
            if draws < len(small):
                put("48 KiB", draws, "expected_best_us",
                    expected_best(small, draws))
                put("all", draws, "expected_best_us",
                    expected_best(times, draws))
    groups = {}
    for row, fields, time in rows:
        spill = int(fields["spill_store_bytes"])
        groups.setdefault(("spill", spill > 0), []).append(time)
        threads = recording.threads(row)
        if threads is not None:
            groups.setdefault(("threads", threads), []).append(time)
        step = min(int(fields["occupancy_percent"]) // 10 * 10, 90)
        groups.setdefault(("occupancy", step), []).append(time)
    for (variant, x), some in sorted(groups.items()):
        put(variant, float(x), "timed", len(some))
        put(variant, float(x), "best_us", min(some))
        put(variant, float(x), "median_us", quantile(some, 0.5))


# What the tuner's options refuse by the compiler's report.
REFUSALS = [("--max-spill 0", lambda f: int(f["spill_store_bytes"]) > 0)] + [
    ("--min-occupancy %d" % least,
     lambda f, least=least: int(f["occupancy_percent"]) < least)
    for least in (25, 50, 75)]


def extract_refusals(recording, put):
    """How many each option would have refused, and the best of the rest."""
    for option, refused in REFUSALS:
        left = [(f, time) for f, time in recording.reported if not refused(f)]
        timed = [time for _, time in left if time is not None]
        put(option, 0, "refused_percent",
            100 * (1 - len(left) / len(recording.reported)))
        if timed:
            put(option, 0, "best_us", min(timed))


def extract_demonstration(recording, put):
    for row, _, time in recording.rows:
        if recording.kernel == "bank_conflict":
            if row["MEMORY"] == "static":
                put("word %s pad %s" % (row["WORD"], row["PAD"]),
                    int(row["STRIDE"]), "time_us", time)
        elif row["ITEMS"] == "1" and row["STREAM"] == "0":
            if row["ORDER"] == "stride" and row["BLOCK_X"] == "256":
                put("stride", int(row["STRIDE"]), "time_us", time)
            elif row["ORDER"] != "stride":
                put("%s %sx%s" % (row["ORDER"], row["BLOCK_X"],
                                  row["BLOCK_Y"]), 0, "time_us", time)


# -- what `shmtune explain --json` wrote --------------------------------------

def explained(out, paths):
    write = csv.writer(out, lineterminator="\n")
    write.writerow(HEAD)
    for path in sorted(paths):
        with open(path) as file:
            root = json.load(file)
        name = "explain " + root["kernel"]
        write.writerow([name, "all", 0, "size", " ".join(
            "%s=%s" % item for item in root["size"].items())])
        for column in root["configurations"]:
            label, result = column["label"], column["result"]
            write.writerow([name, label, 0, "configuration", " ".join(
                "%s=%s" % item for item in column["config"].items())])
            numbers = {key: result[key] for key in (
                "time_us", "registers", "spill_store_bytes",
                "shared_static_bytes", "shared_dynamic_bytes",
                "occupancy_percent") if key in result}
            numbers.update(column.get("derived", {}))
            for key, value in numbers.items():
                if value is not None:
                    write.writerow([name, label, 0, key, "%.6g" % value])
