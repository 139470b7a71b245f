#!/bin/bash
# SPDX-License-Identifier: MIT
#
# gpu.sh [DIR [NAME]...]: on a machine with a GPU, tries the programs that
# `run.sh --gpu-build` made elsewhere, in DIR (build/mutation/gpu), with quick
# parts of the GPU lane.  A line a fault, as in results.tsv: kept in
# build/mutation/gpu.tsv, it counts in `run.sh --report`.  NAME: these alone.
#
# JOBS=N at a time, but for the part whose verdicts hang on time and memory.
# The programs without a fault have to pass first, as many at a time, and say
# how long the others get.  CANDIDATES=N of each kernel.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(cd "${1:-$root/build/mutation/gpu}" && pwd) || exit 1
jobs=${JOBS:-4}
export CANDIDATES="${CANDIDATES:-8}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# What a part runs: where all of it is as without a fault, so is the answer.
programs_of() {
    case $1 in
    oracle) echo tests/gpu/oracle ;;
    library) echo tests/gpu/launch ;;
    candidates) echo shmtune tests/gpu/requests ;;
    faults) echo shmtune ;;
    esac
}

differs() {
    for program in $(programs_of "$2"); do
        cmp -s "$dir/none/$program" "$dir/$1/$program" || return 0
    done
    return 1
}

# try NAME PART SECONDS LOG: whether the part passes in time; a GPU that is not
# found is one that the fault hides.
try() {
    PARTS=$2 timeout -k 5 "$3" \
        sh "$root/tests/gpu/run.sh" "$dir/$1" >"$4" 2>&1 &&
        ! grep -q '^1\.\.0' "$4"
}

together="oracle candidates library"
alone=faults

# say NAME VERDICT BY
say() {
    printf '%s\t%s\tgpu %s\t-\t%s\n' "$@" "$(cat "$dir/$1/mutant")"
}

# run NAME PART...: tells of the first of these that fails, and notes it.
run() {
    name=$1
    shift
    for part in "$@"; do
        if [ -s "$work/$name" ] || ! differs "$name" "$part" ||
            try "$name" "$part" "$(cat "$work/limit.$part")" \
                "$work/$name.log"; then
            continue
        fi
        why=$(grep -m 1 '^not ok\|^1\.\.0' "$work/$name.log")
        echo "$part: ${why:-no end in time}" >"$work/$name"
        say "$name" noticed "$(cat "$work/$name")"
    done
}

# As many at a time as there will be, each in all parts.
unharmed() {
    for part in $together; do
        begun=$(date +%s)
        try none "$part" 600 "$work/none.$1" ||
            { echo "$part" >"$work/broken"; return 1; }
        echo $((20 + 4 * ($(date +%s) - begun))) >"$work/limit.$part"
    done
}
for job in $(seq "$jobs"); do
    unharmed "$job" &
done
wait
begun=$(date +%s)
[ -f "$work/broken" ] || try none $alone 600 "$work/none.1" ||
    echo $alone >"$work/broken"
echo $((20 + 4 * ($(date +%s) - begun))) >"$work/limit.$alone"
if [ -f "$work/broken" ]; then
    echo "gpu.sh: $(cat "$work/broken") fails without a fault" >&2
    grep -h '^not ok\|^1\.\.0\|^#' "$work"/none.* | head -n 20 >&2
    exit 1
fi
echo "# seconds without a fault, $jobs at a time:" \
    "$(cd "$work" && for part in $together $alone; do
        echo "$part $((($(cat "limit.$part") - 20) / 4))"
    done | paste -s -d ' ')" >&2

if [ $# -gt 1 ]; then
    shift
else
    # shellcheck disable=SC2046
    set -- $(cd "$dir" && find . -mindepth 1 -maxdepth 1 -type d \
        ! -name none | sed 's,^\./,,' | sort)
fi
for name in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
    done
    # shellcheck disable=SC2086
    run "$name" $together &
done
wait
for name in "$@"; do
    run "$name" $alone
    [ -s "$work/$name" ] || say "$name" survived -
done
