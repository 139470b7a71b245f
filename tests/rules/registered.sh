#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Nothing is forgotten: every strategy is in the registry, every command in
# the list, every kernel is a pair of files, and whatever lies in a folder is
# named in a module.am, so that it is built, tested and distributed.  Each rule
# is first tried on a planted tree.  TAP.
set -eu
LC_ALL=C
export LC_ALL

root=${SHMT_SRCDIR:-$(dirname "$0")/../..}
work=$(mktemp -d "${TMPDIR:-/tmp}/registered.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Is $1, or a folder it is in, a word of a build file?  Recipes name the first
# folders, which nobody lists as a whole.
listed() {
    name=$1
    while [ "$name" != "${name%/*}" ]; do
        grep -qxF "$name" "$work/words" && return 0
        name=$(dirname "$name")
    done
    return 1
}

check_strategies() {
    for file in search/*.c; do
        name=$(sed -n 's/^const struct shmt_strategy shmt_strategy_\([a-z0-9_]*\) = *{*$/\1/p' \
            "$file")
        [ -n "$name" ] || continue
        [ "search/$name.c" = "$file" ] ||
            echo "strategies $file: defines the strategy $name"
        grep -q "X($name)" search/registry.h ||
            echo "strategies $file: $name is not in search/registry.h"
    done
    # A strategy that the line above does not see would slip through.
    for name in $(sed -n 's/^ *X(\([a-z0-9_]*\)).*/\1/p' search/registry.h); do
        grep -q "^const struct shmt_strategy shmt_strategy_$name = *{*$" \
            "search/$name.c" 2>/dev/null ||
            echo "strategies search/registry.h: no $name in search/$name.c"
    done
}

check_commands() {
    for file in src/command/*.c; do
        for name in $(sed -n 's/^const struct shmt_command shmt_command_\([a-z0-9_]*\) = *{*$/\1/p' \
            "$file"); do
            [ "src/command/$name.c" = "$file" ] ||
                echo "commands $file: defines the command $name"
            grep -q "X($name)" src/command/command.h ||
                echo "commands $file: $name is not in command.h"
        done
    done
}

check_kernels() {
    for file in kernels/*; do
        [ -e "$file" ] || continue
        case $file in
        *.cu) pair=${file%.cu}.yaml ;;
        *.yaml) pair=${file%.yaml}.cu ;;
        */README.md | */plots | */module.am) continue ;;
        *.cuh)
            grep -qF "#include \"$(basename "$file")\"" kernels/*.cu ||
                echo "kernels $file: no .cu includes it"
            continue
            ;;
        *)
            echo "kernels $file: neither a .cu, a .cuh nor a .yaml"
            continue
            ;;
        esac
        [ -f "$pair" ] || echo "kernels $file: there is no $pair"
        case $file in
        *.yaml)
            name=$(basename "$file" .yaml)
            grep -qx "name: $name" "$file" ||
                echo "kernels $file: its name is not $name"
            ;;
        esac
    done
}

# Folders of tunings are those of kernels.
check_tunings() {
    for folder in tunings/*/; do
        [ -d "$folder" ] || continue
        name=$(basename "$folder")
        [ -f "kernels/$name.yaml" ] ||
            echo "tunings $folder: there is no kernels/$name.yaml"
    done
}

# By their endings: a build inside the source folder leaves others there.
check_listed() {
    find src search kernels tunings tests docs examples -type f ! -path '*/.*' 2>/dev/null |
        grep -E '\.(c|h|cc|cu|cuh|inc|yaml|sh|py|journal|gz|md|svg|csv)$' | sort |
        while read -r file; do
            listed "$file" || echo "listed $file: is in no module.am"
        done
}

check_exists() {
    grep -E '^(src|search|kernels|tunings|tests|docs|examples)/[A-Za-z0-9_./-]*\.[a-z]+$' \
        "$work/words" | grep -v '\.l[ao]$' | sort -u |
        while read -r file; do
            [ -e "$file" ] || [ -e "$file.in" ] ||
                echo "exists module.am: there is no $file"
        done
}

check_tests() {
    for file in tests/unit/*/test_*.c; do
        name=${file%.c}
        [ -e "$file" ] || continue
        grep -qxF "$name" "$work/words" ||
            echo "tests $file: no program $name in a module.am"
    done
    for file in tests/rules/*.sh tests/cli/*.sh; do
        [ -x "$file" ] || [ ! -e "$file" ] ||
            echo "tests $file: cannot be executed"
    done
}

# Writes "RULE FILE: TEXT" for what is forgotten in tree $1.
check() {
    # %D% is the folder of the file that says so.
    {
        (cd "$1" && find ./*/ -name module.am ! -path './build*') |
            while read -r file; do
                folder=${file#./}
                sed "s,#.*,,; s,%D%,${folder%/module.am},g" "$1/$file"
            done
        sed 's/#.*//' "$1/Makefile.am"
    } | tr -s ' \t\\=' '\n\n\n\n' >"$work/words"
    (
        cd "$1"
        for rule in $rules; do
            check_"$rule"
        done
    )
}

rules='strategies commands kernels tunings listed exists tests'

# A tree with one of each fault.
mkdir "$work/tree"
(
    cd "$work/tree"
    mkdir -p search src/base src/command kernels tunings/a tunings/lost \
        tests/cli tests/corpus tests/unit/base
    printf '    X(%s)\n' good gone >search/registry.h
    for name in good unlisted; do
        echo "const struct shmt_strategy shmt_strategy_$name = {" \
            >search/$name.c
    done
    echo 'const struct shmt_strategy shmt_strategy_good = {' >search/other.c
    for name in a b; do
        echo "const struct shmt_command shmt_command_$name = {" \
            >src/command/$name.c
    done
    echo '    X(a)' >src/command/command.h
    echo 'name: a' >kernels/a.yaml
    echo 'name: a' >kernels/b.yaml
    mkdir kernels/plots
    echo '#include "a_part.cuh"' >kernels/a.cu
    touch kernels/b.cu kernels/c.cu kernels/README kernels/README.md \
        kernels/a_part.cuh kernels/lost.cuh kernels/plots/lost.svg \
        tunings/a/t.yaml tunings/lost/t.yaml src/base/a.c src/base/lost.c \
        tests/unit/base/test_a.c tests/unit/base/test_b.c tests/corpus/x tests/cli/a.sh \
        tests/lost.cuh src/base/b.h.in
    cat >Makefile.am <<'AM'
x_SOURCES = search/good.c search/unlisted.c search/other.c \
	search/registry.h
# src/base/lost.c
dist_DATA = kernels/a.cu kernels/a.yaml kernels/b.cu kernels/b.yaml \
	kernels/c.cu kernels/README kernels/README.md kernels/a_part.cuh \
	kernels/lost.cuh tunings/a/t.yaml tunings/lost/t.yaml
EXTRA_DIST = tests/corpus tests/cli/a.sh
tmp:
	mkdir -p tests src
AM
    echo 'x_SOURCES += %D%/a.c %D%/b.c %D%/command.h' >src/command/module.am
    echo 'x_SOURCES += %D%/a.c %D%/b.h' >src/base/module.am
    cat >tests/unit/base/module.am <<'AM'
check_PROGRAMS = %D%/test_a
%C%_test_a_SOURCES = %D%/test_a.c src/base/gone.c
EXTRA_DIST += %D%/test_b.c
AM
)
cat >"$work/planted" <<'EOF'
commands src/command/b.c: b is not in command.h
exists module.am: there is no src/base/gone.c
kernels kernels/README: neither a .cu, a .cuh nor a .yaml
kernels kernels/b.yaml: its name is not b
kernels kernels/c.cu: there is no kernels/c.yaml
kernels kernels/lost.cuh: no .cu includes it
listed kernels/plots/lost.svg: is in no module.am
listed src/base/lost.c: is in no module.am
listed tests/lost.cuh: is in no module.am
strategies search/other.c: defines the strategy good
strategies search/registry.h: no gone in search/gone.c
strategies search/unlisted.c: unlisted is not in search/registry.h
tests tests/cli/a.sh: cannot be executed
tests tests/unit/base/test_b.c: no program tests/unit/base/test_b in a module.am
tunings tunings/lost/: there is no kernels/lost.yaml
EOF

check "$work/tree" | sort >"$work/found"
check "$root" >"$work/real"

number=0
result() {
    number=$((number + 1))
    echo "$1 $number - $2"
}
if diff "$work/planted" "$work/found" >"$work/difference"; then
    result ok 'the rules find what is planted and nothing else'
else
    sed 's/^/# /' "$work/difference"
    result 'not ok' 'the rules find what is planted and nothing else'
fi
for rule in $rules; do
    if grep "^$rule " "$work/real" >"$work/broken"; then
        sed "s/^$rule /# /" "$work/broken"
        result 'not ok' "$rule"
    else
        result ok "$rule"
    fi
done
echo "1..$number"
