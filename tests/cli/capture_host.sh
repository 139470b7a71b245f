#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: which of several numbers with the same value give the grid and the
# block: as host code says, else by trying, else said to be open.  No GPU is
# needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "host code is read" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA

# kernel NAME FILE: a kernel that tests/fake/matrices.c knows, without a host
kernel() {
    cat >"$2" <<END
#define TILE_DIM 16
#define BLOCK_ROWS 16
__global__ void $1(float *odata, const float *idata, int width, int height)
{
    __shared__ volatile float tile[TILE_DIM][TILE_DIM + 1];
    __shared__ volatile float first[BLOCK_ROWS];
    tile[threadIdx.y][threadIdx.x] = idata[threadIdx.x];
    first[threadIdx.y] = tile[threadIdx.x][threadIdx.y];
    odata[threadIdx.y] = first[threadIdx.x];
}
END
}
# launch FILE KERNEL PART_X PART_Y BLOCK_X BLOCK_Y WIDTH HEIGHT...: captured as
# what nvcc has compiled, with the sources of $sources
launch() {
    binary=$1 symbol=_Z${#2}${2}PfPKfii
    shift 2
    rm -rf taken
    # shellcheck disable=SC2086
    run capture ${options---no-rerun} $sources -o taken -- "$fake/launcher" \
        "$binary" "$symbol" "$@"
}
has() { grep -qF -e "$2" "taken/$1/kernel.yaml"; }
lacks() { ! has "$@"; }

kernel transpose transpose.cu
"$fake/launcher" compile transpose.cu transpose.cubin || exit 1

# -- what host code says ------------------------------------------------------
# host BODY: whole.cu, the kernel with a host function
host() {
    { cat transpose.cu; echo "void run(float *d_odata, float *d_idata,"
      echo "         int size_x, int size_y) {"; echo "$1"; echo "}"; } >whole.cu
}
sources="--source whole.cu"
options="--no-rerun --propose"
host 'void (*kernel)(float *, const float *, int, int) = &transpose;
dim3 grid(size_x/TILE_DIM, size_y/TILE_DIM), threads(TILE_DIM,BLOCK_ROWS);
kernel<<<grid, threads>>>(d_odata, d_idata, size_x, size_y);'
launch transpose.cubin transpose 16 16 16 16 64 64
check "grid and block are those of the host, through a pointer too" all \
    "exits 0" "has transpose-1 'block: [TILE_DIM, BLOCK_ROWS]'" \
    "has transpose-1 'grid: [width // TILE_DIM, height // TILE_DIM]'" \
    "has transpose-1 '# Blocks along y: as line 15 of the source launches it.'" \
    "lacks transpose-1 'may also be'"
options="--no-rerun --count 2"
launch transpose.cubin transpose 16 16 16 16 64 64 128 32
check "and fit all launches" all "exits 0" \
    "has transpose-2 'grid: [width // TILE_DIM, height // TILE_DIM]'" \
    "has transpose-2 '# Blocks along x: as line 15 of the source launches it;'" \
    "has transpose-2 '# it fits all 2 launches that were captured, with 2 grids.'"
options=--no-rerun
for grid in 'dim3((size_x + TILE_DIM - 1) / TILE_DIM, (size_y - 1 + 16) / 16)' \
    'dim3(UP(size_x, TILE_DIM), UP(size_y, BLOCK_ROWS), 2)' \
    'dim3(size_x / TILE_DIM, size_y / unknown())' \
    'dim3(size_x / TILE_DIM, size_x * size_x)'; do
    host "transpose<<<$grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(d_odata, d_idata,
        size_x, size_y);"
    launch transpose.cubin transpose 16 16 16 16 64 128
    check "an extent that $grid does not say is a guess" all "exits 0" \
        "has transpose-1 'block: [TILE_DIM, BLOCK_ROWS]'" \
        "has transpose-1 'ceildiv(height, BLOCK_ROWS)\"]'" \
        "has transpose-1 '# Blocks along y: a guess from one launch;'" \
        "has transpose-1 '# Blocks along y: several give it, since numbers'" \
        "has transpose-1 '# None was tried. It may also be'" \
        "has transpose-1 '#   \"ceildiv(height, TILE_DIM)\"'"
done
host '#define DIVUP(a, b) (((a) + (b) - 1) / (b))
const int tile = TILE_DIM;
cudaLaunchKernel((void *)transpose, dim3(DIVUP(width, tile),
    DIVUP(height, tile)), dim3(tile, BLOCK_ROWS), arguments, 0, stream);'
launch transpose.cubin transpose 16 16 16 16 64 128
check "macros, constants and the runtime's function are read" all "exits 0" \
    "has transpose-1 'grid: [\"ceildiv(width, TILE_DIM)\", \"ceildiv(height, TILE_DIM)\"]'" \
    "has transpose-1 'block: [TILE_DIM, BLOCK_ROWS]'"
{ echo 'namespace ns { extern "C" {'; cat transpose.cu; echo '} }'; } >inside.cu
"$fake/launcher" compile inside.cu inside.cubin || exit 1
rm -rf taken
run capture --no-rerun --source inside.cu -o taken -- "$fake/launcher" \
    inside.cubin transpose 16 16 16 16 64 64
check "a kernel that is extern \"C\" is called with its namespace" all \
    "exits 0" "has transpose-1 'entry: \"ns::transpose\"'"
host 'transpose<<<dim3(size_x / 8, size_y / 8), dim3(8, 8)>>>(a, b, size_x, size_y);
transpose<<<dim3(size_x / TILE_DIM, size_y / TILE_DIM),
    dim3(TILE_DIM, BLOCK_ROWS)>>>(a, b, size_x, size_y);'
launch transpose.cubin transpose 16 16 16 16 64 128
check "of several launches it is the one with these numbers" all "exits 0" \
    "has transpose-1 'grid: [width // TILE_DIM, height // TILE_DIM]'" \
    "has transpose-1 'as line 14 of the source launches it'"
host 'transpose<<<dim3(size_x / TILE_DIM, size_y / BLOCK_ROWS),
    dim3(TILE_DIM, BLOCK_ROWS)>>>(a, b, size_x, size_y);
transpose<<<dim3(size_x / TILE_DIM, size_y / TILE_DIM),
    dim3(TILE_DIM, BLOCK_ROWS)>>>(a, b, size_x, size_y);'
launch transpose.cubin transpose 16 16 16 16 64 128
check "where two have them, that is said" all "exits 0" \
    "has transpose-1 'grid: [width // TILE_DIM, height // BLOCK_ROWS]'" \
    "has transpose-1 '#   height // TILE_DIM'" \
    "has transpose-1 '# Blocks along y: several give it, '"
host 'transpose<<<dim3(4, 8), dim3(TILE_DIM, BLOCK_ROWS)>>>(a, b, 64, 128);'
options="--no-rerun --propose"
launch transpose.cubin transpose 16 16 16 16 64 128
check "a grid that follows nothing stays" all "exits 0" \
    "has transpose-1 'grid: [4, 8]'" \
    "has transpose-1 '# Blocks along y: as line 13 of the source launches it.'"
options=--no-rerun
main() {
    cat >main.cu <<END
$1
int main() {
    dim3 grid(wide / TILE_DIM, high / TILE_DIM), threads(TILE_DIM, BLOCK_ROWS);
    transpose<<<grid, threads>>>(a, b, wide, high);
}
END
}
main '#include "types.h"'
sources="--source transpose.cu --source main.cu"
launch transpose.cubin transpose 16 16 16 16 64 128
check "another source that is named may have the host" all "exits 0" \
    "has transpose-1 'grid: [width // TILE_DIM, height // TILE_DIM]'" \
    "has transpose-1 '# Blocks along x: as line 4 of another source that was'" \
    "grep -q '^source: .*/transpose.cu' taken/transpose-1/kernel.yaml"

# -- what includes it ---------------------------------------------------------
mkdir part here
sed 's/float/real/g; /^#define TILE_DIM/d' transpose.cu >part/kernel.h
printf '#pragma once\ntypedef float real;\n#define TILE_DIM 16\n' >part/types.h
main '
#include "part/types.h"
#include "part/kernel.h"'
sources="--source part/kernel.h --source main.cu"
launch transpose.cubin transpose 16 16 16 16 64 128
check "the source is the file that includes the kernel's" all "exits 0" \
    "grep -q '^source: .*/main.cu' taken/transpose-1/kernel.yaml" \
    "has transpose-1 '# Blocks along x: as line 6 of the source launches it.'" \
    "has transpose-1 'grid: [width // TILE_DIM, height // TILE_DIM]'" \
    "has transpose-1 'odata: {type: f32, role: inout, '" \
    "has transpose-1 'TILE_DIM: {values: [16], default: 16, override: true}'"
main '#include "kernel.h"' && sed -i '1i #include <types.h>' main.cu
sources="--source main.cu --nvcc-option=-I --nvcc-option=part"
launch transpose.cubin transpose 16 16 16 16 64 128
check "in folders of headers, too" all "exits 0" \
    "grep -q '^source: .*/main.cu' taken/transpose-1/kernel.yaml" \
    "has transpose-1 'odata: {type: f32, role: inout, '"
main '#include "../part/types.h"
#include "../part/kernel.h"
#ifdef LAUNCHES
#include "launch.h"
#endif' && mv main.cu here/
printf '\nvoid f() {\n transpose<<<dim3(2, 8), dim3(16, 16)>>>(a, b, 64, 128); }\n' >here/launch.h
cp transpose.cubin here/ && cd here || exit 1
sources=
launch transpose.cubin transpose 16 16 16 16 64 128
check "what nobody names may be in the current folder" all "exits 0" \
    "grep -q '^source: .*/here/main.cu' taken/transpose-1/kernel.yaml"
cd .. || exit 1
rm main.cu

# -- by trying ----------------------------------------------------------------
# The program compiles its kernel itself, so that no nvcc is needed.
options= sources=
launch transpose.cu transpose 16 16 16 16 64 128
check "what no host says is tried" all "exits 0" \
    "err_has 'transpose-1: made again it .*; grid x: ceildiv(width, TILE_DIM); grid y: ceildiv(height, TILE_DIM); block x: TILE_DIM; block y: BLOCK_ROWS$'" \
    "has transpose-1 'grid: [\"ceildiv(width, TILE_DIM)\", \"ceildiv(height, TILE_DIM)\"]'" \
    "has transpose-1 'block: [TILE_DIM, BLOCK_ROWS]'" \
    "has transpose-1 '# Blocks along y: found by trying: of numbers with the'" \
    "has transpose-1 '# Threads along y: found by trying: of numbers with the'" \
    "lacks transpose-1 'may also be'"
check "and leaves nothing behind" all "[ ! -e taken/transpose-1/trial.yaml ]" \
    "has transpose-1 '  TILE_DIM: {values: [16], default: 16, override: true}'"
kernel twice twice.cu
launch twice.cu twice 16 16 16 16 64 128
check "so is another kernel, which is otherwise" all "exits 0" \
    "has twice-1 'grid: [\"ceildiv(width, TILE_DIM)\", \"ceildiv(height, BLOCK_ROWS)\"]'" \
    "has twice-1 'block: [TILE_DIM, BLOCK_ROWS]'" \
    "has twice-1 '# Blocks along y: found by trying'"
options="--count 2"
launch twice.cu twice 16 16 16 16 64 128 32 96
check "other launches of it are like the first" all "exits 0" \
    "has twice-2 '# Blocks along y: found by trying'" \
    "has twice-2 'fits all 2 launches that were captured, with 2 grids'" \
    "has twice-2 'grid: [\"ceildiv(width, TILE_DIM)\", \"ceildiv(height, BLOCK_ROWS)\"]'"
options=
kernel strides strides.cu
launch strides.cu strides 16 16 16 16 64 128
check "where several are right, all are said" all "exits 0" \
    "err_has 'strides-1: made again it .*; grid x: one of 2, see the draft'" \
    "has strides-1 '# Blocks along x: several give it, since numbers have the'" \
    "has strides-1 '# With others of them all of these gave the same result. It'" \
    "has strides-1 '#   \"ceildiv(width, BLOCK_ROWS)\"'" \
    "has strides-1 '#   \"ceildiv(height, TILE_DIM)\"'"
kernel sixteen sixteen.cu
launch sixteen.cu sixteen 16 16 16 16 64 128
check "where none is, too" all "exits 0" \
    "has sixteen-1 '# With others of them none gave the result of the app'" \
    "has sixteen-1 '#   \"ceildiv(height, TILE_DIM)\"'"
mkdir whole
for kernel in transpose twice strides sixteen; do
    options=--propose
    launch "$kernel.cu" "$kernel" 16 16 16 16 64 128
    run check taken/"$kernel"-1 --compile-timeout 600
    check "$kernel: it is a spec" exits 0
    [ "$kernel" = sixteen ] || cp -r taken/* whole/
done

# -- what follows for tuning --------------------------------------------------
run tune whole/transpose-1 --device 0 --strategy exhaustive -o tuned
right=$(grep -c '^- {config: .*verdict: \(ok\|slow\)' \
    tuned/transpose-1/*.journal)
check "all candidates that can be right are" all "exits 0" \
    "[ $right -eq 12 ]" "err_has '; 21 of 21 candidates in '"
finish
