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
printf 'echo because of this >&2\nexit 5\n' >oracle.sh
run ./asking.yaml --device 0 --strategy random --budget 1 --no-resume
check "what it says when it fails" all 'exits 4' \
    'err_has "the answer failed: sh ended with 5: because of this"'
finish
