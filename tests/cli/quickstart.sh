#!/bin/sh
# SPDX-License-Identifier: MIT
#
# quickstart is never silent for more than five seconds: what takes long is
# watched.  The function is taken from the script itself.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

sed -n '/^exec 3/,/^fail()/p' "$source/quickstart" | sed '$d' >"$folder/watch.sh"
cat >>"$folder/watch.sh" <<'END'
set -eu
case $1 in
long)
    printf 'CC a\nCC b\n' >log
    patiently 'building' '^CC ' log sh ./work >said ;;
failing) patiently 'building' '' '' sh -c 'exit 7' || echo "failed with $?" ;;
esac
END
cd "$folder" || exit 1
# Nine times a second, or until it was spoken of twice.
cat >work <<'END'
for _ in 1 2 3 4 5 6 7 8 9; do
    [ "$(grep -c building: err)" -lt 2 ] || break
    sleep 1
done
echo its own words
END
begun=$(date +%s)
sh watch.sh long >out 2>err
status=$?
most=$(($(date +%s) - begun + 1))
# told N: the seconds of the Nth
told() {
    sed -n 's/^quickstart: building: 2 done, \([0-9]*\) s$/\1/p' err | sed -n "$1p"
}
check "what takes nine seconds is spoken of twice" all 'exits 0' out_empty \
    '[ "$(told 1)" -ge 4 ]' '[ "$(told 2)" -ge 8 ]' '[ "$(told 2)" -le "$most" ]' \
    'grep -qx "its own words" said'
sh watch.sh failing >out 2>err
status=$?
check "a failure is its own" all 'exits 0' 'out_has "^failed with 7$"' err_empty
check "what takes long is watched" \
    [ "$(grep -c '^ *patiently ' "$source/quickstart")" -ge 6 ]

# What quickstart says last can be typed.
for device in replay:h100 0; do
    {
        echo 'say() { echo "$*"; }'
        sed -n '/^last_words()/,/^}/p' "$source/quickstart"
        echo "root=/here; device=$device; last_words"
    } >words.sh
    sh -eu words.sh >out 2>err
    status=$?
    check "what the commands propose is found" \
        out_has 'export PATH=/here/build:\$PATH'
    case $device in
    0) check "on a GPU a kernel of one's own is tuned" all 'exits 0' \
        'out_has "shmtune tune examples/scale/scale.yaml --device 0$"' ;;
    *) check "without a GPU inspect is proposed, and no recording" all \
        'exits 0' 'out_lacks replay' \
        'out_has "shmtune inspect examples/scale/scale.yaml "' ;;
    esac
done

# The example is built by the compiler of the environment, with its options.
mkdir -p "$folder/build" "$folder/cuda/lib64"
echo "CUDA_DIR = $folder/cuda" >"$folder/build/Makefile"
touch "$folder/cuda/lib64/libcudart.so"
printf '#!/bin/sh\necho compiler "$@"\n' >"$folder/compiler"
printf '#!/bin/sh\necho application\n' >"$folder/build/application"
chmod +x "$folder/compiler" "$folder/build/application"
{
    echo 'say() { echo "$*"; }'
    echo "root=$folder"
    sed -n '/^run_example()/,/^}/p' "$source/quickstart"
    echo run_example
} >words.sh
CC="$folder/compiler -O3" sh -eu words.sh >out 2>err
status=$?
check "CC may have options" all 'exits 0' 'out_has "^compiler -O3 -std=c17 "' \
    'out_has "^application$"'

# An application shows what was found, where something was tried.
printf '#!/bin/sh\nexit "$STATUS"\n' >"$folder/build/shmtune"
chmod +x "$folder/build/shmtune"
{
    echo 'choose_device() { device=0; }'
    echo 'run_example() { echo example; }; last_words() { echo words; }'
    sed -n '/^tune_all()/,/^}/p' "$source/quickstart"
    echo tune_all
} >words.sh
for STATUS in 0 4 1 6 130; do
    export STATUS
    sh -eu words.sh >out 2>err
    status=$?
    case $STATUS in
    0 | 4) check "a tuning that ended with $STATUS is shown" all \
        "exits $STATUS" 'out_has "^example$"' 'out_has "^words$"' ;;
    *) check "one that ended with $STATUS is the end" all \
        "exits $STATUS" out_empty ;;
    esac
done

run inspect "$source/examples/scale/scale.yaml" --limit 1
if err_has "no NVRTC"; then
    skip "which works" "no NVRTC here"
else
    check "which works" exits 0
fi
finish
