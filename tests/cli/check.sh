#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check: what fits is let pass, what does not is found.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

tuning=$root/tunings/scale/t.yaml
journal=$root/tunings/scale/j.journal
make_tuning "$tuning"
make_journal "$journal"

# wrong NAME MESSAGE FILE: check --no-compile finds it, and says where
wrong() {
    run check --no-compile "$3"
    check "$1" all "exits 2" "out_has '^wrong .*$2'" \
        "out_has '1 wrong\|2 wrong\|3 wrong'" "err_has 'failed'"
}

run check --no-compile "$root/kernels/scale.yaml" "$tuning" "$journal"
check "three that fit" all "exits 0" err_empty \
    "[ $(grep -c '^ok' "$folder/out") -eq 3 ]" \
    "out_has '^3 ok, 0 wrong, 0 skipped$'"
if strace -o "$folder/trace" true 2>"$folder/err"; then
    strace -f -o "$folder/trace" -e trace=openat "$build/shmtune" check scale \
        --no-compile >"$folder/out" 2>"$folder/err"
    status=$?
    check "a built-in spec is read once" all "exits 0" "out_has '^1 ok'" \
        "[ $(grep -c 'kernels/scale.yaml"' "$folder/trace") -eq 1 ]"
else
    skip "a built-in spec is read once" "no strace here"
fi
cat >"$folder/only.yaml" <<'END'
format: kernel/1
name: only
problem:
  n: {default: 1000}
parameters:
  A: {values: [1, 2, 4]}
  B: {values: [1, 2, 4]}
constraints:
- A <= B
- A * B > n
END
wrong "a space without a configuration, and what empties it" \
    'only.yaml:10:3: no configuration .* at n=1000: of 6 .*"A . B > n" leaves none' \
    "$folder/only.yaml"
for arch in sm_91 sm90 sm_80,sm_90 ''; do
    run check "$root/kernels/scale.yaml" --arch "$arch"
    check "one architecture, not \"$arch\"" all "exits 1" out_empty \
        "err_has '\"$arch\".* expected'"
done
sed "s/^- BLOCK <= n/&\\n- MEMORY != 'dinamic' or PAD == 0/" \
    "$root/kernels/scale.yaml" >"$root/kernels/words.yaml"
run check --no-compile "$root/kernels/words.yaml"
check "a word that no parameter has is noted" all "exits 0" \
    "out_has \"^note .*/words.yaml:19:3: 'dinamic' is no value of MEMORY, which has static, dynamic\$\""
# odd EXPRESSION MESSAGE: what it means was hardly meant
odd() {
    sed "s/^- BLOCK <= n/&\\n- $1/" "$root/kernels/scale.yaml" \
        >"$root/kernels/words.yaml"
    run check --no-compile "$root/kernels/words.yaml"
    check "noted: $1" all "exits 0" "out_has \"^note .*/words.yaml:19:3: $2\""
}
odd "MEMORY == 0 or BLOCK > 0" \
    "MEMORY is a word and equals no number; compare it, as MEMORY == 'dynamic'; it has static, dynamic\$"
odd "not MEMORY or BLOCK > 0" \
    "MEMORY is a word, which is always true; compare it, as MEMORY =="
odd "MEMORY" "MEMORY is a word, which is always true"
odd "MEMORY == 'static' or 'dynamic'" \
    "'dynamic' stands alone, and is always true; one of several words is NAME in "
odd "BLOCK in ['64', 128]" \
    "BLOCK is a number and equals no word; write the number without quotes; it has 64, 128, 256"
sed "s/^  shared_dynamic: .*/  shared_dynamic: 4 if MEMORY == 'dinamic' else 0/" \
    "$root/kernels/scale.yaml" >"$root/kernels/words.yaml"
run check --no-compile "$root/kernels/words.yaml"
check "a word that no parameter has in a launch" all "exits 0" \
    "out_has \"^note .*/words.yaml:24:19: 'dinamic' is no value of MEMORY\""
rm "$root/kernels/words.yaml"
sed 's/^arguments:/&\n  mask: {type: u8, role: input, count: 9}\n  room: {type: u8, role: workspace, count: 9}/' \
    "$root/kernels/scale.yaml" >"$root/kernels/untaken.yaml"
run check --no-compile "$root/kernels/untaken.yaml"
check "what no launch takes is noted" all "exits 0" \
    "out_has '^note .*/untaken.yaml:[0-9]*:40: no launch takes the input mask, which is'" \
    "out_has '^note .*/untaken.yaml:[0-9]*:44: no launch takes the workspace room,'" \
    "out_lacks 'takes the input x'"
rm "$root/kernels/untaken.yaml"
sed -e 's/^  PAD:/  PDA: {values: [0, 1], default: 0}\n&/' \
    -e 's/scale.cu/idle.cu/' "$root/kernels/scale.yaml" \
    >"$root/kernels/idle.yaml"
sed '/include/d' "$root/kernels/scale.cu" >"$root/kernels/idle.cu"
run check --no-compile "$root/kernels/idle.yaml"
check "what changes nothing is noted" all "exits 0" \
    "out_has '^note .*: parameter PDA is neither in the source nor in a launch'" \
    "[ $(grep -c '^note' "$folder/out") -eq 1 ]"

# Each part of a launch that PDA is in.
for part in 's/entry: scale$/entry: "scale<PDA>"/' \
    's/^  carveout: .*/  carveout: -1 if PDA == 0 else 100/' \
    's/^  shared_dynamic: /&PDA + /' 's/^  block: .*/  block: [BLOCK + PDA]/' \
    's/^  grid: .*/  grid: ["ceildiv(n, BLOCK) + PDA"]/' \
    's/^  carveout: .*/&\n  when: PDA == 0/'; do
    sed "1,/^reference/$part" "$root/kernels/idle.yaml" \
        >"$root/kernels/part.yaml"
    run check --no-compile "$root/kernels/part.yaml"
    check "not where a launch has it: $part" out_lacks '^note .*PDA'
done
rm "$root/kernels/part.yaml"
sed 's/#include "scale.h"/#include <scale.h>/' "$root/kernels/scale.cu" \
    >"$root/kernels/idle.cu"
run check --no-compile "$root/kernels/idle.yaml"
check "not where a header may have it, however that is included" all \
    "exits 0" "out_lacks '^note'"
rm "$root/kernels/idle."*
run check --no-compile
check "all that is shipped, with no file" all "exits 0" err_empty \
    "out_has '^ok .*/scale/t.yaml: tuning of scale'" \
    "out_has '^ok .*/scale/j.journal: journal of scale'"
echo 'format: kernel/1' >"$root/kernels/broken.yaml"
run check --no-compile
check "and a spec there that cannot be read" all "exits 2" \
    "out_has '^wrong .*/broken.yaml'" "out_has '^ok .*/scale/t.yaml: tun'"
rm "$root/kernels/broken.yaml"
run check --no-compile scale
check "a kernel by its name" all "exits 0" \
    "out_has '^ok .*/kernels/scale.yaml: spec of scale'" "out_has '^1 ok, 0 wr'"
run check --no-compile scael
check "no kernel and no file" all "exits 2" \
    "out_has '^wrong .*scael: there is no such file'"
run check --no-compile --json "$tuning"
check "as JSON" all "exits 0" err_empty is_json "out_has '\"outcome\": \"ok\"'"
odd=$folder/$(printf 'n\351.yaml')    # no UTF-8
cp "$tuning" "$odd"
run check --no-compile --json "$odd" "$folder/absent.yaml"
check "nothing is missing where a name is no UTF-8" all "exits 2" is_json \
    "out_has '\"file\": \".*/n?.yaml\"'" "out_has absent" \
    "[ $(grep -c '"outcome"' "$folder/out") -eq 2 ]"
rm "$odd"
run check --no-compile -q "$tuning"
check "-q says nothing of what is well" all "exits 0" out_empty err_empty
run check --no-compile "$folder/absent.yaml" "$tuning"
check "one wrong file does not hide the others" \
    all "exits 2" "out_has '^wrong .*absent'" "out_has '^ok .*t.yaml'"

change() { sed "$1" "$2" >"$folder/changed"; }
change 's/BLOCK: 64, PAD: 1, M/BLOCK: 65, PAD: 1, M/' "$tuning"
wrong "a value that is not in the list" \
    'changed:[0-9]*:18: the configuration at n=1000: found BLOCK = 65, expected one of 64, ' \
    "$folder/changed"
lines() { sed -n 's/.*changed:\([0-9]*\):.*/\1/p' "$folder/out"; }
check "the winner and a tie, each at its line" [ "$(lines)" = \
    "$(grep -n 'BLOCK: 65, PAD: 1, M' "$folder/changed" | cut -d: -f1 | sed 2d)" ]
change 's/BLOCK: 1024, PAD: 0/BLOCK: 1024, PAD: 16384/' "$tuning"
wrong "a configuration that left the space" \
    "does not hold: .static. == .dynamic. or 69632 <= 49152 is false where MEMORY = .static., BLOCK = 1024, PAD = 16384" \
    "$folder/changed"
change 's/{BLOCK: 64, PAD: 1, MEMORY: dynamic, CARVEOUT: 100}/{BLOCK: 64, PAD: 16384, MEMORY: static, CARVEOUT: 100}/' \
    "$tuning"
wrong "a tie that left the space" 'changed:[0-9]*:5: a tie at n=1000 is' \
    "$folder/changed"
change 's/shared_per_block_optin: 232448/shared_per_block_optin: 49152/
s/PAD: 1, MEMORY: dynamic/PAD: 16384, MEMORY: dynamic/' "$tuning"
wrong "more shared memory than the device has" "too_large" "$folder/changed"
change 's/registers: 12/registers: 255/
s/registers_per_multiprocessor: 65536/registers_per_multiprocessor: 16384/' \
    "$tuning"
wrong "registers for no block" "not_resident" "$folder/changed"
change 's/- size: {n: 1000}/- size: {m: 1000}/' "$tuning"
wrong "a dimension the kernel has not" "changed:[0-9]*:[0-9]*: " \
    "$folder/changed"
change 's/^kernel: scale/kernel: unheard_of/' "$tuning"
wrong "a kernel that is not there" "unheard_of" "$folder/changed"
change 's/^space: 44/space: 45/' "$journal"
wrong "a journal of another space" "44 configurations, 45" "$folder/changed"
change 's/BLOCK: 1024, PAD: 1, M/BLOCK: 1024, PAD: 16384, M/' "$journal"
wrong "a journal's record outside of the space" \
    'changed:[0-9]*:1: 1 record is of .* not in the space' "$folder/changed"
change 's/- BLOCK <= n/- BLOCK <= 64/' "$root/kernels/scale.yaml"
cp "$data/scale.cu" "$data/scale.h" "$folder/"
wrong "a default the constraints refuse" "changed:18:3: " "$folder/changed"

# Nothing has changed but a comment in a header.
echo '// new' >>"$root/kernels/scale.h"
wrong "a tuning of other sources" "other sources" "$tuning"
wrong "a journal of other sources" "other sources" "$journal"
cp -f "$data/scale.h" "$root/kernels/"

if ! has_nvrtc; then
    reason=$(head -n 1 "$folder/err")
    run check "$tuning"
    check "without a compiler that is said" \
        all "exits 0" "out_has '^skipped .*compil'"
    skip "compiling" "no NVRTC: $reason"
    finish
    exit
fi
sed '1,/^reference/s/^  block: .*/  block: [BLOCK, 1, 65]/' \
    "$root/kernels/scale.yaml" >"$folder/deep.yaml"
run check "$folder/deep.yaml"
check "a block that no device has, with its launch's place" all "exits 2" \
    "out_has '^wrong .*/deep.yaml:20:10: .*too_large: block is 65 threads deep'"
sed '/^reference:/,/arguments: \[y, x, a, n\]/d' "$root/kernels/scale.yaml" \
    >"$root/kernels/alone.yaml"
run check "$root/kernels/alone.yaml"
check "a reference is told of where there is one" all "exits 0" \
    "out_has 'the default compiles$'"
rm "$root/kernels/alone.yaml"
run check "$root/kernels/scale.yaml" "$tuning"
check "compiled for real" all "exits 0" err_empty \
    "out_has 'the default and the reference compile'" "out_has 'every configuration compiles'"
# sampled BEGIN OPTION...: check, where scale.cu begins so
sampled() {
    printf "$1" | cat - "$root/kernels/scale.cu" >"$root/kernels/sampled.cu"
    sed 's/source: scale.cu/source: sampled.cu/' "$root/kernels/scale.yaml" \
        >"$root/kernels/sampled.yaml"
    shift
    run check "$root/kernels/sampled.yaml" "$@"
}
sampled '#if BLOCK == 1024\n#error no more\n#endif\n'
check "the highest value does not compile" all "exits 2" \
    "out_has '^wrong .*sample with BLOCK=1024 compiles: leave it out'" \
    "out_has ' BLOCK=1024 .* is compile_error: .*sampled.cu:2:.*no more'" \
    "out_has '^       2 | #error no more$'" \
    "[ \$(grep -c 'no more' $folder/out) -eq 2 ]"
run check "$root/kernels/sampled.yaml" --sample 0
check "and is not looked at if not wanted" all "exits 0" err_empty
sampled '#if BLOCK == 256\n#error between\n#endif\n'
check "numbers between the extremes are left to tune" all "exits 0" \
    "out_lacks between"
sampled '#if MEMORY == MEMORY_dynamic\n#error no words\n#endif\n'
check "a word does not compile, nor a number that needs it" all "exits 2" \
    "out_has '^wrong .*with PAD=16384 MEMORY=dynamic compiles'"
sampled '#if BLOCK == 1024 && PAD == 1\n#error both\n#endif\n' \
    --sample 4096
check "what is well elsewhere is a note at most" all "exits 0" \
    "out_lacks '^wrong'"
rm "$root/kernels/sampled."*
# A source as it is written for nvcc.
cat - "$root/kernels/scale.cu" >"$root/kernels/nvcc.cu" <<'END'
#include <algorithm>
#include <assert.h>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <float.h>
#include <iostream>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__global__ void uses(float *p, std::uint32_t n)
{
    static_assert(sizeof(int64_t) == 8 && CHAR_BIT == 8, "");
    const size_t at = offsetof(int2, y) + (size_t)(ptrdiff_t)n;

    assert(n < UINT32_MAX && n < INT_MAX);
    if (p[0] > FLT_MAX)
        printf("%f\n", p[0]);
    memcpy(p, p + 1, 4);
    p[at] = std::sqrt(p[1]) + std::max(p[2], 1.0f) + std::min(1, 2) +
            std::abs(p[3]) + INFINITY * (float)M_PI + (NULL == p) + INT64_MAX;
}
#ifndef __CUDACC_RTC__
#include <vector>
int main() { std::vector<int> v; uses<<<1, 1>>>(nullptr, 1); }
#endif
END
sed 's/source: scale.cu/source: nvcc.cu/' "$root/kernels/scale.yaml" \
    >"$root/kernels/nvcc.yaml"
run check "$root/kernels/nvcc.yaml"
check "the C library's headers are there" all "exits 0" err_empty
sed -i '1i #include <vector>' "$root/kernels/nvcc.cu"
run check "$root/kernels/nvcc.yaml"
check "what to do about others" all "exits 2" \
    "out_has 'open source file .vector.; .*includes.*__CUDACC_RTC__'"
complains() { # MESSAGE, of a scale.cu that begins with standard input
    cat - "$root/kernels/scale.cu" >"$root/kernels/nvcc.cu"
    run check "$root/kernels/nvcc.yaml"
    all "exits 2" "out_has '$1'"
}
echo '#include <ranges>' | complains \
    'source file .ranges.; device code has <cuda/std/ranges>'
check "what device code has instead" [ $? -eq 0 ]
echo '__host__ int f() { return 0; }' | complains \
    'nvcc.cu:1[:0-9]*: .*JIT mode; keep .* behind #ifndef __CUDACC_RTC__'
check "where a function of the host goes" [ $? -eq 0 ]
echo 'void f(void **p) { cudaMalloc(p, 4); }' | complains \
    'nvcc.cu:1[:0-9]*: .*cudaMalloc.*; keep .* behind #ifndef __CUDACC_RTC__'
check "and its calls" [ $? -eq 0 ]
echo '__global__ void g(); void f() { g<<<1, 1>>>(); }' | complains \
    'nvcc.cu:1:[0-9]*: .* kernel launch .*; keep .* behind #ifndef __CUDACC_RTC'
check "its launches" [ $? -eq 0 ]
echo 'int f() { return std::vector<int>().size(); }' | complains \
    'nvcc.cu:1:[0-9]*: .* no member .vector.; keep .* behind #ifndef __CUDACC_R'
check "and its library" [ $? -eq 0 ]
echo '#include <cub/device/device_reduce.cuh>' | complains 'JIT mode; of CUB include <cub/block/'
check "which of CUB's headers compile" [ $? -eq 0 ]
echo 'template <int N, int BLOCK> struct A { int at[BLOCK]; };' | complains \
    'nvcc.cu:1:[0-9]*: error: .*; BLOCK is a macro there, -DBLOCK=128 of the spec: '
check "a name that is a parameter's is told" [ $? -eq 0 ]
echo '#define BLOCK 32' | complains \
    "nvcc.cu(1): #define BLOCK is in the way of the spec.s 128; .*#ifndef BLOCK"
check "a macro that hides a parameter is an error" [ $? -eq 0 ]
echo '#define BLOCK 128' | cat - "$root/kernels/scale.cu" \
    >"$root/kernels/nvcc.cu"
run check "$root/kernels/nvcc.yaml" --sample 0
check "one that says the same by chance is noted" all "exits 0" \
    "out_has '^note .*nvcc.cu:1: a #define of the parameter BLOCK; put it behind #ifndef BLOCK, or write .override: true'"
printf '#if 0\n#define BLOCK 128\n#endif\n' |
    cat - "$root/kernels/scale.cu" >"$root/kernels/nvcc.cu"
run check "$root/kernels/nvcc.yaml"
check "one that is inactive is not" all "exits 0" "out_lacks '^note'"
echo '#define BLOCK 64' | cat - "$root/kernels/scale.cu" \
    >"$root/kernels/nvcc.cu"
sed 's/default: 128/default: 64/' "$root/kernels/scale.yaml" |
    sed 's/scale.cu/nvcc.cu/' >"$folder/same.yaml"
cp "$root/kernels/nvcc.cu" "$root/kernels/scale.h" "$folder/"
run check "$folder/same.yaml"
check "what is the default alone is wrong, and told once" all "exits 2" \
    "out_lacks '^note'" "out_has '^wrong .*nvcc.cu(1): #define BLOCK is in the way of the spec.s'" \
    "out_has '^0 ok, 1 wrong'"
printf '#define PAD_TO 1\n#define PAD_TO 2\n#ifndef BLOCK\n#define BLOCK 1\n#endif\n' |
    cat - "$root/kernels/scale.cu" >"$root/kernels/nvcc.cu"
run check "$root/kernels/nvcc.yaml"
check "one of the source's own is not, nor one that gives way" all \
    "exits 0" "out_lacks '^note'"
echo '__device__ int f() { return n; }' | complains \
    'identifier "n" is undefined; n is a dimension .* define: true'
check "a dimension that is no macro" [ $? -eq 0 ]
echo '__device__ int f() { return CARVEOUT; }' | complains \
    '"CARVEOUT" is undefined; CARVEOUT is a parameter of the scope .launch.'
check "nor is a parameter of the launch" [ $? -eq 0 ]
echo '__device__ int f() { return nobodys; }' | complains \
    'identifier "nobodys" is undefined$'
check "and of a name that is nobody's nothing more is said" [ $? -eq 0 ]
check "an error of the source is told once, with its line and a caret" all \
    "out_has 'nvcc.cu:1:29: error: identifier'" \
    "out_has '^       1 | __device__ int f() { return nobodys; }$'" \
    "out_has '^         | \{29\}^$'" \
    "[ \$(grep -c 'nobodys. is undefined' $folder/out) -eq 1 ]"
rm "$root/kernels/nvcc."*
sed 's/entry: scale_reference/entry: INDEX/' "$root/kernels/scale.yaml" \
    >"$root/kernels/other.yaml"
run check "$root/kernels/other.yaml"
check "a reference that is not in the source" all "exits 2" \
    "out_has '^wrong .*other.yaml: the reference: .*no kernel .INDEX.'"
rm "$root/kernels/other.yaml"
# not_taken NAME MESSAGE SCRIPT: what the spec passes is not what scale takes
not_taken() {
    sed "$3" "$root/kernels/scale.yaml" >"$root/kernels/other.yaml"
    run check "$root/kernels/other.yaml"
    check "$1" all "exits 2" "out_has '^wrong .*$2'" "err_has 'failed'"
    rm "$root/kernels/other.yaml"
}
takes='scale takes 4 parameters of 8, 8, 4 and 4 bytes, the spec passes'
see="see .arguments. of launch 1 (.*other.yaml:26:14)"
not_taken "a missing argument" \
    "at n=1000: spec_mismatch: $takes 3 of 8, 8 and 4: $see" '26s/, n]/]/'
not_taken "an extra argument" \
    "spec_mismatch: $takes 5 of 8, 8, 4, 4 and 4: $see" '26s/n]/n, n]/'
not_taken "a scalar of another size" \
    'other.yaml:26:14: scale takes float as parameter 3, the spec passes a, a scalar of f64; write "type: f32"' \
    's/a: {type: f32/a: {type: f64/'
not_taken "a scalar for a buffer" \
    'other.yaml:26:14: scale takes const float \* as parameter 2, the spec passes a, a scalar of f32; x would fit here' \
    '26s/x, a/a, x/'
not_taken "an argument that the reference misses" \
    'the reference: scale_reference takes 4 .* passes 3 .*other.yaml:31:14' \
    '31s/, n]/]/'
# variables DECLARATION, USE: a scale.cu that reads variables of its own
variables() {
    sed "s/^extern .*scale(.*/$1\\n&/; s/y\[i\] = /&$2/" "$data/scale.cu" \
        >"$root/kernels/other.cu"
    sed 's/scale.cu/other.cu/' "$root/kernels/scale.yaml" \
        >"$root/kernels/other.yaml"
}
variables '__constant__ float w[3]; __device__ int c;' 'w[c] *'
run check "$root/kernels/other.yaml"
check "a __constant__ variable that nobody fills is told by name" all \
    "exits 2" \
    "out_has '^wrong .*spec_mismatch: the __constant__ variable w (12 bytes) has no initialiser and nobody fills it; add an argument'" \
    "out_has '^wrong .*: the reference: the __constant__ variable w'"
sed -i 's/^arguments:/&\n  w: {type: f32, role: symbol, count: 3}/' \
    "$root/kernels/other.yaml"
run check "$root/kernels/other.yaml"
check "one that is filled is well, one of __device__ is noted" all "exits 0" \
    "out_lacks ' w (12 bytes)'" \
    "out_has '^note .*the __device__ variable c (4 bytes) has no initialiser'"
variables '__constant__ int w = 0, v[2][2] = {{0}}; constexpr bool FLAG = false; __device__ int c{0};' \
    '(w + v[1][0] + (FLAG ? 2 : 1) + c) *'
sed -i '/^  w: {type: f32, role: symbol/d' "$root/kernels/other.yaml"
run check "$root/kernels/other.yaml"
check "variables that are initialised with zeros are filled" all "exits 0" \
    "out_lacks 'has no initialiser'"
variables '__constant__ int w;' '(w == 0 ? 1 : w) *'
run check "$root/kernels/other.yaml"
check "a comparison is no initialiser" all "exits 2" \
    "out_has 'the __constant__ variable w (4 bytes) has no initialiser'"
variables 'namespace cuda::std { __device__ int end; } namespace our { __device__ int end; }' \
    '(cuda::std::end + our::end) *'
run check "$root/kernels/other.yaml"
check "a variable of the toolkit is not noted" all "exits 0" \
    "out_has '^note .*the __device__ variable our::end (4 bytes)'" \
    "out_lacks 'cuda::std::end'"
variables '__constant__ float w[3] = {1, 2, 3}; __constant__ int idle;' 'w[1] *'
run check "$root/kernels/other.yaml"
check "what has an initialiser, or is not read, needs nobody" all "exits 0" \
    "out_lacks '^note'"
sed -i 's/^arguments:/&\n  w: {type: f32, role: symbol, symbol: v, count: 3}/' \
    "$root/kernels/other.yaml"
run check "$root/kernels/other.yaml"
check "an argument without its variable is noted" all "exits 0" \
    "out_has '^note .*the binary has no variable v, which the argument w fill'"
rm "$root/kernels/other."*
change 's/shared_static_bytes: 4096/shared_static_bytes: 4100/' "$tuning"
run check "$folder/changed"
check "other static bytes than when it was tuned" \
    all "exits 2" "out_has '4096 bytes of static .* 4100 when'"
# 300 live values a thread where 64 registers are allowed.
cat >"$root/kernels/scale.cu" <<'END'
extern "C" __global__ void __launch_bounds__(BLOCK, 65536 / 32 / BLOCK)
scale(float *y, const float *x, float a, int n)
{
#if MEMORY == MEMORY_dynamic
    extern __shared__ float tile[];
#else
    __shared__ float tile[BLOCK + PAD];
#endif
    float v[120];
    tile[threadIdx.x] = a;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 120; k++)
        v[k] = x[k * n + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 120; k++)
        y[k * n + threadIdx.x] = v[k] * v[119 - k] * tile[threadIdx.x ^ 1];
}
END
run check "$tuning"
check "new spills" all "exits 2" "out_has 'spills [0-9]* bytes a thread, 0 when'"
sed -i 's/float v/float w/' "$root/kernels/scale.cu"
run check "$root/kernels/scale.yaml"
check "a default that does not compile" \
    all "exits 2" "out_has '^wrong .*compile_error'"
finish
