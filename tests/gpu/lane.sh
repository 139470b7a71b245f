#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The whole GPU lane in one call, on a machine with an NVIDIA GPU:
#
#   lane.sh BUILD OUT [STEP]...
#
# BUILD has the built tree, OUT receives logs and results.  Steps, in this
# order unless named: test tune again record rate peers sanitize.  Every step
# runs whatever became of the one before it; the exit status says whether all
# were good.
#
# Environment: BUDGET (of a problem, "12s"), KERNELS, LANE_JOBS.
set -u

[ $# -ge 2 ] || { sed -n '3,13s/^# \{0,1\}//p' "$0" >&2; exit 1; }
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) out=$2
shift 2
[ $# -gt 0 ] || set -- test tune again record rate peers sanitize
mkdir -p "$out"
out=$(cd "$out" && pwd)
budget=${BUDGET:-12s}
kernels=${KERNELS:-}
shmtune=$build/shmtune
failed=
export SHMTUNE_PATH="$root"

# The sizes that recordings are made of: small enough to be exhaustive.
recorded_size() {
    case $1 in
    transpose) echo rows=8192,cols=8192 ;;
    reduce) echo n=16777216 ;;
    matmul) echo m=1024,n=1024,k=1024 ;;
    conv2d) echo height=4096,width=4096,filter=7 ;;
    *) return 1 ;;
    esac
}

step_test() { sh "$root/tests/gpu/run.sh" "$build"; }

# shellcheck disable=SC2086
step_tune() {
    "$shmtune" tune $kernels --device 0 --budget "$budget" --seed 1 \
        --output "$out/tunings"
}

# A second tuning, of its own seed and journals: do the winners agree?
# shellcheck disable=SC2086
step_again() {
    "$shmtune" tune $kernels --device 0 --budget "$budget" --seed 2 \
        --output "$out/again" &&
        python3 "$root/tests/gpu/agree.py" "$out/tunings" "$out/again"
}

step_record() {
    status=0
    for kernel in ${kernels:-transpose reduce matmul conv2d}; do
        size=$(recorded_size "$kernel") || continue
        "$shmtune" tune "$kernel" --device 0 --size "$size" \
            --strategy "${RECORD_STRATEGY:-exhaustive}" \
            --budget "${RECORD_BUDGET:-100000}" --seed 3 \
            --record "$out/recorded" --output "$out/recorded" || status=1
    done
    return $status
}

# Candidates a second, ours and Kernel Tuner's, on the same space.
step_rate() {
    "$shmtune" tune transpose --device 0 --size rows=8192,cols=8192 \
        --strategy random --budget 1500 --seed 4 --no-resume \
        --output "$out/rate"
    if python3 -c 'import kernel_tuner' 2>/dev/null; then
        python3 "$root/tests/bench/kernel_tuner_rate.py" \
            "$root/kernels/transpose.yaml" --size rows=8192,cols=8192 \
            --seconds "${KT_SECONDS:-45}"
    else
        echo "skipped: kernel_tuner is not installed"
    fi
}

step_peers() {
    SHMTUNE_PATH="$out:$root" sh "$root/tests/bench/peers.sh" "$build" \
        --held-out
}

step_sanitize() { sh "$root/tests/gpu/sanitize.sh" "$build" "$out"; }

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu \
    --format=csv,noheader 2>/dev/null
for step in "$@"; do
    begun=$(date +%s)
    echo "== $step"
    if "step_$step" >"$out/$step.log" 2>"$out/$step.err"; then
        verdict=ok
    else
        verdict="FAILED ($?)"
        failed="$failed $step"
    fi
    tail -n "${LANE_TAIL:-60}" "$out/$step.log"
    grep -v '^shmtune: ' "$out/$step.err" | tail -n 5
    echo "== $step: $verdict in $(($(date +%s) - begun)) s"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
