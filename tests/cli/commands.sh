#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every shell command of the documents, of the manual page and of --help is
# typed here, in a folder with what it speaks of, or stands in commands.list
# with what it needs that is not here; what stands there is in a document.
# What pages show with its output, documents.sh types.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

if ! command -v python3 >/dev/null || ! command -v bash >/dev/null; then
    echo '1..0 # SKIP the documents are read by Python, and typed into bash'
    exit 0
fi
SHMTUNE_PATH=$source
PATH=$build:$PATH
export PATH
list=$source/tests/cli/data/commands.list
python3 -B "$source/tests/cli/commands.py" "$source" "$build/shmtune" \
    >"$folder/commands"
cut -f 2 "$folder/commands" | sort -u >"$folder/all"
sed -n 's/^[^#	][^	]*	//p' "$list" | sort >"$folder/listed"
sort -u "$folder/listed" | comm -13 "$folder/all" - >"$folder/out"
: >"$folder/err"
status=0
check "what is listed is in a document" out_empty
uniq -d "$folder/listed" >"$folder/out"
check "and is listed once" out_empty
grep -v '^#' "$list" | cut -f 1 | sort -u >"$folder/out"
check "with what it needs" sh -c \
    '! grep -qvxE "GPU|another machine|an application|network|minutes|an installed shmtune|a shell|a run of another tuner|root|a release|Debian.s tools" "$1"' \
    sh "$folder/out"
check "the documents have commands" \
    [ "$(wc -l <"$folder/all")" -gt 80 ]

# What compiles is not typed where there is no compiler.
compiles=yes
has_compiler() { # COMMAND
    case $1 in
    *inspect* | *check* | *worker*) [ -n "$compiles" ] ;;
    esac
}
run inspect transpose --limit 1
exits 0 || compiles=

# -- the folder that they speak of ---------------------------------------------
mkdir "$folder/at" "$folder/at/kernels" && cd "$folder/at" || exit 1
cp -R "$source/tunings" tunings
cp "$source/examples/scale/"* "$source/examples/header/rows.in" .
chmod -R u+w .
sed -e 's/ITEMS/PAD/g' -e 's/BLOCK/TILE/g' scale.yaml |
    sed 's/scale.cu/my_kernel.cu/' >my_kernel.yaml
sed -e 's/ITEMS/PAD/g' -e 's/BLOCK/TILE/g' scale.cu >my_kernel.cu
sed 's/\[64, 128, 256, 512, 1024\]/[32, 64, 128, 256, 512, 1024]/
    s/\(PAD: {values: \)\[1,/\1[0, 1,/' my_kernel.yaml >m && mv m my_kernel.yaml
cp tunings/reduce/*h100*.journal.gz run.journal.gz
cp run.journal.gz h200.journal.gz
cp run.journal.gz h100.journal.gz
gzip -dc run.journal.gz | head -n 400 >run.journal
mkdir -p tunings/conv
shmtune export run.journal.gz --to t4 -o run.t4.json >/dev/null 2>&1
shmtune export run.journal.gz --to kernel-tuner -o hotspot.json >/dev/null 2>&1
cp run.journal.gz tunings/conv/a100.journal.gz
cp run.journal tunings/scan/h100.journal
gzip -c hotspot.json >convolution-A100.json.gz
shmtune explain transpose --device replay:h100 --json \
    >transpose.explain.json 2>/dev/null
cp "$source/kernels/reduce.yaml" "$source/kernels/reduce.cu" .
cp "$source"/kernels/*.cuh . 2>/dev/null
sed 's/ scale(/ reduce(/' scale.cu >main.cu

cp reduce.yaml kernels/conv.yaml
cp my_kernel.yaml my.yaml
cp scale.yaml kernels/NAME.yaml
cp scale.cu kernels/
cp reduce.cu ./*.cuh kernels/ 2>/dev/null
cd "$folder" || exit 1

while IFS= read -r line; do
    if grep -qxF -- "$line" "$folder/listed"; then
        continue
    fi
    if ! has_compiler "$line"; then
        skip "$line" "no NVRTC here"
        continue
    fi
    rm -rf work
    cp -R at work
    cd work || exit 1
    # The journal is that of reduce; what is drafted is not there yet; nothing
    # is left in /tmp.
    case $line in
    "shmtune init"*) rm -f scale.yaml reduce.yaml ;;
    *) mkdir images ;;
    esac
    typed=$(printf '%b' "$line" |
        sed -e '/run\.journal/s/my_kernel\.yaml/reduce.yaml/' \
            -e 's#/tmp/images#images#')
    timeout 300 bash -c "$typed" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    check "$line" exits 0
    cd "$folder" || exit 1
done <"$folder/all"
finish
