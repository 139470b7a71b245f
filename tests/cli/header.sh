#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The public header, alone, with every warning an error: as C17 and as C++;
# a C++ program that calls every function of the built library, and one whose
# parts were built with two versions of the header; and what pkg-config says of
# it.
set -u

source=${SHMT_SRCDIR:?} build=${SHMT_BUILDDIR:?}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
. "$source/tests/support/script.sh"
complain() { sed 's/^/# /' "$folder/log"; }
report() { check "$2" [ "$1" -eq 0 ]; } # STATUS NAME

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
    for name in "as C++" "within extern C" "parts of two headers" \
        "called from C++"; do
        skip "$name" "no C++ compiler"
    done
    finish
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

# A later version's struct is longer: each part initialises its own.
mkdir "$folder/later"
sed 's/^    int driver_version;.*/&\n    int64_t later[64];/' \
    "$source/src/shmtune.h" >"$folder/later/shmtune.h"
cat >"$folder/part.cc" <<'CODE'
#include "shmtune.h"
int PART();
int PART()
{
    struct { struct shmtune_device device; size_t behind; } made;

    made.behind = 7;
    made.device = SHMTUNE_DEVICE_INIT;
    return made.device.size == sizeof made.device && made.behind == 7;
}
CODE
printf '%s\n' 'int now(); int later();' \
    'int main() { return now() && later() ? 0 : 1; }' >"$folder/both.cc"
part() { # NAME FOLDER: its object, by the header there
    # shellcheck disable=SC2086
    "$cxx" -std=c++98 $warnings -O0 -DPART="$1" -I"$2" -c "$folder/part.cc" \
        -o "$folder/$1.o"
}
both() { # PART...: in this order
    "$cxx" -O0 "$folder/both.cc" "$@" -o "$folder/both" &&
        "$folder/both"
}
{
    part now "$source/src" && part later "$folder/later" &&
        both "$folder/now.o" "$folder/later.o" &&
        both "$folder/later.o" "$folder/now.o"
} >"$folder/log" 2>&1
report $? "parts of two headers in one program"

if [ ! -f "$build/.libs/libshmtune.so" ]; then
    skip "called from C++" "no shared library was built"
    finish
    exit 0
fi
# shellcheck disable=SC2046,SC2086
"$cxx" -std=c++17 $warnings $(setting SAN_CFLAGS) -I"$source/src" -I"$source" \
    -x c++ "$source/tests/unit/runtime/test_header.c" -o "$folder/calls" \
    -L"$build/.libs" -Wl,-rpath,"$build/.libs" -lshmtune \
    >"$folder/log" 2>&1 &&
    "$folder/calls" >"$folder/log" 2>&1
report $? "called from C++"
finish
