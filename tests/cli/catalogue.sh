#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Which kernels there are and where they are found: the command and the library
# hold one opinion, and note the same in the same words.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

choose=$build/tests/support/choose

# The library finds the kernel; what keeps it from choosing is no driver.
library_finds() {
    "$choose" "$1" 1024 >"$folder/choose" 2>&1
    ! grep -q '^no such kernel' "$folder/choose"
}
library_lacks() { ! library_finds "$1"; }

# Both note the same, $1 things, and each of the other words is among them.
both_note() {
    "$build/shmtune" list kernels 2>&1 >/dev/null </dev/null |
        sed -n 's/^shmtune: note: //p' >"$folder/command"
    "$choose" none 2>/dev/null | sed -n 's/^note: //p' >"$folder/library"
    sed 's/^/# note: /' "$folder/library"
    diff "$folder/command" "$folder/library" >"$folder/diff" || {
        sed 's/^/# /' "$folder/diff"
        return 1
    }
    [ "$(wc -l <"$folder/library")" -eq "$1" ] || return 1
    shift
    for words in "$@"; do
        grep -q -e "$words" "$folder/library" || return 1
    done
}

# spec FILE NAME SUMMARY: beside scale's source.
spec() {
    mkdir -p "$(dirname "$1")"
    cp "$data/scale.cu" "$data/scale.h" "$(dirname "$1")/"
    sed -e "s/^name: .*/name: $2/" -e "s/^summary: .*/summary: $3/" \
        "$data/scale.yaml" >"$1"
}

export SHMTUNE_LIBCUDA="$folder/libcuda.so.1"
export XDG_DATA_HOME="$folder/data"

status=0
check "a folder of good files is nothing to note" both_note 0

# A kernel is known by its name, whatever its file is called.
spec "$root/kernels/foo.yaml" flip 'from foo.yaml'
run list kernels
check "list shows the name" all "exits 0" "out_has '^flip .*from foo.yaml'" \
    "out_lacks '^foo'"
run space flip
check "the command finds the name" all "exits 0" err_empty
check "and so does the library" library_finds flip
run space foo
check "no file's name finds a kernel" all "exits 1" out_empty \
    "err_has 'no kernel \"foo\"; $root/kernels/foo.yaml holds the kernel \"flip\"'"
run foo --device 0
check "not as the first word either" all "exits 1" \
    "err_has '$root/kernels/foo.yaml holds the kernel \"flip\"'"
check "nor in the library" library_lacks foo
check "both note that the two names differ" both_note 1 \
    "^$root/kernels/foo.yaml: holds the kernel flip; it is known by that name"
run space "$root/kernels/foo.yaml"
check "a path finds a file" all "exits 0" err_empty

# A tuning names the kernel too.
digest=$("$build/shmtune" -q list kernels --json |
    sed -n '/"name": "flip"/,/"digest"/s/.*"digest": "\(.*\)".*/\1/p')
mkdir "$root/tunings/flip"
make_tuning "$folder/scale.tuning"
sed -e 's/^kernel: .*/kernel: flip/' -e "s/^digest: .*/digest: \"$digest\"/" \
    "$folder/scale.tuning" >"$root/tunings/flip/a.yaml"
run check --no-compile "$root/tunings/flip/a.yaml"
check "a tuning's kernel is found by its name" all "exits 0" "out_has '1 ok'"
SHMTUNE_PATH=
run check --no-compile "$root/tunings/flip/a.yaml"
check "also beside the file" all "exits 0" "out_has '1 ok'"
SHMTUNE_PATH=$root
run list tunings
check "and its tunings are listed" out_has '^flip .*/tunings/flip/a.yaml'
rm -r "$root/tunings/flip"

# Of two files with one name in a folder the first counts.
spec "$root/kernels/goo.yaml" flip 'from goo.yaml'
run -q list kernels
check "of two files of one name the first is used" \
    all "out_has '^flip .*from foo.yaml'" "out_lacks 'from goo.yaml'"
check "which both note" both_note 2 \
    "^$root/kernels/goo.yaml: left out: the kernel flip is the one of $root/kernels/foo.yaml"
rm "$root/kernels/goo.yaml"

# Of two folders the first counts.
spec "$folder/mine/kernels/flip.yaml" flip 'from mine'
sed -i 's/values: \[0, 1, 16384\]/values: [0, 2, 16384]/' "$folder/mine/kernels/flip.yaml"
SHMTUNE_PATH=$folder/mine:$root
run -q list kernels
check "of two folders the first is used" \
    all "out_has '^flip .*from mine'" "out_lacks 'from foo.yaml'"
check "which both note" both_note 1 \
    "foo.yaml: left out: the kernel flip is the one of $folder/mine/kernels/flip.yaml"
cp "$root/kernels/foo.yaml" "$folder/mine/kernels/flip.yaml"
check "of the same kernel twice there is nothing to note" both_note 0
SHMTUNE_PATH=$root

# What cannot be read is noted and left out.
rm "$root/kernels/foo.yaml"
echo nonsense >"$root/kernels/broken.yaml"
check "both note a file that is no spec" both_note 1 "broken.yaml:1:1: "
run space broken
check "its error is what is said of it" all "exits 2" "err_has 'broken.yaml:1:1'"
run space scale
check "and the others are used" all "exits 0" err_empty
run check --no-compile
check "check finds it wrong" all "exits 2" "out_has 'broken.yaml:1:1'"
rm "$root/kernels/broken.yaml"

# Folders that cannot be what was meant.
mkdir "$folder/empty"
ln -s loop "$folder/loop"
SHMTUNE_PATH=$folder/nowhere:root:$root:$folder/empty:$folder/loop
check "both note the same of folders" both_note 4 \
    "SHMTUNE_PATH: $folder/nowhere: there is no such folder" \
    "SHMTUNE_PATH: root is ignored: not an absolute path" \
    "$folder/empty: has neither a folder kernels nor a folder tunings" \
    "$folder/loop: the folder cannot be entered: "

# A pack is no folder, and what lies beside its place does not count.
echo 'shmtune pack/1' >"$folder/a.pack"
spec "$folder/beside/kernels/scale.yml" scale none
mkdir -p "$folder/beside/tunings"
make_tuning "$folder/beside/tunings/scale.yaml"
SHMTUNE_PATH=$folder/a.pack:$folder/beside
check "both note what is in the wrong place" both_note 3 \
    "a.pack: there is no such folder: it is a file (shmtune_open_memory " \
    "^$folder/beside/kernels/scale.yml: left out: the name .* ends in .yaml" \
    "^$folder/beside/tunings/scale.yaml: left out: a tuning lies in the folder"

# A folder that cannot be looked at is told as such, not as an empty one.
mkdir "$folder/broken"
ln -s kernels "$folder/broken/kernels"
SHMTUNE_PATH=$folder/broken
loop="$folder/broken/kernels: folder cannot be opened: Too many levels"
check "both note a folder that cannot be entered" both_note 1 "^$loop"
for words in "space scale" "scale --device 0" check \
    "tune --device 0"; do
    # shellcheck disable=SC2086
    run $words
    check "$words: the error of the folder" all "exits 5" out_empty \
        "err_has 'error: .*$loop.*leave it out of SHMTUNE_PATH'" \
        "err_lacks 'no kernel'" "err_lacks 'neither a command'"
done
SHMTUNE_PATH=$folder/broken:$root
run space scale
check "what another folder has is used" all "exits 0"
finish
