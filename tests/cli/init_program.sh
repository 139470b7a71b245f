#!/bin/sh
# SPDX-License-Identifier: MIT
#
# init of whole programs: what their host code says of a kernel's types, sizes,
# arrays and block.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

own=$folder/own
mkdir "$own"
has() { grep -qF -e "$1" "$draft"; }
lacks() { ! has "$1"; }
marks() { [ "$(grep -c TODO "$draft")" -eq "$1" ]; }

# -- a program in one file, with a header ------------------------------------
cat >"$own/real.h" <<'END'
#pragma once
#ifdef USE_DOUBLE
typedef double real;
#else
typedef float real;
#endif
using index_type = unsigned int;
#define WIDTH 128
END
cat >"$own/program.cu" <<'END'
#include <cstdlib>
#include <vector>
#include "real.h"

__device__ void put(real *to, index_type i, real x) { to[i] = x; }

__global__ void blend(real *out, const real *a, const real *b, real share,
                      index_type count, int *hits)
{
    index_type i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    put(out, i, share * a[i] + (1 - share) * b[i % WIDTH]);
    atomicAdd(hits, 1);
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? atoi(argv[1]) : 65536;
    const size_t bytes = n * sizeof(real);
    const int threads = 256;
    real *d_a, *d_b, *d_out;
    int *d_hits;

    cudaMalloc((void **)&d_a, bytes);
    cudaMalloc(&d_b, WIDTH * sizeof(real));
    cudaMalloc(&d_out, bytes);
    cudaMalloc(&d_hits, sizeof(int));
    dim3 grid((n + threads - 1) / threads), block(threads);
    blend<<<grid, block>>>(d_out, d_a, d_b, 0.25f, n, d_hits);
}
END
draft=$own/program.yaml
run init "$own/program.cu"
check "the host of a program says all of a kernel" all "exits 0" \
    "out_has 'drafted for blend; 0 things to write:'" \
    "has 'compiler: nvcc'" "has 'count: {default: 65536}'" \
    "has 'BLOCK_X: {values: [64, 128, 256, 512, 1024], default: 256, scope: launch}'" \
    "has 'grid: [\"ceildiv(count, BLOCK_X)\"]'" "has 'block: [\"BLOCK_X\"]'" \
    "has 'out: {type: f32, role: output, count: count, tolerance: {relative: 1.0e-6}}'" \
    "has 'a: {type: f32, role: input, count: count}'" \
    "has 'b: {type: f32, role: input, count: 128}'" \
    "has 'share: {type: f32, value: 0.25}'" \
    "has 'count: {type: u32, value: count}'" \
    "has 'hits: {type: i32, role: inout, count: 1}'"
run check --no-compile "$draft"
check "and check takes it as it is" all "exits 0" "out_has '^1 ok, 0 wrong'"
if "$build/shmtune" doctor --wide 2>&1 | grep -q '^ok  *nvcc '; then
    run check --compile-timeout 600 --sample 0 "$draft"
    check "as nvcc does" all "exits 0" "out_has '^ok '"
else
    skip "as nvcc does" "there is no nvcc"
fi
grep -v '^compiler: ' "$draft" >"$own/nvrtc.yaml"
if "$build/shmtune" doctor --wide 2>&1 | grep -q '^ok  *NVRTC '; then
    run check --compile-timeout 600 --sample 0 "$own/nvrtc.yaml"
    check "NVRTC does not, and says who does" all "exits 2" \
        "tr -s '\\n ' ' ' <'$folder/out' | grep -q 'or write .compiler: nvcc.'"
else
    skip "NVRTC does not, and says who does" "there is no NVRTC"
fi
run space "$draft" --size count=4096
check "the space is that of the block" all "exits 0" "out_has '^5 valid'"

sed 's/^int main/#ifndef __CUDACC_RTC__\n&/; $a#endif' "$own/program.cu" |
    sed 's/^#include <.*/#ifndef __CUDACC_RTC__\n&\n#endif/' >"$own/guarded.cu"
draft=$own/guarded.yaml
run init "$own/guarded.cu"
check "what is kept from NVRTC is compiled by it" all "exits 0" \
    "lacks compiler:" "has 'a: {type: f32, role: input, count: count}'"

# -- templates, and functions that launch -------------------------------------
cat >"$own/wrapped.cu" <<'END'
template <typename T, int THREADS>
__global__ void fold(const T *__restrict__ in, T *__restrict__ out, int rows,
                     int cols)
{
    __shared__ T part[THREADS];
    const T *row = in + blockIdx.x * cols;
    T *to = out;
    part[threadIdx.x] = row[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        to[blockIdx.x] = part[0];
}
template <typename T> void run(const T *x, T *y, int rows, int cols)
{
    fold<T, 128><<<rows, 128, 128 * sizeof(T)>>>(x, y, rows, cols);
}
#ifndef __CUDACC_RTC__
int main(int argc, char **argv)
{
    int rows = atoi(argv[1]);
    const int cols = 1 << 10;
    double *x, *y;
    cudaMalloc(&x, sizeof(double) * rows * cols);
    cudaMalloc(&y, rows * sizeof(double));
    run<double>(x, y, rows, cols);
}
#endif
END
draft=$own/wrapped.yaml
run init "$own/wrapped.cu" -o "$draft"
check "a template is what its caller's caller gives it" all "exits 0" \
    "has 'entry: \"fold<double, {BLOCK_X}>\"'" \
    "has 'BLOCK_X: {values: [32, 64, 128, 256, 512], default: 128}'" \
    "has 'grid: [\"rows\"]'" "has 'block: [\"BLOCK_X\"]'" \
    "has 'shared_dynamic: \"BLOCK_X * 8\"'" "has 'cols: {default: 1024}'" \
    "has 'in: {type: f64, role: input, count: \"rows * cols\"}'" \
    "has 'out: {type: f64, role: output, count: rows, tolerance: '" \
    "has 'rows: {default: \"TODO: a usual size'" "marks 1"

cat >"$own/caller.cu" <<'END'
__global__ void scale(float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= a;
}
__global__ void tile(float *y, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    y[blockIdx.y * blockDim.y + threadIdx.y] = x * w * h;
}
void run_scale(float *d, int n, int block_size)
{
    int blocks = (n - 1 + block_size) / block_size;
    scale<<<blocks, block_size>>>(d, alpha, n);
}
void run_tile(float *d, int w, int h)
{
    dim3 block(16, 8), grid;
    grid.x = (w + 15) / 16;
    grid.y = (h + block.y - 1) / block.y;
    tile<<<grid, block>>>(d, w, h);
}
END
draft=$own/caller.yaml
run init "$own/caller.cu" --entry scale -o "$draft"
check "a block that nobody gives is a parameter" all "exits 0" \
    "has '# The source leaves block_size to its caller.'" \
    "has 'block_size: {values: [64, 128, 256, 512, 1024], default: 256, scope: launch}'" \
    "has 'block: [\"block_size\"]'" "has 'grid: [\"(n - 1 + block_size) // block_size\"]'" \
    "has 'y: {type: f32, role: inout, count: \"TODO: how many'" \
    "has 'a: {type: f32, value: \"TODO: a number'"
run init "$own/caller.cu" --entry tile -o "$draft" --force
check "and so are two extents, which make a block together" all "exits 0" \
    "has 'BLOCK_X: {values: [4, 8, 16, 32, 64], default: 16, scope: launch}'" \
    "has 'BLOCK_Y: {values: [2, 4, 8, 16, 32], default: 8, scope: launch}'" \
    "has '- \"BLOCK_X * BLOCK_Y <= 1024\"'" "has 'block: [\"BLOCK_X\", \"BLOCK_Y\"]'" \
    "has 'grid: [\"ceildiv(w, BLOCK_X)\", \"ceildiv(h, BLOCK_Y)\"]'"

cat >"$own/partly.cu" <<'END'
__global__ void partly(float *y, int n) { y[blockDim.x * blockIdx.x] = n; }
void go() { dim3 block(64, q[1]); partly<<<n / 64, block>>>(y, n); }
END
draft=$own/partly.yaml
run init "$own/partly.cu"
check "of a block that is known in part nothing is" all "exits 0" \
    "lacks BLOCK_X" "has 'block: \"TODO: threads along x, y, z'"

cat >"$own/words.cu" <<'END'
__global__ void words(float *y, int levels)
{
    const int N = 1 << levels;
    y[blockDim.x * blockIdx.x + N] = 1;
}
void go(int bytes) { words<<<rows, N / 4, bytes>>>(y, 3); }
END
draft=$own/words.yaml
run init "$own/words.cu"
check "what the source declares is no macro, and bytes are no size" all \
    "exits 0" "has 'N: {values: [64, 128, 256, 512, 1024], default: 256, scope: launch}'" \
    "has 'grid: [\"rows\"]'" "lacks 'bytes: {default'" \
    "has 'shared_dynamic: \"TODO: the bytes of extern __shared__; the source says bytes\"'"

# -- several files --------------------------------------------------------------
mkdir "$own/apart"
cat >"$own/apart/kernels.cu" <<'END'
__global__ void spread(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i / FACTOR];
}
END
cat >"$own/apart/main.cpp" <<'END'
void go(int n)
{
    cudaMalloc(&y, n * 4);
    spread<<<(n + 511) / 512, 512>>>(y, x, n);
}
END
draft=$own/apart/kernels.yaml
run init "$own/apart/kernels.cu"
check "the launch may be in a file beside" all "exits 0" \
    "has 'source: kernels.cu'" "lacks compiler:" \
    "has 'grid: [\"ceildiv(n, BLOCK_X)\"]'" \
    "has 'y: {type: f32, role: output, count: n, '" \
    "has 'x: {type: f32, role: input, count: \"TODO: '"
cat >"$own/apart/main.cu" <<'END'
#define FACTOR 4
#include "kernels.cu"
int main() { int n = 4096; spread<<<(n + 511) / 512, 512>>>(y, x, n); }
END
run init "$own/apart/kernels.cu" --force
check "and where that includes the kernel's, it is the source" all "exits 0" \
    "has 'source: main.cu'" "has 'compiler: nvcc'" "has 'n: {default: 4096}'"
(cd "$own/apart" && "$build/shmtune" init main.cu -o - >"$folder/out" 2>&1)
check "a kernel of a header is found" all "out_has 'name: spread'" \
    "out_has '^source: main.cu'"

# -- structures ---------------------------------------------------------------
cat >"$own/parts.cu" <<'END'
#include <cuda_runtime.h>

typedef struct { float x, y, z; } Float3;
typedef struct Float3 *Never;
struct __align__(16) Particle {
    Float3 at, v;
    float mass;
    unsigned char kind, flags[2];
    int id;
};
struct Matrix { double e[3][3]; };
class Pair { public: half2 both; };
struct Parameters {
    const float *weights;
    int n, m;
    float scale[2];
    double step = 0.5, *log{nullptr};

    __host__ __device__ Parameters() : n(1) { m = 2; }
    float get() const { return step; }
};
struct Quad { float4 q; float r; };
struct Odd { int bits : 3; };
template <class T> struct Any { T t; };

__global__ void move(Particle *p, const Float3 *f, struct Matrix *u, Pair *two,
                     Parameters q, Quad quad, Odd odd, const Any<float> *any,
                     Particle **list, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        p[i].at.x += f[i].x * q.step;
        u[i].e[0][1] = quad.r + odd.bits + any[i].t + list[i]->mass;
        two[i].both = half2();
    }
}

int main()
{
    const int n = 4096;
    Particle *p;
    Float3 *f;
    Matrix *u;
    Pair *two;

    cudaMalloc(&p, n * sizeof(Particle));
    cudaMalloc(&f, sizeof(Float3) * n);
    cudaMalloc(&u, sizeof(struct Matrix));
    cudaMalloc(&two, n * sizeof(Pair));
    move<<<(n + 255) / 256, 256>>>(p, f, u, two, q, quad, odd, any, list, n);
}
END
draft=$own/parts.yaml
run init "$own/parts.cu"
check "an array of structures is one of their elements" all "exits 0" \
    "has 'f: {type: f32, role: input, count: \"3 * n\"}'" \
    "has 'u: {type: f64, role: output, count: 9, '" \
    "has 'two: {type: f16, '"
check "or of bytes, which have no numbers of their own" \
    has 'p: {type: bytes, role: inout, count: "n * 48", fill: "TODO: {file: PATH}, or zero; Particle has 48 bytes: f32 at[3] at 0, f32 v[3] at 12, f32 mass at 24, u8 kind at 28, u8 flags[2] at 29, i32 id at 32"}'
check "one that is passed has its members" \
    has 'q: {struct: {weights: {pointer: "TODO: the argument that it leads to, or null"}, n: {type: i32, value: "TODO: a number, as 1"}, m: {type: i32, value: "TODO: a number, as 1"}, scale: {type: f32, value: "TODO: a list of 2 numbers"}, step: {type: f64, value: "TODO: a number, as 1"}, log: {pointer: "TODO: the argument that it leads to, or null"}}}'
check "what a spec cannot lay out, or nobody can read, is a mark" all \
    "has 'quad: \"TODO: {type: f32, value: 1}'" \
    "has 'odd: \"TODO: {type: f32, value: 1}'" \
    "has 'any: {type: \"TODO: f32, i32, ...; the source says const Any<float> *'" \
    "has 'list: {type: \"TODO: f32, i32, ...; the source says Particle **'"

# -- parameters under a condition ---------------------------------------------
cat >"$own/maybe.cu" <<'END'
__global__ void maybe(double *y, int n
#ifdef WORKLIST
                      , int *list
#endif
                      , const double *x)
{
#ifdef WORKLIST
    extern __shared__ int own[];
    n = own[list[0]];
#endif
    if (blockIdx.x * blockDim.x + threadIdx.x < n)
        y[blockIdx.x * blockDim.x + threadIdx.x] = x[n];
}
void go(double *x, double *y, int *list, int n, int bytes)
{
    maybe<<<(n + 127) / 128, 128
#ifdef WORKLIST
            , bytes
#endif
            >>>(y, n
#ifdef WORKLIST
                , list
#endif
                , x);
}
END
draft=$own/maybe.yaml
run init "$own/maybe.cu"
check "parameters are those of the side that is compiled" all "exits 0" \
    "has 'arguments: [y, n, x]'" "lacks 'list:'" "lacks 'shared_dynamic'" \
    "has 'y: {type: f64, role: output, '" "has 'n: {type: i32, value: n}'" \
    "has 'tolerance: {relative: 1.0e-13}'"
run init "$own/maybe.cu" --force -- nvcc -DWORKLIST maybe.cu
check "of which the command decides" all "exits 0" \
    "has 'arguments: [y, n, list, x]'" "has 'list: {type: i32, role: input, '" \
    "has 'shared_dynamic: '"

# -- macros of others ---------------------------------------------------------
cat >"$own/helpers.h" <<'END'
#ifndef WAIVED
#define WAIVED 2
#endif
END
cat >"$own/macros.cu" <<'END'
#include "helpers.h"
#define R 4
#define NDIM 8
#define WARP_SIZE 32
#define EACH 512
#ifndef TURNS
#define TURNS 100
#endif
#ifndef ITEMS
#define ITEMS 2
#endif
#ifndef ROWS
#define ROWS 128
#endif
__global__ void wide(float *y) { __shared__ float s[NDIM + 2 * R]; y[0] = s[1]; }
__global__ void each(float *y, int n)
{
    for (int i = threadIdx.x; i < n; i += EACH)
        y[blockIdx.x * n + i] = 1;
}
__device__ int first() { return blockIdx.x * blockDim.x * ITEMS; }
__global__ void narrow(float *y, int n)
{
    __shared__ float s[WARP_SIZE];
    s[threadIdx.x % WARP_SIZE] = n;
    y[first() + threadIdx.x] = s[0];
}
int main()
{
    dim3 threads(ROWS), many;
    many.x = EACH;
    each<<<n, many>>>(y, n);
    for (int k = 0; k < TURNS; k++)
        narrow<<<n / (ITEMS * ROWS), threads>>>(y, n);
}
END
draft=$own/macros.yaml
run init "$own/macros.cu" --entry narrow
check "macros of the kernel and of its launch are parameters" all "exits 0" \
    "has 'ITEMS: {values: [1, 2, 4, 8], default: 2}'" \
    "has 'ROWS: {values: [32, 64, 128, 256, 512], default: 128}'"
check "and no others, nor the size of a warp" all "lacks 'NDIM'" "lacks ' R:'" \
    "lacks 'TURNS'" "lacks 'WAIVED'" "lacks 'WARP_SIZE'" "lacks 'EACH'"
draft=$own/each.yaml
run init "$own/macros.cu" --entry each -o "$draft"
check "a member of the block's variable is an extent, and within a block" all \
    "exits 0" "has 'EACH: {values: [128, 256, 512, 1024], default: 512, '" \
    "has 'EACH is a #define of the source; it is an extent of the block'"
cat >"$own/held.cu" <<'END'
__global__ void __launch_bounds__(256) held(float *y)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
void go() { held<<<64, 128>>>(y); }
END
draft=$own/held.yaml
run init "$own/held.cu"
check "no block is beyond the launch bounds, or less than a warp" all "exits 0" \
    "has 'BLOCK_X: {values: [32, 64, 128, 256], default: 128, scope: launch}'"

# -- what cannot be drafted ---------------------------------------------------
cat >"$own/many.cu" <<'END'
__global__ void many(float *y, int a, int b, int c, int d, int e, int f, int g,
                     int h, int i, int j)
{
    y[blockIdx.x] = a + b + c + d + e + f + g + h + i + j;
}
void go() { many<<<p.blocks, q[2]>>>(y, a, b, c, d, e, f, g, h, i, 7); }
END
draft=$own/many.yaml
run init "$own/many.cu"
check "of ten numbers eight are dimensions, the others values" all "exits 0" \
    "has 'h: {type: i32, value: h}'" \
    "has 'i: {type: i32, value: \"TODO: a number, as 1\"}'" \
    "has 'j: {type: i32, value: 7}'" \
    "has 'block: \"TODO: threads along x, y, z, as [BLOCK]; the source says q[2]\"'" \
    "has 'grid: \"TODO: blocks along x, y, z'"
# -- kernels of one name -------------------------------------------------------
cat >"$own/several.cu" <<'END'
#ifdef WIDE
__global__ void twice(double *y, int n) { y[threadIdx.x] = n; }
#else
__global__ void twice(float *y, int n) { y[threadIdx.x] = n; }
#endif
__global__ void scale(float y[], const unsigned int n)
{
    if (blockIdx.x * blockDim.x + threadIdx.x < n)
        y[blockIdx.x * blockDim.x + threadIdx.x] = n;
}
__global__ void scale(float *y, const float *x) { y[threadIdx.x] = x[0]; }
int main()
{
    float *y;
    cudaMalloc(&y, 4096 * sizeof(float));
    scale<<<16, 256>>>(y, 4096u);
}
END
draft=$own/several.yaml
run init "$own/several.cu" --entry scale
check "one of several kernels of a name is chosen by its types" all "exits 0" \
    "has 'entry: \"(void (*)(float *, const unsigned int))scale\"'"
compiled() { # NAME
    if "$build/shmtune" doctor | grep -q '^ok  *nvcc'; then
        run check --compile-timeout 600 --sample 0 "$draft"
        check "$1" all "exits 0" "out_has '^ok '"
    else
        skip "$1" "no nvcc"
    fi
}
compiled "which the compiler understands"
cat >>"$own/several.cu" <<'END'
__global__ void triple(float *y, int n)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = 3 * n;
}
void triple(int n)
{
    float *y;
    cudaMalloc(&y, 4096 * sizeof(float));
    triple<<<16, 256>>>(y, 4);
}
END
run init "$own/several.cu" --entry triple --force
check "so is one beside a function of the host" all "exits 0" \
    "has 'entry: \"(void (*)(float *, int))triple\"'"
compiled "which it understands, too"
run init "$own/several.cu" --entry twice --force
check "on two sides of a condition it is one" has 'entry: twice'

# -- a block that a macro, a function, or a group asks for ----------------------
cat >"$own/asked.cu" <<'END'
#include <cooperative_groups.h>
#define EACH(i, n) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); \
         i += blockDim.x * gridDim.x)
__device__ int own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void by_macro(float *y, int n) { EACH(i, n) y[i] = n; }
__global__ void by_function(float *y, int n) { if (own_index() < n) y[own_index()] = n; }
__global__ void by_group(float *y, int n)
{
    unsigned long long i = cooperative_groups::this_grid().thread_rank();
    if (i < n) y[i] = n;
}
__global__ void by_none(float *y, int n) { y[threadIdx.x] = n; }
int main()
{
    const int n = 65536;
    float *y;
    cudaMalloc(&y, n * sizeof(float));
    by_macro<<<(n + 255) / 256, 256>>>(y, n);
    by_function<<<(n + 255) / 256, 256>>>(y, n);
    by_group<<<(n + 255) / 256, 256>>>(y, n);
    by_none<<<1, 256>>>(y, 256);
}
END
draft=$own/asked.yaml
for kernel in by_macro by_function by_group; do
    run init "$own/asked.cu" --entry $kernel --force
    check "$kernel: the block is a parameter" all "exits 0" \
        "has 'BLOCK_X: {values: [64, 128, 256, 512, 1024], default: 256, scope: launch}'" \
        "has 'grid: [\"ceildiv(n, BLOCK_X)\"]'"
done
run init "$own/asked.cu" --entry by_none --force
check "where none does it is none" all "exits 0" "lacks BLOCK_X"

# -- what parameters may not come to together ------------------------------------
cat >"$own/tiles.cu" <<'END'
#define DEPTH 64
#define ROWS 32
#define WIDE 16
#define HIGH 16
#define ALONE 5000
__global__ void other(float *y)
{
    __shared__ float all[ROWS * DEPTH], more[ALONE];
    all[threadIdx.x] = more[threadIdx.x] = y[threadIdx.x];
    y[threadIdx.x] = all[0] + more[0];
}
__global__ void tiles(float *y, unsigned key, int sign)
{
    __shared__ float a[WIDE][DEPTH], b[HIGH][DEPTH];
    a[threadIdx.x][0] = b[threadIdx.y][0] = y[blockIdx.x * WIDE];
    y[blockIdx.x * WIDE + threadIdx.x] = a[threadIdx.x][0] + key + sign;
}
int main()
{
    float *y;
    dim3 blocks, threads;
    cudaMalloc(&y, 4096 * sizeof(float));
    threads = dim3(ROWS, 8);
    other<<<1, threads>>>(y);
    threads = dim3(WIDE, HIGH);
    blocks = dim3(4096 / WIDE);
    tiles<<<blocks, threads>>>(y, 0xdeadbeef, 0xffffffff);
}
END
draft=$own/tiles.yaml
run init "$own/tiles.cu" --entry tiles --force
check "arrays of each kernel are no larger than there is" all "exits 0" \
    "has 'DEPTH: {values: [16, 32, 64, 128], default: 64, override: true}'" \
    "has '- \"4 * WIDE * DEPTH + 4 * HIGH * DEPTH <= 49152\"'"
check "and no block is" all "has '- \"WIDE * HIGH <= 1024\"'" \
    "has '- \"WIDE * HIGH % 32 == 0\"'"
check "what the block is elsewhere is not its own" all "lacks 'ROWS: {'" \
    "lacks 'ALONE: {'" "has 'block: [\"WIDE\", \"HIGH\"]'"
check "a number that is no size is none" all "lacks 'problem:'" \
    "has 'key: {type: u32, value: 3735928559}'" \
    "has 'sign: {type: i32, value: -1}'" "marks 0"
run check --no-compile "$draft"
check "it is a spec" exits 0
run init "$own/tiles.cu" --entry other --force
check "an array of one parameter bounds its values" all "exits 0" \
    "has 'ALONE: {values: [2048, 4096, 5000, 8192], default: 5000, override: true}'" \
    "has '- \"4 * (ROWS * DEPTH) + 4 * ALONE <= 49152\"'"

cat >"$own/square.cu" <<'END'
#define TILE 16
__global__ void square(float *y) { y[blockIdx.x * TILE + threadIdx.x] = 1; }
int main()
{
    float *y;
    dim3 threads(TILE, TILE);
    cudaMalloc(&y, 4096 * sizeof(float));
    square<<<4096 / TILE, threads>>>(y);
}
END
draft=$own/square.yaml
run init "$own/square.cu" --force
check "nor is a square one" all "exits 0" \
    "has '- \"TILE * TILE <= 1024\"'" "has '- \"TILE * TILE % 32 == 0\"'"

# -- GNU C ------------------------------------------------------------------------
cat >"$own/least.cu" <<'END'
#define LEAST(x, y) ({ int a = (x), b = (y); a < b ? a : b; })
__device__ int sum(const int (&all)[2]) { return all[0] + all[1]; }
__global__ void least(float *y, int n) { y[threadIdx.x] = LEAST(n, sum({1, 2})); }
END
draft=$own/least.yaml
run init "$own/least.cu" --force
check "what NVRTC does not take is for nvcc" all "exits 0" \
    "has '# GNU C is there, ({ ... }), which NVRTC does not take.'" \
    "has 'compiler: nvcc'"
sed -i '1s/.*/#define LEAST(x, y) ((x) < (y) ? (x) : (y))/' "$own/least.cu"
run init "$own/least.cu" --force
check "a list of values is no such thing" all "exits 0" "lacks compiler"

finish
