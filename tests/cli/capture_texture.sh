#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: textures that the application made are drafted, with what they hold,
# and the launch is made again with them.  On the fake driver.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "textures are drafted" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA
kernel=$SHMT_SRCDIR/tests/fake/fake_texture.cu

# captured FILE WORD...: of 37 rows of 53, into the folder `taken`
captured() {
    rm -rf taken
    file=$1
    shift
    # shellcheck disable=SC2086
    run capture ${options-} -o taken -- "$fake/textured" "$file" 37 53 "$@"
}
has() { grep -qF -e "$1" taken/sample-1/kernel.yaml; }
checks() {
    (cd / && "$build/shmtune" check "$folder/taken/sample-1") >checked 2>&1 ||
        ! sed 's/^/# /' checked
}
alone=$("$fake/textured" "$kernel" 37 53)

captured "$kernel"
check "a program with textures runs as it does alone" all "exits 0" \
    "out_has '^$alone$'"
check "an array, its filter and its border are drafted" all \
    "has 'image_data: {type: f32, role: input, count: rows * cols, fill:'" \
    "has 'image: {texture: image_data, extents: [cols, rows], filter: linear, address: border, border: [0.5]}'"
check "so are four bytes a texel, read as reals of a volume that repeats" all \
    "has 'volume_data: {type: u8, role: input, count: 256,'" \
    "has 'volume: {texture: volume_data, extents: [8, 4, 2], channels: 4, read: normalized_float, normalized: true, address: wrap}'"
check "and pitched memory, which is clamped where it cannot repeat" \
    has 'clamped: {texture: clamped_data, extents: [cols, rows], memory: pitch, pitch: 56}'
check "of an allocation only what the texture has" all \
    "has 'table_data: {type: i32, role: input, count: entries,'" \
    "has 'table: {texture: table_data, extents: [entries]}'"
check "the draft checks, and gives what the application got" all checks \
    "err_has 'made again it gives what the application got; output: out'" \
    "! has TODO"
run tune taken/sample-1/kernel.yaml --device 0 --budget 2 --output tuned
check "and is tuned" all "exits 0" "[ -e tuned/sample-1/*.yaml ]"

captured "$kernel" again
check "handles that are used again are of what was made last" all "exits 0" \
    "err_has 'made again it gives what the application got'" \
    "has 'table: {texture: table_data, extents: [entries]}'"

options=--no-rerun
captured "$kernel" gone
check "one that is gone is to be written" all "exits 0" \
    "has 'table: \"TODO: a texture that was not there when'" \
    "has 'image: {texture: image_data'" "! checks >all"
captured "$kernel" steep
check "so is one that a spec has not" all "exits 0" \
    "has 'image: \"TODO: a texture with an anisotropic filter, which a spec has not\"'"
sed 's/cudaTextureObject_t table/unsigned long long table/' "$kernel" >number.cu
captured "$folder/number.cu"
check "a number stays one, though it is that of a texture" all "exits 0" \
    checks "has 'table: {type: u64, value: '" \
    "has 'image: {texture: image_data'"
sed 's/extern "C"//; s/cudaTextureObject_t table/entries_t table/
    s/^#else/#else\ntypedef cudaTextureObject_t entries_t;/' "$kernel" >alias.cu
captured "$folder/alias.cu" _Z6samplePfyyyyiiii
check "a type's other name is that of a texture" all "exits 0" checks \
    "has 'table: {texture: table_data, extents: [entries]}'"
sed '1i #define BLOCK 64' "$kernel" >plain.cu
sed 's/extern "C"//' plain.cu >mangled.cu
# From where no source lies.
mkdir bare && cd bare || exit 1
for symbol in "" _Z6samplePfyyyyiiii; do
    name=${symbol:+mangled}
    "$fake/textured" "../${name:-plain}.cu" plain.cubin
    # shellcheck disable=SC2086
    captured "$folder/bare/plain.cubin" $symbol
    check "without a source they are textures${symbol:+, by the symbol too}" \
        all "exits 0" "has 'extents: [8, 4, 2], channels: 4'" \
        "has 'extents: [53, 37], filter: linear'"
done
cd .. || exit 1

FAKE_CUDA_FAIL=Memcpy3DAsync=1,3
export FAKE_CUDA_FAIL
captured "$kernel"
check "a launch whose array cannot be copied is left out" all "exits 0" \
    "err_has 'left out: an array of it could not be copied'" \
    "[ ! -e taken/sample-1 ]"
finish
