#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: a launch that changes variables of its module alone; they are kept
# before it and after it, drafted as results, tuned, and a candidate that writes
# something else into one is found.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "variables that a launch changes are captured" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so APPLICATION_SOURCE=tally.cu
export SHMTUNE_LIBCUDA APPLICATION_SOURCE
cp "$SHMT_SRCDIR/tests/fake/data/tally.cu" . || exit 1
has() { grep -qE -e "$1" taken/tally-1/kernel.yaml; }

run capture --no-rerun -o taken -- "$fake/application" opened load tally=1000
check "what a launch changes in its module is compared" all "exits 0" \
    "has '  seen: .type: u32, role: inout, symbol: .*counters4seenE, count: 7, fill: .file: .*, expect: .file: '" \
    "has '  mean: .type: f32, role: inout, symbol: mean, count: 1, fill: .*, expect: .*, tolerance: '" \
    "has '  untouched: .type: i32, role: symbol, symbol: untouched, count: 2, fill: '" \
    "has '  offsets: .type: f32, role: symbol, symbol: offsets, count: 2, fill: '" \
    "has '  z: .type: f32, role: input, '"
run check taken/tally-1
check "and is a spec" exits 0
rm -rf taken
run capture --propose -o taken -- "$fake/application" opened load tally=1000
check "made again, what is only written is an output" all "exits 0" \
    "err_has 'tally-1: made again it gives what .* got; output: mean; in-out: seen'" \
    "has '  mean: .type: f32, role: output, symbol: mean, count: 1, expect: '" \
    "has '  seen: .type: u32, role: inout, symbol: .*, count: 7, fill: '"
run tune taken/tally-1 --device 0 --strategy exhaustive -o tuned
check "it is tuned" all "exits 0" "out_has 'tally'"
FAKE_TALLY=1
export FAKE_TALLY
run tune taken/tally-1 --device 0 --strategy exhaustive -o wrong
check "one that counts otherwise is wrong" all "! exits 0" \
    "err_has 'seen.*is .*expected '"
unset FAKE_TALLY

# nvcc's programs register a fatbin.
for way in load load_fatbin; do
    rm -rf taken
    run capture --no-rerun -o taken -- "$fake/application" opened $way tally=1000
    sed -n 's/.* symbol: \([^,]*\).*/\1/p' taken/tally-1/kernel.yaml >$way.names
done
check "those of a fatbin are those of its cubin" all "exits 0" \
    "cmp -s load.names load_fatbin.names" \
    "[ \$(grep -c . load_fatbin.names) = 4 ]"
rm -rf taken
run capture --no-rerun -o taken -- env APPLICATION_PACKED=1 \
    "$fake/application" opened load_fatbin launch
check "a binary that is compressed is told" all "exits 0" \
    "err_has 'blend: its binary is compressed: variables .* are not captured; nvcc --no-compress keeps them'" \
    "! grep -q ' symbol: ' taken/blend-1/kernel.yaml"

# One that only its file knows is called otherwise in each compile; one of the
# toolkit's nobody fills.
sed -i 's/^__device__ int untouched.*/&\nnamespace {\n__device__ int unseen[3];\n}\nnamespace cuda { namespace std {\n__constant__ int end_[1] = {1};\n}}/
    s/+ untouched\[0\]/& + unseen[a > 1] + cuda::std::end_[0]/' tally.cu
rm -rf taken
run capture --propose -o taken -- "$fake/application" opened load tally=1000
check "one of a file has its name in the source, the toolkit's are none" all \
    "exits 0" "err_has 'made again it gives what'" \
    "has '  unseen: .type: i32, role: symbol, symbol: unseen, count: 3, fill: '" \
    "[ \$(grep -c ' symbol: ' taken/tally-1/kernel.yaml) = 5 ]"
run check taken/tally-1
check "by which it is filled" all "exits 0" "err_lacks unseen"
run tune taken/tally-1 --device 0 --strategy exhaustive -o tuned
unset SHMTUNE_LIBCUDA
run run --captured taken --tunings tuned --no-trial -- "$fake/application" \
    opened load tally=1000
check "and it is found in the program's own module" all "exits 0" \
    "err_has '^shmtune: tally is launched as tuned$'"
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
cp "$SHMT_SRCDIR/tests/fake/data/tally.cu" . || exit 1

# Names that drafts give by themselves, and two variables with one name.
sed -i 's/float [*]z/float *BLOCK_X/; s/\<x\>/memory_6/g; s/threadIdx.memory_6/threadIdx.x/
    s/blockIdx.memory_6/blockIdx.x/; s/^__device__ float mean/namespace others {\n__device__ int seen[2];\n}\n&/
    s/untouched\[0\]/& + others::seen[0]/' tally.cu
rm -rf taken
run capture --no-rerun -o taken -- "$fake/application" opened load tally=1000
check "names that are taken are given to nothing else" all "exits 0" \
    "has 'arguments: .argument1, memory_6, a, n.'" \
    "[ \$(grep -c '^  seen: ' taken/tally-1/kernel.yaml) = 1 ]" \
    "[ \$(grep -c '^  memory_6: ' taken/tally-1/kernel.yaml) = 1 ]" \
    "has '  memory_6_: .type: i32, role: symbol, symbol: _ZN6others4seenE'"
run check taken/tally-1
check "so that each is a spec" exits 0
long=a_variable_with_a_name_of_more_characters_than_any_name_of_a_spec
sed -i "s/others::seen/others::$long/; s/^__device__ int seen/__device__ int $long/" tally.cu
rm -rf taken
run capture --no-rerun -o taken -- "$fake/application" opened load tally=1000
check "a name that no spec can have is the symbol's alone" all "exits 0" \
    "has '  memory_[0-9]*_*: .type: i32, role: symbol, symbol: _ZN6others.*$long'"
run check taken/tally-1
check "and is a spec, too" exits 0
finish
