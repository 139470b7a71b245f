#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture_stop: a capture that is interrupted keeps what is whole, leaves nothing
# that is not, and ends at once, whatever it was about.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

[ -x "$fake/held" ] || make -s -C "$build" tests/fake/held >&2 || exit 1

cd "$folder" || exit 1

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "captures are interrupted" "no NVRTC"
    finish
    exit 0
fi
# A worker with which no launch would ever be made again.
SHMTUNE_WORKER=$fake/held
export SHMTUNE_WORKER

# start ARGUMENT...: a capture into $folder/taken
start() {
    rm -rf taken
    "$build/shmtune" capture -o taken -- "$@" >out 2>err </dev/null &
    pid=$!
}
# await FILE PATTERN: until the file has the pattern, for a minute at most
await() {
    for _ in $(seq 600); do
        # shellcheck disable=SC2086
        ! grep -q "$2" $1 2>/dev/null || return 0
        sleep 0.1
    done
}
# interrupt PID: $status, and the seconds in $took.  A background job of a
# script ignores the interrupt of the terminal; TERM is treated alike.
interrupt() {
    begin
    kill -TERM "$1"
    wait $pid
    status=$?
    took=$(passed)
}
whole() { [ -f "taken/$1/kernel.yaml" ] && [ ! -e taken/.capture-* ]; }

start "$fake/application" opened load cover=1000 \
    $(yes second | head -n 60)
await 'taken/.capture-*/*/launch.yaml' 'format: capture'
interrupt $pid
check "while the program runs: it ends by it, and nothing is made again" all \
    "exits 143" "[ $took -lt 4 ]" "whole cover-1" \
    "err_has 'cover-1: not made again, so that .* are guesses: interrupted$'"

# shellcheck disable=SC2016
start sh -c 'trap "echo heard; exit 3" TERM; "$@"; while :; do sleep 0.1; done' \
    sh "$fake/application" opened load cover=1000 total=1000
await 'taken/.capture-*/*/launch.yaml' '_Z5total\|total'
interrupt $pid
check "a program that ends by itself then has its own status" all "exits 3" \
    "out_has '^heard$'" "[ $took -lt 4 ]" "whole cover-1" "whole total-1" \
    "[ \$(grep -c 'not made again, so that .*: interrupted$' err) = 1 ]"

start "$fake/application" opened load cover=1000
await err 'cover-1: the launch, its source'
sleep 1
interrupt $pid
check "while a launch is made again, by a worker that does not go" all \
    "exits 0" "[ $took -lt 4 ]" "whole cover-1" \
    "err_has 'cover-1: not made again, so that .* are guesses: interrupted$'"
unset SHMTUNE_WORKER
run check taken/cover-1
check "what is kept is a spec" exits 0
finish
