#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run: whether the program is slower with all kernels that are faster by
# themselves is tried with them together.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/put_back.sh"
if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "tuned kernels are tried together" "no NVRTC"
    finish
    exit 0
fi

run capture --propose -o both -- "$fake/application" opened load mixed=1
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA
run tune both/blend-1 both/cover-1 --device 0 --strategy exhaustive
unset SHMTUNE_LIBCUDA
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
check "a program may end before: what stays by itself stays" all as_alone \
    "err_has '^shmtune: blend stays as tuned: the program ended before the joint trial did, in which it made 16 of 48 stretches$'"
trial=--no-trial
application one times=800 sum
check "without trials there is none" all as_alone "err_lacks stretches" \
    "[ '$(shapes)' = ' 800 blend 8 128 ' ]"
trial=

application both mixed=900 sum
check "two are tried together, and both stay" all as_alone \
    "[ '$(shapes)' = ' 340 blend 4 256 560 blend 8 128 560 cover 16 64 340 cover 4 256 ' ]" \
    "err_has '^shmtune: the 2 kernels stay as tuned: 192.0 us pass from one launch of blend to the next, and 512.0 us as it was$each'"
with 'FAKE_CUDA_NEXT=blend 128 400 8' both mixed=2000 sum
check "where they are slower together, each is tried, and the others stay" all \
    as_alone \
    "err_has 'blend is launched as tuned: '" "err_has 'cover is launched as tuned: '" \
    "err_has '^shmtune: the 2 kernels are slower together: 592.0 us pass from one launch of blend to the next, and 5[0-9.]* us as it was (24 stretches each); each is tried by itself$'" \
    "err_has '^shmtune: blend goes back to as it was, by itself: .*$each'" \
    "err_has '^shmtune: cover stays as tuned: 320.0 us pass from one launch of cover to the next, and 512.0 us as it was$each'" \
    "[ '$(last blend)' = ' 10 blend 4 256 ' ]" \
    "[ '$(last cover)' = ' 10 cover 16 64 ' ]"
application both mixed=5 times=2000 sum
check "one whose trial does not go on is waited for a while" all as_alone \
    "err_has 'blend stays as tuned: 128.0 us pass .*$each'" \
    "err_has 'cover stays as it is: the program ended before its trial did, in which it made 5 of 104'" \
    "[ '$(sed -n '200,1100p' shapes | sort | uniq -c | tr -s ' \n' ' ')' = ' 901 blend 8 128 ' ]"
application both times=1000 mixed=900 sum
check "one that comes later is tried with the first" all as_alone \
    "err_has 'blend stays as tuned: 128.0 us pass .*$each'" \
    "err_has 'the 2 kernels stay as tuned: 192.0 us pass .*$each'"
application both times=300 mixed=700 sum
check "its trial waits for the joint one" all as_alone \
    "err_has 'blend stays as tuned: .*$each'" \
    "err_has 'cover is launched as tuned: 64.0 us, as it was 256.0 us'" \
    "[ '$(grep '^cover' shapes | head -n 381 | uniq -c | tr -s ' \n' ' ')' = ' 381 cover 4 256 ' ]"
application both times=20 mixed=130 times=4200 sum
check "a program that launches something else is left as it is" all as_alone \
    "err_has '^shmtune: the 2 kernels stay as tuned: the program goes on without the launches that were timed$'" \
    "[ '$(last blend)' = ' 10 blend 8 128 ' ]"

application one times=200 graph times=50
check "launches into a graph are none of it, and as tuned" all as_alone \
    "err_lacks disturbed" "err_has 'it made 7 of 48 stretches'" \
    "[ '$(last blend)' = ' 10 blend 8 128 graph ' ]"
application one times=300 fork times=500
check "a child says nothing of it" all as_alone "err_lacks 'ended before'" \
    "[ \"\$(grep -c stretches err)\" -eq 1 ]"
application one threads threads
check "three threads have one" all as_alone \
    "[ \"\$(wc -l <shapes)\" -eq 1200 ]" \
    "err_has 'blend \(stays as tuned: 1[0-9.]* us pass\|stays as it is: tuned\)'"
for call in EventCreate EventRecord EventElapsedTime; do
    with "FAKE_CUDA_FAIL=$call=1,230" one times=800 sum
    check "without times its own trial is enough: $call" all as_alone \
        "err_has '^shmtune: blend stays as tuned: what passes between two launches cannot be timed$'" \
        "[ '$(last blend)' = ' 10 blend 8 128 ' ]"
done
FAKE_CUDA_FAIL=EventRecord=1,530
export FAKE_CUDA_FAIL
with 'FAKE_CUDA_NEXT=blend 128 400 8' both mixed=1200 sum
unset FAKE_CUDA_FAIL
check "but what is slower together goes back" all as_alone \
    "err_has 'the 2 kernels are slower together'" \
    "err_has '^shmtune: the 2 kernels go back to as they were: what passes'" \
    "[ '$(last blend)$(last cover)' = ' 10 blend 4 256  10 cover 4 256 ' ]"
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
