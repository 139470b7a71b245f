#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A folder is a module, and the table in docs/architecture.md says who may use
# whom.  A module is used through the one header that is named like it; every
# other header is for its own folder alone.  Beside that the budgets: held over
# src/ and search/, the looks of a file over kernels/ and its length over tests/
# too.  Each rule is first tried on a planted tree, where it must find what is
# wrong and nothing else.  TAP.
set -eu
LC_ALL=C
export LC_ALL

root=$(cd "${SHMT_SRCDIR:-$(dirname "$0")/../..}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/layout.XXXXXX")
trap 'rm -rf "$work"' EXIT

# MODULE: the modules that it may use.  `main` is src/main.c; `engine` is
# search/engine, which only strategies use.
sed -n '/^```modules$/,/^```$/{/^```/!p;}' "$root/docs/architecture.md" \
    >"$work/table"
# A second public header, and the module it is there for.
cat >"$work/second" <<'TABLE'
expr/tree.h space   the decision diagram is built from the trees themselves
gpu/cubin.h capture what an application loads is read without the rest of gpu
gpu/fatbin.h capture as above
gpu/variable_name.h capture as above
TABLE

# Writes "RULE FILE:LINE: TEXT" for everything that breaks a rule in tree $1.
check() {
    (cd "$1" && {
        find src search -name '*.[ch]' -type f
        find kernels -name '*.cu*' -type f
        # Not what a build leaves in hidden folders.
        find tests -type f ! -path '*/.*' | grep -E '\.(c|h|cu|cuh|py|sh)$'
    } | sort | xargs awk -v table="$work/table" -v second="$work/second" \
        -f "$root/tests/rules/source.awk" -f "$work/rules.awk")
}

cat >"$work/rules.awk" <<'AWK'
function report(rule, text)
{
    printf "%s %s:%d: %s\n", rule, FILENAME, FNR, text
}

BEGIN {
    while ((getline line < table) > 0) {
        n = split(line, word, " ")
        sub(/:$/, "", word[1])
        known[word[1]] = 1
        for (k = 2; k <= n; k++)
            may_use[word[1], word[k]] = 1
    }
    while ((getline line < second) > 0) {
        split(line, word, " ")
        open_to[word[1], word[2]] = 1
    }
}

# `name` as it is written: "space/plan.h", "search/engine/shuffle.h".
function check_own_include(name,    target, door)
{
    if (name == "shmtune.h" || name == "config.h")
        return
    target = module_of(name ~ /^search\// ? name : "src/" name)
    if (!(target in known)) {
        report("modules", name ": in no module of the table")
        return
    }
    if (target == module)
        return
    if (!((module, target) in may_use))
        report("modules", name ": " module " does not use " target)
    door = target == "engine" ? "search/engine/engine.h" \
                              : target "/" target ".h"
    if (name != door && !((name, module) in open_to))
        report("private", name ": for its own folder; include " door)
}

function check_system_include(name)
{
    if (name == "yaml.h" && FILENAME != "src/yaml/yaml.c")
        report("yaml", name)
    if (name == "dlfcn.h" && module != "gpu" && module != "capture")
        report("dlopen", name)
    if (name == "jansson.h" && module != "command" && module != "exchange")
        report("jansson", name)
    if (name == "zlib.h" && module != "record" && module != "exchange" &&
        module != "capture")
        report("zlib", name)
    if (name ~ /^(cuda|nvrtc)/ && module != "gpu" && module != "capture" &&
        !(name == "cuda_occupancy.h" && FILENAME == "src/device/occupancy.c"))
        report("cuda", name)
    if ((module == "search" || module == "engine") &&
        name ~ /^(stdio|unistd|fcntl|dirent|pthread|sys\/.*|time)\.h$/)
        report("search_io", name)
}

function calls(code, names)
{
    return code ~ ("(^|[^A-Za-z0-9_.>])(" names ")[ ]*\\(")
}

FNR == 801 { report("file_length", "more than 800 lines") }
# Of tests only that.
FILENAME ~ /^tests\// { next }
FNR == 1 {
    module = module_of(FILENAME)
    if (!(module in known) && module != "kernels")
        report("modules", "its folder is in no line of the table")
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
    if (module == "kernels")
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
calls(code, "dlopen|dlmopen|dlsym|dlvsym") && module != "gpu" &&
module != "capture" {
    report("dlopen", code)
}
calls(code, "execv|execve|execvp|execvpe|execl|execle|execlp|fexecve|" \
      "posix_spawn|posix_spawnp|fork|vfork") &&
FILENAME !~ /^src\/target\/(worker|program)\.c$/ {
    report("exec", code)
}
calls(code, "system|popen") { report("exec", code) }
(calls(code, "printf|vprintf|puts|putchar|perror") ||
 code ~ /(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)/) &&
module != "main" && module != "command" {
    report("printf", code)
}
calls(code, "exit|quick_exit|abort|_Exit|assert") &&
FILENAME != "src/main.c" {
    report("exit", code)
}
# After a fork there is no other way out.
calls(code, "_exit") && FILENAME !~ /^src\/target\/(worker|program)\.c$/ {
    report("exit", code)
}
calls(code, "gets|strcpy|strcat|sprintf|vsprintf|strtok|alloca|setjmp|" \
      "longjmp") {
    report("unsafe", code)
}
AWK

rules='modules private yaml dlopen jansson zlib cuda search_io exec printf exit unsafe
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
plant src/base/a.c '#include "gpu/gpu.h" /*modules*/' \
    '#include <yaml.h> /*yaml*/' '#include <dlfcn.h> /*dlopen*/' \
    '#include "search/search.h" /*modules*/' '#include <cuda.h> /*cuda*/' \
    'x = dlsym(h, "a"); /*dlopen*/' 'printf("a"); /*printf*/' \
    'fputs("a", stderr); /*printf*/' 'exit(1); /*exit*/' \
    "$wide /*line_length*/" 'execv(a, b); /*exec*/' 'fork(); /*exec*/' \
    '	x; /*blanks*/' 'strcpy(a, b); /*unsafe*/' '_exit(1); /*exit*/' \
    '#include <zlib.h> /*zlib*/' 'abort(); /*exit*/' \
    '#include <cuda_occupancy.h> /*cuda*/' '#include <jansson.h> /*jansson*/' \
    '#include "nowhere/nowhere.h" /*modules*/'
plant src/tune/a.c '#include "gpu/gpu.h" /*modules*/' \
    '#include "space/plan.h" /*modules*/ /*private*/' \
    '#include "kernel/read.h" /*private*/' \
    '#include "search/registry.h" /*private*/' \
    '#include "search/engine/engine.h" /*modules*/' \
    'system("a"); /*exec*/' '#include <nvrtc.h> /*cuda*/'
plant src/runtime/a.c '#include "tune/tune.h" /*modules*/' \
    '#include "search/search.h" /*modules*/' 'popen(a, b); /*exec*/'
plant src/gpu/a.c '#include "tune/tune.h" /*modules*/' \
    '#include <zlib.h> /*zlib*/' '#include "bench/bench.h" /*modules*/'
plant src/kernel/a.c '#include "expr/tree.h" /*private*/' \
    '#include "base/arena.h" /*private*/'
plant search/a.c '#include "gpu/gpu.h" /*modules*/' \
    '#include "search/engine/shuffle.h" /*private*/' \
    '#include "tune/tune.h" /*modules*/' '#include <stdio.h> /*search_io*/'
plant search/engine/a.c '#include "search/registry.h" /*private*/' \
    '#include <time.h> /*search_io*/'
plant src/base/string_util.c
# lengthen FILE COUNT: to so many lines.
lengthen() {
    i=$(wc -l <"$work/tree/$1")
    while [ "$i" -lt "$2" ]; do
        echo "int a$i;"
        i=$((i + 1))
    done >>"$work/tree/$1"
}
for name in src/base/long.c kernels/long.cu kernels/long.cuh tests/long.c tests/long.h tests/bench/long.cu \
    tests/bench/long.cuh tests/bench/long.py tests/cli/long.sh; do
    plant "$name"
    lengthen "$name" 800
    echo '/*file_length*/ int b;' >>"$work/tree/$name"
done
plant kernels/a.cuh "$wide /*line_length*/" '	x; /*blanks*/'
echo 'int a; /*spdx*/' >"$work/tree/src/base/b.c"
echo 'int a; /*spdx*/' >"$work/tree/kernels/b.cu"

# ... and what looks like it and is not.
plant src/yaml/c.h '#include "base/base.h"' '#include "shmtune.h"' \
    '/* printf("a"); exit(1);' ' * fork() */' 's = "exit(1) stderr /* ";' \
    'snprintf(a, 1, "b");' 'my_exit(1); ops->exit(2); t.printf(3);' \
    "c = '\"'; d = 'e'; /* exit(1) */" '__attribute__((format(printf, 1, 2)));'
plant src/yaml/yaml.c '#include <yaml.h>' '#include "yaml/c.h"'
plant src/device/occupancy.c '#include <cuda_occupancy.h>'
plant src/target/worker.c '#include "record/record.h"' 'execv(a, b);' \
    '_exit(127);'
plant src/target/program.c 'execve(a, b, c);' '_exit(127);'
plant src/exchange/import_t1.c '#include <jansson.h>' '#include <zlib.h>'
plant src/space/b.c '#include "expr/tree.h"' '#include "space/plan.h"'
plant src/tune/b.c '#include "search/search.h"' '#include "target/target.h"'
plant src/runtime/b.c '#include "gpu/gpu.h"' '#include "runtime/b.h"'
plant src/gpu/b.c '#include <dlfcn.h>' 'dlopen(a, b);' '#include <cuda.h>'
plant src/capture/b.c '#include <dlfcn.h>' 'dlvsym(a, b, c);' \
    '#include <zlib.h>' '#include <cuda.h>' '#include "gpu/cubin.h"'
plant src/main.c '#include "command/command.h"' 'exit(1);' 'printf("a");'
plant src/command/a.c '#include <jansson.h>' '#include "tune/tune.h"' \
    '#include "search/search.h"' 'fputs("a", stdout);'
plant search/b.c '#include "search/search.h"' '#include "search/registry.h"' \
    '#include "search/engine/engine.h"'
for name in src/base/full.c tests/full.c tests/bench/full.cuh; do
    plant "$name"
    lengthen "$name" 800
done
for name in tests/.libs/long.c tests/fake/data/long.yaml tests/corpus/long; do
    plant "$name"
    lengthen "$name" 801
done
plant kernels/c.cu '#include "part.cuh"' '#include <cuda_fp16.h>' 'printf("a");'
plant tests/b.c '#include <yaml.h>' 'exit(1);' '	printf("a");' 'fork();'

check "$work/tree" >"$work/found"
(cd "$work/tree" && find src search kernels tests -type f | sort | xargs awk '
    {
        rest = $0
        while (match(rest, /\/\*[a-z_]+\*\//)) {
            print substr(rest, RSTART + 2, RLENGTH - 4) " " FILENAME ":" FNR
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    END { print "names src/base/string_util.c:1" }') | sort >"$work/planted"
sed 's/\(:[0-9]*\): .*/\1/' "$work/found" | sort -u >"$work/seen"
check "$root" >"$work/real"

. "$root/tests/rules/rule.sh"
planted_are_seen
# shellcheck disable=SC2086
rules_hold $rules
echo "1..$number"
