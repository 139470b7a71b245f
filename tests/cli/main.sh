#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Global options, help, exit codes, what goes to which stream.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

run
check "no word is a usage error" all "exits 1" out_empty "err_has usage:"
run --help
check "--help goes to standard output" \
    all "exits 0" err_empty "out_has usage:" "out_has 'exit status'"
run -h
check "-h is --help" all "exits 0" "out_has usage:"
run --version
check "--version" all "exits 0" err_empty "out_has '^shmtune [0-9.]*$'"
cp "$folder/out" "$folder/version"
run -V
check "-V is --version" cmp "$folder/out" "$folder/version"
check "its version is the build's" \
    grep -q " $(sed -n 's/^PACKAGE_VERSION = //p' "$build/Makefile")\$" \
    "$folder/version"

for command in list space inspect show check doctor tune; do
    run "$command" --help
    check "$command --help has usage and examples" \
        all "exits 0" err_empty "out_has '^usage: shmtune'" \
        "out_has '^examples:'" "out_has 'shmtune $command'"
    run help "$command"
    check "help $command is the same" all "exits 0" "out_has '^examples:'"
    run "$command" --bogus-option
    check "$command refuses what it does not know" \
        all "exits 1" out_empty "err_has bogus-option" "err_has -- '--help'"
done
run --help
check "a hidden command is not listed" out_lacks '^  worker'
awk 'length > 79 { exit 1 }' "$folder/out"
check "the help fits a terminal" [ $? -eq 0 ]

# What there is stands in the manual page too.
manual=$source/src/shmtune.1
missing=
for command in $(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' \
    "$folder/out"); do
    grep -q "Cm $command" "$manual" || missing="$missing $command"
    for option in $("$build/shmtune" "$command" --help |
        grep -o -e ' --[a-z][a-z-]*' | sort -u); do
        grep -q -e "Fl -${option#--}\([ ,]\|$\)" "$manual" ||
            grep -q -e ", -${option#--} " "$manual" ||
            missing="$missing $command:$option"
    done
done
check "every command and option is in the manual page" [ -z "$missing" ]
missing=
for command in $(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' \
    "$folder/out"); do
    "$build/shmtune" "$command" --help >"$folder/help"
    sed -n 's/.*{"\([a-z-]*\)", \(0\|.\([a-z]\).\), SHMT_OPTION.*/\1 \3/p' \
        "$source/src/command/$command.c" >"$folder/taken"
    while read -r name letter; do
        grep -q -e "^  ${letter:+-$letter, }--\(no-\)\?$name\b" \
            -e "\[--$name\]" "$folder/help" || missing="$missing $command:$name"
    done <"$folder/taken"
done
check "every option taken is in its --help:$missing" [ -z "$missing" ]
missing=
for status in $(sed -n 's/^ *X([A-Z_]*, \([0-9]*\),.*/\1/p' \
    "$source/src/shmtune.h"); do
    sed -n '/^exit status/,$p' "$folder/out" | grep -q "\b$status [a-z]" ||
        missing="$missing help:$status"
    grep -q "^.It $status$" "$manual" || missing="$missing manual:$status"
    sed -n '/^## Exit status/,/^## /p' "$source/docs/commands.md" |
        grep -q "| $status |" || missing="$missing docs/commands.md:$status"
done
check "every exit status is told everywhere:$missing" [ -z "$missing" ]

run spase scale
check "a wrong command is suggested against" \
    all "exits 1" out_empty "err_has 'did you mean \"space\"'" \
    "err_has 'Try \"shmtune --help\"'"
run scael --device 0
check "so is a wrong kernel where tune is left out" all "exits 1" out_empty \
    "err_has 'neither a command nor a kernel; did you mean \"scale\"'"
run inspect scale --config BLOCK
check "a value that is left out is told" all "exits 1" \
    "err_has 'BLOCK.: nothing is not a value of BLOCK, which has 64, '"
run space scael
check "so is a wrong kernel" \
    all "exits 1" out_empty "err_has 'did you mean \"scale\"'"
run space "$root/kernels/../kernels/scale.cu.yaml"
check "what is given as a path is one" exits 5
(
    cd "$folder" && cp "$root/kernels/scale.yaml" own.yaml || exit 1
    run space own
    echo "$status" >code
)
status=$(cat "$folder/code")
check "a spec in this folder is given by its path" \
    all "exits 1" out_empty "err_has 'by its path: own.yaml'"
for words in "tune own.cu --device 0" "own.cu --device 0" "space own.cu"; do
    run $words
    check "a source is given by its spec: $words" \
        all "exits 1" out_empty "err_has 'by its spec'" "err_lacks 'cu.yaml'"
done
run space scale --sise n=3
check "so is a wrong option" \
    all "exits 1" out_empty "err_has 'did you mean \"--size\"'"
run space
check "a missing word is a usage error" all "exits 1" out_empty
run space scale scale
check "so is one too many" all "exits 1" out_empty
run space scale --size
check "an option needs its value" all "exits 1" "err_has 'needs a value'"
run space scale --json=yes
check "a flag has none" all "exits 1" "err_has 'takes no value'"
run inspect scale -j0
check "numbers are bounded" all "exits 1" out_empty "err_has '1 to 1024'"
run inspect scale -j 4x
check "numbers are whole" all "exits 1" out_empty "err_has 4x"
run space ./absent.yaml
check "an absent file is a storage error" \
    all "exits 5" out_empty "err_has absent.yaml"
run space "$root/kernels/scale.cu"
check "a file of another kind is an invalid file" \
    all "exits 2" out_empty "err_has 'scale.cu:[0-9]*:[0-9]*: '"

run space --size n=64 -- scale
check "-- ends the options" all "exits 0" "out_has '^scale n=64$'"
run space scale -- --json
check "what follows -- is no option" all "exits 1"

"$build/shmtune" --help >/dev/full 2>"$folder/err"
status=$?
: >"$folder/out"
check "output that cannot be written is a storage error" \
    all "exits 5" "err_has 'standard output'"

run space scale
check "no colour where there is no terminal" plain
if command -v script >/dev/null && script -qec true /dev/null \
    >/dev/null 2>&1; then
    TERM=xterm
    export TERM
    script -qec "$build/shmtune space scale" /dev/null >"$folder/out" 2>&1 \
        </dev/null
    check "colour on a terminal" eval '! plain'
    NO_COLOR=1 script -qec "$build/shmtune space scale" /dev/null \
        >"$folder/out" 2>&1 </dev/null
    check "none with NO_COLOR" plain
    script -qec "$build/shmtune --no-color space scale" /dev/null \
        >"$folder/out" 2>&1 </dev/null
    check "none with --no-color" plain
    TERM=dumb script -qec "$build/shmtune space scale" /dev/null \
        >"$folder/out" 2>&1 </dev/null
    check "none on a dumb terminal" plain
else
    skip "colour on a terminal" "no script(1) here"
fi
# Whoever parses standard output gets a document, whatever happens.
failed_as() { # STATUS
    all "exits $1" is_json "out_has '\"status\": $1,'" "out_has '\"error\": '" \
        "[ $(grep -c '"error"' "$folder/out") -eq 1 ]"
}
for words in "list nope" "space nope" "inspect scale --arch sm_1" "show" \
    "score" "import" "export" "explain" "tune nope" "scale --budget 0" \
    "check --nope" "nope" "--nope"; do
    run $words --json
    check "$words --json fails as JSON" failed_as 1
done
echo nonsense >"$folder/nonsense"
run show --json "$folder/nonsense"
check "so does a file that is none" failed_as 2
run list --json kernels
check "what did not fail says nothing of it" all 'exits 0' is_json \
    "out_lacks '\"error\"'"
make -n -W Makefile -C "$build" src/kernel/catalogue.lo >"$folder/out" \
    2>"$folder/err"
check "another --prefix makes again what holds it" \
    out_has 'kernel/catalogue.c'
# refused MESSAGE WORD...: a usage error, before anything is done
refused() {
    message=$1
    shift
    run "$@"
    check "refused: $*" all 'exits 1' out_empty "err_has '$message'"
}
refused '-q and -v are both given' list -q -v
refused 'resume and --no-resume are both' tune scale --no-resume --resume
refused 'size is given twice, "n=1" and "n=2"' space scale --size n=1 --size n=2
refused 'size is given twice, "" and "n=2"' space scale --size= --size n=2
refused 'budget is given twice, "10" and "20"' tune scale --budget 10 --budget 20
refused 'seed is given twice, "1" and "2"' tune scale --seed 1 --seed=2
refused 'output is given twice, "a" and "b"' tune scale -o a --output b
refused 'jobs is given twice, "3" and "4"' inspect scale -j3 --jobs 4
refused 'arch is for the compiler' check --no-compile --arch sm_90
refused 'cubins is for the compiler' check --no-compile --cubins "$folder/c"
refused 'word is empty' space ''
refused 'word is empty' check ''
refused 'output is "".*expected' report -o ''
refused 'spec is "".*expected' show x.journal --spec ''
refused 'from is "".*expected' tune scale --from ''
refused 'also is "".*expected' tune scale --also one.yaml --also ''
refused 'no strategy is called "foo"' tune scale --strategy foo
check "before it is said what is tuned" err_lacks 'tuning 1'
refused 'no option "x"' tune scale --strategy model:x=3
for epoch in abc '' 12x -1 99999999999999999999; do
    SOURCE_DATE_EPOCH=$epoch
    export SOURCE_DATE_EPOCH
    refused "EPOCH is .$epoch.; a whole number" tune scale
    refused "EPOCH is .$epoch.; a whole number" report
done
unset SOURCE_DATE_EPOCH
run space scale --size n=1024 --size n=1024 --json --json
check "the same twice is no contradiction" all 'exits 0' is_json
run check "$root/kernels/scale.yaml" --cubins "$folder/made"
check "binaries of tunings need a tuning" all '! exits 0' \
    'err_has "cubins is for tunings, of which none"'
echo 'format: tuning/1' >"$folder/broken.yaml"
run check "$folder/broken.yaml" --cubins "$folder/made" --json
check "one that cannot be read is told" all 'exits 2' is_json \
    "out_has 'broken.yaml'" 'err_lacks "of which none"'
run --json list kernels
check "--json may stand before the command" all 'exits 0' err_empty is_json \
    "out_has '\"list.json/1\"'"
run --json -q help list
check "before help" all 'exits 0' "out_has '^usage: shmtune list'"
run --json scale --budget 0
check "and before a kernel, where it is tune" all 'exits 1' is_json \
    "err_has 'shmtune tune --help'"
run --json --budget 0 scale
check "and before options" all 'exits 1' is_json "err_has -- '--budget'"
run list -- --json
check "--json may be another word's place" all 'exits 1' out_empty
finish
