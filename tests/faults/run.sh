#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Fails every allocation and every system call of every command and of the
# library in turn (README).
#
#   tests/faults/run.sh                     all; goes on where it was stopped
#   tests/faults/run.sh --only list,tune    these scenarios
#   tests/faults/run.sh --report            what was found, without running
#   tests/faults/run.sh --show list program memory 17 malloc ENOMEM     one
#   tests/faults/run.sh --asan ...          in build-asan, made where it is not
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd -P)
build=$root/build
if [ "${1-}" = --asan ]; then
    shift
    build=$root/build-asan
    [ -f "$build/Makefile" ] || {
        mkdir -p "$build"
        (cd "$build" && ../configure -q --enable-werror --enable-sanitizers \
            --with-cuda="$(sed -n 's/^CUDA_DIR = //p' ../build/Makefile)")
    }
fi
[ -f "$build/Makefile" ] || {
    echo "faults: $build is not configured; run ./quickstart build first" >&2
    exit 1
}
make -s -C "$build" shmtune libshmtune-capture.so tests/fake/fake_cuda.la \
    tests/fake/nvrtc.la tests/fake/libcuda.so.1 tests/fake/application \
    tests/fake/worker tests/faults/shim.la tests/faults/library
exec python3 "$root/tests/faults/lane.py" "$root" "$build" "$@"
