#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The manual pages have every key of a spec and of a tuning, and every function
# of the library, by the JSON Schemas and the header, and every variable of the
# environment, by the page of the commands.  First tried on pages with one of
# each missing.  TAP.
set -u
LC_ALL=C
export LC_ALL

root=${SHMT_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d "${TMPDIR:-/tmp}/manuals.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
. "$root/tests/rules/rule.sh"

# Writes the keys of schema $1 that page $2 does not have.
missing_keys() {
    python3 -B - "$1" "$2" <<'END'
import json, re, sys
page = open(sys.argv[2]).read()
known = set(re.findall(r"\bIc ([a-z_0-9]+)", page))
def keys(at):
    if isinstance(at, dict):
        yield from at.get("properties", {})
        for value in at.values():
            yield from keys(value)
    elif isinstance(at, list):
        for value in at:
            yield from keys(value)
for key in sorted(set(keys(json.load(open(sys.argv[1])))) - known):
    print(key)
END
}

# Writes the functions of the header that page $1 does not have.
missing_functions() {
    grep -o '^[a-z].*[ *]shmtune_[a-z_]*(' "$root/src/shmtune.h" |
        grep -v template | grep -o 'shmtune_[a-z_]*(' | tr -d '(' | sort -u |
        while read -r name; do
            grep -q "^\.Fo $name\$" "$1" || echo "$name"
        done
}

# Writes the variables of the command that page $1 does not have.
missing_variables() {
    sed -n '/^## Environment/,/^## /s/^| \(`[A-Z`_, ]*\) |.*/\1/p' \
        "$root/docs/commands.md" | tr -d '`,' | tr -s ' ' '\n' |
        while read -r name; do
            sed -n '/^\.Sh ENVIRONMENT/,/^\.Sh FILES/p' "$1" |
                grep -q "Ev $name\>" || echo "$name"
        done
}

expect() { # NAME FOUND WANTED
    if [ "$2" = "$3" ]; then
        result ok "$1"
    else
        echo "$2" | sed 's/^/# /'
        result 'not ok' "$1"
    fi
}

library=$root/src/libshmtune.3
sed '/^\.Fo shmtune_select$/d' "$library" >"$work/libshmtune.3"
expect 'a missing function is found' "$(missing_functions "$work/libshmtune.3")" \
    shmtune_select
expect 'libshmtune(3) has every function' "$(missing_functions "$library")" ''
command=$root/src/shmtune.1
sed 's/^\.It Ev NO_COLOR$/.It Ev COLOR/' "$command" >"$work/shmtune.1"
expect 'a missing variable is found' "$(missing_variables "$work/shmtune.1")" \
    NO_COLOR
expect 'shmtune(1) has every variable' "$(missing_variables "$command")" ''
for format in kernel tuning; do
    page=$root/src/shmtune-$format.5 schema=$root/docs/$format.schema.json
    if ! command -v python3 >/dev/null 2>&1; then
        result ok "shmtune-$format(5) has every key # SKIP no python3"
        continue
    fi
    sed '/^\.It.*Ic format$/d' "$page" >"$work/page"
    expect "a missing key of $format is found" \
        "$(missing_keys "$schema" "$work/page")" format
    expect "shmtune-$format(5) has every key" \
        "$(missing_keys "$schema" "$page")" ''
done
if command -v man >/dev/null 2>&1 && command -v groff >/dev/null 2>&1; then
    said=$(for page in shmtune.1 shmtune-kernel.5 shmtune-tuning.5 libshmtune.3
    do
        man --warnings -l "$root/src/$page" 2>&1 >/dev/null
    done)
    expect 'and all are well formed' "$said" ''
else
    result ok 'and all are well formed # SKIP no man and groff here'
fi
echo "1..$number"
