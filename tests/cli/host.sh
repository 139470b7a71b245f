#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions of the host in the place of kernels: compiled into shared objects by
# an nvcc that is none, and run by workers on the fake driver.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

unset SHMTUNE_WORKER
SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
SHMTUNE_NVCC=$source/tests/fake/fake_nvcc
TMPDIR=$folder
XDG_CACHE_HOME=$folder/cache
export SHMTUNE_LIBCUDA SHMTUNE_NVCC TMPDIR XDG_CACHE_HOME
cd "$folder" || exit 1
cp "$source"/tests/fake/fake_host.* .
command -v c++ >/dev/null || {
    echo "1..0 # SKIP no c++"
    exit 0
}

# -- what a spec may say -----------------------------------------------------

while IFS='|' read -r edit message; do
    sed "$edit" fake_host.yaml >odd.yaml
    run check ./odd.yaml
    check "refused: $message" all 'exits 2' "out_has ':[0-9]*:[0-9]*: '" \
        "out_has '$message'"
done <<'END'
s/^- host: fake.*/&\n  grid: [1]/|"grid" beside "host"
s/^- host: fake.*/&\n  block: [1]/|"block" beside "host"
s/^- host: fake.*/&\n  shared_dynamic: 8/|"shared_dynamic" beside "host"
s/^- host: fake.*/&\n  cooperative: true/|"cooperative" beside "host"
s/^- host: fake.*/&\n  entry: multiply/|with "entry" and with "host"
s/^- host: fake.*/- host: [a]/|host: found a sequence
s/^- host: fake.*/- host: "multiply<{TILE}>"/|is not {NAME} with the name of a
/^compiler/d|"host" without "compiler: nvcc"
s/^- host: count/- entry: count\n  grid: [1]\n  block: [1]/|functions of the host in one list
s/{n: {default: 1000/{n: {default: 1000/;s/counter: {type: i32, role: workspace, count: 1, zeroed: true}/counter: {type: i32, role: symbol, count: 1}/;/^- host: count/,/arguments/d|beside counter (role: symbol)
END

# -- without running it ------------------------------------------------------

run check ./fake_host.yaml
check "check compiles it" all 'exits 0' \
    'out_has "the default and the reference compile"' \
    'out_has "yaml:15:9: fake::multiply<{FACTOR}> is a function of the host"'
sed 's/::multiply/::divide/' fake_host.yaml >odd.yaml
run check ./odd.yaml
check "a function that is not there" all 'exits 2' \
    'out_has "odd.yaml:15:9: .*fake_host.cu has no function .divide."'
sed 's/CUstream_st \*stream, void \*\*arguments)$/CUstream_st *stream, int arguments)/' \
    fake_host.cu >odd.cu
sed 's/: fake_host.cu/: odd.cu/' fake_host.yaml >odd.yaml
run check ./odd.yaml
check "one that takes something else" all 'exits 2' \
    'out_has "odd.cu"' 'out_has compile_error'
sed -e 's/return 77;/return elsewhere(77);/' -e '1s/^/int elsewhere(int);\n/' \
    fake_host.cu >odd.cu
run check ./odd.yaml
check "one that names what nothing defines" all 'exits 2' \
    'out_has "odd.cu: nothing defines .*elsewhere(int).*options: \[-lNAME\]"'
run inspect ./fake_host.yaml --arch sm_90 --json
check "inspect compiles it, and tells no resources" all 'exits 0' is_json \
    'out_lacks compile_error' 'out_lacks "\"registers\": [0-9]"' \
    'out_lacks "\"resident_blocks\": [0-9]"'
run inspect ./fake_host.yaml --arch sm_90 --limit 1
check "nor in the table" all 'exits 0' 'out_has "FACTOR=2"'
SHMTUNE_NVCC=$folder/none
run inspect ./fake_host.yaml
check "without nvcc" all 'exits 6' 'err_has "SHMTUNE_NVCC is .*none"'
SHMTUNE_NVCC=$source/tests/fake/fake_nvcc

# -- run ---------------------------------------------------------------------

if ! has_nvrtc || [ ! -f "$SHMTUNE_LIBCUDA" ]; then
    skip "functions of the host run" "no NVRTC or no fake driver"
    finish
    exit
fi
run ./fake_host.yaml --device 0 --strategy exhaustive -j 2 --no-resume
check "tunes what is right among what is not" all 'exits 0' \
    'out_has "fake_host *n=1000"' 'out_has "FACTOR=2 FAULT=none COST=5"'
journal=$(ls tunings/fake_host/*.1000.journal)
verdict() {
    sed -n "s/.*FACTOR: $1, FAULT: $2, COST: $3}.* verdict: \([a-z_]*\).*/\1/p" \
        "$journal"
}
for pair in none:ok segfault:crash hang:timeout status:launch_error exit:crash \
    past:out_of_bounds first:unwritten print:ok
do
    check "${pair%:*} is ${pair#*:}" \
        [ "$(verdict 2 "${pair%:*}" 5)" = "${pair#*:}" ]
done
check "a wrong one is wrong" [ "$(verdict 3 none 5)" = wrong ]
check "with the number that it returned" grep -q \
    'FAULT: status.*multiply<{FACTOR}> returned 3 in the first run' "$journal"
check "a crash says what it was" grep -q \
    'FAULT: segfault.*verdict: crash.*Segmentation' "$journal"
check "its time is the device's" grep -q \
    'FACTOR: 2, FAULT: none, COST: 100}.*time_us: 100[,}]' "$journal"
tuning=$(ls tunings/fake_host/*.yaml)
check "nothing is said of resources" \
    [ "$(cat "$tuning" "$journal" | grep -c 'registers:\|resident_blocks:')" -eq 0 ]
run show "$tuning"
check "show shows the tuning" all 'exits 0' 'out_has "FACTOR=2"'
run check "$tuning" --spec fake_host.yaml --cubins cubins
check "check takes it, and ships nothing" all 'exits 0' \
    'out_has "functions of the host, which no application loads"' \
    '[ -z "$(ls cubins)" ]'
run explain ./fake_host.yaml --device 0 --no-counters --tuning "$tuning"
check "explain runs it" all 'exits 0' 'out_has "FACTOR"'
printf '{verb: inspect, tag: %s, config: {FACTOR: 2, FAULT: none, COST: 5}}\n' \
    1 2 >requests
run worker --spec fake_host.yaml --images images --arch sm_90 \
    --requests requests
check "a shared object is stored and found again" all \
    "out_has '^{tag: 1, verdict: ok.*compile_ms: [1-9]'" \
    "out_has '^{tag: 2, verdict: ok.*compile_ms: 0[,}]'" \
    '[ "$(ls images | grep -c "\.so$")" -eq 1 ]'
key=$(sed -n 's/.*image: \([0-9a-f]*\).*/\1/p' "$folder/out" | head -n 1)
sed 's/exec c++ "$@"/echo 99.1; exit/' "$SHMTUNE_NVCC" >other_nvcc
chmod +x other_nvcc
SHMTUNE_NVCC=$folder/other_nvcc
run worker --spec fake_host.yaml --images images --arch sm_90 \
    --requests requests
check "another host compiler makes another" all "[ -n '$key' ]" \
    "out_has '^{tag: 1, verdict: ok'" "out_lacks '$key'"
SHMTUNE_NVCC=$source/tests/fake/fake_nvcc
mkdir "$root/tunings/fake_host"
cp fake_host.yaml fake_host.cu "$root/kernels/"
cp "$tuning" "$root/tunings/fake_host/"
run list kernels
check "list says what it is" all 'exits 0' 'out_has "to choose from (of the host)"'
"$build/tests/support/choose" fake_host 1000 >"$folder/out" 2>"$folder/err"
status=$?
check "the library chooses, and does not run it" all \
    "out_has '^match: exact$'" "out_has 'FACTOR=2'" \
    "out_has '^prepare: .*fake::multiply<{FACTOR}> is a function of the host'"
finish
