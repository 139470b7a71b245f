#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""league.py BUILD SPEC... --out DIR [--for 540] [...]: how long a tuner takes
to a verified result within 5 % of the best known, on a GPU.

shmtune and Kernel Tuner 1.5.0 tune each kernel from nothing, with several
seeds: first shmtune for --best, which says what is known, then both, one run
after another on each of --devices.  The kernels of tests/bench/planted, which
are wrong for some configurations, take part.  Each run is kept in DIR, with
its raw journal or cache; the same command goes on where the last one ended,
which --for makes it do in time, and then prints the table of what is there.

What counts is the wall clock from the command to the first candidate that was
measured, verified, the fastest so far by the tuner's own clock, and within
5 % of the best known by one clock: at the end all candidates that were once
the fastest are measured, and verified again, by one run of shmtune.  shmtune
has its default budget, and its search begins with nothing; what it takes to
start counts.  Kernel Tuner has --cut seconds, after which a run is more, or
what --cut-of gives a kernel: some twenty times what shmtune took says as much.
Its inputs and expected results are made before its clock starts.  Its strategy
is the one of its own that did best on recordings (docs/performance.md), its
backend CuPy, which compiles with NVRTC in the process, and is the fastest.
Its modules are imported before its clock starts, too: they import PyTorch,
where there is one.
A candidate that is wrong, or does not compile, would end its run by an
exception: here it is one that failed, and the run goes on, as long as the
device answers.  Each of several devices has its share of the processors.
"""
import argparse
import csv
import datetime
import glob
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "foreign"), HERE]
import yaml                                                       # noqa: E402
from beside import (Kernel, exactly, for_kernel_tuner,
                    measure_together, shmtune,
                    tune_with_kernel_tuner)                       # noqa: E402

NEAR = 1.05
KNOWN = 8           # of the best of the long run that are judged
FAR = 1.5           # times a run's own best: what cannot be within 5 % of any
JUDGE_S = 45        # kept for the one clock
TUNERS = ("shmtune", "kernel-tuner")
USUAL_S = 60        # at most, of shmtune's own budget
FIELDS = ("tuner", "kernel", "planted", "seed", "seconds", "loss", "wrong",
          "tried", "took_s", "cut_s")


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def keep(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".tmp", "w") as file:
        json.dump(value, file, indent=1)
    os.replace(path + ".tmp", path)


def load(path):
    with open(path) as file:
        return json.load(file)


# -- runs ---------------------------------------------------------------------

def records_of(journal):
    """Candidates that were right, in the order of their times."""
    with open(journal) as file:
        lines = [line for line in file if line.startswith("- {config:") and
                 "verdict: ok" in line]
    records = yaml.load("".join(lines), getattr(yaml, "CSafeLoader",
                                                yaml.SafeLoader)) or []
    return sorted((one for one in records if one["verdict"] == "ok"),
                  key=lambda one: one["at"])


def leaders(tried):
    """Of (seconds, configuration, time): those that were the fastest, but for
    those that are far from what the run found in the end."""
    best, found = float("inf"), []
    for at, config, cost in tried:
        if cost < best:
            best = cost
            found.append((cost, {"at": at, "config": config}))
    return [one for cost, one in found if cost <= FAR * best]


def run_shmtune(options, kernel, seed, budget, device, raw):
    out = tempfile.mkdtemp(dir=options.out)
    begun = time.monotonic()
    reply = subprocess.run(
        [os.path.join(options.build, "shmtune"), "tune", kernel.path,
         "--device", device, "--size", kernel.size_option(), "--from", "none",
         "--no-resume", "--seed", str(seed), "--json", "-q", "-o", out]
        + (["--budget", f"{budget}s"] if budget else []),
        capture_output=True, text=True,
        env={**os.environ, "XDG_CACHE_HOME": os.path.join(out, "cache")})
    took = time.monotonic() - begun
    if reply.returncode != 0:
        shutil.rmtree(out)
        return {"failed": reply.stderr.strip(), "took_s": took, "tried": 0,
                "leaders": []}
    journal = glob.glob(os.path.join(out, "*", "*.journal"))[0]
    shutil.copy(journal, raw + ".journal")
    one = json.loads(reply.stdout)["results"][0]
    before = took - one["elapsed_s"]     # and what came after the run
    found = leaders([(before + r["at"], r["config"], r["time_us"])
                     for r in records_of(journal)])
    shutil.rmtree(out)
    return {"took_s": took, "size": kernel.size_option(),
            "tried": one["tried"], "winner": one["config"],
            "leaders": found}


def read_cache(path):
    """Kernel Tuner's, which has no end while it writes."""
    try:
        with open(path) as file:
            text = file.read()
    except OSError:
        return []
    for end in ("", "}}", "}\n}"):
        try:
            return list(json.loads(text.rstrip().rstrip(",") +
                                   end)["cache"].values())
        except ValueError:
            continue
    return []


def data_of(options, kernel, lock=threading.Lock()):
    """The folder of the inputs, which the first that wants them makes."""
    data = os.path.join(options.out, "data", kernel.name)
    with lock:
        if not os.path.isdir(data):
            shutil.rmtree(data + ".tmp", ignore_errors=True)
            shmtune(options, "data", kernel.path, "-o", data + ".tmp", "--size",
                    kernel.size_option())
            os.rename(data + ".tmp", data)
    return data


def errors_of(child, ready, most):
    """What the child wrote; it is killed so many seconds after the file
    `ready` is there."""
    end, begun = time.monotonic() + 120 + most, False
    while time.monotonic() < end:
        try:
            return child.communicate(timeout=1)[1]
        except subprocess.TimeoutExpired:
            if not begun and os.path.exists(ready):
                end, begun = time.monotonic() + most, True
    os.killpg(child.pid, signal.SIGKILL)
    return child.communicate()[1]


def run_kernel_tuner(options, kernel, seed, device, raw):
    """In a process of its own, which is killed some seconds after the cut.
    One that ended by itself after it had tried something counts as it is."""
    data, cut = data_of(options, kernel), cut_of(options, kernel)
    cache, ready = raw + ".cache.json", raw + ".ready"
    for path in (cache, ready):
        if os.path.exists(path):
            os.remove(path)
    own = tempfile.mkdtemp(dir=options.out)     # the sources of what failed
    begun = now()
    child = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__),
         os.path.abspath(options.build),
         f"{os.path.abspath(kernel.path)}:{kernel.size_option()}", "--out",
         os.path.abspath(options.out), "--child",
         *map(os.path.abspath, (data, cache, ready)), str(seed),
         "--cut", str(cut), "--strategy", options.strategy,
         "--backend", options.backend],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": device}, cwd=own,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True)
    errors = errors_of(child, ready, cut + 20)
    took = (now() - begun).total_seconds()
    shutil.rmtree(own)
    prepared = load(ready)["seconds"] if os.path.exists(ready) else 0
    tried = []
    entries = read_cache(cache)
    for one in entries:
        if isinstance(one.get("time"), (int, float)):
            at = (datetime.datetime.fromisoformat(one["timestamp"]) -
                  begun).total_seconds() - prepared
            if at <= cut:
                tried.append((at, kernel.spoken(one), one["time"]))
    found = leaders(sorted(tried, key=lambda one: one[0]))
    if os.path.exists(ready):
        os.remove(ready)
    return {"took_s": took - prepared, "prepared_s": prepared, "cut_s": cut,
            "size": kernel.size_option(),
            "tried": len(entries), "leaders": found,
            **({"winner": found[-1]["config"]} if found else {}),
            **({"ended" if entries else "failed":
                errors.strip()[-500:] or f"exit status {child.returncode}"}
               if child.returncode not in (0, -signal.SIGKILL) else {})}


def go_on_after_failures():
    """A candidate that raises has failed, while the device answers."""
    import cupy
    from kernel_tuner import core, util
    plain = core.DeviceInterface.compile_and_benchmark

    def guarded(*arguments):
        try:
            return plain(*arguments)
        except Exception:
            cupy.cuda.Device().synchronize()
            return {"__error__": util.RuntimeFailedConfig(),
                    "compile_time": 0, "verification_time": 0,
                    "benchmark_time": 0}

    core.DeviceInterface.compile_and_benchmark = guarded


def keep_whole_uuids():
    """CuPy cuts a device's UUID at a byte that is 0, and Kernel Tuner then
    refuses the device."""
    import cupy
    plain = cupy.cuda.runtime.getDeviceProperties

    def whole(device):
        found = plain(device)
        found["uuid"] = found["uuid"][:16].ljust(16, b"\0")
        return found

    cupy.cuda.runtime.getDeviceProperties = whole


def be_kernel_tuner(options, kernel):
    """The child: --child DATA CACHE READY SEED."""
    data, cache, ready, seed = options.child
    import numpy
    begun = time.monotonic()
    import kernel_tuner                                           # noqa: F401
    held, right = for_kernel_tuner(kernel, data)
    keep(ready, {"seconds": time.monotonic() - begun})
    go_on_after_failures()
    keep_whole_uuids()
    random.seed(int(seed))
    numpy.random.seed(int(seed))
    tune_with_kernel_tuner(kernel, held, right, lang=options.backend,
                           cache=cache, strategy=options.strategy,
                           strategy_options={"time_limit": options.cut})


# -- which, and where ----------------------------------------------------------

def cut_of(options, kernel):
    """Seconds of Kernel Tuner's runs, at most."""
    own = dict(one.split("=", 1) for one in options.cut_of)
    return float(own.get(kernel.name, options.cut))


def path_of(options, tuner, kernel, seed):
    return os.path.join(options.out, "runs", f"{tuner}-{kernel}-{seed}.json")


def jobs_of(options, kernels):
    """(most seconds, path, function of a device): what is known, then a seed of
    everything after the other."""
    def known(kernel, path):
        return lambda device: run_shmtune(options, kernel, 1000, options.best,
                                          device, path[:-5])

    def own(kernel, seed, path):
        return lambda device: run_shmtune(options, kernel, seed, None,
                                          device, path[:-5])

    def other(kernel, seed, path):
        return lambda device: run_kernel_tuner(options, kernel, seed, device,
                                               path[:-5])

    for kernel in kernels:
        path = path_of(options, "known", kernel.name, 0)
        yield options.best + 5, path, known(kernel, path)
    for seed in range(1, options.seeds + 1):
        for kernel in kernels:
            for tuner, most, make in (("shmtune", USUAL_S + 5, own),
                                      ("kernel-tuner",
                                       cut_of(options, kernel) + 30, other)):
                path = path_of(options, tuner, kernel.name, seed)
                if tuner in options.tuners:
                    yield most, path, make(kernel, seed, path)


def refuse_other_sizes(options, kernels):
    """What is kept has the names of kernels alone."""
    if len({kernel.name for kernel in kernels}) < len(kernels):
        sys.exit("two specs have the same name: give each an --out of its own")
    for kernel in kernels:
        for path in glob.glob(os.path.join(options.out, "runs",
                                           f"*-{kernel.name}-*.json")):
            kept = None if path.endswith(".cache.json") \
                else load(path).get("size")
            if kept not in (None, kernel.size_option()):
                sys.exit(f"{path} is of {kept}, not of "
                         f"{kernel.size_option()}: choose another --out")


def has_run(path):
    return os.path.exists(path) and "failed" not in load(path)


def shares_of(processors, devices):
    """Of each device its processors, side by side."""
    processors, count = sorted(processors), len(devices)
    return {device: processors[k * len(processors) // count:
                               (k + 1) * len(processors) // count]
            or processors for k, device in enumerate(devices)}


def on_each(options, work):
    """work(device) on all devices at once.  What it starts has the device's
    share of the processors: on Linux they are the thread's own."""
    devices = options.devices.split(",")
    shares = shares_of(os.sched_getaffinity(0), devices)

    def run(device):
        os.sched_setaffinity(0, shares[device])
        work(device)

    threads = [threading.Thread(target=run, args=(device,))
               for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def result_of(run, device):
    """What beside.py refuses with sys.exit is a run that failed."""
    try:
        return run(device)
    except SystemExit as error:
        return {"failed": str(error), "took_s": 0, "tried": 0, "leaders": []}


def run_all(options, kernels, until):
    """How many are left; one that failed is tried again the next time."""
    waiting = [job for job in jobs_of(options, kernels)
               if not has_run(job[1])]
    lock = threading.Lock()

    def work(device):
        while True:
            with lock:
                left = until - time.monotonic()
                job = next((j for j in waiting if j[0] <= left), None)
                if job is None:
                    return
                waiting.remove(job)
            os.makedirs(os.path.dirname(job[1]), exist_ok=True)
            found = {"began": now().isoformat(), "cut_s": options.cut,
                     "device": device, **result_of(job[2], device)}
            keep(job[1], found)
            print(f"{os.path.basename(job[1])[:-5]}: {found['tried']} tried "
                  f"in {found['took_s']:.1f} s"
                  f"{': ' + found['failed'] if 'failed' in found else ''}",
                  flush=True)

    on_each(options, work)
    return len([job for job in jobs_of(options, kernels)
                if not has_run(job[1])])


# -- one clock ----------------------------------------------------------------

def runs_of(options, kernel):
    """By (tuner, seed), those that there are."""
    found = {}
    for seed in range(1, options.seeds + 1):
        for tuner in options.tuners:
            path = path_of(options, tuner, kernel.name, seed)
            if has_run(path):
                found[tuner, seed] = load(path)
    return found


def judged(options, kernel, runs, until, device):
    """By configuration: its time by one clock, None where it is wrong; or
    None: there is no time for that.  Measured again where runs were added."""
    path = os.path.join(options.out, "judged", kernel.name + ".json")
    journal = path_of(options, "known", kernel.name, 0)[:-5] + ".journal"
    if not runs or not os.path.exists(journal):
        return None
    wanted = {exactly(kernel.spoken(kernel.default)):
              kernel.spoken(kernel.default)}
    for one in sorted(records_of(journal),
                      key=lambda one: one["time_us"])[:KNOWN]:
        wanted[exactly(one["config"])] = one["config"]
    for run in runs.values():
        for one in run["leaders"]:
            wanted[exactly(one["config"])] = one["config"]
        if "winner" in run:
            wanted[exactly(run["winner"])] = run["winner"]
    if os.path.exists(path) and set(load(path)) >= set(wanted):
        return load(path)
    if until - time.monotonic() < 30:
        return None
    with tempfile.TemporaryDirectory() as out:
        results = measure_together(
            argparse.Namespace(build=options.build, device=device), kernel,
            list(wanted.values()), out)
    keep(path, {text: one.get("time_us", 1e12)
                if one.get("verdict") in ("ok", "slow") else None
                for text, one in zip(wanted, results)})
    return load(path)


def row_of(run, times, best):
    """When the run had what counts, and what its winner is worth."""
    def is_near(config):
        time_us = times[exactly(config)]
        return time_us is not None and time_us <= NEAR * best

    near = [one["at"] for one in run["leaders"] if is_near(one["config"])]
    row = {"seconds": near[0] if near else None, "loss": None, "wrong": None,
           "tried": run["tried"], "took_s": run["took_s"],
           "cut_s": run["cut_s"]}
    if "winner" in run:
        time_us = times[exactly(run["winner"])]
        row["wrong"] = time_us is None
        row["loss"] = None if time_us is None else time_us / best - 1
    return row


def rows_of(kernel, runs, times):
    best = min(t for t in times.values() if t is not None)
    planted = os.path.dirname(os.path.abspath(kernel.path)) == \
        os.path.join(HERE, "planted")
    return [{"tuner": tuner, "kernel": kernel.name, "planted": planted,
             "seed": seed, **row_of(run, times, best)}
            for (tuner, seed), run in runs.items()]


def judge_all(options, kernels, until):
    """The rows, kernel by kernel; each is judged on the next free device."""
    waiting, found, lock = list(kernels), {}, threading.Lock()

    def work(device):
        while True:
            with lock:
                if not waiting:
                    return
                kernel = waiting.pop(0)
            runs = runs_of(options, kernel)
            try:
                times = judged(options, kernel, runs, until, device)
            except SystemExit as error:
                print(f"{kernel.name}: not judged: {error}", flush=True)
                times = None
            if times is not None:
                found[kernel.name] = rows_of(kernel, runs, times)

    on_each(options, work)
    return [row for kernel in kernels for row in found.get(kernel.name, [])]


# -- what is said -------------------------------------------------------------

def median_of(rows):
    """Of the seconds; infinite: more than the cut.  Of an even number of Kernel
    Tuner's it is the lower one, since what was cut off may be near it."""
    middle = statistics.median if rows[0]["tuner"] == "shmtune" \
        else statistics.median_low
    return middle(float("inf") if row["seconds"] is None
                  else row["seconds"] for row in rows)


def said(seconds, cut):
    return f"> {cut:.0f}" if seconds == float("inf") else f"{seconds:.1f}"


def least_cut(rows):
    return min(row["cut_s"] for row in rows)


def print_table(rows):
    print("| kernel | planted | shmtune, s | Kernel Tuner, s | times as fast "
          "| worst loss, shmtune | Kernel Tuner | wrong winners, shmtune "
          "| Kernel Tuner |")
    print("|---" * 9 + "|")
    for name in dict.fromkeys(row["kernel"] for row in rows):
        own = {tuner: [row for row in rows if row["kernel"] == name and
                       row["tuner"] == tuner] for tuner in TUNERS}
        cells = [name, "yes" if any(r["planted"] for l in own.values()
                                    for r in l) else ""]
        medians = {t: median_of(own[t]) if own[t] else None for t in TUNERS}
        cut = least_cut(own["kernel-tuner"] or own["shmtune"])
        cells += ["" if medians[t] is None else
                  "not reached" if t == "shmtune" and
                  medians[t] == float("inf") else said(medians[t], cut)
                  for t in TUNERS]
        ours, theirs = medians["shmtune"], medians["kernel-tuner"]
        if not own["shmtune"] or not own["kernel-tuner"] or \
                ours == float("inf"):
            cells.append("")
        else:
            more = "> " if theirs == float("inf") else ""
            cells.append(f"{more}{min(theirs, cut) / ours:.1f}")
        for tuner in TUNERS:
            losses = [row["loss"] for row in own[tuner]
                      if row["loss"] is not None]
            cells.append(f"{100 * max(losses):.1f} %" if losses else "")
        for tuner in TUNERS:
            cells.append(f"{sum(bool(r['wrong']) for r in own[tuner])} of "
                         f"{len(own[tuner])}")
        print("| " + " | ".join(cells) + " |")
    for tuner in TUNERS:
        plain = [row for row in rows if row["tuner"] == tuner and
                 not row["planted"]]
        if plain:
            print(f"{tuner}: median "
                  f"{said(median_of(plain), least_cut(plain))} s "
                  f"of {len(plain)} runs")


def write_rows(path, rows):
    with open(path, "w", newline="") as file:
        out = csv.DictWriter(file, FIELDS, lineterminator="\n")
        out.writeheader()
        for row in rows:
            out.writerow({k: "" if row[k] is None else
                          int(row[k]) if isinstance(row[k], bool) else
                          f"{row[k]:.4g}" if isinstance(row[k], float)
                          else row[k] for k in FIELDS})


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("specs", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--for", dest="seconds", type=float, default=540)
    parser.add_argument("--devices", default="0", help="with commas")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--best", type=int, default=60, help="seconds")
    parser.add_argument("--cut", type=float, default=120, help="seconds")
    parser.add_argument("--cut-of", action="append", default=[],
                        metavar="KERNEL=SECONDS", help="and of a kernel alone")
    parser.add_argument("--tuners", default=",".join(TUNERS))
    parser.add_argument("--strategy", default="genetic_algorithm")
    parser.add_argument("--backend", default="cupy")
    parser.add_argument("--no-planted", action="store_true")
    parser.add_argument("--csv", help="the rows of the table go there")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        be_kernel_tuner(options, Kernel(options.specs[0]))
        return
    until = time.monotonic() + options.seconds
    options.tuners = options.tuners.split(",")
    os.makedirs(options.out, exist_ok=True)
    planted = sorted(glob.glob(os.path.join(HERE, "planted", "*.yaml")))
    kernels = [Kernel(path) for path in options.specs +
               ([] if options.no_planted else planted)]
    refuse_other_sizes(options, kernels)
    left = run_all(options, kernels, until - JUDGE_S)
    rows = judge_all(options, kernels, until)
    if rows:
        print_table(rows)
        write_rows(options.csv or os.path.join(options.out, "league.csv"),
                   rows)
    if left > 0:
        print(f"{left} runs are left; the same command goes on")
    sys.exit(left > 0)


if __name__ == "__main__":
    main()
