#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The generated pages, docs/claims.md and docs/performance.md, and their plots
# must be what the data in tests/bench/data make of them.  TAP.
root=${SHMT_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
echo 1..2
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
