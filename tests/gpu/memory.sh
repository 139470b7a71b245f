#!/bin/sh
# SPDX-License-Identifier: MIT
#
# memory.sh BUILD: launches with buffers in managed memory and in pinned memory
# of the host are captured, made again, tuned and put back on device 0.  The
# programs are tests/fake/application.c, in each kind of memory, and memory.cu,
# which nvcc builds.  TAP.
set -u

. "$(dirname "$0")/programs.sh"

# What buffers have the addresses of lies elsewhere in the worker.
follow() { # NAME
    "$build/shmtune" capture --propose -o places -- ./application opened load \
        gather walk span keep_stale launch >out 2>err
    for kernel in gather walk span; do
        "$build/shmtune" tune places/$kernel-1 --device 0 \
            --strategy exhaustive -o addressed >log 2>&1
        status=$?
        count_right addressed/$kernel-1
        check "$1: $kernel finds what buffers have the addresses of" all \
            "grep -q '$kernel-1: made again it gives what' err" \
            "[ \$(grep -c ', at: 0x' places/$kernel-1/kernel.yaml) -ge 3 ]" \
            "[ $status -eq 0 ]" "[ $tried -ge 1 ]" "[ $right -eq $tried ]"
    done
    check "$1: what is gone is no address" \
        grep -q 'blend-1: made again it gives what' err
    sed 's/^/# /' err
    rm -rf places addressed
}

${CC:-cc} -O2 -I"$headers" -o application "$here/../fake/application.c" \
    -pthread -ldl >log 2>&1
check "the program is built" [ -x application ]
APPLICATION_MEMORY=
export APPLICATION_MEMORY
./application opened load launch cover=100000 sum >device 2>err
follow device

for memory in managed host combined registered; do
    APPLICATION_MEMORY=$memory
    what='memory of the host'
    [ $memory != managed ] || what='managed memory'
    ./application opened load launch cover=100000 sum >alone 2>err
    "$build/shmtune" capture --propose -o $memory -- ./application opened \
        load launch cover=100000 sum >out 2>err
    status=$?
    check "$memory: the program runs as it does alone" all \
        "[ $status -eq 0 ]" "[ -s alone ]" "cmp -s alone out" \
        "cmp -s alone device"
    check "$memory: made again it gives the same" all \
        "grep -q 'blend-1: made again it gives .* got; in-out: y$' err" \
        "grep -q 'cover-1: made again it gives .* got; output: z$' err" \
        "grep -q 'y: {type: f32, role: inout, count: n, fill' $memory/blend-1/kernel.yaml" \
        "grep -q 'z: {type: f32, role: output, count: n, expect' $memory/cover-1/kernel.yaml"
    check "$memory: it says that times have no bus in them" all \
        "grep -q 'blend-1: y, x, memory_2: $what in the application' err" \
        "grep -qi '  # $what in the application: no time here' $memory/blend-1/kernel.yaml"
    sed 's/^/# /' err
    for kernel in blend cover; do
        "$build/shmtune" check $memory/$kernel-1 >log 2>&1
        check "$memory: $kernel is a spec" [ $? -eq 0 ]
        "$build/shmtune" tune $memory/$kernel-1 --device 0 \
            --strategy exhaustive -o tuned-$memory >log 2>&1
        status=$?
        count_right tuned-$memory/$kernel-1
        check "$memory: $kernel is tuned, all $right are right" all \
            "[ $status -eq 0 ]" "[ $tried -ge 3 ]" "[ $right -eq $tried ]"
    done
    "$build/shmtune" run --captured $memory --tunings tuned-$memory \
        --no-trial -- ./application opened load launch cover=100000 sum \
        >out 2>err
    check "$memory: and put back, it computes the same" all \
        "cmp -s alone out" "grep -q 'as tuned\|own configuration won' err"
    sed 's/^/# /' err
    ./application opened load times=400 sum >alone 2>err
    "$build/shmtune" run --captured $memory --tunings tuned-$memory -- \
        ./application opened load times=400 sum >out 2>err
    check "$memory: and tried there, the same" all "cmp -s alone out" \
        "grep -q 'as tuned: .* us\|tuned it takes .* us\|configuration won' err"
    sed 's/^/# /' err

    follow $memory
done

if [ -z "$nvcc" ] || ! "$nvcc" -O2 -arch=native -o program \
    "$here/memory.cu" -ldl >log 2>&1; then
    skip "a program of nvcc's" "no nvcc that builds programs"
else
    ./program ask 2>err | sed 's/^/# /'
    ./program >alone 2>err
    "$build/shmtune" capture -k add_pair --skip 1 --propose --source \
        "$here/memory.cu" -o taken -- ./program >out 2>err
    status=$?
    check "of the runtime: the program runs as it does alone" all \
        "[ $status -eq 3 ]" "grep -q '^sum ' alone" "cmp -s alone out"
    check "its launch is made again, in both kinds of memory" all \
        "grep -q 'add_pair-1: made again it gives what .* got; ' err" \
        "[ \$(grep -c '# Managed memory in the application' taken/add_pair-1/kernel.yaml) -eq 2 ]" \
        "[ \$(grep -c '# Memory of the host in the' taken/add_pair-1/kernel.yaml) -eq 1 ]" \
        "[ \$(grep -c 'bytes: 400000$' taken/add_pair-1/launch.yaml) -eq 3 ]" \
        "grep -q 'z: {type: f32, role: output, count: n, expect' taken/add_pair-1/kernel.yaml"
    sed 's/^/# /' err
    "$build/shmtune" check taken/add_pair-1 >log 2>&1
    check "it is a spec, unedited" [ $? -eq 0 ]
    "$build/shmtune" tune taken/add_pair-1 --device 0 --strategy exhaustive \
        -o tuned >log 2>&1
    status=$?
    count_right tuned/add_pair-1
    check "it is tuned, all $right are right" all "[ $status -eq 0 ]" \
        "[ $tried -ge 3 ]" "[ $right -eq $tried ]"
    sed 's/^/# /' log | grep 'x default' -A 1
    for launches in 3 400; do
        ./program $launches >alone 2>err
        "$build/shmtune" run --captured taken --tunings tuned -- \
            ./program $launches >out 2>err
        status=$?
        check "and put back for $launches launches, it computes the same" \
            all "[ $status -eq 3 ]" "cmp -s alone out"
        sed 's/^/# /' err
    done
fi
finish
