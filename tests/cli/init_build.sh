#!/bin/sh
# SPDX-License-Identifier: MIT
#
# init of a source whose headers and macros the command that builds it names.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

has() { grep -qF -e "$1" "$draft"; }
lacks() { ! has "$1"; }

own=$folder/project
mkdir -p "$own/src/deep" "$own/include" "$own/system" "$own/build" \
    "$own/toolkit"
: >"$own/toolkit/cuda_runtime.h"
cat >"$own/include/real.cuh" <<'END'
#pragma once
#ifdef USE_DOUBLE
typedef double real;
#else
typedef float real;
#endif
#ifndef TILE
#define TILE 32
#endif
END
echo 'typedef unsigned index_type;' >"$own/system/index.h"
cat >"$own/src/scale.cu" <<'END'
#include "real.cuh"
#include <index.h>

__global__ void scale(real *y, const real *x, index_type n)
{
    __shared__ real tile[TILE + PAD];
    int i = blockIdx.x * WIDTH + threadIdx.x;

    tile[i % TILE] = i < n ? x[i] : 0;
    if (i < n)
        y[i] = OFFSET + tile[i % TILE];
}
END
draft=$own/src/scale.yaml
cd "$own/src"

run init scale.cu
check "without the command types are not known" all "exits 0" \
    "has 'the source says const real *'" "lacks 'includes:'" \
    "lacks 'PAD: {'"

run init scale.cu --force -- nvcc -O3 -std=c++20 -I../include -isystem \
    ../system -I "$own/toolkit" -I ../absent -DTILE=64 -D PAD=1 -DWIDTH=128 \
    '-DOFFSET=2.5' -Xcompiler -Wall,-O2 -Xptxas -v -Xptxas=-dlcm=cg \
    -gencode arch=compute_80,code=sm_80 -maxrregcount 64 --use_fast_math \
    --expt-relaxed-constexpr -lineinfo -x cu -c scale.cu -o scale.o
check "a command says where headers are" all "exits 0" \
    "has 'includes: [\"../include\", \"../system\"]'" \
    "has 'y: {type: f32, '" "has 'x: {type: f32, role: input, '" \
    "has 'n: {type: u32, '"
check "and the standard, and options of device code, and no other" all \
    "has 'standard: c++20'" "has 'fast_math: true'" \
    "has 'options: [\"-DOFFSET=2.5\", \"--ptxas-options=-dlcm=cg\", \"-maxrregcount=64\"]'"
check "macros that may be tuned begin with what is given" all \
    "has 'TILE: {values: [16, 32, 64, 128, 256], default: 64}'" \
    "has '# PAD is given by -D; it stands in an array in shared memory.'" \
    "has 'PAD: {values: [0, 1], default: 1}'" \
    "has 'WIDTH: {values: [32, 64, 128, 256, 512], default: 128}'" \
    "lacks 'override'" "lacks '-DTILE' " "lacks '-DPAD'" "lacks '-DWIDTH'"
sed -e 's/{default: "TODO: a usual size[^"]*"}/{default: 4096}/' \
    -e 's/"TODO: blocks[^}]*\]"$/["ceildiv(n, WIDTH)"]/' \
    -e 's/"TODO: threads[^}]*\]"$/[WIDTH]/' \
    -e 's/"TODO: how many[^"]*"/n/' "$draft" >filled.yaml
run check --no-compile filled.yaml
check "check takes it when the marks are filled" all "exits 0" \
    "out_has '^1 ok, 0 wrong'"
if "$build/shmtune" doctor --wide 2>&1 | grep -q '^ok  *NVRTC '; then
    run check --compile-timeout 600 --sample 0 filled.yaml
    check "and the compiler does" all "exits 0" "out_has '^ok '"
else
    skip "and the compiler does" "NVRTC is not there"
fi

run init scale.cu --force -- nvcc -I../include -DUSE_DOUBLE -c scale.cu
check "a condition has the side that the command says" all "exits 0" \
    "has 'y: {type: f64, '" "has 'options: [\"-DUSE_DOUBLE\"]'"

{ cat scale.cu; echo 'int main() { scale<<<1, 32>>>(0, 0, 1); }'; } >main.cu
draft=$own/src/main.yaml
run init main.cu -- nvcc -I../include --expt-relaxed-constexpr main.cu
check "what nvcc alone knows is for nvcc" all "exits 0" "has 'compiler: nvcc'" \
    "has 'options: [\"--expt-relaxed-constexpr\"]'"
{ cat scale.cu; echo 'void report(FILE *to);'; } >told.cu
draft=$own/src/told.yaml
run init told.cu
check "files are for the host" has 'compiler: nvcc'
draft=$own/src/scale.yaml

run init scale.cu other.cu
check "two sources are no source and a command" all "exits 1" \
    "err_has 'one source, FILE.cu; the command that compiles it may stand behind --'"

# -- compile_commands.json ----------------------------------------------------
printf '%s\n' '-I"../include" -isystem=../system' >"$own/build/includes.rsp"
cat >"$own/build/compile_commands.json" <<END
[{"directory": "$own/build", "file": "../src/other.cu",
  "arguments": ["nvcc", "-DTILE=8", "-c", "../src/other.cu"]},
 {"directory": "$own/build", "file": "$own/src/scale.cu",
  "command": "/usr/bin/nvcc -forward-unknown-to-host-compiler -DTILE=16 -DOFFSET=1.5 -DTITLE=\\\\\"a\\\\ b\\\\\" --options-file includes.rsp -Xcompiler=-fPIC -x cu -c $own/src/scale.cu -o scale.o"}]
END
run init scale.cu --force
check "a project says it itself" all "exits 0" \
    "has '# Built as in ../build/compile_commands.json:'" \
    "has 'includes: [\"../include\", \"../system\"]'" \
    "has 'options: [\"-DOFFSET=1.5\", \"-DTITLE=\\\"a b\\\"\"]'" \
    "has 'TILE: {values: [4, 8, 16, 32, 64], default: 16}'" \
    "has 'n: {type: u32, '"
draft=$own/scale.yaml
run init scale.cu -o "$own/scale.yaml"
check "folders are named from the spec's" all "exits 0" \
    "has 'includes: [include, system]'" \
    "has '# Built as in build/compile_commands.json:'"
cp scale.cu deep/scale.cu
draft=$own/src/deep/scale.yaml
run init deep/scale.cu
check "a file that the project does not build has nothing of others" all \
    "exits 0" "lacks 'Built as'" "lacks 'includes:'"
cp scale.cu part.cuh
draft=$own/src/part.yaml
run init part.cuh
check "what is included is built as the first of its folder" all "exits 0" \
    "has 'TILE: {values: [2, 4, 8, 16, 32], default: 8}'" "lacks 'includes:'"
run init part.cuh --force -- nvcc -DTILE=128
check "a command on the line goes before it" all "exits 0" \
    "lacks 'Built as'" \
    "has 'TILE: {values: [32, 64, 128, 256, 512], default: 128}'"
for text in '' '{' '{}'; do
    printf %s "$text" >"$own/build/compile_commands.json"
    run init part.cuh --force
    check "a damaged list of commands is none: $text" all "exits 0" \
        "lacks 'Built as'" \
        "err_has 'note: .*/build/compile_commands.json: .*; the draft does without it'"
done
printf %s '[1, {"file": 3}, {"directory": "/", "file": "x"}]' \
    >"$own/build/compile_commands.json"
run init part.cuh --force
check "entries that say nothing are passed over" all "exits 0" err_empty \
    "lacks 'Built as'"

# -- a source that another file includes ---------------------------------------
mkdir -p "$own/kernels"
cat >"$own/kernels/part.h" <<'END'
__global__ void part(real *y, int n)
{
    if (blockIdx.x * TILE_DIM + threadIdx.x < n)
        y[blockIdx.x * TILE_DIM + threadIdx.x] = 1;
}
END
cat >"$own/src/driver.cu" <<'END'
#include <cstdio>
typedef double real;
#define TILE_DIM 64
#include <part.h>
__global__ void another(float *y) { y[0] = 1; }
void run(int n) { part<<<n / TILE_DIM, TILE_DIM>>>(y, n); }
END
draft=$own/kernels/part.yaml
run init "$own/kernels/part.h" -- nvcc -I../kernels -c driver.cu
check "what the command compiles is the source, which includes the file" all \
    "exits 0" "has '/src/driver.cu'" "has 'entry: part'" \
    "has 'y: {type: f64, role: output, '" "has 'compiler: nvcc'" \
    "has 'TILE_DIM: {values: [16, 32, 64, 128, 256], default: 64, override: true}'"
run init "$own/kernels/part.h" --force -- nvcc -c driver.cu
check "unless it includes it not" all "exits 0" "has 'source: part.h'"
draft=$own/src/part.yaml
run init "$own/kernels/part.h" -o part.yaml --force -- nvcc -I ../kernels driver.cu
check "which is named from the spec's folder" all "exits 0" \
    "has 'source: driver.cu'" "has 'includes: [\"../kernels\"]'"
cat >"$own/build/compile_commands.json" <<END
[{"directory": "$own/build", "file": "../src/scale.cu",
  "arguments": ["nvcc", "-c", "../src/scale.cu"]},
 {"directory": "$own/build", "file": "../src/driver.cu",
  "command": "nvcc -I$own/kernels -c ../src/driver.cu -o driver.o"}]
END
draft=$own/kernels/part.yaml
run init "$own/kernels/part.h" --force
check "a project says who includes it" all "exits 0" \
    "has '/src/driver.cu'" "has 'y: {type: f64, role: output, '" \
    "has '# Built as in ../build/compile_commands.json:'"
cat >"$own/src/bound.h" <<'END'
#define MOST 128
__global__ void __launch_bounds__(MOST) bound(float *y) { y[threadIdx.x] = 1; }
END
echo '#include "bound.h"' >"$own/src/bounds.cu"
draft=$own/src/bound.yaml
run init bound.h -- nvcc -c bounds.cu
check "what a header defines may be tuned, too" all \
    "exits 0" "has 'source: bounds.cu'" \
    "has '  MOST: {values: [32, 64, 128, 256, 512], default: 128, override: true}'"
finish
