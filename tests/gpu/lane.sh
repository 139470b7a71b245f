#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The whole GPU lane in one call, on a machine with an NVIDIA GPU:
#
#   lane.sh BUILD OUT [STEP]...
#
# BUILD has the built tree, OUT receives logs and results.  Steps, in this
# order unless named: test tune again held_out record rate peers sanitize.  Every step
# runs whatever became of the one before it; the exit status says whether all
# were good.
#
# Environment: BUDGET (of a problem, "12s"), KERNELS, LANE_JOBS.
set -u

[ $# -ge 2 ] || { sed -n '3,13s/^# \{0,1\}//p' "$0" >&2; exit 1; }
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) out=$2
shift 2
[ $# -gt 0 ] ||
    set -- test tune again held_out record rate peers sanitize
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

# A second tuning, of its own seed and journals, with the first one's winners
# among its finalists: do the winners agree?
step_again() {
    status=0
    for kernel in ${kernels:-$(cd "$out/tunings" && ls)}; do
        "$shmtune" tune "$kernel" --device 0 --budget "$budget" --seed 2 \
            --also "$out/tunings/$kernel"/*.yaml --output "$out/again" ||
            status=1
    done
    python3 "$root/tests/gpu/agree.py" "$out/tunings" "$out/again" || status=1
    return $status
}

# Sizes that nobody tuned: what does choosing the nearest cost?
step_held_out() {
    rm -rf "$out/library" && mkdir -p "$out/library"
    ln -s "$root/kernels" "$out/library/kernels"
    ln -s "$out/again" "$out/library/tunings"
    while read -r kernel sizes; do
        # shellcheck disable=SC2086
        "$shmtune" tune "$kernel" --device 0 --budget "$budget" --seed 2 \
            --also "$out/again/$kernel"/*.yaml --output "$out/held" $sizes
    done <<END
transpose --size rows=2047,cols=6001 --size rows=5000,cols=5000 --size rows=12345,cols=6789
reduce --size n=1500007 --size n=33554467 --size n=99999989
scan --size n=2000003 --size n=33554467 --size n=99999989
histogram --size n=3000017 --size n=99999989 --size n=33554467,bins=1024
matmul --size m=777,n=1111,k=2222 --size m=2500,n=2500,k=2500 --size m=100,n=5000,k=3000
conv2d --size height=3001,width=2003,filter=3 --size height=5555,width=4321,filter=7 --size height=1999,width=999,filter=15
softmax --size rows=5000,cols=1031 --size rows=3000,cols=15000 --size rows=300,cols=70001
row_reduce --size rows=5000,cols=1031 --size rows=3000,cols=15000 --size rows=300,cols=70001
stencil2d --size rows=5001,cols=6007,steps=1 --size rows=6007,cols=5001,steps=4 --size rows=2047,cols=4095,steps=8
nbody --size n=30011 --size n=100003 --size n=7001
END
    SHMTUNE_PATH="$out/library" python3 "$root/tests/gpu/held_out.py" \
        "$build" "$out/held"
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

step_sanitize() { sh "$root/tests/gpu/sanitize.sh" "$build"; }

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
