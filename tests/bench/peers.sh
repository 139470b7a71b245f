#!/bin/sh
# SPDX-License-Identifier: MIT
#
# peers.sh BUILD [OPTION]...: build tests/bench/peers.cu with nvcc against the
# library in BUILD, and run it.  Without nvcc or a GPU it says so and exits 0.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
shift
skip() { echo "skipped: $*"; exit 0; }

nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}
[ -x "$nvcc" ] || skip "nvcc is not here (set NVCC or CUDA_HOME)"
# cuDNN: the toolkit's, or a wheel's beside python3.
flags='' libraries=''
for dir in "$(dirname "$nvcc")/.." /usr \
    "$(python3 -c 'import nvidia.cudnn as m; print(list(m.__path__)[0])' \
        2>/dev/null || :)"; do
    if [ -n "$dir" ] && [ -f "$dir/include/cudnn.h" ]; then
        for lib in "$dir/lib64" "$dir/lib"; do
            for file in "$lib/libcudnn.so" "$lib/libcudnn.so.9"; do
                [ -f "$file" ] || continue
                flags="-DWITH_CUDNN -I$dir/include"
                libraries="-Xlinker $file -Xlinker -rpath,$lib"
                break 3
            done
        done
    fi
done
[ -n "$flags" ] || echo "note: no cuDNN: conv2d and softmax have no peer" >&2
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    head -n 1 | tr -d .) || :
if [ "${1:-}" = --build ]; then
    shift
    arch=${1:-90}
    run=
else
    [ -n "$arch" ] || skip "no GPU answers (nvidia-smi)"
    run=yes
fi
mkdir -p "$build/tests/bench"
# Anew when one of its parts is newer.
if [ ! -x "$build/tests/bench/peers" ] ||
    [ -n "$(find "$root/tests/bench" \( -name 'peers*.[ci]*' -o \
        -name bench.cuh \) -newer "$build/tests/bench/peers")" ]; then
    # shellcheck disable=SC2086
    "$nvcc" -std=c++17 -O2 -w -arch="sm_$arch" --extended-lambda $flags \
        -I"$root/src" -I"$root/tests/bench" "$root/tests/bench/peers.cu" \
        -o "$build/tests/bench/peers" -L"$build/.libs" -lshmtune \
        -Xlinker -rpath,"$build/.libs" -lcublas $libraries
fi
[ -z "$run" ] || exec "$build/tests/bench/peers" "$@"
