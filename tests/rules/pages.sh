#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The generated pages, docs/claims.md and docs/performance.md, and their plots
# must be what the data in tests/bench/data make of them; and docs/spec.md has
# every type of elements.  TAP.
root=${SHMT_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
echo 1..3
number=0
for page in claims performance; do
    number=$((number + 1))
    name="docs/$page.md is what the data make"
    if ! command -v python3 > /dev/null 2>&1; then
        echo "ok $number - $name # SKIP no python3"
    elif python3 -B "$root/tests/bench/$page.py" --check >&2; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
    fi
done

missing=
for word in $(sed -n 's/^    X([A-Z0-9]*, \([a-z0-9]*\), .*/\1/p' \
    "$root/src/kernel/element.h"); do
    grep "^| \`type\` |" "$root/docs/spec.md" | grep -q "\`$word\`" ||
        missing="$missing $word"
done
number=$((number + 1))
if [ -z "$missing" ] && [ -n "$word" ]; then
    echo "ok $number - docs/spec.md has every type of elements"
else
    echo "not ok $number - docs/spec.md has every type of elements"
    echo "# missing:$missing"
fi
