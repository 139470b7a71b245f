#!/bin/sh
# SPDX-License-Identifier: MIT
#
# candidates.sh BUILD [KERNEL...]: candidates of each kernel, spread over its
# space, on device 0: all are right, and what the driver says of registers,
# static shared memory and resident blocks is what the compiler and
# cuda_occupancy.h say.  TAP.  CANDIDATES=N for each kernel, 0 for all.
set -u

. "$(dirname "$0")/part.sh"
root=$(cd "$here/../.." && pwd)
shift
[ $# -gt 0 ] || set -- $(cd "$root/kernels" && ls ./*.yaml |
    sed 's,^\./,,; s,\.yaml$,,')
jobs=$(nproc 2>/dev/null || echo 4)
arch=$("$build/shmtune" worker --spec "$root/kernels/$1.yaml" --device 0 \
    --images "$folder/images" </dev/null | sed -n 's/.*arch: \([^,}]*\).*/\1/p')
echo "1..$((2 * $#))"

# Odd sizes: no tile divides them.
size_of() {
    case $1 in
    transpose) echo rows=1023,cols=2049 ;;
    reduce) echo n=1000003 ;;
    matmul) echo m=511,n=769,k=1281 ;;
    conv2d) echo height=541,width=961,filter=5 ;;
    scan) echo n=1000003 ;;
    histogram) echo n=1000003 ;;
    row_reduce | softmax) echo rows=1001,cols=1031 ;;
    nbody) echo n=4093 ;;
    coalescing | stencil2d) echo rows=1023,cols=1537,steps=3 ;;
    bank_conflict) echo n=100003,rounds=16 ;;
    *) echo ;;
    esac
}

complain() {
    sed -n 's/.*computed_blocks.*note: //p' "$folder/replies" | head -n 5 |
        sed 's/^/# /'
    grep -h -v 'verdict: ok\|^{hello' "$folder/replies" "$folder"/done.* |
        head -n 10 | sed 's/^/# /'
    sed 's/^/# /' "$folder/err" | head -n 5
}

for kernel in "$@"; do
    spec=$root/kernels/$kernel.yaml
    size=$(size_of "$kernel")
    "$build/tests/gpu/requests" inspect "${CANDIDATES:-96}" "$spec" "$size" \
        >"$folder/inspect"
    rm -f "$folder"/part.* "$folder"/done.*
    split -n "r/$jobs" "$folder/inspect" "$folder/part."
    for part in "$folder"/part.*; do
        "$build/shmtune" worker --spec "$spec" --arch "$arch" \
            --images "$folder/images" <"$part" >"$folder/done.${part##*.}" &
    done
    wait
    # what does not compile is not measured, and is missed in the count
    cat "$folder"/done.* | sed -n 's/^{tag: \([0-9]*\), verdict: ok,.*/\1/p' |
        sort >"$folder/good"
    "$build/tests/gpu/requests" measure "${CANDIDATES:-96}" "$spec" "$size" \
        1 | awk 'NR == FNR { good[$1]; next }
            match($0, /tag: [0-9]+/) {
                if (substr($0, RSTART + 5, RLENGTH - 5) in good) print }' \
        "$folder/good" - >"$folder/measure"
    "$build/shmtune" worker --spec "$spec" --device 0 \
        --images "$folder/images" <"$folder/measure" >"$folder/replies" \
        2>"$folder/err"
    asked=$(wc -l <"$folder/measure")
    listed=$(wc -l <"$folder/inspect")
    # a block that fits no multiprocessor is a right answer too
    right=$(grep -c '^{tag: [0-9]*, verdict: \(ok\|not_resident\)' \
        "$folder/replies")
    noted=$(grep -c ', note: ' "$folder/replies")

    check "$kernel: $right of $asked candidates right, $listed compiled" all \
        "[ $right -gt 0 ]" "[ $right -eq $listed ]"
    check "$kernel: driver and compiler agree on each" all \
        "[ $noted -eq 0 ]" "[ $right -gt 0 ]"
done
