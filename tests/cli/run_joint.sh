#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run: whether the program is faster with tuned kernels is tried with each of
# them, all at once, and then together.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/put_back.sh"
if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "tuned kernels are tried together" "no NVRTC"
    finish
    exit 0
fi

run capture --propose -o both -- "$fake/application" opened load mixed=1
tune_captured both/blend-1 both/cover-1
check "two kernels are tuned" all "exits 0" "[ -d tunings/cover-1 ]"
mkdir one
cp -r both/blend-1 one/
unset FAKE_CUDA_NEXT FAKE_CUDA_LAG FAKE_CUDA_FAIL

# application CAPTURED WORD...: alone, then with what was tuned
trial=
application() {
    captured=$1
    shift
    FAKE_CUDA_FAIL='' "$fake/application" opened load "$@" >alone.out 2>alone.err
    alone=$?
    rm -f shapes
    # shellcheck disable=SC2086
    run run --captured "$captured" $trial -- "$fake/application" opened load "$@"
}
# last KERNEL: how its last ten launches were made
last() { grep "^$1 " shapes | tail -n 10 | sort | uniq -c | tr -s ' \n' ' '; }
# with NAME=VALUE CAPTURED WORD...: in such an environment
with() {
    variable=${1%%=*}
    export "${1?}"
    shift
    application "$@"
    unset "$variable"
}

each=' (24 stretches each)$'
application one times=800 sum
check "one that the program is faster with stays" all as_alone \
    "[ '$(shapes)' = ' 340 blend 4 256 460 blend 8 128 ' ]" \
    "err_has '^shmtune: blend stays as tuned: 128.0 us pass from one launch of blend to the next, and 256.0 us as it was$each'"
check "after stretches of twelve, in the order of Thue and Morse" all \
    "[ '$(sed -n '106,201p' shapes | cut -d' ' -f3 | uniq -c | tr -s ' \n' ' ')' = ' 12 256 24 128 12 256 12 128 24 256 12 128 ' ]"
with FAKE_CUDA_LAG=100 one times=1200 sum
check "nothing is waited for" all as_alone \
    "err_has 'blend stays as tuned: 128.0 us pass from one launch of blend .* 256.0 us as it was$each'" \
    "[ '$(last blend)' = ' 10 blend 8 128 ' ]"
with 'FAKE_CUDA_NEXT=blend 128 200 8' one mixed=900 sum
check "one that makes the program slower, later than its trial sees, goes back" \
    all as_alone "err_has 'blend is launched as tuned: 128.0 us'" \
    "err_has '^shmtune: blend goes back to as it was: 584.0 us pass from one launch of blend to the next, and 5[0-9.]* us as it was$each'" \
    "[ '$(last blend)' = ' 10 blend 4 256 ' ]"
with 'FAKE_CUDA_NEXT=blend 128 50 8' one mixed=900 sum
check "one that gains more than it costs stays" all as_alone \
    "err_has 'blend stays as tuned: 434.0 us pass .*$each'" \
    "[ '$(last blend)' = ' 10 blend 8 128 ' ]"
application one times=300 sum
check "a program may end before: what won its own trial stays" all as_alone \
    "err_has '^shmtune: blend stays as tuned: the program ended before the joint trial did, in which it made 16 of at most 192 stretches$'"
tell=" us here, as it was 256.0 us (48 launches each): the program.s own time is to tell$"
FAKE_CUDA_COST='blend 128 256'
export FAKE_CUDA_COST
with 'FAKE_CUDA_NEXT=blend 128 -50 8' one mixed=900 sum
check "one that takes as long, and with which the program is faster, is tuned" \
    all as_alone "err_has '^shmtune: blend: tuned it takes 256.0$tell'" \
    "err_has '^shmtune: blend stays as tuned: 462.0 us pass .* and 50[0-9.]* us as it was$each'" \
    "[ '$(last blend)' = ' 10 blend 8 128 ' ]"
with 'FAKE_CUDA_NEXT=blend 128 -50 8' both mixed=1500 sum
check "beside one that won, too" all as_alone \
    "err_has '^shmtune: blend: tuned it takes 256.0$tell'" \
    "err_has 'cover is launched as tuned: '" \
    "err_has '^shmtune: blend stays as tuned, by itself: '" \
    "err_has '^shmtune: the 2 kernels stay as tuned: '" \
    "[ '$(last blend)$(last cover)' = ' 10 blend 8 128  10 cover 16 64 ' ]"
application both mixed=300 sum
check "where the program ends before, it stays as it is, and who won tuned" all \
    as_alone \
    "err_has '^shmtune: blend stays as it is: the program ended before the joint trial did, in which it made 16 of at most 192 stretches$'" \
    "err_has '^shmtune: cover stays as tuned: the program ended before the joint trial did, in which it made 16 of at most 192 stretches$'"
with FAKE_CUDA_FAIL=EventRecord=1,460 both mixed=800 sum
check "so it is without times" all as_alone \
    "err_has '^shmtune: blend stays as it is: what passes between two launches cannot be timed$'" \
    "err_has '^shmtune: cover stays as tuned: what passes between'" \
    "[ '$(last blend)$(last cover)' = ' 10 blend 4 256  10 cover 16 64 ' ]"
application one times=200 graph times=50
check "and into a graph it goes as it was" all as_alone \
    "err_lacks disturbed" "[ '$(last blend)' = ' 10 blend 4 256 graph ' ]"
application both mixed=5 times=4000 sum
check "it is tried where another's trial does not go on" all as_alone \
    "err_has '^shmtune: blend goes back to as it was: 256.0 us pass .*stretches each)$'"
FAKE_CUDA_COST='blend 128 270'
with FAKE_CUDA_NEXT= both mixed=1500 sum
check "and one with which the program is slower goes back" all as_alone \
    "err_has '^shmtune: blend: tuned it takes 270.0$tell'" \
    "err_has '^shmtune: blend goes back to as it was, by itself: 4[0-9.]* us pass'" \
    "err_has '^shmtune: cover stays as tuned: 320.0 us pass .*$each'" \
    "[ '$(last blend)$(last cover)' = ' 10 blend 4 256  10 cover 16 64 ' ]"
FAKE_CUDA_COST='blend 128 252 60'
application one times=3000 sum
check "what is not clear in one round is tried for four" all as_alone \
    "err_has '^shmtune: blend \(stays\|goes\) .*(96 stretches each)$'"
unset FAKE_CUDA_COST
trial=--no-trial
application one times=800 sum
check "without trials there is none" all as_alone "err_lacks stretches" \
    "[ '$(shapes)' = ' 800 blend 8 128 ' ]"
trial=

application both mixed=1500 sum
check "two are tried at once, then together, and both stay" all as_alone \
    "err_has '^shmtune: cover stays as tuned, by itself: 256.0 us pass from one launch of blend to the next, and 448.0 us as it was$each'" \
    "err_has '^shmtune: blend stays as tuned, by itself: 288.0 us pass from one launch of blend to the next, and 416.0 us as it was$each'" \
    "err_has '^shmtune: the 2 kernels stay as tuned: 192.0 us pass from one launch of blend to the next, and 512.0 us as it was$each'" \
    "[ '$(last blend)$(last cover)' = ' 10 blend 8 128  10 cover 16 64 ' ]"
with 'FAKE_CUDA_NEXT=blend 128 400 8' both mixed=1500 sum
check "the one with which the program is slower goes back, and the other stays" \
    all as_alone \
    "err_has 'blend is launched as tuned: '" "err_has 'cover is launched as tuned: '" \
    "err_has '^shmtune: blend goes back to as it was, by itself: 59[0-9.]* us pass .*$each'" \
    "err_has '^shmtune: cover stays as tuned, by itself: '" \
    "err_has '^shmtune: cover stays as tuned: 320.0 us pass from one launch of cover to the next, and 512.0 us as it was$each'" \
    "[ '$(last blend)' = ' 10 blend 4 256 ' ]" \
    "[ '$(last cover)' = ' 10 cover 16 64 ' ]"
with 'FAKE_CUDA_NEXT=blend 128 600 8 700' both mixed=1500 sum
check "and both go back where the program is slower with what is left" all \
    as_alone "err_has '^shmtune: blend stays as tuned, by itself: '" \
    "err_has '^shmtune: cover stays as tuned, by itself: '" \
    "err_has '^shmtune: the 2 kernels go back to as they were: 792.0 us pass from one launch of blend to the next, and 6[0-9.]* us as it was$each'" \
    "[ '$(last blend)$(last cover)' = ' 10 blend 4 256  10 cover 4 256 ' ]"
application both mixed=5 times=2000 sum
check "one whose trial does not go on is waited for a while" all as_alone \
    "err_has 'blend stays as tuned: 128.0 us pass .*$each'" \
    "err_has 'cover stays as it is: the program ended before its trial did, in which it made 5 of 104'" \
    "[ '$(sed -n '200,1100p' shapes | sort | uniq -c | tr -s ' \n' ' ')' = ' 901 blend 8 128 ' ]"
application both times=1000 mixed=900 sum
check "one that comes later is tried by itself, beside what was tried" all \
    as_alone "err_has 'blend stays as tuned: 128.0 us pass .*$each'" \
    "err_has '^shmtune: cover stays as tuned: 192.0 us pass from one launch of cover to the next, and 384.0 us as it was$each'"
application both times=300 mixed=700 sum
check "its trial waits for the joint one" all as_alone \
    "err_has 'blend stays as tuned: .*$each'" \
    "err_has 'cover is launched as tuned: 64.0 us, as it was 256.0 us'" \
    "[ '$(grep '^cover' shapes | head -n 381 | uniq -c | tr -s ' \n' ' ')' = ' 381 cover 4 256 ' ]"
application both times=20 mixed=130 times=4200 sum
check "a program that launches something else is left as it is" all as_alone \
    "err_has '^shmtune: blend stays as tuned: the program goes on without the launches that were timed$'" \
    "err_has '^shmtune: cover stays as tuned: the program goes on without'" \
    "[ '$(last blend)' = ' 10 blend 8 128 ' ]"

application one times=200 move times=4200 sum
check "so it is where what was timed goes on in another stream" all as_alone \
    "err_has '^shmtune: blend stays as tuned: the program goes on without the launches that were timed$'" \
    "[ '$(last blend)' = ' 10 blend 8 128 ' ]"
application one times=200 graph times=50
check "launches into a graph are none of it, and as tuned" all as_alone \
    "err_lacks disturbed" "err_has 'it made 7 of at most 192 stretches'" \
    "[ '$(last blend)' = ' 10 blend 8 128 graph ' ]"
application one times=300 fork times=500
check "a child says nothing of it" all as_alone "err_lacks 'ended before'" \
    "[ \"\$(grep -c stretches err)\" -eq 1 ]"
application one threads threads
check "three threads have one" all as_alone \
    "[ \"\$(wc -l <shapes)\" -eq 1200 ]" \
    "err_has 'blend \(stays as\|goes back to as it was\)'"
for call in EventCreate EventRecord EventElapsedTime; do
    with "FAKE_CUDA_FAIL=$call=1,230" one times=800 sum
    check "without times its own trial is enough: $call" all as_alone \
        "err_has '^shmtune: blend stays as tuned: what passes between two launches cannot be timed$'" \
        "[ '$(last blend)' = ' 10 blend 8 128 ' ]"
done
with FAKE_CUDA_FAIL=EventRecord=1,530 both mixed=900 sum
check "and what each was found to be by itself" all as_alone \
    "err_has '^shmtune: blend stays as tuned, by itself'" \
    "err_has '^shmtune: blend stays as tuned: what passes'" \
    "[ '$(last blend)$(last cover)' = ' 10 blend 8 128  10 cover 16 64 ' ]"
with FAKE_CUDA_FAIL=LaunchKernel=719,122 one times=300 sum
check "one that is refused meanwhile stays as it was" all as_alone \
    "err_has '^shmtune: blend stays as it is: the driver does not launch the tuned one'" \
    "err_lacks stretches" "[ '$(last blend)' = ' 10 blend 4 256 ' ]"
with FAKE_CUDA_FAIL=LaunchKernel=719,140 both mixed=5 times=200 sum
check "nor is anything said of none, where the only one is refused" all \
    as_alone "err_has 'blend is launched as tuned'" \
    "err_has 'blend stays as it is: the driver does not launch the tuned one'" \
    "err_lacks stretches"
finish
