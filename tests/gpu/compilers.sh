#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compilers.sh BUILD: kernels that are compiled in some way of their own, each
# tuned on device 0 to the end: every candidate is right.  TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?}" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
count=0

# tunes NAME SPEC CANDIDATES
tunes() {
    count=$((count + 1))
    "$build/shmtune" tune "$2" --device 0 --strategy exhaustive \
        --output "$folder/out" >"$folder/log" 2>&1
    status=$?
    right=$(cat "$folder"/out/*/*.journal "$folder"/out/*.journal 2>/dev/null |
        grep -c '^- {config: .*verdict: \(ok\|slow\)')
    if [ $status -eq 0 ] && [ "$right" -eq "$3" ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1: $right of $3 are right, exit status $status"
        sed 's/^/# /' "$folder/log" | tail -n 10
        cat "$folder"/out/*/*.journal "$folder"/out/*.journal 2>/dev/null |
            grep '^- {config: ' | head -n 10 | sed 's/^/# /'
    fi
    rm -rf "$folder/out"
}

tunes "features of the architecture, limits of registers" \
    "$here/features.yaml" 12
tunes "CUB, and the C++ library" "$here/cub.yaml" 4
tunes "two sources, and a reference in its own" "$here/sources.yaml" 2
nvcc=$("$build/shmtune" doctor | sed -n 's/^ok  *nvcc  *[0-9.]*, //p')
echo '#include <map>' >"$folder/host.cu"
if [ -n "$nvcc" ] &&
    "$nvcc" -cubin -o "$folder/host.cubin" "$folder/host.cu" 2>/dev/null; then
    tunes "host code, by nvcc" "$here/nvcc.yaml" 3
    tunes "functions of the host, with CUB's policy and others" \
        "$here/host.yaml" 5
else
    for name in "host code" "functions of the host"; do
        count=$((count + 1))
        echo "ok $count - $name # SKIP no nvcc that has a host compiler"
    done
fi
echo "1..$count"
