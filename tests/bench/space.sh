#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Construction of search spaces beside Kernel Tuner's current release, which
# is installed into a virtual environment ($SHMT_VENV, by default
# venv-kernel-tuner in the build folder), both on one core.
#
#   sh tests/bench/space.sh BUILD FILE.json...
set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 BUILD FILE.json..." >&2
    exit 1
fi
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
. "$here/venv.sh"
make -s -C "$build" tests/bench/space_time >&2
one=
if command -v taskset >/dev/null 2>&1; then
    one="taskset -c ${SHMT_CORE:-0}"
fi
exec $one "$venv/bin/python" -W ignore::SyntaxWarning "$here/space.py" \
    "$build/tests/bench/space_time" "$@"
