#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The README says what is so: its picture shows what the command prints today,
# and its figures are those of docs/performance.md.  TAP.
set -u

root=${SHMT_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
page=$root/docs/performance.md

# Writes the figures of README $1 that the page $2 does not have.
strange_figures() {
    # A row of the table: tuned, library and its time, ratio.
    sed -n 's/^| .* | \*\*\(.*\)\*\* | \([A-Za-z]*\) \([^|]*\) | \([^ ]*\) |$/\1=\2=\3=\4/p' \
        "$1" >"$work/rows"
    [ "$(wc -l <"$work/rows")" -ge 6 ] || echo "six rows of results"
    while IFS== read -r tuned library time ratio; do
        case $library in
        Kernel)
            for figure in "$tuned" "${time#Tuner }"; do
                grep -qF -e "$figure" "$2" || echo "$figure"
            done ;;
        *)
            grep -q "| $tuned | [0-9.]* | $library [^|]* $time | $ratio |" \
                "$2" || echo "$tuned, $library $time, $ratio" ;;
        esac
    done <"$work/rows"
    # The sentence under the table.
    tr '\n' ' ' <"$1" | grep -o 'Of [0-9]* problems [^.]*\.' >"$work/sentence"
    tr '\n' ' ' <"$2" | grep -qF -e "$(cat "$work/sentence")" ||
        cat "$work/sentence"
}

work=$(mktemp -d "${TMPDIR:-/tmp}/readme.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
. "$root/tests/rules/rule.sh"

# One wrong figure of each kind is found.
sed 's/| CUB 29 us | /| CUB 30 us | /; s/109 a second/108.9 a second/
    s/faster in [0-9]*/faster in 999/' "$root/README.md" >"$work/planted.md"
found=$(strange_figures "$work/planted.md" "$page" | wc -l)
if [ "$found" -eq 3 ]; then
    result ok 'planted figures are found'
else
    result 'not ok' "planted figures are found: $found of 3"
fi
strange=$(strange_figures "$root/README.md" "$page")
if [ -z "$strange" ]; then
    result ok 'the figures are those of docs/performance.md'
else
    echo "$strange" | sed 's/^/# /'
    result 'not ok' 'the figures are those of docs/performance.md'
fi
if ! command -v python3 >/dev/null 2>&1; then
    result ok "the pictures are today's # SKIP no python3"
elif python3 -B "$root/docs/pictures/pictures.py" \
    "${SHMT_BUILDDIR:?}/shmtune" --check >&2; then
    result ok "the pictures are today's"
else
    result 'not ok' "the pictures are today's"
fi
echo "1..$number"
