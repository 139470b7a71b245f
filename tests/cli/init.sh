#!/bin/sh
# SPDX-License-Identifier: MIT
#
# init: a spec is drafted, what is left is listed, and filled in it passes.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

own=$folder/own
mkdir "$own"
cat >"$own/scale.cu" <<'END'
// A kernel with its host.
#include <cstdio>
#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef ITEMS
#define ITEMS 3   /* of a thread */
#endif
__global__ void scale(float *y, const float *x, float a, int n)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    if (i < n)
        y[i] = a * tile[threadIdx.x];
}
__global__ void scale_reference(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        y[i] = a * x[i];
}
#ifndef __CUDACC_RTC__
int main()
{
    const int count = 1 << 20;
    dim3 grid((count + BLOCK - 1) / BLOCK);
    scale<<<grid, BLOCK, BLOCK * sizeof(float)>>>(y, x, 2.0f, count);
}
#endif
END
run init "$own/scale.cu"
check "a draft is written beside the source" all "exits 0" err_empty \
    "[ -f '$own/scale.yaml' ]" "out_has 'scale.yaml: drafted for scale; 2 things to write:$'" \
    "out_has '^  .*/scale.yaml:23:39: how many elements'"
has() { grep -qF -e "$1" "$own/scale.yaml"; }
check "types, parameters, launch and reference are in it" all \
    "has 'BLOCK: {values: [64, 128, 256, 512, 1024], default: 256}'" \
    "has 'ITEMS: {values: [1, 2, 3, 4, 8], default: 3}'" \
    "has 'grid: [\"ceildiv(n, BLOCK)\"]'" "has 'block: [\"BLOCK\"]'" \
    "has 'shared_dynamic: \"BLOCK * 4\"'" "has 'arguments: [y, x, a, n]'" \
    "has 'entry: scale_reference'" "has 'grid: [\"ceildiv(n, 256)\"]'" \
    "has 'block: [256]'" "has 'x: {type: f32, role: input, '" \
    "has 'n: {type: i32, value: n}'" "has 'n: {default: 1048576}'" \
    "has 'a: {type: f32, value: 2.0}'" "has 'tolerance: {relative: 1.0e-6}}'" \
    "! has 'compiler: '"
run check --no-compile "$own/scale.yaml"
check "check lists all that is left, with its place" all "exits 2" \
    "[ $(grep -c '^wrong .*scale.yaml:[0-9]*:[0-9]*: to be written: ' "$folder/out") -eq 2 ]" \
    "out_has '^0 ok, 2 wrong'"
run space "$own/scale.yaml"
check "others name the first" all "exits 2" \
    "err_has 'scale.yaml:23:39: to be written: how many elements.*; .shmtune check. lists all 2'"
cp "$own/scale.yaml" "$folder/before"
(cd "$own" && "$build/shmtune" init scale.cu -o - >"$folder/out" 2>"$folder/err")
check "with -o - it is printed, and no file made" all \
    "cmp -s '$own/scale.yaml' '$folder/out'" "[ ! -e '$own/-' ]" \
    "err_has '^-: drafted for scale; 2 things to write:$'"
run init "$own/scale.cu"
check "it is not written over" all "exits 1" "err_has 'is there already; --force'" \
    "cmp -s '$own/scale.yaml' '$folder/before'"
run init -q --force "$own/scale.cu"
check "but with --force" all "exits 0" out_empty
sed -e 's/default: "TODO[^"]*"/default: 100000/' \
    -e 's/grid: "TODO[^"]*\\"[^"]*\\"[^"]*"/grid: ["ceildiv(n, 256)"]/' \
    -e 's/block: "TODO[^"]*"/block: [256]/' \
    -e 's/role: "TODO[^"]*"/role: output/' -e 's/count: "TODO[^"]*"/count: n/' \
    -e 's/tolerance: "TODO[^"]*"/tolerance: {relative: 1.0e-6}/' \
    -e 's/value: "TODO[^"]*"/value: 2/' "$folder/before" >"$own/scale.yaml"
run check "$own/scale.yaml"
check "filled in it passes" all "exits 0" "out_has '^ok '"

cat >"$own/many.cu" <<'END'
template <class T> __global__ void one(T *y, const T *x, long long n, bool b) {}
__global__ void two(const void *raw, struct Weights w, unsigned rows) {}
END
run init "$own/many.cu"
check "of several kernels one has to be named" all "exits 1" \
    "err_has 'has 2 kernels: name one with --entry: one, two'" \
    "[ ! -e '$own/many.yaml' ]"
run init "$own/many.cu" --entry three
check "one that is there" all "exits 1" \
    "err_has 'has no kernel \"three\"; it has one, two'"
run init "$own/many.cu" --entry one -o "$folder/one.yaml"
check "what is not known is marked" all "exits 0" \
    "grep -q 'entry: \"TODO: one<...> with' '$folder/one.yaml'" \
    "grep -q 'y: {type: \"TODO: f32, i32, ...; the source says T \\*' '$folder/one.yaml'" \
    "grep -q 'parameters: \"TODO' '$folder/one.yaml'" \
    "grep -q 'source: .*/own/many.cu' '$folder/one.yaml'" \
    "grep -q 'b: {type: bool, value: \"TODO' '$folder/one.yaml'"
cat >"$own/spaces.cu" <<'END'
namespace img { inline namespace v1 {
extern "C" __global__ void blur(float *y, int n) { if (n) *y = 1; }
__global__ void blur_reference(float *y, int n) { if (n) *y = 1; }
} }
namespace other {
__global__ void blur_reference(float *y, int n) { if (n) *y = 1; }
__global__ void mix(float *y, int n) { if (n) *y = 1; }
template <int B> __global__ void fold(float *y, int n) { if (n) *y = B; }
}
namespace img { namespace { __global__ void mix(double *y, int n) { *y = n; } } }
END
run init "$own/spaces.cu"
check "kernels are named with their namespaces" all "exits 1" \
    "err_has 'with --entry: img::blur, img::blur_reference, other::blur_reference, other::mix, other::fold, img::mix'"
run init "$own/spaces.cu" --entry mix
check "a name that several have is refused" all "exits 1" \
    "err_has 'name one with --entry: img::blur'"
run init "$own/spaces.cu" --entry none::blur
check "and one of another namespace" all "exits 1" \
    "err_has 'has no kernel \"none::blur\"'"
run init "$own/spaces.cu" --entry fold -o -
check "a template has them, too" out_has 'TODO: other::fold<...> with'
for wanted in blur img::blur img::mix; do
    run init "$own/spaces.cu" --entry "$wanted" --force
    check "$wanted is found" all "exits 0" "out_has 'drafted for img::${wanted##*:};'"
    sed -e 's/default: "TODO[^"]*"/default: 100000/' \
        -e 's/^parameters: .*/parameters: {BLOCK: {values: [64, 128], default: 64}}/' \
        -e 's/grid: "TODO.*"$/grid: 1/' -e 's/block: "TODO[^"]*"/block: 64/' \
        -e '/^reference: /d' -e 's/role: "TODO[^"]*"/role: output/' \
        -e 's/count: "TODO[^"]*"/count: n/' \
        -e 's/tolerance: "TODO[^"]*"/tolerance: {absolute: 0}/' \
        "$own/spaces.yaml" >"$own/whole.yaml"
    run check "$own/whole.yaml"
    check "and the draft of $wanted filled in passes" all "exits 0" \
        "out_has '^ok '" "grep -q 'entry: \"img::${wanted##*:}\"' '$own/whole.yaml'"
done
run check --no-compile "$own/whole.yaml"
check "without a compiler it is told from others of its name" exits 0
sed 's/img::mix/img::mux/' "$own/whole.yaml" >"$own/mux.yaml"
run check --no-compile "$own/mux.yaml"
check "and offered with its namespaces" \
    out_has 'has no kernel "mux": did you mean other::mix?'
check "the reference is that of its namespaces" \
    sh -c "'$build/shmtune' init '$own/spaces.cu' --entry blur -o - 2>'$folder/err' |
        grep -q 'entry: \"img::blur_reference\"'"
cat >"$own/ones.cu" <<'END'
#ifndef VEC
#define VEC 1
#endif
#ifndef PAD
#define PAD 1
#endif
#ifndef FAST
#define FAST 1
#endif
__global__ void ones(float *y, int n)
{
    __shared__ float tile[32][32 + PAD];
    for (int k = 0; k < VEC; k++)
        y[k] = FAST ? n : tile[k][n];
}
END
run init "$own/ones.cu" -o -
check "a count does not get 0, a flag and a padding do" all \
    "out_has 'VEC: {values: \[1, 2, 4\], default: 1}'" \
    "out_has 'PAD: {values: \[0, 1\], default: 1}'" \
    "out_has 'FAST: {values: \[0, 1\], default: 1}'"
cat >"$own/pixels.cu" <<'END'
#if !defined(ROWS)
#define ROWS (16)
#endif
__global__ void pixels(float2 *out, const uchar4 *in) { out[0].x = in[0].x; }
void run() { pixels<<<64 / ROWS, dim3(32, ROWS)>>>(out, in); }
END
run init "$own/pixels.cu" -o -
check "a macro behind #if !defined is a parameter" all "exits 0" \
    "out_has '  ROWS: {values: \[4, 8, 16, 32, 64\], default: 16}'" \
    "out_has 'block: \[\"32\", \"ROWS\"\]'"
check "and vectors are so many elements" all \
    "out_has 'in: .*: how many elements, as 4 \* n; the source says const uchar4 \*'" \
    "out_has 'out: .*: how many elements, as 2 \* n; the source says float2 \*'"
cat >"$own/halves.cu" <<'END'
__global__ void halves(__half *a, __nv_bfloat16 *b, float *c) { c[0] = 1; }
END
run init "$own/halves.cu" -o -
check "a tolerance is above the type's precision" all "exits 0" \
    "out_has ' a: .* tolerance: {relative: 1.0e-3}}'" \
    "out_has ' b: .* tolerance: {relative: 1.6e-2}}'" \
    "out_has ' c: .* tolerance: {relative: 1.0e-6}}'"
cat >"$own/values.cu" <<'END'
struct Scale { const float *by; int n; };
extern "C" __global__ void values(float *y, const float2 s, uchar3 c, Scale p)
{
    y[p.n] = s.x * c.z * p.by[0];
}
END
run init "$own/values.cu"
check "vectors by value are structures" all "exits 0" \
    "out_has 'values.yaml:[0-9]*:38: a number, as 1$'" \
    "grep -q 's: {struct: {x: {type: f32, value: \"TODO: [^}]*}, y: {type: f32, value: \"TODO: [^}]*}}}$' '$own/values.yaml'" \
    "grep -q 'c: {struct: {x: {type: u8.*}, y: {type: u8.*}, z: {type: u8.*}}}$' '$own/values.yaml'"
check "and others have the members that are declared" all \
    "grep -q '  p: {struct: {by: {pointer: \"TODO: the argument that it leads to, or null\"}, n: {type: i32, value: \"TODO: a number, as 1\"}}}$' '$own/values.yaml'"
sed -e 's/^parameters: .*/problem: {n: {default: 100}}\nparameters: {BLOCK: {values: [64], default: 64}}/' \
    -e 's/grid: "TODO.*"$/grid: 1/' -e 's/block: "TODO[^"]*"/block: 64/' \
    -e '/^reference: /d' -e 's/role: "TODO[^"]*"/role: output/' \
    -e 's/count: "TODO[^"]*"/count: n/' -e 's/value: "TODO[^"]*"/value: 2/g' \
    -e 's/tolerance: "TODO[^"]*"/tolerance: {absolute: 0}/' \
    -e 's/pointer: "TODO[^"]*"/pointer: b/' \
    -e 's/^  p: .*/&\n  b: {type: f32, role: input, count: n}/' \
    "$own/values.yaml" >"$own/whole.yaml"
run check "$own/whole.yaml"
check "filled in they have the sizes that the kernel takes" all "exits 0" \
    "out_has '^ok '"
cat >"$own/textures.cu" <<'END'
__global__ void textures(float *out, cudaTextureObject_t image,
                         cudaTextureObject_t table, cudaTextureObject_t volume,
                         CUtexObject other, cudaSurfaceObject_t surface)
{
    out[0] = tex2D<float4>(image, 0.5f, 0.5f).x + tex1Dfetch<int>(table, 1) +
             tex3D<uchar4>( volume, 0.5f, 1, 1).x;
}
#ifndef __CUDACC_RTC__
int main()
{
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
    how.filterMode = cudaFilterModeLinear;
    how.normalizedCoords = true;
}
#endif
END
run init "$own/textures.cu"
says() { grep -qF -e "$1" "$own/textures.yaml"; }
check "a texture is of an input, as kernel and host say" all "exits 0" \
    "says 'image_data: {type: f32, role: input, count: \"TODO: how many elements, as 4 * n'" \
    "says 'image: {texture: image_data, extents: \"TODO: texels, the innermost first, as [cols, rows]\", channels: 4, normalized: true, filter: linear, address: border}'" \
    "says 'table: {texture: table_data, extents: \"TODO: texels, as [n]\"}'" \
    "says 'volume: {texture: volume_data, extents: \"TODO: texels, the innermost first, as [nx, ny, nz]\", channels: 4, normalized: true, address: border}'"
check "and what they do not say is marked" all \
    "says 'other_data: {type: \"TODO: f32, u8, ..., of an element\"'" \
    "says 'surface: \"TODO: a surface, which a spec has not: write an output\"'"
sed -e 's/cudaTextureObject_t volume,$/cudaTextureObject_t volume/' \
    -e '/cudaSurfaceObject_t/s/.*/)/' "$own/textures.cu" >"$own/plain.cu"
run init "$own/plain.cu"
sed -e 's/^parameters: .*/problem: {n: {default: 100}}\nparameters: {BLOCK: {values: [64], default: 64}}/' \
    -e 's/grid: "TODO.*"$/grid: 1/' -e 's/block: "TODO[^"]*"/block: 64/' \
    -e '/^reference: /d' -e 's/count: "TODO[^"]*"/count: 4 * n/' \
    -e 's/"TODO: texels, as[^"]*"/[n]/' -e 's/"TODO: [^"]*cols, rows]"/[10, 10]/' \
    -e 's/"TODO: [^"]*nz]"/[5, 5, 4]/' -e 's/"TODO[^"]*relative[^"]*"/{absolute: 0}/' \
    "$own/plain.yaml" >"$own/whole.yaml"
run check "$own/whole.yaml"
check "filled in they check" all "exits 0" "out_has '^ok '"
cat >"$own/shared.cu" <<'END'
extern __shared__ float tile[];
__device__ float first() { return tile[0]; }
__global__ void named(float *y) { *y = tile[0]; }
__global__ void called(float *y) { *y = first(); }
__global__ void launched(float *y) { *y = 1; }
void run() { launched<<<1, 32>>>(y); }
END
run init "$own/shared.cu" --entry named -o -
check "dynamic shared memory of the file is marked" \
    out_has '^  shared_dynamic: "TODO: the bytes of extern __shared__"$'
run init "$own/shared.cu" --entry called -o -
check "where a function may use it, too" out_has \
    'shared_dynamic: "TODO: .*__shared__; if this kernel uses none, take this line'
run init "$own/shared.cu" --entry launched -o -
check "but not where a launch gives none" out_lacks shared_dynamic
latin=$own/$(printf 'lat\351')
cp "$own/values.cu" "$latin.cu"
run init "$latin.cu"
check "a name that no spec can say is refused" all "exits 1" out_empty \
    "err_has 'a spec is UTF-8, and this name of its source is not: rename it'" \
    "[ ! -e '$latin.yaml' ]"
rm "$latin.cu"
cp "$own/values.cu" "$own/größe.cu"
run init -q "$own/größe.cu"
check "one of UTF-8 is taken" all "exits 0" \
    "grep -q '^source: \"größe.cu\"' '$own/größe.yaml'"
echo 'int main() {}' >"$own/none.cu"
run init "$own/none.cu"
check "a source without a kernel" all "exits 1" \
    "err_has 'none.cu defines no __global__ function'"
run init
check "no source" all "exits 1" "err_has 'init needs one source'"
run init "$own/absent.cu"
check "a source that is not there" all "exits 5" "err_has 'absent.cu'"

# What the project's own specs say of their kernels is what is drafted.
same=0
for spec in "$source"/kernels/*.yaml "$source"/examples/scale/scale.yaml; do
    name=$(sed -n '/^launches:/,$s/^- entry: //p' "$spec" | head -n 1)
    run init "${spec%.yaml}.cu" --entry "$name" -o "$own/$name.yaml" --force
    sed -n '/^launches:/,$s/^  arguments: //p' "$spec" |
        head -n 1 >"$folder/there"
    sed -n 's/^  arguments: //p' "$own/$name.yaml" | head -n 1 >"$folder/here"
    words() { tr -cd ',' <"$1" | wc -c; }
    if [ "$status" -eq 0 ] &&
        [ "$(words "$folder/there")" -eq "$(words "$folder/here")" ]; then
        same=$((same + 1))
    else
        echo "# $name: $(cat "$folder/there") and $(cat "$folder/here")"
    fi
done
check "each kernel of the project is drafted with its arguments" \
    [ "$same" -eq 13 ]
# Plain definitions, as most sources have them.
cat >"$own/plain.cu" <<'END'
#define TILE_DIM 32
#define BLOCK_ROWS 8
#define PER_THREAD 2
#define LIMIT 700
#define HALF (TILE_DIM / 2)
#ifndef GUARDED
#define GUARDED 1
#endif
__global__ void transpose(float *out, const float *in, int width)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = PER_THREAD * blockIdx.x * TILE_DIM + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = x < LIMIT ? in[x * width] : HALF;
    out[x] = tile[threadIdx.x][threadIdx.y] + GUARDED;
}
#ifndef __CUDACC_RTC__
void run(float *o, float *i, int w)
{
    dim3 grid(w / TILE_DIM), threads(TILE_DIM, BLOCK_ROWS);
    transpose<<<grid, threads>>>(o, i, w);
}
#endif
END
run init "$own/plain.cu" -o "$own/scale.yaml" --force
check "definitions that reach the block are parameters" all "exits 0" \
    "has 'TILE_DIM: {values: [8, 16, 32, 64], default: 32, override: true}'" \
    "has 'BLOCK_ROWS: {values: [2, 4, 8, 16, 32], default: 8, override: true}'" \
    "has 'PER_THREAD: {values: [1, 2, 4, 8], default: 2, override: true}'" \
    "has '# BLOCK_ROWS is a #define of the source; it is an extent of the block.'" \
    "has '# PER_THREAD is a #define of the source; it multiplies the block'" \
    "has '- \"TILE_DIM * BLOCK_ROWS <= 1024\"'" \
    "has '- \"TILE_DIM * BLOCK_ROWS % 32 == 0\"'" \
    "has 'block: [\"TILE_DIM\", \"BLOCK_ROWS\"]'" "has '  GUARDED: {values: '" \
    "! has LIMIT" "! has HALF"
cp "$own/scale.yaml" "$folder/drafted.yaml"
sed 's/^#define TILE_DIM/constexpr int TILE_DIM =/; s/BLOCK_ROWS 8/BLOCK_ROWS ROWS/
    s/32$/32;/; /PER_THREAD 2/d; s/PER_THREAD [*]//; /^#ifndef GUARDED/,/^#endif/d' \
    "$own/plain.cu" >"$own/constant.cu"
run init "$own/constant.cu" -o "$own/scale.yaml" --force
check "a constant is a parameter, too" all "exits 0" \
    "has '# TILE_DIM is a constant of the source; it is an extent of the block.'" \
    "has 'TILE_DIM: {values: [8, 16, 32, 64], default: 32, override: true}'" \
    "has 'grid: [\"width // TILE_DIM\"]'"
sed -i 's/= 32;/= (32);/' "$own/constant.cu"
run init "$own/constant.cu" -o "$own/scale.yaml" --force
check "another is named, which a macro could be" all "exits 0" \
    "has 'behind #ifndef BLOCK; TILE_DIM, a constant there, may be one'"
cp "$folder/drafted.yaml" "$own/scale.yaml"
sed 's/{default: "TODO[^}]*}/{default: 1024}/; /^reference/d
    s/role: "TODO[^"]*"/role: output/; s/count: "TODO[^"]*"/count: width * width/
    s/tolerance: "TODO[^"]*"/tolerance: {relative: 1.0e-6}/' \
    "$own/scale.yaml" >"$own/plain.yaml"
run check --no-compile "$own/plain.yaml"
check "which check takes" all "exits 0" "out_has '^1 ok, 0 wrong'"
run space "$own/plain.yaml"
check "and which have values" all "exits 0" "out_has '^[1-9][0-9]* valid'"

cat >"$own/variables.cu" <<'END'
#define TAPS 25
struct Params { float a; int b; };
namespace filters {
__constant__ float weights[TAPS], bias[2][TAPS + 1];
}
__constant__ Params params;
__constant__ int table[4] = {1, 2, 3, 4};
__device__ static unsigned retired = 0;
__device__ unsigned int calls, idle;
static __device__ __align__(16) float4 sums[8];
__device__ float *list;
__device__ const int fixed = 7;
__device__ double seed = 2.5;
volatile __device__ int done;
__device__ int n, limits[m], *none = nullptr, counts[3] = {0}, marks[2] = {1, 2};

static __device__ float helper(const float *x, int i)
{
    atomicAdd(&calls, 1u);
    return filters::weights[i] * x[i] + table[1] + fixed;
}
__global__ void __launch_bounds__(128) scale(float *y, const float *x, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float bias = 3, *all = (float *)list;
    if (i < n && limits[0] == 1)
        y[i] = helper(x, i) * params.a * bias + all[i];
    if (atomicInc(&retired, gridDim.x) == 1)
        done = 1;
    sums[0].x += 1;
    seed++;
    counts[0] += marks[0]++;
}
__global__ void other() { idle = filters::bias[0][0]; }
END
run init "$own/variables.cu" --entry scale -o "$own/scale.yaml" --force
check "variables that the kernel uses are arguments" all "exits 0" \
    "has '  weights: {type: f32, role: symbol, symbol: \"filters::weights\", count: 25}'" \
    "has '  params: {type: bytes, role: symbol, count: \"TODO: the bytes of Params, a number\"}'" \
    "has '  retired: {type: u32, role: inout, symbol: retired, count: 1, fill: zero}'" \
    "has '  calls: {type: u32, role: inout, symbol: calls, count: 1, fill: zero}'" \
    "has '  sums: {type: f32, role: inout, symbol: sums, count: 4 * 8, fill: zero, tolerance: '" \
    "has '  seed: {type: f64, role: inout, symbol: seed, count: 1, fill: {constant: 2.5}, '" \
    "has '  done: {type: i32, role: output, symbol: done, count: 1}'" \
    "has '  counts: {type: i32, role: inout, symbol: counts, count: 3, fill: zero}'" \
    "has '  marks: {type: i32, role: inout, symbol: marks, count: 2, fill: \"TODO: what it begins with; the source says {1, 2}\"}'" \
    "has '  limits: {type: i32, role: symbol, count: \"TODO: how many elements, a number, or by dimensions with \\\"define: true\\\"; the source says int [m]\"}'" \
    "has '  list: \"TODO: a variable with an address, float *, which no spec fills'"
check "and no others, nor what has its value" all "! has table:" \
    "! has fixed:" "! has bias:" "! has idle:" "! has n_"
printf '%s\n' '__device__ unsigned hits;' '__global__ void count()' \
    '{ atomicAdd(&hits, 1u); }' >"$own/hits.cu"
run init "$own/hits.cu" -o "$own/hits.yaml"
sed -i 's/^parameters:.*/parameters: {B: {values: [32, 64], default: 32}}/
    s/grid: .*/grid: 4/; s/block: .*/block: [B]/; /^reference/d' \
    "$own/hits.yaml"
run check --no-compile "$own/hits.yaml"
check "a kernel may have results in variables alone" all "exits 0" \
    "out_has '^1 ok, 0 wrong'"
finish
