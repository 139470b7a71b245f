#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tune_ends: winners at an end of their values.  tests/fake/worker plays the
# workers: of the kernel `cross` a large problem has the largest TILE for its
# best.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
cp "$SHMT_SRCDIR/tests/fake/data/cross.yaml" .
cp "$SHMT_SRCDIR/tests/fake/data/toy.cu" .
# of VALUES [CONSTRAINT]: the spec with these tiles
of() {
    sed "s/TILE: {values: .*/TILE: {values: [$1], default: ${1%%,*}}/" \
        cross.yaml >spec.yaml
    [ -z "${2-}" ] || sed -i "s/^constraints:/&\n- $2/" spec.yaml
    rm -rf tunings
}
# tuned SIZE...: exhaustively
tuned() {
    sizes=
    for size; do sizes="$sizes --size rows=$size,cols=$size"; done
    # shellcheck disable=SC2086
    run tune ./spec.yaml $sizes --strategy exhaustive -o tunings
}
# silent TILE: which the winner has
silent() { out_has "TILE=$1" && err_lacks "of its values"; }
largest() { err_has "^shmtune: cross: TILE=$1 is the largest of its values, and $2 may be faster still: add it to the spec, and run this again\$"; }

of "32, 64, 128"
tuned 4096
check "a winner with the largest of its values is told of" all "exits 0" \
    "largest 128 256" "[ \"\$(grep -c 'of its values' err)\" = 1 ]"
tuned 4096 8192
check "once, where it is so of all problems" all "exits 0" "largest 128 256" \
    "[ \"\$(grep -c 'of its values' err)\" = 1 ]"
tuned 4096 33
check "and not where it is so of some" all "exits 0" "silent 128"
of "32, 64, 96"
tuned 4096
check "numbers that go on by a step go on by it" all "exits 0" "largest 96 128"
of "32, 64"
tuned 4096
check "a choice of two is none" all "exits 0" "silent 64"
of "32, 64, 128" "TILE < 256"
tuned 4096
check "nor is one that the constraints end" all "exits 0" "silent 128"
of "256, 512, 1024"
tuned 4096
check "or the threads of a block" all "exits 0" "silent 1024"
of "32, 64, 128"
sed -i 's/shared_static: .*/shared_static: 380 * TILE/' spec.yaml
tuned 4096
check "or its shared memory" all "exits 0" "silent 128"
of "32, 64, 128"
tuned 33
check "the least one has none below it that is a warp" all "exits 0" \
    "silent 32"
of "64, 128, 256"
tuned 33
check "and is told of where there is one" all "exits 0" \
    "err_has '^shmtune: cross: TILE=64 is the least of its values, and 32 may be faster still'"
finish
