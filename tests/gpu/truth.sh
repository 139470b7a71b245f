#!/bin/sh
# SPDX-License-Identifier: MIT
#
# truth.sh BUILD: on device 0, outputs are compared by ulps, in a region, by
# launches of the spec and with a program's answer: each sees what it has to
# see, and lets pass what it has to.  TAP.
set -u

. "$(dirname "$0")/part.sh"
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME
mkdir -m 700 "$XDG_CACHE_HOME"

for fault in 0 1 2 3 4 5; do
    echo "{verb: measure, tag: $fault," \
        "config: {BLOCK: 128, FAULT: $fault}, samples: 3, verify: true}"
done | "$build/shmtune" worker --spec "$here/truth.yaml" --device 0 \
    --images "$folder/images" >"$folder/replies" 2>"$folder/err"

echo 1..10
told() { # FILE TAG PATTERN NAME
    file=$1 tag=$2
    check "$4" grep -q "^{tag: $2, $3" "$folder/$1"
}
complain() {
    grep "tag: $tag," "$folder/$file" | cut -c 1-300 | sed 's/^/# /'
    tail -n 3 "$folder/err" | sed 's/^/# /'
}
told replies 0 'verdict: ok,' "what is right passes"
told replies 1 'verdict: ok,' "so do all elements 4 ulps off"
wrong='verdict: wrong, reason:'
told replies 2 "$wrong \"y\[101236\] is .*, 4 times the tolerance; it is the" \
    "one element 16 ulps off is told with its place"
told replies 3 "verdict: out_of_bounds, .* outside its region, the first is 1011" \
    "an element of the padding is told"
told replies 4 'verdict: ok,' \
    "the spec's own comparison passes another order"
told replies 5 "$wrong \"*the comparison of the spec counts 1 mismatch" \
    "and sees one wrong element"

for tag in 0 1; do
    echo "{verb: measure, tag: $tag, config: {BLOCK: 128}, samples: 3," \
        "verify: true}" |
        "$build/shmtune" worker --spec "$here/truth_answer.yaml" --device 0 \
            --images "$folder/images" >>"$folder/answers" 2>>"$folder/err"
done
if command -v python3 >/dev/null 2>&1; then
    told answers 0 'verdict: ok,' "a program says what is right"
    told answers 1 'verdict: ok,' "and its answer is kept"
else
    skip "a program says what is right" "no python3"
    skip "and its answer is kept" "no python3"
fi

# A copy of what a file has is what the file has, and not what another has.
toy=$here/../fake/data
for seed in 1 2; do
    "$build/shmtune" data "$toy/toy.yaml" --size n=4096 --data-seed $seed \
        -o "$folder/data$seed" -q 2>>"$folder/err"
    sed "s|source: toy.cu|source: $toy/toy.cu|; /n: 65536/d; /shared_/d
        s|role: input, count: n|&, fill: {file: data1/src.npy}|
        s|role: output, count: n|&, expect: {file: data$seed/src.npy}|" \
        "$toy/toy.yaml" >"$folder/toy$seed.yaml"
    echo "{verb: measure, tag: $seed, size: {n: 4096, m: 1}," \
        "config: {BLOCK_X: 128, UNROLL: 1, PAD: 0, MEMORY: static," \
        "CARVEOUT: -1}, samples: 3, verify: true}" |
        "$build/shmtune" worker --spec "$folder/toy$seed.yaml" --device 0 \
            --images "$folder/images" >>"$folder/copies" 2>>"$folder/err"
done
told copies 1 'verdict: ok,' "inputs are filled from a file, and compared with one"
told copies 2 "$wrong" "with another they are wrong"
