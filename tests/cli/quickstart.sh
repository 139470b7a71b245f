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
    patiently 'building' '^CC ' log sh -c 'sleep 9; echo its own words' >said ;;
failing) patiently 'building' '' '' sh -c 'exit 7' || echo "failed with $?" ;;
esac
END
cd "$folder" || exit 1
sh watch.sh long >out 2>err
status=$?
check "what takes nine seconds is spoken of twice" all 'exits 0' out_empty \
    'err_has "^quickstart: building: 2 done, [4-6] s$"' \
    'err_has "^quickstart: building: 2 done, \([89]\|10\) s$"' \
    'grep -qx "its own words" said'
sh watch.sh failing >out 2>err
status=$?
check "a failure is its own" all 'exits 0' 'out_has "^failed with 7$"' err_empty
check "what takes long is watched" \
    [ "$(grep -c '^ *patiently ' "$source/quickstart")" -ge 6 ]
finish
