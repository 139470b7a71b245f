#!/bin/sh
# SPDX-License-Identifier: MIT
#
# claims.sh BUILD OUT: measures what docs/claims.md is made of, on GPU 0,
# with the shmtune of BUILD, nvcc and ncu; some small files in OUT, and within
# LIMIT seconds [95]: what does not fit is left out, and said.  Copy what it
# writes to tests/bench/data and run claims.py.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?}" && pwd)
mkdir -p "${2:?}"
out=$(cd "$2" && pwd)
start=$(date +%s)
limit=${LIMIT:-95}
nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}
ncu=${SHMTUNE_NCU:-$(command -v ncu || ls /usr/local/cuda*/bin/ncu \
    /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)}
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    head -n 1 | tr -d .) || :
arch=${ARCH:-${arch:-90}}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
log=$out/claims.log
: >"$log"

say() { echo "$(($(date +%s) - start)) s: $*" | tee -a "$log" >&2; }
left() { echo $((limit - $(date +%s) + start)); }
# within MOST COMMAND...: at most that long, and what is left of the limit
within() {
    most=$1
    shift
    [ "$most" -le "$(left)" ] || most=$(left)
    if [ "$most" -lt 3 ]; then
        say "left out for want of time: $*"
        return 1
    fi
    timeout "$most" "$@"
}

# -- compile: everything at once ---------------------------------------------
"$nvcc" -std=c++17 -O2 -w -arch="sm_$arch" -I"$root/src" \
    "$root/tests/bench/claims.cu" -o "$folder/claims" -L"$build/.libs" \
    -lshmtune -Xlinker -rpath,"$build/.libs" >>"$log" 2>&1 &
nvcc_id=$!

# request VERB TAG SIZE CONFIG; label EXPERIMENT VARIANT X
request() { echo "{verb: $1, tag: $2, size: {$3}, config: {$4}}"; }
banks() { # LINE for each configuration: tag stride word pad
    tag=0
    for stride in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 \
        17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32; do
        echo "$stride 4 0"
    done
    for stride in 2 4 8 16 32; do
        echo "$stride 4 1"
        echo "$stride 8 0"
        echo "$stride 16 0"
    done
}
orders() {
    for order in rows columns; do
        echo "$order 1 32 32 16384"
    done
    for stride in 1 2 4 8 16 32; do
        echo "stride $stride 256 1 8192"
    done
}
# batch VERB: requests and labels of both demonstrations
batch() {
    tag=0
    banks | while read -r stride word pad; do
        tag=$((tag + 1))
        request "$1" $tag "n: 1081344, rounds: 1024" \
            "STRIDE: $stride, WORD: $word, PAD: $pad, MEMORY: static" \
            >>"$folder/banks.$1"
        echo "bank_conflict,word $word pad $pad,$stride,1" \
            >>"$folder/banks.labels.$1"
    done
    orders | while read -r order stride x y size; do
        tag=$((tag + 1))
        request "$1" $tag "rows: $size, cols: $size" \
            "ORDER: $order, STRIDE: $stride, BLOCK_X: $x, BLOCK_Y: $y, ITEMS: 1, STREAM: 0" \
            >>"$folder/orders.$1"
        echo "coalescing,$order $size,$stride,1" >>"$folder/orders.labels.$1"
    done
}
batch inspect
batch profile
# compile NAME KERNEL: in four processes
compile() {
    split -n l/4 "$folder/$1.inspect" "$folder/$1.part."
    for part in "$folder/$1".part.*; do
        "$build/shmtune" worker --spec "$root/kernels/$2.yaml" \
            --arch "sm_$arch" --images "$folder/images" \
            --requests "$part" >"$part.out" 2>>"$log" &
    done
}
compile banks bank_conflict
compile orders coalescing
{
    nvidia-smi --query-gpu=name,driver_version,memory.total \
        --format=csv,noheader
    "$nvcc" --version | tail -n 1
    [ -z "$ncu" ] || "$ncu" --version | grep -i version
    "$build/shmtune" --version
    echo
} >"$out/device.txt" 2>>"$log"
wait "$nvcc_id" || {
    say "claims.cu does not compile"
    exit 1
}
wait
say "compiled"

# -- times -------------------------------------------------------------------
echo 'experiment,variant,x,quantity,value' >"$out/times.csv"
within 40 "$folder/claims" time >>"$out/times.csv" 2>>"$log" ||
    say "claims time: status $?"
XDG_CACHE_HOME=$folder within 15 "$folder/claims" library "$root" \
    >>"$out/times.csv" 2>>"$log" || say "claims library: status $?"
say "timed"

# -- counters ----------------------------------------------------------------
# counted NAME LABELS METRICS COMMAND...: $folder/NAME.log, once more without
# the metrics that ncu does not know
counted() {
    name=$1 labels=$2 metrics=$3
    shift 3
    for attempt in 1 2; do
        rm -f "$folder/$name.log"
        within 40 "$ncu" --csv --page raw --print-units base \
            --log-file "$folder/$name.log" --profile-from-start off \
            --cache-control all --clock-control none \
            --metrics "$metrics" "$@" >"$folder/$name.out" 2>>"$log"
        status=$?
        [ $status -ne 0 ] || break
        say "ncu, $name: status $status"
        grep '^==\(ERROR\|WARNING\)==' "$folder/$name.log" "$folder/$name.out" |
            head -n 5 >>"$log"
        known=
        for metric in $(echo "$metrics" | tr , ' '); do
            grep '^==ERROR==' "$folder/$name.log" 2>/dev/null |
                grep -q "${metric%%.*}" || known=$known,$metric
        done
        [ "${known#,}" != "$metrics" ] || break
        metrics=${known#,}
    done
    [ "$labels" != - ] || labels=$folder/$name.out
    gzip -9c "$folder/$name.log" >"$out/$name.log.gz"
    cp "$labels" "$out/$name.labels"
    python3 "$root/tests/bench/claims.py" collect "$folder/$name.log" \
        "$labels" >>"$out/counters.csv" 2>>"$log" ||
        say "collect, $name: status $?"
}

echo 'experiment,variant,x,quantity,value' >"$out/counters.csv"
l1=l1tex__t data=l1tex__data lsu=pipe_lsu_mem
global=${l1}_requests_${lsu}_global_op_ld.sum,${l1}_sectors_${lsu}_global_op_ld.sum,${l1}_requests_${lsu}_global_op_st.sum,${l1}_sectors_${lsu}_global_op_st.sum
dram=dram__bytes_read.sum,dram__bytes_write.sum,dram__sectors_read.sum,dram__sectors_write.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
shared=smsp__inst_executed_op_shared_ld.sum,smsp__inst_executed_op_shared_st.sum
for op in ld st; do
    shared=$shared,${data}_pipe_lsu_wavefronts_mem_shared_op_$op.sum
    shared=$shared,${data}_bank_conflicts_${lsu}_shared_op_$op.sum
done
local=${l1}_sectors_${lsu}_local_op_ld.sum,${l1}_sectors_${lsu}_local_op_st.sum
busy=smsp__thread_inst_executed_per_inst_executed.ratio,sm__warps_active.avg.pct_of_peak_sustained_active
time=gpu__time_duration.sum
sass=smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct

if [ -z "$ncu" ]; then
    say "no ncu: no counters"
    exit 0
fi
worker() { # NAME KERNEL METRICS
    counted "$1" "$folder/$1.labels.profile" "$3" "$build/shmtune" worker \
        --spec "$root/kernels/$2.yaml" --device 0 --images "$folder/images" \
        --requests "$folder/$1.profile"
    grep -v 'verdict: ok\|hello: 1' "$folder/$1.out" | head -n 5 >>"$log"
    say "counted $1"
}
worker banks bank_conflict "$time,$shared,$sass"
worker orders coalescing "$time,$global,$dram"
counted claims - "$time,$global,$dram,$shared,$local,$busy" \
    "$folder/claims" profile
say "counted claims"

# -- the tuned beside the default ----------------------------------------------
for kernel in transpose matmul reduce conv2d stencil2d softmax row_reduce \
    histogram scan nbody; do
    ls "$root/tunings/$kernel"/*.yaml >/dev/null 2>&1 || continue
    # shellcheck disable=SC2086
    case $kernel in
    transpose) size='--size rows=8192,cols=8192' ;;
    matmul) size='--size m=4096,n=4096,k=4096' ;;
    reduce) size='--size n=16777216' ;;
    conv2d) size='--size height=8192,width=8192,filter=7' ;;
    *) size= ;;
    esac
    SHMTUNE_PATH=$root within 25 "$build/shmtune" explain "$kernel" $size \
        --json >"$out/explain-$kernel.json" 2>>"$log" ||
        say "explain $kernel: status $?"
    [ -s "$out/explain-$kernel.json" ] || rm -f "$out/explain-$kernel.json"
done
say "done"
