#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What --json prints holds by docs/output.schema.json, of every verb, and after
# a failure too.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

schema=$source/docs/output.schema.json
make_tuning "$folder/t.yaml"
make_journal "$folder/j.journal"
cp "$data/scale.yaml" "$data/scale.cu" "$data/scale.h" "$folder/"
holds() { # NAME: the output is a document of that format
    out_has "^  \"format\": \"$1.json/1\",$" &&
        "$build/tests/support/holds" "$schema" "$folder/out"
}
is() { # NAME WORD...
    name=$1
    shift
    run "$@" --json
    check "$name: $1" holds "$name"
}

is tuning show "$folder/t.yaml"
is journal show "$folder/j.journal"
is list list
is space space scale
is count space scale --count
check "space: how many, as a number" out_has '"valid": [0-9][0-9]*$'
run space scale --list --json
cp "$folder/out" "$folder/lines"
wrong=0
while IFS= read -r line; do
    echo "$line" >"$folder/out"
    "$build/tests/support/holds" "$schema" "$folder/out" || wrong=$((wrong + 1))
done <"$folder/lines"
check "configuration: space, a document a line" all '[ "$wrong" -eq 0 ]' \
    'out_has "^{\"format\": \"configuration.json/1\", "' \
    '[ "$(wc -l <"$folder/lines")" = "$("$build/shmtune" space scale --count)" ]'
for option in -V --version; do
    is version $option
    check "version: $option has the build's" out_has \
        "\"version\": \"$("$build/shmtune" -V | cut -d ' ' -f 2)\""
done
is check check --no-compile "$root/kernels/scale.yaml" "$folder/t.yaml"
is doctor doctor
is data data scale --size n=64 -o "$folder/inputs"
is export export "$folder/j.journal" --to t4 -o "$folder/t4.json"
is pack pack "$root" -o "$folder/t.pack"
is init init "$folder/scale.cu" --entry scale -o "$folder/drafted.yaml"
check "init: what is left to write, with its place" all \
    'out_has "\"file\": \".*/drafted.yaml\""' 'out_has "\"kernel\": \"scale\""' \
    'out_has "\"line\": [0-9]*,*$"'
check "init: what the source says of the arguments" all \
    'out_has "\"declared\": \"const float \\*\""' \
    'out_has "\"role\": \"input\""' 'out_has "\"type\": \"i32\""' \
    'out_has "\"array\": false"'
run init "$folder/scale.cu" --entry scale -o - --json
check "init: not both on standard output" all 'exits 1' 'out_has "error.json/1"'
run --help
check "the help names the commands that have no --json" \
    out_has "(run and\$"
# The first unknown option is told, and nothing is run.
for verb in $(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$folder/out"); do
    run "$verb" --json --nothing-such
    case $verb in
    run | completion) unknown=json ;;
    *) unknown=nothing-such ;;
    esac
    check "the first unknown option of $verb is --$unknown" \
        err_has "unknown option \"--$unknown\""
done
is import import "$folder/t4.json" -o "$folder/imported"
is report report "$folder/t.yaml" "$folder/j.journal" -o "$folder/page.html"
if has_nvrtc; then
    is inspect inspect scale --limit 2
else
    skip "inspect" "no NVRTC here"
fi

# What a program prints comes first; its line may lack an end.  (It has no
# sanitizer of its own, which what is preloaded into it may have.)
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS
is_last() { # NAME: the last line of the output is a document of that format
    tail -n 1 "$folder/out" >"$folder/last" &&
        grep -q "^{\"format\": \"$1.json/1\", " "$folder/last" &&
        "$build/tests/support/holds" "$schema" "$folder/last"
}
for what in --list "-o $folder/taken"; do
    case $what in
    --list) name=kernels ;;
    *) name=capture ;;
    esac
    # shellcheck disable=SC2086
    run capture --json $what -- sh -c 'printf "{\n[1] no end"; exit 3'
    check "$name: capture, behind what the program printed" all "exits 3" \
        "out_has '^\[1\] no end$'" "is_last $name"
    run capture --json "${what%% *}"
    check "$name: an error is the last line as well" all "exits 1" \
        "is_last error"
    # shellcheck disable=SC2086
    run capture --json $what -- "$folder/no-such-program"
    check "$name: and of a program that is not there" all "exits 5" \
        "is_last error"
done

# -- failures ------------------------------------------------------------------
is error show "$folder/nothing.yaml"
is error space nothing
printf 'format: kernel/1\nname: [\n' >"$folder/bad.yaml"
is error space "$folder/bad.yaml"
check "with the place as members" all 'out_has "\"file\": \".*/bad.yaml\""' \
    'out_has "\"line\": [23],*$"' 'out_has "\"column\": [0-9]*,*$"'
is check check "$folder/bad.yaml"
check "of a finding, too" all 'out_has "\"place\": {"' \
    'out_has "\"line\": [23],*$"'

# -- runs ----------------------------------------------------------------------
use_fake_worker
is tune tune toy --strategy exhaustive --record "$root/tunings" --size n=4096
is tune tune toy --device replay:h100 --output again --size n=4096
is tune tune toy --device replay:h100 --output again --size n=4097
check "what failed is among it" out_has '"status": 6'
is dispatch dispatch toy --output nowhere
check "dispatch: what failed is among it, with its kernel" all \
    'out_has "\"kernel\": \"toy\""' 'out_has "\"size\": null"' \
    'out_has "\"error\": \""' 'out_has "\"status\": [1-9]"'
is dispatch dispatch toy --device replay:h100
check "dispatch: and what concerns no kernel" all \
    'out_has "\"kernel\": null"' 'out_has "\"status\": 1"'
is dispatch dispatch nothing-such
check "dispatch: and a kernel that is not there" \
    out_has '"error": ".*nothing-such'
is explain explain toy --device replay:h100 --size n=4096,m=1
is list list recordings tunings
is score score "$root"/tunings/toy/*.journal.gz --repeats 2 --strategies random
cp "$folder/out" score
is within score "$root"/tunings/toy/*.journal.gz --within 5 --repeats 2 \
    --strategies random
is within score "$root"/tunings/toy/*.journal.gz --from again/toy/*.yaml \
    --repeats 2 --strategies random
check "with what is copied" out_has '"best_of_20"'
cp "$folder/out" within
for change in 's/"optimum_us"/"optimum"/' 's/"score": /"points": /' \
    's/"strategy": "[a-z]*"/"strategy": 3/' 's/"seconds": .*,/"s": 1,/' \
    's/"valid": [0-9]*/"valid": "x"/' 's/"repeats": [0-9]*/"repeats": null/' \
    's/"within_5_percent"/"within_6_percent"/' 's/"curve": \[/"curve": ["x",/'; do
    sed -e "$change" score >changed
    check "score is strict: $change" all '! cmp -s score changed' \
        '! "$build/tests/support/holds" "$schema" changed >"$folder/err"'
done
for change in 's/"best_of_20"/"best"/' 's/"median": [0-9.e+]*/"median": "x"/' \
    's/"worst"/"most"/' 's/"from": false/"from": 0/' \
    's/"recording": /"file": /' 's/"percent": [0-9]*/"percent": "5"/'; do
    sed -e "$change" within >changed
    check "within is strict: $change" all '! cmp -s within changed' \
        '! "$build/tests/support/holds" "$schema" changed >"$folder/err"'
done

# -- progress ------------------------------------------------------------------
FAKE_WORKER_BUSY_MS=40 run tune toy --json --progress --size n=4096 \
    --budget 60 --output slow
check "progress is an object a line" all 'exits 0' \
    'err_has "^{\"format\":\"progress.json/1\",\"kernel\":\"toy\""' \
    'err_has "^{\"format\":\"notice.json/1\",\"text\":\"tuning 1 problem"' \
    '! grep -v "^{" "$folder/err"'
grep -n '' "$folder/err" >lines
check "in the finals of a budget of candidates nobody knows the end" all \
    'err_has "\"phase\":\"search\".*\"left_s\":[0-9]"' \
    'err_lacks "\"phase\":\"finals\".*\"left_s\":[0-9]"' \
    'err_has "\"phase\":\"finals\".*\"left_s\":null"'
wrong=0
while IFS= read -r line; do
    echo "${line#*:}" >line.json
    "$build/tests/support/holds" "$schema" line.json || wrong=$((wrong + 1))
done <lines
check "and each holds by the schema" [ "$wrong" -eq 0 ]
FAKE_WORKER_BUSY_MS=20 run tune toy --json --progress --budget 2s --output both
check "of each run that is together with others" all 'exits 0' \
    '[ "$(grep -c "progress.*n=4096 m=1" "$folder/err")" -ge 3 ]' \
    '[ "$(grep -c "progress.*n=65536 m=3" "$folder/err")" -ge 3 ]'
FAKE_WORKER_DEVICES=H100,A100 FAKE_WORKER_BUSY_MS=20 run tune toy --json \
    --progress --size n=4096 --device all --budget 1s --output models
check "and it is said on which device" all 'exits 0' \
    'err_has "progress.*\"device\":{\"name\":\"Pretended H100\""' \
    'err_has "progress.*\"device\":{\"name\":\"Pretended A100\""'
cp -r both more
FAKE_WORKER_BUSY_MS=40 run tune toy --json --progress --size n=4096 \
    --budget 130 --strategy exhaustive --output more
known=$(sed -n 's/.*resuming: \([0-9]*\) .*/\1/p' "$folder/err")
least=$(sed -n 's/.*"search","done":\([0-9]*\),.*/\1/p' "$folder/err" |
    head -n 1)
check "what is known is done" all 'exits 0' '[ "$least" -ge "$known" ]'
run tune toy --json --progress --device replay:h100 --size n=4096 \
    --size n=4097 --size n=4098 --output again
check "errors are such lines as well" all 'exits 6' \
    '[ "$(grep -c "^{\"format\":\"error.json/1\",\"status\":6," \
        "$folder/err")" -eq 2 ]' '! grep -v "^{" "$folder/err"'
grep '"error.json' "$folder/err" | head -n 1 >line.json
check "and hold by the schema" \
    "$build/tests/support/holds" "$schema" line.json
run tune --json --progress --nothing-such
check "that of a wrong word, too" all 'exits 1' \
    'err_has "^{\"format\":\"error.json/1\",\"status\":1,"' \
    '! grep -v "^{" "$folder/err"'
run tune toy --progress --size n=4096 --budget 5 --output slow
check "--progress alone is refused" all 'exits 1' out_empty \
    'err_has "progress is for programs that read --json"'

# -- the schema is strict ------------------------------------------------------
run show "$folder/t.yaml" --json
cp "$folder/out" good
for change in 's/"kernel": "scale"/"kernel": 7/' 's/"digest"/"digets"/' \
    's/tuning.json.1/tuning.json\/2/' 's/"time_us": [0-9.]*/"time_us": "x"/' \
    's/"name": "Test Device 3000"/"nam": 0/'; do
    sed -e "$change" good >changed
    check "and not another: $change" all '! cmp -s good changed' \
        '! "$build/tests/support/holds" "$schema" changed >"$folder/err"'
done
finish
