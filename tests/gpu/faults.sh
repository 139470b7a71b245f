#!/bin/sh
# SPDX-License-Identifier: MIT
#
# faults.sh BUILD: tunes a kernel most of whose candidates do something wrong,
# on device 0: each has to have its verdict, the good ones have to be timed,
# and the tuner has to end as if nothing had been.  TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?}" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

"$build/shmtune" tune "$here/faults.yaml" --device 0 --strategy exhaustive \
    --output "$folder/out" >"$folder/log" 2>&1
status=$?
cat "$folder"/out/*/*.journal "$folder"/out/*.journal >"$folder/journal" \
    2>/dev/null

echo 1..21
if [ $status -eq 0 ]; then
    echo "ok 1 - the tuner ends well"
else
    echo "not ok 1 - the tuner ended with $status"
    sed 's/^/# /' "$folder/log" | tail -n 20
fi
count=1

# The verdicts of every record with a fault, each once.
found() {
    sed -n "s/^- {config: {.*FAULT: ${1}[,}].*verdict: \([a-z_]*\).*/\1/p" \
        "$folder/journal" | sort -u | tr '\n' ' '
}

while read -r fault expected; do
    count=$((count + 1))
    verdicts=$(found "$fault")
    good=yes
    [ -n "$verdicts" ] || good=no
    for verdict in $verdicts; do
        case " $expected " in
        *" $verdict "*) ;;
        *) good=no ;;
        esac
    done
    if [ $good = yes ]; then
        echo "ok $count - $fault: $verdicts"
    else
        echo "not ok $count - $fault: found \"$verdicts\", expected $expected"
        grep "FAULT: ${fault}[,}]" "$folder/journal" | sed 's/^/# /'
    fi
done <<END
none ok slow
illegal_address crash
misaligned crash
trap crash
endless timeout
past_end out_of_bounds
before_begin out_of_bounds
past_scratch out_of_bounds
changes_input out_of_bounds
nan wrong
one_wrong wrong
unwritten unwritten
no_barrier wrong unstable
compile_error compile_error
unroll compile_timeout
static_too_large too_large compile_error
dynamic_too_large too_large
out_of_memory out_of_memory
wrong_bytes spec_mismatch
END

# Nothing of a fault may reach the tuning.
count=$((count + 1))
if grep -q 'FAULT: none' "$folder"/out/*/*.yaml 2>/dev/null; then
    echo "ok $count - the tuning has a good candidate"
else
    echo "not ok $count - the tuning has no good candidate"
    ls -R "$folder/out" | sed 's/^/# /'
fi
