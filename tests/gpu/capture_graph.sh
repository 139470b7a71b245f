#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture_graph.sh BUILD: programs that launch their kernels by CUDA graphs run
# under `shmtune capture` as they do alone, and their launches are captured, made
# again and tuned on device 0.  The programs are tests/fake/graphed.c, and
# capture_graph.cu, which nvcc builds.  TAP.
set -u

. "$(dirname "$0")/programs.sh"

kernels=$here/../fake/data/chain.cu
${CC:-cc} -O2 -I"$headers" -o graphed "$here/../fake/graphed.c" -ldl >log 2>&1
check "the program of the driver is built" [ -x graphed ]

# graphed NAME OPTIONS WAY STEP...: alone, then captured
graphed() {
    name=$1 options=$2 way=$3
    shift 3
    rm -rf taken
    ./graphed "$way" "$kernels" "$@" >alone 2>err
    alone=$?
    # shellcheck disable=SC2086
    "$build/shmtune" capture $options -o taken -- ./graphed "$way" "$kernels" \
        "$@" >out 2>err
    status=$?
    check "$name: the program runs as it does alone" all "[ $alone -eq 0 ]" \
        "[ $status -eq 0 ]" "[ -s alone ]" "cmp -s alone out"
    sed 's/^/# /' err
}
again() { grep -q "$1: made again it gives what" err; }
has() { grep -qF -e "$2" "taken/$1/kernel.yaml"; }

for way in opened runtime own old; do
    graphed "$way, recorded" "-k many --skip 1 --count 2" "$way" load record \
        instantiate drop launch launch update launch launch end
    check "$way: its launches are captured as they were" all "again many-1" \
        "again many-2" "has many-1 'a: {type: f32, value: 3'" \
        "has many-2 'a: {type: f32, value: 11'"
    graphed "$way, built" "--count 3" "$way" load build instantiate launch \
        change launch set launch drop launch end
    check "$way: of a graph that is changed, too" all "again cover-3" \
        "again many-1" "again many-2" "again plenty-3" \
        "has many-1 'a: {type: f32, value: 3'" \
        "has many-2 'a: {type: f32, value: 7'"
done
for made in record build; do
    graphed "a library, $made" "" runtime library $made instantiate drop \
        launch end
    check "a library, $made: its source is known" all "again many-1" \
        "grep -q 'many-1: the launch, its source and' err"
done
graphed "events" "" runtime load record event instantiate launch end
check "events: it is left out by name" \
    grep -q 'many .* is left out: its graph has events' err
graphed "for the device" "" runtime load build device launch end
check "for the device: it is left out by name" \
    grep -q 'many .* is left out: its graph may be launched by the dev' err
graphed "in another graph" "" runtime load record instantiate into launch end
check "in another graph: it is captured by itself" all "again many-1" \
    "grep -q '^captured [1-9]' out"
graphed "switched off" "" runtime load build instantiate disable launch end
check "switched off: it is left out by name" \
    grep -q 'many .* is left out: its graph was changed' err

build_program() {
    [ -n "$nvcc" ] && "$nvcc" -O2 -arch=native "$@" -o program \
        "$here/capture_graph.cu" >log 2>&1
}

if ! build_program -cudart static; then
    skip "a program of nvcc's" "no nvcc that builds programs"
    finish
    exit 0
fi
LD_LIBRARY_PATH=$(dirname "$FAKE_NVRTC_REAL"):$(dirname "$nvcc")/../lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
for way in static shared "static per-thread"; do
    flags="-cudart ${way%% *}"
    [ "$way" = "${way#* }" ] || flags="$flags --default-stream per-thread"
    # shellcheck disable=SC2086
    build_program $flags
    ./program >alone 2>err
    rm -rf taken
    "$build/shmtune" capture -k scale --skip 1 --count 3 --propose --source \
        "$here/capture_graph.cu" -o taken -- ./program >out 2>err
    status=$?
    check "$way: the program runs as it does alone" all "[ $status -eq 3 ]" \
        "grep -q '^told 2$' alone" "cmp -s alone out"
    check "$way: each launch is captured as it was" all "again scale-1" \
        "again scale-2" "again scale-3" \
        "grep -q 'its source is .*/capture_graph.cu' err" \
        "has scale-1 'a: {type: f32, value: 0.5'" \
        "has scale-2 'a: {type: f32, value: 0.75'" \
        "has scale-3 'a: {type: f32, value: 0.25'"
    sed 's/^/# /' err
    for k in 1 2 3; do
        "$build/shmtune" check taken/scale-$k >log 2>&1
        check "$way: scale-$k is a spec" [ $? -eq 0 ]
    done
done
"$build/shmtune" tune taken/scale-1 --device 0 --strategy exhaustive \
    -o tuned >log 2>&1
status=$?
count_right tuned/scale-1
check "it is tuned, all $right are right" all "[ $status -eq 0 ]" \
    "[ $tried -ge 3 ]" "[ $right -eq $tried ]"
rm -rf taken
"$build/shmtune" capture --count 6 -o taken -- ./program >out 2>err
check "all launches of all graphs at once" all "cmp -s alone out" \
    "[ \$(ls -d taken/spread-* | wc -l) -eq 6 ]" \
    "[ \$(ls -d taken/scale-* | wc -l) -eq 6 ]" \
    "[ \$(ls -d taken/turn-* | wc -l) -eq 6 ]" "! grep 'left out' err"
sed 's/^/# /' err
# listed KERNEL LAUNCHES
listed() {
    grep -q "\"kernel\": \"$1\", [^}]*\"launches\": $2, \"in_graphs\": [0-9]*, \"untimed\": 0, \"us_each\": [0-9]" out
}
for way in "" reset; do
    # shellcheck disable=SC2086
    "$build/shmtune" capture --list --json -- ./program $way >out 2>err
    check "a list counts and times them${way:+, $way}" all \
        "listed spread 6" "listed scale 24" "listed turn 11" \
        "sed '\$d' out | sed '/^\$/d' | cmp -s - alone"
done
"$build/shmtune" capture --list -- ./program >out 2>err
sed -n '/share/,$s/^/# /p' out

# The same launches by a graph and directly.
for step in launch direct; do
    # shellcheck disable=SC2046
    "$build/shmtune" capture --list -- ./graphed runtime "$kernels" load \
        record instantiate $(yes $step | head -n 40) end >out 2>err
    check "a list of launches by $step has times" \
        grep -q '%  *[0-9.]*  *40  *[0-9.]*  .* many' out
    sed -n "/share/,\$s/^/# $step: /p" out
done

# Put back: one of which it is sure that it wins, which waits for nothing.
tune_rounds() { # FOLDER
    sed '/ROUNDS/d
    s/^parameters:/&\n  ROUNDS: {values: [1, 20], default: 20, override: true}/' \
        "taken/$1/kernel.yaml" >other
    cp other "taken/$1/kernel.yaml"
    "$build/shmtune" tune "taken/$1" --device 0 --strategy exhaustive \
        -o tuned >log 2>&1 && grep -q 'ROUNDS=1\( \|$\)' log
}
# put_back OPTIONS PROGRAM...
put_back() {
    options=$1
    shift
    "$@" >alone 2>err
    alone=$?
    # shellcheck disable=SC2086
    "$build/shmtune" run --captured taken --tunings tuned $options -- "$@" \
        >out 2>err
    status=$?
}
rm -rf taken tuned
kernels=$here/rounds.cu
"$build/shmtune" capture -k many --propose -o taken -- ./graphed opened \
    "$kernels" load direct >out 2>err
check "a kernel is tuned for graphs" tune_rounds many-1
for way in opened runtime own old; do
    for made in "load record" "load build" "library build"; do
        # Nodes of CUDA 11 have functions alone.
        [ "$way $made" != "old library build" ] || continue
        # shellcheck disable=SC2086
        put_back --no-trial ./graphed $way "$kernels" $made instantiate drop \
            launch launch launch end
        check "$way, $made: the graph is launched as tuned" all \
            "[ $status -eq $alone ]" "[ -s alone ]" "cmp -s alone out" \
            "grep -q 'a graph with many is launched as tuned' err"
        [ $status -eq 0 ] || sed 's/^/# /' err
    done
done
# shellcheck disable=SC2046
put_back "" ./graphed runtime "$kernels" load record instantiate drop \
    $(yes launch | head -n 3000) end
check "it is tried, and is the faster one" all "cmp -s alone out" \
    "grep -q '^shmtune: a graph with many is launched as tuned: .* (48 launches each)' err" \
    "grep -q '^shmtune: a graph with many stays as tuned: ' err"
sed 's/^/# /' err
for made in build record; do
    put_back "--no-trial --any a" ./graphed runtime "$kernels" load $made \
        instantiate launch update launch itself launch update launch end
    check "$made: and when it is updated" all "[ $status -eq $alone ]" \
        "cmp -s alone out" "grep -q 'a graph with many is launched as tuned' err" \
        "[ $(grep -c 'update 0' out) -eq 3 ]"
    sed 's/^/# /' err
done
put_back --no-trial ./graphed runtime "$kernels" load build instantiate launch \
    change launch back launch disable launch update launch drop end
check "and as the program has it where that changes it" all \
    "cmp -s alone out" "grep -q 'a graph with many is launched as tuned' err"
sed 's/^/# /' err
rm -rf taken tuned
"$build/shmtune" capture -k scale --propose --source \
    "$here/capture_graph.cu" -o taken -- ./program >out 2>err
check "one of a program of the runtime's, too" tune_rounds scale-1
for way in static shared "static per-thread"; do
    flags="-cudart ${way%% *}"
    [ "$way" = "${way#* }" ] || flags="$flags --default-stream per-thread"
    # shellcheck disable=SC2086
    build_program $flags
    put_back "--no-trial --any a" ./program
    check "$way: its graphs are launched as tuned" all "[ $status -eq 3 ]" \
        "cmp -s alone out" "grep -q 'a graph with .*scale.* as tuned' err" \
        "grep -q 'scale.* and 1 more stays as it is where .* place of which' err"
    sed 's/^/# /' err
done
finish
