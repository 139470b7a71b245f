#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The applications in examples/ are compiled as a user would compile them,
# against the library as built, and run.
set -u

source=${SHMT_SRCDIR:?} build=${SHMT_BUILDDIR:?}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

. "$source/tests/support/script.sh"
complain() {
    echo "# exit status $status"
    sed 's/^/# /' "$folder/log"
}

cuda=$(setting CUDA_DIR)
runtime=
for libraries in lib64 lib lib/x86_64-linux-gnu; do
    for name in libcudart.so libcudart.so.13 libcudart.so.12; do
        if [ -z "$runtime" ] && [ -f "$cuda/$libraries/$name" ]; then
            runtime=$cuda/$libraries/$name
        fi
    done
done
[ -f "$build/.libs/libshmtune.so" ] || skip_all "no shared library was built"
[ -n "$runtime" ] || skip_all "no CUDA runtime library in $cuda"

compile() { # SOURCE
    rm -f "$folder/application"
    # shellcheck disable=SC2046
    $(setting CC) -std=c17 -Wall -Wextra -Werror $(setting SAN_CFLAGS) \
        -I"$source/src" -isystem "$cuda/include" -o "$folder/application" \
        "$source/$1" -L"$build/.libs" -Wl,-rpath,"$build/.libs" -lshmtune \
        "$runtime" -Wl,-rpath,"${runtime%/*}" >"$folder/log" 2>&1
    status=$?
}

run() { # FOLDER [ARGUMENT]...
    path=$1
    shift
    # Leaks inside a CUDA driver are not ours.
    ASAN_OPTIONS=detect_leaks=${SHMT_EXAMPLE_LEAKS:-1}:protect_shadow_gap=0 \
    SHMTUNE_PATH=$path XDG_CACHE_HOME=$folder/cache XDG_DATA_HOME=$folder \
        "$folder/application" "$@" >"$folder/log" 2>&1
    status=$?
}

has() { [ "$status" -eq 0 ] && grep -q -e "$1" "$folder/log"; }
fails() { [ "$status" -eq 1 ] && grep -q -e "$1" "$folder/log"; }
lacks() { ! grep -q -e "$1" "$folder/log"; }
launched() { # WHAT IT PRINTS
    has "$1" || has '^chosen, not launched'
}

compile examples/application.c
check "application.c compiles" [ "$status" -eq 0 ]
run "$source"
check "it runs, and chooses" has '^for .*THREADS='
check "it launches what is right, or says that there is no GPU" \
    launched '^launched: right$'
check "no tuning that is shipped is left out" lacks 'left out'
run /nowhere
check "without kernels it fails, and says what to set" \
    fails '^no kernel transpose; set $SHMTUNE_PATH$'

mkdir -p "$folder/share/kernels"
cp "$source/examples/scale/scale.cu" "$source/examples/scale/scale.yaml" \
    "$folder/share/kernels/"
compile examples/scale/application.c
check "scale/application.c compiles" [ "$status" -eq 0 ]
run /nowhere "$folder/share"
check "it runs, and chooses the default of the kernel in its folder" \
    has ': BLOCK=256 ITEMS=1 (default)$'
check "it launches what is right, or says that there is no GPU too" \
    launched '^launched: 0 of 1000000 wrong$'
run /nowhere "$folder/none"
check "without the kernel it fails, and says so" \
    fails '^no kernel scale: name the folder with kernels/scale.yaml in it$'
check "a note is called one" fails '^note: .*/none: there is no such folder'
finish
