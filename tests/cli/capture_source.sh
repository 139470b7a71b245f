#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: a draft compiles as the application did, whatever that gave to its
# compiler, and from which folder.  No GPU is needed.
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
    real=$1
    shift
    {
        printf '%s\n' "$@"
        echo '__constant__ float offsets[2];'
        echo 'extern "C" __global__ void blend() {}'
        echo 'extern "C" __global__ void'
        echo "cover($real *z, const $real *x, SCALAR a, int n)"
        echo '{ int i = blockIdx.x * BLOCK + threadIdx.x;'
        echo '  if (i < n) z[i] = a * x[i]; }'
    } >beside/program.cu
}

source real '#if USE_DOUBLE' 'typedef double real;' '#else' \
    'typedef float real;' '#endif'
cover APPLICATION_OPTIONS=-DUSE_DOUBLE=1
check "a number that is defined decides on types" all "exits 0" \
    "has 'z: {type: f64, role: inout, count: 500, '" checks
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
finish
