#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: kernels that a program launches by graphs are captured when the graph
# is launched, and the program computes what it does alone.  On the fake driver.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "launches in graphs are captured" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA
kernels=$SHMT_SRCDIR/tests/fake/data/chain.cu

# graphed WAY STEP...: alone, then captured into the folder `taken`
graphed() {
    way=$1
    shift
    "$fake/graphed" "$way" "$kernels" "$@" >alone
    rm -rf taken left launched
    FAKE_CUDA_GRAPHS=$folder/left
    FAKE_CUDA_LAUNCHES=$folder/launched
    export FAKE_CUDA_GRAPHS FAKE_CUDA_LAUNCHES
    # shellcheck disable=SC2086
    run capture --no-rerun ${options-} -o taken -- "$fake/graphed" "$way" \
        "$kernels" "$@"
    unset FAKE_CUDA_GRAPHS FAKE_CUDA_LAUNCHES
}
# It ends as it does alone, and nobody has left a graph.
as_alone() {
    exits 0 && [ -s alone ] && cmp -s alone out &&
        [ "$(cat left)" = "0 graphs, 0 executable" ]
}
none() { [ -d taken ] && [ -z "$(ls taken)" ]; }
# numbers FILE: the first three reals of it
numbers() { gzip -dc "taken/$1" | od -An -tf4 -N12 | tr -s ' \n' ' '; }
# The program puts 0, 1, 2... into the first buffer, one more each launch;
# `cover` makes it 2, `many` 3, and `plenty` 5 times as much.
holds() { [ "$(numbers "$1")" = " $2 " ] || ! numbers "$1" | sed 's/^/# /'; }

for way in opened runtime own old; do
    options="-k many"
    graphed "$way" load record instantiate drop launch launch end
    check "$way: a program that records a graph runs as it does alone" \
        as_alone
    check "$way: a kernel in its middle is captured, with its source" all \
        "err_has 'many-1: the launch, its source and its buffers'" \
        "[ \"\$(ls taken)\" = many-1 ]" "err_lacks 'left out'"
    check "$way: it reads what the kernel before it wrote" all \
        "holds many-1/memory-1.before.gz '0 2 4'" \
        "holds many-1/memory-0.before.gz '0 0 0'" \
        "holds many-1/memory-0.after.gz '0 6 12'"
    options="-k many --skip 1 --count 2"
    graphed "$way" load build instantiate launch launch change launch drop end
    check "$way: --skip and --count are of the launches of a node" all \
        as_alone "[ \"\$(ls taken | tr '\n' ' ')\" = 'many-1 many-2 ' ]" \
        "holds many-1/memory-1.before.gz '2 4 6'"
    check "$way: what is before it in the graph is done, however it is listed" \
        holds many-1/memory-0.before.gz '3 3 3'
    check "$way: a node that is changed alone is captured as it is then" all \
        "holds many-2/memory-1.before.gz '4 6 8'" \
        "grep -q '^grid: .5, 1, 1.$' taken/many-2/launch.yaml" \
        "holds many-2/memory-0.after.gz '28 42 56'"
    options="-k many --skip 1"
    graphed "$way" load record instantiate drop launch update launch end
    check "$way: so is one of a graph that another has changed" all as_alone \
        "out_has '^update 0$'" "holds many-1/memory-1.before.gz '2 4 6'" \
        "holds many-1/memory-0.after.gz '22 44 66'"
done
run check taken/many-1
check "what was captured is a spec" exits 0

options="--count 2"
graphed runtime load build instantiate launch launch launch end drop
check "all kernels of a graph are captured in turn" all as_alone \
    "[ \$(ls taken | wc -l) -eq 6 ]" \
    "holds cover-1/memory-0.after.gz '0 2 4'" \
    "holds plenty-2/memory-1.before.gz '6 12 18'" \
    "holds plenty-2/memory-0.after.gz '30 60 90'"
check "each is launched as often as it is alone" \
    [ "$(sort launched | uniq -c | tr -s ' \n' ' ')" = \
    " 3 cover 3 many 3 plenty " ]
options="-k many --skip 1 --count 3"
graphed runtime load twice instantiate launch launch end drop
check "two nodes of a kernel are two launches, in the order of the graph" all \
    as_alone "[ \$(ls taken | wc -l) -eq 3 ]" \
    "holds many-1/memory-0.before.gz '0 6 12'" \
    "holds many-2/memory-0.after.gz '6 12 18'" \
    "holds many-3/memory-0.before.gz '6 12 18'"
options="-k many"
graphed runtime load record instantiate drop launch launch
check "when all is captured nothing more is kept than the program has" all \
    "exits 0" "grep -q '^1 graphs, 1 executable$' left" "[ -d taken/many-1 ]"
graphed runtime load record flags drop launch end
check "one that is made executable with flags, too" all as_alone \
    "holds many-1/memory-1.before.gz '0 2 4'"
graphed runtime load build params set launch end drop
check "a memset that is changed alone is what is done" all as_alone \
    "holds many-1/memory-0.before.gz '4 4 4'"
for way in opened runtime; do
    graphed "$way" load build_copy instantiate set launch end drop
    check "$way: so is a copy" all as_alone \
        "holds many-1/memory-0.before.gz '4 4 4'"
    graphed "$way" load build_host instantiate set launch end drop
    check "$way: and a function of the host" all as_alone "out_has '^host 4$'" \
        "holds many-1/memory-0.after.gz '0 6 12'"
    graphed "$way" load build instantiate node launch end drop
    check "$way: and a kernel, by the function for nodes of any type" all \
        as_alone "grep -q '^grid: .5, 1, 1.$' taken/many-1/launch.yaml" \
        "holds many-1/memory-0.after.gz '0 14 28'"
    graphed "$way" load build_child instantiate launch end drop
    check "$way: a graph inside of it is done before" all as_alone \
        "holds many-1/memory-0.before.gz '3 3 3'"
    graphed "$way" load build_child instantiate set launch end drop
    check "$way: and one that is exchanged is not followed" all as_alone none \
        "err_has 'many .* left out: its graph was changed in a way that is not'"
done
graphed runtime load build empty instantiate launch end drop
check "a node that does nothing is no trouble" all as_alone \
    "holds many-1/memory-0.after.gz '0 6 12'"
graphed runtime load build cooperative instantiate launch end drop
check "a cooperative node is a cooperative launch" all as_alone \
    "grep -q '^cooperative: true$' taken/many-1/launch.yaml" \
    "grep -q '^cluster: .0, 0, 0.$' taken/many-1/launch.yaml"
graphed runtime load build cluster instantiate launch end drop
check "and one with clusters has them" all as_alone \
    "grep -q '^cooperative: false$' taken/many-1/launch.yaml" \
    "grep -q '^cluster: .2, 1, 1.$' taken/many-1/launch.yaml"
options="-k many --count 4"
graphed runtime load apart build instantiate launch launch end drop
for k in 1 2 3 4; do
    echo "$(numbers many-$k/memory-1.before.gz)" \
        "->$(numbers many-$k/memory-0.after.gz)"
done | sort -n >pairs
check "graphs of two threads are captured, each with its own data" all as_alone \
    "[ \"\$(tr -s ' \\n' ' ' <pairs)\" = ' 0 2 4 -> 0 6 12 2 4 6 -> 6 12 18 20 22 24 -> 60 66 72 22 24 26 -> 66 72 78 ' ]"
options="-k many"
for made in "record instantiate" "build instantiate change"; do
    # shellcheck disable=SC2086
    graphed runtime library $made drop launch end
    check "a kernel of a library has its source in a node's function: $made" \
        all as_alone "err_has 'many-1: the launch, its source and its buffers'"
done
options="-k many --skip 1"
graphed runtime load record instantiate direct launch direct launch end drop
check "launches that are recorded count as none" all as_alone \
    "holds many-1/memory-1.before.gz '2 4 6'"
graphed runtime load build instantiate wrong launch launch end drop
check "a graph that cannot be updated is as it was" all as_alone \
    "out_has '^update 910$'" "holds many-1/memory-0.after.gz '6 12 18'"

options=
graphed runtime load record drop
check "what is in a graph of which no launch is seen is told" all "exits 0" \
    none "err_has 'many is left out: it is captured into a graph, and no'"
# The fifth graph that is made executable would be a part of the second launch.
options="-k many --max-bytes 100"
FAKE_CUDA_FAIL=GraphInstantiate=1,5
export FAKE_CUDA_FAIL
graphed runtime load record instantiate launch launch launch end drop
check "what is left out is not tried again" all as_alone none \
    "err_has 'many (grid 4 x 1 x 1) is left out: .*--max-bytes'" \
    "err_lacks 'cannot be launched in parts'"
unset FAKE_CUDA_FAIL
options=
graphed runtime load record event instantiate launch end drop
check "what cannot be launched in parts is launched as it was, by name" all \
    as_alone none "err_has 'many (grid 4 x 1 x 1) is left out: its graph has events$'"
graphed runtime load build device launch end drop
check "so is what the device may launch" all as_alone none \
    "err_has 'many .* is left out: its graph may be launched by the device'"
graphed runtime load build updatable instantiate launch end drop
check "and what the device may change" all as_alone none \
    "err_has 'many .* left out: its graph has nodes that the device changes$'"
while read -r step why; do
    graphed runtime load record "$step" instantiate launch end drop
    check "and a graph that $why: $step" all as_alone none \
        "err_has 'many (grid 4 x 1 x 1) is left out: its graph $why$'"
done <<EOF
wait has events
signal has semaphores
semaphore has semaphores
allocation allocates or frees memory
free allocates or frees memory
operation has operations on memory
condition has conditions
unknown has nodes of a type that is not known
EOF
graphed runtime load build nest instantiate launch end drop
check "and a graph in a graph" all as_alone none \
    "err_has 'many .* left out: it is in a graph inside of its graph'"
graphed runtime load record instantiate into launch end drop
check "one that cannot be launched into another is captured by itself" all \
    as_alone "out_has '^captured 900$'" "[ -d taken/many-1 ]"
graphed runtime load build instantiate disable launch end drop
check "and what is switched off" all as_alone none \
    "err_has 'many .* left out: its graph was changed in a way that is not'"
graphed runtime load build instantiate disable update launch end drop
check "which it stays when it is updated" all as_alone none \
    "err_has 'many .* left out: its graph was changed in a way that is not'"
graphed runtime load build instantiate update change launch end drop
check "and what is changed by the nodes of another graph than the last" all \
    as_alone none "err_has 'many .* left out: its graph was changed in a way'"
options="-k many"
for way in opened runtime own old; do
    graphed "$way" load build_first instantiate function launch end drop
    check "$way: and a kernel that a graph has only by a change of it" all \
        as_alone none \
        "err_has 'many (grid 4 x 1 x 1) .* left out: its graph was changed in a'"
done
graphed runtime load build_first instantiate node_function launch end drop
check "and one that it has by a change of a node of any type" all as_alone none \
    "err_has 'many (grid 4 x 1 x 1) .* left out: its graph was changed in a'"
graphed runtime load build_first instantiate function update launch end drop
check "until it is updated" all as_alone none "out_has '^update 0$'" \
    "err_lacks 'left out'"
options="-k cover"
graphed runtime load build_first device function launch end drop
check "a kernel that is there no more is not spoken of" all as_alone none \
    "err_lacks 'left out'"
options=
FAKE_CUDA_FAIL=GraphGetNodes=1,1
export FAKE_CUDA_FAIL
graphed runtime load build instantiate disable update launch end drop
unset FAKE_CUDA_FAIL
check "and of a graph that was not known before" all as_alone none \
    "err_has 'many .* left out: its graph was changed in a way that is not'"
options="-k other"
graphed runtime load build instantiate change launch drop
check "a graph that nobody asked for is let pass, and no copy of it kept" all \
    "exits 0" "cmp -s alone out" none "err_lacks 'left out'" \
    "grep -q '^1 graphs, 1 executable$' left"
options="-k many"
for failing in GraphGetNodes=1,3 GraphGetNodes=1,4 GraphNodeGetType=1 \
    GraphKernelNodeGetParams=1 GraphKernelNodeGetParams=1,5; do
    FAKE_CUDA_FAIL=$failing
    export FAKE_CUDA_FAIL
    graphed runtime load record instantiate launch launch end drop
    unset FAKE_CUDA_FAIL
    check "$failing: what a graph has is not known, which is told" all \
        as_alone none \
        "err_has '^shmtune: a graph is left out: the driver does not say what'"
done
FAKE_CUDA_FAIL=GraphGetNodes=1,5
export FAKE_CUDA_FAIL
graphed runtime load build instantiate change launch launch end drop
unset FAKE_CUDA_FAIL
check "nor is it where the graph was changed" all as_alone none \
    "err_has '^shmtune: a graph is left out: the driver does not say what'"
for failing in GraphClone=1 GraphClone=1,2 GraphInstantiate=2,2 \
    GraphUpload=2 GraphDestroyNode=1 GraphNodeGetDependencies=1 GraphExecGetFlags=1; do
    FAKE_CUDA_FAIL=$failing
    export FAKE_CUDA_FAIL
    graphed runtime load record instantiate launch launch end drop
    unset FAKE_CUDA_FAIL
    check "$failing is nothing to the program" all as_alone \
        "err_has 'many (grid 4 x 1 x 1) is left out: '"
done
FAKE_CUDA_FAIL=GraphLaunch=700
export FAKE_CUDA_FAIL
graphed runtime load record instantiate launch launch end drop
check "a launch that fails is the program's own" all as_alone none \
    "out_has '^launch 700$'"
for failing in 1 2 3; do
    FAKE_CUDA_FAIL=GraphLaunch=700,$failing
    graphed runtime load record instantiate launch end drop
    check "part $failing that fails is a launch that fails" all "exits 0" \
        "out_has '^launch 700$'" "grep -q '^0 graphs, 0 executable$' left" \
        "[ $failing = 3 ] || none" "[ $failing != 3 ] || [ -d taken/many-1 ]"
done
unset FAKE_CUDA_FAIL

# listed STEP...: alone, then as a list; the sums are the same
listed() {
    "$fake/graphed" runtime "$kernels" "$@" >alone
    rm -f left
    FAKE_CUDA_GRAPHS=$folder/left
    export FAKE_CUDA_GRAPHS
    run capture --list --json -- "$fake/graphed" runtime "$kernels" "$@"
    unset FAKE_CUDA_GRAPHS
    tail -n 1 out >last
    sed '$d' out | sed '/^$/d' >rest
}
listed_as_alone() {
    exits 0 && cmp -s alone rest && err_lacks 'left out' &&
        [ "$(cat left)" = "0 graphs, 0 executable" ]
}
# row KERNEL LAUNCHES IN_GRAPHS UNTIMED US
row() {
    grep -q "\"kernel\": \"$1\", [^}]*\"launches\": $2, \"in_graphs\": $3, \"untimed\": $4, \"us_each\": $5, " last
}
FAKE_CUDA_COST="many 256 64"
export FAKE_CUDA_COST
listed load record instantiate launch launch direct launch end drop
check "a list times kernels in graphs, as others" all listed_as_alone \
    "row cover 4 3 0 256.0" "row many 4 3 0 64.0" "row plenty 4 3 0 256.0"
# shellcheck disable=SC2046
listed load twice instantiate $(yes launch | head -n 20) end drop
check "the first ones of each; the others are counted" all listed_as_alone \
    "row cover 40 40 8 256.0" "row many 40 40 8 64.0"
# shellcheck disable=SC2046
run capture --list -- "$fake/graphed" runtime "$kernels" load twice \
    instantiate $(yes launch | head -n 20)
check "which the list says" out_has ' 40  *64.00  .* many (not all timed)$'
listed load much instantiate launch end drop
check "no more than sixteen of a launch, and of each kernel some" all \
    listed_as_alone "row cover 21 21 7 256.0" "row many 1 1 0 64.0" \
    "row plenty 1 1 0 256.0"
listed load record direct
check "what is only recorded counts as none" all "exits 0" \
    "row many 1 0 0 64.0" "err_lacks 'left out'"
listed load build instantiate launch change launch launch end drop
check "as they are when they are launched" all listed_as_alone \
    "row many 3 3 0 64.0" "grep -q '\"last_grid\": .5, 1, 1.' last"
for steps in "build nest instantiate" "build device" \
    "record event instantiate" "build device change"; do
    # shellcheck disable=SC2086
    listed load $steps launch launch end drop
    check "where it is not launched in parts they are counted: $steps" all \
        listed_as_alone "row many 2 2 2 null"
done
run capture --list --json -k many -- "$fake/graphed" runtime "$kernels" load \
    build_first instantiate function launch launch end drop
tail -n 1 out >last
check "and what came into a graph that had nothing" all "exits 0" \
    "row many 2 2 2 null"
for failing in GraphClone=1 GraphInstantiate=2,3; do
    FAKE_CUDA_FAIL=$failing
    export FAKE_CUDA_FAIL
    listed load record instantiate launch end drop
    unset FAKE_CUDA_FAIL
    check "and where parts cannot be made: $failing" all listed_as_alone \
        "row cover 1 1 1 null" "row many 1 1 1 null"
done
listed library build instantiate launch end drop unload \
    library build instantiate launch end drop
check "a handle that is given again is counted for the kernel that it is of" \
    all listed_as_alone "row cover 2 2 0 256.0" "row many 2 2 0 64.0" \
    "row plenty 2 2 0 256.0"
options="-k many"
for list in "" listed; do
    ${list:-graphed runtime} library library unload build \
        instantiate launch end drop
    check "the driver is asked for nothing that is unloaded${list:+: a list}" \
        all "exits 0" "err_lacks 'what is unloaded'"
done
for way in opened runtime old; do
    run capture --list -- "$fake/graphed" "$way" "$kernels" load direct direct \
        direct reset
    check "$way: what the device did before it is reset is timed" all \
        "exits 0" "out_has ' 0.768  *3  *256.00 .* plenty$'"
done
FAKE_CUDA_LAG=3
export FAKE_CUDA_LAG
listed load direct release direct
unset FAKE_CUDA_LAG
check "a context that others have, too, is not gone when one releases it" all \
    "exits 0" "row cover 2 0 0 256.0" "row many 2 0 0 64.0"
check "what is read then disturbs no capture" err_lacks disturbed
finish
