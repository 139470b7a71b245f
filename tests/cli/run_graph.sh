#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run_graph: tuned kernels are put into the graphs of an unchanged program, which
# are tried as a whole.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/put_back.sh"

kernels=$SHMT_SRCDIR/tests/fake/data/chain.cu
if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "a tuned kernel is put into a graph" "no NVRTC"
    finish
    exit 0
fi
run capture --propose -o taken -- "$fake/graphed" opened "$kernels" load direct
check "its kernels are captured" all "exits 0" "[ -d taken/many-1 ]"
tune_captured taken/many-1
check "one is tuned" all "exits 0" "out_has 'BLOCK=64'"

trial=
# graphed WAY STEP...: alone, then with what was tuned.  NUMBERxSTEP is that
# step so many times.
graphed() {
    way=$1
    shift
    steps=
    for step; do
        case $step in
        [0-9]*x*) steps="$steps $(yes "${step#*x}" | head -n "${step%%x*}" |
            tr '\n' ' ')" ;;
        *) steps="$steps $step" ;;
        esac
    done
    # shellcheck disable=SC2086
    env -u FAKE_CUDA_FAIL "$fake/graphed" "$way" "$kernels" $steps \
        >alone.out 2>alone.err
    alone=$?
    rm -f shapes left
    FAKE_CUDA_GRAPHS=$folder/left
    export FAKE_CUDA_GRAPHS
    # shellcheck disable=SC2086
    run run --captured taken $trial -- "$fake/graphed" "$way" "$kernels" $steps
    unset FAKE_CUDA_GRAPHS
}
# It ends as it does alone, and has left no graph.
whole() {
    as_alone && [ -s alone.out ] &&
        [ "$(cat left)" = "0 graphs, 0 executable" ]
}
# made SHAPES: how `many` was launched, and how often
made() {
    [ "$(grep '^many' shapes | sort | uniq -c | tr -s ' \n' ' ')" = " $1 " ] ||
        ! sort shapes | uniq -c | sed 's/^/# /'
}
# last SHAPE: of the last ten launches
# last_are SHAPES: one after the other
last_are() {
    [ "$(grep '^many' shapes | tail -n "$((${#1} / 15))" | tr '\n' ' ')" = "$1 " ]
}
last() { [ "$(grep '^many' shapes | tail -n 10 | sort -u)" = "$1" ]; }

trial=--no-trial
for way in opened runtime own old; do
    graphed "$way" load record instantiate drop 3xlaunch end
    check "$way: what is recorded becomes as tuned" all whole \
        "made '3 many 16 64 node 1 many 4 256 graph'" \
        "err_has '^shmtune: a graph with many is launched as tuned$'" \
        "err_has '^shmtune: many is tuned in a graph'" \
        "err_lacks 'no launch of it'"
    graphed "$way" load direct record instantiate drop launch end
    check "$way: or is recorded so, where the kernel was launched before" all \
        whole "made '1 many 16 64 1 many 16 64 graph 1 many 16 64 node'"
    graphed "$way" load build instantiate drop 3xlaunch end
    check "$way: and a node that is built becomes so" all whole \
        "made '3 many 16 64 node'" \
        "err_has '^shmtune: a graph with many is launched as tuned$'"
    graphed "$way" load build instantiate 2xlaunch change 2xlaunch drop end
    check "$way: one that the program changes is as the program has it" all \
        whole "made '2 many 16 64 node 2 many 5 256 node'" \
        "err_has 'many stays as it is: a launch of it has other sizes'"
done
graphed runtime load build instantiate 2xlaunch node 2xlaunch drop end
check "or changes by the function for nodes of any type" all whole \
    "made '2 many 16 64 node 2 many 5 256 node'"
graphed runtime library build instantiate drop 3xlaunch end
check "so does a kernel of a library" all whole "made '3 many 16 64 node'"
graphed runtime load twice instantiate drop 2xlaunch end
check "and two nodes of a kernel" all whole \
    "made '4 many 16 64 node 2 many 4 256 graph'" \
    "err_has '^shmtune: a graph with many and 1 more is launched as tuned$'"
graphed runtime load build instantiate 2xlaunch update 2xlaunch itself \
    2xlaunch end
check "one that is updated is as the other graph has it" all whole \
    "out_has '^update 0$'" "made '4 many 16 64 node 2 many 4 256 node'" \
    "last_are 'many 16 64 node many 16 64 node'"
graphed runtime load build instantiate 2xlaunch wrong 2xlaunch drop end
check "but not if it cannot be updated" all whole "out_has '^update 910$'" \
    "made '4 many 16 64 node'"
for attribute in cooperative cluster; do
    graphed runtime load build $attribute instantiate drop 2xlaunch end
    check "one that is launched so stays: $attribute" all whole \
        "made '2 many 4 256 node'" \
        "err_has '^shmtune: many stays as it is: a launch of it is cooperative, of clusters, or programmatic$'"
done
graphed runtime load build updatable instantiate drop 2xlaunch end
check "so does one that the device may change" all whole \
    "made '2 many 4 256 node'"
graphed runtime load apart build instantiate drop 3xlaunch end
check "graphs of two threads become as tuned" all whole \
    "made '6 many 16 64 node'" \
    "err_has '^shmtune: a graph with many is launched as tuned$'"
graphed runtime load build nest instantiate drop 2xlaunch end
check "a graph inside of a graph stays" all whole "made '2 many 4 256 node'"
graphed runtime load build device drop 2xlaunch end
check "a graph that the device may launch is launched as tuned by the host" \
    all whole "made '2 many 16 64 node'"
graphed runtime load build instantiate disable drop 2xlaunch end
check "what is switched off stays so" all whole "made '2 many 16 64 node'" \
    "[ '$(grep -c plenty shapes)' = 0 ]"
for back in back node_back; do
    graphed runtime load build instantiate launch change launch $back launch \
        drop end
    check "and is as tuned again when it is as it was: $back" all whole \
        "made '2 many 16 64 node 1 many 5 256 node'"
    # The third would be one as the program has it.
    FAKE_CUDA_FAIL=GraphExecKernelNodeSetParams=1,3
    export FAKE_CUDA_FAIL
    graphed runtime load build instantiate launch $back launch drop end
    check "one that is tuned is changed once: $back" all whole \
        "made '2 many 16 64 node'" "err_lacks 'it fails'"
    FAKE_CUDA_FAIL=GraphExecKernelNodeSetParams=1,2
    graphed runtime load build instantiate launch $back launch drop end
    check "and as the program has it where that fails: $back" all whole \
        "made '2 many 16 64 node'" "err_lacks 'it fails'"
    unset FAKE_CUDA_FAIL
done
for way in opened runtime own old; do
    graphed "$way" load build instantiate launch nothing launch drop end
    check "$way: what is no change is the driver's to refuse" all whole \
        "out_has '^nothing 1 1$'" "made '2 many 16 64 node'"
done
graphed runtime load build cooperative instantiate launch back launch drop end
check "what a node is given leaves it cooperative" all whole \
    "made '2 many 4 256 node'"
graphed runtime load build instantiate into launch drop end
check "a graph is not launched into another" all whole \
    "out_has '^captured 900$'" "made '2 many 16 64 node'"
trial="--no-trial --any a"
graphed runtime load build instantiate launch change launch drop end
check "with --any the sizes decide" all whole \
    "made '1 many 16 64 node 1 many 5 256 node'"
for way in opened runtime own old; do
    for made in build record; do
        graphed "$way" load $made instantiate drop 2xlaunch update 2xlaunch end
        check "$way, $made: and of one that is updated, too" all whole \
            "out_has '^update 0$'" "last_are 'many 16 64 node many 16 64 node'"
    done
done
graphed runtime load build instantiate launch change launch update launch drop \
    end
check "and what was changed before" all whole \
    "made '2 many 16 64 node 1 many 5 256 node'"
graphed runtime load build instantiate 2xlaunch across 2xlaunch update launch \
    drop end
check "not by one that has its nodes in another order" all whole \
    "made '3 many 16 64 node 2 many 4 256 node'" \
    "err_has '^shmtune: a graph with many stays as it is where it is updated by one of which it is not known which node is in the place of which$'"
for call in GraphGetNodes=1,3 GraphNodeGetDependencies=1,7 \
    GraphNodeGetType=1,5 GraphKernelNodeGetParams=1,4; do
    FAKE_CUDA_FAIL=$call
    export FAKE_CUDA_FAIL
    graphed runtime load build instantiate drop 2xlaunch update 2xlaunch end
    check "${call%=*} fails: it is not replaced where it is updated" all whole \
        "made '2 many 16 64 node 2 many 4 256 node'"
done
unset FAKE_CUDA_FAIL
trial=--no-trial
for call in GraphGetNodes GraphNodeGetType GraphKernelNodeGetParams; do
    FAKE_CUDA_FAIL=$call=1
    export FAKE_CUDA_FAIL
    graphed runtime load build instantiate drop 2xlaunch end
    check "$call fails: it stays as it is" all whole \
        "made '2 many 4 256 node'"
done
FAKE_CUDA_FAIL=GraphExecKernelNodeSetParams=1
graphed runtime load build instantiate drop 2xlaunch end
check "so it does where the driver changes no node" all whole \
    "made '2 many 4 256 node'" \
    "err_has '^shmtune: a graph with many stays as it is: a launch of it fails, by CUDA_ERROR_INVALID_VALUE$'"
FAKE_CUDA_FAIL=GraphExecKernelNodeSetParams=1,2
graphed runtime load twice instantiate drop 2xlaunch end
check "or not all of them" all whole \
    "made '2 many 4 256 graph 4 many 4 256 node'"
FAKE_CUDA_FAIL=GraphLaunch=1,2
graphed runtime load build instantiate drop 3xlaunch end
check "or does not launch it then" all as_alone "exits 0" \
    "made '1 many 16 64 node 2 many 4 256 node'" \
    "err_has 'a graph with many stays as it is: a launch of it fails, by CUDA_'"
unset FAKE_CUDA_FAIL

# With a trial: 104 launches, half of them as tuned.
trial=
graphed runtime load record instantiate drop 120xlaunch end
check "a graph is tried, and stays as tuned where that is faster" all whole \
    "err_has '^shmtune: a graph with many is launched as tuned: [0-9.]* us, as it was [0-9.]* us (48 launches each)$'" \
    "made '56 many 16 64 node 1 many 4 256 graph 64 many 4 256 node'" \
    "err_lacks 'no launch of it'"
graphed runtime load record instantiate drop 120xlaunch end record instantiate \
    drop 2xlaunch end
check "what is recorded then is recorded as tuned" all whole \
    "[ '$(grep '^many' shapes | tail -n 3 | tr '\n' ' ')' = 'many 16 64 graph many 16 64 node many 16 64 node ' ]"
graphed runtime load build instantiate drop 3000xlaunch end build instantiate \
    drop 2xlaunch end
check "and another graph with the same kernels is as tuned" all whole \
    "last 'many 16 64 node'" "[ \"\$(grep -c 'launches each' err)\" = 1 ]"
FAKE_CUDA_COST='many 64 900'
export FAKE_CUDA_COST
graphed runtime load record instantiate drop 120xlaunch end
check "one that is slower goes back to as it was" all whole \
    "err_has '^shmtune: a graph with many stays as it is: tuned it takes [0-9.]* us here, as it was'" \
    "made '52 many 16 64 node 1 many 4 256 graph 68 many 4 256 node'" \
    "last 'many 4 256 node'"
FAKE_CUDA_COST='many 64 250 20'
graphed runtime load record instantiate drop 3000xlaunch end
check "one that is near waits for the program's own time" all whole \
    "err_has '^shmtune: a graph with many: tuned it takes .* own time is to tell$'" \
    "err_has '^shmtune: a graph with many stays as tuned: [0-9.]* us pass from'" \
    "last 'many 16 64 node'"
unset FAKE_CUDA_COST
trial="--any a"
graphed runtime load build instantiate drop 50xlaunch update 70xlaunch end
check "an update is nothing to the trial" all whole \
    "err_has '^shmtune: a graph with many is launched as tuned: .* (48 launches each)$'" \
    "made '56 many 16 64 node 64 many 4 256 node'"
trial=
for before in copy host child; do
    graphed runtime load build_$before instantiate 50xlaunch set 70xlaunch drop \
        end
    check "a $before that is changed is nothing to the trial" all whole \
        "err_has '^shmtune: a graph with many is launched as tuned: .* (48 launches each)$'" \
        "made '56 many 16 64 node 64 many 4 256 node'"
done
for changed in change node; do
    graphed runtime load build instantiate 20xlaunch $changed 20xlaunch drop end
    check "a kernel that is changed is tried no more: $changed" all whole \
        "last 'many 5 256 node'"
done
graphed runtime load record instantiate drop 20xlaunch end
check "a program that ends before is told" all whole \
    "err_has 'a graph with many stays as it is: the program ended before its trial did, in which it made 20 of 104 launches; --no-trial'"
graphed runtime load direct record instantiate drop 120xlaunch end
check "what is launched once besides is told of that alone" all whole \
    "err_has '^shmtune: a graph with many is launched as tuned'" \
    "err_has '^shmtune: many stays as it is outside of graphs: the program ended before its trial did, in which it made 1 of 104 launches; --no-trial'"
for nth in 1 60; do
    FAKE_CUDA_FAIL=GraphExecKernelNodeSetParams=1,$nth
    export FAKE_CUDA_FAIL
    graphed runtime load build instantiate drop 120xlaunch end
    check "a node that cannot be changed ends the trial: $nth" all whole \
        "err_has '^shmtune: a graph with many stays as it is: a launch of it fails, by'" \
        "last 'many 4 256 node'"
done
unset FAKE_CUDA_FAIL
finish
