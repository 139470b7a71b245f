#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What is printed fits the terminal: no line of any command is wider, at 40, 80,
# 120 and 200 columns, on a pipe and on a terminal; and --wide breaks none.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
unset COLUMNS
device=sm_90-pretended-h100
run toy --strategy exhaustive --record "$root/tunings" --output tunings -j 2
check "there is a run" exits 0
journal=tunings/toy/$device.4096x1.journal
recording=$root/tunings/toy/$device.4096x1.journal.gz

# The columns of the widest line, without colours.
widest() {
    sed 's/\x1b\[[0-9]*m//g; s/\r//g' "$1" |
        awk '{ if (length > most) most = length } END { print most + 0 }'
}
# fits N FILE: and does not because it is empty
fits() { [ -s "$2" ] && [ "$(widest "$2")" -le "$1" ]; }

# Each command that has something to say, a line each.
commands="tune toy --device replay:h100 --output again --budget 40
list
space toy
show tunings/toy/$device.yaml
show $journal
explain toy --device replay:h100 --size n=4096,m=1
check --no-compile $root/kernels/toy.yaml
check --no-compile tunings/toy/$device.yaml $journal
score $recording --repeats 2 --strategies random,annealing
doctor
data toy -o inputs --size n=64"
echo "$commands" >commands
for columns in 40 80 120 200; do
    while read -r words; do
        COLUMNS=$columns run $words
        check "$columns columns: ${words%% *}" fits $columns "$folder/out"
    done <commands
done
COLUMNS=40 run show tunings/toy/$device.yaml
check "a row that has no room is a list" all 'exits 0' \
    'out_has "^  time us  *[0-9.]*$"' 'out_has "^  configuration  BLOCK_X="' \
    '[ "$(grep -c "^  problem " "$folder/out")" -eq 2 ]'
COLUMNS=40 run explain toy --device replay:h100 --size n=4096,m=1
check "what a row is about is one line" all 'exits 0' 'out_has "^time, us$"' \
    'out_has "^  spilled, B a thread$"' 'out_has "^  default  *[0-9.]*$"'
run show tunings/toy/$device.yaml
check "a pipe has 80 columns" all 'exits 0' fits\ 80\ $folder/out \
    'out_has "^    BLOCK_X="'
COLUMNS=80 run list tunings recordings
cp "$folder/out" narrow
check "what is long goes below its row" grep -q '^    /' narrow
for words in "--wide list" "list --wide" "show --wide tunings/toy/$device.yaml"; do
    COLUMNS=40 run $words
    check "--wide has a line a row: $words" all 'exits 0' \
        'out_lacks "^    [/B]"' '! fits 40 "$folder/out"'
done
check "and all columns" all 'out_has "default us"' 'out_has " regs "' \
    'out_has "  measured  rejected "'
long=$folder/my-application/share/kernels-that-were-tuned-for-it-last-year
mkdir -p "$long/kernels" && cp "$root"/kernels/toy.* "$long/kernels"
run check --no-compile "$long"
check "a long path begins beside its outcome" all 'exits 0' \
    fits\ 80\ $folder/out 'out_has "^ok      /.*/$"' \
    'out_has "^  .*toy.yaml: spec of toy: "' 'out_lacks " $"'
COLUMNS=rubbish run show tunings/toy/$device.yaml
check "COLUMNS that is no number is none" fits 80 "$folder/out"
COLUMNS=3 run show tunings/toy/$device.yaml
check "20 is the least" all 'exits 0' 'fits 20 "$folder/out"' \
    '! fits 19 "$folder/out"'

# The terminal's width, not the environment's.
if command -v script >/dev/null && script -qec true /dev/null \
    >/dev/null 2>&1; then
    TERM=xterm
    export TERM
    grep -v '^check\|^score\|^doctor' commands >few
    for columns in 40 80 120 200; do
        while read -r words; do
            COLUMNS=500 script -qec \
                "stty cols $columns; $build/shmtune $words -q" /dev/null \
                >"$folder/out" 2>&1 </dev/null
            check "terminal of $columns columns: ${words%% *}" \
                fits $columns "$folder/out"
        done <few
    done
    script -qec "stty cols 40; $build/shmtune toy --device replay:v100" \
        /dev/null >"$folder/out" 2>&1 </dev/null
    check "a message, too" all 'fits 40 "$folder/out"' 'out_has "error:"'
else
    skip "the terminal's own width" "no script(1) here"
fi
# Characters of two columns, and marks of none.
ten=日日日日日日日日日日 marks=ééééééééééééé    # 13 of each an e and a mark
sed -e '/^summary:/d' -e "/^name:/a summary: \"$ten$ten $marks$marks\"" \
    "$root/kernels/toy.yaml" >wide.yaml
cp wide.yaml "$root/kernels/toy.yaml"
COLUMNS=40 run list kernels
check "a wide character is two columns, a mark none" all 'exits 0' \
    'grep -qx "  summary     ${ten}日日日" "$folder/out"' \
    'grep -qx "              $marks$marks" "$folder/out"'
finish
