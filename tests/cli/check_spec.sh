#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check: what a spec passes against what its kernels take: types, outputs that
# cannot be written, shared memory, entries, tolerances.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

cp "$data/scale.cu" "$data/scale.h" "$folder/"
change() { sed "$1" "$root/kernels/scale.yaml" >"$folder/t.yaml"; }
# wrong NAME SED MESSAGE [OPTION]: one finding with its place, and no other
wrong() {
    change "$2"
    run check "$folder/t.yaml" ${4-}
    check "$1" all "exits 2" "out_has '^wrong .*/t.yaml:$3'" \
        "out_has '^0 ok, ${5-1} wrong'"
}
# The same where the reference is passed it too.
twice() { wrong "$1" "$2" "$3" "${4-}" 2; }

# What follows is found by the compiler, and by the text where there is none.
both() {
    twice "a type that is not the parameter's$2" 's/x: {type: f32/x: {type: i32/' \
        '26:14: scale takes const float \*.* as parameter 2.*, the spec passes x, an input of i32; write .type: f32.$' \
        "$1"
    twice "a scalar of another type$2" 's/a: {type: f32, value: 1.5/a: {type: i32, value: 1/' \
        '26:14: scale takes float as parameter 3.*, the spec passes a, a scalar of i32; write .type: f32.' \
        "$1"
    twice "a sign$2" 's/n: {type: i32/n: {type: u32/' \
        '26:14: scale takes int as parameter 4.*a scalar of u32; write .type: i32' \
        "$1"
    twice "a struct for a number$2" 's/a: {type: f32, value: 1.5}/a: {struct: {b: {type: u8, value: 1}}}/' \
        '26:14: scale takes float as parameter 3.*, the spec passes a, a struct; list' \
        "$1"
    wrong "two that are swapped$2" '1,/^reference/s/\[y, x, a, n\]/[y, a, x, n]/' \
        '26:14: .* as parameter 2.*passes a, a scalar of f32; x would fit here and a as parameter 3: are the two swapped' \
        "$1"
    wrong "an output that is passed as const$2" '1,/^reference/s/\[y, x, a, n\]/[x, y, a, n]/' \
        '26:14: scale takes const float \*.*passes y, an output of f32, which nobody can write there; x, an input, stands where it could be: are the two swapped?$' \
        "$1"
    wrong "the same of a reference$2" '/^reference/,/^arguments/s/\[y, x, a, n\]/[x, y, a, n]/' \
        '31:14: scale_reference takes const float \*.*passes y' "$1"
    wrong "an entry that is misspelt$2" 's/entry: scale$/entry: scael/' \
        '20:10: .*/scale.cu has no kernel "scael": did you mean scale?$' "$1"
    wrong "of a reference too$2" 's/entry: scale_reference/entry: scale_refrence/' \
        '28:10: .*no kernel "scale_refrence": did you mean scale_reference?$' \
        "$1"
}
both --no-compile ", by the text"
change 's/entry: scale$/entry: quite_another_name/'
run check "$folder/t.yaml" --no-compile
check "an entry like no other" all "exits 2" \
    "out_has 'has no kernel \"quite_another_name\": did you mean scale?'"
change 's/entry: scale$/entry: "scal{BLOCK}"/'
run check "$folder/t.yaml" --no-compile
check "one that a value makes may be any" out_lacks 'has no kernel'
change 's/entry: scale$/entry: made/;s/^source:.*/&\noptions: [-Dscale=made]/'
sed -i 's/kernel\/1/kernel\/2/' "$folder/t.yaml"
run check "$folder/t.yaml" --no-compile
check "and so may one that an option makes" out_lacks 'has no kernel'
change 's/, tolerance: {absolute: 0}//'
run check "$folder/t.yaml" --no-compile
check "an f32 output without a tolerance is noted" all "exits 0" \
    "out_has '^note .*t.yaml:33:6: y is f32 without a tolerance: .*write'"
change 's/, tolerance: {absolute: 0}//;/^reference:/,/^  arguments:/d'
run check "$folder/t.yaml" --no-compile
check "as it is where the default is the reference" all "exits 0" \
    "out_has '^note .*: y is f32 without a tolerance: .*the expected one'"
change 's/: f32, role/: i32, role/;s/a: {type: f32, value: 1.5/a: {type: i32, value: 1/;s/, tolerance: {absolute: 0}//'
sed 's/float/int/g' "$data/scale.cu" >"$folder/scale.cu"
run check "$folder/t.yaml" --no-compile
check "one of whole numbers is not" all "exits 0" "out_lacks '^note'"
cp "$data/scale.cu" "$folder/scale.cu"

# grid NAME EXPRESSION SIZE [MESSAGE]: a note with its place, or none
grid() {
    change "1,/^reference/s|^  grid: .*|  grid: [\"$2\"]|;s/^- {n: 1000}/- {n: $3}/;/^- {n: 1048576}/d"
    run check "$folder/t.yaml" --no-compile --wide
    if [ -n "${4-}" ]; then
        check "$1" all "exits 0" "out_has '^note .*/t.yaml:20:10: the grid.s x, .*$4'"
    else
        check "$1" all "exits 0" "out_lacks '^note'"
    fi
}
grid "a grid that is rounded down" "n // BLOCK" 1000 \
    'is 7 where n is 1000, for 128 each: the last 104 have no block; round up'
grid "by division, too" "int(n / (BLOCK * 4))" 1000003 \
    'is 1953 where n is 1000003, for 512 each: the last 67 have no block'
grid "where one is the least, too" "max(1, n // BLOCK)" 200 \
    'is 1 where n is 200, for 128 each: the last 72 have no block'
grid "not by steps that pass such a place" "ceildiv(127 * n, 256)" 163
grid "not where the size is a multiple" "n // BLOCK" 1024
grid "not where it is one block" "max(1, n // BLOCK)" 128
grid "not where it is rounded up by hand" "(n + BLOCK - 1) // BLOCK" 1000
grid "nor where blocks go on until all is done" "min(132, n // BLOCK)" 1000000

# A thousandth of a thousandth: points that are drawn find none.  Of the first
# constraint alone too many pairs of A and B may have a C to be counted.
cat >"$folder/few.yaml" <<'END'
format: kernel/1
name: few
parameters:
  A: {values: {from: 1, to: 3800}}
  B: {values: {from: 1, to: 3800}}
  C: {values: {from: 1, to: 3800}}
constraints:
- A * B % 1000003 == C
- A > B
- A < B
END
run check "$folder/few.yaml"
check "the constraint that leaves none, behind one that leaves few" all \
    "exits 2" "out_has '^wrong .*few.yaml:10:3: no configuration satisfies the constraints: of 38948 that are left before it, \"A < B'"
run space "$folder/few.yaml"
check "and an estimate is not below what is left behind it" all "exits 0" \
    "out_has '^ *~38,948 .*A . B % 1000003 == C\$'" \
    "out_has '^ *38,948 .*A > B\$'"
sed -i '$d;9d' "$folder/few.yaml"
run space "$folder/few.yaml"
check "nor from what is left in the end" all "exits 0" \
    "out_has '^ *77,966 .*A . B % 1000003 == C\$'" "out_has '^77,966 valid'"
sed -i '/^  [AB]/s/3800/1/;$d' "$folder/few.yaml"
sed -i '/^  C/s/3800/1/;/^constraints/d' "$folder/few.yaml"
run space "$folder/few.yaml"
check "one is one" all "exits 0" "out_has '^1 valid configuration, '"
run check "$folder/few.yaml"
check "at one size" all "exits 0" "out_has ', 1 size, 1 configuration; '"

# place NAME EXPRESSION LINE:COLUMN: where a name that is unknown stands
place() {
    { printf 'format: kernel/1\nname: few\nparameters:\n'
        printf '  A: {values: [1, 2]}\nconstraints:\n- %b\n' "$2"
    } >"$folder/place.yaml"
    run check "$folder/place.yaml"
    check "the place of a name $1" all "exits 2" \
        "out_has '^wrong .*/place.yaml:$3: unknown name .B.; '"
}
place "that is plain" 'A < B' 6:7
place "in quotes" '"A < B"' 6:8
place "in several lines, which begin there" '>-\n  A\n  < B' 6:3

# A kernel whose size is fixed.
cat >"$folder/fixed.yaml" <<'END'
format: kernel/1
name: fixed
source: fixed.cu
parameters:
  B: {values: [32, 64], default: 32}
launches:
- {entry: fill, grid: 32 // B - 1, block: B, arguments: [y]}
arguments:
  y: {type: i32, role: output, count: 4096}
END
echo '__global__ void fill(int *y) { y[B * blockIdx.x] = nothing; }' \
    >"$folder/fixed.cu"
run check "$folder/fixed.yaml" --no-compile
check "a problem without dimensions is not named" all "exits 2" \
    "out_has 'is expected (with the default configuration)\$'"
sed -i 's/32 .. B - 1/4096 \/\/ B/' "$folder/fixed.yaml"
if has_nvrtc; then
    run check "$folder/fixed.yaml"
    check "nor where it does not compile" all "exits 2" \
        "out_has 'fixed.yaml: the default configuration: compile_error: '"
fi

run check --no-compile "$source/tests/gpu/truth.yaml"
check "launches that compare write no output" all "exits 0" "out_has '^1 ok'"
if ! has_nvrtc; then
    skip "by the compiler" "no NVRTC"
    finish
    exit
fi
both "" ", by the compiler"
wrong "extern __shared__ without a byte" \
    's/^  shared_dynamic: .*//;s/default: static/default: dynamic/' \
    '20:10: scale uses extern __shared__, and launch 1 gives it no byte; write "shared_dynamic: BYTES"$'
wrong "less than one element" \
    's/^  shared_dynamic: .*/  shared_dynamic: 2/;s/default: static/default: dynamic/' \
    '24:19: scale uses at least 4 bytes of extern __shared__, launch 1 gives it 2; '
change 's/default: static/default: dynamic/'
run check "$folder/t.yaml"
check "the bytes that it needs are right" all "exits 0" "out_lacks '^note'"
change 's/^  shared_dynamic: .*/  shared_dynamic: 400/;s/default: static/default: dynamic/'
sed 's/tile\[threadIdx.x\];/tile[127];/' "$data/scale.cu" >"$folder/scale.cu"
run check "$folder/t.yaml"
check "a place that is constant and beyond" all "exits 2" \
    "out_has 'scale uses at least 509 bytes of extern __shared__, launch 1 gives it 400; '"

# Types that the text does not show.
typed() {
    run check "$folder/t.yaml"
    check "$1" all "exits $2" "out_has '$3'"
}
cat >"$folder/scale.cu" <<'END'
typedef float real;
#define CONST const
template <class T> struct pair { T a, b; };
template <class T> __device__ void f(T *y, const T *x, T a, int n)
{
    if (n > 1000000)
        y[0] = a * x[0];
}
extern "C" __global__ void scale(real *__restrict__ y, CONST real *x, real a,
                                 int n) { f(y, x, a, n); }
template <class T, int B> __global__ void any(T *y, const T *x, T a, int n)
{
    f(y, x, a, n + B);
}
__global__ void wide(float4 *y, const void *x, float a, int n)
{
    if (n > 1000000)
        y[0].x = a * *(const float *)x;
}
__global__ void made(pair<float> *y, const pair<float> *x, float a, int n)
{
    if (n > 1000000)
        y[0].a = a * x[0].b;
}
__global__ void scale_reference(float *y, const float *x, float a, int n)
{
    if (n > 1000000)
        y[0] = a * x[0];
}
END
spec() {
    change "s/entry: scale\$/entry: \"$1\"/;s/^  shared_.*//;${2-}"
}
spec scale
typed "a typedef and a macro are seen through" 0 'the reference compile'
spec scale 's/x: {type: f32/x: {type: f64/'
typed "and are compared" 2 'takes const float \* as parameter 2, the spec passes x, an input of f64'
spec 'any<float, {BLOCK}>'
typed "a template of the right type" 0 'the reference compile'
spec 'any<double, {BLOCK}>'
typed "and of another" 2 'takes double \* as parameter 1, the spec passes y, an output of f32; write .type: f64'
spec wide
typed "vectors and void stand for any type" 0 'the reference compile'
spec made
typed "structures stand for themselves" 0 'the reference compile'
spec wide '1,/^reference/s/\[y, x, a, n\]/[x, y, a, n]/'
typed "but a constant is one" 2 'takes const void \* as parameter 2, the spec passes y, an output of f32, which nobody'
finish
