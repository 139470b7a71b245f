#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run --any: launches that differ from the captured one in a number that nothing
# follows from. No GPU is needed.
. "${SHMT_SRCDIR:?}/tests/cli/put_back.sh"

if [ -z "$FAKE_NVRTC_REAL" ]; then
    skip "launches with other numbers are put back" "no NVRTC"
    finish
    exit 0
fi
run capture --propose -o taken -- "$fake/application" opened load cover=1000
tune_captured taken/cover-1
check "a kernel is tuned as it was launched" all "exits 0" \
    "out_has 'BLOCK=64'"

# launched COVER OPTION...
launched() {
    cover=$1
    shift
    rm -f shapes
    run run --captured taken --no-trial "$@" -- "$fake/application" opened \
        load "cover=$cover"
}

APPLICATION_FACTOR=4
export APPLICATION_FACTOR
launched 1000
check "with another number it stays, and the option is named" all "exits 0" \
    "[ '$(shapes)' = ' 1 cover 4 256 ' ]" \
    "err_has 'cover stays as it is: a launch of it has another number for a than was tuned; --any a takes any'"
launched 1000 --any a
check "which replaces it" all "exits 0" "[ '$(shapes)' = ' 1 cover 16 64 ' ]" \
    "err_has 'cover is launched as tuned'"
launched 999 --any a
check "but not with another size" all "exits 0" \
    "[ '$(shapes)' = ' 1 cover 4 256 ' ]" \
    "err_has 'cover stays as it is: a launch of it has other sizes than were tuned'"
APPLICATION_FACTOR=2.5
launched 1000 --any a
check "with the number that it had it is replaced, too" all "exits 0" \
    "[ '$(shapes)' = ' 1 cover 16 64 ' ]"
launched 1000 --any a --any n
check "a size is no such number" all "exits 1" "[ ! -e shapes ]" \
    "err_has 'error: --any n: no launch that is tuned has a number of that name'"
launched 1000 --any factor
check "nor is what no launch has" all "exits 1" "err_has '.--any factor: '"
rm -r tunings
launched 1000 --any a
check "where nothing is tuned the program runs" all "exits 0" \
    "[ '$(shapes)' = ' 1 cover 4 256 ' ]" "err_has 'has no tuning of it'"
finish
