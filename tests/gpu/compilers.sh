#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compilers.sh BUILD: kernels that are compiled in some way of their own, each
# tuned on device 0 to the end: every candidate is right.  TAP.
set -u

. "$(dirname "$0")/part.sh"

tunes() { # NAME SPEC CANDIDATES
    "$build/shmtune" tune "$2" --device 0 --strategy exhaustive \
        --output "$folder/out" >"$folder/log" 2>&1
    status=$?
    right=$(cat "$folder"/out/*/*.journal "$folder"/out/*.journal 2>/dev/null |
        grep -c '^- {config: .*verdict: \(ok\|slow\)')
    check "$1" all "[ $status -eq 0 ]" "[ $right -eq $3 ]"
    rm -rf "$folder/out"
}
complain() {
    sed 's/^/# /' "$folder/log" | tail -n 10
    cat "$folder"/out/*/*.journal "$folder"/out/*.journal 2>/dev/null |
        grep '^- {config: ' | head -n 10 | sed 's/^/# /'
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
        skip "$name" "no nvcc that has a host compiler"
    done
fi
finish
