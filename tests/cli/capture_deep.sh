#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: what only other buffers have the addresses of, kept, made again in a
# worker whose buffers are elsewhere, tuned.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "addresses in buffers are followed" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1
# Buffers of the worker are elsewhere.
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so FAKE_CUDA_BASE=0x200000000000
APPLICATION_BASE=0x300000000000
export SHMTUNE_LIBCUDA FAKE_CUDA_BASE APPLICATION_BASE

# capture OPTION... -- WORD...: into the folder `taken`
capture() {
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    rm -rf taken
    # shellcheck disable=SC2086
    run capture $options -o taken -- "$fake/application" opened load "$@"
}
has() { grep -qE -e "$2" "taken/$1/kernel.yaml"; }
placed() { grep -c ', at: 0x30000' "taken/$1/kernel.yaml"; }
# spoil SED FILE: kernel.yaml of gather, changed
spoil() { sed "$1" taken/gather-1/kernel.yaml >"taken/gather-1/$2"; }

capture --propose -- gather
check "what a table of pointers leads to is kept" all "exits 0" \
    "[ \$(placed gather-1) = 6 ]" \
    "has gather-1 'role: input, count: 4000, at: 0x300000'" \
    "has gather-1 'role: (output|inout), count: 4000, at: 0x300000'"
check "and the launch made again with it gives the same" \
    err_has 'gather-1: made again it gives what the application got'
run check taken/gather-1
check "it is a spec" exits 0
run tune taken/gather-1 --device 0 --strategy exhaustive -o tuned
check "which is tuned, without the application" all "exits 0" \
    "out_has '^gather-1 .*BLOCK=64'"
result=$(sed -n 's/.*at: .*expect: {file: \(memory-[0-9]*\.after\.gz\)}.*/\1/p' \
    taken/gather-1/kernel.yaml | head -n 1)
gzip -dc "taken/gather-1/$result" >other
printf '\300' | dd of=other bs=1 seek=2003 conv=notrunc 2>"$folder/err"
cp -r taken other-taken
gzip -c other >other-taken/gather-1/"$result"
run tune other-taken/gather-1 --device 0 --strategy exhaustive -o other-out
check "what lies behind the pointers is compared" all \
    "exits 4" "err_has 'memory_[0-9]*\['"

capture -- span
check "the end of a buffer is an address of it" all "exits 0" \
    "[ \$(placed span-1) = 3 ]" \
    "err_has 'span-1: made again it gives what the application got'"
run tune taken/span-1 --device 0 --strategy exhaustive -o tuned
check "addresses that a kernel writes are compared" exits 0
FAKE_SPAN=1
export FAKE_SPAN
run tune taken/span-1 --device 0 --strategy exhaustive -o none
unset FAKE_SPAN
check "and told where they are wrong" all "exits 4" \
    "err_has 'middle\['"
capture -- walk
check "a list is followed to its end" all "exits 0" \
    "[ \$(placed walk-1) = 3 ]" \
    "err_has 'walk-1: made again it gives what the application got'"
run tune taken/walk-1 --device 0 --strategy exhaustive -o tuned
check "and tuned" exits 0
capture --max-bytes 20K -- gather
check "what is followed counts in --max-bytes" all "exits 0" \
    "err_has 'gather (grid 4 x 3 x 1) is left out: .* --max-bytes'"
SHMTUNE_CAPTURE_QUESTIONS=2
export SHMTUNE_CAPTURE_QUESTIONS
capture --no-rerun -- gather
unset SHMTUNE_CAPTURE_QUESTIONS
check "where not all can be looked at that is said" all "exits 0" \
    "err_has 'gather (grid 4 x 3 x 1): more words .* than are looked at'" \
    "[ \$(placed gather-1) -lt 6 ]"
capture --no-rerun -- cover=1000
check "numbers are no addresses" all "exits 0" "[ \$(placed cover-1) = 0 ]"

capture --no-rerun -- gather
spoil 's/at: 0x/at: 0y/' spoilt.yaml
run check taken/gather-1/spoilt.yaml
check "an address is one" all "exits 2" \
    "out_has 'spoilt.yaml:[0-9]*:[0-9]*: .*an address of the device is'"
spoil 's/\(at: 0x[0-9a-f]*\)00,/\104,/' spoilt.yaml
run check taken/gather-1/spoilt.yaml
check "aligned" all "exits 2" "out_has 'a multiple of 16, from 0x100000000'"
spoil 's/at: 0x3[0-9a-f]*,/at: 0x300000000000,/' spoilt.yaml
run check taken/gather-1/spoilt.yaml
check "and two do not overlap" all "exits 2" \
    "out_has '4000 bytes at 0x300000000000, overlaps memory_'"
spoil 's/count: 4000, at/count: n * 4, at/' spoilt.yaml
run check taken/gather-1/spoilt.yaml
check "what has one has as many elements as it had" all "exits 2" \
    "out_has 'its count is a number then'"
spoil 's/role: inout, count: 4000, at/role: output, count: 4000, zeroed: true, at/
    s/\(zeroed: .*\), fill: {file: [^}]*}/\1/' spoilt.yaml
run check taken/gather-1/spoilt.yaml
check "and is not zeroed" all "exits 2" "out_has 'nothing zeroes it there'"
spoil 's/\(at: 0x[0-9a-f]*\), fill: {file: [^}]*}/\1/' spoilt.yaml
run check taken/gather-1/spoilt.yaml
check "and its contents from a file" all "exits 2" \
    "out_has 'what is at it is not from a file; give it .fill: {file: PATH}'"
finish
