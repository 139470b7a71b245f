#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The wheel: made, installed into a fresh environment, and tested from there on
# the fake driver and on a recorded device.  tests/python has the tests.
set -u
LC_ALL=C
export LC_ALL

source=${SHMT_SRCDIR:?} build=${SHMT_BUILDDIR:?}
skip() {
    echo "1..0 # SKIP $*"
    exit 0
}
command -v python3 >/dev/null 2>&1 || skip "no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
    skip "python3 is older than 3.9"
python3 -c 'import ensurepip, venv' 2>/dev/null || skip "no module venv or pip"
[ -f "$build/.libs/libshmtune.so" ] || skip "no shared library was built"
! grep -q '^SAN_CFLAGS = .*sanitize' "$build/Makefile" ||
    skip "what is built with sanitizers goes into no wheel"
folder=$(mktemp -d "${TMPDIR:-/tmp}/shmtune-python.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

fail() { # WHAT: nothing else can be tested
    sed 's/^/# /' "$folder/log"
    echo "not ok 1 - $1"
    echo "1..1"
    exit 0
}
make -s -C "$build" wheel WHEEL="$folder/wheel" \
    WHEEL_PARTS="$folder/parts" >"$folder/log" 2>&1 || fail "the wheel is made"
# Fresh but for what the tests compare with, NumPy, where it is installed.
python3 -m venv --system-site-packages "$folder/venv" >"$folder/log" 2>&1 ||
    fail "an environment is made"
"$folder/venv/bin/python" -m pip install --quiet --no-index --no-deps \
    --ignore-installed --disable-pip-version-check "$folder"/wheel/*.whl \
    >"$folder/log" 2>&1 || fail "pip installs the wheel"

unset SHMTUNE_PATH SHMTUNE_WORKER PYTHONPATH XDG_DATA_HOME
HOME=$folder/home XDG_CACHE_HOME=$folder/cache TMPDIR=$folder
SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
PYTHONDONTWRITEBYTECODE=1
export HOME XDG_CACHE_HOME TMPDIR SHMTUNE_LIBCUDA PYTHONDONTWRITEBYTECODE
mkdir -p "$HOME" && mkdir -m 700 "$XDG_CACHE_HOME"
cd "$folder" || exit 1
"$folder/venv/bin/python" "$source/tests/python/tap.py"
