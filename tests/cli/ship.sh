#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the tuner writes, an application loads: a tuning of the fake driver's
# kernel, shipped, gone stale, cut short.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA
rm -rf "$root"
mkdir -p "$root/kernels"
cp "$source/tests/fake/fake_kernel.cu" "$source/tests/fake/fake_kernel.yaml" \
    "$root/kernels/"

choose() { # SIZE
    "$build/tests/support/choose" fake_kernel "$1" >"$folder/out" 2>"$folder/err"
    status=$?
}

if [ ! -f "$SHMTUNE_LIBCUDA" ]; then
    echo "1..0 # SKIP the fake driver was not built"
    exit 0
fi
run tune "$root/kernels/fake_kernel.yaml" --device 0 --budget 40 --seed 1 \
    --output "$root/tunings"
if [ "$status" -eq 8 ]; then
    echo "1..0 # SKIP $(head -n 1 "$folder/err")"
    exit 0
fi
check "the tuner writes a tuning" exits 0
tuning=$(ls "$root"/tunings/fake_kernel/*.yaml)

choose 1000
check "it is an exact match on its device" all 'exits 0' \
    'out_has "^match: exact$"' 'out_lacks "^note:"'
tile=$(sed -n 's/^configuration: .*TILE=\([0-9]*\).*/\1/p' "$folder/out")
time=$(sed -n 's/^time_us: //p' "$folder/out")
check "with the tuned configuration and its time" all \
    'grep -q "configuration: {.*TILE: $tile\\b" "$tuning"' \
    'grep -q "time_us: $time\$" "$tuning"'
choose 1001
check "and the nearest of another size" out_has '^match: nearest size$'

cp "$tuning" "$folder/kept.yaml"
head -c 900 "$folder/kept.yaml" >"$tuning"
choose 1000
check "cut short it is left out" all 'out_has "^match: default$"' \
    'out_has "^note: $tuning:"'
sed 's/time_us: .*/time_us: [/' "$folder/kept.yaml" >"$tuning"
choose 1000
check "malformed, too" all 'exits 0' 'out_has "^match: default$"' \
    'out_has "^note: $tuning:[0-9]*:[0-9]*:"'
cp "$folder/kept.yaml" "$tuning"
echo '__device__ int changed;' >>"$root/kernels/fake_kernel.cu"
choose 1000
check "stale, too" all 'out_has "^match: default$"' \
    'out_has "^note: $tuning: is stale"'
finish
