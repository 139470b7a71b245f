#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The public header, alone, with every warning an error: as C17 and as C++;
# a C++ program that calls every function of the built library; and what
# pkg-config says of it.
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

# As ./configure --datadir=/data writes it: where `make install` puts kernels.
sed -e 's#@datadir@#/data#' -e 's#@datarootdir@#/share#' \
    -e 's#@PACKAGE@#shmtune#' "$source/src/shmtune.pc.in" \
    >"$folder/shmtune.pc"
# shellcheck disable=SC2016
grep -qx -e 'datadir=/data' "$folder/shmtune.pc" &&
    grep -qx -e 'pkgdatadir=${datadir}/shmtune' "$folder/shmtune.pc"
report $? "pkg-config knows the folder of the kernels"

cxx=${CXX:-c++}
if ! command -v "$cxx" >/dev/null 2>&1; then
    echo "ok 3 - as C++ # SKIP no C++ compiler"
    echo "ok 4 - within extern C # SKIP no C++ compiler"
    echo "ok 5 - called from C++ # SKIP no C++ compiler"
    echo 1..5
    exit 0
fi
# shellcheck disable=SC2086
"$cxx" -std=c++11 $warnings -fsyntax-only -x c++ "$source/src/shmtune.h" \
    >"$folder/log" 2>&1
report $? "as C++"
printf '%s\n' 'extern "C" {' '#include "shmtune.h"' '}' \
    'struct shmtune_device device = SHMTUNE_DEVICE_INIT;' >"$folder/within.cc"
# shellcheck disable=SC2086
"$cxx" -std=c++11 $warnings -fsyntax-only -I"$source/src" \
    "$folder/within.cc" >"$folder/log" 2>&1
report $? "within extern C, as headers of C often are"

if [ ! -f "$build/.libs/libshmtune.so" ]; then
    echo "ok 5 - called from C++ # SKIP no shared library was built"
    echo 1..5
    exit 0
fi
# shellcheck disable=SC2046,SC2086
"$cxx" -std=c++17 $warnings $(setting SAN_CFLAGS) -I"$source/src" -I"$source" \
    -x c++ "$source/tests/unit/runtime/test_header.c" -o "$folder/calls" \
    -L"$build/.libs" -Wl,-rpath,"$build/.libs" -lshmtune \
    >"$folder/log" 2>&1 &&
    "$folder/calls" >"$folder/log" 2>&1
report $? "called from C++"
echo 1..5
