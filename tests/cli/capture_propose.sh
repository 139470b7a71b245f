#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture --propose: what of a source is a parameter of this kernel, and the
# values to try.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "of a source what the kernel uses is proposed" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1

# cover: of the kernel in source.cu, which is given before and after it; its
# block is 256 wide.
cover() {
    rm -rf taken
    run capture --no-rerun --propose -o taken -- \
        env APPLICATION_SOURCE=source.cu "$fake/application" opened load \
        cover=1000
}
has() { grep -qF -e "$1" taken/cover-1/kernel.yaml; }
# Whether check takes it.
checks() {
    "$build/shmtune" check taken/cover-1 >checked 2>&1 || ! sed 's/^/# /' checked
}

cat >tile.h <<'END'
__device__ float turn(float x) { __shared__ float t[LANES]; t[0] = x; return t[0]; }
END
cat >source.cu <<'END'
__constant__ float offsets[2];
#define R 4
#define NDIM 8
#define LANES 64
#define WARP_SIZE 32
#ifndef UNROLL
#define UNROLL 4
#endif
#ifndef OTHERS
#define OTHERS 4
#endif
#include "tile.h"
extern "C" __global__ void blend(float *x)
{
    __shared__ float s[NDIM + 2 * R][NDIM + 2 * R][NDIM + 2 * R];
    for (int i = blockIdx.x; i < OTHERS; i += gridDim.x * blockDim.x)
        x[i] = s[0][0][0];
}
extern "C" __global__ void cover(float *z, const float *x, float a, int n)
{
    __shared__ float s[WARP_SIZE];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    s[0] = 0;
#pragma unroll UNROLL
    for (int k = 0; k < 16; k++)
        if (i < n) z[i] = turn(a * x[i]) + s[0];
}
END
cover
check "macros that another kernel uses are no parameters" all "exits 0" \
    "! has ' R:'" "! has NDIM" "! has OTHERS" checks
check "those of the kernel are, and of what it calls in a header" all \
    "has '  UNROLL: {values: [1, 2, 4, 8, 16], default: 4}'" \
    "has '  LANES: {values: [16, 32, 64, 128, 256], default: 64, override: true}'"
check "but for the size of a warp" all "! has WARP_SIZE"
check "a loop of another kernel over the grid is none of this one" all "! has GRID_X"

cat >source.cu <<'END'
__constant__ float offsets[2];
#define R 4
#define NDIM 8
#define WIDE 1024
extern "C" __global__ void blend(float *x)
{
    __shared__ float s[NDIM + 2 * R][NDIM + 2 * R][NDIM + 2 * R];
    x[0] = s[0][0][0];
}
extern "C" __global__ void cover(float *z, const float *x, float a, int n)
{
    __shared__ double wide[WIDE];
    __shared__ float s[NDIM * R];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    wide[0] = s[0] = 0;
    if (i < n) z[i] = a * x[i] + s[0] + wide[0];
}
END
cover
check "no value makes arrays of any kernel too large, nor several do" all \
    "exits 0" "has '  R: {values: [1, 2, 4], default: 4, override: true}'" \
    "has '  NDIM: {values: [2, 4, 8], default: 8, override: true}'" \
    "has '  WIDE: {values: [256, 512, 1024, 2048, 4096], default: 1024, '" \
    "has '- \"4 * (NDIM + 2 * R) * (NDIM + 2 * R) * (NDIM + 2 * R) <= 49152\"'" \
    "has '- \"8 * WIDE + 4 * (NDIM * R) <= 49152\"'" checks

# Constants, as those of macros.
cat >source.cu <<'END'
__constant__ float offsets[2];
namespace { constexpr int LANES = 64; }
enum { ROWS = 4, TAPS = 8 };
extern "C" __global__ void blend(float *x)
{
    const int TWICE = 8;
    __shared__ float s[TAPS * TWICE];
    x[0] = s[0];
}
extern "C" __global__ void cover(float *z, const float *x, float a, int n)
{
    static const int TWICE = 16;
    const int last = 0, UNROLL = 2;
    __shared__ float s[LANES + TWICE][ROWS];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    s[last][0] = 0;
#pragma unroll UNROLL
    for (int k = 0; k < 16; k++)
        if (i < n) z[i] = a * x[i] + s[0][0];
}
END
cover
check "constants of the kernel are parameters" all "exits 0" \
    "has '  # LANES is a constant of the source; it stands in an array in shared memory.'" \
    "has '  LANES: {values: [16, 32, 64, 128, 256], default: 64, override: true}'" \
    "has '  ROWS: {values: [1, 2, 4, 8, 16], default: 4, override: true}'" \
    "has '  UNROLL: {values: [1, 2, 4, 8], default: 2, override: true}'" checks
check "but for those of others, and of which there are two" all \
    "! has TAPS" "! has TWICE"

# A table has a length, an assertion wants even numbers, and both are of this kernel.
cat >source.cu <<'END'
__constant__ float offsets[2];
#define RADIUS 4
#define STATES 2
__constant__ float taps[] = {1, 2, 3, 4, 5};
static_assert(RADIUS < sizeof taps / sizeof taps[0], "taps for each of RADIUS");
extern "C" __global__ void blend(float *x) { x[0] = 1; }
extern "C" __global__ void cover(float *z, const float *x, float a, int n)
{
    static_assert(STATES % 2 == 0, "states come in pairs");
    __shared__ float s[BLOCK + 2 * RADIUS][STATES];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    s[0][0] = s[RADIUS][1] = taps[RADIUS];
    if (i < n) z[i] = a * x[i] + 0 * s[RADIUS][1];
}
END
said() { grep -qF -e "$1" "$folder/err"; }
cover
check "a value is left out with which the source does not compile" all "exits 0" \
    "has '  RADIUS: {values: [1, 2, 4], default: 4, override: true}'" \
    "has '  STATES: {values: [2, 4, 8], default: 2, override: true}'" checks
check "and the compiler's reason is beside it" all \
    "has '# as they are: 16, 8; of the first it says'" "has 'taps for each of RADIUS'" \
    "has '# as they are: 1; of the first it says'" "has 'states come in pairs'" \
    "said 'taken/cover-1: left out, since the source does not compile with it: '" \
    "said 'RADIUS 16, 8; STATES 1'"

# Of nvcc's, with another compiler or none.
cat >tables.cu <<'END'
#define TILE_DIM 16
__constant__ float taps[TILE_DIM] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
#ifdef BROKEN
#error broken
#endif
__global__ void transpose(float *odata, const float *idata, int width, int height)
{
    __shared__ volatile float tile[TILE_DIM][TILE_DIM + 1], first[16];
    tile[threadIdx.y][threadIdx.x] = idata[threadIdx.x] * taps[threadIdx.x];
    first[threadIdx.y] = tile[threadIdx.x][threadIdx.y];
    odata[threadIdx.y] = first[threadIdx.x] + width * height;
}
END
"$fake/launcher" compile tables.cu tables.cubin || exit 1
tables() {
    rm -rf taken
    run capture --no-rerun --propose --source tables.cu "$@" -o taken -- \
        "$fake/launcher" tables.cubin _Z9transposePfPKfii 16 16 16 16 64 64
    mv taken/transpose-1 taken/cover-1
}
SHMTUNE_NVCC=/no/nvcc
export SHMTUNE_NVCC
tables
check "without its compiler all values are proposed" all "exits 0" \
    "has '  TILE_DIM: {values: [4, 8, 16, 32, 64], default: 16, override: true}'" \
    "! has '# as they are'"
unset SHMTUNE_NVCC
if "$build/shmtune" doctor | grep -q '^ok  *nvcc'; then
    tables
    check "with nvcc those that compile" all "exits 0" checks \
        "has '  TILE_DIM: {values: [4, 16, 32, 64], default: 16, override: true}'" \
        "has '# as they are: 8; of the first it says'"
    tables --nvcc-option=-DBROKEN
    check "of a source that does not compile as it is no value is to blame" all \
        "exits 0" "! has '# as they are'" \
        "has '  TILE_DIM: {values: [4, 8, 16, 32, 64], default: 16, override: true}'"
else
    skip "with nvcc those that compile" "no nvcc"
fi

# loose SYMBOL: of such a kernel, with a block of 64
loose() {
    rm -rf taken
    run capture --no-rerun --propose -o taken -- \
        env APPLICATION_SOURCE=source.cu "APPLICATION_SYMBOL=$1" \
        "$fake/application" opened load loose=1000
    mv taken/loose-1 taken/cover-1
}
cat >source.cu <<'END'
__constant__ float offsets[2];
extern "C" __global__ void blend(float *x) { x[0] = 1; }
template <class T, int N, int M>
__global__ void loose(T *z, const T *x, float a, int n)
{
    __shared__ T s[N];
    s[threadIdx.x] = x[threadIdx.x];
    for (int i = blockIdx.x * N + threadIdx.x; i < n; i += gridDim.x * N)
        z[i] = M * a * s[threadIdx.x];
}
template __global__ void loose<float, 64, 2>(float *, const float *, float, int);
template __global__ void loose<float, 64, 64>(float *, const float *, float, int);
END
loose _Z5looseIfLi64ELi2EEvPT_PKS0_fi
check "a template that is given the block has another with it" all "exits 0" \
    "has 'BLOCK_X is the launch'" "has 'block; its template is given it.'" \
    "has '  BLOCK_X: {values: [32, 64, 128, 256], default: 64}'" \
    "has 'entry: \"loose<float, {BLOCK_X}, 2>\"'" "has 'block: [BLOCK_X]'" checks
loose _Z5looseIfLi64ELi64EEvPT_PKS0_fi
check "unless several of its arguments may be it" all "exits 0" \
    "has 'entry: \"loose<float, 64, 64>\"'" \
    "has '  BLOCK_X: {values: [64], default: 64, scope: launch}'"

sed -e 's/^__constant__/extern "C" __global__ void loose(float *z, const float *x,\
    float a, int n)\
{\
    int i = blockIdx.x * blockDim.x + threadIdx.x;\
    if (i < n) z[i] = a * x[i];\
}\
&/' -e '/^template/,$d' source.cu >threads.cu
mv threads.cu source.cu
loose loose
check "a kernel that counts its threads keeps as many, whatever their blocks" all \
    "exits 0" "has 'grid: [\"ceildiv(384, BLOCK_X)\"]'" \
    "has '# Blocks along x: for as many threads as there were, which the kernel'" \
    "has '  BLOCK_X: {values: [32, 64, 128, 256], default: 64, scope: launch}'" checks

sed -i 's/void loose/void __launch_bounds__(128) loose/' source.cu
loose loose
check "no block is proposed beyond the launch bounds" all "exits 0" \
    "has '  BLOCK_X: {values: [32, 64, 128], default: 64, scope: launch}'" checks

# shared EXPRESSION: given to a kernel that asks blockDim, by host code
shared() {
    cat >source.cu <<END
__constant__ float offsets[2];
extern "C" __global__ void blend(float *x) { x[0] = 1; }
extern "C" __global__ void loose(float *z, const float *x, float a, int n)
{
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = x[threadIdx.x];
    if (i < n) z[i] = a * x[i] + 0 * s[0];
}
#ifndef __CUDACC_RTC__
void run(float *z, const float *x, int n)
{
    const int threads = 64;
    loose<<<n / threads, threads, $1>>>(z, x, 2.5f, n);
}
#endif
END
    APPLICATION_SHARED=$2 loose loose
}
export APPLICATION_SHARED
shared '(threads + 1) * sizeof(float)' 260
check "where the shared memory follows the block, that may grow" all "exits 0" \
    "has 'shared_dynamic: (BLOCK_X + 1) * 4'" "has '# As host code launches it.'" \
    "has '  BLOCK_X: {values: [32, 64, 128, 256], default: 64, scope: launch}'" checks
for said in 'n / 4 + 10' '4 * 65'; do
    shared "$said" 260
    check "where it does not, or nobody knows, it may not: $said" all "exits 0" \
        "has 'shared_dynamic: 260'" \
        "has '  BLOCK_X: {values: [32, 64], default: 64, scope: launch}'" checks
done
unset APPLICATION_SHARED

# An argument that no symbol says as the source would.
cat >source.cu <<'END'
__constant__ float offsets[2];
extern "C" __global__ void blend(float *x) { x[0] = 1; }
__device__ float two(float x) { return 2 * x; }
template <float (*F)(float)>
__global__ void loose(float *z, const float *x, float a, int n) { z[0] = F(a * x[n]); }
#ifndef __CUDACC_RTC__
void run(float *z, const float *x, int n) { loose<two><<<n, 64>>>(z, x, 2.5f, n); }
#endif
template __global__ void loose<two>(float *, const float *, float, int);
END
loose _Z5looseIXadL_Z3twofEEEvPfPKffi
check "what a template is made with is asked for, with what the host says" all \
    "exits 0" "has '- entry: \"TODO: what the kernel is called, with the arguments'" \
    "has 'as NAME<float, 4>; host code launches loose<two>\"'"
sed -i 's/^- entry: .*/- entry: "loose<two>"/' taken/cover-1/kernel.yaml
check "which then is the entry" checks

# Of each two kernels of a name the one that was launched, wherever it stands.
cat >source.cu <<'END'
__constant__ float offsets[2];
extern "C" __global__ void blend(float *x) { x[0] = 1; }
namespace far {
template <class T> __global__ void loose(T *z, const T *x, T a, int n)
{ z[threadIdx.x] = a * x[n]; }
template <class T> __global__ void loose(T *z, const T *x, T a, long n)
{ z[threadIdx.x] = 2 * a * x[n]; }
template __global__ void loose<float>(float *, const float *, float, int);
}
__global__ void loose(float *z, const float *x, float a, int n)
{ z[threadIdx.x] = a * x[n]; }
__global__ void loose(double *z, const double *x, double a, long n)
{ z[threadIdx.x] = a * x[n]; }
END
loose _Z5loosePfPKffi
check "a kernel is chosen among others of its name by its types" all "exits 0" \
    "has 'entry: \"(void (*)(float *, const float *, float, int))loose\"'" \
    "has '  z: {type: f32, '" checks
loose _ZN3far5looseIfEEvPT_PKS1_S1_i
check "so is one of a template" all "exits 0" \
    "has 'entry: \"(void (*)(float *, const float *, float, int))far::loose<float>\"'" \
    "has '  z: {type: f32, '" checks
sed -i 's/^  n: {type: i32/  n: {type: f32/' taken/cover-1/kernel.yaml
run check taken/cover-1
check "what it is passed is checked by that" all "exits 2" \
    "out_has 'takes int as parameter 4, the spec passes n, a scalar of f32'"
sed -i 's/far::loose</far::looser</' taken/cover-1/kernel.yaml
run check taken/cover-1
check "and whether there is one of that name" all "exits 2" \
    "out_has 'no kernel \"looser\": did you mean far::loose?'"

finish
