#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs the fuzz targets under clang's libFuzzer with AddressSanitizer and
# UndefinedBehaviorSanitizer.  Needs ./quickstart build and clang with its
# run-time library (Debian: clang and libclang-rt-NN-dev).
#
#   tests/fuzz/run.sh                       each target for 60 seconds
#   tests/fuzz/run.sh --runs 1000000        each so many times
#   tests/fuzz/run.sh --seconds 600 kernel  one target, ten minutes
#   tests/fuzz/run.sh --msan                with MemorySanitizer instead
#   tests/fuzz/run.sh --minimise            what was found, into corpus/
#
# Two run at a time (--jobs N).  What is found stays in build/fuzz/found and is
# where the next run begins; inputs that failed are in build/fuzz/failed.  Ends
# with a table; the exit status is 1 when a target failed.  77: no libFuzzer
# here.
set -eu

run_one() {
    name=$1 status=0
    mkdir -p "$work/found/$name"
    before=$(ls "$work/found/$name" | wc -l)
    "$work/$sanitizer/fuzz_$name" "$limit" -max_len=8192 -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$work/failed/$name-" \
        "$work/found/$name" "$corpus/$name" >"$work/log/$name" 2>&1 ||
        status=$?
    after=$(ls "$work/found/$name" | wc -l)
    awk -v name="$name" -v new=$((after - before)) -v status="$status" '
        /^#[0-9]+.* cov: / {
            for (k = 1; k < NF; k++) {
                if ($k == "cov:") cov = $(k + 1)
                if ($k == "ft:") ft = $(k + 1)
            }
        }
        /^stat::number_of_executed_units:/ { runs = $2 }
        /^stat::average_exec_per_sec:/ { rate = $2 }
        END {
            printf "%-10s %10d %8d %7d %7d %6d  %s\n", name, runs, rate, cov,
                ft, new, status == 0 ? "-" : "FAILED"
        }' "$work/log/$name" >"$work/log/$name.line"
}

# One target, in the environment of the run that calls.
if [ "${1-}" = --of-run ]; then
    run_one "$2"
    exit 0
fi

root=$(cd "$(dirname "$0")/../.." && pwd -P)
corpus=$root/tests/fuzz/corpus
work=$root/build/fuzz
limit=-max_total_time=60 sanitizer=asan jobs=2 minimise= names=
# Of one target's corpus: files, bytes.
most_files=90 most_bytes=180000

usage() { sed -n '8,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
fail() { echo "fuzz: $*" >&2; exit 2; }

while [ $# -gt 0 ]; do
    case $1 in
    --runs | --seconds | --jobs)
        [ $# -gt 1 ] || usage
        case $2 in '' | *[!0-9]*) fail "$1 $2: expected a number" ;; esac ;;
    esac
    case $1 in
    --runs) limit=-runs=$2; shift ;;
    --seconds) limit=-max_total_time=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --msan) sanitizer=msan ;;
    --minimise) minimise=1 ;;
    -*) usage ;;
    *)
        [ -f "$root/tests/fuzz/fuzz_$1.c" ] || fail "no target \"$1\""
        names="$names $1" ;;
    esac
    shift
done
if [ -z "$names" ]; then
    for name in "$root"/tests/fuzz/fuzz_*.c; do
        name=${name##*/fuzz_} name=${name%.c}
        names="$names $name"
    done
fi

# -- build -----------------------------------------------------------------

[ -f "$root/build/Makefile" ] || fail "no build/; run ./quickstart build first"
mkdir -p "$work/$sanitizer" "$work/failed" "$work/log"
cat >"$work/try.c" <<'C'
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)
{ return data[0] + size == 0; }
C
case $sanitizer in
asan) flags=address,undefined ;;
msan) flags=memory ;;
esac
clang -fsanitize=fuzzer,$flags -o "$work/try" "$work/try.c" 2>/dev/null || {
    echo "fuzz: no clang with libFuzzer and -fsanitize=$flags here" \
        "(Debian: clang, libclang-rt-14-dev)" >&2
    exit 77
}
targets=
for name in $names; do targets="$targets fuzz_$name"; done
make -s -j"$jobs" -C "$work/$sanitizer" -f "$root/tests/fuzz/build.mk" \
    BUILD="$root/build" SANITIZERS="$flags" TARGETS="$targets"

# -- run -------------------------------------------------------------------

SHMT_SRCDIR=$root
# Short stacks of allocations: a third faster.  Run a failed input without them.
ASAN_OPTIONS=${ASAN_OPTIONS-malloc_context_size=4:quarantine_size_mb=32}
MSAN_OPTIONS=${MSAN_OPTIONS-malloc_context_size=4}
export SHMT_SRCDIR ASAN_OPTIONS MSAN_OPTIONS

# As few as reach the edges that the named files of the corpus do not, of what
# was found, into its folder found/; the larger ones first, up to the limits.
minimise_one() {
    rm -rf "$work/stage"
    mkdir -p "$work/stage" "$corpus/$1/found" "$work/found/$1"
    find "$corpus/$1" -maxdepth 1 -type f -exec cp {} "$work/stage" \;
    "$work/asan/fuzz_$1" -set_cover_merge=1 -use_counters=0 \
        "$work/stage" "$work/found/$1" "$corpus/$1/found" \
        >"$work/log/$1.merge" 2>&1 ||
        fail "cannot merge $1; see $work/log/$1.merge"
    for file in "$work/stage"/*; do
        [ -e "$corpus/$1/${file##*/}" ] || wc -c "$file"
    done | sort -rn | awk -v files="$most_files" -v bytes="$most_bytes" '
        files > 0 && $1 <= bytes { files--; bytes -= $1; print $2 }' \
        >"$work/chosen"
    rm -f "$corpus/$1/found"/*
    while read -r file; do
        name=${file##*/}
        cp "$file" "$corpus/$1/found/$(echo "$name" | cut -c 1-12)"
    done <"$work/chosen"
    rmdir "$corpus/$1/found" 2>/dev/null || :
    find "$corpus/$1" -type f -printf '%s\n' | awk -v name="$1" '
        { bytes += $1 }
        END { printf "%-10s %4d files %7d bytes\n", name, NR, bytes }'
}

if [ -n "$minimise" ]; then
    [ "$sanitizer" = asan ] || fail "--minimise goes without --msan"
    for name in $names; do minimise_one "$name"; done
    exit 0
fi

began=$(date +%s)
rm -f "$work/log"/*.line
# xargs starts the next target when one ends, each in a shell of its own.
export work corpus sanitizer limit
# shellcheck disable=SC2086
printf '%s\n' $names | xargs -P "$jobs" -n 1 "$0" --of-run
printf '%-10s %10s %8s %7s %7s %6s  %s\n' target runs "a second" edges \
    features new failures
cat "$work/log"/*.line
echo "$(($(date +%s) - began)) seconds with $sanitizer"
! grep -q FAILED "$work/log"/*.line || {
    echo "failed inputs are in $work/failed, what was said in $work/log" >&2
    exit 1
}
