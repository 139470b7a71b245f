#!/bin/sh
# SPDX-License-Identifier: MIT
#
# An application says what it does and which problems nobody tuned; `tune
# --wanted` tunes these, and says what it leaves out.  On the fake driver.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA
rm -rf "$root"
mkdir -p "$root/kernels"
cp "$source/tests/fake/fake_kernel.cu" "$source/tests/fake/fake_kernel.yaml" \
    "$root/kernels/"
wanted=$folder/wanted.yaml

# choose SIZE: an application that is asked to say what it does
choose() {
    SHMTUNE_LOG=stderr SHMTUNE_WANTED=$wanted "$build/tests/support/choose" \
        fake_kernel "$1" >"$folder/out" 2>"$folder/err"
    status=$?
}

if [ ! -f "$SHMTUNE_LIBCUDA" ]; then
    echo "1..0 # SKIP the fake driver was not built"
    exit 0
fi
run tune fake_kernel --device 0 --size n=1000 --budget 30 --seed 1 \
    --output "$root/tunings"
if [ "$status" -eq 8 ]; then
    echo "1..0 # SKIP $(head -n 1 "$folder/err")"
    exit 0
fi
check "one size is tuned" exits 0

# -- what an application says -------------------------------------------------
choose 1000
check "the log has each step" all 'exits 0' \
    'err_has "^shmtune\[[0-9]*\]: open: 1 kernel, 1 tuning, of $root$"' \
    'err_has ": select fake_kernel, n=1000, on \".*\": exact, .*TILE=[0-9]*.*: measured on this device for this problem, of $root/tunings"' \
    'err_has ": prepare fake_kernel, n=1000: .*TILE=[0-9]*.*: \(compiled\|cached\)$"'
check "what is exact is not wanted" [ ! -e "$wanted" ]
choose 2048
check "and why another was taken" \
    err_has ": nearest size, .*: measured on this device, not for this problem: .*, of $root/tunings/.*, n=1000$"
choose 4096
choose 4096
check "what is not exact is counted, the most wanted first" all \
    'grep -q "^format: wanted/1$" "$wanted"' \
    '[ "$(sed -n "s/.*size: {n: \(.*\)}, count: \(.*\)}/\1 \2/p" "$wanted" | tr "\n" ,)" = "4096 2,2048 1," ]'
made=$(mktemp "$folder/made.XXXXXX")
run tune --wanted "$made" --device 0
check "in a file that is empty nothing is wanted" all 'exits 8' \
    'err_has "$made: nothing is wanted"'
SHMTUNE_WANTED=$made "$build/tests/support/choose" fake_kernel 2048 >/dev/null
check "and it may be written" grep -q 'size: {n: 2048}, count: 1' "$made"
echo odd >"$made"
SHMTUNE_LOG=$folder/odd SHMTUNE_WANTED=$made \
    "$build/tests/support/choose" fake_kernel 2048 >/dev/null
check "what is no list of them is left alone" all \
    '[ "$(cat "$made")" = odd ]' \
    'grep -q ": wanted: $made:1:1: .*expected a mapping" "$folder/odd"'
mkdir "$folder/open"
for mode in '1777 name a folder of your own in it, or chmod' '777 chown or chmod go-w it'
do
    chmod "${mode%% *}" "$folder/open"
    SHMTUNE_LOG=$folder/nowhere/log SHMTUNE_WANTED=$folder/open/wanted.yaml \
        "$build/tests/support/choose" fake_kernel 2048 >"$folder/out" \
        2>"$folder/err"
    check "without a log, notes say what is not written: ${mode%% *}" all \
        "out_has '^note: SHMTUNE_WANTED: $folder/open .*; ${mode#* }'" \
        "out_has '^note: SHMTUNE_LOG: $folder/nowhere/log: cannot be opened: '"
done
SHMTUNE_WANTED=$folder/mine.yaml "$build/tests/support/choose" fake_kernel \
    2048 >"$folder/out" 2>"$folder/err"
check "and nothing where it is" all 'out_lacks SHMTUNE_' \
    '[ -s "$folder/mine.yaml" ]'
SHMTUNE_LOG=$folder/log
export SHMTUNE_LOG
SHMTUNE_WANTED=$folder/open/wanted.yaml "$build/tests/support/choose" \
    fake_kernel 2048 >/dev/null
check "a folder that others may write is not used, which the log says" all \
    '[ -z "$(ls "$folder/open")" ]' \
    'grep -q ": wanted: $folder/open.* is not used: .*chmod" "$folder/log"'
cut -d : -f 1 "$folder/log" | sort -u >"$folder/names"
check "each line has its process" [ "$(wc -l <"$folder/names")" -eq 1 ]
unset SHMTUNE_LOG

# -- what tune makes of it ----------------------------------------------------
cp "$wanted" "$folder/kept.yaml"
sed -i 's/^problems:/&\
  - {kernel: fake_kernel, device: Another GPU, size: {n: 512}, count: 90}\
  - {kernel: nobody, device: Another GPU, size: {n: 512}, count: 80}\
  - {kernel: fake_kernel, device: DEVICE, size: {n: 1000}, count: 70}\
  - {kernel: fake_kernel, device: DEVICE, size: {m: 1000}, count: 60}/' "$wanted"
name=$(sed -n 's/.*device: \(.*\), size: {n: 4096}.*/\1/p' "$wanted")
sed -i "s/DEVICE/$name/" "$wanted"
run tune --wanted "$wanted" --device 0 --budget 20 --seed 1 \
    --output "$root/tunings"
check "what is wanted is tuned" all 'exits 0' \
    'grep -q "size: {n: 4096}" "$root"/tunings/fake_kernel/*.yaml' \
    'grep -q "size: {n: 2048}" "$root"/tunings/fake_kernel/*.yaml'
check "and what is left out is said" all \
    'err_has "nobody: wanted, and no kernel here has this name"' \
    'err_has "fake_kernel n=1000: wanted 70 times, is tuned already"' \
    'err_has "fake_kernel m=1000: wanted 60 times, .*"' \
    'err_has "fake_kernel: 1 problem wanted on another device than .*, such as .Another GPU."' \
    '! grep -q "{n: 512}" "$root"/tunings/fake_kernel/*.yaml'
choose 4096
check "the application finds it exact" err_has ": exact, "
run tune --wanted "$folder/kept.yaml" --device 0 --budget 20 \
    --output "$root/tunings"
check "nothing is left then" all 'exits 0' 'out_empty' \
    'err_has "wanted 2 times, is tuned already"' \
    'err_has "nothing is left to tune"'
run tune "$root/kernels/fake_kernel.yaml" --wanted "$folder/kept.yaml" \
    --device 0 --budget 20 --output "$folder/elsewhere" --json
check "a spec may be named" all 'exits 0' \
    'is_json' 'out_has "\"n\": 4096"' 'out_has "\"n\": 2048"'

# -- what is refused ----------------------------------------------------------
run tune --wanted "$folder/none.yaml" --device 0
check "no such file, with what writes it" all 'exits 5' \
    'err_has "none.yaml: no such file.*SHMTUNE_WANTED="'
run tune --wanted "$root/kernels/fake_kernel.yaml" --device 0
check "another format" all 'exits 2' 'err_has "expected wanted/1"'
head -c 60 "$folder/kept.yaml" >"$folder/cut.yaml"
run tune --wanted "$folder/cut.yaml" --device 0
check "one that was cut" all 'exits 2' 'err_has "cut.yaml:[0-9]*:[0-9]*: "'
run tune --wanted "$folder/kept.yaml" --size n=8 --device 0
check "sizes of two places" all 'exits 1' 'err_has "give one of them"'
sed '/fake_kernel/d; s/^problems:/&\n  - {kernel: nobody, device: x, size: {}, count: 1}/' \
    "$folder/kept.yaml" >"$folder/nobody.yaml"
run tune --wanted "$folder/nobody.yaml" --device 0
check "no kernel of it is here" all 'exits 8' \
    'err_has "none of its kernels is here"'
finish
