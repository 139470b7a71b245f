#!/bin/sh
# SPDX-License-Identifier: MIT
#
# capture: a program that comes to the driver in each of three ways runs as it
# does alone, and leaves specs that check and tune take.  No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

cd "$folder" || exit 1

if command -v nm >/dev/null; then
    nm -D --undefined-only "$SHMT_BUILDDIR/libshmtune-capture.so" >symbols
    check "the library that is preloaded lacks nothing of ours" all \
        "grep -q getenv symbols" "! grep shmt_ symbols"
else
    skip "the library that is preloaded lacks nothing of ours" "no nm"
fi
run capture -o taken
check "a program is needed" all "exits 1" \
    "err_has 'capture needs a program: -- PROGRAM'"
run capture -- true
check "and a folder" all "exits 1" "err_has 'for what it writes: -o DIR'"
run capture --list -o taken -- true
check "of which a list has none" all "exits 1" "err_has 'leave out -o'"
run capture --max-bytes 4X -o taken -- true
check "bytes are a number" all "exits 1" \
    "err_has '.--max-bytes 4X: a number of bytes is expected, as 512M or 4G'" \
    "[ ! -e taken/.capture-* ]"
mkdir "a folder"
cp "$build/shmtune" "$build/libshmtune-capture.so" "a folder"
"a folder/shmtune" capture -o taken -- true >out 2>err
status=$?
check "a library that the loader cannot find is no reason to run" all \
    "exits 5" "err_has 'a folder/lib.*: cannot be preloaded, since a space'"
run capture -o taken -- "$folder/no-such-program"
check "a program that cannot be started is told" all "exits 5" \
    "err_has 'no-such-program: cannot be started: No such file'"
run capture -o taken -- sh -c 'echo one; echo two >&2; exit 7'
check "files and exit status are the program's own" all "exits 7" \
    "out_has '^one$'" "err_has '^two$'" "err_has 'no launch was captured'"
# shellcheck disable=SC2016
run capture -q -o taken -- sh -c 'kill -TERM $$'
check "so is the signal that ends it" all "exits 143" err_empty

echo 'int main(void) { return 4; }' >static.c
if ${CC:-cc} -static -o static static.c 2>/dev/null; then
    run capture -o taken -- ./static
    check "a program that takes nothing preloaded is told" all "exits 4" \
        "err_has 'the program did not load libshmtune-capture.so: it is linked'" \
        "err_lacks 'no launch was captured'"
else
    skip "a program that takes nothing preloaded is told" "no static C library"
fi

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "launches are captured" "no NVRTC"
    finish
    exit 0
fi

# application WAY WORD...: alone, then captured into $folder/WAY
application() {
    way=$1
    program=$fake/application
    [ "$way" != linked ] || program=${program}_linked
    "$program" "$@" >alone.out 2>alone.err
    alone=$?
    rm -rf "${folder:?}/$way"
    # shellcheck disable=SC2086
    run capture ${options-} -o "$way" -- "$program" "$@"
}
as_alone() { exits "$alone" && cmp -s alone.out "$folder/out"; }
mode() { stat -c %a "$1"; }
has() { grep -qF -e "$2" "$folder/$1/kernel.yaml"; }

for way in linked opened runtime; do
    application "$way" load launch launch look_up sum exit_three
    check "$way: the program runs as it does alone" all as_alone "exits 3" \
        "out_has '^sum [0-9]'" "out_has 'looked up: 1 1 no_such_function'" \
        "err_has '$way/blend-1: the launch, its source and its buffers'"
    check "$way: one launch is captured, for its owner alone" all \
        "[ \$(mode $way) = 700 ]" "[ \$(mode $way/blend-1) = 700 ]" \
        "[ ! -e $way/blend-2 ]" "[ ! -e $way/.capture-* ]"
    run check "$way/blend-1"
    check "$way: it is a spec" all "exits 0" "out_has '^ok .*spec of blend'"
done

check "types, roles and sizes are what they were" all \
    "has opened/blend-1 'n: {default: 1000'" \
    "has opened/blend-1 'y: {type: f32, role: inout, count: n, fill: '" \
    "has opened/blend-1 'region: {columns: 984, offset: 8}, tolerance: '" \
    "has opened/blend-1 'x: {type: f32, role: input, count: n, fill: '" \
    "has opened/blend-1 'a: {type: f32, value: 2.5}'" \
    "has opened/blend-1 'at_0: {pointer: memory_2}'" \
    "has opened/blend-1 'at_8: {type: u32, value: [8, 992]}'" \
    "has opened/blend-1 'offsets: {type: f32, role: symbol, symbol: offsets, count: 2'"
check "numbers that reach the block are proposed, not tuned" all \
    "has opened/blend-1 'grid: [\"ceildiv(n, BLOCK)\"]'" \
    "has opened/blend-1 '# BLOCK: {values: [64, 128, 256]'" \
    "has opened/blend-1 '  BLOCK: {values: [256], default: 256}'" \
    "has opened/blend-1 'source: [defines.cu, program.cu]'"
check "each content is there once" \
    [ opened/blend-1/memory-0.before.gz -ef opened/blend-1/memory-1.before.gz ]

cp opened/blend-1/kernel.yaml as_addresses.yaml
application opened load launch_packed sum
check "parameters that come as one block of bytes are the same" all as_alone \
    "cmp opened/blend-1/kernel.yaml as_addresses.yaml"

SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA
application opened load launch cover=1000 total=1000 stray=50
check "made again, launches give what the application got" all as_alone \
    "err_has 'blend-1: made again it gives what .* got; in-out: y$'" \
    "err_has 'cover-1: made again it gives what .* got; output: z$'" \
    "err_has 'total-1: made again, [0-9]* of 16 bytes of sums vary .*in-out: sums$'" \
    "[ ! -e opened/.capture-* ]"
check "an output is one, all of it" all \
    "has opened/cover-1 'z: {type: f32, role: output, count: n, expect: '" \
    "has opened/cover-1 'is not read: with 4 other contents all was the same'" \
    "! grep '  z: ' opened/cover-1/kernel.yaml | grep -q 'region\|fill'"
check "what is read before stays in-out" all \
    "has opened/blend-1 'y: {type: f32, role: inout, count: n, fill: '" \
    "has opened/blend-1 'is read: with other contents 3936 bytes came out'" \
    "has opened/blend-1 'left what the application got, bit for bit'" \
    "has opened/total-1 'is read: with other contents 16 bytes came out'"
check "numbers that vary propose a tolerance" all \
    "has opened/total-1 'otherwise from time to time'" \
    "has opened/total-1 'four times that, \`maximum: '"
check "what gives something else is told, with how much" all \
    "err_has 'stray-1: made again, [1-4] of 200 bytes of z are not what the'" \
    "has opened/stray-1 'Something that it reads was not captured'" \
    "has opened/stray-1 'z: {type: f32, role: inout, count: n, fill: '"
for kernel in cover total; do
    run check opened/$kernel-1
    check "$kernel: it is a spec" exits 0
    run tune opened/$kernel-1 --device 0 --strategy exhaustive -o tuned-again
    check "$kernel: which is tuned" exits 0
done
options=--no-rerun
application opened load cover=1000
check "--no-rerun leaves it out" all as_alone "err_lacks 'made again'" \
    "has opened/cover-1 'z: {type: f32, role: inout, count: n, fill: '" \
    "has opened/cover-1 'If nothing of them is read before'"
options=
# The worker's requests by hand: one byte that the application did not get.
gzip -dc opened/cover-1/memory-0.after.gz >other
printf '\300' | dd of=other bs=1 seek=2002 conv=notrunc 2>"$folder/err"
gzip -c other >opened/cover-1/memory-0.after.gz
cat >requests <<'END'
{verb: rerun, tag: 1, config: {BLOCK: 256, ITEMS: 1}}
{verb: rerun, tag: 2, config: {BLOCK: 256, ITEMS: 1}, poison: x}
END
run worker --spec opened/cover-1/kernel.yaml --images images --device 0 \
    --requests requests
check "a worker counts what is otherwise" all \
    "out_has 'tag: 1, verdict: ok.*rerun: \[\[0, 4000, 1, 0, '" \
    "out_has 'tag: 2, error: .*expected an in-out of the kernel'"
application opened load follow=100
check "old contents that break the launch are read" all as_alone \
    "err_has 'follow-1: made again it gives .* got; in-out: z$'" \
    "has opened/follow-1 'is read: with other contents the launch fails'" \
    "has opened/follow-1 'z: {type: f32, role: inout, count: n, fill: '"
SHMTUNE_LIBCUDA=$folder/none.so
application opened load cover=100 total=100
check "without a driver that is said, once, and the drafts are there" all \
    as_alone "[ \$(grep -c 'not made again, so that roles and' err) = 1 ]" \
    "has opened/cover-1 'If nothing of them is read before'" \
    "[ -f opened/total-1/kernel.yaml ]"
SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
options=--propose
application runtime load launch
run tune runtime/blend-1 --device 0 --strategy exhaustive -o tuned
check "it is tuned with the application's data" all "exits 0" \
    "out_has '^blend-1  *n=1000  *128  *2.00 .*BLOCK=128'"
gzip -dc runtime/blend-1/memory-0.after.gz >other
printf '\300' | dd of=other bs=1 seek=2003 conv=notrunc 2>"$folder/err"
gzip -c other >runtime/blend-1/memory-0.after.gz
run tune runtime/blend-1 --device 0 --strategy exhaustive -o other-out
check "what the application wrote is what is right" all "exits 4" \
    "err_has 'y\[500\]'"
unset SHMTUNE_LIBCUDA options

for header in ../odd.h /odd.h odd/../../odd.h odd..h/a.h; do
    APPLICATION_HEADER=$header
    export APPLICATION_HEADER
    application opened load launch cover=100
    case $header in
    odd..*) told=err_lacks ;;
    *) told=err_has ;;
    esac
    check "a header called $header stops no capture" all as_alone \
        "$told 'the header \"$header\" of .* is left out: no file'" \
        "[ -f opened/blend-1/include/scale_by.h ]" "[ -d opened/cover-1 ]"
done
unset APPLICATION_HEADER
check "and one that is a file is there" [ -f opened/cover-1/include/odd..h/a.h ]
application opened load_file launch_ex
check "a module from a file of what NVRTC gave has its source" all as_alone \
    "err_has 'blend-1: the launch, its source and its buffers'"
APPLICATION_KEPT=1
export APPLICATION_KEPT
application opened load_file launch sum
unset APPLICATION_KEPT
check "one that another program left has none" all as_alone \
    "err_has 'blend-1: the launch and its buffers; its source was not seen'" \
    "[ -f opened/blend-1/image.cubin ]" \
    "has opened/blend-1 'argument1: {type: bytes, role: inout, count: 4000'"
run check opened/blend-1
check "which check says" all "exits 2" "out_has 'to be written: the .cu file'"
application opened load_file launch
cp opened/blend-1/program.cu nvcc.cu
cp -r opened/blend-1/include headers
# As a program that nvcc compiled.
kept() {
    APPLICATION_KEPT=1
    export APPLICATION_KEPT
    application opened load_file launch sum
    unset APPLICATION_KEPT
}
given="--nvcc-option=-DBLOCK=256 --nvcc-option=-DSCALAR=float
    --nvcc-option=-Iheaders --no-rerun"
echo 'int main() { return 0; }' >main.cu
options="--source main.cu --source nvcc.cu $given"
kept
check "unless a file is named that has the kernel" all as_alone \
    "err_has 'blend-1: the launch and its buffers; its source is /.*/nvcc.cu'" \
    "grep -q '^source: .defines.cu, \"*/.*/nvcc.cu\"*]$' opened/blend-1/kernel.yaml" \
    "has opened/blend-1 'compiler: nvcc'" "has opened/blend-1 'y: {type: f32, '" \
    "grep -q '^includes: .\"*/.*/headers' opened/blend-1/kernel.yaml" \
    "has opened/blend-1 '# BLOCK: {values: [64, 128, 256]'"
if "$build/shmtune" doctor --wide 2>&1 | grep -q '^ok  *nvcc '; then
    run check opened/blend-1 --compile-timeout 600
    check "then it is a spec" exits 0
else
    skip "then it is a spec" "no nvcc"
fi
cat nvcc.cu - >spelled.cu <<'END'
#define ITS_BLOCK 256
#include <cuda_runtime.h>
void run() { dim3 grid(4); dim3 threads( ITS_BLOCK, 1 ); }
END
options="--source spelled.cu $given"
kept
check "of two numbers that the block may be, it is that of the source" all \
    as_alone "has opened/blend-1 'block: [ITS_BLOCK]'" \
    "has opened/blend-1 '# BLOCK: {values: [64, 128, 256]'"
options="--source main.cu $given"
kept
check "of other files none is it" all as_alone \
    "err_has 'its source was not seen'" "! has opened/blend-1 main.cu"
run capture --source nowhere.cu -o opened -- true
check "and one that is not there is no file" all "exits 1" \
    "err_has '.--source nowhere.cu is no file'"
APPLICATION_LINES=1
export APPLICATION_LINES
"$fake/application" opened load_file >"$folder/out" || exit 1
unset APPLICATION_LINES
options=$given
kept
check "what the binary names is told" all as_alone \
    "err_has 'its source was not seen'" \
    "has opened/blend-1 '# Its binary names these sources:'" \
    "grep -q '^#   .*blend.cu$' opened/blend-1/kernel.yaml"
cp nvcc.cu blend.cu
kept
check "and taken, if it has the kernel" all as_alone \
    "err_has 'blend-1: the launch and its buffers; its source is /.*/blend.cu'"
rm blend.cu
options=
FAKE_CUDA_PTX=kept.cubin
export FAKE_CUDA_PTX
application opened load_ptx launch sum
unset FAKE_CUDA_PTX
check "PTX has its source and its variables" all as_alone \
    "[ -f opened/blend-1/image.ptx ]" \
    "has opened/blend-1 'offsets: {type: f32, role: symbol, symbol: offsets, count: 2'"
run check opened/blend-1
check "and is a spec" exits 0
application runtime load_library launch_ex
check "so has a library" all as_alone \
    "err_has 'blend-1: the launch, its source and its buffers'"
run check runtime/blend-1
check "which is a spec too" exits 0

# However the launch is made, what is captured is the same.
same() { cmp -s "$1" opened/blend-1/kernel.yaml; }
application opened load launch sum
cp opened/blend-1/kernel.yaml plain.yaml
application opened load launch_packed sum
check "parameters in one buffer are captured too" all as_alone \
    "same plain.yaml"
application own load launch launch_ex sum
check "and streams that are a thread's own" all as_alone \
    "cmp -s plain.yaml own/blend-1/kernel.yaml"
application opened load_kernel launch sum
check "and a function of a library's kernel" all as_alone "same plain.yaml"
FAKE_CUDA_FAIL=FuncGetParamInfo=801
export FAKE_CUDA_FAIL
application opened load launch sum
check "and where the binary alone says what its parameters are" all as_alone \
    "same plain.yaml"
unset FAKE_CUDA_FAIL
application opened load launch_cooperative sum
check "a cooperative launch stays one" all as_alone \
    "has opened/blend-1 '  cooperative: true'"
application opened load launch_cluster sum
check "and one of clusters" all as_alone \
    "has opened/blend-1 '  cluster: [2, 1, 1]'"
application opened load launch_programmatic sum
check "a programmatic one is left out by name" all as_alone \
    "[ ! -e opened/blend-1 ]" "err_has 'left out: a programmatic launch'"

application opened load launch_serial sum
check "but not one that only might have been" all as_alone \
    "[ -d opened/blend-1 ]" "err_lacks 'left out'"

options="-k other -k bl?nd --skip 1 --count 2"
application opened load launch launch launch launch
check "names, --skip and --count choose launches" all as_alone \
    "[ -d opened/blend-2 ]" "[ ! -e opened/blend-3 ]"
gzip -dc opened/blend-1/memory-0.before.gz >second
gzip -dc runtime/blend-1/memory-0.after.gz >first
check "the second has what the first left" cmp second first
rm -rf opened
# shellcheck disable=SC2016
run capture --count 2 -o opened -- sh -c '"$@"
    for one in opened/.capture-*/*/launch.yaml; do
        echo odd >"$one"
        break
    done' \
    sh "$fake/application" opened load launch launch
check "a launch that is written down otherwise is left out alone" all \
    "exits 0" "err_has 'a launch is left out: .*launch.yaml'" \
    "[ -f opened/blend-1/kernel.yaml ]" "[ ! -e opened/blend-2 ]"
options="-k other"
application opened load launch sum
check "one that is not named is let pass" all as_alone \
    "err_has 'no launch was captured'" "[ ! -e opened/blend-1 ]"
options="--max-bytes 4K"
application opened load launch sum
check "a limit on bytes holds" all as_alone "[ ! -e opened/blend-1 ]" \
    "err_has 'blend (grid 4 x 1 x 1) is left out: .* --max-bytes'"
options=
application opened load graph launch sum
check "a capture into a graph is not disturbed" all as_alone \
    "[ ! -e opened/blend-1 ]" "err_has 'left out: it is captured into a graph'" \
    "err_lacks disturbed"
FAKE_CUDA_FAIL=EventQuery=600
export FAKE_CUDA_FAIL
begin
application opened load launch launch launch launch sum
check "a stream that does not go on is waited for once" all as_alone \
    "[ ! -e opened/blend-1 ]" "[ \$(passed) -lt 25 ]" \
    "err_has 'left out: its stream was not done in ten seconds'"
# The sixth wait is for the kernel, behind those for what it is given.
FAKE_CUDA_FAIL=EventQuery=719,6
export FAKE_CUDA_FAIL
application opened load launch sum
check "a kernel that fails is told, with what the driver says" all as_alone \
    "[ ! -e opened/blend-1 ]" \
    "err_has 'left out: the kernel failed: CUDA_ERROR_LAUNCH_FAILED$'"
FAKE_CUDA_FAIL=StreamIsCapturing=719
export FAKE_CUDA_FAIL
application opened load launch sum
check "what is launched behind it is in no graph" all as_alone \
    "[ ! -e opened/blend-1 ]" "err_lacks 'a graph'" \
    "err_has 'left out: something failed before it: CUDA_ERROR_LAUNCH_FAILED$'"
FAKE_CUDA_FAIL=StreamCreate=2,2
export FAKE_CUDA_FAIL
application opened load launch sum
check "a call of ours that fails is the program's own affair in nothing" all \
    as_alone "[ ! -e opened/blend-1 ]"
unset FAKE_CUDA_FAIL

application opened load launch sum die
check "a program that is killed leaves what is whole" all "exits 137" \
    "[ -f opened/blend-1/kernel.yaml ]" "[ ! -e opened/.capture-* ]"
run check opened/blend-1
check "and that is a spec" exits 0
rm -rf opened
# shellcheck disable=SC2016
run capture -o opened -- sh -c "$fake/application opened load launch; kill -9 \$PPID"
left=$(ls -A opened)
run capture -o opened -- true
check "of a capture that is killed itself the next leaves nothing" all \
    "[ -n '$left' ]" "[ -z \"\$(ls -A opened)\" ]"

for one in 1 2 3; do
    "$build/shmtune" capture -q --no-rerun --count 4 -o beside -- \
        "$fake/application" opened load launch launch launch launch &
done
wait
check "captures into one folder at a time keep all" all \
    "[ \$(ls -d beside/blend-* | wc -l) -eq 12 ]" "[ ! -e beside/.capture-* ]" \
    "[ \$(sort -u beside/*/kernel.yaml | grep -c '^name: ') -eq 12 ]"
rm -rf opened
# What is not ignored ends a program.
# shellcheck disable=SC2016
run capture --no-rerun -o opened -- sh -c 'ulimit -f 2; exec "$@"' sh \
    "$fake/application" opened load launch sum exit_three
check "nor does a file that is too large end it" all "exits 3" \
    "out_has '^sum [0-9]'" "err_has 'cannot be written: File too large'" \
    "err_has 'nothing is captured any more'"
if can_mount; then
    mkdir -p "$folder/small"
    run_after "mount -t tmpfs -o size=24k tmpfs '$folder/small'" \
        capture -o "$folder/small" -- "$fake/application" opened load launch \
        sum exit_three
    check "a full disk stops the capture, and not the program" all "exits 3" \
        "out_has '^sum [0-9]'" "err_has 'nothing is captured any more'"
else
    skip "a full disk stops the capture, and not the program" "no namespaces"
fi

run capture --list -- "$fake/application" opened load launch launch sum
check "a list has the kernels by the time they take" all "exits 0" \
    "out_has '^sum [0-9]'" \
    "out_has '^100.0 %  *0.512  *2  *256.00  *4 x 1 x 1  *256 x 1 x 1  *blend$'"
run capture --list --json -- "$fake/application" opened load launch launch sum
check "as a document, its times are numbers" all "exits 0" \
    "out_has '^sum [0-9]'" "tail -n 1 out >last" \
    "grep -q '{\"kernel\": \"blend\", \"symbol\": .*\"ms\": 0.512, ' last" \
    "grep -q '\"launches\": 2, \"in_graphs\": 0, \"untimed\": 0, \"us_each\": 256.0, ' last" \
    "grep -q '\"last_grid\": \[4, 1, 1\], \"last_block\": \[256, 1, 1\]' last" \
    "\"$build/tests/support/holds\" \"$source/docs/output.schema.json\" last"
run capture --json -o document -- "$fake/application" opened load launch sum
check "what was captured as a document" all "exits 0" \
    "out_has '^sum [0-9]'" "tail -n 1 out >last" \
    "grep -q '\"folder\": \".*/document/blend-1\", \"source\": true' last" \
    "grep -q '\"again\": \"[mn]' last" \
    "\"$build/tests/support/holds\" \"$source/docs/output.schema.json\" last"
for way in "" 1; do
    [ -z "$way" ] || export BETWEEN_OPENED=1
    LD_PRELOAD=$fake/between
    export LD_PRELOAD
    run capture --no-rerun -o between"$way" -- "$fake/application_linked" \
        linked load launch launch sum
    unset LD_PRELOAD BETWEEN_OPENED
    check "another library that stands before the driver keeps its place" all \
        "exits 0" "out_has '^sum [0-9]'" "err_has 'between: 0'" \
        "err_lacks 'between: [1-9]'" "[ -d between$way/blend-1 ]"
done
run capture --list -- "$fake/application" opened load launch launch fork
check "a child that was forked counts nothing again" all "exits 0" \
    "out_has '^100.0 %  *0.512  *2  *256.00 .* blend'"
# Times are written every two seconds at least.
for end in quit die; do
    run capture --list -- "$fake/application" opened load times=7 stride=9 \
        second second launch $end
    check "of a program that ends by $end most is listed" all \
        "out_has ' 2.048  *8  *256.00 .* blend$'" "out_has ' stride'" \
        "err_has 'ended by a signal, _exit or exec: its last launches may be'"
done
for way in opened runtime; do
    run capture --list -- "$fake/application" "$way" load times=7 sum
    check "$way: of a short program all is timed" all "exits 0" \
        "out_has ' 1.792  *7  *256.00 .* blend$'"
done
run capture --list -- "$fake/application" opened load launch quit
check "and what could not be timed is no 0" \
    out_has '^  *-  *-  *1  *-  *4 x 1 x 1  *256 x 1 x 1  *blend (not timed)$'
run capture --list -- "$fake/application" opened load times=3 second \
    second launch exec
check "a process that runs another program has both" all "exits 0" \
    "out_has ' 1.792  *7  *256.00 .* blend$'"
FAKE_CUDA_LOADING=100000
export FAKE_CUDA_LOADING
run capture --list -- "$fake/application" opened load times=4 stride=9 sum
check "what loads code in its first launch does not take longer by that" all \
    "exits 0" \
    "out_has ' 1.024  *4  *256.00  *4 x 1 x 1  *256 x 1 x 1  *blend$'" \
    "out_has ' 100.256  *1  *100256.00 .* stride (its first launches only)$'"
unset FAKE_CUDA_LOADING
finish
