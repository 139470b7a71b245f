# SPDX-License-Identifier: MIT
#
# What is wrong with the links of Markdown files: a line "RULE FILE:LINE: TEXT"
# each.  The files are named from the tree's root, and `list` has all that are
# there.  Every file is read twice: first for its headings, then for its links.
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
