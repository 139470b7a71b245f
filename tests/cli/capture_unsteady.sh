#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture_unsteady: launches whose results are others each time, or that change
# nothing: what is compared is what can be, and where that is nothing the draft
# says so.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

cd "$folder" || exit 1

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "launches that leave something else are captured" "no NVRTC"
    finish
    exit 0
fi
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so APPLICATION_SOURCE=unsteady.cu
export SHMTUNE_LIBCUDA APPLICATION_SOURCE
cp "$SHMT_SRCDIR/tests/fake/data/unsteady.cu" . || exit 1
has() { grep -qF -e "$2" "taken/$1-1/kernel.yaml"; }
tune() { run tune "taken/$1-1" --device 0 --strategy exhaustive -o tuned; }

run capture --propose -o taken -- "$fake/application" opened load ticks=1000 \
    timed=1000 wander=1000 idle=1000 only=1000
cp err said
said() { grep -q -e "$1" said; }
check "the program runs" exits 0

check "whole numbers that vary are not compared" all \
    "said 'timed-1: made again, [0-9]* of 4000 bytes of x vary from time to time; output: z; not compared: x$'" \
    "has timed 'x: {type: i32, role: inout, count: n, fill: '" \
    "has timed 'memory-1.after.gz}, tolerance: {mismatches: 1000}}'" \
    "has timed 'so nothing of it is compared: each element may be wrong'"
check "what is beside them is, and may be an output" all \
    "has timed 'z: {type: f32, role: output, count: n, expect: '" \
    "has timed 'is not read: with 4 other contents all was the same'"
tune timed
check "so it is tuned" all "exits 0" "out_has '^timed-1 .*BLOCK=64'"

check "where nothing else is left it is to be written" all \
    "said 'ticks-1: made again, [0-9]* of 4000 bytes of z vary .*; not compared: z$'" \
    "has ticks '# What the launch changed varies from run to run, and is not'" \
    "has ticks 'z: {type: i32, role: inout, count: n, fill: '"
run check taken/ticks-1
check "which check says" all "exits 2" \
    "out_has 'to be written: nothing of this launch can be compared: write what'"

check "numbers that vary in other places have a region of all of them" all \
    "said 'wander-1: made again, [0-9]* of 4000 bytes of z vary .* in-out: z$'" \
    "has wander 'region: {columns: 503, offset: 0}, tolerance: {relative: '"
tune wander
check "so that is tuned, too" all "exits 0" "out_has '^wander-1 .*BLOCK=64'"

check "what a launch may write and does not has to stay" all \
    "said 'idle-1: made again it gives what the application got; it changed nothing, '" \
    "has idle '# The launch changed nothing that it was given; \`--skip N\`'" \
    "has idle 'z: {type: f32, role: inout, count: n, fill: {file: memory-0.before.gz}, expect: {file: memory-0.before.gz}'" \
    "has idle 'x: {type: f32, role: inout, count: n, fill: {file: memory-1.before.gz}, expect: {file: memory-1.before.gz}'"
run check taken/idle-1
check "which is a spec" exits 0
run check taken/only-1
check "one that may write nothing has a result to be written" all "exits 2" \
    "out_has 'to be written: nothing of this launch can be compared: write an'" \
    "has only '# The launch changed nothing that it was given; \`--skip N\`'"

run capture --no-rerun -o once -- "$fake/application" opened load wander=1000
check "a region of one launch is called so" all "exits 0" \
    "grep -q '# .region. is of one launch: leave it out where' once/wander-1/kernel.yaml" \
    "grep -q 'region: {columns: 502, offset: 0}' once/wander-1/kernel.yaml"
finish
