#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture.sh BUILD: programs that come to the driver in each way run under
# `shmtune capture` as they do alone, and what it writes is tuned on device 0.
# The programs are tests/fake/application.c, with the driver linked, opened, and
# as the CUDA runtime finds it, tests/fake/textured.c, and capture.cu, which nvcc
# builds, as it does capture_tiles.cu and capture_texture.cu.  TAP.
set -u

. "$(dirname "$0")/programs.sh"

driver=$(ldconfig -p 2>/dev/null | sed -n 's/.*libcuda\.so\.1 .* => //p' |
    head -n 1)
: "${driver:=$(find / -name libcuda.so.1 -not -path '/proc/*' 2>/dev/null |
    head -n 1)}"
source=$here/../fake/application.c
${CC:-cc} -O2 -I"$headers" -o application "$source" -pthread -ldl >log 2>&1
${CC:-cc} -O2 -I"$headers" -DAPPLICATION_LINKED -pthread \
    -o application_linked "$source" "$driver" "$FAKE_NVRTC_REAL" \
    -Wl,-rpath,"$(dirname "$FAKE_NVRTC_REAL")" >>log 2>&1
check "the programs are built" all "[ -x application ]" \
    "[ -x application_linked ]"

for way in linked opened runtime; do
    program=./application
    [ $way != linked ] || program=${program}_linked
    $program $way load launch launch sum exit_three >alone 2>err
    alone=$?
    "$build/shmtune" capture --propose --skip 1 -o $way -- \
        $program $way load launch launch sum exit_three >out 2>err
    status=$?
    check "$way: the program runs as it does alone" all \
        "[ $status -eq 3 ]" "[ $alone -eq 3 ]" "cmp -s alone out"
    "$build/shmtune" check $way/blend-1 >log 2>&1
    check "$way: its launch is a spec" all "[ $? -eq 0 ]" \
        "grep -q 'count: n, fill' $way/blend-1/kernel.yaml"
    "$build/shmtune" tune $way/blend-1 --device 0 --strategy exhaustive \
        -o tuned-$way >log 2>&1
    status=$?
    count_right tuned-$way/blend-1
    # Its blocks of 64, 128 and 256 threads all give the same.
    check "$way: which is tuned with its data, all $right are right" all \
        "[ $status -eq 0 ]" "[ $tried -ge 3 ]" "[ $right -eq $tried ]" \
        "grep -q '[;,] $tried of $tried candidates in ' log"
    sed 's/^/# /' log | grep 'x default' -A 1
    "$build/shmtune" run --captured $way --tunings tuned-$way --no-trial -- \
        $program $way load launch launch sum exit_three >out 2>err
    status=$?
    check "$way: and put back, it computes the same" all "[ $status -eq 3 ]" \
        "cmp -s alone out" \
        "grep -q 'as tuned\|own configuration won' err"
    sed 's/^/# /' err
    $program $way load times=400 sum >alone 2>err
    "$build/shmtune" run --captured $way --tunings tuned-$way -- \
        $program $way load times=400 sum >out 2>err
    check "$way: and tried there, the same" all "cmp -s alone out" \
        "grep -q 'as tuned: .* us\|tuned it takes .* us\|configuration won' err"
    sed 's/^/# /' err
done

# Roles by experiment: an output, an in-out, sums by atomics, an address.
./application opened load launch cover=100000 total=100000 follow=1000 \
    >alone 2>err
"$build/shmtune" capture --propose -o again -- ./application opened load \
    launch cover=100000 total=100000 follow=1000 >out 2>err
check "made again: the program runs as it does alone" cmp -s alone out
check "made again: an output is one" all \
    "grep -q 'cover-1: made again it gives .* got; output: z$' err" \
    "grep -q 'z: {type: f32, role: output, count: n, expect' again/cover-1/kernel.yaml"
check "made again: an in-out stays one" all \
    "grep -q 'blend-1: made again it gives .* got; in-out: y$' err" \
    "grep -q 'y: {type: f32, role: inout' again/blend-1/kernel.yaml"
check "made again: sums by atomics vary, and have a tolerance" all \
    "grep -q 'total-1: made again, [0-9]* of 16 bytes of sums vary' err" \
    "grep -q 'four times that' again/total-1/kernel.yaml" \
    "grep -q 'sums: {type: f32, role: inout' again/total-1/kernel.yaml"
check "made again: contents that break the launch are read" all \
    "grep -q 'follow-1: made again it gives .* got; in-out: z$' err"
sed 's/^/# /' err
for kernel in cover total; do
    "$build/shmtune" tune again/$kernel-1 --device 0 --strategy exhaustive \
        -o tuned-again >log 2>&1
    check "made again: $kernel is tuned" [ $? -eq 0 ]
done

# A launch that changes variables of its module alone.
APPLICATION_SOURCE=tally.cu
export APPLICATION_SOURCE
cp "$here/../fake/data/tally.cu" .
"$build/shmtune" capture --propose -o variables -- ./application opened load \
    tally=100000 >out 2>err
check "variables: what is only written is an output" all \
    "grep -q 'tally-1: made again it gives .* got; output: mean; in-out: seen' err" \
    "grep -q 'mean: {type: f32, role: output, symbol: mean, count: 1, expect' variables/tally-1/kernel.yaml" \
    "grep -q 'seen: {type: u32, role: inout, symbol: .*, count: 7, fill' variables/tally-1/kernel.yaml"
sed 's/^/# /' err
unset APPLICATION_SOURCE
"$build/shmtune" tune variables/tally-1 --device 0 --strategy exhaustive \
    -o tuned-variables >log 2>&1
status=$?
count_right tuned-variables/tally-1
check "variables: it is tuned, all $right are right" all "[ $status -eq 0 ]" \
    "[ $tried -ge 3 ]" "[ $right -eq $tried ]"
sed -i '/atomicAdd/s/1u/2u/' variables/tally-1/program.cu
"$build/shmtune" tune variables/tally-1 --device 0 --strategy exhaustive \
    -o wrong-variables >log 2>&1
check "variables: one that counts otherwise is wrong" \
    grep -q 'seen.*is .*expected ' log

# How far a stencil reaches is part of what it computes; its block is a choice.
APPLICATION_SOURCE=stencil.cu
export APPLICATION_SOURCE
cat >stencil.cu <<'END'
#define RADIUS 4
__constant__ float offsets[2];
extern "C" __global__ void blend(float *y) { y[0] = offsets[0]; }
extern "C" __global__ void cover(float *z, const float *x, SCALAR a, int n)
{
    __shared__ float near[BLOCK + 2 * RADIUS];
    int first = blockIdx.x * BLOCK - RADIUS;
    float sum = 0;
    for (int k = threadIdx.x; k < BLOCK + 2 * RADIUS; k += BLOCK)
        near[k] = first + k >= 0 && first + k < n ? x[first + k] : 0;
    __syncthreads();
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += near[threadIdx.x + k];
    if (first + RADIUS + threadIdx.x < n)
        z[first + RADIUS + threadIdx.x] = a * sum;
}
END
begun=$(date +%s)
"$build/shmtune" capture --propose -o stencil -- ./application opened load \
    cover=100000 >out 2>err
check "stencil: its radius is no choice, its block is one" all \
    "grep -q 'cover-1: made again it gives .*; no choice: RADIUS$' err" \
    "grep -q '^  RADIUS: {values: .4., default: 4, override: true}' stencil/cover-1/kernel.yaml" \
    "grep -q '^  BLOCK: {values: .64, 128, 256, 512, 1024., default: 256}' stencil/cover-1/kernel.yaml"
echo "# captured and tried in $(($(date +%s) - begun)) s"
sed 's/^/# /' err
unset APPLICATION_SOURCE
"$build/shmtune" tune stencil/cover-1 --device 0 --strategy exhaustive \
    -o tuned-stencil >log 2>&1
status=$?
count_right tuned-stencil/cover-1
check "stencil: it is tuned, all $right are right" all "[ $status -eq 0 ]" \
    "[ $tried -ge 3 ]" "[ $right -eq $tried ]"

# Textures: arrays, pitched and linear memory.
${CC:-cc} -O2 -I"$headers" -o textured "$here/../fake/textured.c" -ldl >log 2>&1
./textured "$here/../fake/fake_texture.cu" 370 530 again >alone 2>err
"$build/shmtune" capture --propose -o textures -- ./textured \
    "$here/../fake/fake_texture.cu" 370 530 again >out 2>err
check "textures: the program runs as it does alone" all "[ -s alone ]" \
    "cmp -s alone out"
check "textures: the launch made again gives what it got" all \
    "grep -q 'sample-1: made again it gives .* got; output: out$' err" \
    "grep -qF 'image: {texture: image_data, extents: [cols, rows], filter: linear, address: border, border: [0.5]}' textures/sample-1/kernel.yaml"
sed 's/^/# /' err
"$build/shmtune" tune textures/sample-1 --device 0 --strategy exhaustive \
    -o tuned-textures >log 2>&1
status=$?
count_right tuned-textures/sample-1
check "textures: it is tuned, all $right are right" all "[ $status -eq 0 ]" \
    "[ $tried -ge 3 ]" "[ $right -eq $tried ]"
"$build/shmtune" run --captured textures --tunings tuned-textures --no-trial -- \
    ./textured "$here/../fake/fake_texture.cu" 370 530 again >out 2>err
check "textures: and put back, it computes the same" all "cmp -s alone out" \
    "grep -q 'as tuned\|own configuration won' err"
sed 's/^/# /' err

./application opened load_ptx launch sum >alone 2>err
"$build/shmtune" capture --propose -o ptx -- ./application opened load_ptx \
    launch sum >out 2>err
check "PTX: the program runs as it does alone" cmp -s alone out
"$build/shmtune" tune ptx/blend-1 --device 0 --strategy exhaustive \
    -o tuned-ptx >log 2>&1
check "PTX: its launch is tuned, with its variables" [ $? -eq 0 ]

"$build/shmtune" capture --list -- ./application opened load launch \
    launch_many sum >out 2>err
check "a list has the kernel by its time" grep -q ' 20001 .* blend$' out
grep ' blend$' out | sed 's/^/# /'

# What a launch costs that nobody wants, of 20,000.
ns() { date +%s%N; }
best() { # COMMAND...
    least=
    for _ in 1 2 3; do
        begun=$(ns)
        "$@" >/dev/null 2>&1
        took=$(($(ns) - begun))
        [ "${least:-$took}" -lt "$took" ] || least=$took
    done
    echo "$least"
}
alone=$(best ./application opened load launch_many launch_many launch_many sum)
under=$(best "$build/shmtune" capture -k none -o none -- ./application opened \
    load launch_many launch_many launch_many sum)
echo "# 60,000 launches that nobody wants: $((alone / 1000)) us alone," \
    "$((under / 1000)) us under capture"

if [ -z "$nvcc" ] || ! "$nvcc" -O2 -arch=native -o program "$here/capture.cu" \
    >log 2>&1; then
    skip "a program of nvcc's" "no nvcc that builds programs"
else
    ./program >alone 2>err
    "$build/shmtune" capture -k add_scaled -o plain -- ./program >out 2>err
    status=$?
    check "runtime linked static: the program runs as it does alone" all \
        "[ $status -eq 3 ]" "cmp -s alone out"
    check "its launch has its buffers, and no source" all \
        "grep -q '^source: \"TODO: ' plain/add_scaled-1/kernel.yaml" \
        "[ \$(ls plain/add_scaled-1/memory-*.after.gz | wc -l) -eq 2 ]" \
        "[ \$(grep -c 'bytes: 400000$' plain/add_scaled-1/launch.yaml) -eq 3 ]" \
        "grep -q 'at_0: {pointer: ' plain/add_scaled-1/kernel.yaml"
    rm -rf plain
    "$build/shmtune" capture -k add_scaled --propose --source \
        "$here/capture.cu" -o plain -- ./program >out 2>err
    status=$?
    check "unless it is named" all "[ $status -eq 3 ]" "cmp -s alone out" \
        "grep -q 'its source is .*/capture.cu' err" \
        "grep -q 'add_scaled-1: made again it gives what' err" \
        "grep -q 'entry: .*add_scaled<float>' plain/add_scaled-1/kernel.yaml" \
        "grep -q '^  BLOCK_X: {values: .[0-9]*, ' plain/add_scaled-1/kernel.yaml"
    "$build/shmtune" check plain/add_scaled-1 >log 2>&1
    check "then it is a spec, unedited" [ $? -eq 0 ]
    # How many there are stands in a struct, which has no names.
    sed -i 's#^  grid: .*#  grid: ["ceildiv(100000, BLOCK_X)"]#' \
        plain/add_scaled-1/kernel.yaml
    "$build/shmtune" tune plain/add_scaled-1 --device 0 \
        --strategy exhaustive -o tuned-block >log 2>&1
    check "its block is tuned" all "[ $? -eq 0 ]" \
        "grep -q 'BLOCK_X' tuned-block/add_scaled-*/*.yaml"
    "$build/shmtune" run --captured plain --tunings tuned-block --no-trial -- \
        ./program >out 2>err
    status=$?
    check "a program of nvcc's takes it back" all "[ $status -eq 3 ]" \
        "cmp -s alone out" "grep -q 'as tuned\|own configuration won' err"
    sed 's/^/# /' err
    "$nvcc" -O2 -arch=native -lineinfo -o program "$here/capture.cu" >log 2>&1
    "$build/shmtune" capture -k add_scaled -o lines -- ./program >out 2>err
    check "its binary names its source" all "cmp -s alone out" \
        "grep -q 'its source is .*/capture.cu' err"
    "$nvcc" -O2 -arch=native -cudart shared -o program "$here/capture.cu" \
        >log 2>&1
    LD_LIBRARY_PATH=$(dirname "$FAKE_NVRTC_REAL"):$(dirname "$nvcc")/../lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    "$build/shmtune" capture -k add_scaled -o shared -- ./program >out 2>err
    check "runtime linked shared: the same" all "cmp -s alone out" \
        "[ -f shared/add_scaled-1/kernel.yaml ]"

    # Textures of the runtime's, one of them in layers.
    "$nvcc" -O2 -arch=native -cudart static -o blur \
        "$here/capture_texture.cu" >log 2>&1
    ./blur >alone 2>err
    "$build/shmtune" capture --propose --source "$here/capture_texture.cu" \
        -o blurred -- ./blur >out 2>err
    status=$?
    check "textures of the runtime: the program runs as it does alone" all \
        "[ $status -eq 3 ]" "cmp -s alone out"
    check "the launch made again gives what it got" all \
        "grep -q 'blur-1: made again it gives .* got; output: out$' err" \
        "grep -qF 'image: {texture: image_data, extents: [width, height], channels: 4, read: normalized_float, normalized: true, filter: linear, address: [mirror, border]}' blurred/blur-1/kernel.yaml" \
        "grep -qF 'weights: {texture: weights_data, extents: [taps]}' blurred/blur-1/kernel.yaml" \
        "grep -qF 'layers: {texture: layers_data, extents: [7, 3], layered: true}' blurred/blur-1/kernel.yaml"
    sed 's/^/# /' err
    grep texture: blurred/blur-1/kernel.yaml | sed 's/^/# /'
    "$build/shmtune" tune blurred/blur-1 --device 0 --strategy exhaustive \
        -o tuned-blur >log 2>&1
    check "and is tuned" [ $? -eq 0 ]

    # Tile and block are 16 both: by host code, and without it by trying.
    "$nvcc" -O2 -arch=native -o tiles "$here/capture_tiles.cu" >log 2>&1
    ./tiles >alone 2>err
    sed '/^int main/,$d' "$here/capture_tiles.cu" >kernel_only.cu
    for source in "$here/capture_tiles.cu" kernel_only.cu; do
        rm -rf tiles-taken tuned-tiles
        "$build/shmtune" capture --propose --source "$source" \
            -o tiles-taken -- ./tiles >out 2>err
        status=$?
        check "${source##*/}: the program runs as it does alone" all \
            "[ $status -eq 3 ]" "cmp -s alone out"
        case $source in
        *tiles.cu) grid='width // TILE_DIM, height // TILE_DIM' ;;
        *) grid='"ceildiv(width, TILE_DIM)", "ceildiv(height, TILE_DIM)"' ;;
        esac
        check "its grid is by its tile, its block by both" all \
            "grep -qF 'grid: [$grid]' tiles-taken/transpose-1/kernel.yaml" \
            "grep -q 'block: .TILE_DIM, BLOCK_ROWS.' tiles-taken/transpose-1/kernel.yaml"
        sed 's/^/# /' err
        "$build/shmtune" tune tiles-taken/transpose-1 --device 0 \
            --strategy exhaustive -o tuned-tiles >log 2>&1
        status=$?
        count_right tuned-tiles/transpose-1
        # Those whose rows divide the tile, of at most 1024 threads.
        check "all $tried are tried, and $right right" all \
            "[ $status -eq 0 ]" "[ $tried -eq 21 ]" "[ $right -eq 12 ]"
        sed 's/^/# /' log | grep 'x default' -A 1
    done
fi
finish
