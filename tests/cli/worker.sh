#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The worker's lines, driven by hand: on no device, and on the fake driver.
set -u

source=${SHMT_SRCDIR:?} build=${SHMT_BUILDDIR:?}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
. "$source/tests/support/script.sh"
complain() { sed 's/^/# /' "$folder/out" "$folder/err"; }

# worker OPTION...: requests from $folder/in, of the kernel $spec in $specs;
# results in $folder/out, $folder/err, $status
specs=$source/tests/fake spec=fake_kernel
worker() {
    "$build/shmtune" worker --spec "$specs/$spec.yaml" \
        --images "$folder/images" "$@" <"$folder/in" >"$folder/out" \
        2>"$folder/err"
    status=$?
}

# request VERB TAG FAULT [KEYS]
request() {
    echo "{verb: $1, tag: $2, config: {TILE: 64, STATED: right, FAULT: $3," \
        "COST: 100, SCRATCH: 1, DYNAMIC: 0}${4-}}"
}

has() { grep -q -e "$1" "$folder/out"; }
: >"$folder/in"
told() { [ "$(wc -l <"$folder/out")" -eq "$1" ]; }

worker --arch sm_90
if [ $status -eq 8 ]; then
    echo "1..0 # SKIP $(head -n 1 "$folder/err")"
    exit 0
fi
# nice_of PID: how much it leaves to others.
nice_of() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f17; }
mkfifo "$folder/pipe"
"$build/shmtune" worker --spec "$specs/$spec.yaml" --images "$folder/images" \
    --arch sm_90 <"$folder/pipe" >"$folder/hello" 2>"$folder/err" &
pid=$!
exec 3>"$folder/pipe"
for _ in $(seq 300); do
    [ -s "$folder/hello" ] && break
    sleep 0.1
done
nice=$(nice_of $pid)
exec 3>&-
wait $pid
own=$(nice_of $$)
check "what compiles comes second to what measures" all \
    '[ "$nice" -eq $((own + 10)) ] || [ "$nice" -eq 19 ]'
check "says hello and ends with its input" all \
    '[ $status -eq 0 ] && told 1 && has "^{hello: 1, nvrtc: [0-9]*, arch: sm_90, digest: \"*[0-9a-f]*\"*}$"'

{
    request inspect 7 0
    request inspect 8 0
    request inspect 18446744073709551614 0
} >"$folder/in"
worker --arch sm_90
check "inspects" all 'told 4 && has "^{tag: 7, verdict: ok, registers: "'
check "compiles once" all 'has "tag: 8.*compile_ms: 0,"'
check "whatever the tag" all 'has "^{tag: 18446744073709551614, verdict: ok, "'
check "keeps binaries" all '[ -f "$folder/images/$(sed -n "s/.*tag: 7.*image: \([0-9a-f]*\).*/\1/p" "$folder/out").cubin" ]'

{
    echo 'nonsense ['
    echo '{verb: dance, tag: 3}'
    echo '{verb: inspect, tag: 4, config: {TILE: 64}}'
    request inspect 5 77
    request inspect 6 0 ', colour: red'
    echo
    request measure 9 0
    head -c 70000 /dev/zero | tr '\0' 'x'
    echo
    request inspect 10 0
} >"$folder/in"
worker --arch sm_90
check "answers every line, and goes on" all 'told 9 && [ $status -eq 0 ]'
check "names what it cannot read" all 'has "tag: 3, error: .*dance.*status: 2" && has "tag: 6, error: .*colour"'
check "names values that are none" all 'has "tag: 5, error: .*77 .*FAULT"'
check "measures on a device only" all 'has "tag: 9, error: .*--device"'
check "refuses long lines" all 'has "error: .*65536 bytes"'
check "the last is answered" all 'has "tag: 10, verdict: ok"'

# Another spec, in the same process; and one that is not there.
other=$folder/other.yaml
sed "s,fake_kernel.cu,$specs/&,; s/^name: .*/name: other/" \
    "$specs/fake_kernel.yaml" >"$other"
{
    request inspect 1 0
    echo "{serve: \"$other\", arch: sm_80}"
    request inspect 2 0
    echo "{serve: $specs/fake_kernel.yaml, arch: sm_90}"
    request inspect 3 0
    echo "{serve: $folder/none.yaml, arch: sm_90}"
    request inspect 4 0
} >"$folder/in"
worker --arch sm_90
digests() { sed -n 's/.*hello: 1.*digest: \([0-9a-f]*\).*/\1/p' "$folder/out"; }
images() { sed -n 's/.*image: \([0-9a-f]*\).*/\1/p' "$folder/out"; }
check "serves another spec, and says hello again" all 'told 6 &&
    [ "$(digests | sort -u | wc -l)" -eq 2 ] &&
    [ "$(digests | sed -n 1p)" = "$(digests | sed -n 3p)" ] &&
    has "hello: 1.*arch: sm_80"'
check "each for its own architecture" all '[ "$(images | sort -u | wc -l)" -eq 2 ] &&
    [ "$(images | sed -n 1p)" = "$(images | sed -n 3p)" ]'
check "one that is not there ends it, as at its start" all '
    [ $status -ne 0 ] && ! has "tag: 4" && grep -q "none.yaml" "$folder/err"'
echo "{serve: $other, arch: sm_90, colour: red}" >"$folder/in"
worker --arch sm_90
check "so does a line that has more" all '[ $status -eq 2 ] && told 1 &&
    grep -q "colour.*expected.*serve.*arch" "$folder/err"'

: >"$folder/in"
worker --arch sm_42
check "knows architectures" all '[ $status -ne 0 ] && grep -q sm_42 "$folder/err"'
worker
check "asks for one" all '[ $status -eq 1 ]'
SHMTUNE_LIBCUDA=/no/such/lib worker --device 0
check "no driver is status 6" all '[ $status -eq 6 ] && grep -q /no/such/lib "$folder/err" && told 0'

if [ ! -f "$build/tests/fake/.libs/fake_cuda.so" ]; then
    finish
    exit 0
fi
SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA

# The measuring kernels are kept in the user's cache, if it is that.
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME
cached() { [ "$(ls "$folder/cache/shmtune/cubin" | wc -l)" -eq "$1" ]; }
request measure 1 0 >"$folder/in"
rm -rf "$folder/images"
worker --device 0
check "the measuring kernels are cached" all 'has "tag: 1, verdict: ok" && cached 2'
kept=$(ls "$folder/images" | wc -l)
rm -rf "$folder/images"
worker --device 0
check "and found there by the next one" all 'has "tag: 1, verdict: ok" && cached 2 && [ "$(ls "$folder/images" | wc -l)" -eq $((kept - 2)) ]'
chmod 777 "$folder/cache/shmtune/cubin"
rm -rf "$folder/images"
worker --device 0
check "not where others may write" all 'has "tag: 1, verdict: ok" && [ "$(ls "$folder/images" | wc -l)" -eq "$kept" ]'
chmod 700 "$folder/cache/shmtune/cubin"

echo "{serve: $other, arch: sm_90}" >"$folder/in"
worker --device 0
check "one that measures keeps its spec" all '[ $status -eq 1 ] && told 1 && grep -q "has a device.*other.yaml" "$folder/err"'
: >"$folder/in"
worker --device cpu
check "no GPU is called cpu" all '[ $status -eq 1 ] && grep -q "device is .cpu.; .*number of a GPU or its UUID" "$folder/err"'
worker --device 7
check "no such device is status 6" all '[ $status -eq 6 ] && grep -q "there is 0 (GPU-" "$folder/err"'
FAKE_CUDA_VERSION=11080 worker --device 0
check "old drivers are refused" all '[ $status -eq 6 ] && grep -q "11.8.*12.0" "$folder/err"'
FAKE_CUDA_MISSING=cuLaunchKernelEx worker --device 0
check "missing functions are named" all '[ $status -eq 6 ] && grep -q cuLaunchKernelEx "$folder/err"'
FAKE_CUDA_DEVICES=0 worker --device 0
check "no GPU is status 6" all '[ $status -eq 6 ]'

{
    request measure 1 0
    request measure 2 12     # prints
    request measure 3 8      # one wrong element
    request measure 4 0 ', samples: 3, give_up_us: 10, verify: false'
    request measure 5 1      # illegal address: the last one
    request measure 6 0
} >"$folder/in"
worker --device 0 --data-seed 3
check "measures" all 'has "hello: 1.*protocol: cold-l2, device: {name: Fake device 0" && has "hello: 1.*arch: sm_90," && has "tag: 1, verdict: ok.*time_us: 100, samples_us: \[100"'
check "what kernels print is no reply" all 'has "tag: 2, verdict: ok" && ! has "from a kernel" && grep -q "from a kernel" "$folder/err"'
check "wrong results are told" all 'has "tag: 3, verdict: wrong, reason: .out.333. is"'
check "hopeless ones are told" all 'has "tag: 4, verdict: slow"'
check "a crash is the last reply" all 'has "tag: 5, verdict: crash, reason: .*ILLEGAL_ADDRESS" && told 6 && [ $status -eq 0 ]'

# An array by value, at its place and one element off; the most of it, and
# more.
{
    for shift in 0 1; do
        echo "{verb: measure, tag: 1$shift, size: {n: 99, taps: 7}," \
            "config: {BLOCK: 64, SHIFT: $shift}}"
    done
    for taps in 8185 8187; do
        echo "{verb: measure, tag: $taps, size: {n: 99, taps: $taps}," \
            "config: {BLOCK: 64, SHIFT: 0}}"
    done
} >"$folder/in"
spec=fake_value
worker --device 0
spec=fake_kernel
check "an array by value reaches the kernel" all 'told 5 && has "tag: 10, verdict: ok" && has "tag: 11, verdict: wrong, reason: .out" && has "tag: 8185, verdict: ok"'
check "too large a one is told at its place" all 'has "tag: 8187, .*fake_value.yaml:24:44: the arguments of smooth_reference take 32768 bytes"'

# Two launches of one kernel that take turns by a parameter that is not
# compiled in: one binary, of which the second launch has the only function.
spec=fake_kernel specs=$folder
cp "$source/tests/fake/fake_kernel.cu" "$folder/"
awk '/^- entry: scale$/ { in_launch = 1 }
    /^reference:/ {
        printf "- entry: scale\n  when: COST == 5\n%s", rest
        in_launch = 0
    }
    { print }
    /^- entry: scale$/ { print "  when: COST == 100" }
    in_launch && !/^- entry/ { rest = rest $0 "\n" }' \
    "$source/tests/fake/fake_kernel.yaml" >"$folder/fake_kernel.yaml"
{
    request measure 21 0
    request measure 22 0 | sed 's/COST: 100/COST: 5/'
    request measure 23 0
} >"$folder/in"
worker --device 0
check "launches of one kernel take turns" all 'told 4 && [ $status -eq 0 ] &&
    has "tag: 21, verdict: ok" && has "tag: 22, verdict: ok" &&
    has "tag: 23, verdict: ok"'
specs=$source/tests/fake

# One way that needs a cleared workspace, and one that does not: the library
# clears what is launched with, and so nothing else is timed.
spec=two_ways specs=$folder
cat >"$folder/two_ways.yaml" <<EOF
format: kernel/1
name: two_ways
source: $source/tests/fake/fake_kernel.cu
problem:
  n: {default: 1000}
parameters:
  TILE: {values: [64], default: 64}
  WAY: {values: [counted, plain], default: counted}
launches:
- entry: scale
  when: WAY == 'counted'
  grid: ["ceildiv(n, TILE)"]
  block: [TILE]
  arguments: [out, x, acc, counter, n, zero, zero]
- entry: scale_reference
  when: WAY == 'plain'
  grid: [1]
  block: [1]
  arguments: [out, x, acc, n]
reference:
- entry: scale_reference
  grid: [1]
  block: [1]
  arguments: [out, x, acc, n]
arguments:
  out: {type: f32, role: output, count: n}
  x: {type: f32, role: input, count: n}
  acc: {type: i32, role: inout, count: n}
  counter: {type: i32, role: workspace, count: 64, zeroed: true}
  n: {type: i32, value: n}
  zero: {type: i32, value: 0}
EOF
for way in counted plain; do
    echo "{verb: measure, tag: 31, config: {TILE: 64, WAY: $way}}"
done >"$folder/in"
FAKE_CUDA_FAIL=MemsetD8Async=1
export FAKE_CUDA_FAIL
worker --device 0
unset FAKE_CUDA_FAIL
check "what is not launched with is not cleared" all 'told 3 &&
    sed -n 2p "$folder/out" | grep -q "verdict: launch_error" &&
    sed -n 3p "$folder/out" | grep -q "verdict: ok"'
spec=fake_kernel specs=$source/tests/fake

# A candidate and a reference that are passed one argument too few are never
# launched, inspected before or not.
spec=fake_kernel specs=$folder
cp "$source/tests/fake/fake_kernel.cu" "$folder/"
request measure 11 0 >"$folder/in"
sed 's/, cost\]/]/' "$source/tests/fake/fake_kernel.yaml" >"$folder/fake_kernel.yaml"
worker --device 0
check "a candidate's arguments are counted" all 'has "tag: 11, verdict: spec_mismatch, reason: .scale takes 7 .* passes 6 .*fake_kernel.yaml:20:14"'
sed 's/acc, n\]/acc]/' "$source/tests/fake/fake_kernel.yaml" >"$folder/fake_kernel.yaml"
worker --device 0
check "and its reference's" all 'has "tag: 11, error: .*the reference failed: scale_reference takes 4 .* passes 3 "'
specs=$source/tests/fake

# Endless kernels and endless compiles are ended from outside.
# endless LINES OPTION...: killed two seconds after it has said so much
endless() {
    awaited=$1
    shift
    : >"$folder/out"
    "$build/shmtune" worker --images "$folder/images" "$@" <"$folder/in" \
        >"$folder/out" 2>"$folder/err" &
    pid=$!
    for _ in $(seq 300); do
        [ "$(wc -l <"$folder/out")" -lt "$awaited" ] || break
        sleep 0.1
    done
    sleep 2
    kill -KILL $pid
    wait $pid 2>/dev/null
}
request measure 1 11 >"$folder/in"
endless 1 --device 0 --spec "$source/tests/fake/fake_kernel.yaml"
check "an endless kernel says nothing" all 'told 1 && ! has "tag: 1"'

cat >"$folder/slow.yaml" <<END
format: kernel/1
name: slow
summary: takes the compiler long
source: slow.cu
problem:
  n: {default: 1}
parameters:
  UNROLL: {values: [1, 8192], default: 1}
launches:
- entry: slow
  grid: [1]
  block: [32]
  arguments: [out]
arguments:
  out: {type: f32, role: output, count: n}
END
cat >"$folder/slow.cu" <<'END'
extern "C" __global__ void slow(float *out)
{
    __shared__ float tile[1024];
    float sum = 0;

    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < 65536; k++)
        sum += tile[(threadIdx.x * k + k / 3) % 1024] * out[k % 7 + k];
    out[threadIdx.x] = sum;
}
END
{
    echo '{verb: inspect, tag: 1, config: {UNROLL: 1}}'
    echo '{verb: inspect, tag: 2, config: {UNROLL: 8192}}'
} >"$folder/in"
endless 2 --arch sm_90 --spec "$folder/slow.yaml"
check "an endless compile says nothing, what went before stands" all \
    'has "tag: 1, verdict: ok" && ! has "tag: 2"'
finish
