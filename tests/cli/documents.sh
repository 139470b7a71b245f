#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the documents print is what the command prints: every ```console block
# of a page is typed, one line after the other in one folder, and the output is
# compared.  Times, counts of workers and versions may differ; "..." in a page
# stands for lines that it leaves out.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

SHMTUNE_PATH=$source
PATH=$build:$PATH
COLUMNS=80    # as wide as a page
export PATH

run inspect transpose --limit 1 --arch sm_90
if ! out_has 'NVRTC 13\.0'; then
    echo '1..0 # SKIP the pages show what NVRTC 13.0 reports'
    exit 0
fi

# Splits page $1 into $typed/N, a command, and $typed/N.page, what it prints.
split_page() {
    rm -rf "$typed"
    mkdir "$typed"
    awk -v folder="$typed" '
        /^```console$/ { inside = 1; next }
        /^```$/ { inside = 0 }
        inside && /^\$ / {
            file = sprintf("%s/%03d", folder, ++count)
            print substr($0, 3) >file
            printf "" >(file ".page")
            next
        }
        inside { print >(file ".page") }' "$1"
}

# What may differ from machine to machine, made the same; what it is about is
# said where it takes long.
same() {
    sed -e '/^shmtune: .*: [0-9]* s$/d' \
        -e '/^[a-z_]* *[a-z]*=.*  [0-9]*\/[0-9]*\( .*\)*$/d' \
        -e 's/enumerated in [0-9.]* ms/enumerated in T ms/' \
        -e 's/ in [0-9.]* s with [0-9]* workers/ in T s with W workers/' "$1"
}

# Are the lines of $1 those of page $2, where "..." is any number of lines?
agree() {
    awk -v page="$2" '
        BEGIN {
            while ((getline line <page) > 0)
                wanted[++count] = line
            at = 1
        }
        at <= count && wanted[at] == "..." { open = 1; at++ }
        at <= count && $0 == wanted[at] { at++; open = 0; next }
        !open { exit failed = 1 }
        END {
            if (wanted[at] == "...")
                at++
            exit failed || at <= count
        }' "$1"
}

typed=$folder/typed
# page FILE FOLDER: types FILE in a copy of FOLDER.
page() {
    split_page "$source/$1"
    rm -rf "$folder/at"
    cp -R "$source/$2" "$folder/at"
    chmod -R u+w "$folder/at"
    for line in "$typed"/*.page; do
        line=${line%.page}
        (cd "$folder/at" && sh "$line") >"$folder/all" 2>&1 </dev/null
        status=$?
        same "$folder/all" >"$folder/out"
        same "$line.page" >"$folder/err"
        check "$1: $(cat "$line")" agree "$folder/out" "$folder/err"
    done
}

page docs/tutorial.md examples/scale
page examples/kernel_tuner/README.md examples/kernel_tuner

# The tutorial's spec and kernel are the files that it speaks of.
for file in scale.yaml scale.cu; do
    case $file in *.cu) language=cuda ;; *) language=yaml ;; esac
    awk -v language="$language" '
        $0 == "```" language { inside = 1; next }
        /^```$/ { inside = 0 }
        inside' "$source/docs/tutorial.md" >"$folder/page"
    sed -e '/^\/\*.*\*\/$/d' -e '/^\/\*/,/\*\/$/d' \
        "$source/examples/scale/$file" |
        diff - "$folder/page" >"$folder/out"
    status=$?
    check "docs/tutorial.md quotes $file" exits 0
done
finish
