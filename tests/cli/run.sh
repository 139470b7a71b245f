#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run: a captured kernel is tuned, and put back into the unchanged program,
# where the launch is the one that was captured.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/put_back.sh"

run run --captured taken
check "a program is needed" all "exits 1" \
    "err_has 'run needs a program: -- PROGRAM'"
run run -- true
check "and captured launches" all "exits 1" "err_has '.--captured DIR'"
run run --captured taken -- true
check "of which there is a folder" all "exits 5" "err_has 'taken'"
mkdir taken
run run --captured taken -- true
check "with one in it" all "exits 1" "err_has 'taken holds no captured launch'"
if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "a tuned launch is put back" "no NVRTC"
    finish
    exit 0
fi

run capture --propose -o taken -- "$fake/application" opened load launch
run run --captured taken -- "$fake/application" opened load launch sum exit_three
check "what is not tuned stays" all "exits 3" "out_has '^sum [0-9]'" \
    "err_has 'blend-1 is left out: tunings/blend-1 has no tuning of it'" \
    "err_lacks 'as tuned'"
run run --captured taken --tunings elsewhere -- true
check "tunings that are named are there" all "exits 5" \
    "err_has '.--tunings elsewhere: there is no such folder; .shmtune tune -o'"
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA
run tune taken/blend-1 --device 0 --strategy exhaustive --warm -o warm
check "with the L2 cache left warm" all "exits 0" "out_has 'BLOCK=128'" \
    "grep -q '^protocol: warm-l2' warm/blend-1/*.yaml"
run tune taken/blend-1 --device 0 --strategy exhaustive
check "it is tuned" all "exits 0" "out_has 'BLOCK=128'" \
    "grep -q '^protocol: cold-l2' tunings/blend-1/*.yaml"
run tune taken/blend-1 --device 0 --on 'ssh nowhere' --warm
check "a far one is cold" all "exits 1" \
    "err_has '.--warm is for a GPU of this machine; with --on'"
run tune scale --device replay:h100 --warm
check "and a recording has its times" all "exits 1" \
    "err_has '.--warm is for a GPU of this machine; a recording'"
unset SHMTUNE_LIBCUDA
cp -r taken/blend-1 taken/todo-1
sed 's/^source: .*/source: TODO the .cu file/' taken/blend-1/kernel.yaml \
    >taken/todo-1/kernel.yaml

# application WAY WORD...: alone, then with what was tuned
trial=--no-trial
application() {
    way=$1
    program=$fake/application
    [ "$way" != linked ] || program=${program}_linked
    "$program" "$@" >alone.out 2>alone.err
    alone=$?
    rm -f shapes
    # shellcheck disable=SC2086
    run run --captured taken $trial -- "$program" "$@"
}

for way in linked opened runtime; do
    application "$way" load launch launch_ex sum exit_three
    check "$way: the launch is made as tuned, and computes the same" all \
        as_alone "exits 3" "[ '$(shapes)' = ' 2 blend 8 128 ' ]" \
        "err_has 'blend is launched as tuned'" \
        "err_has 'todo-1 is left out: .*kernel.yaml:[0-9:]* .*TODO\|written'"
done
rm -r taken/todo-1
XDG_CACHE_HOME=$folder/kept
application opened load launch sum
set -- kept/shmtune/cubin/*.cubin
check "what is compiled for it is kept" all "[ $# = 1 ]" "[ -s '$1' ]"
binary=$(cksum <"$1")
touch -d 2001-01-01 "$1"
application opened load launch sum
check "and found there" all as_alone "err_has 'blend is launched as tuned'" \
    "[ '$1' -ot alone.out ]"
echo damaged >"$1"
application opened load launch sum
check "unless it is damaged" all as_alone \
    "err_has 'blend is launched as tuned'" "[ \"\$(cksum <'$1')\" = '$binary' ]"
rm -r kept/shmtune/cubin
echo no folder >kept/shmtune/cubin
application opened load launch sum
check "or nothing can be kept" all as_alone \
    "err_has 'blend is launched as tuned'"
rm kept/shmtune/cubin

SHMTUNE_LOG=$folder/log
export SHMTUNE_LOG
application opened load launch sum
check "what is said can go to a file" all as_alone err_empty \
    "grep -q '^shmtune: blend is launched as tuned$' log"
SHMTUNE_LOG=stderr
application opened load launch sum
check "or to standard error by name" all as_alone "[ ! -e stderr ]" \
    "err_has 'blend is launched as tuned'"
for log in "$folder/none/log" "$folder/pipe"; do
    [ "$log" != "$folder/pipe" ] || mkfifo pipe
    SHMTUNE_LOG=$log
    application opened load launch sum
    check "where a log cannot be opened that is said: ${log##*/}" all as_alone \
        "err_has '$log: the log cannot be opened (SHMTUNE_LOG): '" \
        "err_has 'blend is launched as tuned'"
done
unset SHMTUNE_LOG
application opened load_library launch sum
check "in a library too" all as_alone "[ '$(shapes)' = ' 1 blend 8 128 ' ]"
application opened load_file launch sum
check "and from a file" all as_alone "[ '$(shapes)' = ' 1 blend 8 128 ' ]"
application opened load launch_short launch sum
check "one with another number stays" all as_alone \
    "[ '$(shapes)' = ' 1 blend 4 256 1 blend 8 128 ' ]" \
    "err_has 'blend stays as it is: a launch of it has other sizes'"
for way in opened runtime; do
    application "$way" load launch_packed sum
    check "$way: so is one whose parameters are a block of bytes" all as_alone \
        "[ '$(shapes)' = ' 1 blend 8 128 ' ]" "err_lacks 'stays as it is'"
done
FAKE_CUDA_FAIL=FuncGetParamInfo=1,1
export FAKE_CUDA_FAIL
application opened load launch_packed sum
check "where nobody knows them it stays" all as_alone \
    "[ '$(shapes)' = ' 1 blend 4 256 ' ]" \
    "err_has 'blend stays as it is: its parameters are not those that were recorded'"
unset FAKE_CUDA_FAIL
FAKE_CUDA_MAJOR=8
export FAKE_CUDA_MAJOR
application opened load launch sum
check "on another device it stays" all as_alone \
    "[ '$(shapes)' = ' 1 blend 4 256 ' ]" \
    "err_has 'blend stays as it is: it was tuned for another device'"
unset FAKE_CUDA_MAJOR
set -- tunings/blend-1/*.yaml
sed 's/^  name: .*/  name: Another GPU/' "$1" >tunings/blend-1/another.yaml
application opened load launch sum
check "of tunings for several devices it gets its own" all as_alone \
    "[ '$(shapes)' = ' 1 blend 8 128 ' ]" "err_lacks 'stays as it is'" \
    "ls tunings/blend-1 | head -n 1 | grep -q another"
rm tunings/blend-1/another.yaml
APPLICATION_OTHER=1
export APPLICATION_OTHER
application opened load launch sum
check "what is compiled with other options stays" all as_alone \
    "[ '$(shapes)' = ' 1 blend 4 256 ' ]" "err_lacks 'as tuned'" \
    "err_has 'blend stays as it is: no launch of it was compiled and made as'"
mv taken blend_taken
mv tunings blend_tunings
run capture --propose -o taken -- "$fake/application" opened load launch
tune_captured taken/blend-1
application opened load launch keep launch sum
check "one that is given a variable of its module by its address stays" all \
    as_alone "[ '$(shapes)' = ' 1 blend 4 256 1 blend 8 128 ' ]" \
    "err_has 'blend stays as it is: a launch of it is given the address of kept, a variable of its module'"
rm -r taken tunings
mv blend_taken taken
mv blend_tunings tunings
unset APPLICATION_OTHER
application opened load launch load_second launch sum
check "a second module has variables of its own" all as_alone \
    "[ '$(shapes)' = ' 2 blend 8 128 ' ]"
application opened load launch reload launch sum
check "one that is unloaded is forgotten, with its variables" all as_alone \
    "[ '$(shapes)' = ' 2 blend 8 128 ' ]"
application opened load launch load_other launch sum
check "and other code that gets its handles is no such launch" all as_alone \
    "[ '$(shapes)' = ' 1 blend 4 256 1 blend 8 128 ' ]"
FAKE_CUDA_FAIL=LaunchKernel=719,1
export FAKE_CUDA_FAIL
run run --captured taken --no-trial -- "$fake/application" opened load launch \
    sum
unset FAKE_CUDA_FAIL
"$fake/application" opened load launch sum >alone.out
check "where the driver refuses the tuned one, the original is launched" all \
    "exits 0" "cmp -s alone.out '$folder/out'" \
    "err_has 'blend stays as it is: the driver does not launch the tuned one'"
"$fake/application" opened load times=9 sum >alone.out
rm shapes
FAKE_CUDA_FAIL=LaunchKernel=719,2
export FAKE_CUDA_FAIL
run run --captured taken -- "$fake/application" opened load times=9 sum
check "in a trial too, which is over then" all "exits 0" \
    "cmp -s alone.out '$folder/out'" "[ '$(shapes)' = ' 9 blend 4 256 ' ]" \
    "[ '$(cat "$folder/err")' = 'shmtune: blend stays as it is: the driver does not launch the tuned one' ]"
FAKE_CUDA_FAIL=ModuleLoadData=200,2
export FAKE_CUDA_FAIL
application opened load launch sum
check "a binary that the driver does not load changes nothing" all \
    as_alone "[ '$(shapes)' = ' 1 blend 4 256 ' ]" \
    "err_has 'the driver does not load the tuned binary'"
unset FAKE_CUDA_FAIL
application opened load graph launch sum
check "nothing is loaded while a graph is captured" all as_alone \
    "err_lacks disturbed" "err_lacks 'as tuned'" \
    "err_has 'blend stays as it is: .*, outside of graphs'"

# Which of the two is the faster one inside of the application; at the launch
# behind the 105th, which has the verdict, the joint trial begins, with 12 that
# are as they were (run_joint.sh).
trial=
each=' (48 launches each)$'
application opened load times=120 sum
check "a trial has both in turn, and the faster one stays" all as_alone \
    "[ '$(shapes)' = ' 64 blend 4 256 56 blend 8 128 ' ]" \
    "err_has '^shmtune: blend is launched as tuned: 128.0 us, as it was 256.0 us$each'"
check "in the order of Thue and Morse" all \
    "[ '$(head -n 12 shapes | cut -d' ' -f3 | tr '\n' ' ')' = '256 128 128 256 128 256 256 128 128 256 256 128 ' ]"
FAKE_CUDA_LAG=70
export FAKE_CUDA_LAG
application opened load times=300 sum
check "nothing is waited for: it is as it was until the times are there" all \
    as_alone "[ '$(shapes)' = ' 187 blend 4 256 113 blend 8 128 ' ]" \
    "err_has 'blend is launched as tuned: 128.0 us'"
application opened load times=120 sum
check "and told when they never are" all as_alone \
    "err_has 'blend stays as it is: the program ended before its trial did, in which it made 104 of 104 launches; --no-trial'"
unset FAKE_CUDA_LAG
application opened load times=7 sum
check "a program may end before it" all as_alone \
    "err_has '^shmtune: blend stays as it is: the program ended before its trial did, in which it made 7 of 104 launches; --no-trial has it as tuned at once$'"
application opened load times=60 launch_short times=60 sum
check "launches of another size do not count" all as_alone \
    "[ '$(shapes)' = ' 65 blend 4 256 56 blend 8 128 ' ]" \
    "err_has 'blend is launched as tuned: 128.0 us'"
FAKE_CUDA_COST='blend 128 300'
export FAKE_CUDA_COST
application opened load times=120 sum
check "the one that is slower here is taken back" all as_alone \
    "[ '$(shapes)' = ' 68 blend 4 256 52 blend 8 128 ' ]" \
    "err_has '^shmtune: blend stays as it is: tuned it takes 300.0 us here, as it was 256.0 us$each'" \
    "err_lacks 'as tuned:'"
# near COST: neither by its own times; they are those of the second pattern
near() {
    FAKE_CUDA_COST=$1
    application opened load times=120 sum
    check "of one that is not clearly either the program's own time tells: $1" \
        all as_alone "err_has '^shmtune: blend: tuned it takes $2 us here, as it was 256.0 us (48 launches each): the program.s own time is to tell$'" \
        "err_has '^shmtune: blend stays as it is: the program ended before the joint trial did, in which it made 1 of at most 192 stretches$'" \
        "err_lacks 'launched as tuned'"
}
near 'blend 128 256' 256.0
near 'blend 128 246 20' '24[0-9].[0-9]'
near 'blend 128 270' 270.0
near 'blend 128 310 90' '[23][0-9.]*'
FAKE_CUDA_COST='blend 128 256'
application opened load times=120 sum quit
check "nor is it said, when the program ends at once, that it was never launched" \
    all as_alone "err_has '^shmtune: blend: tuned it takes'" \
    "err_lacks 'no launch of it'"
unset FAKE_CUDA_COST
SHMTUNE_LOG=$folder/trial.log
export SHMTUNE_LOG
application opened load times=120
check "the times go to the log" all as_alone err_empty \
    "grep -q '^shmtune: blend is launched as tuned: 128.0 us, as it was' trial.log"
unset SHMTUNE_LOG
application opened load times=120 graph times=5
check "a graph gets what was found" all as_alone \
    "err_lacks disturbed" \
    "[ '$(shapes)' = ' 64 blend 4 256 56 blend 8 128 5 blend 8 128 graph ' ]"
application opened load times=5 graph times=5
check "and before that what it was" all as_alone \
    "err_lacks disturbed" \
    "[ '$(shapes)' = ' 2 blend 4 256 5 blend 4 256 graph 3 blend 8 128 ' ]" \
    "err_has 'made 5 of 104 launches, others went into graphs; --no-trial'"
for call in EventCreate EventRecord EventElapsedTime; do
    for nth in 1 2 10 30; do
        FAKE_CUDA_FAIL=$call=1,$nth
        export FAKE_CUDA_FAIL
        application opened load times=120 sum
        check "without a time it stays: $call, $nth" all as_alone \
            "err_has 'blend stays as it is: its launches cannot be timed'" \
            "err_lacks 'as tuned'" \
            "[ '$(tail -n 20 shapes | sort | uniq -c | tr -s ' \n' ' ')' = ' 20 blend 4 256 ' ]"
    done
done
unset FAKE_CUDA_FAIL
FAKE_CUDA_FAIL=EventElapsedTime=1,9
export FAKE_CUDA_FAIL
application opened load times=120 sum
check "without one from a launch to the next its own times are enough" all \
    as_alone "err_has 'blend is launched as tuned: 128.0 us'"
unset FAKE_CUDA_FAIL
application opened load threads
check "three threads have one trial" all as_alone \
    "[ \"\$(grep -c '^shmtune: blend.*launches each' err)\" -eq 1 ]" \
    "[ \"\$(wc -l <shapes)\" -eq 600 ]" \
    "err_has 'blend\(: tuned it takes\| is launched as\| stays as it is: tuned\)'"

# Two at a time: cover takes longer behind a tuned blend.
mv taken blend_taken
mv tunings blend_tunings
run capture --propose -o taken -- "$fake/application" opened load mixed=1
tune_captured taken/blend-1 taken/cover-1
FAKE_CUDA_NEXT='blend 128 200'
export FAKE_CUDA_NEXT
application opened load mixed=120 sum
check "of two trials at a time none has the other's loss" all as_alone \
    "err_has 'blend is launched as tuned: 128.0 us, as it was 256.0 us$each'" \
    "err_has 'cover is launched as tuned: 164.0 us, as it was 356.0 us$each'"
unset FAKE_CUDA_NEXT
rm -r taken tunings
mv blend_taken taken
mv blend_tunings tunings

# What cannot be put back is told, and the program runs.
trial=--no-trial
# odd WHAT WHY: blend stays, for this reason
odd() {
    application opened load launch sum
    check "$1" all as_alone "err_has 'taken/blend-1 is left out: $2'" \
        "err_lacks 'as tuned'"
}
SHMTUNE_NVRTC=$folder/none.so XDG_CACHE_HOME=$folder/nothing
export SHMTUNE_NVRTC XDG_CACHE_HOME
odd "without a compiler the program runs as it is" '.*none.so'
unset SHMTUNE_NVRTC XDG_CACHE_HOME
set -- tunings/blend-1/*.yaml
cp "$1" kept.yaml
head -c 300 kept.yaml >"$1"
odd "so it does with a damaged tuning" "$1:14:"
sed 's/{n: 1000}/{n: 999}/' kept.yaml >"$1"
odd "one of another size is none" "$1 has not its size"
cp kept.yaml "$1"
mv taken/blend-1/program.cu .
odd "nor is a launch without its source" '.*program.cu'
mv program.cu taken/blend-1/
sed 's/value: 2.5/value: 3.5/' taken/blend-1/kernel.yaml >changed.yaml
cp changed.yaml taken/blend-1/kernel.yaml
odd "a tuning of another spec is none" "$1 was made for another spec"

run capture --count 2 --propose -o sizes -- "$fake/application" opened load \
    cover=100 cover=1000
for launch in 1 2; do
    tune_captured "sizes/cover-$launch"
    check "launch $launch of a kernel is tuned" all "exits 0" \
        "err_lacks 'removed'"
done
rm -f shapes
run run --captured sizes --no-trial -- "$fake/application" opened load \
    cover=100 cover=1000
check "and each has a tuning of its own" all "exits 0" \
    "err_lacks 'left out'" "err_lacks 'stays'" \
    "[ '$(shapes)' = ' 1 cover 16 64 1 cover 2 64 ' ]"
finish
