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
    check "bash: a value is the shell's own" bash_has "" tune --budget t
else
    skip "bash" "not here"
fi
if command -v zsh >/dev/null; then
    check "zsh reads its script" zsh -n "$folder/script.zsh"
else
    skip "zsh" "not here"
fi
if command -v fish >/dev/null; then
    fish_has() {
        HOME=$folder fish --no-config -c "source '$folder/script.fish'
            complete -C '$1'" >"$folder/found" 2>&1
        grep -q "^$2" "$folder/found"
    }
    check "fish: an option" fish_has "shmtune tune --stra" --strategy
    check "fish: a verb" fish_has "shmtune insp" inspect
else
    skip "fish" "not here"
fi
finish
