#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sanitize.sh BUILD [TUNINGS]: compute-sanitizer's memcheck and racecheck over
# candidates of each kernel and the winners of its tunings (those shipped), at
# sizes that fit no tile.  TAP.  CANDIDATES=N for each kernel, KERNELS="a b",
# TOOLS="racecheck", JOBS=N kernels at a time.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:?}" && pwd)
tunings=${2:-$root/tunings}
kernels=${KERNELS:-$(cd "$root/kernels" && ls ./*.yaml |
    sed 's,^\./,,; s,\.yaml$,,')}
tools=${TOOLS:-memcheck racecheck}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
sanitizer=$(command -v compute-sanitizer ||
    ls /usr/local/cuda/bin/compute-sanitizer \
        /opt/nvidia/*/compute-sanitizer 2>/dev/null | head -n 1)
if [ -z "$sanitizer" ]; then
    echo "1..0 # SKIP no compute-sanitizer on this machine"
    exit 0
fi

size_of() {
    case $1 in
    transpose) echo rows=129,cols=261 ;;
    reduce) echo n=40003 ;;
    matmul) echo m=131,n=197,k=2101 ;;    # that k is split, deep too
    conv2d) echo height=67,width=133,filter=5 ;;
    histogram) echo n=40003 ;;
    scan) echo n=1000003 ;;    # several tiles for every block that stays
    row_reduce | softmax) echo rows=67,cols=1031 ;;
    nbody) echo n=4093 ;;    # several rounds for every warp
    coalescing) echo rows=129,cols=261 ;;
    stencil2d) echo rows=129,cols=133,steps=3 ;;
    bank_conflict) echo n=4099,rounds=5 ;;
    *) echo ;;
    esac
}

# The configurations of a tuning, as requests; of the form
#   configuration: {TILE: 32, ...}
winners() {
    python3 - "$tunings/$1" "$2" <<'END' 2>/dev/null
import glob, sys, yaml
size = ", ".join(part.replace("=", ": ") for part in sys.argv[2].split(","))
seen = set()
for path in glob.glob(sys.argv[1] + "/*.yaml"):
    for one in yaml.safe_load(open(path))["tuned"]:
        config = ", ".join("%s: %s" % item
                           for item in one["configuration"].items())
        if config not in seen:
            seen.add(config)
            print("{verb: measure, tag: %d, size: {%s}, config: {%s}, "
                  "samples: 1}" % (900000 + len(seen), size, config))
END
}

# TAP lines without numbers, into $folder/KERNEL.tap.
one_kernel() {
    kernel=$1
    spec=$root/kernels/$kernel.yaml
    size=$(size_of "$kernel")
    own=$folder/$kernel
    {
        winners "$kernel" "$size"
        "$build/tests/gpu/requests" measure "${CANDIDATES:-6}" "$spec" \
            "$size" 1
    } >"$own.requests"
    # compiled outside of the tool, which would watch NVRTC too
    sed 's/verb: measure/verb: inspect/; s/, samples: 1.*}/}/' \
        "$own.requests" >"$own.inspect"
    arch=$("$build/shmtune" worker --spec "$spec" --device 0 \
        --images "$folder/images" </dev/null |
        sed -n 's/.*arch: \([^,}]*\).*/\1/p')
    "$build/shmtune" worker --spec "$spec" --arch "$arch" \
        --images "$folder/images" <"$own.inspect" >/dev/null 2>&1
    for tool in $tools; do
        timeout 300 "$sanitizer" --tool "$tool" --error-exitcode 9 \
            "$build/shmtune" worker --spec "$spec" --device 0 \
            --images "$folder/images" <"$own.requests" \
            >"$own.replies" 2>"$own.err"
        status=$?
        ran=$(grep -c 'verdict: ok' "$own.replies")
        asked=$(wc -l <"$own.requests")
        if [ $status -eq 0 ] && [ "$ran" -gt 0 ]; then
            echo "ok - $tool of $kernel: $ran of $asked candidates"
        else
            echo "not ok - $tool of $kernel: status $status," \
                "$ran of $asked candidates"
            grep -h -v 'verdict: ok\|hello: 1' "$own.replies" \
                "$own.err" | head -n 20 | sed 's/^/# /'
        fi
    done >"$own.tap"
}

# shellcheck disable=SC2086
set -- $kernels
words=$(echo "$tools" | wc -w)
echo "1..$(($# * words))"
started=0
for kernel in "$@"; do
    one_kernel "$kernel" &
    started=$((started + 1))
    [ $((started % ${JOBS:-4})) -ne 0 ] || wait
done
wait
for kernel in "$@"; do
    cat "$folder/$kernel.tap"
done | awk '/^(not )?ok - / { sub(/ok - /, "ok " ++n " - ") } { print }'
