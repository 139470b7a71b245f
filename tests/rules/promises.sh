#!/bin/sh
# SPDX-License-Identifier: MIT
#
# SECURITY.md names a test for each of its promises: every test and every
# function that it names is there, and every promise of the library names one.
# First tried on a planted page.  TAP.
set -eu
LC_ALL=C
export LC_ALL

root=$(cd "${SHMT_SRCDIR:-$(dirname "$0")/../..}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/promises.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Prints what is wrong with page $1.
check() {
    for path in $(grep -o '`tests/[^`]*`' "$1" | tr -d '`'); do
        [ -e "$root/$path" ] || [ -e "$root/$path.c" ] || echo "no $path"
    done
    for name in $(grep -o '`[a-z]*_[a-z0-9_]*`' "$1" | tr -d '`' |
        grep -v '^shmtune_'); do
        grep -rqw "$name" "$root/tests" --include='*.c' || echo "no $name"
    done
    # A promise goes from its dash to the next one or an empty line.
    sed -n '/^## What the library promises/,/^## /p' "$1" |
        awk '/^- / || /^$/ || /^## / { if (text != "" && text !~ /`tests\//)
                 print "no test: " text
               text = "" }
             /^- / { text = $0; next }
             text != "" { text = text " " $0 }'
}

cat >"$work/page" <<'PAGE'
## What the library promises

- It is quiet.
  `tests/rules/promises.sh`
- It is fast.
- It is right. `tests/unit/no/such_test` (`never_a_function`)
PAGE
check "$work/page" >"$work/found"
cat >"$work/expected" <<'FOUND'
no tests/unit/no/such_test
no never_a_function
no test: - It is fast.
FOUND
report() { # NUMBER NAME FILE
    if [ -s "$3" ]; then
        sed 's/^/# /' "$3"
        echo "not ok $1 - $2"
    else
        echo "ok $1 - $2"
    fi
}
diff "$work/expected" "$work/found" >"$work/diff" || true
report 1 "what is planted is found" "$work/diff"
check "$root/SECURITY.md" >"$work/wrong"
report 2 "every promise has a test that is there" "$work/wrong"
echo 1..2
