#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Several sizes of a kernel together on one GPU: what is compiled for one is
# measured for all, each finds its winner, and none takes another with it.
# tests/fake/worker plays the workers.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
FAKE_WORKER_LOG=$folder/log
FAKE_WORKER_DEVICES=H100
SHMTUNE_LOCKS=$folder/locks
export FAKE_WORKER_LOG FAKE_WORKER_DEVICES SHMTUNE_LOCKS
cp "$source"/tests/fake/data/cross.yaml "$source"/tests/fake/data/toy.cu .
sizes="--size n=4096 --size n=8192 --size n=12000 --size n=16000"
journals() { echo tunings/toy/sm_90-pretended-h100.*.journal; }

# compiled: how often anything was; binaries: how many different ones.
compiled() { grep -c '^inspect' log; }
binaries() {
    sed -n 's/^inspect {[^}]*} \({.*}\) by.*/\1/p' log | sort -u | wc -l
}
# winners FOLDER: each problem's winner in all tunings.
winners() {
    sed -n '/^- size:/p;/^  configuration:/p' "$1"/*/*.yaml
}

# -- winners ------------------------------------------------------------------
for size in 64,64 1024,1024 1000,1001 4096,4096 4095,4095 64,8192; do
    run ./cross.yaml --size "rows=${size%,*},cols=${size#*,}" \
        --strategy exhaustive --output alone -q
done
winners alone >one
rm -f log
run ./cross.yaml --budget 6s
winners tunings >several
check "six sizes together: the winner of each is that of it alone" all \
    'exits 0' '[ "$(grep -c configuration several)" -eq 6 ]' \
    'diff one several' '[ "$(sort -u several | grep -c config)" -gt 1 ]'
check "each binary is compiled once" all '[ "$(compiled)" -gt 4 ]' \
    '[ "$(compiled)" -eq "$(binaries)" ]'


# -- their order --------------------------------------------------------------
cp "$root/kernels/toy.yaml" other.yaml
sed -i 's/^name: toy/name: a_toy/' other.yaml
backwards="--size n=16000 --size n=12000 --size n=8192 --size n=4096"
run tune toy ./other.yaml $backwards --budget 9 --output order
check "the table is by kernel and size, not by which ended first" all 'exits 0' \
    '[ "$(sed -n "s/^\(a_\)*toy  *n=\([0-9]*\) .*/\1\2/p" out | tr "\n" " ")" = \
        "a_4096 a_8192 a_12000 a_16000 4096 8192 12000 16000 " ]'
run tune toy ./other.yaml $backwards --budget 9 --output order --json
check "and so is the document" all 'exits 0' is_json \
    '[ "$(sed -n "s/^ *.n.: \([0-9]*\),*$/\1/p" out | tr "\n" " ")" = \
        "4096 8192 12000 16000 4096 8192 12000 16000 " ]'

# -- compiling ----------------------------------------------------------------
FAKE_WORKER_COMPILE_MS=50
FAKE_WORKER_ALONE=$folder/alone.lock
export FAKE_WORKER_COMPILE_MS FAKE_WORKER_ALONE
rm -rf tunings log
# shellcheck disable=SC2086
run toy $sizes --budget 60 -j 2
together=$(compiled)
cat log >together.log
check "four sizes, sixty candidates each" all 'exits 0' \
    '[ "$(winners tunings | grep -c "^- size")" -eq 4 ]' \
    '[ "$(grep -c configuration several)" -eq 6 ]'
check "one measures at a time" all '! grep -q overlap log' \
    '[ "$(grep -c "^measure" log)" -gt 240 ]'
# The first process serves the four; what is left alone may start another.
first=$(sed -n 's/^measure .* by \([0-9]*\).*/\1/p' log | head -n 1)
check "one process measures all sizes" all \
    '[ "$(grep "^measure.* by $first" log | grep -o "{n: [0-9]*" | sort -u |
          wc -l)" -eq 4 ]' \
    '[ "$(grep -c "^measure.* by $first" log)" -gt 200 ]'
check "finals have a problem elsewhere, and who has ended is forgotten" all \
    '[ "$(grep -c "^renew {n: " log)" -ge 3 ]' \
    '[ "$(grep "^forget {n: " log | sort -u | wc -l)" -ge 3 ]'
# Seven passes, four sizes; twice for each size where it took long.
check "finals of what is set up fast are elsewhere in each pass" \
    [ "$(grep -c '^renew {n: ' log)" -ge 14 ]
# What a size is told by another is no result of its own.
own() {
    for journal in $(journals); do
        n=${journal##*h100.}
        n=${n%x1.journal}
        grep 'verdict: ok' "$journal" | grep -o 'config: {[^}]*}' | sort -u |
            wc -l
        sed -n "s/^measure {n: $n,[^}]*} \({[^}]*}\) by.*/\1/p" together.log |
            sort -u | wc -l
    done
}
check "a journal has what was measured at its size" all \
    '[ "$(own | wc -l)" -eq 8 ]' \
    'own | paste - - | awk "{ if (\$1 != \$2 || \$1 < 40) exit 1 }"'
rm -f log
for n in 4096 8192 12000 16000; do
    run toy --size n=$n --budget 60 -j 2 --output other -q
done
check "one after the other compiles twice as much" \
    [ $((2 * together)) -lt "$(compiled)" ]
rm -rf tunings log
# shellcheck disable=SC2086
FAKE_WORKER_COMPILE_MS=200 FAKE_WORKER_BUSY_MS=1 run toy $sizes --budget 25 -j 2
# shellcheck disable=SC2046
results=$(cat $(journals) | grep -c 'verdict: ok')
# Where nobody told the others it would be 26 of 10.
check "what is compiled for one is measured for others" all 'exits 0' \
    '[ "$(compiled)" -gt 8 ]' '[ $((10 * results)) -gt $((31 * $(compiled))) ]'
unset FAKE_WORKER_COMPILE_MS FAKE_WORKER_ALONE

# -- what does not go well ----------------------------------------------------
sed -e 's/^    values: .*/    values: [good, die, wrong, compile_error]/' \
    -e '/^             /d' "$source/tests/fake/data/faults.yaml" >faulty.yaml
run tune ./faulty.yaml --size n=4096 --size n=8192 --budget all
check "what a candidate does at one size is a verdict of that size" all \
    'exits 0' 'err_has " crash"' \
    '[ "$(grep -c "^  configuration: .*good" tunings/faults/*.yaml)" -eq 2 ]' \
    'err_has "2 compile_error"'
FAKE_WORKER_BUSY_MS=10
FAKE_WORKER_COMPILE_MS=30
export FAKE_WORKER_BUSY_MS FAKE_WORKER_COMPILE_MS
rm -rf tunings log
# shellcheck disable=SC2086
"$build/shmtune" toy $sizes --budget all -j 2 -q >out 2>err </dev/null &
pid=$!
for _ in $(seq 300); do
    [ -f log ] && [ "$(grep -c '^measure' log)" -ge 40 ] && break
    sleep 0.2
done
kill -9 $pid
wait $pid 2>/dev/null
unset FAKE_WORKER_BUSY_MS FAKE_WORKER_COMPILE_MS
# shellcheck disable=SC2086
run toy $sizes --budget all
check "killed, all of them resume" all 'exits 0' \
    '[ "$(grep -c "resuming: [0-9]* candidates* " err)" -eq 4 ]' \
    '[ "$(winners tunings | grep -c "^- size")" -eq 4 ]'
whole() {
    for journal in $(journals); do
        run show "$journal"
        grep -q '^252 candidates of 252: complete' out || return 1
    done
}
check "each journal is whole, with every candidate once" whole
run toy --size n=4096 --strategy exhaustive --output best -q
check "and the winner is the best of all" \
    [ "$(winners best | tail -1)" = "$(winners tunings | tail -1)" ]

# -- beside other kernels ------------------------------------------------------
toy=$source/tests/fake/data/toy.yaml
sed -e 's/^name: .*/name: many/' \
    -e 's/^- {n: 65536, m: 3}/&\n- {n: 8192, m: 1}\n- {n: 12000, m: 1}/' \
    "$toy" >many.yaml
sed -e 's/^name: .*/name: lone/' -e '/^- {n: 65536, m: 3}/d' "$toy" >lone.yaml
rm -rf tunings log
FAKE_WORKER_BUSY_MS=20 run ./many.yaml ./lone.yaml --total 6s -j 4
tried() { grep -c '{config' tunings/"$1"/*."$2".journal; }
check "a kernel of one size has its share beside one of four" all 'exits 0' \
    '[ "$(tried lone 4096x1)" -gt 10 ]' '[ "$(tried many 8192x1)" -gt 5 ]'
# meanwhile: what the four had compiled between the one's fifth and twentieth;
# by kernels it would be 22 at most.  Both have begun, and have work all that
# time, as what is compiled takes longer than all that is measured of it.
sed -i '/CARVEOUT/d; /carveout/d' many.yaml lone.yaml
sed 's/{n: 4096, m: 1}/{n: 5000, m: 1}/' lone.yaml >apart.yaml
rm -rf tunings log
: >log
FAKE_WORKER_COMPILE_MS=500 "$build/shmtune" ./many.yaml ./apart.yaml \
    --budget all -j 5 >out 2>err </dev/null &
for _ in $(seq 600); do
    [ "$(grep -c '^inspect {n: 5000' log)" -lt 20 ] || break
    sleep 0.2
done
kill -TERM $!
wait $!
status=$?
meanwhile() {
    awk '/^inspect/ { n++ } /^inspect {n: 5000/ { k++; at[k] = n - k }
        END { print k < 20 ? 0 : at[20] - at[5] }' log
}
check "compilers are shared by sizes: the four have four of five" all \
    'exits 130' '[ "$(meanwhile)" -gt 30 ]'

# -- time for others -----------------------------------------------------------
# Those for which there is no memory yet have their part of the time, too; it
# does not suffice for all of the space.
sed '/CARVEOUT:/s/100/0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100/' "$toy" >roomy.yaml
# searched N: the seconds that the search at a size had.
searched() { sed -n "s/.*n=$1 m=1: .* candidates in \([0-9.]*\) s .*/\1/p" err; }
leaves() { awk "BEGIN { exit !($(searched 12000) > $(searched 4096) * 2) }"; }
# Again where the machine was held up, and the first of them with it.
for _ in 1 2 3; do
    rm -rf tunings log
    FAKE_WORKER_MEMORY=1400000000 FAKE_WORKER_BUSY_MS=10 \
        run ./roomy.yaml --size n=4096 --size n=8192 --size n=12000 --total 18s
    ! leaves || break
done
# tries N: how many candidates were tried at a size.
tries() { grep -c '{config' tunings/toy/*."$1x1.journal"; }
check "those that follow each other have a part of the time each" all \
    'exits 0' '[ "$(tries 8192)" -gt 48 ]' '[ "$(tries 12000)" -gt 48 ]'
check "a search that has settled leaves its time to those that wait" leaves
# What is compiled once for the first of them is there when the finals set the
# problems up anew: its search ends with the others'.
rm -rf tunings log
# shellcheck disable=SC2086
FAKE_WORKER_ONCE_MS=800 FAKE_WORKER_BESIDE_MS=20 run toy $sizes --total 9s
# ends: when each search did, from the first on.
ends() {
    for journal in $(journals); do
        sed -n 's/.* at: \([0-9.]*\),.*/\1/p' "$journal" | sort -n | tail -n 1
    done | sort -n
}
check "the first has as long as the others" all 'exits 0' \
    'ends | awk "NR == 1 { first = \$1 } END { exit !(first > 0.9 * \$1) }"'
many=
for n in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do
    many="$many --size n=$((1024 + n * 2048)) --size n=$((2048 + n * 2048))"
done
# thorough FOLDER: of how many sizes each candidate was tried.
thorough() { grep -c "{config" "$1"/toy/*.journal | grep -c ":252$"; }
# shellcheck disable=SC2086
run toy $many --budget all --output all -q -j 4
check "where no time is shared it tries all" all 'exits 0' \
    '[ "$(thorough all)" -eq 36 ]'

# -- many ---------------------------------------------------------------------
rm -rf tunings log
# shellcheck disable=SC2086
run toy $many --budget 10 --strategy random
check "36 sizes, twenty at a time, none is lost from the tuning" all \
    'exits 0' '[ "$(winners tunings | grep -c "^- size")" -eq 36 ]'
# turns: how often another size than before was measured.
turns() { sed -n 's/^measure {\([^}]*\)}.*/\1/p' log | uniq | wc -l; }
rm -f log
# shellcheck disable=SC2086
run toy $sizes --budget 20 --output wide -q
check "with memory for all of them they take turns" all 'exits 0' \
    '[ "$(turns)" -gt 8 ]'
rm -f log
for name in more most; do
    sed "s/^name: .*/name: $name/" "$toy" >$name.yaml
done
FAKE_WORKER_START=late FAKE_WORKER_BUSY_MS=20 run toy ./cross.yaml \
    ./many.yaml ./lone.yaml ./more.yaml ./most.yaml --budget 40 \
    --output late -q
# starting: how many of the six measure workers did at a time, at most.
starting() {
    awk '/^starts/ { all++; n++ } all > 6 { exit } /^ready/ { n-- }
         n > most { most = n } END { print most }' log
}
check "two kernels start at a time, and the first goes on at once" all \
    'exits 0' '[ "$(starting)" -eq 2 ]' \
    '[ "$(sed -n "/^measure/q;/^ready/p" log | wc -l)" -le 5 ]'
rm -f log
# shellcheck disable=SC2086
FAKE_WORKER_MEMORY=1400000000 run toy $sizes --budget 20 --output narrow -q
check "with memory for one, they follow each other" all 'exits 0' \
    '[ "$(turns)" -eq 4 ]' '[ "$(winners narrow | grep -c "^- size")" -eq 4 ]'
# shellcheck disable=SC2086
FAKE_WORKER_EXCLUSIVE=$folder/one run toy $sizes --budget 10 --output single
check "a GPU in exclusive use has one at a time" all 'exits 0' \
    '[ "$(winners single | grep -c "^- size")" -eq 4 ]'
begun=$(date +%s)
begin
# shellcheck disable=SC2086
FAKE_WORKER_BUSY_MS=20 run toy $sizes --budget 1s --output timed -q
check "four with a second each have four seconds together" all 'exits 0' \
    '[ $(($(date +%s) - begun)) -ge 2 ]' '[ "$(passed)" -le 7 ]'
finish
