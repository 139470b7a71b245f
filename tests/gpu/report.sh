# SPDX-License-Identifier: MIT
#
# Sourced with BUILD as the first argument by a part that tells what it finds by
# itself: a folder of its own, which is the current one, and how a line of TAP is
# written.
# shellcheck shell=sh disable=SC2034

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?}" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
count=0

report() { # NAME CONDITION...
    name=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        for file in out err log; do
            [ ! -f $file ] || tail -n 12 $file | sed "s/^/# $file: /"
        done
    fi
}

all() {
    for condition in "$@"; do
        eval "$condition" || {
            echo "# not: $condition"
            return 1
        }
    done
}

# Candidates of a tuning that have a result, and that are right.
count_right() {
    tried=$(cat "$1"/*.journal | grep -c '^- {config: .*verdict: ')
    right=$(cat "$1"/*.journal |
        grep -c '^- {config: .*verdict: \(ok\|slow\)')
}
