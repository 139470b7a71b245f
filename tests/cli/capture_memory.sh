#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: buffers in managed memory and in pinned memory of the host are
# captured, made again, tuned and put back as those of the device are; what a
# spec cannot have is left out by name.  On the fake driver.
. "${SHMT_SRCDIR:?}/tests/cli/put_back.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "memory that the host has, too, is captured" "no NVRTC"
    finish
    exit 0
fi
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so FAKE_CUDA_BASE=0x200000000000
APPLICATION_BASE=0x300000000000
export SHMTUNE_LIBCUDA FAKE_CUDA_BASE APPLICATION_BASE APPLICATION_MEMORY
unset FAKE_CUDA_SHAPES

# captured WORD...: alone, and then into the folder `taken`
captured() {
    "$fake/application" opened load "$@" >alone.out 2>alone.err
    alone=$?
    rm -rf taken
    # shellcheck disable=SC2086
    run capture ${options-} -o taken -- "$fake/application" opened load "$@"
}
has() { grep -qE -e "$2" "taken/$1/kernel.yaml"; }
count() { grep -cE -e "$2" "taken/$1/kernel.yaml"; }
bare() { grep -v '^ *#' "$1"; }

APPLICATION_MEMORY=
captured launch cover=1000 sum
bare taken/blend-1/kernel.yaml >device.yaml
check "of memory of the device nothing is said" all as_alone \
    "! has blend-1 'in the application'" \
    "err_lacks 'in the application'"

for memory in managed host combined registered; do
    APPLICATION_MEMORY=$memory
    what='memory of the host'
    [ $memory != managed ] || what='managed memory'
    options=--propose
    captured launch cover=1000 sum
    check "$memory: the program runs as it does alone" all as_alone \
        "out_has '^sum [0-9]'"
    check "$memory: what is read and written is captured, and made again" all \
        "err_has 'blend-1: made again it gives what .* got; in-out: y$'" \
        "err_has 'cover-1: made again it gives what .* got; output: z$'" \
        "has blend-1 'y: .type: f32, role: inout, count: n, fill: '" \
        "has blend-1 'at_0: .pointer: memory_2'" \
        "has cover-1 'z: .type: f32, role: output, count: n, expect: '"
    check "$memory: it says that times have no bus in them" all \
        "err_has 'blend-1: y, x, memory_2: $what in the application and the device.s in the spec: no time has'" \
        "[ \$(count blend-1 '  # M[a-z]* .*in the application: no time here has') = 3 ]" \
        "has cover-1 '  # M[a-z]* .*in the application: no time here has'"
    run check taken/blend-1
    check "$memory: it is a spec" exits 0
    run tune taken/blend-1 --device 0 --strategy exhaustive -o tuned-$memory
    check "$memory: which is tuned" all "exits 0" \
        "out_has '^blend-1 .*BLOCK=128'"
    run run --captured taken --tunings tuned-$memory --no-trial -- \
        "$fake/application" opened load launch cover=1000 sum
    check "$memory: and put back" all as_alone \
        "err_has 'blend is launched as tuned'"
    "$fake/application" opened load times=400 sum >alone.out
    run run --captured taken --tunings tuned-$memory -- \
        "$fake/application" opened load times=400 sum
    check "$memory: and tried there" all as_alone \
        "err_has 'blend is launched as tuned: .*(48 launches each)'"
    options=
    captured launch cover=1000 sum
    bare taken/blend-1/kernel.yaml >other.yaml
    check "$memory: the spec is that of memory of the device" \
        cmp device.yaml other.yaml

    FAKE_CUDA_RANGES=1
    export FAKE_CUDA_RANGES
    captured launch sum
    unset FAKE_CUDA_RANGES
    bare taken/blend-1/kernel.yaml >other.yaml
    check "$memory: so where cuMemGetAddressRange knows it" all as_alone \
        "cmp device.yaml other.yaml"

    captured gather
    check "$memory: addresses in buffers are followed, and others in the worker" \
        all as_alone "[ \$(count gather-1 ', at: 0x3[01]') = 6 ]" \
        "err_has 'gather-1: made again it gives what the application got'" \
        "err_has 'gather-1: out, rows, .*memory_6 and 2 more: $what in'"
    run tune taken/gather-1 --device 0 --strategy exhaustive -o tuned
    check "$memory: and tuned" exits 0
    captured walk
    check "$memory: so is a list" all as_alone \
        "[ \$(count walk-1 ', at: 0x3[01]') = 3 ]" \
        "err_has 'walk-1: made again it gives what the application got'"
    captured keep_address launch sum
    check "$memory: what nobody needs is kept" all as_alone \
        "[ \$(count blend-1 ', at: 0x3[01]') = 1 ]" \
        "err_has 'blend-1: made again it gives what the application got'"
    captured keep_stale launch sum
    check "$memory: and what is gone is none" all as_alone \
        "[ \$(count blend-1 ', at: 0x3') = 0 ]" \
        "err_has 'blend-1: made again it gives what the application got'"
    options="--max-bytes 4K"
    captured launch sum
    check "$memory: it counts in --max-bytes" all as_alone \
        "[ ! -e taken/blend-1 ]" "err_has 'left out: .* --max-bytes'"
    options=
done

APPLICATION_MEMORY=managed FAKE_CUDA_ATTACHED=1
export FAKE_CUDA_ATTACHED
captured launch sum
unset FAKE_CUDA_ATTACHED
bare taken/blend-1/kernel.yaml >other.yaml
check "managed memory of one stream is copied on that" all as_alone \
    "cmp device.yaml other.yaml"

APPLICATION_MEMORY=registered APPLICATION_BEHIND=8
export APPLICATION_BEHIND
options=--no-rerun
captured launch gather sum
unset APPLICATION_BEHIND
options=
check "what begins nowhere that a spec can name is told, and no more" all \
    as_alone "err_has 'gather (grid 4 x 3 x 1): memory of the host that begins at no multiple of 16'" \
    "[ -f taken/gather-1/kernel.yaml ]" \
    "[ \$(count gather-1 ', at: 0x3') = 0 ]" "[ -f taken/blend-1/kernel.yaml ]"

APPLICATION_MEMORY=pageable FAKE_CUDA_PAGEABLE=1
export FAKE_CUDA_PAGEABLE
captured launch launch_many sum
check "what malloc gave is left out, and it is said once how it would not be" \
    all as_alone "[ ! -e taken/blend-1 ]" \
    "[ \$(grep -c 'blend .* left out: a parameter leads to memory of the host that is not pinned; .* cudaMallocManaged' err) = 1 ]"
unset FAKE_CUDA_PAGEABLE
APPLICATION_MEMORY=
FAKE_CUDA_FAIL=MemGetAddressRange=404
export FAKE_CUDA_FAIL
captured launch sum
check "so is that of which the driver does not say how large it is" all \
    as_alone "[ ! -e taken/blend-1 ]" \
    "err_has 'left out: the driver does not say how large'"
unset FAKE_CUDA_FAIL
finish
