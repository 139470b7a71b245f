#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The documents hang together: no relative link in a .md file is dead, neither
# its file nor its #heading; and the README stays a door, 200 lines at most.
# Each rule is first tried on a planted tree.  Links to other sites are not
# tried.  TAP.
set -eu
LC_ALL=C
export LC_ALL

root=${SHMT_SRCDIR:-$(dirname "$0")/../..}
work=$(mktemp -d "${TMPDIR:-/tmp}/links.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The files of tree $1: those that git knows, where it is asked in a clone.
files() {
    git -C "$1" ls-files --cached --others --exclude-standard 2>/dev/null ||
        (cd "$1" && find . -type f ! -path './build*' ! -path './deps/*' \
            ! -path './.git/*') | sed 's,^\./,,'
}

# Writes "RULE FILE:LINE: TEXT" for everything that is wrong in tree $1.
check() {
    files "$1" | sort -u >"$work/files"
    (cd "$1" && grep '\.md$' "$work/files" | xargs ls -d 2>/dev/null |
        xargs awk -v list="$work/files" -f "$work/links.awk")
}

cat >"$work/links.awk" <<'AWK'
# Every file is read twice: first for its headings, then for its links.
BEGIN {
    while ((getline file < list) > 0) {
        there[file] = 1
        while (sub(/\/[^\/]*$/, "", file))
            there[file] = 1
    }
    for (k = 1; k < ARGC; k++)
        ARGV[ARGC + k - 1] = ARGV[k]
    count = ARGC - 1
    ARGC += count
}

function report(rule, text)
{
    printf "%s %s:%d: %s\n", rule, FILENAME, FNR, text
}

# What a heading's anchor is, as the sites that show Markdown make it.
function anchor(text)
{
    gsub(/\]\([^)]*\)/, "", text)
    text = tolower(text)
    gsub(/[^a-z0-9 _\200-\377-]/, "", text)
    gsub(/ /, "-", text)
    return text
}

# "docs/a/../b.md" without its "..".
function straight(path,    part, n, k, m, kept, out)
{
    n = split(path, part, "/")
    m = 0
    for (k = 1; k <= n; k++) {
        if (part[k] == "" || part[k] == ".")
            continue
        if (part[k] == ".." && m > 0)
            m--
        else
            kept[++m] = part[k]
    }
    out = m == 0 ? "." : kept[1]
    for (k = 2; k <= m; k++)
        out = out "/" kept[k]
    return out
}

function follow(target,    file, heading)
{
    sub(/[ ]+"[^"]*"$/, "", target)
    if (target ~ /^[a-z][a-z0-9+.-]*:/)
        return
    heading = ""
    if (target ~ /#/) {
        heading = target
        sub(/^[^#]*#/, "", heading)
        sub(/#.*/, "", target)
    }
    file = FILENAME
    if (target != "") {
        if (!sub(/\/[^\/]*$/, "", file))
            file = "."
        file = straight(file "/" target)
        if (file != "." && !(file in there)) {
            report("links", "there is no " file)
            return
        }
    }
    if (heading != "" && file ~ /\.md$/ && !((file, heading) in headings))
        report("anchors", file " has no heading #" heading)
}

FNR == 1 {
    if (++read > count)
        second = 1
    fence = ""
}
FILENAME == "README.md" && FNR == 201 && second {
    report("length", "more than 200 lines")
}
# Fenced blocks are code.
match($0, /^ *(```+|~~~+)/) {
    mark = substr($0, RSTART, RLENGTH)
    gsub(/ /, "", mark)
    if (fence == "")
        fence = mark
    else if (index(mark, fence) == 1)
        fence = ""
    next
}
fence != "" { next }
!second && /^#+ / {
    text = $0
    sub(/^#+ +/, "", text)
    text = anchor(text)
    times = seen[FILENAME, text]++
    headings[FILENAME, times == 0 ? text : text "-" times] = 1
}
second {
    text = $0
    gsub(/`[^`]*`/, "", text)
    sub(/^ *\[[^]]*\]: +/, "](", text) && sub(/$/, ")", text)
    while (match(text, /\]\([^()]*(\([^()]*\))?[^()]*\)/)) {
        follow(substr(text, RSTART + 2, RLENGTH - 3))
        text = substr(text, RSTART + RLENGTH)
    }
}
AWK

rules='links anchors length'

# What is wrong, with the rule in a comment at the end of the line, and what
# looks like it and is not.
mkdir -p "$work/tree/docs/media"
cat >"$work/tree/README.md" <<'MD'
# The `door`: a (small) one

[a page](docs/page.md), [its end](docs/page.md#the-end), [itself](#the-door-a-small-one)
[a folder](docs), [a picture ![p](docs/media/p.svg)](docs/media/p.svg)
[another site](https://example.org/none.md), `[code](none.md)`
[gone](docs/gone.md) <!--links-->
[fine](docs/page.md) and [gone](none/) <!--links-->
![gone](docs/media/q.svg) <!--links-->
[no such heading](docs/page.md#the-begin) <!--anchors-->
[nor here](#nowhere) <!--anchors-->

```sh
[code](none.md)
```
MD
while [ "$(wc -l <"$work/tree/README.md")" -lt 200 ]; do
    echo
done >>"$work/tree/README.md"
echo 'too long <!--length-->' >>"$work/tree/README.md"
cat >"$work/tree/docs/page.md" <<'MD'
## The end
## The end
[up](../README.md#the-door-a-small-one) [again](#the-end-1) [see][there]
[and](#the-end-2) <!--anchors-->
[there]: ../docs/page.md
[away]: ../../page.md <!--links-->
MD
echo '<svg/>' >"$work/tree/docs/media/p.svg"

check "$work/tree" | sed 's/\(:[0-9]*\): .*/\1/' | sort -u >"$work/seen"
(cd "$work/tree" && grep -rn -o '<!--[a-z]*-->' ./*.md docs/*.md |
    sed 's,^\./,,; s/\(.*\):<!--\(.*\)-->/\2 \1/') | sort >"$work/planted"
check "$root" >"$work/real"

. "$root/tests/rules/rule.sh"
planted_are_seen
# shellcheck disable=SC2086
rules_hold $rules
echo "1..$number"
