#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture --propose: numbers of a source that are part of what its kernel
# computes are no choice, which shows when the launch is made again with others.
# The kernels are those of tests/fake/choices.c.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "a number that changes the result is no choice" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA

# source KERNEL BLOCK TILE RADIUS [COLS]: of a kernel of choices.c
source() {
    third=
    cat >"$1.cu" <<END
#define BLOCK $2
#define TILE $3
#define RADIUS $4
END
    [ $# -eq 4 ] || { echo "#define COLS $5"; third=', c[10000 * COLS]'; } \
        >>"$1.cu"
    cat >>"$1.cu" <<END
__global__ void $1(float *out, const float *in, int width, int height)
{
    __shared__ volatile char a[TILE], b[100 * RADIUS]$third;
    int at = blockIdx.y * width + blockIdx.x * BLOCK + threadIdx.x;
    a[threadIdx.x % TILE] = b[threadIdx.x] = 0;
    ${third:+c[threadIdx.x] = 0;}
    if (at < width * height) out[at] = in[at] + 0 * a[0];
}
END
}
# take KERNEL OPTION...: captured, in blocks of $block
block="32 1"
take() {
    kernel=$1
    shift
    rm -rf taken
    # shellcheck disable=SC2086
    run capture "$@" -o taken -- "$fake/launcher" "$kernel.cu" \
        "_Z${#kernel}${kernel}PfPKfii" $block $block $sizes
}
sizes="64 96"
has() { grep -qF -e "$1" "taken/$kernel-${2:-1}/kernel.yaml"; }
lacks() { ! has "$@"; }
none() {
    lacks 'no choice' && ! grep -q 'no choice' err
}
checks() {
    "$build/shmtune" check "taken/$kernel-1" >checked 2>&1 ||
        ! sed 's/^/# /' checked
}

source widen 32 16 4
take widen --propose
check "a radius is no choice, a block and a tile are" all "exits 0" \
    "err_has 'widen-1: made again it .*; output: out; no choice: RADIUS$'" \
    "has '# It is no choice: with 8, 2, 16, 1 in its place the result is another.'" \
    "has '  # To tune it all the same, write this instead:'" \
    "has '  # RADIUS: {values: [1, 2, 4, 8, 16], default: 4, override: true}'" \
    "has '  RADIUS: {values: [4], default: 4, override: true}'" \
    "has '  BLOCK: {values: [32, 64, 128], default: 32, override: true}'" \
    "has '  TILE: {values: [4, 8, 16, 32, 64], default: 16, override: true}'" checks

take widen --propose --no-rerun
check "which nobody knows who makes nothing again" all "exits 0" none \
    "has '  RADIUS: {values: [1, 2, 4, 8, 16], default: 4, override: true}'"
take widen
check "and nobody asks who proposes nothing" all "exits 0" none \
    "has '  # To tune it, write this instead:'"
sizes="64 96 64 32"
take widen --propose --count 2
sizes="64 96"
check "it counts for other launches of the kernel" all "exits 0" \
    "err_has 'widen-2: made again it .*; no choice: RADIUS$'" \
    "has '# It is no choice: with 8, 2, 16, 1 in its place the' 2" \
    "has '  RADIUS: {values: [4], default: 4, override: true}' 2"

# The block is 8 x 4, and with 2 or 1 no whole warps.
source widen 8 16 4
block="8 4"
take widen --propose
block="32 1"
check "values that no constraint allows alone are not tried" all "exits 0" \
    "has '# It is no choice: with 8, 16 in its place the result is another.'" \
    checks

source shatter 32 16 4
take shatter --propose
check "a launch that fails is none that gives the same" all "exits 0" \
    "err_has 'shatter-1: made again it .*; no choice: RADIUS$'" \
    "has '# It is no choice: with 8, 2, 16, 1 in its place the result is another,'" \
    "has '  # or the launch fails.'"

source quarter 32 16 8
take quarter --propose
check "a number of which one other value is right keeps all" all "exits 0" \
    none \
    "has '  RADIUS: {values: [2, 4, 8, 16, 32], default: 8, override: true}'"

source widen 32 16 4
sed -i '/__global__/i static_assert(RADIUS == 4 || RADIUS == 8, "two");' widen.cu
take widen --propose
check "so does one of which a single other was tried" all "exits 0" none \
    "has '  RADIUS: {values: [4, 8], default: 4, override: true}'"

source rounded 32 16 4
take rounded --propose
check "and one with which results are near, which may be rounding" all "exits 0" \
    none "has '  RADIUS: {values: [1, 2, 4, 8, 16], default: 4, override: true}'"

source paired 32 16 4
take paired --propose
check "two that have to be changed together are a choice" all "exits 0" none \
    "has '  TILE: {values: [4, 8, 16, 32, 64], default: 16, override: true}'" \
    "has '  RADIUS: {values: [1, 2, 4, 8, 16], default: 4, override: true}'"
sed -i 's/paired/alone/' paired.cu && mv paired.cu alone.cu
take alone --propose
check "two that do not help each other are none" all "exits 0" \
    "err_has 'alone-1: made again it .*; no choice: TILE, RADIUS$'" checks

# A grid that no number of the draft gives may be by any of them.
source alone 32 16 3
rm -rf taken
run capture --propose -o taken -- "$fake/launcher" alone.cu _Z5alonePfPKfii 7 3 \
    32 1 64 96
check "nor is anything said where the grid is a plain number" all "exits 0" \
    "grep -q '^  grid: .10, 32.$' taken/alone-1/kernel.yaml" \
    "! grep -q 'no choice' err taken/alone-1/kernel.yaml"

source alike 32 4 4 4
take alike --propose
check "of three that are the same nobody knows" all "exits 0" none \
    "has '  COLS: {values: [1, 2, 4], default: 4, override: true}'"

# Which of two the grid is by is open: no other value was right.
cat >sixteen.cu <<'END'
#define TILE_DIM 16
#define BLOCK_ROWS 16
__global__ void sixteen(float *odata, const float *idata, int width, int height)
{
    __shared__ volatile float tile[TILE_DIM][TILE_DIM + 1];
    __shared__ volatile float first[BLOCK_ROWS];
    tile[threadIdx.y][threadIdx.x] = idata[threadIdx.x];
    first[threadIdx.y] = tile[threadIdx.x][threadIdx.y];
    odata[threadIdx.y] = first[threadIdx.x];
}
END
block="16 16"
sizes="64 128"
take sixteen --propose
check "where the grid is open a wrong result says nothing" all "exits 0" none \
    "has '# With others of them none gave the result of the app'" \
    "has '  TILE_DIM: {values: [4, 8, 16, 32, 64], default: 16, override: true}'"
finish
