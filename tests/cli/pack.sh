#!/bin/sh
# SPDX-License-Identifier: MIT
#
# shmtune pack: one file of a folder, which an application opens from memory
# where neither the folder nor a compiler is.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA
tuning=$root/tunings/scale/a.yaml
make_tuning "$tuning"
make_journal "$root/tunings/scale/b.journal"
sizes() { # PACK: the names in it, without digest and offset
    grep -a '^[0-9a-f]\{64\} [0-9]* [0-9]* .*' "$1" | cut -d ' ' -f 4-
}

run pack "$root" -o "$folder/a.pack"
check "a folder is packed" all 'exits 0' \
    'out_has "a.pack: [0-9]* bytes, 1 kernel, 1 tuning, 0 binaries$"' err_empty
sizes "$folder/a.pack" >"$folder/out"
printf '%s\n' kernels/scale.cu kernels/scale.h kernels/scale.yaml \
    tunings/scale/a.yaml >"$folder/expected"
check "specs, sources, headers and tunings; no journal" \
    cmp "$folder/out" "$folder/expected"
cp -R "$root" "$folder/other"
touch "$folder/other/kernels/scale.cu"
(cd "$folder/other" && "$build/shmtune" pack . -o -) >"$folder/b.pack" \
    2>"$folder/err"
status=$?
check "the same bytes from another place, by -o -" all 'exits 0' err_empty \
    'cmp "$folder/a.pack" "$folder/b.pack"'
run pack "$root" -q -o "$folder/b.pack"
check "-q says nothing" all 'exits 0' out_empty err_empty

# -- what is refused --------------------------------------------------------

echo kept >"$folder/kept"
run pack "$root"
check "-o is needed" all 'exits 1' 'err_has "where to is missing: -o FILE"'
run pack -o "$folder/kept"
check "a folder, too" all 'exits 1' 'err_has "expected one folder, found 0"'
run pack "$folder/nowhere" -o "$folder/kept"
check "one that is there" all 'exits 5' 'err_has "there is no such folder"'
mkdir -p "$folder/empty/kernels"
run pack "$folder/empty" -o "$folder/kept"
check "with a kernel" all 'exits 2' 'err_has "has no kernel; put its spec"'
run pack "$root" -o "$folder/nowhere/a.pack"
check "a place that can be written" all 'exits 5' 'err_has "nowhere"'
run pack "$root" --arch sm_90 -o "$folder/nowhere/a.pack"
check "of which nothing is compiled first" all 'exits 5' 'err_has "nowhere"' \
    '[ ! -e "$root/cubins" ]'
run pack "$root" -o "$folder"
check "and which is a file" all 'exits 5' 'err_has "is a folder"'

cp "$tuning" "$folder/tuning"
head -c 300 "$folder/tuning" >"$tuning"
run pack "$root" -o "$folder/kept"
check "a tuning that is cut fails" all 'exits 2' 'err_has "a.yaml"'
sed 's/^digest: "...../digest: "00000/' "$folder/tuning" >"$tuning"
run pack "$root" -o "$folder/b.pack"
check "a stale one is left out" all 'exits 0' 'out_has " 0 tunings"' \
    'err_has "note: .*a.yaml: left out: it was made for other sources"'
cp "$folder/tuning" "$tuning"
cp "$root/kernels/scale.yaml" "$folder/spec"
echo 'nonsense: 1' >>"$root/kernels/scale.yaml"
run pack "$root" -o "$folder/kept"
check "a spec that is wrong fails" all 'exits 2' 'err_has "scale.yaml:"'
cp "$folder/spec" "$root/kernels/scale.yaml"
mv "$root/kernels/scale.h" "$folder/scale.h"
sed 's#"scale.h"#"../../scale.h"#' "$data/scale.cu" >"$root/kernels/scale.cu"
run pack "$root" -o "$folder/kept"
check "a header outside of the folder fails" all 'exits 2' \
    'err_has "kernel scale: .*scale.h: lies outside of .*, which is packed"'
sed "s#\"scale.h\"#\"$folder/scale.h\"#" "$data/scale.cu" \
    >"$root/kernels/scale.cu"
run pack "$root" -o "$folder/kept"
check "so does one by its whole path" all 'exits 2' \
    'err_has "kernel scale: .*scale.h: lies outside of .*, which is packed"'
mv "$folder/scale.h" "$root/kernels/scale.h"
cat "$data/scale.cu" >"$root/kernels/scale.cu"
check "and what was there is there" grep -qx kept "$folder/kept"

# -- an application ----------------------------------------------------------

choose() { # PACK KERNEL SIZE
    env SHMTUNE_PATH=/nowhere CHOOSE_PACK="$1" SHMTUNE_NVRTC=/nowhere/nvrtc.so \
        "$build/tests/support/choose" "$2" "$3" >"$folder/out" 2>"$folder/err"
    status=$?
}

if [ ! -f "$SHMTUNE_LIBCUDA" ]; then
    skip "an application opens it" "the fake driver was not built"
    finish
    exit 0
fi
choose "$folder/a.pack" scale 4096
check "an application opens it, without the folder" all 'exits 0' \
    'out_has "^match: "' 'out_lacks "^note: "' 'out_has "no binary for sm_90"'
head -c 500 "$folder/a.pack" >"$folder/cut.pack"
choose "$folder/cut.pack" scale 4096
check "not when it is cut" all 'exits 1' 'err_has "and 500 were given"'

linked=$(sed -n 's/^\(ld -r .*pack\.o\).*/\1/p' "$source/docs/library.md")
cp "$folder/a.pack" "$folder/myapp.pack"
if command -v ld >/dev/null && command -v readelf >/dev/null; then
    (cd "$folder" && eval "$linked") >"$folder/out" 2>"$folder/err"
    status=$?
    readelf -SW "$folder/pack.o" >>"$folder/out" 2>&1
    check "the linker makes an object of it, as library.md says" all 'exits 0' \
        'out_has " \.data "'
    check "that asks for no stack that can be executed" \
        out_has ' \.note\.GNU-stack .* 0  *0  *1$'
else
    skip "the linker makes an object of it" "no binutils here"
    skip "that asks for no stack that can be executed" "no binutils here"
fi

# -- binaries, for machines without a compiler --------------------------------

run pack "$root" --arch sm_9x -o "$folder/kept"
check "an architecture that is none" all 'exits 1' 'err_has "sm_9x"'
run pack "$root" --arch sm_90a -o "$folder/kept"
check "one with a suffix" all 'exits 1' 'err_has "sm_90a: name sm_90; "'
run pack "$root" --arch sm_80,, -o "$folder/kept"
check "an empty one" exits 1
if ! has_nvrtc; then
    skip "what is tuned is compiled" "no NVRTC here"
    finish
    exit 0
fi
rm -rf "$root/tunings" "$root/kernels"
mkdir "$root/kernels"
cp "$source/tests/fake/fake_kernel.cu" "$source/tests/fake/fake_kernel.yaml" \
    "$root/kernels/"
run tune "$root/kernels/fake_kernel.yaml" --device 0 --budget 40 --seed 1 \
    --size n=1000 --output "$root/tunings"
check "a kernel is tuned" exits 0
rm -rf "$HOME/.cache"
run pack "$root" --arch sm_80,sm_90 -j 2 -o "$folder/c.pack"
check "what is tuned is compiled, without a GPU" all 'exits 0' \
    'err_has "cubins: [0-9]* binaries, [1-9][0-9]* of them compiled now"' \
    'out_has "1 kernel, 1 tuning, [1-9][0-9]* binaries$"' \
    'err_has "note: nothing of it is tuned for sm_80: that gets the defaults"' \
    'err_lacks "tuned for sm_90"'
binaries() { ls "$root"/cubins/*.cubin | wc -l; }
listed() { grep -c " sm_[89]0 fake_kernel: " "$root/cubins/manifest"; }
check "as files that everybody may read, with a list of them" all \
    '[ -z "$(find "$root/cubins" -type f ! -perm 644)" ]' \
    '[ "$(listed)" -eq "$(binaries)" ]'
check "the winner for its device, and the default for both" all \
    'grep -q " sm_80 " "$root/cubins/manifest"' \
    '[ "$(grep -c " sm_90 " "$root/cubins/manifest")" -ge 2 ]'
choose "$folder/c.pack" fake_kernel 1000
check "an application needs no compiler for it" all 'exits 0' \
    'out_has "^match: exact$"' 'out_has "^prepared$"'
choose "$folder/c.pack" fake_kernel 1001
check "nor for a size near it" all 'out_has "^match: nearest size$"' \
    'out_has "^prepared$"'
check "and has nothing in the cache" [ ! -e "$HOME/.cache" ]
run pack "$root" -o "$folder/d.pack"
check "they are packed later too" all 'exits 0' \
    'cmp "$folder/c.pack" "$folder/d.pack"'
rm "$root"/cubins/*.cubin
run pack "$root" --arch sm_80,sm_90 -q -o "$folder/d.pack"
check "compiled again they are the same" all 'exits 0' err_empty \
    'cmp "$folder/c.pack" "$folder/d.pack"'
run pack "$root" --arch sm_90 -o "$folder/d.pack"
check "what is there is not compiled again, nor packed for another" all \
    'exits 0' 'err_has " 0 of them compiled now"' \
    '[ $(wc -c <"$folder/d.pack") -lt $(wc -c <"$folder/c.pack") ]'
run pack "$root" --arch sm_80 -o "$folder/d.pack"
check "a winner that is left without its binary is told" all 'exits 0' \
    'err_has "note: what is tuned for sm_90 has no binaries, .* to --arch$"'
run pack "$root" --arch sm_90 --json
check "-o may be left out" all 'exits 0' is_json 'out_has "\"file\": null"'
sed -i 's/__global__ void scale/__global__ wrong scale/' \
    "$root/kernels/fake_kernel.cu"
digest=$("$build/shmtune" list kernels --json |
    sed -n '/"name": "fake_kernel"/,/"digest"/s/.*"digest": "\(.*\)".*/\1/p')
sed -i "s/^digest: .*/digest: \"$digest\"/" "$root"/tunings/fake_kernel/*.yaml
run pack "$root" --arch sm_90 -o "$folder/kept"
check "a winner that does not compile fails" all 'exits 9' \
    'err_has "kernel fake_kernel for sm_90: a winner cannot be shipped: "' \
    'grep -qx kept "$folder/kept"'
check "no folder is left behind" [ -z "$(ls "$TMPDIR")" ]
finish
