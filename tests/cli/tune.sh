#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `shmtune tune` from the outside.  tests/fake/worker plays the workers, so that
# it runs anywhere; what it recorded is then replayed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
cp "$source/tests/fake/data/faults.yaml" "$root/kernels/"

device=sm_90-pretended-h100
journal=tunings/toy/$device.4096x1.journal
tuning=tunings/toy/$device.yaml

has_file() { [ -s "$1" ]; }

# -- a run ----------------------------------------------------------------
run toy --strategy exhaustive --record rec -j 2
check "tunes a kernel without the word tune" all 'exits 0' \
    'out_has "n=4096 m=1 .*BLOCK_X="' 'out_has "n=65536 m=3 .*BLOCK_X="' \
    'out_has "^kernel *problem"' plain
check "says on standard error where the tuning is" \
    err_has "252 of 252 candidates .*/$tuning"
check "leaves a tuning and a journal for each size" all \
    'has_file $tuning' 'has_file $journal' \
    'has_file tunings/toy/$device.65536x3.journal'
check "has both sizes in the tuning" lines "$tuning" '^- size:' 2
check "records" all 'has_file rec/toy/$device.4096x1.journal.gz' \
    'has_file rec/toy/$device.65536x3.journal.gz'
cp "$folder/out" first
run check "$tuning"
check "check accepts the tuning" exits 0
run show "$journal"
check "show shows the journal" exits 0
mkdir -p "full/toy/$device.4096x1.journal.gz/x"
run toy --strategy exhaustive --size n=4096,m=1 --record full -j 2 \
    --report full.html
check "where it cannot record, the winner is shown all the same" all \
    'exits 5' 'out_has "n=4096 m=1 .*BLOCK_X="' \
    'err_has "error: toy, n=4096 m=1 is tuned, but not recorded: full/toy/"' \
    'err_has "tuned 1 problem of 1 kernel, 1 recording not written: "' \
    'err_lacks " failed"' 'grep -q "<h1>toy, tuned<" full.html'

# -- devices that cannot be -------------------------------------------------
for word in cpu h100 -1 1x 0x0 GPU- GPU-xyz ''; do
    run toy --device "$word" --output elsewhere
    check "no device is called \"$word\"" all 'exits 1' \
        'err_has "device is .$word.; .*number of a GPU.*UUID.*replay:NAME"' \
        'err_lacks driver' 'no_file elsewhere'
done
for word in 0 007 GPU-4b gpu-4B-; do
    run toy --device "$word" --output elsewhere --size n=4096,m=1 -q
    check "\"$word\" may be one" all 'exits 0' err_empty
    rm -r elsewhere
done

# -- resuming -------------------------------------------------------------
cp "$journal" before
run toy --strategy exhaustive -j 2 --wide
check "a second run resumes" all 'exits 0' \
    'err_has "resuming: 252 candidates are known from"'
check "and tries nothing again" same before "$journal"
check "of which there is no rate" all \
    'err_has "252 of 252 candidates, 252 of them known before; .*tunings/"' \
    'err_lacks "/s, GPU busy"' 'out_lacks "cand/s"' 'out_has " regs "'
run toy --no-resume --strategy exhaustive -q
check "--no-resume starts a new journal and keeps the old journal" all 'exits 0' \
    'same before $journal.old' err_empty
mkdir cut
cp -R tunings/toy cut/
head -c 100 "$journal" >"cut/toy/$device.4096x1.journal"
run toy --budget 9 --size n=4096,m=1 --output cut -j 2
check "of one that is cut it is said what --no-resume makes of it" all \
    'exits 2' 'err_has "(--no-resume starts a new journal, and keeps this one as .old)"'

cp "$journal" second
run toy --no-resume --strategy exhaustive
check "another one of the journals before" all 'exits 0' \
    'same before $journal.old' 'same second $journal.old.2' \
    'err_has "the old one is now .*$journal.old.2$"'

# Records of values that the spec no longer has.
cat "$root/kernels/toy.yaml" >toy.yaml
cp -r tunings narrower
sed -i 's/^\( *BLOCK_X: {values: \[\)[0-9]*, /\1/' toy.yaml
cp "$source/tests/fake/data/toy.cu" .
run ./toy.yaml --strategy exhaustive --output narrower -j 2
check "a spec with fewer values starts a new journal" all 'exits 0' \
    '! cmp -s toy.yaml "$root/kernels/toy.yaml"' \
    'err_has "starting a new journal: the kernel.s sources have changed"' \
    'has_file narrower/toy/$device.4096x1.journal.old'
check "and a new tuning" all 'same $tuning narrower/toy/$device.yaml.old' \
    'err_has "starting a new tuning: it is of other sources of the kernel; the old one is now narrower/toy/$device.yaml.old$"'

# Two specs of one kernel would write the same files.
run ./toy.yaml toy --output both
check "two specs of one kernel are refused, both named" all 'exits 1' \
    'err_has "\./toy.yaml and .*/kernels/toy.yaml are both specs of the kernel toy, .*--output"' \
    'no_file both'
run ./toy.yaml toy.yaml "$PWD/toy.yaml" --output both --strategy random \
    --budget 2 --size n=4096,m=1 -q
check "one spec by several names is tuned once" all 'exits 0' err_empty \
    '[ "$(grep -c "n=4096" out)" -eq 1 ]'

# -- replay ---------------------------------------------------------------
mkdir -p "$root/tunings/toy"
cp rec/toy/*.gz "$root/tunings/toy/"
run toy --device replay:h100 --strategy exhaustive --output again
check "replays what is recorded under a name" all 'exits 0' \
    'out_has "n=4096 m=1"' 'out_has "n=65536 m=3"' \
    'err_has "of the recorded device"'
check "it says at its start what it will do" all \
    '[ "$(head -n 1 err | cut -d: -f2)" = " tuning 1 kernel on the recorded device Pretended H100" ]' \
    'err_has "H100: as long as all candidates of each take (--budget), in simulated time (here about one second for each problem); tunings and journals go to again$"'
check "and the last line sums up" all \
    '[ "$(tail -n 1 err | cut -d: -f2)" = " tuned 2 problems of 1 kernel" ]' \
    'err_has "kernel: 1.46 times as fast as the default; all files are in again; next: .shmtune show again/"'
tail -n 1 err | grep -o '`shmtune [^`]*`' | tr -d '`' >next
while read -r command words; do
    run $words
    check "what is to be typed next works: $words" exits 0
done <next
check "both" [ "$(wc -l <next)" -eq 2 ]
run toy --device replay:h100 --strategy exhaustive --output ranged \
    --require 'n == 4096 or UNROLL == 1 or PAD == 2'
check "it has the range of the gain, and the median" \
    err_has "kernel: 1.37 to 1.46 times as fast as the default, 1.41 in the median; "
recorded() { # FILE...: samples of each line, the most
    sed -n 's/.*samples_us: \[\([^]]*\)\].*/\1/p' "$@" |
        awk -F, 'NF > most { most = NF } END { print most + 0 }'
}
gzip -dc rec/toy/$device.4096x1.journal.gz >recorded.journal
check "a replay's tuning has the recorded samples once" all \
    '[ "$(recorded recorded.journal)" -gt 1 ]' \
    '[ "$(recorded again/toy/$device.yaml)" -le "$(recorded recorded.journal)" ]' \
    '[ "$(recorded again/toy/$device.yaml)" -gt 1 ]'
run toy --device replay:h100 --strategy exhaustive --output again
sed 's/.*BLOCK_X/BLOCK_X/' first >a
sed 's/.*BLOCK_X/BLOCK_X/' "$folder/out" >b
check "with the same winners" same a b
run toy --device replay:h10 --output again3
check "a part of a word is no name of a recording" all 'exits 6' \
    "err_has 'of the kernel toy matches \"h10\"; there are $device.4096x1'" \
    'err_lacks "tuning 1"' 'no_file again3'
run --device replay:h10 --output again3
check "nor where all are asked for; the names that there are" all 'exits 6' \
    "err_has 'a recording that matches \"h10\", .*; there are those of '" \
    "err_has 'those of .*$device'" 'err_lacks "tuning "'
mkdir -p "$root/tunings/faults"
run faults --device replay:h100 --output again3
check "what is not recorded has no plan" all 'exits 6' \
    'err_has "no recording of the kernel faults"' 'err_lacks "tuning 1"'
rmdir "$root/tunings/faults"
FAKE_WORKER_DEVICES=A run toy --device 5 --output again3
check "nor a device that cannot be opened" all 'exits 6' \
    'err_has "planted"' 'err_lacks "tuning 2"'
cp "$root/kernels/toy.cu" "$root/kernels/toy2.cu"
sed 's/^name: toy/name: toy2/; s/toy\.cu/toy2.cu/' "$root/kernels/toy.yaml" \
    >"$root/kernels/toy2.yaml"
mkdir "$root/tunings/toy2"
gzip -dc "$root/tunings/toy/$device.4096x1.journal.gz" |
    sed 's/Pretended H100/Pretended H200/; s/^kernel: toy$/kernel: toy2/' |
    gzip -n >"$root/tunings/toy2/sm_90-pretended-h200.4096x1.journal.gz"
run toy toy2 --device replay:sm_90 --budget 5 --output again3
check "each device that is meant has its name" all 'exits 0' \
    'err_has "tuning 2 kernels on the recorded device Pretended H100: "' \
    'err_has "the recorded device of toy2 is Pretended H200$"'
rm -r "$root/tunings/toy2" "$root/kernels/toy2".* again3
run --device replay:h100 --strategy exhaustive --output again2
check "with no kernel: those that have a recording" all 'exits 0' \
    'out_has "^toy"' 'err_lacks faults'
run --device "replay:rec/toy/$device.65536x3.journal.gz" --output again3 \
    --strategy exhaustive
check "a file says itself of which kernel and size it is" all 'exits 0' \
    'out_has "n=65536 m=3"' 'out_lacks "n=4096"'
run toy --device replay:h100 --seed 5 --strategy random --budget 50 \
    --output s1 -q
cp "$folder/out" s1.out
run toy --device replay:h100 --seed 5 --strategy random --budget 50 \
    --output s2 -q
check "a seed repeats a run" all 'exits 0' 'same s1.out $folder/out' \
    'same s1/toy/$device.yaml s2/toy/$device.yaml' \
    'same s1/toy/$device.4096x1.journal s2/toy/$device.4096x1.journal'
cat >passed_on <<END
#!/bin/sh
echo "\$@" >>"$folder/words"
exec "$build/tests/fake/worker" "\$@"
END
chmod +x passed_on
for words in "" "--seed 9" "--seed 9 --data-seed 4"; do
    rm -f "$folder/words"
    SHMTUNE_WORKER=$folder/passed_on run toy --size n=4096 --budget 5 $words \
        --output seeds --no-resume -q
    case $words in *data*) wanted=4 ;; *) wanted=1 ;; esac
    # A tuning leaves it out where it is the search's own.
    case $words in '') lines=0 ;; *) lines=1 ;; esac
    check "the inputs' seed is their own: \"$words\"" all 'exits 0' \
        "grep -q -- '--data-seed $wanted ' $folder/words" \
        "! grep -v -- '--data-seed $wanted ' $folder/words" \
        "[ $lines -eq \$(grep -c '^  data_seed:' seeds/toy/$device.yaml) ]" \
        "[ $lines -eq \$(grep -cx '  data_seed: $wanted' seeds/toy/$device.yaml) ]" \
        "grep -qx 'data_seed: $wanted' seeds/toy/$device.4096x1.journal"
done
SHMTUNE_WORKER=$build/tests/fake/worker run toy --size n=4096 --budget 9 \
    --output seeds --data-seed 5
check "a journal of other inputs is not resumed" all 'exits 0' \
    'err_has "measured with other inputs"'
run toy --device replay:h100 --data-seed 5 --output seeds
check "a recording has inputs of its own" all 'exits 1' out_empty \
    'err_has "data-seed is for a GPU; replay:h100 has the inputs"'
run toy --device replay:h100 --json --output again
check "--json is one document" all 'exits 0' is_json \
    'out_has "\"recorded\": true"' 'out_has "\"candidates_per_s\""' \
    'out_has "\"tuning\": \"again/toy"'
# took N: a rate and its time, as JSON has them, are of N candidates
took() {
    awk -v n="$1" '/"candidates_per_s"/ { rate = $2 + 0 }
        /"search_s"/ { seconds = $2 + 0 }
        END { exit !(n > 0 && rate * seconds > n - 0.5 &&
                     rate * seconds < n + 0.5) }' "$folder/out"
}
run toy --device replay:h100 --size n=4096 --output again --budget 10 --json
check "the rate of a run that resumes is its own" all 'exits 0' \
    'err_has "252 of them known before; replayed 10, known or not, in "' \
    'err_has "GPU busy [1-9][0-9]* %"' \
    'took 10'
run toy --size n=4096 --strategy random --budget 60 --record part \
    --output part -q
run --device "replay:part/toy/$device.4096x1.journal.gz" --json \
    --strategy exhaustive --output again6
check "what is not recorded is not in the rate" all 'exits 0' \
    'err_has "252 of 252 candidates, 192 of them not recorded, 60 replayed"' \
    'err_lacks "192 not_recorded"' 'took 60' \
    'out_has "\"not_recorded\": 192"'
run toy --device replay:h100 --size n=4096 --output again4 --budget 1s
check "--size chooses one" all 'exits 0' 'out_has "n=4096"' \
    'out_lacks "n=65536"'
# What was recorded is not of the sources as they are now.
cp "$root/kernels/toy.cu" toy.cu.kept
echo '// edited' >>"$root/kernels/toy.cu"
run toy --device replay:h100 --size n=4096 --budget 9 --output stale \
    --record stale
check "a recording of other sources is used, and said to be" all 'exits 0' \
    'err_has "sources have changed since they were recorded"'
run check stale/toy/$device.yaml
check "the tuning is of those it was recorded from" all 'exits 2' \
    'out_has "made for other sources"'
run check stale/toy/$device.4096x1.journal.gz
check "and so is what it records" all 'exits 2' \
    'out_has "made for other sources"'
run toy --device replay:h100 --size n=4096 --budget 12 --output stale
check "it resumes nevertheless" all 'exits 0' 'err_has "resuming: 9 "'
cp toy.cu.kept "$root/kernels/toy.cu"
run toy --device replay:h100 --size n=4097 --output again4
check "a size that is not recorded" all 'exits 6' 'err_has "n=4096 m=1"' \
    out_empty
run faults toy --device replay:h100 --size n=1 --size n=4096 --budget 9 \
    --output again5
check "what is not recorded is told, and the rest is tuned" all 'exits 6' \
    'err_has "no recording of the kernel faults"' 'err_has "shmtune inspect"' \
    'err_has "n=1 m=1 of toy is not recorded"' 'out_has "^toy *n=4096 "'
kept=$SHMTUNE_PATH
SHMTUNE_PATH=$source
run conv2d --device replay:h100 --output again6
SHMTUNE_PATH=$kept
check "why the winner is not the best of the search" all 'exits 0' \
    'err_has "[0-9.]* us was the best of the search, which the finals timed again"'
run toy --device replay:v100
check "a recording that is not there" all 'exits 6' \
    'err_has "h100.4096x1.journal.gz"'
run --device replay:v100
check "and for no kernel at all" all 'exits 6' 'err_has v100'
run toy --device replay:
check "a recording without a name" all 'exits 1' 'err_has "device is .replay:.; "'
run --device replay:./nothing.journal.gz
check "a recording's file that is not there" all 'exits 6' 'err_has nothing'
printf 'rubbish' >bad.journal.gz
run toy --device replay:./bad.journal.gz
check "a recording that is none" all 'exits 2' 'err_has bad.journal.gz:1:1'
head -c 3000 "rec/toy/$device.4096x1.journal.gz" >cut.journal.gz
run toy --device replay:./cut.journal.gz
check "a recording that was cut" all 'exits 2' 'err_has "its end is missing"'

# -- words that make no sense ----------------------------------------------
for budget in 0 -3 10x 1.5 s nan inf ""; do
    run toy --budget "$budget"
    check "--budget '$budget' is refused" all 'exits 1' 'err_has 60s'
done
run toy --strategy nonsense
check "a strategy there is not" all 'exits 1' 'err_has nonsense'
run toy --size rows=3
check "a dimension there is not" all 'exits 1' 'err_has rows'
run tune nothing
check "a kernel there is not" all 'exits 1' 'err_has nothing'
run tune ./nothing.yaml
check "a spec there is not" exits 5
run toy --jobs 0
check "no compile workers" all 'exits 1' 'err_has jobs'

# -- what goes wrong -------------------------------------------------------
FAKE_WORKER_START=refuse
export FAKE_WORKER_START
run toy
check "no driver: exit 6, and how to do without" all 'exits 6' \
    'err_has "error: no driver answers (planted)"' 'err_has replay:NAME' \
    'err_lacks exited' out_empty
sed 's/^name: toy/name: own/' "$root/kernels/toy.yaml" >own.yaml
cp "$root/kernels/toy.cu" .
run ./own.yaml
check "of a kernel that no recording has: what works without a GPU" all 'exits 6' \
    'err_has "No recording of own stands in"' 'err_lacks replay' \
    'err_has "shmtune inspect ./own.yaml. compiles"'
run
check "no word at all is a question" exits 1
unset FAKE_WORKER_START
FAKE_WORKER_REFERENCE=bad
export FAKE_WORKER_REFERENCE
run toy --output reference
check "a reference that does not run: exit 4" all 'exits 4' \
    'err_has "reference does not run"'
unset FAKE_WORKER_REFERENCE
sed 's/default: good/default: wrong/' "$root/kernels/faults.yaml" >wrong.yaml
cp "$root/kernels/toy.cu" .
run ./wrong.yaml --output wrong
check "a default that is wrong: exit 4, nothing written" all 'exits 4' \
    'err_has BEHAVE=wrong' 'no_file wrong/faults/$device.yaml'
run toy --device replay:h100 --min-occupancy 100 --max-spill 0 --budget 1 \
    --output none
check "nothing that works: exit 3" all 'exits 3' 'err_has low_occupancy'
sed 's/verdict: ok/verdict: eh/' "$journal" >x && cp x "$journal"
run toy
check "a damaged journal: exit 2, place and remedy" all 'exits 2' \
    'err_has "4096x1.journal:[0-9]*:"' 'err_has no-resume'
mkdir -p locked/toy && : >locked/toy/$device.4096x1.journal
(
    flock -x 9 || exit 1
    "$build/shmtune" toy --output locked --size n=4096 >"$folder/out" \
        2>"$folder/err"
    echo $? >code
) 9<"locked/toy/$device.4096x1.journal"
status=$(cat code)
check "a journal that another run writes: exit 5" all 'exits 5' \
    'err_has "another run"'
# Another run adds a size while this one measures its own.
both=both/toy/$device.yaml
run toy --output both --size n=4096,m=1 --budget 3 -q
cp "$both" one
run toy --output both --size n=65536,m=3 --budget 3 -q
mv "$both" two && mv one "$both"
(
    flock -x 9 || exit 1
    "$build/shmtune" toy --output both --size n=1000,m=2 --budget 3 -q \
        >"$folder/out" 2>"$folder/err" 9<&- &
    for wait in 1 2 3 4 5 6 7 8 9; do
        sleep 0.2
        lines both/toy/$device.1000x2.journal config: 3 && break
    done
    sleep 0.5
    mv two "$both"
    exec 9<&-
    wait $!
    echo $? >code
) 9<both/toy
status=$(cat code)
check "two runs that add to one tuning keep each other's sizes" all \
    'exits 0' 'lines "$both" "^- size:" 3'
cat >moved <<END
#!/bin/sh
# The measure worker is on another device from the second start on.
case " \$* " in *" --device "*) ;; *) exec "$SHMTUNE_WORKER" "\$@" ;; esac
[ -e moved_once ] || { : >moved_once; exec "$SHMTUNE_WORKER" "\$@"; }
"$SHMTUNE_WORKER" "\$@" | sed -u 's/Pretended H100/Pretended H200/'
END
chmod +x moved
sed -e 's/^    values: .*/    values: [good, die, die_once, fine]/' \
    -e '/^             /d' "$root/kernels/faults.yaml" >dying.yaml
SHMTUNE_WORKER=$folder/moved run ./dying.yaml --strategy exhaustive \
    --output moved_out
check "a worker that comes back on another device: exit 6" all 'exits 6' \
    'err_has "started again found .Pretended H200. .*, the run began on .Pretended H100. "'
printf 'a: b\n' >file
run toy --output file
check "an output that is no folder: exit 5" all 'exits 5' \
    'err_has "file/toy: .*; name another with --output DIR"'
run toy --output early --record file
check "nor is the recording's" all 'exits 5' \
    'err_has "name another with --record DIR"' \
    'no_file early/toy/$device.4096x1.journal'
mkdir -p stranger/toy && echo x >stranger/toy/$device.yaml
run toy --output stranger
check "what is no tuning is refused before anything is measured" all \
    'exits 2' 'err_has "file that is there: stranger/toy/.*; move it away, or "' \
    'err_has "with --output DIR"' \
    'no_file stranger/toy/$device.4096x1.journal' \
    'lines $folder/err "error: .*stranger" 1' '[ $(cat stranger/toy/$device.yaml) = x ]'
mkdir -p shut/toy && chmod a-w shut/toy
if [ -w shut/toy ]; then
    skip "a folder that cannot be written: exit 5" "root may write anywhere"
else
    run toy --output shut
    check "a folder that cannot be written: exit 5" all 'exits 5' \
        'err_has "Permission denied; name another with --output DIR"'
fi

# -- what is asked for ----------------------------------------------------
run toy toy --size n=4096 --size m=1,n=4096 --budget 5 --output twice
check "what is named twice is tuned once" all 'exits 0' \
    'lines $folder/out "^toy" 1' 'err_lacks resuming'
sed 's/^- BLOCK_X \* UNROLL <= 4096/- n != 64/' "$root/kernels/toy.yaml" >never.yaml
run ./never.yaml --size n=64 --budget 5 --output early
check "an empty space: exit 3, and the command that shows it" all 'exits 3' \
    'err_has "shmtune space ./never.yaml --size n=64,m=1. shows"'
run $(sed -n 's/.*`shmtune \(space [^`]*\)`.*/\1/p' err)
check "which does" all 'exits 0' 'out_has "^ *0 .* n != 64"'
rm -rf early
run toy no_such --budget 5 --output early
check "a wrong name is told before anything is tuned" all 'exits 1' \
    'no_file early' 'err_has no_such'
run toy faults --size m=1 --budget 5 --output early
check "so is a size that one of them has not" all 'exits 1' \
    'no_file early' 'err_has "is not DIMENSION=NUMBER with a dimension of faults"'
# A terminal of some rows has a line for each: of one row it shows whichever
# comes when it may be written again.
if command -v script >/dev/null && script -qec true /dev/null \
    >/dev/null 2>&1; then
    FAKE_WORKER_BUSY_MS=4 TERM=xterm script -qec \
        "stty rows 24 cols 120; $build/shmtune toy --budget 80 --output live" \
        /dev/null \
        >"$folder/out" 2>&1 </dev/null
    check "which problem of how many" all 'out_has "[12]/2 toy n=4096 m=1  "' \
        'out_has "[12]/2 toy n=65536 m=3  "'
else
    skip "which problem of how many" "no script(1) here"
fi

# -- what takes long -------------------------------------------------------
# A device that is slow to open: until the tuner has said so, or five times a
# second have passed.
cat >late <<END
#!/bin/sh
seconds=0
case " \$* " in *" --device "*)
    until grep -q opening "$folder/err" || [ \$seconds -eq 5 ]; do
        sleep 1
        seconds=\$((seconds + 1))
    done ;;
esac
exec "$SHMTUNE_WORKER" "\$@"
END
chmod +x late
begun=$(date +%s)
SHMTUNE_WORKER=$folder/late run toy --size n=4096 --budget 3 --output late_out
most=$(($(date +%s) - begun + 1))
# opening: the seconds that it says
opening() { sed -n 's/^shmtune: opening the device for toy: \([0-9]*\) s$/\1/p' err; }
check "nobody waits for a word for more than five seconds" all 'exits 0' \
    '[ "$(opening)" -ge 4 ]' '[ "$(opening)" -le "$most" ]'
SHMTUNE_WORKER=$folder/late run toy --size n=4096 --budget 3 --output late_out -q
check "but with -q" all 'exits 0' err_empty

# -- interrupted -----------------------------------------------------------
# start ARGUMENT...: in the background, $pid
start() {
    "$build/shmtune" "$@" >"$folder/out" 2>"$folder/err" </dev/null &
    pid=$!
}
records() { grep -c "config:" "$1" 2>/dev/null; }
# await FILE N: until it has N results
await() {
    tries=0
    until [ "$(records "$1" || true)" -ge "$2" ] 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || return 1
        sleep 0.02
    done
}
# start_some N ARGUMENT...: the same, which comes to N measurements and no more
start_some() {
    export FAKE_WORKER_BUSY_FROM=$(($1 + 1)) FAKE_WORKER_BUSY_MS=60000
    shift
    start "$@"
    unset FAKE_WORKER_BUSY_FROM FAKE_WORKER_BUSY_MS
}
# interrupt FILE N: what was started, once FILE has N results; $status
interrupt() {
    await "$1" "$2"
    kill -TERM $pid
    wait $pid
    status=$?
}
run toy --size n=4096 --strategy random --budget 60 --output whole --seed 3 -q
cut -d, -f2- whole/toy/$device.yaml | sed '/elapsed_s/d' >whole.yaml
# A script's background job ignores the interrupt from the terminal; TERM is
# treated alike.
start_some 15 toy --size n=4096 --strategy random --budget 60 --output stopped \
    --seed 3
interrupt stopped/toy/$device.4096x1.journal 15
check "a signal: exit 130, what is kept and how to go on" all 'exits 130' \
    'err_has "candidates of toy are kept in stopped/toy"' \
    'err_has "the same command resumes"' out_empty \
    'err_has "; no tuning was written; "' 'err_lacks "as it was"' \
    'no_file stopped/toy/$device.yaml'
kept=$(records stopped/toy/$device.4096x1.journal)
run toy --size n=4096 --strategy random --budget 60 --output stopped \
    --seed 3 --json
check "the same command resumes" all 'exits 0' 'err_has "resuming: $kept "'
check "and tells what it did itself" all 'took $((60 - kept))' \
    'err_has "60 of 252 candidates, $kept of them known before, "' \
    'err_has " known before, $((60 - kept)) tried in "'
cut -d, -f2- stopped/toy/$device.yaml | sed '/elapsed_s/d' >stopped.yaml
check "and comes to the same end" same whole.yaml stopped.yaml

cp stopped/toy/$device.yaml stopped.yaml
start_some 5 toy --size n=65536,m=3 --strategy random --budget 60 --output stopped
interrupt stopped/toy/$device.65536x3.journal 5
check "a signal where there is a tuning" all 'exits 130' \
    'err_has "$device.yaml is as it was for this problem"' \
    'same stopped.yaml stopped/toy/$device.yaml'
again=stopped/toy/$device.65536x3.journal
start_some 2 toy --size n=65536,m=3 --strategy exhaustive --budget 60 \
    --output stopped
interrupt $again $(($(records $again) + 2))
check "and where the run resumed: all that is kept is counted" all 'exits 130' \
    'err_has "interrupted: $(records $again) candidates of toy are kept in "'

sed 's/^name: toy/name: never/' never.yaml >never_toy.yaml
sed 's/^name: toy/name: nor/' never.yaml >nor_toy.yaml
run ./never_toy.yaml ./nor_toy.yaml --size n=64,m=1 --output later -q
check "each failure is told, quiet or not" all 'exits 3' \
    'err_has "error: never, "' 'err_has "error: nor, "'
start_some 5 ./never_toy.yaml toy --size n=64,m=1 --strategy random \
    --budget 60 --output later
interrupt later/toy/$device.64x1.journal 5
check "a signal decides the status, whatever failed before" all 'exits 130' \
    'err_has "error: interrupted: "' 'err_has "never, .*no configuration"'

# Killed outright, at ten points of one run; never twice within the same
# candidate, which would be taken for its fault: one compile worker, so that
# what was being measured comes first again.
FAKE_WORKER_BUSY_MS=4
export FAKE_WORKER_BUSY_MS
at=0
for more in 2 4 5 6 3 5 2 7 6 5; do
    at=$(($(records killed/toy/$device.4096x1.journal || true) + more))
    start toy --size n=4096 --strategy random --budget 60 --output killed \
        --seed 3 -j 1
    await killed/toy/$device.4096x1.journal $at
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
done
FAKE_WORKER_LOG=$folder/log run toy --size n=4096 --strategy random --budget 60 \
    --output killed --seed 3
cut -d, -f2- killed/toy/$device.yaml | sed '/elapsed_s/d' >killed.yaml
check "killed ten times: the same end" all 'exits 0' \
    'same whole.yaml killed.yaml'
grep -o 'config: {[^}]*}' killed/toy/$device.4096x1.journal | sort >tried
check "finals in three processes" \
    [ "$(sed -n 's/^measure .* by //p' log | sort -u | wc -l)" -eq 3 ]
check "no finished candidate tried again" all \
    '[ $(wc -l <tried) -eq 60 ]' '[ -z "$(uniq -d tried)" ]'
# left: whether a process is that has to do with the folder.
left() {
    for command in /proc/[0-9]*/cmdline; do
        { tr '\0' ' ' <"$command"; } 2>/dev/null | grep -q -e "$folder" &&
            return 0
    done
    return 1
}
# Who is killed by the kernel ends as soon as it has a processor.
for _ in $(seq 100); do
    left || break
    sleep 0.1
done
check "no worker outlives its tuner" eval '! left'

# -- what the killed leave behind -------------------------------------------
mkdir tmp2
TMPDIR=$folder/tmp2
# folders N: so many are there, with their locks.
folders() { [ "$(ls -d tmp2/shmtune-??????/lock 2>/dev/null | wc -l)" -eq "$1" ]; }
await_folders() {
    tries=0
    until folders "$1" || [ $tries -ge 3000 ]; do
        tries=$((tries + 1))
        sleep 0.02
    done
}
FAKE_WORKER_BUSY_MS=60000 start toy --size n=4096 --budget 60 --output living
living=$pid
await_folders 1
mine=$(ls -d tmp2/shmtune-??????)
FAKE_WORKER_BUSY_MS=60000 start toy --size n=4096 --budget 60 --output dying
await_folders 2
yours=$(ls -d tmp2/shmtune-?????? | grep -v "$mine")
mkdir "$yours/more"
touch "$yours/a.cubin" "$yours/more/a"
kill -KILL $pid
wait $pid 2>/dev/null
# What looks like one, and is none of ours.
machine=$(uname -n)
plant() { # NAME TEXT
    mkdir -m 0700 "tmp2/$1"
    printf %s "$2" >"tmp2/$1/lock"
}
plant shmtune-public "$machine" && chmod 0755 tmp2/shmtune-public
plant shmtune-others "$machine.another"
plant shmtune-noName ''
plant shmtune-longer1 "$machine"
plant shmtune-counters-theirs "$machine"
plant other "$machine" && ln -s other tmp2/shmtune-linked
plant shmtune-lockln '' && rm tmp2/shmtune-lockln/lock &&
    ln -s ../other/lock tmp2/shmtune-lockln/lock
mkdir -m 0700 tmp2/shmtune-noLock
touch tmp2/shmtune-a0File tmp2/other/a
(cd tmp2 && find . ! -path "./${yours#tmp2/}*" | sort) >before
run toy --size n=4096 --budget 5 --output third -q
check "the folder of one that was killed is removed by the next" all \
    'exits 0' 'no_file $yours'
(cd tmp2 && find . | sort) >after
check "and no other: that of one that lives, or what only looks like it" \
    same before after
kill -TERM $living
wait $living
check "which removes its own" no_file "$mine"
TMPDIR=$folder

# -- a kernel without dimensions ------------------------------------------------
printf 'format: kernel/1\nname: fixed\nparameters:\n  A: %s\n' \
    '{values: [1, 2], default: 1}' >"$root/kernels/fixed.yaml"
{
    printf 'format: journal/1\nkernel: fixed\ndigest: "%064d"\n' 0
    cat "$data/device.part"
    printf 'nvrtc: 13000\nprotocol: cold-l2\nsize: {}\nseed: 1\n'
    printf 'space: 2\nrecords:\n- {config: {A: 2}, at: 1, verdict: crash}\n'
} >fixed.journal
run tune fixed --device replay:fixed.journal --output fixed
check "has no size in its messages" all 'exits 3' \
    'err_has "error: fixed: none of 2 candidates works: "'
run tune fixed toy --device replay:fixed.journal --output fixed
check "nor beside other kernels" all '! exits 0' \
    'err_has "fixed: none of 2 candidates works: "' 'err_lacks "fixed, *:"'

# -- what comes next ---------------------------------------------------------
sed 's/^name: .*/name: mine/' toy.yaml >"a kernel.yaml" 2>/dev/null ||
    sed 's/^name: .*/name: mine/' "$source/tests/fake/data/toy.yaml" \
        >"a kernel.yaml"
cp "$source/tests/fake/data/toy.cu" .
run tune "./a kernel.yaml" --size n=4096 --budget 5 --output "in a folder"
next() { sed -n "s/.*next: .*\`shmtune $1 \([^\`]*\)\`.*/\1/p" err; }
check "the commands that come next have the spec, in quotes" all 'exits 0' \
    '[ -n "$(next show)" ]' \
    'eval "\"$build/shmtune\" show $(next show)" >shown 2>&1' \
    'grep -q "GB/s" shown' \
    'eval "\"$build/shmtune\" report $(next report)" >reported 2>&1' \
    '! grep -q "left out" reported' 'grep -q "from 2 files" reported'

# -- for people ------------------------------------------------------------
run tune --help
check "--help" all 'exits 0' 'out_has "examples:"' err_empty
awk 'length > 80 { exit 1 }' "$folder/out"
check "the help fits a terminal" [ $? -eq 0 ]
finish
