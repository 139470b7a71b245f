#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Hostile specs end with exit status 2 and a place, never otherwise.  What is
# cut or flipped byte by byte is tests/unit/kernel/test_kernel.c's business; here a few
# go all the way through the command.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

bad=$folder/bad.yaml
cp "$data/scale.cu" "$data/scale.h" "$folder/"

# refused NAME PLACE: $bad is, by every command that reads specs
refused() {
    run space "$bad"
    check "$1" all "exits 2" out_empty "err_has '^shmtune: error: $bad:$2: '" \
        "[ $(wc -l <"$folder/err") -eq 1 ]"
}

: >"$bad"
refused "nothing" "1:1"
printf 'format: kernel/1\nname: x\0y\n' >"$bad"
refused "a NUL byte" "2:[0-9]*"
printf 'format: kernel/1\nname: \377\n' >"$bad"
refused "not UTF-8" "2:[0-9]*"
head -c 2000000 /dev/zero | tr '\0' '[' >"$bad"
run space "$bad"
check "two million brackets" all "exits 5 || exits 2" out_empty
head -c 100000 /dev/zero | tr '\0' '[' >"$bad"
refused "a hundred thousand brackets" "1:[0-9]*"
awk 'BEGIN { for (i = 0; i < 1000; i++) { printf "%*sa:\n", i, "" } }' >"$bad"
refused "a thousand levels" "[0-9]*:[0-9]*"
: >"$bad"
run show "$bad"
check "nothing, as any file of ours" all "exits 2" \
    "err_has '$bad:1:1: found nothing, expected a spec, a tuning or'"
for mark in '\357\273\277' '\377\376'; do
    # shellcheck disable=SC2059
    { printf "$mark"; cat "$data/scale.yaml"; } >"$bad"
    refused "a byte order mark" "1:1"
    for words in show "check --no-compile"; do
        # shellcheck disable=SC2086
        run $words "$bad"
        check "$words: says how to save it" all "exits 2" \
            "cat '$folder/out' '$folder/err' | grep -q 'bad.yaml:1:1: .*save the file as UTF-8'"
    done
done
sed 's/^summary: .*/summary: \&a deep/' "$data/scale.yaml" >"$bad"
refused "an anchor" "3:10"
sed 's/^summary: .*/summary: *a/' "$data/scale.yaml" >"$bad"
refused "an alias" "3:10"
sed 's/^summary: .*/summary: !!str a/' "$data/scale.yaml" >"$bad"
refused "a tag" "3:10"
sed 's/^summary: .*/name: scale/' "$data/scale.yaml" >"$bad"
refused "a key that comes twice" "3:1"
sed 's/^summary: .*/sumary: scale/' "$data/scale.yaml" >"$bad"
refused "a key that is unknown" "3:1"
check "names the one that is meant" err_has '"summary"'
sed 's/default: 1000/default: 1e99/' "$data/scale.yaml" >"$bad"
refused "a huge number" "6:[0-9]*"
sed 's/default: 1000/default: 99999999999999999999999/' "$data/scale.yaml" \
    >"$bad"
refused "a huger one" "6:[0-9]*"
sed 's/default: 1000/default: [1000]/' "$data/scale.yaml" >"$bad"
refused "a list for a number" "6:[0-9]*"
sed 's/- BLOCK <= n/- BLOCK <= n ** 99999/' "$data/scale.yaml" >"$bad"
refused "a power that overflows" "18:[0-9]*"
sed 's/- BLOCK <= n/- BLOCK <= n \/\/ (PAD * 0)/' "$data/scale.yaml" >"$bad"
refused "a division by zero" "18:[0-9]*"
{
    printf 'format: kernel/1\nname: x\nparameters:\n  A: {values: [1]}\n'
    printf 'constraints:\n- '
    head -c 60000 /dev/zero | tr '\0' '('
} >"$bad"
refused "sixty thousand parentheses" "6:[0-9]*"
{
    cat "$data/scale.yaml"
    printf -- '---\nname: more\n'
} >"$bad"
refused "a second document" "[0-9]*:1"

size=$(wc -c <"$data/scale.yaml")
codes=
for at in 1 10 100 200 400 600 800 1000; do
    head -c $((at < size ? at : size - 1)) "$data/scale.yaml" >"$bad"
    run space "$bad"
    codes="$codes $status"
done
check "cut here and there" [ "$codes" = " 2 2 2 2 2 2 2 2" ]

head -c 1048577 /dev/zero | tr '\0' '#' >"$bad"
run space "$bad"
check "larger than any spec" all "exits 5" out_empty "err_has 1048576"
run space "$folder/"
check "a folder" all "exits 5" out_empty
mkfifo "$folder/pipe.yaml"
run space "$folder/pipe.yaml"
check "a pipe that nobody writes to" all "exits 5" out_empty
finish
