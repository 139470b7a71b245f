#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Our search strategies beside Kernel Tuner's on recorded runs.  Its release
# is installed into a virtual environment ($SHMT_VENV, by default
# venv-kernel-tuner in the build folder); recordings of ours (.journal.gz) are
# exported for it first.
#
#   sh tests/bench/strategies.sh BUILD [OPTION...] RECORDING...
set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 BUILD [OPTION of strategies.py]... RECORDING..." >&2
    exit 1
fi
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
. "$here/venv.sh"
caches=$build/venv-caches
mkdir -p "$caches"
for word; do
    shift
    case $word in
    *.journal.gz)
        cache=$caches/$(basename "$(dirname "$word")")-$(
            basename "$word" .journal.gz | tr . -).json.gz
        "$build/shmtune" export "$word" --to kernel-tuner -o "$cache"
        set -- "$@" "$cache=$word" ;;
    *)  set -- "$@" "$word" ;;
    esac
done
exec "$venv/bin/python" "$here/strategies.py" --shmtune "$build/shmtune" "$@"
