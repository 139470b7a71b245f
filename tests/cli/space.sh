#!/bin/sh
# SPDX-License-Identifier: MIT
#
# space: the counts of the funnel.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

same_as_expected() { cmp -s "$folder/out" "$folder/expected"; }
lines_are() { [ "$(wc -l <"$folder/out")" -eq "$1" ]; }

run space scale
check "the funnel at the default size" \
    all "exits 0" err_empty "out_is space.txt"
run space scale --size n=100 --json
check "as JSON at another" \
    all "exits 0" err_empty is_json "out_is space.json"
run space "$root/kernels/scale.yaml" --size n=1048576
check "by path" all "exits 0" "out_has '^44 valid'"
mkdir "$folder/made"
cp "$data/scale.cu" "$data/scale.h" "$folder/made/"
cp "$data/scale.yaml" "$folder/made/kernel.yaml"
cd "$folder"
run space made --size n=1048576
check "by the folder of a capture" all "exits 0" "out_has '^44 valid'"
cd - >/dev/null
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
check "a search space without a source" all "exits 0" "out_has '^4 valid'" \
    "out_lacks ' $'"

cat >"$folder/wide.yaml" <<'END'
format: kernel/2
name: wide
problem:
  n: {default: 1000, max: 4096}
  m: {default: 8, min: 4, max: 64}
parameters:
  BLOCK: {values: {from: 32, to: n, times: 2}}
  ITEMS: {values: {from: m, to: 2 * m + n % 2, step: 4}}
END
run space "$folder/wide.yaml"
check "bounds that name dimensions are constraints" all "exits 0" \
    "out_has 'BLOCK <= (n)\$'" "out_has 'ITEMS >= (m)\$'" \
    "out_has '^15 valid'"
run space "$folder/wide.yaml" --size n=64,m=12 --list
cat >"$folder/expected" <<'END'
BLOCK=32,ITEMS=12
BLOCK=32,ITEMS=16
BLOCK=32,ITEMS=20
BLOCK=32,ITEMS=24
BLOCK=64,ITEMS=12
BLOCK=64,ITEMS=16
BLOCK=64,ITEMS=20
BLOCK=64,ITEMS=24
END
check "each problem has its own values" all "exits 0" same_as_expected
run space "$folder/wide.yaml" --size "n=64  m=12" --list
check "a size as tables show it" all "exits 0" same_as_expected
run space "$folder/wide.yaml" --size "n=64, m=12" --list
check "with a blank behind the comma" all "exits 0" same_as_expected
run space "$folder/wide.yaml" --size "n=64 m"
check "a blank that is none between two" all "exits 1" "err_has '\"n=64 m\"; n of'"

sed 's/from: m, /from: -m, /' "$folder/wide.yaml" >"$folder/below.yaml"
run space "$folder/below.yaml"
check "a bound that begins with a sign" all "exits 0" \
    "out_has 'ITEMS >= (-m)\$'"

sed 's/2 . m + n % 2/n % 48/' "$folder/wide.yaml" >"$folder/between.yaml"
run space "$folder/between.yaml" --size n=32,m=20 --list
cat >"$folder/expected" <<'END'
BLOCK=32,ITEMS=20
BLOCK=32,ITEMS=24
BLOCK=32,ITEMS=28
BLOCK=32,ITEMS=32
END
check "a bound that is greatest between the ends" all "exits 0" \
    same_as_expected

run space "$folder/only.yaml" --count
cat >"$folder/expected" <<'END'
4
END
check "its count alone" all "exits 0" err_empty same_as_expected
run space "$folder/only.yaml" --list
cat >"$folder/expected" <<'END'
alpha=0.5,mode=a-b
alpha=0.5,mode=c.d
alpha=1.0,mode=a-b
alpha=1.5,mode=a-b
END
check "all configurations" all "exits 0" err_empty same_as_expected
run space "$folder/only.yaml" --list --json
cat >"$folder/expected" <<'END'
{"format": "configuration.json/1", "config": {"alpha": 0.5, "mode": "a-b"}}
{"format": "configuration.json/1", "config": {"alpha": 0.5, "mode": "c.d"}}
{"format": "configuration.json/1", "config": {"alpha": 1.0, "mode": "a-b"}}
{"format": "configuration.json/1", "config": {"alpha": 1.5, "mode": "a-b"}}
END
check "all configurations as JSON lines" \
    all "exits 0" err_empty same_as_expected
run space scale --list
check "as many as are counted" lines_are "$("$build/shmtune" space scale --count)"
run space scale --list --size n=63
check "no configuration, no line" all "exits 0" out_empty
run space scale --list --count
check "both at once are refused" all "exits 1" out_empty "err_has 'not both'"

# A million configurations in a little memory.
awk 'BEGIN {
    print "format: kernel/1\nname: many\nparameters:"
    for (p = 0; p < 6; p++)
        printf "  p%d: {values: {from: 1, to: 10}}\n", p
}' >"$folder/many.yaml"
(ulimit -v 1000000 && "$build/shmtune" space "$folder/many.yaml" --list |
    sort -u | wc -l) >"$folder/out" 2>"$folder/err"
check "a million lines, each once" all "out_has '^ *1000000$'"

# 180 clauses over 60 switches: the diagram is too large.
awk 'BEGIN {
    srand(4)
    print "format: kernel/1\nname: clauses\nparameters:"
    for (p = 0; p < 60; p++)
        printf "  x%d: {values: [0, 1]}\n", p
    print "constraints:"
    for (c = 0; c < 180; c++)
        printf "- x%d == 1 or x%d == 1 or x%d == %d\n", (c * 7) % 60,
            (c * c + 13) % 60, (c * 11 + int(c / 60) * 17 + 29) % 60, c % 2
}' >"$folder/clauses.yaml"
run space "$folder/clauses.yaml" --list --space-seconds 5
drawn=$(wc -l <"$folder/out")   # 4096 but where the machine is busy
check "a space that is too irregular is drawn" all "exits 0" \
    "[ $drawn -ge 64 ] && [ $drawn -le 4096 ]" \
    "err_has 'clauses: .* $drawn valid configurations were drawn, not uniformly'"
sort -u "$folder/out" >"$folder/once" && cp "$folder/once" "$folder/out"
check "each configuration once" lines_are "$drawn"
run space "$folder/clauses.yaml" --count --space-seconds 1
check "and is not counted" all "exits 7" out_empty \
    "err_has 'clauses.yaml:[0-9]*:3: x'" "err_has 'and 177 more'" \
    "err_has 'raise --space-seconds or --space-memory'"
finish
