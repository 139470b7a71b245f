#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Plants faults in a copy of the source, one at a time, and runs the tests
# against each (README).
#
#   tests/mutation/run.sh --short            the checked-in list: CI runs this
#   tests/mutation/run.sh --count 200        drawn by rule; goes on where it was
#   tests/mutation/run.sh --report           the share noticed, by module
#
# The copy is mounted over the checkout in a name space of its own, so that
# every path in the build holds, and what a fault may kill is its own.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd -P)
work=$root/build/mutation
tree=$work/tree
program=tests/mutation/mutate.py

fail() { echo "mutation: $*" >&2; exit 1; }

[ -f "$root/build/Makefile" ] ||
    fail "$root/build is not configured; run ./quickstart build first"
case " $* " in
*' --report '* | *' --list '* | *' --help '*)
    exec python3 "$root/$program" "$root" "$work" "$@" ;;
esac

user=
[ "$(id -u)" = 0 ] || user=-Ur
# shellcheck disable=SC2086
unshare $user --mount --pid --fork true 2>/dev/null ||
    fail "no name spaces here (unshare --mount --pid); a fault must not reach" \
        "the processes of others, so nothing is run.  Run it as root, or" \
        "allow user name spaces"

mkdir -p "$work"
# Two runs would plant into the same copy.
exec 9>"$work/lock"
flock -n 9 || fail "another run uses $work; wait for it"
python3 "$root/$program" "$root" "$work" --copy
# shellcheck disable=SC2016,SC2086
exec unshare $user --mount --pid --fork --mount-proc --kill-child sh -euc '
    root=$1 work=$2 tree=$3 program=$4
    shift 4
    mkdir -p "$tree/build/mutation"
    mount --bind "$work" "$tree/build/mutation"
    if [ -d "$root/deps" ]; then
        mkdir -p "$tree/deps"
        mount --rbind "$root/deps" "$tree/deps"
    fi
    mount --rbind "$tree" "$root"
    cd "$root"
    python3 "$program" "$root" "$work" "$@"
' sh "$root" "$work" "$tree" "$program" "$@"
