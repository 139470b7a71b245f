#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How a source is compiled: for which target, with which options, by which
# compiler, with which headers.  Compiled for real, where there is a compiler.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

if ! has_nvrtc; then
    echo "1..0 # SKIP no NVRTC: $(head -n 1 "$folder/err")"
    exit
fi
mkdir "$folder/own"

# spec NAME [LINE]...: the spec of a kernel NAME of one buffer and one number,
# with these lines at its top; its source comes from standard input.
spec() {
    name=$1
    shift
    cat >"$folder/own/$name.cu"
    {
        printf 'format: kernel/2\nname: %s\nsource: %s.cu\n' "$name" "$name"
        [ $# -eq 0 ] || printf '%s\n' "$@"
        cat <<END
problem:
  n: {default: 1024}
parameters:
  BLOCK: {values: [128, 256], default: 128}
launches:
- entry: $name
  grid: ["ceildiv(n, BLOCK)"]
  block: [BLOCK]
  arguments: [o, n]
arguments:
  o: {type: f32, role: output, count: "roundup(n, 256)", tolerance: {absolute: 0}}
  n: {type: i32, value: n}
END
    } >"$folder/own/$name.yaml"
}

# inspects NAME [ARGUMENT]...
inspects() {
    name=$1
    shift
    run inspect "$folder/own/$name.yaml" --compile-timeout 600 "$@"
}

# registers CONFIG: of one configuration, in the last table
registers() { sed -n "s/^ *\([0-9]*\) .*$1\$/\1/p" "$folder/out"; }

# -- targets -----------------------------------------------------------------

asm='asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");'
setmaxnreg() {
    spec "$@" <<END
extern "C" __global__ void $1(float *o, int n)
{
    $asm
    o[blockIdx.x * BLOCK + threadIdx.x] = n;
}
END
}

setmaxnreg plain
inspects plain --arch sm_90
check "an instruction of sm_90a is not one of sm_90" all "exits 9" \
    "err_has 'if sm_90a has it, write \"features: architecture\" into the s'"
inspects plain --arch sm_90a --json
check "an architecture with a suffix is compiled as that" all "exits 0" \
    is_json "out_has '\"arch\": \"sm_90a\"'" "out_lacks compile_error"
inspects plain --arch sm_89a
check "an architecture that has no features of its own" all "exits 1" \
    "err_has '\"sm_89a\", expected one of'"
setmaxnreg own 'features: architecture'
inspects own --arch sm_90
check "a spec asks for the architecture's own features" all "exits 0" \
    "out_has 'on generic sm_90, compiled for sm_90a$'" "out_lacks compile_er"
inspects own --arch sm_80
check "where a device has none it is compiled as portable" all "exits 9" \
    "out_has 'on generic sm_80$'" "out_has 'target .sm_80'" \
    "err_lacks 'write \"features'"
run check "$folder/own/own.yaml"
check "so is the reference, which check compiles" all "exits 0" \
    "out_has 'the default compiles'"
setmaxnreg family 'features: family'
inspects family --arch sm_100 --json
check "those of its family" all "exits 0" "out_has '\"sm_100f\"'"
inspects family --arch sm_90
check "of which sm_90 has none" all "exits 9" "out_has 'on generic sm_90$'"

# -- names -------------------------------------------------------------------

spec named <<END
extern "C" __global__ void named(float *o, int n)
{
    o[blockIdx.x * BLOCK + threadIdx.x] = n;
}
END
sed 's/^source: .*/source: [first.cu, named.cu]/' "$folder/own/named.yaml" \
    >"$folder/own/two.yaml"
echo '/* nothing */' >"$folder/own/first.cu"
line='new
line'
for odd in 'a"b' -d "$line" 'b\s'; do
    cp -R "$folder/own" "$folder/$odd"
    for name in named two; do
        (cd "$folder" && "$build/shmtune" check -- "$odd/$name.yaml") \
            >"$folder/out" 2>"$folder/err"
        status=$?
        check "a source in a folder of an odd name is compiled: $name, $(
            printf %s "$odd" | tr '\n' ' ')" all "exits 0" err_empty
    done
    rm -rf "${folder:?}/$odd"
done

# -- options -----------------------------------------------------------------

greedy() {
    spec "$@" <<END
extern "C" __global__ void $1(float *o, int n)
{
    float a[40];

    for (int i = 0; i < 40; i++)
        a[i] = o[i * threadIdx.x];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < 40; i++)
            a[i] = a[i] * a[(i + 7) % 40] + 1;
    for (int i = 0; i < 40; i++)
        o[i * n] = a[i];
}
END
}

greedy greedy
inspects greedy --config BLOCK=128
many=$(registers 'BLOCK=128')
greedy few 'options: ["-maxrregcount=32"]'
inspects few --config BLOCK=128
check "options reach the compiler" all "exits 0" "[ '$many' -gt 40 ]" \
    "[ $(registers 'BLOCK=128') -eq 32 ]"
for option in '"-arch=sm_80" 3:11 device' '"--gpu-architecture=sm_80" 3:11 dev' \
    '-std=c++20 3:11 standard' '-I/usr/include 3:11 includes' \
    '--pre-include=a.h 3:11 include' '--relocatable-device-code=true 3:11 one' \
    '--keep 3:11 own' '-shared 3:11 own' '"-Xcompiler=-O1,-fplugin=./x.so" 3:11 load' '"-Xcompiler=-B." 3:11 load' '"-Xlinker=-plugin" 3:11 load' '-ccbin=clang 3:11 NVCC_CCBIN' \
    'maxrregcount 3:11 begins' '"-" 3:11 begins' '[-x] 3:11 text'; do
    # shellcheck disable=SC2086
    set -- $option
    greedy few "options: [$1]"
    sed -i '/^source/d; s/^options.*/&\nsource: few.cu/' "$folder/own/few.yaml"
    inspects few
    check "the option $1 is refused" all "exits 2" out_empty "err_has ':$2: '" \
        "err_has '$3'"
done
greedy few 'options: ["--no-such-option=1"]'
inspects few
check "an option that the compiler refuses" all "exits 9" \
    "err_has 'refuses an option: .*no-such-option'"
run check "$folder/own/few.yaml"
check "check says so, too" all "exits 2" "out_has 'no-such-option'"

# parameter LINE: with a second parameter
parameter() { sed -i "s/^parameters:\$/&\n  $1/" "$folder/own/few.yaml"; }

greedy few
parameter 'LIMIT: {values: [0, 32, 48], default: 0, option: "-maxrregcount={}"}'
inspects few --all
check "values of a parameter are options, and no limit is none" all "exits 0" \
    "[ $(registers 'LIMIT=0 BLOCK=128') -eq '$many' ]" \
    "[ $(registers 'LIMIT=32 BLOCK=128') -eq 32 ]" \
    "[ $(registers 'LIMIT=48 BLOCK=128') -eq 48 ]"
run check "$folder/own/few.yaml"
check "such a parameter does something" all "exits 0" "out_lacks note"
sed -i 's/float a\[40\];/&\n    a[0] = LIMIT;/' "$folder/own/few.cu"
inspects few --config LIMIT=32
check "but is no macro" all "exits 9" \
    "err_has 'LIMIT is a parameter that is an option, which makes no macro'"
greedy few
parameter 'LEVEL: {values: [O1, none], default: none, option: ["-maxrregcount=32", ""]}'
inspects few --all
check "a list has an option for each" all "exits 0" \
    "[ $(registers 'LEVEL=O1 BLOCK=128') -eq 32 ]" \
    "[ $(registers 'LEVEL=none BLOCK=128') -eq '$many' ]"
greedy few
parameter 'FMAD: {values: [true, false], default: true, option: "--fmad={}"}'
inspects few --all
check "words may be true and false" all "exits 0" "out_lacks compile_error"
while IFS='|' read -r key message; do
    greedy few
    parameter "A: {values: [1, 2], default: 1, $key}"
    inspects few
    check "refused: $key" all "exits 2" out_empty "err_has 'few.yaml:7:'" \
        "err_has '$message'"
done <<'END'
option: "--a=1"|has no {} for the value, or several
option: "--a={}{}"|has no {} for the value, or several
option: "-std={}"|cannot be given: write .standard
option: ["-a", "-b", "-c"]|3 options for the 2 values of A
option: ["-a", "b"]|begins with
option: ["-a", ]|1 options for the 2 values of A
option: {1: "-a"}|a text: found a mapping
option: "--a={}", scope: launch|cannot have the scope
END
printf 'format: kernel/2\nname: only\nparameters:\n  A: {values: [1], option: "-a={}"}\n' \
    >"$folder/own/only.yaml"
run space "$folder/own/only.yaml"
check "an option without a source" all "exits 2" "err_has ':4:28: '" \
    "err_has 'nothing to compile'"

# -- definitions of the source's own -----------------------------------------

# The shared bytes of a block say which values the compiler saw.
defining() {
    spec "$@" <<'END'
/* #define TILE 1 in a comment, and
#define TILE 2 */
#ifdef NOBODY
#define TILE 3
#endif
static const char *text() { return R"(
#define TILE 4
)" "'\""; }
  #  define TILE /* at first
                    #define TILE 5 */ \
    32 // in \
    elements
#define HOW HOW_first  // a word
#define SCALE (TILE + 0)
#if TILE * 2 == SCALE || __LINE__ != 15
#error no
#endif
extern "C" __global__ void defined(float *o, int n)
{
    __shared__ float tile[HOW == HOW_second ? 1024 : SCALE];

    tile[threadIdx.x] = o[n];
    __syncthreads();
    o[0] = tile[n] + (text()[1] == '#' && text()[14] == '4');
}
END
    sed -i "s/^parameters:\$/&\n  TILE: {values: [16, 32, 64], default: 32, $OVER}\n  HOW: {values: [first, second], default: first, override: true}/" \
        "$folder/own/defined.yaml"
}
# bytes CONFIG: of shared memory, in the last table
bytes() { sed -n "s/^ *[0-9]* *[0-9]* *[0-9]* *\([0-9]*\) .*$1.*/\1/p" "$folder/out" | head -n 1; }
OVER='override: true' defining defined
cp "$folder/own/defined.cu" "$folder/before"
inspects defined --all
check "a plain #define has the parameter's value" all "exits 0" \
    "[ '$(bytes 'TILE=16 HOW=first BLOCK=128')' = 64 ]" \
    "[ '$(bytes 'TILE=64 HOW=first BLOCK=128')' = 256 ]" \
    "[ '$(bytes 'TILE=64 HOW=second BLOCK=128')' = 4096 ]"
check "in what is compiled alone" cmp "$folder/before" "$folder/own/defined.cu"
run check "$folder/own/defined.yaml"
check "check takes it" all "exits 0" "out_lacks 'a #define of'" \
    "out_has 'the default compiles'"
echo 'inline int TILE_of(int TILE) { return TILE + 1; }' >"$folder/own/own.h"
sed -i '1i #include "own.h"' "$folder/own/defined.cu"
sed -i 's/__LINE__ != 15/__LINE__ != 16/' "$folder/own/defined.cu"
inspects defined --config TILE=64,HOW=first,BLOCK=128
check "a header before it may have the name for its own" all "exits 0" \
    "[ '$(bytes 'TILE=64 HOW=first BLOCK=128')' = 256 ]"
OVER='override: false' defining defined
inspects defined --config TILE=16,HOW=first
check "without that it is refused, with its place" all "exits 9" \
    "err_has 'defined.cu(9): #define TILE is in the way of the spec.s 16; .*#ifndef TILE, or write .override: true. into'"
echo '#error here' >>"$folder/own/defined.cu"
sed -i 's/override: false/override: true/' "$folder/own/defined.yaml"
inspects defined --config TILE=16,HOW=first
check "lines stay where they are" all "exits 9" "err_has 'defined.cu:26:'"
while IFS='|' read -r edit text message; do
    OVER='override: true' defining defined
    sed -i "$edit" "$folder/own/defined.yaml"
    sed -i "$text" "$folder/own/defined.cu"
    echo '#define TILE 7' >"$folder/own/tile.h"
    inspects defined
    check "refused: $message" all "exits 2" out_empty \
        "err_has 'defined.yaml:[0-9]*:[0-9]*: '" "err_has '$message'"
done <<'END'
s/override: true}/override: 7}/||true or false
s/override: true}/override: true, scope: launch}/||no macro: its scope is launch
s/override: true}/override: true, option: "-a={}"}/||no macro: it is an option
|/define TILE/d|no source has "#define TILE VALUE"
|s/define TILE/define TILE(x)/|no source has "#define TILE VALUE"
END

# In headers, each of which is named from where it lies.
mkdir -p "$folder/own/below/er"
in_headers() {
    spec within 'includes: [below]' <<'END'
#include "below/first.h"
#include <stdint.h>
#include "below/first.h"
extern "C" __global__ void within(float *o, int n)
{
    __shared__ float tile[TILE + MORE];
    tile[threadIdx.x] = o[n] + __LINE__ + sizeof(struct once);
    __syncthreads();
    o[0] = tile[n] + LINE;
}
#if LINE != 3 || __LINE__ != 11
#error no
#endif
END
    sed -i "s/^parameters:\$/&\n  TILE: {values: [16, 32], default: 32, override: true}/" \
        "$folder/own/within.yaml"
    printf '%s\n' '#ifndef FIRST' '#define FIRST' \
        '# include "er/tile.h" // of a folder below' '#include "plain.h"' \
        '#include <angle.h>' '#endif' >"$folder/own/below/first.h"
    printf '%s\n' '#pragma once' 'struct once { char c; };' \
        'enum { LINE_OF = __LINE__ };' '#include "../first.h"' \
        '#define TILE 32 /* the width */' >"$folder/own/below/er/tile.h"
    printf '%s\n' '#pragma once' '#include "er/tile.h"' 'struct plain {};' \
        '#define LINE 3' >"$folder/own/below/plain.h"
    printf '%s\n' '#pragma once' '#define MORE 0' '#include <plain.h>' \
        'static_assert(LINE_OF == 3, "lines stay");' >"$folder/own/below/angle.h"
}
in_headers
inspects within --all
check "a #define of a header has the parameter's value" all "exits 0" \
    "[ '$(bytes 'TILE=16 BLOCK=128')' = 64 ]" \
    "[ '$(bytes 'TILE=32 BLOCK=128')' = 128 ]"
run check "$folder/own/within.yaml"
check "check takes that, too" all "exits 0" "out_lacks 'a #define of'" \
    "out_lacks 'changes nothing'"
echo 'error here;' >>"$folder/own/below/er/tile.h"
inspects within --config TILE=16
check "a header's lines stay where they are" all "exits 9" \
    "err_has 'er/tile.h:6:1: error'"
in_headers
sed -i 's/^#define TILE.*/#define TILE 32\n#undef TILE\n#define TILE 32/' \
    "$folder/own/below/er/tile.h"
inspects within --config TILE=16
check "each of several definitions" \
    [ "$(bytes 'TILE=16 BLOCK=128')" = 64 ]
in_headers
printf '#if 0\n#include "below/er/tile.h"\n#endif\n' |
    cat - "$folder/own/within.cu" >"$folder/within"
sed 's/__LINE__ != 11/__LINE__ != 14/' "$folder/within" >"$folder/own/within.cu"
inspects within --config TILE=16
check "a header behind a false #if is read where it is true" \
    [ "$(bytes 'TILE=16 BLOCK=128')" = 64 ]

# Constants, which no macro may have the name of.
constants() {
    spec constant <<'END'
#define LINE_OF const int TILE = 6; // const int TILE = 5;
template <const int TILE = 7, class T = int> struct plain { static const int n = TILE; };
inline int twice(const int TILE = 8, int n = 1) { return TILE * n; } static const char *text() { return "const int TILE = 9;"; }
struct both { int TILE; }; enum kind { NONE, ROWS = 4, ALL };
namespace wide {
static constexpr unsigned FIRST = 1, TILE
    = 32u, LAST = TILE + 1;
}
extern "C" __global__ void constant(float *o, int n)
{
    const bool is = wide::TILE == 32;
    both both; both.TILE = 3; __shared__ float tile[wide::LAST * ROWS];

    static_assert(ALL == ROWS + 1 && plain<>::n == 7 && __LINE__ == 14, "");
    tile[threadIdx.x] = o[n] + (text()[14] == '9') + both.TILE + is;
    __syncthreads();
    o[0] = tile[n];
}
END
    sed -i "s/^parameters:\$/&\n  TILE: {values: [16, 32], default: 32, override: true}\n  ROWS: {values: [2, 4], default: 4, override: true}/" \
        "$folder/own/constant.yaml"
}
constants
inspects constant --all
check "a constant has the parameter's value" all "exits 0" \
    "[ '$(bytes 'TILE=16 ROWS=4 BLOCK=128')' = 272 ]" \
    "[ '$(bytes 'TILE=32 ROWS=2 BLOCK=128')' = 264 ]"
run check "$folder/own/constant.yaml"
check "and check takes it" all "exits 0" "out_has 'the default compiles'"
printf '%s\n' '#pragma once' 'namespace wide {' 'constexpr int TILE = 32;' \
    'const int LAST = TILE + 1; }' >"$folder/own/wide.h"
sed -i -e '/^namespace/,/^}/d' -e '1i #include "wide.h"\n\n\n' "$folder/own/constant.cu"
inspects constant --config TILE=16
check "so has one of a header" all "exits 0" \
    "[ '$(bytes 'TILE=16 ROWS=4 BLOCK=128')' = 272 ]"
constants
sed -i 's/= 32u/= 30 + 2/' "$folder/own/constant.cu"
inspects constant --config TILE=16
check "one that is no number has none" all "exits 2" \
    "err_has 'override, but no source has .* or a constant TILE = NUMBER'"

# -- a table in a header of somebody else ------------------------------------

cat >"$folder/own/product.cuh" <<'END'
static constexpr __host__ __device__ int get_threads(int width)
{
    return width == 8 ? 64 : 32;
}

template <int width> __launch_bounds__(get_threads(width))
static __global__ void product(float *o, int n)
{
    __shared__ float part[get_threads(width) * width];

    part[threadIdx.x] = n;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = part[threadIdx.x / width];
}
END
spec row <<'END'
#define get_threads(a) ROW_##a)
#define ROW_width row(width
#define ROW_int row(int width) { return BLOCK; } \
    static constexpr __host__ __device__ int their_threads(int
#include "product.cuh"
#undef get_threads
END
sed -i 's/entry: row/entry: product<8>/; s/    *block: \[BLOCK\]/&\n  shared_static: BLOCK * 32/' \
    "$folder/own/row.yaml"
inspects row --all --json
check "a parameter in the place of a header's table" all "exits 0" is_json \
    "out_has '\"shared_static_bytes\": 4096'" \
    "out_has '\"shared_static_bytes\": 8192'" "out_lacks error" \
    "out_lacks mismatch"

# -- sources -----------------------------------------------------------------

# With these lines at the top of the spec, and as its reference.
plain_source() {
    spec two "source: [$1]" <<'END'
extern "C" __global__ void two(float *o, int n)
{
    o[blockIdx.x * BLOCK + threadIdx.x] = twice(n);
}
END
    sed -i '/^source: two.cu/d' "$folder/own/two.yaml"
    printf 'reference:\n%s\n' "$2" >>"$folder/own/two.yaml"
}
list='- entry: oracle
  grid: [1]
  block: [1]
  arguments: [o, n]'
indented=$(echo "$list" | sed 's/^/  /')
mkdir "$folder/own/deep"
echo '#include "far.h"' >"$folder/own/deep/twice.cuh"
echo 'static __device__ int twice(int n) { return FAR * n; }' \
    >>"$folder/own/deep/twice.cuh"
echo '#define FAR 2' >"$folder/own/deep/far.h"
cat >"$folder/own/oracle.cu" <<'END'
#ifdef BLOCK
#error the candidates have it
#endif
#ifndef SHMTUNE_REFERENCE
#error and this is the reference
#endif
extern "C" __global__ void oracle(float *o, int n) { o[n] = VALUE; }
END
echo '#define VALUE 1' | cat - "$folder/own/oracle.cu" >"$folder/own/plain.cu"

plain_source 'deep/twice.cuh, two.cu' \
    "  source: plain.cu
  launches:
$indented"
run check "$folder/own/two.yaml"
check "two sources, and the reference in a third without macros" all \
    "exits 0" "out_has 'the default and the reference compile'"
sed -i 's/= twice/= thrice/' "$folder/own/two.cu"
run check "$folder/own/two.yaml"
check "a message names the file and its own line" all "exits 2" \
    "out_has '/two.cu:3:[0-9]*: error: .*thrice'"
digest() { run list kernels --json; sed -n "s/.*\"digest\": \"\(.*\)\".*/\1/p" "$folder/out"; }
SHMTUNE_PATH=$folder
mkdir "$folder/kernels"
for file in two.cu plain.cu deep/twice.cuh deep/far.h; do
    rm -rf "$folder/kernels"
    cp -r "$folder/own" "$folder/kernels"
    rm -f "$folder"/kernels/[!t]*.yaml
    before=$(digest)
    echo '// more' >>"$folder/kernels/$file"
    [ -n "$before" ] && [ "$(digest)" != "$before" ]
    check "$file counts in the digest" [ $? -eq 0 ]
done
SHMTUNE_PATH=$root
plain_source 'deep/twice.cuh, two.cu' \
    "  source: oracle.cu
  macros: {VALUE: 7}
  launches:
$indented"
run check "$folder/own/two.yaml"
check "with macros of its own" all "exits 0" "out_has 'the reference compile'"
sed -i 's/^  macros.*/  macros: default/' "$folder/own/two.yaml"
run check "$folder/own/two.yaml"
check "with those of the default" all "exits 2" \
    "out_has 'the reference: .*the candidates have it'"
sed -i '/^  macros/d; s/^  source: .*/  macros: none/' "$folder/own/two.yaml"
echo 'extern "C" __global__ void oracle(float *o, int n)
{ o[n] = BLOCK; }' >>"$folder/own/two.cu"
run check "$folder/own/two.yaml"
check "in the same source, without macros" all "exits 2" \
    "out_has 'the reference: .*BLOCK.* is undefined'"
while IFS='|' read -r files key message; do
    plain_source "$files" "  $key
  launches:
$indented"
    run check "$folder/own/two.yaml"
    check "refused: [$files] $key" all "exits 2" "out_has 'two.yaml:[0-9]*:'" \
        "out_has '$message'"
done <<'END'
|macros: none|0 sources; 1 to 32
two.cu, absent.cu|macros: none|the source cannot be read
two.cu, two.cu|macros: none|two.cu is in the list already
two.cu, ""|macros: none|source is empty
two.cu|source: absent.cu|the source cannot be read: .*absent.cu
two.cu|macro: none|unknown key "macro", did you mean "macros"
two.cu|macros: some|macros "some"; default, none or {NAME: VALUE}
two.cu|macros: [1]|macros, {NAME: VALUE}: found a sequence
two.cu|macros: {n: 1}|"n" is a dimension
two.cu|macros: {SHMTUNE_A: 1}|begins with SHMTUNE_
two.cu|macros: {A: b-c}|"b-c"; a number or a name is expected
two.cu|macros: {A: [1]}|found a sequence
END
sed -i '/^  macros/d; /^  launches/,$d' "$folder/own/two.yaml"
echo '  macros: none' >>"$folder/own/two.yaml"
run check "$folder/own/two.yaml"
check "a reference without launches" all "exits 2" "out_has 'launches'"

# -- entries -----------------------------------------------------------------

spec entries <<'END'
template <int B> __global__ void entries(float *o, int n)
{
    o[blockIdx.x * B + threadIdx.x] = n;
}
END
for entries in 'entries<{BLOCK}> entries<{BLOCK},7>' \
    'entries<{BLOCK}> ent' 'entries<{BLOCK}> entries<{BLOCK}> other'; do
    cp "$folder/own/entries.yaml" "$folder/own/several.yaml"
    for entry in $entries; do
        printf -- '- {entry: "%s", grid: [1], block: [BLOCK], arguments: [o, n]}\n' \
            "$entry"
    done >"$folder/launches"
    sed -i -e '/^- entry/,/^  arguments/d' -e "/^launches:/r $folder/launches" \
        "$folder/own/several.yaml"
    inspects several
    wrong=$(echo "${entries##* }" | sed 's/{BLOCK}/128/')
    check "the entry that is not there: ${entries##* }" all "exits 9" \
        "err_has 'entries.cu has no kernel \"$wrong\", an entry of the spec'"
done

# -- headers -----------------------------------------------------------------

run doctor
headers=$(sed -n 's/^ok *headers *//p' "$folder/out")
if [ -f "$headers/cccl/cub/cub.cuh" ] || [ -f "$headers/cub/cub.cuh" ]; then
    spec sums 'includes: ["."]' <<'END'
#include <cub/cub.cuh>

extern "C" __global__ void sums(float *o, int n)
{
    typedef cub::BlockReduce<float, BLOCK> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    const float sum = Reduce(storage).Sum(o[threadIdx.x]);

    if (threadIdx.x == 0)
        o[blockIdx.x] = sum + n;
}
END
    inspects sums
    check "CUB is found, and is what runs in a kernel" all "exits 0" \
        "out_lacks compile_error" "out_has 'BLOCK=256'"
    cp "$folder/own/sums.yaml" "$folder/own/kit.yaml"
    sed -i "s#^includes.*#includes: [\"$headers\", \"$headers/cccl\"]#" \
        "$folder/own/kit.yaml"
    run inspect "$folder/own/kit.yaml" --compile-timeout 600 --config BLOCK=128
    check "so is a toolkit that the spec names" all "exits 0" \
        "out_lacks compile_error"
    spec library <<'END'
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

static_assert(std::is_same_v<int, std::decay_t<const int &>>);

extern "C" __global__ void library(float *o, int n)
{
    std::optional<float> x;
    std::array<float, 2> two{1, 2};
    auto pair = std::make_pair(1, 2.0f);
    auto moved = std::move(pair);
    auto [one, other] = std::make_tuple(1, 2.0f);

    if (threadIdx.x < n)
        x = o[threadIdx.x];
    o[threadIdx.x] = x.value_or(std::numeric_limits<float>::infinity()) +
                     std::max(two[0], moved.second) + one + other +
                     std::plus<>()(1, std::gcd(4, 6));
}
END
    inspects library --config BLOCK=128
    check "the C++ library, as far as device code has it" all "exits 0" \
        "out_lacks compile_error"
else
    skip "CUB" "no CUB beside the headers of the toolkit"
fi
# -- nvcc --------------------------------------------------------------------

# An nvcc that never ends, as do the programs that it starts.
cat >"$folder/nvcc" <<'END'
#!/bin/sh
if [ "$1" = --version ]; then
    echo "Cuda compilation tools, release 13.0, V13.0.88"
    exit
fi
touch "$TMPDIR/tmpxft_1"
sleep 600 &
echo $! >"$PIDS"
wait
END
chmod +x "$folder/nvcc"
by_nvcc() {
    spec whole 'compiler: nvcc'
    sed -i 's/entry: whole/entry: "ns::whole<{BLOCK}>"/' \
        "$folder/own/whole.yaml"
    cat >>"$folder/own/whole.yaml" <<'END'
reference:
- entry: plain
  grid: [1]
  block: [1]
  arguments: [o, n]
END
}
whole='#include <map>
#include <vector>

namespace ns {
template <int N> __global__ void whole(float *o, int n)
{
    __shared__ float tile[N];

    tile[threadIdx.x] = n;
    __syncthreads();
    o[blockIdx.x * N + threadIdx.x] = tile[N - 1 - threadIdx.x];
}
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void plain(float *o, int n) { o[n] = 1; }
#endif

int main()
{
    std::map<int, std::vector<float>> kept;

    ns::whole<128><<<1, 128>>>(nullptr, 0);
    return kept.size();
}'
echo "$whole" | by_nvcc
(
    SHMTUNE_NVCC=$folder/nvcc PIDS=$folder/pids
    export SHMTUNE_NVCC PIDS
    exec "$build/shmtune" inspect "$folder/own/whole.yaml" -j 1
) >"$folder/out" 2>"$folder/err" </dev/null &
inspecting=$!
for _ in $(seq 300); do
    [ -s "$folder/pids" ] && break
    sleep 0.1
done
check "nvcc is started by a worker" [ -s "$folder/pids" ]
kill -TERM $inspecting
wait $inspecting
status=$?
for _ in $(seq 100); do
    kill -0 "$(cat "$folder/pids")" 2>/dev/null || break
    sleep 0.1
done
check "it ends with its worker, with all it has started" all "exits 130" \
    "! kill -0 $(cat "$folder/pids") 2>/dev/null"
check "and leaves no files" [ -z "$(ls "$TMPDIR")" ]
SHMTUNE_NVCC=$folder/own
export SHMTUNE_NVCC
run inspect "$folder/own/whole.yaml"
check "an nvcc that is none" all "exits 6" "err_has 'SHMTUNE_NVCC is .*/own'"
run check "$folder/own/whole.yaml" "$root/kernels/scale.yaml"
check "check leaves it out, and goes on to the next" all "exits 0" \
    "out_has '^skipped .*SHMTUNE_NVCC'" "out_has 'scale.*the default and the reference compile'"
run doctor
check "doctor says who needs it" \
    out_has '^note  *nvcc .*only kernels with .compiler: nvcc. need it'
unset SHMTUNE_NVCC
run doctor
nvcc=$(sed -n 's/^ok  *nvcc  *[0-9.]*, //p' "$folder/out")
echo '#include <map>' >"$folder/host.cu"
if [ -n "$nvcc" ] &&
    "$nvcc" -cubin -o "$folder/host.cubin" "$folder/host.cu" 2>"$folder/err"
then
    inspects whole --json
    check "host code, and headers of the host" all "exits 0" is_json \
        "out_has '\"shared_static_bytes\": 512'" \
        "out_has '\"shared_static_bytes\": 1024'" "out_lacks error"
    inspects whole --config BLOCK=128
    check "who compiled" out_has '(nvcc [0-9.]*)'
    run check "$folder/own/whole.yaml" --compile-timeout 600
    check "its reference, too" all "exits 0" \
        "out_has 'the default and the reference compile'"
    printf '{verb: inspect, tag: %s, config: {BLOCK: 128}}\n' 1 2 |
        "$build/shmtune" worker --spec "$folder/own/whole.yaml" --arch sm_90 \
            --images "$folder/images" >"$folder/out" 2>"$folder/err"
    check "a binary is stored and found again" all \
        "out_has '^{tag: 1, verdict: ok.*compile_ms: [1-9]'" \
        "out_has '^{tag: 2, verdict: ok.*compile_ms: 0[,}]'" \
        "[ $(find "$folder/images" -mindepth 1 | wc -l) -eq 2 ]"
    echo "$whole" | sed '/<<</d; s/float \*o, int n/float *o, float *p, const ns::A<B> *a, const ns::A<B> *b, int n/;
        s/^namespace ns {/struct B { int b; };\n&\ntemplate <class T> struct A { T t; };/' | by_nvcc
    inspects whole --config BLOCK=128
    check "a symbol with parts that are there twice" \
        out_has 'ns::whole<128> takes 5 parameters of 8, 8, 8, 8 and 4 bytes'
    spec inner 'compiler: nvcc' <<'END'
namespace ns { namespace { namespace in {
extern "C" __global__ void inner(float *o, int n) { o[n] = BLOCK; }
} } }
END
    sed -i 's/entry: inner/entry: "ns::in::inner"/' "$folder/own/inner.yaml"
    run check "$folder/own/inner.yaml" --compile-timeout 600
    check "a kernel that is extern \"C\" in a namespace" exits 0
    echo "$whole" | sed 's/namespace ns/namespace other/; /<<</d' | by_nvcc
    inspects whole
    check "an entry that is not there" all "exits 9" \
        "err_has 'whole.cu has no kernel \"ns::whole<128>\", an entry of the'"
    echo "$whole" | sed 's/= n;/= m;/' | by_nvcc
    inspects whole
    check "the compiler's words" all "exits 9" \
        "err_has '/whole.cu:9:[0-9]*: error: identifier .m. is undefined'"
    echo "$whole" | sed '1i #define E 1.6e-19\n#define K 1.38e-23' | by_nvcc
    inspects whole
    check "macros with names of one letter are the source's" all "exits 0"
    echo "$whole" | sed '1i extern __device__ int far(int);' |
        sed 's/= n;/= far(n);/' | by_nvcc
    inspects whole
    check "a function of another file" all "exits 9" \
        "err_has 'whole.cu: nothing defines function .*far.*list that in \"source\"'"
    echo "$whole" | sed '1i #define BLOCK 128' | by_nvcc
    inspects whole
    check "a macro in the way of a parameter" \
        out_has 'whole.cu:1: #define BLOCK is in the way of the spec.s BLOCK=256'
    echo "$whole" | by_nvcc
    sed -i 's/^compiler: nvcc/&\nfeatures: architecture\noptions: ["-maxrregcount=32", "-Xcompiler=-O1"]/' \
        "$folder/own/whole.yaml"
    inspects whole
    check "targets and options" all "exits 0" "out_lacks compile_error" \
        "out_has 'compiled for sm_90a'"
    sed -i 's/^compiler: nvcc/compiler: nvrtc/; /^options/d' \
        "$folder/own/whole.yaml"
    inspects whole
    check "NVRTC does not take that" all "exits 9" "err_has 'map'"
else
    skip "nvcc" "none here that compiles: $(head -n 1 "$folder/err")"
fi

# -- versions of the toolkit -------------------------------------------------

make_tuning "$root/tunings/scale/t.yaml"
sed -i "s/^nvrtc_version: .*/nvrtc_version: $(run inspect scale --limit 1 --json
    sed -n 's/.*"nvrtc_version": \([0-9]*\).*/\1/p' "$folder/out")/" \
    "$root/tunings/scale/t.yaml"
run check "$root/tunings/scale/t.yaml" --spec "$root/kernels/scale.yaml"
check "a tuning of this version" all "exits 0" "out_lacks 'headers of CUDA'"
sed -i 's/^nvrtc_version: .*/nvrtc_version: 12000/' "$root/tunings/scale/t.yaml"
run check "$root/tunings/scale/t.yaml" --spec "$root/kernels/scale.yaml"
check "another version of the toolkit is a note, and no miss" all \
    "out_has '^note .*compiler and the headers of CUDA 12.0, here are those'" \
    "exits 0" "out_lacks 'made for other sources'"

fake=$build/tests/fake/.libs/fake_cuda.so
if [ -e "$fake" ]; then
    cp "$source"/tests/fake/fake_kernel.* "$root/kernels/"
    sed -i 's/^parameters:$/&\n  LIMIT: {values: [64], default: 64, option: "-maxrregcount={}"}/' \
        "$root/kernels/fake_kernel.yaml"
    SHMTUNE_LIBCUDA=$fake
    export SHMTUNE_LIBCUDA
    run tune fake_kernel --device 0 --budget 10 --output "$root/tunings"
    check "a tuning names the value and no option" all "exits 0" \
        "grep -q 'LIMIT: 64' '$root'/tunings/fake_kernel/*.yaml" \
        "! grep -q maxrregcount '$root'/tunings/fake_kernel/*"
    "$build/tests/support/choose" fake_kernel 1000 >"$folder/out" \
        2>"$folder/err"
    check "by which the library chooses" all "out_has '^match: exact$'" \
        "out_has 'LIMIT=64'"
    run check "$root"/tunings/fake_kernel/*.yaml --cubins "$folder/cubins"
    check "check makes the binaries to ship" all "exits 0" \
        "[ -f '$folder'/cubins/*.cubin ]" "[ -f '$folder'/cubins/*.res ]" \
        "[ -z \"$(find "$folder/cubins" -type f ! -perm 644)\" ]"
    unset SHMTUNE_LIBCUDA
else
    skip "a tuning names the value and no option" "no fake driver was built"
fi

check "no folder is left behind" [ -z "$(ls "$TMPDIR")" ]
finish
