#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/sanitizers.sh [TEST...]
#
# The library's threads under ThreadSanitizer, in a build of its own,
# build/tsan; then loading, opening, closing and unloading the library 1,000
# times under LeakSanitizer, which needs no build but ./quickstart build.  With
# names of tests those alone, under ThreadSanitizer:
#
#   tests/sanitizers.sh tests/unit/score/test_score
#
# Exit status: 0, 1 a test fails or a sanitizer reports something, 77 the
# run-time libraries of neither are here (gcc's libtsan and liblsan).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
# Those with threads.
threads='tests/unit/runtime/test_threads tests/unit/runtime/test_hot
tests/unit/base/test_path'
leaks=tests/unit/runtime/test_leaks
SHMT_SRCDIR=$root
export SHMT_SRCDIR

[ -f "$root/build/Makefile" ] || {
    echo "sanitizers: no build/; run ./quickstart build first" >&2
    exit 1
}
setting() { sed -n "s/^$1 = //p" "$root/build/Makefile"; }
CC=$(setting CC)
ran= failed=

# Its name, then what it says; a failed one is remembered.
try() {
    name=$1
    shift
    echo "# $name"
    ran=1
    env "$@" "./$name" || failed="$failed $name"
}

run_threads() {
    echo 'int main(void) { return 0; }' >"$root/build/try.c"
    # shellcheck disable=SC2086
    $CC -fsanitize=thread -o "$root/build/try" "$root/build/try.c" \
        2>/dev/null && "$root/build/try" || {
        echo "sanitizers: $CC has no ThreadSanitizer here; not tried" >&2
        return 0
    }
    mkdir -p "$root/build/tsan"
    cd "$root/build/tsan"
    [ -f Makefile ] ||
        ../../configure -q CC="$CC" --enable-sanitizers=thread \
            --with-cuda="$(setting CUDA_DIR)" >configure.log
    make -s -j"$jobs" tests/fake/fake_cuda.la "$@" >make.log 2>&1 || {
        tail -n 40 make.log
        echo "sanitizers: build/tsan does not build" >&2
        exit 1
    }
    for test in "$@"; do
        try "$test" SHMT_BUILDDIR="$PWD" TSAN_OPTIONS=second_deadlock_stack=1
    done
}

# LeakSanitizer alone takes the place of malloc, so the build is as it is.
run_leaks() {
    library=$($CC -print-file-name=liblsan.so)
    cd "$root/build"
    [ -f "$library" ] || {
        echo "sanitizers: $CC has no LeakSanitizer here; not tried" >&2
        return 0
    }
    make -s -j"$jobs" libshmtune.la tests/fake/fake_cuda.la "$leaks" \
        >leaks.log 2>&1 || {
        tail -n 40 leaks.log
        echo "sanitizers: $leaks does not build" >&2
        exit 1
    }
    try "$leaks" SHMT_BUILDDIR="$PWD" LD_PRELOAD="$library"
}

if [ $# -gt 0 ]; then
    run_threads "$@"
else
    # shellcheck disable=SC2086
    run_threads $threads
    run_leaks
fi
[ -n "$ran" ] || exit 77
[ -z "$failed" ] || {
    echo "sanitizers: failed:$failed" >&2
    exit 1
}
