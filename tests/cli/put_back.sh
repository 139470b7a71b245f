# SPDX-License-Identifier: MIT
#
# Sourced by tests that put tuned kernels back into the application, which leaves
# in `shapes` how each launch was made.
# shellcheck shell=sh disable=SC2154
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

. "$SHMT_SRCDIR/tests/cli/application.sh"

FAKE_CUDA_SHAPES=$folder/shapes
XDG_CACHE_HOME=$folder/cache
export FAKE_CUDA_SHAPES XDG_CACHE_HOME
cd "$folder" || exit 1

# Of the application alone, whose status is in `alone`, and then with what was
# tuned.
as_alone() { exits "$alone" && cmp -s alone.out "$folder/out"; }
shapes() { sort shapes | uniq -c | tr -s ' \n' ' '; }

# tune_captured FOLDER...: on the fake device, which the application is given
# without being told.
tune_captured() {
    SHMTUNE_LIBCUDA=$fake/.libs/fake_cuda.so
    export SHMTUNE_LIBCUDA
    run tune "$@" --device 0 --strategy exhaustive
    unset SHMTUNE_LIBCUDA
}
