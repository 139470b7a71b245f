#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The benches that read what `shmtune --json` prints name only members that
# docs/output.schema.json has.  First tried on schemas with one member renamed:
# each bench that reads it is found.  TAP.
set -u
LC_ALL=C
export LC_ALL

root=${SHMT_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d "${TMPDIR:-/tmp}/benches.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
if ! command -v python3 >/dev/null 2>&1; then
    echo "1..0 # SKIP no python3 is installed"
    exit 0
fi
. "$root/tests/rules/rule.sh"
cd "$root" || exit 1
schema=docs/output.schema.json
benches=$(grep -rl '"--json"' tests/bench --include='*.py' | sort)
# shellcheck disable=SC2086
reads() { # SCHEMA: what is wrong, and how much is read
    python3 -B tests/rules/benches.py "$1" $benches
}

# renamed MEMBER IN BENCH...: so many members of that name within a document are
# renamed, and these benches are told.
renamed() {
    python3 -B - "$schema" "$1" "$2" >"$work/schema.json" <<'END'
import json, sys
schema = json.load(open(sys.argv[1]))
def rename(at):
    if isinstance(at, dict):
        for value in at.values():
            rename(value)
        members = at.get("properties")
        if isinstance(members, dict) and sys.argv[2] in members:
            members[sys.argv[2] + "_"] = members.pop(sys.argv[2])
    elif isinstance(at, list):
        for value in at:
            rename(value)
rename(schema["$defs"][sys.argv[3]])
json.dump(schema, sys.stdout)
END
    member=$1
    name="a renamed $1 of $2 is found"
    shift 2
    reads "$work/schema.json" >"$work/out" 2>&1
    for bench; do
        if ! grep -q "$bench:[0-9]*: \"$member\" is no member" "$work/out"; then
            echo "# not in $bench"
            sed 's/^/# /' "$work/out"
            result 'not ok' "$name"
            return
        fi
    done
    result ok "$name"
}
renamed gain tune budgets.py gains.py
renamed results tune sizes.py budgets.py foreign/beside.py foreign/gains.py
renamed failures tune sizes.py gains.py
renamed error failures sizes.py
renamed config tune budgets.py foreign/beside.py
renamed size failures sizes.py
renamed size trial dispatch.py
renamed repeats effort strategies.py
renamed median within transfer.py

if reads "$schema" >"$work/out" 2>&1 && [ -n "$benches" ] &&
    ! grep -q ': [01] members are read' "$work/out"; then
    result ok 'benches name members that the schema has'
else
    sed 's/^/# /' "$work/out"
    result 'not ok' 'benches name members that the schema has'
fi
echo "1..$number"
