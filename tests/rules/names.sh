#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every shared name carries its module, and none is there twice.  A shared name
# is one that the linker sees, by the compiler's own output, and a function, a
# tag, a constant of an enum or a macro of a header; a tag in a .c file is
# shared when it begins with shmt_.  The table says how the names of a module
# begin, behind shmt_ or SHMT_.  Each rule is first tried on a planted tree,
# where it must find what is wrong and nothing else.  TAP.
set -eu
LC_ALL=C
export LC_ALL

root=$(cd "${SHMT_SRCDIR:-$(dirname "$0")/../..}" && pwd)
build=${SHMT_BUILDDIR:-$root/build}
work=$(mktemp -d "${TMPDIR:-/tmp}/names.XXXXXX")
trap 'rm -rf "$work"' EXIT

# MODULE: the first words of its names.  A word stands for itself and for all
# that goes on with "_"; shmtune is that of the public names.  What begins with
# neither stands here as it is.
cat >"$work/table" <<'TABLE'
base: arena array clock code digest error field map middle pack path random signals text utf8
expr: arith expr op place value
yaml: yaml
space: block budget build diagram graph lanes parameter plan space
kernel: answer argument catalogue dimension element features fill geometry
    kernel launch region role tolerance
device: device fit limiter occupancy resources
record: dispatch gzip journal ledger recording rerun result setting stage tuned tuning verdict wanted
search: search session strategy
engine: coverage guide neighbours observation observations predictor prior
    shuffle surrogate
data: data npy pattern
source: signature source
gpu: bytes cubin diagnostic driver fatbin function image lines module nvcc nvrtc object
    ptx ptxas texture variable cuProfilerStart cuProfilerStop
bench: bench buffer inspect probe supply
target: courier far live pool program relay replay scratch supervisor target turn wire worker
tune: campaign dealer filter lane output progress sizes tune winner winners
figure: figure figures
exchange: export import
score: score
learn: learn
profile: counters metric
plot: plot
report: report
runtime: choice runtime shmtune
capture: capture dlsym
    cuCtxDestroy cuCtxDestroy_v2 cuDevicePrimaryCtxRelease
    cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset
    cuDevicePrimaryCtxReset_v2 cuGetProcAddress cuGetProcAddress_v2
    cuGraphDestroy
    cuGraphExecChildGraphNodeSetParams cuGraphExecDestroy
    cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams
    cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams
    cuGraphExecMemsetNodeSetParams cuGraphExecNodeSetParams
    cuGraphExecUpdate cuGraphExecUpdate_v2 cuGraphInstantiate
    cuGraphInstantiateWithFlags cuGraphInstantiateWithParams
    cuGraphInstantiateWithParams_ptsz cuGraphInstantiate_v2 cuGraphLaunch
    cuGraphLaunch_ptsz cuGraphNodeSetEnabled cuKernelGetFunction
    cuLaunchCooperativeKernel cuLaunchCooperativeKernel_ptsz
    cuLaunchKernel cuLaunchKernelEx cuLaunchKernelEx_ptsz cuLaunchKernel_ptsz
    cuLibraryGetKernel cuLibraryGetModule cuLibraryLoadData
    cuLibraryLoadFromFile cuLibraryUnload
    cuModuleGetFunction cuModuleLoad cuModuleLoadData cuModuleLoadDataEx
    cuModuleLoadFatBinary cuModuleUnload cuTexObjectCreate cuTexObjectDestroy
    nvrtcAddNameExpression nvrtcCompileProgram nvrtcCreateProgram
    nvrtcDestroyProgram nvrtcGetCUBIN nvrtcGetLoweredName nvrtcGetPTX
command: builds check command compiler display draft explain format init json option
    paint preload sheet table
main: main
TABLE

cat >"$work/shared.awk" <<'AWK'
# Writes "KIND NAME FILE:LINE" for the shared names of headers and sources.
function tell(kind, name)
{
    if (header || name ~ /^shmt_/)
        print kind, name, FILENAME ":" FNR
}

# An enum's constant was seen, unless what follows makes it a list's macro.
function end_constant(token)
{
    if (constant != "" && token != "(")
        tell("constant", constant)
    constant = ""
}

function take(token)
{
    end_constant(token)
    if (token ~ /^(struct|union|enum)$/) {
        kind = token
        tag = ""
        return
    }
    if (token == "{" && kind != "" && tag != "")
        tell(kind, tag)
    if (token == "{" && kind == "enum" && header) {
        in_enum = 1
        wanted = 1
    }
    if (kind != "" && tag == "" && token ~ /^[A-Za-z_]/) {
        tag = token
        return
    }
    kind = ""
    if (token == "(" && depth == 0 && parens == 0 && header && last ~ /^[a-z]/)
        tell("function", last)
    if (in_enum && parens == 0 && wanted && token ~ /^[A-Za-z_]/) {
        constant = token
        wanted = 0
    }
    if (in_enum && parens == 0 && (token == "," || token == ")"))
        wanted = 1
    depth += (token == "{") - (token == "}")
    parens += (token == "(") - (token == ")")
    if (token == ")" && in_enum && parens == 0)
        wanted = 1
    if (token == "}")
        in_enum = 0
    last = token
}

FNR == 1 {
    in_comment = in_macro = in_enum = depth = parens = 0
    kind = constant = last = ""
    header = FILENAME ~ /\.h$/
}
{
    code = code_of($0)
    if (in_macro || code ~ /^[ ]*#/) {
        # Not a guard, which has no body.
        if (!in_macro && match(code, /^#define +[A-Za-z_0-9]+[( ]/))
            tell("macro", substr(code, 9, RLENGTH - 9))
        in_macro = code ~ /\\$/
        next
    }
    while (match(code, /[A-Za-z_0-9]+|[^ A-Za-z_0-9]/)) {
        take(substr(code, RSTART, RLENGTH))
        code = substr(code, RSTART + RLENGTH)
    }
}
AWK

cat >"$work/rules.awk" <<'AWK'
# Reads "KIND NAME FILE:LINE" and writes "RULE FILE:LINE: TEXT" for what is
# wrong.
function report(rule, place, text)
{
    printf "%s %s: %s\n", rule, place, text
}

BEGIN {
    while ((getline line < table) > 0) {
        n = split(line, word, " ")
        first = 1
        if (word[1] ~ /:$/) {
            module = substr(word[1], 1, length(word[1]) - 1)
            first = 2
        }
        for (k = first; k <= n; k++) {
            allowed[module, word[k]] = 1
            modules[word[k]] = modules[word[k]] " " module
            count[word[k]]++
        }
    }
    for (one in count)
        if (count[one] > 1)
            report("table", one, "begins names of" modules[one])
}

function first_word(name)
{
    if (name !~ /^(shmt|shmtune|SHMT|SHMTUNE)_/)
        return name
    name = tolower(name)
    sub(/^shmt_/, "", name)
    sub(/_.*/, "", name)
    return name
}

{
    file = $3
    sub(/:.*/, "", file)
}
$1 == "none" {
    report("symbols", $3, "was not compiled")
    next
}
{
    module = module_of(file)
    start = first_word($2)
    used[module, start] = 1
    if (!((module, start) in allowed))
        report("prefix", $3, $1 " " $2 " is not how names of " module " begin")
}
$1 ~ /^(struct|union|enum)$/ {
    if ($2 in tag_at)
        report("tags", $3, $2 " is defined in " tag_at[$2] " too")
    tag_at[$2] = file
}
$1 == "symbol" {
    if ($2 in symbol_at)
        report("symbols", $3, $2 " is defined in " symbol_at[$2] " too")
    symbol_at[$2] = file
}
END {
    for (pair in allowed)
        if (!(pair in used)) {
            split(pair, word, SUBSEP)
            report("table", word[1], "no name begins with " word[2])
        }
}
AWK

# What is wrong in tree $1 with the symbols in file $2, by the table $3.
check() {
    (cd "$1" && find src search -name '*.[ch]' -type f | sort |
        xargs awk -f "$root/tests/rules/source.awk" -f "$work/shared.awk") |
        cat - "$2" | awk -v table="$3" \
        -f "$root/tests/rules/source.awk" -f "$work/rules.awk"
}

# "OBJECT SOURCE" for each source of the tree.
objects() {
    (cd "$root" && find src search -name '*.c' -type f) | while read -r source
    do
        folder=$build/${source%/*}
        name=${source##*/}
        name=${name%.c}
        for object in "$folder/$name.o" "$folder"/*-"$name.o" \
            "$folder/.libs/$name.o" "$folder"/.libs/*-"$name.o" none; do
            [ -f "$object" ] && break
        done
        echo "$object $source"
    done
}

# "symbol NAME FILE:1" for what the linker sees of them.
symbols() {
    objects >"$work/objects"
    sed -n 's/^none \(.*\)/none - \1:1/p' "$work/objects"
    sed -n '/^none /!s/ .*//p' "$work/objects" | xargs nm -A -P -g |
        awk -v objects="$work/objects" '
            BEGIN {
                while ((getline line < objects) > 0) {
                    split(line, word, " ")
                    source[word[1]] = word[2]
                }
            }
            $3 !~ /^[Uwv]$/ && $2 !~ /^_/ {
                sub(/:$/, "", $1)
                print "symbol " $2 " " source[$1] ":1"
            }'
}

# plant FILE LINE...: a file that breaks the rules its lines name.
plant() {
    mkdir -p "$work/tree/$(dirname "$1")"
    file=$work/tree/$1
    shift
    printf '%s\n' "$@" >"$file"
}

cat >"$work/planted_table" <<'TABLE'
base: arena text
    path
space: space text lane
search: session ask
runtime: shmtune
main: main
TABLE
plant src/shmtune.h 'enum shmtune_status {' '#define SHMTUNE_ENUM(name) name,' \
    '    SHMTUNE_LIST(SHMTUNE_ENUM)' '    SHMTUNE_COUNT' '};' \
    '#define SHMT_PUBLIC 1 /*prefix*/' 'int shmtune_open(int);'
plant src/base/base.h '#ifndef SHMT_BASE_H' '#define SHMT_BASE_H' \
    'struct shmt_arena { struct a *next; union shmt_text *text; }; /*tags*/' \
    'struct shmt_path {' '    enum path_kind { SHMT_PATH_A } kind; /*prefix*/' \
    '};' 'enum { SHMT_ARENA_A = (1 << 2), /* B, */' \
    '       SHMT_LONELY = 1, SHMT_TEXT_C }; /*prefix*/' \
    'struct shmt_arena *shmt_arena_new(void)' \
    '    __attribute__((format(printf, 1, 2)));' \
    'static inline int shmt_space_sum(int a) /*prefix*/' \
    '{ return lonely(a, "struct shmt_space {"); }' '#endif'
plant src/base/a.c 'struct shmt_arena { int a; };' \
    'struct local { int a; };' 'enum { LOCAL };' '#define LOCAL_LIST(X) X(a)'
plant src/space/space.h 'struct shmt_space; enum shmt_space_way;' \
    'union shmt_text { struct shmt_space *space; };' \
    'struct shmt_path *shmt_space_path(struct shmt_path *a); /* struct a { */' \
    'typedef int shmt_number;' 'extern int shmt_space_count;'
plant src/space/b.c 'struct local { int a; };' \
    'struct shmt_lone { int a; }; /*prefix*/'
plant search/search.h 'enum shmt_ask { SHMT_ASK_A, SHMT_SESSION_B };' \
    '#define SHMT_ASK(a) a' '#define ASK_LIST(a) /*prefix*/ \' \
    '    struct a { \' '    int b; }'
printf 'symbol %s 1\n' 'main src/main.c:' 'shmt_arena_new src/base/a.c:' \
    'shmt_space_path src/space/b.c:' 'shmt_arena_new src/space/b.c:' \
    'lonely src/space/b.c:' | sed 's/ 1$/1/' >"$work/planted_symbols"
echo 'none - src/base/b.c:1' >>"$work/planted_symbols"
(cd "$work/tree" && find src search -type f | sort | xargs awk '
    {
        rest = $0
        while (match(rest, /\/\*[a-z]+\*\//)) {
            print substr(rest, RSTART + 2, RLENGTH - 4) " " FILENAME ":" FNR
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    END {
        print "prefix src/space/b.c:1"
        print "symbols src/base/b.c:1"
        print "symbols src/space/b.c:1"
        print "table space"
        print "table text"
    }') | sort -u >"$work/planted"
check "$work/tree" "$work/planted_symbols" "$work/planted_table" |
    sed 's/^\([a-z]* [^ ]*\): .*/\1/' |
    sort -u >"$work/seen"
symbols >"$work/symbols"
check "$root" "$work/symbols" "$work/table" >"$work/real"

. "$root/tests/rules/rule.sh"
planted_are_seen
if grep -qx 'symbol shmtune_open src/runtime/.*' "$work/symbols" &&
    grep -qx 'symbol shmt_expr_compile src/expr/.*' "$work/symbols"; then
    result ok 'what the linker sees is there'
else
    result 'not ok' 'what the linker sees is there'
fi
for rule in prefix tags symbols table; do
    if grep -q "^$rule " "$work/real"; then
        sed -n "s/^$rule /# /p" "$work/real"
        result 'not ok' "$rule; the table is in tests/rules/names.sh"
    else
        result ok "$rule"
    fi
done
echo "1..$number"
