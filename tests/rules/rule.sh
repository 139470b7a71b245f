# SPDX-License-Identifier: MIT
#
# Sourced by the scripts of this folder: what a rule came to, as TAP.  A check
# writes a line "RULE FILE:LINE: TEXT" for everything that is wrong.
# shellcheck shell=sh disable=SC2154

number=0
result() { # 'ok'|'not ok' NAME
    number=$((number + 1))
    echo "$1 $number - $2"
}

# The violations planted in a tree, $work/planted, are those seen, $work/seen.
planted_are_seen() {
    if cmp -s "$work/planted" "$work/seen"; then
        result ok 'the rules find what is planted and nothing else'
    else
        diff "$work/planted" "$work/seen" | sed 's/^/# /'
        result 'not ok' 'the rules find what is planted and nothing else'
    fi
}

# What was found in the checkout, $work/real, breaks none of these.
rules_hold() { # RULE...
    for rule; do
        if ! grep -q "^$rule " "$work/planted"; then
            result 'not ok' "$rule: no violation is planted"
        elif grep "^$rule " "$work/real" >"$work/broken"; then
            sed 's/^[a-z_]* /# /' "$work/broken"
            result 'not ok' "$rule"
        else
            result ok "$rule"
        fi
    done
}
