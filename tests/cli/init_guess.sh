#!/bin/sh
# SPDX-License-Identifier: MIT
#
# init: kernels whose numbers nobody declares, and that nobody launches.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

cd "$folder" || exit 1
# draft ENTRY: of source.cu, in which the kernel is.
draft() {
    run init source.cu --entry "$1" -o draft.yaml --force
    status_of_draft=$status
    sed -n '/^parameters/,/^  arguments/p' draft.yaml >part
}
has() { grep -qF -e "$1" part; }
lacks() { ! grep -qF -e "$1" part; }

run init "$source/examples/scale/scale.cu" -o scale.yaml
sed -n '/^parameters/,/^  arguments/p' scale.yaml >part
check "macros that the compiler's caller has to give are parameters" all \
    "exits 0" \
    "has '  # The source uses BLOCK and declares it nowhere; it multiplies the block'" \
    "has '  BLOCK: {values: [64, 128, 256, 512, 1024], default: 256}'" \
    "has '  ITEMS: {values: [1, 2, 4], default: 1}'"
check "which give block and grid of a kernel that nobody launches" all \
    "has '# Nobody launches it here: a guess, by how it finds its elements.'" \
    "has '  grid: [\"ceildiv(n, BLOCK * ITEMS)\"]'" "has '  block: [BLOCK]'"
check "and of the reference, by its number" \
    [ "$(sed -n '/^reference/,/^arguments/{/TODO/d;/ # A guess/,/block/p}' scale.yaml |
        tr -d '\n')" = '  # A guess, by how it finds its elements.  grid: ["ceildiv(n, 256)"]  block: [256]' ]

cat >source.cu <<'END'
#define TWICE (2 * HALF)
enum { ROWS = 8, COLUMNS };
struct view { int extent; };
__device__ int rank_of(int i) { return i; }
template <int DEPTH>
__global__ void all(float *out, const view v, int n)
{
    __shared__ float tile[TILE][TILE + 1], first[ROWS], second[TWICE];
    __shared__ int depth[DEPTH], columns[COLUMNS], extent[WARP_SIZE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    int rows = blockIdx.x * v.extent + rank_of(x);
    out[y * n + x] = tile[threadIdx.y][threadIdx.x] + FLT_MAX * rows;
}
__global__ void asked(float *c, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i];
}
__global__ void __launch_bounds__(THREADS) bounded(float *c, int n)
{
    c[blockIdx.x * blockDim.x + threadIdx.x] = n;
}
__global__ void asked_twice(float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[blockIdx.y * n + i] = n;
}
__global__ void parts(float *c, int n)
{
    c[blockIdx.x + blockIdx.x * PARTS * SPLIT + threadIdx.x] = n;
}
__global__ void sizes(float *c, int n)
{
    c[block_size_x * blockIdx.x + threadIdx.x] = n;
}
__global__ void digits(float *c, int n)
{
    c[BLOCK2D_1 * blockIdx.x + threadIdx.x] = n;
}
END
draft all
check "of a square, its side" all "[ $status_of_draft = 0 ]" \
    "has '  TILE: {values: [4, 8, 16, 32, 64], default: 16}'" \
    "has '  block: [TILE, TILE]'" "has '\"TILE * TILE <= 1024\"'" \
    "has '  grid: \"TODO: '"
check "but nothing that is declared, or no number" all \
    "[ \$(grep -c 'declares it nowhere' part) = 1 ]" "has 'uses TILE'"
draft asked
check "a block that the kernel asks for is one of the launch" all \
    "[ $status_of_draft = 0 ]" \
    "has '  BLOCK_X: {values: [64, 128, 256, 512, 1024], default: 256, scope: launch}'" \
    "has '  grid: [\"ceildiv(n, BLOCK_X)\"]'" "has '  block: [BLOCK_X]'"
draft bounded
check "of at most as many threads as its bounds" all \
    "[ $status_of_draft = 0 ]" "has '  BLOCK_X: {values: '" \
    "has '  THREADS: {values: [64, 128, 256, 512, 1024], default: 256}'"
draft asked_twice
check "where there is one axis" all "[ $status_of_draft = 0 ]" \
    "lacks BLOCK_X" "has '  block: \"TODO: '"
draft parts
check "which of two is the block's nobody knows" all \
    "[ $status_of_draft = 0 ]" "has '  PARTS: {values: '" \
    "has '  SPLIT: {values: '" "has '  block: \"TODO: '"
draft sizes
check "one may stand before the index" all "[ $status_of_draft = 0 ]" \
    "has '  block_size_x: {values: [64, 128, 256, 512, 1024], default: 256}'" \
    "has '  block: [block_size_x]'"
draft digits
check "and have digits in it" all "[ $status_of_draft = 0 ]" \
    "has '  block: [BLOCK2D_1]'" "has '  BLOCK2D_1: {values: [64, '"
echo '#include "elsewhere.h"' >>source.cu
draft sizes
check "a header that is not there may declare it" all \
    "[ $status_of_draft = 0 ]" "lacks 'declares it nowhere'"

# What is drafted so is a spec.
sed "s/: \"TODO: a usual size[^\"]*\"/: 1000/; s/value: \"TODO: [^\"]*\"/value: 2/
    s/count: \"TODO: [^\"]*\"/count: n/" scale.yaml >spec.yaml
run check --no-compile spec.yaml
check "filled in it is a spec" exits 0
if has_nvrtc; then
    run inspect spec.yaml --limit 4 --arch sm_90
    check "which compiles" exits 0
else
    skip "which compiles" "no NVRTC"
fi
finish
