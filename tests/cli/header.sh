#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The public header, alone, with every warning an error: as C17 and as C++;
# and a C++ program that calls every function of the built library.
set -u

source=${SHMT_SRCDIR:?} build=${SHMT_BUILDDIR:?}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
test=0

setting() { sed -n "s/^$1 = //p" "$build/Makefile"; }

report() { # STATUS NAME
    test=$((test + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $test - $2"
    else
        sed 's/^/# /' "$folder/log"
        echo "not ok $test - $2"
    fi
}

warnings='-Wall -Wextra -Wpedantic -Wshadow -Werror'
# shellcheck disable=SC2046,SC2086
$(setting CC) -std=c17 $warnings -Wstrict-prototypes -fsyntax-only -x c \
    "$source/src/shmtune.h" >"$folder/log" 2>&1
report $? "as C17"

cxx=${CXX:-c++}
if ! command -v "$cxx" >/dev/null 2>&1; then
    echo "ok 2 - as C++ # SKIP no C++ compiler"
    echo "ok 3 - called from C++ # SKIP no C++ compiler"
    echo 1..3
    exit 0
fi
# shellcheck disable=SC2086
"$cxx" -std=c++11 $warnings -fsyntax-only -x c++ "$source/src/shmtune.h" \
    >"$folder/log" 2>&1
report $? "as C++"

if [ ! -f "$build/.libs/libshmtune.so" ]; then
    echo "ok 3 - called from C++ # SKIP no shared library was built"
    echo 1..3
    exit 0
fi
# shellcheck disable=SC2046,SC2086
"$cxx" -std=c++17 $warnings $(setting SAN_CFLAGS) -I"$source/src" \
    -x c++ "$source/tests/test_header.c" -o "$folder/calls" \
    -L"$build/.libs" -Wl,-rpath,"$build/.libs" -lshmtune \
    >"$folder/log" 2>&1 &&
    "$folder/calls" >"$folder/log" 2>&1
report $? "called from C++"
echo 1..3
