#!/bin/sh
# SPDX-License-Identifier: MIT
# kernels/README.md and its plots must be what the data in tests/bench/data
# make of them.
echo 1..1
if ! command -v python3 > /dev/null 2>&1; then
    echo "ok 1 - claims_are_the_datas # SKIP no python3"
    exit 0
fi
root=${SHMT_SRCDIR:-$(cd "$(dirname "$0")/.." && pwd)}
if python3 -B "$root/tests/bench/claims.py" --check >&2; then
    echo "ok 1 - claims_are_the_datas"
else
    echo "not ok 1 - claims_are_the_datas"
fi
