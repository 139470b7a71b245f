#!/bin/sh
# SPDX-License-Identifier: MIT
#
# space: the counts of the funnel.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

run space scale
check "the funnel at the default size" \
    all "exits 0" err_empty "out_is space.txt"
run space scale --size n=100 --json
check "as JSON at another" \
    all "exits 0" err_empty is_json "out_is space.json"
run space "$root/kernels/scale.yaml" --size n=1048576
check "by path" all "exits 0" "out_has '^44 valid'"
run space scale --size n=63
check "an empty space is no error" all "exits 0" "out_has '^0 valid'"
run space scale --size n=0
check "a size out of bounds" all "exits 1" out_empty "err_has '1 to'"
run space scale --size m=5
check "a dimension that is not there" all "exits 1" "err_has 'n=N'"
run space scale --size n=5,n=6
check "a size given twice" all "exits 1" out_empty "err_has 'twice'"
run space scale --size n=5,
check "half a size" all "exits 1" out_empty

cat >"$folder/only.yaml" <<'END'
format: kernel/1
name: only
parameters:
  alpha: {values: [0.5, 1, 1.5]}
  mode: {values: [a-b, c.d]}
constraints:
- alpha < 1 or mode == 'a-b'
END
run space "$folder/only.yaml"
check "a search space without a source" all "exits 0" "out_has '^4 valid'"
finish
