#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What a spec names is run by tune and explain: its answer, its setup, its
# comparison and its functions of the host.  Every other command, and the library
# until it launches, compile at most: somebody's kernels can be looked at without
# running them.  On the fake driver, which notes each launch.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

unset SHMTUNE_WORKER
SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
SHMTUNE_NVCC=$source/tests/fake/fake_nvcc
FAKE_CUDA_LAUNCHES=$folder/launched
RAN=$folder/ran
TMPDIR=$folder
XDG_CACHE_HOME=$folder/cache
export SHMTUNE_LIBCUDA SHMTUNE_NVCC FAKE_CUDA_LAUNCHES RAN TMPDIR XDG_CACHE_HOME
cd "$folder" || exit 1
rm -rf "$root"
mkdir -p "$root/kernels" "$root/tunings"
kernels=$root/kernels
cp "$source"/tests/fake/fake_*.cu "$source"/tests/fake/fake_kernel.h "$kernels"

# Each leaves its name where it runs: the program by itself, kernels by the
# driver's notes, and the shared object when it is opened.
sed -e '/^reference:/,/^  arguments:/d' \
    -e 's|^arguments:|answer: {command: [sh, oracle.sh]}\n&|' \
    -e 's/^name: .*/name: asking/' -e 's/\[right, wrong\]/[right]/' \
    "$source/tests/fake/fake_kernel.yaml" >"$kernels/asking.yaml"
printf 'echo answer >>"$RAN"\nexit 1\n' >"$kernels/oracle.sh"
sed -e 's/^name: .*/name: filling/' \
    "$source/tests/fake/fake_setup.yaml" >"$kernels/filling.yaml"
sed -e 's/^name: .*/name: comparing/' -e 's/\[right, wrong\]/[right]/' \
    -e 's/, tolerance: {relative: 1.0e-6}//' \
    -e 's/^reference:/compare:\n- entry: scale_compare\n  grid: [1]\n  block: [1]\n  arguments: [mismatches, out, expected.out, n]\n&/' \
    "$source/tests/fake/fake_kernel.yaml" >"$kernels/comparing.yaml"
cp "$source/tests/fake/fake_host.yaml" "$kernels/"
cat >>"$kernels/fake_host.cu" <<'END'

static struct Opened {
    Opened()
    {
        std::FILE *file = std::fopen(std::getenv("RAN"), "a");

        std::fprintf(file, "host\n");
        std::fclose(file);
    }
} opened;
END

run worker --spec "$kernels/filling.yaml" --images images --arch sm_90
if ! exits 0 || [ ! -f "$SHMTUNE_LIBCUDA" ]; then
    echo "1..0 # SKIP no NVRTC or no fake driver: $(head -n 1 "$folder/err")"
    exit 0
fi
names="asking filling comparing"
if command -v c++ >/dev/null; then
    names="$names fake_host"
else
    skip "functions of the host" "no c++"
    rm "$kernels"/fake_host.*
fi
nothing_ran() { [ ! -e "$RAN" ] && [ ! -e "$FAKE_CUDA_LAUNCHES" ]; }

# -- who runs nothing --------------------------------------------------------

run list
check "list" all 'exits 0' nothing_ran "out_has filling"
run list --json
check "list --json" all 'exits 0' nothing_ran
run check --compile-timeout 300
check "check of all" all 'exits 0' nothing_ran 'out_has comparing'
run doctor
check "doctor" nothing_ran
for kernel in $names; do
    spec=$kernels/$kernel.yaml
    run check "$spec"
    check "check $kernel" all 'exits 0' nothing_ran 'out_has "compile"'
    run space "$spec"
    check "space $kernel" all 'exits 0' nothing_ran
    run inspect "$spec" --arch sm_90 --limit 2
    check "inspect $kernel" all 'exits 0' nothing_ran 'out_lacks compile_error'
    run data "$spec" -o "inputs_$kernel"
    check "data $kernel" all 'exits 0' nothing_ran
    run export "$spec" --to t1
    check "export $kernel" all 'exits 0' nothing_ran
    "$build/tests/support/choose" "$kernel" 1000 1 >"$folder/out" 2>"$folder/err"
    status=$?
    check "the library chooses $kernel" all 'exits 0' nothing_ran \
        'out_has "^match: default$"'
    [ "$kernel" = fake_host ] ||
        check "and prepares it" all nothing_ran 'out_has "^prepared$"'
done

# -- who does ----------------------------------------------------------------

# runs KERNEL PATTERN FILE ARGUMENT...
runs() {
    kernel=$1 pattern=$2 file=$3
    shift 3
    rm -f "$RAN" "$FAKE_CUDA_LAUNCHES"
    run "$@" "$kernels/$kernel.yaml" --device 0
    check "$1 runs that of $kernel" grep -q "$pattern" "$file"
}
each() {
    runs filling split_points "$FAKE_CUDA_LAUNCHES" "$@"
    runs comparing scale_compare "$FAKE_CUDA_LAUNCHES" "$@"
    [ ! -e "$kernels/fake_host.cu" ] || runs fake_host host "$RAN" "$@"
}
each tune --strategy random --budget 1 --output tunings
runs asking answer "$RAN" tune --strategy random --budget 1 --output tunings
each explain --no-counters
runs asking answer "$RAN" explain --no-counters --config TILE=64
journal=$(ls tunings/*/*.journal tunings/*.journal 2>/dev/null | head -n 1)
rm -f "$RAN" "$FAKE_CUDA_LAUNCHES"
run show "$journal"
check "show of what was run does not run it" all nothing_ran "[ -n '$journal' ]"
finish
