#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The whole chain with real workers and a real compiler, on the fake driver:
# each planted fault is the verdict of its candidate, the rest are tuned.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

unset SHMTUNE_WORKER
SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
TMPDIR=$folder
export SHMTUNE_LIBCUDA TMPDIR
cd "$folder" || exit 1
cp "$source/tests/fake/fake_kernel.cu" .
sed -e 's/^\(  TILE: {values: \).*/\1[32, 64], default: 64}/' \
    -e 's/^\(  COST: {values: \).*\(, scope\)/\1[100], default: 100\2/' \
    -e 's/^\(  SCRATCH: {values: \).*\(, scope\)/\1[1], default: 1\2/' \
    -e 's/^\(  DYNAMIC: {values: \).*\(, scope\)/\1[0, 1000000], default: 0\2/' \
    "$source/tests/fake/fake_kernel.yaml" >fake_kernel.yaml

run worker --spec fake_kernel.yaml --images images --arch sm_90
if ! exits 0; then
    echo "1..0 # SKIP $(head -n 1 "$folder/err")"
    exit 0
fi
[ -f "$SHMTUNE_LIBCUDA" ] || {
    echo "1..0 # SKIP the fake driver is not built"
    exit 0
}

run ./fake_kernel.yaml --device 0 --strategy exhaustive -j 2 --record rec
check "tunes what is right among what is not" all 'exits 0' \
    'out_has "fake_kernel *n=1000"' 'out_has "FAULT=0"' \
    'err_has "GPU busy .*, 60 too_large, 30 spec_mismatch, .* timeout.*; "'
journal=$(ls tunings/fake_kernel/*.1000.journal)
# verdict TILE FAULT: of the candidate that states the truth and fits
verdict() {
    sed -n "s/.*TILE: $1, STATED: right, FAULT: $2, .*DYNAMIC: 0}.* verdict: \([a-z_]*\).*/\1/p" \
        "$journal"
}
has_verdict() { [ "$(verdict 64 "$1")" = "$2" ]; }
for pair in 0:ok 1:crash 2:crash 3:timeout 4:out_of_bounds 5:out_of_bounds \
    6:out_of_bounds 7:wrong 8:wrong 9:unwritten 10:unstable 13:out_of_bounds 14:wrong
do
    check "fault ${pair%:*} is ${pair#*:}" \
        has_verdict "${pair%:*}" "${pair#*:}"
done
mismatches() { grep -c 'STATED: wrong.*DYNAMIC: 0}.*verdict: spec_mismatch' "$journal"; }
check "every misstatement is found" [ "$(mismatches)" -eq 30 ]
too_large() { grep -c 'DYNAMIC: 1000000}.*verdict: too_large' "$journal"; }
check "nothing too large was compiled" [ "$(too_large)" -eq 60 ]
run show "$journal" --spec fake_kernel.yaml
check "show has a reason for every verdict" all 'exits 0' \
    'out_has "^out_of_bounds, for example: TILE=.* before\|after .*"' \
    'out_has "^spec_mismatch, for example: TILE=.*: .*bytes"' \
    'out_has "^wrong, for example: "' 'out_lacks "^slow, for"'
run ./fake_kernel.yaml --device 0 --strategy random --budget 30 -v \
    --output told
check "-v tells of each that is rejected" all 'exits 0' \
    'err_has "^shmtune: spec_mismatch: TILE=.*: .*bytes"' \
    "[ $(grep -c '^shmtune: [a-z_]*: TILE=' "$folder/err") -eq \
      $(grep 'config:' told/*/*.journal | grep -vc 'verdict: \(ok\|slow\),') ]"
run ./fake_kernel.yaml --device "replay:$(ls rec/fake_kernel/*.gz)" \
    --strategy exhaustive --output again -q
check "the record replays to the same winner" all 'exits 0' \
    'out_has "FAULT=0"'

FAKE_CUDA_MEMORY=20000000
export FAKE_CUDA_MEMORY
run ./fake_kernel.yaml --device 0 --size n=1000000 --size n=1000 --budget 1 \
    --output small
check "a size that does not fit the device does not end the run" all \
    'exits 7' 'err_has "device memory for .*choose a smaller size"' \
    'out_has "fake_kernel *n=1000 "'
sed -e 's/^\(  SCRATCH: {values: \).*\(, scope\)/\1[1, 10000000, 15000000, 1000000000], default: 1\2/' \
    -e 's/^\(  TILE: {values: \).*/\1[64], default: 64}/' \
    -e 's/^\(  STATED: {values: \).*/\1[right], default: right}/' \
    -e 's/^\(  FAULT: {values: \).*\(, scope\)/\1[0], default: 0\2/' \
    -e 's/^\(  DYNAMIC: {values: \).*\(, scope\)/\1[0], default: 0\2/' \
    fake_kernel.yaml >scratch.yaml
FAKE_CUDA_MEMORY=90000000
run ./scratch.yaml --device 0 --strategy exhaustive --output scratch
check "a workspace has what room there is, whatever was there before" all \
    'exits 0' 'err_has "4 of 4 candidates .*), 1 out_of_memory; "'
unset FAKE_CUDA_MEMORY

# -- most candidates fail ---------------------------------------------------
# before A B: the line with A stands before the one with B
before() {
    [ "$(grep -n "$1" "$folder/err" | head -n 1 | cut -d : -f 1)" -lt \
        "$(grep -n "$2" "$folder/err" | head -n 1 | cut -d : -f 1)" ]
}
# near TOLERANCE FAULTS DEFAULT: a spec with these faults alone
near() {
    sed -e "s/tolerance: {.*}}/tolerance: $1}/" \
        -e 's/^\(  TILE: {values: \).*/\1[32, 64], default: 64}/' \
        -e 's/^\(  STATED: {values: \).*/\1[right], default: right}/' \
        -e "s/^\(  FAULT: {values: \).*\(, scope\)/\1$2, default: $3\2/" \
        -e 's/^\(  DYNAMIC: {values: \).*\(, scope\)/\1[0], default: 0\2/' \
        fake_kernel.yaml >near.yaml
}
near '{absolute: 0.4}' '[0, 8, 10]' 0
run ./near.yaml --device 0 --strategy exhaustive --output near
check "a tolerance that would pass is named first" all 'exits 0' \
    'before "4 of the 6 candidates that ran have out a little off" "6 of 6"' \
    'err_has "{absolute: 1.1}. at ./near.yaml:27:5[0-9] would pass them, and so would .mismatches: 1. in it"'
near '{absolute: 1.1}' '[0, 8, 10]' 0
run ./near.yaml --device 0 --strategy exhaustive --output near
check "and passes" all 'exits 0' 'err_lacks "little off"' \
    'err_lacks " wrong"' 'err_lacks unstable'
near '{absolute: 0.4, mismatches: 1}' '[0, 8, 10]' 0
run ./near.yaml --device 0 --strategy exhaustive --output near
check "and so do the mismatches" all 'exits 0' 'err_lacks "little off"' \
    'err_lacks " wrong"' 'err_lacks unstable'
near '{absolute: 0.4}' '[8]' 8
run ./near.yaml --device 0 --strategy exhaustive --output near
check "so it is of the default" all 'exits 4' \
    'err_has "off by 0.5, 1.25 times the tolerance.*; .tolerance: {absolute: 0.51}. at ./near.yaml:27:.* would pass it"'
near '{absolute: 0.4}' '[0, 4, 5, 6, 9, 13]' 0
run ./near.yaml --device 0 --strategy exhaustive --output most
check "the commonest reasons are told, where most fail at first" all 'exits 0' \
    'before "^shmtune: most candidates fail: 10 of 12$" "12 of 12 cand"' \
    'err_has "^shmtune: 2 of 8 out_of_bounds, for example TILE=32.* \(wrote 4 bytes outside out\|changed its input x$\)"'

run ./near.yaml --device 0 --strategy exhaustive --output most --size n=512 \
    --size n=1024
check "of several at a time, with whose they are" all 'exits 0' \
    'err_has "^shmtune: fake_kernel n=512: most candidates fail: 10 of 12$"' \
    'err_has "^shmtune: fake_kernel n=1024: 2 of 8 out_of_bounds, for "'

# -- the sources are edited -------------------------------------------------
sed -e 's/^\(  TILE: {values: \).*/\1{from: 32, to: 152, step: 8}, default: 64}/' \
    -e 's/^\(  STATED: {values: \).*/\1[right], default: right}/' \
    -e 's/^\(  FAULT: {values: \).*\(, scope\)/\1[0], default: 0\2/' \
    fake_kernel.yaml >edited.yaml
# edit OUTPUT COMMAND: a run whose sources are edited once its compile worker has
# given two results, after which that does COMMAND.
edit() {
    cat >editing <<END
#!/bin/sh
case " \$* " in *" --device "*) exec "$build/shmtune" "\$@" ;; esac
"$build/shmtune" "\$@" | while IFS= read -r line; do
    printf '%s\\n' "\$line"
    lines=\$((\${lines-0} + 1))
    # The first has said hello.
    [ \$lines -ne 3 ] || { echo '// edited' >>fake_kernel.cu; $2; }
done
END
    chmod +x editing
    cp "$source/tests/fake/fake_kernel.cu" .
    SHMTUNE_WORKER=$folder/editing run ./edited.yaml --device 0 \
        --strategy exhaustive -j 1 --output "$1"
}
edit edited :
check "an edit while it runs is for the next run" all 'exits 0' \
    'err_has "were changed since this run began; its results are for the old "'
cp "$source/tests/fake/fake_kernel.cu" .
run check edited/*/*.yaml --spec edited.yaml
check "the tuning is of the sources before" exits 0
edit mixed 'kill -KILL 0'
check "another worker would read other sources" all 'exits 2' \
    'err_has "sources were changed since this run began; start the run again"'
cp "$source/tests/fake/fake_kernel.cu" .

# -- what ends a run before it begins --------------------------------------
# planted SCRIPT: the spec, edited.
planted() { sed -e "$1" fake_kernel.yaml >planted.yaml; }
planted 's/- entry: scale_reference$/- entry: nobody/'
run ./planted.yaml --device 0 --output planted
check "a reference that is not there: exit 4, by its name" all 'exits 4' \
    'err_has "the reference failed: .*fake_kernel.cu has no kernel .nobody."'
planted 's/- entry: scale$/- entry: "nobody<{TILE}>"/'
run ./planted.yaml --device 0 --output planted
check "so is a default that is not there" all 'exits 4' \
    'err_has "fake_kernel.cu has no kernel .nobody<64>., an entry"'
run ./planted.yaml --device 0 --output planted --json
check "in JSON with its size as everywhere" all 'exits 4' is_json \
    'out_has "^ *\"status\": 4,"' 'out_has "^ *\"n\": 1000$"'
SHMTUNE_NVRTC=$folder/absent
export SHMTUNE_NVRTC
run ./fake_kernel.yaml --device 0 --output planted
check "no compiler: exit 6, and how to do without" all 'exits 6' \
    'err_has "is not an NVRTC"' 'err_has "shmtune inspect"'
run inspect ./fake_kernel.yaml
check "so it is for inspect" exits 6

# -- a compile worker that is killed -----------------------------------------
cp "$source/tests/fake/data/faults.yaml" "$source/tests/fake/data/toy.cu" \
    "$root/kernels/"
SHMTUNE_WORKER=$build/tests/fake/worker
export SHMTUNE_WORKER
run inspect faults --config BEHAVE=compile_die
check "inspect says what killed the compiler" all 'exits 9' \
    'err_has "crash: while it compiled, in 2 tries: the worker was killed by signal 6"' \
    'err_lacks compile_error'
run inspect faults --config BEHAVE=compile_die_once
check "and tries again" all 'exits 0' err_empty
finish
