#!/bin/sh
# SPDX-License-Identifier: MIT
#
# score: strategies compared on a recording that is made here: 12 x 10
# configurations with a valley, every seventh of which fails.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

cat >"$root/kernels/valley.yaml" <<'END'
format: kernel/1
name: valley
summary: nothing that runs
parameters:
  A: {values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], default: 1}
  B: {values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], default: 1}
  WAY: {values: [0, 1], default: 0, scope: launch}
constraints:
- WAY == 0 or A % 2 == 0
END

# make_recording SKIPPED: all lines but so many
make_recording() {
    printf 'format: journal/1\nkernel: valley\ndigest: "%s"\n' \
        0000000000000000000000000000000000000000000000000000000000000000
    cat "$data/device.part"
    printf 'nvrtc: 13000\nprotocol: cold-l2\nsize: {}\nseed: 1\n'
    printf 'space: 180\nrecords:\n'
    awk -v skipped="$1" 'BEGIN {
        for (a = 1; a <= 12; a++) for (b = 1; b <= 10; b++)
            for (way = 0; way <= (a % 2 == 0); way++) {
                if (++line <= skipped)
                    continue
                t = 10 + (a - 7) ^ 2 + (b - 3) ^ 2 + way / 2
                printf "- {config: {A: %d, B: %d, WAY: %d}, at: %d, ", \
                       a, b, way, line
                printf "verdict: %s, ", line % 7 == 0 ? "crash" : "ok"
                printf "registers: 32, compile_ms: %s, ", way ? "0" : "200"
                printf "measure_ms: %g", t
                if (line % 7 != 0)
                    printf ", time_us: %g", t
                printf "}\n"
            }
    }'
}
make_recording 0 >"$folder/v.journal"
make_recording 3 >"$folder/part.journal"

run score "$folder/v.journal" --repeats 20
check "all strategies" all "exits 0" err_empty "out_has '^model  *0[.]'" \
    "out_has '^random  *'" "out_has '^hill  *'" "out_has '180 config'" \
    "out_has '155 valid'" "! out_has '^exhaustive'"
cp "$folder/out" "$folder/first"
run score "$folder/v.journal" --repeats 20 --jobs 3
check "any number of threads gives the same" all "exits 0" \
    "cut -c1-60 '$folder/first' >'$folder/a'" \
    "cut -c1-60 '$folder/out' | cmp - '$folder/a'"
sed 's/, at: \([0-9]*\)/, at: \1000/;s/200,/200000,/' "$folder/v.journal" \
    >"$folder/long.journal"
COLUMNS=80
run score "$folder/long.journal" --repeats 3
COLUMNS=1000
check "all strategies are a table in 80 columns" all "exits 0" \
    "out_has '^strategy .* to 10 % .* to 1 %  *s$'" "out_has '^annealing '"
run score "$folder/v.journal" --repeats 20 --seed 50 --strategies random
check "another seed" all "exits 0" \
    "! grep -q \"\$(grep '^random' '$folder/out' | cut -c1-40)\" '$folder/first'"
run score "$folder/v.journal" --repeats 5 --json \
    --strategies hill:leap=1,samples=3,random,model:initial=4,clip=1
check "as JSON" all "exits 0" err_empty is_json "out_has 'hill:leap=1,samples=3'" \
    "out_has 'model:initial=4,clip=1'" "out_has '\"budget_s\"'"
run score "$folder/v.journal" "$folder/v.journal" --repeats 3 \
    --strategies random,exhaustive --plot "$folder/v.svg"
check "two recordings, and a plot" all "exits 0" err_empty \
    "out_has 'mean of 2 recordings'" \
    "grep -q '^<svg.*' '$folder/v.svg'" "grep -q '</svg>' '$folder/v.svg'" \
    "[ \$(grep -c '<polyline' '$folder/v.svg') -eq 6 ]"
long=genetic:population=10,tournament=4,mutation=0.3
COLUMNS=80 run score "$folder/v.journal" --repeats 3 --plot "$folder/v.svg" \
    --strategies random,genetic:population=10
check "80 columns are enough for a table" all "exits 0" \
    "out_has '^strategy  *score  spread .* to 1 %  *s$'" \
    "out_has '^genetic:population=10  *[0-9.-]*  '"
run score "$folder/v.journal" --repeats 3 --strategies random,$long \
    --plot "$folder/v.svg"
check "the names on a plot have room" all "exits 0" \
    "[ \$(sed -n 's/^<svg.* width=\"\([0-9]*\)\" .*/\1/p' '$folder/v.svg') \
        -ge $((660 + 6 * (7 + ${#long}))) ]" "grep -q '$long</text>' '$folder/v.svg'"
run score "$folder/v.journal" --repeats 3 --ahead 8 --start
check "compiled ahead, from the default" all "exits 0" err_empty

run score "$folder/part.journal"
check "a part of a recording" all "exits 3" out_empty \
    "err_has '177 of 180 config'" "err_has exhaustive" "err_has -- --recorded"
run score "$folder/part.journal" --recorded --repeats 3 --strategies random
check "which is the space when asked" all "exits 0" err_empty \
    "out_has '177 config'"
cat >"$folder/cache.json" <<'END'
{"device_name": "A GPU", "kernel_name": "holes", "problem_size": [64],
"tune_params_keys": ["x", "y"], "objective": "time",
"tune_params": {"x": [1, 2, 4, 8], "y": [0, 1]},
"cache": {
"1,0": {"x": 1, "y": 0, "time": 4.0, "compile_time": 9, "benchmark_time": 1},
"1,1": {"x": 1, "y": 1, "time": 3.5, "compile_time": 9, "benchmark_time": 1},
"2,0": {"x": 2, "y": 0, "time": 3.0, "compile_time": 9, "benchmark_time": 1},
"4,0": {"x": 4, "y": 0, "time": 2.5, "compile_time": 9, "benchmark_time": 1},
"4,1": {"x": 4, "y": 1, "time": "RuntimeFailedConfig", "compile_time": 9},
"8,1": {"x": 8, "y": 1, "time": 2.0, "compile_time": 9, "benchmark_time": 1}}
}
END
run import "$folder/cache.json" -o "$folder/taken"
check "a cache file" all "exits 0"
run score "$folder"/taken/tunings/holes/*.gz --repeats 3 --strategies random
check "of which the space is what it holds" all "exits 0" err_empty \
    "out_has '6 configurations, 5 valid'"
run score
check "no recording" all "exits 1" out_empty "err_has 'no recording'"
run score "$folder/absent.journal"
check "an absent one" all "exits 5" out_empty "err_has absent.journal"
{
    sed '/^records:/q' "$folder/v.journal"
    grep '^- ' "$folder/v.journal" | head -n 20 |
        sed 'p;s/ at: [0-9]*/ at: 200/;p;s/config/try/;s/, at.*/}/'
} >"$folder/twice.journal"
run score "$folder/twice.journal"
check "what is there twice counts once, and a try not at all" all "exits 3" \
    out_empty "err_has '20 of 180 config'"
gzip -c "$folder/v.journal" | head -c 900 >"$folder/cut.journal.gz"
run score "$folder/cut.journal.gz"
check "a cut one, which is named once" all "exits 2" out_empty \
    "err_has 'error: $folder/cut.journal.gz: damaged or cut'"
sed '/^- /s/verdict: ok\(.*\), time_us.*/verdict: crash\1}/' \
    "$folder/v.journal" >"$folder/failed.journal"
run score "$folder/failed.journal" --within 5
check "one of failures alone is named" all "exits 3" out_empty \
    "err_has 'failed.journal: no recorded configuration has a time'"
run score "$folder/v.journal" --strategies model,magic
check "an unknown strategy" all "exits 1" out_empty "err_has magic"
run score "$folder/v.journal" --strategies model:initial=-1
check "an option out of range" all "exits 1" out_empty "err_has 'initial is'"
run score "$folder/v.journal" --repeats 0
check "no repeats" all "exits 1" out_empty "err_has repeats"
run score "$folder/v.journal" --repeats 1 --strategies random \
    --plot "$folder/absent/v.svg"
check "a plot that cannot be written" all "exits 5" "err_has absent/v.svg"
finish
