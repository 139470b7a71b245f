#!/bin/sh
# SPDX-License-Identifier: MIT
#
# races.sh BUILD: candidates that hand their shared memory from one user to
# the next, over and over on device 0: what goes wrong once in many runs.  TAP.
set -u

. "$(dirname "$0")/part.sh"
RUNS=50

# Rows held in registers, while the copy engine brings the next ones into
# where they lay.
for form in passes online; do
    for blocks in 264 528 1056; do
        echo "THREADS: 256, ROWS: 1, VECTOR: 4, ITEMS: 16, HOLD: registers," \
            "LOAD: bulk, METHOD: $form, STREAM: 0, CLUSTER: 1, BLOCKS: $blocks"
    done
done >"$folder/configurations"
run=0
while [ $((run += 1)) -le $RUNS ]; do
    sed "s/.*/{verb: measure, tag: $run, size: {rows: 3000, cols: 15000},\
 config: {&}, samples: 1}/" "$folder/configurations"
done >"$folder/requests"
"$build/shmtune" worker --spec "$here/../../kernels/softmax.yaml" --device 0 \
    --images "$folder/images" <"$folder/requests" >"$folder/replies" \
    2>"$folder/err"
asked=$(wc -l <"$folder/requests")
right=$(grep -c '^{tag: [0-9]*, verdict: ok,' "$folder/replies")
complain() {
    grep -v 'verdict: ok\|^{hello' "$folder/replies" | head -n 5 |
        sed 's/^/# /'
    sed 's/^/# /' "$folder/err" | head -n 5
}
check "softmax, the next row on its way: $right of $asked runs right" \
    [ "$right" -eq "$asked" ]
finish
