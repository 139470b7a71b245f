#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Who may know whom, and the budgets: what the README says of the layout, held
# over src/ and search/, the looks of a file over kernels/ and its length over
# tests/ too.  Each rule is first tried on a planted tree, where it must find
# what is wrong and nothing else.  TAP.
set -eu
LC_ALL=C
export LC_ALL

root=${SHMT_SRCDIR:-$(dirname "$0")/..}
work=$(mktemp -d "${TMPDIR:-/tmp}/check_layout.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Writes "RULE FILE:LINE: TEXT" for everything that breaks a rule in tree $1.
check() {
    (cd "$1" && {
        find src search -name '*.[ch]' -type f
        find kernels -name '*.cu*' -type f
        # Not what a build leaves in hidden folders.
        find tests -type f ! -path '*/.*' | grep -E '\.(c|h|cu|cuh|py|sh)$'
    } | sort | xargs awk -f "$work/rules.awk")
}

cat >"$work/rules.awk" <<'AWK'
function report(rule, text)
{
    printf "%s %s:%d: %s\n", rule, FILENAME, FNR, text
}

# The layer of a file: core, gpu, tune, runtime, search, kernels, or top for
# src/*.
function layer_of(file)
{
    if (file ~ /^search\//)
        return "search"
    if (file ~ /^src\/[^\/]*$/)
        return "top"
    sub(/^src\//, "", file)
    sub(/\/.*/, "", file)
    return file
}

# The line without comments and without what strings contain.
function code_of(line,    out, c, two, k, n)
{
    out = ""
    n = length(line)
    for (k = 1; k <= n; k++) {
        c = substr(line, k, 1)
        two = substr(line, k, 2)
        if (in_comment) {
            if (two == "*/") {
                in_comment = 0
                k++
            }
        } else if (two == "/*") {
            in_comment = 1
            k++
            out = out " "
        } else if (two == "//") {
            break
        } else if (c == "\"" || c == "'") {
            out = out c
            for (k++; k <= n && substr(line, k, 1) != c; k++)
                if (substr(line, k, 1) == "\\")
                    k++
            out = out c
        } else {
            out = out c
        }
    }
    return out
}

function check_own_include(name,    target)
{
    target = name
    if (name == "shmtune.h" || name == "config.h")
        return
    if (name !~ /\//)
        target = layer == "top" ? "top" : "search"
    else
        sub(/\/.*/, "", target)
    if (target == "search" || target == layer || target == "core") {
        # Plain names are search's own; its public header is for tune too.
        if (target == "search" && layer != "search" &&
            !(layer == "tune" && name == "search.h"))
            report("layers", name)
        return
    }
    if (layer == "top" || (layer == "runtime" && target == "gpu"))
        return
    report("layers", name)
}

function check_system_include(name)
{
    if (name == "yaml.h" && FILENAME != "src/core/yaml.c")
        report("yaml", name)
    if (name == "dlfcn.h" && layer != "gpu")
        report("dlopen", name)
    if (name == "jansson.h" && FILENAME !~ /^src\/cmd_[a-z_]*\.[ch]$/ &&
        FILENAME !~ /^src\/tune\/(im|ex)port[a-z0-9_]*\.[ch]$/)
        report("jansson", name)
    if (name == "zlib.h" && layer != "tune")
        report("zlib", name)
    if (name ~ /^(cuda|nvrtc)/ && layer != "gpu" &&
        !(name == "cuda_occupancy.h" && FILENAME == "src/core/occupancy.c"))
        report("cuda", name)
    if (layer == "search" &&
        name ~ /^(stdio|unistd|fcntl|dirent|pthread|sys\/.*|time)\.h$/)
        report("search_io", name)
}

function calls(code, names)
{
    return code ~ ("(^|[^A-Za-z0-9_.>])(" names ")[ ]*\\(")
}

FNR == 501 { report("file_length", "more than 500 lines") }
# Of tests only that.
FILENAME ~ /^tests\// { next }
FNR == 1 {
    layer = layer_of(FILENAME)
    in_comment = 0
    if ($0 !~ /^\/\* SPDX-License-Identifier: MIT \*\/$/)
        report("spdx", $0)
    if (FILENAME ~ /(^|[\/_])(util|utils|common|misc|helper|helpers)[._]/)
        report("names", "say what it is for")
}
{
    wide = $0
    gsub(/[\200-\277]/, "", wide)       # characters, not bytes
    if (length(wide) > 80)
        report("line_length", length(wide) " characters")
    if (/\t/ || / $/)
        report("blanks", "a tab, or a blank at the end of the line")
    if (layer == "kernels")
        next
    code = code_of($0)
}
!in_comment && /^[ ]*#[ ]*include[ ]*"/ {
    name = $0
    sub(/^[^"]*"/, "", name)
    sub(/".*/, "", name)
    check_own_include(name)
    next
}
!in_comment && /^[ ]*#[ ]*include[ ]*</ {
    name = $0
    sub(/^[^<]*</, "", name)
    sub(/>.*/, "", name)
    check_system_include(name)
    next
}
calls(code, "dlopen|dlmopen|dlsym|dlvsym") && layer != "gpu" {
    report("dlopen", code)
}
calls(code, "execv|execve|execvp|execvpe|execl|execle|execlp|fexecve|" \
      "posix_spawn|posix_spawnp|fork|vfork") &&
FILENAME != "src/tune/worker.c" {
    report("exec", code)
}
calls(code, "system|popen") { report("exec", code) }
(calls(code, "printf|vprintf|puts|putchar|perror") ||
 code ~ /(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)/) &&
FILENAME !~ /^src\/(main|cmd_[a-z_]*)\.c$/ {
    report("printf", code)
}
calls(code, "exit|quick_exit|abort|_Exit|assert") &&
FILENAME != "src/main.c" {
    report("exit", code)
}
# After a fork there is no other way out.
calls(code, "_exit") && FILENAME != "src/tune/worker.c" {
    report("exit", code)
}
calls(code, "gets|strcpy|strcat|sprintf|vsprintf|strtok|alloca|setjmp|" \
      "longjmp") {
    report("unsafe", code)
}
AWK

rules='layers yaml dlopen jansson zlib cuda search_io exec printf exit unsafe
spdx names file_length line_length blanks'

# plant FILE LINE...: a file that breaks the rules its lines break.
plant() {
    file=$work/tree/$1
    shift
    mkdir -p "$(dirname "$file")"
    {
        echo '/* SPDX-License-Identifier: MIT */'
        printf '%s\n' "$@"
    } >"$file"
}

# What is wrong, with the rule at the end of its line ...
wide='int a; /* 789 123456789 123456789 123456789 123456789 123456789 1234 */'
plant src/core/a.c '#include "gpu/a.h" /*layers*/' \
    '#include <yaml.h> /*yaml*/' '#include <dlfcn.h> /*dlopen*/' \
    '#include "search.h" /*layers*/' '#include <cuda.h> /*cuda*/' \
    'x = dlsym(h, "a"); /*dlopen*/' 'printf("a"); /*printf*/' \
    'fputs("a", stderr); /*printf*/' 'exit(1); /*exit*/' \
    "$wide /*line_length*/" 'execv(a, b); /*exec*/' 'fork(); /*exec*/' \
    '	x; /*blanks*/' 'strcpy(a, b); /*unsafe*/' '_exit(1); /*exit*/' \
    '#include <zlib.h> /*zlib*/' 'abort(); /*exit*/' \
    '#include <cuda_occupancy.h> /*cuda*/' '#include <jansson.h> /*jansson*/'
plant src/tune/a.c '#include "gpu/a.h" /*layers*/' \
    '#include "strategies.h" /*layers*/' '#include "runtime/a.h" /*layers*/' \
    'system("a"); /*exec*/' '#include <nvrtc.h> /*cuda*/'
plant src/runtime/a.c '#include "tune/a.h" /*layers*/' \
    '#include "search.h" /*layers*/' 'popen(a, b); /*exec*/'
plant src/gpu/a.c '#include "tune/a.h" /*layers*/' '#include <zlib.h> /*zlib*/'
plant search/a.c '#include "gpu/a.h" /*layers*/' \
    '#include "tune/a.h" /*layers*/' '#include <stdio.h> /*search_io*/'
plant src/core/string_util.c
# lengthen FILE COUNT: to so many lines.
lengthen() {
    i=$(wc -l <"$work/tree/$1")
    while [ "$i" -lt "$2" ]; do
        echo "int a$i;"
        i=$((i + 1))
    done >>"$work/tree/$1"
}
for name in src/core/long.c kernels/long.cu kernels/long.cuh tests/long.c tests/long.h tests/bench/long.cu \
    tests/bench/long.cuh tests/bench/long.py tests/cli/long.sh; do
    plant "$name"
    lengthen "$name" 500
    echo '/*file_length*/ int b;' >>"$work/tree/$name"
done
plant kernels/a.cuh "$wide /*line_length*/" '	x; /*blanks*/'
echo 'int a; /*spdx*/' >"$work/tree/src/core/b.c"
echo 'int a; /*spdx*/' >"$work/tree/kernels/b.cu"

# ... and what looks like it and is not.
plant src/core/c.h '#include "core/a.h"' '#include "shmtune.h"' \
    '/* printf("a"); exit(1);' ' * fork() */' 's = "exit(1) stderr /* ";' \
    'snprintf(a, 1, "b");' 'my_exit(1); ops->exit(2); t.printf(3);' \
    "c = '\"'; d = 'e'; /* exit(1) */" '__attribute__((format(printf, 1, 2)));'
plant src/core/yaml.c '#include <yaml.h>'
plant src/core/occupancy.c '#include <cuda_occupancy.h>'
plant src/tune/worker.c '#include "search.h"' 'execv(a, b);' '_exit(127);'
plant src/tune/import_t1.c '#include <jansson.h>' '#include <zlib.h>'
plant src/runtime/b.c '#include "gpu/a.h"' '#include "runtime/b.h"'
plant src/gpu/b.c '#include <dlfcn.h>' 'dlopen(a, b);' '#include <cuda.h>'
plant src/main.c '#include "command.h"' 'exit(1);' 'printf("a");'
plant src/cmd_a.c '#include <jansson.h>' '#include "tune/a.h"' \
    '#include "search.h"' 'fputs("a", stdout);'
plant search/b.c '#include "search.h"' '#include "core/a.h"'
for name in src/core/full.c tests/full.c tests/bench/full.cuh; do
    plant "$name"
    lengthen "$name" 500
done
for name in tests/.libs/long.c tests/data/long.yaml tests/corpus/long; do
    plant "$name"
    lengthen "$name" 501
done
plant kernels/c.cu '#include "part.cuh"' '#include <cuda_fp16.h>' 'printf("a");'
plant tests/b.c '#include <yaml.h>' 'exit(1);' '	printf("a");' 'fork();'

check "$work/tree" >"$work/found"
(cd "$work/tree" && find src search kernels tests -type f | sort | xargs awk '
    match($0, /\/\*[a-z_]+\*\//) {
        print substr($0, RSTART + 2, RLENGTH - 4) " " FILENAME ":" FNR
    }
    END { print "names src/core/string_util.c:1" }') | sort >"$work/planted"
sed 's/\(:[0-9]*\): .*/\1/' "$work/found" | sort -u >"$work/seen"
check "$root" >"$work/real"

number=0
result() {
    number=$((number + 1))
    echo "$1 $number - $2"
}
if cmp -s "$work/planted" "$work/seen"; then
    result ok 'the rules find what is planted and nothing else'
else
    diff "$work/planted" "$work/seen" | sed 's/^/# /'
    result 'not ok' 'the rules find what is planted and nothing else'
fi
for rule in $rules; do
    if ! grep -q "^$rule " "$work/planted"; then
        result 'not ok' "$rule: no violation is planted"
    elif grep "^$rule " "$work/real" >"$work/broken"; then
        sed 's/^[a-z_]* /# /' "$work/broken"
        result 'not ok' "$rule"
    else
        result ok "$rule"
    fi
done
echo "1..$number"
