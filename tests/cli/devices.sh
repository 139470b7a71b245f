#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `--device` with several GPUs: which, how problems are dealt to them, and what
# becomes of those of a GPU that fails.  tests/fake/worker plays them.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
FAKE_WORKER_LOG=$folder/log
SHMTUNE_LOCKS=$folder/locks
export FAKE_WORKER_LOG SHMTUNE_LOCKS

# have NAME,...: these GPUs; what was there is forgotten.
have() {
    FAKE_WORKER_DEVICES=$1
    export FAKE_WORKER_DEVICES
    rm -rf tunings other log
}
# measured K: how often the K-th GPU measured.
measured() {
    sed -n "s/^measure .* on $1\$/x/p" log | wc -l
}
# winners FOLDER: each problem's winner in all tunings.
winners() {
    sed -n '/^- size:/p;/^  configuration:/p' "$1"/toy/*.yaml
}
sizes="--size n=4096 --size n=8192 --size n=12000 --size n=16000"
few="--budget 25 --strategy exhaustive"
uuid0=GPU-000000a0-0000-4000-8000-000000000000
uuid2=GPU-000000a2-0000-4000-8000-000000000002

# -- which ------------------------------------------------------------------
have H100,H100,H100,A100
run toy --size n=4096 --budget 5 --device 1
check "one by its number" all 'exits 0' '[ "$(measured 1)" -gt 0 ]' \
    '[ "$(measured 0)" -eq 0 ]' 'err_lacks "$uuid0"'
# shellcheck disable=SC2086
run toy $sizes --budget 5 --device "0,GPU-000000A2"
check "two, by number and the beginning of a UUID" all 'exits 0' \
    '[ "$(measured 0)" -gt 0 ]' '[ "$(measured 2)" -gt 0 ]' \
    'err_has "on $uuid0"' 'err_has "on $uuid2"'
check "their drivers look for no other" all 'grep -q "^alone $uuid0$" log' \
    'grep -q "^alone $uuid2$" log' \
    '[ "$(grep -c ^alone log)" -eq "$(grep -c "^alone GPU" log)" ]'
for words in 0,9 0,GPU-ffff; do
    run toy --size n=4096 --device "$words"
    check "$words: which there are" all 'exits 6' \
        'err_has "no GPU .${words#*,}.; there are 0 (GPU-000000a0-"'
done
run toy --size n=4096 --device 0,GPU-000000a
check "more than one has that beginning" all 'exits 6' \
    'err_has "more than one GPU"'
run toy --size n=4096 --device "0,$uuid0"
check "the same one twice" all 'exits 1' 'err_has "names $uuid0 twice"'
for words in 0, ,0 0,,1 all,0 0,nosuch MIG-; do
    run toy --size n=4096 --device "$words"
    check "--device $words is refused" all 'exits 1' \
        'err_has "several with commas, all, or"'
done
run explain toy --size n=4096 --device 0,1
check "explain wants one" all 'exits 1' 'err_has "--device names 2 GPUs"'
have "H100 A,H100_A"
run toy --size n=4096 --budget 5 --device all
check "two models whose files would have one name" all 'exits 1' \
    'err_has "\"Pretended H100 A\".*\"Pretended H100_A\".*would be sm_90-pretended-h100-a.yaml; .*--output DIR"' \
    '[ ! -e tunings ]'
run toy --size n=4096 --budget 5 --device 0
cp tunings/toy/sm_90-pretended-h100-a.yaml first
run toy --size n=4096 --budget 5 --device 1
check "and the second of them takes no place of the first's" all 'exits 5' \
    'err_has "sm_90-pretended-h100-a.yaml: is the tuning of another device: \"Pretended H100 A\".*\"Pretended H100_A\"" ' \
    'diff first tunings/toy/sm_90-pretended-h100-a.yaml' \
    '[ ! -e tunings/toy/*.old ]'
have H100,H100,H100,A100
FAKE_WORKER_START=refuse
export FAKE_WORKER_START
run toy --size n=4096 --device all
check "no driver: how to do without" all 'exits 6' 'err_has planted' \
    'err_has "No recording of toy stands in for it"'
unset FAKE_WORKER_START

# -- dealing ----------------------------------------------------------------
have H100
# shellcheck disable=SC2086
run toy $sizes $few --device all --output other
winners other >one
for gpus in H100,H100 H100,H100,H100,H100; do
    have "$gpus"
    # shellcheck disable=SC2086
    run toy $sizes $few --device all
    winners tunings >several
    check "$gpus: the winners of one after the other" all 'exits 0' \
        '[ -s several ]' 'diff one several'
    check "and each GPU measured" all '[ "$(measured 0)" -gt 0 ]' \
        '[ "$(measured 1)" -gt 0 ]'
done
check "four sizes on four GPUs: one each" all '[ "$(measured 2)" -gt 0 ]' \
    '[ "$(measured 3)" -gt 0 ]'
check "each result names its GPU" all 'err_has "on $uuid0"' \
    'err_has "on $uuid2"'

# -- helping ----------------------------------------------------------------
FAKE_WORKER_FACTORS=1,1.5,0.8
FAKE_WORKER_BUSY_MS=4
export FAKE_WORKER_FACTORS FAKE_WORKER_BUSY_MS
have H100
run toy --size n=4096 --strategy exhaustive --output other
winners other >one
have H100,H100,H100
run toy --size n=4096 --strategy exhaustive --device all
winners tunings >several
cat tunings/toy/*.journal >journal
check "one problem: the other GPUs help, the winner is the same" all 'exits 0' \
    '[ "$(measured 1)" -gt 10 ]' '[ "$(measured 2)" -gt 10 ]' \
    'diff one several' \
    'err_has "$uuid2 helps: .* 52.04 us there and 65.05 us on $uuid0"'
# Time, scale and a sample of each that a helper measured.
sed -n 's/.*time_us: \([^,]*\), scale: \([^,]*\),.*\[\([^,]*\),.*/\1 \2 \3/p' \
    journal >scaled
check "the journal has what was measured and the scale" all \
    '[ "$(grep -c " 1.25 " scaled)" -gt 5 ]' \
    '[ "$(grep -c " 0.66666" scaled)" -gt 5 ]' \
    'awk "{ r = \$1 / \$2 / \$3; if (r < 0.99 || r > 1.01) exit 1 }" scaled'
check "the finals are on one" all \
    '[ "$(grep ^measure log | tail -40 | grep -c " on 0$")" -eq 40 ]'
run show tunings/toy/sm_90-pretended-h100.4096x1.journal
check "it is read again" exits 0
FAKE_WORKER_FACTORS=1,0.5,0.5,0.5
FAKE_WORKER_BUSY_MS=1000
FAKE_WORKER_COMPILE_MS=1
export FAKE_WORKER_COMPILE_MS
have H100,H100,H100,H100
run toy --size n=4096 --strategy random --device all --budget 5.5s
# No configuration takes less than 44 us where the factor is 1.
check "where there is no time for finals, the scale counts in the tuning" all \
    'exits 0' '[ "$(measured 2)" -gt 1 ]' \
    'awk "/^    time_us: / && \$2 > 44 { good = 1 } END { exit !good }" \
        tunings/toy/*.yaml'
unset FAKE_WORKER_COMPILE_MS
FAKE_WORKER_FACTORS=1,1.5,0.8
FAKE_WORKER_BUSY_MS=4
FAKE_WORKER_BROKEN=2
export FAKE_WORKER_BROKEN
have H100,H100,H100
run toy --size n=4096 --strategy exhaustive --device all
winners tunings >several
check "a helper that fails drops out, its candidate is measured elsewhere" all \
    'exits 0' 'err_has "GPU-000000a2-.* is not used any more"' \
    'diff one several' '! grep -q "verdict: crash" tunings/toy/*.journal'
unset FAKE_WORKER_FACTORS FAKE_WORKER_BUSY_MS FAKE_WORKER_BROKEN

have H100,A100,H100
# shellcheck disable=SC2086
run toy $sizes --budget 10 --device all --json
check "two models: two tunings" all 'exits 0' is_json \
    '[ "$(winners tunings | grep -c configuration)" -eq 8 ]' \
    '[ -f tunings/toy/sm_90-pretended-h100.yaml ]' \
    '[ -f tunings/toy/sm_90-pretended-a100.yaml ]' \
    '[ "$(grep -c "\"uuid\"" "$folder/out")" -eq 8 ]'
# shellcheck disable=SC2086
run toy $sizes --budget 10 --device all --pareto time,registers
sed -n 's/^toy  *n=.*Pretended \([AH]100\) .*/\1/p' "$folder/out" >models
check "each row of the table, and each Pareto set, has its model" all 'exits 0' \
    'out_has "^kernel  *problem  *device  *time us"' \
    '[ "$(tr -d "\n" <models)" = A100H100A100H100A100H100A100H100 ]' \
    '[ "$(grep -c "^toy n=.*, on Pretended A100: Pareto set" "$folder/out")" -eq 4 ]'
# shellcheck disable=SC2086
run toy $sizes --budget 10 --device 0,2
check "of one model there is none" all 'exits 0' 'out_lacks device' \
    'out_lacks Pretended'

# -- one that fails ---------------------------------------------------------
have H100
# shellcheck disable=SC2086
run toy $sizes $few --device all --output other
winners other >one
FAKE_WORKER_BROKEN=1
export FAKE_WORKER_BROKEN
have H100,H100
# shellcheck disable=SC2086
run toy $sizes $few --device all
winners tunings >several
check "a GPU that fails drops out" all 'exits 0' \
    'err_has "GPU-000000a1-.* is not used any more.*fallen off the bus"'
check "another goes on with its problem" all 'err_has "resuming: "' \
    'diff one several'
FAKE_WORKER_BROKEN_AS=10
export FAKE_WORKER_BROKEN_AS
have H100,H100
# shellcheck disable=SC2086
run toy $sizes $few --device all
winners tunings >several
check "so does one on which the driver has no context any more" all 'exits 0' \
    'err_has "GPU-000000a1-.* is not used any more.*fallen off the bus"' \
    'err_has "resuming: "' 'diff one several'
unset FAKE_WORKER_BROKEN_AS
have H100,A100
# shellcheck disable=SC2086
run toy $sizes --budget 10 --device all
check "the last of a model: the other model goes on" all 'exits 6' \
    'err_has "error: .*fallen off the bus"' \
    'err_has "; what it measured is kept, and the same command resumes$"' \
    'err_lacks "stands in for it"' \
    '[ "$(winners tunings | grep -c configuration)" -ge 4 ]' \
    '[ ! -f tunings/toy/sm_90-pretended-a100.yaml ]'
have H100,A100
# shellcheck disable=SC2086
run toy $sizes --budget 10 --device all --json
failures() { sed -n '/"failures"/,$p' out | grep "$1"; }
check "and each problem that it had is told" all 'exits 6' is_json \
    'err_has "tuned 4 problems of 1 kernel, 4 failed: "' \
    '[ "$(failures "\"n\":" | sort -u | wc -l)" -eq 4 ]' \
    '[ "$(failures "\"error\":.*fallen off" | wc -l)" -eq 4 ]'
unset FAKE_WORKER_BROKEN

# -- time --------------------------------------------------------------------
have H100,H100
# shellcheck disable=SC2086
run toy $sizes --device 0,1 --total 4s --budget 2s
check "--total is divided over the GPUs" all 'exits 0' \
    'err_has "tuning 4 problems of 1 kernel on 2 GPUs: at most 4 s in all "' \
    'err_has " in all (--total) and 2 s each"' \
    'err_lacks "not tuned"'

# -- starts -----------------------------------------------------------------
have H100,H100,H100
for name in second third fourth fifth; do
    sed "s/^name: .*/name: $name/" "$source/tests/fake/data/toy.yaml" \
        >$name.yaml
done
cp "$source/tests/fake/data/toy.cu" .
FAKE_WORKER_START=late run toy ./second.yaml ./third.yaml ./fourth.yaml \
    ./fifth.yaml --device all --budget 40 -q
# Of the first five measure workers.
starting=$(awk '/^starts/ { all++; n++ } all > 5 { exit } /^ready/ { n-- }
                n > most { most = n } END { print most }' log)
check "two measure workers start at a time, on however many GPUs" all \
    'exits 0' '[ "$starting" -eq 2 ]' '[ "$(measured 2)" -gt 0 ]'

# -- turns ------------------------------------------------------------------
FAKE_WORKER_BUSY_MS=10
FAKE_WORKER_ALONE=$folder/alone
export FAKE_WORKER_BUSY_MS FAKE_WORKER_ALONE
have H100
"$build/shmtune" toy --size n=4096 --budget 60 --output other >out1 2>err1 \
    </dev/null &
run toy --size n=4096 --budget 60
wait $! && first=0 || first=$?
cat err1 >>err
check "two tuners on one GPU: both end" all 'exits 0' '[ $first -eq 0 ]'
check "never at the same time" all '[ "$(measured 0)" -gt 150 ]' \
    '! grep -q overlap log'
# Which process is not known where it has just given the GPU back.
other='\(process [0-9]*\|another tuner\)'
check "and say so, with the other's process" \
    err_has "$uuid0 is measured on by $other too: taking turns"
sed -n 's/^measure .* by \([0-9]*\) .*/\1/p' log | uniq >turns
check "by turns" all '[ "$(wc -l <turns)" -ge 3 ]'
unset FAKE_WORKER_BUSY_MS FAKE_WORKER_ALONE

# -- shares of the time --------------------------------------------------------
# tries WHAT: how many candidates a problem of some has, the fewest first.
tries() { for j in tunings/*/*$1*.journal; do grep -c '{config' "$j"; done | sort -n; }
# tries_of_all WHAT: how many all of them have
tries_of_all() { tries "$1" | awk '{ n += $1 } END { print n }'; }
FAKE_WORKER_BUSY_MS=10
FAKE_WORKER_BROKEN=1
export FAKE_WORKER_BUSY_MS FAKE_WORKER_BROKEN
have H100,H100
# shellcheck disable=SC2086
run toy $sizes --size n=20000 --size n=24000 --device all --total 8s
check "the problems of a GPU that is lost have a part of the time" all \
    'exits 0' 'err_has "not used any more"' '[ "$(tries h100 | wc -l)" -eq 6 ]' \
    '[ $(($(tries h100 | head -n 1) * 5)) -gt "$(tries h100 | tail -n 1)" ]'
unset FAKE_WORKER_BROKEN
have H100,A100,A100,A100
# shellcheck disable=SC2086
run toy $sizes --device all --budget 1s
check "one GPU of a model has all the budgets of its problems" all 'exits 0' \
    'err_has "at most 4 s in all"' \
    '[ $(($(tries_of_all h100) * 3)) -gt "$(tries_of_all a100)" ]'
unset FAKE_WORKER_BUSY_MS

have H100
SHMTUNE_LOCKS=/proc/no/locks
run toy --size n=4096 --budget 5
check "where there is no lock it goes on, with a notice" all 'exits 0' \
    'err_has "no lock for the GPU, .*: /proc/no/locks: "'
unset SHMTUNE_LOCKS
finish
