#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `--budget`, `--total` and `--compile-timeout`: what they bound, and what they
# refuse.  Candidates that hang would hold a run up for half a minute each.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
sed -e 's/^    values: .*/    values: [good, fine, compile_hang, hang]/' \
    -e '/^             /d' "$source/tests/fake/data/faults.yaml" >hanging.yaml
cp "$source/tests/fake/data/toy.cu" .

lacks_line() { [ -s "$1" ] && ! grep -q -e "$2" "$1"; }
# sooner SECONDS: than the deadline of what hangs
sooner() { [ "$(passed)" -lt "$1" ]; }
journal=tunings/faults/sm_90-pretended-h100.4096.journal

# -- what hangs ---------------------------------------------------------------
begin
run tune ./hanging.yaml --budget 2s --strategy exhaustive -j 2
check "a compile that cannot end in time is cancelled" all 'exits 0' \
    'sooner 9' 'out_has "^faults .*BEHAVE="'
check "it has no verdict, nor has what hung on the device" all \
    'lacks_line "$journal" "BEHAVE: compile_hang.*verdict"' \
    'lacks_line "$journal" "BEHAVE: hang.*verdict"'
begin
run tune ./hanging.yaml --budget all --compile-timeout 1 -v -j 2
check "--compile-timeout gives up a compile" all 'exits 0' \
    'err_has "compile_timeout: BEHAVE=compile_hang.*killed after 1 s (--compile-timeout)"'
begin
run inspect ./hanging.yaml --all --compile-timeout 1 -j 2
check "so it does in inspect" all 'exits 0' 'sooner 9' \
    'out_has "compile_timeout, for example: BEHAVE=compile_hang.*killed after 1 s (--compile-timeout)"'
run check ./hanging.yaml --compile-timeout 1 -j 2
check "check notes a value that takes too long" all 'exits 0' \
    'out_has "note .*BEHAVE=compile_hang.* is compile_timeout: killed after 1 s (--compile-timeout)"'
run inspect ./hanging.yaml --all --compile-timeout 0
check "a second at least there too" exits 1

# -- the whole command --------------------------------------------------------
run toy --size n=4096 --size n=65536 --total 4s
check "--total is said at the start" all 'exits 0' \
    'err_has "tuning 2 problems of 1 kernel on GPU 0: at most 4 s in all (--total) and 15 s each (--budget); .* go to ./tunings"' \
    'out_has "n=4096 m=1" ' 'out_has "n=65536 m=1"'
run toy --size n=4096 --size n=65536 --budget 1s --output each
check "and so is what --budget comes to" \
    err_has "at most 2 s in all (--total) and 1 s each (--budget)"
run toy --size n=4096 --budget 1s --output one
check "of one problem, too" err_has "tuning 1 problem of 1 kernel on GPU 0: at most 1 s (--budget); "
run toy --size n=4096 --total 2s --output one
check "which a shorter --total ends" err_has "on GPU 0: at most 2 s (--total); "
run toy --size n=4096 --budget 7 --output one
check "a budget of candidates" err_has "on GPU 0: 7 candidates each (--budget); "
run toy --budget 7 --total 9s --output one
check "and both" err_has \
    "on GPU 0: at most 9 s in all (--total) and 7 candidates each (--budget); "
: >err
"$build/shmtune" --device 0 --output every >"$folder/out" 2>"$folder/err" \
    </dev/null &
for _ in $(seq 600); do
    ! err_has "tuning" || break
    sleep 0.1
done
kill -TERM $!
wait $!
status=$?
check "all kernels have nine minutes" err_has \
    "tuning [0-9]* problems of [0-9]* kernels on GPU 0: at most 9 min in all (--total) and 15 s each (--budget); "
run toy --size n=4096 --budget 1s --output one -q
check "but not with -q" err_empty
many=
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do
    many="$many --size n=$((n * 256)) --size n=$((n * 256 + 128))"
done
# shellcheck disable=SC2086
FAKE_WORKER_BUSY_MS=300 run toy $many --total 0.5s --output spent
check "what there was no time for is told" all 'exits 130' \
    'err_has "problems* w[aser]* not tuned: the 0.5 s of --total are spent"'
# shellcheck disable=SC2086
FAKE_WORKER_BUSY_MS=300 run toy $many --total 3s --output told --json
check "and each of them is, in JSON" all 'exits 130' is_json \
    '[ "$(grep -c "^      .kernel.: .toy.," out)" -eq 44 ]' \
    'err_has "[1-9][0-9]* failed"'
sixteen=$(echo "$many" | cut -d' ' -f 1-33)
begin
# shellcheck disable=SC2086
FAKE_WORKER_BUSY_MS=200 run toy $sixteen --total 16s --output late -j 2
check "where there is no time for finals, the search decides, in time" all \
    'exits 0' 'sooner 18' '[ "$(grep -c "^toy  *n=" out)" -eq 16 ]' \
    'out_lacks " 1.00  "'
sed 's/compile_hang, hang/hang/' hanging.yaml >stuck.yaml
begin
run ./stuck.yaml --size n=4096 --size n=8192 --size n=12000 --total 4s \
    --output stuck -j 2
check "what hangs at one size ends with its time, and holds no other up" all \
    'sooner 9' 'out_has "^faults *n=[0-9]"'
begin
FAKE_WORKER_START=mute run toy --size n=4096 --size n=8192 --total 1s \
    --output mute
check "a worker that never says hello is not waited for" all 'exits 130' \
    'sooner 30' \
    'err_has "GPU 0 was not ready after [0-9.]* s, and --total is spent"'
FAKE_WORKER_BUSY_MS=250 run toy --size n=4096 --budget 0.3s --output short
check "a budget that is too short says so" all 'exits 0' \
    'err_has "n=4096 m=1: the budget is too short for more than the default"' \
    'err_has "; a longer --budget searches"'
FAKE_WORKER_BUSY_MS=250 run toy --size n=4096 --budget 5s --total 0.5s \
    --output short
check "or which option ended it" all 'exits 0' \
    'err_has "too short .*; a longer --total or --budget searches"'
sed 's/^name: toy/name: small/; s/^constraints:/&\n- BLOCK_X * 32 <= n/' \
    "$root/kernels/toy.yaml" >small.yaml
FAKE_WORKER_BUSY_MS=400 run ./small.yaml --size n=1024 --budget 0.3s \
    --output short
check "where the constraints leave out the default, of no default" all \
    'exits 3' 'err_lacks "the default configuration, which"' \
    'err_has "small, n=1024 m=1: no candidate had a result when the budget ended, [0-9.]* s after the beginning; a longer --budget searches"'

# -- what compiles slowly -----------------------------------------------------
run toy --size n=4096 --strategy exhaustive --record rec --output rec -q
# slowly MS: a recording of what takes so long to compile
slowly() {
    zcat rec/toy/*.journal.gz |
        sed "s/compile_ms: [0-9.]*/compile_ms: $1/" | gzip >slow.journal.gz
}
# between LEAST KEY MOST: the tuning's number
between() {
    number=$(sed -n "s/^  $2: \([0-9]*\).*/\1/p" slow/toy/*.yaml)
    [ "$number" -ge "$1" ] && [ "$number" -le "$3" ]
}
slow() {
    rm -rf slow
    run toy --size n=4096 --device replay:slow.journal.gz -j 4 \
        --output slow "$@"
}
slowly 2000
slow
check "a search that has tried few goes on" all 'exits 0' \
    'err_has "device Pretended H100: 15 s each (--budget), and up to 45 s more where few candidates were tried"' \
    'err_has "only [123].* of 252 candidates in 1[0-5].* s: the search goes on to 64, or 60 s"' \
    'between 64 tried 80' 'between 20 elapsed_s 40'
run toy --size n=4096 --device replay:slow.journal.gz -j 4 --output slow
check "but not once more for what it has resumed" all 'exits 0' \
    'err_has "resuming: [67].* candidates are known"' 'err_lacks "goes on to 64"'
slow --budget 15s
check "not where the user said how long" all 'exits 0' \
    'between 5 tried 40' 'between 10 elapsed_s 15'
slowly 9000
slow
check "nor for more than a minute" all 'exits 0' \
    'between 12 tried 40' 'between 50 elapsed_s 60'
slowly 300
slow
check "nor one that has tried enough" all 'exits 0' 'between 100 tried 252' \
    'between 1 elapsed_s 15'

# -- words that make no sense -------------------------------------------------
for total in 0 -3s 10x 500 all nan ""; do
    run toy --total "$total" --output never
    check "--total '$total' is refused" all 'exits 1' \
        'err_has "expected seconds like 60s, 2m or 1h"' 'no_file never'
done
run toy --size n=4096 --strategy exhaustive --record rec --output rec -q
run toy --device replay:h100 --total 1m --output never
check "a recorded device has no use for --total" all 'exits 1' \
    'err_has "--total is for a GPU"' 'no_file never'
run toy --compile-timeout 0
check "--compile-timeout is a second at least" exits 1
finish
