#!/bin/sh
# SPDX-License-Identifier: MIT
#
# show: tunings and journals as tables.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

make_tuning "$folder/t.yaml"
make_journal "$folder/j.journal"

run show "$folder/t.yaml"
check "a tuning" all "exits 0" err_empty "out_is show_tuning.txt"
run show "$folder/t.yaml" --json
check "as JSON" all "exits 0" err_empty is_json \
    "out_has '\"gain\": 1.5'" "out_has '\"Test Device 3000\"'"
sed 's/floor_us: 0.5/floor_us: 0.0036/' "$folder/t.yaml" >"$folder/far.yaml"
run show "$folder/far.yaml"
check "far from the floor is not nothing" out_has ' 0.18 %  '
run show "$folder/j.journal"
check "a journal" all "exits 0" err_empty "out_is show_journal.txt"
run show "$folder/j.journal" --json
check "as JSON" all "exits 0" err_empty is_json \
    "out_has '\"stage\": \"time\"'" \
    "out_has '\"reason\": \"y.3. is 0, expected 1.5\"'"
run show "$folder/j.journal" --top 1
check "the best and the default" all "exits 0" \
    "[ $(grep -c '^ *[0-9.]* *#.*BLOCK=' "$folder/out") -eq 2 ]" "out_has '(default)'"
sed 's/^seed: 7$/&\nfrom: "of another"\nfrom_digest: "'"$(printf %064d 7)"'"/
s#journal/1#journal/5#' "$folder/j.journal" >"$folder/learned.journal"
run show "$folder/learned.journal"
check "what it learned from" all "exits 0" \
    "out_has 'data seed 7, learned from of another$'"
run show "$folder/learned.journal" --json
check "as JSON" all "exits 0" is_json "out_has '\"from\": \"of another\"'" \
    "out_has '\"from_digest\": \"0*7\"'"
grep -v '^  default_us\|^  spread' "$folder/t.yaml" >"$folder/bare.yaml"
run show "$folder/bare.yaml" --json
check "figures that are not known are null, as those of tune are" all \
    "exits 0" "[ $(grep -c '"\(gain\|default_us\|spread\)": null' \
        "$folder/out") -eq 6 ]"
sed '/^created/d' "$folder/t.yaml" >"$folder/undated.yaml"
run show "$folder/undated.yaml"
check "one without a date" out_has '^scale on .*, cold-l2$'
# The compiler is the one that the spec asks for.
sed -i 's/^name: .*/&\ncompiler: nvcc/' "$root/kernels/scale.yaml"
make_tuning "$folder/nvcc.yaml"
make_journal "$folder/nvcc.journal"
for file in nvcc.yaml nvcc.journal; do
    run show "$folder/$file"
    check "which nvcc compiled: $file" all "exits 0" "out_has ', nvcc 13.0, '" \
        "out_lacks NVRTC"
done
sed -i '/^compiler: nvcc$/d' "$root/kernels/scale.yaml"
sed 's/^kernel: .*/kernel: gone/' "$folder/t.yaml" >"$folder/gone.yaml"
run show "$folder/gone.yaml"
check "of a kernel that is not known it is a compiler" all "exits 0" \
    "out_has ', compiler 13.0, '"
gzip -k "$folder/j.journal"
run show "$folder/j.journal.gz"
check "compressed" all "exits 0" "out_is show_journal.txt"
mv "$folder/j.journal" "$folder/by_content"
run show "$folder/by_content"
check "known by its first line" all "exits 0" "out_is show_journal.txt"
printf -- '- {config: {BLOCK: 6' >>"$folder/by_content"
run show "$folder/by_content"
check "cut in a line" all "exits 0" "out_has 'last line is cut'"

mkfifo "$folder/pipe.yaml"
run show "$folder/pipe.yaml"
check "a pipe that nobody writes to" all "exits 5" out_empty \
    "err_has 'expected a regular file'"
mkfifo "$folder/pipe.journal.gz"
run show "$folder/pipe.journal.gz"
check "nor to a journal" all "exits 5" out_empty \
    "err_has 'expected a regular file'"
run show "$folder"
check "a folder, with what to do with one" all "exits 5" out_empty \
    "err_has 'found a folder'" "err_has 'shmtune report $folder. makes a page'"
run show scale
check "a kernel, with what names its files" all "exits 5" out_empty \
    "err_has 'scale: there is no such file'" \
    "err_has 'shmtune list tunings recordings'"
for file in "$folder/t.yaml" "$folder/j.journal.gz"; do
    run space "$file"
    check "where a spec is expected, what ${file##*/} is" all "exits 2" \
        out_empty "err_has ': is a \(tuning\|journal\) of scale'" \
        "err_has 'expected that name or a spec; .shmtune show $file. shows it'"
done
run show "$folder/absent.yaml"
check "an absent file" all "exits 5" out_empty "err_has absent.yaml"
run show "$root/kernels/scale.yaml"
check "a spec is for other commands" all "exits 1" out_empty "err_has check"
echo 'format: recipe/1' >"$folder/other"
run show "$folder/other"
check "a file of another kind" all "exits 2" out_empty "err_has other:1:1"
sed 's/time_us: 2.0/time_us: -two/' "$folder/t.yaml" >"$folder/bad.yaml"
run show "$folder/bad.yaml"
check "a broken tuning" all "exits 2" out_empty \
    "err_has 'bad.yaml:[0-9]*:[0-9]*: '"
# A kernel of one's own that is called like a built-in one.
mkdir -p "$folder/own/kernels" "$folder/own/tunings/scale"
sed 's/BLOCK/THREADS/g' "$root/kernels/scale.yaml" \
    >"$folder/own/kernels/scale.yaml"
cp "$data/scale.h" "$folder/own/kernels/"
sed 's/BLOCK/THREADS/g' "$data/scale.cu" >"$folder/own/kernels/scale.cu"
own=$(SHMTUNE_PATH=$folder/own digest_of_scale)
for file in t.yaml j.journal.gz; do
    case $file in *.gz) cat=zcat ;; *) cat=cat ;; esac
    $cat "$folder/$file" | sed -e 's/BLOCK/THREADS/g' \
        -e "s/^digest: .*/digest: \"$own\"/" >"$folder/own/${file%.gz}"
done
run show "$folder/own/t.yaml"
check "of other sources it has no rates, and says so" all "exits 0" \
    "out_lacks 'GB/s'" "out_has 'rates need the spec of its sources'"
run show "$folder/own/t.yaml" --json
check "nor as JSON" all "exits 0" "out_has '\"gb_per_s\": null'"
run show "$folder/own/t.yaml" --spec "$folder/own/kernels/scale.yaml"
check "but by its spec" all "exits 0" "out_has 'GB/s'"
run show "$folder/own/j.journal"
check "a journal of the other, with what to do" all "exits 2" out_empty \
    "err_has 'was made for other sources.* than those of .*root.*scale.yaml'" \
    "err_has -- '--spec'" "err_has 'unknown key .THREADS'"
for file in t.yaml j.journal; do
    mv "$folder/own/$file" "$folder/own/tunings/scale/"
    run show "$folder/own/tunings/scale/$file"
    check "in a folder of its kernel it is known: $file" all "exits 0" \
        "out_has 'THREADS='" "out_lacks 'rates need'" "out_lacks 'other sources'"
done

mv "$root/kernels/scale.yaml" "$folder/elsewhere.yaml"
cp "$data/scale.cu" "$data/scale.h" "$folder/"
run show "$folder/j.journal.gz"
check "a journal without its kernel" all "exits 1" out_empty "err_has -- --spec"
run show "$folder/j.journal.gz" --spec "$folder/elsewhere.yaml"
check "with --spec" all "exits 0" "out_is show_journal.txt"
sed 's/^name: scale/name: other/' "$folder/elsewhere.yaml" \
    >"$folder/other.yaml"
run show "$folder/j.journal.gz" --spec "$folder/other.yaml"
check "with that of another kernel" all "exits 1" out_empty \
    "err_has 'is about the kernel scale, and .*other.yaml has other'"
finish
