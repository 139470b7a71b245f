#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `shmtune dispatch` from the outside.  tests/fake/worker plays the workers, with
# times whose best configuration changes with the size in a known way.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
cp "$source/tests/fake/data/cross.yaml" "$root/kernels/"
device=sm_90-pretended-h100
tuning=tunings/cross/$device.yaml
measured=tunings/cross/$device.dispatch

count() { find "$1" -name "$2" | wc -l; }
# The mean of a trial, in hundredths of a percent.
mean() { sed -n 's/.*mean \([0-9]*\)\.\([0-9][0-9]\) %.*/\1\2/p' "$folder/out"; }

# -- what is missing --------------------------------------------------------
run dispatch cross
check "without a tuning there is nothing to learn of" all 'exits 8' \
    'err_has "no such tuning; .shmtune tune cross"'
run dispatch cross --device replay:h100
check "a recording is no device for it" all 'exits 1' \
    'err_has "a recording holds one size"'
run dispatch cross --also x.yaml
check "--also is for trials" all 'exits 1' 'err_has "is for --trial"'
run dispatch nothing
check "an unknown kernel is refused" exits 1

# -- learning ---------------------------------------------------------------
run tune cross --strategy exhaustive -j 1 -q
check "is tuned first" all 'exits 0' 'lines $tuning "^- size:" 6' \
    'lines $tuning "^format: tuning/1" 1'
cp "$tuning" before.yaml
run dispatch cross --trial 100 --seed 9 -j 1
nearest=$(mean)
check "a trial judges the nearest size, and writes no tuning" all 'exits 0' \
    'out_has "cross: 100 sizes, 5 configurations: mean .* first percentile"' \
    'out_has "nearest size"' 'cmp -s before.yaml $tuning'
run dispatch cross --budget 5 -j 1
check "few sizes teach nothing" all 'exits 3' \
    'err_has "5 sizes are too few to learn from"' 'cmp -s before.yaml $tuning'
rm -rf other
cp -R tunings other
FAKE_WORKER_REFERENCE=bad
export FAKE_WORKER_REFERENCE
run dispatch cross --budget 20 -j 1 --output other
check "sizes at which nothing ran teach nothing either" all 'exits 3' \
    'err_has "5 sizes are too few .* (at 15 more nothing ran)"'
FAKE_WORKER_REFERENCE=full
run dispatch cross --budget 30 -j 1 --output other
unset FAKE_WORKER_REFERENCE
check "one for which there was no memory is not done" \
    [ "$(count other "*.journal.part")" -eq 10 ]
run dispatch cross --budget 30 -j 1 --output other
check "but left to the next run" all 'exits 0' 'out_has "cross: 15 sizes"' \
    '[ "$(count other "*.journal.part")" -eq 0 ]'
check "but they are kept" [ "$(count "$measured" '*.journal')" -eq 5 ]
run dispatch cross --budget 150 -j 1
check "learns" all 'exits 0' \
    'out_has "cross: 150 sizes in .*held out.*nearest size.*: written"' \
    'lines $tuning "^format: tuning/3" 1' 'lines $tuning "^dispatch:" 1' \
    'lines $tuning "^- size:" 6' 'plain'
check "a measurement for each size" \
    [ "$(count "$measured" '*.journal')" -eq 150 ]
cp "$tuning" learnt.yaml
run show "$measured/$(ls "$measured" | head -n 1)"
check "which show shows" all 'exits 0' 'out_has "WAY="'
run check "$tuning"
check "check accepts the tuning" exits 0
run show "$tuning"
check "show shows what was learnt" all 'exits 0' \
    'out_has "^learnt from 150 sizes: held out, 9"' \
    'out_has "estimated: .* us + .* ns [*] "'
run show "$source/tunings/stencil2d/sm_90-nvidia-h100-80gb-hbm3.yaml"
check "and what it compares" all 'exits 0' 'out_has "^learnt from"' \
    'out_has "^[rc]o[a-z]*.* < "' \
    'out_has "^  *[0-9]" '
run show "$tuning" --json
check "as JSON, too" all 'exits 0' is_json 'out_has "\"dispatch\""'
run report -o page.html
check "a report is of what was tuned, not of what was measured for it" all \
    'exits 0' 'err_has "1 kernel, 6 problems, 1 device, from 7 files"'
run report "$measured/$(ls "$measured" | head -n 1)" -o page.html
check "which may be named" all 'exits 0' 'err_has "1 problem, "'
sed '/^dispatch:/,$s/TILE: 128/TILE: 129/' learnt.yaml >"$root/bad.yaml"
run check "$root/bad.yaml"
check "check finds a value that the spec has not" all 'exits 2' \
    'out_has "of its dispatch: found TILE = 129"'
run dispatch cross --trial 100 --seed 9 -j 1
learnt=$(mean)
check "which is better at sizes that were not measured" all 'exits 0' \
    '[ "$learnt" -gt "$nearest" ]' '[ "$learnt" -gt 9700 ]' \
    'out_has "learnt"' 'cmp -s learnt.yaml $tuning'
run dispatch cross --trial 100 --seed 9 -j 1 --json
check "and as JSON" all 'exits 0' is_json \
    '"$build/tests/support/holds" "$source/docs/output.schema.json" "$folder/out"' \
    'out_has "\"match\": \"learnt\""'

# -- again ------------------------------------------------------------------
rm -f log
FAKE_WORKER_LOG=$folder/log
export FAKE_WORKER_LOG
run dispatch cross --budget 150 -j 1
unset FAKE_WORKER_LOG
check "the same again measures nothing, and learns the same" all 'exits 0' \
    '[ ! -e log ]' 'cmp -s learnt.yaml $tuning'

# Killed in the middle: nothing is measured twice, and no result is lost.
rm -rf "$measured"
cp before.yaml "$tuning"
FAKE_WORKER_BUSY_MS=4 "$build/shmtune" dispatch cross --budget 150 -j 1 \
    >/dev/null 2>&1 &
job=$!
tries=0
while [ "$(count "$measured" '*.journal' 2>/dev/null)" -lt 7 ] &&
    [ $tries -lt 600 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -9 $job
wait $job 2>/dev/null
done_before=$(count "$measured" '*.journal')
begun=$(count "$measured" '*.part')
check "a killed one leaves what it had" all '[ "$done_before" -ge 7 ]' \
    '[ "$done_before" -lt 150 ]' '[ "$begun" -le 1 ]'
run dispatch cross --budget 150 -j 1
check "and the next goes on" all 'exits 0' 'out_has "150 sizes"' \
    '[ "$(count "$measured" "*.part")" -eq 0 ]' \
    '[ "$(count "$measured" "*.journal")" -eq 150 ]'

# A device that is lost has nothing more to say, whatever its driver calls it.
mv "$measured" kept
cp learnt.yaml "$tuning"
FAKE_WORKER_BROKEN=0 FAKE_WORKER_BROKEN_AS=10 FAKE_WORKER_DEVICES=H100
export FAKE_WORKER_BROKEN FAKE_WORKER_BROKEN_AS FAKE_WORKER_DEVICES
run dispatch cross --budget 40 -j 1
check "a device that is lost ends it, and no size is done without it" all \
    'exits 6' 'err_has "fallen off the bus"' 'cmp -s learnt.yaml $tuning' \
    '[ "$(count "$measured" "*.journal")" -eq 0 ]'
unset FAKE_WORKER_BROKEN FAKE_WORKER_BROKEN_AS FAKE_WORKER_DEVICES
rm -rf "$measured"
mv kept "$measured"

# -- what is no longer so ---------------------------------------------------
sed 's/^digest: .*/digest: 0000000000000000000000000000000000000000000000000000000000000000/' \
    learnt.yaml >"$tuning"
run dispatch cross --budget 150 -j 1
check "a stale tuning is refused" all 'exits 2' 'err_has "is stale"'

# Tuning one more size keeps what was learnt.
cp learnt.yaml "$tuning"
run tune cross --strategy exhaustive -j 1 -q --size rows=77,cols=100
check "another size keeps the dispatch" all 'exits 0' \
    'lines $tuning "^- size:" 7' 'lines $tuning "^dispatch:" 1'

# -- measurements of others ---------------------------------------------------
cp learnt.yaml "$tuning"
for file in "$measured"/*.journal; do
    sed 's/^nvrtc: .*/nvrtc: 12040/' "$file" >now
    cp now "$file"
done
first=$measured/$(ls "$measured" | head -n 1)
cp "$first" first.journal
printf 'format: journal/999\nkernel: cross\nrecords:\n' >"$measured/64x65.journal"
run dispatch cross --budget 150 -j 1
check "those of another compiler do not count, which is told once" all \
    'exits 0' 'lines err "64x65.journal:1:9: found the format journal/999" 1' \
    'lines err "dispatch: 150 journals are left out: its compiler version" 1' \
    'out_has "cross: 150 sizes in"'
check "and stay" all 'cmp -s first.journal "$first.old"' \
    '[ "$(count "$measured" "*.journal.old")" -eq 150 ]' \
    '[ -s "$measured/64x65.journal" ]'
run dispatch cross --budget 12 -j 1 --data-seed 5
check "nor do those of other inputs" all 'exits 0' \
    'err_has "dispatch: 150 journals are left out: .*--data-seed"' \
    'out_has "cross: 12 sizes in"'
cp learnt.yaml "$tuning"
run dispatch cross --budget 12 -j 1 --data-seed 5
check "what was learnt from more sizes stays, where it does better" all \
    'exits 0' 'cmp -s learnt.yaml $tuning' \
    'out_has "not written, since what was learnt before, from 150 sizes, .* stays"'
run dispatch cross --budget 12 -j 1 --data-seed 5 --json
check "which a program is told, too" all 'exits 0' is_json \
    'out_has "\"written\": false"' 'out_has "\"kept\": true"' \
    '"$build/tests/support/holds" "$source/docs/output.schema.json" "$folder/out"'
rm -rf "$measured"

# -- by the path of a spec ----------------------------------------------------
mkdir mine
cp "$root/kernels/toy.cu" mine/
cp "$root/kernels/cross.yaml" mine/cross.yml
sed 's/TILE: {values: \[32, /TILE: {values: [16, 32, /' mine/cross.yml \
    >mine/before.yaml
run dispatch mine/cross.yml --budget 12 -j 1
check "what else lies beside a spec, of its name too, does not matter" all \
    'exits 0' 'out_has "^cross: 12 sizes in "' 'err_lacks before.yaml'
rm -rf "$measured"
awk '/^- size:/ { other = !/cols: 1001/ } /^dispatch:/ { other = 1 }
    /^[.]/ { other = 0 }
    !other { sub(/WAY: [a-z]*/, "WAY: vector"); print }' before.yaml >"$tuning"
run dispatch mine/cross.yml --budget 12 -j 1
check "what the library cannot use is told of the tuning, and why" all \
    'exits 2' 'err_has "cross/$device.yaml: the library cannot use it: .*cols % 4"' \
    'err_lacks "/shmtune-"'
cp before.yaml "$tuning"

# -- the benchmark -----------------------------------------------------------
if command -v python3 >/dev/null; then
    python3 "$source/tests/bench/dispatch.py" "$build" bench cross --count 20 \
        --own 2 --own-budget 9 --budget 40 --tunings tunings \
        >"$folder/out" 2>"$folder/err"
    status=$?
    check "the benchmark learns, judges, and tunes some sizes" all 'exits 0' \
        'out_has "^cross: 40 sizes in "' 'out_has "^cross: 20 sizes, "' \
        'out_has "what was tuned for the size itself, at 2: "'
else
    skip "the benchmark learns, judges, and tunes some sizes" "no python3"
fi

# A dispatch that is no better goes.
rm -rf "$measured"
run dispatch cross --budget 12 --seed 5 -j 1
check "what is not better is said not to be written, or is better" all \
    'exits 0' 'out_has "written"'

# What seems better at a dozen sizes by chance.
rm -rf "$measured"
cp before.yaml "$tuning"
run dispatch cross --budget 12 --seed 2 -j 1
check "a lead that chance makes is none" all 'exits 0' \
    'out_has "too few sizes to tell ([01][.][0-9] standard errors, expected 2), so not written; a larger --budget tells"' \
    'cmp -s before.yaml $tuning'

finish
