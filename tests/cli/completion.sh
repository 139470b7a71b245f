#!/bin/sh
# SPDX-License-Identifier: MIT
# What shells complete the words of shmtune by: in bash, and where they are
# there in zsh and fish.
. "$(dirname "$0")/tap.sh"

for shell in bash zsh fish; do
    run completion "$shell"
    check "a script for $shell" all "exits 0" err_empty "out_has shmtune"
    cp "$folder/out" "$folder/script.$shell"
done
run completion kernels
check "the names of kernels" all "exits 0" "out_has '^scale$'"
run completion strategies
check "the names of strategies" all "exits 0" "out_has '^model$'"
run completion csh
check "another shell is refused" all "exits 1" out_empty "err_has csh"
run completion
check "no word is refused" all "exits 1" out_empty

# Each option of a command's help, and no other verb's.
missing=
for verb in tune list space inspect show explain init check doctor score \
    import export data; do
    run "$verb" --help
    words=$(sed -n 's/^  \(-., \)*\(--[a-z-]*\).*/\2/p' "$folder/out")
    line=$(sed -n "/^    $verb)/{n;p;}" "$folder/script.bash")
    for word in $words; do
        case "$line'" in
        *" $word "* | *" $word'"*) ;;
        *) missing="$missing $verb:$word" ;;
        esac
    done
done
check "each option of each verb is there$missing" test -z "$missing"
# What is said of an option is its own, and whole.
sed -n "s/^ *'[*]*-[-a-z]*\[\(.*\)\]:*.*/\1/p" "$folder/script.zsh" \
    >"$folder/said"
check "each option says what it does" sh -c '[ "$(wc -l <"$1")" -gt 150 ] &&
    ! grep -e "^--" -e "^\$" -e "([^)]*\$" "$1"' sh "$folder/said"
check "no verb has another's" \
    sh -c "sed -n '/^    list)/{n;p;}' '$folder/script.bash' |
           { ! grep -q -e --budget; }"

# bash_has WORD... ANSWERS: the last word is completed to these.
bash_has() {
    wanted=$1
    shift
    found=$(SCRIPT=$folder/script.bash bash -c '. "$SCRIPT"
        shmtune() { "$PROGRAM" "$@"; }
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _shmtune "$PROGRAM"
        echo "${COMPREPLY[*]}"' bash shmtune "$@")
    [ "$found" = "$wanted" ] || {
        echo "# $*: \"$found\", expected \"$wanted\"" >&2
        return 1
    }
}
PROGRAM=$build/shmtune
export PROGRAM
if command -v bash >/dev/null; then
    check "bash: a verb" bash_has "inspect init import" i
    check "bash: an option" bash_has --strategy tune --stra
    check "bash: an option of tune, which may be left out" \
        bash_has --budget --bud
    check "bash: a flag in the form that it has" \
        bash_has "--no-compile --no-color" check --no
    check "bash: a strategy" bash_has hill score --strategies h
    check "bash: a kernel" bash_has scale tune scal
    check "bash: a kernel where no verb is" bash_has scale scal
    check "bash: a kernel that is checked" bash_has scale check scal
    for verb in show report score import init doctor; do
        check "bash: $verb takes no kernel, but files" bash_has "" $verb scal
    done
    check "bash: the words of a verb" bash_has "recordings" list rec
    check "bash: those of completion" bash_has "zsh" completion z
    check "bash: a value is the shell's own" bash_has "" tune --budget t
    check "bash: also behind a colon, where it parts words" \
        bash_has "" tune --device file : s
    check "bash: and at one" bash_has "" tune --device file :
    for name in zz_1-one.1024.journal.gz zz_2.journal \
        zz_1-one.2048.journal.gz; do
        : >"$root/tunings/scale/$name"
    done
    check "bash: a recorded device, each once" bash_has \
        "replay:zz_2 replay:zz_1-one" tune --device replay:zz
    check "bash: by the short option" bash_has replay:zz_2 explain -d replay:zz_2
    check "bash: behind a colon" bash_has "zz_2 zz_1-one" tune --device replay : zz
    run completion recordings
    sed 's/^replay://' "$folder/out" | tr '\n' ' ' | sed 's/ $//' >"$folder/names"
    check "bash: and at one, all" \
        bash_has "$(cat "$folder/names")" tune --device replay :
    check "bash: nothing else is such" bash_has "" tune --device file : zz
    check "bash: nor where none is of use" bash_has "" dispatch --device replay:
else
    skip "bash" "not here"
fi
if command -v zsh >/dev/null; then
    check "zsh reads its script" zsh -n "$folder/script.zsh"
    check "zsh: kernels, files and words" sh -c "
        sed -n '/^    show)/,/;;/p' '$folder/script.zsh' |
            grep -q \"'[*]:word:_files' ;;\" &&
        sed -n '/^    explain)/,/;;/p' '$folder/script.zsh' |
            grep -q \"'[*]:word:_shmtune_words' ;;\" &&
        sed -n '/^    list)/,/;;/p' '$folder/script.zsh' |
            grep -q \"'[*]:word:(kernels tunings .*)' ;;\""
else
    skip "zsh" "not here"
fi
if command -v fish >/dev/null; then
    fish_has() {
        HOME=$folder PATH=$build:$PATH fish --no-config -c "source '$folder/script.fish'
            complete -C '$1'" >"$folder/found" 2>&1
        grep -q "^$2" "$folder/found"
    }
    check "fish: an option" fish_has "shmtune tune --stra" --strategy
    check "fish: a verb" fish_has "shmtune insp" inspect
    check "fish: a kernel" fish_has "shmtune inspect sca" scale
    fish_has "shmtune show sca" scale
    check "fish: show takes none" test $? -ne 0
    check "fish: the words of a verb" fish_has "shmtune list rec" recordings
else
    skip "fish" "not here"
fi
finish
