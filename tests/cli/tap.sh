# SPDX-License-Identifier: MIT
#
# What the scripts here share: a folder of their own with one kernel in it, and
# `run` for the command; and what all scripts that test do.  Sourced.
set -u
LC_ALL=C
COLUMNS=1000    # no line is broken, whatever a path is long
export LC_ALL COLUMNS

source=${SHMT_SRCDIR:?} build=${SHMT_BUILDDIR:?}
data=$source/tests/cli/data
folder=$(mktemp -d "${TMPDIR:-/tmp}/shmtune-cli.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
. "$source/tests/support/script.sh"

# Nothing of the user's and nothing installed; the kernel `scale` with a
# tuning and a journal that fit it.
root=$folder/root
mkdir -p "$root/kernels" "$root/tunings/scale" "$folder/home" "$folder/tmp"
cp "$data/scale.yaml" "$data/scale.cu" "$data/scale.h" "$root/kernels/"
chmod -R u+w "$root"    # a source folder may be read-only
SHMTUNE_PATH=$root HOME=$folder/home TMPDIR=$folder/tmp
export SHMTUNE_PATH HOME TMPDIR
unset XDG_DATA_HOME XDG_CACHE_HOME NO_COLOR

# run ARGUMENT...: in $folder/out, $folder/err, $status
run() {
    "$build/shmtune" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}

# run_after SCRIPT ARGUMENT...: the same, where SCRIPT has mounted what nobody
# else sees.
unshare="unshare --mount"
[ "$(id -u)" = 0 ] || unshare="$unshare -r"
can_mount() { $unshare true 2>/dev/null; }
run_after() {
    script=$1
    shift
    $unshare sh -ec "$script; exec \"\$@\"" sh "$build/shmtune" "$@" \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}

complain() {
    echo "# failed: $*; exit status $status"
    sed 's/^/# out: /' "$folder/out"
    sed 's/^/# err: /' "$folder/err"
}

exits() { [ "$status" -eq "$1" ]; }
out_has() { grep -q -e "$1" "$folder/out"; }
err_has() { grep -q -e "$1" "$folder/err"; }
out_lacks() { ! out_has "$1"; }
err_lacks() { ! err_has "$1"; }
out_empty() { [ ! -s "$folder/out" ]; }
err_empty() { [ ! -s "$folder/err" ]; }

# A clock that stands still while this test does: `begin` starts it, and `passed`
# says how many seconds there were since, at most as many as on the wall.
begin() {
    [ ! -s "$folder/clock" ] || kill "$(cat "$folder/clock")"
    : >"$folder/seconds"
    (   # `wait` is for other processes
        while sleep 1 && kill -0 $$ && echo >>"$folder/seconds"; do
            :
        done >/dev/null 2>&1 &
        echo $! >"$folder/clock"
    )
    trap 'kill "$(cat "$folder/clock")"; rm -rf "$folder"' EXIT
}
passed() { wc -l <"$folder/seconds"; }

# The output is that of a file in data/, but for times and folders.
out_is() {
    sed -e "s#$root#ROOT#g" -e 's/in [0-9.]* ms as/in T ms as/' \
        -e 's/"build_ms": [0-9.e-]*/"build_ms": T/' \
        -e 's/"\(nodes\|bytes\)": [0-9]*/"\1": N/' \
        -e 's/as [0-9,]* nodes ([0-9.]* KiB)/as N nodes (B KiB)/' \
        "$folder/out" >"$folder/plain"
    diff "$data/$1" "$folder/plain" >"$folder/diff" && return 0
    sed 's/^/# /' "$folder/diff"
    return 1
}

# JSON that a parser takes, where there is one.
is_json() {
    command -v python3 >/dev/null || return 0
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$folder/out"
}

# No escape sequence anywhere.
plain() { ! grep -q "$(printf '\033')" "$folder/out" "$folder/err"; }

digest_of_scale() {
    "$build/shmtune" list kernels --json |
        sed -n '/"name": "scale"/,/"digest"/s/.*"digest": "\(.*\)".*/\1/p'
}

# A tuning and a journal of today's scale, at the paths given.
make_tuning() {
    {
        printf 'format: tuning/1\nkernel: scale\ndigest: "%s"\n' "$(digest_of_scale)"
        cat "$data/device.part" "$data/tuning.part"
    } >"$1"
}

make_journal() {
    {
        printf 'format: journal/1\nkernel: scale\ndigest: "%s"\n' \
            "$(digest_of_scale)"
        cat "$data/device.part" "$data/journal.part"
    } >"$1"
}

# In $folder, with the kernel `toy` instead, and tests/fake/worker as its workers.
use_fake_worker() {
    cp "$source/tests/fake/data/toy.yaml" "$source/tests/fake/data/toy.cu" \
        "$root/kernels/"
    rm "$root/kernels/scale."*
    cd "$folder" || exit 1
    SHMTUNE_WORKER=$build/tests/fake/worker
    SOURCE_DATE_EPOCH=1700000000
    TMPDIR=$folder
    export SHMTUNE_WORKER SOURCE_DATE_EPOCH TMPDIR
}

# Is there a compiler here?
has_nvrtc() {
    run inspect scale --config BLOCK=64 --arch sm_90
    exits 0
}
