#!/bin/sh
# SPDX-License-Identifier: MIT
#
# list, and where kernels and tunings are looked for.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

notes() { [ "$(grep -c "^shmtune: note: " "$folder/err")" -eq "$1" ]; }

make_tuning "$root/tunings/scale/a.yaml"
make_journal "$root/tunings/scale/b.journal"
gzip -c "$root/tunings/scale/b.journal" >"$root/tunings/scale/c.journal.gz"

run list
check "everything" all "exits 0" err_empty "out_has '^kernels'" \
    "out_has '^tunings'" "out_has '^recordings'" "out_has '^devices'" \
    "out_has '^strategies'"
run list kernels
check "kernels" all "exits 0" err_empty \
    "out_has '^scale  *4  *2  y = a x, by way of shared memory'" \
    "out_lacks strategies"
run list tunings
check "tunings" all "exits 0" err_empty \
    "out_has '^scale  *Test Device 3000  *2  *2026-11-21  .*/a.yaml'"
run list recordings
check "recordings, compressed ones too" all "exits 0" err_empty \
    "out_has 'n=1048576  *44  .*/b.journal$'" \
    "out_has 'n=1048576  *44  .*/c.journal.gz$'"
ln -s "$root" "$folder/link"
SHMTUNE_PATH=$root:$root/:$folder/link
run list tunings recordings
SHMTUNE_PATH=$root
check "of a folder that is named twice once" all "exits 0" err_empty \
    "[ $(grep -c 'scale .*/a.yaml$' "$folder/out") -eq 1 ]" \
    "[ $(grep -c 'scale .*/b.journal$' "$folder/out") -eq 1 ]"
run list strategies
check "strategies" all "exits 0" "out_has '^exhaustive'" "out_has '^random'"
run list kernels tunings --json
check "as JSON" all "exits 0" err_empty is_json "out_has '\"kernels\"'" \
    "out_has '\"tunings\"'" "out_lacks strategies"
run list gadgets
check "an unknown section" all "exits 1" out_empty "err_has gadgets"

echo nonsense >"$root/kernels/broken.yaml"
run list kernels
check "a broken spec is said, and left out" all "exits 0" \
    "err_has 'broken.yaml:1:1'" "out_has '^scale'" "out_lacks broken"
run -q list kernels
check "but not with -q" all "exits 0" err_empty

mkdir -p "$folder/first/kernels"
sed 's/^summary: .*/summary: another one/' "$root/kernels/scale.yaml" \
    >"$folder/first/kernels/scale.yaml"
cp "$data/scale.cu" "$data/scale.h" "$folder/first/kernels/"
SHMTUNE_PATH=$folder/first:$root
run -q list kernels
check "of two kernels of a name the first is taken" \
    all "out_has 'another one'" "out_lacks 'by way of'"
SHMTUNE_PATH=root
cd "$folder" || exit 1
run -q list kernels
check "a relative folder is not looked into" out_lacks '^scale'
run list kernels
check "which is said" all "exits 0" \
    "err_has '^shmtune: note: .SHMTUNE_PATH: root is ignored: not an absol'"
mkdir "$folder/empty"
SHMTUNE_PATH=$folder/nowhere:$root::$folder/empty:$folder/out
run list kernels --json
check "folders that are not there or have nothing are said" all "exits 0" \
    is_json "err_has 'note: .SHMTUNE_PATH: $folder/nowhere: there is no such'" \
    "err_has 'note: .*$folder/empty: has neither a folder kernels nor'" \
    "err_has 'note: .*$folder/out: there is no such folder'" \
    "notes 4" "out_has '\"scale\"'"
run -q list kernels
check "but not with -q" all "exits 0" err_empty
SHMTUNE_PATH=root
mkdir -p "$HOME/.local/share/shmtune/kernels"
cp "$data/scale.yaml" "$data/scale.cu" "$data/scale.h" \
    "$HOME/.local/share/shmtune/kernels/"
run -q list kernels
check "the user's folder is" out_has '^scale'
finish
