#!/bin/sh
# SPDX-License-Identifier: MIT
#
# python.sh BUILD: the wheel on device 0.  Kernels that come with it are called
# on tensors of PyTorch and arrays of CuPy, as far as these are installed, and
# what Kernel Tuner's examples do goes through tune_kernel: beside Kernel Tuner
# itself, where that can be imported.  TAP.
#
# Environment: PORTS="vector_add matmul" (else all six), PORT_SCALE=small,
# KT_SECONDS (60: how long Kernel Tuner searches at most), WHEEL=FILE (else one
# is made), PORT_REPORT=FILE (the table of the ports goes there too).
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?}" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
command -v python3 >/dev/null 2>&1 || {
    echo "1..0 # SKIP no python3"
    exit 0
}
wheel=${WHEEL-}
if [ -z "$wheel" ]; then
    make -s -C "$build" wheel WHEEL="$folder/wheel" \
        WHEEL_PARTS="$folder/parts" >&2 || {
        echo "1..1"
        echo "not ok 1 - the wheel is made"
        exit 1
    }
    wheel=$(ls "$folder"/wheel/*.whl)
fi
# PyTorch, CuPy, NumPy and Kernel Tuner are those of the machine's own Python,
# which may be an environment already.
python3 -m pip install --quiet --no-index --no-deps --target "$folder/site" \
    --disable-pip-version-check "$wheel" >&2 ||
    python3 -m zipfile -e "$wheel" "$folder/site" >&2
PYTHONPATH=$folder/site${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
unset SHMTUNE_PATH SHMTUNE_WORKER
XDG_CACHE_HOME=$folder/cache XDG_DATA_HOME=$folder/data
export XDG_CACHE_HOME XDG_DATA_HOME
mkdir -m 700 "$XDG_CACHE_HOME"
cd "$folder" && python3 -u "$here/python_lane.py"
