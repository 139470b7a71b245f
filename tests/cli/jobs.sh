#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How many compile workers there are when nobody says it: as many as have a
# processor.  tests/fake/worker plays them, and notes which of them worked.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
FAKE_WORKER_LOG=$folder/log
FAKE_WORKER_BUSY_MS=20
FAKE_WORKER_COMPILE_MS=20000
FAKE_WORKER_BUSY_UNTIL=$folder/go
export FAKE_WORKER_LOG FAKE_WORKER_BUSY_MS FAKE_WORKER_COMPILE_MS \
    FAKE_WORKER_BUSY_UNTIL build folder

# compiling: how many workers have had something to compile
compiling() { sed -n 's/^inspect .* by //p' log 2>/dev/null | sort -u | wc -l; }
# tune COUNT [PREFIX]...: a run in which nothing is compiled before so many
# workers compile, or ten seconds are over, and one more, in which another would
# compile: $status, $compilers
tune() {
    awaited=$1
    shift
    rm -rf tunings log go
    "$@" "$build/shmtune" toy --size n=4096 --budget 20 -q >out 2>err \
        </dev/null &
    for _ in $(seq 100); do
        [ "$(compiling)" -lt "$awaited" ] || break
        sleep 0.1
    done
    sleep 1
    touch go
    wait $!
    status=$?
    compilers=$(compiling)
}

tune 2 env
if [ "$compilers" -lt 2 ]; then
    skip "one that may run" "there is one processor"
else
    first=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' \
        /proc/self/status)
    if taskset -c "$first" true 2>/dev/null; then
        tune 1 taskset -c "$first"
        check "one processor is allowed: one worker" all 'exits 0' \
            '[ $compilers -eq 1 ]'
    else
        skip "one processor is allowed: one worker" "no taskset(1) here"
    fi
    # limited TEXT PREFIX...: in a container of that limit.
    cat >limited <<'END'
limit=$1
shift
mount -t tmpfs none /sys/fs/cgroup && echo "$limit" >/sys/fs/cgroup/cpu.max &&
    exec "$@"
END
    if unshare -m sh limited "max 100000" true 2>/dev/null; then
        tune 1 unshare -m sh limited "100000 100000"
        check "a container has the time of one: one worker" all 'exits 0' \
            '[ $compilers -eq 1 ]'
        tune 2 unshare -m sh limited "110000 100000"
        check "of a little more than one: two" all 'exits 0' \
            '[ $compilers -eq 2 ]'
        tune 2 unshare -m sh limited "max 100000"
        check "it has all: more" all 'exits 0' '[ $compilers -ge 2 ]'
    else
        skip "a container has the time of one" "no right to unshare here"
    fi
fi

# -- descriptors -----------------------------------------------------------
touch go
run_with() { # ulimit's option
    (
        ulimit "$1" 64 && exec "$build/shmtune" toy --size n=4096 \
            --budget 5 --output many -j 40 -q >out 2>err
    )
    status=$?
}
run_with -Sn
check "more workers than descriptors are usual" exits 0
run_with -n
check "nor allowed: exit 5, and what helps" all 'exits 5' \
    'err_has "Too many open files; try with fewer (-j)"'
finish
