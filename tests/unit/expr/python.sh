#!/bin/sh
# SPDX-License-Identifier: MIT
# Thousands of random expressions must mean to us what they mean to Python.
echo 1..1
if ! command -v python3 > /dev/null 2>&1; then
    echo "ok 1 - expressions_are_pythons # SKIP no python3"
    exit 0
fi
if python3 "$SHMT_SRCDIR/tests/unit/expr/python.py" \
    "$SHMT_BUILDDIR/tests/unit/expr/eval" 20000; then
    echo "ok 1 - expressions_are_pythons"
else
    echo "not ok 1 - expressions_are_pythons"
fi
