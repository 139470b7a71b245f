#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: a draft compiles as the application did, whatever that gave to its
# compiler, and from which folder; and its arguments have the types of the source.
# No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "a draft compiles as the application did" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1
mkdir -p beside elsewhere

# captured COMMAND...: into the folder `taken`
captured() {
    rm -rf taken
    run capture --no-rerun -o taken -- "$@"
}
# cover [NAME=VALUE]...: of the source beside/program.cu
cover() {
    captured env "APPLICATION_SOURCE=beside/program.cu" "$@" \
        "$fake/application" opened load cover=1000
}
has() { grep -qF -e "$1" taken/cover-1/kernel.yaml; }
# Whether check takes it, from any folder.
checks() {
    (cd / && "$build/shmtune" check "$folder/taken/cover-1") >checked 2>&1 ||
        ! sed 's/^/# /' checked
}

# source TYPE LINE...: of beside/program.cu
source() {
    real=$1 from=${from:-const $1}
    shift
    {
        printf '%s\n' "$@"
        echo '__constant__ float offsets[2];'
        echo 'extern "C" __global__ void blend() {}'
        echo 'extern "C" __global__ void'
        echo "cover($real *z, $from *x, ${number:-SCALAR} a, int n)"
        echo '{ int i = blockIdx.x * BLOCK + threadIdx.x;'
        echo '  if (i < n) z[i] = a * x[i]; }'
    } >beside/program.cu
    unset from number
}

source real '#if USE_DOUBLE' 'typedef double real;' '#else' \
    'typedef float real;' '#endif'
cover APPLICATION_OPTIONS=-DUSE_DOUBLE=1
check "a number that is defined decides on types" all "exits 0" \
    "has 'z: {type: f64, role: inout, count: 500, '" checks
cover "APPLICATION_OPTIONS=-DTWICE(x)=((x) + (x))"
check "a macro with arguments has its value" \
    grep -qF '#define TWICE(x) ((x) + (x))' taken/cover-1/defines.cu
cover APPLICATION_OPTIONS=-DUSE_DOUBLE=256
check "as one that may be tuned does" all "exits 0" \
    "has 'z: {type: f64, role: inout, '" checks
cover "APPLICATION_OPTIONS=-D USE_DOUBLE=1;-I elsewhere; -DUSED=2"
check "NVRTC takes blanks in an option of one letter" all "exits 0" checks \
    "has 'z: {type: f64, role: inout, '" \
    "has 'includes: [\"$folder/elsewhere\"]'" \
    "grep -qx '#define USED 2' taken/cover-1/defines.cu"

source float '#include "beside.h"'
echo '#define FACTOR 1' >beside/beside.h
cover
check "a header beside the program is found" all "exits 0" checks \
    "has 'includes: [\"$folder/beside\"]'"
captured sh -c "cd beside && APPLICATION_SOURCE=program.cu '$fake/application' opened load cover=1000"
check "from wherever the application was" all "exits 0" checks \
    "has 'includes: [\"$folder/beside\"]'"
source float
cover
check "a folder that has none is not named" all "exits 0" checks \
    "! has includes:"
source float '#include <far.h>'
mkdir -p elsewhere/far
echo '#define FACTOR 1' >elsewhere/far/far.h
captured sh -c "cd elsewhere && APPLICATION_OPTIONS=-Ifar \
    APPLICATION_SOURCE=../beside/program.cu '$fake/application' opened load \
    cover=1000"
check "so is a folder that is named from there" all "exits 0" checks \
    "has 'includes: [\"$folder/elsewhere/far\"]'"

source float
printf '#if LATE != 5\n#error too early\n#endif\n' >elsewhere/first.h
captured sh -c "cd elsewhere && \
    APPLICATION_OPTIONS='--pre-include=first.h;-DLATE=5' \
    APPLICATION_SOURCE=../beside/program.cu '$fake/application' opened load \
    cover=1000"
check "what is included first knows all that is defined" all "exits 0" checks

# The fake driver writes z behind x, whatever the source says of them.
pool=APPLICATION_POOL=4096
from="const float"
source int
cover $pool
check "of two types in an allocation that of what was written counts" all \
    "exits 0" checks "has 'region: {columns: 1000, offset: 1024}}'" \
    "has ': {type: i32, role: inout, count: '" "has 'x: {pointer: memory_0}'" \
    "has 'z: {pointer: memory_0, offset: 1024}'" "! has tolerance"
from=int
source float
cover $pool
check "and is compared as such" all "exits 0" checks \
    "has ': {type: f32, role: inout, count: '" "has tolerance" \
    "has 'region: {columns: 1000, offset: 1024}'"
from=int
source float
cover APPLICATION_POOL=8
check "what was written is behind the last pointer before it" all "exits 0" \
    checks "has ': {type: f32, role: inout, count: '"
source double
cover APPLICATION_POOL=4004
check "a pointer between two elements stays where it is" all "exits 0" checks \
    "has 'z: {pointer: memory_0, offset: 4004}'" \
    "has ': {type: bytes, role: inout, count: 69536,'"

source float '#define n min'
cover
check "what no dimension can be called is a number" all "exits 0" checks \
    "has 'min: {type: i32, value: 1000}'" "has 'count: 1000, '" "! has problem:"
long=an_argument_with_a_name_of_more_characters_than_any_name_of_a_spec_can_have
source float "#define a $long"
cover
check "nor is an argument called so" all "exits 0" checks \
    "has 'argument3: {type: f32, value: 2.5}'"
source __half 'struct __half { short bits;' \
    '    __device__ __half(float f) { bits = f; }' \
    '    __device__ operator float() const { return bits; } };'
cover
check "reals of few digits may be rounded otherwise" all "exits 0" \
    "has 'z: {type: f16, role: inout, count: 2 * n, '" \
    "has 'tolerance: {relative: 1.0e-03, maximum: 1.0e-03}'"
number=cudaTextureObject_t
source float '#define SCALE(a) 1.0f'
sed -i 's/= a \*/= SCALE(a) */' beside/program.cu
cover
check "a texture is to be written" all "exits 0" "has 'a: \"TODO: a texture'" \
    "! checks >all" "grep -q 'to be written: a texture' checked"
source float
sed -i 's/^cover(/other(/' beside/program.cu
cat >>beside/program.cu <<'END'
namespace ns {
template <class T, int N>
__global__ void cover(T *z, const T *x, float a, int n) { z[n] = N * a * x[n]; }
template __global__ void cover<float, 2>(float *, const float *, float, int);
}
END
cover APPLICATION_SYMBOL=_ZN2ns5coverIfLi2EEEvPT_PKS1_fi
check "what a template is made with is that of the symbol" all "exits 0" \
    checks "has 'entry: \"ns::cover<float, 2>\"'"
source float
sed -i 's/^cover(/other(/' beside/program.cu
cat >>beside/program.cu <<'END'
struct holder { float *z; };
__global__ void cover(holder to, const float *x, float a, int n) {
    to.z[n] = a * x[n]; }
END
cover APPLICATION_SYMBOL=_Z5cover6holderPKffi
check "a type behind its name is no part of it" all "exits 0" checks \
    "has 'entry: cover'" "has 'arguments: [to, x, a, n]'"
source float '#define COVER(name) extern "C" __global__ void \' \
    '    name(float *z, const float *x, SCALAR a, int n) { z[n] = a * x[n]; }' \
    'COVER(cover)'
sed -i 's/^cover(/other(/' beside/program.cu
cover
check "numbers whose types are not seen are their bytes" all "exits 0" checks \
    "has 'parameters; types and names are to be mended'" \
    "grep -q 'at_0: {type: u32, value: .1000.}' taken/cover-1/kernel.yaml"
source float
cover APPLICATION_FACTOR=-inf
check "so is one that is infinite" all "exits 0" checks \
    "grep -q 'at_0: {type: u32, value: .4286578688.}' taken/cover-1/kernel.yaml"
number=char
source float
cover
check "a char is a number" all "exits 0" checks "has 'a: {type: i8, value: '"
finish
