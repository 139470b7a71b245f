#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture_content: buffers of several pieces, which several threads compress,
# come out as they were, and what does not become smaller is stored.  No GPU is
# needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

cd "$folder" || exit 1

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "buffers are written" "no NVRTC"
    finish
    exit 0
fi
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA

# capture DIR COMMAND...: a cover of 1200007 elements, five pieces each buffer
capture() {
    dir=$1
    shift
    "$@" "$build/shmtune" capture -o "$dir" -- "$fake/application" opened load \
        cover=1200007 >out 2>err
    status=$?
}
size() { wc -c <"$1/cover-1/$2"; }
plain() { gzip -dc "$1/cover-1/$2" | wc -c; }

capture equal
check "what repeats becomes small" all "exits 0" \
    "gzip -t equal/cover-1/*.gz" \
    "[ \$(plain equal memory-1.before.gz) = 4800028 ]" \
    "[ \$(size equal memory-1.before.gz) -lt 200000 ]" \
    "[ \$(size equal memory-0.before.gz) -lt 50000 ]"
check "and is what it was" \
    err_has 'cover-1: made again it gives what .* got; output: z$'

APPLICATION_NOISE=1
export APPLICATION_NOISE
capture noise
check "what does not is stored" all "exits 0" "gzip -t noise/cover-1/*.gz" \
    "[ \$(plain noise memory-1.before.gz) = 4800028 ]" \
    "[ \$(size noise memory-1.before.gz) -gt 4800028 ]" \
    "[ \$(size noise memory-1.before.gz) -lt 4810000 ]" \
    "[ \$(size noise memory-0.before.gz) -lt 50000 ]"
check "and is what it was, too" \
    err_has 'cover-1: made again it gives what .* got; output: z$'

if command -v taskset >/dev/null; then
    capture alone taskset -c "$(taskset -cp $$ | sed 's/.*[: ,-]//')"
    check "a thread alone writes the same" all "exits 0" \
        "cmp noise/cover-1/memory-0.after.gz alone/cover-1/memory-0.after.gz" \
        "cmp noise/cover-1/memory-1.before.gz alone/cover-1/memory-1.before.gz"
else
    skip "a thread alone writes the same" "no taskset"
fi
finish
