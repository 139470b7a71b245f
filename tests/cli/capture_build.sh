#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: a kernel of nvcc's is drafted as the project's compile_commands.json
# has it compiled.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "a kernel of nvcc's is drafted as it was compiled" "no NVRTC"
    finish
    exit 0
fi
cd "$folder" || exit 1
run capture --no-rerun -k blend -o first -- "$fake/application" opened \
    load_file launch
project=$folder/project
mkdir -p "$project/src" "$project/build" "$project/bin" elsewhere
cp first/blend-1/program.cu "$project/src/mix.cu"
cp -r first/blend-1/include "$project/headers"
echo 'int main() { return 0; }' >"$project/src/main.cu"
cp "$project/src/main.cu" "$project/src/tool.cpp"
APPLICATION_KEPT=1
export APPLICATION_KEPT

# commands FOLDER OPTION...: the list of the project: mix.cu has these
commands() {
    list=$1/compile_commands.json
    shift
    cat >"$list" <<END
[{"directory": "$project/build", "file": "../src/tool.cpp",
  "command": "c++ -DWRONG=1 -c ../src/tool.cpp -o tool.o"},
 {"directory": "$project/build", "file": "../src/main.cu",
  "command": "nvcc -DWRONG=2 -c ../src/main.cu -o main.o"},
 {"directory": "$project/build", "file": "../src/mix.cu",
  "command": "nvcc -std=c++17 $* -c ../src/mix.cu -o mix.o"}]
END
}
# captured FOLDER [OPTION]...: from this folder
captured() {
    rm -rf taken
    cp kept.cubin "$1" 2>/dev/null
    at=$1
    shift
    (cd "$at" && "$build/shmtune" capture --no-rerun -k blend "$@" \
        -o "$folder/taken" -- "$fake/application" opened load_file launch) \
        >out 2>err
    status=$?
}
has() { grep -qF -e "$1" taken/blend-1/kernel.yaml; }
built() {
    has "# How it was compiled was not seen: the source is the first that has" &&
        has "# this name, the options are those of $1." &&
        has "includes: [\"$project/headers\"]" &&
        has "BLOCK: {values: [64, 128, 256], default: 256}" &&
        err_has "its source is $project/src/mix.cu\$" && ! has WRONG
}
given="-DBLOCK=256 -DSCALAR=float -I../headers"

commands "$project/build" "$given"
captured "$project" --propose
check "a source of the project has the options of its command" all "exits 0" \
    "built '$project/build/compile_commands.json'"
if "$build/shmtune" doctor --wide 2>&1 | grep -q '^ok  *nvcc '; then
    run check taken/blend-1 --compile-timeout 600
    check "with which it compiles" exits 0
else
    skip "with which it compiles" "no nvcc"
fi
captured "$project/bin" --propose
check "from a folder of the project, too" all "exits 0" \
    "built '$project/build/compile_commands.json'"
captured elsewhere --propose
check "and from no other" all "exits 0" "err_has 'its source was not seen'"
captured elsewhere --propose --source "$project/src/mix.cu"
check "unless the source is named" all "exits 0" \
    "built '$project/build/compile_commands.json'"
captured elsewhere --source "$project/src/mix.cu" --nvcc-option=-DBLOCK=128
check "options that are given are all that there is" all "exits 0" \
    "has 'the options are those of --nvcc-option, if there are any.'" "! has headers" \
    "has 'default: 128'"
rm "$project/build/compile_commands.json"
commands "$project/src" "$given"
captured "$project/src" --propose
check "the list may lie beside the source" all "exits 0" \
    "built '$project/src/compile_commands.json'"
rm "$project/src/compile_commands.json"
commands "$project/build" "$given"
mv "$project/src/mix.cu" "$project/headers/mix.cuh"
echo '#include "mix.cuh"' >"$project/src/mix.cu"
captured elsewhere --propose --source "$project/headers/mix.cuh"
check "a header is compiled as the file that includes it" all "exits 0" \
    "built '$project/build/compile_commands.json'"
if "$build/shmtune" doctor --wide 2>&1 | grep -q '^ok  *nvcc '; then
    echo '#include "far.h"' >"$project/src/far.cu"
    cat first/blend-1/program.cu >>"$project/src/far.cu"
    rm -rf taken
    run capture -k blend -o taken --source "$project/src/far.cu" \
        --nvcc-option=-DBLOCK=256 -- "$fake/application" opened load_file launch
    check "a header that is not found has the option that is missing" all \
        "exits 0" \
        "err_has 'not made again, .* far.h: No such file or directory.*; --nvcc-option=-IDIR names the folder of a header$'"
else
    skip "a header that is not found has the option that is missing" "no nvcc"
fi
echo '[{' >"$project/build/compile_commands.json"
captured elsewhere --source "$project/headers/mix.cuh"
check "a list that is damaged is told of, and done without" all "exits 0" \
    "err_has 'note: $project/build/compile_commands.json: .*does without it'" \
    "has 'the options are those of --nvcc-option, if there are any.'"
finish
