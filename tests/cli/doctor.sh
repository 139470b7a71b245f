#!/bin/sh
# SPDX-License-Identifier: MIT
#
# doctor: says what is there and what is not.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

SHMTUNE_LIBCUDA=$folder/libcuda.so.1
export SHMTUNE_LIBCUDA
run doctor
check "without a driver" all "exits 6" err_empty \
    "out_has '^missing  driver .*install the NVIDIA driver'" \
    "out_has 'cannot tune on a GPU'" "out_has 'libyaml [0-9]'" \
    "out_lacks 'recorded device'"
check "nor where a variable names one that is none" \
    out_has "or unset .SHMTUNE_LIBCUDA, which is .$SHMTUNE_LIBCUDA.\$"
SHMTUNE_LIBCUDA=$build/libshmtune-capture.so run doctor
check "another library, too" all "exits 6" \
    "out_has '; reinstall the NVIDIA driver, or unset .SHMTUNE_LIBCUDA'"
check "a recording is proposed" out_has 'replay:NAME'
run tune reduce --device replay:h100 --budget 3 --output "$folder/replayed"
check "of which there are some" exits 0
# The tree that the program was built in is always looked at.
hide="mount -t tmpfs none '$source/tunings'"
if can_mount; then
    run_after "$hide" doctor
    check "where there is none, none is proposed" all "exits 6" \
        "out_lacks replay" "out_lacks recording"
    run_after "$hide" tune "$root/kernels/scale.yaml" --output "$folder/none"
    check "nor for a kernel of one's own, but inspect" all "exits 6" \
        "err_lacks 'replay'" "err_lacks 'recorded device'" \
        "err_has 'shmtune inspect $root/kernels/scale.yaml'"
else
    skip "where there is none, none is proposed" "nothing may be mounted"
    skip "nor for a kernel of one's own" "nothing may be mounted"
fi
run doctor
check "the kernels it sees" out_has "kernels .* the first at"
run doctor --json
check "as JSON" all "exits 6" err_empty is_json "out_has '\"can_tune\": false'"
ln -s loop "$folder/loop"
SHMTUNE_PATH=$folder/nowhere:root:$folder/home:$folder/loop:$root
run doctor
check "folders that are named in vain" all "exits 6" err_empty \
    "out_has '^note .*SHMTUNE_PATH: $folder/nowhere: there is no such folder'" \
    "out_has '^note .*SHMTUNE_PATH: $folder/loop: the folder cannot be ent'" \
    "out_has '^note .*SHMTUNE_PATH: root is ignored: not an absolute path'" \
    "out_has '^note .*SHMTUNE_PATH: $folder/home: has neither a folder ker'" \
    "out_lacks '^note .*SHMTUNE_PATH: $root'"
run doctor --json
check "also as JSON" all "exits 6" is_json \
    "out_has 'SHMTUNE_PATH: $folder/nowhere: there is no such folder'"
mkdir -p "$folder/shut/kernels" "$folder/shut/tunings"
cp "$root/kernels/scale.yaml" "$root/kernels/scale.cu" "$folder/shut/kernels"
ln -s scale "$folder/shut/tunings/scale"
SHMTUNE_PATH=$folder/shut
run doctor
check "recordings that cannot be looked for" all "exits 6" err_empty \
    "out_has '^note  *recordings  *$folder/shut/tunings/scale: '"
SHMTUNE_PATH=$root
run doctor now
check "it takes no words" all "exits 1" out_empty
check "it makes nothing" [ ! -e "$HOME/.cache" ]

usual=$HOME HOME=$folder/err/home
run doctor
check "a cache that cannot be made is noted" \
    out_has "^note  *cache  *$HOME/.cache/shmtune cannot be made: "
HOME=$usual

mkdir -p "$folder/c/shmtune/cubin"
chmod 777 "$folder/c"
XDG_CACHE_HOME=$folder/c
export XDG_CACHE_HOME
run doctor
check "and one that others may write to" all \
    "out_has '^note  *cache  *$folder/c/shmtune/cubin is not used: the fold'" \
    "out_has 'with mode 0777'" "out_has 'chmod go-w it'"
chmod 755 "$folder/c"
run doctor
check "and no other" out_has "^ok  *cache  *$folder/c/shmtune"
unset XDG_CACHE_HOME

if has_nvrtc; then
    run doctor
    check "the compiler's report is understood" \
        all "out_has '^ok  *NVRTC'" "out_has '^ok  *report'"
    check "and inspect is proposed" out_has 'inspect KERNEL|SPEC.yaml`'
    run inspect "$root/kernels/scale.yaml" --limit 1
    check "which works" exits 0
    TMPDIR=$folder/nowhere run doctor
    check "not where it fails" all "exits 6" "out_lacks inspect" \
        "out_has '^missing  temporary .*set TMPDIR'"
    TMPDIR=$folder/nowhere run inspect "$root/kernels/scale.yaml" --limit 1
    check "as it does without a temporary folder" all "! exits 0"
else
    skip "the compiler's report" "no NVRTC"
fi

# NVRTC by each of its names, where the loader looks and nothing else is.
cuda=$(sed -n 's/^CUDA_DIR = //p' "$build/Makefile")
run doctor
nvrtc=$(sed -n 's/^ok  *NVRTC  *[0-9.]*, //p' "$folder/out")
if [ -f "$nvrtc" ] && [ "$cuda" != /usr ] && can_mount; then
    mkdir "$folder/held" "$folder/path"
    hide="mount --bind '${nvrtc%/*}' '$folder/held'
for dir in '$cuda' /usr/local/cuda; do
    [ ! -d \"\$dir\" ] || mount -t tmpfs none \"\$dir\"
done"
    unset CUDA_HOME CUDA_PATH SHMTUNE_CUDA SHMTUNE_NVRTC
    LD_LIBRARY_PATH=$folder/path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    for soname in libnvrtc.so.13 libnvrtc.so.12 libnvrtc.so; do
        ln -s "$folder/held/${nvrtc##*/}" "$folder/path/$soname"
        run_after "$hide" doctor
        check "the loader finds $soname" \
            out_has "^ok  *NVRTC  *[0-9.]*, $folder/path/$soname$"
        rm "$folder/path/$soname"
    done
else
    skip "the loader's path" "no NVRTC to hide, or nothing may be mounted"
fi
# A toolkit by each of its names, the first of them first; where configure was
# given one, the others come behind it.
if [ -f "$nvrtc" ] && ! grep -q '^#define SHMT_CUDA_GIVEN' "$build/config.h"
then
    unset SHMTUNE_NVRTC SHMTUNE_CUDA CUDA_HOME CUDA_PATH
    for name in CUDA_PATH CUDA_HOME SHMTUNE_CUDA; do
        mkdir "$folder/$name"
        ln -s "${nvrtc%/*}" "$folder/$name/lib64"
        export "$name=$folder/$name"
        run doctor
        check "$name names a toolkit" \
            out_has "^ok  *NVRTC  *[0-9.]*, $folder/$name/lib64/"
    done
    unset SHMTUNE_CUDA CUDA_HOME CUDA_PATH
else
    skip "names of a toolkit" "no NVRTC, or one was given"
fi
fake=$build/tests/fake/.libs/fake_cuda.so
if [ -e "$fake" ] && has_nvrtc; then
    SHMTUNE_LIBCUDA=$fake
    run doctor
    check "with a driver" all "exits 0" "out_has '^ok  *driver'" \
        "out_has '^ok  *GPU 0 '" "out_has 'This machine can tune'" \
        "out_has 'shmtune --device 0'"
    if can_mount; then
        run_after "mount -t tmpfs none '$source/kernels'
mount -t tmpfs none '$root/kernels'" doctor
        check "of no kernel that is not there" all "exits 0" \
            "out_has 'can tune on a GPU, kernels of your own'" \
            "out_lacks 'shmtune --device 0'"
    else
        skip "of no kernel that is not there" "nothing may be mounted"
    fi
    # Where `tune` would put what it finds.
    : >tunings
    run doctor
    check "nor a command that cannot write here" all "exits 0" \
        "out_has '^note  *output  *./tunings: Not a directory; .*--output DIR'" \
        "out_has 'can tune on a GPU: .shmtune --device 0 --output DIR.'" \
        "out_has 'shmtune tune SPEC.yaml --output DIR'"
    rm tunings
    run doctor
    check "which is found, too" all "exits 0" \
        "out_has '^ok  *output  *./tunings, made when it is needed'" \
        "out_lacks 'DIR'"
    TMPDIR=$folder/nowhere run doctor
    check "not without a temporary folder" all "exits 6" \
        "out_lacks 'machine can tune'"
    check "a GPU's clocks are locked by its UUID" \
        out_has 'nvidia-smi -i GPU-abababab-.* --lock-gpu-clocks=1980'
    FAKE_CUDA_DEVICES=2 FAKE_CUDA_FAIL=DevicePrimaryCtxRetain=46,1
    export FAKE_CUDA_DEVICES FAKE_CUDA_FAIL
    run doctor
    check "one of two in exclusive use" all "exits 0" \
        "out_has '^note  *GPU 0  .*exclusive use.* -i GPU-abab.*ab00 --comp'" \
        "out_has '^ok  *GPU 1 .*ab01'" "out_has 'This machine can tune'" \
        "out_has '.shmtune --device 1.'" "out_has 'SPEC.yaml --device 1.'"
    FAKE_CUDA_FAIL=DevicePrimaryCtxRetain=46
    run doctor
    check "both: there are GPUs, but not now" all "exits 6" \
        "out_has '^note  *GPU 1  .*exclusive use'" \
        "out_has 'cannot tune on a GPU now: other processes have'"
    FAKE_CUDA_FAIL=DevicePrimaryCtxRetain=2
    run doctor
    check "without a context there is none" all "exits 6" \
        "out_has '^missing  *GPU 1  .*ab01: a context cannot be made'" \
        "out_has 'This machine cannot tune on a GPU.$'"
    unset FAKE_CUDA_DEVICES FAKE_CUDA_FAIL
    FAKE_CUDA_MAJOR=5 run doctor
    check "a GPU that the compiler does not know" all "exits 6" \
        "out_has '^ok  *GPU 0  *.*sm_50'" \
        "out_has '^missing  *compiling  *NVRTC .* sm_50, .* of GPU 0: .*NVRTC'" \
        "out_has 'cannot tune on a GPU.$'" "out_has 'inspect KERNEL|SPEC'"
    # shellcheck disable=SC2046
    run $(sed -n 's/.* build\/shmtune \(doctor[a-z0-9 -]*\) >.*/\1/p' \
        "$source/quickstart")
    check "as quickstart asks" all "exits 0" "out_has 'This machine can'"
else
    skip "with a driver" "no fake driver was built, or no NVRTC"
    skip "verdicts of GPUs" "no fake driver was built, or no NVRTC"
    skip "as quickstart asks" "no fake driver was built, or no NVRTC"
fi
finish
