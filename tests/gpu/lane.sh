#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The whole GPU lane in one call, on a machine with an NVIDIA GPU:
#
#   lane.sh BUILD OUT [STEP]...
#
# BUILD has the built tree, OUT receives logs and results.  Steps, in this
# order unless named: test tune again held_out rate peers claims torch
# sanitize; record (new recordings) only when named.  Every step runs whatever
# became of the one before it; the exit status says whether all were good.
#
# Environment: BUDGET of a problem ("3s"), BUDGET_matmul and the like, KERNELS,
# SIZES_matmul="m=64,n=64,k=64 m=..." and the like (else the spec's), DEVICE,
# PACK=FILE.tgz (OUT, packed anew after every step, for a machine that may be
# taken away), LIMIT (seconds for one command, of which none is waited for
# longer), CANDIDATES and JOBS of sanitize.sh, KT_SECONDS.  Tunings in
# OUT/also/KERNEL, of another day, have their winners measured with the rest.
set -u

[ $# -ge 2 ] || { sed -n '3,16s/^# \{0,1\}//p' "$0" >&2; exit 1; }
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) out=$2
shift 2
[ $# -gt 0 ] ||
    set -- test tune again held_out rate peers claims torch sanitize
mkdir -p "$out"
out=$(cd "$out" && pwd)
kernels=${KERNELS:-$(cd "$root/kernels" && ls ./*.yaml |
    sed 's,^\./,,; s,\.yaml$,,' | tr '\n' ' ')}
shmtune=$build/shmtune
device=${DEVICE:-0}
# As the names of its tunings end.
gpu=$(nvidia-smi -i "$device" --query-gpu=name --format=csv,noheader 2>/dev/null |
    head -n 1 | tr 'A-Z ' 'a-z-')
failed=
export SHMTUNE_PATH="$root"

# Kernels that take long to compile are given twice the time.
budget_of() {
    case $1 in
    matmul | conv2d | stencil2d) default=6s ;;
    *) default=3s ;;
    esac
    eval "echo \${BUDGET_$1:-\${BUDGET:-$default}}"
}

# The sizes that recordings are made of: small enough to be exhaustive.
recorded_size() {
    case $1 in
    transpose) echo rows=8192,cols=8192 ;;
    reduce | scan) echo n=16777216 ;;
    matmul) echo m=1024,n=1024,k=1024 ;;
    conv2d) echo height=4096,width=4096,filter=7 ;;
    bank_conflict) echo n=1081344 ;;
    coalescing) echo rows=8192,cols=8192 ;;
    *) return 1 ;;
    esac
}

sizes_of() {
    eval "echo \${SIZES_$1:-}" | sed 's/[^ ][^ ]*/--size &/g'
}

within() { timeout "${LIMIT:-400}" "$@"; }

# tune_into FOLDER SEED KERNEL KNOWN [OPTION]...: with the winners of the
# tunings that folder KNOWN has.
tune_into() {
    folder=$1 seed=$2 kernel=$3 known=$out/$4/$3
    shift 4
    for file in "$known"/*.yaml "$out/also/$kernel"/*.yaml; do
        [ ! -f "$file" ] || set -- "$@" --also "$file"
    done
    within "$shmtune" tune "$kernel" --device "$device" --seed "$seed" --data-seed "$seed" \
        --budget "$(budget_of "$kernel")" --from none \
        --output "$out/$folder" "$@"
}

step_test() { within sh "$root/tests/gpu/run.sh" "$build"; }

# Of some sizes only: the others stay in the tuning as they are.
keep_others() {
    [ -n "$(sizes_of "$2")" ] || return 0
    mkdir -p "$out/$1/$2" && cp -n "$out/first/$2"/*.yaml "$out/$1/$2/"
}

# link_tunings FOLDER RUN...: of each kernel what the first of these runs made
# that knows it, else what is shipped, for this device.
link_tunings() {
    folder=$1
    shift
    rm -rf "$folder" && mkdir -p "$folder"
    for path in "$root"/tunings/*; do
        kernel=${path##*/}
        for run in "$@"; do
            [ ! -d "$out/$run/$kernel" ] || { path=$out/$run/$kernel; break; }
        done
        mkdir "$folder/$kernel"
        for file in "$path"/*"$gpu".yaml; do
            [ ! -f "$file" ] || ln -s "$file" "$folder/$kernel/"
        done
    done
}

step_tune() {
    status=0
    link_tunings "$out/first" again tunings
    for kernel in $kernels; do
        keep_others tunings "$kernel"
        # shellcheck disable=SC2046
        tune_into tunings 1 "$kernel" none $(sizes_of "$kernel") || status=1
    done
    return $status
}

# A second tuning, of its own seed and journals, with the first one's winners
# in its finals: do the winners agree?
step_again() {
    status=0
    link_tunings "$out/first" tunings
    for kernel in $kernels; do
        keep_others again "$kernel"
        # shellcheck disable=SC2046
        tune_into again 2 "$kernel" first $(sizes_of "$kernel") || status=1
    done
    python3 "$root/tests/gpu/agree.py" "$out/first" "$out/again" || status=1
    return $status
}

# A library of this machine's tunings: the second, which knows the first.
make_library() {
    link_tunings "$out/library/tunings" again tunings
    ln -sfn "$root/kernels" "$out/library/kernels"
}

# Sizes that nobody tuned: what does choosing the nearest cost?
step_held_out() {
    make_library
    while read -r kernel sizes; do
        case " $kernels " in *" $kernel "*) ;; *) continue ;; esac
        # shellcheck disable=SC2086
        tune_into held 2 "$kernel" library/tunings $sizes
    done <<END
transpose --size rows=2047,cols=6001 --size rows=5000,cols=5000 --size rows=12345,cols=6789
reduce --size n=1500007 --size n=33554467 --size n=99999989
scan --size n=2000003 --size n=33554467 --size n=99999989
histogram --size n=3000017 --size n=99999989 --size n=33554467,bins=1024
matmul --size m=650,n=1450,k=1850 --size m=2500,n=2500,k=2500 --size m=170,n=3900,k=2100
conv2d --size height=3001,width=2003,filter=3 --size height=5555,width=4321,filter=7 --size height=1999,width=999,filter=15
softmax --size rows=7000,cols=1999 --size rows=3000,cols=15000 --size rows=300,cols=70001
row_reduce --size rows=4500,cols=1203 --size rows=2600,cols=17500 --size rows=300,cols=70001
stencil2d --size rows=5001,cols=6007,steps=1 --size rows=6007,cols=5001,steps=4 --size rows=2345,cols=4321,steps=8
nbody --size n=30011 --size n=100003 --size n=4801
END
    SHMTUNE_PATH="$out/library" python3 "$root/tests/gpu/held_out.py" \
        "$build" "$out/held"
}

step_record() {
    status=0
    for kernel in $kernels; do
        size=$(recorded_size "$kernel") || continue
        within "$shmtune" tune "$kernel" --device "$device" --size "$size" \
            --strategy "${RECORD_STRATEGY:-exhaustive}" \
            --budget "${RECORD_BUDGET:-100000}" --seed 3 \
            --record "$out/recorded" --output "$out/recorded" || status=1
    done
    return $status
}

# Candidates a second, ours and Kernel Tuner's, on the same space.
step_rate() {
    within "$shmtune" tune transpose --device "$device" --size rows=8192,cols=8192 \
        --strategy random --budget 1500 --seed 4 --no-resume --from none \
        --output "$out/rate"
    if python3 -c 'import kernel_tuner' 2>/dev/null; then
        within python3 "$root/tests/bench/kernel_tuner_rate.py" \
            "$root/kernels/transpose.yaml" --size rows=8192,cols=8192 \
            --seconds "${KT_SECONDS:-45}"
    else
        echo "skipped: kernel_tuner is not installed"
    fi
}

step_peers() {
    make_library
    SHMTUNE_PATH="$out/library" within sh "$root/tests/bench/peers.sh" "$build" \
        --held-out --json >"$out/peers.json"
    status=$?
    python3 "$root/tests/bench/peers_table.py" "$out/peers.json" || :
    return $status
}

step_claims() {
    sh "$root/tests/bench/claims.sh" "$build" "$out/claims"
}

step_torch() { within python3 "$root/tests/bench/pytorch_rows.py"; }

step_sanitize() {
    make_library
    KERNELS=$kernels CANDIDATES=${CANDIDATES:-20} JOBS=${JOBS:-12} \
        sh "$root/tests/gpu/sanitize.sh" "$build" "$out/library/tunings" \
        >"$out/sanitize.tap"
    cat "$out/sanitize.tap"
    ! grep -q '^not ok' "$out/sanitize.tap"
}

pack() {
    [ -n "${PACK:-}" ] || return 0
    tar -czf "$PACK.new" --exclude=images --exclude=library --exclude=first -C "$out" . &&
        mv "$PACK.new" "$PACK"
}

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
    pack
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
