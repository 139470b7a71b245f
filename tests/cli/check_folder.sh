#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check DIR and check PACK: all that an application ships, and damage of each
# part of it.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

tuning=$root/tunings/scale/t.yaml
make_tuning "$tuning"
make_journal "$root/tunings/scale/j.journal"
ship=$folder/ship
mv "$root" "$ship"
mkdir "$root"

# found NAME TEXT...: a check of $of finds it, and fails
of=$ship
found() {
    run check --no-compile "$of"
    name=$1
    shift
    conditions=
    for text in "$@"; do
        conditions="$conditions && out_has '$text'"
    done
    check "$name" all 'exits 2' 'err_has "failed"' "true$conditions"
}

# -- specs and tunings --------------------------------------------------------

run check --no-compile "$ship"
check "a folder, whose kernels are nowhere else" all 'exits 0' err_empty \
    'out_has "^ok .*/ship/kernels/scale.yaml: "' \
    'out_has "^ok .*/t.yaml: tuning of scale"' \
    'out_has "^ok .*/j.journal: journal of scale"' \
    'out_has "^3 ok, 0 wrong, 0 skipped$"'
mkdir -p "$folder/empty"
of=$folder/empty found "one that has nothing" \
    '^wrong .*/empty: has neither a folder kernels nor a folder tunings'
for launch in scale-1 scale-2; do
    mkdir -p "$folder/taken/$launch"
    cp "$ship/kernels/scale.yaml" "$folder/taken/$launch/kernel.yaml"
    cp "$ship/kernels"/*.cu "$folder/taken/$launch/"
done
run check --no-compile "$folder/taken"
check "one of captured launches" all 'exits 0' \
    'out_has "^ok .*/taken/scale-1/kernel.yaml: "' \
    'out_has "^ok .*/taken/scale-2/kernel.yaml: "' 'out_has "^2 ok, 0 wrong"'
meant='is a folder of 2 captured launches; name one, as'
cd "$folder" || exit 1
run tune taken --device 0
check "which is no kernel by its name" all 'exits 1' \
    "err_has 'taken: $meant taken/scale-1\$'"
run space "$folder/taken"
check "or by its path" all 'exits 1' "err_has '/taken: $meant /'"
run pack "$folder/taken" -o out.pack
check "and no folder to pack" all 'exits 5' \
    'err_has "tunings; a spec and its source go into kernels/"'
mkdir -p "$folder/empty/in"
cd "$folder/empty/in" || exit 1
mkdir -p "$folder/idle/kernels" "$folder/idle/tunings"
cp "$ship/kernels/scale.yaml" "$folder/idle/kernels/scale.yml"
cp "$ship/tunings/scale/t.yaml" "$folder/idle/tunings/"
of=$folder/idle found "one in which nothing has the name that counts" \
    '^wrong .*/idle: has nothing to check: neither a spec, kernels/NAME' \
    '^note .*/idle/kernels/scale.yml: left out: .* ends in .yaml' \
    '^note .*/idle/tunings/t.yaml: left out: .* folder of its kernel' \
    '^0 ok, 1 wrong, 0 skipped'
of=../ found "by a path that climbs; it is told once, and clean" \
    '^wrong   /[^ ]*/empty/*: has neither a folder kernels nor a folder tunings; name the folder that holds these, or files$'
check "without the way there" all "out_lacks '[.][.]'" \
    "[ \$(grep -o /empty '$folder/out' | wc -l) -eq 1 ]"
run check --no-compile --json ..
check "as JSON, too" all "exits 2" "out_has '\"file\": \"/[^ ]*/empty\"'"
cd "$folder" || exit 1
of=$folder/nowhere found "one that is not there" '^wrong .*nowhere'
cp "$ship/kernels/scale.yaml" "$folder/spec"
echo 'nonsense: 1' >>"$ship/kernels/scale.yaml"
found "a spec that is wrong" '^wrong .*kernels/scale.yaml:[0-9]*:1: '
cp "$folder/spec" "$ship/kernels/scale.yaml"
tuning=$ship/tunings/scale/t.yaml
cp "$tuning" "$folder/tuning"
sed 's/^digest: "...../digest: "00000/' "$folder/tuning" >"$tuning"
found "a tuning of other sources" '^wrong .*t.yaml: made for other sources'
cp "$folder/tuning" "$tuning"
mkdir "$ship/tunings/other"
sed 's/^kernel: scale/kernel: other/' "$tuning" >"$ship/tunings/other/t.yaml"
found "a tuning of a kernel that is nowhere" '^wrong .*other/t.yaml: .*other'
run check --no-compile --spec "$ship/kernels/scale.yaml" \
    "$ship/tunings/other/t.yaml"
check "which is told once" all 'exits 2' \
    'out_has "^wrong .*/other/t.yaml: is about the kernel other, and"'
rm -r "$ship/tunings/other"

# -- a pack -------------------------------------------------------------------

run pack "$ship" -o "$folder/a.pack"
run check --no-compile "$folder/a.pack"
check "a pack" all 'exits 0' err_empty \
    "out_has '^ok .*/a.pack/kernels/scale.yaml: '" \
    "out_has '^ok .*/a.pack/tunings/scale/t.yaml: tuning of scale'" \
    "out_has '^2 ok, 0 wrong, 0 skipped$'"
cp "$folder/a.pack" "$folder/other"
run check --no-compile --json "$folder/other"
check "whatever it is called, as JSON" all 'exits 0' is_json \
    "out_has '\"file\": \".*/other/kernels/scale.yaml\"'"
sed 's/^format: kernel/formal: kernel/' "$folder/a.pack" >"$folder/b.pack"
of=$folder/b.pack found "a file of it is damaged" \
    '^wrong .*b.pack: kernels/scale.yaml: .* bytes [0-9]* to [0-9]* of the' \
    'is [0-9a-f]\{12\}..., expected [0-9a-f]\{12\}' '1 wrong, 1 skipped'
sed 's/ kernels.scale.cu$/ kernels-scale.cu/' "$folder/a.pack" \
    >"$folder/b.pack"
of=$folder/b.pack found "its table" \
    'b.pack: the table .*: the digest of bytes [0-9]* to [0-9]* is .*expected'
sed '1s/ [0-9]* / x /' "$folder/a.pack" >"$folder/b.pack"
of=$folder/b.pack found "its first line" 'damaged at byte 1[0-9]: expected'
head -c 500 "$folder/a.pack" >"$folder/b.pack"
of=$folder/b.pack found "its end is gone" 'bytes, and 500 were given'
echo nothing >"$folder/b.pack"
of=$folder/b.pack found "it is none" 'the 8 bytes are no pack, which begins'
check "no folder is left behind" [ -z "$(ls "$TMPDIR")" ]

# -- binaries -----------------------------------------------------------------

cubins=$ship/cubins manifest=$ship/cubins/manifest
mkdir "$cubins"
for line in 'shmtune cubins/2' 'cubins' 'shmtune cubins/1
abc sm_90 scale: BLOCK=64 at n=1'; do
    echo "$line" >"$manifest"
    found "a manifest of another form: ${line%%
*}" '^wrong .*/cubins/manifest:[12]:1: found "'
done
key=$(printf '%064d' 1)
{
    echo 'shmtune cubins/1'
    echo "$key sm_17 scale: BLOCK=64 at n=1"
} >"$manifest"
found "an architecture that is none" \
    'manifest:2:66: found "sm_17 .*expected an architecture'
{
    echo 'shmtune cubins/1'
    printf %s "$key sm_90 sca"
} >"$manifest"
found "a manifest that is cut" 'manifest:2:1: .*the file is cut'
{
    echo 'shmtune cubins/1'
    echo "$key sm_90 old: BLOCK=64 at n=1"
} >"$manifest"
found "the winner has no binary, nor has what the manifest names" \
    '^wrong .*/cubins: the winner sm_90 scale: .* has no binary; make it: ' \
    'shmtune pack .*/ship --arch sm_90$' \
    '^wrong .*/cubins: the binary of sm_90 old: BLOCK=64 at n=1: .*.res'

SHMTUNE_PATH=$ship
rm -r "$cubins"
if ! has_nvrtc; then
    skip "binaries" "no NVRTC here"
    finish
    exit 0
fi
run pack "$ship" --arch sm_80,sm_90 -j 2 -o "$folder/c.pack"
check "binaries are made" exits 0
SHMTUNE_PATH=$root
run check --no-compile "$ship"
check "they are there, and whole" all 'exits 0' 'out_lacks "^note"' \
    "out_has '^ok .*/cubins: [1-9][0-9]* binaries for sm_80, sm_90, whole'"
run check --sample 0 "$folder/c.pack"
check "and in the pack, whose sources compile" all 'exits 0' \
    "out_has '^ok .*/c.pack/cubins: [1-9][0-9]* binaries for sm_80, sm_90'" \
    "out_has 'c.pack/kernels/scale.yaml: .*compile'" 'out_lacks "$TMPDIR"'
# The second configuration of the dispatch is none at any size; BLOCK=1024 is
# one at the larger alone, and has its binary by way of it.
cp -R "$ship" "$folder/learnt"
sed 's,^format: tuning/1,format: tuning/2,; $d' "$ship/tunings/scale/t.yaml" \
    >"$folder/learnt/tunings/scale/t.yaml"
cat >>"$folder/learnt/tunings/scale/t.yaml" <<'YAML'
dispatch:
  seed: 1
  sizes: 100
  held_out: [9912, 9480]
  nearest: [9820, 8610]
  range: {n: [64, 1000000]}
  configurations:
  - {BLOCK: 1024, PAD: 1, MEMORY: static, CARVEOUT: -1}
  - {BLOCK: 64, PAD: 16384}
  features:
  - {of: {n: 1}}   # 0: n
  tree:
  - {feature: 0, below: 1000, else: 2}   # 0: n < 1000
  - {take: [0]}   # 1
  - {take: [1, 0]}   # 2
...
YAML
run pack "$folder/learnt" --arch sm_80,sm_90 -j 2
check "binaries of a dispatch are made" exits 0
run check --no-compile "$folder/learnt"
check "what no constraint allows is not missed" all 'exits 0' \
    'out_lacks "^note.*no binary"' "out_has 'sm_80, sm_90, whole'"
sed '/BLOCK=1024 PAD=1 /d' "$folder/learnt/cubins/manifest" >"$folder/cut"
for key in $(sed -n 's/^\([0-9a-f]*\) .*BLOCK=1024 PAD=1 .*/\1/p' \
    "$folder/learnt/cubins/manifest"); do
    rm "$folder/learnt/cubins/$key".*
done
cp "$folder/cut" "$folder/learnt/cubins/manifest"
run check --no-compile "$folder/learnt"
check "what one does at some size is, and where" all 'exits 0' \
    "out_has '^note .* 1 configuration that may be chosen has no binary, such'" \
    "out_has 'sm_90 scale: BLOCK=1024 PAD=1 .* at n=1048576:'"

cp -R "$cubins" "$folder/whole"
restore() {
    rm -rf "$cubins"
    cp -R "$folder/whole" "$cubins"
}

winner=$(sed -n 's/ sm_90 scale: BLOCK=64 .* at n=1000$//p' "$manifest" |
    head -n 1)
check "the manifest has the winner" [ -n "$winner" ]
rm "$cubins/$winner.cubin"
found "one is missing" \
    "^wrong .*/cubins: the binary of sm_90 scale: .*$winner.cubin" \
    'make it: shmtune pack .*/ship --arch sm_80,sm_90$'
restore
{
    head -c 100 "$folder/whole/$winner.cubin"
    printf '!'
    tail -c +102 "$folder/whole/$winner.cubin"
} >"$cubins/$winner.cubin"
found "one has another byte" \
    "$winner.res:[0-9]*:[0-9]*: the digest of the binary is .*, expected"
head -c 100 "$folder/whole/$winner.cubin" >"$cubins/$winner.cubin"
found "one is cut" "$winner.res:.*: the binary has 100 bytes, expected [0-9]"
restore
sed 's/^- {name: scale/- {name: other/' "$folder/whole/$winner.res" \
    >"$cubins/$winner.res"
found "one is of another kernel" 'the binary of sm_90 scale'
restore
sed "/^$winner /d" "$folder/whole/manifest" >"$manifest"
rm "$cubins/$winner".*
found "the winner was never made" 'the winner sm_90 scale: .* has no binary'
restore
echo 12345 >"$cubins/README"
run check --no-compile "$ship"
check "a file that nothing selects is noted with its bytes" all 'exits 0' \
    "out_has '^note .*/cubins: 1 file (6 bytes) that nothing selects, .*README'"
restore
rm "$manifest"
run check --no-compile "$ship"
check "no manifest is noted" all 'exits 0' \
    "out_has '^note .*/cubins: has no manifest, .*the [0-9]* binaries are'"
printf '!' >>"$cubins/$winner.cubin"
found "without one damage is found too" "$winner.res:"
restore
echo '// new' >>"$ship/kernels/scale.h"
rm -r "$ship/tunings"
run check --no-compile "$ship"
check "binaries of other sources are noted" all 'exits 0' \
    "out_has '^note .*/cubins: [0-9]* files of binaries (.* bytes) are made for other'" \
    "out_has 'make today.s: shmtune pack .*/ship --arch sm_80,sm_90$'" \
    'out_lacks "has no binary"'
check "no folder is left behind by any" [ -z "$(ls "$TMPDIR")" ]
finish
