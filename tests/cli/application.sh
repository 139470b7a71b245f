# SPDX-License-Identifier: MIT
#
# Sourced after tap.sh: builds the application, its driver and its NVRTC, has it
# run with those, and leaves in FAKE_NVRTC_REAL the NVRTC that compiles for it,
# empty where there is none.
# shellcheck shell=sh disable=SC2154

fake=$build/tests/fake
for program in libcuda.so.1 application application_linked between graphed launcher textured; do
    [ -x "$fake/$program" ] ||
        make -s -C "$build" "tests/fake/$program" >&2 || exit 1
done
FAKE_NVRTC_REAL=$("$build/shmtune" doctor 2>/dev/null |
    sed -n 's/^ok  *NVRTC  *[0-9.]*, \([^,]*libnvrtc[^, ]*\).*/\1/p')
# NVRTC looks for its built-in functions by name, like any library's.
LD_LIBRARY_PATH=$fake:${FAKE_NVRTC_REAL%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# The library of a build with sanitizers comes before theirs, and the fake driver
# and the fake NVRTC have the same modules in them.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_odr_violation=0
export FAKE_NVRTC_REAL LD_LIBRARY_PATH ASAN_OPTIONS
