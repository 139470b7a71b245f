#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What holds of a journal that is gone on with, on another device or later,
# and of one that is shown or exported.  tests/fake/worker plays the workers.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker

device=sm_90-pretended-h100
place=toy/$device.4096x1.journal
# winner FILE: the configuration in a table.
winner() { sed -n 's/.*\(BLOCK_X=.*\)/\1/p' "$1"; }

# -- a recording that has a part -------------------------------------------
run toy --size n=4096 --strategy exhaustive --output all -q
winner out >best
run toy --size n=4096 --strategy random --budget 60 --output part \
    --record part -q
part=replay:part/$place.gz
run toy --device "$part" --strategy exhaustive --output mixed -q
winner out >best_of_part
check "a part of the space has another winner" all 'exits 0' \
    '! same best best_of_part'
run toy --device "$part" --strategy exhaustive --output mixed
check "what is not recorded is not known, nor told twice" all 'exits 0' \
    'err_has "resuming: 60 candidates are known"' \
    'err_has ", 192 of them not recorded"' 'err_lacks not_recorded' \
    'lines mixed/$place "verdict: not_recorded" 192'
cp -r mixed quick
sed 's/ at: [^,]*,/ at: 1000,/' mixed/$place >quick/$place
run toy --size n=4096 --strategy exhaustive --budget 90s --output quick
check "nor is the time of a recorded device spent" all 'exits 0' \
    'lines mixed/$place " at: [^,]*," 252' \
    'err_has "60 of them known before, 192 tried in "'
run toy --size n=4096 --strategy exhaustive --output mixed
winner out >best_of_mixed
check "a GPU tries what was not recorded" all 'exits 0' \
    'err_has "60 of them known before, 192 tried in "' \
    'err_lacks not_recorded' 'same best best_of_mixed'
run show mixed/$place
check "and of each the last result holds" all 'exits 0' \
    'out_has "^252 candidates of 252: complete"' 'out_lacks not_recorded'
run check mixed/$place
check "for check too" all 'exits 0' 'out_has " 252 results of 252 "'
run export mixed/$place --to t4 -o mixed.json --json
check "and for an export" all 'exits 0' 'out_has "\"records\": 252$"' \
    'lines mixed.json "\"configuration\"" 252'
run toy --device "$part" --strategy exhaustive --output all
winner out >best_of_known
check "what a journal knows need not be recorded" all 'exits 0' \
    'err_lacks not_recorded' 'same best best_of_known' \
    'lines all/$place "config:" 252'

# -- a search that goes on ----------------------------------------------------
# What is known is the same in each run, as a recorded device tells it.
# first_new FILE: the time of the 41st result.
first_new() { grep config: "$1" | sed -n '41s/.*time_us: \([0-9]*\).*/\1/p'; }
for seed in 2 7 9; do
    run toy --device "replay:all/$place" --size n=4096 --budget 40 \
        --output "on$seed" -q
    run toy --size n=4096 --budget 60 -j 1 --seed $seed --output "on$seed"
    check "it knows what was found before, and draws nothing (seed $seed)" \
        all 'exits 0' 'err_has "40 of them known before, 20 tried in "' \
        '[ "$(first_new on$seed/$place)" -lt 48 ]'
done

# -- results that others came by --------------------------------------------
run toy --size n=4096 --strategy random --budget 30 --max-spill 0 \
    --output policy -q
spilled=$(grep -c "verdict: spills," policy/$place)
run toy --size n=4096 --strategy random --budget 1 --output policy \
    --record policy -q
zcat policy/$place.gz >recorded
check "only what has a result is recorded" all 'exits 0' \
    '[ "$spilled" -gt 0 ]' "lines recorded config: $((30 - spilled))" \
    'lines recorded time_us: "$(grep -c config: recorded)"'

# -- the largest file that is allowed ---------------------------------------
for again in "" " again"; do
    (
        ulimit -f 16 && exec "$build/shmtune" toy --size n=4096 --output full \
            --strategy exhaustive -q >out 2>err
    )
    status=$?
    check "a file that may not grow: exit 5, and why$again" all 'exits 5' \
        'err_has "$place: cannot write to the journal: File too large"'
done
run toy --size n=4096 --output full --strategy exhaustive -q
check "and all of it can be gone on with" all 'exits 0' \
    'lines full/$place config: 252'

# -- nobody listens ----------------------------------------------------------
"$build/shmtune" toy --device "replay:all/$place" --strategy random \
    --budget 30 --max-spill 0 -v --output deaf >out 2>&-
status=$?
check "messages that nobody gets do not get into the journal" all 'exits 0' \
    'lines deaf/$place "^shmtune" 0' 'lines deaf/$place config: 30'
"$build/shmtune" toy --device "replay:all/$place" --strategy random \
    --budget 30 --output deaf -q 2>err >&-
status=$?
check "and results that nobody gets are missed" all 'exits 5' \
    'err_has "standard output could not be written"'

# -- who was right at first -------------------------------------------------
sed 's/^    values: \[good, .*/    values: [good, fades, wrong]/
     /^             [a-z_]*,.*/d; /^             chatty, slow/d
     s/^name: faults/name: fading/' "$source/tests/fake/data/faults.yaml" \
    >"$root/kernels/fading.yaml"
run fading --strategy exhaustive --output fading --record fading
journal=fading/fading/$device.4096.journal
check "some fade in the finals" all 'exits 0' \
    'err_has "6 of 6 candidates .* 2 wrong, 2 unstable; "' \
    'out_has "BEHAVE=good"' 'lines $journal "config:" 8'
for file in $journal $journal.gz; do
    run show $file
    check "and are not among the best of ${file##*.}" all 'exits 0' \
        'out_has "^6 candidates of 6: complete"' 'out_has "^ok  *2 "' \
        'out_has "^unstable  *2 "' 'out_lacks "^[0-9.]* .*BEHAVE=fades"' \
        'out_has "^[0-9.]* .*BEHAVE=good"'
done
run export $journal --to t4 -o fading.json
check "nor twice in an export" all 'exits 0' \
    'lines fading.json "\"configuration\"" 6'

sed 's/^name: fading/name: losing/; s/default: good/default: fades/' \
    "$root/kernels/fading.yaml" >"$root/kernels/losing.yaml"
run losing --strategy exhaustive --output fading
check "nothing is compared with a default that fades" all 'exits 0' \
    'err_has "the default configuration is not compared with: right at first, wrong after timing: in the finals: planted$"' \
    'err_lacks "(default"' 'out_lacks "x default"' \
    'lines fading/losing/$device.yaml default_us 0'
check "nor is the time of the search of what fades a best one" all \
    'err_lacks "best of the search"' 'out_has "BEHAVE=good"'

# -- a run that others recorded ---------------------------------------------
# Of which no device is described, and nothing that the compiler said.
run export all/$place --to kernel-tuner -o own.json
sed 's/, "shmtune": "[^"\\]*\(\\.[^"\\]*\)*"//; /^"shmtune": /d' own.json \
    >others.json
run import others.json --spec "$root/kernels/toy.yaml" --device other \
    -o others
check "is imported for a spec of ours" all 'exits 0' \
    'lines others.json shmtune 0'
run toy --device "replay:$(ls others/tunings/toy/*.gz)" --output others \
    --strategy exhaustive
winner out >best_of_others
check "and tuned on" all 'exits 0' 'same best best_of_others' \
    'err_has "252 of 252 candidates in [^;,]*([^)]*); "'

# A number of Python's has no exponent below 1e16.
sed 's/^name: toy/name: scaled/
    s/^parameters:/&\n  F: {values: [0.1, 10.0, 1000000.0, 1.0e-7, 1.0e17], default: 10.0}/' \
    "$root/kernels/toy.yaml" >"$root/kernels/scaled.yaml"
run scaled --strategy random --budget 40 --size n=4096,m=1 --output scaled
run export scaled/scaled/*.journal --to kernel-tuner
check "reals are written as Python writes them" all 'exits 0' is_json \
    'out_has "\"10.0,"' 'out_has "\"1000000.0,"' 'out_has "\"0.1,"' \
    'out_has "\"1e-07,"' 'out_has "\"1e+17,"'

# -- a space of 3 * 2^62 ----------------------------------------------------
{
    sed '/^parameters:/,$d; s/^name: toy/name: huge/' "$root/kernels/toy.yaml"
    echo parameters:
    for k in 1 2 3 4 5 6 7 8; do
        echo "  P$k: {values: {from: 1, to: 128}, default: 1}"
    done
    echo '  P9: {values: {from: 1, to: 192}, default: 1}'
    sed -n '/^launches:/,$p' "$root/kernels/toy.yaml" | sed '/carveout/d
        /shared_/d; s/BLOCK_X/64/'
} >huge.yaml
cp "$root/kernels/toy.cu" .
run ./huge.yaml --size n=4096 --strategy random --budget 20 --output huge
check "is searched in all its parts" all 'exits 0' \
    'err_has "20 of 13835058055282163712 candidates"' \
    'err_lacks _error'
run ./huge.yaml --size n=4096 --strategy random --budget 25 --output huge
check "and can be gone on with" all 'exits 0' \
    'err_has "25 of 1.*, 20 of them known before, 5 tried"'

# -- a budget of candidates ---------------------------------------------------
run toy --size n=4096 --strategy random --budget 20 --output counted -q
for again in 20 40 40; do
    run toy --size n=4096 --budget 40 --output counted
    check "whatever it searched with, $again known ones are of the 40" all \
        'exits 0' "err_has '40 of 252 candidates, $again of them known before'" \
        'lines counted/$place config: 40'
done
run toy --size n=4096 --strategy exhaustive --budget 45 --output counted
check "five more are five" all 'exits 0' 'err_has ", 5 tried in "' \
    'lines counted/$place config: 45'

# -- a journal of an older version --------------------------------------------
sed -i '1s/5$/2/' counted/toy/*.journal
run toy --size n=4096 --strategy exhaustive --budget 45 --output counted -q
cp counted/$place before
run toy --size n=4096 --strategy exhaustive --budget 48 --output counted \
    --require 'time_us > 0'
sed 1d counted/$place >after
check "what follows in it is of today's, and it says so" all 'exits 0' \
    'err_has ", 45 of them known before, 3 tried in "' \
    '[ "$(head -n 1 counted/$place)" = "format: journal/5" ]' \
    'lines counted/$place config: 48' 'lines counted/$place "^format" 1' \
    'sed 1d before | cmp -s -n "$(sed 1d before | wc -c)" - after'

# -- a budget that is spent ----------------------------------------------------
big=toy/$device.65536x1.journal
# both ARGUMENT...: two sizes, which run together
both() { run toy --size n=4096 --size n=65536 --output both "$@"; }
# later SECONDS: all that is known came then
later() {
    for file in both/$place both/$big; do
        sed "s/ at: [0-9.e-]*, \(others: [0-9.e-]*, \)*/ at: $1, /" $file >now
        cp now $file
    done
}
both --strategy random --budget 3 -q
check "of two the journal says what the other had" all 'exits 0' \
    'lines both/$place "at: [0-9.e-]*, others: " 3' \
    'lines both/$big "at: [0-9.e-]*, others: " 3'
later 100
for budget in --budget=2s --total=3s; do
    both "$budget"
    check "${budget%=*} is spent by what came before: told once, of both" all \
        'exits 0' 'err_lacks "too short"' 'lines err "nothing new was tried" 1' \
        "err_has 'tried for 2 problems, of which 6 candidates are known:'" \
        "err_has 'spent the [23] s of ${budget%=*}; the same command with more'"
done
later "100, others: 99"
run toy --size n=4096 --output both --strategy exhaustive --budget 90s
check "not by what the others had meanwhile" all 'exits 0' \
    'err_lacks "nothing new"' 'err_has "252 of 252 candidates, 3 of them"'

# -- a batch system ends the workers -----------------------------------------
FAKE_WORKER_STOPPED=3 run toy --size n=4096 --budget 10 --output ended
check "what workers died of is not the candidate's doing" all 'exits 0' \
    'err_has "worker was lost: the worker was killed by signal 15.*tried again"' \
    '[ "$(grep -c "config:" "ended/$place")" -eq 10 ]' \
    '! grep -q crash "ended/$place"'
FAKE_WORKER_STOPPED=99 run toy --size n=4096 --budget 10 --output never
check "and not tried for ever" all '! exits 0' 'err_has "killed by signal 15"'

# -- the session ends --------------------------------------------------------
# signalled SIGNALS PREFIX...: a run that gets them at once after 5 results.
signalled() {
    signals=$1
    shift
    rm -rf hung
    FAKE_WORKER_BUSY_MS=20 "$@" "$build/shmtune" toy --size n=4096 --budget 30 \
        --output hung >out 2>err </dev/null &
    pid=$!
    for _ in $(seq 600); do
        sleep 0.1
        [ "$(grep -c config: hung/$place 2>/dev/null)" -ge 5 ] 2>/dev/null &&
            break
    done
    for signal in $signals; do
        kill "-$signal" $pid
    done
    wait $pid
    status=$?
}
# With these it has six, and waits.
held="FAKE_WORKER_BUSY_MS=60000 FAKE_WORKER_BUSY_FROM=7"
# Under nohup this script ignores the signal, and a shell cannot undo that.
heard='env --default-signal=HUP'
$heard true 2>/dev/null || heard=env
if [ "$heard" = env ] && sh -c 'kill -HUP $$' 2>/dev/null; then
    skip "a hangup is an interrupt" "hangups are ignored here (nohup)"
else
    # shellcheck disable=SC2086
    signalled HUP $heard $held
    check "a hangup is an interrupt" all 'exits 130' \
        'err_has "the same command resumes"' \
        '[ -z "$(ls -d shmtune-?????? 2>/dev/null)" ]'
fi
signalled HUP nohup
check "unless it is to be ignored" exits 0
for signals in USR1 USR2 "TERM TERM" "TERM USR1 TERM"; do
    # shellcheck disable=SC2086
    signalled "$signals" env $held
    check "so is $signals, and nothing stays behind" all 'exits 130' \
        'err_has "the same command resumes"' \
        '[ -z "$(ls -d shmtune-?????? 2>/dev/null)" ]'
done
rm -rf hung
{
    FAKE_WORKER_BUSY_MS=20 "$build/shmtune" toy --size n=4096 --max-spill 0 \
        -v --budget 60 --output hung 2>&1
    echo $? >code
} | head -n 1 >out
status=$(cat code)
check "nor does it where nobody reads on" all 'exits 141' \
    '[ "$(grep -c config: hung/$place)" -lt 60 ]' \
    '[ -z "$(ls -d shmtune-?????? 2>/dev/null)" ]'
finish
