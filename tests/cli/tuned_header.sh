#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `shmtune export --to header` and --template: the header compiles alone as C
# and C++, selects what the library selects, and takes any name; a template's
# faults are told with their place.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

# As the build was made, so that one with sanitizers links.
warnings='-Wall -Wextra -Wpedantic -Werror'
cxx=${CXX:-c++}
has_cxx() { command -v "$cxx" >/dev/null 2>&1; }

make_tuning "$root/tunings/scale/one.yaml"

# compiles_c FILE, compiles_cxx STANDARD FILE: alone, twice included.
compiles_c() {
    printf '#include "%s"\n#include "%s"\nint x;\n' "$1" "$1" >"$folder/c.c"
    # shellcheck disable=SC2046,SC2086
    $(setting CC) -std=c99 $warnings -fsyntax-only "$folder/c.c" \
        >"$folder/out" 2>"$folder/err"
}
compiles_cxx() {
    has_cxx || return 0
    printf '#include "%s"\n' "$2" >"$folder/c.cc"
    # shellcheck disable=SC2086
    "$cxx" -std="$1" $warnings -fsyntax-only "$folder/c.cc" \
        >"$folder/out" 2>"$folder/err"
}

run export scale --to header -o "$folder/scale.h"
check "a kernel's tunings become a header" all 'exits 0' 'out_empty' 'err_empty'
check "it compiles as C99" compiles_c "$folder/scale.h"
check "as C++11" compiles_cxx c++11 "$folder/scale.h"
check "as C++17" compiles_cxx c++17 "$folder/scale.h"

run export scale --to header -o -
check "-o - is standard output" all 'exits 0' \
    'cmp -s "$folder/out" "$folder/scale.h"'
run export "$root/tunings/scale/one.yaml" --to header
check "a tuning is named" all 'exits 0' 'cmp -s "$folder/out" "$folder/scale.h"'
run export "$root/tunings/scale/one.yaml" --to header --json -o "$folder/x.h"
check "--json says what was written" all 'exits 0' 'is_json' \
    'out_has "\"form\": \"header\""' 'out_has "\"records\": 2"'

# glue KERNEL DIMENSIONS: names the header's functions for tuned_header.c.
glue() {
    sizes= taken= n=0
    while [ "$n" -lt "$2" ]; do
        sizes="$sizes, p[$n]" taken="$taken, s$n" n=$((n + 1))
    done
    bare=${taken#, }
    {
        printf '#include "%s.h"\n#define KERNEL "%s"\n' "$1" "$1"
        printf '#define EACH SHMTUNED_EACH_CONFIG_%s\n' "$1"
        printf '#define EACH_ROW SHMTUNED_EACH_ROW_%s\n' "$1"
        printf '#define ROW_SIZES(n, a, d, c, t%s) {%s},\n' "$taken" "$bare"
        printf '#define LAUNCHES SHMTUNED_LAUNCHES_%s\n' "$1"
        printf '#define DEVICE shmtuned_device_%s\n' "$1"
        printf '#define SELECT(a, d, p) shmtuned_select_%s(a, d%s)\n' "$1" "$sizes"
        printf '#define LAUNCH(c, k, p) shmtuned_launch_%s(c, k%s)\n' "$1" "$sizes"
    } >"$folder/glue.h"
}

# selects KERNEL DIMENSIONS ROOT: as the library does wherever that looks at
# all sizes, but for one in thousands where a sum is rounded in another way.
selects() {
    glue "$1" "$2"
    # shellcheck disable=SC2046,SC2086
    $(setting CC) -std=gnu17 -O1 -fmax-errors=3 $(setting SAN_CFLAGS) -I"$folder" \
        -I"$source/src" "$data/tuned_header.c" -o "$folder/compare" \
        -L"$build/.libs" -lshmtune -Wl,-rpath,"$build/.libs" \
        >"$folder/out" 2>"$folder/err" || return 1
    "$folder/compare" "$3" >"$folder/out" 2>"$folder/err" || return 1
    awk '/differ$/ { sum += $2; all += $4; if ($1 + 0 >= 4 && $2 > 0) bad = 1 }
         /launches/ { if ($1 > 0) bad = 1 }
         END { exit bad || all == 0 || 2000 * sum > all || all < 100 }' "$folder/out"
}

if [ -f "$build/.libs/libshmtune.so" ]; then
    status=0
    check "scale: what the library selects" selects scale 1 "$root"
    for place in "$source"/tunings/*/; do
        kernel=$(basename "$place")
        colons=$(cat "$place"*.yaml | grep -m1 '^- size: ' | tr -cd : | wc -c)
        dimensions=$((colons - 1))
        SHMTUNE_PATH=$source "$build/shmtune" export "$kernel" --to header \
            -o "$folder/$kernel.h" 2>"$folder/err"
        check "$kernel: what the library selects" \
            selects "$kernel" "$dimensions" "$source"
        case $kernel in
        matmul | transpose)
            check "$kernel: what was learnt is there" \
                grep -qE '^4: 0 of [0-9]{2,} differ$' "$folder/out"
            check "$kernel: it compiles as C99" compiles_c "$folder/$kernel.h"
            check "$kernel: as C++17" compiles_cxx c++17 "$folder/$kernel.h" ;;
        esac
    done
else
    skip "what the library selects" "no shared library was built"
fi

# -- nvcc --------------------------------------------------------------------

if command -v nvcc >/dev/null 2>&1; then
    cat >"$folder/program.cu" <<'PROGRAM'
#include "scale.h"
template <int number> __global__ void fill(int *out)
{
    constexpr auto tuned = shmtuned_config_scale(number);
    __shared__ int room[tuned.p_BLOCK];

    room[threadIdx.x] = SHMTUNED_SET_scale_BLOCK;
    *out = room[0] + shmtuned_select_scale(SHMTUNED_ARCH, 0, *out).config;
}
#if SHMTUNED_ARCH == 90
static_assert(SHMTUNED_SET_scale_BLOCK == 64, "the tuned one");
#else
static_assert(SHMTUNED_SET_scale_BLOCK == 128, "the default");
#endif
static_assert(shmtuned_select_scale(90, 1, 1000).match == SHMTUNED_EXACT, "");
struct launch {
    template <class Number> void operator()(Number) const
    {
        fill<Number::value><<<1, 1>>>(nullptr);
    }
};
int main()
{
    const shmtuned_choice choice = shmtuned_select_scale(90, 1, 1048576);

    if (choice.match == SHMTUNED_NONE)
        shmtuned_visit_scale(choice.config, launch());
    return shmtuned_config_scale(choice.config).p_BLOCK != 1024 ||
           shmtuned_launch_scale(choice.config, 0, 1048576).grid[0] != 1024;
}
PROGRAM
    nvcc -std=c++17 -gencode arch=compute_80,code=sm_80 \
        -gencode arch=compute_90,code=sm_90 "$folder/program.cu" \
        -o "$folder/program" >"$folder/out" 2>"$folder/err" &&
        "$folder/program"
    status=$?
    check "a program of nvcc, for two architectures" all 'exits 0' 'out_empty' \
        'err_empty'
else
    skip "a program of nvcc, for two architectures" "no nvcc"
fi

# -- templates ---------------------------------------------------------------

cat >"$folder/form" <<'FORM'
// {kernel}, {count} rows; {{kernel} stays, and so do {0}, { kernel } and {}
static const row rows[] = {
    // {begin}
    ROW({arch}, "{device}", {n}, {BLOCK}, {MEMORY}) /* {time_us} us */,
    // {end}
};
FORM
run export scale --template "$folder/form"
check "a template" all 'exits 0' 'err_empty' \
    'out_has "^// scale, 2 rows; {kernel} stays, and so do {0}, { kernel } and {}$"' \
    'out_has "ROW(90, \"Test Device 3000\", 1000, 64, dynamic) /\* 2 us \*/,$"' \
    'out_has "1048576, 1024, static) /\* 8 us \*/,$"' \
    'out_lacks begin' 'out_lacks "{end}"' \
    '[ "$(wc -l <"$folder/out")" -eq 5 ]'

# refused_of NAME PATTERN TEXT
refused_of() {
    printf '%b' "$3" >"$folder/bad"
    run export scale --template "$folder/bad" -o "$folder/none"
    pattern=$2
    check "$1" all '[ "$status" -ne 0 ]' 'err_has "$pattern"' \
        '[ ! -e "$folder/none" ]'
}
refused_of "an unknown placeholder" \
    'bad:2:5: {BLOC}: no such placeholder; there are {n} {BLOCK} {PAD}' '{begin}\n  x {BLOC}\n{end}\n'
refused_of "rows without an end" \
    'bad:1:1: {begin}: has no line {end}' '{begin}\n{n}\n'
refused_of "no rows" \
    'bad: has no line {begin}' '{n}\n'
refused_of "a size beside the rows" \
    'bad:1:1: {n}: is of a row' '{n}\n{begin}\n{end}\n'
refused_of "an end before" \
    'bad:1:3: {end}: stands in a line of its own' 'x {end}\n{begin}\n{end}\n'
{
    echo '{begin}'
    head -c 3000000 /dev/zero | tr '\0' x
    printf '\n{end}\n'
} >"$folder/large"
run export scale --template "$folder/large" -o "$folder/none"
check "rows of more bytes than are allowed, without a placeholder" all \
    'exits 2' 'err_has "large: 2 sizes in this form have more than the"' \
    '[ ! -e "$folder/none" ]'

# -- the example -------------------------------------------------------------

cp "$source/examples/header/choose.c" "$folder/"
SHMTUNE_PATH=$source "$build/shmtune" export transpose --to header \
    -o "$folder/transpose_tuned.h" 2>"$folder/err"
# shellcheck disable=SC2046,SC2086
$(setting CC) $warnings "$folder/choose.c" -o "$folder/choose" \
    >"$folder/out" 2>"$folder/err" &&
    "$folder/choose" 90 "NVIDIA H200" >"$folder/out"
status=$?
check "the example" all 'exits 0' 'out_has "^exact: configuration "'
SHMTUNE_PATH=$source run export transpose \
    --template "$source/examples/header/rows.in"
check "its template" all 'exits 0' \
    'out_has "^TRANSPOSE_CONFIG(90, 4096, 4096, 4, [0-9]*, [0-9]*) // [0-9.]* us, NVIDIA H200$"'

# -- faults ------------------------------------------------------------------

run export scale transpose --to header
check "of one kernel" all 'exits 1' \
    'err_has "scale is no tuning: a header or a template is of one kernel"'
run export scale --to header --size n=1000
check "a header has no size" all 'exits 1' 'err_has "leave --size out"'
run export scale --to header --template "$folder/form"
check "one form of two" all 'exits 1' 'err_has "give one of them"'
run export scale --template "$folder/nothing"
check "a template that is not there" all '[ "$status" -ne 0 ]' \
    'err_has nothing'
sed 's/digest: ".*/digest: "0000000000000000000000000000000000000000000000000000000000000000"/' \
    "$root/tunings/scale/one.yaml" >"$folder/stale.yaml"
run export "$folder/stale.yaml" --to header --spec "$root/kernels/scale.yaml"
check "a stale tuning is refused" all '[ "$status" -ne 0 ]' 'err_has "is stale"' \
    'out_empty'
cp "$folder/stale.yaml" "$root/tunings/scale/two.yaml"
run export scale --to header
check "in a folder it is left out" all 'exits 0' \
    'err_has "left out: .*is stale"' 'cmp -s "$folder/out" "$folder/scale.h"'
rm "$root/tunings/scale/two.yaml"

# -- names -------------------------------------------------------------------

# odd NAME: scale by that name, a parameter whose macros collide, words
# that are no identifiers, and an expression that C has not.
cat >"$folder/summary" <<'LINE'
summary: '*/ int x; /* ??/ \'
LINE
cat >"$folder/parameters" <<'LINES'
  new_: {values: [1, 2], default: 1}
  A: {values: [b_c, x], default: x}
  A_b: {values: [d, x], default: d}
  linux: {values: [0.5, 1.0], default: 0.5}
LINES
odd() {
    sed -e "s#^name: .*#name: \"$1\"#" -e "/^summary:/r $folder/summary" \
        -e '/^summary:/d' -e "/^  CARVEOUT: /r $folder/parameters" \
        "$data/scale.yaml" >"$root/kernels/odd.yaml"
}
for odd in odd a-b a.b __x int A_b; do
    odd "$odd"
    run export "$root/kernels/odd.yaml" --to header -o "$folder/odd.h"
    case $status in
    0) check "the kernel '$odd' as C" compiles_c "$folder/odd.h"
       check "the kernel '$odd' as C++" compiles_cxx c++17 "$folder/odd.h" ;;
    *) check "the kernel '$odd' is refused as a spec" err_has "name" ;;
    esac
done
sed 's#BLOCK <= n#BLOCK % 2.5 <= n#' "$data/scale.yaml" \
    >"$root/kernels/odd.yaml"
run export "$root/kernels/odd.yaml" --to header -o "$folder/odd.h"
check "an expression that C has not" all 'exits 0' \
    'grep -q "BLOCK % 2.5 <= n" "$folder/odd.h"' 'compiles_c "$folder/odd.h"'

# -- a table of rows, from the spec to the text ------------------------------

# A kernel whose second launch adds up what the blocks of the first have left,
# tuned for two widths; its row has a number that follows from another and a
# word in the place of one.
use_fake_worker
cat >"$root/kernels/rows.yaml" <<'SPEC'
format: kernel/2
name: rows
source: toy.cu
problem:
  n: {default: 4096}
  WIDTH: {default: 8, min: 8, max: 128, define: true}
sizes:
- {WIDTH: 8}
- {WIDTH: 128}
parameters:
  THREADS: {values: [64, 128, 256], default: 256}
  OCCUPANCY: {values: {from: 1, to: 4}, default: 1}
  SPLIT: {values: [0, 1], default: 1}
derived:
  tile: THREADS // 2
  split: "'true' if SPLIT == 1 else 'false'"
  tiles: ceildiv(n, tile)
  fault: n // (WIDTH - 8)
launches:
- entry: toy
  grid: ["132 if SPLIT == 1 else tiles"]
  block: [32, THREADS // 32]
  arguments: [out, part, src, n, by]
- entry: toy_rest
  when: SPLIT == 1 and tiles % 132 != 0
  grid: [132, tile // 32]
  block: [32, THREADS // 64]
  arguments: [out, part, n, by]
arguments:
  src: {type: f32, role: input, count: n}
  out: {type: f32, role: output, count: n, tolerance: {norm: 1.0e-3}}
  part: {type: f32, role: workspace, count: 132 * tile * WIDTH}
  n: {type: i32, value: n}
  by: {struct: {m: {type: u32, value: 2 ** 32 // WIDTH + 1}, d: {type: u32, value: WIDTH}}}
SPEC
cat >"$folder/rows.in" <<'FORM'
// {begin}
    CASE({THREADS}, {OCCUPANCY}, {tile}, {WIDTH}, {split});
// {end}
FORM
run tune rows --device 0 --strategy exhaustive
check "a table's kernel is tuned" exits 0
run export "$folder"/tunings/rows/*.yaml --template "$folder/rows.in"
check "its rows have derived names" all 'exits 0' \
    '[ "$(wc -l <"$folder/out")" -eq 2 ]' \
    '! grep -qvE "^    CASE\((64, [1-4], 32|128, [1-4], 64|256, [1-4], 128), (8|128), (true|false)\);$" "$folder/out"'
printf '{begin}\n{fault}\n{end}\n' >"$folder/bad"
run export "$folder"/tunings/rows/*.yaml --template "$folder/bad"
check "one that has no value is told with its place" all 'exits 2' \
    'err_has "rows.yaml:18:12: .*n // (WIDTH - 8)"' out_empty
finish
