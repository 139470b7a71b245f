#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: what several launches of a kernel say of its grid and its sizes.  No
# GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "several launches fit a grid" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA

# capture OPTION... -- WORD...: into the folder `taken`
capture() {
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    rm -rf taken
    # shellcheck disable=SC2086
    run capture $options -o taken -- "$fake/application" opened load "$@"
}
has() { grep -qF -e "$2" "taken/$1/kernel.yaml"; }

capture --no-rerun -- cover=1000
check "of one launch the grid is a guess, which is said" all "exits 0" \
    "has cover-1 'grid: [\"ceildiv(n, BLOCK)\"]'" \
    "has cover-1 '# Blocks along x: a guess from one launch;'" \
    "! has cover-1 '# sizes:'"
capture --count 3 -- cover=1000 cover=2000 cover=300
check "what fits all launches is written, with how many" all "exits 0" \
    "has cover-1 'grid: [\"ceildiv(n, BLOCK)\"]'" \
    "has cover-1 'along x: fits all 3 launches that were captured, with 3 grids'" \
    "has cover-3 'grid: [\"ceildiv(n, BLOCK)\"]'" \
    "has cover-2 'n: {default: 2000'" "has cover-1 'count: n, '" \
    "err_has 'cover-3: made again it gives what'"
check "the sizes seen are a comment, with whose data they are" all \
    "has cover-1 '# sizes:'" "has cover-1 '# - {n: 1000}    # this one'" \
    "has cover-1 '# - {n: 2000}    # cover-2'" \
    "has cover-2 '# - {n: 300}    # cover-3'"
for k in 1 2 3; do
    run check taken/cover-$k
    check "launch $k is a spec" exits 0
done
run tune taken/cover-3 --device 0 --strategy exhaustive -o tuned
check "which is tuned with its own data" all "exits 0" \
    "out_has '^cover-[0-9]*  *n=300 '"

capture --no-rerun --count 2 -- stride=512 stride=4096
check "a grid that stays while sizes vary is a number" all "exits 0" \
    "has stride-1 'grid: [2]'" \
    "has stride-1 '# Blocks along x: the same in all 2 launches'" \
    "has stride-1 'count: n, '" "has stride-2 '# - {n: 512}    # stride-1'"
capture --no-rerun -- stride=512
check "which one launch does not tell" \
    has stride-1 'grid: ["ceildiv(n, BLOCK)"]'

capture --no-rerun -- loose=1000
check "a block that is no macro, and a grid that follows nothing, stay" all \
    "has loose-1 'grid: [6]'" "has loose-1 'BLOCK_X: {values: [64], default: 64,'"
capture --no-rerun --propose -- loose=1000
check "unless they are to be tried, by a source that asks for them" all \
    "exits 0" "has loose-1 'grid: [GRID_X]'" "has loose-1 'block: [BLOCK_X]'" \
    "has loose-1 '  BLOCK_X: {values: [32, 64, 128, 256], default: 64, sco'" \
    "has loose-1 '  GRID_X: {values: [2, 3, 6, 12, 24], default: 6, scope: la'"
run tune taken/loose-1 --device 0 --strategy exhaustive -o tuned
check "which is tuned" all "exits 0" "out_has '^loose-[0-9]*  *n=1000 '"
capture --no-rerun --propose -- cover=1000
check "a grid that follows a size does so" all "exits 0" \
    "has cover-1 'grid: [\"ceildiv(n, BLOCK)\"]'" "! has cover-1 GRID_X"

capture --no-rerun --propose -- plenty=1000
check "what would take more shared memory than there is, is not proposed" all \
    "exits 0" \
    "has plenty-1 '  BLOCK: {values: [64, 128, 256], default: 256}'"
run check taken/plenty-1
check "so that it is a spec" exits 0

capture --no-rerun --propose -- many=1000 cover=1000 times=1
check "fewer registers are a try where they let in more blocks" all "exits 0" \
    "grep -q '^  REGISTERS: {values: \[0, [1-9]*[048], [1-9]*[048]\], default: 0, option: \"-maxrregcount={}\"}$' taken/many-1/kernel.yaml" \
    "grep -q '^  # A thread has [1-9][0-9] registers, so that [1-7] blocks fit' taken/many-1/kernel.yaml" \
    "! has cover-1 REGISTERS" "! has blend-1 REGISTERS"
run tune taken/many-1 --device 0 --strategy exhaustive -o tuned
check "which is tuned" all "exits 0" "out_has '^many-[0-9]*  *n=1000 '" \
    "grep -q 'REGISTERS: ' tuned/many-*/*.yaml"
capture --no-rerun -- many=1000
check "or a comment" all "exits 0" \
    "grep -q '^  # REGISTERS: {values: ' taken/many-1/kernel.yaml"
run check taken/many-1
check "of a spec" exits 0
FAKE_CUDA_REGISTERS=38
export FAKE_CUDA_REGISTERS
capture --no-rerun --propose -- many=1000
unset FAKE_CUDA_REGISTERS
check "but not more than a multiprocessor has threads for" all "exits 0" \
    "has many-1 '  REGISTERS: {values: [0, 32], default: 0, '" \
    "grep -q '^  # A thread has 38 registers, so that 6 blocks fit' taken/many-1/kernel.yaml"
FAKE_CUDA_FAIL=FuncGetAttribute=1,1
export FAKE_CUDA_FAIL
capture --no-rerun --propose -- many=1000
unset FAKE_CUDA_FAIL
check "where the driver does not say, nothing is" all "exits 0" \
    "has many-1 'grid: [\"ceildiv(n, BLOCK)\"]'" "! has many-1 REGISTERS"

capture --no-rerun --count 3 -- uneven=257 uneven=1000 uneven=1006
check "what fits some launches alone is a comment" all "exits 0" \
    "has uneven-1 'grid: [6]'" \
    "has uneven-1 'nothing fits all 3 launches that were captured.'" \
    "has uneven-2 'grid: [7]'"
capture --no-rerun --count 3 -- uneven=1700 uneven=260 uneven=1000
run check taken/uneven-1
check "with the one that comes nearest" all "exits 0" \
    "has uneven-1 'nothing fits all 3 launches that were captured;'" \
    "has uneven-1 '# \"ceildiv(n, BLOCK)\" fits 2 of them.'" \
    "has uneven-1 'grid: [7]'"

capture --count 2 -- plain=1024 plain=2560
check "elements of a buffer are a dimension where no number is" all "exits 0" \
    "has plain-1 'z_count: {default: 1024'" \
    "has plain-1 'grid: [\"ceildiv(z_count, BLOCK)\"]'" \
    "has plain-1 'x: {type: f32, role: input, count: z_count, '" \
    "has plain-1 '# - {z_count: 2560}    # plain-2'" \
    "err_has 'plain-2: made again it gives what'"
run tune taken/plain-2 --device 0 --strategy exhaustive -o tuned
check "and it is tuned" all "exits 0" "out_has '^plain-2  *z_count=2560 '"
capture --no-rerun --count 2 -- plain=1024 plain=1024
check "two launches of one size give no dimension" all \
    "has plain-1 'grid: [\"ceildiv(1024, BLOCK)\"]'" \
    "has plain-1 '# Blocks along x: a guess; with a thread for each element of z '" \
    "has plain-1 'x: {type: f32, role: input, count: 1024'"
sed 's/BLOCK: {values: .256./BLOCK: {values: [64, 256, 512]/' \
    taken/plain-1/kernel.yaml >other.yaml && mv other.yaml taken/plain-1/kernel.yaml
run tune taken/plain-1 --device 0 --strategy exhaustive -o tuned
check "with which blocks of any size are right" all "exits 0" \
    "out_has '^plain-1 .*BLOCK=64'" "err_has ' 3 of 3 candidates '" \
    "err_lacks wrong"
capture --no-rerun --count 2 -- cover=1000 cover=1010
check "nor do two with one grid" all \
    "has cover-1 'a guess; it fits all 2 launches, which have the same grid'" \
    "has cover-1 'grid: [\"ceildiv(n, BLOCK)\"]'"
capture --no-rerun --count 2 -- cover=1000 plain=1024 cover=2000 plain=2048
check "launches of other kernels have no say" all \
    "has cover-1 'fits all 2 launches'" "has plain-2 'fits all 2 launches'" \
    "! has cover-1 plain"
finish
