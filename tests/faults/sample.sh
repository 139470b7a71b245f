#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A drawn sample of the fault lane (README): every kind of call of every
# command, and of the library, and some of their allocations.
command -v python3 >/dev/null 2>&1 || {
    echo "1..0 # SKIP no python3"
    exit 0
}
exec python3 "${SHMT_SRCDIR:?}/tests/faults/lane.py" "$SHMT_SRCDIR" \
    "${SHMT_BUILDDIR:?}" --sample
