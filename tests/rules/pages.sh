#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The generated pages, docs/claims.md and docs/performance.md, and their plots
# must be what the data in tests/bench/data make of them; docs/spec.md has every
# type of elements, and docs/library.md the bounds of a dispatch.  TAP.
root=${SHMT_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$root/tests/rules/rule.sh"

for page in claims performance; do
    name="docs/$page.md is what the data make"
    if ! command -v python3 > /dev/null 2>&1; then
        result ok "$name # SKIP no python3"
    elif python3 -B "$root/tests/bench/$page.py" --check >&2; then
        result ok "$name"
    else
        result 'not ok' "$name"
    fi
done

missing=
for word in $(sed -n 's/^    X([A-Z0-9]*, \([a-z0-9]*\), .*/\1/p' \
    "$root/src/kernel/element.h"); do
    grep "^| \`type\` |" "$root/docs/spec.md" | grep -q "\`$word\`" ||
        missing="$missing $word"
done
if [ -z "$missing" ] && [ -n "$word" ]; then
    result ok 'docs/spec.md has every type of elements'
else
    result 'not ok' 'docs/spec.md has every type of elements'
    echo "# missing:$missing"
fi

# The constants of a header: bound FILE NAME...: "1; 2; 3"
bound() {
    file=$root/src/$1
    shift
    for name; do
        sed -n "s/.* $name = \\([0-9]*\\).*/\\1/p" "$file"
    done | paste -sd ';' | sed 's/;/; /g'
}
missing=
for row in "for its dispatch $(bound runtime/dispatch.h \
    SHMT_RUNTIME_DISPATCH_BYTES) KiB |" \
    "| $(bound record/dispatch.h SHMT_DISPATCH_CONFIGS SHMT_DISPATCH_FEATURES \
        SHMT_DISPATCH_NODES SHMT_DISPATCH_DEPTH SHMT_DISPATCH_RANKS) |"; do
    grep -qF "$row" "$root/docs/library.md" || missing="$missing '$row'"
done
if [ -z "$missing" ]; then
    result ok 'docs/library.md has the bounds of a dispatch'
else
    result 'not ok' 'docs/library.md has the bounds of a dispatch'
    echo "# missing:$missing"
fi
echo "1..$number"
