#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The README's example: the first C block that opens the library is compiled
# as an application would compile it, against the library as built, and run.
set -u

source=${SHMT_SRCDIR:?} build=${SHMT_BUILDDIR:?}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

skip() {
    echo "1..0 # SKIP $*"
    exit 0
}

setting() { sed -n "s/^$1 = //p" "$build/Makefile"; }

cuda=$(setting CUDA_DIR)
runtime=
for libraries in lib64 lib lib/x86_64-linux-gnu; do
    for name in libcudart.so libcudart.so.13 libcudart.so.12; do
        if [ -z "$runtime" ] && [ -f "$cuda/$libraries/$name" ]; then
            runtime=$cuda/$libraries/$name
        fi
    done
done
[ -f "$build/.libs/libshmtune.so" ] || skip "no shared library was built"
[ -n "$runtime" ] || skip "no CUDA runtime library in $cuda"

awk '/^```c$/ { inside = 1; block = ""; next }
     /^```$/ { if (inside && block ~ /shmtune_open/) { printf "%s", block; exit }
               inside = 0; next }
     inside { block = block $0 "\n" }' "$source/README.md" >"$folder/example.c"
echo 1..3
if [ -s "$folder/example.c" ]; then
    echo "ok 1 - the README has an example"
else
    echo "not ok 1 - no C block with shmtune_open in README.md"
    exit 1
fi

# shellcheck disable=SC2046
if $(setting CC) -std=c17 -Wall -Wextra -Werror $(setting SAN_CFLAGS) \
    -I"$source/src" -isystem "$cuda/include" -o "$folder/example" \
    "$folder/example.c" -L"$build/.libs" -Wl,-rpath,"$build/.libs" -lshmtune \
    "$runtime" -Wl,-rpath,"${runtime%/*}" >"$folder/log" 2>&1; then
    echo "ok 2 - it compiles"
else
    sed 's/^/# /' "$folder/log"
    echo "not ok 2 - it compiles"
    exit 1
fi

# Leaks inside a CUDA driver are not ours.
ASAN_OPTIONS=detect_leaks=${SHMT_EXAMPLE_LEAKS:-1}:protect_shadow_gap=0 \
SHMTUNE_PATH=$source XDG_CACHE_HOME=$folder/cache XDG_DATA_HOME=$folder \
    "$folder/example" >"$folder/log" 2>&1
status=$?
sed 's/^/# /' "$folder/log"
if [ "$status" -eq 0 ] && grep -q '^for .*THREADS=' "$folder/log" &&
    grep -q -e '^launched: right$' -e '^chosen, not launched' "$folder/log"
then
    echo "ok 3 - it runs"
else
    echo "not ok 3 - it runs (status $status)"
fi
