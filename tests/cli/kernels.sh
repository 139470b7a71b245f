#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The kernels that come with shmtune, on every architecture that CUDA 13
# compiles for: a sample of each space compiles, and takes the static shared
# memory that its spec says.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

run doctor
if ! grep -q -i -e "nvrtc  *[0-9]" "$folder/out"; then
    echo "1..0 # SKIP no NVRTC to compile with"
    exit 0
fi

# none_failed: candidates may spill or be too large, no more
none_failed() {
    ! grep -q -e compile_error -e compile_timeout -e spec_mismatch \
        -e compile_crash "$folder/out"
}

seed=1
for arch in sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; do
    for spec in "$source"/kernels/*.yaml; do
        kernel=$(basename "$spec" .yaml)
        seed=$((seed + 1))
        run inspect "$spec" --arch "$arch" --sample 1 --seed "$seed" \
            --compile-timeout 300
        check "$kernel compiles for $arch (seed $seed)" all 'exits 0' \
            err_empty none_failed 'out_has "^1 of .* configurations"'
    done
done
finish
