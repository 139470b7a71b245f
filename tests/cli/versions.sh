#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Files of a newer shmtune: passed over with a note where there are others,
# an error where it is the one file that was asked for.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

# The newest version of a format.
newest_of() {
    case $1 in
    kernel) echo 2 ;;
    tuning) echo 3 ;;
    journal) echo 5 ;;
    *) echo 1 ;;
    esac
}

# newer FORMAT FILE: the same file as the next version would write it
newer() {
    sed "s#^format: $1/[0-9]*#format: $1/$(($(newest_of "$1") + 1))#" \
        "$2" >"$2.new" && mv "$2.new" "$2"
}

# told FORMAT out|err: both versions and the remedy
told() {
    newest=$(newest_of "$1")
    grep -q "found the format $1/$((newest + 1)), newer than $1/$newest, .*: update shmtune" \
        "$folder/$2"
}

tuning=$root/tunings/scale/t.yaml
journal=$root/tunings/scale/j.journal
make_tuning "$tuning"
make_journal "$journal"
cp "$tuning" "$root/tunings/scale/new.yaml"
newer tuning "$root/tunings/scale/new.yaml"
cp "$journal" "$root/tunings/scale/new.journal"
newer journal "$root/tunings/scale/new.journal"

run list tunings recordings
check "list leaves them out with a note" all "exits 0" "told tuning err" \
    "told journal err" "err_has 'left out: .*/scale/new.yaml:1:9: '" \
    "err_has 'left out: .*/scale/new.journal:1:9: '" "out_has '/t.yaml$'" \
    "out_has '/j.journal$'" "out_lacks 'new[.]'"
run show "$root/tunings/scale/new.yaml"
check "show: a tuning" all "exits 2" out_empty "told tuning err"
run show "$root/tunings/scale/new.journal"
check "show: a journal" all "exits 2" out_empty "told journal err"
run check --no-compile "$root/tunings/scale/new.yaml" "$tuning"
check "check: a tuning, and goes on to the next" all "exits 2" \
    "told tuning out" "out_has '^wrong '" "out_has '^ok .*/t.yaml'"
run check --no-compile "$root/tunings/scale/new.journal"
check "check: a journal" all "exits 2" "told journal out"
run export "$root/tunings/scale/new.journal" --to t4
check "export: a journal" all "exits 2" "told journal err"

# A run neither resumes from it nor writes over it.
run tune scale --device "replay:$journal" --output "$folder/out_tunings" -q
made=$(find "$folder/out_tunings" -name '*.yaml')
newer tuning "$made"
cp "$made" "$folder/kept.yaml"
run tune scale --device "replay:$journal" --output "$folder/out_tunings" -q
check "tune: where the result would go" all "exits 2" "told tuning err" \
    "err_has '; move it away, or name another folder with --output DIR'" \
    "cmp -s '$made' '$folder/kept.yaml'"
run tune scale --device "replay:$root/tunings/scale/new.journal"
check "tune: a recording" all "exits 2" "told journal err"

newer kernel "$root/kernels/scale.yaml"
run tune scale --device "replay:$journal"
check "tune: a spec" all "exits 2" "told kernel err" \
    "err_has 'scale.yaml:1:9: '"
run check --no-compile "$root/kernels/scale.yaml"
check "check: a spec" all "exits 2" "told kernel out"
run space "$root/kernels/scale.yaml"
check "space: a spec" all "exits 2" "told kernel err"
run list kernels
check "list: a spec" all "exits 0" "told kernel err" "out_lacks '^scale'"
finish
