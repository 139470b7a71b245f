#!/bin/sh
# SPDX-License-Identifier: MIT
#
# faults.sh BUILD: tunes a kernel most of whose candidates do something wrong,
# on device 0: each has to have its verdict, the good ones have to be timed,
# and the tuner has to end as if nothing had been.  TAP.
set -u

. "$(dirname "$0")/part.sh"

"$build/shmtune" tune "$here/faults.yaml" --device 0 --strategy exhaustive \
    --output "$folder/out" >"$folder/log" 2>&1
status=$?
cat "$folder"/out/*/*.journal "$folder"/out/*.journal >"$folder/journal" \
    2>/dev/null

echo 1..21
complain() { sed 's/^/# /' "$folder/log" | tail -n 20; }
check "the tuner ends well" [ $status -eq 0 ]

# The verdicts of every record with a fault, each once.
found() {
    sed -n "s/^- {config: {.*FAULT: ${1}[,}].*verdict: \([a-z_]*\).*/\1/p" \
        "$folder/journal" | sort -u | tr '\n' ' '
}

are_among() { # EXPECTED VERDICT...: and there is one
    expected=$1
    shift
    [ $# -gt 0 ] || return 1
    for verdict; do
        case " $expected " in
        *" $verdict "*) ;;
        *) return 1 ;;
        esac
    done
}
complain() {
    echo "# expected $expected"
    grep "FAULT: ${fault}[,}]" "$folder/journal" | sed 's/^/# /'
}
while read -r fault expected; do
    verdicts=$(found "$fault")
    # shellcheck disable=SC2086
    check "$fault: $verdicts" are_among "$expected" $verdicts
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
complain() { ls -R "$folder/out" | sed 's/^/# /'; }
check "the tuning has a good candidate" \
    grep -q -s 'FAULT: none' "$folder"/out/*/*.yaml
