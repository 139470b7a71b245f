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

root=$(cd "${SHMT_SRCDIR:-$(dirname "$0")/../..}" && pwd)
links=$root/tests/rules/links.awk
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
        xargs awk -v list="$work/files" -f "$links")
}

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
