#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Inputs that are the user's: `shmtune data` writes them, a spec fills them
# from files, and a run notices other files.  tests/fake/worker plays the
# workers.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker

journal=sm_90-pretended-h100.4096x1.journal
# behind FILE: the elements of a .npy whose header has 128 bytes
behind() { tail -c +129 "$1"; }
# The spec of toy with another fill of its input, as mine.yaml.
fill_with() {
    sed "s/name: toy/name: mine/; s|source: toy.cu|source: $root/kernels/toy.cu|
        s|role: input, count: n|role: input, count: n, fill: $1|" \
        "$root/kernels/toy.yaml" >mine.yaml
}

# -- shmtune data ------------------------------------------------------------
fill_with '{ramp: {from: n, step: -1}}'
run data mine.yaml -o out1 --size n=3
check "inputs are written, scalars are told" all 'exits 0' \
    'out_has "^src  *input  *f32  *3  out1/src.npy$"' \
    'out_has "^n  *scalar  *i32  *1  = 3$"' 'no_file out1/out.npy' \
    '[ "$(wc -c <out1/src.npy)" -eq 140 ]' 'no_file out1/src.npy.part'
{
    printf '\223NUMPY\001\000v\000'
    printf "%-117s\n" \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
    printf '\000\000\100\100\000\000\000\100\000\000\200\077'
} >expected
check "as NumPy would" same expected out1/src.npy
run data toy -o seven --data-seed 7 --size n=1000 -q
run data toy -o seven2 --data-seed 7 --size n=1000 -q
run data toy -o eight --data-seed 8 --size n=1000 --json
check "the same with the same seed, and with no other" all 'exits 0' \
    'same seven/src.npy seven2/src.npy' '! same seven/src.npy eight/src.npy' \
    'out_has "\"data_seed\": 8"' 'out_has "\"count\": 1000"' \
    'out_has "\"file\": \"eight/src.npy\""'
run data toy --size n=4
check "without a folder" all 'exits 1' 'err_has "-o DIR is expected"'
run data -o out1
check "without a kernel" all 'exits 1' 'err_has "0 kernels are given"'
run data toy -o out1 --size k=4
check "without such a dimension" all 'exits 1' 'err_has "k=4"'
echo x >file
run data toy -o file --size n=4
check "where a file is" all 'exits 5' 'err_has file'

# -- from a file, and back ---------------------------------------------------
run data toy -o npy --size n=4096 -q
behind npy/src.npy >src.f32
gzip -n <src.f32 >src.f32.gz
for name in npy/src.npy src.f32 src.f32.gz; do
    fill_with "{file: $name}"
    run data mine.yaml -o again --size n=4096 -q
    check "$name is what is written" all 'exits 0' \
        'same again/src.npy npy/src.npy'
done
run data mine.yaml -o again --size n=4095
check "of another size" all 'exits 2' 'err_has "mine.yaml:29:.*has more than"' \
    'same again/src.npy npy/src.npy' 'no_file again/src.npy.part'
fill_with '{file: npy/src.npy, shape: [n, m + 1]}'
run data mine.yaml -o again
check "a shape of another count" all 'exits 2' \
    'err_has "mine.yaml:29:.*not as many elements as the count, 4096"'
fill_with '{file: absent.npy}'
run data mine.yaml -o again
check "a file that is not there" all 'exits 5' \
    'err_has "mine.yaml:29:.*absent.npy"'

# -- check opens them --------------------------------------------------------
run check mine.yaml --no-compile
check "check notes a file that is not there, once a size" all 'exits 0' \
    '[ "$(grep -c "^note .*mine.yaml:29:.*absent.npy" "$folder/out")" -eq 2 ]'
fill_with '{file: npy/src.npy}'
run check mine.yaml --no-compile
check "and finds the size for which one is too short" all 'exits 2' \
    'out_has "^wrong .*mine.yaml:29:.*npy/src.npy.*65536"' \
    '[ "$(grep -c ^wrong "$folder/out")" -eq 1 ]'
sed -i '/n: 65536/d; s/tolerance: {/expect: {file: seven\/src.npy}, &/' mine.yaml
run check mine.yaml --no-compile
check "what an output is compared with, too" all 'exits 2' \
    'out_has "^wrong .*seven/src.npy.*4096"'
sed -i 's/seven/npy/' mine.yaml
run check mine.yaml --no-compile
check "and that all fit" all 'exits 0' 'out_lacks "^note"'

# -- a run with files ---------------------------------------------------------
fill_with '{file: src.f32}'
run mine.yaml --size n=4096 --strategy random --budget 8 --output o -q
digest=$(sed -n 's/^data_digest: "\(.*\)"$/\1/p' o/mine/$journal)
check "the journal and the tuning have the digest of the files" all 'exits 0' \
    '[ ${#digest} -eq 64 ]' \
    'grep -q "^  data_digest: .*$digest" o/mine/sm_90-pretended-h100.yaml'
run show o/mine/$journal --spec mine.yaml
check "and show tells it" all 'exits 0' \
    'out_has "data files $(echo "$digest" | cut -c 1-12)"'
fill_with '{file: src.f32.gz}'
sed 's/src.f32.gz/src.f32/' mine.yaml >same.yaml && mv same.yaml mine.yaml
run mine.yaml --size n=4096 --strategy random --budget 8 --output o
check "the same file: the journal goes on" all 'exits 0' \
    'err_has "resuming: "' 'err_lacks "new journal"'
printf '\001' | dd of=src.f32 bs=1 count=1 conv=notrunc 2>/dev/null
run mine.yaml --size n=4096 --strategy random --budget 8 --output o
check "another content: a new journal" all 'exits 0' \
    'err_has "a file that the inputs are filled from has changed"' \
    '[ -f o/mine/$journal.old ]' '! grep -q "$digest" o/mine/$journal'
fill_with '{file: absent.f32}'
run mine.yaml --size n=4096 --budget 8 --output o
check "a run without its file" all 'exits 5' \
    'err_has "mine.yaml:29:.*absent.f32"'
run toy --size n=4096 --strategy random --budget 8 --output o -q
check "without files there is no digest" all 'exits 0' \
    '! grep -q data_digest o/toy/$journal' \
    '! grep -q data_digest o/toy/sm_90-pretended-h100.yaml'

finish
