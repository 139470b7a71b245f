#!/bin/sh
# SPDX-License-Identifier: MIT
#
# inspect: compiled for real, where there is a compiler.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

run inspect scale --arch sm_1
check "an architecture that is none" \
    all "exits 1" out_empty "err_has sm_1" "err_has sm_90"
run inspect scale --limit 3 --sample 3
check "one choice of candidates" all "exits 1" out_empty
run inspect scale --config BLOCK=64,GADGET=1
check "a parameter that is not there" all "exits 1" "err_has GADGET"
run inspect scale --config "BLOCK=65 PAD=1"
check "a configuration as tables show it" all "exits 1" \
    "err_has '\"BLOCK=65\": 65 is not a value'"
run inspect scale --config BLOCK=64,BLOCK=128
check "a parameter given twice" all "exits 1" out_empty "err_has 'twice'"
run inspect scale --config BLOCK=65
check "a value that is not there" all "exits 1" "err_has 'value of BLOCK'"
run inspect scale --config BLOCK=1024,PAD=16384,MEMORY=dynamic
check "a configuration outside of the space" \
    all "exits 3" out_empty "err_has 'BLOCK <= 128'"
run inspect scale --size n=5
check "an empty space" all "exits 3" out_empty
cat >"$folder/only.yaml" <<'END'
format: kernel/1
name: only
parameters:
  A: {values: [1]}
END
run inspect "$folder/only.yaml"
check "nothing to compile" all "exits 1" out_empty "err_has source"

if ! has_nvrtc; then
    skip "compiling" "no NVRTC: $(head -n 1 "$folder/err")"
    finish
    exit
fi
run inspect scale --all --arch sm_90 --size n=1048576
check "all of them" all "exits 0" err_empty \
    "out_has '^scale n=1048576 on generic sm_90$'" \
    "out_has '^44 of 44 configurations'" \
    "[ $(grep -c BLOCK= "$folder/out") -eq 44 ]"
check "static and dynamic bytes are told apart" all \
    "out_has '  516  *0 .* BLOCK=128 PAD=1 MEMORY=static'" \
    "out_has '  0  *516 .* BLOCK=128 PAD=1 MEMORY=dynamic'"
check "occupancy and what limits it" all \
    "out_has ' 3  *19 %  shared_memory  *BLOCK=128 PAD=16384'" \
    "out_has ' 16  *100 %  warps  *BLOCK=128 PAD=1 MEMORY=dynamic'"
run inspect scale --arch sm_75 --size n=1048576 --all
check "too much for an older device" all "exits 0" \
    "out_has 'too_large.*PAD=16384'" "out_has '4 too_large'"
run inspect scale --limit 5
check "the first five" [ "$(grep -c BLOCK= "$folder/out")" -eq 5 ]
run inspect scale --sample 7 --seed 3
check "seven at random" [ "$(grep -c BLOCK= "$folder/out")" -eq 7 ]
cp "$folder/out" "$folder/before"
run inspect scale --sample 7 --seed 3 -j 1
check "the same seven again" eval \
    'grep BLOCK= "$folder/out" | cmp -s - /dev/fd/3 3<<END
$(grep BLOCK= "$folder/before")
END'
run inspect scale
check "the default is among the usual sample" \
    out_has "BLOCK=128 PAD=0 MEMORY=static CARVEOUT=-1"
run inspect scale --config BLOCK=64 --config BLOCK=256,MEMORY=dynamic --json
check "as JSON" all "exits 0" err_empty is_json \
    "out_has '\"shared_static_bytes\": 256'" \
    "out_has '\"shared_dynamic_bytes\": 1024'" "out_has '\"sm_90\"'"

run inspect scale --config BLOCK=256,PAD=16384,MEMORY=dynamic
check "a configuration that is none" all "exits 3" out_empty \
    "err_has '.*\"PAD != 16384 or BLOCK <= 128\" does not hold: 16384 != 163'" \
    "err_has '16384 or 256 <= 128 is false where PAD = 16384, BLOCK = 256'"

# A spec that counts its bytes wrongly, and a source that does not compile.
sed 's/shared_static: (BLOCK + PAD) \* 4/shared_static: BLOCK * 4/' \
    "$data/scale.yaml" >"$root/kernels/forgets.yaml"
run inspect "$root/kernels/forgets.yaml" --config PAD=1
check "padding that the spec forgets" \
    all "exits 0" "out_has 'spec_mismatch, for example.*512.*516: see .*forgets.yaml:[0-9]*:18'"
sed 's/arguments: \[y, x, a, n\]/arguments: [y, x, a]/' "$data/scale.yaml" \
    >"$root/kernels/forgets.yaml"
run inspect "$root/kernels/forgets.yaml" --config PAD=1
check "an argument that the spec forgets" all "exits 0" \
    "out_has 'spec_mismatch, for example.*takes 4 .* passes 3 .*forgets.yaml'"
# inspect_taps COUNT: a variable of the source of three numbers, which the spec
# fills with so many; 0: with none
inspect_taps() {
    sed 's/^extern .*scale(.*/__constant__ float taps[3];\n&/
        s/y\[i\] = /&taps[i % 3] * /' "$data/scale.cu" >"$root/kernels/taps.cu"
    sed "s/scale.cu/taps.cu/
        s/^arguments:/&\n  taps: {type: f32, role: symbol, count: $1}/" \
        "$data/scale.yaml" | sed '/count: 0/d' >"$root/kernels/taps.yaml"
    run inspect "$root/kernels/taps.yaml" --config PAD=1 --json
}
for filled in 2 0; do
    inspect_taps $filled
    check "a variable that is filled with $filled of 3 numbers is named" all \
        'exits 0' is_json 'out_has "\"verdict\": \"spec_mismatch\""' \
        'grep -A 1 "\"name\": \"taps\"" "$folder/out" |
            grep -q "\"bytes\": 12$"'
done
inspect_taps 3
check "one that fits is not" all 'exits 0' \
    'out_has "\"verdict\": \"ok\""' 'out_lacks "\"variable\""'
sed 's/tile\[threadIdx.x\] =/tile[threadIdx.w] =/' "$data/scale.cu" \
    >"$root/kernels/scale.cu"
run inspect scale --config PAD=1
check "the compiler's words" \
    all "exits 9" "out_has compile_error" "out_has 'scale.cu'"
run inspect scale --all --json
check "nothing compiles: exit 9, and the results" all "exits 9" is_json \
    "out_has '\"verdict\": \"compile_error\"'" \
    "err_has 'scale: none of 36 configurations compiles: compile_error: '"
sed 's/^#include/#if BLOCK == 64\n#error too small\n#endif\n&/' \
    "$data/scale.cu" >"$root/kernels/scale.cu"
run inspect scale --all
check "some compile: exit 0" all "exits 0" err_empty "out_has compile_error" \
    "out_has 'scale.cu'"
cp "$source/tests/fake/data/toy.yaml" "$source/tests/fake/data/toy.cu" \
    "$root/kernels/"
FAKE_WORKER_BUSY_MS=600 SHMTUNE_WORKER=$build/tests/fake/worker \
    run inspect toy --limit 3 -j 1 --arch sm_90
check "a compiler that takes its time is waited for" all "exits 0" err_empty \
    "out_has '^3 of 252 configurations'" \
    "[ $(grep -c '^ *[0-9].*BLOCK_X=32 ' "$folder/out") -eq 3 ]"
check "no folder is left behind" [ -z "$(ls "$TMPDIR")" ]
finish
