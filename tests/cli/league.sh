#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/bench/league.py without a GPU, NumPy and PyYAML: in the place of Kernel
# Tuner is a child that writes what it writes.  And what stands beside it.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

if ! command -v python3 >/dev/null 2>&1; then
    echo "1..0 # SKIP no python3 is installed"
    exit 0
fi
cd "$folder" || exit 1
mkdir modules
cat >modules/yaml.py <<'END'
END
# What league.py takes from beside.py, which needs NumPy and PyYAML.
cat >modules/beside.py <<'END'
import os


class Kernel:
    pass


def exactly(configuration):
    return repr(sorted(configuration.items()))


def shmtune(options, verb, path, _, folder, *rest):
    os.makedirs(folder)
    with open(os.path.join(folder, "made"), "a") as file:
        file.write(verb)


def for_kernel_tuner(kernel, folder):
    return {}, {}


measure_together = tune_with_kernel_tuner = None
END
# The child: what it is to do stands in the name of the kernel's file.
cat >child <<'END'
#!/bin/sh
while [ "$1" != --child ]; do shift; done
cache=$3 ready=$4 what=$(basename "$CHILD")
echo '{"seconds": 0.25}' >"$ready"
at=$(date -u +%Y-%m-%dT%H:%M:%S.000000+00:00)
one() { printf '\n"%s": {"TILE": %s, %s, "timestamp": "%s"},' "$1" "$1" "$2" "$at"; }
[ "$what" = fails ] && { echo "no module" >&2; exit 1; }
{
    printf '{"device_name": "it", "cache": {'
    one 1 '"time": 9.0'
    one 2 '"__error__": "RuntimeFailedConfig"'
    one 3 '"time": 3.0'
    one 4 '"time": 2.0'
} >"$cache"
case $what in
ends) echo "the device is gone" >&2; exit 1 ;;
hangs) exec sleep 100 ;;
esac
END
chmod +x child
cat >test.py <<'END'
import argparse, json, os, sys, time
source = sys.argv[1]
sys.path[:0] = [os.path.abspath("modules")]
import beside
sys.path.insert(1, os.path.join(source, "tests", "bench"))
sys.argv = ["league.py"]
import league

kernel = beside.Kernel()
kernel.name, kernel.path = "toy", "toy.yaml"
kernel.size_option = lambda: "n=1"
kernel.spoken = lambda one: {"TILE": one["TILE"]}
kernel.default = {"TILE": 1}
sys.executable = os.path.abspath("child")
options = argparse.Namespace(
    build="", out=os.path.abspath("kept"), cut=5.0, cut_of=[], strategy="s",
    backend="b", seeds=2, best=1, tuners=["shmtune", "kernel-tuner"], devices="0,1")


def run(what):
    os.environ["CHILD"] = what
    raw = league.path_of(options, "kernel-tuner", "toy", 1)
    os.makedirs(os.path.dirname(raw), exist_ok=True)
    found = league.run_kernel_tuner(options, kernel, 1, "0", raw[:-5])
    league.keep(raw, {"cut_s": 5.0, **found})
    return found


def tell(name, value):
    print(name, json.dumps(value), flush=True)


found = run("tries")
tell("tried", found["tried"])
tell("leaders", [one["config"]["TILE"] for one in found["leaders"]])
tell("prepared", found["prepared_s"])
tell("right", "failed" in found or "ended" in found)
found = run("ends")
tell("ended", [found["ended"], found["tried"], "failed" in found])
tell("counts", len(league.runs_of(options, kernel)))
found = run("fails")
tell("failed", [found["failed"], found["tried"]])
tell("counts_not", len(league.runs_of(options, kernel)))
options.cut_of = ["other=9", "toy=-18"]
begun = time.monotonic()
found = run("hangs")
tell("killed", time.monotonic() - begun < 20)
tell("cut", found["cut_s"])
tell("data", open("kept/data/toy/made").read())
tell("shares", league.shares_of({5, 1, 2, 3, 8}, ["0", "1"]))
tell("one", league.shares_of({7}, ["0", "1"]))
seen = {}
league.on_each(options, lambda device: seen.update(
    {device: sorted(os.sched_getaffinity(0))}))
tell("pinned", seen == league.shares_of(os.sched_getaffinity(0), ["0", "1"]))
other = beside.Kernel()
other.name = "other"
tell("jobs", [os.path.basename(path)[:-5] for _, path, _ in
              league.jobs_of(options, [kernel, other])])
run = {"leaders": [{"at": 2.0, "config": {"TILE": 3}},
                   {"at": 4.0, "config": {"TILE": 4}}], "tried": 4,
       "took_s": 9, "cut_s": 5, "winner": {"TILE": 4}}
key = [beside.exactly({"TILE": k}) for k in (3, 4)]
tell("near", league.row_of(run, dict(zip(key, (1.04, 1.0))), 1.0)["seconds"])
row = league.row_of(run, dict(zip(key, (1.06, None))), 1.0)
tell("wrong", [row["seconds"], row["wrong"], row["loss"]])
league.refuse_other_sizes(options, [kernel])
for kernels in [kernel, kernel], [kernel]:
    kernel.size_option = lambda: "n=2"
    try:
        league.refuse_other_sizes(options, kernels)
    except SystemExit as error:
        tell("refused", str(error))
END
python3 -B test.py "$source" >"$folder/out" 2>"$folder/err"
status=$?
check "a league's run of Kernel Tuner: what failed has no time" all 'exits 0' \
    'out_has "^tried 4$"' 'out_has "^prepared 0.25$"' 'out_has "^right false$"'
check "what is far from the end of a run is not judged" \
    out_has '^leaders \[3, 4\]$'
check "a run that a candidate ended counts as it is" all \
    'out_has "^ended ..the device is gone., 4, false.$"' 'out_has "^counts 1$"'
check "one that tried nothing is no row" all \
    'out_has "^failed ..no module., 0.$"' 'out_has "^counts_not 0$"'
check "one that hangs is killed after its kernel's own cut" all \
    'out_has "^killed true$"' 'out_has "^cut -18.0$"'
check "a run of another size is refused, and so is a second kernel of a name" all \
    'out_has "^refused .two specs have the same name"' \
    'out_has "^refused .*kernel-tuner-toy-1.json is of n=1, not of n=2: "'
check "inputs are made once" out_has '^data "data"$'
check "devices share the processors" all \
    'out_has "^shares {.0.: .1, 2., .1.: .3, 5, 8.}$"' \
    'out_has "^one {.0.: .7., .1.: .7.}$"' 'out_has "^pinned true$"'
check "a seed of every kernel before the next seed" out_has \
    '^jobs \["known-toy-0", "known-other-0", "shmtune-toy-1", "kernel-tuner-toy-1", "shmtune-other-1", "kernel-tuner-other-1", "shmtune-toy-2", '
check "the seconds are those of the first within 5 %" out_has '^near 2.0$'
check "a winner that is wrong is told" out_has '^wrong .null, true, null.$'

# -- the reference of a spec, beside Kernel Tuner -------------------------------
mkdir plain
cp modules/yaml.py plain
cat >plain/numpy.py <<'END'
class ndarray(list):
    shape, dtype = (2,), "f4"


float16 = float32 = float64 = uint8 = int32 = uint32 = int64 = float
END
cat >symbols.py <<'END'
import os, sys
sys.path[:0] = [os.path.abspath("plain"),
                sys.argv[1] + "/tests/bench/foreign"]
import beside
from numpy import ndarray


class Cupy:
    """A device of one variable, `taps`, which the reference returns."""
    asarray = asnumpy = staticmethod(lambda values: values)

    class ndarray:
        def __init__(self, shape, dtype, at):
            self.at = at

        def __setitem__(self, all_of_it, values):
            self.at[:] = values

    class RawModule:
        def __init__(self, code, options):
            self.taps = [0, 0]

        def get_global(self, name):
            return {"filters::taps": self.taps}[name]

        def get_function(self, name):
            def launch(grid, block, arguments):
                arguments[0][:] = self.taps
            return launch


kernel = beside.Kernel.__new__(beside.Kernel)
kernel.source, kernel.flags, kernel.default = "", [], {}
kernel.geometry = lambda *any: (1, 1, 1)
kernel.spec = {
    "reference": [{"entry": "right", "arguments": ["out"]}],
    "arguments": {"out": {"role": "output"},
                  "taps": {"role": "symbol", "symbol": "filters::taps"}}}
print(beside.by_reference(kernel, Cupy, {"out": ndarray([9, 9]),
                                         "taps": ndarray([3, 4])}))
END
python3 -B symbols.py "$source" >"$folder/out" 2>"$folder/err"
status=$?
check "a reference has what fills the variables of the source" all 'exits 0' \
    'out_has "^{.out.: .3, 4.}$"'
cat >constraints.py <<'END'
import os, sys
sys.path[:0] = [os.path.abspath("plain"), sys.argv[1] + "/tests/bench"]
from kernel_tuner_rate import plain_constraints

spec = {"parameters": {"A": {}, "LAYOUT": {}},
        "derived": {"columns": "roundup(A, 4) + n", "lines": "columns // 2"},
        "constraints": ["ceildiv(A, 2) < 2 or LAYOUT == 'columns'",
                        "n > 1", "lines >= 4 if LAYOUT == 'rows' else A < n"]}
plain = list(plain_constraints(spec, {"LAYOUT": ["rows", "columns"]},
                               {"n": 5}))
print(len(plain))
print([(A, L) for A in range(1, 8) for L in (0, 1)
       if all(eval(one, {"__builtins__": {}, "A": A, "LAYOUT": L})
              for one in plain)])
END
python3 -B constraints.py "$source" >"$folder/out" 2>"$folder/err"
status=$?
check "Kernel Tuner's constraints are plain arithmetic of its parameters" all \
    'exits 0' 'out_has "^2$"' \
    'out_has "^..1, 0., .1, 1., .2, 0., .2, 1., .3, 1., .4, 1..$"'

# -- the page -----------------------------------------------------------------
cp -R "$source/tests/bench/data/performance" page
chmod -R u+w page
cat >page/league.csv <<'END'
tuner,kernel,planted,seed,seconds,loss,wrong,tried,took_s,cut_s
shmtune,one,0,1,2,0,0,300,16,120
shmtune,one,0,2,4,0.01,0,300,16,120
kernel-tuner,one,0,1,60,0.02,0,80,121,120
kernel-tuner,one,0,2,,0.2,0,80,121,120
shmtune,race,1,1,1,0,0,48,3,120
kernel-tuner,race,1,1,,,1,9,30,120
END
grep -q '^league,' page/sources.csv ||
    echo 'league,the live league,make bench-tuners,a GPU,2000-01-01' \
        >>page/sources.csv
cat >page.py <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/tests/bench")
import performance_text
for name, text in performance_text.build("page").files().items():
    if name.endswith(".md") or name.endswith("league.svg"):
        print(text)
END
python3 -B page.py "$source" >"$folder/out" 2>"$folder/err"
status=$?
check "the page has the league, where it was run" all 'exits 0' \
    'out_has "^## The live league"' \
    'out_has "^| one | ours | 3.0 | 60.0 | 20.0 | 1.0 % | 20.0 % | 0 of 2 | 0 of 2 |$"' \
    'out_has "^| race | planted | 1.0 | not reached |  | 0.0 % |  | 0 of 1 | 1 of 1 |$"' \
    'out_has "plots/performance/league.svg"' 'out_has "Kernel Tuner</text>"'
rm page/league.csv
python3 -B page.py "$source" >"$folder/out" 2>"$folder/err"
status=$?
check "and does without" all 'exits 0' 'out_lacks "^## The live league"'
finish
