# SPDX-License-Identifier: MIT
#
# What scripts that test share: lines of TAP, conditions, and how it was built.
# Sourced.  `complain`, of whoever sources it, tells more of a check that fails;
# it is given the condition.
# shellcheck shell=sh disable=SC2154

count=0

check() { # NAME CONDITION...
    name=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        complain "$@"
    fi
}

skip() { # NAME REASON
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

skip_all() { # REASON
    echo "1..0 # SKIP $*"
    exit 0
}

finish() { echo "1..$count"; }

# Every one of several conditions, each a word list in one argument.
all() {
    for condition in "$@"; do
        eval "$condition" || {
            echo "# not: $condition"
            return 1
        }
    done
}

no_file() { [ ! -e "$1" ]; }
same() { cmp -s "$1" "$2"; }
lines() { [ "$(grep -c -e "$2" "$1")" -eq "$3" ]; } # FILE PATTERN COUNT

# setting NAME: as configure has found it.
setting() { sed -n "s/^$1 = //p" "$build/Makefile"; }
