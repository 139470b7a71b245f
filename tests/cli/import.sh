#!/bin/sh
# SPDX-License-Identifier: MIT
#
# import and export: files of other tuners, there and back.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

corpus=$source/tests/fuzz/corpus/import
cp "$corpus/t1.json" "$corpus/cache.json" "$corpus/t4.json" \
    "$corpus/ktt.json" "$corpus/clblast.json" "$folder/"
gzip -k "$folder/cache.json" "$folder/t4.json"
out=$folder/made

file_has() { grep -q -e "$2" "$1"; }
file_is_json() { # FILE
    command -v python3 >/dev/null 2>&1 || return 0
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"
}
same_json() { # FILE FILE
    command -v python3 >/dev/null 2>&1 || return 0
    python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
sys.exit(a != b)' "$1" "$2"
}

run import "$folder/t1.json" -o "$out"
check "a T1 space becomes a spec" \
    all "exits 0" err_empty "out_has '^  .*tiled.yaml: 281 configurations'" \
    "file_has $out/kernels/tiled.yaml 'format: kernel/1'"
run space "$out/kernels/tiled.yaml"
check "of which the funnel can be seen" all "exits 0" "out_has '^ *281 '"
run import "$folder/t1.json" -o "$out" --json
check "again, the same: nothing to replace" all "exits 0" is_json
run export "$out/kernels/tiled.yaml" --to t1 -o "$folder/tiled.json" --json
check "the spec becomes a T1 space again" all "exits 0" is_json \
    "out_has '\"kernel\": \"tiled\"'" "file_is_json $folder/tiled.json"
run import "$folder/tiled.json" -o "$folder/again"
check "of the same configurations" \
    all "exits 0" "out_has '^  .*tiled.yaml: 281 configurations'"
ln -s self.yaml "$folder/self.yaml"
run export "$folder/self.yaml" --to t1
check "a file that cannot be opened is told" all "exits 5" \
    "err_has 'self.yaml: cannot be opened: Too many levels'"
run export transpose --to t1 --size rows=100
check "a kernel's space, for one size" all "exits 0" is_json \
    "out_has '\"ProblemSize\": \[100, '" "out_lacks 'ceildiv'"
run export transpose --to t4
check "but it has no results" all "exits 1" "err_has 'name a journal'"
run import "$folder/cache.json.gz" -o "$out" --name tiled
check "another of that name is not overwritten" \
    all "exits 1" "err_has 'force replaces it'"
run import "$folder/cache.json.gz" -o "$out"
check "a compressed cache becomes a recording" \
    all "exits 0" "out_has '3 results'" \
    "file_has $out/kernels/conv.yaml 'problem_x: {default: 4096}'" \
    "[ -s $out/tunings/conv/a-gpu.journal.gz ]"
printf '\357\273\277' >"$folder/python.json"
cat >>"$folder/python.json" <<'END'
{"device_name": "A GPU", "kernel_name": "python", "problem_size": 64,
"tune_params_keys": ["x"], "tune_params": {"x": [1, 2, 4, 8]},
"largest": Infinity, "cache": {
"1": {"x": 1, "time": 4.0, "power": NaN, "note": "NaN, -Infinity"},
"2": {"x": 2, "time": NaN, "GFLOP/s": [-Infinity, 1.5, NaN]},
"4": {"x": 4, "time": Infinity},
"8": {"x": 8, "time": 2.5, "power": -0.5}}}
END
run import "$folder/python.json" -o "$out"
check "NaN and Infinity, which Python writes, are no numbers" \
    all "exits 0" err_empty "out_has '4 results'"
run show "$out/tunings/python/a-gpu.journal.gz" --json
check "and a time that is none is a failure" all "exits 0" is_json \
    "[ \$(grep -c '\"verdict\": \"ok\"' '$folder/out') -eq 2 ]" \
    "out_has 'no time for it'"
run export "$out/tunings/python/a-gpu.journal.gz" --to kernel-tuner
check "exported they are null" all "exits 0" is_json \
    "out_has '\"largest\": *null'" "out_has '\"power\": *null'" \
    "out_has 'NaN, -Infinity'" "out_has '\"power\": *-0.5'" \
    "out_lacks ': *NaN' " "out_lacks '[ \[:]-*Infinity[^\"]'"
mkdir -p "$folder/half/kernels" && : >"$folder/half/tunings"
run import "$folder/cache.json" -o "$folder/half"
check "a recording that cannot be written leaves no spec" \
    all "exits 5" "[ ! -e $folder/half/kernels/conv.yaml ]"
echo '# mine' >"$folder/half/kernels/conv.yaml"
run import "$folder/cache.json" -o "$folder/half" --force
check "or the one that was there" \
    all "exits 5" "file_has $folder/half/kernels/conv.yaml '^# mine$'" \
    "[ $(wc -l <"$folder/half/kernels/conv.yaml") -eq 1 ]"
run show "$out/tunings/conv/a-gpu.journal.gz"
check "that can be shown, what is not known as -" all "exits 0" \
    "out_has 'launch_error'" "out_has ' - *- *- '" "out_lacks ' -1 '" \
    "out_lacks 'sm_00\|NVRTC 0'"
run check "$out/tunings/conv/a-gpu.journal.gz" "$out/kernels/conv.yaml"
check "what came without its constraints is no mistake" all "exits 0" \
    "out_has '^note .*without its constraints: 3 of the [0-9]* conf'" \
    "out_has '^2 ok, 0 wrong'"
run tune "$out/kernels/conv.yaml" --output "$folder/tuned" --wide \
    --device "replay:$out/tunings/conv/a-gpu.journal.gz"
check "and tuned on" all "exits 0" "out_has '^conv '" \
    "out_lacks 'regs\|occ'" \
    "out_lacks ' -1 '" "[ -s $folder/tuned/conv/*.yaml ]"
run tune "$out/kernels/conv.yaml" --device 0
check "but not on a device" all "exits 2" "err_has 'nothing to launch'"
run export "$out/tunings/conv/a-gpu.journal.gz" --to kernel-tuner \
    -o "$folder/back.json"
check "and comes out as it went in" \
    all "exits 0" "same_json $folder/cache.json $folder/back.json"
run export "$out/tunings/conv/a-gpu.journal.gz" --to t1
check "or its space alone" all "exits 0" is_json \
    "out_has '\"BenchmarkName\": \"conv\"'"
run export "$out/tunings/conv/a-gpu.journal.gz" --to t1 --size problem_x=1
check "whose size is the journal's" all "exits 1" "err_has 'leave --size out'"
run export "$out/tunings/conv/a-gpu.journal.gz" --to t4
check "or as T4, to standard output" all "exits 0" is_json \
    "out_has '\"invalidity\": \"runtime\"'"
run export "$out/tunings/conv/a-gpu.journal.gz" --to t4 --json \
    -o "$folder/told.json"
check "into a file, and told as JSON" all "exits 0" is_json \
    "out_has '\"records\": 3'" "file_is_json $folder/told.json"
run import "$folder/t4.json.gz" -o "$out" --name nowhere
check "where a file names no GPU, how to" all "exits 0" \
    "out_has 'unknown.journal.gz (the file names no GPU: --device NAME does)\$'"
run import "$folder/t4.json.gz" -o "$out" --name other --device 'My GPU 2'
check "T4 results with a name and a device" all "exits 0" \
    "out_lacks 'names no GPU'" "[ -s $out/tunings/other/my-gpu-2.journal.gz ]"
run export "$out/tunings/other/my-gpu-2.journal.gz" --to t4 \
    -o "$folder/back.json.gz"
gunzip -f "$folder/back.json.gz" 2>/dev/null
check "come out as they went in, compressed" \
    all "exits 0" "same_json $folder/t4.json $folder/back.json"
cp "$out/kernels/conv.yaml" "$folder/mine.yaml"
run import "$folder/cache.json" -o "$folder/mine" --spec "$folder/mine.yaml"
check "a spec that is there says how many configurations" \
    all "exits 0" "out_has 'mine.yaml (as it was): 36 conf'" \
    "[ ! -e $folder/mine/kernels ]"
run import "$folder/ktt.json" -o "$out" --name ktt
check "results of KTT" all "exits 0" "out_has 'KTT results.* 2 results'" \
    "[ -s $out/tunings/ktt/a.journal.gz ]"
run import "$folder/clblast.json" -o "$out"
check "results of CLBlast's tuners" all "exits 0" \
    "out_has 'CLBlast results.* 3 results'" \
    "[ -s $out/tunings/Xaxpy/geforce-gtx-1080.journal.gz ]"
run tune "$out/kernels/Xaxpy.yaml" --device \
    "replay:$out/tunings/Xaxpy/geforce-gtx-1080.journal.gz" --strategy exhaustive \
    -o "$folder/xaxpy"
check "of which the fastest is found, by its time" all "exits 0" \
    "out_has '^Xaxpy  *21 .* VW=2 WGS=64'"
run tune "$out/kernels/ktt.yaml" --device "replay:$out/tunings/ktt/a.journal.gz" \
    -o "$folder/ktt"
check "of KTT's, too" all "exits 0" "out_has '^ktt .* 109.5 .* a=16 on=1'" \
    "out_lacks ' -1 us'"
run import "$folder/cache.json" -o "$out" --spec "$out/kernels/other.yaml"
check "a run of another space" all "exits 2" "err_has 'parameters'"

printf '{"ConfigurationSpace": {"TuningParameters": [' >"$folder/bad.json"
printf '{"Name": "a", "Values": "range(10**9)"}]}}' >>"$folder/bad.json"
run import "$folder/bad.json" -o "$out"
check "a huge range" all "exits 2" out_empty \
    "err_has 'bad.json: ConfigurationSpace.TuningParameters\[0\].Values: '"
printf '{"cache": {' >"$folder/cut.json"
run import "$folder/cut.json" -o "$out"
check "a file that is cut" all "exits 2" "err_has 'cut.json'"
head -c 40 "$folder/cache.json.gz" >"$folder/cut.json.gz"
run import "$folder/cut.json.gz" -o "$out"
check "a compressed file that is cut" all "exits 2" "err_has 'cut.json.gz'"
# 180 clauses over 60 switches: the diagram is too large.
awk 'BEGIN {
    printf "{\"ConfigurationSpace\": {\"TuningParameters\": ["
    for (p = 0; p < 60; p++)
        printf "%s{\"Name\": \"x%d\", \"Values\": [0, 1]}", p ? ", " : "", p
    printf "], \"Conditions\": ["
    for (c = 0; c < 180; c++)
        printf "%s{\"Expression\": \"x%d == 1 or x%d == 1 or x%d == %d\"}",
            c ? ", " : "", (c * 7) % 60, (c * c + 13) % 60,
            (c * 11 + int(c / 60) * 17 + 29) % 60, c % 2
    print "]}}"
}' >"$folder/clauses.json"
run import "$folder/clauses.json" -o "$out" --space-seconds 5
check "a space that is too irregular is not told as counted" all "exits 0" \
    "out_has 'clauses.yaml: [0-9]* configurations, some of more'"
run import "$folder/clauses.json" -o "$out" --space-seconds 5 --json
check "in JSON, too" all is_json "out_has '\"drawn\": true'"
truncate -s 268435457 "$folder/large.json"
run import "$folder/large.json" -o "$out"
check "a file of more than 256 MiB" all "exits 2" \
    "err_has 'large.json: .*256 MiB.*split the file'"
gzip -1 "$folder/large.json"
run import "$folder/large.json.gz" -o "$out"
check "also once it is inflated" all "exits 2" \
    "err_has 'large.json.gz: .*256 MiB.*split the file'"
rm -f "$folder"/large.json*
run import "$folder/none.json"
check "no such file" all "exits 5" "err_has 'none.json'"
name64=a234567890123456789012345678901234567890123456789012345678901234
run import "$folder/t1.json" -o "$folder/named" --name $name64
check "a name of 64 characters" exits 0
run import "$folder/t1.json" -o "$folder/named" --name ${name64}5
check "and no more" all "exits 1" "err_has 'at most 64'"
run import
check "no file at all" all "exits 1" "err_has 'expected a file'"
run import "$folder/t1.json" -o "$out" --name 'a b'
check "a name that is none" all "exits 1" "err_has 'expected letters'"
run export "$out/tunings/conv/a-gpu.journal.gz"
check "no form" all "exits 1" "err_has 'kernel-tuner'"
run export "$out/tunings/conv/a-gpu.journal.gz" --to t4 \
    -o "$folder/none/x.json"
check "into a folder that is not there" all "exits 5" "err_has 'none/x.json'"
run export "$out/tunings/conv/a-gpu.journal.gz" --to csv
check "a form that is none" all "exits 1" "err_has 'csv'"
finish
