#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh [BUILD]: every test that needs a GPU, one after the other, as one TAP
# stream; part of `make check`, which names BUILD in $SHMT_BUILDDIR.  The last
# line counts; the exit status says whether all was well.  Without a GPU it is
# skipped, with the reason.  SANITIZE=1 adds sanitize.sh; PARTS="oracle faults"
# runs these alone.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-${SHMT_BUILDDIR:?usage: run.sh BUILD}}" && pwd)
SHMT_SRCDIR=$(cd "$here/../.." && pwd)
SHMT_BUILDDIR=$build
export SHMT_SRCDIR SHMT_BUILDDIR
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

why=$("$build/shmtune" worker --spec "$here/elements.yaml" --device 0 \
    --images "$folder/images" </dev/null 2>&1 >/dev/null)
if [ $? -ne 0 ]; then
    echo "1..0 # SKIP needs a GPU: $(echo "$why" | head -n 1)"
    exit 0
fi

programs="tests/gpu/arguments tests/gpu/oracle tests/gpu/requests"
programs="$programs tests/gpu/launch tests/gpu/graph"
for program in $programs; do
    [ -x "$build/$program" ] || make -s -C "$build" "$program" >&2 || exit 1
done

passed=0 failed=0 skipped=0 number=0
# part NAME COMMAND...
part() {
    name=$1
    shift
    case " ${PARTS:-$name} " in *" $name "*) ;; *) return ;; esac
    begun=$(date +%s)
    "$@" >"$folder/tap" 2>"$folder/err"
    status=$?
    planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$folder/tap" | head -n 1)
    seen=$(grep -c '^\(not \)\{0,1\}ok ' "$folder/tap")
    while IFS= read -r line; do
        case $line in
        "ok "*"# SKIP"*) skipped=$((skipped + 1)) ;;
        "ok "*) passed=$((passed + 1)) ;;
        "not ok "*) failed=$((failed + 1)) ;;
        "1..0"*) skipped=$((skipped + 1))
            number=$((number + 1))
            echo "ok $number - $name # SKIP ${line#*SKIP }"
            continue ;;
        "1.."*) continue ;;
        *) echo "$line"
            continue ;;
        esac
        number=$((number + 1))
        echo "$line" | sed "s/^\(.*ok \)[0-9]* - /\1$number - $name: /"
    done <"$folder/tap"
    if [ "${planned:-none}" != "$seen" ] && [ "${planned:-none}" != 0 ]; then
        number=$((number + 1)) failed=$((failed + 1))
        echo "not ok $number - $name: $seen of ${planned:-?} tests ran," \
            "status $status"
        tail -n 10 "$folder/err" | sed 's/^/# /'
    fi
    echo "# $name took $(($(date +%s) - begun)) s"
}

part oracle "$build/tests/gpu/oracle"
part arguments "$build/tests/gpu/arguments"
part library "$build/tests/gpu/launch"
part graph "$build/tests/gpu/graph"
part candidates sh "$here/candidates.sh" "$build"
part races sh "$here/races.sh" "$build"
part compilers sh "$here/compilers.sh" "$build"
part truth sh "$here/truth.sh" "$build"
part capture sh "$here/capture.sh" "$build"
part capture_graph sh "$here/capture_graph.sh" "$build"
part memory sh "$here/memory.sh" "$build"
part faults sh "$here/faults.sh" "$build"
part python sh "$here/python.sh" "$build"
[ -z "${SANITIZE-}" ] ||
    part sanitize sh "$here/sanitize.sh" "$build"
echo "1..$number"
echo "# $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
