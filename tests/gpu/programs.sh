# SPDX-License-Identifier: MIT
#
# Sourced by a part that captures programs, as part.sh: what programs are built
# with.  Its folder is the current one.
# shellcheck shell=sh disable=SC2034

. "$(dirname "$0")/part.sh"
cd "$folder" || exit 1

complain() {
    for file in out err log; do
        [ ! -f $file ] || tail -n 12 $file | sed "s/^/# $file: /"
    done
}

doctor() { "$build/shmtune" doctor --wide 2>/dev/null; }
FAKE_NVRTC_REAL=$(doctor |
    sed -n 's/^ok  *NVRTC  *[0-9.]*, \([^,]*libnvrtc[^, ]*\).*/\1/p')
headers=$(doctor | sed -n 's/^ok  *headers  *\([^ ,]*\).*/\1/p')
nvcc=$(doctor | sed -n 's/^ok  *nvcc  *[0-9.]*, \([^ ,]*\).*/\1/p')
export FAKE_NVRTC_REAL
if [ -z "$FAKE_NVRTC_REAL" ] || [ -z "$headers" ] ||
    ! ${CC:-cc} --version >/dev/null 2>&1; then
    skip_all "needs NVRTC, the toolkit's headers and a C compiler"
fi

# Candidates of a tuning that have a result, and that are right.
count_right() {
    tried=$(cat "$1"/*.journal | grep -c '^- {config: .*verdict: ')
    right=$(cat "$1"/*.journal |
        grep -c '^- {config: .*verdict: \(ok\|slow\)')
}
