#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program that says what is right: started by the runs that measure, on the
# fake driver; unrun.sh has who does not.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

unset SHMTUNE_WORKER
SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
TMPDIR=$folder
XDG_CACHE_HOME=$folder/cache
export SHMTUNE_LIBCUDA TMPDIR XDG_CACHE_HOME
cd "$folder" || exit 1
cp "$source/tests/fake/fake_kernel.cu" .
answer="{command: [sh, oracle.sh, $folder/ran], timeout_s: 20}"
sed -e "/^reference:/,/^  arguments:/d" \
    -e "s|^arguments:|answer: $answer\n&|" \
    -e 's/fill: uniform, range: .-1, 1./fill: zero/; s/fill: ramp/fill: zero/' \
    "$source/tests/fake/fake_kernel.yaml" >asking.yaml
cat >oracle.sh <<'END'
touch "$1"
head -c 128 x.npy >out.answer.npy
head -c 4000 /dev/zero >>out.answer.npy
head -c 128 acc.npy >acc.answer.npy
i=0
while [ $i -lt 1000 ]; do
    printf '\001\000\000\000'
    i=$((i + 1))
done >>acc.answer.npy
END

run worker --spec asking.yaml --images images --arch sm_90
if ! exits 0; then
    echo "1..0 # SKIP $(head -n 1 "$folder/err")"
    exit 0
fi
[ -f "$SHMTUNE_LIBCUDA" ] || {
    skip "tune does" "the fake driver is not built"
    finish
}
run ./asking.yaml --device 0 --strategy random --budget 1
check "tune does" all 'exits 0' "[ -e ran ]" 'out_has "FAULT=0"'
rm ran
run ./asking.yaml --device 0 --strategy random --budget 1 --no-resume
check "once" all 'exits 0' "[ ! -e ran ]"
kept() { ls cache/shmtune/answers; }
check "nothing stays but the answers" all '[ "$(kept | wc -l)" -eq 2 ]' \
    '[ "$(kept | grep -c "^[0-9a-f]\{64\}\.[a-z]*\.npy$")" -eq 2 ]'

# -- what check says of it -----------------------------------------------------
note() { # PROGRAM
    sed "s|command: .sh,|command: [$1,|" asking.yaml >noted.yaml
    run check --no-compile noted.yaml
}
note no-such-program
check "a program that is not there is noted" all 'exits 0' \
    "out_has 'noted.yaml:[0-9]*:[0-9]*: the program of the answer, no-such-program, is not in .PATH'"
note ./oracle.sh
check "and one that may not be run" all 'exits 0' \
    "out_has 'the program of the answer, /.*/oracle.sh, is no file that may be run'"
chmod +x oracle.sh
note ./oracle.sh
check "not one that may" all 'exits 0' "! out_has 'program of the answer'"
note sh
check "nor what \$PATH has" all 'exits 0' "! out_has 'program of the answer'"

# -- how long it takes ---------------------------------------------------------
cp oracle.sh quick.sh
{
    echo sleep 2
    cat quick.sh
} >oracle.sh
searched() { # CANDIDATES: more than those have a result
    [ "$(grep -c "verdict: " tunings/fake_kernel/*.1000.journal)" -gt "$1" ]
}
# asked SECONDS: the answer is said to have taken as long at least
asked() {
    took=$(sed -n 's/.*its answer took \([0-9]*\)[0-9.]* s, .*/\1/p' err)
    [ -n "$took" ] && [ "$took" -ge "$1" ]
}
run ./asking.yaml --device 0 --budget 3s --no-resume
check "a budget begins behind it" all 'exits 0' 'searched 1' 'asked 2' \
    'err_has "3 s (--budget), and before that what the program of .answer. takes, at most 20 s each"' \
    'err_has "n=1000: the program of its answer took [0-9.]* s, beside the budget; what it said is kept"' \
    'err_lacks "too short"'
run ./asking.yaml --device 0 --budget 3s --no-resume
check "the next run has it" all 'exits 0' 'err_lacks "program of its answer took"'
echo "# another" >>oracle.sh
run ./asking.yaml --device 0 --budget 1s --total 1s --no-resume
check "a total has it, and kills it" all 'exits 130' \
    'err_lacks "before that"' \
    'err_has "error: --total was spent before the default had a result"'

# -- what is beside it ---------------------------------------------------------
sed -e 's/^\(  SCRATCH: {values: \).*\(, scope\)/\1[1], default: 1\2/' \
    -e 's/^\(  FAULT: {values: \).*\(, scope\)/\1[0], default: 0\2/' \
    -e 's/^\(  STATED: {values: \).*/\1[right], default: right}/' \
    "$source/tests/fake/fake_kernel.yaml" >beside.yaml
sed -i 's/^name: fake_kernel/name: beside/' beside.yaml
{
    echo sleep 3
    cat quick.sh
} >oracle.sh
cat >late.sh <<END
#!/bin/sh
case "\$*" in *"/beside.yaml"*--device*) sleep 1.5 ;; esac
exec "$build/shmtune" "\$@"
END
chmod +x late.sh
SHMTUNE_WORKER=$folder/late.sh FAKE_CUDA_MEMORY=80000000000 \
    run ./asking.yaml ./beside.yaml --device 0 --strategy random \
    --budget 2s --output late
check "one that begins while it is asked has its own time alone" all \
    'grep -q "at: [0-9]" late/beside/*.journal' \
    '! grep -q "at: -" late/beside/*.journal'

printf 'echo because of this >&2\nexit 5\n' >oracle.sh
run ./asking.yaml --device 0 --strategy random --budget 1 --no-resume
check "what it says when it fails" all 'exits 4' \
    'err_has "the answer failed: sh ended with 5: because of this"'
finish
